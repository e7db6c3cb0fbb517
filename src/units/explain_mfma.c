/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The narrow matrix instructions of CDNA1, CDNA2 and CDNA3 told. */
#include "units/telling.h"

static lb_value value_of(const lb_unit *u, lb_format_id format, uint64_t code) {
    return lb_decode(lb_format_row(format), lb_unit_code(u, format, code));
}

static lb_explain_term *tell_product(lb_teller *t, const lb_told_step *s, int i) {
    return lb_tell_product(t, s, i, value_of(t->u, t->u->a, s->a[i]), value_of(t->u, t->u->b, s->b[i]));
}

/* ---- exact ------------------------------------------------------------------------------------------------------------ */

uint64_t lb_tell_exact(lb_teller *t, const lb_told_step *s, uint64_t c) {
    for (int first = 0; first < s->count; first += t->u->terms, t->block++) {
        lb_tell_op(t, s, LB_EXPLAIN_EXACT, first, first + t->u->terms - 1);
        for (int i = first; i < first + t->u->terms; i++) tell_product(t, s, i);
        lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, LB_F32, c);
        if (!lb_tell_alone(t)) lb_tell_sum(t);
        c = lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, NULL);
    }
    return c;
}

/* ---- pairwise --------------------------------------------------------------------------------------------------------- */

/* What happens to subnormals of a, b and c, and to results that are some. */
typedef struct flushes {
    lb_flush in, out;
} flushes;

static flushes flushes_of(const lb_unit *u) {
    const lb_unit_subnormals s = u->edges.subnormals;
    return (flushes){s == LB_SUBNORMALS_KEEP || s == LB_SUBNORMALS_FLUSH_OUT ? LB_FLUSH_NONE : LB_FLUSH_TO_POSITIVE,
                     s == LB_SUBNORMALS_KEEP || s == LB_SUBNORMALS_FLUSH_IN ? LB_FLUSH_NONE : LB_FLUSH_KEEP_SIGN};
}

/* A result or c as a term, its subnormals gone where `how` says so. */
static lb_explain_term *tell_flushed(lb_teller *t, lb_explain_source source, size_t from, uint64_t code, lb_flush how) {
    const lb_format *f32 = lb_format_row(LB_F32);
    lb_explain_term *term = lb_tell_code(t, source, from, LB_F32, code);
    term->flushed = lb_flush_code(f32, code, how) != code;
    term->value = term->kept = lb_decode(f32, lb_flush_code(f32, code, how));
    return term;
}

/* The two terms of the operation that is told, added as IEEE 754 adds them, and rounded. */
static uint64_t finish_add(lb_teller *t, flushes how) {
    lb_explain_op *op = lb_told_op(t);
    const lb_explain_term *terms = t->e->terms + op->first_term;
    lb_tell_alone(t);
    op->sum = op->term_count ? terms[0].value : (lb_value){.cls = LB_ZERO};
    for (size_t i = 1; i < op->term_count; i++) op->sum = lb_value_add(op->sum, terms[i].value);
    return lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, &(lb_encoding){.flush = how.out});
}

static uint64_t rounded_product(lb_teller *t, const lb_told_step *s, int i, flushes how) {
    const lb_unit *u = t->u;
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b);
    const uint64_t codes[2] = {lb_unit_code(u, u->a, s->a[i]), lb_unit_code(u, u->b, s->b[i])};
    const uint64_t a = lb_flush_code(fa, codes[0], how.in), b = lb_flush_code(fb, codes[1], how.in);
    lb_tell_op(t, s, LB_EXPLAIN_PRODUCT, i, i);
    lb_tell_product(t, s, i, lb_decode(fa, a), lb_decode(fb, b))->flushed = a != codes[0] || b != codes[1];
    return finish_add(t, how);
}

static uint64_t pairwise_block(lb_teller *t, const lb_told_step *s, int first, uint64_t c) {
    const flushes how = flushes_of(t->u);
    uint64_t tree[LB_MAX_K];
    size_t from[LB_MAX_K];
    const int last = first + t->u->terms - 1;
    for (int i = 0; i < t->u->terms; i++) {
        tree[i] = rounded_product(t, s, first + i, how);
        from[i] = lb_last_op(t);
    }
    for (int n = t->u->terms; n > 1; n /= 2) {
        for (int i = 0; i < n / 2; i++) {
            lb_tell_op(t, s, LB_EXPLAIN_ADD, first, last);
            lb_tell_code(t, LB_EXPLAIN_FROM_OP, from[2 * i], LB_F32, tree[2 * i]);
            lb_tell_code(t, LB_EXPLAIN_FROM_OP, from[2 * i + 1], LB_F32, tree[2 * i + 1]);
            tree[i] = finish_add(t, how);
            from[i] = lb_last_op(t);
        }
    }
    lb_tell_op(t, s, LB_EXPLAIN_ADD, first, last);
    tell_flushed(t, LB_EXPLAIN_FROM_C, 0, c, how.in);
    lb_tell_code(t, LB_EXPLAIN_FROM_OP, from[0], LB_F32, tree[0]);
    return finish_add(t, how);
}

uint64_t lb_tell_pairwise(lb_teller *t, const lb_told_step *s, uint64_t c) {
    for (int first = 0; first < s->count; first += t->u->terms, t->block++) c = pairwise_block(t, s, first, c);
    return c;
}

/* ---- late_c, late_c_split ------------------------------------------------------------------------------------------------ */

enum { SUM_BITS = 31, C_BITS = 24, KEPT_BITS = 25 };

