/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a matrix unit is driven for a recording: the PTX that runs it over tiles, and where each element of a tile lies among the lanes'
 * registers. The kernel only loads, multiplies and stores; the layout is on this side, so that PTX has no index maths to get wrong. */
#ifndef LB_RUN_CAPTURE_PTX_H
#define LB_RUN_CAPTURE_PTX_H

#include "lastbit/units.h"

enum { LB_CAPTURE_A, LB_CAPTURE_B, LB_CAPTURE_C, LB_CAPTURE_OPERANDS };

/* One operand among the lanes of a block: lane l's register r is word r*lanes + l. */
typedef struct lb_capture_part {
    const lb_format *format;
    int words;      /* registers a lane (B of wgmma: words of shared memory a lane) */
    int word_bytes; /* 4, or 8 of f64 */
    int slot_bits;  /* of one element in a word */
    int slot_shift; /* of its code within them */
} lb_capture_part;

typedef struct lb_capture_shape {
    lb_unit unit;
    int lanes;    /* threads of a block: 32, of wgmma 128 */
    int matrices; /* that a block multiplies at once: 1, of the four-matrix m8n8k4 4 */
    bool wgmma, quads;
    lb_capture_part part[LB_CAPTURE_OPERANDS]; /* D lies as C does */
} lb_capture_shape;

typedef struct lb_capture_place {
    int matrix, row, col; /* A: col is k; B: row is k */
} lb_capture_place;

/** errors LB_E_UNAVAILABLE with the reason why no kernel is written for this unit. threads pure */
lb_status lb_capture_shape_of(const lb_unit *u, lb_capture_shape *out, lb_error *err);

/** Place of slot `slot` of word `word` of lane `lane` of an operand; false where that holds nothing. threads pure */
bool lb_capture_place_of(const lb_capture_shape *s, int operand, int lane, int word, int slot, lb_capture_place *out);

/** Kernel "lastbit_capture" (a, b, c, d addresses, u32 steps): block g reads A and B of each of its steps, chains the steps through C and
 *  writes D. A, B [blocks][steps][words][lanes], C, D [blocks][words][lanes]. *out is the caller's to free(). errors LB_E_MEMORY */
lb_status lb_capture_ptx_of(const lb_capture_shape *s, char **out, lb_error *err);

#define LB_CAPTURE_ENTRY "lastbit_capture"

#endif
