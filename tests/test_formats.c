/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of formats: its rows against the documents, every code against MPFR, ordinals, and small cases from the field. */
#include "test.h"

#include "lastbit/formats.h"

#include <math.h>
#include <stdlib.h>

#if LB_HAVE_MPFR
#include "oracle/format_mpfr.h"
#endif

enum { SEED = 11, WIDE_COUNT = 100000 };

/* ---- the table ------------------------------------------------------------------------------------------------------- */

/* Code and value of the ends of a format; none: the format has no such code. Sources: IEEE 754-2019 table 3.5, PTX ISA
 * "Alternate Floating-Point Data Formats", OCP OFP8 1.0 table 1, OCP MX 1.0 tables 2 to 6, CDNA3 ISA (fnuz), ml_dtypes README. */
static const struct {
    int line;
    const char *name;
    uint64_t max_code;
    double max;
    uint64_t min_normal_code;
    double min_normal;
    uint64_t min_code;
    double min;
    int64_t inf, nan;
} ends[] = {
    {__LINE__, "f64", 0x7fefffffffffffff, 0x1.fffffffffffffp1023, 0x0010000000000000, 0x1p-1022, 1, 0x1p-1074, 0x7ff0000000000000,
     0x7ff8000000000000},
    {__LINE__, "f32", 0x7f7fffff, 0x1.fffffep127, 0x00800000, 0x1p-126, 1, 0x1p-149, 0x7f800000, 0x7fc00000},
    {__LINE__, "tf32", 0x7f7fe000, 0x1.ffcp127, 0x00800000, 0x1p-126, 0x2000, 0x1p-136, 0x7f800000, 0x7fc00000},
    {__LINE__, "f16", 0x7bff, 65504, 0x0400, 0x1p-14, 1, 0x1p-24, 0x7c00, 0x7e00},
    {__LINE__, "bf16", 0x7f7f, 0x1.fep127, 0x0080, 0x1p-126, 1, 0x1p-133, 0x7f80, 0x7fc0},
    {__LINE__, "e4m3", 0x7e, 448, 0x08, 0x1p-6, 1, 0x1p-9, -1, 0x7f},
    {__LINE__, "e5m2", 0x7b, 57344, 0x04, 0x1p-14, 1, 0x1p-16, 0x7c, 0x7e},
    {__LINE__, "e4m3_ieee", 0x77, 240, 0x08, 0x1p-6, 1, 0x1p-9, 0x78, 0x7c},
    {__LINE__, "e3m4", 0x6f, 15.5, 0x10, 0x1p-2, 1, 0x1p-6, 0x70, 0x78},
    {__LINE__, "e4m3fnuz", 0x7f, 240, 0x08, 0x1p-7, 1, 0x1p-10, -1, 0x80},
    {__LINE__, "e5m2fnuz", 0x7f, 57344, 0x04, 0x1p-15, 1, 0x1p-17, -1, 0x80},
    {__LINE__, "e4m3b11fnuz", 0x7f, 30, 0x08, 0x1p-10, 1, 0x1p-13, -1, 0x80},
    {__LINE__, "e8m0", 0xfe, 0x1p127, 0x00, 0x1p-127, 0, 0x1p-127, -1, 0xff},
    {__LINE__, "ue4m3", 0x7e, 448, 0x08, 0x1p-6, 1, 0x1p-9, -1, 0x7f},
    {__LINE__, "e3m2", 0x1f, 28, 0x04, 0x1p-2, 1, 0x1p-4, -1, -1},
    {__LINE__, "e2m3", 0x1f, 7.5, 0x08, 1, 1, 0x1p-3, -1, -1},
    {__LINE__, "e2m1", 0x7, 6, 0x2, 1, 1, 0.5, -1, -1},
    {__LINE__, "i8", 0x7f, 127, 1, 1, 1, 1, -1, -1},
    {__LINE__, "u8", 0xff, 255, 1, 1, 1, 1, -1, -1},
    {__LINE__, "i4", 0x7, 7, 1, 1, 1, 1, -1, -1},
    {__LINE__, "u4", 0xf, 15, 1, 1, 1, 1, -1, -1},
    {__LINE__, "b1", 1, 1, 1, 1, 1, 1, -1, -1},
    {__LINE__, "mxi8", 0x7f, 127.0 / 64, 1, 1.0 / 64, 1, 1.0 / 64, -1, -1},
    {__LINE__, "i32", 0x7fffffff, 2147483647, 1, 1, 1, 1, -1, -1},
};

