/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: reading recordings, answered or not. */
#ifndef LB_RUN_RECORDING_H
#define LB_RUN_RECORDING_H

#include "lastbit/io.h"
#include "lastbit/units.h"

/** A metadata key that every recording has. errors LB_E_FILE */
lb_status lb_recording_text(const lb_file *f, const char *key, const char **out, lb_error *err);

/* A dot/1 is [n][k], [n][k], [n], [n]; a gemm/1 is [m][k], [k][n], [m][n], [m][n]. d is not loaded from a request. */
typedef struct lb_recording {
    lb_unit unit;
    bool gemm;
    size_t n, k; /* dot/1: dots, and products of each; gemm/1: k of the product, n = outputs */
    lb_operand a, b, c, d;
} lb_recording;

/** Load the operands into out, whose unit and gemm are filled in. errors LB_E_FILE. memory lb_recording_close, also where it failed */
lb_status lb_recording_load(lb_recording *out, const lb_file *f, bool with_d, lb_error *err);
void lb_recording_close(lb_recording *x);

/** Whether the metadata say gemm/1 or dot/1. errors LB_E_FILE for another kind */
lb_status lb_recording_kind(const lb_file *f, bool *gemm, lb_error *err);

#endif
