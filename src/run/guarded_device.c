/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A worker behind the seam of devices, for those who run operators and judge them themselves. */
#include "backends/device.h"
#include "base/try.h"
#include "run/describe.h"
#include "run/worker.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct guarded_device {
    lb_device base;
    lb_worker *worker;
} guarded_device;

static bool can(const lb_device *d, const lb_case *x, const char **why_not) {
    (void)d;
    (void)x;
    *why_not = "behind its guard this device runs operators alone";
    return false;
}

static lb_status run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    (void)x;
    (void)y;
    (void)timeout_seconds;
    return lb_fail(err, LB_E_FORMAT, d->name, "behind its guard this device runs operators alone");
}

/* Its own process knows, and says so when it is asked. */
static bool can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    (void)d;
    (void)x;
    *why_not = "";
    return true;
}

static lb_status run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    guarded_device *g = (guarded_device *)d;
    lb_worker_answer a;
    char text[LB_OP_TEXT], why[LB_MISDEED];
    (void)timeout_seconds;
    LB_TRY(lb_worker_ask(g->worker, x, err));
    LB_TRY(lb_worker_answer_of(g->worker, x, &a, err));
    snprintf(d->detail, sizeof d->detail, "%s", lb_worker_detail(g->worker));
    d->guard_damage = a.report.guard_damage;
    d->inputs_changed = a.report.inputs_changed;
    lb_op_case_text(x, text, sizeof text);
    if (a.cannot) return lb_fail(err, LB_E_FORMAT, d->name, "%s: %s", text, a.report.why);
    if (lb_describe_misdeed(&a.report, why))
        return lb_fail(err, a.report.end == LB_RUN_TIMED_OUT ? LB_E_TIMEOUT : LB_E_DEVICE, d->name, "%s: %s", text, why);
    if (a.report.not_written)
        return lb_fail(err, LB_E_DEVICE, d->name, "%s: %llu elements were not written", text, (unsigned long long)a.report.not_written);
    return LB_OK;
}

static void shut(lb_device *d) {
    guarded_device *g = (guarded_device *)d;
    lb_worker_close(g->worker);
    free(g);
}

static const lb_backend guarded = {.name = "guarded",
                                   .summary = "operators in a process of their own",
                                   .can = can,
                                   .run = run,
                                   .can_op = can_op,
                                   .run_op = run_op,
                                   .close = shut};

static lb_status open_by_name(lb_device **out, const void *on, lb_error *err) {
    return lb_device_open(out, on, err);
}

lb_status lb_device_open_guarded(lb_device **out, const char *on, double timeout_seconds, lb_error *err) {
    guarded_device *g = calloc(1, sizeof *g);
    *out = NULL;
    if (!g) return lb_fail(err, LB_E_MEMORY, on, "no memory");
    g->base.backend = &guarded;
    snprintf(g->base.name, sizeof g->base.name, "%s", on);
    const lb_status s = lb_worker_open(&g->worker, open_by_name, g->base.name, timeout_seconds, err);
    if (s != LB_OK) {
        free(g);
        return s;
    }
    snprintf(g->base.detail, sizeof g->base.detail, "%s", lb_worker_detail(g->worker));
    *out = &g->base;
    return LB_OK;
}
