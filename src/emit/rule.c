/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Truncated blocks, with the scales of a block where the unit has some, and over what a compressed A keeps. */
#include "emit/rule_block.h"
#include "emit/soft.h"
#include "emit/weights.h"

#include "base/try.h"

/* ---- a unit made ready -------------------------------------------------------------------------------------------------- */

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

/* Exponents that terms can have. */
static void set_range(rule *r) {
    const int operands = lb_rule_least_exponent(r, r->a) + lb_rule_least_exponent(r, r->b);
    const bool counts = r->u->edges.zero_products == LB_ZERO_PRODUCTS_COUNT;
    const int frac = r->g.out->man_bits;
    r->product_min = operands;
    int least = operands - (r->scales ? 2 * lb_format_row(LB_E8M0)->bias : 0);
    if (counts) least = -2 * 126;
    if (r->g.c_own_exp && least > r->g.e_min - frac) least = r->g.e_min - frac;
    r->zero_c = least < r->g.e_min;
    r->top_min = r->zero_c ? max_of(r->u->floor_exp, least) : r->g.e_min;
}

static lb_status open_truncated(rule *r, const lb_emit_options *o, lb_error *err) {
    const lb_unit *u = r->u;
    const int product_bits = r->g.c_last ? 22 : r->a->man_bits + r->b->man_bits + 2;
    const bool widens = r->a->man_bits <= 10 && r->b->man_bits <= 10 && fits_f32(r); /* f16 has every number of them */
    if (r->g.c_last && !widens)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source of two halves is written for operands that f16 holds");
    if (!lb_rule_decodes(r->a) || !lb_rule_decodes(r->b) || product_bits > 24 || u->frac_bits > 26 || u->frac_bits < 8 || r->g.p_down ||
        r->products > 128)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for products of at most 24 bits, 8 to 26 fraction bits kept");
    r->floats = !o->integers && fits_f32(r);
    r->finite = o->finite;
    r->of_ab = (rule_registers){2, {r->floats ? IR_F : IR_I, IR_I}};
    set_range(r);
    if (!r->zero_c && u->floor_exp > r->g.e_min)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "source is written for floors below the least exponent of c");
    const double room = (double)(UINT32_C(1) << 31 >> u->frac_bits), product = largest(r->a) * largest(r->b); /* in units of 2^-F */
    r->wide = product * u->terms + 2 > room;
    if (product * ((u->terms + 1) / 2) + 2 > room)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "half a block of %d products does not fit 32 bits", u->terms);
    if (lb_weights_fit(r)) {
        r->path = &lb_rule_weights;
        r->of_ab.type[1] = IR_F;
    }
    return LB_OK;
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    return lb_rule_decode(r, p, f, code.low);
}

/* ---- the accumulator ---------------------------------------------------------------------------------------------------- */

/* D3: a subnormal with the exponent of its leading one. */
static void own_exponent(const rule *r, ir_program *p, ir *magnitude, ir *e) {
    const ir up = lb_ir_with(p, IR_SUB, lb_ir_do(p, IR_CLZ, lb_ir_with(p, IR_OR, *magnitude, 1), 0, 0), 31 - r->g.out->man_bits);
    *magnitude = lb_ir_do(p, IR_SHL, *magnitude, up, 0);
    *e = lb_ir_do(p, IR_SUB, *e, up, 0);
}

