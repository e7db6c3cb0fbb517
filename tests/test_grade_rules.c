/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each rule of grading alone: two inputs that differ in what the rule looks at, and nothing else. */
#include "test.h"

#include "m16_sim.h"

enum { MOST = 8 };

/* One row of up to MOST bf16 elements; exact[0] 0 means no unit's output. */
typedef struct strip {
    uint16_t actual[MOST], reference[MOST], exact[MOST];
    size_t count;
} strip;

static lb_record *graded_at(const strip *s, const char *contract, double k, const lb_grade_input *more) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    const lb_mat exact = lb_mat_of(bf16, s->exact, 1, s->count);
    lb_grade_input in = more ? *more : (lb_grade_input){0};
    in.actual = lb_mat_of(bf16, s->actual, 1, s->count);
    in.reference = lb_mat_of(bf16, s->reference, 1, s->count);
    in.exact = s->exact[0] ? &exact : NULL;
    in.k = k;
    assert_int_equal(lb_contract_find(contract, &in.contract, NULL), LB_OK);
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    if (lb_grade(&in, r, &err) != LB_OK) fail_msg("%s", err.message);
    return r;
}

static void equal_blocks_have_no_error_and_no_worst_element(void **state) {
    (void)state;
    const strip s = {.actual = {0x3f80, 0xc000, 0x7fc0, 0x7f80, 0}, .reference = {0x3f80, 0xc000, 0x7fc0, 0x7f80, 0}, .count = 5};
    lb_record *r = graded_at(&s, "m16-tc", 16, NULL);
    assert_true(r->verdict == LB_PASS && r->counts.exact == 5 && r->counts.over_ulp == 0);
    assert_true(r->metrics.max_ulp == 0 && r->metrics.max_abs == 0 && r->metrics.rel_rms == 0);
    assert_true(!r->worst.present && !r->first.present);
    lb_record_close(r);
}

static void zeros_of_both_signs_are_a_sign_change_for_the_original_alone(void **state) {
    (void)state;
    const strip s = {.actual = {0x8000, 0x3f80}, .reference = {0x0000, 0x3f80}, .count = 2}; /* source: VER-08, mikedilger/float-cmp#33 */
    lb_record *r = graded_at(&s, "m16-tc", 16, NULL), *o = graded_at(&s, "m16-tc-original", 16, NULL);
    assert_true(r->verdict == LB_PASS && r->counts.sign_flips == 0 && r->counts.legal == 1);
    assert_true(o->verdict == LB_PASS && o->counts.sign_flips == 1 && o->counts.legal == 1);
    lb_record_close(r);
    lb_record_close(o);
}

