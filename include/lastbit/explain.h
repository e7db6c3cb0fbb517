/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How one element of D comes about: every operation of its unit with exact values, as plain data. */
#ifndef LASTBIT_EXPLAIN_H
#define LASTBIT_EXPLAIN_H

#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an operation of a unit is. */
#define LB_EXPLAIN_OP_LIST(X)                                                                                                              \
    X(BLOCK, "block", "products and c: aligned to the largest exponent, cut, added exactly, rounded")                                      \
    X(GROUP, "group", "products that share scales: added exactly, times the scales; not rounded")                                          \
    X(PARTIAL, "partial", "products without c: aligned, cut, added exactly; not rounded")                                                  \
    X(JOIN, "join", "two partial sums under the larger exponent, each floored; not rounded")                                               \
    X(LATE, "late c", "the sum of products and c, each floored under the larger exponent, added, rounded")                                 \
    X(FMA, "fma", "one product and the accumulator: added exactly, rounded")                                                               \
    X(EXACT, "exact", "products and c: added exactly, rounded once")                                                                       \
    X(PRODUCT, "product", "one product, rounded")                                                                                          \
    X(PAIR, "pair", "two products: added exactly, rounded")                                                                                \
    X(ADD, "add", "two results, or a result and c: added, rounded")                                                                        \
    X(INTEGER, "integer", "products of integers, or counts of bits, and c: added exactly, wrapped or clamped")                             \
    X(NAN, "nan", "a NaN of an operand comes out, quieted; nothing is computed")

typedef enum lb_explain_what {
#define X(id, name, text) LB_EXPLAIN_##id,
    LB_EXPLAIN_OP_LIST(X)
#undef X
        LB_EXPLAIN_WHAT_COUNT
} lb_explain_what;

const char *lb_explain_what_name(lb_explain_what what);
const char *lb_explain_what_text(lb_explain_what what);

/* What a term of an operation is. */
typedef enum lb_explain_source {
    LB_EXPLAIN_FROM_PRODUCT, /* a times b (and the scales); in popc units what the bits count */
    LB_EXPLAIN_FROM_C,       /* the accumulator as the operation finds it */
    LB_EXPLAIN_FROM_OP       /* the result of an earlier operation */
} lb_explain_source;

#define LB_NO_EXPONENT (-1000000) /* below every exponent */

/** One term. value = kept + cut, exactly, unless the value is NaN or Inf. */
typedef struct lb_explain_term {
    lb_explain_source source;
    size_t k;                  /* PRODUCT: its place along K; past K it is padding */
    size_t from;               /* OP: number of the operation */
    uint64_t a, b;             /* PRODUCT: codes as stored; C, OP: the code in a (0 where the operation's result has none) */
    uint64_t scale_a, scale_b; /* PRODUCT of a unit with scales, where they are not those of a group */
    bool flushed;              /* a subnormal operand counts as zero, or a product out of range as Inf: value has it so */
    lb_value value;            /* exact, never normalised by the unit */
    int32_t exponent;          /* with which it takes part in the maximum; LB_NO_EXPONENT: it does not */
    bool sets_max;             /* it has the largest exponent (maybe among others) */
    lb_value kept, cut;
} lb_explain_term;

/** One operation; its terms are explanation.terms[first_term … first_term + term_count). */
typedef struct lb_explain_op {
    lb_explain_what what;
    size_t step;            /* K step of the unit, from 0 */
    size_t block;           /* number of the block (of what the path repeats) that it belongs to, from 0 over all of K */
    size_t first_k, last_k; /* that its products cover; of an operation without products: those of its block */
    size_t first_term, term_count;
    uint64_t scale_a, scale_b; /* GROUP: codes */
    bool aligned;              /* terms were cut at multiples of 2^unit_exp (c of LATE at 2^c_unit_exp) */
    int32_t max_exp;           /* the largest exponent; LB_NO_EXPONENT where no term has one */
    int32_t unit_exp, c_unit_exp;
    bool floor_sets_max;  /* the unit's floor_exp is the largest */
    bool alone;           /* NaN or Inf among the terms decided; nothing was added */
    lb_value sum;         /* exact sum of what was kept (GROUP: times the scales); sticky if beyond 128 bits */
    int32_t sum_exponent; /* of its leading one; LB_NO_EXPONENT for zero, Inf, NaN */
    bool rounded;         /* false: the result is sum itself */
    lb_unit_round round;
    lb_format_id format; /* of result */
    uint64_t result;     /* code, if rounded */
    lb_value lost;       /* sum - result; zero where either is Inf or NaN */
    bool overflow;       /* sum beyond the format: Inf, the largest finite value, wrapped or clamped */
    bool result_flushed; /* a subnormal result became zero */
} lb_explain_op;

/** The whole way from A, B and C to one element of D. Plain data; ops and terms are owned, lb_explain_free. */
typedef struct lb_explanation {
    lb_unit unit;
    size_t row, col, k; /* k: products, without padding (of a compressed A: what B has) */
    size_t steps, blocks;
    uint64_t c, d;        /* codes of u->c and u->d */
    lb_value exact_value; /* c and all products, no rounding anywhere; sticky if beyond 128 bits */
    uint64_t exact;       /* that, rounded once to u->d, to nearest even (integers: clamped) */
    uint64_t ulp;         /* lb_ulp_distance of d and exact */
    lb_explain_op *ops;
    size_t op_count;
    lb_explain_term *terms;
    size_t term_count;
} lb_explanation;

/** Explain D(row, col) of lb_unit_gemm_with.
 *  shapes   as lb_unit_gemm_with; `with` may be NULL
 *  accuracy d is the code that lb_unit_gemm_with gives: it is computed here by another way (exact values and lb_encode), compared with the
 *           engine, and refused with LB_E_UNAVAILABLE if the two ever differ
 *  errors   as lb_unit_gemm_with; LB_E_SHAPE for a place outside D; LB_E_ARG for a K step of more than 256 products; then *out is empty
 *  memory   some 200 bytes an operation and a term; *out is the caller's, lb_explain_free
 *  threads  pure */
lb_status lb_explain(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, size_t row,
                     size_t col, lb_explanation *out, lb_error *err);
void lb_explain_free(lb_explanation *e);

#ifdef __cplusplus
}
#endif
#endif
