/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two schedules compute alike if every element goes through the same chains and the same sums. An element's way is a tree; its hash is made
 * so that a + b and b + a are one, a sum of one thing is that thing, and f32 rounded to f32 is nothing. */
#include "base/try.h"
#include "kernels/fit.h"

#include <stdlib.h>

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t sum_of(uint64_t x, uint64_t y) {
    return mix(mix(x < y ? x : y, 0x2b), x < y ? y : x);
}

static uint64_t rounded(uint64_t x, lb_k_type type) {
    return type == LB_TYPE_F32 ? x : mix(mix(x, 0x7e), type);
}

/* A chain takes blocks of so many products: instructions of one block structure and different k are one in a chain. */
static size_t block_of(const lb_unit *u) {
    return u->path == LB_PATH_TRUNCATED ? (size_t)u->terms : u->k;
}

static uint64_t unit_key(const lb_unit *u) {
    uint64_t h = mix(3, (uint64_t)u->path);
    const int64_t parts[] = {u->a, u->b, u->c, u->d, u->terms, u->frac_bits, u->floor_exp, u->round, (int64_t)block_of(u)};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) h = mix(h, (uint64_t)parts[i]);
    return h;
}

/* Elements of K as a chain meets them: h grows by ranges that are padded to a block before the next one begins. */
static uint64_t chain_of(uint64_t h, size_t begin, size_t end) {
    return mix(mix(h, begin), end);
}

/* The tree of one part. with_c: C is where it starts. */
static uint64_t part_key(const lb_k_plan *plan, size_t p, const lb_unit *u, const lb_schedule *s, bool with_c) {
    const uint64_t c = mix(5, 'C'), fresh = 11;
    uint64_t chain = with_c && !s->promote ? mix(fresh, c) : fresh, total = with_c && s->promote ? c : 0;
    size_t left = s->promote ? s->promote : SIZE_MAX; /* of K, padding counted, until the next promotion */
    bool any = false;
    for (size_t r = plan->first[p]; r < plan->first[p + 1]; r++) {
        for (size_t at = plan->range[r].begin, end = plan->range[r].end; at < end;) {
            const size_t length = end - at, padded = length + (u->k - length % u->k) % u->k;
            const size_t take = padded < left ? length : left < length ? left : length;
            chain = chain_of(chain, at, at + take);
            any = true;
            at += take;
            left -= s->promote ? (padded < left ? padded : left) : 0;
            if (left) continue;
            total = total ? sum_of(total, chain) : chain;
            chain = fresh;
            any = false;
            left = s->promote;
        }
    }
    if (!s->promote) return any || with_c ? chain : 0;
    return any ? (total ? sum_of(total, chain) : chain) : total;
}

/* 0 is a part without elements: +0, which adds nothing. */
static uint64_t added(uint64_t x, uint64_t y) {
    return x && y ? sum_of(x, y) : x ? x : y;
}

static uint64_t reduce_key(uint64_t *p, size_t n, const lb_unit *u, const lb_schedule *s) {
    if (n == 1) return p[0];
    const bool holds = u->d == LB_F16 && !s->promote && s->partial == LB_TYPE_F16; /* such a part is an f16 already */
    for (size_t i = 0; i < n && !holds; i++) p[i] = p[i] ? rounded(p[i], s->partial) : 0;
    if (s->reduce == LB_REDUCE_SLOTS) {
        const size_t h = (n + 1) / 2;
        uint64_t sum = p[n - 1];
        for (size_t i = 0; i < h; i++) sum = added(sum, i + h < n - 1 ? added(p[i], p[i + h]) : p[i]);
        return sum;
    }
    if (s->reduce == LB_REDUCE_TREE || s->reduce == LB_REDUCE_HALVES) {
        for (; n > 1; n = (n + 1) / 2)
            for (size_t i = 0, h = (n + 1) / 2; i < h; i++) {
                const size_t x = s->reduce == LB_REDUCE_TREE ? 2 * i : i, y = s->reduce == LB_REDUCE_TREE ? x + 1 : x + h;
                p[i] = y < n ? added(p[x], p[y]) : p[x];
            }
        return p[0];
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t next = added(sum, p[s->reduce == LB_REDUCE_DESCENDING ? n - 1 - i : i]);
        sum = next == sum ? sum : rounded(next, s->sum);
    }
    return sum;
}

