/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Products as a kernel's schedule computes them: chains by lb_gemm, everything beside them in f32. The steps are those of schedule.h. */
#include "lastbit/schedule.h"

#include "base/try.h"
#include "kernels/activations.h"
#include "kernels/scaling.h"
#include "kernels/schedule_f32.h"
#include "kernels/schedule_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SPLIT = 4096, MAX_WORKERS = 65536, MAX_TILE = 1 << 20 };

/* Running sums need two parts at a time. */
static bool keeps_all_parts(const lb_schedule *s) {
    return s->reduce != LB_REDUCE_ASCENDING && s->reduce != LB_REDUCE_DESCENDING && s->reduce != LB_REDUCE_ATOMIC;
}

/* ---- what a schedule asks of a unit ------------------------------------------------------------------------------------ */

/* An arrival names each part once. */
static lb_status check_arrival(const lb_schedule *s, lb_error *err) {
    uint32_t seen = 0;
    if (s->stream_k && s->reduce == LB_REDUCE_ATOMIC)
        return lb_fail(err, LB_E_ARG, "reduce", "atomics are for split-k; stream-K has a count of parts a tile");
    if (!s->arrival_count) return LB_OK;
    if (s->reduce != LB_REDUCE_ATOMIC) return lb_fail(err, LB_E_ARG, "arrival", "it is the order of reduce=atomic");
    for (unsigned i = 0; i < s->arrival_count && i < LB_MAX_ARRIVAL; i++)
        if (s->arrival[i] < LB_MAX_ARRIVAL) seen |= UINT32_C(1) << s->arrival[i];
    if (s->arrival_count <= LB_MAX_ARRIVAL && s->arrival_count == s->split && seen == (UINT32_C(1) << s->split) - 1) return LB_OK;
    return lb_fail(err, LB_E_ARG, "arrival", "it names each part of split-k=%u once, as 2.0.1 does of three; at most %d parts", s->split,
                   LB_MAX_ARRIVAL);
}

static lb_status check_numbers(const lb_schedule *s, const lb_unit *u, lb_error *err) {
    const bool deals = s->divide == LB_DIVIDE_DEALT;
    if (s->split > MAX_SPLIT) return lb_fail(err, LB_E_ARG, "split-k", "%u parts; at most %d", s->split, MAX_SPLIT);
    if (s->stream_k > MAX_WORKERS) return lb_fail(err, LB_E_ARG, "stream-k", "%u workers; at most %d", s->stream_k, MAX_WORKERS);
    if (s->stream_k && s->split > 1) return lb_fail(err, LB_E_ARG, "stream-k", "K is divided twice: give split-k or stream-k");
    if (s->stream_k && deals) return lb_fail(err, LB_E_ARG, "divide", "stream-K takes ceil or even; its tiles follow each other");
    if (s->ragged == LB_RAGGED_FIRST && deals && s->split > 1)
        return lb_fail(err, LB_E_ARG, "ragged", "a short first tile needs parts whose tiles follow each other, not dealt ones");
    if (s->tile_k % u->k || s->tile_k > MAX_TILE)
        return lb_fail(err, LB_E_ARG, "tile-k", "%u; it is a multiple of %s's k, %u, up to %d", s->tile_k, u->name, u->k, MAX_TILE);
    if (s->promote % u->k) return lb_fail(err, LB_E_ARG, "promote", "%u is no multiple of %s's k, %u", s->promote, u->name, u->k);
    if (s->sum != LB_TYPE_F32 && keeps_all_parts(s))
        return lb_fail(err, LB_E_ARG, "sum", "a rounded running sum takes reduce=ascending, descending or atomic");
    if (s->scaled && !(isfinite((float)s->alpha) && isfinite((float)s->beta)))
        return lb_fail(err, LB_E_ARG, "alpha", "alpha and beta are finite numbers of f32");
    return LB_OK;
}

static bool in_range(const lb_schedule *s) {
    return s->order < LB_K_ORDER_COUNT && s->divide < LB_DIVIDE_COUNT && s->reduce < LB_REDUCE_COUNT && s->partial < LB_TYPE_COUNT &&
           s->sum < LB_TYPE_COUNT && s->ragged < LB_RAGGED_COUNT && s->raster < LB_RASTER_COUNT && s->c_place < LB_C_PLACE_COUNT &&
           s->blend < LB_BLEND_COUNT && s->activation < LB_ACTIVATION_COUNT && s->scaling < LB_SCALING_COUNT;
}

