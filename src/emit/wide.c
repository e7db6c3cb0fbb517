/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/wide.h"

/* ---- words ---------------------------------------------------------------------------------------------------------------- */

wide lb_wide_of(ir word) {
    return (wide){1, {word}};
}

wide lb_wide_pair(ir low, ir high) {
    return (wide){2, {low, high}};
}

wide lb_wide_u(ir_program *p, uint64_t bits, int count) {
    wide x = {.count = count};
    for (int i = 0; i < count; i++) x.word[i] = lb_ir_u(p, i < 2 ? (uint32_t)(bits >> (32 * i)) : 0);
    return x;
}

int lb_wide_words(int bits) {
    return (bits + 31) / 32;
}

wide lb_wide_resized(ir_program *p, wide x, int count) {
    for (int i = x.count; i < count; i++) x.word[i] = lb_ir_u(p, 0);
    x.count = count;
    return x;
}

wide lb_wide_masked(ir_program *p, wide x, int bits) {
    for (int i = 0; i < x.count; i++) {
        const int here = bits - 32 * i;
        if (here < 32) x.word[i] = lb_ir_do(p, IR_AND, x.word[i], lb_ir_u(p, here > 0 ? (UINT32_C(1) << here) - 1 : 0), 0);
    }
    return x;
}

/* A word of ones where bit `bit` of x is set. */
static ir copies_of(ir_program *p, ir x, int bit) {
    const ir up = lb_ir_to_i(p, lb_ir_with(p, IR_SHL, x, 31 - bit));
    return lb_ir_to_u(p, lb_ir_with(p, IR_SHR, up, 31));
}

wide lb_wide_extended(ir_program *p, wide x, int bits, bool is_signed, int count) {
    if (!is_signed) return lb_wide_resized(p, lb_wide_masked(p, x, bits), count);
    const int last = (bits - 1) / 32, top = (bits - 1) % 32;
    const ir copies = last + 1 < count ? copies_of(p, x.word[last], top) : 0;
    if (top < 31 && last < count) {
        const ir up = lb_ir_to_i(p, lb_ir_with(p, IR_SHL, x.word[last], 31 - top));
        x.word[last] = lb_ir_to_u(p, lb_ir_with(p, IR_SHR, up, 31 - top));
    }
    for (int i = last + 1; i < count; i++) x.word[i] = copies;
    x.count = count;
    return x;
}

wide lb_wide_each(ir_program *p, ir_op op, wide x, wide y) {
    for (int i = 0; i < x.count; i++) x.word[i] = lb_ir_do(p, op, x.word[i], y.word[i], 0);
    return x;
}

wide lb_wide_select(ir_program *p, ir condition, wide yes, wide no) {
    for (int i = 0; i < yes.count; i++) yes.word[i] = lb_ir_select(p, condition, yes.word[i], no.word[i]);
    return yes;
}

wide lb_wide_var(ir_program *p, wide first) {
    for (int i = 0; i < first.count; i++) first.word[i] = lb_ir_var(p, first.word[i]);
    return first;
}

void lb_wide_set(ir_program *p, wide var, wide value) {
    for (int i = 0; i < var.count; i++) lb_ir_set(p, var.word[i], value.word[i]);
}

/* ---- sums and products ---------------------------------------------------------------------------------------------------- */

wide lb_wide_add(ir_program *p, wide x, wide y) {
    ir carry = lb_ir_u(p, 0);
    for (int i = 0; i < x.count; i++) {
        const bool last = i + 1 == x.count;
        const ir sum = lb_ir_do(p, IR_ADD, x.word[i], y.word[i], 0), both = lb_ir_do(p, IR_ADD, sum, carry, 0);
        if (!last) {
            const ir first = lb_ir_do(p, IR_LT, sum, y.word[i], 0), second = lb_ir_do(p, IR_LT, both, carry, 0);
            carry = lb_ir_bit(p, lb_ir_either(p, first, second));
        }
        x.word[i] = both;
    }
    return x;
}

wide lb_wide_sub(ir_program *p, wide x, wide y, ir *borrow) {
    ir below = lb_ir_u(p, 0);
    for (int i = 0; i < x.count; i++) {
        const bool last = i + 1 == x.count && !borrow;
        const ir first = lb_ir_do(p, IR_SUB, x.word[i], y.word[i], 0), both = lb_ir_do(p, IR_SUB, first, below, 0);
        if (!last) {
            const ir less = lb_ir_do(p, IR_LT, x.word[i], y.word[i], 0), more = lb_ir_do(p, IR_LT, first, below, 0);
            below = lb_ir_bit(p, lb_ir_either(p, less, more));
        }
        x.word[i] = both;
    }
    if (borrow) *borrow = below;
    return x;
}

