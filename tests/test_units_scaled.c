/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Block-scaled units: at the edges by hand, their shapes, and against MPFR. */
#include "units_help.h"

#if LB_HAVE_MPFR
#include "oracle/steps_mpfr.h"
#endif

#define MX8      "sm_120/mma.m16n8k32.f32.e4m3.e4m3.f32.mxf8f6f4.ue8m0"
#define MX8_E5M2 "sm_120/mma.m16n8k32.f32.e5m2.e2m1.f32.mxf8f6f4.ue8m0"
#define MX4      "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0"
#define NV4_4X   "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.4x.ue8m0"
#define NV4      "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3"

enum { ONE8 = 127, ONE4 = 0x38 }; /* 1.0 in ue8m0 and in ue4m3 */

/* One element of D: codes of a row and a column of u->k elements, u->k / scale_block scales each. */
static uint32_t scaled_dot(const lb_unit *u, const uint8_t *a, const uint8_t *b, const uint8_t *x, const uint8_t *y, uint32_t c) {
    const size_t k = u->k, scales = k / (size_t)u->scale_block;
    const lb_mat ma = lb_mat_of(lb_format_row(u->a), a, 1, k), mb = lb_mat_of(lb_format_row(u->b), b, k, 1);
    const lb_mat mx = lb_mat_of(lb_format_row(u->scale), x, 1, scales), my = lb_mat_of(lb_format_row(u->scale), y, scales, 1);
    const lb_mat mc = lb_mat_of(lb_format_row(LB_F32), &c, 1, 1);
    uint32_t d = 0;
    lb_mat md = lb_mat_of(lb_format_row(LB_F32), &d, 1, 1);
    lb_error err;
    if (lb_unit_gemm_with(u, &ma, &mb, &mc, &(lb_unit_operands){.scale_a = &mx, .scale_b = &my}, &md, &err) != LB_OK)
        fail_msg("%s: %s", err.place, err.message);
    return d;
}

/* ---- by hand ---------------------------------------------------------------------------------------------------------- */