bool lb_schedule_can(const lb_unit *u) {
    const bool alone = u->path != LB_PATH_NONE && !u->scale_block && !u->sparse_group;
    return alone && u->c == u->d && (u->d == LB_F32 || u->d == LB_F16);
}

static lb_status check_c(const lb_scheduled *x, lb_error *err) {
    const lb_schedule *s = x->s;
    const lb_format *own = lb_format_row(x->u->c), *f = x->c.format;
    if (!x->c.codes) return LB_OK;
    if (s->c_place == LB_C_FIRST && s->scaled && (s->alpha != 1 || s->beta != 1))
        return lb_fail(err, LB_E_ARG, "alpha", "C starts the accumulator: alpha and beta have nowhere to apply; say c=last");
    if (s->c_place == LB_C_FIRST && !s->promote && f != own)
        return lb_fail(err, LB_E_FORMAT, x->u->name, "C is %s; this unit's accumulator takes %s (c=last takes any)", f->name, own->name);
    if (!lb_f32_holds(f)) return lb_fail(err, LB_E_FORMAT, x->u->name, "C is %s, which f32 does not hold", f->name);
    return LB_OK;
}

lb_status lb_scheduled_check(lb_scheduled *x, const lb_unit *u, const lb_schedule *s, const lb_mat *a, const lb_mat *b, const lb_mat *c,
                             const lb_mat *d, const lb_gemm_options *options, lb_error *err) {
    *x = (lb_scheduled){.u = u, .s = s, .a = *a, .b = *b, .options = options, .native = lb_f32_native()};
    if (c) x->c = *c;
    if (s->bias) x->bias = *s->bias;
    x->out = s->out ? s->out : lb_format_row(u->d);
    if (u->path == LB_PATH_NONE) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "open: %s; %s", u->note, u->open);
    if (!lb_schedule_can(u))
        return lb_fail(err, LB_E_FORMAT, u->name, "schedules take units of A, B and C alone that accumulate in f32 or f16");
    if (!in_range(s)) return lb_fail(err, LB_E_ARG, "schedule", "a choice out of range");
    LB_TRY(check_numbers(s, u, err));
    LB_TRY(check_arrival(s, err));
    if (lb_activation_curves(s->activation) && !x->native)
        return lb_fail(err, LB_E_UNAVAILABLE, "act",
                       "erf, exp and tanh need the caller's floating-point environment at its default: to nearest, subnormals kept");
    if (!lb_f32_holds(x->out)) return lb_fail(err, LB_E_FORMAT, "out", "%s is no format that f32 rounds to", x->out->name);
    if (a->format->id != u->a || b->format->id != u->b)
        return lb_fail(err, LB_E_FORMAT, u->name, "A and B are %s and %s; this unit takes %s and %s", a->format->name, b->format->name,
                       lb_format_row(u->a)->name, lb_format_row(u->b)->name);
    if (a->cols != b->rows)
        return lb_fail(err, LB_E_SHAPE, u->name, "A is %zux%zu and B is %zux%zu: %zu and %zu should be one K", a->rows, a->cols, b->rows,
                       b->cols, a->cols, b->rows);
    if (c && (c->rows != a->rows || c->cols != b->cols))
        return lb_fail(err, LB_E_SHAPE, u->name, "C is %zux%zu; A and B make %zux%zu", c->rows, c->cols, a->rows, b->cols);
    if (s->bias && (s->bias->rows != a->rows || s->bias->cols != b->cols || !lb_f32_holds(s->bias->format)))
        return lb_fail(err, LB_E_SHAPE, u->name, "bias is %s %zux%zu; it should be a float format of %zux%zu", s->bias->format->name,
                       s->bias->rows, s->bias->cols, a->rows, b->cols);
    LB_TRY(check_c(x, err));
    LB_TRY(lb_scales_check(x, err));
    if (!d) return LB_OK;
    x->d = *d;
    if (d->format != x->out) return lb_fail(err, LB_E_FORMAT, u->name, "D is %s; this schedule gives %s", d->format->name, x->out->name);
    if (d->rows != a->rows || d->cols != b->cols)
        return lb_fail(err, LB_E_SHAPE, u->name, "D is %zux%zu; A and B make %zux%zu", d->rows, d->cols, a->rows, b->cols);
    return LB_OK;
}

/* ---- one part ------------------------------------------------------------------------------------------------------------ */

