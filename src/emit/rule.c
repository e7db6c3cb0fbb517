/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/rule.h"

#include "emit/soft.h"
#include "emit/tier_fast.h"
#include "emit/weights.h"

/* ---- a unit made ready -------------------------------------------------------------------------------------------------- */

/* Operands that the hardware widens to f16 first: their subnormals become normal where f16 has the range. */
static bool normalises(const rule *r, const lb_format *f) {
    return r->g.c_last && 1 - f->bias - f->man_bits >= -14;
}

static int least_exponent(const rule *r, const lb_format *f) {
    return 1 - f->bias - (normalises(r, f) ? f->man_bits : 0);
}

static int least_product(const rule *r) {
    return least_exponent(r, r->a) + least_exponent(r, r->b);
}

/* Whether every value of a and b is a normal f32, and so is every product of two of them. */
static bool fits_f32(const rule *r) {
    return r->a->exp_bits <= 5 && r->b->exp_bits <= 5;
}

/* Of a significand. */
static double largest(const lb_format *f) {
    return 2 - 1.0 / (1 << f->man_bits);
}

static int max_of(int a, int b) {
    return a > b ? a : b;
}

lb_status lb_rule_of(const lb_unit *u, const lb_emit_options *o, rule *out, lb_error *err) {
    if (o->tier == LB_EMIT_FAST) return lb_fast_of(u, o, out, err);
    rule r = {.u = u, .a = lb_format_row(u->a), .b = lb_format_row(u->b)};
    if (u->path != LB_PATH_TRUNCATED && u->path != LB_PATH_TWO_HALVES)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name,
                       "path %s is not written as source; `lastbit emit --list` names what is: dense units of path truncated or two_halves",
                       lb_unit_path_name(u->path));
    if (!lb_unit_is_plain(u))
        return lb_fail(err, LB_E_UNAVAILABLE, u->name,
                       "source is written for the answers that rows take: frac_bits, terms, k, floor_exp "
                       "and round may be set, edges may not");
    const lb_status s = lb_engine_of(u, &r.g, err);
    if (s != LB_OK) return s;
    const bool codes = r.a->special == LB_SPECIAL_IEEE || r.a->special == LB_SPECIAL_NAN_TOP || r.a->special == LB_SPECIAL_NONE;
    const bool others = r.b->special == LB_SPECIAL_IEEE || r.b->special == LB_SPECIAL_NAN_TOP || r.b->special == LB_SPECIAL_NONE;
    const int product_bits = r.g.c_last ? 22 : r.a->man_bits + r.b->man_bits + 2;
    if (!codes || !others || product_bits > 24 || u->frac_bits > 26 || u->frac_bits < 8 || r.g.p_down || u->k > 128)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for products of at most 24 bits, 8 to 26 fraction bits kept");
    r.floats = !o->integers && fits_f32(&r);
    r.finite = o->finite;
    r.product_min = least_product(&r);
    r.zero_c = r.product_min < r.g.e_min;
    r.top_min = r.zero_c ? max_of(u->floor_exp, r.product_min) : r.g.e_min;
    if (!r.zero_c && u->floor_exp > r.g.e_min)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for floors below the least exponent of c");
    const double room = (double)(UINT32_C(1) << 31 >> u->frac_bits), product = largest(r.a) * largest(r.b); /* in units of 2^-F */
    r.wide = product * u->terms + 2 > room;
    if (product * ((u->terms + 1) / 2) + 2 > room)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "half a block of %d products does not fit 32 bits", u->terms);
    r.weights = lb_weights_fit(&r);
    *out = r;
    return LB_OK;
}

/* ---- operands ----------------------------------------------------------------------------------------------------------- */

static ir select(ir_program *p, ir condition, ir yes, ir no) {
    return lb_ir_do(p, IR_SEL, condition, yes, no);
}

static ir to_u(ir_program *p, ir i) {
    return lb_ir_do(p, IR_AS_U, i, 0, 0);
}

static ir to_i(ir_program *p, ir u) {
    return lb_ir_do(p, IR_AS_I, u, 0, 0);
}

/* 2^e of an I in the range of normal numbers, built from its bits: no constant that a compiler could fold, no conversion. */
static ir power_of_two(ir_program *p, ir biased) {
    return lb_ir_do(p, IR_FROM_BITS, lb_ir_with(p, IR_SHL, to_u(p, biased), 23), 0, 0);
}

