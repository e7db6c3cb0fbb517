/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: one call of the chains, and its codes to what the strips read. */
#ifndef LB_KERNELS_CHAIN_PACK_H
#define LB_KERNELS_CHAIN_PACK_H

#include "kernels/chains.h"

typedef enum lb_chain_held { LB_HELD_DOUBLE, LB_HELD_FLOAT, LB_HELD_PAIR } lb_chain_held;

/* How the codes of an operand are read. */
typedef struct lb_chain_format {
    const lb_format *format;
    double least; /* magnitudes below are zeros, of their sign or not */
    bool to_positive;
    double table[256]; /* of formats of up to 8 bits */
} lb_chain_format;

typedef struct lb_chain_job {
    const lb_product *x;
    const lb_chain_tiles *tiles;
    lb_chain_kind kind;
    lb_chain_held held;
    bool odd_first;                  /* pairs of positions change places */
    size_t element;                  /* bytes of a position */
    size_t per;                      /* consecutive k of a position */
    size_t length, part, block_rows; /* positions; of a part; rows of a unit of work */
    int step, terms;                 /* positions of a K step, of a block */
    size_t groups;                   /* of a line, where there are some */
    lb_chain_format fa, fb, fc;
    /* packed A, part after part, in each [rows][positions or groups of the part] */
    char *a;
    uint32_t *a_live;
    double *a_scale, *a_power;
    ptrdiff_t *a_nan; /* [rows] the last pair with a NaN, or -1 */
} lb_chain_job;

typedef struct lb_chain_scratch {
    char *b, *c;
    uint32_t *b_live;
    double *b_scale, *b_power;
    ptrdiff_t b_nan[LB_NR];
} lb_chain_scratch;

void lb_chain_formats(lb_chain_job *j);
void lb_chain_pack_row(const lb_chain_job *j, size_t i);
void lb_chain_pack_b(const lb_chain_job *j, size_t p0, size_t length, size_t column0, int columns, lb_chain_scratch *w);
void lb_chain_read_c(const lb_chain_job *j, size_t i, size_t column0, int columns, void *c);
void lb_chain_write_d(const lb_chain_job *j, size_t i, size_t column0, int columns, const void *c, const ptrdiff_t *b_nan);

#endif
