/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One element of a product under a contract: what lb_check would allow there, and why. */
#include "base/try.h"
#include "lastbit/run.h"
#include "run/plain.h"

#include <math.h>
#include <stdlib.h>

/* The element's row of the product alone. */
static lb_case row_of(const lb_case *x, size_t row) {
    lb_case one = *x;
    one.a.codes = lb_mat_at(&x->a, row, 0);
    one.a.rows = 1;
    if (!x->c.codes) return one;
    one.c.codes = lb_mat_at(&x->c, row, 0);
    one.c.rows = 1;
    return one;
}

static double rms_of(const lb_mat *row) {
    double sum = 0;
    size_t finite = 0;
    for (size_t j = 0; j < row->cols; j++) {
        const double v = lb_to_double(row->format, lb_mat_code(row, 0, j));
        if (!isfinite(v)) continue;
        sum += v * v;
        finite++;
    }
    return finite ? sqrt(sum / (double)finite) : 0;
}

/* gauge, lost: [n] of room each. */
static lb_status measure(const lb_case *x, const lb_contract *c, size_t col, lb_mat *row, double *gauge, double *lost, lb_limit_input *in,
                         lb_error *err) {
    const bool flushes = c->reduction.flushes_inputs;
    LB_TRY(lb_reference_matmul(x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, row, NULL, gauge, err));
    if (lb_count_subnormals(&x->a) + lb_count_subnormals(&x->b)) LB_TRY(lb_weigh_subnormals(x, c, gauge, flushes ? lost : NULL, err));
    in->reference = lb_mat_code(row, 0, col);
    in->row_rms = rms_of(row);
    in->gauge = gauge[col];
    in->flushed_gauge = lost[col];
    return LB_OK;
}

lb_status lb_contract_explain(const lb_case *x, const lb_contract *c, double k, size_t row, size_t col, lb_limit_input *in, lb_limit *out,
                              lb_error *err) {
    LB_TRY(lb_case_check(x, err));
    const size_t m = lb_case_m(x), n = lb_case_n(x);
    if (row >= m || col >= n) return lb_fail(err, LB_E_ARG, "explain", "row %zu, column %zu is outside the %zux%zu output", row, col, m, n);
    *in = (lb_limit_input){.format = x->out, .k = k > 0 ? k : (double)lb_case_k(x), .elements = (double)m * (double)n};
    const lb_case one = row_of(x, row);
    double *gauge = calloc(n, sizeof *gauge), *lost = calloc(n, sizeof *lost);
    void *codes = calloc(n, (size_t)x->out->bytes);
    lb_mat out_row = lb_mat_of(x->out, codes, 1, n);
    lb_status s = gauge && lost && codes ? LB_OK : lb_fail(err, LB_E_MEMORY, "explain", "no memory for a row of the reference");
    if (s == LB_OK) s = measure(&one, c, col, &out_row, gauge, lost, in, err);
    if (s == LB_OK) s = lb_contract_limit(c, in, out, err);
    free(gauge);
    free(lost);
    free(codes);
    return s;
}
