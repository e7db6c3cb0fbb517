/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A CUDA driver of our own, for the tests: it has the entry points that src/backends/cuda calls, and "runs" the one kernel that capture
 * writes by reading the instruction out of its PTX and computing on the CPU with the model of that unit. It knows by itself where the
 * elements lie, in the words of the PTX ISA (element i of a lane), so that a wrong layout on the other side shows.
 *
 *   LASTBIT_FAKE_CC    compute capability, "9.0"
 *   LASTBIT_FAKE_FAIL  comma-separated: "17" fails the 17th call, "cuInit" each of that name, "cuInit:2" the second
 *   LASTBIT_FAKE_LIE   comma-separated: unnamed, none, null-memory, null-function, null-text, flaky, unwritten, refuses, refuses-second
 *   fake_calls(), fake_live(), fake_reset(): calls so far; contexts, modules and buffers that nobody released; back to zero */
#include "lastbit/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { BLOCK_THREADS = 128, NO_DEVICE = 100, INVALID_VALUE = 1, INVALID_PTX = 218, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

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

ENTRY(cuCtxSynchronize, (void)) {
    ENTER();
    return 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

ENTRY(cuMemAlloc_v2, (unsigned long long *address, size_t bytes)) {
    ENTER();
    *address = 0;
    if (lies("null-memory")) return 0;
    *address = (unsigned long long)(uintptr_t)malloc(bytes);
    live++;
    return *address && bytes ? 0 : INVALID_VALUE;
}

ENTRY(cuMemFree_v2, (unsigned long long address)) {
    free((void *)(uintptr_t)address);
    live--;
    ENTER();
    return 0;
}

ENTRY(cuMemcpyHtoD_v2, (unsigned long long to, const void *from, size_t bytes)) {
    ENTER();
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

ENTRY(cuMemcpyDtoH_v2, (void *to, unsigned long long from, size_t bytes)) {
    ENTER();
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

/* ---- the kernel: which unit it is ------------------------------------------------------------------------------------------------ */

typedef struct module {
    lb_unit unit;
    bool wgmma, quads;
    int lanes, matrices;
} module;

/* "sm_90a/wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16" out of the text. */
static bool unit_of_ptx(const char *ptx, module *m) {
    char target[16], instruction[160], name[200];
    const char *t = strstr(ptx, ".target "), *i = strstr(ptx, " mma.sync"), *w = strstr(ptx, "wgmma.mma_async");
    if (!t || (!i && !w) || !strstr(ptx, ".entry lastbit_capture(")) return false;
    if (sscanf(t, ".target %15s", target) != 1 || sscanf(w ? w : i, " %159s", instruction) != 1) return false;
    snprintf(name, sizeof name, "%s/%s", target, instruction);
    if (lb_unit_find(name, &m->unit, NULL) != LB_OK) return false;
    m->wgmma = w != NULL;
    m->quads = m->unit.k == 4 && m->unit.m == 8 && m->unit.a == LB_F16;
    m->lanes = w ? 128 : 32;
    m->matrices = m->quads ? 4 : 1;
    return true;
}

ENTRY(cuModuleLoadDataEx, (void **out, const void *image, unsigned count, int *options, void **values)) {
    ENTER();
    static unsigned loads;
    const bool refuses = lies("refuses") || (++loads == 2 && lies("refuses-second"));
    module *m = calloc(1, sizeof *m);
    if (m && !refuses && unit_of_ptx(image, m)) {
        *out = m;
        live++;
        return 0;
    }
    free(m);
    for (unsigned i = 0; i + 1 < count; i++)
        if (options[i] == 5 && options[i + 1] == 6)
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "ptxas application ptx input, line 1; fatal : no such unit\nmore\n");
    return INVALID_PTX;
}

ENTRY(cuModuleGetFunction, (void **function, void *m, const char *name)) {
    ENTER();
    *function = lies("null-function") ? NULL : m;
    return strcmp(name, "lastbit_capture") == 0 ? 0 : NOT_FOUND;
}

ENTRY(cuModuleUnload, (void *m)) {
    free(m);
    live--;
    ENTER();
    return 0;
}

/* ---- where element i of a lane lies: the PTX ISA's own words -------------------------------------------------------------------------- */

/* Bits of an element in a register: fp6 and fp4 take a byte, fp4 in the middle of it. */
static int bits_of(const lb_format *f) {
    return f->special != LB_SPECIAL_INT && f->bits < 8 ? 8 : f->bits;
}

static int row_of_a(const module *m, int lane, int i, int per) {
    if (m->quads) return lane % 4 + (lane < 16 ? 0 : 4);
    const int group = lane % 32 / 4 + lane / 32 * 16;
    return m->unit.m == 8 || i / per % 2 == 0 ? group : group + 8;
}

static int k_of_a(const module *m, int lane, int i, int per) {
    if (m->quads) return i;
    const int half = m->unit.m == 8 ? i / per : i / (2 * per);
    return lane % 4 * per + i % per + half * 4 * per;
}

static int k_of_b(const module *m, int lane, int i, int per) {
    return m->quads ? i : lane % 4 * per + i % per + i / per * 4 * per;
}

static int row_of_c(const module *m, int lane, int i) {
    if (m->quads) return m->unit.c == LB_F16 ? lane % 4 + (lane < 16 ? 0 : 4) : lane % 2 + (i & 2) + (lane < 16 ? 0 : 4);
    const int group = lane % 32 / 4 + lane / 32 * 16;
    return m->unit.m == 8 || i % 4 < 2 ? group : group + 8;
}

static int col_of_c(const module *m, int lane, int i) {
    if (m->quads) return m->unit.c == LB_F16 ? i : (i & 4) + (lane & 2) + i % 2;
    return (m->unit.m == 8 ? 0 : i / 4 * 8) + lane % 4 * 2 + i % 2;
}

/* ---- a block ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct block {
    uint64_t *a, *b, *c; /* [matrices][m][k], [matrices][k][n], [matrices][m][n] */
} block;

/* Element i of a lane: register i / per, and its place in it. */
static uint64_t *element_word(char *base, int lanes, int lane, int i, int per, int word_bytes, int *shift, int bits) {
    *shift = i % per * bits;
    return (uint64_t *)(void *)(base + ((size_t)(i / per) * (size_t)lanes + (size_t)lane) * (size_t)word_bytes);
}

static uint64_t read_element(char *base, int lanes, int lane, int i, const lb_format *f) {
    const int bits = bits_of(f), word = bits == 64 ? 8 : 4, per = word * 8 / bits;
    int shift;
    const void *at = element_word(base, lanes, lane, i, per, word, &shift, bits);
    const uint64_t code = lb_load_code(at, word) >> shift >> (f->bits == 4 && bits == 8 ? 2 : 0);
    return code & ~UINT64_C(0) >> (64 - f->bits);
}

static void read_a(const module *m, char *base, uint64_t *a) {
    const lb_format *f = lb_format_row(m->unit.a);
    const int bits = bits_of(f), per = bits == 64 ? 1 : 32 / bits, all = m->unit.m * m->unit.k * m->matrices / m->lanes;
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < all; i++) {
            const int matrix = m->quads ? lane % 16 / 4 : 0, row = row_of_a(m, lane, i, per), k = k_of_a(m, lane, i, per);
            a[(matrix * m->unit.m + row) * m->unit.k + k] = read_element(base, m->lanes, lane, i, f);
        }
}

