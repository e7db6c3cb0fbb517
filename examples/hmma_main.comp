// SPDX-License-Identifier: MIT OR Apache-2.0
// What stands behind it: D = A B by exact HMMA, a 16x8 tile of D a group. m, n, k multiples of 16, 8, 16.
uint a_at(int i) { return a_words[i >> 1] >> ((i & 1) * 16) & 0xffffu; }
uint b_at(int i) { return b_words[i >> 1] >> ((i & 1) * 16) & 0xffffu; }

void main() {
    const int lane = int(gl_LocalInvocationID.x), g = lane / 4, t = lane % 4; // PTX's groupID and threadID_in_group
    const int row = int(gl_WorkGroupID.x) * 16 + g, col = int(gl_WorkGroupID.y) * 8;
    uint x[4], y[2], sum[4] = uint[4](0u, 0u, 0u, 0u), next[4];
    for (int from = 0; from < p.k; from += 16) {
        for (int i = 0; i < 4; i++) {
            const int at = (row + 8 * (i % 2)) * p.k + from + 2 * t + 8 * (i / 2);
            x[i] = a_at(at) | a_at(at + 1) << 16;
        }
        for (int i = 0; i < 2; i++) {
            const int at = (from + 2 * t + 8 * i) * p.n + col + g;
            y[i] = b_at(at) | b_at(at + p.n) << 16;
        }
        sm_80_mma_m16n8k16_f32_f16_f16_f32(uint(lane), x, y, sum, next);
        sum = next;
    }
    for (int i = 0; i < 4; i++) d_words[(row + 8 * (i / 2)) * p.n + col + 2 * t + i % 2] = sum[i];
}
