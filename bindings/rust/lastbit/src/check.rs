// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judging an output: against its operands, or against another output.

use crate::contract::Contract;
use crate::error::{Error, Result};
use crate::mat::{check_width, Code, Mat};
use crate::raw::{self, CheckInput, GradeInput};
use crate::record::Record;
use crate::unit::Unit;
use lastbit_sys as c;

/// How the reference of a contract is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reference {
    /// f64 where that decides the rounding, exact integers where it does not: correctly rounded.
    #[default]
    Auto,
    /// Plain f64 sums and their error bound: fast, and may be unfit to judge by (the record says so).
    F64,
    /// Exact integer accumulation.
    Exact,
}

/// Is this D = A B + C? By a unit's bits, by a contract, or by both; at least one of the two.
///
/// Shapes: a `[m][k]`, b `[k][n]` (a [`transposed`](Mat::transposed) view where it is stored `[n][k]`), actual `[m][n]`; the output
/// format is that of `actual`. The unit's D is rounded once to it where it is another.
///
/// ```
/// use lastbit::{Check, Contract, Format, Mat};
/// let bf16 = Format::find("bf16")?;
/// let (a, b) = ([0x3f80u16; 2 * 4], [0x4000u16; 4 * 2]); // ones, twos
/// let d = [0x4100u16, 0x4100, 0x4100, 0x4101]; // 8, and one code more
/// let record = Check::new(Mat::new(bf16, &a, 2, 4)?, Mat::new(bf16, &b, 4, 2)?, Mat::new(bf16, &d, 2, 2)?)
///     .contract(Contract::find("m16-tc")?)
///     .run()?;
/// assert_eq!((record.counts().exact, record.counts().legal), (3, 1));
/// # Ok::<(), lastbit::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is judged before run()"]
pub struct Check<'a> {
    a: Mat<'a>,
    b: Mat<'a>,
    c: Option<Mat<'a>>,
    actual: Mat<'a>,
    name: String,
    unit: Option<Unit>,
    contract: Option<Contract>,
    nan_by_class: bool,
    reference: Reference,
    sample: usize,
    seed: u64,
    max_outliers: usize,
}

impl<'a> Check<'a> {
    /// A check of `actual` against the product of `a` and `b`.
    pub fn new(a: Mat<'a>, b: Mat<'a>, actual: Mat<'a>) -> Self {
        Check {
            a,
            b,
            c: None,
            actual,
            name: "memory".into(),
            unit: None,
            contract: None,
            nan_by_class: false,
            reference: Reference::Auto,
            sample: 0,
            seed: 0,
            max_outliers: 0,
        }
    }

    /// C, `[m][n]`.
    pub fn c(mut self, c: Mat<'a>) -> Self {
        self.c = Some(c);
        self
    }

    /// What the record calls the output ("memory" unless told).
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Judge by this unit's bits.
    pub fn unit(mut self, unit: &Unit) -> Self {
        self.unit = Some(*unit);
        self
    }

    /// Allow what this contract allows.
    pub fn contract(mut self, contract: Contract) -> Self {
        self.contract = Some(contract);
        self
    }

    /// With a unit: any NaN equals any NaN.
    pub fn nan_by_class(mut self, yes: bool) -> Self {
        self.nan_by_class = yes;
        self
    }

    /// How the reference is computed.
    pub fn reference(mut self, how: Reference) -> Self {
        self.reference = how;
        self
    }

    /// Look at this many rows and columns at most, edges first, others drawn from `seed`; 0 for all.
    pub fn sample(mut self, count: usize, seed: u64) -> Self {
        self.sample = count;
        self.seed = seed;
        self
    }

    /// Wrong elements to list; 0 for 16.
    pub fn max_outliers(mut self, count: usize) -> Self {
        self.max_outliers = count;
        self
    }

