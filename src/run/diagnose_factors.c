/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* D = alpha A B + beta C + gamma with the wrong constants, for the whole output or for each row or column. */
#include "run/scene.h"

#include <math.h>
#include <stdlib.h>

static bool useful(const lb_scene *s, size_t e) {
    return s->is_inside[e] && isfinite(s->actual[e]) && isfinite(s->dot[e]) && isfinite(s->c[e]);
}

/* The nearest power of two within 2 %, else the shortest decimal within a part in a thousand. */
static double nice(double x) {
    if (x == 0) return 0;
    const double p = copysign(exp2(round(log2(fabs(x)))), x);
    return fabs(x - p) <= 0.02 * fabs(p) ? p : lb_tidy(x, 1e-3);
}

/* The same for a factor that may be missing. */
static double nice_or_zero(double x) {
    return fabs(x) < 0.02 ? 0 : nice(x);
}

static void factor_text(char *out, size_t size, double x) {
    const double e = log2(fabs(x));
    if (e == rint(e) && fabs(e) > 1)
        lb_words(out, size, "%s2^%.0f (%.6g)", x < 0 ? "-" : "", e, x);
    else
        lb_words(out, size, "%.6g", x);
}

static bool try_affine(lb_scene *s, lb_trial *t, double alpha, double beta, double gamma) {
    for (size_t e = 0; e < s->gm * s->gn; e++) s->value[e] = alpha * s->dot[e] + beta * s->c[e] + gamma;
    return lb_scene_try(s, t);
}

/* Weights that make each element count by how well it is known: 1 / value^2, bounded for those near zero. */
static double weight(const lb_scene *s, size_t e) {
    const double a = fabs(s->actual[e]) + s->floors[s->rows[e / s->gn]] + 1e-300;
    return 1 / (a * a);
}

/* ---- without C, and with ------------------------------------------------------------------------------------------------- */

static void try_scale(lb_scene *s) {
    double up = 0, down = 0;
    char f[40];
    for (size_t e = 0; e < s->gm * s->gn; e++) {
        const double v = s->dot[e] + s->c[e], w = weight(s, e);
        if (!useful(s, e)) continue;
        up += w * v * s->actual[e];
        down += w * v * v;
    }
    const double x = down > 0 ? nice(up / down) : 0;
    if (x == 0 || x == 1) return;
    lb_trial t = {.cause = x == -1 ? LB_CAUSE_NEGATED : LB_CAUSE_SCALE, .choices = x == nice(x * 1.0001) ? 5 : 12};
    factor_text(f, sizeof f, x);
    lb_words(t.what, sizeof t.what, "%s%s", x == -1 ? "the sign is wrong" : "scaled by ", x == -1 ? "" : f);
    try_affine(s, &t, x, x, 0);
}

/* Weighted least squares for alpha and beta. */
static bool fit_two(const lb_scene *s, double *alpha, double *beta) {
    double pp = 0, pc = 0, cc = 0, pa = 0, ca = 0;
    for (size_t e = 0; e < s->gm * s->gn; e++) {
        const double w = weight(s, e), p = s->dot[e], c = s->c[e], a = s->actual[e];
        if (!useful(s, e)) continue;
        pp += w * p * p;
        pc += w * p * c;
        cc += w * c * c;
        pa += w * p * a;
        ca += w * c * a;
    }
    const double d = pp * cc - pc * pc;
    if (!(d > 1e-9 * pp * cc)) return false;
    *alpha = nice_or_zero((pa * cc - ca * pc) / d);
    *beta = nice_or_zero((ca * pp - pa * pc) / d);
    return true;
}

static void try_c(lb_scene *s) {
    double alpha, beta;
    char f[40], g[40];
    if (!fit_two(s, &alpha, &beta) || alpha == beta) return;
    lb_trial t = {.choices = 10};
    factor_text(f, sizeof f, beta);
    factor_text(g, sizeof g, alpha);
    if (alpha == 1 && beta == 0) {
        t.cause = LB_CAUSE_C_MISSING;
        lb_words(t.what, sizeof t.what, "C is missing");
    } else if (alpha == 1 && beta == 2) {
        t.cause = LB_CAUSE_C_TWICE;
        lb_words(t.what, sizeof t.what, "C is added twice");
    } else if (alpha == 1 && beta == -1) {
        t.cause = LB_CAUSE_C_SIGN;
        lb_words(t.what, sizeof t.what, "C is subtracted");
    } else if (alpha == 1) {
        t.cause = LB_CAUSE_C_FACTOR;
        lb_words(t.what, sizeof t.what, "C enters with factor %s (beta)", f);
    } else if (alpha == 0 && beta == 1) {
        t.cause = LB_CAUSE_AB_MISSING;
        lb_words(t.what, sizeof t.what, "A B is missing: the output is C");
    } else {
        t.cause = LB_CAUSE_AB_FACTOR;
        lb_words(t.what, sizeof t.what, "A B enters with factor %s (alpha), C with %s", g, f);
    }
    try_affine(s, &t, alpha, beta, 0);
}

static void try_c_transposed(lb_scene *s) {
    const lb_mat *c = &s->o->x.c;
    if (s->m != s->n) return;
    const lb_trial t = {.cause = LB_CAUSE_C_TRANSPOSED, .choices = 3, .what = "C is read transposed"};
    for (size_t e = 0; e < s->gm * s->gn; e++)
        s->value[e] = s->dot[e] + lb_to_double(c->format, lb_mat_code(c, s->cols[e % s->gn], s->rows[e / s->gn]));
    lb_scene_try(s, &t);
}

