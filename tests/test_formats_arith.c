/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exact sums and products, rounded once: all pairs of small codes, seeded pairs of wide ones and traps for two roundings, against MPFR. */
#include "test.h"

#include "lastbit/formats.h"

#include <math.h>

#if LB_HAVE_MPFR
#include "oracle/format_mpfr.h"

enum { SEED = 13, COUNT = 100000, SMALL = 320, WIDE = 2240 }; /* bits that hold every sum of two values exactly: to 8 bits, f64 */

static const oracle_mode mode_of[LB_SR] = {
    [LB_RNE] = O_RNE, [LB_RNA] = O_RNA, [LB_RNZ] = O_RNZ, [LB_RNO] = O_RNO, [LB_RZ] = O_RZ,
    [LB_RU] = O_RU,   [LB_RD] = O_RD,   [LB_RAZ] = O_RAZ, [LB_ODD] = O_ODD,
};

static const oracle_format *oracle_of(const lb_format *f) {
    const oracle_format *o = oracle_format_named(f->name);
    if (!o) fail_msg("format %s has no row in tests/oracle/format_mpfr.c", f->name);
    return o;
}

typedef enum op { ADD, MUL, FMA } op;
static const char *const op_names[] = {"+", "*", "*,+"};

/* The codes of one calculation, all of format f. */
typedef struct sum_of {
    op op;
    uint64_t a, b, c;
} sum_of;

static lb_value exact(const lb_format *f, sum_of s) {
    const lb_value a = lb_decode(f, s.a), b = lb_decode(f, s.b);
    if (s.op == ADD) return lb_value_add(a, b);
    const lb_value product = lb_value_mul(a, b);
    return s.op == MUL ? product : lb_value_add(product, lb_decode(f, s.c));
}

/* x becomes the exact result; t is room. Signs of zeros are those of round-to-nearest, as the header says. */
static void exact_mpfr(const oracle_format *o, sum_of s, mpfr_t x, mpfr_t t) {
    oracle_value(o, s.a, x);
    oracle_value(o, s.b, t);
    const int inexact = s.op == ADD ? mpfr_add(x, x, t, MPFR_RNDN) : mpfr_mul(x, x, t, MPFR_RNDN);
    assert_int_equal(inexact, 0);
    if (s.op != FMA) return;
    oracle_value(o, s.c, t);
    assert_int_equal(mpfr_add(x, x, t, MPFR_RNDN), 0);
}

static void expect_result(const lb_format *f, sum_of s, lb_value v, const lb_format *to, const oracle_format *to_oracle,
                          const oracle_place *place, lb_rounding rounding) {
    const lb_encoding how = {.rounding = rounding};
    const oracle_rule rule = {.mode = mode_of[rounding]};
    const uint64_t got = lb_encode(to, v, &how, NULL), want = oracle_code(to_oracle, place, &rule);
    if (got != want)
        fail_msg("%s %llx %s %llx (%llx) to %s, rounding %d: got %llx, MPFR %llx", f->name, (unsigned long long)s.a, op_names[s.op],
                 (unsigned long long)s.b, (unsigned long long)s.c, to->name, (int)rounding, (unsigned long long)got,
                 (unsigned long long)want);
}

/* ---- all pairs ------------------------------------------------------------------------------------------------------- */

static void all_pairs(const lb_format *f, lb_rounding last) {
    const oracle_format *o = oracle_of(f);
    mpfr_t x, t;
    mpfr_inits2(SMALL, x, t, (mpfr_ptr)NULL);
    for (uint64_t a = 0; a < 1u << f->bits; a++)
        for (uint64_t b = 0; b < 1u << f->bits; b++)
            for (op which = ADD; which <= MUL; which++) {
                const sum_of s = {which, a, b, 0};
                exact_mpfr(o, s, x, t);
                const lb_value v = exact(f, s);
                const oracle_place place = oracle_place_of(o, x);
                for (lb_rounding r = LB_RNE; r <= last; r++) expect_result(f, s, v, f, o, &place, r);
            }
    mpfr_clears(x, t, (mpfr_ptr)NULL);
}

static void sums_and_products_of_all_pairs_of_every_small_format_round_to_nearest_even(void **state) {
    (void)state;
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        if (f->bits <= 8) all_pairs(f, LB_RNE);
    }
}

static void sums_and_products_of_all_pairs_of_e5m2_round_as_told(void **state) {
    (void)state;
    all_pairs(lb_format_row(LB_E5M2), LB_ODD);
}

