# SPDX-License-Identifier: MIT OR Apache-2.0
"""Are an accelerator kernel's bits right?

>>> import lastbit as lb
>>> lb.unit("sm_90/mma.m16n8k16.f32.bf16.bf16.f32").evidence
'recorded'

unit, units                which bits the hardware gives: ``lb.unit(NAME).gemm(a, b)``
scalar, scalars            one GPU operation at a time: ``lb.scalar("fma.rz.f32").eval(…)``
check, grade, replay       which other bits are allowed, and what went wrong: a Result
calibrate, shrink          what a tolerance has to be; a failing check made small
assert_within              the same for a test: raises, and leaves what reruns it
formats, quantize, decode  number formats: one rounding, from the exact value
"""
from ._abi import VERSION as __version__
from ._assert import Mismatch, assert_within
from ._convert import decode, decode_blocks, quantize, quantize_blocks
from ._export import export_mlp
from ._formats import BlockFormat, Format, block_formats, formats
from ._library import (ArgumentError, DeviceError, Error, FileError, FormatError, OutOfMemoryError, ShapeError, UnavailableError,
                       UnknownNameError)
from ._results import Contract, Result, check, contract, contracts, grade, replay
from ._scalar import Scalar, scalar, scalars
from ._shrink import calibrate, check_capsule, shrink
from ._units import Unit, unit, units

__all__ = ["ArgumentError", "BlockFormat", "Contract", "DeviceError", "Error", "FileError", "Format", "FormatError", "Mismatch", "OutOfMemoryError",
           "Result", "Scalar", "ShapeError", "UnavailableError", "Unit", "UnknownNameError", "__version__", "assert_within", "block_formats",
           "calibrate", "check", "check_capsule", "contract", "contracts", "decode", "decode_blocks", "export_mlp", "formats", "grade", "quantize", "quantize_blocks", "replay",
           "scalar", "scalars", "shrink", "unit", "units"]

for _public in [value for name, value in list(globals().items()) if name in __all__ and isinstance(value, type)]:
    _public.__module__ = __name__  # tracebacks name them as users do
