// SPDX-License-Identifier: MIT OR Apache-2.0
//! Raw declarations of liblastbit, one for each of its headers' types, constants and functions.
//!
//! Use the crate `lastbit` instead, unless it lacks what you need. What a function does, what it borrows and what it
//! allocates stands above its declaration in `include/lastbit/`; nothing here adds to that. The declarations are written
//! by `bindings/rust/gen_sys`, and the tests compare every size, offset and constant with what a C compiler says.
//!
//! The build script takes the library from `LASTBIT_LIB_DIR`, from pkg-config, or builds it from this tree, in that order.
#![allow(non_camel_case_types, non_upper_case_globals)]

macro_rules! zero_default {
    ($($name:ident),+ $(,)?) => {$(
        impl Default for $name {
            /// All zero, as `{0}` in C.
            fn default() -> Self {
                // SAFETY: integers, floats, false, null pointers and None are all zero bytes; these structs hold nothing else.
                unsafe { core::mem::zeroed() }
            }
        }
    )+};
}

mod generated;
pub use generated::*;

extern "C" {
    /// The C library's own, for what liblastbit says is "the caller's to free()".
    pub fn free(memory: *mut core::ffi::c_void);
}
