/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The main job and what carries it: devices behind guards, samples, lines of hex, replay. */
#include "test.h"

#include "lastbit/run.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char unit_name[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32";

enum { M = 20, N = 12, K = 50 };

/* A product in f16 with the f32 output of a unit. */
typedef struct product {
    uint16_t a[M * K], b[K * N];
    uint32_t d[M * N];
    lb_unit unit;
    lb_mat actual;
    lb_check_options o;
} product;

static void fill(product *p) {
    memset(p, 0, sizeof *p);
    assert_int_equal(lb_unit_find(unit_name, &p->unit, NULL), LB_OK);
    p->o.x = (lb_case){.op = "matmul",
                       .a = lb_mat_of(lb_format_row(LB_F16), p->a, M, K),
                       .b = lb_mat_of(lb_format_row(LB_F16), p->b, K, N),
                       .out = lb_format_row(LB_F32)};
    lb_draw_mat(&p->o.x.a, LB_DIST_NORMAL, 1, 1);
    lb_draw_mat(&p->o.x.b, LB_DIST_NORMAL, 1, 2);
    p->actual = lb_mat_of(lb_format_row(LB_F32), p->d, M, N);
    assert_int_equal(lb_unit_gemm(&p->unit, &p->o.x.a, &p->o.x.b, NULL, &p->actual, NULL), LB_OK);
    p->o.actual = &p->actual;
    p->o.unit = &p->unit;
}

