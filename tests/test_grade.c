/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Grading: classes before numbers, nothing slips through, and where m16-tc and its original part. */
#include "test.h"

#include "m16_sim.h"

#include "lastbit/run.h"

static const lb_contract *contract(const char *name) {
    const lb_contract *c;
    assert_int_equal(lb_contract_find(name, &c, NULL), LB_OK);
    return c;
}

/* Grade n elements of one row under a contract at k = 5120. */
static lb_record *grade_row(const char *name, lb_format_id f, const void *actual, const void *reference, size_t n) {
    const lb_grade_input in = {.actual = lb_mat_of(lb_format_row(f), actual, 1, n),
                               .reference = lb_mat_of(lb_format_row(f), reference, 1, n),
                               .contract = contract(name),
                               .k = 5120};
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    if (lb_grade(&in, r, &err) != LB_OK) fail_msg("%s", err.message);
    assert_int_equal(r->counts.exact + r->counts.legal + r->counts.wrong, r->counts.compared);
    return r;
}

/* One element beside three plain ones of value 1, so that the row has a scale. */
static const struct corner {
    int line;
    uint16_t actual, reference;
    bool wrong, wrong_in_original;
} corners[] = {
    {__LINE__, 0x447a, 0xbc24, true, false}, /* +1000 against -0.01: the original never grades a sign change below 0.05 */
    {__LINE__, 0x7fc0, 0x3c24, true, false}, /* source: VER-01, jfalcou/tts#150; VER-02, flame/blis#279: NaN against a number */
    {__LINE__, 0x7fc0, 0x3f80, true, true},  /* … which the original sees where the reference is larger */
    {__LINE__, 0x3f80, 0x7fc0, true, true},  /* and the other way round */
    {__LINE__, 0x7f80, 0x7f7f, true, false}, /* source: VER-05, sys-bio/roadrunner#45: Inf against the largest finite value */
    {__LINE__, 0x7f7f, 0x7f80, true, false},  {__LINE__, 0x7f81, 0x7f80, true, false}, /* NaN against Inf */
    {__LINE__, 0xff80, 0x7f80, true, false},  /* Inf against -Inf: an Inf in a row makes the original's RMS and floor infinite */
    {__LINE__, 0x7f80, 0x7f80, false, false}, /* the same Inf */
    {__LINE__, 0x7fc0, 0x7fc0, false, false}, /* NaN against NaN */
    {__LINE__, 0xffc1, 0x7fc0, false, true},  /* source: VER-21, mattias800/prosper#1681: another payload is NaN all the same */
    {__LINE__, 0x8000, 0x0000, false, false}, /* source: VER-08, mikedilger/float-cmp#33 */
    {__LINE__, 0xbf80, 0x3f80, true, true},   {__LINE__, 0x3f82, 0x3f80, false, false}, /* two ordinals */
    {__LINE__, 0x3f83, 0x3f80, true, true},                                             /* three */
};

static void m16_tc_and_its_original_part_exactly_here(void **state) {
    (void)state;
    size_t parted = 0;
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++) {
        const struct corner *c = &corners[i];
        const uint16_t actual[4] = {0x3f80, 0x3f80, 0x3f80, c->actual}, reference[4] = {0x3f80, 0x3f80, 0x3f80, c->reference};
        lb_record *r = grade_row("m16-tc", LB_BF16, actual, reference, 4), *o = grade_row("m16-tc-original", LB_BF16, actual, reference, 4);
        EXPECT_CODE(c->line, r->counts.wrong, c->wrong);
        EXPECT_CODE(c->line, o->counts.wrong, c->wrong_in_original);
        if (c->wrong) assert_int_equal(r->verdict, LB_FAIL);
        if (c->wrong) assert_true(r->first.present && r->first.col == 3 && r->outlier_count == 1);
        /* the public comparison agrees with the original's row */
        lb_m16_diff d;
        assert_int_equal(lb_m16_compare_block(actual, 8, reference, 8, 4, 5120, &d, NULL), LB_OK);
        EXPECT_CODE(c->line, d.over_count, o->counts.wrong);
        EXPECT_CODE(c->line, d.sign_flips, o->counts.sign_flips);
        assert_true(isnan(d.rel_rms) ? isnan(o->metrics.rel_rms) : d.rel_rms == o->metrics.rel_rms);
        lb_m16_diff_free(&d);
        parted += c->wrong != c->wrong_in_original;
        lb_record_close(r);
        lb_record_close(o);
    }
    assert_int_equal(parted, 7);
    /* and a short input, which the original accepts, is a bad call */
    const uint16_t one[2] = {0x3f80, 0x3f80};
    const lb_grade_input in = {.actual = lb_mat_of(lb_format_row(LB_BF16), one, 1, 1),
                               .reference = lb_mat_of(lb_format_row(LB_BF16), one, 1, 2),
                               .contract = contract("m16-tc"),
                               .k = 1};
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, r, NULL), LB_E_SHAPE);
    assert_int_equal(r->verdict, LB_UNPROVEN); /* the record is as it was */
    lb_record_close(r);
}

