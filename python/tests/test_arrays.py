# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whose arrays are taken, how they are read without a copy, and what is refused with one clear line."""
import ctypes
import gc

import lastbit as lb
import ml_dtypes
import numpy as np
import pytest
from lastbit import _arrays
from lastbit._arrays import as_array, operand

F16 = "sm_80/mma.m16n8k16.f32.f16.f16.f32"
BF16 = "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"


def draw(shape, format="f16", seed=1):
    return lb.quantize(np.random.default_rng(seed).standard_normal(shape), format)


def refused(kind, message, function, *arguments, **options):
    """The exception, whose one line has the message."""
    with pytest.raises(kind) as raised:
        function(*arguments, **options)
    text = str(raised.value)
    assert message in text and "\n" not in text, text
    return raised.value


# ---- NumPy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "transposed", "reversed", "strided", "codes", "fortran", "swapped bytes", "f32 values"])
def test_every_layout_gives_the_bits_of_the_plain_one(form):
    a, b = draw((16, 40)), draw((40, 24), seed=2)
    want = lb.unit(F16).gemm(a, b)
    other = {"plain": lambda x: x.copy(), "transposed": lambda x: x.T.copy().T, "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
             "strided": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3], "codes": lambda x: x.view(np.uint16),
             "fortran": np.asfortranarray, "swapped bytes": lambda x: x.astype(x.dtype.newbyteorder()),
             "f32 values": lambda x: x.astype(np.float32)}[form]
    got = lb.unit(F16).gemm(other(a), other(b))
    assert got.dtype == np.float32 and np.array_equal(got.view(np.uint32), want.view(np.uint32))


def test_codes_are_read_where_they_lie():
    x = draw((8, 8))
    for view in (x, x.T, x[::2, 1:], x[::-1]):
        taken = operand(view, lb.formats["f16"], "x")
        assert taken.mat.codes == view.ctypes.data
    odd = np.frombuffer(bytes(129), np.float16, 64, 1).reshape(8, 8)
    assert operand(odd, lb.formats["f16"], "x").mat.codes != odd.ctypes.data  # an odd address
    field = np.zeros(8, np.dtype([("pad", "u1"), ("value", np.float16, 4)]))["value"]
    assert operand(field, lb.formats["f16"], "x").mat.codes != field.ctypes.data  # strides of 9 bytes


def test_a_wider_float_is_taken_where_every_value_fits_and_refused_where_one_does_not():
    a = np.ones((2, 3), np.float64)
    assert lb.unit(F16).gemm(a, np.ones((3, 2)))[0, 0] == 3
    a[1, 2] = 1 / 3
    refused(lb.FormatError, "a: element [1,2] is 0.333333333", lb.unit(F16).gemm, a, np.ones((3, 2)))
    assert lb.unit("sm_80/mma.m16n8k8.f32.tf32.tf32.f32").gemm(np.float32([[1 / 3]]), np.float32([[1.0]])) == np.float32(0.33325195)


@pytest.mark.parametrize("x, message", [
    (np.ones((2, 3), np.int32), "a: int32 elements are neither floats nor codes of f16, which are uint16"),
    (np.ones((2, 3), np.uint8), "a: uint8 elements are neither floats nor codes of f16"),
    (np.ones((2, 3), bool), "a: bool elements of a ndarray are no numbers of a format"),
    (np.ones((2, 3), complex), "a: complex128 elements"),
    (np.array([["x"]]), "a: <U1 elements"),
    (np.array([[None]]), "a: object elements"),
    (np.ma.ones((2, 3)), "a: a masked array has elements that are not there"),
    (np.ones(2, [("x", "f4")]), "are no numbers of a format"),
    (None, "a: object elements of a NoneType"),
    ([[1], [2, 3]], "a: a list is no array"),
    (np.datetime64("2026-01-01"), "a: datetime64[D] elements"),
])
def test_a_wrong_dtype_is_refused(x, message):
    refused(lb.FormatError, message, lb.unit(F16).gemm, x, draw((3, 2)))


@pytest.mark.parametrize("a, b, c, message", [
    ((2, 3), (4, 2), None, "A is 2x3 and B is 4x2: 3 and 4 should be one K"),
    ((2, 3), (3, 2), (3, 2), "C is 3x2; D is 2x2"),
    ((3,), (3, 2), None, "a: 1 dimensions, [3]; a matrix has two"),
    ((1, 2, 3), (3, 2), None, "a: 3 dimensions, [1, 2, 3]; a matrix has two"),
    ((), (3, 2), None, "a: 0 dimensions"),
])
def test_a_wrong_shape_is_refused(a, b, c, message):
    c = None if c is None else np.zeros(c, np.float32)
    refused(lb.ShapeError, message, lb.unit(F16).gemm, np.zeros(a, np.float16), np.zeros(b, np.float16), c)


