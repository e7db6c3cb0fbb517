# SPDX-License-Identifier: MIT OR Apache-2.0
# Written by tools/gen_python; do not edit.
"""Names that arguments take, for type checkers; the rows of the C tables."""
from typing import Literal

#: a number format, docs/formats.md
FormatName = Literal[
    "f64",
    "f32",
    "tf32",
    "f16",
    "bf16",
    "e4m3",
    "e5m2",
    "e4m3_ieee",
    "e3m4",
    "e4m3fnuz",
    "e5m2fnuz",
    "e4m3b11fnuz",
    "e8m0",
    "ue4m3",
    "e3m2",
    "e2m3",
    "e2m1",
    "i8",
    "u8",
    "i4",
    "u4",
    "b1",
    "mxi8",
    "i32",
]

#: a block-scaled format, docs/formats.md
BlockFormatName = Literal[
    "mxfp8_e4m3",
    "mxfp8_e5m2",
    "mxfp6_e3m2",
    "mxfp6_e2m3",
    "mxfp4",
    "mxint8",
    "nvfp4",
]

#: how a value is rounded
Rounding = Literal[
    "rne",
    "rna",
    "rnz",
    "rno",
    "rz",
    "ru",
    "rd",
    "raz",
    "odd",
    "sr",
]

#: what a value beyond the largest becomes
Overflow = Literal[
    "ieee",
    "inf",
    "saturate",
    "saturate_propagate",
    "nan",
    "wrap",
]

#: a numerics contract
ContractName = Literal[
    "m16-tc",
    "m16-tc-original",
    "bitwise",
    "ulp",
    "blas",
    "gamma",
    "gamma-rz",
    "statistical",
    "statistical-rz",
    "allclose",
    "torch",
    "nmse",
    "benchdnn",
    "baseline-2x",
]
