/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parity over devices that misbehave: each case ends alone, and what is said of it is what it did. */
#include "parity_help.h"

#include "run/parity.h"

#include <math.h>
#include <unistd.h>

static const char *const wild[] = {"plugin:" LB_WILD_PLUGIN_PATH};
static parity_run r;

static lb_parity_options of_cases(const char *const *cases, size_t count) {
    return (lb_parity_options){.on = wild, .on_count = 1, .cases = cases, .case_count = count, .timeout_seconds = 2, .no_power = true};
}

static const struct {
    int line;
    const char *text;
    lb_verdict verdict;
    const char *says;
} misdeeds[] = {
    {__LINE__, "op=add n=100", LB_PASS, "within their limits"},
    {__LINE__, "op=add n=101", LB_FAIL, "no answer in 2 s"},
    {__LINE__, "op=add n=100 seed=2", LB_PASS, "within their limits"},
    {__LINE__, "op=add n=102", LB_FAIL, "killed by signal 11"},
    {__LINE__, "op=add n=100 seed=3", LB_PASS, "within their limits"},
    {__LINE__, "op=add n=103", LB_FAIL, "wrote 20 bytes outside its arrays"},
    {__LINE__, "op=add n=100 seed=4", LB_PASS, "within their limits"},
    {__LINE__, "op=add n=104", LB_FAIL, "it wrote nothing"},
    {__LINE__, "op=add n=100 seed=5", LB_PASS, "within their limits"},
    {__LINE__, "op=add n=105", LB_FAIL, "wrote to its inputs"},
    {__LINE__, "op=add n=106", LB_FAIL, "exit code 3"},
    {__LINE__, "op=add n=107", LB_FAIL, "the tank is empty"},
    {__LINE__, "op=add n=109", LB_FAIL, "z[0,7] is"},
    {__LINE__, "op=add n=110", LB_FAIL, "1 of 110 elements were not written, the first z[0,109]"},
    {__LINE__, "op=add n=111", LB_SKIP, "111 is too many"},
    {__LINE__, "op=add n=100 seed=6", LB_PASS, "within their limits"},
};

enum { MISDEEDS = sizeof misdeeds / sizeof misdeeds[0] };

static void each_misdeed_ends_its_case_alone(void **state) {
    (void)state;
    for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
        const char *texts[MISDEEDS];
        for (size_t i = 0; i < MISDEEDS; i++) texts[i] = misdeeds[i].text;
        lb_parity_options o = of_cases(texts, MISDEEDS);
        o.jobs = jobs;
        parity_go(&r, &o);
        assert_int_equal(r.count, MISDEEDS);
        for (size_t i = 0; i < MISDEEDS; i++) {
            EXPECT_CODE(misdeeds[i].line, r.cases[i].verdict, misdeeds[i].verdict);
            if (!strstr(r.cases[i].reason, misdeeds[i].says)) fail_msg("row at %s:%d: %s", __FILE__, misdeeds[i].line, r.cases[i].reason);
        }
        assert_int_equal(r.exit_code, 1);
        if (jobs == 1) assert_true(lb_parity_row_at(r.p, 0)->restarts >= 5);
        parity_close(&r);
    }
}

static void what_is_said_reruns_the_case(void **state) {
    static const char *const texts[] = {"op=add n=109 dist=gaussian seed=7"};
    (void)state;
    lb_parity_options o = of_cases(texts, 1);
    parity_go(&r, &o);
    char text[LB_OP_TEXT];
    snprintf(text, sizeof text, "%s", r.cases[0].text);
    const seen first = r.cases[0];
    parity_close(&r);
    const char *const again[] = {text};
    o = of_cases(again, 1);
    parity_go(&r, &o);
    assert_string_equal(r.cases[0].text, first.text);
    assert_string_equal(r.cases[0].reason, first.reason);
    assert_int_equal(r.cases[0].col, 7);
    parity_close(&r);
}

static void bits_that_change_from_run_to_run_fail(void **state) {
    static const char *const texts[] = {"op=add n=108", "op=add n=100"};
    (void)state;
    lb_parity_options o = of_cases(texts, 2);
    parity_go(&r, &o);
    assert_int_equal(r.cases[0].verdict, LB_PASS); /* one run cannot tell */
    parity_close(&r);
    o.repeats = 3;
    parity_go(&r, &o);
    assert_int_equal(r.cases[0].verdict, LB_FAIL);
    assert_non_null(strstr(r.cases[0].reason, "run 2 gives other bits than the first: 1 of 108 elements, up to 1 ULP"));
    assert_int_equal(r.cases[1].verdict, LB_PASS);
    parity_close(&r);
}

static void nothing_compared_is_no_pass(void **state) {
    static const char *const texts[] = {"op=add n=111", "op=add n=100"};
    (void)state;
    lb_parity_options o = of_cases(texts, 1);
    parity_go(&r, &o);
    assert_int_equal(r.exit_code, 3);
    parity_close(&r);
    o.case_count = 2;
    parity_go(&r, &o);
    assert_int_equal(r.exit_code, 0);
    parity_close(&r);
}

