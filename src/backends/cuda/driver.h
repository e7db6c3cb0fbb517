/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NVIDIA's driver, opened at run time: the few entry points that compiling PTX and launching it take, declared here, so that neither
 * a toolkit nor a header of one is needed anywhere. LASTBIT_CUDA_DRIVER names another library than libcuda.so.1. */
#ifndef LB_BACKENDS_CUDA_DRIVER_H
#define LB_BACKENDS_CUDA_DRIVER_H

#include "lastbit/base.h"

typedef struct lb_cuda lb_cuda;

typedef struct lb_cuda_device {
    char name[128]; /* "NVIDIA H200" */
    int major, minor;
    char driver[128]; /* "CUDA 13.0, 580.65.06" */
} lb_cuda_device;

typedef struct lb_cuda_kernel {
    void *module, *function;
    int refusal; /* the driver's number of why it refuses the PTX, else 0 */
} lb_cuda_kernel;

/** Open device number `index` with a context of its own.
 *  errors LB_E_UNAVAILABLE (no driver, no such device), LB_E_DEVICE; each with the driver's own text
 *  memory lb_cuda_close
 *  threads one thread a device */
lb_status lb_cuda_open(lb_cuda **out, int index, lb_error *err);
void lb_cuda_close(lb_cuda *cu); /* NULL is fine */

const lb_cuda_device *lb_cuda_describe(const lb_cuda *cu);

/** Machine code of PTX, *size bytes and a NUL. errors LB_E_UNAVAILABLE if the driver refuses the PTX, with the first line of its log;
 *  LB_E_DEVICE, LB_E_MEMORY. memory free() */
lb_status lb_cuda_assemble(lb_cuda *cu, const char *ptx, char **out, size_t *size, lb_error *err);

/** Compile PTX (or load machine code) and find its entry. errors LB_E_UNAVAILABLE if the driver refuses the PTX, with the first line of its log; LB_E_DEVICE */
lb_status lb_cuda_compile(lb_cuda *cu, const char *ptx, const char *entry, lb_cuda_kernel *out, lb_error *err);
/** Another entry of the same module, in kernel->function. errors LB_E_DEVICE */
lb_status lb_cuda_find(lb_cuda *cu, lb_cuda_kernel *kernel, const char *entry, lb_error *err);
void lb_cuda_kernel_close(lb_cuda *cu, lb_cuda_kernel *kernel); /* {0} is fine */

/** Device memory. errors LB_E_DEVICE */
lb_status lb_cuda_alloc(lb_cuda *cu, size_t bytes, uint64_t *out, lb_error *err);
void lb_cuda_free(lb_cuda *cu, uint64_t address); /* 0 is fine */
lb_status lb_cuda_write(lb_cuda *cu, uint64_t to, const void *bytes, size_t count, lb_error *err);
lb_status lb_cuda_read(lb_cuda *cu, void *bytes, uint64_t from, size_t count, lb_error *err);

/** Launch grid blocks of `threads`, and wait. params as cuLaunchKernel takes them. errors LB_E_DEVICE: the context is then lost */
lb_status lb_cuda_launch(lb_cuda *cu, const lb_cuda_kernel *kernel, unsigned grid, unsigned threads, void **params, lb_error *err);

/** The same in up to three dimensions, with `shared` bytes of memory a block beside what the kernel declares. */
lb_status lb_cuda_launch_grid(lb_cuda *cu, const lb_cuda_kernel *kernel, const unsigned grid[3], const unsigned threads[3], unsigned shared,
                              void **params, lb_error *err);

/** Make this device's context the calling thread's, where a thread has more than one device. errors LB_E_DEVICE */
lb_status lb_cuda_use(lb_cuda *cu, lb_error *err);

/** Whether a refusal is about this GPU and driver (built for another GPU, PTX too new), not about the PTX. threads pure */
bool lb_cuda_is_elsewhere(int refusal);

#endif
