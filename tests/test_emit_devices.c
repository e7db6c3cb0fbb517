/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted OpenCL C, GLSL and HLSL on the devices of this machine: every word is the model's. Codes travel as words, so each operand is an
 * f32 matrix to the device, whatever it is to the unit. */
#include "emit_warps.h"

#include "lastbit/backends.h"

enum { WARPS = 48, MOST_LANES = WARPS * 64, MOST_REGISTERS = 64 };

static uint32_t a[MOST_LANES * MOST_REGISTERS], b[EMIT_MAX_K * EMIT_SIDE * 2], c[MOST_LANES * MOST_REGISTERS],
    d[MOST_LANES * MOST_REGISTERS], want[MOST_LANES * MOST_REGISTERS];
static bool ran;

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* How each language says a kernel of words around an emitted function. $f: the function; $e: what it takes beside A, B, C and D; $l: lanes of
 * a group, and other sizes. */
typedef struct dialect {
    lb_emit_language language;
    const char *name, *options, *head; /* before the emitted text */
    const char *begin;                 /* behind it: a kernel's head, with its number i */
    const char *group;                 /* behind it: one instruction a group of 32 */
    const char *size;                  /* a kernel of the size of a sub-group, 0 where there are none */
    const char *lane;                  /* a lane's number in its sub-group */
} dialect;

#define SHADER_HEAD                                                                                                                        \
    "#version 450\nlayout(local_size_x = $l) in;\nlayout(set = 0, binding = 0) readonly buffer A { uint at_a[]; };\n"                      \
    "layout(set = 0, binding = 1) readonly buffer B { uint at_b[]; };\nlayout(set = 0, binding = 2) readonly buffer C { uint at_c[]; };\n" \
    "layout(set = 0, binding = 3) buffer D { uint at_d[]; };\n"
#define HLSL_HEAD                                                                                                                          \
    "[[vk::binding(0, 0)]] RWStructuredBuffer<uint> at_a;\n[[vk::binding(1, 0)]] RWStructuredBuffer<uint> at_b;\n"                         \
    "[[vk::binding(2, 0)]] RWStructuredBuffer<uint> at_c;\n[[vk::binding(3, 0)]] RWStructuredBuffer<uint> at_d;\n"
#define GROUP                                                                                                                              \
    "    uint a[$a], b[$b], c[$c], d[$d];\n    for (uint k = 0u; k < $au; k++) a[k] = at_a[i * $ku + k];\n"                                \
    "    for (uint k = 0u; k < $bu; k++) b[k] = at_a[i * $ku + $au + k];\n"                                                                \
    "    for (uint k = 0u; k < $cu; k++) c[k] = at_c[i * $cu + k];\n"                                                                      \
    "    uint s[1], t[1];\n    s[0] = at_a[i * $ku + $xu];\n    t[0] = at_a[i * $ku + $yu];\n"
#define OPENCL_KERNEL                                                                                                                      \
    "WIDE __kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"
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

#define OPENCL(options)                                                                                                                    \
    {                                                                                                                                      \
        LB_EMIT_OPENCL, "opencl", options, OPENCL_HEAD, OPENCL_KERNEL "    const uint i = get_global_id(0);\n",                            \
            OPENCL_KERNEL "    __local uint words[$w];\n    const uint i = get_global_id(0);\n" GROUP                                      \
                          "    $f(i % $lu, a, b, c, d$e, words);\n" GROUP_END,                                                             \
            OPENCL_SIZE, "get_sub_group_local_id()"                                                                                        \
    }
static const dialect dialects[] = {
    OPENCL(""),
    OPENCL("-cl-fast-relaxed-math"),
    {LB_EMIT_GLSL, "glsl", "", SHADER_HEAD, "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n",
     "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n" GROUP "    $f(i % $lu, a, b, c, d$e);\n" GROUP_END,
     "#extension GL_KHR_shader_subgroup_basic : require\nvoid main() { at_d[gl_GlobalInvocationID.x] = gl_SubgroupSize; }\n",
     "gl_SubgroupInvocationID"},
    {LB_EMIT_HLSL, "hlsl", "", HLSL_HEAD, "[numthreads($l, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) {\n    const uint i = id.x;\n",
     "[numthreads($l, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) {\n    const uint i = id.x;\n" GROUP
     "    $f(i % $lu, a, b, c, d$e);\n" GROUP_END,
     "[numthreads(32, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) { at_d[id.x] = WaveGetLaneCount(); }\n", "WaveGetLaneIndex()"},
};

