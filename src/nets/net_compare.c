/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two arithmetics of a network: the outputs of each by itself, and each operator of B on the activations of A. */
#include "base/try.h"
#include "nets/net_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct comparison {
    const lb_net *na, *nb;
    const lb_net_input *in;
    lb_net_run *a, *b, *alone; /* A; B on A's activations; B by itself */
    void (*progress)(void *user, const char *stage, double fraction);
    void *user;
    lb_net_report *report;
} comparison;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static lb_status no_memory(lb_error *err) {
    return lb_fail(err, LB_E_MEMORY, "network", "out of memory");
}

static double ulp_between(double x, double y) {
    const lb_format *f = lb_format_row(LB_F32);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? 0 : INFINITY;
    return fabs((double)(lb_ordinal(f, lb_from_double(f, x)) - lb_ordinal(f, lb_from_double(f, y))));
}

/* ---- operator by operator ------------------------------------------------------------------------------------------------------ */

/* How far out is from value, in budgets. */
static double ratio_of(double out, double value, double budget) {
    if (isnan(value)) return isnan(out) ? 0 : INFINITY;
    if (out == value || budget == INFINITY) return 0;
    if (!isfinite(out) || !isfinite(value)) return INFINITY;
    return budget > 0 ? fabs(out - value) / budget : INFINITY;
}

/* An element with an infinite budget is not judged; a step of such elements alone was not compared. */
static void judge_step(const lb_node_result *y, const double *value, lb_net_step *step) {
    step->compared = false;
    for (size_t i = 0; i < y->rows * y->cols; i++) {
        step->compared = step->compared || y->budget[i] != INFINITY;
        const double off = fabs(y->out[i] - value[i]), ratio = ratio_of(y->out[i], value[i], y->budget[i]),
                     ulp = ulp_between(y->out[i], value[i]);
        if (off > step->max_abs || isnan(off)) step->max_abs = isnan(off) && isnan(value[i]) ? step->max_abs : off;
        if (ulp > step->max_ulp) step->max_ulp = ulp;
        if (ratio > step->ratio || i == 0) {
            step->ratio = ratio;
            step->budget = y->budget[i];
            step->row = i / y->cols;
            step->col = i % y->cols;
        }
    }
}

/* B's node on A's values, beside what A's node would truly give on them. */
static lb_status step_of(const comparison *c, size_t i, lb_net_step *step, lb_error *err) {
    lb_node_job job = lb_net_job(c->a, c->in, i);
    lb_node_result y = {0}, truth = {0};
    if (c->b->arith->how == LB_ARITH_TRACE) job.store = c->alone->store;
    job.net = c->nb;
    job.node = &c->nb->nodes[i];
    job.arith = c->b->arith;
    job.coded = c->b->coded;
    *step = (lb_net_step){.node = job.node->name, .op = job.node->op};
    lb_status s = lb_node_run(&job, true, &y, err);
    if (s == LB_OK && c->na != c->nb) {
        job.net = c->na;
        job.node = &c->na->nodes[i];
        job.coded = c->a->coded;
        s = lb_node_run(&job, true, &truth, err);
    }
    if (s == LB_OK && !y.absent) judge_step(&y, truth.value ? truth.value : y.value, step);
    lb_node_result_free(&y);
    lb_node_result_free(&truth);
    return s;
}

static lb_status run_a(const comparison *c, size_t i, lb_error *err) {
    const lb_node_job job = lb_net_job(c->a, c->in, i);
    lb_node_result y;
    lb_status s = lb_node_run(&job, false, &y, err);
    if (s == LB_OK) s = lb_net_put(c->a, &job.node->out, y.out, c->in->rows, err);
    lb_node_result_free(&y);
    return s;
}

