/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings of a GPU of this machine: what its matrix units give for dots, tiles and products, and for requests. Needs NVIDIA's driver
 * (libcuda.so.1, or what LASTBIT_CUDA_DRIVER names), which compiles the PTX; no toolkit. docs/howto/record-a-gpu.md */
#ifndef LASTBIT_CAPTURE_H
#define LASTBIT_CAPTURE_H

#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lb_capture lb_capture;

typedef struct lb_capture_options {
    int device;          /* number of the GPU */
    const char *folder;  /* where recordings go; made if it is not there */
    size_t dots;         /* of a seeded recording; 0: 2048 */
    uint64_t seed;       /* of seeded recordings */
    bool resume;         /* leave out what is already there: a file under its name is always whole */
    const char *command; /* kept in the recordings; NULL: none */
} lb_capture_options;

/** Open a GPU. errors LB_E_UNAVAILABLE (no driver, no GPU), LB_E_DEVICE with the driver's own text, LB_E_FILE (folder), LB_E_MEMORY
 *  memory lb_capture_close. threads one a thread */
lb_status lb_capture_open(lb_capture **out, const lb_capture_options *options, lb_error *err);
void lb_capture_close(lb_capture *c); /* NULL is fine */

/** "NVIDIA H200 (sm_90, CUDA 12.8, 570.86.15)" */
const char *lb_capture_device(const lb_capture *c);

/** Whether this GPU's recording of a unit can be made. errors LB_E_UNAVAILABLE with the reason why not */
lb_status lb_capture_can(const lb_capture *c, const lb_unit *u, lb_error *err);

#define LB_CAPTURE_LIST(X)                                                                                                                 \
    X(DIRECTED, "directed", "dots at the edges: zeros, subnormals, Inf, NaN, overflow, exponent floor, cancellation, rounding")            \
    X(DOTS, "dots", "dots drawn from the seed, one K step")                                                                                \
    X(CHAIN, "chain", "dots drawn from the seed, four K steps chained through c")                                                          \
    X(TILES, "tiles", "eight tiles of one K step, every element of them")                                                                  \
    X(GEMM, "gemm", "a whole product of ragged shape, sixteen K steps")

typedef enum lb_capture_kind {
#define X(id, name, text) LB_CAPTURE_##id,
    LB_CAPTURE_LIST(X)
#undef X
        LB_CAPTURE_KIND_COUNT
} lb_capture_kind;

/** Name of a kind ("directed") and what it holds; NULL past the end. threads pure */
const char *lb_capture_kind_name(lb_capture_kind kind);
const char *lb_capture_kind_text(lb_capture_kind kind);

typedef struct lb_capture_result {
    char path[4096];
    uint64_t outputs; /* words of d */
    bool there;       /* was there already, and left as it is */
    double seconds;
} lb_capture_result;

/** Record one kind of a unit into FOLDER/UNIT.KIND.safetensors ('/' of the unit's name becomes '_'). The file appears whole or not at all.
 *  errors LB_E_UNAVAILABLE: not this unit on this GPU, or its driver refuses the PTX; others can go on.
 *         LB_E_DEVICE: the driver failed, and the GPU is lost to this process; LB_E_FILE, LB_E_MEMORY */
lb_status lb_capture_unit(lb_capture *c, const lb_unit *u, lb_capture_kind kind, lb_capture_result *out, lb_error *err);

/** Answer a request (a recording dot/1, gemm/1 or op/1 without outputs, with lastbit.request = 1) into FOLDER under its own file name.
 *  errors as lb_capture_unit; LB_E_FILE if it is no request; LB_E_ARG if the answer would replace the request */
lb_status lb_capture_request(lb_capture *c, const char *path, lb_capture_result *out, lb_error *err);

/** The PTX that a unit is recorded with; *out is the caller's to free(). Needs no driver. errors LB_E_UNAVAILABLE with the reason; LB_E_MEMORY
 *  threads pure */
lb_status lb_capture_ptx(const lb_unit *u, char **out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
