/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which unit and schedule gave these bits? Every group is looked at on a few elements, those that are left on more, the rest on all. */
#include "kernels/fit.h"

#include "base/try.h"
#include "kernels/fit_orders.h"
#include "kernels/schedule_f32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where everything ties in a sample, looking at everything is worth so many multiply-adds. */
#define TIE_COST 0x1p28

enum { FIRST_PATCH = 8, PATCH = 256, LAST_SAMPLE = 2048, TIE = 256, MOST_CONFIRMED = 512, BEST = 8, PANEL_FLOATS = 1 << 22 };

/* A candidate that did not give everything, kept for the report. */
typedef struct near {
    size_t group;
    unsigned variant;
    uint64_t same, compared;
} near;

typedef struct fit {
    lb_fit_case x;
    const lb_fit_options *o;
    lb_fit_groups groups;
    near best[BEST];
    size_t best_count;
    size_t m, n, k;
    lb_fit_place telling[LB_FIT_TELLING];
    size_t telling_count;
    size_t plain_divisions; /* groups whose parts are added in f32 as the base says */
    lb_schedule fixed;      /* the base without its atomics, where it leaves their order open */
    bool open_order;
} fit;

bool lb_units_alike(const lb_unit *a, const lb_unit *b) {
    const bool one_k = a->k == b->k || a->path == LB_PATH_TRUNCATED; /* a chain of blocks does not show where instructions end */
    return a->path == b->path && one_k && a->a == b->a && a->b == b->b && a->c == b->c && a->d == b->d && a->terms == b->terms &&
           a->frac_bits == b->frac_bits && a->floor_exp == b->floor_exp && a->round == b->round && a->scale_block == b->scale_block &&
           a->group == b->group && a->sparse_group == b->sparse_group;
}

static void say(const fit *f, const char *stage, double fraction) {
    if (f->o->progress) f->o->progress(f->o->progress_user, stage, fraction);
}

/* ---- one window of the output under one group ------------------------------------------------------------------------------ */

typedef lb_fit_window window;

typedef struct tally {
    uint64_t same[LB_FIT_VARIANTS], compared;
} tally;

static uint64_t count_same(const fit *f, const window *w, const lb_mat *d) {
    uint64_t same = 0;
    for (size_t r = 0; r < w->rows; r++)
        for (size_t c = 0; c < w->cols; c++) same += lb_mat_code(d, r, c) == lb_mat_code(&f->x.actual, w->row + r, w->col + c);
    return same;
}

/* Every living variant over a window that has one plan. */
static lb_status look_at_piece(const fit *f, const lb_fit_group *g, const lb_k_plan *plan, const window *w, tally *t, lb_error *err) {
    const size_t size = w->rows * w->cols, parts = plan->parts;
    const lb_mat *c = f->x.c.codes ? &f->x.c : NULL;
    lb_scheduled x;
    LB_TRY(lb_scheduled_check(&x, g->u, &g->s, &f->x.a, &f->x.b, c, &f->x.actual, f->o->gemm, err));
    float *sums = malloc((2 * parts + 1) * size * sizeof *sums), *work = sums ? sums + parts * size : NULL;
    void *codes = malloc(size * (size_t)x.out->bytes + 1);
    lb_status s = sums && codes ? LB_OK : lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu parts of %zu elements", parts, size);
    for (size_t p = 0; s == LB_OK && p < parts; p++)
        s = lb_scheduled_part(&x, plan, p, w->row, w->rows, w->col, w->cols, sums + p * size, err);
    lb_mat d = lb_mat_of(x.out, codes, w->rows, w->cols);
    for (unsigned v = 0; s == LB_OK && v < LB_FIT_VARIANTS; v++) {
        lb_schedule variant;
        if (!(g->alive >> v & 1) || !lb_fit_variant(g, x.out, v, &variant)) continue;
        memcpy(work, sums, parts * size * sizeof *sums);
        x.s = &variant;
        lb_scheduled_reduce(&x, work, parts, size);
        lb_scheduled_finish(&x, w->row, w->rows, w->col, w->cols, work, work + parts * size, &d);
        t->same[v] += count_same(f, w, &d);
    }
    t->compared += size;
    free(sums);
    free(codes);
    return s;
}

