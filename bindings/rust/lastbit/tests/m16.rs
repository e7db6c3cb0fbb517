// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tensor-core contract through the safe crate: the figures, the pinned pairs, the silent corners. Figures: source seed-contract
//! (docs/sources.md), the same that tests/test_m16.c pins.

use lastbit::m16::*;
use lastbit::{Format, Status, Verdict};

fn bf16(x: f64) -> u16 {
    Format::find("bf16").unwrap().encode(x) as u16
}

fn value(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

fn bytes(codes: &[u16]) -> Vec<u8> {
    codes.iter().flat_map(|code| code.to_le_bytes()).collect()
}

fn compare(actual: &[u16], reference: &[u16], n: usize, k: usize) -> BlockDiff {
    compare_block(&bytes(actual), &bytes(reference), n, k)
}

#[test]
fn the_constants_are_the_originals() {
    assert_eq!((M16_TC_MAX_ULP, M16_TC_ACC_FLOOR_MARGIN, M16_TC_SIGN_FLIP_BAND), (2, 8.0, 0.05));
    assert_eq!(F32_UNIT_ROUNDOFF, 5.960_464_477_539_063e-8);
    assert_eq!((M16_TC_REL_RMS_GATE, M16_TC_OLD_FLOOR), (1e-3, f64::from(1u32 << 20).recip()));
}

#[test]
fn the_originals_names_are_there_with_their_types_and_fields() {
    let predicate: fn(u16, u16, usize, f64) -> bool = within_m16_tc_budget;
    let floor: fn(usize, f64) -> f64 = m16_tc_acc_floor;
    let compare: fn(&[u8], &[u8], usize, usize) -> M16TcDiff = compare_m16_tc_block;
    let ordinal: fn(u16) -> i32 = bf16_ord;
    assert!(predicate(0x3f82, 0x3f80, 16, 0.0) && floor(16, 0.0) == 0.0 && ordinal(0x8001) == -1);
    let M16TcDiff { max_ulp, over_budget, over_ulp_only, sign_flips, max_abs, rel_rms, rms, row_rms } =
        compare(&bytes(&[0x4043]), &bytes(&[0x4040]), 1, 16);
    assert_eq!((max_ulp, over_ulp_only, sign_flips, max_abs), (3, 1, 0, 0.046875));
    assert_eq!((rel_rms, rms, row_rms), (0.015625, 3.0, vec![3.0]));
    let M16TcOutlier { row, col, reference, actual, ulp, row_rms } = over_budget[0];
    assert_eq!((row, col, reference, actual, ulp, row_rms), (0, 0, 3.0, 3.046875, 3, 3.0));
    let none = M16TcDiff::default();
    assert!(none.over_budget.is_empty() && none.row_rms.is_empty() && none.max_ulp == 0);
}

#[test]
fn the_ordinal_is_monotone_with_one_point_for_both_zeros() {
    assert_eq!((bf16_ord(0), bf16_ord(0x8000), bf16_ord(0x3f80), bf16_ord(0xbf80)), (0, 0, 0x3f80, -0x3f80));
    for code in 1..0x7f80 {
        assert_eq!(bf16_ord(code), bf16_ord(code - 1) + 1);
        assert_eq!(bf16_ord(code | 0x8000), -bf16_ord(code));
    }
}

#[test]
fn the_floor_has_the_pinned_figures_and_scales() {
    assert!((m16_floor(5120, 39.13) - 1.335103e-3).abs() <= 1e-8);
    assert!((m16_floor(5120, 23.8027) - 8.1214e-4).abs() <= 1e-7);
    assert!(23.8027 / m16_floor(5120, 23.8027) > 29_000.0);
    assert_eq!(m16_floor(4 * 5120, 1.0), 2.0 * m16_floor(5120, 1.0));
    assert_eq!(m16_floor(5120, 3.0), 3.0 * m16_floor(5120, 1.0));
    assert_eq!(m16_floor(5120, 0.0), 0.0);
}

#[test]
fn the_predicate_admits_and_rejects_what_its_tests_say() {
    let rows = [
        (96.0, 96.0, 39.13, Some(0), true),
        (96.5, 96.0, 39.13, Some(1), true),
        (97.0, 96.0, 39.13, Some(2), true), // the budget's edge
        (97.5, 96.0, 39.13, Some(3), false),
        (71.5, 64.0, 39.13, Some(15), false),
        (0.5, 1e-5, 39.13, None, false),
        (-9.537e-6, -5.722e-6, 39.13, Some(96), true), // outputs that cancelled
        (-1.05858e-4, -1.16348e-4, 39.13, Some(22), true),
        (-1.50681e-4, -1.56403e-4, 39.13, Some(6), true),
        (-12.0, 40.0, 23.8027, None, false),
        (97.5, 96.0, 23.8027, Some(3), false),
        (0.5, 1e-4, 23.8027, None, false),
        (1.0234375, 1.0, 23.8027, Some(3), false), // three ordinals near one: 28 floors and more
    ];
    for row in rows {
        let (actual, reference, rms, ulp, pass) = row;
        let (a, r) = (bf16(actual), bf16(reference));
        if let Some(ulp) = ulp {
            assert_eq!((bf16_ord(a) - bf16_ord(r)).abs(), ulp, "{row:?}");
        }
        assert_eq!(within(a, r, 5120, rms), pass, "{row:?}");
        assert!(pass || f64::abs(actual - reference) > 28.0 * m16_floor(5120, 23.8027), "{row:?}");
    }
}

#[test]
fn the_round_nine_outlier_is_a_cancelled_logit() {
    let (reference, rms) = (bf16(-1.1730194e-4), 23.8027);
    assert_eq!(reference, 0xb8f6);
    assert!((4.8e-6..5.0e-6).contains(&(value(reference).abs() / rms)));
    for (other, distance) in [(0xb892, 4.768e-5), (0xb95a, 9.060e-5)] {
        let gap = (value(other) - value(reference)).abs();
        assert_eq!((bf16_ord(other) - bf16_ord(reference)).abs(), 100);
        assert!((gap - distance).abs() < 1e-8);
        assert!(gap > M16_TC_OLD_FLOOR * rms && gap <= m16_floor(5120, rms)); // the fixed floor refused it
        assert!(within(other, reference, 5120, rms));
    }
}

#[test]
fn a_block_reports_every_figure() {
    // Rows (3, 4) and (96, 0.01): column 1 of row 1 flips its sign, column 0 of row 0 is 3 ordinals off.
    let reference = [bf16(3.0), bf16(4.0), bf16(96.0), bf16(0.01)];
    let actual = [reference[0] + 3, reference[1], reference[2] + 1, bf16(-0.01)];
    let d = compare(&actual, &reference, 2, 5120);
    assert_eq!((d.max_ulp, d.over_budget.len(), d.over_ulp_only, d.sign_flips, d.max_abs), (3, 1, 1, 1, 0.5));
    assert!(d.row_rms.len() == 2 && (d.row_rms[0] - 12.5f64.sqrt()).abs() < 1e-12);
    let o = d.over_budget[0];
    assert_eq!((o.row, o.col, o.reference, o.actual, o.ulp, o.row_rms), (0, 0, 3.0, 3.046875, 3, d.row_rms[0]));
    assert_eq!(o.floor(5120), m16_floor(5120, d.row_rms[0]));
    let small = value(bf16(0.01)).powi(2);
    let (e, r) = (0.046875f64.powi(2) + 0.25 + 4.0 * small, 25.0 + 96.0 * 96.0 + small);
    assert!((d.rel_rms - (e / r).sqrt()).abs() < 1e-12 && (d.rms - (r / 4.0).sqrt()).abs() < 1e-12);
}

#[test]
fn k_is_the_depth_and_the_width_changes_nothing() {
    let reference = [40.0, 1e-4, -40.0, 30.0].map(bf16);
    let actual = [40.0, 6e-4, -40.0, 30.0].map(bf16);
    for n in [1, 2, 4] {
        let (shallow, deep) = (compare(&actual, &reference, n, 16), compare(&actual, &reference, n, 1 << 20));
        assert_eq!(shallow.over_budget.len(), 1);
        assert_eq!(deep.over_budget.len(), usize::from(n == 1)); // alone in its row it has no neighbours to take a scale from
        assert_eq!(deep.over_ulp_only, 1);
    }
}

#[test]
fn the_originals_silent_corners_are_kept_element_by_element() {
    let rows: [(u16, u16, usize, usize); 8] = [
        (0x447a, 0xbc24, 0, 1), // +1000 against -0.01: counted as a sign flip, never graded
        (0x447a, 0xbd4d, 1, 0), // +1000 against -0.05005: at the band it is graded
        (0x7fc0, 0x3c24, 0, 1), // NaN against +0.01 has "another sign"
        (0x7fc0, 0x3f80, 1, 0), // NaN against 1: |NaN| <= floor is false
        (0x7f80, 0x7f7f, 0, 0), // Inf is one ordinal from the largest finite value
        (0x7f81, 0x7f80, 0, 0), // NaN is one ordinal from Inf
        (0x7fc0, 0x7fc0, 0, 0), // identical NaN bits
        (0x8000, 0x0000, 0, 1), // -0 against +0 is a sign flip
    ];
    for (actual, reference, over, flips) in rows {
        let d = compare(&[actual], &[reference], 1, 5120);
        assert_eq!((d.over_budget.len(), d.sign_flips), (over, flips), "{actual:04x} against {reference:04x}");
    }
}

#[test]
fn the_originals_silent_corners_are_kept_in_shapes_and_scales() {
    let (reference, actual) = ([0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x7f00], [0x3f80; 4]);
    let d = compare(&actual, &reference, 2, 16); // a short output is accepted; the last partial row has its own RMS
    assert!(d.over_budget.is_empty() && d.row_rms.len() == 3 && d.row_rms[0] == 1.0 && d.row_rms[2] > 1e38);
    let d = compare(&reference, &actual, 2, 16); // and so is a long one
    assert!(d.over_budget.is_empty() && d.row_rms.len() == 2);
    let d = compare(&[0x4040, 0x4090], &[0x4040, 0x4080], 0, 16); // n = 0: one row, column 0, under the block's RMS
    assert!(d.row_rms.is_empty() && d.rms == 12.5f64.sqrt());
    let o = d.over_budget[0];
    assert_eq!((d.over_budget.len(), o.row, o.col, o.row_rms), (1, 0, 0, d.rms));
    let d = compare_block(&[0x80, 0x3f, 1], &[0x80, 0x3f, 2], 1, 16); // a trailing odd byte is ignored
    assert_eq!((d.over_budget.len(), d.max_ulp, d.rms), (0, 0, 1.0));
    let d = compare(&[], &[], 2, 16);
    assert_eq!((d.rms, d.rel_rms, d.row_rms.len()), (0.0, 0.0, 0));
    let d = compare(&[0x4040, 0x4080], &[0, 0], 2, 16); // an all-zero reference: rel_rms is the plain error
    assert_eq!((d.rel_rms, d.over_budget.len()), (5.0, 2));
    let d = compare(&[3, 2, 0x4f00, 0x4f00], &[0, 0, 0x4f00, 0x4f00], 2, 16); // an all-zero row keeps its ordinal budget only
    let o = d.over_budget[0];
    assert_eq!((d.over_budget.len(), d.row_rms[0], o.ulp, o.floor(16)), (1, 0.0, 3, 0.0));
    let d = compare(&[0x7fc0, 0x3f80], &[0x3f80; 2], 2, 16); // max_abs passes NaN over, and the gate still fails
    assert!(
        d.max_abs == 0.0 && d.rel_rms.is_nan() && !matches!(d.rel_rms.partial_cmp(&M16_TC_REL_RMS_GATE), Some(o) if o.is_le())
    );
}

/// (row, column, ulp) of each rejected element; beyond the budget, flips, largest ulp; largest error, relative RMS, RMS.
type Opinion = (Vec<(usize, usize, i32)>, [usize; 3], [f64; 3]);

/// The comparison once more, in the language of its authors, written from the facts alone: what f64::signum and f64::max make of NaN
/// and of zeros is theirs to say here.
fn second_opinion(actual: &[u16], reference: &[u16], n: usize, k: usize) -> Opinion {
    let mean_square = |row: &[u16]| row.iter().map(|&r| value(r) * value(r)).sum::<f64>() / row.len() as f64;
    let (mut over, mut beyond, mut flips, mut max_ulp) = (Vec::new(), 0, 0, 0);
    let (mut largest, mut errors, mut squares) = (0.0f64, 0.0, 0.0);
    for (r, (a_row, r_row)) in actual.chunks(n).zip(reference.chunks(n)).enumerate() {
        let floor = 8.0 * (k as f64).sqrt() * mean_square(r_row).sqrt() / f64::from(1 << 24);
        for (c, (&a, &b)) in a_row.iter().zip(r_row).enumerate() {
            let place = |bits: u16| if bits >> 15 == 1 { -i32::from(bits & 0x7fff) } else { i32::from(bits) };
            let (ulp, gap) = ((place(a) - place(b)).abs(), (value(a) - value(b)).abs());
            largest = largest.max(gap);
            errors += gap * gap;
            squares += value(b) * value(b);
            if value(a).signum() != value(b).signum() && value(b).abs() < 0.05 {
                flips += 1;
                continue;
            }
            max_ulp = max_ulp.max(ulp);
            beyond += usize::from(ulp > 2);
            if !(ulp <= 2 || gap <= floor) {
                over.push((r, c, ulp));
            }
        }
    }
    let relative = if squares > 0.0 { (errors / squares).sqrt() } else { errors.sqrt() };
    (over, [beyond, flips, max_ulp as usize], [largest, relative, mean_square(reference).sqrt()])
}

#[test]
fn any_bits_are_compared_as_the_second_opinion_does() {
    let mut state = 0x0927_167c_2026u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 32) as u32
    };
    let same = |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan());
    let mut seen = [0; 3];
    for trial in 0..2000 {
        let reference: Vec<u16> =
            (0..54).map(|_| if draw() % 8 == 0 { draw() as u16 } else { bf16(f64::from(draw() % 2049) / 1e4 - 0.1) }).collect();
        let actual: Vec<u16> = reference
            .iter()
            .map(|&r| match draw() % 8 {
                0 => draw() as u16,
                1 => r ^ 0x8000,
                2..=4 => r.wrapping_add((draw() % 7) as u16).wrapping_sub(3),
                _ => r,
            })
            .collect();
        let d = compare(&actual, &reference, 9, 5120);
        let (over, [beyond, flips, max_ulp], [largest, relative, rms]) = second_opinion(&actual, &reference, 9, 5120);
        let got: Vec<_> = d.over_budget.iter().map(|o| (o.row, o.col, o.ulp)).collect();
        assert_eq!(got, over, "trial {trial}");
        assert_eq!([d.over_ulp_only, d.sign_flips, d.max_ulp as usize], [beyond, flips, max_ulp], "trial {trial}");
        assert!(same(d.max_abs, largest) && same(d.rel_rms, relative) && same(d.rms, rms), "trial {trial}: {d:?}");
        seen = [seen[0] + over.len(), seen[1] + flips, seen[2] + beyond - over.len()];
    }
    assert!(seen.iter().all(|&count| count > 1000), "over, flips, admitted: {seen:?}");
}

