// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// softmax: a workgroup a row.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int rows; int d;)

void main() {
    const uint lane = gl_LocalInvocationID.x, d = uint(p.d), from = gl_WorkGroupID.x * d;
    float top = -lb_inf(), sum = 0.0;
    for (uint i = lane; i < d; i += LANES) {
        const float v = T_LOAD(x, from + i);
        top = lb_isnan(v) || v > top ? v : top;
    }
    top = group_max(lane, top);
    for (uint i = lane; i < d; i += LANES) sum += lb_exp(T_LOAD(x, from + i) - top);
    sum = group_sum(lane, sum);
    for (uint i = lane; i < d; i += LANES) T_STORE(y, from + i, lb_exp(T_LOAD(x, from + i) - top) / sum);
}
