/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "oracle/unit_mpfr.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { WIDE = 1200 }; /* bits: every sum of aligned terms is exact */

static double value_of(int f16, uint32_t code) {
    if (!f16) {
        float x;
        memcpy(&x, &code, sizeof x);
        return x;
    }
    const int e = (int)(code >> 10 & 31), man = (int)(code & 1023);
    const double m = e == 31 ? (man ? NAN : INFINITY) : e ? ldexp(1024 + man, e - 25) : ldexp(man, -24);
    return code & 0x8000 ? -m : m;
}

/* Round to `bits` significand bits with the output's least exponent, and read the bits off. */
static uint32_t code_of(int f16, int bits, mpfr_t x, mpfr_rnd_t round) {
    const int emin = f16 ? -14 : -126, frac = f16 ? 10 : 23;
    const uint32_t sign = mpfr_signbit(x) ? (f16 ? 0x8000u : 0x80000000u) : 0, inf = f16 ? 0x7c00u : 0x7f800000u;
    if (mpfr_zero_p(x)) return sign;
    mpfr_t q;
    mpfr_init2(q, WIDE);
    long e = mpfr_get_exp(x) - 1;
    if (e < emin) e = emin;
    mpfr_abs(q, x, MPFR_RNDN);
    mpfr_mul_2si(q, q, bits - 1 - e, MPFR_RNDN); /* in units of the last place kept */
    mpfr_rint(q, q, round);
    mpfr_mul_2si(q, q, e - (bits - 1), MPFR_RNDN);
    const double r = mpfr_get_d(q, MPFR_RNDN); /* exact: few bits */
    mpfr_clear(q);
    if (r >= ldexp(1, f16 ? 16 : 128)) return sign | inf;
    if (r == 0) return sign;
    int er = ilogb(r);
    if (er < emin) return sign | (uint32_t)ldexp(r, frac - emin);
    return sign | (uint32_t)(er - emin + 1) << frac | ((uint32_t)ldexp(r, frac - er) - (1u << frac));
}

/* |x| cut toward zero at 2^unit, added to sum. */
static void add_cut(mpfr_t sum, mpfr_t x, long unit) {
    mpfr_mul_2si(x, x, -unit, MPFR_RNDN);
    mpfr_rint(x, x, MPFR_RNDZ);
    mpfr_mul_2si(x, x, unit, MPFR_RNDN);
    mpfr_add(sum, sum, x, MPFR_RNDN);
}

static int exponent(double x, int emin) {
    const int e = ilogb(x);
    return e < emin ? emin : e;
}

uint32_t oracle_block(const oracle_unit *u, const double *a, const double *b, uint32_t c) {
    const double vc = value_of(u->f16, c);
    int top = u->floor_exp;
    if (vc != 0 && exponent(vc, u->f16 ? -14 : -126) > top) top = exponent(vc, u->f16 ? -14 : -126);
    for (int i = 0; i < u->terms; i++) {
        if (a[i] == 0 || b[i] == 0) continue;
        const int e = exponent(a[i], u->a_emin) + exponent(b[i], u->b_emin);
        if (e > top) top = e;
    }
    if (top == -100000) return 0; /* nothing but zeros */
    mpfr_t sum, x;
    mpfr_init2(sum, WIDE);
    mpfr_init2(x, WIDE);
    mpfr_set_zero(sum, 1);
    for (int i = 0; i < u->terms; i++) {
        mpfr_set_d(x, a[i], MPFR_RNDN);
        mpfr_mul_d(x, x, b[i], MPFR_RNDN);
        add_cut(sum, x, (long)top - u->frac_bits);
    }
    mpfr_set_d(x, vc, MPFR_RNDN);
    add_cut(sum, x, (long)top - u->frac_bits);
    const uint32_t d = mpfr_zero_p(sum) ? 0 : code_of(u->f16, u->out_bits, sum, u->f16 ? MPFR_RNDN : MPFR_RNDZ);
    mpfr_clear(sum);
    mpfr_clear(x);
    return d;
}

uint32_t oracle_add(int f16, uint32_t x, uint32_t y) {
    const double s = value_of(f16, x) + value_of(f16, y); /* f16 sums are exact in f64; f32 sums are not always */
    if (!f16) {
        float fx, fy, r;
        memcpy(&fx, &x, sizeof fx);
        memcpy(&fy, &y, sizeof fy);
        r = fx + fy; /* the CPU's own IEEE add */
        memcpy(&x, &r, sizeof x);
        return x;
    }
    if (s == 0) return signbit(s) ? 0x8000u : 0;
    if (isinf(s)) return s < 0 ? 0xfc00u : 0x7c00u;
    mpfr_t v;
    mpfr_init2(v, 53);
    mpfr_set_d(v, s, MPFR_RNDN);
    const uint32_t d = code_of(1, 11, v, MPFR_RNDN);
    mpfr_clear(v);
    return d;
}
