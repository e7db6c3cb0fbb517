/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* dot/1 recordings: many dot products of one unit, as hardware answered them, or not yet. */
#include "run/dots.h"

#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lb_dots_close(lb_dots *x) {
    lb_operand_close(&x->a);
    lb_operand_close(&x->b);
    lb_operand_close(&x->c);
    lb_operand_close(&x->d);
}

lb_status lb_dots_metadata(const lb_file *f, const char *key, const char **out, lb_error *err) {
    *out = lb_file_metadata(f, key);
    return *out ? LB_OK : lb_fail(err, LB_E_FILE, lb_file_path(f), "not a recording: __metadata__ has no \"%s\"", key);
}

/* Tensor `name` as codes of the format that the metadata names, which must be the unit's. */
static lb_status load(lb_operand *out, const lb_file *f, const char *name, lb_format_id want, lb_error *err) {
    char key[16], spec[4096];
    const char *format_name;
    snprintf(key, sizeof key, "%s_format", name);
    LB_TRY(lb_dots_metadata(f, key, &format_name, err));
    const lb_format *format;
    LB_TRY(lb_format_get(format_name, &format, err));
    if (format->id != want)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "%s is %s, but the unit's %s is %s", key, format->name, name,
                       lb_format_row(want)->name);
    if (snprintf(spec, sizeof spec, "%s:%s", lb_file_path(f), name) >= (int)sizeof spec)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "path too long");
    return lb_operand_open(out, spec, format, NULL, err);
}

lb_status lb_dots_load(lb_dots *x, const lb_file *f, lb_error *err) {
    LB_TRY(load(&x->a, f, "a", x->unit.a, err));
    LB_TRY(load(&x->b, f, "b", x->unit.b, err));
    LB_TRY(load(&x->c, f, "c", x->unit.c, err));
    if (!lb_file_find(f, "d") && lb_file_metadata(f, "lastbit.request"))
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "a request that nobody answered yet: `lastbit capture --request` on that GPU does");
    LB_TRY(load(&x->d, f, "d", x->unit.d, err));
    x->n = x->a.mat.rows;
    x->k = x->a.mat.cols;
    const bool fits = x->b.mat.rows == x->n && x->b.mat.cols == x->k && x->c.mat.rows == 1 && x->c.mat.cols == x->n && x->d.mat.rows == 1 &&
                      x->d.mat.cols == x->n;
    if (!fits)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "a is %zux%zu: b must be the same, c and d of %zu elements", x->n, x->k, x->n);
    return LB_OK;
}

lb_status lb_dots_model(const lb_dots *x, const lb_unit *u, size_t i, uint32_t *d, lb_error *err) {
    enum { MAX_K = 256 };
    uint32_t a[MAX_K], b[MAX_K], acc = (uint32_t)lb_mat_code(&x->c.mat, 0, i);
    for (size_t k = 0; k < x->k; k += u->k) {
        const size_t count = x->k - k < u->k ? x->k - k : u->k;
        for (size_t p = 0; p < count; p++) {
            a[p] = (uint32_t)lb_mat_code(&x->a.mat, i, k + p);
            b[p] = (uint32_t)lb_mat_code(&x->b.mat, i, k + p);
        }
        LB_TRY(lb_unit_dot(u, a, b, count, acc, &acc, err));
    }
    *d = acc;
    return LB_OK;
}
