/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A model file becomes a network: which kind it is, its tensors as f32 matrices, what is left over. */
#include "base/try.h"
#include "nets/net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const lb_net_row *const kinds[] = {
#define LB_NET(id) &lb_net_##id,
#include "nets/nets.def"
#undef LB_NET
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const char *lb_net_kind(size_t i) {
    return i < KIND_COUNT ? kinds[i]->name : NULL;
}

const char *lb_net_kind_summary(size_t i) {
    return i < KIND_COUNT ? kinds[i]->summary : NULL;
}

/* ---- tensors ---------------------------------------------------------------------------------------------------------------- */

bool lb_load_has(const lb_builder *b, const char *name) {
    return b->n->file && lb_file_find(b->n->file, name);
}

void lb_load_sizes(const lb_builder *b, size_t *rows, size_t *cols, const char *format, ...) {
    char name[128];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    const lb_tensor *t = lb_file_find(b->n->file, name);
    *rows = t && t->rank == 2 ? t->shape[0] : 0;
    *cols = t && t->rank == 2 ? t->shape[1] : 0;
}

size_t lb_load_layers(const lb_builder *b, const char *before, const char *behind) {
    char name[128];
    size_t n = 0;
    do snprintf(name, sizeof name, "%s%zu%s", before, n, behind);
    while (lb_file_find(b->n->file, name) && ++n);
    return n;
}

static const float *fail(lb_builder *b, const char *name, const char *what) {
    b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(b->n->file), "tensor \"%.64s\": %s", name, what);
    return NULL;
}

static float *own(lb_builder *b, size_t count) {
    lb_net *n = b->n;
    float **more = realloc(n->owned, (n->owned_count + 1) * sizeof *more);
    float *w = malloc(count * sizeof *w + 1);
    if (more) n->owned = more;
    if (!more || !w) {
        free(w);
        b->status = lb_fail(b->err, LB_E_MEMORY, "network", "no memory for %zu weights", count);
        return NULL;
    }
    n->owned[n->owned_count++] = w;
    return w;
}

static const lb_tensor *find(lb_builder *b, const char *name) {
    const lb_file *f = b->n->file;
    for (size_t i = 0; i < lb_file_count(f); i++)
        if (strcmp(lb_file_tensor(f, i)->name, name) == 0) {
            b->n->used[i] = true;
            return lb_file_tensor(f, i);
        }
    fail(b, name, "the model needs it, and it is not there");
    return NULL;
}

/* [rows][cols], or a vector where rows is 1. */
static bool has_shape(const lb_tensor *t, size_t rows, size_t cols) {
    if (t->rank == 1) return rows == 1 && t->shape[0] == cols;
    return t->rank == 2 && t->shape[0] == rows && t->shape[1] == cols;
}

const float *lb_load_matrix(lb_builder *b, const char *name, size_t rows, size_t cols, bool transposed) {
    if (b->status != LB_OK) return NULL;
    const lb_tensor *t = find(b, name);
    if (!t) return NULL;
    if (!has_shape(t, transposed ? cols : rows, transposed ? rows : cols)) {
        char shape[128] = "";
        size_t used = 0;
        for (int i = 0; i < t->rank && used < sizeof shape; i++)
            used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu", i ? ", " : "", t->shape[i]);
        b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(b->n->file), "tensor \"%.64s\": its shape is [%s]; the model wants [%zu, %zu]",
                            name, shape, transposed ? cols : rows, transposed ? rows : cols);
        return NULL;
    }
    if (t->dtype->format == LB_F32 && !transposed) return t->data;
    lb_error why;
    float *w = own(b, rows * cols), *line = transposed ? malloc(rows * sizeof *line + 1) : NULL;
    if (!w || (transposed && !line)) {
        free(line);
        if (b->status == LB_OK) b->status = lb_fail(b->err, LB_E_MEMORY, name, "out of memory");
        return NULL;
    }
    lb_status s = transposed ? LB_OK : lb_tensor_values(t, 0, rows * cols, w, &why);
    for (size_t c = 0; transposed && s == LB_OK && c < cols; c++) { /* row c of the file is column c here */
        s = lb_tensor_values(t, c * rows, rows, line, &why);
        for (size_t r = 0; s == LB_OK && r < rows; r++) w[r * cols + c] = line[r];
    }
    free(line);
    return s == LB_OK ? w : fail(b, name, why.message);
}

