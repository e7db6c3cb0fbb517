/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A record read back. The text may be anyone's: each key is checked, and an error names it. */
#include "lastbit/record.h"
#include "record/fields.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/try.h"

/* A value and where it stands, so that an error can name it: "outliers[3].actual.bits". */
typedef struct node {
    const struct node *up; /* NULL: the record */
    const char *key;       /* in up; NULL: element `index` of up */
    size_t index;
    const json_t *json;
    const char *place;
    lb_error *err;
} node;

static void add_path(lb_text *t, const node *at) {
    if (!at->up) return;
    add_path(t, at->up);
    if (at->key)
        lb_text_add(t, "%s%s", at->up->up ? "." : "", at->key);
    else
        lb_text_add(t, "[%zu]", at->index);
}

static lb_status refuse(const node *at, const char *what) {
    lb_text path = {0};
    add_path(&path, at);
    const lb_status s = lb_fail(at->err, LB_E_FILE, at->place, "\"%s\" %s", path.s ? path.s : "", what);
    free(path.s);
    return s;
}

static lb_status child(const node *up, const char *key, node *out) {
    *out = (node){up, key, 0, json_object_get(up->json, key), up->place, up->err};
    if (!json_is_object(up->json)) return refuse(up, "is no object");
    return out->json ? LB_OK : refuse(out, "is missing");
}

static lb_status read_text(const node *up, const char *key, char **field) {
    node at;
    LB_TRY(child(up, key, &at));
    if (!json_is_string(at.json)) return refuse(&at, "is no string");
    char *copy = strdup(json_string_value(at.json));
    if (!copy) return lb_fail(at.err, LB_E_MEMORY, at.place, "no memory for a string");
    free(*field);
    *field = copy;
    return LB_OK;
}

/* A key that the first records had not: nothing, where it is missing. */
static lb_status read_added_text(const node *up, const char *key, char **field) {
    return json_object_get(up->json, key) ? read_text(up, key, field) : LB_OK;
}

/* An integer, or beyond INT64_MAX a decimal string. */
static lb_status count_of(const node *at, uint64_t *out) {
    if (json_is_integer(at->json) && json_integer_value(at->json) >= 0) {
        *out = (uint64_t)json_integer_value(at->json);
        return LB_OK;
    }
    const char *s = json_is_string(at->json) ? json_string_value(at->json) : "";
    char *end;
    errno = 0;
    if (*s < '0' || *s > '9') return refuse(at, "is no count");
    *out = strtoull(s, &end, 10);
    return *end || errno ? refuse(at, "is no count of 64 bits") : LB_OK;
}

static lb_status read_count(const node *up, const char *key, uint64_t *out) {
    node at;
    LB_TRY(child(up, key, &at));
    return count_of(&at, out);
}

static lb_status read_added_count(const node *up, const char *key, uint64_t *out) {
    return json_object_get(up->json, key) ? read_count(up, key, out) : LB_OK;
}

typedef enum null_is { NULL_IS_WRONG, NULL_IS_NAN } null_is;

static lb_status read_number(const node *up, const char *key, null_is null, double *out) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    node at;
    LB_TRY(child(up, key, &at));
    *out = json_number_value(at.json);
    if (json_is_number(at.json)) return LB_OK;
    *out = NAN;
    if (json_is_null(at.json) && null == NULL_IS_NAN) return LB_OK;
    for (size_t i = 0; json_is_string(at.json) && i < sizeof words / sizeof words[0]; i++) {
        *out = words[i].value;
        if (strcmp(json_string_value(at.json), words[i].word) == 0) return LB_OK;
    }
    return refuse(&at, "is no number");
}

/* One of names[count]. */
static lb_status read_choice(const node *up, const char *key, const char *(*name)(int), int count, int *out) {
    node at;
    LB_TRY(child(up, key, &at));
    for (*out = 0; json_is_string(at.json) && *out < count; ++*out)
        if (strcmp(json_string_value(at.json), name(*out)) == 0) return LB_OK;
    return refuse(&at, "is none of the known words");
}

static const char *verdict_at(int i) {
    return lb_verdict_name((lb_verdict)i);
}

static const char *evidence_at(int i) {
    return lb_evidence_name((lb_evidence)i);
}

static const char *power_end_at(int i) {
    return lb_power_end_name((lb_power_end)i);
}

