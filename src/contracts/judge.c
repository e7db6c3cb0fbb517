/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "contracts/judge.h"

#include <float.h>
#include <math.h>

#ifdef __FAST_MATH__
#error "grading needs IEEE comparisons: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

typedef enum action { LEGAL, WRONG, BOUND } action;

/* What each policy says of each event that has a choice. */
static const struct policy {
    action nan_same, nan_other, zero_sign, flushed, saturated;
} policies[] = {
#define X(id, name, nan_same, nan_other, zero_sign, flushed, saturated, text) {nan_same, nan_other, zero_sign, flushed, saturated},
    LB_SPECIALS_LIST(X)
#undef X
};

static action action_of(const lb_contract *c, lb_event e) {
    const struct policy *p = &policies[c && (unsigned)c->specials < LB_SPECIALS_COUNT ? c->specials : LB_SPECIALS_IEEE];
    switch (e) {
    case LB_EVENT_NUMBERS: return BOUND;
    case LB_EVENT_NAN_SAME: return p->nan_same;
    case LB_EVENT_NAN_OTHER: return p->nan_other;
    case LB_EVENT_ZERO_SIGN: return p->zero_sign;
    case LB_EVENT_FLUSHED: return p->flushed;
    case LB_EVENT_SATURATED: return p->saturated;
    case LB_EVENT_OVERFLOWED:
    case LB_EVENT_CLASS: break;
    }
    return WRONG;
}

bool lb_judge_by_number(const lb_contract *c) {
    return c && !c->classes_first;
}

bool lb_judge_takes(const lb_contract *c, double value) {
    return !isnan(value) || action_of(c, LB_EVENT_NAN_SAME) == LEGAL;
}

/* ---- what the pair is ------------------------------------------------------------------------------------------------- */

lb_range lb_range_of(const lb_format *f) {
    uint64_t inf;
    const bool subnormals = f->special != LB_SPECIAL_INT && f->special != LB_SPECIAL_E8M0;
    return (lb_range){lb_to_double(f, lb_max_code(f)), subnormals ? exp2(1 - f->bias) : 0, lb_inf_code(f, &inf)};
}

/* A format without Inf writes an overflow as NaN, whose sign is lost; the gauge of a NaN that is none is infinite. */
static lb_event event_of_nan(const lb_judge_at *at, lb_number a, lb_number r) {
    const lb_range *range = at->range;
    if (isnan(a.value) && isnan(r.value)) return a.code == r.code ? LB_EVENT_NAN_SAME : LB_EVENT_NAN_OTHER;
    if (!range->has_inf && isnan(r.value) && fabs(a.value) == range->top && at->gauge != INFINITY) return LB_EVENT_SATURATED;
    if (!range->has_inf && isnan(a.value) && fabs(r.value) == range->top) return LB_EVENT_OVERFLOWED;
    return LB_EVENT_CLASS;
}

static lb_event event_of(const lb_judge_at *at, lb_number a, lb_number r) {
    if (isnan(a.value) || isnan(r.value)) return event_of_nan(at, a, r);
    if (isinf(r.value) && a.value == copysign(at->range->top, r.value)) return LB_EVENT_SATURATED;
    if (isinf(a.value) && isfinite(r.value)) return LB_EVENT_OVERFLOWED;
    if (isinf(a.value) || isinf(r.value)) return a.value == r.value ? LB_EVENT_NUMBERS : LB_EVENT_CLASS;
    if (a.value != 0) return LB_EVENT_NUMBERS;
    if (r.value == 0) return a.code == r.code ? LB_EVENT_NUMBERS : LB_EVENT_ZERO_SIGN;
    return fabs(r.value) < at->range->least_normal ? LB_EVENT_FLUSHED : LB_EVENT_NUMBERS;
}

/* ---- two numbers ------------------------------------------------------------------------------------------------------ */

/* The code as a number line that knows no NaN: the original's ordinal. */
static double raw_ordinal(const lb_format *f, uint64_t code) {
    const uint64_t sign = UINT64_C(1) << (f->bits - 1), magnitude = code & (sign - 1);
    return code & sign ? -(double)magnitude : (double)magnitude;
}

/* f64's sign as the original takes it: +0 is +1, -0 is -1, NaN equals nothing. */
static bool signs_differ(double a, double b) {
    return isnan(a) || isnan(b) || signbit(a) != signbit(b);
}

