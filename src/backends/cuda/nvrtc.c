/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/cuda/nvrtc.h"

#include "base/try.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int nvrtc_result;
typedef void *nvrtc_program;

enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_COMPILATION = 6 };

#define NVRTC_LIST(X)                                                                                                                      \
    X(nvrtcVersion, (int *major, int *minor))                                                                                              \
    X(nvrtcGetNumSupportedArchs, (int *count))                                                                                             \
    X(nvrtcGetSupportedArchs, (int *archs))                                                                                                \
    X(nvrtcCreateProgram,                                                                                                                  \
      (nvrtc_program * program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names))    \
    X(nvrtcDestroyProgram, (nvrtc_program * program))                                                                                      \
    X(nvrtcCompileProgram, (nvrtc_program program, int count, const char *const *options))                                                 \
    X(nvrtcGetPTXSize, (nvrtc_program program, size_t * size))                                                                             \
    X(nvrtcGetPTX, (nvrtc_program program, char *ptx))                                                                                     \
    X(nvrtcGetProgramLogSize, (nvrtc_program program, size_t * size))                                                                      \
    X(nvrtcGetProgramLog, (nvrtc_program program, char *log))

struct lb_nvrtc {
    void *library;
    int major, minor;
#define X(name, params) nvrtc_result(*name) params;
    NVRTC_LIST(X)
#undef X
};

/* As the toolkit, or NVIDIA's package of PyPI in a venv whose folder is in LD_LIBRARY_PATH, lays it down; newest first. */
static const char *const libraries[] = {"libnvrtc.so.13",
                                        "libnvrtc.so.12",
                                        "libnvrtc.so.11.2",
                                        "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so",
                                        "/usr/local/cuda/lib/libnvrtc.so"};

