/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a product on one set of tiles. */
#ifndef LB_KERNELS_DRIVE_H
#define LB_KERNELS_DRIVE_H

#include "kernels/tiles.h"
#include "lastbit/gemm.h"

/* What a call of lb_gemm_with asks for. */
typedef struct lb_product {
    const lb_unit *u;
    const lb_mat *a, *b, *c; /* c or NULL */
    lb_mat *d;
    lb_unit_operands with;
} lb_product;

/* lb_gemm_with for a unit that lb_plan_can; wide_only: all of it in f64, for one that lb_plan_can_wide. */
lb_status lb_drive(const lb_tiles *tiles, bool wide_only, const lb_product *x, const lb_gemm_options *options, lb_error *err);

#endif
