// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// matmul: one invocation an element of C, l ascending.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, a) PORT_IN(1, b) PORT_OUT(2, c)
PARAMS(int m; int k; int n;)

void main() {
    const int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    if (i >= p.m || j >= p.n) return;
    float sum = 0.0;
    for (int l = 0; l < p.k; l++) sum += T_LOAD(a, i * p.k + l) * T_LOAD(b, l * p.n + j);
    T_STORE(c, i * p.n + j, sum);
}
