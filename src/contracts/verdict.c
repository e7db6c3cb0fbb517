/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What all elements together say. A run that compared nothing, or nothing but zeros, proves nothing. */
#include "contracts/tally.h"

#include <math.h>
#include <stdlib.h>

#ifdef __FAST_MATH__
#error "grading needs IEEE comparisons: do not build it with -ffast-math"
#endif

/* ---- the verdict ----------------------------------------------------------------------------------------------------- */

static void say_cause(const lb_tally *t, lb_record *r) {
    const lb_counts *c = &t->counts;
    if (c->not_written && c->not_written == c->compared)
        lb_record_text(&r->cause, "the output was not written");
    else if (c->not_written)
        lb_record_text(&r->cause, "%llu elements were not written", (unsigned long long)c->not_written);
    else if (c->wrong && c->class_mismatch == c->wrong)
        lb_record_text(&r->cause, "every wrong element is NaN or Inf on one side only");
}

/* What one number says of the block, where the contract has such a gate: true, with the reason, where it fails. */
static bool fails_as_block(const lb_tally *t, double rel_rms, lb_record *r) {
    const lb_contract *k = t->in->contract;
    if (!k || !t->counts.compared) return false;
    const double square = rel_rms * rel_rms, limit = k->margin * (t->baseline_error + t->offset_error);
    if (!(rel_rms <= k->rel_rms_gate))
        lb_record_text(&r->reason, "rel_rms %.3g of the whole block exceeds %.3g, though no single element is wrong", rel_rms,
                       k->rel_rms_gate);
    else if (k->bound == LB_BOUND_NORM && !(square <= k->margin))
        lb_record_text(&r->reason, "sum error^2 / sum reference^2 of the whole block is %.3g, above %.3g", square, k->margin);
    else if (k->bound == LB_BOUND_BASELINE && !(t->max_abs <= limit))
        lb_record_text(&r->reason, "the largest error %.3g exceeds %.3g: %g times a plain kernel's %.3g and an offset's %.3g", t->max_abs,
                       limit, k->margin, t->baseline_error, t->offset_error);
    else
        return false;
    return true;
}

/* Why nothing is proven although nothing is wrong: true, with the reason, where that is so. */
static bool proves_nothing(const lb_tally *t, lb_record *r) {
    const lb_contract *k = t->in->contract;
    const bool norm = k && k->bound == LB_BOUND_NORM, baseline = k && k->bound == LB_BOUND_BASELINE;
    const double baseline_limit = baseline ? k->margin * (t->baseline_error + t->offset_error) : 0;
    if (!t->counts.compared)
        lb_record_text(&r->reason, "nothing was compared: the output has no elements");
    else if (!t->nonzero)
        lb_record_text(&r->reason,
                       "vacuous: the reference holds no finite value other than zero, so an output that computes nothing would pass");
    else if (t->unbounded.present)
        lb_record_text(&r->reason, "vacuous: at row %zu, column %zu no limit can be stated at k = %.6g; declare the reduction in a file",
                       t->unbounded.row, t->unbounded.col, t->in->k);
    else if (baseline && !(baseline_limit < INFINITY))
        lb_record_text(&r->reason, "vacuous: the plain kernel gives NaN or Inf where the reference is a number, so any error would pass");
    else if (t->unfit.present)
        lb_record_text(&r->reason,
                       "reference unfit: at row %zu, column %zu its error may be %.3g, more than an eighth of the tolerance %.3g; use "
                       "--reference exact",
                       t->unfit.row, t->unfit.col, t->unfit_error, t->unfit.bound);
    else if (norm && !(t->reference_error_square <= k->margin * t->reference_square / 64))
        lb_record_text(&r->reason,
                       "reference unfit: its own sum error^2 may be %.3g, more than a 64th of the tolerance %.3g; use "
                       "--reference exact",
                       t->reference_error_square, k->margin * t->reference_square);
    else if (baseline && !(t->reference_error_most <= baseline_limit / 8))
        lb_record_text(&r->reason,
                       "reference unfit: its error may be %.3g, more than an eighth of the tolerance %.3g; use "
                       "--reference exact",
                       t->reference_error_most, baseline_limit);
    else
        return false;
    return true;
}

static void decide(const lb_tally *t, double rel_rms, lb_record *r) {
    const lb_counts *c = &t->counts;
    r->verdict = LB_UNPROVEN;
    if (c->wrong) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "%llu of %llu elements are wrong", (unsigned long long)c->wrong, (unsigned long long)c->compared);
    } else if (fails_as_block(t, rel_rms, r)) {
        r->verdict = LB_FAIL;
    } else if (!proves_nothing(t, r)) {
        r->verdict = LB_PASS;
        lb_record_text(&r->reason, c->legal ? "%llu elements are exact, %llu legal under the contract" : "all %llu elements are exact",
                       (unsigned long long)c->exact, (unsigned long long)c->legal);
    }
}

static void describe_contract(const lb_tally *t, lb_record *r) {
    const lb_contract *k = t->in->contract;
    if (!k) return;
    char *rule = NULL;
    lb_record_text(&r->contract_name, "%s", k->name);
    lb_record_text(&r->contract_source, "%s", k->source);
    lb_record_text(&r->contract_note, "%s", k->note);
    if (lb_contract_rule(k, t->format, t->in->k, t->elements, &rule, NULL) == LB_OK) lb_record_text(&r->contract_rule, "%s", rule);
    free(rule);
    lb_record_text(&r->contract_specials, "%s", lb_judge_by_number(k) ? "numbers" : lb_specials_name(k->specials));
    r->contract_evidence = k->evidence;
    r->contract_k = t->in->k;
    r->contract_max_ulp = k->bound == LB_BOUND_ULP_OR_FLOOR ? k->max_ulp : NAN;
    r->contract_rel_rms_gate = isfinite(k->rel_rms_gate) ? k->rel_rms_gate : NAN;
}

void lb_tally_fill_record(const lb_tally *t, lb_record *r) {
    const double whole = t->reference_square > 0 ? t->reference_square : 1;
    const double rel_rms = sqrt(t->error_square / whole), gated_rms = sqrt(t->gated_square / whole);
    const uint64_t guard_damage = r->counts.guard_damage, subnormal_inputs = r->counts.subnormal_inputs;
    r->counts = t->counts;
    r->counts.total = t->counts.compared;
    r->counts.guard_damage = guard_damage;
    r->counts.subnormal_inputs = subnormal_inputs;
    r->metrics = (lb_metrics){
        .max_ulp = t->max_ulp,
        .max_abs = t->max_abs,
        .rel_rms = rel_rms,
        .rms = t->finite_count ? sqrt(t->reference_square / (double)t->finite_count) : 0,
        .row_rms_least = t->row_rms_least,
        .row_rms_most = t->row_rms_most,
        .present = t->counts.compared != 0,
    };
    r->first = t->first;
    r->worst = t->worst;
    r->out_format = t->format;
    describe_contract(t, r);
    say_cause(t, r);
    decide(t, gated_rms, r);
}
