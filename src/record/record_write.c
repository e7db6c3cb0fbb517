/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A record as one line of JSON. docs/result-schema.md says what each key means. */
#include "lastbit/record.h"
#include "record/fields.h"
#include "record/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are no UTF-8 become '?'. */
static json_t *text(const char *s) {
    char *copy = strdup(s);
    if (!copy) return NULL;
    for (char *p = copy; *p;) {
        const size_t n = lb_utf8_length(p);
        if (!n) *p = '?';
        p += n ? n : 1;
    }
    json_t *j = json_string(copy);
    free(copy);
    return j;
}

/* Numbers that JSON cannot hold are strings. */
static json_t *number(double x) {
    if (isnan(x)) return json_string("NaN");
    if (isinf(x)) return json_string(x < 0 ? "-Infinity" : "Infinity");
    return json_real(x);
}

static json_t *number_or_null(double x) {
    return isnan(x) ? json_null() : number(x);
}

/* Beyond what a signed 64-bit integer holds, a decimal string. */
static json_t *count(uint64_t n) {
    char s[24];
    if (n <= INT64_MAX) return json_integer((json_int_t)n);
    snprintf(s, sizeof s, "%" PRIu64, n);
    return json_string(s);
}

static json_t *code_and_value(const lb_format *f, uint64_t code, double value) {
    char bits[24];
    snprintf(bits, sizeof bits, "0x%0*" PRIx64, f ? (f->bits + 3) / 4 : 1, code);
    return json_pack("{s:s, s:o}", "bits", bits, "value", number(value));
}

static json_t *element(const lb_format *f, const lb_element *e) {
    if (!e->present) return json_null();
    return json_pack("{s:[o,o], s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "at", count(e->row), count(e->col), "actual",
                     code_and_value(f, e->actual, e->actual_value), "reference", code_and_value(f, e->reference, e->reference_value),
                     "exact", e->has_exact ? code_and_value(f, e->exact_code, f ? lb_to_double(f, e->exact_code) : NAN) : json_null(),
                     "ulp", number(e->ulp), "abs_error", number(e->abs_error), "bound", number_or_null(e->bound), "row_rms",
                     number_or_null(e->row_rms), "floor", number_or_null(e->floor));
}

static json_t *unit(const lb_record *r) {
    if (!*r->unit_name) return json_null();
    return json_pack("{s:o, s:o, s:s, s:o, s:o}", "name", text(r->unit_name), "source", text(r->unit_source), "evidence",
                     lb_evidence_name(r->unit_evidence), "note", text(r->unit_note), "open", text(r->unit_open));
}

static json_t *contract(const lb_record *r) {
    if (!*r->contract_name) return json_null();
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", text(r->contract_name), "source", text(r->contract_source),
                     "evidence", lb_evidence_name(r->contract_evidence), "note", text(r->contract_note), "k", number_or_null(r->contract_k),
                     "max_ulp", number_or_null(r->contract_max_ulp), "rel_rms_gate", number_or_null(r->contract_rel_rms_gate), "rule",
                     text(r->contract_rule), "specials", text(r->contract_specials));
}

/* An object that lacks a key for want of memory is no object at all. */
static json_t *whole_or_null(json_t *j, bool whole) {
    if (whole) return j;
    json_decref(j);
    return NULL;
}

static json_t *counts(const lb_counts *c) {
    json_t *j = json_object();
    bool whole = true;
#define FIELD(name) whole = json_object_set_new(j, #name, count(c->name)) == 0 && whole;
    LB_COUNT_FIELDS(FIELD)
#undef FIELD
    return whole_or_null(j, whole);
}

static json_t *metrics(const lb_metrics *m) {
    if (!m->present) return json_null();
    json_t *j = json_object();
    bool whole = true;
#define FIELD(name) whole = json_object_set_new(j, #name, number(m->name)) == 0 && whole;
    LB_METRIC_FIELDS(FIELD)
#undef FIELD
    return whole_or_null(j, whole);
}

static json_t *timing(const lb_record *r) {
    json_t *j = json_object();
    bool whole = true;
#define FIELD(key, field) whole = json_object_set_new(j, #key, number_or_null(r->field)) == 0 && whole;
    LB_TIMING_FIELDS(FIELD)
#undef FIELD
    return whole_or_null(j, whole);
}

static json_t *outliers(const lb_record *r) {
    json_t *j = json_array();
    bool whole = true;
    for (size_t i = 0; i < r->outlier_count && whole; i++) whole = json_array_append_new(j, element(r->out_format, &r->outliers[i])) == 0;
    return whole_or_null(j, whole);
}

static json_t *power_row(const lb_power_row *p) {
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:[o,o], s:o}", "fault", p->fault, "end", lb_power_end_name(p->end), "allowed",
                     p->allowed, "changed", count(p->changed), "error", number_or_null(p->error), "limit", number_or_null(p->limit), "at",
                     count(p->row), count(p->col), "why", text(p->why));
}

static json_t *power(const lb_power_score *p) {
    if (!p->present) return json_null();
    json_t *rows = json_array();
    bool whole = rows != NULL;
    for (size_t i = 0; i < p->row_count && whole; i++) whole = json_array_append_new(rows, power_row(&p->rows[i])) == 0;
    return json_pack("{s:o, s:o, s:o, s:o}", "score", number_or_null(p->score), "caught", count(p->caught), "due", count(p->due), "faults",
                     whole_or_null(rows, whole));
}

lb_status lb_record_to_json(const lb_record *r, char **out, lb_error *err) {
    json_t *j = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
        LB_RECORD_SCHEMA, "case", text(r->case_string), "op", text(r->op), "on", text(r->on), "unit", unit(r), "contract", contract(r),
        "verdict", lb_verdict_name(r->verdict), "reason", text(r->reason), "counts", counts(&r->counts), "metrics", metrics(&r->metrics),
        "first", element(r->out_format, &r->first), "worst", element(r->out_format, &r->worst), "outliers", outliers(r), "cause",
        text(r->cause), "reference", text(r->reference), "coverage", text(r->coverage), "rerun", text(r->rerun), "out",
        r->out_format ? json_string(r->out_format->name) : json_null(), "seed", r->has_seed ? count(r->seed) : json_null(), "environment",
        text(r->environment), "timing", timing(r), "power", power(&r->power), "known", text(r->known));
    *out = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(j);
    return *out ? LB_OK : lb_fail(err, LB_E_MEMORY, "record", "no memory to write the record");
}
