/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JUnit, as CI systems read it: failure, error and skipped are three things. */
#include "base/text.h"
#include "lastbit/report.h"
#include "record/utf8.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    char c;
    const char *entity;
} entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};

/* XML takes no control characters but tab and newline, and only UTF-8: other bytes become '?'. */
static void add_escaped(lb_text *t, const char *s) {
    while (*s) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            if (entities[i].c == *s) entity = entities[i].entity;
        const size_t n = *s == '\n' || *s == '\t' ? 1 : lb_utf8_printable_length(s);
        if (entity)
            lb_text_add(t, "%s", entity);
        else
            lb_text_add_bytes(t, n ? s : "?", n ? n : 1);
        s += n ? n : 1;
    }
}

static const char *const elements[LB_VERDICT_COUNT] = {[LB_FAIL] = "failure", [LB_UNPROVEN] = "error", [LB_SKIP] = "skipped"};

/* A known defect is no failure of this run: CI shows it as skipped, with what it is. */
static lb_verdict shown_as(const lb_record *r) {
    return r->verdict == LB_FAIL && *r->known ? LB_SKIP : r->verdict;
}

static lb_status add_case(lb_text *t, const lb_record *r, lb_error *err) {
    char *body;
    lb_status s = lb_report_text(r, false, &body, err);
    if (s != LB_OK) return s;
    lb_text_add(t, "  <testcase classname=\"lastbit\" name=\"");
    add_escaped(t, r->case_string);
    lb_text_add(t, "\" time=\"%.6f\">\n", isnan(r->seconds_total) ? 0.0 : r->seconds_total);
    const char *element = elements[shown_as(r)];
    if (element) {
        lb_text_add(t, "   <%s message=\"%s", element, *r->known ? "FAIL known: " : "");
        add_escaped(t, *r->known ? r->known : r->reason);
        lb_text_add(t, "\"/>\n");
    }
    lb_text_add(t, "   <system-out>");
    add_escaped(t, body);
    lb_text_add(t, "</system-out>\n  </testcase>\n");
    free(body);
    return LB_OK;
}

lb_status lb_report_junit(const lb_record *const *records, size_t count, char **out, lb_error *err) {
    lb_text t = {0};
    size_t seen[LB_VERDICT_COUNT] = {0};
    *out = NULL;
    for (size_t i = 0; i < count; i++) seen[shown_as(records[i])]++;
    lb_text_add(&t,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=\"lastbit\" tests=\"%zu\" failures=\"%zu\" "
                "errors=\"%zu\" skipped=\"%zu\">\n",
                count, seen[LB_FAIL], seen[LB_UNPROVEN], seen[LB_SKIP]);
    for (size_t i = 0; i < count; i++) {
        const lb_status s = add_case(&t, records[i], err);
        if (s == LB_OK) continue;
        free(t.s);
        return s;
    }
    lb_text_add(&t, " </testsuite>\n</testsuites>\n");
    return lb_text_take(&t, out, err);
}
