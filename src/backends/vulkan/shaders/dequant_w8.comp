// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// dequant_w8: one invocation an element.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, q) PORT_IN(1, scale) PORT_OUT(2, y)
PARAMS(int rows; int cols;)

void main() {
    const int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y), i = row * p.cols + column;
    if (row >= p.rows || column >= p.cols) return;
    T_STORE(y, i, I8_LOAD(q, i) * F32_LOAD(scale, row));
}
