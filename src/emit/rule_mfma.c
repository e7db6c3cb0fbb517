/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Blocks of CDNA1 (exact), and of CDNA3, whose c joins late. Each ends in one rounding to f32, to nearest even. */
#include "emit/idiom.h"
#include "emit/rule.h"
#include "emit/soft.h"

#include "base/try.h"

/* ---- products and c, and what decides alone --------------------------------------------------------------------------------- */

typedef struct block {
    const rule *r;
    ir_program *p;
    int frac;                            /* fraction bits of a product */
    ir value[RULE_MAX_K], e[RULE_MAX_K]; /* of the products */
    ir top;                              /* the largest exponent */
    soft_number c;
    ir c_special; /* B */
} block;

static block open_block(const rule *r, ir_program *p, const rule_inputs *in) {
    block b = {.r = r, .p = p, .frac = r->a->man_bits + r->b->man_bits, .c = lb_soft_unpack(p, r->c, lb_wide_of(in->c.low))};
    for (int i = 0; i < r->block; i++) {
        b.value[i] = lb_ir_do(p, IR_MUL, in->a[i].value, in->b[i].value, 0);
        b.e[i] = lb_ir_do(p, IR_ADD, in->a[i].e, in->b[i].e, 0);
        b.top = i ? lb_ir_do(p, IR_MAX, b.top, b.e[i], 0) : b.e[i];
    }
    b.c_special = lb_ir_do(p, IR_EITHER, b.c.is_nan, b.c.is_inf, 0);
    return b;
}

/* 2 +Inf, 4 -Inf, by the sign bit. */
static ir inf_class(ir_program *p, ir sign_bit) {
    return lb_ir_do(p, IR_SHL, lb_ir_u(p, 2), sign_bit, 0);
}

/* 1 NaN, 2 +Inf, 4 -Inf, 0 of a finite product. Where one of 2^128 counts as Inf, `large` is its least significand under 2^127. */
static ir product_class(block *b, int i, int32_t large) {
    ir_program *p = b->p;
    const ir none = lb_ir_u(p, 0), inf = inf_class(p, lb_ir_with(p, IR_SHR, lb_ir_to_u(p, b->value[i]), 31));
    const ir special = lb_ir_select(p, lb_ir_with(p, IR_EQ, b->value[i], 0), lb_ir_u(p, 1), inf); /* NaN times any, Inf times zero */
    ir finite = none;
    if (large) {
        const ir magnitude = with_sign(p, b->value[i], lb_ir_with(p, IR_SHR, b->value[i], 31));
        const ir reaches = lb_ir_do(p, IR_BOTH, lb_ir_with(p, IR_EQ, b->e[i], 127), lb_ir_with(p, IR_GE, magnitude, large), 0);
        finite = lb_ir_select(p, lb_ir_do(p, IR_EITHER, lb_ir_with(p, IR_GE, b->e[i], 128), reaches, 0), inf, none);
    }
    return lb_ir_select(p, lb_ir_with(p, IR_GE, b->e[i], RULE_LIMIT), special, finite);
}

/* The code of a block: of NaN and Inf alone where there are some among the products and c, else what `finite` gives. */
static ir settle(block *b, int least, int32_t large, ir (*finite)(block *b)) {
    ir_program *p = b->p;
    const ir classes = lb_ir_var(p, lb_ir_u(p, 0)), out = lb_ir_var(p, lb_ir_u(p, 0));
    const ir inf = lb_ir_u(p, 0x7f800000), minus = lb_ir_u(p, 0xff800000);
    const ir nan = lb_ir_u(p, b->r->u->edges.nan_set ? (uint32_t)b->r->u->edges.nan : 0x7fc00000);
    lb_ir_if(p, lb_ir_do(p, IR_EITHER, b->c_special, lb_ir_with(p, IR_GE, b->top, least), 0));
    p->part = IR_RARE;
    ir all = lb_ir_select(p, b->c.is_nan, lb_ir_u(p, 1), lb_ir_select(p, b->c.is_inf, inf_class(p, b->c.sign), lb_ir_u(p, 0)));
    for (int i = 0; i < b->r->block; i++) all = lb_ir_do(p, IR_OR, all, product_class(b, i, large), 0);
    lb_ir_set(p, classes, all);
    lb_ir_set(p, out, lb_ir_select(p, lb_ir_with(p, IR_EQ, all, 2), inf, lb_ir_select(p, lb_ir_with(p, IR_EQ, all, 4), minus, nan)));
    p->part = IR_MAIN;
    lb_ir_end(p);
    lb_ir_if(p, lb_ir_with(p, IR_EQ, classes, 0));
    lb_ir_set(p, out, finite(b));
    lb_ir_end(p);
    return out;
}

