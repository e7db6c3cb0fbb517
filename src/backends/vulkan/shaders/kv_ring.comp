// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// kv_ring: one invocation an element of the new cache. The last row that lands on a slot stays.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 32) in;
PORT_IN(0, cache) PORT_IN(1, x) PORT_OUT(2, y)
PARAMS(int len; int d; int at; int rows;)

void main() {
    const int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y), i = row * p.d + column;
    if (row >= p.len || column >= p.d) return;
    const int first = (row - p.at % p.len + p.len) % p.len; // the first row of x that lands here
    uint code;
    if (first < p.rows) {
        const int last = first + (p.rows - 1 - first) / p.len * p.len;
        code = T_CODE(x, last * p.d + column);
    } else
        code = T_CODE(cache, i);
    T_PUT(y, i, code);
}
