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

enum { LANE_COUNT = 32, LANE_ITEMS = 64 };

/* errors LB_E_UNAVAILABLE where the layouts are not those of a group of 32 */
lb_status lb_lane_open(file *f, lb_error *err);

/* A lane's registers of an operand; the codes in them; its registers of D from the codes of all its items. */
void lb_lane_registers(ir_program *p, const lb_fragment *f, const char *array, ir *registers);
ir lb_lane_code(ir_program *p, const lb_fragment *f, const ir *registers, int item);
void lb_lane_store(const file *f, ir_program *p, const ir *d);

/* The function's head, from the lane on, with some of a, b, c, d. */
void lb_lane_arrays(lb_text *t, const file *f, bool a_and_b, bool c_and_d);

void lb_lane_print(lb_text *t, const file *f, ir_program *p);

#endif
