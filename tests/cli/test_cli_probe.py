#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""lastbit decide and fit as a user meets them: ask, answer in place of the hardware, read back.

usage: test_cli_probe.py LASTBIT
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

LASTBIT = sys.argv[1]
UNIT = "sm_80/mma.m16n8k8.f16.f16.f16.f16"


def lastbit(code, *arguments):
    run = subprocess.run([LASTBIT, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == code, f"{arguments}: exit {run.returncode}, want {code}\n{run.stdout}{run.stderr}"
    return run.stderr if code == 2 else run.stdout


def read(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    return header.pop("__metadata__"), header, data[8 + size:]


def write(path, metadata, header, body):
    text = json.dumps({"__metadata__": metadata, **header}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def answer(path, to, codes):
    """The request with the answers of a unit, row by row."""
    metadata, header, body = read(path)
    metadata = {k: v for k, v in metadata.items() if k != "lastbit.request"}
    header["d"] = {"dtype": "U16", "shape": [len(codes)], "data_offsets": [len(body), len(body) + 2 * len(codes)]}
    write(to, metadata, header, body + struct.pack(f"<{len(codes)}H", *codes))


def run(work):
    ask, answered = work / "ask.safetensors", work / "answered.safetensors"
    lastbit(0, "decide", UNIT, "--tries", 40000, "-o", ask)
    asked = [q for q in json.loads(lastbit(0, "decide", UNIT, "--tries", 40000, "--json"))["questions"] if q["found"]]
    metadata, header, _ = read(ask)
    rows = header["a"]["shape"][0]
    assert rows == len(asked) >= 12 and metadata["lastbit.request"] == "1" and metadata["unit"] == UNIT
    assert all(f"asks.{i}" in metadata and q["parameter"] in metadata[f"asks.{i}"] for i, q in enumerate(asked))
    assert "nobody answered" in lastbit(2, "fit", ask)

    # the row's own answers: it explains them, and no alternative that was asked about does
    answer(ask, answered, [int(q["row_gives"], 16) for q in asked])
    fit = json.loads(lastbit(0, "fit", answered, "--json"))
    values = {p["name"]: p["values"] for p in fit["parameters"]}
    assert fit["words"] == rows and fit["rows"][0]["words"] == rows
    for q in asked:
        other = int(q["other"]) if q["other"].lstrip("-").isdigit() else q["other"]
        assert other not in values[q["parameter"]], (q, values)
    assert "candidates give all" in lastbit(0, "fit", answered)

    # answers of nobody: nothing explains them
    answer(ask, answered, [0x1234 + i for i in range(rows)])
    assert json.loads(lastbit(1, "fit", answered, "--json"))["explain"] == []

    # only zeros: everything explains them, which proves nothing
    metadata, header, body = read(ask)
    write(ask, metadata, header, bytes(len(body)))
    answer(ask, answered, [0] * rows)
    assert "tell nothing apart" in lastbit(3, "fit", answered)

    # wrong calls
    assert "no file given" in lastbit(2, "fit")
    assert "the nearest is" in lastbit(2, "decide", "sm_80/mma.m16n8k8.f16.f16.f16.f61")
    assert lastbit(2, "decide", UNIT, "--tries", 100, "-o", work / "none/ask.safetensors").count("\n") == 1
    (work / "short.safetensors").write_bytes(b"\x08")
    assert "short.safetensors" in lastbit(2, "fit", work / "short.safetensors")
    print("decide and fit: ok")


with tempfile.TemporaryDirectory() as folder:
    run(Path(folder))
