// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// selective_scan: an invocation a channel, whose states it keeps; state <= STATES (launches.def says so too).
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
const int STATES = 64;
layout(local_size_x = 32) in;
PORT_IN(0, u) PORT_IN(1, delta) PORT_IN(2, a) PORT_IN(3, b) PORT_IN(4, c) PORT_OUT(5, y)
PARAMS(int seq; int d; int state;)

void main() {
    const int channel = int(gl_GlobalInvocationID.x);
    if (channel >= p.d) return;
    float h[STATES];
    for (int s = 0; s < p.state; s++) h[s] = 0.0;
    for (int t = 0; t < p.seq; t++) {
        const int at = t * p.d + channel;
        const float step = T_LOAD(delta, at), input_ = step * T_LOAD(u, at);
        float sum = 0.0;
        for (int s = 0; s < p.state; s++) {
            h[s] = lb_exp(step * F32_LOAD(a, channel * p.state + s)) * h[s] + input_ * T_LOAD(b, t * p.state + s);
            sum += T_LOAD(c, t * p.state + s) * h[s];
        }
        T_STORE(y, at, sum);
    }
}
