/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "nets/node.h"
#include "base/try.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lb_node_result_free(lb_node_result *r) {
    free(r->out);
    free(r->value);
    free(r->budget);
    *r = (lb_node_result){0};
}

static lb_status no_memory(lb_error *err) {
    return lb_fail(err, LB_E_MEMORY, "network", "out of memory");
}

/* ---- inputs ------------------------------------------------------------------------------------------------------------------ */

static size_t rows_of(const lb_node_job *job, const lb_net_value *v) {
    switch (v->kind) {
    case LB_VALUE_WEIGHT: return v->rows;
    case LB_VALUE_CACHE: return job->before + job->rows;
    case LB_VALUE_ZEROS: return 1;
    case LB_VALUE_ROW:
    case LB_VALUE_TOKENS:
    case LB_VALUE_POSITIONS: break;
    }
    return job->rows;
}

static double element(const lb_node_job *job, const lb_net_value *v, int value, size_t r, size_t c) {
    switch (v->kind) {
    case LB_VALUE_WEIGHT: return (double)v->weights[r * v->cols + c];
    case LB_VALUE_TOKENS: return job->tokens[r];
    case LB_VALUE_POSITIONS: return (double)(job->before + r);
    case LB_VALUE_ZEROS: return 0;
    case LB_VALUE_ROW:
    case LB_VALUE_CACHE: break;
    }
    return job->store[value][r * v->cols + c];
}

lb_status lb_node_gather(const lb_node_job *job, size_t input, double **out, size_t *rows, size_t *cols, lb_error *err) {
    const lb_view *view = &job->node->in[input];
    const lb_net_value *v = &job->net->values[view->value];
    *cols = view->width ? view->width : v->cols;
    *rows = rows_of(job, v);
    double *x = *out = malloc(*rows * *cols * sizeof *x + 1);
    if (!x) return no_memory(err);
    for (size_t r = 0; r < *rows; r++)
        for (size_t c = 0; c < *cols; c++) x[r * *cols + c] = element(job, v, view->value, r, view->col + c);
    return LB_OK;
}

static double param(const lb_node_job *job, unsigned i) {
    const double fixed = job->node->fixed[i];
    switch (job->node->extent[i]) {
    case LB_EXTENT_ROWS: return fixed * (double)job->rows;
    case LB_EXTENT_LENGTH: return (double)(job->before + job->rows);
    case LB_EXTENT_BEFORE: return (double)job->before;
    case LB_EXTENT_FIXED: break;
    }
    return fixed;
}

double lb_node_param(const lb_node_job *job, const char *name) {
    const lb_op *op = job->node->op;
    for (unsigned i = 0; i < op->param_count; i++)
        if (strcmp(op->params[i].name, name) == 0) return param(job, i);
    return NAN;
}

/* ---- through an operator case -------------------------------------------------------------------------------------------------- */

static uint64_t code_of(const lb_format *f, double x) {
    return f->special == LB_SPECIAL_INT ? (uint64_t)(int64_t)x & (~UINT64_C(0) >> (64 - f->bits)) : lb_from_double(f, x);
}

/* The row's inputs in its own formats. An empty case says which and how many. */
static lb_status fill_inputs(lb_op_case *x, const double *const *in) {
    for (unsigned i = 0; i < x->op->in_count; i++) {
        const lb_array *a = &x->in[i];
        const size_t n = lb_array_count(a), width = (size_t)a->format->bytes;
        for (size_t e = 0; e < n; e++) lb_store_code((char *)a->codes + e * width, (int)width, code_of(a->format, in[i][e]));
    }
    return LB_OK;
}

static lb_status judge(const lb_op_case *x, const lb_op_truth *t, lb_node_result *out, lb_error *err) {
    const size_t n = t->count[0];
    (void)x;
    out->value = malloc(n * sizeof(double) + 1);
    out->budget = malloc(n * sizeof(double) + 1);
    if (!out->value || !out->budget) return no_memory(err);
    memcpy(out->value, t->value[0], n * sizeof(double));
    memcpy(out->budget, t->limit[0], n * sizeof(double));
    return LB_OK;
}

static lb_status run_case(const lb_arith *a, lb_op_case *x, bool judged, lb_node_result *out, lb_error *err) {
    const lb_array *y = &x->out[0];
    const size_t n = lb_array_count(y), width = (size_t)y->format->bytes;
    lb_op_truth *t = NULL;
    lb_status s = LB_OK;
    out->cols = y->dims[y->rank - 1];
    out->rows = n / out->cols;
    out->out = malloc(n * sizeof(double) + 1);
    if (!out->out) return no_memory(err);
    if (judged || a->how == LB_ARITH_TRUTH) s = lb_op_truth_open(&t, x, a->functions, err);
    if (s == LB_OK && judged) s = judge(x, t, out, err);
    if (s == LB_OK && a->how == LB_ARITH_TRUTH) memcpy(out->out, t->value[0], n * sizeof(double));
    lb_op_truth_close(t);
    if (s != LB_OK || a->how == LB_ARITH_TRUTH) return s;
    s = a->how == LB_ARITH_DEVICE ? lb_device_run_op(a->device, x, 60, err) : lb_op_replay(x, a->order, err);
    for (size_t i = 0; s == LB_OK && i < n; i++)
        out->out[i] = lb_to_double(y->format, lb_load_code((char *)y->codes + i * width, (int)width));
    return s;
}

