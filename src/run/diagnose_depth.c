/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which parts of K enter how often: a weighted least-squares fit of the output to partial products of blocks of K. Blocks whose
 * factor is neither 0, 1 nor 2 are halved and fitted again, down to single products. */
#include "run/scene.h"
#include "run/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS = 64, START = 48, ELEMENTS_MOST = 1536, RANGES = 512 };

typedef struct block {
    size_t begin, end;
    double factor;
    bool open; /* still to be fitted */
} block;

typedef struct depth {
    lb_scene *s;
    block *blocks; /* [count], in order of k */
    size_t count;
    size_t *elements; /* [used] of the grid, inside the region */
    size_t used;
    double *x; /* [used][UNKNOWNS] partial products of the open blocks */
    double *y; /* [used] what they should make */
    double *w; /* [used] weights */
} depth;

static double part(const lb_scene *s, size_t e, const block *b) {
    return lb_dot(s->a + e / s->gn * s->k + b->begin, s->b_lines + e % s->gn * s->k + b->begin, b->end - b->begin);
}

/* Solve the normal equations [n][n] with right side [n] by Cholesky, in place; false where they are too nearly singular. */
static bool solve(double *m, double *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double diagonal = m[i * n + i];
        for (size_t j = 0; j <= i; j++) {
            double sum = m[i * n + j];
            for (size_t p = 0; p < j; p++) sum -= m[i * n + p] * m[j * n + p];
            if (i == j && !(sum > 1e-10 * diagonal)) return false;
            m[i * n + j] = i == j ? sqrt(sum) : sum / m[j * n + j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < i; p++) v[i] -= m[i * n + p] * v[p];
        v[i] /= m[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t p = i + 1; p < n; p++) v[i] -= m[p * n + i] * v[p];
        v[i] /= m[i * n + i];
    }
    return true;
}

/* Fit the factors of the open blocks, the others given. */
static bool fit(depth *d) {
    const lb_scene *s = d->s;
    size_t open[UNKNOWNS], n = 0;
    double m[UNKNOWNS * UNKNOWNS] = {0}, v[UNKNOWNS] = {0};
    for (size_t b = 0; b < d->count; b++) {
        if (!d->blocks[b].open) continue;
        if (n == UNKNOWNS) return false;
        open[n++] = b;
    }
    if (!n || d->used < 2 * n + 4) return false;
    for (size_t i = 0; i < d->used; i++) {
        const size_t e = d->elements[i];
        double y = s->actual[e] - s->c[e];
        double *x = d->x + i * UNKNOWNS;
        for (size_t b = 0, u = 0; b < d->count; b++) {
            const double p = d->blocks[b].open || d->blocks[b].factor != 0 ? part(s, e, &d->blocks[b]) : 0;
            if (d->blocks[b].open)
                x[u++] = p;
            else
                y -= d->blocks[b].factor * p;
        }
        const double w = d->w[i] * d->w[i];
        for (size_t r = 0; r < n; r++) {
            v[r] += w * x[r] * y;
            for (size_t c = 0; c <= r; c++) m[r * n + c] += w * x[r] * x[c];
        }
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = r + 1; c < n; c++) m[r * n + c] = m[c * n + r];
    if (!solve(m, v, n)) return false;
    for (size_t u = 0; u < n; u++) d->blocks[open[u]].factor = v[u];
    return true;
}

static double snapped(double x, double slack) {
    static const double whole[] = {0, 1, 2, -1, 3};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (fabs(x - whole[i]) < slack) return whole[i];
    const double p = copysign(exp2(round(log2(fabs(x)))), x);
    return fabs(x - p) < slack * fabs(p) * 0.5 ? p : lb_tidy(x, 1e-3);
}

static bool is_plain(double factor) {
    return factor == 0 || factor == 1 || factor == 2;
}

/* ---- the words ------------------------------------------------------------------------------------------------------------------- */

