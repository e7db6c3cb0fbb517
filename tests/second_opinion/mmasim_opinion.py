#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every unit that MMA-Sim models too (PyPI: mmasim), against its answers: directed and seeded dots.

usage: tests/second_opinion/mmasim_opinion.py [VECTORS]     VECTORS a unit and kind of input (default 25000)

Prints a line a unit that differs, by kind of input, and the first difference in bits; docs/disagreements.md says which are known and
why. Exit 1 if a unit differs where the page knows of nothing. Without mmasim: SKIP and the reason. mmasim wants torch, of which PyPI has
only CUDA builds for Linux (5 GB); it runs on the CPU.
"""
import ctypes
import sys
from collections import Counter

import numpy as np

try:
    import torch
    from mmasim.amd import MFMA
    from mmasim.amd.isa_mfma import arch_mfma_suffix
    from mmasim.nv_ptx import MMA, WGMMA, MMABlockScale, TCGen05MMA, TCGen05MMABlockScale
except Exception as why:  # it compiles code when it is imported: anything can go wrong there
    print(f"SKIP second opinion of mmasim: {type(why).__name__}: {str(why).splitlines()[0] if str(why) else ''}; pip install mmasim")
    sys.exit(0)

import lastbit as lb
from lastbit._library import call

ARCHITECTURES = {"sm_70": "Volta", "sm_75": "Turing", "sm_80": "Ampere", "sm_89": "Ada Lovelace", "sm_90": "Hopper", "sm_100": "Blackwell",
                 "sm_120": "RTX Blackwell", "gfx908": "CDNA1", "gfx90a": "CDNA2", "gfx942": "CDNA3"}
TORCH = {"f64": torch.float64, "f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
         "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e4m3fnuz": torch.float8_e4m3fnuz, "e5m2fnuz": torch.float8_e5m2fnuz,
         "e3m2": torch.uint8, "e2m3": torch.uint8, "e2m1": torch.uint8}
SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

# Differences that docs/disagreements.md explains: (kinds of input, which units), by the edge that they are of.
KNOWN = {
    "D5": "the sign of a sum that rounds to zero: theirs is always +0",
    "D6": "NaN bits where ours are not theirs",
    "lost NaN": "an operand is NaN; theirs is a number",
}


def theirs_of(unit):
    """MMA-Sim's operation for this unit, or None."""
    arch, _, rest = unit.name.partition("/")
    kind, _, shape = rest.partition(".")
    try:
        if unit.scale_block:
            head, *formats = shape.split(".mx")[0].split(".")
            scaled = shape.split(".mx")[1].split(".")[0]
            names = [head, f"kind::mx{scaled}", f"block{unit.scale_block}", *formats, shape.split(".")[-1]]
            return (MMABlockScale if kind == "mma" else TCGen05MMABlockScale)(ARCHITECTURES[arch], ".".join(names))
        if kind == "mma":
            if any(f in shape for f in ("e3m2", "e2m3", "e2m1")):
                shape = shape.replace(".", ".kind::f8f6f4.", 1)
            return MMA(ARCHITECTURES[arch], shape)
        if kind == "wgmma":
            return WGMMA(ARCHITECTURES[arch], shape)
        if kind == "tcgen05":
            formats = shape.split(".", 1)[1]
            k = "tf32" if "tf32" in formats else "f16" if unit.a.bits == 16 else "f8f6f4"
            return TCGen05MMA(ARCHITECTURES[arch], shape.replace(".", f".kind::{k}.", 1))
    except (AssertionError, KeyError):
        return None
    return mfma_of(unit, arch) if kind == "mfma" else None


def mfma_of(unit, arch):
    """The first of MMA-Sim's MFMA that has our shape and formats; they name the number of blocks too, which the sums do not show."""
    if unit.a.name not in TORCH:
        return None
    for suffix in arch_mfma_suffix[ARCHITECTURES[arch]]:
        operation = MFMA(ARCHITECTURES[arch], suffix)
        formats = (operation.a_type, operation.b_type) == (TORCH[unit.a.name], TORCH[unit.b.name])
        same = suffix.endswith("_1k") == unit.name.endswith(".1k") and suffix.endswith("xf32") == (unit.a.name == "tf32")
        if (operation.m, operation.n, operation.k) == (unit.m, unit.n, unit.k) and formats and same:
            return operation
    return None


def draws(unit, kind, n, rng):
    """Codes a, b [n][k], c [n] of one kind."""
    k = unit.k
    a, b = (np.zeros((n, k), f.codes_dtype) for f in (unit.a, unit.b))
    c = np.zeros(n, unit.c.codes_dtype)
    for x, f in ((a, unit.a), (b, unit.b), (c, unit.c)):
        if kind == "normal":
            codes = lb.quantize(rng.standard_normal(x.shape), f, overflow="saturate", as_codes=True)
        elif kind == "wide":  # exponents over 24 binades around 1
            values = rng.standard_normal(x.shape) * 2.0 ** rng.integers(-12, 12, x.shape)
            codes = lb.quantize(values, f, overflow="saturate", as_codes=True)
        else:  # bits: any finite code; special: any code
            codes = rng.integers(0, 2**f.bits, x.shape, dtype=np.uint64).astype(f.codes_dtype)
            if f.name == "tf32":
                codes &= np.uint32(0xFFFFE000)
            if kind == "bits":
                codes = np.where(np.isfinite(lb.decode(codes, f)), codes, codes.dtype.type(0))
        x[...] = codes
    c[rng.random(n) < 0.25] = 0
    return a, b, c


