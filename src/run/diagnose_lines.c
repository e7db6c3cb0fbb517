/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows or columns that hold what belongs to other rows or columns: which, and by what rule. */
#include "run/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACROSS = 48, CANDIDATES = 1 << 16 };

typedef struct moves {
    lb_scene *s;
    bool columns;
    const char *noun;
    size_t count;  /* lines */
    size_t *wrong; /* [wrong_count] lines that hold anything wrong */
    size_t *from;  /* [wrong_count] whose values they hold */
    size_t wrong_count;
    size_t across[ACROSS], across_count; /* places on a line that are compared */
    char at[64];                         /* "rows 16..31" */
} moves;

static uint64_t code_at(const moves *v, const lb_mat *m, size_t line, size_t other) {
    return v->columns ? lb_mat_code(m, other, line) : lb_mat_code(m, line, other);
}

/* Whether line `to` of the output holds line `from` of the reference, where they are compared. */
static bool holds(const moves *v, size_t to, size_t from) {
    size_t missed = 0;
    for (size_t c = 0; c < v->across_count; c++) {
        const size_t o = v->across[c];
        missed += !lb_scene_legal(v->s, v->columns ? o : to, code_at(v, &v->s->o->actual, to, o), code_at(v, &v->s->o->reference, from, o));
        if (missed > v->across_count / 40) return false;
    }
    return true;
}

/* The source of a line: the shift that served the line before, else the nearest that fits. */
static bool find_source(const moves *v, size_t to, ptrdiff_t guess, size_t *from) {
    const ptrdiff_t n = (ptrdiff_t)v->count, at = (ptrdiff_t)to;
    if (guess && at + guess >= 0 && at + guess < n && holds(v, to, (size_t)(at + guess))) {
        *from = (size_t)(at + guess);
        return true;
    }
    for (ptrdiff_t d = 1; d < n && d < CANDIDATES; d++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const ptrdiff_t f = at + sign * d;
            if (f < 0 || f >= n || !holds(v, to, (size_t)f)) continue;
            *from = (size_t)f;
            return true;
        }
    }
    return false;
}

static size_t place(const moves *v, size_t line) {
    const size_t *index = v->columns ? v->s->o->col_index : v->s->o->row_index;
    return index ? index[line] : line;
}

/* ---- the rule ---------------------------------------------------------------------------------------------------------------- */

/* The value that `of` has for all moved lines; false if they differ. */
static bool common(const moves *v, ptrdiff_t (*of)(const moves *v, size_t to, size_t from), ptrdiff_t *value) {
    for (size_t i = 0; i < v->wrong_count; i++) {
        const ptrdiff_t x = of(v, v->wrong[i], v->from[i]);
        if (i && x != *value) return false;
        *value = x;
    }
    return true;
}

static ptrdiff_t source_of(const moves *v, size_t to, size_t from) {
    (void)v, (void)to;
    return (ptrdiff_t)from;
}

static ptrdiff_t shift_of(const moves *v, size_t to, size_t from) {
    (void)v;
    return (ptrdiff_t)from - (ptrdiff_t)to;
}

static ptrdiff_t rotation_of(const moves *v, size_t to, size_t from) {
    return (ptrdiff_t)((from + v->count - to) % v->count);
}

static ptrdiff_t mask_of(const moves *v, size_t to, size_t from) {
    (void)v;
    return (ptrdiff_t)(to ^ from);
}

static ptrdiff_t mirror_of(const moves *v, size_t to, size_t from) {
    (void)v;
    return (ptrdiff_t)(to + from);
}

