/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parity document of seed-002 pins: unit values of its operators, and its table of shapes, seeds and tolerances. Each value is
 * asked of the truth and of every replay. */
#include "ops_help.h"

#include <string.h>

/* Output 0 of the truth (order -1) or of a replay, as doubles. free() */
static double *answer(int line, lb_op_case *x, int order) {
    const size_t n = lb_array_count(&x->out[0]);
    double *y = malloc(n * sizeof *y);
    if (order < 0) {
        lb_op_truth *t = truth_of(line, x, LB_FUNCTIONS_IEEE);
        memcpy(y, t->value[0], n * sizeof *y);
        lb_op_truth_close(t);
    } else {
        replay(line, x, (lb_replay_order)order);
        for (size_t i = 0; i < n; i++) y[i] = output(x, 0, i);
    }
    return y;
}

#define FOR_EACH_ANSWER(x, y)                                                                                                              \
    for (int order = -1; order < LB_REPLAY_COUNT; order++)                                                                                 \
        for (double *y = answer(__LINE__, x, order); y; free(y), y = NULL)

#define EXPECT_NEAR(got, want, within)                                                                                                     \
    do {                                                                                                                                   \
        const double got_ = (got), want_ = (want);                                                                                         \
        if (!(fabs(got_ - want_) <= (within))) fail_msg("%s:%d: got %.9g, want %.9g", __FILE__, __LINE__, got_, want_);                    \
    } while (0)

#define GIVEN(text, ...) given_case(__LINE__, text, (const double *const[]){__VA_ARGS__})
#define VALUES           (const double[])

static void gelu_has_its_three_points(void **state) {
    (void)state;
    lb_op_case *x = GIVEN("op=gelu n=3", VALUES{0, 1, -1});
    FOR_EACH_ANSWER(x, y) {
        assert_true(y[0] == 0);
        EXPECT_NEAR(y[1], 0.841192, 1e-6);
        EXPECT_NEAR(y[2], -0.158808, 1e-6);
    }
    lb_op_case_close(x);
}

static void softmax_sums_to_one_and_keeps_order(void **state) {
    (void)state;
    lb_op_case *x = GIVEN("op=softmax rows=1 d=4", VALUES{1, 2, 3, 4});
    FOR_EACH_ANSWER(x, y) {
        EXPECT_NEAR(y[0] + y[1] + y[2] + y[3], 1, 1e-6);
        assert_true(y[0] < y[1] && y[1] < y[2] && y[2] < y[3]);
    }
    lb_op_case_close(x);
}

static void layernorm_has_mean_zero_and_variance_one(void **state) {
    (void)state;
    double ones[64], zeros[64] = {0}, in[16 * 64];
    lb_op_case *drawn = open_case(__LINE__, "op=layernorm seed=4");
    for (size_t i = 0; i < 64; i++) ones[i] = 1;
    for (size_t i = 0; i < 16 * 64; i++) in[i] = (double)((const float *)drawn->in[0].codes)[i];
    lb_op_case *x = GIVEN("op=layernorm rows=16 d=64", in, ones, zeros);
    FOR_EACH_ANSWER(x, y) {
        for (size_t row = 0; row < 16; row++) {
            double mean = 0, square = 0;
            for (size_t i = 0; i < 64; i++) {
                mean += y[row * 64 + i] / 64;
                square += y[row * 64 + i] * y[row * 64 + i] / 64;
            }
            EXPECT_NEAR(mean, 0, 1e-6);
            EXPECT_NEAR(square - mean * mean, 1, 1e-3);
        }
    }
    lb_op_case_close(x);
    lb_op_case_close(drawn);
}

static void rmsnorm_of_three_and_four(void **state) {
    (void)state;
    lb_op_case *x = GIVEN("op=rmsnorm rows=1 d=2 eps=0", VALUES{3, 4}, VALUES{1, 1});
    FOR_EACH_ANSWER(x, y) {
        EXPECT_NEAR(y[0], 3 / sqrt(12.5), 1e-6);
        EXPECT_NEAR(y[1], 4 / sqrt(12.5), 1e-6);
    }
    lb_op_case_close(x);
}

