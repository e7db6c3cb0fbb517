/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: an explanation as it grows. Everything here works on exact values and lb_encode, none of it on the engine's integers, so that
 * the two check each other. */
#ifndef LB_UNITS_TELLING_H
#define LB_UNITS_TELLING_H

#include "formats/exact_sum.h"
#include "lastbit/explain.h"
#include "units/path.h"

/* One K step as the element sees it. */
typedef struct lb_told_step {
    int count;                                     /* products */
    uint64_t a[LB_MAX_K], b[LB_MAX_K];             /* codes as stored; b gathered where A is compressed */
    size_t k[LB_MAX_K];                            /* their places along K */
    uint64_t scale_a[LB_MAX_K], scale_b[LB_MAX_K]; /* [u->k / u->scale_block] */
} lb_told_step;

typedef struct lb_teller {
    lb_explanation *e;
    const lb_unit *u;
    size_t op_room, term_room;
    size_t step;  /* number of the step that is told */
    size_t block; /* number of the block that is told */
    bool failed;  /* no memory: what is told from then on goes nowhere */
    lb_explain_op no_op;
    lb_explain_term no_term;
} lb_teller;

/* Begin an operation over products first … last of the step. The pointer holds until the next one. */
lb_explain_op *lb_tell_op(lb_teller *t, const lb_told_step *s, lb_explain_what what, int first, int last);
lb_explain_op *lb_told_op(lb_teller *t); /* the one that is told */

/* Terms of the operation that is told; c and results by their codes. The value and its exponent are the caller's to fill where the
 * path has them otherwise. */
lb_explain_term *lb_tell_product(lb_teller *t, const lb_told_step *s, int i, lb_value a, lb_value b);
lb_explain_term *lb_tell_code(lb_teller *t, lb_explain_source source, size_t from, lb_format_id format, uint64_t code);
lb_explain_term *lb_tell_value(lb_teller *t, size_t from, lb_value value, int32_t exponent);
size_t lb_last_op(const lb_teller *t);

/* The terms of the operation that is told, under the largest exponent of them and of floor_exp, cut toward zero (or floored) at
 * frac_bits below it. */
void lb_tell_alignment(lb_teller *t, int32_t floor_exp, int frac_bits, bool floors);

/* The exact sum of what is kept. */
void lb_tell_sum(lb_teller *t);

/* Whether NaN or Inf among the terms decide alone; then sum is what IEEE 754 gives. */
bool lb_tell_alone(lb_teller *t);

/* The sum, rounded; returns the code. */
uint64_t lb_tell_rounding(lb_teller *t, lb_unit_round round, lb_format_id format, const lb_encoding *how);
/* The same where the code is known already. */
uint64_t lb_tell_code_of(lb_teller *t, lb_unit_round round, lb_format_id format, uint64_t code, bool overflow);

/* ---- values --------------------------------------------------------------------------------------------------------- */

int32_t lb_value_exponent(lb_value v); /* of the leading one; LB_NO_EXPONENT if v is not finite or zero */
lb_value lb_value_trimmed(lb_value v); /* the same with an odd significand */
/* v at multiples of 2^q. *cut is sticky where it has more than 128 bits. */
void lb_value_cut(lb_value v, int32_t q, bool floors, lb_value *kept, lb_value *cut);

/* ---- the paths: each tells one K step and returns the accumulator behind it ------------------------------------------ */

typedef uint64_t lb_tell_function(lb_teller *t, const lb_told_step *s, uint64_t c);

lb_tell_function lb_tell_blocks, lb_tell_block_scaled;                     /* explain_blocks.c */
lb_tell_function lb_tell_exact, lb_tell_pairwise, lb_tell_late_c;          /* explain_mfma.c */
lb_tell_function lb_tell_fma_chain, lb_tell_odd_first, lb_tell_two_chains; /* explain_chains.c */
lb_tell_function lb_tell_pair_odd, lb_tell_pair_fused, lb_tell_integer;    /* explain_chains.c */

#endif
