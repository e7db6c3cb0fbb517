/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a unit made ready for the vector kernels, and what they may assume. Every number follows from the parameters of the row.
 *
 * A kernel works on values scaled by 2^-X with X = p_min + 126 - F, where p_min is the least exponent that a product of the operands at
 * hand can have and F the fraction bits of the unit. Every non-zero product is then a normal f32, and the largest exponent of a block is
 * an f32 exponent field in [F + 1, F + 127]. */
#ifndef LB_KERNELS_PLAN_H
#define LB_KERNELS_PLAN_H

#include "lastbit/units.h"

enum {
    LB_NR = 64,        /* columns of a panel */
    LB_KC = 128,       /* most products of a chunk */
    LB_NONE8 = -128,   /* exponent byte of a zero operand: with any other below every start, two of them 0 */
    LB_NONE16 = -8192, /* the same in the f64 path */
    LB_X_WIDE = 300,   /* x of a row that takes the f64 path */
    LB_X_ENGINE = 301, /* … or the engine */
};

/* How the codes of an operand are read: magnitude = code >> pad & mag_mask, finite below `special`. */
typedef struct lb_codes {
    int bytes, pad, man, bias, sign_up; /* sign_up: shift that brings the sign to bit 31 */
    uint32_t sign, mag_mask;
    uint32_t special;      /* least magnitude that is Inf or NaN */
    uint32_t inf;          /* magnitude of Inf; no magnitude at all where the format has none */
    int e_min, e_max;      /* exponents of finite values, subnormals at e_min */
    bool narrow;           /* the whole range fits in a window */
    const uint16_t *widen; /* [256] f16 codes of fp8 codes, where the multiplier takes f16; else NULL */
} lb_codes;

typedef enum lb_finish {
    LB_FINISH_RZ,         /* f32, toward zero */
    LB_FINISH_E8M13,      /* the same with 13 fraction bits */
    LB_FINISH_F16,        /* f16, to nearest even */
    LB_FINISH_HALVES_RZ,  /* blocks from zero, rounded as RZ; c added at the end of a K step, to nearest even */
    LB_FINISH_HALVES_F16, /* the same with f16 */
    LB_FINISH_LATE,       /* f64 alone: c joins the cut sum of the products by floors; f32, to nearest even */
    LB_FINISH_LATE_SPLIT, /* the same with a sum over even and one over odd k */
    LB_FINISH_COUNT
} lb_finish;

typedef struct lb_plan {
    const lb_unit *u;
    lb_codes a, b;
    int k, terms, frac_bits, floor_exp; /* floor_exp is -1000 or more */
    lb_finish finish;
    bool c16;               /* c and d are f16 */
    uint32_t nan32;         /* NaN of an f32 d */
    bool may_split;         /* a block of this format can exceed int32 */
    double sig_limit;       /* a block whose significands of A add up to no more cannot */
    bool few_bits;          /* sums of a block need no more than the bits of an f32: see by_sign.h */
    bool dots16;            /* a K step is 16 products of f16 in blocks of 8 or 16 to f32: see dots_f16.h */
    int span;               /* most binades of A and B together that the fast path takes */
    uint8_t from[LB_KC];    /* [k] which product of a K step comes at a position */
    uint16_t widen[2][256]; /* of A, of B */
} lb_plan;

/* false if the unit is not for these kernels; err says nothing then */
bool lb_plan_can(const lb_unit *u);
bool lb_plan_can_wide(const lb_unit *u); /* … for the f64 path */
void lb_plan_of(const lb_unit *u, lb_plan *p);

/* Whether exponents lo .. hi of the products of k terms, without c, fit the fast path; *x is X. */
bool lb_plan_fits(const lb_plan *p, int lo, int hi, size_t k, int *x);

/* The least exponent field of a block: that of the least product, or of the unit's floor. */
int lb_plan_start(const lb_plan *p, int x);

/* The operands exchanged: D' = B' A' with the same arithmetic. */
void lb_plan_swap(lb_plan *p);

#endif
