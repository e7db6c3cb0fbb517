/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Correct kernels, ten thousand runs of each, under rules that state how often they refuse one. Seeds are fixed: philox-2011. */
#include "test.h"

#include "lastbit/gemm.h"
#include "m16_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 4, N = 8, RUNS = 10000, MOST_K = 512 };

typedef enum draw { CENTRED, POSITIVE, LOUD_COLUMN, NARROW } draw;

typedef struct run {
    size_t n, k;
    float a[M * MOST_K], b[N * MOST_K]; /* [M][k], [N][k] */
    uint16_t a_codes[M * MOST_K], b_codes[N * MOST_K];
    uint32_t actual[M * N], reference[M * N];
    double gauge[M * N];
} run;

/* Operands of one run: 24 random bits each, a triangle around 0, or 0 … 1; for a unit those of bf16. */
static void fill(float *x, uint16_t *codes, size_t count, uint64_t *state, bool positive) {
    for (size_t i = 0; i < count; i++) {
        const float u = (float)(lcg(state) >> 8) * 0x1p-24f, v = (float)(lcg(state) >> 8) * 0x1p-24f;
        x[i] = positive ? u : u - v;
        if (!codes) continue;
        codes[i] = to_bf16(x[i]);
        x[i] = bf16_float(codes[i]);
    }
}

static void draw_operands(run *r, draw how, bool for_unit, uint64_t seed) {
    uint64_t state = lb_random_u64(seed, 1, 0);
    r->n = how == NARROW ? 1 : N; /* rows of one element have no RMS but their own */
    fill(r->a, for_unit ? r->a_codes : NULL, M * r->k, &state, how == POSITIVE);
    fill(r->b, for_unit ? r->b_codes : NULL, r->n * r->k, &state, how == POSITIVE);
    for (size_t p = 0; how == LOUD_COLUMN && p < r->k; p++) r->b[p] *= 64;
}

static void fill_reference(run *r) {
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < r->n; j++) {
            double sum = 0, gauge = 0;
            for (size_t p = 0; p < r->k; p++) {
                const double x = (double)r->a[i * r->k + p] * (double)r->b[j * r->k + p];
                sum += x;
                gauge += fabs(x);
            }
            const float rounded = (float)sum;
            memcpy(&r->reference[i * r->n + j], &rounded, sizeof rounded);
            r->gauge[i * r->n + j] = gauge;
        }
    }
}

/* f32 sums in a random order, another for each run: sequential, or 16 lanes and a tree. */
static void add_in_some_order(run *r, uint64_t seed) {
    size_t order[MOST_K];
    uint64_t state = lb_random_u64(seed, 2, 0);
    const size_t lanes = lb_random_u64(seed, 3, 0) & 1 ? 16 : 1;
    for (size_t p = 0; p < r->k; p++) {
        const size_t q = lcg(&state) % (p + 1);
        order[p] = order[q];
        order[q] = p;
    }
    for (size_t at = 0; at < M * r->n; at++) {
        const float *a = r->a + at / r->n * r->k, *b = r->b + at % r->n * r->k;
        float lane[16] = {0};
        for (size_t p = 0; p < r->k; p++) lane[p % lanes] += a[order[p]] * b[order[p]];
        for (size_t half = lanes / 2; half; half /= 2)
            for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
        memcpy(&r->actual[at], &lane[0], sizeof lane[0]);
    }
}

static void add_as_unit(run *r, const lb_unit *u) {
    const lb_format *bf16 = lb_format_row(LB_BF16), *f32 = lb_format_row(LB_F32);
    const lb_mat a = lb_mat_of(bf16, r->a_codes, M, r->k), b = lb_mat_transposed(lb_mat_of(bf16, r->b_codes, r->n, r->k));
    lb_mat d = lb_mat_of(f32, r->actual, M, r->n);
    lb_error err;
    if (lb_gemm(u, &a, &b, NULL, &d, NULL, &err) != LB_OK) fail_msg("%s", err.message);
}

/* Whether the run fails; *worst grows to the largest share of its limit that an element takes. */
static bool fails(const run *r, const lb_contract *c, bool with_gauge, double *worst) {
    const lb_format *f32 = lb_format_row(LB_F32);
    const lb_grade_input in = {.actual = lb_mat_of(f32, r->actual, M, r->n),
                               .reference = lb_mat_of(f32, r->reference, M, r->n),
                               .contract = c,
                               .k = (double)r->k,
                               .gauge = with_gauge ? r->gauge : NULL};
    lb_record *record;
    assert_int_equal(lb_record_open(&record, NULL), LB_OK);
    assert_int_equal(lb_grade(&in, record, NULL), LB_OK);
    if (record->worst.present) *worst = fmax(*worst, record->worst.abs_error / record->worst.bound);
    const bool failed = record->verdict == LB_FAIL;
    lb_record_close(record);
    return failed;
}

