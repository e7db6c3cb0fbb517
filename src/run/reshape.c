/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/reshape.h"
#include "base/try.h"
#include "run/fleet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether dimension i of a port is that size. */
static bool has_size(const lb_op_port *port, unsigned i, const char *size) {
    const char *p = port->shape;
    for (; i; i--) {
        p += strcspn(p, ",");
        if (!*p++) return false;
    }
    const size_t n = strcspn(p, ",");
    return n == strlen(size) && strncmp(p, size, n) == 0;
}

static uint64_t fill_code(const lb_format *f, lb_pad_fill fill) {
    switch (fill) {
    case LB_PAD_ZERO: return lb_from_double(f, 0);
    case LB_PAD_MINUS_INF: return lb_from_double(f, -INFINITY);
    case LB_PAD_LARGE: return lb_from_double(f, 1000);
    }
    return 0;
}

/* Places of an array, the last dimension fastest. */
typedef struct places {
    size_t at[LB_OP_RANK];
} places;

static bool next_place(places *p, const lb_array *a) {
    for (unsigned i = a->rank; i-- > 0;) {
        if (++p->at[i] < a->dims[i]) return true;
        p->at[i] = 0;
    }
    return false;
}

/* Where place p of a lies in b, whose dimensions of that size begin at from; false if b has it not. */
static bool place_in(const places *p, const lb_array *b, const lb_op_port *port, const char *size, size_t from, size_t *index) {
    *index = 0;
    for (unsigned i = 0; i < b->rank; i++) {
        const size_t at = p->at[i] + (has_size(port, i, size) ? from : 0);
        if (at >= b->dims[i]) return false;
        *index = *index * b->dims[i] + at;
    }
    return true;
}

static lb_status resize(lb_array *to, const lb_array *from, const lb_op_port *port, const char *size, size_t begin, size_t count,
                        lb_pad_fill fill, lb_error *err) {
    const size_t width = (size_t)from->format->bytes;
    places p = {{0}};
    *to = *from;
    for (unsigned i = 0; i < to->rank; i++)
        if (has_size(port, i, size)) to->dims[i] = count;
    unsigned char *codes = malloc(lb_array_count(to) * width + 1);
    to->codes = codes;
    if (!codes) return lb_fail(err, LB_E_MEMORY, "invariance", "no memory");
    for (size_t k = 0; k < lb_array_count(to); k++) {
        size_t index;
        if (place_in(&p, from, port, size, begin, &index))
            memcpy(codes + k * width, (const unsigned char *)from->codes + index * width, width);
        else
            lb_store_code(codes + k * width, from->format->bytes, fill_code(from->format, fill));
        next_place(&p, to);
    }
    return LB_OK;
}

static void text_of(const lb_op_case *x, const char *size, size_t from, size_t count, char *text, size_t room) {
    size_t n = (size_t)snprintf(text, room, "op=%s fmt=%s", x->op->name, x->format->name);
    for (unsigned i = 0; i < x->op->param_count && n < room; i++) {
        const lb_op_param *p = &x->op->params[i];
        double value = x->params[i];
        if (strcmp(p->name, size) == 0) value = (double)count;
        if (strcmp(p->name, "q_offset") == 0 && strcmp(size, "m") == 0) value += (double)from;
        n += (size_t)snprintf(text + n, room - n, p->whole ? " %s=%.0f" : " %s=%.9g", p->name, value);
    }
}

lb_status lb_case_reshape(lb_op_case **out, const lb_op_case *x, const char *size, size_t from, size_t count, lb_pad_fill fill,
                          lb_error *err) {
    lb_array in[LB_OP_INPUTS] = {{0}};
    char text[LB_OP_TEXT];
    lb_status s = LB_OK;
    *out = NULL;
    for (unsigned i = 0; i < x->op->in_count && s == LB_OK; i++) s = resize(&in[i], &x->in[i], &x->op->in[i], size, from, count, fill, err);
    text_of(x, size, from, count, text, sizeof text);
    if (s == LB_OK) s = lb_op_case_of(out, text, in, x->op->in_count, err);
    for (unsigned i = 0; i < x->op->in_count; i++) free(in[i].codes);
    return s;
}

double lb_case_distance(const lb_op_case *x, const lb_op_case *y, const char *size, size_t from, size_t *differ, size_t *compared) {
    double most = 0;
    for (unsigned o = 0; o < x->op->out_count; o++) {
        const lb_array *a = &y->out[o], *b = &x->out[o];
        const lb_format *f = a->format;
        const size_t width = (size_t)f->bytes;
        places p = {{0}};
        for (size_t k = 0; k < lb_array_count(a); k++) {
            size_t index;
            if (place_in(&p, b, &x->op->out[o], size, from, &index)) {
                const uint64_t u = lb_load_code((const unsigned char *)a->codes + k * width, f->bytes);
                const uint64_t v = lb_load_code((const unsigned char *)b->codes + index * width, f->bytes);
                const double d = lb_code_distance(f, u, v);
                ++*compared;
                *differ += u != v && !(lb_code_class(f, u) == LB_NAN && lb_code_class(f, v) == LB_NAN);
                most = fmax(most, d);
            }
            next_place(&p, a);
        }
    }
    return most;
}
