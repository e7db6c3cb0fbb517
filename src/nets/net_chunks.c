/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Does it matter how a text is cut up? Every operator's output is kept from the run in one piece and looked up in the run in chunks. */
#include "base/try.h"
#include "nets/net_run.h"

#include <stdlib.h>
#include <string.h>

typedef struct memory {
    double **outputs; /* [nodes][rows][cols] */
    size_t *cols;
    size_t node, rows, before;
    bool failed;
    lb_net_parting *parting;
} memory;

static void keep(void *user, const char *node, const double *values, size_t rows, size_t cols) {
    memory *m = user;
    double *copy = malloc(rows * cols * sizeof *copy + 1);
    (void)node;
    if (copy)
        memcpy(copy, values, rows * cols * sizeof *copy);
    else
        m->failed = true;
    m->cols[m->node] = cols;
    m->outputs[m->node++] = copy;
}

static void look_up(void *user, const char *node, const double *values, size_t rows, size_t cols) {
    memory *m = user;
    const double *whole = m->outputs[m->node++] + m->before * cols;
    for (size_t i = 0; i < rows * cols && m->parting->same; i++) {
        m->parting->compared++;
        if (memcmp(&whole[i], &values[i], sizeof *whole) == 0) continue;
        m->parting->same = false;
        m->parting->node = node;
        m->parting->row = m->before + i / cols;
        m->parting->col = i % cols;
        m->parting->whole = whole[i];
        m->parting->chunked = values[i];
    }
}

static lb_status run_chunks(lb_net_run *r, memory *m, const lb_net_input *in, size_t chunk, double *out, lb_error *err) {
    lb_net_run_tap(r, look_up, m);
    lb_net_run_reset(r);
    for (size_t at = 0; at < in->rows && m->parting->same; at += chunk) {
        const lb_net_input part = {.tokens = in->tokens ? in->tokens + at : NULL,
                                   .values = in->values ? in->values + at * r->net->about.in_cols : NULL,
                                   .rows = in->rows - at < chunk ? in->rows - at : chunk};
        m->before = at;
        m->node = 0;
        LB_TRY(lb_net_run_step(r, &part, out, err));
    }
    return LB_OK;
}

lb_status lb_net_chunks(const lb_net *n, const lb_arith *a, const lb_net_input *in, size_t chunk, lb_net_parting *out, lb_error *err) {
    *out = (lb_net_parting){.same = true, .node = ""};
    if (!n->about.grows) return lb_fail(err, LB_E_ARG, n->about.kind, "it keeps no cache: a text is one piece");
    if (!chunk) return lb_fail(err, LB_E_ARG, "chunk", "it is at least 1");
    memory m = {.outputs = calloc(n->node_count + 1, sizeof *m.outputs), .cols = calloc(n->node_count + 1, sizeof *m.cols), .parting = out};
    double *y = malloc(in->rows * n->about.out_cols * sizeof *y + 1);
    lb_net_run *r = NULL;
    lb_status s = m.outputs && m.cols && y ? lb_net_run_open(&r, n, a, err) : lb_fail(err, LB_E_MEMORY, "network", "out of memory");
    if (s == LB_OK) {
        lb_net_run_tap(r, keep, &m);
        s = lb_net_run_step(r, in, y, err);
    }
    if (s == LB_OK && m.failed) s = lb_fail(err, LB_E_MEMORY, "network", "no memory for its activations");
    if (s == LB_OK) s = run_chunks(r, &m, in, chunk, y, err);
    lb_net_run_close(r);
    for (size_t i = 0; m.outputs && i < n->node_count; i++) free(m.outputs[i]);
    free(m.outputs);
    free(m.cols);
    free(y);
    return s;
}
