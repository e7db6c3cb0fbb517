/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Other arithmetic that gives the very bits: plain chains of additions, other units, the same unit over slices of K. */
#include "lastbit/gemm.h"
#include "run/accumulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- units ----------------------------------------------------------------------------------------------------------------- */

/* Rows of a matrix of codes, side by side, k from `begin` to `end`. */
static lb_mat gather(void **owned, const lb_mat *m, const size_t *lines, size_t count, size_t begin, size_t end) {
    *owned = calloc(count * (end - begin) + 1, (size_t)m->format->bytes);
    lb_mat out = lb_mat_of(m->format, *owned, count, end - begin);
    if (!*owned) return out;
    for (size_t i = 0; i < count; i++)
        for (size_t p = begin; p < end; p++) lb_store_code(lb_mat_at(&out, i, p - begin), m->format->bytes, lb_mat_code(m, lines[i], p));
    return out;
}

static bool takes(const lb_scene *s, const lb_unit *u) {
    const lb_format *c = s->o->x.c.codes ? s->o->x.c.format : NULL;
    return u->path != LB_PATH_NONE && u->a == s->o->x.a.format->id && u->b == s->b.format->id && (!c || u->c == c->id);
}

bool lb_unit_values(const lb_scene *s, const lb_unit *u, size_t slices, size_t rows, size_t cols, double *out) {
    if (!takes(s, u)) return false;
    const lb_mat bt = lb_mat_transposed(s->b), *c_all = &s->o->x.c;
    const size_t slice = (s->k + slices - 1) / slices;
    const lb_format *own = lb_format_row(u->d), *c_format = lb_format_row(u->c);
    void *d_codes = malloc(rows * cols * (size_t)own->bytes + 1), *c_codes = malloc(rows * cols * (size_t)c_format->bytes + 1);
    lb_mat d = lb_mat_of(own, d_codes, rows, cols), c = lb_mat_of(c_format, c_codes, rows, cols);
    bool ok = d_codes && c_codes;
    for (size_t e = 0; ok && c_all->codes && e < rows * cols; e++)
        lb_store_code(lb_mat_at(&c, e / cols, e % cols), c_format->bytes, lb_mat_code(c_all, s->rows[e / cols], s->cols[e % cols]));
    for (size_t p = 0; ok && p < s->k; p += slice) {
        void *ac, *bc;
        const size_t end = s->k - p < slice ? s->k : p + slice;
        const lb_mat a = gather(&ac, &s->o->x.a, s->rows, rows, p, end), b = lb_mat_transposed(gather(&bc, &bt, s->cols, cols, p, end));
        ok = ac && bc && lb_gemm(u, &a, &b, c_all->codes && !p ? &c : NULL, &d, NULL, NULL) == LB_OK;
        free(ac);
        free(bc);
        for (size_t e = 0; ok && e < rows * cols; e++) {
            const double v = lb_to_double(own, lb_mat_code(&d, e / cols, e % cols));
            out[e] = p ? (double)((float)out[e] + (float)v) : v;
        }
    }
    free(d_codes);
    free(c_codes);
    return ok;
}

static bool same_arithmetic(const lb_unit *x, const lb_unit *y) {
    return x->path == y->path && x->terms == y->terms && x->frac_bits == y->frac_bits && x->floor_exp == y->floor_exp &&
           x->round == y->round && x->d == y->d && (x->path == LB_PATH_TRUNCATED || x->k == y->k);
}

/* Whether a corner of the grid agrees, before all of it is computed. */
static bool corner_agrees(const lb_scene *s, const lb_unit *u, size_t slices) {
    const size_t rows = s->gm < 6 ? s->gm : 6, cols = s->gn < 6 ? s->gn : 6;
    double v[36];
    size_t same = 0, inside = 0;
    if (!lb_unit_values(s, u, slices, rows, cols, v)) return false;
    for (size_t e = 0; e < rows * cols; e++) {
        if (!s->is_inside[e / cols * s->gn + e % cols]) continue;
        inside++;
        same += lb_from_double(s->out, v[e]) == lb_mat_code(&s->o->actual, s->rows[e / cols], s->cols[e % cols]);
    }
    return same * 10 >= inside * 9;
}

/* How many elements of the whole output are the unit's, where that is quickly known. */
static void count_all(lb_scene *s, const lb_unit *u, const char *how) {
    const size_t elements = s->m * s->n;
    if ((double)elements * (double)s->k > 6e7) return;
    const lb_format *own = lb_format_row(u->d);
    void *codes = malloc(elements * (size_t)own->bytes + 1);
    lb_mat d = lb_mat_of(own, codes, s->m, s->n);
    const lb_mat *c = s->o->x.c.codes ? &s->o->x.c : NULL;
    uint64_t same = 0;
    if (codes && lb_gemm(u, &s->o->x.a, &s->b, c, &d, NULL, NULL) == LB_OK) {
        for (size_t e = 0; e < elements; e++)
            same += lb_from_double(s->out, lb_to_double(own, lb_mat_code(&d, e / s->n, e % s->n))) ==
                    lb_mat_code(&s->o->actual, e / s->n, e % s->n);
        lb_words(s->best.sentence, sizeof s->best.sentence, "%s on %llu/%zu elements", how, (unsigned long long)same, elements);
    }
    free(codes);
}

