// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// top_p: a workgroup a row; takes the largest, one after another, until their share of the sum reaches p.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
#include "pick.glsl"
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int rows; int vocab; float p_limit;)

void main() {
    const uint lane = gl_LocalInvocationID.x, vocab = uint(p.vocab), from = gl_WorkGroupID.x * vocab;
    float top = -lb_inf(), sum = 0.0, kept = 0.0;
    for (uint i = lane; i < vocab; i += LANES) {
        const float v = T_LOAD(x, from + i);
        top = lb_isnan(v) || v > top ? v : top;
    }
    top = group_max(lane, top);
    for (uint i = lane; i < vocab; i += LANES) sum += lb_exp(T_LOAD(x, from + i) - top);
    sum = group_sum(lane, sum);
    uvec2 last = uvec2(0, NONE), next;
    for (uint i = 0; i < vocab; i++) {
        PICK_NEXT(x, from, vocab, last, next)
        last = next;
        kept += lb_exp(T_LOAD(x, from + next.y) - top);
        if (kept / sum >= p.p_limit) break;
    }
    for (uint i = lane; i < vocab; i += LANES) {
        const float v = T_LOAD(x, from + i);
        const bool stays = !comes_before(last.x, last.y, key_of(v), i);
        F32_STORE(y, from + i, stays ? lb_exp(v - top) / kept : 0.0);
    }
}
