/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows that operations are recorded with. They depend on the kind of a word and its place among the inputs, never on the operation. */
#include "scalar/scalar_value.h"

enum { SIDE = 24, CROSSED = SIDE * SIDE };

/* Integers of every width: around zero, shift counts and field widths, powers of two, the ends, alternating bits. */
static const uint64_t integers[SIDE] = {
    0,    1,    2,    3,      7,      8,      15,         16,         31,         32,         33,         63,
    0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x55555555, 0x01000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
};

/* The same for 64 bits, where the ends are elsewhere. */
static const uint64_t wide_ends[] = {UINT64_C(0x5555555555555555), UINT64_C(0x100000000),        UINT64_C(0x7fffffffffffffff),
                                     UINT64_C(0x8000000000000000), UINT64_C(0xfffffffffffffffe), UINT64_C(0xffffffffffffffff)};

static uint64_t edge_integer(int bits, unsigned i) {
    const unsigned from = SIDE - sizeof wide_ends / sizeof wide_ends[0];
    return bits == 64 && i >= from ? wide_ends[i - from] : integers[i] & lb_word_mask(bits);
}

/* Eleven magnitudes with both signs, and two NaN: zero, the least and the greatest subnormal, the least normal, one and its neighbours,
 * a third of three, a half between two integers, the greatest number, Inf. */
static uint64_t edge_float(const lb_format *f, unsigned i) {
    const uint64_t one = lb_from_double(f, 1.0), inf = lb_max_code(f) + 1, normal = UINT64_C(1) << f->man_bits;
    const uint64_t magnitudes[] = {0,  1, normal - 1, normal, one - 1, one, one + 1, inf - 1, lb_from_double(f, 3), lb_from_double(f, 2.5),
                                   inf};
    const unsigned count = sizeof magnitudes / sizeof magnitudes[0];
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    if (i < 2 * count) return magnitudes[i / 2] | (i % 2 ? sign : 0);
    return i == 2 * count ? lb_scalar_nan(f) : (inf | 1 | sign); /* the second one is signalling */
}

/* A half of the drawn floats have any bits; the others lie within 2^±8 of one, where sums cancel and round. */
static uint64_t drawn_float(const lb_format *f, uint64_t random) {
    const uint64_t any = random & lb_word_mask(f->bits);
    if (random >> 63) return any;
    const uint64_t exp = (uint64_t)(f->bias - 8) + (random >> 56 & 15);
    return (any & ~(lb_word_mask(f->exp_bits) << f->man_bits)) | exp << f->man_bits;
}

/* Drawn words of 32 bits are any bits, or two halves near one as f16 has them, which serve the operands of matrix units. */
static uint64_t drawn_bits(int bits, uint64_t random, uint64_t more) {
    const lb_format *f16 = lb_format_row(LB_F16);
    if (bits != 32 || random >> 63) return more & lb_word_mask(bits);
    return drawn_float(f16, more & ~(UINT64_C(1) << 63)) << 16 | drawn_float(f16, random & ~(UINT64_C(1) << 63));
}

static uint64_t one_part(lb_word w, int input, uint64_t seed, uint64_t row, int part) {
    const lb_format *f = lb_word_format(w);
    const int bits = f ? f->bits : lb_word_bits(w);
    if (row < CROSSED) {
        /* inputs 0 and 1 meet in every pair; the others run through all values at other paces, and so do the halves of packed words */
        const uint64_t across = row / SIDE, down = row % SIDE, k = (uint64_t)(input / 2 + part);
        const uint64_t at = (input % 2 ? down + k * (5 * across + 7) : across + k * (5 * down + 11)) % SIDE;
        return f ? edge_float(f, (unsigned)at) : edge_integer(bits, (unsigned)at);
    }
    const uint32_t stream = (uint32_t)(4 * input + 2 * part);
    const uint64_t random = lb_random_u64(seed, stream, row);
    return f ? drawn_float(f, random) : drawn_bits(bits, random, lb_random_u64(seed, stream + 1, row));
}

uint64_t lb_scalar_input(lb_word w, int input, uint64_t seed, uint64_t row) {
    uint64_t word = 0;
    for (int p = 0; p < lb_word_parts(w); p++) word |= one_part(w, input, seed, row, p) << (16 * p);
    return word;
}