/* In shared memory: 8 columns by 16 bytes of k are a core matrix, 16 bytes a row of it; the second half of k is 128 bytes on. */
static void read_b_of_wgmma(const module *m, const char *base, uint64_t *b) {
    const lb_format *f = lb_format_row(m->unit.b);
    for (int n = 0; n < m->unit.n; n++)
        for (int k = 0; k < m->unit.k; k++) {
            const int bit = k * f->bits, byte = bit / 8, at = n / 8 * 256 + byte / 16 * 128 + n % 8 * 16 + byte % 16;
            uint64_t code = 0;
            memcpy(&code, base + at, f->bits < 8 ? 1 : (size_t)f->bytes);
            b[k * m->unit.n + n] = code >> bit % 8 & ~UINT64_C(0) >> (64 - f->bits);
        }
}

static void read_b(const module *m, char *base, uint64_t *b) {
    const lb_format *f = lb_format_row(m->unit.b);
    const int bits = bits_of(f), per = bits == 64 ? 1 : 32 / bits, all = m->unit.k * m->unit.n * m->matrices / m->lanes;
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < all; i++) {
            const int matrix = m->quads ? lane % 16 / 4 : 0, col = m->quads ? row_of_a(m, lane, i, per) : lane / 4;
            b[(matrix * m->unit.k + k_of_b(m, lane, i, per)) * m->unit.n + col] = read_element(base, m->lanes, lane, i, f);
        }
}

static void move_c(const module *m, char *base, uint64_t *c, bool write) {
    const lb_format *f = lb_format_row(m->unit.c);
    const int bits = bits_of(f), word = bits == 64 ? 8 : 4, per = word * 8 / bits, all = m->unit.m * m->unit.n * m->matrices / m->lanes;
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < all; i++) {
            const int matrix = m->quads ? lane % 16 / 4 : 0;
            uint64_t *at = &c[(matrix * m->unit.m + row_of_c(m, lane, i)) * m->unit.n + col_of_c(m, lane, i)];
            int shift;
            void *to = element_word(base, m->lanes, lane, i, per, word, &shift, bits);
            if (!write)
                *at = read_element(base, m->lanes, lane, i, f);
            else
                lb_store_code(to, word, (lb_load_code(to, word) & ~((~UINT64_C(0) >> (64 - bits)) << shift)) | *at << shift);
        }
}

