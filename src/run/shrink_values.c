/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands made simple: zeros, then ones, then powers of two, still failing alike. */
#include "run/shrink.h"

#include <math.h>
#include <stdlib.h>

/* Elements of A, B and C in one row of numbers. */
typedef struct place {
    const lb_mat *m;
    size_t r, c;
} place;

static size_t count_of(const lb_case *x) {
    return x->a.rows * x->a.cols + x->b.rows * x->b.cols + (x->c.codes ? x->c.rows * x->c.cols : 0);
}

static place place_of(const lb_case *x, size_t i) {
    const lb_mat *const all[] = {&x->a, &x->b, &x->c};
    size_t which = 0;
    while (which < 2 && i >= all[which]->rows * all[which]->cols) {
        i -= all[which]->rows * all[which]->cols;
        which++;
    }
    return (place){all[which], i / all[which]->cols, i % all[which]->cols};
}

static uint64_t code_at(place p) {
    return lb_mat_code(p.m, p.r, p.c);
}

static void store(place p, uint64_t code) {
    lb_store_code(lb_mat_at(p.m, p.r, p.c), p.m->format->bytes, code);
}

/* 0 before 1 before anything else: a step goes down this ladder alone, so that it ends. */
static int rank_of(place p) {
    const double v = lb_to_double(p.m->format, code_at(p));
    int e;
    if (code_at(p) == 0) return 0;
    if (v == 1) return 1;
    return fabs(frexp(v, &e)) == 0.5 ? v > 0 ? 2 : 3 : v > 0 ? 4 : 5;
}

/* Give [from, to) this value where that is a step down; take it back where the case no longer fails alike. */
static bool try_range(lb_shrinking *s, size_t from, size_t to, double value, uint64_t *saved) {
    bool changed = false;
    const int rank = value == 0 ? 0 : 1;
    for (size_t i = from; i < to; i++) {
        const place p = place_of(&s->now.x, i);
        saved[i - from] = code_at(p);
        if (rank_of(p) <= rank) continue;
        store(p, value == 0 ? 0 : lb_from_double(p.m->format, value));
        changed = true;
    }
    if (changed && lb_shrink_fails(s, &s->now)) return true;
    for (size_t i = from; i < to; i++) store(place_of(&s->now.x, i), saved[i - from]);
    return false;
}

/* All at once, then halves of it, down to single elements. */
static bool towards(lb_shrinking *s, double value, uint64_t *saved) {
    const size_t count = count_of(&s->now.x);
    bool simpler = false;
    for (size_t piece = count;; piece = (piece + 1) / 2) {
        for (size_t from = 0; from < count && !s->out_of_budget; from += piece)
            simpler |= try_range(s, from, from + piece < count ? from + piece : count, value, saved);
        if (piece <= 1 || s->out_of_budget || s->status != LB_OK) return simpler;
    }
}

/* The next power of two below, without its sign and with it; the number without its sign. */
static bool one_simpler(lb_shrinking *s, size_t i) {
    const place p = place_of(&s->now.x, i);
    const uint64_t old = code_at(p);
    const double v = lb_to_double(p.m->format, old);
    int e;
    if (rank_of(p) <= 2 || !isfinite(v)) return false;
    frexp(v, &e);
    const double power = ldexp(1, e - 1), tries[] = {power, copysign(power, v), fabs(v)};
    for (size_t t = 0; t < 3 && !s->out_of_budget; t++) {
        const int before = rank_of(p);
        store(p, lb_from_double(p.m->format, tries[t]));
        if (rank_of(p) < before && lb_shrink_fails(s, &s->now)) return true;
        store(p, old);
    }
    return false;
}

bool lb_shrink_values(lb_shrinking *s) {
    const size_t count = count_of(&s->now.x);
    uint64_t *saved = malloc((count + 1) * sizeof *saved);
    s->stage = "values";
    if (!saved) {
        s->status = lb_fail(s->err, LB_E_MEMORY, "shrink", "no memory for %zu elements", count);
        return false;
    }
    bool simpler = towards(s, 0, saved);
    simpler |= towards(s, 1, saved);
    for (size_t i = 0; i < count && !s->out_of_budget && s->status == LB_OK; i++) simpler |= one_simpler(s, i);
    free(saved);
    return simpler;
}
