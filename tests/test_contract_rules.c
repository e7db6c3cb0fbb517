/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each rule at both sides of its limit, the limit worked out by hand in the row's comment; then what no rule may let through. */
#include "grade_one.h"

static const struct {
    int line;
    const char *rule;
    lb_format_id format;
    double actual, reference, k, gauge;
    bool wrong;
} lines[] = {
    /* bitwise: 1 and the next bf16 */
    {__LINE__, "bitwise", LB_BF16, 1, 1, 1, 0, false},
    {__LINE__, "bitwise", LB_BF16, 1.0078125, 1, 1, 0, true},
    /* ulp:4: steps of 2^-7 above 1 */
    {__LINE__, "ulp:4", LB_BF16, 1 + 4 * 0x1p-7, 1, 1, 0, false},
    {__LINE__, "ulp:4", LB_BF16, 1 + 5 * 0x1p-7, 1, 1, 0, true},
    {__LINE__, "ulp", LB_F16, 1 + 0x1p-10, 1, 1, 0, false}, /* one step, unless said */
    {__LINE__, "ulp", LB_F16, 1 + 0x1p-9, 1, 1, 0, true},
    {__LINE__, "ulp:4", LB_F16, -0x1p-23, 0x1p-23, 1, 0, false}, /* two subnormal steps on each side of zero */
    {__LINE__, "ulp:3", LB_F16, -0x1p-23, 0x1p-23, 1, 0, true},
    /* blas: 16 * 2^-23 * gauge 8 = 2^-16 */
    {__LINE__, "blas", LB_F32, 1 + 0x1p-16, 1, 64, 8, false},
    {__LINE__, "blas", LB_F32, 1 + 0x1p-16 + 0x1p-23, 1, 64, 8, true},
    {__LINE__, "blas:8", LB_F32, 1 + 0x1p-17 + 0x1p-23, 1, 64, 8, true}, /* half of it */
    {__LINE__, "blas", LB_BF16, 1.125, 1, 64, 1, false},                 /* 16 * 2^-7 * 1 = 0.125 */
    {__LINE__, "blas", LB_BF16, 1.1328125, 1, 64, 1, true},
    /* gamma: k = 4 additions and 1 of C, x = 5 * 2^-24; gauge 2^20 makes 0.3125 (1 + 3e-7), half a step of 2^-23 on each side */
    {__LINE__, "gamma", LB_F32, 1.3125, 1, 4, 0x1p20, false},
    {__LINE__, "gamma", LB_F32, 1.312501, 1, 4, 0x1p20, true},
    {__LINE__, "gamma", LB_F32, 0.6875, 1, 4, 0x1p20, false},
    {__LINE__, "gamma", LB_F32, 0.687499, 1, 4, 0x1p20, true},
    /* gamma-rz: x = 4 * 2^-23 + 2^-24 = 9 * 2^-24, 0.5625 */
    {__LINE__, "gamma-rz", LB_F32, 1.5625, 1, 4, 0x1p20, false},
    {__LINE__, "gamma-rz", LB_F32, 1.562501, 1, 4, 0x1p20, true},
    /* gamma of bf16: neighbours hold one real in common, whatever the sum; 2 steps are 1 of them apart, 2^-7 > 5 * 2^-24 */
    {__LINE__, "gamma", LB_BF16, 1.0078125, 1, 4, 1, false},
    {__LINE__, "gamma", LB_BF16, 1.015625, 1, 4, 1, true},
    /* underflow: 1023 + 1 roundings of 2^-150 are 512 steps of 2^-149, and half a step on each side */
    {__LINE__, "gamma", LB_F32, 514 * 0x1p-149, 0x1p-149, 1023, 0x1p-149, false},
    {__LINE__, "gamma", LB_F32, 515 * 0x1p-149, 0x1p-149, 1023, 0x1p-149, true},
    /* statistical: p = 1e-6, t = (2/pi) ln(1/p) = 8.7952; sqrt((3072 + 1) / 3) = 32.0052; t * that * 2^-24 * scale 1 = 1.6778e-5 */
    {__LINE__, "statistical", LB_F32, 1 + 1.670e-5, 1, 3072, 0, false},
    {__LINE__, "statistical", LB_F32, 1 + 1.690e-5, 1, 3072, 0, true},
    /* a gauge of 2 sqrt(k) doubles the scale: 3.3557e-5 */
    {__LINE__, "statistical", LB_F32, 1 + 3.34e-5, 1, 3072, 110.8513, false},
    {__LINE__, "statistical", LB_F32, 1 + 3.37e-5, 1, 3072, 110.8513, true},
    /* p = 1e-3: t = 4.3976, half of the first */
    {__LINE__, "statistical:1e-3", LB_F32, 1 + 8.37e-6, 1, 3072, 0, false},
    {__LINE__, "statistical:1e-3", LB_F32, 1 + 8.53e-6, 1, 3072, 0, true},
    /* statistical-rz: n = 4096 / 8 = 512, p / 2 = 5e-7: t = 9.2365. A step is off by sqrt(9 * 2^-48 + 2^-46) = sqrt(13) 2^-24;
     * sqrt((512 * 13 + 1) / 3) = 47.106, times t 2^-24: 2.5934e-5. Bias: 512 * 2^-24 * sqrt(2 ln(2e6) / 12) = 4.7456e-5.
     * Drift: 512 * 2^-24 * 1 = 3.0518e-5. Together 1.0391e-4 */
    {__LINE__, "statistical-rz", LB_F32, 1 + 1.035e-4, 1, 4096, 0, false},
    {__LINE__, "statistical-rz", LB_F32, 1 + 1.045e-4, 1, 4096, 0, true},
    /* allclose: 1e-8 + 1e-5 = 1.001e-5 */
    {__LINE__, "allclose", LB_F32, 1 + 9.9e-6, 1, 1, 0, false},
    {__LINE__, "allclose", LB_F32, 1 + 1.03e-5, 1, 1, 0, true},
    {__LINE__, "allclose", LB_F32, 9.9e-9, 0, 1, 0, false},
    {__LINE__, "allclose", LB_F32, 1.1e-8, 0, 1, 0, true},
    {__LINE__, "allclose:1e-3,1e-2", LB_F32, 1.0109, 1, 1, 0, false}, /* 0.011 */
    {__LINE__, "allclose:1e-3,1e-2", LB_F32, 1.0111, 1, 1, 0, true},
    {__LINE__, "allclose:1e-3", LB_F32, 1.00099, 1, 1, 0, false}, /* ATOL stays */
    /* torch: bf16 1e-5 + 0.016, two steps of 2^-7 but not three; f32 1e-5 + 1.3e-6 = 1.13e-5; f16 1e-5 + 1e-3 */
    {__LINE__, "torch", LB_BF16, 1.015625, 1, 1, 0, false},
    {__LINE__, "torch", LB_BF16, 1.0234375, 1, 1, 0, true},
    {__LINE__, "torch", LB_F32, 1 + 1.12e-5, 1, 1, 0, false},
    {__LINE__, "torch", LB_F32, 1 + 1.15e-5, 1, 1, 0, true},
    {__LINE__, "torch", LB_F16, 1 + 0x1p-10, 1, 1, 0, false},
    {__LINE__, "torch", LB_F16, 1 + 0x1p-9, 1, 1, 0, true},
    /* benchdnn: f32 1e-6 |r|; below 1e-5 that much absolute */
    {__LINE__, "benchdnn", LB_F32, 1 + 8 * 0x1p-23, 1, 1, 0, false},
    {__LINE__, "benchdnn", LB_F32, 1 + 9 * 0x1p-23, 1, 1, 0, true},
    {__LINE__, "benchdnn", LB_F32, 1.9e-6, 1e-6, 1, 0, false},
    {__LINE__, "benchdnn", LB_F32, 2.1e-6, 1e-6, 1, 0, true},
    {__LINE__, "benchdnn", LB_BF16, 1.0078125, 1, 1, 0, false}, /* eps 2^-7 */
    {__LINE__, "benchdnn", LB_BF16, 1.015625, 1, 1, 0, true},
};

