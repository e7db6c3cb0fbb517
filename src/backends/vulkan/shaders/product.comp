// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
// D = A B + C of matrices in any of f32, f16, bf16, e4m3, e5m2, by tiles through shared memory; the sum starts at C, in f32.
#extension GL_GOOGLE_include_directive : require
#include "lb.glsl"
const int TILE = 16;
layout(local_size_x = 16, local_size_y = 16) in;
PORT_IN(0, a) PORT_IN(1, b) PORT_IN(2, c) PORT_OUT(3, d)
PARAMS(int m; int n; int k; int tb; int has_c; int a_exp; int a_man; int b_exp; int b_man; int c_exp; int c_man; int d_exp; int d_man;)
shared float tile_a[16][16];
shared float tile_b[16][16];

// Formats with 8 bits of exponent are f32 cut short; the others are small enough for f32 to hold a power of two times the mantissa.
float value_of(uint code, int exp_bits, int man_bits) {
    if (exp_bits == 8) return uintBitsToFloat(code << (23 - man_bits));
    const uint man = code & ((1u << man_bits) - 1u), e = (code >> man_bits) & ((1u << exp_bits) - 1u), top = (1u << exp_bits) - 1u;
    const bool e4m3 = exp_bits == 4;
    const int bias = (1 << (exp_bits - 1)) - 1;
    float size;
    if (e == top && (!e4m3 || man == 7u))
        size = uintBitsToFloat(man == 0u ? 0x7f800000u : 0x7fc00000u);
    else if (e == 0u)
        size = float(man) * uintBitsToFloat(uint(128 - bias - man_bits) << 23);
    else
        size = uintBitsToFloat(((e + uint(127 - bias)) << 23) | (man << (23 - man_bits)));
    return (code >> (exp_bits + man_bits)) != 0u ? -size : size;
}

#define CODE(port, i, exp_bits, man_bits) \
    ((exp_bits) + (man_bits) == 31 ? port[i] : (exp_bits) + (man_bits) == 15 ? HALF_CODE(port, i) : BYTE_LOAD(port, i))
#define HALF_CODE(port, i) bitfieldExtract(port[(i) >> 1], ((i) & 1) * 16, 16)
#define VALUE(port, i, name) value_of(CODE(port, i, p.name##_exp, p.name##_man), p.name##_exp, p.name##_man)

void main() {
    const int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    const int j = int(gl_WorkGroupID.x) * TILE + x, i = int(gl_WorkGroupID.y) * TILE + y;
    const bool inside = i < p.m && j < p.n;
    float sum = inside && p.has_c != 0 ? VALUE(c, i * p.n + j, c) : 0.0;
    for (int from = 0; from < p.k; from += TILE) {
        if (i < p.m && from + x < p.k) tile_a[y][x] = VALUE(a, i * p.k + from + x, a);
        if (from + y < p.k && j < p.n) {
            const int at = p.tb != 0 ? j * p.k + from + y : (from + y) * p.n + j;
            tile_b[y][x] = VALUE(b, at, b);
        }
        barrier();
        const int count = min(TILE, p.k - from);
        for (int l = 0; l < count; l++) sum += tile_a[y][l] * tile_b[l][x];
        barrier();
    }
    if (!inside) return;
    const int at = i * p.n + j;
    if (p.d_man == 23) {
        d[at] = floatBitsToUint(sum);
    } else {
        const uint code = p.d_exp == 8 ? bf16_round(sum) : f16_round(sum);
        atomicAnd(d[at >> 1], (at & 1) != 0 ? 0x0000ffffu : 0xffff0000u);
        atomicOr(d[at >> 1], code << ((at & 1) * 16));
    }
}