/* sig * 2^e of two words, rounded. */
static ir rounded(ir_program *p, ir sign, ir e, wide sig) {
    const soft_rule s = {.f = lb_format_row(LB_F32), .nan = 0x7fc00000};
    return lb_soft_round(p, &s, (soft_value){sign, lb_ir_with(p, IR_ADD, e, 63 + 126), sig}).word[0];
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    return lb_rule_decode(r, p, f, code.low);
}

/* ---- exact ---------------------------------------------------------------------------------------------------------------- */

/* A sum of any spread: signed limbs of 16 bits in words, so that a few terms can be added before carries move. */
enum { LIMB = 16 };

/* The place of the lowest bit of any term. */
static int lowest(const rule *r) {
    const int products = 2 - r->a->bias - r->b->bias - r->a->man_bits - r->b->man_bits, c = 1 - r->c->bias - r->c->man_bits;
    return products < c ? products : c;
}

static int limbs_of(const rule *r) {
    const int a = (1 << r->a->exp_bits) - r->a->bias, b = (1 << r->b->exp_bits) - r->b->bias, c = r->c->bias + 1;
    return ((a + b + 2 > c ? a + b + 2 : c) + 8 - lowest(r)) / LIMB + 3;
}

/* magnitude (24 bits) * 2^place, with a sign of 0 or -1. */
static void add_term(ir_program *p, ir magnitude, ir sign, ir place) {
    const ir at = lb_ir_with(p, IR_SHR, place, 4), by = lb_ir_with(p, IR_AND, place, LIMB - 1);
    const ir low = lb_ir_do(p, IR_SHL, lb_ir_with(p, IR_AND, magnitude, 0xffff), by, 0);
    const ir high = lb_ir_do(p, IR_SHL, lb_ir_with(p, IR_SHR, magnitude, LIMB), by, 0);
    const ir parts[3] = {lb_ir_with(p, IR_AND, low, 0xffff),
                         lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHR, low, LIMB), lb_ir_with(p, IR_AND, high, 0xffff), 0),
                         lb_ir_with(p, IR_SHR, high, LIMB)};
    for (int i = 0; i < 3; i++) {
        const ir index = lb_ir_with(p, IR_ADD, at, i);
        lb_ir_store(p, "limbs", index, lb_ir_do(p, IR_ADD, lb_ir_load(p, "limbs", index), with_sign(p, parts[i], sign), 0));
    }
}

/* The three limbs from the highest that is not 0 on, its number, and whether anything is below them. */
typedef struct top_limbs {
    ir limb[3], at, below;
} top_limbs;

/* Carries move up; what is left is the sign, 0 or -1. */
static ir move_carries(ir_program *p, int count) {
    const uint64_t times = p->times;
    const ir carry = lb_ir_var(p, lb_ir_i(p, 0));
    const ir i = lb_ir_for(p, (uint32_t)count);
    p->times = times * (uint64_t)count;
    const ir sum = lb_ir_do(p, IR_ADD, lb_ir_to_i(p, lb_ir_load(p, "limbs", i)), carry, 0);
    lb_ir_store(p, "limbs", i, lb_ir_with(p, IR_AND, lb_ir_to_u(p, sum), 0xffff));
    lb_ir_set(p, carry, lb_ir_with(p, IR_SHR, sum, LIMB));
    lb_ir_end(p);
    p->times = times;
    return carry;
}

