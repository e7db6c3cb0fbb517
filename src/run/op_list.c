/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* known.json and approx.json of a subject under test. */
#include "base/try.h"
#include "io/json_file.h"
#include "run/op_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lb_status read_entry(struct lb_op_entry *e, const json_t *j, const char *path, size_t number, lb_error *err) {
    const char *name = json_string_value(json_object_get(j, "op")), *reason = json_string_value(json_object_get(j, "reason"));
    const json_t *words = json_object_get(j, "words");
    const lb_scalar_op *op;
    lb_error why = {0};
    if (!name || !reason || !*reason || !json_is_integer(words) || json_integer_value(words) <= 0 || json_object_size(j) != 3)
        return lb_fail(err, LB_E_FILE, path, "entry %zu: an entry is {\"op\": NAME, \"words\": COUNT above 0, \"reason\": TEXT}", number);
    if (lb_scalar_find(name, &op, &why) != LB_OK) return lb_fail(err, LB_E_NAME, path, "entry %zu: %s: %s", number, name, why.message);
    snprintf(e->name, sizeof e->name, "%s", op->name);
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    e->words = (uint64_t)json_integer_value(words);
    return LB_OK;
}

static lb_status read_list(lb_op_list *list, const json_t *root, const char *path, lb_error *err) {
    if (!json_is_array(root)) return lb_fail(err, LB_E_FILE, path, "is no array of entries");
    list->entries = calloc(json_array_size(root) + 1, sizeof *list->entries);
    if (!list->entries) return lb_fail(err, LB_E_MEMORY, path, "no memory for %zu entries", json_array_size(root));
    for (size_t i = 0; i < json_array_size(root); i++) {
        struct lb_op_entry *e = &list->entries[i];
        LB_TRY(read_entry(e, json_array_get(root, i), path, i + 1, err));
        if (lb_op_list_find(list, e->name)) return lb_fail(err, LB_E_FILE, path, "entry %zu: %s stands there twice", i + 1, e->name);
        list->count++;
    }
    return LB_OK;
}

lb_status lb_op_list_load(lb_op_list *list, const char *path, lb_error *err) {
    *list = (lb_op_list){0};
    if (!path) return LB_OK;
    json_t *root;
    LB_TRY(lb_json_file(path, &root, err));
    const lb_status s = read_list(list, root, path, err);
    json_decref(root);
    return s;
}

const struct lb_op_entry *lb_op_list_find(const lb_op_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0) return &list->entries[i];
    return NULL;
}
