/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* gguf, versions 2 and 3, little-endian: key-value pairs, tensor descriptions, then the elements, each tensor at a multiple of
 * general.alignment. Every length is checked against the bytes that are left before it is used. source: gguf-format */
#include "base/try.h"
#include "io/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 64, MOST_DIMS = 4, NORMAL_ALIGNMENT = 32, MOST_ALIGNMENT = 1 << 20 };

/* Types of values, in the order of their numbers; bytes 0: of varying length. */
static const struct {
    const char *name;
    unsigned bytes;
} value_types[] = {{"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
                   {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};
enum { VALUE_U32 = 4, VALUE_F32 = 6, VALUE_BOOL = 7, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUE_U64 = 10, VALUE_F64 = 12, VALUE_TYPES = 13 };

/* Types of tensors by their numbers; the rows that are not here are not read. */
static const struct {
    uint32_t number;
    const char *dtype;
} tensor_types[] = {{0, "f32"},   {1, "f16"},   {2, "q4_0"}, {3, "q4_1"}, {6, "q5_0"}, {7, "q5_1"}, {8, "q8_0"}, {12, "q4_k"},
                    {13, "q5_k"}, {14, "q6_k"}, {24, "i8"},  {25, "i16"}, {26, "i32"}, {27, "i64"}, {28, "f64"}, {30, "bf16"}};

typedef struct cursor {
    const lb_file *f;
    size_t at;
} cursor;

typedef struct text {
    const char *bytes;
    size_t length;
} text;

typedef struct info {
    text name;
    const lb_dtype *dtype;
    int rank;
    size_t shape[LB_MAX_RANK], offset, bytes;
} info;

static size_t left(const cursor *c) {
    return c->f->size - c->at;
}

static lb_status take(cursor *c, size_t bytes, uint64_t *out, const char *what, lb_error *err) {
    *out = 0;
    if (left(c) < bytes) return lb_fail(err, LB_E_FILE, c->f->path, "byte %zu: the file ends in %s", c->at, what);
    for (size_t i = bytes; i-- > 0;) *out = *out << 8 | c->f->bytes[c->at + i];
    c->at += bytes;
    return LB_OK;
}

static lb_status take_text(cursor *c, text *out, const char *what, lb_error *err) {
    const size_t start = c->at;
    uint64_t length;
    LB_TRY(take(c, 8, &length, what, err));
    if (length > left(c))
        return lb_fail(err, LB_E_FILE, c->f->path, "byte %zu: %s is to have %" PRIu64 " bytes; the file has %zu behind it: is it whole?",
                       start, what, length, left(c));
    *out = (text){(const char *)c->f->bytes + c->at, (size_t)length};
    c->at += (size_t)length;
    return memchr(out->bytes, 0, out->length) ? lb_fail(err, LB_E_FILE, c->f->path, "byte %zu: %s holds a zero byte", start, what) : LB_OK;
}

static char *copy_of(text t) {
    char *s = malloc(t.length + 1);
    if (s) memcpy(s, t.bytes, t.length);
    if (s) s[t.length] = 0;
    return s;
}

/* ---- key-value pairs --------------------------------------------------------------------------------------------------- */

static lb_status take_type(cursor *c, uint64_t *type, lb_error *err) {
    const size_t start = c->at;
    LB_TRY(take(c, 4, type, "the type of a value", err));
    return *type < VALUE_TYPES ? LB_OK
                               : lb_fail(err, LB_E_FILE, c->f->path, "byte %zu: no type of value has number %" PRIu64, start, *type);
}

/* An array is passed over; what is kept says how many there are. Arrays of arrays, which no writer makes, are refused. */
static lb_status pass_array(cursor *c, char *said, size_t size, lb_error *err) {
    const size_t start = c->at;
    uint64_t type, count;
    text t;
    LB_TRY(take_type(c, &type, err));
    LB_TRY(take(c, 8, &count, "the length of an array", err));
    if (type == VALUE_ARRAY) return lb_fail(err, LB_E_FILE, c->f->path, "byte %zu: an array of arrays is not read here", start);
    const size_t least = type == VALUE_STRING ? 8 : value_types[type].bytes;
    if (count > left(c) / least)
        return lb_fail(err, LB_E_FILE, c->f->path, "byte %zu: an array of %" PRIu64 " %s does not fit in the %zu bytes behind it", start,
                       count, value_types[type].name, left(c));
    for (uint64_t i = 0; type == VALUE_STRING && i < count; i++) LB_TRY(take_text(c, &t, "a string of an array", err));
    if (type != VALUE_STRING) c->at += (size_t)count * least;
    snprintf(said, size, "[%" PRIu64 " x %s]", count, value_types[type].name);
    return LB_OK;
}

static void say_number(uint64_t type, uint64_t bits, char *said, size_t size) {
    float f;
    double d;
    const unsigned width = value_types[type].bytes * 8;
    const int64_t extended = width < 64 ? (int64_t)(bits << (64 - width)) >> (64 - width) : (int64_t)bits;
    memcpy(&f, &(uint32_t){(uint32_t)bits}, sizeof f);
    memcpy(&d, &bits, sizeof d);
    if (type == VALUE_F32)
        snprintf(said, size, "%.9g", (double)f);
    else if (type == VALUE_F64)
        snprintf(said, size, "%.17g", d);
    else if (type == VALUE_BOOL)
        snprintf(said, size, "%s", bits ? "true" : "false");
    else if (value_types[type].name[0] == 'i')
        snprintf(said, size, "%" PRId64, extended);
    else
        snprintf(said, size, "%" PRIu64, bits);
}

static lb_status read_pair(lb_file *f, cursor *c, size_t *alignment, lb_error *err) {
    text key, value;
    uint64_t type, bits = 0;
    char said[64];
    const size_t start = c->at;
    LB_TRY(take_text(c, &key, "a key", err));
    LB_TRY(take_type(c, &type, err));
    value = (text){said, 0};
    if (type == VALUE_STRING) {
        LB_TRY(take_text(c, &value, "a string", err));
    } else {
        if (type == VALUE_ARRAY)
            LB_TRY(pass_array(c, said, sizeof said, err));
        else {
            LB_TRY(take(c, value_types[type].bytes, &bits, "a value", err));
            say_number(type, bits, said, sizeof said);
        }
        value.length = strlen(said);
    }
    lb_pair *p = &f->metadata[f->metadata_count++];
    p->key = copy_of(key);
    p->value = copy_of(value);
    if (!p->key || !p->value) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for metadata");
    if (strcmp(p->key, "general.alignment") != 0) return LB_OK;
    if (type != VALUE_U32)
        return lb_fail(err, LB_E_FILE, f->path, "byte %zu: general.alignment is a %s, no u32", start, value_types[type].name);
    if (bits < 8 || bits % 8 || bits > MOST_ALIGNMENT)
        return lb_fail(err, LB_E_FILE, f->path, "byte %zu: general.alignment %" PRIu64 " is no multiple of 8 up to %d", start, bits,
                       MOST_ALIGNMENT);
    *alignment = (size_t)bits;
    return LB_OK;
}

/* ---- tensors ------------------------------------------------------------------------------------------------------------- */

static lb_status bad(const lb_file *f, const info *x, lb_error *err, const char *what) {
    return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.*s\": %s", (int)x->name.length, x->name.bytes, what);
}

static const lb_dtype *type_of(uint64_t number) {
    for (size_t i = 0; i < sizeof tensor_types / sizeof tensor_types[0]; i++)
        if (tensor_types[i].number == number) return lb_dtype_find(tensor_types[i].dtype);
    return NULL;
}

static lb_status read_info(const lb_file *f, cursor *c, info *x, lb_error *err) {
    const size_t start = c->at;
    uint64_t rank, size, number, offset;
    LB_TRY(take_text(c, &x->name, "the name of a tensor", err));
    if (!x->name.length || x->name.length > MOST_NAME)
        return lb_fail(err, LB_E_FILE, f->path, "byte %zu: a tensor's name has 1 to %d bytes, not %zu", start, MOST_NAME, x->name.length);
    LB_TRY(take(c, 4, &rank, "a tensor's rank", err));
    if (rank < 1 || rank > MOST_DIMS) return bad(f, x, err, "a tensor has one to four dimensions");
    x->rank = (int)rank;
    for (int i = x->rank - 1; i >= 0; i--) { /* the file has the innermost first */
        LB_TRY(take(c, 8, &size, "a tensor's shape", err));
        if (!size || size > SIZE_MAX) return bad(f, x, err, "a dimension is zero");
        x->shape[i] = (size_t)size;
    }
    LB_TRY(take(c, 4, &number, "a tensor's type", err));
    LB_TRY(take(c, 8, &offset, "a tensor's offset", err));
    x->dtype = type_of(number);
    x->offset = (size_t)offset;
    if (!x->dtype)
        return lb_fail(err, LB_E_FILE, f->path,
                       "tensor \"%.*s\": type %" PRIu64 " is not read here (docs/networks.md lists those that are)", (int)x->name.length,
                       x->name.bytes, number);
    const size_t inner = x->shape[x->rank - 1], block = (size_t)x->dtype->block;
    if (inner % block)
        return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.*s\": rows of %zu elements are no whole blocks of %zu (%s)",
                       (int)x->name.length, x->name.bytes, inner, block, x->dtype->name);
    size_t blocks[LB_MAX_RANK];
    memcpy(blocks, x->shape, sizeof blocks);
    blocks[x->rank - 1] = inner / block;
    return lb_shape_bytes(blocks, x->rank, (size_t)x->dtype->bytes, &x->bytes) ? LB_OK : bad(f, x, err, "its shape is too large");
}

