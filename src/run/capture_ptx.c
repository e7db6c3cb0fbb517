/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/capture_ptx.h"

#include "base/text.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which units, and how PTX spells them --------------------------------------------------------------------------------- */

/* Types by our names: PTX's, and the bits of one element in a register. source: ptx-isa, "mma.sync" */
static const struct {
    const char *name, *ptx;
    int slot_bits, slot_shift;
} types[] = {
    {"f64", "f64", 64, 0},   {"f32", "f32", 32, 0},  {"tf32", "tf32", 32, 0}, {"f16", "f16", 16, 0},
    {"bf16", "bf16", 16, 0}, {"e4m3", "e4m3", 8, 0}, {"e5m2", "e5m2", 8, 0},  {"e3m2", "e3m2", 8, 0},
    {"e2m3", "e2m3", 8, 0},  {"e2m1", "e2m1", 8, 2}, {"i32", "s32", 32, 0},   {"i8", "s8", 8, 0},
    {"u8", "u8", 8, 0},      {"i4", "s4", 4, 0},     {"u4", "u4", 4, 0},      {"b1", "b1", 1, 0},
};

enum { TYPES = sizeof types / sizeof types[0] };

static size_t type_of(lb_format_id format) {
    size_t i = 0;
    while (i < TYPES && strcmp(types[i].name, lb_format_row(format)->name) != 0) i++;
    return i;
}

static const char *ptx_type(lb_format_id format) {
    return types[type_of(format)].ptx;
}

/* What the name has behind shape and types, as ".satfinite"; NULL if it is not put together like that. */
static const char *suffix_of(const lb_unit *u) {
    const char *slash = strchr(u->name, '/');
    char head[96], accumulator[32];
    if (!slash) return NULL;
    const char *dot = strchr(slash, '.');
    if (!dot) return NULL;
    const int n = snprintf(head, sizeof head, ".m%un%uk%u.%s.%s.%s", u->m, u->n, u->k, lb_format_row(u->d)->name, lb_format_row(u->a)->name,
                           lb_format_row(u->b)->name);
    if (strncmp(dot, head, (size_t)n) != 0) return NULL;
    const int c = snprintf(accumulator, sizeof accumulator, ".%s", lb_format_row(u->c)->name);
    return strncmp(dot + n, accumulator, (size_t)c) == 0 ? dot + n + c : dot + n;
}

static bool has_instruction(const lb_unit *u, const char *name) {
    const char *slash = strchr(u->name, '/');
    return slash && strncmp(slash + 1, name, strlen(name)) == 0 && slash[1 + strlen(name)] == '.';
}

static bool is_narrow(lb_format_id format) { /* fp6, fp4: only kind::f8f6f4 takes them */
    return lb_format_row(format)->bits < 8 && lb_format_row(format)->special != LB_SPECIAL_INT;
}

static bool has_kind(const lb_unit *u) {
    return is_narrow(u->a) || is_narrow(u->b);
}

static const char not_written[] = "no kernel is written for this instruction yet";

/* Why a unit cannot be recorded; NULL if it can. */
static const char *refusal(const lb_unit *u) {
    const char *suffix = suffix_of(u);
    if (strncmp(u->name, "sm_", 3) != 0) return "this records NVIDIA GPUs";
    if (has_instruction(u, "tcgen05")) return "tcgen05 works on tensor memory: no kernel is written for it yet";
    if (!has_instruction(u, "mma") && !has_instruction(u, "wgmma")) return not_written;
    if (!suffix || type_of(u->a) == TYPES || type_of(u->b) == TYPES || type_of(u->c) == TYPES || type_of(u->d) == TYPES) return not_written;
    if (strcmp(suffix, "") != 0 && strcmp(suffix, ".satfinite") != 0 && strcmp(suffix, ".xor") != 0 && strcmp(suffix, ".and") != 0)
        return "it takes operands beside A, B and C, for which the recordings dot/1 and gemm/1 have no place";
    return NULL;
}

/* ---- the shape ------------------------------------------------------------------------------------------------------------- */

