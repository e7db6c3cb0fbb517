/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tensor-core contract as its authors pin it: constants, ordinal, floor, predicate, block comparison, and its silent corners.
 * Figures: source seed-contract. */
#include "test.h"

#include "m16_sim.h"

static uint16_t bf16(double x) {
    return (uint16_t)lb_from_double(lb_format_row(LB_BF16), x);
}

static void the_constants_are_the_seeds(void **state) {
    (void)state;
    assert_int_equal(LB_M16_MAX_ULP, 2);
    assert_true(LB_F32_UNIT_ROUNDOFF == 5.960464477539063e-8 && LB_M16_FLOOR_MARGIN == 8.0 && LB_M16_SIGN_FLIP_BAND == 0.05);
    assert_true(LB_M16_REL_RMS_GATE == 1e-3 && LB_M16_OLD_FLOOR == 0x1p-20);
    for (size_t i = 0; lb_contract_row(i); i++) { /* and the rows have them too */
        const lb_contract *c = lb_contract_row(i);
        if (strncmp(c->name, "m16-tc", 6) != 0) continue;
        assert_true(c->max_ulp == 2 && c->unit_roundoff == LB_F32_UNIT_ROUNDOFF && c->margin == 8 && c->sign_flip_band == 0.05 &&
                    c->rel_rms_gate == 1e-3);
        assert_true(lb_contract_floor(c, 5120, 39.13) == lb_m16_floor(5120, 39.13));
    }
    const lb_contract *c;
    lb_error err;
    assert_int_equal(lb_contract_find("m16tc", &c, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "m16-tc"));
}

static void the_ordinal_is_monotone_with_one_point_for_both_zeros(void **state) {
    (void)state;
    assert_int_equal(lb_bf16_ord(0x0000), 0);
    assert_int_equal(lb_bf16_ord(0x8000), 0);
    assert_int_equal(lb_bf16_ord(0x3f80), 0x3f80);
    assert_int_equal(lb_bf16_ord(0xbf80), -0x3f80);
    for (uint32_t c = 1; c < 0x7f80; c++) {
        assert_int_equal(lb_bf16_ord((uint16_t)c), lb_bf16_ord((uint16_t)(c - 1)) + 1);
        assert_int_equal(lb_bf16_ord((uint16_t)(c | 0x8000)), -lb_bf16_ord((uint16_t)c));
    }
}

static void the_floor_has_the_pinned_figures_and_scales(void **state) {
    (void)state;
    assert_true(fabs(lb_m16_floor(5120, 39.13) - 1.335103e-3) <= 1e-8);
    assert_true(fabs(lb_m16_floor(5120, 23.8027) - 8.1214e-4) <= 1e-7);
    assert_true(lb_m16_floor(5120, 23.8027) > 8.0e-4 && lb_m16_floor(5120, 23.8027) < 8.3e-4 &&
                23.8027 / lb_m16_floor(5120, 23.8027) > 29000);
    assert_true(lb_m16_floor(4 * 5120, 1) == 2 * lb_m16_floor(5120, 1) && lb_m16_floor(5120, 3) == 3 * lb_m16_floor(5120, 1));
    assert_true(lb_m16_floor(5120, 0) == 0);
}

static void the_predicate_admits_and_rejects_what_its_tests_say(void **state) {
    (void)state;
    static const struct {
        int line;
        double actual, reference, rms;
        int32_t ulp; /* -1: not pinned */
        bool within;
    } rows[] = {
        {__LINE__, 96, 96, 39.13, 0, true},
        {__LINE__, 96.5, 96, 39.13, 1, true},
        {__LINE__, 97, 96, 39.13, 2, true}, /* the budget's edge */
        {__LINE__, 97.5, 96, 39.13, 3, false},
        {__LINE__, 71.5, 64, 39.13, 15, false},
        {__LINE__, 0.5, 1e-5, 39.13, -1, false},
        {__LINE__, -9.537e-6, -5.722e-6, 39.13, 96, true}, /* outputs that cancelled */
        {__LINE__, -1.05858e-4, -1.16348e-4, 39.13, 22, true},
        {__LINE__, -1.50681e-4, -1.56403e-4, 39.13, 6, true},
        {__LINE__, -12, 40, 23.8027, -1, false},
        {__LINE__, 97.5, 96, 23.8027, 3, false},
        {__LINE__, 0.5, 1e-4, 23.8027, -1, false},
        {__LINE__, 1.0234375, 1.0, 23.8027, 3, false}, /* three ordinals near one: 28 floors and more */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint16_t actual = bf16(rows[i].actual), reference = bf16(rows[i].reference);
        const bool got = lb_m16_within(actual, reference, 5120, rows[i].rms);
        if (rows[i].ulp >= 0) EXPECT_CODE(rows[i].line, abs(lb_bf16_ord(actual) - lb_bf16_ord(reference)), rows[i].ulp);
        if (got != rows[i].within) fail_msg("row at %s:%d", __FILE__, rows[i].line);
        assert_true(rows[i].within || fabs(rows[i].actual - rows[i].reference) > 28 * lb_m16_floor(5120, 23.8027));
    }
}

