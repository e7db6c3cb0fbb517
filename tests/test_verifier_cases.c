/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reports of verifiers that were wrong, each as a row with its source: what was compared, and what a verifier should have said.
 * A second element, 1 against 1, keeps a row of zeros from being vacuous. */
#include "grade_one.h"

typedef struct judged {
    int line;
    const char *source, *rule;
    lb_format_id format;
    uint64_t actual, reference;
    bool pass;
    double ulp; /* of the worst element; NAN: of no interest */
} judged;

static lb_record *graded_row(const char *rule, const lb_format *f, uint64_t actual, uint64_t reference, double gauge, double k) {
    uint64_t a[2] = {0}, r[2] = {0};
    const uint64_t one = lb_from_double(f, 1);
    const double gauges[2] = {gauge, gauge};
    const lb_grade_input in = {.gauge = gauges};
    lb_store_code((char *)a, f->bytes, actual);
    lb_store_code((char *)a + f->bytes, f->bytes, one);
    lb_store_code((char *)r, f->bytes, reference);
    lb_store_code((char *)r + f->bytes, f->bytes, one);
    return graded_codes(rule, f, a, r, 2, k, &in);
}

static const judged reports[] = {
    /* VER-01, jfalcou/tts#150: the relative error of NaN was 0. NaN against 5, and swapped: infinitely far */
    {__LINE__, "VER-01", "ulp:4", LB_F32, 0x7fc00000, 0x40a00000, false, INFINITY},
    {__LINE__, "VER-01", "ulp:4", LB_F32, 0x40a00000, 0x7fc00000, false, INFINITY},
    {__LINE__, "VER-01", "allclose", LB_F32, 0x7fc00000, 0x40a00000, false, INFINITY},
    {__LINE__, "VER-01", "allclose", LB_F32, 0x40a00000, 0x7fc00000, false, INFINITY},
    /* VER-02, flame/blis#279, ralna/RALFit#138: "resid > tol" is false of NaN */
    {__LINE__, "VER-02", "allclose:0,1e-6", LB_F32, 0x7fc00000, 0x00000000, false, INFINITY},
    {__LINE__, "VER-02", "gamma", LB_F32, 0x7fc00000, 0x00000000, false, INFINITY},
    /* VER-05, sys-bio/roadrunner#45, iree-org/iree#20677: NaN for NaN by policy, Inf for Inf, no other */
    {__LINE__, "VER-05", "ulp:4", LB_F32, 0x7fc00000, 0x7fc00000, true, NAN},
    {__LINE__, "VER-05", "torch", LB_F32, 0x7fc00000, 0x7fc00000, false, NAN},
    {__LINE__, "VER-05", "torch", LB_F32, 0x7f800000, 0x7f800000, true, NAN},
    {__LINE__, "VER-05", "torch", LB_F32, 0x7f800000, 0xff800000, false, INFINITY},
    {__LINE__, "VER-05", "ulp:4", LB_F32, 0x7f800000, 0x7f61b1e6, false, INFINITY}, /* 3e38 */
    {__LINE__, "VER-05", "m16-tc", LB_F32, 0x7f800000, 0x7f7fffff, false, INFINITY},
    /* VER-07, primitiv/primitiv#210: -2.68673831 against +2.68673831, twice 0x402bf385 steps, which int32 made negative */
    {__LINE__, "VER-07", "ulp:4", LB_F32, 0xc02bf385, 0x402bf385, false, 2153244426.0},
    {__LINE__, "VER-07", "m16-tc", LB_F32, 0xc02bf385, 0x402bf385, false, 2153244426.0},
    /* VER-08, mikedilger/float-cmp#33, InsightSoftwareConsortium/ITK#1473: zeros of both signs are 0 apart */
    {__LINE__, "VER-08", "ulp:0", LB_F32, 0x80000000, 0x00000000, true, NAN},
    {__LINE__, "VER-08", "m16-tc", LB_BF16, 0x0000, 0x8000, true, NAN},
    /* VER-10, tenstorrent/tt-metal#56729: ulp counts representable steps, so 1 and the number below it are 1 apart */
    {__LINE__, "VER-10", "ulp:1", LB_F32, 0x3f7fffff, 0x3f800000, true, 1},
    {__LINE__, "VER-10", "ulp:0", LB_F32, 0x3f7fffff, 0x3f800000, false, 1},
    /* VER-12, triton-lang/triton#723: 1e-3 apart under a tolerance of 1e-6, which was ignored */
    {__LINE__, "VER-12", "allclose:0,1e-6", LB_F32, 0x3f8020c5, 0x3f800000, false, NAN},
    {__LINE__, "VER-12", "allclose:0,1e-2", LB_F32, 0x3f8020c5, 0x3f800000, true, NAN},
    /* VER-15, sgl-project/sglang#35795, tenstorrent/tt-metal#42949: bf16 24 for 24.062, 0.496 ULP: the reference is rounded too */
    {__LINE__, "VER-15", "bitwise", LB_BF16, 0x41c0, 0x41c0, true, NAN},
    {__LINE__, "VER-15", "allclose:0,0.06", LB_BF16, 0x41c0, 0x41c0, true, NAN},
    /* VER-16, HazyResearch/HipKittens#64, tile-ai/TileOPs#1895, hw-native-sys/pypto#2326: 6e-4 for a cancelled 1e-4, K = 1024 and
     * sum |ab| = 1024: gamma allows 1025 * 2^-24 * 1024 = 6.26e-2; a relative rule refuses */
    {__LINE__, "VER-16", "gamma", LB_F32, 0x3a1d4952, 0x38d1b717, true, NAN},
    {__LINE__, "VER-16", "statistical:1e-12", LB_F32, 0x3a1d4952, 0x38d1b717, true, NAN},
    {__LINE__, "VER-16", "torch", LB_F32, 0x3a1d4952, 0x38d1b717, false, NAN},
    /* VER-21, mattias800/prosper#1681, KhronosGroup/glslang#3572: payload, quiet bit and sign of NaN, by value and by bits */
    {__LINE__, "VER-21", "ulp:0", LB_F32, 0x7f800001, 0x7fc00001, true, NAN},
    {__LINE__, "VER-21", "ulp:0", LB_F32, 0x7fc00000, 0xffc00000, true, NAN},
    {__LINE__, "VER-21", "bitwise", LB_F32, 0x7f800001, 0x7fc00001, false, NAN},
    {__LINE__, "VER-21", "bitwise", LB_F32, 0x7fc00000, 0xffc00000, false, NAN},
    /* VER-22, pytorch/pytorch#150002, pytorch/executorch#7766: halves within their tolerance, compared by bits by mistake */
    {__LINE__, "VER-22", "allclose:2e-3", LB_F16, 0x3c01, 0x3c00, true, 1},
    {__LINE__, "VER-22", "allclose:1e-2", LB_BF16, 0x3f81, 0x3f80, true, 1},
    {__LINE__, "VER-22", "bitwise", LB_E4M3, 0x39, 0x38, false, 1},
    /* VER-24, KhronosGroup/OpenCL-CTS#2024: 175668.86 is Inf in f16; 65504 passes only where overflow saturates (test_specials) */
    {__LINE__, "VER-24", "ulp:4", LB_F16, 0x7c00, 0x7c00, true, NAN},
    {__LINE__, "VER-24", "ulp:4", LB_F16, 0x7bff, 0x7c00, false, INFINITY},
    /* VER-25, KhronosGroup/glslang#4374: zeros and NaN by value, by bits and under a rule that knows no NaN */
    {__LINE__, "VER-25", "ulp:0", LB_F32, 0x00000000, 0x80000000, true, NAN},
    {__LINE__, "VER-25", "bitwise", LB_F32, 0x00000000, 0x80000000, false, 0},
    {__LINE__, "VER-25", "bitwise", LB_F32, 0x7fc00000, 0x7fc00000, true, NAN},
    {__LINE__, "VER-25", "ulp:0", LB_F32, 0x7fc00000, 0x7fc00000, true, NAN},
    {__LINE__, "VER-25", "allclose", LB_F32, 0x7fc00000, 0x7fc00000, false, NAN},
};

