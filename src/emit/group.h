/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: fragments of every path that lane.c does not write. */
#ifndef LB_EMIT_GROUP_H
#define LB_EMIT_GROUP_H

#include "emit/lane.h"

bool lb_group_suits(const rule *r);

/* errors LB_E_UNAVAILABLE where the layouts are not those of a group of 32 or 64 */
lb_status lb_group_open(file *f, lb_error *err);

void lb_group_print(lb_text *t, const file *f, ir_program *p);

#endif
