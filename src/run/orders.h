/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: orders of summation with their operands laid out beforehand, so that a row serves many columns. */
#ifndef LB_RUN_ORDERS_H
#define LB_RUN_ORDERS_H

#include "lastbit/calibrate.h"

/* Elements of an operand as lb_order_lay lays it out: k, padded to whole rounds of the lanes. */
size_t lb_order_laid(const lb_sum_order *o, size_t k);

/* x[k] into out[laid] as the lanes meet it, zeros behind the end. */
void lb_order_lay(const lb_sum_order *o, const float *x, size_t k, float *out);

/* The sum over laid-out operands; scratch[lb_order_scratch] floats. scale: one a fold group, or NULL. */
double lb_order_run(const lb_sum_order *o, const float *a, const float *w, size_t k, const float *scale, float *scratch);
size_t lb_order_scratch(const lb_sum_order *o, size_t k);

/* w[i] *= scale[i / block]: what an order without folds does with scales. */
void lb_order_scale(float *w, size_t k, const float *scale, size_t block);

#endif
