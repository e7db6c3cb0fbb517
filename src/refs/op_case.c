/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A case from its text and back; every size is bounded before anything is allocated. */
#include "base/expr.h"
#include "base/try.h"
#include "refs/op_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WHOLE = 1 << 24, MAX_ELEMENTS = 1 << 26, MAX_TEXT = 4096, MAX_WORD = 96 };

static const char place[] = "operator case";
static const char *const keys[] = {"op", "fmt", "dist", "magnitude", "seed"};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

typedef struct lb_word {
    char key[MAX_WORD], value[MAX_WORD];
} lb_word;

/* ---- words ------------------------------------------------------------------------------------------------------------------ */

static bool is_gap(char c) {
    return c == ' ' || c == ',' || c == '\t' || c == '\n';
}

/* The next key=value; *found false at the end. */
static lb_status next_word(const char **p, lb_word *w, bool *found, lb_error *err) {
    while (is_gap(**p)) ++*p;
    *found = **p != 0;
    if (!*found) return LB_OK;
    const char *start = *p, *equals = NULL;
    for (; **p && !is_gap(**p); ++*p)
        if (**p == '=' && !equals) equals = *p;
    const size_t length = (size_t)(*p - start);
    if (!equals || equals == start || equals + 1 == *p)
        return lb_fail(err, LB_E_ARG, place, "\"%.*s\" is not key=value", (int)(length < 60 ? length : 60), start);
    const size_t key = (size_t)(equals - start), value = (size_t)(*p - equals) - 1;
    if (key >= MAX_WORD || value >= MAX_WORD) return lb_fail(err, LB_E_ARG, place, "\"%.40s…\" is too long", start);
    memcpy(w->key, start, key);
    memcpy(w->value, equals + 1, value);
    w->key[key] = w->value[value] = 0;
    return LB_OK;
}

static lb_status unknown_name(const char *what, const char *name, const char *const *names, size_t count, const char *more, lb_error *err) {
    const char *near = lb_nearest_name(name, names, count);
    return lb_fail(err, LB_E_NAME, place, "no %s \"%s\"%s%s%s; %s", what, name, near ? "; did you mean \"" : "", near ? near : "",
                   near ? "\"?" : "", more);
}

static lb_status find_op(const char *name, const lb_op **out, lb_error *err) {
    const char *names[128];
    size_t count = 0;
    *out = lb_op_find(name);
    if (*out) return LB_OK;
    for (; lb_op_row(count) && count < sizeof names / sizeof names[0]; count++) names[count] = lb_op_row(count)->name;
    return unknown_name("operator", name, names, count, "`lastbit ops` lists them", err);
}

static lb_status check_dist(const char *name, lb_error *err) {
    const char *names[64];
    size_t count = 0;
    for (; lb_op_dist_name(count) && count < sizeof names / sizeof names[0]; count++) {
        names[count] = lb_op_dist_name(count);
        if (strcmp(names[count], name) == 0) return LB_OK;
    }
    return unknown_name("distribution", name, names, count, "`lastbit draws` lists them", err);
}

static lb_status unknown_key(const lb_op *op, const char *key, lb_error *err) {
    const char *names[LB_OP_PARAMS + KEY_COUNT];
    char more[400] = "it takes";
    size_t count = 0, used = strlen(more);
    for (; count < op->param_count; count++) names[count] = op->params[count].name;
    for (size_t i = 0; i < KEY_COUNT; i++) names[count++] = keys[i];
    for (size_t i = 0; i < count && used < sizeof more; i++) used += (size_t)snprintf(more + used, sizeof more - used, " %s", names[i]);
    char what[64];
    snprintf(what, sizeof what, "parameter of %s", op->name);
    return unknown_name(what, key, names, count, more, err);
}

/* ---- values ----------------------------------------------------------------------------------------------------------------- */

static lb_status read_real(const char *key, const char *text, double *out, lb_error *err) {
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out)) return lb_fail(err, LB_E_ARG, place, "%s=%s: it should be a finite number", key, text);
    return LB_OK;
}