static lb_status read_evidence(const node *up, lb_evidence *out) {
    int i;
    LB_TRY(read_choice(up, "evidence", evidence_at, LB_EVIDENCE_COUNT, &i));
    *out = (lb_evidence)i;
    return LB_OK;
}

/* "0x" and hexadecimal digits, no wider than what the format is stored in (NULL: than 64 bits). */
static lb_status read_code(const node *at, const lb_format *f, uint64_t *code, double *value) {
    node bits;
    char *end;
    LB_TRY(child(at, "bits", &bits));
    const char *s = json_is_string(bits.json) ? json_string_value(bits.json) : "";
    errno = 0;
    *code = strtoull(s, &end, 16); /* of "0x" alone it takes the 0, and *end is the x */
    if (strncmp(s, "0x", 2) != 0 || *end || errno) return refuse(&bits, "is no hexadecimal code");
    if (f && f->bytes < 8 && *code >> (8 * f->bytes)) return refuse(&bits, "is wider than the output format");
    return read_number(at, "value", NULL_IS_WRONG, value);
}

static lb_status read_place(const node *up, size_t *row, size_t *col) {
    node at;
    uint64_t place[2];
    LB_TRY(child(up, "at", &at));
    if (json_array_size(at.json) != 2) return refuse(&at, "is no [row, column]");
    for (size_t i = 0; i < 2; i++) {
        const node part = {&at, NULL, i, json_array_get(at.json, i), at.place, at.err};
        LB_TRY(count_of(&part, &place[i]));
    }
    *row = (size_t)place[0];
    *col = (size_t)place[1];
    return LB_OK;
}

static lb_status read_element(const node *at, const lb_format *f, lb_element *e) {
    node code;
    double value_of_exact;
    *e = (lb_element){.present = true};
    LB_TRY(read_place(at, &e->row, &e->col));
    LB_TRY(child(at, "actual", &code));
    LB_TRY(read_code(&code, f, &e->actual, &e->actual_value));
    LB_TRY(child(at, "reference", &code));
    LB_TRY(read_code(&code, f, &e->reference, &e->reference_value));
    LB_TRY(child(at, "exact", &code));
    e->has_exact = !json_is_null(code.json);
    if (e->has_exact) LB_TRY(read_code(&code, f, &e->exact_code, &value_of_exact));
    LB_TRY(read_number(at, "ulp", NULL_IS_WRONG, &e->ulp));
    LB_TRY(read_number(at, "abs_error", NULL_IS_WRONG, &e->abs_error));
    LB_TRY(read_number(at, "bound", NULL_IS_NAN, &e->bound));
    LB_TRY(read_number(at, "row_rms", NULL_IS_NAN, &e->row_rms));
    return read_number(at, "floor", NULL_IS_NAN, &e->floor);
}

static lb_status read_unit(const node *root, lb_record *r) {
    node at;
    LB_TRY(child(root, "unit", &at));
    if (json_is_null(at.json)) return LB_OK;
    LB_TRY(read_text(&at, "name", &r->unit_name));
    LB_TRY(read_text(&at, "source", &r->unit_source));
    LB_TRY(read_evidence(&at, &r->unit_evidence));
    LB_TRY(read_text(&at, "note", &r->unit_note));
    return read_text(&at, "open", &r->unit_open);
}

static lb_status read_contract(const node *root, lb_record *r) {
    node at;
    LB_TRY(child(root, "contract", &at));
    if (json_is_null(at.json)) return LB_OK;
    LB_TRY(read_text(&at, "name", &r->contract_name));
    LB_TRY(read_text(&at, "source", &r->contract_source));
    LB_TRY(read_evidence(&at, &r->contract_evidence));
    LB_TRY(read_text(&at, "note", &r->contract_note));
    LB_TRY(read_number(&at, "k", NULL_IS_NAN, &r->contract_k));
    LB_TRY(read_number(&at, "max_ulp", NULL_IS_NAN, &r->contract_max_ulp));
    LB_TRY(read_number(&at, "rel_rms_gate", NULL_IS_NAN, &r->contract_rel_rms_gate));
    LB_TRY(read_added_text(&at, "rule", &r->contract_rule));
    return read_added_text(&at, "specials", &r->contract_specials);
}

