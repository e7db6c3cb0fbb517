/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: sizes in a kernel's JSON, as "roundup(n,16)". */
#ifndef LB_BACKENDS_EXPR_H
#define LB_BACKENDS_EXPR_H

#include "lastbit/base.h"

typedef struct lb_sizes {
    int64_t m, n, k;
} lb_sizes;

/** Value of an integer expression over m, n, k: + - * / % ( ), min max ceildiv roundup. place is for errors.
 *  errors LB_E_FILE with the column: syntax, unknown name, overflow, division by zero. threads pure */
lb_status lb_expr_eval(const char *text, const lb_sizes *sizes, const char *place, int64_t *out, lb_error *err);

#endif