static void inf_or_nan_in_a_reference_row_leaves_its_scale_finite(void **state) {
    (void)state;
    static const struct {
        int line;
        uint16_t special, near_zero; /* a cancelled element's actual value; its reference is 0x3880, 6.1e-5 */
        bool wrong, wrong_in_original;
    } rows[] = {
        {__LINE__, 0x3f80, 0x3890, false, false}, /* row RMS 1, k = 5120: 16 ordinals, 7.6e-6, lie below the floor 3e-5 */
        {__LINE__, 0x7f80, 0x3890, false, false}, /* beside an Inf: likewise */
        {__LINE__, 0x7f80, 0x4000, true, false},  /* a real error there: the original's floor is infinite */
        {__LINE__, 0x7fc0, 0x3890, false, true},  /* beside a NaN: the original's floor is NaN and admits nothing */
        {__LINE__, 0x7fc0, 0x4000, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const strip s = {.actual = {0x3f80, 0x3f80, 0x3f80, rows[i].special, rows[i].near_zero},
                         .reference = {0x3f80, 0x3f80, 0x3f80, rows[i].special, 0x3880},
                         .count = 5};
        lb_record *r = graded_at(&s, "m16-tc", 5120, NULL), *o = graded_at(&s, "m16-tc-original", 5120, NULL);
        EXPECT_CODE(rows[i].line, r->counts.wrong, rows[i].wrong);
        EXPECT_CODE(rows[i].line, o->counts.wrong, rows[i].wrong_in_original);
        assert_true(isfinite(r->metrics.rms) && isfinite(r->metrics.rel_rms) && isfinite(r->metrics.row_rms_most));
        lb_record_close(r);
        lb_record_close(o);
    }
}

static void the_scales_told_are_the_least_and_the_greatest_of_the_rows(void **state) {
    (void)state;
    static const uint16_t x[6] = {0x4000, 0x4000, 0x3f80, 0x3f80, 0x4080, 0x4080}; /* rows of RMS 2, 1, 4 */
    const lb_format *bf16 = lb_format_row(LB_BF16);
    lb_grade_input in = {.actual = lb_mat_of(bf16, x, 3, 2), .reference = lb_mat_of(bf16, x, 3, 2), .k = 16};
    assert_int_equal(lb_contract_find("m16-tc", &in.contract, NULL), LB_OK);
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
    assert_true(r->metrics.row_rms_least == 1 && r->metrics.row_rms_most == 4 && r->metrics.rms == sqrt(7));
    lb_record_close(r);
}

static void a_units_bits_far_from_the_reference_are_told_but_never_displace_a_wrong_one(void **state) {
    (void)state;
    strip s = {.actual = {0x4380, 0x3f84, 0x3f90, 0x3f80},
               .reference = {0x4380, 0x3f80, 0x3f80, 0x3f80},
               .exact = {0x4380, 0x3f80, 0x3f90, 0x3f80},
               .count = 4};
    lb_record *r = graded_at(&s, "m16-tc", 16, NULL); /* 4 ordinals wrong, then 16 that are the unit's own */
    assert_true(r->counts.wrong == 1 && r->counts.exact == 3 && r->worst.col == 1 && r->worst.ulp == 4);
    lb_record_close(r);
    s.actual[1] = 0x3f81;
    r = graded_at(&s, "m16-tc", 16, NULL); /* none wrong: the worst of all that were compared */
    assert_true(r->counts.wrong == 0 && r->counts.legal == 1 && r->worst.present && r->worst.col == 2 && r->worst.ulp == 16);
    lb_record_close(r);
}

static void no_more_outliers_are_listed_than_were_asked_for(void **state) {
    (void)state;
    strip s = {.count = MOST};
    for (int i = 0; i < MOST; i++) { /* each worse than the one before */
        s.reference[i] = 0x3f80;
        s.actual[i] = (uint16_t)(0x3f84 + i);
    }
    for (size_t most = 1; most <= MOST + 1; most++) {
        const lb_grade_input more = {.max_outliers = most};
        lb_record *r = graded_at(&s, "m16-tc", 16, &more);
        assert_true(r->counts.wrong == MOST && r->outlier_count == (most < MOST ? most : MOST));
        for (size_t i = 0; i < r->outlier_count; i++) assert_int_equal(r->outliers[i].col, i);
        assert_int_equal(r->worst.col, MOST - 1);
        lb_record_close(r);
    }
}

static void a_nan_that_no_element_rule_sees_fails_the_block(void **state) {
    (void)state;
    /* source: VER-02, flame/blis#279. NaN against 0.01 is the original's ungraded sign change; its rel_rms is NaN, which is no pass */
    const strip s = {.actual = {0x7fc0, 0x3f80, 0x3f80}, .reference = {0x3c24, 0x3f80, 0x3f80}, .count = 3};
    lb_record *o = graded_at(&s, "m16-tc-original", 16, NULL);
    assert_true(o->verdict == LB_FAIL && o->counts.wrong == 0 && isnan(o->metrics.rel_rms));
    assert_non_null(strstr(o->reason, "rel_rms"));
    lb_record_close(o);
}

static void the_sentinel_is_not_written_even_where_it_would_pass(void **state) {
    (void)state;
    static const struct {
        int line;
        uint16_t sentinel, reference;
        bool by_class;
        uint64_t not_written;
    } rows[] = {
        {__LINE__, 0x3f81, 0x3f80, false, 1}, /* one ordinal off: within the budget, but nobody computed it */
        {__LINE__, 0x3f80, 0x3f80, false, 0}, /* the right answer happens to be the sentinel */
        {__LINE__, 0x7fc1, 0x7fc0, false, 1}, /* a NaN where another is due … */
        {__LINE__, 0x7fc1, 0x7fc0, true, 1},  /* … also where any NaN would do */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const strip s = {.actual = {0x4000, rows[i].sentinel},
                         .reference = {0x4000, rows[i].reference},
                         .exact = {0x4000, rows[i].reference},
                         .count = 2};
        const lb_grade_input more = {.has_sentinel = true, .sentinel = rows[i].sentinel, .nan_by_class = rows[i].by_class};
        lb_record *r = graded_at(&s, "m16-tc", 16, &more);
        EXPECT_CODE(rows[i].line, r->counts.not_written, rows[i].not_written);
        EXPECT_CODE(rows[i].line, r->counts.wrong, rows[i].not_written);
        lb_record_close(r);
    }
}

static void a_reference_is_rounded_once_and_then_ordinals_are_counted(void **state) {
    (void)state;
    static const struct {
        int line;
        lb_format_id format;
        double reference; /* true value */
        uint32_t actual;
        double ulp; /* of the worst element; -1: none, the bits are equal */
        lb_verdict want;
    } rows[] = {
        /* source: VER-15, sgl-project/sglang#35795: 24.062 is 24 in bf16, however small an absolute tolerance someone sets */
        {__LINE__, LB_BF16, 24.0620, 0x41c0, -1, LB_PASS},
        /* source: VER-10, tenstorrent/tt-metal#56729: below a power of two a step is one representable step */
        {__LINE__, LB_F32, 1.0, 0x3f7fffff, 1, LB_PASS},
        /* source: VER-24, KhronosGroup/OpenCL-CTS#2024: beyond f16's range the rounded reference is Inf; 65504 is another class */
        {__LINE__, LB_F16, 175668.86, 0x7c00, -1, LB_PASS},
        {__LINE__, LB_F16, 175668.86, 0x7bff, INFINITY, LB_FAIL},
        /* source: VER-05, sys-bio/roadrunner#45 */
        {__LINE__, LB_F32, INFINITY, 0x7f800000, -1, LB_PASS},
        {__LINE__, LB_F32, -INFINITY, 0x7f800000, INFINITY, LB_FAIL},
        {__LINE__, LB_F32, 3e38, 0x7f800000, INFINITY, LB_FAIL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_format *f = lb_format_row(rows[i].format);
        uint32_t actual[2], reference[2]; /* room for two codes of either width */
        const uint64_t one = lb_from_double(f, 1);
        lb_grade_input in = {.actual = lb_mat_of(f, actual, 1, 2), .reference = lb_mat_of(f, reference, 1, 2), .k = 16};
        lb_store_code(lb_mat_at(&in.actual, 0, 0), f->bytes, one);
        lb_store_code(lb_mat_at(&in.reference, 0, 0), f->bytes, one);
        lb_store_code(lb_mat_at(&in.actual, 0, 1), f->bytes, rows[i].actual);
        lb_store_code(lb_mat_at(&in.reference, 0, 1), f->bytes, lb_from_double(f, rows[i].reference));
        assert_int_equal(lb_contract_find("m16-tc", &in.contract, NULL), LB_OK);
        lb_record *r;
        assert_int_equal(lb_record_open(&r, NULL), LB_OK);
        assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
        EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), lb_verdict_name(rows[i].want));
        if (r->worst.present != (rows[i].ulp >= 0) || (r->worst.present && r->worst.ulp != rows[i].ulp))
            fail_msg("row at %s:%d: %g ulp", __FILE__, rows[i].line, r->worst.ulp);
        lb_record_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_blocks_have_no_error_and_no_worst_element),
        cmocka_unit_test(zeros_of_both_signs_are_a_sign_change_for_the_original_alone),
        cmocka_unit_test(inf_or_nan_in_a_reference_row_leaves_its_scale_finite),
        cmocka_unit_test(the_scales_told_are_the_least_and_the_greatest_of_the_rows),
        cmocka_unit_test(a_units_bits_far_from_the_reference_are_told_but_never_displace_a_wrong_one),
        cmocka_unit_test(no_more_outliers_are_listed_than_were_asked_for),
        cmocka_unit_test(a_nan_that_no_element_rule_sees_fails_the_block),
        cmocka_unit_test(the_sentinel_is_not_written_even_where_it_would_pass),
        cmocka_unit_test(a_reference_is_rounded_once_and_then_ordinals_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
