/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Encoding: every rounding under every overflow rule at every place where an answer can turn, against MPFR; then by hand. */
#include "test.h"

#include "lastbit/formats.h"

#include <math.h>

#if LB_HAVE_MPFR
#include "oracle/format_mpfr.h"

enum { SEED = 12, ROOM = 400 }; /* bits of an MPFR number here */

static const oracle_mode mode_of[LB_ROUNDING_COUNT] = {
    [LB_RNE] = O_RNE, [LB_RNA] = O_RNA, [LB_RNZ] = O_RNZ, [LB_RNO] = O_RNO, [LB_RZ] = O_RZ,
    [LB_RU] = O_RU,   [LB_RD] = O_RD,   [LB_RAZ] = O_RAZ, [LB_ODD] = O_ODD, [LB_SR] = O_SR,
};
static const oracle_over over_of[LB_OVERFLOW_COUNT] = {
    [LB_OVERFLOW_IEEE] = O_OVER_IEEE,    [LB_OVERFLOW_INF] = O_OVER_INF,
    [LB_OVERFLOW_SATURATE] = O_OVER_SAT, [LB_OVERFLOW_SATURATE_PROPAGATE] = O_OVER_SAT_KEEP_INF,
    [LB_OVERFLOW_NAN] = O_OVER_NAN,      [LB_OVERFLOW_WRAP] = O_OVER_WRAP,
};
static const oracle_flush flush_of[] = {
    [LB_FLUSH_NONE] = O_KEEP, [LB_FLUSH_KEEP_SIGN] = O_FLUSH_SIGNED, [LB_FLUSH_TO_POSITIVE] = O_FLUSH_POSITIVE};

static const oracle_format *oracle_of(const lb_format *f) {
    const oracle_format *o = oracle_format_named(f->name);
    if (!o) fail_msg("format %s has no row in tests/oracle/format_mpfr.c", f->name);
    return o;
}

/* A point to round: x exactly, or, `off` by +1 or -1, closer to x than any bit that a format looks at. */
typedef struct point {
    double x;
    int off;
} point;

/* As the library gets it. The significand lies low, or, `lifted`, across both words. */
static lb_value value_of_point(point p, bool negative, bool lifted) {
    if (isnan(p.x)) return (lb_value){.cls = LB_NAN, .negative = negative};
    if (isinf(p.x)) return (lb_value){.cls = LB_INF, .negative = negative};
    if (p.x == 0 && p.off == 0) return (lb_value){.cls = LB_ZERO, .negative = negative};
    if (p.x == 0) return (lb_value){.cls = LB_FINITE, .negative = negative, .sticky = true, .exp = -3000, .lo = 1};
    int e;
    const uint64_t m = (uint64_t)ldexp(frexp(p.x, &e), 53) - (p.off < 0);
    lb_value v = {.cls = LB_FINITE, .negative = negative, .sticky = p.off != 0, .exp = e - 53, .lo = m};
    if (!lifted) return v;
    const uint64_t ones = p.off < 0 ? UINT64_MAX : 0; /* x - tiny, with ones down to the last bit */
    v.exp -= 70;
    v.hi = m << 6 | ones >> 58;
    v.lo = ones;
    return v;
}

/* As MPFR gets it. */
static void set_point(mpfr_t x, point p, bool negative) {
    mpfr_set_d(x, p.x, MPFR_RNDN);
    if (p.off && p.x == 0)
        mpfr_set_ui_2exp(x, 3, -3001, MPFR_RNDN);
    else if (p.off) {
        mpfr_t tiny;
        mpfr_init2(tiny, 53);
        mpfr_set_si_2exp(tiny, p.off, mpfr_get_exp(x) - 200, MPFR_RNDN);
        mpfr_add(x, x, tiny, MPFR_RNDN);
        mpfr_clear(tiny);
    }
    mpfr_setsign(x, x, negative, MPFR_RNDN);
}

static void expect_rule(const lb_format *f, const oracle_format *o, point p, lb_value v, const oracle_place *place,
                        const lb_encoding *how) {
    const oracle_rule rule = {mode_of[how->rounding], over_of[how->overflow], flush_of[how->flush], how->random_bits, how->random};
    const uint64_t got = lb_encode(f, v, how, NULL), want = oracle_code(o, place, &rule);
    if (got != want)
        fail_msg("%s: %s%a%s, rounding %d, overflow %d, flush %d, R %u of %u bits: got %llx, MPFR %llx", f->name, v.negative ? "-" : "",
                 p.x,
                 p.off > 0   ? "+tiny"
                 : p.off < 0 ? "-tiny"
                             : "",
                 (int)how->rounding, (int)how->overflow, (int)how->flush, how->random, how->random_bits, (unsigned long long)got,
                 (unsigned long long)want);
}

