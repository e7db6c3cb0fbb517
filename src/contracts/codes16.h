/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: loops over 16-bit codes that lie side by side, written so that a compiler can make vectors of them. */
#ifndef LB_CONTRACTS_CODES16_H
#define LB_CONTRACTS_CODES16_H

#include "lastbit/formats.h"

/* How many codes from the first on are equal in a and b. */
size_t lb_equal_run16(const uint16_t *a, const uint16_t *b, size_t count);

uint64_t lb_count_zeros16(const uint16_t *codes, size_t count); /* of both signs; of signed formats of 16 bits */

/* start + the squares, one after the other; values[2^16]. Not finite where a code is not. */
double lb_sum_squares(const lb_format *f, const double *values, const uint16_t *codes, size_t count, double start);

/* What is near, of the codes of a format of 16 bits with Inf and NaN. */
typedef struct lb_near16 {
    uint16_t inf, budget; /* the code of +Inf; the most ordinals apart */
    bool has_sentinel;
    uint16_t sentinel; /* an actual code that is it while the reference is not is far */
} lb_near16;

typedef struct lb_seen16 {
    unsigned differ, zeros, most; /* pairs that differ, references that are zero, the largest distance in ordinals */
} lb_seen16;

/* Whether each of count < 2^16 pairs is finite and equal, or of one sign, not zero and within the budget. */
bool lb_are_near16(const lb_near16 *by, const uint16_t *a, const uint16_t *r, size_t count, lb_seen16 *seen);

#endif
