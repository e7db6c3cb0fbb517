/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/soft.h"

/* Steps of a product with zero: below all others. */
enum { NOWHERE = -100000 };

/* ---- a format in words ------------------------------------------------------------------------------------------------------ */

static int words_of(const lb_format *f) {
    return lb_wide_words(f->bits);
}

/* Of the word that holds the exponent: the place of its last bit. */
static int field_at(const lb_format *f) {
    return f->man_bits - 32 * (words_of(f) - 1);
}

static int least_exponent(const lb_format *f) {
    return 1 - f->bias;
}

/* The first magnitude above the finite ones: Inf, or what is NaN, or what has no code. */
static uint64_t limit_of(const lb_format *f) {
    return (lb_max_code(f) >> f->pad_bits) + 1;
}

static wide magnitude_of(ir_program *p, const lb_format *f, wide code) {
    return lb_wide_down(p, lb_wide_masked(p, code, f->bits - f->sign_bits), f->pad_bits);
}

static wide with_sign(ir_program *p, const lb_format *f, wide magnitude, ir sign) {
    wide code = lb_wide_up(p, magnitude, f->pad_bits);
    const int top = code.count - 1;
    if (f->sign_bits) code.word[top] = lb_ir_do(p, IR_OR, code.word[top], lb_ir_with(p, IR_SHL, sign, f->bits - 1 - 32 * top), 0);
    return code;
}

static ir is_subnormal(ir_program *p, const lb_format *f, wide magnitude) {
    return lb_ir_do(p, IR_LT, magnitude.word[magnitude.count - 1], lb_ir_u(p, UINT32_C(1) << field_at(f)), 0);
}

wide lb_soft_flush(ir_program *p, const lb_format *f, wide code) {
    const wide magnitude = magnitude_of(p, f, code);
    const ir sign = lb_ir_with(p, IR_SHR, code.word[code.count - 1], f->bits - 1 - 32 * (code.count - 1));
    return lb_wide_select(p, is_subnormal(p, f, magnitude), with_sign(p, f, lb_wide_u(p, 0, code.count), sign), code);
}

soft_number lb_soft_unpack(ir_program *p, const lb_format *f, wide code) {
    soft_number x = {.code = code, .magnitude = magnitude_of(p, f, code)};
    const int top = code.count - 1, at = field_at(f);
    x.sign = f->sign_bits ? lb_ir_with(p, IR_SHR, code.word[top], f->bits - 1 - 32 * top) : lb_ir_u(p, 0);
    x.steps = lb_ir_with(p, IR_MAX, lb_ir_with(p, IR_SUB, lb_ir_to_i(p, lb_ir_with(p, IR_SHR, x.magnitude.word[top], at)), 1), 0);
    x.sig = x.magnitude;
    x.sig.word[top] = lb_ir_do(p, IR_SUB, x.sig.word[top], lb_ir_with(p, IR_SHL, lb_ir_to_u(p, x.steps), at), 0);
    x.is_zero = lb_wide_is_zero(p, x.magnitude);
    const wide limit = lb_wide_u(p, limit_of(f), code.count);
    const bool has_inf = f->special == LB_SPECIAL_IEEE, has_nan = has_inf || f->special == LB_SPECIAL_NAN_TOP;
    x.is_inf = has_inf ? lb_wide_equal(p, x.magnitude, limit) : lb_ir_b(p, false);
    x.is_nan = has_inf ? lb_wide_less(p, limit, x.magnitude, false) : has_nan ? lb_wide_equal(p, x.magnitude, limit) : lb_ir_b(p, false);
    return x;
}

soft_number lb_soft_normalised(ir_program *p, const lb_format *f, soft_number x) {
    const ir up = lb_ir_with(p, IR_SUB, lb_wide_clz(p, x.sig), 32 * x.sig.count - 1 - f->man_bits);
    x.sig = lb_wide_shl(p, x.sig, up);
    x.steps = lb_ir_do(p, IR_SUB, x.steps, up, 0);
    return x;
}

