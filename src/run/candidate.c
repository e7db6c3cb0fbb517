/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A truncated dot-product-add in which everything that sources disagree about is a parameter. Slow and general: units/step.c is what a
 * known unit runs; this is what an unknown one is compared with. */
#include "base/try.h"
#include "base/u128.h"
#include "run/candidate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN_RZ, ALIGN_RD, ALIGN_RNE };
enum { C_WITH, C_LAST, C_IGNORED };
enum { ROUND_RZ, ROUND_RNE, ROUND_RU, ROUND_RD };
enum { ZERO = -20000 };

static const struct {
    const char *name, *values, *what;
} parameters[LB_CANDIDATE_PARAMETERS] = {
#define X(field, name, values, text) {name, values, text},
    LB_CANDIDATE_LIST(X)
#undef X
};

const char *lb_candidate_name(size_t i) {
    return i < LB_CANDIDATE_PARAMETERS ? parameters[i].name : NULL;
}

const char *lb_candidate_what(size_t i) {
    return i < LB_CANDIDATE_PARAMETERS ? parameters[i].what : NULL;
}

int *lb_candidate_field(lb_candidate *c, size_t i) {
    switch (i) {
#define X(field, name, values, text)                                                                                                       \
    case LB_CANDIDATE_##field: return &c->field;
        LB_CANDIDATE_LIST(X)
#undef X
    }
    return NULL;
}

int lb_candidate_get(const lb_candidate *c, size_t i) {
    lb_candidate copy = *c;
    return *lb_candidate_field(&copy, i);
}

void lb_candidate_value_text(size_t i, int value, char *text) {
    const char *word = parameters[i].values;
    if (i == LB_CANDIDATE_floor_exp && value == LB_NO_FLOOR) {
        snprintf(text, 24, "none");
        return;
    }
    for (int skip = value; word && skip > 0 && *word; skip--) word += strcspn(word, " ") + 1;
    if (word)
        snprintf(text, 24, "%.*s", (int)strcspn(word, " "), word);
    else
        snprintf(text, 24, "%d", value);
}

lb_status lb_candidate_of(const lb_unit *u, lb_candidate *out, lb_error *err) {
    if (u->path == LB_PATH_NONE) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "open: %s", u->note);
    if (u->path != LB_PATH_TRUNCATED && u->path != LB_PATH_TWO_HALVES)
        return lb_fail(err, LB_E_FORMAT, u->name, "its path is no truncated sum; nothing here can be compared with it");
    *out = (lb_candidate){
        .terms = u->terms,
        .frac_bits = u->frac_bits,
        .c_joins = u->path == LB_PATH_TWO_HALVES ? C_LAST : C_WITH,
        .order = u->path == LB_PATH_TWO_HALVES,
        .round = u->round == LB_UNIT_RNE_F16 ? ROUND_RNE : ROUND_RZ,
        .out_bits = u->round == LB_UNIT_RNE_F16    ? 10
                    : u->round == LB_UNIT_RZ_E8M13 ? 13
                                                   : 23,
        .floor_exp = u->floor_exp,
    };
    return LB_OK;
}

/* ---- operands ----------------------------------------------------------------------------------------------------- */

/* Finite code: sig * 2^(e - man_bits); subnormals keep the least exponent; zero has e ZERO. */
static lb_candidate_term term_of(const lb_format *f, uint64_t code) {
    const lb_value v = lb_decode(f, code);
    if (v.cls != LB_FINITE) return (lb_candidate_term){.e = ZERO, .least = 1 - f->bias, .cls = v.cls, .negative = v.negative};
    return (lb_candidate_term){v.negative ? -(int64_t)v.lo : (int64_t)v.lo, v.exp + f->man_bits, 1 - f->bias, LB_FINITE, v.negative};
}

/* In the halves order fp8 operands are widened to f16 first, where their subnormals are normal. */
lb_candidate_term lb_candidate_term_of(const lb_candidate *x, const lb_format *f, uint64_t code) {
    const lb_format *f16 = lb_format_row(LB_F16);
    if (x->order == 0 || f->bits > 8) return term_of(f, code);
    return term_of(f16, lb_encode(f16, lb_decode(f, code), NULL, NULL));
}

static int frac_of(const lb_candidate *x, const lb_format *f) {
    return x->order && f->bits <= 8 ? lb_format_row(LB_F16)->man_bits : f->man_bits;
}

/* ---- one block ----------------------------------------------------------------------------------------------------- */

