/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/plain.h"

#include <math.h>
#include <stdlib.h>

static bool is_subnormal(const lb_format *f, uint64_t code) {
    if (f->special == LB_SPECIAL_INT || f->special == LB_SPECIAL_E8M0) return false;
    const uint64_t exponent = ((UINT64_C(1) << f->exp_bits) - 1) << f->man_bits, mantissa = (UINT64_C(1) << f->man_bits) - 1;
    code >>= f->pad_bits;
    return (code & exponent) == 0 && (code & mantissa) != 0;
}

uint64_t lb_count_subnormals(const lb_mat *m) {
    uint64_t count = 0;
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++) count += is_subnormal(m->format, lb_mat_code(m, r, c));
    return count;
}

static lb_status room(void **out, size_t rows, size_t cols, size_t bytes, lb_error *err) {
    *out = !cols || rows < SIZE_MAX / 16 / cols ? calloc(rows * cols + 1, bytes) : NULL;
    return *out ? LB_OK : lb_fail(err, LB_E_MEMORY, "check", "no memory for %zux%zu elements", rows, cols);
}

typedef enum subnormal_as { AS_ZERO, AS_LEAST_NORMAL } subnormal_as;

/* A row-major copy with those as something else. */
static lb_status copy_without_subnormals(const lb_mat *m, subnormal_as as, lb_mat *out, void **owned, lb_error *err) {
    const lb_status s = room(owned, m->rows, m->cols, (size_t)m->format->bytes, err);
    if (s != LB_OK) return s;
    *out = lb_mat_of(m->format, *owned, m->rows, m->cols);
    const uint64_t other = as == AS_ZERO ? 0 : UINT64_C(1) << (m->format->man_bits + m->format->pad_bits);
    for (size_t r = 0; r < m->rows; r++) {
        for (size_t c = 0; c < m->cols; c++) {
            const uint64_t code = lb_mat_code(m, r, c);
            lb_store_code(lb_mat_at(out, r, c), m->format->bytes, is_subnormal(m->format, code) ? other : code);
        }
    }
    return LB_OK;
}

/* One row of floats of a matrix. */
static void load_row(const lb_mat *m, size_t row, float *out) {
    for (size_t c = 0; c < m->cols; c++) out[c] = (float)lb_to_double(m->format, lb_mat_code(m, row, c));
}

/* sum |a||b| of such copies. The codes of their product are of no interest. */
static lb_status gauge_without_subnormals(const lb_case *whole, subnormal_as as, double *gauge, lb_error *err) {
    lb_case x = *whole;
    const lb_mat b = lb_case_b(whole);
    const size_t m = lb_case_m(whole), n = lb_case_n(whole);
    void *codes = NULL, *own_a = NULL, *own_b = NULL;
    lb_status s = copy_without_subnormals(&whole->a, as, &x.a, &own_a, err);
    if (s == LB_OK) s = copy_without_subnormals(&b, as, &x.b, &own_b, err);
    if (s == LB_OK) s = room(&codes, m, n, (size_t)x.out->bytes, err);
    x.b_transposed = false;
    lb_mat out = lb_mat_of(x.out, codes, m, n);
    if (s == LB_OK) s = lb_reference_matmul(&x, LB_REFERENCE_F64, NULL, 0, NULL, 0, &out, NULL, gauge, err);
    free(codes);
    free(own_a);
    free(own_b);
    return s;
}

lb_status lb_weigh_subnormals(const lb_case *x, const lb_contract *c, double *gauge, double *lost, lb_error *err) {
    const size_t count = lb_case_m(x) * lb_case_n(x);
    lb_status s = LB_OK;
    if (lost) s = gauge_without_subnormals(x, AS_ZERO, lost, err);
    for (size_t i = 0; s == LB_OK && lost && i < count; i++) lost[i] = fmax(0, gauge[i] - lost[i]); /* Inf - Inf: of no number */
    if (s == LB_OK && c->reduction.step > 1) s = gauge_without_subnormals(x, AS_LEAST_NORMAL, gauge, err);
    return s;
}

lb_status lb_plain_matmul(const lb_case *x, lb_mat *out, lb_error *err) {
    const lb_mat b = lb_case_b(x);
    const size_t m = lb_case_m(x), n = lb_case_n(x), k = lb_case_k(x);
    void *wide = NULL, *sums = NULL, *line = NULL;
    lb_status s = room(&wide, k, n, sizeof(float), err);
    if (s == LB_OK) s = room(&sums, 1, n, sizeof(float), err);
    if (s == LB_OK) s = room(&line, 1, k, sizeof(float), err);
    float *bs = wide, *d = sums, *a = line;
    for (size_t p = 0; s == LB_OK && p < k; p++) load_row(&b, p, bs + p * n);
    for (size_t i = 0; s == LB_OK && i < m; i++) {
        load_row(&x->a, i, a);
        for (size_t j = 0; j < n; j++) d[j] = 0;
        for (size_t p = 0; p < k; p++)
            for (size_t j = 0; j < n; j++) d[j] += a[p] * bs[p * n + j];
        for (size_t j = 0; j < n; j++) {
            const double c = x->c.codes ? lb_to_double(x->c.format, lb_mat_code(&x->c, i, j)) : 0;
            lb_store_code(lb_mat_at(out, i, j), out->format->bytes, lb_from_double(out->format, (double)(d[j] + (float)c)));
        }
    }
    free(wide);
    free(sums);
    free(line);
    return s;
}