/* One of the templates with its names filled in. */
static void fill(FILE *f, const char *text, const char *function, const char *more, const int sizes[26]) {
    for (; *text; text++) {
        if (text[0] != '$')
            fputc(text[0], f);
        else if (*++text == 'f')
            fputs(function, f);
        else if (*text == 'e')
            fputs(more, f);
        else
            fprintf(f, "%d", sizes[*text - 'a']);
    }
}

/* Open k.src; the device, or NULL with the reason printed where this machine has none. Groups of `lanes`, if not 0, where no shader says so. */
static lb_device *open_source(const dialect *l, const char *global, int lanes) {
    char path[256], json[512], local[32] = "";
    const bool opencl = l->language == LB_EMIT_OPENCL;
    if (opencl && lanes) snprintf(local, sizeof local, ", \"local\": [%d]", lanes);
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

/* k.src: a dialect's head, the emitted text, and a kernel around it. */
static FILE *open_text(const dialect *l, const lb_unit *u, lb_emit_options o, const char *function, int sizes[26]) {
    static const char memory[] = "// Local memory of the group: ";
    char path[256];
    emit_path(path, sizeof path, "k.src");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    o.language = l->language;
    char *text = emit_text_of(u, o);
    size_t at = 0;
    while (text[at] && strncmp(text + at, memory, strlen(memory)) != 0) at++;
    if (text[at]) sizes['w' - 'a'] = atoi(text + at + strlen(memory));
    fill(f, l->head, function, "", sizes);
    fputs(text, f);
    free(text);
    return f;
}

static const char *more_of(const lb_unit *u) {
    return u->scale_block ? ", s, t" : u->sparse_group ? ", s" : "";
}

static void write_group(const dialect *l, const lb_unit *u, lb_emit_options o, int sizes[26]) {
    char function[200];
    o.fragment = true;
    emit_identifier(u, function, sizeof function);
    FILE *f = open_text(l, u, o, function, sizes);
    fill(f, l->group, function, more_of(u), sizes);
    assert_int_equal(fclose(f), 0);
}

/* The words that were compared. */
static size_t expect_words(const dialect *l, const lb_unit *u, lb_device *device, size_t m, size_t k, size_t n, const char *form) {
    const lb_format *f32 = lb_format_row(LB_F32);
    const lb_case x = {
        .op = "matmul", .a = lb_mat_of(f32, a, m, k), .b = lb_mat_of(f32, b, k, n), .c = lb_mat_of(f32, c, m, n), .out = f32};
    lb_error err = {0};
    memset(d, 0xa5, sizeof d);
    const lb_status s = lb_device_run(device, &x, d, 120, &err);
    if (s == LB_E_UNAVAILABLE) {
        print_message("[   SKIP   ] %s: %s\n", l->name, err.message);
        return 0;
    }
    if (s != LB_OK) fail_msg("%s %s on %s: %s: %s", u->name, form, l->name, err.place, err.message);
    for (size_t i = 0; i < m * n; i++)
        if (d[i] != want[i]) fail_msg("%s %s on %s %s: word %zu is %08x, not %08x", u->name, form, l->name, l->options, i, d[i], want[i]);
    ran = true;
    return m * n;
}

/* ---- elements ------------------------------------------------------------------------------------------------------------------ */

/* What a unit takes, as words of rows of a and columns of b: codes, then scales or metadata. Codes of 64 bits have two, and then only every
 * other column is one. */
typedef struct packing {
    uint32_t a, b, scales, meta, length, words, columns;
} packing;

static packing packing_of(const lb_unit *u) {
    const uint32_t words = emit_words(u->a), products = emit_products(u);
    packing x = {products * words, u->k * words, emit_scales(u), u->sparse_group ? products : 0, 0, emit_words(u->d), EMIT_SIDE};
    const uint32_t of_a = x.a + x.scales + x.meta, of_b = x.b + x.scales;
    x.length = of_a > of_b ? of_a : of_b;
    x.columns = EMIT_SIDE / x.words;
    return x;
}

static void write_element(const dialect *l, const lb_unit *u, packing x) {
    char function[200];
    int sizes[26] = {['l' - 'a'] = 32};
    emit_identifier(u, function, sizeof function);
    FILE *f = open_text(l, u, (lb_emit_options){.fragment = false}, function, sizes);
    fill(f, l->begin, function, "", sizes);
    fprintf(f, "    const uint row = i / %uu, column = i %% %uu;\n    uint x[%u], y[%u], s[%u], t[%u];\n", EMIT_SIDE, EMIT_SIDE, x.a, x.b,
            x.scales + x.meta ? x.scales + x.meta : 1, x.scales ? x.scales : 1);
    fprintf(f, "    for (uint k = 0u; k < %uu; k++) x[k] = at_a[row * %uu + k];\n", x.a, x.length);
    fprintf(f, "    for (uint k = 0u; k < %uu; k++) y[k] = at_b[k * %uu + column];\n", x.b, EMIT_SIDE);
    fprintf(f, "    for (uint k = 0u; k < %uu; k++) s[k] = at_a[row * %uu + %uu + k];\n", x.scales + x.meta, x.length, x.a);
    fprintf(f, "    for (uint k = 0u; k < %uu; k++) t[k] = at_b[(%uu + k) * %uu + column];\n", x.scales, x.b, EMIT_SIDE);
    if (x.words == 2)
        fprintf(f,
                "    if (i %% 2u == 0u) {\n        uint e[2], r[2];\n        e[0] = at_c[i];\n        e[1] = at_c[i + 1u];\n"
                "        %s_dot(x, y, e, r);\n        at_d[i] = r[0];\n        at_d[i + 1u] = r[1];\n    }\n}\n",
                function);
    else
        fprintf(f, "    at_d[i] = %s_dot(x, y, at_c[i]%s);\n}\n", function, more_of(u));
    assert_int_equal(fclose(f), 0);
}

static void pack(const lb_unit *u, packing x, int kind) {
    static emit_batch batch;
    emit_draw_of(u, kind, EMIT_SIDE, x.columns, &batch);
    emit_want(u, &batch);
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (uint32_t r = 0; r < EMIT_SIDE; r++) {
        for (uint32_t i = 0; i < x.a; i++) a[r * x.length + i] = batch.a[r * x.a + i];
        for (uint32_t i = 0; i < x.scales; i++) a[r * x.length + x.a + i] = batch.scale_a[r * x.scales + i];
        for (uint32_t i = 0; i < x.meta; i++) a[r * x.length + x.a + i] = batch.meta[r * x.meta + i];
    }
    for (uint32_t r = 0; r < x.columns; r++) {
        for (uint32_t i = 0; i < x.b; i++) b[i * EMIT_SIDE + r * x.words] = batch.b[r * x.b + i];
        for (uint32_t i = 0; i < x.scales; i++) b[(x.b + i) * EMIT_SIDE + r * x.words] = batch.scale_b[r * x.scales + i];
    }
    memcpy(c, batch.c, EMIT_SIDE * EMIT_SIDE * sizeof *c);
    memcpy(want, batch.d, EMIT_SIDE * EMIT_SIDE * sizeof *want);
}

/* Options of fast math have nothing to change where no step is a float: there a language is tried once. */
static bool is_tried(size_t i, const lb_unit *u) {
    const bool scaled = u->path == LB_PATH_BLOCK_SCALED && !u->group;
    const bool floats = u->path == LB_PATH_TRUNCATED || u->path == LB_PATH_TWO_HALVES || u->path == LB_PATH_SPARSE || scaled;
    return floats || !*dialects[i].options || emit_full();
}

static void run_elements(const lb_unit *u) {
    const packing x = packing_of(u);
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        if (!is_tried(i, u)) continue;
        write_element(&dialects[i], u, x);
        lb_device *device = open_source(&dialects[i], "\"m * n\"", 0);
        size_t words = 0;
        for (int kind = 0; device && kind < EMIT_BATCHES; kind++) {
            pack(u, x, kind);
            words += expect_words(&dialects[i], u, device, EMIT_SIDE, x.length, EMIT_SIDE, "element");
        }
        if (words) print_message("%s %s: %zu words of %s, all the model's\n", dialects[i].name, dialects[i].options, words, u->name);
        lb_device_close(device);
    }
}

