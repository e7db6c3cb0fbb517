/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tiles on the GPU: packed into lanes' registers, multiplied twice, compared, and taken out again. */
#ifndef LB_RUN_CAPTURE_TILES_H
#define LB_RUN_CAPTURE_TILES_H

#include "backends/cuda/driver.h"
#include "run/capture_ptx.h"

/* What is multiplied. Tile t is D = A B + C with k = steps * unit.k, chained step by step. */
typedef struct lb_capture_tiles {
    size_t count, steps;
    uint64_t (*get)(const void *user, int operand, size_t tile, size_t row, size_t col); /* a code; col of A and row of B run over k */
    void (*put)(void *user, size_t tile, size_t row, size_t col, uint64_t code);         /* of D; called once an element */
    void *user;
} lb_capture_tiles;

/** Run all tiles, some MiB of them at a time. Each is run twice, over outputs that were filled with zeros and with ones: where the two
 *  differ, the device did not write all of D or is not deterministic, and nothing of it is worth recording.
 *  errors LB_E_DEVICE, LB_E_MEMORY; some tiles may have been put then */
lb_status lb_capture_tiles_run(lb_cuda *cu, const lb_capture_shape *s, const lb_cuda_kernel *kernel, const lb_capture_tiles *tiles,
                               lb_error *err);

#endif
