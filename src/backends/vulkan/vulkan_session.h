/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a Vulkan device that runs compute shaders, headless, one launch at a time. */
#ifndef LB_BACKENDS_VULKAN_SESSION_H
#define LB_BACKENDS_VULKAN_SESSION_H

#include "backends/device.h"
#include "backends/vulkan/spirv_scan.h"

#include <vulkan/vulkan.h>

/* A shader made ready; kept for the life of its device. */
typedef struct lb_vk_program {
    struct lb_vk_program *next;
    uint32_t *words;
    size_t count;
    uint32_t buffer_count;
    lb_spirv scan;
    VkShaderModule module;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
} lb_vk_program;

typedef struct lb_vk {
    char place[256]; /* for errors */
    char lost[160];  /* why nothing runs any more; "" while it does */
    bool stuck;      /* work may still be running: what it uses is never freed */
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceLimits limits;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool commands;
    VkPipelineCache cache;
    lb_vk_program *programs;
} lb_vk;

/** Open a device: "", an index, or a part of its or its driver's name. detail[256]. errors LB_E_UNAVAILABLE, LB_E_DEVICE, LB_E_MEMORY
 *  memory lb_vk_close */
lb_status lb_vk_open(lb_vk **out, const char *place, const char *device, char *detail, lb_error *err);

/** Run the job's buffers and arguments on this SPIR-V: buffers are bindings 0 … in the order of the arguments, numbers the push constants.
 *  After LB_E_TIMEOUT or a lost device every further run is LB_E_DEVICE.
 *  errors LB_E_FILE (the shader and the job do not fit), LB_E_DEVICE, LB_E_TIMEOUT, LB_E_SHAPE (too large for the device), LB_E_MEMORY */
lb_status lb_vk_run(lb_vk *v, const uint32_t *words, size_t count, const lb_source_job *job, lb_error *err);

/** Program of these words over so many buffers, made now or before; the device's own. errors LB_E_FILE, LB_E_DEVICE, LB_E_MEMORY */
lb_status lb_vk_program_of(lb_vk *v, const uint32_t *words, size_t count, uint32_t buffer_count, lb_vk_program **out, lb_error *err);

void lb_vk_close(lb_vk *v); /* NULL is fine */

/** A failed call as an error; marks the device lost where it is. threads one device per thread */
lb_status lb_vk_failed(lb_vk *v, VkResult code, const char *what, lb_error *err);

#define LB_VK_TRY(call, what)                                                                                                              \
    do {                                                                                                                                   \
        const VkResult code_ = (call);                                                                                                     \
        if (code_ != VK_SUCCESS) return lb_vk_failed(v, code_, what, err);                                                                 \
    } while (0)

#endif