static void each_report_gets_the_answer_it_should_have_had(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        lb_record *r = graded_row(reports[i].rule, lb_format_row(reports[i].format), reports[i].actual, reports[i].reference, 1024, 1024);
        if (r->verdict != (reports[i].pass ? LB_PASS : LB_FAIL))
            fail_msg("row at %s:%d (%s under %s): %s", __FILE__, reports[i].line, reports[i].source, reports[i].rule, r->reason);
        if (!isnan(reports[i].ulp)) assert_true(r->worst.present && r->worst.ulp == reports[i].ulp);
        lb_record_close(r);
    }
}

static void a_reference_of_24_062_is_rounded_to_the_output_format_before_anything_is_compared(void **state) {
    (void)state; /* VER-15 */
    assert_int_equal(lb_from_double(lb_format_row(LB_BF16), 24.0620), 0x41c0);
    assert_int_equal(lb_from_double(lb_format_row(LB_F16), 175668.86), 0x7c00); /* VER-24 */
}

static void the_tolerance_that_was_used_is_told(void **state) {
    (void)state; /* VER-12, triton-lang/triton#723 */
    lb_record *r = graded_row("allclose:0,1e-6", lb_format_row(LB_F32), 0x3f8020c5, 0x3f800000, 1, 1);
    assert_non_null(strstr(r->contract_rule, "1e-06"));
    assert_string_equal(r->contract_name, "allclose:0,1e-6");
    lb_record_close(r);
}

