/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The views of a record: text for a person who reads a log, JUnit for CI. */
#include "record_full.h"
#include "text_files.h"

#include "lastbit/report.h"

static char *text_of(const lb_record *r) {
    char *text = NULL;
    lb_error err = {0};
    if (lb_report_text(r, false, &text, &err) != LB_OK) fail_msg("%s", err.message);
    return text;
}

static void expect_part(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void expect_no_part(const char *text, const char *part) {
    if (strstr(text, part)) fail_msg("\"%s\" is in:\n%s", part, text);
}

/* ---- text ------------------------------------------------------------------------------------------------------------------- */

static const char headline[] =
    "FAIL op=matmul in=bf16 m=2 n=2 k=3: compared=4 exact=1 legal=1 wrong=2 worst=Infinityulp bound=0.015625 at=0,1\n";

static void text_and_brief_begin_with_the_line_that_is_searched_for(void **state) {
    (void)state;
    lb_record *r = full_record();
    char *text = text_of(r), *brief;
    assert_int_equal(lb_report_brief(r, false, &brief, NULL), LB_OK);
    assert_memory_equal(text, headline, sizeof headline - 1);
    assert_memory_equal(brief, headline, sizeof headline - 1);
    assert_true(strlen(brief) < strlen(text));
    free(text);
    free(brief);
    lb_record_close(r);
}

/* Line by line: a script may rely on the labels. */
static void the_text_says_what_an_engineer_asks(void **state) {
    (void)state;
    static const char *const parts[] = {
        "\n  reason     2 of 4 elements are wrong\n",
        "\n  cause      not written\n",
        "\n  exact:     1/4, 3 differ\n",
        "\n  unit       sm_80/mma.m16n8k16.f32.bf16.bf16.f32, inferred [a-source]\n",
        "\n  evidence   2,500 dots\n",
        "\n  open       D1 D16 (docs/open-edges.md: ",
        "\n  contract   m16-tc, recorded [b-source]: 2 ulp or the floor at k = 3; rel_rms <= 0.001\n",
        "NaN in actual 1, other class 1, NaN of other bits 1, zero of other sign 2, flushed 3, saturated 4, overflowed 5, subnormal inputs "
        "6\n",
        "\n  metrics    max_ulp Infinity, max_abs 1.5, rel_rms NaN, rms 0.142222\n",
        "\n  first      row 0, column 1: 0x7fc0 (NaN), reference 0x3f80 (1), unit 0x3f81 (1.0078125); Infinity ulp, off by Infinity, "
        "allowed 0.015625\n",
        "\n  worst      row 0, column 1: ",
        "\n  the first 2 of 2 wrong elements:\n",
        "\n  on         file:D \"quoted\" ? <&>.npy\n",
        "\n  reference  exact, rounded once\n",
        "\n  coverage   all\n",
        "\n  seconds    total 0.25\n",
        "\n  machine    lastbit " LB_VERSION,
        "\n  rerun      lastbit check A B\n",
    };
    lb_record *r = full_record();
    char *text = text_of(r);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) expect_part(text, parts[i]);
    free(text);
    lb_record_close(r);
}

static void what_does_not_apply_is_left_out(void **state) {
    (void)state;
    lb_record *r = empty_record();
    lb_record_text(&r->case_string, "op=grade");
    r->verdict = LB_PASS;
    r->counts = (lb_counts){.total = 4, .compared = 4, .exact = 4};
    lb_record_text(&r->reason, "all 4 elements are exact");
    lb_record_text(&r->environment, "x");
    lb_record_text(&r->rerun, "lastbit grade"); /* nobody reruns a PASS */
    char *text = text_of(r);
    assert_string_equal(text, "PASS op=grade: compared=4 exact=4 legal=0 wrong=0\n  reason     all 4 elements are exact\n  machine    x\n");
    free(text);
    lb_record_close(r);
}

