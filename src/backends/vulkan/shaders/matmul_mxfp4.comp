// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// matmul_mxfp4: e2m1 elements, two a byte, under a power of two a block of 32.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "narrow.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, a) PORT_IN(1, sa) PORT_IN(2, b) PORT_IN(3, sb) PORT_OUT(4, c)
PARAMS(int m; int k; int n;)

void main() {
    const int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y), blocks = p.k / 32;
    if (i >= p.m || j >= p.n) return;
    float sum = 0.0;
    for (int g = 0; g < blocks; g++) {
        const float wa = e8m0_value(BYTE_LOAD(sa, i * blocks + g)), wb = e8m0_value(BYTE_LOAD(sb, j * blocks + g));
        for (int l = g * 32; l < g * 32 + 32; l++)
            sum += (wa * e2m1_value(NIBBLE_LOAD(a, i * p.k + l))) * (wb * e2m1_value(NIBBLE_LOAD(b, j * p.k + l)));
    }
    F32_STORE(c, i * p.n + j, sum);
}
