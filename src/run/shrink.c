/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Delta debugging of a failing check: what can be left out is left out, in halves, then in ever smaller pieces. source: zeller-2002 */
#include "run/shrink.h"
#include "base/try.h"
#include "run/describe.h"
#include "run/gather.h"
#include "run/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of failure ------------------------------------------------------------------------------------------------ */

const char *lb_failure_name(lb_failure f) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_FAILURE_LIST(X)
#undef X
    };
    return f < LB_FAILURE_COUNT ? names[f] : "";
}

/* What ends a run before anything is compared is told by its cause alone. */
lb_failure lb_failure_of(const lb_record *r) {
    static const struct {
        const char *cause;
        lb_failure failure;
    } ends[] = {{"the device failed", LB_FAILURE_FAILED},
                {"the device crashed", LB_FAILURE_CRASHED},
                {"the device hung", LB_FAILURE_HUNG},
                {"writes to its inputs", LB_FAILURE_INPUTS}};
    if (r->verdict != LB_FAIL) return LB_FAILURE_NONE;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && !r->counts.compared; i++)
        if (strcmp(r->cause, ends[i].cause) == 0) return ends[i].failure;
    if (r->counts.guard_damage) return LB_FAILURE_GUARDS;
    if (r->counts.not_written) return LB_FAILURE_UNWRITTEN;
    return r->counts.class_mismatch ? LB_FAILURE_CLASS : LB_FAILURE_VALUE;
}

/* ---- cases ----------------------------------------------------------------------------------------------------------- */

static void cut_free(lb_cut *c) {
    for (size_t i = 0; i < sizeof c->owned / sizeof c->owned[0]; i++) free(c->owned[i]);
    *c = (lb_cut){0};
}

static size_t place_of(const size_t *list, size_t count, size_t value) {
    if (!list) return value;
    for (size_t i = 0; i < count; i++)
        if (list[i] == value) return i;
    return SIZE_MAX;
}

/* Lists that are NULL: all. */
static lb_status cut_select(const lb_cut *from, const size_t *rows, size_t m, const size_t *cols, size_t n, const size_t *depth, size_t k,
                            lb_cut *out, lb_error *err) {
    const bool tb = from->x.b_transposed;
    *out = (lb_cut){.x = from->x, .row = place_of(rows, m, from->row), .col = place_of(cols, n, from->col)};
    const lb_mat *b = &from->x.b;
    lb_status s = lb_gather(&out->x.a, &out->owned[0], &from->x.a, rows, m, depth, k, err);
    if (s == LB_OK && tb) s = lb_gather(&out->x.b, &out->owned[1], b, cols, n, depth, k, err);
    if (s == LB_OK && !tb) s = lb_gather(&out->x.b, &out->owned[1], b, depth, k, cols, n, err);
    if (s == LB_OK && from->x.c.codes) s = lb_gather(&out->x.c, &out->owned[2], &from->x.c, rows, m, cols, n, err);
    if (s == LB_OK && from->actual.codes) s = lb_gather(&out->actual, &out->owned[3], &from->actual, rows, m, cols, n, err);
    if (s != LB_OK) cut_free(out);
    return s;
}

/* ---- does it still fail? --------------------------------------------------------------------------------------------- */

static lb_check_options check_of(const lb_shrinking *s, const lb_cut *c) {
    lb_check_options o = *s->o->check;
    o.x = c->x;
    o.actual = c->actual.codes ? &c->actual : NULL;
    o.progress = NULL;
    o.output = NULL;
    o.quick = true;
    return o;
}

static bool has_outlier(const lb_record *r, size_t row, size_t col) {
    for (size_t i = 0; i < r->outlier_count; i++)
        if (r->outliers[i].row == row && r->outliers[i].col == col) return true;
    return false;
}

