/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Products of narrow operands: each element is made an f32 (with its scale) on its way into a tile in local memory; B is stored [n][k]
 * throughout, so its tile is read along k and turned. */
enum { TILE = 16 };

typedef struct place {
    int x, y, row, col, b_row; /* lanes; of the output; row of B that this lane fetches */
} place;

place here(void) {
    const int x = get_local_id(0), y = get_local_id(1);
    const place p = {x, y, get_global_id(1), get_global_id(0), (int)get_global_id(0) - x + y};
    return p;
}

float tile_dot(local float (*a)[TILE + 1], local float (*b)[TILE + 1], place p, float sum) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int l = 0; l < TILE; l++) sum = fma(a[p.y][l], b[l][p.x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

GROUP void matmul_fp8(global const uchar *a, global const uchar *b, global float *c, int m, int k, int n, float scale) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const place p = here();
    float sum = 0.0f;
    for (int l = p.x; l - p.x < k; l += TILE) {
        at[p.y][p.x] = p.row < m && l < k ? from_e4m3(a[(size_t)p.row * k + l]) : 0.0f;
        bt[p.x][p.y] = p.b_row < n && l < k ? from_e4m3(b[(size_t)p.b_row * k + l]) : 0.0f;
        sum = tile_dot(at, bt, p, sum);
    }
    if (p.row < m && p.col < n) c[(size_t)p.row * n + p.col] = scale * sum;
}

GROUP void matmul_w8(global const T *in, global const float *scale, global const char *q, global T *out, int m, int k, int n) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const place p = here();
    float sum = 0.0f;
    for (int l = p.x; l - p.x < k; l += TILE) {
        at[p.y][p.x] = p.row < m && l < k ? load(in, (size_t)p.row * k + l) : 0.0f;
        bt[p.x][p.y] = p.b_row < n && l < k ? (float)q[(size_t)p.b_row * k + l] * scale[p.b_row] : 0.0f;
        sum = tile_dot(at, bt, p, sum);
    }
    if (p.row < m && p.col < n) store(out, (size_t)p.row * n + p.col, sum);
}

GROUP void matmul_w4(global const T *in, global const uchar *q, global const float *scale, global const uchar *zero, global T *out, int m,
                     int k, int n, int group) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const place p = here();
    float sum = 0.0f;
    for (int l = p.x; l - p.x < k; l += TILE) {
        const size_t g = (size_t)p.b_row * (k / group) + l / group;
        at[p.y][p.x] = p.row < m && l < k ? load(in, (size_t)p.row * k + l) : 0.0f;
        bt[p.x][p.y] =
            p.b_row < n && l < k ? (float)((int)nibble(q + (size_t)p.b_row * (k / 2), l) - (int)zero[g]) * scale[g] : 0.0f;
        sum = tile_dot(at, bt, p, sum);
    }
    if (p.row < m && p.col < n) store(out, (size_t)p.row * n + p.col, sum);
}

GROUP void matmul_mxfp8(global const uchar *a, global const uchar *sa, global const uchar *b, global const uchar *sb, global float *c, int m,
                        int k, int n) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const place p = here();
    const int groups = k / 32;
    float sum = 0.0f;
    for (int l = p.x; l - p.x < k; l += TILE) {
        at[p.y][p.x] = p.row < m && l < k ? from_e8m0(sa[(size_t)p.row * groups + l / 32]) * from_e4m3(a[(size_t)p.row * k + l]) : 0.0f;
        bt[p.x][p.y] =
            p.b_row < n && l < k ? from_e8m0(sb[(size_t)p.b_row * groups + l / 32]) * from_e4m3(b[(size_t)p.b_row * k + l]) : 0.0f;
        sum = tile_dot(at, bt, p, sum);
    }
    if (p.row < m && p.col < n) c[(size_t)p.row * n + p.col] = sum;
}

/* The e2m1 element l of a row of packed bytes. */
float e2m1_at(global const uchar *row, int l) { return from_e2m1(nibble(row, l)); }

GROUP void matmul_mxfp4(global const uchar *a, global const uchar *sa, global const uchar *b, global const uchar *sb, global float *c, int m,
                        int k, int n) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const place p = here();
    const int groups = k / 32;
    float sum = 0.0f;
    for (int l = p.x; l - p.x < k; l += TILE) {
        at[p.y][p.x] = p.row < m && l < k ? from_e8m0(sa[(size_t)p.row * groups + l / 32]) * e2m1_at(a + (size_t)p.row * (k / 2), l) : 0.0f;
        bt[p.x][p.y] =
            p.b_row < n && l < k ? from_e8m0(sb[(size_t)p.b_row * groups + l / 32]) * e2m1_at(b + (size_t)p.b_row * (k / 2), l) : 0.0f;
        sum = tile_dot(at, bt, p, sum);
    }
    if (p.row < m && p.col < n) c[(size_t)p.row * n + p.col] = sum;
}

GROUP void matmul_nvfp4(global const uchar *a, global const uchar *sa, global const uchar *b, global const uchar *sb, global float *c, int m,
                        int k, int n, float scale) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const place p = here();
    const int groups = k / 16;
    float sum = 0.0f;
    for (int l = p.x; l - p.x < k; l += TILE) {
        at[p.y][p.x] = p.row < m && l < k ? from_ue4m3(sa[(size_t)p.row * groups + l / 16]) * e2m1_at(a + (size_t)p.row * (k / 2), l) : 0.0f;
        bt[p.x][p.y] =
            p.b_row < n && l < k ? from_ue4m3(sb[(size_t)p.b_row * groups + l / 16]) * e2m1_at(b + (size_t)p.b_row * (k / 2), l) : 0.0f;
        sum = tile_dot(at, bt, p, sum);
    }
    if (p.row < m && p.col < n) c[(size_t)p.row * n + p.col] = scale * sum;
}

GROUP void dequant_w8(global const char *q, global const float *scale, global T *y, int rows, int cols) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < rows && col < cols) store(y, (size_t)row * cols + col, (float)q[(size_t)row * cols + col] * scale[row]);
}