static size_t lesser(size_t a, size_t b) {
    return a < b ? a : b;
}

/* A window under stream-K: its pieces of each output tile. */
static lb_status look_at_tiles(const fit *f, const lb_fit_group *g, const window *w, tally *t, lb_error *err) {
    lb_stream grid;
    LB_TRY(lb_stream_open(&grid, &g->s, g->u->k, f->m, f->n, f->k, err));
    lb_status s = LB_OK;
    for (size_t i = 0; s == LB_OK && i < grid.down * grid.across; i++) {
        size_t row, col;
        lb_stream_place(&grid, i, &row, &col);
        const size_t top = row > w->row ? row : w->row, bottom = lesser(row + grid.tile_m, w->row + w->rows);
        const size_t left = col > w->col ? col : w->col, right = lesser(col + grid.tile_n, w->col + w->cols);
        if (top >= bottom || left >= right) continue;
        const window piece = {top, bottom - top, left, right - left};
        lb_k_plan plan;
        s = lb_k_plan_open(&plan, &g->s, g->u->k, f->k, grid.cuts, lb_stream_cuts(&grid, i), err);
        if (s != LB_OK) break;
        s = look_at_piece(f, g, &plan, &piece, t, err);
        lb_k_plan_close(&plan);
    }
    lb_stream_close(&grid);
    return s;
}

static lb_status look(const fit *f, const lb_fit_group *g, const window *w, tally *t, lb_error *err) {
    if (g->s.stream_k) return look_at_tiles(f, g, w, t, err);
    lb_k_plan plan;
    LB_TRY(lb_k_plan_open(&plan, &g->s, g->u->k, f->k, NULL, 0, err));
    const lb_status s = look_at_piece(f, g, &plan, w, t, err);
    lb_k_plan_close(&plan);
    return s;
}

/* ---- samples ---------------------------------------------------------------------------------------------------------------- */

/* So many elements, the telling ones first, then in patches, or with 0 everything, by panels of rows; a group that is dead already is not looked at further. */
static lb_status look_at_sample(const fit *f, const lb_fit_group *g, size_t elements, bool whole_count, tally *t, lb_error *err) {
    *t = (tally){0};
    if (elements && elements <= f->telling_count) {
        for (size_t i = 0; i < elements; i++) {
            const window w = {f->telling[i].row, 1, f->telling[i].col, 1};
            LB_TRY(look(f, g, &w, t, err));
        }
        return LB_OK;
    }
    if (elements) {
        const size_t size = lesser(elements, PATCH);
        for (size_t i = 0; i < elements / size; i++) {
            const window w = lb_fit_patch(f->m, f->n, i, size);
            LB_TRY(look(f, g, &w, t, err));
        }
        return LB_OK;
    }
    const size_t fit_rows = PANEL_FLOATS / f->n / (g->parts + 1), rows = fit_rows ? fit_rows : 1;
    for (size_t row = 0; row < f->m; row += rows) {
        const window w = {row, lesser(rows, f->m - row), 0, f->n};
        bool hope = false;
        LB_TRY(look(f, g, &w, t, err));
        for (unsigned v = 0; v < LB_FIT_VARIANTS; v++) hope = hope || ((g->alive >> v & 1) && t->same[v] == t->compared);
        if (!hope && !whole_count) return LB_OK;
    }
    return LB_OK;
}

/* ---- the stages ------------------------------------------------------------------------------------------------------------- */

static bool nearer(const near *a, const near *b) {
    const double x = (double)a->same / (double)a->compared, y = (double)b->same / (double)b->compared;
    return a->compared > 4 * b->compared || (a->compared * 4 >= b->compared && x > y); /* who lasted longer is nearer */
}

