/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing a network down: values, nodes, and the pieces that kinds of networks share. */
#include "nets/net.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 64 }; /* arrays grow by so many */

static void *grown(lb_builder *b, void *array, size_t count, size_t size) {
    if (b->status != LB_OK || count % STEP) return array;
    void *p = realloc(array, (count + STEP) * size);
    if (!p) b->status = lb_fail(b->err, LB_E_MEMORY, "network", "out of memory");
    return p ? p : array;
}

static int add_value(lb_builder *b, const lb_net_value *v) {
    lb_net *n = b->n;
    n->values = grown(b, n->values, n->value_count, sizeof *n->values);
    if (b->status != LB_OK) return -1;
    n->values[n->value_count] = *v;
    return (int)n->value_count++;
}

int lb_build_value(lb_builder *b, lb_value_kind kind, size_t cols, const char *format, ...) {
    lb_net_value v = {.kind = kind, .cols = cols};
    va_list args;
    va_start(args, format);
    vsnprintf(v.name, sizeof v.name, format, args);
    va_end(args);
    return add_value(b, &v);
}

int lb_build_weight(lb_builder *b, const float *w, size_t rows, size_t cols, const char *name) {
    lb_net_value v = {.kind = LB_VALUE_WEIGHT, .rows = rows, .cols = cols, .weights = w};
    snprintf(v.name, sizeof v.name, "%s", name);
    if (w) b->n->about.weights += rows * cols;
    return w ? add_value(b, &v) : -1;
}

lb_node *lb_build_node(lb_builder *b, const char *op, const char *format, ...) {
    lb_net *n = b->n;
    va_list args;
    n->nodes = grown(b, n->nodes, n->node_count, sizeof *n->nodes);
    if (b->status != LB_OK) return NULL;
    lb_node *node = &n->nodes[n->node_count++];
    *node = (lb_node){.op = lb_op_find(op), .out = {-1, 0, 0}};
    for (size_t i = 0; i < LB_OP_INPUTS; i++) node->in[i].value = -1;
    for (unsigned i = 0; i < node->op->param_count; i++) node->fixed[i] = node->op->params[i].value;
    va_start(args, format);
    vsnprintf(node->name, sizeof node->name, format, args);
    va_end(args);
    return node;
}

void lb_build_set(lb_builder *b, lb_node *node, const char *param, lb_extent extent, double fixed) {
    if (b->status != LB_OK) return;
    for (unsigned i = 0; i < node->op->param_count; i++)
        if (strcmp(node->op->params[i].name, param) == 0) {
            node->extent[i] = extent;
            node->fixed[i] = fixed;
            return;
        }
    b->status = lb_fail(b->err, LB_E_ARG, node->name, "its operator %s has no parameter %s", node->op->name, param);
}

void lb_build_wire(lb_builder *b, lb_node *node, int out, int in0, int in1, int in2) {
    if (b->status != LB_OK) return;
    node->out.value = out;
    node->in[0].value = in0;
    node->in[1].value = in1;
    node->in[2].value = in2;
}

static size_t cols_of(const lb_builder *b, int value) {
    return b->status == LB_OK ? b->n->values[value].cols : 0;
}

int lb_build_linear(lb_builder *b, const char *name, int x, int w, int bias, lb_value_kind kind) {
    if (b->status != LB_OK) return -1;
    const size_t n = b->n->values[w].rows, k = b->n->values[w].cols;
    if (bias < 0) bias = lb_build_value(b, LB_VALUE_ZEROS, n, "%s.zeros", name);
    const int y = lb_build_value(b, kind, n, "%s", name);
    lb_node *node = lb_build_node(b, "linear", "%s", name);
    lb_build_set(b, node, "m", LB_EXTENT_ROWS, 1);
    lb_build_set(b, node, "k", LB_EXTENT_FIXED, (double)k);
    lb_build_set(b, node, "n", LB_EXTENT_FIXED, (double)n);
    lb_build_wire(b, node, y, x, w, bias);
    return y;
}

int lb_build_embedding(lb_builder *b, const char *name, int table, int ids) {
    const size_t d = b->status == LB_OK ? b->n->values[table].cols : 0, rows = b->status == LB_OK ? b->n->values[table].rows : 0;
    const int y = lb_build_value(b, LB_VALUE_ROW, d, "%s", name);
    lb_node *node = lb_build_node(b, "embedding", "%s", name);
    lb_build_set(b, node, "vocab", LB_EXTENT_FIXED, (double)rows);
    lb_build_set(b, node, "d", LB_EXTENT_FIXED, (double)d);
    lb_build_set(b, node, "rows", LB_EXTENT_ROWS, 1);
    lb_build_wire(b, node, y, table, ids, -1);
    return y;
}

