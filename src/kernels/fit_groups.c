/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bounded set of schedules that fit-schedule tries; docs/schedules.md lists it. What the caller's base says stays as it is. */
#include "base/try.h"
#include "kernels/fit.h"
#include "kernels/schedule_f32.h"

#include <stdlib.h>

/* ---- what is tried ----------------------------------------------------------------------------------------------------- */

static const unsigned tiles_k[] = {0, 32, 64, 128, 256};
static const unsigned splits[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 48, 64};
static const unsigned promotions[] = {32, 64, 128, 256, 512, 1024, 2048};
static const unsigned workers[] = {80, 108, 114, 132, 142, 148}; /* multiprocessors of V100, A100, H100 PCIe, H100, L40S, B200 */
static const unsigned stream_tiles[][2] = {{128, 128}, {128, 256}, {256, 128}, {64, 64}};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
enum { DESCENDING_SPLITS = 8, USUAL_PROMOTION = 128 };

/* ---- variants ------------------------------------------------------------------------------------------------------------ */

bool lb_fit_variant(const lb_fit_group *g, const lb_format *out, size_t parts, unsigned i, lb_schedule *s) {
    /* reductions of f32 first, then those of rounded running sums: the order of the sums in lb_fit_variant's number */
    static const struct {
        lb_k_reduce reduce;
        lb_k_type sum;
    } sums[] = {{LB_REDUCE_ASCENDING, LB_TYPE_F32}, {LB_REDUCE_DESCENDING, LB_TYPE_F32}, {LB_REDUCE_TREE, LB_TYPE_F32},
                {LB_REDUCE_HALVES, LB_TYPE_F32},    {LB_REDUCE_SLOTS, LB_TYPE_F32},      {LB_REDUCE_ASCENDING, LB_TYPE_OUT},
                {LB_REDUCE_DESCENDING, LB_TYPE_OUT}};
    static const lb_k_type types[] = {LB_TYPE_F32, LB_TYPE_F16, LB_TYPE_BF16, LB_TYPE_OUT};
    const unsigned sum = i % COUNT(sums), type = i / (unsigned)COUNT(sums);
    *s = g->s;
    if (i == 0) return true;
    if (parts < 2 || type >= COUNT(types)) return false;
    const bool fixed = g->s.reduce || g->s.partial || g->s.sum; /* the base says how parts are added */
    if (fixed) return false;
    s->reduce = sums[sum].reduce;
    s->sum = sums[sum].sum;
    s->partial = types[type];
    if (parts == 2 && s->reduce != LB_REDUCE_ASCENDING && (s->reduce != LB_REDUCE_DESCENDING || s->sum == LB_TYPE_F32)) return false;
    if (parts == 3 && s->reduce == LB_REDUCE_TREE) return false; /* (p0 + p1) + p2 */
    if (s->sum == LB_TYPE_OUT && out->id == LB_F32) return false;
    if (s->partial == LB_TYPE_OUT) return out->id != LB_F32 && out->id != LB_F16 && out->id != LB_BF16;
    return true;
}

/* ---- divisions ----------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* *longest: elements of K in the longest part seen so far. */
static uint64_t plan_key(const lb_k_plan *p, size_t step, size_t *longest) {
    uint64_t h = mix(1, p->parts);
    for (size_t i = 0; i < p->parts; i++) {
        size_t length = 0;
        h = mix(h, p->first[i + 1]);
        for (size_t r = p->first[i]; r < p->first[i + 1]; r++) {
            h = mix(mix(h, p->range[r].begin), p->range[r].end);
            length += p->range[r].end - p->range[r].begin;
        }
        *longest = length > *longest ? length : *longest;
    }
    return mix(h, step);
}

