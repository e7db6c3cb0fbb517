/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/gather.h"

#include <stdlib.h>

lb_status lb_gather(lb_mat *out, void **owned, const lb_mat *m, const size_t *rows, size_t row_count, const size_t *cols, size_t col_count,
                    lb_error *err) {
    const bool fits = !col_count || row_count <= SIZE_MAX / 16 / col_count;
    *owned = fits ? calloc(row_count * col_count + 1, (size_t)m->format->bytes) : NULL;
    if (!*owned) return lb_fail(err, LB_E_MEMORY, "sample", "no memory for %zux%zu elements", row_count, col_count);
    *out = lb_mat_of(m->format, *owned, row_count, col_count);
    for (size_t r = 0; r < row_count; r++)
        for (size_t c = 0; c < col_count; c++)
            lb_store_code(lb_mat_at(out, r, c), m->format->bytes, lb_mat_code(m, rows ? rows[r] : r, cols ? cols[c] : c));
    return LB_OK;
}
