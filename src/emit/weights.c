/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/weights.h"
#include "emit/idiom.h"

enum { CHUNK = 8, SPECIAL_WEIGHT = 0x3f800000 | WEIGHT_SPECIAL, FIELD = 0x7f800000 };

/* Weights are 16^x (1 - 2^-12) times a power of two: the product of two lies below its power of two, and eight alike below the next 16. */
enum { BELOW_ONE = 0x7ff000 };

/* Exponents that an operand can have, from the subnormals' on. */
static int exponents(const lb_format *f) {
    return (1 << f->exp_bits) - (f->special == LB_SPECIAL_IEEE ? 2 : 1);
}

/* Of the power of two in the weight of the least exponent: one more than a multiple of 4, and about as far below 1 as the largest is above. */
static int first_weight(const lb_format *f) {
    return 1 - 4 * ((exponents(f) + 1) / 2);
}

static int least_exponent(const lb_format *f) {
    return 1 - f->bias;
}

/* Field of the sum of weights of products with the least exponent alone: a multiple of 4. */
static int least_field(const rule *r) {
    return 126 + first_weight(r->a) + first_weight(r->b);
}

bool lb_weights_fit(const rule *r) {
    const int most = least_field(r) + 4 * (exponents(r->a) + exponents(r->b) - 2) + 3;
    const bool plain = r->g.out->man_bits == 23 && !r->g.nearest && !r->g.c_last && !r->zero_c;
    return r->floats && plain && lb_unit_is_plain(r->u) && !r->scales && !r->u->sparse_group && least_field(r) >= 4 && most <= 254 &&
           r->a->exp_bits <= 5 && r->b->exp_bits <= 5;
}

static ir from_bits(ir_program *p, ir u) {
    return lb_ir_do(p, IR_FROM_BITS, u, 0, 0);
}

static ir bits(ir_program *p, ir f) {
    return lb_ir_do(p, IR_BITS, f, 0, 0);
}

/* ---- operands ------------------------------------------------------------------------------------------------------------- */

/* The bits of a format's least NaN or Inf. */
static int32_t special_code(const lb_format *f) {
    if (f->special == LB_SPECIAL_NAN_TOP) return (1 << (f->bits - 1)) - 1;
    return ((1 << f->exp_bits) - 1) << f->man_bits;
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code whole_code) {
    const ir code = whole_code.low;
    const int man = f->man_bits, top = f->exp_bits + man;
    const ir kept = f->pad_bits ? lb_ir_with(p, IR_SHR, code, f->pad_bits) : code;
    const ir magnitude = lb_ir_with(p, IR_AND, kept, (int32_t)((UINT32_C(1) << top) - 1));
    const ir field = lb_ir_do(p, IR_AS_I, lb_ir_with(p, IR_SHR, magnitude, man), 0, 0);
    const ir steps = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, field, 1), 0); /* above the least exponent: a subnormal has it, too */
    const ir above = lb_ir_do(p, IR_AS_U, steps, 0, 0);
    ir whole = lb_ir_do(p, IR_SUB, magnitude, lb_ir_with(p, IR_SHL, above, man), 0);
    ir weight = lb_ir_with(p, IR_ADD, lb_ir_with(p, IR_SHL, above, 25), (126 + first_weight(f)) << 23 | BELOW_ONE);
    weight = lb_ir_select(p, lb_ir_with(p, IR_EQ, magnitude, 0), lb_ir_u(p, 0), weight);
    if (f->special != LB_SPECIAL_NONE && !r->finite) {
        const ir special = lb_ir_with(p, IR_GE, magnitude, special_code(f));
        weight = lb_ir_select(p, special, lb_ir_u(p, (uint32_t)(SPECIAL_WEIGHT | WEIGHT_MARK)), weight);
        ir class_of = lb_ir_u(p, 0);
        if (f->special == LB_SPECIAL_IEEE)
            class_of = lb_ir_select(p, lb_ir_with(p, IR_EQ, magnitude, special_code(f)), lb_ir_u(p, 1), lb_ir_u(p, 0));
        whole = lb_ir_select(p, special, class_of, whole);
    }
    /* int -> float, then a multiplication by a power of two: exact, and neither step sees a subnormal number. */
    const ir power = lb_ir_with(p, IR_ADD, lb_ir_with(p, IR_SHL, above, 23), (128 - f->bias - man) << 23);
    const ir scaled = lb_ir_do(p, IR_MUL, lb_ir_do(p, IR_FLOAT, lb_ir_do(p, IR_AS_I, whole, 0, 0), 0, 0), from_bits(p, power), 0);
    const ir sign = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_SHR, kept, top), 31);
    return (rule_operand){from_bits(p, lb_ir_do(p, IR_OR, bits(p, scaled), sign, 0)), from_bits(p, weight)};
}

/* ---- one step ------------------------------------------------------------------------------------------------------------- */

/* A block's largest exponent but for c's, as an f32 of that exponent with anything for a fraction; below any product's if all are zero.
 * *none: the bits of the sum of weights, 0 if all products are zero. */