static lb_trial name_moves(const moves *v) {
    lb_trial t = {.cause = LB_CAUSE_LINES_PERMUTED, .places = true, .choices = log2((double)v->count)};
    const char *noun = v->noun;
    ptrdiff_t x = 0;
    const size_t w0 = v->wrong[0], f0 = v->from[0];
    if (v->wrong_count == 2 && v->from[0] == v->wrong[1] && v->from[1] == v->wrong[0]) {
        t.cause = LB_CAUSE_LINES_SWAPPED;
        lb_words(t.what, sizeof t.what, "%ss %zu and %zu are swapped", noun, place(v, w0), place(v, f0));
    } else if (common(v, source_of, &x)) {
        t.cause = LB_CAUSE_LINES_COPIED;
        lb_words(t.what, sizeof t.what, "%s %s %s %zu", v->at, v->wrong_count > 1 ? "hold copies of" : "holds a copy of", noun,
                 place(v, (size_t)x));
    } else if (common(v, shift_of, &x)) {
        t.cause = LB_CAUSE_LINES_SHIFTED;
        lb_words(t.what, sizeof t.what, "%s hold %ss %zu..: shifted by %+td",
                 v->at[0]     ? v->at
                 : v->columns ? "columns"
                              : "rows",
                 noun, place(v, f0), x);
    } else if (v->wrong_count > 2 && common(v, mirror_of, &x)) {
        lb_words(t.what, sizeof t.what, "%s are reversed: %s r holds %td - r", v->at[0] ? v->at : v->columns ? "columns" : "rows", noun, x);
    } else if (common(v, mask_of, &x)) {
        t.cause = LB_CAUSE_LINES_SWAPPED;
        lb_words(t.what, sizeof t.what, "%s are swapped in pairs: %s r holds r xor %td",
                 v->at[0]     ? v->at
                 : v->columns ? "columns"
                              : "rows",
                 noun, x);
    } else if (common(v, rotation_of, &x)) {
        t.cause = LB_CAUSE_LINES_SHIFTED;
        lb_words(t.what, sizeof t.what, "%ss are rotated: %s r holds (r + %td) mod %zu", noun, noun, x, v->count);
    } else {
        lb_words(t.what, sizeof t.what, "%zu %ss are out of order: %s %zu holds %zu, %zu holds %zu", v->wrong_count, noun, noun,
                 place(v, w0), place(v, f0), place(v, v->wrong[1]), place(v, v->from[1]));
    }
    return t;
}

/* ---- trial -------------------------------------------------------------------------------------------------------------------- */

static void try_moves(moves *v) {
    lb_scene *s = v->s;
    const uint32_t *wrong = v->columns ? s->col_wrong : s->row_wrong;
    ptrdiff_t guess = 0;
    for (size_t i = 0; i < v->count; i++) {
        if (!wrong[i]) continue;
        if (!find_source(v, i, guess, &v->from[v->wrong_count])) return;
        guess = (ptrdiff_t)v->from[v->wrong_count] - (ptrdiff_t)i;
        v->wrong[v->wrong_count++] = i;
    }
    lb_lines_text(v->at, sizeof v->at, v->noun, v->wrong, v->wrong_count, v->count, v->columns ? s->o->col_index : s->o->row_index);
    size_t *from = malloc((v->count + 1) * sizeof *from); /* of every line */
    if (!from) return;
    for (size_t i = 0; i < v->count; i++) from[i] = i;
    for (size_t i = 0; i < v->wrong_count; i++) from[v->wrong[i]] = v->from[i];
    for (size_t e = 0; e < s->gm * s->gn; e++) {
        const size_t i = s->rows[e / s->gn], j = s->cols[e % s->gn];
        const bool moved = v->columns ? s->row_wrong[i] > 0 : s->col_wrong[j] > 0; /* the lines across may be a part only */
        const size_t line = v->columns ? j : i;
        s->code[e] = code_at(v, &s->o->reference, moved ? from[line] : line, v->columns ? i : j);
    }
    free(from);
    const lb_trial t = name_moves(v);
    lb_scene_try_codes(s, &t);
}

static void try_side(lb_scene *s, bool columns) {
    moves v = {.s = s, .columns = columns, .noun = columns ? "column" : "row", .count = columns ? s->n : s->m};
    const uint32_t *across = columns ? s->row_wrong : s->col_wrong;
    const size_t others = columns ? s->m : s->n;
    size_t usable = 0, seen = 0;
    for (size_t o = 0; o < others; o++) usable += across[o] > 0;
    for (size_t o = 0; o < others && v.across_count < ACROSS; o++) /* evenly spread */
        if (across[o] && seen++ * ACROSS >= v.across_count * (usable > ACROSS ? usable : ACROSS)) v.across[v.across_count++] = o;
    if (v.across_count < 3 || v.count < 2) return;
    v.wrong = malloc((v.count + 1) * sizeof *v.wrong);
    v.from = malloc((v.count + 1) * sizeof *v.from);
    if (v.wrong && v.from) try_moves(&v);
    free(v.wrong);
    free(v.from);
}

void lb_try_lines(lb_scene *s) {
    if (!s->far) return;
    try_side(s, false);
    if (!s->best.cause) try_side(s, true);
}