/* ---- wide ------------------------------------------------------------------------------------------------------------ */

static const lb_format_id targets[] = {LB_F64, LB_F32, LB_TF32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2, LB_I8};
enum { TARGETS = sizeof targets / sizeof targets[0] };

/* A midpoint between two finite codes of a format that is narrower than f, as a code of f. */
static uint64_t midpoint(const lb_format *f, uint64_t random) {
    static const lb_format_id narrow[] = {LB_F16, LB_BF16, LB_E4M3, LB_E5M2, LB_TF32, LB_F32};
    const lb_format *t = lb_format_row(narrow[random % (f->id == LB_F64 ? 6 : 5)]);
    const uint64_t step = lb_min_code(t), code = (random >> 8) % (lb_max_code(t) / step) * step;
    const double low = lb_to_double(t, code), high = lb_to_double(t, code + step);
    return lb_from_double(f, random >> 63 ? -(low + (high - low) / 2) : low + (high - low) / 2);
}

/* Pair number i of f: any codes; magnitudes near one another and near 1; midpoints of narrower formats pushed off a little;
 * sums that cancel. */
static sum_of draw(const lb_format *f, uint64_t i) {
    const uint64_t word = ~UINT64_C(0) >> (64 - f->bits), x = lb_random_u64(SEED, 1, 3 * i), y = lb_random_u64(SEED, 1, 3 * i + 1);
    sum_of s = {(op)(i % 3), x & word, y & word, lb_random_u64(SEED, 1, 3 * i + 2) & word};
    const int man = f->man_bits;
    const uint64_t one = (uint64_t)f->bias << man, fraction = (UINT64_C(1) << (man + 4)) - 1, sign = UINT64_C(1) << (f->bits - 1);
    switch (i / 3 % 4) {
    case 0: return s;
    case 1:
        return (sum_of){s.op, (one + (x & fraction)) | (x & sign), (one + (y & fraction)) | (y & sign),
                        (one + (s.c & fraction)) | (s.c & sign)};
    case 2: /* the midpoint is a, or c of a * b + c, where a * b is tiny; a product moves it by a last place */
        s.a = midpoint(f, x);
        s.b = s.op == MUL ? one + (y % 3) - 1 : (one - ((y >> 8) % 90 << man)) | (y & sign);
        if (s.op == FMA) s.c = s.a, s.a = one - ((y >> 16) % 30 << man);
        return s;
    default: /* near -a; near -a * b */
        if (s.op != FMA) s.b = (s.a ^ sign) + y % 3;
        if (s.op != FMA) return s;
        s.a = one + (x & fraction), s.b = one + (y & fraction);
        s.c = lb_encode(f, lb_value_mul(lb_decode(f, s.a), lb_decode(f, s.b)), NULL, NULL) | sign;
        return s;
    }
}

static void wide_results_are_rounded_once_to_every_target(void **state) {
    (void)state;
    static const lb_format_id wide[] = {LB_F32, LB_F64};
    mpfr_t x, t;
    mpfr_inits2(WIDE * 2, x, t, (mpfr_ptr)NULL);
    for (size_t w = 0; w < 2; w++) {
        const lb_format *f = lb_format_row(wide[w]);
        const oracle_format *o = oracle_of(f);
        for (uint64_t i = 0; i < COUNT; i++) {
            const sum_of s = draw(f, i);
            exact_mpfr(o, s, x, t);
            const lb_value v = exact(f, s);
            for (size_t k = 0; k < TARGETS; k++) {
                const lb_format *to = lb_format_row(targets[k]);
                const oracle_format *to_oracle = oracle_of(to);
                const oracle_place place = oracle_place_of(to_oracle, x);
                expect_result(f, s, v, to, to_oracle, &place, LB_RNE);
                expect_result(f, s, v, to, to_oracle, &place, (lb_rounding)(i / 12 % LB_SR));
            }
        }
    }
    mpfr_clears(x, t, (mpfr_ptr)NULL);
}

/* ---- values of two words --------------------------------------------------------------------------------------------- */

static void set_words(mpfr_t x, lb_value v) {
    mpfr_set_uj(x, v.hi, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 32, MPFR_RNDN);
    mpfr_add_ui(x, x, (unsigned long)(v.lo >> 32), MPFR_RNDN);
    mpfr_mul_2ui(x, x, 32, MPFR_RNDN);
    mpfr_add_ui(x, x, (unsigned long)(v.lo & UINT32_MAX), MPFR_RNDN);
    mpfr_mul_2si(x, x, v.exp, MPFR_RNDN);
    mpfr_setsign(x, x, v.negative, MPFR_RNDN);
}