static lb_record *check(const product *p) {
    lb_record *r;
    lb_error err = {0};
    if (lb_check(&p->o, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return r;
}

static void expect_verdict(const product *p, lb_verdict verdict, const char *reason_part) {
    lb_record *r = check(p);
    if (r->verdict != verdict || !strstr(r->reason, reason_part)) fail_msg("%s: %s", lb_verdict_name(r->verdict), r->reason);
    assert_int_equal(r->counts.exact + r->counts.legal + r->counts.wrong, r->counts.compared);
    lb_record_close(r);
}

/* ---- check ------------------------------------------------------------------------------------------------------------------- */

static void the_units_own_output_is_exact_and_one_bit_off_is_found_where_it_is(void **state) {
    (void)state;
    static product p;
    fill(&p);
    expect_verdict(&p, LB_PASS, "240");
    p.d[3 * N + 7] ^= 1;
    lb_record *r = check(&p);
    assert_int_equal(r->verdict, LB_FAIL);
    assert_int_equal(r->counts.wrong, 1);
    assert_int_equal(r->first.row * 100 + r->first.col, 307);
    assert_true(r->worst.ulp == 1);
    lb_record_close(r);
    p.d[9 * N + 2] ^= 0x10; /* a later one that is further off */
    r = check(&p);
    assert_int_equal(r->first.row * 100 + r->first.col, 307);
    assert_int_equal(r->worst.row * 100 + r->worst.col, 902);
    assert_true(r->worst.ulp == 16);
    lb_record_close(r);
}

static void with_a_contract_other_bits_are_legal_and_far_ones_wrong(void **state) {
    (void)state;
    static product p;
    fill(&p);
    assert_int_equal(lb_contract_find("m16-tc", &p.o.contract, NULL), LB_OK);
    p.d[5] ^= 1;
    lb_record *r = check(&p);
    assert_int_equal(r->verdict, LB_PASS);
    assert_int_equal(r->counts.legal, 1);
    lb_record_close(r);
    p.d[5] ^= 0x00400000;
    expect_verdict(&p, LB_FAIL, "1 of 240");
    p.d[5] = 0x7fc00000; /* a NaN where the reference has none */
    expect_verdict(&p, LB_FAIL, "1 of 240");
    p.d[5] = 0x7f800000; /* Inf likewise */
    expect_verdict(&p, LB_FAIL, "1 of 240");
}

static void nothing_compared_all_zeros_and_an_unfit_reference_are_unproven(void **state) {
    (void)state;
    static product p;
    fill(&p);
    p.o.x.a.rows = 0;
    p.actual.rows = 0;
    expect_verdict(&p, LB_UNPROVEN, "nothing was compared");
    fill(&p);
    memset(p.a, 0, sizeof p.a);
    memset(p.d, 0, sizeof p.d);
    expect_verdict(&p, LB_UNPROVEN, "vacuous");
    /* 2^60 - 2^60 + 1: f64 happens to give 1, but can only promise 1 +- 2^10.6; the tolerance is near 2^-20 */
    uint32_t a[3] = {0x5d800000, 0xdd800000, 0x3f800000}, b[3] = {0x3f800000, 0x3f800000, 0x3f800000}, d = 0x3f800000;
    const lb_mat actual = lb_mat_of(lb_format_row(LB_F32), &d, 1, 1);
    product q = {.o = {.x = {.op = "matmul",
                             .a = lb_mat_of(lb_format_row(LB_F32), a, 1, 3),
                             .b = lb_mat_of(lb_format_row(LB_F32), b, 3, 1),
                             .out = lb_format_row(LB_F32)},
                       .actual = &actual}};
    assert_int_equal(lb_contract_find("m16-tc", &q.o.contract, NULL), LB_OK);
    expect_verdict(&q, LB_PASS, "exact");
    q.o.reference = LB_REFERENCE_F64;
    expect_verdict(&q, LB_UNPROVEN, "reference unfit");
    d = 0x40000000; /* a wrong one is FAIL all the same */
    expect_verdict(&q, LB_FAIL, "1 of 1");
}

static void an_open_unit_or_an_absent_device_is_unproven_not_wrong(void **state) {
    (void)state;
    static product p;
    fill(&p);
    assert_int_equal(lb_unit_find("sm_80/mma.m8n8k4.f32.f16.f16.f32", &p.unit, NULL), LB_OK);
    expect_verdict(&p, LB_UNPROVEN, "nobody knows");
    fill(&p);
    p.o.actual = NULL;
    p.o.on = "model:sm_80/mma.m8n8k4.f32.f16.f16.f32";
    expect_verdict(&p, LB_UNPROVEN, "nothing ran");
}

static void a_sample_finds_a_wrong_edge_and_says_its_coverage(void **state) {
    (void)state;
    enum { BIG = 300, DEPTH = 16 };
    static uint16_t a[BIG * DEPTH], b[DEPTH * BIG];
    static uint32_t d[BIG * BIG];
    static product p;
    fill(&p);
    p.o.x.a = lb_mat_of(lb_format_row(LB_F16), a, BIG, DEPTH);
    p.o.x.b = lb_mat_of(lb_format_row(LB_F16), b, DEPTH, BIG);
    lb_draw_mat(&p.o.x.a, LB_DIST_NORMAL, 2, 1);
    lb_draw_mat(&p.o.x.b, LB_DIST_NORMAL, 2, 2);
    p.actual = lb_mat_of(lb_format_row(LB_F32), d, BIG, BIG);
    assert_int_equal(lb_unit_gemm(&p.unit, &p.o.x.a, &p.o.x.b, NULL, &p.actual, NULL), LB_OK);
    p.o.sample = 24;
    p.o.seed = 9;
    lb_record *r = check(&p);
    assert_int_equal(r->verdict, LB_PASS);
    assert_int_equal(r->counts.compared, 24 * 24);
    assert_int_equal(r->counts.total, BIG * BIG);
    assert_non_null(strstr(r->coverage, "24 of 300 rows x 24 of 300 columns"));
    lb_record_close(r);
    for (size_t i = 0; i < BIG; i++) d[i * BIG + BIG - 1] ^= 0x100; /* the last column */
    r = check(&p);
    assert_int_equal(r->counts.wrong, 24);
    assert_int_equal(r->first.col, BIG - 1);
    lb_record_close(r);
}

static void samples_are_distinct_ascending_and_hold_both_ends(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 8, 9, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t count = 2; count < 70; count += 13) {
            size_t *at, n;
            lb_error err;
            assert_int_equal(lb_sample_indices(sizes[i], count, 3, 1, &at, &n, &err), LB_OK);
            assert_int_equal(n, count < sizes[i] ? count : sizes[i]);
            assert_int_equal(at[0], 0);
            assert_int_equal(at[n - 1], sizes[i] - 1);
            for (size_t j = 1; j < n; j++) assert_true(at[j] > at[j - 1]);
            free(at);
        }
    }
}