/* What the rule states is an upper limit, so as many as it states may fail, and a floor that nobody comes near would state nothing. */
static void simulate(const char *name, const char *rule, const char *unit, size_t k, draw how, bool with_gauge, size_t most, double near) {
    run *r = calloc(1, sizeof *r);
    lb_contract *c;
    lb_unit u;
    size_t failed = 0;
    double worst = 0;
    assert_non_null(r);
    assert_int_equal(lb_contract_open(rule, &c, NULL), LB_OK);
    if (unit) assert_int_equal(lb_unit_find(unit, &u, NULL), LB_OK);
    r->k = k;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        draw_operands(r, how, unit != NULL, seed);
        fill_reference(r);
        if (unit)
            add_as_unit(r, &u);
        else
            add_in_some_order(r, seed);
        failed += fails(r, c, with_gauge, &worst);
    }
    printf("%s: %s refuses %zu of %d correct runs, worst element at %.2f of its limit\n", name, rule, failed, RUNS, worst);
    if (failed > most || worst < near)
        fail_msg("%s: stated at most %zu, seen %zu; worst at %g, wanted %g", name, most, failed, worst, near);
    lb_contract_close(c);
    free(r);
}

static void f32_sums_in_random_orders_fail_no_oftener_than_stated(void **state) {
    (void)state;
    simulate("random order", "statistical:1e-2", NULL, 128, CENTRED, true, 100, 0.3);
    simulate("random order, no gauge", "statistical:1e-6", NULL, 128, CENTRED, false, 0, 0.2);
    simulate("positive terms", "statistical:1e-2", NULL, 128, POSITIVE, true, 100, 0.1);
    simulate("a loud column", "statistical:1e-2", NULL, 64, LOUD_COLUMN, true, 100, 0.3);
    simulate("rows of one element", "statistical:1e-2", NULL, 128, NARROW, true, 100, 0.3);
}

static void a_truncating_unit_fails_no_oftener_than_stated(void **state) {
    (void)state;
    simulate("sm_80 bf16", "statistical-rz:1e-2", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", 64, CENTRED, true, 100, 0.1);
    simulate("sm_80 bf16, positive", "statistical-rz:1e-2", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", 64, POSITIVE, true, 100, 0.1);
}

static void m16_tc_refuses_none_of_these_runs_either(void **state) {
    (void)state;
    simulate("random order", "m16-tc", NULL, 128, CENTRED, false, 0, 0.02);
    simulate("sm_80 bf16", "m16-tc", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", 64, CENTRED, false, 0, 0.02);
}

/* One f32 that is cut to 24 bits after each 8 products: what makes truncation drift, in its plainest form. */
static double truncating_sum(uint64_t seed, size_t k, double *exact) {
    double sum = 0;
    uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    *exact = 0;
    for (size_t p = 0; p < k; p += 8) {
        for (int l = 0; l < 8; l++) {
            s = s * UINT64_C(6364136223846793005) + 1;
            const double x = (double)(int32_t)(s >> 32) * 0x1p-31; /* a multiple of 2^-31: every sum but the cut one is exact */
            sum += x;
            *exact += x;
        }
        int e;
        const double m = frexp(sum, &e);
        sum = ldexp(trunc(m * 0x1p24), e - 24);
    }
    return sum;
}

static void truncation_over_a_long_k_needs_the_bias_that_a_root_of_k_has_not(void **state) {
    (void)state;
    enum { COUNT = 512, K = 262144 };
    static uint32_t actual[COUNT], reference[COUNT];
    const lb_format *f32 = lb_format_row(LB_F32);
    for (size_t i = 0; i < COUNT; i++) {
        double exact;
        actual[i] = (uint32_t)lb_from_double(f32, truncating_sum(i + 1, K, &exact));
        reference[i] = (uint32_t)lb_from_double(f32, exact);
    }
    static const struct {
        int line;
        const char *rule;
        bool passes;
    } rows[] = {{__LINE__, "m16-tc", false}, {__LINE__, "statistical", false}, {__LINE__, "statistical-rz", true}};
    for (size_t i = 0; i < 3; i++) {
        const lb_grade_input in = {.actual = lb_mat_of(f32, actual, 1, COUNT), .reference = lb_mat_of(f32, reference, 1, COUNT), .k = K};
        lb_record *r;
        assert_int_equal(lb_record_open(&r, NULL), LB_OK);
        assert_int_equal(lb_grade_by(rows[i].rule, &in, r, NULL), LB_OK);
        printf("k = 262144, truncating: %s refuses %d of %d\n", rows[i].rule, (int)r->counts.wrong, COUNT);
        EXPECT_CODE(rows[i].line, r->verdict == LB_PASS, rows[i].passes);
        lb_record_close(r);
    }
}

static void the_rate_of_a_run_is_shared_by_its_elements_and_cases(void **state) {
    (void)state;
    lb_contract *c;
    double each;
    const char *text = "{\"rule\": \"statistical\", \"bound\": {\"false_alarm\": 1e-6, \"cases\": 50}}";
    assert_int_equal(lb_contract_from_json(text, strlen(text), "x", &c, NULL), LB_OK);
    assert_true(lb_contract_false_alarm(c, 1000, &each) == 1e-6 && fabs(each - 2e-11) < 1e-20); /* 1e-6 / (1000 * 50) */
    lb_contract_close(c);
    assert_true(isnan(lb_contract_false_alarm(lb_contract_row(0), 1000, &each)) && isnan(each)); /* m16-tc: measured, not stated */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_sums_in_random_orders_fail_no_oftener_than_stated),
        cmocka_unit_test(a_truncating_unit_fails_no_oftener_than_stated),
        cmocka_unit_test(m16_tc_refuses_none_of_these_runs_either),
        cmocka_unit_test(truncation_over_a_long_k_needs_the_bias_that_a_root_of_k_has_not),
        cmocka_unit_test(the_rate_of_a_run_is_shared_by_its_elements_and_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
