/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* D = A B + C in any of the formats below: LB_IN_A, LB_IN_B, LB_IN_C (where there is a C) and LB_OUT name them, LB_TURNED says that B is
 * stored [n][k]. Sums are f32; tiles go through local memory. */
enum { TILE = 16 };

float in_f32(global const void *p, size_t i) { return ((global const float *)p)[i]; }
float in_f16(global const void *p, size_t i) { return vload_half(i, (global const half *)p); }
float in_bf16(global const void *p, size_t i) { return as_float((uint)((global const ushort *)p)[i] << 16); }
float in_e4m3(global const void *p, size_t i) { return from_e4m3(((global const uchar *)p)[i]); }
float in_e5m2(global const void *p, size_t i) {
    const ushort h = (ushort)(((global const uchar *)p)[i] << 8);
    return vload_half(0, (const half *)&h);
}

void out_f32(global void *p, size_t i, float v) { ((global float *)p)[i] = v; }
void out_f16(global void *p, size_t i, float v) { vstore_half_rte(v, i, (global half *)p); }
void out_bf16(global void *p, size_t i, float v) {
    const uint u = as_uint(v);
    ((global ushort *)p)[i] = isnan(v) ? (ushort)(u >> 16 | 0x40u) : (ushort)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

GROUP void product(global const void *a, global const void *b,
#ifdef LB_IN_C
                   global const void *c,
#endif
                   global void *d, int m, int n, int k) {
    SHARED float at[TILE][TILE + 1], bt[TILE][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1), j = get_global_id(0), i = get_global_id(1), b_row = j - x + y;
    float sum = 0.0f;
#ifdef LB_IN_C
    if (i < m && j < n) sum = LB_IN_C(c, (size_t)i * n + j);
#endif
    for (int l = 0; l < k; l += TILE) {
        at[y][x] = i < m && l + x < k ? LB_IN_A(a, (size_t)i * k + l + x) : 0.0f;
        if (LB_TURNED)
            bt[x][y] = b_row < n && l + x < k ? LB_IN_B(b, (size_t)b_row * k + l + x) : 0.0f;
        else
            bt[y][x] = l + y < k && j < n ? LB_IN_B(b, (size_t)(l + y) * n + j) : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = 0; t < TILE; t++) sum = fma(at[y][t], bt[t][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < m && j < n) LB_OUT(d, (size_t)i * n + j, sum);
}
