// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// cross_entropy: a workgroup a row. max - x[id] is small beside neither, so it is taken first.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, x) PORT_IN(1, id) PORT_OUT(2, loss)
PARAMS(int rows; int vocab;)

void main() {
    const uint lane = gl_LocalInvocationID.x, row = gl_WorkGroupID.x, vocab = uint(p.vocab), from = row * vocab;
    float top = -lb_inf(), sum = 0.0;
    for (uint i = lane; i < vocab; i += LANES) {
        const float v = T_LOAD(x, from + i);
        top = lb_isnan(v) || v > top ? v : top;
    }
    top = group_max(lane, top);
    for (uint i = lane; i < vocab; i += LANES) sum += lb_exp(T_LOAD(x, from + i) - top);
    sum = group_sum(lane, sum);
    if (lane == 0) F32_STORE(loss, row, lb_log(sum) + (top - T_LOAD(x, from + id[row])));
}