/* The bits of a format's least NaN or Inf. */
static uint32_t special_code(const lb_format *f) {
    if (f->special == LB_SPECIAL_NAN_TOP) return (UINT32_C(1) << (f->bits - 1)) - 1;
    return ((UINT32_C(1) << f->exp_bits) - 1) << f->man_bits;
}

rule_operand lb_rule_decode(const rule *r, ir_program *p, const lb_format *f, ir code) {
    if (r->fast) return lb_fast_decode(r, p, f, code);
    if (r->weights) return lb_weights_decode(r, p, f, code);
    const int man = f->man_bits, top = f->exp_bits + man;
    const ir kept = f->pad_bits ? lb_ir_with(p, IR_SHR, code, f->pad_bits) : code;
    const ir magnitude = lb_ir_with(p, IR_AND, kept, (int32_t)((UINT32_C(1) << top) - 1));
    const ir field = to_i(p, lb_ir_with(p, IR_SHR, magnitude, man));
    const ir above =
        lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, field, 1), 0); /* steps above the least exponent: a subnormal has it, too */
    const ir sig = lb_ir_do(p, IR_SUB, magnitude, lb_ir_with(p, IR_SHL, to_u(p, above), man), 0);
    const ir e = lb_ir_with(p, IR_ADD, above, 1 - f->bias);
    const ir is_zero = lb_ir_with(p, IR_EQ, magnitude, 0);
    ir e_used = select(p, is_zero, lb_ir_i(p, RULE_ZERO), e), whole = to_i(p, sig), special = 0;
    const bool specials = f->special != LB_SPECIAL_NONE && !r->finite;
    if (specials) {
        special = lb_ir_with(p, IR_GE, magnitude, (int32_t)special_code(f));
        e_used = select(p, special, lb_ir_i(p, RULE_SPECIAL), e_used);
        const ir class_of = f->special == LB_SPECIAL_IEEE
                                ? select(p, lb_ir_with(p, IR_EQ, magnitude, (int32_t)special_code(f)), lb_ir_i(p, 1), lb_ir_i(p, 0))
                                : lb_ir_i(p, 0);
        whole = select(p, special, class_of, whole);
    }
    if (normalises(r, f)) {
        const ir up = lb_ir_with(p, IR_SUB, lb_ir_do(p, IR_CLZ, lb_ir_with(p, IR_OR, sig, 1), 0, 0), 31 - man);
        e_used = lb_ir_do(p, IR_SUB, e_used, up, 0);
        if (!r->floats) whole = to_i(p, lb_ir_do(p, IR_SHL, to_u(p, whole), up, 0));
    }
    if (!r->floats) {
        if (r->g.c_last) whole = to_i(p, lb_ir_with(p, IR_SHL, to_u(p, whole), lb_format_row(LB_F16)->man_bits - man));
        const ir negative = lb_ir_with(p, IR_GE, lb_ir_with(p, IR_SHR, kept, top), 1);
        return (rule_operand){select(p, negative, lb_ir_do(p, IR_SUB, lb_ir_i(p, 0), whole, 0), whole), e_used};
    }
    /* int -> float, then a multiplication by a power of two: exact, and neither step sees a subnormal number. */
    const ir scaled =
        lb_ir_do(p, IR_MUL, lb_ir_do(p, IR_FLOAT, whole, 0, 0), power_of_two(p, lb_ir_with(p, IR_ADD, above, 128 - f->bias - man)), 0);
    const ir sign = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_SHR, kept, top), 31);
    return (rule_operand){lb_ir_do(p, IR_FROM_BITS, lb_ir_do(p, IR_OR, lb_ir_do(p, IR_BITS, scaled, 0, 0), sign, 0), 0, 0), e_used};
}

/* ---- the accumulator ---------------------------------------------------------------------------------------------------- */

/* magnitude * 2^(e - fraction bits of the output), negative where sign is -1 and not 0. A NaN has the exponent
 * RULE_SPECIAL and the magnitude 0, an Inf any other; of one just decoded the code says which. */
typedef struct accumulator {
    ir magnitude /* U */, sign /* I */, e /* I */;
    ir coded; /* U: where it was just decoded, its code without the sign; 0 else */
} accumulator;

