/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted OpenCL C, GLSL and HLSL on the devices of this machine: every word is the model's. Codes travel as words, so each operand is an
 * f32 matrix to the device, whatever it is to the unit. */
#include "emit_help.h"

#include "lastbit/backends.h"
#include "lastbit/fragments.h"

enum { ROWS = 1000, COLUMNS = 100, WARPS = 48 };

static uint32_t a[ROWS * 128], b[128 * COLUMNS], c[ROWS * COLUMNS], d[ROWS * COLUMNS], want[ROWS * COLUMNS];
static bool ran;

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* How each language says a kernel of words around an emitted function. $f: the function; $k $n: sizes. */
typedef struct dialect {
    lb_emit_language language;
    const char *name, *options, *head; /* before the emitted text */
    const char *element;               /* behind it: d[i] from row i / n of a and column i % n of b */
    const char *group;                 /* behind it: one instruction a group of 32 */
    const char *local;                 /* "local" of the JSON, where a shader does not say it */
    const char *size;                  /* a kernel of the size of a sub-group, 0 where there are none */
    const char *lane;                  /* a lane's number in its sub-group */
} dialect;

#define SHADER_HEAD                                                                                                                        \
    "#version 450\nlayout(local_size_x = 32) in;\nlayout(set = 0, binding = 0) readonly buffer A { uint at_a[]; };\n"                      \
    "layout(set = 0, binding = 1) readonly buffer B { uint at_b[]; };\nlayout(set = 0, binding = 2) readonly buffer C { uint at_c[]; };\n" \
    "layout(set = 0, binding = 3) buffer D { uint at_d[]; };\n"
#define HLSL_HEAD                                                                                                                          \
    "[[vk::binding(0, 0)]] RWStructuredBuffer<uint> at_a;\n[[vk::binding(1, 0)]] RWStructuredBuffer<uint> at_b;\n"                         \
    "[[vk::binding(2, 0)]] RWStructuredBuffer<uint> at_c;\n[[vk::binding(3, 0)]] RWStructuredBuffer<uint> at_d;\n"
#define ELEMENT                                                                                                                            \
    "    uint x[$k], y[$k];\n    for (uint k = 0u; k < $ku; k++) {\n        x[k] = at_a[i / $nu * $ku + k];\n"                             \
    "        y[k] = at_b[k * $nu + i % $nu];\n    }\n    at_d[i] = $f_dot(x, y, at_c[i]);\n}\n"
#define GROUP                                                                                                                              \
    "    uint a[$a], b[$b], c[$c], d[$d];\n    for (uint k = 0u; k < $au; k++) a[k] = at_a[i * ($au + $bu) + k];\n"                        \
    "    for (uint k = 0u; k < $bu; k++) b[k] = at_a[i * ($au + $bu) + $au + k];\n"                                                        \
    "    for (uint k = 0u; k < $cu; k++) c[k] = at_c[i * $cu + k];\n"
/* Sub-groups of 32 where a device lets a kernel choose. */
#define OPENCL_HEAD                                                                                                                        \
    "#if defined(cl_intel_required_subgroup_size)\n#define WIDE __attribute__((intel_reqd_sub_group_size(32)))\n#else\n#define WIDE\n"     \
    "#endif\n"
#define OPENCL_SIZE                                                                                                                        \
    "#if defined(cl_khr_subgroup_shuffle) || defined(cl_intel_subgroups)\n#define SIZE get_sub_group_size()\n#else\n#define SIZE 0u\n"     \
    "#endif\nWIDE __kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint "       \
    "*at_d) {\n"                                                                                                                           \
    "    at_d[get_global_id(0)] = SIZE;\n}\n"
#define GROUP_END "    for (uint k = 0u; k < $du; k++) at_d[i * $du + k] = d[k];\n}\n"