/* Value number i: up to 128 bits, of which often only a few at either end are set, so that a result hangs on its last ones. */
static lb_value wide_value(uint64_t i) {
    const uint64_t w = lb_random_u64(SEED, 2, 3 * i), hi = lb_random_u64(SEED, 2, 3 * i + 1), lo = lb_random_u64(SEED, 2, 3 * i + 2);
    const unsigned few = (unsigned)(w >> 8 & 63), last = (unsigned)(w >> 16 & 63);
    lb_value v = {.cls = LB_FINITE, .negative = w & 1, .exp = (int32_t)(w >> 32 & 255) - 128, .hi = hi, .lo = lo | 1};
    if (w & 2) v.hi = (hi >> few << few) | UINT64_C(1) << few;
    if (w & 4) v.lo = UINT64_C(1) << last;
    if ((w & 24) == 24) v.hi = 0;
    return v;
}

/* v is x, or sticky and within one of its units below |x|. t is room. */
static void expect_encloses(uint64_t number, lb_value v, mpfr_t x, mpfr_t t) {
    if (v.cls == LB_ZERO && mpfr_zero_p(x)) return;
    set_words(t, v);
    const int below = mpfr_cmpabs(t, x);
    mpfr_t unit;
    mpfr_init2(unit, 53);
    mpfr_set_si_2exp(unit, v.negative ? -1 : 1, v.exp, MPFR_RNDN);
    mpfr_add(t, t, unit, MPFR_RNDN);
    const bool within = v.sticky ? below < 0 && mpfr_cmpabs(t, x) > 0 : below == 0;
    mpfr_clear(unit);
    if (v.cls != LB_FINITE || v.negative != (mpfr_signbit(x) != 0) || !within)
        fail_msg("pair %llu: %016llx%016llx * 2^%d%s is not it", (unsigned long long)number, (unsigned long long)v.hi,
                 (unsigned long long)v.lo, (int)v.exp, v.sticky ? ", sticky," : "");
}

static void sums_and_products_of_values_of_128_bits_round_as_told(void **state) {
    (void)state;
    static const lb_format_id to_ids[] = {LB_F64, LB_F32, LB_BF16};
    mpfr_t x, t;
    mpfr_inits2(1000, x, t, (mpfr_ptr)NULL);
    for (uint64_t i = 0; i < COUNT; i++) {
        lb_value a = wide_value(2 * i), b = wide_value(2 * i + 1);
        if (i % 8 == 2) b.exp = a.exp, b.hi = a.hi, b.negative = !a.negative;                                  /* cancels to one word */
        if (i % 8 == 4) b.exp = a.exp, b.hi = ~a.hi, b.lo = ~a.lo + 1 + (i >> 3 & 1), b.negative = a.negative; /* a carry all the way */
        if (i % 8 == 6) { /* a little above a power of two, less a little below it */
            b = (lb_value){LB_FINITE, !a.negative, false, a.exp - 1, UINT64_MAX, ~(i >> 3 & 7)};
            a.hi = UINT64_C(1) << 63, a.lo = i >> 6 & 3;
        }
        set_words(x, a);
        set_words(t, b);
        assert_int_equal(i % 2 ? mpfr_mul(x, x, t, MPFR_RNDN) : mpfr_add(x, x, t, MPFR_RNDN), 0);
        const lb_value v = i % 2 ? lb_value_mul(a, b) : lb_value_add(a, b);
        expect_encloses(i, v, x, t);
        for (size_t k = 0; k < sizeof to_ids / sizeof to_ids[0]; k++) {
            const lb_format *to = lb_format_row(to_ids[k]);
            const oracle_place place = oracle_place_of(oracle_of(to), x);
            const sum_of s = {i % 2 ? MUL : ADD, i, 0, 0}; /* named by its number */
            for (lb_rounding r = LB_RNE; r < LB_SR; r++) expect_result(lb_format_row(LB_F64), s, v, to, oracle_of(to), &place, r);
        }
    }
    mpfr_clears(x, t, (mpfr_ptr)NULL);
}

static void a_product_that_hangs_on_its_last_bit_is_not_exact(void **state) {
    (void)state;
    const lb_value a = {.cls = LB_FINITE, .exp = -126, .hi = UINT64_C(1) << 62, .lo = 1}; /* 1 + 2^-126 */
    const lb_value b = {.cls = LB_FINITE, .exp = -64, .hi = 3, .lo = 0};
    const lb_encoding up = {.rounding = LB_RU};
    EXPECT_CODE(__LINE__, lb_encode(lb_format_row(LB_F32), lb_value_mul(a, b), &up, NULL), 0x40400001);
}
#endif