static void a_run_that_compared_nothing_says_so(void **state) {
    (void)state;
    lb_record *r = empty_record();
    char *text = text_of(r);
    assert_memory_equal(text, "UNPROVEN ", 9);
    expect_part(text, "  reason     nothing ran yet\n");
    expect_part(text, "  counts     nothing compared: 0 of 0 elements\n");
    free(text);
    r->counts.total = 4;
    text = text_of(r);
    expect_part(text, "nothing compared: 0 of 4 elements\n");
    free(text);
    r->counts.compared = 3;
    text = text_of(r);
    expect_no_part(text, "nothing compared");
    expect_part(text, "  counts     3 of 4 elements compared\n");
    free(text);
    lb_record_close(r);
}

static void the_exact_count_speaks_of_the_unit_only(void **state) {
    (void)state;
    lb_record *r = full_record();
    r->counts.exact = 4;
    char *text = text_of(r);
    expect_part(text, "\n  exact:     4/4\n");
    free(text);
    lb_record_text(&r->unit_name, "%s", "");
    text = text_of(r);
    expect_no_part(text, "exact:");
    free(text);
    lb_record_close(r);
}

static void only_the_verdict_is_coloured_and_only_where_asked(void **state) {
    (void)state;
    lb_record *r = full_record();
    for (int v = 0; v < LB_VERDICT_COUNT; v++) {
        char *plain, *colored;
        r->verdict = (lb_verdict)v;
        assert_int_equal(lb_report_text(r, false, &plain, NULL), LB_OK);
        assert_int_equal(lb_report_text(r, true, &colored, NULL), LB_OK);
        assert_null(strchr(plain, '\033'));
        const size_t n = strlen(lb_verdict_name(r->verdict));
        assert_memory_equal(colored, "\033[3", 3); /* five bytes, the verdict, four bytes */
        assert_memory_equal(colored + 5, plain, n);
        assert_memory_equal(colored + 5 + n, "\033[0m", 4);
        assert_string_equal(colored + 9 + n, plain + n);
        free(plain);
        free(colored);
    }
    lb_record_close(r);
}

static void an_edge_without_a_number_is_printed_as_it_is(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *open, *want;
    } rows[] = {
        {__LINE__, "", NULL},
        {__LINE__, "nobody knows the order", "\n  open       nobody knows the order\n"},
        {__LINE__, "D12: x", "\n  open       D12 (docs"},
        {__LINE__, "XD1: x; D: y; D2 z", "\n  open       XD1: x; D: y; D2 z\n"},
    };
    lb_record *r = full_record();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record_text(&r->unit_open, "%s", rows[i].open);
        char *text = text_of(r);
        if (rows[i].want ? !strstr(text, rows[i].want) : strstr(text, "  open ") != NULL)
            fail_msg("row at %s:%d: in\n%s", __FILE__, rows[i].line, text);
        free(text);
    }
    lb_record_close(r);
}

/* f32 needs nine digits; narrow formats and small fractions of f64 are exact. */
static void values_are_exact_or_read_back_as_the_code(void **state) {
    (void)state;
    static const struct {
        int line;
        lb_format_id format;
        uint64_t code;
        const char *want;
    } rows[] = {
        {__LINE__, LB_BF16, 0x3f81, "0x3f81 (1.0078125)"},
        {__LINE__, LB_F32, 0x3dcccccd, "0x3dcccccd (0.100000001)"},
        {__LINE__, LB_F32, 0xbf800000, "0xbf800000 (-1)"},
        {__LINE__, LB_F32, 0xff800000, "0xff800000 (-Infinity)"},
        {__LINE__, LB_F64, 0x3fb999999999999a, "0x3fb999999999999a (0.1)"},
        {__LINE__, LB_F64, 0x3fd5555555555555, "0x3fd5555555555555 (0.3333333333333333)"},
        {__LINE__, LB_E2M1, 0x7, "0x7 (6)"},
    };
    lb_record *r = full_record();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r->out_format = lb_format_row(rows[i].format);
        r->first.actual = rows[i].code;
        r->first.actual_value = lb_to_double(r->out_format, rows[i].code);
        char *text = text_of(r);
        if (!strstr(text, rows[i].want)) fail_msg("row at %s:%d: \"%s\" is not in\n%s", __FILE__, rows[i].line, rows[i].want, text);
        free(text);
    }
    for (uint64_t i = 0; i < 2000; i++) { /* any f32: what is printed is the code again */
        const lb_format *f = lb_format_row(LB_F32);
        r->out_format = f;
        r->first.actual = lb_random_u64(3, 0, i) >> 32;
        r->first.actual_value = lb_to_double(f, r->first.actual);
        if (!isfinite(r->first.actual_value)) continue;
        char *text = text_of(r), *at = strstr(text, "  first ");
        assert_non_null(at);
        const uint64_t back = lb_from_double(f, strtod(strchr(at, '(') + 1, NULL));
        if (back != r->first.actual) fail_msg("0x%llx is printed as 0x%llx", (unsigned long long)r->first.actual, (unsigned long long)back);
        free(text);
    }
    lb_record_close(r);
}