static const dialect dialects[] = {
    {LB_EMIT_OPENCL, "opencl", "", OPENCL_HEAD,
     "WIDE __kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"
     "    const uint i = get_global_id(0);\n" ELEMENT,
     "WIDE __kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"
     "    __local uint words[$w];\n    const uint i = get_global_id(0);\n" GROUP "    $f(i % 32u, a, b, c, d, words);\n" GROUP_END,
     ", \"local\": [32]", OPENCL_SIZE, "get_sub_group_local_id()"},
    {LB_EMIT_OPENCL, "opencl", "-cl-fast-relaxed-math", OPENCL_HEAD,
     "WIDE __kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"
     "    const uint i = get_global_id(0);\n" ELEMENT,
     "WIDE __kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"
     "    __local uint words[$w];\n    const uint i = get_global_id(0);\n" GROUP "    $f(i % 32u, a, b, c, d, words);\n" GROUP_END,
     ", \"local\": [32]", OPENCL_SIZE, "get_sub_group_local_id()"},
    {LB_EMIT_GLSL, "glsl", "", SHADER_HEAD, "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n" ELEMENT,
     "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n" GROUP "    $f(i % 32u, a, b, c, d);\n" GROUP_END, "",
     "#extension GL_KHR_shader_subgroup_basic : require\nvoid main() { at_d[gl_GlobalInvocationID.x] = gl_SubgroupSize; }\n",
     "gl_SubgroupInvocationID"},
    {LB_EMIT_HLSL, "hlsl", "", HLSL_HEAD,
     "[numthreads(32, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) {\n    const uint i = id.x;\n" ELEMENT,
     "[numthreads(32, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) {\n    const uint i = id.x;\n" GROUP
     "    $f(i % 32u, a, b, c, d);\n" GROUP_END,
     "", "[numthreads(32, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) { at_d[id.x] = WaveGetLaneCount(); }\n", "WaveGetLaneIndex()"},
};

/* One of the templates with its names filled in. */
static void fill(FILE *f, const char *text, const char *function, const int sizes[26]) {
    for (; *text; text++) {
        if (text[0] != '$')
            fputc(text[0], f);
        else if (*++text == 'f')
            fputs(function, f);
        else
            fprintf(f, "%d", sizes[*text - 'a']);
    }
}

/* Open k.src; the device, or NULL with the reason printed where this machine has none. */
static lb_device *open_source(const dialect *l, const char *global, const char *local) {
    char path[256], json[512];
    const bool opencl = l->language == LB_EMIT_OPENCL;
    snprintf(
        json, sizeof json,
        "{\"language\": \"%s\", \"source\": \"k.src\", \"entry\": \"%s\", \"options\": \"%s\", \"in\": \"f32\", \"acc\": \"f32\", "
        "\"out\": \"f32\", \"args\": [{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"c\"}, {\"buffer\": \"d\"}], \"global\": "
        "[%s]%s}\n",
        l->name, opencl ? "run" : "main", l->options, global, local);
    emit_write("k.json", json, strlen(json));
    lb_device *device = NULL;
    lb_error err = {0};
    snprintf(path, sizeof path, "kernel:%s/k.json", emit_folder);
    const lb_status s = lb_device_open(&device, path, &err);
    if (s == LB_OK) return device;
    /* a build without this language, or a machine without its compiler: nothing else is a reason to skip */
    const bool absent = s == LB_E_UNAVAILABLE || strstr(err.message, "is not run here");
    if (!absent) fail_msg("%s: %s: %s", l->name, err.place, err.message);
    print_message("[   SKIP   ] %s: %s\n", l->name, err.message);
    return NULL;
}

static void write_source(const dialect *l, const lb_unit *u, lb_emit_options o, const int sizes[26]) {
    char path[256], function[200];
    emit_identifier(u, function, sizeof function);
    emit_path(path, sizeof path, "k.src");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    o.language = l->language;
    char *text = emit_text_of(u, o);
    fprintf(f, "%s%s", l->head, text);
    free(text);
    fill(f, o.fragment ? l->group : l->element, function, sizes);
    assert_int_equal(fclose(f), 0);
}

static lb_device *open_kernel(const dialect *l, const lb_unit *u, bool fragment, const int sizes[26]) {
    write_source(l, u, (lb_emit_options){.fragment = fragment}, sizes);
    return open_source(l, fragment ? "\"m\"" : "\"m * n\"", fragment ? l->local : "");
}

static void expect_words(const dialect *l, const lb_unit *u, lb_device *device, size_t m, size_t k, size_t n, const char *form) {
    const lb_format *f32 = lb_format_row(LB_F32);
    const lb_case x = {
        .op = "matmul", .a = lb_mat_of(f32, a, m, k), .b = lb_mat_of(f32, b, k, n), .c = lb_mat_of(f32, c, m, n), .out = f32};
    lb_error err = {0};
    memset(d, 0xa5, sizeof d);
    const lb_status s = lb_device_run(device, &x, d, 120, &err);
    if (s == LB_E_UNAVAILABLE) {
        print_message("[   SKIP   ] %s: %s\n", l->name, err.message);
        return;
    }
    if (s != LB_OK) fail_msg("%s %s on %s: %s: %s", u->name, form, l->name, err.place, err.message);
    for (size_t i = 0; i < m * n; i++)
        if (d[i] != want[i]) fail_msg("%s %s on %s %s: word %zu is %08x, not %08x", u->name, form, l->name, l->options, i, d[i], want[i]);
    ran = true;
    print_message("%s %s: %zu words of %s, %s, all the model's\n", l->name, l->options, m * n, u->name, form);
}