static void each_rule_draws_its_line_where_its_formula_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        lb_record *r = graded_pair(lines[i].rule, lines[i].format, lines[i].actual, lines[i].reference, lines[i].k, lines[i].gauge);
        EXPECT_CODE(lines[i].line, r->counts.wrong, lines[i].wrong);
        lb_record_close(r);
    }
}

static void a_norm_judges_the_block_and_no_element(void **state) {
    (void)state;
    enum { N = 4096 };
    const lb_format *f = lb_format_row(LB_F32);
    const uint32_t one = 0x3f800000;
    uint32_t *a = malloc(N * sizeof *a), *ref = malloc(N * sizeof *ref);
    for (size_t i = 0; i < N; i++) ref[i] = one;
    static const struct {
        int line;
        size_t lost;
        const char *rule;
        lb_verdict verdict;
    } rows[] = {
        {__LINE__, 1, "nmse", LB_PASS}, /* 1/4096 = 2.44e-4: the blindness that it is known for */
        {__LINE__, 2, "nmse", LB_PASS}, /* 4.9e-4 */
        {__LINE__, 3, "nmse", LB_FAIL}, /* 7.3e-4 */
        {__LINE__, 1, "nmse:1e-4", LB_FAIL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < N; j++) a[j] = j < rows[i].lost ? 0 : one;
        lb_record *r = graded_codes(rows[i].rule, f, a, ref, N, 64, NULL);
        EXPECT_CODE(rows[i].line, r->verdict, rows[i].verdict);
        assert_true(r->counts.wrong == 0 && r->counts.legal == rows[i].lost && isnan(r->worst.bound));
        if (rows[i].verdict == LB_FAIL) assert_non_null(strstr(r->reason, "of the whole block"));
        lb_record_close(r);
    }
    free(a);
    free(ref);
}

