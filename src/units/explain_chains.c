/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Chains of fma, pairs, and integers told. */
#include "units/telling.h"

static lb_value value_of(const lb_unit *u, lb_format_id format, uint64_t code) {
    return lb_decode(lb_format_row(format), lb_unit_code(u, format, code));
}

/* The terms of the operation that is told, added in their order as IEEE 754 adds them. */
static void add_terms(lb_teller *t) {
    lb_explain_op *op = lb_told_op(t);
    const lb_explain_term *terms = t->e->terms + op->first_term;
    lb_tell_alone(t);
    lb_value sum = op->term_count ? terms[0].value : (lb_value){.cls = LB_ZERO};
    for (size_t i = 1; i < op->term_count; i++) sum = lb_value_add(sum, terms[i].value);
    op->sum = sum;
}

uint64_t lb_tell_fma_chain(lb_teller *t, const lb_told_step *s, uint64_t c) {
    const lb_unit *u = t->u;
    for (int i = 0; i < s->count; i++, t->block++) {
        lb_tell_op(t, s, LB_EXPLAIN_FMA, i, i);
        lb_tell_product(t, s, i, value_of(u, u->a, s->a[i]), value_of(u, u->b, s->b[i]));
        lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, u->d, c);
        add_terms(t);
        c = lb_tell_rounding(t, u->round, u->d, NULL);
    }
    return c;
}

/* ---- x86: subnormals of f32 are zeros, in and out -------------------------------------------------------------------- */

static lb_value daz(lb_value v, bool *flushed) {
    if (v.cls != LB_FINITE || lb_value_exponent(v) >= -126) return v;
    *flushed = true;
    return (lb_value){.cls = LB_ZERO, .negative = v.negative};
}

static void tell_daz_product(lb_teller *t, const lb_told_step *s, int i) {
    bool flushed = false;
    const lb_value a = daz(value_of(t->u, t->u->a, s->a[i]), &flushed), b = daz(value_of(t->u, t->u->b, s->b[i]), &flushed);
    lb_tell_product(t, s, i, a, b)->flushed = flushed;
}

static void tell_daz_code(lb_teller *t, lb_explain_source source, size_t from, uint64_t code) {
    lb_explain_term *term = lb_tell_code(t, source, from, LB_F32, code);
    term->value = term->kept = daz(term->value, &term->flushed);
}

/* To nearest even; what is tiny behind a rounding that knows no least exponent is a zero of its sign. */
static uint64_t finish_ftz(lb_teller *t) {
    const lb_format *f32 = lb_format_row(LB_F32);
    add_terms(t);
    lb_explain_op *op = lb_told_op(t);
    if (op->sum.cls == LB_NAN) return lb_tell_code_of(t, LB_UNIT_RNE_F32, LB_F32, 0xffc00000, false);
    if (op->sum.cls != LB_FINITE || lb_value_exponent(op->sum) >= -126) return lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, NULL);
    const int32_t e = lb_value_exponent(op->sum);
    lb_value lifted = op->sum;
    lifted.exp -= e; /* in [1, 2), where f32 is normal */
    const bool tiny = e + lb_value_exponent(lb_decode(f32, lb_encode(f32, lifted, NULL, NULL))) < -126;
    op->result_flushed = tiny;
    const uint64_t sign = op->sum.negative ? UINT64_C(0x80000000) : 0;
    return lb_tell_code_of(t, LB_UNIT_RNE_F32, LB_F32, sign | (tiny ? 0 : 0x00800000), false);
}

/* The first NaN of a pair, in the order in which the instruction looks: even a, even b, odd a, odd b, c. */
static bool tell_nan(lb_teller *t, const lb_told_step *s, int first, uint64_t c, uint64_t *out) {
    const lb_format *bf16 = lb_format_row(LB_BF16), *f32 = lb_format_row(LB_F32);
    const uint64_t order[4] = {s->a[first], s->b[first], s->a[first + 1], s->b[first + 1]};
    int found = 0;
    while (found < 4 && lb_code_class(bf16, order[found]) != LB_NAN) found++;
    if (found == 4 && lb_code_class(f32, c) != LB_NAN) return false;
    lb_explain_op *op = lb_tell_op(t, s, LB_EXPLAIN_NAN, first, first + 1);
    op->alone = true;
    op->sum = (lb_value){.cls = LB_NAN};
    if (found < 4) {
        const int i = first + found / 2;
        lb_tell_product(t, s, i, value_of(t->u, LB_BF16, s->a[i]), value_of(t->u, LB_BF16, s->b[i]));
    } else {
        lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, LB_F32, c);
    }
    *out = lb_tell_code_of(t, LB_UNIT_RNE_F32, LB_F32, (found < 4 ? (order[found] & 0xffff) << 16 : c) | 0x00400000, false);
    return true;
}

uint64_t lb_tell_odd_first(lb_teller *t, const lb_told_step *s, uint64_t c) {
    for (int first = 0; first < s->count; first += 2, t->block++) {
        if (tell_nan(t, s, first, c, &c)) continue;
        for (int i = first + 1; i >= first; i--) {
            lb_tell_op(t, s, LB_EXPLAIN_FMA, i, i);
            tell_daz_product(t, s, i);
            tell_daz_code(t, LB_EXPLAIN_FROM_C, 0, c);
            c = finish_ftz(t);
        }
    }
    return c;
}

