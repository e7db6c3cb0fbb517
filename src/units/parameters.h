/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: which parameters a path reads. */
#ifndef LB_UNITS_PARAMETERS_H
#define LB_UNITS_PARAMETERS_H

#include "lastbit/units.h"

/* errors LB_E_ARG for an answer in u->edges that this path does not read: it would change nothing, and look as if it did */
lb_status lb_check_edges(const lb_unit *u, lb_error *err);

/* NaN as the unit is told to give it: every code path ends a step here. */
static inline uint64_t lb_settle_nan(const lb_unit *u, uint64_t code) {
    return u->edges.nan_set && lb_code_class(lb_format_row(u->d), code) == LB_NAN ? u->edges.nan : code;
}

#endif
