/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CPU instructions: at the edges by hand, against the live CPU where it has them, and against MPFR. */
#include "units_help.h"

#include <stdlib.h>

#if LB_HAVE_MPFR
#include "oracle/steps_mpfr.h"
#endif

#if defined __x86_64__
#include <immintrin.h>
#endif

/* ---- by hand ---------------------------------------------------------------------------------------------------------- */

static const unit_edge edges[] = {
    /* odd k first: 1 + 2^24 ties to 2^24, less 2^24 is 0; even k first would be exact, 1 */
    {__LINE__, "x86/vdpbf16ps", 0x3f800000, 0x00000000, 2, {{-0x1p12, 0x1p12}, {0x1p12, 0x1p12}}},
    /* two roundings: 1 + 2^-24 ties to 1, twice; one fused sum would be 1 + 2^-23 */
    {__LINE__, "x86/vdpbf16ps", 0x3f800000, 0x3f800000, 2, {{0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    /* each fma is fused: 2^-24 (1 + 2^-7)^2 on top of 1 is above the tie */
    {__LINE__, "x86/vdpbf16ps", 0x3f800000, 0x3f800001, 2, {{0, 0}, {0x1.02p-12, 0x1.02p-12}}},
    /* subnormals count as zeros: c = 2^-149; c = -2^-149 becomes -0, and -0 + 0*0 is +0; 2^-130 * 2^20 */
    {__LINE__, "x86/vdpbf16ps", 0x00000001, 0x00000000, 0, {{0}}},
    {__LINE__, "x86/vdpbf16ps", 0x80000001, 0x00000000, 0, {{0}}},
    {__LINE__, "x86/vdpbf16ps", 0x00000000, 0x00000000, 2, {{0, 0}, {0x1p-130, 0x1p20}}},
    /* a result of -2^-130 is -0; the even product -0 * 1 leaves it so */
    {__LINE__, "x86/vdpbf16ps", 0x80000000, 0x80000000, 2, {{-0.0, 1}, {-0x1p-100, 0x1p-30}}},
    /* tininess is seen after rounding to 24 bits: 2^-126 - 2^-152 and 2^-126 - 2^-151 (a tie) make 2^-126; 2^-126 - 2^-150 is tiny */
    {__LINE__, "x86/vdpbf16ps", 0x00800000, 0x00800000, 2, {{0, 0}, {-0x1p-76, 0x1p-76}}},
    {__LINE__, "x86/vdpbf16ps", 0x00800000, 0x00800000, 2, {{0, 0}, {-0x1p-76, 0x1p-75}}},
    {__LINE__, "x86/vdpbf16ps", 0x00800000, 0x00000000, 2, {{0, 0}, {-0x1p-75, 0x1p-75}}},
    /* Inf * 0, Inf - Inf; overflow to Inf; 0 * 2^127 is 0 */
    {__LINE__, "x86/vdpbf16ps", 0, 0xffc00000, 2, {{0, 0}, {INFINITY, 0}}},
    {__LINE__, "x86/vdpbf16ps", 0xff800000, 0xffc00000, 2, {{1, INFINITY}, {1, 1}}},
    {__LINE__, "x86/vdpbf16ps", 0, 0x7f800000, 2, {{-0x1p127, 1}, {0x1p127, 2}}},
    {__LINE__, "x86/vdpbf16ps", 0x3f800000, 0x3f800000, 2, {{0, 0x1p127}, {0, -0x1p127}}},

    /* even and odd k have chains of their own, from zero: 2^24 and -2^24 are both even, 1 is odd; one chain would lose the 1 */
    {__LINE__, "x86/tdpbf16ps", 0, 0x3f800000, 3, {{0x1p12, 0x1p12}, {1, 1}, {-0x1p12, 0x1p12}}},
    /* c is added last: 1 + (2^24 - 2^24) */
    {__LINE__, "x86/tdpbf16ps", 0x3f800000, 0x3f800000, 3, {{0x1p12, 0x1p12}, {0, 0}, {-0x1p12, 0x1p12}}},
    /* the chains are added first: 2^24 + 1 ties to 2^24; c = -2^24 leaves 0 */
    {__LINE__, "x86/tdpbf16ps", 0xcb800000, 0x00000000, 2, {{0x1p12, 0x1p12}, {1, 1}}},
    /* bf16 subnormals are flushed, f16 subnormals are normal numbers of f32: 2^-24 */
    {__LINE__, "x86/tdpbf16ps", 0, 0x00000000, 1, {{0x1p-130, 0x1p20}}},
    {__LINE__, "x86/tdpfp16ps", 0, 0x33800000, 1, {{0x1p-24, 1}}},
    {__LINE__, "x86/tdpfp16ps", 0x00000001, 0x00000000, 0, {{0}}},
    {__LINE__, "x86/tdpfp16ps", 0, 0xffc00000, 1, {{INFINITY, 0}}},

    /* u8 * i8: 255 * -128 four times on top of INT32_MIN wraps to 0x7ffe0200, or stays there */
    {__LINE__, "x86/vpdpbusd", 0x80000000, 0x7ffe0200, 4, {{255, -128}, {255, -128}, {255, -128}, {255, -128}}},
    {__LINE__, "x86/vpdpbusds", 0x80000000, 0x80000000, 4, {{255, -128}, {255, -128}, {255, -128}, {255, -128}}},
    {__LINE__, "x86/vpdpbusd", 0x7fffffff, 0x80000000, 1, {{1, 1}}},
    {__LINE__, "x86/vpdpbusds", 0x7fffffff, 0x7fffffff, 1, {{1, 1}}},
    /* saturated once, not after each product: INT32_MAX + 1 - 1 */
    {__LINE__, "x86/vpdpbusds", 0x7fffffff, 0x7fffffff, 2, {{1, 1}, {1, -1}}},
    {__LINE__, "x86/vpdpbusds", 0x7fffffff, 0x7ffffffe, 3, {{1, 1}, {1, -1}, {1, -1}}},
    {__LINE__, "arm/smmla", 0x7fffffff, 0x80000000, 1, {{-1, -1}}},
    {__LINE__,
     "arm/smmla",
     0,
     0x00020000,
     8,
     {{-128, -128}, {-128, -128}, {-128, -128}, {-128, -128}, {-128, -128}, {-128, -128}, {-128, -128}, {-128, -128}}},

    /* Arm, EBF 0: 1 + 2^-30 to odd is 1 + 2^-23; EBF 1: to nearest, 1 */
    {__LINE__, "arm/bfdot.ebf0", 0, 0x3f800001, 2, {{1, 1}, {0x1p-15, 0x1p-15}}},
    {__LINE__, "arm/bfdot.ebf1", 0, 0x3f800000, 2, {{1, 1}, {0x1p-15, 0x1p-15}}},
    /* an exact odd-rounded sum stays even */
    {__LINE__, "arm/bfdot.ebf0", 0x3f800000, 0x40000000, 1, {{1, 1}}},
    /* results and operands below 2^-126 are flushed, or kept: 2^-130 = 2^19 * 2^-149; 2^-110 */
    {__LINE__, "arm/bfdot.ebf0", 0, 0x00000000, 1, {{0x1p-100, 0x1p-30}}},
    {__LINE__, "arm/bfdot.ebf1", 0, 0x00080000, 1, {{0x1p-100, 0x1p-30}}},
    {__LINE__, "arm/bfdot.ebf0", 0, 0x00000000, 1, {{0x1p-130, 0x1p20}}},
    {__LINE__, "arm/bfdot.ebf1", 0, 0x08800000, 1, {{0x1p-130, 0x1p20}}},
    {__LINE__, "arm/bfdot.ebf0", 0x00400000, 0x00000000, 0, {{0}}},
    {__LINE__, "arm/bfdot.ebf1", 0x00400000, 0x00400000, 0, {{0}}},
    /* overflow: the largest f32 and 2^100 stay (to odd), and 2^104 makes 2^128: Inf */
    {__LINE__, "arm/bfdot.ebf0", 0x7f7fffff, 0x7f7fffff, 1, {{0x1p50, 0x1p50}}},
    {__LINE__, "arm/bfdot.ebf0", 0x7f7fffff, 0x7f800000, 1, {{0x1p52, 0x1p52}}},
    {__LINE__, "arm/bfdot.ebf0", 0, 0xff800000, 1, {{-0x1p127, 2}}},
    /* EBF 1 keeps a product above the range until the pair is summed: 2^128 - 2^127 = 2^127; EBF 0 has Inf by then */
    {__LINE__, "arm/bfdot.ebf1", 0, 0x7f000000, 2, {{0x1p127, 2}, {-0x1p127, 1}}},
    {__LINE__, "arm/bfdot.ebf0", 0, 0x7f800000, 2, {{0x1p127, 2}, {-0x1p127, 1}}},
    /* NaN is the default one */
    {__LINE__, "arm/bfdot.ebf0", 0, 0x7fc00000, 2, {{INFINITY, 1}, {-INFINITY, 1}}},
    {__LINE__, "arm/bfdot.ebf1", 0, 0x7fc00000, 1, {{INFINITY, 0}}},
    {__LINE__, "arm/bfdot.ebf1", 0xffffffff, 0x7fc00000, 1, {{1, 1}}},
    /* signed zeros: (-0) + (-0) is -0, and -0 + c = -0 */
    {__LINE__, "arm/bfdot.ebf0", 0x80000000, 0x80000000, 2, {{-0.0, 1}, {-0.0, 1}}},
    {__LINE__, "arm/bfdot.ebf0", 0x80000000, 0x00000000, 2, {{-0.0, 1}, {0, 1}}},
    {__LINE__, "arm/bfdot.ebf0", 0, 0x00000000, 2, {{1, 1}, {-1, 1}}},
    /* BFMMLA: one pair after the other. 1 + 2^24 ties to 2^24, less 2^24 is 0; to odd it is 2^24 + 2, and 2 is left */
    {__LINE__, "arm/bfmmla.ebf1", 0x3f800000, 0x00000000, 3, {{0x1p12, 0x1p12}, {0, 0}, {-0x1p12, 0x1p12}}},
    {__LINE__, "arm/bfmmla.ebf0", 0x3f800000, 0x40000000, 3, {{0x1p12, 0x1p12}, {0, 0}, {-0x1p12, 0x1p12}}},
};

static void edges_give_the_bits_worked_out_in_their_comments(void **state) {
    (void)state;
    expect_edges(edges);
}

static void vdpbf16ps_passes_on_the_first_nan_quieted_with_its_payload(void **state) {
    (void)state;
    static const struct {
        int line;
        uint32_t a[2], b[2], c, d;
    } rows[] = {
        {__LINE__, {0x7f81, 0x7f82}, {0x7f83, 0x7f84}, 0x7f800005, 0x7fc10000}, /* a even, before … */
        {__LINE__, {0x3f80, 0x7f82}, {0xff83, 0x7f84}, 0x7f800005, 0xffc30000}, /* b even */
        {__LINE__, {0x3f80, 0x7f82}, {0x3f80, 0x7f84}, 0x7f800005, 0x7fc20000}, /* a odd */
        {__LINE__, {0x3f80, 0x3f80}, {0x3f80, 0x7f84}, 0x7f800005, 0x7fc40000}, /* b odd */
        {__LINE__, {0x3f80, 0x3f80}, {0x3f80, 0x3f80}, 0x7f800005, 0x7fc00005}, /* c */
        {__LINE__, {0x7f80, 0x3f80}, {0x0000, 0x3f80}, 0x7fc00005, 0x7fc00005}, /* an operand's NaN before Inf * 0 */
    };
    const lb_unit u = unit_named("x86/vdpbf16ps");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t d;
        assert_int_equal(lb_unit_dot(&u, rows[i].a, rows[i].b, 2, rows[i].c, &d, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, d, rows[i].d);
    }
}

/* ---- against the live CPU ---------------------------------------------------------------------------------------------- */

enum { LANES = 16, CLASSES = 7 };

/* Inputs of one lane, in seven classes. */
static void draw_bf16(int class, uint64_t i, uint32_t a[2], uint32_t b[2], uint32_t *c) {
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_SPECIAL};
    const lb_format *bf16 = lb_format_row(LB_BF16), *f32 = lb_format_row(LB_F32);
    const uint64_t w = lb_random_u64(7, 9, i), v = lb_random_u64(7, 10, i);
    const lb_dist dist = dists[class < 4 ? class : 0];
    for (uint32_t k = 0; k < 2; k++) {
        a[k] = (uint32_t)lb_draw(bf16, dist, 7, 1, 2 * i + k);
        b[k] = (uint32_t)lb_draw(bf16, dist, 7, 2, 2 * i + k);
    }
    *c = (uint32_t)lb_draw(f32, dist, 7, 3, i);
    switch (class) {
    case 4: /* products, sums and c around 2^-126, subnormal operands among them */
        for (uint32_t k = 0; k < 2; k++) {
            a[k] = (uint32_t)(w >> (16 * k) & 0x80ff) | (uint32_t)(56 + (w >> (32 + 4 * k)) % 10) << 7;
            b[k] = (uint32_t)(v >> (16 * k) & 0x80ff) | (uint32_t)(56 + (v >> (32 + 4 * k)) % 10) << 7;
        }
        *c = (uint32_t)(w >> 48) << 16 & 0x80000000;
        *c |= (uint32_t)(v >> 40) & 0x01ffffff;
        if (w >> 44 & 1) a[w >> 45 & 1] &= 0x807f;
        break;
    case 5: /* c cancels the odd product, or all but some last places of both */
        *c = (uint32_t)lb_from_double(f32, -(lb_to_double(bf16, a[1]) * lb_to_double(bf16, b[1]) +
                                             (w & 1 ? lb_to_double(bf16, a[0]) * lb_to_double(bf16, b[0]) : 0)));
        *c += (uint32_t)(v % 5) - 2;
        break;
    case 6: /* any bits: NaN with payloads, Inf, far overflow */
        for (uint32_t k = 0; k < 2; k++) {
            a[k] = (uint32_t)(w >> (16 * k)) & 0xffff;
            b[k] = (uint32_t)(w >> (32 + 16 * k)) & 0xffff;
            if ((v >> (32 + 4 * k)) % 16 == 0) a[k] |= 0x7f80;
            if ((v >> (48 + 4 * k)) % 16 == 0) b[k] |= 0x7f80;
        }
        *c = (uint32_t)v;
        break;
    default: break;
    }
}

static uint64_t live_vectors(void) {
    const char *full = getenv("LB_FULL");
    return full && *full == '1' ? 10000000 : 1000000;
}

#if defined __x86_64__
__attribute__((target("avx512f,avx512bf16"))) static void run_vdpbf16ps(const uint32_t *a, const uint32_t *b, uint32_t *c) {
    const __m512 d =
        _mm512_dpbf16_ps(_mm512_loadu_ps((const float *)(const void *)c), (__m512bh)_mm512_loadu_si512(a), (__m512bh)_mm512_loadu_si512(b));
    _mm512_storeu_ps((float *)(void *)c, d);
}

__attribute__((target("avx512f,avx512vnni"))) static void run_vpdpbusd(bool saturate, const uint32_t *a, const uint32_t *b, uint32_t *c) {
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b), z = _mm512_loadu_si512(c);
    _mm512_storeu_si512(c, saturate ? _mm512_dpbusds_epi32(z, x, y) : _mm512_dpbusd_epi32(z, x, y));
}

static bool has_bf16(void) {
    return __builtin_cpu_supports("avx512bf16");
}

static bool has_vnni(void) {
    return __builtin_cpu_supports("avx512vnni");
}
#else
static void run_vdpbf16ps(const uint32_t *a, const uint32_t *b, uint32_t *c) {
    (void)a, (void)b, (void)c;
}

static void run_vpdpbusd(bool saturate, const uint32_t *a, const uint32_t *b, uint32_t *c) {
    (void)saturate, (void)a, (void)b, (void)c;
}

static bool has_bf16(void) {
    return false;
}

static bool has_vnni(void) {
    return false;
}
#endif

static void vdpbf16ps_equals_the_live_instruction_in_seven_classes(void **state) {
    (void)state;
    if (!has_bf16()) {
        print_message("SKIP x86/vdpbf16ps against the CPU: this CPU has no AVX512_BF16\n");
        skip();
    }
    const lb_unit u = unit_named("x86/vdpbf16ps");
    const uint64_t vectors = live_vectors();
    uint64_t compared[CLASSES] = {0};
    for (uint64_t first = 0; first < vectors; first += LANES) {
        const int class = (int)(first / LANES % CLASSES);
        uint32_t a[LANES][2], b[LANES][2], pa[LANES], pb[LANES], c[LANES], live[LANES];
        for (uint64_t l = 0; l < LANES; l++) {
            draw_bf16(class, first + l, a[l], b[l], &c[l]);
            pa[l] = a[l][0] | a[l][1] << 16;
            pb[l] = b[l][0] | b[l][1] << 16;
            live[l] = c[l];
        }
        run_vdpbf16ps(pa, pb, live);
        for (size_t l = 0; l < LANES; l++) {
            uint32_t d;
            assert_int_equal(lb_unit_dot(&u, a[l], b[l], 2, c[l], &d, NULL), LB_OK);
            if (d != live[l])
                fail_msg("class %d, a %04x %04x b %04x %04x c %08x: model %08x, CPU %08x", class, a[l][0], a[l][1], b[l][0], b[l][1], c[l],
                         d, live[l]);
            compared[class]++;
        }
    }
    for (int i = 0; i < CLASSES; i++) assert_true(compared[i] >= vectors / CLASSES - LANES);
    print_message("x86/vdpbf16ps equals the CPU on %llu vectors\n", (unsigned long long)vectors);
}

static void vpdpbusd_and_its_saturating_form_equal_the_live_instructions(void **state) {
    (void)state;
    if (!has_vnni()) {
        print_message("SKIP x86/vpdpbusd against the CPU: this CPU has no AVX512_VNNI\n");
        skip();
    }
    for (int saturate = 0; saturate < 2; saturate++) {
        const lb_unit u = unit_named(saturate ? "x86/vpdpbusds" : "x86/vpdpbusd");
        for (uint64_t first = 0; first < live_vectors() / 10; first += LANES) {
            uint32_t a[LANES], b[LANES], c[LANES], live[LANES];
            for (uint64_t l = 0; l < LANES; l++) {
                const uint64_t w = lb_random_u64(8, 1, first + l), v = lb_random_u64(8, 2, first + l);
                a[l] = (uint32_t)w;
                b[l] = (uint32_t)(w >> 32);
                c[l] =
                    v % 4 ? (uint32_t)(v >> 32) : (uint32_t)(v >> 33 & 1 ? 0x7fffffff - (v >> 34) % 65536 : 0x80000000 + (v >> 34) % 65536);
                live[l] = c[l];
            }
            run_vpdpbusd(saturate, a, b, live);
            for (size_t l = 0; l < LANES; l++) {
                const uint32_t x[4] = {a[l] & 255, a[l] >> 8 & 255, a[l] >> 16 & 255, a[l] >> 24};
                const uint32_t y[4] = {b[l] & 255, b[l] >> 8 & 255, b[l] >> 16 & 255, b[l] >> 24};
                uint32_t d;
                assert_int_equal(lb_unit_dot(&u, x, y, 4, c[l], &d, NULL), LB_OK);
                if (d != live[l]) fail_msg("%s a %08x b %08x c %08x: model %08x, CPU %08x", u.name, a[l], b[l], c[l], d, live[l]);
            }
        }
    }
}

/* ---- against MPFR ------------------------------------------------------------------------------------------------------ */

#if LB_HAVE_MPFR
static uint32_t oracle(const lb_unit *u, const double *a, const double *b, uint32_t c) {
    switch (u->path) {
    case LB_PATH_ODD_FIRST: return oracle_odd_first(a, b, u->k, c);
    case LB_PATH_TWO_CHAINS: return oracle_two_chains(a, b, u->k, c);
    case LB_PATH_PAIR_ODD: return oracle_pair_odd(a, b, u->k, c);
    default: return oracle_pair_fused(a, b, u->k, c);
    }
}

static void every_float_row_agrees_with_mpfr_on_seeded_dots(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_SPECIAL};
    static const char *const names[] = {"x86/vdpbf16ps",  "x86/tdpbf16ps",   "x86/tdpfp16ps",  "arm/bfdot.ebf0",
                                        "arm/bfdot.ebf1", "arm/bfmmla.ebf0", "arm/bfmmla.ebf1"};
    for (size_t row = 0; row < sizeof names / sizeof names[0]; row++) {
        const lb_unit u = unit_named(names[row]);
        const lb_format *f = lb_format_row(u.a);
        for (uint64_t n = 0; n < 4000; n++) {
            uint32_t ca[32], cb[32], c, d;
            double a[32], b[32];
            for (uint64_t i = 0; i < u.k; i += 2) {
                for (uint64_t j = i; j < i + 2; j++) {
                    ca[j] = (uint32_t)lb_draw(f, dists[n % 4], 21, 1, n << 8 | j);
                    cb[j] = (uint32_t)lb_draw(f, dists[n % 4], 21, 2, n << 8 | j);
                }
                if (u.a == LB_BF16 && n % 5 == 4) draw_bf16(4, n << 8 | i, ca + i, cb + i, &c);
            }
            c = (uint32_t)lb_draw(lb_format_row(LB_F32), dists[n / 4 % 4], 21, 3, n);
            if (n % 5 == 4) c &= 0x81ffffff; /* small beside small products */
            for (size_t i = 0; i < u.k; i++) {
                a[i] = lb_to_double(f, ca[i]);
                b[i] = lb_to_double(f, cb[i]);
            }
            assert_int_equal(lb_unit_dot(&u, ca, cb, u.k, c, &d, NULL), LB_OK);
            const uint32_t want = oracle(&u, a, b, c);
            if (!same_f32(d, want)) fail_msg("%s seed 21 round %llu: got %08x, MPFR says %08x", u.name, (unsigned long long)n, d, want);
        }
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_give_the_bits_worked_out_in_their_comments),
        cmocka_unit_test(vdpbf16ps_passes_on_the_first_nan_quieted_with_its_payload),
        cmocka_unit_test(vdpbf16ps_equals_the_live_instruction_in_seven_classes),
        cmocka_unit_test(vpdpbusd_and_its_saturating_form_equal_the_live_instructions),
#if LB_HAVE_MPFR
        cmocka_unit_test(every_float_row_agrees_with_mpfr_on_seeded_dots),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
