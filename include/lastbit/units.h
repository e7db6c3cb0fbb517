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
typedef enum lb_unit_path {
    LB_PATH_NONE,      /* nobody knows: the row is `open` and runs nothing */
    LB_PATH_TRUNCATED, /* blocks of `terms` products and c: aligned to the largest exponent, cut, summed exactly, rounded */
    LB_PATH_TWO_HALVES /* operands widened to f16; truncated blocks over k mod 4 in {0,1}, then {2,3}, from zero; c added last, RNE */
} lb_unit_path;

typedef enum lb_unit_round {
    LB_UNIT_RZ_F32,   /* f32, toward zero, subnormals kept, overflow to Inf */
    LB_UNIT_RZ_E8M13, /* the same with 13 fraction bits (low 10 bits zero) */
    LB_UNIT_RNE_F16   /* f16, to nearest even, subnormals kept, overflow to Inf */
} lb_unit_round;

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
} lb_unit;

/** Row i in table order, NULL past the end. threads pure */
const lb_unit *lb_unit_row(size_t i);

/** Find a unit by canonical name or full PTX spelling ("sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16").
 *  errors LB_E_NAME, naming the nearest. threads pure */
lb_status lb_unit_find(const char *name, lb_unit *out, lb_error *err);

/** d = c + sum a[i]*b[i] over one K step of the unit.
 *  shapes   a, b [count] codes in the unit's formats, count <= u->k (the missing products are zeros); c one code
 *  accuracy bit-exact by definition: this is the specification
 *  errors   LB_E_SHAPE, LB_E_UNAVAILABLE for an open row, LB_E_FORMAT for parameters the engine cannot hold; nothing written
 *  threads  pure */
lb_status lb_unit_dot(const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c, uint32_t *d, lb_error *err);

/** D = A B + C in the unit's own K steps, ascending, K padded with zeros to a multiple of u->k.
 *  shapes   a [m][k] in u->a, b [k][n] in u->b, c [m][n] in u->c or NULL for +0, d [m][n] in u->d, not overlapping a or b
 *  accuracy bit-exact: each element equals the chain of lb_unit_dot
 *  errors   LB_E_SHAPE, LB_E_FORMAT, LB_E_UNAVAILABLE, LB_E_MEMORY; then nothing is written
 *  memory   allocates (m + n) * k * 8 bytes for the duration
 *  threads  pure */
lb_status lb_unit_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err);

/** One tile: lb_unit_gemm where the shapes must be the instruction's own. errors LB_E_SHAPE otherwise */
lb_status lb_unit_mma(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
