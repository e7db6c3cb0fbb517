/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* MFMA of CDNA1, CDNA2 and CDNA3 and the chains of fma (f32, f64): at the edges by hand, and against MPFR. */
#include "units_help.h"

#if LB_HAVE_MPFR
#include "oracle/steps_mpfr.h"
#endif

#define CDNA1      "gfx908/mfma.m16n16k16.f32.f16.f16.f32"
#define CDNA1_BF16 "gfx908/mfma.m16n16k8.f32.bf16.bf16.f32"
#define CDNA2      "gfx90a/mfma.m16n16k16.f32.f16.f16.f32"
#define CDNA2_1K   "gfx90a/mfma.m16n16k16.f32.bf16.bf16.f32.1k"
#define CDNA2_BF16 "gfx90a/mfma.m16n16k8.f32.bf16.bf16.f32"
#define CDNA3      "gfx942/mfma.m16n16k16.f32.f16.f16.f32"
#define CDNA3_BF16 "gfx942/mfma.m16n16k16.f32.bf16.bf16.f32"
#define CDNA3_XF32 "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32"
#define CDNA3_FP8  "gfx942/mfma.m16n16k32.f32.e4m3fnuz.e4m3fnuz.f32"
#define CDNA3_BF8  "gfx942/mfma.m16n16k32.f32.e5m2fnuz.e5m2fnuz.f32"
/* One block, so that nothing is added to what it gives. */
#define CDNA1_BLOCK "gfx908/mfma.m4n4k2.f32.bf16.bf16.f32"
#define CDNA2_BLOCK "gfx90a/mfma.m4n4k4.f32.bf16.bf16.f32.1k"
#define CDNA3_BLOCK "gfx942/mfma.m4n4k4.f32.bf16.bf16.f32"
#define MFMA_F32    "gfx942/mfma.m16n16k4.f32.f32.f32.f32"