static void expect_ends_at(int line, const char *name, uint64_t code, double want) {
    const lb_format *f = lb_format_find(name);
    const double got = lb_to_double(f, code);
    if (!(got == want)) fail_msg("row at %s:%d: %s %llx is %a, want %a", __FILE__, line, name, (unsigned long long)code, got, want);
    EXPECT_CODE(line, lb_from_double(f, want), code);
}

static void each_format_ends_where_its_document_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const int line = ends[i].line;
        const lb_format *f = lb_format_find(ends[i].name);
        if (!f) fail_msg("row at %s:%d: no format %s", __FILE__, line, ends[i].name);
        EXPECT_CODE(line, lb_max_code(f), ends[i].max_code);
        EXPECT_CODE(line, lb_min_code(f), ends[i].min_code);
        expect_ends_at(line, f->name, ends[i].max_code, ends[i].max);
        expect_ends_at(line, f->name, ends[i].min_normal_code, ends[i].min_normal);
        expect_ends_at(line, f->name, ends[i].min_code, ends[i].min);
        uint64_t inf = UINT64_MAX, nan = UINT64_MAX;
        assert_int_equal(lb_inf_code(f, &inf), ends[i].inf >= 0);
        assert_int_equal(lb_nan_code(f, &nan), ends[i].nan >= 0);
        EXPECT_CODE(line, inf, (uint64_t)ends[i].inf);
        EXPECT_CODE(line, nan, (uint64_t)ends[i].nan);
    }
}

static void every_format_has_a_row_of_ends_here(void **state) {
    (void)state;
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const char *name = lb_format_row((lb_format_id)id)->name;
        size_t i = 0;
        while (i < sizeof ends / sizeof ends[0] && strcmp(ends[i].name, name) != 0) i++;
        if (i == sizeof ends / sizeof ends[0]) fail_msg("%s:%d: format %s has no row in `ends`", __FILE__, __LINE__, name);
    }
}

static void names_and_aliases_find_one_format_each_and_a_wrong_one_the_nearest(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *given, *found;
    } rows[] = {
        {__LINE__, "fp64", "f64"},    {__LINE__, "fp32", "f32"},     {__LINE__, "fp16", "f16"}, {__LINE__, "e4m3fn", "e4m3"},
        {__LINE__, "int8", "i8"},     {__LINE__, "s8", "i8"},        {__LINE__, "s4", "i4"},    {__LINE__, "uint4", "u4"},
        {__LINE__, "e2m1fn", "e2m1"}, {__LINE__, "e8m0fnu", "e8m0"}, {__LINE__, "s32", "i32"},
    };
    const lb_format *f;
    lb_error err;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(lb_format_get(rows[i].given, &f, &err), LB_OK);
        EXPECT_STRING(rows[i].line, f->name, rows[i].found);
    }
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *row = lb_format_row((lb_format_id)id);
        assert_int_equal(row->id, id);
        assert_ptr_equal(lb_format_find(row->name), row);
        assert_true(*row->source != 0);
    }
    assert_null(lb_format_row(LB_FORMAT_COUNT));
    static const char *const wrong[] = {"", " ", "int8 ", "s8 int8", "F16", "e4m3x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_int_equal(lb_format_get(wrong[i], &f, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "e4m3"));
}

/* ---- every code ------------------------------------------------------------------------------------------------------ */

/* Number of codes to walk of a format (tf32: by its upper 19 bits), 0 if they are too many; and the i-th. */
static uint64_t code_count(const lb_format *f) {
    return f->bits - f->pad_bits > 19 ? 0 : UINT64_C(1) << (f->bits - f->pad_bits);
}

