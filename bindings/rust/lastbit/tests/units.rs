// SPDX-License-Identifier: MIT OR Apache-2.0
//! Units through the safe crate: recorded dots, products, and what a bad call comes back as.

use lastbit::{GemmOptions, Kernel, Mat, Status, Unit};

fn unit(name: &str) -> Unit {
    Unit::find(name).unwrap()
}

struct Dot {
    unit: &'static str,
    a: &'static [u32],
    b: &'static [u32],
    c: u32,
    d: u32,
}

/// Dots that real GPUs computed; rows of tests/recorded_dots.h. Source: matlab-tc (BSD-2-Clause data), docs/sources.md.
const RECORDED: [Dot; 5] = [
    Dot {
        unit: "sm_70/mma.m8n8k4.f32.f16.f16.f32", // NVIDIA V100, dot 0
        a: &[0x3bd5, 0x3c3e, 0xb534, 0x3df8],
        b: &[0x38ca, 0xb935, 0x36bf, 0x34ec],
        c: 0x3f7f418c,
        d: 0x3f9b7dec,
    },
    Dot {
        unit: "sm_80/mma.m16n8k16.f32.f16.f16.f32", // NVIDIA A100, dot 1234
        a: &[0x34d3, 0x2c4f, 0x39a4, 0xbc0c, 0x3a7b, 0x40cb, 0xb701, 0xb391],
        b: &[0xb765, 0xb4f8, 0x3d37, 0xb77f, 0xb0f7, 0x3fc6, 0xb590, 0xb216],
        c: 0x3f3c6847,
        d: 0x40d652fa,
    },
    Dot {
        unit: "sm_80/mma.m16n8k8.f32.tf32.tf32.f32", // NVIDIA A100, dot 0
        a: &[0x3f7aa000, 0x3f87c000, 0xbea68000, 0x3fbf0000],
        b: &[0x3f194000, 0xbf26a000, 0x3ed7e000, 0x3e9d8000],
        c: 0x3efe7b25,
        d: 0x3f36f7de,
    },
    Dot {
        unit: "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", // NVIDIA H100, dot 0
        a: &[
            0x3f7a, 0x3f87, 0xbea6, 0x3fbf, 0xbf3d, 0x3ead, 0x3f80, 0x3fe8, 0x3f62, 0x3f5d, 0xbf8c, 0x3eb3, 0x3cf1, 0x3e9c,
            0x3f86, 0x3f59,
        ],
        b: &[
            0x3f19, 0xbf26, 0x3ed7, 0x3e9d, 0xbff3, 0x3ef2, 0xbfc1, 0xbf90, 0x3dbf, 0xbf31, 0xbf52, 0x400e, 0xbc71, 0x401e,
            0x3e1c, 0xbea4,
        ],
        c: 0x3f342579,
        d: 0x3f3cc4dd,
    },
    Dot {
        unit: "sm_100/mma.m16n8k32.f32.e4m3.e4m3.f32", // NVIDIA B200, dot 0
        a: &[
            0x37, 0x38, 0xaa, 0x3b, 0xb3, 0x2a, 0x38, 0x3e, 0x36, 0x35, 0xb8, 0x2b, 0xf, 0x29, 0x38, 0x35, 0xb8, 0x37, 0x3, 0xba,
            0xae, 0xa6, 0x3a, 0x3d, 0x92, 0x26, 0xb0, 0xaf, 0xb3, 0x33, 0x42, 0x2d,
        ],
        b: &[
            0x31, 0xb2, 0x2d, 0x29, 0xbf, 0x2f, 0xbc, 0xb9, 0x1b, 0xb3, 0xb5, 0x40, 0x87, 0x41, 0x21, 0xaa, 0xb7, 0x3f, 0xb2,
            0x31, 0xad, 0x9d, 0xb8, 0x3a, 0x3d, 0x3b, 0x9b, 0x86, 0xbc, 0xac, 0x12, 0x83,
        ],
        c: 0x3f66b81c,
        d: 0x4096153c,
    },
];

#[test]
fn recorded_dots_come_back_word_for_word() {
    for row in &RECORDED {
        assert_eq!(unit(row.unit).dot(row.a, row.b, row.c).unwrap(), row.d, "{}", row.unit);
    }
}

