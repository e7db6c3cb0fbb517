/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: 128-bit unsigned integers, which both gcc and clang have on every 64-bit target. */
#ifndef LB_BASE_U128_H
#define LB_BASE_U128_H

#include <stdint.h>

__extension__ typedef unsigned __int128 lb_u128;

/* Bits needed to hold x; 0 for 0. */
static inline int lb_bit_length64(uint64_t x) {
    return x ? 64 - __builtin_clzll(x) : 0;
}

static inline int lb_bit_length128(lb_u128 x) {
    const uint64_t hi = (uint64_t)(x >> 64);
    return hi ? 64 + lb_bit_length64(hi) : lb_bit_length64((uint64_t)x);
}

#endif
