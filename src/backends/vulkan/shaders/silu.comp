// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// silu: exp(-x) may overflow to Inf, and x / Inf is the right 0.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 64) in;
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int n;)

void main() {
    const int i = int(gl_GlobalInvocationID.x);
    if (i >= p.n) return;
    const float v = T_LOAD(x, i);
    T_STORE(y, i, v / (1.0 + lb_exp(-v)));
}
