/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bit counts, bit fields, permutes, logic, shifts: what scalar_bits.c computes, as statements. */
#include "emit/op.h"

/* ---- counts --------------------------------------------------------------------------------------------------------------------- */

static ir and_shifted(ir_program *p, ir x, int by, uint32_t mask) {
    return lb_ir_with(p, IR_AND, lb_ir_with(p, IR_SHR, x, by), (int32_t)mask);
}

static ir reversed(ir_program *p, ir x) {
    static const uint32_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    for (int i = 0; i < 5; i++) {
        const ir up = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_AND, x, (int32_t)masks[i]), 1 << i);
        x = lb_ir_do(p, IR_OR, up, and_shifted(p, x, 1 << i, masks[i]), 0);
    }
    return x;
}

static ir leading_zeros(ir_program *p, wide x) {
    return lb_ir_do(p, IR_ADD, lb_ir_to_u(p, lb_wide_clz(p, x)), lb_ir_bit(p, lb_wide_is_zero(p, x)), 0);
}

/* The bits that differ from the sign. */
static wide unlike_sign(ir_program *p, lb_word w, wide x) {
    const wide sign = lb_wide_sar(p, op_number(p, w, x, x.count), lb_ir_i(p, 32 * x.count - 1));
    return lb_word_is_signed(w) ? lb_wide_each(p, IR_XOR, x, sign) : x;
}

void lb_op_count(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int bits = 32 * in[0].count;
    if (r->what == LB_BREV) {
        *out = in[0];
        for (int i = 0; i < in[0].count; i++) out->word[i] = reversed(p, in[0].word[in[0].count - 1 - i]);
        return;
    }
    ir n = lb_ir_u(p, 0);
    if (r->what == LB_POPC) {
        for (int i = 0; i < in[0].count; i++) n = lb_ir_do(p, IR_ADD, n, lb_ir_to_u(p, lb_ir_do(p, IR_POPC, in[0].word[i], 0, 0)), 0);
    } else if (r->what == LB_CLZ) {
        n = leading_zeros(p, in[0]);
    } else {
        const ir zeros = leading_zeros(p, unlike_sign(p, op->in[0], in[0])), at = lb_ir_do(p, IR_SUB, lb_ir_u(p, bits - 1), zeros, 0);
        n = r->what == LB_BFIND ? at : lb_ir_select(p, lb_ir_with(p, IR_EQ, zeros, bits), lb_ir_u(p, UINT32_MAX), zeros);
    }
    *out = lb_wide_of(n);
}

/* ---- fields --------------------------------------------------------------------------------------------------------------------- */

static ir low_byte(ir_program *p, wide x) {
    return lb_ir_to_i(p, lb_ir_with(p, IR_AND, x.word[0], 0xff));
}

/* x where the condition holds, else 0. */
static wide where(ir_program *p, ir condition, wide x) {
    return lb_wide_select(p, condition, x, lb_wide_u(p, 0, x.count));
}

/* The low `len` (an I) bits of x, and above them zeros or copies of the last of them. */
static wide low_field(ir_program *p, wide x, ir len, bool is_signed) {
    const int bits = 32 * x.count;
    const ir up = lb_wide_clamp(p, lb_ir_do(p, IR_SUB, lb_ir_i(p, bits), len, 0), bits - 1);
    const wide high = lb_wide_shl(p, x, up);
    return where(p, lb_ir_with(p, IR_GE, len, 1), is_signed ? lb_wide_sar(p, high, up) : lb_wide_shr(p, high, up));
}

void lb_op_bfe(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int bits = 32 * in[0].count;
    const bool is_signed = lb_word_is_signed(op->in[0]);
    const ir pos = low_byte(p, in[1]), by = lb_ir_with(p, IR_MIN, pos, bits - 1);
    (void)r;
    const wide moved = is_signed ? lb_wide_sar(p, in[0], by) : where(p, lb_ir_with(p, IR_LT, pos, bits), lb_wide_shr(p, in[0], by));
    *out = low_field(p, moved, low_byte(p, in[2]), is_signed);
}

void lb_op_bfi(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int bits = 32 * in[0].count;
    const ir pos = low_byte(p, in[2]), by = lb_ir_with(p, IR_MIN, pos, bits - 1);
    const wide ones = lb_wide_u(p, UINT64_MAX, in[0].count), field = low_field(p, ones, low_byte(p, in[3]), false);
    const wide mask = where(p, lb_ir_with(p, IR_LT, pos, bits), lb_wide_shl(p, field, by));
    (void)op;
    (void)r;
    const wide outside = lb_wide_each(p, IR_AND, in[1], lb_wide_each(p, IR_XOR, mask, ones));
    *out = lb_wide_each(p, IR_OR, outside, lb_wide_each(p, IR_AND, lb_wide_shl(p, in[0], by), mask));
}

