/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A contract from a JSON file, which may be anyone's: docs/contract-file.md describes it. Unknown keys are refused with the nearest. */
#include "contracts/contract_file.h"
#include "base/text.h"
#include "base/try.h"
#include "io/json_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object of the file, and the way to it: "reduction.levels[1]". */
typedef struct node {
    const json_t *json;
    const char *place; /* the file */
    char path[96];     /* "" at the top */
    lb_error *err;
} node;

static lb_status refuse(const node *at, const char *key, const char *what) {
    return lb_fail(at->err, LB_E_FILE, at->place, "\"%s%s%.40s\" %s", at->path, *at->path && *key ? "." : "", key, what);
}

static lb_status check_keys(const node *at, const char *const *keys, size_t count) {
    const char *key;
    json_t *value;
    if (!json_is_object(at->json)) return refuse(at, "", "should be an object");
    json_object_foreach((json_t *)(uintptr_t)at->json, key, value) {
        bool known = false;
        for (size_t i = 0; i < count; i++) known = known || strcmp(key, keys[i]) == 0;
        if (known) continue;
        const char *near = lb_nearest_name(key, keys, count);
        return lb_fail(at->err, LB_E_FILE, at->place, "unknown key \"%s%s%.40s\"; %s %s", at->path, *at->path ? "." : "", key,
                       near ? "did you mean" : "the first of those it may have is", near ? near : keys[0]);
    }
    return LB_OK;
}

/* The object under a key; *has says whether it is there. */
static lb_status child(const node *up, const char *key, const char *const *keys, size_t count, node *out, bool *has) {
    *out = (node){.json = json_object_get(up->json, key), .place = up->place, .err = up->err};
    snprintf(out->path, sizeof out->path, "%s", key); /* every object but a level lies at the top */
    *has = out->json != NULL;
    return *has ? check_keys(out, keys, count) : LB_OK;
}

static lb_status read_text(const node *at, const char *key, const char *fallback, const char **out) {
    const json_t *j = json_object_get(at->json, key);
    *out = j ? json_string_value(j) : fallback;
    return *out ? LB_OK : refuse(at, key, j ? "should be a string" : "is missing");
}

static lb_status read_flag(const node *at, const char *key, bool *out) {
    const json_t *j = json_object_get(at->json, key);
    if (!j) return LB_OK;
    *out = json_is_true(j);
    return json_is_boolean(j) ? LB_OK : refuse(at, key, "should be true or false");
}

/* One of count names; where the key is missing *out stays. */
static lb_status read_choice(const node *at, const char *key, const char *const *names, size_t count, size_t *out) {
    const char *said;
    if (!json_object_get(at->json, key)) return LB_OK;
    LB_TRY(read_text(at, key, NULL, &said));
    for (size_t i = 0; i < count; i++) {
        *out = i;
        if (strcmp(said, names[i]) == 0) return LB_OK;
    }
    const char *near = lb_nearest_name(said, names, count);
    return lb_fail(at->err, LB_E_FILE, at->place, "\"%s%s%s\": \"%.40s\" is not known; did you mean %s?", at->path, *at->path ? "." : "",
                   key, said, near ? near : names[0]);
}

/* A number, or a power of two as a string: "2^-24". */
static bool number_of(const json_t *j, double *out) {
    char *end;
    if (json_is_number(j)) {
        *out = json_number_value(j);
        return isfinite(*out);
    }
    const char *s = json_string_value(j);
    if (!s || strncmp(s, "2^", 2) != 0 || strlen(s) > 8) return false;
    const long e = strtol(s + 2, &end, 10);
    *out = ldexp(1, (int)e);
    return end != s + 2 && *end == 0 && e >= -1074 && e <= 1023;
}

typedef struct number_rule {
    const char *key;
    double least, most;
    bool whole;
    double *out;
} number_rule;

static lb_status read_numbers(const node *at, const number_rule *rules, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const number_rule *r = &rules[i];
        const json_t *j = json_object_get(at->json, r->key);
        char what[96];
        double x;
        if (!j) continue;
        snprintf(what, sizeof what, "should be a %snumber from %g to %g", r->whole ? "whole " : "", r->least, r->most);
        if (!number_of(j, &x) || !(x >= r->least && x <= r->most) || (r->whole && x != floor(x))) return refuse(at, r->key, what);
        *r->out = x;
    }
    return LB_OK;
}

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

/* ---- the parts ---------------------------------------------------------------------------------------------------------- */

static lb_status read_bound(const node *root, lb_contract *c) {
    static const char *const keys[] = {"max_ulp",      "margin",         "atol",        "rtol", "small",
                                       "rel_rms_gate", "sign_flip_band", "false_alarm", "cases"};
    const number_rule rules[] = {
        {"max_ulp", 0, 0x1p53, true, &c->max_ulp},
        {"margin", 0, 1e300, false, &c->margin},
        {"atol", 0, 1e300, false, &c->atol},
        {"rtol", 0, 1e300, false, &c->rtol},
        {"small", 0, 1e300, false, &c->small},
        {"rel_rms_gate", 0, 1e300, false, &c->rel_rms_gate},
        {"false_alarm", 1e-300, 0.5, false, &c->false_alarm},
        {"cases", 1, 1e18, true, &c->cases},
        {"sign_flip_band", 0, 1e300, false, &c->sign_flip_band},
    };
    node at;
    bool has;
    LB_TRY(child(root, "bound", keys, COUNT_OF(keys), &at, &has));
    if (!has) return LB_OK;
    if (json_object_get(at.json, "atol") || json_object_get(at.json, "rtol")) c->dtypes = NULL; /* what is said holds for every format */
    return read_numbers(&at, rules, COUNT_OF(rules));
}