static void a_baseline_frees_what_is_twice_as_bad_and_no_more(void **state) {
    (void)state;
    const lb_format *f = lb_format_row(LB_F32);
    /* the plain kernel is 2^-10 off 1; 1 + 0.3 - 0.3 in f32 is 1 again, or a step off: at most 2 (2^-10 + 2^-23) */
    const uint32_t ref = 0x3f800000, plain = 0x3f802000, nan = 0x7fc00000;
    const lb_mat baseline = lb_mat_of(f, &plain, 1, 1), broken = lb_mat_of(f, &nan, 1, 1);
    static const struct {
        int line;
        uint32_t actual;
        bool baseline_is_nan;
        lb_verdict verdict;
    } rows[] = {
        {__LINE__, 0x3f804000, false, LB_PASS},    /* 1 + 2^-9 */
        {__LINE__, 0x3f804010, false, LB_FAIL},    /* 1 + 2^-9 + 2^-19 */
        {__LINE__, 0x3f804010, true, LB_UNPROVEN}, /* a broken baseline would free everything */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_grade_input in = {.baseline = rows[i].baseline_is_nan ? &broken : &baseline};
        lb_record *r = graded_codes("baseline-2x", f, &rows[i].actual, &ref, 1, 64, &in);
        EXPECT_CODE(rows[i].line, r->verdict, rows[i].verdict);
        lb_record_close(r);
    }
}

