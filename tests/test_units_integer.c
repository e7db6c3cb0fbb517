/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integer and single-bit units: by hand, and against sums of doubles, which are exact here. */
#include "units_help.h"

#define IMMA     "sm_80/mma.m16n8k32.i32.i8.i8.i32"
#define IMMA_U   "sm_80/mma.m16n8k32.i32.u8.u8.i32"
#define IMMA_MIX "sm_80/mma.m16n8k32.i32.u8.i8.i32"
#define IMMA4    "sm_80/mma.m16n8k64.i32.i4.u4.i32"
#define XOR      "sm_80/mma.m16n8k256.i32.b1.b1.i32.xor"
#define AND      "sm_80/mma.m16n8k256.i32.b1.b1.i32.and"

static const unit_edge edges[] = {
    {__LINE__, IMMA, 5, 5 + 16384 - 127, 2, {{-128, -128}, {127, -1}}},
    {__LINE__, IMMA, 0xffffffff, 0x00000000, 1, {{1, 1}}}, /* -1 + 1 */
    {__LINE__, IMMA, 0x7fffffff, 0x80000000, 1, {{1, 1}}}, /* wraps … */
    {__LINE__, IMMA, 0x80000000, 0x7fffffff, 1, {{-1, 1}}},
    {__LINE__, IMMA ".satfinite", 0x7fffffff, 0x7fffffff, 1, {{1, 1}}}, /* … or stays */
    {__LINE__, IMMA ".satfinite", 0x80000000, 0x80000000, 1, {{-1, 1}}},
    /* D21: clamped once, on the exact sum: INT32_MAX + 100 - 100 is INT32_MAX, less one more is one less */
    {__LINE__, IMMA ".satfinite", 0x7fffffff, 0x7ffffffe, 3, {{10, 10}, {-10, 10}, {-1, 1}}},
    {__LINE__, IMMA_U, 0, 130050, 2, {{255, 255}, {255, 255}}},
    {__LINE__, IMMA_MIX, 0, (uint32_t)-32640, 1, {{255, -128}}},
    {__LINE__, IMMA4, 0, (uint32_t)-120, 1, {{-8, 15}}},
    {__LINE__, XOR, 7, 9, 4, {{1, 0}, {0, 1}, {1, 1}, {0, 0}}},
    {__LINE__, AND, 7, 8, 4, {{1, 0}, {0, 1}, {1, 1}, {0, 0}}},
    {__LINE__, XOR, 0x7fffffff, 0x80000000, 1, {{1, 0}}},
    {__LINE__, "gfx942/mfma.m16n16k32.i32.i8.i8.i32", 0x7fffffff, 0x80003fff, 1, {{-128, -128}}},
    {__LINE__, "sm_90/wgmma.m64n8k32.i32.u8.i8.satfinite", 0x7fffffff, 0x7fffffff, 1, {{255, 1}}},
    {__LINE__, "sm_100/tcgen05.m128n8k32.i32.u8.i8", 0, 255, 1, {{255, 1}}},
};

static void edges_give_the_bits_worked_out_in_their_comments(void **state) {
    (void)state;
    expect_edges(edges);
}