/* A plain f32 product under the same contract; true where there is nothing to ask. */
static bool plain_passes(lb_shrinking *s, const lb_cut *c) {
    lb_check_options o = check_of(s, c);
    const size_t m = lb_case_m(&c->x), n = lb_case_n(&c->x);
    lb_record *r = NULL;
    if (!o.contract) return true;
    void *codes = calloc(m * n + 1, (size_t)c->x.out->bytes);
    if (!codes) return false;
    lb_mat d = lb_mat_of(c->x.out, codes, m, n);
    o.unit = NULL;
    o.actual = &d;
    const bool passes = lb_plain_matmul(&c->x, &d, NULL) == LB_OK && lb_check(&o, &r, NULL) == LB_OK && r->verdict == LB_PASS;
    lb_record_close(r);
    free(codes);
    return passes;
}

static bool spent(lb_shrinking *s) {
    const double time = lb_seconds() - s->start;
    if (s->runs >= s->most_runs || time >= s->seconds) s->out_of_budget = true;
    const double share = (double)s->runs / (double)s->most_runs, of_time = time / s->seconds, most = share > of_time ? share : of_time;
    if (s->o->progress) s->o->progress(s->o->progress_user, s->stage, most < 0.99 ? most : 0.99);
    return s->out_of_budget || s->status != LB_OK;
}

/* A case that a device cannot run at all does not fail alike. */
bool lb_shrink_fails(lb_shrinking *s, const lb_cut *c) {
    lb_record *r = NULL;
    lb_error why;
    if (spent(s)) return false;
    if (!s->device && (c->row == SIZE_MAX || c->col == SIZE_MAX)) return false;
    lb_check_options o = check_of(s, c);
    if (!s->device) o.max_outliers = lb_case_m(&c->x) * lb_case_n(&c->x);
    s->runs++;
    const lb_status status = lb_check(&o, &r, &why);
    if (status == LB_E_MEMORY) s->status = lb_fail(s->err, status, why.place, "%s", why.message);
    bool fails = status == LB_OK && lb_failure_of(r) == s->failure && (s->device || has_outlier(r, c->row, c->col));
    lb_record_close(r);
    if (fails && s->plain_passes && (s->failure == LB_FAILURE_VALUE || s->failure == LB_FAILURE_CLASS)) fails = plain_passes(s, c);
    return fails;
}

/* ---- rows, columns, depth -------------------------------------------------------------------------------------------- */

typedef enum side { ROWS, COLUMNS, DEPTH } side;

static size_t size_of(const lb_cut *c, side d) {
    return d == ROWS ? lb_case_m(&c->x) : d == COLUMNS ? lb_case_n(&c->x) : lb_case_k(&c->x);
}

/* Take these of a side, if what is left fails alike. */
static bool keep(lb_shrinking *s, side d, const size_t *list, size_t count) {
    lb_cut smaller;
    const lb_status status = cut_select(&s->now, d == ROWS ? list : NULL, count, d == COLUMNS ? list : NULL, count,
                                        d == DEPTH ? list : NULL, count, &smaller, s->err);
    if (status != LB_OK) {
        s->status = status;
        return false;
    }
    if (!lb_shrink_fails(s, &smaller)) {
        cut_free(&smaller);
        return false;
    }
    cut_free(&s->now);
    s->now = smaller;
    return true;
}

/* Everything but [from, to). */
static bool leave_out(lb_shrinking *s, side d, size_t from, size_t to, size_t *list) {
    const size_t n = size_of(&s->now, d);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (i < from || i >= to) list[count++] = i;
    return keep(s, d, list, count);
}

/* Pieces of a half, then of a quarter …, as long as one of them can go. */
static bool shrink_side(lb_shrinking *s, side d) {
    static const char *const stages[] = {"rows", "columns", "depth"};
    const size_t before = size_of(&s->now, d);
    size_t pieces = 2, *list = malloc((before + 1) * sizeof *list);
    s->stage = stages[d];
    if (!list) s->status = lb_fail(s->err, LB_E_MEMORY, "shrink", "no memory");
    while (s->status == LB_OK && !s->out_of_budget && size_of(&s->now, d) > 1) {
        const size_t n = size_of(&s->now, d), used = pieces < n ? pieces : n;
        bool smaller = false;
        for (size_t i = used; i-- > 0 && !smaller && !s->out_of_budget && s->status == LB_OK;) {
            smaller = leave_out(s, d, n * i / used, n * (i + 1) / used, list); /* from the end: tails go last to first */
            if (smaller) pieces = used > 2 ? used - 1 : 2;
        }
        if (smaller) continue;
        if (used == n) break;
        pieces = 2 * used;
    }
    free(list);
    return size_of(&s->now, d) < before;
}

