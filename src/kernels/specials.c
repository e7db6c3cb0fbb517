/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NaN and Inf by their positions. The kernels take them as zeros; here the outputs that they reach are decided.
 *
 * Inf and NaN never leave an accumulator, so their order does not matter: a NaN, Inf times zero or Infs of both signs among all terms of
 * an output make a NaN, else an Inf stays. Only where the finite terms alone overflow to the other Inf, or to both and make a NaN, does it
 * matter which came first; the engine says. */
#include "kernels/job.h"

#include "units/step.h"

#include <math.h>
#include <string.h>

typedef enum kind { KIND_ZERO, KIND_PLUS, KIND_MINUS, KIND_NAN } kind;

static uint32_t code_at(const lb_codes *f, const lb_mat *m, size_t i, size_t j) {
    const uint32_t code = (uint32_t)lb_mat_code(m, i, j);
    return (f->widen ? f->widen[code & 0xff] : code) >> f->pad;
}

static bool is_special(const lb_codes *f, uint32_t code) {
    return (code & f->mag_mask) >= f->special;
}

static kind kind_of(const lb_codes *f, uint32_t code) {
    const uint32_t mag = code & f->mag_mask;
    if (mag == 0) return KIND_ZERO;
    if (mag >= f->special && mag != f->inf) return KIND_NAN;
    return code & f->sign ? KIND_MINUS : KIND_PLUS;
}

/* What the product of an Inf or NaN and another operand brings. */
static uint8_t product(kind special, kind other) {
    if (special == KIND_NAN || other == KIND_NAN || other == KIND_ZERO) return LB_IS_NAN;
    return special == other ? LB_PLUS_INF : LB_MINUS_INF;
}

/* Specials of row i of A against every column. */
static void of_row(const lb_job *job, const lb_panel *panel, size_t i, uint8_t *flags) {
    const lb_plan *p = job->p;
    for (size_t k = 0; k < job->a.cols; k++) {
        const uint32_t code = code_at(&p->a, &job->a, i, k);
        if (!is_special(&p->a, code)) continue;
        const kind mine = kind_of(&p->a, code);
        for (int j = 0; j < panel->columns; j++)
            flags[j] |=
                mine == KIND_NAN ? LB_IS_NAN : product(mine, kind_of(&p->b, code_at(&p->b, &job->b, k, panel->column0 + (size_t)j)));
        if (mine == KIND_NAN) return;
    }
}

/* Infs of column j of the panel, which has no NaN, against row i. */
static uint8_t of_column(const lb_job *job, const lb_panel *panel, size_t i, int j) {
    const lb_plan *p = job->p;
    const size_t column = panel->column0 + (size_t)j, from = panel->listed ? panel->from[j] : 0;
    const size_t count = panel->listed ? panel->from[j + 1] - from : job->b.rows;
    uint8_t flags = 0;
    for (size_t l = 0; l < count && !(flags & LB_IS_NAN); l++) {
        const size_t k = panel->listed ? panel->list[from + l] : l;
        const uint32_t code = code_at(&p->b, &job->b, k, column);
        if (is_special(&p->b, code)) flags |= product(kind_of(&p->b, code), kind_of(&p->a, code_at(&p->a, &job->a, i, k)));
    }
    return flags;
}

void lb_job_list_specials(const lb_job *job, lb_panel *panel, uint32_t *list, size_t room) {
    const lb_plan *p = job->p;
    size_t used = 0;
    panel->any_special = false;
    panel->listed = true;
    panel->list = list;
    for (int j = 0; j < panel->columns; j++) {
        panel->from[j] = used;
        panel->nan[j] = panel->nan_scale[j];
        panel->any_special = panel->any_special || panel->special[j] || panel->nan[j];
        if (!panel->special[j] || panel->nan[j]) continue;
        for (size_t k = 0; k < job->b.rows && !panel->nan[j]; k++) {
            const uint32_t code = code_at(&p->b, &job->b, k, panel->column0 + (size_t)j);
            if (!is_special(&p->b, code)) continue;
            panel->nan[j] = kind_of(&p->b, code) == KIND_NAN;
            if (used < room)
                list[used++] = (uint32_t)k;
            else
                panel->listed = false;
        }
        if (panel->nan[j]) used = panel->from[j];
    }
    panel->from[panel->columns] = used;
}

