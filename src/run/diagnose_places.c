/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Right values in wrong places, as maps of both coordinates: transposed, another leading dimension, a shifted tile. */
#include "run/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the value that stands at (i, j) belongs; false if nothing is known of it. */
typedef bool place_map(const lb_scene *s, ptrdiff_t parameter, size_t i, size_t j, size_t *row, size_t *col);

static bool column_major(const lb_scene *s, ptrdiff_t unused, size_t i, size_t j, size_t *row, size_t *col) {
    const size_t at = i * s->n + j;
    (void)unused;
    *row = at % s->m;
    *col = at / s->m;
    return true;
}

static bool tile_transposed(const lb_scene *s, ptrdiff_t tile, size_t i, size_t j, size_t *row, size_t *col) {
    const size_t t = (size_t)tile;
    *row = i / t * t + j % t;
    *col = j / t * t + i % t;
    return *row < s->m && *col < s->n;
}

static bool flat_shift(const lb_scene *s, ptrdiff_t shift, size_t i, size_t j, size_t *row, size_t *col) {
    const ptrdiff_t at = (ptrdiff_t)(i * s->n + j) + shift;
    if (at < 0 || (size_t)at >= s->m * s->n) return false;
    *row = (size_t)at / s->n;
    *col = (size_t)at % s->n;
    return true;
}

/* Written with a leading dimension of n + extra. */
static bool leading(const lb_scene *s, ptrdiff_t extra, size_t i, size_t j, size_t *row, size_t *col) {
    const size_t at = i * s->n + j, ld = (size_t)((ptrdiff_t)s->n + extra);
    *row = at / ld;
    *col = at % ld;
    if (*col >= s->n) return false;
    if (extra < 0 && *row + 1 < s->m && *col + ld < s->n) return false; /* written twice */
    return *row < s->m;
}

/* The codes of the reference through the map, where it knows them. A few elements first. */
static bool try_map(lb_scene *s, place_map *map, ptrdiff_t parameter, const lb_trial *t) {
    const size_t count = s->gm * s->gn;
    size_t missed = 0, seen = 0;
    for (size_t step = 0; step < 2; step++) {
        for (size_t e = step ? 0 : s->gn / 2; e < count; e += step ? 1 : count / 61 + 1) {
            const size_t i = s->rows[e / s->gn], j = s->cols[e % s->gn];
            size_t row, col;
            const bool known = map(s, parameter, i, j, &row, &col);
            s->code[e] = known ? lb_mat_code(&s->o->reference, row, col) : 0;
            s->unknown[e] = !known && step;
            if (step || !s->is_wrong[e] || !known) continue;
            seen++;
            missed += !lb_scene_legal(s, i, lb_mat_code(&s->o->actual, i, j), s->code[e]);
        }
        if (!step && missed * 20 > seen) return false;
    }
    const bool accepted = lb_scene_try_codes(s, t);
    memset(s->unknown, 0, count);
    return accepted;
}

static void try_transposed(lb_scene *s) {
    lb_trial t = {.cause = LB_CAUSE_TRANSPOSED_D, .choices = 2};
    if (s->m == s->n)
        lb_words(t.what, sizeof t.what, "D is transposed");
    else
        lb_words(t.what, sizeof t.what, "D is written column by column (%zux%zu)", s->n, s->m);
    if (try_map(s, column_major, 0, &t)) return;
    for (ptrdiff_t tile = 2; tile <= 128; tile *= 2) {
        t = (lb_trial){.cause = LB_CAUSE_TRANSPOSED_TILE, .choices = 4};
        lb_words(t.what, sizeof t.what, "tiles of %tdx%td are transposed", tile, tile);
        if (try_map(s, tile_transposed, tile, &t)) return;
    }
}

static void try_leading(lb_scene *s) {
    for (ptrdiff_t extra = -64; extra <= 64 && !s->best.cause; extra++) {
        lb_trial t = {.cause = LB_CAUSE_LEADING, .choices = 7, .places = true};
        if (extra == 0 || (ptrdiff_t)s->n + extra < 1) continue;
        lb_words(t.what, sizeof t.what, "rows are written with leading dimension %td instead of %zu", (ptrdiff_t)s->n + extra, s->n);
        try_map(s, leading, extra, &t);
    }
}

