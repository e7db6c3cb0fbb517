/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands that were read wrongly or in another precision: each variant of A, of B or of both makes a product, which is compared. */
#include "run/scene.h"
#include "run/describe.h"

#include <math.h>
#include <string.h>

/* What happens to one operand. */
typedef struct variant {
    enum { AS_IS, TRANSPOSED, XOR, SHIFT, REPEAT, ROUND, FLUSH, MISREAD } how;
    size_t parameter; /* the mask, the period */
    ptrdiff_t shift;
    const lb_format *format; /* ROUND, MISREAD */
    lb_rounding rounding;
} variant;

/* One side: lines of k codes, and the memory that they lie in. */
typedef struct side {
    const char *name;
    lb_mat m;            /* [lines][k] */
    const size_t *lines; /* of the grid */
    size_t count;
    const double *plain; /* [count][k] */
    double *guess;
} side;

/* The memory as a flat array in its own storage order, read as if its two sizes were exchanged. */
static double transposed_at(const lb_mat *m, size_t line, size_t p) {
    const bool by_rows = m->col_stride == 1 || m->row_stride != 1;
    const size_t flat = by_rows ? p * m->rows + line : line * m->cols + p; /* of the other order */
    return lb_to_double(m->format,
                        by_rows ? lb_mat_code(m, flat / m->cols, flat % m->cols) : lb_mat_code(m, flat % m->rows, flat / m->rows));
}

static double changed(const side *o, const variant *v, size_t i, size_t p, size_t k) {
    const double *line = o->plain + i * k;
    ptrdiff_t at;
    switch (v->how) {
    case TRANSPOSED: return transposed_at(&o->m, o->lines[i], p);
    case XOR: return line[(p ^ v->parameter) < k ? p ^ v->parameter : p];
    case SHIFT: at = (ptrdiff_t)p + v->shift; return at >= 0 && at < (ptrdiff_t)k ? line[at] : 0;
    case REPEAT: return line[p % v->parameter];
    case ROUND: return lb_round_value(v->format, v->rounding, line[p]);
    case FLUSH: return fabs(line[p]) < ldexp(1, 1 - o->m.format->bias) ? 0 : line[p];
    case MISREAD: return lb_to_double(v->format, lb_mat_code(&o->m, o->lines[i], p));
    case AS_IS: break;
    }
    return line[p];
}

static bool fill(side *o, const variant *v, size_t k) {
    bool differs = false;
    for (size_t i = 0; i < o->count; i++)
        for (size_t p = 0; p < k; p++) {
            const double x = changed(o, v, i, p, k);
            o->guess[i * k + p] = x;
            differs = differs || x != o->plain[i * k + p];
        }
    return differs;
}

/* Try the product of two sets of lines; a few elements first. */
static bool try_product(lb_scene *s, const double *a, const double *b, const lb_trial *t) {
    const size_t count = s->gm * s->gn, k = s->k;
    size_t seen = 0, missed = 0;
    for (size_t e = 0; e < count && seen < 40; e += count / 211 + 1) {
        const size_t i = s->rows[e / s->gn];
        if (!s->is_wrong[e]) continue;
        const double v = lb_dot(a + e / s->gn * k, b + e % s->gn * k, k) + s->c[e];
        seen++;
        missed += lb_scene_ratio(s, i, lb_mat_code(&s->o->actual, i, s->cols[e % s->gn]), v, lb_from_double(s->out, v)) > 1;
    }
    if (missed * 8 > seen) return false;
    for (size_t e = 0; e < count; e++) s->value[e] = lb_dot(a + e / s->gn * k, b + e % s->gn * k, k) + s->c[e];
    return lb_scene_try(s, t);
}

static void open_sides(const lb_scene *s, side *o) {
    o[0] = (side){"A", s->o->x.a, s->rows, s->gm, s->a, s->a_guess};
    o[1] = (side){"B", lb_mat_transposed(s->b), s->cols, s->gn, s->b_lines, s->b_guess};
}

/* What makes the same product on either side. */
static void try_one(lb_scene *s, const variant *v, lb_cause cause, double choices, const char *what) {
    side o[2];
    open_sides(s, o);
    lb_trial t = {.cause = cause, .choices = choices};
    lb_words(t.what, sizeof t.what, "%s", what);
    if (!lb_scene_settled(s) && fill(&o[0], v, s->k)) try_product(s, o[0].guess, s->b_lines, &t);
}

/* The variant on A, then on B. */
static void try_each(lb_scene *s, const variant *v, lb_cause cause, double choices, bool slight, const char *words) {
    side o[2];
    open_sides(s, o);
    for (size_t i = 0; i < 2 && !lb_scene_settled(s); i++) {
        lb_trial t = {.cause = cause, .choices = choices, .slight = slight};
        lb_words(t.what, sizeof t.what, "%s %s", o[i].name, words);
        if (fill(&o[i], v, s->k)) try_product(s, i ? s->a : o[0].guess, i ? o[1].guess : s->b_lines, &t);
    }
}