/* Mix the trees of one plan under every variant into keys. */
static lb_status plan_keys(const lb_fit_case *x, const lb_k_plan *plan, const lb_unit *u, const lb_schedule *s, const lb_schedule *variants,
                           size_t count, uint64_t *keys, lb_error *err) {
    const bool from_c = x->c.codes && s->c_place == LB_C_FIRST;
    uint64_t *parts = malloc(2 * plan->parts * sizeof *parts), *work = parts + plan->parts;
    if (!parts) return lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu parts", plan->parts);
    for (size_t p = 0; p < plan->parts; p++) parts[p] = part_key(plan, p, u, s, from_c && p == 0);
    for (size_t v = 0; v < count; v++) {
        for (size_t p = 0; p < plan->parts; p++) work[p] = parts[p];
        keys[v] = reduce_key(work, plan->parts, u, &variants[v]);
    }
    free(parts);
    return LB_OK;
}

/* Stream-K: one key if every output tile has it, else one of all of them. */
static lb_status stream_keys(const lb_fit_case *x, const lb_unit *u, const lb_schedule *s, const lb_schedule *variants, size_t count,
                             uint64_t *keys, size_t *parts, lb_error *err) {
    lb_stream grid;
    uint64_t one[LB_FIT_VARIANTS], first[LB_FIT_VARIANTS];
    bool differ = false;
    LB_TRY(lb_stream_open(&grid, s, u->k, x->a.rows, x->b.cols, x->a.cols, err));
    lb_status status = LB_OK;
    for (size_t v = 0; v < count; v++) keys[v] = first[v] = 0;
    for (size_t t = 0; status == LB_OK && t < grid.down * grid.across; t++) {
        lb_k_plan plan;
        status = lb_k_plan_open(&plan, s, u->k, x->a.cols, grid.cuts, lb_stream_cuts(&grid, t), err);
        if (status != LB_OK) break;
        *parts = plan.parts > *parts ? plan.parts : *parts;
        status = plan_keys(x, &plan, u, s, variants, count, one, err);
        lb_k_plan_close(&plan);
        for (size_t v = 0; status == LB_OK && v < count; v++) {
            first[v] = t ? first[v] : one[v];
            differ = differ || one[v] != first[v];
            keys[v] = mix(keys[v], one[v]);
        }
    }
    lb_stream_close(&grid);
    for (size_t v = 0; !differ && v < count; v++) keys[v] = first[v];
    return status;
}

lb_status lb_fit_key(const lb_fit_case *x, const lb_unit *u, const lb_schedule *s, const lb_schedule *variants, size_t count,
                     uint64_t *keys, size_t *parts, lb_error *err) {
    const bool joins = s->promote && s->promote < x->a.cols; /* a product alone: fused or not is one */
    const uint64_t how = joins ? (uint64_t)s->scaling : (uint64_t)(LB_SCALING_COUNT + s->scaling / 2),
                   scaled = s->scale_a ? mix(17, how) : 0;
    const uint64_t after = mix(mix(unit_key(u), scaled), x->c.codes ? (uint64_t)s->c_place : 7);
    *parts = 1;
    if (s->stream_k) {
        LB_TRY(stream_keys(x, u, s, variants, count, keys, parts, err));
    } else {
        lb_k_plan plan;
        LB_TRY(lb_k_plan_open(&plan, s, u->k, x->a.cols, NULL, 0, err));
        *parts = plan.parts;
        const lb_status status = plan_keys(x, &plan, u, s, variants, count, keys, err);
        lb_k_plan_close(&plan);
        if (status != LB_OK) return status;
    }
    for (size_t v = 0; v < count; v++) keys[v] = mix(keys[v], after);
    return LB_OK;
}