static ir largest(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir *none) {
    ir all = 0;
    for (int from = 0; from < r->u->terms; from += CHUNK) {
        ir sum = 0;
        for (int i = from; i < from + CHUNK && i < r->u->terms; i++) {
            const ir weight = lb_ir_do(p, IR_MUL, a[i].e, b[i].e, 0);
            sum = i == from ? weight : lb_ir_do(p, IR_ADD, sum, weight, 0);
        }
        all = from ? lb_ir_do(p, IR_MAX, all, sum, 0) : sum;
    }
    *none = bits(p, all);
    const int least = least_exponent(r->a) + least_exponent(r->b) + 127;
    return from_bits(p, lb_ir_with(p, IR_ADD, lb_ir_with(p, IR_SHR, *none, 2), (least - least_field(r) / 4) << 23));
}

/* c, and what stands in its place where all products are zero: its code without what the cut takes, 0 of a zero. */
typedef struct accumulator {
    ir value /* F */, kept, left /* U: 0 where kept has no magnitude */;
} accumulator;

/* To f32, cut toward zero: one instruction here, a function of ten more statements there (languages_more.def); counted as these. */
static ir float_rz(ir_program *p, ir i) {
    p->counted[p->part] += 10 * p->times;
    return lb_ir_do(p, IR_FLOAT_RZ, i, 0, 0);
}

/* An integer sum of two words' worth, x + y, in units of `unit`, as the bits of an f32: magnitude and sign apart. A magnitude of 32 bits loses
 * its last one, and the unit doubles: f32 would not keep it. */
static ir rounded_wide(ir_program *p, ir x, ir y, ir unit) {
    const ir both = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_AND, x, y, 0), 1);
    const ir half = lb_ir_do(p, IR_ADD, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHR, x, 1), lb_ir_with(p, IR_SHR, y, 1), 0), both, 0);
    const ir sign = lb_ir_to_u(p, lb_ir_with(p, IR_SHR, half, 31)); /* of half the sum, cut down: the sum's */
    const ir magnitude = with_sign(p, lb_ir_do(p, IR_ADD, lb_ir_to_u(p, x), lb_ir_to_u(p, y), 0), sign);
    const ir over = lb_ir_with(p, IR_SHR, magnitude, 31);
    const ir doubled = lb_ir_do(p, IR_ADD, unit, lb_ir_with(p, IR_SHL, over, 23), 0);
    const ir number = float_rz(p, lb_ir_to_i(p, lb_ir_do(p, IR_SHR, magnitude, over, 0)));
    const ir out = bits(p, lb_ir_do(p, IR_MUL, number, from_bits(p, doubled), 0));
    return lb_ir_do(p, IR_OR, out, lb_ir_with(p, IR_AND, sign, INT32_MIN), 0);
}

/* Rules 4 to 8 of one block. Every f32 here is 0 or normal, or so small that its integer is 0. */
static ir block(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, accumulator c) {
    const int frac = r->g.frac_bits;
    ir none;
    const ir products = largest(r, p, a, b, &none);
    const ir top = lb_ir_with(p, IR_AND, bits(p, lb_ir_do(p, IR_MAX, products, lb_ir_do(p, IR_ABS, c.value, 0, 0), 0)), FIELD);
    const ir scale = from_bits(p, lb_ir_do(p, IR_SUB, lb_ir_u(p, (uint32_t)(254 + frac) << 23), top, 0));
    ir sums[2] = {lb_ir_do(p, IR_TRUNC, lb_ir_do(p, IR_MUL, c.value, scale, 0), 0, 0), 0};
    for (int i = 0; i < r->u->terms; i++) {
        const bool second = r->wide && i >= r->u->terms / 2;
        const ir product = lb_ir_do(p, IR_MUL, a[i].value, b[i].value, 0);
        const ir term = lb_ir_do(p, IR_TRUNC, lb_ir_do(p, IR_MUL, product, scale, 0), 0, 0);
        sums[second] = second && i == r->u->terms / 2 ? term : lb_ir_do(p, IR_ADD, sums[second], term, 0);
    }
    const ir unit = lb_ir_with(p, IR_SUB, top, frac << 23);
    ir out = r->wide ? rounded_wide(p, sums[0], sums[1], unit) : bits(p, lb_ir_do(p, IR_MUL, float_rz(p, sums[0]), from_bits(p, unit), 0));
    if (r->g.out_pad) out = lb_ir_with(p, IR_AND, out, (int32_t) - (UINT32_C(1) << r->g.out_pad));
    return lb_ir_select(p, lb_ir_do(p, IR_LT, none, c.left, 0), c.kept, out);
}

