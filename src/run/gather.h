/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: rows and columns of a matrix, copied side by side. */
#ifndef LB_RUN_GATHER_H
#define LB_RUN_GATHER_H

#include "lastbit/formats.h"

/* rows, cols: places in m; NULL: all of them, whatever the count. *owned is the caller's to free(), also after an error. errors LB_E_MEMORY */
lb_status lb_gather(lb_mat *out, void **owned, const lb_mat *m, const size_t *rows, size_t row_count, const size_t *cols, size_t col_count,
                    lb_error *err);

#endif
