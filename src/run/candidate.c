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

/* Finite code: sig * 2^(e - man_bits); subnormals keep the least exponent; zero has that of the least too, for who counts it. */
typedef struct operand {
    int64_t sig;
    int e;
    lb_class cls;
    bool negative;
} operand;

static operand operand_of(const lb_format *f, uint64_t code) {
    const lb_value v = lb_decode(f, code);
    if (v.cls != LB_FINITE) return (operand){.e = 1 - f->bias, .cls = v.cls, .negative = v.negative};
    return (operand){v.negative ? -(int64_t)v.lo : (int64_t)v.lo, v.exp + f->man_bits, LB_FINITE, v.negative};
}

/* In the halves order fp8 operands are widened to f16 first, where their subnormals are normal. */
static operand widened(const lb_candidate *x, const lb_format *f, uint64_t code) {
    const lb_format *f16 = lb_format_row(LB_F16);
    if (x->order == 0 || f->bits > 8) return operand_of(f, code);
    return operand_of(f16, lb_encode(f16, lb_decode(f, code), NULL, NULL));
}

static int frac_of(const lb_candidate *x, lb_format_id id) {
    const lb_format *f = lb_format_row(id);
    return x->order && f->bits <= 8 ? lb_format_row(LB_F16)->man_bits : f->man_bits;
}

int lb_candidate_frac(const lb_candidate *x, const lb_unit *u) {
    return frac_of(x, u->a) + frac_of(x, u->b);
}

lb_candidate_product lb_candidate_product_of(const lb_candidate *x, const lb_unit *u, uint64_t a_code, uint64_t b_code) {
    const operand a = widened(x, lb_format_row(u->a), a_code), b = widened(x, lb_format_row(u->b), b_code);
    const bool wild = a.cls == LB_INF || a.cls == LB_NAN || b.cls == LB_INF || b.cls == LB_NAN;
    const bool nan = a.cls == LB_NAN || b.cls == LB_NAN || (wild && (a.cls == LB_ZERO || b.cls == LB_ZERO));
    lb_candidate_product p = {a.sig * b.sig, a.e + b.e, false, LB_FINITE, a.negative != b.negative};
    p.cls = nan ? LB_NAN : wild ? LB_INF : p.sig ? LB_FINITE : LB_ZERO;
    p.two = llabs(p.sig) >> (lb_candidate_frac(x, u) + 1) != 0;
    return p;
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
static bool special(const lb_candidate *x, const lb_format *out, const lb_candidate_product *p, operand c, uint32_t *d) {
    bool nan = c.cls == LB_NAN, plus = c.cls == LB_INF && !c.negative, minus = c.cls == LB_INF && c.negative;
    for (int i = 0; i < x->terms; i++) {
        nan = nan || p[i].cls == LB_NAN;
        plus = plus || (p[i].cls == LB_INF && !p[i].negative);
        minus = minus || (p[i].cls == LB_INF && p[i].negative);
    }
    if (!nan && !plus && !minus) return false;
    const uint32_t inf = ((UINT32_C(1) << out->exp_bits) - 1) << out->man_bits;
    *d = nan || (plus && minus) ? nan_of(x, out) : plus ? inf : inf | UINT32_C(1) << (out->bits - 1);
    return true;
}

/* The accumulator: f32 or f16, by its fields. */
static operand accumulator_of(const lb_format *f, uint32_t code) {
    const uint32_t man = code & ((UINT32_C(1) << f->man_bits) - 1), top = (UINT32_C(1) << f->exp_bits) - 1;
    const uint32_t exp = code >> f->man_bits & top;
    const bool negative = code >> (f->bits - 1);
    if (exp == top) return (operand){.cls = man ? LB_NAN : LB_INF, .negative = negative};
    if (exp == 0 && man == 0) return (operand){.e = ZERO, .cls = LB_ZERO, .negative = negative};
    const int64_t sig = exp ? man | INT64_C(1) << f->man_bits : man;
    return (operand){negative ? -sig : sig, (int)(exp ? exp : 1) - f->bias, LB_FINITE, negative};
}

static uint32_t block(const lb_candidate *x, const lb_format *out, const lb_candidate_product *p, int frac, uint32_t c_code) {
    operand c = accumulator_of(out, c_code);
    int c_frac = out->man_bits, top = x->floor_exp > ZERO ? x->floor_exp : ZERO;
    bool wild = c.cls == LB_NAN || c.cls == LB_INF;
    uint32_t d;
    if (c.cls == LB_FINITE && x->c_exponent) { /* a subnormal by its leading bit */
        const int short_by = c_frac + 1 - lb_bit_length64((uint64_t)llabs(c.sig));
        c.e -= short_by;
        c_frac -= short_by;
    }
    for (int i = 0; i < x->terms; i++) {
        const int e = p[i].e + (x->product && p[i].two);
        if (e > top && (p[i].sig || x->zero_products)) top = e;
        wild = wild || p[i].cls == LB_NAN || p[i].cls == LB_INF;
    }
    if (wild && special(x, out, p, c, &d)) return d;
    if (c.sig && c.e > top) top = c.e;
    int64_t sum = c.sig ? cut(c.sig, top - c.e + c_frac - x->frac_bits, x->align) : 0;
    for (int i = 0; i < x->terms; i++)
        if (p[i].sig) sum += cut(p[i].sig, top - p[i].e + frac - x->frac_bits, x->align); /* e and frac grow together for `two` */
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

uint32_t lb_candidate_step(const lb_candidate *x, const lb_format *out, const lb_candidate_product *p, int frac, size_t k, uint32_t c) {
    uint32_t acc = x->c_joins == C_WITH ? c : 0;
    for (size_t i = 0; i < k; i += (size_t)x->terms) acc = block(x, out, p + i, frac, acc);
    return x->c_joins == C_LAST ? add_rne(x, out, acc, c) : acc;
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
    lb_candidate_product p[LB_CANDIDATE_MAX_K];
    LB_TRY(lb_candidate_check(x, u, err));
    if (count > u->k) return lb_fail(err, LB_E_SHAPE, u->name, "%zu products; one step takes %u", count, u->k);
    for (size_t i = 0; i < u->k; i++)
        p[lb_candidate_slot(x, i, u->k)] = lb_candidate_product_of(x, u, i < count ? a[i] : 0, i < count ? b[i] : 0);
    *d = lb_candidate_step(x, lb_format_row(u->d), p, lb_candidate_frac(x, u), u->k, c);
    return LB_OK;
}
