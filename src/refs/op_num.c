/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* First-order bounds, with the second-order terms kept where they are cheap; each result is rounded up by a little at the end. */
#include "refs/op_num.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define D  0x1p-53
#define UP (1 + 0x1p-20) /* pays for the rounding of the bounds themselves */

static const lb_function_row functions[] = {
#define LB_FUNCTION(name, u0, x0, a0, s0, u1, x1, a1, s1, u2, x2, a2, s2) {#name, {{u0, x0, a0, s0}, {u1, x1, a1, s1}, {u2, x2, a2, s2}}},
#include "refs/functions.def"
#undef LB_FUNCTION
};

const lb_function_row *lb_function_row_at(size_t i) {
    return i < LB_FN_COUNT ? &functions[i] : NULL;
}

const char *lb_function_class_name(lb_function_class c) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_FUNCTION_CLASS_LIST(X)
#undef X
    };
    return (unsigned)c < LB_FUNCTION_CLASS_COUNT ? names[c] : "unknown";
}

double lb_num_floor(double v, double l, lb_function_class c) {
    if (fabs(v) - l > FLT_MIN) return 0;
    return c == LB_FUNCTIONS_IEEE ? 0x1p-150 : FLT_MIN;
}

/* One result: v with the bounds so far; l gets the kernel's rounding of `relative` of what it computed. */
static lb_num result(double v, double e, double l, double relative, lb_function_class c) {
    if (!isfinite(v)) return (lb_num){v, 0, 0};
    const double reach = fabs(v) + l;
    l += relative * reach + lb_num_floor(v, l, c);
    if (!(reach <= FLT_MAX)) l = INFINITY; /* f32 may overflow here */
    return (lb_num){v, (e + D * fabs(v) + DBL_TRUE_MIN) * UP, l * UP};
}

lb_num lb_num_of(double v, lb_function_class c) {
    const bool flushed = c != LB_FUNCTIONS_IEEE && fabs(v) < FLT_MIN;
    return (lb_num){v, 0, flushed ? fabs(v) : 0};
}

lb_num lb_num_constant(double v) {
    return (lb_num){v, D * fabs(v), LB_U * fabs(v)};
}

lb_num lb_num_add(lb_num a, lb_num b, lb_function_class c) {
    return result(a.v + b.v, a.e + b.e, a.l + b.l, LB_U, c);
}

lb_num lb_num_sub(lb_num a, lb_num b, lb_function_class c) {
    b.v = -b.v;
    return lb_num_add(a, b, c);
}

lb_num lb_num_mul(lb_num a, lb_num b, lb_function_class c) {
    const double x = fabs(a.v), y = fabs(b.v);
    const bool zero = (x == 0 && a.l == 0 && a.e == 0 && isfinite(y)) || (y == 0 && b.l == 0 && b.e == 0 && isfinite(x));
    if (zero) return (lb_num){a.v * b.v, 0, 0}; /* exactly */
    return result(a.v * b.v, x * b.e + y * a.e + a.e * b.e, x * b.l + y * a.l + a.l * b.l, LB_U, c);
}

lb_num lb_num_div(lb_num a, lb_num b, lb_function_class c) {
    const double v = a.v / b.v, x = fabs(v), y = fabs(b.v);
    if (!isfinite(v) || !isfinite(b.v)) return (lb_num){v, 0, 0};
    const double e = b.e < y ? (a.e + x * b.e) / (y - b.e) : INFINITY, l = b.l < y ? (a.l + x * b.l) / (y - b.l) : INFINITY;
    lb_num r = result(v, e, l, 0, c);
    r.l += (2 * functions[LB_FN_div].at[c].ulp + 1) * LB_U * (x + l); /* an ULP is 2 u at most; or times 1 / b, one rounding more */
    return r;
}

double lb_function_error(lb_function f, double x, double v, lb_function_class c) {
    const double size = fabs(v), ulp = isfinite(size) ? ldexp(1, (size < FLT_MIN ? -126 : ilogb(size)) - 23) : INFINITY;
    return (functions[f].at[c].ulp + functions[f].at[c].ulp_per_x * fabs(x)) * ulp + functions[f].at[c].absolute;
}

static double call(lb_function f, double x) {
    switch (f) {
    case LB_FN_exp: return exp(x);
    case LB_FN_log: return log(x);
    case LB_FN_tanh: return tanh(x);
    case LB_FN_sin: return sin(x);
    case LB_FN_cos: return cos(x);
    case LB_FN_erfc: return erfc(x);
    case LB_FN_sqrt: return sqrt(x);
    case LB_FN_rsqrt: return 1 / sqrt(x);
    default: return NAN;
    }
}

