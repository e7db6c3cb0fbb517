/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The record: written, read back the same, refused where it is wrong; its documentation names every key. */
#include "record_full.h"

#include "record/fields.h"

#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- there and back -------------------------------------------------------------------------------------------------------- */

static void expect_same_after_reading(const lb_record *r) {
    char *first = json_of(r);
    lb_record *again = record_of(first);
    char *second = json_of(again);
    assert_string_equal(first, second);
    free(first);
    free(second);
    lb_record_close(again);
}

static void an_empty_and_a_full_record_come_back_the_same(void **state) {
    (void)state;
    lb_record *records[] = {empty_record(), full_record()};
    for (size_t i = 0; i < 2; i++) {
        expect_same_after_reading(records[i]);
        lb_record_close(records[i]);
    }
}

static void a_record_comes_back_the_same_in_every_format_and_verdict(void **state) {
    (void)state;
    lb_record *r = full_record();
    for (lb_format_id id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row(id);
        r->out_format = f;
        r->verdict = (lb_verdict)(id % LB_VERDICT_COUNT);
        r->unit_evidence = (lb_evidence)(id % LB_EVIDENCE_COUNT);
        const uint64_t all_ones = UINT64_MAX >> (64 - 8 * f->bytes);
        r->first.actual = all_ones;
        r->first.reference = r->first.exact_code = 0;
        r->worst = r->outliers[0] = r->outliers[1] = r->first;
        expect_same_after_reading(r);
    }
    r->out_format = NULL;
    expect_same_after_reading(r);
    lb_record_close(r);
}

static void strings_of_a_mebibyte_come_back_the_same(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = malloc((1 << 20) + 1);
    assert_non_null(text);
    for (size_t i = 0; i < 1 << 20; i++) text[i] = (char)(1 + i % 127);
    text[1 << 20] = 0;
#define SAME(field)                                                                                                                        \
    do {                                                                                                                                   \
        lb_record_text(&r->field, "%s", text);                                                                                             \
        char *json = json_of(r);                                                                                                           \
        lb_record *back = record_of(json);                                                                                                 \
        assert_string_equal(back->field, text);                                                                                            \
        lb_record_text(&r->field, "short");                                                                                                \
        lb_record_close(back);                                                                                                             \
        free(json);                                                                                                                        \
    } while (0);
    LB_RECORD_TEXTS(SAME)
#undef SAME
    free(text);
    lb_record_close(r);
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
    assert_true(back->outliers[1].row == SIZE_MAX && signbit(back->outliers[1].actual_value) && !back->outliers[1].has_exact);
    assert_int_equal(back->out_format->id, LB_BF16);
    free(text);
    lb_record_close(back);
    lb_record_close(r);
}

static void doubles_come_back_bit_for_bit(void **state) {
    (void)state;
    lb_record *r = full_record();
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t bits = lb_random_u64(2, 0, i);
        memcpy(&r->metrics.rms, &bits, sizeof bits);
        if (!isfinite(r->metrics.rms)) continue;
        char *text = json_of(r);
        lb_record *back = record_of(text);
        if (memcmp(&back->metrics.rms, &bits, sizeof bits) != 0) fail_msg("%a came back as %a", r->metrics.rms, back->metrics.rms);
        free(text);
        lb_record_close(back);
    }
    lb_record_close(r);
}

static void counts_at_the_edge_of_signed_integers_come_back(void **state) {
    (void)state;
    static const struct {
        int line;
        uint64_t n;
        const char *json;
    } rows[] = {
        {__LINE__, 0, "\"seed\":0,"},
        {__LINE__, (UINT64_C(1) << 53) + 1, "\"seed\":9007199254740993,"},
        {__LINE__, INT64_MAX, "\"seed\":9223372036854775807,"},
        {__LINE__, (uint64_t)INT64_MAX + 1, "\"seed\":\"9223372036854775808\","},
        {__LINE__, UINT64_MAX, "\"seed\":\"18446744073709551615\","},
    };
    lb_record *r = full_record();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r->seed = rows[i].n;
        char *text = json_of(r);
        lb_record *back = record_of(text);
        if (!strstr(text, rows[i].json)) fail_msg("row at %s:%d: %s is not in %s", __FILE__, rows[i].line, rows[i].json, text);
        EXPECT_CODE(rows[i].line, back->seed, rows[i].n);
        free(text);
        lb_record_close(back);
    }
    lb_record_close(r);
}

static void bytes_that_are_no_utf8_become_question_marks(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *in, *out;
    } rows[] = {
        {__LINE__, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf",
         "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"},
        {__LINE__, "a\xff\xc3", "a??"},                /* a byte that never stands; one cut off by the end */
        {__LINE__, "\x80 \xc3 x", "? ? x"},            /* a continuation alone; a beginning alone */
        {__LINE__, "\xc1\xbf \xe0\x9f\xbf", "?? ???"}, /* overlong */
        {__LINE__, "\xed\xa0\x80", "???"},             /* a surrogate */
        {__LINE__, "\xf4\x90\x80\x80 \xf5", "???? ?"}, /* beyond U+10FFFF */
        {__LINE__, "\xf0\x9f\x98", "???"},             /* cut off */
    };
    lb_record *r = full_record();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record_text(&r->on, "%s", rows[i].in);
        char *text = json_of(r);
        lb_record *back = record_of(text);
        EXPECT_STRING(rows[i].line, back->on, rows[i].out);
        free(text);
        lb_record_close(back);
    }
    lb_record_close(r);
}

static void the_environment_names_no_host_and_no_folder(void **state) {
    (void)state;
    lb_record *r = empty_record();
    char host[256] = "";
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_memory_equal(r->environment, "lastbit " LB_VERSION "; ", sizeof "lastbit " LB_VERSION "; " - 1);
    assert_null(strchr(r->environment, '/'));
    if (strlen(host) > 5) assert_null(strstr(r->environment, host));
    lb_record_close(r);
}

