/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "oracle/steps_mpfr.h"

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <string.h>

enum { WIDE = 1400, WIDE64 = 4600 }; /* bits: every sum here is exact, of f32, and of a product of f64 and an f64 */

typedef enum how { NEAREST, NEAREST_FTZ, ODD_FTZ, TOWARD_ZERO } how;

static double value_of(uint32_t code) {
    float x;
    memcpy(&x, &code, sizeof x);
    return (double)x;
}

static uint32_t code_of(float x) {
    uint32_t code;
    memcpy(&code, &x, sizeof code);
    return code;
}

/* One rounding of x to p bits whose last place is at least 2^least; then range and flush of the format with exponents emin … emax. */
static void round_in_place(mpfr_t x, int p, long least, int emin, int emax, how h) {
    if (!mpfr_number_p(x) || mpfr_zero_p(x)) return;
    const bool flushes = h == NEAREST_FTZ || h == ODD_FTZ;
    const int sign = mpfr_signbit(x);
    long unit = mpfr_get_exp(x) - p;
    if (!flushes && unit < least) unit = least;
    mpfr_t before;
    mpfr_init2(before, mpfr_get_prec(x));
    mpfr_mul_2si(x, x, -unit, MPFR_RNDN);
    mpfr_set(before, x, MPFR_RNDN);
    mpfr_rint(x, x, h == NEAREST || h == NEAREST_FTZ ? MPFR_RNDN : MPFR_RNDZ);
    if (h == ODD_FTZ && mpfr_cmp(before, x) != 0) {
        mpfr_div_2ui(before, x, 1, MPFR_RNDN); /* even: halves are whole */
        if (mpfr_integer_p(before)) sign ? mpfr_sub_ui(x, x, 1, MPFR_RNDN) : mpfr_add_ui(x, x, 1, MPFR_RNDN);
    }
    mpfr_mul_2si(x, x, unit, MPFR_RNDN);
    mpfr_clear(before);
    if (mpfr_zero_p(x)) mpfr_set_zero(x, sign ? -1 : 1);
    if (!mpfr_zero_p(x) && mpfr_get_exp(x) > emax + 1) mpfr_set_inf(x, sign ? -1 : 1);
    if (flushes && mpfr_number_p(x) && !mpfr_zero_p(x) && mpfr_get_exp(x) - 1 < emin) mpfr_set_zero(x, sign ? -1 : 1);
}

static void round32(mpfr_t x, how h) {
    round_in_place(x, 24, -149, -126, 127, h);
}

static double flushed(double x, int emin) {
    return x != 0 && fabs(x) < ldexp(1, emin) ? copysign(0, x) : x;
}

/* x = a * b + c, exact (or NaN, Inf). */
static void fma_exact(mpfr_t x, double a, double b, double c) {
    mpfr_t p, q;
    mpfr_init2(p, mpfr_get_prec(x));
    mpfr_init2(q, 64);
    mpfr_set_d(p, a, MPFR_RNDN);
    mpfr_set_d(q, b, MPFR_RNDN);
    mpfr_mul(p, p, q, MPFR_RNDN);
    mpfr_set_d(q, c, MPFR_RNDN);
    mpfr_add(x, p, q, MPFR_RNDN);
    mpfr_clear(p);
    mpfr_clear(q);
}

static double fma32(double a, double b, double c, how h) {
    mpfr_t x;
    mpfr_init2(x, WIDE);
    fma_exact(x, a, b, c);
    round32(x, h);
    const double r = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return r;
}

static double add32(double a, double b, how h) {
    return fma32(a, 1, b, h);
}

uint32_t oracle_fma_chain32(const double *a, const double *b, int n, uint32_t c) {
    double acc = value_of(c);
    for (int i = 0; i < n; i++) acc = fma32(a[i], b[i], acc, NEAREST);
    return code_of((float)acc);
}

uint64_t oracle_fma_chain64(const double *a, const double *b, int n, uint64_t c) {
    double acc;
    memcpy(&acc, &c, sizeof acc);
    mpfr_t x;
    mpfr_init2(x, WIDE64);
    for (int i = 0; i < n; i++) {
        fma_exact(x, a[i], b[i], acc);
        round_in_place(x, 53, -1074, -1022, 1023, NEAREST);
        acc = mpfr_get_d(x, MPFR_RNDN);
    }
    mpfr_clear(x);
    memcpy(&c, &acc, sizeof c);
    return c;
}

/* ---- x86 ------------------------------------------------------------------------------------------------------------- */

static double fma_x86(double a, double b, double c) {
    return fma32(flushed(a, -126), flushed(b, -126), flushed(c, -126), NEAREST_FTZ);
}

uint32_t oracle_odd_first(const double *a, const double *b, int n, uint32_t c) {
    double acc = value_of(c);
    for (int i = 0; i < n; i += 2) acc = fma_x86(a[i], b[i], fma_x86(a[i + 1], b[i + 1], acc));
    return code_of((float)acc);
}

