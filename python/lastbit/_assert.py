# SPDX-License-Identifier: MIT OR Apache-2.0
"""The gate for a test: raises unless something was compared and all of it is exact or legal, and leaves what reruns it."""
from __future__ import annotations

import ctypes
import os
import re
import shlex
import zlib
from collections.abc import Iterable
from ctypes import byref
from pathlib import Path
from typing import Any

from ._abi import lb_record, lb_verdict
from ._arrays import Operand
from ._formats import Format
from ._library import call, encode, library
from ._names import ContractName, FormatName
from ._results import Contract, Judged, Result, judge
from ._units import Unit


class Mismatch(AssertionError):
    """An output is not within its contract, or nothing proves that it is. ``result`` has the record."""

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


class Session:
    """What the pytest plugin knows: where failures are left, which test runs, what was compared in it."""

    def __init__(self) -> None:
        self.folder = Path(os.environ.get("LASTBIT_DIR", ".lastbit"))
        self.begin("case")

    def begin(self, test: str) -> None:
        self.test = test
        self.results: list[Result] = []
        self.failures = 0

    def case_folder(self) -> Path:
        """One folder a failure: the test's name as a file can be called, numbered from the second on."""
        name = re.sub(r"[^\w.]+", "-", self.test).strip("-.") or "case"
        if len(name) > 120:  # file names end at 255 bytes
            name = f"{name[:110]}-{zlib.crc32(self.test.encode()):08x}"
        self.failures += 1
        return self.folder / (name if self.failures == 1 else f"{name}-{self.failures}")


session = Session()


def assert_within(actual: Any, a: Any, b: Any, c: Any = None, *, contract: ContractName | str | Contract | None = None,
                  unit: str | Unit | None = None, in_: FormatName | Format | None = None, in_b: FormatName | Format | None = None,
                  acc: FormatName | Format | None = None, out: FormatName | Format | None = None, transpose_b: bool = False,
                  nan: str = "bits", reference: str = "auto", sample: int = 0, seed: int = 1, power: bool = False,
                  allow_blind: Iterable[str] = ()) -> Result:
    """Raise Mismatch unless ``actual`` = A B + C is within ``contract``, or has ``unit``'s bits, or (both) each element is one of the two.

    Shapes, formats and options: as :func:`lastbit.check`. An output of which nothing could be compared raises too, and with ``power`` a contract that is
    blind to a fault. The message names
    element, bits, bound and counts; operands and output are left in a folder under ``.lastbit`` (pytest: ``--lastbit-dir``; elsewhere
    the variable LASTBIT_DIR), with the command that judges them again. Returns the Result.

    >>> import lastbit as lb, numpy as np
    >>> a, b = np.float16([[1, 2]]), np.float16([[3], [4]])
    >>> lb.assert_within(np.float32([[11]]), a, b, unit="sm_80/mma.m16n8k16.f32.f16.f16.f32").counts["exact"]
    1
    """
    __tracebackhide__ = True
    blind = list(allow_blind)
    judged = judge(a, b, actual, c, unit=unit, contract=contract, on=None, in_=in_, in_b=in_b, acc=acc, out=out,
                   transpose_b=transpose_b, nan=nan, reference=reference, sample=sample, seed=seed, timeout=60.0, max_outliers=16,
                   power=power, allow_blind=blind)
    passed = judged.record.contents.verdict == lb_verdict.PASS
    saved = "" if passed else _save(judged, transpose_b, nan, reference, sample, seed, power, blind)
    result = Result(judged.record)
    session.results.append(result)
    if not passed:
        raise Mismatch(result.brief() + saved, result)
    return result


def _save(judged: Judged, transpose_b: bool, nan: str, reference: str, sample: int, seed: int, power: bool, blind: list[str]) -> str:
    """Leave the case, put the command into the record, and say both. Where the disk refuses, say that instead."""
    folder = session.case_folder()
    files = [(name, x) for name, x in (("A", judged.a), ("B", judged.b), ("C", judged.c), ("D", judged.actual)) if x is not None]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = session.folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        for name, x in files:
            call("lb_mat_write", encode(folder / f"{name}.safetensors", "folder"), name.lower().encode(), byref(x.mat))
    except OSError as e:
        return f"  not saved  {e}\n"
    command = _command(judged, {name: (folder / f"{name}.safetensors", x) for name, x in files}, transpose_b, nan, reference, sample, seed)
    command += (" --power" if power else "") + "".join(f" --allow-blind {shlex.quote(name)}" for name in blind)
    field = ctypes.addressof(judged.record.contents) + lb_record.rerun.offset
    library.lb_record_text(ctypes.c_void_p(field), b"%s", command.encode())
    return f"  rerun      {command}\n"


def _command(judged: Judged, files: dict[str, tuple[Path, Operand]], transpose_b: bool, nan: str, reference: str, sample: int,
             seed: int) -> str:
    words = ["lastbit", "check", *(str(files[name][0]) for name in ("A", "B", "C") if name in files), "--actual", str(files["D"][0])]
    for option, name in (("--in", "A"), ("--in-b", "B"), ("--acc", "C"), ("--out", "D")):
        if name in files:
            words += [option, files[name][1].format.name]
    if judged.unit:
        words += ["--unit", judged.unit.name]
    if judged.contract:
        words += ["--contract", judged.contract.spec]
    if transpose_b:
        words.append("--tb")
    for option, value, default in (("--nan", nan, "bits"), ("--reference", reference, "auto"), ("--sample", sample, 0), ("--seed", seed, 1)):
        if value != default:
            words += [option, str(value)]
    return shlex.join(words)
