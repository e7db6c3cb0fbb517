// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// 1 / (1 + exp(-x)), one invocation an element: sigmoid.json.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Params { int n; } p;

void main() {
    const int i = int(gl_GlobalInvocationID.x);
    if (i < p.n) y[i] = 1.0 / (1.0 + exp(-x[i]));
}
