/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted operations in OpenCL C, GLSL and HLSL on the devices of this machine: every word is the model's. A kernel holds many operations,
 * each with its own words of a row; a row of words is an f32 matrix's to the device, whatever it is to the operations. */
#include "emit_ops_help.h"

#include "lastbit/backends.h"

enum { ROWS = 2048, MOST_IN = 512, MOST_OUT = 256, EACH = 48 }; /* operations a kernel */

static uint32_t a[ROWS * MOST_IN], b[MOST_IN * MOST_OUT], c[ROWS * MOST_OUT], d[ROWS * MOST_OUT], want[ROWS * MOST_OUT];
static bool ran;

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* How each language says a kernel around the calls. */
typedef struct dialect {
    lb_emit_language language;
    const char *name, *options, *head, *entry;
    const char *memory; /* the last argument of a lane's function, where it takes one */
} dialect;

#define CL_ENTRY                                                                                                                           \
    "__kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"          \
    "    __local uint words[64];\n    const uint i = get_global_id(0);\n"

static const dialect dialects[] = {
    {LB_EMIT_OPENCL, "opencl", "", "", CL_ENTRY, ", words"},
    {LB_EMIT_OPENCL, "opencl", "-cl-fast-relaxed-math", "", CL_ENTRY, ", words"},
    {LB_EMIT_GLSL, "glsl", "",
     "#version 450\nlayout(local_size_x = 32) in;\nlayout(set = 0, binding = 0) readonly buffer A { uint at_a[]; };\n"
     "layout(set = 0, binding = 1) readonly buffer B { uint at_b[]; };\nlayout(set = 0, binding = 2) readonly buffer C { uint at_c[]; };\n"
     "layout(set = 0, binding = 3) buffer D { uint at_d[]; };\n",
     "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n", ""},
    {LB_EMIT_HLSL, "hlsl", "",
     "[[vk::binding(0, 0)]] RWStructuredBuffer<uint> at_a;\n[[vk::binding(1, 0)]] RWStructuredBuffer<uint> at_b;\n"
     "[[vk::binding(2, 0)]] RWStructuredBuffer<uint> at_c;\n[[vk::binding(3, 0)]] RWStructuredBuffer<uint> at_d;\n",
     "[numthreads(32, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) {\n    const uint i = id.x;\n", ""},
};

/* Operations first … last - 1 of the list, and where a row's words of each lie. */
typedef struct batch {
    size_t first, last;
    int ins, outs; /* words of a row */
} batch;

static void write_call(FILE *f, const dialect *l, const batch *x, const lb_scalar_op *op, int in, int out) {
    const int words = ops_words_out(op);
    if (words > 1) fprintf(f, "    uint d%d[%d];\n", out, words);
    fprintf(f, "    ");
    if (words == 1) fprintf(f, "at_d[i * %du + %du] = ", x->outs, out);
    fprintf(f, "%s(%s", op->name, op->warp ? "i % 32u, " : "");
    for (int w = 0; w < ops_words_in(op); w++) fprintf(f, "%sat_a[i * %du + %du]", w ? ", " : "", x->ins, in + w);
    if (words > 1) fprintf(f, ", d%d", out);
    fprintf(f, "%s);\n", op->warp ? l->memory : "");
    for (int w = 0; words > 1 && w < words; w++) fprintf(f, "    at_d[i * %du + %du] = d%d[%d];\n", x->outs, out + w, out, w);
}

static void write_kernel(const dialect *l, const batch *x) {
    char path[256], json[512];
    emit_path(path, sizeof path, "k.src");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(l->head, f);
    for (size_t i = x->first; i < x->last; i++) {
        char *text = ops_text(ops[i], l->language);
        fputs(text, f);
        free(text);
    }
    fputs(l->entry, f);
    for (size_t i = x->first, in = 0, out = 0; i < x->last; in += (size_t)ops_words_in(ops[i]), out += (size_t)ops_words_out(ops[i]), i++)
        write_call(f, l, x, ops[i], (int)in, (int)out);
    fputs("}\n", f);
    assert_int_equal(fclose(f), 0);
    snprintf(json, sizeof json,
             "{\"language\": \"%s\", \"source\": \"k.src\", \"entry\": \"%s\", \"options\": \"%s\", \"in\": \"f32\", \"acc\": \"f32\", "
             "\"out\": \"f32\", \"args\": [{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"c\"}, {\"buffer\": \"d\"}], "
             "\"global\": [\"m\"]%s}\n",
             l->name, l->language == LB_EMIT_OPENCL ? "run" : "main", l->options, l->language == LB_EMIT_OPENCL ? ", \"local\": [32]" : "");
    emit_write("k.json", json, strlen(json));
}

