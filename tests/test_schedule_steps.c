/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What stands beside the chains of a schedule: activations, scales of blocks, sums by atomics. Each against exact values or the textbook's
 * formula, by lb_value and MPFR, not by the library's floats. */
#include "test.h"

#include "kernels/activations.h"
#include "kernels/schedule_f32.h"
#include "lastbit/refs.h"
#include "lastbit/schedule.h"

#include <math.h>
#include <stdlib.h>

#ifdef LB_HAVE_MPFR
#include <mpfr.h>
#endif

/* ---- curves ---------------------------------------------------------------------------------------------------------------- */

#ifdef LB_HAVE_MPFR
typedef int true_curve(mpfr_t, const mpfr_t, mpfr_rnd_t);

/* Two million of all floats, or with LB_FULL=1 every one. */
static void expect_rounded_once(const char *name, float (*ours)(float), true_curve *truth) {
    const char *full = getenv("LB_FULL");
    const uint64_t stride = full && strcmp(full, "1") == 0 ? 1 : 2039;
    mpfr_t x, y;
    mpfr_init2(x, 24);
    mpfr_init2(y, 24);
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    for (uint64_t i = 0; i <= UINT32_MAX; i += stride) {
        const float in = float_of((uint32_t)i), got = ours(in);
        if (isnan(in)) continue;
        mpfr_set_flt(x, in, MPFR_RNDN);
        const int way = truth(y, x, MPFR_RNDN);
        mpfr_subnormalize(y, way, MPFR_RNDN);
        const float want = mpfr_get_flt(y, MPFR_RNDN);
        if (bits_of(got) != bits_of(want)) fail_msg("%s(%a): got %a, want %a", name, (double)in, (double)got, (double)want);
    }
    mpfr_clear(x);
    mpfr_clear(y);
    mpfr_free_cache();
}

static void exp_erf_and_tanh_are_rounded_once(void **state) {
    (void)state;
    expect_rounded_once("exp", lb_f32_exp, mpfr_exp);
    expect_rounded_once("erf", lb_f32_erf, mpfr_erf);
    expect_rounded_once("tanh", lb_f32_tanh, mpfr_tanh);
}
#endif

/* ---- activations ----------------------------------------------------------------------------------------------------------- */

static float add(float x, float y) {
    return lb_f32_add_exactly(x, y);
}

static float mul(float x, float y) {
    return lb_f32_mul_exactly(x, y);
}

static float over(float x, float y) { /* a quotient of two f32 in f64 rounds to f32 as the quotient does: 53 >= 2 24 + 2 bits */
    return (float)((double)x / (double)y);
}

/* The list's own words, by exact steps. */
static float stated(lb_activation a, float x) {
    const float root_half = (float)sqrt(0.5), beta = (float)sqrt(2 / 3.14159265358979323846), kappa = 0.044715f;
    switch (a) {
    case LB_ACTIVATION_RELU: return x > 0 || x != x ? x : 0;
    case LB_ACTIVATION_GELU_ERF: return mul(mul(0.5f, x), add(1, lb_f32_erf(mul(x, root_half))));
    case LB_ACTIVATION_GELU_TANH: return mul(mul(0.5f, x), add(1, lb_f32_tanh(mul(beta, lb_f32_fma_exactly(kappa, mul(mul(x, x), x), x)))));
    case LB_ACTIVATION_GELU_TAYLOR:
        return mul(mul(0.5f, x), add(1, lb_f32_tanh(mul(mul(beta, x), lb_f32_fma_exactly(mul(kappa, x), x, 1)))));
    case LB_ACTIVATION_SIGMOID: return over(1, add(1, lb_f32_exp(-x)));
    case LB_ACTIVATION_SILU: return over(x, add(1, lb_f32_exp(-x)));
    case LB_ACTIVATION_NONE:
    case LB_ACTIVATION_COUNT: break;
    }
    return x;
}

/* What each is for, by doubles: no step may be another's. */
static double meant(lb_activation a, double x) {
    switch (a) {
    case LB_ACTIVATION_RELU: return x > 0 ? x : 0;
    case LB_ACTIVATION_GELU_ERF: return 0.5 * x * erfc(-x * sqrt(0.5));
    case LB_ACTIVATION_GELU_TANH:
    case LB_ACTIVATION_GELU_TAYLOR: return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case LB_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
    case LB_ACTIVATION_SILU: return x / (1 + exp(-x));
    case LB_ACTIVATION_NONE:
    case LB_ACTIVATION_COUNT: break;
    }
    return x;
}

