/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References: element by element, and turns of pairs. */
#include "refs/op_ref.h"

#include <float.h>
#include <math.h>

static const lb_num one = {1, 0, 0}, half = {0.5, 0, 0};

typedef lb_num element_function(lb_num x, lb_function_class c);

static lb_status each(const lb_ref *r, element_function *f) {
    for (size_t i = 0; i < r->t->count[0]; i++) lb_ref_put(r, 0, i, f(lb_ref_in(r, 0, i), r->c));
    return LB_OK;
}

/* x at NaN and +Inf, a zero at -Inf: where the activations' formulas give Inf - Inf or 0 Inf. */
static bool edge(lb_num x, lb_num *out) {
    if (isfinite(x.v)) return false;
    *out = (lb_num){x.v < 0 ? -0.0 : x.v, 0, 0};
    return true;
}

/* 0.5 x (1 + tanh(u)). Above |u| = 15 tanh is 1 to f32, whatever u came out as, Inf too; an f64 reference must not overflow on the way. */
static lb_num gelu(lb_num x, lb_function_class c) {
    lb_num y;
    if (edge(x, &y)) return y;
    const lb_num x3 = lb_num_mul(lb_num_mul(x, x, c), x, c);
    const lb_num u = lb_num_mul(lb_num_constant(0.7978845608028654), lb_num_add(x, lb_num_mul(lb_num_constant(0.044715), x3, c), c), c);
    lb_num t;
    if (fabs(u.v) <= 15)
        t = lb_num_call(LB_FN_tanh, u, c);
    else
        t = (lb_num){copysign(1, u.v), 4 * exp(-2 * fabs(u.v)), lb_function_error(LB_FN_tanh, 15, 1, c)};
    /* 1 + tanh(u) = 2 / (1 + exp(-2u)): what cancels for negative u does so in a kernel only */
    const double sum = 2 / (1 + exp(-2 * u.v));
    const lb_num kernel = lb_num_add(one, t, c);
    const double slope = fabs(u.v) > 400 ? 0 : 2 * u.e / (1 + exp(2 * u.v)); /* relative; beyond, the sum is 2 or below every double */
    const lb_num s = {sum, (slope + 0x1p-50) * sum, kernel.l + fabs(kernel.v - sum)};
    y = lb_num_mul(lb_num_mul(half, x, c), s, c);
    if (fabs(y.v) < 1e-300) y.e += 1e-300;
    return y;
}

lb_status lb_ref_gelu(lb_ref *r) {
    return each(r, gelu);
}

/* 0.5 x erfc(-x / sqrt 2): 1 + erf would lose the tail. */
static lb_num gelu_erf(lb_num x, lb_function_class c) {
    lb_num y;
    if (edge(x, &y)) return y;
    const lb_num z = lb_num_mul(x, lb_num_constant(-0.70710678118654752), c);
    return lb_num_mul(lb_num_mul(half, x, c), lb_num_call(LB_FN_erfc, z, c), c);
}

lb_status lb_ref_gelu_erf(lb_ref *r) {
    return each(r, gelu_erf);
}

/* n / (1 + exp(-x)). Where exp(-x) leaves f32 a kernel has n / Inf, a zero: within |value|. */
static lb_num over_one_plus_exp(lb_num n, lb_num x, lb_function_class c) {
    const lb_num minus = {-x.v, x.e, x.l}, e = lb_num_call(LB_FN_exp, minus, c);
    if (e.v + e.l > FLT_MAX || !isfinite(e.v)) {
        const double v = n.v / (1 + exp(-x.v));
        return (lb_num){v, fabs(v) * 0x1p-50 + DBL_TRUE_MIN, fabs(v) + lb_num_floor(v, 0, c)};
    }
    return lb_num_div(n, lb_num_add(one, e, c), c);
}

static lb_num silu(lb_num x, lb_function_class c) {
    lb_num y;
    return edge(x, &y) ? y : over_one_plus_exp(x, x, c);
}

