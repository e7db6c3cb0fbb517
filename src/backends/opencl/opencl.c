/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* opencl[:DEVICE]: our own OpenCL kernels on an OpenCL device: every operator of launches.def, and products. */
#include "backends/own.h"

static const char *const before[] = {"prelude.cl", NULL};
const lb_own_kind lb_opencl_kind = {"opencl", &lb_opencl_language, before};

static lb_status opencl_open(lb_device **out, const char *which, lb_error *err) {
    return lb_own_open(out, &lb_opencl_kind, which, err);
}

const lb_backend lb_backend_opencl = {.name = "opencl",
                                      .summary = "opencl[:DEVICE], our own OpenCL kernels on a device, by index or part of its name",
                                      .alone = true,
                                      .open = opencl_open,
                                      .can = lb_own_can,
                                      .run = lb_own_run,
                                      .can_op = lb_own_can_op,
                                      .run_op = lb_own_run_op,
                                      .close = lb_own_close};