accumulator lb_block_decode_c(const rule *r, ir_program *p, ir code) {
    const int frac = r->g.out->man_bits, width = frac + r->g.out->exp_bits;
    const ir magnitude = lb_ir_with(p, IR_AND, code, (int32_t)(r->g.sign_bit - 1));
    const ir field = lb_ir_to_i(p, lb_ir_with(p, IR_SHR, magnitude, frac));
    const ir above = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, field, 1), 0);
    ir sig = lb_ir_do(p, IR_SUB, magnitude, lb_ir_with(p, IR_SHL, lb_ir_to_u(p, above), frac), 0);
    ir e = lb_ir_with(p, IR_ADD, above, r->g.e_min);
    const ir is_zero = lb_ir_with(p, IR_LT, magnitude, r->g.flush_in ? INT32_C(1) << frac : 1);
    if (r->g.flush_in) sig = lb_ir_select(p, is_zero, lb_ir_u(p, 0), sig);
    if (r->g.c_own_exp) own_exponent(r, p, &sig, &e);
    if (r->zero_c) e = lb_ir_select(p, is_zero, lb_ir_i(p, RULE_ZERO), e);
    if (!r->finite) e = lb_ir_select(p, lb_ir_with(p, IR_GE, magnitude, (int32_t)r->g.inf_code), lb_ir_i(p, RULE_SPECIAL), e);
    const ir sign = lb_ir_to_i(p, lb_ir_do(p, IR_SUB, lb_ir_u(p, 0), lb_ir_with(p, IR_SHR, code, width), 0));
    return (accumulator){sig, sign, e, magnitude};
}

/* ---- one block ---------------------------------------------------------------------------------------------------------- */

typedef struct block {
    const rule *r;
    ir_program *p;
    int terms, each;                     /* products, and those that share a scale */
    ir value[RULE_MAX_K], e[RULE_MAX_K]; /* of the products, scales left out */
    ir scale_e[RULE_MAX_SCALES];         /* of a pair of scales */
    accumulator c;
    ir top; /* the largest exponent */
} block;

static void form_products(block *b, const rule_operand *x, const rule_operand *y) {
    ir_program *p = b->p;
    b->top = b->c.e;
    for (int first = 0; first < b->terms; first += b->each) {
        ir top = b->r->scales ? 0 : b->top;
        for (int i = first; i < first + b->each; i++) {
            b->value[i] = lb_ir_do(p, IR_MUL, x[i].value, y[i].value, 0);
            b->e[i] = lb_ir_do(p, IR_ADD, x[i].e, y[i].e, 0);
            top = b->r->scales && i == first ? b->e[i] : lb_ir_do(p, IR_MAX, top, b->e[i], 0);
        }
        if (b->r->scales) top = lb_ir_do(p, IR_MAX, b->top, lb_ir_do(p, IR_ADD, top, b->scale_e[first / b->each], 0), 0);
        b->top = top;
    }
    if (b->r->zero_c) b->top = lb_ir_with(p, IR_MAX, b->top, b->r->top_min);
}

/* A class of what counts among the special terms: 1 NaN, 2 +Inf, 4 -Inf; 0 if the term is finite. */
static ir class_of(ir_program *p, ir e, ir is_nan, ir sign_bit) {
    const ir inf = lb_ir_do(p, IR_SHL, lb_ir_u(p, 2), sign_bit, 0);
    return lb_ir_select(p, lb_ir_with(p, IR_GE, e, RULE_LIMIT), lb_ir_select(p, is_nan, lb_ir_u(p, 1), inf), lb_ir_u(p, 0));
}

ir lb_block_class_of_c(const rule *r, ir_program *p, const accumulator *c) {
    const ir is_nan = c->coded ? lb_ir_with(p, IR_GE, c->coded, (int32_t)r->g.inf_code + 1) : lb_ir_with(p, IR_EQ, c->magnitude, 0);
    return class_of(p, c->e, is_nan, lb_ir_with(p, IR_AND, lb_ir_to_u(p, c->sign), 1));
}

/* Rule 2: NaN and Inf decide alone; a NaN scale, too. */
static ir special_classes(block *b) {
    ir_program *p = b->p;
    ir classes = lb_block_class_of_c(b->r, p, &b->c);
    for (int i = 0; i < b->terms; i++) {
        const ir bits = b->r->floats ? lb_ir_do(p, IR_BITS, b->value[i], 0, 0) : lb_ir_to_u(p, b->value[i]);
        const ir is_nan = lb_ir_with(p, IR_EQ, b->r->floats ? lb_ir_with(p, IR_SHL, bits, 1) : bits, 0); /* NaN times any, Inf times zero */
        classes = lb_ir_do(p, IR_OR, classes, class_of(p, b->e[i], is_nan, lb_ir_with(p, IR_SHR, bits, 31)), 0);
    }
    for (int i = 0; i < b->r->scales; i++) {
        const ir is_nan = lb_ir_with(p, IR_GE, b->scale_e[i], RULE_LIMIT);
        classes = lb_ir_do(p, IR_OR, classes, lb_ir_select(p, is_nan, lb_ir_u(p, 1), lb_ir_u(p, 0)), 0);
    }
    return classes;
}