/* Products as {k, a, b}; a zero a ends them. Scales as codes; c and d as codes. */
static const struct {
    int line;
    const char *unit;
    uint32_t c, d;
    uint8_t x[4], y[4];
    struct {
        int k;
        double a, b;
    } products[4];
} edges[] = {
    /* mxf8f6f4: 1 * 1 * 2^3 * 2^-1 = 4 */
    {__LINE__, MX8, 0, 0x40800000, {ONE8 + 3}, {ONE8 - 1}, {{0, 1, 1}}},
    /* the scales' exponents are part of the product's: beside c = 1, 25 bits keep -2^-25 (1 - 2^-25, RZ) and cut -2^-26 */
    {__LINE__, MX8, 0x3f800000, 0x3f7fffff, {ONE8 - 20}, {ONE8 - 5}, {{0, -1, 1}}},
    {__LINE__, MX8, 0x3f800000, 0x3f800000, {ONE8 - 20}, {ONE8 - 6}, {{0, -1, 1}}},
    /* and of the largest exponent: 2^20 cuts c = 2^-6 (unit 2^-5), cancels, and nothing is left */
    {__LINE__, MX8, 0x3c800000, 0x00000000, {ONE8 + 20}, {ONE8}, {{0, 1, 1}, {1, -1, 1}}},
    /* not normalised: 1.5 * 1.5 has exponent 0, so c = 2^-25 is kept beside 2.25 - 2.25 */
    {__LINE__, MX8, 0x33000000, 0x33000000, {ONE8}, {ONE8}, {{0, 1.5, 1.5}, {1, -1.5, 1.5}}},
    /* zeros do not count whatever their scales: 0 * 2^254 beside 1; nor is an exact zero ever -0 */
    {__LINE__, MX8, 0x3f800000, 0x3f800000, {254}, {254}, {{0}}},
    {__LINE__, MX8, 0x80000000, 0x00000000, {ONE8}, {ONE8}, {{0}}},
    /* overflow is Inf under RZ; scales alone do not overflow: 2^127 * 2^127 * 2^-9 * 2^-9 = 2^236 does, 2^127 * 2^0 does not */
    {__LINE__, MX8, 0, 0x7f800000, {254}, {254}, {{0, 0x1p-9, 0x1p-9}}},
    {__LINE__, MX8, 0, 0xff800000, {254}, {ONE8 + 1}, {{0, -1, 1}}},
    {__LINE__, MX8, 0, 0x7f000000, {254}, {ONE8}, {{0, 1, 1}}},
    /* tiny: -2^-152 is above the floor's last place 2^-158 and truncates to -0; -2^-254 is cut, and zero is +0; 2^-149 comes through */
    {__LINE__, MX8, 0, 0x80000000, {ONE8 - 75}, {ONE8 - 77}, {{0, -1, 1}}},
    {__LINE__, MX8, 0, 0x00000000, {0}, {0}, {{0, -1, 1}}},
    {__LINE__, MX8, 0, 0x00000001, {ONE8 - 75}, {ONE8 - 74}, {{0, 1, 1}}},
    /* D1, the floor 2^-133: 2^-149 - 2^-158 is below 2^-149, hence 0; a floor of 2^-126 would cut 2^-158 and leave 2^-149 */
    {__LINE__, MX8, 0, 0x00000000, {ONE8 - 70}, {ONE8 - 70}, {{0, 0x1p-5, 0x1p-4}, {1, -0x1p-9, 0x1p-9}}},
    {__LINE__, MX8, 0, 0x00000001, {ONE8 - 70}, {ONE8 - 70}, {{0, 0x1p-5, 0x1p-4}, {1, 0x1p-9, 0x1p-9}}},
    /* NaN: a scale's, also over zeros; an element's; c's. Inf times a scale is Inf, Inf * 0 NaN, Inf - Inf NaN */
    {__LINE__, MX8, 0, 0x7fffffff, {255}, {ONE8}, {{0}}},
    {__LINE__, MX8, 0, 0x7fffffff, {ONE8}, {255}, {{0, 1, 1}}},
    {__LINE__, MX8, 0x3f800000, 0x7fffffff, {ONE8}, {ONE8}, {{0, NAN, 1}}},
    {__LINE__, MX8, 0xffc00001, 0x7fffffff, {ONE8}, {ONE8}, {{0, 1, 1}}},
    {__LINE__, MX8, 0xff800000, 0xff800000, {254}, {254}, {{0, 448, 448}}},
    {__LINE__, MX8_E5M2, 0, 0xff800000, {0}, {0}, {{0, INFINITY, -0.5}}},
    {__LINE__, MX8_E5M2, 0, 0x7fffffff, {ONE8}, {ONE8}, {{0, INFINITY, 0}}},
    {__LINE__, MX8_E5M2, 0, 0x7fffffff, {ONE8}, {ONE8}, {{0, INFINITY, 1}, {1, -INFINITY, 6}}},
    {__LINE__, MX8_E5M2, 0x7f800000, 0x7fffffff, {ONE8}, {ONE8}, {{3, -INFINITY, 6}}},

    /* mxf4nvf4: 1.125 * 1.125 = 1.265625; each group of 16 has its own scales: 6 * 6 * 2 * 0.5 at k = 16 … 31 */
    {__LINE__, NV4, 0, 0x3fa20000, {0x39}, {0x39}, {{0, 1, 1}}},
    {__LINE__, NV4, 0, 0x42100000, {0, 0x40}, {0, 0x30}, {{0, 1, 1}, {31, 6, 6}}},
    /* the top bit of ue4m3 is ignored; 7f and ff are NaN, over zeros too; the least scale is 2^-9 */
    {__LINE__, NV4, 0, 0x3f800000, {0xb8}, {ONE4}, {{0, 1, 1}}},
    {__LINE__, NV4, 0, 0x7fffffff, {ONE4, ONE4, 0x7f}, {ONE4}, {{0}}},
    {__LINE__, NV4, 0, 0x7fffffff, {ONE4}, {0, 0, 0, 0xff}, {{0, 1, 1}}},
    {__LINE__, NV4, 0, 0x3b000000, {1}, {ONE4}, {{0, 1, 1}}},
    /* a group has its scales' exponent, 0 here, not that of its sum 36: c = 2^-35 is kept beside 36 - 36 in two groups, 2^-36 is cut */
    {__LINE__, NV4, 0x2e000000, 0x2e000000, {ONE4, ONE4}, {ONE4, ONE4}, {{0, 6, 6}, {16, -6, 6}}},
    {__LINE__, NV4, 0x2d800000, 0x00000000, {ONE4, ONE4}, {ONE4, ONE4}, {{0, 6, 6}, {16, -6, 6}}},
    /* D18: 35 bits, not 25: c = 2^-30 */
    {__LINE__, NV4, 0x30800000, 0x30800000, {ONE4, ONE4}, {ONE4, ONE4}, {{0, 6, 6}, {16, -6, 6}}},
    /* D17: a group that cancels within itself counts; a group of zeros does not, nor does one with a zero scale */
    {__LINE__, NV4, 0x2d800000, 0x00000000, {ONE4}, {ONE4}, {{0, 6, 6}, {1, -6, 6}}},
    {__LINE__, NV4, 0x2d800000, 0x2d800000, {ONE4}, {ONE4}, {{0}}},
    {__LINE__, NV4, 0x2d800000, 0x2d800000, {0}, {ONE4}, {{0, 6, 6}}},
    /* a subnormal scale has exponent -6: beside two groups of 2^-9 that cancel, c = 1.5 * 2^-41 loses its last bit (unit 2^-41) */
    {__LINE__, NV4, 0x2b400000, 0x2b000000, {1, 1}, {ONE4, ONE4}, {{0, 1, 1}, {16, -1, 1}}},
    /* sums within a group are exact and never cut: 36 and 0.25 in one group beside c = 2^30, whose unit is 2^-5 */
    {__LINE__, NV4, 0x4e800000, 0x4e800000, {ONE4}, {ONE4}, {{0, 6, 6}, {1, 0.5, 0.5}}},
    /* mxf4: one scale for 32, two groups under it */
    {__LINE__, MX4, 0, 0x41000000, {ONE8 + 1, ONE8}, {ONE8 + 1, ONE8}, {{0, 1, 1}, {31, 1, 1}}},
    {__LINE__, MX4, 0, 0x40a00000, {ONE8 + 1, ONE8}, {ONE8 + 1, ONE8}, {{0, 1, 1}, {32, 1, 1}}},
    /* mxf4nvf4 with ue8m0: one for 32, or, 4x, one for 16 */
    {__LINE__,
     "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue8m0",
     0,
     0x41000000,
     {ONE8 + 1, ONE8},
     {ONE8 + 1, ONE8},
     {{0, 1, 1}, {16, 1, 1}}},
    {__LINE__, NV4_4X, 0, 0x40a00000, {ONE8 + 1, ONE8}, {ONE8 + 1, ONE8}, {{0, 1, 1}, {16, 1, 1}}},
    {__LINE__, MX4, 0, 0x7f800000, {254, ONE8}, {254, ONE8}, {{0, 1, 1}}},
    {__LINE__, MX4, 0, 0x7fffffff, {ONE8, 255}, {ONE8, ONE8}, {{0, 1, 1}}},
    {__LINE__, MX4, 0, 0x00000001, {ONE8 - 75}, {ONE8 - 74}, {{0, 1, 1}}},
};

