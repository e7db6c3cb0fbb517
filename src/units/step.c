/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The integer engine: reads a row of units.def and gives the bits. This file is the specification; fast paths prove themselves
 * against it. Rule numbers are those of docs/units.md. */
#include "units/step.h"

#include "base/u128.h"

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* Rule 1. value = sig * 2^(e - man_bits); subnormals keep the least exponent and have no hidden bit. */
lb_term lb_term_of(const lb_format *f, uint64_t code) {
    const lb_value v = lb_decode(f, code);
    switch (v.cls) {
    case LB_ZERO: return (lb_term){0, LB_TERM_ZERO};
    case LB_NAN: return (lb_term){0, LB_TERM_SPECIAL};
    case LB_INF: return (lb_term){v.negative ? -1 : 1, LB_TERM_SPECIAL};
    case LB_FINITE: break;
    }
    return (lb_term){v.negative ? -(int32_t)v.lo : (int32_t)v.lo, v.exp + f->man_bits};
}

/* fp8 operands that the hardware widens to f16 first: exact, but their subnormals become normal. */
static lb_term widened_term(const lb_format *f, uint64_t code) {
    const lb_format *f16 = lb_format_row(LB_F16);
    return lb_term_of(f16, lb_encode(f16, lb_decode(f, code), NULL, NULL));
}

lb_term lb_unit_term(const lb_unit *u, lb_format_id format, uint64_t code) {
    const lb_format *f = lb_format_row(format);
    return u->path == LB_PATH_TWO_HALVES ? widened_term(f, code) : lb_term_of(f, code);
}

size_t lb_unit_slot(const lb_unit *u, size_t i) {
    if (u->path != LB_PATH_TWO_HALVES) return i;
    const size_t half = i % 4 / 2, quad = i / 4; /* k mod 4 in {0,1} first, then {2,3} */
    return half * u->k / 2 + quad * 2 + i % 2;
}

/* ---- one block --------------------------------------------------------------------------------------------------- */

/* Rules 3 to 6: the exact sum of the aligned terms, in units of 2^(*top - F). */
static inline int64_t block_sum(const lb_engine *g, const lb_term *a, const lb_term *b, lb_term c, int32_t *top) {
    int32_t e_top = g->floor_exp > c.e ? g->floor_exp : c.e;
    for (int i = 0; i < g->terms; i++) {
        const int32_t e = a[i].e + b[i].e;
        e_top = e > e_top ? e : e_top;
    }
    int64_t sum = lb_align(c.sig, e_top - c.e, g->c_up, g->c_down);
    for (int i = 0; i < g->terms; i++) sum += lb_align(a[i].sig * b[i].sig, e_top - (a[i].e + b[i].e), g->p_up, g->p_down);
    *top = e_top;
    return sum;
}

/* Rule 8: sum * 2^exp in the output format; the sign stays also where the magnitude rounds to zero. */
static inline uint32_t round_sum(const lb_engine *g, int64_t sum, int32_t exp) {
    if (sum == 0) return 0; /* rule 7: never -0 */
    const uint32_t sign = sum < 0 ? g->sign_bit : 0;
    const uint64_t m = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    const int32_t e = exp + lb_bit_length64(m) - 1;
    if (e > g->e_max) return sign | g->inf_code;
    const int32_t e_used = e > g->e_min ? e : g->e_min;
    const int32_t down = e_used - g->out_frac - exp;
    uint64_t n;
    if (down <= 0) {
        n = m << -down;
    } else if (down > 63) {
        n = 0; /* below half of the last place */
    } else {
        n = m >> down;
        const uint64_t rest = m & ((UINT64_C(1) << down) - 1), half = UINT64_C(1) << (down - 1);
        if (g->nearest && (rest > half || (rest == half && (n & 1)))) n++;
    }
    const uint64_t code = (((uint64_t)(e_used - g->e_min) << g->out_frac) + n) << g->out_pad;
    return sign | (code < g->inf_code ? (uint32_t)code : g->inf_code);
}

uint32_t lb_round_sum(const lb_engine *g, int64_t sum, int32_t exp) {
    return round_sum(g, sum, exp);
}

/* Rule 2: NaN and Inf among the terms decide alone. */
static bool block_special(const lb_engine *g, const lb_term *a, const lb_term *b, lb_term c, uint32_t *out) {
    bool nan = c.e == LB_TERM_SPECIAL && c.sig == 0;
    bool plus = c.e == LB_TERM_SPECIAL && c.sig > 0, minus = c.e == LB_TERM_SPECIAL && c.sig < 0;
    for (int i = 0; i < g->terms; i++) {
        if (a[i].e != LB_TERM_SPECIAL && b[i].e != LB_TERM_SPECIAL) continue;
        const int32_t sign = (a[i].sig > 0) - (a[i].sig < 0);
        const int32_t product = sign * ((b[i].sig > 0) - (b[i].sig < 0)); /* 0: a NaN, or Inf times zero */
        nan = nan || product == 0;
        plus = plus || product > 0;
        minus = minus || product < 0;
    }
    if (!nan && !plus && !minus) return false;
    *out = nan || (plus && minus) ? g->nan_code : plus ? g->inf_code : g->sign_bit | g->inf_code;
    return true;
}

