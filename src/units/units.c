/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of units. */
#include "lastbit/units.h"

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
#define AS_VOLTA          "no recording; one public model, whose release 2.1.1 takes Volta's block here (before: 24 fraction bits)"
#define TWO_MODELS        "no recording; two public models agree"
#define F64_CHAIN         "no recording; one public model: a chain of fma"
#define FP4_MIX           "no recording; one public model has fp4 here"
#define FP6_MIX           "no public model has fp6: by analogy with fp8 and fp4 of the same instruction"
#define K16_AS_K32        "by analogy with m16n8k32; no public model has f16 results with k = 16"
#define MX_MODEL          "no recording; one public model, its 25 fraction bits"
#define MX_FP6            "no public model has fp6: by analogy with fp8 and fp4 of the same instruction"
#define FP4_GROUPS        "no recording; one public model, in two versions that differ where products cancel"
#define EXACT_INTEGERS    "integer arithmetic, as the ISA defines it"
#define SPARSE_BLOCKS     "no model and no recording: the dense instruction's rule over the products that A keeps"
#define CDNA1_EXACT       "no recording; two public models agree, an older one adds pairwise"
#define CDNA2_PAIRS       "no recording; three public models agree"
#define CDNA2_OLD_BF16    "no recording; one public model takes two products at a time, another four"
#define CDNA3_LATE        "no recording; two public models agree, a third differs in a few of 2e7 aimed cases"
#define CDNA3_FP8         "no recording; three public models agree"
#define CDNA_CHAIN        "no recording; one public model: a chain of fma"
#define SDM_LIVE_BF16     "the vendor's text; equal to an Intel Xeon on 10^7 vectors in seven classes"
#define SDM_LIVE_INT      "the vendor's text; equal to an Intel Xeon on 10^6 vectors"
#define SDM_ONLY          "the vendor's text; nothing here to run it on"
#define ARM_TEXT          "the vendor's text; nothing here to run it on"
#define NOT_A_TENSOR_PATH "ptxas emits FFMA and FADD, no HMMA: its order is not known"
#define K16_SPLIT_UNKNOWN "ptxas emits two HMMA and four FADD: its split of k is not known"

/* ---- open edges: "Dn: the choice (why), or the alternative: --set what runs it"; docs/open-edges.md has them at length ---------- */
#define D1_F32      "D1: with c = 0 exponents end at the row's floor (measured), or at 2^-126: --set floor_exp=-126; "
#define D1_NO_FLOOR "D1: exponents have no floor (measured), or end at 2^-126: --set floor_exp=-126; "
#define D1_F16      "D1: with c = 0 exponents end at the row's floor (measured), or at 2^-14: --set floor_exp=-14; "
#define D1_FP8_F16  "D1: exponents have no floor (as with f32), or end at 2^-14: --set floor_exp=-14; "
#define D2_D4_D5                                                                                                                           \
    "D2: a zero product raises no exponent (two models), or counts as 2^-126 times its partner: --set zero_products=count; "               \
    "D4: an overflow is Inf (two models), or the largest finite value: --set overflow=max; "                                               \
    "D5: a sum that rounds to zero keeps its sign (two models), or is +0: --set tiny_sign=plus; "
#define D3      "D3: a subnormal c has the least exponent (one model; so have operands), or its own: --set c_subnormal=own; "
#define D6_F32  "D6: NaN is 7fffffff (NVIDIA's canonical one), or another: --set nan=7fc00000"
#define D6_F16  "D6: NaN is 7fff (NVIDIA's canonical one), or another: --set nan=7e00"
#define D6_F64  "D6: NaN is 7ff8000000000000 (IEEE 754's usual one), or another: --set nan=7fffffffffffffff"
#define D6_CDNA "D6: NaN is 7fc00000 (IEEE 754's usual one), or another: --set nan=ffc00000"
#define D8      "D8: 13 fraction bits, then f16 (recorded); no parameter for the other model, whose bits are a defect; "
#define D9      "D9: a product out of range is Inf of its own sign (two models); no parameter for +Inf, a defect of the other; "
#define D10     "D10: c comes out where all products are zero (two models); the other model fails there; "
#define D12     "D12: NaN and Inf are looked for block by block (two models), or in a whole K step: --set specials=step; "
#define D15     "D15: two halves and an add (recorded), or one block of 32 with c: --set path=truncated,terms=32; "
#define D16     "D16: the low 13 bits of A and B drop before NaN is told from Inf (one model), or NaN stays: --set tf32=keep_nan"
#define D19     "D19: the last add of c is IEEE 754's, NaN the HMMA's (an ordinary add), or the operand's NaN: no parameter"
#define D20     "D20: an exact zero sum is +0 (as NVIDIA's), or has IEEE 754's sign: no parameter; "
#define D23     "; D23: a block is of consecutive kept products (what a multiplier sees), or of consecutive k: no parameter"

#define EDGES_F32_NO_FLOOR D1_NO_FLOOR D2_D4_D5 D12 D6_F32
#define EDGES_F32          D1_F32 D2_D4_D5 D12 D6_F32
#define EDGES_TF32         EDGES_F32 "; " D16
#define EDGES_F16          D1_F16 D2_D4_D5 D3 D12 D6_F16
#define EDGES_FP8_F32      EDGES_F32_NO_FLOOR
#define EDGES_FP8_F16      D1_FP8_F16 D2_D4_D5 D3 D8 D12 D6_F16
#define EDGES_EMULATED                                                                                                                     \
    "D1: with c = 0 exponents end where the HMMA's do (it is two of them), or at 2^-126: --set floor_exp=-126; " D2_D4_D5                  \
    "D6: NaN is the HMMA's (likewise); " D15 D19
