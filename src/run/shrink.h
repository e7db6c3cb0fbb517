/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a failing case that is being shrunk, and the question whether a smaller one fails alike. */
#ifndef LB_RUN_SHRINK_H
#define LB_RUN_SHRINK_H

#include "lastbit/shrink.h"

/* A case whose matrices are row-major copies of its own. */
typedef struct lb_cut {
    lb_case x;
    lb_mat actual; /* codes NULL: a device is run */
    void *owned[4];
    size_t row, col; /* where the first wrong element of the given output is now */
} lb_cut;

typedef struct lb_shrinking {
    const lb_shrink_options *o;
    lb_cut now;
    lb_failure failure;
    bool plain_passes; /* a plain f32 product passes the contract on the whole case */
    bool device;
    uint64_t runs, most_runs;
    double start, seconds;
    bool out_of_budget;
    const char *stage;
    lb_error *err;
    lb_status status; /* what ended the search early: memory */
} lb_shrinking;

/* Whether this case fails in the same way; false once the budget is spent. The case stays the caller's. */
bool lb_shrink_fails(lb_shrinking *s, const lb_cut *c);

/* Values of A, B and C towards 0 and 1. True if anything became simpler. */
bool lb_shrink_values(lb_shrinking *s);

#endif
