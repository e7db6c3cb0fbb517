# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scalar operations: one GPU operation at a time, on arrays of words."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from ._abi import lb_evidence, lb_scalar_op, lb_status
from ._library import call, encode, error, library, words


def _kinds(kinds: Any, count: int) -> tuple[str, ...]:
    return tuple(words(library.lb_word_name(kinds[i])) for i in range(count))


class Scalar:
    """One operation; a row of docs/scalar.md.

    ``name``, ``ptx``, ``cls`` ("E", "D", "E*", "A", "H"), ``inputs`` and ``outputs`` (kinds of words: "f32", "f16x2", "s64" …), ``warp``
    (whether it takes the 32 lanes of a warp), ``target``, ``evidence``, ``source``, ``bound``, ``open``.
    """

    def __init__(self, row: Any):
        self._row = row  # POINTER(lb_scalar_op), static memory
        r = row.contents
        self.name, self.ptx, self.target = words(r.name), words(r.ptx), words(r.target)
        self.cls = words(library.lb_scalar_class_name(r.cls))
        self.inputs, self.outputs = _kinds(getattr(r, "in"), r.ins), _kinds(r.out, r.outs)
        self._bytes = [library.lb_word_bits(r.out[i]) // 8 for i in range(r.outs)]
        self.warp = bool(r.warp)
        self.evidence = lb_evidence(r.evidence).name.lower()
        self.source, self.bound, self.open = words(r.source), words(r.bound), words(r.open)

    def __repr__(self) -> str:
        return f"<lastbit scalar {self.name} ({', '.join(self.inputs)} -> {', '.join(self.outputs)})>"

    def eval(self, *inputs: npt.ArrayLike) -> Any:
        """Output words of input words (not values): integer arrays that broadcast against each other, or single integers.

        Returns one unsigned array, or a tuple of them where there are several outputs. Of a warp's operation the lanes run along the last
        axis, 32 at a time; others raise ShapeError. Class "A" gives the true value, rounded once.

        >>> import lastbit as lb
        >>> hex(lb.scalar("fma.rz.f32").eval(0x3f80000b, 0x3f80000b, 0xbf800000))
        '0x36300007'
        """
        if len(inputs) != len(self.inputs):
            raise error(lb_status.E_ARG, f"{len(inputs)} inputs; it takes {len(self.inputs)}: {', '.join(self.inputs)}", self.name)
        columns = [np.asarray(x) for x in inputs]
        for i, x in enumerate(columns):
            if x.dtype.kind not in "iu":
                raise error(lb_status.E_FORMAT, f"input {i} is {x.dtype}; words are integers: x.view(np.uint32)", self.name)
        try:
            columns = list(np.broadcast_arrays(*columns))
        except ValueError as e:
            raise error(lb_status.E_SHAPE, str(e), self.name) from None
        if self.warp and (columns[0].ndim == 0 or columns[0].shape[-1] % 32):
            raise error(lb_status.E_SHAPE, f"shape {list(columns[0].shape)}; a warp takes 32 at a time, along the last axis", self.name)
        rows = np.ascontiguousarray(np.stack([x.astype(np.uint64).reshape(-1) for x in columns], axis=1))
        out = np.empty((rows.shape[0], len(self.outputs)), np.uint64)
        call("lb_scalar_eval_rows", self._row, rows.shape[0], rows.ctypes.data, out.ctypes.data)
        results = tuple(out[:, o].reshape(columns[0].shape).astype(f"u{size}")[()] for o, size in enumerate(self._bytes))
        return results[0] if len(results) == 1 else results


def scalar(name: str) -> Scalar:
    """The operation of that name or PTX spelling. Raises UnknownNameError, which says the nearest.

    >>> import lastbit as lb
    >>> lb.scalar("cvt.rn.bf16x2.f32")
    <lastbit scalar cvt_rn_bf16x2_f32 (f32, f32 -> bf16x2)>
    """
    row = c_void_p()
    call("lb_scalar_find", encode(name, "an operation's name"), byref(row))
    return Scalar(ctypes.cast(row, POINTER(lb_scalar_op)))


def scalars() -> list[Scalar]:
    """Every row of the table, in its order."""
    rows, i = [], 0
    while row := library.lb_scalar_row(i):
        rows.append(Scalar(row))
        i += 1
    return rows
