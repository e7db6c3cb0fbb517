/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parity's other questions, on the plain C device and on one that is wrong on purpose: causes, power, invariance, magnitudes, the odd one
 * out, and the figures of the seed document. */
#include "parity_help.h"

#include "run/parity.h"

#include <math.h>

static const char *const wild[] = {("plugin:" LB_WILD_PLUGIN_PATH)}, *const cpu[] = {"cpu", "replay:device"};

static lb_op_case *open_case(const char *text) {
    lb_op_case *x;
    lb_error err = {0};
    if (lb_op_case_open(&x, text, &err) != LB_OK) fail_msg("%s: %s: %s", text, err.place, err.message);
    return x;
}

/* ---- one answer ------------------------------------------------------------------------------------------------------------------ */

/* What can be done to a right answer, or to what it is judged by. */
typedef enum change { NOTHING, NAN_THERE, INF_THERE, POISON_THERE, UNFIT, NO_LIMIT, NO_LIMIT_BUT_ONE, ALL_ZERO } change;

static const struct {
    int line;
    change how;
    lb_verdict verdict;
    const char *says;
    uint64_t compared, not_written, class_mismatch;
} answers[] = {
    {__LINE__, NOTHING, LB_PASS, "all of 100 elements", 100, 0, 0},
    {__LINE__, NAN_THERE, LB_FAIL, "z[0,42] is nan", 100, 0, 1},
    {__LINE__, INF_THERE, LB_FAIL, "z[0,42] is inf", 100, 0, 1},
    {__LINE__, POISON_THERE, LB_FAIL, "1 of 100 elements were not written", 100, 1, 1},
    {__LINE__, UNFIT, LB_UNPROVEN, "the reference is unfit: at z[42]", 100, 0, 0},
    {__LINE__, NO_LIMIT, LB_UNPROVEN, "nothing compared", 0, 0, 0},
    {__LINE__, NO_LIMIT_BUT_ONE, LB_PASS, "all of 1 elements", 1, 0, 0},
    {__LINE__, ALL_ZERO, LB_UNPROVEN, "every true value is zero", 100, 0, 0},
};

static void change_it(lb_op_case *x, lb_op_truth *t, change how) {
    float *z = x->out[0].codes;
    const uint32_t poison = (uint32_t)lb_poison_code(x->out[0].format);
    if (how == NAN_THERE) z[42] = NAN;
    if (how == INF_THERE) z[42] = INFINITY;
    if (how == POISON_THERE) memcpy(&z[42], &poison, sizeof poison);
    if (how == UNFIT) {
        t->error[0][42] = t->limit[0][42] = 0.25;
        z[42] += 0.125F; /* legal, as far as such a reference can tell */
    }
    for (size_t i = 0; i < 100; i++) {
        if (how == NO_LIMIT || (how == NO_LIMIT_BUT_ONE && i != 3)) t->limit[0][i] = INFINITY;
        if (how == ALL_ZERO) t->value[0][i] = z[i] = 0;
    }
}

static void an_answer_is_judged_for_what_it_is(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        lb_op_case *x = open_case("op=add n=100");
        lb_op_truth *t;
        lb_record *r;
        double ratio;
        lb_error err = {0};
        const lb_worker_answer done = {.report = {.end = LB_RUN_DONE}};
        assert_int_equal(lb_op_truth_open(&t, x, LB_FUNCTIONS_IEEE, &err), LB_OK);
        assert_int_equal(lb_record_open(&r, &err), LB_OK);
        lb_truth_round(t, x);
        change_it(x, t, answers[i].how);
        const lb_subject subject = {x, t, &done, "cpu", "cpu", LB_FUNCTIONS_IEEE};
        assert_int_equal(lb_parity_judge(&subject, r, &ratio, &err), LB_OK);
        EXPECT_CODE(answers[i].line, r->verdict, answers[i].verdict);
        if (!strstr(r->reason, answers[i].says)) fail_msg("row at %s:%d: %s", __FILE__, answers[i].line, r->reason);
        EXPECT_CODE(answers[i].line, r->counts.compared, answers[i].compared);
        EXPECT_CODE(answers[i].line, r->counts.not_written, answers[i].not_written);
        EXPECT_CODE(answers[i].line, r->counts.class_mismatch, answers[i].class_mismatch);
        EXPECT_CODE(answers[i].line, r->counts.exact + r->counts.legal + r->counts.wrong, r->counts.compared);
        lb_record_close(r);
        lb_op_truth_close(t);
        lb_op_case_close(x);
    }
}

