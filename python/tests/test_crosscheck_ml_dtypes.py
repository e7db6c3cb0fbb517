# SPDX-License-Identifier: MIT OR Apache-2.0
"""ml_dtypes as a second opinion. Where it differs, a rule below says what it gives, and a row of
docs/crosscheck-formats.md says why."""
import ml_dtypes
import numpy as np
import pytest

import lastbit as lb
from crosscheck import codes_of, examples, first, inputs, rows_of, same, words, words_on_page

LIBRARY = "ml_dtypes"
FLOATS = ["bf16", "e4m3", "e5m2", "e4m3_ieee", "e3m4", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz", "e8m0", "e3m2", "e2m3", "e2m1"]
INTEGERS = ["i8", "u8", "i4", "u4"]  # i8 and u8 are NumPy's own
WIDE = ["f64", "f32", "f16", "bf16"]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflow in a cast is what is looked at


def theirs_of(x, f):
    return x.astype(f.dtype).view(f.codes_dtype)


def differences(x, source, f, ours):
    """(id, mask, codes): what ml_dtypes gives in place of our code. A later rule overrules an earlier one."""
    through = x
    if source == "f64":
        through = x.astype(np.float32)
        ours = lb.quantize(through, f, as_codes=True)
        yield "f64-through-f32", ~np.isnan(x), ours
    v = through.astype(np.float64)
    row = lb.formats[source]
    negative = (x.view(row.codes_dtype) >> np.array(row.bits - 1, row.codes_dtype) == 1) & (row.sign_bits == 1)  # of a NaN as well
    nan = np.isnan(v)
    sign_bit = np.where(negative, 1 << (f.bits - 1), 0)
    if f.name in ("f16", "bf16", "e4m3", "e5m2", "e4m3_ieee", "e3m4"):
        yield "nan-sign", nan & negative, ours | sign_bit.astype(ours.dtype)
    if f.name in ("e3m2", "e2m3", "e2m1"):
        yield "nan-to-zero", nan, np.where(negative, 0, 1 << (f.bits - 1))
    if f.name == "e4m3":
        yield "negative-overflow", (ours == 0x7F) & (v < 0), np.full_like(ours, 0xFF)
    if f.name == "e8m0":
        yield "e8m0-negative", v < 0, np.full_like(ours, 0xFF)
        yield "e8m0-zero", v == 0, np.full_like(ours, 0xFF)
        yield "e8m0-f32-subnormal", (v > 2.0**-127) & (v < 1.5 * 2.0**-127), np.full_like(ours, 1)


@pytest.mark.parametrize("name", FLOATS + INTEGERS + ["f16"])
def test_every_code_decodes_to_the_same_value(name):
    f = lb.formats[name]
    codes = codes_of(f)
    assert same(lb.decode(codes, f), codes.view(f.dtype).astype(np.float64)).all()


def sources_of(f):
    """Formats that ml_dtypes casts to f: not f itself, which it copies, and e8m0 only from and to wide formats."""
    names = WIDE + [n for n in FLOATS + ["i8", "i4", "u4"] if n not in WIDE]
    return [n for n in names if n != f.name and np.can_cast(lb.formats[n].dtype, f.dtype, "unsafe")]


@pytest.mark.parametrize("name", [*FLOATS, "f16"])
def test_every_word_encodes_to_the_same_code_but_for_the_rows_of_the_page(name):
    f, found = lb.formats[name], {}
    for source in sources_of(f):
        if name == "f16" and source in ("f64", "f32"):
            continue  # those casts are NumPy's
        row = lb.formats[source]
        x = inputs(f, source) if source in WIDE else codes_of(row).view(row.dtype)
        ours, theirs = lb.quantize(x, f, as_codes=True), theirs_of(x, f)
        expected, reason = ours.copy(), np.full(ours.shape, "", "U32")
        for id, mask, codes in differences(x, source, f, ours):
            expected[mask], reason[mask] = codes[mask].astype(ours.dtype), id
        assert np.array_equal(theirs, expected), f"{source}, ml_dtypes {ml_dtypes.__version__}: {first(x, f, theirs, expected)}"
        for id, count in zip(*np.unique(reason[theirs != ours], return_counts=True)):
            found[str(id)] = found.get(str(id), 0) + int(count)
    listed = words_on_page(LIBRARY, name)
    assert found == listed, f"{name}: found {found}, docs/crosscheck-formats.md {listed}"


def test_every_format_has_wide_sources():
    assert all(set(WIDE) <= {*sources_of(lb.formats[name]), name} for name in [*FLOATS, "f16"])


@pytest.mark.parametrize("name", INTEGERS)
def test_floats_go_to_integers_toward_zero_where_the_page_says_so(name):
    f, found = lb.formats[name], 0
    low, high = lb.decode(codes_of(f), f).min(), f.max
    for source in WIDE:
        x = inputs(f, source)
        v = np.trunc(x.astype(np.float64))
        x = x[(v >= low) & (v <= high)]  # beyond, and for NaN, a C cast is undefined
        theirs = theirs_of(x, f)
        assert x.size > 1000 and np.array_equal(theirs, lb.quantize(x, f, "rz", as_codes=True))
        found += int((theirs != lb.quantize(x, f, as_codes=True)).sum())
    listed = words_on_page(LIBRARY, name)
    assert {"integer-truncates": found} == listed, f"{name}: found {found}, docs/crosscheck-formats.md {listed}"


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_wrap_alike(name):
    f = lb.formats[name]
    n = np.concatenate([np.arange(-1000, 1000), words(53, 10_000, 5).astype(np.int64) - 2**52])
    assert np.array_equal(theirs_of(n, f), lb.quantize(n.astype(np.float64), f, "rne", "wrap", as_codes=True))


@pytest.mark.parametrize("name", [*FLOATS, "f16"])
def test_limits_and_special_codes_agree_with_finfo(name):
    f = lb.formats[name]
    info = ml_dtypes.finfo(f.dtype)
    assert (f.max, f.min) == (float(info.max), float(info.smallest_subnormal))
    assert (f.bits, f.man_bits, f.exp_bits) == (info.bits, info.nmant, info.nexp)
    inf, nan = theirs_of(np.array([np.inf, np.nan]), f).tolist()
    if f.inf_code is not None:
        assert f.inf_code == inf
    else:  # no Inf: NaN, or the largest value
        assert inf == (lb.quantize(f.max, f, as_codes=True) if f.nan_code is None else f.nan_code)
    assert f.nan_code in (nan, None)  # without NaN: row nan-to-zero


@pytest.mark.parametrize("name", INTEGERS)
def test_limits_agree_with_iinfo(name):
    f, info = lb.formats[name], ml_dtypes.iinfo(lb.formats[name].dtype)
    assert (lb.decode(codes_of(f), f).min(), f.max) == (int(info.min), int(info.max))


@pytest.mark.parametrize("id, x, f, options, theirs, ours", examples(LIBRARY))
def test_the_examples_of_the_page_hold(id, x, f, options, theirs, ours):
    assert (theirs_of(x, f)[0], lb.quantize(x, f, as_codes=True)[0]) == (theirs, ours), id


def test_every_row_of_the_page_has_words_of_formats_that_are_tested():
    rows = rows_of(LIBRARY).values()
    assert rows and {item.split()[0] for row in rows for item in row["formats, words"].split(", ")} <= {*FLOATS, *INTEGERS, "f16"}
    assert all(row["formats, words"] for row in rows)