ir lb_block_special(const rule *r, ir_program *p, ir classes) {
    const lb_engine *g = &r->g;
    const ir plus = lb_ir_select(p, lb_ir_with(p, IR_EQ, classes, 2), lb_ir_u(p, g->inf_code), lb_ir_u(p, g->nan_code));
    return lb_ir_select(p, lb_ir_with(p, IR_EQ, classes, 4), lb_ir_u(p, g->sign_bit | g->inf_code), plus);
}

/* Rules 4 and 5: each term in units of 2^(top - F), its magnitude cut toward zero. */
static ir aligned_c(block *b) {
    ir_program *p = b->p;
    const lb_engine *g = &b->r->g;
    ir below = lb_ir_do(p, IR_SUB, b->top, b->c.e, 0);
    if (g->c_down) below = lb_ir_with(p, IR_ADD, below, g->c_down);
    const ir up = g->c_up ? lb_ir_with(p, IR_SHL, b->c.magnitude, g->c_up) : b->c.magnitude;
    return with_sign(p, lb_ir_to_i(p, lb_ir_do(p, IR_SHR, up, lb_ir_with(p, IR_MIN, below, 31), 0)), b->c.sign);
}

static ir aligned_product(block *b, int i, ir scale, ir top) {
    ir_program *p = b->p;
    /* A product times a power of two is exact, or so small that it is cut to 0 in any order of the two multiplications. */
    if (b->r->floats) return lb_ir_do(p, IR_TRUNC, lb_ir_do(p, IR_MUL, b->value[i], scale, 0), 0, 0);
    const ir sign = lb_ir_with(p, IR_SHR, b->value[i], 31);
    const ir magnitude = lb_ir_with(p, IR_SHL, lb_ir_to_u(p, with_sign(p, b->value[i], sign)), b->r->g.p_up);
    const ir below = lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_SUB, top, b->e[i], 0), 31);
    return with_sign(p, lb_ir_to_i(p, lb_ir_do(p, IR_SHR, magnitude, below, 0)), sign);
}

/* x + y of two words' worth, folded into one word, with a sticky last bit where it is to be rounded to nearest. */
static void fold(block *b, ir x, ir y, block_sum *s) {
    ir_program *p = b->p;
    const ir low = lb_ir_do(p, IR_ADD, lb_ir_to_u(p, x), lb_ir_to_u(p, y), 0);
    const ir carry = lb_ir_select(p, lb_ir_do(p, IR_LT, low, lb_ir_to_u(p, x), 0), lb_ir_i(p, 1), lb_ir_i(p, 0));
    const ir high = lb_ir_do(p, IR_ADD, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHR, x, 31), lb_ir_with(p, IR_SHR, y, 31), 0), carry, 0);
    s->sign = lb_ir_with(p, IR_SHR, high, 31);
    const ir magnitude = with_sign(p, low, lb_ir_to_u(p, s->sign));
    const ir borrow =
        lb_ir_select(p, lb_ir_with(p, IR_EQ, magnitude, 0), s->sign, lb_ir_i(p, 0)); /* of -(high, 0): high is not turned but negated */
    const ir above = lb_ir_to_u(p, lb_ir_do(p, IR_SUB, lb_ir_do(p, IR_XOR, high, s->sign, 0), borrow, 0));
    ir down = lb_ir_do(p, IR_OR, lb_ir_with(p, IR_SHL, above, 28), lb_ir_with(p, IR_SHR, magnitude, 4), 0);
    if (b->r->g.nearest) {
        const ir none = lb_ir_with(p, IR_EQ, lb_ir_with(p, IR_AND, magnitude, 15), 0);
        down = lb_ir_do(p, IR_OR, down, lb_ir_select(p, none, lb_ir_u(p, 0), lb_ir_u(p, 1)), 0);
    }
    const ir fits = lb_ir_with(p, IR_EQ, above, 0);
    s->magnitude = lb_ir_select(p, fits, magnitude, down);
    s->room = lb_ir_do(p, IR_ADD, s->room, lb_ir_select(p, fits, lb_ir_i(p, 0), lb_ir_i(p, 4)), 0);
}

