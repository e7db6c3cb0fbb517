/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The record: written, read back the same, refused where it is wrong; its documentation names every key; its views. */
#include "test.h"

#include "lastbit/record.h"
#include "lastbit/report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static lb_record *full_record(void) {
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    lb_record_text(&r->case_string, "op=matmul in=bf16 m=2 n=2 k=3");
    lb_record_text(&r->op, "matmul");
    lb_record_text(&r->on, "file:D \"quoted\" \x01 <&>.npy");
    lb_record_text(&r->unit_name, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32");
    lb_record_text(&r->unit_open, "D1: one way (or: another); D16: x");
    lb_record_text(&r->contract_name, "m16-tc");
    r->contract_k = 3;
    r->contract_max_ulp = 2;
    r->contract_rel_rms_gate = 1e-3;
    r->contract_evidence = LB_EVIDENCE_RECORDED;
    r->out_format = lb_format_row(LB_BF16);
    r->verdict = LB_FAIL;
    lb_record_text(&r->reason, "%d of %d elements are wrong", 2, 4);
    r->counts = (lb_counts){.total = UINT64_MAX, .compared = 4, .exact = 1, .legal = 1, .wrong = 2, .nan_actual = 1, .class_mismatch = 1};
    r->metrics = (lb_metrics){INFINITY, 1.5, NAN, 0x1.23456789abcdep-3, 0.5, 2, true};
    r->first = (lb_element){.present = true,
                            .row = 0,
                            .col = 1,
                            .actual = 0x7fc0,
                            .reference = 0x3f80,
                            .actual_value = NAN,
                            .reference_value = 1,
                            .ulp = INFINITY,
                            .abs_error = INFINITY,
                            .bound = 0.015625,
                            .row_rms = 1,
                            .exact_code = 0x3f81,
                            .has_exact = true};
    r->worst = r->first;
    assert_int_equal(lb_record_add_outlier(r, &r->first, NULL), LB_OK);
    lb_element second = r->first;
    second.col = 2;
    second.bound = NAN;
    assert_int_equal(lb_record_add_outlier(r, &second, NULL), LB_OK);
    r->seed = UINT64_MAX - 1;
    r->has_seed = true;
    r->seconds_total = 0.25;
    return r;
}

static char *json_of(const lb_record *r) {
    char *text;
    lb_error err = {0};
    if (lb_record_to_json(r, &text, &err) != LB_OK) fail_msg("%s", err.message);
    assert_null(strchr(text, '\n'));
    return text;
}

static lb_record *record_of(const char *text) {
    lb_record *r;
    lb_error err = {0};
    if (lb_record_from_json(&r, text, strlen(text), "text", &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return r;
}

static void a_record_comes_back_the_same(void **state) {
    (void)state;
    lb_record *records[2] = {full_record(), NULL};
    assert_int_equal(lb_record_open(&records[1], NULL), LB_OK); /* an empty one too */
    for (size_t i = 0; i < 2; i++) {
        char *first = json_of(records[i]);
        lb_record *again = record_of(first);
        char *second = json_of(again);
        assert_string_equal(first, second);
        free(first);
        free(second);
        lb_record_close(again);
        lb_record_close(records[i]);
    }
}

static void values_survive_that_json_has_no_numbers_for(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = json_of(r);
    lb_record *back = record_of(text);
    assert_true(back->counts.total == UINT64_MAX && back->seed == UINT64_MAX - 1 && back->has_seed);
    assert_true(isinf(back->metrics.max_ulp) && isnan(back->metrics.rel_rms) && back->metrics.rms == 0x1.23456789abcdep-3);
    assert_true(isnan(back->first.actual_value) && back->first.actual == 0x7fc0 && back->first.exact_code == 0x3f81);
    assert_true(isnan(back->seconds_model) && back->seconds_total == 0.25 && isnan(back->outliers[1].bound));
    assert_int_equal(back->out_format->id, LB_BF16);
    free(text);
    lb_record_close(back);
    lb_record_close(r);
}

static void bytes_that_are_no_utf8_become_question_marks(void **state) {
    (void)state;
    lb_record *r = full_record();
    lb_record_text(&r->on, "file:%s", "caf\xc3\xa9 \xff\xc3 \xed\xa0\x80 \xf5.npy");
    char *text = json_of(r);
    lb_record *back = record_of(text);
    assert_string_equal(back->on, "file:caf\xc3\xa9 ?? ??? ?.npy");
    free(text);
    lb_record_close(back);
    lb_record_close(r);
}

/* Each key taken out, and each given another type, is refused by its name. */
static void a_record_without_a_key_or_with_another_type_is_refused(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = json_of(r);
    json_t *root = json_loads(text, 0, NULL);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) {
        for (int bent = 0; bent < 2; bent++) {
            json_t *copy = json_deep_copy(root);
            if (bent)
                json_object_set_new(copy, key, json_true());
            else
                json_object_del(copy, key);
            char *changed = json_dumps(copy, 0);
            lb_record *out;
            lb_error err = {0};
            if (lb_record_from_json(&out, changed, strlen(changed), "t", &err) != LB_E_FILE)
                fail_msg("read with \"%s\" %s", key, bent ? "true" : "absent");
            assert_null(out);
            if (!bent && !strstr(err.message, key)) fail_msg("\"%s\" is not named: %s", key, err.message);
            free(changed);
            json_decref(copy);
        }
    }
    json_decref(root);
    free(text);
    lb_record_close(r);
}

static void malformed_text_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "{", "[]", "null", "{\"schema\":\"lastbit.result/2\"}", "{\"schema\":1}", "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lb_record *out;
        lb_error err = {0};
        assert_int_equal(lb_record_from_json(&out, texts[i], strlen(texts[i]), "t", &err), LB_E_FILE);
        assert_null(out);
        assert_true(err.message[0] != 0);
    }
}

