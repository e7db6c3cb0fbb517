/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording of real hardware against the model of its unit, word for word, and what the recording does not exercise. */
#include "base/text.h"
#include "base/try.h"
#include "lastbit/run.h"
#include "run/describe.h"
#include "run/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recording, and what the model gives for it. */
typedef struct replayed {
    lb_recording r;
    void *model; /* codes of d, as many as there are outputs */
} replayed;

/* ---- what is not exercised ----------------------------------------------------------------------------------------- */

enum {
    SAW_NAN = 1,
    SAW_INF = 2,
    SAW_SUBNORMAL_INPUT = 4,
    SAW_ZERO_PRODUCT = 8,
    SAW_ZERO_C = 16,
    SAW_NONZERO_C = 32,
    SAW_ZERO_RESULT = 64,
    SAW_SUBNORMAL_RESULT = 128,
    SAW_OVERFLOW = 256,
    SAW_CHAIN = 512
};

static const struct {
    unsigned bit;
    const char *name;
} features[] = {
    {SAW_NAN, "NaN"},
    {SAW_INF, "Inf"},
    {SAW_SUBNORMAL_INPUT, "subnormal operands"},
    {SAW_ZERO_PRODUCT, "zero products"},
    {SAW_ZERO_C, "c = 0"},
    {SAW_NONZERO_C, "c other than 0"},
    {SAW_ZERO_RESULT, "zero results"},
    {SAW_SUBNORMAL_RESULT, "subnormal results"},
    {SAW_OVERFLOW, "overflow"},
    {SAW_CHAIN, "chained blocks"},
};

static bool is_subnormal(const lb_format *f, uint64_t code) {
    return lb_code_class(f, code) == LB_FINITE && lb_code_class(f, lb_flush_code(f, code, LB_FLUSH_TO_POSITIVE)) == LB_ZERO;
}

static unsigned class_bits(lb_class c) {
    return c == LB_NAN ? SAW_NAN : c == LB_INF ? SAW_INF : 0;
}

static unsigned seen_in(const lb_recording *x, size_t i) {
    const lb_mat *c = &x->c.mat, *d = &x->d.mat;
    const uint64_t cc = lb_mat_code(c, 0, i), dc = lb_mat_code(d, 0, i);
    const lb_class c_class = lb_code_class(c->format, cc), d_class = lb_code_class(d->format, dc);
    unsigned seen = class_bits(c_class) | (c_class == LB_ZERO ? SAW_ZERO_C : SAW_NONZERO_C);
    for (size_t p = 0; p < x->k; p++) {
        const uint64_t a = lb_mat_code(&x->a.mat, i, p), b = lb_mat_code(&x->b.mat, i, p);
        const lb_class ac = lb_code_class(x->a.mat.format, a), bc = lb_code_class(x->b.mat.format, b);
        seen |= class_bits(ac) | class_bits(bc);
        if (is_subnormal(x->a.mat.format, a) || is_subnormal(x->b.mat.format, b)) seen |= SAW_SUBNORMAL_INPUT;
        if (ac == LB_ZERO || bc == LB_ZERO) seen |= SAW_ZERO_PRODUCT;
    }
    if (d_class == LB_INF && !(seen & SAW_INF)) seen |= SAW_OVERFLOW;
    if (d_class == LB_ZERO) seen |= SAW_ZERO_RESULT;
    if (is_subnormal(d->format, dc)) seen |= SAW_SUBNORMAL_RESULT;
    return seen;
}

static void describe_coverage(lb_record *r, const lb_recording *x) {
    unsigned seen = x->k > (size_t)x->unit.terms ? SAW_CHAIN : 0;
    for (size_t i = 0; i < x->n; i++) seen |= seen_in(x, i);
    lb_text t = {0};
    const char *separator = "all; not exercised: ";
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        if (seen & features[i].bit) continue;
        lb_text_add(&t, "%s%s", separator, features[i].name);
        separator = ", ";
    }
    char *s;
    if (lb_text_take(&t, &s, NULL) != LB_OK) return;
    lb_record_text(&r->coverage, "%s", *s ? s : "all");
    free(s);
}

/* ---- the replay ---------------------------------------------------------------------------------------------------- */