static lb_status read_numbers(const node *root, lb_record *r) {
    node at;
    LB_TRY(child(root, "counts", &at));
#define FIELD(name) LB_TRY(read_count(&at, #name, &r->counts.name));
    LB_FIRST_COUNT_FIELDS(FIELD)
#undef FIELD
#define FIELD(name) LB_TRY(read_added_count(&at, #name, &r->counts.name));
    LB_ADDED_COUNT_FIELDS(FIELD)
#undef FIELD
    LB_TRY(child(root, "metrics", &at));
    r->metrics.present = !json_is_null(at.json);
    if (r->metrics.present) {
#define FIELD(name) LB_TRY(read_number(&at, #name, NULL_IS_WRONG, &r->metrics.name));
        LB_METRIC_FIELDS(FIELD)
#undef FIELD
    }
    LB_TRY(child(root, "timing", &at));
#define FIELD(key, field) LB_TRY(read_number(&at, #key, NULL_IS_NAN, &r->field));
    LB_TIMING_FIELDS(FIELD)
#undef FIELD
    LB_TRY(child(root, "seed", &at));
    r->has_seed = !json_is_null(at.json);
    return r->has_seed ? count_of(&at, &r->seed) : LB_OK;
}

/* Counts that contradict each other, or the verdict, were not written by us; a report of them would claim what nothing shows. */
static lb_status check_counts(const node *root, const lb_record *r) {
    const lb_counts *c = &r->counts;
    const bool sums = c->exact <= c->compared && c->legal <= c->compared - c->exact && c->wrong == c->compared - c->exact - c->legal;
    const struct {
        bool wrong;
        const char *key, *what;
    } rules[] = {
        {c->compared > c->total, "compared", "is more than the total"},
        {!sums, "compared", "is not the sum of exact, legal and wrong"},
        {c->nan_actual > c->total, "nan_actual", "is more than the total"},
        {c->nan_reference > c->total, "nan_reference", "is more than the total"},
        {c->inf_actual > c->total, "inf_actual", "is more than the total"},
        {c->inf_reference > c->total, "inf_reference", "is more than the total"},
        {c->class_mismatch > c->total, "class_mismatch", "is more than the total"},
        {c->sign_flips > c->total, "sign_flips", "is more than the total"},
        {c->over_ulp > c->total, "over_ulp", "is more than the total"},
        {c->not_written > c->total, "not_written", "is more than the total"},
        {r->verdict == LB_PASS && c->wrong, "wrong", "is not 0, and the verdict is PASS"},
        {r->verdict == LB_PASS && !c->compared, "compared", "is 0, and the verdict is PASS"},
    };
    node counts, at;
    LB_TRY(child(root, "counts", &counts));
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].wrong) continue;
        LB_TRY(child(&counts, rules[i].key, &at));
        return refuse(&at, rules[i].what);
    }
    return LB_OK;
}

static lb_status read_format(const node *root, const lb_format **out) {
    node at;
    LB_TRY(child(root, "out", &at));
    if (json_is_null(at.json)) return LB_OK;
    *out = json_is_string(at.json) ? lb_format_find(json_string_value(at.json)) : NULL;
    return *out ? LB_OK : refuse(&at, "is no number format");
}

static lb_status read_element_or_null(const node *root, const char *key, const lb_format *f, lb_element *e) {
    node at;
    LB_TRY(child(root, key, &at));
    return json_is_null(at.json) ? LB_OK : read_element(&at, f, e);
}

static lb_status read_outliers(const node *root, lb_record *r) {
    node at;
    LB_TRY(child(root, "outliers", &at));
    if (!json_is_array(at.json)) return refuse(&at, "is no array");
    for (size_t i = 0; i < json_array_size(at.json); i++) {
        const node one = {&at, NULL, i, json_array_get(at.json, i), at.place, at.err};
        lb_element e;
        LB_TRY(read_element(&one, r->out_format, &e));
        LB_TRY(lb_record_add_outlier(r, &e, at.err));
    }
    return LB_OK;
}

/* Into room of a fixed size; what is longer was not written by us. */
static lb_status read_short_text(const node *up, const char *key, char *out, size_t size) {
    node at;
    LB_TRY(child(up, key, &at));
    if (!json_is_string(at.json)) return refuse(&at, "is no string");
    if (json_string_length(at.json) >= size) return refuse(&at, "is too long");
    memcpy(out, json_string_value(at.json), json_string_length(at.json) + 1);
    return LB_OK;
}