/* One key of the whole output: that of its one plan, or of all plans of stream-K's tiles where they differ. */
static lb_status schedule_key(const lb_schedule *s, size_t step, size_t m, size_t n, size_t k, uint64_t *key, size_t *longest,
                              lb_error *err) {
    lb_stream grid;
    *longest = 0;
    lb_k_plan plan;
    if (!s->stream_k) {
        LB_TRY(lb_k_plan_open(&plan, s, step, k, NULL, 0, err));
        *key = plan_key(&plan, step, longest);
        lb_k_plan_close(&plan);
        return LB_OK;
    }
    LB_TRY(lb_stream_open(&grid, s, step, m, n, k, err));
    uint64_t all = 0, first = 0;
    bool differ = false;
    lb_status status = LB_OK;
    for (size_t t = 0; status == LB_OK && t < grid.down * grid.across; t++) {
        status = lb_k_plan_open(&plan, s, step, k, grid.cuts, lb_stream_cuts(&grid, t), err);
        if (status != LB_OK) break;
        const uint64_t one = plan_key(&plan, step, longest);
        first = t ? first : one;
        differ = differ || one != first;
        all = mix(all, one);
        lb_k_plan_close(&plan);
    }
    lb_stream_close(&grid);
    *key = differ ? all : first;
    return status;
}

size_t lb_fit_parts(const lb_schedule *s, size_t step, size_t m, size_t n, size_t k) {
    lb_stream grid;
    if (!s->stream_k) return s->split > 1 ? s->split : 1;
    if (lb_stream_open(&grid, s, step, m, n, k, NULL) != LB_OK) return 1;
    size_t most = 1;
    for (size_t t = 0; t < grid.down * grid.across; t++) {
        const size_t count = lb_stream_cuts(&grid, t);
        most = count > most ? count : most;
    }
    lb_stream_close(&grid);
    return most;
}

/* ---- groups -------------------------------------------------------------------------------------------------------------- */

typedef struct adding {
    lb_fit_groups *out;
    const lb_fit_case *x;
    const lb_unit *u;
    size_t alike, first; /* groups of this unit begin here */
    lb_error *err;
} adding;

/* Every field that the base leaves open as `s` says, unless the unit cannot, or an earlier group computes the same. */
static lb_status add(adding *w, lb_schedule s) {
    const lb_fit_case *x = w->x;
    const size_t m = x->a.rows, n = x->b.cols, k = x->a.cols;
    lb_scheduled checked;
    const lb_format *own = lb_format_row(w->u->d);
    if (x->actual.format != own) s.out = x->actual.format;
    if (lb_scheduled_check(&checked, w->u, &s, &x->a, &x->b, x->c.codes ? &x->c : NULL, &x->actual, NULL, NULL) != LB_OK) return LB_OK;
    uint64_t key;
    size_t longest;
    LB_TRY(schedule_key(&s, w->u->k, m, n, k, &key, &longest, w->err));
    const bool from_c = x->c.codes && s.c_place == LB_C_FIRST;
    const unsigned promote = from_c || s.promote < longest ? s.promote : 0; /* a part that is never promoted */
    key = mix(mix(key, promote), (uint64_t)s.c_place);
    for (size_t i = w->first; i < w->out->count; i++)
        if (w->out->group[i].plan_key == key) return LB_OK;
    if (w->out->count == w->out->capacity) {
        const size_t capacity = w->out->capacity ? 2 * w->out->capacity : 256;
        lb_fit_group *grown = realloc(w->out->group, capacity * sizeof *grown);
        if (!grown) return lb_fail(w->err, LB_E_MEMORY, "fit", "no memory for %zu candidates", capacity);
        w->out->group = grown;
        w->out->capacity = capacity;
    }
    w->out->group[w->out->count++] = (lb_fit_group){w->u, w->alike, s, key, 0};
    return LB_OK;
}

/* The same with C at either end, where there is a C and the base does not say. */
static lb_status add_c(adding *w, const lb_schedule *s) {
    const lb_schedule *base = w->x->base;
    LB_TRY(add(w, *s));
    if (!w->x->c.codes || base->c_place || base->scaled) return LB_OK;
    lb_schedule last = *s;
    last.c_place = LB_C_LAST;
    return add(w, last);
}

