/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The dots that a recording asks of a unit: directed at the edges of its arithmetic, or drawn from a seed. */
#ifndef LB_RUN_CAPTURE_INPUTS_H
#define LB_RUN_CAPTURE_INPUTS_H

#include "lastbit/refs.h"

/** How many directed dots there are for a unit. threads pure */
size_t lb_capture_directed_count(const lb_unit *u);

/** Directed dot `index`: a, b [k] and *c, codes; k is at least 2. threads pure */
void lb_capture_directed(const lb_unit *u, size_t k, size_t index, uint64_t *a, uint64_t *b, uint64_t *c);

/** Seeded dot `index`: normal draws, wide exponents, any bits, and some with NaN, Inf, zeros and subnormals; c = 0 in one of eight. */
void lb_capture_seeded(const lb_unit *u, uint64_t seed, size_t k, uint64_t index, uint64_t *a, uint64_t *b, uint64_t *c);

#endif