static lb_status read_power_row(const node *at, lb_power_row *p) {
    node allowed;
    int end;
    *p = (lb_power_row){0};
    LB_TRY(read_short_text(at, "fault", p->fault, sizeof p->fault));
    LB_TRY(read_choice(at, "end", power_end_at, LB_POWER_COUNT, &end));
    p->end = (lb_power_end)end;
    LB_TRY(child(at, "allowed", &allowed));
    if (!json_is_boolean(allowed.json)) return refuse(&allowed, "is neither true nor false");
    p->allowed = json_is_true(allowed.json);
    LB_TRY(read_count(at, "changed", &p->changed));
    LB_TRY(read_number(at, "error", NULL_IS_NAN, &p->error));
    LB_TRY(read_number(at, "limit", NULL_IS_NAN, &p->limit));
    LB_TRY(read_place(at, &p->row, &p->col));
    return read_short_text(at, "why", p->why, sizeof p->why);
}

/* Not in the first records. */
static lb_status read_power(const node *root, lb_record *r) {
    node at, faults;
    uint64_t caught, due;
    if (!json_object_get(root->json, "power")) return LB_OK;
    LB_TRY(child(root, "power", &at));
    if (json_is_null(at.json)) return LB_OK;
    r->power.present = true;
    LB_TRY(read_number(&at, "score", NULL_IS_NAN, &r->power.score));
    LB_TRY(read_count(&at, "caught", &caught));
    LB_TRY(read_count(&at, "due", &due));
    if (caught > due) return refuse(&at, "says that more is caught than due");
    r->power.caught = (size_t)caught;
    r->power.due = (size_t)due;
    LB_TRY(child(&at, "faults", &faults));
    if (!json_is_array(faults.json)) return refuse(&faults, "is no array");
    for (size_t i = 0; i < json_array_size(faults.json); i++) {
        const node one = {&faults, NULL, i, json_array_get(faults.json, i), at.place, at.err};
        lb_power_row row;
        LB_TRY(read_power_row(&one, &row));
        LB_TRY(lb_record_add_power(r, &row, at.err));
    }
    return LB_OK;
}

static lb_status read_record(const node *root, lb_record *r) {
    node schema;
    int verdict;
    if (!json_is_object(root->json)) return lb_fail(root->err, LB_E_FILE, root->place, "a record is a JSON object");
    LB_TRY(child(root, "schema", &schema));
    if (!json_is_string(schema.json) || strcmp(json_string_value(schema.json), LB_RECORD_SCHEMA) != 0)
        return refuse(&schema, "is not " LB_RECORD_SCHEMA);
    const struct {
        const char *key;
        char **field;
    } texts[] = {{"case", &r->case_string},  {"op", &r->op},       {"on", &r->on},
                 {"reason", &r->reason},     {"cause", &r->cause}, {"reference", &r->reference},
                 {"coverage", &r->coverage}, {"rerun", &r->rerun}, {"environment", &r->environment}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) LB_TRY(read_text(root, texts[i].key, texts[i].field));
    LB_TRY(read_added_text(root, "known", &r->known));
    LB_TRY(read_choice(root, "verdict", verdict_at, LB_VERDICT_COUNT, &verdict));
    r->verdict = (lb_verdict)verdict;
    LB_TRY(read_unit(root, r));
    LB_TRY(read_contract(root, r));
    LB_TRY(read_numbers(root, r));
    LB_TRY(check_counts(root, r));
    LB_TRY(read_format(root, &r->out_format));
    LB_TRY(read_element_or_null(root, "first", r->out_format, &r->first));
    LB_TRY(read_element_or_null(root, "worst", r->out_format, &r->worst));
    LB_TRY(read_power(root, r));
    return read_outliers(root, r);
}

lb_status lb_record_from_json(lb_record **out, const char *text, size_t size, const char *place, lb_error *err) {
    json_error_t why;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why); /* nesting is limited by JSON_PARSER_MAX_DEPTH */
    lb_record *r = NULL;
    *out = NULL;
    if (!json) return lb_fail(err, LB_E_FILE, place, "byte %d: %s", why.position, why.text);
    const node root = {.json = json, .place = place, .err = err};
    lb_status s = lb_record_open(&r, err);
    if (s == LB_OK) s = read_record(&root, r);
    json_decref(json);
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
