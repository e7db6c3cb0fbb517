/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The last step: rounded in another direction, by way of another format, subnormals flushed, partial sums rounded. */
#include "run/scene.h"
#include "run/accumulate.h"

#include <math.h>
#include <stdlib.h>

/* What is rounded: the exact sums, or the unit's results before they are brought to the output format. */
typedef struct base {
    const double *value; /* [gm][gn] */
    bool bits;           /* the very codes must come out */
} base;

/* One way to the output's code from the value of a base. */
typedef struct way {
    const double *value;
    lb_encoding how; /* into `via`, or into the output format where there is none */
    const lb_format *via;
    lb_flush flush;
} way;

static uint64_t guess_way(const lb_scene *s, const void *user, size_t e) {
    const way *w = user;
    if (w->via) return lb_from_double(s->out, lb_to_double(w->via, lb_encode(w->via, lb_value_of(w->value[e]), &w->how, NULL)));
    return lb_flush_code(s->out, lb_encode(s->out, lb_value_of(w->value[e]), &w->how, NULL), w->flush);
}

static void try_directions(lb_scene *s, const base *b) {
    static const char *const names[] = {
#define X(id, name, text) [LB_##id] = text,
        LB_ROUNDING_LIST(X)
#undef X
    };
    for (int r = 0; r < LB_SR && !lb_scene_settled(s); r++) {
        const lb_encoding how = {.rounding = (lb_rounding)r, .overflow = r == LB_RZ ? LB_OVERFLOW_INF : LB_OVERFLOW_IEEE};
        const way w = {.value = b->value, .how = how};
        lb_trial t = {.cause = LB_CAUSE_OUTPUT_ROUNDING, .choices = 4, .bits = b->bits, .slight = true};
        if (r == LB_RNE) continue;
        lb_words(t.what, sizeof t.what, "output rounded %s%s", names[r], r == LB_RZ ? " (truncated)" : "");
        lb_scene_try_each(s, &t, guess_way, &w);
    }
}

static void try_via(lb_scene *s, const base *b) {
    static const lb_format_id formats[] = {LB_F32, LB_F16, LB_TF32, LB_BF16, LB_E5M2, LB_E4M3};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0] && !lb_scene_settled(s); f++) {
        const lb_format *via = lb_format_row(formats[f]);
        if (via == s->out) continue;
        for (int z = 0; z < 2; z++) {
            const way w = {.value = b->value, .how = {.rounding = z ? LB_RZ : LB_RNE}, .via = via};
            lb_trial t = {.cause = LB_CAUSE_DOUBLE_ROUNDING, .choices = 4, .bits = b->bits, .slight = true};
            lb_words(t.what, sizeof t.what, "results rounded to %s%s before %s", via->name, z ? " (truncated)" : "", s->out->name);
            lb_scene_try_each(s, &t, guess_way, &w);
        }
    }
}

static void try_flush(lb_scene *s, const base *b) {
    for (int how = LB_FLUSH_KEEP_SIGN; s->out->exp_bits && how <= LB_FLUSH_TO_POSITIVE; how++) {
        const way w = {.value = b->value, .flush = (lb_flush)how};
        const lb_trial t = {.cause = LB_CAUSE_OUTPUT_FLUSHED,
                            .choices = 2,
                            .bits = b->bits,
                            .slight = true,
                            .what = "subnormal results are zero (flushed)"};
        lb_scene_try_each(s, &t, guess_way, &w);
    }
}

/* ---- partial sums ------------------------------------------------------------------------------------------------------------ */

typedef struct slices {
    size_t size;
    const lb_format *format;
} slices;

/* Slices of K, each rounded to a format, added in f32 in order; C is added last. */
static uint64_t guess_slices(const lb_scene *s, const void *user, size_t e) {
    const slices *l = user;
    float sum = 0;
    for (size_t p = 0; p < s->k; p += l->size) {
        const size_t n = s->k - p < l->size ? s->k - p : l->size;
        const double part = lb_dot(s->a + e / s->gn * s->k + p, s->b_lines + e % s->gn * s->k + p, n);
        sum += (float)lb_round_value(l->format, LB_RNE, part);
    }
    return lb_from_double(s->out, (double)sum + s->c[e]);
}

static void try_partials(lb_scene *s) {
    static const lb_format_id formats[] = {LB_BF16, LB_F16, LB_TF32};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        size_t last = 0;
        for (size_t i = 0; i < 16 && !lb_scene_settled(s); i++) {
            const slices l = {i < 8 ? (s->k + i + 1) / (i + 2) : (size_t)8 << (i - 8), lb_format_row(formats[f])}; /* 2 … 9; of 8 … 1024 */
            lb_trial t = {.cause = LB_CAUSE_PARTIALS, .choices = 6, .bits = !s->far, .slight = true};
            if (l.size >= s->k || l.size == last || l.size < 2) continue;
            last = l.size;
            lb_words(t.what, sizeof t.what, "partial sums over slices of %zu of K are rounded to %s", l.size, l.format->name);
            lb_scene_try_each(s, &t, guess_slices, &l);
        }
    }
}

void lb_try_rounding(lb_scene *s) {
    if (s->best.cause) return;
    const size_t count = s->gm * s->gn;
    double *exact = malloc((count + 1) * sizeof *exact), *wide = malloc((count + 1) * sizeof *wide);
    if (exact && wide) {
        for (size_t e = 0; e < count; e++) exact[e] = s->dot[e] + s->c[e];
        const base bases[] = {{wide, true}, {exact, !s->far}};
        const bool has_unit = s->o->unit && lb_unit_values(s, s->o->unit, 1, s->gm, s->gn, wide);
        for (size_t b = has_unit ? 0 : 1; b < 2 && !s->best.cause; b++) {
            try_flush(s, &bases[b]);
            try_directions(s, &bases[b]);
            if (!lb_scene_settled(s)) try_via(s, &bases[b]);
        }
        if (!lb_scene_settled(s)) try_partials(s);
    }
    free(exact);
    free(wide);
}