/* ---- devices ------------------------------------------------------------------------------------------------------------------ */

static void the_model_as_a_device_is_exact_and_a_rounded_output_too(void **state) {
    (void)state;
    static product p;
    fill(&p);
    p.o.actual = NULL;
    p.o.on = "model:sm_80/mma.m16n8k16.f32.f16.f16.f32";
    expect_verdict(&p, LB_PASS, "240");
    p.o.x.out = lb_format_row(LB_BF16); /* rounded once on both sides */
    expect_verdict(&p, LB_PASS, "240");
    p.o.on = "model:sm_90/mma.m16n8k16.f32.f16.f16.f32";
    p.o.x.out = lb_format_row(LB_F32);
    expect_verdict(&p, LB_FAIL, "of 240");
}

/* Both sides above round by the same function, so it is held to codes worked out by hand: ties to even, overflow to Inf, any strides. */
static void a_matrix_is_rounded_once_code_by_code(void **state) {
    (void)state;
    static const uint32_t wide[4] = {0x3f808000, 0x3f818000, 0x7f7fffff, 0xbf808001}; /* ties below 3f81 and 3f82, overflow, above a tie */
    uint16_t narrow[4] = {0};
    const lb_mat from = lb_mat_of(lb_format_row(LB_F32), wide, 2, 2);
    lb_mat to = lb_mat_transposed(lb_mat_of(lb_format_row(LB_BF16), narrow, 2, 2));
    lb_mat_round(&from, &to);
    static const uint16_t want[4] = {0x3f80, 0x7f80, 0x3f82, 0xbf81}; /* laid out by columns */
    for (size_t i = 0; i < 4; i++) EXPECT_CODE(__LINE__, narrow[i], want[i]);
}

static void a_device_that_is_no_device_is_a_bad_call(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *on;
        lb_status want;
    } rows[] = {{__LINE__, "modell:x", LB_E_NAME},
                {__LINE__, "model", LB_E_NAME},
                {__LINE__, "model:sm_80/x", LB_E_NAME},
                {__LINE__, "kernel:/nonexistent.json", LB_E_FILE},
                {__LINE__, "command:ls", LB_E_NAME},
                {__LINE__, "", LB_E_NAME},
                {__LINE__, "model:sm_80/mma.m16n8k16.f32.bf16.bf16.f32", LB_E_FORMAT}};
    static product p;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record *r;
        lb_error err = {0};
        fill(&p);
        p.o.actual = NULL;
        p.o.on = rows[i].on;
        EXPECT_CODE(rows[i].line, (unsigned)lb_check(&p.o, &r, &err), (unsigned)rows[i].want);
        assert_null(r);
        assert_true(err.message[0] != 0);
    }
}

static void poison_is_no_code_that_arithmetic_makes(void **state) {
    (void)state;
    for (int i = 0; i < LB_FORMAT_COUNT; i++) {
        const lb_format *f = lb_format_row((lb_format_id)i);
        uint64_t nan = 0, inf;
        const uint64_t poison = lb_poison_code(f);
        assert_true(f->bits == 64 || poison >> f->bits == 0);
        if (f->special == LB_SPECIAL_IEEE) {
            assert_int_equal(lb_code_class(f, poison), LB_NAN);
            assert_true(lb_nan_code(f, &nan) && nan != poison && lb_inf_code(f, &inf) && inf != poison);
        }
    }
}

/* ---- lines of hex ---------------------------------------------------------------------------------------------------------------- */

static const char suite[] = "dot:sm_90/mma.m16n8k16.f16.f16.f16.f16";