/* ---- rounding --------------------------------------------------------------------------------------------------------------- */

ir lb_soft_increment(ir_program *p, lb_rounding rounding, ir sign, ir odd, ir rest, int low) {
    const int32_t half = (int32_t)(UINT32_C(1) << (low - 1));
    const ir inexact = lb_ir_with(p, IR_GE, rest, 1), negative = lb_ir_with(p, IR_GE, sign, 1);
    switch (rounding) {
    case LB_RZ: return lb_ir_u(p, 0);
    case LB_RNA: return lb_ir_bit(p, lb_ir_with(p, IR_GE, rest, half));
    case LB_RU: return lb_ir_bit(p, lb_ir_both(p, inexact, lb_ir_not(p, negative)));
    case LB_RD: return lb_ir_bit(p, lb_ir_both(p, inexact, negative));
    case LB_ODD: return lb_ir_bit(p, lb_ir_both(p, inexact, lb_ir_with(p, IR_EQ, odd, 0)));
    default: return lb_ir_bit(p, lb_ir_with(p, IR_GE, lb_ir_do(p, IR_ADD, rest, odd, 0), half + 1));
    }
}

/* Where IEEE 754 sends an overflow. */
static wide overflowed(ir_program *p, const soft_rule *s, ir sign) {
    const int count = words_of(s->f);
    const wide inf = lb_wide_u(p, limit_of(s->f), count), most = lb_wide_u(p, limit_of(s->f) - 1, count);
    const bool none = s->saturate || s->rounding == LB_RZ;
    const ir negative = lb_ir_with(p, IR_GE, sign, 1);
    return lb_wide_select(p, negative, none || s->rounding == LB_RU ? most : inf, none || s->rounding == LB_RD ? most : inf);
}

wide lb_soft_inf(ir_program *p, const soft_rule *s, ir sign) {
    return with_sign(p, s->f, lb_wide_u(p, limit_of(s->f) - s->saturate, words_of(s->f)), sign);
}

/* A normalised magnitude whose leading one has `steps`, below 0, that man_bits + 1 bits do not round up to the least normal number. */
static ir stays_tiny(ir_program *p, const lb_format *f, ir steps, wide sig) {
    const int bits = 32 * sig.count;
    const wide least = lb_wide_up(p, lb_wide_u(p, (UINT64_C(1) << (f->man_bits + 2)) - 1, sig.count), bits - f->man_bits - 2);
    const ir below = lb_ir_either(p, lb_ir_do(p, IR_LT, steps, lb_ir_i(p, -1), 0), lb_wide_less(p, sig, least, false));
    return lb_ir_both(p, lb_ir_do(p, IR_LT, steps, lb_ir_i(p, 0), 0), below);
}

/* Kept bits, what they drop (below one << low) and the steps of the code: from here on no bit moves. */
typedef struct kept {
    wide sig;
    ir steps;
    int low;
    ir tiny; /* of an unbounded rule: a result that is to be flushed, a B */
} kept;

static kept normalised(ir_program *p, const soft_rule *s, soft_value v) {
    const lb_format *f = s->f;
    const int words = lb_wide_words(f->man_bits + 3);
    const ir zeros = lb_wide_clz(p, v.sig);
    wide sig = lb_wide_shl(p, v.sig, zeros);
    sig = v.sig.count > words ? lb_wide_top(p, sig, words) : lb_wide_up(p, lb_wide_resized(p, sig, words), 32 * (words - v.sig.count));
    const ir steps = lb_ir_select(p, lb_wide_is_zero(p, sig), lb_ir_i(p, 0), lb_ir_do(p, IR_SUB, v.top, zeros, 0));
    const ir tiny = s->unbounded ? stays_tiny(p, f, steps, sig) : 0;
    const ir down = lb_wide_clamp(p, lb_ir_do(p, IR_SUB, lb_ir_i(p, 0), steps, 0), 32 * words - 1); /* of a subnormal result */
    return (kept){lb_wide_shr_sticky(p, sig, down), steps, 32 * words - 1 - f->man_bits, tiny};
}

