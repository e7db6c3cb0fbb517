/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Text that is no record, or one that contradicts itself, is refused by the path of what is wrong. */
#include "record_full.h"

#include <jansson.h>

static void expect_refused(const char *text, const char *words) {
    lb_record *out = (lb_record *)(uintptr_t)1;
    lb_error err = {0};
    if (lb_record_from_json(&out, text, strlen(text), "t", &err) != LB_E_FILE) fail_msg("read, instead of an error about %s", words);
    assert_null(out);
    assert_string_equal(err.place, "t");
    if (!strstr(err.message, words)) fail_msg("the error does not speak of %s: %s", words, err.message);
}

/* Keys that the first records had not: missing ones are read as nothing. */
static bool added_later(const char *path) {
    static const char *const added[] = {"contract.rule",
                                        "contract.specials",
                                        "counts.nan_payload",
                                        "counts.zero_sign",
                                        "counts.flushed",
                                        "counts.saturated",
                                        "counts.overflowed",
                                        "counts.subnormal_inputs",
                                        "power",
                                        "known"};
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++)
        if (strcmp(path, added[i]) == 0) return true;
    return false;
}

/* Take out every key of `at` in turn, and give it another type; each is refused by its path. `at` lies within root. */
static void bend_each_key(json_t *root, json_t *at, const char *path) {
    json_t *whole = json_deep_copy(at), *value;
    const char *key;
    json_object_foreach(whole, key, value) {
        char full[128], words[160];
        snprintf(full, sizeof full, "%s%s%s", path, *path ? "." : "", key);

        if (json_is_object(value)) bend_each_key(root, json_object_get(at, key), full);
        for (int bent = 0; bent < 2; bent++) {
            if (bent)
                json_object_set_new(at, key, json_true());
            else
                json_object_del(at, key);
            snprintf(words, sizeof words, "\"%s\" is %s", full, bent ? "no" : "missing");
            char *changed = json_dumps(root, 0);
            if (!bent && added_later(full))
                lb_record_close(record_of(changed));
            else
                expect_refused(changed, words);
            free(changed);
        }
        json_object_set(at, key, value);
    }
    json_decref(whole);
}

static void a_row_of_the_power_that_is_bent_is_refused_by_the_path(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = json_of(r), *changed;
    json_t *root = json_loads(text, 0, NULL);
    json_t *row = json_array_get(json_object_get(json_object_get(root, "power"), "faults"), 1);
    json_object_del(row, "allowed"); /* the only truth value: bent by hand */
    changed = json_dumps(root, 0);
    expect_refused(changed, "\"power.faults[1].allowed\" is missing");
    free(changed);
    json_object_set_new(row, "allowed", json_integer(1));
    changed = json_dumps(root, 0);
    expect_refused(changed, "\"power.faults[1].allowed\" is neither");
    free(changed);
    json_object_set_new(row, "allowed", json_false());
    char words[300];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = 0;
    json_object_set_new(row, "why", json_string(words));
    changed = json_dumps(root, 0);
    expect_refused(changed, "\"power.faults[1].why\" is too long");
    free(changed);
    json_object_set_new(row, "why", json_string("short"));
    json_object_set_new(row, "end", json_string("escaped"));
    changed = json_dumps(root, 0);
    expect_refused(changed, "\"power.faults[1].end\" is none of the known words");
    free(changed);
    json_decref(root);
    free(text);
    lb_record_close(r);
}

static void a_record_without_a_key_or_with_another_type_is_refused_by_the_path(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = json_of(r);
    json_t *root = json_loads(text, 0, NULL);
    bend_each_key(root, root, ""); /* leaves equal values, not the same ones */
    json_t *outliers = json_object_get(root, "outliers");
    bend_each_key(root, json_array_get(outliers, 1), "outliers[1]");
    json_array_set_new(outliers, 1, json_null());
    char *changed = json_dumps(root, 0);
    expect_refused(changed, "\"outliers[1]\" is no object");
    free(changed);
    json_decref(root);
    free(text);
    lb_record_close(r);
}

