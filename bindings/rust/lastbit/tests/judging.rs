// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verdicts through the safe crate: what passes, what fails and where, and what proves nothing.

use lastbit::{Check, Contract, Format, Grade, Mat, Record, Reference, Status, Unit, Verdict};

const M: usize = 20;
const N: usize = 12;
const K: usize = 50;

/// A product in f16 with the f32 output of a unit.
struct Product {
    unit: Unit,
    a: Vec<u16>,
    b: Vec<u16>,
    d: Vec<u32>,
}

impl Product {
    fn new() -> Self {
        let unit = Unit::find("sm_80/mma.m16n8k16.f32.f16.f16.f32").unwrap();
        let draw = |count: usize, step: usize| -> Vec<u16> {
            (0..count).map(|i| unit.a().encode((i * step % 1009) as f64 / 504.5 - 1.0) as u16).collect()
        };
        let (a, b) = (draw(M * K, 443), draw(K * N, 577));
        let d = unit.gemm(&a, &b, None, M, N, K).unwrap();
        Product { unit, a, b, d }
    }

    fn check(&self) -> Check<'_> {
        let mat = |format, codes, rows, cols| Mat::new(format, codes, rows, cols).unwrap();
        let actual = Mat::new(self.unit.d(), &self.d, M, N).unwrap();
        Check::new(mat(self.unit.a(), &self.a, M, K), mat(self.unit.b(), &self.b, K, N), actual)
    }
}

fn m16() -> Contract {
    Contract::find("m16-tc").unwrap()
}

#[test]
fn the_units_own_output_is_exact_and_one_bit_off_is_found_where_it_is() {
    let mut p = Product::new();
    let record = p.check().unit(&p.unit).run().unwrap();
    assert!(record.passed() && record.exit_code() == 0, "{record}");
    assert_eq!((record.counts().exact, record.counts().total, record.coverage().as_str()), (240, 240, "all"));
    assert_eq!(record.unit(), p.unit.name());

    p.d[3 * N + 7] ^= 1;
    p.d[9 * N + 2] ^= 0x10;
    let record = p.check().unit(&p.unit).name("my kernel").run().unwrap();
    assert_eq!((record.verdict(), record.exit_code(), record.counts().wrong), (Verdict::Fail, 1, 2), "{record}");
    let (first, worst) = (record.first().unwrap(), record.worst().unwrap());
    assert_eq!((first.row, first.col, first.ulp, first.exact), (3, 7, 1.0, Some(first.actual ^ 1)));
    assert_eq!((worst.row, worst.col, worst.ulp), (9, 2, 16.0));
    assert_eq!(record.outliers(), [first, worst]);
    assert_eq!(p.check().unit(&p.unit).max_outliers(1).run().unwrap().outliers(), [first]);
    assert!(record.reason().contains("2 of 240 elements are wrong"), "{}", record.reason());
    assert!(record.to_string().contains("my kernel") && format!("{record:?}").starts_with("Record(FAIL op=matmul"));
}

#[test]
fn with_a_contract_other_bits_are_legal_and_far_ones_wrong() {
    let mut p = Product::new();
    p.d[5] ^= 1;
    let record = p.check().unit(&p.unit).contract(m16()).run().unwrap();
    assert_eq!((record.verdict(), record.counts().exact, record.counts().legal), (Verdict::Pass, 239, 1), "{record}");
    assert_eq!((record.contract().as_str(), record.format()), ("m16-tc", Some(p.unit.d())));
    assert!(record.metrics().unwrap().rel_rms < 1e-3 && record.first().is_none());
    for (how, told) in [
        (Reference::Auto, "correctly rounded: f64"),
        (Reference::F64, "f64 sums"),
        (Reference::Exact, "correctly rounded: exact"),
    ] {
        let record = p.check().contract(m16()).reference(how).run().unwrap();
        assert!(record.passed() && record.reference().starts_with(told), "{how:?}: {record}");
    }
    p.d[5] = f32::NAN.to_bits();
    let record = p.check().contract(m16()).run().unwrap();
    assert_eq!((record.verdict(), record.counts().nan_actual, record.counts().class_mismatch), (Verdict::Fail, 1, 1), "{record}");
}