/* All of K that takes no part, at once: pieces of it alone may shift what shares a block of the hardware. */
static bool leave_out_zeros(lb_shrinking *s) {
    const size_t k = lb_case_k(&s->now.x);
    const lb_mat *a = &s->now.x.a, b = lb_case_b(&s->now.x);
    size_t count = 0, *list = malloc((k + 1) * sizeof *list);
    if (!list) s->status = lb_fail(s->err, LB_E_MEMORY, "shrink", "no memory");
    for (size_t p = 0; list && p < k; p++) {
        bool left = false, right = false;
        for (size_t i = 0; i < a->rows; i++) left = left || lb_to_double(a->format, lb_mat_code(a, i, p)) != 0;
        for (size_t j = 0; j < b.cols; j++) right = right || lb_to_double(b.format, lb_mat_code(&b, p, j)) != 0;
        if (left && right) list[count++] = p;
    }
    const bool smaller = list && count && count < k && keep(s, DEPTH, list, count);
    free(list);
    return smaller;
}

/* One element of the output alone is what most faults leave; else it is found piece by piece. */
static void try_one_element(lb_shrinking *s, size_t row, size_t col) {
    s->stage = "one element";
    if (keep(s, ROWS, &row, 1)) row = 0;
    if (s->status == LB_OK) keep(s, COLUMNS, &col, 1);
}

/* B as [k][n] where it was [n][k]; no C. */
static void shrink_strides(lb_shrinking *s) {
    s->stage = "strides";
    if (s->now.x.b_transposed) {
        lb_cut plain = s->now;
        const lb_mat b = lb_case_b(&s->now.x);
        void *owned = NULL;
        if (lb_gather(&plain.x.b, &owned, &b, NULL, 0, NULL, 0, s->err) != LB_OK) s->status = LB_E_MEMORY;
        plain.x.b_transposed = false;
        if (s->status == LB_OK && lb_shrink_fails(s, &plain)) {
            void *old = plain.owned[1];
            plain.owned[1] = owned;
            s->now = plain;
            owned = old;
        }
        free(owned);
    }
    if (s->now.x.c.codes) {
        lb_cut without = s->now;
        without.x.c = (lb_mat){0};
        if (lb_shrink_fails(s, &without)) s->now = without; /* its memory goes with the rest */
    }
}

static void search(lb_shrinking *s, const lb_record *whole) {
    if (whole->first.present) try_one_element(s, whole->first.row, whole->first.col);
    for (int round = 0; round < 4 && s->status == LB_OK && !s->out_of_budget; round++) {
        bool smaller = shrink_side(s, ROWS);
        smaller |= shrink_side(s, COLUMNS);
        if (s->device) {
            smaller |= leave_out_zeros(s);
            smaller |= shrink_side(s, DEPTH);
            if (round == 0) shrink_strides(s);
            smaller |= lb_shrink_values(s);
        }
        if (!smaller) break;
    }
}

/* ---- the result ------------------------------------------------------------------------------------------------------ */

void lb_shrunk_close(lb_shrunk *s) {
    if (!s) return;
    lb_record_close(s->record);
    for (size_t i = 0; i < sizeof s->memory / sizeof s->memory[0]; i++) free(s->memory[i]);
    free(s);
}

