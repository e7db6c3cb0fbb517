/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lb_check gives each rule what it needs of A and B: sums of magnitudes, a plain kernel, what flushed inputs may lose. */
#include "test.h"

#include "lastbit/gemm.h"
#include "lastbit/run.h"
#include "m16_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 6, N = 10, K = 96 };

typedef struct product {
    uint16_t a[M * K], b[K * N];
    uint32_t d[M * N];
    lb_mat actual;
    lb_check_options o;
} product;

static void set_up(product *p) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    uint64_t state = 20261130;
    for (size_t i = 0; i < M * K; i++) p->a[i] = to_bf16(draw_bf16(&state));
    for (size_t i = 0; i < K * N; i++) p->b[i] = to_bf16(draw_bf16(&state));
    p->actual = lb_mat_of(lb_format_row(LB_F32), p->d, M, N);
    p->o = (lb_check_options){
        .x = {.op = "matmul", .a = lb_mat_of(bf16, p->a, M, K), .b = lb_mat_of(bf16, p->b, K, N), .out = lb_format_row(LB_F32)},
        .actual = &p->actual};
}

/* f32 sums from the first product to the last but `lost`; flushes: subnormal operands are zeros. */
static void run_kernel(product *p, size_t lost, bool flushes) {
    for (size_t at = 0; at < M * N; at++) {
        float sum = 0;
        for (size_t k = 0; k < K - lost; k++) {
            const uint16_t x = p->a[at / N * K + k], y = p->b[k * N + at % N];
            const bool zero = flushes && ((x & 0x7f80) == 0 || (y & 0x7f80) == 0);
            if (!zero) sum += bf16_float(x) * bf16_float(y);
        }
        memcpy(&p->d[at], &sum, sizeof sum);
    }
}

static lb_record *checked(product *p, const char *rule) {
    lb_contract *c;
    lb_record *r;
    lb_error err;
    const lb_status s = *rule == '{' ? lb_contract_from_json(rule, strlen(rule), "test", &c, &err) : lb_contract_open(rule, &c, &err);
    if (s != LB_OK) fail_msg("%s: %s", rule, err.message);
    p->o.contract = c;
    if (lb_check(&p->o, &r, &err) != LB_OK) fail_msg("%s: %s", rule, err.message);
    lb_contract_close(c);
    return r;
}

static void expect(product *p, const char *rule, lb_verdict verdict, const char *words) {
    lb_record *r = checked(p, rule);
    if (r->verdict != verdict || !strstr(r->reason, words)) fail_msg("%s: %s: %s", rule, lb_verdict_name(r->verdict), r->reason);
    lb_record_close(r);
}

static void a_correct_kernel_passes_and_a_lost_tail_fails_under_every_rule_that_can_see_it(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        bool sees; /* 2 of 96 products lost: about a seventh of each element */
    } rows[] = {
        {"m16-tc", true}, {"gamma", true},      {"gamma-rz", true},      {"statistical", true}, {"statistical-rz", true},  {"blas", true},
        {"nmse", true},   {"torch:1e-3", true}, {"benchdnn:1e-3", true}, {"baseline-2x", true}, {"baseline-2x:1e9", false}};
    product p;
    set_up(&p);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run_kernel(&p, 0, false);
        expect(&p, rows[i].rule, LB_PASS, "");
        run_kernel(&p, 2, false);
        expect(&p, rows[i].rule, rows[i].sees ? LB_FAIL : LB_PASS, "");
    }
}

static void the_plain_kernel_is_as_good_as_f32_sums_are(void **state) {
    (void)state;
    product p;
    float x;
    set_up(&p);
    run_kernel(&p, 0, false);
    expect(&p, "baseline-2x:1", LB_PASS, ""); /* the very same sums */
    memcpy(&x, &p.d[17], sizeof x);
    x += 1e-4f; /* f32 sums of 96 products of 1 are about 1e-6 off */
    memcpy(&p.d[17], &x, sizeof x);
    expect(&p, "baseline-2x", LB_FAIL, "a plain kernel's");
}

static void a_sample_is_judged_with_the_gauge_of_its_own_elements(void **state) {
    (void)state;
    product p;
    set_up(&p);
    for (size_t i = 0; i < K; i++) p.b[i * N + 9] = to_bf16(1024 * bf16_float(p.b[i * N + 9])); /* a loud last column */
    run_kernel(&p, 0, false);
    p.o.sample = 4;
    expect(&p, "gamma", LB_PASS, "");
    expect(&p, "baseline-2x", LB_PASS, "");
    const float off = 1;
    memcpy(&p.d[0], &off, sizeof off); /* far beyond the first column's limit, within the last one's */
    expect(&p, "gamma", LB_FAIL, "1 of");
}

static void flushed_inputs_are_allowed_where_the_contract_declares_them_and_counted_anyway(void **state) {
    (void)state;
    static const char with[] = "{\"rule\": \"gamma\", \"flush\": {\"inputs\": true}}";
    product p;
    set_up(&p);
    for (size_t i = 0; i < M * K; i++) p.a[i] = (uint16_t)(i % 3 ? 0x0040 : 0x2000);    /* 2^-127 and 2^-63 */
    for (size_t i = 0; i < K * N; i++) p.b[i] = (uint16_t)(0x5f80 | (p.b[i] & 0x8000)); /* 2^64, signs as drawn */
    run_kernel(&p, 0, false);
    expect(&p, "gamma", LB_PASS, "");
    expect(&p, with, LB_PASS, "");
    run_kernel(&p, 0, true);
    expect(&p, with, LB_PASS, "");
    expect(&p, "gamma", LB_PASS, ""); /* 64 products of 2^-63 beside 32 of 2: far below gamma's limit anyway */
    run_kernel(&p, 4, true);          /* a lost product of 2 is more than what flushing explains */
    expect(&p, with, LB_FAIL, "wrong");
    for (size_t i = 0; i < M * K; i++) p.a[i] = (uint16_t)(i % 3 ? 0x0040 : 0x0080); /* 2^-127 and the least normal 2^-126 */
    run_kernel(&p, 0, true);
    expect(&p, "gamma", LB_FAIL, "wrong");
    expect(&p, with, LB_PASS, "");
    lb_record *r = checked(&p, with);
    assert_int_equal(r->counts.subnormal_inputs, M * K * 2 / 3);
    lb_record_close(r);
}

