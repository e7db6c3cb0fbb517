// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one module with unsafe code: each call into C, with why it is sound. What it gives to the others is safe.
//!
//! Threads: the library has no mutable globals, and its headers call every function used here pure: what it reads is its
//! arguments and constant tables, what it writes is its outputs. So a value that only borrows shared data may be shared.

use crate::error::{Error, Result};
use crate::mat::{Code, Mat};
use lastbit_sys as c;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::raw::c_char;
use std::ptr::{self, NonNull};
use std::slice;

/// A row of one of the library's constant tables: there as long as the program.
#[derive(Clone, Copy)]
pub struct Row<T: 'static>(&'static T);

// SAFETY: rows are constant and their pointers lead to constants; nobody can write through a Row.
unsafe impl<T> Send for Row<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Row<T> {}

impl<T> Deref for Row<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> Row<T> {
    /// SAFETY: p is NULL or points to a row of a constant table, whose strings are constants too.
    unsafe fn from(p: *const T) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe { p.as_ref() }.map(Row)
    }

    fn raw(self) -> *const T {
        self.0
    }
}

macro_rules! row_texts {
    ($row:ty: $($field:ident),+) => {
        impl Row<$row> {
            $(pub fn $field(self) -> &'static str {
                // SAFETY: a string of a constant table.
                unsafe { constant(self.0.$field) }
            })+
        }
    };
}
row_texts!(c::lb_format: name, alias, source, note);
row_texts!(c::lb_contract: name, formats, source, note);

/// SAFETY: p is a NUL-terminated string that is never changed and never freed.
unsafe fn constant(p: *const c_char) -> &'static str {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(p) }.to_str().unwrap_or("?")
}

fn array_text(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text.iter().map(|&b| b as u8).take_while(|&b| b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Call a fallible function with a place for its message.
fn fallible(call: impl FnOnce(*mut c::lb_error) -> c::lb_status) -> Result<()> {
    let mut error = c::lb_error::default();
    match call(&mut error) {
        c::LB_OK => Ok(()),
        status => Err(Error::new(status, &array_text(&error.place), array_text(&error.message))),
    }
}

fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::new(c::LB_E_NAME, "", format!("a name with a NUL byte: {name:?}")))
}

/// Text that the library allocated, taken over and freed.
fn take(call: impl FnOnce(*mut *mut c_char, *mut c::lb_error) -> c::lb_status) -> Result<String> {
    let mut text = ptr::null_mut();
    fallible(|error| call(&mut text, error))?;
    // SAFETY: on LB_OK text is a NUL-terminated string of ours to free.
    let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // SAFETY: it came from malloc, and is not used again.
    unsafe { c::free(text.cast()) };
    Ok(copy)
}

pub fn version() -> &'static str {
    // SAFETY: returns a constant.
    unsafe { constant(c::lb_version()) }
}

pub fn status_text(status: c::lb_status) -> &'static str {
    // SAFETY: any number has a text, a constant.
    unsafe { constant(c::lb_status_text(status)) }
}

pub fn evidence_name(evidence: c::lb_evidence) -> &'static str {
    // SAFETY: any number has a name, a constant.
    unsafe { constant(c::lb_evidence_name(evidence)) }
}

// ---- formats -------------------------------------------------------------------------------------------------------

pub type FormatRow = Row<c::lb_format>;

pub fn format_row(id: c::lb_format_id) -> Option<FormatRow> {
    // SAFETY: takes any number; NULL past the end.
    unsafe { Row::from(c::lb_format_row(id)) }
}

pub fn format_find(name: &str) -> Result<FormatRow> {
    let (name, mut row) = (c_name(name)?, ptr::null());
    // SAFETY: the name and both outputs outlive the call.
    fallible(|error| unsafe { c::lb_format_get(name.as_ptr(), &mut row, error) })?;
    // SAFETY: on LB_OK it is a row of the table.
    unsafe { Row::from(row) }.ok_or_else(|| Error::new(c::LB_E_NAME, "", "no such format".into()))
}

impl FormatRow {
    pub fn to_double(self, code: u64) -> f64 {
        // SAFETY: a row of the table, and any code.
        unsafe { c::lb_to_double(self.raw(), code) }
    }