static accumulator decode_c(const rule *r, ir_program *p, ir code) {
    const int frac = r->g.out->man_bits, width = frac + r->g.out->exp_bits;
    const ir magnitude = lb_ir_with(p, IR_AND, code, (int32_t)(r->g.sign_bit - 1));
    const ir field = to_i(p, lb_ir_with(p, IR_SHR, magnitude, frac));
    const ir above = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, field, 1), 0);
    const ir sig = lb_ir_do(p, IR_SUB, magnitude, lb_ir_with(p, IR_SHL, to_u(p, above), frac), 0);
    ir e = lb_ir_with(p, IR_ADD, above, r->g.e_min);
    if (r->zero_c) e = select(p, lb_ir_with(p, IR_EQ, magnitude, 0), lb_ir_i(p, RULE_ZERO), e);
    if (!r->finite) e = select(p, lb_ir_with(p, IR_GE, magnitude, (int32_t)r->g.inf_code), lb_ir_i(p, RULE_SPECIAL), e);
    const ir sign = to_i(p, lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), lb_ir_with(p, IR_SHR, code, width), 0));
    return (accumulator){sig, sign, e, magnitude};
}

/* (x ^ s) - s for s of 0 or -1: x, or -x. */
static ir with_sign(ir_program *p, ir x, ir s) {
    return lb_ir_do(p, IR_SUB, lb_ir_do(p, IR_XOR, x, s, 0), s, 0);
}

/* ---- one block ---------------------------------------------------------------------------------------------------------- */

typedef struct block {
    const rule *r;
    ir_program *p;
    int terms;
    ir value[64], e[64]; /* of the products */
    accumulator c;
    ir top; /* the largest exponent */
} block;

static void form_products(block *b, const rule_operand *x, const rule_operand *y) {
    ir_program *p = b->p;
    b->top = b->c.e;
    for (int i = 0; i < b->terms; i++) {
        b->value[i] = lb_ir_do(p, IR_MUL, x[i].value, y[i].value, 0);
        b->e[i] = lb_ir_do(p, IR_ADD, x[i].e, y[i].e, 0);
        b->top = lb_ir_do(p, IR_MAX, b->top, b->e[i], 0);
    }
    if (b->r->zero_c) b->top = lb_ir_with(p, IR_MAX, b->top, b->r->top_min);
}

/* A class of what counts among the special terms: 1 NaN, 2 +Inf, 4 -Inf; 0 if the term is finite. */
static ir class_of(ir_program *p, ir e, ir is_nan, ir sign_bit) {
    const ir inf = lb_ir_do(p, IR_SHL, lb_ir_u(p, 2), sign_bit, 0);
    return select(p, lb_ir_with(p, IR_GE, e, RULE_LIMIT), select(p, is_nan, lb_ir_u(p, 1), inf), lb_ir_u(p, 0));
}

/* Rule 2: NaN and Inf decide alone. */
static ir special_classes(block *b) {
    ir_program *p = b->p;
    const ir c_nan = b->c.coded ? lb_ir_with(p, IR_GE, b->c.coded, (int32_t)b->r->g.inf_code + 1) : lb_ir_with(p, IR_EQ, b->c.magnitude, 0);
    ir classes = class_of(p, b->c.e, c_nan, lb_ir_with(p, IR_AND, to_u(p, b->c.sign), 1));
    for (int i = 0; i < b->terms; i++) {
        const ir bits = b->r->floats ? lb_ir_do(p, IR_BITS, b->value[i], 0, 0) : to_u(p, b->value[i]);
        const ir is_nan = lb_ir_with(p, IR_EQ, b->r->floats ? lb_ir_with(p, IR_SHL, bits, 1) : bits, 0); /* NaN times any, Inf times zero */
        classes = lb_ir_do(p, IR_OR, classes, class_of(p, b->e[i], is_nan, lb_ir_with(p, IR_SHR, bits, 31)), 0);
    }
    return classes;
}

