/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: memory that calls reuse. */
#ifndef LB_KERNELS_WORKSPACE_H
#define LB_KERNELS_WORKSPACE_H

#include "lastbit/gemm.h"

struct lb_workspace {
    void *block;
    size_t size;
};

/* The block, at least `size` bytes; its contents are lost where it grows. NULL: no memory. */
void *lb_workspace_reserve(lb_workspace *w, size_t size);
void lb_workspace_release(lb_workspace *w);

#endif