static void rope_keeps_norms_and_position_zero(void **state) {
    (void)state;
    lb_op_case *x = open_case(__LINE__, "op=rope seed=6 magnitude=50");
    const float *in = x->in[0].codes;
    FOR_EACH_ANSWER(x, y) {
        for (size_t i = 0; i < 64; i++) assert_true(y[i] == (double)in[i]); /* row 0 stands at position 0 */
        for (size_t row = 0; row < 8; row++) {
            double before = 0, after = 0;
            for (size_t i = row * 64; i < row * 64 + 64; i++) {
                before += (double)in[i] * (double)in[i];
                after += y[i] * y[i];
            }
            EXPECT_NEAR(sqrt(after) / sqrt(before), 1, 1e-5);
        }
    }
    lb_op_case_close(x);
}

static void attention_over_equal_keys_is_the_mean(void **state) {
    (void)state;
    lb_op_case *x = GIVEN("op=attention m=1 seq=4 d=2", VALUES{1, 2}, VALUES{3, 1, 3, 1, 3, 1, 3, 1}, VALUES{1, 10, 2, 20, 3, 30, 4, 40});
    FOR_EACH_ANSWER(x, y) {
        EXPECT_NEAR(y[0], 2.5, 1e-6);
        EXPECT_NEAR(y[1], 25, 1e-5);
    }
    lb_op_case_close(x);
}

static void the_first_causal_query_sees_key_zero_alone(void **state) {
    (void)state;
    lb_op_case *x = open_case(__LINE__, "op=attention m=4 seq=4 d=32 causal=1 seed=8");
    FOR_EACH_ANSWER(x, y) {
        for (size_t i = 0; i < 32; i++) assert_true(y[i] == (double)((const float *)x->in[2].codes)[i]);
    }
    lb_op_case_close(x);
}

static void products_by_hand(void **state) {
    (void)state;
    lb_op_case *x = GIVEN("op=matmul m=2 k=2 n=2", VALUES{1, 0, 0, 1}, VALUES{5, -6, 7, 8});
    FOR_EACH_ANSWER(x, y) assert_true(y[0] == 5 && y[1] == -6 && y[2] == 7 && y[3] == 8);
    lb_op_case_close(x);
    x = GIVEN("op=matmul m=2 k=2 n=2", VALUES{1, 2, 3, 4}, VALUES{5, 6, 7, 8});
    FOR_EACH_ANSWER(x, y) assert_true(y[0] == 19 && y[1] == 22 && y[2] == 43 && y[3] == 50);
    lb_op_case_close(x);
    x = GIVEN("op=linear m=1 k=3 n=2", VALUES{1, 2, 3}, VALUES{1, 0, -1, 2, 1, 0}, VALUES{0.5, -1});
    FOR_EACH_ANSWER(x, y) assert_true(y[0] == -1.5 && y[1] == 3);
    lb_op_case_close(x);
    x = GIVEN("op=dequant_w8 rows=2 cols=2", VALUES{-127, 2, 3, 127}, VALUES{0.5, 2});
    FOR_EACH_ANSWER(x, y) assert_true(y[0] == -63.5 && y[1] == 1 && y[2] == 6 && y[3] == 254);
    lb_op_case_close(x);
}

static void a_cache_is_written_exactly_where_it_says(void **state) {
    (void)state;
    const double *const in[] = {VALUES{0, 0, 1, 1, 2, 2, 3, 3}, VALUES{7, 8, 9, 10}};
    lb_op_case *x = given_case(__LINE__, "op=kv_write len=4 d=2 at=1 rows=2", in);
    FOR_EACH_ANSWER(x, y) assert_memory_equal(y, (VALUES{0, 0, 7, 8, 9, 10, 3, 3}), 8 * sizeof(double));
    lb_op_case_close(x);
    x = given_case(__LINE__, "op=kv_ring len=4 d=2 at=7 rows=2", in);
    FOR_EACH_ANSWER(x, y) assert_memory_equal(y, (VALUES{9, 10, 1, 1, 2, 2, 7, 8}), 8 * sizeof(double));
    lb_op_case_close(x);
}

