/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices that this build has no library for: they are listed, and say what to install. */
#include "backends/device.h"

#if !LB_HAVE_OPENCL
static lb_status no_opencl(lb_device **out, const char *which, lb_error *err) {
    (void)out;
    (void)which;
    return lb_fail(err, LB_E_UNAVAILABLE, "opencl",
                   "built without OpenCL: apt-get install ocl-icd-opencl-dev opencl-headers pocl-opencl-icd, then build again");
}

const lb_backend lb_backend_opencl = {
    .name = "opencl", .summary = "opencl[:DEVICE], our own OpenCL kernels (not in this build)", .alone = true, .open = no_opencl};
#endif

#if !LB_HAVE_VULKAN
static lb_status no_vulkan(lb_device **out, const char *which, lb_error *err) {
    (void)out;
    (void)which;
    return lb_fail(err, LB_E_UNAVAILABLE, "vulkan",
                   "built without Vulkan: apt-get install libvulkan-dev mesa-vulkan-drivers glslang-tools, then build again");
}

const lb_backend lb_backend_vulkan = {
    .name = "vulkan", .summary = "vulkan[:DEVICE], our own GLSL kernels (not in this build)", .alone = true, .open = no_vulkan};
#endif
