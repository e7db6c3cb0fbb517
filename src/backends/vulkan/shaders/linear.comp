// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// linear: the sum starts at the bias.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, x) PORT_IN(1, w) PORT_IN(2, b) PORT_OUT(3, y)
PARAMS(int m; int k; int n;)

void main() {
    const int o = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    if (i >= p.m || o >= p.n) return;
    float sum = T_LOAD(b, o);
    for (int l = 0; l < p.k; l++) sum += T_LOAD(x, i * p.k + l) * T_LOAD(w, o * p.k + l);
    T_STORE(y, i * p.n + o, sum);
}
