/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* safetensors: eight bytes of header length, a JSON header, the elements. source: safetensors-format */
#include "base/try.h"
#include "io/file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };
static const size_t most_header = 100000000; /* as the format's own readers have it */

/* A tensor as the header says it. */
typedef struct entry {
    const char *name; /* the header's */
    const lb_dtype *dtype;
    int rank;
    size_t shape[LB_MAX_RANK];
    size_t begin, end; /* in the data section */
} entry;

static lb_status bad_tensor(const lb_file *f, const char *name, lb_error *err, const char *what) {
    return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.64s\": %s", name, what);
}

static bool as_size(const json_t *j, size_t *out) {
    if (!json_is_integer(j) || json_integer_value(j) < 0) return false;
    *out = (size_t)json_integer_value(j);
    return true;
}

static lb_status read_shape(const lb_file *f, entry *e, const json_t *shape, lb_error *err) {
    if (!json_is_array(shape)) return bad_tensor(f, e->name, err, "\"shape\" is no array");
    if (json_array_size(shape) > LB_MAX_RANK) return bad_tensor(f, e->name, err, "more than eight dimensions");
    e->rank = (int)json_array_size(shape);
    for (int i = 0; i < e->rank; i++)
        if (!as_size(json_array_get(shape, (size_t)i), &e->shape[i])) return bad_tensor(f, e->name, err, "a dimension is no whole number");
    return LB_OK;
}

static lb_status read_entry(const lb_file *f, const char *name, const json_t *j, size_t data_size, entry *e, lb_error *err) {
    *e = (entry){.name = name};
    const json_t *dtype = json_object_get(j, "dtype"), *shape = json_object_get(j, "shape"), *offsets = json_object_get(j, "data_offsets");
    if (!dtype || !shape || !offsets || json_object_size(j) != 3)
        return bad_tensor(f, name, err, "takes the keys dtype, shape and data_offsets, no others");
    e->dtype = json_is_string(dtype) ? lb_dtype_by_safetensors(json_string_value(dtype)) : NULL;
    if (!e->dtype)
        return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.64s\": dtype \"%.32s\" is not read here", name,
                       json_is_string(dtype) ? json_string_value(dtype) : "?");
    LB_TRY(read_shape(f, e, shape, err));
    if (json_array_size(offsets) != 2 || !as_size(json_array_get(offsets, 0), &e->begin) || !as_size(json_array_get(offsets, 1), &e->end))
        return bad_tensor(f, name, err, "data_offsets are no two whole numbers");
    if (e->begin > e->end || e->end > data_size)
        return lb_fail(err, LB_E_FILE, f->path,
                       "tensor \"%.64s\": data_offsets [%zu, %zu] do not lie in the %zu bytes of data: is the file whole?", name, e->begin,
                       e->end, data_size);
    size_t want;
    if (!lb_shape_bytes(e->shape, e->rank, (size_t)e->dtype->bytes, &want)) return bad_tensor(f, name, err, "its shape is too large");
    if (want != e->end - e->begin)
        return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.64s\": its shape wants %zu bytes, its data_offsets hold %zu", name, want,
                       e->end - e->begin);
    return LB_OK;
}

static lb_status read_metadata(lb_file *f, json_t *j, lb_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(j)) return lb_fail(err, LB_E_FILE, f->path, "__metadata__ is no object");
    f->metadata = calloc(json_object_size(j) + 1, sizeof *f->metadata);
    if (!f->metadata) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for metadata");
    json_object_foreach(j, key, value) {
        if (!json_is_string(value)) return lb_fail(err, LB_E_FILE, f->path, "__metadata__ \"%.64s\" is no string", key);
        lb_pair *p = &f->metadata[f->metadata_count++];
        p->key = strdup(key);
        p->value = strdup(json_string_value(value));
        if (!p->key || !p->value) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for metadata");
    }
    return LB_OK;
}

