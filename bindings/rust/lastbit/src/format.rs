// SPDX-License-Identifier: MIT OR Apache-2.0
//! Number formats.

use crate::error::{Error, Result};
use crate::raw::{self, FormatRow};
use lastbit_sys as c;
use std::fmt;

/// A number format: a row of the library's table, by which codes are decoded, encoded and ordered.
///
/// A code is a bit pattern, right-aligned in an unsigned integer. Bits above [`Format::bits`] are ignored.
///
/// ```
/// let e4m3 = lastbit::Format::find("e4m3")?;
/// assert_eq!(e4m3.decode(0x7e), 448.0);
/// assert_eq!(e4m3.encode(0.3), 0x2a); // 0.3125, the nearest
/// assert_eq!(e4m3.ulp_distance(0x00, 0x81), Some(1)); // one step: +0 and -0 are one point
/// # Ok::<(), lastbit::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Format(pub(crate) FormatRow);

/// What a code stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// +0 or -0.
    Zero,
    /// A finite value other than zero.
    Finite,
    /// An infinity.
    Infinite,
    /// No number.
    Nan,
}

/// Which neighbour an inexact value becomes. The stochastic form carries its draw: up iff `floor(f * 2^bits) + random >= 2^bits`,
/// f the discarded fraction, bits from 1 to 32, random below `2^bits`.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    NearestEven,
    NearestAway,
    NearestToZero,
    NearestOdd,
    TowardZero,
    Up,
    Down,
    AwayFromZero,
    ToOdd,
    Stochastic { bits: u32, random: u32 },
}

/// What becomes of a value beyond the largest finite one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// As the rounding says: Inf, or the largest finite value where it rounds toward zero.
    Ieee,
    /// Always Inf, as matrix units do.
    Infinity,
    /// The largest finite value, also for an Inf input; NaN kept.
    Saturate,
    /// The largest finite value; an Inf input stays Inf.
    SaturatePropagate,
    /// NaN.
    Nan,
    /// Integers only: modulo `2^bits`.
    Wrap,
}

/// What becomes of a result that is subnormal after rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flush {
    /// It stays.
    Keep,
    /// Zero with its sign.
    ToSignedZero,
    /// +0.
    ToPositiveZero,
}

/// How to encode; the default is IEEE 754: nearest even, overflow to Inf, subnormals kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// Which neighbour.
    pub rounding: Rounding,
    /// Beyond the largest.
    pub overflow: Overflow,
    /// Below the least normal.
    pub flush: Flush,
}

impl Default for Encoding {
    fn default() -> Self {
        Encoding { rounding: Rounding::NearestEven, overflow: Overflow::Ieee, flush: Flush::Keep }
    }
}

/// What an encoding had to report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct Flags {
    pub inexact: bool,
    pub underflow: bool,
    pub overflowed: bool,
    /// The format has no such value: NaN, a negative one.
    pub invalid: bool,
}

impl Encoding {
    fn raw(self) -> Result<c::lb_encoding> {
        let mut how = c::lb_encoding::default();
        how.rounding = match self.rounding {
            Rounding::NearestEven => c::LB_RNE,
            Rounding::NearestAway => c::LB_RNA,
            Rounding::NearestToZero => c::LB_RNZ,
            Rounding::NearestOdd => c::LB_RNO,
            Rounding::TowardZero => c::LB_RZ,
            Rounding::Up => c::LB_RU,
            Rounding::Down => c::LB_RD,
            Rounding::AwayFromZero => c::LB_RAZ,
            Rounding::ToOdd => c::LB_ODD,
            Rounding::Stochastic { bits, random } => {
                if !(1..=32).contains(&bits) || u64::from(random) >> bits != 0 {
                    let message = format!("a draw of {bits} bits, {random}: bits are 1 to 32, and the draw is below 2^bits");
                    return Err(Error::new(c::LB_E_ARG, "rounding", message));
                }
                how.random_bits = bits;
                how.random = random;
                c::LB_SR
            }
        };
        how.overflow = match self.overflow {
            Overflow::Ieee => c::LB_OVERFLOW_IEEE,
            Overflow::Infinity => c::LB_OVERFLOW_INF,
            Overflow::Saturate => c::LB_OVERFLOW_SATURATE,
            Overflow::SaturatePropagate => c::LB_OVERFLOW_SATURATE_PROPAGATE,
            Overflow::Nan => c::LB_OVERFLOW_NAN,
            Overflow::Wrap => c::LB_OVERFLOW_WRAP,
        };
        how.flush = match self.flush {
            Flush::Keep => c::LB_FLUSH_NONE,
            Flush::ToSignedZero => c::LB_FLUSH_KEEP_SIGN,
            Flush::ToPositiveZero => c::LB_FLUSH_TO_POSITIVE,
        };
        Ok(how)
    }
}

