// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// D = A B of f16, a 16x16 tile a workgroup, f32 sums; any shape. Two elements share a word: gemm_glsl.json.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer D { uint d[]; };
layout(push_constant) uniform Params { int m; int n; int k; } p;
shared float tile_a[16][16];
shared float tile_b[16][16];

float half_of(uint word, int i) {
    const vec2 both = unpackHalf2x16(word);
    return (i & 1) == 0 ? both.x : both.y;
}

void main() {
    const int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    const int col = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    float sum = 0.0;
    for (int from = 0; from < p.k; from += 16) {
        const int at_a = row * p.k + from + x, at_b = (from + y) * p.n + col;
        tile_a[y][x] = row < p.m && from + x < p.k ? half_of(a[at_a >> 1], at_a) : 0.0;
        tile_b[y][x] = col < p.n && from + y < p.k ? half_of(b[at_b >> 1], at_b) : 0.0;
        barrier();
        for (int l = 0; l < 16; l++) sum += tile_a[y][l] * tile_b[l][x];
        barrier();
    }
    if (row >= p.m || col >= p.n) return;
    const int at = row * p.n + col, shift = (at & 1) * 16;
    atomicAnd(d[at >> 1], ~(0xffffu << shift)); // the other half is another invocation's
    atomicOr(d[at >> 1], packHalf2x16(vec2(sum, 0.0)) << shift);
}
