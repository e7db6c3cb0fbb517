/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what the references share. One function a row of ops.def, lb_ref_NAME, fills every element of the row's outputs. */
#ifndef LB_REFS_OP_REF_H
#define LB_REFS_OP_REF_H

#include "refs/op_num.h"

typedef struct lb_ref {
    const lb_op_case *x;
    lb_op_truth *t;
    lb_function_class c;
    size_t k;                 /* the parameter of that name, which products ask for at each element; 0 where there is none */
    double *in[LB_OP_INPUTS]; /* every input as doubles, exact */
    lb_error *err;
} lb_ref;

/** A whole parameter of the row, and a real one as the kernel has it. */
int64_t lb_ref_whole(const lb_ref *r, const char *name);
double lb_ref_real(const lb_ref *r, const char *name);

/** Input `port`, element i, as a number. */
lb_num lb_ref_in(const lb_ref *r, unsigned port, size_t i);

/** An output element: rounded once to the output's format by a kernel; or moved as it is; or an index. */
void lb_ref_put(const lb_ref *r, unsigned port, size_t i, lb_num n);
void lb_ref_put_exact(const lb_ref *r, unsigned port, size_t i, double v);

/** Inputs of a case as doubles, one allocation each. errors LB_E_MEMORY; then nothing is left allocated */
lb_status lb_op_load(const lb_op_case *x, double *in[LB_OP_INPUTS], lb_error *err);

/** Every index of the input named "id" lies in [0, bound). errors LB_E_ARG with the first that does not */
lb_status lb_op_check_ids(const lb_op_case *x, lb_error *err);

/* Weights of a softmax over scores s[n]: w[j] = exp(s[j] - max), not yet divided; false if the row is NaN. The bound of each holds for a
 * sum that is rescaled at each key as well. top, if not NULL, gets the maximum. */
bool lb_ref_weights(const lb_ref *r, const lb_num *s, size_t n, lb_num *w, double *top);

typedef lb_status lb_ref_function(lb_ref *r);

#define LB_OP(name, ...) lb_ref_function lb_ref_##name;
#include "refs/ops.def"
#undef LB_OP

#endif
