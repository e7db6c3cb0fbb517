/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* setp, set, testp, slct. eq ne lt le gt ge are false where an operand is NaN (ne too: it is not the negation of eq); the forms with a u
 * (equ … geu) are true there. source: ptx-isa */
#include "scalar/scalar_value.h"

static bool holds_ordered(int what, int64_t a, int64_t b) {
    switch (what) {
    case LB_IF_EQ: return a == b;
    case LB_IF_NE: return a != b;
    case LB_IF_LT: return a < b;
    case LB_IF_LE: return a <= b;
    case LB_IF_GT: return a > b;
    case LB_IF_GE: return a >= b;
    default: return what == LB_IF_NUM;
    }
}

static bool holds(const lb_format *f, const lb_scalar_rule *r, const uint64_t *in) {
    const uint64_t a = lb_scalar_flush(f, in[0], r->flags), b = lb_scalar_flush(f, in[1], r->flags);
    if (lb_scalar_is_nan(f, a) || lb_scalar_is_nan(f, b)) return r->what == LB_IF_NAN || r->what & LB_UNORDERED;
    return holds_ordered(r->what & ~LB_UNORDERED, lb_ordinal(f, a), lb_ordinal(f, b));
}

void lb_scalar_compare(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    out[0] = holds(lb_word_format(op->in[0]), r, in);
}

/* True is 1.0 in a float and all ones in an integer. */
void lb_scalar_set(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *to = lb_word_format(op->out[0]);
    out[0] = !holds(lb_word_format(op->in[0]), r, in) ? 0 : to ? lb_from_double(to, 1.0) : lb_word_mask(lb_word_bits(op->out[0]));
}

void lb_scalar_int_compare(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = lb_word_bits(op->in[0]);
    if (lb_word_is_signed(op->in[0]))
        out[0] = holds_ordered(r->what, lb_word_signed(in[0], bits), lb_word_signed(in[1], bits));
    else
        out[0] = holds_ordered(r->what, (int64_t)(in[0] & lb_word_mask(bits)), (int64_t)(in[1] & lb_word_mask(bits))); /* 32 bits */
}

void lb_scalar_testp(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const lb_class c = lb_code_class(f, in[0]);
    const bool finite = c == LB_ZERO || c == LB_FINITE;
    const bool subnormal = c == LB_FINITE && lb_code_class(f, lb_flush_code(f, in[0], LB_FLUSH_KEEP_SIGN)) == LB_ZERO;
    const bool answer[] = {finite, c == LB_INF, c != LB_NAN, c == LB_NAN, finite && !subnormal, subnormal};
    out[0] = answer[r->what]; /* zeros count as normal */
}

/* c >= 0 takes the first, and so does -0; NaN takes the second. */
void lb_scalar_slct(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[2]);
    const uint64_t c = f ? lb_scalar_flush(f, in[2], r->flags) : in[2];
    const bool first = f ? !lb_scalar_is_nan(f, c) && lb_ordinal(f, c) >= 0 : lb_word_signed(c, lb_word_bits(op->in[2])) >= 0;
    out[0] = first ? in[0] : in[1];
}

void lb_scalar_selp(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    (void)op;
    (void)r;
    out[0] = in[2] ? in[0] : in[1];
}
