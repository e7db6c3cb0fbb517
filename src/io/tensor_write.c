/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writers. A file appears whole under its name or not at all: it is written beside it and renamed. */
#include "base/text.h"
#include "base/try.h"
#include "io/file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct writer {
    const char *path;
    char *temporary;
    FILE *out;
    int why; /* errno of the first failure */
} writer;

enum { MOST_TRIES = 100 };

/* Under a name that nobody else has: a thread may write the same path now, a process that was killed may have left its own. */
static lb_status begin(writer *w, const char *path, lb_error *err) {
    struct stat st;
    int why = 0;
    *w = (writer){.path = path};
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return lb_fail(err, LB_E_FILE, path, "cannot be written: it is no regular file");
    for (int i = 0; i < MOST_TRIES; i++) {
        lb_text name = {0};
        lb_text_add(&name, "%s.%ld-%d.part", path, (long)getpid(), i);
        LB_TRY(lb_text_take(&name, &w->temporary, err));
        w->out = fopen(w->temporary, "wbxe");
        if (w->out) return LB_OK;
        why = errno;
        free(w->temporary);
        if (why != EEXIST) break;
    }
    return lb_fail(err, LB_E_FILE, path, "cannot be written: %s", strerror(why));
}

/* A failure is kept, and told at the end. */
static void put(writer *w, const void *bytes, size_t count) {
    if (count && !w->why && fwrite(bytes, 1, count, w->out) != count) w->why = errno;
}

static lb_status finish(writer *w, lb_error *err) {
    if (fclose(w->out) != 0 && !w->why) w->why = errno;
    if (!w->why && rename(w->temporary, w->path) != 0) w->why = errno;
    if (w->why) unlink(w->temporary);
    free(w->temporary);
    return w->why ? lb_fail(err, LB_E_FILE, w->path, "cannot be written: %s", strerror(w->why)) : LB_OK;
}

/* What a reader would refuse is not written. */
static lb_status check_tensor(const char *path, const lb_tensor *t, lb_error *err) {
    size_t want;
    if (t->rank < 0 || t->rank > LB_MAX_RANK) return lb_fail(err, LB_E_ARG, path, "rank %d; at most %d", t->rank, LB_MAX_RANK);
    if (!lb_shape_bytes(t->shape, t->rank, (size_t)t->dtype->bytes, &want) || want != t->bytes)
        return lb_fail(err, LB_E_ARG, path, "tensor \"%.64s\": its shape is not that of %zu bytes", t->name, t->bytes);
    return LB_OK;
}

/* ---- safetensors -------------------------------------------------------------------------------------------------------- */

/* False where the text is no UTF-8 or the key stands twice: then nothing was added. */
static bool add_new(json_t *object, const char *key, json_t *value) {
    if (!json_object_get(object, key)) return json_object_set_new(object, key, value) == 0;
    json_decref(value);
    return false;
}