static void the_table_has_floors_under_a_contract_and_words_without(void **state) {
    (void)state;
    lb_record *r = full_record();
    r->outliers[0].actual_value = 2;
    char *text = text_of(r);
    expect_part(text, "row   column  reference      actual                ulp  |ref|/rms    row rms      floor    allowed\n");
    expect_part(text, "\n           0        1  1              2                     inf          1          1   0.007812    0.01562\n");
    free(text);
    lb_record_text(&r->contract_name, "%s", "");
    text = text_of(r);
    expect_no_part(text, "|ref|/rms");
    expect_part(text, "\n           0        1  1              2              0x3f80             0x7fc0                    inf\n");
    free(text);
    r->outlier_count = 1; /* the line `first` has it */
    text = text_of(r);
    expect_no_part(text, "wrong elements:");
    free(text);
    lb_record_close(r);
}

/* A name of a file, or a record from anywhere, must not forge a verdict, nor reach the terminal. */
static void strings_stay_on_their_line(void **state) {
    (void)state;
    static const char evil[] = "a\nPASS op=x: b\033[2J\x7f \xc2\x9b \xff \xc3\xa9 \t\r";
    lb_record *r = full_record();
    char **const fields[] = {&r->case_string,
                             &r->op,
                             &r->on,
                             &r->unit_name,
                             &r->unit_source,
                             &r->unit_note,
                             &r->unit_open,
                             &r->contract_name,
                             &r->contract_source,
                             &r->contract_note,
                             &r->reason,
                             &r->cause,
                             &r->reference,
                             &r->coverage,
                             &r->rerun,
                             &r->environment};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) lb_record_text(fields[i], "%s", evil);
    char *text = text_of(r);
    for (const char *p = text; *p; p++) {
        if (*p == '\n' && p[1] && p[1] != ' ') fail_msg("a line begins at the margin:\n%s", p + 1);
        if ((*p > 0 && *p < 0x20 && *p != '\n') || *p == 0x7f) fail_msg("byte 0x%02x in:\n%s", (unsigned)*p, text);
    }
    expect_part(text, "FAIL a?PASS op=x: b?[2J? ?? ? \xc3\xa9 ??: compared=");
    expect_part(text, "  reason     a?PASS op=x: b?[2J? ?? ? \xc3\xa9 ??\n");
    free(text);
    lb_record_close(r);
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------------------ */

static char *junit_of(lb_record *const *r, size_t count) {
    char *text;
    assert_int_equal(lb_report_junit((const lb_record *const *)r, count, &text, NULL), LB_OK);
    return text;
}

static size_t occurrences(const char *text, const char *part) {
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, part)); p++) n++;
    return n;
}

static void junit_tells_failure_error_and_skip_apart(void **state) {
    (void)state;
    lb_record *r[LB_VERDICT_COUNT];
    for (int i = 0; i < LB_VERDICT_COUNT; i++) {
        r[i] = full_record();
        r[i]->verdict = (lb_verdict)i;
        lb_record_text(&r[i]->reason, "why %s", lb_verdict_name(r[i]->verdict));
    }
    char *text = junit_of(r, LB_VERDICT_COUNT);
    static const char *const parts[] = {"tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\"",
                                        "<failure message=\"why FAIL\"",
                                        "<error message=\"why UNPROVEN\"",
                                        "<skipped message=\"why SKIP\"",
                                        "name=\"op=matmul in=bf16 m=2 n=2 k=3\" time=\"0.250000\"",
                                        "<system-out>PASS op=matmul",
                                        "&quot;quoted&quot; ? &lt;&amp;&gt;"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) expect_part(text, parts[i]);
    expect_no_part(text, "message=\"why PASS");
    assert_int_equal(occurrences(text, "<testcase "), 4);
    assert_int_equal(occurrences(text, "message="), 3);
    free(text);
    for (int i = 0; i < LB_VERDICT_COUNT; i++) lb_record_close(r[i]);
}

