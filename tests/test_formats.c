/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Formats: every code of every format up to 16 bits, every rounding at every midpoint, against values typed by hand and MPFR. */
#include "test.h"

#include "lastbit/formats.h"

#include <math.h>
#include <stdlib.h>

static bool same_value(double a, double b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* ---- names, codes, values --------------------------------------------------------------------------------------------------- */

static void every_row_is_found_by_name_and_alias(void **state) {
    (void)state;
    for (int i = 0; i < LB_FORMAT_COUNT; i++) {
        const lb_format *f = lb_format_row((lb_format_id)i);
        assert_ptr_equal(lb_format_find(f->name), f);
        assert_int_equal(f->id, i);
    }
    static const struct {
        int line;
        const char *alias, *name;
    } rows[] = {{__LINE__, "fp16", "f16"}, {__LINE__, "e4m3fn", "e4m3"}, {__LINE__, "e8m0fnu", "e8m0"}, {__LINE__, "int8", "i8"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_STRING(rows[i].line, lb_format_find(rows[i].alias)->name, rows[i].name);
    const lb_format *f;
    lb_error err;
    assert_int_equal(lb_format_get("bf166", &f, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "bf16"));
    assert_null(lb_format_find(""));
    assert_null(lb_format_row(LB_FORMAT_COUNT));
}

static void ordinals_are_monotone_with_steps_of_one(void **state) {
    (void)state;
    for (int i = 0; i < LB_FORMAT_COUNT; i++) {
        const lb_format *f = lb_format_row((lb_format_id)i);
        if (f->bits > 16) continue;
        int64_t last = INT64_MIN;
        const uint64_t sign = f->sign_bits ? UINT64_C(1) << (f->bits - 1) : 0;
        for (uint64_t c = 0; c <= lb_max_code(f); c++) {
            const int64_t o = lb_ordinal(f, c);
            if (last != INT64_MIN) assert_int_equal(o, last + 1);
            if (c) assert_true(lb_to_double(f, c) > lb_to_double(f, c - 1));
            if (f->sign_bits && f->special != LB_SPECIAL_INT && !(f->special == LB_SPECIAL_FNUZ && c == 0))
                assert_int_equal(lb_ordinal(f, c | sign), -o);
            last = o;
        }
        uint64_t code;
        if (lb_inf_code(f, &code)) assert_int_equal(lb_ordinal(f, code), last + 1);
        if (lb_nan_code(f, &code)) assert_true(lb_ulp_distance(f, code, 0) == UINT64_MAX && lb_ulp_distance(f, 0, code) == UINT64_MAX);
    }
}

static void ulp_distance_is_a_count_of_steps_and_cannot_overflow(void **state) {
    (void)state;
    static const struct {
        int line;
        lb_format_id f;
        uint64_t a, b, want;
    } rows[] = {
        {__LINE__, LB_F32, 0xc02bf385, 0x402bf385, 2153244426}, /* source: VER-07, primitiv/primitiv#210 */
        {__LINE__, LB_F32, 0x00000000, 0x80000000, 0},          /* source: VER-08, mikedilger/float-cmp#33: both zeros are one point */
        {__LINE__, LB_F32, 0x3f800000, 0x3f7fffff, 1},          /* source: VER-10, tenstorrent/tt-metal#56729: representable steps */
        {__LINE__, LB_F64, 0xfff0000000000000, 0x7ff0000000000000, 0xffe0000000000000},
        {__LINE__, LB_F32, 0x7f7fffff, 0x7f800000, 1},
        {__LINE__, LB_I8, 0x80, 0x7f, 255},
        {__LINE__, LB_TF32, 0x3f800000, 0x3f803fff, 1}, /* low 13 bits carry nothing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_CODE(rows[i].line, lb_ulp_distance(lb_format_row(rows[i].f), rows[i].a, rows[i].b), rows[i].want);
}

/* ---- directed conversions ------------------------------------------------------------------------------------------------------ */

static void directed_conversions_round_once(void **state) {
    (void)state;
    static const struct {
        int line;
        lb_format_id f;
        double x;
        lb_rounding r;
        lb_overflow o;
        uint64_t want;
    } rows[] = {
        {__LINE__, LB_F16, 1 + 0x1p-11 + 0x1p-20, LB_RNE, LB_OVERFLOW_IEEE, 0x3c01}, /* source: PLT-01, ggml-org/llama.cpp#10764 */
        {__LINE__, LB_F16, 1 + 0x1p-11 + 0x1p-20, LB_RZ, LB_OVERFLOW_IEEE, 0x3c00},
        {__LINE__, LB_BF16, 1.001, LB_RNE, LB_OVERFLOW_IEEE, 0x3f80},                  /* source: PLT-08, openxla/xla#41605 */
        {__LINE__, LB_BF16, 1 + 0x1p-8 + 0x1p-40, LB_RNE, LB_OVERFLOW_IEEE, 0x3f81},   /* through f32 it would be a tie: 3f80 */
        {__LINE__, LB_TF32, 1 + 1.75 * 0x1p-10, LB_RNA, LB_OVERFLOW_IEEE, 0x3f804000}, /* source: TCE-01, triton-lang/triton#4574 */
        {__LINE__, LB_TF32, 1 + 1.75 * 0x1p-10, LB_RZ, LB_OVERFLOW_IEEE, 0x3f802000},
        {__LINE__, LB_E4M3, 464, LB_RNE, LB_OVERFLOW_IEEE, 0x7e}, /* the tie below the NaN code */
        {__LINE__, LB_E4M3, 465, LB_RNE, LB_OVERFLOW_IEEE, 0x7f}, /* no Inf: NaN */
        {__LINE__, LB_E4M3, -465, LB_RNE, LB_OVERFLOW_SATURATE, 0xfe},
        {__LINE__, LB_E4M3, INFINITY, LB_RNE, LB_OVERFLOW_SATURATE, 0x7e},
        {__LINE__, LB_E5M2, INFINITY, LB_RNE, LB_OVERFLOW_SATURATE, 0x7b},
        {__LINE__, LB_E5M2, INFINITY, LB_RNE, LB_OVERFLOW_SATURATE_PROPAGATE, 0x7c},
        {__LINE__, LB_E5M2, 1e9, LB_RNE, LB_OVERFLOW_SATURATE_PROPAGATE, 0x7b},
        {__LINE__, LB_E5M2, 1e9, LB_RNE, LB_OVERFLOW_NAN, 0x7e},
        {__LINE__, LB_F16, 1e9, LB_RZ, LB_OVERFLOW_INF, 0x7c00}, /* matrix units: Inf under any rounding */
        {__LINE__, LB_F16, 1e9, LB_RZ, LB_OVERFLOW_IEEE, 0x7bff},
        {__LINE__, LB_E2M1, 1e9, LB_RNE, LB_OVERFLOW_IEEE, 0x7}, /* neither Inf nor NaN */
        {__LINE__, LB_E2M1, NAN, LB_RNE, LB_OVERFLOW_IEEE, 0x7},
        {__LINE__, LB_E4M3FNUZ, -0x1p-30, LB_RNE, LB_OVERFLOW_IEEE, 0x00}, /* no -0: 80 is NaN */
        {__LINE__, LB_E4M3FNUZ, INFINITY, LB_RNE, LB_OVERFLOW_IEEE, 0x80},
        {__LINE__, LB_E8M0, 1.5, LB_RNE, LB_OVERFLOW_IEEE, 128}, /* one digit: a tie goes up, IEEE 754-2019 4.3.1 */
        {__LINE__, LB_E8M0, 0, LB_RNE, LB_OVERFLOW_IEEE, 0},
        {__LINE__, LB_E8M0, 3, LB_RU, LB_OVERFLOW_IEEE, 129},
        {__LINE__, LB_UE4M3, -1, LB_RNE, LB_OVERFLOW_IEEE, 0},
        {__LINE__, LB_U8, 50000, LB_RNE, LB_OVERFLOW_SATURATE, 255}, /* source: INT-01, onnx/onnx#7835 */
        {__LINE__, LB_U8, 50000, LB_RNE, LB_OVERFLOW_WRAP, 80},
        {__LINE__, LB_I8, -236, LB_RNE, LB_OVERFLOW_SATURATE, 0x80},
        {__LINE__, LB_I8, -236, LB_RNE, LB_OVERFLOW_WRAP, 20},
        {__LINE__, LB_I8, -129, LB_RNE, LB_OVERFLOW_SATURATE, 0x80}, /* source: INT-11, microsoft/onnxruntime#3442 */
        {__LINE__, LB_I8, -127, LB_RNE, LB_OVERFLOW_SATURATE, 0x81},
        {__LINE__, LB_I8, 0.5, LB_RNE, LB_OVERFLOW_SATURATE, 0}, /* source: INT-13, tenstorrent/tt-metal#56525 */
        {__LINE__, LB_I8, 1.5, LB_RNE, LB_OVERFLOW_SATURATE, 2},
        {__LINE__, LB_I8, 2.5, LB_RNE, LB_OVERFLOW_SATURATE, 2},
        {__LINE__, LB_I8, -2.5, LB_RNE, LB_OVERFLOW_SATURATE, 0xfe},
        {__LINE__, LB_I8, -2.5, LB_RNA, LB_OVERFLOW_SATURATE, 0xfd},
        {__LINE__, LB_I4, -100, LB_RNE, LB_OVERFLOW_SATURATE, 0x8},
        {__LINE__, LB_U4, -1, LB_RNE, LB_OVERFLOW_SATURATE, 0},
        {__LINE__, LB_B1, 0.75, LB_RNE, LB_OVERFLOW_SATURATE, 1},
        {__LINE__, LB_MXI8, 1.5, LB_RNE, LB_OVERFLOW_SATURATE, 96},
        {__LINE__, LB_I8, NAN, LB_RNE, LB_OVERFLOW_SATURATE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_encoding how = {.rounding = rows[i].r, .overflow = rows[i].o};
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_row(rows[i].f), lb_value_of(rows[i].x), &how, NULL), rows[i].want);
    }
}

/* A tie, and something further away than 128 bits reach. */
static void what_lies_beyond_128_bits_still_decides_a_tie(void **state) {
    (void)state;
    static const struct {
        int line;
        double a, b;
        lb_rounding r;
        uint64_t want;
    } sums[] = {
        {__LINE__, 1 + 0x1p-24, 0x1p-200, LB_RNE, 0x3f800001},
        {__LINE__, 1 + 0x1p-24, -0x1p-200, LB_RNE, 0x3f800000},
        {__LINE__, 1 + 0x1.8p-23, -0x1p-200, LB_RNE, 0x3f800001}, /* the tie itself would go to the even 3f800002 */
        {__LINE__, 1, -0x1p-200, LB_RZ, 0x3f7fffff},
        {__LINE__, -1, 0x1p-200, LB_RU, 0xbf7fffff},
        {__LINE__, 0x1p-200, 1, LB_RU, 0x3f800001},
    };
    const lb_format *f32 = lb_format_row(LB_F32);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        const lb_encoding how = {.rounding = sums[i].r};
        EXPECT_CODE(sums[i].line, lb_encode(f32, lb_value_add(lb_value_of(sums[i].a), lb_value_of(sums[i].b)), &how, NULL), sums[i].want);
    }
    /* (1 + 2^-126)(1 + 2^-24): 2^-126 is below the 128 bits that are kept */
    const lb_value wide = lb_value_add(lb_value_of(1), lb_value_of(0x1p-126));
    assert_false(wide.sticky);
    EXPECT_CODE(__LINE__, lb_encode(f32, lb_value_mul(wide, lb_value_of(1 + 0x1p-24)), NULL, NULL), 0x3f800001);
}

static void flags_and_flushes_say_what_happened(void **state) {
    (void)state;
    static const struct {
        int line;
        double x;
        lb_flush flush;
        uint64_t want;
        unsigned flags;
    } rows[] = {
        {__LINE__, 1.5, LB_FLUSH_NONE, 0x3e00, 0},
        {__LINE__, 1 + 0x1p-20, LB_FLUSH_NONE, 0x3c00, LB_INEXACT},
        {__LINE__, 0x1p-24, LB_FLUSH_NONE, 0x0001, 0},
        {__LINE__, 0x1p-26, LB_FLUSH_NONE, 0, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, -0x1p-26, LB_FLUSH_NONE, 0x8000, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, 1e9, LB_FLUSH_NONE, 0x7c00, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, -0x1p-20, LB_FLUSH_KEEP_SIGN, 0x8000, 0},
        {__LINE__, -0x1p-20, LB_FLUSH_TO_POSITIVE, 0, 0},
        {__LINE__, 0x1p-14, LB_FLUSH_KEEP_SIGN, 0x0400, 0},
        {__LINE__, 0x1p-14 - 0x1p-30, LB_FLUSH_KEEP_SIGN, 0x0400, LB_INEXACT}, /* rounds up to normal first */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_encoding how = {.flush = rows[i].flush};
        unsigned flags = 0;
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_row(LB_F16), lb_value_of(rows[i].x), &how, &flags), rows[i].want);
        EXPECT_CODE(rows[i].line, flags, rows[i].flags);
    }
}

static void stochastic_rounding_goes_up_for_exactly_the_stated_share_of_r(void **state) {
    (void)state;
    static const unsigned widths[] = {1, 4, 8, 16};
    for (size_t w = 0; w < 4; w++) {
        const unsigned n = widths[w];
        for (unsigned step = 0; step <= 64; step++) { /* 1 + step/64 of an e4m3 step */
            const double x = -(1 + step / 64.0 / 8);
            unsigned up = 0;
            for (uint32_t r = 0; r < 1u << n; r++) {
                const lb_encoding how = {.rounding = LB_SR, .random_bits = n, .random = r};
                up += lb_encode(lb_format_row(LB_E4M3), lb_value_of(x), &how, NULL) == 0xb9;
            }
            const unsigned want = step == 64 ? 1u << n : (unsigned)floor(step / 64.0 * (1u << n));
            assert_int_equal(up, want);
        }
    }
}

#if LB_HAVE_MPFR
#include "oracle/format_mpfr.h"

static void every_code_up_to_16_bits_has_the_oracles_value_and_comes_back(void **state) {
    (void)state;
    for (int i = 0; oracle_format_row(i)->name; i++) {
        const oracle_format *o = oracle_format_row(i);
        const lb_format *f = lb_format_find(o->name);
        uint64_t nan = 0, inf = 0;
        assert_int_equal(f->bits, o->bits);
        assert_true(lb_to_double(f, lb_max_code(f)) == o->max && lb_to_double(f, lb_min_code(f)) == o->min_subnormal);
        assert_int_equal(lb_nan_code(f, &nan) ? (int)nan : -1, o->nan_code);
        assert_int_equal(lb_inf_code(f, &inf) ? (int)inf : -1, o->inf_code);
        for (unsigned c = 0; c < 1u << o->bits; c++) {
            const double want = oracle_decode(o, c);
            if (!same_value(lb_to_double(f, c), want))
                fail_msg("row %d: %s code %x: got %a, want %a", o->line, o->name, c, lb_to_double(f, c), want);
            const lb_class k = lb_code_class(f, c);
            assert_int_equal(k, isnan(want) ? LB_NAN : isinf(want) ? LB_INF : want == 0 ? LB_ZERO : LB_FINITE);
            const uint64_t back = lb_encode(f, lb_decode(f, c), NULL, NULL);
            EXPECT_CODE(o->line, back, k == LB_NAN ? nan : o->has_sign ? c : c & (o->kind == 't' ? 0x7f : 0xff));
        }
    }
}

static const char *const modes[] = {"rne", "rna", "rnz", "rno", "rz", "ru", "rd", "raz", "odd"};

/* The oracle's value as a code of f: Inf becomes NaN, or the largest value, where f has none; unsigned formats have no negatives. */
static uint64_t expected_code(const lb_format *f, const oracle_format *o, double value) {
    if (isnan(value)) return o->nan_code >= 0 ? (uint64_t)o->nan_code : lb_max_code(f);
    if (signbit(value) && !o->has_sign) return 0;
    const uint64_t sign = signbit(value) ? UINT64_C(1) << (f->bits - 1) : 0;
    if (isinf(value))
        return o->inf_code >= 0 ? sign | (uint64_t)o->inf_code : o->nan_code >= 0 ? (uint64_t)o->nan_code : sign | lb_max_code(f);
    if (value == 0) return o->kind == 'z' || o->kind == 'p' ? 0 : sign;
    uint64_t low = 0, high = lb_max_code(f); /* the codes are in order of magnitude */
    while (low < high) {
        const uint64_t mid = (low + high) / 2;
        if (oracle_decode(o, (unsigned)mid) < fabs(value))
            low = mid + 1;
        else
            high = mid;
    }
    return sign | low;
}

static void every_rounding_is_right_at_every_midpoint_and_beside_it(void **state) {
    (void)state;
    mpfr_t x;
    mpfr_init2(x, 80);
    for (int i = 0; oracle_format_row(i)->name; i++) {
        const oracle_format *o = oracle_format_row(i);
        const lb_format *f = lb_format_find(o->name);
        for (uint64_t c = 0; c <= lb_max_code(f); c++) {
            const double v = oracle_decode(o, (unsigned)c), last = c ? oracle_decode(o, (unsigned)c - 1) : 0;
            const double next = c < lb_max_code(f) ? oracle_decode(o, (unsigned)c + 1) : v + (v - last);
            const double mid = (v + next) / 2, inputs[] = {v, nextafter(mid, 0), mid, nextafter(mid, INFINITY)};
            for (size_t k = 0; k < 4; k++) {
                for (int s = 0; s < 2; s++) {
                    const double in = s ? -inputs[k] : inputs[k];
                    mpfr_set_d(x, in, MPFR_RNDN);
                    for (int m = 0; m < 9; m++) {
                        const lb_encoding how = {.rounding = (lb_rounding)m};
                        const uint64_t got = lb_encode(f, lb_value_of(in), &how, NULL),
                                       want = expected_code(f, o, oracle_round(o, x, modes[m]));
                        if (got != want)
                            fail_msg("row %d: %s of %a, %s: got %llx, want %llx", o->line, o->name, in, modes[m], (unsigned long long)got,
                                     (unsigned long long)want);
                    }
                }
            }
        }
    }
    mpfr_clear(x);
}

static void sums_and_products_of_all_pairs_of_small_codes_are_mpfrs(void **state) {
    (void)state;
    mpfr_t x, y, z;
    mpfr_inits2(600, x, y, z, (mpfr_ptr)0);
    for (int i = 0; oracle_format_row(i)->name; i++) {
        const oracle_format *o = oracle_format_row(i);
        const lb_format *f = lb_format_find(o->name);
        if (o->bits > 8) continue;
        for (unsigned a = 0; a < 1u << o->bits; a++) {
            mpfr_set_d(x, oracle_decode(o, a), MPFR_RNDN);
            for (unsigned b = 0; b < 1u << o->bits; b++) {
                mpfr_set_d(y, oracle_decode(o, b), MPFR_RNDN);
                mpfr_add(z, x, y, MPFR_RNDN);
                const lb_value va = lb_decode(f, a), vb = lb_decode(f, b);
                uint64_t got = lb_encode(f, lb_value_add(va, vb), NULL, NULL), want = expected_code(f, o, oracle_round(o, z, "rne"));
                if (got != want)
                    fail_msg("%s: %x + %x: got %llx, MPFR says %llx", o->name, a, b, (unsigned long long)got, (unsigned long long)want);
                mpfr_mul(z, x, y, MPFR_RNDN);
                got = lb_encode(f, lb_value_mul(va, vb), NULL, NULL);
                want = expected_code(f, o, oracle_round(o, z, "rne"));
                if (got != want)
                    fail_msg("%s: %x * %x: got %llx, MPFR says %llx", o->name, a, b, (unsigned long long)got, (unsigned long long)want);
            }
        }
    }
    mpfr_clears(x, y, z, (mpfr_ptr)0);
}

/* Sums of two doubles some 64 binades apart are exact; their products have up to 240 bits. */
static void products_of_wide_values_are_mpfrs(void **state) {
    (void)state;
    static const mpfr_rnd_t rnd[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};
    static const lb_rounding ours[] = {LB_RNE, LB_RZ, LB_RU, LB_RD};
    mpfr_t x[2], y;
    mpfr_inits2(300, x[0], x[1], y, (mpfr_ptr)0);
    for (uint64_t n = 0; n < 20000; n++) {
        lb_value v[2];
        for (int i = 0; i < 2; i++) {
            const double high = 1 + (double)(lb_random_u64(6, 1, 2 * n + (uint64_t)i) >> 12) * 0x1p-52;
            const double low = (double)(lb_random_u64(6, 2, 2 * n + (uint64_t)i) >> 11) * 0x1p-126 * (n % 2 ? -1 : 1);
            v[i] = lb_value_add(lb_value_of(high), lb_value_of(low));
            assert_false(v[i].sticky);
            mpfr_set_d(x[i], high, MPFR_RNDN);
            mpfr_add_d(x[i], x[i], low, MPFR_RNDN);
        }
        mpfr_mul(y, x[0], x[1], MPFR_RNDN);
        /* take the leading double away, so that the bits of the middle decide */
        const lb_value product = lb_value_mul(v[0], v[1]);
        const double lead = mpfr_get_d(y, MPFR_RNDZ);
        mpfr_sub_d(y, y, lead, MPFR_RNDN);
        const lb_value rest = lb_value_add(product, lb_value_of(-lead));
        const int m = (int)(n / 2 % 4);
        const lb_encoding how = {.rounding = ours[m]};
        const double got = lb_to_double(lb_format_row(LB_F64), lb_encode(lb_format_row(LB_F64), rest, &how, NULL)),
                     want = mpfr_get_d(y, rnd[m]);
        if (got != want) fail_msg("round %llu: got %a, MPFR says %a", (unsigned long long)n, got, want);
    }
    mpfr_clears(x[0], x[1], y, (mpfr_ptr)0);
}

/* f64 operands, every exponent; sums of any span and 106-bit products, rounded to each format under each mode. */
static void seeded_f64_sums_and_products_are_rounded_once(void **state) {
    (void)state;
    mpfr_t x, y, z;
    mpfr_inits2(4400, x, y, z, (mpfr_ptr)0);
    for (uint64_t n = 0; n < 20000; n++) {
        uint64_t a = lb_random_u64(5, 1, n), b = lb_random_u64(5, 2, n);
        if (n % 2) { /* near each other, so that sums cancel and land near midpoints */
            a = (a & UINT64_C(0x8000ffffffffffff)) | (UINT64_C(0x3f00000000000000) + (a % 160 << 49 & UINT64_C(0x00f0000000000000)));
            b = (b & UINT64_C(0x800fffff00000000)) | UINT64_C(0x3f80000000000000);
        }
        const lb_format *f64 = lb_format_row(LB_F64);
        const double da = lb_to_double(f64, a), db = lb_to_double(f64, b);
        if (!isfinite(da) || !isfinite(db)) continue;
        mpfr_set_d(x, da, MPFR_RNDN);
        mpfr_set_d(y, db, MPFR_RNDN);
        for (int op = 0; op < 2; op++) {
            if (op)
                mpfr_mul(z, x, y, MPFR_RNDN);
            else
                mpfr_add(z, x, y, MPFR_RNDN);
            const lb_value v = op ? lb_value_mul(lb_decode(f64, a), lb_decode(f64, b)) : lb_value_add(lb_decode(f64, a), lb_decode(f64, b));
            for (int i = 0; oracle_format_row(i)->name; i++) {
                const oracle_format *o = oracle_format_row(i);
                const lb_format *f = lb_format_find(o->name);
                const int m = (int)(n % 9);
                const lb_encoding how = {.rounding = (lb_rounding)m};
                const uint64_t got = lb_encode(f, v, &how, NULL), want = expected_code(f, o, oracle_round(o, z, modes[m]));
                if (got != want)
                    fail_msg("%s: %a %c %a, %s: got %llx, MPFR says %llx", o->name, da, op ? '*' : '+', db, modes[m],
                             (unsigned long long)got, (unsigned long long)want);
            }
            const double back = lb_to_double(f64, lb_encode(f64, v, NULL, NULL)), ours = op ? da * db : da + db; /* the CPU's own */
            if (!same_value(back, ours)) fail_msg("%a %c %a: got %a, the CPU says %a", da, op ? '*' : '+', db, back, ours);
            const float cpu = (float)mpfr_get_d(z, MPFR_RNDZ);
            if (mpfr_cmp_d(z, mpfr_get_d(z, MPFR_RNDZ)) == 0 &&
                !same_value(lb_to_double(lb_format_row(LB_F32), lb_encode(lb_format_row(LB_F32), v, NULL, NULL)), (double)cpu))
                fail_msg("%a %c %a to f32: the CPU says %a", da, op ? '*' : '+', db, (double)cpu);
        }
    }
    mpfr_clears(x, y, z, (mpfr_ptr)0);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_name_and_alias),
        cmocka_unit_test(ordinals_are_monotone_with_steps_of_one),
        cmocka_unit_test(ulp_distance_is_a_count_of_steps_and_cannot_overflow),
        cmocka_unit_test(directed_conversions_round_once),
        cmocka_unit_test(what_lies_beyond_128_bits_still_decides_a_tie),
        cmocka_unit_test(flags_and_flushes_say_what_happened),
        cmocka_unit_test(stochastic_rounding_goes_up_for_exactly_the_stated_share_of_r),
#if LB_HAVE_MPFR
        cmocka_unit_test(every_code_up_to_16_bits_has_the_oracles_value_and_comes_back),
        cmocka_unit_test(every_rounding_is_right_at_every_midpoint_and_beside_it),
        cmocka_unit_test(sums_and_products_of_all_pairs_of_small_codes_are_mpfrs),
        cmocka_unit_test(products_of_wide_values_are_mpfrs),
        cmocka_unit_test(seeded_f64_sums_and_products_are_rounded_once),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
