# SPDX-License-Identifier: MIT OR Apache-2.0
"""Values into codes, rounded once, and codes into values."""
from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np
import numpy.typing as npt

from ._abi import lb_encoding, lb_flush, lb_overflow, lb_rounding, lb_scale_rule, lb_status
from ._arrays import as_array, matrix_of, operand
from ._formats import BlockFormat, Format, block_formats, format_of_dtype, formats, member
from ._library import call, error, library
from ._names import BlockFormatName, FormatName, Overflow, Rounding


def _encoding(rounding: str, overflow: str, flush: str, random_bits: int) -> lb_encoding:
    return lb_encoding(member(lb_rounding, rounding, "rounding"), member(lb_overflow, overflow, "overflow rule"),
                       member(lb_flush, flush, "flush"), random_bits, 0)


def quantize(x: Any, format: FormatName | Format, rounding: Rounding = "rne", overflow: Overflow = "ieee", *, flush: str = "none",
             random: npt.ArrayLike | None = None, random_bits: int = 32, as_codes: bool = False) -> npt.NDArray[Any]:
    """Each element of ``x`` rounded once into ``format``.

    Shapes: any; the result has the shape of ``x``. ``x`` is of a dtype that names a format (NumPy's, ml_dtypes', DLPack's), or
    a number or nested list of numbers.
    Accuracy: correctly rounded from the exact value, one rounding; never through another format.
    ``rounding``: rne, rna, rnz, rno, rz, ru, rd, raz, odd, or sr with ``random``, an array of the shape of ``x`` of draws in
    [0, 2**random_bits). ``overflow``: ieee, inf, saturate, saturate_propagate, nan; wrap for integers.
    ``flush``: none, keep_sign, to_positive: what a result that is subnormal becomes.
    Returns an array of ``lb.formats[format].dtype``, or its codes with ``as_codes=True``. Raises FormatError, UnknownNameError,
    ShapeError.

    >>> import lastbit as lb
    >>> lb.quantize([1.05, 500.0, -0.001], "e4m3", overflow="saturate", as_codes=True)
    array([ 56, 126, 129], dtype=uint8)
    >>> lb.quantize(0.3, "bf16", "rz").astype(float)
    array(0.29882812)
    """
    f = format if isinstance(format, Format) else formats[format]
    values = as_array(x, "x")
    own = format_of_dtype(values.dtype)
    if own is None:
        raise error(lb_status.E_FORMAT, f"{values.dtype} names no number format: decode codes first (lb.decode), or make it a float", "x")
    how = _encoding(rounding, overflow, flush, random_bits)
    draws = None
    if random is not None:
        draws = np.ascontiguousarray(random, dtype=np.uint32)
        if draws.shape != values.shape:
            raise error(lb_status.E_SHAPE, f"{list(draws.shape)} draws for values of shape {list(values.shape)}", "random")
    elif rounding == "sr":
        raise error(lb_status.E_ARG, "stochastic rounding takes its draws from you: random=rng.integers(2**32, size=x.shape)", "random")
    flat = np.ascontiguousarray(values).reshape(1, -1)
    out = np.empty(values.shape, f.codes_dtype)
    source, target = matrix_of(flat, own), matrix_of(out.reshape(1, -1), f)
    call("lb_mat_encode", byref(source), byref(target), byref(how), None if draws is None else draws.ctypes.data, None)
    return out if as_codes else out.view(f.dtype)


def decode(x: Any, format: FormatName | Format | None = None) -> npt.NDArray[np.float64]:
    """The value of each code, as float64: exact for every format.

    ``x``: unsigned codes with ``format``, or an array whose dtype names its format. Any shape. Raises FormatError for codes wider
    than the format, UnknownNameError.

    >>> import lastbit as lb, numpy as np
    >>> lb.decode(np.uint8([0x38, 0x7e, 0x7f]), "e4m3")
    array([  1., 448.,  nan])
    """
    values = as_array(x, "x")
    f = format if isinstance(format, Format) or format is None else formats[format]
    flat = operand(np.ascontiguousarray(values).reshape(1, -1), f, "x")
    out = np.empty(values.shape, np.float64)
    target = matrix_of(out.reshape(1, -1), formats["f64"])
    call("lb_mat_encode", byref(flat.mat), byref(target), None, None, None)
    return out


def quantize_blocks(x: Any, format: BlockFormatName | BlockFormat, rounding: Rounding = "rne", overflow: Overflow = "saturate",
                    *, rule: str | None = None) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Blocks along the last axis of ``x``, each with one scale.

    Shapes: x [..., n] -> codes [..., n], scales [..., ceil(n / size)], both uint8 codes. ``rule``: floor, ceil, even, amax; the
    format's own where none is said. Accuracy: one rounding of the scale, one of each element's exact quotient.

    >>> import lastbit as lb
    >>> codes, scales = lb.quantize_blocks([[1.0, -3.0, 6.0, 0.6]], "nvfp4")
    >>> lb.decode_blocks(codes, scales, "nvfp4")
    array([[ 1. , -3. ,  6. ,  0.5]])
    """
    f = format if isinstance(format, BlockFormat) else block_formats[format]
    values = as_array(x, "x")
    if values.ndim == 0:
        raise error(lb_status.E_SHAPE, "a block needs an axis; x has none", "x")
    doubles = np.ascontiguousarray(decode(values))
    cols = doubles.shape[-1]
    rows = doubles.size // cols if cols else 0
    codes = np.empty(doubles.shape, np.uint8)
    scales = np.empty((*doubles.shape[:-1], -(-cols // f.size)), np.uint8)
    how = _encoding(rounding, overflow, "none", 0)
    which = f._row.contents.rule if rule is None else member(lb_scale_rule, rule, "scale rule")
    call("lb_block_encode_rows", f._row, which, doubles.ctypes.data, rows, cols, byref(how), codes.ctypes.data, scales.ctypes.data)
    return codes, scales


def decode_blocks(codes: npt.ArrayLike, scales: npt.ArrayLike, format: BlockFormatName | BlockFormat) -> npt.NDArray[np.float64]:
    """Values of blocks along the last axis: codes [..., n], scales [..., ceil(n / size)] -> [..., n]. Exact. Raises ShapeError."""
    f = format if isinstance(format, BlockFormat) else block_formats[format]
    c, s = np.ascontiguousarray(codes, np.uint8), np.ascontiguousarray(scales, np.uint8)
    if c.ndim == 0 or s.shape != (*c.shape[:-1], -(-c.shape[-1] // f.size)):
        raise error(lb_status.E_SHAPE, f"codes {list(c.shape)} and scales {list(s.shape)}: {f.name} has one scale for {f.size} elements",
                    "scales")
    out = np.empty(c.shape, np.float64)
    cols = c.shape[-1]
    library.lb_block_decode_rows(f._row, c.ctypes.data, s.ctypes.data, c.size // cols if cols else 0, cols, out.ctypes.data)
    return out
