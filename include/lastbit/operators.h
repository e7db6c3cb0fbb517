/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operators of a network: what each computes, true values with bounds, and fixed-order f32 replays. Rows in src/refs/ops.def. */
#ifndef LASTBIT_OPERATORS_H
#define LASTBIT_OPERATORS_H

#include "lastbit/refs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LB_OP_INPUTS = 6, LB_OP_OUTPUTS = 3, LB_OP_PARAMS = 16, LB_OP_RANK = 4, LB_OP_TEXT = 1024 };

/* ---- rows ------------------------------------------------------------------------------------------------------------------- */

/** A dense row-major array of codes, dims[0] outermost. A sub-byte format is packed by its row of ops.def (u8 pairs), never here. */
typedef struct lb_array {
    const lb_format *format;
    unsigned rank;
    size_t dims[LB_OP_RANK]; /* 1 past rank */
    void *codes;             /* lb_array_count elements of format->bytes; NULL: not made yet */
} lb_array;

/** Elements of an array: the product of its dims; 0 for rank 0. threads pure */
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

/** A row of ops.def. Kernels take inputs, then outputs, then parameters, each in the row's order. */
typedef struct lb_op {
    const char *name, *formula, *source;
    lb_op_param params[LB_OP_PARAMS];
    lb_op_port in[LB_OP_INPUTS], out[LB_OP_OUTPUTS];
    unsigned param_count, in_count, out_count;
    const char *needs; /* what the parameters must meet: "k%32==0 at+rows<=len"; "" for nothing */
    const char *bound; /* what the limit is made of, in words */
    const char *edge;  /* policy: NaN, Inf, ties, nothing to attend to */
} lb_op;

/** Row number i in table order; NULL past the end. threads pure */
const lb_op *lb_op_row(size_t i);

/** Row by name, NULL if there is none. threads pure */
const lb_op *lb_op_find(const char *name);

/** Names of the distributions of data inputs ("uniform" …) and of the fills of the others, one line of what each is; NULL past the end.
 *  threads pure */
const char *lb_op_dist_name(size_t i);
const char *lb_op_dist_summary(size_t i);
const char *lb_op_fill_name(size_t i);
const char *lb_op_fill_summary(size_t i);

/* ---- cases ------------------------------------------------------------------------------------------------------------------ */

/** One operator on given inputs. Open one with lb_op_case_open; arrays are the case's own. */
typedef struct lb_op_case {
    const lb_op *op;
    const lb_format *format; /* T */
    double params[LB_OP_PARAMS];
    lb_array in[LB_OP_INPUTS], out[LB_OP_OUTPUTS];
    char dist[24]; /* how the inputs were drawn: a row of dists.def; "given": they are the caller's */
    double magnitude;
    uint64_t seed;
} lb_op_case;

/** Open "op=attention m=4 seq=12 causal=1 fmt=f16 dist=gaussian magnitude=2 seed=3": inputs drawn, outputs zeroed. Only op= is needed;
 *  fmt=f32 dist=uniform magnitude=1 seed=1 and the row's own values stand for what is not said. Commas separate as spaces do.
 *  A reproducible draw: the seed's xorshift, one state running over the inputs in the row's order.
 *  errors LB_E_NAME (with the nearest name), LB_E_ARG (a value), LB_E_SHAPE (sizes that do not agree or are too large), LB_E_MEMORY
 *  memory lb_op_case_close. threads pure */
lb_status lb_op_case_open(lb_op_case **out, const char *text, lb_error *err);

/** The same over the caller's inputs: in[in_count], copied; count, formats and dims must be those of the row at these parameters.
 *  An in[i] with format NULL is not looked at for its format and dims (codes then lie as the row says). dist= and seed= are refused.
 *  errors as lb_op_case_open; LB_E_FORMAT */
lb_status lb_op_case_of(lb_op_case **out, const char *text, const lb_array *in, size_t in_count, lb_error *err);

/** The case as text that lb_op_case_open takes, into text[size] (LB_OP_TEXT is enough); returns its length. threads pure */
size_t lb_op_case_text(const lb_op_case *x, char *text, size_t size);

/** A parameter's value by name; NAN if the operator has none of that name. threads pure */
double lb_op_case_param(const lb_op_case *x, const char *name);

/** Place of input or output `name` in the row, -1 if there is none. threads pure */
int lb_op_input(const lb_op *op, const char *name);
int lb_op_output(const lb_op *op, const char *name);

void lb_op_case_close(lb_op_case *x); /* NULL is fine */

/* ---- truth ------------------------------------------------------------------------------------------------------------------ */

