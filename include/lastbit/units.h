/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Matrix instructions as rows (src/units/units.def), and the integer engine that reads a row and gives the bits hardware gives. */
#ifndef LASTBIT_UNITS_H
#define LASTBIT_UNITS_H

#include "lastbit/formats.h"
#include "lastbit/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How an instruction is computed; docs/units.md explains each. */
#define LB_UNIT_PATH_LIST(X)                                                                                                               \
    X(NONE, "none", "nobody knows: the row is `open` and runs nothing")                                                                    \
    X(TRUNCATED, "truncated", "blocks of `terms` products and c: aligned to the largest exponent, cut, summed exactly, rounded")           \
    X(TWO_HALVES, "two_halves", "operands widened to f16; truncated blocks over k mod 4 in {0,1}, then {2,3}, from zero; c added last")    \
    X(FMA_CHAIN, "fma_chain", "c = fma(a, b, c) in ascending k, IEEE 754, to nearest even")                                                \
    X(EXACT, "exact", "blocks of `terms` products and c: summed exactly, rounded once to nearest even")                                    \
    X(PAIRWISE, "pairwise", "products and the sums of a binary tree each rounded, c added last; subnormals flushed in and out")            \
    X(LATE_C, "late_c", "products aligned and cut as in truncated; c joins their sum by floors, then one rounding to nearest even")        \
    X(LATE_C_SPLIT, "late_c_split", "the same with two sums, over even and over odd k, joined by a floor before c")                        \
    X(BLOCK_SCALED, "block_scaled", "truncated, where each product or group of products carries the scales of its block")                  \
    X(SPARSE, "sparse", "truncated over the products that the metadata of a compressed A selects")                                         \
    X(INTEGER, "integer", "products of integers and c, summed exactly, then wrapped or saturated")                                         \
    X(XOR_POPC, "xor_popc", "c and the number of places where the bits differ, wrapped")                                                   \
    X(AND_POPC, "and_popc", "c and the number of places where both bits are 1, wrapped")                                                   \
    X(ODD_FIRST, "odd_first", "c = fma(a, b, c) over the odd k, then over the even, subnormals flushed in and out")                        \
    X(TWO_CHAINS, "two_chains", "fma chains from zero over even and over odd k, added, then added to c; subnormals flushed in and out")    \
    X(PAIR_ODD, "pair_odd", "two products, their sum, the sum with c: each rounded to odd; subnormals flushed in and out")                 \
    X(PAIR_FUSED, "pair_fused", "the exact sum of two products rounded once, then added to c, both to nearest even")

typedef enum lb_unit_path {
#define X(id, name, text) LB_PATH_##id,
    LB_UNIT_PATH_LIST(X)
#undef X
        LB_PATH_COUNT
} lb_unit_path;

/* The rounding of each block, or of each step of it. */
#define LB_UNIT_ROUND_LIST(X)                                                                                                              \
    X(RZ_F32, "f32 rz", "f32, toward zero, subnormals kept, overflow to Inf")                                                              \
    X(RZ_E8M13, "e8m13 rz", "the same with 13 fraction bits (low 10 bits zero)")                                                           \
    X(RNE_F16, "f16 rne", "f16, to nearest even, subnormals kept, overflow to Inf")                                                        \
    X(RNE_F32, "f32 rne", "f32, to nearest even, overflow to Inf; whether subnormals are kept is the path's")                              \
    X(RNE_F64, "f64 rne", "f64, to nearest even, subnormals kept, overflow to Inf")                                                        \
    X(ODD_F32, "f32 odd", "f32, inexact results get an odd last bit, overflow to Inf")                                                     \
    X(WRAP_I32, "i32 wrap", "i32, modulo 2^32")                                                                                            \
    X(SATURATE_I32, "i32 saturate", "i32, clamped to its ends")

typedef enum lb_unit_round {
#define X(id, name, text) LB_UNIT_##id,
    LB_UNIT_ROUND_LIST(X)
#undef X
        LB_UNIT_ROUND_COUNT
} lb_unit_round;

const char *lb_unit_path_name(lb_unit_path path);
const char *lb_unit_round_name(lb_unit_round round);

#define LB_NO_FLOOR (-100000)

