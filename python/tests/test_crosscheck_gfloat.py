# SPDX-License-Identifier: MIT OR Apache-2.0
"""gfloat as a second opinion: every format of ours as its FormatInfo, every rounding and saturation that it has, and its blocks.
Where it differs, a rule below says what it gives, and a row of docs/crosscheck-formats.md says why."""
from importlib.metadata import version

import gfloat
import gfloat.formats as g
import numpy as np
import pytest
from gfloat import BlockFormatInfo, Domain, FormatInfo, RoundMode

import lastbit as lb
from crosscheck import codes_of, examples, first, inputs, rows_of, same, spread, words, words_on_page

LIBRARY, VERSION = "gfloat", version("gfloat")


def info(k, precision, bias, *, signed=True, extended=False, minus_zero=False, high_nans=0, twos_complement=False):
    return FormatInfo(f"k{k}p{precision}", k, precision, bias=bias, is_signed=signed,
                      domain=Domain.Extended if extended else Domain.Finite, has_nz=minus_zero, num_high_nans=high_nans,
                      has_subnormals=True, is_twos_complement=twos_complement)


INFO = {
    # gfloat's own
    "f64": g.format_info_binary64, "f32": g.format_info_binary32, "f16": g.format_info_binary16, "bf16": g.format_info_bfloat16,
    "e4m3": g.format_info_ocp_e4m3, "e5m2": g.format_info_ocp_e5m2, "e8m0": g.format_info_ocp_e8m0, "e3m2": g.format_info_ocp_e3m2,
    "e2m3": g.format_info_ocp_e2m3, "e2m1": g.format_info_ocp_e2m1, "mxi8": g.format_info_ocp_int8,
    # described by hand, from the documents that docs/sources.md names
    "tf32": info(19, 11, 127, extended=True, minus_zero=True, high_nans=1023),
    "e4m3_ieee": info(8, 4, 7, extended=True, minus_zero=True, high_nans=7),
    "e3m4": info(8, 5, 3, extended=True, minus_zero=True, high_nans=15),
    "e4m3fnuz": info(8, 4, 8), "e5m2fnuz": info(8, 3, 16), "e4m3b11fnuz": info(8, 4, 11),
    "ue4m3": info(7, 4, 7, signed=False, high_nans=1),
    "i8": info(8, 8, -6, twos_complement=True), "i4": info(4, 4, -2, twos_complement=True),
    "u8": info(8, 9, -7, signed=False), "u4": info(4, 5, -3, signed=False), "b1": info(1, 2, 0, signed=False),
}
MODES = {"rne": RoundMode.TiesToEven, "rna": RoundMode.TiesToAway, "rz": RoundMode.TowardZero, "ru": RoundMode.TowardPositive,
         "rd": RoundMode.TowardNegative}
UNSIGNED = ["e8m0", "ue4m3", "u8", "u4", "b1"]
SIGNED = [n for n in INFO if n not in UNSIGNED]
STOCHASTIC = {"Stochastic": RoundMode.Stochastic, "StochasticOdd": RoundMode.StochasticOdd,
              "StochasticFast": RoundMode.StochasticFast, "StochasticFastest": RoundMode.StochasticFastest}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def own_codes(f):
    """The codes that gfloat's format has: without the padding of tf32 and the ignored bit of ue4m3."""
    codes = codes_of(f)
    return np.unique(codes & np.uint32(0xFFFFE000)) if f.name == "tf32" else codes[:128] if f.name == "ue4m3" else codes


def pad(f):
    return 13 if f.name == "tf32" else 0


def theirs_of(x, f, mode, saturate, bits=None, count=0):
    rounded = gfloat.round_ndarray(INFO[f.name], x, mode, saturate, bits, count)
    return (gfloat.encode_ndarray(INFO[f.name], rounded) << np.uint64(pad(f))).astype(f.codes_dtype)


def understood(x, f, saturate):
    """What gfloat takes: it raises for NaN where there is none, and for overflow where there is neither Inf nor NaN; it has no
    rule for negative values of an unsigned format and for values below the least of e8m0."""
    if f.nan_code is None:
        x = x[~np.isnan(x)]
        x = x if saturate else x[np.abs(x) <= f.max]
    if f.name in UNSIGNED:
        x = x[~(x < 0)]
    return x[~(x < f.min)] if f.name == "e8m0" else x