static top_limbs scan(ir_program *p, int count, ir sign) {
    const uint64_t times = p->times;
    const ir zero = lb_ir_u(p, 0), mask = lb_ir_with(p, IR_AND, lb_ir_to_u(p, sign), 0xffff);
    top_limbs x = {{lb_ir_var(p, zero), lb_ir_var(p, zero), lb_ir_var(p, zero)}, lb_ir_var(p, zero), lb_ir_var(p, zero)};
    const ir before = lb_ir_var(p, zero), two_before = lb_ir_var(p, zero), all_before = lb_ir_var(p, zero);
    const ir carry = lb_ir_var(p, lb_ir_with(p, IR_AND, mask, 1)); /* of a negation */
    const ir i = lb_ir_for(p, (uint32_t)count);
    p->times = times * (uint64_t)count;
    const ir turned = lb_ir_do(p, IR_ADD, lb_ir_do(p, IR_XOR, lb_ir_load(p, "limbs", i), mask, 0), carry, 0);
    const ir limb = lb_ir_with(p, IR_AND, turned, 0xffff);
    lb_ir_set(p, carry, lb_ir_with(p, IR_SHR, turned, LIMB));
    lb_ir_if(p, lb_ir_with(p, IR_GE, limb, 1));
    lb_ir_set(p, x.limb[0], limb);
    lb_ir_set(p, x.limb[1], before);
    lb_ir_set(p, x.limb[2], two_before);
    lb_ir_set(p, x.below, all_before);
    lb_ir_set(p, x.at, i);
    lb_ir_end(p);
    lb_ir_set(p, all_before, lb_ir_do(p, IR_OR, all_before, two_before, 0));
    lb_ir_set(p, two_before, before);
    lb_ir_set(p, before, limb);
    lb_ir_end(p);
    p->times = times;
    return x;
}

static ir exact_sum(block *b) {
    ir_program *p = b->p;
    const rule *r = b->r;
    const int base = lowest(r), count = limbs_of(r);
    const ir i = lb_ir_for(p, (uint32_t)count);
    lb_ir_store(p, "limbs", i, lb_ir_u(p, 0));
    lb_ir_end(p);
    for (int k = 0; k < r->block; k++) {
        const ir sign = lb_ir_with(p, IR_SHR, b->value[k], 31);
        const ir place = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, b->e[k], b->frac + base), 0); /* below it are zeros alone */
        add_term(p, lb_ir_to_u(p, with_sign(p, b->value[k], sign)), lb_ir_to_u(p, sign), lb_ir_to_u(p, place));
    }
    const ir of_c = lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), b->c.sign, 0);
    add_term(p, b->c.sig.word[0], of_c, lb_ir_to_u(p, lb_ir_with(p, IR_ADD, b->c.steps, 1 - r->c->bias - r->c->man_bits - base)));
    const ir sign = move_carries(p, count);
    const top_limbs x = scan(p, count, sign);
    const ir sticky = lb_ir_select(p, lb_ir_with(p, IR_EQ, x.below, 0), lb_ir_u(p, 0), lb_ir_u(p, 1));
    const ir low = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHL, x.limb[2], LIMB), sticky, 0);
    const ir high = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHL, x.limb[0], LIMB), x.limb[1], 0);
    const ir e = lb_ir_with(p, IR_ADD, lb_ir_with(p, IR_SHL, lb_ir_to_i(p, x.at), 4), base + LIMB - 64);
    return rounded(p, lb_ir_with(p, IR_AND, lb_ir_to_u(p, sign), 1), e, lb_wide_pair(low, high));
}

