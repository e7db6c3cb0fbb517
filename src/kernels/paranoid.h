/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal, in builds with LB_PARANOID=1: a kernel proves itself at each call. */
#ifndef LB_KERNELS_PARANOID_H
#define LB_KERNELS_PARANOID_H

#include "kernels/drive.h"

#if LB_PARANOID
/* lb_drive and the engine; where they differ, that is our own bug, and the program ends. */
lb_status lb_drive_checked(const char *kernel, const lb_tiles *tiles, bool wide_only, const lb_unit *u, const lb_mat *a, const lb_mat *b,
                           const lb_mat *c, lb_mat *d, const lb_gemm_options *options, lb_error *err);
#endif

#endif
