// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result record, `lastbit.result/1`.

use crate::error::Result;
use crate::format::Format;
use crate::raw::OwnedRecord;
use lastbit_sys as c;
use std::fmt;

/// What a judgement came to. Only [`Verdict::Pass`] is agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Compared; every element is exact or legal.
    Pass,
    /// Compared; some element is wrong, or memory that is not the output's was written to.
    Fail,
    /// Nothing was compared, or the reference is unfit to judge by.
    Unproven,
    /// Something was not run, for the reason that is given.
    Skip,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Unproven => "UNPROVEN",
            Verdict::Skip => "SKIP",
        })
    }
}

/// Every element is in exactly one of exact, legal, wrong; `total - compared` were not looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Elements of the output.
    pub total: u64,
    /// Elements that were looked at.
    pub compared: u64,
    /// The unit's bits, or the reference's where there is no unit.
    pub exact: u64,
    /// Other bits, inside the contract.
    pub legal: u64,
    /// Neither.
    pub wrong: u64,
    /// NaN in the output.
    pub nan_actual: u64,
    /// NaN in the reference.
    pub nan_reference: u64,
    /// Inf in the output.
    pub inf_actual: u64,
    /// Inf in the reference.
    pub inf_reference: u64,
    /// NaN or Inf where the other side has none, or the other sign of Inf.
    pub class_mismatch: u64,
    /// Signs differ and |reference| is below the contract's band.
    pub sign_flips: u64,
    /// Beyond the ULP budget, whether or not the floor admitted them.
    pub over_ulp: u64,
    /// Still hold the sentinel.
    pub not_written: u64,
    /// Bytes or gap elements outside the output that changed.
    pub guard_damage: u64,
}

/// Figures of the whole block.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// Largest ordinal distance.
    pub max_ulp: f64,
    /// Largest absolute error.
    pub max_abs: f64,
    /// RMS of the errors over RMS of the reference.
    pub rel_rms: f64,
    /// RMS of the reference.
    pub rms: f64,
    /// Least and largest RMS of a reference row: the scales that the floor was taken at.
    pub row_rms: (f64, f64),
}

/// One element, as judged.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Element {
    /// Row in the output.
    pub row: usize,
    /// Column in the output.
    pub col: usize,
    /// The code that was judged.
    pub actual: u64,
    /// The reference's code.
    pub reference: u64,
    /// Value of `actual`.
    pub actual_value: f64,
    /// Value of `reference`.
    pub reference_value: f64,
    /// Ordinal distance in the output format; infinite where classes differ.
    pub ulp: f64,
    /// |actual - reference|; infinite where classes differ.
    pub abs_error: f64,
    /// Absolute tolerance here, where there is one; 0 for word-for-word.
    pub bound: Option<f64>,
    /// RMS of the reference row, where it was used.
    pub row_rms: Option<f64>,
    /// The contract's floor here, where it was used.
    pub floor: Option<f64>,
    /// What the unit gives, where there is one.
    pub exact: Option<u64>,
}

impl Element {
    fn of(e: &c::lb_element) -> Self {
        let used = |x: f64| (!x.is_nan()).then_some(x);
        Element {
            row: e.row,
            col: e.col,
            actual: e.actual,
            reference: e.reference,
            actual_value: e.actual_value,
            reference_value: e.reference_value,
            ulp: e.ulp,
            abs_error: e.abs_error,
            bound: used(e.bound),
            row_rms: used(e.row_rms),
            floor: used(e.floor),
            exact: e.has_exact.then_some(e.exact_code),
        }
    }
}

/// What a judgement found: verdict, reason, counts, the worst element. Displays as the report that people read.
///
/// ```
/// # use lastbit::{Check, Mat, Unit, Verdict};
/// # let unit = Unit::find("sm_80/mma.m16n8k16.f32.f16.f16.f32")?;
/// # let (a, b) = ([0x3c00u16; 2 * 3], [0x4000u16; 3 * 4]);
/// let mut d: Vec<u32> = unit.gemm(&a, &b, None, 2, 4, 3)?;
/// d[5] ^= 1;
/// let actual = Mat::new(unit.d(), &d, 2, 4)?;
/// let record = Check::new(Mat::new(unit.a(), &a, 2, 3)?, Mat::new(unit.b(), &b, 3, 4)?, actual).unit(&unit).run()?;
/// assert_eq!(record.verdict(), Verdict::Fail);
/// assert_eq!((record.counts().exact, record.counts().wrong), (7, 1));
/// let first = record.first().unwrap();
/// assert_eq!((first.row, first.col, first.ulp), (1, 1, 1.0));
/// assert!(record.to_string().starts_with("FAIL op=matmul in=f16 out=f32"));
/// # Ok::<(), lastbit::Error>(())
/// ```
pub struct Record(pub(crate) OwnedRecord);