/* The scales of line i .. i + count of the caller's A or B: rows of the one, columns of the other. */
static lb_mat some_scales(const lb_mat *m, bool of_a, size_t i, size_t count) {
    lb_mat part = *m;
    part.codes = of_a ? lb_mat_at(m, i, 0) : lb_mat_at(m, 0, i);
    if (of_a)
        part.rows = count;
    else
        part.cols = count;
    return part;
}

lb_status lb_job_by_engine(const lb_job *job, size_t i, size_t column0, int columns, float *values, lb_error *err) {
    const size_t count = (size_t)columns;
    lb_mat a = job->a, b = job->b, c = job->c ? *job->c : job->d;
    uint64_t codes[LB_NR] = {0};
    a.codes = lb_mat_at(&job->a, i, 0);
    a.rows = 1;
    b.codes = lb_mat_at(&job->b, 0, column0);
    b.cols = count;
    c.codes = lb_mat_at(&c, i, column0);
    c.rows = 1;
    c.cols = count;
    lb_mat d = lb_mat_of(job->d.format, codes, 1, count);
    const lb_mat at = lb_mat_transposed(a), bt = lb_mat_transposed(b), ct = lb_mat_transposed(c);
    lb_mat dt = lb_mat_transposed(d), scale_a, scale_b;
    const bool swapped = job->swapped;
    lb_unit_operands with = {0};
    if (job->scaled) {
        scale_a = some_scales(job->with.scale_a, true, swapped ? column0 : i, swapped ? count : 1);
        scale_b = some_scales(job->with.scale_b, false, swapped ? i : column0, swapped ? 1 : count);
        with = (lb_unit_operands){.scale_a = &scale_a, .scale_b = &scale_b};
    }
    const lb_status s = lb_unit_gemm_with(job->p->u, swapped ? &bt : &a, swapped ? &at : &b,
                                          !job->c   ? NULL
                                          : swapped ? &ct
                                                    : &c,
                                          &with, swapped ? &dt : &d, err);
    for (int j = 0; s == LB_OK && j < columns; j++) values[j] = (float)lb_to_double(d.format, lb_mat_code(&d, 0, (size_t)j));
    return s;
}

lb_status lb_job_specials(const lb_job *job, const lb_panel *panel, size_t i, const uint8_t *c_flags, float *values, lb_error *err) {
    uint8_t flags[LB_NR], any = job->rows[i].special || panel->any_special;
    for (int j = 0; j < panel->columns; j++) any |= flags[j] = c_flags[j];
    if (!any) return LB_OK;
    if (job->rows[i].nan_scale)
        memset(flags, LB_IS_NAN, sizeof flags);
    else if (job->rows[i].special)
        of_row(job, panel, i, flags);
    for (int j = 0; j < panel->columns; j++) {
        if (panel->nan[j]) flags[j] |= LB_IS_NAN;
        if (panel->special[j] && !(flags[j] & LB_IS_NAN)) flags[j] |= of_column(job, panel, i, j);
        if (flags[j] == 0) continue;
        const float inf = flags[j] == LB_PLUS_INF ? INFINITY : flags[j] == LB_MINUS_INF ? -INFINITY : NAN;
        if (isinf(inf) && (values[j] == -inf || isnan(values[j]))) {
            const lb_status s = lb_job_by_engine(job, i, panel->column0 + (size_t)j, 1, &values[j], err);
            if (s != LB_OK) return s;
        } else {
            values[j] = inf;
        }
    }
    return LB_OK;
}
