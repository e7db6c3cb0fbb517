/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef LB_CONTRACTS_REDUCTION_H
#define LB_CONTRACTS_REDUCTION_H

#include "lastbit/contracts.h"

typedef struct lb_depth {
    double inner, outer; /* roundings in the accumulator, and in f32 after it */
    double step_u;       /* what one step of the accumulator may add, relative to the sum of magnitudes */
    double step_random;  /* root of the sum of the squares of its parts */
} lb_depth;

lb_depth lb_reduction_depth(const lb_contract *c, double k);

/* Absolute error of underflows in the accumulator. */
double lb_reduction_underflow(const lb_contract *c, double k);

#endif