/* Codes as the model takes them: of the format's own storage. */
static lb_mat packed(const lb_format *f, void *room, const uint64_t *codes, size_t rows, size_t cols) {
    for (size_t i = 0; i < rows * cols; i++) lb_store_code((char *)room + i * (size_t)f->bytes, f->bytes, codes[i]);
    return lb_mat_of(f, room, rows, cols);
}

static void multiply(const module *m, const block *x, char *room, size_t room_bytes) {
    const lb_unit *u = &m->unit;
    for (int i = 0; i < m->matrices; i++) {
        uint64_t *c = x->c + (size_t)i * u->m * u->n;
        const lb_mat a = packed(lb_format_row(u->a), room, x->a + (size_t)i * u->m * u->k, u->m, u->k);
        const lb_mat b = packed(lb_format_row(u->b), room + room_bytes, x->b + (size_t)i * u->k * u->n, u->k, u->n);
        const lb_mat cc = packed(lb_format_row(u->c), room + 2 * room_bytes, c, u->m, u->n);
        lb_mat d = lb_mat_of(lb_format_row(u->d), room + 3 * room_bytes, u->m, u->n);
        if (lb_unit_gemm(u, &a, &b, &cc, &d, NULL) != LB_OK) continue; /* an open row has no model: c stays */
        for (size_t r = 0; r < u->m; r++)
            for (size_t n = 0; n < u->n; n++) c[r * u->n + n] = lb_mat_code(&d, r, n);
    }
}

static size_t operand_bytes(const module *m, const lb_format *f, int elements) {
    const int bits = bits_of(f), all = elements * m->matrices;
    return (size_t)(all * bits / 8);
}

static void run_block(const module *m, char *pa, char *pb, char *pc, char *pd, unsigned steps, const block *x, char *room,
                      size_t room_bytes) {
    const lb_unit *u = &m->unit;
    const size_t a_bytes = operand_bytes(m, lb_format_row(u->a), u->m * u->k), b_bytes = operand_bytes(m, lb_format_row(u->b), u->k * u->n);
    const size_t b_step = m->wgmma ? (b_bytes + 511) / 512 * 512 : b_bytes;
    move_c(m, pc, x->c, false);
    for (unsigned step = 0; step < steps; step++) {
        read_a(m, pa + step * a_bytes, x->a);
        if (m->wgmma)
            read_b_of_wgmma(m, pb + step * b_step, x->b);
        else
            read_b(m, pb + step * b_step, x->b);
        multiply(m, x, room, room_bytes);
    }
    if (!lies("unwritten")) move_c(m, pd, x->c, true);
}

ENTRY(cuLaunchKernel, (void *function, unsigned grid, unsigned grid_y, unsigned grid_z, unsigned threads, unsigned threads_y,
                       unsigned threads_z, unsigned shared, void *stream, void **params, void **extra)) {
    ENTER();
    const module *m = function;
    const lb_unit *u = &m->unit;
    if (grid_y != 1 || grid_z != 1 || threads_y != 1 || threads_z != 1 || shared || stream || extra) return INVALID_VALUE;
    if (threads != (unsigned)m->lanes || !grid) return INVALID_VALUE;
    char *p[4];
    for (int i = 0; i < 4; i++) p[i] = (char *)(uintptr_t) * (uint64_t *)params[i];
    const unsigned steps = *(unsigned *)params[4];
    const size_t most = (size_t)(u->m > u->k ? u->m : u->k) * (u->n > u->k ? u->n : u->k) * 4, room_bytes = most * 8;
    const block x = {calloc(most, 8), calloc(most, 8), calloc(most, 8)};
    char *room = calloc(4, room_bytes);
    if (!x.a || !x.b || !x.c || !room) return INVALID_VALUE;
    const size_t a = operand_bytes(m, lb_format_row(u->a), u->m * u->k) * steps, c = operand_bytes(m, lb_format_row(u->c), u->m * u->n);
    const size_t b_bytes = operand_bytes(m, lb_format_row(u->b), u->k * u->n),
                 b = (m->wgmma ? (b_bytes + 511) / 512 * 512 : b_bytes) * steps;
    for (unsigned i = 0; i < grid; i++) run_block(m, p[0] + i * a, p[1] + i * b, p[2] + i * c, p[3] + i * c, steps, &x, room, room_bytes);
    if (++launches % 2 == 0 && lies("flaky")) p[3][0] ^= 1;
    free(x.a);
    free(x.b);
    free(x.c);
    free(room);
    return 0;
}
