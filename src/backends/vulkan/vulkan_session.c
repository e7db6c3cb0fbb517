/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A Vulkan device's life: choosing it, opening it, its shaders, its end. */
#include "backends/vulkan/vulkan_session.h"
#include "base/try.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64, MAX_FAMILIES = 32, PUSH_BYTES = 128 };

static const char *result_name(VkResult code) {
    static const struct {
        VkResult code;
        const char *name;
    } names[] = {
#define ROW(name) {name, #name}
        ROW(VK_ERROR_OUT_OF_HOST_MEMORY),
        ROW(VK_ERROR_OUT_OF_DEVICE_MEMORY),
        ROW(VK_ERROR_INITIALIZATION_FAILED),
        ROW(VK_ERROR_DEVICE_LOST),
        ROW(VK_ERROR_MEMORY_MAP_FAILED),
        ROW(VK_ERROR_LAYER_NOT_PRESENT),
        ROW(VK_ERROR_EXTENSION_NOT_PRESENT),
        ROW(VK_ERROR_FEATURE_NOT_PRESENT),
        ROW(VK_ERROR_INCOMPATIBLE_DRIVER),
        ROW(VK_ERROR_TOO_MANY_OBJECTS),
        ROW(VK_ERROR_OUT_OF_POOL_MEMORY),
        ROW(VK_ERROR_INVALID_SHADER_NV),
        ROW(VK_ERROR_UNKNOWN),
        ROW(VK_TIMEOUT),
#undef ROW
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code) return names[i].name;
    return "see vulkan_core.h";
}

lb_status lb_vk_failed(lb_vk *v, VkResult code, const char *what, lb_error *err) {
    if (code == VK_ERROR_DEVICE_LOST) {
        snprintf(v->lost, sizeof v->lost, "the device was lost (%s)", what);
        v->stuck = true;
    }
    const bool memory = code == VK_ERROR_OUT_OF_HOST_MEMORY || code == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return lb_fail(err, memory ? LB_E_MEMORY : LB_E_DEVICE, v->place, "%s: Vulkan error %d (%s)", what, (int)code, result_name(code));
}

static void program_free(const lb_vk *v, lb_vk_program *p) {
    if (p->pipeline) vkDestroyPipeline(v->device, p->pipeline, NULL);
    if (p->layout) vkDestroyPipelineLayout(v->device, p->layout, NULL);
    if (p->set_layout) vkDestroyDescriptorSetLayout(v->device, p->set_layout, NULL);
    if (p->module) vkDestroyShaderModule(v->device, p->module, NULL);
    free(p->words);
    free(p);
}

void lb_vk_close(lb_vk *v) {
    if (!v) return;
    /* Destroying a device waits for its work, which may never end: a stuck one is left to the process's end. */
    if (v->stuck) return;
    while (v->programs) {
        lb_vk_program *p = v->programs;
        v->programs = p->next;
        program_free(v, p);
    }
    if (v->cache) vkDestroyPipelineCache(v->device, v->cache, NULL);
    if (v->commands) vkDestroyCommandPool(v->device, v->commands, NULL);
    if (v->device) vkDestroyDevice(v->device, NULL);
    if (v->instance) vkDestroyInstance(v->instance, NULL);
    free(v);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------------------- */

static bool has(const char *text, const char *part) {
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) i++;
        if (!part[i]) return true;
    }
    return !*part;
}

typedef struct described {
    VkPhysicalDeviceProperties2 all;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceSubgroupProperties subgroup;
} described;

static void describe(VkPhysicalDevice device, described *d) {
    *d = (described){.all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &d->driver},
                     .driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, .pNext = &d->subgroup},
                     .subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES}};
    vkGetPhysicalDeviceProperties2(device, &d->all);
}

