/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cvt: what scalar_convert.c computes, as statements. */
#include "emit/op.h"

/* .ftz concerns f32 only, on either side. */
static unsigned flags_of(const lb_format *f, unsigned flags) {
    return f->id == LB_F32 ? flags : flags & ~(unsigned)LB_FTZ;
}

static soft_number unpacked(ir_program *p, const lb_format *f, wide code, unsigned flags) {
    return lb_soft_unpack(p, f, flags_of(f, flags) & LB_FTZ ? lb_soft_flush(p, f, code) : code);
}

/* ---- powers of two alone ----------------------------------------------------------------------------------------------------- */

/* e8m0 has neither sign nor zero: its code is the exponent, that of zero and below 0. */
static wide to_e8m0(ir_program *p, const lb_format *from, const lb_format *to, const soft_number *x, int rounding) {
    const soft_number n = lb_soft_normalised(p, from, *x);
    const ir leading = lb_ir_with(p, IR_AND, n.sig.word[n.sig.count - 1], (int32_t)((UINT32_C(1) << from->man_bits) - 1));
    const ir up = lb_soft_increment(p, (lb_rounding)rounding, n.sign, lb_ir_u(p, 1), leading, from->man_bits);
    const ir exponent = lb_ir_with(p, IR_ADD, n.steps, 1 - from->bias + to->bias);
    const int32_t most = (int32_t)lb_max_code(to);
    const ir code = lb_ir_to_u(p, lb_wide_clamp(p, lb_ir_do(p, IR_ADD, exponent, lb_ir_to_i(p, up), 0), most));
    const ir finite = lb_ir_select(p, lb_ir_either(p, lb_ir_with(p, IR_GE, x->sign, 1), x->is_zero), lb_ir_u(p, 0), code);
    const ir inf = lb_ir_select(p, lb_ir_with(p, IR_GE, x->sign, 1), lb_ir_u(p, 0), lb_ir_u(p, (uint32_t)most));
    return lb_wide_of(lb_ir_select(p, x->is_nan, lb_ir_u(p, (uint32_t)most + 1), lb_ir_select(p, x->is_inf, inf, finite)));
}

/* Code e is 2^(e - bias): a one whose steps are e, less what the formats' least exponents differ by. */
static soft_number from_e8m0(ir_program *p, const lb_format *from, wide code) {
    return (soft_number){.code = code,
                         .sign = lb_ir_u(p, 0),
                         .steps = lb_ir_with(p, IR_SUB, lb_ir_to_i(p, code.word[0]), 1),
                         .sig = lb_wide_u(p, 1, 1),
                         .is_nan = lb_ir_with(p, IR_EQ, code.word[0], (int32_t)lb_max_code(from) + 1),
                         .is_inf = lb_ir_b(p, false)};
}

/* ---- floats ------------------------------------------------------------------------------------------------------------------ */

static wide settled(ir_program *p, const soft_rule *s, const soft_number *x, wide finite) {
    const wide nan = lb_wide_u(p, s->nan, finite.count);
    return lb_wide_select(p, x->is_nan, nan, lb_wide_select(p, x->is_inf, lb_soft_inf(p, s, x->sign), finite));
}

static wide convert(ir_program *p, const lb_format *from, const lb_format *to, const lb_scalar_rule *r, wide code) {
    const soft_number x = from->special == LB_SPECIAL_E8M0 ? from_e8m0(p, from, code) : unpacked(p, from, code, r->flags);
    if (to->special == LB_SPECIAL_E8M0) return to_e8m0(p, from, to, &x, r->rounding);
    const soft_rule s = lb_op_rule(to, r->rounding, flags_of(to, r->flags));
    const int apart = (1 - from->bias) - (1 - to->bias); /* of the least exponents */
    const soft_value v = {x.sign, lb_ir_with(p, IR_ADD, x.steps, 32 * x.sig.count - 1 - from->man_bits + apart), x.sig};
    return lb_op_clip(p, to, settled(p, &s, &x, lb_soft_round(p, &s, v)), r->flags);
}

void lb_op_float_to_float(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    *out = convert(p, lb_word_format(op->in[0]), lb_word_format(op->out[0]), r, in[0]);
}

void lb_op_cvt_tf32(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *from = lb_word_format(op->in[0]);
    const wide nan = lb_wide_u(p, lb_scalar_nan(from), 1);
    *out = lb_wide_select(p, lb_soft_unpack(p, from, in[0]).is_nan, nan, convert(p, from, lb_format_row(LB_TF32), r, in[0]));
}

void lb_op_cvt_pair(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *narrow = r->what >= 0 ? lb_format_row((lb_format_id)r->what) : NULL;
    const bool unpack = r->flags & LB_UNPACK, together = op->ins == 1;
    const lb_format *from = unpack ? narrow : lb_word_format(op->in[0]);
    const lb_format *to = unpack || !narrow ? lb_word_format(op->out[0]) : narrow;
    const int from_bits = unpack ? lb_word_bits(op->in[0]) / 2 : from->bits, to_bits = lb_word_bits(op->out[0]) / 2;
    const wide high = together ? lb_wide_masked(p, lb_wide_down(p, in[0], from_bits), from->bits) : in[0];
    const wide low = together ? lb_wide_masked(p, in[0], from->bits) : in[1]; /* a code of 6 bits lies in 8 */
    *out = lb_wide_each(p, IR_OR, lb_wide_up(p, convert(p, from, to, r, high), to_bits), convert(p, from, to, r, low));
}