static bool ends_in(const char *name, const char *const *ends) {
    for (; ends && *ends; ends++) {
        const size_t n = strlen(name), e = strlen(*ends);
        if (n >= e && strcmp(name + n - e, *ends) == 0) return true;
    }
    return false;
}

static lb_status check_left_over(const lb_net *n, const lb_net_row *kind, lb_error *err) {
    for (size_t i = 0; i < lb_file_count(n->file); i++)
        if (!n->used[i] && !ends_in(lb_file_tensor(n->file, i)->name, kind->passed))
            return lb_fail(err, LB_E_FILE, lb_file_path(n->file), "tensor \"%.64s\" is no part of a %s network",
                           lb_file_tensor(n->file, i)->name, n->about.kind);
    return LB_OK;
}

/* ---- a network -------------------------------------------------------------------------------------------------------------- */

static const lb_net_row *kind_of(const lb_file *f) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i]->is(f)) return kinds[i];
    return NULL;
}

static lb_status build(lb_net *n, const char *path, const lb_net_options *o, lb_error *err) {
    static const lb_net_options none;
    lb_builder b = {n, LB_OK, err};
    bool is_llama2c;
    LB_TRY(lb_net_llama2c(&b, path, &is_llama2c, err));
    if (is_llama2c) return b.status;
    LB_TRY(lb_file_open(&n->file, path, NULL, err));
    n->used = calloc(lb_file_count(n->file) + 1, sizeof *n->used);
    if (!n->used) return lb_fail(err, LB_E_MEMORY, path, "out of memory");
    const lb_net_row *kind = kind_of(n->file);
    if (!kind)
        return lb_fail(err, LB_E_FILE, path,
                       "its tensors are those of no network that is known here (docs/networks.md): the first is \"%.64s\"",
                       lb_file_count(n->file) ? lb_file_tensor(n->file, 0)->name : "");
    n->about.kind = kind->name;
    kind->build(&b, o ? o : &none);
    if (b.status == LB_OK && !(o && o->drop_unknown)) b.status = check_left_over(n, kind, err);
    return b.status;
}

lb_status lb_net_open(lb_net **out, const char *path, const lb_net_options *options, lb_error *err) {
    lb_net *n = calloc(1, sizeof *n);
    *out = NULL;
    if (!n) return lb_fail(err, LB_E_MEMORY, path, "out of memory");
    const lb_status s = build(n, path, options, err);
    if (s != LB_OK) {
        lb_net_close(n);
        return s;
    }
    n->about.nodes = n->node_count;
    n->about.takes_tokens = n->values[n->input].kind == LB_VALUE_TOKENS;
    n->about.in_cols = n->values[n->input].cols;
    n->about.out_cols = n->values[n->output].cols;
    *out = n;
    return LB_OK;
}

void lb_net_close(lb_net *n) {
    if (!n) return;
    for (size_t i = 0; i < n->owned_count; i++) free(n->owned[i]);
    free(n->owned);
    free(n->used);
    free(n->values);
    free(n->nodes);
    lb_file_close(n->file);
    free(n);
}

lb_net_about lb_net_describe(const lb_net *n) {
    return n->about;
}

const char *lb_net_node(const lb_net *n, size_t i, const lb_op **op) {
    if (i >= n->node_count) return NULL;
    if (op) *op = n->nodes[i].op;
    return n->nodes[i].name;
}
