/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: products of one K step and few outputs, which would not repay packing. */
#ifndef LB_KERNELS_SMALL_H
#define LB_KERNELS_SMALL_H

#include "kernels/tiles.h"

/* Whether lb_small takes this product: K > 0, checked operands. */
bool lb_small_fits(const lb_tiles *tiles, const lb_plan *p, const lb_mat *a, const lb_mat *d);

/* lb_gemm of such a product */
lb_status lb_small(const lb_tiles *tiles, const lb_plan *p, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d,
                   lb_error *err);

#endif
