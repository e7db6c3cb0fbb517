/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording of real hardware against the model of its unit, word for word, and what the recording does not exercise. */
#include "base/text.h"
#include "base/try.h"
#include "lastbit/run.h"
#include "run/describe.h"
#include "run/dots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static unsigned seen_in(const lb_dots *x, size_t i) {
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

static void describe_coverage(lb_record *r, const lb_dots *x) {
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

/* The model's words for all dots, graded. */
static lb_status grade_dots(lb_record *r, const lb_dots *x, void *words, lb_error *err) {
    lb_mat model = lb_mat_of(x->d.mat.format, words, 1, x->n);
    const double start = lb_seconds();
    for (size_t i = 0; i < x->n; i++) {
        uint32_t d;
        LB_TRY(lb_dots_model(x, &x->unit, i, &d, err));
        lb_store_code(lb_mat_at(&model, 0, i), model.format->bytes, d);
    }
    r->seconds_model = lb_seconds() - start;
    const lb_grade_input in = {.actual = x->d.mat, .reference = model, .exact = &model, .k = (double)x->k};
    return lb_grade(&in, r, err);
}

static lb_status replay_dots(lb_record *r, lb_dots *x, const lb_file *f, lb_error *err) {
    LB_TRY(lb_dots_load(x, f, err));
    lb_record_text(&r->case_string, "op=dot unit=%s n=%zu k=%zu recording=%s", x->unit.name, x->n, x->k, lb_file_path(f));
    void *words = malloc((x->n + 1) * (size_t)x->d.mat.format->bytes);
    if (!words) return lb_fail(err, LB_E_MEMORY, lb_file_path(f), "no memory for %zu dots", x->n);
    const lb_status s = grade_dots(r, x, words, err);
    free(words);
    if (s != LB_OK) return s;
    describe_coverage(r, x);
    return LB_OK;
}

static lb_status replay(lb_record *r, const lb_file *f, lb_error *err) {
    const char *kind, *unit_name;
    LB_TRY(lb_dots_metadata(f, "lastbit.recording", &kind, err));
    lb_record_text(&r->on, "recording:%s", lb_file_path(f));
    if (strcmp(kind, "dot/1") != 0)
        return lb_fail(err, LB_E_FILE, lb_file_path(f), "recording of kind \"%s\"; this version replays dot/1", kind);
    LB_TRY(lb_dots_metadata(f, "unit", &unit_name, err));
    lb_record_text(&r->op, "dot");
    lb_record_text(&r->case_string, "op=dot unit=%s recording=%s", unit_name, lb_file_path(f));
    const char *device = lb_file_metadata(f, "device");
    if (device) lb_record_text(&r->environment, "%s; recorded on %s", r->environment, device);
    lb_dots x = {0};
    lb_error why = {0};
    if (lb_unit_find(unit_name, &x.unit, &why) != LB_OK) {
        r->verdict = LB_SKIP;
        lb_record_text(&r->reason, "unit %s is not modelled: %s", unit_name, why.message);
        return LB_OK;
    }
    lb_describe_unit(r, &x.unit);
    if (x.unit.path == LB_PATH_NONE) {
        r->verdict = LB_SKIP;
        lb_record_text(&r->reason, "unit %s is open: %s", unit_name, x.unit.note);
        return LB_OK;
    }
    const lb_status s = replay_dots(r, &x, f, err);
    lb_dots_close(&x);
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
