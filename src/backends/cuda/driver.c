/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/cuda/driver.h"

#include "base/try.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the entry points, with the types that the driver's ABI has; handles are opaque pointers ----------------------------- */

typedef int cu_result;
typedef int cu_device;
typedef unsigned long long cu_address;

enum {
    CU_SUCCESS = 0,
    CU_ERROR_NO_DEVICE = 100,
    CU_ERROR_INVALID_IMAGE = 200, /* from here … */
    CU_ERROR_LAST_OF_JIT = 229,   /* … to here: about what was to be compiled, not about the device */
    CU_ERROR_NO_BINARY_FOR_GPU = 209,
    CU_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CU_ERROR_INVALID_SOURCE = 300,
    CU_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_COMPUTE_CAPABILITY_MINOR = 76,
    CU_JIT_INPUT_PTX = 1,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

#define CU_LIST(X)                                                                                                                         \
    X(cuInit, (unsigned flags))                                                                                                            \
    X(cuDriverGetVersion, (int *version))                                                                                                  \
    X(cuGetErrorName, (cu_result error, const char **text))                                                                                \
    X(cuGetErrorString, (cu_result error, const char **text))                                                                              \
    X(cuDeviceGetCount, (int *count))                                                                                                      \
    X(cuDeviceGet, (cu_device * device, int ordinal))                                                                                      \
    X(cuDeviceGetName, (char *name, int size, cu_device device))                                                                           \
    X(cuDeviceGetAttribute, (int *value, int attribute, cu_device device))                                                                 \
    X(cuCtxCreate_v2, (void **context, unsigned flags, cu_device device))                                                                  \
    X(cuCtxDestroy_v2, (void *context))                                                                                                    \
    X(cuCtxSetCurrent, (void *context))                                                                                                    \
    X(cuCtxSynchronize, (void))                                                                                                            \
    X(cuModuleLoadDataEx, (void **module, const void *image, unsigned count, int *options, void **values))                                 \
    X(cuLinkCreate_v2, (unsigned count, int *options, void **values, void **state))                                                        \
    X(cuLinkAddData_v2, (void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values))   \
    X(cuLinkComplete, (void *state, void **image, size_t *size))                                                                           \
    X(cuLinkDestroy, (void *state))                                                                                                        \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))                                                              \
    X(cuModuleUnload, (void *module))                                                                                                      \
    X(cuMemAlloc_v2, (cu_address * address, size_t bytes))                                                                                 \
    X(cuMemFree_v2, (cu_address address))                                                                                                  \
    X(cuMemcpyHtoD_v2, (cu_address to, const void *from, size_t bytes))                                                                    \
    X(cuMemcpyDtoH_v2, (void *to, cu_address from, size_t bytes))                                                                          \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,              \
                       unsigned block_z, unsigned shared_bytes, void *stream, void **params, void **extra))

struct lb_cuda {
    void *library, *context;
    lb_cuda_device device;
#define X(name, params) cu_result(*name) params;
    CU_LIST(X)
#undef X
};

static const char default_library[] = "libcuda.so.1";

static lb_status load(lb_cuda *cu, lb_error *err) {
    const char *other = getenv("LASTBIT_CUDA_DRIVER"), *name = other && *other ? other : default_library;
    cu->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!cu->library) return lb_fail(err, LB_E_UNAVAILABLE, "", "no NVIDIA driver on this machine: %s", dlerror());
    const char *missing = NULL;
    /* The one way from dlsym's void * to a function that ISO C has no word against. */
#define X(entry, params)                                                                                                                   \
    *(void **)&cu->entry = dlsym(cu->library, #entry);                                                                                     \
    if (!cu->entry && !missing) missing = #entry;
    CU_LIST(X)
#undef X
    return missing ? lb_fail(err, LB_E_UNAVAILABLE, name, "this driver has no %s; it is too old", missing) : LB_OK;
}

/* "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory"; a driver that cannot say more gives the number. */
static lb_status driver_error(const lb_cuda *cu, lb_status status, const char *call, cu_result code, const char *log, lb_error *err) {
    const char *name = NULL, *text = NULL;
    if (cu->cuGetErrorName(code, &name) != CU_SUCCESS || !name) name = "an error without a name";
    if (cu->cuGetErrorString(code, &text) != CU_SUCCESS || !text) text = "the driver says no more";
    return lb_fail(err, status, "CUDA driver", "%s: %s (%d): %s%s%s", call, name, code, text, *log ? ": " : "", log);
}

