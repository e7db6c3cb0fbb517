/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "oracle/format_mpfr.h"

#include <math.h>
#include <string.h>

/* source: ieee754-2019, ocp-ofp8, ocp-mx, amd-cdna3-isa, ml-dtypes; typed by hand */
static const oracle_format rows[] = {
    {__LINE__, "f16", 16, 1, 10, -14, 'i', 65504, 0x1p-14, 0x1p-24, 0x7c00, 0x7e00},
    {__LINE__, "bf16", 16, 1, 7, -126, 'i', 0x1.fep127, 0x1p-126, 0x1p-133, 0x7f80, 0x7fc0},
    {__LINE__, "e4m3", 8, 1, 3, -6, 't', 448, 0x1p-6, 0x1p-9, -1, 0x7f},
    {__LINE__, "e5m2", 8, 1, 2, -14, 'i', 57344, 0x1p-14, 0x1p-16, 0x7c, 0x7e},
    {__LINE__, "e4m3_ieee", 8, 1, 3, -6, 'i', 240, 0x1p-6, 0x1p-9, 0x78, 0x7c},
    {__LINE__, "e3m4", 8, 1, 4, -2, 'i', 15.5, 0x1p-2, 0x1p-6, 0x70, 0x78},
    {__LINE__, "e4m3fnuz", 8, 1, 3, -7, 'z', 240, 0x1p-7, 0x1p-10, -1, 0x80},
    {__LINE__, "e5m2fnuz", 8, 1, 2, -15, 'z', 57344, 0x1p-15, 0x1p-17, -1, 0x80},
    {__LINE__, "e4m3b11fnuz", 8, 1, 3, -10, 'z', 30, 0x1p-10, 0x1p-13, -1, 0x80},
    {__LINE__, "e8m0", 8, 0, 0, -127, 'p', 0x1p127, 0x1p-127, 0x1p-127, -1, 0xff},
    {__LINE__, "ue4m3", 8, 0, 3, -6, 't', 448, 0x1p-6, 0x1p-9, -1, 0x7f},
    {__LINE__, "e3m2", 6, 1, 2, -2, 'n', 28, 0x1p-2, 0x1p-4, -1, -1},
    {__LINE__, "e2m3", 6, 1, 3, 0, 'n', 7.5, 1, 0x1p-3, -1, -1},
    {__LINE__, "e2m1", 4, 1, 1, 0, 'n', 6, 1, 0.5, -1, -1},
};

const oracle_format *oracle_format_row(int i) {
    static const oracle_format end = {.name = NULL};
    return i < (int)(sizeof rows / sizeof rows[0]) ? &rows[i] : &end;
}

/* Build the value bit by bit: the significand counts in steps of the least subnormal times a power of two. */
double oracle_decode(const oracle_format *f, unsigned code) {
    const int exp_bits = f->has_sign ? f->bits - 1 - f->man_bits : f->kind == 'p' ? 8 : 4;
    const unsigned magnitude = code & ((1u << (exp_bits + f->man_bits)) - 1), man = magnitude & ((1u << f->man_bits) - 1);
    const unsigned exp = magnitude >> f->man_bits, top = (1u << exp_bits) - 1;
    const double sign = f->has_sign && code >> (f->bits - 1) & 1 ? -1 : 1;
    if (f->kind == 'p') return code == 255 ? NAN : pow(2, (double)code - 127);
    if (f->kind == 'i' && exp == top) return man ? NAN : sign * INFINITY;
    if (f->kind == 't' && exp == top && man == (1u << f->man_bits) - 1) return NAN;
    if (f->kind == 'z' && sign < 0 && magnitude == 0) return NAN;
    const double steps = exp ? (double)((1u << f->man_bits) + man) * pow(2, (double)exp - 1) : (double)man;
    return sign * steps * f->min_subnormal;
}

/* |x| / 2^q to an integer, by the mode; negative says x's sign. */
static void round_integer(mpfr_t n, const char *mode, int negative) {
    mpfr_t floor, rest;
    mpfr_inits2(mpfr_get_prec(n), floor, rest, (mpfr_ptr)0);
    mpfr_rint(floor, n, MPFR_RNDZ);
    mpfr_sub(rest, n, floor, MPFR_RNDN);
    const int odd = !mpfr_zero_p(floor) && mpfr_get_exp(floor) < 80 && fmod(mpfr_get_d(floor, MPFR_RNDZ), 2) != 0;
    const int half = mpfr_cmp_d(rest, 0.5), inexact = !mpfr_zero_p(rest);
    int up = 0;
    if (!strcmp(mode, "rne"))
        up = half > 0 || (half == 0 && odd);
    else if (!strcmp(mode, "rna"))
        up = half >= 0;
    else if (!strcmp(mode, "rnz"))
        up = half > 0;
    else if (!strcmp(mode, "rno"))
        up = half > 0 || (half == 0 && !odd);
    else if (!strcmp(mode, "ru"))
        up = inexact && !negative;
    else if (!strcmp(mode, "rd"))
        up = inexact && negative;
    else if (!strcmp(mode, "raz"))
        up = inexact;
    else if (!strcmp(mode, "odd"))
        up = inexact && !odd;
    mpfr_add_si(n, floor, up, MPFR_RNDN);
    mpfr_clears(floor, rest, (mpfr_ptr)0);
}

double oracle_round(const oracle_format *f, mpfr_t x, const char *mode) {
    if (mpfr_nan_p(x) || mpfr_inf_p(x) || mpfr_zero_p(x)) return mpfr_get_d(x, MPFR_RNDN);
    const int negative = mpfr_signbit(x) != 0;
    mpfr_t n;
    mpfr_init2(n, mpfr_get_prec(x));
    mpfr_abs(n, x, MPFR_RNDN);
    long e = (long)mpfr_get_exp(x) - 1;
    if (e < f->emin) e = f->emin;
    mpfr_mul_2si(n, n, f->man_bits - e, MPFR_RNDN);
    round_integer(n, mode, negative);
    mpfr_mul_2si(n, n, e - f->man_bits, MPFR_RNDN);
    const int over = mpfr_cmp_d(n, f->max) > 0;
    double r = over ? INFINITY : mpfr_get_d(n, MPFR_RNDN);
    mpfr_clear(n);
    const int to_max =
        !strcmp(mode, "rz") || !strcmp(mode, "odd") || (!strcmp(mode, "ru") && negative) || (!strcmp(mode, "rd") && !negative);
    if (over && to_max) r = f->max;
    return negative ? -r : r;
}
