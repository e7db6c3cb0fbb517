/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the f32 arithmetic of schedules. Each operation is IEEE 754's, rounded once to nearest even, subnormals kept. The processor's
 * own floats do it where they are set up so; values of formats.h, exact and rounded by lb_encode, are the specification and what runs
 * elsewhere. What a NaN's bits are is decided once, where a result becomes a code. */
#ifndef LB_KERNELS_SCHEDULE_F32_H
#define LB_KERNELS_SCHEDULE_F32_H

#include "lastbit/formats.h"

/* Whether the caller's floating-point environment is IEEE's default: no flushing of subnormals, rounding to nearest. */
bool lb_f32_native(void);

/* x[i] + y[i] into x; x[i] * y; fma(alpha, x[i], y[i]), all in place. */
void lb_f32_add(float *x, const float *y, size_t count, bool native);
void lb_f32_scale(float *x, float y, size_t count, bool native);
void lb_f32_fma(float *x, float alpha, const float *y, size_t count, bool native);

/* The specification. */
float lb_f32_add_exactly(float x, float y);
float lb_f32_mul_exactly(float x, float y);
float lb_f32_fma_exactly(float x, float y, float z);

/* Formats whose every value is an f32: what C, bias and partial sums may be. */
bool lb_f32_holds(const lb_format *f);
float lb_f32_of(const lb_format *f, uint64_t code);

/* Code of x in f, rounded once to nearest even; overflow to Inf, or with `saturate` to the largest finite value. A NaN has every bit below
 * the sign set where f is an IEEE format, as NVIDIA's units and conversions give it. */
uint64_t lb_f32_code(const lb_format *f, float x, bool saturate);

#endif
