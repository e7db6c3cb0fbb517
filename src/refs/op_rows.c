/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of operators, distributions and fills. */
#include "refs/op_rows.h"

#include <math.h>
#include <string.h>

#define LB_LIST(...)                                                                                                                       \
    { __VA_ARGS__ }
#define LB_COUNT(type, ...) (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define LB_WHOLE(n, v)                                                                                                                     \
    { #n, true, v }
#define LB_REAL(n, v)                                                                                                                      \
    { #n, false, v }
#define LB_PORT(n, format, shape, fill)                                                                                                    \
    { #n, #format, shape, fill }
#define LB_PARAM_COUNT(...) LB_COUNT(lb_op_param, __VA_ARGS__)
#define LB_PORT_COUNT(...)  LB_COUNT(lb_op_port, __VA_ARGS__)

static const lb_op ops[] = {
#define LB_OP(name, params, ins, outs, needs, formula, bound, edge, source)                                                                \
    {#name, formula, source, LB_LIST params, LB_LIST ins, LB_LIST outs, LB_PARAM_COUNT params, LB_PORT_COUNT ins, LB_PORT_COUNT outs,      \
     needs, bound,   edge},
#include "refs/ops.def"
#undef LB_OP
};

static const struct {
    const char *name, *summary;
} dists[] = {
#define LB_OP_DIST(name, summary) {#name, summary},
#include "refs/dists.def"
#undef LB_OP_DIST
};

static const lb_fill_row fills[] = {
#define LB_OP_FILL(name, bound, summary) {#name, bound, summary},
#include "refs/fills.def"
#undef LB_OP_FILL
};

#define COUNT_OF(x) (sizeof(x) / sizeof((x)[0]))

size_t lb_array_count(const lb_array *a) {
    size_t n = a->rank > 0;
    for (unsigned i = 0; i < a->rank && i < LB_OP_RANK; i++) n *= a->dims[i];
    return n;
}

const lb_op *lb_op_row(size_t i) {
    return i < COUNT_OF(ops) ? &ops[i] : NULL;
}

const lb_op *lb_op_find(const char *name) {
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (strcmp(ops[i].name, name) == 0) return &ops[i];
    return NULL;
}

const char *lb_op_dist_name(size_t i) {
    return i < COUNT_OF(dists) ? dists[i].name : NULL;
}

const char *lb_op_dist_summary(size_t i) {
    return i < COUNT_OF(dists) ? dists[i].summary : NULL;
}

const char *lb_op_fill_name(size_t i) {
    return i < COUNT_OF(fills) ? fills[i].name : NULL;
}

const char *lb_op_fill_summary(size_t i) {
    return i < COUNT_OF(fills) ? fills[i].summary : NULL;
}

const lb_fill_row *lb_fill_find(const char *name) {
    if (!*name) return &fills[0];
    for (size_t i = 0; i < COUNT_OF(fills); i++)
        if (strcmp(fills[i].name, name) == 0) return &fills[i];
    return NULL;
}

static int find_port(const lb_op_port *ports, unsigned count, const char *name) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0) return (int)i;
    return -1;
}

int lb_op_input(const lb_op *op, const char *name) {
    return find_port(op->in, op->in_count, name);
}

int lb_op_output(const lb_op *op, const char *name) {
    return find_port(op->out, op->out_count, name);
}

double lb_op_case_param(const lb_op_case *x, const char *name) {
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (strcmp(x->op->params[i].name, name) == 0) return x->params[i];
    return NAN;
}
