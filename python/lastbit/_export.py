# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models of other frameworks as files that `lastbit verify` reads."""
from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._abi import lb_status
from ._library import error

Array = npt.NDArray[np.float32]


def _pair(layer: Any, place: str) -> tuple[Any, Any]:
    """weight and bias of a layer: its attributes (Equinox, torch), its keys, or a pair."""
    if isinstance(layer, dict):
        return layer.get("weight"), layer.get("bias")
    if isinstance(layer, (tuple, list)) and len(layer) == 2:
        return layer[0], layer[1]
    if hasattr(layer, "weight"):
        return layer.weight, getattr(layer, "bias", None)
    raise error(lb_status.E_ARG, f"a {type(layer).__name__} has no weight; a layer has weight and bias, or is a pair or a dict of them", place)


def _array(x: Any, rank: int, place: str) -> Array:
    detach = getattr(x, "detach", None)
    array: Array = np.asarray(detach().cpu() if detach else x, np.float32)
    if array.ndim != rank:
        raise error(lb_status.E_SHAPE, f"{array.ndim} dimensions; it should have {rank}", place)
    return array


def export_mlp(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a multi-layer perceptron, GELU (tanh) between its layers, as the safetensors that ``lastbit verify`` takes.

    ``model``: a JAX/Equinox pytree with ``layers`` (``equinox.nn.MLP``), or the layers themselves in order; a layer has ``weight``
    [out, in] and ``bias`` [out] (None: zeros), or is a pair or a dict of them. Arrays are anything that NumPy takes; they become f32.
    Nothing but NumPy is imported. Raises ShapeError where widths do not chain, ArgumentError for what is no layer; then nothing is
    written.

    >>> import lastbit as lb, numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lb.export_mlp([(np.eye(3), np.zeros(3)), (np.ones((2, 3)), None)], f"{folder}/mlp.safetensors")
    """
    layers: Iterable[Any] = getattr(model, "layers", model)
    tensors: dict[str, Array] = {}
    width = None
    for i, layer in enumerate(layers):
        weight, bias = _pair(layer, f"layers.{i}")
        w = _array(weight, 2, f"layers.{i}.weight")
        b = _array(np.zeros(w.shape[0]) if bias is None else bias, 1, f"layers.{i}.bias")
        if width not in (None, w.shape[1]):
            raise error(lb_status.E_SHAPE, f"it takes {w.shape[1]} numbers; the layer before it gives {width}", f"layers.{i}.weight")
        if b.shape[0] != w.shape[0]:
            raise error(lb_status.E_SHAPE, f"{b.shape[0]} numbers; the weight gives {w.shape[0]}", f"layers.{i}.bias")
        width = w.shape[0]
        tensors |= {f"layers.{i}.weight": w, f"layers.{i}.bias": b}
    if not tensors:
        raise error(lb_status.E_ARG, "no layers", "model")
    _write(path, tensors)


def _write(path: str | os.PathLike[str], tensors: dict[str, Array]) -> None:
    header, at = {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    if os.path.exists(path) and not os.path.isfile(path):
        raise error(lb_status.E_FILE, "is no plain file", os.fspath(path))
    part = f"{os.fspath(path)}.part"
    with open(part, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            f.write(np.ascontiguousarray(array, "<f4").tobytes())
    os.replace(part, path)