static void full_spellings_find_their_integer_rows(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *given, *found;
    } rows[] = {
        {__LINE__, "sm_80/mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", IMMA},
        {__LINE__, "sm_80/mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", IMMA ".satfinite"},
        {__LINE__, "sm_86/mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", IMMA4},
        {__LINE__, "sm_80/mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", XOR},
        {__LINE__, "sm_90a/wgmma.mma_async.sync.aligned.m64n64k32.satfinite.s32.s8.u8", "sm_90/wgmma.m64n64k32.i32.i8.u8.satfinite"},
        {__LINE__, "sm_90a/wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc", "sm_90/wgmma.m64n16k256.i32.b1.b1.and"},
        {__LINE__, "gfx90a/v_mfma_i32_32x32x8i8", "gfx90a/mfma.m32n32k8.i32.i8.i8.i32"},
        {__LINE__, "gfx942/V_MFMA_I32_16x16x32_I8", "gfx942/mfma.m16n16k32.i32.i8.i8.i32"},
        {__LINE__, "gfx942/v_mfma_f32_32x32x4_2b_bf16", "gfx942/mfma.m32n32k4.f32.bf16.bf16.f32"},
        {__LINE__, "gfx942/v_mfma_f32_16x16x32_fp8_bf8", "gfx942/mfma.m16n16k32.f32.e4m3fnuz.e5m2fnuz.f32"},
        {__LINE__, "gfx942/v_mfma_f32_16x16x8_xf32", "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32"},
        {__LINE__, "gfx90a/v_mfma_f32_32x32x4bf16", "gfx90a/mfma.m32n32k4.f32.bf16.bf16.f32"},
        {__LINE__, "gfx90a/v_mfma_f32_32x32x4bf16_1k", "gfx90a/mfma.m32n32k4.f32.bf16.bf16.f32.1k"},
        {__LINE__, "gfx908/v_mfma_f32_4x4x4f16", "gfx908/mfma.m4n4k4.f32.f16.f16.f32"},
        {__LINE__, "gfx942/v_mfma_f32_16x16x16_bf16_1k", "gfx942/mfma.m16n16k16.f32.bf16.bf16.f32"},
        {__LINE__, "gfx90a/v_mfma_f64_16x16x4f64", "gfx90a/mfma.m16n16k4.f64.f64.f64.f64"},
        {__LINE__, "x86/VDPBF16PS", "x86/vdpbf16ps"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) EXPECT_STRING(rows[i].line, unit_named(rows[i].given).name, rows[i].found);
    static const char *const wrong[] = {"gfx942/v_mfma_",
                                        "gfx942/v_mfma_f32",
                                        "gfx942/v_mfma_f32_16x16",
                                        "gfx942/v_mfma_f32_16x16x16",
                                        "gfx942/v_mfma_f32_16x16x16_f16_f16_f16",
                                        "x86/vdpbf16ps.m1n16k2",
                                        "sm_80/mma.m16n8k32.i32.i8.i8.i32.scale_vec::2X"};
    lb_unit u;
    lb_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_int_equal(lb_unit_find(wrong[i], &u, &err), LB_E_NAME);
}

/* The exact sum in doubles (below 2^53), then what the row says of it. */
static uint32_t exact_i32(const lb_unit *u, const double *a, const double *b, uint32_t c) {
    double sum = c < 0x80000000 ? (double)c : (double)c - 0x1p32;
    for (size_t i = 0; i < u->k; i++) {
        const bool x = a[i] != 0, y = b[i] != 0;
        sum += u->path == LB_PATH_INTEGER ? a[i] * b[i] : u->path == LB_PATH_XOR_POPC ? x != y : x && y;
    }
    if (u->round == LB_UNIT_SATURATE_I32) sum = fmin(fmax(sum, -0x1p31), 0x1p31 - 1);
    const double wrapped = fmod(sum, 0x1p32);
    return (uint32_t)(wrapped < 0 ? wrapped + 0x1p32 : wrapped);
}

static void every_integer_row_is_exact_and_wraps_or_saturates(void **state) {
    (void)state;
    size_t rows = 0, ends = 0;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (u->d != LB_I32 || u->sparse_group) continue;
        rows++;
        for (uint64_t n = 0; n < 200; n++) {
            uint32_t ca[256], cb[256], d;
            double a[256], b[256];
            for (size_t i = 0; i < u->k; i++) {
                ca[i] = (uint32_t)lb_draw(lb_format_row(u->a), LB_DIST_BITS, 51, 1, (n << 20 | row << 8) + i);
                cb[i] = (uint32_t)lb_draw(lb_format_row(u->b), LB_DIST_BITS, 51, 2, (n << 20 | row << 8) + i);
                a[i] = lb_to_double(lb_format_row(u->a), ca[i]);
                b[i] = lb_to_double(lb_format_row(u->b), cb[i]);
            }
            uint32_t c = (uint32_t)lb_draw(lb_format_row(LB_I32), LB_DIST_BITS, 51, 3, n);
            if (n % 2) c = (n % 4 == 1 ? 0x7fffffff : 0x80000000) - (c % 256) * (n % 4 == 1 ? 1u : -1u);
            assert_int_equal(lb_unit_dot(u, ca, cb, u->k, c, &d, NULL), LB_OK);
            const uint32_t want = exact_i32(u, a, b, c);
            if (d != want) fail_msg("%s seed 51 round %llu: got %08x, exact is %08x", u->name, (unsigned long long)n, d, want);
            ends += u->round == LB_UNIT_SATURATE_I32 && (d == 0x7fffffff || d == 0x80000000);
        }
    }
    assert_true(rows > 100 && ends > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_give_the_bits_worked_out_in_their_comments),
        cmocka_unit_test(full_spellings_find_their_integer_rows),
        cmocka_unit_test(every_integer_row_is_exact_and_wraps_or_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
