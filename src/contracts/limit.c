/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tolerances. Every formula is here once: grading and lastbit explain-contract both read it. */
#include "contracts/limit.h"
#include "contracts/reduction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: do not build them with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

static const struct tolerance {
    const char *rule;
    lb_format_id format;
    double atol, rtol;
} tolerances[] = {
#define LB_TOLERANCE(rule, format, atol, rtol) {rule, LB_##format, atol, rtol},
#include "contracts/tolerances.def"
#undef LB_TOLERANCE
};

double lb_contract_floor(const lb_contract *c, double k, double row_rms) {
    return c->bound == LB_BOUND_ULP_OR_FLOOR ? c->margin * c->unit_roundoff * sqrt(k) * row_rms : 0;
}

double lb_contract_false_alarm(const lb_contract *c, double elements, double *per_element) {
    const double run = c->false_alarm > 0 ? c->false_alarm : 1e-6, cases = c->cases >= 1 ? c->cases : 1;
    const bool stated = c->bound == LB_BOUND_STATISTICAL;
    if (per_element) *per_element = stated ? run / (cases * (elements >= 1 ? elements : 1)) : NAN;
    return stated ? run : NAN;
}

/* The error of a chain of n roundings is the integral of one random walk (the partial sums) by another (their errors), whose
 * characteristic function is cosh(x)^(-1/2): beyond t standard units both tails together hold at most exp(-pi t / 2), t >= 1/2.
 * A normal tail, for the walk alone, holds at most exp(-t^2 / 2). docs/contract-file.md derives both. */
static void fill_statistical(const lb_contract *c, double k, double elements, lb_limit_row *row) {
    const double pi = 3.14159265358979323846;
    const lb_depth d = lb_reduction_depth(c, k);
    const bool bias = c->reduction.truncates;
    lb_contract_false_alarm(c, elements, &row->per_element);
    const double p = bias ? row->per_element / 2 : row->per_element; /* each of the two parts may use half */
    const double variance = d.inner * d.step_random * d.step_random + d.outer * LB_F32_UNIT_ROUNDOFF * LB_F32_UNIT_ROUNDOFF;
    row->quantile = fmax(0.5, -2 / pi * log(p));
    row->random = row->quantile * sqrt(variance / 3); /* an error within u has at most the variance u^2 / 3 */
    if (!bias) return;
    row->bias_quantile = sqrt(-2 * log(p));
    row->bias_share = d.inner * c->unit_roundoff / 2;            /* mean of what truncation drops: at most half its unit */
    row->bias = row->bias_share * row->bias_quantile / sqrt(12); /* the area under a walk that ends at r, over n and its spread */
}

lb_limit_row lb_limit_of_row(const lb_contract *c, const lb_format *f, double k, double row_rms, double elements) {
    lb_limit_row row = {.row_rms = row_rms, .root_k = sqrt(k), .atol = c->atol, .rtol = c->rtol, .small = c->small};
    row.floor = lb_contract_floor(c, k, row_rms);
    for (size_t i = 0; c->dtypes && i < sizeof tolerances / sizeof tolerances[0]; i++) {
        if (strcmp(tolerances[i].rule, c->dtypes) != 0 || tolerances[i].format != f->id) continue;
        row.atol = tolerances[i].atol;
        row.rtol = tolerances[i].rtol;
    }
    const lb_depth d = lb_reduction_depth(c, k);
    row.depth = d.inner;
    row.outer_depth = d.outer;
    row.step_u = d.step_u;
    row.step_random = d.step_random;
    if (c->bound == LB_BOUND_GAUGE) row.per_gauge = c->margin * exp2(-f->man_bits);
    if (c->bound == LB_BOUND_GAMMA) row.per_gauge = lb_reduction_gamma(c, k) * (1 + 0x1p-30); /* the gauge is an f64 sum */
    if (c->bound == LB_BOUND_GAMMA || c->bound == LB_BOUND_STATISTICAL) row.underflow = lb_reduction_underflow(c, k);
    if (c->bound == LB_BOUND_STATISTICAL) {
        fill_statistical(c, k, elements, &row);
        row.floor = (row.random + row.bias) * row_rms;
    }
    return row;
}