static void keep_near(fit *f, near n) {
    size_t at = f->best_count;
    while (at && nearer(&n, &f->best[at - 1])) at--;
    if (at == BEST) return;
    const size_t moved = f->best_count - at - (f->best_count == BEST);
    memmove(f->best + at + 1, f->best + at, moved * sizeof n);
    f->best[at] = n;
    f->best_count += f->best_count < BEST;
}

static lb_status run_stage(fit *f, size_t elements, const char *name, lb_error *err) {
    for (size_t i = 0; i < f->groups.count; i++) {
        lb_fit_group *g = &f->groups.group[i];
        tally t;
        if (!g->alive) continue;
        if (i % 16 == 0 || !elements) say(f, name, (double)i / (double)f->groups.count);
        LB_TRY(look_at_sample(f, g, elements, false, &t, err));
        for (unsigned v = 0; v < LB_FIT_VARIANTS; v++) {
            if (!(g->alive >> v & 1) || t.same[v] == t.compared) continue;
            g->alive &= ~(UINT32_C(1) << v);
            keep_near(f, (near){i, v, t.same[v], t.compared});
        }
    }
    say(f, name, 1);
    return LB_OK;
}

/* ---- the answer ------------------------------------------------------------------------------------------------------------- */

static lb_fit_row row_of(const fit *f, size_t group, unsigned variant, uint64_t same, uint64_t compared) {
    const lb_fit_group *g = &f->groups.group[group];
    lb_fit_row row = {.unit = *g->u, .same = same, .compared = compared};
    for (size_t i = 0; lb_unit_row(i); i++) row.alike += lb_units_alike(g->u, lb_unit_row(i));
    lb_fit_variant(g, f->x.actual.format, variant, &row.schedule);
    return row;
}

/* A found candidate: shorter texts are simpler schedules, the order of the table decides the rest. */
typedef struct found {
    size_t length, group;
    unsigned variant;
} found;

static int compare_found(const void *a, const void *b) {
    const found *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->variant < y->variant ? -1 : x->variant > y->variant;
}

static size_t text_length(const lb_schedule *s) {
    static const lb_schedule plain = {0};
    char text[LB_SCHEDULE_TEXT_SIZE];
    lb_schedule_text(s, text, sizeof text);
    return lb_schedule_equal(s, &plain) ? 0 : strlen(text);
}

/* Of more than MOST_CONFIRMED groups only those with the simplest schedules stay. Returns how many were there. */
static lb_status thin_out(fit *f, size_t *left, lb_error *err) {
    found *all = malloc((f->groups.count + 1) * sizeof *all);
    *left = 0;
    if (!all) return lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu candidates", f->groups.count);
    for (size_t i = 0; i < f->groups.count; i++)
        if (f->groups.group[i].alive) all[(*left)++] = (found){text_length(&f->groups.group[i].s), i, 0};
    qsort(all, *left, sizeof *all, compare_found);
    for (size_t i = MOST_CONFIRMED; i < *left; i++) f->groups.group[all[i].group].alive = 0;
    free(all);
    return LB_OK;
}

static lb_status collect(fit *f, lb_fit *out, lb_error *err) {
    const size_t max = f->o->max_found ? f->o->max_found : 64;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < f->groups.count; i++) total += (size_t)__builtin_popcount(f->groups.group[i].alive);
    found *all = malloc((total + 1) * sizeof *all);
    out->found = calloc(lesser(total, max) + 1, sizeof *out->found);
    if (!all || !out->found) {
        free(all);
        return lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu rows", total);
    }
    for (size_t i = 0; i < f->groups.count; i++)
        for (unsigned v = 0; v < LB_FIT_VARIANTS; v++) {
            if (!(f->groups.group[i].alive >> v & 1)) continue;
            const lb_fit_row row = row_of(f, i, v, 0, 0);
            all[at++] = (found){text_length(&row.schedule), i, v};
        }
    qsort(all, total, sizeof *all, compare_found);
    out->found_total = total;
    out->found_count = lesser(total, max);
    for (size_t i = 0; i < out->found_count; i++) out->found[i] = row_of(f, all[i].group, all[i].variant, out->elements, out->elements);
    free(all);
    return LB_OK;
}

