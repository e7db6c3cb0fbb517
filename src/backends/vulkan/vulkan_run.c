/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One launch on a Vulkan device. Each buffer lies between guard zones in a larger one, and an output begins as the caller filled it
 * (with poison). The shader may reach the guard behind its data, so that what it writes there is seen rather than dropped by a driver
 * that checks bounds; only a shader that asks for a buffer's length gets the data alone. */
#include "backends/guard.h"
#include "backends/vulkan/vulkan_session.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = LB_LEAST_GUARD, PUSH_BYTES = 128 };

/* [guard][data][up to a word][guard], mapped while it lives. */
typedef struct guarded {
    VkBuffer buffer;
    VkDeviceMemory memory;
    unsigned char *mapped;
    VkDeviceSize size;
} guarded;

typedef struct launched {
    lb_vk *v;
    const lb_source_job *job;
    lb_vk_program *program;
    uint32_t binding_count;
    size_t bindings[LB_MAX_BUFFERS]; /* which of the job's buffers */
    unsigned char push[PUSH_BYTES];
    uint32_t groups[3];
    guarded buffers[LB_MAX_BUFFERS];
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkCommandBuffer commands;
    VkFence fence;
} launched;

/* ---- buffers ------------------------------------------------------------------------------------------------------------------- */

static size_t padded(size_t bytes) {
    return bytes ? (bytes + 3) / 4 * 4 : 4;
}

static bool memory_type(const lb_vk *v, uint32_t allowed, uint32_t *type) {
    const VkMemoryPropertyFlags plain = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wanted[] = {plain | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, plain};
    for (size_t w = 0; w < 2; w++)
        for (*type = 0; *type < v->memory.memoryTypeCount; ++*type)
            if ((allowed >> *type & 1u) && (v->memory.memoryTypes[*type].propertyFlags & wanted[w]) == wanted[w]) return true;
    return false;
}

static lb_status upload(lb_vk *v, const lb_job_buffer *b, guarded *g, lb_error *err) {
    void *mapped;
    g->size = 2 * GUARD + padded(b->bytes);
    if (padded(b->bytes) + GUARD > v->limits.maxStorageBufferRange)
        return lb_fail(err, LB_E_SHAPE, v->place, "buffer %.40s: %zu bytes; the device takes %u", b->name, b->bytes,
                       v->limits.maxStorageBufferRange - GUARD);
    const VkBufferCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = g->size, .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    LB_VK_TRY(vkCreateBuffer(v->device, &create, NULL, &g->buffer), "buffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(v->device, g->buffer, &needs);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size};
    if (!memory_type(v, needs.memoryTypeBits, &allocate.memoryTypeIndex))
        return lb_fail(err, LB_E_DEVICE, v->place, "the device has no memory that the host can read");
    LB_VK_TRY(vkAllocateMemory(v->device, &allocate, NULL, &g->memory), "memory");
    LB_VK_TRY(vkBindBufferMemory(v->device, g->buffer, g->memory, 0), "memory");
    LB_VK_TRY(vkMapMemory(v->device, g->memory, 0, VK_WHOLE_SIZE, 0, &mapped), "mapping memory");
    g->mapped = mapped;
    lb_guard_fill(b, GUARD, g->mapped, g->size);
    return LB_OK;
}

static void launched_free(launched *l) {
    lb_vk *v = l->v;
    if (v->stuck) return; /* the work may still write there */
    if (l->fence) vkDestroyFence(v->device, l->fence, NULL);
    if (l->commands) vkFreeCommandBuffers(v->device, v->commands, 1, &l->commands);
    if (l->pool) vkDestroyDescriptorPool(v->device, l->pool, NULL);
    for (size_t i = 0; i < l->job->buffer_count; i++) {
        if (l->buffers[i].buffer) vkDestroyBuffer(v->device, l->buffers[i].buffer, NULL);
        if (l->buffers[i].memory) vkFreeMemory(v->device, l->buffers[i].memory, NULL);
    }
}

/* ---- arguments ------------------------------------------------------------------------------------------------------------------ */

static lb_status push_number(launched *l, const lb_kernel_arg *arg, size_t *used, lb_error *err) {
    const bool wide = arg->kind == LB_ARG_LONG || arg->kind == LB_ARG_ULONG;
    const size_t width = wide ? 8 : 4, at = (*used + width - 1) / width * width;
    const uint32_t narrow = (uint32_t)arg->integer;
    if (arg->kind == LB_ARG_LOCAL)
        return lb_fail(err, LB_E_FILE, l->v->place, "\"args\": local memory is declared in the shader, as `shared float tile[256];`");
    if (at + width > PUSH_BYTES)
        return lb_fail(err, LB_E_FILE, l->v->place, "\"args\": more than %d bytes of numbers; push constants hold no more", PUSH_BYTES);
    memcpy(l->push + at, arg->kind == LB_ARG_FLOAT ? (const void *)&arg->real : wide ? (const void *)&arg->integer : &narrow, width);
    *used = at + width;
    return LB_OK;
}

static lb_status set_args(launched *l, lb_error *err) {
    const lb_source_job *job = l->job;
    size_t used = 0;
    for (size_t i = 0; i < job->arg_count; i++) {
        if (job->args[i].kind != LB_ARG_BUFFER) {
            LB_TRY(push_number(l, &job->args[i], &used, err));
            continue;
        }
        if (l->binding_count == LB_MAX_BUFFERS)
            return lb_fail(err, LB_E_FILE, l->v->place, "\"args\": more than %d buffers", LB_MAX_BUFFERS);
        l->bindings[l->binding_count++] = (size_t)job->args[i].integer;
    }
    return LB_OK;
}

/* Work-groups from work-items; *nothing: a size is 0. */
static lb_status set_groups(launched *l, bool *nothing, lb_error *err) {
    const lb_source_job *job = l->job;
    const uint32_t *local = l->program->scan.local;
    *nothing = false;
    for (unsigned i = 0; i < 3; i++) {
        const size_t global = i < job->dims ? job->global[i] : 1, said = i < job->dims ? job->local[i] : 1;
        if (job->local[0] && said != local[i])
            return lb_fail(err, LB_E_FILE, l->v->place, "\"local\": size %u is %zu; the shader's own is %u", i, said, local[i]);
        const size_t groups = (global + local[i] - 1) / local[i];
        if (groups > l->v->limits.maxComputeWorkGroupCount[i])
            return lb_fail(err, LB_E_SHAPE, l->v->place, "%zu work-groups along %c; the device takes %u", groups, "xyz"[i],
                           l -> v -> limits.maxComputeWorkGroupCount[i]);
        *nothing = *nothing || groups == 0;
        l->groups[i] = (uint32_t)groups;
    }
    return LB_OK;
}

/* ---- the launch ------------------------------------------------------------------------------------------------------------------ */

static lb_status bind(launched *l, lb_error *err) {
    lb_vk *v = l->v;
    VkDescriptorBufferInfo infos[LB_MAX_BUFFERS];
    VkWriteDescriptorSet writes[LB_MAX_BUFFERS];
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, l->binding_count};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    LB_VK_TRY(vkCreateDescriptorPool(v->device, &pool, NULL, &l->pool), "descriptor pool");
    const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = l->pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &l->program->set_layout};
    LB_VK_TRY(vkAllocateDescriptorSets(v->device, &set, &l->set), "descriptor set");
    for (uint32_t i = 0; i < l->binding_count; i++) {
        const size_t bytes = padded(l->job->buffers[l->bindings[i]].bytes);
        infos[i] = (VkDescriptorBufferInfo){l->buffers[l->bindings[i]].buffer, GUARD, l->program->scan.uses_length ? bytes : bytes + GUARD};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = l->set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &infos[i]};
    }
    vkUpdateDescriptorSets(v->device, l->binding_count, writes, 0, NULL);
    return LB_OK;
}

