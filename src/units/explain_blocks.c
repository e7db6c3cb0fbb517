/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Truncated blocks told: dense, sparse, two halves, block-scaled. */
#include "units/telling.h"

/* ---- operands -------------------------------------------------------------------------------------------------------- */

static bool flushes(const lb_unit *u, lb_unit_subnormals one) {
    return u->edges.subnormals == one || u->edges.subnormals == LB_SUBNORMALS_FLUSH;
}

/* An operand as the multiplier sees it: its value, and its exponent, which subnormals do not lower. */
typedef struct operand {
    lb_value value;
    int32_t e; /* LB_NO_EXPONENT: a zero that counts for nothing */
    bool flushed;
} operand;

static int32_t exponent_in(const lb_format *f, lb_value v) {
    const int32_t least = f->special == LB_SPECIAL_E8M0 ? -f->bias : 1 - f->bias, e = lb_value_exponent(v);
    return v.cls == LB_FINITE && e < least ? least : e;
}

static operand operand_of(const lb_unit *u, lb_format_id format, uint64_t stored) {
    const lb_format *f = lb_format_row(format);
    const uint64_t code = lb_unit_code(u, format, stored);
    const uint64_t taken = flushes(u, LB_SUBNORMALS_FLUSH_IN) ? lb_flush_code(f, code, LB_FLUSH_KEEP_SIGN) : code;
    operand o = {.value = lb_decode(f, taken), .flushed = taken != code};
    const lb_format *f16 = lb_format_row(LB_F16);
    const bool widened = u->path == LB_PATH_TWO_HALVES; /* exact for fp8, whose subnormals become normal */
    if (widened) o.value = lb_decode(f16, lb_encode(f16, o.value, NULL, NULL));
    o.e = exponent_in(widened ? f16 : f, o.value);
    if (o.value.cls == LB_ZERO && u->edges.zero_products == LB_ZERO_PRODUCTS_COUNT) o.e = -126;
    return o;
}

static lb_explain_term *tell_product(lb_teller *t, const lb_told_step *s, int i) {
    const operand a = operand_of(t->u, t->u->a, s->a[i]), b = operand_of(t->u, t->u->b, s->b[i]);
    lb_explain_term *term = lb_tell_product(t, s, i, a.value, b.value);
    if (term->value.cls <= LB_FINITE && a.e != LB_NO_EXPONENT && b.e != LB_NO_EXPONENT) term->exponent = a.e + b.e;
    term->flushed = a.flushed || b.flushed;
    return term;
}

static void tell_c(lb_teller *t, uint64_t c) {
    const lb_format *f = lb_format_row(t->u->c);
    lb_explain_term *term = lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, t->u->c, c);
    if (flushes(t->u, LB_SUBNORMALS_FLUSH_IN) && lb_flush_code(f, c, LB_FLUSH_KEEP_SIGN) != c) {
        term->flushed = true;
        term->value = term->kept = lb_decode(f, lb_flush_code(f, c, LB_FLUSH_KEEP_SIGN));
    }
    const bool own = t->u->edges.c_subnormal == LB_C_SUBNORMAL_OWN;
    term->exponent = own ? lb_value_exponent(term->value) : exponent_in(f, term->value);
}

/* ---- the rounding of a block --------------------------------------------------------------------------------------------- */

static uint64_t nan_code(const lb_unit *u) {
    return u->edges.nan_set ? u->edges.nan : u->d == LB_F16 ? 0x7fff : 0x7fffffff;
}

static uint64_t tell_special(lb_teller *t) {
    const lb_explain_op *op = lb_told_op(t);
    const lb_format *f = lb_format_row(t->u->d);
    return lb_tell_code_of(t, t->u->round, t->u->d, op->sum.cls == LB_NAN ? nan_code(t->u) : lb_encode(f, op->sum, NULL, NULL), false);
}