static const unit_edge edges[] = {
    /* CDNA1 sums four products and c exactly: 2^24 + 1 - 2^24 + 0 = 1, with c = 0; and 1 + 2^-24 + 2^-48 is above the tie */
    {__LINE__, CDNA1, 0, 0x3f800000, 3, {{0x1p12, 0x1p12}, {1, 1}, {-0x1p12, 0x1p12}}},
    {__LINE__, CDNA1, 0x3f800000, 0x3f800001, 2, {{0x1p-12, 0x1p-12}, {0x1p-24, 0x1p-24}}},
    /* the fifth product is another block: 1 + 2^-24 ties to 1 first, and 2^-48 changes nothing */
    {__LINE__, CDNA1, 0x3f800000, 0x3f800000, 5, {{0x1p-12, 0x1p-12}, {0}, {0}, {0}, {0x1p-24, 0x1p-24}}},
    /* subnormals are kept: 2^-24 * 2^-24, c = 2^-149; the spread may be any: 2^127 - 2^127 + 2^-149 */
    {__LINE__, CDNA1, 0, 0x27800000, 1, {{0x1p-24, 0x1p-24}}},
    {__LINE__, CDNA1_BF16, 0x00000001, 0x00000001, 2, {{0x1p64, 0x1p63}, {-0x1p64, 0x1p63}}},
    /* bf16 takes two at a time: the third product comes after a rounding */
    {__LINE__, CDNA1_BF16, 0x3f800000, 0x3f800000, 3, {{0x1p-12, 0x1p-12}, {0}, {0x1p-24, 0x1p-24}}},
    /* a product beyond the range is no overflow if the sum is within: 2^128 - 2^127 */
    {__LINE__, CDNA1_BF16, 0, 0x7f000000, 2, {{0x1p64, 0x1p64}, {-0x1p64, 0x1p63}}},
    {__LINE__, CDNA1_BF16, 0, 0x7f800000, 1, {{0x1p64, 0x1p64}}},
    {__LINE__, CDNA1_BLOCK, 0, 0x80000000, 1, {{-0x1p-80, 0x1p-72}}}, /* -2^-152 rounds to -0 */
    {__LINE__, CDNA1, 0x80000000, 0x00000000, 1, {{-0.0, 1}}},        /* D20: an exact zero is +0 */
    {__LINE__, CDNA1, 0, 0x7fc00000, 2, {{INFINITY, 1}, {-INFINITY, 1}}},
    {__LINE__, CDNA1, 0, 0x7fc00000, 1, {{INFINITY, 0}}},
    {__LINE__, CDNA1, 0xff800000, 0xff800000, 1, {{65504, 65504}}},

    /* CDNA2: ((p0 + p1) + (p2 + p3)) + c. 2^24 + 1 ties to 2^24; -2^24 + 0; sum 0. In another order 1 would be left */
    {__LINE__, CDNA2, 0, 0x00000000, 3, {{0x1p12, 0x1p12}, {1, 1}, {-0x1p12, 0x1p12}}},
    {__LINE__, CDNA2, 0, 0x3f800000, 3, {{0x1p12, 0x1p12}, {-0x1p12, 0x1p12}, {1, 1}}},
    /* c comes last: 2^-24 + 2^-24 = 2^-23 is added to 1 whole */
    {__LINE__, CDNA2, 0x3f800000, 0x3f800001, 2, {{0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    /* subnormal operands are zeros: f16 2^-15, bf16 2^-127, c = 2^-127; f16's least normal is kept */
    {__LINE__, CDNA2, 0, 0x00000000, 1, {{0x1p-15, 1}}},
    {__LINE__, CDNA2, 0, 0x38800000, 1, {{0x1p-14, 1}}},
    {__LINE__, CDNA2_1K, 0, 0x00000000, 1, {{0x1p-127, 0x1p100}}},
    {__LINE__, CDNA2, 0x00400000, 0x00000000, 0, {{0}}},
    /* and subnormal results: the product -2^-130 is -0, and c = +0 makes it +0; 2^-126 - 1.5 * 2^-126 = -2^-127 is -0 at the end */
    {__LINE__, CDNA2_1K, 0, 0x00000000, 1, {{-0x1p-65, 0x1p-65}}},
    {__LINE__, CDNA2_BLOCK, 0x00800000, 0x80000000, 1, {{-1.5 * 0x1p-63, 0x1p-63}}},
    /* old bf16: (p0 + p1) + c, then (p2 + p3) + that: 1 is added to 2^24 - 2^24 + 0 or to 2^24 */
    {__LINE__, CDNA2_BF16, 0, 0x00000000, 3, {{0x1p12, 0x1p12}, {1, 1}, {-0x1p12, 0x1p12}}},
    {__LINE__, CDNA2_BF16, 0x3f800000, 0x00000000, 3, {{0x1p12, 0x1p12}, {0}, {-0x1p12, 0x1p12}}},
    /* a product that overflows is Inf before the other is added */
    {__LINE__, CDNA2_1K, 0, 0x7f800000, 2, {{0x1p64, 0x1p64}, {-0x1p64, 0x1p63}}},
    {__LINE__, CDNA2_1K, 0, 0x7fc00000, 2, {{0x1p64, 0x1p64}, {-0x1p64, 0x1p64}}},

    /* CDNA3: products keep 24 bits under their own largest. 1 + 2^-24 kept; it ties to even: 1 */
    {__LINE__, CDNA3, 0, 0x3f800000, 2, {{1, 1}, {0x1p-12, 0x1p-12}}},
    /* two of 2^-24 make 2^-23; two of 2^-25 are cut, each, though their sum would tie */
    {__LINE__, CDNA3, 0, 0x3f800001, 3, {{1, 1}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    {__LINE__, CDNA3, 0, 0x3f800000, 4, {{1, 1}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}}},
    /* products align among themselves, not to c: c = 1, four of 2^-26 are 2^-24, a tie to 1, with 2^-31 of a fifth above it */
    {__LINE__, CDNA3, 0x3f800000, 0x3f800000, 4, {{0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}}},
    {__LINE__,
     CDNA3,
     0x3f800000,
     0x3f800001,
     5,
     {{0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-15, 0x1p-16}}},
    /* … and 2^-32 is below the 31 bits: floor, so the tie is left */
    {__LINE__,
     CDNA3,
     0x3f800000,
     0x3f800000,
     5,
     {{0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-16, 0x1p-16}}},
    /* floor of a negative sum: 1 + 2^-23 + (-2^-24 + 2^-33) is above the tie of 1 and 1 + 2^-23, but the sum of products floors to
     * -2^-24, a multiple of 2^-31: the tie, to even */
    {__LINE__, CDNA3, 0x3f800001, 0x3f800000, 2, {{-0x1p-12, 0x1p-12}, {0x1p-16, 0x1p-17}}},
    /* 1 + 2^-22 - 2^-24 is nearer to 1 + 2^-22 */
    {__LINE__, CDNA3, 0x3f800002, 0x3f800002, 1, {{-0x1p-12, 0x1p-12}}},
    /* c is floored 24 bits under the products: beside 2, c = -2^-24 and c = -2^-25 count as -2^-23; c = 2^-24 as nothing */
    {__LINE__, CDNA3, 0xb3800000, 0x3fffffff, 1, {{2, 1}}},
    {__LINE__, CDNA3, 0xb3000000, 0x3fffffff, 1, {{2, 1}}},
    {__LINE__, CDNA3, 0x33800000, 0x40000000, 1, {{2, 1}}},
    /* all products zero: c comes back, subnormals too; an exact zero is +0 */
    {__LINE__, CDNA3, 0x00000001, 0x00000001, 1, {{0, 1}}},
    {__LINE__, CDNA3, 0xbf800001, 0xbf800001, 1, {{0, 1}}},
    {__LINE__, CDNA3, 0x80000000, 0x00000000, 1, {{-0.0, 1}}},
    {__LINE__, CDNA3_BF16, 0x3f800000, 0x3f800000, 1, {{0, 0x1p127}}}, /* D2: 0 * 2^127 does not count */
    /* a product of 2^128 is Inf already, whatever the others are */
    {__LINE__, CDNA3_BF16, 0, 0x7f800000, 2, {{0x1p64, 0x1p64}, {-0x1p64, 0x1p63}}},
    {__LINE__, CDNA3_BF16, 0, 0x7fc00000, 2, {{0x1p64, 0x1p64}, {-0x1p64, 0x1p64}}},
    {__LINE__, CDNA3_BLOCK, 0, 0x80000000, 1, {{-0x1p-80, 0x1p-72}}}, /* -2^-152 floors to -2^-152 (31 bits under -126), and rounds to -0 */
    {__LINE__, CDNA3_BLOCK, 0, 0x80000000, 1, {{-0x1p-120, 0x1p-120}}}, /* far below: floors to -2^-157, rounds to -0 */
    {__LINE__, CDNA3_BF16, 0, 0x00000000, 1, {{0x1p-120, 0x1p-120}}},
    /* with c = 0 the exponent is at least -126: 2^-150 and 2^-160 floor to 2^-150 (31 bits: 2^-157), a tie, to even; with 2^-157 it is above */
    {__LINE__, CDNA3_BLOCK, 0, 0x00000000, 2, {{0x1p-75, 0x1p-75}, {0x1p-80, 0x1p-80}}},
    {__LINE__, CDNA3_BLOCK, 0, 0x00000001, 2, {{0x1p-75, 0x1p-75}, {0x1p-78, 0x1p-79}}},
    {__LINE__, CDNA3_XF32, 0, 0x3f800001, 3, {{1, 1}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    /* four a block: the fifth joins later, when 1 + 2^-24 has tied to 1 */
    {__LINE__, CDNA3_XF32, 0, 0x3f800000, 5, {{1, 1}, {0x1p-12, 0x1p-12}, {0}, {0}, {0x1p-12, 0x1p-12}}},

    /* fp8: even and odd k are summed apart and joined by floors in units of 2^(14-24): beside 2^14 (k 0), -2^-12 at k 1 counts as -2^-10,
     * 2^-12 as nothing; at k 2 it is in the same sum, and is cut toward zero */
    {__LINE__, CDNA3_FP8, 0, 0x467fffff, 2, {{128, 128}, {-0x1p-10, 0x1p-2}}},
    {__LINE__, CDNA3_FP8, 0, 0x46800000, 2, {{128, 128}, {0x1p-10, 0x1p-2}}},
    {__LINE__, CDNA3_FP8, 0, 0x46800000, 3, {{128, 128}, {0}, {-0x1p-10, 0x1p-2}}},
    /* c more than 25 binades below the products is dropped: 2^14 (k 0) and c = -2^-12, 26 below; at 25 it floors to -2^-10, one ulp
     * of the binade below being 2^-10: 2^14 - 2^-10 */
    {__LINE__, CDNA3_FP8, 0xb9800000, 0x46800000, 1, {{128, 128}}},
    {__LINE__, CDNA3_FP8, 0xba000000, 0x467fffff, 1, {{128, 128}}},
    {__LINE__, CDNA3_FP8, 0x3f800000, 0x7fc00000, 1, {{NAN, 1}}},
    {__LINE__, CDNA3_BF8, 0, 0x4f440000, 1, {{57344, 57344}}}, /* 1.75^2 * 2^30 */
    {__LINE__, CDNA3_FP8, 0x7f800000, 0x7f800000, 1, {{-240, 240}}},

    /* f32: a chain of fma with nothing flushed */
    {__LINE__, MFMA_F32, 0x3f800000, 0x00000000, 2, {{0x1p12, 0x1p12}, {-0x1p12, 0x1p12}}}, /* 1 + 2^24 ties away from 1 */
    {__LINE__, MFMA_F32, 0, 0x00000001, 1, {{0x1p-100, 0x1p-49}}},
    {__LINE__, MFMA_F32, 0x80000000, 0x00000000, 1, {{0, 1}}},
    {__LINE__, MFMA_F32, 0, 0x7fc00000, 1, {{INFINITY, 0}}},
};

static void edges_give_the_bits_worked_out_in_their_comments(void **state) {
    (void)state;
    expect_edges(edges);
}

static void custom_parameters_that_a_path_cannot_hold_are_refused(void **state) {
    (void)state;
    const uint32_t zeros[16] = {0};
    uint32_t d;
    lb_error err;
    lb_unit u = unit_named(CDNA3);
    u.terms = 3;
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 16, 0, &d, &err), LB_E_ARG);
    u = unit_named(CDNA3);
    u.a = LB_I8;
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 16, 0, &d, &err), LB_E_FORMAT);
    u = unit_named(CDNA3);
    u.c = LB_F16;
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 16, 0, &d, &err), LB_E_FORMAT);
    u = unit_named(CDNA3);
    u.scale_block = 4;
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 16, 0, &d, &err), LB_E_ARG);
    u = unit_named(CDNA3);
    u.k = 300;
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 16, 0, &d, &err), LB_E_SHAPE);
    u = unit_named("sm_80/mma.m8n8k4.f64.f64.f64.f64");
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 4, 0, &d, &err), LB_E_FORMAT);
    assert_non_null(strstr(err.message, "64 bits"));
}

