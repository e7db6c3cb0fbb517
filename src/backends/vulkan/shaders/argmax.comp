// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// argmax: a workgroup a row.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
#include "pick.glsl"
PORT_IN(0, x) PORT_OUT(1, id)
PARAMS(int rows; int vocab;)

void main() {
    const uint lane = gl_LocalInvocationID.x, row = gl_WorkGroupID.x;
    uvec2 last = uvec2(0, NONE), next;
    PICK_NEXT(x, row * uint(p.vocab), p.vocab, last, next)
    if (lane == 0) id[row] = next.y;
}
