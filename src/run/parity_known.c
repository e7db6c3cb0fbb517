/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Defects of devices that are known: shipped rows, and a file of the user's (docs/howto/parity.md). */
#include "base/expr.h"
#include "base/try.h"
#include "io/json_file.h"
#include "run/parity.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *device, *version, *pattern;
    double bound;
    lb_known_pass pass;
    const char *cause, *source;
} shipped[] = {
#define LB_KNOWN(device, version, pattern, bound, pass, cause, source)                                                                     \
    {device, version, pattern, bound, LB_KNOWN_PASS_##pass, cause, source},
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
        r->pass = shipped[i].pass;
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

static lb_status read_pass(const char *file, size_t i, const json_t *said, lb_known_pass *out, lb_error *err) {
    static const char *const names[] = {"news", "fine", "nothing"};
    *out = LB_KNOWN_PASS_NEWS;
    for (size_t k = 0; said && k < sizeof names / sizeof names[0]; k++) {
        *out = (lb_known_pass)k;
        if (json_is_string(said) && strcmp(json_string_value(said), names[k]) == 0) return LB_OK;
    }
    return said ? lb_fail(err, LB_E_FILE, file, "row %zu: \"pass\" should be \"news\", \"fine\" or \"nothing\"", i) : LB_OK;
}

/* What stands behind a > is a number. */
static lb_status check_pattern(const char *file, size_t i, const char *pattern, lb_error *err) {
    for (const char *p = pattern + strcspn(pattern, ">"); *p; p += strcspn(p, ">")) {
        const size_t digits = strspn(++p, "0123456789");
        if (digits == 0 || digits > 18 || (p[digits] && p[digits] != ' '))
            return lb_fail(err, LB_E_FILE, file, "row %zu: \"case\": behind a > stands a whole number, as in k>65535", i);
    }
    return LB_OK;
}

static lb_status read_row(const char *file, size_t i, const json_t *row, lb_known_row *r, lb_error *err) {
    static const char *const keys[] = {"device", "version", "case", "bound", "pass", "cause", "source"};
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
    LB_TRY(read_pass(file, i, json_object_get(row, "pass"), &r->pass, err));
    LB_TRY(check_pattern(file, i, r->pattern, err));
    const json_t *bound = json_object_get(row, "bound");
    r->bound = json_is_string(bound) && strcmp(json_string_value(bound), "Infinity") == 0 ? INFINITY : json_number_value(bound);
    if (!(r->bound > 1))
        return lb_fail(err, LB_E_FILE, file, "row %zu: \"bound\" should be a number above 1, or \"Infinity\": error / limit", i);
    return LB_OK;
}

static lb_status add_file(lb_known *k, const char *file, lb_error *err) {
    json_t *root, *row;
    size_t i;
    LB_TRY(lb_json_file(file, &root, err));
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

/* The pairs of a case whose values are whole numbers, as variables; cut up in place. */
static size_t numbers_of(char *text, lb_expr_var *vars, size_t most) {
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word && count < most; word = strtok_r(NULL, " ", &rest)) {
        char *equal = strchr(word, '='), *end;
        if (!equal) continue;
        *equal = 0;
        vars[count] = (lb_expr_var){word, strtoll(equal + 1, &end, 10)};
        count += end != equal + 1 && !*end;
    }
    return count;
}

/* EXPRESSION>NUMBER over the sizes of the case; a case that lacks one of them is another's. */
static bool exceeds(const char *text, const char *pair, size_t length) {
    char words[LB_OP_TEXT + 512], expression[256];
    lb_expr_var vars[32];
    int64_t value;
    const char *more = memchr(pair, '>', length);
    if (strlen(text) >= sizeof words || length >= sizeof expression) return false;
    strcpy(words, text);
    snprintf(expression, sizeof expression, "%.*s", (int)(more - pair), pair);
    const size_t count = numbers_of(words, vars, sizeof vars / sizeof vars[0]);
    return lb_expr_eval(expression, vars, count, "case", &value, NULL) == LB_OK && value > strtoll(more + 1, NULL, 10);
}

static bool fits(const char *pattern, const char *text) {
    for (const char *p = pattern; *p;) {
        p += strspn(p, " ");
        const size_t n = strcspn(p, " ");
        if (n && !(memchr(p, '>', n) ? exceeds(text, p, n) : has_pair(text, p, n))) return false;
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