static void the_round_nine_outlier_is_a_cancelled_logit(void **state) {
    (void)state;
    static const uint16_t others[] = {0xb892, 0xb95a}; /* a hundred ordinals to either side */
    const uint16_t reference = bf16(-1.1730194e-4);
    EXPECT_CODE(__LINE__, reference, 0xb8f6);
    const double value = (double)bf16_float(reference), rms = 23.8027;
    assert_true(fabs(value) / rms > 4.8e-6 && fabs(value) / rms < 5.0e-6);
    for (size_t i = 0; i < 2; i++) {
        const double gap = fabs((double)bf16_float(others[i]) - value);
        assert_int_equal(abs(lb_bf16_ord(others[i]) - lb_bf16_ord(reference)), 100);
        assert_true(gap > 4.0e-5 && gap < 1e-4);
        assert_true(gap > LB_M16_OLD_FLOOR * rms && gap <= lb_m16_floor(5120, rms)); /* the fixed floor refused it */
        assert_true(lb_m16_within(others[i], reference, 5120, rms));
    }
    assert_true(fabs(fabs((double)bf16_float(0xb892) - value) - 4.768e-5) < 1e-8);
    assert_true(fabs(fabs((double)bf16_float(0xb95a) - value) - 9.060e-5) < 1e-8);
}

/* ---- the block comparison ------------------------------------------------------------------------------------------------------ */

static lb_m16_diff compare(const uint16_t *actual, size_t actual_count, const uint16_t *reference, size_t count, size_t n, size_t k) {
    lb_m16_diff d;
    assert_int_equal(lb_m16_compare_block(actual, actual_count * 2, reference, count * 2, n, k, &d, NULL), LB_OK);
    return d;
}

static void a_block_reports_every_figure(void **state) {
    (void)state;
    /* rows (3, 4) and (96, 0.01): RMS 3.5355 and 67.88; column 1 of row 1 flips its sign, column 0 of row 0 is 3 ordinals off */
    const uint16_t reference[] = {bf16(3), bf16(4), bf16(96), bf16(0.01)},
                   actual[] = {(uint16_t)(bf16(3) + 3), bf16(4), (uint16_t)(bf16(96) + 1), bf16(-0.01)};
    lb_m16_diff d = compare(actual, 4, reference, 4, 2, 5120);
    assert_int_equal(d.max_ulp, 3);
    assert_int_equal(d.over_count, 1);
    assert_int_equal(d.over_ulp_only, 1);
    assert_int_equal(d.sign_flips, 1);
    assert_true(d.max_abs == 0.5 && d.row_count == 2 && fabs(d.row_rms[0] - sqrt(12.5)) < 1e-12);
    const lb_m16_outlier *o = &d.over_budget[0];
    assert_true(o->row == 0 && o->col == 0 && o->reference == 3 && o->actual == 3.046875f && o->ulp == 3);
    assert_true(o->row_rms == d.row_rms[0] && o->floor == lb_m16_floor(5120, d.row_rms[0]));
    const double small = (double)bf16_float(bf16(0.01)), e = 0.046875 * 0.046875 + 0.25 + 4 * small * small,
                 r = 25 + 96 * 96 + small * small;
    assert_true(fabs(d.rel_rms - sqrt(e / r)) < 1e-12 && fabs(d.rms - sqrt(r / 4)) < 1e-12);
    lb_m16_diff_free(&d);
    assert_null(d.over_budget);
}

static void k_is_the_depth_and_the_width_changes_nothing(void **state) {
    (void)state;
    const uint16_t reference[] = {bf16(40), bf16(1e-4), bf16(-40), bf16(30)}, actual[] = {bf16(40), bf16(6e-4), bf16(-40), bf16(30)};
    for (size_t n = 1; n <= 4; n *= 2) {
        lb_m16_diff shallow = compare(actual, 4, reference, 4, n, 16), deep = compare(actual, 4, reference, 4, n, 1 << 20);
        const bool wide_row = n > 1; /* alone in its row the element has no neighbours to take a scale from */
        assert_int_equal(shallow.over_count, 1);
        assert_int_equal(deep.over_count, wide_row ? 0 : 1);
        assert_int_equal(deep.over_ulp_only, 1);
        lb_m16_diff_free(&shallow);
        lb_m16_diff_free(&deep);
    }
}