/* The text with the first `from` replaced; the caller's to free(). */
static char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at) fail_msg("%s is not in %s", from, text);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void values_out_of_range_are_refused_by_the_path(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } rows[] = {
        {"\"compared\":4", "\"compared\":-4", "\"counts.compared\""},
        {"\"compared\":4", "\"compared\":4.0", "\"counts.compared\""},
        {"\"compared\":4", "\"compared\":\"4x\"", "\"counts.compared\""},
        {"\"compared\":4", "\"compared\":\"-4\"", "\"counts.compared\""},
        {"\"compared\":4", "\"compared\":\"\"", "\"counts.compared\""},
        {"\"compared\":4", "\"compared\":9223372036854775808", "too big"},
        {"\"18446744073709551614\"", "\"18446744073709551616\"", "\"seed\""},
        {"\"bits\":\"0x7fc0\"", "\"bits\":\"7fc0\"", "\"first.actual.bits\""},
        {"\"bits\":\"0x7fc0\"", "\"bits\":\"0x\"", "\"first.actual.bits\""},
        {"\"bits\":\"0x7fc0\"", "\"bits\":\"0x-1\"", "\"first.actual.bits\""},
        {"\"bits\":\"0x7fc0\"", "\"bits\":\"0x7fc0g\"", "\"first.actual.bits\""},
        {"\"bits\":\"0x7fc0\"", "\"bits\":\"0x17fc0\"", "wider than the output format"},
        {"\"bits\":\"0x7fc0\"", "\"bits\":\"0x10000000000000000\"", "\"first.actual.bits\""},
        {"\"at\":[0,1]", "\"at\":[0]", "\"first.at\""},
        {"\"at\":[0,1]", "\"at\":[0,-1]", "\"first.at[1]\""},
        {"\"at\":[0,1]", "\"at\":[0,1,2]", "\"first.at\""},
        {"\"ulp\":\"Infinity\"", "\"ulp\":\"inf\"", "\"first.ulp\""},
        {"\"ulp\":\"Infinity\"", "\"ulp\":null", "\"first.ulp\""},
        {"\"k\":3.0", "\"k\":1e999", "overflow"},
        {"\"verdict\":\"FAIL\"", "\"verdict\":\"pass\"", "\"verdict\""},
        {"\"evidence\":\"inferred\"", "\"evidence\":\"certain\"", "\"unit.evidence\""},
        {"\"out\":\"bf16\"", "\"out\":\"bf17\"", "\"out\" is no number format"},
        {"\"op\":\"matmul\"", "\"op\":\"a\\u0000b\"", "\\u0000"},
        {"\"op\":\"matmul\"", "\"op\":\"matmul\",\"op\":\"dot\"", "duplicate"},
    };
    lb_record *r = full_record();
    char *text = json_of(r);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *changed = replaced(text, rows[i].from, rows[i].to);
        expect_refused(changed, rows[i].words);
        free(changed);
    }
    free(text);
    lb_record_close(r);
}

/* Each count alone is one; together they are not. */
static void counts_that_contradict_each_other_are_refused_by_the_path(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } rows[] = {
        {"\"compared\":4", "\"compared\":3", "\"counts.compared\" is not the sum"},
        {"\"compared\":4", "\"compared\":5", "\"counts.compared\" is not the sum"},
        {"\"exact\":1", "\"exact\":5", "\"counts.compared\" is not the sum"},
        {"\"legal\":1", "\"legal\":\"18446744073709551615\"", "\"counts.compared\" is not the sum"},
        {"\"wrong\":2", "\"wrong\":\"18446744073709551615\"", "\"counts.compared\" is not the sum"},
        {"\"total\":\"18446744073709551615\"", "\"total\":3", "\"counts.compared\" is more than the total"},
        {"\"total\":\"18446744073709551615\",\"compared\":4,\"exact\":1,\"legal\":1,\"wrong\":2,\"nan_actual\":1",
         "\"total\":4,\"compared\":4,\"exact\":1,\"legal\":1,\"wrong\":2,\"nan_actual\":5", "\"counts.nan_actual\" is more than the total"},
        {"\"verdict\":\"FAIL\"", "\"verdict\":\"PASS\"", "\"counts.wrong\" is not 0, and the verdict is PASS"},
        {"\"caught\":1,", "\"caught\":3,", "\"power\" says that more is caught than due"},
    };
    lb_record *r = full_record(), *none = empty_record();
    char *text = json_of(r);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *changed = replaced(text, rows[i].from, rows[i].to);
        expect_refused(changed, rows[i].words);
        free(changed);
    }
    free(text);
    none->verdict = LB_PASS;
    text = json_of(none);
    expect_refused(text, "\"counts.compared\" is 0, and the verdict is PASS");
    free(text);
    lb_record_close(none);
    lb_record_close(r);
}

static void unknown_keys_are_ignored(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = json_of(r), *changed = replaced(text, "\"op\":", "\"later\":{\"a\":[1]},\"op\":");
    lb_record *back = record_of(changed);
    assert_string_equal(back->op, "matmul");
    lb_record_close(back);
    free(changed);
    free(text);
    lb_record_close(r);
}

static void malformed_text_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "null",
                                        "{} {}",
                                        "{\"schema\":\"lastbit.result/2\"}",
                                        "{\"schema\":1}",
                                        "{\"a\":1,\"a\":2}",
                                        "{\"schema\":\"\xff\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) expect_refused(texts[i], "");
    enum { DEEP = 1 << 20 };
    char *deep = malloc(DEEP + 1);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    deep[DEEP] = 0;
    expect_refused(deep, "depth");
    free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_the_power_that_is_bent_is_refused_by_the_path),
        cmocka_unit_test(a_record_without_a_key_or_with_another_type_is_refused_by_the_path),
        cmocka_unit_test(values_out_of_range_are_refused_by_the_path),
        cmocka_unit_test(counts_that_contradict_each_other_are_refused_by_the_path),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(malformed_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