static lb_mat window(lb_mat m, size_t row, size_t rows, size_t col, size_t cols) {
    if (m.codes) m.codes = lb_mat_at(&m, row, col);
    m.rows = rows;
    m.cols = cols;
    return m;
}

static void widen(const lb_mat *m, float *out) {
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++) out[r * m->cols + c] = lb_f32_of(m->format, lb_mat_code(m, r, c));
}

/* A and B of one part, K in the part's own order: views where it is one range, else copies with zeros between. */
typedef struct part_operands {
    lb_mat a, b; /* [rows][k], [k][cols] */
    size_t k;
    void *owned_a, *owned_b;
} part_operands;

static void close_operands(part_operands *o) {
    free(o->owned_a);
    free(o->owned_b);
}

static size_t padded(lb_k_range r, size_t step) {
    const size_t n = r.end - r.begin;
    return n + (step - n % step) % step;
}

static void copy_range(const lb_mat *from, lb_mat *to, size_t from_row, size_t from_col, size_t to_row, size_t to_col, size_t rows,
                       size_t cols) {
    const int bytes = from->format->bytes;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            lb_store_code(lb_mat_at(to, to_row + r, to_col + c), bytes, lb_mat_code(from, from_row + r, from_col + c));
}

static lb_status open_operands(part_operands *o, const lb_mat *a, const lb_mat *b, const lb_k_range *range, size_t count, size_t step,
                               lb_error *err) {
    *o = (part_operands){0};
    if (count <= 1) {
        const lb_k_range r = count ? range[0] : (lb_k_range){0};
        o->k = r.end - r.begin;
        o->a = window(*a, 0, a->rows, r.begin, o->k);
        o->b = window(*b, r.begin, o->k, 0, b->cols);
        return LB_OK;
    }
    for (size_t i = 0; i < count; i++) o->k += padded(range[i], step);
    o->owned_a = calloc(a->rows * o->k + 1, (size_t)a->format->bytes); /* a code of zeros is +0 */
    o->owned_b = calloc(b->cols * o->k + 1, (size_t)b->format->bytes);
    if (!o->owned_a || !o->owned_b) {
        close_operands(o);
        return lb_fail(err, LB_E_MEMORY, "schedule", "no memory for A and B in this order of K");
    }
    o->a = lb_mat_of(a->format, o->owned_a, a->rows, o->k);
    o->b = lb_mat_transposed(lb_mat_of(b->format, o->owned_b, b->cols, o->k));
    for (size_t i = 0, at = 0; i < count; at += padded(range[i++], step)) {
        const size_t n = range[i].end - range[i].begin;
        copy_range(a, &o->a, 0, range[i].begin, 0, at, a->rows, n);
        copy_range(b, &o->b, range[i].begin, 0, at, 0, n, b->cols);
    }
    return LB_OK;
}

/* One chain over k elements from `at` on, into sums. codes: room for [rows][cols] of the unit's d. */
static lb_status chain(const lb_scheduled *x, const part_operands *o, size_t at, size_t k, const lb_mat *c, void *codes, float *sums,
                       lb_error *err) {
    const lb_mat a = window(o->a, 0, o->a.rows, at, k), b = window(o->b, at, k, 0, o->b.cols);
    lb_mat d = lb_mat_of(lb_format_row(x->u->d), codes, a.rows, b.cols);
    LB_TRY(lb_gemm(x->u, &a, &b, c, &d, x->options, err));
    widen(&d, sums);
    return LB_OK;
}

/* Where a part of the output lies. */
typedef struct place {
    size_t row, col;
    const lb_k_plan *plan;
    size_t p;
} place;

static lb_status promoted(const lb_scheduled *x, const part_operands *o, place at_place, const lb_mat *c, void *codes, float *sums,
                          lb_error *err) {
    const size_t size = o->a.rows * o->b.cols, every = x->s->promote;
    float *chunk = malloc((size + 1) * sizeof *chunk);
    lb_status s = chunk ? LB_OK : lb_fail(err, LB_E_MEMORY, "schedule", "no memory for a promoted accumulator");
    if (s == LB_OK && c)
        widen(c, sums);
    else if (s == LB_OK)
        for (size_t i = 0; i < size; i++) sums[i] = 0;
    for (size_t at = 0; s == LB_OK && at < o->k; at += every) {
        s = chain(x, o, at, o->k - at < every ? o->k - at : every, NULL, codes, chunk, err);
        if (s == LB_OK && x->s->scale_a)
            lb_scaled_add(x, lb_scale_block(x, at_place.plan, at_place.p, at), at_place.row, o->a.rows, at_place.col, o->b.cols, chunk,
                          sums);
        else if (s == LB_OK)
            lb_f32_add(sums, chunk, size, x->native);
    }
    free(chunk);
    return s;
}

