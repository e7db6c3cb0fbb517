/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ledger of an element's error adds up, and each entry is what it says. */
#include "test.h"

#include "lastbit/diagnose.h"
#include "lastbit/gemm.h"

#include <math.h>

enum { M = 5, N = 7, K = 70 };

typedef struct product {
    uint32_t wide_a[M * K], wide_b[K * N];
    uint16_t a[M * K], b[K * N], d[M * N];
    uint32_t c[M * N], u[M * N];
    lb_mat wa, wb;
    lb_case x;
    lb_unit unit;
} product;

static void fill(product *p) {
    memset(p, 0, sizeof *p);
    const lb_format *f32 = lb_format_row(LB_F32), *bf16 = lb_format_row(LB_BF16);
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", &p->unit, NULL), LB_OK);
    p->wa = lb_mat_of(f32, p->wide_a, M, K);
    p->wb = lb_mat_of(f32, p->wide_b, K, N);
    p->x = (lb_case){
        .op = "matmul", .a = lb_mat_of(bf16, p->a, M, K), .b = lb_mat_of(bf16, p->b, K, N), .c = lb_mat_of(f32, p->c, M, N), .out = bf16};
    lb_draw_mat(&p->wa, LB_DIST_NORMAL, 5, 1);
    lb_draw_mat(&p->wb, LB_DIST_NORMAL, 5, 2);
    lb_draw_mat(&p->x.c, LB_DIST_NORMAL, 5, 3);
    lb_mat_round(&p->wa, &p->x.a);
    lb_mat_round(&p->wb, &p->x.b);
    lb_mat u = lb_mat_of(f32, p->u, M, N), d = lb_mat_of(bf16, p->d, M, N);
    assert_int_equal(lb_gemm(&p->unit, &p->x.a, &p->x.b, &p->x.c, &u, NULL, NULL), LB_OK);
    lb_mat_round(&u, &d);
}

static double sum_of(const lb_ledger *l) {
    double sum = 0;
    for (int i = 0; i < LB_LEDGER_COUNT; i++) sum += l->entry[i];
    return sum;
}

static void a_units_own_output_has_nothing_unexplained_and_the_entries_add_up(void **state) {
    static product p;
    (void)state;
    fill(&p);
    for (size_t e = 0; e < M * N; e++) {
        lb_ledger l;
        assert_int_equal(lb_error_ledger(&p.x, &p.wa, &p.wb, &p.unit, e / N, e % N, p.d[e], &l, NULL), LB_OK);
        assert_true(l.entry[LB_LEDGER_UNEXPLAINED] == 0);
        assert_true(l.entry[LB_LEDGER_INPUTS] != 0 && l.entry[LB_LEDGER_PRODUCTS] == 0);
        assert_true(fabs(l.entry[LB_LEDGER_ACCUMULATION]) < 1e-4 && fabs(l.entry[LB_LEDGER_OUTPUT]) <= 0.51 * l.step);
        assert_true(fabs(sum_of(&l) - l.total) <= 1e-15 * (fabs(l.truth) + 1));
        assert_true(fabs(l.actual - l.truth - l.total) <= 1e-14 * (fabs(l.truth) + 1));
    }
}

static void a_wrong_element_is_unexplained_by_what_it_is_off(void **state) {
    static product p;
    lb_ledger l;
    (void)state;
    fill(&p);
    const double right = lb_to_double(p.x.out, p.d[9]);
    assert_int_equal(lb_error_ledger(&p.x, NULL, NULL, &p.unit, 1, 2, p.d[9] + 3, &l, NULL), LB_OK);
    assert_true(l.entry[LB_LEDGER_UNEXPLAINED] == lb_to_double(p.x.out, p.d[9] + 3) - right);
    assert_true(l.entry[LB_LEDGER_INPUTS] == 0);
    assert_int_equal(lb_error_ledger(&p.x, NULL, NULL, NULL, 1, 2, p.d[9] + 3, &l, NULL), LB_OK);
    assert_true(!l.has_unit && l.entry[LB_LEDGER_ACCUMULATION] == 0 && fabs(sum_of(&l) - l.total) <= 1e-15 * (fabs(l.truth) + 1));
}

static void what_cannot_be_added_up_is_an_error(void **state) {
    static product p;
    lb_ledger l;
    (void)state;
    fill(&p);
    assert_int_equal(lb_error_ledger(&p.x, NULL, NULL, NULL, M, 0, 0, &l, NULL), LB_E_SHAPE);
    assert_int_equal(lb_error_ledger(&p.x, &p.wb, NULL, NULL, 0, 0, 0, &l, NULL), LB_E_SHAPE);
    assert_int_equal(lb_error_ledger(&p.x, NULL, NULL, NULL, 0, 0, 0x7fc0, &l, NULL), LB_E_ARG);
    p.a[3] = 0x7f80;
    assert_int_equal(lb_error_ledger(&p.x, NULL, NULL, NULL, 0, 0, 0, &l, NULL), LB_E_ARG);
    assert_int_equal(lb_error_ledger(&p.x, NULL, NULL, NULL, 1, 0, 0, &l, NULL), LB_OK);
    assert_null(lb_ledger_name(LB_LEDGER_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_units_own_output_has_nothing_unexplained_and_the_entries_add_up),
        cmocka_unit_test(a_wrong_element_is_unexplained_by_what_it_is_off),
        cmocka_unit_test(what_cannot_be_added_up_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
