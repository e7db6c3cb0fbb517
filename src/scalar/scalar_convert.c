/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cvt. .ftz concerns f32 only, on either side. source: ptx-isa */
#include "scalar/scalar_value.h"

static uint64_t flush_f32(const lb_format *f, uint64_t code, unsigned flags) {
    return f->id == LB_F32 ? lb_scalar_flush(f, code, flags) : code;
}

static unsigned flags_into(const lb_format *f, unsigned flags) {
    return f->id == LB_F32 ? flags : flags & ~(unsigned)LB_FTZ;
}

static uint64_t convert(const lb_format *from, const lb_format *to, uint64_t code, const lb_scalar_rule *r) {
    const lb_value v = lb_decode(from, flush_f32(from, code, r->flags));
    return lb_scalar_encode(to, v, r->rounding, flags_into(to, r->flags));
}

void lb_scalar_float_to_float(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    out[0] = convert(lb_word_format(op->in[0]), lb_word_format(op->out[0]), in[0], r);
}

/* Into tf32: a word of 32 bits whose low 13 are zeros; NaN is f32's. */
void lb_scalar_cvt_tf32(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *from = lb_word_format(op->in[0]);
    out[0] = lb_scalar_is_nan(from, in[0]) ? lb_scalar_nan(from) : convert(from, lb_format_row(LB_TF32), in[0], r);
}

/* Two values of a packed word, the first operand in its high part. What of a pair is narrow is `what`: two codes of 8, 6 (in 8) or
 * 4 bits. */
void lb_scalar_cvt_pair(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *narrow = r->what >= 0 ? lb_format_row((lb_format_id)r->what) : NULL;
    const bool unpack = r->flags & LB_UNPACK;
    const lb_format *from = unpack ? narrow : lb_word_format(op->in[0]);
    const lb_format *to = unpack || !narrow ? lb_word_format(op->out[0]) : narrow;
    const int from_bits = unpack ? lb_word_bits(op->in[0]) / 2 : from->bits, to_bits = lb_word_bits(op->out[0]) / 2;
    const bool together = op->ins == 1;
    const uint64_t high = together ? in[0] >> from_bits & lb_word_mask(from_bits) : in[0];
    const uint64_t low = together ? in[0] & lb_word_mask(from_bits) : in[1];
    out[0] = convert(from, to, high, r) << to_bits | convert(from, to, low, r);
}

void lb_scalar_to_integral(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    lb_value v = lb_decode(f, flush_f32(f, in[0], r->flags));
    bool huge = false;
    if (v.cls == LB_FINITE) {
        const lb_u128 n = lb_scalar_integer(v, r->rounding, &huge);
        if (!huge) v = (lb_value){n ? LB_FINITE : LB_ZERO, v.negative, false, 0, (uint64_t)(n >> 64), (uint64_t)n};
    }
    out[0] = lb_scalar_encode(f, v, LB_RNE, flags_into(f, r->flags));
}

/* Rounded, then clamped to the range of the result. NaN: 0, but 1 << (bits - 1) where either side has 64 bits. source: ptx-isa-9 */
void lb_scalar_float_to_int(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const int bits = lb_word_bits(op->out[0]);
    const bool is_signed = lb_word_is_signed(op->out[0]);
    const lb_u128 top = (lb_u128)1 << (is_signed ? bits - 1 : bits);
    const lb_value v = lb_decode(f, flush_f32(f, in[0], r->flags));
    if (v.cls == LB_NAN) {
        out[0] = f->id == LB_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
        return;
    }
    bool huge = v.cls == LB_INF;
    lb_u128 n = v.cls == LB_FINITE ? lb_scalar_integer(v, r->rounding, &huge) : 0;
    if (huge) n = top;
    if (v.negative)
        out[0] = is_signed ? (uint64_t)(0 - (n < top ? n : top)) : 0;
    else
        out[0] = (uint64_t)(n < top ? n : top - 1);
}

static lb_value value_of_int(lb_word w, uint64_t word) {
    const int64_t n = lb_word_signed(word, lb_word_bits(w));
    const bool negative = lb_word_is_signed(w) && n < 0;
    const uint64_t m = negative ? 0 - (uint64_t)n : word & lb_word_mask(lb_word_bits(w));
    return (lb_value){.cls = m ? LB_FINITE : LB_ZERO, .negative = negative, .lo = m};
}

void lb_scalar_int_to_float(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    out[0] = lb_scalar_encode(lb_word_format(op->out[0]), value_of_int(op->in[0], in[0]), r->rounding, r->flags);
}

/* .sat clamps; without it the low bits stay. */
void lb_scalar_int_to_int(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = lb_word_bits(op->out[0]);
    const bool is_signed = lb_word_is_signed(op->out[0]);
    const int64_t n = lb_word_signed(in[0], lb_word_bits(op->in[0]));
    const int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0, most = (int64_t)lb_word_mask(is_signed ? bits - 1 : bits);
    out[0] = (uint64_t)(!(r->flags & LB_SAT) ? n : n < least ? least : n > most ? most : n);
}
