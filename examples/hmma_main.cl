/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What stands behind an emitted fragment (docs/tutorial-emulator.md): D = A B by exact HMMA, a 16x8 tile of D a group of 32.
 * a [m][k], b [k][n] of f16, d [m][n] of f32, row-major; m, n, k multiples of 16, 8, 16. */
#define HMMA sm_80_mma_m16n8k16_f32_f16_f16_f32

__kernel void gemm(__global const ushort *a, __global const ushort *b, __global uint *d, const int n, const int k) {
    __local uint words[768];
    const int lane = get_local_id(0), g = lane / 4, t = lane % 4; /* PTX's groupID and threadID_in_group */
    const int row = get_group_id(0) * 16 + g, col = get_group_id(1) * 8;
    uint x[4], y[2], sum[4] = {0, 0, 0, 0}, next[4];
    for (int from = 0; from < k; from += 16) {
        for (int i = 0; i < 4; i++) {
            const int at = (row + 8 * (i % 2)) * k + from + 2 * t + 8 * (i / 2);
            x[i] = a[at] | (uint)a[at + 1] << 16;
        }
        for (int i = 0; i < 2; i++) {
            const int at = (from + 2 * t + 8 * i) * n + col + g;
            y[i] = b[at] | (uint)b[at + n] << 16;
        }
        HMMA(lane, x, y, sum, next, words);
        for (int i = 0; i < 4; i++) sum[i] = next[i];
    }
    for (int i = 0; i < 4; i++) d[(row + 8 * (i / 2)) * n + col + 2 * t + i % 2] = sum[i];
}