/* The candidates that came nearest, on one larger sample. */
static lb_status choose_best(fit *f, lb_fit *out, lb_error *err) {
    const bool all = f->m * f->n <= LAST_SAMPLE || f->m * f->n * f->k <= 1 << 24;
    for (size_t i = 0; i < f->best_count; i++) {
        lb_fit_group g = f->groups.group[f->best[i].group];
        tally t;
        g.alive = UINT32_C(1) << f->best[i].variant;
        LB_TRY(look_at_sample(f, &g, all ? 0 : LAST_SAMPLE, true, &t, err));
        const uint64_t same = t.same[f->best[i].variant];
        if (out->has_best && (double)same / (double)t.compared <= (double)out->best.same / (double)out->best.compared) continue;
        out->has_best = true;
        out->best = row_of(f, f->best[i].group, f->best[i].variant, same, t.compared);
    }
    return LB_OK;
}

static bool all_zero(const lb_mat *m) {
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++)
            if (lb_code_class(m->format, lb_mat_code(m, r, c)) != LB_ZERO) return false;
    return true;
}

/* Sums that come out the same whatever unit and division are no evidence. */
static bool all_tie(const fit *f) {
    size_t alive = 0;
    for (size_t i = 0; i < f->groups.count; i++) alive += f->groups.group[i].alive & 1;
    return f->plain_divisions > 1 && alive == f->plain_divisions;
}

static void judge(lb_fit *out, size_t left) {
    char confirmed[96] = "";
    if (left > MOST_CONFIRMED)
        snprintf(confirmed, sizeof confirmed, " (of %zu that were left, the %d simplest were looked at)", left, MOST_CONFIRMED);
    out->verdict = out->found_total ? LB_PASS : LB_FAIL;
    if (out->found_total)
        snprintf(out->reason, sizeof out->reason, "%zu of %llu candidates give all %llu elements%s", out->found_total,
                 (unsigned long long)out->tried, (unsigned long long)out->elements, confirmed);
    else
        snprintf(out->reason, sizeof out->reason, "none of %llu candidates gives these bits%s", (unsigned long long)out->tried, confirmed);
}

static lb_status enumerate(fit *f, lb_error *err) {
    const lb_unit *only = f->o->unit;
    if (only && only->path == LB_PATH_NONE) return lb_fail(err, LB_E_UNAVAILABLE, only->name, "open: %s; %s", only->note, only->open);
    if (only && (only->a != f->x.a.format->id || only->b != f->x.b.format->id))
        return lb_fail(err, LB_E_FORMAT, only->name, "it takes %s and %s; A and B are %s and %s", lb_format_row(only->a)->name,
                       lb_format_row(only->b)->name, f->x.a.format->name, f->x.b.format->name);
    if (only && !lb_schedule_can(only))
        return lb_fail(err, LB_E_ARG, only->name, "schedules take units of A, B and C alone that accumulate in f32 or f16");
    if (only) LB_TRY(lb_fit_enumerate(&f->groups, &f->x, only, err));
    for (size_t i = 0; !only && lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        bool fits = lb_schedule_can(u) && u->a == f->x.a.format->id && u->b == f->x.b.format->id;
        for (size_t j = 0; fits && j < i; j++) fits = !(lb_units_alike(u, lb_unit_row(j)) && u->k == lb_unit_row(j)->k);
        if (fits) LB_TRY(lb_fit_enumerate(&f->groups, &f->x, u, err));
    }
    if (f->groups.count) return LB_OK;
    return lb_fail(err, LB_E_FORMAT, "fit", "no unit takes %s and %s and gives %s (with this C and base)", f->x.a.format->name,
                   f->x.b.format->name, f->x.actual.format->name);
}

