/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: fixed-order f32 replays. One function a row of ops.def, lb_play_NAME, fills every element of the row's outputs.
 * Files with it are compiled without contraction; an fma stands where the order says so. */
#ifndef LB_REFS_OP_PLAY_H
#define LB_REFS_OP_PLAY_H

#include "lastbit/operators.h"

#include <float.h>

_Static_assert(FLT_EVAL_METHOD == 0, "f32 arithmetic must round to f32");
#ifdef __FAST_MATH__
#error "replays need IEEE arithmetic"
#endif

typedef struct lb_play {
    const lb_op_case *x;
    lb_replay_order order;
    size_t k;                 /* the parameter of that name; 0 where there is none */
    double *in[LB_OP_INPUTS]; /* every input as doubles, exact */
    lb_error *err;
} lb_play;

size_t lb_play_whole(const lb_play *p, const char *name);
float lb_play_real(const lb_play *p, const char *name);
float lb_play_in(const lb_play *p, unsigned port, size_t i);
void lb_play_put(const lb_play *p, unsigned port, size_t i, double v);

/** a*b + c: one fma where the order contracts. */
float lb_play_mad(const lb_play *p, float a, float b, float c);

/** start + sum of a[i] b[i], or of a[i] with b NULL, in the order; strides in elements. */
float lb_play_dot(const lb_play *p, float start, const float *a, size_t a_stride, const float *b, size_t b_stride, size_t n);

/** Functions of doubles, rounded to f32; 1/sqrt(x) as two roundings or, on a device, one. */
float lb_play_exp(float x);
float lb_play_rsqrt(const lb_play *p, float x);

/** Room for n floats; NULL with the error. */
float *lb_play_room(const lb_play *p, size_t n);

/** softmax of s[n] in place; a row that is all -Inf, or holds NaN or +Inf, becomes NaN. */
void lb_play_normalise(const lb_play *p, float *s, size_t n);

typedef lb_status lb_play_function(const lb_play *p);

#define LB_OP(name, ...) lb_play_function lb_play_##name;
#include "refs/ops.def"
#undef LB_OP

#endif