wide lb_soft_round(ir_program *p, const soft_rule *s, soft_value v) {
    static const char *const how[] = {
#define X(id, name, text) text,
        LB_ROUNDING_LIST(X)
#undef X
    };
    const lb_format *f = s->f;
    const int count = words_of(f);
    lb_ir_comment(p, "rounded once, %s", how[s->rounding]);
    const kept k = normalised(p, s, v);
    wide code = lb_wide_down(p, k.sig, k.low), exponent = lb_wide_u(p, 0, code.count);
    const ir rest = lb_ir_with(p, IR_AND, k.sig.word[0], (int32_t)((UINT32_C(1) << k.low) - 1));
    const ir up = lb_soft_increment(p, s->rounding, v.sign, lb_ir_with(p, IR_AND, code.word[0], 1), rest, k.low);
    /* The kept bits hold the leading one, so a step less is the exponent; a carry moves into it by itself. */
    const ir above = lb_ir_to_u(p, lb_wide_clamp(p, k.steps, 1 << f->exp_bits));
    exponent.word[code.count - 1] = lb_ir_with(p, IR_SHL, above, f->man_bits - 32 * (code.count - 1));
    code = lb_wide_add(p, lb_wide_add(p, code, exponent), lb_wide_resized(p, lb_wide_of(up), code.count));
    code = lb_wide_resized(p, code, count);
    code = lb_wide_select(p, lb_wide_less(p, code, lb_wide_u(p, limit_of(f), count), false), code, overflowed(p, s, v.sign));
    if (s->unbounded) code = lb_wide_select(p, k.tiny, lb_wide_u(p, 0, count), code);
    if (s->flush) code = lb_wide_select(p, is_subnormal(p, f, code), lb_wide_u(p, 0, count), code);
    return with_sign(p, f, code, v.sign);
}

/* ---- special operands ------------------------------------------------------------------------------------------------------- */

static wide nan_of(ir_program *p, const soft_rule *s, const soft_number *x, int count) {
    wide nan = lb_wide_u(p, s->nan, words_of(s->f));
    const wide quiet = lb_wide_u(p, UINT64_C(1) << (s->f->man_bits - 1) << s->f->pad_bits, nan.count);
    for (int i = count; s->keeps_nan && i-- > 0;) nan = lb_wide_select(p, x[i].is_nan, lb_wide_each(p, IR_OR, x[i].code, quiet), nan);
    return nan;
}

/* What a result is where operands are special. */
typedef struct special {
    ir is_nan, is_inf, sign;
} special;

static wide settled(ir_program *p, const soft_rule *s, const soft_number *x, int count, special e, wide finite) {
    lb_ir_comment(p, "NaN and Inf");
    return lb_wide_select(p, e.is_nan, nan_of(p, s, x, count), lb_wide_select(p, e.is_inf, lb_soft_inf(p, s, e.sign), finite));
}

static special special_sum(ir_program *p, special a, special b) {
    const ir opposite = lb_ir_with(p, IR_GE, lb_ir_do(p, IR_XOR, a.sign, b.sign, 0), 1);
    const ir none = lb_ir_both(p, lb_ir_both(p, a.is_inf, b.is_inf), opposite);
    return (special){lb_ir_either(p, lb_ir_either(p, a.is_nan, b.is_nan), none), lb_ir_either(p, a.is_inf, b.is_inf),
                     lb_ir_select(p, a.is_inf, a.sign, b.sign)};
}

static special special_product(ir_program *p, const soft_number *x, const soft_number *y) {
    const ir none = lb_ir_either(p, lb_ir_both(p, x->is_inf, y->is_zero), lb_ir_both(p, x->is_zero, y->is_inf));
    return (special){lb_ir_either(p, lb_ir_either(p, x->is_nan, y->is_nan), none), lb_ir_either(p, x->is_inf, y->is_inf),
                     lb_ir_do(p, IR_XOR, x->sign, y->sign, 0)};
}

