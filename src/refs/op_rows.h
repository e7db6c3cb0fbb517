/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: rows of fills.def, and drawing a case's inputs. */
#ifndef LB_REFS_OP_ROWS_H
#define LB_REFS_OP_ROWS_H

#include "lastbit/operators.h"

typedef struct lb_fill_row {
    const char *name, *bound, *summary; /* bound: the parameter that an index stays below; "" for none */
} lb_fill_row;

/** Row by name ("" for data), NULL if there is none. */
const lb_fill_row *lb_fill_find(const char *name);

/** Draw every input of a case as its dist, magnitude and seed say; the arrays are made. */
void lb_op_draw(lb_op_case *x);

#endif
