// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// top_k: a workgroup a row; k rounds, each of which takes the first after the last.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
#include "pick.glsl"
PORT_IN(0, x) PORT_OUT(1, y) PORT_OUT(2, id)
PARAMS(int rows; int vocab; int k;)

void main() {
    const uint lane = gl_LocalInvocationID.x, row = gl_WorkGroupID.x, from = row * uint(p.vocab);
    uvec2 last = uvec2(0, NONE), next;
    for (int i = 0; i < p.k; i++) {
        PICK_NEXT(x, from, p.vocab, last, next)
        if (lane == 0) {
            const uint at = row * uint(p.k) + uint(i), code = T_CODE(x, from + next.y);
            T_PUT(y, at, code);
            id[at] = next.y;
        }
        last = next;
    }
}
