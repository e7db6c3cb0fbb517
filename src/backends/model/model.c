/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* model:UNIT: the exact model as a device. */
#include "backends/device.h"
#include "lastbit/gemm.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct model {
    lb_device base;
    lb_unit unit;
    char why[256];
} model;

static lb_status model_open(lb_device **out, const char *which, lb_error *err) {
    lb_unit u;
    LB_TRY(lb_unit_find(which, &u, err));
    if (u.path == LB_PATH_NONE) return lb_fail(err, LB_E_UNAVAILABLE, u.name, "open: %s", u.note);
    if (u.scale_block || u.sparse_group)
        return lb_fail(err, LB_E_ARG, u.name, "a case has no scales and no metadata; `lastbit gemm` and `mma` run this unit");
    model *m = calloc(1, sizeof *m);
    if (!m) return lb_fail(err, LB_E_MEMORY, which, "no memory");
    m->unit = u;
    snprintf(m->base.detail, sizeof m->base.detail, "integer model, %s", lb_evidence_name(u.evidence));
    snprintf(m->why, sizeof m->why, "%.96s takes A in %s, B in %s and C in %s", u.name, lb_format_row(u.a)->name, lb_format_row(u.b)->name,
             lb_format_row(u.c)->name);
    *out = &m->base;
    return LB_OK;
}

static bool model_can(const lb_device *d, const lb_case *x, const char **why_not) {
    const model *m = (const model *)d;
    *why_not = m->why;
    return x->a.format->id == m->unit.a && x->b.format->id == m->unit.b && (!x->c.codes || x->c.format->id == m->unit.c);
}

/* D of the unit, rounded once where the case wants another format. */
static lb_status model_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    const model *m = (const model *)d;
    const lb_format *own = lb_format_row(m->unit.d);
    const size_t rows = lb_case_m(x), cols = lb_case_n(x);
    const lb_mat b = lb_case_b(x), *c = x->c.codes ? &x->c : NULL;
    lb_mat out = lb_mat_of(x->out, y, rows, cols);
    const lb_gemm_options alone = {.threads = 1}; /* in a forked process the threads of OpenMP are not there */
    (void)timeout_seconds;                        /* whoever runs us in a process of its own ends that process */
    if (own == x->out) return lb_gemm(&m->unit, &x->a, &b, c, &out, &alone, err);
    void *wide = calloc(rows * cols + 1, (size_t)own->bytes);
    if (!wide) return lb_fail(err, LB_E_MEMORY, d->name, "no memory for %zux%zu", rows, cols);
    lb_mat exact = lb_mat_of(own, wide, rows, cols);
    lb_status s = lb_gemm(&m->unit, &x->a, &b, c, &exact, &alone, err);
    if (s == LB_OK) lb_mat_round(&exact, &out);
    free(wide);
    return s;
}

static void model_close(lb_device *d) {
    free(d);
}

const lb_backend lb_backend_model = {.name = "model",
                                     .summary = "model:UNIT, the exact model itself (`lastbit units` lists them)",
                                     .open = model_open,
                                     .can = model_can,
                                     .run = model_run,
                                     .close = model_close};
