/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory that calls reuse: the first touch of fresh pages costs as much as packing, so pages are few, huge and kept. */
#include "kernels/workspace.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE = 2 << 20, LINE = 64 };

void *lb_workspace_reserve(lb_workspace *w, size_t size) {
    if (size <= w->size) return w->block;
    const size_t grain = size < HUGE ? LINE : HUGE;
    if (size > SIZE_MAX - grain) return NULL;
    const size_t rounded = (size + grain - 1) / grain * grain;
    void *block = aligned_alloc(grain, rounded);
    if (!block) return NULL;
#ifdef MADV_HUGEPAGE
    if (grain == HUGE) madvise(block, rounded, MADV_HUGEPAGE); /* a wish; nothing depends on it */
#endif
    free(w->block);
    *w = (lb_workspace){block, rounded};
    return block;
}

void lb_workspace_release(lb_workspace *w) {
    free(w->block);
    *w = (lb_workspace){0};
}

lb_status lb_workspace_open(lb_workspace **out, lb_error *err) {
    lb_workspace *w = calloc(1, sizeof *w);
    if (!w) return lb_fail(err, LB_E_MEMORY, "workspace", "no memory");
    *out = w;
    return LB_OK;
}

void lb_workspace_close(lb_workspace *w) {
    if (!w) return;
    lb_workspace_release(w);
    free(w);
}
