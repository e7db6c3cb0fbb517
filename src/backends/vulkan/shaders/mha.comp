// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// mha: a workgroup a query and head; several heads share the keys of one.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, q) PORT_IN(1, k) PORT_IN(2, v) PORT_OUT(3, o)
PARAMS(int seq; int heads; int kv_heads; int d; int causal;)

float score(float product, int j) {
    return product / sqrt(float(p.d));
}
#include "flash.glsl"

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const int i = int(gl_WorkGroupID.x), head = int(gl_WorkGroupID.y), kv_head = head / (p.heads / p.kv_heads);
    const int at = (i * p.heads + head) * p.d, end = p.causal != 0 ? min(p.seq, i + 1) : p.seq;
    ATTEND(at, kv_head * p.d, p.kv_heads * p.d, at, p.d, 0, end, -lb_inf())
}
