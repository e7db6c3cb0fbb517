/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a record says of the case, the unit and the contract. */
#ifndef LB_RUN_DESCRIBE_H
#define LB_RUN_DESCRIBE_H

#include "lastbit/run.h"

enum { LB_MISDEED = 600 };

void lb_describe_unit(lb_record *r, const lb_unit *u);

/** The case as pairs that can be read back; unit, contract and sample may be NULL or 0. */
void lb_describe_case(lb_record *r, const lb_case *x, const lb_unit *u, const lb_contract *c, size_t sample);

/** What a device did beside computing, each of which ends its case: false where it did nothing. */
bool lb_describe_misdeed(const lb_run_report *r, char out[LB_MISDEED]);

/** Seconds of a clock that only goes forward. */
double lb_seconds(void);

/* op, case and coverage of two tensors that are graded. */
void lb_describe_grade(lb_record *r, const lb_format *f, const lb_contract *c, size_t m, size_t n, double k);

#endif
