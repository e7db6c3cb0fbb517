/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: candidates made ready for many dots. */
#ifndef LB_RUN_CANDIDATE_H
#define LB_RUN_CANDIDATE_H

#include "lastbit/probe.h"

enum { LB_CANDIDATE_MAX_K = 256 };

/* One product: sig * 2^(e - fraction bits). */
typedef struct lb_candidate_product {
    int64_t sig;
    int e;    /* un-normalised; of a zero product with the least exponents of its zeros, for who counts it */
    bool two; /* the significand is 2 or above */
    lb_class cls;
    bool negative;
} lb_candidate_product;

int *lb_candidate_field(lb_candidate *c, size_t i);
lb_status lb_candidate_check(const lb_candidate *x, const lb_unit *u, lb_error *err);
lb_candidate_product lb_candidate_product_of(const lb_candidate *x, const lb_unit *u, uint64_t a_code, uint64_t b_code);
int lb_candidate_frac(const lb_candidate *x, const lb_unit *u);      /* fraction bits of a product */
size_t lb_candidate_slot(const lb_candidate *x, size_t i, size_t k); /* where product i of a K step goes */

/* One K step over p[k] in slot order. */
uint32_t lb_candidate_step(const lb_candidate *x, const lb_format *out, const lb_candidate_product *p, int frac, size_t k, uint32_t c);

#endif
