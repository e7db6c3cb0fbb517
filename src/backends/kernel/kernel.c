/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernel:FILE.json: the user's kernel, as text. docs/kernel-json.md describes the file. */
#include "backends/device.h"
#include "base/expr.h"
#include "base/try.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Languages and what runs them; NULL where this build cannot. */
static const struct language {
    const char *name;
    lb_run_source *run;
    const char *missing;
} languages[] = {
#if LB_HAVE_OPENCL
    {"opencl", lb_opencl_run_source, ""},
#else
    {"opencl", NULL, "built without OpenCL: apt-get install ocl-icd-opencl-dev opencl-headers pocl-opencl-icd, then build again"},
#endif
};

enum { LANGUAGE_COUNT = sizeof languages / sizeof languages[0] };

typedef struct kernel {
    lb_device base;
    char path[512];
    json_t *spec;
    char *source;
    const struct language *language;
    const lb_format *in, *in_b, *acc, *out; /* acc NULL: the kernel takes no C */
    bool tb;
    char why[256];
} kernel;

static void kernel_close(lb_device *d) {
    kernel *k = (kernel *)d;
    json_decref(k->spec);
    free(k->source);
    free(k);
}

/* ---- reading the file ------------------------------------------------------------------------------------------------------ */

static const char *const keys[] = {"language", "source", "entry", "options", "device", "in", "in_b",
                                   "acc",      "out",    "args",  "global",  "local",  "tb"};

