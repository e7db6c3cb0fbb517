/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands that anyone can draw again: counter-based words, integer arithmetic, one rounding. */
#include "lastbit/refs.h"

enum { WORDS = 4 }; /* random words set aside for one code */

static uint64_t word(uint64_t seed, uint32_t stream, uint64_t index, int i) {
    return lb_random_u64(seed, stream, index * WORDS + (uint64_t)i);
}

static lb_value integer_times_power(int64_t n, int32_t exp) {
    if (n == 0) return (lb_value){.cls = LB_ZERO};
    return (lb_value){.cls = LB_FINITE, .negative = n < 0, .exp = exp, .lo = n < 0 ? 0 - (uint64_t)n : (uint64_t)n};
}

/* Twelve 16-bit uniforms less six: mean 0, variance 1 - 2^-32, no tail beyond 6. */
static lb_value normal_value(uint64_t seed, uint32_t stream, uint64_t index) {
    int64_t sum = 0;
    for (int i = 0; i < 3; i++)
        for (uint64_t w = word(seed, stream, index, i), j = 0; j < 4; j++, w >>= 16) sum += (int64_t)(w & 0xffff);
    return integer_times_power(2 * (sum - 6 * 65536) + 12, -17); /* each uniform is (u + 1/2) / 2^16 */
}

/* Any sign and mantissa, exponents over twenty binades around 1, fewer where the format has fewer. */
static lb_value wide_value(const lb_format *f, uint64_t w) {
    const int32_t e_min = 1 - f->bias > -10 ? 1 - f->bias : -10;
    const int32_t top = (int32_t)(lb_max_code(f) >> f->pad_bits >> f->man_bits) - f->bias - 1;
    const int32_t e_max = top < 9 ? top : 9;
    const int32_t e = e_min + (int32_t)((w >> 8 & 0xffff) % (uint64_t)(e_max - e_min + 1));
    const uint64_t man = (f->man_bits ? w >> 24 & (~UINT64_C(0) >> (64 - f->man_bits)) : 0) | UINT64_C(1) << f->man_bits;
    return (lb_value){.cls = LB_FINITE, .negative = f->sign_bits && (w & 1), .exp = e - f->man_bits, .lo = man};
}

/* A random code that is finite; the last try always is. */
static uint64_t finite_bits(const lb_format *f, uint64_t seed, uint32_t stream, uint64_t index) {
    const uint64_t mask = ~UINT64_C(0) >> (64 - f->bits);
    for (int i = 0; i < WORDS; i++) {
        const uint64_t code = word(seed, stream, index, i) & mask;
        if (lb_code_class(f, code) <= LB_FINITE) return code;
    }
    return lb_max_code(f);
}

static uint64_t special_bits(const lb_format *f, uint64_t seed, uint32_t stream, uint64_t index) {
    const uint64_t w = word(seed, stream, index, 3);
    const uint64_t sign = f->sign_bits && (w >> 8 & 1) ? UINT64_C(1) << (f->bits - 1) : 0;
    uint64_t code = lb_min_code(f);
    switch (w % 16) {
    case 0: return sign;
    case 1: return sign | code;
    case 2: return sign | lb_max_code(f);
    case 3: return lb_inf_code(f, &code) ? sign | code : code;
    case 4: lb_nan_code(f, &code); return code;
    case 5: return lb_from_double(f, sign ? -1.0 : 1.0);
    default: return finite_bits(f, seed, stream, index);
    }
}

uint64_t lb_draw(const lb_format *f, lb_dist dist, uint64_t seed, uint32_t stream, uint64_t index) {
    const uint64_t w = word(seed, stream, index, 0);
    if (f->special == LB_SPECIAL_INT && dist != LB_DIST_INTEGER && dist != LB_DIST_SPECIAL) return finite_bits(f, seed, stream, index);
    switch (dist) {
    case LB_DIST_UNIFORM: return lb_encode(f, integer_times_power((int64_t)(w % 2049) - 1024, -10), NULL, NULL);
    case LB_DIST_NORMAL: return lb_encode(f, normal_value(seed, stream, index), NULL, NULL);
    case LB_DIST_INTEGER: return lb_encode(f, integer_times_power((int64_t)(w % 9) - 4, 0), NULL, NULL);
    case LB_DIST_WIDE: return lb_encode(f, wide_value(f, w), NULL, NULL);
    case LB_DIST_SPECIAL: return special_bits(f, seed, stream, index);
    case LB_DIST_BITS:
    case LB_DIST_COUNT: break;
    }
    return finite_bits(f, seed, stream, index);
}

void lb_draw_mat(lb_mat *m, lb_dist dist, uint64_t seed, uint32_t stream) {
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++)
            lb_store_code(lb_mat_at(m, r, c), m->format->bytes, lb_draw(m->format, dist, seed, stream, r * m->cols + c));
}
