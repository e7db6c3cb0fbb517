/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which arithmetic explains a recording. All candidates are scored on its first dots; then the leaders (who matched, and the best for
 * each value of each parameter) on all of them. Two rounds: first what shapes every result, then what only edges show. */
#include "base/try.h"
#include "run/fit_sweep.h"

#include <stdlib.h>
#include <string.h>

enum { SCREEN = 96, LEADERS = 4, EDGE_BASES = 16 };

void lb_sweep_free(lb_sweep *s) {
    for (int order = 0; order < 2; order++) free(s->p[order]);
    free(s->list);
}

/* ---- operands ------------------------------------------------------------------------------------------------------ */

static lb_status multiply(lb_sweep *s, int order, lb_error *err) {
    const lb_candidate way = {.order = order};
    const lb_recording *x = s->x;
    const size_t n = x->n, k = x->k, step = x->unit.k;
    s->frac[order] = lb_candidate_frac(&way, &x->unit);
    s->p[order] = calloc(n * s->k_padded + 1, sizeof *s->p[order]);
    if (!s->p[order]) return lb_fail(err, LB_E_MEMORY, x->unit.name, "no memory for %zu dots", n);
    for (size_t i = 0; i < n; i++) {
        for (size_t q = 0; q < s->k_padded; q++) {
            const size_t at = q - q % step + lb_candidate_slot(&way, q % step, step);
            const uint64_t a = q < k ? lb_mat_code(&x->a.mat, i, q) : 0, b = q < k ? lb_mat_code(&x->b.mat, i, q) : 0;
            s->p[order][i * s->k_padded + at] = lb_candidate_product_of(&way, &x->unit, a, b);
        }
    }
    return LB_OK;
}

/* Halves are a way of fp8 operands that are widened. */
static bool has_order(const lb_sweep *s, int order) {
    return order == 0 || (s->x->a.mat.format->bits <= 8 && s->x->b.mat.format->bits <= 8 && s->x->unit.k % 4 == 0);
}

lb_status lb_sweep_prepare(lb_sweep *s, lb_error *err) {
    const size_t step = s->x->unit.k;
    s->k_padded = (s->x->k + step - 1) / step * step;
    s->screen = s->x->n < SCREEN ? s->x->n : SCREEN;
    for (int order = 0; order < 2 && has_order(s, order); order++) LB_TRY(multiply(s, order, err));
    return LB_OK;
}

static uint32_t dot(const lb_sweep *s, const lb_candidate *x, size_t i) {
    const size_t step = s->x->unit.k;
    const lb_candidate_product *p = s->p[x->order] + i * s->k_padded; /* [k_padded] */
    uint32_t acc = (uint32_t)lb_mat_code(&s->x->c.mat, 0, i);
    for (size_t k = 0; k < s->k_padded; k += step) acc = lb_candidate_step(x, s->x->d.mat.format, p + k, s->frac[x->order], step, acc);
    return acc;
}

static uint64_t words(const lb_sweep *s, const lb_candidate *x, size_t from, size_t to) {
    uint64_t same = 0;
    for (size_t i = from; i < to; i++) same += dot(s, x, i) == lb_mat_code(&s->x->d.mat, 0, i);
    return same;
}

/* ---- candidates ----------------------------------------------------------------------------------------------------- */

static lb_status push(lb_sweep *s, const lb_candidate *x, lb_error *err) {
    if (s->count == s->capacity) {
        const size_t capacity = s->capacity ? 2 * s->capacity : 4096;
        lb_scored *more = realloc(s->list, capacity * sizeof *more);
        if (!more) return lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu candidates", capacity);
        s->list = more;
        s->capacity = capacity;
    }
    s->list[s->count++] = (lb_scored){*x, words(s, x, 0, s->screen), false, 0};
    return LB_OK;
}

