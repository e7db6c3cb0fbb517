// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tensor-core decode contract under the names that its users know: bf16 outputs of an m16n8k16 tile against a scalar GEMV.
//!
//! Two summation orders of k products drift apart by about `u * sqrt(k) * row_rms`, which next to a result that cancelled is any
//! number of ULP. So an element passes within [`M16_TC_MAX_ULP`] ordinals of the reference, or within [`m16_floor`] of it.
//!
//! [`within`] and [`compare_block`] answer as the original does, to the letter, silent corners included. [`grade`] is the contract
//! to gate on: NaN and Inf are classes, sign changes are graded, shapes must agree, and nothing compared is no pass. Functions and
//! types have the original's names too, so that a `use` line is all that changes.
//!
//! ```
//! use lastbit::m16::{bf16_ord, m16_floor, within};
//! assert!((m16_floor(5120, 39.13) - 1.335103e-3).abs() < 1e-8);
//! assert_eq!(bf16_ord(0x3f83) - bf16_ord(0x3f80), 3);
//! assert!(!within(0x3f83, 0x3f80, 5120, 23.8027)); // three ordinals near 1
//! assert!(within(0xb892, 0xb8f6, 5120, 23.8027)); // a hundred, at a logit that cancelled
//! ```

use crate::check::Grade;
use crate::contract::Contract;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::mat::Mat;
use crate::raw;
use crate::record::Record;
use lastbit_sys as c;

/// Ordinals that an element may be off.
pub const M16_TC_MAX_ULP: i32 = c::LB_M16_MAX_ULP;

/// Unit roundoff of f32, `2^-24`.
pub const F32_UNIT_ROUNDOFF: f64 = c::LB_F32_UNIT_ROUNDOFF;

/// Margin of the floor over `u * sqrt(k) * row_rms`: calibrated on an H100, not derived.
pub const M16_TC_ACC_FLOOR_MARGIN: f64 = c::LB_M16_FLOOR_MARGIN;

/// A sign change on a reference smaller than this is counted, and not graded by [`compare_block`].
pub const M16_TC_SIGN_FLIP_BAND: f64 = c::LB_M16_SIGN_FLIP_BAND;

/// Largest `rel_rms` of a block that passes.
pub const M16_TC_REL_RMS_GATE: f64 = c::LB_M16_REL_RMS_GATE;

/// The fixed floor that the present one replaced, times the block's RMS: for comparison.
pub const M16_TC_OLD_FLOOR: f64 = c::LB_M16_OLD_FLOOR;

/// bf16 bits as a monotone integer: the difference of two is their distance in ULP, and +0 and -0 are one point.
pub fn bf16_ord(bits: u16) -> i32 {
    raw::bf16_ord(bits)
}

/// `8 * 2^-24 * sqrt(k) * row_rms`: below it an ordinal budget says nothing. k is the reduction depth, `row_rms` the RMS of the
/// reference row.
pub fn m16_floor(k: usize, row_rms: f64) -> f64 {
    raw::m16_floor(k, row_rms)
}

/// The predicate: within [`M16_TC_MAX_ULP`] ordinals, or within [`m16_floor`]. NaN and Inf count as numbers here.
/// k is the reduction depth that the kernel ran, not the output's width.
pub fn within(actual_bits: u16, reference_bits: u16, k: usize, row_rms: f64) -> bool {
    raw::m16_within(actual_bits, reference_bits, k, row_rms)
}

/// One element that [`compare_block`] rejected.
#[derive(Debug, Clone, Copy)]
pub struct Outlier {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub col: usize,
    /// The reference's value; exact.
    pub reference: f32,
    /// The output's value; exact.
    pub actual: f32,
    /// Ordinals between them.
    pub ulp: i32,
    /// RMS of its reference row: the scale that the floor was taken at.
    pub row_rms: f64,
}

impl Outlier {
    /// The floor that it exceeded, for the k that was compared under.
    pub fn floor(&self, k: usize) -> f64 {
        m16_floor(k, self.row_rms)
    }
}

/// What [`compare_block`] found.
#[derive(Debug, Clone, Default)]
pub struct BlockDiff {
    /// Largest ordinal distance, without sign flips.
    pub max_ulp: i32,
    /// Elements beyond both the budget and the floor.
    pub over_budget: Vec<Outlier>,
    /// Elements beyond the budget, whether or not the floor admitted them.
    pub over_ulp_only: usize,
    /// Signs that changed on a reference below [`M16_TC_SIGN_FLIP_BAND`].
    pub sign_flips: usize,
    /// Largest |actual - reference|; NaN passed over.
    pub max_abs: f64,
    /// RMS of the errors over RMS of the reference; of the errors alone where the reference is all zero.
    pub rel_rms: f64,
    /// RMS of the whole reference block.
    pub rms: f64,
    /// RMS of each reference row: the scales of the floor.
    pub row_rms: Vec<f64>,
}

