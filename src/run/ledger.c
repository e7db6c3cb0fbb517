/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the error of one element comes from. Every entry is a difference of exact sums, rounded once, at the end. */
#include "lastbit/diagnose.h"
#include "lastbit/gemm.h"
#include "formats/exact_sum.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name, *what;
} entries[LB_LEDGER_COUNT] = {
#define X(id, name, text) [LB_LEDGER_##id] = {name, text},
    LB_LEDGER_LIST(X)
#undef X
};

const char *lb_ledger_name(size_t i) {
    return i < LB_LEDGER_COUNT ? entries[i].name : NULL;
}

const char *lb_ledger_what(size_t i) {
    return i < LB_LEDGER_COUNT ? entries[i].what : NULL;
}

static double sum_value(lb_exact_sum *s) {
    const lb_format *f = lb_format_row(LB_F64);
    return lb_to_double(f, lb_encode(f, lb_exact_sum_value(s), NULL, NULL));
}

static bool add_value(lb_exact_sum *s, lb_value v, bool negate) {
    if (v.cls == LB_NAN || v.cls == LB_INF) return false;
    v.negative = v.negative != negate;
    lb_exact_sum_add(s, v, NULL);
    return true;
}

/* +- the products of row and column; false where one of them is NaN or Inf. */
static bool add_dot(lb_exact_sum *s, const lb_mat *a, const lb_mat *b, size_t row, size_t col, bool negate) {
    for (size_t p = 0; p < a->cols; p++) {
        lb_value x = lb_decode(a->format, lb_mat_code(a, row, p)), y = lb_decode(b->format, lb_mat_code(b, p, col));
        if (x.cls >= LB_INF || y.cls >= LB_INF) return false;
        x.negative = x.negative != negate;
        lb_exact_sum_add(s, x, &y);
    }
    return true;
}

static double difference(double a, double b) {
    lb_exact_sum s;
    lb_exact_sum_clear(&s);
    add_value(&s, lb_value_of(a), false);
    add_value(&s, lb_value_of(b), true);
    return sum_value(&s);
}

/* The unit's result for this element, in its own format. */
static lb_status unit_value(const lb_unit *u, const lb_case *x, const lb_mat *b, size_t row, size_t col, double *out, lb_error *err) {
    uint64_t code = 0;
    lb_mat a_row = x->a, b_col = *b, c = x->c, d = lb_mat_of(lb_format_row(u->d), &code, 1, 1);
    a_row.codes = lb_mat_at(&x->a, row, 0);
    a_row.rows = 1;
    b_col.codes = lb_mat_at(b, 0, col);
    b_col.cols = 1;
    if (c.codes) {
        c.codes = lb_mat_at(&x->c, row, col);
        c.rows = c.cols = 1;
    }
    const lb_status s = lb_gemm(u, &a_row, &b_col, c.codes ? &c : NULL, &d, NULL, err);
    if (s == LB_OK) *out = lb_to_double(d.format, lb_mat_code(&d, 0, 0));
    return s;
}

/* The distance to the next value away from zero, or towards it at the top. */
static double step_at(const lb_format *f, uint64_t code) {
    const uint64_t one = UINT64_C(1) << f->pad_bits;
    const double v = lb_to_double(f, code), up = lb_to_double(f, code + one), down = code >= one ? lb_to_double(f, code - one) : NAN;
    return isfinite(up) ? fabs(up - v) : fabs(v - down);
}

static lb_status check_wide(const lb_mat *wide, const lb_mat *given, const char *name, lb_error *err) {
    if (!wide || (wide->rows == given->rows && wide->cols == given->cols)) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, "ledger", "the wide %s is %zux%zu, %s is %zux%zu", name, wide->rows, wide->cols, name, given->rows,
                   given->cols);
}

/* One element, with the operands that a term is measured against. */
typedef struct element {
    const lb_case *x;
    lb_mat b, wide_a, wide_b; /* b and wide_b as [k][n] */
    size_t row, col;
} element;

