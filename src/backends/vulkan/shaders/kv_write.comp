// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// kv_write: one invocation an element of the new cache; codes are copied as they are.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 32) in;
PORT_IN(0, cache) PORT_IN(1, x) PORT_OUT(2, y)
PARAMS(int len; int d; int at; int rows;)

void main() {
    const int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y), i = row * p.d + column;
    if (row >= p.len || column >= p.d) return;
    const int slot = row - p.at;
    uint code;
    if (slot >= 0 && slot < p.rows)
        code = T_CODE(x, slot * p.d + column);
    else
        code = T_CODE(cache, i);
    T_PUT(y, i, code);
}
