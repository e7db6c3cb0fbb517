# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verdicts: are these bits right?"""
from __future__ import annotations

import ctypes
import json
import os
import weakref
from collections.abc import Iterable, Iterator
from ctypes import POINTER, byref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._abi import lb_block_options, lb_case, lb_check_options, lb_contract, lb_evidence, lb_mat, lb_record, lb_reference_mode, lb_status
from ._arrays import Operand, as_array, operand
from ._formats import Format, format_of_dtype, formats, member
from ._library import call, encode, error, library, take_text, words
from ._names import ContractName, FormatName
from ._units import Unit, unit as find_unit


class Result:
    """One verdict. ``print(result)`` shows a readable block; ``record`` is what ``lastbit check --json`` prints (docs/result-schema.md)."""

    def __init__(self, pointer: Any):
        """Takes the record over."""
        try:
            text, brief, line = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            call("lb_report_text", pointer, False, byref(text))
            self._text = take_text(text)
            call("lb_report_brief", pointer, False, byref(brief))
            self._brief = take_text(brief)
            call("lb_record_to_json", pointer, byref(line))
            self._json = take_text(line)
        finally:
            library.lb_record_close(pointer)
        #: The record, lastbit.result/1, as a dict.
        self.record: dict[str, Any] = json.loads(self._json)

    @property
    def verdict(self) -> str:
        """PASS, FAIL, UNPROVEN or SKIP."""
        return str(self.record["verdict"])

    @property
    def passed(self) -> bool:
        """Whether something was compared and every element is exact or legal: the verdict is PASS."""
        return self.verdict == "PASS"

    @property
    def reason(self) -> str:
        """One sentence."""
        return str(self.record["reason"])

    @property
    def counts(self) -> dict[str, int]:
        """Elements by class: compared, exact, legal, wrong …"""
        return dict(self.record["counts"])

    def to_json(self) -> str:
        """The record as one line of JSON."""
        return self._json

    def brief(self) -> str:
        """Verdict, reason, the first wrong element: three or four lines."""
        return self._brief

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<lastbit result {self._text.splitlines()[0]}>"

    def __bool__(self) -> bool:
        raise TypeError("a verdict has more than two values: ask .passed, or .verdict")


class Contract:
    """A numerics contract: which bits are allowed beside the exact ones; a row of `lastbit contracts`, or one opened by `contract`."""

    def __init__(self, row: Any, spec: str | None = None):
        self._row = row
        r = row.contents
        self.spec = words(r.name) if spec is None else spec  # what --contract takes
        self.name, self.source, self.note = words(r.name), words(r.source), words(r.note)
        self.evidence = lb_evidence(r.evidence).name.lower()
        self.max_ulp, self.rel_rms_gate, self.formats = r.max_ulp, r.rel_rms_gate, words(r.formats).split()

    def __repr__(self) -> str:
        return f"<lastbit contract {self.name}: {self.note}>"

    def floor(self, k: float, row_rms: float) -> float:
        """The accumulation floor of depth k and a row's RMS: below it an ordinal budget says nothing."""
        return float(library.lb_contract_floor(self._row, k, row_rms))


def contract(name: ContractName | str) -> Contract:
    """The contract of that name, of a name with parameters ("ulp:4"), or of a file ("mine.json"). Raises UnknownNameError, ArgumentError,
    FileError.

    >>> import lastbit as lb
    >>> f"{lb.contract('m16-tc').floor(5120, 39.13):.6e}"
    '1.335103e-03'
    """
    row = POINTER(lb_contract)()
    call("lb_contract_open", encode(name, "a contract's name"), ctypes.cast(byref(row), POINTER(ctypes.c_void_p)))
    opened = Contract(row, name)
    weakref.finalize(opened, library.lb_contract_close, row)
    return opened


def contracts() -> list[Contract]:
    """Every contract."""
    return list(_contract_rows())


def _contract_rows() -> Iterator[Contract]:
    i = 0
    while row := library.lb_contract_row(i):
        yield Contract(row)
        i += 1


def _format(name: FormatName | Format | None) -> Format | None:
    return formats[name] if isinstance(name, str) else name


