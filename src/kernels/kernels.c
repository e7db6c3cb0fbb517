/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel table and the choice among its rows. */
#include "kernels/kernels.h"

#include <string.h>

static bool always(const lb_unit *u) {
    (void)u;
    return true;
}

static bool any_cpu(void) {
    return true;
}

static lb_status run_engine(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, int threads, lb_error *err) {
    (void)threads;
    return lb_unit_gemm(u, a, b, c, d, err);
}

static const lb_kernel kernels[] = {
    {"engine", "the integer engine: every unit, every machine", any_cpu, always, run_engine},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

bool lb_kernel_row(size_t i, lb_kernel_text *out) {
    if (i >= KERNELS) return false;
    *out = (lb_kernel_text){kernels[i].name, kernels[i].note, kernels[i].usable()};
    return true;
}

lb_status lb_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, const lb_gemm_options *options,
                  lb_error *err) {
    const lb_gemm_options o = options ? *options : (lb_gemm_options){0};
    for (size_t i = 0; i < KERNELS; i++) {
        const lb_kernel *kernel = &kernels[i];
        if (o.kernel && strcmp(o.kernel, kernel->name) != 0) continue;
        if (kernel->usable() && kernel->can(u)) return kernel->run(u, a, b, c, d, o.threads, err);
        if (o.kernel) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "kernel %s cannot run this unit on this CPU", o.kernel);
    }
    const char *names[KERNELS];
    for (size_t i = 0; i < KERNELS; i++) names[i] = kernels[i].name;
    const char *nearest = lb_nearest_name(o.kernel, names, KERNELS);
    return lb_fail(err, LB_E_NAME, o.kernel, "no such kernel%s%s%s", nearest ? "; did you mean " : "", nearest ? nearest : "",
                   nearest ? "?" : "");
}
