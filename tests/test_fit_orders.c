/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fit-schedule on sums by atomics: every element in its set, the order where there is one, and no claim where an element lies outside. */
#include "test.h"

#include "lastbit/refs.h"
#include "lastbit/schedule.h"

enum { M = 24, N = 40, K = 512, MOST_ORDERS = 4 };
static const char unit_name[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32";

typedef struct product {
    lb_unit u;
    uint16_t a[M * K], b[K * N];
    uint32_t d[MOST_ORDERS][M * N], mixed[M * N];
    lb_mat am, bm, dm;
} product;

/* The output whose element i came in order (i / same) mod count of the schedules. */
static product *make(const char *const *schedules, size_t count, size_t same) {
    static product x;
    assert_int_equal(lb_unit_find(unit_name, &x.u, NULL), LB_OK);
    x.am = lb_mat_of(lb_format_row(LB_F16), x.a, M, K);
    x.bm = lb_mat_of(lb_format_row(LB_F16), x.b, K, N);
    lb_draw_mat(&x.am, LB_DIST_NORMAL, 17, 1);
    lb_draw_mat(&x.bm, LB_DIST_NORMAL, 17, 2);
    for (size_t i = 0; i < count; i++) {
        lb_schedule s;
        lb_error err = {0};
        assert_int_equal(lb_schedule_parse(schedules[i], &s, NULL), LB_OK);
        const lb_format *out = s.out ? s.out : lb_format_row(LB_F32);
        lb_mat d = lb_mat_of(out, x.d[i], M, N);
        if (lb_gemm_scheduled(&x.u, &s, &x.am, &x.bm, NULL, &d, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        x.dm = lb_mat_of(out, x.mixed, M, N);
        for (size_t e = 0; e < M * N; e++)
            if (e / same % count == i) lb_store_code(lb_mat_at(&x.dm, e / N, e % N), out->bytes, lb_mat_code(&d, e / N, e % N));
    }
    return &x;
}

static lb_fit fitted(product *x, const char *base, bool all_units) {
    lb_schedule s;
    lb_error err = {0};
    lb_fit f;
    assert_int_equal(lb_schedule_parse(base, &s, NULL), LB_OK);
    const lb_fit_options o = {.unit = all_units ? NULL : &x->u, .base = &s};
    if (lb_fit_schedule(&x->am, &x->bm, NULL, &x->dm, &o, &f, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return f;
}

static const lb_fit_row *row_with(const lb_fit *f, const char *text) {
    lb_schedule s;
    assert_int_equal(lb_schedule_parse(text, &s, NULL), LB_OK);
    for (size_t i = 0; i < f->found_count; i++)
        if (lb_schedule_equal(&f->found[i].schedule, &s)) return &f->found[i];
    return NULL;
}

static const char *const orders_of_4[] = {"split-k=4,reduce=atomic,arrival=0.1.2.3", "split-k=4,reduce=atomic,arrival=3.2.1.0",
                                          "split-k=4,reduce=atomic,arrival=2.3.0.1", "split-k=4,reduce=atomic,arrival=3.1.0.2"};

static void orders_that_differ_from_element_to_element_are_within_any(void **state) {
    (void)state;
    product *x = make(orders_of_4, 4, 8);
    lb_fit f = fitted(x, "plain", true);
    assert_int_equal(f.verdict, LB_PASS);
    const lb_fit_row *row = row_with(&f, "split-k=4,reduce=atomic");
    assert_non_null(row);
    assert_true(row->any_order && row->compared == M * N && row->values > 1.5 && row->values < 5);
    assert_true(f.found_total < 5); /* few others hold all of these bits */
    assert_non_null(strstr(f.reason, "no fixed order"));
    lb_fit_close(&f);
}

static void one_order_for_all_is_named(void **state) {
    (void)state;
    product *x = make(orders_of_4 + 3, 1, 1);
    lb_fit f = fitted(x, "plain", false);
    assert_int_equal(f.verdict, LB_PASS);
    const lb_fit_row *row = row_with(&f, "split-k=4,reduce=atomic,arrival=1.3.0.2"); /* the first two may change places */
    assert_non_null(row);
    assert_false(row->any_order);
    lb_mat again = lb_mat_of(lb_format_row(LB_F32), x->d[1], M, N);
    assert_int_equal(lb_gemm_scheduled(&x->u, &row->schedule, &x->am, &x->bm, NULL, &again, NULL, NULL), LB_OK);
    assert_memory_equal(x->d[1], x->mixed, sizeof x->mixed);
    lb_fit_close(&f);
    const char *const of_8[] = {"split-k=8,reduce=atomic,arrival=4.1.0.7.2.3.6.5"};
    f = fitted(make(of_8, 1, 1), "plain", false); /* more parts than orders are searched for: within any */
    row = row_with(&f, "split-k=8,reduce=atomic");
    assert_non_null(row);
    assert_true(row->any_order);
    lb_fit_close(&f);
}

static void narrow_atomics_round_each_sum(void **state) {
    (void)state;
    const char *const narrow[] = {"split-k=3,reduce=atomic,arrival=0.2.1,partial=out,sum=out,out=bf16",
                                  "split-k=3,reduce=atomic,arrival=1.2.0,partial=out,sum=out,out=bf16",
                                  "split-k=3,reduce=atomic,arrival=0.1.2,partial=out,sum=out,out=bf16"};
    lb_fit f = fitted(make(narrow, 3, 5), "plain", false);
    assert_int_equal(f.verdict, LB_PASS);
    const lb_fit_row *row = row_with(&f, "split-k=3,reduce=atomic,partial=out,sum=out,out=bf16");
    assert_non_null(row);
    assert_true(row->any_order);
    lb_fit_close(&f);
}

static void an_element_outside_its_set_is_enough_to_refuse(void **state) {
    (void)state;
    product *x = make(orders_of_4, 4, 8);
    x->mixed[M * N / 2 + 3] ^= 0x40; /* 64 ulp */
    lb_fit f = fitted(x, "plain", true);
    assert_int_equal(f.verdict, LB_FAIL);
    assert_int_equal(f.found_total, 0);
    assert_non_null(strstr(f.reason, "in no order"));
    lb_fit_close(&f);
    x = make(orders_of_4, 4, 8);
    for (size_t i = 0; i < M * N; i++) x->mixed[i]++; /* one ulp everywhere */
    f = fitted(x, "plain", true);
    assert_int_equal(f.verdict, LB_FAIL);
    lb_fit_close(&f);
    x = make(orders_of_4, 4, 8);
    f = fitted(x, "split-k=3,reduce=atomic", true); /* the wrong count of parts */
    assert_int_equal(f.verdict, LB_FAIL);
    lb_fit_close(&f);
}

static void a_base_of_atomics_is_asked_about_alone(void **state) {
    (void)state;
    const char *const plain[] = {"split-k=4,alpha=0.3"};
    product *x = make(plain, 1, 1); /* ascending is one of the orders */
    lb_fit f = fitted(x, "reduce=atomic,alpha=0.3", true);
    assert_int_equal(f.verdict, LB_PASS);
    assert_non_null(row_with(&f, "split-k=4,reduce=atomic,arrival=0.1.2.3,c=last,alpha=0.3"));
    lb_fit_close(&f);
    f = fitted(x, "split-k=4,reduce=atomic,arrival=0.1.2.3,alpha=0.3", false); /* a named order is a fixed one */
    assert_int_equal(f.verdict, LB_PASS);
    assert_non_null(row_with(&f, "split-k=4,reduce=atomic,arrival=0.1.2.3,c=last,alpha=0.3"));
    lb_fit_close(&f);
}

static void sums_that_never_round_prove_nothing(void **state) {
    (void)state;
    product *x = make(orders_of_4, 1, 1);
    lb_draw_mat(&x->am, LB_DIST_INTEGER, 3, 1);
    lb_draw_mat(&x->bm, LB_DIST_INTEGER, 3, 2);
    assert_int_equal(lb_gemm(&x->u, &x->am, &x->bm, NULL, &x->dm, NULL, NULL), LB_OK);
    lb_fit f = fitted(x, "reduce=atomic", true);
    assert_int_equal(f.verdict, LB_UNPROVEN);
    lb_fit_close(&f);
    memset(x->mixed, 0, sizeof x->mixed);
    f = fitted(x, "reduce=atomic", true);
    assert_int_equal(f.verdict, LB_UNPROVEN);
    assert_non_null(strstr(f.reason, "all zeros"));
    lb_fit_close(&f);
}

/* Scales are known, how they apply is not. */
static void how_scales_apply_is_found(void **state) {
    (void)state;
    static float sa[M * 4], sb[4 * 3];
    const lb_mat sam = lb_mat_of(lb_format_row(LB_F32), sa, M, 4), sbm = lb_mat_of(lb_format_row(LB_F32), sb, 4, 3);
    static const char *const ways[] = {"promote=128,scale-block=1x16,scaling=product", "promote=128,scale-block=1x16,scaling=b-first-fma",
                                       "promote=128,scale-block=1x16"};
    for (size_t i = 0; i < M * 4; i++) sa[i] = (float)(0.5 + (double)(lb_random_u64(1, 1, i) % 1000) / 700);
    for (size_t i = 0; i < 4 * 3; i++) sb[i] = (float)(0.5 + (double)(lb_random_u64(1, 2, i) % 1000) / 700);
    for (size_t i = 0; i < 3; i++) {
        product *x = make(orders_of_4, 1, 1);
        lb_schedule s, base = {.scale_n = 16, .scale_m = 1, .scale_a = &sam, .scale_b = &sbm};
        lb_fit f;
        assert_int_equal(lb_schedule_parse(ways[i], &s, NULL), LB_OK);
        s.scale_a = &sam;
        s.scale_b = &sbm;
        assert_int_equal(lb_gemm_scheduled(&x->u, &s, &x->am, &x->bm, NULL, &x->dm, NULL, NULL), LB_OK);
        const lb_fit_options o = {.base = &base};
        assert_int_equal(lb_fit_schedule(&x->am, &x->bm, NULL, &x->dm, &o, &f, NULL), LB_OK);
        assert_int_equal(f.verdict, LB_PASS);
        assert_non_null(row_with(&f, ways[i]));
        assert_int_equal(f.found_total, 1);
        lb_fit_close(&f);
    }
}

/* One scale a row and a column: the product of both, or one after the other; promotion beyond K is no other candidate. */
static void how_scales_behind_the_sum_apply_is_found(void **state) {
    (void)state;
    static float sa[M], sb[N];
    const lb_mat sam = lb_mat_of(lb_format_row(LB_F32), sa, M, 1), sbm = lb_mat_of(lb_format_row(LB_F32), sb, 1, N);
    static const char *const ways[] = {"scale-block=1x1", "scale-block=1x1,scaling=a-first", "scale-block=1x1,scaling=b-first"};
    for (size_t i = 0; i < M; i++) sa[i] = (float)(0.5 + (double)(lb_random_u64(2, 1, i) % 1000) / 700);
    for (size_t i = 0; i < N; i++) sb[i] = (float)(0.5 + (double)(lb_random_u64(2, 2, i) % 1000) / 700);
    for (size_t i = 0; i < 3; i++) {
        product *x = make(orders_of_4, 1, 1);
        lb_schedule s, base = {.scale_n = 1, .scale_m = 1, .scale_a = &sam, .scale_b = &sbm};
        lb_fit f;
        x->am.cols = x->bm.rows = 100; /* less than a promotion */
        assert_int_equal(lb_schedule_parse(ways[i], &s, NULL), LB_OK);
        s.scale_a = &sam;
        s.scale_b = &sbm;
        assert_int_equal(lb_gemm_scheduled(&x->u, &s, &x->am, &x->bm, NULL, &x->dm, NULL, NULL), LB_OK);
        const lb_fit_options o = {.unit = &x->u, .base = &base};
        assert_int_equal(lb_fit_schedule(&x->am, &x->bm, NULL, &x->dm, &o, &f, NULL), LB_OK);
        assert_non_null(row_with(&f, ways[i]));
        assert_int_equal(f.found_total, 1);
        lb_fit_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_that_differ_from_element_to_element_are_within_any),
        cmocka_unit_test(one_order_for_all_is_named),
        cmocka_unit_test(narrow_atomics_round_each_sum),
        cmocka_unit_test(an_element_outside_its_set_is_enough_to_refuse),
        cmocka_unit_test(a_base_of_atomics_is_asked_about_alone),
        cmocka_unit_test(sums_that_never_round_prove_nothing),
        cmocka_unit_test(how_scales_apply_is_found),
        cmocka_unit_test(how_scales_behind_the_sum_apply_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