int lb_build_norm(lb_builder *b, const char *name, const char *op, int x, int gamma, int beta, double eps) {
    const size_t d = cols_of(b, x);
    const int y = lb_build_value(b, LB_VALUE_ROW, d, "%s", name);
    lb_node *node = lb_build_node(b, op, "%s", name);
    lb_build_set(b, node, "rows", LB_EXTENT_ROWS, 1);
    lb_build_set(b, node, "d", LB_EXTENT_FIXED, (double)d);
    lb_build_set(b, node, "eps", LB_EXTENT_FIXED, eps);
    lb_build_wire(b, node, y, x, gamma, beta);
    return y;
}

/* Rows of operators that take n elements: n follows the rows. Those with rows and d take both. */
static void set_elements(lb_builder *b, lb_node *node, size_t d) {
    if (b->status != LB_OK) return;
    if (strcmp(node->op->params[0].name, "n") == 0) {
        lb_build_set(b, node, "n", LB_EXTENT_ROWS, (double)d);
        return;
    }
    lb_build_set(b, node, "rows", LB_EXTENT_ROWS, 1);
    lb_build_set(b, node, "d", LB_EXTENT_FIXED, (double)d);
}

int lb_build_pair(lb_builder *b, const char *name, const char *op, int x, int y) {
    const size_t d = cols_of(b, x);
    const int z = lb_build_value(b, LB_VALUE_ROW, d, "%s", name);
    lb_node *node = lb_build_node(b, op, "%s", name);
    set_elements(b, node, d);
    lb_build_wire(b, node, z, x, y, -1);
    return z;
}

int lb_build_map(lb_builder *b, const char *name, const char *op, int x) {
    return lb_build_pair(b, name, op, x, -1);
}

int lb_build_rope(lb_builder *b, const char *name, const char *op, int x, size_t heads, double theta, lb_value_kind kind) {
    if (b->status != LB_OK) return -1;
    const size_t d = b->n->values[x].cols / heads;
    const int y = lb_build_value(b, kind, d * heads, "%s", name);
    const int pos = lb_build_value(b, LB_VALUE_POSITIONS, 1, "%s.pos", name);
    for (size_t h = 0; h < heads; h++) {
        lb_node *node = lb_build_node(b, op, "%s.head.%zu", name, h);
        lb_build_set(b, node, "rows", LB_EXTENT_ROWS, 1);
        lb_build_set(b, node, "d", LB_EXTENT_FIXED, (double)d);
        lb_build_set(b, node, "rotary", LB_EXTENT_FIXED, (double)d);
        lb_build_set(b, node, "theta", LB_EXTENT_FIXED, theta);
        lb_build_wire(b, node, y, x, pos, -1);
        if (b->status != LB_OK) return -1;
        node->in[0] = (lb_view){x, h * d, d};
        node->out = (lb_view){y, h * d, d};
    }
    return y;
}

int lb_build_attention(lb_builder *b, const char *name, int q, int k, int v, size_t heads, size_t kv_heads, bool causal) {
    if (b->status != LB_OK) return -1;
    const size_t d = b->n->values[q].cols / heads;
    const int o = lb_build_value(b, LB_VALUE_ROW, d * heads, "%s", name);
    for (size_t h = 0; h < heads; h++) {
        const size_t g = h / (heads / kv_heads);
        lb_node *node = lb_build_node(b, "attention", "%s.head.%zu", name, h);
        lb_build_set(b, node, "m", LB_EXTENT_ROWS, 1);
        lb_build_set(b, node, "seq", LB_EXTENT_LENGTH, 1);
        lb_build_set(b, node, "d", LB_EXTENT_FIXED, (double)d);
        lb_build_set(b, node, "causal", LB_EXTENT_FIXED, causal);
        lb_build_set(b, node, "q_offset", LB_EXTENT_BEFORE, 1);
        if (b->status != LB_OK) return -1;
        node->in[0] = (lb_view){q, h * d, d};
        node->in[1] = (lb_view){k, g * d, d};
        node->in[2] = (lb_view){v, g * d, d};
        node->out = (lb_view){o, h * d, d};
    }
    return o;
}
