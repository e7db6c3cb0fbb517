/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How an operator's kernel is launched: rows of launches.def, shared by every device that runs kernels; and the calling convention (inputs,
 * outputs, parameters, each in the order of ops.def) as a job. */
#ifndef LB_BACKENDS_LAUNCH_H
#define LB_BACKENDS_LAUNCH_H

#include "backends/device.h"

typedef struct lb_launch {
    const char *op, *file, *entry, *global, *local, *fits;
} lb_launch;

/** Row of an operator, NULL if it has none. threads pure */
const lb_launch *lb_launch_find(const char *op);

/** Row i, NULL past the end. threads pure */
const lb_launch *lb_launch_row(size_t i);

/** Whether the kernel takes the case (the row's `fits`, and every size in 32 bits); false with the reason. threads pure */
bool lb_launch_fits(const lb_launch *l, const lb_op_case *x, const char **why_not);

/** Work-items and work-group, *dims of each. A global size of 0 is an empty case: nothing is to be launched.
 *  errors LB_E_FILE: an expression of the row, LB_E_SHAPE: a size out of range */
lb_status lb_launch_grid(const lb_launch *l, const lb_op_case *x, size_t global[3], size_t local[3], unsigned *dims, lb_error *err);

/** Value of one expression over the case's whole parameters. errors LB_E_FILE as lb_expr_eval. threads pure */
lb_status lb_launch_eval(const char *text, const lb_op_case *x, const char *place, int64_t *out, lb_error *err);

/** The calling convention: buffers of x->in, then of x->out, then the parameters, appended to job's buffers and args. The rest of the job
 *  is as it was. errors LB_E_SHAPE: a whole parameter beyond 32 bits */
lb_status lb_launch_args(const lb_op_case *x, lb_source_job *job, lb_error *err);

/** What a kernel's text is compiled with: "-DLB_T_F16=1 -DLB_X=16 -DLB_Y=16 -DLB_Z=1": T of the case, the job's local sizes.
 *  errors LB_E_FORMAT: kernels take f32, f16 and bf16 */
lb_status lb_launch_flags(const lb_op_case *x, const lb_source_job *job, char *out, size_t size, lb_error *err);

/** A file of the tree, built into the library by cmake/Embed.cmake; bytes end in NULs that size does not count. */
typedef struct lb_embedded {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} lb_embedded;

/** File by its name among a table that ends in NULL; NULL if there is none. threads pure */
const lb_embedded *lb_embedded_find(const lb_embedded *table, const char *name);

#endif
