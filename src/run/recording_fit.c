/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording explained: what a sweep of candidates found, the rows of the unit table, and the rules that people guess. */
#include "base/try.h"
#include "run/fit_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules that people guess ---------------------------------------------------------------------------------------- */

/* c + sum a b as a chain of f32 FMAs, rounded to d after every `block` products. */
static uint32_t fma_chain(const lb_recording *x, size_t i, size_t block) {
    const lb_format *f32 = lb_format_row(LB_F32), *d = x->d.mat.format;
    float acc = (float)lb_to_double(x->c.mat.format, lb_mat_code(&x->c.mat, 0, i));
    for (size_t p = 0; p < x->k; p++) {
        const float a = (float)lb_to_double(x->a.mat.format, lb_mat_code(&x->a.mat, i, p));
        acc = fmaf(a, (float)lb_to_double(x->b.mat.format, lb_mat_code(&x->b.mat, i, p)), acc);
        if ((p + 1) % block == 0 && d != f32) acc = (float)lb_to_double(d, lb_from_double(d, (double)acc));
    }
    return (uint32_t)lb_from_double(d, (double)acc);
}

/* The products in a balanced f32 tree, then c. */
static uint32_t tree(const lb_recording *x, size_t i, size_t width) {
    float sums[256];
    size_t n = x->k < 256 ? x->k : 256;
    (void)width;
    for (size_t p = 0; p < n; p++)
        sums[p] = (float)lb_to_double(x->a.mat.format, lb_mat_code(&x->a.mat, i, p)) *
                  (float)lb_to_double(x->b.mat.format, lb_mat_code(&x->b.mat, i, p));
    for (; n > 1; n = (n + 1) / 2)
        for (size_t p = 0; p < (n + 1) / 2; p++) sums[p] = 2 * p + 1 < n ? sums[2 * p] + sums[2 * p + 1] : sums[2 * p];
    const float c = (float)lb_to_double(x->c.mat.format, lb_mat_code(&x->c.mat, 0, i));
    return (uint32_t)lb_from_double(x->d.mat.format, (double)((n ? sums[0] : 0) + c));
}

static const struct {
    const char *name;
    uint32_t (*dot)(const lb_recording *x, size_t i, size_t block);
    size_t block;
} rules[] = {
    {"f32 FMA chain, rounded once", fma_chain, SIZE_MAX},   {"f32 FMA chain, rounded every 16", fma_chain, 16},
    {"f32 FMA chain, rounded every 8", fma_chain, 8},       {"f32 FMA chain, rounded every 4", fma_chain, 4},
    {"f32 FMA chain, rounded every product", fma_chain, 1}, {"balanced f32 tree, then c", tree, 0},
};
enum { RULES = sizeof rules / sizeof rules[0] };

static lb_status score_rules(lb_recording_fit *f, const lb_recording *x, lb_error *err) {
    f->rules = calloc(RULES + 1, sizeof *f->rules);
    if (!f->rules) return lb_fail(err, LB_E_MEMORY, f->path, "no memory");
    for (size_t r = 0; r < RULES; r++) {
        if (x->d.mat.format->id == LB_F32 && rules[r].dot == fma_chain && rules[r].block != SIZE_MAX) continue; /* all one rule then */
        lb_fit_named *to = &f->rules[f->rule_count];
        to->name = strdup(rules[r].name);
        if (!to->name) return lb_fail(err, LB_E_MEMORY, f->path, "no memory");
        f->rule_count++;
        for (size_t i = 0; i < x->n; i++) to->words += rules[r].dot(x, i, rules[r].block) == lb_mat_code(&x->d.mat, 0, i);
    }
    return LB_OK;
}

/* ---- rows of the unit table ------------------------------------------------------------------------------------------ */