def differences(x, f, rounding, ours):
    """(id, mask, codes): what gfloat gives in place of our code."""
    high = INFO[f.name].num_high_nans
    if high and f.nan_code is not None and f.name not in ("e8m0", "ue4m3"):
        yield "nan-code", ours == f.nan_code, np.full_like(ours, (2 ** (f.bits - pad(f)) - 1) << pad(f))
    if f.name == "e8m0" and rounding == "rne":
        significand, exponent = np.frexp(x)
        lower = exponent + 126  # code of 2^k, where x is 1.5 * 2^k
        yield "e8m0-ties", (significand == 0.75) & (lower % 2 == 0), lower.astype(ours.dtype)


@pytest.mark.parametrize("name", INFO)
def test_every_code_decodes_to_the_same_value(name):
    f = lb.formats[name]
    codes = own_codes(f)
    theirs = gfloat.decode_ndarray(INFO[name], codes.astype(np.uint64 if f.bits == 64 else np.int64) >> pad(f))
    assert same(lb.decode(codes, f), theirs.astype(np.float64)).all()
    if f.bits <= 8:  # the scalar function is other code
        one_by_one = np.array([gfloat.decode_float(INFO[name], int(c)).fval for c in codes], np.float64)
        assert same(lb.decode(codes, f), one_by_one).all()


def test_the_top_bit_of_ue4m3_is_ignored():
    codes = np.arange(128, dtype=np.uint8)
    assert same(lb.decode(codes | np.uint8(128), "ue4m3"), lb.decode(codes, "ue4m3")).all()


@pytest.mark.parametrize("name", INFO)
def test_every_word_encodes_to_the_same_code_in_every_rounding_but_for_the_rows_of_the_page(name):
    f, found = lb.formats[name], {}
    x64 = inputs(f, "f64")
    near_overflow = x64[~(np.abs(x64) < f.max / 2)]  # what saturation is about, and NaN
    runs = [run for r in MODES for run in ((x64, r, False), (near_overflow, r, True))] + [(inputs(f, "f32"), "rne", False)]
    for values, rounding, saturate in runs:
        x = understood(values, f, saturate)
        ours = lb.quantize(x, f, rounding, "saturate" if saturate else "ieee", as_codes=True)
        x = x.astype(np.float64)
        theirs, expected, reason = theirs_of(x, f, MODES[rounding], saturate), ours.copy(), np.full(ours.shape, "", "U32")
        for id, mask, codes in differences(x, f, rounding, ours):
            expected[mask], reason[mask] = codes[mask], id
        assert np.array_equal(theirs, expected), f"{rounding} {saturate}, gfloat {VERSION}: {first(x, f, theirs, expected)}"
        for id, count in zip(*np.unique(reason[theirs != ours], return_counts=True)):
            found[str(id)] = found.get(str(id), 0) + int(count)
    listed = words_on_page(LIBRARY, name)
    assert found == listed, f"{name}: found {found}, docs/crosscheck-formats.md {listed}"


@pytest.mark.parametrize("name", [n for n in INFO if INFO[n].num_nans == 0])
def test_formats_without_nan_are_refused_where_they_overflow(name):
    """No row of the page: an exception is no code. Ours is the largest value, with LB_OVERFLOWED or LB_INVALID."""
    for value in (np.nan, np.inf, lb.formats[name].max * 2):
        with pytest.raises((ValueError, AssertionError)):
            theirs_of(np.array([value]), lb.formats[name], RoundMode.TiesToEven, False)


@pytest.mark.parametrize("name", UNSIGNED)
def test_negative_values_of_unsigned_formats_are_not_gfloats_domain(name):
    """Why understood() leaves them out: the rounded value is negative still."""
    assert gfloat.round_ndarray(INFO[name], np.array([-1.0]))[0] == -1.0
    assert lb.quantize(-1.0, name, as_codes=True) == 0