/* 2^(F - top), or what cuts every product to 0 as well. */
static ir unit_of(block *b, ir top) {
    ir_program *p = b->p;
    const rule *r = b->r;
    ir used = r->scales || r->product_min > r->top_min ? lb_ir_with(p, IR_MAX, top, r->product_min) : top;
    if (r->scales) used = lb_ir_with(p, IR_MIN, used, 100); /* far above the largest product */
    return power_of_two(p, lb_ir_do(p, IR_SUB, lb_ir_i(p, 127 + r->g.frac_bits), used, 0));
}

/* Rule 6. */
static block_sum sum_of(block *b) {
    ir_program *p = b->p;
    const rule *r = b->r;
    ir halves[2] = {0, 0}, scale = 0, top = b->top;
    if (r->floats && !r->scales) scale = unit_of(b, top);
    halves[0] = aligned_c(b);
    for (int i = 0; i < b->terms; i++) {
        if (r->scales && i % b->each == 0) {
            top = lb_ir_do(p, IR_SUB, b->top, b->scale_e[i / b->each], 0);
            if (r->floats) scale = unit_of(b, top);
        }
        ir *half = &halves[r->wide && i >= b->terms / 2];
        const ir term = aligned_product(b, i, scale, top);
        *half = half == &halves[1] && i == b->terms / 2 ? term : lb_ir_do(p, IR_ADD, *half, term, 0);
    }
    block_sum s = {.room = lb_ir_with(p, IR_ADD, b->top, 31 - r->g.frac_bits - r->g.e_min)};
    if (r->wide) {
        fold(b, halves[0], halves[1], &s);
        return s;
    }
    s.sign = lb_ir_with(p, IR_SHR, halves[0], 31);
    s.magnitude = lb_ir_to_u(p, with_sign(p, halves[0], s.sign));
    return s;
}

/* Sums whose unit lies below the output's least bit: they move down first. */
static void move_down(const rule *r, ir_program *p, block_sum *s) {
    const int least = r->top_min + 31 - r->g.frac_bits - r->g.e_min;
    if (least >= 0) return;
    const ir down = lb_ir_with(p, IR_MIN, lb_ir_with(p, IR_MAX, lb_ir_do(p, IR_SUB, lb_ir_i(p, 0), s->room, 0), 0), 31);
    const ir moved = lb_ir_do(p, IR_SHR, s->magnitude, down, 0);
    if (r->g.nearest) {
        const ir whole = lb_ir_do(p, IR_EQ, lb_ir_do(p, IR_SHL, moved, down, 0), s->magnitude, 0);
        s->magnitude = lb_ir_do(p, IR_OR, moved, lb_ir_select(p, whole, lb_ir_u(p, 0), lb_ir_u(p, 1)), 0);
    } else {
        s->magnitude = moved;
    }
    s->room = lb_ir_with(p, IR_MAX, s->room, 0);
}

/* Rules 7 and 8: significand (with its leading one where the result is normal) and steps above the least exponent. */
static void normalise(const rule *r, ir_program *p, block_sum *s, ir *significand, ir *steps) {
    const lb_engine *g = &r->g;
    move_down(r, p, s);
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

/* A significand, as 0 where it is a subnormal result's. */
static ir flushed(const rule *r, ir_program *p, ir significand, ir steps) {
    const ir below = lb_ir_do(p, IR_LT, significand, lb_ir_u(p, UINT32_C(1) << r->g.out->man_bits), 0);
    return lb_ir_select(p, lb_ir_do(p, IR_BOTH, lb_ir_with(p, IR_EQ, steps, 0), below, 0), lb_ir_u(p, 0), significand);
}

static ir encode(const rule *r, ir_program *p, ir significand, ir steps, ir sign) {
    const lb_engine *g = &r->g;
    if (g->flush_out) significand = flushed(r, p, significand, steps);
    const ir code = lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHL, lb_ir_to_u(p, steps), g->out->man_bits), significand, 0);
    const ir finite =
        lb_ir_select(p, lb_ir_with(p, IR_EQ, significand, 0), lb_ir_u(p, 0), lb_ir_with(p, IR_MIN, code, (int32_t)g->over_code));
    if (!g->tiny_sign) sign = lb_ir_select(p, lb_ir_with(p, IR_EQ, significand, 0), lb_ir_i(p, 0), sign);
    return lb_ir_do(p, IR_OR, finite, lb_ir_with(p, IR_AND, lb_ir_to_u(p, sign), (int32_t)g->sign_bit), 0);
}