lb_status lb_ref_silu(lb_ref *r) {
    return each(r, silu);
}

static lb_num sigmoid(lb_num x, lb_function_class c) {
    if (isinf(x.v)) return (lb_num){x.v > 0, 0, 0};
    return isnan(x.v) ? x : over_one_plus_exp(one, x, c);
}

lb_status lb_ref_sigmoid(lb_ref *r) {
    return each(r, sigmoid);
}

lb_status lb_ref_silu_mul(lb_ref *r) {
    for (size_t i = 0; i < r->t->count[0]; i++) lb_ref_put(r, 0, i, lb_num_mul(silu(lb_ref_in(r, 0, i), r->c), lb_ref_in(r, 1, i), r->c));
    return LB_OK;
}

/* One rounding, so an overflow is known too. */
lb_status lb_ref_add(lb_ref *r) {
    for (size_t i = 0; i < r->t->count[0]; i++) {
        lb_num z = lb_num_add(lb_ref_in(r, 0, i), lb_ref_in(r, 1, i), r->c);
        if (isinf(z.l)) z.l = LB_U * fabs(z.v);
        lb_ref_put(r, 0, i, z);
    }
    return LB_OK;
}

/* ---- turns ------------------------------------------------------------------------------------------------------------------ */

static lb_num angle_of(const lb_ref *r, double pos, size_t i, size_t rotary) {
    const lb_num p = {pos, 0, LB_U * fabs(pos) * (fabs(pos) > 0x1p24)}, scale = lb_num_of(lb_ref_real(r, "scale"), r->c);
    const lb_num power = lb_num_div((lb_num){-2.0 * (double)i, 0, 0}, (lb_num){(double)rotary, 0, 0}, r->c);
    const lb_num turns = scale.v == 1 ? p : lb_num_div(p, scale, r->c);
    return lb_num_mul(turns, i ? lb_num_pow(lb_ref_real(r, "theta"), power, r->c) : lb_num_pow(lb_ref_real(r, "theta"), (lb_num){0}, r->c),
                      r->c);
}

static void turn(const lb_ref *r, lb_num angle, size_t first, size_t second) {
    const lb_num cosine = lb_num_call(LB_FN_cos, angle, r->c), sine = lb_num_call(LB_FN_sin, angle, r->c);
    const lb_num a = lb_ref_in(r, 0, first), b = lb_ref_in(r, 0, second), minus = {-b.v, b.e, b.l};
    lb_sum s;
    lb_sum_start(&s);
    lb_sum_product(&s, a, cosine);
    lb_sum_product(&s, minus, sine);
    lb_ref_put(r, 0, first, lb_sum_value(&s, r->c));
    lb_sum_start(&s);
    lb_sum_product(&s, b, cosine);
    lb_sum_product(&s, a, sine);
    lb_ref_put(r, 0, second, lb_sum_value(&s, r->c));
}

static lb_status turn_all(const lb_ref *r, bool interleaved) {
    const size_t rows = (size_t)lb_ref_whole(r, "rows"), d = (size_t)lb_ref_whole(r, "d"), rotary = (size_t)lb_ref_whole(r, "rotary");
    for (size_t row = 0; row < rows; row++) {
        const size_t start = row * d;
        for (size_t i = 0; i < rotary / 2; i++) {
            const lb_num angle = angle_of(r, r->in[1][row], i, rotary);
            if (interleaved)
                turn(r, angle, start + 2 * i, start + 2 * i + 1);
            else
                turn(r, angle, start + i, start + i + rotary / 2);
        }
        for (size_t c = rotary; c < d; c++) lb_ref_put_exact(r, 0, start + c, r->in[0][start + c]);
    }
    return LB_OK;
}

lb_status lb_ref_rope(lb_ref *r) {
    return turn_all(r, false);
}

lb_status lb_ref_rope_interleaved(lb_ref *r) {
    return turn_all(r, true);
}
