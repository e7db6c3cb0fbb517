/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Units whose every step is rounded: chains of fma, trees and pairs of sums. Operands travel as codes of D's format; the arithmetic is soft.c's. */
#include "emit/idiom.h"
#include "emit/rule.h"
#include "emit/soft.h"

#include "base/try.h"

#define X86_DEFAULT_NAN UINT32_C(0xffc00000)

/* ---- operands ----------------------------------------------------------------------------------------------------------- */

static wide words(const rule *r, rule_code x) {
    return lb_rule_words(r->c) == 2 ? lb_wide_pair(x.low, x.high) : lb_wide_of(x.low);
}

static rule_code code_of(wide x) {
    return (rule_code){x.word[0], x.count == 2 ? x.word[1] : 0};
}

static wide operand(const rule *r, rule_operand x) {
    return words(r, (rule_code){x.value, x.e});
}

/* A subnormal as a +0, whatever its sign. */
static ir flushed_positive(ir_program *p, const lb_format *f, ir code) {
    const ir magnitude = lb_ir_with(p, IR_AND, code, (int32_t)((UINT32_C(1) << (f->bits - 1)) - 1) & ~((1 << f->pad_bits) - 1));
    const ir some = lb_ir_with(p, IR_SUB, magnitude, 1); /* of a zero: the largest */
    const ir below = lb_ir_do(p, IR_LT, some, lb_ir_u(p, (UINT32_C(1) << f->man_bits << f->pad_bits) - 1), 0);
    return lb_ir_select(p, below, lb_ir_u(p, 0), code);
}

/* The same number as an f32, which has all of them. */
static ir widened(const rule *r, ir_program *p, const lb_format *f, ir code) {
    const lb_format *f32 = lb_format_row(LB_F32);
    if (f->exp_bits == f32->exp_bits) {
        const ir up = f->bits < 32 ? lb_ir_with(p, IR_SHL, code, 32 - f->bits) : lb_rule_taken(r, p, f, code);
        return f->pad_bits ? lb_ir_with(p, IR_AND, up, -(1 << f->pad_bits)) : up;
    }
    const soft_number x = lb_soft_unpack(p, f, lb_wide_of(code));
    const soft_rule to_f32 = {.f = f32, .nan = 0x7fc00000};
    const soft_value v = {x.sign, lb_ir_with(p, IR_ADD, x.steps, f32->bias - f->bias + 31 - f->man_bits), x.sig};
    const wide finite = lb_soft_round(p, &to_f32, v), inf = lb_soft_inf(p, &to_f32, x.sign);
    return lb_ir_select(p, x.is_nan, lb_ir_u(p, 0x7fc00000), lb_ir_select(p, x.is_inf, inf.word[0], finite.word[0]));
}

static bool flushes_in(const rule *r) {
    const lb_unit_subnormals s = r->u->edges.subnormals;
    return s != LB_SUBNORMALS_KEEP && s != LB_SUBNORMALS_FLUSH_OUT;
}

static bool flushes_out(const rule *r) {
    const lb_unit_subnormals s = r->u->edges.subnormals;
    return s != LB_SUBNORMALS_KEEP && s != LB_SUBNORMALS_FLUSH_IN;
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    const lb_unit_path path = r->u->path;
    if (path == LB_PATH_FMA_CHAIN) return (rule_operand){code.low, code.high};
    if (path == LB_PATH_PAIRWISE && flushes_in(r)) code.low = flushed_positive(p, f, code.low);
    const ir x = widened(r, p, f, code.low);
    if (path == LB_PATH_PAIRWISE || path == LB_PATH_PAIR_FUSED) return (rule_operand){x, 0};
    return (rule_operand){lb_soft_flush(p, lb_format_row(LB_F32), lb_wide_of(x)).word[0], 0};
}

/* ---- the steps ------------------------------------------------------------------------------------------------------------ */

static soft_rule rounding_of(const rule *r) {
    soft_rule s = {.f = r->c, .nan = r->u->edges.nan};
    switch (r->u->path) {
    case LB_PATH_PAIRWISE: s.flush = flushes_out(r); break;
    case LB_PATH_PAIR_ODD:
        s.flush = true;
        s.rounding = LB_ODD;
        break;
    case LB_PATH_ODD_FIRST:
    case LB_PATH_TWO_CHAINS: s.flush = s.unbounded = true; break;
    default: break;
    }
    if (!r->u->edges.nan_set) lb_nan_code(r->c, &s.nan);
    if (s.unbounded && !r->u->edges.nan_set) s.nan = X86_DEFAULT_NAN;
    return s;
}

static rule_code step_fma(const rule *r, ir_program *p, const rule_inputs *in) {
    const soft_rule s = rounding_of(r);
    return code_of(lb_soft_fma(p, &s, operand(r, in->a[0]), operand(r, in->b[0]), words(r, in->c)));
}

static rule_code step_pairwise(const rule *r, ir_program *p, const rule_inputs *in) {
    const soft_rule s = rounding_of(r);
    wide tree[RULE_MAX_K];
    for (int i = 0; i < r->block; i++) tree[i] = lb_soft_mul(p, &s, operand(r, in->a[i]), operand(r, in->b[i]));
    for (int n = r->block; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) tree[i] = lb_soft_add(p, &s, tree[2 * i], tree[2 * i + 1]);
    const ir c = flushes_in(r) ? flushed_positive(p, r->c, in->c.low) : in->c.low;
    return code_of(lb_soft_add(p, &s, lb_wide_of(c), tree[0]));
}

