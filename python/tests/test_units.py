# SPDX-License-Identifier: MIT OR Apache-2.0
"""Units from Python are the units of the C library: the same rows, the same bits, at the same speed."""
import ctypes
import json
import statistics
import subprocess
import threading
import time

import lastbit as lb
import numpy as np
import pytest
from lastbit._abi import lb_gemm_options
from lastbit._arrays import operand
from lastbit._library import call

F16 = "sm_80/mma.m16n8k16.f32.f16.f16.f32"


def command(*arguments):
    return subprocess.run(["lastbit", *map(str, arguments)], capture_output=True, text=True)


def test_the_table_is_that_of_the_command():
    rows = json.loads(command("units", "--json").stdout)
    assert [u.name for u in lb.units()] == [row["name"] for row in rows]
    assert [(u.evidence, u.source, u.a.name, u.d.name, u.k) for u in lb.units()] == [
        (row["evidence"], row["source"], row["a"], row["d"], row["k"]) for row in rows]


def test_an_unknown_unit_answers_with_the_nearest():
    with pytest.raises(lb.UnknownNameError, match=r"the nearest is sm_80/mma\.m16n8k16\.f32\.f16\.f16\.f32") as raised:
        lb.unit("sm_80/mma.m16n8k16.f32.f16.f16.f23")
    assert raised.value.status == "E_NAME" and isinstance(raised.value, LookupError)


@pytest.mark.parametrize("name", ["", "x" * 10000, "sm_80/\0", 7, None])
def test_a_name_that_is_none_is_one_line(name):
    with pytest.raises(lb.Error) as raised:
        lb.unit(name)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 1000


def test_an_open_row_runs_nothing_and_says_why():
    row = next(u for u in lb.units() if u.evidence == "open")
    with pytest.raises(lb.UnavailableError, match="open"):
        row.gemm(np.zeros((1, row.k), row.a.dtype), np.zeros((row.k, 1), row.b.dtype))


@pytest.mark.parametrize("unit", [u for u in lb.units() if u.evidence == "recorded"], ids=lambda u: u.name)
def test_gemm_is_the_chain_of_dots_and_the_command_s_product(unit, tmp_path):
    rng = np.random.default_rng(3)
    m, k, n = 3, 2 * unit.k + 3, 2
    a, b = lb.quantize(rng.standard_normal((m, k)), unit.a), lb.quantize(rng.standard_normal((k, n)), unit.b)
    c = lb.quantize(rng.standard_normal((m, n)), unit.c)
    d = unit.gemm(a, b, c)
    assert d.dtype == unit.d.dtype
    x, y = a.view(unit.a.codes_dtype), b.view(unit.b.codes_dtype)
    for i in range(m):
        for j in range(n):
            acc = int(c.view(unit.c.codes_dtype)[i, j])
            for at in range(0, k, unit.k):
                acc = unit.dot(x[i, at:at + unit.k], y[at:at + unit.k, j], acc)
            assert acc == d.view(unit.d.codes_dtype)[i, j]
    files = [tmp_path / f"{name}.npy" for name in "ABCD"]
    for file, codes in zip(files, (x, y, c.view(unit.c.codes_dtype))):
        np.save(file, codes)
    done = command("gemm", unit.name, *files[:3], "-o", files[3])
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(files[3]).view(unit.d.codes_dtype), d.view(unit.d.codes_dtype))


def test_mma_takes_the_shape_of_the_instruction_alone():
    unit = lb.unit(F16)
    a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
    assert (unit.mma(a, b) == 16).all()
    with pytest.raises(lb.ShapeError, match="one tile takes 16x16 and 16x8"):
        unit.mma(a[:8], b)


def test_empty_products_are_what_they_are():
    unit = lb.unit(F16)
    assert unit.gemm(np.zeros((0, 4), np.float16), np.zeros((4, 3), np.float16)).shape == (0, 3)
    c = np.float32([[1.5, -0.0]])
    assert np.array_equal(unit.gemm(np.zeros((1, 0), np.float16), np.zeros((0, 2), np.float16), c), c)


def test_the_gil_is_free_during_a_product():
    unit, a = lb.unit(F16), np.ones((256, 512), np.float16)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0002)
    ticker = threading.Thread(target=tick)
    ticker.start()
    time.sleep(0.01)
    start = time.perf_counter()
    while time.perf_counter() - start < 0.2:
        before = time.perf_counter()
        unit.gemm(a, a.T, threads=1)
        after = time.perf_counter()
    stop.set()
    ticker.join()
    assert any(before < t < after for t in ticks), "nothing else ran while the library did"


def medians(functions, seconds=1.5):
    """The median time of each, taken in turn."""
    times = [[] for _ in functions]
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times[0]) < 5:
        for function, found in zip(functions, times):
            before = time.perf_counter()
            function()
            found.append(time.perf_counter() - before)
    return [statistics.median(t) for t in times]


def test_the_way_through_python_costs_microseconds():
    """What gemm adds to the C call is fixed: seen on a product that takes no time itself. Against 1024^3, which takes tens of
    milliseconds at best, it is far below 3 % (measured whole in bench/python_overhead.py)."""
    unit = lb.unit(F16)
    a, b, out = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16), np.zeros((16, 8), np.float32)
    x, y, d = operand(a, unit.a, "a"), operand(b, unit.b, "b"), operand(out, unit.d, "out")
    options = lb_gemm_options(threads=1)

    def raw():
        call("lb_gemm", ctypes.byref(unit._row), ctypes.byref(x.mat), ctypes.byref(y.mat), None, ctypes.byref(d.mat), ctypes.byref(options))
    through_c, through_python = medians([raw, lambda: unit.gemm(a, b, out=out, threads=1)], 0.5)
    assert through_python - through_c < 300e-6