/* Neighbours of one factor as ranges; those of factor 1 are left out. */
static size_t ranges_of(const depth *d, const double *factor, block *out) {
    size_t n = 0;
    for (size_t b = 0; b < d->count; b++) {
        if (factor[b] == 1) continue;
        if (n && out[n - 1].end == d->blocks[b].begin && out[n - 1].factor == factor[b])
            out[n - 1].end = d->blocks[b].end;
        else if (n < RANGES)
            out[n++] = (block){d->blocks[b].begin, d->blocks[b].end, factor[b], false};
    }
    return n;
}

static const char *verb(double factor, char *text, size_t size) {
    if (factor == 0) return "missing";
    if (factor == 2) return "counted twice";
    if (factor == -1) return "subtracted";
    lb_words(text, size, "entered with factor %.4g", factor);
    return text;
}

/* All ranges of one factor, as one rule over k. */
static void one_factor_text(const depth *d, const block *r, size_t n, char *out, size_t size) {
    char text[40], lines[72];
    const size_t k = d->s->k;
    if (n == 1 && r->end == k && r->factor == 0) {
        lb_words(out, size, "K %zu..%zu is missing, the tail of %zu", r->begin, r->end - 1, k);
        return;
    }
    size_t *all = malloc((k + 1) * sizeof *all), count = 0;
    if (!all) return;
    for (size_t i = 0; i < n; i++)
        for (size_t p = r[i].begin; p < r[i].end; p++) all[count++] = p;
    lb_lines_text(lines, sizeof lines, "K", all, count, k, NULL);
    free(all);
    const bool several = strncmp(lines, "Ks", 2) == 0;
    if (n > 1)
        lb_words(out, size, "%s%s is %s", several ? "K" : "", lines + 2 * several, verb(r->factor, text, sizeof text));
    else if (r->end - r->begin == 1)
        lb_words(out, size, "K %zu is %s", r->begin, verb(r->factor, text, sizeof text));
    else
        lb_words(out, size, "K %zu..%zu is %s", r->begin, r->end - 1, verb(r->factor, text, sizeof text));
}

static lb_cause describe(const depth *d, const block *r, size_t n, char *out, size_t size) {
    bool same = true, plain = true;
    char t0[40], t1[40];
    for (size_t i = 0; i < n; i++) {
        same = same && r[i].factor == r[0].factor;
        plain = plain && (r[i].factor == 0 || r[i].factor >= 2) && r[i].factor == rint(r[i].factor);
    }
    if (same) {
        one_factor_text(d, r, n, out, size);
    } else if (n == 2) {
        lb_words(out, size, "K %zu..%zu is %s, K %zu..%zu %s", r[0].begin, r[0].end - 1, verb(r[0].factor, t0, sizeof t0), r[1].begin,
                 r[1].end - 1, verb(r[1].factor, t1, sizeof t1));
    } else {
        lb_words(out, size, "%zu parts of K: %zu..%zu is %s, %zu..%zu %s", n, r[0].begin, r[0].end - 1, verb(r[0].factor, t0, sizeof t0),
                 r[1].begin, r[1].end - 1, verb(r[1].factor, t1, sizeof t1));
    }
    if (!plain) return LB_CAUSE_K_FACTOR;
    return !same ? LB_CAUSE_K_REPLACED : r[0].factor == 0 ? LB_CAUSE_K_MISSING : LB_CAUSE_K_DOUBLED;
}

/* ---- trial ------------------------------------------------------------------------------------------------------------------------ */

