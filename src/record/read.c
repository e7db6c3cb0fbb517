/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A record read back. The text may be anyone's: each key is checked, and an error names it. */
#include "lastbit/record.h"
#include "record/fields.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"

/* Where a value is expected: for errors. */
typedef struct reader {
    const char *place;
    lb_error *err;
} reader;

static lb_status wrong(const reader *in, const char *key, const char *what) {
    return lb_fail(in->err, LB_E_FILE, in->place, "\"%s\" %s", key, what);
}

static lb_status member(const reader *in, const json_t *object, const char *key, const json_t **out) {
    *out = json_object_get(object, key);
    return *out ? LB_OK : wrong(in, key, "is missing");
}

static lb_status read_text(const reader *in, const json_t *object, const char *key, char **field) {
    const json_t *j;
    LB_TRY(member(in, object, key, &j));
    if (!json_is_string(j)) return wrong(in, key, "is no string");
    lb_record_text(field, "%s", json_string_value(j));
    return LB_OK;
}

static lb_status read_count(const reader *in, const json_t *object, const char *key, uint64_t *out) {
    const json_t *j;
    LB_TRY(member(in, object, key, &j));
    if (json_is_integer(j) && json_integer_value(j) >= 0) {
        *out = (uint64_t)json_integer_value(j);
        return LB_OK;
    }
    const char *s = json_is_string(j) ? json_string_value(j) : "";
    char *end;
    errno = 0;
    if (*s < '0' || *s > '9') return wrong(in, key, "is no count");
    *out = strtoull(s, &end, 10);
    return *end || errno ? wrong(in, key, "is no count") : LB_OK;
}

static lb_status number_of(const reader *in, const json_t *j, const char *key, bool null_allowed, double *out) {
    const char *s = json_is_string(j) ? json_string_value(j) : NULL;
    if (json_is_number(j))
        *out = json_number_value(j);
    else if ((s && strcmp(s, "NaN") == 0) || (null_allowed && json_is_null(j)))
        *out = NAN;
    else if (s && strcmp(s, "Infinity") == 0)
        *out = INFINITY;
    else if (s && strcmp(s, "-Infinity") == 0)
        *out = -INFINITY;
    else
        return wrong(in, key, "is no number");
    return LB_OK;
}

static lb_status read_number(const reader *in, const json_t *object, const char *key, bool null_allowed, double *out) {
    const json_t *j;
    LB_TRY(member(in, object, key, &j));
    return number_of(in, j, key, null_allowed, out);
}

/* One of names[count]. */
static lb_status read_choice(const reader *in, const json_t *object, const char *key, const char *(*name)(int), int count, int *out) {
    const json_t *j;
    LB_TRY(member(in, object, key, &j));
    for (*out = 0; json_is_string(j) && *out < count; ++*out)
        if (strcmp(json_string_value(j), name(*out)) == 0) return LB_OK;
    return wrong(in, key, "is none of the known words");
}

static const char *verdict_at(int i) {
    return lb_verdict_name((lb_verdict)i);
}

static const char *evidence_at(int i) {
    return lb_evidence_name((lb_evidence)i);
}

static lb_status read_code(const reader *in, const json_t *object, const char *key, uint64_t *code, double *value) {
    const json_t *j, *bits;
    char *end;
    LB_TRY(member(in, object, key, &j));
    LB_TRY(member(in, j, "bits", &bits));
    const char *s = json_is_string(bits) ? json_string_value(bits) : "";
    errno = 0;
    *code = strtoull(s, &end, 16);
    if (strncmp(s, "0x", 2) != 0 || !s[2] || s[2] == '-' || *end || errno) return wrong(in, "bits", "is no hexadecimal code");
    return read_number(in, j, "value", false, value);
}

static lb_status read_element(const reader *in, const json_t *j, const char *key, lb_element *e) {
    *e = (lb_element){0};
    if (json_is_null(j)) return LB_OK;
    if (!json_is_object(j)) return wrong(in, key, "is no object");
    const json_t *at, *exact;
    LB_TRY(member(in, j, "at", &at));
    if (json_array_size(at) != 2) return wrong(in, "at", "is no [row, column]");
    const json_t *row = json_array_get(at, 0), *col = json_array_get(at, 1);
    if (!json_is_integer(row) || !json_is_integer(col) || json_integer_value(row) < 0 || json_integer_value(col) < 0)
        return wrong(in, "at", "is no [row, column]");
    e->present = true;
    e->row = (size_t)json_integer_value(row);
    e->col = (size_t)json_integer_value(col);
    LB_TRY(read_code(in, j, "actual", &e->actual, &e->actual_value));
    LB_TRY(read_code(in, j, "reference", &e->reference, &e->reference_value));
    LB_TRY(member(in, j, "exact", &exact));
    if (!json_is_null(exact)) {
        double value;
        e->has_exact = true;
        LB_TRY(read_code(in, j, "exact", &e->exact_code, &value));
    }
    LB_TRY(read_number(in, j, "ulp", false, &e->ulp));
    LB_TRY(read_number(in, j, "abs_error", false, &e->abs_error));
    LB_TRY(read_number(in, j, "bound", true, &e->bound));
    LB_TRY(read_number(in, j, "row_rms", true, &e->row_rms));
    return read_number(in, j, "floor", true, &e->floor);
}