/* ---- causes ----------------------------------------------------------------------------------------------------------------------- */

typedef enum filling { REPLAY, HALF, BRAIN, REVERSED_ROWS, ULPS } filling;

/* What a device could have answered. */
static void fill(lb_op_case *x, filling how, lb_replay_order order) {
    lb_error err = {0};
    assert_int_equal(lb_op_replay(x, order, &err), LB_OK);
    const lb_mat m = lb_array_mat(&x->out[0]);
    const lb_format *narrow = lb_format_row(how == HALF ? LB_F16 : LB_BF16);
    float *y = x->out[0].codes;
    for (size_t i = 0; i < m.rows * m.cols && how != REPLAY; i++) {
        if (how == HALF || how == BRAIN) y[i] = (float)lb_to_double(narrow, lb_from_double(narrow, (double)y[i]));
        if (how == ULPS) y[i] = nextafterf(y[i], 0);
    }
    for (size_t r = 0; how == REVERSED_ROWS && r < m.rows / 2; r++)
        for (size_t c = 0; c < m.cols; c++) {
            const float keep = y[r * m.cols + c];
            y[r * m.cols + c] = y[(m.rows - 1 - r) * m.cols + c];
            y[(m.rows - 1 - r) * m.cols + c] = keep;
        }
}

static const struct {
    int line;
    const char *text;
    filling how;
    lb_replay_order order;
    const char *says;
} causes[] = {
    {__LINE__, "op=matmul", REPLAY, LB_REPLAY_SEQUENTIAL, "none: the sequential replay"},
    {__LINE__, "op=matmul", REPLAY, LB_REPLAY_CONTRACTED, "contraction: the contracted replay"},
    {__LINE__, "op=matmul", REPLAY, LB_REPLAY_PAIRWISE, "order: the pairwise replay"},
    {__LINE__, "op=layernorm seed=4", REPLAY, LB_REPLAY_DEVICE, "contraction, rsqrt: the device replay"},
    {__LINE__, "op=matmul", HALF, LB_REPLAY_SEQUENTIAL, "precision: "},
    {__LINE__, "op=matmul", BRAIN, LB_REPLAY_SEQUENTIAL, "bf16 numbers"},
    {__LINE__, "op=matmul", REVERSED_ROWS, LB_REPLAY_SEQUENTIAL, "defect: "},
    {__LINE__, "op=gelu", ULPS, LB_REPLAY_SEQUENTIAL, "library function: "},
};

static void a_cause_is_told_from_the_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        lb_op_case *x = open_case(causes[i].text);
        lb_op_truth *t;
        char text[256];
        lb_error err = {0};
        fill(x, causes[i].how, causes[i].order);
        assert_int_equal(lb_op_truth_open(&t, x, LB_FUNCTIONS_IEEE, &err), LB_OK);
        assert_int_equal(lb_parity_cause(x, t, text, sizeof text, &err), LB_OK);
        if (!strstr(text, causes[i].says)) fail_msg("row at %s:%d: %s", __FILE__, causes[i].line, text);
        lb_op_truth_close(t);
        lb_op_case_close(x);
    }
}

/* ---- power ------------------------------------------------------------------------------------------------------------------------ */

