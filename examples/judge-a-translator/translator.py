#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A little translator of PTX into Python, to be judged: it takes a few dozen operations, and gets five of them wrong.

usage: translator.py FOLDER        reads FOLDER/in.safetensors (a recording op/1 without outputs), writes FOLDER/out.safetensors
       translator.py --repaired FOLDER    the same without the five faults

The faults are of the kinds that translators have: a comparison that is true of NaN, a lane of a shuffle, the order of a packed
conversion, a rounding mode, the sign of a zero. Search for FAULT.
"""
import json
import math
import re
import struct
import sys

REPAIRED = "--repaired" in sys.argv
M32 = 0xFFFFFFFF
NAN = 0x7FFFFFFF


# ---- floats as words -------------------------------------------------------------------------------------------------------


def value(word):
    return struct.unpack("<f", struct.pack("<I", word))[0]


def f32(x):
    """The nearest f32 of a double; sums and products of two f32 lose nothing on the way."""
    if math.isnan(x):
        return NAN
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return 0x7F800000 | (0x80000000 if x < 0 else 0)


def toward_zero(x):
    """The f32 next to x that is no larger in magnitude."""
    word = f32(x)
    if math.isnan(x) or math.isinf(x) or abs(value(word)) <= abs(x):
        return word
    return word - 1


def sum_of(a, b):
    """a + b rounded toward zero: the rounding error tells whether the double is on the right side."""
    x, y = value(a), value(b)
    s = x + y
    if math.isnan(s) or math.isinf(s):
        return f32(s)
    big, small = (x, y) if abs(x) >= abs(y) else (y, x)
    lost = small - (s - big)
    if lost and (lost < 0) == (s > 0):
        s = math.nextafter(s, 0)
    return toward_zero(s)


def bf16(word):
    if math.isnan(value(word)):
        return 0x7FFF
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16


def f16(word):
    x = value(word)
    if math.isnan(x):
        return 0x7FFF
    try:
        return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:
        return 0x7C00 | (0x8000 if x < 0 else 0)


def is_nan(word):
    return word & 0x7FFFFFFF > 0x7F800000


def smaller(a, b):
    if is_nan(a) or is_nan(b):
        return NAN if is_nan(a) and is_nan(b) else (b if is_nan(a) else a)
    if value(a) == value(b):
        return a | b  # of two zeros the negative one
    return a if value(a) < value(b) else b


def signed(word):
    return word - (1 << 32) if word >> 31 else word


# ---- one lane: "spelling": function of the operands -------------------------------------------------------------------------

ORDERED = {"eq": lambda a, b: a == b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
LANE = {
    "add.rn.f32": lambda a, b: f32(value(a) + value(b)),
    "sub.rn.f32": lambda a, b: f32(value(a) - value(b)),
    "mul.rn.f32": lambda a, b: f32(value(a) * value(b)),
    "abs.f32": lambda a: a & 0x7FFFFFFF,
    "min.f32": smaller,
    "copysign.f32": lambda a, b: a & 0x80000000 | b & 0x7FFFFFFF,
    "cvt.rn.f16.f32": f16,
    "cvt.rn.bf16.f32": bf16,
    "cvt.rn.f16x2.f32": lambda a, b: f16(a) << 16 | f16(b),
    "selp.b32": lambda a, b, p: a if p else b,
    "add.s32": lambda a, b: a + b & M32,
    "mul.lo.u32": lambda a, b: a * b & M32,
    "mul.hi.s32": lambda a, b: signed(a) * signed(b) >> 32 & M32,
    "popc.b32": lambda a: bin(a).count("1"),
    "shl.b32": lambda a, n: a << n & M32 if n < 32 else 0,
    "shr.s32": lambda a, n: signed(a) >> min(n, 31) & M32,
    "lop3.b32": lambda a, b, c, table: sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32)),
    "ex2.approx.f32": lambda a: 0x7F800000 if value(a) > 128 else f32(2.0 ** value(a)),
}
for name, holds in ORDERED.items():
    LANE[f"setp.{name}.f32"] = lambda a, b, holds=holds: int(holds(value(a), value(b)))
    LANE[f"setp.{name}.s32"] = lambda a, b, holds=holds: int(holds(signed(a), signed(b)))

# FAULT: in Python NaN != NaN is true; setp.ne is ordered, and false there.
LANE["setp.ne.f32"] = lambda a, b: int(value(a) != value(b))
# FAULT: the first operand belongs into the high half.
LANE["cvt.rn.bf16x2.f32"] = lambda a, b: bf16(b) << 16 | bf16(a)
# FAULT: rounds to nearest where it is to cut.
LANE["add.rz.f32"] = lambda a, b: f32(value(a) + value(b))
# FAULT: 0 - 0 is +0; the negative of +0 is -0.
LANE["neg.f32"] = lambda a: a ^ 0x80000000 if is_nan(a) else f32(0.0 - value(a))

if REPAIRED:
    LANE["setp.ne.f32"] = lambda a, b: int(not is_nan(a) and not is_nan(b) and value(a) != value(b))
    LANE["cvt.rn.bf16x2.f32"] = lambda a, b: bf16(a) << 16 | bf16(b)
    LANE["add.rz.f32"] = sum_of
    LANE["neg.f32"] = lambda a: a ^ 0x80000000


# ---- a warp ------------------------------------------------------------------------------------------------------------------


def shuffle(lane_of):
    def run(a, b, c):
        words, inside = [], []
        for lane in range(32):
            segment = c[lane] >> 8 & 31
            least, most = lane & segment, lane & segment | c[lane] & 31 & ~segment
            source, ok = lane_of(lane, b[lane] & 31, least, most, segment)
            words.append(a[source if ok else lane])
            inside.append(int(ok))
        return words, inside

    return run


def down(lane, b, least, most, segment):
    return lane + b, lane + b <= most


def down_wrong(lane, b, least, most, segment):
    # FAULT: behind the last lane the count goes on at lane 0; the lane should keep its own word.
    return (lane + b) % 32, (lane + b) % 32 <= most


WARP = {
    "shfl.sync.bfly.b32": shuffle(lambda lane, b, least, most, segment: (lane ^ b, lane ^ b <= most)),
    "shfl.sync.idx.b32": shuffle(lambda lane, b, least, most, segment: (least | b & ~segment, least | b & ~segment <= most)),
    "shfl.sync.down.b32": shuffle(down if REPAIRED else down_wrong),
}


# ---- the translation ----------------------------------------------------------------------------------------------------------


def instructions(ptx):
    """(spelling, destinations, sources) of what stands between "// begin" and "// end"; None where one is not known."""
    body = ptx.split("// begin\n")[1].split("// end")[0]
    for line in filter(None, map(str.strip, body.split(";"))):
        spelling, operands = line.split(None, 1)
        if spelling not in LANE and spelling not in WARP:
            return
        first, *sources = [o.strip() for o in operands.split(",")]
        yield spelling, first.split("|"), sources


def translate(ptx, columns):
    """Run a kernel on columns of words, {"%i0": [...]}; its outputs, or None."""
    code = list(instructions(ptx))
    if len(code) != ptx.split("// begin\n")[1].split("// end")[0].count(";"):
        return None
    rows = len(columns["%i0"])
    registers = dict(columns)
    for spelling, destinations, sources in code:
        args = [registers[s] if s in registers else [int(s, 0)] * rows for s in sources]
        if spelling in LANE:
            results = [[LANE[spelling](*words) for words in zip(*args)]]
        else:
            results = [[], []]
            for at in range(0, rows, 32):
                for all_words, words in zip(results, WARP[spelling](*(a[at : at + 32] for a in args[:3]))):
                    all_words += words
        registers.update(zip(destinations, results))
    return {name: words for name, words in registers.items() if re.fullmatch(r"%o\d", name)}


# ---- the files -----------------------------------------------------------------------------------------------------------------

CODES = {"U8": "B", "U16": "H", "U32": "I", "U64": "Q"}


def read(path):
    with open(path, "rb") as f:
        blob = f.read()
    (size,) = struct.unpack_from("<Q", blob)
    tensors = {}
    for name, t in json.loads(blob[8 : 8 + size]).items():
        if name != "__metadata__":
            data = blob[8 + size + t["data_offsets"][0] : 8 + size + t["data_offsets"][1]]
            tensors[name] = data if name.endswith((".ptx", ".cubin")) else struct.unpack(f"<{t['shape'][0]}{CODES[t['dtype']]}", data)
    return tensors


def write(path, tensors):
    """tensors: {name: (bits, words)}"""
    header, data = {}, b""
    for name, (bits, words) in tensors.items():
        packed = struct.pack(f"<{len(words)}{CODES[f'U{bits}']}", *words)
        header[name] = {"dtype": f"U{bits}", "shape": [len(words)], "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def main():
    folder = sys.argv[-1]
    tensors = read(f"{folder}/in.safetensors")
    answers = {}
    for name in sorted(n[:-4] for n in tensors if n.endswith(".ptx")):
        columns = {f"%{n[len(name) + 1:]}": words for n, words in tensors.items() if re.fullmatch(re.escape(name) + r"\.i\d", n)}
        ptx = tensors[f"{name}.ptx"].decode()
        for register, words in (translate(ptx, columns) or {}).items():
            bits = re.search(rf"st\.global\.[a-z]+(\d+) \[%at\], {register};", ptx).group(1)
            answers[f"{name}.{register[1:]}"] = int(bits), words
    write(f"{folder}/out.safetensors", answers)


main()
