/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: one element judged. Classes come first, and every comparison is written so that NaN fails it. */
#ifndef LB_CONTRACTS_JUDGE_H
#define LB_CONTRACTS_JUDGE_H

#include "contracts/limit.h"

/* A code and its value, which tells the class too: decoded once. */
typedef struct lb_number {
    uint64_t code;
    double value;
} lb_number;

/* What is worth counting about a pair, whatever the contract says of it. */
typedef enum lb_event {
    LB_EVENT_NUMBERS, /* two numbers, or the same Inf: nothing special */
    LB_EVENT_NAN_SAME,
    LB_EVENT_NAN_OTHER, /* two NaNs of different bits */
    LB_EVENT_ZERO_SIGN,
    LB_EVENT_FLUSHED,    /* zero where the reference is subnormal */
    LB_EVENT_SATURATED,  /* the largest finite value where the reference overflowed */
    LB_EVENT_OVERFLOWED, /* Inf where the reference is a number; NaN for the largest value of a format without Inf */
    LB_EVENT_CLASS       /* any other difference of class */
} lb_event;

typedef struct lb_judgement {
    bool legal, class_mismatch, flip, over_ulp;
    bool unbounded; /* no limit can be stated there */
    lb_event event;
    double ulp, abs_error, ratio; /* ratio: of the error to what is allowed; INFINITY where classes differ */
} lb_judgement;

/* What judging asks of a format, once for all elements. */
typedef struct lb_range {
    double top, least_normal; /* 0: there are no subnormals */
    bool has_inf;
} lb_range;

lb_range lb_range_of(const lb_format *f);

/* What judging needs to know of an element beside its two numbers. */
typedef struct lb_judge_at {
    const lb_contract *contract; /* NULL: only exact counts */
    const lb_format *format;
    const lb_range *range;
    const lb_limit_row *row;
    double gauge, flushed_gauge; /* NAN, 0: not known */
} lb_judge_at;

lb_judgement lb_judge_element(const lb_judge_at *at, lb_number actual, lb_number reference);

/* The absolute tolerance at a reference; NAN where the contract limits no element. */
double lb_judge_bound(const lb_judge_at *at, lb_number reference);

/* The original takes NaN and Inf as numbers beyond the largest finite value. */
bool lb_judge_by_number(const lb_contract *c);

/* Whether equal bits are good enough: not those of a NaN, where the policy refuses every NaN. */
bool lb_judge_takes(const lb_contract *c, double value);

#endif