/* One point, both signs, every rounding and overflow rule; the flush modes where a result may be subnormal. */
static void expect_point(const lb_format *f, const oracle_format *o, point p, bool subnormal, mpfr_t x) {
    for (int negative = 0; negative < 2; negative++) {
        set_point(x, p, negative);
        const oracle_place place = oracle_place_of(o, x);
        const lb_value low = value_of_point(p, negative, false), lifted = value_of_point(p, negative, true);
        for (int r = 0; r < LB_SR; r++)
            for (int over = 0; over < LB_OVERFLOW_COUNT; over++)
                expect_rule(f, o, p, over % 2 ? lifted : low, &place,
                            &(lb_encoding){.rounding = (lb_rounding)r, .overflow = (lb_overflow)over});
        for (int r = 0; subnormal && r < LB_SR; r++)
            for (int flush = 1; flush < 3; flush++)
                expect_rule(f, o, p, low, &place, &(lb_encoding){.rounding = (lb_rounding)r, .flush = (lb_flush)flush});
    }
}

/* Value of magnitude code i (in steps of the format) and of the next one, which past the largest is where it would be. */
static double nth_value(const oracle_format *o, uint64_t i, mpfr_t x) {
    const uint64_t code = i << o->pad;
    if (code <= (uint64_t)o->max) {
        oracle_value(o, code, x);
        return mpfr_get_d(x, MPFR_RNDN);
    }
    const double top = nth_value(o, i - 1, x);
    return o->kind == O_POWERS ? 2 * top : top + (top - nth_value(o, i - 2, x));
}

static void every_rounding_and_overflow_rule_turns_where_mpfr_says(void **state) {
    (void)state;
    mpfr_t x;
    mpfr_init2(x, ROOM);
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        const oracle_format *o = oracle_of(f);
        if (f->bits - f->pad_bits > 19) continue;
        const uint64_t last = (uint64_t)o->max >> o->pad, binade = UINT64_C(1) << o->man;
        for (uint64_t i = 0; i <= last; i++) {
            const bool edge = i <= binade + 1 || i + binade >= last;
            if (f->pad_bits && !edge && i % 61) continue; /* tf32: all of the subnormals and of the top, a part between */
            const double v = nth_value(o, i, x), w = nth_value(o, i + 1, x), mid = v + (w - v) / 2;
            const point points[] = {{v, 0}, {v, 1}, {mid, -1}, {mid, 0}, {mid, 1}, {w, -1}};
            for (size_t k = 0; k < sizeof points / sizeof points[0]; k++) expect_point(f, o, points[k], i <= binade, x);
        }
        const double past = nth_value(o, last + 1, x);
        const point far[] = {{past, 0},
                             {past, 1},
                             {past * 1.25, 0},
                             {past * 2, 0},
                             {past * 64, 1},
                             {past * 0x1p60, 0},
                             {past * 0x1p130, 0},
                             {past * 0x1.23456789abcdep80, 0},
                             {past * 0x1.fffffffffffffp70, 1},
                             {0x1p1000, 0},
                             {0x1p-1000, 0},
                             {0x1p-1000, 1},
                             {nth_value(o, 1, x) / 4, 1},
                             {nth_value(o, 1, x) / 4, -1},
                             {0, 1},
                             {0, 0},
                             {INFINITY, 0},
                             {NAN, 0}};
        for (size_t k = 0; k < sizeof far / sizeof far[0]; k++) expect_point(f, o, far[k], true, x);
    }
    mpfr_clear(x);
}

/* ---- stochastic ------------------------------------------------------------------------------------------------------ */

/* Every draw of 1, 4 and 8 bits at v + (w - v) * k/512, for magnitude code i; also with something below. */
static void expect_draws(const lb_format *f, const oracle_format *o, uint64_t i, mpfr_t x) {
    const double v = nth_value(o, i, x), w = nth_value(o, i + 1, x);
    for (int k = (int)(i % 7); k < 512; k += k < 8 || k > 500 ? 1 : 41) {
        const point p = {v + (w - v) * k / 512, i % 2 ? 1 : 0};
        const bool negative = k % 2;
        set_point(x, p, negative);
        const oracle_place place = oracle_place_of(o, x);
        const lb_value value = value_of_point(p, negative, k % 3 == 0);
        for (unsigned bits = 1; bits <= 8; bits = bits == 1 ? 4 : bits * 2)
            for (uint32_t r = 0; r < 1u << bits; r++)
                expect_rule(f, o, p, value, &place, &(lb_encoding){.rounding = LB_SR, .random_bits = bits, .random = r});
    }
}

