/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Defects of devices that are known: shipped rows, and a file of the user's (docs/howto/parity.md). */
#include "base/try.h"
#include "run/parity.h"

#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *device, *version, *pattern;
    double bound;
    bool may_pass;
    const char *cause, *source;
} shipped[] = {
#define LB_KNOWN(device, version, pattern, bound, may_pass, cause, source) {device, version, pattern, bound, may_pass, cause, source},
#include "run/known.def"
#undef LB_KNOWN
};

static lb_known_row *add(lb_known *k, lb_error *err) {
    if (k->count == k->capacity) {
        const size_t capacity = k->capacity ? 2 * k->capacity : 32;
        lb_known_row *more = realloc(k->rows, capacity * sizeof *more);
        if (!more) {
            lb_fail(err, LB_E_MEMORY, "known", "no memory");
            return NULL;
        }
        k->rows = more;
        k->capacity = capacity;
    }
    lb_known_row *r = &k->rows[k->count++];
    *r = (lb_known_row){0};
    return r;
}

static lb_status add_shipped(lb_known *k, lb_error *err) {
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++) {
        lb_known_row *r = add(k, err);
        if (!r) return LB_E_MEMORY;
        snprintf(r->device, sizeof r->device, "%s", shipped[i].device);
        snprintf(r->version, sizeof r->version, "%s", shipped[i].version);
        snprintf(r->pattern, sizeof r->pattern, "%s", shipped[i].pattern);
        snprintf(r->cause, sizeof r->cause, "%s", shipped[i].cause);
        snprintf(r->source, sizeof r->source, "%s", shipped[i].source);
        r->bound = shipped[i].bound;
        r->may_pass = shipped[i].may_pass;
    }
    return LB_OK;
}

static lb_status text_of(const char *file, size_t i, const json_t *row, const char *key, bool needed, char *out, size_t size,
                         lb_error *err) {
    const json_t *v = json_object_get(row, key);
    if (!v && !needed) return LB_OK;
    if (!json_is_string(v) || json_string_length(v) >= size || (needed && !json_string_length(v)))
        return lb_fail(err, LB_E_FILE, file, "row %zu: \"%s\" should be text of at most %zu bytes", i, key, size - 1);
    memcpy(out, json_string_value(v), json_string_length(v) + 1);
    return LB_OK;
}

static lb_status read_row(const char *file, size_t i, const json_t *row, lb_known_row *r, lb_error *err) {
    static const char *const keys[] = {"device", "version", "case", "bound", "may_pass", "cause", "source"};
    const char *key;
    json_t *value;
    if (!json_is_object(row)) return lb_fail(err, LB_E_FILE, file, "row %zu is no object", i);
    json_object_foreach((json_t *)(uintptr_t)row, key, value) {
        bool known = false;
        for (size_t j = 0; j < sizeof keys / sizeof keys[0]; j++) known = known || strcmp(key, keys[j]) == 0;
        const char *near = known ? NULL : lb_nearest_name(key, keys, sizeof keys / sizeof keys[0]);
        if (!known)
            return lb_fail(err, LB_E_FILE, file, "row %zu: unknown key \"%.40s\"%s%s", i, key, near ? "; did you mean " : "",
                           near ? near : "");
    }
    LB_TRY(text_of(file, i, row, "device", true, r->device, sizeof r->device, err));
    LB_TRY(text_of(file, i, row, "version", false, r->version, sizeof r->version, err));
    LB_TRY(text_of(file, i, row, "case", true, r->pattern, sizeof r->pattern, err));
    LB_TRY(text_of(file, i, row, "cause", true, r->cause, sizeof r->cause, err));
    LB_TRY(text_of(file, i, row, "source", false, r->source, sizeof r->source, err));
    const json_t *may_pass = json_object_get(row, "may_pass");
    if (may_pass && !json_is_boolean(may_pass)) return lb_fail(err, LB_E_FILE, file, "row %zu: \"may_pass\" should be true or false", i);
    r->may_pass = json_is_true(may_pass);
    const json_t *bound = json_object_get(row, "bound");
    r->bound = json_is_string(bound) && strcmp(json_string_value(bound), "Infinity") == 0 ? INFINITY : json_number_value(bound);
    if (!(r->bound > 1))
        return lb_fail(err, LB_E_FILE, file, "row %zu: \"bound\" should be a number above 1, or \"Infinity\": error / limit", i);
    return LB_OK;
}

static lb_status add_file(lb_known *k, const char *file, lb_error *err) {
    json_error_t why;
    json_t *root = json_load_file(file, JSON_REJECT_DUPLICATES, &why), *row;
    size_t i;
    if (!root) return lb_fail(err, LB_E_FILE, file, "line %d: %s", why.line, why.text);
    lb_status s = json_is_array(root) ? LB_OK : lb_fail(err, LB_E_FILE, file, "it should be an array of rows");
    json_array_foreach(root, i, row) {
        lb_known_row *r = s == LB_OK ? add(k, err) : NULL;
        if (s == LB_OK) s = r ? read_row(file, i, row, r, err) : LB_E_MEMORY;
    }
    json_decref(root);
    return s;
}

lb_status lb_known_open(lb_known *k, const char *file, bool with_shipped, lb_error *err) {
    *k = (lb_known){0};
    lb_status s = file ? add_file(k, file, err) : LB_OK; /* the user's rows come first */
    if (s == LB_OK && with_shipped) s = add_shipped(k, err);
    if (s != LB_OK) lb_known_close(k);
    return s;
}

void lb_known_close(lb_known *k) {
    free(k->rows);
    *k = (lb_known){0};
}

/* Whether a case has the pair, whose value may hold * and ?. */
static bool has_pair(const char *text, const char *pair, size_t length) {
    char glob[256], word[256];
    if (length >= sizeof glob) return false;
    memcpy(glob, pair, length);
    glob[length] = 0;
    for (const char *p = text; *p;) {
        p += strspn(p, " ");
        const size_t n = strcspn(p, " ");
        if (n && n < sizeof word) {
            memcpy(word, p, n);
            word[n] = 0;
            if (fnmatch(glob, word, 0) == 0) return true;
        }
        p += n;
    }
    return false;
}

static bool fits(const char *pattern, const char *text) {
    for (const char *p = pattern; *p;) {
        p += strspn(p, " ");
        const size_t n = strcspn(p, " ");
        if (n && !has_pair(text, p, n)) return false;
        p += n;
    }
    return true;
}

lb_known_row *lb_known_find(lb_known *k, const char *described, const char *case_text) {
    for (size_t i = 0; i < k->count; i++) {
        lb_known_row *r = &k->rows[i];
        if (strstr(described, r->device) && strstr(described, r->version) && fits(r->pattern, case_text)) return r;
    }
    return NULL;
}
