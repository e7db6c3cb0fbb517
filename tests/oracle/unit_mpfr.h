/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A second opinion on the truncated fused dot product, in MPFR: values instead of bit fields. Shares no code with src/. */
#ifndef ORACLE_UNIT_MPFR_H
#define ORACLE_UNIT_MPFR_H

#include <stdint.h>

typedef struct oracle_unit {
    int a_emin, b_emin; /* least normal exponents of the operands: f16 -14, bf16 and tf32 -126, e4m3 -6, e5m2 -14 */
    int terms, frac_bits;
    int floor_exp; /* -100000: none */
    int out_bits;  /* significand bits of a block's result: 24, 14, 11 */
    int f16;       /* the accumulator is f16 (to nearest), else f32 (toward zero) */
} oracle_unit;

/** One block: the bits of c + sum a[i]*b[i], all finite. c and the result are f32 or f16 codes. */
uint32_t oracle_block(const oracle_unit *u, const double *a, const double *b, uint32_t c);

/** x + y of two codes, IEEE, to nearest. */
uint32_t oracle_add(int f16, uint32_t x, uint32_t y);

#endif
