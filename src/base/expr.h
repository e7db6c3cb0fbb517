/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: sizes as text: "roundup(n,16)" of a kernel's JSON, "rows,d" of an operator's shape. */
#ifndef LB_BASE_EXPR_H
#define LB_BASE_EXPR_H

#include "lastbit/base.h"

/* A name that the expression may use. */
typedef struct lb_expr_var {
    const char *name;
    int64_t value;
} lb_expr_var;

/** Value of an integer expression over vars: + - * / % ( ), min max ceildiv roundup. place is for errors.
 *  errors LB_E_FILE with the column: syntax, unknown name, overflow, division by zero. threads pure */
lb_status lb_expr_eval(const char *text, const lb_expr_var *vars, size_t count, const char *place, int64_t *out, lb_error *err);

#endif