/* ---- f64 ---------------------------------------------------------------------------------------------------------------- */

/* D [1][1] of a row and a column of k values. */
static uint64_t dot64(const char *name, size_t k, const double *a, const double *b, double c) {
    const lb_unit u = unit_named(name);
    const lb_format *f = lb_format_row(LB_F64);
    uint64_t d = 0;
    lb_error err;
    const lb_mat ma = lb_mat_of(f, a, 1, k), mb = lb_mat_of(f, b, k, 1), mc = lb_mat_of(f, &c, 1, 1);
    lb_mat md = lb_mat_of(f, &d, 1, 1);
    if (lb_unit_gemm(&u, &ma, &mb, &mc, &md, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return d;
}

static void dmma_is_a_chain_of_fma_in_ascending_k(void **state) {
    (void)state;
    const char *dmma = "sm_80/mma.m8n8k4.f64.f64.f64.f64";
    /* 1 + 2^53 ties to 2^53, less 2^53 is 0; in the other order 1 is left */
    assert_int_equal(dot64(dmma, 2, (double[]){0x1p53, -0x1p53}, (double[]){1, 1}, 1), 0);
    assert_int_equal(dot64(dmma, 2, (double[]){0x1p53, 1}, (double[]){1, 1}, -0x1p53), 0x3ff0000000000000);
    /* fused: (1 + 2^-52)^2 - 1 - 2^-51 = 2^-104 */
    assert_int_equal(dot64(dmma, 1, (double[]){0x1.0000000000001p0}, (double[]){0x1.0000000000001p0}, -0x1.0000000000002p0),
                     0x3970000000000000);
    assert_int_equal(dot64(dmma, 1, (double[]){0x1p-1000}, (double[]){0x1p-74}, 0), 1); /* the least subnormal */
    /* -2^-1075 ties to -0, which stays where every other product is -0 */
    assert_true(dot64(dmma, 4, (double[]){-0x1p-1000, -0.0, -0.0, -0.0}, (double[]){0x1p-75, 1, 1, 1}, 0) == UINT64_C(1) << 63);
    assert_true(dot64(dmma, 1, (double[]){-0x1p-1000}, (double[]){0x1p-75}, 0) == 0); /* the missing ones are +0 */
    assert_int_equal(dot64(dmma, 1, (double[]){0x1p1023}, (double[]){2}, 0), 0x7ff0000000000000);
    assert_int_equal(dot64(dmma, 1, (double[]){INFINITY}, (double[]){0}, 0), 0x7ff8000000000000);
    assert_int_equal(dot64(dmma, 1, (double[]){0}, (double[]){0x1p1023}, 1), 0x3ff0000000000000);
}

/* ---- against MPFR ------------------------------------------------------------------------------------------------------ */

#if LB_HAVE_MPFR
static int emin_of(lb_format_id f) {
    return 1 - lb_format_row(f)->bias;
}

static uint32_t oracle(const lb_unit *u, const double *a, const double *b, uint32_t c) {
    switch (u->path) {
    case LB_PATH_FMA_CHAIN: return oracle_fma_chain32(a, b, u->k, c);
    case LB_PATH_EXACT: return oracle_exact(a, b, u->k, u->terms, c);
    case LB_PATH_PAIRWISE: return oracle_pairwise(a, b, u->k, u->terms, emin_of(u->a), emin_of(u->b), c);
    default: return oracle_late_c(a, b, u->k, u->terms, emin_of(u->a), emin_of(u->b), u->path == LB_PATH_LATE_C_SPLIT, c);
    }
}

/* c close to the sum of the products, of its size, or any: where the late join and the drops show. */
static uint32_t draw_c(const lb_unit *u, const double *a, const double *b, lb_dist dist, uint64_t n) {
    const lb_format *f32 = lb_format_row(LB_F32);
    double sum = 0;
    for (size_t i = 0; i < u->k; i++) sum += a[i] * b[i];
    switch (n / 4 % 5) {
    case 0: return 0;
    case 1: return (uint32_t)lb_from_double(f32, -sum);
    case 2: return (uint32_t)lb_from_double(f32, ldexp(sum, (int)(n / 20 % 61) - 30));
    case 3: return (uint32_t)lb_from_double(f32, ldexp(-sum, (int)(n / 20 % 61) - 30));
    default: return (uint32_t)lb_draw(f32, dist, 31, 3, n);
    }
}

static void every_row_agrees_with_mpfr_on_seeded_dots(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_SPECIAL};
    size_t compared = 0;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (strncmp(u->name, "gfx", 3) != 0 || u->d != LB_F32) continue;
        const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b);
        for (uint64_t n = 0; n < 600; n++) {
            uint32_t ca[64], cb[64], d;
            double a[64], b[64];
            for (size_t i = 0; i < u->k; i++) {
                ca[i] = (uint32_t)lb_draw(fa, dists[n % 4], 31, 1, (n << 16 | row << 6) + i);
                cb[i] = (uint32_t)lb_draw(fb, dists[n % 4], 31, 2, (n << 16 | row << 6) + i);
                a[i] = lb_to_double(fa, ca[i]);
                b[i] = lb_to_double(fb, cb[i]);
            }
            const uint32_t c = draw_c(u, a, b, dists[n / 4 % 4], n);
            assert_int_equal(lb_unit_dot(u, ca, cb, u->k, c, &d, NULL), LB_OK);
            if (lb_code_class(lb_format_row(LB_F32), d) > LB_FINITE) continue; /* by hand above */
            const uint32_t want = oracle(u, a, b, c);
            if (d != want) fail_msg("%s seed 31 round %llu: got %08x, MPFR says %08x", u->name, (unsigned long long)n, d, want);
            compared++;
        }
    }
    assert_true(compared > 15000);
}

