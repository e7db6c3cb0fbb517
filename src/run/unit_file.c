/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A unit of the caller's own, from a JSON file. docs/custom-unit.md describes it. */
#include "base/text.h"
#include "base/try.h"
#include "io/json_file.h"
#include "lastbit/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 80 };

static bool is_parameter(const char *key) {
    lb_parameter p;
    for (size_t i = 0; lb_unit_parameter(i, &p); i++)
        if (strcmp(key, p.key) == 0 || (p.alias && strcmp(key, p.alias) == 0)) return true;
    return false;
}

static lb_status unknown_key(const char *path, const char *key, lb_error *err) {
    const char *names[MAX_NAMES] = {"name", "like"};
    size_t count = 2;
    lb_parameter p;
    for (size_t i = 0; lb_unit_parameter(i, &p) && count + 2 < MAX_NAMES; i++) {
        names[count++] = p.key;
        if (p.alias) names[count++] = p.alias;
    }
    const char *near = lb_nearest_name(key, names, count);
    return lb_fail(err, LB_E_FILE, path, "unknown key \"%.40s\"%s%s%s", key, near ? "; did you mean \"" : "", near ? near : "",
                   near ? "\"?" : "");
}

/* The parameters as lb_unit_set takes them. */
static lb_status add_setting(const char *path, const char *key, const json_t *value, lb_text *settings, lb_error *err) {
    if (!is_parameter(key)) return unknown_key(path, key, err);
    if (settings->length) lb_text_add(settings, ",");
    if (json_is_integer(value))
        lb_text_add(settings, "%s=%lld", key, (long long)json_integer_value(value));
    else if (json_is_string(value) && !strpbrk(json_string_value(value), ",=+"))
        lb_text_add(settings, "%s=%s", key, json_string_value(value));
    else
        return lb_fail(err, LB_E_FILE, path, "\"%.40s\" should be a whole number or a word", key);
    return LB_OK;
}

static lb_status text_of(const char *path, const json_t *root, const char *key, const char **out, lb_error *err) {
    const json_t *value = json_object_get(root, key);
    *out = json_string_value(value);
    if (value && !*out) return lb_fail(err, LB_E_FILE, path, "\"%s\" should be text", key);
    return LB_OK;
}

/* Without a row to start from, what a unit cannot be without. */
static lb_status check_required(const char *path, const json_t *root, lb_error *err) {
    static const char *const keys[] = {"name", "path", "k", "a", "b", "d", "round"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!json_object_get(root, keys[i]))
            return lb_fail(err, LB_E_FILE, path, "no \"%s\": a unit that is like no other needs it (or say \"like\": a unit)", keys[i]);
    return LB_OK;
}

/* The unit to start from: the one that it is like, or an empty one whose c is its d and whose block is a whole step. */
static lb_status first_form(const char *path, const json_t *root, const char *like, lb_unit *u, lb_text *settings, lb_error *err) {
    if (like) return lb_unit_find(like, u, err);
    LB_TRY(check_required(path, root, err));
    *u = (lb_unit){.m = 16,
                   .n = 8,
                   .floor_exp = LB_NO_FLOOR,
                   .scale = LB_E8M0,
                   .source = "the caller",
                   .open = "everything that no recording settles (docs/open-edges.md)"};
    const char *d = json_string_value(json_object_get(root, "d"));
    if (!json_object_get(root, "c") && d && !strpbrk(d, ",=+")) lb_text_add(settings, "c=%s", d);
    return LB_OK;
}

static lb_status name_unit(const char *path, const char *name, lb_unit *u, lb_error *err) {
    if (!name) return LB_OK;
    bool plain = *name && strlen(name) < sizeof u->name;
    for (const char *s = name; *s; s++) plain = plain && *s > ' ' && *s < 127 && *s != '+' && *s != ',';
    if (!plain)
        return lb_fail(err, LB_E_FILE, path, "\"name\" should be 1 to %zu printable characters, no blank, + or comma", sizeof u->name - 1);
    snprintf(u->name, sizeof u->name, "%s", name);
    return LB_OK;
}

static lb_status build(const char *path, const json_t *root, lb_unit *out, lb_text *settings, lb_error *err) {
    const char *name, *like, *key;
    json_t *value;
    lb_unit u;
    lb_error why = {0};
    LB_TRY(text_of(path, root, "name", &name, err));
    LB_TRY(text_of(path, root, "like", &like, err));
    LB_TRY(first_form(path, root, like, &u, settings, err));
    json_object_foreach((json_t *)root, key, value) {
        if (strcmp(key, "name") == 0 || strcmp(key, "like") == 0) continue;
        LB_TRY(add_setting(path, key, value, settings, err));
    }
    if (settings->failed) return lb_fail(err, LB_E_MEMORY, path, "no memory");
    if (!settings->length) return lb_fail(err, LB_E_FILE, path, "sets nothing: it is the unit that it is like");
    if (name) u.name[0] = 0; /* room for every setting; it gets its name below */
    if (lb_unit_set(&u, settings->s, &why) != LB_OK)
        return lb_fail(err, LB_E_FILE, path, "%s%s%s", why.place, why.place[0] ? ": " : "", why.message);
    LB_TRY(name_unit(path, name, &u, err));
    *out = u;
    return LB_OK;
}

lb_status lb_unit_read(const char *path, lb_unit *out, lb_error *err) {
    lb_text settings = {0};
    json_t *root;
    LB_TRY(lb_json_file(path, &root, err));
    const lb_status s =
        json_is_object(root) ? build(path, root, out, &settings, err) : lb_fail(err, LB_E_FILE, path, "line 1: a unit is a JSON object");
    json_decref(root);
    free(settings.s);
    return s;
}
