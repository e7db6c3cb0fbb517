// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// add
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 64) in;
PORT_IN(0, x) PORT_IN(1, y) PORT_OUT(2, z)
PARAMS(int n;)

void main() {
    const int i = int(gl_GlobalInvocationID.x);
    if (i >= p.n) return;
    T_STORE(z, i, T_LOAD(x, i) + T_LOAD(y, i));
}
