/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: scales of blocks of A and B, which a schedule's chains meet where they are promoted, or behind the sum over K. */
#ifndef LB_KERNELS_SCALING_H
#define LB_KERNELS_SCALING_H

#include "kernels/schedule_plan.h"

/* errors LB_E_ARG, LB_E_SHAPE, LB_E_FORMAT: what lb_scheduled_check asks where there are scales */
lb_status lb_scales_check(const lb_scheduled *x, lb_error *err);

/* Which block of K the chunk at `at` of part p's own K belongs to. */
size_t lb_scale_block(const lb_scheduled *x, const lb_k_plan *plan, size_t p, size_t at);

/* sums[rows][cols] += chunk with the scales of K block kb, as s->scaling says; the region begins at (row, col). */
void lb_scaled_add(const lb_scheduled *x, size_t kb, size_t row, size_t rows, size_t col, size_t cols, const float *chunk, float *sums);

/* sums times the scales of a schedule without promotion. */
void lb_scaled_end(const lb_scheduled *x, size_t row, size_t rows, size_t col, size_t cols, float *sums);

#endif