/* Rules 4 and 5: each term in units of 2^(top - F), its magnitude cut toward zero. */
static ir aligned_c(block *b) {
    ir_program *p = b->p;
    const lb_engine *g = &b->r->g;
    ir below = lb_ir_do(p, IR_SUB, b->top, b->c.e, 0);
    if (g->c_down) below = lb_ir_with(p, IR_ADD, below, g->c_down);
    const ir up = g->c_up ? lb_ir_with(p, IR_SHL, b->c.magnitude, g->c_up) : b->c.magnitude;
    return with_sign(p, to_i(p, lb_ir_do(p, IR_SHR, up, lb_ir_with(p, IR_MIN, below, 31), 0)), b->c.sign);
}

static ir aligned_product(block *b, int i, ir scale) {
    ir_program *p = b->p;
    /* A product times a power of two is exact, or so small that it is cut to 0 in any order of the two multiplications. */
    if (b->r->floats) return lb_ir_do(p, IR_TRUNC, lb_ir_do(p, IR_MUL, b->value[i], scale, 0), 0, 0);
    const ir sign = lb_ir_with(p, IR_SHR, b->value[i], 31);
    const ir magnitude = lb_ir_with(p, IR_SHL, to_u(p, with_sign(p, b->value[i], sign)), b->r->g.p_up);
    const ir below = lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_SUB, b->top, b->e[i], 0), 31);
    return with_sign(p, to_i(p, lb_ir_do(p, IR_SHR, magnitude, below, 0)), sign);
}

/* A block's sum, in units of 2^(top - F). */
typedef struct sum {
    ir magnitude /* U */, sign /* I, 0 or -1 */;
    ir room; /* I: places that the sum can move up before its last bit is below the output's least one */
} sum;

/* x + y of two words' worth, folded into one word, with a sticky last bit where it is to be rounded to nearest. */
static void fold(block *b, ir x, ir y, sum *s) {
    ir_program *p = b->p;
    const ir low = lb_ir_do(p, IR_ADD, to_u(p, x), to_u(p, y), 0);
    const ir carry = select(p, lb_ir_do(p, IR_LT, low, to_u(p, x), 0), lb_ir_i(p, 1), lb_ir_i(p, 0));
    const ir high = lb_ir_do(p, IR_ADD, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHR, x, 31), lb_ir_with(p, IR_SHR, y, 31), 0), carry, 0);
    s->sign = lb_ir_with(p, IR_SHR, high, 31);
    const ir magnitude = with_sign(p, low, to_u(p, s->sign));
    const ir borrow =
        select(p, lb_ir_with(p, IR_EQ, magnitude, 0), s->sign, lb_ir_i(p, 0)); /* of -(high, 0): high is not turned but negated */
    const ir above = to_u(p, lb_ir_do(p, IR_SUB, lb_ir_do(p, IR_XOR, high, s->sign, 0), borrow, 0));
    ir down = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHL, above, 28), lb_ir_with(p, IR_SHR, magnitude, 4), 0);
    if (b->r->g.nearest) {
        const ir none = lb_ir_with(p, IR_EQ, lb_ir_with(p, IR_AND, magnitude, 15), 0);
        down = lb_ir_do(p, IR_OR, down, select(p, none, lb_ir_u(p, 0), lb_ir_u(p, 1)), 0);
    }
    const ir fits = lb_ir_with(p, IR_EQ, above, 0);
    s->magnitude = select(p, fits, magnitude, down);
    s->room = lb_ir_do(p, IR_ADD, s->room, select(p, fits, lb_ir_i(p, 0), lb_ir_i(p, 4)), 0);
}

/* Rule 6. */
static sum block_sum(block *b) {
    ir_program *p = b->p;
    const rule *r = b->r;
    ir scale = 0;
    if (r->floats) {
        const ir top = r->product_min > r->top_min ? lb_ir_with(p, IR_MAX, b->top, r->product_min) : b->top;
        scale = power_of_two(p, lb_ir_do(p, IR_SUB, lb_ir_i(p, 127 + r->g.frac_bits), top, 0));
    }
    ir halves[2] = {aligned_c(b), 0};
    for (int i = 0; i < b->terms; i++) {
        ir *half = &halves[r->wide && i >= b->terms / 2];
        const ir term = aligned_product(b, i, scale);
        *half = half == &halves[1] && i == b->terms / 2 ? term : lb_ir_do(p, IR_ADD, *half, term, 0);
    }
    sum s = {.room = lb_ir_with(p, IR_ADD, b->top, 31 - r->g.frac_bits - r->g.e_min)};
    if (r->wide) {
        fold(b, halves[0], halves[1], &s);
        return s;
    }
    s.sign = lb_ir_with(p, IR_SHR, halves[0], 31);
    s.magnitude = to_u(p, with_sign(p, halves[0], s.sign));
    return s;
}

