/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CUDA as a device that takes text: PTX as it is, or our kernels through NVRTC. Each buffer lies between guard zones in a larger one; the
 * output begins as the caller filled it (with poison). Modules stay loaded until the session ends. */
#include "backends/cuda/driver.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/ptx_entry.h"
#include "backends/guard.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct module {
    struct module *next;
    char *source, *options, *ptx;
    lb_cuda_kernel kernel;
} module;

typedef struct session {
    char place[256]; /* for errors */
    lb_cuda *cu;
    lb_nvrtc *compiler; /* NULL: the source is PTX */
    module *modules;
} session;

typedef struct launched {
    session *s;
    const lb_source_job *job;
    module *m;
    uint64_t buffers[LB_MAX_BUFFERS];
} launched;

enum { GUARD = LB_LEAST_GUARD };

static void free_module(session *s, module *m) {
    if (s->cu) lb_cuda_kernel_close(s->cu, &m->kernel);
    free(m->source);
    free(m->options);
    free(m->ptx);
    free(m);
}

static void cuda_close(void *state) {
    session *s = state;
    if (!s) return;
    while (s->modules) {
        module *m = s->modules;
        s->modules = m->next;
        free_module(s, m);
    }
    lb_cuda_close(s->cu);
    lb_nvrtc_close(s->compiler);
    free(s);
}

/* An error of what lies below, at the place of what the user named. */
static lb_status at_place(const session *s, lb_status status, const lb_error *why, lb_error *err) {
    return status == LB_OK ? LB_OK : lb_fail(err, status, s->place, "%s", why->message);
}

/* ---- the device ---------------------------------------------------------------------------------------------------------------- */

/* "" or an index; "cuda:" may stand before it. */
static lb_status index_of(const session *s, const char *device, int *out, lb_error *err) {
    static const char prefix[] = "cuda:";
    const char *wanted = strncmp(device, prefix, sizeof prefix - 1) == 0 ? device + sizeof prefix - 1 : device;
    char *end;
    const long index = strtol(wanted, &end, 10);
    *out = (int)index;
    if (*end || index < 0 || index > 1000)
        return lb_fail(err, LB_E_NAME, s->place, "\"%.60s\" is no CUDA device: cuda takes an index, as cuda:0", wanted);
    return LB_OK;
}

static lb_status open_device(session *s, const char *device, bool compiles, char *detail, lb_error *err) {
    int index;
    lb_error why = {0};
    char compiler[32] = "";
    LB_TRY(index_of(s, device, &index, err));
    LB_TRY(at_place(s, lb_cuda_open(&s->cu, index, &why), &why, err));
    if (compiles) {
        LB_TRY(at_place(s, lb_nvrtc_open(&s->compiler, &why), &why, err));
        lb_nvrtc_describe(s->compiler, compiler, sizeof compiler);
    }
    const lb_cuda_device *d = lb_cuda_describe(s->cu);
    snprintf(detail, 256, "%.80s (sm_%d%d), driver %.80s%s%s", d->name, d->major, d->minor, d->driver, compiles ? ", " : "", compiler);
    return LB_OK;
}

static lb_status open_session(void **out, const char *place, const char *device, bool compiles, char *detail, lb_error *err) {
    session *s = calloc(1, sizeof *s);
    if (!s) return lb_fail(err, LB_E_MEMORY, place, "no memory");
    snprintf(s->place, sizeof s->place, "%s", place);
    const lb_status status = open_device(s, device, compiles, detail, err);
    if (status != LB_OK)
        cuda_close(s);
    else
        *out = s;
    return status;
}

static lb_status cuda_open(void **out, const char *place, const char *device, char *detail, lb_error *err) {
    return open_session(out, place, device, true, detail, err);
}

static lb_status ptx_open(void **out, const char *place, const char *device, char *detail, lb_error *err) {
    return open_session(out, place, device, false, detail, err);
}

/* ---- the module ---------------------------------------------------------------------------------------------------------------- */