#[test]
fn a_recorded_dot_is_a_product_of_one_row_and_one_column() {
    let row = &RECORDED[3];
    let codes = |words: &[u32]| words.iter().map(|&w| w as u16).collect::<Vec<u16>>();
    let d = unit(row.unit).gemm(&codes(row.a), &codes(row.b), Some(&[row.c]), 1, 1, 16).unwrap();
    assert_eq!(d, [row.d]);
    let row = &RECORDED[4];
    let bytes = |words: &[u32]| words.iter().map(|&w| w as u8).collect::<Vec<u8>>();
    let d = unit(row.unit).gemm(&bytes(row.a), &bytes(row.b), Some(&[row.c]), 1, 1, 32).unwrap();
    assert_eq!(d, [row.d]);
}

/// f16 codes of either sign from 2^-7 to 2, by a fixed recurrence: their sums do not fit into an accumulator.
fn draw(count: usize, seed: u64) -> Vec<u16> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        let word = (state >> 32) as u32;
        (word & 0x83ff) as u16 | ((8 + (word >> 16) % 8) << 10) as u16
    };
    (0..count).map(|_| next()).collect()
}

const M: usize = 5;
const N: usize = 7;
const K: usize = 50; // three K steps and a tail

/// Each element as the chain of its dots.
fn chained(u: &Unit, a: &[u16], b: &[u16], c: &[u32]) -> Vec<u32> {
    let (step, mut d) = (u.shape().2, c.to_vec());
    for i in 0..M {
        for j in 0..N {
            let row: Vec<u32> = (0..K).map(|k| a[i * K + k].into()).collect();
            let col: Vec<u32> = (0..K).map(|k| b[k * N + j].into()).collect();
            for (x, y) in row.chunks(step).zip(col.chunks(step)) {
                d[i * N + j] = u.dot(x, y, d[i * N + j]).unwrap();
            }
        }
    }
    d
}

#[test]
fn a_product_is_the_chain_of_its_dots_however_it_is_asked_for() {
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    let (a, b) = (draw(M * K, 1), draw(K * N, 2));
    let c: Vec<u32> = (0..M * N).map(|i| (i as f32 / 8.0 - 2.0).to_bits()).collect();
    let want = chained(&u, &a, &b, &c);
    assert_ne!(want, chained(&unit("sm_90/mma.m16n8k16.f32.f16.f16.f32"), &a, &b, &c));
    assert_eq!(u.gemm(&a, &b, Some(&c), M, N, K).unwrap(), want);
    assert_eq!(u.gemm::<_, _, u32>(&a, &b, None, M, N, K).unwrap(), chained(&u, &a, &b, &[0; M * N]));

    let (ma, mc) = (Mat::new(u.a(), &a, M, K).unwrap(), Mat::new(u.c(), &c, M, N).unwrap());
    let stored: Vec<u16> = (0..N * K).map(|i| b[i % K * N + i / K]).collect(); // [n][k]
    let mb = Mat::new(u.b(), &stored, N, K).unwrap().transposed();
    for kernel in Kernel::rows().filter(|kernel| kernel.usable) {
        let options = GemmOptions::default().kernel(kernel.name).threads(2);
        let mut d = vec![0xdead_beef; M * N];
        match u.gemm_into(&ma, &mb, Some(&mc), &mut d, &options) {
            Ok(()) => assert_eq!(d, want, "{}", kernel.name),
            Err(error) => assert_eq!(error.status(), Status::Unavailable, "{}: {error}", kernel.name),
        }
    }
    assert_eq!(Kernel::rows().last().map(|kernel| kernel.name), Some("engine"));

    let mut d = c;
    u.gemm_add(&ma, &mb, &mut d, &GemmOptions::default()).unwrap();
    assert_eq!(d, want);
}