/* ---- sums ------------------------------------------------------------------------------------------------------------------- */

/* Of two magnitudes below half of their width. Where bits of the smaller are lost, the larger has its leading one near the top. */
static soft_value sum_of(ir_program *p, const soft_rule *s, soft_value a, soft_value b) {
    lb_ir_comment(p, "the sum: the smaller one moves to the larger, and what it loses stays in its last bit");
    const ir swap = lb_ir_do(p, IR_LT, a.top, b.top, 0), differ = lb_ir_do(p, IR_XOR, a.sign, b.sign, 0);
    const ir top = lb_ir_do(p, IR_MAX, a.top, b.top, 0), less = lb_ir_do(p, IR_MIN, a.top, b.top, 0);
    const wide big = lb_wide_select(p, swap, b.sig, a.sig), small = lb_wide_select(p, swap, a.sig, b.sig);
    const ir by = lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_SUB, top, less, 0), 32 * big.count - 1);
    const wide moved = lb_wide_shr_sticky(p, small, by);
    ir borrow; /* only where nothing was lost */
    wide difference = lb_wide_sub(p, big, moved, &borrow);
    difference = lb_wide_negated(p, difference, borrow);
    const wide sig = lb_wide_select(p, lb_ir_with(p, IR_GE, differ, 1), difference, lb_wide_add(p, big, moved));
    const ir turned = lb_ir_do(p, IR_AND, differ, borrow, 0);
    const ir of_zero = lb_ir_do(p, s->rounding == LB_RD ? IR_OR : IR_AND, a.sign, b.sign, 0);
    const ir of_sum = lb_ir_do(p, IR_XOR, lb_ir_select(p, swap, b.sign, a.sign), turned, 0);
    return (soft_value){lb_ir_select(p, lb_wide_is_zero(p, sig), of_zero, of_sum), top, sig};
}

/* A number in `count` words, its leading one (if it has one) in the second bit from the top. */
static soft_value term_of(ir_program *p, const lb_format *f, const soft_number *x, ir sign, int count) {
    const wide sig = lb_wide_up(p, lb_wide_resized(p, x->sig, count), 32 * count - 2 - f->man_bits);
    return (soft_value){sign, lb_ir_with(p, IR_ADD, x->steps, 1), sig};
}

static wide sum(ir_program *p, const soft_rule *s, wide x, wide y, bool minus) {
    const soft_number n[2] = {lb_soft_unpack(p, s->f, x), lb_soft_unpack(p, s->f, y)};
    const ir sign = minus ? lb_ir_with(p, IR_XOR, n[1].sign, 1) : n[1].sign;
    const int count = lb_wide_words(s->f->man_bits + 6);
    const soft_value v = sum_of(p, s, term_of(p, s->f, &n[0], n[0].sign, count), term_of(p, s->f, &n[1], sign, count));
    const special a = {n[0].is_nan, n[0].is_inf, n[0].sign}, b = {n[1].is_nan, n[1].is_inf, sign};
    return settled(p, s, n, 2, special_sum(p, a, b), lb_soft_round(p, s, v));
}

wide lb_soft_add(ir_program *p, const soft_rule *s, wide x, wide y) {
    return sum(p, s, x, y, false);
}

wide lb_soft_sub(ir_program *p, const soft_rule *s, wide x, wide y) {
    return sum(p, s, x, y, true);
}

/* ---- products --------------------------------------------------------------------------------------------------------------- */

/* Exact, in `count` words, moved up by `up`. */
static soft_value product_of(ir_program *p, const lb_format *f, const soft_number *x, const soft_number *y, int count, int up) {
    lb_ir_comment(p, "the product, exact");
    const wide sig = lb_wide_up(p, lb_wide_mul(p, x->sig, y->sig, count), up);
    const ir steps = lb_ir_do(p, IR_ADD, x->steps, y->steps, 0);
    const ir top = lb_ir_with(p, IR_ADD, steps, 32 * count - 1 - up - 2 * f->man_bits + least_exponent(f));
    return (soft_value){lb_ir_do(p, IR_XOR, x->sign, y->sign, 0), top, sig};
}