static lb_capture_part part_of(lb_format_id format) {
    const size_t i = type_of(format);
    return (lb_capture_part){.format = lb_format_row(format),
                             .word_bytes = types[i].slot_bits == 64 ? 8 : 4,
                             .slot_bits = types[i].slot_bits,
                             .slot_shift = types[i].slot_shift};
}

static int slots(const lb_capture_part *p) {
    return p->word_bytes * 8 / p->slot_bits;
}

/* m rows in halves of eight, n columns by eight, k by what four lanes hold. */
static bool size_parts(lb_capture_shape *s) {
    const lb_unit *u = &s->unit;
    lb_capture_part *a = &s->part[LB_CAPTURE_A], *b = &s->part[LB_CAPTURE_B], *c = &s->part[LB_CAPTURE_C];
    const int k_word = 4 * slots(a), steps = u->k / k_word, warps = s->lanes / 32;
    if (slots(a) != slots(b) || steps * k_word != u->k) return false;
    a->words = u->m / (8 * warps) * steps;
    b->words = steps;
    c->words = u->m / (8 * warps) * (u->n / 8) * 2 / slots(c);
    if (s->wgmma) b->words = (u->n / 8 * 64 + s->lanes - 1) / s->lanes;
    return true;
}

lb_status lb_capture_shape_of(const lb_unit *u, lb_capture_shape *out, lb_error *err) {
    const char *why = refusal(u);
    if (why) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "not captured: %s", why);
    const bool wgmma = has_instruction(u, "wgmma");
    lb_capture_shape s = {.unit = *u, .lanes = wgmma ? 128 : 32, .matrices = 1, .wgmma = wgmma};
    s.quads = !wgmma && u->m == 8 && u->k == 4 && u->a == LB_F16;
    s.part[LB_CAPTURE_A] = part_of(u->a);
    s.part[LB_CAPTURE_B] = part_of(u->b);
    s.part[LB_CAPTURE_C] = part_of(u->c);
    bool fits = u->c == u->d;
    if (s.quads) {
        s.matrices = 4;
        s.part[LB_CAPTURE_A].words = s.part[LB_CAPTURE_B].words = 2;
        s.part[LB_CAPTURE_C].words = 8 / slots(&s.part[LB_CAPTURE_C]);
    } else {
        const bool mn = wgmma ? u->m == 64 && u->n % 8 == 0 && u->n <= 256 && s.part[LB_CAPTURE_A].word_bytes == 4
                              : (u->m == 8 || u->m == 16) && u->n == 8;
        fits = fits && mn && size_parts(&s) && (!wgmma || s.part[LB_CAPTURE_A].words == 4);
    }
    if (!fits) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "not captured: %s", not_written);
    *out = s;
    return LB_OK;
}

/* ---- places. source: ptx-isa, "Matrix fragments for mma", "wgmma: Register fragments", "Shared memory matrix layout" ------- */

/* m8n8k4 of f16: matrix q belongs to lanes 4q..4q+3 and 16+4q..16+4q+3. */
static void place_in_quad(const lb_capture_shape *s, int operand, int lane, int word, int slot, lb_capture_place *out) {
    const int own = (lane & 3) + 4 * (lane >= 16);
    out->matrix = (lane & 15) >> 2;
    if (operand == LB_CAPTURE_A)
        out->row = own, out->col = 2 * word + slot;
    else if (operand == LB_CAPTURE_B)
        out->row = 2 * word + slot, out->col = own;
    else if (slots(&s->part[LB_CAPTURE_C]) == 2)
        out->row = own, out->col = 2 * word + slot;
    else
        out->row = (lane & 1) + (word & 2) + 4 * (lane >= 16), out->col = (word & 4) + (lane & 2) + (word & 1);
}

/* B of wgmma in shared memory, K-major without swizzle: core matrices of 8 columns by 16 bytes of k, two along k, then along n. */
static bool place_in_shared(const lb_capture_shape *s, int lane, int word, int slot, lb_capture_place *out) {
    const int at = word * s->lanes + lane;
    out->row = ((at >> 5 & 1) * 4 + (at & 3)) * slots(&s->part[LB_CAPTURE_B]) + slot;
    out->col = (at >> 6) * 8 + (at >> 2 & 7);
    return out->col < s->unit.n;
}

