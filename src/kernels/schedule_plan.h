/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: which elements of K are whose, and in which order; and the run of one region of the output. */
#ifndef LB_KERNELS_SCHEDULE_PLAN_H
#define LB_KERNELS_SCHEDULE_PLAN_H

#include "lastbit/schedule.h"

/* Elements of K that follow each other; padded with zeros to a multiple of the instruction's k. */
typedef struct lb_k_range {
    size_t begin, end;
} lb_k_range;

/* Part p runs over range[first[p]] … range[first[p + 1]), in this order. */
typedef struct lb_k_plan {
    size_t parts;
    size_t *first; /* [parts + 1] */
    lb_k_range *range;
} lb_k_plan;

/* The parts of a product over k elements; step is the instruction's k. cuts: NULL, or for stream-K the tiles at which a new part begins,
 * the first 0. errors LB_E_MEMORY. lb_k_plan_close */
lb_status lb_k_plan_open(lb_k_plan *out, const lb_schedule *s, size_t step, size_t k, const size_t *cuts, size_t cut_count, lb_error *err);
void lb_k_plan_close(lb_k_plan *p);

/* Elements of K in a tile. */
size_t lb_schedule_tile_k(const lb_schedule *s, size_t step);

/* Stream-K's grid of output tiles, and which worker begins where. */
typedef struct lb_stream {
    const lb_schedule *s;
    size_t down, across, tile_m, tile_n; /* tiles, and their size */
    size_t per_tile;                     /* tiles of K of one output tile */
    size_t *cuts;                        /* [per_tile + 1], of the tile last asked for */
} lb_stream;

/* errors LB_E_MEMORY */
lb_status lb_stream_open(lb_stream *out, const lb_schedule *s, size_t step, size_t m, size_t n, size_t k, lb_error *err);
void lb_stream_close(lb_stream *g);
/* Fill cuts with the tiles of K at which a worker begins within output tile t; how many there are. */
size_t lb_stream_cuts(lb_stream *g, size_t t);
void lb_stream_place(const lb_stream *g, size_t t, size_t *row, size_t *col);

/* One product, everything checked. */
typedef struct lb_scheduled {
    const lb_unit *u;
    const lb_schedule *s;
    lb_mat a, b, c, d, bias; /* c.codes, bias.codes NULL: none */
    const lb_format *out;
    const lb_gemm_options *options;
    bool native; /* lb_f32_native */
} lb_scheduled;

/* errors as lb_gemm_scheduled's, but for memory; d NULL: not yet known, x->out is the schedule's or the unit's */
lb_status lb_scheduled_check(lb_scheduled *x, const lb_unit *u, const lb_schedule *s, const lb_mat *a, const lb_mat *b, const lb_mat *c,
                             const lb_mat *d, const lb_gemm_options *options, lb_error *err);

/* Result of part p of rows x cols at (row, col) into sums [rows][cols], before it is rounded to `partial`. */
lb_status lb_scheduled_part(const lb_scheduled *x, const lb_k_plan *plan, size_t p, size_t row, size_t rows, size_t col, size_t cols,
                            float *sums, lb_error *err);

/* v[size] rounded to `type`. */
void lb_scheduled_round(const lb_scheduled *x, lb_k_type type, float *v, size_t size);

/* Add parts[count][size] as the schedule says; the sum is left in parts[0]. The rest is overwritten. */
void lb_scheduled_reduce(const lb_scheduled *x, float *parts, size_t count, size_t size);

/* Steps 4 and 5 of a region: sums [rows][cols] become codes[rows][cols] of x->out, x->out->bytes each. sums is overwritten.
 * c_values: room for [rows][cols]. */
void lb_scheduled_finish(const lb_scheduled *x, size_t row, size_t rows, size_t col, size_t cols, float *sums, float *c_values, lb_mat *d);

#endif
