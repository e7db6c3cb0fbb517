/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bounded set of schedules that fit-schedule tries; docs/schedules.md lists it. What the caller's base says stays as it is. */
#include "base/try.h"
#include "kernels/fit.h"

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

bool lb_fit_variant(const lb_fit_group *g, const lb_format *out, unsigned i, lb_schedule *s) {
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
    if (g->parts < 2 || type >= COUNT(types)) return false;
    if (g->s.reduce || g->s.partial || g->s.sum) return false; /* the base says how parts are added */
    s->reduce = sums[sum].reduce;
    s->sum = sums[sum].sum;
    s->partial = types[type];
    if (s->sum == LB_TYPE_OUT && out->id == LB_F32) return false;
    return s->partial != LB_TYPE_OUT || (out->id != LB_F32 && out->id != LB_F16 && out->id != LB_BF16);
}

/* ---- groups -------------------------------------------------------------------------------------------------------------- */

void lb_fit_groups_close(lb_fit_groups *g) {
    free(g->group);
    free(g->seen);
    *g = (lb_fit_groups){0};
}

/* Whether the key is new; it is then kept. There is room for it. */
static bool keep_key(lb_fit_groups *g, uint64_t key) {
    const size_t mask = ((size_t)1 << g->seen_bits) - 1;
    key = key ? key : 1;
    for (size_t at = (size_t)key & mask;; at = (at + 1) & mask) {
        if (g->seen[at] == key) return false;
        if (g->seen[at]) continue;
        g->seen[at] = key;
        g->seen_count++;
        return true;
    }
}

static lb_status make_room(lb_fit_groups *g, lb_error *err) {
    if (g->count == g->capacity) {
        const size_t capacity = g->capacity ? 2 * g->capacity : 256;
        lb_fit_group *grown = realloc(g->group, capacity * sizeof *grown);
        if (!grown) return lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu candidates", capacity);
        g->group = grown;
        g->capacity = capacity;
    }
    if (g->seen && (g->seen_count + LB_FIT_VARIANTS) * 2 < (size_t)1 << g->seen_bits) return LB_OK;
    lb_fit_groups next = *g;
    next.seen_bits = g->seen ? g->seen_bits + 1 : 12;
    next.seen_count = 0;
    next.seen = calloc((size_t)1 << next.seen_bits, sizeof *next.seen);
    if (!next.seen) return lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu candidates", g->seen_count);
    for (size_t i = 0; g->seen && i < (size_t)1 << g->seen_bits; i++)
        if (g->seen[i]) keep_key(&next, g->seen[i]);
    free(g->seen);
    *g = next;
    return LB_OK;
}

typedef struct adding {
    lb_fit_groups *out;
    const lb_fit_case *x;
    const lb_unit *u;
    lb_error *err;
} adding;

/* One division of K and every way to add its parts, but for what an earlier candidate computes too. */
static lb_status add(adding *w, lb_schedule s) {
    const lb_fit_case *x = w->x;
    const lb_format *out = x->actual.format;
    lb_scheduled checked;
    lb_schedule variants[LB_FIT_VARIANTS];
    unsigned number[LB_FIT_VARIANTS], count = 0;
    uint64_t keys[LB_FIT_VARIANTS];
    if (out->id != w->u->d) s.out = out;
    if (lb_scheduled_check(&checked, w->u, &s, &x->a, &x->b, x->c.codes ? &x->c : NULL, &x->actual, NULL, NULL) != LB_OK) return LB_OK;
    lb_fit_group g = {.u = w->u, .s = s, .parts = SIZE_MAX};
    for (unsigned v = 0; v < LB_FIT_VARIANTS; v++)
        if (lb_fit_variant(&g, out, v, &variants[count])) number[count++] = v;
    LB_TRY(lb_fit_key(x, w->u, &s, variants, count, keys, &g.parts, w->err));
    LB_TRY(make_room(w->out, w->err));
    /* promotion alone is named even where a split computes the same: both are what kernels are written as */
    const bool promotes = s.promote && s.promote < x->a.cols && g.parts == 1;
    for (unsigned i = 0; i < count && (i == 0 || g.parts > 1); i++)
        if (keep_key(w->out, keys[i]) | (promotes && keep_key(w->out, ~keys[i]))) g.alive |= UINT32_C(1) << number[i];
    if (g.alive) w->out->group[w->out->count++] = g;
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

static lb_status add_all(adding w, lb_schedule s) {
    const lb_fit_case *x = w.x;
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

lb_status lb_fit_enumerate(lb_fit_groups *out, const lb_fit_case *x, const lb_unit *u, lb_error *err) {
    const lb_schedule *base = x->base;
    if (!base->scale_a || base->scaling) return add_all((adding){out, x, u, err}, *base);
    for (int how = 0; how < LB_SCALING_COUNT; how++) { /* scales, and nobody says how they apply */
        lb_schedule s = *base;
        s.scaling = (lb_scaling)how;
        LB_TRY(add_all((adding){out, x, u, err}, s));
    }
    return LB_OK;
}
