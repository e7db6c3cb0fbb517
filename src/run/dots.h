/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a dot/1 recording in memory. */
#ifndef LB_RUN_DOTS_H
#define LB_RUN_DOTS_H

#include "lastbit/io.h"
#include "lastbit/units.h"

typedef struct lb_dots {
    lb_unit unit; /* the caller's to set before lb_dots_load */
    size_t n, k;
    lb_operand a, b, c, d; /* [n][k], [n][k], [1][n], [1][n] */
} lb_dots;

/* errors LB_E_FILE if a tensor is missing or is not the unit's, or the request was not answered. Close also after an error. */
lb_status lb_dots_load(lb_dots *x, const lb_file *f, lb_error *err);
void lb_dots_close(lb_dots *x);

/* A key of __metadata__ that a recording must have. errors LB_E_FILE */
lb_status lb_dots_metadata(const lb_file *f, const char *key, const char **out, lb_error *err);

/* What unit u gives for dot i: its K steps, chained through c. */
lb_status lb_dots_model(const lb_dots *x, const lb_unit *u, size_t i, uint32_t *d, lb_error *err);

#endif