/* ---- hostile text ---------------------------------------------------------------------------------------------------------- */

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

/* ---- the documentation ------------------------------------------------------------------------------------------------------ */

static char *file_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

/* Every key at every depth stands in the page (in backquotes); returns how many there are. */
static size_t expect_documented(const json_t *j, const char *page) {
    const char *key;
    const json_t *value;
    size_t i, keys = 0;
    json_object_foreach((json_t *)(uintptr_t)j, key, value) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", key);
        if (!strstr(page, quoted)) fail_msg("docs/result-schema.md says nothing of %s", quoted);
        keys += 1 + expect_documented(value, page);
    }
    json_array_foreach(j, i, value) keys += expect_documented(value, page);
    return keys;
}

static void every_key_is_documented(void **state) {
    (void)state;
    char *page = file_text(LB_SOURCE_DIR "/docs/result-schema.md");
    lb_record *r = full_record();
    char *text = json_of(r);
    json_t *root = json_loads(text, 0, NULL);
    assert_true(expect_documented(root, page) > 60);
    json_decref(root);
    free(text);
    free(page);
    lb_record_close(r);
}

/* Asks python3-jsonschema: records are valid, also closed to further keys (so that the schema knows each); bent ones are not. */
static const char ask[] = "import copy, json, sys\n"
                          "try:\n"
                          "    import jsonschema\n"
                          "except ImportError:\n"
                          "    sys.exit(77)\n"
                          "schema = json.load(open(sys.argv[1]))\n"
                          "jsonschema.Draft202012Validator.check_schema(schema)\n"
                          "def close(s):\n"
                          "    if isinstance(s, dict):\n"
                          "        if isinstance(s.get('properties'), dict): s['additionalProperties'] = False\n"
                          "        for v in s.values(): close(v)\n"
                          "    if isinstance(s, list):\n"
                          "        for v in s: close(v)\n"
                          "valid = jsonschema.Draft202012Validator(schema).is_valid\n"
                          "closed = copy.deepcopy(schema); close(closed)\n"
                          "records = [json.loads(line) for line in open(sys.argv[2], encoding='utf-8')]\n"
                          "for r in records:\n"
                          "    jsonschema.Draft202012Validator(closed).validate(r)\n"
                          "    for key in r:\n"
                          "        without = {k: v for k, v in r.items() if k != key}\n"
                          "        for bent in ({**r, key: True}, *([] if key in ('power', 'known') else [without])):\n"
                          "            if valid(bent): sys.exit('valid without, or with another type of, ' + key)\n"
                          "print(len(records), 'records valid, bent ones not')\n";

static void records_follow_the_json_schema(void **state) {
    (void)state;
    char path[] = "/tmp/lastbit-records-XXXXXX";
    const int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(f);
    for (int i = 0; i < 2 * LB_VERDICT_COUNT; i++) {
        lb_record *r = i % 2 ? full_record() : empty_record();
        r->verdict = (lb_verdict)(i / 2);
        char *text = json_of(r);
        fprintf(f, "%s\n", text);
        free(text);
        lb_record_close(r);
    }
    assert_int_equal(fclose(f), 0);
    const pid_t child = fork();
    if (child == 0) {
        execlp("python3", "python3", "-c", ask, LB_SOURCE_DIR "/docs/result-schema.json", path, (char *)NULL);
        _exit(77);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    unlink(path);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        puts("SKIP records_follow_the_json_schema: python3 with jsonschema is missing (apt-get install python3-jsonschema)");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- verdicts --------------------------------------------------------------------------------------------------------------- */

/* Of all runs of up to four verdicts: FAIL is 1; else UNPROVEN, or no PASS, is 3; else 0. */
static void the_exit_code_follows_the_precedence_in_any_order(void **state) {
    (void)state;
    for (size_t count = 0; count <= 4; count++) {
        for (unsigned code = 0; code < 1u << (2 * count); code++) {
            lb_verdict v[4];
            bool seen[LB_VERDICT_COUNT] = {false};
            for (size_t i = 0; i < count; i++) {
                v[i] = (lb_verdict)(code >> (2 * i) & 3);
                seen[v[i]] = true;
            }
            const int want = seen[LB_FAIL] ? 1 : seen[LB_UNPROVEN] ? 3 : seen[LB_PASS] ? 0 : 3;
            if (lb_records_exit(v, count) != want)
                fail_msg("%zu verdicts, code 0x%x: exit %d, want %d", count, code, lb_records_exit(v, count), want);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_and_a_full_record_come_back_the_same),
        cmocka_unit_test(a_record_comes_back_the_same_in_every_format_and_verdict),
        cmocka_unit_test(strings_of_a_mebibyte_come_back_the_same),
        cmocka_unit_test(values_survive_that_json_has_no_numbers_for),
        cmocka_unit_test(doubles_come_back_bit_for_bit),
        cmocka_unit_test(counts_at_the_edge_of_signed_integers_come_back),
        cmocka_unit_test(bytes_that_are_no_utf8_become_question_marks),
        cmocka_unit_test(the_environment_names_no_host_and_no_folder),
        cmocka_unit_test(a_row_of_the_power_that_is_bent_is_refused_by_the_path),
        cmocka_unit_test(a_record_without_a_key_or_with_another_type_is_refused_by_the_path),
        cmocka_unit_test(values_out_of_range_are_refused_by_the_path),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(every_key_is_documented),
        cmocka_unit_test(records_follow_the_json_schema),
        cmocka_unit_test(the_exit_code_follows_the_precedence_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