bool lb_capture_place_of(const lb_capture_shape *s, int operand, int lane, int word, int slot, lb_capture_place *out) {
    const int group = (lane & 31) >> 2, t = lane & 3, warp = lane >> 5;
    const bool tall = s->unit.m > 8; /* two halves of eight rows a warp */
    *out = (lb_capture_place){0};
    if (s->quads) {
        place_in_quad(s, operand, lane, word, slot, out);
    } else if (operand == LB_CAPTURE_A) {
        const int per_word = slots(&s->part[LB_CAPTURE_A]);
        out->row = 16 * warp + group + (tall ? 8 * (word & 1) : 0);
        out->col = per_word * (t + 4 * (tall ? word >> 1 : word)) + slot;
    } else if (operand == LB_CAPTURE_B) {
        if (s->wgmma) return place_in_shared(s, lane, word, slot, out);
        out->row = slots(&s->part[LB_CAPTURE_B]) * (t + 4 * word) + slot;
        out->col = group;
    } else {
        const int i = word * slots(&s->part[LB_CAPTURE_C]) + slot; /* pairs of columns, then halves of rows, then columns by eight */
        out->row = 16 * warp + group + (tall ? 8 * (i >> 1 & 1) : 0);
        out->col = 8 * (tall ? i >> 2 : i >> 1) + 2 * t + (i & 1);
    }
    return true;
}

/* ---- the text -------------------------------------------------------------------------------------------------------------- */

/* Lowest PTX version that knows a target and an instruction: an older driver compiles what it can. tests/test_capture_ptx.c has ptxas
 * confirm each. source: ptx-isa, "PTX ISA notes" of mma, wgmma, .target */
static int version_of(const lb_unit *u) {
    static const struct {
        const char *arch;
        int version;
    } targets[] = {{"sm_70", 64}, {"sm_75", 65}, {"sm_80", 70}, {"sm_89", 78}, {"sm_90", 80}, {"sm_100", 86}, {"sm_120", 87}};
    int version = 87;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strncmp(u->name, targets[i].arch, strlen(targets[i].arch)) == 0 && u->name[strlen(targets[i].arch)] == '/')
            version = targets[i].version;
    const bool fp8 = lb_format_row(u->a)->bits == 8 && lb_format_row(u->a)->special != LB_SPECIAL_INT && has_instruction(u, "mma");
    if (fp8 && version < 84) version = 84;
    if (fp8 && (u->k == 16 || u->d == LB_F16) && version < 87) version = 87;
    if (has_instruction(u, "wgmma") && u->a != u->b && lb_format_row(u->d)->special == LB_SPECIAL_INT && version < 84) version = 84;
    if (u->a == LB_B1 && version < 71) version = strstr(u->name, ".and") ? 71 : 70;
    return version;
}

static void add_registers(lb_text *t, const char *name, int count) {
    for (int i = 0; i < count; i++) lb_text_add(t, "%s%%%s%d", i ? ", " : "{", name, i);
    lb_text_add(t, "}");
}

static const char *register_type(const lb_capture_part *p) {
    return p->format->id == LB_F64 ? "f64" : p->format->id == LB_F32 ? "f32" : "b32";
}

static void add_moves(lb_text *t, const lb_capture_shape *s, int operand, const char *name, const char *address, bool store) {
    const lb_capture_part *p = &s->part[operand];
    for (int i = 0; i < p->words; i++) {
        const int offset = i * s->lanes * p->word_bytes;
        if (store)
            lb_text_add(t, "    st.global.%s [%%%s+%d], %%%s%d;\n", register_type(p), address, offset, name, i);
        else
            lb_text_add(t, "    ld.global.%s %%%s%d, [%%%s+%d];\n", register_type(p), name, i, address, offset);
    }
}

