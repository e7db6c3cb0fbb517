/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One operation a kernel: a warp a block, a lane a row. Each word has eight bytes in memory, so that one kernel's text serves every width. */
#include "run/capture_ops.h"

#include "backends/cuda/driver.h"
#include "base/text.h"
#include "base/try.h"
#include "run/describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LANES = LB_WARP_LANES, SLOT = 8 };

/* ---- the text ---------------------------------------------------------------------------------------------------------------- */

/* The register that holds a word, and how it is loaded and stored. Words of 8 bits live in registers of 16, but plain ones, which cvt packs. */
static const struct {
    lb_word word;
    const char *reg, *memory;
} registers[] = {
    {LB_WORD_F64, "f64", "f64"},   {LB_WORD_F32, "f32", "f32"},    {LB_WORD_F16, "b16", "b16"}, {LB_WORD_BF16, "b16", "b16"},
    {LB_WORD_F16X2, "b32", "b32"}, {LB_WORD_BF16X2, "b32", "b32"}, {LB_WORD_S8, "s16", "s8"},   {LB_WORD_U8, "u16", "u8"},
    {LB_WORD_B8, "b8", "b8"},      {LB_WORD_S16, "s16", "s16"},    {LB_WORD_U16, "u16", "u16"}, {LB_WORD_B16, "b16", "b16"},
    {LB_WORD_S32, "s32", "s32"},   {LB_WORD_U32, "u32", "u32"},    {LB_WORD_B32, "b32", "b32"}, {LB_WORD_S64, "s64", "s64"},
    {LB_WORD_U64, "u64", "u64"},   {LB_WORD_B64, "b64", "b64"},
};

static size_t register_of(lb_word w) {
    size_t i = 0;
    while (registers[i].word != w) i++;
    return i;
}

/* The least PTX version that has everything which is asked of a target. */
static const char *version_of(const char *target) {
    return strcmp(target, "sm_80") == 0 || strcmp(target, "sm_86") == 0 ? "8.1" : strcmp(target, "sm_100a") == 0 ? "8.6" : "8.3";
}

lb_status lb_operation_ptx(const lb_scalar_op *op, char **out, lb_error *err) {
    lb_text t = {0};
    lb_text_add(&t, ".version %s\n.target %s\n.address_size 64\n// op: %s\n", version_of(op->target), op->target, op->name);
    lb_text_add(&t, ".visible .entry lastbit_capture(.param .u64 in, .param .u64 unused_b, .param .u64 unused_c, .param .u64 out, "
                    ".param .u32 rows)\n.reqntid 32, 1, 1\n{\n");
    lb_text_add(&t, "    .reg .u32 %%lane, %%block, %%row, %%n;\n    .reg .u64 %%offset, %%step, %%at;\n    .reg .pred p0, p1;\n");
    for (int i = 0; i < op->ins; i++) lb_text_add(&t, "    .reg .%s %%i%d;\n", registers[register_of(op->in[i])].reg, i);
    for (int o = 0; o < op->outs; o++) lb_text_add(&t, "    .reg .%s %%o%d;\n", registers[register_of(op->out[o])].reg, o);
    lb_text_add(&t, "    mov.u32 %%lane, %%tid.x;\n    mov.u32 %%block, %%ctaid.x;\n    shl.b32 %%row, %%block, 5;\n"
                    "    add.u32 %%row, %%row, %%lane;\n    mul.wide.u32 %%offset, %%row, 8;\n"
                    "    ld.param.u32 %%n, [rows];\n    mul.wide.u32 %%step, %%n, 8;\n"
                    "    ld.param.u64 %%at, [in];\n    cvta.to.global.u64 %%at, %%at;\n    add.u64 %%at, %%at, %%offset;\n");
    for (int i = 0; i < op->ins; i++)
        lb_text_add(&t, "    ld.global.%s %%i%d, [%%at];\n    add.u64 %%at, %%at, %%step;\n", registers[register_of(op->in[i])].memory, i);
    lb_text_add(&t, "    // begin\n");
    for (const char *p = op->ptx; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, ";") + 1;
        lb_text_add(&t, "    %.*s\n", (int)n, p);
        p += n;
    }
    lb_text_add(&t, "    // end\n    ld.param.u64 %%at, [out];\n    cvta.to.global.u64 %%at, %%at;\n    add.u64 %%at, %%at, %%offset;\n");
    for (int o = 0; o < op->outs; o++)
        lb_text_add(&t, "    st.global.%s [%%at], %%o%d;\n    add.u64 %%at, %%at, %%step;\n", registers[register_of(op->out[o])].memory, o);
    lb_text_add(&t, "    ret;\n}\n");
    return lb_text_take(&t, out, err);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------------- */

