/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Our own OpenCL C kernels (those of opencl/) as a device: every operator of launches.def, and products, in whatever language compiles them. */
#ifndef LB_BACKENDS_OWN_H
#define LB_BACKENDS_OWN_H

#include "backends/device.h"
#include "backends/launch.h"

typedef struct lb_own_kind {
    const char *name; /* "opencl" */
    const lb_source_language *runs;
    const char *const *before; /* files that stand before a kernel's, NULL at the end */
} lb_own_kind;

/** Our kernels on device `which` of a kind: what its backend's other functions below take. errors the language's */
lb_status lb_own_open(lb_device **out, const lb_own_kind *kind, const char *which, lb_error *err);
bool lb_own_can(const lb_device *d, const lb_case *x, const char **why_not);
lb_status lb_own_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err);
bool lb_own_can_op(const lb_device *d, const lb_op_case *x, const char **why_not);
lb_status lb_own_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err);
void lb_own_close(lb_device *d);

/** A kernel's file ("rows") with those of `before` in front, as one text. errors LB_E_UNAVAILABLE, LB_E_MEMORY. memory free() */
lb_status lb_own_source(const char *const *before, const char *file, char **out, lb_error *err);

extern const lb_own_kind lb_opencl_kind, lb_cuda_kind;

#endif