static lb_status all_steps(comparison *c, lb_error *err) {
    const size_t n = c->na->node_count;
    lb_net_report *r = c->report;
    double spent = 0;
    r->steps = calloc(n + 1, sizeof *r->steps);
    if (!r->steps) return no_memory(err);
    r->first_over = n;
    LB_TRY(lb_net_begin(c->a, c->in, err));
    for (size_t i = 0; i < n; i++) {
        if (c->progress) c->progress(c->user, c->na->nodes[i].name, (double)i / (double)n);
        LB_TRY(step_of(c, i, &r->steps[i], err));
        if (r->steps[i].ratio > 1 && r->first_over == n) r->first_over = i;
        const double start = now();
        LB_TRY(run_a(c, i, err));
        spent += now() - start;
        r->step_count = i + 1;
    }
    r->seconds_a = spent;
    bool any = false;
    for (size_t i = 0; i < n; i++) any = any || r->steps[i].compared;
    return any ? LB_OK
               : lb_fail(err, LB_E_FILE, lb_arith_text(c->b->arith),
                         "none of its tensors is called as an operator of the network (--steps lists them)");
}

/* ---- outputs ---------------------------------------------------------------------------------------------------------------------- */

static void compare_values(lb_net_report *r, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < r->rows * r->cols; i++) {
        const bool same_class = isnan(a[i]) == isnan(b[i]) && (isinf(a[i]) == isinf(b[i]) && (!isinf(a[i]) || a[i] == b[i]));
        const double off = !same_class ? INFINITY : isnan(a[i]) || a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        r->class_mismatch += !same_class;
        sum += isfinite(off) ? off * off : 0;
        r->max_ulp = fmax(r->max_ulp, same_class && isfinite(a[i]) ? ulp_between(a[i], b[i]) : 0);
        if (off > r->max_abs) {
            r->max_abs = off;
            r->row = i / r->cols;
            r->col = i % r->cols;
        }
    }
    r->rms = sqrt(sum / (double)(r->rows * r->cols));
}

static double log_sum_exp(const double *x, size_t n) {
    double most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++) most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - most);
    return most + log(sum);
}

/* The largest k, equal ones by index; NaN never. */
static size_t largest(const double *x, size_t n, size_t k, size_t *out) {
    size_t have = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = have;
        if (isnan(x[i])) continue;
        while (at > 0 && x[i] > x[out[at - 1]]) at--;
        if (at == k) continue;
        for (size_t j = have < k ? have : k - 1; j > at; j--) out[j] = out[j - 1];
        out[at] = i;
        have += have < k;
    }
    return have;
}

static void compare_row(lb_net_report *r, size_t row, const double *a, const double *b) {
    enum { FIVE = 5 };
    size_t top_a[FIVE], top_b[FIVE];
    const size_t n = r->cols, have_a = largest(a, n, FIVE, top_a), have_b = largest(b, n, FIVE, top_b);
    const double la = log_sum_exp(a, n), lb = log_sum_exp(b, n);
    double kl = 0;
    for (size_t i = 0; i < n; i++) {
        const double p = exp(a[i] - la);
        if (p > 0) kl += p * ((a[i] - la) - (b[i] - lb));
    }
    r->kl_mean += kl / (double)r->rows;
    r->kl_most = kl > r->kl_most || isnan(kl) ? kl : r->kl_most;
    if (!have_a || !have_b) return;
    r->top5_same += have_a == have_b && memcmp(top_a, top_b, have_a * sizeof *top_a) == 0;
    if (top_a[0] == top_b[0]) {
        r->top1_same++;
        return;
    }
    r->flips[r->flip_count++] = (lb_net_flip){.row = row,
                                              .token_a = (int32_t)top_a[0],
                                              .token_b = (int32_t)top_b[0],
                                              .gap = a[top_a[0]] - a[top_b[0]],
                                              .error = fabs(b[top_a[0]] - a[top_a[0]]) + fabs(b[top_b[0]] - a[top_b[0]])};
}