lb_status lb_node_case(const lb_arith *a, const char *text, const double *const *in, bool judged, lb_node_result *out, lb_error *err) {
    lb_op_case *x;
    LB_TRY(lb_op_case_open(&x, text, err));
    lb_status s = fill_inputs(x, in);
    if (s == LB_OK) s = run_case(a, x, judged, out, err);
    lb_op_case_close(x);
    return s;
}

static lb_status by_case(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    const lb_op *op = job->node->op;
    double *in[LB_OP_INPUTS] = {0};
    char text[LB_OP_TEXT];
    size_t rows, cols, used = (size_t)snprintf(text, sizeof text, "op=%s fmt=%s", op->name, job->arith->format->name);
    lb_status s = LB_OK;
    for (unsigned i = 0; i < op->param_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s=%.9g", op->params[i].name, param(job, i));
    for (unsigned i = 0; s == LB_OK && i < op->in_count; i++) s = lb_node_gather(job, i, &in[i], &rows, &cols, err);
    if (s == LB_OK) s = lb_node_case(job->arith, text, (const double *const *)in, judged, out, err);
    for (unsigned i = 0; i < op->in_count; i++) free(in[i]);
    if (err && (s == LB_E_DEVICE || s == LB_E_TIMEOUT)) snprintf(err->place, sizeof err->place, "%s", job->node->name);
    return s;
}

/* ---- operators that need no case --------------------------------------------------------------------------------------------- */

/* A row of a table for each token: a move, the same in every arithmetic but for the format of the table. */
static lb_status embed(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    const lb_net_value *table = &job->net->values[job->node->in[0].value], *ids = &job->net->values[job->node->in[1].value];
    const lb_format *f = job->arith->format;
    out->rows = job->rows;
    out->cols = table->cols;
    out->out = malloc(out->rows * out->cols * sizeof(double) + 1);
    if (!out->out) return no_memory(err);
    for (size_t r = 0; r < job->rows; r++) {
        const double id = ids->kind == LB_VALUE_ZEROS ? 0 : element(job, ids, job->node->in[1].value, r, 0);
        if (!(id >= 0 && id < (double)table->rows))
            return lb_fail(err, LB_E_ARG, job->node->name, "row %zu: %.0f is not among its %zu", job->before + r, id, table->rows);
        for (size_t c = 0; c < table->cols; c++) {
            const double x = (double)table->weights[(size_t)id * table->cols + c];
            out->out[r * out->cols + c] = f->id == LB_F32 || f->id == LB_F64 ? x : lb_to_double(f, lb_from_double(f, x));
        }
    }
    if (!judged) return LB_OK;
    out->value = malloc(out->rows * out->cols * sizeof(double) + 1);
    out->budget = calloc(out->rows * out->cols + 1, sizeof(double));
    if (!out->value || !out->budget) return no_memory(err);
    memcpy(out->value, out->out, out->rows * out->cols * sizeof(double));
    return LB_OK;
}

/* linear in f64, from a plain product. */
static lb_status linear_truth(const lb_node_job *job, const double *x, lb_node_result *out, double *gauge, lb_error *err) {
    const lb_net_value *w = &job->net->values[job->node->in[1].value], *bias = &job->net->values[job->node->in[2].value];
    const lb_rows a = {.d = x, .rows = job->rows, .cols = w->cols}, b = {.f = w->weights, .rows = w->rows, .cols = w->cols};
    out->rows = job->rows;
    out->cols = w->rows;
    if (!out->out) out->out = malloc(out->rows * out->cols * sizeof(double) + 1);
    if (!out->out) return no_memory(err);
    LB_TRY(lb_plain_product(&a, &b, out->out, gauge, err));
    for (size_t i = 0; bias->kind == LB_VALUE_WEIGHT && i < out->rows; i++)
        for (size_t j = 0; j < out->cols; j++) {
            out->out[i * out->cols + j] += (double)bias->weights[j];
            if (gauge) gauge[i * out->cols + j] += fabs((double)bias->weights[j]);
        }
    return LB_OK;
}

static lb_status linear_in_f64(const lb_node_job *job, lb_node_result *out, lb_error *err) {
    double *x;
    size_t rows, cols;
    lb_status s = lb_node_gather(job, 0, &x, &rows, &cols, err);
    if (s == LB_OK) s = linear_truth(job, x, out, NULL, err);
    free(x);
    return s;
}

lb_status lb_node_run(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    const char *op = job->node->op->name;
    const bool linear = strcmp(op, "linear") == 0, product = linear || strcmp(op, "attention") == 0;
    *out = (lb_node_result){0};
    if (job->arith->how == LB_ARITH_TRACE) return lb_node_traced(job, judged, out, err);
    if (strcmp(op, "embedding") == 0) return embed(job, judged, out, err);
    if (product && job->arith->how == LB_ARITH_UNIT) return lb_node_on_unit(job, judged, out, err);
    if (linear && job->arith->how == LB_ARITH_TRUTH && !judged) return linear_in_f64(job, out, err);
    return by_case(job, judged, out, err);
}
