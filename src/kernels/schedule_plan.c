/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which elements of K are whose. Tiles are counted first, then dealt out to the parts, then put in order; neighbours that need no padding
 * between them become one range, so that a kernel without surprises is one range a part. */
#include "kernels/schedule_plan.h"

#include <stdlib.h>

size_t lb_schedule_tile_k(const lb_schedule *s, size_t step) {
    if (s->tile_k) return s->tile_k;
    return s->stream_k && step < 32 ? 32 : step;
}

/* Tiles first … first + stride (count - 1) of part p. */
typedef struct run_of_tiles {
    size_t first, stride, count;
} run_of_tiles;

static run_of_tiles tiles_of(const lb_schedule *s, size_t tiles, size_t parts, size_t p, const size_t *cuts) {
    if (cuts) return (run_of_tiles){cuts[p], 1, (p + 1 < parts ? cuts[p + 1] : tiles) - cuts[p]};
    const size_t each = tiles / parts, rest = tiles % parts, most = each + (rest != 0);
    if (s->divide == LB_DIVIDE_DEALT) return (run_of_tiles){p, parts, each + (p < rest)};
    if (s->divide == LB_DIVIDE_EVEN) return (run_of_tiles){p * each + (p < rest ? p : rest), 1, each + (p < rest)};
    const size_t first = p * most < tiles ? p * most : tiles;
    return (run_of_tiles){first, 1, tiles - first < most ? tiles - first : most};
}

/* Append a range, or grow the last one of this part. */
static void append(lb_k_plan *plan, size_t p, lb_k_range r, size_t step) {
    size_t *count = &plan->first[p + 1];
    lb_k_range *last = *count > plan->first[p] ? &plan->range[*count - 1] : NULL;
    if (last && last->end == r.begin && (last->end - last->begin) % step == 0)
        last->end = r.end;
    else
        plan->range[(*count)++] = r;
}

/* The tiles of one part, in its order. With ragged first the part's tiles are counted from its end. */
static void fill_part(lb_k_plan *plan, size_t p, const lb_schedule *s, run_of_tiles t, size_t tile, size_t step, size_t k) {
    const size_t begin = t.first * tile, end = (t.first + t.count) * tile < k ? (t.first + t.count) * tile : k;
    const size_t lead = s->ragged == LB_RAGGED_FIRST && t.count && (end - begin) % tile ? tile - (end - begin) % tile : 0;
    for (size_t i = 0; i < t.count; i++) {
        const size_t at = s->order == LB_K_DESCENDING ? t.count - 1 - i : i, number = t.first + at * t.stride;
        lb_k_range r = {number * tile, (number + 1) * tile < k ? (number + 1) * tile : k};
        if (lead) r = (lb_k_range){at ? begin + at * tile - lead : begin, begin + (at + 1) * tile - lead};
        append(plan, p, r, step);
    }
}

lb_status lb_k_plan_open(lb_k_plan *out, const lb_schedule *s, size_t step, size_t k, const size_t *cuts, size_t cut_count, lb_error *err) {
    const size_t tile = lb_schedule_tile_k(s, step), tiles = k / tile + (k % tile != 0);
    const size_t parts = cuts ? cut_count : s->split > 1 ? s->split : 1;
    *out = (lb_k_plan){.parts = parts};
    out->first = calloc(parts + 1, sizeof *out->first);
    out->range = malloc((tiles + 1) * sizeof *out->range);
    if (!out->first || !out->range) {
        lb_k_plan_close(out);
        return lb_fail(err, LB_E_MEMORY, "schedule", "no memory for %zu tiles of K", tiles);
    }
    for (size_t p = 0; p < parts; p++) {
        out->first[p + 1] = out->first[p];
        fill_part(out, p, s, tiles_of(s, tiles, parts, p, cuts), tile, step, k);
    }
    return LB_OK;
}

void lb_k_plan_close(lb_k_plan *p) {
    free(p->first);
    free(p->range);
    *p = (lb_k_plan){0};
}

/* ---- stream-K ------------------------------------------------------------------------------------------------------------ */

lb_status lb_stream_open(lb_stream *g, const lb_schedule *s, size_t step, size_t m, size_t n, size_t k, lb_error *err) {
    const size_t tile_k = lb_schedule_tile_k(s, step);
    *g = (lb_stream){.s = s, .tile_m = s->tile_m ? s->tile_m : 128, .tile_n = s->tile_n ? s->tile_n : 128};
    g->down = m / g->tile_m + (m % g->tile_m != 0);
    g->across = n / g->tile_n + (n % g->tile_n != 0);
    g->per_tile = k / tile_k + (k % tile_k != 0);
    g->cuts = malloc((g->per_tile + 1) * sizeof *g->cuts);
    return g->cuts ? LB_OK : lb_fail(err, LB_E_MEMORY, "schedule", "no memory for %zu tiles of K", g->per_tile);
}

void lb_stream_close(lb_stream *g) {
    free(g->cuts);
    *g = (lb_stream){0};
}

void lb_stream_place(const lb_stream *g, size_t t, size_t *row, size_t *col) {
    const bool along_n = g->s->raster == LB_RASTER_N;
    *row = (along_n ? t / g->across : t % g->down) * g->tile_m;
    *col = (along_n ? t % g->across : t / g->down) * g->tile_n;
}

size_t lb_stream_cuts(lb_stream *g, size_t t) {
    const size_t total = g->down * g->across * g->per_tile, each = total / g->s->stream_k, rest = total % g->s->stream_k;
    const size_t most = each + (rest != 0), from = t * g->per_tile, to = from + g->per_tile;
    const size_t big = g->s->divide == LB_DIVIDE_CEIL ? total : rest * most; /* below it every worker takes `most` */
    size_t count = 0;
    g->cuts[count++] = 0;
    for (size_t i = from + 1; i < to; i++)
        if (i < big ? i % most == 0 : each && (i - big) % each == 0) g->cuts[count++] = i - from;
    return count;
}
