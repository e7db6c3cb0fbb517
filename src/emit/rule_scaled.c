/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Blocks with scales: mxf8f6f4, whose products carry them (the rest is rule.c's), and mxf4 and mxf4nvf4, whose exact sums of a group do. */
#include "emit/rule_block.h"
#include "emit/wide.h"

#include "base/try.h"

/* ---- a unit made ready -------------------------------------------------------------------------------------------------- */

static const rule_path grouped;

static lb_status open_scaled(rule *r, const lb_emit_options *o, lb_error *err) {
    const lb_unit *u = r->u;
    r->of_scale = (rule_registers){2, {IR_I, IR_I}};
    if (r->scales > RULE_MAX_SCALES || r->products > 128)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for at most %d scales of a row", RULE_MAX_SCALES);
    if (!u->group) {
        if (r->scale->id != LB_E8M0) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source of single products is written for e8m0 scales");
        return lb_rule_truncated.open(r, o, err);
    }
    if (u->frac_bits < 8) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for 8 and more fraction bits kept");
    r->path = &grouped;
    r->of_ab = (rule_registers){1, {IR_I, IR_U}};
    r->zero_c = true;
    r->top_min = u->floor_exp;
    const int least = 2 * (r->scale->id == LB_E8M0 ? -r->scale->bias : 1 - r->scale->bias),
              c_least = r->g.e_min - (r->g.c_own_exp ? 23 : 0);
    if (r->top_min < least && r->top_min < c_least) r->top_min = least < c_least ? least : c_least;
    return LB_OK;
}

/* A scale: its significand and its exponent. A NaN has RULE_SPECIAL. */
static rule_operand decode_scale(ir_program *p, const lb_format *f, ir code) {
    if (f->id == LB_E8M0) {
        const ir e = lb_ir_with(p, IR_SUB, lb_ir_to_i(p, code), f->bias);
        return (rule_operand){lb_ir_i(p, 1), lb_ir_select(p, lb_ir_with(p, IR_EQ, code, 255), lb_ir_i(p, RULE_SPECIAL), e)};
    }
    const int top = (1 << (f->exp_bits + f->man_bits)) - 1; /* the bit above is ignored */
    const ir magnitude = lb_ir_with(p, IR_AND, code, top);
    const ir above = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, lb_ir_to_i(p, lb_ir_with(p, IR_SHR, magnitude, f->man_bits)), 1), 0);
    const ir significand = lb_ir_do(p, IR_SUB, lb_ir_to_i(p, magnitude), lb_ir_with(p, IR_SHL, above, f->man_bits), 0);
    const ir e = lb_ir_with(p, IR_ADD, above, 1 - f->bias);
    return (rule_operand){significand, lb_ir_select(p, lb_ir_with(p, IR_EQ, magnitude, top), lb_ir_i(p, RULE_SPECIAL), e)};
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    if (f == r->scale) return decode_scale(p, f, code.low);
    return lb_rule_decode(r, p, f, code.low);
}

/* ---- groups ----------------------------------------------------------------------------------------------------------------- */

/* Twice an e2m1: a whole number. */
static rule_operand decode_grouped(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    if (f == r->scale) return decode_scale(p, f, code.low);
    const int man = f->man_bits, top = f->exp_bits + man;
    const ir magnitude = lb_ir_with(p, IR_AND, code.low, (1 << top) - 1);
    const ir above = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, lb_ir_to_i(p, lb_ir_with(p, IR_SHR, magnitude, man)), 1), 0);
    const ir significand = lb_ir_do(p, IR_SUB, lb_ir_to_i(p, magnitude), lb_ir_with(p, IR_SHL, above, man), 0);
    const ir sign = lb_ir_to_i(p, lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), lb_ir_with(p, IR_SHR, code.low, top), 0));
    return (rule_operand){with_sign(p, lb_ir_do(p, IR_SHL, significand, above, 0), sign), 0};
}

typedef struct group {
    ir significand, e; /* I: the sum times its scales' significands; their exponent, RULE_ZERO where it is not to count */
} group;

/* The exact sum of a group. Its scales' exponents are e, counted or not. */
static group sum_group(const rule *r, ir_program *p, const rule_inputs *in, int first, ir e) {
    const int scale = first / r->u->scale_block;
    const lb_zero_group counts = r->u->edges.zero_group;
    ir sum = 0, any = 0;
    for (int i = first; i < first + r->u->group; i++) {
        const ir product = lb_ir_do(p, IR_MUL, in->a[i].value, in->b[i].value, 0);
        sum = i == first ? product : lb_ir_do(p, IR_ADD, sum, product, 0);
        if (counts == LB_ZERO_GROUP_PRODUCTS) any = i == first ? product : lb_ir_do(p, IR_OR, any, product, 0);
    }
    if (counts != LB_ZERO_GROUP_PRODUCTS) any = sum;
    if (r->scale->id != LB_E8M0) {
        const ir scales = lb_ir_do(p, IR_MUL, in->scale_a[scale].value, in->scale_b[scale].value, 0);
        sum = lb_ir_do(p, IR_MUL, sum, scales, 0);
        any = lb_ir_select(p, lb_ir_with(p, IR_EQ, scales, 0), lb_ir_i(p, 0), any);
    }
    if (counts == LB_ZERO_GROUP_ALWAYS) return (group){sum, e};
    return (group){sum, lb_ir_select(p, lb_ir_with(p, IR_EQ, any, 0), lb_ir_i(p, RULE_ZERO), e)};
}

