/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fixed-order replays: the figures that seed-002 saw on an Apple M2, and every replay within its operator's limit. */
#include "ops_help.h"

#include <string.h>

typedef struct figure {
    int line;
    const char *text;
    lb_replay_order order;
    const char *delta; /* max |sequential - order|, "%.3e" */
} figure;

/* Figures of ../shared/facts/operators.md, C.5, but the last two rows of a block, which are ours: the same draw, another order. */
static const figure figures[] = {
    {__LINE__, "op=matmul m=32 k=64 n=48 seed=1", LB_REPLAY_CONTRACTED, "1.431e-06"},
    {__LINE__, "op=linear m=16 k=64 n=40 seed=2", LB_REPLAY_CONTRACTED, "1.431e-06"},
    {__LINE__, "op=matmul_w8 m=24 k=48 n=32 seed=9", LB_REPLAY_CONTRACTED, "7.629e-06"},
    {__LINE__, "op=matmul_tiled m=40 k=72 n=56 seed=11", LB_REPLAY_CONTRACTED, "1.907e-06"},
    {__LINE__, "op=layernorm rows=16 d=64 seed=4", LB_REPLAY_DEVICE, "2.384e-07"},
    {__LINE__, "op=layernorm rows=16 d=64 seed=4", LB_REPLAY_CONTRACTED, "1.192e-07"},
};

static void contraction_alone_gives_the_figures_that_a_gpu_showed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const figure *f = &figures[i];
        char text[32];
        lb_op_case *a = open_case(f->line, f->text), *b = open_case(f->line, f->text);
        replay(f->line, a, LB_REPLAY_SEQUENTIAL);
        replay(f->line, b, f->order);
        snprintf(text, sizeof text, "%.3e", furthest(a, b));
        EXPECT_STRING(f->line, text, f->delta);
        lb_op_case_close(a);
        lb_op_case_close(b);
    }
}

