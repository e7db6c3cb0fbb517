/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Judging every element of an output. Classes come first, every comparison is written so that NaN fails it, and a run that
 * compared nothing, or nothing but zeros, proves nothing. */
#include "base/try.h"
#include "lastbit/contracts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "grading needs IEEE comparisons: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

/* The run over all elements. */
typedef struct tally {
    const lb_grade_input *in;
    const lb_format *format;
    double *values; /* [2^bits] of every code, where that is quicker than decoding each element; else NULL */
    lb_counts counts;
    lb_element first, worst;
    double worst_ratio; /* of error to allowance; INFINITY where classes differ */
    bool worst_is_wrong;
    double max_ulp, max_abs, error_square, reference_square;
    double gated_square; /* of the errors that the block's gate looks at: not those of a unit's own bits, which are exact */
    double row_rms_least, row_rms_most;
    uint64_t finite_count, nonzero; /* finite reference elements; those that are not zero */
    lb_element unfit;               /* the first element whose reference is not fit to judge it */
    double unfit_error;
} tally;

/* ---- one element ---------------------------------------------------------------------------------------------------- */

/* A code and its value, which tells the class too: decoded once. */
typedef struct number {
    uint64_t code;
    double value;
} number;

/* What a row lends to each of its elements. */
typedef struct scale {
    double row_rms, floor; /* floor: 0 without a contract */
} scale;

typedef struct verdict_of_one {
    bool legal, class_mismatch, flip, over_ulp;
    double ulp, abs_error, ratio;
} verdict_of_one;

/* Every value of a small format, if there are elements enough to pay for it. Without memory for it all goes on, more slowly. */
static double *table_of_values(const lb_format *f, size_t rows, size_t cols) {
    if (f->bits > 16 || (double)rows * (double)cols < 0x1p16) return NULL;
    double *values = malloc(sizeof *values << f->bits);
    for (uint64_t code = 0; values && code >> f->bits == 0; code++) values[code] = lb_to_double(f, code);
    return values;
}

static number number_at(const tally *t, const lb_mat *m, size_t row, size_t col) {
    const uint64_t code = lb_mat_code(m, row, col);
    return (number){code, t->values ? t->values[code & ((UINT64_C(1) << t->format->bits) - 1)] : lb_to_double(t->format, code)};
}

/* The original takes NaN and Inf as numbers beyond the largest finite value. */
static bool by_number(const lb_contract *c) {
    return c && !c->classes_first;
}

/* The code as a number line that knows no NaN: the original's ordinal. */
static double raw_ordinal(const lb_format *f, uint64_t code) {
    const uint64_t sign = UINT64_C(1) << (f->bits - 1), magnitude = code & (sign - 1);
    return code & sign ? -(double)magnitude : (double)magnitude;
}

/* f64's sign as the original takes it: +0 is +1, -0 is -1, NaN equals nothing. */
static bool signs_differ(double a, double b) {
    return isnan(a) || isnan(b) || signbit(a) != signbit(b);
}

static double ulp_between(const tally *t, uint64_t a, uint64_t b) {
    if (a == b) return 0;
    if (by_number(t->in->contract)) return fabs(raw_ordinal(t->format, a) - raw_ordinal(t->format, b));
    return (double)lb_ulp_distance(t->format, a, b); /* of numbers or Inf: never NaN, which has no place */
}

/* x within the allowance y, as a ratio: 0/0 is within. */
static double ratio_of(double x, double y) {
    return x == 0 ? 0 : y > 0 ? x / y : INFINITY;
}

static verdict_of_one judge_values(const tally *t, number a, number r, const scale *s) {
    const lb_contract *c = t->in->contract;
    verdict_of_one v = {.ulp = ulp_between(t, a.code, r.code), .abs_error = fabs(a.value - r.value)};
    const double max_ulp = c ? c->max_ulp : 0;
    v.over_ulp = !(v.ulp <= max_ulp);
    v.ratio = !c ? v.ulp : fmin(ratio_of(v.ulp, max_ulp), isnan(v.abs_error) ? INFINITY : ratio_of(v.abs_error, s->floor));
    v.legal = v.ulp <= max_ulp || v.abs_error <= s->floor;
    v.flip = c && signs_differ(a.value, r.value) && fabs(r.value) < c->sign_flip_band && (!c->classes_first || a.value != r.value);
    if (v.flip && !c->flips_graded) {
        v.legal = true;
        v.over_ulp = false;
        v.ratio = 0;
    }
    return v;
}

