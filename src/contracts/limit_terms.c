/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One element's limit with each number that it is made of, and a contract's rule in words. */
#include "base/text.h"
#include "contracts/limit.h"

#include <math.h>
#include <string.h>

static void add(lb_limit *l, const char *name, double value, bool part, const char *what) {
    if (l->term_count < sizeof l->terms / sizeof l->terms[0])
        l->terms[l->term_count++] = (lb_limit_term){.name = name, .what = what, .value = value, .part = part};
}

static void add_statistical(const lb_contract *c, const lb_limit_row *row, double r, double gauge, lb_limit *l) {
    const double scale = lb_limit_scale(row, r, gauge);
    add(l, "scale", scale, false, "spread of the whole sum: the greatest of row_rms, |reference|, gauge / sqrt(k)");
    add(l, "n", row->depth, false, "roundings in the accumulator on the longest way");
    add(l, "u", row->step_random, false, "what each may be off, relative to the partial sum");
    add(l, "false_alarm", row->per_element, false, "P(this element fails though the kernel is correct)");
    add(l, "random", row->random * scale, true, "(2/pi) ln(1/p) sqrt(n u^2 / 3) scale");
    if (!c->reduction.truncates) return;
    add(l, "bias", row->bias * scale, true, "n (u/2) sqrt(2 ln(1/p) / 12) scale: truncation under a walk");
    add(l, "drift", row->bias_share * fabs(r), true, "n (u/2) |reference|: truncation of a sum that grows to it");
}

static void add_gamma(const lb_limit_row *row, double gauge, lb_limit *l) {
    add(l, "n", row->depth, false, "roundings in the accumulator on the longest way");
    add(l, "n_f32", row->outer_depth, false, "roundings in f32 after it: C, promotion, split-K, scales");
    add(l, "u", row->step_u, false, "of each rounding in the accumulator");
    add(l, "gamma", row->per_gauge, false, "x / (1 - x), x = n u + n_f32 2^-24");
    add(l, "gauge", gauge, false, "sum |a||b| + |c|");
    add(l, "accumulation", row->per_gauge * gauge, true, "gamma * gauge");
}

static void add_relative(const lb_contract *c, const lb_limit_row *row, double r, lb_limit *l) {
    add(l, "|reference|", fabs(r), false, "");
    if (c->bound == LB_BOUND_RELATIVE || fabs(r) > row->small)
        add(l, "rtol", row->rtol * fabs(r), true, "rtol * |reference|");
    else
        add(l, "small", fmax(row->atol, row->rtol), true, "an absolute limit where |reference| is small");
    if (c->bound == LB_BOUND_RELATIVE) add(l, "atol", row->atol, true, "");
}

static void add_parts(const lb_contract *c, const lb_limit_input *in, const lb_limit_row *row, double r, lb_limit *l) {
    switch (c->bound) {
    case LB_BOUND_ULP_OR_FLOOR:
        if (!(c->margin > 0)) break;
        add(l, "row_rms", row->row_rms, false, "RMS of the reference's row");
        add(l, "u", c->unit_roundoff, false, "unit roundoff of the accumulator");
        add(l, "floor", row->floor, true, "margin * u * sqrt(k) * row_rms");
        break;
    case LB_BOUND_GAUGE:
        add(l, "eps", exp2(-in->format->man_bits), false, "of the output format");
        add(l, "gauge", in->gauge, false, "sum |a||b| + |c|");
        add(l, "accumulation", row->per_gauge * in->gauge, true, "margin * eps * gauge");
        break;
    case LB_BOUND_GAMMA: add_gamma(row, in->gauge, l); break;
    case LB_BOUND_STATISTICAL:
        add(l, "row_rms", row->row_rms, false, "RMS of the reference's row");
        add_statistical(c, row, r, in->gauge, l);
        break;
    case LB_BOUND_RELATIVE:
    case LB_BOUND_SWITCHED: add_relative(c, row, r, l); break;
    case LB_BOUND_NORM:
    case LB_BOUND_BASELINE:
    case LB_BOUND_COUNT: break;
    }
    if (row->underflow > 0) add(l, "underflow", row->underflow, true, "products and sums below the least f32");
    if (in->flushed_gauge > 0) add(l, "flushed", in->flushed_gauge, true, "sum |a||b| of terms with a subnormal operand");
}