def test_values_below_the_least_of_e8m0_are_not_gfloats_domain():
    """Why understood() leaves them out: the rounded value is no value of the format; its two encoders disagree about zero."""
    assert gfloat.round_ndarray(INFO["e8m0"], np.array([2.0**-130]))[0] == 2.0**-130
    assert gfloat.encode_float(INFO["e8m0"], 0.0) == 0xFF and gfloat.encode_ndarray(INFO["e8m0"], np.array([0.0])) == 0
    assert lb.quantize([2.0**-130, 0.0], "e8m0", as_codes=True).tolist() == [0, 0]


# ---- stochastic rounding: ours is floor(f * 2^N) + R >= 2^N of the discarded fraction f --------------------------------

def stochastic_inputs(f):
    """float32 values: then gfloat's sum of fraction and draw is exact in float64 (row sr-float64-sum has one where it is not)."""
    x = np.concatenate([lb.decode(codes_of(f), f), spread(f, 30_000)]).astype(np.float32).astype(np.float64)
    return x[np.abs(x) <= f.max]


@pytest.mark.parametrize("n", [1, 4, 16])
@pytest.mark.parametrize("name", [n for n in SIGNED if n not in ("f64", "f32", "tf32")])
def test_stochastic_rounding_is_gfloats_fastest_and_with_one_more_bit_its_fast(name, n):
    f = lb.formats[name]
    x = stochastic_inputs(f)
    draws = words(n, x.size, 6).astype(np.int64)
    theirs = theirs_of(x, f, RoundMode.StochasticFastest, True, draws, n)
    assert np.array_equal(theirs, lb.quantize(x, f, "sr", "saturate", random=draws, random_bits=n, as_codes=True))
    theirs = theirs_of(x, f, RoundMode.StochasticFast, True, draws, n)
    assert np.array_equal(theirs, lb.quantize(x, f, "sr", "saturate", random=2 * draws + 1, random_bits=n + 1, as_codes=True))


@pytest.mark.parametrize("mode", STOCHASTIC)
@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m1", "f16", "bf16"])
def test_every_stochastic_rounding_is_ours_where_the_fraction_has_n_bits(name, mode):
    f, n = lb.formats[name], 6
    own = np.unique(lb.decode(codes_of(f), f))
    own = own[np.isfinite(own)]
    picks = words(30, 50_000, 7).astype(np.int64)
    at, sixtyfourths = picks % (own.size - 1), (picks >> 17) % 64
    x = own[at] + (own[at + 1] - own[at]) * (sixtyfourths / 64)
    draws = words(n, x.size, 8).astype(np.int64)
    theirs = theirs_of(x, f, STOCHASTIC[mode], True, draws, n)
    assert np.array_equal(theirs, lb.quantize(x, f, "sr", "saturate", random=draws, random_bits=n, as_codes=True))


# ---- blocks ----------------------------------------------------------------------------------------------------------

BLOCKS = {
    "mxfp8_e4m3": g.format_info_mxfp8_e4m3, "mxfp8_e5m2": g.format_info_mxfp8_e5m2, "mxfp6_e3m2": g.format_info_mxfp6_e3m2,
    "mxfp6_e2m3": g.format_info_mxfp6_e2m3, "mxfp4": g.format_info_mxfp4_e2m1, "mxint8": g.format_info_mxint8,
    "nvfp4": BlockFormatInfo("nvfp4", INFO["e2m1"], 16, INFO["ue4m3"]),  # gfloat's parts, by the rule of docs/formats.md
}


def their_scale(f, x):
    if f.scale.name == "e8m0":
        return gfloat.compute_scale_amax(INFO[f.element.name].emax, x)
    return gfloat.round_float(INFO["ue4m3"], np.abs(x).max() / 6, RoundMode.TiesToEven, True)


def their_block(f, x, rounding="rne"):
    """Code of the scale, then those of the elements."""
    scale = their_scale(f, x)
    return np.array(list(gfloat.encode_block(BLOCKS[f.name], scale, x / scale, MODES[rounding])))


def our_block(f, x, rounding="rne"):
    codes, scales = lb.quantize_blocks(x, f, rounding)
    return np.concatenate([scales, codes])