static void a_run_without_records_is_an_empty_suite(void **state) {
    (void)state;
    char *text = junit_of(NULL, 0);
    expect_part(text, "tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\"");
    assert_int_equal(occurrences(text, "<testcase "), 0);
    free(text);
}

static void utf8_goes_through_and_what_xml_cannot_hold_does_not(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *in, *out;
    } rows[] = {
        {__LINE__, "<&>\"'", "\"&lt;&amp;&gt;&quot;&apos;\""},
        {__LINE__, "caf\xc3\xa9 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xf0\x9f\x98\x80\""},
        {__LINE__, "a\x01\x1b\x7f\r", "\"a????\""},
        {__LINE__, "\xff\xc3", "\"??\""},
        {__LINE__, "\xef\xbf\xbe \xef\xbf\xbf \xef\xbf\xbd", "\"??? ??? \xef\xbf\xbd\""}, /* U+FFFE, U+FFFF; U+FFFD is a character */
        {__LINE__, "\xed\xa0\x80 \xc2\x85", "\"??? ??\""},                                /* a surrogate; a control character */
    };
    lb_record *r = full_record();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record_text(&r->reason, "%s", rows[i].in);
        char *text = junit_of(&r, 1);
        if (!strstr(text, rows[i].out)) fail_msg("row at %s:%d: %s is not in\n%s", __FILE__, rows[i].line, rows[i].out, text);
        free(text);
    }
    lb_record_close(r);
}

static void junit_is_xml_whatever_bytes_the_record_holds(void **state) {
    (void)state;
    static const char ask[] = "import sys, xml.etree.ElementTree as e\n"
                              "r = e.parse(sys.argv[1]).getroot()\n"
                              "sys.exit(r.tag != 'testsuites' or len(r[0]) != 64)\n";
    char path[] = "/tmp/lastbit-junit-XXXXXX";
    lb_record *r[64];
    for (uint64_t i = 0; i < 64; i++) {
        char bytes[65] = "";
        for (uint64_t j = 0; j < 64; j++) bytes[j] = (char)(1 + lb_random_u64(4, (uint32_t)i, j) % 255);
        r[i] = full_record();
        lb_record_text(&r[i]->case_string, "%s", bytes);
        lb_record_text(&r[i]->reason, "%s", bytes);
        lb_record_text(&r[i]->on, "%s", bytes);
    }
    char *text = junit_of(r, 64);
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
    free(text);
    for (size_t i = 0; i < 64; i++) lb_record_close(r[i]);
    ask_python("junit_is_xml_whatever_bytes_the_record_holds", ask, path, NULL);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_brief_begin_with_the_line_that_is_searched_for),
        cmocka_unit_test(the_text_says_what_an_engineer_asks),
        cmocka_unit_test(what_does_not_apply_is_left_out),
        cmocka_unit_test(a_run_that_compared_nothing_says_so),
        cmocka_unit_test(the_exact_count_speaks_of_the_unit_only),
        cmocka_unit_test(only_the_verdict_is_coloured_and_only_where_asked),
        cmocka_unit_test(an_edge_without_a_number_is_printed_as_it_is),
        cmocka_unit_test(values_are_exact_or_read_back_as_the_code),
        cmocka_unit_test(the_table_has_floors_under_a_contract_and_words_without),
        cmocka_unit_test(strings_stay_on_their_line),
        cmocka_unit_test(junit_tells_failure_error_and_skip_apart),
        cmocka_unit_test(a_run_without_records_is_an_empty_suite),
        cmocka_unit_test(utf8_goes_through_and_what_xml_cannot_hold_does_not),
        cmocka_unit_test(junit_is_xml_whatever_bytes_the_record_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
