# SPDX-License-Identifier: MIT OR Apache-2.0
"""pytest: where failures are left, a report of every comparison, and no green light where nothing was compared.

    --lastbit-report FILE    every record as a line of JSON, with the test's name under "test"; also under xdist
    --lastbit-dir DIR        where a failing case and its operands are left (default .lastbit)
    @pytest.mark.lastbit     this test fails if it compared nothing
"""
from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ._assert import session

NOTHING = "nothing was compared: a test marked `lastbit` calls lb.assert_within at least once"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lastbit", "are a kernel's bits right?")
    group.addoption("--lastbit-report", metavar="FILE", help="write every comparison's record as a line of JSON")
    group.addoption("--lastbit-dir", metavar="DIR", help="where failing cases are left (default: .lastbit)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "lastbit: fails if the test compared nothing")
    folder = config.getoption("--lastbit-dir")
    if folder:
        session.folder = Path(folder)
    if not hasattr(config, "workerinput"):  # not a worker of xdist
        config.pluginmanager.register(Collector(config.getoption("--lastbit-report")), "lastbit-collector")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    session.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    outcome = yield
    if item.get_closest_marker("lastbit") and not session.results:
        pytest.fail(NOTHING, pytrace=False)
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "teardown":  # setup, call and fixtures' ends may all have compared something
        report.lastbit = [json.loads(result.to_json()) | {"test": item.nodeid} for result in session.results]
    return report


class Collector:
    """Gathers the records of all tests, from here or from the workers of xdist, and writes them at the end."""

    def __init__(self, path: str | None):
        self.path = Path(path) if path else None
        self.records: list[dict[str, Any]] = []
        if self.path and not os.access(self.path.parent, os.W_OK):
            raise pytest.UsageError(f"--lastbit-report {self.path}: the folder {self.path.parent} is not there or not writable")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.records += getattr(report, "lastbit", [])

    def pytest_sessionfinish(self) -> None:
        if self.path:
            part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
            part.write_text("".join(json.dumps(record, allow_nan=False) + "\n" for record in self.records), encoding="utf-8")
            part.replace(self.path)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.records:
            return
        verdicts = Counter(record["verdict"] for record in self.records)
        elements = sum(record["counts"]["compared"] for record in self.records)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        where = f"; report: {self.path}" if self.path else ""
        terminalreporter.write_line(f"lastbit: {len(self.records)} comparisons, {elements} elements: {counts}{where}")
