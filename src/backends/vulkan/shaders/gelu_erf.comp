// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// gelu_erf: 1 + erf(z) is erfc(-z), which keeps its digits where erf(z) is near -1.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
layout(local_size_x = 64) in;
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int n;)

// exp(-z^2) t P(t) with t = 1 / (1 + z/2), for z in [0, 14]; relative error of P 7.5e-8.
float erfc_positive(float z) {
    const float t = 1.0 / (1.0 + 0.5 * z);
    float s = -0.110258793 + t * 0.0101381151;
    s = 0.395292468 + t * s;
    s = -0.621309007 + t * s;
    s = 0.377905077 + t * s;
    s = -0.0737969652 + t * s;
    s = 0.216776129 + t * s;
    s = 0.240546308 + t * s;
    s = 0.282630978 + t * s;
    s = 0.282075678 + t * s;
    // z^2 = head^2 + (z - head)(z + head), the first of which is exact.
    precise float head = uintBitsToFloat(floatBitsToUint(z) & 0xfffff000u);
    precise float rest = (z - head) * (z + head);
    return lb_exp(-head * head) * lb_exp(-rest) * t * s;
}

void main() {
    const int i = int(gl_GlobalInvocationID.x);
    if (i >= p.n) return;
    const float v = T_LOAD(x, i), z = abs(v) * 0.7071067812;
    const float tail = erfc_positive(min(z, 14.0));
    T_STORE(y, i, lb_isnan(v) ? v : 0.5 * v * (v < 0.0 ? tail : 2.0 - tail));
}
