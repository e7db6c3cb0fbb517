// SPDX-License-Identifier: MIT OR Apache-2.0
#include "run.h"

#include <cstdlib>
#include <ucontext.h>

namespace {
enum { STACK = 128 << 10, MOST = 1024 };
struct fiber {
    ucontext_t context;
    lb_place at;
    bool done;
};
// One group at a time in this process, so its state is here.
struct group {
    const lb_msl_kernel *kernel_;
    void *const *buffers;
    fiber *fibers;
    uint32_t count, current;
    ucontext_t scheduler;
} now;

void enter() {
    fiber &f = now.fibers[now.current];
    now.kernel_->call(now.buffers, f.at);
    f.done = true;
    swapcontext(&f.context, &now.scheduler);
}

void start(fiber &f, char *stack) {
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = stack;
    f.context.uc_stack.ss_size = STACK;
    f.context.uc_link = nullptr;
    f.done = false;
    makecontext(&f.context, enter, 0);
}

// Each thread up to its next barrier, again and again until all are done.
void run_group(char *stacks, metal::uint3 group_at) {
    const uint32_t *local = now.kernel_->local;
    for (uint32_t i = 0; i < now.count; i++) {
        const metal::uint3 in_group(i % local[0], i / local[0] % local[1], i / (local[0] * local[1]));
        now.fibers[i].at = {metal::uint3(group_at.x * local[0] + in_group.x, group_at.y * local[1] + in_group.y,
                                         group_at.z * local[2] + in_group.z),
                            in_group, group_at};
        start(now.fibers[i], stacks + size_t(i) * STACK);
    }
    for (bool left = true; left;) {
        left = false;
        for (now.current = 0; now.current < now.count; now.current++) {
            fiber &f = now.fibers[now.current];
            if (f.done) continue;
            swapcontext(&now.scheduler, &f.context);
            left = left || !f.done;
        }
    }
}
} // namespace

void metal::lb_shim_barrier() {
    swapcontext(&now.fibers[now.current].context, &now.scheduler);
}

extern "C" int lb_msl_run(const char *name, void *const *buffers, const uint32_t groups[3]) {
    const lb_msl_kernel *k = lb_msl_kernels;
    while (k->name && std::strcmp(k->name, name) != 0) k++;
    if (!k->name) return 1;
    now.kernel_ = k;
    now.buffers = buffers;
    now.count = k->local[0] * k->local[1] * k->local[2];
    if (now.count > MOST) return 2;
    char *stacks = static_cast<char *>(std::malloc(size_t(now.count) * STACK));
    now.fibers = static_cast<fiber *>(std::calloc(now.count, sizeof(fiber)));
    const bool ready = stacks && now.fibers;
    for (uint32_t z = 0; ready && z < groups[2]; z++)
        for (uint32_t y = 0; y < groups[1]; y++)
            for (uint32_t x = 0; x < groups[0]; x++) run_group(stacks, metal::uint3(x, y, z));
    std::free(stacks);
    std::free(now.fibers);
    return ready ? 0 : 2;
}
