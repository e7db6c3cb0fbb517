/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files: read whole, told apart by content, checked by their parser. */
#include "io/file.h"

#include "base/try.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const lb_dtype dtypes[] = {
#define LB_DTYPE(name, safetensors, npy, bytes, format) {name, safetensors, npy, bytes, format, 1},
#define LB_QUANT(name, bytes, block)                    {name, "", "", bytes, -1, block},
#include "io/dtypes.def"
#undef LB_DTYPE
#undef LB_QUANT
};

enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

/* Those that a raw file can be told to hold: no blocks. */
static const char dtype_names[] =
#define LB_DTYPE(name, safetensors, npy, bytes, format) " " name
#define LB_QUANT(name, bytes, block)
#include "io/dtypes.def"
#undef LB_DTYPE
#undef LB_QUANT
    ;

const lb_dtype *lb_dtype_find(const char *name) {
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(dtypes[i].name, name) == 0) return &dtypes[i];
    return NULL;
}

const lb_dtype *lb_dtype_by_safetensors(const char *name) {
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        if (*name && strcmp(dtypes[i].safetensors, name) == 0) return &dtypes[i];
    return NULL;
}

const lb_dtype *lb_dtype_by_npy(const char *name, size_t length) {
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        if (length && strlen(dtypes[i].npy) == length && memcmp(dtypes[i].npy, name, length) == 0) return &dtypes[i];
    return NULL;
}

const lb_dtype *lb_dtype_of_codes(const lb_format *f) {
    static const char *const names[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    return lb_dtype_find(names[f->bytes]);
}

const lb_dtype *lb_dtype_for(const lb_format *f, bool npy) {
    const lb_dtype *named = lb_dtype_find(f->name);
    const bool has = named && named->format == (int)f->id && *(npy ? named->npy : named->safetensors);
    return has ? named : lb_dtype_of_codes(f);
}

size_t lb_tensor_count(const lb_tensor *t) {
    size_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->shape[i];
    return n;
}

/* A file of a hundred bytes can say [2^60, 0]; a loop over such rows would not end. */
static const size_t most_empty = (size_t)1 << 31;

bool lb_shape_bytes(const size_t *shape, int rank, size_t element_bytes, size_t *out) {
    bool empty = false;
    size_t bytes = element_bytes;
    for (int i = 0; i < rank; i++) {
        empty = empty || shape[i] == 0;
        if (__builtin_mul_overflow(bytes, shape[i] ? shape[i] : 1, &bytes)) return false;
    }
    *out = empty ? 0 : bytes;
    return !empty || bytes <= most_empty;
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* Read to the end, in growing steps: a pipe has no size, and a file may change while it is read. */
static lb_status read_stream(lb_file *f, int in, size_t expected, size_t most, lb_error *err) {
    size_t capacity = 0;
    for (;;) {
        if (f->size == capacity) {
            capacity = capacity ? capacity * 2 : expected + 1 > 4096 ? expected + 1 : 4096;
            unsigned char *grown = realloc(f->bytes, capacity);
            if (!grown) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for %zu bytes", capacity);
            f->bytes = grown;
        }
        const ssize_t got = read(in, f->bytes + f->size, capacity - f->size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return lb_fail(err, LB_E_FILE, f->path, "cannot be read: %s", strerror(errno));
        if (got == 0) return LB_OK;
        f->size += (size_t)got;
        if (f->size > most) return lb_fail(err, LB_E_FILE, f->path, "larger than %zu bytes", most);
    }
}

static lb_status read_opened(lb_file *f, int in, size_t most, lb_error *err) {
    struct stat st;
    if (fstat(in, &st) != 0) return lb_fail(err, LB_E_FILE, f->path, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode)) return lb_fail(err, LB_E_FILE, f->path, "is a folder");
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > most) return lb_fail(err, LB_E_FILE, f->path, "larger than %zu bytes", most);
    if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode)) return lb_fail(err, LB_E_FILE, f->path, "is a device"); /* some never end */
    return read_stream(f, in, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, most, err);
}

static lb_status read_whole(lb_file *f, size_t most, lb_error *err) {
    if (strcmp(f->path, "-") == 0) return read_opened(f, STDIN_FILENO, most, err);
    const int in = open(f->path, O_RDONLY | O_CLOEXEC);
    if (in < 0) return lb_fail(err, LB_E_FILE, f->path, "%s", strerror(errno));
    const lb_status s = read_opened(f, in, most, err);
    close(in);
    return s;
}

lb_status lb_file_reserve(lb_file *f, size_t count, size_t bytes, lb_error *err) {
    f->tensors = calloc(count + 1, sizeof *f->tensors);
    f->names = calloc(count + 1, sizeof *f->names);
    f->places = f->header_only ? calloc(count + 1, sizeof *f->places) : NULL;
    f->data = f->header_only ? NULL : aligned_alloc(LB_DATA_ALIGNMENT, lb_aligned(bytes + 1));
    if (!f->tensors || !f->names || !(f->header_only ? (void *)f->places : f->data))
        return lb_fail(err, LB_E_MEMORY, f->path, "no memory for %zu bytes of tensors", bytes);
    return LB_OK;
}

