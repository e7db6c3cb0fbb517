/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The original twice: the block comparison and the grade under m16-tc-original share no code and must agree on any bits; and sizes,
 * depths and scales at their limits, under which nothing may pass by accident. */
#include "test.h"

#include "m16_sim.h"

enum { ROWS = 6, COLS = 9, COUNT = ROWS * COLS };

static lb_grade_input input_of(const char *contract, const uint16_t *actual, const uint16_t *reference, size_t rows, size_t cols) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    lb_grade_input in = {.actual = lb_mat_of(bf16, actual, rows, cols), .reference = lb_mat_of(bf16, reference, rows, cols), .k = 5120};
    assert_int_equal(lb_contract_find(contract, &in.contract, NULL), LB_OK);
    return in;
}

static lb_record *graded(const lb_grade_input *in) {
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    if (lb_grade(in, r, &err) != LB_OK) fail_msg("%s", err.message);
    return r;
}

static bool same(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

/* Any code at all in one draw of eight; else a value, and beside it one that is near, negated or the same. */
static void draw_block(uint64_t *state, uint16_t *actual, uint16_t *reference) {
    for (int i = 0; i < COUNT; i++) {
        const uint32_t kind = lcg(state) % 8;
        reference[i] = kind == 0 ? (uint16_t)lcg(state) : to_bf16(draw_bf16(state) / (float)(1 + lcg(state) % 4096));
        const uint32_t other = lcg(state);
        actual[i] = kind <= 1   ? (uint16_t)other
                    : kind == 2 ? (uint16_t)(reference[i] ^ 0x8000)
                    : kind <= 5 ? (uint16_t)(reference[i] + other % 7 - 3)
                                : reference[i];
    }
}

static void the_block_comparison_and_the_grade_agree_on_any_bits(void **state) {
    (void)state;
    uint64_t generator = 1;
    uint16_t actual[COUNT], reference[COUNT];
    size_t over = 0, flips = 0, admitted = 0;
    for (int trial = 0; trial < 3000; trial++) {
        draw_block(&generator, actual, reference);
        lb_grade_input in = input_of("m16-tc-original", actual, reference, ROWS, COLS);
        in.max_outliers = COUNT;
        lb_record *r = graded(&in);
        lb_m16_diff d;
        assert_int_equal(lb_m16_compare_block(actual, sizeof actual, reference, sizeof reference, COLS, 5120, &d, NULL), LB_OK);
        EXPECT_CODE(trial, r->counts.wrong, d.over_count);
        EXPECT_CODE(trial, r->counts.sign_flips, d.sign_flips);
        EXPECT_CODE(trial, r->counts.over_ulp, d.over_ulp_only);
        EXPECT_CODE(trial, r->outlier_count, d.over_count);
        if (!same(r->metrics.max_ulp, d.max_ulp) || !same(r->metrics.max_abs, d.max_abs) || !same(r->metrics.rms, d.rms) ||
            !same(r->metrics.rel_rms, d.rel_rms))
            fail_msg("trial %d: max_ulp %g %d, max_abs %g %g, rms %g %g, rel_rms %g %g", trial, r->metrics.max_ulp, d.max_ulp,
                     r->metrics.max_abs, d.max_abs, r->metrics.rms, d.rms, r->metrics.rel_rms, d.rel_rms);
        for (size_t i = 0; i < d.over_count; i++) {
            const lb_m16_outlier *o = &d.over_budget[i];
            const lb_element *e = &r->outliers[i];
            assert_true(o->row == e->row && o->col == e->col && same(e->ulp, o->ulp) && same(e->row_rms, o->row_rms) &&
                        same(e->floor, o->floor) && same(e->actual_value, (double)o->actual));
        }
        over += d.over_count;
        flips += d.sign_flips;
        admitted += d.over_ulp_only - d.over_count;
        lb_m16_diff_free(&d);
        lb_record_close(r);
    }
    assert_true(over > 1000 && flips > 1000 && admitted > 1000); /* each rule was at work */
}

/* What the original would pass and m16-tc refuses, m16-tc never the other way round but for a NaN of another payload. */
static void m16_tc_refuses_all_that_the_original_refuses_but_another_nan(void **state) {
    (void)state;
    uint64_t generator = 2;
    uint16_t actual[COUNT], reference[COUNT];
    size_t stricter = 0;
    for (int trial = 0; trial < 3000; trial++) {
        draw_block(&generator, actual, reference);
        double rms[ROWS]; /* one scale for both: an Inf or NaN in the row must not spoil it */
        for (int i = 0; i < ROWS; i++) rms[i] = 0.25;
        lb_grade_input in = input_of("m16-tc", actual, reference, ROWS, COLS),
                       old = input_of("m16-tc-original", actual, reference, ROWS, COLS);
        in.row_rms = old.row_rms = rms;
        in.max_outliers = old.max_outliers = COUNT;
        lb_record *r = graded(&in), *o = graded(&old);
        size_t at = 0;
        for (size_t i = 0; i < o->outlier_count; i++) {
            const lb_element *e = &o->outliers[i];
            if (isnan(e->actual_value) && isnan(e->reference_value)) continue;
            while (at < r->outlier_count && (r->outliers[at].row != e->row || r->outliers[at].col != e->col)) at++;
            if (at == r->outlier_count) fail_msg("trial %d: %zu, %zu is wrong for the original alone", trial, e->row, e->col);
        }
        stricter += r->counts.wrong > o->counts.wrong;
        lb_record_close(r);
        lb_record_close(o);
    }
    assert_true(stricter > 1000);
}

/* Large blocks decode through a table, small ones element by element. */
static void a_large_block_is_graded_as_its_rows_are(void **state) {
    (void)state;
    enum { SIDE = 256 };
    static uint16_t actual[SIDE][SIDE], reference[SIDE][SIDE];
    static const lb_format_id formats[] = {LB_BF16, LB_F16};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        const lb_format *format = lb_format_row(formats[f]);
        for (int i = 0; i < SIDE * SIDE; i++) { /* every code, beside one at most five away, or its negative */
            reference[i / SIDE][i % SIDE] = (uint16_t)i;
            actual[i / SIDE][i % SIDE] = (uint16_t)(i % 13 ? i + i % 11 - 5 : i ^ 0x8000);
        }
        lb_grade_input in = input_of("m16-tc", actual[0], reference[0], SIDE, SIDE);
        in.actual.format = in.reference.format = format;
        lb_record *whole = graded(&in);
        lb_counts sum = {0};
        double most_ulp = 0;
        for (size_t r = 0; r < SIDE; r++) {
            lb_grade_input row = in;
            row.actual = lb_mat_of(format, actual[r], 1, SIDE);
            row.reference = lb_mat_of(format, reference[r], 1, SIDE);
            lb_record *one = graded(&row);
            sum.compared += one->counts.compared;
            sum.exact += one->counts.exact;
            sum.legal += one->counts.legal;
            sum.wrong += one->counts.wrong;
            sum.nan_actual += one->counts.nan_actual;
            sum.inf_reference += one->counts.inf_reference;
            sum.class_mismatch += one->counts.class_mismatch;
            sum.sign_flips += one->counts.sign_flips;
            sum.over_ulp += one->counts.over_ulp;
            most_ulp = fmax(most_ulp, one->metrics.max_ulp);
            lb_record_close(one);
        }
        const lb_counts *w = &whole->counts;
        assert_true(w->compared == SIDE * SIDE && sum.compared == w->compared && sum.exact == w->exact && sum.legal == w->legal &&
                    sum.wrong == w->wrong && sum.nan_actual == w->nan_actual && sum.inf_reference == w->inf_reference &&
                    sum.class_mismatch == w->class_mismatch && sum.sign_flips == w->sign_flips && sum.over_ulp == w->over_ulp);
        assert_true(w->exact && w->legal && w->wrong && w->nan_actual && w->inf_reference == 2 && w->class_mismatch && w->sign_flips);
        assert_true(whole->metrics.max_ulp == most_ulp);
        lb_record_close(whole);
    }
}

