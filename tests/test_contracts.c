/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Contracts opened by name, by name and parameters, and from files; and what a declared reduction makes of gamma. */
#include "test.h"

#include "lastbit/contracts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lb_contract *opened(const char *what) {
    lb_contract *c;
    lb_error err;
    if (lb_contract_open(what, &c, &err) != LB_OK) fail_msg("%s: %s", what, err.message);
    return c;
}

static lb_contract *read_json(const char *text) {
    lb_contract *c;
    lb_error err;
    if (lb_contract_from_json(text, strlen(text), "x.json", &c, &err) != LB_OK) fail_msg("%s: %s", text, err.message);
    return c;
}

static void every_row_opens_by_its_name_and_has_a_source_and_a_note(void **state) {
    (void)state;
    for (size_t i = 0; lb_contract_row(i); i++) {
        const lb_contract *row = lb_contract_row(i);
        lb_contract *c = opened(row->name);
        assert_string_equal(c->name, row->name);
        assert_true(*row->source && *row->note && *row->formats);
        assert_true(c->bound == row->bound && c->margin == row->margin && c->specials == row->specials);
        lb_contract_close(c);
    }
    lb_contract_close(NULL);
}

static void parameters_are_read_in_the_rows_order_and_echoed_in_the_name(void **state) {
    (void)state;
    lb_contract *c = opened("allclose:0.5,2");
    assert_true(c->rtol == 0.5 && c->atol == 2);
    assert_string_equal(c->name, "allclose:0.5,2");
    lb_contract_close(c);
    c = opened("torch:1e-2");
    assert_true(c->rtol == 1e-2 && !c->dtypes);
    lb_contract_close(c);
    c = opened("ulp:0");
    assert_true(c->max_ulp == 0);
    lb_contract_close(c);
}