lb_status lb_scheduled_part(const lb_scheduled *x, const lb_k_plan *plan, size_t p, size_t row, size_t rows, size_t col, size_t cols,
                            float *sums, lb_error *err) {
    const lb_mat a = window(x->a, row, rows, 0, x->a.cols), b = window(x->b, 0, x->b.rows, col, cols);
    const bool from_c = x->c.codes && x->s->c_place == LB_C_FIRST && p == 0;
    const lb_mat c = from_c ? window(x->c, row, rows, col, cols) : (lb_mat){0};
    part_operands o;
    LB_TRY(open_operands(&o, &a, &b, plan->range + plan->first[p], plan->first[p + 1] - plan->first[p], x->u->k, err));
    void *codes = malloc((rows * cols + 1) * (size_t)lb_format_row(x->u->d)->bytes);
    lb_status s = codes ? LB_OK : lb_fail(err, LB_E_MEMORY, "schedule", "no memory for %zux%zu", rows, cols);
    if (s == LB_OK)
        s = x->s->promote ? promoted(x, &o, (place){row, col, plan, p}, from_c ? &c : NULL, codes, sums, err)
                          : chain(x, &o, 0, o.k, from_c ? &c : NULL, codes, sums, err);
    free(codes);
    close_operands(&o);
    return s;
}

/* ---- the sum of the parts ------------------------------------------------------------------------------------------------ */

void lb_scheduled_round(const lb_scheduled *x, lb_k_type type, float *v, size_t size) {
    const lb_format *f = type == LB_TYPE_F16 ? lb_format_row(LB_F16) : type == LB_TYPE_BF16 ? lb_format_row(LB_BF16) : x->out;
    const bool saturate = type == LB_TYPE_OUT && x->s->saturate;
    if (type == LB_TYPE_F32 || (f->id == LB_F32 && !saturate)) return;
    for (size_t i = 0; i < size; i++) v[i] = lb_f32_of(f, lb_f32_code(f, v[i], saturate));
}

/* parts[to] = parts[i] + parts[j] */
static void add_parts(const lb_scheduled *x, float *parts, size_t size, size_t to, size_t i, size_t j) {
    if (to != i) memcpy(parts + to * size, parts + i * size, size * sizeof *parts);
    lb_f32_add(parts + to * size, parts + j * size, size, x->native);
}

/* Which part a running sum takes as its i-th. */
static size_t turn(const lb_schedule *s, size_t n, size_t i) {
    if (s->reduce == LB_REDUCE_ATOMIC && s->arrival_count) return s->arrival[i];
    return s->reduce == LB_REDUCE_DESCENDING ? n - 1 - i : i;
}

/* Atomics find a zero; other sums start with their first part. */
static void start_sum(const lb_scheduled *x, float *sum, size_t size) {
    if (x->s->reduce == LB_REDUCE_ATOMIC)
        for (size_t i = 0; i < size; i++) sum[i] = sum[i] == 0 ? 0 : sum[i];
    lb_scheduled_round(x, x->s->sum, sum, size);
}

static void reduce_slots(const lb_scheduled *x, float *parts, size_t n, size_t size) {
    const size_t h = (n + 1) / 2;
    for (size_t i = 0; i + h < n - 1; i++) add_parts(x, parts, size, i, i, i + h);
    for (size_t i = 0; i < h; i++) add_parts(x, parts, size, n - 1, n - 1, i);
    memcpy(parts, parts + (n - 1) * size, size * sizeof *parts);
}

