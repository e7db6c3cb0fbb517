/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The record: written and read back the same; its documentation names every key. */
#include "record_full.h"
#include "text_files.h"

#include "record/fields.h"

#include <jansson.h>

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
        r->counts.wrong = r->verdict == LB_PASS ? 0 : 2; /* as the reader wants it */
        r->counts.legal = 3 - r->counts.wrong;
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

/* ---- the documentation ------------------------------------------------------------------------------------------------------ */

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
    char *page = read_text(LB_SOURCE_DIR "/docs/result-schema.md");
    lb_record *r = full_record();
    char *text = json_of(r);
    json_t *root = json_loads(text, 0, NULL);
    assert_true(expect_documented(root, page) > 60);
    json_decref(root);
    free(text);
    free(page);
    lb_record_close(r);
}

/* With python3-jsonschema: records are valid, also closed to further keys (so that the schema knows each); bent ones are not. */
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
    ask_python("records_follow_the_json_schema", ask, LB_SOURCE_DIR "/docs/result-schema.json", path);
    unlink(path);
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
        cmocka_unit_test(every_key_is_documented),
        cmocka_unit_test(records_follow_the_json_schema),
        cmocka_unit_test(the_exit_code_follows_the_precedence_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
