/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Grading a few numbers under a rule by name. */
#ifndef LB_TESTS_GRADE_ONE_H
#define LB_TESTS_GRADE_ONE_H

#include "test.h"

#include "lastbit/contracts.h"

#include <math.h>
#include <stdlib.h>

/* One row of codes; more: what the rule needs beside them, or NULL. */
static inline lb_record *graded_codes(const char *rule, const lb_format *f, const void *actual, const void *reference, size_t count,
                                      double k, const lb_grade_input *more) {
    lb_grade_input in = more ? *more : (lb_grade_input){0};
    lb_record *r;
    lb_error err = {0};
    in.actual = lb_mat_of(f, actual, 1, count);
    in.reference = lb_mat_of(f, reference, 1, count);
    in.k = k;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    if (lb_grade_by(rule, &in, r, &err) != LB_OK) fail_msg("%s: %s: %s", rule, err.place, err.message);
    return r;
}

/* The same of one pair of values, each rounded once to f. The gauge is given too, 0: none. */
static inline lb_record *graded_pair(const char *rule, lb_format_id id, double actual, double reference, double k, double gauge) {
    const lb_format *f = lb_format_row(id);
    uint64_t a = 0, r = 0;
    const lb_grade_input in = {.gauge = gauge > 0 ? &gauge : NULL};
    lb_store_code(&a, f->bytes, lb_from_double(f, actual));
    lb_store_code(&r, f->bytes, lb_from_double(f, reference));
    return graded_codes(rule, f, &a, &r, 1, k, &in);
}

#endif
