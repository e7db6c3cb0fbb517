/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: codes out of the caller's matrices, in the order of a unit's slots. */
#ifndef LB_KERNELS_OPERANDS_H
#define LB_KERNELS_OPERANDS_H

#include "kernels/plan.h"

/* Exponents of the finite non-zero values of a line; lo > hi if there are none. */
typedef struct lb_range {
    int lo, hi;
} lb_range;

/* out[t] = code of position k0 + t of row `row`, widened, 0 beyond the last column. k0, length: multiples of p->k. */
void lb_codes_row(const lb_plan *p, const lb_codes *f, const lb_mat *m, size_t row, size_t k0, int length, uint32_t *out);

/* out[t][j] = code of position k0 + t, column column0 + j; 0 beyond the matrix. */
void lb_codes_panel(const lb_plan *p, const lb_codes *f, const lb_mat *m, size_t k0, int length, size_t column0, uint32_t *out);

/* [count] codes, `stride` elements apart. */
void lb_codes_line(const void *from, int bytes, ptrdiff_t stride, int count, uint32_t *out);

/* Widens *r by codes[count]. */
void lb_codes_range(const lb_codes *f, const uint32_t *codes, int count, lb_range *r);

#endif