#[test]
fn an_addend_a_transposed_b_and_another_output_format_are_taken_into_account() {
    let p = Product::new();
    let c: Vec<u32> = (0..M * N).map(|i| (i as f32).to_bits()).collect();
    let d: Vec<u32> = p.unit.gemm(&p.a, &p.b, Some(&c), M, N, K).unwrap();
    let stored: Vec<u16> = (0..N * K).map(|i| p.b[i % K * N + i / K]).collect(); // [n][k]
    let a = Mat::new(p.unit.a(), &p.a, M, K).unwrap();
    let b = Mat::new(p.unit.b(), &stored, N, K).unwrap().transposed();
    let actual = Mat::new(p.unit.d(), &d, M, N).unwrap();
    let check = Check::new(a, b, actual).unit(&p.unit);
    assert!(check.clone().c(Mat::new(p.unit.c(), &c, M, N).unwrap()).run().unwrap().passed());
    assert!(!check.run().unwrap().passed());

    let bf16 = Format::find("bf16").unwrap();
    let rounded: Vec<u16> = p.d.iter().map(|&code| bf16.encode(p.unit.d().decode(code.into())) as u16).collect();
    let check = Check::new(a, b, Mat::new(bf16, &rounded, M, N).unwrap());
    assert!(check.unit(&p.unit).contract(m16()).run().unwrap().counts().exact == 240);
}

#[test]
fn nans_are_one_only_where_that_is_asked_for() {
    let mut p = Product::new();
    p.a[0] = 0x7e00; // a row of NaN
    p.d = p.unit.gemm(&p.a, &p.b, None, M, N, K).unwrap();
    assert!(p.check().unit(&p.unit).run().unwrap().passed());
    p.d[0] ^= 1; // another NaN
    assert_eq!(p.check().unit(&p.unit).run().unwrap().verdict(), Verdict::Fail);
    assert!(p.check().unit(&p.unit).nan_by_class(true).run().unwrap().passed());
}

#[test]
fn a_sample_says_what_it_looked_at() {
    let p = Product::new();
    let record = p.check().unit(&p.unit).sample(5, 7).run().unwrap();
    assert_eq!((record.counts().compared, record.counts().total), (25, 240), "{record}");
    assert!(record.coverage().starts_with("5 of 20 rows x 5 of 12 columns"), "{}", record.coverage());
}

#[test]
fn nothing_and_zeros_prove_nothing() {
    let p = Product::new();
    let f16 = p.unit.a();
    let none: [u16; 0] = [];
    let empty = Mat::new(f16, &none, 0, 4).unwrap();
    let b = Mat::new(f16, &p.b[..8], 4, 2).unwrap();
    let record = Check::new(empty, b, Mat::new(f16, &none, 0, 2).unwrap()).contract(m16()).run().unwrap();
    assert_eq!((record.verdict(), record.exit_code()), (Verdict::Unproven, 3), "{record}");
    let zeros = [0u16; 4];
    let zero = Mat::new(f16, &zeros, 2, 2).unwrap();
    assert_eq!(Check::new(zero, zero, zero).contract(m16()).run().unwrap().verdict(), Verdict::Unproven);
    let open = Unit::rows().find(|unit| unit.is_open()).unwrap();
    let record = p.check().unit(&open).run().unwrap();
    assert_eq!(record.verdict(), Verdict::Unproven);
    assert!(record.reason().contains("nobody knows"), "{}", record.reason());
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let p = Product::new();
    assert_eq!(p.check().run().unwrap_err().status(), Status::Argument); // nothing to judge by
    let a = Mat::new(p.unit.a(), &p.a, M, K).unwrap();
    let actual = Mat::new(p.unit.d(), &p.d, N, M).unwrap();
    let error = Check::new(a, Mat::new(p.unit.b(), &p.b, K, N).unwrap(), actual).unit(&p.unit).run().unwrap_err();
    assert_eq!(error.status(), Status::Shape, "{error}");
    assert!(error.message().contains("D is 12x20; A and B make 20x12"), "{error}");
    assert_eq!(Check::new(a, a, actual).unit(&p.unit).run().unwrap_err().status(), Status::Shape);
    let other = Unit::find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32").unwrap();
    assert_eq!(p.check().unit(&other).run().unwrap_err().status(), Status::Format);
    assert_eq!(p.check().unit(&p.unit).name("a\0b").run().unwrap_err().status(), Status::Name);
}

