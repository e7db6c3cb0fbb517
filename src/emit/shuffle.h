/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a fragment whose lanes exchange by sub-group shuffles, without local memory. */
#ifndef LB_EMIT_SHUFFLE_H
#define LB_EMIT_SHUFFLE_H

#include "emit/lane.h"

/* Behind lb_lane_open. errors LB_E_UNAVAILABLE where the language has no shuffles, or another lane's item would depend on the lane */
lb_status lb_shuffle_check(const file *f, lb_error *err);

void lb_shuffle_print(lb_text *t, const file *f, ir_program *p);

#endif