/* From base on, a step after another; a base above 31 becomes one that 32 steps do not bring back. */
void lb_op_fns(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const ir offset = lb_ir_to_i(p, in[2].word[0]), first = in[1].word[0];
    const ir base = lb_ir_to_i(p, lb_ir_select(p, lb_ir_with(p, IR_LT, first, 32), first, lb_ir_u(p, 64)));
    const ir upward = lb_ir_with(p, IR_GE, offset, 1), none = lb_ir_with(p, IR_EQ, offset, 0);
    const ir step = lb_ir_select(p, upward, lb_ir_i(p, 1), lb_ir_select(p, none, lb_ir_i(p, 0), lb_ir_i(p, -1)));
    const ir sign = lb_ir_with(p, IR_SHR, in[2].word[0], 31);
    const ir wanted = lb_ir_with(p, IR_MAX, lb_wide_negated(p, in[2], sign).word[0], 1); /* the how-manieth */
    const ir at = lb_ir_var(p, base), found = lb_ir_var(p, lb_ir_u(p, UINT32_MAX)), seen = lb_ir_var(p, lb_ir_u(p, 0));
    (void)op;
    (void)r;
    const uint64_t times = p->times;
    lb_ir_for(p, 32);
    p->times = 32 * times;
    const ir inside = lb_ir_both(p, lb_ir_with(p, IR_GE, at, 0), lb_ir_with(p, IR_LT, at, 32));
    const ir bit = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_SHR, in[0].word[0], lb_wide_clamp(p, at, 31), 0), 1);
    const ir now = lb_ir_do(p, IR_ADD, seen, lb_ir_select(p, inside, bit, lb_ir_u(p, 0)), 0);
    const ir hit = lb_ir_both(p, lb_ir_do(p, IR_EQ, now, wanted, 0), lb_ir_do(p, IR_LT, seen, now, 0));
    const ir next = lb_ir_do(p, IR_ADD, at, step, 0), answer = lb_ir_select(p, hit, lb_ir_to_u(p, at), found);
    lb_ir_set(p, found, answer);
    lb_ir_set(p, seen, now);
    lb_ir_set(p, at, next);
    lb_ir_end(p);
    p->times = times;
    *out = lb_wide_of(found);
}

/* ---- bytes and logic -------------------------------------------------------------------------------------------------------------- */

/* Selectors of four bits: which byte, and whether its sign fills. */
void lb_op_prmt(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    ir selectors = in[2].word[0], d = lb_ir_u(p, 0);
    (void)op;
    if (r->what != LB_PRMT) {
        const ir mode = lb_ir_with(p, IR_AND, selectors, 3);
        selectors = lb_ir_u(p, lb_prmt_modes[r->what][3]);
        for (int i = 3; i-- > 0;)
            selectors = lb_ir_select(p, lb_ir_with(p, IR_EQ, mode, i), lb_ir_u(p, lb_prmt_modes[r->what][i]), selectors);
    }
    for (int i = 0; i < 4; i++) {
        const ir s = and_shifted(p, selectors, 4 * i, 15), by = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_AND, s, 3), 3);
        const ir word = lb_ir_select(p, lb_ir_with(p, IR_EQ, lb_ir_with(p, IR_AND, s, 4), 0), in[0].word[0], in[1].word[0]);
        const ir byte = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_SHR, word, by, 0), 0xff);
        const ir fill = lb_ir_select(p, lb_ir_with(p, IR_GE, byte, 0x80), lb_ir_u(p, 0xff), lb_ir_u(p, 0));
        const ir taken = lb_ir_select(p, lb_ir_with(p, IR_GE, s, 8), fill, byte);
        d = lb_ir_do(p, IR_OR, d, lb_ir_with(p, IR_SHL, taken, 8 * i), 0);
    }
    *out = lb_wide_of(d);
}

/* Bits of yes where `of` has ones, else of no. */
static ir mixed(ir_program *p, ir of, ir yes, ir no) {
    return lb_ir_do(p, IR_XOR, no, lb_ir_do(p, IR_AND, of, lb_ir_do(p, IR_XOR, yes, no, 0), 0), 0);
}

/* The table by c, then by b, then by a. */
void lb_op_lop3(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    ir level[8];
    (void)op;
    for (int i = 0; i < 8; i++) level[i] = lb_ir_u(p, r->what >> i & 1 ? UINT32_MAX : 0);
    for (int input = 2, size = 4; input >= 0; input--, size /= 2)
        for (int i = 0; i < size; i++) level[i] = mixed(p, in[input].word[0], level[2 * i + 1], level[2 * i]);
    *out = lb_wide_of(level[0]);
}

/* ---- shifts ------------------------------------------------------------------------------------------------------------------------- */

/* A count of at most `most` (32), or below it. */
static ir count_of(ir_program *p, wide word, unsigned flags) {
    return lb_ir_to_i(p, lb_ir_with(p, flags & LB_CLAMP ? IR_MIN : IR_AND, word.word[0], flags & LB_CLAMP ? 32 : 31));
}

void lb_op_shf(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const wide both = lb_wide_pair(in[0].word[0], in[1].word[0]);
    const ir n = count_of(p, in[2], r->flags);
    (void)op;
    *out = lb_wide_of(r->what == LB_LEFT ? lb_wide_shl(p, both, n).word[1] : lb_wide_shr(p, both, n).word[0]);
}

void lb_op_shift(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const int bits = lb_word_bits(op->in[0]);
    const ir n = in[1].word[0], by = lb_ir_to_i(p, lb_ir_with(p, IR_MIN, n, bits - 1)), all = lb_ir_with(p, IR_GE, n, bits);
    const wide x = op_number(p, op->in[0], in[0], in[0].count);
    if (r->what == LB_RIGHT && lb_word_is_signed(op->in[0]))
        *out = lb_wide_sar(p, x, by);
    else
        *out = where(p, lb_ir_not(p, all), r->what == LB_LEFT ? lb_wide_shl(p, x, by) : lb_wide_shr(p, x, by));
}

void lb_op_szext(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    *out = low_field(p, in[0], count_of(p, in[1], r->flags), lb_word_is_signed(op->in[0]));
}

void lb_op_bmsk(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    const wide one = lb_wide_u(p, 1, 2), ones = lb_wide_sub(p, lb_wide_shl(p, one, count_of(p, in[1], r->flags)), one, NULL);
    (void)op;
    *out = lb_wide_resized(p, lb_wide_shl(p, ones, count_of(p, in[0], r->flags)), 1);
}