static lb_status read_param(const lb_op_param *p, const char *text, double *out, lb_error *err) {
    LB_TRY(read_real(p->name, text, out, err));
    if (!p->whole) {
        *out = (double)(float)*out; /* what a kernel gets */
        return isfinite(*out) ? LB_OK : lb_fail(err, LB_E_ARG, place, "%s=%s: beyond f32", p->name, text);
    }
    if (*out != floor(*out) || fabs(*out) > MAX_WHOLE)
        return lb_fail(err, LB_E_ARG, place, "%s=%s: it should be a whole number up to %d", p->name, text, MAX_WHOLE);
    return LB_OK;
}

static lb_status read_seed(const char *text, uint64_t *out, lb_error *err) {
    *out = 0;
    for (const char *p = text; *p; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
            return lb_fail(err, LB_E_ARG, place, "seed=%s: it should be a whole number below 2^64", text);
    return LB_OK;
}

static lb_status read_format(const char *text, const lb_format **out, lb_error *err) {
    static const char *const names[] = {"f32", "f16", "bf16", "f64"}; /* f64: true values alone */
    for (size_t i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = lb_format_find(text);
            return LB_OK;
        }
    return unknown_name("element format", text, names, 3, "f32, f16 and bf16 are", err);
}

static lb_status read_word(lb_op_case *x, const lb_word *w, bool given, lb_error *err) {
    if (strcmp(w->key, "op") == 0) return LB_OK; /* found before */
    if (strcmp(w->key, "fmt") == 0) return read_format(w->value, &x->format, err);
    if (given && (strcmp(w->key, "dist") == 0 || strcmp(w->key, "seed") == 0))
        return lb_fail(err, LB_E_ARG, place, "%s= draws inputs, and these are given", w->key);
    if (strcmp(w->key, "seed") == 0) return read_seed(w->value, &x->seed, err);
    if (strcmp(w->key, "magnitude") == 0) {
        LB_TRY(read_real(w->key, w->value, &x->magnitude, err));
        return x->magnitude > 0 ? LB_OK : lb_fail(err, LB_E_ARG, place, "magnitude=%s: it should be above 0", w->value);
    }
    if (strcmp(w->key, "dist") == 0) {
        LB_TRY(check_dist(w->value, err));
        snprintf(x->dist, sizeof x->dist, "%.23s", w->value);
        return LB_OK;
    }
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (strcmp(x->op->params[i].name, w->key) == 0) return read_param(&x->op->params[i], w->value, &x->params[i], err);
    return unknown_key(x->op, w->key, err);
}

/* ---- shapes ----------------------------------------------------------------------------------------------------------------- */

static size_t vars_of(const lb_op_case *x, lb_expr_var *vars) {
    size_t count = 0;
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (x->op->params[i].whole) vars[count++] = (lb_expr_var){x->op->params[i].name, (int64_t)x->params[i]};
    return count;
}

/* A side of a need: a real parameter's name, or an expression over the whole ones. */
static lb_status side_of(const lb_op_case *x, const char *text, const lb_expr_var *vars, size_t count, double *out, lb_error *err) {
    int64_t whole = 0;
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (!x->op->params[i].whole && strcmp(x->op->params[i].name, text) == 0) {
            *out = x->params[i];
            return LB_OK;
        }
    LB_TRY(lb_expr_eval(text, vars, count, x->op->name, &whole, err));
    *out = (double)whole;
    return LB_OK;
}

/* One word of `needs`: a side, <= or ==, a side. */
static lb_status check_need(const lb_op_case *x, const char *word, size_t length, const lb_expr_var *vars, size_t count, lb_error *err) {
    char text[64];
    double a, b;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    char *sign = strstr(text, "<=");
    const bool equal = !sign;
    if (equal) sign = strstr(text, "==");
    if (!sign) return lb_fail(err, LB_E_ARG, x->op->name, "its row needs \"%s\", which has no <= and no ==", text);
    *sign = 0;
    LB_TRY(side_of(x, text, vars, count, &a, err));
    LB_TRY(side_of(x, sign + 2, vars, count, &b, err));
    if (equal ? a == b : a <= b) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, x->op->name, "%.*s must hold, and it is %.9g and %.9g", (int)length, word, a, b);
}

static lb_status check_needs(const lb_op_case *x, lb_error *err) {
    lb_expr_var vars[LB_OP_PARAMS];
    const size_t count = vars_of(x, vars);
    for (const char *p = x->op->needs; *p;) {
        const size_t length = strcspn(p, " ");
        LB_TRY(check_need(x, p, length, vars, count, err));
        p += length + (p[length] == ' ');
    }
    return LB_OK;
}

