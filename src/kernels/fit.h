/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what fit-schedule tries. A group is everything that shares its chains: one class of units, one division of K; how its parts are
 * added are the variants of the group. */
#ifndef LB_KERNELS_FIT_H
#define LB_KERNELS_FIT_H

#include "kernels/schedule_plan.h"

typedef struct lb_fit_group {
    const lb_unit *u;
    size_t alike;
    lb_schedule s;     /* reduce, partial and sum are the base's */
    uint64_t plan_key; /* groups of one unit with one key compute alike */
    uint32_t alive;    /* variants that gave every element looked at so far */
} lb_fit_group;

typedef struct lb_fit_groups {
    lb_fit_group *group;
    size_t count, capacity;
} lb_fit_groups;

/* What is asked about. */
typedef struct lb_fit_case {
    lb_mat a, b, c, actual; /* c.codes NULL: none */
    const lb_schedule *base;
} lb_fit_case;

/* Append the groups of one class of units. errors LB_E_MEMORY */
lb_status lb_fit_enumerate(lb_fit_groups *out, const lb_fit_case *x, const lb_unit *u, size_t alike, lb_error *err);

enum { LB_FIT_VARIANTS = 32 };

/* Variant i of a group's reduction; false where it is none, or the same as another one. parts: the most that any element has. */
bool lb_fit_variant(const lb_fit_group *g, const lb_format *out, size_t parts, unsigned i, lb_schedule *s);

/* The most parts that any element of the output has under this schedule. */
size_t lb_fit_parts(const lb_schedule *s, size_t step, size_t m, size_t n, size_t k);

#endif
