# SPDX-License-Identifier: MIT OR Apache-2.0
"""Matrix instructions: which bits the hardware gives."""
from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_uint32, pointer
from typing import Any

import numpy as np
import numpy.typing as npt

from ._abi import lb_evidence, lb_format_id, lb_gemm_options, lb_status, lb_unit, lb_unit_operands
from ._arrays import Operand, operand, output
from ._formats import formats
from ._library import call, encode, error, library, words


class Unit:
    """One matrix instruction on one architecture; a row of docs/units.md.

    ``name``; ``m``, ``n``, ``k`` of the instruction; ``a``, ``b``, ``c``, ``d``: formats of the operands; ``terms``: products per
    block; ``frac_bits``: fraction bits kept below the largest exponent; ``evidence`` (recorded, stated, inferred, open), ``source``,
    ``note``: how we know; ``open``: what nobody knows; ``scale``, ``scale_block``: format of the scales and how many k share one
    (None, 0: no scales); ``sparse_group``: consecutive k of which a holds half (0: dense).
    """

    def __init__(self, row: lb_unit):
        self._row = row
        self.name = words(row.name)
        self.m, self.n, self.k = row.m, row.n, row.k
        self.a, self.b, self.c, self.d = (formats[lb_format_id(i).name.lower()] for i in (row.a, row.b, row.c, row.d))
        self.terms, self.frac_bits = row.terms, row.frac_bits
        self.scale = formats[lb_format_id(row.scale).name.lower()] if row.scale_block else None
        self.scale_block, self.sparse_group = row.scale_block, row.sparse_group
        self.evidence = lb_evidence(row.evidence).name.lower()
        self.source, self.note, self.open = words(row.source), words(row.note), words(row.open)

    def __repr__(self) -> str:
        return f"<lastbit unit {self.name} ({self.evidence})>"

    def gemm(self, a: Any, b: Any, c: Any = None, out: Any = None, *, scale_a: Any = None, scale_b: Any = None, metadata: Any = None,
             threads: int = 0) -> npt.NDArray[Any]:
        """D = A B + C as a kernel computes it that runs this instruction's K steps in ascending order.

        Shapes: a [m, k], b [k, n], c [m, n] or None for zeros; the result [m, n] in ``self.d``, written into ``out`` where one is
        given (an array, or a CPU tensor by DLPack; it may be ``c``, and overlaps neither ``a`` nor ``b``) and returned.
        Dtypes: those of the formats (``self.a.dtype`` …), or unsigned codes of their width; wider floats where every value fits.
        Block-scaled units take ``scale_a`` [m, ceil(k / block)] and ``scale_b`` [ceil(k / block), n] in ``self.scale``; sparse ones a
        compressed a [m, k/2] and its ``metadata`` [m, k/2], the place of each element in its group.
        Accuracy: bit for bit what the hardware gives, as far as ``self.evidence`` and ``self.open`` say. The same bits for any
        number of ``threads`` (0: as OpenMP decides). Raises ShapeError, FormatError, ArgumentError, DeviceError, UnavailableError.

        Seven products of 2^-25 beside a 1: the exact sum is 1.0000002; an A100 cuts each one, an H100 keeps one more bit.

        >>> import lastbit as lb, numpy as np
        >>> a, b = np.full((1, 8), 2**-13, np.float16), np.full((8, 1), 2**-12, np.float16)
        >>> a[0, 0] = b[0, 0] = 1
        >>> lb.unit("sm_80/mma.m16n8k16.f32.f16.f16.f32").gemm(a, b)
        array([[1.]], dtype=float32)
        >>> lb.unit("sm_90/mma.m16n8k16.f32.f16.f16.f32").gemm(a, b)
        array([[1.0000001]], dtype=float32)
        """
        options = lb_gemm_options(threads=threads)
        extras = self._extras(scale_a, scale_b, metadata)
        if extras:
            return self._run(a, b, c, out, lambda a, b, c, d: call("lb_gemm_with", byref(self._row), a, b, c, byref(extras[0]), d, byref(options)))
        return self._run(a, b, c, out, lambda a, b, c, d: call("lb_gemm", byref(self._row), a, b, c, d, byref(options)))

    def mma(self, a: Any, b: Any, c: Any = None, out: Any = None, *, scale_a: Any = None, scale_b: Any = None,
            metadata: Any = None) -> npt.NDArray[Any]:
        """One tile: as :meth:`gemm`, where the shapes must be the instruction's own, [m, k] and [k, n]. Raises ShapeError otherwise."""
        extras = self._extras(scale_a, scale_b, metadata)
        if extras:
            return self._run(a, b, c, out, lambda a, b, c, d: call("lb_unit_mma_with", byref(self._row), a, b, c, byref(extras[0]), d))
        return self._run(a, b, c, out, lambda a, b, c, d: call("lb_unit_mma", byref(self._row), a, b, c, d))

    def dot(self, a: Any, b: Any, c: int = 0) -> int:
        """d = c + sum a[i] b[i] over one K step, in codes. a, b: up to ``self.k`` codes each; what is missing is zero."""
        left, right = (np.ascontiguousarray(x, np.uint32) for x in (a, b))
        if left.ndim != 1 or left.shape != right.shape:
            raise error(lb_status.E_SHAPE, f"a is {list(left.shape)}, b is {list(right.shape)}; one dot takes two equal rows", "dot")
        d = c_uint32()
        call("lb_unit_dot", byref(self._row), left.ctypes.data, right.ctypes.data, left.size, c, byref(d))
        return d.value

    def _extras(self, scale_a: Any, scale_b: Any, metadata: Any) -> tuple[lb_unit_operands, list[Operand]] | None:
        """The scales and metadata as the C library takes them, and what keeps their memory."""
        if scale_a is None and scale_b is None and metadata is None:
            return None
        scale, place = self.scale or formats["u8"], formats["u8"]
        kept = [None if x is None else operand(x, f, name)
                for x, f, name in ((scale_a, scale, "scale_a"), (scale_b, scale, "scale_b"), (metadata, place, "metadata"))]
        return lb_unit_operands(*(pointer(x.mat) if x else None for x in kept)), [x for x in kept if x]

    def _run(self, a: Any, b: Any, c: Any, out: Any, function: Callable[..., None]) -> npt.NDArray[Any]:
        left, right = operand(a, self.a, "a"), operand(b, self.b, "b")
        add = None if c is None else operand(c, self.c, "c")
        shape = (left.array.shape[0], right.array.shape[1])
        result = self._new(shape) if out is None else output(out, self.d, shape)
        if out is not None:
            for name, x in (("a", left), ("b", right)):
                if np.may_share_memory(result.array, x.array) and np.shares_memory(result.array, x.array):
                    raise error(lb_status.E_ARG, f"out overlaps {name}", "out")
        function(byref(left.mat), byref(right.mat), byref(add.mat) if add else None, byref(result.mat))
        return result.array if out is None or not isinstance(out, np.ndarray) else out

    def _new(self, shape: tuple[int, int]) -> Operand:
        return output(np.empty(shape, self.d.dtype), self.d, shape)


def unit(name: str) -> Unit:
    """The unit of that name, or of a full PTX spelling. Raises UnknownNameError, which says the nearest.

    >>> import lastbit as lb
    >>> lb.unit("sm_80/mma.m16n8k16.f32.f16.f16.f32")
    <lastbit unit sm_80/mma.m16n8k16.f32.f16.f16.f32 (recorded)>
    """
    row = lb_unit()
    call("lb_unit_find", encode(name, "a unit's name"), byref(row))
    return Unit(row)


def units() -> list[Unit]:
    """Every row of the table, in its order."""
    rows, i = [], 0
    while row := library.lb_unit_row(i):
        rows.append(Unit(lb_unit.from_buffer_copy(row.contents)))
        i += 1
    return rows
