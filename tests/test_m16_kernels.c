/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The contract against simulated kernels: an fp8 FFN layer at M = 32 by a scalar GEMV and by a tensor-core tile, and the faults that
 * a comparison must refuse. source: seed-contract */
#include "test.h"

#include "m16_sim.h"

enum { K = 5120, N = 128, M = 32, BLOCK = 128, BLOCKS = K / BLOCK };

/* The layer's operands: draws in the order weights, activations, scales. */
static struct layer {
    float weight[N][K]; /* decoded e4m3 */
    float activation[M][K];
    float scale[BLOCKS]; /* one for a block of 128 x 128 weights; N is 128 */
} layer;

static void draw_layer(void) {
    const lb_format *e4m3 = lb_format_row(LB_E4M3);
    uint64_t generator = UINT64_C(0x0927167C2026);
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) {
            const uint32_t x = lcg(&generator);
            layer.weight[n][k] = (float)lb_to_double(e4m3, x % 127 | (x & 0x80)); /* never the NaN code */
        }
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++) layer.activation[m][k] = draw_bf16(&generator);
    for (int b = 0; b < BLOCKS; b++) layer.scale[b] = (float)(lcg(&generator) % 16 + 1) / 1024;
}

/* 64 lanes, each takes chunks of 16 at stride 64; each product uses weight x scale, rounded first. */
static uint16_t scalar_gemv(int m, int n) {
    static float scaled[K];
    for (int k = 0; k < K; k++) scaled[k] = layer.weight[n][k] * layer.scale[k / BLOCK];
    return to_bf16(gemv_order(layer.activation[m], scaled, K, 16));
}

/* Per block of 128 an unscaled f32 sum over eight steps of 16 in order; the outer sum takes it times the scale. */
static uint16_t tile_mma(int m, int n) {
    float outer = 0;
    for (int b = 0; b < BLOCKS; b++) {
        float inner = 0;
        for (int step = 0; step < 8; step++) {
            const int first = b * BLOCK + step * 16;
            for (int k = first; k < first + 16; k++) inner += layer.activation[m][k] * layer.weight[n][k];
        }
        outer += inner * layer.scale[b];
    }
    return to_bf16(outer);
}

static uint16_t reference[M][N], actual[M][N];

static int run_both(void **state) {
    (void)state;
    draw_layer();
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            reference[m][n] = scalar_gemv(m, n);
            actual[m][n] = tile_mma(m, n);
        }
    return 0;
}

static lb_m16_diff compare(uint16_t (*got)[N]) {
    lb_m16_diff d;
    assert_int_equal(lb_m16_compare_block(got, sizeof actual, reference, sizeof reference, N, K, &d, NULL), LB_OK);
    return d;
}

static lb_verdict verdict_of(uint16_t (*got)[N]) {
    const lb_contract *c;
    assert_int_equal(lb_contract_find("m16-tc", &c, NULL), LB_OK);
    const lb_grade_input in = {.actual = lb_mat_of(lb_format_row(LB_BF16), got, M, N),
                               .reference = lb_mat_of(lb_format_row(LB_BF16), reference, M, N),
                               .contract = c,
                               .k = K};
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
    const lb_verdict v = r->verdict;
    lb_record_close(r);
    return v;
}

static void the_tile_meets_the_budget_against_the_scalar_gemv(void **state) {
    (void)state;
    lb_m16_diff d = compare(actual);
    double least = INFINITY, most = 0;
    for (size_t r = 0; r < d.row_count; r++) {
        least = fmin(least, d.row_rms[r]);
        most = fmax(most, d.row_rms[r]);
    }
    assert_int_equal(d.over_count, 0);
    assert_int_equal(d.over_ulp_only, 0);
    assert_int_equal(d.max_ulp, 1);
    int differing = 0;
    for (int i = 0; i < M * N; i++) differing += actual[i / N][i % N] != reference[i / N][i % N];
    assert_int_equal(differing, 1); /* at row 17, column 7 */
    assert_int_equal(abs(lb_bf16_ord(actual[17][7]) - lb_bf16_ord(reference[17][7])), 1);
    assert_true(d.rms > 1 && d.rel_rms <= LB_M16_REL_RMS_GATE);
    assert_true(fabs(least - 38.84) < 0.005 && fabs(most - 49.49) < 0.005); /* figures of the facts, recomputed there too */
    assert_int_equal(verdict_of(actual), LB_PASS);
    lb_m16_diff_free(&d);
}

/* ---- faults that must be refused ------------------------------------------------------------------------------------------------ */

typedef void fault(uint16_t (*x)[N]);

static void three_ulp_on_one(uint16_t (*x)[N]) {
    for (int i = 0; i < M * N; i++) {
        uint16_t *v = &x[i / N][i % N];
        if (fabsf(bf16_float(*v)) <= 1) continue;
        *v = (uint16_t)(reference[i / N][i % N] + 3);
        return;
    }
}

static void copied_row(uint16_t (*x)[N]) {
    memcpy(x[17], x[16], sizeof x[17]);
}

static void shifted_tail(uint16_t (*x)[N]) { /* the last 16 columns move by one */
    for (int m = 0; m < M; m++) memmove(&x[m][N - 15], &x[m][N - 16], 15 * sizeof x[m][0]);
}