static lb_status load(session *s, const lb_source_job *job, module *m, lb_error *err) {
    lb_error why = {0};
    const lb_cuda_device *d = lb_cuda_describe(s->cu);
    m->source = strdup(job->source);
    m->options = strdup(job->options);
    if (!m->source || !m->options) return lb_fail(err, LB_E_MEMORY, s->place, "no memory for the source");
    if (s->compiler)
        LB_TRY(at_place(s, lb_nvrtc_compile(s->compiler, job->source, job->options, 10 * d->major + d->minor, &m->ptx, NULL, &why), &why,
                        err));
    const char *ptx = m->ptx ? m->ptx : m->source;
    size_t bytes[LB_PTX_PARAMS], count;
    if (!lb_ptx_entry(ptx, job->entry, bytes, &count) && strstr(ptx, ".entry"))
        return lb_fail(err, LB_E_FILE, s->place, "\"entry\": the source has no kernel \"%.80s\"", job->entry);
    const lb_status status = lb_cuda_compile(s->cu, ptx, job->entry, &m->kernel, &why);
    /* Text that no GPU takes is the kernel's fault; text for another GPU, or for a newer driver, is not. */
    const bool fault = m->kernel.refusal && !lb_cuda_is_elsewhere(m->kernel.refusal);
    return at_place(s, fault ? LB_E_DEVICE : status, &why, err);
}

/* The job's module, loaded now or before, its function that of the job's entry. One that cannot be loaded is not kept. */
static lb_status module_of(session *s, const lb_source_job *job, module **out, lb_error *err) {
    for (module *m = s->modules; m; m = m->next)
        if (strcmp(m->options, job->options) == 0 && strcmp(m->source, job->source) == 0) {
            lb_error why = {0};
            *out = m;
            return at_place(s, lb_cuda_find(s->cu, &m->kernel, job->entry, &why), &why, err);
        }
    module *m = *out = calloc(1, sizeof *m);
    if (!m) return lb_fail(err, LB_E_MEMORY, s->place, "no memory");
    const lb_status status = load(s, job, m, err);
    if (status != LB_OK) {
        free_module(s, m);
        return status;
    }
    m->next = s->modules;
    s->modules = m;
    return LB_OK;
}

/* ---- arguments ----------------------------------------------------------------------------------------------------------------- */

typedef union value {
    uint64_t address;
    int64_t whole;
    int32_t narrow;
    float real;
} value;

/* Bytes of an argument; 0: memory of the block, which is none of the kernel's. */
static size_t argument(const launched *l, const lb_kernel_arg *arg, value *v) {
    switch (arg->kind) {
    case LB_ARG_BUFFER: v->address = l->buffers[arg->integer] + GUARD; return sizeof v->address;
    case LB_ARG_INT:
    case LB_ARG_UINT: v->narrow = (int32_t)(uint32_t)arg->integer; return sizeof v->narrow;
    case LB_ARG_LONG:
    case LB_ARG_ULONG: v->whole = arg->integer; return sizeof v->whole;
    case LB_ARG_FLOAT: v->real = arg->real; return sizeof v->real;
    case LB_ARG_LOCAL: break;
    }
    return 0;
}

/* Values, and where they lie, for cuLaunchKernel; bytes of `local` in *shared. */
static lb_status arguments(const launched *l, value values[LB_MAX_ARGS], void *params[LB_MAX_ARGS], unsigned *shared, lb_error *err) {
    const session *s = l->s;
    size_t bytes[LB_PTX_PARAMS], takes, given = 0;
    *shared = 0;
    if (!lb_ptx_entry(l->m->ptx ? l->m->ptx : l->m->source, l->job->entry, bytes, &takes))
        return lb_fail(err, LB_E_FILE, s->place, "\"entry\": the source has no kernel \"%.80s\" whose parameters can be read",
                       l->job->entry);
    for (size_t i = 0; i < l->job->arg_count; i++) {
        const size_t size = argument(l, &l->job->args[i], &values[given]);
        if (!size && *shared) return lb_fail(err, LB_E_FILE, s->place, "\"args\": CUDA has one \"local\" a launch");
        if (!size) {
            *shared = (unsigned)l->job->args[i].integer;
            continue;
        }
        if (given < takes && bytes[given] != size)
            return lb_fail(err, LB_E_FILE, s->place, "\"args\": argument %zu, from 0, has %zu bytes; the kernel's parameter has %zu", i,
                           size, bytes[given]);
        params[given] = &values[given];
        given++;
    }
    if (takes == given) return LB_OK;
    return lb_fail(err, LB_E_FILE, s->place, "\"args\": the kernel takes %zu arguments, %zu are given", takes, given);
}

