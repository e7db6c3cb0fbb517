/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/op_set.h"

#include "base/try.h"
#include "lastbit/operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1 << 20 };

static size_t bytes_of(lb_word w) {
    return (size_t)lb_word_bits(w) / 8;
}

void lb_op_set_close(lb_op_set *s) {
    for (size_t i = 0; i < s->count; i++) {
        free(s->items[i].in);
        free(s->items[i].out);
        free(s->items[i].ptx);
        free(s->items[i].cubin);
    }
    free(s->items);
    free(s->device);
    *s = (lb_op_set){0};
}

lb_op_item *lb_op_set_find(const lb_op_set *s, const char *name) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].name, name) == 0) return &s->items[i];
    return NULL;
}

static const lb_scalar_op *op_named(const char *name) {
    const lb_scalar_op *op;
    for (size_t i = 0; (op = lb_scalar_row(i)); i++)
        if (strcmp(op->name, name) == 0) return op;
    return NULL;
}

lb_status lb_op_model(const lb_op_item *x, uint64_t **out, lb_error *err) {
    *out = malloc((x->rows * (size_t)x->op->outs + 1) * sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, x->name, "no memory for %zu rows", x->rows);
    const lb_status s = lb_scalar_eval_rows(x->op, x->rows, x->in, *out, err);
    if (s != LB_OK) free(*out);
    if (s != LB_OK) *out = NULL;
    return s;
}

/* ---- the standard rows ------------------------------------------------------------------------------------------------------- */

static lb_status fill_item(lb_op_item *x, const lb_scalar_op *op, uint64_t seed, lb_error *err) {
    const size_t ins = (size_t)op->ins;
    x->op = op;
    x->rows = LB_OP_ROWS;
    snprintf(x->name, sizeof x->name, "%s", op->name);
    x->in = malloc(x->rows * ins * sizeof *x->in);
    if (!x->in) return lb_fail(err, LB_E_MEMORY, op->name, "no memory for its rows");
    for (size_t r = 0; r < x->rows; r++)
        for (size_t i = 0; i < ins; i++) x->in[r * ins + i] = lb_scalar_input(op->in[i], (int)i, seed, r);
    return lb_operation_ptx(op, &x->ptx, err);
}

lb_status lb_op_set_standard(lb_op_set *s, const char *part, uint64_t seed, lb_error *err) {
    const lb_scalar_op *op;
    size_t rows = 0;
    *s = (lb_op_set){0};
    while (lb_scalar_row(rows)) rows++;
    s->items = calloc(rows, sizeof *s->items);
    if (!s->items) return lb_fail(err, LB_E_MEMORY, "", "no memory for %zu operations", rows);
    for (size_t i = 0; (op = lb_scalar_row(i)); i++)
        if (!part || strstr(op->name, part)) LB_TRY(fill_item(&s->items[s->count++], op, seed ? seed : 1, err));
    return s->count ? LB_OK : lb_fail(err, LB_E_NAME, part, "no operation has this in its name; `lastbit scalar` lists them");
}

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

/* Column `column` of words[rows][columns] from a tensor; the first one says how many rows there are. */
static lb_status read_column(lb_op_item *x, const lb_file *f, char kind, int column, int columns, lb_word w, uint64_t **words,
                             lb_error *err) {
    char name[96];
    snprintf(name, sizeof name, "%s.%c%d", x->name, kind, column);
    const lb_tensor *t = lb_file_find(f, name);
    if (!t) return lb_fail(err, LB_E_FILE, lb_file_path(f), "there is no tensor %s", name);
    const size_t rows = lb_tensor_count(t), bytes = bytes_of(w);
    if ((size_t)t->dtype->bytes != bytes || t->rank != 1)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "%s is no list of words of %zu bytes, as %s is", name, bytes, lb_word_name(w));
    if (!x->rows) x->rows = rows;
    if (rows != x->rows || !rows || rows > MOST_ROWS || (x->op->warp && rows % LB_WARP_LANES))
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "%s has %zu rows%s", name, rows,
                       rows != x->rows ? ", and another tensor of the operation has others" : "; up to 2^20 are taken, of a warp by 32");
    if (!*words) *words = calloc(rows * (size_t)columns, sizeof **words);
    if (!*words) return lb_fail(err, LB_E_MEMORY, lb_file_path(f), "no memory for %s", name);
    for (size_t r = 0; r < rows; r++)
        (*words)[r * (size_t)columns + (size_t)column] = lb_load_code((const char *)t->data + r * bytes, (int)bytes);
    return LB_OK;
}