static int by_offset(const void *a, const void *b) {
    const info *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_name(const void *a, const void *b) {
    const info *x = *(const info *const *)a, *y = *(const info *const *)b;
    const size_t n = x->name.length < y->name.length ? x->name.length : y->name.length;
    const int d = memcmp(x->name.bytes, y->name.bytes, n);
    return d ? d : x->name.length < y->name.length ? -1 : x->name.length > y->name.length;
}

static lb_status check_names(const lb_file *f, const info *infos, size_t count, lb_error *err) {
    const info **sorted = calloc(count + 1, sizeof(info *));
    lb_status s = sorted ? LB_OK : lb_fail(err, LB_E_MEMORY, f->path, "no memory for names");
    for (size_t i = 0; s == LB_OK && i < count; i++) sorted[i] = &infos[i];
    if (s == LB_OK) qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; s == LB_OK && i < count; i++)
        if (by_name(&sorted[i - 1], &sorted[i]) == 0) s = bad(f, sorted[i], err, "two tensors have this name");
    free(sorted);
    return s;
}

/* In the order of their data: each at a multiple of the alignment, behind the one before, inside the file; gaps are padding alone. */
static lb_status check_places(const lb_file *f, const info *infos, size_t count, size_t alignment, size_t data, lb_error *err) {
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const info *x = &infos[i];
        if (x->offset % alignment) return bad(f, x, err, "its offset is no multiple of general.alignment");
        if (x->offset < end) return bad(f, x, err, "it overlaps another");
        if (x->offset - end >= alignment) return bad(f, x, err, "bytes before it belong to no tensor");
        if (x->offset > data || x->bytes > data - x->offset)
            return lb_fail(err, LB_E_FILE, f->path, "tensor \"%.*s\": offset %zu and %zu bytes do not lie in the %zu bytes of data",
                           (int)x->name.length, x->name.bytes, x->offset, x->bytes, data);
        end = x->offset + x->bytes;
    }
    if (data - end >= alignment && data > end)
        return lb_fail(err, LB_E_FILE, f->path, "%zu bytes behind the last tensor belong to none", data - end);
    return LB_OK;
}