static void stochastic_goes_up_when_the_fraction_and_the_draw_carry(void **state) {
    (void)state;
    mpfr_t x;
    mpfr_init2(x, ROOM);
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        const oracle_format *o = oracle_of(f);
        if (f->bits - f->pad_bits > 19) continue;
        const uint64_t last = (uint64_t)o->max >> o->pad;
        if (last <= 255)
            for (uint64_t i = 0; i <= last; i++) expect_draws(f, o, i, x);
        else
            for (uint64_t i = 0; i < 150; i++)
                expect_draws(f, o, i < 20 ? i : i < 30 ? last + 20 - i : lb_random_u64(SEED, (uint32_t)id, i) % last, x);
    }
    mpfr_clear(x);
}
#endif
/* ---- by hand --------------------------------------------------------------------------------------------------------- */

static void e4m3_follows_each_rounding_and_overflow_rule(void **state) {
    (void)state;
    static const struct {
        int line;
        double x;
        lb_rounding rounding;
        lb_overflow overflow;
        uint64_t want;
        unsigned flags;
    } rows[] = {
        {__LINE__, 464, LB_RNE, LB_OVERFLOW_IEEE, 0x7e, LB_INEXACT}, /* half way to 480, which is odd below: 448 stays */
        {__LINE__, 464, LB_RNA, LB_OVERFLOW_IEEE, 0x7f, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, 464.0001, LB_RNE, LB_OVERFLOW_IEEE, 0x7f, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, 464.0001, LB_RNE, LB_OVERFLOW_SATURATE, 0x7e, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, -464.0001, LB_RNE, LB_OVERFLOW_SATURATE_PROPAGATE, 0xfe, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, 1e9, LB_RZ, LB_OVERFLOW_IEEE, 0x7e, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, 1e9, LB_RZ, LB_OVERFLOW_INF, 0x7f, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, 1e9, LB_RD, LB_OVERFLOW_IEEE, 0x7e, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, -1e9, LB_RU, LB_OVERFLOW_IEEE, 0xfe, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, -1e9, LB_RD, LB_OVERFLOW_IEEE, 0x7f, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, INFINITY, LB_RNE, LB_OVERFLOW_SATURATE, 0x7e, LB_OVERFLOWED},
        {__LINE__, -INFINITY, LB_RNE, LB_OVERFLOW_SATURATE_PROPAGATE, 0x7f, 0},
        {__LINE__, NAN, LB_RNE, LB_OVERFLOW_SATURATE, 0x7f, 0},
        {__LINE__, 0x1p-10, LB_RNE, LB_OVERFLOW_IEEE, 0x00, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, 0x1.8p-9, LB_RNE, LB_OVERFLOW_IEEE, 0x02, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, -0x1p-10, LB_RNO, LB_OVERFLOW_IEEE, 0x81, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, -0x1p-60, LB_RNE, LB_OVERFLOW_IEEE, 0x80, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, 0x1p-60, LB_RAZ, LB_OVERFLOW_IEEE, 0x01, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, 0x1.fp-7, LB_RNE, LB_OVERFLOW_IEEE, 0x08, LB_INEXACT}, /* a subnormal that rounds to the least normal */
        {__LINE__, 1.01, LB_ODD, LB_OVERFLOW_IEEE, 0x39, LB_INEXACT},
        {__LINE__, 1.24, LB_ODD, LB_OVERFLOW_IEEE, 0x39, LB_INEXACT},
        {__LINE__, 1.5, LB_ODD, LB_OVERFLOW_IEEE, 0x3c, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_encoding how = {.rounding = rows[i].rounding, .overflow = rows[i].overflow};
        unsigned flags = 0;
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_row(LB_E4M3), lb_value_of(rows[i].x), &how, &flags), rows[i].want);
        EXPECT_CODE(rows[i].line, flags, rows[i].flags);
    }
}