static bool try_unit(lb_scene *s, const lb_unit *u, size_t slices) {
    lb_trial t = {.cause = LB_CAUSE_OTHER_UNIT, .choices = 6, .bits = true};
    if (!corner_agrees(s, u, slices) || !lb_unit_values(s, u, slices, s->gm, s->gn, s->value)) return false;
    if (slices > 1)
        lb_words(t.what, sizeof t.what, "equals %s over %zu slices of K, added in f32", u->name, slices);
    else
        lb_words(t.what, sizeof t.what, "equals %s%s", u->name, u->d == LB_F16 ? " (f16 accumulation)" : "");
    if (!lb_scene_try(s, &t)) return false;
    if (s->best.cause == LB_CAUSE_OTHER_UNIT && slices == 1 && s->best_everywhere) count_all(s, u, t.what);
    return true;
}

static void try_units(lb_scene *s) {
    const lb_unit *tried[64];
    size_t count = 0;
    size_t rows = 0;
    while (lb_unit_row(rows)) rows++;
    for (size_t i = 0; i < 2 * rows && count < 64 && !lb_scene_settled(s); i++) { /* those of the given unit's shape first */
        const lb_unit *u = lb_unit_row(i % rows);
        const bool alike = s->o->unit && u->m == s->o->unit->m && u->n == s->o->unit->n && u->k == s->o->unit->k;
        bool known = !takes(s, u) || alike != (i < rows) || (s->o->unit && same_arithmetic(u, s->o->unit));
        for (size_t t = 0; t < count && !known; t++) known = same_arithmetic(u, tried[t]);
        if (known) continue;
        tried[count++] = u;
        if (try_unit(s, u, 1)) return;
    }
    for (size_t slices = 2; slices <= 8 && !lb_scene_settled(s); slices *= 2) {
        if (s->o->unit && try_unit(s, s->o->unit, slices)) return;
        for (size_t t = 0; t < count; t++)
            if (try_unit(s, tried[t], slices)) return;
    }
}

/* ---- chains ------------------------------------------------------------------------------------------------------------------ */

typedef struct chain {
    const lb_format *format;
    bool product_rounded; /* multiply, then add */
    size_t step;          /* products that are summed exactly before each addition */
} chain;

static double round_to(const lb_format *f, double x) {
    return f->id == LB_F32 ? (double)(float)x : lb_round_value(f, LB_RNE, x);
}

static double run_chain(const lb_scene *s, const chain *c, size_t e) {
    const double *a = s->a + e / s->gn * s->k, *b = s->b_lines + e % s->gn * s->k;
    double sum = round_to(c->format, s->c[e]);
    for (size_t p = 0; p < s->k; p += c->step) {
        if (c->step == 1 && !c->product_rounded && c->format->id == LB_F32) {
            sum = (double)fmaf((float)a[p], (float)b[p], (float)sum);
            continue;
        }
        double part = 0;
        for (size_t i = p; i < p + c->step && i < s->k; i++) part += a[i] * b[i];
        sum = round_to(c->format, sum + (c->product_rounded ? round_to(c->format, part) : part));
    }
    return sum;
}

static bool try_chain(lb_scene *s, const chain *c) {
    const size_t count = s->gm * s->gn;
    size_t same = 0, seen = 0;
    for (size_t e = 0; e < count && seen < 16; e += count / 97 + 1) {
        if (!s->is_wrong[e]) continue;
        seen++;
        same += lb_from_double(s->out, run_chain(s, c, e)) == lb_mat_code(&s->o->actual, s->rows[e / s->gn], s->cols[e % s->gn]);
    }
    if (!seen || same * 10 < seen * 9) return false;
    lb_trial t = {.cause = LB_CAUSE_CHAIN, .choices = 5, .bits = true};
    if (c->step == 1)
        lb_words(t.what, sizeof t.what, "%s accumulation: a chain of %s in ascending k", c->format->name,
                 c->product_rounded ? "multiplications and additions" : "fused multiply-adds");
    else
        lb_words(t.what, sizeof t.what, "%s accumulation: %zu products%s at a time, in ascending k", c->format->name, c->step,
                 c->product_rounded ? ", rounded," : "");
    for (size_t e = 0; e < count; e++) s->value[e] = run_chain(s, c, e);
    return lb_scene_try(s, &t);
}

static void try_chains(lb_scene *s) {
    static const lb_format_id formats[] = {LB_F32, LB_F16, LB_BF16};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (size_t step = 1; step <= 128 && !lb_scene_settled(s); step *= 2)
            for (int rounded = 0; rounded < 2; rounded++) {
                const chain c = {lb_format_row(formats[f]), rounded, step};
                if (try_chain(s, &c)) return;
            }
}

void lb_try_accumulators(lb_scene *s) {
    if (s->best.cause) return;
    try_units(s);
    if (!lb_scene_settled(s)) try_chains(s);
}