/* Sums whose unit lies below the output's least bit: they move down first. */
static void move_down(block *b, sum *s) {
    ir_program *p = b->p;
    const int least = b->r->top_min + 31 - b->r->g.frac_bits - b->r->g.e_min;
    if (least >= 0) return;
    const ir down = lb_ir_with(p, IR_MIN, lb_ir_with(p, IR_MAX, lb_ir_do(p, IR_SUB, lb_ir_i(p, 0), s->room, 0), 0), 31);
    const ir moved = lb_ir_do(p, IR_SHR, s->magnitude, down, 0);
    if (b->r->g.nearest) {
        const ir whole = lb_ir_do(p, IR_EQ, lb_ir_do(p, IR_SHL, moved, down, 0), s->magnitude, 0);
        s->magnitude = lb_ir_do(p, IR_OR, moved, select(p, whole, lb_ir_u(p, 0), lb_ir_u(p, 1)), 0);
    } else {
        s->magnitude = moved;
    }
    s->room = lb_ir_with(p, IR_MAX, s->room, 0);
}

/* Rules 7 and 8: significand (with its leading one where the result is normal) and steps above the least exponent. */
static void normalise(block *b, sum *s, ir *significand, ir *steps) {
    ir_program *p = b->p;
    const lb_engine *g = &b->r->g;
    move_down(b, s);
    const ir up = lb_ir_do(p, IR_MIN, lb_ir_do(p, IR_CLZ, lb_ir_with(p, IR_OR, s->magnitude, 1), 0, 0), s->room, 0);
    *steps = lb_ir_do(p, IR_SUB, s->room, up, 0);
    const ir high = lb_ir_do(p, IR_SHL, s->magnitude, up, 0);
    if (!g->nearest) {
        *significand = lb_ir_with(p, IR_SHR, high, 31 - g->out_frac);
        if (g->out_pad) *significand = lb_ir_with(p, IR_SHL, *significand, g->out_pad);
        return;
    }
    const int drop = 30 - g->out_frac;
    const ir x = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHR, high, 1), lb_ir_with(p, IR_AND, high, 1), 0);
    const ir odd = lb_ir_with(p, IR_AND, lb_ir_with(p, IR_SHR, x, drop), 1);
    *significand = lb_ir_with(p, IR_SHR, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_ADD, x, (INT32_C(1) << (drop - 1)) - 1), odd, 0), drop);
}

static ir encode(block *b, ir significand, ir steps, ir sign) {
    ir_program *p = b->p;
    const lb_engine *g = &b->r->g;
    const ir code = lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHL, to_u(p, steps), g->out->man_bits), significand, 0);
    const ir finite = select(p, lb_ir_with(p, IR_EQ, significand, 0), lb_ir_u(p, 0), lb_ir_with(p, IR_MIN, code, (int32_t)g->inf_code));
    return lb_ir_do(p, IR_OR, finite, lb_ir_with(p, IR_AND, to_u(p, sign), (int32_t)g->sign_bit), 0);
}

/* The accumulator as its code decodes: a carry of the rounding moves on, an overflow is an Inf, a zero has no exponent. */
static accumulator carried(block *b, ir significand, ir steps, ir sign) {
    ir_program *p = b->p;
    const lb_engine *g = &b->r->g;
    if (g->nearest) {
        const ir carry = lb_ir_with(p, IR_SHR, significand, g->out_frac + 1);
        significand = lb_ir_do(p, IR_SHR, significand, carry, 0);
        steps = lb_ir_do(p, IR_ADD, steps, to_i(p, carry), 0);
    }
    const ir e = lb_ir_with(p, IR_ADD, steps, g->e_min);
    const ir over = lb_ir_with(p, IR_GE, e, g->e_max + 1);
    const ir zero = lb_ir_i(p, b->r->zero_c ? RULE_ZERO : g->e_min);
    return (accumulator){significand, sign,
                         select(p, lb_ir_with(p, IR_EQ, significand, 0), zero, select(p, over, lb_ir_i(p, RULE_SPECIAL), e)), 0};
}