static void try_both(lb_scene *s, const variant *va, const variant *vb, lb_cause cause, double choices, bool slight, const char *what) {
    side o[2];
    open_sides(s, o);
    const bool a = fill(&o[0], va, s->k), b = fill(&o[1], vb, s->k);
    if (!a || !b || lb_scene_settled(s)) return;
    lb_trial t = {.cause = cause, .choices = choices, .slight = slight};
    lb_words(t.what, sizeof t.what, "%s", what);
    try_product(s, o[0].guess, o[1].guess, &t);
}

/* ---- places of k ---------------------------------------------------------------------------------------------------------------- */

static void try_reading(lb_scene *s) {
    char words[80];
    const size_t k = s->k;
    const variant transposed = {.how = TRANSPOSED};
    try_each(s, &transposed, LB_CAUSE_OPERAND_TRANSPOSED, 2, false, "is read transposed (the other storage order)");
    for (size_t mask = 1; mask < k; mask *= 2) {
        const variant v = {.how = XOR, .parameter = mask};
        lb_words(words, sizeof words, "A against B is permuted along K: k meets k xor %zu", mask);
        try_one(s, &v, LB_CAUSE_OPERAND_PERMUTED, 5, words);
    }
    for (size_t by = 1; by <= 64 && by < k; by = by < 4 ? by + 1 : by * 2) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const variant v = {.how = SHIFT, .shift = sign * (ptrdiff_t)by};
            lb_words(words, sizeof words, "A against B is shifted along K: A's k %+td meets B's k", v.shift);
            try_one(s, &v, LB_CAUSE_OPERAND_SHIFTED, 5, words);
        }
    }
    for (size_t period = (k + 1) / 2; period >= 4; period = period > 512            ? period / 2
                                                            : period & (period - 1) ? (size_t)1 << (size_t)log2((double)period)
                                                                                    : period / 2) {
        const variant v = {.how = REPEAT, .parameter = period};
        lb_words(words, sizeof words, "repeats along K: k reads k mod %zu", period);
        try_each(s, &v, LB_CAUSE_OPERAND_REPEATED, 5, false, words);
    }
}

static void try_misread(lb_scene *s) {
    char words[80];
    const lb_format *fa = s->o->x.a.format, *fb = s->b.format;
    for (int i = 0; i < LB_FORMAT_COUNT && !lb_scene_settled(s); i++) {
        const lb_format *f = lb_format_row((lb_format_id)i);
        const variant v = {.how = MISREAD, .format = f};
        lb_words(words, sizeof words, "is read as %s", f->name);
        if (f != fa && f->bits == fa->bits && f != fb && f->bits == fb->bits) {
            char both[80];
            lb_words(both, sizeof both, "A and B are read as %s", f->name);
            try_both(s, &v, &v, LB_CAUSE_OPERAND_MISREAD, 4, false, both);
        }
        if (f->bits == fa->bits && f->bits == fb->bits) try_each(s, &v, LB_CAUSE_OPERAND_MISREAD, 5, false, words);
    }
}

/* ---- precision --------------------------------------------------------------------------------------------------------------------- */

static bool shorter(const lb_format *f, const lb_format *than) {
    return f->sign_bits && f->exp_bits && f->special != LB_SPECIAL_INT && f->man_bits < than->man_bits && f->bits >= 8 && than->exp_bits;
}

static void try_rounded(lb_scene *s) {
    static const lb_format_id formats[] = {LB_TF32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2};
    static const lb_rounding ways[] = {LB_RNE, LB_RZ, LB_RNA};
    static const char *const said[] = {"", " (truncated)", " (ties away)"};
    char words[80], both[80];
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (size_t w = 0; w < 3; w++) {
            const variant v = {.how = ROUND, .format = lb_format_row(formats[f]), .rounding = ways[w]};
            const bool a = shorter(v.format, s->o->x.a.format), b = shorter(v.format, s->b.format);
            lb_words(words, sizeof words, "is rounded to %s first%s", v.format->name, said[w]);
            lb_words(both, sizeof both, "A and B are rounded to %s first%s", v.format->name, said[w]);
            if (a && b) try_both(s, &v, &v, LB_CAUSE_OPERAND_ROUNDED, 5, true, both);
            if (a || b) try_each(s, &v, LB_CAUSE_OPERAND_ROUNDED, 6, true, words);
        }
    }
}

static void try_flushed(lb_scene *s) {
    const variant v = {.how = FLUSH};
    if (!s->o->x.a.format->exp_bits || !s->b.format->exp_bits) return;
    try_each(s, &v, LB_CAUSE_OPERAND_FLUSHED, 3, true, "has its subnormals taken as zero");
    try_both(s, &v, &v, LB_CAUSE_OPERAND_FLUSHED, 3, true, "subnormals of A and B are taken as zero");
}

void lb_try_operands(lb_scene *s) {
    if (!s->far || s->best.cause) return;
    try_flushed(s);
    if (!lb_scene_settled(s)) try_rounded(s);
    if (!lb_scene_settled(s)) try_misread(s);
    if (!lb_scene_settled(s)) try_reading(s);
}
