/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the state of a run. */
#ifndef LB_NETS_NET_RUN_H
#define LB_NETS_NET_RUN_H

#include "nets/node.h"

struct lb_net_run {
    const lb_net *net;
    const lb_arith *arith;
    double **store;   /* [values][capacity][cols] */
    size_t *capacity; /* rows */
    lb_coded *coded;  /* [values] */
    size_t before;    /* rows so far */
    size_t rows;      /* of the last step */
    void (*tap)(void *user, const char *node, const double *values, size_t rows, size_t cols);
    void *tap_user;
};

/** Check what goes in and store it. */
lb_status lb_net_begin(lb_net_run *r, const lb_net_input *in, lb_error *err);
lb_node_job lb_net_job(const lb_net_run *r, const lb_net_input *in, size_t node);
/** Store rows of a node's output where it goes. */
lb_status lb_net_put(lb_net_run *r, const lb_view *view, const double *rows_of_it, size_t rows, lb_error *err);

#endif
