/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* OpenCL as a device that compiles text. Each buffer lies between guard zones in a larger one, so that what a kernel writes beside
 * it is seen; the output begins as the caller filled it (with poison). */
#include "backends/device.h"
#include "base/try.h"

#include <CL/cl.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTE = 0xa5, LEAST_GUARD = 4096, BUFFERS = 4, MAX_DEVICES = 64 };

/* A buffer of the job: on the device [guard][data][guard], of which the kernel gets the data. */
typedef struct guarded {
    void *data; /* host copy of what went in; NULL if the job has no such buffer */
    bool owned; /* data is ours to free */
    size_t bytes;
    cl_mem whole, part;
} guarded;

typedef struct session {
    const lb_source_job *job;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    size_t guard;
    guarded buffers[BUFFERS]; /* a, b, c, d */
} session;

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
        if (code_ != CL_SUCCESS)                                                                                                           \
            return lb_fail(err, LB_E_DEVICE, s->job->path, "%s: OpenCL error %d (%s)", what, code_, error_name(code_));                    \
    } while (0)

static void session_close(session *s) {
    for (size_t i = 0; i < BUFFERS; i++) {
        if (s->buffers[i].part) clReleaseMemObject(s->buffers[i].part);
        if (s->buffers[i].whole) clReleaseMemObject(s->buffers[i].whole);
        if (s->buffers[i].owned) free(s->buffers[i].data);
    }
    if (s->kernel) clReleaseKernel(s->kernel);
    if (s->program) clReleaseProgram(s->program);
    if (s->queue) clReleaseCommandQueue(s->queue);
    if (s->context) clReleaseContext(s->context);
}

/* ---- the device ---------------------------------------------------------------------------------------------------------------- */

