/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Arithmetic, min, max, signs: what scalar_float.c and scalar_minmax.c compute, as statements. */
#include "emit/op.h"

soft_rule lb_op_rule(const lb_format *f, int rounding, unsigned flags) {
    const lb_value nan = {.cls = LB_NAN};
    return (soft_rule){.f = f,
                       .rounding = (lb_rounding)rounding,
                       .saturate = (flags & LB_SATFINITE) != 0,
                       .flush = (flags & LB_FTZ) != 0,
                       .nan = lb_scalar_encode(f, nan, rounding, flags)};
}

static ir is_negative(ir_program *p, const lb_format *f, wide code) {
    const int top = code.count - 1;
    return lb_ir_with(p, IR_GE, lb_ir_with(p, IR_SHR, code.word[top], f->bits - 1 - 32 * top), 1);
}

wide lb_op_clip(ir_program *p, const lb_format *f, wide code, unsigned flags) {
    if (!(flags & (LB_SAT | LB_RELU)) || !f->sign_bits) return code;
    code = lb_wide_select(p, is_negative(p, f, code), lb_wide_u(p, 0, code.count), code);
    if (!(flags & LB_SAT)) return code;
    const wide one = lb_wide_u(p, lb_from_double(f, 1.0), code.count);
    return lb_wide_select(p, lb_wide_less(p, one, code, false), one, code); /* positive codes are in the order of their values */
}

static wide flushed(ir_program *p, const lb_format *f, wide code, unsigned flags) {
    return flags & LB_FTZ ? lb_soft_flush(p, f, code) : code;
}

void lb_op_float(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    soft_rule s = lb_op_rule(f, r->rounding, r->flags);
    s.keeps_nan = f->id == LB_F64 && !(r->flags & LB_SAT);
    wide x[3] = {{0}};
    for (int i = 0; i < op->ins; i++) x[i] = flushed(p, f, in[i], r->flags);
    switch (r->what) {
    case LB_DO_ADD: *out = lb_soft_add(p, &s, x[0], x[1]); break;
    case LB_DO_SUB: *out = lb_soft_sub(p, &s, x[0], x[1]); break;
    case LB_DO_MUL: *out = lb_soft_mul(p, &s, x[0], x[1]); break;
    case LB_DO_FMA: *out = lb_soft_fma(p, &s, x[0], x[1], x[2]); break;
    case LB_DO_DIV: *out = lb_soft_div(p, &s, x[0], x[1]); break;
    case LB_DO_RCP: *out = lb_soft_div(p, &s, lb_wide_u(p, lb_from_double(f, 1.0), x[0].count), x[0]); break;
    default: *out = lb_soft_sqrt(p, &s, x[0]); break;
    }
    *out = lb_op_clip(p, f, *out, r->flags);
}

/* The order of codes that tells -0 from +0, as numbers of two's complement. */
static wide order_of(ir_program *p, const soft_number *x) {
    const ir ones = lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), x->sign, 0);
    wide key = x->magnitude;
    for (int i = 0; i < key.count; i++) key.word[i] = lb_ir_do(p, IR_XOR, key.word[i], ones, 0);
    return key;
}

void lb_op_minmax(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    soft_number x[2];
    for (int i = 0; i < 2; i++) x[i] = lb_soft_unpack(p, f, flushed(p, f, in[i], r->flags));
    const bool magnitudes = r->flags & LB_XORSIGN;
    const wide a = magnitudes ? x[0].magnitude : x[0].code, b = magnitudes ? x[1].magnitude : x[1].code;
    const wide order_a = magnitudes ? a : order_of(p, &x[0]), order_b = magnitudes ? b : order_of(p, &x[1]);
    const ir less = r->what == LB_DO_MIN ? lb_wide_less(p, order_a, order_b, true) : lb_wide_less(p, order_b, order_a, true);
    const ir take_a = lb_ir_either(p, x[1].is_nan, lb_ir_both(p, lb_ir_not(p, x[0].is_nan), less));
    wide taken = lb_wide_select(p, take_a, a, b);
    if (magnitudes) {
        const int top = taken.count - 1;
        const ir sign = lb_ir_with(p, IR_SHL, lb_ir_do(p, IR_XOR, x[0].sign, x[1].sign, 0), f->bits - 1 - 32 * top);
        taken.word[top] = lb_ir_do(p, IR_OR, taken.word[top], sign, 0);
    }
    const ir nan = lb_ir_do(p, r->flags & LB_NAN_WINS ? IR_EITHER : IR_BOTH, x[0].is_nan, x[1].is_nan, 0);
    *out = lb_wide_select(p, nan, lb_wide_u(p, lb_scalar_nan(f), taken.count), taken);
}

void lb_op_sign(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const wide sign = lb_wide_u(p, UINT64_C(1) << (f->bits - 1), in[0].count);
    const wide rest = lb_wide_u(p, (UINT64_C(1) << (f->bits - 1)) - 1, in[0].count), a = flushed(p, f, in[0], r->flags);
    if (r->what == LB_DO_ABS) *out = lb_wide_each(p, IR_AND, a, rest);
    if (r->what == LB_DO_NEG) *out = lb_wide_each(p, IR_XOR, a, sign);
    if (r->what == LB_DO_COPYSIGN)
        *out = lb_wide_each(p, IR_OR, lb_wide_each(p, IR_AND, in[0], sign), lb_wide_each(p, IR_AND, in[1], rest));
}
