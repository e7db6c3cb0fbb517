/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what each instruction set brings (tiles_*.c). One source of the algorithm (fast_body.h, wide_body.h, pack_body.h) is compiled
 * once for each, over a few vector operations (vec_*.h). */
#ifndef LB_KERNELS_TILES_H
#define LB_KERNELS_TILES_H

#include "kernels/plan.h"

/* One row of A against one panel of B over a chunk; c goes in and out. The pointers lie in the order that the tiles' packing made. */
typedef struct lb_strip {
    const float *a;            /* [length] a 2^-XA; by sign: |a| 2^-XA */
    const uint32_t *a_neg;     /* by sign: [length] LB_NR where a < 0, else 0 */
    const uint32_t *a_exp;     /* [length] exponent byte, four times */
    const int8_t *a_pairs_exp; /* pairs: [length][LB_NR] as b_exp, and a [length][LB_NR] as b, instead of a_exp */
    const float *b;            /* [length][LB_NR] b 2^-XB; by sign: [length][2][LB_NR] the positive ones, then minus the negative ones */
    const int8_t *b_exp;       /* [length][LB_NR] exponent bytes, permuted */
    float *c;                  /* [LB_NR] scaled by 2^-X for RZ and E8M13; true values for the others */
    int columns;               /* in use: 1 to LB_NR */
    int blocks, terms, frac_bits;
    int blocks_a_step; /* HALVES */
    int start;         /* least field: F + 1, or the unit's floor */
    int x;             /* X */
    bool split;
} lb_strip;

/* The same in f64. */
typedef struct lb_wide_strip {
    const double *a;       /* [length] a; by sign: |a| */
    const uint32_t *a_neg; /* by sign: [length] LB_NR where a < 0, else 0 */
    const uint32_t *a_exp; /* [length] 16-bit exponent, twice */
    const double *b;       /* [length][LB_NR] b; by sign: [length][2][LB_NR] the positive ones, then minus the negative ones */
    const int16_t *b_exp;  /* [length][LB_NR] permuted */
    float *c;              /* [LB_NR] true values */
    int columns, blocks, terms, frac_bits;
    int start; /* least field */
} lb_wide_strip;

/* Dots of 16 f16 codes each, sixteen a group: d = c + sum a b in f32, but where `slow` says no. */
typedef struct lb_dots16 {
    const uint16_t *a, *b; /* [groups][16][16] */
    const float *c;        /* [groups][16], or NULL; d may be c */
    float *d;
    uint32_t *slow; /* [groups] bit i: dot i is left to the engine, its d as it was */
    int groups;
    ptrdiff_t ahead; /* groups from here to the end of a and b */
} lb_dots16;

/* What a line of codes showed while it was packed. */
typedef struct lb_seen {
    bool special;    /* NaN or Inf, packed as zeros */
    uint64_t first;  /* bit i: position i of the line is neither zero nor special; i < 64 */
    double sig_most; /* the largest sum of significands of a block */
} lb_seen;

typedef struct lb_tiles {
    /* Enter the rounding mode of this finish, whatever the caller's is; gives what leave() takes. */
    unsigned (*enter)(lb_finish finish);
    void (*leave)(unsigned saved);
    /* codes [length], zero-extended -> a, a_exp, and a_neg if by sign; bytes are exponent - lo; seen->first of the first 64 */
    void (*pack_a)(const lb_codes *f, const uint32_t *codes, int length, int lo, int half_x, int terms, float *a, uint32_t *a_exp,
                   uint32_t *a_neg, lb_seen *seen);
    /* codes [length][LB_NR], the first `width` columns -> b, b_exp; bytes are exponent - lo + first; special [LB_NR] is or-ed */
    void (*pack_b)(const lb_codes *f, const uint32_t *codes, int length, int lo, int half_x, int first, int width, bool by_sign, float *b,
                   int8_t *b_exp, uint32_t *special);
    /* the same for the f64 path, the scale of each position (NULL: 1) 2^scales[t] or of each element 2^scales[t][LB_NR]; special is or-ed */
    void (*wide_a)(const lb_codes *f, const uint32_t *codes, const int16_t *scales, int length, double *a, uint32_t *a_exp, uint32_t *a_neg,
                   uint32_t *special);
    void (*wide_b)(const lb_codes *f, const uint32_t *codes, const int16_t *scales, int length, double *b, int16_t *b_exp,
                   uint32_t *special);
    void (*strip)(const lb_strip *s, lb_finish finish);
    void (*pairs)(const lb_strip *s, lb_finish finish); /* LB_NR dots, each lane with an a of its own */
    void (*wide)(const lb_wide_strip *s, lb_finish finish);
    void (*strip_by_sign)(const lb_strip *s, lb_finish finish); /* for few_bits; NULL: there is none */
    void (*dots16)(const lb_plan *p, const lb_dots16 *s);       /* for p->dots16; NULL: there is none */
    int wide_x;                                                 /* products of the f64 path are scaled by 2^-wide_x */
} lb_tiles;

#if defined(__x86_64__)
extern const lb_tiles lb_tiles_avx512, lb_tiles_avx2;
#endif
extern const lb_tiles lb_tiles_portable;

#endif
