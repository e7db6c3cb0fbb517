/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: one operator of a network in one arithmetic, and its judge. */
#ifndef LB_NETS_NODE_H
#define LB_NETS_NODE_H

#include "nets/arith.h"
#include "nets/net.h"

/** What a node runs on. */
typedef struct lb_node_job {
    const lb_net *net;
    const lb_arith *arith;
    const lb_node *node;
    double *const *store; /* [values]: rows of each, a cache from its first row on */
    const int32_t *tokens;
    size_t before, rows; /* rows that came before, rows of this chunk */
    lb_coded *coded;     /* [values]: weights as a unit takes them, made on first use */
} lb_node_job;

/** Output [rows][cols]; judged: the true values on the same inputs and how far off this arithmetic may be. */
typedef struct lb_node_result {
    size_t rows, cols;
    double *out, *value, *budget; /* value and budget NULL unless judged */
    bool absent;                  /* a trace does not say */
} lb_node_result;

/** errors what the operator says. memory lb_node_result_free, also after a failure */
lb_status lb_node_run(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err);
void lb_node_result_free(lb_node_result *r);

/** Rows of a view as the node sees them, [*rows][*cols], free(). */
lb_status lb_node_gather(const lb_node_job *job, size_t input, double **out, size_t *rows, size_t *cols, lb_error *err);

/** Parameter `name` of the node in this chunk. */
double lb_node_param(const lb_node_job *job, const char *name);

/** The nodes that a unit computes: linear, attention. */
lb_status lb_node_on_unit(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err);

/** What a trace says of the node. */
lb_status lb_node_traced(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err);

/** An operator through an operator case: true values, a replay, or a device. in: doubles, as many as the row wants. */
lb_status lb_node_case(const lb_arith *a, const char *text, const double *const *in, bool judged, lb_node_result *out, lb_error *err);

#endif