static uint64_t tell_rounding(lb_teller *t) {
    const lb_unit *u = t->u;
    lb_explain_op *op = lb_told_op(t);
    const lb_format *f = lb_format_row(u->d);
    const bool nearest = u->round == LB_UNIT_RNE_F16, short_f32 = u->round == LB_UNIT_RZ_E8M13;
    const lb_encoding how = {.rounding = nearest ? LB_RNE : LB_RZ,
                             .overflow = u->edges.overflow == LB_UNIT_OVERFLOW_MAX ? LB_OVERFLOW_SATURATE : LB_OVERFLOW_INF};
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    unsigned flags = 0;
    uint64_t code = lb_encode(f, op->sum, &how, &flags);
    if (short_f32) code &= ~UINT64_C(0x3ff); /* toward zero a second time is toward zero */
    if (flushes(u, LB_SUBNORMALS_FLUSH_OUT)) {
        op->result_flushed = lb_flush_code(f, code, LB_FLUSH_KEEP_SIGN) != code;
        code = lb_flush_code(f, code, LB_FLUSH_KEEP_SIGN);
    }
    if (code == sign && u->edges.tiny_sign == LB_TINY_SIGN_PLUS) code = 0;
    return lb_tell_code_of(t, u->round, u->d, code, flags & LB_OVERFLOWED);
}

/* The operation that is told, from its terms on. */
static uint64_t finish_block(lb_teller *t) {
    if (lb_tell_alone(t)) return tell_special(t);
    lb_tell_alignment(t, t->u->floor_exp, t->u->frac_bits, false);
    lb_tell_sum(t);
    return tell_rounding(t);
}

/* ---- truncated, sparse, two halves --------------------------------------------------------------------------------------- */

static uint64_t tell_block(lb_teller *t, const lb_told_step *s, int first, int count, uint64_t c) {
    lb_tell_op(t, s, LB_EXPLAIN_BLOCK, first, first + count - 1);
    for (int i = first; i < first + count; i++) tell_product(t, s, i);
    tell_c(t, c);
    return finish_block(t);
}

/* With specials=step: whether an operand of the step is NaN or Inf, so that one operation is the whole step. */
static bool step_is_special(const lb_teller *t, const lb_told_step *s) {
    const lb_format *fa = lb_format_row(t->u->a), *fb = lb_format_row(t->u->b);
    bool special = false;
    for (int i = 0; i < s->count; i++)
        special = special || lb_code_class(fa, lb_unit_code(t->u, t->u->a, s->a[i])) >= LB_INF ||
                  lb_code_class(fb, lb_unit_code(t->u, t->u->b, s->b[i])) >= LB_INF;
    return special && t->u->edges.specials == LB_SPECIALS_STEP;
}

/* c behind the two halves. */
static uint64_t tell_add(lb_teller *t, const lb_told_step *s, uint64_t acc, uint64_t c) {
    const lb_unit *u = t->u;
    const size_t halves = lb_last_op(t);
    lb_tell_op(t, s, LB_EXPLAIN_ADD, 0, s->count - 1);
    const lb_value x = lb_tell_code(t, LB_EXPLAIN_FROM_OP, halves, u->d, acc)->value;
    const lb_value y = lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, u->c, c)->value;
    lb_told_op(t)->alone = lb_tell_alone(t);
    lb_told_op(t)->sum = lb_value_add(x, y);
    const lb_unit_round round = u->d == LB_F16 ? LB_UNIT_RNE_F16 : LB_UNIT_RNE_F32;
    if (lb_told_op(t)->sum.cls == LB_NAN) return lb_tell_code_of(t, round, u->d, nan_code(u), false);
    return lb_tell_rounding(t, round, u->d, NULL);
}

uint64_t lb_tell_blocks(lb_teller *t, const lb_told_step *given, uint64_t c) {
    const bool halves = t->u->path == LB_PATH_TWO_HALVES;
    lb_told_step s = *given;
    for (int i = 0; halves && i < s.count; i++) { /* k mod 4 in {0, 1} before {2, 3} */
        const int at = (i % 4 / 2) * (s.count / 2) + i / 4 * 2 + i % 2;
        s.a[at] = given->a[i];
        s.b[at] = given->b[i];
        s.k[at] = given->k[i];
    }
    uint64_t acc = halves ? 0 : c;
    if (step_is_special(t, &s)) {
        acc = tell_block(t, &s, 0, s.count, acc);
        t->block++;
    } else {
        for (int i = 0; i < s.count; i += t->u->terms) {
            acc = tell_block(t, &s, i, t->u->terms, acc);
            if (!halves) t->block++;
        }
    }
    if (!halves) return acc;
    acc = tell_add(t, &s, acc, c);
    t->block++;
    return acc;
}

