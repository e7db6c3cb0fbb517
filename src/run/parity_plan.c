/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The cases of a run, each a text that reruns alone: every shape of an operator in each element format; its first shape with every
 * distribution; its second one at other magnitudes. */
#include "base/try.h"
#include "run/parity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum plan_size { QUICK, FULL } plan_size;

static const struct {
    const char *op, *text;
    plan_size size;
} shapes[] = {
#define LB_PLAN(op, text, size) {#op, text, size},
#include "run/plans.def"
#undef LB_PLAN
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const char *const formats[] = {"f32", "f16", "bf16"};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* What proves nothing, left out of the plan. */
static const struct {
    const char *op, *dist, *format;
} vacuous[] = {
#define LB_VACUOUS(op, dist, format, why) {op, dist, format},
#include "run/vacuous.def"
#undef LB_VACUOUS
};

const char *lb_plan_first_shape(const char *op) {
    for (size_t i = 0; i < SHAPES; i++)
        if (strcmp(shapes[i].op, op) == 0) return shapes[i].text;
    return "";
}

bool lb_op_has_format(const lb_op *op) {
    for (unsigned i = 0; i < op->in_count; i++)
        if (strcmp(op->in[i].format, "T") == 0) return true;
    for (unsigned i = 0; i < op->out_count; i++)
        if (strcmp(op->out[i].format, "T") == 0) return true;
    return false;
}

static bool has_data(const lb_op *op) {
    for (unsigned i = 0; i < op->in_count; i++)
        if (op->in[i].fill[0] == 0 || strcmp(op->in[i].fill, "data") == 0) return true;
    return false;
}

static bool proves_nothing(const lb_op_case *x) {
    for (size_t i = 0; i < sizeof vacuous / sizeof vacuous[0]; i++)
        if (strcmp(vacuous[i].op, x->op->name) == 0 && strcmp(vacuous[i].dist, x->dist) == 0 &&
            (!vacuous[i].format[0] || strcmp(vacuous[i].format, x->format->name) == 0))
            return true;
    return false;
}

bool lb_plan_wants(const lb_parity_options *o, const char *op) {
    for (size_t i = 0; i < o->op_count; i++)
        if (strcmp(o->ops[i], op) == 0) return true;
    return o->op_count == 0;
}

lb_status lb_plan_check_ops(const lb_parity_options *o, lb_error *err) {
    const char *names[256];
    size_t count = 0;
    for (const lb_op *op; count < 256 && (op = lb_op_row(count)) != NULL; count++) names[count] = op->name;
    for (size_t i = 0; i < o->op_count; i++) {
        if (lb_op_find(o->ops[i])) continue;
        const char *near = lb_nearest_name(o->ops[i], names, count);
        return lb_fail(err, LB_E_NAME, "op", "no operator \"%s\"%s%s; `lastbit ops` lists them", o->ops[i], near ? "; did you mean " : "",
                       near ? near : "");
    }
    return LB_OK;
}

static lb_status add_text(lb_plan *p, const char *text, lb_error *err) {
    if (p->count == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 256;
        char **more = realloc(p->texts, capacity * sizeof *more);
        if (!more) return lb_fail(err, LB_E_MEMORY, "parity", "no memory for the plan");
        p->texts = more;
        p->capacity = capacity;
    }
    char *copy = strdup(text);
    if (!copy) return lb_fail(err, LB_E_MEMORY, "parity", "no memory for the plan");
    p->texts[p->count++] = copy;
    return LB_OK;
}

/* The case in full, as it is printed; the pattern is looked for in that. */
static lb_status add_case(lb_plan *p, const lb_parity_options *o, const lb_op *op, const char *format, const char *shape, const char *more,
                          lb_error *err) {
    char text[LB_OP_TEXT], full[LB_OP_TEXT];
    lb_op_case *x;
    snprintf(text, sizeof text, "op=%s %s%s %s %s", op->name, format ? "fmt=" : "", format ? format : "", shape, more);
    if (!strstr(text, "seed=") && o->seed > 1) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, " seed=%llu", (unsigned long long)o->seed);
    }
    LB_TRY(lb_op_case_open(&x, text, err));
    lb_op_case_text(x, full, sizeof full);
    const bool vain = proves_nothing(x);
    lb_op_case_close(x);
    if (vain) return LB_OK;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->texts[i], full) == 0) return LB_OK;
    return !o->pattern || strstr(full, o->pattern) ? add_text(p, full, err) : LB_OK;
}

static lb_status add_formats(lb_plan *p, const lb_parity_options *o, const lb_op *op, const char *shape, const char *more, lb_error *err) {
    if (!lb_op_has_format(op)) return add_case(p, o, op, NULL, shape, more, err);
    for (size_t f = 0; f < FORMATS; f++) LB_TRY(add_case(p, o, op, formats[f], shape, more, err));
    return LB_OK;
}

/* The rows of one operator; those of the quick plan in f32 only, beside the first. */
static lb_status add_shapes(lb_plan *p, const lb_parity_options *o, const lb_op *op, lb_error *err) {
    bool first = true;
    for (size_t i = 0; i < SHAPES; i++) {
        if (strcmp(shapes[i].op, op->name) != 0 || (o->quick && shapes[i].size != QUICK)) continue;
        if (o->quick && !first)
            LB_TRY(add_case(p, o, op, lb_op_has_format(op) ? "f32" : NULL, shapes[i].text, "", err));
        else
            LB_TRY(add_formats(p, o, op, shapes[i].text, "", err));
        first = false;
    }
    return first ? add_formats(p, o, op, "", "", err) : LB_OK; /* a row of ops.def that has no plan of its own */
}

static lb_status add_dists(lb_plan *p, const lb_parity_options *o, const lb_op *op, lb_error *err) {
    static const char *const magnitudes[] = {"magnitude=0.001", "magnitude=8"};
    const char *shape = lb_plan_first_shape(op->name), *dist;
    if (!has_data(op)) return LB_OK;
    for (size_t d = 1; (dist = lb_op_dist_name(d)) != NULL; d++) {
        char more[64];
        snprintf(more, sizeof more, "dist=%s", dist);
        if (!o->quick)
            LB_TRY(add_formats(p, o, op, shape, more, err));
        else if (d == 1)
            LB_TRY(add_case(p, o, op, lb_op_has_format(op) ? "f32" : NULL, shape, more, err));
    }
    for (size_t i = 0; i < 2 && !o->quick; i++)
        if (!strstr(shape, "magnitude")) LB_TRY(add_formats(p, o, op, shape, magnitudes[i], err));
    return LB_OK;
}

static lb_status add_all(lb_plan *p, const lb_parity_options *o, lb_error *err) {
    const lb_op *op;
    for (size_t i = 0; i < o->case_count; i++) LB_TRY(add_text(p, o->cases[i], err));
    if (o->case_count) return LB_OK;
    LB_TRY(lb_plan_check_ops(o, err));
    for (size_t i = 0; (op = lb_op_row(i)) != NULL; i++) {
        if (!lb_plan_wants(o, op->name)) continue;
        LB_TRY(add_shapes(p, o, op, err));
        LB_TRY(add_dists(p, o, op, err));
    }
    return LB_OK;
}

lb_status lb_plan_open(lb_plan *p, const lb_parity_options *o, lb_error *err) {
    *p = (lb_plan){0};
    const lb_status s = add_all(p, o, err);
    if (s != LB_OK) lb_plan_close(p);
    return s;
}

void lb_plan_close(lb_plan *p) {
    for (size_t i = 0; i < p->count; i++) free(p->texts[i]);
    free(p->texts);
    *p = (lb_plan){0};
}