static void add_mma(lb_text *t, const lb_capture_shape *s) {
    const lb_unit *u = &s->unit;
    const char *suffix = suffix_of(u);
    const bool saturates = strcmp(suffix, ".satfinite") == 0;
    lb_text_add(t, "    mma.sync.aligned%s.m%un%uk%u.row.col%s.%s.%s.%s.%s%s%s ", has_kind(u) ? ".kind::f8f6f4" : "", u->m, u->n, u->k,
                saturates ? suffix : "", ptx_type(u->d), ptx_type(u->a), ptx_type(u->b), ptx_type(u->c), saturates ? "" : suffix,
                u->a == LB_B1 ? ".popc" : "");
    add_registers(t, "c", s->part[LB_CAPTURE_C].words);
    lb_text_add(t, ", ");
    add_registers(t, "a", s->part[LB_CAPTURE_A].words);
    lb_text_add(t, ", ");
    add_registers(t, "b", s->part[LB_CAPTURE_B].words);
    lb_text_add(t, ", ");
    add_registers(t, "c", s->part[LB_CAPTURE_C].words);
    lb_text_add(t, ";\n");
}

/* A from registers, B from shared memory: written by the generic proxy, so fenced for the asynchronous one, then seen by all warps. */
static void add_wgmma(lb_text *t, const lb_capture_shape *s) {
    const lb_unit *u = &s->unit;
    const lb_capture_part *b = &s->part[LB_CAPTURE_B];
    const bool integer = lb_format_row(u->d)->special == LB_SPECIAL_INT, half = u->a == LB_F16 || u->a == LB_BF16;
    for (int i = 0; i < b->words; i++) lb_text_add(t, "    st.shared.b32 [%%shared+%d], %%b%d;\n", i * s->lanes * b->word_bytes, i);
    lb_text_add(t, "    fence.proxy.async.shared::cta;\n"
                   "    bar.sync 0;\n"
                   "    wgmma.fence.sync.aligned;\n");
    const char *suffix = suffix_of(u);
    lb_text_add(t, "    wgmma.mma_async.sync.aligned.m%un%uk%u%s.%s.%s.%s%s%s ", u->m, u->n, u->k, "", ptx_type(u->d), ptx_type(u->a),
                ptx_type(u->b), suffix, u->a == LB_B1 ? ".popc" : "");
    add_registers(t, "c", s->part[LB_CAPTURE_C].words);
    lb_text_add(t, ", ");
    add_registers(t, "a", s->part[LB_CAPTURE_A].words);
    lb_text_add(t, ", %%descriptor, %%always%s;\n", integer ? "" : half ? ", 1, 1, 0" : ", 1, 1");
    lb_text_add(t, "    wgmma.commit_group.sync.aligned;\n"
                   "    wgmma.wait_group.sync.aligned 0;\n"
                   "    bar.sync 0;\n");
}

/* Strides between core matrices along k and along n, in 16 bytes. Of one column of core matrices the second is never used; there both
 * are the same. */
static void add_descriptor(lb_text *t, const lb_capture_shape *s) {
    const uint64_t along_k = 128 / 16, along_n = s->unit.n > 8 ? 256 / 16 : along_k;
    lb_text_add(t, "    mov.u32 %%shared, tile;\n"
                   "    shr.u32 %%word, %%shared, 4;\n"
                   "    cvt.u64.u32 %%descriptor, %%word;\n"
                   "    and.b64 %%descriptor, %%descriptor, 0x3fff;\n");
    lb_text_add(t, "    or.b64 %%descriptor, %%descriptor, 0x%llx;\n", (unsigned long long)(along_k << 16 | along_n << 32));
    lb_text_add(t, "    setp.eq.u32 %%always, 0, 0;\n"
                   "    shl.b32 %%word, %%lane, 2;\n"
                   "    add.u32 %%shared, %%shared, %%word;\n");
}