/* ---- the launch ---------------------------------------------------------------------------------------------------------------- */

static lb_status grid_of(const session *s, const lb_source_job *job, unsigned grid[3], unsigned threads[3], lb_error *err) {
    enum { MOST_IN_Y_AND_Z = 65535 };
    if (!job->local[0]) return lb_fail(err, LB_E_FILE, s->place, "\"local\": CUDA wants the sizes of a block");
    for (unsigned i = 0; i < 3; i++) {
        const size_t blocks = i < job->dims ? job->global[i] / job->local[i] : 1;
        threads[i] = i < job->dims ? (unsigned)job->local[i] : 1;
        grid[i] = (unsigned)blocks;
        if (i && blocks > MOST_IN_Y_AND_Z)
            return lb_fail(err, LB_E_SHAPE, s->place, "%zu blocks in %c: CUDA takes %d", blocks, "xyz"[i], MOST_IN_Y_AND_Z);
    }
    return LB_OK;
}

static lb_status upload(launched *l, size_t i, lb_error *err) {
    const lb_job_buffer *b = &l->job->buffers[i];
    unsigned char *image;
    LB_TRY(lb_guard_make(b, GUARD, &image, l->s->place, err));
    const size_t size = lb_guard_size(b, GUARD);
    lb_status s = lb_cuda_alloc(l->s->cu, size, &l->buffers[i], err);
    if (s == LB_OK) s = lb_cuda_write(l->s->cu, l->buffers[i], image, size, err);
    free(image);
    return s;
}

static lb_status download(const launched *l, size_t i, lb_error *err) {
    const lb_job_buffer *b = &l->job->buffers[i];
    const size_t size = lb_guard_size(b, GUARD);
    unsigned char *image = malloc(size);
    if (!image) return lb_fail(err, LB_E_MEMORY, l->s->place, "no memory for %zu bytes", size);
    const lb_status s = lb_cuda_read(l->s->cu, image, l->buffers[i], size, err);
    if (s == LB_OK) lb_guard_take(b, GUARD, image, l->job->marks);
    free(image);
    return s;
}

static lb_status launch(launched *l, lb_error *err) {
    const lb_source_job *job = l->job;
    unsigned grid[3], threads[3], shared;
    value values[LB_MAX_ARGS];
    void *params[LB_MAX_ARGS];
    LB_TRY(lb_cuda_use(l->s->cu, err));
    LB_TRY(grid_of(l->s, job, grid, threads, err));
    LB_TRY(module_of(l->s, job, &l->m, err));
    for (size_t i = 0; i < job->buffer_count; i++) LB_TRY(upload(l, i, err));
    LB_TRY(arguments(l, values, params, &shared, err));
    for (unsigned i = 0; i < 3; i++)
        if (grid[i] == 0) return LB_OK;
    LB_TRY(lb_cuda_launch_grid(l->s->cu, &l->m->kernel, grid, threads, shared, params, err));
    for (size_t i = 0; i < job->buffer_count; i++) LB_TRY(download(l, i, err));
    return LB_OK;
}

static lb_status cuda_run(void *state, const lb_source_job *job, lb_error *err) {
    launched l = {.s = state, .job = job};
    const lb_status status = launch(&l, err);
    for (size_t i = 0; i < job->buffer_count; i++) lb_cuda_free(l.s->cu, l.buffers[i]);
    return status;
}

const lb_source_language lb_cuda_language = {.name = "cuda", .suffix = ".cl", .open = cuda_open, .run = cuda_run, .close = cuda_close};
const lb_source_language lb_ptx_language = {
    .name = "ptx", .suffix = ".ptx", .compiled = true, .open = ptx_open, .run = cuda_run, .close = cuda_close};
