/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* OpenCL as a device that compiles text. Each buffer lies between guard zones in a larger one, so that what a kernel writes beside
 * it is seen; the output begins as the caller filled it (with poison). Programs stay compiled until the session ends. */
#include "backends/device.h"
#include "backends/guard.h"
#include "base/try.h"

#include <CL/cl.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64 };

/* A source with its options, compiled. */
typedef struct program {
    struct program *next;
    char *source, *options;
    cl_program program;
} program;

typedef struct session {
    char place[256]; /* for errors */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    size_t guard;
    program *programs;
} session;

/* A buffer of a job: on the device [guard][data][guard], of which the kernel gets the data. */
typedef struct guarded {
    cl_mem whole, part;
} guarded;

typedef struct launched {
    session *s;
    const lb_source_job *job;
    cl_kernel kernel;
    guarded buffers[LB_MAX_BUFFERS];
} launched;

/* The errors that a kernel or its description can cause, and a driver's ends. */
static const char *error_name(cl_int code) {
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
#define ROW(name) {name, #name}
        ROW(CL_DEVICE_NOT_AVAILABLE), ROW(CL_COMPILER_NOT_AVAILABLE),   ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        ROW(CL_OUT_OF_RESOURCES),     ROW(CL_OUT_OF_HOST_MEMORY),       ROW(CL_INVALID_ARG_VALUE),
        ROW(CL_INVALID_ARG_SIZE),     ROW(CL_INVALID_WORK_GROUP_SIZE),  ROW(CL_INVALID_WORK_ITEM_SIZE),
        ROW(CL_INVALID_BUFFER_SIZE),  ROW(CL_INVALID_GLOBAL_WORK_SIZE),
#undef ROW
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code) return names[i].name;
    return "see CL/cl.h";
}

#define CL_TRY(call, what)                                                                                                                 \
    do {                                                                                                                                   \
        const cl_int code_ = (call);                                                                                                       \
        if (code_ != CL_SUCCESS) return lb_fail(err, LB_E_DEVICE, s->place, "%s: OpenCL error %d (%s)", what, code_, error_name(code_));   \
    } while (0)

static void opencl_close(void *state) {
    session *s = state;
    if (!s) return;
    while (s->programs) {
        program *p = s->programs;
        s->programs = p->next;
        if (p->program) clReleaseProgram(p->program);
        free(p->source);
        free(p->options);
        free(p);
    }
    if (s->queue) clReleaseCommandQueue(s->queue);
    if (s->context) clReleaseContext(s->context);
    free(s);
}

/* ---- the device ---------------------------------------------------------------------------------------------------------------- */

static lb_status no_device(const session *s, lb_error *err) {
    return lb_fail(err, LB_E_UNAVAILABLE, s->place,
                   "no OpenCL device on this machine: apt-get install pocl-opencl-icd brings one for the CPU (which needs a HOME or a "
                   "POCL_CACHE_DIR that it can write to)");
}

static cl_uint all_devices(cl_device_id devices[MAX_DEVICES]) {
    cl_platform_id platforms[16];
    cl_uint platform_count = 0, count = 0;
    if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return 0;
    for (cl_uint p = 0; p < platform_count && p < 16; p++) {
        cl_uint got = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES - count, devices + count, &got) == CL_SUCCESS)
            count += got < MAX_DEVICES - count ? got : MAX_DEVICES - count;
        if (count == MAX_DEVICES) break;
    }
    return count;
}

/* "", an index, or a part of the device's name; "opencl:" may stand before it. */
static lb_status choose_device(session *s, const char *device, char *detail, lb_error *err) {
    static const char prefix[] = "opencl:";
    cl_device_id devices[MAX_DEVICES];
    const cl_uint count = all_devices(devices);
    const bool prefixed = strncmp(device, prefix, sizeof prefix - 1) == 0;
    const char *wanted = device + (prefixed ? sizeof prefix - 1 : 0);
    char name[128] = "", version[128] = "";
    if (count == 0) return no_device(s, err);
    char *end;
    const unsigned long index = strtoul(wanted, &end, 10);
    const bool by_index = *wanted && *end == 0;
    if (by_index && index >= count)
        return lb_fail(err, LB_E_UNAVAILABLE, s->place, "no OpenCL device %s: this machine has %u (they count from 0)", wanted, count);
    for (cl_uint i = 0; i < count && !s->device; i++) {
        if (clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS) continue;
        if (by_index ? i == index : strstr(name, wanted) != NULL) s->device = devices[i];
    }
    if (!s->device) return lb_fail(err, LB_E_UNAVAILABLE, s->place, "no OpenCL device has \"%.60s\" in its name", wanted);
    clGetDeviceInfo(s->device, CL_DRIVER_VERSION, sizeof version, version, NULL);
    snprintf(detail, 256, "OpenCL %.120s, driver %.60s", name, version);
    return LB_OK;
}