/* Rows of ten kinds against columns of ten kinds. */
static void draw_elements(const lb_unit *u) {
    static emit_batch batch;
    const size_t k = u->k;
    for (int kind = 0; kind < EMIT_BATCHES; kind++) {
        emit_draw(u, kind, &batch);
        for (size_t r = 0; r < EMIT_SIDE; r++)
            for (size_t i = 0; i < k; i++) a[((size_t)kind * EMIT_SIDE + r) * k + i] = batch.a[r * k + i];
        for (size_t r = 0; r < COLUMNS / EMIT_BATCHES; r++)
            for (size_t i = 0; i < k; i++) b[i * COLUMNS + r * EMIT_BATCHES + (size_t)kind] = batch.b[r * k + i];
        memcpy(c + (size_t)kind * EMIT_SIDE * COLUMNS, batch.c, sizeof batch.c);
    }
    for (int kind = 0; kind < EMIT_BATCHES; kind++) {
        batch.m = batch.n = EMIT_SIDE;
        memcpy(batch.a, a + (size_t)kind * EMIT_SIDE * k, EMIT_SIDE * k * sizeof *a);
        for (size_t r = 0; r < COLUMNS; r++)
            for (size_t i = 0; i < k; i++) batch.b[r * k + i] = b[i * COLUMNS + r];
        memcpy(batch.c, c + (size_t)kind * EMIT_SIDE * COLUMNS, sizeof batch.c);
        emit_want(u, &batch);
        memcpy(want + (size_t)kind * EMIT_SIDE * COLUMNS, batch.d, sizeof batch.d);
    }
}

static void run_elements(const lb_unit *u) {
    const int sizes[26] = {['k' - 'a'] = u->k, ['n' - 'a'] = COLUMNS};
    draw_elements(u);
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        lb_device *device = open_kernel(&dialects[i], u, false, sizes);
        if (device) expect_words(&dialects[i], u, device, ROWS, u->k, COLUMNS, "element");
        lb_device_close(device);
    }
}

static void elements_are_exact(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32",   "sm_80/mma.m16n8k16.f16.f16.f16.f16",
                                        "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32",
                                        "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_89/mma.m16n8k16.f16.e5m2.e5m2.f16"};
    static lb_unit units[EMIT_MAX_UNITS];
    size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) assert_int_equal(lb_unit_find(names[i], &units[i], NULL), LB_OK);
    if (emit_full()) count = emit_units(units, false);
    for (size_t i = 0; i < count; i++) run_elements(&units[i]);
}

static void draw_warps(const lb_unit *u, const lb_fragment *const f[4]) {
    const int ra = f[0]->registers, rb = f[1]->registers, rc = f[2]->registers;
    static uint32_t regs[3][32 * 32];
    for (size_t w = 0; w < WARPS; w++) {
        static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS};
        for (int x = 0; x < 3; x++) {
            const int each = 32 / f[x]->bits;
            for (int i = 0; i < 32 * f[x]->registers; i++) {
                regs[x][i] = 0;
                for (int e = 0; e < each; e++)
                    regs[x][i] |= (uint32_t)lb_draw(f[x]->format, dists[w % 3], 5, (uint32_t)x, (w << 16) + (uint64_t)(i * each + e))
                                  << (e * f[x]->bits);
            }
        }
        if (w % 7 == 0) regs[0][w % 5] = 0x7c00fc00; /* Inf of either sign */
        lb_error err = {0};
        if (lb_warp_mma(u, regs[0], regs[1], regs[2], want + w * 32 * (size_t)rc, NULL, &err) != LB_OK) fail_msg("%s", err.message);
        for (size_t lane = 0; lane < 32; lane++) {
            uint32_t *both = a + (w * 32 + lane) * (size_t)(ra + rb);
            memcpy(both, regs[0] + lane * (size_t)ra, (size_t)ra * 4);
            memcpy(both + ra, regs[1] + lane * (size_t)rb, (size_t)rb * 4);
        }
        memcpy(c + w * 32 * (size_t)rc, regs[2], 32 * (size_t)rc * 4);
    }
}

