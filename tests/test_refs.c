/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The reference product against exact sums of its own, and the draws. */
#include "test.h"

#include "lastbit/refs.h"
#include "formats/exact_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if LB_HAVE_MPFR
#include <mpfr.h>
#endif

enum { M = 6, N = 9, K = 131 };

typedef struct product {
    uint64_t a[M * K], b[K * N], c[M * N], d[M * N], d2[M * N];
    lb_case x;
    lb_mat out;
} product;

static void fill(product *p, lb_format_id in, lb_format_id out, lb_dist dist, uint64_t seed, bool with_c) {
    memset(p, 0, sizeof *p);
    p->x = (lb_case){.op = "matmul",
                     .a = lb_mat_of(lb_format_row(in), p->a, M, K),
                     .b = lb_mat_of(lb_format_row(in), p->b, K, N),
                     .out = lb_format_row(out)};
    lb_draw_mat(&p->x.a, dist, seed, 1);
    lb_draw_mat(&p->x.b, dist, seed, 2);
    if (with_c) {
        p->x.c = lb_mat_of(lb_format_row(LB_F32), p->c, M, N);
        lb_draw_mat(&p->x.c, dist, seed, 3);
    }
    p->out = lb_mat_of(p->x.out, p->d, M, N);
}

static void reference(const product *p, lb_reference_mode mode, lb_mat *out, double *error) {
    lb_error err = {0};
    if (lb_reference_matmul(&p->x, mode, NULL, 0, NULL, 0, out, error, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
}

static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_UNIFORM, LB_DIST_INTEGER, LB_DIST_SPECIAL};
static const lb_format_id ins[] = {LB_F16, LB_BF16, LB_F32, LB_E4M3, LB_E5M2, LB_TF32, LB_F64};
static const lb_format_id outs[] = {LB_F32, LB_BF16, LB_F16, LB_F64, LB_E4M3};

static void auto_and_exact_give_the_same_bits(void **state) {
    (void)state;
    static product p;
    for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++)
        for (size_t o = 0; o < sizeof outs / sizeof outs[0]; o++)
            for (size_t t = 0; t < sizeof dists / sizeof dists[0]; t++) {
                fill(&p, ins[i], outs[o], dists[t], 3, t % 2);
                lb_mat exact = lb_mat_of(p.x.out, p.d2, M, N);
                reference(&p, LB_REFERENCE_AUTO, &p.out, NULL);
                reference(&p, LB_REFERENCE_EXACT, &exact, NULL);
                for (size_t r = 0; r < M; r++)
                    for (size_t c = 0; c < N; c++) EXPECT_CODE(__LINE__, lb_mat_code(&p.out, r, c), lb_mat_code(&exact, r, c));
            }
}

#if LB_HAVE_MPFR
static void the_exact_reference_is_mpfrs_sum_rounded_once(void **state) {
    (void)state;
    static product p;
    mpfr_t sum, x;
    mpfr_inits2(4400, sum, x, (mpfr_ptr)0);
    for (size_t t = 0; t < 4; t++) {
        for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++) {
            fill(&p, ins[i], LB_F64, dists[t], 5, true);
            reference(&p, LB_REFERENCE_AUTO, &p.out, NULL);
            for (size_t r = 0; r < M; r++) {
                for (size_t c = 0; c < N; c++) {
                    mpfr_set_d(sum, lb_to_double(p.x.c.format, lb_mat_code(&p.x.c, r, c)), MPFR_RNDN);
                    for (size_t k = 0; k < K; k++) {
                        mpfr_set_d(x, lb_to_double(p.x.a.format, lb_mat_code(&p.x.a, r, k)), MPFR_RNDN);
                        mpfr_mul_d(x, x, lb_to_double(p.x.b.format, lb_mat_code(&p.x.b, k, c)), MPFR_RNDN);
                        mpfr_add(sum, sum, x, MPFR_RNDN);
                    }
                    const double got = lb_to_double(p.out.format, lb_mat_code(&p.out, r, c)), want = mpfr_get_d(sum, MPFR_RNDN);
                    if (got != want) fail_msg("%s dist %zu at %zu,%zu: got %a, MPFR says %a", p.x.a.format->name, t, r, c, got, want);
                }
            }
        }
    }
    mpfr_clears(sum, x, (mpfr_ptr)0);
}
#endif