impl Format {
    /// The format of a name or alias: "bf16", "e4m3fn".
    ///
    /// # Errors
    /// [`Status::Name`](crate::Status), naming the nearest.
    pub fn find(name: &str) -> Result<Self> {
        raw::format_find(name).map(Format)
    }

    /// Every format, in the table's order.
    pub fn rows() -> impl Iterator<Item = Format> {
        (0..).map_while(|id| raw::format_row(id).map(Format))
    }

    pub(crate) fn of(id: c::lb_format_id) -> Self {
        Format(raw::format_row(id).expect("the library's own number"))
    }

    /// Canonical name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Other names that [`Format::find`] takes.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        self.0.alias().split_whitespace()
    }

    /// Where it is defined: a key in docs/sources.md.
    pub fn source(&self) -> &'static str {
        self.0.source()
    }

    /// What is worth knowing about it.
    pub fn note(&self) -> &'static str {
        self.0.note()
    }

    /// Width of a code in bits; 32 for tf32, whose low 13 are ignored.
    pub fn bits(&self) -> u32 {
        self.0.bits as u32
    }

    /// Storage of one code: 1, 2, 4 or 8. Codes of less than a byte use one each.
    pub fn bytes(&self) -> usize {
        self.0.bytes as usize
    }

    /// Value of a code: exact, for every format here.
    pub fn decode(&self, code: u64) -> f64 {
        self.0.to_double(code)
    }

    /// Code of a value: one rounding, to nearest even, overflow to Inf where the format has it.
    pub fn encode(&self, x: f64) -> u64 {
        self.0.code_of(x)
    }

    /// Code of a value under another rounding or overflow rule, and what happened on the way: one rounding.
    ///
    /// # Errors
    /// [`Status::Argument`](crate::Status) for a stochastic draw out of its range, or where an integer's rule (`Wrap`) meets a float.
    pub fn encode_with(&self, x: f64, how: &Encoding) -> Result<(u64, Flags)> {
        if how.overflow == Overflow::Wrap && self.0.special != c::LB_SPECIAL_INT {
            return Err(Error::new(c::LB_E_ARG, self.name(), "only integers wrap".into()));
        }
        let (code, flags) = self.0.encode(x, &how.raw()?);
        let has = |flag| flags & flag != 0;
        let flags = Flags {
            inexact: has(c::LB_INEXACT),
            underflow: has(c::LB_UNDERFLOW),
            overflowed: has(c::LB_OVERFLOWED),
            invalid: has(c::LB_INVALID),
        };
        Ok((code, flags))
    }

    /// What a code stands for.
    pub fn class(&self, code: u64) -> Class {
        match self.0.class(code) {
            c::LB_ZERO => Class::Zero,
            c::LB_FINITE => Class::Finite,
            c::LB_INF => Class::Infinite,
            _ => Class::Nan,
        }
    }

    /// Place on the number line: neighbours differ by one, +0 and -0 are both 0, Inf is one past the largest finite value.
    /// None for NaN, which has no place.
    pub fn ordinal(&self, code: u64) -> Option<i64> {
        (self.class(code) != Class::Nan).then(|| self.0.ordinal(code))
    }

    /// Steps between two codes; None if either is NaN.
    pub fn ulp_distance(&self, a: u64, b: u64) -> Option<u64> {
        (self.class(a) != Class::Nan && self.class(b) != Class::Nan).then(|| self.0.ulp_distance(a, b))
    }

    /// Code of the largest finite value.
    pub fn max_code(&self) -> u64 {
        self.0.max_code()
    }

    /// Code of the least positive value.
    pub fn min_code(&self) -> u64 {
        self.0.min_code()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
