# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the cross-checks share: their inputs, and docs/crosscheck-formats.md, whose rows they hold to what they find."""
import re
from pathlib import Path

import numpy as np

import lastbit as lb

PAGE = Path(__file__).parents[2] / "docs" / "crosscheck-formats.md"
RANDOM_WORDS = 100_000


def words(bits, count, seed):
    """Seeded random bit patterns by splitmix64: the same on every machine and under every version of NumPy."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed << 32)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(64 - bits)


def codes_of(f):
    """Every code of a format up to 16 bits; of a wider one those beside each power of two and each exponent, and random ones."""
    if f.bits <= 16:
        return np.arange(2**f.bits).astype(f.codes_dtype)
    powers = np.uint64(1) << np.arange(f.bits, dtype=np.uint64)
    exponents = np.arange(2 ** (f.exp_bits + 1), dtype=np.uint64) << np.uint64(f.bits - 1 - f.exp_bits)
    edges = np.concatenate([powers, exponents])
    edges = np.concatenate([edges, edges - np.uint64(1), edges + np.uint64(1)]) & np.uint64(2**f.bits - 1)
    return np.concatenate([edges, words(f.bits, 20_000, 1)]).astype(f.codes_dtype)


def spread(f, count):
    """Random float64 values over the exponents of a format, and a little past both ends."""
    low, high = np.log2(f.min) - 3, np.log2(f.max) + 2
    draws = words(64, count, 2)
    exponents = np.floor(low + (draws & np.uint64(1023)) * (high - low) / 1024).astype(int)
    magnitudes = np.ldexp(1 + (draws >> np.uint64(12)) * 2.0**-52, exponents)
    return np.where(words(1, count, 3) == 1, -magnitudes, magnitudes)


def inputs(f, source):
    """Values to round into ``f``, in the dtype of ``source``: those of ``f``, the midpoints between neighbours, the float64
    neighbours of all these, zeros, the boundary of overflow, Inf, NaN; random values of its range, bit patterns of the source."""
    own = lb.decode(codes_of(f), f)
    finite = np.unique(own[np.isfinite(own)])
    with np.errstate(over="ignore"):
        middle = finite[:-1] / 2 + finite[1:] / 2
        step = finite[-1] - finite[-2]
        edges = np.array([finite[-1] + step / 2, finite[-1] + step, finite[-1] * 2, f.min / 2, f.min / 4, 5e-324, 1e-300, 1e300])
        exact = np.unique(np.concatenate([finite, middle, edges, -edges]))
        exact = np.concatenate([exact, np.nextafter(exact, np.inf), np.nextafter(exact, -np.inf)])
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan])
    row = lb.formats[source]
    patterns = words(row.bits, RANDOM_WORDS, 4).astype(row.codes_dtype).view(row.dtype)
    return np.concatenate([lb.quantize(np.concatenate([exact, specials, spread(f, RANDOM_WORDS)]), source), patterns])


def same(x, y):
    """Equal float64 bit for bit, signs of zeros too; NaN is NaN, whatever its bits."""
    return (x.view(np.uint64) == y.view(np.uint64)) | (np.isnan(x) & np.isnan(y))


def first(x, f, theirs, expected):
    """What a failure says: how many words, and the first few."""
    bad = np.flatnonzero(theirs != expected)
    shown = [f"{float(x[i]).hex()} to {f.name}: theirs {int(theirs[i]):#x}, expected {int(expected[i]):#x}" for i in bad[:5]]
    return f"{bad.size} words: " + "; ".join(shown)


def rows_of(library):
    """One library's table of the page: {id: {column: text}}."""
    section = re.search(rf"^## {re.escape(library)}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in section[1].splitlines() if line.startswith("|")]
    return {cells[0]: dict(zip(lines[0], cells)) for cells in lines[2:]}


def words_on_page(library, format):
    """{id: words that differ} of the rows that list a format; their column reads `e4m3 12, e5m2 3`."""
    listed = {id: dict(item.split() for item in row["formats, words"].split(", ")) for id, row in rows_of(library).items()
              if row["formats, words"]}
    return {id: int(row[format]) for id, row in listed.items() if format in row}


def examples(library):
    """[(id, x, format, options, theirs, ours)] of the rows, whose examples read `f64 0x1.8p+0 e8m0 …`."""
    found = []
    for id, row in rows_of(library).items():
        source, value, format, *options = row["example"].strip("`").split()
        x = np.array([float.fromhex(value)]).astype(lb.formats[source].dtype)  # not by us, who would lose the sign of NaN
        found.append((id, x, lb.formats[format], options, int(row["theirs"], 16), int(row["ours"], 16)))
    return found
