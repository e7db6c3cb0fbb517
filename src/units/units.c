/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of units and the search by name. */
#include "lastbit/units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts that many rows share: what the evidence covers --------------------------------------------------------- */
#define V100_DOTS         "2,500 dots of a V100, one block of 4"
#define A100_BLOCK        "2,500 dots of an A100, one block; chained blocks are inferred"
#define ADA_BLOCK         "2,500 dots of an RTX 1000 Ada, one block; chained blocks are inferred"
#define ADA_TWO_BLOCKS    "2,500 dots of an RTX 1000 Ada, two blocks of 16"
#define H100_BLOCK        "2,500 dots of an H100, one block; chained blocks are inferred"
#define H100_BF16         "2,500 dots of an H100, one block; 320 chained blocks by the published figures of an LM head"
#define H100_WGMMA        "2,500 dots of an H100, one block of 32, all with c = 0"
#define H100_EMULATED     "2,500 dots of an H100: two HMMA and an add, as ptxas assembles it; 22 to 27 fraction bits fit"
#define B200_BLOCK        "2,500 dots of a B200, one block; chained blocks are inferred"
#define B200_EMULATED     "2,500 dots of a B200: two HMMA and an add, as ptxas assembles it; 25 to 27 fraction bits fit"
#define B200_EMULATED_F32 "2,500 dots of a B200: two HMMA and an add; which k go first cannot be seen in them"
#define MIXED_FP8         "the two like-typed rows are recorded; mixed inputs by analogy"
#define MIXED_EMULATED    "the two like-typed rows are recorded; mixed inputs by analogy"
#define HALF_OF_K32       "one block of what m16n8k32 does in two"
#define SHORT_K           "the block is as long as k; by analogy with the recorded longer instruction"
#define LONG_K            "recorded with k = 4 only; a block of 8 by two public models"
#define AS_MMA            "no recording; as mma.sync of the same architecture, by two public models"
#define AS_B200           "no recording; ptxas assembles it as on sm_100, where it is recorded"
#define ONE_MODEL         "no recording; one public model"
#define TWO_MODELS        "no recording; two public models agree"
#define NOT_A_TENSOR_PATH "ptxas emits FFMA and FADD, no HMMA: its order is not known"
#define K16_SPLIT_UNKNOWN "ptxas emits two HMMA and four FADD: its split of k is not known"

/* ---- open edges: the choice taken, and the alternative ------------------------------------------------------------ */
#define ZERO_EDGES                                                                                                                         \
    "D2: zero products do not raise the exponent (or: they count as 2^-126 times the partner); "                                           \
    "D5: a sum that rounds to zero keeps its sign (or: +0); "
#define EDGES_F32_NO_FLOOR ZERO_EDGES "D1: no exponent floor (or: 2^-126); D6: NaN is 7fffffff"
#define EDGES_F32          ZERO_EDGES "D1: the exponent floor with c = 0 (or: 2^-126); D6: NaN is 7fffffff"
#define EDGES_TF32         EDGES_F32 "; D16: low 13 bits drop before NaN is told from Inf"
#define EDGES_F16                                                                                                                          \
    ZERO_EDGES "D1: the exponent floor with c = 0 (or: 2^-14); D3: a subnormal c has exponent -14 (or: its own); "                         \
               "D6: NaN is 7fff"
#define EDGES_FP8_F32  ZERO_EDGES "D6: NaN is 7fffffff"
#define EDGES_FP8_F16  ZERO_EDGES "D1: no exponent floor (or: 2^-14); D3: a subnormal c has exponent -14 (or: its own); D6: NaN is 7fff"
#define EDGES_EMULATED "as the HMMA rows of this architecture; D19: the add of c is IEEE, NaN canonical as the HMMA's"
#define NO_MODEL       "runs nothing until a recording settles it"

#define LB_f16                              LB_F16
#define LB_bf16                             LB_BF16
#define LB_tf32                             LB_TF32
#define LB_f32                              LB_F32
#define LB_e4m3                             LB_E4M3
#define LB_e5m2                             LB_E5M2
#define FIXED                               false, false
#define FREE_N                              false, true
#define FREE_MN                             true, true
#define NAME(arch, instr, m, n, k, d, a, b) #arch "/" #instr ".m" #m "n" #n "k" #k "." #d "." #a "." #b

static const lb_unit units[] = {
#define LB_UNIT(arch, instr, m, n, k, free, d, a, b, c, path, terms, F, floor, round, evidence, source, note, open)                        \
    {NAME(arch, instr, m, n, k, d, a, b) "." #c,                                                                                           \
     m,                                                                                                                                    \
     n,                                                                                                                                    \
     k,                                                                                                                                    \
     free,                                                                                                                                 \
     LB_##a,                                                                                                                               \
     LB_##b,                                                                                                                               \
     LB_##c,                                                                                                                               \
     LB_##d,                                                                                                                               \
     LB_PATH_##path,                                                                                                                       \
     terms,                                                                                                                                \
     F,                                                                                                                                    \
     floor,                                                                                                                                \
     LB_UNIT_##round,                                                                                                                      \
     LB_EVIDENCE_##evidence,                                                                                                               \
     source,                                                                                                                               \
     note,                                                                                                                                 \
     open},
#define LB_UNIT_D(arch, instr, m, n, k, free, d, a, b, path, terms, F, floor, round, evidence, source, note, open)                         \
    {NAME(arch, instr, m, n, k, d, a, b),                                                                                                  \
     m,                                                                                                                                    \
     n,                                                                                                                                    \
     k,                                                                                                                                    \
     free,                                                                                                                                 \
     LB_##a,                                                                                                                               \
     LB_##b,                                                                                                                               \
     LB_##d,                                                                                                                               \
     LB_##d,                                                                                                                               \
     LB_PATH_##path,                                                                                                                       \
     terms,                                                                                                                                \
     F,                                                                                                                                    \
     floor,                                                                                                                                \
     LB_UNIT_##round,                                                                                                                      \
     LB_EVIDENCE_##evidence,                                                                                                               \
     source,                                                                                                                               \
     note,                                                                                                                                 \
     open},
#include "units/units.def"
#undef LB_UNIT
#undef LB_UNIT_D
};

