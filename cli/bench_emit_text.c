/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bench_emit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool emitted;
    lb_emit_options options;
} forms[EMIT_FORMS] = {
    [EMIT_EXACT] = {"exact", true, {.fragment = true}},
    [EMIT_FINITE] = {"finite", true, {.fragment = true, .finite = true}},
    [EMIT_FAST] = {"fast", true, {.fragment = true, .tier = LB_EMIT_FAST}},
    [EMIT_PLAIN] = {"fma", false, {0}},
    [EMIT_EMPTY] = {"empty", false, {0}},
};

const char *bench_emit_form_name(emit_form form) {
    return forms[form].name;
}

bool bench_emit_is_emitted(emit_form form) {
    return forms[form].emitted;
}

/* $f the function; $g lanes, $s steps, $t sets, $a $b $c registers, $m $n $k the tile, $i items, $w words of local memory; $u the products of the plain loop. */
struct emit_dialect {
    lb_emit_language language;
    const char *name, *entry, *local;
    const char *head, *chain, *plain, *empty;
};

#define SHADER_HEAD                                                                                                                        \
    "#version 450\nlayout(local_size_x = 32) in;\nlayout(set = 0, binding = 0) readonly buffer A { uint at_a[]; };\n"                      \
    "layout(set = 0, binding = 1) readonly buffer B { uint at_b[]; };\nlayout(set = 0, binding = 2) readonly buffer C { uint at_c[]; };\n" \
    "layout(set = 0, binding = 3) buffer D { uint at_d[]; };\n"
#define OPENCL_HEAD                                                                                                                        \
    "__kernel void run(__global const uint *at_a, __global const uint *at_b, __global const uint *at_c, __global uint *at_d) {\n"
#define CHAIN                                                                                                                              \
    "    uint a[$a], b[$b], c[$c], d[$c];\n    for (uint k = 0u; k < $cu; k++) c[k] = at_c[i * $cu + k];\n"                                \
    "    for (uint s = 0u; s < $su; s++) {\n        const uint from = (i * $tu + s % $tu) * ($au + $bu);\n"                                \
    "        for (uint k = 0u; k < $au; k++) a[k] = at_a[from + k];\n"                                                                     \
    "        for (uint k = 0u; k < $bu; k++) b[k] = at_a[from + $au + k];\n"
#define CHAIN_END                                                                                                                          \
    "        for (uint k = 0u; k < $cu; k++) c[k] = d[k];\n    }\n"                                                                        \
    "    for (uint k = 0u; k < $cu; k++) at_d[i * $cu + k] = c[k];\n}\n"
#define PLAIN(as_float, as_uint, barrier)                                                                                                  \
    "    float sum[$i];\n    for (uint e = 0u; e < $iu; e++) sum[e] = " as_float "(at_c[i * $iu + e]);\n"                                  \
    "    for (uint s = 0u; s < $su; s++) {\n        const uint from = (i / 32u * $tu + s % $tu) * ($mu * $ku + $ku * $nu);\n"              \
    "        for (uint j = lane; j < $mu * $ku; j += 32u) x[j] = " as_float "(at_a[from + j]);\n"                                          \
    "        for (uint j = lane; j < $ku * $nu; j += 32u) y[j] = " as_float "(at_a[from + $mu * $ku + j]);\n        " barrier              \
    "\n$u        " barrier "\n    }\n    for (uint e = 0u; e < $iu; e++) at_d[i * $iu + e] = " as_uint "(sum[e]);\n}\n"
#define EMPTY "    for (uint e = 0u; e < $iu; e++) at_d[i * $iu + e] = at_c[i * $iu + e];\n}\n"

static const emit_dialect dialects[] = {
    {LB_EMIT_OPENCL, "opencl", "run", ", \"local\": [32]", "",
     OPENCL_HEAD "    __local uint words[$w];\n    const uint i = get_global_id(0);\n" CHAIN
                 "        $f(i % 32u, a, b, c, d, words);\n" CHAIN_END,
     OPENCL_HEAD "    __local float x[$m * $k], y[$k * $n];\n    const uint i = get_global_id(0), lane = get_local_id(0);\n" PLAIN(
         "as_float", "as_uint", "barrier(CLK_LOCAL_MEM_FENCE);"),
     OPENCL_HEAD "    const uint i = get_global_id(0);\n" EMPTY},
    {LB_EMIT_GLSL, "glsl", "main", "", SHADER_HEAD,
     "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n" CHAIN "        $f(i % 32u, a, b, c, d);\n" CHAIN_END,
     "shared float x[$m * $k], y[$k * $n];\nvoid main() {\n"
     "    const uint i = gl_GlobalInvocationID.x, lane = gl_LocalInvocationID.x;\n" PLAIN("uintBitsToFloat", "floatBitsToUint",
                                                                                          "memoryBarrierShared(); barrier();"),
     "void main() {\n    const uint i = gl_GlobalInvocationID.x;\n" EMPTY},
};

