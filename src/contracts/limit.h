/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: an element's tolerance, in two parts: what its row decides, once, and what is its own. */
#ifndef LB_CONTRACTS_LIMIT_H
#define LB_CONTRACTS_LIMIT_H

#include "lastbit/contracts.h"

/* What a contract makes of one row. Numbers that the bound does not use are 0. */
typedef struct lb_limit_row {
    double row_rms, root_k;
    double floor;                    /* ULP_OR_FLOOR: the floor; STATISTICAL: at the row's RMS, without the element's part of the bias */
    double per_gauge;                /* of sum |a||b| */
    double atol, rtol, small;        /* as the format has them */
    double random, bias, bias_share; /* STATISTICAL: of the scale; of |r| */
    double underflow;
    double depth, outer_depth, step_u, step_random, quantile, bias_quantile, per_element; /* what those are made of */
} lb_limit_row;

/* elements >= 1. The gauge may be needed: see lb_contract_needs_gauge. */
lb_limit_row lb_limit_of_row(const lb_contract *c, const lb_format *f, double k, double row_rms, double elements);

/* The absolute tolerance of an element: r its reference's value, gauge NAN where it is not known. INFINITY where nothing can be said. */
double lb_limit_of_element(const lb_contract *c, const lb_limit_row *row, double r, double gauge, double flushed_gauge);

/* What the spread of partial sums is taken as (STATISTICAL). */
double lb_limit_scale(const lb_limit_row *row, double r, double gauge);

/* Whether the error is the distance between the reals that round to actual and those that round to the reference. */
bool lb_limit_between_reals(const lb_contract *c);

/* That distance: 0 for the same code and for neighbours. Both codes are of finite values. */
double lb_limit_distance(const lb_format *f, uint64_t actual, double a, uint64_t reference, double r);

/* What `steps` ordinals away from zero are at a finite code, as a distance; toward zero at the top. */
double lb_limit_reach(const lb_format *f, uint64_t code, double steps);

#endif