/* Heads one by one are attention over the head's columns. */
static void heads_are_attention_each(void **state) {
    (void)state;
    lb_op_case *x = open_case(__LINE__, "op=mha seq=7 heads=3 kv_heads=3 d=8 seed=12");
    for (size_t h = 0; h < 3; h++) {
        double part[3][7 * 8];
        for (size_t t = 0; t < 3; t++)
            for (size_t i = 0; i < 7 * 8; i++) part[t][i] = (double)((const float *)x->in[t].codes)[i / 8 * 24 + h * 8 + i % 8];
        lb_op_case *one = GIVEN("op=attention m=7 seq=7 d=8 causal=1", part[0], part[1], part[2]);
        for (int order = -1; order < LB_REPLAY_COUNT; order++) {
            double *all = answer(__LINE__, x, order), *alone = answer(__LINE__, one, order);
            for (size_t i = 0; i < 7 * 8; i++) assert_true(all[i / 8 * 24 + h * 8 + i % 8] == alone[i]);
            free(all);
            free(alone);
        }
        lb_op_case_close(one);
    }
    lb_op_case_close(x);
}

/* tanh from exp(2u) without a clamp is Inf / Inf above u = 44.4; a clamp at 15 changes no f32 result. */
static void an_unclamped_tanh_is_found_and_a_clamped_one_is_not(void **state) {
    (void)state;
    lb_op_case *x = open_case(__LINE__, "op=gelu n=15360 magnitude=12 seed=123");
    const float *in = x->in[0].codes;
    lb_op_truth *t = truth_of(__LINE__, x, LB_FUNCTIONS_OPENCL);
    size_t naive_wrong = 0, naive_nan = 0, clamped_wrong = 0;
    for (size_t i = 0; i < 15360; i++) {
        const float u = 0.7978846f * (in[i] + 0.044715f * in[i] * in[i] * in[i]), v = u > 15 ? 15 : u < -15 ? -15 : u;
        const float e = (float)exp((double)(2 * u)), tame = (float)exp((double)(2 * v));
        const float naive = 0.5f * in[i] * (1 + (e - 1) / (e + 1)), clamped = 0.5f * in[i] * (1 + (tame - 1) / (tame + 1));
        set_output(x, 0, i, (double)naive);
        naive_nan += isnan(naive);
        naive_wrong += lb_op_judge(t, x, 0, i, NULL) == LB_OP_WRONG && isnan(naive);
        set_output(x, 0, i, (double)clamped);
        clamped_wrong += lb_op_judge(t, x, 0, i, NULL) == LB_OP_WRONG && fabsf(u) > 1; /* nearer to 0 this tanh is coarse */
        if (fabsf(u) > 15) assert_true((float)tanh((double)u) == (float)tanh((double)v));
    }
    assert_true(naive_nan > 100);
    assert_int_equal(naive_wrong, naive_nan);
    assert_int_equal(clamped_wrong, 0);
    lb_op_truth_close(t);
    lb_op_case_close(x);
}

/* ---- the document's table ------------------------------------------------------------------------------------------------------ */