static void shifted_tail_of_13(uint16_t (*x)[N]) {
    for (int m = 0; m < M; m++) memmove(&x[m][N - 12], &x[m][N - 13], 12 * sizeof x[m][0]);
}

static void wrapped_store(uint16_t (*x)[N]) { /* the tail tile lands at the row's beginning */
    for (int m = 0; m < M; m++) memcpy(&x[m][0], &x[m][N - 6], 6 * sizeof x[m][0]);
}

static void second_half_off_by_a_row(uint16_t (*x)[N]) {
    memmove(x[16], x[15], 16 * sizeof x[16]);
}

static void second_half_reads_the_first(uint16_t (*x)[N]) {
    memcpy(x[16], x[0], 16 * sizeof x[16]);
}

static void output_off_by_a_row(uint16_t (*x)[N]) {
    memmove(x[15], x[16], 16 * sizeof x[15]);
}

static void a_row_of_zeros(uint16_t (*x)[N]) {
    memset(x[9], 0, sizeof x[9]);
}

static void one_nan(uint16_t (*x)[N]) {
    x[31][N - 1] = 0x7fc0;
}

static void lost_k_tail(uint16_t (*x)[N]) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            x[m][n] = to_bf16(bf16_float(x[m][n]) - layer.activation[m][K - 1] * layer.weight[n][K - 1] * layer.scale[BLOCKS - 1]);
}

static void twice_the_scale(uint16_t (*x)[N]) {
    for (int n = 0; n < N; n++) x[3][n] = to_bf16(2 * bf16_float(x[3][n]));
}

static void every_structural_fault_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name;
        fault *apply;
    } faults[] = {{"+3 ulp on one value above 1", three_ulp_on_one},
                  {"row 17 is row 16", copied_row},
                  {"16-column tail shifted", shifted_tail},
                  {"13-column tail shifted", shifted_tail_of_13},
                  {"wrapped store", wrapped_store},
                  {"second half reads one row early", second_half_off_by_a_row},
                  {"second half reads 16 rows early", second_half_reads_the_first},
                  {"second half stores one row early", output_off_by_a_row},
                  {"a row of zeros", a_row_of_zeros},
                  {"one NaN", one_nan},
                  {"the last product lost", lost_k_tail},
                  {"a row at twice its scale", twice_the_scale}};
    static uint16_t bent[M][N];
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        memcpy(bent, actual, sizeof bent);
        faults[i].apply(bent);
        if (memcmp(bent, actual, sizeof bent) == 0) fail_msg("%s: changes nothing", faults[i].name);
        if (verdict_of(bent) != LB_FAIL) fail_msg("%s: passes", faults[i].name);
    }
}

/* ---- 17 to 32 rows as two launches ------------------------------------------------------------------------------------------------ */

/* `rows` rows of the input from in_first, stored from out_first on. */
static void launch(int in_first, int out_first, int rows, uint16_t (*x)[N]) {
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < N; n++) x[out_first + r][n] = tile_mma(in_first + r, n);
}

static void the_two_halves_rung_reproduces_every_row_of_a_per_row_launch(void **state) {
    (void)state;
    static uint16_t halves[M][N], one_by_one[M][N];
    launch(0, 0, 16, halves);
    launch(16, 16, 16, halves);
    for (int m = 0; m < M; m++) launch(m, m, 1, one_by_one);
    assert_memory_equal(halves, one_by_one, sizeof halves);
    assert_memory_equal(halves, actual, sizeof halves);
}

static void a_wrong_second_half_offset_is_caught(void **state) {
    (void)state;
    static const struct {
        int line, in_first, out_first;
    } rows[] = {{__LINE__, 15, 16}, {__LINE__, 0, 16}, {__LINE__, 16, 15}}; /* right: 16, 16 */
    static uint16_t bent[M][N];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(bent, 0, sizeof bent);
        launch(0, 0, 16, bent);
        launch(rows[i].in_first, rows[i].out_first, 16, bent);
        if (memcmp(bent, actual, sizeof bent) == 0 || verdict_of(bent) != LB_FAIL) fail_msg("row at %s:%d: passes", __FILE__, rows[i].line);
    }
}

/* The rung's plan: at most 16 rows a launch; 17 to 32 as ceil(m / 2), then the rest. */
static int first_launch(int m) {
    return m <= 16 ? m : (m + 1) / 2;
}

static void every_row_count_in_the_band_maps_each_row_to_itself_exactly_once(void **state) {
    (void)state;
    for (int m = 5; m <= M; m++) {
        static uint16_t x[M][N];
        memset(x, 0, sizeof x);
        for (int start = 0; start < m; start += first_launch(m)) {
            const int rows = m - start < first_launch(m) ? m - start : first_launch(m);
            assert_in_range(rows, 1, 16);
            for (int r = start; r < start + rows; r++) x[r][0]++;
        }
        for (int r = 0; r < M; r++) assert_int_equal(x[r][0], r < m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tile_meets_the_budget_against_the_scalar_gemv),
        cmocka_unit_test(every_structural_fault_is_refused),
        cmocka_unit_test(the_two_halves_rung_reproduces_every_row_of_a_per_row_launch),
        cmocka_unit_test(a_wrong_second_half_offset_is_caught),
        cmocka_unit_test(every_row_count_in_the_band_maps_each_row_to_itself_exactly_once),
    };
    return cmocka_run_group_tests(tests, run_both, NULL);
}