    pub fn code_of(self, x: f64) -> u64 {
        // SAFETY: a row of the table, and any value.
        unsafe { c::lb_from_double(self.raw(), x) }
    }

    /// `how` has been checked: its enumerations are of this library, and random_bits is at most 32.
    pub fn encode(self, x: f64, how: &c::lb_encoding) -> (u64, u32) {
        let mut flags = 0;
        // SAFETY: a row of the table; how and flags outlive the call.
        let code = unsafe { c::lb_encode(self.raw(), c::lb_value_of(x), how, &mut flags) };
        (code, flags)
    }

    pub fn class(self, code: u64) -> c::lb_class {
        // SAFETY: a row of the table, and any code.
        unsafe { c::lb_code_class(self.raw(), code) }
    }

    pub fn ordinal(self, code: u64) -> i64 {
        // SAFETY: a row of the table, and any code.
        unsafe { c::lb_ordinal(self.raw(), code) }
    }

    pub fn ulp_distance(self, a: u64, b: u64) -> u64 {
        // SAFETY: a row of the table, and any codes.
        unsafe { c::lb_ulp_distance(self.raw(), a, b) }
    }

    pub fn max_code(self) -> u64 {
        // SAFETY: a row of the table.
        unsafe { c::lb_max_code(self.raw()) }
    }

    pub fn min_code(self) -> u64 {
        // SAFETY: a row of the table.
        unsafe { c::lb_min_code(self.raw()) }
    }
}

// ---- matrices ------------------------------------------------------------------------------------------------------

/// A view of codes that are only read. Its elements all lie in the slice that it was made from (see Mat::strided).
#[derive(Clone, Copy)]
pub struct View<'a> {
    raw: c::lb_mat,
    codes: PhantomData<&'a [u8]>,
}

// SAFETY: like the shared slice that it stands for: nothing is written through it.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// The caller has checked that T is of the format's width and that every element lies in `codes`; checked again here, since
    /// everything below relies on it.
    pub fn new<T: Code>(
        format: FormatRow,
        codes: &'a [T],
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Self {
        assert!(format.bytes as usize == T::BYTES && std::mem::size_of::<T>() == T::BYTES);
        if rows > 0 && cols > 0 {
            let row = (rows - 1).checked_mul(row_stride);
            let col = (cols - 1).checked_mul(col_stride);
            let last = row.zip(col).and_then(|(row, col)| row.checked_add(col));
            assert!(last.map_or(false, |last| last < codes.len()));
        }
        let codes_pointer = codes.as_ptr() as *mut core::ffi::c_void; // C reads inputs only
        let (row_stride, col_stride) = (row_stride as isize, col_stride as isize);
        View {
            raw: c::lb_mat { format: format.raw(), codes: codes_pointer, rows, cols, row_stride, col_stride },
            codes: PhantomData,
        }
    }

    pub fn rows(&self) -> usize {
        self.raw.rows
    }

    pub fn cols(&self) -> usize {
        self.raw.cols
    }

    pub fn format(&self) -> FormatRow {
        // SAFETY: View::new put a row of the table there.
        Row(unsafe { &*self.raw.format })
    }

    pub fn transposed(self) -> Self {
        // SAFETY: swaps rows and columns of the view; the same elements.
        View { raw: unsafe { c::lb_mat_transposed(self.raw) }, codes: PhantomData }
    }
}

// ---- units ---------------------------------------------------------------------------------------------------------

/// A unit as the library gave it. Its strings are constants.
#[derive(Clone, Copy)]
pub struct UnitRow(c::lb_unit);

// SAFETY: plain data and pointers to constants; never changed.
unsafe impl Send for UnitRow {}
// SAFETY: as above.
unsafe impl Sync for UnitRow {}

impl Deref for UnitRow {
    type Target = c::lb_unit;
    fn deref(&self) -> &c::lb_unit {
        &self.0
    }
}

pub fn unit_row(i: usize) -> Option<UnitRow> {
    // SAFETY: takes any number; NULL past the end.
    unsafe { c::lb_unit_row(i).as_ref() }.copied().map(UnitRow)
}