/* The accumulator as its code decodes: a carry of the rounding moves on, an overflow is an Inf, a zero has no exponent. */
static accumulator carried(const rule *r, ir_program *p, ir significand, ir steps, ir sign) {
    const lb_engine *g = &r->g;
    if (g->nearest) {
        const ir carry = lb_ir_with(p, IR_SHR, significand, g->out_frac + 1);
        significand = lb_ir_do(p, IR_SHR, significand, carry, 0);
        steps = lb_ir_do(p, IR_ADD, steps, lb_ir_to_i(p, carry), 0);
    }
    if (g->flush_out || g->flush_in) significand = flushed(r, p, significand, steps);
    ir e = lb_ir_with(p, IR_ADD, steps, g->e_min);
    const ir over = lb_ir_with(p, IR_GE, e, g->e_max + 1);
    ir e_over = lb_ir_i(p, RULE_SPECIAL);
    if (g->over_code != g->inf_code) { /* D4 */
        significand = lb_ir_select(p, over, lb_ir_u(p, (UINT32_C(2) << g->out->man_bits) - (UINT32_C(1) << g->out_pad)), significand);
        e_over = lb_ir_i(p, g->e_max);
    }
    const ir zero = lb_ir_i(p, r->zero_c ? RULE_ZERO : g->e_min), is_zero = lb_ir_with(p, IR_EQ, significand, 0);
    if (g->c_own_exp) own_exponent(r, p, &significand, &e);
    return (accumulator){significand, sign, lb_ir_select(p, is_zero, zero, lb_ir_select(p, over, e_over, e)), 0};
}

ir lb_block_round(const rule *r, ir_program *p, block_sum s) {
    ir significand, steps;
    normalise(r, p, &s, &significand, &steps);
    return encode(r, p, significand, steps, s.sign);
}

static accumulator finite_block(block *b) {
    block_sum s = sum_of(b);
    ir significand, steps;
    normalise(b->r, b->p, &s, &significand, &steps);
    return carried(b->r, b->p, significand, steps, s.sign);
}

static ir finite_end(block *b) {
    return lb_block_round(b->r, b->p, sum_of(b));
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
    lb_ir_set(p, out.magnitude,
              lb_ir_select(p, minus, lb_ir_u(p, 1), lb_ir_select(p, lb_ir_with(p, IR_EQ, classes, 2), lb_ir_u(p, 1), lb_ir_u(p, 0))));
    lb_ir_set(p, out.sign, lb_ir_select(p, minus, lb_ir_i(p, -1), lb_ir_i(p, 0)));
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
    if (b->r->finite) return finite_end(b);
    const ir out = lb_ir_var(p, lb_ir_u(p, b->r->g.nan_code));
    lb_ir_if(p, lb_ir_with(p, IR_GE, b->top, RULE_LIMIT));
    p->part = IR_RARE;
    lb_ir_set(p, out, lb_block_special(b->r, p, special_classes(b)));
    p->part = IR_MAIN;
    lb_ir_else(p);
    lb_ir_set(p, out, finite_end(b));
    lb_ir_end(p);
    return out;
}

