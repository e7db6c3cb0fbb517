/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: outputs of sums by atomics, whose parts come in any order. */
#ifndef LB_KERNELS_FIT_ORDERS_H
#define LB_KERNELS_FIT_ORDERS_H

#include "kernels/fit.h"

/* *found: each element of the output is what some order of this group's parts gives, atomics of f32, or (narrow) of the output's format. Then
 * row says how many results an element has, and names the order where one gives them all. few: of a few elements only, and no order.
 * *asked: whether this group has parts whose order can matter. errors LB_E_MEMORY, lb_scheduled_check's */
lb_status lb_fit_orders(const lb_fit_case *c, const lb_fit_group *g, bool narrow, bool few, const lb_gemm_options *gemm, lb_fit_row *row,
                        bool *asked, bool *found, lb_error *err);

#endif
