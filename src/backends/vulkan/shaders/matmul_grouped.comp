// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// matmul_grouped: each row of x meets the weights of its expert.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, x) PORT_IN(1, w) PORT_IN(2, id) PORT_OUT(3, y)
PARAMS(int rows; int experts; int k; int n;)

void main() {
    const int j = int(gl_GlobalInvocationID.x), r = int(gl_GlobalInvocationID.y);
    if (r >= p.rows || j >= p.n) return;
    const int from = (int(id[r]) * p.n + j) * p.k;
    float sum = 0.0;
    for (int l = 0; l < p.k; l++) sum += T_LOAD(w, from + l) * T_LOAD(x, r * p.k + l);
    T_STORE(y, r * p.n + j, sum);
}
