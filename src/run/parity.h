/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the parts of lastbit parity. */
#ifndef LB_RUN_PARITY_H
#define LB_RUN_PARITY_H

#include "run/fleet.h"

/* ---- the plan ----------------------------------------------------------------------------------------------------------------- */

typedef struct lb_plan {
    char **texts; /* [count] of lb_op_case_open */
    size_t count, capacity;
} lb_plan;

/** The cases of the options, in order. errors LB_E_NAME for an operator, LB_E_MEMORY. memory lb_plan_close */
lb_status lb_plan_open(lb_plan *p, const lb_parity_options *o, lb_error *err);
void lb_plan_close(lb_plan *p);

/** Whether options want an operator. */
bool lb_plan_wants(const lb_parity_options *o, const char *op);
/** errors LB_E_NAME, with the nearest, where options name an operator that is none */
lb_status lb_plan_check_ops(const lb_parity_options *o, lb_error *err);
bool lb_op_has_format(const lb_op *op); /* some port of it is of the case's format T */

/** The shortest text of an operator's plan: its first shape. */
const char *lb_plan_first_shape(const char *op);

/* ---- judging ------------------------------------------------------------------------------------------------------------------ */

/* One answer, and all that is said of it. */
typedef struct lb_subject {
    const lb_op_case *x; /* outputs filled */
    lb_op_truth *truth;  /* settled here */
    const lb_worker_answer *answer;
    const char *on, *on_described; /* "opencl:0", "opencl:0 (PoCL …)" */
    lb_function_class functions;
} lb_subject;

/** Case, device, verdict, counts, elements and reason into r. *ratio: the largest error / limit of what is right or wrong. */
lb_status lb_parity_judge(const lb_subject *s, lb_record *r, double *ratio, lb_error *err);

/** Where wrong or merely other bits come from, by fixed-order replays, in words, into text[size]. */
lb_status lb_parity_cause(const lb_op_case *x, const lb_op_truth *t, char *text, size_t size, lb_error *err);

/** What the limits catch of faults injected into the right output, into r->power. */
lb_status lb_parity_power(const lb_op_case *x, lb_function_class functions, lb_record *r, lb_error *err);

/** The right output in x's outputs: the true values rounded once. */
void lb_truth_round(const lb_op_truth *t, lb_op_case *x);

/** Largest |a - b| of two answers over numbers, INFINITY where classes differ; where. */
double lb_answer_max_abs(const lb_op_case *a, const lb_op_case *b, size_t *row, size_t *col);

/** An output as a matrix: rows of its last dimension. */
lb_mat lb_array_mat(const lb_array *a);

/* ---- known defects ------------------------------------------------------------------------------------------------------------ */

/* What it says where a case of a row passes all the same. */
typedef enum lb_known_pass {
    LB_KNOWN_PASS_NEWS,   /* the row may be out of date */
    LB_KNOWN_PASS_FINE,   /* nothing: a kernel need not meet the defect */
    LB_KNOWN_PASS_NOTHING /* nothing is proven: the case's limit cannot see the defect */
} lb_known_pass;

typedef struct lb_known_row {
    char device[64], version[64]; /* what the device's description holds; "" any */
    char pattern[256];            /* "op=gelu fmt=f32 on=kernel:* k>65535": pairs that it must have, * and ? as in file names; sizes */
    double bound;                 /* the largest error / limit that is known */
    lb_known_pass pass;
    char cause[256], source[128];
    size_t matched, failed, passed;
} lb_known_row;

typedef struct lb_known {
    lb_known_row *rows;
    size_t count, capacity;
} lb_known;

lb_status lb_known_open(lb_known *k, const char *file, bool shipped, lb_error *err);
void lb_known_close(lb_known *k);

/** The row that fits a case on a device; NULL: none. */
lb_known_row *lb_known_find(lb_known *k, const char *described, const char *case_text);

#endif
