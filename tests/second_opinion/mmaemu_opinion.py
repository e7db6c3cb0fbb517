#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whole FP8 products with cuBLASLt's schedules, against mmaemu (PyPI), whose presets were validated on an H100 PCIe and an RTX 4060.

usage: tests/second_opinion/mmaemu_opinion.py [LASTBIT]     LASTBIT the command (default: build/release/lastbit)

A line for each preset that agrees, with how many elements were compared; a line for each plan and kind of input that differs, with the first
difference. Exit 1 if something differs that docs/disagreements.md does not know of. Without mmaemu or torch: SKIP and the reason.
"""
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

try:
    import torch
    from mmaemu.backends.reference import REFERENCE
    from mmaemu.model.plan import execute_plan, make_plan
    from mmaemu.model.presets import get_preset
except Exception as why:
    print(f"SKIP second opinion of mmaemu: {type(why).__name__}: {str(why).splitlines()[0] if str(why) else ''}; pip install mmaemu")
    sys.exit(0)

KNOWN = {"b200_mma_sync": "one block of 32 there, two of 16 here, as recorded"}  # presets that docs/disagreements.md explains
LASTBIT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "build/release/lastbit").resolve()
M, N = 32, 24
SIZES = (96, 1000)
KINDS = ("normal", "wide", "bits", "special")
NAN = {"e4m3": lambda x: (x & 0x7F) == 0x7F, "e5m2": lambda x: (x & 0x7F) >= 0x7C}
PLANS = {  # preset: unit, then (fast, parts, scheme, our schedule)
    "ada": ("sm_89/mma.m16n8k32.f32.{}.{}.f32", [(True, 1, "none", "plain"), (False, 1, "none", "promote=128")] + [
        (fast, s, scheme, f"cublaslt-ada-split-k{suffix},split-k={s}")
        for s in (2, 3, 4, 7) for fast, scheme, suffix in ((True, "serial", ""), (True, "pairwise", "-slots"), (False, "serial", "-slow"))]),
    "hopper": ("sm_90/wgmma.m64n8k32.f32.{}.{}", [(True, 1, "none", "plain"), (False, 1, "none", "promote=128")] + [
        (fast, s, "contiguous", f"cublaslt-hopper-split-k{suffix},split-k={s}") for s in (2, 3, 5) for fast, suffix in ((True, ""), (False, "-slow"))]),
    "b200_mma_sync": ("sm_100/mma.m16n8k32.f32.{}.{}.f32", [(True, 1, "none", "plain")]),
}


def draws(kind, shape, fmt, rng):
    """Codes of one kind; special: any code, now and then."""
    if kind in ("bits", "special"):
        codes = rng.integers(0, 256, shape, dtype=np.uint8)
        keep = rng.random(shape) < 0.002 if kind == "special" else np.zeros(shape, bool)
        return np.where(NAN[fmt](codes) & ~keep, np.uint8(0x38), codes)
    x = rng.standard_normal(shape) * (2.0 ** rng.integers(-6, 7, shape) if kind == "wide" else 1.0)
    dtype = torch.float8_e4m3fn if fmt == "e4m3" else torch.float8_e5m2
    codes = torch.from_numpy(x).to(torch.float32).clamp(-448, 448).to(dtype).view(torch.uint8).numpy()
    return np.where(NAN[fmt](codes), np.uint8(0), codes)


def theirs(a, b, formats, preset, fast, parts, scheme):
    plan = make_plan(a.shape[1], fast=fast, S=parts, scheme=scheme, preset=preset)

    class Request:
        fmt_a, fmt_b = formats
        device = None
    Request.preset = get_preset(preset, warn=False)
    out = execute_plan(plan, torch.from_numpy(a), torch.from_numpy(b), fmt_a=formats[0], fmt_b=formats[1], chain_fn=REFERENCE.chain_fn(Request))
    return out.numpy().view(np.uint32)


def ours(folder, a, b, formats, unit, schedule):
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    subprocess.run([LASTBIT, "gemm", unit, folder / "a.npy", folder / "b.npy", "--tb", "--in", formats[0], "--in-b", formats[1], "--schedule",
                    schedule, "-o", folder / "d.npy"], check=True)
    return np.load(folder / "d.npy").view(np.uint32)


def main():
    warnings.simplefilter("ignore")  # mmaemu's own, that a preset is experimental
    bad = 0
    rng = np.random.default_rng(20261130)
    with tempfile.TemporaryDirectory() as scratch:
        for preset, (pattern, plans) in PLANS.items():
            compared, plans_run, counts = 0, 0, Counter()
            for formats in (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")):
                unit = pattern.format(*formats)
                for fast, parts, scheme, schedule in plans:
                    plans_run += 1
                    for kind in KINDS:
                        for k in SIZES:
                            a, b = draws(kind, (M, k), formats[0], rng), draws(kind, (N, k), formats[1], rng)
                            x, y = ours(Path(scratch), a, b, formats, unit, schedule), theirs(a, b, formats, preset, fast, parts, scheme)
                            compared += x.size
                            for at in np.argwhere(x != y)[:1]:
                                counts[(schedule, kind)] += 1
                                if counts[(schedule, kind)] == 1:
                                    print(f"{'known' if preset in KNOWN else 'FAIL'} {unit} {schedule}, {kind}, k={k}: {np.count_nonzero(x != y)} of {x.size} differ, at "
                                          f"{at[0]},{at[1]} {x[tuple(at)]:08x} here, {y[tuple(at)]:08x} in mmaemu's {preset}")
            bad += len(counts) if preset not in KNOWN else 0
            word = "ok" if not counts else f"known ({KNOWN[preset]})" if preset in KNOWN else "FAIL"
            print(f"{word}   {preset}: {compared} elements of {plans_run} plans compared, {pattern.format('*', '*')}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
