// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// attention_sink: the sink is one more logit in the largest and the sum, without a value.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, q) PORT_IN(1, k) PORT_IN(2, v) PORT_IN(3, sink) PORT_OUT(4, o)
PARAMS(int m; int seq; int d; int causal; int q_offset;)

float score(float product, int j) {
    return product / sqrt(float(p.d));
}
#include "flash.glsl"

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const int i = int(gl_WorkGroupID.x);
    const int end = p.causal != 0 ? min(p.seq, i + p.q_offset + 1) : p.seq;
    const float extra = F32_LOAD(sink, 0);
    ATTEND(i * p.d, 0, p.d, i * p.d, p.d, 0, end, extra)
}
