/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: one K step of a unit as statements of the intermediate representation, by the unit's path (src/emit/paths.c has the table).
 * Rule numbers are those of docs/units.md. */
#ifndef LB_EMIT_RULE_H
#define LB_EMIT_RULE_H

#include "emit/ir.h"
#include "units/step.h"

enum { RULE_MAX_K = 256, RULE_MAX_SCALES = 8 };

/* Exponents of operands that have none. A product with a zero stays below, one with a NaN or an Inf above everything: also Inf * 0. */
enum { RULE_ZERO = -1000, RULE_SPECIAL = 100000, RULE_LIMIT = 50000 };

/* A code: its word, or its low and high word where the format has 64 bits; else high is 0. */
typedef struct rule_code {
    ir low, high;
} rule_code;

/* An operand as its path wants it, decoded once. Where terms are aligned: its value (an F), or its significand with a sign (an I); NaN is 0,
 * Inf is 1 or -1. And its exponent, an I. Elsewhere a number or the words of a code. */
typedef struct rule_operand {
    ir value, e;
} rule_operand;

/* How an operand travels through local memory: its registers. */
typedef struct rule_registers {
    int count; /* 1 or 2 */
    ir_type type[2];
} rule_registers;

/* What one K step, or one block of a loop, takes. */
typedef struct rule_inputs {
    const rule_operand *a, *b;             /* [products], or [block]; b gathered where A is compressed */
    const rule_operand *scale_a, *scale_b; /* [scales] */
    rule_code c;
} rule_inputs;

typedef struct rule rule;

/* A path. */
typedef struct rule_path {
    lb_status (*open)(rule *r, const lb_emit_options *o, lb_error *err); /* r has its unit, engine, formats and sizes */
    rule_operand (*decode)(const rule *r, ir_program *p, const lb_format *f, rule_code code);
    rule_code (*step)(const rule *r, ir_program *p, const rule_inputs *in);
    /* Of a path whose steps carry something else than c from block to block: what they begin with, and D in the end; NULL: c itself. */
    rule_code (*begin)(const rule *r, ir_program *p, rule_code c);
    rule_code (*end)(const rule *r, ir_program *p, rule_code state, rule_code c);
    void (*describe)(const rule *r, lb_text *t); /* lines of comment: what it computes, and why it is exact */
    bool lanes; /* lane.c and shuffle.c write its fragments, where it takes neither scales nor a compressed A; else group.c */
} rule_path;

/* A unit made ready, and how its products are formed. */
struct rule {
    const lb_unit *u;
    const rule_path *path;
    lb_engine g; /* of paths whose blocks are truncated */
    const lb_format *a, *b, *c, *scale;
    int products, scales; /* of a K step: k, half of it where A is compressed; pairs of scales, 0 if it takes none */
    int block;            /* products of what is said once and runs in a loop, the result of one being c of the next; 0: all at once */
    rule_registers of_ab, of_scale;
    bool packed;     /* an operand is a register of A or B as it is, `each` codes in it */
    int each;        /* else 1 */
    bool floats;     /* operands travel as their exact values in f32, else as integer significands */
    bool finite;     /* no specials: nothing looks for them */
    bool wide;       /* a block's sum needs two words */
    bool zero_c;     /* a zero accumulator could be the largest exponent: it must not */
    int product_min; /* least exponent of a product that is not zero, scales left out */
    int top_min;     /* least exponent of a block: below it nothing can be */
};

/* errors LB_E_UNAVAILABLE for an open row and for parameters that are not written as source; those of the unit's own path */
lb_status lb_rule_of(const lb_unit *u, const lb_emit_options *o, rule *out, lb_error *err);

/* D of one K step, a U, from decoded operands [products] and the code of c: where a code is one word and there are no scales. */
static inline ir lb_rule_step(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c) {
    const rule_inputs in = {.a = a, .b = b, .c = {c, 0}};
    return r->path->step(r, p, &in).low;
}

/* Words of a code. */
static inline int lb_rule_words(const lb_format *f) {
    return f->bits > 32 ? 2 : 1;
}

/* ---- operands whose terms are aligned (rule_operand.c) ------------------------------------------------------------------------ */

/* Formats that lb_rule_decode knows. */
bool lb_rule_decodes(const lb_format *f);
/* Least exponent of a number of the format, as lb_rule_decode gives it. */
int lb_rule_least_exponent(const rule *r, const lb_format *f);
rule_operand lb_rule_decode(const rule *r, ir_program *p, const lb_format *f, ir code);

/* A code as the unit takes it: tf32 as the unit's edges say, other formats as they are. */
ir lb_rule_taken(const rule *r, ir_program *p, const lb_format *f, ir code);

/* ---- the table's rows ------------------------------------------------------------------------------------------------------ */

extern const rule_path lb_rule_truncated;                                                                        /* rule.c */
extern const rule_path lb_rule_weights;                                                                          /* weights.c */
extern const rule_path lb_rule_fast;                                                                             /* tier_fast.c */
extern const rule_path lb_rule_integer;                                                                          /* rule_integer.c */
extern const rule_path lb_rule_scaled;                                                                           /* rule_scaled.c */
extern const rule_path lb_rule_fma_chain, lb_rule_pairwise, lb_rule_pair, lb_rule_odd_first, lb_rule_two_chains; /* rule_chain.c */
extern const rule_path lb_rule_exact, lb_rule_late;                                                              /* rule_mfma.c */

#endif