void lb_scheduled_reduce(const lb_scheduled *x, float *parts, size_t n, size_t size) {
    if (n < 2) return;
    for (size_t i = 0; i < n; i++) lb_scheduled_round(x, x->s->partial, parts + i * size, size);
    switch (x->s->reduce) {
    case LB_REDUCE_SLOTS: reduce_slots(x, parts, n, size); return;
    case LB_REDUCE_TREE:
        for (; n > 1; n = (n + 1) / 2) {
            for (size_t i = 0; i < n / 2; i++) add_parts(x, parts, size, i, 2 * i, 2 * i + 1);
            if (n & 1) memcpy(parts + n / 2 * size, parts + (n - 1) * size, size * sizeof *parts);
        }
        return;
    case LB_REDUCE_HALVES:
        for (; n > 1; n = (n + 1) / 2)
            for (size_t i = 0; i < n / 2; i++) add_parts(x, parts, size, i, i, i + (n + 1) / 2);
        return;
    case LB_REDUCE_ASCENDING:
    case LB_REDUCE_DESCENDING:
    case LB_REDUCE_ATOMIC:
    case LB_REDUCE_COUNT: break;
    }
    float *sum = parts + turn(x->s, n, 0) * size;
    start_sum(x, sum, size);
    for (size_t i = 1; i < n; i++) {
        lb_f32_add(sum, parts + turn(x->s, n, i) * size, size, x->native);
        lb_scheduled_round(x, x->s->sum, sum, size);
    }
    if (sum != parts) memcpy(parts, sum, size * sizeof *parts);
}

/* ---- the epilogue -------------------------------------------------------------------------------------------------------- */

static void blend(const lb_scheduled *x, float *v, float *c, size_t size) {
    const float alpha = x->s->scaled ? (float)x->s->alpha : 1, beta = x->s->scaled ? (float)x->s->beta : 1;
    switch (x->s->blend) {
    case LB_BLEND_FMA_X:
        lb_f32_scale(c, beta, size, x->native);
        lb_f32_fma(v, alpha, c, size, x->native);
        return;
    case LB_BLEND_FMA_C:
        lb_f32_scale(v, alpha, size, x->native);
        lb_f32_fma(c, beta, v, size, x->native);
        memcpy(v, c, size * sizeof *v);
        return;
    case LB_BLEND_SEPARATE:
    case LB_BLEND_COUNT: break;
    }
    lb_f32_scale(v, alpha, size, x->native);
    lb_f32_scale(c, beta, size, x->native);
    lb_f32_add(v, c, size, x->native);
}

void lb_scheduled_finish(const lb_scheduled *x, size_t row, size_t rows, size_t col, size_t cols, float *v, float *room, lb_mat *d) {
    const size_t size = rows * cols;
    if (x->s->scale_a && !x->s->promote) lb_scaled_end(x, row, rows, col, cols, v);
    if (x->c.codes && x->s->c_place == LB_C_LAST) {
        const lb_mat c = window(x->c, row, rows, col, cols);
        widen(&c, room);
        blend(x, v, room, size);
    } else if (x->s->scaled) {
        lb_f32_scale(v, (float)x->s->alpha, size, x->native);
    }
    if (x->bias.codes) {
        const lb_mat bias = window(x->bias, row, rows, col, cols);
        widen(&bias, room);
        lb_f32_add(v, room, size, x->native);
    }
    lb_activate(x->s->activation, v, size);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            lb_store_code(lb_mat_at(d, r, c), d->format->bytes, lb_f32_code(x->out, v[r * cols + c], x->s->saturate));
}

/* ---- regions: the whole output, or the tiles of stream-K ------------------------------------------------------------------ */

/* Parts one by one into a running sum: the same as lb_scheduled_reduce of all of them. parts: room for two. */
static lb_status run_running(const lb_scheduled *x, const lb_k_plan *plan, size_t row, size_t rows, size_t col, size_t cols, float *parts,
                             lb_error *err) {
    const size_t n = plan->parts, size = rows * cols;
    for (size_t i = 0; i < n; i++) {
        float *part = parts + (i ? size : 0);
        LB_TRY(lb_scheduled_part(x, plan, turn(x->s, n, i), row, rows, col, cols, part, err));
        if (n == 1) return LB_OK;
        lb_scheduled_round(x, x->s->partial, part, size);
        if (i == 0) {
            start_sum(x, parts, size);
            continue;
        }
        lb_f32_add(parts, part, size, x->native);
        lb_scheduled_round(x, x->s->sum, parts, size);
    }
    return LB_OK;
}

