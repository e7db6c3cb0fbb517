/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a row of the kernel table is. */
#ifndef LB_KERNELS_KERNELS_H
#define LB_KERNELS_KERNELS_H

#include "kernels/drive.h"

typedef struct lb_chain_tiles lb_chain_tiles;

typedef struct lb_kernel {
    const char *name, *note;
    bool (*usable)(void);          /* on this CPU */
    bool (*can)(const lb_unit *u); /* by the parameters of the unit, never by its name */
    lb_status (*run)(const struct lb_kernel *k, const lb_product *x, const lb_gemm_options *options, lb_error *err);
    const lb_tiles *tiles;        /* of lb_drive */
    bool wide;                    /* f64 throughout */
    const lb_chain_tiles *chains; /* of lb_chain_drive */
} lb_kernel;

#endif
