/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which lane and register holds which element of a tile, as rows (src/units/fragments.def), and a whole warp's instruction on registers.
 * A warp is what runs one instruction together: 32 lanes, 128 for wgmma, 64 for MFMA. docs/fragments.md. */
#ifndef LASTBIT_FRAGMENTS_H
#define LASTBIT_FRAGMENTS_H

#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LB_FRAGMENT_OPERAND_LIST(X)                                                                                                        \
    X(A, "a", "A [m][k]; of a sparse unit compressed, [m][k/2]")                                                                           \
    X(B, "b", "B [k][n]")                                                                                                                  \
    X(C, "c", "C [m][n]")                                                                                                                  \
    X(D, "d", "D [m][n]")                                                                                                                  \
    X(METADATA, "meta", "[m][k/2]: the place of each element of a compressed A within its group of four (tf32: of two)")                   \
    X(SCALE_A, "scale-a", "[m][scales along k]")                                                                                           \
    X(SCALE_B, "scale-b", "[scales along k][n]")

typedef enum lb_fragment_operand {
#define X(id, name, text) LB_FRAGMENT_##id,
    LB_FRAGMENT_OPERAND_LIST(X)
#undef X
        LB_FRAGMENT_OPERAND_COUNT
} lb_fragment_operand;

/** Name of an operand, "a" to "scale-b"; "?" if out of range. threads pure */
const char *lb_fragment_operand_name(lb_fragment_operand operand);

typedef enum lb_axis {
    LB_AXIS_ROW,
    LB_AXIS_COL,
    LB_AXIS_MATRIX,
    LB_AXIS_CHOSEN /* only the value `step` of this digit holds anything; an instruction's selector may set it */
} lb_axis;

/** One digit of a number in mixed radix: its value v, 0 to size-1, adds v * step to an axis. */
typedef struct lb_digit {
    int size; /* 0 in a row: as many as n needs. 1 in what is not used */
    lb_axis axis;
    int step;
} lb_digit;

enum { LB_FRAGMENT_DIGITS = 4 };

/** A row of the table: a lane's number, and an element's number within its lane, are read as digits, the lowest first. */
typedef struct lb_fragment_row {
    const char *instr, *only;    /* "mma", "wgmma", "mfma"; a word that the unit's name must have, or "" */
    lb_fragment_operand operand; /* D serves C too */
    int m, n, k;                 /* of the instruction (of a compressed A: the k of the dense one that is held alike); 0: any */
    int in_bits;                 /* of an element of A or B in its register; of A for D and metadata; 0: any */
    int own_bits;                /* of an element of D; scales along k; 0: any */
    lb_digit lane[LB_FRAGMENT_DIGITS], item[LB_FRAGMENT_DIGITS];
    lb_evidence evidence;
    const char *source, *note; /* keys in docs/sources.md; section, and what it leaves open */
} lb_fragment_row;

/** Row i in table order, NULL past the end. threads pure */
const lb_fragment_row *lb_fragment_row_at(size_t i);

/** What an instruction is told about where its metadata and scales lie; {0} is the first of each. */
typedef struct lb_fragment_selectors {
    int sparsity;               /* mma.sp: the thread, or pair of threads, of each quad that holds metadata */
    int byte_id_a, thread_id_a; /* block_scale: the byte (pair), the pair of threads */
    int byte_id_b, thread_id_b; /* the byte (pair), the thread */
} lb_fragment_selectors;

/** One operand of one unit, laid out. Plain data. */
typedef struct lb_fragment {
    lb_fragment_operand operand;
    const lb_format *format;  /* of the elements; u8 for metadata */
    int matrices, rows, cols; /* a warp may multiply several matrices at once (m8n8k4 of f16, MFMA of 4x4) */
    int lanes, items;         /* elements of each lane, also where a lane holds none that counts (a selector chose others) */
    int registers;            /* of 32 bits, of each lane */
    int bits, shift;          /* an element's share of its register (64: two, the low half first); its code lies so far above the lowest */
    lb_digit lane[LB_FRAGMENT_DIGITS], item[LB_FRAGMENT_DIGITS];
    lb_evidence evidence;
    const char *source, *note;
} lb_fragment;

/** The layout of an operand of a unit, by the unit's instruction, shape and formats.
 *  shapes   selectors may be NULL for the first of each
 *  errors   LB_E_UNAVAILABLE where no layout is known, or the operand lies in no register; LB_E_ARG for an operand that the unit does not
 *           have, and for a selector out of range
 *  threads  pure */
lb_status lb_fragment_of(const lb_unit *u, lb_fragment_operand operand, const lb_fragment_selectors *selectors, lb_fragment *out,
                         lb_error *err);

typedef struct lb_slot {
    int lane, reg, element; /* element: within the register, the lowest bits first */
} lb_slot;

typedef struct lb_place {
    int matrix, row, col;
} lb_place;

/** What a slot holds; false if nothing (out of range, not chosen, or the high half of a 64-bit element). threads pure */
bool lb_fragment_place(const lb_fragment *f, lb_slot slot, lb_place *out);

/** Where an element lies; false if it is out of range. The inverse of lb_fragment_place. threads pure */
bool lb_fragment_slot(const lb_fragment *f, lb_place place, lb_slot *out);

/** One matrix out of a warp's registers.
 *  shapes   regs [f->lanes][f->registers]; out [f->rows][f->cols] in f->format
 *  errors   LB_E_SHAPE, LB_E_FORMAT if out is not so; LB_E_ARG for a matrix out of range; LB_E_FORMAT for metadata of tf32 that is neither
 *           of its two codes (out may then be written in part)
 *  threads  pure */
lb_status lb_fragment_gather(const lb_fragment *f, const uint32_t *regs, int matrix, lb_mat *out, lb_error *err);

/** One matrix into a warp's registers. Bits of the registers that belong to nothing of this matrix stay as they are.
 *  errors   as lb_fragment_gather. threads pure */
lb_status lb_fragment_scatter(const lb_fragment *f, int matrix, const lb_mat *in, uint32_t *regs, lb_error *err);

/** What some instructions take beside the registers of A, B and C. */
typedef struct lb_warp_options {
    const uint32_t *metadata;          /* [lanes], one register each: mma.sp */
    const uint32_t *scale_a, *scale_b; /* [lanes]: block_scale */
    lb_fragment_selectors selectors;
    const lb_mat *a, *b; /* in place of registers: what lies in shared memory (B of wgmma, maybe A); [m][k], [k][n] */
} lb_warp_options;

/** One instruction of a whole warp: registers in, registers out.
 *  shapes   a, b, c, d [lanes][registers] as lb_fragment_of says for each operand; c may be NULL for +0, and may be d; options may be NULL
 *  accuracy bit-exact: lb_unit_mma_with on the tiles that the registers hold
 *  errors   LB_E_UNAVAILABLE for an open row and where a layout is not known; LB_E_ARG for an operand that is missing, or that the unit
 *           does not take, and for metadata that is no place; LB_E_MEMORY; then nothing is written
 *  memory   allocates the tiles for the duration
 *  threads  pure */
lb_status lb_warp_mma(const lb_unit *u, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d,
                      const lb_warp_options *options, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
