/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a recording asks, run and written; capture.c says which, and under which name. */
#ifndef LB_RUN_CAPTURE_JOBS_H
#define LB_RUN_CAPTURE_JOBS_H

#include "lastbit/io.h"
#include "run/capture_tiles.h"

/* Everything that a recording is made with. */
typedef struct lb_capture_job {
    lb_cuda *cuda;
    const lb_capture_shape *shape;
    const lb_cuda_kernel *kernel;
    const char *path;
    const char *const *metadata; /* [2*metadata_count] */
    size_t metadata_count;
} lb_capture_job;

/* Dots by number, made when they are asked for. */
typedef struct lb_capture_dots {
    size_t count, k;
    void (*make)(const struct lb_capture_dots *dots, size_t index, uint64_t *a, uint64_t *b, uint64_t *c);
    const void *user;
} lb_capture_dots;

/** A dot/1: some thousand dots at a time through the GPU into the file. errors LB_E_DEVICE, LB_E_FILE, LB_E_MEMORY: no file then */
lb_status lb_capture_run_dots(const lb_capture_job *job, const lb_capture_dots *dots, lb_error *err);

/** A gemm/1 of a [m][k], b [k][n], c [m][n]. errors as above */
lb_status lb_capture_run_gemm(const lb_capture_job *job, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_error *err);

#endif