/* Judge the factors as they stand, snapped to whole ones where they are near. */
static bool try_factors(depth *d, double slack, bool raw) {
    lb_scene *s = d->s;
    double factor[RANGES];
    block ranges[RANGES];
    size_t odd = 0;
    if (d->count > RANGES) return false;
    for (size_t b = 0; b < d->count; b++) {
        factor[b] = snapped(d->blocks[b].factor, slack);
        for (size_t i = 0; i < b && !is_plain(factor[b]); i++) /* one factor for all that are near each other */
            if (fabs(factor[i] - factor[b]) < slack * 0.5 * fabs(factor[b])) factor[b] = factor[i];
        odd += !is_plain(factor[b]);
    }
    const size_t n = ranges_of(d, factor, ranges);
    if (!n || (odd && !raw)) return false;
    lb_trial t = {.choices = 4 * (double)n + 8 * (double)odd};
    t.cause = describe(d, ranges, n, t.what, sizeof t.what);
    for (size_t e = 0; e < s->gm * s->gn; e++) {
        s->value[e] = s->c[e] + s->dot[e];
        for (size_t i = 0; i < n; i++) s->value[e] += (ranges[i].factor - 1) * part(s, e, &ranges[i]);
    }
    return lb_scene_try(s, &t);
}

/* Halve what is open and odd; close the rest. False if nothing is left to halve. */
static bool refine(depth *d, double slack) {
    block *next = malloc((2 * d->count + 1) * sizeof *next);
    size_t n = 0, open = 0;
    if (!next) return false;
    for (size_t b = 0; b < d->count; b++) {
        const block *o = &d->blocks[b];
        const double f = snapped(o->factor, slack);
        const size_t half = (o->end - o->begin + 1) / 2, whole = (size_t)1 << (size_t)ceil(log2((double)half));
        const size_t mid = o->begin + (o->begin + whole < o->end ? whole : half);
        if (!o->open || is_plain(f) || o->end - o->begin == 1) {
            next[n++] = (block){o->begin, o->end, f, o->open && !is_plain(f)};
            continue;
        }
        next[n++] = (block){o->begin, mid, 1, true};
        next[n++] = (block){mid, o->end, 1, true};
        open += 2;
    }
    free(d->blocks);
    d->blocks = next;
    d->count = n;
    return open > 0;
}

static bool begin(depth *d, size_t size) {
    lb_scene *s = d->s;
    const size_t k = s->k;
    free(d->blocks);
    d->count = (k + size - 1) / size;
    d->blocks = malloc((d->count + 1) * sizeof *d->blocks);
    if (!d->blocks) return false;
    for (size_t b = 0; b < d->count; b++) d->blocks[b] = (block){b * size, (b + 1) * size < k ? (b + 1) * size : k, 1, true};
    return true;
}

static void search(depth *d, size_t size) {
    static const double slacks[] = {0.03, 0.1};
    for (size_t round = 0; round < 2 && !d->s->best.cause; round++) {
        if (!begin(d, size)) return;
        for (size_t level = 0; level < 12 && lb_seconds() < d->s->end; level++) {
            if (!fit(d)) break;
            if (try_factors(d, slacks[round], true)) return;
            if (!refine(d, slacks[round])) break;
        }
    }
}

void lb_try_depth(lb_scene *s) {
    if (!s->far || s->best.cause) return;
    depth d = {.s = s};
    size_t size = 1;
    while ((s->k + size - 1) / size > START) size *= 2;
    d.elements = malloc((s->gm * s->gn + 1) * sizeof *d.elements);
    d.x = malloc((ELEMENTS_MOST + 1) * UNKNOWNS * sizeof *d.x);
    d.w = malloc((ELEMENTS_MOST + 1) * sizeof *d.w);
    for (size_t e = 0; d.elements && d.x && d.w && e < s->gm * s->gn && d.used < ELEMENTS_MOST; e++) {
        if (!s->is_inside[e] || !isfinite(s->actual[e]) || !isfinite(s->dot[e]) || !isfinite(s->c[e])) continue;
        d.w[d.used] = 1 / (s->floors[s->rows[e / s->gn]] + 1e-300); /* a row's own scale; what is missing does not shrink with the value */
        d.elements[d.used++] = e;
    }
    if (d.used) search(&d, size);
    free(d.blocks);
    free(d.elements);
    free(d.x);
    free(d.w);
}
