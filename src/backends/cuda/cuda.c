/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuda[:i]: our own OpenCL C kernels as CUDA, compiled by NVRTC, on an NVIDIA GPU: every operator of launches.def, and products. */
#include "backends/own.h"

static const char *const before[] = {"cuda.cuh", "prelude.cl", NULL};
const lb_own_kind lb_cuda_kind = {"cuda", &lb_cuda_language, before};

static lb_status cuda_open(lb_device **out, const char *which, lb_error *err) {
    return lb_own_open(out, &lb_cuda_kind, which, err);
}

const lb_backend lb_backend_cuda = {.name = "cuda",
                                    .summary = "cuda[:INDEX], the same kernels compiled by NVRTC, on an NVIDIA GPU",
                                    .alone = true,
                                    .open = cuda_open,
                                    .can = lb_own_can,
                                    .run = lb_own_run,
                                    .can_op = lb_own_can_op,
                                    .run_op = lb_own_run_op,
                                    .close = lb_own_close};
