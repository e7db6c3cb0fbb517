/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What must not change the bits of a result: how many rows are computed beside it, padding, how a sum is split, what a cache held. */
#include "base/try.h"
#include "run/parity.h"
#include "run/reshape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which they are tried: what breaks first is the plainest thing that breaks. */
#define LB_AXIS_LIST(X)                                                                                                                    \
    X(RUN, "run", "the same case again")                                                                                                   \
    X(ROW, "row", "one row (or element) alone against the same in the batch")                                                              \
    X(PADDING, "padding", "the same with padding behind it")                                                                               \
    X(CACHE, "cache", "a cache that holds older rows behind those that count, against one that has just them")                             \
    X(CHUNK, "chunk", "queries in two chunks against all at once")                                                                         \
    X(SPLIT, "split", "k in two parts whose sums are added in f32, against the whole")

typedef enum axis {
#define X(id, name, what) AXIS_##id,
    LB_AXIS_LIST(X)
#undef X
        AXIS_COUNT
} axis;

static const struct {
    const char *name, *what;
} axes[AXIS_COUNT] = {
#define X(id, name, what) {name, what},
    LB_AXIS_LIST(X)
#undef X
};

static const struct {
    const char *op;
    axis along;
    const char *size;
    lb_pad_fill fill;
    const char *text;
} rows[] = {
#define LB_INVARIANT(op, axis, size, fill, text) {#op, AXIS_##axis, size, LB_PAD_##fill, text},
#include "run/invariance.def"
#undef LB_INVARIANT
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const char *lb_axis_name(size_t i) {
    return i < AXIS_COUNT ? axes[i].name : NULL;
}

const char *lb_axis_summary(size_t i) {
    return i < AXIS_COUNT ? axes[i].what : NULL;
}

struct lb_invariance_run {
    lb_fleet *fleet;
    lb_parity_options o;
    size_t op, device, axis; /* the next one */
};

lb_status lb_invariance_open(lb_invariance_run **out, const lb_parity_options *o, lb_error *err) {
    lb_invariance_run *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return lb_fail(err, LB_E_MEMORY, "invariance", "no memory");
    r->o = *o;
    lb_status s = lb_plan_check_ops(o, err);
    if (s == LB_OK) s = lb_fleet_open(&r->fleet, o, err);
    if (s == LB_OK)
        *out = r;
    else
        lb_invariance_close(r);
    return s;
}

void lb_invariance_close(lb_invariance_run *r) {
    if (!r) return;
    lb_fleet_close(r->fleet);
    free(r);
}

/* ---- one axis ------------------------------------------------------------------------------------------------------------------ */

/* What is being compared, and the worst of it. */
typedef struct trial {
    lb_fleet *fleet;
    size_t device, row; /* row: of rows[] */
    lb_op_case *x;      /* inputs */
    lb_op_case whole;   /* with the device's answer */
    lb_invariance *out;
} trial;

static lb_status run_on(trial *t, lb_op_case *x, bool *ran, lb_error *err) {
    lb_worker_answer a;
    LB_TRY(lb_fleet_run(t->fleet, t->device, x, &a, err));
    *ran = !a.cannot && a.report.end == LB_RUN_DONE;
    if (*ran) return LB_OK;
    t->out->verdict = a.cannot ? LB_SKIP : LB_FAIL;
    snprintf(t->out->reason, sizeof t->out->reason, "%.255s", a.report.why);
    return LB_OK;
}

/* The part of the case from `from`, `count` of it, on the device, against the same part of the whole. */
static lb_status try_part(trial *t, size_t from, size_t count, lb_error *err) {
    lb_op_case *part;
    bool ran;
    LB_TRY(lb_case_reshape(&part, t->x, rows[t->row].size, from, count, rows[t->row].fill, err));
    lb_status s = run_on(t, part, &ran, err);
    if (s == LB_OK && ran) {
        const double ulp = lb_case_distance(&t->whole, part, rows[t->row].size, from, &t->out->differ, &t->out->compared);
        if (ulp > t->out->ulp) t->out->ulp = ulp;
    }
    lb_op_case_close(part);
    return s;
}

static size_t size_of(const trial *t) {
    return (size_t)lb_op_case_param(t->x, rows[t->row].size);
}

static lb_status try_rows(trial *t, lb_error *err) {
    const size_t n = size_of(t), at[] = {0, n / 3, n - 1};
    for (size_t i = 0; i < 3 && t->out->verdict == LB_PASS; i++) LB_TRY(try_part(t, at[i], 1, err));
    return LB_OK;
}

static lb_status try_padding(trial *t, lb_error *err) {
    static const size_t more[] = {1, 6, 64};
    for (size_t i = 0; i < 3 && t->out->verdict == LB_PASS; i++) LB_TRY(try_part(t, 0, size_of(t) + more[i], err));
    return LB_OK;
}

static lb_status try_chunks(trial *t, lb_error *err) {
    const size_t n = size_of(t), cut = n / 3 + 1;
    LB_TRY(try_part(t, 0, cut, err));
    return t->out->verdict == LB_PASS ? try_part(t, cut, n - cut, err) : LB_OK;
}

static lb_status try_again(trial *t, lb_error *err) {
    lb_op_case again;
    bool ran = true;
    for (size_t i = 0; i < 4 && ran; i++) {
        LB_TRY(lb_answer_open(&again, t->x, err));
        const lb_status s = run_on(t, &again, &ran, err);
        if (s == LB_OK && ran) t->out->ulp = fmax(t->out->ulp, lb_answer_distance(&t->whole, &again, &t->out->differ, &t->out->compared));
        lb_answer_close(&again);
        LB_TRY(s);
    }
    return LB_OK;
}

/* Two parts of k on the device, their sums added in f32 here. */
static lb_status try_split(trial *t, lb_error *err) {
    const size_t k = size_of(t);
    lb_op_case *parts[2] = {NULL, NULL};
    bool ran = true;
    lb_status s = lb_case_reshape(&parts[0], t->x, rows[t->row].size, 0, k / 2, LB_PAD_ZERO, err);
    if (s == LB_OK) s = lb_case_reshape(&parts[1], t->x, rows[t->row].size, k / 2, k - k / 2, LB_PAD_ZERO, err);
    for (size_t i = 0; i < 2 && s == LB_OK && ran; i++) s = run_on(t, parts[i], &ran, err);
    if (s == LB_OK && ran) {
        const lb_array *a = &parts[0]->out[0], *b = &parts[1]->out[0];
        for (size_t i = 0; i < lb_array_count(a); i++) {
            unsigned char *sum = (unsigned char *)a->codes + i * (size_t)a->format->bytes;
            const uint64_t other = lb_load_code((const unsigned char *)b->codes + i * (size_t)b->format->bytes, b->format->bytes);
            const double v = lb_to_double(a->format, lb_load_code(sum, a->format->bytes)) + lb_to_double(a->format, other);
            lb_store_code(sum, a->format->bytes, lb_from_double(a->format, v));
        }
        t->out->ulp = lb_answer_distance(&t->whole, parts[0], &t->out->differ, &t->out->compared);
    }
    lb_op_case_close(parts[0]);
    lb_op_case_close(parts[1]);
    return s;
}

static lb_status try_axis(trial *t, axis along, lb_error *err) {
    switch (along) {
    case AXIS_RUN: return try_again(t, err);
    case AXIS_ROW: return try_rows(t, err);
    case AXIS_PADDING:
    case AXIS_CACHE: return try_padding(t, err);
    case AXIS_CHUNK: return try_chunks(t, err);
    case AXIS_SPLIT: return try_split(t, err);
    case AXIS_COUNT: break;
    }
    return LB_OK;
}

static void conclude(lb_invariance *out) {
    if (out->verdict != LB_PASS) return;
    if (!out->compared) {
        out->verdict = LB_UNPROVEN;
        snprintf(out->reason, sizeof out->reason, "nothing was compared");
    } else if (out->differ) {
        out->verdict = LB_FAIL;
        snprintf(out->reason, sizeof out->reason, "%zu of %zu elements differ, up to %g ULP", out->differ, out->compared, out->ulp);
    } else {
        snprintf(out->reason, sizeof out->reason, "the same bits, %zu elements", out->compared);
    }
}

static lb_status try_row(lb_invariance_run *r, const char *op, axis along, size_t row, lb_invariance *out, lb_error *err) {
    char text[LB_OP_TEXT];
    bool ran;
    trial t = {.fleet = r->fleet, .device = r->device, .row = row, .out = out};
    *out = (lb_invariance){
        .op = op, .axis = axes[along].name, .what = axes[along].what, .on = r->fleet->devices[r->device].name, .verdict = LB_PASS};
    snprintf(text, sizeof text, "op=%s %s%s%.0llu", op, row < ROWS ? rows[row].text : lb_plan_first_shape(op),
             r->o.seed > 1 ? " seed=" : "", (unsigned long long)(r->o.seed > 1 ? r->o.seed : 0));
    LB_TRY(lb_op_case_open(&t.x, text, err));
    lb_op_case_text(t.x, out->text, sizeof out->text);
    lb_status s = lb_answer_open(&t.whole, t.x, err);
    if (s == LB_OK) s = run_on(&t, &t.whole, &ran, err);
    if (s == LB_OK && ran) s = try_axis(&t, along, err);
    if (s == LB_OK) conclude(out);
    lb_answer_close(&t.whole);
    lb_op_case_close(t.x);
    return s;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------------- */

/* The row of an operator and axis; ROWS + 1 if there is none; ROWS for "run", which every operator has. */
static size_t row_for(const char *op, axis along) {
    if (along == AXIS_RUN) return ROWS;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].along == along && strcmp(rows[i].op, op) == 0) return i;
    return ROWS + 1;
}

static void step(lb_invariance_run *r) {
    if (++r->axis < AXIS_COUNT) return;
    r->axis = 0;
    if (++r->device < r->fleet->count) return;
    r->device = 0;
    r->op++;
}

lb_status lb_invariance_next(lb_invariance_run *r, lb_invariance *out, bool *more, lb_error *err) {
    const lb_op *op;
    *more = false;
    while ((op = lb_op_row(r->op)) != NULL) {
        const axis along = (axis)r->axis;
        const size_t row = row_for(op->name, along);
        const bool wanted = lb_plan_wants(&r->o, op->name) && row <= ROWS;
        if (wanted) LB_TRY(try_row(r, op->name, along, row, out, err));
        step(r);
        *more = wanted;
        if (wanted) return LB_OK;
    }
    return LB_OK;
}
