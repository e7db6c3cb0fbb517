/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The case (what is computed, on what) and the reference: true values with a stated error bound, rounded once. */
#ifndef LASTBIT_REFS_H
#define LASTBIT_REFS_H

#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One matrix product D = A B + C. b is as stored: [k][n], or [n][k] where b_transposed. c.codes NULL means none. */
typedef struct lb_case {
    const char *op; /* "matmul" */
    lb_mat a, b, c;
    bool b_transposed;
    const lb_format *out;
    uint64_t seed;
} lb_case;

size_t lb_case_m(const lb_case *x);
size_t lb_case_n(const lb_case *x);
size_t lb_case_k(const lb_case *x);
lb_mat lb_case_b(const lb_case *x); /* b as [k][n] */

/** errors LB_E_SHAPE if the shapes of a, b, c do not agree, saying all of them */
lb_status lb_case_check(const lb_case *x, lb_error *err);

typedef enum lb_reference_mode {
    LB_REFERENCE_AUTO, /* f64 where that decides the rounding, exact where it does not */
    LB_REFERENCE_F64,  /* plain f64 sums and their bound: fast, may be unfit */
    LB_REFERENCE_EXACT /* exact integer accumulation */
} lb_reference_mode;

/** True values of D, rounded once to x->out (nearest even, overflow to Inf), at rows[m] x cols[n] of the output.
 *  shapes   code [row_count][col_count] in x->out; error [row_count][col_count] doubles or NULL: bound of |value before rounding - true value|;
 *           gauge likewise or NULL: sum |a||b| + |c|
 *  accuracy AUTO, EXACT: correctly rounded, error 0 for every finite result; F64: |error| <= the bound given,
 *           (k + 2) 2^-53 sum|a||b| to first order, rounded up; a bound that cannot be stated is INFINITY
 *  NaN, Inf follow IEEE 754. rows, cols NULL: all.
 *  errors   LB_E_SHAPE, LB_E_MEMORY. threads pure */
lb_status lb_reference_matmul(const lb_case *x, lb_reference_mode mode, const size_t *rows, size_t row_count, const size_t *cols,
                              size_t col_count, lb_mat *code, double *error, double *gauge, lb_error *err);

#define LB_DIST_LIST(X)                                                                                                                    \
    X(UNIFORM, "uniform", "(x mod 2049 - 1024) / 1024: the seed contract's draw")                                                          \
    X(NORMAL, "normal", "sum of twelve uniforms minus six, rounded once")                                                                  \
    X(INTEGER, "integer", "-4 … 4: every sum is exact")                                                                                    \
    X(WIDE, "wide", "random sign, mantissa, exponents over 20 binades or the format's range")                                              \
    X(BITS, "bits", "random finite codes")                                                                                                 \
    X(SPECIAL, "special", "random codes, NaN and Inf and zeros and subnormals among them")

typedef enum lb_dist {
#define X(id, name, text) LB_DIST_##id,
    LB_DIST_LIST(X)
#undef X
        LB_DIST_COUNT
} lb_dist;

/** Code number `index` of stream `stream` of seed `seed`: the same on every machine. threads pure */
uint64_t lb_draw(const lb_format *f, lb_dist dist, uint64_t seed, uint32_t stream, uint64_t index);

/** Fill a matrix with draws, index = r*cols + c. threads pure */
void lb_draw_mat(lb_mat *m, lb_dist dist, uint64_t seed, uint32_t stream);

#ifdef __cplusplus
}
#endif
#endif