static lb_status run_region(const lb_scheduled *x, const lb_k_plan *plan, size_t row, size_t rows, size_t col, size_t cols, lb_error *err) {
    const size_t size = rows * cols, kept = keeps_all_parts(x->s) ? plan->parts : 2;
    lb_mat d = window(x->d, row, rows, col, cols);
    if (size == 0) return LB_OK;
    if (kept + 1 > SIZE_MAX / sizeof(float) / size) return lb_fail(err, LB_E_MEMORY, "schedule", "%zu parts are too large", kept);
    float *parts = malloc((kept + 1) * size * sizeof *parts);
    if (!parts) return lb_fail(err, LB_E_MEMORY, "schedule", "no memory for %zu parts of %zux%zu", kept, rows, cols);
    lb_status s = LB_OK;
    if (keeps_all_parts(x->s)) {
        for (size_t p = 0; s == LB_OK && p < plan->parts; p++)
            s = lb_scheduled_part(x, plan, p, row, rows, col, cols, parts + p * size, err);
        if (s == LB_OK) lb_scheduled_reduce(x, parts, plan->parts, size);
    } else {
        s = run_running(x, plan, row, rows, col, cols, parts, err);
    }
    if (s == LB_OK) lb_scheduled_finish(x, row, rows, col, cols, parts, parts + kept * size, &d);
    free(parts);
    return s;
}

static size_t at_most(size_t a, size_t b) {
    return a < b ? a : b;
}

static lb_status run_stream_k(const lb_scheduled *x, lb_error *err) {
    const size_t m = x->d.rows, n = x->d.cols;
    lb_stream grid;
    LB_TRY(lb_stream_open(&grid, x->s, x->u->k, m, n, x->a.cols, err));
    lb_status status = LB_OK;
    for (size_t t = 0; status == LB_OK && t < grid.down * grid.across; t++) {
        size_t row, col;
        lb_k_plan plan;
        lb_stream_place(&grid, t, &row, &col);
        status = lb_k_plan_open(&plan, x->s, x->u->k, x->a.cols, grid.cuts, lb_stream_cuts(&grid, t), err);
        if (status != LB_OK) break;
        status = run_region(x, &plan, row, at_most(grid.tile_m, m - row), col, at_most(grid.tile_n, n - col), err);
        lb_k_plan_close(&plan);
    }
    lb_stream_close(&grid);
    return status;
}

/* Whether nothing happens beside the chain, so that its codes are the output. */
static bool is_bare(const lb_scheduled *x, const lb_k_plan *plan) {
    const lb_schedule *s = x->s;
    return plan->parts == 1 && plan->first[1] <= 1 && !s->promote && !s->scaled && !(x->c.codes && s->c_place == LB_C_LAST) &&
           !x->bias.codes && !s->scale_a && s->activation == LB_ACTIVATION_NONE && x->out->id == x->u->d && !s->saturate;
}

static lb_status run_one(lb_scheduled *x, lb_error *err) {
    if (x->s->stream_k) return run_stream_k(x, err);
    lb_k_plan plan;
    LB_TRY(lb_k_plan_open(&plan, x->s, x->u->k, x->a.cols, NULL, 0, err));
    const lb_status s = is_bare(x, &plan) ? lb_gemm(x->u, &x->a, &x->b, x->c.codes ? &x->c : NULL, &x->d, x->options, err)
                                          : run_region(x, &plan, 0, x->d.rows, 0, x->d.cols, err);
    lb_k_plan_close(&plan);
    return s;
}

static void step(lb_mat *m, ptrdiff_t elements) {
    if (m->codes) m->codes = (char *)m->codes + elements * m->format->bytes;
}

lb_status lb_gemm_scheduled(const lb_unit *u, const lb_schedule *s, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d,
                            const lb_gemm_options *options, lb_error *err) {
    static const lb_schedule plain = {0};
    lb_scheduled x;
    if (!s || (lb_schedule_equal(s, &plain) && !s->bias && !s->scale_a && !s->scale_b && s->batch < 2))
        return lb_gemm(u, a, b, c, d, options, err);
    LB_TRY(lb_scheduled_check(&x, u, s, a, b, c, d, options, err));
    if (s->reduce == LB_REDUCE_ATOMIC && s->split > 1 && !s->arrival_count)
        return lb_fail(err, LB_E_ARG, "reduce",
                       "atomics add the parts in any order, which gives a set of results: arrival=0.1.2… names one; `lastbit fit-schedule` "
                       "asks whether an output is in it");
    for (size_t i = 0; i < (x.s->batch ? x.s->batch : 1); i++) {
        if (i) {
            step(&x.a, x.s->a_step);
            step(&x.b, x.s->b_step);
            step(&x.c, x.s->c_step);
            step(&x.d, x.s->d_step);
            step(&x.bias, x.s->bias_step);
        }
        LB_TRY(run_one(&x, err));
    }
    return LB_OK;
}
