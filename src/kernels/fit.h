/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what fit-schedule tries. A group is everything that shares its chains: one class of units, one division of K; how its parts are
 * added are the variants of the group. */
#ifndef LB_KERNELS_FIT_H
#define LB_KERNELS_FIT_H

#include "kernels/schedule_plan.h"

enum { LB_FIT_VARIANTS = 32 };

typedef struct lb_fit_group {
    const lb_unit *u;
    lb_schedule s;  /* reduce, partial and sum are the base's: variant 0 */
    size_t parts;   /* the most that any element has */
    uint32_t alive; /* variants that gave every element looked at so far; at first those that no earlier candidate equals */
} lb_fit_group;

/* What is asked about. */
typedef struct lb_fit_case {
    lb_mat a, b, c, actual; /* c.codes NULL: none */
    const lb_schedule *base;
} lb_fit_case;

typedef struct lb_fit_groups {
    lb_fit_group *group;
    size_t count, capacity;
    uint64_t *seen; /* keys of the candidates so far: a hash set of 2^seen_bits places, 0 empty */
    size_t seen_count;
    int seen_bits;
} lb_fit_groups;

/* Append the groups of one unit that compute something new. errors LB_E_MEMORY */
lb_status lb_fit_enumerate(lb_fit_groups *out, const lb_fit_case *x, const lb_unit *u, lb_error *err);
void lb_fit_groups_close(lb_fit_groups *g);

/* Variant i of a group's reduction; false where there is none. */
bool lb_fit_variant(const lb_fit_group *g, const lb_format *out, unsigned i, lb_schedule *s);

/* Hash of what one element goes through: its chains and how they are added. Sums are commutative, and what is never added or rounded leaves
 * no trace, so that schedules with one key compute alike. *parts: how many */
lb_status lb_fit_key(const lb_fit_case *x, const lb_unit *u, const lb_schedule *s, const lb_schedule *variants, size_t count,
                     uint64_t *keys, size_t *parts, lb_error *err);

#endif