#[test]
fn the_grade_accepts_none_of_the_corners() {
    let grade_of = |actual: &[u16], reference: &[u16], n| grade(&bytes(actual), &bytes(reference), n, 5120).unwrap();
    let good = [0x4040, 0x4080, 0x4100, 0x3c24]; // 3 4, 8 0.01
    let record = grade_of(&good, &good, 2);
    assert!(record.passed() && record.contract() == "m16-tc" && record.counts().exact == 4, "{record}");
    let bent = [
        [0x4040, 0x4080, 0x4100, 0xc47a], // -1000 against 0.01
        [0x4040, 0x4080, 0x4100, 0x7fc0], // NaN against 0.01
        [0x4040, 0x4080, 0x4103, 0x3c24], // three ordinals near 8
        [0x7f80, 0x4080, 0x4100, 0x3c24], // Inf
    ];
    for actual in bent {
        let record = grade_of(&actual, &good, 2);
        assert_eq!(record.verdict(), Verdict::Fail, "{record}");
        assert_eq!(record.counts().wrong, 1, "{record}");
    }
    assert_eq!(grade_of(&[0x7f80], &[0x7f7f], 1).verdict(), Verdict::Fail);
    assert_eq!(grade_of(&[], &[], 2).verdict(), Verdict::Unproven);
    assert_eq!(grade_of(&[0, 0], &[0, 0], 2).verdict(), Verdict::Unproven);
}

#[test]
fn the_grade_refuses_what_does_not_fit() {
    for (actual, reference, n) in [(4, 8, 2), (8, 4, 2), (5, 4, 2), (5, 5, 1), (4, 4, 0), (6, 6, 2), (4, 4, usize::MAX)] {
        let error = grade(&vec![1; actual], &vec![1; reference], n, 16).unwrap_err();
        assert_eq!(error.status(), Status::Shape, "{actual} {reference} {n}: {error}");
    }
    assert_eq!(grade(&[0, 0x40], &[0, 0x40], 1, 0).unwrap_err().status(), Status::Argument);
}