static void edges_give_the_bits_worked_out_in_their_comments(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        const lb_unit u = unit_named(edges[i].unit);
        uint8_t a[64] = {0}, b[64] = {0};
        for (size_t p = 0; p < 4; p++) {
            const int k = edges[i].products[p].k;
            if (edges[i].products[p].a == 0) continue;
            a[k] = (uint8_t)code_of(u.a, edges[i].products[p].a);
            b[k] = (uint8_t)code_of(u.b, edges[i].products[p].b);
        }
        EXPECT_CODE(edges[i].line, scaled_dot(&u, a, b, edges[i].x, edges[i].y, edges[i].c), edges[i].d);
    }
}

/* ---- shapes -------------------------------------------------------------------------------------------------------------- */

static void scales_of_a_wrong_count_or_format_or_none_are_one_line(void **state) {
    (void)state;
    const lb_unit u = unit_named(MX8), plain = unit_named("sm_120/mma.m16n8k32.f32.e4m3.e4m3.f32");
    uint8_t zeros[4096] = {0};
    uint32_t d[16 * 8];
    const lb_mat a = lb_mat_of(lb_format_row(LB_E4M3), zeros, 16, 40), b = lb_mat_of(lb_format_row(LB_E4M3), zeros, 40, 8);
    const lb_mat x = lb_mat_of(lb_format_row(LB_E8M0), zeros, 16, 2), y = lb_mat_of(lb_format_row(LB_E8M0), zeros, 2, 8);
    const lb_mat short_x = lb_mat_of(lb_format_row(LB_E8M0), zeros, 16, 1), flat_y = lb_mat_of(lb_format_row(LB_E8M0), zeros, 8, 2);
    const lb_mat wrong = lb_mat_of(lb_format_row(LB_UE4M3), zeros, 16, 2), meta = lb_mat_of(lb_format_row(LB_U8), zeros, 16, 40);
    lb_mat md = lb_mat_of(lb_format_row(LB_F32), d, 16, 8);
    const struct {
        int line;
        lb_unit_operands with;
        lb_status status;
        const char *says;
    } rows[] = {
        {__LINE__, {.scale_a = &x, .scale_b = &y}, LB_OK, ""},
        {__LINE__, {.scale_a = &short_x, .scale_b = &y}, LB_E_SHAPE, "scales of A are 16x1; one for 32 elements makes 16x2"},
        {__LINE__, {.scale_a = &x, .scale_b = &flat_y}, LB_E_SHAPE, "scales of B are 8x2"},
        {__LINE__, {.scale_a = &x}, LB_E_ARG, "no scales of B"},
        {__LINE__, {.scale_a = &wrong, .scale_b = &y}, LB_E_FORMAT, "ue4m3"},
        {__LINE__, {.scale_a = &x, .scale_b = &y, .metadata = &meta}, LB_E_ARG, "dense"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_unit_gemm_with(&u, &a, &b, NULL, &rows[i].with, &md, &err), rows[i].status);
        if (rows[i].status != LB_OK && !strstr(err.message, rows[i].says)) fail_msg("row at %d: %s", rows[i].line, err.message);
    }
    lb_error err;
    assert_int_equal(lb_unit_gemm(&u, &a, &b, NULL, &md, &err), LB_E_ARG);
    assert_int_equal(lb_unit_gemm_with(&plain, &a, &b, NULL, &rows[0].with, &md, &err), LB_E_ARG);
    assert_int_equal(lb_unit_mma_with(&u, &a, &b, NULL, &rows[0].with, &md, &err), LB_E_SHAPE);
    const uint32_t codes[32] = {0};
    assert_int_equal(lb_unit_dot(&u, codes, codes, 32, 0, d, &err), LB_E_ARG);
    assert_non_null(strstr(err.message, "scales"));
    lb_unit custom = u;
    custom.scale_block = 24;
    assert_int_equal(lb_unit_gemm_with(&custom, &a, &b, NULL, &rows[0].with, &md, &err), LB_E_ARG);
    custom = u;
    custom.group = 16; /* of e4m3 */
    assert_int_equal(lb_unit_gemm_with(&custom, &a, &b, NULL, &rows[0].with, &md, &err), LB_E_ARG);
}