def test_codes_wider_than_the_format_are_refused():
    refused(lb.FormatError, "element [0,1] is 0x1f: a code of e2m1 has 4 bits", lb.decode, np.uint8([1, 0x1F]), "e2m1")


# ---- out ----------------------------------------------------------------------------------------------------------------


def test_out_is_written_in_place_and_returned():
    a, b = draw((5, 20)), draw((20, 7), seed=2)
    want = lb.unit(F16).gemm(a, b)
    for make in (lambda: np.zeros((5, 7), np.float32), lambda: np.zeros((5, 7), np.uint32), lambda: np.zeros((7, 5), np.float32).T,
                 lambda: np.zeros((10, 21), np.float32)[::2, ::3]):
        out = make()
        assert lb.unit(F16).gemm(a, b, out=out) is out
        assert np.array_equal(out.view(np.uint32), want.view(np.uint32))


def test_out_may_be_c():
    a, b, c = draw((5, 20)), draw((20, 7), seed=2), draw((5, 7), "f32", 3)
    want = lb.unit(F16).gemm(a, b, c)
    assert np.array_equal(lb.unit(F16).gemm(a, b, c, out=c), want)


@pytest.mark.parametrize("kind, message, out", [
    (lb.FormatError, "out: out is float64; the result is f32: float32, or uint32 codes", np.zeros((5, 7))),
    (lb.ShapeError, "out: out is [7, 5]; the result is [5, 7]", np.zeros((7, 5), np.float32)),
    (lb.ArgumentError, "out: out is read-only", np.broadcast_to(np.float32(0), (5, 7))),
    (lb.FormatError, "out: a list has no memory to write into", [[0.0]]),
    (lb.ArgumentError, "an alignment, strides", np.ndarray((5, 7), np.float32, bytearray(141), 1)),
    (lb.ArgumentError, "a byte order that cannot be written in place", np.zeros((5, 7), np.dtype(np.float32).newbyteorder())),
])
def test_an_out_that_cannot_serve_is_refused(kind, message, out):
    refused(kind, message, lb.unit(F16).gemm, draw((5, 20)), draw((20, 7)), out=out)


def test_an_out_that_overlaps_an_operand_is_refused():
    memory = np.zeros((16, 16), np.uint32)
    a = memory.view(np.float16)[:, :16]
    refused(lb.ArgumentError, "out overlaps a", lb.unit(F16).gemm, a, draw((16, 16)), out=memory)
    refused(lb.ArgumentError, "out overlaps b", lb.unit(F16).gemm, draw((16, 16)), a, out=memory)


def test_nothing_is_written_where_the_call_is_refused():
    out = np.full((5, 7), 3, np.float32)
    refused(lb.ShapeError, "should be one K", lb.unit(F16).gemm, draw((5, 20)), draw((21, 7)), out=out)
    assert (out == 3).all()


# ---- DLPack, by a producer of our own ---------------------------------------------------------------------------------------


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor:
    """What another library's tensor looks like from outside: any device, any type code, old and new DLPack."""

    def __init__(self, array, code, bits, device=(1, 0), version=None, flags=0, lanes=1, error=None, name=None):
        self.array, self.device, self.version, self.error = array, device, version, error
        self.name = name or (b"dltensor_versioned" if version else b"dltensor")
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        tensor = _arrays._DLTensor(array.ctypes.data, *device, array.ndim, code, bits, lanes, self.shape, self.strides, 0)
        self.managed = _arrays._DLVersioned(*version, None, None, flags, tensor) if version else _arrays._DLManaged(tensor, None, None)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if options and not self.version:
            raise TypeError("max_version came later")
        if self.error:
            raise self.error
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
@pytest.mark.parametrize("format, code, bits", [("f16", 2, 16), ("bf16", 4, 16), ("e4m3", 10, 8), ("e5m2", 12, 8), ("e8m0", 14, 8),
                                                ("e4m3fnuz", 11, 8), ("f64", 2, 64), ("i8", 0, 8)])
def test_dlpack_memory_is_read_where_it_lies(version, format, code, bits):
    x = draw((6, 4), format).T
    seen = as_array(Tensor(x, code, bits, version=version), "x")
    assert seen.dtype == x.dtype and seen.ctypes.data == x.ctypes.data and seen.strides == x.strides
    assert np.array_equal(seen.view(lb.formats[format].codes_dtype), x.view(lb.formats[format].codes_dtype))