/* What the original leaves unsaid, as it is. */
static void the_originals_silent_corners_are_kept(void **state) {
    (void)state;
    static const struct {
        int line;
        uint16_t actual, reference;
        size_t over, flips;
    } rows[] = {
        {__LINE__, 0x447a, 0xbc24, 0, 1}, /* +1000 against -0.01: counted as a sign flip, never graded */
        {__LINE__, 0x447a, 0xbd4d, 1, 0}, /* +1000 against -0.05005: at the band it is graded */
        {__LINE__, 0x7fc0, 0x3c24, 0, 1}, /* NaN against +0.01 has "another sign" */
        {__LINE__, 0x7fc0, 0x3f80, 1, 0}, /* NaN against 1: |NaN| <= floor is false */
        {__LINE__, 0x7f80, 0x7f7f, 0, 0}, /* Inf is one ordinal from the largest finite value */
        {__LINE__, 0x7f81, 0x7f80, 0, 0}, /* NaN is one ordinal from Inf */
        {__LINE__, 0x7fc0, 0x7fc0, 0, 0}, /* identical NaN bits: 0 ordinals, but no two NaN share a sign, and |NaN| < 0.05 is false */
        {__LINE__, 0x8000, 0x0000, 0, 1}, /* -0 against +0 is a sign flip */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_m16_diff d = compare(&rows[i].actual, 1, &rows[i].reference, 1, 1, 5120);
        EXPECT_CODE(rows[i].line, d.over_count, rows[i].over);
        EXPECT_CODE(rows[i].line, d.sign_flips, rows[i].flips);
        lb_m16_diff_free(&d);
    }
    const uint16_t reference[5] = {0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x7f00}, actual[5] = {0x3f80, 0x3f80, 0x3f80, 0x3f80, 0};
    lb_m16_diff d = compare(actual, 4, reference, 5, 2, 16); /* a short actual is accepted; the last partial row has its own RMS */
    assert_true(d.over_count == 0 && d.row_count == 3 && d.row_rms[0] == 1 && d.row_rms[2] > 1e38);
    lb_m16_diff_free(&d);
    d = compare(reference, 5, actual, 4, 2, 16); /* and so is a long one */
    assert_true(d.over_count == 0 && d.row_count == 2);
    lb_m16_diff_free(&d);
    static const uint16_t plain[2] = {0x4040, 0x4080}, bent[2] = {0x4040, 0x4090};
    d = compare(bent, 2, plain, 2, 0, 16); /* n = 0: one row, column 0, under the block RMS */
    assert_true(d.over_count == 1 && d.row_count == 0 && d.rms == sqrt(12.5));
    assert_true(d.over_budget[0].row == 0 && d.over_budget[0].col == 0 && d.over_budget[0].row_rms == d.rms);
    lb_m16_diff_free(&d);
    assert_int_equal(lb_m16_compare_block(actual, 3, reference, 3, 1, 16, &d, NULL), LB_OK); /* a trailing odd byte is ignored */
    assert_true(d.over_count == 0 && d.max_ulp == 0);
    lb_m16_diff_free(&d);
    d = compare(actual, 0, reference, 0, 2, 16);
    assert_true(d.rms == 0 && d.rel_rms == 0 && d.row_count == 0);
    lb_m16_diff_free(&d);
    static const uint16_t zeros[2] = {0, 0}, some[2] = {0x4040, 0x4080};
    d = compare(some, 2, zeros, 2, 2, 16); /* an all-zero reference: rel_rms is the plain error */
    assert_true(d.rel_rms == 5 && d.over_count == 2);
    lb_m16_diff_free(&d);
    static const uint16_t cold[4] = {0, 0, 0x4f00, 0x4f00}, warm[4] = {0x0003, 0x0002, 0x4f00, 0x4f00};
    d = compare(warm, 4, cold, 4, 2, 16); /* an all-zero row keeps its ordinal budget only, hot as its neighbour may be */
    assert_true(d.row_rms[0] == 0 && d.over_count == 1 && d.over_budget[0].ulp == 3 && d.over_budget[0].floor == 0);
    lb_m16_diff_free(&d);
    static const uint16_t nan_row[2] = {0x7fc0, 0x3f80}, ones[2] = {0x3f80, 0x3f80};
    d = compare(nan_row, 2, ones, 2, 2, 16);
    assert_true(d.max_abs == 0 && isnan(d.rel_rms) && !(d.rel_rms <= LB_M16_REL_RMS_GATE)); /* the gate still fails */
    lb_m16_diff_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_constants_are_the_seeds),
        cmocka_unit_test(the_ordinal_is_monotone_with_one_point_for_both_zeros),
        cmocka_unit_test(the_floor_has_the_pinned_figures_and_scales),
        cmocka_unit_test(the_predicate_admits_and_rejects_what_its_tests_say),
        cmocka_unit_test(the_round_nine_outlier_is_a_cancelled_logit),
        cmocka_unit_test(a_block_reports_every_figure),
        cmocka_unit_test(k_is_the_depth_and_the_width_changes_nothing),
        cmocka_unit_test(the_originals_silent_corners_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