static verdict_of_one judge_one(const tally *t, number a, number r, const scale *s) {
    if (by_number(t->in->contract) || (isfinite(a.value) && isfinite(r.value))) return judge_values(t, a, r, s);
    const bool same = a.value == r.value || (isnan(a.value) && isnan(r.value)); /* any NaN for NaN; Inf for the same Inf */
    if (same) return (verdict_of_one){.legal = true};
    return (verdict_of_one){.class_mismatch = true, .over_ulp = true, .ulp = INFINITY, .abs_error = INFINITY, .ratio = INFINITY};
}

/* The absolute tolerance at a reference: its ULP budget as a distance, or the floor, whichever is wider. */
static double bound_at(const tally *t, number r, const scale *s) {
    const lb_contract *c = t->in->contract;
    if (!c || !isfinite(r.value)) return 0;
    const lb_format *f = t->format;
    const uint64_t top = lb_max_code(f) >> f->pad_bits, at = (uint64_t)fabs(raw_ordinal(f, r.code)) >> f->pad_bits;
    const uint64_t budget = (uint64_t)c->max_ulp, down = at < budget ? 0 : at - budget, up = top - at < budget ? down : at + budget;
    const double reach =
        fabs(lb_to_double(f, up << f->pad_bits) - fabs(r.value)); /* upward, where steps are no smaller; downward at the top */
    return s->floor > reach ? s->floor : reach;
}

static lb_element element_at(const tally *t, size_t row, size_t col, const verdict_of_one *v, const scale *s) {
    const lb_grade_input *in = t->in;
    const number a = number_at(t, &in->actual, row, col), r = number_at(t, &in->reference, row, col);
    return (lb_element){
        .present = true,
        .row = in->row_index ? in->row_index[row] : row,
        .col = in->col_index ? in->col_index[col] : col,
        .actual = a.code,
        .reference = r.code,
        .actual_value = a.value,
        .reference_value = r.value,
        .ulp = v->ulp,
        .abs_error = v->abs_error,
        .bound = bound_at(t, r, s),
        .row_rms = in->contract ? s->row_rms : NAN,
        .floor = in->contract ? s->floor : NAN,
        .has_exact = in->exact != NULL,
        .exact_code = in->exact ? lb_mat_code(in->exact, row, col) : 0,
    };
}

/* ---- all elements ---------------------------------------------------------------------------------------------------- */

static void count_classes(tally *t, double actual, double reference) {
    t->counts.nan_actual += isnan(actual) != 0;
    t->counts.nan_reference += isnan(reference) != 0;
    t->counts.inf_actual += isinf(actual) != 0;
    t->counts.inf_reference += isinf(reference) != 0;
    t->nonzero += isfinite(reference) && reference != 0;
}

static void measure(tally *t, double a, double r, bool units_bits, const verdict_of_one *v) {
    const lb_contract *c = t->in->contract;
    if (!(by_number(c) || (isfinite(a) && isfinite(r)))) return;
    t->error_square += (a - r) * (a - r);
    if (!units_bits) t->gated_square += (a - r) * (a - r);
    t->reference_square += r * r;
    t->finite_count++;
    if (v->abs_error > t->max_abs) t->max_abs = v->abs_error; /* NaN is counted by class, not here */
    if (!(v->flip && !c->flips_graded) && v->ulp > t->max_ulp) t->max_ulp = v->ulp;
}

static void gate_reference(tally *t, size_t row, size_t col, number r, const verdict_of_one *v, const scale *s) {
    const lb_grade_input *in = t->in;
    if (!in->reference_error || !in->contract || t->unfit.present) return;
    const double error = in->reference_error[row * in->actual.cols + col];
    if (error <= bound_at(t, r, s) / 8) return;
    t->unfit = element_at(t, row, col, v, s);
    t->unfit_error = error;
}

/* Keep the first wrong element, the worst, and as many wrong ones as were asked for. */
static lb_status keep(tally *t, size_t row, size_t col, bool wrong, const verdict_of_one *v, const scale *s, lb_record *scratch,
                      lb_error *err) {
    const size_t most = t->in->max_outliers ? t->in->max_outliers : 16;
    const bool worst = !t->worst.present || (wrong && !t->worst_is_wrong) || (wrong == t->worst_is_wrong && v->ratio > t->worst_ratio);
    if (!worst && !(wrong && scratch->outlier_count < most)) return LB_OK;
    const lb_element e = element_at(t, row, col, v, s);
    if (wrong && !t->first.present) t->first = e;
    if (worst) {
        t->worst = e;
        t->worst_ratio = v->ratio;
        t->worst_is_wrong = wrong;
    }
    return wrong && scratch->outlier_count < most ? lb_record_add_outlier(scratch, &e, err) : LB_OK;
}

