/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A machine for the little PTX that capture writes: runs a kernel instruction by instruction, all lanes of a block in step, and multiplies
 * with the model of the unit that the matrix instruction names. For tests/fake_cuda.c. */
#ifndef LB_FAKE_PTX_H
#define LB_FAKE_PTX_H

#include "lastbit/units.h"

enum { FAKE_LANES = 128, FAKE_PARAMS = 5, FAKE_ILLEGAL_ADDRESS = 700, FAKE_ILLEGAL_INSTRUCTION = 715 };

typedef struct fake_kernel fake_kernel;

/** NULL for text that this machine does not know to the last instruction; what it stumbled over is in why. */
fake_kernel *fake_kernel_load(const char *ptx, char *why, size_t size);
void fake_kernel_free(fake_kernel *k);

/** Threads that the kernel asks for. */
unsigned fake_kernel_lanes(const fake_kernel *k);

/** Run one block. reachable says whether the device has memory there. 0, or the driver's number of the error. */
int fake_kernel_run(const fake_kernel *k, unsigned block, const uint64_t params[FAKE_PARAMS], bool (*reachable)(uint64_t at, size_t bytes));

/* ---- the matrix instruction: fake_mma.c -------------------------------------------------------------------------------- */

enum { FAKE_REGISTERS = 512, FAKE_OPERANDS = 3, FAKE_SHARED = 16384, FAKE_SHARED_BASE = 1024 };

/* All registers of a block, and its shared memory, which begins at FAKE_SHARED_BASE. */
typedef struct fake_state {
    uint64_t r[FAKE_REGISTERS][FAKE_LANES];
    unsigned char shared[FAKE_SHARED];
} fake_state;

typedef struct fake_mma {
    lb_unit unit;
    bool wgmma, quads;
    int lanes, matrices;
    int first[FAKE_OPERANDS], count[FAKE_OPERANDS]; /* registers of A, B, C; B of wgmma: the descriptor */
} fake_mma;

/** Whether the unit is known and the registers are as many as its operands take. */
bool fake_mma_find(const char *target, const char *instruction, fake_mma *m);

/** C += A B. False where a descriptor points outside shared memory. */
bool fake_mma_run(const fake_mma *m, fake_state *s);

#endif