static lb_status read_accumulator(const node *root, lb_contract *c) {
    static const char *const keys[] = {"rounding", "unit_roundoff", "step", "frac_bits", "least_normal"}, *const roundings[] = {"nearest",
                                                                                                                                "truncate"};
    const number_rule rules[] = {{"unit_roundoff", 0x1p-60, 0.5, false, &c->unit_roundoff},
                                 {"step", 1, 1024, true, &c->reduction.step},
                                 {"frac_bits", 1, 60, true, &c->reduction.frac_bits},
                                 {"least_normal", 0x1p-1022, 1, false, &c->reduction.least_normal}};
    node at;
    bool has;
    size_t rounding = c->reduction.truncates;
    LB_TRY(child(root, "accumulator", keys, COUNT_OF(keys), &at, &has));
    if (!has) return LB_OK;
    LB_TRY(read_choice(&at, "rounding", roundings, 2, &rounding));
    if (json_object_get(at.json, "rounding")) c->unit_roundoff = rounding ? 0x1p-23 : 0x1p-24; /* an f32's, unless said */
    c->reduction.truncates = rounding == 1;
    LB_TRY(read_numbers(&at, rules, COUNT_OF(rules)));
    if (json_object_get(at.json, "step") && !json_object_get(at.json, "frac_bits")) c->reduction.frac_bits = 0;
    return LB_OK;
}

static lb_status read_level(const node *up, size_t i, lb_level *out) {
    static const char *const keys[] = {"order", "width"}, *const orders[] = {"sequential", "pairwise"};
    node at = {.json = json_array_get(json_object_get(up->json, "levels"), i), .place = up->place, .err = up->err};
    size_t order = 0;
    snprintf(at.path, sizeof at.path, "reduction.levels[%zu]", i);
    LB_TRY(check_keys(&at, keys, 2));
    if (!json_object_get(at.json, "order")) return refuse(&at, "order", "is missing");
    LB_TRY(read_choice(&at, "order", orders, 2, &order));
    out->order = order ? LB_ORDER_PAIRWISE : LB_ORDER_SEQUENTIAL;
    const number_rule width = {"width", 2, 0x1p53, true, &out->width};
    return read_numbers(&at, &width, 1);
}

static lb_status read_reduction(const node *root, lb_contract *c) {
    static const char *const keys[] = {"levels", "split_k", "promote", "rounds_products"};
    lb_reduction *r = &c->reduction;
    const number_rule rules[] = {{"split_k", 1, 0x1p53, true, &r->split_k}, {"promote", 1, 0x1p53, true, &r->promote}};
    node at;
    bool has;
    LB_TRY(child(root, "reduction", keys, COUNT_OF(keys), &at, &has));
    if (!has) return LB_OK;
    LB_TRY(read_flag(&at, "rounds_products", &r->rounds_products));
    LB_TRY(read_numbers(&at, rules, COUNT_OF(rules)));
    const json_t *levels = json_object_get(at.json, "levels");
    if (!levels) return LB_OK;
    if (!json_is_array(levels) || json_array_size(levels) < 1 || json_array_size(levels) > COUNT_OF(r->levels))
        return refuse(&at, "levels", "should be an array of 1 to 8 levels");
    r->level_count = json_array_size(levels);
    for (size_t i = 0; i < r->level_count; i++) LB_TRY(read_level(&at, i, &r->levels[i]));
    return LB_OK;
}

/* "none", "element", "128-block", or {"group": N}. */
static lb_status read_fold(const node *root, lb_contract *c) {
    static const char *const keys[] = {"group"}, *const words[] = {"none", "element", "128-block"};
    const json_t *j = json_object_get(root->json, "scale_fold");
    node at;
    bool has;
    size_t word = 0;
    if (!j) return LB_OK;
    if (json_is_string(j)) {
        LB_TRY(read_choice(root, "scale_fold", words, 3, &word));
        c->reduction.fold_element = word == 1;
        c->reduction.fold_group = word == 2 ? 128 : 0;
        return LB_OK;
    }
    LB_TRY(child(root, "scale_fold", keys, 1, &at, &has));
    const number_rule rule = {"group", 1, 0x1p53, true, &c->reduction.fold_group};
    if (!json_object_get(at.json, "group")) return refuse(&at, "group", "is missing");
    return read_numbers(&at, &rule, 1);
}