/* The small case once more, this time with its output and a diagnosis. */
static lb_status conclude(lb_shrinking *s, lb_shrunk *out, lb_error *err) {
    const size_t m = lb_case_m(&s->now.x), n = lb_case_n(&s->now.x), bytes = (size_t)s->now.x.out->bytes;
    void *y = calloc(m * n + 1, bytes);
    out->check = check_of(s, &s->now);
    memcpy(out->memory, s->now.owned, sizeof s->now.owned);
    memset(s->now.owned, 0, sizeof s->now.owned);
    out->memory[7] = y;
    if (!y) return lb_fail(err, LB_E_MEMORY, "shrink", "no memory for %zux%zu", m, n);
    out->check.quick = false;
    if (s->device) out->check.output = y;
    out->check.actual = NULL;
    if (!s->device) {
        out->observed = s->now.actual;
        out->check.actual = &out->observed;
    }
    LB_TRY(lb_check(&out->check, &out->record, err));
    out->check.output = NULL;
    out->failure = lb_failure_of(out->record);
    if (out->failure != s->failure)
        return lb_fail(err, LB_E_DEVICE, "shrink", "the small case failed (%s) and then did not: this device is not deterministic",
                       lb_failure_name(s->failure));
    const bool ended = s->failure < LB_FAILURE_FAILED;
    if (s->device && ended) out->observed = lb_mat_of(s->now.x.out, y, m, n);
    return LB_OK;
}

static lb_status begin(lb_shrinking *s, lb_record **whole, lb_error *err) {
    const lb_check_options *given = s->o->check;
    lb_cut all = {.x = given->x};
    if (given->sample) return lb_fail(err, LB_E_ARG, "shrink", "a sample cannot be shrunk: check every element");
    if (given->actual) all.actual = *given->actual;
    s->device = !given->actual;
    LB_TRY(lb_case_check(&given->x, err));
    lb_check_options o = check_of(s, &all);
    o.progress = given->progress;
    LB_TRY(lb_check(&o, whole, err));
    s->failure = lb_failure_of(*whole);
    if (s->failure == LB_FAILURE_NONE)
        return lb_fail(err, (*whole)->verdict == LB_PASS ? LB_E_ARG : LB_E_UNAVAILABLE, "shrink", "the check does not fail: %s, %s",
                       lb_verdict_name((*whole)->verdict), (*whole)->reason);
    if ((*whole)->first.present) {
        all.row = (*whole)->first.row;
        all.col = (*whole)->first.col;
    }
    if (!s->device && !(*whole)->first.present)
        return lb_fail(err, LB_E_ARG, "shrink", "no element of this output is wrong by itself: %s", (*whole)->reason);
    s->plain_passes = plain_passes(s, &all);
    return cut_select(&all, NULL, 0, NULL, 0, NULL, 0, &s->now, err);
}

lb_status lb_shrink(const lb_shrink_options *o, lb_shrunk **out, lb_error *err) {
    lb_shrinking s = {.o = o,
                      .most_runs = o->runs ? o->runs : 2000,
                      .seconds = o->seconds > 0 ? o->seconds : 60,
                      .start = lb_seconds(),
                      .err = err,
                      .stage = "whole"};
    lb_record *whole = NULL;
    lb_shrunk *result = calloc(1, sizeof *result);
    *out = NULL;
    lb_status status = result ? begin(&s, &whole, err) : lb_fail(err, LB_E_MEMORY, "shrink", "no memory");
    if (status == LB_OK) {
        result->from_m = lb_case_m(&o->check->x);
        result->from_n = lb_case_n(&o->check->x);
        result->from_k = lb_case_k(&o->check->x);
        search(&s, whole);
        status = s.status;
    }
    if (status == LB_OK) status = conclude(&s, result, err);
    if (o->progress) o->progress(o->progress_user, s.stage, 1);
    if (status == LB_OK) {
        result->runs = s.runs;
        result->seconds = lb_seconds() - s.start;
        result->out_of_budget = s.out_of_budget;
        if (!s.device) snprintf(result->kept, sizeof result->kept, "K and the values: the output was given, and no device to run again");
    }
    lb_record_close(whole);
    cut_free(&s.now);
    if (status == LB_OK)
        *out = result;
    else
        lb_shrunk_close(result);
    return status;
}
