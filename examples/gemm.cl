/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* D = A B in bf16 with f32 accumulation: 16x16 tiles in local memory, one output a work-item, ragged edges guarded.
 * a [m][k], b [k][n], d [m][n], row-major bf16 codes. */
#define TILE 16

static float from_bf16(ushort code) {
    return as_float((uint)code << 16);
}

/* To nearest, ties to even; NaN stays NaN. */
static ushort to_bf16(float x) {
    const uint bits = as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (ushort)(bits >> 16 | 0x40u);
    return (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

__kernel void gemm(__global const ushort *a, __global const ushort *b, __global ushort *d, const int m, const int n, const int k) {
    __local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int col = get_global_id(0), row = get_global_id(1);
    float     sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        a_tile[y][x] = row < m && first + x < k ? from_bf16(a[row * k + first + x]) : 0.0f;
        b_tile[y][x] = col < n && first + y < k ? from_bf16(b[(first + y) * n + col]) : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && col < n) d[row * n + col] = to_bf16(sum);
}
