/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bit counts, bit fields, permutes, logic, shifts. source: ptx-isa */
#include "scalar/scalar_value.h"

static uint64_t reverse(uint64_t x, int bits) {
    uint64_t y = 0;
    for (int i = 0; i < bits; i++) y |= (x >> i & 1) << (bits - 1 - i);
    return y;
}

/* The most significant bit that differs from the sign; -1 if there is none. */
static int find(lb_word w, uint64_t x) {
    const int bits = lb_word_bits(w);
    if (lb_word_is_signed(w) && x >> (bits - 1) & 1) x = ~x & lb_word_mask(bits);
    return lb_bit_length64(x) - 1;
}

void lb_scalar_count(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = lb_word_bits(op->in[0]), at = find(op->in[0], in[0]);
    switch (r->what) {
    case LB_POPC: out[0] = (uint64_t)__builtin_popcountll(in[0]); break;
    case LB_CLZ: out[0] = (uint64_t)(bits - lb_bit_length64(in[0])); break;
    case LB_BREV: out[0] = reverse(in[0], bits); break;
    case LB_BFIND: out[0] = (uint64_t)at; break; /* -1 is ffffffff */
    default: out[0] = at < 0 ? UINT64_MAX : (uint64_t)(bits - 1 - at); break;
    }
}

/* Bits pos … pos+len-1; above what the word has, and above len, the sign of the field fills. */
void lb_scalar_bfe(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = lb_word_bits(op->in[0]), pos = (int)(in[1] & 0xff), len = (int)(in[2] & 0xff);
    const int last = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    const bool sign = lb_word_is_signed(op->in[0]) && len && (in[0] >> last & 1);
    uint64_t d = 0;
    (void)r;
    for (int i = 0; i < bits; i++) {
        const bool inside = i < len && pos + i < bits;
        d |= (inside ? in[0] >> (pos + i) & 1 : sign) << i;
    }
    out[0] = d;
}

void lb_scalar_bfi(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = lb_word_bits(op->in[0]), pos = (int)(in[2] & 0xff), len = (int)(in[3] & 0xff);
    uint64_t f = in[1];
    (void)r;
    for (int i = 0; i < len && pos + i < bits; i++) f = (f & ~(UINT64_C(1) << (pos + i))) | (in[0] >> i & 1) << (pos + i);
    out[0] = f;
}

/* The |offset|-th set bit of the mask from base on, upward if offset is positive; offset 0 asks for base itself; ffffffff if none. */
void lb_scalar_fns(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int64_t offset = lb_word_signed(in[2], 32), step = offset > 0 ? 1 : -1;
    int64_t at = (int64_t)in[1], left = (offset > 0 ? offset : -offset) - 1;
    (void)op;
    (void)r;
    out[0] = UINT32_MAX;
    if (offset == 0) {
        if (at < 32 && in[0] >> at & 1) out[0] = (uint64_t)at;
        return;
    }
    for (; at >= 0 && at < 32; at += step) {
        if (!(in[0] >> at & 1)) continue;
        if (left-- > 0) continue;
        out[0] = (uint64_t)at;
        return;
    }
}

/* Which of the eight bytes of {b, a} goes to each byte, the highest byte first, by the low two bits of c. source: ptx-isa, prmt */
const uint16_t lb_prmt_modes[LB_PRMT_MODES][4] = {
    [LB_PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543}, [LB_PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [LB_PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333}, [LB_PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [LB_PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210}, [LB_PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};

void lb_scalar_prmt(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const uint64_t bytes = in[0] | in[1] << 32;
    const uint64_t select = r->what == LB_PRMT ? in[2] : lb_prmt_modes[r->what][in[2] & 3];
    uint64_t d = 0;
    (void)op;
    for (int i = 0; i < 4; i++) {
        const uint64_t s = select >> (4 * i) & 0xf;
        uint64_t byte = bytes >> (8 * (s & 7)) & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0; /* replicates the sign */
        d |= byte << (8 * i);
    }
    out[0] = d;
}

/* The table, in `what`: bit 4a + 2b + c is the result for bits a, b, c. */
void lb_scalar_lop3(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    uint64_t d = 0;
    (void)op;
    for (int i = 0; i < 32; i++) d |= (uint64_t)(r->what >> ((in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1)) & 1) << i;
    out[0] = d;
}

static uint64_t count_of(uint64_t word, uint64_t bits, unsigned flags) {
    return flags & LB_CLAMP ? (word < bits ? word : bits) : word & (bits - 1);
}

/* A funnel: the 64 bits {b, a}, shifted left and their high half taken, or right and their low half. */
void lb_scalar_shf(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const uint64_t both = in[0] | in[1] << 32, n = count_of(in[2], 32, r->flags);
    (void)op;
    out[0] = r->what == LB_LEFT ? (both << n) >> 32 : both >> n;
}

/* Counts above the width are the width. */
void lb_scalar_shift(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = lb_word_bits(op->in[0]);
    const uint64_t n = in[1] < (uint64_t)bits ? in[1] : (uint64_t)bits;
    const bool all = n == (uint64_t)bits;
    if (r->what == LB_LEFT)
        out[0] = all ? 0 : in[0] << n;
    else if (lb_word_is_signed(op->in[0]))
        out[0] = (uint64_t)(lb_word_signed(in[0], bits) >> (all ? n - 1 : n));
    else
        out[0] = all ? 0 : in[0] >> n;
}

/* The low b bits of a as a number of that many bits; none of them are 0, and from 32 on clamp leaves a as it is. */
void lb_scalar_szext(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int n = (int)count_of(in[1], 32, r->flags);
    if (n == 0)
        out[0] = 0;
    else
        out[0] = lb_word_is_signed(op->in[0]) ? (uint64_t)lb_word_signed(in[0], n) : in[0] & lb_word_mask(n);
}

/* b ones from bit a on. */
void lb_scalar_bmsk(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const uint64_t from = count_of(in[0], 32, r->flags), n = count_of(in[1], 32, r->flags);
    (void)op;
    out[0] = lb_word_mask((int)n) << from;
}