static json_t *entry_of(const lb_tensor *t, size_t at) {
    json_t *shape = json_array();
    for (int d = 0; d < t->rank; d++) json_array_append_new(shape, json_integer((json_int_t)t->shape[d]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", t->dtype->safetensors, "shape", shape, "data_offsets", (json_int_t)at,
                     (json_int_t)(at + t->bytes));
}

static lb_status header_of(const char *path, const lb_tensor *const *tensors, size_t count, const char *const *metadata,
                           size_t metadata_count, char **out, lb_error *err) {
    json_t *root = json_object(), *pairs = json_object();
    bool ok = true;
    size_t at = 0;
    for (size_t i = 0; i < metadata_count; i++) ok = add_new(pairs, metadata[2 * i], json_string(metadata[2 * i + 1])) && ok;
    ok = add_new(root, "__metadata__", pairs) && ok; /* also where it is empty: no tensor can take its name */
    for (size_t i = 0; i < count; i++) {
        ok = ok && *tensors[i]->dtype->safetensors && *tensors[i]->name && add_new(root, tensors[i]->name, entry_of(tensors[i], at));
        at += tensors[i]->bytes;
    }
    if (!metadata_count) json_object_del(root, "__metadata__");
    *out = ok ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return *out ? LB_OK : lb_fail(err, LB_E_ARG, path, "a name is empty, taken or no UTF-8, or a type is one that safetensors has not");
}

/* Wide elements first: then each tensor lies at a multiple of its element's width, for programs that map the file. */
static const lb_tensor **by_width(const lb_tensor *tensors, size_t count) {
    const lb_tensor **ordered = calloc(count + 1, sizeof *ordered);
    size_t n = 0;
    for (int width = 8; ordered && width > 0; width /= 2)
        for (size_t i = 0; i < count; i++)
            if (tensors[i].dtype->bytes == width) ordered[n++] = &tensors[i];
    return ordered;
}

/* Everything before the data, which begin at a multiple of eight. */
static void put_header(writer *w, const char *header) {
    const size_t text = strlen(header), length = (text + 7) / 8 * 8;
    unsigned char little[8];
    for (int i = 0; i < 8; i++) little[i] = (unsigned char)((uint64_t)length >> 8 * i);
    put(w, little, sizeof little);
    put(w, header, text);
    put(w, "       ", length - text);
}

static lb_status write_safetensors(const char *path, const char *header, const lb_tensor *const *tensors, size_t count, lb_error *err) {
    writer w;
    LB_TRY(begin(&w, path, err));
    put_header(&w, header);
    for (size_t i = 0; i < count; i++) put(&w, tensors[i]->data, tensors[i]->bytes);
    return finish(&w, err);
}

lb_status lb_safetensors_write(const char *path, const lb_tensor *tensors, size_t count, const char *const *metadata, size_t metadata_count,
                               lb_error *err) {
    char *header = NULL;
    for (size_t i = 0; i < count; i++) LB_TRY(check_tensor(path, &tensors[i], err));
    const lb_tensor **ordered = by_width(tensors, count);
    lb_status s = ordered ? LB_OK : lb_fail(err, LB_E_MEMORY, path, "no memory for %zu tensors", count);
    if (s == LB_OK) s = header_of(path, ordered, count, metadata, metadata_count, &header, err);
    if (s == LB_OK) s = write_safetensors(path, header, ordered, count, err);
    free(header);
    free(ordered);
    return s;
}

/* ---- safetensors in pieces ------------------------------------------------------------------------------------------------ */

struct lb_writer {
    writer w;
    char *path;
    size_t count, total; /* total: bytes of the whole file */
    struct piece {
        size_t at, bytes; /* in the file */
    } tensors[];
};

static lb_status begin_pieces(lb_writer *p, const char *header, const lb_tensor *const *ordered, const lb_tensor *tensors, lb_error *err) {
    size_t at = 8 + (strlen(header) + 7) / 8 * 8;
    for (size_t i = 0; i < p->count; i++) {
        p->tensors[ordered[i] - tensors] = (struct piece){at, ordered[i]->bytes};
        at += ordered[i]->bytes;
    }
    p->total = at;
    LB_TRY(begin(&p->w, p->path, err));
    put_header(&p->w, header);
    return LB_OK;
}

lb_status lb_safetensors_begin(lb_writer **out, const char *path, const lb_tensor *tensors, size_t count, const char *const *metadata,
                               size_t metadata_count, lb_error *err) {
    char *header = NULL;
    *out = NULL;
    for (size_t i = 0; i < count; i++) LB_TRY(check_tensor(path, &tensors[i], err));
    const lb_tensor **ordered = by_width(tensors, count);
    lb_writer *p = calloc(1, sizeof *p + count * sizeof p->tensors[0]);
    if (p) p->path = strdup(path), p->count = count;
    lb_status s = ordered && p && p->path ? LB_OK : lb_fail(err, LB_E_MEMORY, path, "no memory for %zu tensors", count);
    if (s == LB_OK) s = header_of(path, ordered, count, metadata, metadata_count, &header, err);
    if (s == LB_OK) s = begin_pieces(p, header, ordered, tensors, err);
    if (s == LB_OK)
        *out = p;
    else if (p)
        free(p->path), free(p);
    free(header);
    free(ordered);
    return s;
}

lb_status lb_safetensors_put(lb_writer *p, size_t tensor, size_t offset, const void *bytes, size_t count, lb_error *err) {
    if (tensor >= p->count || offset > p->tensors[tensor].bytes || count > p->tensors[tensor].bytes - offset)
        return lb_fail(err, LB_E_ARG, p->path, "%zu bytes at %zu are not in tensor %zu", count, offset, tensor);
    if (!p->w.why && fseeko(p->w.out, (off_t)(p->tensors[tensor].at + offset), SEEK_SET) != 0) p->w.why = errno;
    put(&p->w, bytes, count);
    return p->w.why ? lb_fail(err, LB_E_FILE, p->path, "cannot be written: %s", strerror(p->w.why)) : LB_OK;
}

lb_status lb_safetensors_end(lb_writer *p, bool keep, lb_error *err) {
    lb_status s = LB_OK;
    if (!p) return LB_OK;
    if (keep) {
        if (!p->w.why && (fflush(p->w.out) != 0 || ftruncate(fileno(p->w.out), (off_t)p->total) != 0)) p->w.why = errno;
        s = finish(&p->w, err);
    } else {
        fclose(p->w.out);
        unlink(p->w.temporary);
        free(p->w.temporary);
    }
    free(p->path);
    free(p);
    return s;
}

/* ---- npy ------------------------------------------------------------------------------------------------------------------ */

lb_status lb_npy_write(const char *path, const lb_tensor *t, lb_error *err) {
    lb_text h = {0};
    char *header;
    writer w;
    LB_TRY(check_tensor(path, t, err));
    if (!*t->dtype->npy) return lb_fail(err, LB_E_ARG, path, "npy has no type for %s; write its codes as unsigned", t->dtype->name);
    lb_text_add(&h, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", t->dtype->bytes == 1 ? '|' : '<', t->dtype->npy);
    for (int d = 0; d < t->rank; d++) lb_text_add(&h, "%s%zu%s", d ? " " : "", t->shape[d], d + 1 < t->rank || t->rank == 1 ? "," : "");
    lb_text_add(&h, "), }");
    while ((10 + h.length + 1) % 64) lb_text_add(&h, " "); /* the data begins at a multiple of 64 */
    lb_text_add(&h, "\n");
    const size_t length = h.length;
    LB_TRY(lb_text_take(&h, &header, err));
    const unsigned char front[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length, (unsigned char)(length >> 8)};
    lb_status s = begin(&w, path, err);
    if (s == LB_OK) {
        put(&w, front, sizeof front);
        put(&w, header, length);
        put(&w, t->data, t->bytes);
        s = finish(&w, err);
    }
    free(header);
    return s;
}

/* ---- matrices --------------------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *ending) {
    const size_t n = strlen(path), e = strlen(ending);
    return n > e && strcmp(path + n - e, ending) == 0;
}

lb_status lb_mat_write(const char *path, const char *tensor_name, const lb_mat *m, lb_error *err) {
    const bool npy = ends_with(path, ".npy");
    if (!npy && !ends_with(path, ".safetensors")) return lb_fail(err, LB_E_ARG, path, "write .npy or .safetensors");
    const size_t width = (size_t)m->format->bytes, bytes = m->rows * m->cols * width;
    char *codes = malloc(bytes + 1);
    if (!codes) return lb_fail(err, LB_E_MEMORY, path, "no memory for %zu bytes", bytes);
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++) memcpy(codes + (r * m->cols + c) * width, lb_mat_at(m, r, c), width);
    const lb_tensor t = {
        .name = tensor_name, .dtype = lb_dtype_for(m->format, npy), .rank = 2, .shape = {m->rows, m->cols}, .data = codes, .bytes = bytes};
    const char *const metadata[] = {"lastbit.format", m->format->name};
    const lb_status s = npy ? lb_npy_write(path, &t, err) : lb_safetensors_write(path, &t, 1, metadata, 1, err);
    free(codes);
    return s;
}
