/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the devices of a run over operators, each with its processes; and one case as one device answered it. */
#ifndef LB_RUN_FLEET_H
#define LB_RUN_FLEET_H

#include "lastbit/parity.h"
#include "run/worker.h"

enum { LB_FLEET_JOBS = 64, LB_FLEET_DEVICES = 16 };

typedef struct lb_fleet_device {
    char name[256];
    lb_function_class functions; /* what it promises of its functions */
    lb_worker *workers[LB_FLEET_JOBS];
} lb_fleet_device;

typedef struct lb_fleet {
    lb_fleet_device devices[LB_FLEET_DEVICES];
    size_t count;
    unsigned jobs;
    double timeout;
    char left_out[LB_FLEET_DEVICES][256];
    size_t left_out_count;
} lb_fleet;

/** errors as lb_parity_open. memory lb_fleet_close */
lb_status lb_fleet_open(lb_fleet **out, const lb_parity_options *o, lb_error *err);
void lb_fleet_close(lb_fleet *f); /* NULL is fine */

/** "opencl:0 (PoCL 3.1, cpu-…)" into text[size]. */
void lb_fleet_describe(const lb_fleet *f, size_t device, char *text, size_t size);

/** A case with outputs of its own over the inputs of x, which must outlive it. errors LB_E_MEMORY. memory lb_answer_close */
lb_status lb_answer_open(lb_op_case *out, const lb_op_case *x, lb_error *err);
void lb_answer_close(lb_op_case *x);

/** Run one case on one device, now. */
lb_status lb_fleet_run(lb_fleet *f, size_t device, lb_op_case *x, lb_worker_answer *out, lb_error *err);

/** The largest distance of two outputs of the same case in ULP, INFINITY where classes differ; *differ counts other bits (NaN is NaN). */
double lb_answer_distance(const lb_op_case *a, const lb_op_case *b, size_t *differ, size_t *compared);
double lb_code_distance(const lb_format *f, uint64_t a, uint64_t b);

#endif