static uint64_t nth_code(const lb_format *f, uint64_t i) {
    return code_count(f) ? i << f->pad_bits : lb_random_u64(SEED, (uint32_t)f->id, i) & (~UINT64_C(0) >> (64 - f->bits));
}

#if LB_HAVE_MPFR
static const oracle_format *oracle_of(const lb_format *f) {
    const oracle_format *o = oracle_format_named(f->name);
    if (!o) fail_msg("format %s has no row in tests/oracle/format_mpfr.c", f->name);
    return o;
}

/* An lb_value as an MPFR number, from its definition. */
static void set_value(mpfr_t x, lb_value v) {
    if (v.cls == LB_NAN) {
        mpfr_set_nan(x);
        return;
    }
    if (v.cls == LB_INF)
        mpfr_set_inf(x, 1);
    else if (v.cls == LB_ZERO)
        mpfr_set_zero(x, 1);
    else {
        mpfr_set_uj_2exp(x, v.hi, 64, MPFR_RNDN);
        mpfr_t low;
        mpfr_init2(low, 64);
        mpfr_set_uj(low, v.lo, MPFR_RNDN);
        mpfr_add(x, x, low, MPFR_RNDN);
        mpfr_mul_2si(x, x, v.exp, MPFR_RNDN);
        mpfr_clear(low);
    }
    mpfr_setsign(x, x, v.negative, MPFR_RNDN);
}

static bool same(mpfr_t a, mpfr_t b) {
    if (mpfr_nan_p(a) || mpfr_nan_p(b)) return mpfr_nan_p(a) && mpfr_nan_p(b);
    return mpfr_equal_p(a, b) && !mpfr_signbit(a) == !mpfr_signbit(b);
}

static void expect_code_means(const lb_format *f, const oracle_format *o, uint64_t code, mpfr_t want, mpfr_t got) {
    static const oracle_rule nearest = {0};
    oracle_value(o, code, want);
    const lb_value v = lb_decode(f, code);
    const lb_class cls = mpfr_nan_p(want) ? LB_NAN : mpfr_inf_p(want) ? LB_INF : mpfr_zero_p(want) ? LB_ZERO : LB_FINITE;
    set_value(got, v);
    if (!same(got, want) || v.sticky || v.cls != cls || lb_code_class(f, code) != cls)
        fail_msg("%s %llx: class %d, value %a; MPFR: class %d, value %a", f->name, (unsigned long long)code, (int)v.cls,
                 mpfr_get_d(got, MPFR_RNDN), (int)cls, mpfr_get_d(want, MPFR_RNDN));
    mpfr_set_d(got, lb_to_double(f, code), MPFR_RNDN);
    if (!same(got, want)) fail_msg("%s %llx: lb_to_double gives %a", f->name, (unsigned long long)code, mpfr_get_d(got, MPFR_RNDN));
    unsigned flags = 0;
    const uint64_t back = lb_encode(f, v, NULL, &flags), expected = oracle_encode(o, want, &nearest);
    if (back != expected || flags)
        fail_msg("%s %llx: encodes back to %llx, flags %u", f->name, (unsigned long long)code, (unsigned long long)back, flags);
}

static void every_code_of_every_format_means_what_mpfr_says_and_comes_back(void **state) {
    (void)state;
    mpfr_t want, got;
    mpfr_inits2(192, want, got, (mpfr_ptr)NULL);
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        const oracle_format *o = oracle_of(f);
        const uint64_t count = code_count(f) ? code_count(f) : WIDE_COUNT;
        for (uint64_t i = 0; i < count; i++) expect_code_means(f, o, nth_code(f, i), want, got);
    }
    mpfr_clears(want, got, (mpfr_ptr)NULL);
    mpfr_free_cache();
}
#endif