static lb_status parse_raw(lb_file *f, const lb_file_options *o, lb_error *err) {
    const lb_dtype *type = lb_dtype_find(o->raw_dtype);
    size_t want, shape[LB_MAX_RANK] = {0};
    int rank = o->raw_rank;
    if (!type || type->block > 1) return lb_fail(err, LB_E_ARG, o->raw_dtype, "no such storage type; there are%s", dtype_names);
    if (rank < 0 || rank > LB_MAX_RANK) return lb_fail(err, LB_E_ARG, f->path, "rank %d; at most %d", rank, LB_MAX_RANK);
    if (rank == 0) {
        rank = 1;
        shape[0] = f->size / (size_t)type->bytes;
    } else {
        memcpy(shape, o->raw_shape, (size_t)rank * sizeof *shape);
    }
    if (!lb_shape_bytes(shape, rank, (size_t)type->bytes, &want)) return lb_fail(err, LB_E_FILE, f->path, "the shape given is too large");
    if (want != f->size) return lb_fail(err, LB_E_FILE, f->path, "%zu bytes; the shape and type given want %zu", f->size, want);
    LB_TRY(lb_file_reserve(f, 1, f->size, err));
    if (f->size && !f->header_only) memcpy(f->data, f->bytes, f->size);
    f->tensors[0] = (lb_tensor){.name = "", .dtype = type, .rank = rank, .data = f->data, .bytes = f->size};
    memcpy(f->tensors[0].shape, shape, sizeof shape);
    f->count = 1;
    return LB_OK;
}

lb_status lb_parse_opened(lb_file *f, const lb_file_options *o, lb_error *err) {
    static const unsigned char npy_magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    lb_status s;
    if (o && o->raw_dtype)
        s = parse_raw(f, o, err);
    else if (f->size >= sizeof npy_magic && memcmp(f->bytes, npy_magic, sizeof npy_magic) == 0)
        s = lb_parse_npy(f, err);
    else if (f->size >= 4 && memcmp(f->bytes, "GGUF", 4) == 0)
        s = lb_parse_gguf(f, err);
    else
        s = lb_parse_safetensors(f, err);
    free(f->bytes); /* the elements have been copied to where they are aligned */
    f->bytes = NULL;
    return s;
}

lb_status lb_file_new(lb_file **out, const char *path, lb_error *err) {
    *out = calloc(1, sizeof **out);
    if (*out) (*out)->path = strdup(path);
    if (*out && (*out)->path) return LB_OK;
    lb_file_close(*out);
    *out = NULL;
    return lb_fail(err, LB_E_MEMORY, path, "no memory");
}

static size_t size_limit(const lb_file_options *o) {
    return o && o->max_bytes ? o->max_bytes : (size_t)64 << 30;
}

lb_status lb_file_open(lb_file **out, const char *path, const lb_file_options *options, lb_error *err) {
    LB_TRY(lb_file_new(out, path, err));
    lb_status s = read_whole(*out, size_limit(options), err);
    if (s == LB_OK) s = lb_parse_opened(*out, options, err);
    if (s == LB_OK) return LB_OK;
    lb_file_close(*out);
    *out = NULL;
    return s;
}

lb_status lb_file_parse(lb_file **out, const void *bytes, size_t size, const char *name, const lb_file_options *options, lb_error *err) {
    LB_TRY(lb_file_new(out, name, err));
    lb_status s = LB_OK;
    (*out)->bytes = malloc(size + 1);
    (*out)->size = size;
    if (!(*out)->bytes)
        s = lb_fail(err, LB_E_MEMORY, name, "no memory for %zu bytes", size);
    else if (size)
        memcpy((*out)->bytes, bytes, size);
    if (s == LB_OK) s = lb_parse_opened(*out, options, err);
    if (s == LB_OK) return LB_OK;
    lb_file_close(*out);
    *out = NULL;
    return s;
}

void lb_file_close(lb_file *f) {
    if (!f) return;
    for (size_t i = 0; f->names && i < f->count; i++) free(f->names[i]);
    for (size_t i = 0; i < f->metadata_count; i++) {
        free(f->metadata[i].key);
        free(f->metadata[i].value);
    }
    free(f->names);
    free(f->tensors);
    free(f->metadata);
    free(f->data);
    free(f->places);
    free(f->bytes);
    free(f->path);
    free(f);
}

/* ---- looking inside ---------------------------------------------------------------------------------------------------- */

size_t lb_file_count(const lb_file *f) {
    return f->count;
}

const lb_tensor *lb_file_tensor(const lb_file *f, size_t i) {
    return i < f->count ? &f->tensors[i] : NULL;
}

const lb_tensor *lb_file_find(const lb_file *f, const char *name) {
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->tensors[i].name, name) == 0) return &f->tensors[i];
    return NULL;
}

const char *lb_file_metadata_key(const lb_file *f, size_t i) {
    return i < f->metadata_count ? f->metadata[i].key : NULL;
}

const char *lb_file_metadata(const lb_file *f, const char *key) {
    for (size_t i = 0; i < f->metadata_count; i++)
        if (strcmp(f->metadata[i].key, key) == 0) return f->metadata[i].value;
    return NULL;
}

const char *lb_file_path(const lb_file *f) {
    return f->path;
}
