/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "oracle/format_mpfr.h"

#include <string.h>

/* Typed from the documents (docs/sources.md), not from formats.def.
 *   name          bits s  e   m  bias pad kind       max                          inf                  nan */
static const oracle_format rows[] = {
    {"f64", 64, 1, 11, 52, 1023, 0, O_IEEE, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000},
    {"f32", 32, 1, 8, 23, 127, 0, O_IEEE, 0x7f7fffff, 0x7f800000, 0x7fc00000},
    {"tf32", 32, 1, 8, 10, 127, 13, O_IEEE, 0x7f7fe000, 0x7f800000, 0x7fc00000},
    {"f16", 16, 1, 5, 10, 15, 0, O_IEEE, 0x7bff, 0x7c00, 0x7e00},
    {"bf16", 16, 1, 8, 7, 127, 0, O_IEEE, 0x7f7f, 0x7f80, 0x7fc0},
    {"e4m3", 8, 1, 4, 3, 7, 0, O_TOP_NAN, 0x7e, O_NO_CODE, 0x7f},
    {"e5m2", 8, 1, 5, 2, 15, 0, O_IEEE, 0x7b, 0x7c, 0x7e},
    {"e4m3_ieee", 8, 1, 4, 3, 7, 0, O_IEEE, 0x77, 0x78, 0x7c},
    {"e3m4", 8, 1, 3, 4, 3, 0, O_IEEE, 0x6f, 0x70, 0x78},
    {"e4m3fnuz", 8, 1, 4, 3, 8, 0, O_FNUZ, 0x7f, O_NO_CODE, 0x80},
    {"e5m2fnuz", 8, 1, 5, 2, 16, 0, O_FNUZ, 0x7f, O_NO_CODE, 0x80},
    {"e4m3b11fnuz", 8, 1, 4, 3, 11, 0, O_FNUZ, 0x7f, O_NO_CODE, 0x80},
    {"e8m0", 8, 0, 8, 0, 127, 0, O_POWERS, 0xfe, O_NO_CODE, 0xff},
    {"ue4m3", 8, 0, 4, 3, 7, 0, O_TOP_NAN, 0x7e, O_NO_CODE, 0x7f},
    {"e3m2", 6, 1, 3, 2, 3, 0, O_FINITE, 0x1f, O_NO_CODE, O_NO_CODE},
    {"e2m3", 6, 1, 2, 3, 1, 0, O_FINITE, 0x1f, O_NO_CODE, O_NO_CODE},
    {"e2m1", 4, 1, 2, 1, 1, 0, O_FINITE, 0x7, O_NO_CODE, O_NO_CODE},
    {"i8", 8, 1, 0, 0, 0, 0, O_INTEGER, 127, O_NO_CODE, O_NO_CODE},
    {"u8", 8, 0, 0, 0, 0, 0, O_INTEGER, 255, O_NO_CODE, O_NO_CODE},
    {"i4", 4, 1, 0, 0, 0, 0, O_INTEGER, 7, O_NO_CODE, O_NO_CODE},
    {"u4", 4, 0, 0, 0, 0, 0, O_INTEGER, 15, O_NO_CODE, O_NO_CODE},
    {"b1", 1, 0, 0, 0, 0, 0, O_INTEGER, 1, O_NO_CODE, O_NO_CODE},
    {"mxi8", 8, 1, 0, 6, 0, 0, O_INTEGER, 127, O_NO_CODE, O_NO_CODE},
    {"i32", 32, 1, 0, 0, 0, 0, O_INTEGER, 0x7fffffff, O_NO_CODE, O_NO_CODE},
};