static lb_status check_keys(const kernel *k, lb_error *err) {
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
static lb_status text_of(const kernel *k, const char *key, bool required, const char **out, lb_error *err) {
    const json_t *j = json_object_get(k->spec, key);
    *out = json_string_value(j);
    if (*out) return LB_OK;
    return j || required ? lb_fail(err, LB_E_FILE, k->path, "\"%s\" should be a string", key) : LB_OK;
}

static lb_status format_of(const kernel *k, const char *key, bool required, const lb_format **out, lb_error *err) {
    const char *name;
    lb_error why;
    LB_TRY(text_of(k, key, required, &name, err));
    if (!name) return LB_OK;
    return lb_format_get(name, out, &why) == LB_OK ? LB_OK : lb_fail(err, LB_E_FILE, k->path, "\"%s\": %s: %s", key, name, why.message);
}

/* The source beside the JSON, unless its path is absolute. */
static lb_status read_source(kernel *k, lb_error *err) {
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

static lb_status read_language(kernel *k, lb_error *err) {
    const char *name, *names[LANGUAGE_COUNT];
    LB_TRY(text_of(k, "language", true, &name, err));
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        names[i] = languages[i].name;
        if (strcmp(name, languages[i].name) == 0) k->language = &languages[i];
    }
    if (!k->language) return lb_fail(err, LB_E_FILE, k->path, "\"language\": \"%.40s\" is not run here; %s is", name, names[0]);
    return k->language->run ? LB_OK : lb_fail(err, LB_E_UNAVAILABLE, k->path, "%s", k->language->missing);
}

static lb_status read_spec(kernel *k, lb_error *err) {
    json_error_t why;
    const char *unused;
    k->spec = json_load_file(k->path, JSON_REJECT_DUPLICATES, &why);
    if (!k->spec && why.line < 1) return lb_fail(err, LB_E_FILE, k->path, "cannot be opened: %s", strerror(errno));
    if (!k->spec) return lb_fail(err, LB_E_FILE, k->path, "line %d: %s", why.line, why.text);
    if (!json_is_object(k->spec)) return lb_fail(err, LB_E_FILE, k->path, "line 1: a kernel is a JSON object");
    LB_TRY(check_keys(k, err));
    LB_TRY(format_of(k, "in", true, &k->in, err));
    k->in_b = k->in;
    LB_TRY(format_of(k, "in_b", false, &k->in_b, err));
    LB_TRY(format_of(k, "acc", false, &k->acc, err));
    LB_TRY(format_of(k, "out", true, &k->out, err));
    LB_TRY(text_of(k, "entry", true, &unused, err));
    LB_TRY(text_of(k, "options", false, &unused, err));
    LB_TRY(text_of(k, "device", false, &unused, err));
    const json_t *tb = json_object_get(k->spec, "tb");
    if (tb && !json_is_boolean(tb)) return lb_fail(err, LB_E_FILE, k->path, "\"tb\" should be true or false");
    k->tb = json_is_true(tb);
    LB_TRY(read_source(k, err));
    return read_language(k, err);
}

static lb_status kernel_open(lb_device **out, const char *which, lb_error *err) {
    kernel *k = calloc(1, sizeof *k);
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
    snprintf(k->why, sizeof k->why, "the kernel takes A in %s, B in %s %s, %s%s, and gives %s", k->in->name, k->in_b->name,
             k->tb ? "stored [n][k] (--tb)" : "stored [k][n]", k->acc ? "C in " : "no C", k->acc ? k->acc->name : "", k->out->name);
    *out = &k->base;
    return LB_OK;
}

static bool kernel_can(const lb_device *d, const lb_case *x, const char **why_not) {
    const kernel *k = (const kernel *)d;
    *why_not = k->why;
    const bool c_fits = x->c.codes ? k->acc && x->c.format == k->acc : !k->acc;
    return x->a.format == k->in && x->b.format == k->in_b && x->out == k->out && x->b_transposed == k->tb && c_fits;
}

/* ---- a launch ---------------------------------------------------------------------------------------------------------------- */

/* An integer, or an expression over m, n, k. */
static lb_status size_of(const kernel *k, const char *key, const json_t *j, const lb_expr_var *sizes, int64_t *out, lb_error *err) {
    char place[600];
    snprintf(place, sizeof place, "%s: \"%s\"", k->path, key);
    *out = json_integer_value(j);
    if (json_is_integer(j)) return LB_OK;
    if (!json_is_string(j)) return lb_fail(err, LB_E_FILE, place, "should be a whole number or an expression in a string");
    return lb_expr_eval(json_string_value(j), sizes, 3, place, out, err);
}

static lb_status buffer_of(const kernel *k, const json_t *j, lb_kernel_arg *arg, lb_error *err) {
    static const struct {
        const char *name;
        lb_arg_kind kind;
    } buffers[] = {{"a", LB_ARG_A}, {"b", LB_ARG_B}, {"c", LB_ARG_C}, {"d", LB_ARG_D}};
    for (size_t i = 0; json_is_string(j) && i < 4; i++) {
        arg->kind = buffers[i].kind;
        if (strcmp(json_string_value(j), buffers[i].name) == 0)
            return arg->kind != LB_ARG_C || k->acc ? LB_OK
                                                   : lb_fail(err, LB_E_FILE, k->path, "\"args\": buffer c wants \"acc\", its format");
    }
    return lb_fail(err, LB_E_FILE, k->path, "\"args\": a buffer is \"a\", \"b\", \"c\" or \"d\"");
}

static lb_status arg_of(const kernel *k, const json_t *j, const lb_expr_var *sizes, lb_kernel_arg *arg, lb_error *err) {
    static const struct {
        const char *name;
        lb_arg_kind kind;
        int64_t least, most;
    } kinds[] = {{"int", LB_ARG_INT, INT32_MIN, INT32_MAX},
                 {"uint", LB_ARG_UINT, 0, UINT32_MAX},
                 {"long", LB_ARG_LONG, INT64_MIN, INT64_MAX},
                 {"ulong", LB_ARG_ULONG, 0, INT64_MAX},
                 {"local", LB_ARG_LOCAL, 1, INT32_MAX}};
    *arg = (lb_kernel_arg){0};
    if (json_object_size(j) == 1) {
        const json_t *value = json_object_get(j, "buffer");
        if (value) return buffer_of(k, value, arg, err);
        value = json_object_get(j, "float");
        arg->kind = LB_ARG_FLOAT;
        arg->real = (float)json_number_value(value);
        if (json_is_number(value)) return LB_OK;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            value = json_object_get(j, kinds[i].name);
            if (!value) continue;
            arg->kind = kinds[i].kind;
            LB_TRY(size_of(k, "args", value, sizes, &arg->integer, err));
            const bool fits = arg->integer >= kinds[i].least && arg->integer <= kinds[i].most;
            return fits ? LB_OK
                        : lb_fail(err, LB_E_FILE, k->path, "\"args\": %lld does not fit in %s", (long long)arg->integer, kinds[i].name);
        }
    }
    return lb_fail(err, LB_E_FILE, k->path, "\"args\": each is {\"buffer\"|\"int\"|\"uint\"|\"long\"|\"ulong\"|\"float\"|\"local\": …}");
}