/* ---- shifts of a tile, by vote ---------------------------------------------------------------------------------------------- */

typedef struct spot {
    double value;
    size_t at;
} spot;

static int by_spot(const void *a, const void *b) {
    const double x = ((const spot *)a)->value, y = ((const spot *)b)->value;
    return (x > y) - (x < y);
}

static int by_shift(const void *a, const void *b) {
    const ptrdiff_t x = *(const ptrdiff_t *)a, y = *(const ptrdiff_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_reference(const lb_scene *s, spot *spots) {
    size_t count = 0;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double v = lb_scene_value(s, lb_mat_code(&s->o->reference, i, j));
            if (isfinite(v)) spots[count++] = (spot){v, i * s->n + j};
        }
    qsort(spots, count, sizeof *spots, by_spot);
    return count;
}

/* The flat distances at which the values of some wrong elements stand in the reference, to within a hair. */
static size_t collect(const lb_scene *s, const spot *spots, size_t count, ptrdiff_t *votes, size_t most) {
    size_t n = 0, voters = 0;
    for (size_t e = 0; e < s->gm * s->gn && voters < 64; e++) {
        const size_t i = s->rows[e / s->gn], at = i * s->n + s->cols[e % s->gn];
        const double a = s->actual[e], reach = fmax(s->floors[i] / 8, fabs(a) * 1e-6);
        if (!s->is_wrong[e] || !isfinite(a)) continue;
        voters++;
        size_t low = 0, high = count;
        while (low < high) {
            const size_t mid = (low + high) / 2;
            if (spots[mid].value < a - reach)
                low = mid + 1;
            else
                high = mid;
        }
        for (size_t taken = 0; low < count && spots[low].value <= a + reach && n < most && taken < most / 64; low++, taken++)
            votes[n++] = (ptrdiff_t)spots[low].at - (ptrdiff_t)at;
    }
    qsort(votes, n, sizeof *votes, by_shift);
    return n;
}

static void shift_text(const lb_scene *s, ptrdiff_t shift, char *out, size_t size) {
    ptrdiff_t rows = shift / (ptrdiff_t)s->n, cols = shift % (ptrdiff_t)s->n;
    if (cols > (ptrdiff_t)s->n / 2) rows++, cols -= (ptrdiff_t)s->n;
    if (cols < -(ptrdiff_t)s->n / 2) rows--, cols += (ptrdiff_t)s->n;
    lb_words(out, size, "values belong %+td rows, %+td columns from where they stand", rows, cols);
}

static void try_tile_shift(lb_scene *s) {
    enum { MOST = 1 << 18 };
    const size_t elements = s->m * s->n;
    if (elements > (1u << 22) || s->wrong_count < 8) return;
    spot *spots = malloc(elements * sizeof *spots);
    ptrdiff_t *votes = malloc(MOST * sizeof *votes), best = 0;
    if (spots && votes) {
        const size_t n = collect(s, spots, sort_reference(s, spots), votes, MOST);
        size_t most = 0, run = 0;
        for (size_t i = 0; i < n; i++) {
            run = i && votes[i] == votes[i - 1] ? run + 1 : 1;
            if (run > most && votes[i] != 0) most = run, best = votes[i];
        }
        lb_trial t = {.cause = LB_CAUSE_TILE_SHIFTED, .choices = log2((double)elements)};
        shift_text(s, best, t.what, sizeof t.what);
        if (most >= 6) try_map(s, flat_shift, best, &t);
    }
    free(spots);
    free(votes);
}

void lb_try_places(lb_scene *s) {
    if (!s->far) return;
    try_transposed(s);
    if (!s->best.cause) lb_try_lines(s);
    if (!s->best.cause) try_leading(s);
    if (!s->best.cause) try_tile_shift(s);
}