static void a_code_comes_back_as_itself_unless_it_is_nan_or_a_bit_is_ignored(void **state) {
    (void)state;
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        const uint64_t count = code_count(f) ? code_count(f) : WIDE_COUNT;
        uint64_t nan = 0, kept = id == LB_UE4M3 ? 0x7f : UINT64_MAX;
        lb_nan_code(f, &nan);
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t code = nth_code(f, i), want = lb_code_class(f, code) == LB_NAN ? nan : code & kept;
            const uint64_t back = lb_encode(f, lb_decode(f, code), NULL, NULL);
            if (back != want) fail_msg("%s %llx: comes back as %llx", f->name, (unsigned long long)code, (unsigned long long)back);
        }
    }
}

static void bits_above_a_code_and_the_low_bits_of_tf32_are_ignored(void **state) {
    (void)state;
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        const uint64_t one = lb_from_double(f, 1), dirt = f->bits < 64 ? ~UINT64_C(0) << f->bits : 0;
        assert_true(lb_to_double(f, one | dirt) == 1);
        assert_int_equal(lb_ordinal(f, one | dirt), lb_ordinal(f, one));
        assert_true(lb_to_double(f, one | (f->pad_bits ? 0x1fff : 0)) == 1);
        assert_true(lb_flush_code(f, one, LB_FLUSH_TO_POSITIVE) == one);
    }
    const lb_format *tf32 = lb_format_find("tf32");
    assert_int_equal(lb_code_class(tf32, 0x7f801fff), LB_INF); /* a NaN of f32 whose payload lies below */
    assert_int_equal(lb_code_class(tf32, 0x00001fff), LB_ZERO);
}

static void flushing_takes_subnormal_codes_alone(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        uint64_t code, keep, positive;
    } rows[] = {
        {__LINE__, "f32", 0x807fffff, 0x80000000, 0},
        {__LINE__, "f32", 0x80800000, 0x80800000, 0x80800000},
        {__LINE__, "tf32", 0x807fe000, 0x80000000, 0},
        {__LINE__, "tf32", 0x80001fff, 0x80001fff, 0x80001fff}, /* a zero already */
        {__LINE__, "f16", 0x03ff, 0, 0},
        {__LINE__, "f16", 0x83ff, 0x8000, 0},
        {__LINE__, "f16", 0xfc01, 0xfc01, 0xfc01},
        {__LINE__, "e4m3fnuz", 0x87, 0, 0}, /* no -0: 80 would be NaN */
        {__LINE__, "e4m3fnuz", 0x80, 0x80, 0x80},
        {__LINE__, "e2m1", 0x9, 0x8, 0},
        {__LINE__, "ue4m3", 0x07, 0, 0},
        {__LINE__, "e8m0", 0x00, 0x00, 0x00},
        {__LINE__, "mxi8", 0xff, 0xff, 0xff},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_format *f = lb_format_find(rows[i].name);
        EXPECT_CODE(rows[i].line, lb_flush_code(f, rows[i].code, LB_FLUSH_NONE), rows[i].code);
        EXPECT_CODE(rows[i].line, lb_flush_code(f, rows[i].code, LB_FLUSH_KEEP_SIGN), rows[i].keep);
        EXPECT_CODE(rows[i].line, lb_flush_code(f, rows[i].code, LB_FLUSH_TO_POSITIVE), rows[i].positive);
    }
}

/* ---- ordinals -------------------------------------------------------------------------------------------------------- */

typedef struct placed {
    double value;
    int64_t ordinal;
    uint64_t code;
} placed;

static int by_value(const void *a, const void *b) {
    const placed *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value ? 1 : 0;
}

