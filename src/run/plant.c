/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/plant.h"

static uint64_t get(const lb_mat *d, size_t i, size_t j) {
    return lb_mat_code(d, i, j);
}

static void put(lb_mat *d, size_t i, size_t j, uint64_t code) {
    lb_store_code(lb_mat_at(d, i, j), d->format->bytes, code);
}

void lb_plant_fill_code(lb_mat *d, lb_rectangle r, uint64_t code) {
    for (size_t i = r.top; i <= r.bottom; i++)
        for (size_t j = r.left; j <= r.right; j++) put(d, i, j, code);
}

void lb_plant_fill(lb_mat *d, lb_rectangle r, double v) {
    lb_plant_fill_code(d, r, lb_from_double(d->format, v));
}

void lb_plant_times(lb_mat *d, lb_rectangle r, double f) {
    for (size_t i = r.top; i <= r.bottom; i++)
        for (size_t j = r.left; j <= r.right; j++) put(d, i, j, lb_from_double(d->format, lb_to_double(d->format, get(d, i, j)) * f));
}

void lb_plant_copy_row(lb_mat *d, size_t to, size_t from) {
    for (size_t j = 0; j < d->cols; j++) put(d, to, j, get(d, from, j));
}

static void copy_column(lb_mat *d, size_t to, size_t from) {
    for (size_t i = 0; i < d->rows; i++) put(d, i, to, get(d, i, from));
}

void lb_plant_swap_rows(lb_mat *d, size_t x, size_t y) {
    for (size_t j = 0; j < d->cols; j++) {
        const uint64_t code = get(d, x, j);
        put(d, x, j, get(d, y, j));
        put(d, y, j, code);
    }
}

void lb_plant_shift_rows(lb_mat *d, size_t first) {
    for (size_t i = d->rows; i-- > first;) lb_plant_copy_row(d, i, i - 1);
}

void lb_plant_shift_columns(lb_mat *d, size_t first) {
    for (size_t j = d->cols; j-- > first;) copy_column(d, j, j - 1);
}

void lb_plant_move(lb_mat *d, const lb_mat *from, lb_rectangle r, ptrdiff_t down, ptrdiff_t across) {
    for (size_t i = r.top; i <= r.bottom; i++)
        for (size_t j = r.left; j <= r.right; j++) {
            const size_t y = (size_t)((ptrdiff_t)i + down), x = (size_t)((ptrdiff_t)j + across); /* below 0: far outside */
            if (y < from->rows && x < from->cols) put(d, i, j, get(from, y, x));
        }
}

void lb_plant_transpose_tile(lb_mat *d, size_t top, size_t left, size_t size) {
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++) {
            if (top + i >= d->rows || left + i >= d->cols) return; /* what is left is no square */
            const uint64_t code = get(d, top + i, left + j);
            put(d, top + i, left + j, get(d, top + j, left + i));
            put(d, top + j, left + i, code);
        }
}

void lb_plant_round_values(double *x, size_t count, const lb_format *f) {
    for (size_t i = 0; i < count; i++) x[i] = lb_to_double(f, lb_from_double(f, x[i]));
}
