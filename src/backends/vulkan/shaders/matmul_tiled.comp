// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// matmul_tiled: a workgroup makes a 16 x 16 tile of C; tiles of A and B pass through shared memory, zeros past the edges.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
const int TILE = 16;
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, a) PORT_IN(1, b) PORT_OUT(2, c)
PARAMS(int m; int k; int n;)
shared float tile_a[16][16];
shared float tile_b[16][16];

void main() {
    const int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    const int j = int(gl_WorkGroupID.x) * TILE + x, i = int(gl_WorkGroupID.y) * TILE + y;
    float sum = 0.0;
    for (int from = 0; from < p.k; from += TILE) {
        tile_a[y][x] = i < p.m && from + x < p.k ? T_LOAD(a, i * p.k + from + x) : 0.0;
        tile_b[y][x] = from + y < p.k && j < p.n ? T_LOAD(b, (from + y) * p.n + j) : 0.0;
        barrier();
        // Only what is there: a zero of the padding times Inf would be NaN.
        const int count = min(TILE, p.k - from);
        for (int l = 0; l < count; l++) sum += tile_a[y][l] * tile_b[l][x];
        barrier();
    }
    if (i < p.m && j < p.n) T_STORE(c, i * p.n + j, sum);
}