static void other_formats_are_graded_in_their_own_ordinals(void **state) {
    (void)state;
    static const struct {
        int line;
        lb_format_id f;
        uint32_t actual, reference;
        lb_verdict want;
    } rows[] = {
        {__LINE__, LB_F32, 0xc02bf385, 0x402bf385, LB_FAIL}, /* source: VER-07, primitiv/primitiv#210 */
        {__LINE__, LB_F32, 0x3f800002, 0x3f800000, LB_PASS}, {__LINE__, LB_F32, 0x3f900000, 0x3f800000, LB_FAIL},
        {__LINE__, LB_F16, 0x7bff, 0x7c00, LB_FAIL},     /* source: VER-24, KhronosGroup/OpenCL-CTS#2024: 65504 where RNE gives Inf */
        {__LINE__, LB_F16, 0x7c00, 0x7c00, LB_UNPROVEN}, /* nothing finite to judge by */
        {__LINE__, LB_F16, 0x3c01, 0x3c00, LB_PASS},     /* source: VER-22, pytorch/pytorch#150002 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint16_t a16 = (uint16_t)rows[i].actual, r16 = (uint16_t)rows[i].reference;
        const bool wide = rows[i].f == LB_F32;
        lb_record *r =
            grade_row("m16-tc", rows[i].f, wide ? (const void *)&rows[i].actual : &a16, wide ? (const void *)&rows[i].reference : &r16, 1);
        EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), lb_verdict_name(rows[i].want));
        lb_record_close(r);
    }
    const uint8_t e4m3 = 0x38;
    const lb_grade_input in = {.actual = lb_mat_of(lb_format_row(LB_E4M3), &e4m3, 1, 1),
                               .reference = lb_mat_of(lb_format_row(LB_E4M3), &e4m3, 1, 1),
                               .contract = contract("m16-tc"),
                               .k = 1};
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, r, &err), LB_E_FORMAT); /* two ordinals of e4m3 are a quarter of the value: no contract */
    assert_non_null(strstr(err.message, "not e4m3"));
    lb_record_close(r);
}

static void a_whole_block_off_by_little_fails_its_gate(void **state) {
    (void)state;
    enum { N = 64 };
    uint16_t actual[N], reference[N];
    for (int i = 0; i < N; i++) {
        reference[i] = (uint16_t)(0x3f80 + i);
        actual[i] = (uint16_t)(reference[i] + 2); /* each legal, all of them: rel_rms is near 1 % */
    }
    lb_record *r = grade_row("m16-tc", LB_BF16, actual, reference, N);
    assert_int_equal(r->verdict, LB_FAIL);
    assert_int_equal(r->counts.wrong, 0);
    assert_non_null(strstr(r->reason, "rel_rms"));
    assert_true(r->worst.present && r->worst.ulp == 2);
    lb_record_close(r);
}

static void a_units_own_bits_pass_the_gate_however_far_from_the_reference(void **state) {
    (void)state;
    enum { N = 64 };
    uint16_t actual[N], reference[N], unit[N];
    for (int i = 0; i < N; i++) {
        reference[i] = (uint16_t)(0x3f80 + i);
        unit[i] = actual[i] = (uint16_t)(reference[i] + 2); /* rel_rms near 1 %, ten times the gate */
    }
    const lb_mat exact = lb_mat_of(lb_format_row(LB_BF16), unit, 1, N);
    const lb_grade_input in = {.actual = lb_mat_of(exact.format, actual, 1, N),
                               .reference = lb_mat_of(exact.format, reference, 1, N),
                               .exact = &exact,
                               .contract = contract("m16-tc"),
                               .k = 64};
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
    assert_true(r->verdict == LB_PASS && r->counts.exact == N && r->metrics.rel_rms > 5e-3);
    for (int i = 0; i < N / 2; i++) actual[i] = (uint16_t)(reference[i] - 2); /* legal, but no longer the unit's */
    assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
    assert_true(r->verdict == LB_FAIL && r->counts.wrong == 0);
    lb_record_close(r);
}

static void a_scaled_or_shifted_output_fails(void **state) {
    (void)state;
    /* source: VER-13, IonDen/mlx-taef#7: cosine is blind to both */
    enum { N = 100 };
    uint16_t reference[N], scaled[N], shifted[N];
    for (uint64_t i = 0; i < N; i++) {
        reference[i] = (uint16_t)lb_draw(lb_format_row(LB_BF16), LB_DIST_NORMAL, 1, 1, i);
        scaled[i] = to_bf16(1.5f * bf16_float(reference[i]));
        shifted[i] = to_bf16(bf16_float(reference[i]) + 0.05f);
    }
    lb_record *a = grade_row("m16-tc", LB_BF16, scaled, reference, N), *b = grade_row("m16-tc", LB_BF16, shifted, reference, N);
    assert_true(a->verdict == LB_FAIL && b->verdict == LB_FAIL && a->counts.wrong > N / 2);
    lb_record_close(a);
    lb_record_close(b);
}

static void the_sentinel_is_never_taken_for_a_result(void **state) {
    (void)state;
    /* source: VER-27, ROCm/rocBLAS#1554: the kernel never ran; GEM-15, ROCm/rocm-libraries#9055: some elements were not written */
    const uint16_t reference[4] = {0x3f80, 0x3f80, 0x5a5a, 0x3f80}, untouched[4] = {0x5a5a, 0x5a5a, 0x5a5a, 0x5a5a},
                   part[4] = {0x3f80, 0x5a5a, 0x5a5a, 0x3f80};
    lb_grade_input in = {.actual = lb_mat_of(lb_format_row(LB_BF16), untouched, 1, 4),
                         .reference = lb_mat_of(lb_format_row(LB_BF16), reference, 1, 4),
                         .contract = contract("m16-tc"),
                         .k = 16,
                         .has_sentinel = true,
                         .sentinel = 0x5a5a};
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
    assert_true(r->verdict == LB_FAIL && r->counts.not_written == 3); /* where the reference holds it too it is a result */
    in.actual = lb_mat_of(in.actual.format, part, 1, 4);
    assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
    assert_true(r->counts.not_written == 1 && r->first.col == 1);
    assert_non_null(strstr(r->cause, "not written"));
    lb_record_close(r);
}

/* ---- strided blocks ---------------------------------------------------------------------------------------------------------- */

enum { ROWS = 3, COLS = 5, LD = 8, GUARD = 16, TOTAL = 2 * GUARD / 2 + ROWS * LD };

static void fill_block(uint16_t *block, const uint16_t *values) {
    for (int i = 0; i < TOTAL; i++) block[i] = 0x5a5a;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) block[GUARD / 2 + r * LD + c] = values[r * COLS + c];
}

