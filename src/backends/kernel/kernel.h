/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a kernel's JSON, read; and what it makes of a case. */
#ifndef LB_BACKENDS_KERNEL_H
#define LB_BACKENDS_KERNEL_H

#include "backends/device.h"

#include <jansson.h>

struct lb_kernel_language;

typedef struct lb_kernel {
    lb_device base;
    char path[512];
    json_t *spec;
    char *source;
    const char *op; /* NULL: a product (lb_case) */
    const struct lb_kernel_language *language;
    void *session;                          /* NULL before the first run */
    const lb_format *in, *in_b, *acc, *out; /* acc NULL: the kernel takes no C; with op: in alone, T, NULL for any */
    bool tb;
    char why[256];
} lb_kernel;

/** The launch that the file describes for a product. packed[3]: free() each after the run. errors LB_E_FILE, LB_E_MEMORY */
lb_status lb_kernel_job(const lb_kernel *k, const lb_case *x, void *y, lb_source_job *job, void *packed[3], lb_error *err);

/** The same for an operator; options[size] is the job's, with T and the work-group's sizes. errors LB_E_FILE, LB_E_SHAPE */
lb_status lb_kernel_op_job(const lb_kernel *k, const lb_op_case *x, lb_source_job *job, char *options, size_t size, lb_error *err);

#endif