def _result_format(array: Any, said: Format | None, fallback: Format | None, name: str) -> Operand:
    """An output: in the format that was said, else the one that its dtype names, else the fallback."""
    values = as_array(array, name)
    return operand(values, said or format_of_dtype(values.dtype) or fallback, name)


@dataclass
class Prepared:
    """A check that is ready to run, and what it points into."""
    options: lb_check_options
    allowed: Any  # names that the options point to
    a: Operand
    b: Operand
    c: Operand | None
    actual: Operand | None
    unit: Unit | None
    contract: Contract | None


@dataclass
class Judged:
    """A record that is still the library's, and what it was made of."""
    record: Any
    a: Operand
    b: Operand
    c: Operand | None
    actual: Operand | None
    unit: Unit | None
    contract: Contract | None


def prepare(a: Any, b: Any, actual: Any, c: Any, *, unit: str | Unit | None, contract: ContractName | str | Contract | None, on: str | None,
            in_: FormatName | Format | None, in_b: FormatName | Format | None, acc: FormatName | Format | None,
            out: FormatName | Format | None, transpose_b: bool, nan: str, reference: str, sample: int, seed: int, timeout: float,
            max_outliers: int, power: bool = False, allow_blind: Iterable[str] = ()) -> Prepared:
    """check, up to the call. The formats are chosen as `lastbit check` chooses them."""
    if (actual is None) == (on is None):
        raise error(lb_status.E_ARG, "give actual=, the output to judge, or on=, the device to run; one of the two", "check")
    if unit is None and contract is None:
        raise error(lb_status.E_ARG, "give unit=, contract= or both: what to judge by", "check")
    row = find_unit(unit) if isinstance(unit, str) else unit
    rule = find_contract(contract) if isinstance(contract, str) else contract
    format_a = _format(in_) or (row.a if row else None)
    left = operand(a, format_a, "a")
    right = operand(b, _format(in_b) or (_format(in_) if in_ or not row else row.b), "b")
    add = None if c is None else operand(c, _format(acc) or (row.c if row else None), "c")
    fallback = row.d if row else left.format
    judged = None if actual is None else _result_format(actual, _format(out), fallback, "actual")
    result_format = judged.format if judged else _format(out) or fallback
    options = lb_check_options(
        x=lb_case(op=b"matmul", a=left.mat, b=right.mat, c=add.mat if add else lb_mat(), b_transposed=transpose_b,
                  out=result_format._row, seed=seed),
        actual=ctypes.pointer(judged.mat) if judged else None,
        actual_name=None,
        on=encode(on, "on") if on is not None else None,
        unit=ctypes.pointer(row._row) if row else None,
        contract=rule._row if rule else None,
        nan_by_class=_choice(nan, ("bits", "class"), "nan") == 1,
        reference=member(lb_reference_mode, reference, "way to compute a reference"),
        sample=sample, seed=seed, timeout_seconds=timeout, max_outliers=max_outliers, power=power)
    return Prepared(options, _allowed(options, allow_blind), left, right, add, judged, row, rule)


def judge(a: Any, b: Any, actual: Any, c: Any, **choices: Any) -> Judged:
    """check, up to the record."""
    p = prepare(a, b, actual, c, **choices)
    record = POINTER(lb_record)()
    call("lb_check", byref(p.options), ctypes.cast(byref(record), POINTER(ctypes.c_void_p)))
    return Judged(record, p.a, p.b, p.c, p.actual, p.unit, p.contract)


