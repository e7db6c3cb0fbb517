/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows copied, code by code. */

GROUP void kv_write(global const T *cache, global const T *x, global T *y, int len, int d, int at, int rows) {
    const int col = get_global_id(0), row = get_global_id(1), from = row - at;
    if (col >= d) return;
    y[(size_t)row * d + col] = from >= 0 && from < rows ? x[(size_t)from * d + col] : cache[(size_t)row * d + col];
}

/* The last row of x that lands here, if any does. */
GROUP void kv_ring(global const T *cache, global const T *x, global T *y, int len, int d, int at, int rows) {
    const int col = get_global_id(0), row = get_global_id(1), first = ((row - at) % len + len) % len;
    if (col >= d) return;
    const int from = first + (rows - 1 - first) / len * len;
    y[(size_t)row * d + col] = first < rows ? x[(size_t)from * d + col] : cache[(size_t)row * d + col];
}

GROUP void embedding(global const T *table, global const int *id, global T *y, int vocab, int d, int rows) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (col < d) y[(size_t)row * d + col] = table[(size_t)id[row] * d + col];
}