enum { UNIT_COUNT = sizeof units / sizeof units[0] };

const lb_unit *lb_unit_row(size_t i) {
    return i < UNIT_COUNT ? &units[i] : NULL;
}

/* Architectures whose units are those of another. source: ptx-isa for the "a" targets; sm_86 and sm_87 by recordings of an A2 and an Orin. */
static const char *const arch_aliases[][2] = {
    {"sm_86", "sm_80"}, {"sm_87", "sm_80"}, {"sm_90a", "sm_90"}, {"sm_100a", "sm_100"}, {"sm_120a", "sm_120"},
};

/* Words of a full PTX spelling that do not change the arithmetic. */
static const char *const silent_words[] = {"sync",         "aligned",   "row",        "col",         "mma_async",
                                           "cta_group::1", "kind::f16", "kind::tf32", "kind::f8f6f4"};

static bool is_silent(const char *word, bool after_tcgen05) {
    for (size_t i = 0; i < sizeof silent_words / sizeof silent_words[0]; i++)
        if (strcmp(word, silent_words[i]) == 0) return true;
    return after_tcgen05 && strcmp(word, "mma") == 0; /* tcgen05.mma */
}

/* A name in canonical spelling, its shape taken out: "sm_90/wgmma.f32.f16.f16". */
typedef struct query {
    char words[96];
    unsigned m, n, k; /* 0 if the name has no shape */
} query;

static bool parse_shape(const char *word, query *q) {
    int end = 0;
    return sscanf(word, "m%4un%4uk%4u%n", &q->m, &q->n, &q->k, &end) == 3 && word[end] == 0;
}

static bool parse_query(const char *name, query *q) {
    char copy[192];
    const char *slash = strchr(name, '/');
    *q = (query){0};
    if (!slash || strlen(name) >= sizeof copy) return false;
    const size_t arch_length = (size_t)(slash - name);
    memcpy(copy, name, strlen(name) + 1);
    copy[arch_length] = 0;
    const char *arch = copy;
    for (size_t i = 0; i < sizeof arch_aliases / sizeof arch_aliases[0]; i++)
        if (strcmp(copy, arch_aliases[i][0]) == 0) arch = arch_aliases[i][1];
    size_t used = (size_t)snprintf(q->words, sizeof q->words, "%s/", arch);
    char *rest = NULL;
    bool tcgen05 = false, first = true;
    for (char *word = strtok_r(copy + arch_length + 1, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
        if (is_silent(word, tcgen05)) continue;
        tcgen05 = tcgen05 || strcmp(word, "tcgen05") == 0;
        if (!q->k && parse_shape(word, q)) continue;
        if (used >= sizeof q->words) return false;
        used += (size_t)snprintf(q->words + used, sizeof q->words - used, "%s%s", first ? "" : ".", word);
        first = false;
    }
    return used < sizeof q->words;
}

static bool free_shapes_fit(const lb_unit *u, const query *q) {
    const bool m_ok = q->m == u->m || (u->m_free && (q->m == 64 || q->m == 128));
    const bool n_ok = q->n == u->n || (u->n_free && q->n >= 8 && q->n <= 256 && q->n % 8 == 0);
    return m_ok && n_ok && q->k == u->k;
}

lb_status lb_unit_find(const char *name, lb_unit *out, lb_error *err) {
    query wanted;
    const char *names[UNIT_COUNT];
    for (size_t i = 0; i < UNIT_COUNT; i++) names[i] = units[i].name;
    if (parse_query(name, &wanted)) {
        for (size_t i = 0; i < UNIT_COUNT; i++) {
            query row;
            parse_query(units[i].name, &row);
            if (strcmp(row.words, wanted.words) != 0 || !free_shapes_fit(&units[i], &wanted)) continue;
            *out = units[i];
            out->m = (uint16_t)wanted.m;
            out->n = (uint16_t)wanted.n;
            const char *types = strchr(strchr(units[i].name, '.') + 1, '.'); /* behind the shape */
            const int head = (int)(strchr(units[i].name, '.') - units[i].name);
            snprintf(out->name, sizeof out->name, "%.*s.m%un%uk%u%s", head, units[i].name, wanted.m, wanted.n, wanted.k, types);
            return LB_OK;
        }
    }
    const char *near = lb_nearest_name(name, names, UNIT_COUNT);
    if (near) return lb_fail(err, LB_E_NAME, name, "no such unit; the nearest is %s", near);
    return lb_fail(err, LB_E_NAME, name, "no such unit; `lastbit units` lists them, as sm_80/mma.m16n8k16.f32.f16.f16.f32");
}