#[test]
fn rows_with_gaps_are_read_where_they_lie() {
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    let (a, b) = (draw(M * K, 1), draw(K * N, 2));
    let wide: Vec<u16> = a.chunks(K).flat_map(|row| row.iter().copied().chain([0x7e00; 3])).collect(); // NaN in the gaps
    let ma = Mat::strided(u.a(), &wide[..M * (K + 3) - 3], M, K, K + 3, 1).unwrap();
    let mut d = vec![0; M * N];
    u.gemm_into(&ma, &Mat::new(u.b(), &b, K, N).unwrap(), None, &mut d, &GemmOptions::default()).unwrap();
    assert_eq!(d, chained(&u, &a, &b, &[0; M * N]));
    let beyond = Mat::strided(u.a(), &wide[..M * (K + 3) - 4], M, K, K + 3, 1).unwrap_err();
    assert_eq!(beyond.status(), Status::Shape, "{beyond}");
    for (rows, cols, row_stride) in [(2, 2, usize::MAX), (usize::MAX, 1, 2), (usize::MAX, usize::MAX, 1)] {
        assert!(Mat::strided(u.a(), &wide, rows, cols, row_stride, 1).is_err(), "{rows} {cols} {row_stride}");
    }
    assert!(Mat::strided(u.a(), &[0u16; 0], 0, 8, 1, 1).is_ok());
}

#[test]
fn empty_products_are_empty_or_c() {
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    let none: [u16; 0] = [];
    assert_eq!(u.gemm::<_, _, u32>(&none, &[0x3c00u16; 8], None, 0, 2, 4).unwrap(), []);
    assert_eq!(u.gemm(&none, &none, Some(&[1u32, 2]), 1, 2, 0).unwrap(), [1, 2]);
}

