/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices under test: one seam for the exact model, a user's kernel, any program. */
#ifndef LASTBIT_BACKENDS_H
#define LASTBIT_BACKENDS_H

#include "lastbit/operators.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lb_device lb_device;

/** Names of the backends ("model", "kernel", "command"), one line of what each is, NULL past the end. threads pure */
const char *lb_backend_name(size_t i);
const char *lb_backend_summary(size_t i);

/** Open "model:UNIT" or "kernel:FILE.json". errors LB_E_NAME, LB_E_FILE (the JSON), LB_E_UNAVAILABLE (no such device here, with what to
 *  install). memory lb_device_close */
lb_status lb_device_open(lb_device **out, const char *on, lb_error *err);

/** A program: argv[argc], run once a case. errors LB_E_ARG. */
lb_status lb_device_open_command(lb_device **out, char *const *argv, lb_error *err);

/** Whether the device can run the case; false with the reason. threads one device per thread */
bool lb_device_can(const lb_device *d, const lb_case *x, const char **why_not);

/** Run the case: y [m][n] of x->out, the caller's, filled whole on LB_OK. In this process, without guards: see lb_run_guarded in run.h.
 *  errors LB_E_DEVICE (what the driver said), LB_E_SHAPE, LB_E_FORMAT, LB_E_TIMEOUT */
lb_status lb_device_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err);

/** The same for an operator: x->in is read, x->out filled whole on LB_OK. errors as lb_device_run */
bool lb_device_can_op(const lb_device *d, const lb_op_case *x, const char **why_not);
lb_status lb_device_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err);

/** "kernel:examples/gemm.json", and what is under it ("PoCL 3.1, cpu-…"); never NULL. */
const char *lb_device_name(const lb_device *d);
const char *lb_device_detail(const lb_device *d);

void lb_device_close(lb_device *d); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