static lb_status no_device(const session *s, lb_error *err) {
    return lb_fail(err, LB_E_UNAVAILABLE, s->job->path,
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
static lb_status choose_device(session *s, lb_error *err) {
    static const char prefix[] = "opencl:";
    cl_device_id devices[MAX_DEVICES];
    const cl_uint count = all_devices(devices);
    const bool prefixed = strncmp(s->job->device, prefix, sizeof prefix - 1) == 0;
    const char *wanted = s->job->device + (prefixed ? sizeof prefix - 1 : 0);
    char name[128] = "", version[128] = "";
    if (count == 0) return no_device(s, err);
    char *end;
    const unsigned long index = strtoul(wanted, &end, 10);
    const bool by_index = *wanted && *end == 0;
    if (by_index && index >= count)
        return lb_fail(err, LB_E_UNAVAILABLE, s->job->path, "\"device\": %s of %u OpenCL devices (they count from 0)", wanted, count);
    for (cl_uint i = 0; i < count && !s->device; i++) {
        if (clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS) continue;
        if (by_index ? i == index : strstr(name, wanted) != NULL) s->device = devices[i];
    }
    if (!s->device) return lb_fail(err, LB_E_UNAVAILABLE, s->job->path, "\"device\": no OpenCL device has \"%.60s\" in its name", wanted);
    clGetDeviceInfo(s->device, CL_DRIVER_VERSION, sizeof version, version, NULL);
    snprintf(s->job->marks->detail, sizeof s->job->marks->detail, "OpenCL %.120s, driver %.60s", name, version);
    return LB_OK;
}

static lb_status open_device(session *s, lb_error *err) {
    cl_int code;
    cl_uint align_bits = 0;
    LB_TRY(choose_device(s, err));
    CL_TRY(clGetDeviceInfo(s->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits, NULL), "device");
    s->guard = align_bits / 8 > LEAST_GUARD ? align_bits / 8 : LEAST_GUARD;
    s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &code);
    CL_TRY(code, "context");
    s->queue = clCreateCommandQueue(s->context, s->device, 0, &code);
    CL_TRY(code, "queue");
    return LB_OK;
}

/* ---- the program --------------------------------------------------------------------------------------------------------------- */

/* The compiler's log as one line: its first words say what is wrong. */
static lb_status build_failed(const session *s, lb_error *err) {
    size_t size = 0;
    clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(size + 1, 1);
    if (!log) return lb_fail(err, LB_E_MEMORY, s->job->path, "no memory for the compiler's log");
    clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    for (char *p = log; *p; p++)
        if (isspace((unsigned char)*p)) *p = ' ';
    const char *text = log + strspn(log, " ");
    const lb_status status = lb_fail(err, LB_E_DEVICE, s->job->path, "the source does not compile: %.400s", text);
    free(log);
    return status;
}

static lb_status build(session *s, lb_error *err) {
    cl_int code;
    s->program = clCreateProgramWithSource(s->context, 1, (const char **)&s->job->source, NULL, &code);
    CL_TRY(code, "program");
    if (clBuildProgram(s->program, 1, &s->device, s->job->options, NULL, NULL) != CL_SUCCESS) return build_failed(s, err);
    s->kernel = clCreateKernel(s->program, s->job->entry, &code);
    if (code == CL_INVALID_KERNEL_NAME)
        return lb_fail(err, LB_E_FILE, s->job->path, "\"entry\": the source has no kernel \"%.80s\"", s->job->entry);
    CL_TRY(code, "kernel");
    return LB_OK;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------------- */

static size_t whole_bytes(const session *s, const guarded *b) {
    return 2 * s->guard + (b->bytes ? b->bytes : 1);
}

static lb_status upload(session *s, guarded *b, lb_error *err) {
    const size_t size = whole_bytes(s, b);
    cl_int code;
    char *image = malloc(size);
    if (!image) return lb_fail(err, LB_E_MEMORY, s->job->path, "no memory for %zu bytes", size);
    memset(image, GUARD_BYTE, size);
    if (b->bytes) memcpy(image + s->guard, b->data, b->bytes);
    b->whole = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, image, &code);
    free(image);
    CL_TRY(code, "buffer");
    const cl_buffer_region region = {s->guard, b->bytes ? b->bytes : 1};
    b->part = clCreateSubBuffer(b->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CL_TRY(code, "buffer");
    return LB_OK;
}

static lb_status upload_all(session *s, lb_error *err) {
    const lb_case *x = s->job->x;
    const lb_mat *const operands[] = {&x->a, &x->b, &x->c};
    for (size_t i = 0; i < 3; i++) {
        if (!operands[i]->codes) continue;
        LB_TRY(lb_pack_mat(operands[i], &s->buffers[i].data, &s->buffers[i].bytes, err));
        s->buffers[i].owned = true;
        LB_TRY(upload(s, &s->buffers[i], err));
    }
    s->buffers[3].data = s->job->y;
    s->buffers[3].bytes = lb_case_m(x) * lb_case_n(x) * (size_t)x->out->bytes;
    return upload(s, &s->buffers[3], err);
}

/* Fetch the whole buffer: count changed guard bytes, and for an input whether it is still what went in; the output goes to y. */
static lb_status download(session *s, guarded *b, bool output, lb_error *err) {
    const size_t size = whole_bytes(s, b), end = size - s->guard;
    unsigned char *image = malloc(size);
    if (!image) return lb_fail(err, LB_E_MEMORY, s->job->path, "no memory for %zu bytes", size);
    const cl_int code = clEnqueueReadBuffer(s->queue, b->whole, CL_TRUE, 0, size, image, 0, NULL, NULL);
    if (code == CL_SUCCESS) {
        for (size_t i = 0; i < size; i++)
            if ((i < s->guard || i >= end) && image[i] != GUARD_BYTE) s->job->marks->guard_damage++;
        if (output && b->bytes)
            memcpy(b->data, image + s->guard, b->bytes);
        else if (b->bytes && memcmp(b->data, image + s->guard, b->bytes) != 0)
            s->job->marks->inputs_changed = true;
    }
    free(image);
    CL_TRY(code, "reading a buffer back");
    return LB_OK;
}

/* ---- the launch ------------------------------------------------------------------------------------------------------------------ */

static cl_int set_arg(const session *s, cl_uint i, const lb_kernel_arg *arg) {
    const cl_int as_int = (cl_int)arg->integer;
    const cl_uint as_uint = (cl_uint)arg->integer;
    const cl_long as_long = arg->integer;
    const cl_ulong as_ulong = (cl_ulong)arg->integer;
    switch (arg->kind) {
    case LB_ARG_A:
    case LB_ARG_B:
    case LB_ARG_C:
    case LB_ARG_D: return clSetKernelArg(s->kernel, i, sizeof(cl_mem), &s->buffers[arg->kind - LB_ARG_A].part);
    case LB_ARG_INT: return clSetKernelArg(s->kernel, i, sizeof as_int, &as_int);
    case LB_ARG_UINT: return clSetKernelArg(s->kernel, i, sizeof as_uint, &as_uint);
    case LB_ARG_LONG: return clSetKernelArg(s->kernel, i, sizeof as_long, &as_long);
    case LB_ARG_ULONG: return clSetKernelArg(s->kernel, i, sizeof as_ulong, &as_ulong);
    case LB_ARG_FLOAT: return clSetKernelArg(s->kernel, i, sizeof arg->real, &arg->real);
    case LB_ARG_LOCAL: return clSetKernelArg(s->kernel, i, (size_t)arg->integer, NULL);
    }
    return CL_INVALID_ARG_VALUE;
}

static lb_status launch(session *s, lb_error *err) {
    const lb_source_job *job = s->job;
    cl_uint takes = 0;
    CL_TRY(clGetKernelInfo(s->kernel, CL_KERNEL_NUM_ARGS, sizeof takes, &takes, NULL), "kernel");
    if (takes != job->arg_count)
        return lb_fail(err, LB_E_FILE, job->path, "\"args\": the kernel takes %u arguments, %zu are given", takes, job->arg_count);
    for (size_t i = 0; i < job->arg_count; i++) {
        const cl_int code = set_arg(s, (cl_uint)i, &job->args[i]);
        if (code != CL_SUCCESS)
            return lb_fail(err, LB_E_FILE, job->path, "\"args\": the kernel refuses argument %zu, from 0: OpenCL error %d (%s)", i, code,
                           error_name(code));
    }
    CL_TRY(clEnqueueNDRangeKernel(s->queue, s->kernel, job->dims, NULL, job->global, job->local[0] ? job->local : NULL, 0, NULL, NULL),
           "launch");
    CL_TRY(clFinish(s->queue), "run");
    for (size_t i = 0; i < BUFFERS; i++)
        if (s->buffers[i].whole) LB_TRY(download(s, &s->buffers[i], i == 3, err));
    return LB_OK;
}

lb_status lb_opencl_run_source(const lb_source_job *job, lb_error *err) {
    session s = {.job = job};
    lb_status status = open_device(&s, err);
    if (status == LB_OK) status = build(&s, err);
    if (status == LB_OK) status = upload_all(&s, err);
    if (status == LB_OK) status = launch(&s, err);
    session_close(&s);
    return status;
}
