/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands: a tensor of a file as a matrix of codes in the format that is wanted. */
#include "base/try.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "FILE" or "FILE:tensor": split at the last colon only where no file has the whole name. */
lb_status lb_split_spec(const char *spec, char **path, const char **tensor, lb_error *err) {
    struct stat st;
    *path = strdup(spec);
    *tensor = NULL;
    if (!*path) return lb_fail(err, LB_E_MEMORY, spec, "no memory");
    char *colon = strrchr(*path, ':');
    if (colon && stat(spec, &st) != 0) {
        *colon = 0;
        *tensor = strrchr(spec, ':') + 1;
    }
    return LB_OK;
}

lb_status lb_pick_tensor(const lb_file *f, const char *spec, const char *name, const lb_tensor **out, lb_error *err) {
    const size_t count = lb_file_count(f);
    *out = name ? lb_file_find(f, name) : lb_file_tensor(f, 0);
    if (name && !*out) {
        const char **names = calloc(count + 1, sizeof *names);
        for (size_t i = 0; names && i < count; i++) names[i] = f->tensors[i].name;
        const char *near = names && count ? lb_nearest_name(name, names, count) : NULL;
        free(names);
        return near ? lb_fail(err, LB_E_NAME, spec, "no tensor \"%s\"; did you mean \"%s\"?", name, near)
                    : lb_fail(err, LB_E_NAME, spec, "no tensor \"%s\" among %zu", name, count);
    }
    if (count == 0) return lb_fail(err, LB_E_FILE, spec, "the file holds no tensor");
    if (!name && count > 1)
        return lb_fail(err, LB_E_NAME, spec, "the file holds %zu tensors: say which, as %s:%s", count, lb_file_path(f), f->tensors[0].name);
    return LB_OK;
}

/* rank 2 as it is, rank 0 and 1 as one row, higher ranks as rows of the last dimension. */
void lb_tensor_fold(const lb_tensor *t, size_t *rows, size_t *cols) {
    *cols = t->rank ? t->shape[t->rank - 1] : 1;
    *rows = 1;
    for (int i = 0; i + 1 < t->rank; i++) *rows *= t->shape[i];
}

/* Whether the tensor's elements are the format's codes already: its own type, an unsigned one of its width, f32 under tf32. */
bool lb_tensor_holds(const lb_tensor *t, const lb_format *f) {
    if (t->dtype->format == (int)f->id) return true;
    if (f->id == LB_TF32 && t->dtype->format == LB_F32) return true;
    const bool plain = t->dtype->format < 0 && !strchr("ib", t->dtype->name[0]); /* signed integers and truth values are no codes */
    return plain && t->dtype->bytes == f->bytes;
}

/* Another float type, converted where every value is representable. */
static lb_status convert(lb_operand *out, const lb_tensor *t, const lb_format *f, const char *spec, lb_error *err) {
    const lb_format *own = lb_format_row((lb_format_id)t->dtype->format);
    size_t rows, cols;
    lb_tensor_fold(t, &rows, &cols);
    out->owned = calloc(rows * cols + 1, (size_t)f->bytes);
    if (!out->owned) return lb_fail(err, LB_E_MEMORY, spec, "no memory for %zux%zu", rows, cols);
    const lb_mat from = lb_mat_of(own, t->data, rows, cols);
    out->mat = lb_mat_of(f, out->owned, rows, cols);
    return lb_mat_convert(&from, &out->mat, spec, err);
}

static const lb_format *named_format(const lb_tensor *t) {
    return t->dtype->format >= 0 ? lb_format_row((lb_format_id)t->dtype->format) : NULL;
}

lb_status lb_tensor_format(const lb_file *file, const lb_tensor *t, const lb_format *said, const char *spec, const lb_format **out,
                           lb_error *err) {
    const char *left = lb_file_metadata(file, "lastbit.format"); /* by lb_mat_write, beside plain codes */
    *out = said ? said : named_format(t) ? named_format(t) : left ? lb_format_find(left) : NULL;
    if (*out) return LB_OK;
    return lb_fail(err, LB_E_FORMAT, spec, "%s elements name no number format: say which, with --in or --out", t->dtype->name);
}

static lb_status take(lb_operand *out, const lb_tensor *t, const lb_format *said, const char *spec, lb_error *err) {
    const lb_format *named = named_format(t), *f;
    size_t rows, cols;
    LB_TRY(lb_tensor_format(out->file, t, said, spec, &f, err));
    if (lb_tensor_holds(t, f)) {
        lb_tensor_fold(t, &rows, &cols);
        out->mat = lb_mat_of(f, t->data, rows, cols);
        return lb_mat_check(&out->mat, spec, err);
    }
    if (!named || named->special == LB_SPECIAL_INT)
        return lb_fail(err, LB_E_FORMAT, spec, "%s elements are neither floats nor codes of %s, which are unsigned, %d bytes wide",
                       t->dtype->name, f->name, f->bytes);
    return convert(out, t, f, spec, err);
}

lb_status lb_operand_open(lb_operand *out, const char *spec, const lb_format *format, const lb_file_options *options, lb_error *err) {
    char *path;
    const char *name;
    const lb_tensor *t;
    *out = (lb_operand){0};
    LB_TRY(lb_split_spec(spec, &path, &name, err));
    lb_status s = lb_file_open(&out->file, path, options, err);
    free(path);
    if (s == LB_OK) s = lb_pick_tensor(out->file, spec, name, &t, err);
    if (s == LB_OK) s = take(out, t, format, spec, err);
    if (s == LB_OK) return LB_OK;
    lb_operand_close(out);
    return s;
}

void lb_operand_close(lb_operand *o) {
    lb_file_close(o->file);
    free(o->owned);
    *o = (lb_operand){0};
}