static void add_head(lb_text *t, const lb_capture_shape *s) {
    const lb_unit *u = &s->unit;
    const int version = version_of(u), arch = (int)(strchr(u->name, '/') - u->name);
    lb_text_add(t, ".version %d.%d\n.target %.*s%s\n.address_size 64\n\n", version / 10, version % 10, arch, u->name,
                s->wgmma || has_kind(u) ? "a" : "");
    lb_text_add(t, "// %s: block %%ctaid.x chains its steps of A and B through C\n", u->name);
    lb_text_add(t,
                ".visible .entry " LB_CAPTURE_ENTRY "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 steps)\n"
                ".reqntid %d, 1, 1\n{\n",
                s->lanes);
    lb_text_add(t, "    .reg .u32 %%lane, %%block, %%steps, %%word, %%shared;\n"
                   "    .reg .u64 %%pa, %%pb, %%pc, %%pd, %%at, %%descriptor;\n"
                   "    .reg .pred %%done, %%always;\n");
    static const char *const names[LB_CAPTURE_OPERANDS] = {"a", "b", "c"};
    for (int i = 0; i < LB_CAPTURE_OPERANDS; i++)
        lb_text_add(t, "    .reg .%s %%%s<%d>;\n", register_type(&s->part[i]), names[i], s->part[i].words);
    if (s->wgmma)
        lb_text_add(t, "    .shared .align 128 .b8 tile[%d];\n", s->part[LB_CAPTURE_B].words * s->lanes * s->part[LB_CAPTURE_B].word_bytes);
}

/* %pX = X + block * (steps *) bytes of a block + lane * bytes of a word */
static void add_address(lb_text *t, const lb_capture_shape *s, int operand, const char *name, const char *part) {
    const lb_capture_part *p = &s->part[operand];
    lb_text_add(t, "    ld.param.u64 %%p%s, [%s];\n    cvta.to.global.u64 %%p%s, %%p%s;\n", name, part, name, name);
    lb_text_add(t, "    mul.wide.u32 %%at, %%block, %d;\n", p->words * s->lanes * p->word_bytes);
    if (operand != LB_CAPTURE_C) lb_text_add(t, "    cvt.u64.u32 %%descriptor, %%steps;\n    mul.lo.u64 %%at, %%at, %%descriptor;\n");
    lb_text_add(t, "    add.u64 %%p%s, %%p%s, %%at;\n    mul.wide.u32 %%at, %%lane, %d;\n    add.u64 %%p%s, %%p%s, %%at;\n", name, name,
                p->word_bytes, name, name);
}

lb_status lb_capture_ptx_of(const lb_capture_shape *s, char **out, lb_error *err) {
    lb_text t = {0};
    const lb_capture_part *a = &s->part[LB_CAPTURE_A], *b = &s->part[LB_CAPTURE_B];
    add_head(&t, s);
    lb_text_add(&t, "\n    mov.u32 %%lane, %%tid.x;\n    mov.u32 %%block, %%ctaid.x;\n    ld.param.u32 %%steps, [steps];\n");
    add_address(&t, s, LB_CAPTURE_A, "a", "a");
    add_address(&t, s, LB_CAPTURE_B, "b", "b");
    add_address(&t, s, LB_CAPTURE_C, "c", "c");
    add_address(&t, s, LB_CAPTURE_C, "d", "d");
    if (s->wgmma) add_descriptor(&t, s);
    add_moves(&t, s, LB_CAPTURE_C, "c", "pc", false);
    lb_text_add(&t, "NEXT:\n    setp.eq.u32 %%done, %%steps, 0;\n    @%%done bra.uni END;\n");
    add_moves(&t, s, LB_CAPTURE_A, "a", "pa", false);
    add_moves(&t, s, LB_CAPTURE_B, "b", "pb", false);
    if (s->wgmma)
        add_wgmma(&t, s);
    else
        add_mma(&t, s);
    lb_text_add(&t, "    add.u64 %%pa, %%pa, %d;\n    add.u64 %%pb, %%pb, %d;\n", a->words * s->lanes * a->word_bytes,
                b->words * s->lanes * b->word_bytes);
    lb_text_add(&t, "    sub.u32 %%steps, %%steps, 1;\n    bra.uni NEXT;\nEND:\n");
    add_moves(&t, s, LB_CAPTURE_C, "c", "pd", true);
    lb_text_add(&t, "    ret;\n}\n");
    return lb_text_take(&t, out, err);
}
