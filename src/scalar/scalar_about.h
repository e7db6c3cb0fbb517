/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what rows of scalar.def share: how we know, and what no document settles. */
#ifndef LB_SCALAR_ABOUT_H
#define LB_SCALAR_ABOUT_H

#define NAN_F32 "which NaN is not documented: 7fffffff was chosen (what NVIDIA's GPUs are known to give), and any NaN is allowed"
#define NAN_F64 "which NaN is not documented: an operand's, quieted, or else 7ff8000000000000; any NaN is allowed"
#define FTZ     "whether a result is tiny before or after rounding is not documented: after was chosen; "

#define IEEE_F32         ABOUT(STATED, "ieee754-2019 ptx-isa", NAN_F32)
#define IEEE_F32_FTZ     ABOUT(STATED, "ieee754-2019 ptx-isa", FTZ NAN_F32)
#define IEEE_F32_SAT     ABOUT(STATED, "ieee754-2019 ptx-isa", "-0 under .sat is not documented: +0 was chosen")
#define IEEE_F64         ABOUT(STATED, "ieee754-2019 ptx-isa", NAN_F64)
#define IEEE_F16         ABOUT(STATED, "ieee754-2019 ptx-isa", "")
#define IEEE_F16_FTZ     ABOUT(STATED, "ieee754-2019 ptx-isa", FTZ)
#define IEEE_F16_SAT     ABOUT(STATED, "ieee754-2019 ptx-isa", "-0 under .sat or .relu is not documented: +0 was chosen")
#define IEEE_F16_FTZ_SAT ABOUT(STATED, "ieee754-2019 ptx-isa", FTZ "-0 under .sat is not documented: +0 was chosen")
#define SIGN_ONLY        ABOUT(STATED, "ptx-isa", "a NaN operand: only its sign was changed, and any NaN is allowed")
#define DOCUMENTED       ABOUT(STATED, "ptx-isa", "")
#define XORSIGN_NAN      ABOUT(STATED, "ptx-isa", "where one operand is NaN its sign still counts; the document does not say so")
#define XORSIGN_F32      ABOUT(STATED, "ptx-isa", "where one operand is NaN its sign still counts; the document does not say so; " NAN_F32)
#define FLOAT_TO_INT                                                                                                                       \
    ABOUT(STATED, "ptx-isa ptx-isa-9",                                                                                                     \
          "NaN: 0, or 1 << (bits - 1) where either side has 64 bits (PTX ISA 9.0); earlier editions say 0; both are allowed")
#define PART_DIV   ABOUT(STATED, "ptx-isa", "division by zero, and a quotient that does not fit, are not documented: not judged")
#define SLCT_NAN   ABOUT(STATED, "ptx-isa", "NaN takes the second operand")
#define FNS_BASE   ABOUT(STATED, "ptx-isa", "a base above 31 is not documented: none was chosen")
#define NOT_JUDGED ABOUT(STATED, "ptx-isa", "no bound is documented: only special values, and a lower word of zeros, are judged")
#define APPROX_F32 ABOUT(STATED, "ptx-isa", "the bits are not documented")
#define APPROX_DIV ABOUT(STATED, "ptx-isa", "divisors below 2^-126 are not documented: not judged")
#define APPROX_SIN ABOUT(STATED, "ptx-isa", "beyond 100 pi nothing is documented: not judged")
#define APPROX_F16 ABOUT(STATED, "ptx-isa", "the bound is read as an absolute one; the bits are not documented")
#define BY_UNIT    ABOUT(INFERRED, "ptx-isa mma-sim", "as its unit: lastbit units")

/* What the document promises of approximate operations: in words, in ULP, relative, absolute. */
#define BOUND_RCP_F32    BOUND("1 ulp", 1, 0, 0)
#define BOUND_SQRT_F32   BOUND("relative 2^-23", 0, 0x1p-23, 0)
#define BOUND_RSQRT_F32  BOUND("relative 2^-22.9", 0, 0x1.125fcp-23, 0)
#define BOUND_DIV_FULL   BOUND("2 ulp", 2, 0, 0)
#define BOUND_LG2_F32    BOUND("absolute 2^-22 for 0.5 to 2, relative 2^-22 elsewhere", 0, 0x1p-22, 0x1p-22)
#define BOUND_SIN_F32    BOUND("absolute 2^-20.5 to 2 pi, 2^-14.7 to 100 pi", 0, 0, 0x1.6a0ap-21)
#define BOUND_TANH_F32   BOUND("relative 2^-11", 0, 0x1p-11, 0)
#define BOUND_DIV_APPROX BOUND("2 ulp for divisors of 2^-126 to 2^126", 2, 0, 0)
#define BOUND_EX2_F16    BOUND("relative 2^-9.9", 0, 0x1.125fcp-10, 0)
#define BOUND_TANH_F16   BOUND("absolute 2^-10.987", 0, 0, 0x1.0253p-11)
#define BOUND_TANH_BF16  BOUND("absolute 2^-8", 0, 0, 0x1p-8)
#define BOUND_F64        BOUND("none documented", 0, 0, 0)

#endif