static void elements_are_exact(void **state) {
    (void)state;
    static const char *const names[] = {
        "sm_80/mma.m16n8k16.f32.f16.f16.f32",
        "sm_80/mma.m16n8k16.f16.f16.f16.f16",
        "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
        "sm_80/mma.m16n8k8.f32.tf32.tf32.f32",
        "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
        "sm_89/mma.m16n8k16.f16.e5m2.e5m2.f16",
        "sm_80/mma.m16n8k32.i32.i8.u8.i32.satfinite",
        "sm_80/mma.m16n8k32.f16.f16.f16.f16.sp",
        "sm_120/mma.m16n8k32.f32.e4m3.e5m2.f32.mxf8f6f4.ue8m0",
        "gfx908/mfma.m16n16k8.f32.bf16.bf16.f32",
        "gfx90a/mfma.m4n4k4.f32.f16.f16.f32",
        "gfx942/mfma.m32n32k8.f32.bf16.bf16.f32",
        "gfx942/mfma.m16n16k4.f32.f32.f32.f32",
        "arm/bfdot.ebf0",
    };
    static lb_unit units[EMIT_MAX_UNITS];
    size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) assert_int_equal(lb_unit_find(names[i], &units[i], NULL), LB_OK);
    if (emit_full()) count = emit_units(units, false);
    for (size_t i = 0; i < count; i++) run_elements(&units[i]);
}