/* Add +- (A B + C) of this element; false where something is NaN or Inf. */
static bool add_element(lb_exact_sum *s, const element *e, bool wide, bool negate) {
    const lb_mat *c = &e->x->c;
    if (!add_dot(s, wide ? &e->wide_a : &e->x->a, wide ? &e->wide_b : &e->b, e->row, e->col, negate)) return false;
    return !c->codes || add_value(s, lb_decode(c->format, lb_mat_code(c, e->row, e->col)), negate);
}

/* value - (A B + C), rounded once. */
static double beyond(const element *e, double value, bool wide) {
    lb_exact_sum s;
    lb_exact_sum_clear(&s);
    add_value(&s, lb_value_of(value), false);
    add_element(&s, e, wide, true);
    return sum_value(&s);
}

static lb_status open_element(element *e, const lb_case *x, const lb_mat *wide_a, const lb_mat *wide_b, size_t row, size_t col,
                              lb_error *err) {
    lb_status s = lb_case_check(x, err);
    if (s == LB_OK) s = check_wide(wide_a, &x->a, "A", err);
    if (s == LB_OK) s = check_wide(wide_b, &x->b, "B", err);
    if (s != LB_OK) return s;
    if (row >= lb_case_m(x) || col >= lb_case_n(x))
        return lb_fail(err, LB_E_SHAPE, "ledger", "no element (%zu, %zu) in %zux%zu", row, col, lb_case_m(x), lb_case_n(x));
    *e = (element){.x = x, .b = lb_case_b(x), .row = row, .col = col};
    e->wide_a = wide_a ? *wide_a : x->a;
    e->wide_b = !wide_b ? e->b : x->b_transposed ? lb_mat_transposed(*wide_b) : *wide_b;
    return LB_OK;
}

lb_status lb_error_ledger(const lb_case *x, const lb_mat *wide_a, const lb_mat *wide_b, const lb_unit *unit, size_t row, size_t col,
                          uint64_t actual, lb_ledger *out, lb_error *err) {
    element e;
    lb_exact_sum given, truth, inputs;
    lb_status s = open_element(&e, x, wide_a, wide_b, row, col, err);
    if (s != LB_OK) return s;
    lb_exact_sum_clear(&given);
    lb_exact_sum_clear(&truth);
    if (!isfinite(lb_to_double(x->out, actual)) || !add_element(&given, &e, false, false) || !add_element(&truth, &e, true, false))
        return lb_fail(err, LB_E_ARG, "ledger", "element (%zu, %zu) or one of its operands is NaN or Inf", row, col);
    inputs = given;
    add_element(&inputs, &e, true, true);
    const uint64_t right = lb_encode(x->out, lb_exact_sum_value(&given), NULL, NULL);
    double reached = lb_to_double(x->out, right), result = reached; /* what the known steps give, after the last rounding and before it */
    if (unit) {
        s = unit_value(unit, x, &e.b, row, col, &result, err);
        if (s != LB_OK) return s;
        reached = lb_to_double(x->out, lb_from_double(x->out, result));
    }
    if (!isfinite(reached) || !isfinite(result))
        return lb_fail(err, LB_E_ARG, "ledger", "what should stand at (%zu, %zu) is NaN or Inf", row, col);
    *out =
        (lb_ledger){.row = row, .col = col, .truth = sum_value(&truth), .actual = lb_to_double(x->out, actual), .has_unit = unit != NULL};
    out->step = step_at(x->out, right);
    out->total = beyond(&e, out->actual, true);
    out->entry[LB_LEDGER_INPUTS] = sum_value(&inputs);
    out->entry[LB_LEDGER_ACCUMULATION] = unit ? beyond(&e, result, false) : 0;
    out->entry[LB_LEDGER_OUTPUT] = unit ? difference(reached, result) : beyond(&e, reached, false);
    out->entry[LB_LEDGER_UNEXPLAINED] = difference(out->actual, reached);
    return LB_OK;
}
