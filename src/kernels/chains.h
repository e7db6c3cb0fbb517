/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the paths that are no truncated blocks of floats, a row of A against a panel of B at a time. Each lane is an output; what a
 * path adds in which order is that of units/, on values instead of codes. */
#ifndef LB_KERNELS_CHAINS_H
#define LB_KERNELS_CHAINS_H

#include "kernels/kernels.h"

/* X(kind, what a position of a strip holds) */
#define LB_CHAIN_LIST(X)                                                                                                                   \
    X(FMA64, F64)      /* c = fma(a, b, c) in f64 */                                                                                       \
    X(FMA32, F64)      /* the same in f32 */                                                                                               \
    X(FMA32_FTZ, F64)  /* … subnormals flushed in and out; the order is the packing's */                                                 \
    X(TWO_CHAINS, F64) /* … two of them a K step, over even and over odd positions */                                                    \
    X(EXACT, F64)                                                                                                                          \
    X(PAIRWISE, F64)                                                                                                                       \
    X(PAIR_ODD, F64)                                                                                                                       \
    X(PAIR_FUSED, F64)                                                                                                                     \
    X(WRAP, PAIR) /* two integers of 16 bits */                                                                                            \
    X(SATURATE, PAIR)                                                                                                                      \
    X(XOR, BIT)     /* a bit as a pair: (a, 1) and (1 - 2b, b) make a xor b */                                                             \
    X(GROUPS, PAIR) /* scaled groups of fp4, in units of 1/2 */

typedef enum lb_chain_kind {
#define X(kind, holds) LB_CHAIN_##kind,
    LB_CHAIN_LIST(X)
#undef X
        LB_CHAIN_COUNT
} lb_chain_kind;

/* The scales of groups of positions, of one line or [groups][LB_NR]. */
typedef struct lb_chain_groups {
    const uint32_t *live; /* bit i: product i of the group is not zero */
    const double *scale;  /* NaN for NaN */
    const double *power;  /* the power of two of its exponent; 0 where the scale is zero */
} lb_chain_groups;

typedef struct lb_chain_strip {
    const void *a; /* [length] double, float or a pair in uint32 */
    const void *b; /* [length][LB_NR] */
    void *c;       /* [LB_NR] double (of F64), float (where it is held so) or int32; GROUPS: double */
    int columns, length;
    int step;  /* positions of a K step */
    int terms; /* positions of a block */
    int frac_bits, floor_exp;
    lb_chain_groups ga, gb; /* GROUPS */
} lb_chain_strip;

struct lb_chain_tiles {
    unsigned (*enter)(lb_chain_kind kind);
    void (*leave)(unsigned saved);
    void (*strip)(const lb_chain_strip *s, lb_chain_kind kind);
    bool fma; /* fused multiply-adds of f32: FMA32, FMA32_FTZ and TWO_CHAINS are held in float */
};

#if defined(__x86_64__)
extern const lb_chain_tiles lb_chain_tiles_avx512, lb_chain_tiles_avx2;
#endif
extern const lb_chain_tiles lb_chain_tiles_portable;

bool lb_chain_can(const lb_unit *u);

/* lb_gemm_with for a unit that lb_chain_can */
lb_status lb_chain_drive(const lb_chain_tiles *tiles, const lb_product *x, const lb_gemm_options *options, lb_error *err);

#endif
