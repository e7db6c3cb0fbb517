/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The seeded generator of the tensor-core contract and the two orders that its tests compare. source: seed-contract */
#ifndef LB_TESTS_M16_SIM_H
#define LB_TESTS_M16_SIM_H

#include "lastbit/contracts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t lcg(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(*state >> 32);
}

static inline float bf16_float(uint16_t code) {
    const uint32_t bits = (uint32_t)code << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint16_t to_bf16(float x) {
    return (uint16_t)lb_from_double(lb_format_row(LB_BF16), (double)x);
}

/* ((x mod 2049) - 1024) / 1024, rounded to bf16. */
static inline float draw_bf16(uint64_t *state) {
    return bf16_float(to_bf16(((float)(lcg(state) % 2049) - 1024) / 1024));
}

/* Halving tree of 32 lanes: offsets 16, 8, 4, 2, 1. */
static inline float warp_tree(const float *lanes) {
    float v[32];
    memcpy(v, lanes, sizeof v);
    for (int offset = 16; offset; offset /= 2)
        for (int i = 0; i < offset; i++) v[i] += v[i + offset];
    return v[0];
}

/* Scalar GEMV: 64 lanes take chunks of `chunk` at stride 64 chunks; a tree for each warp, then their sum. */
static inline float gemv_order(const float *a, const float *b, size_t k, size_t chunk) {
    float lanes[64] = {0};
    for (size_t first = 0; first < k; first += chunk)
        for (size_t i = first; i < first + chunk && i < k; i++) lanes[first / chunk % 64] += a[i] * b[i];
    return warp_tree(lanes) + warp_tree(lanes + 32);
}

/* Per 16 products a balanced tree, added to one running f32. */
static inline float mma_order(const float *a, const float *b, size_t k) {
    float sum = 0;
    for (size_t first = 0; first < k; first += 16) {
        float v[16];
        for (size_t i = 0; i < 16; i++) v[i] = a[first + i] * b[first + i];
        for (size_t n = 8; n; n /= 2)
            for (size_t i = 0; i < n; i++) v[i] = v[2 * i] + v[2 * i + 1];
        sum += v[0];
    }
    return sum;
}

#endif