wide lb_soft_mul(ir_program *p, const soft_rule *s, wide x, wide y) {
    const soft_number n[2] = {lb_soft_unpack(p, s->f, x), lb_soft_unpack(p, s->f, y)};
    const soft_value v = product_of(p, s->f, &n[0], &n[1], lb_wide_words(2 * s->f->man_bits + 2), 0);
    return settled(p, s, n, 2, special_product(p, &n[0], &n[1]), lb_soft_round(p, s, v));
}

wide lb_soft_fma(ir_program *p, const soft_rule *s, wide x, wide y, wide z) {
    const lb_format *f = s->f;
    const soft_number n[3] = {lb_soft_unpack(p, f, x), lb_soft_unpack(p, f, y), lb_soft_unpack(p, f, z)};
    const soft_number a = lb_soft_normalised(p, f, n[0]), b = lb_soft_normalised(p, f, n[1]);
    const int count = lb_wide_words(2 * f->man_bits + 5);
    soft_value product = product_of(p, f, &a, &b, count, 32 * count - 3 - 2 * f->man_bits);
    product.top = lb_ir_select(p, lb_ir_either(p, n[0].is_zero, n[1].is_zero), lb_ir_i(p, NOWHERE), product.top);
    const soft_value v = sum_of(p, s, product, term_of(p, f, &n[2], n[2].sign, count));
    const special of_z = {n[2].is_nan, n[2].is_inf, n[2].sign};
    return settled(p, s, n, 3, special_sum(p, special_product(p, &n[0], &n[1]), of_z), lb_soft_round(p, s, v));
}

wide lb_soft_dot2(ir_program *p, const soft_rule *s, wide a, wide b, wide x, wide y) {
    const lb_format *f = s->f;
    const wide codes[4] = {a, b, x, y};
    const int count = lb_wide_words(2 * f->man_bits + 5);
    soft_number n[4], m[4];
    soft_value product[2];
    special of[2];
    for (int i = 0; i < 4; i++) {
        n[i] = lb_soft_unpack(p, f, codes[i]);
        m[i] = lb_soft_normalised(p, f, n[i]);
    }
    for (int i = 0; i < 2; i++) {
        product[i] = product_of(p, f, &m[2 * i], &m[2 * i + 1], count, 32 * count - 3 - 2 * f->man_bits);
        product[i].top = lb_ir_select(p, lb_ir_either(p, n[2 * i].is_zero, n[2 * i + 1].is_zero), lb_ir_i(p, NOWHERE), product[i].top);
        of[i] = special_product(p, &n[2 * i], &n[2 * i + 1]);
    }
    return settled(p, s, n, 4, special_sum(p, of[0], of[1]), lb_soft_round(p, s, sum_of(p, s, product[0], product[1])));
}

/* ---- quotients and roots ---------------------------------------------------------------------------------------------------- */

/* A result with one bit more, set where something remains. */
static wide with_rest(ir_program *p, wide x, wide rest) {
    x = lb_wide_up(p, x, 1);
    x.word[0] = lb_ir_do(p, IR_OR, x.word[0], lb_ir_select(p, lb_wide_is_zero(p, rest), lb_ir_u(p, 0), lb_ir_u(p, 1)), 0);
    return x;
}