/* ---- by hand --------------------------------------------------------------------------------------------------------- */

static void fused_results_that_went_wrong_elsewhere_come_out_right(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        uint64_t a, b, c, want;
    } rows[] = {
        {__LINE__, "f32", 0x3f800800, 0x3f800800, 0xbf801000, 0x33800000}, /* TCE-04: ROCm/rocm-systems#10330; 2^-24, not 0 */
        {__LINE__, "f32", 0x3f7288d0, 0x34f91a50, 0xbe7916c0, 0xbe7916a3}, /* TCE-09: JuliaMath/openlibm#160 */
        {__LINE__, "f16", 0x4100, 0x7522, 0x04ea, 0x7a6b},                 /* TCE-11: sharpemu/sharpemu#145 */
        {__LINE__, "f32", 0x7f800000, 0x3f800000, 0xff800000, 0x7fc00000}, /* Inf - Inf */
        {__LINE__, "f32", 0x7f800000, 0x00000000, 0x3f800000, 0x7fc00000}, /* Inf * 0 */
        {__LINE__, "f32", 0x7f7fffff, 0x7f7fffff, 0xff800000, 0xff800000}, /* the product does not overflow first */
        {__LINE__, "f32", 0x80000000, 0x3f800000, 0x00000000, 0x00000000}, /* -0 + 0 */
        {__LINE__, "f32", 0x80000000, 0x3f800000, 0x80000000, 0x80000000}, /* -0 + -0 */
        {__LINE__, "f32", 0x00000001, 0x00000001, 0x80000000, 0x00000000}, /* 2^-298: rounds to zero, keeps its sign */
        {__LINE__, "f32", 0x80000001, 0x00000001, 0x00000000, 0x80000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_format *f = lb_format_find(rows[i].name);
        const lb_value product = lb_value_mul(lb_decode(f, rows[i].a), lb_decode(f, rows[i].b));
        EXPECT_CODE(rows[i].line, lb_encode(f, lb_value_add(product, lb_decode(f, rows[i].c)), NULL, NULL), rows[i].want);
    }
}

static void a_sum_wider_than_128_bits_keeps_what_lies_below_as_sticky(void **state) {
    (void)state;
    static const struct {
        int line;
        double big, small;
        lb_rounding rounding;
        uint64_t want;
    } rows[] = {
        {__LINE__, 1, 0x1p-1000, LB_RU, 0x3f800001},
        {__LINE__, 1, 0x1p-1000, LB_RNE, 0x3f800000},
        {__LINE__, 1, -0x1p-1000, LB_RD, 0x3f7fffff},
        {__LINE__, 1, -0x1p-1000, LB_RZ, 0x3f7fffff},
        {__LINE__, 0x1.000001p0, 0x1p-1000, LB_RNE, 0x3f800001},  /* a midpoint, pushed up */
        {__LINE__, 0x1.000003p0, -0x1p-1000, LB_RNE, 0x3f800001}, /* a midpoint, pushed down */
        {__LINE__, -0x1.000003p0, 0x1p-1000, LB_RNE, 0xbf800001},
        {__LINE__, -0x1.000003p0, 0x1p-1000, LB_RNA, 0xbf800001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_encoding how = {.rounding = rows[i].rounding};
        const lb_value a = lb_value_of(rows[i].big), b = lb_value_of(rows[i].small);
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_row(LB_F32), lb_value_add(a, b), &how, NULL), rows[i].want);
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_row(LB_F32), lb_value_add(b, a), &how, NULL), rows[i].want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if LB_HAVE_MPFR
        cmocka_unit_test(sums_and_products_of_all_pairs_of_every_small_format_round_to_nearest_even),
        cmocka_unit_test(sums_and_products_of_all_pairs_of_e5m2_round_as_told),
        cmocka_unit_test(wide_results_are_rounded_once_to_every_target),
        cmocka_unit_test(sums_and_products_of_values_of_128_bits_round_as_told),
        cmocka_unit_test(a_product_that_hangs_on_its_last_bit_is_not_exact),
#endif
        cmocka_unit_test(fused_results_that_went_wrong_elsewhere_come_out_right),
        cmocka_unit_test(a_sum_wider_than_128_bits_keeps_what_lies_below_as_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
