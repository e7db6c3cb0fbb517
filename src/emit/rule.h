/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the rule of a unit's block as statements of the intermediate representation. Rule numbers are those of docs/units.md. */
#ifndef LB_EMIT_RULE_H
#define LB_EMIT_RULE_H

#include "emit/ir.h"
#include "units/step.h"

/* Exponents of operands that have none. A product with a zero stays below, one with a NaN or an Inf above everything: also Inf * 0. */
enum { RULE_ZERO = -1000, RULE_SPECIAL = 100000, RULE_LIMIT = 50000 };

/* A unit made ready, and how its products are formed. */
typedef struct rule {
    const lb_unit *u;
    lb_engine g;
    const lb_format *a, *b;
    bool floats;     /* operands travel as their exact values in f32, else as integer significands */
    bool fast;       /* not exact: an operand is its f32 alone (tier_fast.h) */
    bool weights;    /* exponents travel as weights (weights.h) */
    bool finite;     /* no specials: nothing looks for them */
    bool wide;       /* a block's sum needs two words */
    bool zero_c;     /* a zero accumulator could be the largest exponent: it must not */
    int product_min; /* least exponent of a product that is not zero */
    int top_min;     /* least exponent of a block: below it nothing can be */
} rule;

lb_status lb_rule_of(const lb_unit *u, const lb_emit_options *o, rule *out, lb_error *err);

/* An operand: its value (an F), or its significand with a sign (an I); NaN is 0, Inf is 1 or -1. And its exponent, an I. */
typedef struct rule_operand {
    ir value, e;
} rule_operand;

rule_operand lb_rule_decode(const rule *r, ir_program *p, const lb_format *f, ir code);

/* D of one K step, a U, from decoded operands [u->k] and the code of c. */
ir lb_rule_step(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c);

#endif
