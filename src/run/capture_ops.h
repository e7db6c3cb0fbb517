/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: operations on a GPU. */
#ifndef LB_RUN_CAPTURE_OPS_H
#define LB_RUN_CAPTURE_OPS_H

#include "lastbit/operations.h"
#include "run/op_set.h"

/** Fill x->out and x->cubin from x->in and x->ptx. errors LB_E_UNAVAILABLE if the driver refuses the PTX, LB_E_DEVICE, LB_E_MEMORY */
lb_status lb_capture_op(lb_capture *c, lb_op_item *x, lb_error *err);

/** Answer a request op/1 into out->path. errors as lb_capture_request */
lb_status lb_capture_op_request(lb_capture *c, const char *path, lb_capture_result *out, lb_error *err);

/** Where an open recorder's parts are, for this layer's files. */
struct lb_cuda *lb_capture_cuda(const lb_capture *c);
const char *lb_capture_folder(const lb_capture *c);
const char *lb_capture_command(const lb_capture *c);
bool lb_capture_resumes(const lb_capture *c);

#endif