static void a_format_that_lacks_a_value_gives_what_the_header_says(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        double x;
        lb_overflow overflow;
        uint64_t want;
        unsigned flags;
    } rows[] = {
        {__LINE__, "e2m1", NAN, LB_OVERFLOW_IEEE, 0x7, LB_INVALID},
        {__LINE__, "e2m1", -INFINITY, LB_OVERFLOW_IEEE, 0xf, LB_OVERFLOWED},
        {__LINE__, "e2m1", -7, LB_OVERFLOW_IEEE, 0xf, LB_OVERFLOWED | LB_INEXACT}, /* half way to 8: even */
        {__LINE__, "e2m1", 6.99, LB_OVERFLOW_NAN, 0x7, LB_INEXACT},
        {__LINE__, "e2m1", 0.25, LB_OVERFLOW_IEEE, 0x0, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, "ue4m3", -1, LB_OVERFLOW_IEEE, 0x00, LB_INVALID},
        {__LINE__, "ue4m3", -0.0, LB_OVERFLOW_IEEE, 0x00, 0},
        {__LINE__, "ue4m3", -INFINITY, LB_OVERFLOW_SATURATE, 0x00, LB_INVALID},
        {__LINE__, "e4m3fnuz", -0.0, LB_OVERFLOW_IEEE, 0x00, 0},
        {__LINE__, "e4m3fnuz", -0x1p-40, LB_OVERFLOW_IEEE, 0x00, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, "e4m3fnuz", INFINITY, LB_OVERFLOW_IEEE, 0x80, 0},
        {__LINE__, "e8m0", 0, LB_OVERFLOW_IEEE, 0x00, LB_UNDERFLOW},
        {__LINE__, "e8m0", 0x1p-128, LB_OVERFLOW_IEEE, 0x00, LB_INEXACT | LB_UNDERFLOW},
        {__LINE__, "e8m0", 0x1p128, LB_OVERFLOW_IEEE, 0xff, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, "e8m0", 0x1p128, LB_OVERFLOW_SATURATE, 0xfe, LB_INEXACT | LB_OVERFLOWED},
        {__LINE__, "e8m0", 1.5, LB_OVERFLOW_IEEE, 0x80, LB_INEXACT}, /* one digit: no even neighbour, so the larger (754 section 4.3.1) */
        {__LINE__, "e8m0", 3, LB_OVERFLOW_IEEE, 0x81, LB_INEXACT},
        {__LINE__, "i8", NAN, LB_OVERFLOW_IEEE, 0x00, LB_INVALID},
        {__LINE__, "i8", -INFINITY, LB_OVERFLOW_WRAP, 0x80, LB_OVERFLOWED | LB_INVALID},
        {__LINE__, "u8", -0.25, LB_OVERFLOW_IEEE, 0x00, LB_INEXACT},
        {__LINE__, "u8", -1, LB_OVERFLOW_IEEE, 0x00, LB_OVERFLOWED},
        {__LINE__, "u4", -1, LB_OVERFLOW_WRAP, 0x0f, LB_OVERFLOWED},
        {__LINE__, "u8", 0x1.0000002p40, LB_OVERFLOW_WRAP, 0x00, LB_OVERFLOWED},                   /* 2^40 + 2^13 */
        {__LINE__, "i8", -0x1.00000001p40, LB_OVERFLOW_WRAP, 0x00, LB_OVERFLOWED},                 /* 2^40 + 2^8 */
        {__LINE__, "i8", -0x1.00000000083p43, LB_OVERFLOW_WRAP, 0xbe, LB_OVERFLOWED | LB_INEXACT}, /* 2^43 + 2^6 + 1.5: to even, 66 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_encoding how = {.overflow = rows[i].overflow};
        unsigned flags = 0;
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_find(rows[i].name), lb_value_of(rows[i].x), &how, &flags), rows[i].want);
        EXPECT_CODE(rows[i].line, flags, rows[i].flags);
    }
}

/* Integers of more than 64 bits, which a double cannot make: only their low bits matter, and a fraction still rounds. */
static void a_wide_integer_wraps_by_its_low_bits(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        bool negative;
        int exp;
        uint64_t hi, lo, want;
    } rows[] = {
        {__LINE__, "u8", false, 0, 1, 0x1234, 0x34},
        {__LINE__, "u8", false, 3, 1, 0x0f, 0x78},
        {__LINE__, "u8", false, 200, 1, 0xff, 0x00},
        {__LINE__, "u8", false, -20, 1u << 30, 0xabc00000, 0xbc},
        {__LINE__, "u8", true, -20, 1u << 30, 0xabc00000, 0x44},
        {__LINE__, "i8", true, -20, 1u << 30, 0xabc00000, 0x44},
        {__LINE__, "i4", false, -20, 1u << 30, 0xabc00000, 0xc},
        {__LINE__, "u8", false, -20, 1u << 30, 0xabcc0000, 0xbd}, /* a fraction of 3/4 */
        {__LINE__, "u8", false, -20, 1u << 30, 0xabd80000, 0xbe}, /* of 1/2, odd below */
        {__LINE__, "u8", true, -20, 1u << 30, 0xabc80000, 0x44},  /* of 1/2, even below */
        {__LINE__, "mxi8", false, -26, 1u << 30, 0xabc00000, 0xbc},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_value v = {LB_FINITE, rows[i].negative, false, rows[i].exp, rows[i].hi, rows[i].lo};
        const lb_encoding wrap = {.overflow = LB_OVERFLOW_WRAP}, saturate = {.overflow = LB_OVERFLOW_SATURATE};
        const lb_format *f = lb_format_find(rows[i].name);
        unsigned flags = 0;
        EXPECT_CODE(rows[i].line, lb_encode(f, v, &wrap, &flags), rows[i].want);
        assert_true(flags & LB_OVERFLOWED);
        const uint64_t end = rows[i].negative ? (f->sign_bits ? lb_max_code(f) + 1 : 0) : lb_max_code(f);
        EXPECT_CODE(rows[i].line, lb_encode(f, v, &saturate, NULL), end);
    }
}

