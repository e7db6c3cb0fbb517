/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal, in builds with LB_PARANOID=1: a kernel proves itself at each call. */
#ifndef LB_KERNELS_PARANOID_H
#define LB_KERNELS_PARANOID_H

#include "kernels/kernels.h"

#if LB_PARANOID
/* A kernel and the engine; where they differ, that is our own bug, and the program ends. */
lb_status lb_run_checked(const lb_kernel *kernel, const lb_product *x, const lb_gemm_options *options, lb_error *err);
#endif

#endif