/// Compare an m x n bf16 block with its reference, as the original does.
///
/// Both slices are `m * n` little-endian bf16 elements, row-major, of any alignment; k is the reduction depth. Also as the original
/// does: the shorter slice decides, a trailing odd byte is ignored, n = 0 is one row under the block's RMS, NaN and Inf are numbers.
/// Whoever gates on this alone must also look at `rel_rms <= 1e-3`; [`grade`] does both, and accepts none of the corners.
///
/// ```
/// use lastbit::m16::compare_block;
/// let reference = [0x40, 0x40, 0x80, 0x40]; // 3, 4
/// let actual = [0x43, 0x40, 0x80, 0x40]; // three ordinals more
/// let diff = compare_block(&actual, &reference, 2, 5120);
/// assert_eq!((diff.max_ulp, diff.over_budget.len(), diff.over_ulp_only), (3, 1, 1));
/// assert_eq!((diff.over_budget[0].row, diff.over_budget[0].actual), (0, 3.046875));
/// assert_eq!(diff.row_rms, [12.5f64.sqrt()]);
/// ```
///
/// # Panics
/// Where there is no memory for the result, as a `Vec` does.
pub fn compare_block(actual: &[u8], reference: &[u8], n: usize, k: usize) -> BlockDiff {
    let (diff, outliers, row_rms) = match raw::m16_compare(actual, reference, n, k) {
        Ok(found) => found,
        Err(error) => panic!("{error}"), // it fails for want of memory alone
    };
    let outlier = |o: &c::lb_m16_outlier| Outlier {
        row: o.row,
        col: o.col,
        reference: o.reference,
        actual: o.actual,
        ulp: o.ulp,
        row_rms: o.row_rms,
    };
    BlockDiff {
        max_ulp: diff.max_ulp,
        over_budget: outliers.iter().map(outlier).collect(),
        over_ulp_only: diff.over_ulp_only,
        sign_flips: diff.sign_flips,
        max_abs: diff.max_abs,
        rel_rms: diff.rel_rms,
        rms: diff.rms,
        row_rms,
    }
}

/// Judge an m x n bf16 block under `m16-tc`: [`compare_block`]'s arguments, and none of its silent corners.
///
/// A NaN, an infinity or a changed sign is an element like any other, the block's `rel_rms` is gated, and an empty block or an
/// all-zero reference is UNPROVEN.
///
/// ```
/// use lastbit::{m16, Verdict};
/// let reference = [0x40, 0x40, 0x80, 0x40]; // 3, 4
/// assert_eq!(m16::grade(&reference, &reference, 2, 5120)?.verdict(), Verdict::Pass);
/// let nan = [0xc0, 0x7f, 0x80, 0x40];
/// assert_eq!(m16::grade(&nan, &reference, 2, 5120)?.verdict(), Verdict::Fail);
/// assert!(m16::grade(&reference[..2], &reference, 2, 5120).is_err()); // a short output is no output
/// # Ok::<(), lastbit::Error>(())
/// ```
///
/// # Errors
/// `Status::Shape` where the lengths differ or are no whole rows of n elements, `Status::Argument` for k = 0, `Status::Memory`.
pub fn grade(actual: &[u8], reference: &[u8], n: usize, k: usize) -> Result<Record> {
    if actual.len() != reference.len() {
        let message = format!("the output has {} bytes, the reference {}", actual.len(), reference.len());
        return Err(Error::shape("m16", message));
    }
    let row = n.checked_mul(2).filter(|&row| row > 0 && reference.len() % row == 0);
    let rows = row
        .map(|row| reference.len() / row)
        .ok_or_else(|| Error::shape("m16", format!("{} bytes are no whole rows of {n} bf16 elements", reference.len())))?;
    let words = |block: &[u8]| -> Vec<u16> { block.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect() };
    let (actual, reference) = (words(actual), words(reference));
    let reference = Mat::named("reference", Format::find("bf16")?, &reference, rows, n)?;
    Grade::new(&actual, reference, Contract::find("m16-tc")?, k).run()
}

/// [`compare_block`] under the original's name.
pub use self::compare_block as compare_m16_tc_block;
/// [`m16_floor`] under the original's name.
pub use self::m16_floor as m16_tc_acc_floor;
/// [`within`] under the original's name.
pub use self::within as within_m16_tc_budget;
/// [`BlockDiff`] under the original's name.
pub type M16TcDiff = BlockDiff;
/// [`Outlier`] under the original's name.
pub type M16TcOutlier = Outlier;
