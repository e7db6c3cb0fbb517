// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// attention_cached: the newest row over the rows of the cache that are filled; what lies past them is not read.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, q) PORT_IN(1, k) PORT_IN(2, v) PORT_OUT(3, o)
PARAMS(int len; int d; int rows;)

float score(float product, int j) {
    return product / sqrt(float(p.d));
}
#include "flash.glsl"

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const int end = min(p.rows, p.len);
    ATTEND(0, 0, p.d, 0, p.d, 0, end, -lb_inf())
}