static int32_t operand_exponent(lb_format_id format, lb_value v) {
    const int32_t least = 1 - lb_format_row(format)->bias, e = lb_value_exponent(v);
    return v.cls == LB_FINITE && e < least ? least : e;
}

/* With its exponent; a product of 2^128 or more counts as Inf. */
static void tell_ranged(lb_teller *t, const lb_told_step *s, int i) {
    const lb_value a = value_of(t->u, t->u->a, s->a[i]), b = value_of(t->u, t->u->b, s->b[i]);
    lb_explain_term *term = lb_tell_product(t, s, i, a, b);
    if (term->value.cls != LB_FINITE) return;
    if (lb_value_exponent(term->value) >= 128) {
        term->flushed = true;
        term->value = term->kept = (lb_value){.cls = LB_INF, .negative = term->value.negative};
        return;
    }
    term->exponent = operand_exponent(t->u->a, a) + operand_exponent(t->u->b, b);
}

/* NaN and Inf among all products of a block and c: one operation says so. */
static bool tell_special(lb_teller *t, const lb_told_step *s, int first, uint64_t c, uint64_t *out) {
    const size_t ops = t->e->op_count, terms = t->e->term_count;
    lb_tell_op(t, s, LB_EXPLAIN_LATE, first, first + t->u->terms - 1);
    for (int i = first; i < first + t->u->terms; i++) tell_ranged(t, s, i);
    lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, LB_F32, c);
    if (lb_tell_alone(t)) {
        *out = lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, NULL);
        return true;
    }
    if (!t->failed) { /* take it back */
        t->e->op_count = ops;
        t->e->term_count = terms;
    }
    return false;
}

/* The operation's result is its sum. Returns its number. */
static size_t tell_partial(lb_teller *t, const lb_told_step *s, int first, int stride) {
    const int end = first - first % t->u->terms + t->u->terms;
    lb_tell_op(t, s, LB_EXPLAIN_PARTIAL, first, end - 1);
    for (int i = first; i < end; i += stride) tell_ranged(t, s, i);
    lb_tell_alignment(t, LB_NO_FLOOR, t->u->frac_bits, false);
    lb_tell_sum(t);
    return lb_last_op(t);
}

static void tell_result_of(lb_teller *t, size_t from) {
    if (t->failed) return;
    const lb_explain_op *op = &t->e->ops[from];
    lb_tell_value(t, from, op->sum, op->max_exp);
}

static size_t tell_join(lb_teller *t, const lb_told_step *s, int first, size_t even, size_t odd) {
    lb_tell_op(t, s, LB_EXPLAIN_JOIN, first, first + t->u->terms - 1);
    tell_result_of(t, even);
    tell_result_of(t, odd);
    lb_tell_alignment(t, LB_NO_FLOOR, t->u->frac_bits, true);
    lb_tell_sum(t);
    return lb_last_op(t);
}

/* D11: behind normalising, once more toward minus infinity at 31 fraction bits. */
static lb_value floored_sum(const lb_unit *u, lb_value sum) {
    lb_value kept = sum, cut;
    if (u->edges.late_floor == LB_LATE_FLOOR_TWICE && sum.cls == LB_FINITE)
        lb_value_cut(sum, lb_value_exponent(sum) - SUM_BITS, true, &kept, &cut);
    return kept;
}

static uint64_t tell_late(lb_teller *t, const lb_told_step *s, int first, size_t from, uint64_t c, bool drops_small_c) {
    const bool twice = t->u->edges.late_floor == LB_LATE_FLOOR_TWICE;
    lb_tell_op(t, s, LB_EXPLAIN_LATE, first, first + t->u->terms - 1);
    tell_result_of(t, from);
    lb_explain_term *term = lb_tell_code(t, LB_EXPLAIN_FROM_C, 0, LB_F32, c);
    const int32_t e_c = term->exponent = term->value.cls == LB_ZERO ? -126 : operand_exponent(LB_F32, term->value);
    lb_tell_alignment(t, LB_NO_FLOOR, SUM_BITS + twice, true);
    lb_explain_op *op = lb_told_op(t);
    term = t->failed ? &t->no_term : &t->e->terms[t->e->term_count - 1];
    op->c_unit_exp = op->max_exp - C_BITS;
    if (drops_small_c && e_c < op->max_exp - KEPT_BITS) {
        term->kept = (lb_value){.cls = LB_ZERO};
        term->cut = term->value;
    } else {
        lb_value_cut(term->value, op->c_unit_exp, true, &term->kept, &term->cut);
    }
    lb_tell_sum(t);
    const lb_value sum = op->sum;
    op->sum = floored_sum(t->u, sum);
    const uint64_t code = lb_tell_rounding(t, LB_UNIT_RNE_F32, LB_F32, NULL);
    const bool overflow = op->overflow;
    op->sum = sum;
    return lb_tell_code_of(t, LB_UNIT_RNE_F32, LB_F32, code, overflow);
}

static uint64_t tell_late_block(lb_teller *t, const lb_told_step *s, int first, uint64_t c) {
    const bool split = t->u->path == LB_PATH_LATE_C_SPLIT;
    uint64_t alone;
    if (tell_special(t, s, first, c, &alone)) return alone;
    size_t from = tell_partial(t, s, first, split ? 2 : 1);
    if (split) from = tell_join(t, s, first, from, tell_partial(t, s, first + 1, 2));
    return tell_late(t, s, first, from, c, split);
}

uint64_t lb_tell_late_c(lb_teller *t, const lb_told_step *s, uint64_t c) {
    for (int first = 0; first < s->count; first += t->u->terms, t->block++) c = tell_late_block(t, s, first, c);
    return c;
}
