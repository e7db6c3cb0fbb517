/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How large an operator's inputs may be on a device: magnitudes by powers of four until a limit is left, or nothing can be judged. */
#include "base/try.h"
#include "run/parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lb_sweep {
    lb_fleet *fleet;
    lb_parity_options o;
    size_t op, device;
};

lb_status lb_sweep_open(lb_sweep **out, const lb_parity_options *o, lb_error *err) {
    lb_sweep *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return lb_fail(err, LB_E_MEMORY, "sweep", "no memory");
    s->o = *o;
    lb_status status = lb_plan_check_ops(o, err);
    if (status == LB_OK) status = lb_fleet_open(&s->fleet, o, err);
    if (status == LB_OK)
        *out = s;
    else
        lb_sweep_close(s);
    return status;
}

void lb_sweep_close(lb_sweep *s) {
    if (!s) return;
    lb_fleet_close(s->fleet);
    free(s);
}

/* One magnitude: the verdict and its reason. */
static lb_status judge_at(lb_sweep *s, const char *text, lb_verdict *verdict, char *reason, size_t size, lb_error *err) {
    const lb_fleet_device *d = &s->fleet->devices[s->device];
    lb_op_case *x;
    lb_op_truth *truth = NULL;
    lb_record *r = NULL;
    lb_worker_answer a;
    double ratio;
    LB_TRY(lb_op_case_open(&x, text, err));
    lb_status status = lb_op_truth_open(&truth, x, d->functions, err);
    if (status == LB_OK) status = lb_record_open(&r, err);
    if (status == LB_OK) status = lb_fleet_run(s->fleet, s->device, x, &a, err);
    if (status == LB_OK) {
        const lb_subject subject = {x, truth, &a, d->name, d->name, d->functions};
        status = lb_parity_judge(&subject, r, &ratio, err);
    }
    if (status == LB_OK) {
        *verdict = r->verdict;
        snprintf(reason, size, "%s", r->reason);
    }
    lb_record_close(r);
    lb_op_truth_close(truth);
    lb_op_case_close(x);
    return status;
}

static lb_status sweep_op(lb_sweep *s, const lb_op *op, lb_sweep_row *out, lb_error *err) {
    double most = 0x1p126;
    char shape[256];
    *out = (lb_sweep_row){.op = op->name, .on = s->fleet->devices[s->device].name, .last_good = NAN, .first_bad = NAN, .largest = NAN};
    snprintf(shape, sizeof shape, "%s", lb_plan_first_shape(op->name)); /* rows of plans.def are short */
    char *pinned = strstr(shape, "seed=");
    if (pinned) *pinned = 0;
    for (double m = 1; m <= most; m *= 4) {
        lb_verdict verdict = LB_SKIP;
        char text[LB_OP_TEXT], reason[256];
        snprintf(text, sizeof text, "op=%s %s magnitude=%.9g seed=%llu", op->name, shape, m,
                 (unsigned long long)(s->o.seed ? s->o.seed : 1));
        LB_TRY(judge_at(s, text, &verdict, reason, sizeof reason, err));
        if (verdict == LB_UNPROVEN || verdict == LB_SKIP) {
            if (isnan(out->largest)) snprintf(out->reason, sizeof out->reason, "%s", reason);
            return LB_OK;
        }
        snprintf(out->text, sizeof out->text, "%s", text);
        out->largest = m;
        if (verdict == LB_PASS) {
            out->last_good = m;
            continue;
        }
        out->first_bad = m;
        snprintf(out->reason, sizeof out->reason, "%s", reason);
        return LB_OK;
    }
    return LB_OK;
}

static bool has_data(const lb_op *op) {
    for (unsigned i = 0; i < op->in_count; i++)
        if (op->in[i].fill[0] == 0 || strcmp(op->in[i].fill, "data") == 0) return true;
    return false;
}

lb_status lb_sweep_next(lb_sweep *s, lb_sweep_row *out, bool *more, lb_error *err) {
    const lb_op *op;
    *more = false;
    while ((op = lb_op_row(s->op)) != NULL) {
        const bool wanted = lb_plan_wants(&s->o, op->name) && has_data(op);
        if (wanted) LB_TRY(sweep_op(s, op, out, err));
        if (++s->device == s->fleet->count) {
            s->device = 0;
            s->op++;
        }
        *more = wanted;
        if (wanted) return LB_OK;
    }
    return LB_OK;
}
