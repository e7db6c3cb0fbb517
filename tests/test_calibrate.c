/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calibration: the seed contract's drift, the H100's figures, the drift of truncating accumulators, and the margin that they need.
 * source: seed-contract; the ratios of deep products were recomputed from the exact model, on another sample of operands */
#include "test.h"

#include "lastbit/calibrate.h"
#include "lastbit/contracts.h"
#include "m16_sim.h"

#define SM_90 "sm_90/mma.m16n8k16.f32.bf16.bf16.f32"
#define SEED  UINT64_C(0x0927167C2026)

static bool is_full(void) {
    const char *full = getenv("LB_FULL");
    return full && strcmp(full, "1") == 0;
}

static lb_calibration *calibrated(const lb_calibrate_options *o) {
    lb_calibration *c;
    lb_error err = {0};
    if (lb_calibrate(o, &c, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return c;
}

static const lb_calibration_figures *whole(const lb_calibration *c, size_t depth) {
    return &c->depths[depth].blocks[c->depths[depth].block_count - 1];
}

static void expect_near(int line, double got, double want, double relative) {
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("row at %s:%d: got %.6e, want %.6e", __FILE__, line, got, want);
}

static lb_unit unit_of(const char *name) {
    lb_unit u;
    assert_int_equal(lb_unit_find(name, &u, NULL), LB_OK);
    return u;
}

/* ---- orders ------------------------------------------------------------------------------------------------------------ */

static double sum_of(const char *name, const float *a, const float *w, size_t k, const float *scale) {
    const lb_sum_order *o;
    double sum;
    assert_int_equal(lb_sum_order_find(name, &o, NULL), LB_OK);
    assert_int_equal(lb_order_sum(o, a, w, k, scale, scale ? 128 : 0, &sum, NULL), LB_OK);
    return sum;
}

static float chain(const float *a, const float *w, size_t from, size_t to) {
    float sum = 0;
    for (size_t i = from; i < to; i++) sum += a[i] * w[i];
    return sum;
}

/* Against loops that are written out here. */
static void orders_sum_as_their_rows_say(void **state) {
    (void)state;
    enum { MOST = 2000 };
    static const size_t depths[] = {1, 7, 16, 127, 128, 129, 512, 1000, 2000};
    static float a[MOST], w[MOST], scales[MOST / 128 + 1];
    uint64_t generator = SEED;
    for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++) {
        const size_t k = depths[d];
        float outer = 0, scaled = 0, split = 0;
        double wide = 0;
        for (size_t i = 0; i < k; i++) {
            a[i] = draw_bf16(&generator) + draw_bf16(&generator) / 1024; /* products are rounded */
            w[i] = draw_bf16(&generator);
        }
        for (size_t i = 0; i <= k / 128; i++) scales[i] = (float)(lcg(&generator) % 16 + 1) / 1000;
        for (size_t first = 0; first < k; first += 128) {
            const size_t end = first + 128 < k ? first + 128 : k;
            float inner = 0;
            for (size_t i = first; i < end; i += 16) inner += chain(a, w, i, i + 16 < end ? i + 16 : end);
            outer += inner * scales[first / 128];
        }
        for (size_t i = 0; i < k; i++) {
            const float weight = w[i] * scales[i / 128];
            scaled += a[i] * weight;
            wide += (double)a[i] * (double)w[i];
        }
        for (size_t p = 0, part = (k + 3) / 4; p < 4; p++)
            split += chain(a, w, p * part < k ? p * part : k, (p + 1) * part < k ? (p + 1) * part : k);
        assert_true(sum_of("sequential", a, w, k, NULL) == (double)chain(a, w, 0, k));
        assert_true(sum_of("gemv-64x8", a, w, k, NULL) == (double)gemv_order(a, w, k, 8));
        assert_true(sum_of("gemv-64x16", a, w, k, NULL) == (double)gemv_order(a, w, k, 16));
        assert_true(k % 16 || sum_of("mma-tree16", a, w, k, NULL) == (double)mma_order(a, w, k));
        assert_true(sum_of("split4", a, w, k, NULL) == (double)split);
        assert_true(sum_of("fold128-steps16", a, w, k, scales) == (double)outer);
        assert_true(sum_of("sequential", a, w, k, scales) == (double)scaled);
        expect_near((int)k, sum_of("f64", a, w, k, NULL), wide, 1e-12);
        for (size_t i = 0; lb_sum_order_row(i); i++) assert_true(fabs(sum_of(lb_sum_order_row(i)->name, a, w, k, NULL) - wide) < 1e-3);
    }
}

static void no_two_orders_are_the_same(void **state) {
    (void)state;
    enum { DEPTH = 4096, TRIALS = 6, MOST = 32 };
    static float a[DEPTH], w[DEPTH];
    static double sums[TRIALS][MOST];
    size_t count = 0;
    uint64_t generator = 5;
    for (int t = 0; t < TRIALS; t++) {
        for (size_t i = 0; i < DEPTH; i++) {
            a[i] = draw_bf16(&generator) * draw_bf16(&generator);
            w[i] = draw_bf16(&generator);
        }
        for (count = 0; lb_sum_order_row(count); count++) sums[t][count] = sum_of(lb_sum_order_row(count)->name, a, w, DEPTH, NULL);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            bool same = true;
            for (int t = 0; t < TRIALS; t++) same = same && sums[t][i] == sums[t][j];
            if (same) fail_msg("%s and %s", lb_sum_order_row(i)->name, lb_sum_order_row(j)->name);
        }
}

/* ---- the seed contract ------------------------------------------------------------------------------------------------- */

static void the_seeds_drift_by_depth_is_reproduced(void **state) {
    (void)state;
    static const double gaps[] = {5.801e-6, 1.381e-4, 6.924e-4};
    lb_calibration *c = calibrated(&(lb_calibrate_options){.order = "mma-tree16", .case_name = "depths"});
    assert_int_equal(c->depth_count, 3);
    for (size_t i = 0; i < 3; i++) {
        expect_near((int)i, whole(c, i)->drift_rms, gaps[i], 5e-4);
        assert_true(whole(c, i)->floor > 50 * whole(c, i)->drift_rms);
        assert_int_equal(whole(c, i)->over_floor, 0);
    }
    lb_calibration_close(c);
}

static void expect_figures(const lb_calibration_figures *f, uint64_t over_old, double max_ulp, uint64_t flips, double rel_rms) {
    assert_int_equal(f->over_old, over_old);
    assert_true(f->max_ulp == max_ulp);
    assert_int_equal(f->sign_flips, flips);
    expect_near((int)f->rows, f->rel_rms, rel_rms, 5e-5);
    assert_int_equal(f->over_floor, 0);
}

/* The H100's figures for the whole layer: 2 x 10^10 products on each side. */
static void the_h100s_figures_are_reproduced(void **state) {
    (void)state;
    if (!is_full()) {
        puts("SKIP the_h100s_figures_are_reproduced: LB_FULL=1 runs it (10 s on two cores); test_lm_head has its telling columns");
        skip();
    }
    const lb_unit u = unit_of(SM_90);
    lb_calibration *c = calibrated(&(lb_calibrate_options){.unit = &u, .case_name = "lm-head"});
    const lb_calibration_figures *b = c->depths[0].blocks;
    assert_int_equal(c->depths[0].block_count, 4);
    expect_figures(&b[0], 10, 32, 0, 1.0179e-4);
    expect_figures(&b[1], 16, 100, 1, 1.0717e-4);
    expect_figures(&b[2], 25, 100, 1, 1.1095e-4);
    expect_figures(&b[3], 37, 100, 1, 1.1069e-4);
    assert_true(b[3].margin_needed < LB_M16_FLOOR_MARGIN);
    lb_calibration_close(c);
}

/* A smaller head: the same figures from operands that are drawn here and compared as the contract's authors compare. */
static void figures_are_those_of_the_original_comparison(void **state) {
    (void)state;
    enum { M = 8, N = 800, K = 32768 };
    const size_t depth = K;
    const lb_unit u = unit_of(SM_90);
    const lb_format *bf16 = lb_format_row(LB_BF16);
    static uint16_t a_codes[M][K], w_codes[K];
    uint32_t sums[M];
    static uint16_t actual[M * N], reference[M * N];
    static float a[M][K], w[K];
    uint64_t generator = SEED;
    for (size_t skipped = 0; skipped < (size_t)N * K; skipped++) lcg(&generator);
    for (size_t i = 0; i < M; i++)
        for (size_t p = 0; p < K; p++) {
            a[i][p] = draw_bf16(&generator);
            a_codes[i][p] = to_bf16(a[i][p]);
        }
    generator = SEED;
    for (size_t j = 0; j < N; j++) {
        for (size_t p = 0; p < K; p++) {
            w[p] = draw_bf16(&generator);
            w_codes[p] = to_bf16(w[p]);
        }
        const lb_mat x = lb_mat_of(bf16, a_codes, M, K), y = lb_mat_transposed(lb_mat_of(bf16, w_codes, 1, K));
        lb_mat sum = lb_mat_of(lb_format_row(LB_F32), sums, M, 1);
        assert_int_equal(lb_gemm(&u, &x, &y, NULL, &sum, NULL, NULL), LB_OK);
        for (size_t i = 0; i < M; i++) {
            actual[i * N + j] = to_bf16((float)lb_to_double(sum.format, sums[i]));
            reference[i * N + j] = to_bf16(gemv_order(a[i], w, K, 8));
        }
    }
    lb_m16_diff d;
    assert_int_equal(lb_m16_compare_block(actual, sizeof actual, reference, sizeof reference, N, K, &d, NULL), LB_OK);
    lb_calibration *c =
        calibrated(&(lb_calibrate_options){.unit = &u, .case_name = "lm-head", .k = &depth, .k_count = 1, .m = M, .n = N, .margin = 0.01});
    const lb_calibration_figures *f = whole(c, 0);
    assert_true(d.over_ulp_only > 0 && f->max_ulp == d.max_ulp && f->max_abs == d.max_abs);
    expect_near(__LINE__, f->rel_rms, d.rel_rms, 1e-12);
    expect_near(__LINE__, f->row_rms, d.rms, 1e-12);
    assert_int_equal(f->sign_flips, d.sign_flips);
    assert_true(f->over_ulp >= d.over_ulp_only && f->over_ulp <= d.over_ulp_only + d.sign_flips); /* those, it leaves out */
    assert_true(f->over_floor > 0 && f->worst_ratio > 1);                                         /* at a hundredth of 2^-24 … */
    for (size_t i = 0; i < M; i++) expect_near(__LINE__, c->depths[0].rows[i].row_rms, d.row_rms[i], 1e-12);
    lb_m16_diff_free(&d);
    lb_calibration_close(c);
}

/* Weights of fp8: the unit's sums over 128 products, times a block's scale, into an f32. */
static void fp8_weights_are_folded_block_by_block(void **state) {
    (void)state;
    const lb_unit u = unit_of(SM_90);
    lb_calibration *tensor = calibrated(&(lb_calibrate_options){.unit = &u, .case_name = "ffn", .n = is_full() ? 0 : 1408}),
                   *host = calibrated(&(lb_calibrate_options){.order = "fold128-steps16", .case_name = "ffn", .n = 1408});
    const lb_calibration_figures *f = whole(tensor, 0), *h = whole(host, 0);
    expect_near(__LINE__, f->row_rms, 39.1, 0.02); /* the H100's 39.13 */
    assert_true(f->rel_rms < 4.2e-5 && h->rel_rms < 4.2e-5);
    assert_true(f->over_ulp < 10 && f->over_floor == 0 && f->margin_needed < 1); /* it recorded 5 */
    expect_near(__LINE__, f->drift_rms, 9.5e-6, 0.1);
    lb_calibration_close(tensor);
    lb_calibration_close(host);
}

/* ---- accumulators that truncate ---------------------------------------------------------------------------------------- */

/* error / floor of 50,000 outputs was 0.09, 0.28, 0.85 and 1.88 on one sample. It is the largest of a sample, and only of what is beyond 2 ULP:
 * other samples give from half to twice that. */
static void the_square_root_floor_fails_an_accumulator_that_truncates(void **state) {
    (void)state;
    static const double ratios[] = {0.09, 0.28, 0.85, 1.88};
    const size_t k[] = {5120, 16384, 65536, 262144};
    const lb_unit u = unit_of(SM_90);
    const lb_calibrate_options o = {
        .unit = &u, .against = "gemv-64x8", .k = k, .k_count = is_full() ? 4 : 3, .m = 16, .n = is_full() ? 3125 : 1000, .elements = 50000};
    lb_calibration *c = calibrated(&o);
    for (size_t i = 0; i < c->depth_count; i++) {
        const lb_calibration_figures *f = whole(c, i);
        if (is_full() && !(f->worst_ratio > ratios[i] / 2 && f->worst_ratio < ratios[i] * 2))
            fail_msg("k = %zu: %.3f, want about %.2f", k[i], f->worst_ratio, ratios[i]);
        assert_true(f->worst_ratio < 2 * ratios[i]);
        if (i) { /* the spread of truncation grows as k, in the floor's unit as its root */
            const double growth = f->spread / whole(c, i - 1)->spread, root = sqrt((double)k[i] / (double)k[i - 1]);
            if (!(growth > root * 0.75 && (i < 3 || growth < root * 1.5))) fail_msg("k = %zu: spread grew by %.3f", k[i], growth);
        }
        assert_true(i < 2 || f->margin_needed > LB_M16_FLOOR_MARGIN);
        if (i == 3) assert_in_range(f->over_floor, 60, 150); /* 101 of 50,000 correct outputs */
    }
    lb_calibration_close(c);
}

/* The margin that is called for refuses nothing where 8 refuses correct outputs. */
static void the_margin_needed_is_enough_on_other_operands(void **state) {
    (void)state;
    const size_t k[] = {131072};
    const lb_unit u = unit_of(SM_90);
    lb_calibrate_options o = {.unit = &u, .k = k, .k_count = 1, .n = is_full() ? 3125 : 400};
    lb_calibration *first = calibrated(&o);
    o.margin = whole(first, 0)->margin_needed;
    assert_true(o.margin > 2 * LB_M16_FLOOR_MARGIN && o.margin < 200);
    lb_calibration_close(first);
    o.has_seed = true;
    o.seed = 77;
    lb_calibration *second = calibrated(&o);
    assert_int_equal(whole(second, 0)->over_floor, 0);
    assert_true(whole(second, 0)->worst_ratio < 0.6); /* sized for 1e-6, not for this run */
    lb_calibration_close(second);
}

static void what_is_done_about_truncation_shows(void **state) {
    (void)state;
    const size_t k[] = {16384};
    const lb_unit u = unit_of(SM_90);
    lb_schedule promoted;
    assert_int_equal(lb_schedule_parse("promote=128", &promoted, NULL), LB_OK);
    lb_calibration *plain = calibrated(&(lb_calibrate_options){.unit = &u, .k = k, .k_count = 1, .n = 256}),
                   *better = calibrated(&(lb_calibrate_options){.unit = &u, .schedule = &promoted, .k = k, .k_count = 1, .n = 256});
    assert_true(whole(better, 0)->spread * 10 < whole(plain, 0)->spread);
    assert_true(whole(better, 0)->margin_needed * 5 < whole(plain, 0)->margin_needed);
    lb_calibration_close(plain);
    lb_calibration_close(better);
}

/* ---- faults, tails, errors --------------------------------------------------------------------------------------------- */

static size_t fault(const char *name) {
    size_t i = 0;
    while (strcmp(lb_calibration_fault_name(i), name) != 0) i++;
    return i;
}

/* One lost product of 1 x 1 at most, against a floor that grows with k: seen at 512, not at 2^20. */
static void a_deep_floor_is_blind_to_one_lost_product(void **state) {
    (void)state;
    const size_t k[] = {512, 1 << 20};
    lb_calibration *c = calibrated(&(lb_calibrate_options){.order = "mma-tree16", .k = k, .k_count = 2, .m = 2, .n = 2});
    assert_true(whole(c, 0)->fault_ratio[fault("lost-last")] > 1);
    assert_true(whole(c, 1)->fault_ratio[fault("lost-last")] <= 1);
    assert_true(whole(c, 1)->fault_ratio[fault("doubled")] > 1);
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; lb_calibration_fault_name(i); i++) /* the weakest is the least of them, by row and in all */
            for (size_t r = 0; r < 2; r++) {
                const lb_calibration_figures *row = &c->depths[d].rows[r];
                assert_false(row->fault_ratio[i] < row->fault_ratio[row->weakest]);
                assert_false(whole(c, d)->fault_ratio[i] < row->fault_ratio[i]);
            }
    lb_calibration_close(c);
}

