// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// rmsnorm: a workgroup a row.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, x) PORT_IN(1, gamma) PORT_OUT(2, y)
PARAMS(int rows; int d; float eps;)

void main() {
    const uint lane = gl_LocalInvocationID.x, d = uint(p.d), from = gl_WorkGroupID.x * d;
    float squares = 0.0;
    for (uint i = lane; i < d; i += LANES) {
        const float v = T_LOAD(x, from + i);
        squares += v * v;
    }
    const float scale = 1.0 / sqrt(group_sum(lane, squares) / float(d) + p.eps);
    for (uint i = lane; i < d; i += LANES) T_STORE(y, from + i, T_LOAD(x, from + i) * scale * T_LOAD(gamma, i));
}