static lb_status shape_of(const lb_op_case *x, const lb_op_port *port, lb_array *a, lb_error *err) {
    lb_expr_var vars[LB_OP_PARAMS];
    const size_t count = vars_of(x, vars);
    size_t elements = 1;
    a->format = strcmp(port->format, "T") == 0 ? x->format : lb_format_find(port->format);
    if (!a->format) return lb_fail(err, LB_E_FORMAT, x->op->name, "%s: no format \"%s\"", port->name, port->format);
    for (unsigned i = 0; i < LB_OP_RANK; i++) a->dims[i] = 1;
    a->rank = 0;
    for (const char *p = port->shape; *p && a->rank < LB_OP_RANK;) {
        char text[64];
        const size_t length = strcspn(p, ",");
        int64_t n;
        snprintf(text, sizeof text, "%.*s", (int)length, p);
        LB_TRY(lb_expr_eval(text, vars, count, x->op->name, &n, err));
        if (n < 1)
            return lb_fail(err, LB_E_SHAPE, x->op->name, "%s[%s]: %s is %lld; it should be 1 or more", port->name, port->shape, text,
                           (long long)n);
        if (n > MAX_ELEMENTS || elements > (size_t)MAX_ELEMENTS / (size_t)n)
            return lb_fail(err, LB_E_SHAPE, x->op->name, "%s[%s] has more than %d elements", port->name, port->shape, MAX_ELEMENTS);
        elements *= (size_t)n;
        a->dims[a->rank++] = (size_t)n;
        p += length + (p[length] == ',');
    }
    return LB_OK;
}

static lb_status shape_all(lb_op_case *x, lb_error *err) {
    size_t all = 0;
    for (unsigned i = 0; i < x->op->in_count; i++) LB_TRY(shape_of(x, &x->op->in[i], &x->in[i], err));
    for (unsigned i = 0; i < x->op->out_count; i++) LB_TRY(shape_of(x, &x->op->out[i], &x->out[i], err));
    for (unsigned i = 0; i < x->op->in_count; i++) all += lb_array_count(&x->in[i]);
    for (unsigned i = 0; i < x->op->out_count; i++) all += lb_array_count(&x->out[i]);
    if (all > 2 * (size_t)MAX_ELEMENTS)
        return lb_fail(err, LB_E_SHAPE, x->op->name, "inputs and outputs have more than %d elements", 2 * MAX_ELEMENTS);
    return check_needs(x, err);
}

static lb_status make_array(lb_array *a, lb_error *err) {
    a->codes = calloc(lb_array_count(a), (size_t)a->format->bytes);
    return a->codes ? LB_OK : lb_fail(err, LB_E_MEMORY, place, "out of memory");
}

static lb_status make_all(lb_op_case *x, lb_error *err) {
    for (unsigned i = 0; i < x->op->in_count; i++) LB_TRY(make_array(&x->in[i], err));
    for (unsigned i = 0; i < x->op->out_count; i++) LB_TRY(make_array(&x->out[i], err));
    return LB_OK;
}

/* ---- open ------------------------------------------------------------------------------------------------------------------- */

/* Everything but the arrays' codes. */
static lb_status read_case(lb_op_case *x, const char *text, bool given, lb_error *err) {
    lb_word w;
    bool found;
    if (!text || strlen(text) > MAX_TEXT) return lb_fail(err, LB_E_ARG, place, "text of at most %d characters is wanted", MAX_TEXT);
    for (const char *p = text;;) {
        LB_TRY(next_word(&p, &w, &found, err));
        if (!found) break;
        if (strcmp(w.key, "op") != 0) continue;
        if (x->op) return lb_fail(err, LB_E_ARG, place, "op= stands twice");
        LB_TRY(find_op(w.value, &x->op, err));
    }
    if (!x->op) return lb_fail(err, LB_E_ARG, place, "op=NAME is missing; `lastbit ops` lists the names");
    for (unsigned i = 0; i < x->op->param_count; i++)
        x->params[i] = x->op->params[i].whole ? x->op->params[i].value : (double)(float)x->op->params[i].value;
    for (const char *p = text;;) {
        LB_TRY(next_word(&p, &w, &found, err));
        if (!found) return shape_all(x, err);
        LB_TRY(read_word(x, &w, given, err));
    }
}

