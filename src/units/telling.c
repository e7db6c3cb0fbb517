/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "units/telling.h"

#include "base/u128.h"

#include <stdlib.h>
#include <string.h>

/* ---- values --------------------------------------------------------------------------------------------------------- */

static lb_u128 magnitude(lb_value v) {
    return (lb_u128)v.hi << 64 | v.lo;
}

static lb_value finite(bool negative, lb_u128 m, int32_t exp, bool sticky) {
    if (m == 0 && !sticky) return (lb_value){.cls = LB_ZERO};
    return (lb_value){LB_FINITE, negative, sticky, exp, (uint64_t)(m >> 64), (uint64_t)m};
}

static lb_value negated(lb_value v) {
    v.negative = !v.negative;
    return v;
}

int32_t lb_value_exponent(lb_value v) {
    return v.cls == LB_FINITE ? v.exp + lb_bit_length128(magnitude(v)) - 1 : LB_NO_EXPONENT;
}

lb_value lb_value_trimmed(lb_value v) {
    if (v.cls != LB_FINITE || v.sticky || (!v.lo && !v.hi)) return v;
    const int down = v.lo ? __builtin_ctzll(v.lo) : 64 + __builtin_ctzll(v.hi);
    return finite(v.negative, magnitude(v) >> down, v.exp + down, false);
}

void lb_value_cut(lb_value v, int32_t q, bool floors, lb_value *kept, lb_value *cut) {
    *kept = v;
    *cut = (lb_value){.cls = LB_ZERO};
    if (v.cls != LB_FINITE || q <= v.exp) return;
    const int32_t down = q - v.exp;
    const lb_u128 m = magnitude(v), n = down < 128 ? m >> down : 0;
    const lb_u128 rest = down < 128 ? m & (((lb_u128)1 << down) - 1) : m;
    const bool next = floors && v.negative && rest;
    *kept = finite(v.negative, n + next, q, false);
    *cut = finite(v.negative, rest, v.exp, false);
    if (next) *cut = lb_value_add((lb_value){LB_FINITE, false, false, q, 0, 1}, *cut);
}

/* ---- lists ---------------------------------------------------------------------------------------------------------- */

static bool grow(lb_teller *t, void **list, size_t count, size_t *room, size_t size) {
    if (t->failed) return false;
    if (count < *room) return true;
    const size_t wanted = *room ? 2 * *room : 64;
    void *bigger = wanted <= SIZE_MAX / size ? realloc(*list, wanted * size) : NULL;
    t->failed = !bigger;
    if (!bigger) return false;
    *list = bigger;
    *room = wanted;
    return true;
}

lb_explain_op *lb_told_op(lb_teller *t) {
    return t->failed || !t->e->op_count ? &t->no_op : &t->e->ops[t->e->op_count - 1];
}

size_t lb_last_op(const lb_teller *t) {
    return t->e->op_count ? t->e->op_count - 1 : 0;
}

lb_explain_op *lb_tell_op(lb_teller *t, const lb_told_step *s, lb_explain_what what, int first, int last) {
    lb_explanation *e = t->e;
    void *list = e->ops;
    const bool room = grow(t, &list, e->op_count, &t->op_room, sizeof *e->ops);
    e->ops = list;
    lb_explain_op *op = room ? &e->ops[e->op_count++] : &t->no_op;
    *op = (lb_explain_op){.what = what,
                          .step = t->step,
                          .block = t->block,
                          .first_k = s->k[first],
                          .last_k = s->k[last],
                          .first_term = e->term_count,
                          .max_exp = LB_NO_EXPONENT,
                          .sum_exponent = LB_NO_EXPONENT};
    return op;
}

static lb_explain_term *add_term(lb_teller *t, lb_explain_term term) {
    lb_explanation *e = t->e;
    void *list = e->terms;
    const bool room = grow(t, &list, e->term_count, &t->term_room, sizeof *e->terms);
    e->terms = list;
    lb_explain_term *out = room ? &e->terms[e->term_count++] : &t->no_term;
    if (room) lb_told_op(t)->term_count++;
    term.kept = term.value;
    *out = term;
    return out;
}

lb_explain_term *lb_tell_product(lb_teller *t, const lb_told_step *s, int i, lb_value a, lb_value b) {
    return add_term(t, (lb_explain_term){.source = LB_EXPLAIN_FROM_PRODUCT,
                                         .k = s->k[i],
                                         .a = s->a[i],
                                         .b = s->b[i],
                                         .value = lb_value_mul(a, b),
                                         .exponent = LB_NO_EXPONENT});
}

