// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// cumsum: a workgroup a row; 64 elements at a time are summed by doubling steps, and the sum so far carried on.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int rows; int d;)

void main() {
    const uint lane = gl_LocalInvocationID.x, d = uint(p.d), from = gl_WorkGroupID.x * d;
    float carry = 0.0;
    for (uint tile = 0; tile < d; tile += LANES) {
        const uint i = tile + lane;
        float v = i < d ? T_LOAD(x, from + i) : 0.0;
        for (uint step = 1; step < LANES; step <<= 1) {
            barrier();
            group_value[lane] = v;
            barrier();
            if (lane >= step) v = group_value[lane - step] + v;
        }
        barrier();
        group_value[lane] = v;
        barrier();
        if (i < d) T_STORE(y, from + i, carry + v);
        carry += group_value[LANES - 1];
    }
}