/* ---- block-scaled ------------------------------------------------------------------------------------------------------------ */

/* A zero ue4m3 has the exponent of its subnormals; what it scales counts only where the rule is `always`. */
static operand scale_of(const lb_unit *u, uint64_t code) {
    const lb_format *f = lb_format_row(u->scale);
    operand o = {.value = lb_decode(f, code)};
    o.e = o.value.cls == LB_ZERO ? 1 - f->bias : exponent_in(f, o.value);
    return o;
}

/* The group's exact sum of products, times its scales. *exponent: with which it takes part in the maximum of the block. */
static lb_value tell_group(lb_teller *t, const lb_told_step *s, int first, int32_t *exponent) {
    const lb_unit *u = t->u;
    const int place = first / u->scale_block;
    const operand x = scale_of(u, s->scale_a[place]), y = scale_of(u, s->scale_b[place]);
    lb_explain_op *op = lb_tell_op(t, s, LB_EXPLAIN_GROUP, first, first + u->group - 1);
    op->scale_a = s->scale_a[place];
    op->scale_b = s->scale_b[place];
    bool any = false;
    for (int i = first; i < first + u->group; i++) any = tell_product(t, s, i)->value.cls != LB_ZERO || any;
    lb_tell_sum(t);
    op = lb_told_op(t);
    const lb_zero_group rule = u->edges.zero_group;
    const bool scaled = x.value.cls != LB_ZERO && y.value.cls != LB_ZERO, finite = x.value.cls <= LB_FINITE && y.value.cls <= LB_FINITE;
    const bool counts = finite && (rule == LB_ZERO_GROUP_ALWAYS || (scaled && (rule == LB_ZERO_GROUP_SUM ? op->sum.cls != LB_ZERO : any)));
    *exponent = counts ? x.e + y.e : LB_NO_EXPONENT;
    op->sum = lb_value_trimmed(lb_value_mul(op->sum, lb_value_mul(x.value, y.value)));
    if (op->sum.cls == LB_ZERO) op->sum.negative = false;
    op->sum_exponent = lb_value_exponent(op->sum);
    op->alone = op->sum.cls >= LB_INF;
    return op->sum;
}

static uint64_t tell_groups(lb_teller *t, const lb_told_step *s, uint64_t c) {
    lb_value sums[LB_MAX_K];
    int32_t exponents[LB_MAX_K];
    const int groups = s->count / t->u->group;
    const size_t first = t->e->op_count;
    for (int i = 0; i < groups; i++) sums[i] = tell_group(t, s, i * t->u->group, &exponents[i]);
    lb_tell_op(t, s, LB_EXPLAIN_BLOCK, 0, s->count - 1);
    for (int i = 0; i < groups; i++) lb_tell_value(t, first + (size_t)i, sums[i], sums[i].cls <= LB_FINITE ? exponents[i] : LB_NO_EXPONENT);
    tell_c(t, c);
    return finish_block(t);
}

uint64_t lb_tell_block_scaled(lb_teller *t, const lb_told_step *s, uint64_t c) {
    const lb_unit *u = t->u;
    if (u->group) {
        c = tell_groups(t, s, c);
        t->block++;
        return c;
    }
    lb_tell_op(t, s, LB_EXPLAIN_BLOCK, 0, s->count - 1);
    for (int i = 0; i < s->count; i++) {
        const int place = i / u->scale_block;
        const operand x = scale_of(u, s->scale_a[place]), y = scale_of(u, s->scale_b[place]);
        lb_explain_term *term = tell_product(t, s, i);
        term->scale_a = s->scale_a[place];
        term->scale_b = s->scale_b[place];
        term->value = term->kept = lb_value_mul(term->value, lb_value_mul(x.value, y.value));
        const bool counts = term->value.cls == LB_FINITE && term->exponent != LB_NO_EXPONENT;
        term->exponent = counts ? term->exponent + x.e + y.e : LB_NO_EXPONENT;
    }
    tell_c(t, c);
    c = finish_block(t);
    t->block++;
    return c;
}
