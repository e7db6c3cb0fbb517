# SPDX-License-Identifier: MIT OR Apache-2.0
"""quantize, decode and their block forms: options, shapes, refusals. The values are checked by test_crosscheck_*.py."""
import json
import subprocess

import lastbit as lb
import numpy as np
import pytest


def test_the_formats_are_those_of_the_command():
    rows = json.loads(subprocess.run(["lastbit", "formats", "--json"], capture_output=True, text=True).stdout)
    assert [*lb.formats, *lb.block_formats] == [row["name"] for row in rows]
    for row in rows:
        if row["name"] in lb.formats and "inf" in row:
            f = lb.formats[row["name"]]
            assert (f.max, f.min, f.bits, f.bias) == (float(row["max"]), float(row["least"]), row["bits"], row["bias"])


def test_names_and_aliases_are_found_and_others_answered_with_the_nearest():
    assert lb.formats["fp16"] is lb.formats["f16"] and "bf16" in lb.formats and "bf17" not in lb.formats
    with pytest.raises(lb.UnknownNameError, match="did you mean bf16"):
        lb.formats["bf1"]
    with pytest.raises(KeyError):
        lb.block_formats["mxfp5"]


@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (2, 3, 4, 5), (0,), (3, 0)])
def test_any_shape_comes_back_in_its_own_shape(shape):
    x = np.random.default_rng(1).standard_normal(shape)
    q = lb.quantize(x, "f16")
    assert q.shape == x.shape and np.array_equal(q, np.asarray(x).astype(np.float16)) and lb.decode(q).shape == x.shape


def test_codes_and_values_are_the_same_bits():
    x = np.random.default_rng(1).standard_normal(100)
    for name, f in lb.formats.items():
        values, codes = lb.quantize(x, name, overflow="saturate"), lb.quantize(x, f, overflow="saturate", as_codes=True)
        assert values.dtype == f.dtype and codes.dtype == f.codes_dtype
        assert np.array_equal(values.view(f.codes_dtype), codes)
        assert np.array_equal(lb.decode(codes, name), lb.decode(values, f))


@pytest.mark.parametrize("options, want", [
    ({}, [0x3F80, 0x3F82, 0xBF81, 0x7F80]), ({"rounding": "rz"}, [0x3F80, 0x3F81, 0xBF80, 0x7F7F]), ({"rounding": "ru"}, [0x3F81, 0x3F82, 0xBF80, 0x7F80]),
    ({"rounding": "rd"}, [0x3F80, 0x3F81, 0xBF81, 0x7F7F]), ({"rounding": "rna"}, [0x3F81, 0x3F82, 0xBF81, 0x7F80]),
    ({"rounding": "odd"}, [0x3F81, 0x3F81, 0xBF81, 0x7F7F]), ({"overflow": "saturate"}, [0x3F80, 0x3F82, 0xBF81, 0x7F7F]),
    ({"overflow": "nan"}, [0x3F80, 0x3F82, 0xBF81, 0x7FC0])])
def test_rounding_and_overflow_are_as_told(options, want):
    ulp = 2.0**-7  # of bf16 at 1
    x = [1 + ulp / 2, 1 + 1.5 * ulp, -1 - 0.75 * ulp, 3.4e38 * 2]
    assert [hex(c) for c in lb.quantize(x, "bf16", as_codes=True, **options)] == [hex(c) for c in want]


def test_subnormals_are_flushed_as_told():
    x = [2.0**-20, -(2.0**-20)]
    assert [hex(c) for c in lb.quantize(x, "f16", flush="keep_sign", as_codes=True)] == ["0x0", "0x8000"]
    assert [hex(c) for c in lb.quantize(x, "f16", flush="to_positive", as_codes=True)] == ["0x0", "0x0"]


@pytest.mark.parametrize("kind, words, options", [
    (lb.UnknownNameError, "no such rounding; there are rne, rna", {"rounding": "nearest"}),
    (lb.UnknownNameError, "no such overflow rule; there are ieee", {"overflow": "clip"}),
    (lb.UnknownNameError, "no such flush", {"flush": "yes"}),
    (lb.ArgumentError, "stochastic rounding takes its draws from you", {"rounding": "sr"}),
    (lb.ShapeError, "[2] draws for values of shape [3]", {"rounding": "sr", "random": [1, 2]}),
    (lb.ArgumentError, "33 random bits; stochastic rounding takes 1 to 32", {"rounding": "sr", "random": [1, 2, 3], "random_bits": 33}),
])
def test_options_that_are_none_are_refused(kind, words, options):
    with pytest.raises(kind) as raised:
        lb.quantize([1.0, 2.0, 3.0], "bf16", **options)
    assert words in str(raised.value)


@pytest.mark.parametrize("x", [np.uint8([1, 2]), np.int32([1, 2]), ["a"], None, [[1], [2, 3]]])
def test_what_is_no_number_is_not_quantized(x):
    with pytest.raises(lb.FormatError):
        lb.quantize(x, "bf16")


def test_integers_wrap_or_saturate():
    assert lb.quantize([130.0, -300.0], "i8", overflow="wrap").tolist() == [-126, -44]
    assert lb.quantize([130.0, -300.0], "i8", overflow="saturate").tolist() == [127, -128]


@pytest.mark.parametrize("shape", [(32,), (33,), (3, 40), (2, 3, 16), (0, 32), (2, 0)])
def test_blocks_along_the_last_axis_decode_to_within_their_format(shape):
    x = np.random.default_rng(1).standard_normal(shape)
    for name, f in lb.block_formats.items():
        codes, scales = lb.quantize_blocks(x, name)
        assert codes.shape == shape and scales.shape == (*shape[:-1], -(-shape[-1] // f.size))
        back = lb.decode_blocks(codes, scales, f)
        assert back.shape == shape and np.allclose(back, x, atol=np.abs(x).max(initial=1) / 3)


def test_scales_of_the_wrong_count_are_refused():
    with pytest.raises(lb.ShapeError, match="mxfp4 has one scale for 32 elements"):
        lb.decode_blocks(np.zeros((2, 64), np.uint8), np.zeros((2, 3), np.uint8), "mxfp4")
    with pytest.raises(lb.ShapeError, match="a block needs an axis"):
        lb.quantize_blocks(1.0, "mxfp4")
    with pytest.raises(lb.UnknownNameError, match="no such scale rule"):
        lb.quantize_blocks([1.0], "mxfp4", rule="nearest")
