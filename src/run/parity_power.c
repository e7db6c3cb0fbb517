/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the limits of a case catch: faults are injected into the right output and judged as a device's answer is. */
#include "base/try.h"
#include "lastbit/power.h"
#include "run/parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first output of numbers; an output of indices where there is no other. */
static unsigned port_of(const lb_op *op, const lb_op_case *x) {
    for (unsigned p = 0; p < op->out_count; p++)
        if (x->out[p].format->special != LB_SPECIAL_INT) return p;
    return 0;
}

/* What passes and is further off than this is missed, as lb_power counts it. */
static const double correct_ulp = 2;

/* Judge the faulty output of one port. */
static lb_status judge(const lb_op_case *x, lb_op_truth *t, unsigned port, lb_power_row *row, lb_error *err) {
    const lb_array *y = &x->out[port];
    const size_t cols = y->rank ? y->dims[y->rank - 1] : 1;
    double most = -1;
    LB_TRY(lb_op_truth_settle(t, x, err));
    row->end = LB_POWER_BELOW;
    double ulp_most = 0;
    for (size_t i = 0; i < t->count[port]; i++) {
        double ratio = 0;
        const lb_op_verdict v = lb_op_judge(t, x, port, i, &ratio);
        const uint64_t code = lb_load_code((unsigned char *)y->codes + i * (size_t)y->format->bytes, y->format->bytes);
        const uint64_t right = lb_from_double(y->format, t->value[port][i]);
        row->changed += code != right;
        ulp_most = fmax(ulp_most, lb_code_distance(y->format, code, right));
        if (v == LB_OP_WRONG) row->end = LB_POWER_CAUGHT;
        if (v == LB_OP_UNJUDGED || !(ratio > most)) continue;
        most = ratio;
        row->error = fabs(lb_to_double(y->format, code) - t->value[port][i]);
        if (isnan(row->error)) row->error = INFINITY;
        row->limit = t->limit[port][i];
        row->row = i / cols;
        row->col = i % cols;
    }
    if (row->end != LB_POWER_CAUGHT && ulp_most > correct_ulp) row->end = LB_POWER_MISSED;
    return LB_OK;
}

static lb_status inject(const lb_op_case *x, const lb_op_case *right, lb_op_truth *t, unsigned port, const lb_fault *f, lb_record *r,
                        lb_error *err) {
    lb_op_case faulty;
    lb_power_row row = {.error = NAN, .limit = NAN, .end = LB_POWER_HIDDEN};
    bool hidden = false;
    LB_TRY(lb_answer_open(&faulty, x, err));
    for (unsigned p = 0; p < x->op->out_count; p++)
        memcpy(faulty.out[p].codes, right->out[p].codes, lb_array_count(&x->out[p]) * (size_t)x->out[p].format->bytes);
    const lb_mat from = lb_array_mat(&right->out[port]);
    lb_mat to = lb_array_mat(&faulty.out[port]);
    snprintf(row.fault, sizeof row.fault, "%s", f->name);
    lb_status s = lb_fault_plant(f->name, NULL, NULL, &from, &to, &hidden, row.why, err);
    if (s == LB_OK && !hidden) s = judge(&faulty, t, port, &row, err);
    if (s == LB_OK && !hidden && !row.changed) row.end = LB_POWER_HIDDEN;
    lb_answer_close(&faulty);
    if (s != LB_OK) return s;
    r->power.caught += row.end == LB_POWER_CAUGHT;
    r->power.due += row.end == LB_POWER_CAUGHT || row.end == LB_POWER_MISSED;
    return lb_record_add_power(r, &row, err);
}

lb_status lb_parity_power(const lb_op_case *x, lb_function_class functions, lb_record *r, lb_error *err) {
    lb_op_case right;
    lb_op_truth *own;
    const lb_fault *f;
    const unsigned port = port_of(x->op, x);
    LB_TRY(lb_answer_open(&right, x, err));
    lb_status s = lb_op_truth_open(&own, &right, functions, err);
    if (s == LB_OK) lb_truth_round(own, &right);
    for (size_t i = 0; s == LB_OK && (f = lb_fault_row(i)) != NULL; i++)
        if (!f->of_operands) s = inject(x, &right, own, port, f, r, err);
    if (s == LB_OK) {
        r->power.present = true;
        r->power.score = r->power.due ? (double)r->power.caught / (double)r->power.due : NAN;
    }
    lb_op_truth_close(own);
    lb_answer_close(&right);
    return s;
}
