/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a product on one set of tiles. */
#ifndef LB_KERNELS_DRIVE_H
#define LB_KERNELS_DRIVE_H

#include "kernels/tiles.h"
#include "lastbit/gemm.h"

/* lb_gemm for a unit that lb_plan_can; wide_only: all of it in f64. */
lb_status lb_drive(const lb_tiles *tiles, bool wide_only, const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d,
                   const lb_gemm_options *options, lb_error *err);

#endif