static void a_loud_element_has_the_scale_that_it_shows_itself(void **state) {
    (void)state;
    enum { N = 100 };
    /* one 1 among zeros: the row's RMS is 0.1, the element's scale 1; p = 1e-6 / 100: t = (2/pi) ln(1e8) = 11.7270, times 32.0052 * 2^-24:
     * 2.2371e-5 there, a tenth of it beside it */
    uint32_t reference[N] = {0x3f800000}, actual[N] = {0};
    const lb_format *f = lb_format_row(LB_F32);
    static const struct {
        int line;
        double loud, quiet;
        uint64_t wrong;
    } rows[] = {{__LINE__, 1 + 2.22e-5, 2.22e-6, 0}, {__LINE__, 1 + 2.25e-5, 2.22e-6, 1}, {__LINE__, 1 + 2.22e-5, 2.25e-6, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        actual[0] = (uint32_t)lb_from_double(f, rows[i].loud);
        actual[1] = (uint32_t)lb_from_double(f, rows[i].quiet);
        lb_record *r = graded_codes("statistical", f, actual, reference, N, 3072, NULL);
        EXPECT_CODE(rows[i].line, r->counts.wrong, rows[i].wrong);
        lb_record_close(r);
    }
}

/* ---- of every rule --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *rule;
    bool takes_nan, takes_inf; /* NaN for NaN, Inf for the same Inf */
} rules[] = {
    {"m16-tc", true, true},      {"bitwise", true, true},        {"ulp:4", true, true},
    {"blas", true, true},        {"gamma", true, true},          {"gamma-rz", true, true},
    {"statistical", true, true}, {"statistical-rz", true, true}, {"nmse", false, true},
    {"allclose", false, true},   {"torch", false, true},         {"allclose:1e30,1e30", false, true},
    {"benchdnn", true, true},    {"baseline-2x", false, true},   {"ulp:9007199254740992", true, true},
};

enum { RULES = sizeof rules / sizeof rules[0] };

/* Three f32 elements, the middle one as given; gauge and baseline as a sound kernel has them. */
static lb_record *graded_middle(const char *rule, uint32_t actual, uint32_t reference, const double *error) {
    const uint32_t a[] = {0x3f800000, actual, 0x40000000}, r[] = {0x3f800000, reference, 0x40000000};
    const double gauge[] = {4, isfinite(lb_to_double(lb_format_row(LB_F32), reference)) ? 4 : INFINITY, 4};
    const lb_mat plain = lb_mat_of(lb_format_row(LB_F32), r, 1, 3);
    const lb_grade_input in = {.gauge = gauge, .baseline = &plain, .reference_error = error};
    return graded_codes(rule, lb_format_row(LB_F32), a, r, 3, 64, &in);
}

static void no_rule_takes_nan_or_inf_for_a_number(void **state) {
    (void)state;
    static const struct {
        int line;
        uint32_t actual, reference;
    } rows[] = {
        {__LINE__, 0x7fc00000, 0x3f800000}, {__LINE__, 0xffc00001, 0x3f800000},
        {__LINE__, 0x7f800001, 0x00000000},                                     /* NaN, signalling too */
        {__LINE__, 0x3f800000, 0x7fc00000}, {__LINE__, 0x00000000, 0x7fc00000}, /* a number for NaN */
        {__LINE__, 0x7f800000, 0x3f800000}, {__LINE__, 0xff800000, 0x00000000},
        {__LINE__, 0x7f800000, 0x7f7fffff},                                     /* Inf */
        {__LINE__, 0x7f7fffff, 0x7f800000}, {__LINE__, 0x3f800000, 0xff800000}, /* a number for Inf */
        {__LINE__, 0x7f800000, 0xff800000}, {__LINE__, 0x7fc00000, 0x7f800000},
        {__LINE__, 0x7f800000, 0x7fc00000},
    };
    for (size_t i = 0; i < RULES; i++) {
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            lb_record *r = graded_middle(rules[i].rule, rows[j].actual, rows[j].reference, NULL);
            if (r->verdict != LB_FAIL || r->counts.wrong != 1)
                fail_msg("row at %s:%d under %s: %s", __FILE__, rows[j].line, rules[i].rule, r->reason);
            assert_true(r->first.abs_error == INFINITY && r->first.col == 1);
            lb_record_close(r);
        }
    }
}

