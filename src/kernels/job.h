/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: one call of a vector kernel. */
#ifndef LB_KERNELS_JOB_H
#define LB_KERNELS_JOB_H

#include "kernels/operands.h"
#include "kernels/tiles.h"

/* What NaN and Inf among the terms of an output make of it. */
enum { LB_PLUS_INF = 1, LB_MINUS_INF = 2, LB_IS_NAN = 4 };

typedef struct lb_line {
    lb_range range; /* of exponents: of the format if it is narrow, else of the data */
    uint64_t first; /* non-zero positions of the first block */
    bool special;   /* holds NaN or Inf */
    bool nan_scale; /* holds a scale that is NaN */
    bool split;     /* rows of A: a block could exceed int32 */
} lb_line;

/* A call; its operands may have been exchanged, so that the longer side is in columns. */
typedef struct lb_job {
    const lb_plan *p;
    const lb_tiles *tiles;
    lb_mat a, b, d;
    const lb_mat *c;         /* or NULL */
    lb_unit_operands with;   /* the caller's: not exchanged */
    lb_mat scale_a, scale_b; /* of scaled blocks: [rows of a][blocks], [blocks][columns of b] */
    bool wide_only;          /* the f64 path for everything */
    bool swapped;            /* a is B transposed, b is A transposed, and so on */
    size_t k_padded;
    size_t block_rows; /* rows of a unit of work */
    bool by_sign;      /* strip_by_sign for what is fast */
    bool scaled;       /* blocks carry scales; wide_only */
    int chunk;         /* products of a chunk: a multiple of k */
    int half_x;        /* XA = lo of A + half_x; XB likewise with the rest */
    /* packed A: chunk after chunk, in each [rows][length] */
    float *packed;
    double *wide_packed; /* wide_only: instead of packed */
    uint32_t *packed_exp, *packed_neg;
    lb_line *rows; /* [m] */
} lb_job;

/* What a thread works in. */
typedef struct lb_scratch {
    uint32_t *codes; /* [LB_KC][LB_NR] */
    float *b;        /* [LB_KC][LB_NR], by sign [LB_KC][2][LB_NR] */
    int8_t *b_exp;
    double *wide_b;
    int16_t *wide_b_exp;
    double *wide_a; /* [LB_KC] */
    uint32_t *wide_a_exp, *wide_a_neg;
    int16_t *b_scales; /* [LB_KC][LB_NR] */
    float *c;          /* [block_rows][LB_NR] */
    uint8_t *c_flags;  /* [block_rows][LB_NR] of the caller's c */
    int *x;            /* [block_rows] X of a row, LB_X_WIDE for the f64 path */
} lb_scratch;

/* One panel of B. */
typedef struct lb_panel {
    size_t column0;
    int columns;
    int width; /* columns that are packed: 32 where 16 are enough, else LB_NR */
    lb_range range;
    bool first_known;
    uint64_t first[LB_NR];   /* non-zero positions of the first block */
    uint32_t special[LB_NR]; /* ~0: the column holds NaN or Inf */
    bool any_special;
    bool nan[LB_NR];       /* it holds NaN, or a scale that is NaN */
    bool nan_scale[LB_NR]; /* … the latter */
    bool listed;           /* the Infs of the columns without NaN are in the list: those of column j from from[j] on */
    size_t from[LB_NR + 1];
    const uint32_t *list;
} lb_panel;

/* Fills any_special, nan, listed, from and list from `special`; list [room]. */
void lb_job_list_specials(const lb_job *job, lb_panel *panel, uint32_t *list, size_t room);

/* [columns] outputs of row i of A from column0 on, on the engine. */
lb_status lb_job_by_engine(const lb_job *job, size_t i, size_t column0, int columns, float *values, lb_error *err);

/* Positions of a part of the f64 path, of K steps of k: its part of B fits in the first cache. */
int lb_wide_part(int k);

/* Outputs of row i of A in the panel that NaN or Inf among the terms decide. c_flags [columns]: NaN and Inf of the caller's c, which
 * took part as zeros; values [columns]: in, what the finite terms make; out, what all make. */
lb_status lb_job_specials(const lb_job *job, const lb_panel *panel, size_t i, const uint8_t *c_flags, float *values, lb_error *err);

/* One unit of work: rows row0 .. row0 + rows of A against a panel; panel->column0 and columns are set. */
lb_status lb_job_unit(const lb_job *job, lb_panel *panel, size_t row0, size_t rows, const lb_scratch *w, lb_error *err);

/* Rows of A, packed into job->packed. */
void lb_job_pack_row(const lb_job *job, size_t i);

#endif