static lb_status start(lb_op_case **out, lb_error *err) {
    *out = calloc(1, sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, place, "out of memory");
    (*out)->format = lb_format_row(LB_F32);
    (*out)->magnitude = 1;
    (*out)->seed = 1;
    snprintf((*out)->dist, sizeof(*out)->dist, "uniform");
    return LB_OK;
}

lb_status lb_op_case_open(lb_op_case **out, const char *text, lb_error *err) {
    lb_op_case *x;
    *out = NULL;
    LB_TRY(start(&x, err));
    lb_status s = read_case(x, text, false, err);
    if (s == LB_OK) s = make_all(x, err);
    if (s != LB_OK) {
        lb_op_case_close(x);
        return s;
    }
    lb_op_draw(x);
    *out = x;
    return LB_OK;
}

static lb_status take_array(const lb_op *op, unsigned i, lb_array *to, const lb_array *from, lb_error *err) {
    if (from->format) {
        bool same = from->rank == to->rank;
        for (unsigned d = 0; same && d < to->rank; d++) same = from->dims[d] == to->dims[d];
        if (from->format != to->format)
            return lb_fail(err, LB_E_FORMAT, op->name, "%s is %s; it should be %s", op->in[i].name, from->format->name, to->format->name);
        if (!same)
            return lb_fail(err, LB_E_SHAPE, op->name, "%s should be [%s], %zu elements", op->in[i].name, op->in[i].shape,
                           lb_array_count(to));
    }
    if (!from->codes) return lb_fail(err, LB_E_ARG, op->name, "%s has no codes", op->in[i].name);
    memcpy(to->codes, from->codes, lb_array_count(to) * (size_t)to->format->bytes);
    return LB_OK;
}

lb_status lb_op_case_of(lb_op_case **out, const char *text, const lb_array *in, size_t in_count, lb_error *err) {
    lb_op_case *x;
    *out = NULL;
    LB_TRY(start(&x, err));
    lb_status s = read_case(x, text, true, err);
    if (s == LB_OK && in_count != x->op->in_count)
        s = lb_fail(err, LB_E_SHAPE, x->op->name, "%zu inputs; it has %u", in_count, x->op->in_count);
    if (s == LB_OK) s = make_all(x, err);
    for (unsigned i = 0; s == LB_OK && i < in_count; i++) s = take_array(x->op, i, &x->in[i], &in[i], err);
    if (s != LB_OK) {
        lb_op_case_close(x);
        return s;
    }
    snprintf(x->dist, sizeof x->dist, "given");
    *out = x;
    return LB_OK;
}

void lb_op_case_close(lb_op_case *x) {
    if (!x) return;
    for (unsigned i = 0; i < LB_OP_INPUTS; i++) free(x->in[i].codes);
    for (unsigned i = 0; i < LB_OP_OUTPUTS; i++) free(x->out[i].codes);
    free(x);
}

/* ---- and back --------------------------------------------------------------------------------------------------------------- */

size_t lb_op_case_text(const lb_op_case *x, char *text, size_t size) {
    char buffer[LB_OP_TEXT];
    size_t used = (size_t)snprintf(buffer, sizeof buffer, "op=%s", x->op->name);
    for (unsigned i = 0; i < x->op->param_count && used < sizeof buffer; i++) {
        const lb_op_param *p = &x->op->params[i];
        const bool usual = x->params[i] == (p->whole ? p->value : (double)(float)p->value);
        if (usual && (!p->whole || p->value == 0)) continue; /* sizes always, the rest where it says something */
        used += (size_t)snprintf(buffer + used, sizeof buffer - used, " %s=%.9g", p->name, x->params[i]);
    }
    if (used < sizeof buffer) used += (size_t)snprintf(buffer + used, sizeof buffer - used, " fmt=%s", x->format->name);
    if (used < sizeof buffer && strcmp(x->dist, "given") != 0) {
        char magnitude[32];
        for (int digits = 1; digits <= 17; digits++) { /* the shortest that reads back */
            snprintf(magnitude, sizeof magnitude, "%.*g", digits, x->magnitude);
            if (strtod(magnitude, NULL) == x->magnitude) break;
        }
        used += (size_t)snprintf(buffer + used, sizeof buffer - used, " dist=%s magnitude=%s seed=%llu", x->dist, magnitude,
                                 (unsigned long long)x->seed);
    }
    if (size) snprintf(text, size, "%s", buffer);
    return used;
}
