/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a sweep of candidates over a recording. */
#ifndef LB_RUN_FIT_SWEEP_H
#define LB_RUN_FIT_SWEEP_H

#include "run/candidate.h"
#include "run/recording.h"

typedef struct lb_scored {
    lb_candidate candidate;
    uint64_t screen; /* words that it gives of the first s->screen dots */
    bool counted;    /* on all dots: */
    uint64_t words;
} lb_scored;

typedef struct lb_sweep {
    const lb_recording *x;
    size_t screen;              /* dots that every candidate is scored on */
    lb_candidate_product *p[2]; /* [order]: [n][k_padded] in slot order */
    int frac[2];                /* fraction bits of a product, by order */
    size_t k_padded;
    lb_scored *list; /* [count], best first after lb_sweep_run */
    size_t count, capacity;
    void (*progress)(void *user, const char *stage, double fraction);
    void *user;
} lb_sweep;

lb_status lb_sweep_prepare(lb_sweep *s, lb_error *err);
lb_status lb_sweep_run(lb_sweep *s, const lb_candidate *row, lb_error *err);
void lb_sweep_free(lb_sweep *s);

/* The distinct values of a parameter in the list, ascending; *out is the caller's to free(), NULL without memory. */
size_t lb_sweep_values(const lb_sweep *s, size_t parameter, int **out);

#endif
