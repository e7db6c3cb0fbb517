/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Block-scaled formats against a search over values: no logarithm, no quotient. Every product below has at most 12 bits and
 * an exponent far inside f64, so the comparisons with it are exact. Emax and the largest values are typed from OCP MX 1.0, table 1. */
#include "test.h"

#include "lastbit/formats.h"

#include <math.h>

enum { SEED = 14, BLOCKS = 4000, MOST = 256 };

/* Non-negative finite values of a format in order of their codes. */
typedef struct line {
    int count, man;
    double value[MOST];
} line;

typedef struct shape {
    const char *name; /* of the block format */
    int exp, man, bias, max_code, emax, size;
    double max;
    const char *scale;
} shape;

static const shape shapes[] = {
    {"mxfp8_e4m3", 4, 3, 7, 0x7e, 8, 32, 448, "e8m0"}, {"mxfp8_e5m2", 5, 2, 15, 0x7b, 15, 32, 57344, "e8m0"},
    {"mxfp6_e3m2", 3, 2, 3, 0x1f, 4, 32, 28, "e8m0"},  {"mxfp6_e2m3", 2, 3, 1, 0x1f, 2, 32, 7.5, "e8m0"},
    {"mxfp4", 2, 1, 1, 0x07, 2, 32, 6, "e8m0"},        {"mxint8", 0, 6, 0, 0x7f, 0, 32, 127.0 / 64, "e8m0"},
    {"nvfp4", 2, 1, 1, 0x07, 2, 16, 6, "ue4m3"},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* mxint8 is a fixed point number: as a float it has no exponent and is subnormal throughout. */
static line element_line(const shape *s) {
    line l = {.count = s->max_code + 1, .man = s->man};
    for (int code = 0; code < l.count; code++) {
        const int exp = s->exp ? code >> s->man : 0, man = s->exp ? code & ((1 << s->man) - 1) : code;
        l.value[code] = s->exp == 0 ? man / 64.0
                        : exp       ? ldexp((1 << s->man) + man, exp - s->bias - s->man)
                                    : ldexp(man, 1 - s->bias - s->man);
    }
    return l;
}

static line scale_line(const shape *s) {
    static const shape ue4m3 = {"", 4, 3, 7, 0x7e, 8, 0, 448, ""};
    if (strcmp(s->scale, "e8m0") != 0) return element_line(&ue4m3);
    line l = {.count = 255, .man = 0};
    for (int code = 0; code < l.count; code++) l.value[code] = ldexp(1, code - 127);
    return l;
}

/* Code of the value v with v * unit nearest to x >= 0, the last one if x lies beyond. Ties: to the even code; where a format has
 * one digit, to the larger value. `down`: the largest value that is not above x. */
static int nearest(const line *l, double x, double unit, bool down) {
    int code = 0;
    while (code + 1 < l->count) {
        const double turn = (down ? l->value[code + 1] : (l->value[code] + l->value[code + 1]) / 2) * unit;
        const bool up = x > turn || (x == turn && (down || code % 2 == 1 || l->man == 0));
        if (!up) break;
        code++;
    }
    return code;
}

/* The power of two of a rule, by going through all of them. */
static double power_for(const shape *s, lb_scale_rule rule, double amax) {
    const double carry = 1 - ldexp(1, -s->man - 2); /* what rounds up to the next power of two, as a part of that */
    for (int e = -300; e < 300; e++) {
        const double p = ldexp(1, e), next = ldexp(2, e + s->emax);
        if (rule == LB_SCALE_FLOOR && amax < next) return p;
        if (rule == LB_SCALE_EVEN && amax < next * carry) return p;
        if (rule == LB_SCALE_CEIL && amax <= s->max * p) return p;
    }
    return ldexp(1, 300);
}

static int scale_for(const shape *s, const line *scales, lb_scale_rule rule, double amax) {
    if (amax == 0) return 0;
    return rule == LB_SCALE_AMAX ? nearest(scales, amax, s->max, false) : nearest(scales, power_for(s, rule, amax), 1, false);
}

static const char *const rule_names[] = {"floor", "ceil", "even", "amax"};

static void expect_block(const shape *s, lb_scale_rule rule, const double *x, int count, bool down) {
    static const lb_encoding toward_zero = {.rounding = LB_RZ, .overflow = LB_OVERFLOW_SATURATE};
    const lb_block_format *f = lb_block_format_find(s->name);
    const line elements = element_line(s), scales = scale_line(s);
    uint8_t codes[32], scale;
    double amax = 0;
    for (int i = 0; i < count; i++) amax = fmax(amax, fabs(x[i]));
    assert_int_equal(lb_block_encode(f, rule, x, (size_t)count, down ? &toward_zero : NULL, codes, &scale, NULL), LB_OK);
    const int want_scale = scale_for(s, &scales, rule, amax);
    if (scale != want_scale) fail_msg("%s, %s: amax %a: scale %02x, want %02x", s->name, rule_names[rule], amax, scale, want_scale);
    for (int i = 0; i < count; i++) {
        const double unit = scales.value[want_scale];
        const int magnitude = unit == 0 ? 0 : nearest(&elements, fabs(x[i]), unit, down);
        const int width = lb_format_row(f->element)->bits;
        const int want = !signbit(x[i]) ? magnitude : s->exp == 0 ? (256 - magnitude) % 256 : magnitude + (1 << (width - 1));
        if (codes[i] != want)
            fail_msg("%s, %s: x[%d] = %a, amax %a, scale %02x: code %02x, want %02x", s->name, rule_names[rule], i, x[i], amax, scale,
                     codes[i], (unsigned)want);
        const double value = elements.value[magnitude] * unit;
        if (lb_block_decode(f, codes[i], scale) != (signbit(x[i]) ? -value : value)) fail_msg("%s: %02x * %02x", s->name, codes[i], scale);
    }
}
/* ---- seeded blocks --------------------------------------------------------------------------------------------------- */

static uint64_t word(uint64_t i, int j) {
    return lb_random_u64(SEED, 1, i * 40 + (uint64_t)j);
}

static double signed_by(uint64_t w, double x) {
    return w >> 63 ? -x : x;
}

/* The places where a rule or an element may turn, with the doubles beside them: the largest value, the carry of "even", powers. */
static double turning_point(const shape *s, const line *l, uint64_t w) {
    const int code = (int)(w % (uint64_t)l->count);
    const double at[] = {s->max, ldexp(2 - ldexp(1, -s->man - 1), s->emax), ldexp(1, s->emax), l->value[code],
                         (l->value[code] + l->value[code ? code - 1 : 0]) / 2};
    const double x = at[(w >> 16) % 5];
    return (w >> 20) % 3 == 0 ? x : (w >> 20) % 3 == 1 ? nextafter(x, INFINITY) : nextafter(x, -1);
}

/* Block number i of a shape. */
static void draw(const shape *s, uint64_t i, double x[32]) {
    const line elements = element_line(s), scales = scale_line(s);
    const int common = (int)(word(i, 35) % 41) - 20;
    const double scale = scales.value[word(i, 36) % (uint64_t)scales.count];
    for (int j = 0; j < s->size; j++) {
        const uint64_t w = word(i, j);
        const double fraction = ldexp((double)(w >> 12 | UINT64_C(1) << 51), -51); /* in [1, 4) */
        switch (i % 5) {
        case 0: x[j] = signed_by(w, ldexp(fraction, common - (int)(w & 7))); break;
        case 1: x[j] = signed_by(w, ldexp(turning_point(s, &elements, w), common)); break;
        case 2: x[j] = signed_by(w, (j ? turning_point(s, &elements, w) : s->max) * scale); break;
        case 3: x[j] = signed_by(w, j ? 0 : ldexp(turning_point(s, &elements, w), common)); break;
        default: /* the ends of f64 and of the scale: everything from 2^-1074 to 2^1023, and -0 */
            x[j] = w % 5 == 0 ? signed_by(w, 0) : signed_by(w, ldexp(fraction, (int)(word(i, 37) % 2090) - 1072 - (int)(w & 3)));
            break;
        }
    }
}

static void seeded_blocks_of_every_format_under_every_rule_are_the_nearest_values(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (uint64_t i = 0; i < BLOCKS; i++) {
            double x[32];
            draw(&shapes[k], i, x);
            const int count = i % 3 ? shapes[k].size : 1 + (int)(i % (uint64_t)shapes[k].size);
            for (int rule = LB_SCALE_FLOOR; rule <= LB_SCALE_AMAX; rule++)
                expect_block(&shapes[k], (lb_scale_rule)rule, x, count, i % 7 == 0);
        }
}

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

static void all_codes_times_all_scales_of_mxfp4_and_nvfp4_are_exact_products(void **state) {
    (void)state;
    static const double e2m1[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6}; /* OCP MX 1.0, table 5 */
    const lb_block_format *mx = lb_block_format_find("mxfp4"), *nv = lb_block_format_find("nvfp4");
    for (int scale = 0; scale < 256; scale++)
        for (int code = 0; code < 16; code++) {
            const double m = lb_block_decode(mx, (uint8_t)code, (uint8_t)scale), n = lb_block_decode(nv, (uint8_t)code, (uint8_t)scale);
            const int exp = scale >> 3 & 15, man = scale & 7; /* of ue4m3, whose top bit is ignored */
            const double s = exp ? ldexp(8 + man, exp - 10) : ldexp(man, -9);
            const bool m_right = scale == 255 ? isnan(m) : m == ldexp(e2m1[code], scale - 127) && !signbit(m) == !signbit(e2m1[code]);
            const bool n_right = (scale & 127) == 127 ? isnan(n) : n == e2m1[code] * s && !signbit(n) == !signbit(e2m1[code]);
            if (!m_right || !n_right) fail_msg("code %x, scale %02x: mxfp4 %a, nvfp4 %a", (unsigned)code, (unsigned)scale, m, n);
        }
}

static void every_block_format_decodes_its_finite_codes_times_every_scale(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        const lb_block_format *f = lb_block_format_find(shapes[k].name);
        const line elements = element_line(&shapes[k]), scales = scale_line(&shapes[k]);
        assert_int_equal(f->size, shapes[k].size);
        for (int scale = 0; scale < scales.count; scale++)
            for (int code = 0; code < elements.count; code++)
                if (lb_block_decode(f, (uint8_t)code, (uint8_t)scale) != elements.value[code] * scales.value[scale])
                    fail_msg("%s: code %02x, scale %02x", f->name, (unsigned)code, (unsigned)scale);
    }
    static const struct {
        int line;
        const char *name;
        uint8_t code, scale;
        double want;
    } rows[] = {
        {__LINE__, "mxint8", 0x80, 127, -2}, /* decoded, never encoded */
        {__LINE__, "mxint8", 0xff, 127, -0x1p-6},
        {__LINE__, "mxfp8_e5m2", 0xfc, 0, -INFINITY},
        {__LINE__, "mxfp6_e3m2", 0x3f, 254, -0x1.cp131},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (lb_block_decode(lb_block_format_find(rows[i].name), rows[i].code, rows[i].scale) != rows[i].want)
            fail_msg("row at %s:%d", __FILE__, rows[i].line);
    assert_true(isnan(lb_block_decode(lb_block_format_find("mxfp8_e4m3"), 0x7f, 127)));
    assert_true(isnan(lb_block_decode(lb_block_format_find("mxfp8_e5m2"), 0x7c, 255)));
}

/* ---- by hand --------------------------------------------------------------------------------------------------------- */

static void each_rule_and_edge_gives_the_block_worked_out_by_hand(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *name;
        lb_scale_rule rule;
        double x[3];
        uint8_t scale, codes[3];
    } rows[] = {
        /* amax 7 = 1.75 * 2^2: floor keeps 2^0 and saturates, ceil doubles, "even" carries at 1.75 */
        {__LINE__, "mxfp4", LB_SCALE_FLOOR, {7, -1, 0.25}, 127, {0x7, 0xa, 0x0}},
        {__LINE__, "mxfp4", LB_SCALE_CEIL, {7, -1, 0.25}, 128, {0x6, 0x9, 0x0}}, /* 3.5: to even, 4 */
        {__LINE__, "mxfp4", LB_SCALE_EVEN, {7, -1, 0.25}, 128, {0x6, 0x9, 0x0}},
        {__LINE__, "mxfp4", LB_SCALE_EVEN, {6.9999, -1, 0.25}, 127, {0x7, 0xa, 0x0}},
        {__LINE__, "mxfp4", LB_SCALE_CEIL, {6, -5, 5}, 127, {0x7, 0xe, 0x6}}, /* 5: to even, 4 */
        {__LINE__, "mxfp4", LB_SCALE_CEIL, {0x1.8000000000001p2, 0, 0}, 128, {0x5, 0, 0}},
        {__LINE__, "mxfp8_e4m3", LB_SCALE_FLOOR, {500, 448, -500}, 127, {0x7e, 0x7e, 0xfe}},
        {__LINE__, "mxint8", LB_SCALE_FLOOR, {-1.999, 1, -0.0}, 127, {0x81, 0x40, 0x00}}, /* -128 is not made */
        {__LINE__, "mxfp4", LB_SCALE_FLOOR, {0, -0.0, 0}, 0, {0x0, 0x8, 0x0}},
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {0, -0.0, 0}, 0, {0x0, 0x8, 0x0}},
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {6, 0.25, -0.75}, 0x38, {0x7, 0x0, 0xa}},
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {2688, -1e9, 224}, 0x7e, {0x7, 0xf, 0x1}},      /* saturates: 224 / 448 = 0.5 */
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {0x1.8p-8, 0, 0}, 0x00, {0x0, 0x0, 0x0}},       /* amax / 6 = 2^-10: to even, zero */
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {0x1.8000001p-8, 0, 0}, 0x01, {0x5, 0x0, 0x0}}, /* and a bit: 2^-9, 3.0000001 */
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {78, 6.5, -3.25}, 0x55, {0x7, 0x1, 0x8}},       /* 13: 6.5 / 13 = 1/2; 1/4 to even */
        {__LINE__, "mxfp4", LB_SCALE_FLOOR, {1e300, 1, -1e300}, 254, {0x7, 0x0, 0xf}},
        {__LINE__, "mxfp4", LB_SCALE_FLOOR, {0x1p-1074, -0x1p-1074, 0}, 0, {0x0, 0x8, 0x0}},
        {__LINE__, "mxfp4", LB_SCALE_FLOOR, {NAN, 1, 2}, 255, {0, 0, 0}},
        {__LINE__, "mxfp8_e5m2", LB_SCALE_FLOOR, {1, -INFINITY, 2}, 255, {0, 0, 0}},
        {__LINE__, "nvfp4", LB_SCALE_AMAX, {1, 2, NAN}, 0x7f, {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t codes[3], scale;
        assert_int_equal(lb_block_encode(lb_block_format_find(rows[i].name), rows[i].rule, rows[i].x, 3, NULL, codes, &scale, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, scale, rows[i].scale);
        for (int j = 0; j < 3; j++) EXPECT_CODE(rows[i].line, codes[j], rows[i].codes[j]);
    }
}

static void overflow_of_an_element_follows_the_callers_rule(void **state) {
    (void)state;
    const double x[1] = {500};
    const lb_encoding ieee = {0};
    uint8_t code, scale;
    assert_int_equal(lb_block_encode(lb_block_format_find("mxfp8_e4m3"), LB_SCALE_FLOOR, x, 1, &ieee, &code, &scale, NULL), LB_OK);
    EXPECT_CODE(__LINE__, code, 0x7f);
}

static void a_count_outside_the_block_is_refused_and_names_it(void **state) {
    (void)state;
    static const double x[33];
    uint8_t codes[33], scale;
    lb_error err;
    const lb_block_format *f = lb_block_format_find("nvfp4");
    assert_int_equal(lb_block_encode(f, f->rule, x, 0, NULL, codes, &scale, &err), LB_E_ARG);
    assert_int_equal(lb_block_encode(f, f->rule, x, 17, NULL, codes, &scale, &err), LB_E_ARG);
    assert_string_equal(err.place, "nvfp4");
}

static void every_block_format_has_a_row_of_shapes_here(void **state) {
    (void)state;
    size_t n = 0;
    for (; lb_block_format_row(n); n++) {
        const lb_block_format *f = lb_block_format_row(n);
        int k = 0;
        while (k < SHAPES && strcmp(shapes[k].name, f->name) != 0) k++;
        if (k == SHAPES) fail_msg("%s:%d: block format %s has no row in `shapes`", __FILE__, __LINE__, f->name);
        assert_int_equal(f->rule, strcmp(f->name, "nvfp4") == 0 ? LB_SCALE_AMAX : LB_SCALE_FLOOR);
        assert_ptr_equal(lb_block_format_find(f->name), f);
    }
    assert_int_equal(n, SHAPES);
    assert_null(lb_block_format_find("mxfp5"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_format_has_a_row_of_shapes_here),
        cmocka_unit_test(seeded_blocks_of_every_format_under_every_rule_are_the_nearest_values),
        cmocka_unit_test(all_codes_times_all_scales_of_mxfp4_and_nvfp4_are_exact_products),
        cmocka_unit_test(every_block_format_decodes_its_finite_codes_times_every_scale),
        cmocka_unit_test(each_rule_and_edge_gives_the_block_worked_out_by_hand),
        cmocka_unit_test(overflow_of_an_element_follows_the_callers_rule),
        cmocka_unit_test(a_count_outside_the_block_is_refused_and_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
