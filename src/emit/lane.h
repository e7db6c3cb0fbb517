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
    lb_fragment a, b, c, d;             /* of a fragment */
    bool b_shared;                      /* b is no register's: the lanes' shares of what lies in shared memory */
    lb_fragment meta, scale_a, scale_b; /* where the unit takes them (group.c) */
} file;

/* ---- one element, a tile (element.c) ----------------------------------------------------------------------------------------- */

typedef enum lb_array_kind { LB_ARRAY_OPERAND, LB_ARRAY_C, LB_ARRAY_D, LB_ARRAY_META } lb_array_kind;

/* An array that a function takes: lines of an operand along k, or C and D. */
typedef struct lb_element_array {
    lb_array_kind kind;
    const char *name, *local; /* in a function's head; of one line's copy */
    int lines, length;        /* of the instruction's matrix: rows of A and so on, columns of B */
    bool row_major_lines;     /* a line is a row; else a column */
    int words, registers;     /* of a code; of what lb_rule_path's decode makes of it */
} lb_element_array;

enum { LB_ELEMENT_ARRAYS = 8 };

/* In the order of the arguments; their number. */
int lb_element_arrays(const rule *r, lb_element_array *out);

/* One element as the function NAME`suffix`, of codes, or of decoded operands where B is gathered already. */
void lb_element_print(lb_text *t, const file *f, ir_program *p, const char *suffix, bool decoded);

/* NAME_tile, which calls NAME_dot. */
void lb_tile_print(lb_text *t, const file *f, ir_program *p);

/* ---- fragments (lane.c) ------------------------------------------------------------------------------------------------------- */
enum { LANE_COUNT = 32, LANE_ITEMS = 64 };

/* errors LB_E_UNAVAILABLE where the layouts are not those of a group of 32 or 128 */
lb_status lb_lane_open(file *f, lb_error *err);

/* A lane's registers of an operand; the codes in them; its registers of D from the codes of all its items. */
void lb_lane_registers(ir_program *p, const lb_fragment *f, const char *array, ir *registers);
ir lb_lane_code(ir_program *p, const lb_fragment *f, const ir *registers, int item);
void lb_lane_store(const file *f, ir_program *p, const ir *d);

/* A barrier of the whole group. */
const char *lb_lane_barrier(const file *f);

/* The function's head, from the lane on, with some of a, b, c, d. */
void lb_lane_arrays(lb_text *t, const file *f, bool a_and_b, bool c_and_d);

void lb_lane_print(lb_text *t, const file *f, ir_program *p);

#endif
