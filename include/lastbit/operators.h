/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operators of a network: what each computes, true values with a bound, and fixed-order f32 replays. Rows in src/refs/ops.def. */
#ifndef LASTBIT_OPERATORS_H
#define LASTBIT_OPERATORS_H

#include "lastbit/refs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LB_OP_INPUTS = 6, LB_OP_OUTPUTS = 3, LB_OP_PARAMS = 16, LB_OP_RANK = 4 };

/** A dense row-major array of codes, dims[0] outermost. A sub-byte format is packed by its row of ops.def (u8 pairs), never here. */
typedef struct lb_array {
    const lb_format *format;
    unsigned rank;
    size_t dims[LB_OP_RANK]; /* 1 past rank */
    void *codes;             /* lb_array_count elements of format->bytes; NULL: not made yet */
} lb_array;

size_t lb_array_count(const lb_array *a);

/** One parameter of an operator: a size or flag (whole), or a real (an f32 to kernels). */
typedef struct lb_op_param {
    char name[16];
    bool whole;
    double value; /* in a row: the default */
} lb_op_param;

/** One input or output: "x:T[rows,d]". T is the case's element format; shape in whole parameters. */
typedef struct lb_op_port {
    char name[16];
    char format[12]; /* "T" or a format's name */
    char shape[64];  /* "rows,d", "n,k/2" */
    char fill[16];   /* how an input is drawn when the case has none: a row of fills.def; "" for "data" */
} lb_op_port;

/** A row of ops.def, read. Kernels take inputs, then outputs, then parameters, each in the row's order. */
typedef struct lb_op {
    const char *name, *formula, *source;
    lb_op_param params[LB_OP_PARAMS];
    lb_op_port in[LB_OP_INPUTS], out[LB_OP_OUTPUTS];
    unsigned param_count, in_count, out_count;
} lb_op;

/** One operator on given inputs. Open one with lb_op_case_open; arrays are the case's own. */
typedef struct lb_op_case {
    const lb_op *op;
    const lb_format *format; /* T */
    double params[LB_OP_PARAMS];
    lb_array in[LB_OP_INPUTS], out[LB_OP_OUTPUTS];
    char dist[24]; /* how the inputs were drawn: a row of dists.def */
    double magnitude;
    uint64_t seed;
} lb_op_case;

#ifdef __cplusplus
}
#endif
#endif
