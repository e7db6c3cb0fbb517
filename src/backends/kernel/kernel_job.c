/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a kernel's JSON makes of a case: buffers, arguments, sizes. */
#include "backends/kernel/kernel.h"
#include "backends/launch.h"
#include "base/expr.h"
#include "base/try.h"

#include <stdio.h>
#include <string.h>

/* A file and what it is applied to: one of the two cases. */
typedef struct described {
    const lb_kernel *k;
    const lb_case *product;
    const lb_op_case *op;
    lb_source_job *job;
} described;

/* ---- sizes ------------------------------------------------------------------------------------------------------------------- */

static lb_status evaluate(const described *d, const char *text, const char *place, int64_t *out, lb_error *err) {
    if (d->op) return lb_launch_eval(text, d->op, place, out, err);
    const lb_expr_var vars[] = {
        {"m", (int64_t)lb_case_m(d->product)}, {"n", (int64_t)lb_case_n(d->product)}, {"k", (int64_t)lb_case_k(d->product)}};
    return lb_expr_eval(text, vars, 3, place, out, err);
}

/* An integer, or an expression over m, n, k (the operator's whole parameters). */
static lb_status size_of(const described *d, const char *key, const json_t *j, int64_t *out, lb_error *err) {
    char place[600];
    snprintf(place, sizeof place, "%s: \"%s\"", d->k->path, key);
    *out = json_integer_value(j);
    if (json_is_integer(j)) return LB_OK;
    if (!json_is_string(j)) return lb_fail(err, LB_E_FILE, place, "should be a whole number or an expression in a string");
    return evaluate(d, json_string_value(j), place, out, err);
}

/* "global" or "local": one to three sizes. */
static lb_status grid_of(const described *d, const char *key, bool required, size_t out[3], unsigned *dims, lb_error *err) {
    const json_t *j = json_object_get(d->k->spec, key);
    *dims = 0;
    if (!j && !required) return LB_OK;
    if (json_array_size(j) < 1 || json_array_size(j) > 3)
        return lb_fail(err, LB_E_FILE, d->k->path, "\"%s\" should hold one to three sizes", key);
    for (size_t i = 0; i < json_array_size(j); i++) {
        int64_t n;
        LB_TRY(size_of(d, key, json_array_get(j, i), &n, err));
        if (n < 1 || n > INT32_MAX) return lb_fail(err, LB_E_FILE, d->k->path, "\"%s\": size %zu is %lld", key, i, (long long)n);
        out[(*dims)++] = (size_t)n;
    }
    return LB_OK;
}

static lb_status grids_of(const described *d, lb_error *err) {
    lb_source_job *job = d->job;
    unsigned local_dims;
    if (d->op && !json_object_get(d->k->spec, "global") && !json_object_get(d->k->spec, "local"))
        return lb_launch_grid(lb_launch_find(d->k->op), d->op, job->global, job->local, &job->dims, err);
    LB_TRY(grid_of(d, "global", true, job->global, &job->dims, err));
    LB_TRY(grid_of(d, "local", false, job->local, &local_dims, err));
    if (local_dims && local_dims != job->dims)
        return lb_fail(err, LB_E_FILE, d->k->path, "\"local\" has %u sizes, \"global\" %u", local_dims, job->dims);
    for (size_t i = 0; i < local_dims; i++)
        if (job->global[i] % job->local[i])
            return lb_fail(err, LB_E_FILE, d->k->path, "\"global\": size %zu is %zu, no multiple of %zu (roundup(…) helps)", i,
                           job->global[i], job->local[i]);
    return LB_OK;
}

/* ---- arguments --------------------------------------------------------------------------------------------------------------- */

static lb_status buffer_of(const described *d, const json_t *j, lb_kernel_arg *arg, lb_error *err) {
    const lb_source_job *job = d->job;
    const char *name = json_is_string(j) ? json_string_value(j) : "";
    arg->kind = LB_ARG_BUFFER;
    for (size_t i = 0; i < job->buffer_count; i++) {
        arg->integer = (int64_t)i;
        if (strcmp(name, job->buffers[i].name) == 0) return LB_OK;
    }
    if (d->product && strcmp(name, "c") == 0) return lb_fail(err, LB_E_FILE, d->k->path, "\"args\": buffer c wants \"acc\", its format");
    char names[200] = "";
    for (size_t i = 0, used = 0; i < job->buffer_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"", i ? ", " : "", job->buffers[i].name);
    return lb_fail(err, LB_E_FILE, d->k->path, "\"args\": a buffer is one of %s", d->product ? "\"a\", \"b\", \"c\", \"d\"" : names);
}

