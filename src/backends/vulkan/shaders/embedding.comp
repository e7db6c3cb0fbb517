// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// embedding: one invocation an element; codes are copied as they are.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 32) in;
PORT_IN(0, table) PORT_IN(1, id) PORT_OUT(2, y)
PARAMS(int vocab; int d; int rows;)

void main() {
    const int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    if (row >= p.rows || column >= p.d) return;
    const int from = int(id[row]) * p.d + column, to = row * p.d + column;
    const uint code = T_CODE(table, from);
    T_PUT(y, to, code);
}