static void the_f64_reference_stays_within_the_bound_that_it_states(void **state) {
    (void)state;
    static product p;
    double error[M * N];
    for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++) {
        fill(&p, ins[i], LB_F64, LB_DIST_WIDE, 8, true);
        lb_mat exact = lb_mat_of(p.x.out, p.d2, M, N);
        reference(&p, LB_REFERENCE_F64, &p.out, error);
        reference(&p, LB_REFERENCE_EXACT, &exact, NULL);
        for (size_t r = 0; r < M; r++)
            for (size_t c = 0; c < N; c++) {
                const double got = lb_to_double(p.out.format, lb_mat_code(&p.out, r, c)),
                             true_value = lb_to_double(exact.format, lb_mat_code(&exact, r, c));
                assert_true(error[r * N + c] > 0 && isfinite(error[r * N + c]));
                assert_true(fabs(got - true_value) <= error[r * N + c] + fabs(true_value) * 0x1p-53);
            }
    }
}

static void a_cancelled_sum_is_found_exactly(void **state) {
    (void)state;
    /* 2^100 - 2^100 + 2^-100: every f64 order but one gives 0 */
    uint32_t a[4] = {0x71800000, 0xf1800000, 0x0d800000, 0}, b[4] = {0x3f800000, 0x3f800000, 0x3f800000, 0}, d[1];
    const lb_case x = {.op = "matmul",
                       .a = lb_mat_of(lb_format_row(LB_F32), a, 1, 4),
                       .b = lb_mat_of(lb_format_row(LB_F32), b, 4, 1),
                       .out = lb_format_row(LB_F32)};
    lb_mat out = lb_mat_of(x.out, d, 1, 1);
    assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, &out, NULL, NULL, NULL), LB_OK);
    EXPECT_CODE(__LINE__, d[0], 0x0d800000);
}

static void special_values_follow_ieee(void **state) {
    (void)state;
    static const struct {
        int line;
        uint32_t a[2], b[2], want;
    } rows[] = {
        {__LINE__, {0x7f800000, 0x3f800000}, {0x3f800000, 0x3f800000}, 0x7f800000}, /* Inf + 1 */
        {__LINE__, {0x7f800000, 0x7f800000}, {0x3f800000, 0xbf800000}, 0x7fc00000}, /* Inf - Inf */
        {__LINE__, {0x7f800000, 0x3f800000}, {0, 0x3f800000}, 0x7fc00000},          /* Inf * 0 */
        {__LINE__, {0x7fc00001, 0}, {0, 0}, 0x7fc00000},                            /* NaN * 0 */
        {__LINE__, {0xff800000, 0x7f7fffff}, {0x3f800000, 0x7f7fffff}, 0xff800000}, /* -Inf + huge */
        {__LINE__, {0x7f7fffff, 0}, {0x40000000, 0}, 0x7f800000},                   /* overflow */
        {__LINE__, {0, 0}, {0x80000000, 0}, 0},                                     /* an exact zero */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t a[2], b[2], d = 1;
        const lb_case x = {.op = "matmul",
                           .a = lb_mat_of(lb_format_row(LB_F32), a, 1, 2),
                           .b = lb_mat_of(lb_format_row(LB_F32), b, 2, 1),
                           .out = lb_format_row(LB_F32)};
        lb_mat out = lb_mat_of(x.out, &d, 1, 1);
        memcpy(a, rows[i].a, sizeof a);
        memcpy(b, rows[i].b, sizeof b);
        assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, &out, NULL, NULL, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, d, rows[i].want);
    }
}

static void chosen_rows_and_columns_and_a_transposed_b_are_the_same_elements(void **state) {
    (void)state;
    static product p, q;
    const size_t rows[] = {1, 4}, cols[] = {0, 3, 8};
    fill(&p, LB_BF16, LB_F32, LB_DIST_NORMAL, 2, true);
    q = p;
    q.x.b = lb_mat_of(p.x.b.format, q.b, N, K);
    for (size_t k = 0; k < K; k++)
        for (size_t c = 0; c < N; c++) lb_store_code(lb_mat_at(&q.x.b, c, k), 2, lb_mat_code(&p.x.b, k, c));
    q.x.b_transposed = true;
    reference(&p, LB_REFERENCE_AUTO, &p.out, NULL);
    uint32_t some[6];
    lb_mat out = lb_mat_of(p.x.out, some, 2, 3);
    assert_int_equal(lb_reference_matmul(&q.x, LB_REFERENCE_AUTO, rows, 2, cols, 3, &out, NULL, NULL, NULL), LB_OK);
    for (size_t r = 0; r < 2; r++)
        for (size_t c = 0; c < 3; c++) EXPECT_CODE(__LINE__, lb_mat_code(&out, r, c), lb_mat_code(&p.out, rows[r], cols[c]));
}

