/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exact source for other devices: a unit or a scalar operation as a self-contained, commented function in C, OpenCL C, GLSL, HLSL, MSL or CUDA C++. */
#ifndef LASTBIT_EMIT_H
#define LASTBIT_EMIT_H

#include "lastbit/scalar.h"
#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lb_emit_language {
    LB_EMIT_C,
    LB_EMIT_OPENCL,
    LB_EMIT_GLSL,
    LB_EMIT_HLSL,
    LB_EMIT_MSL,
    LB_EMIT_CUDA,
    LB_EMIT_LANGUAGE_COUNT
} lb_emit_language;

/** "c", "opencl", "glsl", "hlsl", "msl", "cuda"; "?" past the end. threads pure */
const char *lb_emit_language_name(lb_emit_language language);

/** The language of a name. errors LB_E_NAME, naming the nearest. threads pure */
lb_status lb_emit_language_find(const char *name, lb_emit_language *out, lb_error *err);

/** How true: the unit's bits, or a cheap approximation of units of path truncated, whose comment says how often it gives them. */
typedef enum lb_emit_tier { LB_EMIT_EXACT, LB_EMIT_FAST, LB_EMIT_TIER_COUNT } lb_emit_tier;

/** How lanes of a fragment give each other their operands: local memory and a barrier, or the language's sub-group shuffles, where
 *  sub-groups have 32 lanes or a multiple of that. */
typedef enum lb_emit_exchange { LB_EMIT_LOCAL, LB_EMIT_SUBGROUP, LB_EMIT_EXCHANGE_COUNT } lb_emit_exchange;

typedef struct lb_emit_options {
    lb_emit_language language;
    lb_emit_tier tier;
    lb_emit_exchange exchange; /* of a fragment */
    bool fragment;             /* one lane's registers, in a group of 32; else one element and a tile of them */
    bool integers;             /* no floating point at all; else f32 steps where each of them is exact */
    bool finite;               /* the caller knows that A, B and C hold no NaN or Inf and no sum overflows; else anything may come out */
} lb_emit_options;

/** Three-address operations of one call after full unrolling; loads, stores and changes of type are none. */
typedef struct lb_emit_stats {
    uint64_t decode;       /* of the operands A and B */
    uint64_t address;      /* which word of local memory, which bits of a register */
    uint64_t path;         /* products, alignment, sums, rounding */
    uint64_t special;      /* run only where a block holds a NaN or an Inf */
    int outputs, products; /* of one call, and products an output */
    char hash[17];         /* of the text, as its first comment has it */
} lb_emit_stats;

/** Whether the unit can be written. errors LB_E_UNAVAILABLE, saying what can. threads pure */
lb_status lb_emit_can(const lb_unit *u, lb_error *err);

/** The source of a unit; the same text each time.
 *  functions `NAME_dot(a, b, c)`: one element of D from K codes of A and of B, `NAME_tile(a, b, c, d)`: the instruction's whole tile, row-major;
 *            with o->fragment `NAME_share(lane, a, b)` and `NAME_lane(lane, c, d)`: a lane's registers, a barrier between the two, and
 *            `NAME(lane, a, b, c, d)`: both, in a language that has barriers; by sub-group shuffles only `NAME(lane, a, b, c, d)`,
 *            where `lane` is the invocation's number in its sub-group and all of it are there
 *  accuracy  bit-exact: equal to lb_unit_dot, NaN and Inf included, whatever the compiler's fast-math options;
 *            with o->finite only for what it says; LB_EMIT_FAST is not exact: its first comment has its measured rate
 *  errors    LB_E_UNAVAILABLE as lb_emit_can, for a fragment where no layout of 32 lanes is known, and for shuffles in a language without
 *  memory    *text is the caller's, free() */
lb_status lb_emit_unit(const lb_unit *u, const lb_emit_options *o, char **text, lb_emit_stats *stats, lb_error *err);

/** Whether the operation can be written. errors LB_E_UNAVAILABLE for approximate ones and matrix units, saying what to use. threads pure */
lb_status lb_emit_can_op(const lb_scalar_op *op, lb_error *err);

/** The source of a scalar operation; the same text each time. Of the options only the language counts: it is integers throughout.
 *  functions `NAME(in0, in1, ...)`: a word of up to 32 bits is one unsigned word, one of 64 bits two (`in0_low, in0_high`); one word is
 *            returned, more of them go to a last argument `d`, the lower first;
 *            of a whole warp `NAME_share(lane, in0)` and `NAME_lane(lane, in1, ...)`, a barrier between the two, and `NAME`: both, in a
 *            language that has barriers; in C a group's 32 lanes one after another
 *  accuracy  bit-exact: equal to lb_scalar_eval, whatever the compiler's fast-math options
 *  errors    LB_E_UNAVAILABLE as lb_emit_can_op
 *  memory    *text is the caller's, free() */
lb_status lb_emit_op(const lb_scalar_op *op, const lb_emit_options *o, char **text, lb_emit_stats *stats, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
