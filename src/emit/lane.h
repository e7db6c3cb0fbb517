/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a file in the making, and its functions for one lane of 32. */
#ifndef LB_EMIT_LANE_H
#define LB_EMIT_LANE_H

#include "emit/rule.h"

#include "lastbit/fragments.h"

enum { LB_EMIT_NAME = 192 };

typedef struct file {
    const ir_language *l;
    rule rule;
    char name[LB_EMIT_NAME];
    lb_fragment a, b, c, d; /* of a fragment */
} file;

/* errors LB_E_UNAVAILABLE where the layouts are not those of a group of 32 */
lb_status lb_lane_open(file *f, lb_error *err);

void lb_lane_print(lb_text *t, const file *f, ir_program *p);

#endif