/* ---- an offset, and signs ---------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void try_offset(lb_scene *s) {
    size_t count = 0;
    for (size_t e = 0; e < s->gm * s->gn; e++)
        if (useful(s, e)) s->value[count++] = s->actual[e] - s->dot[e] - s->c[e];
    if (!count) return;
    qsort(s->value, count, sizeof *s->value, by_value);
    const double x = s->value[count / 2], tidy = lb_tidy(x, 1e-3); /* the median */
    for (int i = 0; i < 2 && x != 0 && !s->best.cause; i++) {
        lb_trial t = {.cause = LB_CAUSE_OFFSET, .choices = 14};
        lb_words(t.what, sizeof t.what, "%.5g is added", i ? x : tidy);
        try_affine(s, &t, 1, 1, i ? x : tidy);
    }
}

static void try_signs(lb_scene *s) {
    lb_trial t = {.cause = LB_CAUSE_RELU, .choices = 4, .what = "negative results are zero (ReLU)"};
    for (size_t e = 0; e < s->gm * s->gn; e++) s->value[e] = fmax(s->dot[e] + s->c[e], 0);
    lb_scene_try(s, &t);
    t = (lb_trial){.cause = LB_CAUSE_ABSOLUTE, .choices = 4, .what = "signs are lost (absolute values)"};
    for (size_t e = 0; e < s->gm * s->gn; e++) s->value[e] = fabs(s->dot[e] + s->c[e]);
    lb_scene_try(s, &t);
}

void lb_try_factors(lb_scene *s) {
    if (!s->far) return;
    if (s->o->x.c.codes) {
        try_c(s);
        try_c_transposed(s);
    }
    if (!s->best.cause) try_scale(s);
    if (!s->best.cause) try_signs(s);
    if (!s->best.cause) try_offset(s);
}

/* ---- a factor for each row or column --------------------------------------------------------------------------------------- */

/* Rows of the output, or its columns as rows of the transposed one. */
typedef struct lines {
    const lb_scene *s;
    bool columns;
    size_t count;
    const size_t *grid_other; /* positions across, to fit on */
    size_t grid_others;
} lines;

static uint64_t code_at(const lines *l, const lb_mat *m, size_t line, size_t other) {
    return l->columns ? lb_mat_code(m, other, line) : lb_mat_code(m, line, other);
}

static double fit_line(const lines *l, size_t line) {
    const lb_scene *s = l->s;
    double up = 0, down = 0;
    for (size_t g = 0; g < l->grid_others; g++) {
        const size_t o = l->grid_other[g];
        const double a = lb_scene_value(s, code_at(l, &s->o->actual, line, o)),
                     r = lb_scene_value(s, code_at(l, &s->o->reference, line, o));
        const double w = 1 / (fabs(r) + s->floors[l->columns ? o : line] + 1e-300);
        if (!isfinite(a) || !isfinite(r)) continue;
        up += w * w * a * r;
        down += w * w * r * r;
    }
    return down > 0 ? nice(up / down) : 1;
}

/* The largest power of two of neighbouring lines that share a factor, where more than one factor occurs. */
static size_t group_size(const double *factor, size_t count) {
    size_t group = 1;
    for (size_t g = 2; g <= 256 && g < count; g *= 2) {
        for (size_t i = 0; i < count; i++)
            if (fabs(factor[i] - factor[i / g * g]) > 0.02 * fabs(factor[i])) return group;
        group = g;
    }
    return group;
}

static void lines_text(const lines *l, const double *factor, char *out, size_t size) {
    const char *noun = l->columns ? "column" : "row";
    const size_t *index = l->columns ? l->s->o->col_index : l->s->o->row_index;
    const size_t group = index ? 1 : group_size(factor, l->count);
    size_t off = 0, first = l->count;
    for (size_t i = 0; i < l->count; i++) {
        off += factor[i] != 1;
        if (factor[i] != 1 && first == l->count) first = i;
    }
    if (first == l->count) first = 0;
    const size_t place = index ? index[first] : first;
    if (group > 1)
        lb_words(out, size, "%ss in groups of %zu have a factor each: %s %zu has %.4g", noun, group, noun, place, factor[first]);
    else
        lb_words(out, size, "%zu %ss have a factor each: %s %zu has %.4g", off, noun, noun, place, factor[first]);
}

static void try_lines_of(lb_scene *s, bool columns) {
    const lines l = {.s = s,
                     .columns = columns,
                     .count = columns ? s->n : s->m,
                     .grid_other = columns ? s->rows : s->cols,
                     .grid_others = columns ? s->gm : s->gn};
    double *factor = malloc((l.count + 1) * sizeof *factor);
    if (!factor || l.grid_others < 4 || l.count < 2) {
        free(factor);
        return;
    }
    for (size_t i = 0; i < l.count; i++) factor[i] = fit_line(&l, i);
    for (size_t e = 0; e < s->gm * s->gn; e++)
        s->value[e] = (s->dot[e] + s->c[e]) * factor[columns ? s->cols[e % s->gn] : s->rows[e / s->gn]];
    lb_trial t = {.cause = LB_CAUSE_LINES_SCALED, .choices = 10 + 8 * (double)(columns ? s->gn : s->gm), .places = true};
    lines_text(&l, factor, t.what, sizeof t.what);
    lb_scene_try(s, &t);
    free(factor);
}

void lb_try_line_factors(lb_scene *s) {
    if (!s->far) return;
    try_lines_of(s, false);
    if (!lb_scene_settled(s)) try_lines_of(s, true);
}
