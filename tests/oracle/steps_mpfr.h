/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A second opinion on the units that are not plain truncated blocks, in MPFR: values, not bit fields. Shares no code with src/.
 * Operands come as values; c and results are f32 codes (f64 where it is said). NaN comes out as any NaN. */
#ifndef ORACLE_STEPS_MPFR_H
#define ORACLE_STEPS_MPFR_H

#include <stdint.h>

/** c = fma(a, b, c) over n products, IEEE, to nearest; in f32, and in f64. */
uint32_t oracle_fma_chain32(const double *a, const double *b, int n, uint32_t c);
uint64_t oracle_fma_chain64(const double *a, const double *b, int n, uint64_t c);

/** x86: subnormals of f32 count as zeros, results that are tiny after rounding too. */
uint32_t oracle_odd_first(const double *a, const double *b, int n, uint32_t c);
uint32_t oracle_two_chains(const double *a, const double *b, int n, uint32_t c);

/** Arm: pairs, each operation rounded to odd and flushed; pairs summed exactly, to nearest. */
uint32_t oracle_pair_odd(const double *a, const double *b, int n, uint32_t c);
uint32_t oracle_pair_fused(const double *a, const double *b, int n, uint32_t c);

/** CDNA1, CDNA2: blocks of `terms`; a_emin, b_emin: least normal exponents of the operands. */
uint32_t oracle_exact(const double *a, const double *b, int n, int terms, uint32_t c);
uint32_t oracle_pairwise(const double *a, const double *b, int n, int terms, int a_emin, int b_emin, uint32_t c);

/** CDNA3; split: the fp8 rule. All finite. */
uint32_t oracle_late_c(const double *a, const double *b, int n, int terms, int a_emin, int b_emin, int split, uint32_t c);

/** One block of block-scaled products; x, y [n / block] are the scales, whose least normal exponent is scale_emin; group 0 or 16. */
typedef struct oracle_scaled {
    int n, block, group, frac_bits, floor_exp;
    int a_emin, b_emin, scale_emin;
} oracle_scaled;
uint32_t oracle_block_scaled(const oracle_scaled *u, const double *a, const double *b, const double *x, const double *y, uint32_t c);

#endif