uint32_t oracle_two_chains(const double *a, const double *b, int n, uint32_t c) {
    double even = 0, odd = 0;
    for (int i = 0; i < n; i += 2) {
        even = fma_x86(a[i], b[i], even);
        odd = fma_x86(a[i + 1], b[i + 1], odd);
    }
    return code_of((float)fma_x86(1, value_of(c), fma_x86(1, even, odd)));
}

/* ---- Arm ------------------------------------------------------------------------------------------------------------- */

static double product_odd(double a, double b) {
    return fma32(flushed(a, -126), flushed(b, -126), signbit(a) != signbit(b) ? -0.0 : 0.0, ODD_FTZ);
}

uint32_t oracle_pair_odd(const double *a, const double *b, int n, uint32_t c) {
    double acc = value_of(c);
    for (int i = 0; i < n; i += 2) {
        const double pair = add32(product_odd(a[i], b[i]), product_odd(a[i + 1], b[i + 1]), ODD_FTZ);
        acc = add32(flushed(acc, -126), pair, ODD_FTZ);
    }
    return code_of((float)acc);
}

uint32_t oracle_pair_fused(const double *a, const double *b, int n, uint32_t c) {
    double acc = value_of(c);
    mpfr_t p, q;
    mpfr_init2(p, WIDE);
    mpfr_init2(q, WIDE);
    for (int i = 0; i < n; i += 2) {
        fma_exact(p, a[i], b[i], signbit(a[i]) != signbit(b[i]) ? -0.0 : 0.0);
        fma_exact(q, a[i + 1], b[i + 1], signbit(a[i + 1]) != signbit(b[i + 1]) ? -0.0 : 0.0);
        mpfr_add(p, p, q, MPFR_RNDN);
        round32(p, NEAREST);
        acc = add32(acc, mpfr_get_d(p, MPFR_RNDN), NEAREST);
    }
    mpfr_clear(p);
    mpfr_clear(q);
    return code_of((float)acc);
}

/* ---- CDNA ------------------------------------------------------------------------------------------------------------ */

uint32_t oracle_exact(const double *a, const double *b, int n, int terms, uint32_t c) {
    double acc = value_of(c);
    mpfr_t sum, p;
    mpfr_init2(sum, WIDE);
    mpfr_init2(p, WIDE);
    for (int first = 0; first < n; first += terms) {
        mpfr_set_zero(sum, 1);
        mpfr_add_d(sum, sum, acc, MPFR_RNDN);
        for (int i = first; i < first + terms; i++) {
            fma_exact(p, a[i], b[i], 0);
            mpfr_add(sum, sum, p, MPFR_RNDN);
        }
        round32(sum, NEAREST);
        acc = mpfr_get_d(sum, MPFR_RNDN);
    }
    mpfr_clear(sum);
    mpfr_clear(p);
    return code_of((float)acc);
}

/* Products of two are kept in f32 here, so their sign of zero matters; inputs flush to +0. */
static double flushed_in(double x, int emin) {
    return fabs(x) < ldexp(1, emin) && x != 0 ? 0 : x;
}

uint32_t oracle_pairwise(const double *a, const double *b, int n, int terms, int a_emin, int b_emin, uint32_t c) {
    double acc = value_of(c);
    for (int first = 0; first < n; first += terms) {
        double p[4];
        for (int i = 0; i < terms; i++) {
            const double x = flushed_in(a[first + i], a_emin), y = flushed_in(b[first + i], b_emin);
            p[i] = fma32(x, y, signbit(x) != signbit(y) ? -0.0 : 0.0, NEAREST_FTZ);
        }
        double sum = add32(p[0], p[1], NEAREST_FTZ);
        if (terms == 4) sum = add32(sum, add32(p[2], p[3], NEAREST_FTZ), NEAREST_FTZ);
        acc = add32(flushed_in(acc, -126), sum, NEAREST_FTZ);
    }
    return code_of((float)acc);
}

static int exponent(double x, int emin) {
    const int e = ilogb(x);
    return e < emin ? emin : e;
}

/* x in whole units of 2^unit, in the given direction. */
static void cut(mpfr_t x, long unit, mpfr_rnd_t direction) {
    mpfr_mul_2si(x, x, -unit, MPFR_RNDN);
    mpfr_rint(x, x, direction);
    mpfr_mul_2si(x, x, unit, MPFR_RNDN);
}

enum { NOTHING = -100000 };