/* What people call a driver, where it does not call itself that. */
static bool answers_to(const described *d, const char *wanted) {
    static const struct {
        VkDriverId id;
        const char *name;
    } names[] = {{VK_DRIVER_ID_MESA_LLVMPIPE, "lavapipe"}, {VK_DRIVER_ID_GOOGLE_SWIFTSHADER, "swiftshader"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (d->driver.driverID == names[i].id && has(names[i].name, wanted)) return true;
    return has(d->all.properties.deviceName, wanted) || has(d->driver.driverName, wanted);
}

static lb_status choose(lb_vk *v, const char *device, char *detail, lb_error *err) {
    static const char prefix[] = "vulkan:";
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    described d;
    const char *wanted = strncmp(device, prefix, sizeof prefix - 1) == 0 ? device + sizeof prefix - 1 : device;
    const VkResult code = vkEnumeratePhysicalDevices(v->instance, &count, devices);
    if ((code != VK_SUCCESS && code != VK_INCOMPLETE) || count == 0)
        return lb_fail(err, LB_E_UNAVAILABLE, v->place,
                       "no Vulkan device on this machine: apt-get install mesa-vulkan-drivers brings one for the CPU (lavapipe); "
                       "VK_ICD_FILENAMES names another driver's file");
    char *end;
    const unsigned long index = strtoul(wanted, &end, 10);
    const bool by_index = *wanted && *end == 0;
    if (by_index && index >= count)
        return lb_fail(err, LB_E_UNAVAILABLE, v->place, "no Vulkan device %.20s: this machine has %u (they count from 0)", wanted, count);
    for (uint32_t i = 0; i < count && !v->physical; i++) {
        describe(devices[i], &d);
        if (by_index ? i == index : answers_to(&d, wanted)) v->physical = devices[i];
    }
    if (!v->physical) return lb_fail(err, LB_E_UNAVAILABLE, v->place, "no Vulkan device has \"%.60s\" in its name", wanted);
    v->limits = d.all.properties.limits;
    snprintf(detail, 256, "Vulkan %.100s, driver %.40s %.60s, subgroup %u", d.all.properties.deviceName, d.driver.driverName,
             d.driver.driverInfo, d.subgroup.subgroupSize);
    return LB_OK;
}

static lb_status choose_family(lb_vk *v, lb_error *err) {
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = MAX_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(v->physical, &count, families);
    for (v->family = 0; v->family < count; v->family++)
        if (families[v->family].queueFlags & VK_QUEUE_COMPUTE_BIT) return LB_OK;
    return lb_fail(err, LB_E_UNAVAILABLE, v->place, "the Vulkan device has no queue for compute");
}

static lb_status open_device(lb_vk *v, const char *device, char *detail, lb_error *err) {
    const VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "lastbit", .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    const VkResult code = vkCreateInstance(&instance, NULL, &v->instance);
    if (code != VK_SUCCESS)
        return lb_fail(err, LB_E_UNAVAILABLE, v->place,
                       "Vulkan does not start (error %d, %s): apt-get install mesa-vulkan-drivers brings a driver for the CPU (lavapipe)",
                       (int)code, result_name(code));
    LB_TRY(choose(v, device, detail, err));
    LB_TRY(choose_family(v, err));
    vkGetPhysicalDeviceMemoryProperties(v->physical, &v->memory);
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = v->family, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    LB_VK_TRY(vkCreateDevice(v->physical, &create, NULL, &v->device), "device");
    vkGetDeviceQueue(v->device, v->family, 0, &v->queue);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = v->family};
    LB_VK_TRY(vkCreateCommandPool(v->device, &pool, NULL, &v->commands), "command pool");
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    LB_VK_TRY(vkCreatePipelineCache(v->device, &cache, NULL, &v->cache), "pipeline cache");
    return LB_OK;
}

lb_status lb_vk_open(lb_vk **out, const char *place, const char *device, char *detail, lb_error *err) {
    lb_vk *v = calloc(1, sizeof *v);
    if (!v) return lb_fail(err, LB_E_MEMORY, place, "no memory");
    snprintf(v->place, sizeof v->place, "%s", place);
    const lb_status status = open_device(v, device, detail, err);
    if (status != LB_OK)
        lb_vk_close(v);
    else
        *out = v;
    return status;
}

/* ---- shaders ------------------------------------------------------------------------------------------------------------------ */

/* Drivers trust a shader; so what it asks for is compared with what it gets. */
static lb_status check_program(const lb_vk *v, const lb_vk_program *p, lb_error *err) {
    const uint32_t *local = p->scan.local, *most = v->limits.maxComputeWorkGroupSize;
    if (p->scan.bindings > p->buffer_count)
        return lb_fail(err, LB_E_FILE, v->place, "the shader has a buffer at binding %u; the launch has %u buffers, from 0",
                       p->scan.bindings - 1, p->buffer_count);
    const uint64_t threads = (uint64_t)local[0] * local[1] * local[2];
    if (local[0] > most[0] || local[1] > most[1] || local[2] > most[2] || threads > v->limits.maxComputeWorkGroupInvocations)
        return lb_fail(err, LB_E_DEVICE, v->place, "the device has no work-groups of %u x %u x %u (at most %u x %u x %u, %u in all)",
                       local[0], local[1], local[2], most[0], most[1], most[2], v->limits.maxComputeWorkGroupInvocations);
    return LB_OK;
}

static lb_status build(lb_vk *v, lb_vk_program *p, lb_error *err) {
    VkDescriptorSetLayoutBinding bindings[LB_MAX_BUFFERS];
    LB_TRY(lb_spirv_scan(p->words, p->count, v->place, &p->scan, err));
    LB_TRY(check_program(v, p, err));
    for (uint32_t i = 0; i < p->buffer_count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = p->buffer_count, .pBindings = bindings};
    LB_VK_TRY(vkCreateDescriptorSetLayout(v->device, &set, NULL, &p->set_layout), "descriptor layout");
    const VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = PUSH_BYTES};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &p->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    LB_VK_TRY(vkCreatePipelineLayout(v->device, &layout, NULL, &p->layout), "pipeline layout");
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = p->count * sizeof(uint32_t), .pCode = p->words};
    LB_VK_TRY(vkCreateShaderModule(v->device, &module, NULL, &p->module), "shader");
    const VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                  .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                            .module = p->module,
                                                            .pName = p->scan.entry},
                                                  .layout = p->layout};
    LB_VK_TRY(vkCreateComputePipelines(v->device, v->cache, 1, &pipeline, NULL, &p->pipeline), "pipeline");
    return LB_OK;
}

lb_status lb_vk_program_of(lb_vk *v, const uint32_t *words, size_t count, uint32_t buffer_count, lb_vk_program **out, lb_error *err) {
    for (lb_vk_program *p = *out = v->programs; p; p = *out = p->next)
        if (p->count == count && p->buffer_count == buffer_count && memcmp(p->words, words, count * sizeof *words) == 0) return LB_OK;
    lb_vk_program *p = calloc(1, sizeof *p);
    if (p) p->words = malloc(count * sizeof *words + 1);
    if (!p || !p->words) {
        free(p);
        return lb_fail(err, LB_E_MEMORY, v->place, "no memory for a shader");
    }
    memcpy(p->words, words, count * sizeof *words);
    p->count = count;
    p->buffer_count = buffer_count;
    const lb_status status = build(v, p, err);
    if (status != LB_OK) {
        program_free(v, p);
        return status;
    }
    p->next = v->programs;
    *out = v->programs = p;
    return LB_OK;
}
