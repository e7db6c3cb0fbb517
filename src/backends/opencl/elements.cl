/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane an element. */

/* exp(2 a) ends at 44.4 in f32, and tanh is 1 in f32 from 9.02 on. */
float tanh_of(float a) {
    const float e = exp(2.0f * clamp(a, -15.0f, 15.0f));
    return (e - 1.0f) / (e + 1.0f);
}

float silu_of(float x) { return x / (1.0f + exp(-x)); }

GROUP void gelu(global const T *x, global T *y, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const float v = load(x, i), inner = 0.79788456f * (v + 0.044715f * v * v * v);
    store(y, i, 0.5f * v * (1.0f + tanh_of(inner)));
}

/* 1 + erf(t) is erfc(-t), which loses nothing where x is far below zero. */
GROUP void gelu_erf(global const T *x, global T *y, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const float v = load(x, i);
    store(y, i, 0.5f * v * erfc(-0.70710678f * v));
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
