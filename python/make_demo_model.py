#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A small MLP and its answer, for `lastbit verify model.safetensors --reference reference.safetensors`. Needs NumPy alone.

Weights are normal over the square root of their inputs, biases zero, one row of normal input; GELU (tanh) between layers. The answer is
computed in double and stored as f32. The same files on every machine for the same arguments, as far as NumPy's default_rng stays as it is.
"""
import argparse
import json
import struct

import numpy as np


def write_safetensors(path, tensors):
    """Little-endian f32 tensors, in the order given."""
    header, data = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="model.safetensors", metavar="FILE", help="the model (%(default)s)")
    parser.add_argument("--ref", default="reference.safetensors", metavar="FILE", help="its input and output (%(default)s)")
    parser.add_argument("--seed", type=int, default=42, help="of weights and input (%(default)s)")
    parser.add_argument("--width", type=int, default=256, help="columns of input and output (%(default)s)")
    parser.add_argument("--hidden", type=int, default=1024, help="columns between layers (%(default)s)")
    a = parser.parse_args()
    if min(a.width, a.hidden) < 1:
        parser.error("--width and --hidden are at least 1")
    rng = np.random.default_rng(a.seed)
    sizes = [a.width, a.hidden, a.hidden, a.width]
    model = {}
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        model[f"layers.{i}.weight"] = (rng.standard_normal((outputs, inputs)) / np.sqrt(inputs)).astype(np.float32)
        model[f"layers.{i}.bias"] = np.zeros(outputs, np.float32)
    x = rng.standard_normal((1, a.width)).astype(np.float32)
    y = x.astype(np.float64)
    for i in range(3):
        y = (gelu(y) if i else y) @ model[f"layers.{i}.weight"].astype(np.float64).T + model[f"layers.{i}.bias"]
    write_safetensors(a.out, model)
    write_safetensors(a.ref, {"input": x, "output": y.astype(np.float32)})
    print(f"wrote {a.out} ({' -> '.join(map(str, sizes))}) and {a.ref}")


if __name__ == "__main__":
    main()
