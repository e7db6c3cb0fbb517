/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A document's table of deviations, computed: each row at its shape and seed, against the operator in f32 in sequential order, which is
 * what the document's reference is. */
#include "base/try.h"
#include "run/parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *document, *name, *text;
    double tolerance, stated;
} rows[] = {
#define LB_DEVIATION(document, name, text, tolerance, stated) {document, name, text, tolerance, stated},
#include "run/deviations.def"
#undef LB_DEVIATION
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Each row is run as a replay, then on each device. */
static const lb_replay_order replays[] = {LB_REPLAY_DEVICE};
enum { REPLAYS = sizeof replays / sizeof replays[0] };

struct lb_deviations {
    const char *document;
    lb_fleet *fleet; /* NULL: no device */
    size_t row, column;
};

lb_status lb_deviations_open(lb_deviations **out, const char *document, const lb_parity_options *o, lb_error *err) {
    const char *names[ROWS];
    size_t i = 0;
    *out = NULL;
    for (size_t k = 0; k < ROWS; k++) names[k] = rows[k].document;
    while (i < ROWS && strcmp(rows[i].document, document) != 0) i++;
    const char *near = lb_nearest_name(document, names, ROWS);
    if (i == ROWS) return lb_fail(err, LB_E_NAME, "table", "no document \"%s\"; did you mean %s?", document, near ? near : names[0]);
    lb_deviations *d = calloc(1, sizeof *d);
    if (!d) return lb_fail(err, LB_E_MEMORY, "table", "no memory");
    d->document = rows[i].document;
    const lb_status s = lb_fleet_open(&d->fleet, o, err);
    if (s == LB_OK)
        *out = d;
    else
        lb_deviations_close(d);
    return s;
}

void lb_deviations_close(lb_deviations *d) {
    if (!d) return;
    lb_fleet_close(d->fleet);
    free(d);
}

/* The answer of a column: a replay's or a device's. */
static lb_status fill(lb_deviations *d, lb_op_case *x, lb_deviation *out, bool *ran, lb_error *err) {
    lb_worker_answer a;
    *ran = true;
    if (d->column < REPLAYS) return lb_op_replay(x, replays[d->column], err);
    LB_TRY(lb_fleet_run(d->fleet, d->column - REPLAYS, x, &a, err));
    *ran = !a.cannot && a.report.end == LB_RUN_DONE;
    if (*ran) return LB_OK;
    out->verdict = a.cannot ? LB_SKIP : LB_FAIL;
    out->max_abs = INFINITY;
    snprintf(out->cause, sizeof out->cause, "%.159s", a.report.why);
    return LB_OK;
}

static lb_status compare(lb_op_case *x, lb_deviation *out, lb_error *err) {
    lb_op_case reference;
    lb_op_truth *truth = NULL;
    char cause[256];
    LB_TRY(lb_answer_open(&reference, x, err));
    lb_status s = lb_op_replay(&reference, LB_REPLAY_SEQUENTIAL, err);
    if (s == LB_OK) s = lb_op_truth_open(&truth, x, LB_FUNCTIONS_IEEE, err);
    if (s == LB_OK) {
        out->max_abs = lb_answer_max_abs(x, &reference, &out->row, &out->col);
        out->ulp = lb_answer_distance(x, &reference, NULL, NULL);
        out->margin = out->max_abs > 0 ? out->tolerance / out->max_abs : INFINITY;
        out->verdict = out->max_abs <= out->tolerance ? LB_PASS : LB_FAIL;
        s = lb_parity_cause(x, truth, cause, sizeof cause, err);
    }
    if (s == LB_OK) snprintf(out->cause, sizeof out->cause, "%.159s", cause);
    lb_op_truth_close(truth);
    lb_answer_close(&reference);
    return s;
}

static lb_status make(lb_deviations *d, const struct row *row, lb_deviation *out, lb_error *err) {
    lb_op_case *x;
    bool ran;
    *out = (lb_deviation){.name = row->name,
                          .text = row->text ? row->text : "",
                          .tolerance = row->tolerance,
                          .stated = row->stated,
                          .max_abs = NAN,
                          .ulp = NAN,
                          .margin = NAN,
                          .verdict = LB_SKIP};
    out->on = d->column < REPLAYS ? "replay:device" : d->fleet->devices[d->column - REPLAYS].name;
    if (!row->text) {
        snprintf(out->cause, sizeof out->cause, "networks are not there yet");
        return LB_OK;
    }
    LB_TRY(lb_op_case_open(&x, row->text, err));
    lb_status s = fill(d, x, out, &ran, err);
    if (s == LB_OK && ran) s = compare(x, out, err);
    lb_op_case_close(x);
    return s;
}

lb_status lb_deviations_next(lb_deviations *d, lb_deviation *out, bool *more, lb_error *err) {
    *more = false;
    while (d->row < ROWS && strcmp(rows[d->row].document, d->document) != 0) d->row++;
    if (d->row == ROWS) return LB_OK;
    const struct row *row = &rows[d->row];
    LB_TRY(make(d, row, out, err));
    const size_t columns = row->text ? REPLAYS + d->fleet->count : 1;
    if (++d->column == columns) {
        d->column = 0;
        d->row++;
    }
    *more = true;
    return LB_OK;
}
