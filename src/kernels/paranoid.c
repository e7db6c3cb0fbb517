/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A kernel against the engine, at each call of a build with LB_PARANOID=1. */
#include "kernels/paranoid.h"

#if LB_PARANOID
#include "units/step.h"

#include <stdio.h>
#include <stdlib.h>

static void compare(const char *kernel, const lb_unit *u, const lb_mat *got, const lb_mat *want) {
    for (size_t i = 0; i < want->rows; i++)
        for (size_t j = 0; j < want->cols; j++) {
            const unsigned long long g = lb_mat_code(got, i, j), w = lb_mat_code(want, i, j);
            if (g == w) continue;
            fprintf(stderr, "lastbit: bug in kernel %s: %s at %zu,%zu: got %llx, the engine says %llx\n", kernel, u->name, i, j, g, w);
            abort();
        }
}

lb_status lb_run_checked(const lb_kernel *kernel, const lb_product *x, const lb_gemm_options *options, lb_error *err) {
    const lb_mat *d = x->d;
    void *codes = calloc(d->rows * d->cols + 1, (size_t)d->format->bytes); /* apart: d may be c */
    if (!codes) return lb_fail(err, LB_E_MEMORY, x->u->name, "no memory to check a kernel");
    lb_mat want = lb_mat_of(d->format, codes, d->rows, d->cols);
    const lb_status s = lb_unit_gemm_with(x->u, x->a, x->b, x->c, &x->with, &want, err);
    const lb_status got = s == LB_OK ? kernel->run(kernel, x, options, err) : s;
    if (got == LB_OK) compare(kernel->name, x->u, d, &want);
    free(codes);
    return got;
}
#else
typedef int lb_not_paranoid; /* C wants a declaration in every file */
#endif