    /// Judge. A wrong output is a record that says FAIL, not an error.
    ///
    /// # Errors
    /// `Status::Shape`, `Status::Format` where the operands do not fit, `Status::Argument` where there is neither unit nor contract,
    /// `Status::Memory`.
    pub fn run(&self) -> Result<Record> {
        let input = CheckInput {
            a: self.a,
            b: self.b,
            b_transposed: false,
            c: self.c,
            out: self.actual.format().0,
            actual: self.actual,
            name: &self.name,
            unit: self.unit.as_ref().map(|unit| &unit.0),
            contract: self.contract.map(|contract| contract.0),
            nan_by_class: self.nan_by_class,
            reference: match self.reference {
                Reference::Auto => c::LB_REFERENCE_AUTO,
                Reference::F64 => c::LB_REFERENCE_F64,
                Reference::Exact => c::LB_REFERENCE_EXACT,
            },
            sample: self.sample,
            seed: self.seed,
            max_outliers: self.max_outliers,
        };
        raw::check(&input).map(Record)
    }
}

/// Is this output as good as that one? A block under a contract, with the memory around it audited where it has a sentinel.
///
/// Shapes: reference `[m][n]`; actual m rows of n elements, `ld` from one row to the next, between two guards if there are any.
///
/// ```
/// use lastbit::{Contract, Format, Grade, Mat, Verdict};
/// let bf16 = Format::find("bf16")?;
/// let reference = [0x4040u16, 0x4080, 0x42c0, 0x4100]; // 3 4, 96 8
/// let mut actual = [0x4041u16, 0x4080, 0x5a5a, 0x42c0, 0x4100, 0x5a5a]; // one ordinal off; gaps hold the sentinel
/// let grade = |actual: &[u16]| {
///     Grade::new(actual, Mat::new(bf16, &reference, 2, 2)?, Contract::find("m16-tc")?, 5120).ld(3).sentinel(0x5a5a).run()
/// };
/// assert_eq!(grade(&actual)?.verdict(), Verdict::Pass);
/// actual[2] = 0;
/// assert_eq!(grade(&actual)?.counts().guard_damage, 1);
/// # Ok::<(), lastbit::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is judged before run()"]
pub struct Grade<'a, T> {
    actual: &'a [T],
    reference: Mat<'a>,
    contract: Contract,
    k: usize,
    ld: usize,
    guard: usize,
    sentinel: Option<u64>,
    max_outliers: usize,
}

impl<'a, T: Code> Grade<'a, T> {
    /// A grade of `actual` against `reference`. k is the reduction depth that the kernel ran, never the output's width.
    pub fn new(actual: &'a [T], reference: Mat<'a>, contract: Contract, k: usize) -> Self {
        Grade { actual, reference, contract, k, ld: 0, guard: 0, sentinel: None, max_outliers: 0 }
    }

    /// Elements from one row of `actual` to the next; 0 for the columns of the reference.
    pub fn ld(mut self, elements: usize) -> Self {
        self.ld = elements;
        self
    }

    /// Elements of `actual` before the first and behind the last row that must hold the sentinel.
    pub fn guard(mut self, elements: usize) -> Self {
        self.guard = elements;
        self
    }

    /// The code that unwritten elements, gaps and guards hold.
    pub fn sentinel(mut self, code: T) -> Self
    where
        u64: From<T>,
    {
        self.sentinel = Some(code.into());
        self
    }

    /// Wrong elements to list; 0 for 16.
    pub fn max_outliers(mut self, count: usize) -> Self {
        self.max_outliers = count;
        self
    }

    /// Judge. A wrong output is a record that says FAIL, not an error.
    ///
    /// # Errors
    /// `Status::Shape` where `actual` has another length, `Status::Format` where its codes have another width or the contract does not
    /// grade the format, `Status::Argument` for k = 0 or guards without a sentinel, `Status::Memory`.
    pub fn run(&self) -> Result<Record> {
        check_width::<T>("actual", self.reference.format())?;
        let guard =
            self.guard.checked_mul(T::BYTES).ok_or_else(|| Error::shape("guard", format!("{} is too large", self.guard)))?;
        let input = GradeInput {
            reference: self.reference,
            actual: self.actual,
            ld: self.ld,
            guard_bytes: guard,
            sentinel: self.sentinel,
            contract: self.contract.0,
            k: self.k as f64,
            max_outliers: self.max_outliers,
        };
        raw::grade(&input).map(Record)
    }
}
