// SPDX-License-Identifier: MIT OR Apache-2.0
// A grid of thread groups on the CPU, each group's threads as fibers. A kernel is a call that takes the places of its thread.
#ifndef LB_MSL_RUN
#define LB_MSL_RUN
#include <metal_atomic>
#include <metal_stdlib>

struct lb_place {
    metal::uint3 thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid;
};
typedef void lb_msl_call(void *const *buffers, const lb_place &at);
struct lb_msl_kernel {
    const char *name; // "softmax.f16"
    lb_msl_call *call;
    uint32_t local[3];
};
extern const lb_msl_kernel lb_msl_kernels[]; // ends in a NULL name

// buffers: inputs, outputs, parameters; groups: how many along each axis. 0: done; 1: no such kernel; 2: no memory for its threads
extern "C" int lb_msl_run(const char *name, void *const *buffers, const uint32_t groups[3]);
#endif