/* ---- replays against truth --------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t compared, wrong, unjudged;
    double worst;
} tally;

static void judge_all(int line, lb_op_truth *t, const lb_op_case *x, tally *all) {
    lb_error err = {0};
    if (lb_op_truth_settle(t, x, &err) != LB_OK) fail_msg("row at line %d: %s", line, err.message);
    for (unsigned port = 0; port < x->op->out_count; port++)
        for (size_t i = 0; i < t->count[port]; i++) {
            double ratio;
            const lb_op_verdict v = lb_op_judge(t, x, port, i, &ratio);
            all->compared += v != LB_OP_UNJUDGED;
            all->unjudged += v == LB_OP_UNJUDGED;
            all->wrong += v == LB_OP_WRONG;
            if (v != LB_OP_UNJUDGED && !(ratio <= all->worst)) all->worst = ratio;
        }
}

static void every_replay_of_every_row_lies_within_its_limit(void **state) {
    (void)state;
    static const char *const formats[] = {"f32", "f16", "bf16"};
    size_t judged_rows = 0;
    for (size_t i = 0; lb_op_row(i); i++) {
        tally all = {0};
        for (size_t d = 0; lb_op_dist_name(d); d++)
            for (int f = 0; f < 3; f++) {
                char text[160];
                snprintf(text, sizeof text, "op=%s fmt=%s dist=%s seed=%zu", lb_op_row(i)->name, formats[f], lb_op_dist_name(d), i + d);
                lb_op_case *x = open_case(__LINE__, text);
                for (int order = 0; order < LB_REPLAY_COUNT; order++) {
                    lb_op_truth *t = truth_of(__LINE__, x, LB_FUNCTIONS_IEEE);
                    tally one = {0};
                    replay(__LINE__, x, (lb_replay_order)order);
                    judge_all(__LINE__, t, x, &one);
                    if (one.wrong)
                        fail_msg("%s order=%s: %zu wrong, worst %g", text, lb_replay_name((lb_replay_order)order), one.wrong, one.worst);
                    all.compared += one.compared;
                    all.unjudged += one.unjudged;
                    lb_op_truth_close(t);
                }
                lb_op_case_close(x);
            }
        judged_rows++;
        if (all.compared < 2 * all.unjudged) fail_msg("%s: %zu compared, %zu not judged", lb_op_row(i)->name, all.compared, all.unjudged);
    }
    assert_true(judged_rows >= 37);
}

/* NaN and the infinities strewn over each data input in turn: what the f32 definition makes of them is what the row's policy says. */
static void specials_come_out_as_the_rows_policy_says(void **state) {
    (void)state;
    static const double specials[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; lb_op_row(i); i++)
        for (unsigned port = 0; port < lb_op_row(i)->in_count; port++)
            for (size_t k = 0; k < 3; k++) {
                char text[64];
                lb_error err = {0};
                snprintf(text, sizeof text, "op=%s", lb_op_row(i)->name);
                lb_op_case *x = open_case(__LINE__, text);
                const lb_format *f = x->in[port].format;
                const size_t count = lb_array_count(&x->in[port]);
                uint64_t inf;
                if (f->special == LB_SPECIAL_INT || (k > 0 && !lb_inf_code(f, &inf))) {
                    lb_op_case_close(x);
                    continue;
                }
                for (size_t at = count / 3; at < count; at += count / 4 + 1)
                    lb_store_code((char *)x->in[port].codes + at * (size_t)f->bytes, f->bytes, lb_from_double(f, specials[k]));
                lb_op_truth *t = truth_of(__LINE__, x, LB_FUNCTIONS_IEEE);
                replay(__LINE__, x, LB_REPLAY_SEQUENTIAL);
                if (lb_op_truth_settle(t, x, &err) != LB_OK) fail_msg("%s", err.message);
                for (unsigned out = 0; out < x->op->out_count; out++)
                    for (size_t at = 0; at < t->count[out]; at++)
                        if (lb_op_judge(t, x, out, at, NULL) == LB_OP_WRONG)
                            fail_msg("%s: %g in %s: %s[%zu] is %g, policy says %g", text, specials[k], x->op->in[port].name,
                                     x->op->out[out].name, at, output(x, out, at), t->value[out][at]);
                lb_op_truth_close(t);
                lb_op_case_close(x);
            }
}

/* ---- limits bite --------------------------------------------------------------------------------------------------------------- */

/* What a wrong kernel gives, as another case on the same inputs: at least one element must be wrong, under the laxest functions too. */
static const struct {
    int line;
    const char *right, *wrong, *what;
} mutants[] = {
    {__LINE__, "op=layernorm", "op=layernorm eps=1e-3", "wrong eps"},
    {__LINE__, "op=rmsnorm", "op=rmsnorm eps=1e-4", "wrong eps"},
    {__LINE__, "op=rope", "op=rope_interleaved", "pairs side by side"},
    {__LINE__, "op=rope", "op=rope theta=11000", "wrong base"},
    {__LINE__, "op=rope scale=4", "op=rope scale=0.25", "scale inverted"},
    {__LINE__, "op=rope rotary=32", "op=rope rotary=64", "whole row turned"},
    {__LINE__, "op=attention causal=1 q_offset=3", "op=attention causal=1 q_offset=4", "mask off by one"},
    {__LINE__, "op=attention causal=1 q_offset=8 window=3", "op=attention causal=1 q_offset=8 window=4", "window off by one"},
    {__LINE__, "op=attention", "op=attention scale=1", "missing scale"},
    {__LINE__, "op=attention", "op=attention scale=0.1768", "scale of four digits"},
    {__LINE__, "op=attention softcap=1", "op=attention", "softcap left out"},
    {__LINE__, "op=attention causal=1 q_offset=8 alibi=0.5", "op=attention causal=1 q_offset=8", "slope left out"},
    {__LINE__, "op=attention_cached rows=4", "op=attention_cached rows=5", "a stale row of the cache"},
    {__LINE__, "op=attention_cached rows=4", "op=attention_cached rows=3", "the newest row of the cache lost"},
    {__LINE__, "op=mha", "op=mha causal=0", "mask left out"},
    {__LINE__, "op=kv_write at=2", "op=kv_write at=3", "row off by one"},
    {__LINE__, "op=kv_ring at=6", "op=kv_ring at=7", "row off by one"},
    {__LINE__, "op=gelu", "op=gelu_erf", "the other GELU"},
    {__LINE__, "op=silu", "op=gelu", "another activation"},
    {__LINE__, "op=top_p p=0.5", "op=top_p p=0.6", "another p"},
    {__LINE__, "op=matmul_nvfp4 scale=2", "op=matmul_nvfp4 scale=0.5", "global scale as a divisor"},
    {__LINE__, "op=matmul_fp8 scale=1", "op=matmul_fp8 scale=1.0001", "scale of four digits"},
};

