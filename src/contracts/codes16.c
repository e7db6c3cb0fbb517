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

bool lb_are_near16(const lb_near16 *by, const uint16_t *a, const uint16_t *r, size_t count, lb_seen16 *seen) {
    const uint16_t magnitude = 0x7fff, inf = by->inf, budget = by->budget, sentinel = by->sentinel;
    const uint16_t guarded = by->has_sentinel;
    uint16_t far = 0, differ = 0, zeros = 0, most = 0;
    for (size_t i = 0; i < count; i++) { /* no branch: which pairs differ cannot be foreseen */
        const uint16_t x = a[i], y = r[i], mx = x & magnitude, my = y & magnitude;
        const uint16_t distance = x > y ? (uint16_t)(x - y) : (uint16_t)(y - x), apart = x != y;
        const uint16_t zero = (uint16_t)((mx == 0) | (my == 0)), unwritten = (uint16_t)(guarded & (x == sentinel));
        far |= (uint16_t)((mx >= inf) | (my >= inf) | (distance > budget) | (apart & (zero | unwritten)));
        differ = (uint16_t)(differ + apart);
        zeros = (uint16_t)(zeros + (my == 0));
        most = distance > most ? distance : most;
    }
    *seen = (lb_seen16){differ, zeros, most};
    return !far;
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
