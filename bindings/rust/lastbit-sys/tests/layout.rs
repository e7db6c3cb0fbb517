// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a C compiler makes of the headers, and what Rust makes of the declarations: each size, offset and constant.
#![allow(unused_unsafe)]

use lastbit_sys::*;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fmt::Write as _;
use std::process::Command;
use std::{any, env, fs, mem, ptr};

#[macro_use]
mod table;

/// C text that prints lines `name value`; and the lines that Rust would print.
#[derive(Default)]
struct Two {
    fields: String,
    prints: String,
    ours: BTreeMap<String, String>,
}

impl Two {
    fn expect(&mut self, name: &str, c_value: &str, ours: impl ToString) {
        writeln!(self.prints, "    printf(\"{name} %llu\\n\", (unsigned long long)({c_value}));").unwrap();
        assert!(self.ours.insert(name.to_string(), ours.to_string()).is_none(), "{name} twice");
    }
}

fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Size of a field, and what initialises it in C.
fn field_of<T, F>(_: fn(*const T) -> *const F) -> (usize, String) {
    let kind = any::type_name::<F>();
    let zero = match kind.strip_prefix("lastbit_sys::generated::") {
        Some(structure) => format!("zero_{structure}"),
        None => if kind.starts_with('[') { "{0}" } else { "0" }.to_string(),
    };
    (mem::size_of::<F>(), zero)
}

fn both() -> Two {
    let mut two = Two::default();
    macro_rules! structs {
        ($name:ident: $($field:ident),+) => {
            let c = stringify!($name);
            two.expect(&format!("sizeof({c})"), &format!("sizeof({c})"), mem::size_of::<$name>());
            two.expect(&format!("alignof({c})"), &format!("_Alignof({c})"), mem::align_of::<$name>());
            let mut initializers = Vec::new();
            $(
                let field = plain(stringify!($field));
                let value = mem::MaybeUninit::<$name>::uninit();
                // SAFETY: addr_of! takes an address inside the allocation and reads nothing.
                let offset = unsafe { ptr::addr_of!((*value.as_ptr()).$field) } as usize - value.as_ptr() as usize;
                // SAFETY: the pointer is never read; the closure is there for its type.
                let (size, zero) = field_of::<$name, _>(|p| unsafe { ptr::addr_of!((*p).$field) });
                two.expect(&format!("{c}.{field}"), &format!("offsetof({c}, {field})"), offset);
                two.expect(&format!("sizeof({c}.{field})"), &format!("sizeof(((const {c} *)0)->{field})"), size);
                initializers.push(zero);
            )+
            // Positional, so that a field which only C has is a missing initializer, even where it fits into padding.
            writeln!(two.fields, "    {c} zero_{c} = {{{}}};\n    (void)zero_{c};", initializers.join(", ")).unwrap();
        };
    }
    macro_rules! integers {
        ($kind:ident: $($name:ident),+) => {
            if stringify!($kind) != "int" {
                two.expect(concat!("sizeof(", stringify!($kind), ")"), concat!("sizeof(", stringify!($kind), ")"), mem::size_of::<u32>());
            }
            $(two.expect(stringify!($name), stringify!($name), $name as i64 as u64);)+
        };
    }
    macro_rules! floats {
        ($name:ident) => {
            two.expect(stringify!($name), &format!("bits({})", stringify!($name)), $name.to_bits());
        };
    }
    macro_rules! texts {
        ($name:ident) => {
            let equal = format!("strcmp({}, \"{}\") == 0", stringify!($name), $name);
            two.expect(stringify!($name), &equal, 1);
        };
    }
    macro_rules! functions {
        ($($name:ident),+) => {};
    }
    table!(structs, integers, floats, texts, functions);
    two
}

fn compiled(two: &Two) -> BTreeMap<String, String> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    let text = format!(
        "#include <lastbit/lastbit.h>\n#include <stdio.h>\n#include <string.h>\n\
         static unsigned long long bits(double x) {{\n    unsigned long long b;\n    memcpy(&b, &x, 8);\n    return b;\n}}\n\
         int main(void) {{\n{}{}    return 0;\n}}\n",
        two.fields, two.prints
    );
    fs::write(&source, text).unwrap();
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut cc = Command::new(&compiler);
    cc.args(["-std=c11", "-Werror=missing-field-initializers"]);
    cc.arg(concat!("-I", env!("LASTBIT_INCLUDE"))).arg(&source).arg("-o").arg(&program);
    let done = cc.output().unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(done.status.success(), "the headers have other fields:\n{}", String::from_utf8_lossy(&done.stderr));
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success());
    let text = String::from_utf8(run.stdout).unwrap();
    let pair = |line: &str| line.rsplit_once(' ').map(|(name, value)| (name.to_string(), value.to_string())).unwrap();
    text.lines().map(pair).collect()
}

#[test]
fn every_size_offset_and_constant_is_what_the_c_compiler_says() {
    let two = both();
    let theirs = compiled(&two);
    assert!(theirs.len() > 400, "only {} figures were compared", theirs.len());
    let wrong: Vec<_> = two.ours.iter().filter(|(name, ours)| theirs.get(*name) != Some(*ours)).collect();
    assert!(wrong.is_empty(), "C disagrees: {:?}", wrong.iter().map(|(n, o)| (n, o, theirs.get(*n))).collect::<Vec<_>>());
    assert_eq!(two.ours.len(), theirs.len());
}

#[test]
fn the_library_that_is_linked_has_every_function() {
    macro_rules! nothing {
        ($($any:tt)*) => {};
    }
    macro_rules! functions {
        ($($name:ident),+) => {
            for (address, name) in [$(($name as *const (), stringify!($name))),+] {
                assert!(!address.is_null(), "{name}"); // the linker has refused it before
            }
        };
    }
    table!(nothing, nothing, nothing, nothing, functions);
}

#[test]
fn the_library_that_is_linked_is_of_this_version() {
    // SAFETY: takes nothing and returns a static string.
    let version = unsafe { CStr::from_ptr(lb_version()) };
    assert_eq!(version.to_str(), Ok(LB_VERSION));
    assert_eq!(LB_VERSION, env!("CARGO_PKG_VERSION"));
}