def draw_scales(unit, n, rng):
    """Scale codes [n][k / block] of A and B: near one, any at all now and then."""
    shape = (n, unit.k // unit.scale_block)
    near = lb.quantize(2.0 ** rng.integers(-3, 4, (2, *shape)), unit.scale, as_codes=True)
    wild = rng.integers(0, 256, (2, *shape)).astype(np.uint8)
    return np.where(rng.random((2, *shape)) < 0.05, wild, near)


def ours(unit, a, b, c, scales=None):
    if scales is not None:
        return np.array([unit.gemm(a[i:i + 1], b[i][:, None], c[i:i + 1, None], scale_a=scales[0][i:i + 1], scale_b=scales[1][i][:, None])
                         .view(unit.d.codes_dtype)[0, 0] for i in range(len(c))])
    d = np.zeros(len(c), unit.d.codes_dtype)
    a, b, c = (np.ascontiguousarray(x) for x in (a, b, c))
    call("lb_dot_batch", ctypes.byref(unit._row), a.ctypes.data, b.ctypes.data, c.ctypes.data, d.ctypes.data, len(c))
    return d


def tensor(codes, f):
    if f.name == "e2m1":  # in bits 5 to 2 of its byte, as PTX's f8f6f4 has it
        codes = codes << 2
    whole = torch.from_numpy(codes.view(f"i{codes.itemsize}").copy())
    return whole.view(TORCH[f.name]) if TORCH[f.name] is not torch.uint8 else whole.view(torch.uint8)


def theirs(operation, unit, a, b, c, scales=None):
    if scales is None:
        d = operation.dpa(tensor(a, unit.a), tensor(b, unit.b), tensor(c, unit.c))
    else:
        factors = [torch.from_numpy(x.copy()).view(torch.float8_e8m0fnu if unit.scale.name == "e8m0" else torch.float8_e4m3fn) for x in scales]
        packed = unit.k == 64  # two fp4 a byte, the first in the high half
        x, y = (torch.from_numpy(v[:, 0::2] << 4 | v[:, 1::2]) if packed else tensor(v, f) for v, f in ((a, unit.a), (b, unit.b)))
        d = operation.dpa(x, y, tensor(c, unit.c), *factors)
    return d.view(SIGNED[d.element_size()]).numpy().view(unit.d.codes_dtype)


def kind_of_difference(unit, operands, x, y):
    """The edge that explains it, or None."""
    f = unit.d
    if any(np.isnan(lb.decode(v, g)).any() for v, g in operands if v is not None) and np.isnan(lb.decode(np.array([x]), f)[0]):
        if not np.isnan(lb.decode(np.array([y]), f)[0]):
            return "lost NaN"
    sign = f.codes_dtype.type(1 << (f.bits - 1))
    if x & ~sign == 0 and y & ~sign == 0:
        return "D5"
    if np.isnan(lb.decode(np.array([x, y], f.codes_dtype), f)).all():
        return "D6"
    return None


def main():
    vectors = int(sys.argv[1]) if len(sys.argv) > 1 else 25000
    units = compared = 0
    total, unexplained = Counter(), 0
    for unit in lb.units():
        operation = None if unit.evidence == "open" or unit.sparse_group else theirs_of(unit)
        if operation is None or unit.a.bits == 64:
            continue
        units += 1
        for kind in ("normal", "wide", "bits", "special"):
            rng = np.random.default_rng([units, len(kind)])
            count = vectors // 8 if unit.scale_block else vectors  # ours goes one by one there
            a, b, c = draws(unit, kind, count, rng)
            scales = draw_scales(unit, count, rng) if unit.scale_block else None
            x, y = ours(unit, a, b, c, scales), theirs(operation, unit, a, b, c, scales)
            compared += len(x)
            places = np.nonzero(x != y)[0]
            def edge(i):
                return kind_of_difference(unit, ((a[i], unit.a), (b[i], unit.b), (c[i:i + 1], unit.c)), x[i], y[i])
            edges = Counter(map(edge, places))
            total += edges
            if edges[None]:
                unexplained += 1
                i = next(i for i in places if edge(i) is None)
                print(f"DIFFERS {unit.name} {kind}: {edges[None]} of {len(x)}; the first: ours 0x{int(x[i]):x}, theirs 0x{int(y[i]):x}")
                print("  a", " ".join(f"{int(v):x}" for v in a[i]))
                print("  b", " ".join(f"{int(v):x}" for v in b[i]))
                print(f"  c {int(c[i]):x}")
    known = ", ".join(f"{count} by {edge} ({KNOWN[edge]})" for edge, count in sorted(total.items(), key=str) if edge)
    print(f"{units} units, {compared} dots: {known or 'no known difference'}; {unexplained} unexplained")
    return 1 if unexplained or not units else 0


sys.exit(main())
