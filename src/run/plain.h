/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: operands looked at and changed for the sake of a contract. */
#ifndef LB_RUN_PLAIN_H
#define LB_RUN_PLAIN_H

#include "lastbit/contracts.h"

/* Elements that are subnormal: not zero, and with the least exponent. */
uint64_t lb_count_subnormals(const lb_mat *m);

/* What subnormal operands do to the gauge [m][n] of a product: lost [m][n] (NULL unless the contract's kernel flushes its inputs) gets the
 * part of it that flushed ones lose; and where hardware adds products at once, the gauge is taken with the least normal number for each
 * of them, as they are aligned as if they had its leading bit. errors LB_E_MEMORY */
lb_status lb_weigh_subnormals(const lb_case *x, const lb_contract *c, double *gauge, double *lost, lb_error *err);

/* What a plain kernel gives: f32 sums from p = 0 to k - 1, then C, rounded once to x->out. errors LB_E_MEMORY */
lb_status lb_plain_matmul(const lb_case *x, lb_mat *out, lb_error *err);

#endif