static void limits_catch_the_plain_faults_and_say_what_they_miss(void **state) {
    static const char *const caught[] = {"zeroed-row", "swapped-rows", "scale-2", "nan", "inf", "unwritten"};
    lb_op_case *x = open_case("op=matmul");
    lb_record *r;
    lb_error err = {0};
    (void)state;
    assert_int_equal(lb_record_open(&r, &err), LB_OK);
    assert_int_equal(lb_parity_power(x, LB_FUNCTIONS_IEEE, r, &err), LB_OK);
    assert_true(r->power.present);
    size_t missed = 0, found = 0;
    for (size_t i = 0; i < r->power.row_count; i++) {
        const lb_power_row *p = &r->power.rows[i];
        for (size_t k = 0; k < sizeof caught / sizeof caught[0]; k++) {
            if (strcmp(p->fault, caught[k]) != 0) continue;
            found++;
            if (p->end != LB_POWER_CAUGHT) fail_msg("%s: %s", p->fault, lb_power_end_name(p->end));
        }
        missed += p->end == LB_POWER_MISSED;
        if (strcmp(p->fault, "ulp-3") == 0) assert_int_equal(p->end, LB_POWER_MISSED); /* a sum of 64 products may be off by more */
    }
    assert_int_equal(found, sizeof caught / sizeof caught[0]);
    assert_int_equal(r->power.due - r->power.caught, missed);
    lb_record_close(r);
    lb_op_case_close(x);
}

/* ---- invariance -------------------------------------------------------------------------------------------------------------------- */