/* ---- limits ------------------------------------------------------------------------------------------------------------------- */

static void a_row_wider_than_memory_is_one_row(void **state) {
    (void)state;
    static const uint16_t actual[3] = {0x3f80, 0x3f80, 0x3f90}, reference[3] = {0x3f80, 0x3f80, 0x3f80};
    static const size_t widths[] = {4, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        lb_m16_diff d;
        assert_int_equal(lb_m16_compare_block(actual, sizeof actual, reference, sizeof reference, widths[i], 16, &d, NULL), LB_OK);
        assert_true(d.row_count == 1 && d.row_rms[0] == 1 && d.over_count == 1 && d.over_budget[0].col == 2);
        lb_m16_diff_free(&d);
    }
}

static void no_depth_or_scale_admits_everything(void **state) {
    (void)state;
    static const uint16_t actual[2] = {0x4479, 0x3f80}, reference[2] = {0x3f80, 0x3f80};
    static const struct {
        int line;
        double k, row_rms;
        lb_status want;
    } rows[] = {{__LINE__, 1, 1, LB_OK},      {__LINE__, INFINITY, 1, LB_E_ARG}, {__LINE__, NAN, 1, LB_E_ARG},
                {__LINE__, 0.5, 1, LB_E_ARG}, {__LINE__, 1, INFINITY, LB_E_ARG}, {__LINE__, 1, NAN, LB_E_ARG},
                {__LINE__, 1, -1, LB_E_ARG}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_grade_input in = input_of("m16-tc", actual, reference, 1, 2);
        in.k = rows[i].k;
        in.row_rms = &rows[i].row_rms;
        lb_record *r;
        assert_int_equal(lb_record_open(&r, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, lb_grade(&in, r, NULL), rows[i].want);
        lb_record_close(r);
    }
}

static void the_bound_of_an_element_is_its_ulp_budget_or_its_floor(void **state) {
    (void)state;
    static const struct {
        int line;
        uint16_t reference, actual;
        double row_rms, bound;
    } rows[] = {
        {__LINE__, 0x3f80, 0x3f82, 1, 0x1p-6},   /* two steps upward from a power of two, where they are wide */
        {__LINE__, 0x3fff, 0x3ffe, 1, 0x1.8p-6}, /* across the next: a step of 2^-7 and one of 2^-6 */
        {__LINE__, 0x0000, 0x0001, 0, 0x1p-132}, /* two subnormals */
        {__LINE__, 0x7f7f, 0x7f7e, 0, 0x1p121},  /* nothing finite lies above the largest value: two steps downward */
        {__LINE__, 0x7f7e, 0x7f7d, 0, 0x1p121},  {__LINE__, 0xff7f, 0xff7e, 0, 0x1p121},
        {__LINE__, 0x3f80, 0x3f82, 0x1p24, 8}, /* the floor at k = 1 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_grade_input in = input_of("m16-tc", &rows[i].actual, &rows[i].reference, 1, 1);
        in.k = 1;
        in.row_rms = &rows[i].row_rms;
        lb_record *r = graded(&in);
        assert_int_equal(r->counts.legal, 1);
        if (r->worst.bound != rows[i].bound) fail_msg("row at %s:%d: bound %a", __FILE__, rows[i].line, r->worst.bound);
        lb_record_close(r);
    }
}

static void an_output_that_was_never_touched_is_called_not_written(void **state) {
    (void)state;
    /* source: VER-27, ROCm/rocBLAS#1554 */
    static const uint16_t reference[3] = {0x3f80, 0x4000, 0x4040}, actual[3] = {0x5a5a, 0x5a5a, 0x5a5a};
    lb_grade_input in = input_of("m16-tc", actual, reference, 1, 3);
    in.has_sentinel = true;
    in.sentinel = 0x5a5a;
    lb_record *r = graded(&in);
    assert_true(r->verdict == LB_FAIL && r->counts.not_written == 3 && r->counts.wrong == 3);
    assert_non_null(strstr(r->cause, "not written"));
    lb_record_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_comparison_and_the_grade_agree_on_any_bits),
        cmocka_unit_test(m16_tc_refuses_all_that_the_original_refuses_but_another_nan),
        cmocka_unit_test(a_large_block_is_graded_as_its_rows_are),
        cmocka_unit_test(a_row_wider_than_memory_is_one_row),
        cmocka_unit_test(no_depth_or_scale_admits_everything),
        cmocka_unit_test(the_bound_of_an_element_is_its_ulp_budget_or_its_floor),
        cmocka_unit_test(an_output_that_was_never_touched_is_called_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