static const struct {
    int line;
    const char *text;
    double tolerance;
    bool full; /* with LB_FULL=1 only: 38 million products a time */
} parity[] = {
    {__LINE__, "op=matmul m=32 k=64 n=48 seed=1", 1e-3, false},
    {__LINE__, "op=linear m=16 k=64 n=40 seed=2", 1e-3, false},
    {__LINE__, "op=gelu n=4096 seed=3", 1e-5, false},
    {__LINE__, "op=layernorm rows=16 d=64 seed=4", 1e-4, false},
    {__LINE__, "op=rmsnorm rows=16 d=64 seed=5", 1e-4, false},
    {__LINE__, "op=rope rows=8 d=64 rotary=64 seed=6", 1e-3, false},
    {__LINE__, "op=attention m=4 seq=12 d=32 seed=7", 1e-3, false},
    {__LINE__, "op=attention m=4 seq=10 d=32 causal=1 q_offset=3 seed=8", 1e-3, false},
    {__LINE__, "op=matmul_w8 m=24 k=48 n=32 seed=9", 1e-3, false},
    {__LINE__, "op=kv_write len=8 d=4 at=2 rows=3 seed=1", 0, false},
    {__LINE__, "op=attention_cached len=6 d=16 rows=6 seed=10", 1e-3, false},
    {__LINE__, "op=matmul_tiled m=40 k=72 n=56 seed=11", 1e-3, false},
    {__LINE__, "op=mha seq=7 heads=3 kv_heads=3 d=8 seed=12", 1e-3, false},
    {__LINE__, "op=gelu n=15360 magnitude=12 seed=123", 1e-2, false},
    {__LINE__, "op=linear m=5 k=768 n=2304 seed=99", 3e-3, false},
    {__LINE__, "op=mha seq=5 heads=12 kv_heads=12 d=64 seed=99", 2e-3, false},
    {__LINE__, "op=linear m=1 k=768 n=50257 seed=99", 4e-3, true},
};

/* The document's tolerance and our limit hold for every order, and between orders; both are printed beside what was seen. */
static void every_row_of_the_documents_table_holds(void **state) {
    (void)state;
    const char *full = getenv("LB_FULL");
    for (size_t r = 0; r < sizeof parity / sizeof parity[0]; r++) {
        if (parity[r].full && !(full && strcmp(full, "1") == 0)) {
            printf("SKIP %s: 38 million products a time; LB_FULL=1 runs it\n", parity[r].text);
            continue;
        }
        lb_op_case *x = open_case(parity[r].line, parity[r].text), *y = open_case(parity[r].line, parity[r].text);
        lb_op_truth *t = truth_of(parity[r].line, x, LB_FUNCTIONS_IEEE);
        double limit = 0, most = 0;
        replay(parity[r].line, x, LB_REPLAY_SEQUENTIAL);
        for (int order = LB_REPLAY_SEQUENTIAL; order < LB_REPLAY_COUNT; order++) {
            replay(parity[r].line, y, (lb_replay_order)order);
            most = fmax(most, furthest(x, y));
            for (size_t i = 0; i < t->count[0]; i++) {
                const double far = fabs(output(y, 0, i) - t->value[0][i]);
                if (!(far <= parity[r].tolerance)) fail_msg("row at line %d: element %zu is off by %g", parity[r].line, i, far);
                if (!(far <= t->limit[0][i]))
                    fail_msg("row at line %d: element %zu is off by %g, limit %g", parity[r].line, i, far, t->limit[0][i]);
                limit = fmax(limit, t->limit[0][i]);
            }
        }
        if (!(most <= parity[r].tolerance)) fail_msg("row at line %d: orders differ by %g", parity[r].line, most);
        printf("%-66s max|d| %.3e  limit %.3e  tolerance %g\n", parity[r].text, most, limit, parity[r].tolerance);
        lb_op_truth_close(t);
        lb_op_case_close(x);
        lb_op_case_close(y);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gelu_has_its_three_points),
        cmocka_unit_test(softmax_sums_to_one_and_keeps_order),
        cmocka_unit_test(layernorm_has_mean_zero_and_variance_one),
        cmocka_unit_test(rmsnorm_of_three_and_four),
        cmocka_unit_test(rope_keeps_norms_and_position_zero),
        cmocka_unit_test(attention_over_equal_keys_is_the_mean),
        cmocka_unit_test(the_first_causal_query_sees_key_zero_alone),
        cmocka_unit_test(products_by_hand),
        cmocka_unit_test(a_cache_is_written_exactly_where_it_says),
        cmocka_unit_test(heads_are_attention_each),
        cmocka_unit_test(an_unclamped_tanh_is_found_and_a_clamped_one_is_not),
        cmocka_unit_test(every_row_of_the_documents_table_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
