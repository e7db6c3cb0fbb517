/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For tests of devices: one operator's case on a device in this process, poisoned before and judged after. */
#ifndef LB_OP_RUN_H
#define LB_OP_RUN_H

#include "test.h"

#include "backends/device.h"
#include "lastbit/run.h"

typedef struct op_result {
    size_t compared, wrong, unwritten, unjudged;
    double worst;    /* of |output - value| / limit */
    char first[200]; /* the first wrong element */
    uint64_t guard_damage;
    bool inputs_changed;
} op_result;

/* Whether the element format of a case changes anything of an operator. */
static inline bool op_uses_t(const lb_op *op) {
    bool uses = false;
    for (unsigned i = 0; i < op->in_count; i++) uses = uses || strcmp(op->in[i].format, "T") == 0;
    for (unsigned i = 0; i < op->out_count; i++) uses = uses || strcmp(op->out[i].format, "T") == 0;
    return uses;
}

static inline void op_poison(lb_op_case *x) {
    for (unsigned o = 0; o < x->op->out_count; o++) {
        const lb_format *f = x->out[o].format;
        for (size_t i = 0; i < lb_array_count(&x->out[o]); i++)
            lb_store_code((char *)x->out[o].codes + i * (size_t)f->bytes, f->bytes, lb_poison_code(f));
    }
}

static inline void op_judge_one(const lb_op_truth *t, const lb_op_case *x, unsigned port, size_t i, op_result *r) {
    const lb_format *f = x->out[port].format;
    const uint64_t code = lb_load_code((const char *)x->out[port].codes + i * (size_t)f->bytes, f->bytes);
    double ratio = 0;
    const lb_op_verdict v = lb_op_judge(t, x, port, i, &ratio);
    r->unwritten += code == lb_poison_code(f);
    r->unjudged += v == LB_OP_UNJUDGED;
    r->compared += v != LB_OP_UNJUDGED;
    if (v != LB_OP_UNJUDGED && !(ratio <= r->worst)) r->worst = ratio;
    if (v == LB_OP_WRONG && r->wrong++ == 0)
        snprintf(r->first, sizeof r->first, "%s[%zu]: got %.9g, want %.9g within %.3g", x->op->out[port].name, i, lb_to_double(f, code),
                 t->value[port][i], t->limit[port][i]);
}

/* What lies in x->out, judged. */
static inline void op_judge_all(lb_op_case *x, lb_function_class functions, op_result *r) {
    lb_op_truth *t;
    lb_error err = {0};
    if (lb_op_truth_open(&t, x, functions, &err) != LB_OK || lb_op_truth_settle(t, x, &err) != LB_OK)
        fail_msg("%s: %s: %s", x->op->name, err.place, err.message);
    for (unsigned o = 0; o < x->op->out_count; o++)
        for (size_t i = 0; i < lb_array_count(&x->out[o]); i++) op_judge_one(t, x, o, i, r);
    lb_op_truth_close(t);
}

static inline lb_op_case *op_open(const char *op, const char *sizes, const char *format) {
    char text[LB_OP_TEXT];
    lb_op_case *x;
    lb_error err = {0};
    snprintf(text, sizeof text, "op=%s fmt=%s%s%s", op, format, *sizes ? " " : "", sizes);
    if (lb_op_case_open(&x, text, &err) != LB_OK) fail_msg("%s: %s: %s", text, err.place, err.message);
    return x;
}

/* Run and judge. */
static inline lb_status op_run(lb_device *d, lb_op_case *x, lb_function_class functions, op_result *r, lb_error *err) {
    *r = (op_result){0};
    op_poison(x);
    const lb_status s = lb_device_run_op(d, x, 60, err);
    if (s != LB_OK) return s;
    lb_device_marks(d, &r->guard_damage, &r->inputs_changed);
    op_judge_all(x, functions, r);
    return LB_OK;
}

#endif
