/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lastbit/refs.h"

lb_mat lb_case_b(const lb_case *x) {
    return x->b_transposed ? lb_mat_transposed(x->b) : x->b;
}

size_t lb_case_m(const lb_case *x) {
    return x->a.rows;
}

size_t lb_case_n(const lb_case *x) {
    return lb_case_b(x).cols;
}

size_t lb_case_k(const lb_case *x) {
    return x->a.cols;
}

lb_status lb_case_check(const lb_case *x, lb_error *err) {
    const lb_mat b = lb_case_b(x);
    const size_t m = lb_case_m(x), n = lb_case_n(x);
    if (x->a.cols != b.rows)
        return lb_fail(err, LB_E_SHAPE, "A, B", "A is %zux%zu and B is %zux%zu%s: K is %zu in one and %zu in the other%s", x->a.rows,
                       x->a.cols, x->b.rows, x->b.cols, x->b_transposed ? " (transposed)" : "", x->a.cols, b.rows,
                       x->b_transposed       ? ""
                       : x->a.cols == b.cols ? "; is B stored [n][k]? then say --tb"
                                             : "");
    if (x->c.codes && (x->c.rows != m || x->c.cols != n))
        return lb_fail(err, LB_E_SHAPE, "C", "C is %zux%zu; A and B make %zux%zu", x->c.rows, x->c.cols, m, n);
    if (!x->out) return lb_fail(err, LB_E_FORMAT, "D", "no output format given; say --out");
    return LB_OK;
}
