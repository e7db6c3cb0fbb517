/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: candidates made ready for many dots. */
#ifndef LB_RUN_CANDIDATE_H
#define LB_RUN_CANDIDATE_H

#include "lastbit/probe.h"

enum { LB_CANDIDATE_MAX_K = 256 };

/* An operand: sig * 2^(e - fraction bits); `least` is the least exponent of its format, which a zero has for some. */
typedef struct lb_candidate_term {
    int64_t sig;
    int e, least;
    lb_class cls;
    bool negative;
} lb_candidate_term;

int *lb_candidate_field(lb_candidate *c, size_t i);
lb_status lb_candidate_check(const lb_candidate *x, const lb_unit *u, lb_error *err);
lb_candidate_term lb_candidate_term_of(const lb_candidate *x, const lb_format *f, uint64_t code);
int lb_candidate_frac(const lb_candidate *x, const lb_unit *u);      /* fraction bits of a product */
size_t lb_candidate_slot(const lb_candidate *x, size_t i, size_t k); /* where product i of a K step goes */
uint32_t lb_candidate_step(const lb_candidate *x, const lb_format *out, const lb_candidate_term *a, const lb_candidate_term *b, int frac,
                           size_t k, uint32_t c); /* a, b [k] in slot order */

#endif