/* A magnitude in units of 2^(top - F), cut toward zero, with its sign (U: 1 is minus): a term of a sum of two words. */
static wide aligned(ir_program *p, ir magnitude, ir sign, int up, ir below) {
    const wide high = lb_wide_up(p, lb_wide_pair(magnitude, lb_ir_u(p, 0)), up);
    return lb_wide_negated(p, lb_wide_shr(p, high, lb_ir_with(p, IR_MIN, below, 63)), sign);
}

static ir finite_sum(const rule *r, ir_program *p, const group *groups, int count, const accumulator *c) {
    const int frac = 2 + 2 * r->scale->man_bits; /* fraction bits of a group's significand: twice an e2m1, twice */
    ir top = lb_ir_with(p, IR_MAX, c->e, r->top_min);
    for (int i = 0; i < count; i++) top = lb_ir_do(p, IR_MAX, top, groups[i].e, 0);
    ir below = lb_ir_do(p, IR_SUB, top, c->e, 0);
    if (r->g.c_down) below = lb_ir_with(p, IR_ADD, below, r->g.c_down);
    wide sum = aligned(p, c->magnitude, lb_ir_with(p, IR_SHR, lb_ir_to_u(p, c->sign), 31), r->g.c_up, below);
    for (int i = 0; i < count; i++) {
        const ir sign = lb_ir_with(p, IR_SHR, groups[i].significand, 31);
        const ir magnitude = lb_ir_to_u(p, with_sign(p, groups[i].significand, sign));
        below = lb_ir_do(p, IR_SUB, top, groups[i].e, 0);
        sum = lb_wide_add(p, sum, aligned(p, magnitude, lb_ir_with(p, IR_SHR, lb_ir_to_u(p, sign), 31), r->u->frac_bits - frac, below));
    }
    const ir minus = lb_ir_with(p, IR_SHR, sum.word[1], 31);
    const wide magnitude = lb_wide_negated(p, sum, minus);
    const ir zeros = lb_ir_with(p, IR_MIN, lb_wide_clz(p, magnitude), 32); /* a word holds what is not cut anyway */
    const ir room = lb_ir_do(p, IR_SUB, lb_ir_with(p, IR_ADD, top, 63 - r->g.frac_bits - r->g.e_min), zeros, 0);
    const ir sign = lb_ir_to_i(p, lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), minus, 0));
    return lb_block_round(r, p, (block_sum){lb_wide_shl(p, magnitude, zeros).word[1], sign, room});
}

static rule_code step_grouped(const rule *r, ir_program *p, const rule_inputs *in) {
    enum { MOST = 16 };
    const int count = r->products / r->u->group;
    const accumulator c = lb_block_decode_c(r, p, in->c.low);
    ir scales[RULE_MAX_SCALES], worst = c.e;
    group groups[MOST];
    for (int i = 0; i < r->scales; i++) {
        scales[i] = lb_ir_do(p, IR_ADD, in->scale_a[i].e, in->scale_b[i].e, 0);
        worst = lb_ir_do(p, IR_MAX, worst, scales[i], 0);
    }
    for (int i = 0; i < count; i++) groups[i] = sum_group(r, p, in, i * r->u->group, scales[i * r->u->group / r->u->scale_block]);
    const ir out = lb_ir_var(p, lb_ir_u(p, r->g.nan_code));
    lb_ir_if(p, lb_ir_with(p, IR_GE, worst, RULE_LIMIT)); /* a NaN scale makes NaN, whatever it scales */
    p->part = IR_RARE;
    ir classes = lb_block_class_of_c(r, p, &c);
    for (int i = 0; i < r->scales; i++)
        classes =
            lb_ir_do(p, IR_OR, classes, lb_ir_select(p, lb_ir_with(p, IR_GE, scales[i], RULE_LIMIT), lb_ir_u(p, 1), lb_ir_u(p, 0)), 0);
    lb_ir_set(p, out, lb_block_special(r, p, classes));
    p->part = IR_MAIN;
    lb_ir_else(p);
    lb_ir_set(p, out, finite_sum(r, p, groups, count, &c));
    lb_ir_end(p);
    return (rule_code){out, 0};
}

static void describe_grouped(const rule *r, lb_text *t) {
    const lb_unit *u = r->u;
    lb_text_add(
        t,
        "// Groups of %d products, each summed exactly, times its two scales; the exponent of such a term is that of its scales alone.\n",
        u->group);
    lb_text_add(t, "// The terms and c: each magnitude cut %d bits below the largest exponent, summed exactly, rounded to %s.\n",
                u->frac_bits, lb_unit_round_name(u->round));
    lb_text_add(t, "// NaN, Inf and subnormals are the hardware's. Shifts are clamped below 32.\n"
                   "// Exact under any fast-math option: integers only, sums in two words.\n");
}

static rule_code step(const rule *r, ir_program *p, const rule_inputs *in) {
    return lb_rule_truncated.step(r, p, in);
}

static void describe(const rule *r, lb_text *t) {
    lb_rule_truncated.describe(r, t);
}

static const rule_path grouped = {.open = open_scaled, .decode = decode_grouped, .step = step_grouped, .describe = describe_grouped};
const rule_path lb_rule_scaled = {.open = open_scaled, .decode = decode, .step = step, .describe = describe};
