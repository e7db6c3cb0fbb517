// SPDX-License-Identifier: MIT OR Apache-2.0
//! Are an accelerator kernel's bits right?
//!
//! * [`Unit`]: the bits that hardware gives, by integer models of matrix instructions;
//! * [`Contract`], [`Check`], [`Grade`]: which other bits are allowed, against a reference that is exact;
//! * [`Record`]: what was found, for people and for machines;
//! * [`m16`]: the tensor-core decode contract, predicate and block comparison, under the names that its users know;
//! * [`Format`], [`Mat`]: bit patterns and what they are worth. Bits never travel as floats: a matrix is a slice of `u8`, `u16` or `u32`.
//!
//! ```
//! use lastbit::{Check, Contract, Mat, Unit};
//!
//! // What would an A100 give for this product, and is an H100 the same?
//! let (a100, h100) = (Unit::find("sm_80/mma.m16n8k16.f32.f16.f16.f32")?, Unit::find("sm_90/mma.m16n8k16.f32.f16.f16.f32")?);
//! let (m, n, k) = (8, 8, 100);
//! let draw = |count: usize, step: u64| -> Vec<u16> {
//!     (0..count as u64).map(|i| a100.a().encode((i * step % 1009) as f64 / 504.5 - 1.0) as u16).collect()
//! };
//! let (a, b) = (draw(m * k, 443), draw(k * n, 577));
//! let d: Vec<u32> = a100.gemm(&a, &b, None, m, n, k)?;
//! let other: Vec<u32> = h100.gemm(&a, &b, None, m, n, k)?;
//! assert_ne!(d, other);
//!
//! // Word for word it is not; under the contract every element is legal.
//! let check = Check::new(Mat::new(a100.a(), &a, m, k)?, Mat::new(a100.b(), &b, k, n)?, Mat::new(a100.d(), &d, m, n)?);
//! assert!(check.clone().unit(&a100).run()?.passed());
//! assert!(!check.clone().unit(&h100).run()?.passed());
//! assert!(check.unit(&h100).contract(Contract::find("m16-tc")?).run()?.passed());
//! # Ok::<(), lastbit::Error>(())
//! ```
//!
//! # Errors, verdicts, threads
//! A bad call is an [`Error`] with the library's own message; a disagreement between numbers is a [`Verdict`], never an error. Nothing
//! panics on input. Everything here is [`Send`] and [`Sync`]: the library has no mutable globals and its calls are pure.
#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

mod check;
mod contract;
mod error;
mod format;
pub mod m16;
mod mat;
#[allow(unsafe_code)]
mod raw;
mod record;
mod unit;

pub use check::{Check, Grade, Reference};
pub use contract::Contract;
pub use error::{Error, Result, Status};
pub use format::{Class, Encoding, Flags, Flush, Format, Overflow, Rounding};
pub use mat::{Code, Mat};
pub use record::{Counts, Element, Metrics, Record, Verdict};
pub use unit::{GemmOptions, Kernel, Unit};

/// Version of the library that is linked, "major.minor.patch".
pub fn version() -> &'static str {
    raw::version()
}

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
