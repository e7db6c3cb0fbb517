/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A CUDA driver of our own, for the tests: it has the entry points that src/backends/cuda calls, and runs the kernels that capture
 * writes on a small PTX machine (fake_ptx.c). Memory is checked: no kernel reads or writes where nothing was allocated.
 *
 *   LASTBIT_FAKE_CC    compute capability, "9.0"
 *   LASTBIT_FAKE_FAIL  comma-separated: "17" fails the 17th call, "cuInit" each of that name, "cuInit:2" the second
 *   LASTBIT_FAKE_LIE   comma-separated: unnamed, none, null-memory, null-function, null-text, flaky, unwritten, refuses, refuses-second, null-image, wrong-op
 *   fake_calls(), fake_live(), fake_reset(): calls so far; contexts, modules and buffers that nobody released; back to zero */
#include "fake_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { NO_DEVICE = 100, INVALID_VALUE = 1, INVALID_PTX = 218, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

static unsigned calls, live, launches;

EXPORT unsigned fake_calls(void);
EXPORT unsigned fake_live(void);
EXPORT void fake_reset(void);

unsigned fake_calls(void) {
    return calls;
}

unsigned fake_live(void) {
    return live;
}

void fake_reset(void) {
    calls = live = launches = 0;
}

/* Whether a comma-separated list in the environment has a word. */
static bool listed(const char *variable, const char *word) {
    const char *list = getenv(variable);
    const size_t n = strlen(word);
    for (const char *at = list ? strstr(list, word) : NULL; at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return true;
    return false;
}

static bool lies(const char *word) {
    return listed("LASTBIT_FAKE_LIE", word);
}

/* Count the call; non-zero if it is told to fail. */
static int enter(const char *name, unsigned *count_of_name) {
    char number[32], nth[96];
    snprintf(number, sizeof number, "%u", ++calls);
    snprintf(nth, sizeof nth, "%s:%u", name, ++*count_of_name);
    const char *variable = "LASTBIT_FAKE_FAIL";
    return listed(variable, number) || listed(variable, name) || listed(variable, nth) ? LAUNCH_FAILED : 0;
}

#define ENTER()                                                                                                                            \
    do {                                                                                                                                   \
        static unsigned count_;                                                                                                            \
        const int code_ = enter(__func__, &count_);                                                                                        \
        if (code_) return code_;                                                                                                           \
    } while (0)

#define ENTRY(name, params)                                                                                                                \
    EXPORT int name params;                                                                                                                \
    int name params

/* ---- the device --------------------------------------------------------------------------------------------------------------- */

ENTRY(cuInit, (unsigned flags)) {
    ENTER();
    return flags ? INVALID_VALUE : lies("none") ? NO_DEVICE : 0;
}

ENTRY(cuDriverGetVersion, (int *version)) {
    ENTER();
    *version = 13000;
    return 0;
}

ENTRY(cuGetErrorName, (int error, const char **text)) {
    ENTER();
    *text = lies("null-text")        ? NULL
            : error == INVALID_PTX   ? "CUDA_ERROR_INVALID_PTX"
            : error == NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
            : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                                     : "CUDA_ERROR_UNKNOWN";
    return 0;
}

ENTRY(cuGetErrorString, (int error, const char **text)) {
    ENTER();
    *text = lies("null-text") ? NULL : error == LAUNCH_FAILED ? "unspecified launch failure" : "as the fake was told";
    return 0;
}

ENTRY(cuDeviceGetCount, (int *count)) {
    ENTER();
    *count = 1;
    return 0;
}

ENTRY(cuDeviceGet, (int *device, int ordinal)) {
    ENTER();
    *device = ordinal;
    return ordinal ? INVALID_VALUE : 0;
}

ENTRY(cuDeviceGetName, (char *name, int size, int device)) {
    ENTER();
    (void)device;
    if (lies("unnamed"))
        memset(name, 'x', (size_t)size);
    else
        snprintf(name, (size_t)size, "Fake GPU");
    return 0;
}

ENTRY(cuDeviceGetAttribute, (int *value, int attribute, int device)) {
    ENTER();
    int major = 9, minor = 0;
    const char *cc = getenv("LASTBIT_FAKE_CC");
    if (cc && sscanf(cc, "%d.%d", &major, &minor) != 2) return INVALID_VALUE;
    (void)device;
    *value = attribute == 75 ? major : minor;
    return attribute == 75 || attribute == 76 ? 0 : INVALID_VALUE;
}

ENTRY(cuCtxCreate_v2, (void **context, unsigned flags, int device)) {
    ENTER();
    (void)flags;
    (void)device;
    *context = malloc(1);
    live++;
    return 0;
}

/* What releases does so also where it fails: a real driver's state is not known then, and nobody may count on it. */
ENTRY(cuCtxDestroy_v2, (void *context)) {
    free(context);
    live--;
    ENTER();
    return 0;
}

ENTRY(cuCtxSetCurrent, (void *context)) {
    ENTER();
    return context ? 0 : INVALID_VALUE;
}

ENTRY(cuCtxSynchronize, (void)) {
    ENTER();
    return 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

enum { MOST_BUFFERS = 64 };

static struct buffer {
    uint64_t at;
    size_t bytes;
} buffers[MOST_BUFFERS];

static bool reachable(uint64_t at, size_t bytes) {
    for (int i = 0; i < MOST_BUFFERS; i++)
        if (buffers[i].at && at >= buffers[i].at && at - buffers[i].at <= buffers[i].bytes &&
            bytes <= buffers[i].bytes - (at - buffers[i].at))
            return true;
    return false;
}

ENTRY(cuMemAlloc_v2, (unsigned long long *address, size_t bytes)) {
    ENTER();
    int i = 0;
    *address = 0;
    while (i < MOST_BUFFERS && buffers[i].at) i++;
    if (lies("null-memory")) return 0;
    if (i == MOST_BUFFERS || !bytes) return INVALID_VALUE;
    buffers[i] = (struct buffer){(uint64_t)(uintptr_t)malloc(bytes), bytes};
    *address = buffers[i].at;
    live++;
    return 0;
}

ENTRY(cuMemFree_v2, (unsigned long long address)) {
    for (int i = 0; i < MOST_BUFFERS; i++)
        if (buffers[i].at == address) buffers[i].at = 0;
    free((void *)(uintptr_t)address);
    live--;
    ENTER();
    return 0;
}

ENTRY(cuMemcpyHtoD_v2, (unsigned long long to, const void *from, size_t bytes)) {
    ENTER();
    if (!reachable(to, bytes)) return INVALID_VALUE;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

ENTRY(cuMemcpyDtoH_v2, (void *to, unsigned long long from, size_t bytes)) {
    ENTER();
    if (!reachable(from, bytes)) return INVALID_VALUE;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

/* ---- kernels by name: no machine runs them; for tests of whoever launches a kernel of the user's ------------------------------ */

static char launched[200];

EXPORT const char *fake_launched(void);
const char *fake_launched(void) {
    return launched;
}

typedef struct named {
    const char *name;
    enum { ADD, SHORT, NOTHING, BEHIND, BEFORE, INPUT, PRODUCT } what;
} named;

static const named names[] = {{"fake_add", ADD},       {"fake_short", SHORT}, {"fake_nothing", NOTHING}, {"fake_behind", BEHIND},
                              {"fake_before", BEFORE}, {"fake_input", INPUT}, {"fake_product", PRODUCT}};

enum { NAMED = sizeof names / sizeof names[0] };

static int run_named(const named *k, size_t threads, void **params) {
    float *f[3];
    const size_t n = (size_t) * (int *)params[3];
    for (int i = 0; i < 3; i++) f[i] = (float *)(uintptr_t) * (uint64_t *)params[i];
    if (k->what == PRODUCT) { /* m, n, k */
        const size_t cols = (size_t) * (int *)params[4], inner = (size_t) * (int *)params[5];
        for (size_t e = 0; e < n * cols && e < threads; e++) {
            float sum = 0;
            for (size_t l = 0; l < inner; l++) sum += f[0][e / cols * inner + l] * f[1][l * cols + e % cols];
            f[2][e] = sum;
        }
        return 0;
    }
    for (size_t i = 0; i < n && i < threads && k->what != NOTHING; i++)
        if (k->what != SHORT || i != n / 2) f[2][i] = f[0][i] + f[1][i];
    if (k->what == BEHIND) f[2][n] = 1;
    if (k->what == BEFORE) f[2][-2] = f[2][-1] = 1;
    if (k->what == INPUT) f[1][0] += 1;
    return 0;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------------- */

ENTRY(cuModuleLoadDataEx, (void **out, const void *image, unsigned count, int *options, void **values)) {
    ENTER();
    static unsigned loads;
    if (*(const char *)image == '.' && strstr(image, ".entry fake_")) {
        *out = strdup(image);
        live++;
        return 0;
    }
    char why[100] = "no such unit";
    const bool refuses = lies("refuses") || (++loads == 2 && lies("refuses-second"));
    fake_kernel *k = refuses ? NULL : fake_kernel_load(image, why, sizeof why);
    if (k) {
        *out = k;
        live++;
        return 0;
    }
    for (unsigned i = 0; i + 1 < count; i++)
        if (options[i] == 5 && options[i + 1] == 6)
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "ptxas application ptx input, line 1; fatal : %s\nmore\n", why);
    return INVALID_PTX;
}

/* The machine code of this device is the text itself. */
typedef struct fake_link {
    char *text;
} fake_link;

ENTRY(cuLinkCreate_v2, (unsigned count, int *options, void **values, void **state)) {
    ENTER();
    (void)count;
    (void)options;
    (void)values;
    *state = calloc(1, sizeof(fake_link));
    live++;
    return 0;
}

ENTRY(cuLinkAddData_v2, (void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values)) {
    ENTER();
    char why[100];
    (void)name;
    (void)options;
    (void)values;
    if (type != 1 || count || !size || ((char *)data)[size - 1]) return INVALID_VALUE;
    fake_kernel *k = lies("refuses") ? NULL : fake_kernel_load(data, why, sizeof why);
    if (!k) return INVALID_PTX;
    fake_kernel_free(k);
    ((fake_link *)state)->text = strdup(data);
    return 0;
}

ENTRY(cuLinkComplete, (void *state, void **image, size_t *size)) {
    ENTER();
    fake_link *l = state;
    *image = lies("null-image") ? NULL : l->text;
    *size = strlen(l->text);
    return 0;
}

ENTRY(cuLinkDestroy, (void *state)) {
    fake_link *l = state;
    free(l->text);
    free(l);
    live--;
    ENTER();
    return 0;
}

ENTRY(cuModuleGetFunction, (void **function, void *m, const char *name)) {
    ENTER();
    if (*(char *)m == '.') /* the text of kernels by name */
        for (int i = 0; i < NAMED; i++)
            if (strcmp(names[i].name, name) == 0) {
                *function = (void *)(uintptr_t)&names[i];
                return 0;
            }
    *function = lies("null-function") ? NULL : m;
    return strcmp(name, "lastbit_capture") == 0 ? 0 : NOT_FOUND;
}

ENTRY(cuModuleUnload, (void *m)) {
    if (*(char *)m == '.')
        free(m);
    else
        fake_kernel_free(m);
    live--;
    ENTER();
    return 0;
}

ENTRY(cuLaunchKernel, (void *function, unsigned grid, unsigned grid_y, unsigned grid_z, unsigned threads, unsigned threads_y,
                       unsigned threads_z, unsigned shared, void *stream, void **params, void **extra)) {
    ENTER();
    const size_t in_all = (size_t)grid * grid_y * grid_z * threads * threads_y * threads_z;
    snprintf(launched, sizeof launched, "%ux%ux%u of %ux%ux%u, %u", grid, grid_y, grid_z, threads, threads_y, threads_z, shared);
    for (int i = 0; i < NAMED; i++)
        if (function == &names[i]) return run_named(&names[i], in_all, params);
    const fake_kernel *k = function;
    uint64_t p[FAKE_PARAMS];
    int code = 0;
    if (grid_y != 1 || grid_z != 1 || threads_y != 1 || threads_z != 1 || shared || stream || extra) return INVALID_VALUE;
    if (threads != fake_kernel_lanes(k) || !grid) return INVALID_VALUE;
    for (int i = 0; i < FAKE_PARAMS; i++) p[i] = i < 4 ? *(uint64_t *)params[i] : *(unsigned *)params[i];
    unsigned char was = 0;
    if (lies("unwritten")) memcpy(&was, (void *)(uintptr_t)p[3], 1);
    for (unsigned block = 0; block < grid && !code; block++) code = fake_kernel_run(k, block, p, reachable);
    if (lies("wrong-op")) *(unsigned char *)(uintptr_t)p[3] ^= 1; /* a GPU that differs from the models in one word */
    if (++launches % 2 == 0 && lies("flaky")) *(unsigned char *)(uintptr_t)p[3] ^= 1;
    if (lies("unwritten")) memcpy((void *)(uintptr_t)p[3], &was, 1);
    return code;
}