/* The spread of an element's whole sum: its row's, or what the element itself shows to be more: a loud column, a row of one element. */
double lb_limit_scale(const lb_limit_row *row, double r, double gauge) {
    return fmax(fmax(row->row_rms, fabs(r)), isfinite(gauge) ? gauge / row->root_k : 0); /* fmax passes over a NaN */
}

double lb_limit_of_element(const lb_contract *c, const lb_limit_row *row, double r, double gauge, double flushed_gauge) {
    switch (c->bound) {
    case LB_BOUND_ULP_OR_FLOOR: return row->floor;
    case LB_BOUND_GAUGE: return row->per_gauge * gauge + flushed_gauge;
    case LB_BOUND_GAMMA: return row->per_gauge * gauge + row->underflow + flushed_gauge;
    case LB_BOUND_STATISTICAL:
        return (row->random + row->bias) * lb_limit_scale(row, r, gauge) + row->bias_share * fabs(r) + row->underflow + flushed_gauge;
    case LB_BOUND_RELATIVE: return row->atol + row->rtol * fabs(r);
    case LB_BOUND_SWITCHED: return fabs(r) > row->small ? row->rtol * fabs(r) : fmax(row->atol, row->rtol);
    case LB_BOUND_NORM:
    case LB_BOUND_BASELINE:
    case LB_BOUND_COUNT: break;
    }
    return INFINITY;
}

bool lb_limit_between_reals(const lb_contract *c) {
    return c->bound == LB_BOUND_GAMMA || c->bound == LB_BOUND_STATISTICAL;
}

/* ---- steps of a format ------------------------------------------------------------------------------------------------- */

/* The code without its sign, in steps of the format. Not of integers. */
static uint64_t magnitude(const lb_format *f, uint64_t code) {
    const uint64_t all = f->bits < 64 ? (UINT64_C(1) << f->bits) - 1 : UINT64_MAX;
    return (code & (f->sign_bits ? all >> 1 : all)) >> f->pad_bits;
}

static double value_of(const lb_format *f, uint64_t magnitude_steps) {
    return lb_to_double(f, magnitude_steps << f->pad_bits);
}

double lb_limit_reach(const lb_format *f, uint64_t code, double steps) {
    if (f->special == LB_SPECIAL_INT) return steps * exp2(-f->man_bits);
    const uint64_t top = lb_max_code(f) >> f->pad_bits, at = magnitude(f, code);
    const uint64_t budget = steps < 0x1p62 ? (uint64_t)steps : UINT64_C(1) << 62;
    const uint64_t down = at < budget ? 0 : at - budget, up = at > top || top - at < budget ? down : at + budget;
    return fabs(value_of(f, up) - value_of(f, at)); /* upward, where steps are no smaller; downward at the top */
}

/* From a code half way to its neighbour toward zero, or away from it; at the top as far as below it. */
static double half_gap(const lb_format *f, uint64_t code, bool away) {
    if (f->special == LB_SPECIAL_INT) return exp2(-f->man_bits) / 2;
    const uint64_t top = lb_max_code(f) >> f->pad_bits, at = magnitude(f, code);
    if (at == 0 || (away && at < top)) return (value_of(f, at + 1) - value_of(f, at)) / 2;
    return (value_of(f, at) - value_of(f, at - 1)) / 2;
}

double lb_limit_distance(const lb_format *f, uint64_t actual, double a, uint64_t reference, double r) {
    if (a == r) return 0;
    /* the side of each that faces the other: away from zero where that is where the other lies */
    const double own = half_gap(f, actual, a > r ? a <= 0 : a >= 0), other = half_gap(f, reference, r > a ? r <= 0 : r >= 0);
    return fmax(0, fabs(a - r) - own - other);
}