static void fragments_are_exact(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "sm_80/mma.m16n8k16.f16.f16.f16.f16"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_unit u;
        lb_fragment f[4];
        assert_int_equal(lb_unit_find(names[i], &u, NULL), LB_OK);
        for (int x = 0; x < 4; x++) assert_int_equal(lb_fragment_of(&u, (lb_fragment_operand)x, NULL, &f[x], NULL), LB_OK);
        const lb_fragment *const all[] = {&f[0], &f[1], &f[2], &f[3]};
        const int sizes[26] = {f[0].registers, f[1].registers, f[2].registers, f[3].registers, ['w' - 'a'] = 2 * (u.m + u.n) * u.k};
        draw_warps(&u, all);
        for (size_t l = 0; l < sizeof dialects / sizeof dialects[0]; l++) {
            lb_device *device = open_kernel(&dialects[l], &u, true, sizes);
            if (device)
                expect_words(&dialects[l], &u, device, WARPS * 32, (size_t)(f[0].registers + f[1].registers), (size_t)f[2].registers,
                             "fragment");
            lb_device_close(device);
        }
    }
}

/* ---- sub-group shuffles ------------------------------------------------------------------------------------------------------ */

/* Lanes of a sub-group of the device that runs this language; -1 where none does. */
static int subgroup_size(const dialect *l) {
    char path[256];
    emit_path(path, sizeof path, "k.src");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s%s", l->head, l->size);
    assert_int_equal(fclose(f), 0);
    lb_device *device = open_source(l, "\"m\"", l->local);
    if (!device) return -1;
    const lb_format *f32 = lb_format_row(LB_F32);
    const lb_case x = {
        .op = "matmul", .a = lb_mat_of(f32, a, 32, 1), .b = lb_mat_of(f32, b, 1, 1), .c = lb_mat_of(f32, c, 32, 1), .out = f32};
    lb_error err = {0};
    const lb_status s = lb_device_run(device, &x, d, 60, &err);
    lb_device_close(device);
    if (s == LB_E_UNAVAILABLE) return -1;
    if (s != LB_OK) fail_msg("%s: %s: %s", l->name, err.place, err.message);
    return (int)d[0];
}

/* A kernel around a fragment that exchanges by shuffles. */
static void write_shuffles(const dialect *l, const lb_unit *u, const int sizes[26]) {
    char group[2400], *at;
    snprintf(group, sizeof group, "%s", l->group);
    if ((at = strstr(group, ", words)"))) memmove(at, at + 7, strlen(at + 7) + 1);
    at = strstr(group, "$f(i % 32u");
    assert_non_null(at);
    char rest[400];
    snprintf(rest, sizeof rest, "%s", at + strlen("$f(i % 32u"));
    snprintf(at, sizeof group - (size_t)(at - group), "$f(%s%s", l->lane, rest);
    dialect with = *l;
    with.group = group;
    write_source(&with, u, (lb_emit_options){.fragment = true, .exchange = LB_EMIT_SUBGROUP}, sizes);
}

/* GLSL and HLSL compile wherever glslang is; what runs them needs sub-groups of 32: not lavapipe (8), not PoCL 3.1 (none); Intel's OpenCL for
 * the CPU has them. */
static void shuffles_compile_and_run_where_subgroups_are_wide(void **state) {
    (void)state;
    lb_unit u;
    lb_fragment f[4];
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &u, NULL), LB_OK);
    for (int x = 0; x < 4; x++) assert_int_equal(lb_fragment_of(&u, (lb_fragment_operand)x, NULL, &f[x], NULL), LB_OK);
    const lb_fragment *const all[] = {&f[0], &f[1], &f[2], &f[3]};
    const int sizes[26] = {f[0].registers, f[1].registers, f[2].registers, f[3].registers, ['w' - 'a'] = 1};
    draw_warps(&u, all);
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        const dialect *l = &dialects[i];
        const bool shader = l->language != LB_EMIT_OPENCL;
        const int size = subgroup_size(l);
        write_shuffles(l, &u, sizes);
        if (shader && emit_have("glslangValidator")) {
            const char *hlsl = l->language == LB_EMIT_HLSL ? "-D -e main" : "";
            if (emit_run("cd %s && glslangValidator -V %s --target-env vulkan1.1 -S comp -o k.spv k.src > log || { cat log; false; }",
                         emit_folder, hlsl) != 0)
                fail_msg("%s by shuffles does not compile", l->name);
            print_message("%s by shuffles: compiles\n", l->name);
            ran = true;
        }
        if (size >= 0 && size < 32)
            print_message("[   SKIP   ] %s by shuffles is not run: sub-groups of this device have %d lanes, not 32\n", l->name, size);
        if (size < 32) continue;
        lb_device *device = open_source(l, "\"m\"", l->local);
        if (device) expect_words(l, &u, device, WARPS * 32, (size_t)(f[0].registers + f[1].registers), (size_t)f[2].registers, "shuffles");
        lb_device_close(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_exact),
        cmocka_unit_test(fragments_are_exact),
        cmocka_unit_test(shuffles_compile_and_run_where_subgroups_are_wide),
    };
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    return failed ? failed : ran ? 0 : 77;
}
