/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane an element. */

/* (1 + tanh(a)) / 2 as e / (1 + e), e = exp(2 a), which loses nothing where tanh is near -1. exp ends at 88.7 in f32; from 9.02 on tanh is
 * 1 in f32. */
float half_of_tanh(float a) {
    const float e = exp(2.0f * fmin(a, 15.0f));
    return e / (1.0f + e);
}

/* v times its share, where a share of nothing leaves nothing of -Inf. */
float share_of(float v, float share) { return share == 0.0f ? 0.0f : v * share; }

float silu_of(float x) {
    const float e = exp(-x);
    return isinf(e) ? 0.0f : x / (1.0f + e);
}

GROUP void gelu(global const T *x, global T *y, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const float v = load(x, i), inner = 0.79788456f * (v + 0.044715f * v * v * v);
    store(y, i, share_of(v, half_of_tanh(inner)));
}

/* 1 + erf(t) is erfc(-t), which loses nothing where x is far below zero. */
GROUP void gelu_erf(global const T *x, global T *y, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const float v = load(x, i);
    store(y, i, share_of(v, 0.5f * erfc(-0.70710678f * v)));
}

GROUP void silu(global const T *x, global T *y, int n) {
    const int i = get_global_id(0);
    if (i < n) store(y, i, silu_of(load(x, i)));
}

GROUP void sigmoid(global const T *x, global T *y, int n) {
    const int i = get_global_id(0);
    if (i < n) store(y, i, 1.0f / (1.0f + exp(-load(x, i))));
}

GROUP void silu_mul(global const T *g, global const T *u, global T *y, int rows, int d) {
    const size_t i = get_global_id(0);
    if (i < (size_t)rows * d) store(y, i, silu_of(load(g, i)) * load(u, i));
}

GROUP void add(global const T *x, global const T *y, global T *z, int n) {
    const int i = get_global_id(0);
    if (i < n) store(z, i, load(x, i) + load(y, i));
}
