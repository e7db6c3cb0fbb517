/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the activations of schedules, in the f32 steps that schedule.h states. */
#ifndef LB_KERNELS_ACTIVATIONS_H
#define LB_KERNELS_ACTIVATIONS_H

#include "lastbit/schedule.h"

/* Whether it takes erf, exp or tanh, which need the floating-point environment's default (lb_f32_native). */
bool lb_activation_curves(lb_activation a);

/* x[i] becomes its activation. */
void lb_activate(lb_activation a, float *x, size_t count);

/* The functions that they take, rounded correctly. */
float lb_f32_exp(float x);
float lb_f32_erf(float x);
float lb_f32_tanh(float x);

#endif
