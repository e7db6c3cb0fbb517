/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Faults of an output, whatever operator it is of. Each is planted where it shows least. */
#include "run/faults.h"
#include "lastbit/run.h"
#include "run/plant.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static void say(lb_plant *p, const char *format, va_list args) {
    vsnprintf(p->why, sizeof p->why, format, args);
}

void lb_plant_say(lb_plant *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(p, format, args);
    va_end(args);
}

void lb_plant_hidden(lb_plant *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(p, format, args);
    va_end(args);
    p->hidden = true;
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

static double value_at(const lb_mat *m, size_t row, size_t col) {
    return lb_to_double(m->format, lb_mat_code(m, row, col));
}

static double sum_of_squares(const lb_mat *m, size_t row) {
    double sum = 0;
    for (size_t j = 0; j < m->cols; j++) {
        const double v = value_at(m, row, j);
        if (isfinite(v)) sum += v * v;
    }
    return sum;
}

static bool rows_differ(const lb_mat *m, size_t x, size_t y) {
    for (size_t j = 0; j < m->cols; j++)
        if (lb_mat_code(m, x, j) != lb_mat_code(m, y, j)) return true;
    return false;
}

static size_t neighbour(size_t row) {
    return row ? row - 1 : 1;
}

/* The row with the least sum of squares above 0; with a neighbour, of those that differ from it. SIZE_MAX: there is none. */
static size_t quietest_row(const lb_mat *m, bool with_neighbour) {
    size_t found = SIZE_MAX;
    double least = INFINITY;
    for (size_t i = 0; i < m->rows; i++) {
        const double sum = sum_of_squares(m, i);
        if (!(sum > 0 && sum < least)) continue;
        if (with_neighbour && (m->rows < 2 || !rows_differ(m, i, neighbour(i)))) continue;
        least = sum;
        found = i;
    }
    return found;
}

typedef struct place {
    size_t row, col;
    double value;
    bool found;
} place;

/* The finite element of the largest or the least magnitude; the largest is none where all are zero. */
static place extreme(const lb_mat *m, bool largest) {
    place p = {.value = largest ? 0 : INFINITY};
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const double v = value_at(m, i, j);
            if (!isfinite(v) || !(largest ? fabs(v) > fabs(p.value) : fabs(v) < fabs(p.value))) continue;
            p = (place){i, j, v, true};
        }
    return p;
}

static void put(lb_plant *p, place at, uint64_t code) {
    lb_store_code(lb_mat_at(&p->out, at.row, at.col), p->out.format->bytes, code);
    lb_plant_say(p, "row %zu, column %zu", at.row, at.col);
}

/* Whether each line from `first` on holds the codes of the one `step` before it. Lines are rows. */
static bool lines_repeat(const lb_mat *m, size_t first, size_t step) {
    for (size_t i = first; i < m->rows; i++)
        if (rows_differ(m, i, i - step)) return false;
    return true;
}

