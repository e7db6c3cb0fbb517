/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "nets/net_run.h"
#include "base/try.h"

#include <stdlib.h>
#include <string.h>

lb_status lb_net_run_open(lb_net_run **out, const lb_net *n, const lb_arith *a, lb_error *err) {
    lb_net_run *r = *out = calloc(1, sizeof *r);
    if (r) {
        r->net = n;
        r->arith = a;
        r->store = calloc(n->value_count + 1, sizeof *r->store);
        r->capacity = calloc(n->value_count + 1, sizeof *r->capacity);
        r->coded = calloc(n->value_count + 1, sizeof *r->coded);
    }
    if (r && r->store && r->capacity && r->coded) return LB_OK;
    lb_net_run_close(r);
    *out = NULL;
    return lb_fail(err, LB_E_MEMORY, "network", "out of memory");
}

void lb_net_run_close(lb_net_run *r) {
    if (!r) return;
    for (size_t i = 0; i < r->net->value_count; i++) {
        if (r->store) free(r->store[i]);
        if (r->coded) lb_coded_free(&r->coded[i]);
    }
    free(r->store);
    free(r->capacity);
    free(r->coded);
    free(r);
}

void lb_net_run_reset(lb_net_run *r) {
    r->before = 0;
}

void lb_net_run_tap(lb_net_run *r, void (*tap)(void *user, const char *node, const double *values, size_t rows, size_t cols), void *user) {
    r->tap = tap;
    r->tap_user = user;
}

/* Room for the rows of this chunk, behind those of a cache. */
static lb_status reserve(lb_net_run *r, int value, size_t rows, lb_error *err) {
    const lb_net_value *v = &r->net->values[value];
    const size_t want = (v->kind == LB_VALUE_CACHE ? r->before : 0) + rows;
    if (want <= r->capacity[value]) return LB_OK;
    const size_t capacity = v->kind == LB_VALUE_CACHE ? want * 2 : want;
    double *p = realloc(r->store[value], capacity * v->cols * sizeof *p);
    if (!p) return lb_fail(err, LB_E_MEMORY, v->name, "out of memory");
    r->store[value] = p;
    r->capacity[value] = capacity;
    return LB_OK;
}

lb_status lb_net_put(lb_net_run *r, const lb_view *view, const double *rows_of_it, size_t rows, lb_error *err) {
    const lb_net_value *v = &r->net->values[view->value];
    const size_t width = view->width ? view->width : v->cols, first = v->kind == LB_VALUE_CACHE ? r->before : 0;
    LB_TRY(reserve(r, view->value, rows, err));
    for (size_t i = 0; i < rows; i++)
        memcpy(r->store[view->value] + (first + i) * v->cols + view->col, rows_of_it + i * width, width * sizeof(double));
    return LB_OK;
}

lb_node_job lb_net_job(const lb_net_run *r, const lb_net_input *in, size_t node) {
    return (lb_node_job){.net = r->net,
                         .arith = r->arith,
                         .node = &r->net->nodes[node],
                         .store = r->store,
                         .tokens = in->tokens,
                         .before = r->before,
                         .rows = in->rows,
                         .coded = r->coded};
}

lb_status lb_net_begin(lb_net_run *r, const lb_net_input *in, lb_error *err) {
    const lb_net_about *about = &r->net->about;
    if (!in->rows) return lb_fail(err, LB_E_ARG, "input", "no rows");
    if (!about->grows) r->before = 0;
    if (about->context && in->rows > about->context - r->before)
        return lb_fail(err, LB_E_ARG, "input", "%zu rows; the network's context is %zu", r->before + in->rows, about->context);
    if (about->takes_tokens) {
        if (!in->tokens) return lb_fail(err, LB_E_ARG, "input", "the network takes tokens");
        for (size_t i = 0; i < in->rows; i++)
            if (in->tokens[i] < 0) return lb_fail(err, LB_E_ARG, "input", "token %d", in->tokens[i]);
        return LB_OK;
    }
    if (!in->values) return lb_fail(err, LB_E_ARG, "input", "the network takes rows of %zu numbers", about->in_cols);
    return lb_net_put(r, &(lb_view){.value = r->net->input}, in->values, in->rows, err);
}

lb_status lb_net_run_step(lb_net_run *r, const lb_net_input *in, double *out, lb_error *err) {
    const lb_net *n = r->net;
    LB_TRY(lb_net_begin(r, in, err));
    for (size_t i = 0; i < n->node_count; i++) {
        const lb_node_job job = lb_net_job(r, in, i);
        lb_node_result y;
        lb_status s = lb_node_run(&job, false, &y, err);
        if (s == LB_OK) s = lb_net_put(r, &job.node->out, y.out, in->rows, err);
        if (s == LB_OK && r->tap) r->tap(r->tap_user, job.node->name, y.out, in->rows, y.rows * y.cols / in->rows);
        lb_node_result_free(&y);
        LB_TRY(s);
    }
    memcpy(out, r->store[n->output], in->rows * n->about.out_cols * sizeof *out);
    r->before += in->rows;
    r->rows = in->rows;
    return LB_OK;
}

const double *lb_net_run_value(const lb_net_run *r, size_t i, const char **name, size_t *rows, size_t *cols) {
    size_t seen = 0;
    for (size_t v = 0; v < r->net->value_count; v++) {
        const lb_net_value *value = &r->net->values[v];
        if (!r->store[v] || (int)v == r->net->input || seen++ != i) continue;
        *name = value->name;
        *rows = value->kind == LB_VALUE_CACHE ? r->before : r->rows;
        *cols = value->cols;
        return r->store[v];
    }
    return NULL;
}