/* How far f moves where its argument moves by at most by. */
static double spread(lb_function f, double x, double v, double by) {
    if (by == 0) return 0;
    if (!isfinite(by)) return INFINITY;
    if (f == LB_FN_sin || f == LB_FN_cos) return fmin(by, 2);
    const double up = fabs(call(f, x + by) - v), down = fabs(call(f, x - by) - v); /* the others are monotone */
    const double far = up > down ? up : down;
    return isnan(up) || isnan(down) ? INFINITY : far + 8 * D * fabs(v); /* the differences round */
}

lb_num lb_num_call(lb_function f, lb_num a, lb_function_class c) {
    const double v = call(f, a.v);
    if (!isfinite(v) || !isfinite(a.v)) return (lb_num){v, 0, 0};
    const double l = spread(f, a.v, v, a.l);
    lb_num r = result(v, spread(f, a.v, v, a.e) + 4 * D * fabs(v), l, 0, c); /* the double library's functions: within two ULP */
    r.l += lb_function_error(f, a.v, fabs(v) + l, c) + lb_num_floor(v, l, c);
    return r;
}

lb_num lb_num_pow(double base, lb_num y, lb_function_class c) {
    const double v = pow(base, y.v);
    if (!isfinite(v)) return (lb_num){v, 0, 0};
    if (y.v == 0 && y.l == 0 && c != LB_FUNCTIONS_VULKAN) return (lb_num){1, 0, 0}; /* both standards: exactly 1 */
    const double slope = fabs(log(base)) * v, l = v * expm1(y.l * fabs(log(base)));
    lb_num r = result(v, slope * y.e * UP + 4 * D * v, l, 0, c);
    r.l += lb_function_error(LB_FN_pow, y.v * log2(base), v + l, c);
    return r;
}

/* ---- sums ------------------------------------------------------------------------------------------------------------------- */

/* Exponent of the last bit that is set, or less for subnormals; INT_MAX for zero. */
static int last_bit(double x) {
    uint64_t bits;
    if (x == 0) return INT_MAX;
    memcpy(&bits, &x, sizeof bits);
    const int exp = (int)(bits >> 52 & 0x7ff);
    return exp - 1075 + __builtin_ctzll(bits | UINT64_C(1) << 52);
}

void lb_sum_start(lb_sum *s) {
    *s = (lb_sum){.quantum = INT_MAX};
}

/* Two-sum: hi + lo + x without loss in the first two. */
static void accumulate(lb_sum *s, double x) {
    const double sum = s->hi + x, part = sum - s->hi;
    s->lo += (s->hi - (sum - part)) + (x - part);
    s->hi = sum;
}

static void special(lb_sum *s, double x) {
    s->special = s->has_special ? s->special + x : x;
    s->has_special = true;
}

void lb_sum_add(lb_sum *s, lb_num a) {
    s->count++;
    if (!isfinite(a.v)) {
        special(s, a.v);
        return;
    }
    accumulate(s, a.v);
    s->gauge += fabs(a.v);
    s->e += a.e;
    s->l += a.l;
    const int q = last_bit(a.v);
    if (q < s->quantum) s->quantum = q;
}

void lb_sum_product(lb_sum *s, lb_num a, lb_num b) {
    const double p = a.v * b.v, x = fabs(a.v), y = fabs(b.v);
    s->count++;
    if (!isfinite(p)) {
        special(s, p);
        return;
    }
    accumulate(s, p);
    s->lo += fma(a.v, b.v, -p);
    s->gauge += fabs(p);
    if (a.e + b.e > 0) s->e += x * b.e + y * a.e + a.e * b.e;
    if (a.l + b.l > 0) s->l += x * b.l + y * a.l + a.l * b.l;
    const int qa = last_bit(a.v), qb = last_bit(b.v);
    if (qa != INT_MAX && qb != INT_MAX && qa + qb < s->quantum) s->quantum = qa + qb;
}

lb_num lb_sum_value(const lb_sum *s, lb_function_class c) {
    if (s->has_special) return (lb_num){s->special, 0, 0};
    const double v = s->hi + s->lo, n = (double)s->count;
    lb_num r = {v, (s->e + D * fabs(v) + n * 0x1p-104 * s->gauge + DBL_TRUE_MIN) * UP, 0};
    /* Every partial sum is a multiple of the quantum and fits 24 bits: no order rounds. */
    if (s->l == 0 && (s->quantum == INT_MAX || (s->quantum >= -126 && s->gauge <= ldexp(1, s->quantum + 24)))) {
        if (s->e == 0) r.e = 0;
        return r;
    }
    const double reach = s->gauge + s->l;
    r.l = (s->l + n * LB_U / (1 - n * LB_U) * reach + n * lb_num_floor(v, fabs(v), c)) * UP;
    if (!(reach <= FLT_MAX) || !(n * LB_U < 0.5)) r.l = INFINITY;
    return r;
}
