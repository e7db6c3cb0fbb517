/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a row of the kernel table is. */
#ifndef LB_KERNELS_KERNELS_H
#define LB_KERNELS_KERNELS_H

#include "lastbit/gemm.h"

typedef struct lb_kernel {
    const char *name, *note;
    bool (*usable)(void);          /* on this CPU */
    bool (*can)(const lb_unit *u); /* by the parameters of the unit, never by its name */
    lb_status (*run)(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, int threads, lb_error *err);
} lb_kernel;

#endif