wide lb_soft_div(ir_program *p, const soft_rule *s, wide x, wide y) {
    const lb_format *f = s->f;
    const soft_number n[2] = {lb_soft_unpack(p, f, x), lb_soft_unpack(p, f, y)};
    const soft_number a = lb_soft_normalised(p, f, n[0]), b = lb_soft_normalised(p, f, n[1]);
    const int bits = f->man_bits + 4, count = a.sig.count;
    lb_ir_comment(p, "the quotient, bit by bit");
    wide rest;
    const wide quotient = lb_wide_divide(p, a.sig, lb_wide_u(p, 0, count), lb_wide_up(p, b.sig, 1), bits, &rest);
    const ir steps = lb_ir_do(p, IR_SUB, a.steps, b.steps, 0), sign = lb_ir_do(p, IR_XOR, a.sign, b.sign, 0);
    const soft_value v = {sign, lb_ir_with(p, IR_ADD, steps, 32 * count - 1 - bits - least_exponent(f)), with_rest(p, quotient, rest)};
    const ir none = lb_ir_either(p, lb_ir_both(p, a.is_inf, b.is_inf), lb_ir_both(p, a.is_zero, b.is_zero));
    const special e = {lb_ir_either(p, lb_ir_either(p, a.is_nan, b.is_nan), none), lb_ir_either(p, a.is_inf, b.is_zero), sign};
    const wide zero = with_sign(p, f, lb_wide_u(p, 0, count), sign);
    return settled(p, s, n, 2, e, lb_wide_select(p, b.is_inf, zero, lb_soft_round(p, s, v)));
}

/* `bits` bits of the root of a radicand whose top two bits stand before the point, one a step. */
static wide root_of(ir_program *p, wide radicand, int bits, wide *rest) {
    const uint64_t times = p->times;
    const wide left = lb_wide_var(p, radicand), r = lb_wide_var(p, lb_wide_u(p, 0, radicand.count));
    const wide root = lb_wide_var(p, lb_wide_u(p, 0, radicand.count));
    const int last = radicand.count - 1;
    lb_ir_for(p, (uint32_t)bits);
    p->times = times * (uint64_t)bits;
    wide next = lb_wide_up(p, r, 2), trial = lb_wide_up(p, root, 2), longer = lb_wide_up(p, root, 1);
    next.word[0] = lb_ir_do(p, IR_OR, next.word[0], lb_ir_with(p, IR_SHR, left.word[last], 30), 0);
    trial.word[0] = lb_ir_with(p, IR_OR, trial.word[0], 1);
    ir borrow;
    const wide less = lb_wide_sub(p, next, trial, &borrow);
    longer.word[0] = lb_ir_do(p, IR_OR, longer.word[0], lb_ir_with(p, IR_XOR, borrow, 1), 0);
    const wide moved = lb_wide_up(p, left, 2);
    lb_wide_set(p, r, lb_wide_select(p, lb_ir_with(p, IR_EQ, borrow, 0), less, next));
    lb_wide_set(p, root, longer);
    lb_wide_set(p, left, moved);
    lb_ir_end(p);
    p->times = times;
    *rest = r;
    return root;
}

wide lb_soft_sqrt(ir_program *p, const soft_rule *s, wide x) {
    const lb_format *f = s->f;
    const soft_number n = lb_soft_unpack(p, f, x), a = lb_soft_normalised(p, f, n);
    const int bits = f->man_bits + 3, count = a.sig.count, least = least_exponent(f);
    const ir e = lb_ir_with(p, IR_ADD, a.steps, least), odd = lb_ir_with(p, IR_AND, e, 1);
    const wide radicand = lb_wide_shl(p, lb_wide_up(p, a.sig, 32 * count - 2 - f->man_bits), odd);
    lb_ir_comment(p, "the root, bit by bit");
    wide rest;
    const wide root = root_of(p, radicand, bits, &rest);
    const ir top = lb_ir_with(p, IR_ADD, lb_ir_with(p, IR_SHR, e, 1), 32 * count - 1 - bits - least);
    const soft_value v = {a.sign, top, with_rest(p, root, rest)};
    const ir negative = lb_ir_both(p, lb_ir_with(p, IR_GE, a.sign, 1), lb_ir_not(p, a.is_zero));
    const special e_of = {lb_ir_either(p, a.is_nan, negative), a.is_inf, a.sign};
    return settled(p, s, &n, 1, e_of, lb_wide_select(p, a.is_zero, x, lb_soft_round(p, s, v)));
}
