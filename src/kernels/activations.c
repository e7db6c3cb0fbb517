/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Activations as steps of f32. The curves are rounded correctly: the C library's double is within a few units of its last place, so that
 * only a value that lies next to a boundary of f32's rounding needs a longer one. */
#include "kernels/activations.h"

#include <float.h>
#include <math.h>

#ifdef __FAST_MATH__
#error "schedules need IEEE arithmetic: do not build them with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "floats must be evaluated as floats");

/* ---- curves ---------------------------------------------------------------------------------------------------------------- */

typedef double curve(double x);
typedef long double long_curve(long double x);

#define DOUBLE_ERROR 0x1p-49 /* relative: 8 units in the last place; glibc states at most 2 (docs/sources.md: glibc-ulp) */

/* f(x) rounded once. Both ends of the interval that holds the value round to one float, or the longer format decides. */
static float rounded_once(curve *f, long_curve *longer, float x) {
    const double y = f((double)x);
    const float low = (float)(y - fabs(y) * DOUBLE_ERROR), high = (float)(y + fabs(y) * DOUBLE_ERROR);
    return low == high || isnan(y) ? (float)y : (float)longer((long double)x);
}

float lb_f32_exp(float x) {
    return rounded_once(exp, expl, x);
}

float lb_f32_erf(float x) {
    return rounded_once(erf, erfl, x);
}

float lb_f32_tanh(float x) {
    return rounded_once(tanh, tanhl, x);
}

/* ---- activations ----------------------------------------------------------------------------------------------------------- */

#define SQRT_HALF      0x1.6a09e6p-1f /* f32 of the root of 1/2 */
#define SQRT_TWO_BY_PI 0x1.988454p-1f
#define CUBIC          0x1.6e4e26p-5f /* 0.044715 */

static float act_NONE(float x) {
    return x;
}

static float act_RELU(float x) {
    return x > 0 || isnan(x) ? x : 0;
}

static float act_GELU_ERF(float x) {
    return 0.5f * x * (1 + lb_f32_erf(x * SQRT_HALF));
}

static float act_GELU_TANH(float x) {
    return 0.5f * x * (1 + lb_f32_tanh(SQRT_TWO_BY_PI * fmaf(CUBIC, x * x * x, x)));
}

static float act_GELU_TAYLOR(float x) {
    return 0.5f * x * (1 + lb_f32_tanh(SQRT_TWO_BY_PI * x * fmaf(CUBIC * x, x, 1)));
}

static float act_SIGMOID(float x) {
    return 1 / (1 + lb_f32_exp(-x));
}

static float act_SILU(float x) {
    return x / (1 + lb_f32_exp(-x));
}

bool lb_activation_curves(lb_activation a) {
    return a != LB_ACTIVATION_NONE && a != LB_ACTIVATION_RELU;
}

void lb_activate(lb_activation a, float *x, size_t count) {
    static float (*const steps[])(float) = {
#define X(id, name, text) act_##id,
        LB_ACTIVATION_LIST(X)
#undef X
    };
    if (a == LB_ACTIVATION_NONE) return;
    for (size_t i = 0; i < count; i++) x[i] = steps[a](x[i]);
}
