// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// matmul_w4: two weights a byte, the low half first; a scale and a zero for each group of a row.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "narrow.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, x) PORT_IN(1, q) PORT_IN(2, scale) PORT_IN(3, zero) PORT_OUT(4, y)
PARAMS(int m; int k; int n; int group;)

void main() {
    const int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y), groups = p.k / p.group;
    if (i >= p.m || j >= p.n) return;
    float sum = 0.0;
    for (int l = 0; l < p.k; l++) {
        const int g = j * groups + l / p.group;
        const float w = (float(NIBBLE_LOAD(q, j * p.k + l)) - float(BYTE_LOAD(zero, g))) * F32_LOAD(scale, g);
        sum += T_LOAD(x, i * p.k + l) * w;
    }
    T_STORE(y, i * p.n + j, sum);
}
