/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* setp, set, testp, slct, selp: what scalar_compare.c computes, as statements. */
#include "emit/op.h"

/* Of two numbers of two's complement. */
static ir holds_ordered(ir_program *p, int what, wide a, wide b, bool is_signed) {
    switch (what) {
    case LB_IF_EQ: return lb_wide_equal(p, a, b);
    case LB_IF_NE: return lb_ir_not(p, lb_wide_equal(p, a, b));
    case LB_IF_LT: return lb_wide_less(p, a, b, is_signed);
    case LB_IF_LE: return lb_ir_not(p, lb_wide_less(p, b, a, is_signed));
    case LB_IF_GT: return lb_wide_less(p, b, a, is_signed);
    case LB_IF_GE: return lb_ir_not(p, lb_wide_less(p, a, b, is_signed));
    default: return lb_ir_b(p, what == LB_IF_NUM);
    }
}

static soft_number unpacked(ir_program *p, const lb_format *f, const lb_scalar_rule *r, wide code) {
    return lb_soft_unpack(p, f, r->flags & LB_FTZ ? lb_soft_flush(p, f, code) : code);
}

/* Codes as numbers of two's complement, in which both zeros are 0. */
static ir holds(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in) {
    const lb_format *f = lb_word_format(op->in[0]);
    const soft_number a = unpacked(p, f, r, in[0]), b = unpacked(p, f, r, in[1]);
    const ir nan = lb_ir_either(p, a.is_nan, b.is_nan), if_nan = lb_ir_b(p, r->what == LB_IF_NAN || r->what & LB_UNORDERED);
    const wide x = lb_wide_negated(p, a.magnitude, a.sign), y = lb_wide_negated(p, b.magnitude, b.sign);
    return lb_ir_select(p, nan, if_nan, holds_ordered(p, r->what & ~LB_UNORDERED, x, y, true));
}

void lb_op_compare(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    *out = lb_wide_of(lb_ir_bit(p, holds(p, op, r, in)));
}

void lb_op_set(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *to = lb_word_format(op->out[0]);
    const int bits = lb_word_bits(op->out[0]) / lb_word_parts(op->out[0]), count = lb_wide_words(bits);
    const wide yes = lb_wide_u(p, to ? lb_from_double(to, 1.0) : lb_word_mask(bits), count);
    *out = lb_wide_select(p, holds(p, op, r, in), yes, lb_wide_u(p, 0, count));
}

void lb_op_int_compare(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const wide a = op_number(p, op->in[0], in[0], in[0].count), b = op_number(p, op->in[1], in[1], in[1].count);
    *out = lb_wide_of(lb_ir_bit(p, holds_ordered(p, r->what, a, b, lb_word_is_signed(op->in[0]))));
}

void lb_op_testp(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const soft_number x = lb_soft_unpack(p, f, in[0]);
    const ir number = lb_ir_not(p, x.is_nan), finite = lb_ir_both(p, number, lb_ir_not(p, x.is_inf));
    const ir small = lb_wide_less(p, x.magnitude, lb_wide_u(p, UINT64_C(1) << f->man_bits, in[0].count), false);
    const ir subnormal = lb_ir_both(p, small, lb_ir_not(p, x.is_zero));
    const ir normal = lb_ir_both(p, finite, lb_ir_not(p, subnormal)); /* zeros among them */
    const ir answer[] = {finite, x.is_inf, number, x.is_nan, normal, subnormal};
    *out = lb_wide_of(lb_ir_bit(p, answer[r->what]));
}

void lb_op_slct(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[2]);
    ir first;
    if (f) {
        const soft_number c = unpacked(p, f, r, in[2]);
        const ir positive = lb_ir_either(p, lb_ir_with(p, IR_EQ, c.sign, 0), c.is_zero);
        first = lb_ir_both(p, lb_ir_not(p, c.is_nan), positive);
    } else {
        const wide c = op_number(p, op->in[2], in[2], in[2].count);
        first = lb_ir_not(p, lb_wide_less(p, c, lb_wide_u(p, 0, c.count), true));
    }
    *out = lb_wide_select(p, first, in[0], in[1]);
}

void lb_op_selp(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    (void)op;
    (void)r;
    *out = lb_wide_select(p, lb_wide_is_zero(p, in[2]), in[1], in[0]);
}