def blocks(f):
    """Blocks of float32 values over the range of the scale and past it, and edges: zeros, one value, powers of two, ties."""
    normal = np.sqrt(-2 * np.log(words(53, 60 * f.size, 9) * 2.0**-53 + 2.0**-54)) * np.cos(words(53, 60 * f.size, 10) * 2.0**-50)
    low, high = (-130, 127) if f.scale.name == "e8m0" else (-5, 12)
    scales = np.ldexp(1.0, low + (words(16, 60, 11).astype(int) * (high - low) >> 16))
    drawn = (normal.reshape(60, f.size) * scales[:, None]).astype(np.float32).astype(np.float64)
    ties = (np.arange(f.size) - f.size / 2) * f.element.min / 2
    ramp = np.linspace(-f.element.max * 1.1, f.element.max * 1.1, f.size).astype(np.float32).astype(np.float64)
    powers = np.ldexp(1.0, np.arange(f.size) % 16 - 8)
    edges = [ties, ramp, powers, -powers, np.full(f.size, 1.75), np.eye(1, f.size)[0] * -f.element.max]
    if f.scale.name == "e8m0":
        edges += [np.zeros(f.size), -np.zeros(f.size), powers * 2.0**-135, powers * 2.0**-1060, ramp * 2.0**1000]
    return [*drawn, *edges]


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_have_the_same_scale_and_the_same_elements_but_for_the_rows_of_the_page(name):
    f, minus_128 = lb.block_formats[name], 0
    for x in blocks(f):
        for rounding in MODES:
            theirs, ours = their_block(f, x, rounding), our_block(f, x, rounding)
            if name == "mxint8":
                minus_128 += int((theirs[1:] == 0x80).sum())
                theirs[1:][theirs[1:] == 0x80] = 0x81
            assert np.array_equal(theirs, ours), f"{rounding} {x.tolist()}: theirs {theirs.tolist()}, ours {ours.tolist()}"
            decoded = np.array(list(gfloat.decode_block(BLOCKS[name], map(int, ours))), np.float64)
            assert same(lb.decode_blocks(ours[1:], ours[:1], f), decoded).all()
    listed = {id: n for id, n in words_on_page("gfloat, blocks", name).items() if n}
    assert listed == ({"mxint8-minus-128": minus_128} if minus_128 else {}), f"{name}: found {minus_128} of -128"


def test_the_examples_of_blocks_hold():
    seen = 0
    for id, row in rows_of("gfloat, blocks").items():
        value, name = row["example"].strip("`").split()
        f, x = lb.block_formats[name], np.array([float.fromhex(value)])
        codes = [" ".join(f"{int(c):#04x}" for c in block(f, x)) for block in (their_block, our_block)]
        assert codes == [row["theirs"], row["ours"]], id
        seen += 1
    assert seen == 4


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INFO)
def test_limits_and_special_codes_agree_with_the_format_info(name):
    f, their = lb.formats[name], INFO[name]
    assert (f.max, f.min, f.bits - pad(f)) == (their.max, their.smallest, their.k + (name == "ue4m3"))
    assert f.inf_code == (their.code_of_posinf << pad(f) if their.domain == Domain.Extended else None)
    assert (f.nan_code is None) == (their.num_nans == 0)  # which code: row nan-code
    assert lb.quantize([f.max, f.min], f, as_codes=True)[0] >> pad(f) == their.code_of_max


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id, x, f, options, theirs, ours", examples(LIBRARY))
def test_the_examples_of_the_page_hold(id, x, f, options, theirs, ours):
    v = x.astype(np.float64)
    mode = options[0] if options else "rne"
    if mode in MODES:
        found = theirs_of(v, f, MODES[mode], False)[0], lb.quantize(x, f, mode, as_codes=True)[0]
    else:  # a stochastic rounding: N=bits R=draw
        n, draw = (int(o.split("=")[1]) for o in options[1:])
        found = (theirs_of(v, f, STOCHASTIC[mode], True, np.array([draw]), n)[0],
                 lb.quantize(x, f, "sr", "saturate", random=[draw], random_bits=n, as_codes=True)[0])
    assert found == (theirs, ours), id


def test_every_row_of_the_page_has_an_example():
    assert {id for id, *_ in examples(LIBRARY)} == set(rows_of(LIBRARY)) and len(rows_of(LIBRARY)) == 4
