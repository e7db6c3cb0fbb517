/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/own.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const lb_embedded lb_kernel_files[];

/* A kernel's file with what stands before it. */
typedef struct unit {
    const char *file;
    char *source;
} unit;

enum { MAX_UNITS = 32 };

typedef struct own {
    lb_device base;
    const lb_own_kind *kind;
    void *session;
    unit units[MAX_UNITS];
    size_t unit_count;
} own;

void lb_own_close(lb_device *d) {
    own *o = (own *)d;
    o->kind->runs->close(o->session);
    for (size_t i = 0; i < o->unit_count; i++) free(o->units[i].source);
    free(o);
}

lb_status lb_own_open(lb_device **out, const lb_own_kind *kind, const char *which, lb_error *err) {
    char place[300];
    own *o = calloc(1, sizeof *o);
    if (!o) return lb_fail(err, LB_E_MEMORY, kind->name, "no memory");
    o->kind = kind;
    snprintf(place, sizeof place, "%s%s%s", kind->name, *which ? ":" : "", which);
    const lb_status s = kind->runs->open(&o->session, place, which, o->base.detail, err);
    if (s != LB_OK) {
        lb_own_close(&o->base);
        return s;
    }
    *out = &o->base;
    return LB_OK;
}

lb_status lb_own_source(const char *const *before, const char *file, char **out, lb_error *err) {
    char name[64];
    const lb_embedded *parts[8];
    size_t count = 0, size = 0;
    snprintf(name, sizeof name, "%s.cl", file);
    for (bool last = false; !last && count < 8; count++) {
        last = !before[count];
        parts[count] = lb_embedded_find(lb_kernel_files, last ? name : before[count]);
        if (!parts[count]) return lb_fail(err, LB_E_UNAVAILABLE, file, "no kernel file %s", last ? name : before[count]);
        size += parts[count]->size;
    }
    char *to = *out = malloc(size + 1);
    if (!to) return lb_fail(err, LB_E_MEMORY, file, "no memory for a source");
    for (size_t i = 0; i < count; to += parts[i++]->size) memcpy(to, parts[i]->bytes, parts[i]->size);
    *to = 0;
    return LB_OK;
}

static lb_status source_of(own *o, const char *file, const char **out, lb_error *err) {
    for (size_t i = 0; i < o->unit_count; i++) {
        *out = o->units[i].source;
        if (strcmp(o->units[i].file, file) == 0) return LB_OK;
    }
    if (o->unit_count == MAX_UNITS) return lb_fail(err, LB_E_UNAVAILABLE, o->base.name, "more than %d kernel files", MAX_UNITS);
    unit *u = &o->units[o->unit_count];
    LB_TRY(lb_own_source(o->kind->before, file, &u->source, err));
    u->file = file;
    o->unit_count++;
    *out = u->source;
    return LB_OK;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------------ */

bool lb_own_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    const lb_launch *l = lb_launch_find(x->op->name);
    char flags[200];
    const lb_source_job job = {0};
    (void)d;
    *why_not = "no kernel of ours for this operator";
    if (!l) return false;
    *why_not = "our kernels take f32, f16 and bf16";
    return lb_launch_flags(x, &job, flags, sizeof flags, NULL) == LB_OK && lb_launch_fits(l, x, why_not);
}

lb_status lb_own_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    own *o = (own *)d;
    const lb_launch *l = lb_launch_find(x->op->name);
    char flags[200];
    (void)timeout_seconds; /* whoever runs us in a process of its own ends that process */
    lb_source_job job = {.path = d->name, .entry = l->entry, .options = flags, .marks = d};
    LB_TRY(source_of(o, l->file, &job.source, err));
    LB_TRY(lb_launch_args(x, &job, err));
    LB_TRY(lb_launch_grid(l, x, job.global, job.local, &job.dims, err));
    LB_TRY(lb_launch_flags(x, &job, flags, sizeof flags, err));
    return o->kind->runs->run(o->session, &job, err);
}

/* ---- products ------------------------------------------------------------------------------------------------------------------- */

/* Formats that product.cl reads, and those that it writes. */
static const lb_format_id readable[] = {LB_F32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2}, writable[] = {LB_F32, LB_F16, LB_BF16};

static bool among(const lb_format *f, const lb_format_id *ids, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (f->id == ids[i]) return true;
    return false;
}

bool lb_own_can(const lb_device *d, const lb_case *x, const char **why_not) {
    const size_t reads = sizeof readable / sizeof readable[0], writes = sizeof writable / sizeof writable[0];
    (void)d;
    *why_not = "our product takes operands in f32, f16, bf16, e4m3 or e5m2, and gives f32, f16 or bf16";
    if (!among(x->a.format, readable, reads) || !among(x->b.format, readable, reads) || !among(x->out, writable, writes) ||
        (x->c.codes && !among(x->c.format, readable, reads)))
        return false;
    *why_not = "our product takes sizes of 31 bits";
    return lb_case_m(x) < INT32_MAX - 16 && lb_case_n(x) < INT32_MAX - 16 && lb_case_k(x) < INT32_MAX - 16;
}

static void add_operand(lb_source_job *job, const char *name, void *data, size_t bytes, bool output) {
    const size_t at = job->buffer_count++;
    job->buffers[at] = (lb_job_buffer){.name = name, .data = data, .bytes = bytes, .output = output};
    job->args[job->arg_count++] = (lb_kernel_arg){.kind = LB_ARG_BUFFER, .integer = (int64_t)at};
}

static lb_status run_product(own *o, const lb_case *x, void *y, void *packed[3], lb_error *err) {
    const lb_mat *const operands[] = {&x->a, &x->b, &x->c};
    static const char *const names[] = {"a", "b", "c"};
    const size_t sizes[] = {lb_case_m(x), lb_case_n(x), lb_case_k(x)};
    char flags[300];
    lb_source_job job = {.path = o->base.name, .entry = "product", .options = flags, .marks = &o->base, .dims = 2, .local = {16, 16}};
    int used = snprintf(flags, sizeof flags, "-DLB_X=16 -DLB_Y=16 -DLB_Z=1 -DLB_IN_A=in_%s -DLB_IN_B=in_%s -DLB_OUT=out_%s -DLB_TURNED=%d",
                        x->a.format->name, x->b.format->name, x->out->name, x->b_transposed);
    if (x->c.codes) snprintf(flags + used, sizeof flags - (size_t)used, " -DLB_IN_C=in_%s", x->c.format->name);
    for (size_t i = 0; i < 3; i++) {
        size_t bytes;
        if (!operands[i]->codes) continue;
        LB_TRY(lb_pack_mat(operands[i], &packed[i], &bytes, err));
        add_operand(&job, names[i], packed[i], bytes, false);
    }
    add_operand(&job, "d", y, sizes[0] * sizes[1] * (size_t)x->out->bytes, true);
    for (size_t i = 0; i < 3; i++) job.args[job.arg_count++] = (lb_kernel_arg){.kind = LB_ARG_INT, .integer = (int64_t)sizes[i]};
    for (size_t i = 0; i < 2; i++) job.global[i] = (sizes[1 - i] + 15) / 16 * 16;
    LB_TRY(source_of(o, "product", &job.source, err));
    return o->kind->runs->run(o->session, &job, err);
}

lb_status lb_own_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    void *packed[3] = {NULL};
    (void)timeout_seconds;
    const lb_status s = run_product((own *)d, x, y, packed, err);
    for (size_t i = 0; i < 3; i++) free(packed[i]);
    return s;
}
