# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a tolerance has to be, and failing checks made small."""
from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable
from ctypes import POINTER, byref
from typing import Any

from ._abi import lb_calibrate_options, lb_calibration, lb_capsule_notes, lb_check_options, lb_record, lb_shrink_options, lb_shrunk
from ._formats import Format
from ._library import call, encode, library, take_text
from ._names import ContractName, FormatName
from ._results import Contract, Result, _format, prepare
from ._units import Unit, unit as find_unit


def calibrate(what: str | Unit, k: int | Iterable[int] = (), *, case: str | None = None, against: str | None = None,
              m: int = 0, n: int = 0, out: FormatName | Format | None = None, margin: float = 0.0, false_alarm: float = 0.0,
              elements: float = 0.0, seed: int | None = None) -> dict[str, Any]:
    """Measure the drift of a unit or of an order of summation (``lastbit calibrate --list``) beside floor and weakest fault.

    ``k``: depths; ``case``: a recorded one; ``against``: an order, f64 unless the case says otherwise; ``m``, ``n``: of the output (16,
    1024); ``margin``: of the floor that is looked at (8); ``false_alarm`` (1e-6) of ``elements`` (those measured) is what
    ``margin_needed`` is sized for. Returns lastbit.calibration/1 (docs/howto/calibrate.md).
    Raises ArgumentError, UnknownNameError, FormatError.

    >>> import lastbit as lb
    >>> c = lb.calibrate("sm_90/mma.m16n8k16.f32.bf16.bf16.f32", [4096, 65536], m=4, n=256)
    >>> [d["blocks"][-1]["margin_needed"] < 8 for d in c["depths"]]
    [True, False]
    """
    depths = [k] if isinstance(k, int) else list(k)
    row = what if isinstance(what, Unit) else find_unit(what) if "/" in what else None
    order = None if row else encode(str(what), "what")
    said = _format(out)
    array = (ctypes.c_size_t * max(1, len(depths)))(*depths)
    options = lb_calibrate_options(
        unit=ctypes.pointer(row._row) if row else None, order=order, against=encode(against, "against") if against is not None else None,
        case_name=encode(case, "case") if case is not None else None, k=ctypes.cast(array, ctypes.c_void_p),
        k_count=len(depths), m=m, n=n, seed=seed or 0, has_seed=seed is not None, out=said._row if said else None,
        margin=margin, false_alarm=false_alarm, elements=elements)
    result = POINTER(lb_calibration)()
    call("lb_calibrate", byref(options), ctypes.cast(byref(result), POINTER(ctypes.c_void_p)))
    try:
        text = ctypes.c_void_p()
        call("lb_calibration_to_json", result, byref(text))
        return dict(json.loads(take_text(text)))
    finally:
        library.lb_calibration_close(result)


def shrink(a: Any, b: Any, actual: Any = None, c: Any = None, *, capsule: str | os.PathLike[str] | None = None,
           unit: str | Unit | None = None, contract: ContractName | str | Contract | None = None, on: str | None = None,
           in_: FormatName | Format | None = None, in_b: FormatName | Format | None = None, acc: FormatName | Format | None = None,
           out: FormatName | Format | None = None, transpose_b: bool = False, nan: str = "bits", reference: str = "auto", seed: int = 1,
           timeout: float = 60.0, budget: float = 60.0, runs: int = 0) -> dict[str, Any]:
    """Make a failing check small, with the arguments of ``check``: rows, columns and depth, then values towards 0 and 1. Where
    ``actual`` is given, rows and columns alone.

    ``capsule``: a file to write that ``check_capsule`` judges anywhere; ``budget`` seconds and ``runs`` (2000) bound the search. Returns
    lastbit.shrink/1 (docs/howto/shrink.md). Raises ArgumentError where the check passes, UnavailableError where it proves nothing.

    >>> import lastbit as lb, numpy as np
    >>> a, b = np.full((4, 16), 2**-13, np.float16), np.full((16, 3), 2**-12, np.float16)
    >>> a[:, 0] = b[0, :] = 1
    >>> sm_80, sm_90 = "sm_80/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k16.f32.f16.f16.f32"
    >>> lb.shrink(a, b, unit=sm_90, on="model:" + sm_80)["to"]
    {'m': 1, 'n': 1, 'k': 5}
    """
    p = prepare(a, b, actual, c, unit=unit, contract=contract, on=on, in_=in_, in_b=in_b, acc=acc, out=out, transpose_b=transpose_b,
                nan=nan, reference=reference, sample=0, seed=seed, timeout=timeout, max_outliers=0)
    options = lb_shrink_options(check=ctypes.pointer(p.options), seconds=budget, runs=runs)
    small = POINTER(lb_shrunk)()
    call("lb_shrink", byref(options), ctypes.cast(byref(small), POINTER(ctypes.c_void_p)))
    try:
        path = None if capsule is None else encode(capsule, "capsule")
        if path is not None:
            notes = lb_capsule_notes(contract=encode(contract, "contract") if isinstance(contract, str) else None)
            call("lb_capsule_write", path, byref(small.contents.check), small.contents.record, byref(small.contents.observed), byref(notes))
        text = ctypes.c_void_p()
        call("lb_shrunk_to_json", small, path, byref(text))
        return dict(json.loads(take_text(text)))
    finally:
        library.lb_shrunk_close(small)


def check_capsule(path: str | os.PathLike[str], *, on: str | None = None, timeout: float = 60.0, max_outliers: int = 16) -> Result:
    """Judge a capsule (docs/capsule.md) again: its output, or what a device (``on="kernel:FILE.json"``, ``"model:UNIT"``) makes of its
    inputs. Raises FileError.
    """
    capsule = ctypes.c_void_p()
    call("lb_capsule_open", byref(capsule), encode(path, "path"))
    try:
        how = lb_check_options(on=encode(on, "on") if on is not None else None, timeout_seconds=timeout, max_outliers=max_outliers)
        record = POINTER(lb_record)()
        call("lb_capsule_judge", capsule, byref(how), ctypes.cast(byref(record), POINTER(ctypes.c_void_p)))
        return Result(record)
    finally:
        library.lb_capsule_close(capsule)
