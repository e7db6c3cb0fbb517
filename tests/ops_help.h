/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of operators share: cases opened or failed on, outputs as doubles. */
#ifndef LB_OPS_HELP_H
#define LB_OPS_HELP_H

#include "test.h"

#include "lastbit/operators.h"

#include <math.h>
#include <stdlib.h>

static inline lb_op_case *open_case(int line, const char *text) {
    lb_error err = {0};
    lb_op_case *x = NULL;
    if (lb_op_case_open(&x, text, &err) != LB_OK) fail_msg("row at line %d: \"%s\": %s: %s", line, text, err.place, err.message);
    return x;
}

/* in[i] holds the values of input i, all of them. */
static inline lb_op_case *given_case(int line, const char *text, const double *const *in) {
    lb_error err = {0};
    lb_op_case *x = open_case(line, text);
    for (unsigned i = 0; i < x->op->in_count; i++)
        for (size_t j = 0; j < lb_array_count(&x->in[i]); j++) {
            const lb_format *f = x->in[i].format;
            lb_store_code((char *)x->in[i].codes + j * (size_t)f->bytes, f->bytes, lb_from_double(f, in[i][j]));
        }
    lb_op_case *y = NULL;
    if (lb_op_case_of(&y, text, x->in, x->op->in_count, &err) != LB_OK) fail_msg("row at line %d: %s: %s", line, err.place, err.message);
    lb_op_case_close(x);
    return y;
}

static inline lb_op_truth *truth_of(int line, const lb_op_case *x, lb_function_class c) {
    lb_error err = {0};
    lb_op_truth *t = NULL;
    if (lb_op_truth_open(&t, x, c, &err) != LB_OK) fail_msg("row at line %d: %s: %s", line, err.place, err.message);
    return t;
}

static inline void replay(int line, lb_op_case *x, lb_replay_order order) {
    lb_error err = {0};
    if (lb_op_replay(x, order, &err) != LB_OK) fail_msg("row at line %d: %s: %s", line, err.place, err.message);
}

static inline double output(const lb_op_case *x, unsigned port, size_t i) {
    const lb_format *f = x->out[port].format;
    return lb_to_double(f, lb_load_code((const char *)x->out[port].codes + i * (size_t)f->bytes, f->bytes));
}

static inline void set_output(lb_op_case *x, unsigned port, size_t i, double v) {
    const lb_format *f = x->out[port].format;
    lb_store_code((char *)x->out[port].codes + i * (size_t)f->bytes, f->bytes, lb_from_double(f, v));
}

/* The largest |a - b| over the first output; NaN counts as Inf. */
static inline double furthest(const lb_op_case *a, const lb_op_case *b) {
    double most = 0;
    for (size_t i = 0; i < lb_array_count(&a->out[0]); i++) {
        const double far = fabs(output(a, 0, i) - output(b, 0, i));
        if (!(far <= most)) most = isnan(far) ? INFINITY : far;
    }
    return most;
}

#endif
