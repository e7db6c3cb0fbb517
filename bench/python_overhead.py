#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the way through Python costs: lb.unit(…).gemm(a, b, out=out) against the bare C call, taken in turn, medians.

usage: bench/python_overhead.py [SIZE [UNIT]]      default: 1024 sm_80/mma.m16n8k16.f32.f16.f16.f32

Prints one line; exit 1 if the way through Python takes more than 3 % longer.
"""
import ctypes
import statistics
import sys
import time

import lastbit as lb
import numpy as np
from lastbit._abi import lb_gemm_options
from lastbit._arrays import operand
from lastbit._library import call

size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
unit = lb.unit(sys.argv[2] if len(sys.argv) > 2 else "sm_80/mma.m16n8k16.f32.f16.f16.f32")
rng = np.random.default_rng(1)
a, b = (lb.quantize(rng.standard_normal((size, size)), f) for f in (unit.a, unit.b))
out = np.zeros((size, size), unit.d.dtype)
x, y, d = operand(a, unit.a, "a"), operand(b, unit.b, "b"), operand(out, unit.d, "out")
options = lb_gemm_options(threads=1)
arguments = [ctypes.byref(v) for v in (unit._row, x.mat, y.mat)], [ctypes.byref(d.mat), ctypes.byref(options)]
ways = {"C": lambda: call("lb_gemm", *arguments[0], None, *arguments[1]), "Python": lambda: unit.gemm(a, b, out=out, threads=1)}
times = {name: [] for name in ways}
for turn in range(7):
    for name, way in ways.items():
        start = time.perf_counter()
        way()
        times[name].append(time.perf_counter() - start)
medians = {name: statistics.median(t[1:]) for name, t in times.items()}
ratio = medians["Python"] / medians["C"]
print(f"{unit.name} {size}^3, one thread: C {medians['C'] * 1e3:.2f} ms, Python {medians['Python'] * 1e3:.2f} ms, ratio {ratio:.4f}")
sys.exit(ratio > 1.03)