static void activations_take_the_steps_that_the_list_states(void **state) {
    (void)state;
    static const uint32_t edges[] = {0, 0x80000000, 1, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0xff7fffff, 0x42b17218};
    for (int a = 0; a < LB_ACTIVATION_COUNT; a++)
        for (uint64_t i = 0; i < 60000; i++) {
            const uint32_t random = (uint32_t)lb_random_u64(31, (uint32_t)a, i);
            const uint32_t near_one = (random & 0x80ffffff) | 0x3e000000 | (random >> 8 & 3) << 24;
            const float x = float_of(i < 10 ? edges[i] : i % 4 == 0 ? random : near_one);
            float got = x;
            lb_activate((lb_activation)a, &got, 1);
            const float want = stated((lb_activation)a, x);
            if (bits_of(got) != bits_of(want) && !(isnan(got) && isnan(want)))
                fail_msg("activation %d of %a: got %a, want %a", a, (double)x, (double)got, (double)want);
            const double truth = meant((lb_activation)a, (double)x), span = fabs((double)x) + 1;
            if (fabs((double)x) < 20 && !(fabs((double)got - truth) <= 4e-7 * span))
                fail_msg("activation %d of %a: got %a, meant %a", a, (double)x, (double)got, truth);
        }
}

/* ---- products ---------------------------------------------------------------------------------------------------------------- */