#define CU_TRY(call, args)                                                                                                                 \
    do {                                                                                                                                   \
        const cu_result code_ = cu->call args;                                                                                             \
        if (code_ != CU_SUCCESS) return driver_error(cu, LB_E_DEVICE, #call, code_, "", err);                                              \
    } while (0)

/* The kernel module's version, where it says one: the first word of its line that is digits and dots. */
static void add_module_version(char *text, size_t size) {
    char line[256] = "", *rest = NULL;
    FILE *f = fopen("/proc/driver/nvidia/version", "re");
    if (!f) return;
    const bool has = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    for (char *word = has ? strtok_r(line, " \t\n", &rest) : NULL; word; word = strtok_r(NULL, " \t\n", &rest))
        if (isdigit((unsigned char)*word) && strchr(word, '.') && strspn(word, "0123456789.") == strlen(word)) {
            const size_t used = strlen(text);
            snprintf(text + used, size - used, ", %s", word);
            return;
        }
}

static lb_status describe(lb_cuda *cu, cu_device device, lb_error *err) {
    lb_cuda_device *d = &cu->device;
    int version = 0;
    CU_TRY(cuDeviceGetName, (d->name, (int)sizeof d->name - 1, device));
    d->name[sizeof d->name - 1] = 0; /* whatever the driver left there */
    CU_TRY(cuDeviceGetAttribute, (&d->major, CU_COMPUTE_CAPABILITY_MAJOR, device));
    CU_TRY(cuDeviceGetAttribute, (&d->minor, CU_COMPUTE_CAPABILITY_MINOR, device));
    CU_TRY(cuDriverGetVersion, (&version));
    snprintf(d->driver, sizeof d->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    add_module_version(d->driver, sizeof d->driver);
    return LB_OK;
}

static lb_status start(lb_cuda *cu, int index, lb_error *err) {
    int count = 0;
    cu_device device = 0;
    const cu_result code = cu->cuInit(0);
    if (code != CU_SUCCESS) return driver_error(cu, code == CU_ERROR_NO_DEVICE ? LB_E_UNAVAILABLE : LB_E_DEVICE, "cuInit", code, "", err);
    CU_TRY(cuDeviceGetCount, (&count));
    if (index < 0 || index >= count)
        return lb_fail(err, LB_E_UNAVAILABLE, "CUDA driver", "no device %d: there are %d", index, count > 0 ? count : 0);
    CU_TRY(cuDeviceGet, (&device, index));
    LB_TRY(describe(cu, device, err));
    CU_TRY(cuCtxCreate_v2, (&cu->context, 0, device));
    return LB_OK;
}

lb_status lb_cuda_open(lb_cuda **out, int index, lb_error *err) {
    *out = NULL;
    lb_cuda *cu = calloc(1, sizeof *cu);
    if (!cu) return lb_fail(err, LB_E_MEMORY, "", "no memory for a device");
    lb_status s = load(cu, err);
    if (s == LB_OK) s = start(cu, index, err);
    if (s != LB_OK) {
        lb_cuda_close(cu);
        return s;
    }
    *out = cu;
    return LB_OK;
}

void lb_cuda_close(lb_cuda *cu) {
    if (!cu) return;
    if (cu->context) cu->cuCtxDestroy_v2(cu->context);
    if (cu->library) dlclose(cu->library);
    free(cu);
}

const lb_cuda_device *lb_cuda_describe(const lb_cuda *cu) {
    return &cu->device;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------------- */

/* The log as one short line: a driver's advice runs over many. */
static void first_line(char *log, size_t size) {
    log[size - 1] = 0;
    log[strcspn(log, "\r\n")] = 0;
    if (strlen(log) > 200) log[200] = 0;
}

static bool is_refusal(cu_result code) {
    return (code >= CU_ERROR_INVALID_IMAGE && code <= CU_ERROR_LAST_OF_JIT) || code == CU_ERROR_INVALID_SOURCE;
}

lb_status lb_cuda_assemble(lb_cuda *cu, const char *ptx, char **out, size_t *size, lb_error *err) {
    char log[4096] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)}, *state = NULL, *image = NULL;
    lb_status s = LB_OK;
    *out = NULL;
    *size = 0;
    cu_result code = cu->cuLinkCreate_v2(2, options, values, &state);
    if (code != CU_SUCCESS) return driver_error(cu, LB_E_DEVICE, "cuLinkCreate_v2", code, "", err);
    const char *call = "cuLinkAddData_v2";
    code = cu->cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx, strlen(ptx) + 1, "lastbit", 0, NULL, NULL);
    if (code == CU_SUCCESS) code = cu->cuLinkComplete(state, &image, size), call = "cuLinkComplete";
    first_line(log, sizeof log);
    if (code != CU_SUCCESS)
        s = driver_error(cu, is_refusal(code) ? LB_E_UNAVAILABLE : LB_E_DEVICE, call, code, log, err);
    else if (!image || !*size)
        s = lb_fail(err, LB_E_DEVICE, "CUDA driver", "cuLinkComplete: no machine code and no error");
    else if (!(*out = malloc(*size + 1)))
        s = lb_fail(err, LB_E_MEMORY, "CUDA driver", "no memory for %zu bytes of machine code", *size);
    if (s == LB_OK) memcpy(*out, image, *size), (*out)[*size] = 0; /* the image is the link's own */
    cu->cuLinkDestroy(state);
    return s;
}