static lb_status copy_tensors(lb_file *f, const info *infos, size_t count, size_t data, lb_error *err) {
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++) total += lb_aligned(infos[i].bytes);
    LB_TRY(lb_file_reserve(f, count, total, err));
    for (size_t i = 0; i < count; i++) {
        const info *x = &infos[i];
        f->names[i] = copy_of(x->name);
        f->count = i + 1;
        if (!f->names[i]) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for names");
        f->tensors[i] =
            (lb_tensor){.name = f->names[i], .dtype = x->dtype, .rank = x->rank, .data = (char *)f->data + at, .bytes = x->bytes};
        memcpy(f->tensors[i].shape, x->shape, sizeof x->shape);
        memcpy((char *)f->data + at, f->bytes + data + x->offset, x->bytes);
        at += lb_aligned(x->bytes);
    }
    return LB_OK;
}

static lb_status read_tensors(lb_file *f, cursor *c, info *infos, size_t count, size_t alignment, lb_error *err) {
    for (size_t i = 0; i < count; i++) LB_TRY(read_info(f, c, &infos[i], err));
    LB_TRY(check_names(f, infos, count, err));
    qsort(infos, count, sizeof *infos, by_offset);
    const size_t data = count ? (c->at + alignment - 1) / alignment * alignment : c->at;
    if (data > f->size) return lb_fail(err, LB_E_FILE, f->path, "the file ends at byte %zu, before its data, at %zu", f->size, data);
    LB_TRY(check_places(f, infos, count, alignment, f->size - data, err));
    return copy_tensors(f, infos, count, data, err);
}

lb_status lb_parse_gguf(lb_file *f, lb_error *err) {
    enum { LEAST_PAIR = 8 + 4 + 1, LEAST_INFO = 8 + 1 + 4 + 8 + 4 + 8 };
    cursor c = {f, 4};
    uint64_t version, tensors, pairs;
    size_t alignment = NORMAL_ALIGNMENT;
    LB_TRY(take(&c, 4, &version, "its head", err));
    if (version != 2 && version != 3)
        return lb_fail(err, LB_E_FILE, f->path, "byte 4: gguf version %" PRIu64 " is not read here; 2 and 3 are%s", version,
                       version == 0x02000000 || version == 0x03000000 ? " (this file is big-endian)" : "");
    LB_TRY(take(&c, 8, &tensors, "its head", err));
    LB_TRY(take(&c, 8, &pairs, "its head", err));
    if (pairs > left(&c) / LEAST_PAIR || tensors > left(&c) / LEAST_INFO)
        return lb_fail(err, LB_E_FILE, f->path, "byte 8: %" PRIu64 " tensors and %" PRIu64 " keys do not fit in %zu bytes", tensors, pairs,
                       f->size);
    f->metadata = calloc((size_t)pairs + 1, sizeof *f->metadata);
    info *infos = calloc((size_t)tensors + 1, sizeof *infos);
    lb_status s = f->metadata && infos ? LB_OK : lb_fail(err, LB_E_MEMORY, f->path, "no memory for its head");
    for (uint64_t i = 0; s == LB_OK && i < pairs; i++) s = read_pair(f, &c, &alignment, err);
    if (s == LB_OK) s = read_tensors(f, &c, infos, (size_t)tensors, alignment, err);
    free(infos);
    return s;
}