/* What unit u gives for dot i: its K steps, chained through c. */
static lb_status model_word(const lb_recording *x, const lb_unit *u, size_t i, uint32_t *d, lb_error *err) {
    const lb_mat a = lb_mat_of(x->a.mat.format, lb_mat_at(&x->a.mat, i, 0), 1, x->k);
    const lb_mat b = lb_mat_of(x->b.mat.format, lb_mat_at(&x->b.mat, i, 0), x->k, 1);
    const lb_mat c = lb_mat_of(x->c.mat.format, lb_mat_at(&x->c.mat, 0, i), 1, 1);
    lb_mat out = lb_mat_of(lb_format_row(u->d), d, 1, 1);
    *d = 0;
    return lb_unit_gemm(u, &a, &b, &c, &out, err);
}

static int named_by_words(const void *p, const void *q) {
    const lb_fit_named *x = p, *y = q;
    return x->words < y->words ? 1 : x->words > y->words ? -1 : strcmp(x->name, y->name);
}

static bool same_formats(const lb_unit *u, const lb_unit *v) {
    lb_error why;
    uint32_t zero = 0, d;
    return u->a == v->a && u->b == v->b && u->c == v->c && u->d == v->d && lb_unit_dot(u, &zero, &zero, 1, 0, &d, &why) == LB_OK;
}

static lb_status score_rows(lb_recording_fit *f, const lb_recording *x, lb_error *err) {
    size_t rows = 0;
    while (lb_unit_row(rows)) rows++;
    f->rows = calloc(rows + 1, sizeof *f->rows);
    if (!f->rows) return lb_fail(err, LB_E_MEMORY, f->path, "no memory");
    for (size_t r = 0; r < rows; r++) {
        const lb_unit *u = lb_unit_row(r);
        if (!same_formats(u, &x->unit)) continue;
        lb_fit_named *to = &f->rows[f->row_count];
        to->name = strdup(u->name);
        if (!to->name) return lb_fail(err, LB_E_MEMORY, f->path, "no memory");
        f->row_count++;
        for (size_t i = 0; i < x->n; i++) {
            uint32_t d;
            LB_TRY(model_word(x, u, i, &d, err));
            to->words += d == lb_mat_code(&x->d.mat, 0, i);
        }
    }
    qsort(f->rows, f->row_count, sizeof *f->rows, named_by_words);
    return LB_OK;
}

/* ---- what the sweep found -------------------------------------------------------------------------------------------- */

static bool has_value(const lb_fit_parameter *p, int value) {
    for (size_t i = 0; i < p->count; i++)
        if (p->values[i] == value) return true;
    return false;
}

static lb_status describe_parameter(lb_recording_fit *f, const lb_sweep *s, size_t parameter, lb_error *err) {
    lb_fit_parameter *p = &f->parameters[parameter];
    int *tried;
    const size_t count = lb_sweep_values(s, parameter, &tried);
    p->name = lb_candidate_name(parameter);
    p->values = calloc(count + 1, sizeof *p->values);
    if (!tried || !p->values) {
        free(tried);
        return lb_fail(err, LB_E_MEMORY, f->path, "no memory");
    }
    for (size_t v = 0; v < count; v++)
        for (size_t i = 0; i < f->explain_count; i++)
            if (lb_candidate_get(&f->explain[i].candidate, parameter) == tried[v]) {
                p->values[p->count++] = tried[v];
                break;
            }
    p->all = p->count == count;
    for (size_t i = 0; i < s->count && !p->has_next; i++) { /* best first */
        const int value = lb_candidate_get(&s->list[i].candidate, parameter);
        if (!s->list[i].counted || has_value(p, value)) continue;
        p->has_next = true;
        p->next = value;
        p->next_words = s->list[i].words;
    }
    free(tried);
    return LB_OK;
}