/* ---- known defects ---------------------------------------------------------------------------------------------------------------- */

static const struct {
    int line;
    const char *rows;
    const char *text; /* NULL: the whole plan of add */
    int exit_code;
    size_t known;
    const char *stale;
} knowns[] = {
    {__LINE__, "[]", "op=add n=109", 1, 0, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add n=109\", \"bound\": \"Infinity\", \"cause\": \"its seventh\"}]", "op=add n=109",
     0, 1, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add n=109\", \"bound\": 1.5, \"cause\": \"its seventh\"}]", "op=add n=109", 1, 0,
     NULL},
    {__LINE__, "[{\"device\": \"wild\", \"version\": \"version 2\", \"case\": \"op=add\", \"bound\": \"Infinity\", \"cause\": \"c\"}]",
     "op=add n=109", 1, 0, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add n=10?\", \"bound\": \"Infinity\", \"cause\": \"c\"}]", "op=add n=109", 0, 1,
     NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add n=110\", \"bound\": \"Infinity\", \"cause\": \"c\"}]", "op=add n=110", 1, 0,
     NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add fmt=f32\", \"bound\": 9, \"cause\": \"c\"}]", "op=add n=100", 0, 0, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add fmt=f32\", \"bound\": 9, \"cause\": \"c\"}]", NULL, 1, 0, "none of"},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add fmt=f32\", \"bound\": 9, \"cause\": \"c\", \"pass\": \"fine\"}]", NULL, 0, 0,
     NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add n>99\", \"bound\": 9, \"cause\": \"c\", \"pass\": \"nothing\"}]", "op=add n=100",
     3, 0, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add n>100\", \"bound\": 9, \"cause\": \"c\", \"pass\": \"nothing\"}]",
     "op=add n=100", 0, 0, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add 2*(n-9)>199\", \"bound\": \"Infinity\", \"cause\": \"c\"}]", "op=add n=109", 0,
     1, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add 2*(n-9)>200\", \"bound\": \"Infinity\", \"cause\": \"c\"}]", "op=add n=109", 1,
     0, NULL},
    {__LINE__, "[{\"device\": \"wild\", \"case\": \"op=add k>1\", \"bound\": \"Infinity\", \"cause\": \"c\"}]", "op=add n=109", 1, 0, NULL},
};

static char file[] = "/tmp/lastbit-known.XXXXXX";

