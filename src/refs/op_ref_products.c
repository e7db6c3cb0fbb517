/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References: products of matrices, plain, quantised and block-scaled. */
#include "refs/op_ref.h"

#include <stdlib.h>

/* Where a weight comes from: element (row, column) of input `port`, with its scale in. */
typedef lb_num weight(const lb_ref *r, size_t row, size_t l);

enum { ROWS = 64 }; /* of A at a time */

static void fetch(const lb_ref *r, weight *from, size_t first, size_t rows, lb_num *to) {
    for (size_t i = 0; i < rows; i++)
        for (size_t l = 0; l < r->k; l++) to[i * r->k + l] = from(r, first + i, l);
}

/* Rows [first, first + rows) of the product, A's in a [rows][k]; b has room for one row of B. */
static void multiply(const lb_ref *r, size_t first, size_t rows, size_t n, const lb_num *a, lb_num *b, weight *of_b, bool with_bias,
                     double scale) {
    for (size_t j = 0; j < n; j++) {
        fetch(r, of_b, j, 1, b);
        for (size_t i = 0; i < rows; i++) {
            lb_sum s;
            lb_sum_start(&s);
            if (with_bias) lb_sum_add(&s, lb_ref_in(r, 2, j));
            for (size_t l = 0; l < r->k; l++) lb_sum_product(&s, a[i * r->k + l], b[l]);
            const lb_num sum = lb_sum_value(&s, r->c);
            lb_ref_put(r, 0, (first + i) * n + j, scale == 1 ? sum : lb_num_mul(sum, lb_num_of(scale, r->c), r->c));
        }
    }
}

static lb_status product(lb_ref *r, weight *of_a, weight *of_b, bool with_bias, double scale) {
    const size_t m = (size_t)lb_ref_whole(r, "m"), n = (size_t)lb_ref_whole(r, "n");
    lb_num *a = malloc((ROWS + 1) * r->k * sizeof *a);
    if (!a) return lb_fail(r->err, LB_E_MEMORY, r->x->op->name, "out of memory");
    for (size_t first = 0; first < m; first += ROWS) {
        const size_t rows = m - first < ROWS ? m - first : ROWS;
        fetch(r, of_a, first, rows, a);
        multiply(r, first, rows, n, a, a + ROWS * r->k, of_b, with_bias, scale);
    }
    free(a);
    return LB_OK;
}

static lb_num plain_a(const lb_ref *r, size_t i, size_t l) {
    return lb_ref_in(r, 0, i * r->k + l);
}

static lb_num plain_b(const lb_ref *r, size_t j, size_t l) { /* [k][n] */
    return lb_ref_in(r, 1, l * r->x->in[1].dims[1] + j);
}

static lb_num plain_w(const lb_ref *r, size_t j, size_t l) { /* [n][k] */
    return lb_ref_in(r, 1, j * r->k + l);
}

lb_status lb_ref_matmul(lb_ref *r) {
    return product(r, plain_a, plain_b, false, 1);
}

lb_status lb_ref_matmul_tiled(lb_ref *r) {
    return product(r, plain_a, plain_b, false, 1);
}

lb_status lb_ref_linear(lb_ref *r) {
    return product(r, plain_a, plain_w, true, 1);
}

lb_status lb_ref_matmul_fp8(lb_ref *r) {
    return product(r, plain_a, plain_w, false, lb_ref_real(r, "scale"));
}

/* ---- integer weights -------------------------------------------------------------------------------------------------------- */

static lb_num int8_w(const lb_ref *r, size_t j, size_t l) {
    return lb_num_mul(lb_ref_in(r, 2, j * r->k + l), lb_ref_in(r, 1, j), r->c);
}

lb_status lb_ref_matmul_w8(lb_ref *r) {
    return product(r, plain_a, int8_w, false, 1);
}