static lb_status open_exact(rule *r, const lb_emit_options *o, lb_error *err) {
    (void)o;
    r->block = r->u->terms;
    r->of_ab = (rule_registers){2, {IR_I, IR_I}};
    if (!lb_rule_decodes(r->a) || !lb_rule_decodes(r->b) || r->block > 64)
        return lb_fail(err, LB_E_UNAVAILABLE, r->u->name, "source is written for blocks of at most 64 products");
    return LB_OK;
}

static rule_code step_exact(const rule *r, ir_program *p, const rule_inputs *in) {
    block b = open_block(r, p, in);
    lb_ir_array(p, "limbs", (uint32_t)limbs_of(r));
    return (rule_code){settle(&b, RULE_LIMIT, 0, exact_sum), 0};
}

static void describe_exact(const rule *r, lb_text *t) {
    lb_text_add(t, "// Blocks of %d products and c: summed exactly, whatever their spread, then rounded to f32, to nearest even.\n",
                r->block);
    lb_text_add(t, "// NaN, Inf and subnormals are the hardware's. Shifts are clamped below 32.\n"
                   "// Exact under any fast-math option: integers only, the sum in limbs of 16 bits.\n");
}

/* ---- late c ----------------------------------------------------------------------------------------------------------------- */

enum { SUM_BITS = 31, C_BITS = 24, KEPT_BITS = 25 }; /* fraction bits under the common exponent; c further below than KEPT_BITS goes */

/* A sum of products in units of 2^(e - F). */
typedef struct partial {
    ir sum, e;
} partial;

/* Products first, first + stride …, each cut toward zero under the largest exponent of those that are not zero. */
static partial sum_products(block *b, int first, int stride) {
    ir_program *p = b->p;
    const int up = b->r->u->frac_bits - b->frac;
    partial x = {0, b->e[first]};
    for (int i = first + stride; i < b->r->block; i += stride) x.e = lb_ir_do(p, IR_MAX, x.e, b->e[i], 0);
    for (int i = first; i < b->r->block; i += stride) {
        const ir sign = lb_ir_with(p, IR_SHR, b->value[i], 31), magnitude = lb_ir_to_u(p, with_sign(p, b->value[i], sign));
        ir below = lb_ir_do(p, IR_SUB, x.e, b->e[i], 0);
        if (up < 0) below = lb_ir_with(p, IR_ADD, below, -up);
        const ir moved =
            lb_ir_do(p, IR_SHR, up > 0 ? lb_ir_with(p, IR_SHL, magnitude, up) : magnitude, lb_ir_with(p, IR_MIN, below, 31), 0);
        const ir term = with_sign(p, lb_ir_to_i(p, moved), sign);
        x.sum = i == first ? term : lb_ir_do(p, IR_ADD, x.sum, term, 0);
    }
    return x;
}

/* floor(x / 2^by) of an I. */
static ir floored(ir_program *p, ir x, ir by) {
    return lb_ir_do(p, IR_SHR, x, lb_ir_with(p, IR_MIN, by, 31), 0);
}

static partial join(ir_program *p, partial x, partial y) {
    const ir e = lb_ir_do(p, IR_MAX, x.e, y.e, 0);
    const ir first = floored(p, x.sum, lb_ir_do(p, IR_SUB, e, x.e, 0)), second = floored(p, y.sum, lb_ir_do(p, IR_SUB, e, y.e, 0));
    return (partial){lb_ir_do(p, IR_ADD, first, second, 0), e};
}

static wide two_words(ir_program *p, ir i, int up) {
    return lb_wide_up(p, lb_wide_pair(lb_ir_to_u(p, i), lb_ir_to_u(p, lb_ir_with(p, IR_SHR, i, 31))), up);
}

