/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* linear and attention on a unit: each matrix product is the unit's, what lies between is f32. The budget of such a product is what
 * rounding its operands did, exactly, and what accumulation may lose. */
#include "base/try.h"
#include "nets/node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lb_status no_memory(lb_error *err) {
    return lb_fail(err, LB_E_MEMORY, "network", "out of memory");
}

static lb_status decode(const lb_coded *x, double **out, lb_error *err) {
    *out = malloc(x->rows * x->cols * sizeof **out + 1);
    if (!*out) return no_memory(err);
    for (size_t r = 0; r < x->rows; r++) lb_coded_row(x, r, *out + r * x->cols);
    return LB_OK;
}

/* slack[i][j]: |product of the rounded operands - true| + what the unit may lose on them. value is the true product. */
static lb_status slack_of(const lb_arith *a, const lb_coded *ca, const lb_coded *cb, const double *value, double *slack, lb_error *err) {
    const size_t n = ca->rows * cb->rows;
    const double loss = lb_unit_loss(&a->unit, ca->cols), least = ldexp(1, -140);
    double *da = NULL, *db = NULL, *hat = malloc(n * sizeof *hat + 1);
    lb_status s = hat ? decode(ca, &da, err) : no_memory(err);
    if (s == LB_OK) s = decode(cb, &db, err);
    if (s == LB_OK) {
        const lb_rows ra = {.d = da, .rows = ca->rows, .cols = ca->cols}, rb = {.d = db, .rows = cb->rows, .cols = cb->cols};
        s = lb_plain_product(&ra, &rb, hat, slack, err);
    }
    for (size_t i = 0; s == LB_OK && i < n; i++) slack[i] = slack[i] * (loss + 0x1p-23) + fabs(hat[i] - value[i]) + least;
    free(da);
    free(db);
    free(hat);
    return s;
}

/* ---- linear -------------------------------------------------------------------------------------------------------------------- */

static lb_status coded_weight(const lb_node_job *job, int value, lb_coded **out, lb_error *err) {
    const lb_net_value *w = &job->net->values[value];
    *out = &job->coded[value];
    if ((*out)->codes) return LB_OK;
    const lb_rows rows = {.f = w->weights, .rows = w->rows, .cols = w->cols};
    return lb_coded_make(*out, job->arith, true, &rows, err);
}

static lb_status judge_linear(const lb_node_job *job, const double *x, const lb_coded *a, const lb_coded *b, lb_node_result *out,
                              lb_error *err) {
    const size_t n = out->rows * out->cols;
    const lb_net_value *w = &job->net->values[job->node->in[1].value];
    const lb_rows ra = {.d = x, .rows = job->rows, .cols = w->cols}, rb = {.f = w->weights, .rows = w->rows, .cols = w->cols};
    const lb_net_value *bias = &job->net->values[job->node->in[2].value];
    out->value = malloc(n * sizeof(double) + 1);
    out->budget = malloc(n * sizeof(double) + 1);
    if (!out->value || !out->budget) return no_memory(err);
    LB_TRY(lb_plain_product(&ra, &rb, out->value, NULL, err));
    LB_TRY(slack_of(job->arith, a, b, out->value, out->budget, err));
    for (size_t i = 0; bias->kind == LB_VALUE_WEIGHT && i < n; i++) {
        out->value[i] += (double)bias->weights[i % out->cols];
        out->budget[i] += 0x1p-23 * (fabs(out->value[i]) + fabs((double)bias->weights[i % out->cols]));
    }
    return LB_OK;
}

