/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Matrix products of a network: on a unit, operands rounded into its formats, and in f64 beside it. B lies [n][k], as weights do. */
#include "base/try.h"
#include "nets/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

static void row_of(const lb_rows *x, size_t r, double *out) {
    if (x->d) memcpy(out, x->d + r * x->cols, x->cols * sizeof *out);
    for (size_t c = 0; !x->d && c < x->cols; c++) out[c] = (double)x->f[r * x->cols + c];
}

/* ---- operands of a unit -------------------------------------------------------------------------------------------------------- */

/* Formats of at most 8 bits cannot hold what a network makes: the least power of two is taken that brings the row's largest value in. */
static int exponent_of(const lb_format *f, const double *x, size_t n) {
    double most = 0;
    if (f->bits > 8) return 0;
    for (size_t i = 0; i < n; i++) most = fabs(x[i]) > most && isfinite(x[i]) ? fabs(x[i]) : most;
    if (most == 0) return 0;
    int e = ilogb(most) - ilogb(lb_to_double(f, lb_max_code(f))) - 1;
    while (ldexp(most, -e) > lb_to_double(f, lb_max_code(f))) e++;
    return e;
}

static void code_row(lb_coded *out, size_t r, const double *x) {
    const size_t width = (size_t)out->format->bytes;
    const int e = out->exponent[r] = exponent_of(out->format, x, out->cols);
    for (size_t c = 0; c < out->cols; c++)
        lb_store_code((char *)out->codes + (r * out->cols + c) * width, (int)width,
                      lb_from_double(out->format, e ? ldexp(x[c], -e) : x[c]));
}

static lb_status make(lb_coded *out, const lb_arith *a, const lb_rows *x, lb_error *err) {
    const size_t blocks = out->block ? (x->cols + (size_t)out->block->size - 1) / (size_t)out->block->size : 0;
    double *line = malloc(x->cols * sizeof *line + 1);
    out->codes = malloc(x->rows * x->cols * (size_t)out->format->bytes + 1);
    out->exponent = calloc(x->rows + 1, sizeof *out->exponent);
    out->scales = out->block ? malloc(x->rows * blocks + 1) : NULL;
    lb_status s = LB_OK;
    if (!line || !out->codes || !out->exponent || (out->block && !out->scales)) s = lb_fail(err, LB_E_MEMORY, a->name, "out of memory");
    for (size_t r = 0; s == LB_OK && r < x->rows; r++) {
        row_of(x, r, line);
        if (out->block)
            s = lb_block_encode_rows(out->block, out->block->rule, line, 1, x->cols, NULL, (uint8_t *)out->codes + r * x->cols,
                                     out->scales + r * blocks, err);
        else
            code_row(out, r, line);
    }
    free(line);
    return s;
}

lb_status lb_coded_make(lb_coded *out, const lb_arith *a, bool is_b, const lb_rows *x, lb_error *err) {
    *out = (lb_coded){
        .format = lb_format_row(is_b ? a->unit.b : a->unit.a), .block = is_b ? a->block_b : a->block_a, .rows = x->rows, .cols = x->cols};
    const lb_status s = make(out, a, x, err);
    if (s != LB_OK) lb_coded_free(out);
    return s;
}

void lb_coded_free(lb_coded *x) {
    free(x->codes);
    free(x->scales);
    free(x->exponent);
    *x = (lb_coded){0};
}

void lb_coded_row(const lb_coded *x, size_t r, double *out) {
    if (x->block) {
        const size_t blocks = (x->cols + (size_t)x->block->size - 1) / (size_t)x->block->size;
        lb_block_decode_rows(x->block, (const uint8_t *)x->codes + r * x->cols, x->scales + r * blocks, 1, x->cols, out);
        return;
    }
    const size_t width = (size_t)x->format->bytes;
    for (size_t c = 0; c < x->cols; c++)
        out[c] =
            ldexp(lb_to_double(x->format, lb_load_code((const char *)x->codes + (r * x->cols + c) * width, (int)width)), x->exponent[r]);
}

/* ---- products -------------------------------------------------------------------------------------------------------------------- */