static void full_spellings_find_their_scaled_rows(void **state) {
    (void)state;
    assert_string_equal(
        unit_named("sm_120a/mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3").name, NV4);
    assert_string_equal(unit_named("sm_120a/mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0").name, MX4);
    assert_string_equal(
        unit_named("sm_120a/mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0").name, MX8);
    assert_string_equal(unit_named("sm_100a/tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.m64n24k32.f32.e3m2.e2m1.ue8m0").name,
                        "sm_100/tcgen05.m64n24k32.f32.e3m2.e2m1.mxf8f6f4.ue8m0");
    assert_string_equal(
        unit_named("sm_120a/mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0").name,
        NV4_4X);
    assert_string_equal(
        unit_named("sm_120a/mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0").name,
        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue8m0");
    lb_unit u;
    lb_error err;
    /* four scales along k of an mxf4, which has two */
    assert_int_equal(
        lb_unit_find("sm_120a/mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0", &u, &err),
        LB_E_NAME);
}

/* ---- whole products ------------------------------------------------------------------------------------------------------ */

static void a_gemm_scales_rows_of_a_and_columns_of_b_and_chains_k_steps(void **state) {
    (void)state;
    enum { M = 3, N = 5, K = 150 }; /* three steps, the last ragged, also within a scale */
    const char *names[] = {NV4, MX4};
    for (size_t t = 0; t < 2; t++) {
        const lb_unit u = unit_named(names[t]);
        const lb_format *e = lb_format_row(u.a), *sf = lb_format_row(u.scale), *f32 = lb_format_row(LB_F32);
        const size_t block = (size_t)u.scale_block, scales = (K + block - 1) / block;
        uint8_t a[M * K], b[K * N], x[M * 16], y[16 * N];
        uint32_t c[M * N], d[M * N];
        lb_mat ma = lb_mat_of(e, a, M, K), mb = lb_mat_of(e, b, K, N), mx = lb_mat_of(sf, x, M, scales), my = lb_mat_of(sf, y, scales, N);
        lb_mat mc = lb_mat_of(f32, c, M, N), md = lb_mat_of(f32, d, M, N);
        lb_draw_mat(&ma, LB_DIST_BITS, t, 1);
        lb_draw_mat(&mb, LB_DIST_BITS, t, 2);
        lb_draw_mat(&mx, LB_DIST_WIDE, t, 3);
        lb_draw_mat(&my, LB_DIST_WIDE, t, 4);
        lb_draw_mat(&mc, LB_DIST_NORMAL, t, 5);
        assert_int_equal(lb_unit_gemm_with(&u, &ma, &mb, &mc, &(lb_unit_operands){.scale_a = &mx, .scale_b = &my}, &md, NULL), LB_OK);
        for (size_t i = 0; i < M; i++) {
            for (size_t j = 0; j < N; j++) {
                uint32_t acc = c[i * N + j];
                for (size_t first = 0; first < K; first += u.k) {
                    uint8_t row[64] = {0}, col[64] = {0}, sx[4] = {ONE4, ONE4, ONE4, ONE4}, sy[4] = {ONE4, ONE4, ONE4, ONE4};
                    for (size_t k = first; k < first + u.k && k < K; k++) {
                        row[k - first] = a[i * K + k];
                        col[k - first] = b[k * N + j];
                        sx[(k - first) / block] = x[i * scales + k / block];
                        sy[(k - first) / block] = y[k / block * N + j];
                    }
                    acc = scaled_dot(&u, row, col, sx, sy, acc);
                }
                EXPECT_CODE(__LINE__, d[i * N + j], acc);
            }
        }
    }
}

/* ---- against MPFR ------------------------------------------------------------------------------------------------------ */

#if LB_HAVE_MPFR
static int emin_of(lb_format_id f) {
    return 1 - lb_format_row(f)->bias;
}

static void draw_values(const lb_format *f, lb_dist dist, uint32_t stream, uint64_t index, size_t count, uint8_t *codes, double *values) {
    for (size_t i = 0; i < count; i++) {
        codes[i] = (uint8_t)lb_draw(f, dist, 41, stream, index * 64 + i);
        values[i] = lb_to_double(f, codes[i]);
    }
}

static void every_scaled_row_agrees_with_mpfr_on_seeded_blocks(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_BITS, LB_DIST_WIDE, LB_DIST_INTEGER};
    size_t compared = 0;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (u->path != LB_PATH_BLOCK_SCALED) continue;
        const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fs = lb_format_row(u->scale);
        const oracle_scaled o = {u->k,         u->scale_block, u->group,      u->frac_bits,
                                 u->floor_exp, emin_of(u->a),  emin_of(u->b), fs->special == LB_SPECIAL_E8M0 ? -127 : emin_of(u->scale)};
        for (uint64_t n = 0; n < 400; n++) {
            uint8_t a[64], b[64], x[4], y[4];
            double va[64], vb[64], vx[4], vy[4];
            const uint64_t index = n << 12 | row;
            draw_values(fa, dists[n % 4], 1, index, u->k, a, va);
            draw_values(fb, dists[n % 4], 2, index, u->k, b, vb);
            draw_values(fs, n % 3 ? LB_DIST_WIDE : LB_DIST_BITS, 3, index, (size_t)(u->k / u->scale_block), x, vx);
            draw_values(fs, n % 3 ? LB_DIST_WIDE : LB_DIST_BITS, 4, index, (size_t)(u->k / u->scale_block), y, vy);
            if (n % 7 == 6) { /* groups that cancel, or are all zero */
                for (size_t k = 0; k < u->k; k += 2) {
                    a[k + 1] = a[k], va[k + 1] = va[k];
                    b[k + 1] = (uint8_t)(b[k] ^ 1u << (fb->bits - 1)), vb[k + 1] = lb_to_double(fb, b[k + 1]);
                    if (n % 2 && k >= 16) va[k] = va[k + 1] = 0, a[k] = a[k + 1] = 0;
                }
            }
            uint32_t c = n % 4 ? (uint32_t)lb_draw(lb_format_row(LB_F32), n % 5 ? LB_DIST_WIDE : LB_DIST_BITS, 41, 5, index) : 0;
            if (n % 7 == 6) c -= (uint32_t)(n % 40) << 23;
            if (lb_code_class(lb_format_row(LB_F32), c) > LB_FINITE) continue;
            const uint32_t d = scaled_dot(u, a, b, x, y, c);
            if (lb_code_class(lb_format_row(LB_F32), d) > LB_FINITE) continue; /* by hand above */
            const uint32_t want = oracle_block_scaled(&o, va, vb, vx, vy, c);
            if (d != want) fail_msg("%s seed 41 round %llu: got %08x, MPFR says %08x", u->name, (unsigned long long)n, d, want);
            compared++;
        }
    }
    assert_true(compared > 15000);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_give_the_bits_worked_out_in_their_comments),
        cmocka_unit_test(scales_of_a_wrong_count_or_format_or_none_are_one_line),
        cmocka_unit_test(full_spellings_find_their_scaled_rows),
        cmocka_unit_test(a_gemm_scales_rows_of_a_and_columns_of_b_and_chains_k_steps),
#if LB_HAVE_MPFR
        cmocka_unit_test(every_scaled_row_agrees_with_mpfr_on_seeded_blocks),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
