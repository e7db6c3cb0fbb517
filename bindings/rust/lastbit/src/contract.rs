// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which bits are allowed beside the exact ones.

use crate::error::Result;
use crate::raw::{self, ContractRow};
use std::fmt;

/// A contract: an element is legal within an ordinal budget of the reference, or within a floor that follows reduction depth and row.
///
/// ```
/// let m16 = lastbit::Contract::find("m16-tc")?;
/// assert!((m16.floor(5120, 39.13) - 1.335103e-3).abs() < 1e-8);
/// assert!(lastbit::Contract::find("m16tc").unwrap_err().message().contains("m16-tc"));
/// # Ok::<(), lastbit::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Contract(pub(crate) ContractRow);

impl Contract {
    /// The contract of a name.
    ///
    /// # Errors
    /// [`Status::Name`](crate::Status), naming the nearest.
    pub fn find(name: &str) -> Result<Self> {
        raw::contract_find(name).map(Contract)
    }

    /// Every contract.
    pub fn rows() -> impl Iterator<Item = Contract> {
        (0..).map_while(|i| raw::contract_row(i).map(Contract))
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Names of the output formats that it is made for.
    pub fn formats(&self) -> impl Iterator<Item = &'static str> {
        self.0.formats().split_whitespace()
    }

    /// Where it is from: a key in docs/sources.md.
    pub fn source(&self) -> &'static str {
        self.0.source()
    }

    /// How it was found, and what for.
    pub fn note(&self) -> &'static str {
        self.0.note()
    }

    /// Ordinals that an element may be off.
    pub fn max_ulp(&self) -> f64 {
        self.0.max_ulp
    }

    /// Largest RMS of the errors over RMS of the reference, of a whole block.
    pub fn rel_rms_gate(&self) -> f64 {
        self.0.rel_rms_gate
    }

    /// `margin * unit_roundoff * sqrt(k) * row_rms`: below it an ordinal budget says nothing. k is the reduction depth.
    pub fn floor(&self, k: usize, row_rms: f64) -> f64 {
        self.0.floor(k as f64, row_rms)
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contract({})", self.name())
    }
}
