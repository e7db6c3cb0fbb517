/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a contract catches: faults are injected into a correct output and graded. A contract that lets one pass is blind to it. */
#ifndef LASTBIT_POWER_H
#define LASTBIT_POWER_H

#include "lastbit/contracts.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A fault that kernels are known to have; rows are src/run/faults.def. */
typedef struct lb_fault {
    const char *name, *what;
    bool of_operands; /* it is a fault of the sum: A and B are needed to inject it */
} lb_fault;

const lb_fault *lb_fault_row(size_t i);                                         /* NULL past the end. threads pure */
lb_status lb_fault_find(const char *name, const lb_fault **out, lb_error *err); /* errors LB_E_NAME, naming the nearest. threads pure */

typedef struct lb_power_input {
    const lb_grade_input *grade;    /* what the output was graded by; its `actual` is not looked at. The correct output is `exact`, or
                                       without it `reference` */
    const lb_case *x;               /* operands of these rows and columns; NULL: outputs of any operator, and no faults of the sum */
    const lb_unit *unit;            /* what makes `exact` of the operands; NULL without it */
    const char *const *faults;      /* names; NULL: every one */
    size_t fault_count;             /*  */
    const char *const *allow_blind; /* faults that the contract may miss */
    size_t allow_blind_count;       /*  */
} lb_power_input;

/** Inject each fault into the correct output, grade it, and put what became of it into r->power; score = caught / due, where due are the
 *  faults that are caught and those that pass although their largest error exceeds what correct kernels differ by: two ordinals,
 *  or the contract `statistical-rz` at that element (of a contract that declares a reduction: that reduction's statistical limit).
 *  Each is injected where it shows least: the quietest row, the element nearest to zero. A fault that leaves the bits as they are is hidden,
 *  with what hides it. Faults of the sum are injected into at most 5e7 products: a sample of rows and columns.
 *  A PASS in r becomes UNPROVEN where a fault is missed that is not allowed, where none is due, where one could not be injected
 *  for no reason that is known, or where the correct output itself does not pass.
 *  errors LB_E_NAME for an unknown fault; those of lb_grade and of the reference; LB_E_MEMORY. r is then without a score
 *  memory two copies of the output
 *  threads pure
 *  source lastbit-contracts */
lb_status lb_power(const lb_power_input *in, lb_record *r, lb_error *err);

/** Inject one fault into `right`, a correct output, giving `out` (row-major, the same shape and format). x, unit: as above, maybe NULL.
 *  why [192] (or NULL) says where it was injected; where *hidden, what in the inputs hides it.
 *  errors LB_E_NAME; LB_E_ARG for a fault of operands without them; LB_E_SHAPE, LB_E_MEMORY. threads pure */
lb_status lb_fault_plant(const char *name, const lb_case *x, const lb_unit *unit, const lb_mat *right, lb_mat *out, bool *hidden, char *why,
                         lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
