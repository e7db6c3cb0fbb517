// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// top_p: a workgroup a row. The least key that stays is found bit by bit: the largest t for which what has key t or more reaches p of the
// sum. Of equal elements at that key the first stay, as many as are needed. A pass over the row a bit, whatever is kept.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
#include "group.glsl"
#include "pick.glsl"
PORT_IN(0, x) PORT_OUT(1, y)
PARAMS(int rows; int vocab; float p_limit;)

// The sum of exp(x - top) over keys from `least` on.
float sum_from(uint lane, uint from, float top, uint least) {
    float part = 0.0;
    for (uint i = lane; i < uint(p.vocab); i += LANES) {
        const float v = T_LOAD(x, from + i);
        if (key_of(v) >= least) part += lb_exp(v - top);
    }
    return group_sum(lane, part);
}

// How many elements of that key have an index up to `last`.
float equal_up_to(uint lane, uint from, uint key, uint last) {
    float part = 0.0;
    for (uint i = lane; i < uint(p.vocab) && i <= last; i += LANES) part += key_of(T_LOAD(x, from + i)) == key ? 1.0 : 0.0;
    return group_sum(lane, part);
}

void main() {
    const uint lane = gl_LocalInvocationID.x, vocab = uint(p.vocab), from = gl_WorkGroupID.x * vocab;
    float top = -lb_inf();
    for (uint i = lane; i < vocab; i += LANES) {
        const float v = T_LOAD(x, from + i);
        top = lb_isnan(v) || v > top ? v : top;
    }
    top = group_max(lane, top);
    const float wanted = max(p.p_limit * sum_from(lane, from, top, 0u), 1.0e-30); // p = 0 keeps the largest, whose part is 1
    uint least = 0u;
    for (uint bit = 0x80000000u; bit != 0u; bit >>= 1)
        if (sum_from(lane, from, top, least | bit) >= wanted) least |= bit;
    const float above = least == 0xffffffffu ? 0.0 : sum_from(lane, from, top, least + 1u);
    const float equal = equal_up_to(lane, from, least, NONE);
    const float each = equal > 0.0 ? (sum_from(lane, from, top, least) - above) / equal : 0.0;
    float needed = equal; // all, where each is nothing or NaN
    if (each > 0.0) needed = min(max(ceil((wanted - above) / each), 1.0), equal);
    // The first index up to which there are as many as needed: bit by bit, the largest up to which there are fewer, and the next.
    uint last = NONE;
    if (needed < equal) {
        last = 0u;
        for (uint bit = 0x40000000u; bit != 0u; bit >>= 1)
            if ((last | bit) <= vocab && equal_up_to(lane, from, least, (last | bit) - 1u) < needed) last |= bit;
    }
    const float kept = above + needed * each;
    for (uint i = lane; i < vocab; i += LANES) {
        const float v = T_LOAD(x, from + i);
        const uint key = key_of(v);
        F32_STORE(y, from + i, key > least || (key == least && i <= last) ? lb_exp(v - top) / kept : 0.0);
    }
}