/** One instruction on one architecture. Plain data: a copy with other parameters is another unit. */
typedef struct lb_unit {
    char name[96];       /* "sm_80/mma.m16n8k16.f32.f16.f16.f32" */
    uint16_t m, n, k;    /* of the instruction; one K step of a GEMM is k */
    bool m_free, n_free; /* m (64, 128) or n (multiples of 8) is the caller's choice; the arithmetic does not depend on it */
    lb_format_id a, b, c, d;
    lb_unit_path path;
    int terms;           /* products per block */
    int frac_bits;       /* fraction bits kept below the largest exponent */
    int floor_exp;       /* least exponent that aligns a block; LB_NO_FLOOR if none */
    lb_unit_round round; /* of each block */
    lb_evidence evidence;
    const char *source; /* keys in docs/sources.md */
    const char *note;   /* what the evidence covers */
    const char *open;   /* open edges, "D1 D2 …" in docs/open-edges.md, and the choice */
    lb_format_id scale; /* of the scale operands; read only where scale_block is not 0 */
    int scale_block;    /* consecutive k that share a scale; 0: the unit takes no scales */
    int group;          /* products summed exactly before they are aligned: 16 in mxf4 and mxf4nvf4; else 0 */
    int sparse_group;   /* consecutive k of which A holds half: 4 (two of four), 2 (one of two); 0: A is dense */
} lb_unit;

/** Row i in table order, NULL past the end. threads pure */
const lb_unit *lb_unit_row(size_t i);

/** Find a unit by canonical name or by the full spelling of PTX or of an ISA, in any case of letters
 *  ("sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "gfx942/v_mfma_f32_16x16x32_fp8_bf8", "x86/VDPBF16PS").
 *  errors LB_E_NAME, naming the nearest. threads pure */
lb_status lb_unit_find(const char *name, lb_unit *out, lb_error *err);

/** d = c + sum a[i]*b[i] over one K step of the unit.
 *  shapes   a, b [count] codes in the unit's formats, count <= u->k (the missing products are zeros); c one code
 *  accuracy bit-exact by definition: this is the specification
 *  errors   LB_E_SHAPE, LB_E_UNAVAILABLE for an open row, LB_E_FORMAT for parameters the engine cannot hold and for f64;
 *           LB_E_ARG for a unit that takes scales or metadata (lb_unit_gemm_with); nothing written
 *  threads  pure */
lb_status lb_unit_dot(const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c, uint32_t *d, lb_error *err);

/** D = A B + C in the unit's own K steps, ascending, K padded with zeros to a multiple of u->k.
 *  shapes   a [m][k] in u->a, b [k][n] in u->b, c [m][n] in u->c or NULL for +0, d [m][n] in u->d, not overlapping a or b
 *  accuracy bit-exact: each element equals the chain of lb_unit_dot
 *  errors   LB_E_SHAPE, LB_E_FORMAT, LB_E_UNAVAILABLE, LB_E_MEMORY; then nothing is written
 *  memory   allocates (m + n) * k * 8 bytes for the duration
 *  threads  pure */
lb_status lb_unit_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err);

/** Whether lb_unit_dot takes this unit: not an open row, no scales or metadata, codes of at most 32 bits. errors as lb_unit_dot */
lb_status lb_unit_dot_check(const lb_unit *u, lb_error *err);

/** What some units take beside A, B and C; {0} is none. A unit that does not take an operand refuses it. */
typedef struct lb_unit_operands {
    const lb_mat *scale_a;  /* [m][ceil(k / u->scale_block)] in u->scale: (r, s) scales A (r, s*block … s*block+block-1) */
    const lb_mat *scale_b;  /* [ceil(k / u->scale_block)][n] in u->scale */
    const lb_mat *metadata; /* [m][k/2] in u8: place of each element of a compressed A within its group of u->sparse_group */
} lb_unit_operands;

/** lb_unit_gemm for every unit, with its scales or its metadata.
 *  shapes   as lb_unit_gemm, but A of a sparse unit is compressed: [m][k/2], and k (the rows of B) is a multiple of u->sparse_group.
 *           Compressed element i of a group of four goes to k = 4*(i/2) + metadata, of a group of two to k = 2*i + metadata;
 *           the two places of a group of four ascend.
 *  errors   as lb_unit_gemm; LB_E_ARG for an operand that is missing or not the unit's, and for metadata that is no place;
 *           LB_E_SHAPE for a wrong number of scales
 *  memory   allocates (m + n) * k * 8 bytes for the duration
 *  threads  pure */
lb_status lb_unit_gemm_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                            lb_error *err);

/** One tile of the same, where the shapes must be the instruction's own. errors LB_E_SHAPE otherwise */
lb_status lb_unit_mma_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                           lb_error *err);

/** The dense A that a compressed A and its metadata stand for: what is not kept is +0.
 *  shapes   compressed, metadata [m][k/2]; dense [m][k] in the same format
 *  errors   LB_E_ARG for a dense unit or metadata that is no place, LB_E_SHAPE, LB_E_FORMAT; then nothing is written
 *  threads  pure */
lb_status lb_unit_expand(const lb_unit *u, const lb_mat *compressed, const lb_mat *metadata, lb_mat *dense, lb_error *err);

/** One tile: lb_unit_gemm where the shapes must be the instruction's own. errors LB_E_SHAPE otherwise */
lb_status lb_unit_mma(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