static lb_status scaled_gemm(const lb_unit *u, const lb_coded *a, const lb_coded *b, lb_mat *d, lb_error *err) {
    const lb_mat ma = lb_mat_of(a->format, a->codes, a->rows, a->cols);
    const lb_mat mb = lb_mat_transposed(lb_mat_of(b->format, b->codes, b->rows, b->cols));
    if (!u->scale_block) return lb_gemm(u, &ma, &mb, NULL, d, NULL, err);
    const size_t blocks = (a->cols + (size_t)u->scale_block - 1) / (size_t)u->scale_block;
    const lb_mat sa = lb_mat_of(lb_format_row(u->scale), a->scales, a->rows, blocks);
    const lb_mat sb = lb_mat_transposed(lb_mat_of(lb_format_row(u->scale), b->scales, b->rows, blocks));
    const lb_unit_operands with = {.scale_a = &sa, .scale_b = &sb};
    return lb_unit_gemm_with(u, &ma, &mb, NULL, &with, d, err);
}

lb_status lb_unit_product(const lb_arith *arith, const lb_coded *a, const lb_coded *b, double *out, lb_error *err) {
    const lb_format *f = lb_format_row(arith->unit.d);
    const size_t m = a->rows, n = b->rows, width = (size_t)f->bytes;
    void *codes = malloc(m * n * width + 1);
    if (!codes) return lb_fail(err, LB_E_MEMORY, arith->name, "out of memory");
    lb_mat d = lb_mat_of(f, codes, m, n);
    const lb_status s = scaled_gemm(&arith->unit, a, b, &d, err);
    for (size_t i = 0; s == LB_OK && i < m; i++)
        for (size_t j = 0; j < n; j++) {
            const double x = lb_to_double(f, lb_load_code((char *)codes + (i * n + j) * width, (int)width));
            out[i * n + j] = (double)(float)ldexp(x, a->exponent[i] + b->exponent[j]);
        }
    free(codes);
    return s;
}

static void dot(const double *a, const double *b, size_t k, double *sum, double *gauge) {
    double s[LANES] = {0}, g[LANES] = {0};
    size_t p = 0;
    for (; p + LANES <= k; p += LANES)
        for (int l = 0; l < LANES; l++) {
            const double x = a[p + l] * b[p + l];
            s[l] += x;
            g[l] += fabs(x);
        }
    for (; p < k; p++) {
        s[0] += a[p] * b[p];
        g[0] += fabs(a[p] * b[p]);
    }
    *sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    *gauge = ((g[0] + g[4]) + (g[2] + g[6])) + ((g[1] + g[5]) + (g[3] + g[7]));
}

lb_status lb_plain_product(const lb_rows *a, const lb_rows *b, double *out, double *gauge, lb_error *err) {
    const size_t m = a->rows, n = b->rows, k = a->cols;
    bool failed = false;
    double *left = malloc(m * k * sizeof *left + 1);
    if (!left) return lb_fail(err, LB_E_MEMORY, "network", "out of memory");
    for (size_t i = 0; i < m; i++) row_of(a, i, left + i * k);
#pragma omp parallel
    {
        double *line = malloc(k * sizeof *line + 1);
        if (!line) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (size_t j = 0; j < n; j++) {
            if (!line) continue;
            row_of(b, j, line);
            for (size_t i = 0; i < m; i++) {
                double g;
                dot(left + i * k, line, k, &out[i * n + j], &g);
                if (gauge) gauge[i * n + j] = g;
            }
        }
        free(line);
    }
    free(left);
    return failed ? lb_fail(err, LB_E_MEMORY, "network", "out of memory") : LB_OK;
}

double lb_unit_loss(const lb_unit *u, size_t k) {
    static const double roundings[LB_UNIT_ROUND_COUNT] = {
        [LB_UNIT_RZ_F32] = 0x1p-23,  [LB_UNIT_RZ_E8M13] = 0x1p-13, [LB_UNIT_RNE_F16] = 0x1p-11,
        [LB_UNIT_RNE_F32] = 0x1p-24, [LB_UNIT_RNE_F64] = 0x1p-53,  [LB_UNIT_ODD_F32] = 0x1p-23};
    const double terms = u->terms > 0 ? u->terms : 1, blocks = ceil((double)k / terms) + 1;
    const double cut = u->frac_bits > 0 ? (terms + 1) * ldexp(1, -u->frac_bits) : terms * roundings[u->round];
    return blocks * (cut + roundings[u->round]);
}
