/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integer arithmetic and video operations: what scalar_integer.c and scalar_video.c compute, as statements. */
#include "emit/op.h"

/* ---- numbers ------------------------------------------------------------------------------------------------------------------ */

static wide constant(ir_program *p, int64_t n, int count) {
    return lb_wide_extended(p, lb_wide_u(p, (uint64_t)n, 2), 64, true, count);
}

static wide zero(ir_program *p, int count) {
    return lb_wide_u(p, 0, count);
}

static ir top_bit(ir_program *p, wide n) {
    return lb_ir_with(p, IR_SHR, n.word[n.count - 1], 31);
}

wide lb_op_clamp(ir_program *p, wide n, int bits, bool is_signed) {
    const wide least = constant(p, is_signed ? -((int64_t)1 << (bits - 1)) : 0, n.count);
    const wide most = constant(p, (int64_t)lb_word_mask(is_signed ? bits - 1 : bits), n.count);
    n = lb_wide_select(p, lb_wide_less(p, n, least, true), least, n);
    return lb_wide_select(p, lb_wide_less(p, most, n, true), most, n);
}

static wide distance(ir_program *p, wide a, wide b, bool is_signed) {
    return lb_wide_select(p, lb_wide_less(p, a, b, is_signed), lb_wide_sub(p, b, a, NULL), lb_wide_sub(p, a, b, NULL));
}

/* ---- arithmetic --------------------------------------------------------------------------------------------------------------- */

/* Magnitudes are divided; a divisor of 0 gives all ones, and the dividend remains. */
static wide divided(ir_program *p, int what, wide a, wide b, bool is_signed) {
    const ir sign_a = is_signed ? top_bit(p, a) : lb_ir_u(p, 0), sign_b = is_signed ? top_bit(p, b) : lb_ir_u(p, 0);
    wide rest;
    const wide q = lb_wide_divide(p, zero(p, a.count), lb_wide_negated(p, a, sign_a), lb_wide_negated(p, b, sign_b), 32 * a.count, &rest);
    const ir none = lb_wide_is_zero(p, b);
    if (what == LB_INT_REM) return lb_wide_select(p, none, a, lb_wide_negated(p, rest, sign_a));
    return lb_wide_select(p, none, constant(p, -1, a.count), lb_wide_negated(p, q, lb_ir_do(p, IR_XOR, sign_a, sign_b, 0)));
}

/* In as many words as the numbers have, and one more where the sum is clamped. */
void lb_op_int(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int count = in[0].count + (r->flags & LB_SAT ? 1 : 0);
    const bool is_signed = lb_word_is_signed(op->in[0]);
    wide x[3] = {{0}};
    for (int i = 0; i < 3; i++) x[i] = i < op->ins ? op_number(p, op->in[i], in[i], count) : zero(p, count);
    const wide a = x[0], b = x[1], ones = constant(p, -1, count);
    wide n;
    switch (r->what) {
    case LB_INT_ADD: n = lb_wide_add(p, a, b); break;
    case LB_INT_SUB: n = lb_wide_sub(p, a, b, NULL); break;
    case LB_INT_MIN: n = lb_wide_select(p, lb_wide_less(p, a, b, is_signed), a, b); break;
    case LB_INT_MAX: n = lb_wide_select(p, lb_wide_less(p, a, b, is_signed), b, a); break;
    case LB_INT_ABS: n = lb_wide_negated(p, a, top_bit(p, a)); break;
    case LB_INT_NEG: n = lb_wide_sub(p, zero(p, count), a, NULL); break;
    case LB_INT_SAD: n = lb_wide_add(p, x[2], distance(p, a, b, is_signed)); break;
    case LB_INT_CNOT: n = lb_wide_resized(p, lb_wide_of(lb_ir_bit(p, lb_wide_is_zero(p, a))), count); break;
    case LB_INT_NOT: n = lb_wide_each(p, IR_XOR, a, ones); break;
    default: n = divided(p, r->what, a, b, is_signed); break;
    }
    *out = r->flags & LB_SAT ? lb_op_clamp(p, n, lb_word_bits(op->out[0]), lb_word_is_signed(op->out[0])) : n;
}

/* The bits of the product that are taken, from the low one on. */
static wide product(ir_program *p, const lb_scalar_op *op, int what, const wide *in) {
    const bool is_24 = what == LB_MUL24_LO || what == LB_MUL24_HI, is_signed = lb_word_is_signed(op->in[0]);
    const int bits = lb_word_bits(op->in[0]), all = lb_wide_words(2 * bits);
    wide x[2];
    for (int i = 0; i < 2; i++) x[i] = lb_wide_extended(p, in[i], is_24 ? 24 : bits, is_signed, all);
    const bool low = what == LB_MUL_LO || what == LB_MUL24_LO;
    const wide whole = lb_wide_mul(p, x[0], x[1], low ? lb_wide_words(bits) : all);
    const int from = what == LB_MUL_HI ? bits : what == LB_MUL24_HI ? 16 : 0;
    return lb_wide_resized(p, lb_wide_down(p, whole, from), lb_wide_words(what == LB_MUL_WIDE ? 2 * bits : bits));
}

void lb_op_mul(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const wide n = product(p, op, r->what, in);
    if (op->ins == 2) {
        *out = n;
    } else if (r->flags & LB_SAT) {
        const wide sum = lb_wide_add(p, op_number(p, op->out[0], n, n.count + 1), op_number(p, op->in[2], in[2], n.count + 1));
        *out = lb_op_clamp(p, sum, lb_word_bits(op->out[0]), lb_word_is_signed(op->out[0]));
    } else {
        *out = lb_wide_add(p, n, op_number(p, op->in[2], in[2], n.count));
    }
}