#[test]
fn a_wrong_length_width_or_format_is_an_error_and_writes_nothing() {
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    let (a, b) = (draw(M * K, 1), draw(K * N, 2));
    let shape = |got: lastbit::Result<Vec<u32>>, part: &str| {
        let error = got.unwrap_err();
        assert_eq!(error.status(), Status::Shape, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    shape(u.gemm(&a[1..], &b, None, M, N, K), "A has 249 codes; 5x50");
    shape(u.gemm(&a, &b, None, M - 1, N, K), "A has 250 codes; 4x50");
    shape(u.gemm(&a, &b[1..], None, M, N, K), "B has 349 codes; 50x7");
    shape(u.gemm(&a, &b, Some(&[0; 3]), M, N, K), "C has 3 codes; 5x7");
    shape(u.gemm(&a, &b, None, usize::MAX, N, K), "A has");
    let format = |error: lastbit::Error, part: &str| {
        assert_eq!(error.status(), Status::Format, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    format(
        u.gemm::<u32, u16, u32>(&[0; 2], &[0; 2], None, 1, 1, 2).unwrap_err(),
        "A is f16, which is 2 bytes wide; these codes have 4",
    );
    format(u.gemm::<u16, u8, u32>(&[0; 2], &[0; 2], None, 1, 1, 2).unwrap_err(), "B is f16");
    format(u.gemm::<u16, u16, u16>(&[0; 2], &[0; 2], None, 1, 1, 2).unwrap_err(), "D is f32");
    format(u.gemm(&[0u16; 2], &[0u16; 2], Some(&[0u16]), 1, 1, 2).unwrap_err(), "C is f32");

    let bf16 = lastbit::Format::find("bf16").unwrap();
    let (ma, mb) = (Mat::new(u.a(), &a, M, K).unwrap(), Mat::new(u.b(), &b, K, N).unwrap());
    let mut d = vec![7u32; M * N];
    let options = GemmOptions::default();
    format(
        u.gemm_into(&Mat::new(bf16, &a, M, K).unwrap(), &mb, None, &mut d, &options).unwrap_err(),
        "A is bf16; this unit takes f16",
    );
    let wrong = [
        u.gemm_into(&ma, &mb.transposed(), None, &mut vec![7u32; M * K], &options).unwrap_err(),
        u.gemm_into(&ma, &mb, None, &mut d[1..], &options).unwrap_err(),
        u.gemm_into(&ma, &mb, Some(&Mat::new(u.c(), &[0u32; 12], 4, 3).unwrap()), &mut d, &options).unwrap_err(),
    ];
    for error in wrong {
        assert_eq!(error.status(), Status::Shape, "{error}");
    }
    let unknown = u.gemm_into(&ma, &mb, None, &mut d, &GemmOptions::default().kernel("engin")).unwrap_err();
    assert_eq!(unknown.status(), Status::Name);
    assert!(unknown.message().contains("did you mean engine?"), "{unknown}");
    assert_eq!(d, [7; M * N]);
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    let none: [u16; 0] = [];
    let error = u.gemm::<_, _, u32>(&none, &none, None, 1 << 40, 1 << 22, 0).unwrap_err();
    assert_eq!(error.status(), Status::Memory, "{error}");
    assert_eq!(u.gemm::<_, _, u32>(&none, &none, None, usize::MAX, 2, 0).unwrap_err().status(), Status::Shape);
}

#[test]
fn a_dot_that_does_not_fit_is_an_error() {
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    assert_eq!(u.dot(&[0; 17], &[0; 17], 0).unwrap_err().status(), Status::Shape);
    assert_eq!(u.dot(&[0; 2], &[0; 3], 0).unwrap_err().status(), Status::Shape);
    assert_eq!(u.dot(&[], &[], 0x3f80_0000).unwrap(), 0x3f80_0000);
}

#[test]
fn a_wrong_name_brings_the_nearest_and_a_ptx_spelling_is_a_name() {
    let error = Unit::find("sm_80/mma.m16n8k16.f32.f16.f16.f23").unwrap_err();
    assert_eq!(error.status(), Status::Name);
    assert!(error.message().contains("the nearest is sm_80/mma.m16n8k16.f32.f16.f16.f32"), "{error}");
    assert!(error.to_string().starts_with("sm_80/mma.m16n8k16.f32.f16.f16.f23: "));
    assert_eq!(Unit::find("sm_80\0").unwrap_err().status(), Status::Name);
    assert_eq!(Unit::find("").unwrap_err().status(), Status::Name);
    let wide = unit("sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16");
    assert_eq!((wide.name().as_str(), wide.shape()), ("sm_90/wgmma.m64n128k16.f32.f16.f16", (64, 128, 16)));
}

#[test]
fn every_row_is_found_by_its_name_and_runs_unless_it_is_open() {
    let mut open = 0;
    assert!(Unit::rows().count() > 50);
    for u in Unit::rows() {
        let found = unit(&u.name());
        assert_eq!((found.shape(), found.a(), found.d()), (u.shape(), u.a(), u.d()), "{u}");
        assert!(!u.source().is_empty() && !u.note().is_empty() && !u.evidence().is_empty(), "{u}");
        let one = u.a().encode(1.0) as u32;
        let (half, zero) = (u.b().encode(0.5) as u32, u.c().encode(0.0) as u32);
        match u.dot(&[one], &[half], zero) {
            // Integers hold no half: there it is enough that the unit runs.
            Ok(d) => {
                let holds_half = u.b().decode(half.into()) == 0.5;
                assert!(!u.is_open() && (!holds_half || u.d().decode(d.into()) == 0.5), "{u}: {d:x}");
            }
            Err(error) if u.is_open() => assert_eq!(error.status(), Status::Unavailable, "{u}: {error}"),
            // Scales, metadata and codes of 64 bits have no place in a dot.
            Err(error) => {
                let name = u.name();
                let wide = name.contains(".f64") && error.status() == Status::Format;
                let more = (name.contains(".mx") || name.ends_with(".sp")) && error.status() == Status::Argument;
                assert!(wide || more, "{u}: {error}");
            }
        }
        open += usize::from(u.is_open());
    }
    assert!(open > 0);
}

#[test]
fn units_formats_and_views_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Unit>();
    shared::<lastbit::Format>();
    shared::<lastbit::Contract>();
    shared::<Mat>();
    shared::<lastbit::Record>();
    shared::<lastbit::Error>();
    shared::<lastbit::Check>();
    let u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    let (a, b) = (draw(M * K, 1), draw(K * N, 2));
    let want: Vec<u32> = u.gemm(&a, &b, None, M, N, K).unwrap();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| u.gemm::<_, _, u32>(&a, &b, None, M, N, K).unwrap())).collect();
        for run in runs {
            assert_eq!(run.join().unwrap(), want);
        }
    });
}