static double ulp_between(const lb_judge_at *at, uint64_t a, uint64_t b) {
    if (a == b) return 0;
    if (lb_judge_by_number(at->contract)) return fabs(raw_ordinal(at->format, a) - raw_ordinal(at->format, b));
    return (double)lb_ulp_distance(at->format, a, b); /* of numbers or Inf: never NaN, which has no place */
}

/* x within the allowance y, as a ratio: 0/0 is within. */
static double ratio_of(double x, double y) {
    return x == 0 ? 0 : y > 0 ? x / y : INFINITY;
}

static void judge_by_ulp(const lb_judge_at *at, lb_judgement *v) {
    const lb_contract *c = at->contract;
    const double max_ulp = c ? c->max_ulp : 0, floor = c ? at->row->floor : 0;
    v->over_ulp = !(v->ulp <= max_ulp);
    v->ratio = !c ? v->ulp : fmin(ratio_of(v->ulp, max_ulp), isnan(v->abs_error) ? INFINITY : ratio_of(v->abs_error, floor));
    v->legal = v->ulp <= max_ulp || v->abs_error <= floor;
}

static void judge_by_error(const lb_judge_at *at, lb_number a, lb_number r, lb_judgement *v) {
    const lb_contract *c = at->contract;
    const bool of_block = c->bound == LB_BOUND_NORM || c->bound == LB_BOUND_BASELINE;
    const double limit = lb_limit_of_element(c, at->row, r.value, at->gauge, at->flushed_gauge);
    const double error = lb_limit_between_reals(c) ? lb_limit_distance(at->format, a.code, a.value, r.code, r.value) : v->abs_error;
    v->legal = error <= limit;
    v->unbounded = !of_block && !(limit < INFINITY);
    v->ratio = of_block ? error : isnan(error) ? INFINITY : ratio_of(error, limit);
}

static lb_judgement judge_values(const lb_judge_at *at, lb_number a, lb_number r) {
    const lb_contract *c = at->contract;
    lb_judgement v = {.ulp = ulp_between(at, a.code, r.code), .abs_error = fabs(a.value - r.value)};
    if (!c || c->bound == LB_BOUND_ULP_OR_FLOOR)
        judge_by_ulp(at, &v);
    else
        judge_by_error(at, a, r, &v);
    v.flip = c && signs_differ(a.value, r.value) && fabs(r.value) < c->sign_flip_band && (!c->classes_first || a.value != r.value);
    if (v.flip && !c->flips_graded) {
        v.legal = true;
        v.over_ulp = false;
        v.ratio = 0;
    }
    return v;
}

/* ---- the pair --------------------------------------------------------------------------------------------------------- */

lb_judgement lb_judge_element(const lb_judge_at *at, lb_number a, lb_number r) {
    const bool finite = isfinite(a.value) && isfinite(r.value);
    const lb_event event = event_of(at, a, r);
    lb_judgement v;
    if (lb_judge_by_number(at->contract)) {
        v = judge_values(at, a, r);
        v.event = event;
        return v;
    }
    const action act = action_of(at->contract, event);
    if (finite)
        v = judge_values(at, a, r);
    else if (a.value == r.value || act == LEGAL) /* the same Inf, or what the policy takes */
        v = (lb_judgement){.legal = true};
    else
        v = (lb_judgement){.class_mismatch = true, .over_ulp = true, .ulp = INFINITY, .abs_error = INFINITY, .ratio = INFINITY};
    if (isnan(a.value) && isnan(r.value)) v.class_mismatch = false; /* one class, though a policy may refuse it */
    v.event = event;
    if (finite && act != BOUND) {
        v.legal = act == LEGAL;
        v.ratio = v.legal ? 0 : INFINITY;
    }
    return v;
}

double lb_judge_bound(const lb_judge_at *at, lb_number r) {
    const lb_contract *c = at->contract;
    if (!c || !isfinite(r.value)) return 0;
    if (c->bound == LB_BOUND_NORM || c->bound == LB_BOUND_BASELINE) return NAN;
    const double limit = lb_limit_of_element(c, at->row, r.value, at->gauge, at->flushed_gauge);
    if (lb_limit_between_reals(c)) return limit + lb_limit_reach(at->format, r.code, 1);
    return fmax(limit, c->bound == LB_BOUND_ULP_OR_FLOOR ? lb_limit_reach(at->format, r.code, c->max_ulp) : 0);
}