static void wrong_names_and_parameters_are_refused_in_one_line(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *what;
        lb_status status;
        const char *words;
    } rows[] = {
        {__LINE__, "ulps:4", LB_E_NAME, "did you mean ulp?"},
        {__LINE__, "", LB_E_NAME, "no such contract"},
        {__LINE__, "ulp:", LB_E_ARG, "max_ulp should be a whole number"},
        {__LINE__, "ulp:-1", LB_E_ARG, "whole number"},
        {__LINE__, "ulp:0.5", LB_E_ARG, "whole number"},
        {__LINE__, "ulp:nan", LB_E_ARG, "whole number"},
        {__LINE__, "ulp:inf", LB_E_ARG, "whole number"},
        {__LINE__, "ulp:4,5", LB_E_ARG, "too many parameters"},
        {__LINE__, "ulp:4x", LB_E_ARG, "whole number"},
        {__LINE__, "allclose:1e-5,", LB_E_ARG, "atol should be a number"},
        {__LINE__, "allclose:1e999", LB_E_ARG, "rtol should be a number"},
        {__LINE__, "m16-tc:2", LB_E_ARG, "has no parameters"},
        {__LINE__, "statistical:0", LB_E_ARG, "above 0"},
        {__LINE__, "statistical:1", LB_E_ARG, "from 0 to 0.5"},
        {__LINE__, "absent/x.json", LB_E_FILE, "cannot be opened"},
        {__LINE__, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", LB_E_NAME, "no such contract"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_contract *c = (lb_contract *)(uintptr_t)1;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_contract_open(rows[i].what, &c, &err), rows[i].status);
        assert_null(c);
        if (!strstr(err.message, rows[i].words)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
}

static void a_file_sets_what_it_says_and_keeps_the_rest_of_its_rule(void **state) {
    (void)state;
    lb_contract *c =
        read_json("{\"name\": \"n\", \"rule\": \"gamma\", \"formats\": [\"bf16\", \"f32\"], \"accumulator\": {\"rounding\": \"truncate\", "
                  "\"step\": 16, \"frac_bits\": 25}, \"reduction\": {\"levels\": [{\"order\": \"sequential\", \"width\": 8}, "
                  "{\"order\": \"pairwise\"}], \"split_k\": 4, \"promote\": 128, \"rounds_products\": true}, \"scale_fold\": "
                  "\"128-block\", \"flush\": {\"inputs\": true, \"sums\": false}, \"specials\": \"flush\", \"note\": \"why\"}");
    const lb_reduction *r = &c->reduction;
    assert_string_equal(c->name, "n");
    assert_string_equal(c->formats, "bf16 f32");
    assert_string_equal(c->note, "why");
    assert_true(c->bound == LB_BOUND_GAMMA && c->unit_roundoff == 0x1p-23 && r->truncates && r->step == 16 && r->frac_bits == 25);
    assert_true(r->level_count == 2 && r->levels[0].width == 8 && r->levels[1].order == LB_ORDER_PAIRWISE && r->levels[1].width == 0);
    assert_true(r->split_k == 4 && r->promote == 128 && r->fold_group == 128 && !r->fold_element && r->rounds_products);
    assert_true(r->flushes_inputs && !r->flushes_sums && c->specials == LB_SPECIALS_FLUSH);
    lb_contract_close(c);
    c = read_json(
        "{\"rule\": \"statistical\", \"bound\": {\"false_alarm\": 1e-6, \"cases\": 40}, \"accumulator\": {\"unit_roundoff\": \"2^-11\"}}");
    assert_string_equal(c->name, "x.json");
    assert_true(c->false_alarm == 1e-6 && c->cases == 40 && c->unit_roundoff == 0x1p-11);
    lb_contract_close(c);
    c = read_json("{\"rule\": \"torch\", \"bound\": {\"atol\": 1}}");
    assert_true(c->atol == 1 && !c->dtypes);
    lb_contract_close(c);
}

static void a_file_that_is_wrong_is_refused_in_one_line_with_the_key(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text, *words;
    } rows[] = {
        {__LINE__, "", "line"},
        {__LINE__, "{", "line"},
        {__LINE__, "[]", "is a JSON object"},
        {__LINE__, "{}", "\"rule\" is missing"},
        {__LINE__, "{\"rule\": 3}", "\"rule\" should be a string"},
        {__LINE__, "{\"rule\": \"gama\"}", "did you mean gamma?"},
        {__LINE__, "{\"rule\": \"gamma\", \"rule\": \"ulp\"}", "duplicate"},
        {__LINE__, "{\"rule\": \"gamma\", \"reductions\": {}}", "unknown key \"reductions\"; did you mean reduction"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"splitk\": 2}}", "unknown key \"reduction.splitk\"; did you mean split_k"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": []}", "\"reduction\" should be an object"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"split_k\": 0}}", "\"reduction.split_k\" should be a whole number from 1"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"split_k\": 1.5}}", "whole number"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"levels\": []}}", "1 to 8 levels"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"levels\": [{}]}}", "\"reduction.levels[0].order\" is missing"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"levels\": [3]}}", "\"reduction.levels[0]\" should be an object"},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"levels\": [{\"order\": \"pairs\"}]}}", "did you mean"},
        {__LINE__, "{\"rule\": \"gamma\", \"scale_fold\": {\"group\": 0}}", "\"scale_fold.group\" should be"},
        {__LINE__, "{\"rule\": \"gamma\", \"scale_fold\": \"block\"}", "not known"},
        {__LINE__, "{\"rule\": \"gamma\", \"scale_fold\": 128}", "\"scale_fold\" should be an object"},
        {__LINE__, "{\"rule\": \"gamma\", \"formats\": [\"bf61\"]}", "did you mean"},
        {__LINE__, "{\"rule\": \"gamma\", \"formats\": []}", "array of names"},
        {__LINE__, "{\"rule\": \"gamma\", \"specials\": \"satuate\"}", "did you mean saturate?"},
        {__LINE__, "{\"rule\": \"gamma\", \"accumulator\": {\"unit_roundoff\": \"2^-\"}}", "unit_roundoff"},
        {__LINE__, "{\"rule\": \"gamma\", \"accumulator\": {\"unit_roundoff\": 0}}", "unit_roundoff"},
        {__LINE__, "{\"rule\": \"gamma\", \"flush\": {\"inputs\": 1}}", "should be true or false"},
        {__LINE__, "{\"rule\": \"ulp\", \"bound\": {\"max_ulp\": -1}}", "\"bound.max_ulp\" should be"},
        {__LINE__, "{\"rule\": \"ulp\", \"bound\": {\"max_ulp\": \"four\"}}", "\"bound.max_ulp\" should be"},
        {__LINE__, "{\"rule\": \"ulp\", \"reduction\": {\"split_k\": 2}}", "says nothing to this rule"},
        {__LINE__, "{\"rule\": \"ulp\", \"note\": [1]}", "\"note\" should be a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_contract *c = (lb_contract *)(uintptr_t)1;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_contract_from_json(rows[i].text, strlen(rows[i].text), "x.json", &c, &err), LB_E_FILE);
        assert_null(c);
        assert_string_equal(err.place, "x.json");
        if (!strstr(err.message, rows[i].words) || strchr(err.message, '\n'))
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
}

static void a_declared_reduction_is_counted_along_its_longest_way(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text;
        double k, x; /* the sum of roundings, in units of 2^-24, on the longest way; 1 of them is for C */
    } rows[] = {
        {__LINE__, "{\"rule\": \"gamma\"}", 4096, 4096 + 1},
        {__LINE__, "{\"rule\": \"gamma-rz\"}", 4096, 2 * 4096 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"levels\": [{\"order\": \"pairwise\"}]}}", 4096, 12 + 1},
        /* 64 lanes of 64, then trees of 32 and of 2: 64 + 5 + 1 */
        {__LINE__,
         "{\"rule\": \"gamma\", \"reduction\": {\"levels\": [{\"order\": \"sequential\", \"width\": 64}, {\"order\": \"pairwise\", "
         "\"width\": 32}, "
         "{\"order\": \"pairwise\"}]}}",
         4096, 64 + 5 + 1 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"levels\": [{\"order\": \"sequential\", \"width\": 64}]}}", 4096,
         64 + 64 + 1}, /* the rest: a chain */
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"split_k\": 8}}", 4096, 512 + 8 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"split_k\": 3}}", 10, 4 + 3 + 1},
        {__LINE__, "{\"rule\": \"gamma-rz\", \"reduction\": {\"promote\": 128}}", 4096, 2 * 128 + 32 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"scale_fold\": \"element\"}", 4096, 4096 + 2 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"scale_fold\": \"128-block\"}", 4096, 128 + 32 + 2 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"scale_fold\": {\"group\": 32}}", 4096, 32 + 128 + 2 + 1},
        {__LINE__, "{\"rule\": \"gamma\", \"reduction\": {\"rounds_products\": true}}", 4096, 4096 + 1 + 1},
        /* steps of 16 whose 17 addends keep 25 bits, then truncate to f32: 256 (17 / 2 + 2) */
        {__LINE__, "{\"rule\": \"gamma\", \"accumulator\": {\"rounding\": \"truncate\", \"step\": 16, \"frac_bits\": 25}}", 4096,
         256 * 10.5 + 1},
        /* … whose bits nobody declares: each addend is an addition */
        {__LINE__, "{\"rule\": \"gamma\", \"accumulator\": {\"rounding\": \"truncate\", \"step\": 16}}", 4096, 2 * 4096 + 1},
        /* fp8 on sm_90: 33 addends keep 13 bits, promoted each 128: 4 (33 * 2^11 + 2) + 32 + 1 */
        {__LINE__,
         "{\"rule\": \"gamma\", \"accumulator\": {\"rounding\": \"truncate\", \"step\": 32, \"frac_bits\": 13}, \"reduction\": "
         "{\"promote\": 128}}",
         4096, 4 * (33 * 2048.0 + 2) + 32 + 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_contract *c = read_json(rows[i].text);
        const double x = rows[i].x * 0x1p-24, want = x / (1 - x), got = lb_reduction_gamma(c, rows[i].k);
        if (!(fabs(got - want) <= 1e-14 * want)) fail_msg("row at %s:%d: got %.17g, want %.17g", __FILE__, rows[i].line, got, want);
        lb_contract_close(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_opens_by_its_name_and_has_a_source_and_a_note),
        cmocka_unit_test(parameters_are_read_in_the_rows_order_and_echoed_in_the_name),
        cmocka_unit_test(wrong_names_and_parameters_are_refused_in_one_line),
        cmocka_unit_test(a_file_sets_what_it_says_and_keeps_the_rest_of_its_rule),
        cmocka_unit_test(a_file_that_is_wrong_is_refused_in_one_line_with_the_key),
        cmocka_unit_test(a_declared_reduction_is_counted_along_its_longest_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