const oracle_format *oracle_format_named(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

static uint64_t ones(int n) {
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static void integer_value(const oracle_format *f, uint64_t code, mpfr_t x) {
    int64_t n = (int64_t)(code & ones(f->bits));
    if (f->sign && n >= INT64_C(1) << (f->bits - 1)) n -= INT64_C(1) << f->bits;
    mpfr_set_sj_2exp(x, n, -f->man, MPFR_RNDN);
}

void oracle_value(const oracle_format *f, uint64_t code, mpfr_t x) {
    if (f->kind == O_INTEGER) {
        integer_value(f, code, x);
        return;
    }
    const bool negative = f->sign && (code >> (f->bits - 1) & 1);
    const uint64_t magnitude = (code & ones(f->pad + f->exp + f->man)) >> f->pad;
    const uint64_t man = magnitude % (UINT64_C(1) << f->man), exp = magnitude / (UINT64_C(1) << f->man);
    const uint64_t top = ones(f->exp);
    if ((f->kind == O_IEEE && exp == top && man) || (f->kind == O_TOP_NAN && exp == top && man == ones(f->man)) ||
        (f->kind == O_FNUZ && negative && magnitude == 0) || (f->kind == O_POWERS && exp == top)) {
        mpfr_set_nan(x);
        return;
    }
    if (f->kind == O_IEEE && exp == top)
        mpfr_set_inf(x, 1);
    else if (f->kind == O_POWERS)
        mpfr_set_ui_2exp(x, 1, (long)exp - f->bias, MPFR_RNDN);
    else if (exp == 0)
        mpfr_set_uj_2exp(x, man, 1 - f->bias - f->man, MPFR_RNDN);
    else
        mpfr_set_uj_2exp(x, man + (UINT64_C(1) << f->man), (long)exp - f->bias - f->man, MPFR_RNDN);
    mpfr_setsign(x, x, negative, MPFR_RNDN);
}

/* ---- one rounding ---------------------------------------------------------------------------------------------------- */

/* The exponent of the last place that f has for a number of this size. */
static long last_place(const oracle_format *f, mpfr_srcptr x) {
    const long least = f->kind == O_INTEGER ? -f->man : f->kind == O_POWERS ? -f->bias : 1 - f->bias - f->man;
    const long own = mpfr_get_exp(x) - 1 - f->man;
    return f->kind == O_INTEGER || own < least ? least : own;
}

oracle_place oracle_place_of(const oracle_format *f, mpfr_srcptr x) {
    oracle_place p = {.is = mpfr_nan_p(x) ? O_IS_NAN : mpfr_inf_p(x) ? O_IS_INF : mpfr_zero_p(x) ? O_IS_ZERO : O_IS_FINITE};
    p.negative = p.is != O_IS_NAN && mpfr_signbit(x);
    if (p.is != O_IS_FINITE) return p;
    mpfr_t whole, rest;
    mpfr_inits2(mpfr_get_prec(x) + 64, whole, rest, (mpfr_ptr)NULL);
    p.q = last_place(f, x);
    mpfr_abs(rest, x, MPFR_RNDN);
    mpfr_mul_2si(rest, rest, -p.q, MPFR_RNDN);
    mpfr_floor(whole, rest);
    mpfr_sub(rest, rest, whole, MPFR_RNDN); /* exact: bits of x */
    p.far = mpfr_get_exp(whole) > 62 && !mpfr_zero_p(whole);
    if (!p.far) p.n = mpfr_get_uj(whole, MPFR_RNDN);
    const int to_half = mpfr_cmp_ui_2exp(rest, 1, -1);
    p.side = mpfr_zero_p(rest) ? 0 : to_half < 0 ? 1 : to_half == 0 ? 2 : 3;
    mpfr_mul_2ui(rest, rest, 32, MPFR_RNDN);
    mpfr_floor(rest, rest);
    p.draw32 = mpfr_get_uj(rest, MPFR_RNDN);
    if (p.far) {
        mpfr_set_ui_2exp(rest, 1, 64, MPFR_RNDN);
        mpfr_fmod(whole, whole, rest, MPFR_RNDN);
        p.n = mpfr_get_uj(whole, MPFR_RNDN);
    }
    mpfr_clears(whole, rest, (mpfr_ptr)NULL);
    return p;
}

static bool goes_up(const oracle_place *p, const oracle_rule *rule) {
    const bool n_is_odd = p->n % 2 == 1, inexact = p->side != 0;
    switch (rule->mode) {
    case O_RNE: return p->side == 3 || (p->side == 2 && n_is_odd);
    case O_RNO: return p->side == 3 || (p->side == 2 && !n_is_odd);
    case O_RNA: return p->side >= 2;
    case O_RNZ: return p->side >= 3;
    case O_RU: return inexact && !p->negative;
    case O_RD: return inexact && p->negative;
    case O_RAZ: return inexact;
    case O_ODD: return inexact && !n_is_odd;
    case O_SR: return inexact && (p->draw32 >> (32 - rule->n)) + rule->r >= UINT64_C(1) << rule->n;
    case O_RZ: break;
    }
    return false;
}

static uint64_t with_sign(const oracle_format *f, bool negative, uint64_t magnitude) {
    if (!negative || !f->sign) return magnitude;
    if (f->kind == O_INTEGER) return (ones(f->bits) + 1 - magnitude) & ones(f->bits);
    if (f->kind == O_FNUZ && magnitude == 0) return 0;
    return magnitude + (UINT64_C(1) << (f->bits - 1));
}

static uint64_t nan_code(const oracle_format *f) {
    return f->nan != O_NO_CODE ? (uint64_t)f->nan : f->kind == O_INTEGER ? 0 : (uint64_t)f->max;
}

static uint64_t inf_code(const oracle_format *f, bool negative) {
    if (f->inf != O_NO_CODE) return with_sign(f, negative, (uint64_t)f->inf);
    return f->nan != O_NO_CODE ? (uint64_t)f->nan : with_sign(f, negative, (uint64_t)f->max);
}

static uint64_t over(const oracle_format *f, bool negative, const oracle_rule *rule) {
    const oracle_mode m = rule->mode;
    const bool to_inf = m != O_RZ && m != O_ODD && !(m == O_RU && negative) && !(m == O_RD && !negative);
    switch (rule->over) {
    case O_OVER_SAT:
    case O_OVER_SAT_KEEP_INF: return with_sign(f, negative, (uint64_t)f->max);
    case O_OVER_NAN: return nan_code(f);
    case O_OVER_INF: return inf_code(f, negative);
    case O_OVER_IEEE:
    case O_OVER_WRAP: break;
    }
    return to_inf ? inf_code(f, negative) : with_sign(f, negative, (uint64_t)f->max);
}

static uint64_t integer_code(const oracle_format *f, const oracle_place *p, const oracle_rule *rule) {
    const uint64_t n = p->n + goes_up(p, rule);
    const uint64_t most = p->negative ? (f->sign ? (uint64_t)f->max + 1 : 0) : (uint64_t)f->max;
    if (rule->over == O_OVER_WRAP) return (p->negative ? 0 - n : n) & ones(f->bits);
    return with_sign(f, p->negative, !p->far && n <= most ? n : most);
}

/* Code of n * 2^q with n < 2^(man + 1), or n = 2^(man + 1) after a carry; UINT64_MAX if the format's exponent ends before. */
static uint64_t magnitude_code(const oracle_format *f, uint64_t n, long q) {
    const uint64_t hidden = UINT64_C(1) << f->man;
    if (f->kind == O_POWERS && n == 0) return 0;
    if (f->kind != O_POWERS && n < hidden) return n << f->pad;
    while (n >= 2 * hidden) n /= 2, q++;
    const long field = q + f->man + f->bias;
    if (field > (long)ones(f->exp)) return UINT64_MAX;
    return ((uint64_t)field * hidden + (n - hidden)) << f->pad;
}

uint64_t oracle_code(const oracle_format *f, const oracle_place *p, const oracle_rule *rule) {
    if (p->is == O_IS_NAN) return nan_code(f);
    if (p->negative && !f->sign && f->kind != O_INTEGER) return 0;
    if (p->is == O_IS_ZERO) return f->kind == O_INTEGER ? 0 : with_sign(f, p->negative, 0);
    if (f->kind == O_INTEGER && p->is == O_IS_INF)
        return with_sign(f, p->negative, (uint64_t)(p->negative ? f->max + 1 : f->max)) * (f->sign || !p->negative);
    if (f->kind == O_INTEGER) return integer_code(f, p, rule);
    if (p->is == O_IS_INF) return rule->over == O_OVER_SAT ? with_sign(f, p->negative, (uint64_t)f->max) : inf_code(f, p->negative);
    const uint64_t code = magnitude_code(f, p->n + goes_up(p, rule), p->q);
    if (code > (uint64_t)f->max) return over(f, p->negative, rule);
    const bool subnormal = f->kind != O_POWERS && code != 0 && code >> f->pad < UINT64_C(1) << f->man;
    if (subnormal && rule->flush != O_KEEP) return with_sign(f, p->negative && rule->flush == O_FLUSH_SIGNED, 0);
    return with_sign(f, p->negative, code);
}

uint64_t oracle_encode(const oracle_format *f, mpfr_srcptr x, const oracle_rule *rule) {
    const oracle_place p = oracle_place_of(f, x);
    return oracle_code(f, &p, rule);
}
