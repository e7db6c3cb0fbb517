/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands of the paths that align terms: significand and exponent, specials in the exponent. */
#include "emit/idiom.h"
#include "emit/rule.h"

bool lb_rule_decodes(const lb_format *f) {
    return f->special == LB_SPECIAL_IEEE || f->special == LB_SPECIAL_NAN_TOP || f->special == LB_SPECIAL_FNUZ ||
           f->special == LB_SPECIAL_NONE;
}

/* Operands that the hardware widens to f16 first: their subnormals become normal where f16 has the range. */
static bool normalises(const rule *r, const lb_format *f) {
    return r->g.c_last && 1 - f->bias - f->man_bits >= -14;
}

int lb_rule_least_exponent(const rule *r, const lb_format *f) {
    return 1 - f->bias - (normalises(r, f) ? f->man_bits : 0);
}

/* The bits of a format's least NaN or Inf. */
static uint32_t special_code(const lb_format *f) {
    if (f->special == LB_SPECIAL_NAN_TOP) return (UINT32_C(1) << (f->bits - 1)) - 1;
    return ((UINT32_C(1) << f->exp_bits) - 1) << f->man_bits;
}

ir lb_rule_taken(const rule *r, ir_program *p, const lb_format *f, ir code) {
    if (f->id != LB_TF32 || r->u->edges.tf32 == LB_TF32_TRUNCATE) return code;
    ir taken = code;
    if (r->u->edges.tf32 == LB_TF32_ROUND) {
        const ir odd = lb_ir_with(p, IR_AND, lb_ir_with(p, IR_SHR, code, f->pad_bits), 1);
        taken = lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_ADD, code, (INT32_C(1) << (f->pad_bits - 1)) - 1), odd, 0);
    }
    const ir is_nan = lb_ir_with(p, IR_GE, lb_ir_with(p, IR_AND, code, INT32_MAX), 0x7f800001);
    return lb_ir_select(p, is_nan, lb_ir_u(p, 0x7fc00000), taken);
}

/* D2: none, or what a public model gives it. */
static int exponent_of_zero(const rule *r) {
    return r->u->edges.zero_products == LB_ZERO_PRODUCTS_COUNT ? -126 : RULE_ZERO;
}

/* Whether an operand is NaN or Inf, a B. */
static ir is_special(ir_program *p, const lb_format *f, ir kept, ir magnitude) {
    if (f->special == LB_SPECIAL_FNUZ) return lb_ir_with(p, IR_EQ, kept, INT32_C(1) << (f->bits - 1));
    return lb_ir_with(p, IR_GE, magnitude, (int32_t)special_code(f));
}

rule_operand lb_rule_decode(const rule *r, ir_program *p, const lb_format *f, ir code) {
    const int man = f->man_bits, top = f->exp_bits + man;
    const ir taken = lb_rule_taken(r, p, f, code);
    const ir kept = f->pad_bits ? lb_ir_with(p, IR_SHR, taken, f->pad_bits) : taken;
    const ir magnitude = lb_ir_with(p, IR_AND, kept, (int32_t)((UINT32_C(1) << top) - 1));
    const ir field = lb_ir_to_i(p, lb_ir_with(p, IR_SHR, magnitude, man));
    const ir above =
        lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, field, 1), 0); /* steps above the least exponent: a subnormal has it, too */
    const ir sig = lb_ir_do(p, IR_SUB, magnitude, lb_ir_with(p, IR_SHL, lb_ir_to_u(p, above), man), 0);
    const ir e = lb_ir_with(p, IR_ADD, above, 1 - f->bias);
    const ir is_zero = lb_ir_with(p, IR_LT, magnitude, r->g.flush_in ? INT32_C(1) << man : 1);
    ir e_used = lb_ir_select(p, is_zero, lb_ir_i(p, exponent_of_zero(r)), e), whole = lb_ir_to_i(p, sig), special = 0;
    if (r->g.flush_in) whole = lb_ir_select(p, is_zero, lb_ir_i(p, 0), whole);
    const bool specials = f->special != LB_SPECIAL_NONE && !r->finite;
    if (specials) {
        special = is_special(p, f, kept, magnitude);
        e_used = lb_ir_select(p, special, lb_ir_i(p, RULE_SPECIAL), e_used);
        const ir class_of = f->special == LB_SPECIAL_IEEE
                                ? lb_ir_select(p, lb_ir_with(p, IR_EQ, magnitude, (int32_t)special_code(f)), lb_ir_i(p, 1), lb_ir_i(p, 0))
                                : lb_ir_i(p, 0);
        whole = lb_ir_select(p, special, class_of, whole);
    }
    if (normalises(r, f)) {
        const ir up = lb_ir_with(p, IR_SUB, lb_ir_do(p, IR_CLZ, lb_ir_with(p, IR_OR, sig, 1), 0, 0), 31 - man);
        e_used = lb_ir_do(p, IR_SUB, e_used, up, 0);
        if (exponent_of_zero(r) != RULE_ZERO) e_used = lb_ir_select(p, is_zero, lb_ir_i(p, exponent_of_zero(r)), e_used);
        if (!r->floats) whole = lb_ir_to_i(p, lb_ir_do(p, IR_SHL, lb_ir_to_u(p, whole), up, 0));
    }
    if (!r->floats) {
        if (r->g.c_last) whole = lb_ir_to_i(p, lb_ir_with(p, IR_SHL, lb_ir_to_u(p, whole), lb_format_row(LB_F16)->man_bits - man));
        const ir negative = lb_ir_with(p, IR_GE, lb_ir_with(p, IR_SHR, kept, top), 1);
        return (rule_operand){lb_ir_select(p, negative, lb_ir_do(p, IR_SUB, lb_ir_i(p, 0), whole, 0), whole), e_used};
    }
    /* int -> float, then a multiplication by a power of two: exact, and neither step sees a subnormal number. */
    const ir scaled =
        lb_ir_do(p, IR_MUL, lb_ir_do(p, IR_FLOAT, whole, 0, 0), power_of_two(p, lb_ir_with(p, IR_ADD, above, 128 - f->bias - man)), 0);
    const ir sign = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_SHR, kept, top), 31);
    return (rule_operand){lb_ir_do(p, IR_FROM_BITS, lb_ir_do(p, IR_OR, lb_ir_do(p, IR_BITS, scaled, 0, 0), sign, 0), 0, 0), e_used};
}
