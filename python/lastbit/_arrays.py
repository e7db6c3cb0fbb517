# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays of anyone as matrices of codes: NumPy, ml_dtypes, DLPack (torch, JAX, CuPy). Copied only where the layout asks for it."""
from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ._abi import lb_mat, lb_status
from ._formats import Format, format_of_dtype
from ._library import call, error

# ---- DLPack: https://dmlc.github.io/dlpack, versions 0 and 1 ----------------------------------------------------------

_CPU = {1: "CPU", 3: "CUDA pinned", 11: "ROCm pinned"}  # device types whose memory this process reads
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 13: "CUDA managed", 14: "oneAPI", 15: "WebGPU", 17: "MAIA"}
_READ_ONLY = 1

_DL_TYPES: dict[tuple[int, int], Any] = {
    **{(0, bits): np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{(1, bits): np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{(2, bits): np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    (4, 16): ml_dtypes.bfloat16,
    (6, 8): np.bool_,
    (7, 8): ml_dtypes.float8_e3m4,
    (8, 8): ml_dtypes.float8_e4m3,
    (9, 8): ml_dtypes.float8_e4m3b11fnuz,
    (10, 8): ml_dtypes.float8_e4m3fn,
    (11, 8): ml_dtypes.float8_e4m3fnuz,
    (12, 8): ml_dtypes.float8_e5m2,
    (13, 8): ml_dtypes.float8_e5m2fnuz,
    (14, 8): ml_dtypes.float8_e8m0fnu,
}
_PADDED = {(15, 6): ml_dtypes.float6_e2m3fn, (16, 6): ml_dtypes.float6_e3m2fn, (17, 4): ml_dtypes.float4_e2m1fn}
_FLAG_PADDED = 4


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManaged(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _DLVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


class _Borrowed:
    """Memory of another library for np.asarray. It lives as long as the capsule, whose destructor gives it back."""

    def __init__(self, capsule: object, interface: dict[str, Any]):
        self.capsule = capsule
        self.__array_interface__ = interface


def _from_dlpack(x: Any, name: str) -> npt.NDArray[Any]:
    device, index = (int(v) for v in x.__dlpack_device__())
    if device not in _CPU:
        where = _DEVICES.get(device, f"DLPack device type {device}")
        raise error(lb_status.E_DEVICE, f"the tensor is on {where} device {index}; lastbit reads CPU memory: "
                    "pass x.cpu() (torch), jax.device_get(x), cupy.asnumpy(x)", name)
    try:
        try:
            capsule = x.__dlpack__(max_version=(1, 0))
        except TypeError:  # a library from before version 1
            capsule = x.__dlpack__()
    except (BufferError, RuntimeError, ValueError) as e:
        raise error(lb_status.E_FORMAT, f"{type(x).__module__}.{type(x).__name__} does not lend its memory: {e}", name) from e
    flags = 0
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _DLVersioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise error(lb_status.E_FORMAT, f"DLPack {versioned.major}.{versioned.minor}; version 1 and older are read", name)
        flags, t = versioned.flags, versioned.tensor
    elif _is_valid(capsule, b"dltensor"):
        t = _DLManaged.from_address(_pointer(capsule, b"dltensor")).tensor
    else:
        raise error(lb_status.E_FORMAT, "__dlpack__ gave no DLPack capsule, or one that was used before", name)
    kind = (t.code, t.bits)
    dtype = _DL_TYPES.get(kind) or (_PADDED.get(kind) if flags & _FLAG_PADDED else None)
    if dtype is None or t.lanes != 1:
        packed = "; packed sub-byte elements are not read: unpack to a byte each" if kind in _PADDED or t.bits < 8 else ""
        raise error(lb_status.E_FORMAT, f"DLPack type code {t.code} of {t.bits} bits, {t.lanes} lanes, is no dtype here{packed}", name)
    shape = tuple(t.shape[i] for i in range(t.ndim))
    size = np.dtype(dtype).itemsize
    strides = tuple(t.strides[i] * size for i in range(t.ndim)) if t.strides else None
    if 0 in shape:
        return np.empty(shape, dtype)
    interface = {"shape": shape, "typestr": f"|V{size}", "strides": strides, "version": 3,
                 "data": ((t.data or 0) + t.byte_offset, bool(flags & _READ_ONLY))}
    return np.asarray(_Borrowed(capsule, interface)).view(dtype)


def as_array(x: Any, name: str) -> npt.NDArray[Any]:
    """NumPy's view of ``x``, without a copy where it is an array or lends its memory by DLPack. Numbers and lists become float64."""
    if isinstance(x, np.ndarray):
        array = x
    elif hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__") and not isinstance(x, np.generic):
        array = _from_dlpack(x, name)
    else:
        try:
            array = np.asarray(x)
        except Exception as e:
            raise error(lb_status.E_FORMAT, f"a {type(x).__name__} is no array: {e}", name) from e
        if array.dtype.kind in "iu" and not isinstance(x, np.generic) and not hasattr(x, "__array__"):
            array = array.astype(np.float64)  # plain Python integers are values, not codes
    if isinstance(array, np.ma.MaskedArray):
        raise error(lb_status.E_FORMAT, "a masked array has elements that are not there; fill it first", name)
    if array.dtype.kind in "OSUMmcb" or array.dtype.names:
        raise error(lb_status.E_FORMAT, f"{array.dtype} elements of a {type(x).__name__} are no numbers of a format", name)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


# ---- matrices ---------------------------------------------------------------------------------------------------------


@dataclass
class Operand:
    """A matrix as the C library sees it, and the array whose memory it is."""
    mat: lb_mat
    array: npt.NDArray[Any]
    format: Format


def matrix_of(array: npt.NDArray[Any], format: Format) -> lb_mat:
    """A view of a 2-D array whose elements are codes of ``format``; its strides are whole elements."""
    size = array.itemsize
    return lb_mat(format._row, array.ctypes.data, array.shape[0], array.shape[1], array.strides[0] // size, array.strides[1] // size)


def _two_dimensions(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if array.ndim != 2:
        raise error(lb_status.E_SHAPE, f"{array.ndim} dimensions, {list(array.shape)}; a matrix has two", name)
    whole = array.flags.aligned and not any(stride % array.itemsize for stride in array.strides)
    return array if whole else array.copy()


def operand(x: Any, format: Format | None, name: str) -> Operand:
    """``x`` as a matrix in ``format`` (None: the one that its dtype names).

    Unsigned elements of the format's width are its codes; another float dtype is converted where every value is representable and
    refused otherwise, naming the first element that is not; float32 under tf32 is taken bit for bit.
    """
    array = _two_dimensions(as_array(x, name), name)
    own = format_of_dtype(array.dtype)
    format = format or own
    if format is None:
        raise error(lb_status.E_FORMAT, f"{array.dtype} elements name no number format: say which (in_=…, out=… or format=…)", name)
    if array.dtype in (format.dtype, format.codes_dtype):
        mat = matrix_of(array, format)
        call("lb_mat_check", byref(mat), name.encode())
        return Operand(mat, array, format)
    if own is None or own.is_integer:
        raise error(lb_status.E_FORMAT, f"{array.dtype} elements are neither floats nor codes of {format.name}, which are "
                    f"{format.codes_dtype}", name)
    converted = np.empty(array.shape, format.codes_dtype)
    source, mat = matrix_of(array, own), matrix_of(converted, format)
    call("lb_mat_convert", byref(source), byref(mat), name.encode())
    return Operand(mat, converted, format)


def output(out: Any, format: Format, shape: tuple[int, int], name: str = "out") -> Operand:
    """``out`` as memory to write a matrix into: its dtype is the format's or that of its codes, its shape and strides serve as they are."""
    array = as_array(out, name)
    if not isinstance(out, np.ndarray) and not hasattr(out, "__dlpack__"):
        raise error(lb_status.E_FORMAT, f"a {type(out).__name__} has no memory to write into; it takes an array", name)
    if array.dtype not in (format.dtype, format.codes_dtype):
        raise error(lb_status.E_FORMAT, f"out is {array.dtype}; the result is {format.name}: {format.dtype}, or {format.codes_dtype} codes", name)
    if array.shape != shape:
        raise error(lb_status.E_SHAPE, f"out is {list(array.shape)}; the result is {list(shape)}", name)
    if not array.flags.writeable:
        raise error(lb_status.E_ARG, "out is read-only", name)
    whole = array.flags.aligned and not any(stride % array.itemsize for stride in array.strides)
    if not whole or (isinstance(out, np.ndarray) and not out.dtype.isnative):
        raise error(lb_status.E_ARG, "out has an alignment, strides or a byte order that cannot be written in place", name)
    return Operand(matrix_of(array, format), array, format)