static inline uint32_t block(const lb_engine *g, const lb_term *a, const lb_term *b, uint32_t c_code, bool special) {
    const lb_term c = lb_term_of_output(g, c_code);
    uint32_t out;
    if ((special || c.e == LB_TERM_SPECIAL) && block_special(g, a, b, c, &out)) return out;
    int32_t top;
    const int64_t sum = block_sum(g, a, b, c, &top);
    return round_sum(g, sum, top - g->frac_bits);
}

/* ---- one K step -------------------------------------------------------------------------------------------------- */

/* The add of c behind the two halves: IEEE, to nearest even, NaN canonical as the unit's. */
static uint32_t add_rne(const lb_engine *g, uint32_t x, uint32_t c) {
    const lb_value sum = lb_value_add(lb_decode(g->out, x), lb_decode(g->out, c));
    return sum.cls == LB_NAN ? g->nan_code : (uint32_t)lb_encode(g->out, sum, NULL, NULL);
}

uint32_t lb_engine_step(const lb_engine *g, const lb_term *a, const lb_term *b, uint32_t c, bool special) {
    uint32_t acc = g->c_last ? 0 : c;
    for (int i = 0; i < g->k; i += g->terms) acc = block(g, a + i, b + i, acc, special);
    return g->c_last ? add_rne(g, acc, c) : acc;
}

/* ---- a row made ready -------------------------------------------------------------------------------------------- */

lb_status lb_engine_of(const lb_unit *u, lb_engine *g, lb_error *err) {
    if (u->path == LB_PATH_NONE) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "open: %s; %s", u->note, u->open);
    if (u->path != LB_PATH_TRUNCATED && u->path != LB_PATH_TWO_HALVES)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "path %s is not of truncated blocks", lb_unit_path_name(u->path));
    if (u->round > LB_UNIT_RNE_F16)
        return lb_fail(err, LB_E_FORMAT, u->name, "a truncated block does not round to %s", lb_unit_round_name(u->round));
    const lb_format *a = lb_format_row(u->path == LB_PATH_TWO_HALVES ? LB_F16 : u->a);
    const lb_format *b = lb_format_row(u->path == LB_PATH_TWO_HALVES ? LB_F16 : u->b);
    const bool f16 = u->round == LB_UNIT_RNE_F16;
    const lb_format *out = lb_format_row(f16 ? LB_F16 : LB_F32);
    if (!a || !b || a->special == LB_SPECIAL_INT || b->special == LB_SPECIAL_INT || a->man_bits + b->man_bits > 29)
        return lb_fail(err, LB_E_FORMAT, u->name, "the engine multiplies significands of at most 31 bits together");
    if (u->c != out->id || u->d != out->id) return lb_fail(err, LB_E_FORMAT, u->name, "c and d must be %s for this rounding", out->name);
    if (u->terms < 1 || u->terms > 64 || u->k < 1 || u->k % u->terms || u->frac_bits < 1 || u->frac_bits > 48)
        return lb_fail(err, LB_E_ARG, u->name, "terms 1 to 64 dividing k, and 1 to 48 fraction bits, are what the engine holds");
    const int p_frac = a->man_bits + b->man_bits;
    *g = (lb_engine){
        .out = out,
        .terms = u->terms,
        .k = u->k,
        .frac_bits = u->frac_bits,
        .floor_exp = u->floor_exp,
        .p_up = u->frac_bits > p_frac ? u->frac_bits - p_frac : 0,
        .p_down = u->frac_bits > p_frac ? 0 : p_frac - u->frac_bits,
        .c_up = u->frac_bits > out->man_bits ? u->frac_bits - out->man_bits : 0,
        .c_down = u->frac_bits > out->man_bits ? 0 : out->man_bits - u->frac_bits,
        .nearest = f16,
        .c_last = u->path == LB_PATH_TWO_HALVES,
        .out_frac = u->round == LB_UNIT_RZ_E8M13 ? 13 : out->man_bits,
        .out_pad = u->round == LB_UNIT_RZ_E8M13 ? 10 : 0,
        .e_min = 1 - out->bias,
        .e_max = out->bias,
        .sign_bit = f16 ? 0x8000 : 0x80000000,
        .inf_code = f16 ? 0x7c00 : 0x7f800000,
        .nan_code = f16 ? 0x7fff : 0x7fffffff,
    };
    return LB_OK;
}
