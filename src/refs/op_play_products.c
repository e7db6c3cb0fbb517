/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Replays: products. Operands become rows of f32 first, so each sum is a plain dot product. */
#include "refs/op_play.h"

#include <stdlib.h>

typedef float element(const lb_play *p, size_t row, size_t l);

static size_t whole(const lb_play *p, const char *name) {
    return lb_play_whole(p, name);
}

static float *rows_of(const lb_play *p, element *e, size_t rows, size_t k) {
    float *x = lb_play_room(p, rows * k);
    for (size_t i = 0; x && i < rows * k; i++) x[i] = e(p, i / k, i % k);
    return x;
}

/* y[i][j] = scale * (bias[j] + a[i] . b[j]) */
static lb_status product(const lb_play *p, element *a, element *b, bool with_bias, float scale) {
    const size_t m = whole(p, "m"), n = whole(p, "n"), k = p->k;
    float *x = rows_of(p, a, m, k), *w = x ? rows_of(p, b, n, k) : NULL;
    for (size_t i = 0; w && i < m; i++)
        for (size_t j = 0; j < n; j++) {
            const float sum = lb_play_dot(p, with_bias ? lb_play_in(p, 2, j) : 0, x + i * k, 1, w + j * k, 1, k);
            lb_play_put(p, 0, i * n + j, (double)(scale == 1 ? sum : scale * sum));
        }
    const bool made = x && w;
    free(x);
    free(w);
    return made ? LB_OK : LB_E_MEMORY;
}

static float plain_a(const lb_play *p, size_t i, size_t l) {
    return lb_play_in(p, 0, i * p->k + l);
}

static float plain_b(const lb_play *p, size_t j, size_t l) {
    return lb_play_in(p, 1, l * p->x->in[1].dims[1] + j);
}

static float plain_w(const lb_play *p, size_t j, size_t l) {
    return lb_play_in(p, 1, j * p->k + l);
}

lb_status lb_play_matmul(const lb_play *p) {
    return product(p, plain_a, plain_b, false, 1);
}

lb_status lb_play_matmul_tiled(const lb_play *p) {
    return product(p, plain_a, plain_b, false, 1);
}

lb_status lb_play_linear(const lb_play *p) {
    return product(p, plain_a, plain_w, true, 1);
}

lb_status lb_play_matmul_fp8(const lb_play *p) {
    return product(p, plain_a, plain_w, false, lb_play_real(p, "scale"));
}

static float int8_w(const lb_play *p, size_t j, size_t l) {
    return lb_play_in(p, 2, j * p->k + l) * lb_play_in(p, 1, j);
}

lb_status lb_play_matmul_w8(const lb_play *p) {
    return product(p, plain_a, int8_w, false, 1);
}

static unsigned half_byte(const lb_play *p, unsigned port, size_t row, size_t l) {
    return (unsigned)p->in[port][row * (p->k / 2) + l / 2] >> (l % 2 ? 4 : 0) & 15;
}

static float int4_w(const lb_play *p, size_t j, size_t l) {
    const size_t groups = p->x->in[2].dims[1], at = j * groups + l / (p->k / groups);
    return ((float)half_byte(p, 1, j, l) - lb_play_in(p, 3, at)) * lb_play_in(p, 2, at);
}

lb_status lb_play_matmul_w4(const lb_play *p) {
    return product(p, plain_a, int4_w, false, 1);
}

lb_status lb_play_dequant_w8(const lb_play *p) {
    const size_t cols = whole(p, "cols");
    for (size_t i = 0; i < whole(p, "rows") * cols; i++) lb_play_put(p, 0, i, (double)(lb_play_in(p, 0, i) * lb_play_in(p, 1, i / cols)));
    return LB_OK;
}

static float block_scale(const lb_play *p, unsigned port, size_t row, size_t l, size_t block) {
    return lb_play_in(p, port, row * (p->k / block) + l / block);
}

static float mxfp8_a(const lb_play *p, size_t i, size_t l) {
    return lb_play_in(p, 0, i * p->k + l) * block_scale(p, 1, i, l, 32);
}

static float mxfp8_b(const lb_play *p, size_t j, size_t l) {
    return lb_play_in(p, 2, j * p->k + l) * block_scale(p, 3, j, l, 32);
}

lb_status lb_play_matmul_mxfp8(const lb_play *p) {
    return product(p, mxfp8_a, mxfp8_b, false, 1);
}

static float fp4(const lb_play *p, unsigned port, size_t row, size_t l) {
    static const float values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    const unsigned code = half_byte(p, port, row, l);
    return code & 8 ? -values[code & 7] : values[code & 7];
}

static float mxfp4_a(const lb_play *p, size_t i, size_t l) {
    return fp4(p, 0, i, l) * block_scale(p, 1, i, l, 32);
}

static float mxfp4_b(const lb_play *p, size_t j, size_t l) {
    return fp4(p, 2, j, l) * block_scale(p, 3, j, l, 32);
}

lb_status lb_play_matmul_mxfp4(const lb_play *p) {
    return product(p, mxfp4_a, mxfp4_b, false, 1);
}

static float nvfp4_a(const lb_play *p, size_t i, size_t l) {
    return fp4(p, 0, i, l) * block_scale(p, 1, i, l, 16);
}

static float nvfp4_b(const lb_play *p, size_t j, size_t l) {
    return fp4(p, 2, j, l) * block_scale(p, 3, j, l, 16);
}

lb_status lb_play_matmul_nvfp4(const lb_play *p) {
    return product(p, nvfp4_a, nvfp4_b, false, lb_play_real(p, "scale"));
}

lb_status lb_play_matmul_grouped(const lb_play *p) {
    const size_t rows = whole(p, "rows"), n = whole(p, "n"), k = p->k;
    float *x = rows_of(p, plain_a, rows, k), *w = x ? rows_of(p, plain_w, whole(p, "experts") * n, k) : NULL;
    for (size_t i = 0; w && i < rows; i++)
        for (size_t j = 0; j < n; j++)
            lb_play_put(p, 0, i * n + j, (double)lb_play_dot(p, 0, x + i * k, 1, w + ((size_t)p->in[2][i] * n + j) * k, 1, k));
    const bool made = x && w;
    free(x);
    free(w);
    return made ? LB_OK : LB_E_MEMORY;
}