def test_padded_sub_byte_elements_are_read_and_packed_ones_refused():
    x = draw((3, 4), "e2m1")
    assert as_array(Tensor(x, 17, 4, version=(1, 1), flags=4), "x").dtype == ml_dtypes.float4_e2m1fn
    refused(lb.FormatError, "packed sub-byte elements are not read", as_array, Tensor(x, 17, 4, version=(1, 1)), "x")


def test_out_may_be_a_tensor_and_a_read_only_one_is_refused():
    a, b = draw((5, 20)), draw((20, 7), seed=2)
    memory = np.zeros((5, 7), np.float32)
    out = Tensor(memory, 2, 32, version=(1, 0))
    lb.unit(F16).gemm(a, b, out=out)
    assert np.array_equal(memory, lb.unit(F16).gemm(a, b))
    refused(lb.ArgumentError, "out is read-only", lb.unit(F16).gemm, a, b, out=Tensor(memory, 2, 32, version=(1, 0), flags=1))


@pytest.mark.parametrize("device, words", [((2, 1), "the tensor is on CUDA device 1"), ((10, 0), "the tensor is on ROCm device 0"),
                                           ((8, 0), "the tensor is on Metal device 0"), ((99, 0), "DLPack device type 99 device 0")])
def test_a_device_tensor_is_refused_before_it_is_touched(device, words):
    class Distant(Tensor):
        def __dlpack__(self, **options):
            raise AssertionError("touched")
    error = refused(lb.DeviceError, words, lb.unit(F16).gemm, Distant(draw((2, 3)), 2, 16, device=device), draw((3, 2)))
    assert "pass x.cpu()" in str(error)


@pytest.mark.parametrize("options, words", [
    ({"version": (2, 0)}, "DLPack 2.0; version 1 and older are read"),
    ({"name": b"used_dltensor"}, "no DLPack capsule, or one that was used before"),
    ({"lanes": 4}, "4 lanes, is no dtype here"),
    ({"code": 5}, "DLPack type code 5 of 16 bits"),
    ({"error": BufferError("it requires grad")}, "does not lend its memory: it requires grad"),
    ({"error": RuntimeError("conjugated")}, "does not lend its memory: conjugated"),
])
def test_a_capsule_that_cannot_be_read_is_refused(options, words):
    refused(lb.FormatError, words, as_array, Tensor(draw((2, 3)), **{"code": 2, "bits": 16, **options}), "x")


def test_memory_is_given_back_when_the_last_view_of_it_goes():
    given_back = []
    destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(given_back.append)

    class Lender(Tensor):
        def __dlpack__(self, **options):
            return new_capsule(ctypes.addressof(self.managed), self.name, ctypes.cast(destructor, ctypes.c_void_p))
    lender = Lender(draw((4, 4)), 2, 16)
    view = as_array(lender, "x")[1:, ::2]
    gc.collect()
    assert not given_back and view.shape == (3, 2)
    del view
    gc.collect()
    assert len(given_back) == 1


# ---- DLPack, by a real library ---------------------------------------------------------------------------------------------


def test_jax_arrays_are_read_without_a_copy_and_give_the_same_bits():
    jax = pytest.importorskip("jax", reason="no jax: pip install -r python/requirements-test.txt")
    jnp = jax.numpy
    for name, dtype in ((BF16, jnp.bfloat16), (F16, jnp.float16), ("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", jnp.float8_e4m3fn)):
        unit = lb.unit(name)
        x, y = jnp.asarray(draw((16, 40), unit.a.name)), jnp.asarray(draw((40, 24), unit.a.name, 2))
        assert x.dtype == dtype and as_array(x, "x").ctypes.data == x.unsafe_buffer_pointer()
        want = unit.gemm(np.asarray(x), np.asarray(y))
        assert np.array_equal(unit.gemm(x, y), want)


def test_a_jax_product_is_judged():
    jax = pytest.importorskip("jax", reason="no jax: pip install -r python/requirements-test.txt")
    jnp = jax.numpy
    x, y = jnp.asarray(draw((16, 256), "bf16")), jnp.asarray(draw((256, 24), "bf16", 2))
    assert lb.check(x, y, jnp.matmul(x, y), contract="m16-tc").passed
    assert lb.check(x, y, jnp.matmul(x[:, :-8], y[:-8]), contract="m16-tc").verdict == "FAIL"