static void what_is_explained_is_what_is_checked_for_subnormal_operands_too(void **state) {
    (void)state;
    static const char *const rules[] = {
        "gamma", "statistical", "m16-tc",
        "{\"rule\": \"gamma-rz\", \"accumulator\": {\"step\": 8, \"frac_bits\": 24}, \"flush\": {\"inputs\": true}}"};
    product p;
    set_up(&p);
    for (size_t i = 0; i < M * K; i++) p.a[i] = (uint16_t)(i % 3 ? 0x0040 : 0x0080);
    run_kernel(&p, 0, false);
    p.d[2 * N + 3] = 0x3f800000; /* the one element that is far off is the worst */
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        lb_contract *c;
        lb_limit_input in;
        lb_limit limit;
        lb_error err;
        lb_record *r = checked(&p, rules[i]);
        const lb_status s =
            *rules[i] == '{' ? lb_contract_from_json(rules[i], strlen(rules[i]), "test", &c, &err) : lb_contract_open(rules[i], &c, &err);
        assert_int_equal(s, LB_OK);
        assert_int_equal(lb_contract_explain(&p.o.x, c, 0, 2, 3, &in, &limit, &err), LB_OK);
        assert_true(r->worst.row == 2 && r->worst.col == 3 && r->worst.bound == limit.bound && r->worst.row_rms == in.row_rms);
        assert_int_equal(lb_contract_explain(&p.o.x, c, 0, M, 0, &in, &limit, &err), LB_E_ARG);
        lb_contract_close(c);
        lb_record_close(r);
    }
}

static void an_f64_reference_is_fit_for_gamma_and_unfit_for_bits(void **state) {
    (void)state;
    product p;
    set_up(&p);
    run_kernel(&p, 0, false);
    p.o.reference = LB_REFERENCE_F64;
    expect(&p, "gamma", LB_PASS, "");
    expect(&p, "statistical", LB_PASS, "");
    expect(&p, "nmse", LB_PASS, "");
    for (size_t i = 0; i < M * K; i++) p.a[i] = 0x3f80; /* sums of few bits: bitwise passes with an exact reference … */
    for (size_t i = 0; i < K * N; i++) p.b[i] = 0x4000;
    run_kernel(&p, 0, false);
    expect(&p, "bitwise", LB_UNPROVEN, "--reference exact"); /* … which f64 with a bound above 0 is not */
    p.o.reference = LB_REFERENCE_EXACT;
    expect(&p, "bitwise", LB_PASS, "");
}

static void an_overflow_that_saturates_is_told_from_nan_among_the_operands(void **state) {
    (void)state;
    static const char saturates[] = "{\"rule\": \"ulp\", \"specials\": \"saturate\"}";
    product p;
    uint8_t d[M * N];
    set_up(&p);
    for (size_t i = 0; i < M * K; i++) p.a[i] = 0x4100;                      /* 8 */
    for (size_t i = 0; i < K * N; i++) p.b[i] = 0x4100;                      /* 64 * 96 = 6144, above e4m3's 448 */
    for (size_t j = 0; j < N; j++) p.b[j] = (uint16_t)(j ? 0x4100 : 0x7fc0); /* NaN in the first column */
    for (size_t i = 0; i < K * N; i++)
        if (i % N == 1) p.b[i] = i == 1 ? 0x3f80 : 0; /* … and 8 in the second */
    memset(d, 0x7e, sizeof d);
    for (size_t i = 0; i < M; i++) d[i * N + 1] = 0x50; /* 8 */
    p.actual = lb_mat_of(lb_format_row(LB_E4M3), d, M, N);
    p.o.x.out = lb_format_row(LB_E4M3);
    lb_record *r = checked(&p, saturates);
    assert_true(r->verdict == LB_FAIL && r->counts.wrong == M && r->counts.saturated == M * (N - 2) && r->first.col == 0);
    lb_record_close(r);
    for (size_t i = 0; i < M; i++) d[i * N] = 0x7f;
    expect(&p, saturates, LB_PASS, "");
    expect(&p, "ulp", LB_FAIL, "wrong"); /* without the policy an overflow is NaN there */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correct_kernel_passes_and_a_lost_tail_fails_under_every_rule_that_can_see_it),
        cmocka_unit_test(the_plain_kernel_is_as_good_as_f32_sums_are),
        cmocka_unit_test(a_sample_is_judged_with_the_gauge_of_its_own_elements),
        cmocka_unit_test(flushed_inputs_are_allowed_where_the_contract_declares_them_and_counted_anyway),
        cmocka_unit_test(what_is_explained_is_what_is_checked_for_subnormal_operands_too),
        cmocka_unit_test(an_f64_reference_is_fit_for_gamma_and_unfit_for_bits),
        cmocka_unit_test(an_overflow_that_saturates_is_told_from_nan_among_the_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
