/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a case cut or extended along one of its sizes. */
#ifndef LB_RUN_RESHAPE_H
#define LB_RUN_RESHAPE_H

#include "lastbit/operators.h"

typedef enum lb_pad_fill { LB_PAD_ZERO, LB_PAD_MINUS_INF, LB_PAD_LARGE } lb_pad_fill;

/** x with parameter `size` set to count: place i of it is place from + i of x; what x has not is filled. Queries that begin at from have
 *  their q_offset moved. errors as lb_op_case_of. memory lb_op_case_close */
lb_status lb_case_reshape(lb_op_case **out, const lb_op_case *x, const char *size, size_t from, size_t count, lb_pad_fill fill,
                          lb_error *err);

/** Compare what y has of x, y = lb_case_reshape(x, size, from, …): the largest distance in ULP, elements that differ, elements compared. */
double lb_case_distance(const lb_op_case *x, const lb_op_case *y, const char *size, size_t from, size_t *differ, size_t *compared);

#endif