const emit_dialect *bench_emit_dialect(size_t i) {
    return i < sizeof dialects / sizeof dialects[0] ? &dialects[i] : NULL;
}

const char *bench_emit_dialect_name(const emit_dialect *l) {
    return l->name;
}

/* The loop's body without its loops, as the emitted one is: element e of a lane is element lane + 32 e of the tile. */
static void unroll(FILE *f, int items, int n, int k) {
    for (int e = 0; e < items; e++) {
        fprintf(f, "        const uint r%d = (lane + %du) / %du * %du, c%d = (lane + %du) %% %du;\n", e, 32 * e, n, k, e, 32 * e, n);
        for (int i = 0; i < k; i++) fprintf(f, "        sum[%d] = fma(x[r%d + %du], y[%du + c%d], sum[%d]);\n", e, e, i, i * n, e, e);
    }
}

static void fill(FILE *f, const char *text, const char *function, const int sizes[26]) {
    for (; *text; text++) {
        if (text[0] != '$')
            fputc(text[0], f);
        else if (*++text == 'f')
            fputs(function, f);
        else if (*text == 'u')
            unroll(f, sizes['i' - 'a'], sizes['n' - 'a'], sizes['k' - 'a']);
        else
            fprintf(f, "%d", sizes[*text - 'a']);
    }
}

static lb_status open_for(const char *folder, emit_form form, const char *suffix, FILE **out, lb_error *err) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", folder, forms[form].name, suffix);
    *out = fopen(path, "w");
    return *out ? LB_OK : lb_fail(err, LB_E_FILE, path, "cannot be written");
}

static lb_status write_source(const emit_dialect *l, const emit_shape *s, emit_form form, const char *folder, lb_error *err) {
    const lb_unit *u = s->u;
    char *text = NULL, function[sizeof u->name];
    lb_emit_options o = forms[form].options;
    o.language = l->language;
    lb_status status = forms[form].emitted ? lb_emit_unit(u, &o, &text, NULL, err) : LB_OK;
    FILE *f = NULL;
    if (status == LB_OK) status = open_for(folder, form, "src", &f, err);
    if (status == LB_OK) {
        snprintf(function, sizeof function, "%s", u->name);
        for (char *c = function; *c; c++)
            if (!isalnum((unsigned char)*c)) *c = '_';
        const int sizes[26] = {['a' - 'a'] = s->f[0].registers,
                               ['b' - 'a'] = s->f[1].registers,
                               ['c' - 'a'] = s->f[2].registers,
                               ['i' - 'a'] = forms[form].emitted || form == EMIT_EMPTY ? s->f[2].registers : s->items,
                               ['k' - 'a'] = u->k,
                               ['m' - 'a'] = u->m,
                               ['n' - 'a'] = u->n,
                               ['s' - 'a'] = s->steps,
                               ['t' - 'a'] = EMIT_SETS,
                               ['w' - 'a'] = 2 * (s->f[0].matrices * u->m * u->k + s->f[1].matrices * u->n * u->k)};
        fprintf(f, "%s%s", l->head, text ? text : "");
        fill(f, forms[form].emitted ? l->chain : form == EMIT_PLAIN ? l->plain : l->empty, function, sizes);
        if (fclose(f) != 0) status = lb_fail(err, LB_E_FILE, folder, "a kernel cannot be written");
    }
    free(text);
    return status;
}

lb_status bench_emit_write(const emit_dialect *l, const emit_shape *s, emit_form form, const char *folder, lb_error *err) {
    FILE *f = NULL;
    lb_status status = write_source(l, s, form, folder, err);
    if (status == LB_OK) status = open_for(folder, form, "json", &f, err);
    if (status != LB_OK) return status;
    fprintf(f,
            "{\"language\": \"%s\", \"source\": \"%s.src\", \"entry\": \"%s\", \"options\": \"\", \"in\": \"f32\", \"acc\": \"f32\", "
            "\"out\": \"f32\", \"args\": [{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"c\"}, {\"buffer\": \"d\"}], "
            "\"global\": [\"m\"]%s}\n",
            l->name, forms[form].name, l->entry, l->local);
    return fclose(f) == 0 ? LB_OK : lb_fail(err, LB_E_FILE, folder, "a kernel's description cannot be written");
}
