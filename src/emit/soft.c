/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/soft.h"

/* A magnitude: significand (with its leading one where it is normal) and steps above the least exponent. */
typedef struct magnitude {
    ir code, significand /* U */, steps /* I */;
} magnitude;

static ir select(ir_program *p, ir condition, ir yes, ir no) {
    return lb_ir_do(p, IR_SEL, condition, yes, no);
}

static magnitude magnitude_of(ir_program *p, const lb_format *f, ir code) {
    const ir field = lb_ir_do(p, IR_AS_I, lb_ir_with(p, IR_SHR, code, f->man_bits), 0, 0);
    const ir steps = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, field, 1), 0);
    const ir above = lb_ir_with(p, IR_SHL, lb_ir_do(p, IR_AS_U, steps, 0, 0), f->man_bits);
    return (magnitude){code, lb_ir_do(p, IR_SUB, code, above, 0), steps};
}

/* x >> by, with the last bit set if a bit was lost. */
static ir shift_sticky(ir_program *p, ir x, ir by) {
    const ir moved = lb_ir_do(p, IR_SHR, x, by, 0);
    const ir whole = lb_ir_do(p, IR_EQ, lb_ir_do(p, IR_SHL, moved, by, 0), x, 0);
    return lb_ir_do(p, IR_OR, moved, select(p, whole, lb_ir_u(p, 0), lb_ir_u(p, 1)), 0);
}

/* sum * 2^-3 steps: its code without a sign, to nearest even. */
static ir rounded(ir_program *p, const lb_format *f, ir sum, ir steps) {
    const int drop = 30 - f->man_bits;
    const uint32_t inf = ((UINT32_C(1) << f->exp_bits) - 1) << f->man_bits;
    const ir room = lb_ir_with(p, IR_ADD, steps, 28 - f->man_bits); /* places that the sum can move up */
    const ir up = lb_ir_do(p, IR_MIN, lb_ir_do(p, IR_CLZ, lb_ir_with(p, IR_OR, sum, 1), 0, 0), room, 0);
    const ir high = lb_ir_do(p, IR_SHL, sum, up, 0);
    const ir x = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHR, high, 1), lb_ir_with(p, IR_AND, high, 1), 0);
    const ir odd = lb_ir_with(p, IR_AND, lb_ir_with(p, IR_SHR, x, drop), 1);
    const ir significand =
        lb_ir_with(p, IR_SHR, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_ADD, x, (INT32_C(1) << (drop - 1)) - 1), odd, 0), drop);
    const ir at = lb_ir_with(p, IR_SHL, lb_ir_do(p, IR_AS_U, lb_ir_do(p, IR_SUB, room, up, 0), 0, 0), f->man_bits);
    return lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_ADD, at, significand, 0), (int32_t)inf);
}

ir lb_soft_add(ir_program *p, const lb_format *f, uint32_t nan, ir x, ir y) {
    const uint32_t sign = UINT32_C(1) << (f->bits - 1), inf = ((UINT32_C(1) << f->exp_bits) - 1) << f->man_bits;
    const ir mx = lb_ir_with(p, IR_AND, x, (int32_t)(sign - 1)), my = lb_ir_with(p, IR_AND, y, (int32_t)(sign - 1));
    const ir less = lb_ir_do(p, IR_LT, mx, my, 0);
    const magnitude high = magnitude_of(p, f, select(p, less, my, mx)), low = magnitude_of(p, f, select(p, less, mx, my));
    const ir differ = lb_ir_with(p, IR_GE, lb_ir_with(p, IR_AND, lb_ir_do(p, IR_XOR, x, y, 0), (int32_t)sign), 1);
    const ir by = lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_SUB, high.steps, low.steps, 0), 31);
    const ir whole = lb_ir_with(p, IR_SHL, high.significand, 3);
    const ir moved = shift_sticky(p, lb_ir_with(p, IR_SHL, low.significand, 3), by);
    const ir sum = select(p, differ, lb_ir_do(p, IR_SUB, whole, moved, 0), lb_ir_do(p, IR_ADD, whole, moved, 0));
    const ir is_zero = lb_ir_with(p, IR_EQ, sum, 0);
    const ir of_high = lb_ir_with(p, IR_AND, select(p, less, y, x), (int32_t)sign);
    const ir of_zero = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_AND, x, y, 0), (int32_t)sign); /* -0 only of two of them */
    const ir finite = select(p, is_zero, of_zero, lb_ir_do(p, IR_OR, rounded(p, f, sum, high.steps), of_high, 0));
    /* Inf and NaN: the larger magnitude, unless it is NaN or the two are Infs of different signs. */
    const ir opposite = select(p, differ, low.code, lb_ir_u(p, 0));
    const ir larger = select(p, lb_ir_with(p, IR_EQ, opposite, (int32_t)inf), lb_ir_u(p, inf + 1), high.code);
    const ir special =
        select(p, lb_ir_with(p, IR_GE, larger, (int32_t)inf + 1), lb_ir_u(p, nan), lb_ir_do(p, IR_OR, high.code, of_high, 0));
    return select(p, lb_ir_with(p, IR_GE, high.code, (int32_t)inf), special, finite);
}
