// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// silu_mul: the gate of a feed-forward, one invocation an element.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 64) in;
PORT_IN(0, g) PORT_IN(1, u) PORT_OUT(2, y)
PARAMS(int rows; int d;)

void main() {
    const int i = int(gl_GlobalInvocationID.x);
    if (i >= p.rows * p.d) return;
    const float v = T_LOAD(g, i);
    T_STORE(y, i, v / (1.0 + lb_exp(-v)) * T_LOAD(u, i));
}
