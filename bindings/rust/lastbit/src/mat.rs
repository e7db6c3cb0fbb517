// SPDX-License-Identifier: MIT OR Apache-2.0
//! Codes, and matrices of them.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::raw::View;
use lastbit_sys as c;
use std::fmt;

mod sealed {
    pub trait Sealed {}
}

/// An unsigned integer that holds one code: `u8`, `u16`, `u32` or `u64`, whichever is [`Format::bytes`] wide.
/// Bits are bits here: what a code is worth is for its format to say.
pub trait Code: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// Bytes of storage of one code.
    const BYTES: usize;
}

macro_rules! codes {
    ($($kind:ty),+) => {$(
        impl sealed::Sealed for $kind {}
        impl Code for $kind {
            const BYTES: usize = std::mem::size_of::<$kind>();
        }
    )+};
}
codes!(u8, u16, u32, u64);

/// A borrowed matrix of codes in one format.
///
/// ```
/// use lastbit::{Format, Mat};
/// let bf16 = Format::find("bf16")?;
/// let codes = [0x3f80u16, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0]; // 1 to 6
/// let a = Mat::new(bf16, &codes, 2, 3)?;
/// assert_eq!((a.rows(), a.cols()), (2, 3));
/// assert!(Mat::new(bf16, &codes, 2, 4).is_err()); // that would be eight
/// assert!(Mat::new(bf16, &[0u32; 6], 2, 3).is_err()); // bf16 is two bytes wide
/// # Ok::<(), lastbit::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Mat<'a>(pub(crate) View<'a>);

impl<'a> Mat<'a> {
    /// Row-major `codes[rows][cols]`.
    ///
    /// # Errors
    /// [`Status::Format`](crate::Status) if the element is not as wide as the format's storage, [`Status::Shape`](crate::Status) if
    /// there are not exactly `rows * cols` codes.
    pub fn new<T: Code>(format: Format, codes: &'a [T], rows: usize, cols: usize) -> Result<Self> {
        Self::named("matrix", format, codes, rows, cols)
    }

    pub(crate) fn named<T: Code>(name: &str, format: Format, codes: &'a [T], rows: usize, cols: usize) -> Result<Self> {
        check_width::<T>(name, format)?;
        if rows.checked_mul(cols) != Some(codes.len()) {
            return Err(Error::shape(name, format!("{name} has {} codes; {rows}x{cols} is another number", codes.len())));
        }
        Ok(Mat(View::new(format.0, codes, rows, cols, cols, 1)))
    }

    /// Element (r, c) is `codes[r * row_stride + c * col_stride]`: rows with gaps, a tile of a larger matrix, a transposed one.
    ///
    /// # Errors
    /// As [`Mat::new`]; `Status::Shape` if an element would lie behind the slice's end.
    pub fn strided<T: Code>(
        format: Format,
        codes: &'a [T],
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Result<Self> {
        check_width::<T>("matrix", format)?;
        let beyond = || {
            let place = format!("{rows}x{cols} at strides {row_stride} and {col_stride} reaches beyond {} codes", codes.len());
            Error::shape("matrix", place)
        };
        if rows > 0 && cols > 0 {
            let row = (rows - 1).checked_mul(row_stride).ok_or_else(beyond)?;
            let col = (cols - 1).checked_mul(col_stride).ok_or_else(beyond)?;
            row.checked_add(col).filter(|&last| last < codes.len()).ok_or_else(beyond)?;
        }
        Ok(Mat(View::new(format.0, codes, rows, cols, row_stride, col_stride)))
    }

    /// The same elements with rows and columns exchanged; nothing is copied. Weights stored `[n][k]` become B, `[k][n]`.
    pub fn transposed(self) -> Self {
        Mat(self.0.transposed())
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.0.cols()
    }

    /// Format of every element.
    pub fn format(&self) -> Format {
        Format(self.0.format())
    }
}

impl fmt::Debug for Mat<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mat({} {}x{})", self.format().name(), self.rows(), self.cols())
    }
}

pub(crate) fn check_width<T: Code>(name: &str, format: Format) -> Result<()> {
    if format.bytes() == T::BYTES {
        return Ok(());
    }
    let message = format!("{name} is {}, which is {} bytes wide; these codes have {}", format.name(), format.bytes(), T::BYTES);
    Err(Error::new(c::LB_E_FORMAT, name, message))
}