static lb_status linear(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    const lb_net_value *bias = &job->net->values[job->node->in[2].value];
    double *x = NULL;
    lb_coded a = {0}, *b = NULL;
    size_t cols;
    lb_status s = lb_node_gather(job, 0, &x, &out->rows, &cols, err);
    if (s == LB_OK) s = coded_weight(job, job->node->in[1].value, &b, err);
    const lb_rows rows = {.d = x, .rows = out->rows, .cols = cols};
    if (s == LB_OK) s = lb_coded_make(&a, job->arith, false, &rows, err);
    if (s == LB_OK) {
        out->cols = b->rows;
        out->out = malloc(out->rows * out->cols * sizeof(double) + 1);
        s = out->out ? lb_unit_product(job->arith, &a, b, out->out, err) : no_memory(err);
    }
    for (size_t i = 0; s == LB_OK && bias->kind == LB_VALUE_WEIGHT && i < out->rows * out->cols; i++)
        out->out[i] = (double)((float)out->out[i] + bias->weights[i % out->cols]);
    if (s == LB_OK && judged) s = judge_linear(job, x, &a, b, out, err);
    lb_coded_free(&a);
    free(x);
    return s;
}

/* ---- attention ------------------------------------------------------------------------------------------------------------------ */

typedef struct attention {
    const lb_node_job *job;
    size_t m, len, d;
    double *q, *k, *v, *vt; /* [m][d], [len][d], [len][d], [d][len] */
    double *scores, *p;     /* [m][len] */
    lb_coded cq, ck, cp, cv;
} attention;

static void attention_free(attention *a) {
    free(a->q);
    free(a->k);
    free(a->v);
    free(a->vt);
    free(a->scores);
    free(a->p);
    lb_coded_free(&a->cq);
    lb_coded_free(&a->ck);
    lb_coded_free(&a->cp);
    lb_coded_free(&a->cv);
}

/* Scores by the unit, scaled and masked in f32, then their softmax as the replay has it. */
static lb_status weigh(attention *a, lb_error *err) {
    const lb_arith *arith = a->job->arith;
    const float scale = 1.0f / sqrtf((float)a->d);
    const bool causal = lb_node_param(a->job, "causal") != 0;
    const lb_rows q = {.d = a->q, .rows = a->m, .cols = a->d}, k = {.d = a->k, .rows = a->len, .cols = a->d};
    lb_node_result soft = {0};
    char text[96];
    a->scores = malloc(a->m * a->len * sizeof(double) + 1);
    if (!a->scores) return no_memory(err);
    LB_TRY(lb_coded_make(&a->cq, arith, false, &q, err));
    LB_TRY(lb_coded_make(&a->ck, arith, true, &k, err));
    LB_TRY(lb_unit_product(arith, &a->cq, &a->ck, a->scores, err));
    for (size_t i = 0; i < a->m; i++)
        for (size_t j = 0; j < a->len; j++)
            a->scores[i * a->len + j] = causal && j > a->job->before + i ? -INFINITY : (double)((float)a->scores[i * a->len + j] * scale);
    snprintf(text, sizeof text, "op=softmax rows=%zu d=%zu fmt=f32", a->m, a->len);
    const double *in[LB_OP_INPUTS] = {a->scores};
    const lb_arith f32 = {.how = LB_ARITH_REPLAY, .format = arith->format, .order = LB_REPLAY_SEQUENTIAL};
    const lb_status s = lb_node_case(&f32, text, in, false, &soft, err);
    a->p = soft.out;
    return s;
}

/* o = p v, both rounded into the unit's formats. */
static lb_status mix(attention *a, double *out, lb_error *err) {
    a->vt = malloc(a->len * a->d * sizeof(double) + 1);
    if (!a->vt) return no_memory(err);
    for (size_t j = 0; j < a->len; j++)
        for (size_t c = 0; c < a->d; c++) a->vt[c * a->len + j] = a->v[j * a->d + c];
    const lb_rows p = {.d = a->p, .rows = a->m, .cols = a->len}, v = {.d = a->vt, .rows = a->d, .cols = a->len};
    LB_TRY(lb_coded_make(&a->cp, a->job->arith, false, &p, err));
    LB_TRY(lb_coded_make(&a->cv, a->job->arith, true, &v, err));
    return lb_unit_product(a->job->arith, &a->cp, &a->cv, out, err);
}

