/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a compressed A as a dense one. */
#ifndef LB_KERNELS_SPARSE_DRIVE_H
#define LB_KERNELS_SPARSE_DRIVE_H

#include "kernels/drive.h"

/* By the parameters of the unit: some other kernel has the dense unit. */
bool lb_sparse_can(const lb_unit *u);

/* lb_gemm_with for a unit that lb_sparse_can */
lb_status lb_sparse_drive(const lb_product *x, const lb_gemm_options *options, lb_error *err);

#endif