wide lb_wide_negated(ir_program *p, wide x, ir flag) {
    const ir ones = lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), flag, 0);
    for (int i = 0; i < x.count; i++) x.word[i] = lb_ir_do(p, IR_XOR, x.word[i], ones, 0);
    return lb_wide_add(p, x, lb_wide_resized(p, lb_wide_of(flag), x.count));
}

/* A row of the product for each word of x: one word longer than y, into which it fits. Rows add at their places. */
wide lb_wide_mul(ir_program *p, wide x, wide y, int count) {
    wide sum = lb_wide_u(p, 0, count);
    for (int i = 0; i < x.count && i < count; i++) {
        const int length = y.count + 1 < count - i ? y.count + 1 : count - i;
        wide low = lb_wide_u(p, 0, length), high = low, above = {.count = count - i};
        for (int j = 0; j < y.count && j < length; j++) low.word[j] = lb_ir_do(p, IR_MUL, x.word[i], y.word[j], 0);
        for (int j = 1; j < length; j++) high.word[j] = lb_ir_do(p, IR_MUL_HI, x.word[i], y.word[j - 1], 0);
        for (int j = i; j < count; j++) above.word[j - i] = sum.word[j];
        above = lb_wide_add(p, above, lb_wide_resized(p, lb_wide_add(p, low, high), count - i));
        for (int j = i; j < count; j++) sum.word[j] = above.word[j - i];
    }
    return sum;
}

/* ---- comparisons ---------------------------------------------------------------------------------------------------------- */

ir lb_wide_is_zero(ir_program *p, wide x) {
    ir all = x.word[0];
    for (int i = 1; i < x.count; i++) all = lb_ir_do(p, IR_OR, all, x.word[i], 0);
    return lb_ir_with(p, IR_EQ, all, 0);
}

ir lb_wide_equal(ir_program *p, wide x, wide y) {
    ir equal = lb_ir_b(p, true);
    for (int i = 0; i < x.count; i++) equal = lb_ir_both(p, equal, lb_ir_do(p, IR_EQ, x.word[i], y.word[i], 0));
    return equal;
}

ir lb_wide_less(ir_program *p, wide x, wide y, bool is_signed) {
    ir less = lb_ir_b(p, false);
    for (int i = 0; i < x.count; i++) {
        const bool top = is_signed && i + 1 == x.count;
        const ir a = top ? lb_ir_to_i(p, x.word[i]) : x.word[i], b = top ? lb_ir_to_i(p, y.word[i]) : y.word[i];
        const ir still = lb_ir_both(p, lb_ir_do(p, IR_EQ, a, b, 0), less);
        less = lb_ir_either(p, lb_ir_do(p, IR_LT, a, b, 0), still);
    }
    return less;
}

/* ---- shifts --------------------------------------------------------------------------------------------------------------- */

static ir word_at(ir_program *p, wide x, int i, ir outside) {
    (void)p;
    return i >= 0 && i < x.count ? x.word[i] : outside;
}

wide lb_wide_up(ir_program *p, wide x, int by) {
    const ir zero = lb_ir_u(p, 0);
    wide y = x;
    for (int i = 0; i < x.count; i++) {
        const ir here = word_at(p, x, i - by / 32, zero), below = word_at(p, x, i - by / 32 - 1, zero);
        y.word[i] =
            by % 32 == 0 ? here : lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHL, here, by % 32), lb_ir_with(p, IR_SHR, below, 32 - by % 32), 0);
    }
    return y;
}

wide lb_wide_down(ir_program *p, wide x, int by) {
    const ir zero = lb_ir_u(p, 0);
    wide y = x;
    for (int i = 0; i < x.count; i++) {
        const ir here = word_at(p, x, i + by / 32, zero), above = word_at(p, x, i + by / 32 + 1, zero);
        y.word[i] =
            by % 32 == 0 ? here : lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHR, here, by % 32), lb_ir_with(p, IR_SHL, above, 32 - by % 32), 0);
    }
    return y;
}

ir lb_wide_clamp(ir_program *p, ir by, int most) {
    return lb_ir_with(p, IR_MIN, lb_ir_with(p, IR_MAX, by, 0), most);
}

/* Whole words move first, by powers of two; what is left is below 32. Up, or down with `in` coming in from above and what drops below
 * or-ed into *lost. */
static wide move_words(ir_program *p, wide x, ir by, bool up, ir in, ir *lost) {
    for (int step = LB_WIDE_WORDS / 2; step > 0; step /= 2) {
        if (step >= x.count) continue;
        const ir moves = lb_ir_with(p, IR_EQ, lb_ir_with(p, IR_AND, by, 32 * step), 32 * step);
        wide y = x;
        for (int i = 0; i < x.count; i++) y.word[i] = word_at(p, x, up ? i - step : i + step, in);
        if (lost)
            for (int i = 0; i < step; i++) *lost = lb_ir_do(p, IR_OR, *lost, lb_ir_select(p, moves, x.word[i], lb_ir_u(p, 0)), 0);
        x = lb_wide_select(p, moves, y, x);
    }
    return x;
}

