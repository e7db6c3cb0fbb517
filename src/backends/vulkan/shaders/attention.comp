// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// attention: a workgroup a query.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, q) PORT_IN(1, k) PORT_IN(2, v) PORT_OUT(3, o)
PARAMS(int m; int seq; int d; int causal; int q_offset; int window; float softcap; float scale; float alibi;)

float score(float product, int j) {
    const int position = int(gl_WorkGroupID.x) + p.q_offset;
    float s = p.scale != 0.0 ? product * p.scale : product / sqrt(float(p.d));
    if (p.softcap != 0.0) s = p.softcap * lb_tanh(s / p.softcap);
    return s + p.alibi * float(j - position);
}
#include "flash.glsl"

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const int i = int(gl_WorkGroupID.x), position = i + p.q_offset;
    const int first = p.window > 0 ? max(0, position - p.window + 1) : 0;
    const int end = p.causal != 0 ? min(p.seq, position + 1) : p.seq;
    ATTEND(i * p.d, 0, p.d, i * p.d, p.d, first, end, -lb_inf())
}