typedef struct buffers {
    lb_cuda *cu;
    lb_cuda_kernel kernel;
    uint64_t in, out;
    uint64_t *columns, *once, *twice; /* [words][rows] */
    size_t in_bytes, out_bytes;
} buffers;

/* Over an output of bytes `fill`; what is above a word's bits keeps them. */
static lb_status launch(buffers *b, const lb_op_item *x, int fill, uint64_t *out, lb_error *err) {
    unsigned rows = (unsigned)x->rows;
    void *params[] = {&b->in, &b->in, &b->in, &b->out, &rows};
    memset(out, fill, b->out_bytes);
    LB_TRY(lb_cuda_write(b->cu, b->out, out, b->out_bytes, err));
    LB_TRY(lb_cuda_launch(b->cu, &b->kernel, rows / LANES, LANES, params, err));
    LB_TRY(lb_cuda_read(b->cu, out, b->out, b->out_bytes, err));
    for (int o = 0; o < x->op->outs; o++) {
        const int bits = lb_word_bits(x->op->out[o]);
        for (size_t r = 0; r < x->rows && bits < 64; r++) out[(size_t)o * x->rows + r] &= (UINT64_C(1) << bits) - 1;
    }
    return LB_OK;
}

static lb_status run(buffers *b, lb_op_item *x, lb_error *err) {
    const size_t ins = (size_t)x->op->ins, outs = (size_t)x->op->outs;
    b->in_bytes = ins * x->rows * SLOT;
    b->out_bytes = outs * x->rows * SLOT;
    b->columns = malloc(b->in_bytes);
    b->once = malloc(b->out_bytes);
    b->twice = malloc(b->out_bytes);
    x->out = malloc(b->out_bytes);
    if (!b->columns || !b->once || !b->twice || !x->out) return lb_fail(err, LB_E_MEMORY, x->name, "no memory for %zu rows", x->rows);
    for (size_t r = 0; r < x->rows; r++)
        for (size_t i = 0; i < ins; i++) b->columns[i * x->rows + r] = x->in[r * ins + i];
    LB_TRY(lb_cuda_alloc(b->cu, b->in_bytes, &b->in, err));
    LB_TRY(lb_cuda_alloc(b->cu, b->out_bytes, &b->out, err));
    LB_TRY(lb_cuda_write(b->cu, b->in, b->columns, b->in_bytes, err));
    LB_TRY(launch(b, x, 0x00, b->once, err));
    LB_TRY(launch(b, x, 0xff, b->twice, err));
    if (memcmp(b->once, b->twice, b->out_bytes) != 0)
        return lb_fail(err, LB_E_DEVICE, x->name, "two runs of the same inputs differ: outputs were left unwritten, or are not stable");
    for (size_t r = 0; r < x->rows; r++)
        for (size_t o = 0; o < outs; o++) x->out[r * outs + o] = b->once[o * x->rows + r];
    return LB_OK;
}

lb_status lb_capture_op(lb_capture *c, lb_op_item *x, lb_error *err) {
    buffers b = {.cu = lb_capture_cuda(c)};
    lb_error why = {0};
    if (x->rows % LANES) return lb_fail(err, LB_E_ARG, x->name, "%zu rows; a GPU takes them by 32", x->rows);
    lb_status s = lb_cuda_assemble(b.cu, x->ptx, &x->cubin, &x->cubin_bytes, &why);
    if (s == LB_OK) s = lb_cuda_compile(b.cu, x->cubin, "lastbit_capture", &b.kernel, &why);
    if (s != LB_OK) return lb_fail(err, s, x->name, "%s: %s", why.place, why.message);
    s = run(&b, x, err);
    lb_cuda_free(b.cu, b.in);
    lb_cuda_free(b.cu, b.out);
    lb_cuda_kernel_close(b.cu, &b.kernel);
    free(b.columns);
    free(b.once);
    free(b.twice);
    return s;
}

/* ---- a recording ----------------------------------------------------------------------------------------------------------------------- */