#[test]
fn a_record_survives_json() {
    let mut p = Product::new();
    p.d[3 * N + 7] ^= 1;
    let record = p.check().unit(&p.unit).contract(m16()).run().unwrap();
    let json = record.to_json().unwrap();
    assert!(json.contains("\"lastbit.result/1\"") && !json.contains('\n'));
    let again = Record::from_json(&json).unwrap();
    assert_eq!(again.to_json().unwrap(), json);
    assert_eq!((again.verdict(), again.counts(), again.reason()), (record.verdict(), record.counts(), record.reason()));
    let error = Record::from_json("{}").unwrap_err();
    assert_eq!(error.status(), Status::File, "{error}");
    assert_eq!(Record::from_json("no JSON").unwrap_err().status(), Status::File);
}

const REFERENCE: [u16; 4] = [0x4040, 0x4080, 0x42c0, 0x4100]; // 3 4, 96 8
const S: u16 = 0x5a5a;

fn grade(actual: &[u16]) -> Grade<'_, u16> {
    Grade::new(actual, Mat::new(Format::find("bf16").unwrap(), &REFERENCE, 2, 2).unwrap(), m16(), 5120)
}

#[test]
fn a_block_with_gaps_and_guards_is_audited() {
    let good = [S, S, 0x4041, 0x4080, S, 0x42c0, 0x4100, S, S, S];
    let run = |actual: &[u16]| grade(actual).ld(3).guard(2).sentinel(S).run().unwrap();
    let record = run(&good);
    assert_eq!((record.verdict(), record.counts().exact, record.counts().legal), (Verdict::Pass, 3, 1), "{record}");
    for at in [0, 1, 4, 7, 8, 9] {
        let mut bent = good;
        bent[at] = 0;
        let record = run(&bent);
        assert_eq!((record.verdict(), record.counts().guard_damage), (Verdict::Fail, 1), "{at}: {record}");
        assert_eq!(record.cause(), "writes outside the output");
    }
    let mut unwritten = good;
    unwritten[6] = S;
    assert_eq!((run(&unwritten).verdict(), run(&unwritten).counts().not_written), (Verdict::Fail, 1));
}

#[test]
fn a_block_that_does_not_fit_is_an_error() {
    let status = |grade: Grade<u16>| grade.run().unwrap_err().status();
    assert!(grade(&REFERENCE).run().unwrap().passed());
    assert_eq!(status(grade(&REFERENCE[1..])), Status::Shape);
    assert_eq!(status(grade(&REFERENCE).ld(1)), Status::Shape);
    assert_eq!(status(grade(&REFERENCE).ld(usize::MAX)), Status::Shape);
    assert_eq!(status(grade(&REFERENCE).guard(usize::MAX).sentinel(S)), Status::Shape);
    let wrapping = usize::MAX / 2 + 2; // elements, of which the bytes would be 2
    let padded = [&[S], &REFERENCE[..], &[S]].concat();
    assert!(grade(&padded).guard(1).sentinel(S).run().unwrap().passed());
    assert_eq!(status(grade(&padded).guard(wrapping).sentinel(S)), Status::Shape);
    assert_eq!(status(grade(&REFERENCE).guard(1)), Status::Argument); // guards are known by what they hold
    let reference = Mat::new(Format::find("bf16").unwrap(), &REFERENCE, 2, 2).unwrap();
    assert_eq!(Grade::new(&[0u32; 4], reference, m16(), 16).run().unwrap_err().status(), Status::Format);
    assert_eq!(Grade::new(&REFERENCE, reference, m16(), 0).run().unwrap_err().status(), Status::Argument);
    let e4m3 = Mat::new(Format::find("e4m3").unwrap(), &[0x38u8; 4], 2, 2).unwrap();
    assert_eq!(Grade::new(&[0x38u8; 4], e4m3, m16(), 16).run().unwrap_err().status(), Status::Format);
    // not for e4m3
}

#[test]
fn contracts_have_their_rows() {
    let names: Vec<_> = Contract::rows().map(|contract| contract.name()).collect();
    assert!(names.contains(&"m16-tc") && names.contains(&"m16-tc-original"));
    assert_eq!((m16().max_ulp(), m16().rel_rms_gate()), (2.0, 1e-3));
    assert!(m16().formats().any(|name| name == "bf16") && !m16().note().is_empty() && m16().source() == "seed-contract");
    assert_eq!(m16().floor(5120, 39.13), lastbit::m16::m16_floor(5120, 39.13));
    assert_eq!(Contract::find("m16tc").unwrap_err().status(), Status::Name);
    assert_eq!(lastbit::version().split('.').count(), 3);
}
