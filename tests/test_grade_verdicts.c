/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verdicts: what proves nothing, an unfit reference, the three-way count beside a unit's bits, the first and the worst element. */
#include "test.h"

#include "m16_sim.h"

enum { MOST = 16 };

/* One case of up to MOST bf16 elements in rows of `cols`. */
typedef struct sheet {
    uint16_t actual[MOST], reference[MOST], exact[MOST];
    size_t rows, cols;
} sheet;

static lb_grade_input input_of(const sheet *s) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    lb_grade_input in = {
        .actual = lb_mat_of(bf16, s->actual, s->rows, s->cols), .reference = lb_mat_of(bf16, s->reference, s->rows, s->cols), .k = 5120};
    assert_int_equal(lb_contract_find("m16-tc", &in.contract, NULL), LB_OK);
    return in;
}

/* The caller closes it. */
static lb_record *graded(const lb_grade_input *in) {
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    if (lb_grade(in, r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(r->counts.exact + r->counts.legal + r->counts.wrong, r->counts.compared);
    assert_true(*r->reason != 0);
    return r;
}

static void expect_verdict(int line, const lb_grade_input *in, lb_verdict want, const char *reason) {
    lb_record *r = graded(in);
    EXPECT_STRING(line, lb_verdict_name(r->verdict), lb_verdict_name(want));
    if (!strstr(r->reason, reason)) fail_msg("row at %s:%d: reason \"%s\" lacks \"%s\"", __FILE__, line, r->reason, reason);
    lb_record_close(r);
}

/* ---- what proves nothing --------------------------------------------------------------------------------------------- */

static void nothing_compared_and_nothing_but_zeros_prove_nothing(void **state) {
    (void)state;
    static const sheet no_rows = {.rows = 0, .cols = 4}, no_cols = {.rows = 4, .cols = 0}, zeros = {.rows = 2, .cols = 4},
                       minus = {.actual = {0x8000}, .rows = 1, .cols = 2}, caught = {.actual = {0x3f80}, .rows = 1, .cols = 2},
                       one = {.actual = {0x3f80}, .reference = {0x3f80}, .rows = 1, .cols = 2},
                       nans = {.actual = {0x7fc0, 0x7f80}, .reference = {0x7fc0, 0x7f80}, .rows = 1, .cols = 2},
                       lost = {.actual = {0x3f80, 0x3f80}, .reference = {0x7fc0, 0x3f80}, .rows = 1, .cols = 2};
    const struct {
        int line;
        const sheet *s;
        lb_verdict want;
        const char *reason;
    } rows[] = {
        {__LINE__, &no_rows, LB_UNPROVEN, "nothing was compared"},
        {__LINE__, &no_cols, LB_UNPROVEN, "nothing was compared"},
        {__LINE__, &zeros, LB_UNPROVEN, "vacuous"},
        {__LINE__, &minus, LB_UNPROVEN, "vacuous"}, /* source: VER-25, KhronosGroup/glslang#4374: -0 for +0 is legal */
        {__LINE__, &nans, LB_UNPROVEN, "vacuous"},  /* no finite value to judge by */
        {__LINE__, &one, LB_PASS, "exact"},         /* one value that is not zero is enough */
        {__LINE__, &caught, LB_FAIL, "wrong"},      /* an error shows against zeros too */
        {__LINE__, &lost, LB_FAIL, "wrong"},        /* source: VER-01, jfalcou/tts#150: a number for NaN */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_grade_input in = input_of(rows[i].s);
        expect_verdict(rows[i].line, &in, rows[i].want, rows[i].reason);
    }
}

static void bad_calls_leave_the_record_as_it_was(void **state) {
    (void)state;
    const sheet s = {.actual = {0x3f80}, .reference = {0x3f80}, .exact = {0x3f80}, .rows = 1, .cols = 1};
    const lb_mat small = lb_mat_of(lb_format_row(LB_BF16), s.exact, 1, 0), other = lb_mat_of(lb_format_row(LB_F16), s.exact, 1, 1);
    struct {
        int line;
        lb_grade_input in;
        lb_status want;
    } rows[] = {{__LINE__, input_of(&s), LB_E_SHAPE},  {__LINE__, input_of(&s), LB_E_SHAPE},  {__LINE__, input_of(&s), LB_E_FORMAT},
                {__LINE__, input_of(&s), LB_E_FORMAT}, {__LINE__, input_of(&s), LB_E_FORMAT}, {__LINE__, input_of(&s), LB_E_ARG},
                {__LINE__, input_of(&s), LB_E_ARG},    {__LINE__, input_of(&s), LB_E_ARG},    {__LINE__, input_of(&s), LB_E_ARG}};
    rows[0].in.actual.cols = 0; /* short: the original would take it */
    rows[1].in.exact = &small;
    rows[2].in.exact = &other;
    rows[3].in.reference.format = lb_format_row(LB_F16);
    rows[4].in.actual.format = rows[4].in.reference.format = lb_format_row(LB_E5M2);
    rows[5].in.contract = NULL; /* and no unit's output */
    rows[6].in.k = 0;
    rows[7].in.k = NAN;
    rows[8].in.k = INFINITY; /* an infinite floor would admit anything */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record *r;
        assert_int_equal(lb_record_open(&r, NULL), LB_OK);
        lb_record_text(&r->reason, "untouched");
        r->counts.compared = 77;
        EXPECT_CODE(rows[i].line, lb_grade(&rows[i].in, r, NULL), rows[i].want);
        EXPECT_STRING(rows[i].line, r->reason, "untouched");
        EXPECT_CODE(rows[i].line, r->counts.compared, 77);
        EXPECT_STRING(rows[i].line, r->contract_name, "");
        lb_record_close(r);
    }
}

/* ---- a reference that is not fit ---------------------------------------------------------------------------------------- */

static void a_reference_is_unfit_above_an_eighth_of_the_tolerance(void **state) {
    (void)state;
    /* all ones: row RMS 1; two ordinals above 1 are 2^-6, wider than the floor 3.4e-5: the limit is 2^-9 */
    const sheet s = {.actual = {0x3f80, 0x3f80}, .reference = {0x3f80, 0x3f80}, .rows = 1, .cols = 2},
                wrong = {.actual = {0x3f80, 0x4000}, .reference = {0x3f80, 0x3f80}, .rows = 1, .cols = 2};
    const struct {
        int line;
        const sheet *s;
        double error;
        lb_verdict want;
        const char *reason;
    } rows[] = {
        {__LINE__, &s, 0, LB_PASS, "exact"},
        {__LINE__, &s, 0x1p-9, LB_PASS, "exact"},
        {__LINE__, &s, 0x1.00001p-9, LB_UNPROVEN, "reference unfit: at row 0, column 1"},
        {__LINE__, &s, INFINITY, LB_UNPROVEN, "reference unfit"},
        {__LINE__, &s, NAN, LB_UNPROVEN, "reference unfit"}, /* source: VER-02, flame/blis#279: not (x <= limit) */
        {__LINE__, &wrong, INFINITY, LB_FAIL, "wrong"},      /* what is wrong stays wrong */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double errors[2] = {0, rows[i].error};
        lb_grade_input in = input_of(rows[i].s);
        in.reference_error = errors;
        expect_verdict(rows[i].line, &in, rows[i].want, rows[i].reason);
    }
}

/* ---- exact, legal, wrong beside a unit's bits ------------------------------------------------------------------------------ */

static void an_element_is_exact_legal_or_wrong_beside_a_units_bits(void **state) {
    (void)state;
    static const struct {
        int line;
        uint16_t actual, exact, reference;
        bool with_contract, by_class;
        int want; /* 0 exact, 1 legal, 2 wrong */
    } rows[] = {
        {__LINE__, 0x3f80, 0x3f80, 0x3f80, true, false, 0},
        {__LINE__, 0x3f81, 0x3f80, 0x3f80, true, false, 1},
        {__LINE__, 0x3f80, 0x3f81, 0x3f80, true, false, 1}, /* the reference's bits are not the unit's */
        {__LINE__, 0x3f83, 0x3f80, 0x3f80, true, false, 2},
        {__LINE__, 0x3f90, 0x3f90, 0x3f80, true, false, 0},  /* the unit's bits are right however far from the reference */
        {__LINE__, 0x3f81, 0x3f80, 0x3f80, false, false, 2}, /* without a contract only the unit's bits count */
        {__LINE__, 0x3f80, 0x3f80, 0x3f81, false, false, 0},
        {__LINE__, 0x8000, 0x0000, 0x0000, false, false, 2}, /* source: VER-25, KhronosGroup/glslang#4374: bits differ */
        {__LINE__, 0x8000, 0x0000, 0x0000, true, false, 1},  /* … values do not */
        {__LINE__, 0x7fc1, 0x7fc0, 0x7fc0, false, false, 2}, /* source: VER-21, mattias800/prosper#1681: by bits */
        {__LINE__, 0xffc0, 0x7fc0, 0x7fc0, false, true, 0},  /* … and by class */
        {__LINE__, 0x7f81, 0x7fc0, 0x7fc0, true, false, 1},
        {__LINE__, 0x7f80, 0x7fc0, 0x7fc0, false, true, 2}, /* Inf is no NaN */
        {__LINE__, 0x7fc0, 0x7f80, 0x7f80, false, true, 2},
        {__LINE__, 0x3f80, 0x7fc0, 0x7fc0, true, true, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sheet s = {.actual = {0x3f80, 0x3f80, rows[i].actual},
                         .exact = {0x3f80, 0x3f80, rows[i].exact},
                         .reference = {0x3f80, 0x3f80, rows[i].reference},
                         .rows = 1,
                         .cols = 3};
        lb_grade_input in = input_of(&s);
        const lb_mat exact = lb_mat_of(in.actual.format, s.exact, 1, 3);
        in.exact = &exact;
        in.nan_by_class = rows[i].by_class;
        if (!rows[i].with_contract) in.contract = NULL;
        lb_record *r = graded(&in);
        const uint64_t got[3] = {r->counts.exact - 2, r->counts.legal, r->counts.wrong};
        for (int w = 0; w < 3; w++) EXPECT_CODE(rows[i].line, got[w], w == rows[i].want);
        if (rows[i].want == 2) {
            EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), "FAIL");
            assert_true(r->first.present && r->first.has_exact && r->first.exact_code == rows[i].exact && r->first.col == 2);
            assert_true(r->worst.present && r->worst.col == 2);
        }
        lb_record_close(r);
    }
}

