/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Products: lane x is a column of the output, lane y a row. Tiles of A and B go through local memory, where the reads along columns
 * of a transposed operand cost nothing; a tile past an edge holds zeros. */
enum { TILE = 16 };

/* The part of a dot product that lies in the tiles, in order. */
float tile_dot(local float (*a)[TILE + 1], local float (*b)[TILE + 1], float sum) {
    const int x = get_local_id(0), y = get_local_id(1);
    for (int l = 0; l < TILE; l++) sum = fma(a[y][l], b[l][x], sum);
    return sum;
}

/* One lane an output, straight from memory: neighbours share A's element and read neighbours of B. */
GROUP void matmul(global const T *a, global const T *b, global T *c, int m, int k, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int l = 0; l < k; l++) sum = fma(load(a, (size_t)i * k + l), load(b, (size_t)l * n + j), sum);
    store(c, (size_t)i * n + j, sum);
}

GROUP void matmul_tiled(global const T *a, global const T *b, global T *c, int m, int k, int n) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), i = get_global_id(1);
    float sum = 0.0f;
    for (int l = 0; l < k; l += TILE) {
        at[y][x] = i < m && l + x < k ? load(a, (size_t)i * k + l + x) : 0.0f;
        bt[y][x] = l + y < k && j < n ? load(b, (size_t)(l + y) * n + j) : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = tile_dot(at, bt, sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < m && j < n) store(c, (size_t)i * n + j, sum);
}

/* w is stored [n][k]: its tile is read along k and turned. */
GROUP void linear(global const T *in, global const T *w, global const T *bias, global T *out, int m, int k, int n) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), i = get_global_id(1), w_row = j - x + y;
    float sum = j < n ? load(bias, j) : 0.0f;
    for (int l = 0; l < k; l += TILE) {
        at[y][x] = i < m && l + x < k ? load(in, (size_t)i * k + l + x) : 0.0f;
        bt[x][y] = w_row < n && l + x < k ? load(w, (size_t)w_row * k + l + x) : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = tile_dot(at, bt, sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < m && j < n) store(out, (size_t)i * n + j, sum);
}

/* Rows of a batch go to different experts, so only x is shared: a lane walks its own row of w. */
GROUP void matmul_grouped(global const T *in, global const T *w, global const int *id, global T *out, int rows, int experts, int k, int n) {
    SHARED float at[TILE][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), i = get_global_id(1);
    const bool mine = i < rows && j < n;
    const size_t w_row = mine ? ((size_t)id[i] * n + j) * k : 0;
    float sum = 0.0f;
    for (int l = 0; l < k; l += TILE) {
        at[y][x] = i < rows && l + x < k ? load(in, (size_t)i * k + l + x) : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = 0; mine && t < TILE && l + t < k; t++) sum = fma(at[y][t], load(w, w_row + l + t), sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (mine) store(out, (size_t)i * n + j, sum);
}