/* c joins by floors; then one rounding. */
static ir late_sum(block *b) {
    ir_program *p = b->p;
    const lb_unit *u = b->r->u;
    const bool split = u->path == LB_PATH_LATE_C_SPLIT, twice = u->edges.late_floor == LB_LATE_FLOOR_TWICE;
    const int bits = SUM_BITS + twice;
    const partial x = split ? join(p, sum_products(b, 0, 2), sum_products(b, 1, 2)) : sum_products(b, 0, 1);
    const ir e_c = lb_ir_select(p, b->c.is_zero, lb_ir_i(p, -126), lb_ir_with(p, IR_SUB, b->c.steps, 126));
    const ir e = lb_ir_do(p, IR_MAX, x.e, e_c, 0), c_below = lb_ir_do(p, IR_SUB, e, e_c, 0);
    const ir x_below = lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_SUB, e, x.e, 0), 63);
    const ir sign = lb_ir_to_i(p, lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), b->c.sign, 0));
    ir c = floored(p, with_sign(p, lb_ir_to_i(p, lb_ir_with(p, IR_SHL, b->c.sig.word[0], 1)), sign), c_below);
    if (split) c = lb_ir_select(p, lb_ir_with(p, IR_GE, c_below, KEPT_BITS + 1), lb_ir_i(p, 0), c);
    const wide sum = lb_wide_add(p, lb_wide_sar(p, two_words(p, x.sum, bits - u->frac_bits), x_below), two_words(p, c, bits - C_BITS));
    const ir minus = lb_ir_with(p, IR_SHR, sum.word[1], 31);
    ir unit = lb_ir_with(p, IR_SUB, e, bits);
    wide kept = sum;
    if (twice) { /* D11: normalised, then floored to SUM_BITS */
        const ir length = lb_ir_do(p, IR_SUB, lb_ir_i(p, 64), lb_wide_clz(p, lb_wide_negated(p, sum, minus)), 0);
        const ir over = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, length, SUM_BITS + 1), 0);
        kept = lb_wide_sar(p, sum, over);
        unit = lb_ir_do(p, IR_ADD, unit, over, 0);
    }
    return rounded(p, minus, unit, lb_wide_negated(p, kept, minus));
}

static lb_status open_late(rule *r, const lb_emit_options *o, lb_error *err) {
    (void)o;
    const lb_unit *u = r->u;
    r->block = u->terms;
    r->of_ab = (rule_registers){2, {IR_I, IR_I}};
    const bool split = u->path == LB_PATH_LATE_C_SPLIT;
    int room = u->frac_bits + 2 + (split && u->terms > 1); /* a product is below 4 */
    for (int n = split ? u->terms / 2 : u->terms; n > 1; n /= 2) room++;
    if (!lb_rule_decodes(r->a) || !lb_rule_decodes(r->b) || room > 31 || (split && u->terms < 2))
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for block sums that fit 32 bits");
    return LB_OK;
}

static rule_code step_late(const rule *r, ir_program *p, const rule_inputs *in) {
    block b = open_block(r, p, in);
    const bool may_be_inf = r->a->bias + r->b->bias + 1 >= 127; /* a product of 2^128 */
    return (rule_code){settle(&b, may_be_inf ? 127 : RULE_LIMIT, may_be_inf ? INT32_C(2) << b.frac : 0, late_sum), 0};
}

static void describe_late(const rule *r, lb_text *t) {
    const lb_unit *u = r->u;
    const bool split = u->path == LB_PATH_LATE_C_SPLIT;
    lb_text_add(t, "// Blocks of %d products%s, each cut %d bits below the largest exponent and summed exactly%s; c joins by\n", u->terms,
                split ? ", of even and of odd k apart" : "", u->frac_bits, split ? ", the two sums joined by floors" : "");
    lb_text_add(t, "// floors, at %d and %d bits; then one rounding to f32, to nearest even.\n", SUM_BITS, C_BITS);
    lb_text_add(t, "// NaN, Inf and subnormals are the hardware's. Shifts are clamped below 32.\n"
                   "// Exact under any fast-math option: integers only, the sum with c in two words.\n");
}

const rule_path lb_rule_exact = {.open = open_exact, .decode = decode, .step = step_exact, .describe = describe_exact};
const rule_path lb_rule_late = {.open = open_late, .decode = decode, .step = step_late, .describe = describe_late};