static size_t tiles_in(const lb_schedule *s, size_t step, size_t k) {
    const size_t tile = lb_schedule_tile_k(s, step);
    return k / tile + (k % tile != 0);
}

static lb_status add_divisions(adding *w, lb_schedule s, size_t split_count) {
    const lb_schedule *base = w->x->base;
    const size_t k = w->x->a.cols;
    const unsigned own_split[] = {base->split};
    const bool split_said = base->split > 1, divide_said = base->divide != LB_DIVIDE_CEIL;
    const unsigned *list = split_said ? own_split : splits;
    for (size_t i = 0; i < (split_said ? 1 : split_count); i++) {
        s.split = list[i] > 1 ? list[i] : 0;
        if (s.split > tiles_in(&s, w->u->k, k)) break;
        const int divisions = s.split && !divide_said && s.order == LB_K_ASCENDING ? LB_DIVIDE_COUNT : 1;
        for (int divide = 0; divide < divisions; divide++) {
            s.divide = divide_said ? base->divide : s.split ? (lb_k_divide)divide : LB_DIVIDE_CEIL;
            LB_TRY(add_c(w, &s));
        }
    }
    return LB_OK;
}

static lb_status add_tiles(adding *w, lb_schedule s, size_t split_count) {
    const lb_schedule *base = w->x->base;
    for (size_t i = 0; i < (base->tile_k ? 1 : COUNT(tiles_k)); i++) {
        s.tile_k = base->tile_k ? base->tile_k : tiles_k[i];
        if (s.tile_k % w->u->k || (i && s.tile_k <= w->u->k)) continue;
        LB_TRY(add_divisions(w, s, split_count));
        if (base->ragged || w->x->a.cols % lb_schedule_tile_k(&s, w->u->k) == 0) continue;
        lb_schedule first = s;
        first.ragged = LB_RAGGED_FIRST;
        LB_TRY(add_divisions(w, first, split_count));
    }
    return LB_OK;
}

static lb_status add_stream_k(adding *w, lb_schedule s) {
    for (size_t i = 0; i < COUNT(workers); i++)
        for (size_t t = 0; t < COUNT(stream_tiles); t++)
            for (unsigned tile = 32; tile <= 64; tile *= 2)
                for (int divide = LB_DIVIDE_CEIL; divide <= LB_DIVIDE_EVEN; divide++) {
                    s.stream_k = workers[i];
                    s.tile_m = stream_tiles[t][0];
                    s.tile_n = stream_tiles[t][1];
                    s.tile_k = tile;
                    s.divide = (lb_k_divide)divide;
                    LB_TRY(add_c(w, &s));
                }
    return LB_OK;
}

lb_status lb_fit_enumerate(lb_fit_groups *out, const lb_fit_case *x, const lb_unit *u, size_t alike, lb_error *err) {
    adding w = {out, x, u, alike, out->count, err};
    lb_schedule s = *x->base;
    if (s.stream_k) return add_c(&w, &s);
    LB_TRY(add_tiles(&w, s, COUNT(splits)));
    if (!s.promote) {
        lb_schedule p = s;
        for (size_t i = 0; i < COUNT(promotions) && promotions[i] < x->a.cols; i++) {
            p.promote = promotions[i];
            LB_TRY(add_divisions(&w, p, 1));
        }
        p.promote = USUAL_PROMOTION;
        LB_TRY(add_tiles(&w, p, COUNT(splits)));
    }
    if (!s.order) {
        lb_schedule down = s;
        down.order = LB_K_DESCENDING;
        LB_TRY(add_tiles(&w, down, DESCENDING_SPLITS));
    }
    if (s.split > 1 || s.tile_k || s.divide || s.order || s.ragged) return LB_OK; /* the base leaves no room for stream-K */
    return add_stream_k(&w, s);
}