/* The value that two roundings in a row get wrong, with the code that one rounding gives. */
static void a_value_is_rounded_once(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        double x;
        uint64_t want;
    } rows[] = {
        {__LINE__, "f16", 0x1.00200001p0, 0x3c01},       /* via f32: a tie, 3c00 */
        {__LINE__, "bf16", 0x1.01000001p0, 0x3f81},      /* via f32: 3f80 */
        {__LINE__, "e4m3", 0x1.1001p0, 0x39},            /* via f16 or bf16: 38 */
        {__LINE__, "e5m2", 0x1.2001p0, 0x3d},            /* via f16: 3c */
        {__LINE__, "e4m3", 0x1.0000000000001p-10, 0x01}, /* just above half the least subnormal */
        {__LINE__, "f16", 0x1.ffdffffffffffp15, 0x7bff}, /* just below 65520 */
        {__LINE__, "f16", 0x1.ffep15, 0x7c00},           /* 65520 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_CODE(rows[i].line, lb_from_double(lb_format_find(rows[i].name), rows[i].x), rows[i].want);
}

static void every_number_of_random_bits_counts_to_its_end(void **state) {
    (void)state;
    for (unsigned n = 1; n <= 32; n++) { /* 1 + 2^-7 * 2^-n in bf16: floor(f * 2^n) = 1, so only the last draw carries */
        const uint32_t last = (uint32_t)((UINT64_C(1) << n) - 1);
        const lb_value v = {.cls = LB_FINITE, .exp = -7 - (int32_t)n, .lo = (UINT64_C(1) << (7 + n)) + 1};
        const lb_value below = {.cls = LB_FINITE, .sticky = true, .exp = v.exp, .lo = v.lo - 1};
        lb_encoding how = {.rounding = LB_SR, .random_bits = n, .random = last};
        EXPECT_CODE(__LINE__, lb_encode(lb_format_row(LB_BF16), v, &how, NULL), 0x3f81);
        EXPECT_CODE(__LINE__, lb_encode(lb_format_row(LB_BF16), below, &how, NULL), 0x3f80);
        how.random = last - 1;
        EXPECT_CODE(__LINE__, lb_encode(lb_format_row(LB_BF16), v, &how, NULL), 0x3f80);
        /* 1 + 2^-8: a fraction of one bit, wider draws find zeros below it: up from R = 2^(n-1) on */
        const lb_value half = {.cls = LB_FINITE, .exp = -8, .lo = 0x101};
        how.random = UINT32_C(1) << (n - 1);
        EXPECT_CODE(__LINE__, lb_encode(lb_format_row(LB_BF16), half, &how, NULL), 0x3f81);
        how.random--;
        EXPECT_CODE(__LINE__, lb_encode(lb_format_row(LB_BF16), half, &how, NULL), 0x3f80);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if LB_HAVE_MPFR
        cmocka_unit_test(every_rounding_and_overflow_rule_turns_where_mpfr_says),
        cmocka_unit_test(stochastic_goes_up_when_the_fraction_and_the_draw_carry),
#endif
        cmocka_unit_test(e4m3_follows_each_rounding_and_overflow_rule),
        cmocka_unit_test(a_format_that_lacks_a_value_gives_what_the_header_says),
        cmocka_unit_test(a_wide_integer_wraps_by_its_low_bits),
        cmocka_unit_test(a_value_is_rounded_once),
        cmocka_unit_test(every_number_of_random_bits_counts_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