lb_status lb_cuda_compile(lb_cuda *cu, const char *ptx, const char *entry, lb_cuda_kernel *out, lb_error *err) {
    char log[4096] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    *out = (lb_cuda_kernel){0};
    cu_result code = cu->cuModuleLoadDataEx(&out->module, ptx, 2, options, values);
    first_line(log, sizeof log);
    if (code != CU_SUCCESS) {
        const bool refused = is_refusal(code);
        out->module = NULL;
        out->refusal = refused ? code : 0;
        return driver_error(cu, refused ? LB_E_UNAVAILABLE : LB_E_DEVICE, "cuModuleLoadDataEx", code, log, err);
    }
    const lb_status s = lb_cuda_find(cu, out, entry, err);
    if (s != LB_OK) lb_cuda_kernel_close(cu, out);
    return s;
}

lb_status lb_cuda_find(lb_cuda *cu, lb_cuda_kernel *kernel, const char *entry, lb_error *err) {
    kernel->function = NULL;
    CU_TRY(cuModuleGetFunction, (&kernel->function, kernel->module, entry));
    return kernel->function ? LB_OK : lb_fail(err, LB_E_DEVICE, "CUDA driver", "cuModuleGetFunction: no function and no error");
}

void lb_cuda_kernel_close(lb_cuda *cu, lb_cuda_kernel *kernel) {
    if (kernel->module) cu->cuModuleUnload(kernel->module);
    *kernel = (lb_cuda_kernel){0};
}

lb_status lb_cuda_launch(lb_cuda *cu, const lb_cuda_kernel *kernel, unsigned grid, unsigned threads, void **params, lb_error *err) {
    const unsigned blocks[] = {grid, 1, 1}, lanes[] = {threads, 1, 1};
    return lb_cuda_launch_grid(cu, kernel, blocks, lanes, 0, params, err);
}

lb_status lb_cuda_launch_grid(lb_cuda *cu, const lb_cuda_kernel *kernel, const unsigned grid[3], const unsigned threads[3], unsigned shared,
                              void **params, lb_error *err) {
    CU_TRY(cuLaunchKernel, (kernel->function, grid[0], grid[1], grid[2], threads[0], threads[1], threads[2], shared, NULL, params, NULL));
    CU_TRY(cuCtxSynchronize, ());
    return LB_OK;
}

lb_status lb_cuda_use(lb_cuda *cu, lb_error *err) {
    CU_TRY(cuCtxSetCurrent, (cu->context));
    return LB_OK;
}

bool lb_cuda_is_elsewhere(int refusal) {
    return refusal == CU_ERROR_NO_BINARY_FOR_GPU || refusal == CU_ERROR_UNSUPPORTED_PTX_VERSION;
}

/* ---- memory ----------------------------------------------------------------------------------------------------------------- */

lb_status lb_cuda_alloc(lb_cuda *cu, size_t bytes, uint64_t *out, lb_error *err) {
    cu_address address = 0;
    *out = 0;
    CU_TRY(cuMemAlloc_v2, (&address, bytes));
    if (!address) return lb_fail(err, LB_E_DEVICE, "CUDA driver", "cuMemAlloc_v2: no memory and no error, for %zu bytes", bytes);
    *out = address;
    return LB_OK;
}

void lb_cuda_free(lb_cuda *cu, uint64_t address) {
    if (address) cu->cuMemFree_v2(address);
}

lb_status lb_cuda_write(lb_cuda *cu, uint64_t to, const void *bytes, size_t count, lb_error *err) {
    CU_TRY(cuMemcpyHtoD_v2, (to, bytes, count));
    return LB_OK;
}

lb_status lb_cuda_read(lb_cuda *cu, void *bytes, uint64_t from, size_t count, lb_error *err) {
    CU_TRY(cuMemcpyDtoH_v2, (bytes, from, count));
    return LB_OK;
}