static void the_doubled_fault_is_the_value_over_its_limit(void **state) {
    (void)state;
    const size_t k[] = {64};
    lb_calibration *c = calibrated(&(lb_calibrate_options){.order = "sequential", .k = k, .k_count = 1, .m = 1, .n = 1});
    const lb_calibration_figures *f = whole(c, 0);
    int e;
    frexp(f->row_rms, &e); /* of one value: itself */
    expect_near(__LINE__, f->fault_ratio[fault("doubled")], f->row_rms / fmax(2 * ldexp(1, e - 8), f->floor), 1e-6);
    assert_true(isnan(f->fault_ratio[fault("copied-row")]));
    lb_calibration_close(c);
}

static void a_tail_that_no_rate_can_be_sized_by_is_called_so(void **state) {
    (void)state;
    const size_t k[] = {1024, 131072};
    const lb_unit u = unit_of(SM_90);
    lb_calibration *c = calibrated(&(lb_calibrate_options){.unit = &u, .k = k, .k_count = 2, .n = 400});
    assert_int_equal(whole(c, 0)->tail, LB_TAIL_SEEN); /* most of the sums are exact */
    assert_int_equal(whole(c, 1)->tail, LB_TAIL_NORMAL);
    lb_calibration_close(c);
}

static void what_cannot_be_calibrated_is_refused(void **state) {
    (void)state;
    const size_t k[] = {64}, none[] = {0};
    const lb_unit u = unit_of(SM_90), i8 = unit_of("sm_80/mma.m16n8k32.s32.s8.s8.s32"), f16 = unit_of("sm_80/mma.m16n8k16.f16.f16.f16.f16");
    const struct {
        int line;
        lb_calibrate_options o;
        lb_status status;
    } rows[] = {{__LINE__, {.k = k, .k_count = 1}, LB_E_ARG},
                {__LINE__, {.unit = &u, .order = "f64", .k = k, .k_count = 1}, LB_E_ARG},
                {__LINE__, {.order = "seqential", .k = k, .k_count = 1}, LB_E_NAME},
                {__LINE__, {.order = "sequential", .against = "f46", .k = k, .k_count = 1}, LB_E_NAME},
                {__LINE__, {.order = "sequential", .case_name = "lm-hat"}, LB_E_NAME},
                {__LINE__, {.order = "sequential"}, LB_E_ARG},
                {__LINE__, {.order = "sequential", .k = none, .k_count = 1}, LB_E_ARG},
                {__LINE__, {.unit = &i8, .k = k, .k_count = 1}, LB_E_FORMAT},
                {__LINE__, {.unit = &f16, .k = k, .k_count = 1, .out = lb_format_row(LB_E4M3)}, LB_E_FORMAT}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_calibration *c;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_calibrate(&rows[i].o, &c, &err), rows[i].status);
        assert_null(c);
        assert_true(err.message[0] != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_sum_as_their_rows_say),
        cmocka_unit_test(no_two_orders_are_the_same),
        cmocka_unit_test(the_seeds_drift_by_depth_is_reproduced),
        cmocka_unit_test(the_h100s_figures_are_reproduced),
        cmocka_unit_test(figures_are_those_of_the_original_comparison),
        cmocka_unit_test(fp8_weights_are_folded_block_by_block),
        cmocka_unit_test(the_square_root_floor_fails_an_accumulator_that_truncates),
        cmocka_unit_test(the_margin_needed_is_enough_on_other_operands),
        cmocka_unit_test(what_is_done_about_truncation_shows),
        cmocka_unit_test(a_deep_floor_is_blind_to_one_lost_product),
        cmocka_unit_test(the_doubled_fault_is_the_value_over_its_limit),
        cmocka_unit_test(a_tail_that_no_rate_can_be_sized_by_is_called_so),
        cmocka_unit_test(what_cannot_be_calibrated_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
