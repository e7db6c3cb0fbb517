/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole products on the fastest path that this CPU has. Each path equals the integer engine (units.h) bit for bit. */
#ifndef LASTBIT_GEMM_H
#define LASTBIT_GEMM_H

#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory that calls reuse; it grows to what the largest needs and serves one call at a time. */
typedef struct lb_workspace lb_workspace;

/** errors LB_E_MEMORY. memory *out is the caller's, free with lb_workspace_close (NULL is allowed) */
lb_status lb_workspace_open(lb_workspace **out, lb_error *err);
void lb_workspace_close(lb_workspace *w);

/** How to run; {0} is the fastest kernel, every core, no schedule. The bits do not depend on kernel or threads. */
typedef struct lb_gemm_options {
    const char *kernel;      /* NULL: the fastest that can; else the name of a kernel (lb_kernel_row) */
    int threads;             /* 0: as OpenMP decides */
    lb_workspace *workspace; /* NULL: what does not fit on the stack is allocated for the call */
} lb_gemm_options;

/** D = A B + C in the unit's own K steps, ascending, K padded with zeros to a multiple of u->k.
 *  shapes   a [m][k] in u->a, b [k][n] in u->b, c [m][n] in u->c or NULL for +0, d [m][n] in u->d; any strides; d overlaps neither a nor b
 *           (it may be c)
 *  accuracy bit-exact: each element equals the chain of lb_unit_dot
 *  errors   LB_E_SHAPE, LB_E_FORMAT, LB_E_UNAVAILABLE (an open row; a named kernel that cannot run this), LB_E_NAME, LB_E_MEMORY; then
 *           nothing is written
 *  memory   the packed shorter operand, 16 bytes an element at most, and at most 64 MiB; calls that need under 48 KiB take it from the stack
 *  threads  pure; its own are OpenMP's */
lb_status lb_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, const lb_gemm_options *options,
                  lb_error *err);

/** lb_gemm for every unit, with its scales or its metadata (lb_unit_gemm_with says which).
 *  errors   as lb_gemm; LB_E_ARG, LB_E_SHAPE for an operand that is missing, not the unit's or of the wrong size; then nothing is written
 *  accuracy, memory, threads  as lb_gemm */
lb_status lb_gemm_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                       const lb_gemm_options *options, lb_error *err);

/** d[i] = c[i] + sum a[i][t] * b[i][t] for i < count: independent dots of one K step each, on the fastest kernel.
 *  shapes   a, b [count][u->k] codes in the formats of the unit, as stored; c [count] or NULL for +0; d [count], not overlapping a or b
 *           (it may be c)
 *  accuracy bit-exact: each equals lb_unit_dot
 *  errors   LB_E_UNAVAILABLE for an open row, LB_E_FORMAT for parameters the engine cannot hold; then nothing is written
 *  memory   none of its own but for dots that hold NaN, Inf or what a kernel's exponents cannot: those the engine decides (LB_E_MEMORY)
 *  threads  pure */
lb_status lb_dot_batch(const lb_unit *u, const void *a, const void *b, const void *c, void *d, size_t count, lb_error *err);

/** A row of the kernel table, fastest first; the last one, "engine", runs every unit on every machine. */
typedef struct lb_kernel_text {
    const char *name; /* "f32_avx512" */
    const char *note; /* what it needs and what it runs */
    bool usable;      /* on this CPU */
} lb_kernel_text;

/** Row i of the kernel table; false past the end. threads pure */
bool lb_kernel_row(size_t i, lb_kernel_text *out);

#ifdef __cplusplus
}
#endif
#endif