static block open_block(const rule *r, ir_program *p, const rule_inputs *in, int terms, ir c) {
    block b = {.r = r, .p = p, .terms = terms, .each = r->scales ? r->u->scale_block : terms};
    b.c = lb_block_decode_c(r, p, c);
    for (int i = 0; i < r->scales; i++) b.scale_e[i] = lb_ir_do(p, IR_ADD, in->scale_a[i].e, in->scale_b[i].e, 0);
    return b;
}

static ir run_blocks(const rule *r, ir_program *p, const rule_inputs *in, ir c) {
    block b = open_block(r, p, in, r->u->terms, c);
    for (int i = 0;; i += b.terms) {
        if (r->products > b.terms) lb_ir_comment(p, "block of products %d to %d", i, i + b.terms - 1);
        form_products(&b, in->a + i, in->b + i);
        if (i + b.terms >= r->products) return last_block(&b);
        run_block(&b);
    }
}

/* D12: NaN and Inf of a whole K step decide before anything is added. */
static ir run_step(const rule *r, ir_program *p, const rule_inputs *in, ir c) {
    if (!r->g.step_specials || r->finite) return run_blocks(r, p, in, c);
    block all = open_block(r, p, in, r->products, c);
    form_products(&all, in->a, in->b);
    const ir out = lb_ir_var(p, lb_ir_u(p, r->g.nan_code));
    lb_ir_if(p, lb_ir_with(p, IR_GE, all.top, RULE_LIMIT));
    p->part = IR_RARE;
    lb_ir_set(p, out, lb_block_special(r, p, special_classes(&all)));
    p->part = IR_MAIN;
    lb_ir_else(p);
    lb_ir_set(p, out, run_blocks(r, p, in, c));
    lb_ir_end(p);
    return out;
}

static rule_code step(const rule *r, ir_program *p, const rule_inputs *in) {
    if (!r->g.c_last) return (rule_code){run_step(r, p, in, in->c.low), 0};
    rule_operand slots[2][128]; /* in the order in which the unit takes them */
    for (int i = 0; i < r->products; i++) {
        slots[0][lb_unit_slot(r->u, (size_t)i)] = in->a[i];
        slots[1][lb_unit_slot(r->u, (size_t)i)] = in->b[i];
    }
    const rule_inputs ordered = {.a = slots[0], .b = slots[1]};
    const ir both = run_step(r, p, &ordered, lb_ir_u(p, 0));
    lb_ir_comment(p, "c, added last");
    const soft_rule to_nearest = {.f = r->g.out, .nan = r->g.nan_code};
    return (rule_code){lb_soft_add(p, &to_nearest, lb_wide_of(both), lb_wide_of(in->c.low)).word[0], 0};
}

static void describe(const rule *r, lb_text *t) {
    const lb_unit *u = r->u;
    if (u->sparse_group)
        lb_text_add(t, "// A is compressed: it holds %d of each %d k, and meta the place of each element in its group, ascending.\n",
                    u->sparse_group / 2, u->sparse_group);
    if (r->scales) lb_text_add(t, "// A product's exponent is that of its operands and of its two scales.\n");
    lb_text_add(t,
                "// Blocks of %d products and c: each magnitude cut %d bits below the largest exponent, summed exactly, rounded to %s.\n",
                u->terms, u->frac_bits, lb_unit_round_name(u->round));
    lb_text_add(t, r->finite ? "// ONLY for operands without NaN and Inf and sums that do not overflow: nothing looks for them. Subnormals "
                               "are the hardware's.\n"
                             : "// NaN, Inf and subnormals are the hardware's. Shifts are clamped below 32.\n");
    if (r->floats)
        lb_text_add(
            t,
            "// Exact under any fast-math option: the f32 steps are int -> f32 of few bits, products of two significands of at most %d\n"
            "// bits together, multiplications by powers of two, and f32 -> int. None rounds, so none can be contracted or reordered into\n"
            "// another result; where one could be subnormal, its integer is 0 with and without it. No f32 is NaN or Inf.\n",
            r->a->man_bits + r->b->man_bits + 2);
    else
        lb_text_add(t, "// Exact under any fast-math option: integers only.\n");
}

const rule_path lb_rule_truncated = {.open = open_truncated, .decode = decode, .step = step, .describe = describe, .lanes = true};
