/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: operands looked at and changed for the sake of a contract. */
#ifndef LB_RUN_PLAIN_H
#define LB_RUN_PLAIN_H

#include "lastbit/refs.h"

/* Elements that are subnormal: not zero, and with the least exponent. */
uint64_t lb_count_subnormals(const lb_mat *m);

typedef enum lb_subnormal_as { LB_SUBNORMAL_AS_ZERO, LB_SUBNORMAL_AS_LEAST_NORMAL } lb_subnormal_as;

/* A row-major copy with those as zeros, or as the least normal number; *owned is the caller's to free(). */
lb_status lb_copy_without_subnormals(const lb_mat *m, lb_subnormal_as as, lb_mat *out, void **owned, lb_error *err);

/* What a plain kernel gives: f32 sums from p = 0 to k - 1, then C, rounded once to x->out. errors LB_E_MEMORY */
lb_status lb_plain_matmul(const lb_case *x, lb_mat *out, lb_error *err);

#endif
