/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what faults are made of. Each changes an output in place. */
#ifndef LB_RUN_PLANT_H
#define LB_RUN_PLANT_H

#include "lastbit/formats.h"

typedef struct lb_rectangle {
    size_t top, bottom, left, right; /* the last ones inclusive */
} lb_rectangle;

void lb_plant_fill(lb_mat *d, lb_rectangle r, double v); /* v rounded once */
void lb_plant_fill_code(lb_mat *d, lb_rectangle r, uint64_t code);
void lb_plant_times(lb_mat *d, lb_rectangle r, double f); /* each rounded once */
void lb_plant_copy_row(lb_mat *d, size_t to, size_t from);
void lb_plant_swap_rows(lb_mat *d, size_t x, size_t y);
void lb_plant_shift_rows(lb_mat *d, size_t first);    /* rows from first >= 1 on hold the row before */
void lb_plant_shift_columns(lb_mat *d, size_t first); /* columns likewise */

/* d (i, j) = from (i + down, j + across) in the rectangle, where that lies inside. from is another matrix of that format and shape. */
void lb_plant_move(lb_mat *d, const lb_mat *from, lb_rectangle r, ptrdiff_t down, ptrdiff_t across);

/* The tile of size x size at (top, left), cut at the edges to a square, transposed. */
void lb_plant_transpose_tile(lb_mat *d, size_t top, size_t left, size_t size);

void lb_plant_round_values(double *x, size_t count, const lb_format *f); /* each rounded once to f */

#endif