static bool is_exact(const lb_grade_input *in, const lb_format *f, uint64_t actual, uint64_t want) {
    return actual == want || (in->nan_by_class && lb_code_class(f, actual) == LB_NAN && lb_code_class(f, want) == LB_NAN);
}

static lb_status judge_element(tally *t, size_t row, size_t col, const scale *s, lb_record *scratch, lb_error *err) {
    const lb_grade_input *in = t->in;
    const number actual = number_at(t, &in->actual, row, col), reference = number_at(t, &in->reference, row, col);
    const uint64_t want = in->exact ? lb_mat_code(in->exact, row, col) : reference.code;
    const verdict_of_one v = judge_one(t, actual, reference, s);
    const bool holds_sentinel = in->has_sentinel && actual.code == in->sentinel;
    const bool unwritten = holds_sentinel && want != in->sentinel && reference.code != in->sentinel;
    const bool exact = !unwritten && is_exact(in, t->format, actual.code, want);
    const bool wrong = !exact && (unwritten || !in->contract || !v.legal);
    count_classes(t, actual.value, reference.value);
    measure(t, actual.value, reference.value, in->exact && exact, &v);
    t->counts.compared++;
    t->counts.exact += exact;
    t->counts.legal += !exact && !wrong;
    t->counts.wrong += wrong;
    t->counts.class_mismatch += v.class_mismatch;
    t->counts.sign_flips += v.flip;
    t->counts.over_ulp += v.over_ulp;
    t->counts.not_written += unwritten;
    gate_reference(t, row, col, reference, &v, s);
    if (exact && !(v.ratio > 0)) return LB_OK;
    return keep(t, row, col, wrong, &v, s, scratch, err);
}

/* RMS of a reference row: over its numbers, or (the original) over everything. */
static double row_rms_of(const tally *t, size_t row) {
    const lb_grade_input *in = t->in;
    if (in->row_rms) return in->row_rms[row];
    const bool all = by_number(in->contract);
    double sum = 0;
    size_t n = 0;
    for (size_t col = 0; col < in->reference.cols; col++) {
        const double v = number_at(t, &in->reference, row, col).value;
        if (!all && !isfinite(v)) continue;
        sum += v * v;
        n++;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

static lb_status judge_row(tally *t, size_t row, lb_record *scratch, lb_error *err) {
    const lb_grade_input *in = t->in;
    const double row_rms = row_rms_of(t, row);
    const scale s = {row_rms, in->contract ? lb_contract_floor(in->contract, in->k, row_rms) : 0};
    if (row == 0 || row_rms < t->row_rms_least) t->row_rms_least = row_rms;
    if (row == 0 || row_rms > t->row_rms_most) t->row_rms_most = row_rms;
    for (size_t col = 0; col < in->actual.cols; col++) LB_TRY(judge_element(t, row, col, &s, scratch, err));
    return LB_OK;
}

/* ---- the verdict ----------------------------------------------------------------------------------------------------- */

static void say_cause(const tally *t, lb_record *r) {
    const lb_counts *c = &t->counts;
    if (c->not_written && c->not_written == c->compared)
        lb_record_text(&r->cause, "the output was not written");
    else if (c->not_written)
        lb_record_text(&r->cause, "%llu elements were not written", (unsigned long long)c->not_written);
    else if (c->wrong && c->class_mismatch == c->wrong)
        lb_record_text(&r->cause, "every wrong element is NaN or Inf on one side only");
}

static void decide(const tally *t, double rel_rms, lb_record *r) {
    const lb_counts *c = &t->counts;
    const lb_contract *k = t->in->contract;
    const bool over_gate = k && c->compared && !(rel_rms <= k->rel_rms_gate);
    r->verdict = LB_UNPROVEN;
    if (c->wrong) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "%llu of %llu elements are wrong", (unsigned long long)c->wrong, (unsigned long long)c->compared);
    } else if (over_gate) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "rel_rms %.3g of the whole block exceeds %.3g, though no single element is wrong", rel_rms,
                       k->rel_rms_gate);
    } else if (!c->compared) {
        lb_record_text(&r->reason, "nothing was compared: the output has no elements");
    } else if (!t->nonzero) {
        lb_record_text(&r->reason,
                       "vacuous: the reference holds no finite value other than zero, so an output that computes nothing would pass");
    } else if (t->unfit.present) {
        lb_record_text(&r->reason,
                       "reference unfit: at row %zu, column %zu its error may be %.3g, more than an eighth of the tolerance %.3g; use "
                       "--reference exact",
                       t->unfit.row, t->unfit.col, t->unfit_error, t->unfit.bound);
    } else {
        r->verdict = LB_PASS;
        lb_record_text(&r->reason, c->legal ? "%llu elements are exact, %llu legal under the contract" : "all %llu elements are exact",
                       (unsigned long long)c->exact, (unsigned long long)c->legal);
    }
}

