/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernel:FILE.json: the user's kernel, as text. docs/kernel-json.md describes the file. */
#include "backends/kernel/kernel.h"
#include "backends/launch.h"
#include "base/try.h"
#include "io/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Languages and what runs them; NULL where this build cannot. */
struct lb_kernel_language {
    const char *name;
    const lb_source_language *runs;
    const char *missing;
};

static const struct lb_kernel_language languages[] = {
#if LB_HAVE_OPENCL
    {"opencl", &lb_opencl_language, ""},
#else
    {"opencl", NULL, "built without OpenCL: apt-get install ocl-icd-opencl-dev opencl-headers pocl-opencl-icd, then build again"},
#endif
#if LB_HAVE_VULKAN
    {"glsl", &lb_glsl_language, ""},
    {"hlsl", &lb_hlsl_language, ""},
#else
    {"glsl", NULL, "built without Vulkan: apt-get install libvulkan-dev mesa-vulkan-drivers glslang-tools, then build again"},
    {"hlsl", NULL, "built without Vulkan: apt-get install libvulkan-dev mesa-vulkan-drivers glslang-tools, then build again"},
#endif
    {"ptx", &lb_ptx_language, ""},
};

enum { LANGUAGE_COUNT = sizeof languages / sizeof languages[0] };

static void kernel_close(lb_device *d) {
    lb_kernel *k = (lb_kernel *)d;
    if (k->session) k->language->runs->close(k->session);
    json_decref(k->spec);
    free(k->source);
    free(k);
}

/* ---- reading the file ------------------------------------------------------------------------------------------------------ */

static const char *const keys[] = {"language", "source", "entry", "options", "device", "op",    "in",
                                   "in_b",     "acc",    "out",   "args",    "global", "local", "tb"};

/* Keys that say something of a product, and nothing of an operator. */
static const char *const product_keys[] = {"in_b", "acc", "out", "tb"};

static lb_status check_keys(const lb_kernel *k, lb_error *err) {
    const char *key;
    json_t *value;
    json_object_foreach(k->spec, key, value) {
        bool known = false;
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) known = known || strcmp(key, keys[i]) == 0;
        if (known) continue;
        const char *near = lb_nearest_name(key, keys, sizeof keys / sizeof keys[0]);
        return lb_fail(err, LB_E_FILE, k->path, "unknown key \"%.40s\"%s%s", key, near ? "; did you mean " : "", near ? near : "");
    }
    return LB_OK;
}

/* A string; NULL where it is optional and not there. */
static lb_status text_of(const lb_kernel *k, const char *key, bool required, const char **out, lb_error *err) {
    const json_t *j = json_object_get(k->spec, key);
    *out = json_string_value(j);
    if (*out) return LB_OK;
    return j || required ? lb_fail(err, LB_E_FILE, k->path, "\"%s\" should be a string", key) : LB_OK;
}

static lb_status format_of(const lb_kernel *k, const char *key, bool required, const lb_format **out, lb_error *err) {
    const char *name;
    lb_error why;
    LB_TRY(text_of(k, key, required, &name, err));
    if (!name) return LB_OK;
    return lb_format_get(name, out, &why) == LB_OK ? LB_OK : lb_fail(err, LB_E_FILE, k->path, "\"%s\": %s: %s", key, name, why.message);
}

/* The source beside the JSON, unless its path is absolute. */
static lb_status read_source(lb_kernel *k, lb_error *err) {
    enum { MOST = 16 << 20 };
    const char *name;
    char path[1100];
    LB_TRY(text_of(k, "source", true, &name, err));
    const char *slash = strrchr(k->path, '/');
    if (name[0] == '/' || !slash)
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - k->path), k->path, name);
    FILE *f = fopen(path, "rb");
    if (!f) return lb_fail(err, LB_E_FILE, k->path, "\"source\": %s: %s", path, strerror(errno));
    k->source = malloc(MOST + 1);
    const size_t size = k->source ? fread(k->source, 1, MOST + 1, f) : 0;
    const bool failed = ferror(f);
    fclose(f);
    if (!k->source) return lb_fail(err, LB_E_MEMORY, k->path, "no memory for the source");
    if (failed || size > MOST) return lb_fail(err, LB_E_FILE, k->path, "\"source\": %s cannot be read, or is larger than 16 MiB", path);
    k->source[size] = 0;
    return LB_OK;
}

/* What is compiled already is for one T, and takes no options. */
static lb_status check_compiled(const lb_kernel *k, lb_error *err) {
    const char *name = k->language->name;
    if (json_object_get(k->spec, "options")) return lb_fail(err, LB_E_FILE, k->path, "\"options\": %s is compiled already", name);
    return k->in ? LB_OK
                 : lb_fail(err, LB_E_FILE, k->path, "\"in\": %s is compiled for one element format: say which, f32, f16 or bf16", name);
}

static lb_status read_language(lb_kernel *k, lb_error *err) {
    const char *name, *names[LANGUAGE_COUNT];
    LB_TRY(text_of(k, "language", true, &name, err));
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        names[i] = languages[i].name;
        if (strcmp(name, languages[i].name) == 0) k->language = &languages[i];
    }
    if (!k->language)
        return lb_fail(err, LB_E_FILE, k->path, "\"language\": \"%.40s\" is not run here; %s, %s, %s and %s are", name, names[0], names[1],
                       names[2], names[3]);
    if (!k->language->runs) return lb_fail(err, LB_E_UNAVAILABLE, k->path, "%s", k->language->missing);
    return k->language->runs->compiled ? check_compiled(k, err) : LB_OK;
}