static lb_status collect(lb_recording_fit *f, const lb_sweep *s, lb_error *err) {
    f->words = s->x->n;
    f->tried = s->count;
    f->explain = calloc(s->count + 1, sizeof *f->explain);
    if (!f->explain) return lb_fail(err, LB_E_MEMORY, f->path, "no memory");
    for (size_t i = 0; i < s->count; i++) {
        if (!s->list[i].counted) continue;
        const lb_fit_share share = {s->list[i].candidate, s->list[i].words};
        if (share.words == f->words)
            f->explain[f->explain_count++] = share;
        else if (!f->best_other.words || share.words > f->best_other.words)
            f->best_other = share;
    }
    for (size_t parameter = 0; parameter < LB_CANDIDATE_PARAMETERS; parameter++) LB_TRY(describe_parameter(f, s, parameter, err));
    return LB_OK;
}

static lb_status fit_dots(lb_recording_fit *f, lb_recording *x, const lb_file *file, lb_sweep *s, lb_error *err) {
    lb_candidate row;
    if (!lb_file_find(file, "d") && lb_file_metadata(file, "lastbit.request"))
        return lb_fail(err, LB_E_FILE, f->path, "a request that nobody answered yet: `lastbit capture --request` on that GPU does");
    LB_TRY(lb_recording_load(x, file, true, err));
    if (x->n == 0 || x->k == 0) return lb_fail(err, LB_E_FILE, f->path, "no dots in it");
    if (lb_candidate_of(&x->unit, &row, NULL) != LB_OK)
        row = (lb_candidate){.terms = x->unit.k, .frac_bits = 24, .out_bits = lb_format_row(x->unit.d)->man_bits, .floor_exp = LB_NO_FLOOR};
    row.order = 0;
    LB_TRY(lb_candidate_check(&row, &x->unit, err));
    s->x = x;
    LB_TRY(lb_sweep_prepare(s, err));
    LB_TRY(lb_sweep_run(s, &row, err));
    LB_TRY(collect(f, s, err));
    LB_TRY(score_rows(f, x, err));
    return score_rules(f, x, err);
}

static lb_status fit_file(lb_recording_fit *f, const lb_file *file, lb_sweep *s, lb_error *err) {
    const char *name;
    lb_recording x = {0};
    LB_TRY(lb_recording_kind(file, &x.gemm, err));
    if (x.gemm)
        return lb_fail(err, LB_E_FILE, f->path, "a recording of whole products; fit reads dot/1 (`lastbit fit-schedule` reads products)");
    LB_TRY(lb_recording_text(file, "unit", &name, err));
    LB_TRY(lb_unit_find(name, &x.unit, err));
    f->unit = strdup(x.unit.name);
    const lb_status status = f->unit ? fit_dots(f, &x, file, s, err) : lb_fail(err, LB_E_MEMORY, f->path, "no memory");
    lb_recording_close(&x);
    return status;
}

lb_status lb_fit_recording(const char *path, void (*progress)(void *user, const char *stage, double fraction), void *user,
                           lb_recording_fit **out, lb_error *err) {
    lb_file *file = NULL;
    lb_sweep s = {.progress = progress, .user = user};
    *out = NULL;
    lb_recording_fit *f = calloc(1, sizeof *f);
    if (f) f->path = strdup(path);
    lb_status status = f && f->path ? lb_file_open(&file, path, NULL, err) : lb_fail(err, LB_E_MEMORY, path, "no memory");
    if (status == LB_OK) status = fit_file(f, file, &s, err);
    lb_sweep_free(&s);
    lb_file_close(file);
    if (status == LB_OK)
        *out = f;
    else
        lb_recording_fit_close(f);
    return status;
}

static void named_free(lb_fit_named *list, size_t count) {
    for (size_t i = 0; i < count; i++) free(list[i].name);
    free(list);
}

void lb_recording_fit_close(lb_recording_fit *f) {
    if (!f) return;
    for (size_t i = 0; i < LB_CANDIDATE_PARAMETERS; i++) free(f->parameters[i].values);
    named_free(f->rows, f->row_count);
    named_free(f->rules, f->rule_count);
    free(f->explain);
    free(f->path);
    free(f->unit);
    free(f);
}