/* Mean -log p of the token that follows in the input. */
static double loss(const lb_net_input *in, const double *x, size_t cols) {
    double sum = 0;
    for (size_t i = 0; i + 1 < in->rows; i++) sum += log_sum_exp(x + i * cols, cols) - x[i * cols + (size_t)in->tokens[i + 1]];
    return in->rows > 1 ? sum / (double)(in->rows - 1) : NAN;
}

static lb_status compare_outputs(comparison *c, const double *a, const double *b, lb_error *err) {
    lb_net_report *r = c->report;
    r->kl_mean = r->kl_most = r->loss_a = r->loss_b = NAN;
    compare_values(r, a, b);
    if (!c->na->about.grows) return LB_OK; /* no logits */
    r->flips = calloc(r->rows + 1, sizeof *r->flips);
    if (!r->flips) return no_memory(err);
    r->kl_mean = r->kl_most = 0;
    for (size_t i = 0; i < r->rows; i++) compare_row(r, i, a + i * r->cols, b + i * r->cols);
    r->loss_a = loss(c->in, a, r->cols);
    r->loss_b = loss(c->in, b, r->cols);
    return LB_OK;
}

static lb_status compare(comparison *c, lb_error *err) {
    lb_net_report *r = c->report;
    r->rows = c->in->rows;
    r->cols = c->na->about.out_cols;
    r->a = malloc(r->rows * r->cols * sizeof *r->a + 1);
    r->b = malloc(r->rows * r->cols * sizeof *r->b + 1);
    if (!r->a || !r->b) return no_memory(err);
    if (c->progress) c->progress(c->user, "the network by itself", 0);
    const double start = now();
    lb_status s = lb_net_run_step(c->alone, c->in, r->b, err);
    r->seconds_b = now() - start;
    if (s == LB_OK) s = all_steps(c, err);
    if (s != LB_OK) return s;
    memcpy(r->a, c->a->store[c->na->output], r->rows * r->cols * sizeof *r->a);
    return compare_outputs(c, r->a, r->b, err);
}

static lb_status check_alike(const lb_net *a, const lb_net *b, lb_error *err) {
    bool same = a->node_count == b->node_count && a->value_count == b->value_count && a->about.out_cols == b->about.out_cols;
    for (size_t i = 0; same && i < a->node_count; i++)
        same = a->nodes[i].op == b->nodes[i].op && strcmp(a->nodes[i].name, b->nodes[i].name) == 0;
    return same ? LB_OK : lb_fail(err, LB_E_SHAPE, "network", "the two models are not of one shape");
}

lb_status lb_net_compare_models(const lb_net *na, const lb_arith *a, const lb_net *nb, const lb_arith *b, const lb_net_input *in,
                                void (*progress)(void *user, const char *stage, double fraction), void *user, lb_net_report **out,
                                lb_error *err) {
    comparison c = {.na = na, .nb = nb, .in = in, .progress = progress, .user = user};
    *out = NULL;
    LB_TRY(check_alike(na, nb, err));
    c.report = calloc(1, sizeof *c.report);
    lb_status s = c.report ? lb_net_run_open(&c.a, na, a, err) : no_memory(err);
    if (s == LB_OK) s = lb_net_run_open(&c.b, nb, b, err);
    if (s == LB_OK) s = lb_net_run_open(&c.alone, nb, b, err);
    if (s == LB_OK) s = compare(&c, err);
    lb_net_run_close(c.a);
    lb_net_run_close(c.b);
    lb_net_run_close(c.alone);
    if (s == LB_OK)
        *out = c.report;
    else
        lb_net_report_close(c.report);
    return s;
}

lb_status lb_net_compare(const lb_net *n, const lb_arith *a, const lb_arith *b, const lb_net_input *in,
                         void (*progress)(void *user, const char *stage, double fraction), void *user, lb_net_report **out, lb_error *err) {
    return lb_net_compare_models(n, a, n, b, in, progress, user, out, err);
}

void lb_net_report_close(lb_net_report *r) {
    if (!r) return;
    free(r->a);
    free(r->b);
    free(r->steps);
    free(r->flips);
    free(r);
}