/* Answer the suite with the model, changed by `bend` at line 5. */
static lb_record *judged(uint64_t count, uint64_t answered, uint32_t bend, bool with_inputs) {
    lb_judge *j;
    lb_record *r;
    lb_error err = {0};
    lb_unit u;
    assert_int_equal(lb_judge_open(&j, suite, 4, count, &err), LB_OK);
    assert_int_equal(lb_unit_find(suite + 4, &u, &err), LB_OK);
    for (uint64_t i = 0; i < answered; i++) {
        char line[4096], answer[5000], *p;
        uint32_t words[64], d;
        size_t n = 0;
        assert_int_equal(lb_gen_line(suite, 4, i, line, sizeof line, &err), LB_OK);
        strcpy(answer, with_inputs ? line : "");
        for (p = strtok(line, " "); p; p = strtok(NULL, " ")) words[n++] = (uint32_t)strtoul(p, NULL, 16);
        assert_int_equal(n, 33);
        assert_int_equal(lb_unit_dot(&u, words, words + 16, 16, words[32], &d, NULL), LB_OK);
        if (i == 5) d ^= bend;
        snprintf(answer + strlen(answer), 16, " 0x%x\n", d);
        if (lb_judge_line(j, answer, strlen(answer), &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    }
    assert_int_equal(lb_judge_close(j, &r, &err), LB_OK);
    return r;
}

static void judge_passes_the_model_and_finds_a_bent_a_short_and_an_absent_answer(void **state) {
    (void)state;
    static const struct {
        int line;
        uint64_t answered;
        uint32_t bend;
        lb_verdict want;
    } rows[] = {{__LINE__, 40, 0, LB_PASS}, {__LINE__, 40, 1, LB_FAIL}, {__LINE__, 39, 0, LB_FAIL}, {__LINE__, 0, 0, LB_UNPROVEN}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int with_inputs = 0; with_inputs < 2; with_inputs++) {
            lb_record *r = judged(40, rows[i].answered, rows[i].bend, with_inputs);
            EXPECT_STRING(rows[i].line, lb_verdict_name(r->verdict), lb_verdict_name(rows[i].want));
            if (rows[i].bend) assert_int_equal(r->first.col, 5);
            lb_record_close(r);
        }
    }
}

static void malformed_answers_are_refused_with_their_line(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text, *part;
    } rows[] = {{__LINE__, "xyz\n", "hexadecimal"}, {__LINE__, "123456789\n", "hexadecimal"}, {__LINE__, "1 2\n", "2 words"},
                {__LINE__, "12345\n", "16-bit"},    {__LINE__, "0x\n", "hexadecimal"},        {__LINE__, "12,5\n", "hexadecimal"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_judge *j;
        lb_record *r;
        lb_error err = {0};
        assert_int_equal(lb_judge_open(&j, suite, 4, 2, &err), LB_OK);
        EXPECT_CODE(rows[i].line, lb_judge_line(j, rows[i].text, strlen(rows[i].text), &err), LB_E_FILE);
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_STRING(rows[i].line, err.place, "line 1");
        assert_int_equal(lb_judge_close(j, &r, &err), LB_OK);
        lb_record_close(r);
    }
    char text[16];
    lb_error err;
    assert_int_equal(lb_gen_line(suite, 1, 0, text, sizeof text, &err), LB_E_ARG);
    assert_int_equal(lb_gen_line("dots:x", 1, 0, text, sizeof text, &err), LB_E_NAME);
    assert_int_equal(lb_gen_line("dot:sm_80/mma.m8n8k4.f32.f16.f16.f32", 1, 0, text, sizeof text, &err), LB_E_UNAVAILABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_units_own_output_is_exact_and_one_bit_off_is_found_where_it_is),
        cmocka_unit_test(with_a_contract_other_bits_are_legal_and_far_ones_wrong),
        cmocka_unit_test(nothing_compared_all_zeros_and_an_unfit_reference_are_unproven),
        cmocka_unit_test(an_open_unit_or_an_absent_device_is_unproven_not_wrong),
        cmocka_unit_test(a_sample_finds_a_wrong_edge_and_says_its_coverage),
        cmocka_unit_test(samples_are_distinct_ascending_and_hold_both_ends),
        cmocka_unit_test(the_model_as_a_device_is_exact_and_a_rounded_output_too),
        cmocka_unit_test(a_matrix_is_rounded_once_code_by_code),
        cmocka_unit_test(a_device_that_is_no_device_is_a_bad_call),
        cmocka_unit_test(poison_is_no_code_that_arithmetic_makes),
        cmocka_unit_test(judge_passes_the_model_and_finds_a_bent_a_short_and_an_absent_answer),
        cmocka_unit_test(malformed_answers_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