static bool has(const lb_file *f, const char *name, const char *suffix) {
    char full[96];
    snprintf(full, sizeof full, "%s.%s", name, suffix);
    return lb_file_find(f, full) != NULL;
}

static lb_status read_bytes(const lb_op_item *x, const lb_file *f, const char *suffix, char **out, size_t *bytes, lb_error *err) {
    char full[96];
    snprintf(full, sizeof full, "%s.%s", x->name, suffix);
    const lb_tensor *t = lb_file_find(f, full);
    if (!t) return LB_OK;
    *out = malloc(t->bytes + 1);
    if (!*out) return lb_fail(err, LB_E_MEMORY, lb_file_path(f), "no memory for %s", full);
    memcpy(*out, t->data, t->bytes);
    (*out)[t->bytes] = 0;
    *bytes = t->bytes;
    return LB_OK;
}

static lb_status read_item(lb_op_item *x, const lb_file *f, bool any, lb_error *err) {
    size_t unused;
    x->op = op_named(x->name);
    if (!x->op) return LB_OK;
    for (int i = 0; (!any || has(f, x->name, "i0")) && i < x->op->ins; i++)
        LB_TRY(read_column(x, f, 'i', i, x->op->ins, x->op->in[i], &x->in, err));
    for (int o = 0; has(f, x->name, "o0") && o < x->op->outs; o++)
        LB_TRY(read_column(x, f, 'o', o, x->op->outs, x->op->out[o], &x->out, err));
    LB_TRY(read_bytes(x, f, "ptx", &x->ptx, &unused, err));
    return read_bytes(x, f, "cubin", &x->cubin, &x->cubin_bytes, err);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const lb_op_item *)a)->name, ((const lb_op_item *)b)->name);
}

/* The distinct names before the last dot. */
static lb_status read_names(lb_op_set *s, const lb_file *f, lb_error *err) {
    const size_t tensors = lb_file_count(f);
    s->items = calloc(tensors + 1, sizeof *s->items);
    if (!s->items) return lb_fail(err, LB_E_MEMORY, lb_file_path(f), "no memory for %zu tensors", tensors);
    for (size_t i = 0; i < tensors; i++) {
        const char *name = lb_file_tensor(f, i)->name, *dot = strrchr(name, '.');
        const size_t n = dot ? (size_t)(dot - name) : 0;
        if (!n || n >= sizeof s->items[0].name)
            return lb_fail(err, LB_E_FILE, lb_file_path(f), "tensor \"%.80s\": tensors of op/1 are NAME.i0, NAME.o0, NAME.ptx, NAME.cubin",
                           name);
        memcpy(s->items[i].name, name, n);
    }
    qsort(s->items, tensors, sizeof *s->items, by_name);
    for (size_t i = 0; i < tensors; i++)
        if (!s->count || strcmp(s->items[s->count - 1].name, s->items[i].name) != 0) s->items[s->count++] = s->items[i];
    return LB_OK;
}

lb_status lb_op_set_parse(lb_op_set *s, const lb_file *f, bool any, lb_error *err) {
    const char *kind = lb_file_metadata(f, "lastbit.recording"), *device = lb_file_metadata(f, "device");
    *s = (lb_op_set){0};
    if (!any && (!kind || strcmp(kind, "op/1") != 0))
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "is no recording of operations (op/1)");
    if (device && !(s->device = strdup(device))) return lb_fail(err, LB_E_MEMORY, lb_file_path(f), "no memory for its device");
    LB_TRY(read_names(s, f, err));
    for (size_t i = 0; i < s->count; i++) LB_TRY(read_item(&s->items[i], f, any, err));
    return s->count ? LB_OK : lb_fail(err, LB_E_FILE, lb_file_path(f), "holds no operation");
}

