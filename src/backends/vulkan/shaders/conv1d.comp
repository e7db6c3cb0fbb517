// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// conv1d: one invocation an element; zeros before the start are not read.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 32) in;
PORT_IN(0, x) PORT_IN(1, w) PORT_IN(2, b) PORT_OUT(3, y)
PARAMS(int seq; int d; int width;)

void main() {
    const int channel = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    if (i >= p.seq || channel >= p.d) return;
    float sum = T_LOAD(b, channel);
    for (int t = max(0, p.width - 1 - i); t < p.width; t++)
        sum += T_LOAD(w, channel * p.width + t) * T_LOAD(x, (i - p.width + 1 + t) * p.d + channel);
    T_STORE(y, i * p.d + channel, sum);
}
