/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: c and d between the caller's formats and the scaled domain. */
#ifndef LB_KERNELS_SCALE_H
#define LB_KERNELS_SCALE_H

#include "kernels/plan.h"

#include <string.h>

static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Bits of the f32 of an f16 code, or the code of an f32 that is an f16. */
static inline uint32_t widen16(uint32_t code) {
    const uint32_t sign = (code & 0x8000) << 16, mag = code & 0x7fff;
    if (mag >= 0x7c00) return sign | (mag == 0x7c00 ? 0x7f800000 : 0x7fffffff);
    if (mag >= 0x400) return sign | ((mag << 13) + (UINT32_C(112) << 23));
    return sign | bits_of((float)mag * 0x1p-24f);
}

static inline uint32_t narrow16(float x) {
    const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, mag = bits & 0x7fffffff;
    if (mag > 0x7f800000) return 0x7fff;
    if (mag >= UINT32_C(143) << 23) return sign | 0x7c00;
    if (mag >= UINT32_C(113) << 23) return sign | ((mag - (UINT32_C(112) << 23)) >> 13);
    return sign | (uint32_t)(float_of(mag) * 0x1p24f);
}

/* c 2^-x, of a row that takes the fast path. What falls below 2^-126 is below the last place of every block, and 0 here: a subnormal could
 * round up to it. */
static inline void scale_c(const uint32_t *c, int count, int x, float *out) {
    const uint32_t least = x >= 0 ? (uint32_t)(x + 1) << 23 : 0, offset = (uint32_t)x << 23;
    uint32_t bits[LB_NR];
    if (x < 0) { /* exact: upward */
        for (int j = 0; j < count; j++) out[j] = float_of(c[j]) * float_of((uint32_t)(127 - x) << 23);
        return;
    }
    for (int j = 0; j < count; j++) {
        const uint32_t mag = c[j] & 0x7fffffff, live = 0 - (uint32_t)(mag >= least);
        bits[j] = ((mag - offset) | (c[j] & 0x80000000)) & live;
    }
    memcpy(out, bits, (size_t)count * sizeof *out);
}

/* values 2^x, exact: an f32, by two factors that are. */
static inline void unscale(float *values, int count, int x) {
    const float half = float_of((uint32_t)(x / 2 + 127) << 23), rest = float_of((uint32_t)(x - x / 2 + 127) << 23);
    for (int j = 0; j < count; j++) values[j] = values[j] * half * rest;
}

#endif
