/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: lb_run_guarded with the opening of the device left to the caller, so that tests can bring devices of their own. */
#ifndef LB_RUN_GUARDED_H
#define LB_RUN_GUARDED_H

#include "lastbit/run.h"

/** Called in the device's process. */
typedef lb_status lb_device_opener(lb_device **out, const void *what, lb_error *err);

/** As lb_run_guarded, with the device that open(what) gives. grace_seconds: how much longer than the limit to wait for a device that
 *  keeps the limit itself. */
lb_status lb_run_guarded_by(lb_device_opener *open, const void *what, double grace_seconds, const lb_case *x, double timeout_seconds,
                            void *y, lb_run_report *report, lb_error *err);

#endif