/* ---- first and worst ---------------------------------------------------------------------------------------------------------- */

static void first_is_the_first_wrong_one_and_worst_the_farthest_beyond_its_allowance(void **state) {
    (void)state;
    sheet s = {.rows = 2, .cols = 4};
    for (int i = 0; i < 8; i++) s.actual[i] = s.reference[i] = 0x3f80;
    s.actual[1] = 0x3f82; /* legal */
    s.actual[2] = 0x3f84; /* wrong, 4 ordinals */
    s.actual[5] = 0x3f89; /* wrong, 9 */
    s.actual[7] = 0x3f85; /* wrong, 5 */
    const size_t row_index[2] = {100, 300}, col_index[4] = {7, 70, 700, 7000};
    lb_grade_input in = input_of(&s);
    in.row_index = row_index;
    in.col_index = col_index;
    in.max_outliers = 2;
    lb_record *r = graded(&in);
    assert_true(r->counts.wrong == 3 && r->counts.legal == 1 && r->counts.exact == 4 && r->counts.over_ulp == 3);
    assert_true(r->first.row == 100 && r->first.col == 700 && r->first.ulp == 4);
    assert_true(r->worst.row == 300 && r->worst.col == 70 && r->worst.ulp == 9);
    assert_true(r->worst.actual == 0x3f89 && r->worst.reference == 0x3f80 && r->worst.abs_error == 9 * 0x1p-7);
    assert_true(r->worst.bound == 0x1p-6 && r->worst.row_rms == 1); /* two ordinals above 1 */
    assert_true(r->outlier_count == 2 && r->outliers[0].row == 100 && r->outliers[1].row == 300);
    assert_true(r->metrics.max_ulp == 9 && r->metrics.max_abs == 9 * 0x1p-7);
    lb_record_close(r);

    s.actual[3] = 0x7fc0; /* other classes are worse than any distance */
    r = graded(&in);
    assert_true(r->worst.row == 100 && r->worst.col == 7000 && isinf(r->worst.ulp) && isinf(r->worst.abs_error));
    assert_true(r->counts.class_mismatch == 1 && r->counts.nan_actual == 1 && r->counts.nan_reference == 0);
    lb_record_close(r);

    for (int i = 2; i < 8; i++) s.actual[i] = 0x3f80;
    r = graded(&in); /* where none is wrong, the worst legal one */
    assert_true(!r->first.present && r->worst.present && r->worst.row == 100 && r->worst.col == 70 && r->outlier_count == 0);
    lb_record_close(r);
}