pub fn unit_find(name: &str) -> Result<UnitRow> {
    let (name, mut unit) = (c_name(name)?, c::lb_unit::default());
    // SAFETY: the name and both outputs outlive the call.
    fallible(|error| unsafe { c::lb_unit_find(name.as_ptr(), &mut unit, error) })?;
    Ok(UnitRow(unit))
}

/// What is added to a product: nothing, a matrix, or what the output holds.
#[derive(Clone, Copy)]
pub enum Addend<'a, 'b> {
    Zero,
    Mat(&'b Mat<'a>),
    Output,
}

impl UnitRow {
    pub fn name(&self) -> String {
        array_text(&self.0.name)
    }

    pub fn texts(&self) -> [&'static str; 3] {
        // SAFETY: constants, as in every row.
        [self.source, self.note, self.open].map(|text| unsafe { constant(text) })
    }

    /// a and b are of one length.
    pub fn dot(&self, a: &[u32], b: &[u32], addend: u32) -> Result<u32> {
        assert_eq!(a.len(), b.len());
        let mut d = 0;
        // SAFETY: a and b hold as many codes as is said; C refuses more than the unit takes.
        fallible(|error| unsafe { c::lb_unit_dot(&self.0, a.as_ptr(), b.as_ptr(), a.len(), addend, &mut d, error) })?;
        Ok(d)
    }

    /// d is of D's format's width and has exactly rows of a x columns of b elements; kernel is NULL-terminated by its type.
    pub fn gemm<T: Code>(
        &self,
        a: &Mat,
        b: &Mat,
        addend: Addend,
        d: &mut [T],
        kernel: Option<&str>,
        threads: usize,
    ) -> Result<()> {
        let format = format_row(self.d).filter(|f| f.bytes as usize == T::BYTES).expect("the caller has checked the width");
        let (rows, cols) = (a.0.raw.rows, b.0.raw.cols);
        assert_eq!(rows.checked_mul(cols), Some(d.len()));
        let kernel = kernel.map(c_name).transpose()?;
        #[allow(clippy::needless_update)] // a field that the header adds later is zero: its default
        let options = c::lb_gemm_options {
            kernel: kernel.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            threads: threads.min(i32::MAX as usize) as i32,
            ..Default::default()
        };
        // SAFETY: a row of the table and room for rows x cols codes of it.
        let mut out = unsafe { c::lb_mat_of(format.raw(), d.as_mut_ptr().cast(), rows, cols) };
        let itself = out;
        let added = match addend {
            Addend::Zero => ptr::null(),
            Addend::Mat(m) => &m.0.raw as *const c::lb_mat,
            Addend::Output => &itself as *const c::lb_mat,
        };
        // SAFETY: views of a and b hold what they say; d is borrowed mutably, so it overlaps none of them but where it is the addend,
        // which the header allows; C checks formats and shapes before it writes.
        fallible(|error| unsafe { c::lb_gemm(&self.0, &a.0.raw, &b.0.raw, added, &mut out, &options, error) })
    }
}

pub fn kernel_row(i: usize) -> Option<(&'static str, &'static str, bool)> {
    let mut row = c::lb_kernel_text::default();
    // SAFETY: row outlives the call; names and notes are constants.
    unsafe { c::lb_kernel_row(i, &mut row).then(|| (constant(row.name), constant(row.note), row.usable)) }
}

// ---- contracts and records -------------------------------------------------------------------------------------------

pub type ContractRow = Row<c::lb_contract>;

pub fn contract_row(i: usize) -> Option<ContractRow> {
    // SAFETY: takes any number; NULL past the end.
    unsafe { Row::from(c::lb_contract_row(i)) }
}

pub fn contract_find(name: &str) -> Result<ContractRow> {
    let (name, mut row) = (c_name(name)?, ptr::null());
    // SAFETY: the name and both outputs outlive the call.
    fallible(|error| unsafe { c::lb_contract_find(name.as_ptr(), &mut row, error) })?;
    // SAFETY: on LB_OK it is a row of the table.
    unsafe { Row::from(row) }.ok_or_else(|| Error::new(c::LB_E_NAME, "", "no such contract".into()))
}