/* sig * 2^-drop as an integer, rounded as alignment does; drop may be negative. */
static int64_t cut(int64_t sig, int drop, int mode) {
    if (drop <= 0) return sig * (INT64_C(1) << -drop);
    if (drop > 62) return mode == ALIGN_RD && sig < 0 ? -1 : 0;
    const uint64_t magnitude = (uint64_t)llabs(sig), kept = magnitude >> drop, rest = magnitude & ((UINT64_C(1) << drop) - 1);
    const uint64_t half = UINT64_C(1) << (drop - 1);
    uint64_t n = kept;
    if (mode == ALIGN_RD && sig < 0 && rest) n++;
    if (mode == ALIGN_RNE && (rest > half || (rest == half && (kept & 1)))) n++;
    return sig < 0 ? -(int64_t)n : (int64_t)n;
}

/* sum * 2^exp in the output format, with out_bits fraction bits. */
static uint32_t round_sum(const lb_candidate *x, const lb_format *out, int64_t sum, int exp) {
    const int e_min = 1 - out->bias, pad = out->man_bits - x->out_bits;
    const uint32_t sign = sum < 0 ? UINT32_C(1) << (out->bits - 1) : 0;
    const uint32_t inf = ((UINT32_C(1) << out->exp_bits) - 1) << out->man_bits;
    if (sum == 0) return 0;
    const uint64_t m = (uint64_t)llabs(sum);
    const int e = exp + lb_bit_length64(m) - 1, used = e > e_min ? e : e_min, drop = used - x->out_bits - exp;
    uint64_t n = drop <= 0 ? m << -drop : drop > 63 ? 0 : m >> drop;
    if (drop > 0) {
        const uint64_t rest = drop > 63 ? m : m & ((UINT64_C(1) << drop) - 1), half = drop > 63 ? UINT64_MAX : UINT64_C(1) << (drop - 1);
        const bool up = x->round == ROUND_RNE  ? rest > half || (rest == half && (n & 1))
                        : x->round == ROUND_RU ? rest && !sign
                                               : x->round == ROUND_RD && rest && sign;
        n += up;
    }
    const uint64_t code = e > out->bias ? inf : (((uint64_t)(used - e_min) << x->out_bits) + n) << pad;
    if (code >= inf) return sign | (x->overflow ? inf - (UINT32_C(1) << pad) : inf);
    return (uint32_t)code ? sign | (uint32_t)code : x->underflow ? 0 : sign;
}

static uint32_t nan_of(const lb_candidate *x, const lb_format *out) {
    const uint32_t all = (UINT32_C(1) << (out->bits - 1)) - 1;
    return x->nan ? all & ~((UINT32_C(1) << (out->man_bits - 1)) - 1) : all;
}

/* NaN and Inf among the terms decide alone. */
static bool special(const lb_candidate *x, const lb_format *out, const lb_candidate_term *a, const lb_candidate_term *b, int terms,
                    lb_candidate_term c, uint32_t *d) {
    bool nan = c.cls == LB_NAN, plus = c.cls == LB_INF && !c.negative, minus = c.cls == LB_INF && c.negative;
    for (int i = 0; i < terms; i++) {
        if (a[i].cls != LB_INF && a[i].cls != LB_NAN && b[i].cls != LB_INF && b[i].cls != LB_NAN) continue;
        if (a[i].cls == LB_NAN || b[i].cls == LB_NAN || a[i].cls == LB_ZERO || b[i].cls == LB_ZERO)
            nan = true;
        else if (a[i].negative == b[i].negative)
            plus = true;
        else
            minus = true;
    }
    if (!nan && !plus && !minus) return false;
    const uint32_t inf = ((UINT32_C(1) << out->exp_bits) - 1) << out->man_bits;
    *d = nan || (plus && minus) ? nan_of(x, out) : plus ? inf : inf | UINT32_C(1) << (out->bits - 1);
    return true;
}

/* What takes part in a block: sig * 2^(e - frac). */
typedef struct addend {
    int64_t sig;
    int e, frac;
} addend;

static addend product_of(const lb_candidate *x, lb_candidate_term a, lb_candidate_term b, int frac) {
    if (a.cls == LB_ZERO || b.cls == LB_ZERO) {
        const int e = (a.cls == LB_ZERO ? a.least : a.e) + (b.cls == LB_ZERO ? b.least : b.e);
        return (addend){0, x->zero_products ? e : ZERO, frac};
    }
    const addend p = {a.sig * b.sig, a.e + b.e, frac};
    const bool two = llabs(p.sig) >> (frac + 1) != 0; /* 2 or above */
    return x->product && two ? (addend){p.sig, p.e + 1, frac + 1} : p;
}

