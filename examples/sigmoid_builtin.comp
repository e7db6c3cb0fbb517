#version 450
// SPDX-License-Identifier: MIT OR Apache-2.0
// A user's kernel: sigmoid by the driver's own exp(). Buffers in the operator's order, then its parameters (docs/kernel-json.md).
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer x_port { float x[]; };
layout(set = 0, binding = 1, std430) buffer y_port { float y[]; };
layout(push_constant, std430) uniform params { int n; } p;
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < uint(p.n)) y[i] = 1.0 / (1.0 + exp(-x[i]));
}
