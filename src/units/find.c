/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Units by name: canonical names, full PTX spellings, AMD's and the CPU vendors'. Every spelling and every row's name goes through one
 * normal form, so a row needs nothing here to be found. */
#include "lastbit/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 192, MAX_ROWS = 4096 };

/* Architectures whose units are those of another. source: ptx-isa for the "a" targets; sm_86 and sm_87 by recordings of an A2 and an Orin. */
static const char *const arch_aliases[][2] = {
    {"sm_86", "sm_80"}, {"sm_87", "sm_80"}, {"sm_90a", "sm_90"}, {"sm_100a", "sm_100"}, {"sm_120a", "sm_120"},
};

/* Words of a full spelling that do not change the arithmetic. */
static const char *const silent_words[] = {"sync",      "aligned",    "row",          "col",      "mma_async",   "cta_group::1",
                                           "kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "block_scale", "popc"};

/* Other spellings of a word. */
static const char *const word_aliases[][2] = {
    {"s32", "i32"},
    {"s8", "i8"},
    {"s4", "i4"},
    {"xf32", "tf32"},
    {"e4m3fn", "e4m3"},
    {"fp8", "e4m3fnuz"},
    {"bf8", "e5m2fnuz"},
    {"kind::mxf8f6f4", "mxf8f6f4"},
    {"kind::mxf4", "mxf4"},
    {"kind::mxf4nvf4", "mxf4nvf4"},
    {"sp::ordered_metadata", "sp"},
};

/* Words that PTX puts anywhere: they go to the end, in this order. */
static const char *const last_words[] = {"satfinite", "sp", "xor", "and", "1k", "mxf8f6f4", "mxf4", "mxf4nvf4", "ue8m0", "ue4m3"};

enum { LAST_WORDS = sizeof last_words / sizeof last_words[0] };

/* A name in canonical spelling, its shape taken out: "sm_90/wgmma.f32.f16.f16". */
typedef struct query {
    char words[MAX_NAME];
    size_t used;
    unsigned m, n, k;   /* 0 if the name has no shape */
    unsigned scale_vec; /* scales along k, as .scale_vec::4X says; 0 if it is not said */
} query;

static void add_word(query *q, const char *word) {
    const bool first = q->used && q->words[q->used - 1] == '/';
    const int n = snprintf(q->words + q->used, sizeof q->words - q->used, "%s%s", first ? "" : ".", word);
    q->used += n > 0 && (size_t)n < sizeof q->words - q->used ? (size_t)n : sizeof q->words - q->used - 1;
}

static bool is_silent(const char *word, bool after_tcgen05) {
    for (size_t i = 0; i < sizeof silent_words / sizeof silent_words[0]; i++)
        if (strcmp(word, silent_words[i]) == 0) return true;
    return after_tcgen05 && strcmp(word, "mma") == 0; /* tcgen05.mma */
}

static const char *canonical_word(const char *word) {
    for (size_t i = 0; i < sizeof word_aliases / sizeof word_aliases[0]; i++)
        if (strcmp(word, word_aliases[i][0]) == 0) return word_aliases[i][1];
    return word;
}

static bool parse_shape(const char *word, query *q) {
    int end = 0;
    return sscanf(word, "m%4un%4uk%4u%n", &q->m, &q->n, &q->k, &end) == 3 && word[end] == 0;
}

/* "scale_vec::4x", or "4x" as rows have it. */
static bool parse_scale_vec(const char *word, query *q) {
    int end = 0;
    if (strcmp(word, "4x") == 0) {
        q->scale_vec = 4;
        return true;
    }
    return sscanf(word, "scale_vec::%1ux%n", &q->scale_vec, &end) == 1 && end && word[end] == 0;
}

/* The words of an instruction, split at dots. */
static void parse_words(char *text, query *q) {
    bool tcgen05 = false, last[LAST_WORDS] = {false};
    char *rest = NULL;
    for (char *given = strtok_r(text, ".", &rest); given; given = strtok_r(NULL, ".", &rest)) {
        if (is_silent(given, tcgen05)) continue;
        tcgen05 = tcgen05 || strcmp(given, "tcgen05") == 0;
        if ((!q->k && parse_shape(given, q)) || parse_scale_vec(given, q)) continue;
        const char *word = canonical_word(given);
        size_t i = 0;
        while (i < LAST_WORDS && strcmp(word, last_words[i]) != 0) i++;
        if (i < LAST_WORDS)
            last[i] = true;
        else
            add_word(q, word);
    }
    for (size_t i = 0; i < LAST_WORDS; i++)
        if (last[i]) add_word(q, last_words[i]);
}

/* AMD's spelling of an MFMA behind "v_mfma_", as v_mfma_f32_32x32x8f16, v_mfma_f32_16x16x4_4b_bf16 or v_mfma_f32_16x16x32_fp8_bf8. */
static bool parse_mfma(char *text, bool one_k_means_all, query *q) {
    char *rest = NULL, *types[2] = {NULL, NULL};
    const char *d = strtok_r(text, "_", &rest);
    char *shape = strtok_r(NULL, "_", &rest);
    bool one_k = false;
    int end = 0;
    size_t count = 0;
    if (!d || !shape || sscanf(shape, "%4ux%4ux%4u%n", &q->m, &q->n, &q->k, &end) != 3) return false;
    if (shape[end]) types[count++] = shape + end; /* the older spelling has the type behind k */
    for (char *word = strtok_r(NULL, "_", &rest); word; word = strtok_r(NULL, "_", &rest)) {
        if (strcmp(word, "1k") == 0)
            one_k = true;
        else if (strcmp(word, "2b") == 0 || strcmp(word, "4b") == 0 || strcmp(word, "16b") == 0)
            continue; /* that many matrices, each as one */
        else if (count < 2)
            types[count++] = word;
        else
            return false;
    }
    if (!count) return false;
    add_word(q, "mfma");
    add_word(q, canonical_word(d));
    add_word(q, canonical_word(types[0]));
    add_word(q, canonical_word(types[count - 1]));
    add_word(q, canonical_word(d));
    if (one_k && !one_k_means_all) add_word(q, "1k");
    return true;
}

static bool parse_query(const char *name, query *q) {
    static const char mfma[] = "v_mfma_";
    char copy[MAX_NAME];
    const char *slash = strchr(name, '/');
    *q = (query){0};
    if (!slash || strlen(name) >= sizeof copy) return false;
    const size_t arch_length = (size_t)(slash - name);
    for (size_t i = 0; i <= strlen(name); i++) copy[i] = (char)tolower((unsigned char)name[i]);
    copy[arch_length] = 0;
    const char *arch = copy;
    for (size_t i = 0; i < sizeof arch_aliases / sizeof arch_aliases[0]; i++)
        if (strcmp(copy, arch_aliases[i][0]) == 0) arch = arch_aliases[i][1];
    q->used = (size_t)snprintf(q->words, sizeof q->words, "%s/", arch);
    char *rest = copy + arch_length + 1;
    if (strncmp(rest, mfma, sizeof mfma - 1) == 0) return parse_mfma(rest + sizeof mfma - 1, strcmp(arch, "gfx90a") != 0, q);
    parse_words(rest, q);
    return q->used + 1 < sizeof q->words;
}

static bool shapes_fit(const lb_unit *u, const query *row, const query *q) {
    if (!row->k || !q->k) return row->k == q->k; /* CPU instructions have no shape in their names */
    const bool m_ok = q->m == u->m || (u->m_free && (q->m == 64 || q->m == 128));
    const bool n_ok = q->n == u->n || (u->n_free && q->n >= 8 && q->n <= 256 && q->n % 8 == 0);
    const bool scales_ok = !q->scale_vec || (u->scale_block && q->scale_vec == u->k / (unsigned)u->scale_block);
    return m_ok && n_ok && q->k == u->k && scales_ok;
}

/* The row with the caller's choice of m and n, also in its name. */
static void fill(const lb_unit *row, const query *q, lb_unit *out) {
    *out = *row;
    if (!row->m_free && !row->n_free) return;
    out->m = (uint16_t)q->m;
    out->n = (uint16_t)q->n;
    const char *shape = strchr(row->name, '.') + 1, *types = strchr(shape, '.');
    const int head = (int)(shape - row->name);
    snprintf(out->name, sizeof out->name, "%.*sm%un%uk%u%s", head, row->name, q->m, q->n, q->k, types);
}

lb_status lb_unit_find(const char *name, lb_unit *out, lb_error *err) {
    query wanted, row;
    const char *names[MAX_ROWS];
    size_t count = 0;
    const bool parsed = parse_query(name, &wanted);
    for (const lb_unit *u; count < MAX_ROWS && (u = lb_unit_row(count)); count++) {
        names[count] = u->name;
        if (!parsed || !parse_query(u->name, &row) || strcmp(row.words, wanted.words) != 0 || !shapes_fit(u, &row, &wanted)) continue;
        fill(u, &wanted, out);
        return LB_OK;
    }
    const char *near = lb_nearest_name(name, names, count);
    if (near) return lb_fail(err, LB_E_NAME, name, "no such unit; the nearest is %s", near);
    return lb_fail(err, LB_E_NAME, name, "no such unit; `lastbit units` lists them, as sm_80/mma.m16n8k16.f32.f16.f16.f32");
}
