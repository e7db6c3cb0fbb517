/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the integer engine, its operands and a row made ready for it. */
#ifndef LB_UNITS_STEP_H
#define LB_UNITS_STEP_H

#include "lastbit/units.h"

enum {
    LB_TERM_ZERO = -20000,   /* exponent of a zero operand: never the largest, and its significand is 0 */
    LB_TERM_SPECIAL = 20000, /* NaN (sig 0) or Inf (sig 1, -1) */
};

/* An operand: sig * 2^(e - man_bits of its format). */
typedef struct lb_term {
    int32_t sig, e;
} lb_term;

/* A row made ready: everything that a block needs, worked out once. */
typedef struct lb_engine {
    const lb_format *out;
    int terms, k, frac_bits, floor_exp;
    int p_up, p_down, c_up, c_down; /* shifts that bring a product's, and c's, fraction bits to frac_bits */
    bool nearest, c_last;
    int out_frac, out_pad, e_min, e_max;
    uint32_t sign_bit, inf_code, nan_code;
} lb_engine;

/* errors LB_E_UNAVAILABLE for an open row; LB_E_FORMAT, LB_E_ARG for parameters that the engine cannot hold */
lb_status lb_engine_of(const lb_unit *u, lb_engine *g, lb_error *err);

/* One K step over g->k terms in slot order; `special` says that a or b may hold NaN or Inf. */
uint32_t lb_engine_step(const lb_engine *g, const lb_term *a, const lb_term *b, uint32_t c, bool special);

lb_term lb_term_of(const lb_format *f, uint64_t code);

/* Rule 8: sum * 2^exp in the output format; a zero sum is +0, and the sign stays also where the magnitude rounds to zero. */
uint32_t lb_round_sum(const lb_engine *g, int64_t sum, int32_t exp);

/* |sig| in units of 2^(E - F), cut toward zero. `up` and `down` bring the operand's own fraction bits to F. */
static inline int64_t lb_align(int64_t sig, int32_t below_top, int up, int down) {
    const int64_t sign = sig < 0 ? -1 : 0;
    const uint64_t magnitude = (uint64_t)((sig ^ sign) - sign);
    const int32_t shift = below_top + down;
    const int64_t kept = (int64_t)(magnitude << up >> (shift < 63 ? shift : 63));
    return (kept ^ sign) - sign;
}

/* An operand of the unit in the form that its multiplier sees. */
lb_term lb_unit_term(const lb_unit *u, lb_format_id format, uint64_t code);

/* Where product i of a K step goes: the order in which the unit takes them. */
size_t lb_unit_slot(const lb_unit *u, size_t i);

/* The accumulator, decoded: f32 or f16. */
static inline lb_term lb_term_of_output(const lb_engine *g, uint32_t code) {
    const int frac = g->out->man_bits;
    const uint32_t magnitude = code & (g->sign_bit - 1);
    const int32_t field = (int32_t)(magnitude >> frac);
    const uint32_t man = magnitude & ((UINT32_C(1) << frac) - 1);
    const bool negative = code & g->sign_bit;
    if (magnitude == 0) return (lb_term){0, LB_TERM_ZERO};
    if (magnitude >= g->inf_code) return (lb_term){man ? 0 : negative ? -1 : 1, LB_TERM_SPECIAL};
    const int32_t sig = (int32_t)(field ? man | UINT32_C(1) << frac : man);
    return (lb_term){negative ? -sig : sig, (field ? field : 1) - 1 + g->e_min};
}

#endif