/* "global" or "local": one to three sizes. */
static lb_status grid_of(const kernel *k, const char *key, bool required, const lb_expr_var *sizes, size_t out[3], unsigned *dims,
                         lb_error *err) {
    const json_t *j = json_object_get(k->spec, key);
    *dims = 0;
    if (!j && !required) return LB_OK;
    if (json_array_size(j) < 1 || json_array_size(j) > 3)
        return lb_fail(err, LB_E_FILE, k->path, "\"%s\" should hold one to three sizes", key);
    for (size_t i = 0; i < json_array_size(j); i++) {
        int64_t n;
        LB_TRY(size_of(k, key, json_array_get(j, i), sizes, &n, err));
        if (n < 1 || n > INT32_MAX) return lb_fail(err, LB_E_FILE, k->path, "\"%s\": size %zu is %lld", key, i, (long long)n);
        out[(*dims)++] = (size_t)n;
    }
    return LB_OK;
}

static lb_status job_of(const kernel *k, const lb_case *x, lb_source_job *job, lb_error *err) {
    const lb_expr_var sizes[] = {{"m", (int64_t)lb_case_m(x)}, {"n", (int64_t)lb_case_n(x)}, {"k", (int64_t)lb_case_k(x)}};
    const json_t *args = json_object_get(k->spec, "args"), *arg;
    const char *options = json_string_value(json_object_get(k->spec, "options")),
               *device = json_string_value(json_object_get(k->spec, "device"));
    size_t i;
    unsigned local_dims;
    bool has_output = false;
    *job = (lb_source_job){.path = k->path,
                           .source = k->source,
                           .entry = json_string_value(json_object_get(k->spec, "entry")),
                           .options = options ? options : "",
                           .device = device ? device : "",
                           .x = x};
    if (!json_is_array(args) || json_array_size(args) > LB_MAX_ARGS)
        return lb_fail(err, LB_E_FILE, k->path, "\"args\" should be an array of at most %d", LB_MAX_ARGS);
    json_array_foreach(args, i, arg) {
        LB_TRY(arg_of(k, arg, sizes, &job->args[i], err));
        has_output = has_output || job->args[i].kind == LB_ARG_D;
        job->arg_count = i + 1;
    }
    if (!has_output) return lb_fail(err, LB_E_FILE, k->path, "\"args\": no buffer d, so nothing would be written");
    LB_TRY(grid_of(k, "global", true, sizes, job->global, &job->dims, err));
    LB_TRY(grid_of(k, "local", false, sizes, job->local, &local_dims, err));
    if (local_dims && local_dims != job->dims)
        return lb_fail(err, LB_E_FILE, k->path, "\"local\" has %u sizes, \"global\" %u", local_dims, job->dims);
    for (i = 0; i < local_dims; i++)
        if (job->global[i] % job->local[i])
            return lb_fail(err, LB_E_FILE, k->path, "\"global\": size %zu is %zu, no multiple of %zu (roundup(…) helps)", i, job->global[i],
                           job->local[i]);
    return LB_OK;
}

static lb_status kernel_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    kernel *k = (kernel *)d;
    lb_source_job job;
    (void)timeout_seconds; /* whoever runs us in a process of its own ends that process */
    LB_TRY(job_of(k, x, &job, err));
    job.y = y;
    job.marks = d;
    return k->language->run(&job, err);
}

const lb_backend lb_backend_kernel = {.name = "kernel",
                                      .summary = "kernel:FILE.json, your kernel's source, run on an OpenCL device (docs/kernel-json.md)",
                                      .open = kernel_open,
                                      .can = kernel_can,
                                      .run = kernel_run,
                                      .close = kernel_close};