uint64_t lb_tell_two_chains(lb_teller *t, const lb_told_step *s, uint64_t c) {
    uint64_t chains[2] = {0, 0};
    size_t ends[2] = {0, 0};
    for (int parity = 0; parity < 2; parity++) {
        for (int i = parity; i < s->count; i += 2) {
            lb_tell_op(t, s, LB_EXPLAIN_FMA, i, i);
            tell_daz_product(t, s, i);
            tell_daz_code(t, i < 2 ? LB_EXPLAIN_FROM_C : LB_EXPLAIN_FROM_OP, ends[parity], chains[parity]);
            chains[parity] = finish_ftz(t);
            ends[parity] = lb_last_op(t);
        }
    }
    lb_tell_op(t, s, LB_EXPLAIN_ADD, 0, s->count - 1);
    for (int parity = 0; parity < 2; parity++) tell_daz_code(t, LB_EXPLAIN_FROM_OP, ends[parity], chains[parity]);
    const uint64_t both = finish_ftz(t);
    const size_t from = lb_last_op(t);
    lb_tell_op(t, s, LB_EXPLAIN_ADD, 0, s->count - 1);
    tell_daz_code(t, LB_EXPLAIN_FROM_C, 0, c);
    tell_daz_code(t, LB_EXPLAIN_FROM_OP, from, both);
    t->block++;
    return finish_ftz(t);
}

/* ---- Arm's pairs ---------------------------------------------------------------------------------------------------------- */

static const lb_encoding to_odd = {.rounding = LB_ODD, .overflow = LB_OVERFLOW_INF, .flush = LB_FLUSH_KEEP_SIGN};

static uint64_t finish_odd(lb_teller *t) {
    add_terms(t);
    return lb_tell_rounding(t, LB_UNIT_ODD_F32, LB_F32, &to_odd);
}

uint64_t lb_tell_pair_odd(lb_teller *t, const lb_told_step *s, uint64_t c) {
    const lb_format *f = lb_format_row(t->u->a);
    for (int first = 0; first < s->count; first += 2, t->block++) {
        uint64_t products[2];
        size_t from[2];
        for (int i = 0; i < 2; i++) {
            const uint64_t a = lb_flush_code(f, s->a[first + i], LB_FLUSH_KEEP_SIGN),
                           b = lb_flush_code(f, s->b[first + i], LB_FLUSH_KEEP_SIGN);
            lb_tell_op(t, s, LB_EXPLAIN_PRODUCT, first + i, first + i);
            lb_tell_product(t, s, first + i, lb_decode(f, a), lb_decode(f, b))->flushed = a != s->a[first + i] || b != s->b[first + i];
            products[i] = finish_odd(t);
            from[i] = lb_last_op(t);
        }
        lb_tell_op(t, s, LB_EXPLAIN_ADD, first, first + 1);
        for (int i = 0; i < 2; i++) lb_tell_code(t, LB_EXPLAIN_FROM_OP, from[i], LB_F32, products[i]);
        const uint64_t pair = finish_odd(t);
        const size_t sum = lb_last_op(t);
        lb_tell_op(t, s, LB_EXPLAIN_ADD, first, first + 1);
        tell_daz_code(t, LB_EXPLAIN_FROM_C, 0, c);
        lb_tell_code(t, LB_EXPLAIN_FROM_OP, sum, LB_F32, pair);
        c = finish_odd(t);
    }
    return c;
}

uint64_t lb_tell_pair_fused(lb_teller *t, const lb_told_step *s, uint64_t c) {
    const lb_unit *u = t->u;
    for (int first = 0; first < s->count; first += 2, t->block++) {
        lb_tell_op(t, s, LB_EXPLAIN_PAIR, first, first + 1);
        for (int i = first; i < first + 2; i++) lb_tell_product(t, s, i, value_of(u, u->a, s->a[i]), value_of(u, u->b, s->b[i]));
        add_terms(t);
        const uint64_t pair = lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, NULL);
        const size_t from = lb_last_op(t);
        lb_tell_op(t, s, LB_EXPLAIN_ADD, first, first + 1);
        lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, LB_F32, c);
        lb_tell_code(t, LB_EXPLAIN_FROM_OP, from, LB_F32, pair);
        add_terms(t);
        c = lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, NULL);
    }
    return c;
}

/* ---- integers --------------------------------------------------------------------------------------------------------------- */

uint64_t lb_tell_integer(lb_teller *t, const lb_told_step *s, uint64_t c) {
    const lb_unit *u = t->u;
    const bool xors = u->path == LB_PATH_XOR_POPC, bits = xors || u->path == LB_PATH_AND_POPC;
    lb_tell_op(t, s, LB_EXPLAIN_INTEGER, 0, s->count - 1);
    for (int i = 0; i < s->count; i++) {
        lb_explain_term *term = lb_tell_product(t, s, i, value_of(u, u->a, s->a[i]), value_of(u, u->b, s->b[i]));
        if (bits) term->value = term->kept = lb_value_of((double)((xors ? s->a[i] ^ s->b[i] : s->a[i] & s->b[i]) & 1));
    }
    lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, LB_I32, c);
    lb_tell_sum(t);
    t->block++;
    const lb_overflow over = u->round == LB_UNIT_SATURATE_I32 ? LB_OVERFLOW_SATURATE : LB_OVERFLOW_WRAP;
    return lb_tell_rounding(t, u->round, LB_I32, &(lb_encoding){.overflow = over});
}
