/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How far two summation orders drift apart with depth and row, and the floor that must stay above it. source: seed-contract */
#include "test.h"

#include "m16_sim.h"

enum { DEPTHS = 3, COLUMNS = 4 };

static void expect_near(int line, double got, double want, double relative) {
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("row at %s:%d: got %.6e, want %.6e", __FILE__, line, got, want);
}

/* RMS over the columns of the difference between the two orders. */
static double order_gap(const float *a, float *const *columns, size_t k) {
    double sum = 0;
    for (int c = 0; c < COLUMNS; c++) {
        const double gap = (double)mma_order(a, columns[c], k) - (double)gemv_order(a, columns[c], k, 8);
        sum += gap * gap;
    }
    return sqrt(sum / COLUMNS);
}

static double norm(const float *a, size_t k) {
    double sum = 0;
    for (size_t i = 0; i < k; i++) sum += (double)a[i] * (double)a[i];
    return sqrt(sum);
}

static float *draws(uint64_t *state, size_t k, float scale) {
    float *x = malloc(k * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < k; i++) x[i] = draw_bf16(state) * scale;
    return x;
}

static void the_fixed_floor_does_not_track_the_reduction_depth_and_the_new_one_does(void **state) {
    (void)state;
    static const struct {
        int line;
        size_t k;
        double gap, old_floor, new_floor, ratio;
    } rows[DEPTHS] = {{__LINE__, 4096, 5.801e-6, 2.059e-5, 6.589e-4, 113.6},
                      {__LINE__, 65536, 1.381e-4, 8.150e-5, 1.043e-2, 75.5},
                      {__LINE__, 1048576, 6.924e-4, 3.259e-4, 1.669e-1, 241}};
    uint64_t generator = UINT64_C(0x0927167C2026); /* one generator through all depths */
    double last = 0;
    for (int i = 0; i < DEPTHS; i++) {
        const size_t k = rows[i].k;
        float *a = draws(&generator, k, 1), *columns[COLUMNS];
        for (int c = 0; c < COLUMNS; c++) columns[c] = draws(&generator, k, 1);
        const double gap = order_gap(a, columns, k), rms = norm(a, k) / sqrt(3); /* the alphabet's variance is 1/3 */
        const double old_floor = LB_M16_OLD_FLOOR * rms, new_floor = lb_m16_floor(k, rms);
        expect_near(rows[i].line, gap, rows[i].gap, 5e-4);
        expect_near(rows[i].line, old_floor, rows[i].old_floor, 5e-4);
        expect_near(rows[i].line, new_floor, rows[i].new_floor, 5e-4);
        expect_near(rows[i].line, new_floor / gap, rows[i].ratio, 5e-3);
        assert_true(gap > last && new_floor > 50 * gap);
        assert_true(i == 0 ? gap < old_floor : gap > old_floor);
        last = gap;
        free(a);
        for (int c = 0; c < COLUMNS; c++) free(columns[c]);
    }
}

static void the_floor_follows_the_row_and_not_the_block(void **state) {
    (void)state;
    enum { DEPTH = 5120 };
    uint64_t generator = UINT64_C(0x092716700009);
    float *quiet = draws(&generator, DEPTH, 1.0f / 16), *hot = draws(&generator, DEPTH, 1), *columns[2][COLUMNS];
    for (int row = 0; row < 2; row++)
        for (int c = 0; c < COLUMNS; c++) columns[row][c] = draws(&generator, DEPTH, 1);
    const double quiet_gap = order_gap(quiet, columns[0], DEPTH), hot_gap = order_gap(hot, columns[1], DEPTH);
    const double quiet_rms = norm(quiet, DEPTH) / sqrt(3), hot_rms = norm(hot, DEPTH) / sqrt(3);
    const double block_rms = sqrt((quiet_rms * quiet_rms + hot_rms * hot_rms) / 2);
    expect_near(__LINE__, quiet_gap, 4.805e-7, 5e-4);
    expect_near(__LINE__, hot_gap, 8.662e-6, 5e-4);
    expect_near(__LINE__, lb_m16_floor(DEPTH, block_rms) / lb_m16_floor(DEPTH, quiet_rms), 11.43, 5e-4);
    assert_true(hot_rms > 8 * quiet_rms && hot_gap > 4 * quiet_gap);
    assert_true(quiet_gap < lb_m16_floor(DEPTH, quiet_rms) && hot_gap < lb_m16_floor(DEPTH, hot_rms));
    assert_true(lb_m16_floor(DEPTH, block_rms) > 8 * lb_m16_floor(DEPTH, quiet_rms));
    free(quiet);
    free(hot);
    for (int row = 0; row < 2; row++)
        for (int c = 0; c < COLUMNS; c++) free(columns[row][c]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixed_floor_does_not_track_the_reduction_depth_and_the_new_one_does),
        cmocka_unit_test(the_floor_follows_the_row_and_not_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