static void a_wrong_kernel_is_found(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++)
        for (int c = 0; c < LB_FUNCTION_CLASS_COUNT; c++) {
            lb_op_case *x = open_case(mutants[i].line, mutants[i].right), *z = NULL;
            lb_error err = {0};
            tally all = {0};
            if (lb_op_case_of(&z, mutants[i].wrong, x->in, x->op->in_count, &err) != LB_OK)
                fail_msg("line %d: %s", mutants[i].line, err.message);
            replay(mutants[i].line, z, LB_REPLAY_SEQUENTIAL);
            for (unsigned port = 0; port < x->op->out_count; port++)
                for (size_t k = 0; k < lb_array_count(&x->out[port]); k++) set_output(x, port, k, output(z, port, k));
            lb_op_truth *t = truth_of(mutants[i].line, x, (lb_function_class)c);
            judge_all(mutants[i].line, t, x, &all);
            if (!all.wrong)
                fail_msg("line %d: %s passes as %s: worst %g", mutants[i].line, mutants[i].what,
                         lb_function_class_name((lb_function_class)c), all.worst);
            lb_op_truth_close(t);
            lb_op_case_close(x);
            lb_op_case_close(z);
        }
}

/* One element moved past its limit, or gone NaN, is wrong, and the rest is not. */
static void an_element_beyond_its_limit_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; lb_op_row(i); i++) {
        char text[64];
        snprintf(text, sizeof text, "op=%s", lb_op_row(i)->name);
        lb_op_case *x = open_case(__LINE__, text);
        lb_op_truth *t = truth_of(__LINE__, x, LB_FUNCTIONS_IEEE);
        const size_t at = t->count[0] / 2;
        const double value = t->value[0][at], limit = t->limit[0][at];
        const bool index = x->out[0].format->special == LB_SPECIAL_INT;
        replay(__LINE__, x, LB_REPLAY_CONTRACTED);
        set_output(x, 0, at, index ? value + 1 : value + 1.5 * limit + 3e-7 * fabs(value) + 1e-37);
        if (lb_op_judge(t, x, 0, at, NULL) != LB_OP_WRONG) fail_msg("%s: %g + %g is not found", text, value, limit);
        if (!index) {
            set_output(x, 0, at, NAN);
            assert_int_equal(lb_op_judge(t, x, 0, at, NULL), LB_OP_WRONG);
            set_output(x, 0, at, INFINITY);
            assert_int_equal(lb_op_judge(t, x, 0, at, NULL), LB_OP_WRONG);
        }
        lb_op_truth_close(t);
        lb_op_case_close(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contraction_alone_gives_the_figures_that_a_gpu_showed),
        cmocka_unit_test(every_replay_of_every_row_lies_within_its_limit),
        cmocka_unit_test(specials_come_out_as_the_rows_policy_says),
        cmocka_unit_test(a_wrong_kernel_is_found),
        cmocka_unit_test(an_element_beyond_its_limit_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
