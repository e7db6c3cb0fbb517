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

static const char replay_name[] = "replay:device"; /* a column of its own, before the devices */

static const char networks[] = "wants a model: lastbit verify MODEL --reference REF (docs/networks.md)";

struct lb_deviations {
    const char *document;
    lb_fleet *fleet; /* NULL: no device */
    size_t replays;  /* columns before those of devices: 1 or 0 */
    size_t row, column;
};

/* The columns that are asked for: all where none is named. */
static lb_status open_columns(lb_deviations *d, const lb_parity_options *o, lb_error *err) {
    const char *on[LB_FLEET_DEVICES];
    lb_parity_options devices = *o;
    devices.on = on;
    devices.on_count = 0;
    d->replays = o->on_count == 0;
    for (size_t i = 0; i < o->on_count; i++) {
        const bool replay = strcmp(o->on[i], replay_name) == 0;
        if (replay) d->replays = 1;
        if (!replay && devices.on_count < LB_FLEET_DEVICES) on[devices.on_count++] = o->on[i];
    }
    return o->on_count && !devices.on_count ? LB_OK : lb_fleet_open(&d->fleet, &devices, err);
}

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
    const lb_status s = open_columns(d, o, err);
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
    if (d->column < d->replays) return lb_op_replay(x, LB_REPLAY_DEVICE, err);
    LB_TRY(lb_fleet_run(d->fleet, d->column - d->replays, x, &a, err));
    *ran = !a.cannot && a.report.end == LB_RUN_DONE;
    if (*ran) return LB_OK;
    out->verdict = a.cannot ? LB_SKIP : LB_FAIL;
    out->max_abs = INFINITY;
    snprintf(out->cause, sizeof out->cause, "%.159s", a.report.why);
    return LB_OK;
}

static double largest_limit(const lb_op_truth *t, const lb_op *op) {
    double most = 0;
    for (unsigned p = 0; p < op->out_count; p++)
        for (size_t i = 0; i < t->count[p]; i++) most = fmax(most, t->limit[p][i]);
    return most;
}

static lb_status compare(lb_op_case *x, lb_deviation *out, lb_error *err) {
    lb_op_case reference;
    lb_op_truth *truth = NULL;
    char cause[256];
    LB_TRY(lb_answer_open(&reference, x, err));
    lb_status s = lb_op_replay(&reference, LB_REPLAY_SEQUENTIAL, err);
    if (s == LB_OK) s = lb_op_truth_open(&truth, x, LB_FUNCTIONS_IEEE, err);
    if (s == LB_OK) {
        out->limit = largest_limit(truth, x->op);
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
                          .limit = NAN,
                          .made_of = "",
                          .max_abs = NAN,
                          .ulp = NAN,
                          .margin = NAN,
                          .verdict = LB_SKIP};
    if (d->column < d->replays) {
        out->on = replay_name;
    } else {
        const lb_fleet_device *device = &d->fleet->devices[d->column - d->replays];
        out->on = device->name;
        snprintf(out->device, sizeof out->device, "%s", lb_worker_detail(device->workers[0]));
    }
    if (!row->text) {
        snprintf(out->cause, sizeof out->cause, "%s", networks);
        return LB_OK;
    }
    LB_TRY(lb_op_case_open(&x, row->text, err));
    out->made_of = x->op->bound;
    lb_status s = fill(d, x, out, &ran, err);
    if (s == LB_OK && ran) s = compare(x, out, err);
    lb_op_case_close(x);
    return s;
}

/* What the plan leaves out. */
static const lb_not_covered vacuous[] = {
#define LB_VACUOUS(op, dist, format, why) {op, format[0] ? "dist=" dist " fmt=" format : "dist=" dist, why},
#include "run/vacuous.def"
#undef LB_VACUOUS
};

enum { VACUOUS = sizeof vacuous / sizeof vacuous[0] };

bool lb_parity_not_covered(size_t i, lb_not_covered *out) {
    if (i < VACUOUS) {
        *out = vacuous[i];
        return true;
    }
    i -= VACUOUS;
    for (size_t k = 0; k < ROWS; k++) {
        if (rows[k].text || i--) continue;
        *out = (lb_not_covered){rows[k].name, rows[k].document, networks};
        return true;
    }
    return false;
}

lb_status lb_deviations_next(lb_deviations *d, lb_deviation *out, bool *more, lb_error *err) {
    *more = false;
    while (d->row < ROWS && strcmp(rows[d->row].document, d->document) != 0) d->row++;
    if (d->row == ROWS) return LB_OK;
    const struct row *row = &rows[d->row];
    LB_TRY(make(d, row, out, err));
    const size_t columns = row->text ? d->replays + (d->fleet ? d->fleet->count : 0) : 1;
    if (++d->column == columns) {
        d->column = 0;
        d->row++;
    }
    *more = true;
    return LB_OK;
}