static void a_scale_and_a_shift_are_refused_where_a_cosine_is_blind(void **state) {
    (void)state; /* VER-13, IonDen/mlx-taef#7: 1.5 times, and 0.05 more, pass a cosine of 0.9994 */
    enum { N = 64 };
    static const char *const rules[] = {"m16-tc", "ulp:4", "gamma", "statistical", "allclose", "torch", "nmse", "benchdnn"};
    const lb_format *f = lb_format_row(LB_F32);
    uint32_t reference[N], scaled[N], shifted[N];
    double gauge[N];
    for (int i = 0; i < N; i++) {
        const double x = ((i * 37) % 64 - 31.5) / 16; /* RMS 1.15 */
        reference[i] = (uint32_t)lb_from_double(f, x);
        scaled[i] = (uint32_t)lb_from_double(f, 1.5 * x);
        shifted[i] = (uint32_t)lb_from_double(f, x + 0.05);
        gauge[i] = 20;
    }
    const lb_grade_input in = {.gauge = gauge};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        lb_record *a = graded_codes(rules[i], f, scaled, reference, N, 256, &in),
                  *b = graded_codes(rules[i], f, shifted, reference, N, 256, &in);
        if (a->verdict != LB_FAIL || b->verdict != LB_FAIL) fail_msg("%s: %s; %s", rules[i], a->reason, b->reason);
        lb_record_close(a);
        lb_record_close(b);
    }
}

static void nans_are_counted_by_class_and_not_told_as_a_first_mismatch_alone(void **state) {
    (void)state; /* VER-21 */
    const uint32_t a[] = {0x7f800001, 0x7fc00000, 0x3f800000, 0x80000000}, r[] = {0x7fc00001, 0xffc00000, 0x3f800000, 0x00000000};
    lb_record *bits = graded_codes("bitwise", lb_format_row(LB_F32), a, r, 4, 1, NULL),
              *value = graded_codes("ulp:0", lb_format_row(LB_F32), a, r, 4, 1, NULL);
    assert_true(bits->counts.wrong == 3 && value->counts.wrong == 0);
    assert_true(bits->counts.nan_payload == 2 && value->counts.nan_payload == 2 && value->counts.zero_sign == 1);
    lb_record_close(bits);
    lb_record_close(value);
}

static void an_output_that_still_holds_the_sentinel_fails_as_not_written(void **state) {
    (void)state; /* VER-27, ROCm/rocBLAS#1554: the kernel never ran */
    const uint16_t a[] = {0x5a5a, 0x5a5a}, r[] = {0x3f80, 0x4000};
    const lb_grade_input in = {.has_sentinel = true, .sentinel = 0x5a5a};
    lb_record *record = graded_codes("allclose:1e30,1e30", lb_format_row(LB_BF16), a, r, 2, 1, &in);
    assert_true(record->verdict == LB_FAIL && record->counts.not_written == 2);
    assert_string_equal(record->cause, "the output was not written");
    lb_record_close(record);
}

static void a_build_that_assumes_no_nan_is_refused(void **state) {
    (void)state; /* VER-19, unitaryfoundation/clifft#174, 1bit-MONSTER/1bit-MONSTER#1277: -ffast-math makes isfinite constant */
    static const char *const files[] = {"judge.c", "grade.c", "limit.c", "reduction.c"};
    if (system("cc --version > /dev/null 2>&1") != 0) {
        puts("SKIP a_build_that_assumes_no_nan_is_refused: no compiler named cc");
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char command[1024];
        for (int fast = 0; fast < 2; fast++) {
            snprintf(command, sizeof command,
                     "cc -std=c11 -D_GNU_SOURCE -fsyntax-only %s -I%s/include -I%s/src %s/src/contracts/%s > /dev/null 2>&1",
                     fast ? "-ffast-math" : "", LB_SOURCE_DIR, LB_SOURCE_DIR, LB_SOURCE_DIR, files[i]);
            assert_true((system(command) != 0) == fast);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_report_gets_the_answer_it_should_have_had),
        cmocka_unit_test(a_reference_of_24_062_is_rounded_to_the_output_format_before_anything_is_compared),
        cmocka_unit_test(the_tolerance_that_was_used_is_told),
        cmocka_unit_test(a_scale_and_a_shift_are_refused_where_a_cosine_is_blind),
        cmocka_unit_test(nans_are_counted_by_class_and_not_told_as_a_first_mismatch_alone),
        cmocka_unit_test(an_output_that_still_holds_the_sentinel_fails_as_not_written),
        cmocka_unit_test(a_build_that_assumes_no_nan_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