static rule_code step_pair(const rule *r, ir_program *p, const rule_inputs *in) {
    const soft_rule s = rounding_of(r);
    const wide a0 = operand(r, in->a[0]), b0 = operand(r, in->b[0]), a1 = operand(r, in->a[1]), b1 = operand(r, in->b[1]);
    wide c = words(r, in->c), pair;
    if (r->u->path == LB_PATH_PAIR_ODD) {
        const wide first = lb_soft_mul(p, &s, a0, b0), second = lb_soft_mul(p, &s, a1, b1);
        pair = lb_soft_add(p, &s, first, second);
        c = lb_soft_flush(p, r->c, c);
    } else {
        pair = lb_soft_dot2(p, &s, a0, b0, a1, b1);
    }
    return code_of(lb_soft_add(p, &s, c, pair));
}

/* The first NaN of a0, b0, a1, b1 and c, quieted, else what two fma make. */
static rule_code step_odd_first(const rule *r, ir_program *p, const rule_inputs *in) {
    const soft_rule s = rounding_of(r);
    const ir c = in->c.low, order[] = {in->a[0].value, in->b[0].value, in->a[1].value, in->b[1].value, c};
    const wide flushed = lb_soft_flush(p, r->c, lb_wide_of(c));
    const wide first = lb_soft_fma(p, &s, lb_wide_of(order[2]), lb_wide_of(order[3]), flushed);
    ir out = lb_soft_fma(p, &s, lb_wide_of(order[0]), lb_wide_of(order[1]), first).word[0];
    for (int i = 5; i-- > 0;) {
        const ir is_nan = lb_ir_with(p, IR_GE, lb_ir_with(p, IR_AND, order[i], INT32_MAX), 0x7f800001);
        out = lb_ir_select(p, is_nan, lb_ir_with(p, IR_OR, order[i], 0x00400000), out);
    }
    return (rule_code){out, 0};
}

/* Two chains, over even and over odd k: the two words of the state. */
static rule_code step_two_chains(const rule *r, ir_program *p, const rule_inputs *in) {
    const soft_rule s = rounding_of(r);
    const wide even = lb_soft_fma(p, &s, operand(r, in->a[0]), operand(r, in->b[0]), lb_wide_of(in->c.low));
    const wide odd = lb_soft_fma(p, &s, operand(r, in->a[1]), operand(r, in->b[1]), lb_wide_of(in->c.high));
    return (rule_code){even.word[0], odd.word[0]};
}

static rule_code begin_two_chains(const rule *r, ir_program *p, rule_code c) {
    (void)r;
    (void)c;
    return (rule_code){lb_ir_u(p, 0), lb_ir_u(p, 0)};
}

static rule_code end_two_chains(const rule *r, ir_program *p, rule_code chains, rule_code c) {
    const soft_rule s = rounding_of(r);
    const wide both = lb_soft_add(p, &s, lb_wide_of(chains.low), lb_wide_of(chains.high));
    return code_of(lb_soft_add(p, &s, lb_soft_flush(p, r->c, lb_wide_of(c.low)), both));
}

/* ---- a unit made ready ---------------------------------------------------------------------------------------------------- */

static lb_status open_chain(rule *r, const lb_emit_options *o, lb_error *err) {
    (void)o;
    const lb_unit *u = r->u;
    r->of_ab = (rule_registers){lb_rule_words(r->c), {IR_U, IR_U}};
    if (u->path == LB_PATH_FMA_CHAIN) {
        r->block = 1;
        if (u->a != u->d || u->b != u->d)
            return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source of a chain is written for A and B in D's own format");
        return LB_OK;
    }
    r->block = u->path == LB_PATH_PAIRWISE ? u->terms : 2;
    if (r->a->special != LB_SPECIAL_IEEE || r->b->special != LB_SPECIAL_IEEE)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source of path %s is written for formats with Inf and NaN",
                       lb_unit_path_name(u->path));
    return LB_OK;
}

static const char *what_is_done(lb_unit_path path) {
    switch (path) {
    case LB_PATH_FMA_CHAIN: return "c = fma(a, b, c) in ascending k, IEEE 754, to nearest even";
    case LB_PATH_PAIRWISE: return "blocks of products: each product and each sum of a binary tree rounded, c added last";
    case LB_PATH_PAIR_ODD: return "pairs: two products, their sum, the sum with c, each rounded to odd; subnormals are zeros, in and out";
    case LB_PATH_PAIR_FUSED: return "pairs: the exact sum of two products rounded once, then added to c, both to nearest even";
    case LB_PATH_ODD_FIRST: return "pairs: c = fma of the second product, then of the first; subnormals are zeros, in and out";
    default: return "chains of fma from zero over even and over odd k, added, then added to c; subnormals are zeros, in and out";
    }
}

static void describe(const rule *r, lb_text *t) {
    lb_text_add(t, "// In %s, %s.\n", r->c->name, what_is_done(r->u->path));
    lb_text_add(t, "// NaN, Inf and subnormals are the hardware's. Shifts are clamped below 32.\n"
                   "// Exact under any fast-math option: integers only.\n");
}

#define CHAIN(step_function)                                                                                                               \
    { .open = open_chain, .decode = decode, .step = step_function, .describe = describe }
const rule_path lb_rule_fma_chain = CHAIN(step_fma);
const rule_path lb_rule_pairwise = CHAIN(step_pairwise);
const rule_path lb_rule_pair = CHAIN(step_pair);
const rule_path lb_rule_odd_first = CHAIN(step_odd_first);
const rule_path lb_rule_two_chains = {
    .open = open_chain, .decode = decode, .step = step_two_chains, .begin = begin_two_chains, .end = end_two_chains, .describe = describe};