static lb_status record(launched *l, lb_error *err) {
    lb_vk *v = l->v;
    const VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = v->commands,
                                                  .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                  .commandBufferCount = 1};
    LB_VK_TRY(vkAllocateCommandBuffers(v->device, &allocate, &l->commands), "command buffer");
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    LB_VK_TRY(vkBeginCommandBuffer(l->commands, &begin), "command buffer");
    vkCmdBindPipeline(l->commands, VK_PIPELINE_BIND_POINT_COMPUTE, l->program->pipeline);
    vkCmdBindDescriptorSets(l->commands, VK_PIPELINE_BIND_POINT_COMPUTE, l->program->layout, 0, 1, &l->set, 0, NULL);
    vkCmdPushConstants(l->commands, l->program->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_BYTES, l->push);
    vkCmdDispatch(l->commands, l->groups[0], l->groups[1], l->groups[2]);
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT, .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(l->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    LB_VK_TRY(vkEndCommandBuffer(l->commands), "command buffer");
    return LB_OK;
}

static lb_status submit(launched *l, lb_error *err) {
    lb_vk *v = l->v;
    const double timeout_seconds = l->job->timeout_seconds;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    LB_VK_TRY(vkCreateFence(v->device, &fence, NULL, &l->fence), "fence");
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &l->commands};
    LB_VK_TRY(vkQueueSubmit(v->queue, 1, &info, l->fence), "launch");
    const bool bounded = timeout_seconds > 0 && timeout_seconds < 1e9;
    const VkResult code = vkWaitForFences(v->device, 1, &l->fence, VK_TRUE, bounded ? (uint64_t)(timeout_seconds * 1e9) : UINT64_MAX);
    if (code != VK_TIMEOUT) return code == VK_SUCCESS ? LB_OK : lb_vk_failed(v, code, "run", err);
    v->stuck = true;
    snprintf(v->lost, sizeof v->lost, "an earlier launch did not end in %g s", timeout_seconds);
    return lb_fail(err, LB_E_TIMEOUT, v->place, "the launch did not end in %g s", timeout_seconds);
}

static lb_status launch(launched *l, const uint32_t *words, size_t count, lb_error *err) {
    const lb_source_job *job = l->job;
    bool nothing;
    LB_TRY(set_args(l, err));
    LB_TRY(lb_vk_program_of(l->v, words, count, l->binding_count, &l->program, err));
    LB_TRY(set_groups(l, &nothing, err));
    if (nothing) return LB_OK;
    for (size_t i = 0; i < job->buffer_count; i++) LB_TRY(upload(l->v, &job->buffers[i], &l->buffers[i], err));
    LB_TRY(bind(l, err));
    LB_TRY(record(l, err));
    LB_TRY(submit(l, err));
    for (size_t i = 0; i < job->buffer_count; i++) lb_guard_take(&job->buffers[i], GUARD, l->buffers[i].mapped, job->marks);
    return LB_OK;
}

lb_status lb_vk_run(lb_vk *v, const uint32_t *words, size_t count, const lb_source_job *job, lb_error *err) {
    if (v->lost[0]) return lb_fail(err, LB_E_DEVICE, v->place, "%s; open the device again in another process", v->lost);
    launched l = {.v = v, .job = job};
    const lb_status status = launch(&l, words, count, err);
    launched_free(&l);
    return status;
}