lb_status lb_contract_limit(const lb_contract *c, const lb_limit_input *in, lb_limit *out, lb_error *err) {
    const double elements = in->elements >= 1 ? in->elements : 1, r = lb_to_double(in->format, in->reference);
    *out = (lb_limit){.decided = ""};
    if (!(in->k >= 1 && isfinite(in->k))) return lb_fail(err, LB_E_ARG, c->name, "the reduction depth k must be at least 1, not %g", in->k);
    if (lb_contract_needs_gauge(c) && isnan(in->gauge))
        return lb_fail(err, LB_E_ARG, c->name, "needs sum |a||b| of the element, so A and B");
    const lb_limit_row row = lb_limit_of_row(c, in->format, in->k, in->row_rms, elements);
    add(out, "k", in->k, false, "reduction depth");
    add_parts(c, in, &row, r, out);
    const bool of_block = c->bound == LB_BOUND_NORM || c->bound == LB_BOUND_BASELINE, between = lb_limit_between_reals(c);
    out->tolerance = of_block || !isfinite(r) ? NAN : lb_limit_of_element(c, &row, r, in->gauge, in->flushed_gauge);
    const double steps = between ? 1 : c->bound == LB_BOUND_ULP_OR_FLOOR ? c->max_ulp : 0;
    out->ulp_reach = isfinite(r) ? lb_limit_reach(in->format, in->reference, steps) : 0;
    out->bound = between ? out->tolerance + out->ulp_reach : fmax(out->tolerance, out->ulp_reach); /* fmax passes over a NaN */
    if (of_block || !isfinite(r)) out->bound = NAN;
    if (steps > 0 || c->bound == LB_BOUND_ULP_OR_FLOOR)
        add(out, between ? "rounding" : "ulp", out->ulp_reach, true,
            between ? "half a step of the output format on each side" : "the ordinal budget as a distance");
    double most = -1;
    for (size_t i = 0; i < out->term_count; i++) {
        const lb_limit_term *t = &out->terms[i];
        if (!t->part || !(t->value > most)) continue;
        most = t->value;
        out->decided = t->name;
    }
    if (of_block) out->decided = "no limit of elements: one number judges the block";
    if (!isfinite(r)) out->decided = "not a number to measure from: the special-value policy judges it";
    return LB_OK;
}

/* ---- in words ------------------------------------------------------------------------------------------------------------ */

static void add_false_alarm(lb_text *t, const lb_contract *c, double elements) {
    double each;
    const double run = lb_contract_false_alarm(c, elements, &each);
    lb_text_add(t, "; a correct kernel fails with P <= %.6g a run, %.6g an element", run, each);
    if (c->cases > 1) lb_text_add(t, ", of %.6g cases", c->cases);
}

static void add_rule(lb_text *t, const lb_contract *c, const lb_format *f, double k, double elements) {
    const lb_limit_row row = lb_limit_of_row(c, f, k, 1, elements);
    switch (c->bound) {
    case LB_BOUND_ULP_OR_FLOOR:
        lb_text_add(t, "%.6g ulp", c->max_ulp);
        if (c->margin > 0) lb_text_add(t, " or the floor at k = %.6g", k);
        break;
    case LB_BOUND_GAUGE: lb_text_add(t, "error <= %.6g eps sum|a||b|, eps = %.6g", c->margin, exp2(-f->man_bits)); break;
    case LB_BOUND_GAMMA:
        lb_text_add(t, "error <= gamma sum|a||b|, gamma = %.6g at k = %.6g, apart from the rounding to %s", row.per_gauge, k, f->name);
        break;
    case LB_BOUND_STATISTICAL:
        lb_text_add(t, "error <= %.4g sqrt(k) 2^-24 scale at k = %.6g, apart from the rounding to %s", row.floor / sqrt(k) * 0x1p24, k,
                    f->name);
        add_false_alarm(t, c, elements);
        break;
    case LB_BOUND_RELATIVE: lb_text_add(t, "error <= %.6g + %.6g |reference|", row.atol, row.rtol); break;
    case LB_BOUND_SWITCHED:
        lb_text_add(t, "error <= %.6g |reference|, or %.6g where |reference| <= %.6g", row.rtol, fmax(row.atol, row.rtol), row.small);
        break;
    case LB_BOUND_NORM: lb_text_add(t, "sum error^2 <= %.6g sum reference^2, of the whole block", c->margin); break;
    case LB_BOUND_BASELINE: lb_text_add(t, "the block's largest error <= %.6g times a plain kernel's, and an offset's", c->margin); break;
    case LB_BOUND_COUNT: break;
    }
}

lb_status lb_contract_rule(const lb_contract *c, const lb_format *f, double k, double elements, char **out, lb_error *err) {
    lb_text t = {0};
    add_rule(&t, c, f, k, elements);
    if (c->specials != LB_SPECIALS_IEEE) lb_text_add(&t, "; specials %s", lb_specials_name(c->specials));
    if (isfinite(c->rel_rms_gate)) lb_text_add(&t, "; rel_rms <= %.6g", c->rel_rms_gate);
    return lb_text_take(&t, out, err);
}
