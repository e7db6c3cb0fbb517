# SPDX-License-Identifier: MIT OR Apache-2.0
"""NumPy, that is the machine's IEEE 754 arithmetic, as a second opinion on f64, f32 and f16."""
import numpy as np
import pytest

import lastbit as lb
from crosscheck import codes_of, examples, first, inputs, rows_of, same, words, words_on_page

LIBRARY = "NumPy"
WORDS = 1_000_000
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16}
NARROWING = [("f64", "f32"), ("f64", "f16"), ("f32", "f16")]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def random_values(name, seed):
    """Bit patterns of a format: every exponent, NaN and Inf among them."""
    f = lb.formats[name]
    return words(f.bits, WORDS, seed).astype(f.codes_dtype).view(f.dtype)


def moderate(name, seed):
    """Random values whose sums and quotients are mostly ordinary: exponents near that of 1."""
    f = lb.formats[name]
    draws = words(64, WORDS, seed)
    significands = 1 + (draws >> np.uint64(64 - f.man_bits)) * 2.0**-f.man_bits
    reach = 2 ** (f.exp_bits - 2)
    signed = np.where(draws & np.uint64(1), significands, -significands)
    return np.ldexp(signed, (draws >> np.uint64(1) & np.uint64(2 * reach - 1)).astype(int) - reach).astype(DTYPES[name])


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_every_word_decodes_to_the_same_value(name):
    x = np.concatenate([codes_of(lb.formats[name]).view(DTYPES[name]), random_values(name, 1)])
    assert same(lb.decode(x), x.astype(np.float64)).all()
    assert same(lb.quantize(x, "f64"), x.astype(np.float64)).all()


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_every_word_narrows_to_the_same_code_but_for_nan(name):
    f, nans = lb.formats[name], 0
    for source, target in NARROWING:
        if target != name:
            continue
        x = np.concatenate([inputs(f, source), random_values(source, 2), moderate(source, 3)])
        ours, theirs = lb.quantize(x, f, as_codes=True), x.astype(f.dtype).view(f.codes_dtype)
        nan = np.isnan(x)
        assert np.array_equal(theirs[~nan], ours[~nan]), first(x[~nan], f, theirs[~nan], ours[~nan])
        assert (ours[nan] == f.nan_code).all() and np.isnan(theirs.view(f.dtype)[nan]).all() and (theirs[nan] != ours[nan]).any()
        nans += int(nan.sum())
    assert {"nan-payload": nans} == words_on_page(LIBRARY, name), f"{name}: {nans} words are NaN"


@pytest.mark.parametrize("operation", [np.add, np.subtract, np.multiply, np.divide], ids=lambda o: o.__name__)
@pytest.mark.parametrize("name, wide", [("f32", np.float64), ("f16", np.float32)])
def test_arithmetic_is_wide_arithmetic_rounded_by_us(name, wide, operation):
    """The wide format has twice the digits and two more at least, so rounding its result again is the same as rounding once."""
    for a, b in ((moderate(name, 4), moderate(name, 5)), (random_values(name, 6), random_values(name, 7))):
        theirs = operation(a, b)
        ours = lb.quantize(operation(a.astype(wide), b.astype(wide)), name)
        assert same(ours.astype(np.float64), theirs.astype(np.float64)).all()


@pytest.mark.parametrize("name, wide", [("f32", np.float64), ("f16", np.float32)])
def test_square_roots_are_wide_square_roots_rounded_by_us(name, wide):
    x = np.concatenate([moderate(name, 8), random_values(name, 9)])
    assert same(lb.quantize(np.sqrt(x.astype(wide)), name).astype(np.float64), np.sqrt(x).astype(np.float64)).all()


@pytest.mark.parametrize("name", DTYPES)
def test_limits_and_special_codes_agree_with_finfo(name):
    f, info = lb.formats[name], np.finfo(DTYPES[name])
    assert (f.max, f.min, f.bits, f.man_bits, f.exp_bits) == (info.max, info.smallest_subnormal, info.bits, info.nmant, info.iexp)
    assert [f.inf_code, f.nan_code] == np.array([np.inf, np.nan], DTYPES[name]).view(f.codes_dtype).tolist()


@pytest.mark.parametrize("id, x, f, options, theirs, ours", examples(LIBRARY))
def test_the_examples_of_the_page_hold(id, x, f, options, theirs, ours):
    assert (x.astype(f.dtype).view(f.codes_dtype)[0], lb.quantize(x, f, as_codes=True)[0]) == (theirs, ours), id


def test_the_page_has_one_row():
    assert list(rows_of(LIBRARY)) == ["nan-payload"]
