/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: sums of products in a fixed-point accumulator that holds every f64 product, so nothing is ever rounded. */
#ifndef LB_FORMATS_EXACT_SUM_H
#define LB_FORMATS_EXACT_SUM_H

#include "lastbit/formats.h"

enum {
    LB_EXACT_BASE = -2240, /* exponent of bit 0; the least bit of a product of two f64 is 2^-2148 */
    LB_EXACT_DIGITS = 136  /* of 32 bits: up to 2^2112, room for 2^64 products of the largest f64 */
};

typedef struct lb_exact_sum {
    int64_t digits[LB_EXACT_DIGITS]; /* little-endian, radix 2^32, signed and lazily carried */
    size_t pending;                  /* additions since the last carry */
} lb_exact_sum;

void lb_exact_sum_clear(lb_exact_sum *s);

/* Add a*b, or a alone with b = NULL. a, b finite or zero, each at most 64 bits of significand. */
void lb_exact_sum_add(lb_exact_sum *s, lb_value a, const lb_value *b);

/* The sum as a value; its leading 128 bits, and sticky if anything lies below. A zero sum is +0. */
lb_value lb_exact_sum_value(lb_exact_sum *s);

#endif
