// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bad call, in the library's own words. A disagreement between numbers is never an error: see [`Verdict`](crate::Verdict).

use crate::raw;
use lastbit_sys as c;
use std::fmt;

/// What a fallible call returns.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a bad call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// An argument is out of its range.
    Argument,
    /// Shapes do not agree with each other, or with the length of a slice.
    Shape,
    /// A number format that cannot be used here, or codes of another width than the format's.
    Format,
    /// There is no such name.
    Name,
    /// A text or file is malformed.
    File,
    /// Not available: an instruction of which nobody knows what it computes, a kernel that this CPU cannot run.
    Unavailable,
    /// Out of memory.
    Memory,
    /// Another status of the library.
    Other(u32),
}

impl Status {
    fn of(raw: c::lb_status) -> Self {
        match raw {
            c::LB_E_ARG => Status::Argument,
            c::LB_E_SHAPE => Status::Shape,
            c::LB_E_FORMAT => Status::Format,
            c::LB_E_NAME => Status::Name,
            c::LB_E_FILE => Status::File,
            c::LB_E_UNAVAILABLE => Status::Unavailable,
            c::LB_E_MEMORY => Status::Memory,
            other => Status::Other(other),
        }
    }

    pub(crate) fn raw(self) -> c::lb_status {
        match self {
            Status::Argument => c::LB_E_ARG,
            Status::Shape => c::LB_E_SHAPE,
            Status::Format => c::LB_E_FORMAT,
            Status::Name => c::LB_E_NAME,
            Status::File => c::LB_E_FILE,
            Status::Unavailable => c::LB_E_UNAVAILABLE,
            Status::Memory => c::LB_E_MEMORY,
            Status::Other(other) => other,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(raw::status_text(self.raw()))
    }
}

/// A bad call: what is wrong, and where.
///
/// ```
/// let error = lastbit::Unit::find("sm_80/mma.m16n8k16.f32.f16.f16.f23").unwrap_err();
/// assert_eq!(error.status(), lastbit::Status::Name);
/// assert!(error.message().contains("the nearest is sm_80/mma.m16n8k16.f32.f16.f16.f32"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    status: Status,
    place: String,
    message: String,
}

impl Error {
    pub(crate) fn new(status: c::lb_status, place: &str, message: String) -> Self {
        Error { status: Status::of(status), place: place.into(), message }
    }

    pub(crate) fn shape(place: &str, message: String) -> Self {
        Self::new(c::LB_E_SHAPE, place, message)
    }

    /// The kind of the error.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The operand, option or row that is meant; "" if none.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// One line, with the nearest name where a name was not found.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