/* The operator's own limit, and: scores off by e turn each weight by a factor of at most exp(2 e); the second product has its slack. */
static lb_status judge_attention(const attention *a, lb_node_result *out, lb_error *err) {
    const lb_node_job *job = a->job;
    const double *in[LB_OP_INPUTS] = {a->q, a->k, a->v};
    const lb_arith truth = {.how = LB_ARITH_TRUTH, .format = job->arith->format};
    const size_t n = a->m * a->d;
    lb_node_result t = {0};
    char text[160];
    double *slack = malloc((a->m * a->len + n) * sizeof *slack + 1), *exact = malloc((a->m * a->len + n) * sizeof *exact + 1);
    snprintf(text, sizeof text, "op=attention fmt=f32 m=%zu seq=%zu d=%zu causal=%d q_offset=%zu", a->m, a->len, a->d,
             lb_node_param(job, "causal") != 0, job->before);
    lb_status s = slack && exact ? lb_node_case(&truth, text, in, true, &t, err) : no_memory(err);
    const lb_rows q = {.d = a->q, .rows = a->m, .cols = a->d}, k = {.d = a->k, .rows = a->len, .cols = a->d};
    const lb_rows p = {.d = a->p, .rows = a->m, .cols = a->len}, v = {.d = a->vt, .rows = a->d, .cols = a->len};
    double *slack_pv = slack + a->m * a->len, *exact_pv = exact + a->m * a->len;
    if (s == LB_OK) s = lb_plain_product(&q, &k, exact, NULL, err);
    if (s == LB_OK) s = slack_of(job->arith, &a->cq, &a->ck, exact, slack, err);
    if (s == LB_OK) s = lb_plain_product(&p, &v, exact_pv, NULL, err);
    if (s == LB_OK) s = slack_of(job->arith, &a->cp, &a->cv, exact_pv, slack_pv, err);
    for (size_t i = 0; s == LB_OK && i < a->m; i++) {
        double e = 0;
        for (size_t j = 0; j < a->len && !(lb_node_param(job, "causal") != 0 && j > job->before + i); j++)
            e = fmax(e, slack[i * a->len + j] / sqrt((double)a->d) + 0x1p-23 * fabs(a->scores[i * a->len + j]));
        for (size_t c = 0; c < a->d; c++) {
            double most = 0;
            for (size_t j = 0; j < a->len; j++) most = fmax(most, fabs(a->v[j * a->d + c]));
            t.budget[i * a->d + c] += expm1(2 * e) * most + slack_pv[i * a->d + c];
        }
    }
    free(slack);
    free(exact);
    if (s == LB_OK) {
        out->value = t.value;
        out->budget = t.budget;
        t.value = t.budget = NULL;
    }
    lb_node_result_free(&t);
    return s;
}

static lb_status attend(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    attention a = {.job = job};
    size_t rows, cols;
    lb_status s = lb_node_gather(job, 0, &a.q, &a.m, &a.d, err);
    if (s == LB_OK) s = lb_node_gather(job, 1, &a.k, &a.len, &cols, err);
    if (s == LB_OK) s = lb_node_gather(job, 2, &a.v, &rows, &cols, err);
    out->rows = a.m;
    out->cols = a.d;
    out->out = malloc(a.m * a.d * sizeof(double) + 1);
    if (s == LB_OK && !out->out) s = no_memory(err);
    if (s == LB_OK) s = weigh(&a, err);
    if (s == LB_OK) s = mix(&a, out->out, err);
    if (s == LB_OK && judged) s = judge_attention(&a, out, err);
    attention_free(&a);
    return s;
}

lb_status lb_node_on_unit(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    return strcmp(job->node->op->name, "linear") == 0 ? linear(job, judged, out, err) : attend(job, judged, out, err);
}