def check(a: Any, b: Any, actual: Any = None, c: Any = None, *, unit: str | Unit | None = None,
          contract: ContractName | str | Contract | None = None, on: str | None = None, in_: FormatName | Format | None = None,
          in_b: FormatName | Format | None = None, acc: FormatName | Format | None = None, out: FormatName | Format | None = None,
          transpose_b: bool = False, nan: str = "bits", reference: str = "auto", sample: int = 0, seed: int = 1, timeout: float = 60.0,
          max_outliers: int = 16, power: bool = False, allow_blind: Iterable[str] = ()) -> Result:
    """Judge D = A B + C: the output ``actual``, or what a device (``on="kernel:FILE.json"``, ``"model:UNIT"``) makes of it.

    Shapes: a [m, k]; b [k, n], or [n, k] with ``transpose_b``; c and actual [m, n]. With ``unit`` the output is compared word for
    word with what that hardware gives; with ``contract`` the reference is computed exactly and other bits inside the contract are
    legal; with both, each element is exact, legal or wrong.
    Formats: those that the dtypes name, or the unit's; ``in_``, ``in_b``, ``acc``, ``out`` where arrays hold plain codes.
    ``nan``: bits, or class: any NaN equals any NaN. ``reference``: auto (exact where f64 does not decide), f64, exact. ``sample``: at
    most so many rows and columns (0: all). ``power``: inject faults into a correct output too (``record["power"]``); a contract that misses
    one is UNPROVEN, unless ``allow_blind`` names it. Raises ShapeError, FormatError …; a disagreement is a verdict, never an exception.

    >>> import lastbit as lb, numpy as np
    >>> rng = np.random.default_rng(7)
    >>> a, b = (lb.quantize(rng.standard_normal(s), "bf16") for s in [(16, 256), (256, 8)])
    >>> d = (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype)
    >>> lb.check(a, b, d, contract="m16-tc").verdict
    'PASS'
    """
    return Result(judge(a, b, actual, c, unit=unit, contract=contract, on=on, in_=in_, in_b=in_b, acc=acc, out=out,
                        transpose_b=transpose_b, nan=nan, reference=reference, sample=sample, seed=seed, timeout=timeout,
                        max_outliers=max_outliers, power=power, allow_blind=allow_blind).record)


def grade(actual: Any, reference: Any, contract: ContractName | str | Contract = "m16-tc", *, k: int,
          format: FormatName | Format | None = None, max_outliers: int = 16, power: bool = False,
          allow_blind: Iterable[str] = ()) -> Result:
    """Compare two matrices of one format under a contract. ``k``: the reduction depth that the kernel ran.

    Shapes: both [m, n]. ``format`` where they hold plain codes. ``power``, ``allow_blind``: as :func:`check`. Raises ShapeError, FormatError, UnknownNameError, ArgumentError.

    >>> import lastbit as lb, numpy as np
    >>> r = lb.quantize([[1.0, 2.0, 3.0]], "bf16")
    >>> d = r.view(np.uint16).copy(); d[0, 2] += 3
    >>> lb.grade(d, r, k=16, format="bf16").counts["wrong"]
    1
    """
    said = _format(format)
    want = operand(reference, said, "reference")
    got = operand(actual, said or want.format, "actual")
    if got.array.shape != want.array.shape:
        raise error(lb_status.E_SHAPE, f"actual is {list(got.array.shape)}; reference is {list(want.array.shape)}", "actual")
    rule = find_contract(contract) if isinstance(contract, str) else contract
    codes = np.ascontiguousarray(got.array)
    options = lb_block_options(reference=want.mat, actual=codes.ctypes.data, actual_bytes=codes.nbytes, contract=rule._row, k=float(k),
                               max_outliers=max_outliers, power=power)
    allowed = _allowed(options, allow_blind)  # kept until the call returns
    record = POINTER(lb_record)()
    call("lb_grade_block", byref(options), ctypes.cast(byref(record), POINTER(ctypes.c_void_p)))
    del allowed
    return Result(record)


def replay(path: str | os.PathLike[str]) -> Result:
    """Replay a recording of a GPU (safetensors, dot/1) against the model of its unit, word for word. Raises FileError."""
    record = POINTER(lb_record)()
    call("lb_replay", encode(path, "path"), ctypes.cast(byref(record), POINTER(ctypes.c_void_p)))
    return Result(record)


def _allowed(options: lb_check_options | lb_block_options, names: Iterable[str]) -> Any:
    """Put names into the options; what is returned must live as long as the options are used."""
    words = [encode(name, "a fault's name") for name in names]
    array = (ctypes.c_char_p * len(words))(*words)
    options.allow_blind, options.allow_blind_count = ctypes.cast(array, ctypes.c_void_p), len(words)
    return array


def _choice(said: str, names: tuple[str, ...], what: str) -> int:
    if said not in names:
        raise error(lb_status.E_ARG, f"{said!r} is not known; there are {', '.join(names)}", what)
    return names.index(said)


find_contract = contract  # check and grade have an argument of that name