/* One parameter and what is tried of it. */
typedef struct axis {
    size_t parameter;
    const int *values;
    size_t count;
} axis;
#define AXIS(parameter, values)                                                                                                            \
    { LB_CANDIDATE_##parameter, values, sizeof values / sizeof values[0] }

/* x with every combination of the axes. */
static lb_status cross(lb_sweep *s, lb_candidate x, const axis *axes, size_t count, lb_error *err) {
    if (count == 0) return push(s, &x, err);
    for (size_t i = 0; i < axes->count; i++) {
        *lb_candidate_field(&x, axes->parameter) = axes->values[i];
        LB_TRY(cross(s, x, axes + 1, count - 1, err));
    }
    return LB_OK;
}

static const int two[] = {0, 1}, three[] = {0, 1, 2}, four[] = {0, 1, 2, 3};

/* The first round: what shapes every result, under the row's own edges. */
static lb_status try_shapes(lb_sweep *s, const lb_candidate *row, lb_error *err) {
    static const int frac[] = {10, 11, 12, 13, 14, 15, 16, 20, 21, 22, 23, 24, 25, 26, 27, 28, 35};
    static const int out_f32[] = {23, 22, 14, 13, 12}, out_f16[] = {10};
    const axis out_axes[] = {AXIS(out_bits, out_f32), AXIS(out_bits, out_f16)};
    const axis axes[] = {AXIS(frac_bits, frac), AXIS(align, three), AXIS(product, two), AXIS(round, four),
                         out_axes[s->x->d.mat.format->id == LB_F32 ? 0 : 1]};
    const int k = s->x->unit.k;
    lb_candidate x = *row;
    for (x.order = 0; x.order < 2 && has_order(s, x.order); x.order++) {
        for (x.terms = 1; x.terms <= k; x.terms *= 2) {
            if (k % x.terms) continue;
            if (s->progress) s->progress(s->user, "fit", (x.order + (double)x.terms / k) / 3);
            for (x.c_joins = 0; x.c_joins < 3; x.c_joins++) LB_TRY(cross(s, x, axes, sizeof axes / sizeof *axes, err));
        }
    }
    return LB_OK;
}

static int by_words(const void *p, const void *q) {
    const lb_scored *x = p, *y = q;
    const uint64_t a = x->counted ? x->words : 0, b = y->counted ? y->words : 0;
    return a < b ? 1 : a > b ? -1 : x->screen < y->screen ? 1 : x->screen > y->screen ? -1 : 0;
}

/* The second round: from the best of the first, what only edges show. One at a time where that explains all already, else crossed. */
static lb_status try_edges(lb_sweep *s, lb_error *err) {
    static const int floors_f32[] = {LB_NO_FLOOR, -126, -132, -133}, floors_f16[] = {LB_NO_FLOOR, -14, -19, -20, -21};
    const axis floors[] = {AXIS(floor_exp, floors_f32), AXIS(floor_exp, floors_f16)};
    const axis axes[] = {floors[s->x->d.mat.format->id == LB_F32 ? 0 : 1],
                         AXIS(zero_products, two),
                         AXIS(c_exponent, two),
                         AXIS(overflow, two),
                         AXIS(underflow, two),
                         AXIS(nan, two)};
    enum { AXES = sizeof axes / sizeof *axes };
    qsort(s->list, s->count, sizeof *s->list, by_words);
    const size_t bases = s->count < EDGE_BASES ? s->count : EDGE_BASES;
    const bool explained = s->count && s->list[0].counted && s->list[0].words == s->x->n;
    for (size_t i = 0; i < bases; i++) {
        const lb_candidate base = s->list[i].candidate;
        if (s->progress) s->progress(s->user, "fit", 0.7 + 0.3 * (double)i / (double)bases);
        if (!explained) {
            LB_TRY(cross(s, base, axes, AXES, err));
            continue;
        }
        for (size_t a = 0; a < AXES; a++)
            for (size_t v = 0; v < axes[a].count; v++) {
                lb_candidate x = base;
                *lb_candidate_field(&x, axes[a].parameter) = axes[a].values[v];
                if (memcmp(&x, &base, sizeof x) != 0) LB_TRY(push(s, &x, err));
            }
    }
    return LB_OK;
}

/* ---- leaders --------------------------------------------------------------------------------------------------------- */

static void count_all(lb_sweep *s, lb_scored *c) {
    if (c->counted) return;
    c->counted = true;
    c->words = c->screen + words(s, &c->candidate, s->screen, s->x->n);
}

/* The LEADERS best by screen with this value of the parameter. */
static void count_best(lb_sweep *s, size_t parameter, int value) {
    lb_scored *best[LEADERS] = {NULL};
    for (size_t i = 0; i < s->count; i++) {
        lb_scored *c = &s->list[i];
        if (lb_candidate_get(&c->candidate, parameter) != value) continue;
        for (size_t at = 0; at < LEADERS; at++) {
            if (best[at] && best[at]->screen >= c->screen) continue;
            memmove(best + at + 1, best + at, (LEADERS - 1 - at) * sizeof *best);
            best[at] = c;
            break;
        }
    }
    for (size_t at = 0; at < LEADERS; at++)
        if (best[at]) count_all(s, best[at]);
}

size_t lb_sweep_values(const lb_sweep *s, size_t parameter, int **out) {
    size_t count = 0;
    *out = malloc((s->count + 1) * sizeof **out);
    for (size_t i = 0; *out && i < s->count; i++) {
        const int value = lb_candidate_get(&s->list[i].candidate, parameter);
        size_t at = 0;
        while (at < count && (*out)[at] < value) at++;
        if (at < count && (*out)[at] == value) continue;
        memmove(*out + at + 1, *out + at, (count - at) * sizeof **out);
        (*out)[at] = value;
        count++;
    }
    return count;
}

static lb_status count_leaders(lb_sweep *s, lb_error *err) {
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].screen == s->screen) count_all(s, &s->list[i]);
    for (size_t parameter = 0; parameter < LB_CANDIDATE_PARAMETERS; parameter++) {
        int *values;
        const size_t count = lb_sweep_values(s, parameter, &values);
        if (!values) return lb_fail(err, LB_E_MEMORY, "fit", "no memory");
        for (size_t v = 0; v < count; v++) count_best(s, parameter, values[v]);
        free(values);
    }
    return LB_OK;
}

lb_status lb_sweep_run(lb_sweep *s, const lb_candidate *row, lb_error *err) {
    LB_TRY(try_shapes(s, row, err));
    LB_TRY(count_leaders(s, err));
    LB_TRY(try_edges(s, err));
    LB_TRY(count_leaders(s, err));
    qsort(s->list, s->count, sizeof *s->list, by_words);
    if (s->progress) s->progress(s->user, "fit", 1);
    return LB_OK;
}