/* Hidden, where each row (or column) from `first` on holds what stands `step` before it: by the operand that makes it so, if one does. */
static void hidden_by_equal(lb_plant *p, bool rows, size_t first, size_t step) {
    const lb_mat view = rows ? *p->right : lb_mat_transposed(*p->right);
    const char *noun = rows ? "rows" : "columns";
    if (view.rows < 2) {
        lb_plant_hidden(p, "the output has one %s", rows ? "row" : "column");
        return;
    }
    if (!lines_repeat(&view, first, step)) return;
    const char *whose = "the output's";
    if (p->x && !p->x->c.codes) {
        const lb_mat operand = rows ? p->x->a : lb_mat_transposed(lb_case_b(p->x));
        if (lines_repeat(&operand, first, step)) whose = rows ? "A's" : "B's";
    }
    if (step > 1)
        lb_plant_hidden(p, "%s %s %zu..%zu repeat every %zu", whose, noun, first - step, view.rows - 1, step);
    else if (first > 1)
        lb_plant_hidden(p, "%s %s %zu..%zu are equal", whose, noun, first - 1, view.rows - 1);
    else
        lb_plant_hidden(p, "%s %s are all equal", whose, noun);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

lb_status lb_fault_zeroed_row(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t row = quietest_row(p->right, false);
    if (row == SIZE_MAX) {
        lb_plant_hidden(p, "every row of the output is zero or holds no number");
        return LB_OK;
    }
    lb_plant_fill(&p->out, (lb_rectangle){row, row, 0, p->out.cols - 1}, 0);
    lb_plant_say(p, "row %zu", row);
    return LB_OK;
}

/* No row that is not zero differs from the one before it. */
static void hidden_by_silence(lb_plant *p) {
    hidden_by_equal(p, true, 1, 1);
    if (p->hidden) return;
    for (size_t i = 0; i < p->right->rows; i++)
        if (sum_of_squares(p->right, i) > 0 && rows_differ(p->right, i, neighbour(i))) return;
    lb_plant_hidden(p, "every row that is not zero equals its neighbour");
}

lb_status lb_fault_swapped_rows(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t row = quietest_row(p->right, true);
    if (row == SIZE_MAX) {
        hidden_by_silence(p);
        return LB_OK;
    }
    lb_plant_swap_rows(&p->out, row, neighbour(row));
    lb_plant_say(p, "rows %zu and %zu", row, neighbour(row));
    return LB_OK;
}

lb_status lb_fault_copied_row(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t row = quietest_row(p->right, true);
    if (row == SIZE_MAX) {
        hidden_by_silence(p);
        return LB_OK;
    }
    lb_plant_copy_row(&p->out, row, neighbour(row));
    lb_plant_say(p, "row %zu holds row %zu", row, neighbour(row));
    return LB_OK;
}

lb_status lb_fault_half_offset(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t half = (p->out.rows + 1) / 2;
    hidden_by_equal(p, true, half, 1);
    if (p->hidden) return LB_OK;
    lb_plant_shift_rows(&p->out, half);
    lb_plant_say(p, "rows %zu..%zu", half, p->out.rows - 1);
    return LB_OK;
}

lb_status lb_fault_unwritten(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t row = p->out.rows - 1;
    lb_plant_fill_code(&p->out, (lb_rectangle){row, row, 0, p->out.cols - 1}, lb_poison_code(p->out.format));
    lb_plant_say(p, "row %zu", row);
    return LB_OK;
}

/* ---- columns and tiles ------------------------------------------------------------------------------------------------- */

static lb_status shifted_tail(lb_plant *p, size_t width) {
    const size_t n = p->out.cols, first = n > width ? n - width : 1;
    hidden_by_equal(p, false, first, 1);
    if (p->hidden) return LB_OK;
    lb_plant_shift_columns(&p->out, first);
    lb_plant_say(p, "columns %zu..%zu", first, n - 1);
    return LB_OK;
}

lb_status lb_fault_tail_13(lb_plant *p, lb_error *err) {
    (void)err;
    return shifted_tail(p, 13);
}

lb_status lb_fault_tail_16(lb_plant *p, lb_error *err) {
    (void)err;
    return shifted_tail(p, 16);
}

static size_t at_most(size_t x, size_t most) {
    return x < most ? x : most;
}

lb_status lb_fault_stale(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t n = p->out.cols, width = at_most(n / 2, 16);
    hidden_by_equal(p, false, n - width, width);
    if (p->hidden) return LB_OK;
    lb_plant_move(&p->out, p->right, (lb_rectangle){0, p->out.rows - 1, n - width, n - 1}, 0, -(ptrdiff_t)width);
    lb_plant_say(p, "columns %zu..%zu", n - width, n - 1);
    return LB_OK;
}

lb_status lb_fault_wrapped_store(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t n = p->out.cols, tail = n % 16 ? n % 16 : 16, width = at_most(tail, n > 1 ? n - 1 : 1);
    if (p->out.rows < 2) {
        lb_plant_hidden(p, "the output has one row");
        return LB_OK;
    }
    bool same = true;
    for (size_t i = 1; i < p->out.rows; i++)
        for (size_t j = 0; j < width; j++) same = same && lb_mat_code(p->right, i, j) == lb_mat_code(p->right, i - 1, n - width + j);
    if (same) {
        lb_plant_hidden(p, "the first %zu columns hold what the last ones hold in the row before", width);
        return LB_OK;
    }
    lb_plant_move(&p->out, p->right, (lb_rectangle){1, p->out.rows - 1, 0, width - 1}, -1, (ptrdiff_t)(n - width));
    lb_plant_say(p, "columns 0..%zu from row 1 on", width - 1);
    return LB_OK;
}

/* The tile in the middle of the output that holds most of a tile. */
static lb_rectangle middle_tile(const lb_mat *m, size_t size) {
    const size_t top = m->rows / 2 / size * size, left = m->cols / 2 / size * size;
    return (lb_rectangle){top, at_most(top + size, m->rows) - 1, left, at_most(left + size, m->cols) - 1};
}

static void say_tile(lb_plant *p, lb_rectangle r) {
    lb_plant_say(p, "rows %zu..%zu, columns %zu..%zu", r.top, r.bottom, r.left, r.right);
}

lb_status lb_fault_zeroed_tile(lb_plant *p, lb_error *err) {
    (void)err;
    const lb_rectangle r = middle_tile(p->right, 16);
    bool zero = true;
    for (size_t i = r.top; i <= r.bottom; i++)
        for (size_t j = r.left; j <= r.right; j++) zero = zero && value_at(p->right, i, j) == 0;
    if (zero) {
        lb_plant_hidden(p, "the output is zero in rows %zu..%zu, columns %zu..%zu", r.top, r.bottom, r.left, r.right);
        return LB_OK;
    }
    lb_plant_fill(&p->out, r, 0);
    say_tile(p, r);
    return LB_OK;
}

lb_status lb_fault_shifted_tile(lb_plant *p, lb_error *err) {
    (void)err;
    lb_rectangle r = middle_tile(p->right, 16);
    if (r.left == 0) r.left = 1; /* the first column has none to its left */
    lb_mat tile = *p->right;
    tile.codes = lb_mat_at(p->right, r.top, 0);
    tile.rows = r.bottom - r.top + 1;
    tile.cols = r.right + 1;
    const lb_mat columns = lb_mat_transposed(tile);
    if (p->right->cols < 2)
        lb_plant_hidden(p, "the output has one column");
    else if (lines_repeat(&columns, r.left, 1))
        lb_plant_hidden(p, "columns %zu..%zu are equal in rows %zu..%zu", r.left - 1, r.right, r.top, r.bottom);
    if (p->hidden) return LB_OK;
    lb_plant_move(&p->out, p->right, r, 0, -1);
    say_tile(p, r);
    return LB_OK;
}

lb_status lb_fault_transposed_tile(lb_plant *p, lb_error *err) {
    (void)err;
    const size_t size = at_most(at_most(p->out.rows, p->out.cols), 8), top = (p->out.rows - size) / 2, left = (p->out.cols - size) / 2;
    bool symmetric = true;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++)
            symmetric = symmetric && lb_mat_code(p->right, top + i, left + j) == lb_mat_code(p->right, top + j, left + i);
    if (size < 2)
        lb_plant_hidden(p, "the output has one %s", p->out.rows < 2 ? "row" : "column");
    else if (symmetric)
        lb_plant_hidden(p, "the output is symmetric in rows %zu..%zu, columns %zu..%zu", top, top + size - 1, left, left + size - 1);
    if (p->hidden) return LB_OK;
    lb_plant_transpose_tile(&p->out, top, left, size);
    say_tile(p, (lb_rectangle){top, top + size - 1, left, left + size - 1});
    return LB_OK;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static place largest_or_hidden(lb_plant *p) {
    const place at = extreme(p->right, true);
    if (!at.found) lb_plant_hidden(p, "the output holds no number but zero");
    return at;
}

lb_status lb_fault_scale_2(lb_plant *p, lb_error *err) {
    (void)err;
    largest_or_hidden(p);
    if (p->hidden) return LB_OK;
    lb_plant_times(&p->out, (lb_rectangle){0, p->out.rows - 1, 0, p->out.cols - 1}, 2);
    lb_plant_say(p, "everywhere");
    return LB_OK;
}

/* The code `steps` ordinals further from zero (below 0: nearer), or as far the other way where the format ends. */
static uint64_t stepped(const lb_format *f, uint64_t code, int64_t steps) {
    const uint64_t all = f->bits < 64 ? (UINT64_C(1) << f->bits) - 1 : UINT64_MAX;
    const double value = lb_to_double(f, code);
    if (f->special == LB_SPECIAL_INT) {
        const int64_t outward = value < 0 ? -steps : steps;
        const double moved = value + (double)outward * exp2(-f->man_bits), top = lb_to_double(f, lb_max_code(f));
        return (fabs(moved) > top ? code - (uint64_t)outward : code + (uint64_t)outward) & all;
    }
    const uint64_t sign = f->sign_bits ? code & (UINT64_C(1) << (f->bits - 1)) : 0, top = lb_max_code(f) >> f->pad_bits;
    const int64_t at = (int64_t)((code ^ sign) >> f->pad_bits), moved = at + steps;
    const int64_t other = at - steps, to = moved < 0 || moved > (int64_t)top ? other : moved;
    return sign | (uint64_t)(to < 0 ? 0 : to > (int64_t)top ? (int64_t)top : to) << f->pad_bits;
}

static lb_status off_by(lb_plant *p, int64_t steps) {
    const place at = largest_or_hidden(p);
    if (!p->hidden) put(p, at, stepped(p->out.format, lb_mat_code(p->right, at.row, at.col), steps));
    return LB_OK;
}

lb_status lb_fault_ulp_3(lb_plant *p, lb_error *err) {
    (void)err;
    return off_by(p, 3);
}

lb_status lb_fault_ulp_16(lb_plant *p, lb_error *err) {
    (void)err;
    return off_by(p, -16);
}

lb_status lb_fault_near_zero(lb_plant *p, lb_error *err) {
    (void)err;
    const place at = extreme(p->right, false);
    const double rms = at.found ? sqrt(sum_of_squares(p->right, at.row) / (double)p->right->cols) : 0;
    if (!(rms > 0)) {
        lb_plant_hidden(p, "the row of the element nearest to zero is zero");
        return LB_OK;
    }
    const uint64_t code = lb_from_double(p->out.format, signbit(at.value) ? rms : -rms);
    if (lb_to_double(p->out.format, code) == at.value) {
        lb_plant_hidden(p, "%s cannot hold the other sign", p->out.format->name);
        return LB_OK;
    }
    put(p, at, code);
    return LB_OK;
}

lb_status lb_fault_nan(lb_plant *p, lb_error *err) {
    (void)err;
    const place at = extreme(p->right, false);
    uint64_t nan = 0;
    if (!lb_nan_code(p->out.format, &nan))
        lb_plant_hidden(p, "%s has no NaN", p->out.format->name);
    else if (!at.found)
        lb_plant_hidden(p, "the output holds no number");
    else
        put(p, at, nan);
    return LB_OK;
}

lb_status lb_fault_inf(lb_plant *p, lb_error *err) {
    (void)err;
    uint64_t inf = 0;
    const bool has = lb_inf_code(p->out.format, &inf);
    if (!has) {
        lb_plant_hidden(p, "%s has no Inf", p->out.format->name);
        return LB_OK;
    }
    const place at = largest_or_hidden(p);
    const uint64_t sign = p->out.format->sign_bits ? UINT64_C(1) << (p->out.format->bits - 1) : 0;
    if (!p->hidden) put(p, at, inf | (at.value < 0 ? sign : 0));
    return LB_OK;
}
