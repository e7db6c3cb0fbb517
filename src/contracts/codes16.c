/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "contracts/codes16.h"

#include <string.h>

enum { BLOCK = 64 };

size_t lb_equal_run16(const uint16_t *a, const uint16_t *b, size_t count) {
    size_t i = 0;
    while (count - i >= BLOCK && memcmp(a + i, b + i, BLOCK * sizeof *a) == 0) i += BLOCK;
    while (i < count && a[i] == b[i]) i++;
    return i;
}

uint64_t lb_count_zeros16(const uint16_t *codes, size_t count) {
    uint64_t zeros = 0;
    for (size_t i = 0; i < count; i++) zeros += (codes[i] & 0x7fff) == 0;
    return zeros;
}

/* The high half of an f32. */
static double wide(uint16_t code) {
    const uint32_t bits = (uint32_t)code << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

double lb_sum_squares(const lb_format *f, const double *values, const uint16_t *codes, size_t count, double start) {
    const bool half_of_f32 = f->special == LB_SPECIAL_IEEE && f->bits == 16 && f->exp_bits == 8;
    if (half_of_f32)
        for (size_t i = 0; i < count; i++) start += wide(codes[i]) * wide(codes[i]);
    else
        for (size_t i = 0; i < count; i++) start += values[codes[i]] * values[codes[i]];
    return start;
}
