/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a row of the kernel table is. */
#ifndef LB_KERNELS_KERNELS_H
#define LB_KERNELS_KERNELS_H

#include "kernels/tiles.h"
#include "lastbit/gemm.h"

typedef struct lb_kernel {
    const char *name, *note;
    bool (*usable)(void);          /* on this CPU */
    bool (*can)(const lb_unit *u); /* by the parameters of the unit, never by its name */
    const lb_tiles *tiles;         /* NULL: the engine */
    bool wide;                     /* f64 throughout */
} lb_kernel;

#endif