/* It keeps memory of its own that it gives back to nobody, so it stays once it is there. */
enum { HOW = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

static lb_status load(lb_nvrtc *c, lb_error *err) {
    const char *other = getenv("LASTBIT_NVRTC"), *missing = NULL;
    if (other && *other) c->library = dlopen(other, HOW);
    for (size_t i = 0; (!other || !*other) && !c->library && i < sizeof libraries / sizeof libraries[0]; i++)
        c->library = dlopen(libraries[i], HOW);
    if (!c->library)
        return lb_fail(
            err, LB_E_UNAVAILABLE, "NVRTC",
            "no libnvrtc on this machine, which compiles our kernels for CUDA: %s: install the CUDA toolkit's cuda-nvrtc (or pip "
            "install nvidia-cuda-nvrtc), or name the library in LASTBIT_NVRTC",
            dlerror());
#define X(entry, params)                                                                                                                   \
    *(void **)&c->entry = dlsym(c->library, #entry);                                                                                       \
    if (!c->entry && !missing) missing = #entry;
    NVRTC_LIST(X)
#undef X
    if (missing) return lb_fail(err, LB_E_UNAVAILABLE, "NVRTC", "this libnvrtc has no %s; it is too old: 11.2 or later has", missing);
    return c->nvrtcVersion(&c->major, &c->minor) == NVRTC_SUCCESS ? LB_OK
                                                                  : lb_fail(err, LB_E_UNAVAILABLE, "NVRTC", "it cannot say its version");
}

lb_status lb_nvrtc_open(lb_nvrtc **out, lb_error *err) {
    lb_nvrtc *c = *out = calloc(1, sizeof *c);
    if (!c) return lb_fail(err, LB_E_MEMORY, "NVRTC", "no memory");
    const lb_status s = load(c, err);
    if (s == LB_OK) return LB_OK;
    lb_nvrtc_close(c);
    *out = NULL;
    return s;
}

void lb_nvrtc_close(lb_nvrtc *c) {
    if (!c) return;
    if (c->library) dlclose(c->library);
    free(c);
}

void lb_nvrtc_describe(const lb_nvrtc *c, char *text, size_t size) {
    snprintf(text, size, "NVRTC %d.%d", c->major, c->minor);
}

/* ---- compiling ---------------------------------------------------------------------------------------------------------------- */

/* PTX of an older architecture runs on a newer device. */
static lb_status choose_arch(const lb_nvrtc *c, int capability, int *out, lb_error *err) {
    enum { MOST = 256 };
    int archs[MOST], count = 0;
    *out = 0;
    if (c->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count < 1 || count > MOST ||
        c->nvrtcGetSupportedArchs(archs) != NVRTC_SUCCESS)
        return lb_fail(err, LB_E_UNAVAILABLE, "NVRTC", "it cannot say for which architectures it compiles");
    for (int i = 0; i < count; i++)
        if (archs[i] <= capability && archs[i] > *out) *out = archs[i];
    return *out ? LB_OK
                : lb_fail(err, LB_E_UNAVAILABLE, "NVRTC",
                          "NVRTC %d.%d compiles for sm_%d and newer; this GPU is sm_%d: install an older one", c->major, c->minor, archs[0],
                          capability);
}

static char *log_of(const lb_nvrtc *c, nvrtc_program program) {
    size_t size = 0;
    if (c->nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS) size = 0;
    char *log = calloc(size + 1, 1);
    if (log && size && c->nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) log[0] = 0;
    return log;
}

enum { MOST_OPTIONS = 64 };

static lb_status compile(const lb_nvrtc *c, nvrtc_program program, const char *const *options, int count, char **ptx, char **log,
                         lb_error *err) {
    size_t size = 0;
    const nvrtc_result code = c->nvrtcCompileProgram(program, count, options);
    *log = log_of(c, program);
    if (!*log) return lb_fail(err, LB_E_MEMORY, "NVRTC", "no memory for the compiler's log");
    if (code != NVRTC_SUCCESS)
        return lb_fail(err, LB_E_DEVICE, "NVRTC", "the source does not compile: error %d: %.*s", code, (int)strcspn(*log, "\n"), *log);
    if (c->nvrtcGetPTXSize(program, &size) != NVRTC_SUCCESS || !size) return lb_fail(err, LB_E_DEVICE, "NVRTC", "no PTX and no error");
    *ptx = calloc(size + 1, 1);
    if (!*ptx) return lb_fail(err, LB_E_MEMORY, "NVRTC", "no memory for %zu bytes of PTX", size);
    return c->nvrtcGetPTX(program, *ptx) == NVRTC_SUCCESS ? LB_OK : lb_fail(err, LB_E_DEVICE, "NVRTC", "no PTX and no error");
}

/* What a compiler of CUDA does by default, spelled out: a product and a sum may be contracted to one fma; nothing else is loosened. */
#define DEFAULTS "-std=c++17", "-default-device", "-fmad=true", "-ftz=false", "-prec-div=true", "-prec-sqrt=true"

lb_status lb_nvrtc_compile(lb_nvrtc *c, const char *source, const char *options, int capability, char **ptx, char **log, lb_error *err) {
    char arch[64], *own_log = NULL, *rest = NULL, *text;
    const char *list[MOST_OPTIONS] = {arch, DEFAULTS};
    int number, count = 0;
    nvrtc_program program = NULL;
    *ptx = NULL;
    if (log) *log = NULL;
    LB_TRY(choose_arch(c, capability, &number, err));
    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%d", number);
    text = strdup(options);
    if (!text) return lb_fail(err, LB_E_MEMORY, "NVRTC", "no memory for the options");
    while (list[count]) count++;
    for (char *word = strtok_r(text, " \t", &rest); word && count < MOST_OPTIONS; word = strtok_r(NULL, " \t", &rest)) list[count++] = word;
    lb_status s = LB_OK;
    if (c->nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL) != NVRTC_SUCCESS)
        s = lb_fail(err, LB_E_DEVICE, "NVRTC", "it makes no program of the source");
    else
        s = compile(c, program, list, count, ptx, &own_log, err);
    if (program) c->nvrtcDestroyProgram(&program);
    free(text);
    if (s != LB_OK) free(*ptx), *ptx = NULL;
    if (log)
        *log = own_log;
    else
        free(own_log);
    return s;
}