static char *file_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

/* Every key at every depth stands in the document (in backquotes) and in the schema. */
static void expect_documented(const json_t *j, const char *page, const char *schema) {
    const char *key;
    const json_t *value;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)j, key, value) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", key);
        if (!strstr(page, quoted)) fail_msg("docs/result-schema.md says nothing of %s", quoted);
        snprintf(quoted, sizeof quoted, "\"%s\"", key);
        if (!strstr(schema, quoted)) fail_msg("docs/result-schema.json says nothing of %s", quoted);
        expect_documented(value, page, schema);
    }
    json_array_foreach(j, i, value) expect_documented(value, page, schema);
}

static void every_key_is_documented(void **state) {
    (void)state;
    char *page = file_text(LB_SOURCE_DIR "/docs/result-schema.md"), *schema = file_text(LB_SOURCE_DIR "/docs/result-schema.json");
    lb_record *r = full_record();
    char *text = json_of(r);
    json_t *root = json_loads(text, 0, NULL);
    expect_documented(root, page, schema);
    json_decref(root);
    free(text);
    free(page);
    free(schema);
    lb_record_close(r);
}

static void the_exit_code_follows_the_precedence(void **state) {
    (void)state;
    static const struct {
        int line;
        size_t count;
        lb_verdict verdicts[3];
        int want;
    } rows[] = {
        {__LINE__, 0, {LB_PASS}, 3},
        {__LINE__, 1, {LB_PASS}, 0},
        {__LINE__, 1, {LB_SKIP}, 3},
        {__LINE__, 1, {LB_UNPROVEN}, 3},
        {__LINE__, 1, {LB_FAIL}, 1},
        {__LINE__, 2, {LB_PASS, LB_SKIP}, 0},
        {__LINE__, 2, {LB_PASS, LB_UNPROVEN}, 3},
        {__LINE__, 3, {LB_UNPROVEN, LB_FAIL, LB_PASS}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_CODE(rows[i].line, lb_records_exit(rows[i].verdicts, rows[i].count), rows[i].want);
}

/* ---- views ------------------------------------------------------------------------------------------------------------------- */

static void the_text_begins_with_a_line_that_can_be_searched_for(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text, *brief;
    assert_int_equal(lb_report_text(r, false, &text, NULL), LB_OK);
    assert_int_equal(lb_report_brief(r, false, &brief, NULL), LB_OK);
    static const char first[] =
        "FAIL op=matmul in=bf16 m=2 n=2 k=3: compared=4 exact=1 legal=1 wrong=2 worst=Infinityulp bound=0.015625 at=0,1\n";
    assert_memory_equal(text, first, sizeof first - 1);
    assert_memory_equal(brief, first, sizeof first - 1);
    static const char *const parts[] = {"  reason     2 of 4", "  exact:     1/4, 3 differ\n",
                                        "row 0, column 1: 0x7fc0 (NaN), reference 0x3f80 (1), unit 0x3f81 (1.0078125)", "NaN in actual 1",
                                        "  open       D1 D16 ("};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text, parts[i])) fail_msg("\"%s\" is not in:\n%s", parts[i], text);
    assert_true(strlen(brief) < strlen(text));
    free(text);
    free(brief);
    lb_record_close(r);
}

static void junit_tells_failure_error_and_skip_apart_and_escapes(void **state) {
    (void)state;
    lb_record *r[4] = {full_record(), full_record(), full_record(), full_record()};
    char *text;
    for (int i = 0; i < 4; i++) r[i]->verdict = (lb_verdict)i;
    assert_int_equal(lb_report_junit((const lb_record *const *)r, 4, &text, NULL), LB_OK);
    static const char *const parts[] = {"tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\"",
                                        "<failure message=\"2 of 4",
                                        "<error message=",
                                        "<skipped message=",
                                        "&quot;quoted&quot; ? &lt;&amp;&gt;",
                                        "time=\"0.250000\""};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text, parts[i])) fail_msg("\"%s\" is not in:\n%s", parts[i], text);
    assert_null(strchr(text, 1));
    free(text);
    for (int i = 0; i < 4; i++) lb_record_close(r[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_back_the_same),
        cmocka_unit_test(values_survive_that_json_has_no_numbers_for),
        cmocka_unit_test(bytes_that_are_no_utf8_become_question_marks),
        cmocka_unit_test(a_record_without_a_key_or_with_another_type_is_refused),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(every_key_is_documented),
        cmocka_unit_test(the_exit_code_follows_the_precedence),
        cmocka_unit_test(the_text_begins_with_a_line_that_can_be_searched_for),
        cmocka_unit_test(junit_tells_failure_error_and_skip_apart_and_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