/* ---- groups ---------------------------------------------------------------------------------------------------------------------- */

/* Rows of a: a lane's registers of A, of B, and of scales or metadata. */
static void draw_warps(const warp_case *w) {
    const size_t lanes = (size_t)w->d.lanes, ra = (size_t)w->a.registers, rb = (size_t)w->b.registers, rc = (size_t)w->c.registers;
    const size_t length = ra + rb + (size_t)w->extras;
    static uint32_t regs[5][64 * MOST_REGISTERS];
    const lb_fragment *const all[] = {&w->a, &w->b, &w->c, &w->more[0], &w->more[1]};
    for (size_t i = 0; i < WARPS; i++) {
        for (int x = 0; x < 3 + w->extras; x++) draw_registers(all[x], 5, (uint32_t)x, i, regs[x]);
        if (i % 7 == 0 && w->u.a == LB_F16) regs[0][i % 5] = 0x7c00fc00; /* Inf of either sign */
        lb_error err = {0};
        const lb_warp_options o = {.metadata = w->extras == 1 ? regs[3] : NULL,
                                   .scale_a = w->extras == 2 ? regs[3] : NULL,
                                   .scale_b = w->extras == 2 ? regs[4] : NULL};
        if (lb_warp_mma(&w->u, regs[0], regs[1], regs[2], want + i * lanes * rc, &o, &err) != LB_OK) fail_msg("%s", err.message);
        for (size_t lane = 0; lane < lanes; lane++) {
            uint32_t *row = a + (i * lanes + lane) * length;
            memcpy(row, regs[0] + lane * ra, ra * 4);
            memcpy(row + ra, regs[1] + lane * rb, rb * 4);
            for (int x = 0; x < w->extras; x++) row[ra + rb + (size_t)x] = regs[3 + x][lane];
        }
        memcpy(c + i * lanes * rc, regs[2], lanes * rc * 4);
    }
}