/* "op": a row of launches.def, as every operator has one. */
static lb_status read_op(lb_kernel *k, lb_error *err) {
    LB_TRY(text_of(k, "op", false, &k->op, err));
    if (!k->op) return LB_OK;
    for (size_t i = 0; i < sizeof product_keys / sizeof product_keys[0]; i++)
        if (json_object_get(k->spec, product_keys[i]))
            return lb_fail(err, LB_E_FILE, k->path, "\"%s\" goes with a product, not with \"op\"", product_keys[i]);
    if (lb_launch_find(k->op)) return LB_OK;
    const char *names[100];
    size_t count = 0;
    for (const lb_launch *l; count < 100 && (l = lb_launch_row(count)); count++) names[count] = l->op;
    const char *near = lb_nearest_name(k->op, names, count);
    return lb_fail(err, LB_E_FILE, k->path, "\"op\": no operator \"%.40s\"%s%s; `lastbit ops` lists them", k->op,
                   near ? "; did you mean " : "", near ? near : "");
}

static lb_status read_spec(lb_kernel *k, lb_error *err) {
    const char *unused;
    LB_TRY(lb_json_file(k->path, &k->spec, err));
    if (!json_is_object(k->spec)) return lb_fail(err, LB_E_FILE, k->path, "line 1: a kernel is a JSON object");
    LB_TRY(check_keys(k, err));
    LB_TRY(read_op(k, err));
    LB_TRY(format_of(k, "in", !k->op, &k->in, err));
    k->in_b = k->in;
    LB_TRY(format_of(k, "in_b", false, &k->in_b, err));
    LB_TRY(format_of(k, "acc", false, &k->acc, err));
    LB_TRY(format_of(k, "out", !k->op, &k->out, err));
    LB_TRY(text_of(k, "entry", !k->op, &unused, err));
    LB_TRY(text_of(k, "options", false, &unused, err));
    LB_TRY(text_of(k, "device", false, &unused, err));
    const json_t *tb = json_object_get(k->spec, "tb");
    if (tb && !json_is_boolean(tb)) return lb_fail(err, LB_E_FILE, k->path, "\"tb\" should be true or false");
    k->tb = json_is_true(tb);
    LB_TRY(read_source(k, err));
    return read_language(k, err);
}

static lb_status kernel_open(lb_device **out, const char *which, lb_error *err) {
    lb_kernel *k = calloc(1, sizeof *k);
    if (!k) return lb_fail(err, LB_E_MEMORY, which, "no memory");
    if (snprintf(k->path, sizeof k->path, "%s", which) >= (int)sizeof k->path) {
        free(k);
        return lb_fail(err, LB_E_FILE, which, "path too long");
    }
    const lb_status s = read_spec(k, err);
    if (s != LB_OK) {
        kernel_close(&k->base);
        return s;
    }
    if (k->op)
        snprintf(k->why, sizeof k->why, "the kernel is for %.64s%s%s", k->op, k->in ? " in " : "", k->in ? k->in->name : "");
    else
        snprintf(k->why, sizeof k->why, "the kernel takes A in %s, B in %s %s, %s%s, and gives %s", k->in->name, k->in_b->name,
                 k->tb ? "stored [n][k] (--tb)" : "stored [k][n]", k->acc ? "C in " : "no C", k->acc ? k->acc->name : "", k->out->name);
    *out = &k->base;
    return LB_OK;
}

static bool kernel_can(const lb_device *d, const lb_case *x, const char **why_not) {
    const lb_kernel *k = (const lb_kernel *)d;
    *why_not = k->why;
    if (k->op) return false;
    const bool c_fits = x->c.codes ? k->acc && x->c.format == k->acc : !k->acc;
    return x->a.format == k->in && x->b.format == k->in_b && x->out == k->out && x->b_transposed == k->tb && c_fits;
}

static bool kernel_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    const lb_kernel *k = (const lb_kernel *)d;
    *why_not = k->why;
    return k->op && strcmp(k->op, x->op->name) == 0 && (!k->in || k->in == x->format);
}

/* The device is asked for at the first run, and kept with what it compiled. Where the language cannot end a launch, whoever runs us in a
 * process of its own ends that process. */
static lb_status run_job(lb_kernel *k, lb_source_job *job, double timeout_seconds, lb_error *err) {
    const char *device = json_string_value(json_object_get(k->spec, "device"));
    job->marks = &k->base;
    job->timeout_seconds = timeout_seconds;
    if (!k->session) LB_TRY(k->language->runs->open(&k->session, k->path, device ? device : "", k->base.detail, err));
    return k->language->runs->run(k->session, job, err);
}

static lb_status kernel_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    lb_kernel *k = (lb_kernel *)d;
    lb_source_job job;
    void *packed[3] = {NULL};
    lb_status s = lb_kernel_job(k, x, y, &job, packed, err);
    if (s == LB_OK) s = run_job(k, &job, timeout_seconds, err);
    for (size_t i = 0; i < 3; i++) free(packed[i]);
    return s;
}

static lb_status kernel_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    lb_kernel *k = (lb_kernel *)d;
    lb_source_job job;
    char options[1200];
    LB_TRY(lb_kernel_op_job(k, x, &job, options, sizeof options, err));
    return run_job(k, &job, timeout_seconds, err);
}

const lb_backend lb_backend_kernel = {
    .name = "kernel",
    .summary = "kernel:FILE.json, your kernel's source, run on an OpenCL, Vulkan or CUDA device (docs/kernel-json.md)",
    .open = kernel_open,
    .can = kernel_can,
    .run = kernel_run,
    .can_op = kernel_can_op,
    .run_op = kernel_run_op,
    .close = kernel_close};
