/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a word stands to its model: the bits, a bound, or what the document leaves open. */
#include "scalar/scalar_value.h"

#include <math.h>
#include <string.h>

/* The spacing of f's numbers at x. */
static double ulp_at(const lb_format *f, double x) {
    const int least = 1 - f->bias;
    int e;
    if (x == 0) return ldexp(1, least - f->man_bits);
    frexp(x, &e);
    return ldexp(1, (e - 1 < least ? least : e - 1) - f->man_bits);
}

typedef enum reach { BOUNDED, EXACT_THERE, NOTHING_SAID } reach;

/* Which part of the document's bound holds for these inputs. Some bounds are for a range of inputs. */
static reach bound_of(const lb_scalar_op *op, const lb_scalar_rule *r, const double *x, double want, double *absolute) {
    const double a = fabs(x[0]), b = fabs(x[1]), pi = 3.14159265358979323846;
    const double ulp = ulp_at(lb_word_format(op->out[0]), want), relative = op->max_rel * fabs(want);
    *absolute = op->max_ulp * ulp;
    if (op->max_rel > 0) *absolute = relative;
    if (op->max_abs > 0) *absolute = op->max_abs;
    switch (r->what) {
    case LB_DO_LG2: /* absolute near 1, relative elsewhere */
        if (a < 0.5 || a > 2) *absolute = relative;
        break;
    case LB_DO_SIN:
    case LB_DO_COS:
        if (a > 100 * pi) return NOTHING_SAID;
        if (a > 2 * pi) *absolute = exp2(-14.7);
        break;
    case LB_DO_DIV:
        if (b > 0x1p126) return EXACT_THERE; /* a zero or NaN */
        if (b < 0x1p-126) return NOTHING_SAID;
        break;
    case LB_DO_RCP_HIGH:
    case LB_DO_RSQRT_HIGH: return NOTHING_SAID;
    default: break;
    }
    return BOUNDED;
}

static lb_scalar_grade_of grade_approx(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t model, uint64_t got) {
    const lb_format *f = lb_word_format(op->out[0]);
    double x[2] = {0}, absolute = 0;
    for (int i = 0; i < op->ins; i++) x[i] = lb_to_double(f, lb_scalar_flush(f, in[i], r->flags));
    const lb_class is = lb_code_class(f, got), want = lb_code_class(f, model);
    if (is == LB_NAN || want == LB_NAN) return is == want ? LB_SCALAR_GRADE_ALLOWED : LB_SCALAR_GRADE_WRONG;
    const double true_value = lb_to_double(f, model), v = lb_to_double(f, got);
    const reach said = bound_of(op, r, x, true_value, &absolute);
    if (said == EXACT_THERE) return LB_SCALAR_GRADE_WRONG;
    if (r->what == LB_DO_RCP_HIGH || (r->what == LB_DO_RSQRT_HIGH && r->flags & LB_FTZ))
        if (got & UINT32_MAX) return LB_SCALAR_GRADE_WRONG; /* the lower word is zero */
    /* inputs with a special value of their own: zeros, infinities, and NaN, which was above */
    bool special = false;
    for (int i = 0; i < op->ins; i++) special = special || x[i] == 0 || isinf(x[i]);
    if (special && (want == LB_INF || want == LB_ZERO || r->what == LB_DO_EX2 || r->what == LB_DO_COS || r->what == LB_DO_TANH))
        return LB_SCALAR_GRADE_WRONG;
    if (said == NOTHING_SAID) return LB_SCALAR_GRADE_UNJUDGED;
    if (is == LB_INF || want == LB_INF) { /* at the edge of the range a neighbour may have overflowed */
        const uint64_t most = lb_max_code(f), sign = UINT64_C(1) << (f->bits - 1);
        const uint64_t finite = is == LB_INF ? model : got;
        const bool near = (model & sign) == (got & sign) && most - (finite & ~sign) <= (uint64_t)ceil(op->max_ulp) + 1;
        return near ? LB_SCALAR_GRADE_ALLOWED : LB_SCALAR_GRADE_WRONG;
    }
    /* a relative bound leaves no room for the rounding of a subnormal, whose spacing is no longer relative */
    const double least_normal = ldexp(1, 1 - f->bias);
    if (fabs(true_value) < least_normal && absolute < ulp_at(f, true_value)) absolute = ulp_at(f, true_value);
    /* the model's own rounding is half an ULP, and a flushed result may stand on either side of the least normal number */
    const double slack = 0.5 * ulp_at(f, true_value);
    if (fabs(v - true_value) <= absolute + slack) return LB_SCALAR_GRADE_ALLOWED;
    if (r->flags & LB_FTZ && fabs(v - true_value) <= least_normal + absolute + slack && (v == 0 || true_value == 0))
        return LB_SCALAR_GRADE_ALLOWED;
    return LB_SCALAR_GRADE_WRONG;
}