/* $a $b $c $d registers of each, $k of a row, $x $y where the scales or metadata are, or any word where there are none. */
static void sizes_of(const warp_case *w, int sizes[26]) {
    const int both = w->a.registers + w->b.registers;
    const int of[26] = {w->a.registers, w->b.registers, w->c.registers, w->d.registers};
    memcpy(sizes, of, sizeof of);
    sizes['k' - 'a'] = both + w->extras;
    sizes['l' - 'a'] = w->d.lanes;
    sizes['x' - 'a'] = w->extras ? both : 0;
    sizes['y' - 'a'] = w->extras == 2 ? both + 1 : 0;
}

static void run_groups(const dialect *l, const warp_case *w, lb_device *device, const char *form) {
    const size_t lanes = WARPS * (size_t)w->d.lanes, length = (size_t)(w->a.registers + w->b.registers + w->extras);
    const size_t words = expect_words(l, &w->u, device, lanes, length, (size_t)w->c.registers, form);
    if (words) print_message("%s %s: %zu words of %s, %s, all the model's\n", l->name, l->options, words, w->u.name, form);
}

static void fragments_are_exact(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32",
                                        "sm_80/mma.m16n8k16.f16.f16.f16.f16",
                                        "sm_80/mma.m16n8k32.i32.i8.u8.i32.satfinite",
                                        "sm_80/mma.m16n8k256.i32.b1.b1.i32.xor",
                                        "sm_80/mma.m16n8k32.f32.f16.f16.f32.sp",
                                        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3",
                                        "sm_80/mma.m8n8k4.f64.f64.f64.f64",
                                        "gfx942/mfma.m16n16k16.f32.f16.f16.f32",
                                        "gfx942/mfma.m16n16k32.f32.e4m3fnuz.e5m2fnuz.f32"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        warp_case w;
        int sizes[26];
        open_case(names[i], &w);
        sizes_of(&w, sizes);
        draw_warps(&w);
        for (size_t l = 0; l < sizeof dialects / sizeof dialects[0]; l++) {
            if (!is_tried(l, &w.u)) continue;
            write_group(&dialects[l], &w.u, (lb_emit_options){.fragment = true}, sizes);
            lb_device *device = open_source(&dialects[l], "\"m\"", w.d.lanes);
            if (device) run_groups(&dialects[l], &w, device, "fragment");
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
    const int sizes[26] = {['l' - 'a'] = 32};
    fill(f, l->head, "", "", sizes);
    fputs(l->size, f);
    assert_int_equal(fclose(f), 0);
    lb_device *device = open_source(l, "\"m\"", 32);
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
static void write_shuffles(const dialect *l, const lb_unit *u, int sizes[26]) {
    char group[2400], *at;
    snprintf(group, sizeof group, "%s", l->group);
    if ((at = strstr(group, ", words)"))) memmove(at, at + 7, strlen(at + 7) + 1);
    at = strstr(group, "$f(i % $lu");
    assert_non_null(at);
    char rest[400];
    snprintf(rest, sizeof rest, "%s", at + strlen("$f(i % $lu"));
    snprintf(at, sizeof group - (size_t)(at - group), "$f(%s%s", l->lane, rest);
    dialect with = *l;
    with.group = group;
    write_group(&with, u, (lb_emit_options){.fragment = true, .exchange = LB_EMIT_SUBGROUP}, sizes);
}

/* GLSL and HLSL compile wherever glslang is; what runs them needs sub-groups of 32: not lavapipe (8), not PoCL 3.1 (none); Intel's OpenCL for
 * the CPU has them. */
static void shuffles_compile_and_run_where_subgroups_are_wide(void **state) {
    (void)state;
    warp_case w;
    int sizes[26];
    open_case("sm_80/mma.m16n8k16.f32.f16.f16.f32", &w);
    sizes_of(&w, sizes);
    draw_warps(&w);
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        const dialect *l = &dialects[i];
        const bool shader = l->language != LB_EMIT_OPENCL;
        const int size = subgroup_size(l);
        write_shuffles(l, &w.u, sizes);
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
        lb_device *device = open_source(l, "\"m\"", 32);
        if (device) run_groups(l, &w, device, "shuffles");
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
