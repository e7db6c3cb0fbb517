/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The reference product. Each element is first summed in f64 with a bound on its error; where that interval does not decide the
 * rounding to the output format, it is summed again in integers, exactly. */
#include "lastbit/refs.h"
#include "formats/exact_sum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#ifdef __FAST_MATH__
#error "the reference needs IEEE arithmetic: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

/* Chosen rows of A or columns of B as doubles (exact for every format). */
typedef struct lines {
    double *values; /* [count][k] */
    bool *special;  /* [count]: holds NaN or Inf */
} lines;

static void lines_free(lines *l) {
    free(l->values);
    free(l->special);
}

static lb_status lines_load(lines *out, const lb_mat *m, const size_t *index, size_t count, lb_error *err) {
    const size_t k = m->cols;
    if (k && count > SIZE_MAX / sizeof(double) / k) return lb_fail(err, LB_E_MEMORY, "reference", "operands too large");
    *out = (lines){malloc(count * k * sizeof(double) + 1), calloc(count + 1, sizeof(bool))};
    if (!out->values || !out->special) return lb_fail(err, LB_E_MEMORY, "reference", "no memory for %zu lines of %zu values", count, k);
    for (size_t i = 0; i < count; i++) {
        for (size_t p = 0; p < k; p++) {
            const double v = lb_to_double(m->format, lb_mat_code(m, index ? index[i] : i, p));
            out->values[i * k + p] = v;
            if (!isfinite(v)) out->special[i] = true;
        }
    }
    return LB_OK;
}

enum { LANES = 8 };

/* sum a*b and sum |a*b|, in eight lanes that a compiler can keep in vectors; the error bound holds for any order. */
static void dot_f64(const double *a, const double *b, size_t k, double *sum, double *gauge) {
    double s[LANES] = {0}, g[LANES] = {0};
    size_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        for (int l = 0; l < LANES; l++) {
            const double x = a[p + l] * b[p + l];
            s[l] += x;
            g[l] += fabs(x);
        }
    }
    for (; p < k; p++) {
        s[0] += a[p] * b[p];
        g[0] += fabs(a[p] * b[p]);
    }
    *sum = 0;
    *gauge = 0;
    for (int l = 0; l < LANES; l++) {
        *sum += s[l];
        *gauge += g[l];
    }
}

/* IEEE 754: any NaN, Inf times zero, or Infs of both signs make NaN; else Inf wins. Only for rows or columns that hold one. */
static lb_value special_dot(const double *a, const double *b, size_t k, double c) {
    bool plus = c == INFINITY, minus = c == -INFINITY, nan = isnan(c);
    for (size_t p = 0; p < k; p++) {
        if (isfinite(a[p]) && isfinite(b[p])) continue;
        const bool negative = signbit(a[p]) != signbit(b[p]);
        nan = nan || isnan(a[p]) || isnan(b[p]) || a[p] == 0 || b[p] == 0;
        plus = plus || !negative;
        minus = minus || negative;
    }
    if (nan || (plus && minus)) return (lb_value){.cls = LB_NAN};
    return plus || minus ? (lb_value){.cls = LB_INF, .negative = minus} : (lb_value){.cls = LB_FINITE};
}

static lb_value exact_dot(const double *a, const double *b, size_t k, double c) {
    lb_exact_sum s;
    lb_exact_sum_clear(&s);
    for (size_t p = 0; p < k; p++) {
        const lb_value y = lb_value_of(b[p]);
        lb_exact_sum_add(&s, lb_value_of(a[p]), &y);
    }
    lb_exact_sum_add(&s, lb_value_of(c), NULL);
    return lb_exact_sum_value(&s);
}

typedef struct element {
    uint64_t code;
    double error, gauge;
} element;

/* One finite or special element of the product. */
static element reference_element(const lb_format *out, lb_reference_mode mode, const double *a, const double *b, size_t k, double c,
                                 bool special) {
    if (special) {
        const lb_value v = special_dot(a, b, k, c);
        if (v.cls != LB_FINITE) return (element){lb_encode(out, v, NULL, NULL), 0, INFINITY};
    }
    double sum, gauge;
    dot_f64(a, b, k, &sum, &gauge);
    sum += c;
    gauge += fabs(c);
    /* k products and k + 1 sums of relative error 2^-53 each, an f64 underflow for each product, and slack for rounding here */
    double error = ((double)k + 3) * 0x1p-53 * gauge * (1 + 0x1p-30) + ((double)k + 1) * 0x1p-1074;
    if (!(error < INFINITY) || !isfinite(sum)) error = INFINITY;
    if (mode == LB_REFERENCE_F64) return (element){lb_from_double(out, sum), error, gauge};
    if (mode == LB_REFERENCE_AUTO && error < INFINITY) {
        const double low = nextafter(sum - error, -INFINITY), high = nextafter(sum + error, INFINITY);
        const uint64_t code = lb_from_double(out, low);
        if (code == lb_from_double(out, high)) return (element){code, 0, gauge};
    }
    return (element){lb_encode(out, exact_dot(a, b, k, c), NULL, NULL), 0, gauge};
}

lb_status lb_reference_matmul(const lb_case *x, lb_reference_mode mode, const size_t *rows, size_t row_count, const size_t *cols,
                              size_t col_count, lb_mat *code, double *error, double *gauge, lb_error *err) {
    lb_status s = lb_case_check(x, err);
    if (s != LB_OK) return s;
    const size_t m = rows ? row_count : lb_case_m(x), n = cols ? col_count : lb_case_n(x), k = lb_case_k(x);
    if (code->rows != m || code->cols != n || code->format != x->out)
        return lb_fail(err, LB_E_SHAPE, "reference", "room for %zux%zu %s; %zux%zu %s are asked for", code->rows, code->cols,
                       code->format->name, m, n, x->out->name);
    lines a = {0}, b = {0};
    const lb_mat b_lines = lb_mat_transposed(lb_case_b(x));
    s = lines_load(&a, &x->a, rows, m, err);
    if (s == LB_OK) s = lines_load(&b, &b_lines, cols, n, err);
    for (size_t i = 0; s == LB_OK && i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            const double c = x->c.codes ? lb_to_double(x->c.format, lb_mat_code(&x->c, rows ? rows[i] : i, cols ? cols[j] : j)) : 0;
            const bool special = a.special[i] || b.special[j] || !isfinite(c);
            const element e = reference_element(x->out, mode, a.values + i * k, b.values + j * k, k, c, special);
            lb_store_code(lb_mat_at(code, i, j), code->format->bytes, e.code);
            if (error) error[i * n + j] = e.error;
            if (gauge) gauge[i * n + j] = e.gauge;
        }
    }
    lines_free(&a);
    lines_free(&b);
    return s;
}
