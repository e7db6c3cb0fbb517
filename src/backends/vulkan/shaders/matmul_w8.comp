// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// matmul_w8: integer weights, each multiplied by its row's scale as it is used.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, x) PORT_IN(1, scale) PORT_IN(2, q) PORT_OUT(3, y)
PARAMS(int m; int k; int n;)

void main() {
    const int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    if (i >= p.m || j >= p.n) return;
    const float s = F32_LOAD(scale, j);
    float sum = 0.0;
    for (int l = 0; l < p.k; l++) sum += T_LOAD(x, i * p.k + l) * (I8_LOAD(q, j * p.k + l) * s);
    T_STORE(y, i * p.n + j, sum);
}
