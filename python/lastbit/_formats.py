# SPDX-License-Identifier: MIT OR Apache-2.0
"""Number formats: the rows of the C tables, by name."""
from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import POINTER, byref
from typing import Any, Generic, TypeVar, cast

import ml_dtypes
import numpy as np

from ._abi import lb_format_id, lb_scale_rule, lb_special, lb_status
from ._library import encode, error, library, words
from ._names import BlockFormatName, FormatName

#: The NumPy dtype that holds a format's values; where there is none, plain codes in the narrowest unsigned dtype serve.
_DTYPES: dict[lb_format_id, Any] = {
    lb_format_id.F64: np.float64,
    lb_format_id.F32: np.float32,
    lb_format_id.TF32: np.float32,
    lb_format_id.F16: np.float16,
    lb_format_id.BF16: ml_dtypes.bfloat16,
    lb_format_id.E4M3: ml_dtypes.float8_e4m3fn,
    lb_format_id.E5M2: ml_dtypes.float8_e5m2,
    lb_format_id.E4M3_IEEE: ml_dtypes.float8_e4m3,
    lb_format_id.E3M4: ml_dtypes.float8_e3m4,
    lb_format_id.E4M3FNUZ: ml_dtypes.float8_e4m3fnuz,
    lb_format_id.E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
    lb_format_id.E4M3B11FNUZ: ml_dtypes.float8_e4m3b11fnuz,
    lb_format_id.E8M0: ml_dtypes.float8_e8m0fnu,
    lb_format_id.E3M2: ml_dtypes.float6_e3m2fn,
    lb_format_id.E2M3: ml_dtypes.float6_e2m3fn,
    lb_format_id.E2M1: ml_dtypes.float4_e2m1fn,
    lb_format_id.I8: np.int8,
    lb_format_id.U8: np.uint8,
    lb_format_id.I4: ml_dtypes.int4,
    lb_format_id.U4: ml_dtypes.uint4,
}


class Format:
    """A number format; a row of docs/formats.md.

    ``name``, ``aliases``, ``bits`` (width of a code), ``sign_bits``, ``exp_bits``, ``man_bits``, ``bias``, ``source``, ``note``;
    ``dtype``: the NumPy dtype of its values (unsigned codes where NumPy and ml_dtypes have none); ``codes_dtype``: of its codes.
    """

    def __init__(self, row: Any):
        self._row = row  # POINTER(lb_format), static memory
        r = row.contents
        self.id = lb_format_id(r.id)
        self.name = cast(FormatName, words(r.name))
        self.aliases = words(r.alias).split()
        self.bits, self.sign_bits, self.exp_bits, self.man_bits, self.bias = r.bits, r.sign_bits, r.exp_bits, r.man_bits, r.bias
        self.is_integer = r.special == lb_special.INT
        self.source, self.note = words(r.source), words(r.note)
        self.codes_dtype: np.dtype[Any] = np.dtype(f"u{r.bytes}")
        self.dtype: np.dtype[Any] = np.dtype(_DTYPES.get(self.id, self.codes_dtype))

    def __repr__(self) -> str:
        return f"<lastbit format {self.name}: {self.sign_bits}+{self.exp_bits}+{self.man_bits} bits>"

    def _special(self, function: str) -> int | None:
        code = ctypes.c_uint64()
        return code.value if getattr(library, function)(self._row, byref(code)) else None

    @property
    def max(self) -> float:
        """Largest finite value."""
        return float(library.lb_to_double(self._row, library.lb_max_code(self._row)))

    @property
    def min(self) -> float:
        """Least positive value."""
        return float(library.lb_to_double(self._row, library.lb_min_code(self._row)))

    @property
    def inf_code(self) -> int | None:
        """Code of +Inf, None if the format has none."""
        return self._special("lb_inf_code")

    @property
    def nan_code(self) -> int | None:
        """Canonical code of NaN, None if the format has none."""
        return self._special("lb_nan_code")

    def ulp_distance(self, x: int, y: int) -> int | None:
        """Steps of the number line between two codes; +0 and -0 are one point; None where either is NaN."""
        distance = int(library.lb_ulp_distance(self._row, x, y))
        return None if distance == 2**64 - 1 else distance


class BlockFormat:
    """A block-scaled format: ``size`` elements in format ``element`` share one scale in format ``scale``."""

    def __init__(self, row: Any):
        self._row = row
        r = row.contents
        self.name = cast(BlockFormatName, words(r.name))
        self.element, self.scale = _format_of(r.element), _format_of(r.scale)
        self.size, self.rule = r.size, lb_scale_rule(r.rule).name.lower()
        self.source, self.note = words(r.source), words(r.note)

    def __repr__(self) -> str:
        return f"<lastbit block format {self.name}: {self.size} x {self.element.name}, scale {self.scale.name}>"


Row = TypeVar("Row", Format, BlockFormat)


class Formats(Mapping[str, Row], Generic[Row]):
    """Rows by name, in the order of the table. Aliases are found too, and are not listed."""

    def __init__(self, rows: list[Row]):
        self._rows: dict[str, Row] = {str(row.name): row for row in rows}

    def __getitem__(self, name: str) -> Row:
        for row in self._rows.values():
            if name == row.name or (isinstance(row, Format) and name in row.aliases):
                return row
        names = (ctypes.c_char_p * len(self._rows))(*(n.encode() for n in self._rows))
        nearest = library.lb_nearest_name(encode(name, "a format's name"), ctypes.cast(names, POINTER(ctypes.c_void_p)), len(self._rows))
        hint = f"did you mean {nearest.decode()}?" if nearest else f"there are {', '.join(self._rows)}"
        raise error(lb_status.E_NAME, f"no such format; {hint}", str(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


_by_id = {i: Format(library.lb_format_row(i)) for i in lb_format_id}


def _format_of(id: int) -> Format:
    return _by_id[lb_format_id(id)]


def _block_rows() -> Iterator[BlockFormat]:
    i = 0
    while row := library.lb_block_format_row(i):
        yield BlockFormat(row)
        i += 1


#: Every number format by name: ``lb.formats["bf16"]``, ``list(lb.formats)``.
formats: Formats[Format] = Formats(list(_by_id.values()))
#: Every block-scaled format by name.
block_formats: Formats[BlockFormat] = Formats(list(_block_rows()))


def format_of_dtype(dtype: np.dtype[Any]) -> Format | None:
    """The format that a dtype names; None for plain codes (unsigned) and for dtypes that are no format."""
    for f in _by_id.values():  # float32 is f32, which comes before tf32
        if f.dtype == dtype and f.dtype != f.codes_dtype:
            return f
    return None


def member(enum: Any, name: str, what: str) -> int:
    """The value of an enum's member by its name in lower case, as the CLI spells it."""
    for member in enum:
        if member.name.lower() == name:
            return int(member)
    raise error(lb_status.E_NAME, f"no such {what}; there are {', '.join(m.name.lower() for m in enum)}", str(name))
