// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// rope: one invocation a pair, or a column past the pairs.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "turn.glsl"
layout(local_size_x = 32) in;
PORT_IN(0, x) PORT_IN(1, pos) PORT_OUT(2, y)
PARAMS(int rows; int d; int rotary; float theta; float scale;)

void main() {
    const int pair = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y), pairs = p.rotary / 2;
    if (row >= p.rows || pair >= p.d - pairs) return;
    if (pair >= pairs) {
        const int at = row * p.d + pair + pairs;
        const uint code = T_CODE(x, at);
        T_PUT(y, at, code);
        return;
    }
    const int first = row * p.d + pair, second = first + pairs;
    const float angle = float(int(pos[row])) / p.scale * inverse_power(p.theta, 2.0 * float(pair) / float(p.rotary));
    const vec2 turn = sine_cosine(angle);
    const float x1 = T_LOAD(x, first), x2 = T_LOAD(x, second);
    T_STORE(y, first, x1 * turn.y - x2 * turn.x);
    T_STORE(y, second, x2 * turn.y + x1 * turn.x);
}