static lb_status real_of(const described *d, const json_t *j, lb_kernel_arg *arg, lb_error *err) {
    arg->kind = LB_ARG_FLOAT;
    arg->real = (float)json_number_value(j);
    if (json_is_number(j)) return LB_OK;
    for (unsigned i = 0; d->op && json_is_string(j) && i < d->op->op->param_count; i++) {
        arg->real = (float)d->op->params[i];
        if (strcmp(d->op->op->params[i].name, json_string_value(j)) == 0) return LB_OK;
    }
    return lb_fail(err, LB_E_FILE, d->k->path, "\"args\": each is a number%s: {\"float\": …}", d->op ? " or a parameter's name" : "");
}

static lb_status arg_of(const described *d, const json_t *j, lb_kernel_arg *arg, lb_error *err) {
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
        if (value) return buffer_of(d, value, arg, err);
        value = json_object_get(j, "float");
        if (json_is_number(value) || (value && d->op)) return real_of(d, value, arg, err);
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            value = json_object_get(j, kinds[i].name);
            if (!value) continue;
            arg->kind = kinds[i].kind;
            LB_TRY(size_of(d, "args", value, &arg->integer, err));
            const bool fits = arg->integer >= kinds[i].least && arg->integer <= kinds[i].most;
            return fits ? LB_OK
                        : lb_fail(err, LB_E_FILE, d->k->path, "\"args\": %lld does not fit in %s", (long long)arg->integer, kinds[i].name);
        }
    }
    return lb_fail(err, LB_E_FILE, d->k->path, "\"args\": each is {\"buffer\"|\"int\"|\"uint\"|\"long\"|\"ulong\"|\"float\"|\"local\": …}");
}

/* "args" over the job's buffers; each output has to be among them. */
static lb_status args_of(const described *d, lb_error *err) {
    lb_source_job *job = d->job;
    const json_t *args = json_object_get(d->k->spec, "args"), *arg;
    bool given[LB_MAX_BUFFERS] = {false};
    size_t i;
    if (!json_is_array(args) || json_array_size(args) > LB_MAX_ARGS)
        return lb_fail(err, LB_E_FILE, d->k->path, "\"args\" should be an array of at most %d", LB_MAX_ARGS);
    json_array_foreach(args, i, arg) {
        LB_TRY(arg_of(d, arg, &job->args[i], err));
        if (job->args[i].kind == LB_ARG_BUFFER) given[job->args[i].integer] = true;
        job->arg_count = i + 1;
    }
    for (i = 0; i < job->buffer_count; i++)
        if (job->buffers[i].output && !given[i])
            return lb_fail(err, LB_E_FILE, d->k->path, "\"args\": no buffer %s, so nothing would be written", job->buffers[i].name);
    return LB_OK;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------------------- */

static lb_source_job job_of(const lb_kernel *k) {
    const char *options = json_string_value(json_object_get(k->spec, "options")),
               *entry = json_string_value(json_object_get(k->spec, "entry"));
    return (lb_source_job){.path = k->path, .source = k->source, .entry = entry ? entry : k->op, .options = options ? options : ""};
}

lb_status lb_kernel_job(const lb_kernel *k, const lb_case *x, void *y, lb_source_job *job, void *packed[3], lb_error *err) {
    const described d = {.k = k, .product = x, .job = job};
    const struct {
        const char *name;
        const lb_mat *m;
    } operands[] = {{"a", &x->a}, {"b", &x->b}, {"c", &x->c}};
    *job = job_of(k);
    for (size_t i = 0; i < 3; i++) {
        lb_job_buffer *to = &job->buffers[job->buffer_count];
        if (!operands[i].m->codes) continue;
        to->name = operands[i].name;
        LB_TRY(lb_pack_mat(operands[i].m, &packed[i], &to->bytes, err));
        to->data = packed[i];
        job->buffer_count++;
    }
    const size_t bytes = lb_case_m(x) * lb_case_n(x) * (size_t)x->out->bytes;
    job->buffers[job->buffer_count++] = (lb_job_buffer){.name = "d", .data = y, .bytes = bytes, .output = true};
    LB_TRY(args_of(&d, err));
    return grids_of(&d, err);
}

lb_status lb_kernel_op_job(const lb_kernel *k, const lb_op_case *x, lb_source_job *job, char *options, size_t size, lb_error *err) {
    const described d = {.k = k, .op = x, .job = job};
    *job = job_of(k);
    LB_TRY(lb_launch_args(x, job, err));
    if (json_object_get(k->spec, "args")) {
        job->arg_count = 0;
        LB_TRY(args_of(&d, err));
    }
    LB_TRY(grids_of(&d, err));
    char flags[200];
    LB_TRY(lb_launch_flags(x, job, flags, sizeof flags, err));
    if (snprintf(options, size, "%s %s", job->options, flags) >= (int)size)
        return lb_fail(err, LB_E_FILE, k->path, "\"options\" are too long");
    job->options = options;
    return LB_OK;
}
