// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// moe_route: a workgroup a row; the k largest logits, then their softmax.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
#include "pick.glsl"
PORT_IN(0, x) PORT_OUT(1, w) PORT_OUT(2, id)
PARAMS(int rows; int experts; int k;)

void main() {
    const uint lane = gl_LocalInvocationID.x, row = gl_WorkGroupID.x, from = row * uint(p.experts), to = row * uint(p.k);
    float top = 0.0, sum = 0.0;
    uvec2 last = uvec2(0, NONE), next;
    for (uint i = 0; i < uint(p.k); i++) {
        PICK_NEXT(x, from, p.experts, last, next)
        const float v = T_LOAD(x, from + next.y);
        if (i == 0) top = v;
        sum += lb_exp(v - top);
        if (lane == 0) {
            F32_STORE(w, to + i, v);
            id[to + i] = next.y;
        }
        last = next;
    }
    if (lane == 0)
        for (uint i = 0; i < uint(p.k); i++) F32_STORE(w, to + i, lb_exp(F32_LOAD(w, to + i) - top) / sum);
}