static lb_status open_device(session *s, const char *device, char *detail, lb_error *err) {
    cl_int code;
    cl_uint align_bits = 0;
    LB_TRY(choose_device(s, device, detail, err));
    CL_TRY(clGetDeviceInfo(s->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits, NULL), "device");
    s->guard = align_bits / 8 > LB_LEAST_GUARD ? align_bits / 8 : LB_LEAST_GUARD;
    s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &code);
    CL_TRY(code, "context");
    s->queue = clCreateCommandQueue(s->context, s->device, 0, &code);
    CL_TRY(code, "queue");
    return LB_OK;
}

static lb_status opencl_open(void **out, const char *place, const char *device, char *detail, lb_error *err) {
    session *s = calloc(1, sizeof *s);
    if (!s) return lb_fail(err, LB_E_MEMORY, place, "no memory");
    snprintf(s->place, sizeof s->place, "%s", place);
    const lb_status status = open_device(s, device, detail, err);
    if (status != LB_OK)
        opencl_close(s);
    else
        *out = s;
    return status;
}

/* ---- the program --------------------------------------------------------------------------------------------------------------- */

/* The compiler's log as one line: its first words say what is wrong. */
static lb_status build_failed(const session *s, cl_program built, lb_error *err) {
    size_t size = 0;
    clGetProgramBuildInfo(built, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(size + 1, 1);
    if (!log) return lb_fail(err, LB_E_MEMORY, s->place, "no memory for the compiler's log");
    clGetProgramBuildInfo(built, s->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    for (char *p = log; *p; p++)
        if (isspace((unsigned char)*p)) *p = ' ';
    const char *text = log + strspn(log, " ");
    const lb_status status = lb_fail(err, LB_E_DEVICE, s->place, "the source does not compile: %.400s", text);
    free(log);
    return status;
}

static lb_status compile(session *s, const lb_source_job *job, program *p, lb_error *err) {
    cl_int code;
    p->source = strdup(job->source);
    p->options = strdup(job->options);
    if (!p->source || !p->options) return lb_fail(err, LB_E_MEMORY, s->place, "no memory for the source");
    p->program = clCreateProgramWithSource(s->context, 1, (const char **)&p->source, NULL, &code);
    CL_TRY(code, "program");
    return clBuildProgram(p->program, 1, &s->device, p->options, NULL, NULL) == CL_SUCCESS ? LB_OK : build_failed(s, p->program, err);
}

/* The job's program, compiled now or before. One that does not compile is not kept. */
static lb_status program_of(session *s, const lb_source_job *job, program **out, lb_error *err) {
    for (*out = s->programs; *out; *out = (*out)->next)
        if (strcmp((*out)->options, job->options) == 0 && strcmp((*out)->source, job->source) == 0) return LB_OK;
    program *p = *out = calloc(1, sizeof *p);
    if (!p) return lb_fail(err, LB_E_MEMORY, s->place, "no memory");
    p->next = s->programs;
    s->programs = p;
    const lb_status status = compile(s, job, p, err);
    if (status == LB_OK) return LB_OK;
    s->programs = p->next;
    if (p->program) clReleaseProgram(p->program);
    free(p->source);
    free(p->options);
    free(p);
    return status;
}

static lb_status kernel_of(launched *l, lb_error *err) {
    session *s = l->s;
    cl_int code;
    program *p;
    LB_TRY(program_of(s, l->job, &p, err));
    l->kernel = clCreateKernel(p->program, l->job->entry, &code);
    if (code == CL_INVALID_KERNEL_NAME)
        return lb_fail(err, LB_E_FILE, s->place, "\"entry\": the source has no kernel \"%.80s\"", l->job->entry);
    CL_TRY(code, "kernel");
    return LB_OK;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------------- */

static lb_status upload(const session *s, const lb_job_buffer *b, guarded *g, lb_error *err) {
    cl_int code;
    unsigned char *image;
    LB_TRY(lb_guard_make(b, s->guard, &image, s->place, err));
    g->whole = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, lb_guard_size(b, s->guard), image, &code);
    free(image);
    CL_TRY(code, "buffer");
    const cl_buffer_region region = {s->guard, b->bytes ? b->bytes : 1};
    g->part = clCreateSubBuffer(g->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CL_TRY(code, "buffer");
    return LB_OK;
}

static lb_status download(const session *s, const lb_job_buffer *b, const guarded *g, lb_device *marks, lb_error *err) {
    const size_t size = lb_guard_size(b, s->guard);
    unsigned char *image = malloc(size);
    if (!image) return lb_fail(err, LB_E_MEMORY, s->place, "no memory for %zu bytes", size);
    const cl_int code = clEnqueueReadBuffer(s->queue, g->whole, CL_TRUE, 0, size, image, 0, NULL, NULL);
    if (code == CL_SUCCESS) lb_guard_take(b, s->guard, image, marks);
    free(image);
    CL_TRY(code, "reading a buffer back");
    return LB_OK;
}

/* ---- the launch ------------------------------------------------------------------------------------------------------------------ */

static cl_int set_arg(const launched *l, cl_uint i, const lb_kernel_arg *arg) {
    const cl_int as_int = (cl_int)arg->integer;
    const cl_uint as_uint = (cl_uint)arg->integer;
    const cl_long as_long = arg->integer;
    const cl_ulong as_ulong = (cl_ulong)arg->integer;
    switch (arg->kind) {
    case LB_ARG_BUFFER: return clSetKernelArg(l->kernel, i, sizeof(cl_mem), &l->buffers[arg->integer].part);
    case LB_ARG_INT: return clSetKernelArg(l->kernel, i, sizeof as_int, &as_int);
    case LB_ARG_UINT: return clSetKernelArg(l->kernel, i, sizeof as_uint, &as_uint);
    case LB_ARG_LONG: return clSetKernelArg(l->kernel, i, sizeof as_long, &as_long);
    case LB_ARG_ULONG: return clSetKernelArg(l->kernel, i, sizeof as_ulong, &as_ulong);
    case LB_ARG_FLOAT: return clSetKernelArg(l->kernel, i, sizeof arg->real, &arg->real);
    case LB_ARG_LOCAL: return clSetKernelArg(l->kernel, i, (size_t)arg->integer, NULL);
    }
    return CL_INVALID_ARG_VALUE;
}

static lb_status set_args(const launched *l, lb_error *err) {
    const session *s = l->s;
    const lb_source_job *job = l->job;
    cl_uint takes = 0;
    CL_TRY(clGetKernelInfo(l->kernel, CL_KERNEL_NUM_ARGS, sizeof takes, &takes, NULL), "kernel");
    if (takes != job->arg_count)
        return lb_fail(err, LB_E_FILE, s->place, "\"args\": the kernel takes %u arguments, %zu are given", takes, job->arg_count);
    for (size_t i = 0; i < job->arg_count; i++) {
        const cl_int code = set_arg(l, (cl_uint)i, &job->args[i]);
        if (code != CL_SUCCESS)
            return lb_fail(err, LB_E_FILE, s->place, "\"args\": the kernel refuses argument %zu, from 0: OpenCL error %d (%s)", i, code,
                           error_name(code));
    }
    return LB_OK;
}

static lb_status launch(launched *l, lb_error *err) {
    const session *s = l->s;
    const lb_source_job *job = l->job;
    for (size_t i = 0; i < job->buffer_count; i++) LB_TRY(upload(s, &job->buffers[i], &l->buffers[i], err));
    LB_TRY(kernel_of(l, err));
    LB_TRY(set_args(l, err));
    for (unsigned i = 0; i < job->dims; i++)
        if (job->global[i] == 0) return LB_OK;
    CL_TRY(clEnqueueNDRangeKernel(s->queue, l->kernel, job->dims, NULL, job->global, job->local[0] ? job->local : NULL, 0, NULL, NULL),
           "launch");
    CL_TRY(clFinish(s->queue), "run");
    for (size_t i = 0; i < job->buffer_count; i++) LB_TRY(download(s, &job->buffers[i], &l->buffers[i], job->marks, err));
    return LB_OK;
}

static lb_status opencl_run(void *state, const lb_source_job *job, lb_error *err) {
    launched l = {.s = state, .job = job};
    const lb_status status = launch(&l, err);
    for (size_t i = 0; i < job->buffer_count; i++) {
        if (l.buffers[i].part) clReleaseMemObject(l.buffers[i].part);
        if (l.buffers[i].whole) clReleaseMemObject(l.buffers[i].whole);
    }
    if (l.kernel) clReleaseKernel(l.kernel);
    return status;
}

const lb_source_language lb_opencl_language = {
    .name = "opencl", .suffix = ".cl", .open = opencl_open, .run = opencl_run, .close = opencl_close};
