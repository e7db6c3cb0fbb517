/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* opencl[:DEVICE]: our own OpenCL kernels on an OpenCL device: every operator of launches.def, and products. */
#include "backends/device.h"
#include "backends/launch.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const lb_embedded lb_opencl_files[];

/* A kernel's file with the prelude before it. */
typedef struct unit {
    const char *file;
    char *source;
} unit;

enum { MAX_UNITS = 32 };

typedef struct opencl {
    lb_device base;
    void *session;
    unit units[MAX_UNITS];
    size_t unit_count;
} opencl;

static void opencl_close(lb_device *d) {
    opencl *o = (opencl *)d;
    lb_opencl_language.close(o->session);
    for (size_t i = 0; i < o->unit_count; i++) free(o->units[i].source);
    free(o);
}

static lb_status opencl_open(lb_device **out, const char *which, lb_error *err) {
    char place[300];
    opencl *o = calloc(1, sizeof *o);
    if (!o) return lb_fail(err, LB_E_MEMORY, "opencl", "no memory");
    snprintf(place, sizeof place, "opencl%s%s", *which ? ":" : "", which);
    const lb_status s = lb_opencl_language.open(&o->session, place, which, o->base.detail, err);
    if (s != LB_OK) {
        opencl_close(&o->base);
        return s;
    }
    *out = &o->base;
    return LB_OK;
}

static lb_status source_of(opencl *o, const char *file, const char **out, lb_error *err) {
    for (size_t i = 0; i < o->unit_count; i++) {
        *out = o->units[i].source;
        if (strcmp(o->units[i].file, file) == 0) return LB_OK;
    }
    char name[64];
    snprintf(name, sizeof name, "%s.cl", file);
    const lb_embedded *prelude = lb_embedded_find(lb_opencl_files, "prelude.cl"), *own = lb_embedded_find(lb_opencl_files, name);
    if (!prelude || !own || o->unit_count == MAX_UNITS) return lb_fail(err, LB_E_UNAVAILABLE, o->base.name, "no kernel file %s", name);
    char *source = malloc(prelude->size + own->size + 1);
    if (!source) return lb_fail(err, LB_E_MEMORY, o->base.name, "no memory for a source");
    memcpy(source, prelude->bytes, prelude->size);
    memcpy(source + prelude->size, own->bytes, own->size);
    source[prelude->size + own->size] = 0;
    o->units[o->unit_count++] = (unit){file, source};
    *out = source;
    return LB_OK;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------------ */

static bool opencl_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    const lb_launch *l = lb_launch_find(x->op->name);
    char flags[200];
    const lb_source_job job = {0};
    (void)d;
    *why_not = "no kernel of ours for this operator";
    if (!l) return false;
    *why_not = "our kernels take f32, f16 and bf16";
    return lb_launch_flags(x, &job, flags, sizeof flags, NULL) == LB_OK && lb_launch_fits(l, x, why_not);
}

static lb_status opencl_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    opencl *o = (opencl *)d;
    const lb_launch *l = lb_launch_find(x->op->name);
    char flags[200];
    (void)timeout_seconds; /* whoever runs us in a process of its own ends that process */
    lb_source_job job = {.path = d->name, .entry = l->entry, .options = flags, .marks = d};
    LB_TRY(source_of(o, l->file, &job.source, err));
    LB_TRY(lb_launch_args(x, &job, err));
    LB_TRY(lb_launch_grid(l, x, job.global, job.local, &job.dims, err));
    LB_TRY(lb_launch_flags(x, &job, flags, sizeof flags, err));
    return lb_opencl_language.run(o->session, &job, err);
}

/* ---- products ------------------------------------------------------------------------------------------------------------------- */

/* Formats that product.cl reads, and those that it writes. */
static const lb_format_id readable[] = {LB_F32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2}, writable[] = {LB_F32, LB_F16, LB_BF16};

static bool among(const lb_format *f, const lb_format_id *ids, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (f->id == ids[i]) return true;
    return false;
}

static bool opencl_can(const lb_device *d, const lb_case *x, const char **why_not) {
    const size_t reads = sizeof readable / sizeof readable[0], writes = sizeof writable / sizeof writable[0];
    (void)d;
    *why_not = "our OpenCL product takes operands in f32, f16, bf16, e4m3 or e5m2, and gives f32, f16 or bf16";
    if (!among(x->a.format, readable, reads) || !among(x->b.format, readable, reads) || !among(x->out, writable, writes) ||
        (x->c.codes && !among(x->c.format, readable, reads)))
        return false;
    *why_not = "our OpenCL product takes sizes of 31 bits";
    return lb_case_m(x) < INT32_MAX - 16 && lb_case_n(x) < INT32_MAX - 16 && lb_case_k(x) < INT32_MAX - 16;
}

static void add_operand(lb_source_job *job, const char *name, void *data, size_t bytes, bool output) {
    const size_t at = job->buffer_count++;
    job->buffers[at] = (lb_job_buffer){.name = name, .data = data, .bytes = bytes, .output = output};
    job->args[job->arg_count++] = (lb_kernel_arg){.kind = LB_ARG_BUFFER, .integer = (int64_t)at};
}

static lb_status run_product(opencl *o, const lb_case *x, void *y, void *packed[3], lb_error *err) {
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
    return lb_opencl_language.run(o->session, &job, err);
}

static lb_status opencl_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    void *packed[3] = {NULL};
    (void)timeout_seconds;
    const lb_status s = run_product((opencl *)d, x, y, packed, err);
    for (size_t i = 0; i < 3; i++) free(packed[i]);
    return s;
}

const lb_backend lb_backend_opencl = {.name = "opencl",
                                      .summary = "opencl[:DEVICE], our own OpenCL kernels on a device, by index or part of its name",
                                      .alone = true,
                                      .open = opencl_open,
                                      .can = opencl_can,
                                      .run = opencl_run,
                                      .can_op = opencl_can_op,
                                      .run_op = opencl_run_op,
                                      .close = opencl_close};