static accumulator finite_block(block *b) {
    sum s = block_sum(b);
    ir significand, steps;
    normalise(b, &s, &significand, &steps);
    return carried(b, significand, steps, s.sign);
}

static ir finite_end(block *b) {
    sum s = block_sum(b);
    ir significand, steps;
    normalise(b, &s, &significand, &steps);
    return encode(b, significand, steps, s.sign);
}

/* One block that is not the last of its step: c becomes its result. */
static void run_block(block *b) {
    ir_program *p = b->p;
    if (b->r->finite) {
        b->c = finite_block(b);
        return;
    }
    const accumulator out = {lb_ir_var(p, b->c.magnitude), lb_ir_var(p, b->c.sign), lb_ir_var(p, b->c.e), 0};
    lb_ir_if(p, lb_ir_with(p, IR_GE, b->top, RULE_LIMIT));
    p->part = IR_RARE;
    const ir classes = special_classes(b);
    const ir minus = lb_ir_with(p, IR_EQ, classes, 4);
    lb_ir_set(p, out.magnitude, select(p, minus, lb_ir_u(p, 1), select(p, lb_ir_with(p, IR_EQ, classes, 2), lb_ir_u(p, 1), lb_ir_u(p, 0))));
    lb_ir_set(p, out.sign, select(p, minus, lb_ir_i(p, -1), lb_ir_i(p, 0)));
    lb_ir_set(p, out.e, lb_ir_i(p, RULE_SPECIAL));
    p->part = IR_MAIN;
    lb_ir_else(p);
    const accumulator next = finite_block(b);
    lb_ir_set(p, out.magnitude, next.magnitude);
    lb_ir_set(p, out.sign, next.sign);
    lb_ir_set(p, out.e, next.e);
    lb_ir_end(p);
    b->c = out;
}

/* The last one: its code. */
static ir last_block(block *b) {
    ir_program *p = b->p;
    const lb_engine *g = &b->r->g;
    if (b->r->finite) return finite_end(b);
    const ir out = lb_ir_var(p, lb_ir_u(p, g->nan_code));
    lb_ir_if(p, lb_ir_with(p, IR_GE, b->top, RULE_LIMIT));
    p->part = IR_RARE;
    const ir classes = special_classes(b);
    const ir plus = select(p, lb_ir_with(p, IR_EQ, classes, 2), lb_ir_u(p, g->inf_code), lb_ir_u(p, g->nan_code));
    lb_ir_set(p, out, select(p, lb_ir_with(p, IR_EQ, classes, 4), lb_ir_u(p, g->sign_bit | g->inf_code), plus));
    p->part = IR_MAIN;
    lb_ir_else(p);
    lb_ir_set(p, out, finite_end(b));
    lb_ir_end(p);
    return out;
}

static ir run_blocks(const rule *r, ir_program *p, const rule_operand *x, const rule_operand *y, ir c) {
    block b = {.r = r, .p = p, .terms = r->u->terms, .c = decode_c(r, p, c)};
    for (int i = 0;; i += b.terms) {
        if (r->u->k > b.terms) lb_ir_comment(p, "block of products %d to %d", i, i + b.terms - 1);
        form_products(&b, x + i, y + i);
        if (i + b.terms >= r->u->k) return last_block(&b);
        run_block(&b);
    }
}

ir lb_rule_step(const rule *r, ir_program *p, const rule_operand *x, const rule_operand *y, ir c) {
    if (r->fast) return lb_fast_step(r, p, x, y, c);
    if (r->weights) return lb_weights_step(r, p, x, y, c);
    if (!r->g.c_last) return run_blocks(r, p, x, y, c);
    rule_operand slots[2][128]; /* in the order in which the unit takes them */
    for (int i = 0; i < r->u->k; i++) {
        slots[0][lb_unit_slot(r->u, (size_t)i)] = x[i];
        slots[1][lb_unit_slot(r->u, (size_t)i)] = y[i];
    }
    const ir both = run_blocks(r, p, slots[0], slots[1], lb_ir_u(p, 0));
    lb_ir_comment(p, "c, added last");
    const soft_rule to_nearest = {.f = r->g.out, .nan = r->g.nan_code};
    return lb_soft_add(p, &to_nearest, lb_wide_of(both), lb_wide_of(c)).word[0];
}