static void guards_and_gaps_of_a_block_are_audited(void **state) {
    (void)state;
    static const struct {
        int line, at; /* element of the whole buffer that is overwritten; -1: none */
        lb_verdict want;
    } rows[] = {{__LINE__, -1, LB_PASS},
                {__LINE__, 0, LB_FAIL}, /* the front guard */
                {__LINE__, GUARD / 2 - 1, LB_FAIL},
                {__LINE__, GUARD / 2 + COLS, LB_FAIL},            /* the first row's gap */
                {__LINE__, GUARD / 2 + 2 * LD + LD - 1, LB_FAIL}, /* the last row's */
                {__LINE__, TOTAL - 1, LB_FAIL},
                {__LINE__, GUARD / 2 + LD + 2, LB_FAIL}}; /* an element */
    uint16_t values[ROWS * COLS], block[TOTAL];
    for (int i = 0; i < ROWS * COLS; i++) values[i] = (uint16_t)(0x3f80 + 8 * i);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fill_block(block, values);
        if (rows[i].at >= 0) block[rows[i].at] = 0x4f00;
        const lb_block_options o = {.reference = lb_mat_of(lb_format_row(LB_BF16), values, ROWS, COLS),
                                    .actual = block,
                                    .actual_bytes = sizeof block,
                                    .ld = LD,
                                    .guard_bytes = GUARD,
                                    .has_sentinel = true,
                                    .sentinel = 0x5a5a,
                                    .contract = contract("m16-tc"),
                                    .k = 64};
        lb_record *r;
        lb_error err = {0};
        if (lb_grade_block(&o, &r, &err) != LB_OK) fail_msg("%s", err.message);
        EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), lb_verdict_name(rows[i].want));
        assert_int_equal(r->counts.compared, ROWS * COLS);
        lb_record_close(r);
    }
}

