/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Replays: elements, rows, sequences. */
#include "refs/op_play.h"

#include <math.h>
#include <stdlib.h>

static size_t whole(const lb_play *p, const char *name) {
    return lb_play_whole(p, name);
}

static size_t outputs(const lb_play *p) {
    return lb_array_count(&p->x->out[0]);
}

/* ---- elements --------------------------------------------------------------------------------------------------------------- */

typedef float element(const lb_play *p, float x);

static lb_status each(const lb_play *p, element *f) {
    for (size_t i = 0; i < outputs(p); i++) lb_play_put(p, 0, i, (double)f(p, lb_play_in(p, 0, i)));
    return LB_OK;
}

static float gelu(const lb_play *p, float x) {
    const float u = 0.7978846f * lb_play_mad(p, 0.044715f * x * x, x, x);
    if (x == -INFINITY) return -0.0f;
    return 0.5f * x * (1.0f + (float)tanh((double)u));
}

lb_status lb_play_gelu(const lb_play *p) {
    return each(p, gelu);
}

static float gelu_erf(const lb_play *p, float x) {
    (void)p;
    if (x == -INFINITY) return -0.0f;
    return 0.5f * x * (float)erfc((double)(x * -0.70710678f));
}

lb_status lb_play_gelu_erf(const lb_play *p) {
    return each(p, gelu_erf);
}

static float silu(const lb_play *p, float x) {
    (void)p;
    if (x == -INFINITY) return -0.0f;
    return x / (1.0f + lb_play_exp(-x));
}

lb_status lb_play_silu(const lb_play *p) {
    return each(p, silu);
}

static float sigmoid(const lb_play *p, float x) {
    (void)p;
    return 1.0f / (1.0f + lb_play_exp(-x));
}

lb_status lb_play_sigmoid(const lb_play *p) {
    return each(p, sigmoid);
}

lb_status lb_play_silu_mul(const lb_play *p) {
    for (size_t i = 0; i < outputs(p); i++) lb_play_put(p, 0, i, (double)(silu(p, lb_play_in(p, 0, i)) * lb_play_in(p, 1, i)));
    return LB_OK;
}

lb_status lb_play_add(const lb_play *p) {
    for (size_t i = 0; i < outputs(p); i++) lb_play_put(p, 0, i, (double)(lb_play_in(p, 0, i) + lb_play_in(p, 1, i)));
    return LB_OK;
}

/* x1 c - x2 s and x2 c + x1 s: where contracted, the first product goes into the fma. */
static void turn(const lb_play *p, float angle, size_t first, size_t second) {
    const float c = (float)cos((double)angle), s = (float)sin((double)angle), a = lb_play_in(p, 0, first), b = lb_play_in(p, 0, second);
    lb_play_put(p, 0, first, (double)lb_play_mad(p, a, c, -(b * s)));
    lb_play_put(p, 0, second, (double)lb_play_mad(p, b, c, a * s));
}

static lb_status turn_all(const lb_play *p, bool interleaved) {
    const size_t d = whole(p, "d"), rotary = whole(p, "rotary");
    const float theta = lb_play_real(p, "theta"), scale = lb_play_real(p, "scale");
    for (size_t start = 0, row = 0; start < outputs(p); start += d, row++) {
        for (size_t i = 0; i < rotary / 2; i++) {
            const float power = (float)pow((double)theta, (double)(-2.0f * (float)i / (float)rotary));
            const float angle = lb_play_in(p, 1, row) / scale * power;
            turn(p, angle, start + (interleaved ? 2 * i : i), start + (interleaved ? 2 * i + 1 : i + rotary / 2));
        }
        for (size_t c = rotary; c < d; c++) lb_play_put(p, 0, start + c, p->in[0][start + c]);
    }
    return LB_OK;
}

lb_status lb_play_rope(const lb_play *p) {
    return turn_all(p, false);
}