lb_status lb_op_set_load(lb_op_set *s, const char *path, bool any, lb_error *err) {
    lb_file *f = NULL;
    *s = (lb_op_set){0};
    LB_TRY(lb_file_open(&f, path, NULL, err));
    const lb_status status = lb_op_set_parse(s, f, any, err);
    lb_file_close(f);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------------- */

typedef struct output {
    lb_tensor *tensors;
    char (*names)[96];
    void **owned;
    size_t count;
} output;

static lb_tensor *next(output *o, const lb_op_item *x, const char *suffix, int number, const char *dtype, size_t elements) {
    char *name = o->names[o->count];
    lb_tensor *t = &o->tensors[o->count++];
    if (number >= 0)
        snprintf(name, sizeof o->names[0], "%s.%s%d", x->name, suffix, number);
    else
        snprintf(name, sizeof o->names[0], "%s.%s", x->name, suffix);
    *t = (lb_tensor){.name = name, .dtype = lb_dtype_find(dtype), .rank = 1, .shape = {elements}};
    t->bytes = elements * (size_t)t->dtype->bytes;
    return t;
}

static lb_status add_column(output *o, const lb_op_item *x, const char *suffix, int column, int columns, lb_word w, const uint64_t *words,
                            lb_error *err) {
    static const char *const dtypes[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    const size_t bytes = bytes_of(w);
    lb_tensor *t = next(o, x, suffix, column, dtypes[bytes], x->rows);
    char *data = malloc(t->bytes + 1);
    if (!data) return lb_fail(err, LB_E_MEMORY, x->name, "no memory for %zu bytes", t->bytes);
    for (size_t r = 0; r < x->rows; r++) lb_store_code(data + r * bytes, (int)bytes, words[r * (size_t)columns + (size_t)column]);
    o->owned[o->count - 1] = data;
    t->data = data;
    return LB_OK;
}

static lb_status add_item(output *o, const lb_op_item *x, lb_error *err) {
    if (!x->op) return LB_OK;
    for (int i = 0; x->in && i < x->op->ins; i++) LB_TRY(add_column(o, x, "i", i, x->op->ins, x->op->in[i], x->in, err));
    for (int i = 0; x->out && i < x->op->outs; i++) LB_TRY(add_column(o, x, "o", i, x->op->outs, x->op->out[i], x->out, err));
    if (x->ptx) next(o, x, "ptx", -1, "u8", strlen(x->ptx))->data = x->ptx;
    if (x->cubin) next(o, x, "cubin", -1, "u8", x->cubin_bytes)->data = x->cubin;
    return LB_OK;
}

lb_status lb_op_set_write(const lb_op_set *s, const char *path, const char *const *metadata, size_t metadata_count, lb_error *err) {
    const size_t most = s->count * (LB_SCALAR_MAX_IN + LB_SCALAR_MAX_OUT + 2) + 1;
    output o = {calloc(most, sizeof *o.tensors), calloc(most, sizeof *o.names), calloc(most, sizeof *o.owned), 0};
    lb_status status = o.tensors && o.names && o.owned ? LB_OK : lb_fail(err, LB_E_MEMORY, path, "no memory for %zu tensors", most);
    for (size_t i = 0; i < s->count && status == LB_OK; i++) status = add_item(&o, &s->items[i], err);
    if (status == LB_OK) status = lb_safetensors_write(path, o.tensors, o.count, metadata, metadata_count, err);
    for (size_t i = 0; o.owned && i < o.count; i++) free(o.owned[i]);
    free(o.owned);
    free(o.names);
    free(o.tensors);
    return status;
}

lb_status lb_operations_request(const char *path, const char *part, uint64_t seed, lb_error *err) {
    char number[32];
    lb_op_set s;
    snprintf(number, sizeof number, "%llu", (unsigned long long)(seed ? seed : 1));
    const char *const metadata[] = {"lastbit.recording",      "op/1", "lastbit.request", "1", "seed", number, "origin",
                                    "lastbit gen " LB_VERSION};
    lb_status status = lb_op_set_standard(&s, part, seed, err);
    if (status == LB_OK) status = lb_op_set_write(&s, path, metadata, 4, err);
    lb_op_set_close(&s);
    return status;
}

lb_status lb_operations_is_recording(const char *path, bool *is, lb_error *err) {
    lb_file *f = NULL;
    LB_TRY(lb_file_open(&f, path, NULL, err));
    const char *kind = lb_file_metadata(f, "lastbit.recording");
    *is = kind && strcmp(kind, "op/1") == 0;
    lb_file_close(f);
    return LB_OK;
}