static lb_status read_unit(const reader *in, const json_t *root, lb_record *r) {
    const json_t *j;
    int evidence;
    LB_TRY(member(in, root, "unit", &j));
    if (json_is_null(j)) return LB_OK;
    LB_TRY(read_text(in, j, "name", &r->unit_name));
    LB_TRY(read_text(in, j, "source", &r->unit_source));
    LB_TRY(read_text(in, j, "note", &r->unit_note));
    LB_TRY(read_text(in, j, "open", &r->unit_open));
    LB_TRY(read_choice(in, j, "evidence", evidence_at, LB_EVIDENCE_COUNT, &evidence));
    r->unit_evidence = (lb_evidence)evidence;
    return LB_OK;
}

static lb_status read_contract(const reader *in, const json_t *root, lb_record *r) {
    const json_t *j;
    int evidence;
    LB_TRY(member(in, root, "contract", &j));
    if (json_is_null(j)) return LB_OK;
    LB_TRY(read_text(in, j, "name", &r->contract_name));
    LB_TRY(read_text(in, j, "source", &r->contract_source));
    LB_TRY(read_text(in, j, "note", &r->contract_note));
    LB_TRY(read_choice(in, j, "evidence", evidence_at, LB_EVIDENCE_COUNT, &evidence));
    r->contract_evidence = (lb_evidence)evidence;
    LB_TRY(read_number(in, j, "k", true, &r->contract_k));
    LB_TRY(read_number(in, j, "max_ulp", true, &r->contract_max_ulp));
    return read_number(in, j, "rel_rms_gate", true, &r->contract_rel_rms_gate);
}

static lb_status read_numbers(const reader *in, const json_t *root, lb_record *r) {
    const json_t *j;
    LB_TRY(member(in, root, "counts", &j));
#define FIELD(name) LB_TRY(read_count(in, j, #name, &r->counts.name));
    LB_COUNT_FIELDS(FIELD)
#undef FIELD
    LB_TRY(member(in, root, "metrics", &j));
    r->metrics.present = !json_is_null(j);
    if (r->metrics.present) {
#define FIELD(name) LB_TRY(read_number(in, j, #name, false, &r->metrics.name));
        LB_METRIC_FIELDS(FIELD)
#undef FIELD
    }
    LB_TRY(member(in, root, "timing", &j));
#define FIELD(key, field) LB_TRY(read_number(in, j, #key, true, &r->field));
    LB_TIMING_FIELDS(FIELD)
#undef FIELD
    LB_TRY(member(in, root, "seed", &j));
    r->has_seed = !json_is_null(j);
    return r->has_seed ? read_count(in, root, "seed", &r->seed) : LB_OK;
}

static lb_status read_elements(const reader *in, const json_t *root, lb_record *r) {
    const json_t *j, *e;
    size_t i;
    LB_TRY(member(in, root, "out", &j));
    if (!json_is_null(j)) {
        if (!json_is_string(j)) return wrong(in, "out", "is no format");
        LB_TRY(lb_format_get(json_string_value(j), &r->out_format, in->err));
    }
    LB_TRY(member(in, root, "first", &j));
    LB_TRY(read_element(in, j, "first", &r->first));
    LB_TRY(member(in, root, "worst", &j));
    LB_TRY(read_element(in, j, "worst", &r->worst));
    LB_TRY(member(in, root, "outliers", &j));
    if (!json_is_array(j)) return wrong(in, "outliers", "is no array");
    json_array_foreach(j, i, e) {
        lb_element one;
        LB_TRY(read_element(in, e, "outliers", &one));
        LB_TRY(lb_record_add_outlier(r, &one, in->err));
    }
    return LB_OK;
}

static lb_status read_record(const reader *in, const json_t *root, lb_record *r) {
    const json_t *schema;
    int verdict;
    if (!json_is_object(root)) return lb_fail(in->err, LB_E_FILE, in->place, "a record is a JSON object");
    LB_TRY(member(in, root, "schema", &schema));
    if (!json_is_string(schema) || strcmp(json_string_value(schema), LB_RECORD_SCHEMA) != 0)
        return wrong(in, "schema", "is not " LB_RECORD_SCHEMA);
    const struct {
        const char *key;
        char **field;
    } texts[] = {{"case", &r->case_string},  {"op", &r->op},       {"on", &r->on},
                 {"reason", &r->reason},     {"cause", &r->cause}, {"reference", &r->reference},
                 {"coverage", &r->coverage}, {"rerun", &r->rerun}, {"environment", &r->environment}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) LB_TRY(read_text(in, root, texts[i].key, texts[i].field));
    LB_TRY(read_choice(in, root, "verdict", verdict_at, LB_VERDICT_COUNT, &verdict));
    r->verdict = (lb_verdict)verdict;
    LB_TRY(read_unit(in, root, r));
    LB_TRY(read_contract(in, root, r));
    LB_TRY(read_numbers(in, root, r));
    return read_elements(in, root, r);
}

lb_status lb_record_from_json(lb_record **out, const char *text, size_t size, const char *place, lb_error *err) {
    json_error_t why;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    lb_record *r = NULL;
    *out = NULL;
    if (!root) return lb_fail(err, LB_E_FILE, place, "byte %d: %s", why.position, why.text);
    const reader in = {place, err};
    lb_status s = lb_record_open(&r, err);
    if (s == LB_OK) s = read_record(&in, root, r);
    json_decref(root);
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