static void nan_and_inf_on_both_sides_are_judged_by_the_rules_policy_and_enter_no_norm(void **state) {
    (void)state;
    for (size_t i = 0; i < RULES; i++) {
        lb_record *nan = graded_middle(rules[i].rule, 0x7fc00000, 0x7fc00000, NULL),
                  *inf = graded_middle(rules[i].rule, 0xff800000, 0xff800000, NULL);
        if ((nan->verdict == LB_PASS) != rules[i].takes_nan) fail_msg("%s, NaN: %s", rules[i].rule, nan->reason);
        if ((inf->verdict == LB_PASS) != rules[i].takes_inf) fail_msg("%s, Inf: %s", rules[i].rule, inf->reason);
        /* of 1 and 2: sqrt(5 / 2) */
        assert_true(nan->metrics.rms == sqrt(2.5) && inf->metrics.rms == sqrt(2.5) && nan->metrics.rel_rms == 0 &&
                    inf->metrics.rel_rms == 0);
        lb_record_close(nan);
        lb_record_close(inf);
    }
}

static void nothing_compared_and_nothing_but_zeros_prove_nothing_under_any_rule(void **state) {
    (void)state;
    const lb_format *f = lb_format_row(LB_F32);
    const uint32_t zeros[2] = {0};
    const double gauge[2] = {0};
    const lb_mat plain = lb_mat_of(f, zeros, 1, 2), none = lb_mat_of(f, zeros, 1, 0);
    for (size_t i = 0; i < RULES; i++) {
        const lb_grade_input some = {.gauge = gauge, .baseline = &plain}, empty = {.gauge = gauge, .baseline = &none};
        lb_record *z = graded_codes(rules[i].rule, f, zeros, zeros, 2, 64, &some),
                  *e = graded_codes(rules[i].rule, f, zeros, zeros, 0, 64, &empty);
        if (z->verdict != LB_UNPROVEN || !strstr(z->reason, "vacuous")) fail_msg("%s, zeros: %s", rules[i].rule, z->reason);
        if (e->verdict != LB_UNPROVEN || !strstr(e->reason, "nothing was compared")) fail_msg("%s, empty: %s", rules[i].rule, e->reason);
        lb_record_close(z);
        lb_record_close(e);
    }
}

