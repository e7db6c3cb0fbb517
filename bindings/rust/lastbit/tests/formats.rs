// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats through the safe crate: every enumeration reaches the rule that it names.

use lastbit::{Class, Encoding, Flush, Format, Overflow, Rounding, Status};

fn format(name: &str) -> Format {
    Format::find(name).unwrap()
}

fn encoded(f: Format, x: f64, how: Encoding) -> u64 {
    f.encode_with(x, &how).unwrap().0
}

#[test]
fn codes_of_every_format_come_back() {
    assert!(Format::rows().count() > 20);
    for f in Format::rows() {
        assert_eq!(format(f.name()), f);
        assert!(f.aliases().all(|alias| format(alias) == f));
        assert!(!f.source().is_empty() && f.bytes() * 8 >= f.bits() as usize);
        for code in [f.max_code(), f.min_code()] {
            assert_eq!(f.encode(f.decode(code)), code, "{f} {code:x}");
        }
    }
}

#[test]
fn a_wrong_name_brings_the_nearest() {
    let error = Format::find("e4m4").unwrap_err();
    assert_eq!(error.status(), Status::Name);
    assert!(error.message().contains("e4m3") || error.message().contains("e3m4"), "{error}");
}

#[test]
fn each_rounding_is_the_one_that_it_names() {
    // e4m3 has steps of 1/8 from 1 on: codes 38 (1), 39 (1.125), 3a (1.25).
    let rows = [
        (Rounding::NearestEven, [0x38, 0x3a, 0xb8]),
        (Rounding::NearestAway, [0x39, 0x3a, 0xb9]),
        (Rounding::NearestToZero, [0x38, 0x39, 0xb8]),
        (Rounding::NearestOdd, [0x39, 0x39, 0xb9]),
        (Rounding::TowardZero, [0x38, 0x39, 0xb8]),
        (Rounding::Up, [0x39, 0x3a, 0xb8]),
        (Rounding::Down, [0x38, 0x39, 0xb9]),
        (Rounding::AwayFromZero, [0x39, 0x3a, 0xb9]),
        (Rounding::ToOdd, [0x39, 0x39, 0xb9]),
        (Rounding::Stochastic { bits: 1, random: 0 }, [0x38, 0x39, 0xb8]),
        (Rounding::Stochastic { bits: 1, random: 1 }, [0x39, 0x3a, 0xb9]),
    ];
    for (rounding, want) in rows {
        let how = Encoding { rounding, ..Encoding::default() };
        let got = [1.0625, 1.1875, -1.0625].map(|x| encoded(format("e4m3"), x, how)); // halfway
        assert_eq!(got, want, "{rounding:?}");
        let quarter = encoded(format("e4m3"), 1.03125, how);
        let away = matches!(rounding, Rounding::Up | Rounding::AwayFromZero | Rounding::ToOdd);
        assert_eq!(quarter, if away { 0x39 } else { 0x38 }, "{rounding:?}");
        let near = encoded(format("e4m3"), 1.09375, how); // three quarters of the way
        let up = !matches!(rounding, Rounding::TowardZero | Rounding::Down | Rounding::Stochastic { random: 0, .. });
        assert_eq!(near, if up { 0x39 } else { 0x38 }, "{rounding:?}");
    }
}

#[test]
fn each_overflow_and_flush_is_the_one_that_it_names() {
    let (f16, infinite) = (format("f16"), f64::INFINITY);
    let rows = [
        (Overflow::Ieee, [0x7c00, 0x7c00]),
        (Overflow::Infinity, [0x7c00, 0x7c00]),
        (Overflow::Saturate, [0x7bff, 0x7bff]),
        (Overflow::SaturatePropagate, [0x7bff, 0x7c00]),
        (Overflow::Nan, [0x7e00, 0x7c00]),
    ];
    for (overflow, want) in rows {
        let how = Encoding { overflow, ..Encoding::default() };
        assert_eq!([1e6, infinite].map(|x| encoded(f16, x, how))[0], want[0], "{overflow:?}");
        if overflow != Overflow::Nan {
            assert_eq!(encoded(f16, infinite, how), want[1], "{overflow:?}");
        }
    }
    let toward_zero = Encoding { rounding: Rounding::TowardZero, ..Encoding::default() };
    assert_eq!(encoded(f16, 1e6, toward_zero), 0x7bff);
    assert_eq!(encoded(f16, 1e6, Encoding { overflow: Overflow::Infinity, ..toward_zero }), 0x7c00);
    let wrap = Encoding { overflow: Overflow::Wrap, ..Encoding::default() };
    assert_eq!(encoded(format("i8"), 130.0, wrap), 0x82);
    assert_eq!(f16.encode_with(1e6, &wrap).unwrap_err().status(), Status::Argument);

    for (flush, want) in [(Flush::Keep, 0x8001), (Flush::ToSignedZero, 0x8000), (Flush::ToPositiveZero, 0)] {
        assert_eq!(encoded(f16, -6e-8, Encoding { flush, ..Encoding::default() }), want, "{flush:?}");
    }
}

#[test]
fn a_draw_out_of_range_is_an_error() {
    for (bits, random) in [(0, 0), (33, 0), (64, 0), (3, 8)] {
        let how = Encoding { rounding: Rounding::Stochastic { bits, random }, ..Encoding::default() };
        assert_eq!(format("f16").encode_with(1.1, &how).unwrap_err().status(), Status::Argument, "{bits} {random}");
    }
    let how = Encoding { rounding: Rounding::Stochastic { bits: 32, random: u32::MAX }, ..Encoding::default() };
    assert!(format("f16").encode_with(1.1, &how).is_ok());
}

#[test]
fn flags_say_what_happened() {
    let flags = |f: &str, x: f64| format(f).encode_with(x, &Encoding::default()).unwrap().1;
    assert_eq!(flags("f16", 1.0), Default::default());
    assert!(flags("f16", 1.0001).inexact && flags("f16", 1e6).overflowed && flags("f16", 1e-9).underflow);
    assert!(flags("e2m1", f64::NAN).invalid);
}

#[test]
fn ordinals_and_classes_know_nan() {
    let f16 = format("f16");
    let classes = [0x8000, 0x0001, 0xfc00, 0x7e00].map(|code| f16.class(code));
    assert_eq!(classes, [Class::Zero, Class::Finite, Class::Infinite, Class::Nan]);
    assert_eq!(
        (f16.ordinal(0x8000), f16.ordinal(0x3c00), f16.ordinal(0xbc00), f16.ordinal(0x7e00)),
        (Some(0), Some(0x3c00), Some(-0x3c00), None)
    );
    assert_eq!(
        (f16.ulp_distance(0x7bff, 0x7c00), f16.ulp_distance(0x8001, 1), f16.ulp_distance(0, 0x7e00)),
        (Some(1), Some(2), None)
    );
    assert!(f16.decode(0x7e00).is_nan() && f16.decode(0x3c01) == 1.0 + 1.0 / 1024.0);
}
