/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a config.json beside a model says of its shape. */
#ifndef LB_NETS_CONFIG_H
#define LB_NETS_CONFIG_H

#include "lastbit/base.h"

/** 0 for what it does not say. */
typedef struct lb_config {
    size_t heads, context;
    double theta, eps;
} lb_config;

/** config.json in the folder of `model`; all zeros where there is none.
 *  errors LB_E_FILE: no JSON, or a value that is no number */
lb_status lb_config_beside(const char *model, lb_config *out, lb_error *err);

#endif