impl ContractRow {
    pub fn floor(self, k: f64, row_rms: f64) -> f64 {
        // SAFETY: a row of the table, and any numbers.
        unsafe { c::lb_contract_floor(self.raw(), k, row_rms) }
    }
}

/// A record that is ours: its strings and lists are valid until it is closed, and nothing here changes them.
pub struct OwnedRecord(NonNull<c::lb_record>);

// SAFETY: it owns what it points to (but for constants), and closing it frees memory, which any thread may do.
unsafe impl Send for OwnedRecord {}
// SAFETY: shared use only reads.
unsafe impl Sync for OwnedRecord {}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // SAFETY: ours, closed once.
        unsafe { c::lb_record_close(self.0.as_ptr()) }
    }
}

impl Deref for OwnedRecord {
    type Target = c::lb_record;
    fn deref(&self) -> &c::lb_record {
        // SAFETY: valid until dropped.
        unsafe { self.0.as_ref() }
    }
}

impl OwnedRecord {
    fn take(call: impl FnOnce(*mut *mut c::lb_record, *mut c::lb_error) -> c::lb_status) -> Result<Self> {
        let mut record = ptr::null_mut();
        fallible(|error| call(&mut record, error))?;
        NonNull::new(record).map(OwnedRecord).ok_or_else(|| Error::new(c::LB_E_MEMORY, "record", "no record".into()))
    }

    /// One of the record's own strings: pass a field of this record.
    pub fn text(&self, field: impl FnOnce(&c::lb_record) -> *mut c_char) -> String {
        // SAFETY: every string field of an open record is NUL-terminated.
        unsafe { CStr::from_ptr(field(self)) }.to_string_lossy().into_owned()
    }

    pub fn outliers(&self) -> &[c::lb_element] {
        if self.outlier_count == 0 {
            return &[];
        }
        // SAFETY: the record holds as many as it says.
        unsafe { slice::from_raw_parts(self.outliers, self.outlier_count) }
    }

    pub fn out_format(&self) -> Option<FormatRow> {
        // SAFETY: NULL or a row of the table.
        unsafe { Row::from(self.out_format) }
    }

    pub fn to_json(&self) -> Result<String> {
        // SAFETY: an open record.
        take(|text, error| unsafe { c::lb_record_to_json(self.0.as_ptr(), text, error) })
    }

    pub fn report(&self) -> Result<String> {
        // SAFETY: an open record.
        take(|text, error| unsafe { c::lb_report_text(self.0.as_ptr(), false, text, error) })
    }

    pub fn exit_code(&self) -> i32 {
        // SAFETY: one verdict.
        unsafe { c::lb_records_exit(&self.verdict, 1) }
    }

    pub fn from_json(text: &str) -> Result<Self> {
        let place = c_name("JSON")?;
        // SAFETY: text has the length that is said.
        Self::take(|record, error| unsafe {
            c::lb_record_from_json(record, text.as_ptr().cast(), text.len(), place.as_ptr(), error)
        })
    }
}

/// What a check needs, still in Rust's types.
pub struct CheckInput<'a, 'b> {
    pub a: Mat<'a>,
    pub b: Mat<'a>,
    pub b_transposed: bool,
    pub c: Option<Mat<'a>>,
    pub out: FormatRow,
    pub actual: Mat<'a>,
    pub name: &'b str,
    pub unit: Option<&'b UnitRow>,
    pub contract: Option<ContractRow>,
    pub nan_by_class: bool,
    pub reference: c::lb_reference_mode,
    pub sample: usize,
    pub seed: u64,
    pub max_outliers: usize,
}

