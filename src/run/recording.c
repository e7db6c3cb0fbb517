/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/recording.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

lb_status lb_recording_text(const lb_file *f, const char *key, const char **out, lb_error *err) {
    *out = lb_file_metadata(f, key);
    return *out ? LB_OK : lb_fail(err, LB_E_FILE, lb_file_path(f), "not a recording: __metadata__ has no \"%s\"", key);
}

lb_status lb_recording_kind(const lb_file *f, bool *gemm, lb_error *err) {
    const char *kind;
    LB_TRY(lb_recording_text(f, "lastbit.recording", &kind, err));
    *gemm = strcmp(kind, "gemm/1") == 0;
    if (*gemm || strcmp(kind, "dot/1") == 0) return LB_OK;
    return lb_fail(err, LB_E_FILE, lb_file_path(f), "recording of kind \"%s\"; this version knows dot/1 and gemm/1", kind);
}

/* Tensor `name` as codes of the format that the metadata names, which must be `want`. errors LB_E_FILE, LB_E_NAME; lb_operand_close */
static lb_status operand_of(lb_operand *out, const lb_file *f, const char *name, lb_format_id want, lb_error *err) {
    char key[16], spec[4096];
    const char *format_name;
    snprintf(key, sizeof key, "%s_format", name);
    LB_TRY(lb_recording_text(f, key, &format_name, err));
    const lb_format *format;
    LB_TRY(lb_format_get(format_name, &format, err));
    if (format->id != want)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "%s is %s, but the unit's %s is %s", key, format->name, name,
                       lb_format_row(want)->name);
    if (snprintf(spec, sizeof spec, "%s:%s", lb_file_path(f), name) >= (int)sizeof spec)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "path too long");
    return lb_operand_open(out, spec, format, NULL, err);
}

static bool is(const lb_operand *o, size_t rows, size_t cols) {
    return o->mat.rows == rows && o->mat.cols == cols;
}

lb_status lb_recording_load(lb_recording *x, const lb_file *f, bool with_d, lb_error *err) {
    LB_TRY(operand_of(&x->a, f, "a", x->unit.a, err));
    LB_TRY(operand_of(&x->b, f, "b", x->unit.b, err));
    LB_TRY(operand_of(&x->c, f, "c", x->unit.c, err));
    if (with_d) LB_TRY(operand_of(&x->d, f, "d", x->unit.d, err));
    const size_t rows = x->a.mat.rows, k = x->a.mat.cols, cols = x->b.mat.cols;
    x->k = k;
    x->n = x->gemm ? rows * cols : rows;
    if (x->gemm) {
        const bool fits = x->b.mat.rows == k && is(&x->c, rows, cols) && (!with_d || is(&x->d, rows, cols));
        return fits ? LB_OK
                    : lb_fail(err, LB_E_FILE, lb_file_path(f), "a is %zux%zu and b %zux%zu: b must have %zu rows, c and d be %zux%zu", rows,
                              k, x->b.mat.rows, cols, k, rows, cols);
    }
    const bool fits = is(&x->b, rows, k) && is(&x->c, 1, rows) && (!with_d || is(&x->d, 1, rows));
    return fits ? LB_OK
                : lb_fail(err, LB_E_FILE, lb_file_path(f), "a is %zux%zu: b must be the same, c and d of %zu elements", rows, k, rows);
}

void lb_recording_close(lb_recording *x) {
    lb_operand_close(&x->a);
    lb_operand_close(&x->b);
    lb_operand_close(&x->c);
    lb_operand_close(&x->d);
}
