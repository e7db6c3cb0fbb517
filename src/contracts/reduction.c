/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How many roundings a product passes on its longest way through a kernel's reduction, and what they add up to.
 * source: higham-2002 (gamma_n = n u / (1 - n u)) */
#include "contracts/reduction.h"

#include <math.h>

#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: do not build them with -ffast-math"
#endif

static double at_least_1(double x) {
    return x >= 1 ? x : 1;
}

/* Additions on the longest way through `items` partial sums. Counted generously: the first addition, to zero or to C, is one too. */
static double depth_of(const lb_reduction *r, double items) {
    double depth = 0;
    for (size_t i = 0; i < r->level_count && i < 8; i++) {
        const double width = r->levels[i].width > 0 && r->levels[i].width < items ? r->levels[i].width : items;
        depth += r->levels[i].order == LB_ORDER_PAIRWISE ? ceil(log2(at_least_1(width))) : width;
        items = ceil(items / at_least_1(width));
    }
    return items > 1 || !r->level_count ? depth + items : depth; /* what no level takes is one chain */
}

lb_depth lb_reduction_depth(const lb_contract *c, double k) {
    const lb_reduction *r = &c->reduction;
    const double split = at_least_1(r->split_k), part = ceil(k / split), step = at_least_1(r->step);
    double chain = part;
    if (r->promote > 0 && r->promote < chain) chain = r->promote;
    if (r->fold_group > 0 && r->fold_group < chain) chain = r->fold_group;
    lb_depth d = {.inner = depth_of(r, ceil(chain / step)), .outer = 1}; /* 1: C, or the rounding to f32 */
    if (chain < part) d.outer += ceil(part / chain);
    if (split > 1) d.outer += split;
    if (r->fold_group > 0) d.outer += 2; /* the product of two scales, and it times the sum */
    if (r->fold_element) d.outer += 2;
    if (r->rounds_products) d.outer += 1;
    /* a step: its addends are cut at frac_bits below the largest of them, then the sum is rounded */
    const double each = step > 1 && r->frac_bits > 0 ? (step + 1) * exp2(-r->frac_bits) + c->unit_roundoff : step * c->unit_roundoff;
    d.step_u = each;
    d.step_random = step > 1 && r->frac_bits > 0 ? sqrt((step + 1) * exp2(-2 * r->frac_bits) + c->unit_roundoff * c->unit_roundoff)
                                                 : sqrt(step) * c->unit_roundoff;
    return d;
}

/* (1 + x)(1 + y) - 1 <= gamma of the sum, so one fraction serves for both precisions. */
double lb_reduction_gamma(const lb_contract *c, double k) {
    const lb_depth d = lb_reduction_depth(c, k);
    const double x = d.inner * d.step_u + d.outer * LB_F32_UNIT_ROUNDOFF;
    return x < 1 ? x / (1 - x) : INFINITY;
}

/* A rounding below the least normal number is off by u times that; a flush by all of it, of a product and of a sum. */
double lb_reduction_underflow(const lb_contract *c, double k) {
    const double least = c->reduction.least_normal > 0 ? c->reduction.least_normal : 0x1p-126;
    return (k + 1) * (c->reduction.flushes_sums ? 2 * least : c->unit_roundoff * least);
}