/* false: nothing can be told from these inputs; the reason is there. */
static bool unproven(lb_fit *out, const char *reason) {
    out->verdict = LB_UNPROVEN;
    snprintf(out->reason, sizeof out->reason, "%s", reason);
    return false;
}

static const char sample_tie[] = "in a sample, every unit and every division of K gives these bits: inputs whose sums round would tell";

static bool can_tell(const fit *f, lb_fit *out) {
    if (!out->elements) return unproven(out, "nothing was compared");
    return !all_zero(&f->x.actual) || unproven(out, "vacuous: the output is all zeros");
}

/* The samples; *go says whether it is worth looking at everything. */
static lb_status run_samples(fit *f, lb_fit *out, bool *go, lb_error *err) {
    *go = can_tell(f, out);
    if (*go) LB_TRY(lb_fit_tell(&f->x, f->groups.group[0].u, f->o->gemm, f->telling, &f->telling_count, err));
    for (size_t elements = FIRST_PATCH; *go && elements <= LAST_SAMPLE && elements < out->elements;
         elements *= elements == FIRST_PATCH ? 4 : 8) {
        LB_TRY(run_stage(f, elements, "sample", err));
        const double cost = (double)f->groups.count * (double)out->elements * (double)f->k;
        if (elements >= TIE && cost > TIE_COST && all_tie(f)) *go = unproven(out, sample_tie);
    }
    return LB_OK;
}

/* ---- any order ------------------------------------------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b) {
    const size_t x = text_length(&((const lb_fit_row *)a)->schedule), y = text_length(&((const lb_fit_row *)b)->schedule);
    return x < y ? -1 : x > y;
}

/* Ask about each group and type; alive says of which, one bit a type, and keeps those that fit. */
static lb_status ask_orders(fit *f, lb_fit *out, uint8_t *alive, bool few, uint64_t *asked, uint64_t *fits, lb_error *err) {
    *asked = *fits = 0;
    for (size_t i = 0; i < 2 * f->groups.count; i++) {
        const lb_fit_group *g = &f->groups.group[i / 2];
        const uint8_t bit = (uint8_t)(1 << i % 2);
        lb_fit_row row;
        bool was_asked, found_it;
        if (!(alive[i / 2] & bit)) continue;
        if (i % 32 == 0 || !few) say(f, few ? "orders, sample" : "orders", (double)i / (double)(2 * f->groups.count));
        LB_TRY(lb_fit_orders(&f->x, g, i % 2, few, f->o->gemm, &row, &was_asked, &found_it, err));
        *asked += was_asked;
        *fits += found_it;
        if (!found_it) alive[i / 2] &= (uint8_t)~bit;
        if (!found_it || few) continue;
        for (size_t j = 0; lb_unit_row(j); j++) row.alike += lb_units_alike(g->u, lb_unit_row(j));
        if (out->found_count < (f->o->max_found ? f->o->max_found : 64)) out->found[out->found_count++] = row;
        out->found_total++;
    }
    return LB_OK;
}