void lb_op_chain(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const wide a = lb_wide_pair(in[0].word[0], in[1].word[0]), b = lb_wide_pair(in[2].word[0], in[3].word[0]);
    wide n;
    (void)op;
    if (r->what == LB_CHAIN_ADD)
        n = lb_wide_add(p, a, b);
    else if (r->what == LB_CHAIN_SUB)
        n = lb_wide_sub(p, a, b, NULL);
    else
        n = lb_wide_add(p, lb_wide_mul(p, in[0], in[1], 2), b);
    out[0] = lb_wide_of(n.word[0]);
    out[1] = lb_wide_of(n.word[1]);
}

/* Bits low … low+bits-1 of a word as a number. */
static wide part(ir_program *p, wide word, int low, int bits, bool is_signed, int count) {
    return lb_wide_extended(p, lb_wide_down(p, word, low), bits, is_signed, count);
}

static wide dot(ir_program *p, const lb_scalar_rule *r, const wide *in, int terms, int a_bits, int first_b) {
    wide sum = in[2];
    for (int i = 0; i < terms; i++) {
        const wide a = part(p, in[0], a_bits * i, a_bits, r->what & 1, 1), b = part(p, in[1], 8 * (first_b + i), 8, r->what & 2, 1);
        sum = lb_wide_add(p, sum, lb_wide_each(p, IR_MUL, a, b));
    }
    return sum;
}

void lb_op_dp4a(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    (void)op;
    *out = dot(p, r, in, 4, 8, 0);
}

void lb_op_dp2a(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    (void)op;
    *out = dot(p, r, in, 2, 16, 2 * r->rounding);
}

/* ---- video -------------------------------------------------------------------------------------------------------------------- */

static wide selected(ir_program *p, wide word, int selector, bool is_signed) {
    if (selector >= LB_SEL_H0) return part(p, word, 16 * (selector - LB_SEL_H0), 16, is_signed, 2);
    if (selector >= LB_SEL_B0) return part(p, word, 8 * (selector - LB_SEL_B0), 8, is_signed, 2);
    return part(p, word, 0, 32, is_signed, 2);
}

static wide operate(ir_program *p, int what, wide a, wide b) {
    const ir less = lb_wide_less(p, a, b, true);
    const wide sum = lb_wide_add(p, a, b);
    switch (what) {
    case LB_VADD: return sum;
    case LB_VSUB: return lb_wide_sub(p, a, b, NULL);
    case LB_VABSDIFF: return distance(p, a, b, true);
    case LB_VMIN: return lb_wide_select(p, less, a, b);
    case LB_VMAX: return lb_wide_select(p, less, b, a);
    case LB_VMAD: return lb_wide_mul(p, a, b, a.count);
    case LB_VAVRG: { /* to nearest, a half away from zero */
        const ir up = lb_ir_with(p, IR_XOR, top_bit(p, sum), 1);
        return lb_wide_sar(p, lb_wide_add(p, sum, lb_wide_resized(p, lb_wide_of(up), a.count)), lb_ir_i(p, 1));
    }
    default: return lb_wide_resized(p, lb_wide_of(lb_ir_bit(p, less)), a.count);
    }
}

/* Counts are the low words of b, which is unsigned. */
static wide moved(ir_program *p, const lb_scalar_rule *r, wide a, wide b) {
    const ir n = lb_ir_to_i(p, lb_ir_with(p, r->flags & LB_CLAMP ? IR_MIN : IR_AND, b.word[0], r->flags & LB_CLAMP ? 32 : 31));
    return (r->what & 0xff) == LB_VSHL ? lb_wide_masked(p, lb_wide_shl(p, a, n), 32) : lb_wide_sar(p, a, n);
}

void lb_op_video(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int what = r->what & 0xff, at = r->rounding;
    const bool is_signed = lb_word_is_signed(op->out[0]);
    const wide a = selected(p, in[0], at & 0xf, r->what & LB_VIDEO_SIGNED_A), c = part(p, in[2], 0, 32, is_signed, 2);
    const wide b = selected(p, in[1], at >> 4 & 0xf, r->what & LB_VIDEO_SIGNED_B);
    wide n = what == LB_VSHL || what == LB_VSHR ? moved(p, r, a, b) : operate(p, what, a, b);
    if (what == LB_VMAD) n = lb_wide_sar(p, lb_wide_add(p, n, c), lb_ir_i(p, at >> 8));
    if (r->flags & LB_SAT) n = lb_op_clamp(p, n, 32, is_signed);
    if (r->flags & LB_ADD) n = lb_wide_add(p, n, c);
    *out = lb_wide_resized(p, n, 1);
}

void lb_op_video_simd(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int bits = r->rounding;
    const bool is_signed = r->what & LB_VIDEO_SIGNED_A;
    wide d = zero(p, 1), sum = in[2];
    (void)op;
    for (int low = 0; low < 32; low += bits) {
        const wide a = part(p, in[0], low, bits, is_signed, 1), b = part(p, in[1], low, bits, is_signed, 1);
        wide n = operate(p, r->what & 0xff, a, b);
        if (r->flags & LB_SAT) n = lb_op_clamp(p, n, bits, is_signed);
        d = lb_wide_each(p, IR_OR, d, lb_wide_up(p, lb_wide_masked(p, n, bits), low));
        sum = lb_wide_add(p, sum, n);
    }
    *out = r->flags & LB_ADD ? sum : d;
}