/* Each dot is a product of one element, in K steps of the unit, chained through c. */
static lb_status model_dots(const lb_recording *x, lb_mat *model, lb_error *err) {
    for (size_t i = 0; i < x->n; i++) {
        const lb_mat a = lb_mat_of(x->a.mat.format, lb_mat_at(&x->a.mat, i, 0), 1, x->k);
        const lb_mat b = lb_mat_of(x->b.mat.format, lb_mat_at(&x->b.mat, i, 0), x->k, 1);
        const lb_mat c = lb_mat_of(x->c.mat.format, lb_mat_at(&x->c.mat, 0, i), 1, 1);
        lb_mat d = lb_mat_of(model->format, lb_mat_at(model, 0, i), 1, 1);
        LB_TRY(lb_unit_gemm(&x->unit, &a, &b, &c, &d, err));
    }
    return LB_OK;
}

static lb_status replay_words(lb_record *r, replayed *x, const lb_file *f, lb_error *err) {
    LB_TRY(lb_recording_load(&x->r, f, true, err));
    const lb_mat *d = &x->r.d.mat;
    x->model = malloc((x->r.n + 1) * (size_t)d->format->bytes);
    if (!x->model) return lb_fail(err, LB_E_MEMORY, lb_file_path(f), "no memory for %zu words", x->r.n);
    if (x->r.gemm)
        lb_record_text(&r->case_string, "op=matmul unit=%s m=%zu n=%zu k=%zu recording=%s", x->r.unit.name, d->rows, d->cols, x->r.k,
                       lb_file_path(f));
    else
        lb_record_text(&r->case_string, "op=dot unit=%s n=%zu k=%zu recording=%s", x->r.unit.name, x->r.n, x->r.k, lb_file_path(f));
    const double start = lb_seconds();
    lb_mat model = lb_mat_of(d->format, x->model, d->rows, d->cols);
    if (x->r.gemm)
        LB_TRY(lb_unit_gemm(&x->r.unit, &x->r.a.mat, &x->r.b.mat, &x->r.c.mat, &model, err));
    else
        LB_TRY(model_dots(&x->r, &model, err));
    r->seconds_model = lb_seconds() - start;
    const lb_grade_input in = {.actual = *d, .reference = model, .exact = &model, .k = (double)x->r.k};
    LB_TRY(lb_grade(&in, r, err));
    if (x->r.gemm)
        lb_record_text(&r->coverage, "all");
    else
        describe_coverage(r, &x->r);
    return LB_OK;
}

static lb_status replay(lb_record *r, const lb_file *f, lb_error *err) {
    const char *unit_name, *op;
    replayed x = {0};
    LB_TRY(lb_recording_kind(f, &x.r.gemm, err));
    lb_record_text(&r->on, "recording:%s", lb_file_path(f));
    LB_TRY(lb_recording_text(f, "unit", &unit_name, err));
    op = x.r.gemm ? "matmul" : "dot";
    lb_record_text(&r->op, "%s", op);
    lb_record_text(&r->case_string, "op=%s unit=%s recording=%s", op, unit_name, lb_file_path(f));
    const char *device = lb_file_metadata(f, "device");
    if (device) lb_record_text(&r->environment, "%s; recorded on %s", r->environment, device);
    lb_error why = {0};
    if (lb_unit_find(unit_name, &x.r.unit, &why) != LB_OK) {
        r->verdict = LB_SKIP;
        lb_record_text(&r->reason, "unit %s is not modelled: %s", unit_name, why.message);
        return LB_OK;
    }
    lb_describe_unit(r, &x.r.unit);
    if (x.r.unit.path == LB_PATH_NONE) {
        r->verdict = LB_SKIP;
        lb_record_text(&r->reason, "unit %s is open: %s", unit_name, x.r.unit.note);
        return LB_OK;
    }
    const lb_status s = replay_words(r, &x, f, err);
    lb_recording_close(&x.r);
    free(x.model);
    return s;
}

lb_status lb_replay(const char *path, lb_record **out, lb_error *err) {
    lb_file *f = NULL;
    lb_record *r = NULL;
    *out = NULL;
    lb_status s = lb_file_open(&f, path, NULL, err);
    if (s == LB_OK) s = lb_record_open(&r, err);
    if (s == LB_OK) s = replay(r, f, err);
    lb_file_close(f);
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