static ir below_32(ir_program *p, wide x, ir by) {
    return x.count > 1 ? lb_ir_with(p, IR_AND, by, 31) : by;
}

wide lb_wide_shl(ir_program *p, wide x, ir by) {
    const ir zero = lb_ir_u(p, 0), bits = below_32(p, x, by), rest = lb_ir_with(p, IR_XOR, bits, 31);
    x = move_words(p, x, by, true, zero, NULL);
    wide y = x;
    for (int i = 0; i < x.count; i++) {
        const ir below = lb_ir_do(p, IR_SHR, lb_ir_with(p, IR_SHR, word_at(p, x, i - 1, zero), 1), rest, 0); /* 32 - bits, in two steps */
        y.word[i] = lb_ir_do(p, IR_OR, lb_ir_do(p, IR_SHL, x.word[i], bits, 0), below, 0);
    }
    return y;
}

static wide shift_down(ir_program *p, wide x, ir by, ir in, ir *lost) {
    const ir bits = below_32(p, x, by), rest = lb_ir_with(p, IR_XOR, bits, 31);
    x = move_words(p, x, by, false, in, lost);
    wide y = x;
    for (int i = 0; i < x.count; i++) {
        const ir above = lb_ir_do(p, IR_SHL, lb_ir_with(p, IR_SHL, word_at(p, x, i + 1, in), 1), rest, 0);
        y.word[i] = lb_ir_do(p, IR_OR, lb_ir_do(p, IR_SHR, x.word[i], bits, 0), above, 0);
    }
    if (lost) *lost = lb_ir_do(p, IR_OR, *lost, lb_ir_do(p, IR_SHL, lb_ir_with(p, IR_SHL, x.word[0], 1), rest, 0), 0);
    return y;
}

wide lb_wide_shr(ir_program *p, wide x, ir by) {
    return shift_down(p, x, by, lb_ir_u(p, 0), NULL);
}

wide lb_wide_sar(ir_program *p, wide x, ir by) {
    return shift_down(p, x, by, copies_of(p, x.word[x.count - 1], 31), NULL);
}

static wide with_sticky(ir_program *p, wide x, ir lost) {
    x.word[0] = lb_ir_do(p, IR_OR, x.word[0], lb_ir_with(p, IR_MIN, lost, 1), 0);
    return x;
}

wide lb_wide_shr_sticky(ir_program *p, wide x, ir by) {
    ir lost = lb_ir_u(p, 0);
    const wide y = shift_down(p, x, by, lost, &lost);
    return with_sticky(p, y, lost);
}

wide lb_wide_top(ir_program *p, wide x, int count) {
    ir lost = lb_ir_u(p, 0);
    wide y = {.count = count};
    for (int i = 0; i < x.count - count; i++) lost = lb_ir_do(p, IR_OR, lost, x.word[i], 0);
    for (int i = 0; i < count; i++) y.word[i] = x.word[x.count - count + i];
    return with_sticky(p, y, lost);
}

ir lb_wide_clz(ir_program *p, wide x) {
    ir zeros = 0;
    for (int i = 0; i < x.count; i++) {
        const ir here = lb_ir_do(p, IR_CLZ, lb_ir_with(p, IR_OR, x.word[i], 1), 0, 0);
        zeros = i == 0 ? here : lb_ir_select(p, lb_ir_with(p, IR_EQ, x.word[i], 0), lb_ir_with(p, IR_ADD, zeros, 32), here);
    }
    return zeros;
}

/* ---- division ------------------------------------------------------------------------------------------------------------- */

/* Bit by bit. low and the quotient share their register: one leaves at its top while the other enters below. */
wide lb_wide_divide(ir_program *p, wide high, wide low, wide d, int steps, wide *rest) {
    const int n = d.count;
    const uint64_t times = p->times;
    const wide r = lb_wide_var(p, high), q = lb_wide_var(p, low);
    lb_ir_for(p, (uint32_t)steps);
    p->times = times * (uint64_t)steps;
    const ir over = lb_ir_with(p, IR_SHR, r.word[n - 1], 31); /* 2r may be as wide as d and one bit more */
    wide twice = lb_wide_up(p, r, 1);
    twice.word[0] = lb_ir_do(p, IR_OR, twice.word[0], lb_ir_with(p, IR_SHR, q.word[n - 1], 31), 0);
    ir borrow;
    const wide less = lb_wide_sub(p, twice, d, &borrow);
    const ir fits = lb_ir_do(p, IR_GE, over, borrow, 0);
    wide next = lb_wide_up(p, q, 1);
    next.word[0] = lb_ir_do(p, IR_OR, next.word[0], lb_ir_bit(p, fits), 0);
    lb_wide_set(p, r, lb_wide_select(p, fits, less, twice));
    lb_wide_set(p, q, next);
    lb_ir_end(p);
    p->times = times;
    *rest = r;
    return q;
}