lb_explain_term *lb_tell_code(lb_teller *t, lb_explain_source source, size_t from, lb_format_id format, uint64_t code) {
    return add_term(
        t, (lb_explain_term){
               .source = source, .from = from, .a = code, .value = lb_decode(lb_format_row(format), code), .exponent = LB_NO_EXPONENT});
}

lb_explain_term *lb_tell_value(lb_teller *t, size_t from, lb_value value, int32_t exponent) {
    return add_term(t, (lb_explain_term){.source = LB_EXPLAIN_FROM_OP, .from = from, .value = value, .exponent = exponent});
}

/* ---- what an operation does -------------------------------------------------------------------------------------------- */

void lb_tell_alignment(lb_teller *t, int32_t floor_exp, int frac_bits, bool floors) {
    lb_explain_op *op = lb_told_op(t);
    lb_explain_term *terms = t->e->terms + op->first_term;
    int32_t top = LB_NO_EXPONENT;
    for (size_t i = 0; i < op->term_count; i++)
        if (terms[i].exponent > top) top = terms[i].exponent;
    op->floor_sets_max = floor_exp != LB_NO_FLOOR && floor_exp > top;
    if (op->floor_sets_max) top = floor_exp;
    op->max_exp = top;
    if (top == LB_NO_EXPONENT) return; /* nothing but zeros */
    op->aligned = true;
    op->unit_exp = op->c_unit_exp = top - frac_bits;
    for (size_t i = 0; i < op->term_count; i++) {
        terms[i].sets_max = terms[i].exponent == top;
        lb_value_cut(terms[i].value, op->unit_exp, floors, &terms[i].kept, &terms[i].cut);
    }
}

void lb_tell_sum(lb_teller *t) {
    lb_explain_op *op = lb_told_op(t);
    const lb_explain_term *terms = t->e->terms + op->first_term;
    lb_exact_sum sum;
    lb_exact_sum_clear(&sum);
    for (size_t i = 0; i < op->term_count; i++) lb_exact_sum_add(&sum, lb_value_trimmed(terms[i].kept), NULL);
    op->sum = lb_value_trimmed(lb_exact_sum_value(&sum));
    op->sum_exponent = lb_value_exponent(op->sum);
}

bool lb_tell_alone(lb_teller *t) {
    lb_explain_op *op = lb_told_op(t);
    const lb_explain_term *terms = t->e->terms + op->first_term;
    lb_value sum = {.cls = LB_ZERO};
    for (size_t i = 0; i < op->term_count; i++)
        if (terms[i].value.cls >= LB_INF) sum = lb_value_add(sum, terms[i].value);
    if (sum.cls < LB_INF) return false;
    op->alone = true;
    op->sum = sum;
    return true;
}

uint64_t lb_tell_code_of(lb_teller *t, lb_unit_round round, lb_format_id format, uint64_t code, bool overflow) {
    lb_explain_op *op = lb_told_op(t);
    const lb_value got = lb_decode(lb_format_row(format), code);
    op->rounded = true;
    op->round = round;
    op->format = format;
    op->result = code;
    op->overflow = overflow;
    op->sum_exponent = lb_value_exponent(op->sum);
    if (op->sum.cls < LB_INF && got.cls < LB_INF) op->lost = lb_value_add(op->sum, negated(got));
    if (op->lost.cls == LB_ZERO) op->lost.negative = false;
    return code;
}

uint64_t lb_tell_rounding(lb_teller *t, lb_unit_round round, lb_format_id format, const lb_encoding *how) {
    lb_explain_op *op = lb_told_op(t);
    unsigned flags = 0;
    const lb_format *f = lb_format_row(format);
    const lb_encoding unflushed = {how ? how->rounding : LB_RNE, how ? how->overflow : LB_OVERFLOW_IEEE, LB_FLUSH_NONE, 0, 0};
    const uint64_t code = lb_encode(f, op->sum, &unflushed, &flags);
    const uint64_t flushed = how ? lb_flush_code(f, code, how->flush) : code;
    op->result_flushed = flushed != code;
    return lb_tell_code_of(t, round, format, flushed, flags & LB_OVERFLOWED);
}