lb_status lb_play_rope_interleaved(const lb_play *p) {
    return turn_all(p, true);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------- */

static void load_row(const lb_play *p, size_t start, size_t n, float *x) {
    for (size_t i = 0; i < n; i++) x[i] = lb_play_in(p, 0, start + i);
}

static lb_status by_row(const lb_play *p, size_t n, size_t rows, void (*f)(const lb_play *p, float *x, size_t n, size_t row)) {
    float *x = lb_play_room(p, 2 * n);
    if (!x) return LB_E_MEMORY;
    for (size_t row = 0; row < rows; row++) {
        load_row(p, row * n, n, x);
        f(p, x, n, row);
    }
    free(x);
    return LB_OK;
}

static void softmax_row(const lb_play *p, float *x, size_t n, size_t row) {
    lb_play_normalise(p, x, n);
    for (size_t i = 0; i < n; i++) lb_play_put(p, 0, row * n + i, (double)x[i]);
}

lb_status lb_play_softmax(const lb_play *p) {
    return by_row(p, whole(p, "d"), whole(p, "rows"), softmax_row);
}

static void layernorm_row(const lb_play *p, float *x, size_t n, size_t row) {
    float *away = x + n;
    const float mean = lb_play_dot(p, 0, x, 1, NULL, 0, n) / (float)n;
    for (size_t i = 0; i < n; i++) away[i] = x[i] - mean;
    const float scale = lb_play_rsqrt(p, lb_play_dot(p, 0, away, 1, away, 1, n) / (float)n + lb_play_real(p, "eps"));
    for (size_t i = 0; i < n; i++)
        lb_play_put(p, 0, row * n + i, (double)lb_play_mad(p, away[i] * scale, lb_play_in(p, 1, i), lb_play_in(p, 2, i)));
}

lb_status lb_play_layernorm(const lb_play *p) {
    return by_row(p, whole(p, "d"), whole(p, "rows"), layernorm_row);
}

static void rmsnorm_row(const lb_play *p, float *x, size_t n, size_t row) {
    const float scale = lb_play_rsqrt(p, lb_play_dot(p, 0, x, 1, x, 1, n) / (float)n + lb_play_real(p, "eps"));
    for (size_t i = 0; i < n; i++) lb_play_put(p, 0, row * n + i, (double)(x[i] * scale * lb_play_in(p, 1, i)));
}

lb_status lb_play_rmsnorm(const lb_play *p) {
    return by_row(p, whole(p, "d"), whole(p, "rows"), rmsnorm_row);
}

static void cross_entropy_row(const lb_play *p, float *x, size_t n, size_t row) {
    float top = -INFINITY;
    const float chosen = x[(size_t)p->in[1][row]];
    for (size_t i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
    for (size_t i = 0; i < n; i++) x[i] = lb_play_exp(x[i] - top);
    lb_play_put(p, 0, row, (double)((float)log((double)lb_play_dot(p, 0, x, 1, NULL, 0, n)) + top - chosen));
}

lb_status lb_play_cross_entropy(const lb_play *p) {
    return by_row(p, whole(p, "vocab"), whole(p, "rows"), cross_entropy_row);
}

static void cumsum_row(const lb_play *p, float *x, size_t n, size_t row) {
    for (size_t i = 0; i < n; i++) lb_play_put(p, 0, row * n + i, (double)lb_play_dot(p, 0, x, 1, NULL, 0, i + 1));
}

lb_status lb_play_cumsum(const lb_play *p) {
    return by_row(p, whole(p, "d"), whole(p, "rows"), cumsum_row);
}

/* ---- sequences -------------------------------------------------------------------------------------------------------------- */

lb_status lb_play_conv1d(const lb_play *p) {
    const size_t seq = whole(p, "seq"), d = whole(p, "d"), width = whole(p, "width");
    float *x = lb_play_room(p, 2 * width), *w = x + width;
    if (!x) return LB_E_MEMORY;
    for (size_t i = 0; i < seq; i++)
        for (size_t c = 0; c < d; c++) {
            const size_t none = i + 1 < width ? width - 1 - i : 0; /* taps before the start */
            for (size_t t = none; t < width; t++) {
                x[t] = lb_play_in(p, 0, (i + t + 1 - width) * d + c);
                w[t] = lb_play_in(p, 1, c * width + t);
            }
            lb_play_put(p, 0, i * d + c, (double)lb_play_dot(p, lb_play_in(p, 2, c), w + none, 1, x + none, 1, width - none));
        }
    free(x);
    return LB_OK;
}

lb_status lb_play_selective_scan(const lb_play *p) {
    const size_t seq = whole(p, "seq"), d = whole(p, "d"), state = whole(p, "state");
    float *h = lb_play_room(p, 2 * state), *out = h + state;
    if (!h) return LB_E_MEMORY;
    for (size_t c = 0; c < d; c++) {
        for (size_t n = 0; n < state; n++) h[n] = 0;
        for (size_t i = 0; i < seq; i++) {
            const float delta = lb_play_in(p, 1, i * d + c), step = delta * lb_play_in(p, 0, i * d + c);
            for (size_t n = 0; n < state; n++) {
                const float decay = lb_play_exp(delta * lb_play_in(p, 2, c * state + n));
                h[n] = lb_play_mad(p, decay, h[n], step * lb_play_in(p, 3, i * state + n));
                out[n] = lb_play_in(p, 4, i * state + n);
            }
            lb_play_put(p, 0, i * d + c, (double)lb_play_dot(p, 0, out, 1, h, 1, state));
        }
    }
    free(h);
    return LB_OK;
}
