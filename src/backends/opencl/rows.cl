/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A work-group a row; the lanes stride over its columns. */

float row_max(local float *s, global const T *row, int d) {
    float top = -INFINITY;
    for (int j = get_local_id(0); j < d; j += LB_X) top = fmax(top, load(row, j));
    return group_max(s, top);
}

/* Sum of exp(x - top) */
float row_exp_sum(local float *s, global const T *row, int d, float top) {
    float sum = 0.0f;
    for (int j = get_local_id(0); j < d; j += LB_X) sum += exp(load(row, j) - top);
    return group_sum(s, sum);
}

GROUP void softmax(global const T *x, global T *y, int rows, int d) {
    SHARED float s[LB_X];
    const size_t at = (size_t)get_group_id(0) * d;
    const float top = row_max(s, x + at, d);
    const float sum = row_exp_sum(s, x + at, d, top);
    for (int j = get_local_id(0); j < d; j += LB_X) store(y, at + j, exp(load(x, at + j) - top) / sum);
}

GROUP void layernorm(global const T *x, global const T *gamma, global const T *beta, global T *y, int rows, int d, float eps) {
    SHARED float s[LB_X];
    const size_t at = (size_t)get_group_id(0) * d;
    float sum = 0.0f, squares = 0.0f;
    for (int j = get_local_id(0); j < d; j += LB_X) sum += load(x, at + j);
    const float mean = group_sum(s, sum) / (float)d;
    for (int j = get_local_id(0); j < d; j += LB_X) {
        const float off = load(x, at + j) - mean;
        squares = fma(off, off, squares);
    }
    const float scale = 1.0f / sqrt(group_sum(s, squares) / (float)d + eps);
    for (int j = get_local_id(0); j < d; j += LB_X)
        store(y, at + j, fma((load(x, at + j) - mean) * scale, load(gamma, j), load(beta, j)));
}

GROUP void rmsnorm(global const T *x, global const T *gamma, global T *y, int rows, int d, float eps) {
    SHARED float s[LB_X];
    const size_t at = (size_t)get_group_id(0) * d;
    float squares = 0.0f;
    for (int j = get_local_id(0); j < d; j += LB_X) {
        const float v = load(x, at + j);
        squares = fma(v, v, squares);
    }
    const float scale = 1.0f / sqrt(group_sum(s, squares) / (float)d + eps);
    for (int j = get_local_id(0); j < d; j += LB_X) store(y, at + j, load(x, at + j) * scale * load(gamma, j));
}

/* A scan of LB_X columns at a time, carried over. */
GROUP void cumsum(global const T *x, global T *y, int rows, int d) {
    SHARED float s[LB_X];
    const size_t at = (size_t)get_group_id(0) * d;
    float carry = 0.0f;
    for (int base = 0; base < d; base += LB_X) {
        const int j = base + (int)get_local_id(0);
        const float upto = carry + group_scan(s, j < d ? load(x, at + j) : 0.0f);
        if (j < d) store(y, at + j, upto);
        carry += s[LB_X - 1];
    }
}

GROUP void cross_entropy(global const T *x, global const int *id, global float *loss, int rows, int vocab) {
    SHARED float s[LB_X];
    const int row = get_group_id(0);
    const size_t at = (size_t)row * vocab;
    const float top = row_max(s, x + at, vocab);
    const float sum = row_exp_sum(s, x + at, vocab, top);
    if (get_local_id(0) == 0) loss[row] = log(sum) - (load(x, at + id[row]) - top);
}