/* ---- the tolerance that was used ------------------------------------------------------------------------------------------------ */

static void a_tolerance_is_used_and_told(void **state) {
    (void)state;
    static const struct {
        int line;
        double k, row_rms, actual, reference;
        lb_verdict want;
        double bound;
    } rows[] = {
        /* source: VER-12, triton-lang/triton#723: a difference of 1e-3 at a tolerance of 1e-6 */
        {__LINE__, 4, 1, 1.001, 1, LB_FAIL, 0x1p-20},
        {__LINE__, 1 << 26, 1, 1.001, 1, LB_PASS, 0x1p-8},
        /* source: VER-16, HazyResearch/HipKittens#64: 1e-4 and 6e-4 where 1024 terms of size 1 cancelled. Terms of random sign make
         * rows of RMS 32, where the floor is 4.88e-4; a little hotter and the difference is noise */
        {__LINE__, 1024, 32, 6e-4, 1e-4, LB_FAIL, 0x1p-11},
        {__LINE__, 1024, 33, 6e-4, 1e-4, LB_PASS, 33 * 0x1p-16},
        {__LINE__, 1024, 128, 6e-4, 1e-4, LB_PASS, 0x1p-9}, /* 1.95e-3, the case's own floor */
        {__LINE__, 1024, 0, 6e-4, 1e-4, LB_FAIL, 0x1p-36},  /* no scale: two ordinals of 1e-4 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        /* beside a large element, so that the gate on the whole block stays out of it */
        const lb_format *f32 = lb_format_row(LB_F32);
        const uint32_t actual[2] = {(uint32_t)lb_from_double(f32, rows[i].actual), 0x4b800000},
                       reference[2] = {(uint32_t)lb_from_double(f32, rows[i].reference), 0x4b800000};
        lb_grade_input in = {.actual = lb_mat_of(f32, actual, 1, 2), .reference = lb_mat_of(f32, reference, 1, 2), .k = rows[i].k};
        in.row_rms = &rows[i].row_rms;
        assert_int_equal(lb_contract_find("m16-tc", &in.contract, NULL), LB_OK);
        lb_record *r = graded(&in);
        EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), lb_verdict_name(rows[i].want));
        if (fabs(r->worst.bound - rows[i].bound) > 1e-6 * rows[i].bound)
            fail_msg("row at %s:%d: bound %a, want %a", __FILE__, rows[i].line, r->worst.bound, rows[i].bound);
        assert_true(r->worst.row_rms == rows[i].row_rms && r->contract_k == rows[i].k && r->contract_max_ulp == 2);
        assert_true(r->contract_rel_rms_gate == 1e-3 && r->contract_evidence == LB_EVIDENCE_RECORDED);
        EXPECT_STRING(rows[i].line, r->contract_name, "m16-tc");
        EXPECT_STRING(rows[i].line, r->contract_source, "seed-contract");
        lb_record_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_compared_and_nothing_but_zeros_prove_nothing),
        cmocka_unit_test(bad_calls_leave_the_record_as_it_was),
        cmocka_unit_test(a_reference_is_unfit_above_an_eighth_of_the_tolerance),
        cmocka_unit_test(an_element_is_exact_legal_or_wrong_beside_a_units_bits),
        cmocka_unit_test(first_is_the_first_wrong_one_and_worst_the_farthest_beyond_its_allowance),
        cmocka_unit_test(a_tolerance_is_used_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