static void put(uint32_t *to, lb_word w, uint64_t word) {
    to[0] = (uint32_t)word;
    if (ops_words(w) == 2) to[1] = (uint32_t)(word >> 32);
}

/* Every second 32 rows, recorded ones and hard ones. */
static void draw(const batch *x) {
    for (size_t i = x->first, in = 0, out = 0; i < x->last; i++) {
        const lb_scalar_op *op = ops[i];
        for (size_t first = 0; first < ROWS; first += LB_WARP_LANES) {
            uint64_t ins[LB_WARP_LANES * LB_SCALAR_MAX_IN], outs[LB_WARP_LANES * LB_SCALAR_MAX_OUT];
            for (size_t r = 0; r < LB_WARP_LANES; r++) ops_row(op, 2 * first + r, ROWS, ins + r * (size_t)op->ins);
            assert_int_equal(lb_scalar_eval_rows(op, LB_WARP_LANES, ins, outs, NULL), LB_OK);
            for (size_t r = 0; r < LB_WARP_LANES; r++) {
                uint32_t *at = a + (first + r) * (size_t)x->ins + in, *to = want + (first + r) * (size_t)x->outs + out;
                for (int k = 0; k < op->ins; at += ops_words(op->in[k]), k++)
                    put(at, op->in[k], ops_dirty(op->in[k], k, first + r, ins[r * (size_t)op->ins + (size_t)k]));
                for (int k = 0; k < op->outs; to += ops_words(op->out[k]), k++) put(to, op->out[k], outs[r * (size_t)op->outs + (size_t)k]);
            }
        }
        in += (size_t)ops_words_in(op);
        out += (size_t)ops_words_out(op);
    }
}

/* The operation whose word number `word` of a row is. */
static const char *owner(const batch *x, size_t word) {
    size_t i = x->first, below = (size_t)ops_words_out(ops[i]);
    while (word >= below) below += (size_t)ops_words_out(ops[++i]);
    return ops[i]->name;
}

static void run(const dialect *l, const batch *x) {
    const lb_format *f32 = lb_format_row(LB_F32);
    const size_t m = ROWS, k = (size_t)x->ins, n = (size_t)x->outs;
    const lb_case work = {
        .op = "matmul", .a = lb_mat_of(f32, a, m, k), .b = lb_mat_of(f32, b, k, n), .c = lb_mat_of(f32, c, m, n), .out = f32};
    char path[256];
    lb_device *device = NULL;
    lb_error err = {0};
    write_kernel(l, x);
    snprintf(path, sizeof path, "kernel:%s/k.json", emit_folder);
    lb_status s = lb_device_open(&device, path, &err);
    /* a build without this language, or a machine without its compiler: nothing else is a reason to skip */
    bool absent = s == LB_E_UNAVAILABLE || (s != LB_OK && strstr(err.message, "is not run here"));
    memset(d, 0xa5, sizeof d);
    if (s == LB_OK) {
        s = lb_device_run(device, &work, d, 120, &err);
        absent = s == LB_E_UNAVAILABLE;
    }
    lb_device_close(device);
    if (absent) print_message("[   SKIP   ] %s: %s\n", l->name, err.message);
    if (absent) return;
    if (s != LB_OK) fail_msg("%s: %s: %s", l->name, err.place, err.message);
    for (size_t i = 0; i < m * n; i++)
        if (d[i] != want[i])
            fail_msg("%s on %s %s: row %zu, got %08x, want %08x", owner(x, i % n), l->name, l->options, i / n, d[i], want[i]);
    ran = true;
    print_message("%s %s: %zu words of %zu operations, all the model's\n", l->name, l->options, m * n, x->last - x->first);
}

static void operations_are_exact(void **state) {
    (void)state;
    if (emit_full())
        ops_take_all();
    else
        ops_take_spread();
    for (batch x = {0}; x.first < op_count; x.first = x.last) {
        x.ins = x.outs = 0;
        for (x.last = x.first; x.last < op_count && x.last < x.first + EACH; x.last++) {
            x.ins += ops_words_in(ops[x.last]);
            x.outs += ops_words_out(ops[x.last]);
        }
        assert_true(x.ins <= MOST_IN && x.outs <= MOST_OUT);
        draw(&x);
        for (size_t l = 0; l < sizeof dialects / sizeof dialects[0]; l++) run(&dialects[l], &x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations_are_exact)};
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    return failed ? failed : ran ? 0 : 77;
}