enum { M = 5, N = 9, K = 160, STEP = 32 };
static const char fp8_unit[] = "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3", f16_unit[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32";

typedef struct product {
    lb_unit u;
    uint32_t a[M * K], b[K * N], c[M * N], d[M * N];
    float scale_a[M * K / STEP], scale_b[K / STEP * N];
    lb_mat am, bm, cm, dm, sam, sbm;
} product;

static product *draw(const char *unit, size_t k, uint64_t seed) {
    static product x;
    assert_int_equal(lb_unit_find(unit, &x.u, NULL), LB_OK);
    x.am = lb_mat_of(lb_format_row(x.u.a), x.a, M, k);
    x.bm = lb_mat_of(lb_format_row(x.u.b), x.b, k, N);
    x.cm = lb_mat_of(lb_format_row(LB_F32), x.c, M, N);
    lb_draw_mat(&x.am, LB_DIST_NORMAL, seed, 1);
    lb_draw_mat(&x.bm, LB_DIST_NORMAL, seed, 2);
    lb_draw_mat(&x.cm, LB_DIST_NORMAL, seed, 3);
    for (size_t i = 0; i < M * K / STEP; i++) x.scale_a[i] = (float)(0.5 + (double)(lb_random_u64(seed, 4, i) % 1000) / 700);
    for (size_t i = 0; i < K / STEP * N; i++) x.scale_b[i] = (float)(0.5 + (double)(lb_random_u64(seed, 5, i) % 1000) / 900);
    return &x;
}

static lb_schedule parsed(const char *text) {
    lb_schedule s;
    lb_error err = {0};
    if (lb_schedule_parse(text, &s, &err) != LB_OK) fail_msg("%s: %s: %s", text, err.place, err.message);
    return s;
}

static void run(product *x, const lb_schedule *s, const lb_mat *c) {
    lb_error err = {0};
    x->dm = lb_mat_of(s->out ? s->out : lb_format_row(LB_F32), x->d, M, N);
    if (lb_gemm_scheduled(&x->u, s, &x->am, &x->bm, c, &x->dm, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
}

/* The unit's own chain over K elements from `at` on. */
static float chain(const product *x, size_t r, size_t c, size_t at, size_t count) {
    uint32_t acc = 0;
    for (size_t k = 0; k < count; k += x->u.k) {
        uint32_t p[64] = {0}, q[64] = {0};
        for (size_t i = 0; i < x->u.k && k + i < count; i++) {
            p[i] = (uint32_t)lb_mat_code(&x->am, r, at + k + i);
            q[i] = (uint32_t)lb_mat_code(&x->bm, at + k + i, c);
        }
        assert_int_equal(lb_unit_dot(&x->u, p, q, x->u.k, acc, &acc, NULL), LB_OK);
    }
    return float_of(acc);
}

static float scaled_sum(lb_scaling how, float x, float a, float b, float sum) {
    switch (how) {
    case LB_SCALING_PRODUCT_FMA: return lb_f32_fma_exactly(mul(a, b), x, sum);
    case LB_SCALING_PRODUCT: return add(sum, mul(mul(a, b), x));
    case LB_SCALING_A_FIRST_FMA: return lb_f32_fma_exactly(mul(x, a), b, sum);
    case LB_SCALING_A_FIRST: return add(sum, mul(mul(x, a), b));
    case LB_SCALING_B_FIRST_FMA: return lb_f32_fma_exactly(mul(x, b), a, sum);
    case LB_SCALING_B_FIRST: return add(sum, mul(mul(x, b), a));
    case LB_SCALING_COUNT: break;
    }
    return NAN;
}

static void expect_element(int line, const product *x, size_t r, size_t c, float want) {
    const uint64_t got = lb_mat_code(&x->dm, r, c), code = lb_f32_code(x->dm.format, want, false);
    if (got != code)
        fail_msg("row at %s:%d, element %zu,%zu: got %llx, want %llx", __FILE__, line, r, c, (unsigned long long)got,
                 (unsigned long long)code);
}

static void scales_meet_each_promoted_block_as_stated(void **state) {
    (void)state;
    enum { SCALE_M = 2, SCALE_N = 4, A_ROWS = 3, B_COLS = 3 };
    for (int how = 0; how < LB_SCALING_COUNT; how++)
        for (int with_c = 0; with_c < 2; with_c++) {
            const size_t k = with_c ? K : K - 20, blocks = K / STEP; /* the last block is short */
            product *x = draw(fp8_unit, k, 40 + (uint64_t)how);
            x->sam = lb_mat_of(lb_format_row(LB_F32), x->scale_a, A_ROWS, blocks);
            x->sbm = lb_mat_of(lb_format_row(LB_F32), x->scale_b, blocks, B_COLS);
            lb_schedule s = {.promote = STEP, .scale_m = SCALE_M, .scale_n = SCALE_N, .scaling = (lb_scaling)how};
            s.scale_a = &x->sam;
            s.scale_b = &x->sbm;
            run(x, &s, with_c ? &x->cm : NULL);
            for (size_t r = 0; r < M; r++)
                for (size_t c = 0; c < N; c++) {
                    float sum = with_c ? float_of(x->c[r * N + c]) : 0;
                    for (size_t b = 0; b < blocks; b++)
                        sum = scaled_sum((lb_scaling)how, chain(x, r, c, b * STEP, k - b * STEP < STEP ? k - b * STEP : STEP),
                                         x->scale_a[r / SCALE_M * blocks + b], x->scale_b[b * B_COLS + c / SCALE_N], sum);
                    expect_element(__LINE__, x, r, c, sum);
                }
        }
}

/* Parts that begin with a block keep K's own numbers, dealt ones too. */
static void scales_follow_k_into_its_parts(void **state) {
    (void)state;
    enum { BLOCKS = K / STEP };
    product *x = draw(fp8_unit, K, 50);
    x->sam = lb_mat_of(lb_format_row(LB_F32), x->scale_a, M, BLOCKS);
    x->sbm = lb_mat_of(lb_format_row(LB_F32), x->scale_b, BLOCKS, 1);
    lb_schedule s = parsed("split-k=2,divide=dealt,tile-k=32,promote=32");
    s.scale_a = &x->sam;
    s.scale_b = &x->sbm;
    run(x, &s, NULL);
    for (size_t r = 0; r < M; r++)
        for (size_t c = 0; c < N; c++) {
            float part[2] = {0, 0};
            for (size_t b = 0; b < BLOCKS; b++)
                part[b % 2] = scaled_sum(LB_SCALING_PRODUCT_FMA, chain(x, r, c, b * STEP, STEP), x->scale_a[r * BLOCKS + b], x->scale_b[b],
                                         part[b % 2]);
            expect_element(__LINE__, x, r, c, add(part[0], part[1]));
        }
}

/* One scale a row and one a column, no promotion: behind the sum. */
static void scales_of_rows_and_columns_come_behind_the_sum(void **state) {
    (void)state;
    for (int how = 0; how < LB_SCALING_COUNT; how++) {
        product *x = draw(f16_unit, K, 60);
        x->sam = lb_mat_of(lb_format_row(LB_F32), x->scale_a, M, 1);
        x->sbm = lb_mat_of(lb_format_row(LB_F32), x->scale_b, 1, N);
        lb_schedule s = parsed("scale-block=1x1,alpha=1.7,act=silu,out=bf16");
        s.scaling = (lb_scaling)how;
        s.scale_a = &x->sam;
        s.scale_b = &x->sbm;
        run(x, &s, NULL);
        for (size_t r = 0; r < M; r++)
            for (size_t c = 0; c < N; c++) {
                const float sum = chain(x, r, c, 0, K), a = x->scale_a[r], b = x->scale_b[c];
                const float one = how / 2 == 0 ? mul(mul(a, b), sum) : how / 2 == 1 ? mul(mul(sum, a), b) : mul(mul(sum, b), a);
                expect_element(__LINE__, x, r, c, stated(LB_ACTIVATION_SILU, mul(1.7f, one)));
            }
    }
}

static void atomics_add_to_zero_in_the_order_of_arrival(void **state) {
    (void)state;
    static const struct {
        const char *schedule;
        lb_format_id type, start; /* of running sums; of parts */
        unsigned order[4];
    } rows[] = {{"split-k=4,reduce=atomic,arrival=2.0.3.1", LB_F32, LB_F32, {2, 0, 3, 1}},
                {"split-k=4,reduce=atomic,arrival=3.1.0.2,partial=bf16,sum=bf16", LB_BF16, LB_BF16, {3, 1, 0, 2}},
                {"split-k=4,reduce=atomic,arrival=1.0.2.3,sum=f16,out=f16", LB_F16, LB_F32, {1, 0, 2, 3}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        product *x = draw(f16_unit, 128, 70 + i);
        const lb_schedule s = parsed(rows[i].schedule);
        const lb_format *type = lb_format_row(rows[i].type), *start = lb_format_row(rows[i].start);
        run(x, &s, NULL);
        for (size_t r = 0; r < M; r++)
            for (size_t c = 0; c < N; c++) {
                float sum = 0;
                for (size_t p = 0; p < 4; p++) {
                    const float part = chain(x, r, c, 32 * rows[i].order[p], 32);
                    sum = add(sum, lb_f32_of(start, lb_f32_code(start, part, false)));
                    sum = lb_f32_of(type, lb_f32_code(type, sum, false));
                }
                expect_element((int)i, x, r, c, sum);
            }
    }
}

/* -0 in every part: zero memory makes it +0, a sum that starts with its first part keeps it. */
static void atomics_lose_the_sign_of_zero(void **state) {
    (void)state;
    product *x = draw(f16_unit, 64, 80);
    for (size_t i = 0; i < sizeof x->a; i += 2) memcpy((char *)x->a + i, &(uint16_t){0x8001}, 2);
    for (size_t i = 0; i < sizeof x->b; i += 2) memcpy((char *)x->b + i, &(uint16_t){0x0001}, 2);
    const lb_schedule kept = parsed("split-k=2,partial=f16,sum=f16,out=f16"),
                      lost = parsed("split-k=2,partial=f16,sum=f16,out=f16,reduce=atomic,arrival=0.1");
    run(x, &kept, NULL);
    assert_int_equal(lb_mat_code(&x->dm, 1, 1), 0x8000);
    run(x, &lost, NULL);
    assert_int_equal(lb_mat_code(&x->dm, 1, 1), 0x0000);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *schedule, *message;
        bool with_c, scales;
        lb_status want;
    } rows[] = {
        {__LINE__, "split-k=4,reduce=atomic", "arrival=", false, false, LB_E_ARG},
        {__LINE__, "split-k=4,reduce=atomic,arrival=0.1.2", "each part of split-k=4 once", false, false, LB_E_ARG},
        {__LINE__, "split-k=2,arrival=1.0", "reduce=atomic", false, false, LB_E_ARG},
        {__LINE__, "stream-k=4,reduce=atomic", "split-k", false, false, LB_E_ARG},
        {__LINE__, "scale-block=1x64", "there are none", false, false, LB_E_ARG},
        {__LINE__, "scaling=product", "there are none", false, false, LB_E_ARG},
        {__LINE__, "promote=64", "takes scales of", false, true, LB_E_SHAPE},
        {__LINE__, "promote=32,order=descending", "order=ascending", false, true, LB_E_ARG},
        {__LINE__, "promote=32,split-k=2", "multiple of promote", false, true, LB_E_ARG},
        {__LINE__, "c=first", "takes scales of", true, true, LB_E_SHAPE},
        {__LINE__, "split-k=2,reduce=tree,sum=f16", "running sum", false, false, LB_E_ARG},
    };
    product *x = draw(fp8_unit, K, 90);
    x->sam = lb_mat_of(lb_format_row(LB_F32), x->scale_a, M, K / STEP);
    x->sbm = lb_mat_of(lb_format_row(LB_F32), x->scale_b, K / STEP, 1);
    x->dm = lb_mat_of(lb_format_row(LB_F32), x->d, M, N);
    x->d[0] = 0x5a5a5a5a;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_schedule s = parsed(rows[i].schedule);
        lb_error err = {0};
        if (rows[i].scales) s.scale_a = &x->sam;
        if (rows[i].scales) s.scale_b = &x->sbm;
        EXPECT_CODE(rows[i].line, lb_gemm_scheduled(&x->u, &s, &x->am, &x->bm, rows[i].with_c ? &x->cm : NULL, &x->dm, NULL, &err),
                    rows[i].want);
        if (!strstr(err.message, rows[i].message)) fail_msg("row at %s:%d: \"%s: %s\"", __FILE__, rows[i].line, err.place, err.message);
        EXPECT_CODE(rows[i].line, x->d[0], 0x5a5a5a5a);
    }
    lb_schedule half = parsed("promote=32");
    half.scale_a = &x->sam;
    assert_int_equal(lb_gemm_scheduled(&x->u, &half, &x->am, &x->bm, NULL, &x->dm, NULL, NULL), LB_E_ARG);
    lb_schedule behind = parsed("plain");
    lb_mat column = lb_mat_of(lb_format_row(LB_F32), x->scale_a, M, 1), row = lb_mat_of(lb_format_row(LB_F32), x->scale_b, 1, 1);
    behind.scale_a = &column;
    behind.scale_b = &row;
    lb_error err = {0};
    assert_int_equal(lb_gemm_scheduled(&x->u, &behind, &x->am, &x->bm, &x->cm, &x->dm, NULL, &err), LB_E_ARG);
    assert_non_null(strstr(err.message, "c=last"));
}

/* A host program that flushes subnormals gets no curve. */
static void curves_want_the_default_environment(void **state) {
    (void)state;
#ifdef __SSE2__
    product *x = draw(f16_unit, 32, 95);
    const unsigned before = __builtin_ia32_stmxcsr();
    const lb_schedule gelu = parsed("act=gelu-erf"), relu = parsed("act=relu");
    x->dm = lb_mat_of(lb_format_row(LB_F32), x->d, M, N);
    __builtin_ia32_ldmxcsr(before | 0x8000);
    const lb_status curve = lb_gemm_scheduled(&x->u, &gelu, &x->am, &x->bm, NULL, &x->dm, NULL, NULL);
    const lb_status line = lb_gemm_scheduled(&x->u, &relu, &x->am, &x->bm, NULL, &x->dm, NULL, NULL);
    __builtin_ia32_ldmxcsr(before);
    assert_int_equal(curve, LB_E_UNAVAILABLE);
    assert_int_equal(line, LB_OK);
#else
    print_message("SKIP flushing: only on x86-64\n");
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef LB_HAVE_MPFR
        cmocka_unit_test(exp_erf_and_tanh_are_rounded_once),
#endif
        cmocka_unit_test(activations_take_the_steps_that_the_list_states),
        cmocka_unit_test(scales_meet_each_promoted_block_as_stated),
        cmocka_unit_test(scales_follow_k_into_its_parts),
        cmocka_unit_test(scales_of_rows_and_columns_come_behind_the_sum),
        cmocka_unit_test(atomics_add_to_zero_in_the_order_of_arrival),
        cmocka_unit_test(atomics_lose_the_sign_of_zero),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(curves_want_the_default_environment),
    };
#ifndef LB_HAVE_MPFR
    print_message("SKIP exp, erf and tanh: MPFR is not installed\n");
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