static void fill_record(const tally *t, lb_record *r) {
    const lb_contract *k = t->in->contract;
    const double whole = t->reference_square > 0 ? t->reference_square : 1;
    const double rel_rms = sqrt(t->error_square / whole), gated_rms = sqrt(t->gated_square / whole);
    const uint64_t guard_damage = r->counts.guard_damage;
    r->counts = t->counts;
    r->counts.total = t->counts.compared;
    r->counts.guard_damage = guard_damage;
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
    if (k) {
        lb_record_text(&r->contract_name, "%s", k->name);
        lb_record_text(&r->contract_source, "%s", k->source);
        lb_record_text(&r->contract_note, "%s", k->note);
        r->contract_evidence = k->evidence;
        r->contract_k = t->in->k;
        r->contract_max_ulp = k->max_ulp;
        r->contract_rel_rms_gate = k->rel_rms_gate;
    }
    say_cause(t, r);
    decide(t, gated_rms, r);
}

/* Whether `name` is a word of `list`. */
static bool listed(const char *name, const char *list) {
    const size_t n = strlen(name);
    for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0)) return true;
    return false;
}

static lb_status check_input(const lb_grade_input *in, lb_error *err) {
    const lb_mat *a = &in->actual, *r = &in->reference;
    if (a->rows != r->rows || a->cols != r->cols)
        return lb_fail(err, LB_E_SHAPE, "grade", "the actual output is %zux%zu, the reference %zux%zu", a->rows, a->cols, r->rows, r->cols);
    if (a->format != r->format || (in->exact && in->exact->format != a->format))
        return lb_fail(err, LB_E_FORMAT, "grade", "the actual output is %s, the reference %s", a->format->name, r->format->name);
    if (in->exact && (in->exact->rows != a->rows || in->exact->cols != a->cols))
        return lb_fail(err, LB_E_SHAPE, "grade", "the unit's output is %zux%zu, the actual one %zux%zu", in->exact->rows, in->exact->cols,
                       a->rows, a->cols);
    if (!in->contract && !in->exact)
        return lb_fail(err, LB_E_ARG, "grade", "nothing to judge by: give a contract, a unit's output or both");
    if (in->contract && !listed(a->format->name, in->contract->formats))
        return lb_fail(err, LB_E_FORMAT, in->contract->name, "this contract grades %s outputs, not %s", in->contract->formats,
                       a->format->name);
    if (in->contract && !(in->k >= 1 && isfinite(in->k)))
        return lb_fail(err, LB_E_ARG, in->contract->name, "the reduction depth k must be at least 1 and finite, not %g", in->k);
    for (size_t row = 0; in->contract && in->row_rms && row < a->rows; row++)
        if (!(in->row_rms[row] >= 0 && isfinite(in->row_rms[row])))
            return lb_fail(err, LB_E_ARG, in->contract->name, "the RMS of reference row %zu is given as %g", row, in->row_rms[row]);
    return LB_OK;
}

lb_status lb_grade(const lb_grade_input *in, lb_record *r, lb_error *err) {
    LB_TRY(check_input(in, err));
    tally t = {.in = in, .format = in->actual.format, .values = table_of_values(in->actual.format, in->actual.rows, in->actual.cols)};
    lb_record scratch = {0}; /* collects outliers, so that r stays whole where memory runs out */
    lb_status s = LB_OK;
    for (size_t row = 0; s == LB_OK && row < in->actual.rows; row++) s = judge_row(&t, row, &scratch, err);
    free(t.values);
    if (s != LB_OK) {
        free(scratch.outliers);
        return s;
    }
    free(r->outliers);
    r->outliers = scratch.outliers;
    r->outlier_count = scratch.outlier_count;
    fill_record(&t, r);
    return LB_OK;
}