/** What a device promises of its functions: rows of functions.def. */
#define LB_FUNCTION_CLASS_LIST(X)                                                                                                          \
    X(IEEE, "ieee", "division and square root rounded once, library functions within an ULP, subnormals kept")                             \
    X(OPENCL, "opencl", "the OpenCL full profile's ULP table, subnormals may be flushed")                                                  \
    X(VULKAN, "vulkan", "Vulkan's precision of SPIR-V instructions, subnormals may be flushed")

typedef enum lb_function_class {
#define X(id, name, text) LB_FUNCTIONS_##id,
    LB_FUNCTION_CLASS_LIST(X)
#undef X
        LB_FUNCTION_CLASS_COUNT
} lb_function_class;

const char *lb_function_class_name(lb_function_class c);

/** What one function may be off by: ulp + ulp_per_x |x| ULP of its result, and absolute. */
typedef struct lb_function_bound {
    double ulp, ulp_per_x, absolute;
    const char *source;
} lb_function_bound;

typedef struct lb_function_row {
    const char *name;
    lb_function_bound at[LB_FUNCTION_CLASS_COUNT];
} lb_function_row;

/** Row number i in table order; NULL past the end. threads pure */
const lb_function_row *lb_function_row_at(size_t i);

/** True values of a case's outputs. An output of indices has the index as its value.
 *  value  NaN: any NaN is right; Inf: that Inf is.
 *  error  bound of |value - true value|
 *  limit  bound of |output - value| for a kernel that sums in f32 in any order, with functions of that class, and rounds once to the
 *         output's format; 0 where the bits are given (moves, indices); INFINITY where nothing can be said (f32 may overflow inside):
 *         such an element is not judged, and does not count as compared */
typedef struct lb_op_truth {
    lb_function_class functions;
    size_t count[LB_OP_OUTPUTS]; /* elements of each output */
    double *value[LB_OP_OUTPUTS], *error[LB_OP_OUTPUTS], *limit[LB_OP_OUTPUTS];
} lb_op_truth;

/** errors LB_E_ARG (an index out of its range, with its place), LB_E_MEMORY. memory lb_op_truth_close. threads pure */
lb_status lb_op_truth_open(lb_op_truth **out, const lb_op_case *x, lb_function_class functions, lb_error *err);
void lb_op_truth_close(lb_op_truth *t); /* NULL is fine */

/** Take up the legal choices that x->out made where the row leaves one: which of equal elements, which element at a top-p boundary.
 *  Values, errors and limits then are those of that choice; a choice that is not legal changes nothing, so it is found wrong.
 *  errors LB_E_MEMORY. threads pure */
lb_status lb_op_truth_settle(lb_op_truth *t, const lb_op_case *x, lb_error *err);

typedef enum lb_op_verdict { LB_OP_EXACT, LB_OP_LEGAL, LB_OP_WRONG, LB_OP_UNJUDGED } lb_op_verdict;

/** One element of output `port` against the truth: EXACT is the truth rounded once, LEGAL within limit.
 *  units  *ratio, if not NULL: |output - value| / limit; INFINITY for a wrong class or a wrong given bit. threads pure */
lb_op_verdict lb_op_judge(const lb_op_truth *t, const lb_op_case *x, unsigned port, size_t index, double *ratio);

/* ---- replays ---------------------------------------------------------------------------------------------------------------- */

#define LB_REPLAY_LIST(X)                                                                                                                  \
    X(SEQUENTIAL, "sequential", "sums from the first term to the last, each product and sum rounded to f32")                               \
    X(CONTRACTED, "contracted", "the same with a*b + c as one fma, wherever it stands so")                                                 \
    X(DEVICE, "device", "contracted, and 1/sqrt(x) as one function rounded once")                                                          \
    X(PAIRWISE, "pairwise", "sums by halves: the first half's sum plus the second's, products rounded")

typedef enum lb_replay_order {
#define X(id, name, text) LB_REPLAY_##id,
    LB_REPLAY_LIST(X)
#undef X
        LB_REPLAY_COUNT
} lb_replay_order;

const char *lb_replay_name(lb_replay_order order);
const char *lb_replay_summary(lb_replay_order order);

/** Fill x->out by the operator's definition in f32, in that order, functions rounded once. accuracy the same bits on every machine, but
 *  for erf, exp, log, sin, cos, tanh and pow, which are the double library's rounded to f32. errors LB_E_ARG as lb_op_truth_open, LB_E_MEMORY */
lb_status lb_op_replay(lb_op_case *x, lb_replay_order order, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