static lb_status write_recording(const lb_capture *c, const lb_op_set *s, const char *path, const char *seed, lb_error *err) {
    const lb_cuda_device *d = lb_cuda_describe(lb_capture_cuda(c));
    const time_t now = time(NULL);
    struct tm utc;
    char date[32], arch[16];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(arch, sizeof arch, "sm_%d", d->major * 10 + d->minor);
    const char *command = lb_capture_command(c);
    const char *const metadata[] = {"lastbit.recording",
                                    "op/1",
                                    "device",
                                    d->name,
                                    "compute_capability",
                                    arch,
                                    "driver",
                                    d->driver,
                                    "date",
                                    date,
                                    "seed",
                                    seed,
                                    "origin",
                                    "lastbit capture " LB_VERSION,
                                    "command",
                                    command};
    return lb_op_set_write(s, path, metadata, *command ? 8 : 7, err);
}

/* What the driver refuses is taken out of the set. */
static lb_status record(lb_capture *c, lb_op_set *s, size_t *refused, lb_error *err) {
    lb_error first = {0};
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        lb_error why = {0};
        const lb_status status = lb_capture_op(c, &s->items[i], &why);
        if (status == LB_OK) {
            const lb_op_item x = s->items[kept];
            s->items[kept++] = s->items[i];
            if (kept - 1 != i) s->items[i] = x;
        } else if (status == LB_E_UNAVAILABLE) {
            if (!(*refused)++) first = why;
        } else {
            if (err) *err = why;
            return status;
        }
    }
    for (size_t i = kept; i < s->count; i++) s->items[i].op = NULL; /* not written */
    return kept ? LB_OK : lb_fail(err, LB_E_UNAVAILABLE, first.place, "%s", first.message);
}

static uint64_t words_of(const lb_op_set *s) {
    uint64_t words = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].op && s->items[i].out) words += s->items[i].rows * (size_t)s->items[i].op->outs;
    return words;
}

/* The text is ours, whatever the request has: what is recorded under a name is that operation. */
static lb_status prepare_request(lb_op_set *s, const char *path, lb_error *err) {
    for (size_t i = 0; i < s->count; i++) {
        lb_op_item *x = &s->items[i];
        if (!x->op) return lb_fail(err, LB_E_FILE, path, "%s: no such operation is known here", x->name);
        if (x->out) return lb_fail(err, LB_E_FILE, path, "is no request: %s has outputs", x->name);
        free(x->ptx);
        free(x->cubin);
        x->ptx = x->cubin = NULL;
        LB_TRY(lb_operation_ptx(x->op, &x->ptx, err));
    }
    return LB_OK;
}

lb_status lb_capture_op_request(lb_capture *c, const char *path, lb_capture_result *out, lb_error *err) {
    size_t refused = 0;
    lb_op_set s;
    lb_status status = lb_op_set_load(&s, path, false, err);
    if (status == LB_OK) status = prepare_request(&s, path, err);
    if (status == LB_OK && mkdir(lb_capture_folder(c), 0777) != 0 && errno != EEXIST)
        status = lb_fail(err, LB_E_FILE, lb_capture_folder(c), "cannot be made: %s", strerror(errno));
    if (status == LB_OK) status = record(c, &s, &refused, err);
    if (status == LB_OK) status = write_recording(c, &s, out->path, "of the request", err);
    if (status == LB_OK) out->outputs = words_of(&s);
    lb_op_set_close(&s);
    return status;
}

lb_status lb_capture_operations(lb_capture *c, const char *part, uint64_t seed, lb_capture_result *out, size_t *refused, lb_error *err) {
    const double start = lb_seconds();
    const char *folder = lb_capture_folder(c);
    struct stat st;
    char number[32];
    lb_op_set s;
    *out = (lb_capture_result){0};
    *refused = 0;
    if (snprintf(out->path, sizeof out->path, "%s/operations.safetensors", folder) >= (int)sizeof out->path)
        return lb_fail(err, LB_E_FILE, folder, "path too long");
    out->there = lb_capture_resumes(c) && stat(out->path, &st) == 0 && S_ISREG(st.st_mode);
    if (out->there) return LB_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return lb_fail(err, LB_E_FILE, folder, "cannot be made: %s", strerror(errno));
    lb_status status = lb_op_set_standard(&s, part, seed, err);
    if (status == LB_OK) status = record(c, &s, refused, err);
    snprintf(number, sizeof number, "%llu", (unsigned long long)(seed ? seed : 1));
    if (status == LB_OK) status = write_recording(c, &s, out->path, number, err);
    if (status == LB_OK) out->outputs = words_of(&s);
    lb_op_set_close(&s);
    out->seconds = lb_seconds() - start;
    return status;
}