/* Sums by atomics: candidates whose set of results holds every element, in place of what was found. */
static lb_status try_orders(fit *f, lb_fit *out, lb_error *err) {
    const size_t max = f->o->max_found ? f->o->max_found : 64;
    uint64_t asked, fits, left;
    uint8_t *alive = malloc(f->groups.count + 1);
    free(out->found);
    out->found_count = out->found_total = 0;
    out->found = calloc(max, sizeof *out->found);
    lb_status s = alive && out->found ? LB_OK : lb_fail(err, LB_E_MEMORY, "fit", "no memory for %zu rows", max);
    if (s == LB_OK) memset(alive, 3, f->groups.count);
    if (s == LB_OK) s = ask_orders(f, out, alive, true, &asked, &fits, err);
    const bool tie = s == LB_OK && asked > 2 && fits == asked;
    if (s == LB_OK && !tie) s = ask_orders(f, out, alive, false, &left, &fits, err);
    free(alive);
    if (s != LB_OK) return s;
    qsort(out->found, out->found_count, sizeof *out->found, compare_rows);
    out->tried += asked;
    out->verdict = out->found_total ? LB_PASS : LB_FAIL;
    if (tie)
        unproven(out, "in a sample, every division of K gives these bits in some order: inputs whose sums round would tell");
    else if (out->found_total)
        snprintf(out->reason, sizeof out->reason, "%s; by atomics, %zu of %llu divisions of K give all %llu elements that were compared",
                 f->open_order ? "the order is open" : "no fixed order gives these bits", out->found_total, (unsigned long long)asked,
                 (unsigned long long)out->found[0].compared);
    else
        snprintf(out->reason, sizeof out->reason, "none of %llu candidates gives these bits, in no order of up to ten parts either",
                 (unsigned long long)out->tried);
    return LB_OK;
}

static lb_status solve(fit *f, lb_fit *out, lb_error *err) {
    bool go;
    size_t left;
    LB_TRY(enumerate(f, err));
    out->elements = (uint64_t)f->m * f->n;
    for (size_t i = 0; i < f->groups.count; i++) {
        f->plain_divisions += f->groups.group[i].alive & 1;
        out->tried += (uint64_t)__builtin_popcount(f->groups.group[i].alive);
    }
    if (f->open_order) {
        out->tried = 0;
        if (!can_tell(f, out)) return LB_OK;
        return try_orders(f, out, err);
    }
    LB_TRY(run_samples(f, out, &go, err));
    if (!go) return LB_OK;
    const bool tie = all_tie(f);
    LB_TRY(thin_out(f, &left, err));
    if (tie && left > MOST_CONFIRMED) {
        unproven(out, sample_tie);
        return LB_OK;
    }
    LB_TRY(run_stage(f, 0, "all", err));
    LB_TRY(collect(f, out, err));
    LB_TRY(choose_best(f, out, err));
    judge(out, left);
    if (all_tie(f)) unproven(out, "every unit and every division of K gives these bits: inputs whose sums round would tell");
    return out->verdict == LB_FAIL && !f->x.base->reduce ? try_orders(f, out, err) : LB_OK;
}

lb_status lb_fit_schedule(const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *actual, const lb_fit_options *o, lb_fit *out,
                          lb_error *err) {
    static const lb_fit_options none = {0};
    static const lb_schedule plain = {0};
    fit f = {.o = o ? o : &none, .m = actual->rows, .n = actual->cols, .k = a->cols};
    f.x = (lb_fit_case){.a = *a, .b = *b, .actual = *actual, .base = f.o->base ? f.o->base : &plain};
    f.open_order = f.x.base->reduce == LB_REDUCE_ATOMIC && !f.x.base->arrival_count;
    if (f.open_order) {
        f.fixed = *f.x.base;
        f.fixed.reduce = LB_REDUCE_ASCENDING;
        f.x.base = &f.fixed;
    }
    if (c) f.x.c = *c;
    *out = (lb_fit){0};
    if (a->cols != b->rows || actual->rows != a->rows || actual->cols != b->cols ||
        (c && (c->rows != actual->rows || c->cols != actual->cols)))
        return lb_fail(err, LB_E_SHAPE, "fit", "A is %zux%zu, B %zux%zu, the output %zux%zu%s: they do not make one product", a->rows,
                       a->cols, b->rows, b->cols, actual->rows, actual->cols, c ? ", and C" : "");
    if (f.x.base->batch > 1) return lb_fail(err, LB_E_ARG, "fit", "one product at a time");
    const lb_status s = solve(&f, out, err);
    lb_fit_groups_close(&f.groups);
    if (s != LB_OK) lb_fit_close(out);
    return s;
}

void lb_fit_close(lb_fit *f) {
    free(f->found);
    *f = (lb_fit){0};
}