ir lb_weights_finite(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c) {
    const int cut = 23 - (r->g.frac_bits < r->g.out_frac ? r->g.frac_bits : r->g.out_frac);
    for (int i = 0;; i += r->u->terms) {
        if (r->u->k > r->u->terms) lb_ir_comment(p, "block of products %d to %d", i, i + r->u->terms - 1);
        const bool whole = cut == (i ? r->g.out_pad : 0); /* c has no bits that are cut of it alone */
        accumulator x = {from_bits(p, c), whole ? c : lb_ir_with(p, IR_AND, c, (int32_t) - (UINT32_C(1) << cut)), 0};
        x.left = i ? lb_ir_u(p, 1) : lb_ir_with(p, IR_MIN, lb_ir_with(p, IR_AND, x.kept, INT32_MAX), 1); /* a block gives no -0 */
        c = block(r, p, a + i, b + i, x);
        if (i + r->u->terms >= r->u->k) return c;
    }
}

/* ---- NaN and Inf (rule 2) --------------------------------------------------------------------------------------------------- */

/* They decide alone, whatever their blocks: no finite sum here overflows. */
ir lb_weights_class(ir_program *p, rule_operand a, rule_operand b) {
    const ir product = bits(p, lb_ir_do(p, IR_MUL, a.value, b.value, 0)); /* of Inf, 1 or -1, and NaN, 0 */
    const ir inf = lb_ir_do(p, IR_SHL, lb_ir_u(p, 2), lb_ir_with(p, IR_SHR, product, 31), 0);
    const ir what = lb_ir_select(p, lb_ir_with(p, IR_EQ, lb_ir_with(p, IR_SHL, product, 1), 0), lb_ir_u(p, 1), inf);
    const ir either = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_OR, bits(p, a.e), bits(p, b.e), 0), WEIGHT_SPECIAL);
    return lb_ir_select(p, lb_ir_with(p, IR_EQ, either, 0), lb_ir_u(p, 0), what);
}

ir lb_weights_mark_of_c(const rule *r, ir_program *p, ir c) {
    const ir magnitude = lb_ir_with(p, IR_AND, c, (int32_t)(r->g.sign_bit - 1));
    return lb_ir_with(p, IR_ADD, magnitude, (int32_t)(r->g.sign_bit - r->g.inf_code)); /* of f32: from Inf on it reaches the sign */
}

ir lb_weights_marked(ir_program *p, ir any) {
    return lb_ir_with(p, IR_LT, lb_ir_do(p, IR_AS_I, any, 0, 0), 0);
}

ir lb_weights_class_of_c(const rule *r, ir_program *p, ir c) {
    const ir magnitude = lb_ir_with(p, IR_AND, c, (int32_t)(r->g.sign_bit - 1));
    const ir inf = lb_ir_do(p, IR_SHL, lb_ir_u(p, 2), lb_ir_with(p, IR_SHR, c, 31), 0);
    const ir what = lb_ir_select(p, lb_ir_with(p, IR_EQ, magnitude, (int32_t)r->g.inf_code), inf, lb_ir_u(p, 1));
    return lb_ir_select(p, lb_ir_with(p, IR_GE, magnitude, (int32_t)r->g.inf_code), what, lb_ir_u(p, 0));
}

ir lb_weights_special(const rule *r, ir_program *p, ir classes) {
    const ir plus = lb_ir_select(p, lb_ir_with(p, IR_EQ, classes, 2), lb_ir_u(p, r->g.inf_code), lb_ir_u(p, r->g.nan_code));
    return lb_ir_select(p, lb_ir_with(p, IR_EQ, classes, 4), lb_ir_u(p, r->g.sign_bit | r->g.inf_code), plus);
}

static ir step_of(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c) {
    if (r->finite) return lb_weights_finite(r, p, a, b, c);
    ir any = lb_weights_mark_of_c(r, p, c);
    for (int i = 0; i < r->u->k; i++) any = lb_ir_do(p, IR_OR, any, lb_ir_do(p, IR_OR, bits(p, a[i].e), bits(p, b[i].e), 0), 0);
    const ir out = lb_ir_var(p, lb_ir_u(p, r->g.nan_code));
    lb_ir_if(p, lb_weights_marked(p, any));
    p->part = IR_RARE;
    ir classes = lb_weights_class_of_c(r, p, c);
    for (int i = 0; i < r->u->k; i++) classes = lb_ir_do(p, IR_OR, classes, lb_weights_class(p, a[i], b[i]), 0);
    lb_ir_set(p, out, lb_weights_special(r, p, classes));
    p->part = IR_MAIN;
    lb_ir_else(p);
    lb_ir_set(p, out, lb_weights_finite(r, p, a, b, c));
    lb_ir_end(p);
    return out;
}

static rule_code step(const rule *r, ir_program *p, const rule_inputs *in) {
    return (rule_code){step_of(r, p, in->a, in->b, in->c.low), 0};
}

static void describe(const rule *r, lb_text *t) {
    lb_rule_truncated.describe(r, t);
    lb_text_add(
        t,
        "// An exponent travels as a weight, about 16 to its power. Weights are positive and normal, and of a sum of at most 8 products "
        "of\n"
        "// two only the exponent's upper bits are taken: the largest product's, in any order, rounded in any way, contracted or not.\n");
}

const rule_path lb_rule_weights = {.decode = decode, .step = step, .describe = describe, .lanes = true};