static lb_invariance axis_of(const lb_parity_options *o, const char *axis) {
    lb_invariance_run *run;
    lb_invariance v, found = {.verdict = LB_VERDICT_COUNT};
    bool more = true;
    lb_error err = {0};
    assert_int_equal(lb_invariance_open(&run, o, &err), LB_OK);
    for (;;) {
        if (lb_invariance_next(run, &v, &more, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (!more) break;
        if (strcmp(v.axis, axis) == 0) found = v;
    }
    lb_invariance_close(run);
    return found;
}

static void a_row_that_depends_on_the_batch_is_found_in_ulp(void **state) {
    static const char *const ops[] = {"matmul"};
    (void)state;
    lb_parity_options o = {.on = wild, .on_count = 1, .ops = ops, .op_count = 1};
    const lb_invariance row = axis_of(&o, "row"), run = axis_of(&o, "run"), padding = axis_of(&o, "padding");
    assert_int_equal(run.verdict, LB_PASS);
    assert_int_equal(row.verdict, LB_FAIL);
    assert_true(row.differ > 0 && row.compared == 120 && row.ulp >= 1);
    assert_int_equal(padding.verdict, LB_PASS);
    o.on = cpu;
    assert_int_equal(axis_of(&o, "row").verdict, LB_PASS);
    const lb_invariance split = axis_of(&o, "split"); /* two sums are no one sum, but near it */
    assert_int_equal(split.verdict, LB_FAIL);
    assert_true(split.ulp > 1 && split.ulp < 5000);
}

static void every_axis_of_every_operator_compares_something_on_plain_c(void **state) {
    const lb_parity_options o = {.on = cpu, .on_count = 1};
    lb_invariance_run *run;
    lb_invariance v;
    bool more = true;
    size_t count = 0;
    lb_error err = {0};
    (void)state;
    assert_int_equal(lb_invariance_open(&run, &o, &err), LB_OK);
    for (;; count++) {
        if (lb_invariance_next(run, &v, &more, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (!more) break;
        const bool split = strcmp(v.axis, "split") == 0;
        if (!v.compared || v.verdict == LB_UNPROVEN || (v.verdict != LB_PASS && !split)) fail_msg("%s %s: %s", v.op, v.axis, v.reason);
    }
    assert_true(count > 90);
    lb_invariance_close(run);
}

/* ---- magnitudes -------------------------------------------------------------------------------------------------------------------- */

static lb_sweep_row gelu_on(const char *const *on) {
    static const char *const ops[] = {"gelu"};
    const lb_parity_options o = {.on = on, .on_count = 1, .ops = ops, .op_count = 1};
    lb_sweep *s;
    lb_sweep_row row;
    bool more;
    lb_error err = {0};
    assert_int_equal(lb_sweep_open(&s, &o, &err), LB_OK);
    assert_int_equal(lb_sweep_next(s, &row, &more, &err), LB_OK);
    assert_true(more);
    lb_sweep_close(s);
    return row;
}

/* The seed document's bug: tanh from exp(2 x) is NaN where that is Inf, past 44. */
static void an_unclamped_tanh_is_found_by_its_magnitude(void **state) {
    (void)state;
    const lb_sweep_row bad = gelu_on(wild);
    assert_true(bad.first_bad == 16 && bad.last_good == 4);
    assert_non_null(strstr(bad.reason, "nan"));
    const lb_sweep_row good = gelu_on(cpu);
    assert_true(isnan(good.first_bad) && good.last_good > 1e30);
}

/* ---- the odd one out ----------------------------------------------------------------------------------------------------------------- */

static void of_three_devices_the_one_apart_is_named(void **state) {
    static const char *const on[] = {"cpu", "cpu:contracted", ("plugin:" LB_WILD_PLUGIN_PATH)};
    static const char *const texts[] = {"op=add n=109", "op=add n=100"};
    const lb_parity_options o = {.on = on, .on_count = 3, .cases = texts, .case_count = 2, .no_power = true};
    parity_run r;
    size_t of;
    (void)state;
    parity_go(&r, &o);
    assert_int_equal(lb_parity_odd(r.p, 2, &of), 1);
    assert_int_equal(of, 2);
    assert_int_equal(lb_parity_odd(r.p, 0, &of), 0);
    assert_true(lb_parity_distance(r.p, 0, 1) == 0 && lb_parity_distance(r.p, 0, 2) > 0);
    parity_close(&r);
}

/* ---- the seed document's table ------------------------------------------------------------------------------------------------------- */

/* ../shared/facts/operators.md: what Metal gave, by a replay with contraction and a rounded rsqrt; and where the document's GELU, RoPE and
 * attention come from functions that no replay has. */
static const struct {
    int line;
    const char *name, *observed;
} figures[] = {
    {__LINE__, "MatMul (32×64×48)", "1.431e-06"},
    {__LINE__, "Linear (16×64×40)", "1.431e-06"},
    {__LINE__, "INT8 quant matmul (24×48×32)", "7.629e-06"},
    {__LINE__, "Tiled matmul (40×72×56)", "1.907e-06"},
    {__LINE__, "LayerNorm (16×64)", "2.384e-07"},
    {__LINE__, "RMSNorm (16×64)", "1.192e-07"},
    {__LINE__, "KV-cache write", "0.000e+00"},
};

static void the_documents_metal_figures_are_reproduced(void **state) {
    const lb_parity_options o = {.on = cpu, .on_count = 2};
    lb_deviations *table;
    lb_deviation d;
    bool more = true;
    size_t found = 0, skipped = 0, plain = 0;
    lb_error err = {0};
    (void)state;
    assert_int_equal(lb_deviations_open(&table, "seed-002", &o, &err), LB_OK);
    for (;;) {
        if (lb_deviations_next(table, &d, &more, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (!more) break;
        skipped += d.verdict == LB_SKIP;
        if (d.verdict == LB_SKIP) continue;
        assert_int_equal(d.verdict, LB_PASS);
        if (strcmp(d.on, "cpu") == 0) {
            assert_true(d.max_abs == 0); /* plain C is the document's reference */
            plain++;
            continue;
        }
        char observed[32];
        snprintf(observed, sizeof observed, "%.3e", d.max_abs);
        for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
            if (strcmp(figures[i].name, d.name) != 0) continue;
            EXPECT_STRING(figures[i].line, observed, figures[i].observed);
            found++;
        }
    }
    lb_deviations_close(table);
    assert_int_equal(found, sizeof figures / sizeof figures[0]);
    assert_int_equal(skipped, 3);
    assert_int_equal(plain, 14);
    assert_int_equal(lb_deviations_open(&table, "seed-003", &o, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "seed-002"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_judged_for_what_it_is),
        cmocka_unit_test(a_cause_is_told_from_the_bits),
        cmocka_unit_test(limits_catch_the_plain_faults_and_say_what_they_miss),
        cmocka_unit_test(a_row_that_depends_on_the_batch_is_found_in_ulp),
        cmocka_unit_test(every_axis_of_every_operator_compares_something_on_plain_c),
        cmocka_unit_test(an_unclamped_tanh_is_found_by_its_magnitude),
        cmocka_unit_test(of_three_devices_the_one_apart_is_named),
        cmocka_unit_test(the_documents_metal_figures_are_reproduced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
