/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what grading has seen so far, and the verdict on it. */
#ifndef LB_CONTRACTS_TALLY_H
#define LB_CONTRACTS_TALLY_H

#include "contracts/codes16.h"
#include "contracts/judge.h"

typedef struct lb_squares {
    double sum;
    size_t count;
} lb_squares;

/* The run over all elements. */
typedef struct lb_tally {
    const lb_grade_input *in;
    const lb_format *format;
    double *values; /* [2^bits] of every code, where that is quicker than decoding each element; else NULL */
    double elements;
    bool by_number; /* see lb_judge_by_number */
    lb_range range;
    size_t row_offset, col_offset; /* of the piece that is judged, in the whole output */
    bool begun;                    /* a row was judged */
    bool plain;                    /* see is_plain */
    lb_near16 near16;              /* of a plain one whose elements may go by blocks; inf 0: they may not */
    lb_limit_row limit;            /* of the row that is judged */
    lb_counts counts;
    lb_element first, worst;
    double worst_ratio; /* of error to allowance; INFINITY where classes differ */
    bool worst_is_wrong;
    double max_ulp, max_abs, error_square, reference_square;
    double gated_square; /* of the errors that the block's gate looks at: not those of a unit's own bits, which are exact */
    double row_rms_least, row_rms_most;
    uint64_t finite_count, nonzero; /* finite reference elements; those that are not zero */
    lb_element unfit;               /* the first element whose reference is not fit to judge it */
    double unfit_error;
    lb_element unbounded;                                /* the first element that has no limit */
    double reference_error_square, reference_error_most; /* of the block's rules */
    double baseline_error, offset_error;                 /* BASELINE: the largest of each */
} lb_tally;

/* Counts, metrics, elements, contract, cause, verdict and reason into the record. */
void lb_tally_fill_record(const lb_tally *t, lb_record *r);

#endif
