/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/gather.h"

#include <stdlib.h>

lb_status lb_gather(lb_mat *out, void **owned, const lb_mat *m, const size_t *rows, size_t row_count, const size_t *cols, size_t col_count,
                    lb_error *err) {
    const size_t height = rows ? row_count : m->rows, width = cols ? col_count : m->cols;
    const bool fits = !width || height <= SIZE_MAX / 16 / width;
    *owned = fits ? calloc(height * width + 1, (size_t)m->format->bytes) : NULL;
    if (!*owned) return lb_fail(err, LB_E_MEMORY, "part of a matrix", "no memory for %zux%zu elements", height, width);
    *out = lb_mat_of(m->format, *owned, height, width);
    for (size_t r = 0; r < height; r++)
        for (size_t c = 0; c < width; c++)
            lb_store_code(lb_mat_at(out, r, c), m->format->bytes, lb_mat_code(m, rows ? rows[r] : r, cols ? cols[c] : c));
    return LB_OK;
}
