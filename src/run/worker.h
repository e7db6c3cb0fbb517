/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a device in a process of its own that answers case after case. It opens the device once; a crash, a hang or a write
 * outside the arrays ends that case and the process, and the next case gets a new one. */
#ifndef LB_RUN_WORKER_H
#define LB_RUN_WORKER_H

#include "lastbit/run.h"
#include "run/guarded.h"

typedef struct lb_worker lb_worker;

/** Start the process and open(what) in it; what must live as long as the worker. errors those of open; LB_E_DEVICE where opening
 *  crashed or took longer than timeout; LB_E_MEMORY. memory lb_worker_close */
lb_status lb_worker_open(lb_worker **out, lb_device_opener *open, const void *what, double timeout_seconds, lb_error *err);
void lb_worker_close(lb_worker *w); /* NULL is fine */

/** What is under the device, as lb_device_detail said when it was opened last. */
const char *lb_worker_detail(const lb_worker *w);
unsigned lb_worker_restarts(const lb_worker *w);

/** Hand over a case: inputs are copied between guards, outputs poisoned. One case at a time. errors LB_E_MEMORY, those of a restart */
lb_status lb_worker_ask(lb_worker *w, const lb_op_case *x, lb_error *err);

typedef struct lb_worker_answer {
    lb_run_report report;
    bool cannot;      /* the device cannot run the case; report.why says why */
    bool unavailable; /* nothing could be run, as where there is no driver; report.why says why */
} lb_worker_answer;

/** Wait for the answer. x->out gets what lies in the outputs, poison where nothing was written; report.not_written counts it.
 *  errors LB_E_MEMORY; a case that the device finds malformed (LB_E_SHAPE …) */
lb_status lb_worker_answer_of(lb_worker *w, lb_op_case *x, lb_worker_answer *out, lb_error *err);

#endif