static void a_reference_worse_than_an_eighth_of_the_tolerance_is_unfit_under_any_rule(void **state) {
    (void)state;
    for (size_t i = 0; i < RULES; i++) {
        const double exact[3] = {0}, bad[3] = {0, 1e300, 0};
        lb_record *fit = graded_middle(rules[i].rule, 0x3f800000, 0x3f800000, exact),
                  *unfit = graded_middle(rules[i].rule, 0x3f800000, 0x3f800000, bad);
        if (fit->verdict != LB_PASS) fail_msg("%s: %s", rules[i].rule, fit->reason);
        if (unfit->verdict != LB_UNPROVEN || !strstr(unfit->reason, "--reference exact")) fail_msg("%s: %s", rules[i].rule, unfit->reason);
        lb_record_close(fit);
        lb_record_close(unfit);
    }
    /* an eighth of allclose's 1.001e-5 is 1.25e-6; of nmse's 5e-4 (1 + 1 + 4), a 64th: sum e^2 <= 4.69e-5, e <= 6.85e-3 */
    static const struct {
        int line;
        const char *rule;
        double error;
        lb_verdict verdict;
    } rows[] = {
        {__LINE__, "allclose", 1.2e-6, LB_PASS}, {__LINE__, "allclose", 1.3e-6, LB_UNPROVEN}, {__LINE__, "nmse", 6.8e-3, LB_PASS},
        {__LINE__, "nmse", 6.9e-3, LB_UNPROVEN}, {__LINE__, "bitwise", 1e-300, LB_UNPROVEN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double error[3] = {0, rows[i].error, 0};
        lb_record *r = graded_middle(rows[i].rule, 0x3f800000, 0x3f800000, error);
        EXPECT_CODE(rows[i].line, r->verdict, rows[i].verdict);
        lb_record_close(r);
    }
}

static void a_limit_that_cannot_be_stated_proves_nothing(void **state) {
    (void)state;
    /* n u = 2^24 * 2^-24 = 1: gamma says nothing */
    lb_record *r = graded_pair("gamma", LB_F32, 1, 1, 0x1p24, 1);
    assert_true(r->verdict == LB_UNPROVEN && strstr(r->reason, "no limit can be stated"));
    lb_record_close(r);
}

static void what_a_rule_needs_and_is_not_given_is_a_bad_call(void **state) {
    (void)state;
    static const char *const needy[] = {"blas", "gamma", "gamma-rz", "baseline-2x"};
    const uint32_t one = 0x3f800000;
    const lb_mat m = lb_mat_of(lb_format_row(LB_F32), &one, 1, 1);
    const lb_grade_input in = {.actual = m, .reference = m, .k = 4};
    for (size_t i = 0; i < sizeof needy / sizeof needy[0]; i++) {
        lb_record *r;
        lb_error err;
        assert_int_equal(lb_record_open(&r, NULL), LB_OK);
        assert_int_equal(lb_grade_by(needy[i], &in, r, &err), LB_E_ARG);
        assert_non_null(strstr(err.message, "lastbit check"));
        assert_string_equal(r->contract_name, "");
        lb_record_close(r);
    }
}

static void an_explained_limit_is_the_one_that_was_graded(void **state) {
    (void)state;
    for (size_t i = 0; i < RULES; i++) {
        lb_contract *c;
        lb_limit limit;
        lb_error err;
        lb_record *r = graded_middle(rules[i].rule, 0x3f900000, 0x3f800000, NULL); /* 1.125 for 1 */
        assert_int_equal(lb_contract_open(rules[i].rule, &c, &err), LB_OK);
        const lb_limit_input in = {lb_format_row(LB_F32), 0x3f800000, 64, sqrt(2), 3, 4, 0}; /* the row's RMS: sqrt((1 + 1 + 4) / 3) */
        if (lb_contract_limit(c, &in, &limit, &err) != LB_OK) fail_msg("%s", err.message);
        assert_true(r->worst.present);
        if (!(limit.bound == r->worst.bound || (isnan(limit.bound) && isnan(r->worst.bound))))
            fail_msg("%s: explained %g, graded %g", rules[i].rule, limit.bound, r->worst.bound);
        double parts = 0;
        for (size_t t = 0; t < limit.term_count; t++) parts += limit.terms[t].part ? limit.terms[t].value : 0;
        assert_true(isnan(limit.bound) || parts >= limit.bound * (1 - 1e-15));
        assert_true(limit.term_count > 0 && *limit.decided);
        lb_contract_close(c);
        lb_record_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_draws_its_line_where_its_formula_says),
        cmocka_unit_test(a_norm_judges_the_block_and_no_element),
        cmocka_unit_test(a_baseline_frees_what_is_twice_as_bad_and_no_more),
        cmocka_unit_test(a_loud_element_has_the_scale_that_it_shows_itself),
        cmocka_unit_test(no_rule_takes_nan_or_inf_for_a_number),
        cmocka_unit_test(nan_and_inf_on_both_sides_are_judged_by_the_rules_policy_and_enter_no_norm),
        cmocka_unit_test(nothing_compared_and_nothing_but_zeros_prove_nothing_under_any_rule),
        cmocka_unit_test(a_reference_worse_than_an_eighth_of_the_tolerance_is_unfit_under_any_rule),
        cmocka_unit_test(a_limit_that_cannot_be_stated_proves_nothing),
        cmocka_unit_test(what_a_rule_needs_and_is_not_given_is_a_bad_call),
        cmocka_unit_test(an_explained_limit_is_the_one_that_was_graded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