static void neighbours_on_the_number_line_are_one_apart_and_equal_values_none(void **state) {
    (void)state;
    placed *line = malloc((1 << 19) * sizeof *line);
    assert_non_null(line);
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        size_t n = 0;
        for (uint64_t i = 0; i < code_count(f); i++) {
            const uint64_t code = nth_code(f, i);
            if (lb_code_class(f, code) != LB_NAN) line[n++] = (placed){lb_to_double(f, code), lb_ordinal(f, code), code};
        }
        if (n == 0) continue;
        qsort(line, n, sizeof *line, by_value);
        for (size_t i = 1; i < n; i++) {
            const uint64_t step = line[i].value != line[i - 1].value;
            if (line[i].ordinal - line[i - 1].ordinal != (int64_t)step || lb_ulp_distance(f, line[i].code, line[i - 1].code) != step)
                fail_msg("%s %llx and %llx: ordinals %lld and %lld", f->name, (unsigned long long)line[i - 1].code,
                         (unsigned long long)line[i].code, (long long)line[i - 1].ordinal, (long long)line[i].ordinal);
        }
        assert_int_equal(lb_ulp_distance(f, line[0].code, line[n - 1].code), line[n - 1].ordinal - line[0].ordinal);
    }
    free(line);
}

static void ordinals_of_wide_formats_follow_their_values(void **state) {
    (void)state;
    static const lb_format_id wide[] = {LB_F32, LB_F64};
    for (size_t w = 0; w < 2; w++) {
        const lb_format *f = lb_format_row(wide[w]);
        for (uint64_t i = 0; i < WIDE_COUNT; i++) {
            const uint64_t a = nth_code(f, i), b = nth_code(f, i + WIDE_COUNT);
            if (lb_code_class(f, a) == LB_NAN || lb_code_class(f, b) == LB_NAN) continue;
            const double x = lb_to_double(f, a), y = lb_to_double(f, b);
            assert_int_equal(lb_ordinal(f, a) < lb_ordinal(f, b), x < y);
            const double up = w ? nextafter(x, INFINITY) : (double)nextafterf((float)x, INFINITY);
            if (isfinite(x)) assert_int_equal(lb_ordinal(f, lb_from_double(f, up)), lb_ordinal(f, a) + 1);
        }
    }
}

static void a_distance_never_overflows_and_to_nan_is_the_greatest(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        uint64_t a, b, want;
    } rows[] = {
        {__LINE__, "f32", 0xc02bf385, 0x402bf385, 2153244426u},                        /* VER-07: primitiv/primitiv#210 */
        {__LINE__, "f32", 0x00000000, 0x80000000, 0},                                  /* VER-08: mikedilger/float-cmp#33 */
        {__LINE__, "f32", 0x3f800000, 0x3f7fffff, 1},                                  /* VER-10: tenstorrent/tt-metal#56729 */
        {__LINE__, "f64", 0xffefffffffffffff, 0x7fefffffffffffff, 0xffdffffffffffffe}, /* the largest finite values of f64 */
        {__LINE__, "f64", 0xfff0000000000000, 0x7ff0000000000000, 0xffe0000000000000}, /* -Inf to Inf */
        {__LINE__, "f32", 0x7f7fffff, 0x7f800000, 1},                                  /* Inf is one past the largest */
        {__LINE__, "f32", 0x80000001, 0x00000001, 2},                                  /* across zero */
        {__LINE__, "tf32", 0x3f800000, 0x3f802000, 1},                                 /* its own steps */
        {__LINE__, "tf32", 0x3f800000, 0x3f801fff, 0},                                 /* ignored bits */
        {__LINE__, "i8", 0x80, 0x7f, 255},
        {__LINE__, "e8m0", 0x00, 0xfe, 254},
        {__LINE__, "f64", 0x7ff8000000000000, 0x7ff8000000000000, UINT64_MAX},
        {__LINE__, "f32", 0x7fc00000, 0, UINT64_MAX},
        {__LINE__, "f32", 0, 0xff800001, UINT64_MAX},
        {__LINE__, "e4m3", 0x7e, 0xff, UINT64_MAX},
        {__LINE__, "e4m3fnuz", 0x80, 0x00, UINT64_MAX},
        {__LINE__, "e8m0", 0xff, 0xff, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_format *f = lb_format_find(rows[i].name);
        EXPECT_CODE(rows[i].line, lb_ulp_distance(f, rows[i].a, rows[i].b), rows[i].want);
        EXPECT_CODE(rows[i].line, lb_ulp_distance(f, rows[i].b, rows[i].a), rows[i].want);
    }
}

