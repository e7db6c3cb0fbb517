// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// gelu by tanh, whose argument lb_tanh bounds: exp of an unbounded one would be Inf, and Inf / Inf NaN.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 64) in;
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int n;)

void main() {
    const int i = int(gl_GlobalInvocationID.x);
    if (i >= p.n) return;
    const float v = T_LOAD(x, i);
    const float inner = 0.7978845608 * (v + 0.044715 * v * v * v);
    T_STORE(y, i, 0.5 * v * (1.0 + lb_tanh(inner)));
}
