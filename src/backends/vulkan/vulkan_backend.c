/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vulkan[:i|:NAME]: our GLSL kernels on a Vulkan device. */
#include "backends/vulkan/vulkan_session.h"
#include "backends/launch.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct vulkan {
    lb_device base;
    lb_vk *session;
} vulkan;

/* "matmul.f16.spv" … of the build; only the row of NULL where it had no glslangValidator. */
extern const lb_embedded lb_vulkan_shaders[];

static void vulkan_close(lb_device *d) {
    vulkan *v = (vulkan *)d;
    lb_vk_close(v->session);
    free(v);
}

static lb_status vulkan_open(lb_device **out, const char *which, lb_error *err) {
    char place[256];
    snprintf(place, sizeof place, "vulkan%s%.200s", *which ? ":" : "", which);
    vulkan *v = calloc(1, sizeof *v);
    if (!v) return lb_fail(err, LB_E_MEMORY, place, "no memory");
    lb_status s = LB_OK;
    if (!lb_vulkan_shaders[0].name)
        s = lb_fail(err, LB_E_UNAVAILABLE, place, "built without shaders: apt-get install glslang-tools, then build again");
    if (s == LB_OK) s = lb_vk_open(&v->session, place, which, v->base.detail, err);
    if (s != LB_OK)
        vulkan_close(&v->base);
    else
        *out = &v->base;
    return s;
}

static lb_status run_embedded(vulkan *v, const char *file, lb_source_job *job, lb_error *err) {
    const lb_embedded *e = lb_embedded_find(lb_vulkan_shaders, file);
    if (!e) return lb_fail(err, LB_E_DEVICE, v->base.name, "the build has no shader %s", file);
    uint32_t *words = malloc(e->size + 1); /* as words want to lie */
    if (!words) return lb_fail(err, LB_E_MEMORY, v->base.name, "no memory");
    memcpy(words, e->bytes, e->size);
    job->marks = &v->base;
    const lb_status s = lb_vk_run(v->session, words, e->size / 4, job, err);
    free(words);
    return s;
}

/* ---- products --------------------------------------------------------------------------------------------------------------------- */

static bool readable(const lb_format *f) {
    static const lb_format_id ids[] = {LB_F32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (f->id == ids[i]) return true;
    return false;
}

static bool vulkan_can(const lb_device *d, const lb_case *x, const char **why_not) {
    (void)d;
    *why_not = "our Vulkan product reads f32, f16, bf16, e4m3 and e5m2, and gives f32, f16 or bf16";
    const bool sizes = lb_case_m(x) <= INT32_MAX && lb_case_n(x) <= INT32_MAX && lb_case_k(x) <= INT32_MAX;
    const bool out = readable(x->out) && x->out->bits >= 16;
    return sizes && out && readable(x->a.format) && readable(x->b.format) && (!x->c.codes || readable(x->c.format));
}

static void add_int(lb_source_job *job, int64_t value) {
    job->args[job->arg_count++] = (lb_kernel_arg){.kind = LB_ARG_INT, .integer = value};
}

static void add_mat(lb_source_job *job, const char *name, void *data, size_t bytes, bool output) {
    job->args[job->arg_count++] = (lb_kernel_arg){.kind = LB_ARG_BUFFER, .integer = (int64_t)job->buffer_count};
    job->buffers[job->buffer_count++] = (lb_job_buffer){.name = name, .data = data, .bytes = bytes, .output = output};
}

/* product.comp: a, b, c, d; m, n, k, whether b is [n][k], whether c is there; exponent and mantissa bits of each. */
static lb_status vulkan_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    const lb_mat *const operands[] = {&x->a, &x->b, &x->c};
    static const char *const names[] = {"a", "b", "c"};
    void *packed[3] = {NULL};
    lb_source_job job = {.path = d->name, .entry = "main", .options = "", .dims = 2, .local = {16, 16}, .timeout_seconds = timeout_seconds};
    lb_status s = LB_OK;
    for (size_t i = 0; i < 3 && s == LB_OK; i++) {
        size_t bytes = 0;
        if (operands[i]->codes) s = lb_pack_mat(operands[i], &packed[i], &bytes, err);
        add_mat(&job, names[i], packed[i], bytes, false);
    }
    add_mat(&job, "d", y, lb_case_m(x) * lb_case_n(x) * (size_t)x->out->bytes, true);
    add_int(&job, (int64_t)lb_case_m(x));
    add_int(&job, (int64_t)lb_case_n(x));
    add_int(&job, (int64_t)lb_case_k(x));
    add_int(&job, x->b_transposed);
    add_int(&job, x->c.codes != NULL);
    const lb_format *const formats[] = {x->a.format, x->b.format, x->c.codes ? x->c.format : x->out, x->out};
    for (size_t i = 0; i < 4; i++) {
        add_int(&job, formats[i]->exp_bits);
        add_int(&job, formats[i]->man_bits);
    }
    job.global[0] = (lb_case_n(x) + 15) / 16 * 16;
    job.global[1] = (lb_case_m(x) + 15) / 16 * 16;
    if (s == LB_OK) s = run_embedded((vulkan *)d, "product.f32.spv", &job, err);
    for (size_t i = 0; i < 3; i++) free(packed[i]);
    return s;
}

/* ---- operators -------------------------------------------------------------------------------------------------------------------- */

static bool file_of(const lb_op_case *x, char file[80]) {
    snprintf(file, 80, "%s.%s.spv", x->op->name, x->format->name);
    return lb_embedded_find(lb_vulkan_shaders, file) != NULL;
}

static bool vulkan_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    char file[80];
    const lb_launch *l = lb_launch_find(x->op->name);
    (void)d;
    *why_not = "no Vulkan kernel for this operator in this format";
    return l && file_of(x, file) && lb_launch_fits(l, x, why_not);
}

static lb_status vulkan_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    const lb_launch *l = lb_launch_find(x->op->name);
    lb_source_job job = {.path = d->name, .entry = "main", .options = "", .timeout_seconds = timeout_seconds};
    char file[80];
    if (!file_of(x, file)) return lb_fail(err, LB_E_FORMAT, d->name, "no shader %s", file);
    LB_TRY(lb_launch_args(x, &job, err));
    LB_TRY(lb_launch_grid(l, x, job.global, job.local, &job.dims, err));
    return run_embedded((vulkan *)d, file, &job, err);
}

const lb_backend lb_backend_vulkan = {.name = "vulkan",
                                      .summary = "vulkan[:DEVICE], our own GLSL kernels on a device, by index or part of its name",
                                      .alone = true,
                                      .open = vulkan_open,
                                      .can = vulkan_can,
                                      .run = vulkan_run,
                                      .can_op = vulkan_can_op,
                                      .run_op = vulkan_run_op,
                                      .close = vulkan_close};