static void dmma_agrees_with_mpfr_on_seeded_chains(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_SPECIAL};
    const lb_format *f = lb_format_row(LB_F64);
    for (uint64_t n = 0; n < 3000; n++) {
        double a[16], b[16], c;
        for (size_t i = 0; i < 16; i++) {
            a[i] = lb_to_double(f, lb_draw(f, dists[n % 4], 33, 1, n * 16 + i));
            b[i] = n % 3 == 2 && i ? -a[i - 1] : lb_to_double(f, lb_draw(f, dists[n % 4], 33, 2, n * 16 + i));
        }
        c = n % 5 ? lb_to_double(f, lb_draw(f, dists[n % 4], 33, 3, n)) : -a[0] * b[0];
        uint64_t c_code;
        memcpy(&c_code, &c, sizeof c_code);
        const uint64_t d = dot64("sm_90/mma.m16n8k16.f64.f64.f64.f64", 16, a, b, c), want = oracle_fma_chain64(a, b, 16, c_code);
        const bool both_nan = lb_code_class(f, d) == LB_NAN && lb_code_class(f, want) == LB_NAN;
        if (d != want && !both_nan)
            fail_msg("seed 33 round %llu: got %016llx, MPFR says %016llx", (unsigned long long)n, (unsigned long long)d,
                     (unsigned long long)want);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_give_the_bits_worked_out_in_their_comments),
        cmocka_unit_test(custom_parameters_that_a_path_cannot_hold_are_refused),
        cmocka_unit_test(dmma_is_a_chain_of_fma_in_ascending_k),
#if LB_HAVE_MPFR
        cmocka_unit_test(every_row_agrees_with_mpfr_on_seeded_dots),
        cmocka_unit_test(dmma_agrees_with_mpfr_on_seeded_chains),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