static addend c_of(const lb_candidate *x, lb_candidate_term c, int frac) {
    if (c.cls == LB_ZERO) return (addend){0, ZERO, frac};
    const int short_by = x->c_exponent ? frac + 1 - lb_bit_length64((uint64_t)llabs(c.sig)) : 0; /* of a subnormal */
    return (addend){c.sig, c.e - short_by, frac - short_by};
}

static uint32_t block(const lb_candidate *x, const lb_format *out, const lb_candidate_term *a, const lb_candidate_term *b, int frac,
                      uint32_t c_code, bool c_takes_part) {
    const lb_candidate_term c = term_of(out, c_takes_part ? c_code : 0);
    addend all[257];
    uint32_t d;
    if (special(x, out, a, b, x->terms, c, &d)) return d;
    int top = x->floor_exp > ZERO ? x->floor_exp : ZERO;
    for (int i = 0; i < x->terms; i++) {
        all[i] = product_of(x, a[i], b[i], frac);
        if (all[i].e > top) top = all[i].e;
    }
    all[x->terms] = c_of(x, c, out->man_bits);
    if (all[x->terms].e > top) top = all[x->terms].e;
    int64_t sum = 0;
    for (int i = 0; i <= x->terms; i++)
        if (all[i].sig) sum += cut(all[i].sig, top - all[i].e + all[i].frac - x->frac_bits, x->align);
    return round_sum(x, out, sum, top - x->frac_bits);
}

static uint32_t add_rne(const lb_candidate *x, const lb_format *out, uint32_t d, uint32_t c) {
    const lb_value sum = lb_value_add(lb_decode(out, d), lb_decode(out, c));
    return sum.cls == LB_NAN ? nan_of(x, out) : (uint32_t)lb_encode(out, sum, NULL, NULL);
}

/* ---- one K step ---------------------------------------------------------------------------------------------------- */

size_t lb_candidate_slot(const lb_candidate *x, size_t i, size_t k) {
    return x->order ? i % 4 / 2 * (k / 2) + i / 4 * 2 + i % 2 : i;
}

uint32_t lb_candidate_step(const lb_candidate *x, const lb_format *out, const lb_candidate_term *a, const lb_candidate_term *b, int frac,
                           size_t k, uint32_t c) {
    uint32_t acc = x->c_joins == C_WITH ? c : 0;
    for (size_t i = 0; i < k; i += (size_t)x->terms) acc = block(x, out, a + i, b + i, frac, acc, i > 0 || x->c_joins == C_WITH);
    return x->c_joins == C_LAST ? add_rne(x, out, acc, c) : acc;
}

int lb_candidate_frac(const lb_candidate *x, const lb_unit *u) {
    return frac_of(x, lb_format_row(u->a)) + frac_of(x, lb_format_row(u->b));
}

lb_status lb_candidate_check(const lb_candidate *x, const lb_unit *u, lb_error *err) {
    const lb_format *a = lb_format_row(u->a), *b = lb_format_row(u->b), *out = lb_format_row(u->d);
    if (a->special == LB_SPECIAL_INT || b->special == LB_SPECIAL_INT || (out->id != LB_F32 && out->id != LB_F16) || u->c != u->d)
        return lb_fail(err, LB_E_FORMAT, u->name, "candidates multiply floats into f32 or f16");
    if (x->terms < 1 || u->k > LB_CANDIDATE_MAX_K || u->k % x->terms || (x->order && u->k % 4) || x->frac_bits < 1 || x->frac_bits > 36 ||
        x->out_bits < 1 || x->out_bits > out->man_bits)
        return lb_fail(err, LB_E_ARG, u->name, "terms must divide k (at most 256), frac_bits be 1 to 36, out_bits 1 to %d", out->man_bits);
    return LB_OK;
}

lb_status lb_candidate_dot(const lb_candidate *x, const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c,
                           uint32_t *d, lb_error *err) {
    lb_candidate_term ta[LB_CANDIDATE_MAX_K], tb[LB_CANDIDATE_MAX_K];
    LB_TRY(lb_candidate_check(x, u, err));
    if (count > u->k) return lb_fail(err, LB_E_SHAPE, u->name, "%zu products; one step takes %u", count, u->k);
    for (size_t i = 0; i < u->k; i++) {
        const size_t at = lb_candidate_slot(x, i, u->k);
        ta[at] = lb_candidate_term_of(x, lb_format_row(u->a), i < count ? a[i] : 0);
        tb[at] = lb_candidate_term_of(x, lb_format_row(u->b), i < count ? b[i] : 0);
    }
    *d = lb_candidate_step(x, lb_format_row(u->d), ta, tb, lb_candidate_frac(x, u), u->k, c);
    return LB_OK;
}