static void a_block_that_does_not_fit_its_sizes_is_a_bad_call(void **state) {
    (void)state;
    static const uint16_t data[TOTAL];
    const lb_block_options good = {.reference = lb_mat_of(lb_format_row(LB_BF16), data, ROWS, COLS),
                                   .actual = data,
                                   .actual_bytes = sizeof data,
                                   .ld = LD,
                                   .guard_bytes = GUARD,
                                   .has_sentinel = true,
                                   .contract = contract("m16-tc"),
                                   .k = 64};
    enum { FULL = sizeof data, DENSE = ROWS * LD * 2, LAST_GAP = (LD - COLS) * 2 };
    const struct {
        int line;
        size_t bytes, ld, guard;
        bool has_sentinel;
        double k;
        lb_status want;
    } rows[] = {
        {__LINE__, FULL, LD, GUARD, true, 64, LB_OK},
        {__LINE__, FULL - 2, LD, GUARD, true, 64, LB_E_SHAPE},
        {__LINE__, ROWS * (COLS - 1) * 2, COLS - 1, 0, true, 64, LB_E_SHAPE}, /* of the right size for rows too narrow */
        {__LINE__, DENSE + 2 * 15, LD, 15, true, 64, LB_E_SHAPE},             /* of the right size for guards that cut an element */
        {__LINE__, 50, (SIZE_MAX - 3) / 6 + 9, 0, true, 64, LB_E_SHAPE},      /* three rows of it wrap round to 50 bytes */
        {__LINE__, DENSE, LD, SIZE_MAX / 2 + 1, true, 64, LB_E_SHAPE},        /* and two guards of it to none */
        {__LINE__, DENSE, LD, 0, true, 64, LB_OK},
        {__LINE__, DENSE - LAST_GAP, LD, 0, true, 64, LB_OK}, /* the last gap may be missing … */
        {__LINE__, DENSE - LAST_GAP, LD, GUARD, true, 64, LB_E_SHAPE},
        {__LINE__, FULL - LAST_GAP, LD, GUARD, true, 64, LB_E_SHAPE}, /* … though not before a guard */
        {__LINE__, ROWS * COLS * 2, 0, 0, false, 64, LB_OK},          /* ld 0: rows without gaps */
        {__LINE__, FULL, LD, GUARD, false, 64, LB_E_ARG},             /* nobody knows what guards hold */
        {__LINE__, FULL, LD, GUARD, true, 0, LB_E_ARG},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_block_options o = good;
        o.actual_bytes = rows[i].bytes;
        o.ld = rows[i].ld;
        o.guard_bytes = rows[i].guard;
        o.has_sentinel = rows[i].has_sentinel;
        o.k = rows[i].k;
        lb_record *r;
        EXPECT_CODE(rows[i].line, lb_grade_block(&o, &r, NULL), rows[i].want);
        assert_true((r != NULL) == (rows[i].want == LB_OK));
        if (r) EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), "UNPROVEN"); /* the block is all zeros */
        lb_record_close(r);
    }
    lb_block_options o = good;
    o.contract = NULL;
    lb_record *r;
    assert_int_equal(lb_grade_block(&o, &r, NULL), LB_E_ARG);
    assert_null(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m16_tc_and_its_original_part_exactly_here),
        cmocka_unit_test(other_formats_are_graded_in_their_own_ordinals),
        cmocka_unit_test(a_whole_block_off_by_little_fails_its_gate),
        cmocka_unit_test(a_units_own_bits_pass_the_gate_however_far_from_the_reference),
        cmocka_unit_test(a_scaled_or_shifted_output_fails),
        cmocka_unit_test(the_sentinel_is_never_taken_for_a_result),
        cmocka_unit_test(guards_and_gaps_of_a_block_are_audited),
        cmocka_unit_test(a_block_that_does_not_fit_its_sizes_is_a_bad_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