/* Empty tensors may share a place; their names order them. */
static int by_place(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Every byte of the data belongs to exactly one tensor: no hole, no overlap, nothing behind the last. */
static lb_status check_cover(const lb_file *f, const entry *entries, size_t count, size_t data_size, lb_error *err) {
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].begin != at)
            return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.64s\" begins at byte %zu of the data; %s byte %zu", entries[i].name,
                           entries[i].begin,
                           entries[i].begin < at ? "it overlaps another that reaches to" : "nothing covers the bytes from", at);
        at = entries[i].end;
    }
    if (at != data_size) return lb_fail(err, LB_E_FILE, f->path, "%zu bytes behind the last tensor belong to none", data_size - at);
    return LB_OK;
}

static lb_status copy_tensors(lb_file *f, const entry *entries, size_t count, const unsigned char *data, lb_error *err) {
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++) total += lb_aligned(entries[i].end - entries[i].begin);
    LB_TRY(lb_file_reserve(f, count, total, err));
    for (size_t i = 0; i < count; i++) {
        const entry *e = &entries[i];
        f->names[i] = strdup(e->name);
        f->count = i + 1;
        if (!f->names[i]) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for names");
        lb_tensor *t = &f->tensors[i];
        *t = (lb_tensor){.name = f->names[i], .dtype = e->dtype, .rank = e->rank, .bytes = e->end - e->begin};
        memcpy(t->shape, e->shape, sizeof t->shape);
        if (f->header_only) {
            f->places[i] = (size_t)(data - f->bytes) + e->begin;
            continue;
        }
        t->data = (char *)f->data + at;
        if (t->bytes) memcpy((char *)f->data + at, data + e->begin, t->bytes);
        at += lb_aligned(t->bytes);
    }
    return LB_OK;
}

static lb_status read_header(lb_file *f, json_t *root, const unsigned char *data, size_t data_size, lb_error *err) {
    if (!json_is_object(root)) return lb_fail(err, LB_E_FILE, f->path, "byte 8: the header is no JSON object");
    entry *entries = calloc(json_object_size(root) + 1, sizeof *entries);
    size_t count = 0;
    const char *name;
    json_t *value;
    lb_status s = entries ? LB_OK : lb_fail(err, LB_E_MEMORY, f->path, "no memory for the header");
    if (s != LB_OK) return s;
    json_object_foreach(root, name, value) {
        if (strcmp(name, "__metadata__") == 0)
            s = read_metadata(f, value, err);
        else
            s = read_entry(f, name, value, data_size, &entries[count++], err);
        if (s != LB_OK) break;
    }
    if (s == LB_OK) {
        qsort(entries, count, sizeof *entries, by_place);
        s = check_cover(f, entries, count, data_size, err);
    }
    if (s == LB_OK) s = copy_tensors(f, entries, count, data, err);
    free(entries);
    return s;
}

lb_status lb_parse_safetensors(lb_file *f, lb_error *err) {
    uint64_t length = 0;
    if (f->size < LENGTH_BYTES + 2)
        return lb_fail(err, LB_E_FILE, f->path, "%zu bytes: neither npy nor safetensors (raw files want --shape)", f->size);
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) length = length << 8 | f->bytes[i];
    if (f->bytes[LENGTH_BYTES] != '{')
        return lb_fail(err, LB_E_FILE, f->path, "byte 8: neither npy nor safetensors (raw files want --shape)");
    if (length > f->size - LENGTH_BYTES || length > most_header)
        return lb_fail(err, LB_E_FILE, f->path, "byte 0: the header is to have %" PRIu64 " bytes; the file has %zu behind it: is it whole?",
                       length, f->size - LENGTH_BYTES);
    json_error_t why;
    json_t *root = json_loadb((const char *)f->bytes + LENGTH_BYTES, (size_t)length, JSON_REJECT_DUPLICATES, &why);
    if (!root) return lb_fail(err, LB_E_FILE, f->path, "byte %d: the header is no JSON: %s", LENGTH_BYTES + why.position, why.text);
    const lb_status s = read_header(f, root, f->bytes + LENGTH_BYTES + length, f->size - LENGTH_BYTES - (size_t)length, err);
    json_decref(root);
    return s;
}