/* ---- cases from the field -------------------------------------------------------------------------------------------- */

static void conversions_that_went_wrong_elsewhere_come_out_right(void **state) {
    (void)state;
    static const struct {
        int line;
        double x;
        const char *name;
        lb_rounding rounding;
        lb_overflow overflow;
        uint64_t want;
    } rows[] = {
        {__LINE__, 50000, "u8", LB_RNE, LB_OVERFLOW_SATURATE, 255}, /* INT-01: onnx/onnx#7835, 100*100/0.2 */
        {__LINE__, 50000, "u8", LB_RNE, LB_OVERFLOW_WRAP, 80},
        {__LINE__, -236, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0x80}, /* INT-01: onnx/onnx#6169 */
        {__LINE__, -236, "i8", LB_RNE, LB_OVERFLOW_WRAP, 20},
        {__LINE__, -129, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0x80}, /* INT-11: microsoft/onnxruntime#3442 */
        {__LINE__, -128, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0x80},
        {__LINE__, -127, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0x81},
        {__LINE__, 127, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0x7f},
        {__LINE__, 128, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0x7f},
        {__LINE__, 0.5, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0}, /* INT-13: tenstorrent/tt-metal#56525 */
        {__LINE__, 1.5, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 2},
        {__LINE__, 2.5, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 2},
        {__LINE__, -2.5, "i8", LB_RNE, LB_OVERFLOW_SATURATE, 0xfe},
        {__LINE__, 2.5, "i8", LB_RNA, LB_OVERFLOW_SATURATE, 3},           /* the other policy */
        {__LINE__, 0x1.00201p0, "f16", LB_RNE, LB_OVERFLOW_IEEE, 0x3c01}, /* PLT-01: ggml-org/llama.cpp#10764 */
        {__LINE__, 0x1.00201p0, "f16", LB_RZ, LB_OVERFLOW_IEEE, 0x3c00},
        {__LINE__, 1.001, "bf16", LB_RNE, LB_OVERFLOW_IEEE, 0x3f80},         /* PLT-08: openxla/xla#41605 */
        {__LINE__, 0x1.007p0, "tf32", LB_RNA, LB_OVERFLOW_IEEE, 0x3f804000}, /* TCE-01: triton-lang/triton#4574 */
        {__LINE__, 0x1.007p0, "tf32", LB_RZ, LB_OVERFLOW_IEEE, 0x3f802000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_encoding how = {.rounding = rows[i].rounding, .overflow = rows[i].overflow};
        EXPECT_CODE(rows[i].line, lb_encode(lb_format_find(rows[i].name), lb_value_of(rows[i].x), &how, NULL), rows[i].want);
    }
    assert_true(lb_to_double(lb_format_find("tf32"), 0x3f803800) == 1.0009765625); /* TCE-01, operands chopped */
    assert_true(lb_to_double(lb_format_find("tf32"), 0x3f804000) == 1.001953125);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_ends_where_its_document_says),
        cmocka_unit_test(every_format_has_a_row_of_ends_here),
        cmocka_unit_test(names_and_aliases_find_one_format_each_and_a_wrong_one_the_nearest),
#if LB_HAVE_MPFR
        cmocka_unit_test(every_code_of_every_format_means_what_mpfr_says_and_comes_back),
#endif
        cmocka_unit_test(a_code_comes_back_as_itself_unless_it_is_nan_or_a_bit_is_ignored),
        cmocka_unit_test(bits_above_a_code_and_the_low_bits_of_tf32_are_ignored),
        cmocka_unit_test(flushing_takes_subnormal_codes_alone),
        cmocka_unit_test(neighbours_on_the_number_line_are_one_apart_and_equal_values_none),
        cmocka_unit_test(ordinals_of_wide_formats_follow_their_values),
        cmocka_unit_test(a_distance_never_overflows_and_to_nan_is_the_greatest),
        cmocka_unit_test(conversions_that_went_wrong_elsewhere_come_out_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