static void disagreeing_shapes_are_named_and_tb_is_suggested(void **state) {
    (void)state;
    uint32_t s[64] = {0};
    lb_error err;
    lb_case x = {.op = "matmul",
                 .a = lb_mat_of(lb_format_row(LB_F32), s, 2, 8),
                 .b = lb_mat_of(lb_format_row(LB_F32), s, 4, 8),
                 .out = lb_format_row(LB_F32)};
    assert_int_equal(lb_case_check(&x, &err), LB_E_SHAPE);
    assert_non_null(strstr(err.message, "--tb"));
    x.b_transposed = true;
    assert_int_equal(lb_case_check(&x, &err), LB_OK);
    x.c = lb_mat_of(lb_format_row(LB_F32), s, 2, 3);
    assert_int_equal(lb_case_check(&x, &err), LB_E_SHAPE);
}

/* ---- draws -------------------------------------------------------------------------------------------------------------- */

static void philox_gives_the_published_known_answers(void **state) {
    (void)state;
    static const struct {
        int line;
        uint32_t counter[4], key[2], want[4];
    } rows[] = {
        /* source: philox-2011, its known-answer file */
        {__LINE__, {0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {__LINE__, {~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {__LINE__,
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t out[4];
        lb_philox4x32(rows[i].counter, rows[i].key, out);
        for (int j = 0; j < 4; j++) EXPECT_CODE(rows[i].line, out[j], rows[i].want[j]);
    }
}

static void draws_are_pinned_finite_where_they_should_be_and_special_where_they_must(void **state) {
    (void)state;
    unsigned seen = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        for (size_t f = 0; f < sizeof ins / sizeof ins[0]; f++) {
            for (lb_dist d = 0; d < LB_DIST_SPECIAL; d++)
                assert_true(lb_code_class(lb_format_row(ins[f]), lb_draw(lb_format_row(ins[f]), d, 1, 1, i)) <= LB_FINITE);
        }
        seen |= 1u << lb_code_class(lb_format_row(LB_F16), lb_draw(lb_format_row(LB_F16), LB_DIST_SPECIAL, 1, 1, i));
    }
    assert_int_equal(seen, 15); /* zero, finite, Inf and NaN */
    double mean = 0, square = 0;
    enum { COUNT = 100000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        const double x = lb_to_double(lb_format_row(LB_F32), lb_draw(lb_format_row(LB_F32), LB_DIST_NORMAL, 4, 1, i));
        mean += x / COUNT;
        square += x * x / COUNT;
    }
    assert_true(fabs(mean) < 0.02 && fabs(square - 1) < 0.02);
    EXPECT_CODE(__LINE__, lb_draw(lb_format_row(LB_BF16), LB_DIST_NORMAL, 1, 1, 0),
                lb_draw(lb_format_row(LB_BF16), LB_DIST_NORMAL, 1, 1, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_and_exact_give_the_same_bits),
#if LB_HAVE_MPFR
        cmocka_unit_test(the_exact_reference_is_mpfrs_sum_rounded_once),
#endif
        cmocka_unit_test(the_f64_reference_stays_within_the_bound_that_it_states),
        cmocka_unit_test(a_cancelled_sum_is_found_exactly),
        cmocka_unit_test(special_values_follow_ieee),
        cmocka_unit_test(chosen_rows_and_columns_and_a_transposed_b_are_the_same_elements),
        cmocka_unit_test(disagreeing_shapes_are_named_and_tb_is_suggested),
        cmocka_unit_test(philox_gives_the_published_known_answers),
        cmocka_unit_test(draws_are_pinned_finite_where_they_should_be_and_special_where_they_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