pub fn check(x: &CheckInput) -> Result<OwnedRecord> {
    let (op, name) = (c_name("matmul")?, c_name(x.name)?);
    #[allow(clippy::needless_update)] // a field that the headers add later is zero: its default
    let options = c::lb_check_options {
        x: c::lb_case {
            op: op.as_ptr(),
            a: x.a.0.raw,
            b: x.b.0.raw,
            c: x.c.map_or_else(Default::default, |m| m.0.raw),
            b_transposed: x.b_transposed,
            out: x.out.raw(),
            seed: x.seed,
            ..Default::default()
        },
        actual: &x.actual.0.raw,
        actual_name: name.as_ptr(),
        unit: x.unit.map_or(ptr::null(), |unit| &unit.0),
        contract: x.contract.map_or(ptr::null(), |row| row.raw()),
        nan_by_class: x.nan_by_class,
        reference: x.reference,
        sample: x.sample,
        seed: x.seed,
        max_outliers: x.max_outliers,
        ..Default::default()
    };
    // SAFETY: views hold what they say, strings and rows outlive the call; no device is named, so nothing forks.
    OwnedRecord::take(|record, error| unsafe { c::lb_check(&options, record, error) })
}

/// What a grade of a strided block needs.
pub struct GradeInput<'a, 'b, T> {
    pub reference: Mat<'a>,
    pub actual: &'b [T],
    pub ld: usize,
    pub guard_bytes: usize,
    pub sentinel: Option<u64>,
    pub contract: ContractRow,
    pub k: f64,
    pub max_outliers: usize,
}

pub fn grade<T: Code>(x: &GradeInput<T>) -> Result<OwnedRecord> {
    assert_eq!(x.reference.0.format().bytes as usize, T::BYTES);
    #[allow(clippy::needless_update)] // as above
    let options = c::lb_block_options {
        reference: x.reference.0.raw,
        actual: x.actual.as_ptr().cast(),
        actual_bytes: std::mem::size_of_val(x.actual),
        ld: x.ld,
        guard_bytes: x.guard_bytes,
        has_sentinel: x.sentinel.is_some(),
        sentinel: x.sentinel.unwrap_or(0),
        contract: x.contract.raw(),
        k: x.k,
        max_outliers: x.max_outliers,
        ..Default::default()
    };
    // SAFETY: the view holds what it says; actual has the bytes that are said, aligned for its elements, and C checks that they fit.
    OwnedRecord::take(|record, error| unsafe { c::lb_grade_block(&options, record, error) })
}

// ---- the tensor-core contract as its users know it --------------------------------------------------------------------

pub fn bf16_ord(bits: u16) -> i32 {
    // SAFETY: plain numbers.
    unsafe { c::lb_bf16_ord(bits) }
}

pub fn m16_floor(k: usize, row_rms: f64) -> f64 {
    // SAFETY: plain numbers.
    unsafe { c::lb_m16_floor(k, row_rms) }
}

pub fn m16_within(actual: u16, reference: u16, k: usize, row_rms: f64) -> bool {
    // SAFETY: plain numbers.
    unsafe { c::lb_m16_within(actual, reference, k, row_rms) }
}

/// The figures, the outliers and the RMS of each row, copied out.
pub fn m16_compare(
    actual: &[u8],
    reference: &[u8],
    n: usize,
    k: usize,
) -> Result<(c::lb_m16_diff, Vec<c::lb_m16_outlier>, Vec<f64>)> {
    let mut diff = c::lb_m16_diff::default();
    let (a, r) = (actual.as_ptr().cast(), reference.as_ptr().cast());
    // SAFETY: bytes as many as is said, of any alignment; diff outlives the call.
    fallible(|error| unsafe { c::lb_m16_compare_block(a, actual.len(), r, reference.len(), n, k, &mut diff, error) })?;
    // SAFETY: on LB_OK both lists are as long as is said.
    let (outliers, rms) = unsafe { (copied(diff.over_budget, diff.over_count), copied(diff.row_rms, diff.row_count)) };
    let mut emptied = diff;
    // SAFETY: filled by the comparison and freed once; the lists that `diff` still names are not used again.
    unsafe { c::lb_m16_diff_free(&mut emptied) };
    Ok((c::lb_m16_diff { over_budget: ptr::null_mut(), row_rms: ptr::null_mut(), ..diff }, outliers, rms))
}

/// SAFETY: `list` holds `count` elements, or count is 0.
unsafe fn copied<T: Copy>(list: *const T, count: usize) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(list, count) }.to_vec()
}