static lb_status read_flush(const node *root, lb_contract *c) {
    static const char *const keys[] = {"inputs", "sums"};
    node at;
    bool has;
    LB_TRY(child(root, "flush", keys, 2, &at, &has));
    if (!has) return LB_OK;
    LB_TRY(read_flag(&at, "inputs", &c->reduction.flushes_inputs));
    return read_flag(&at, "sums", &c->reduction.flushes_sums);
}

static lb_status read_specials(const node *root, lb_contract *c) {
    static const char *const names[] = {
#define X(id, name, nan_same, nan_other, zero_sign, flushed, saturated, text) name,
        LB_SPECIALS_LIST(X)
#undef X
    };
    size_t policy = (size_t)c->specials;
    LB_TRY(read_choice(root, "specials", names, LB_SPECIALS_COUNT, &policy));
    c->specials = (lb_specials)policy;
    if (json_object_get(root->json, "specials")) c->classes_first = true;
    return LB_OK;
}

/* "formats": an array of names, into a list with spaces. */
static lb_status read_formats(const node *root, const lb_contract *c, lb_text *out) {
    const json_t *j = json_object_get(root->json, "formats"), *one;
    size_t i;
    if (!j) lb_text_add(out, "%s", c->formats);
    if (j && (!json_is_array(j) || json_array_size(j) < 1 || json_array_size(j) > LB_FORMAT_COUNT))
        return refuse(root, "formats", "should be an array of names of formats");
    json_array_foreach(j, i, one) {
        const lb_format *f;
        lb_error why;
        if (!json_is_string(one)) return refuse(root, "formats", "should hold strings");
        if (lb_format_get(json_string_value(one), &f, &why) != LB_OK)
            return lb_fail(root->err, LB_E_FILE, root->place, "\"formats\": %.40s: %s", json_string_value(one), why.message);
        lb_text_add(out, "%s%s", i ? " " : "", f->name);
    }
    return LB_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

static lb_status read_parts(const node *root, lb_contract *c) {
    static const char *const keys[] = {"name",       "rule",  "formats",  "bound",  "accumulator", "reduction",
                                       "scale_fold", "flush", "specials", "source", "note"};
    const char *rule;
    const lb_contract *row;
    lb_error why;
    if (!json_is_object(root->json)) return lb_fail(root->err, LB_E_FILE, root->place, "a contract is a JSON object");
    LB_TRY(check_keys(root, keys, COUNT_OF(keys)));
    LB_TRY(read_text(root, "rule", NULL, &rule));
    if (lb_contract_find(rule, &row, &why) != LB_OK)
        return lb_fail(root->err, LB_E_FILE, root->place, "\"rule\": %.40s: %s", rule, why.message);
    *c = *row;
    LB_TRY(read_bound(root, c));
    LB_TRY(read_accumulator(root, c));
    LB_TRY(read_reduction(root, c));
    LB_TRY(read_fold(root, c));
    LB_TRY(read_flush(root, c));
    return read_specials(root, c);
}

/* A file that sets what its rule never reads would promise what is not kept. */
static lb_status check_sense(const node *root, const lb_contract *c) {
    static const char *const of_kernels[] = {"accumulator", "reduction", "scale_fold", "flush"};
    const bool reads = c->bound == LB_BOUND_GAMMA || c->bound == LB_BOUND_STATISTICAL;
    for (size_t i = 0; i < COUNT_OF(of_kernels) && !reads; i++)
        if (json_object_get(root->json, of_kernels[i]))
            return refuse(root, of_kernels[i], "says nothing to this rule; gamma and statistical read it");
    return LB_OK;
}

static lb_status read_contract(const node *root, lb_contract **out) {
    lb_contract c = {0};
    const char *name, *source, *note;
    lb_text formats = {0};
    char *list = NULL;
    LB_TRY(read_parts(root, &c));
    LB_TRY(check_sense(root, &c));
    LB_TRY(read_text(root, "name", root->place, &name));
    LB_TRY(read_text(root, "source", "contract-file", &source));
    LB_TRY(read_text(root, "note", "", &note));
    c.evidence = LB_EVIDENCE_STATED; /* by whoever wrote the file */
    lb_status s = read_formats(root, &c, &formats);
    if (s == LB_OK) s = lb_text_take(&formats, &list, root->err);
    if (s == LB_OK) s = lb_contract_copy(&c, name, list, source, note, out, root->err);
    free(formats.s);
    free(list);
    return s;
}

static lb_status read_root(json_t *json, const char *place, lb_contract **out, lb_error *err) {
    const node root = {.json = json, .place = place, .err = err};
    const lb_status s = read_contract(&root, out);
    json_decref(json);
    return s;
}

lb_status lb_contract_from_json(const char *text, size_t size, const char *place, lb_contract **out, lb_error *err) {
    json_error_t why;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why); /* nesting is limited by JSON_PARSER_MAX_DEPTH */
    *out = NULL;
    return json ? read_root(json, place, out, err) : lb_fail(err, LB_E_FILE, place, "line %d: %s", why.line, why.text);
}

lb_status lb_contract_load(const char *path, lb_contract **out, lb_error *err) {
    json_t *json;
    *out = NULL;
    LB_TRY(lb_json_file(path, &json, err));
    return read_root(json, path, out, err);
}