static void write_known(const char *rows) {
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_true(fputs(rows, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void a_known_row_excuses_what_it_names_and_no_more(void **state) {
    static const char *const ops[] = {"add"};
    (void)state;
    for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++) {
        write_known(knowns[i].rows);
        lb_parity_options o = of_cases(&knowns[i].text, knowns[i].text ? 1 : 0);
        o.known = file;
        o.ops = ops;
        o.op_count = 1;
        parity_go(&r, &o);
        EXPECT_CODE(knowns[i].line, r.exit_code, knowns[i].exit_code);
        EXPECT_CODE(knowns[i].line, r.known, knowns[i].known);
        const char *stale = lb_parity_stale(r.p, 0);
        EXPECT_CODE(knowns[i].line, stale != NULL, knowns[i].stale != NULL);
        if (stale && !strstr(stale, knowns[i].stale)) fail_msg("row at %s:%d: %s", __FILE__, knowns[i].line, stale);
        parity_close(&r);
    }
}

static const struct {
    int line;
    const char *rows, *says;
} bad_knowns[] = {
    {__LINE__, "{", "line 1"},
    {__LINE__, "{}", "an array of rows"},
    {__LINE__, "[1]", "row 0 is no object"},
    {__LINE__, "[{\"case\": \"op=add\", \"bound\": 9, \"cause\": \"c\"}]", "\"device\" should be text"},
    {__LINE__, "[{\"device\": \"\", \"case\": \"op=add\", \"bound\": 9, \"cause\": \"c\"}]", "\"device\" should be text"},
    {__LINE__, "[{\"device\": \"w\", \"bound\": 9, \"cause\": \"c\"}]", "\"case\" should be text"},
    {__LINE__, "[{\"device\": \"w\", \"case\": \"op=add\", \"cause\": \"c\"}]", "\"bound\" should be a number above 1"},
    {__LINE__, "[{\"device\": \"w\", \"case\": \"op=add\", \"bound\": 1, \"cause\": \"c\"}]", "\"bound\" should be a number above 1"},
    {__LINE__, "[{\"device\": \"w\", \"case\": \"op=add\", \"bound\": 9}]", "\"cause\" should be text"},
    {__LINE__, "[{\"device\": \"w\", \"cases\": \"op=add\", \"bound\": 9, \"cause\": \"c\"}]", "did you mean case"},
    {__LINE__, "[{\"device\": \"w\", \"case\": \"op=add\", \"bound\": 9, \"cause\": \"c\", \"pass\": 1}]",
     "\"news\", \"fine\" or \"nothing\""},
    {__LINE__, "[{\"device\": \"w\", \"case\": \"op=add n>m\", \"bound\": 9, \"cause\": \"c\"}]", "behind a > stands a whole number"},
    {__LINE__, "[{\"device\": \"w\", \"case\": \"op=add n> 5\", \"bound\": 9, \"cause\": \"c\"}]", "behind a > stands a whole number"},
};

static void a_malformed_known_file_is_refused_with_its_row(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_knowns / sizeof bad_knowns[0]; i++) {
        lb_parity_options o = {.on = wild, .on_count = 1, .known = file};
        lb_parity *p;
        lb_error err = {0};
        write_known(bad_knowns[i].rows);
        EXPECT_CODE(bad_knowns[i].line, lb_parity_open(&p, &o, &err), LB_E_FILE);
        EXPECT_STRING(bad_knowns[i].line, err.place, file);
        if (!strstr(err.message, bad_knowns[i].says)) fail_msg("row at %s:%d: %s", __FILE__, bad_knowns[i].line, err.message);
    }
}

/* ---- the plan ------------------------------------------------------------------------------------------------------------------- */

static void the_plan_has_every_operator_in_every_format_and_each_case_reruns(void **state) {
    const lb_parity_options o = {.plan_only = true};
    lb_parity *p;
    lb_error err = {0};
    const char *text;
    (void)state;
    assert_int_equal(lb_parity_open(&p, &o, &err), LB_OK);
    for (size_t i = 0; (text = lb_parity_case_text(p, i)) != NULL; i++) {
        lb_op_case *x;
        char again[LB_OP_TEXT];
        if (lb_op_case_open(&x, text, &err) != LB_OK) fail_msg("%s: %s", text, err.message);
        lb_op_case_text(x, again, sizeof again);
        assert_string_equal(text, again);
        lb_op_case_close(x);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(text, lb_parity_case_text(p, k));
    }
    for (size_t i = 0; lb_op_row(i); i++) {
        static const char *const formats[] = {" fmt=f32 ", " fmt=f16 ", " fmt=bf16 "};
        size_t found[3] = {0};
        for (size_t k = 0; (text = lb_parity_case_text(p, k)) != NULL; k++) {
            const size_t n = strlen(lb_op_row(i)->name);
            if (strncmp(text + 3, lb_op_row(i)->name, n) != 0 || text[3 + n] != ' ') continue;
            for (size_t f = 0; f < 3; f++) found[f] += strstr(text, formats[f]) != NULL;
        }
        for (size_t f = 0; f < (lb_op_has_format(lb_op_row(i)) ? 3 : 1); f++)
            if (found[f] < 4) fail_msg("%s: %zu cases with%s", lb_op_row(i)->name, found[f], formats[f]);
    }
    lb_parity_close(p);
}

static void what_the_plan_leaves_out_proves_nothing(void **state) {
    static const struct {
        const char *op, *dist, *format;
    } rows[] = {
#define LB_VACUOUS(op, dist, format, why) {op, dist, format},
#include "run/vacuous.def"
#undef LB_VACUOUS
    };
    static const char *const cpu[] = {"cpu"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[LB_OP_TEXT];
        const char *const texts[] = {text};
        snprintf(text, sizeof text, "op=%s %s dist=%s fmt=%s", rows[i].op, lb_plan_first_shape(rows[i].op), rows[i].dist,
                 rows[i].format[0] ? rows[i].format : "f32");
        lb_parity_options o = {.on = cpu, .on_count = 1, .cases = texts, .case_count = 1, .no_power = true};
        parity_go(&r, &o);
        if (r.cases[0].verdict != LB_UNPROVEN) fail_msg("%s: %s", text, r.cases[0].reason);
        parity_close(&r);
    }
}

static void wrong_calls_are_refused(void **state) {
    static const char *const none[] = {"nonesuch"}, *const soft[] = {"softmx"};
    lb_parity *p;
    lb_error err = {0};
    (void)state;
    lb_parity_options o = {.on = none, .on_count = 1};
    assert_int_equal(lb_parity_open(&p, &o, &err), LB_E_NAME);
    o = (lb_parity_options){.ops = soft, .op_count = 1};
    assert_int_equal(lb_parity_open(&p, &o, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "softmax"));
    o = (lb_parity_options){.pattern = "no such text"};
    assert_int_equal(lb_parity_open(&p, &o, &err), LB_E_ARG);
    o = (lb_parity_options){.on = wild, .on_count = 1, .functions = "vulcan"};
    assert_int_equal(lb_parity_open(&p, &o, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "vulkan"));
}

int main(void) {
    const int f = mkstemp(file);
    if (f < 0) return 1;
    close(f);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_misdeed_ends_its_case_alone),
        cmocka_unit_test(what_is_said_reruns_the_case),
        cmocka_unit_test(bits_that_change_from_run_to_run_fail),
        cmocka_unit_test(nothing_compared_is_no_pass),
        cmocka_unit_test(a_known_row_excuses_what_it_names_and_no_more),
        cmocka_unit_test(a_malformed_known_file_is_refused_with_its_row),
        cmocka_unit_test(the_plan_has_every_operator_in_every_format_and_each_case_reruns),
        cmocka_unit_test(what_the_plan_leaves_out_proves_nothing),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    return failed;
}