#define EDGES_F64 D6_F64
#define EDGES_MX                                                                                                                           \
    D1_F32 "D4: an overflow is Inf (two models), or the largest finite value: --set overflow=max; "                                        \
           "D5: a sum that rounds to zero keeps its sign (two models), or is +0: --set tiny_sign=plus; " D6_F32
#define EDGES_FP4                                                                                                                          \
    EDGES_MX "; D17: a group counts if a product is not zero (newer model), or if its sum is not: --set zero_group=sum, "                  \
             "or always (older model): --set zero_group=always; "                                                                          \
             "D18: 35 fraction bits (one model, 34 to 37 suspected on a B200), or 25 (RTX 5090): --set frac_bits=25"
#define EDGES_INT "none: exact"
#define EDGES_SATFINITE                                                                                                                    \
    "D21: the exact sum of c and all products is clamped once (the ISA's text), or after each hardware step: no parameter"
#define EDGES_SPARSE_F32 EDGES_F32 D23
#define EDGES_SPARSE_F16 EDGES_F16 D23
#define EDGES_SPARSE_FP8 EDGES_FP8_F32 D23
#define EDGES_CDNA       D6_CDNA
#define EDGES_CDNA1      "D7: one exact sum (two models), or pairwise, each sum rounded: --set path=pairwise,subnormals=keep; " D20 D6_CDNA
#define EDGES_CDNA2      D9 D6_CDNA
#define EDGES_CDNA2_BF16                                                                                                                   \
    D9 "D13: two products a block (one model; the other has one rule for all), or four where k allows: --set k=4,terms=4; " D6_CDNA
#define EDGES_CDNA3 D9 D10 "D11: floors as two models have them, or once more behind normalising: --set late_floor=twice; " D20 D6_CDNA
#define EDGES_XF32  EDGES_CDNA3 "; D24: the low 13 bits of A and B drop (one model), or round: --set tf32=round; " D16
#define EDGES_X86   "none"
#define EDGES_TDP   "D22: NaN is ffc00000 (x86's default), or an operand's, quieted: no parameter; another code: --set nan=7fc00000"
#define NO_MODEL    "runs nothing until a recording settles it"

/* ---- names of formats and freedoms as the rows spell them ---------------------------------------------------------- */
#define LB_f64          LB_F64
#define LB_f32          LB_F32
#define LB_tf32         LB_TF32
#define LB_f16          LB_F16
#define LB_bf16         LB_BF16
#define LB_e4m3         LB_E4M3
#define LB_e5m2         LB_E5M2
#define LB_e4m3fnuz     LB_E4M3FNUZ
#define LB_e5m2fnuz     LB_E5M2FNUZ
#define LB_e3m2         LB_E3M2
#define LB_e2m3         LB_E2M3
#define LB_e2m1         LB_E2M1
#define LB_i8           LB_I8
#define LB_u8           LB_U8
#define LB_i4           LB_I4
#define LB_u4           LB_U4
#define LB_b1           LB_B1
#define LB_i32          LB_I32
#define LB_ue8m0        LB_E8M0
#define LB_ue4m3        LB_UE4M3
#define LB_FREE_FIXED   false, false
#define LB_FREE_FREE_N  false, true
#define LB_FREE_FREE_MN true, true

#define NAME(arch, instr, m, n, k, d, a, b) #arch "/" #instr ".m" #m "n" #n "k" #k "." #d "." #a "." #b

/* Every row ends here. */
#define ROW(name, m, n, k, free, d, a, b, c, path, terms, F, floor, round, scale, block, group, sparse, evidence, source, note, open)      \
    {name,                                                                                                                                 \
     m,                                                                                                                                    \
     n,                                                                                                                                    \
     k,                                                                                                                                    \
     LB_FREE_##free,                                                                                                                       \
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
     open,                                                                                                                                 \
     LB_##scale,                                                                                                                           \
     block,                                                                                                                                \
     group,                                                                                                                                \
     sparse,                                                                                                                               \
     {0}},
#define LB_UNIT(arch, instr, m, n, k, free, d, a, b, c, path, terms, F, floor, round, evidence, source, note, open)                        \
    ROW(NAME(arch, instr, m, n, k, d, a, b) "." #c, m, n, k, free, d, a, b, c, path, terms, F, floor, round, ue8m0, 0, 0, 0, evidence,     \
        source, note, open)
#define LB_UNIT_D(arch, instr, m, n, k, free, d, a, b, path, terms, F, floor, round, evidence, source, note, open)                         \
    ROW(NAME(arch, instr, m, n, k, d, a, b), m, n, k, free, d, a, b, d, path, terms, F, floor, round, ue8m0, 0, 0, 0, evidence, source,    \
        note, open)

static const lb_unit units[] = {
#include "units/units.def"
#include "units/units_narrow.def"
#include "units/units_scaled.def"
#include "units/units_integer.def"
#include "units/units_sparse.def"
#include "units/units_amd.def"
#include "units/units_cpu.def"
};

enum { UNIT_COUNT = sizeof units / sizeof units[0] };

const lb_unit *lb_unit_row(size_t i) {
    return i < UNIT_COUNT ? &units[i] : NULL;
}

const char *lb_unit_path_name(lb_unit_path path) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_UNIT_PATH_LIST(X)
#undef X
    };
    return (unsigned)path < LB_PATH_COUNT ? names[path] : "?";
}

const char *lb_unit_round_name(lb_unit_round round) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_UNIT_ROUND_LIST(X)
#undef X
    };
    return (unsigned)round < LB_UNIT_ROUND_COUNT ? names[round] : "?";
}