/* ---- floats and integers ------------------------------------------------------------------------------------------------------- */

/* sig in words above one more that holds the fraction, moved down by `by`: the integer, rounded. */
static wide rounded_integer(ir_program *p, int rounding, ir sign, wide sig, ir by) {
    const wide x = lb_wide_shr_sticky(p, sig, by);
    const ir rest = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHR, x.word[0], 1), lb_ir_with(p, IR_AND, x.word[0], 1), 0);
    const ir up = lb_soft_increment(p, (lb_rounding)rounding, sign, lb_ir_with(p, IR_AND, x.word[1], 1), rest, 31);
    return lb_wide_add(p, lb_wide_down(p, x, 32), lb_wide_resized(p, lb_wide_of(up), x.count));
}

void lb_op_to_integral(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const soft_rule s = lb_op_rule(f, LB_RNE, flags_of(f, r->flags));
    const soft_number x = unpacked(p, f, in[0], r->flags);
    const int count = x.sig.count, whole = f->man_bits - 1 + f->bias; /* steps of numbers that have no fraction */
    const ir by = lb_wide_clamp(p, lb_ir_do(p, IR_SUB, lb_ir_i(p, whole), x.steps, 0), 32 * count + 31);
    const wide sig = lb_wide_up(p, lb_wide_resized(p, x.sig, count + 1), 32);
    const wide n = lb_wide_resized(p, rounded_integer(p, r->rounding, x.sign, sig, by), count);
    const soft_value v = {x.sign, lb_ir_i(p, 32 * count - 2 + f->bias), n};
    const wide finite = lb_wide_select(p, lb_ir_with(p, IR_GE, x.steps, whole), x.code, lb_soft_round(p, &s, v));
    *out = settled(p, &s, &x, finite);
}

void lb_op_float_to_int(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const int bits = lb_word_bits(op->out[0]), count = lb_wide_words(bits);
    const bool is_signed = lb_word_is_signed(op->out[0]);
    const soft_number x = unpacked(p, f, in[0], r->flags), n = lb_soft_normalised(p, f, x);
    const ir e = lb_ir_with(p, IR_ADD, n.steps, 1 - f->bias), by = lb_ir_do(p, IR_SUB, lb_ir_i(p, 32 * count - 1), e, 0);
    const wide sig = lb_wide_up(p, lb_wide_resized(p, n.sig, count + 1), 32 * count + 31 - f->man_bits);
    const wide whole = rounded_integer(p, r->rounding, x.sign, sig, lb_wide_clamp(p, by, 32 * count + 31));
    /* Magnitudes up to `top`, and one less where the number is positive; unsigned numbers below 0 are 0. */
    const wide one = lb_wide_u(p, 1, count + 1), top = lb_wide_up(p, one, is_signed ? bits - 1 : bits);
    const ir negative = lb_ir_with(p, IR_GE, x.sign, 1);
    const wide below = is_signed ? top : lb_wide_u(p, 0, count + 1);
    const wide most = lb_wide_select(p, negative, below, lb_wide_sub(p, top, one, NULL));
    const ir huge = lb_ir_either(p, x.is_inf, lb_ir_with(p, IR_GE, e, 32 * count));
    const ir fits = lb_ir_both(p, lb_ir_not(p, huge), lb_wide_less(p, whole, most, false));
    const wide kept = lb_wide_resized(p, lb_wide_select(p, fits, whole, most), count);
    const wide nan = lb_wide_u(p, f->id == LB_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0, count);
    *out = lb_wide_select(p, x.is_nan, nan, lb_wide_negated(p, kept, x.sign));
}

void lb_op_int_to_float(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const lb_format *f = lb_word_format(op->out[0]);
    const soft_rule s = lb_op_rule(f, r->rounding, r->flags);
    const wide n = op_number(p, op->in[0], in[0], in[0].count);
    const ir sign = lb_word_is_signed(op->in[0]) ? lb_ir_with(p, IR_SHR, n.word[n.count - 1], 31) : lb_ir_u(p, 0);
    const soft_value v = {sign, lb_ir_i(p, 32 * n.count - 2 + f->bias), lb_wide_negated(p, n, sign)};
    *out = lb_op_clip(p, f, lb_soft_round(p, &s, v), r->flags);
}

void lb_op_int_to_int(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int bits = lb_word_bits(op->out[0]), count = lb_wide_words(lb_word_bits(op->in[0]) + 1);
    const wide n = lb_wide_extended(p, in[0], lb_word_bits(op->in[0]), true, count); /* as the handler has it, whatever the row's type */
    *out = lb_wide_resized(p, r->flags & LB_SAT ? lb_op_clamp(p, n, bits, lb_word_is_signed(op->out[0])) : n, lb_wide_words(bits));
}