impl Record {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self.0.verdict {
            c::LB_PASS => Verdict::Pass,
            c::LB_FAIL => Verdict::Fail,
            c::LB_SKIP => Verdict::Skip,
            _ => Verdict::Unproven,
        }
    }

    /// Whether the verdict is PASS, and nothing else.
    pub fn passed(&self) -> bool {
        self.verdict() == Verdict::Pass
    }

    /// One sentence; never empty.
    pub fn reason(&self) -> String {
        self.0.text(|r| r.reason)
    }

    /// What is known of the cause; "" if unexplained.
    pub fn cause(&self) -> String {
        self.0.text(|r| r.cause)
    }

    /// The case: `op=matmul in=bf16 out=bf16 m=64 n=64 k=256 …`.
    pub fn case_string(&self) -> String {
        self.0.text(|r| r.case_string)
    }

    /// The unit's name; "" without one.
    pub fn unit(&self) -> String {
        self.0.text(|r| r.unit_name)
    }

    /// The contract's name; "" without one.
    pub fn contract(&self) -> String {
        self.0.text(|r| r.contract_name)
    }

    /// How the reference was computed, and its error.
    pub fn reference(&self) -> String {
        self.0.text(|r| r.reference)
    }

    /// "all", or what was sampled.
    pub fn coverage(&self) -> String {
        self.0.text(|r| r.coverage)
    }

    /// Format of every code in the record.
    pub fn format(&self) -> Option<Format> {
        self.0.out_format().map(Format)
    }

    /// How many elements are what.
    pub fn counts(&self) -> Counts {
        let x = &self.0.counts;
        Counts {
            total: x.total,
            compared: x.compared,
            exact: x.exact,
            legal: x.legal,
            wrong: x.wrong,
            nan_actual: x.nan_actual,
            nan_reference: x.nan_reference,
            inf_actual: x.inf_actual,
            inf_reference: x.inf_reference,
            class_mismatch: x.class_mismatch,
            sign_flips: x.sign_flips,
            over_ulp: x.over_ulp,
            not_written: x.not_written,
            guard_damage: x.guard_damage,
        }
    }

    /// Figures of the block; None where nothing was compared.
    pub fn metrics(&self) -> Option<Metrics> {
        let x = &self.0.metrics;
        x.present.then_some(Metrics {
            max_ulp: x.max_ulp,
            max_abs: x.max_abs,
            rel_rms: x.rel_rms,
            rms: x.rms,
            row_rms: (x.row_rms_least, x.row_rms_most),
        })
    }

    /// The first wrong element.
    pub fn first(&self) -> Option<Element> {
        self.0.first.present.then(|| Element::of(&self.0.first))
    }

    /// The worst of the wrong elements; of the legal ones where none is wrong.
    pub fn worst(&self) -> Option<Element> {
        self.0.worst.present.then(|| Element::of(&self.0.worst))
    }

    /// The first wrong elements, as many as were asked for (16 unless said otherwise).
    pub fn outliers(&self) -> Vec<Element> {
        self.0.outliers().iter().map(Element::of).collect()
    }

    /// The record as one line of JSON, docs/result-schema.md.
    ///
    /// # Errors
    /// `Status::Memory`.
    pub fn to_json(&self) -> Result<String> {
        self.0.to_json()
    }

    /// A record from its JSON; unknown keys are ignored.
    ///
    /// # Errors
    /// `Status::File` with the key that is missing or malformed.
    pub fn from_json(text: &str) -> Result<Self> {
        OwnedRecord::from_json(text).map(Record)
    }

    /// What a program that judged this alone exits with: PASS 0, FAIL 1, else 3.
    pub fn exit_code(&self) -> i32 {
        self.0.exit_code()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.report().map_err(|_| fmt::Error)?;
        f.write_str(text.trim_end())
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} {}: {})", self.verdict(), self.case_string(), self.reason())
    }
}