/* Nibble l of row `row` of input `port`, the low half first. */
static unsigned nibble(const lb_ref *r, unsigned port, size_t row, size_t l) {
    const unsigned byte = (unsigned)r->in[port][row * (r->k / 2) + l / 2];
    return l % 2 ? byte >> 4 : byte & 15;
}

static lb_num int4_w(const lb_ref *r, size_t j, size_t l) {
    const size_t groups = r->x->in[2].dims[1], at = j * groups + l / (r->k / groups);
    const double q = (double)nibble(r, 1, j, l) - r->in[3][at];
    return lb_num_mul((lb_num){q, 0, 0}, lb_ref_in(r, 2, at), r->c);
}

lb_status lb_ref_matmul_w4(lb_ref *r) {
    return product(r, plain_a, int4_w, false, 1);
}

lb_status lb_ref_dequant_w8(lb_ref *r) {
    const size_t rows = (size_t)lb_ref_whole(r, "rows"), cols = (size_t)lb_ref_whole(r, "cols");
    for (size_t i = 0; i < rows * cols; i++) lb_ref_put(r, 0, i, lb_num_mul(lb_ref_in(r, 0, i), lb_ref_in(r, 1, i / cols), r->c));
    return LB_OK;
}

/* ---- block scales: element times scale is exact in f32, so its bound is 0 ----------------------------------------------------- */

static lb_num scaled(const lb_ref *r, double element, unsigned port, size_t row, size_t l, size_t block) {
    return (lb_num){element * r->in[port][row * (r->k / block) + l / block], 0, 0};
}

static lb_num mxfp8_a(const lb_ref *r, size_t i, size_t l) {
    return scaled(r, r->in[0][i * r->k + l], 1, i, l, 32);
}

static lb_num mxfp8_b(const lb_ref *r, size_t j, size_t l) {
    return scaled(r, r->in[2][j * r->k + l], 3, j, l, 32);
}

lb_status lb_ref_matmul_mxfp8(lb_ref *r) {
    return product(r, mxfp8_a, mxfp8_b, false, 1);
}

static double e2m1(const lb_ref *r, unsigned port, size_t row, size_t l) {
    return lb_to_double(lb_format_row(LB_E2M1), nibble(r, port, row, l));
}

static lb_num mxfp4_a(const lb_ref *r, size_t i, size_t l) {
    return scaled(r, e2m1(r, 0, i, l), 1, i, l, 32);
}

static lb_num mxfp4_b(const lb_ref *r, size_t j, size_t l) {
    return scaled(r, e2m1(r, 2, j, l), 3, j, l, 32);
}

lb_status lb_ref_matmul_mxfp4(lb_ref *r) {
    return product(r, mxfp4_a, mxfp4_b, false, 1);
}

static lb_num nvfp4_a(const lb_ref *r, size_t i, size_t l) {
    return scaled(r, e2m1(r, 0, i, l), 1, i, l, 16);
}

static lb_num nvfp4_b(const lb_ref *r, size_t j, size_t l) {
    return scaled(r, e2m1(r, 2, j, l), 3, j, l, 16);
}

lb_status lb_ref_matmul_nvfp4(lb_ref *r) {
    return product(r, nvfp4_a, nvfp4_b, false, lb_ref_real(r, "scale"));
}

/* ---- rows by expert --------------------------------------------------------------------------------------------------------- */

static lb_num expert_w(const lb_ref *r, size_t j, size_t l) { /* j counts rows of all experts */
    return lb_ref_in(r, 1, j * r->k + l);
}

lb_status lb_ref_matmul_grouped(lb_ref *r) {
    const size_t rows = (size_t)lb_ref_whole(r, "rows"), n = (size_t)lb_ref_whole(r, "n");
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            lb_sum s;
            lb_sum_start(&s);
            for (size_t l = 0; l < r->k; l++) lb_sum_product(&s, plain_a(r, i, l), expert_w(r, (size_t)r->in[2][i] * n + j, l));
            lb_ref_put(r, 0, i * n + j, lb_sum_value(&s, r->c));
        }
    return LB_OK;
}