/* Whether the document leaves the result open: division by zero, the quotient that does not fit. */
static bool is_open(const lb_scalar_op *op, const uint64_t *in) {
    const int bits = lb_word_bits(op->in[0]);
    const uint64_t mask = lb_word_mask(bits), least = UINT64_C(1) << (bits - 1);
    return (in[1] & mask) == 0 || (lb_word_is_signed(op->in[0]) && (in[0] & mask) == least && (in[1] & mask) == mask);
}

/* A NaN that became an integer: two editions of the document say 0 and 1 << (bits - 1). */
static bool is_nan_answer(const lb_scalar_op *op, const uint64_t *in, uint64_t got) {
    const lb_format *f = lb_word_format(op->in[0]);
    return f && lb_scalar_is_nan(f, in[0]) && (got == 0 || got == UINT64_C(1) << (lb_word_bits(op->out[0]) - 1));
}

static lb_scalar_grade_of grade_part(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, int o, uint64_t model,
                                     uint64_t got) {
    const lb_format *f = lb_word_format(op->out[o]);
    if (op->cls == LB_SCALAR_APPROXIMATE) return got == model ? LB_SCALAR_GRADE_SAME : grade_approx(op, r, in, model, got);
    if (got == model) return LB_SCALAR_GRADE_SAME;
    if (r->flags & LB_ANY_NAN && f && lb_scalar_is_nan(f, model) && lb_scalar_is_nan(f, got)) return LB_SCALAR_GRADE_ALLOWED;
    if (r->lane == lb_scalar_float_to_int && is_nan_answer(op, in, got)) return LB_SCALAR_GRADE_ALLOWED;
    return LB_SCALAR_GRADE_WRONG;
}

lb_scalar_grade_of lb_scalar_grade(const lb_scalar_op *op, const uint64_t *in, int o, uint64_t model, uint64_t got) {
    const lb_scalar_rule *r = lb_scalar_rule_of(op);
    const int parts = lb_word_parts(op->out[o]), bits = lb_word_bits(op->out[o]) / (parts ? parts : 1);
    lb_scalar_grade_of worst = LB_SCALAR_GRADE_SAME;
    if (got & ~lb_word_mask(lb_word_bits(op->out[o]))) return LB_SCALAR_GRADE_WRONG;
    if (r->flags & LB_CHECK_ZERO && is_open(op, in)) return got == model ? LB_SCALAR_GRADE_SAME : LB_SCALAR_GRADE_UNJUDGED;
    for (int p = 0; p < parts; p++) {
        uint64_t x[LB_SCALAR_MAX_IN];
        const int low = p * bits;
        for (int i = 0; i < op->ins; i++) x[i] = lb_word_parts(op->in[i]) == 2 ? in[i] >> (p * 16) & 0xffff : in[i];
        const lb_scalar_grade_of g = grade_part(op, r, x, o, model >> low & lb_word_mask(bits), got >> low & lb_word_mask(bits));
        if (g == LB_SCALAR_GRADE_WRONG) return g;
        if (g > worst) worst = g;
    }
    return worst;
}