/* Every stride-th product, cut toward zero 24 bits below the largest; returns that exponent. */
static int sum_cut(mpfr_t sum, const double *a, const double *b, int terms, int first, int stride, int a_emin, int b_emin) {
    int top = NOTHING;
    mpfr_t p;
    mpfr_init2(p, WIDE);
    mpfr_set_zero(sum, 1);
    for (int i = first; i < terms; i += stride)
        if (a[i] != 0 && b[i] != 0 && exponent(a[i], a_emin) + exponent(b[i], b_emin) > top)
            top = exponent(a[i], a_emin) + exponent(b[i], b_emin);
    for (int i = first; i < terms && top != NOTHING; i += stride) {
        fma_exact(p, a[i], b[i], 0);
        cut(p, top - 24, MPFR_RNDZ);
        mpfr_add(sum, sum, p, MPFR_RNDN);
    }
    mpfr_clear(p);
    return top;
}

static double late_c_block(const double *a, const double *b, int terms, int a_emin, int b_emin, int split, double c) {
    mpfr_t sum, other, late;
    mpfr_init2(sum, WIDE);
    mpfr_init2(other, WIDE);
    mpfr_init2(late, WIDE);
    int e = sum_cut(sum, a, b, terms, 0, split ? 2 : 1, a_emin, b_emin);
    if (split) {
        const int e_odd = sum_cut(other, a, b, terms, 1, 2, a_emin, b_emin);
        if (e_odd > e) e = e_odd;
        if (e != NOTHING) {
            cut(sum, e - 24, MPFR_RNDD);
            cut(other, e - 24, MPFR_RNDD);
        }
        mpfr_add(sum, sum, other, MPFR_RNDN);
    }
    const int e_c = c == 0 ? -126 : exponent(c, -126), top = e > e_c ? e : e_c;
    cut(sum, top - 31, MPFR_RNDD);
    mpfr_set_d(late, split && e_c < top - 25 ? 0 : c, MPFR_RNDN);
    cut(late, top - 24, MPFR_RNDD);
    mpfr_add(sum, sum, late, MPFR_RNDN);
    if (mpfr_zero_p(sum)) mpfr_set_zero(sum, 1);
    round32(sum, NEAREST);
    const double d = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    mpfr_clear(other);
    mpfr_clear(late);
    return d;
}

uint32_t oracle_late_c(const double *a, const double *b, int n, int terms, int a_emin, int b_emin, int split, uint32_t c) {
    double acc = value_of(c);
    for (int first = 0; first < n; first += terms) acc = late_c_block(a + first, b + first, terms, a_emin, b_emin, split, acc);
    return code_of((float)acc);
}

/* ---- block-scaled ---------------------------------------------------------------------------------------------------- */

/* Term i of the block as a value; its exponent, or NOTHING if it does not count. */
static int scaled_term(const oracle_scaled *u, const double *a, const double *b, const double *x, const double *y, int i, mpfr_t term) {
    const int length = u->group ? u->group : 1;
    const double sx = x[i * length / u->block], sy = y[i * length / u->block];
    mpfr_t p;
    mpfr_init2(p, WIDE);
    mpfr_set_zero(term, 1);
    bool any = false;
    for (int k = i * length; k < (i + 1) * length; k++) {
        fma_exact(p, a[k], b[k], 0);
        mpfr_add(term, term, p, MPFR_RNDN);
        any = any || (a[k] != 0 && b[k] != 0);
    }
    mpfr_mul_d(term, term, sx, MPFR_RNDN);
    mpfr_mul_d(term, term, sy, MPFR_RNDN);
    mpfr_clear(p);
    if (!any || sx == 0 || sy == 0) return NOTHING;
    const int scales = exponent(sx, u->scale_emin) + exponent(sy, u->scale_emin);
    return u->group ? scales : scales + exponent(a[i], u->a_emin) + exponent(b[i], u->b_emin);
}

uint32_t oracle_block_scaled(const oracle_scaled *u, const double *a, const double *b, const double *x, const double *y, uint32_t c) {
    const int terms = u->group ? u->n / u->group : u->n;
    const double vc = value_of(c);
    int top = vc != 0 && exponent(vc, -126) > u->floor_exp ? exponent(vc, -126) : u->floor_exp;
    mpfr_t sum, term;
    mpfr_init2(sum, WIDE);
    mpfr_init2(term, WIDE);
    for (int i = 0; i < terms; i++) {
        const int e = scaled_term(u, a, b, x, y, i, term);
        if (e > top) top = e;
    }
    mpfr_set_d(sum, vc, MPFR_RNDN);
    cut(sum, (long)top - u->frac_bits, MPFR_RNDZ);
    for (int i = 0; i < terms; i++) {
        scaled_term(u, a, b, x, y, i, term);
        cut(term, (long)top - u->frac_bits, MPFR_RNDZ);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    if (mpfr_zero_p(sum)) mpfr_set_zero(sum, 1);
    round32(sum, TOWARD_ZERO);
    const float d = mpfr_get_flt(sum, MPFR_RNDN);
    mpfr_clear(sum);
    mpfr_clear(term);
    return code_of(d);
}
