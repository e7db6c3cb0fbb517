/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integer arithmetic. Words wrap where nothing else is said. source: ptx-isa */
#include "scalar/scalar_value.h"

__extension__ typedef __int128 i128;

static i128 number(lb_word w, uint64_t word) {
    const int bits = lb_word_bits(w);
    return lb_word_is_signed(w) ? (i128)lb_word_signed(word, bits) : (i128)(word & lb_word_mask(bits));
}

static i128 clamp(lb_word w, i128 n) {
    const int bits = lb_word_bits(w);
    const i128 least = lb_word_is_signed(w) ? -((i128)1 << (bits - 1)) : 0;
    const i128 most = ((i128)1 << (lb_word_is_signed(w) ? bits - 1 : bits)) - 1;
    return n < least ? least : n > most ? most : n;
}

static i128 absolute(i128 n) {
    return n < 0 ? -n : n;
}

/* A divisor of 0 is left open by the document: the quotient is all ones, and the remainder the dividend. */
static i128 divide(int what, i128 a, i128 b) {
    if (what == LB_INT_DIV) return b ? a / b : -1;
    return b ? a % b : a;
}

void lb_scalar_int(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const i128 a = number(op->in[0], in[0]), b = op->ins > 1 ? number(op->in[1], in[1]) : 0, c = op->ins > 2 ? number(op->in[2], in[2]) : 0;
    i128 n = 0;
    switch (r->what) {
    case LB_INT_ADD: n = a + b; break;
    case LB_INT_SUB: n = a - b; break;
    case LB_INT_MIN: n = a < b ? a : b; break;
    case LB_INT_MAX: n = a > b ? a : b; break;
    case LB_INT_ABS: n = absolute(a); break;
    case LB_INT_NEG: n = -a; break;
    case LB_INT_SAD: n = c + absolute(a - b); break;
    case LB_INT_CNOT: n = a == 0; break;
    case LB_INT_NOT: n = ~a; break;
    default: n = divide(r->what, a, b); break;
    }
    out[0] = (uint64_t)(r->flags & LB_SAT ? clamp(op->out[0], n) : n);
}

/* Which bits of the exact product are taken: hi the upper half of twice the width; of the 48 bits of a 24-bit product hi takes the upper
 * 32, lo the lower 32. */
static i128 product(const lb_scalar_op *op, int what, const uint64_t *in) {
    const lb_word w = op->in[0];
    const int bits = lb_word_bits(w);
    if (what == LB_MUL24_LO || what == LB_MUL24_HI) {
        const bool is_signed = lb_word_is_signed(w);
        const i128 a = is_signed ? (i128)lb_word_signed(in[0], 24) : (i128)(in[0] & 0xffffff);
        const i128 b = is_signed ? (i128)lb_word_signed(in[1], 24) : (i128)(in[1] & 0xffffff);
        return what == LB_MUL24_HI ? (a * b) >> 16 : a * b;
    }
    const i128 a = number(w, in[0]), b = number(op->in[1], in[1]);
    if (what != LB_MUL_HI) return (i128)((lb_u128)a * (lb_u128)b);
    if (bits < 64 || lb_word_is_signed(w)) return (a * b) >> bits; /* at most 2^126 */
    return (i128)(((lb_u128)a * (lb_u128)b) >> bits);
}

void lb_scalar_mul(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const i128 c = op->ins > 2 ? number(op->in[2], in[2]) : 0;
    const i128 p = product(op, r->what, in);
    /* .sat concerns the sum of c and the high part, which is a word itself */
    out[0] = (uint64_t)(r->flags & LB_SAT ? clamp(op->out[0], p + c) : (i128)((lb_u128)p + (lb_u128)c));
}

/* Two words through the carry: out0 and out1 of 64 bits in all. */
void lb_scalar_chain(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    uint64_t n = 0;
    (void)op;
    if (r->what == LB_CHAIN_ADD) n = (in[0] | in[1] << 32) + (in[2] | in[3] << 32);
    if (r->what == LB_CHAIN_SUB) n = (in[0] | in[1] << 32) - (in[2] | in[3] << 32);
    if (r->what == LB_CHAIN_MAD) n = in[0] * in[1] + (in[2] | in[3] << 32);
    out[0] = n & UINT32_MAX;
    out[1] = n >> 32;
}

/* Signedness of a and b: bits 0 and 1 of `what`. */
static int64_t part(uint64_t word, int index, int bits, bool is_signed) {
    const uint64_t p = word >> (index * bits) & lb_word_mask(bits);
    return is_signed ? lb_word_signed(p, bits) : (int64_t)p;
}

void lb_scalar_dp4a(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    int64_t sum = (int64_t)in[2];
    (void)op;
    for (int i = 0; i < 4; i++) sum += part(in[0], i, 8, r->what & 1) * part(in[1], i, 8, r->what & 2);
    out[0] = (uint64_t)sum;
}

/* Two halves of a by the low (rounding 0) or high (1) two bytes of b. */
void lb_scalar_dp2a(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    int64_t sum = (int64_t)in[2];
    (void)op;
    for (int i = 0; i < 2; i++) sum += part(in[0], i, 16, r->what & 1) * part(in[1], i + 2 * r->rounding, 8, r->what & 2);
    out[0] = (uint64_t)sum;
}
