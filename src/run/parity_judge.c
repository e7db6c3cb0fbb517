/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One answer of one device against the truth. What the device did to itself comes first: a crash, a hang, a write outside. */
#include "base/try.h"
#include "run/describe.h"
#include "run/parity.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "judging needs IEEE comparisons: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

enum { OUTLIERS = 16 };

/* The run over all elements of all outputs. */
typedef struct tally {
    const lb_subject *s;
    lb_record *r;
    double ratio;        /* the largest */
    double worst_ratio;  /* of the element kept */
    bool worst_is_wrong; /* the element kept is a wrong one */
    unsigned port;       /* of first (where something is wrong) or worst */
    double error_square, reference_square;
    size_t finite, nonzero;
    bool unfit;
    double unfit_error, unfit_limit;
    char unfit_at[64];
} tally;

typedef struct element {
    unsigned port;
    size_t index;
    uint64_t code, reference;
    double value, truth, limit, error, ratio;
    lb_op_verdict verdict;
    bool unwritten;
} element;

lb_mat lb_array_mat(const lb_array *a) {
    const size_t n = lb_array_count(a), cols = a->rank ? a->dims[a->rank - 1] : 1;
    return lb_mat_of(a->format, a->codes, cols ? n / cols : 0, cols);
}

static element look(const tally *t, unsigned port, size_t i) {
    const lb_array *y = &t->s->x->out[port];
    const lb_op_truth *truth = t->s->truth;
    element e = {.port = port, .index = i};
    e.code = lb_load_code((const unsigned char *)y->codes + i * (size_t)y->format->bytes, y->format->bytes);
    e.truth = truth->value[port][i];
    e.error = truth->error[port][i];
    e.limit = truth->limit[port][i];
    e.reference = lb_from_double(y->format, e.truth);
    e.value = lb_to_double(y->format, e.code);
    e.verdict = lb_op_judge(truth, t->s->x, port, i, &e.ratio);
    e.unwritten = e.code == lb_poison_code(y->format) && e.reference != e.code;
    if (e.unwritten) {
        e.verdict = LB_OP_WRONG;
        e.ratio = INFINITY;
    }
    return e;
}

static lb_element as_record(const tally *t, const element *e) {
    const lb_array *y = &t->s->x->out[e->port];
    const size_t cols = y->rank ? y->dims[y->rank - 1] : 1;
    const bool numbers = isfinite(e->value) && isfinite(e->truth);
    return (lb_element){
        .present = true,
        .row = e->index / cols,
        .col = e->index % cols,
        .actual = e->code,
        .reference = e->reference,
        .actual_value = e->value,
        .reference_value = e->truth,
        .ulp = lb_code_distance(y->format, e->code, e->reference),
        .abs_error = numbers                                                        ? fabs(e->value - e->truth)
                     : e->value == e->truth || (isnan(e->value) && isnan(e->truth)) ? 0
                                                                                    : INFINITY,
        .bound = e->limit,
        .row_rms = NAN,
        .floor = NAN,
    };
}

static void measure(tally *t, const element *e) {
    lb_counts *c = &t->r->counts;
    lb_metrics *m = &t->r->metrics;
    c->nan_actual += isnan(e->value) != 0;
    c->nan_reference += isnan(e->truth) != 0;
    c->inf_actual += isinf(e->value) != 0;
    c->inf_reference += isinf(e->truth) != 0;
    const bool same_class = isnan(e->value) ? isnan(e->truth) : isinf(e->value) ? e->value == e->truth : isfinite(e->truth) != 0;
    c->class_mismatch += !same_class;
    t->nonzero += !(e->truth == 0);
    if (!isfinite(e->value) || !isfinite(e->truth)) return;
    const double off = fabs(e->value - e->truth);
    const double ulp = lb_code_distance(t->s->x->out[e->port].format, e->code, e->reference);
    t->finite++;
    t->error_square += off * off;
    t->reference_square += e->truth * e->truth;
    if (off > m->max_abs) m->max_abs = off;
    if (ulp > m->max_ulp) m->max_ulp = ulp;
}

static lb_status keep(tally *t, const element *e, lb_error *err) {
    lb_record *r = t->r;
    const bool wrong = e->verdict == LB_OP_WRONG;
    const bool worst = !r->worst.present || (wrong && !t->worst_is_wrong) || (wrong == t->worst_is_wrong && e->ratio > t->worst_ratio);
    if (wrong && !r->first.present) {
        r->first = as_record(t, e);
        r->out_format = t->s->x->out[e->port].format;
        r->worst = (lb_element){0}; /* of an earlier output, in which all is right */
        t->port = e->port;
    }
    if (r->first.present && e->port != t->port) return LB_OK; /* one output a record: the first that is wrong */
    if (worst || !r->worst.present) {
        r->worst = as_record(t, e);
        t->worst_ratio = e->ratio;
        t->worst_is_wrong = wrong;
        if (!r->first.present) {
            t->port = e->port;
            r->out_format = t->s->x->out[e->port].format;
        }
    }
    if (!wrong || r->outlier_count == OUTLIERS) return LB_OK;
    const lb_element out = as_record(t, e);
    return lb_record_add_outlier(r, &out, err);
}

/* A reference is fit where its error is at most an eighth of the limit; one whose bits are given has none. */
static void gate_reference(tally *t, const element *e) {
    if (t->unfit || e->verdict == LB_OP_EXACT || !isfinite(e->truth) || e->error <= e->limit / 8) return;
    t->unfit = true;
    t->unfit_error = e->error;
    t->unfit_limit = e->limit;
    snprintf(t->unfit_at, sizeof t->unfit_at, "%.15s[%zu]", t->s->x->op->out[e->port].name, e->index);
}

static lb_status judge_element(tally *t, unsigned port, size_t i, lb_error *err) {
    lb_counts *c = &t->r->counts;
    const element e = look(t, port, i);
    c->total++;
    if (e.verdict == LB_OP_UNJUDGED) return LB_OK;
    c->compared++;
    c->exact += e.verdict == LB_OP_EXACT;
    c->legal += e.verdict == LB_OP_LEGAL;
    c->wrong += e.verdict == LB_OP_WRONG;
    c->not_written += e.unwritten;
    measure(t, &e);
    gate_reference(t, &e);
    if (e.ratio > t->ratio) t->ratio = e.ratio;
    if (e.verdict == LB_OP_EXACT && e.ratio == 0 && t->r->worst.present) return LB_OK;
    return keep(t, &e, err);
}

/* ---- what it comes to --------------------------------------------------------------------------------------------------------- */

static void say_wrong(const tally *t, lb_record *r) {
    const lb_element *w = &r->worst;
    const char *port = t->s->x->op->out[t->port].name;
    const uint64_t wrong = r->counts.wrong, compared = r->counts.compared;
    if (r->counts.not_written == r->counts.total) {
        lb_record_text(&r->reason, "it wrote nothing: every element still holds what was there before the run");
    } else if (r->counts.not_written) {
        lb_record_text(&r->reason, "%" PRIu64 " of %" PRIu64 " elements were not written, the first %s[%zu,%zu]", r->counts.not_written,
                       r->counts.total, port, r->first.row, r->first.col);
    } else if (!isfinite(w->abs_error)) {
        lb_record_text(&r->reason, "%" PRIu64 " of %" PRIu64 " elements are wrong: %s[%zu,%zu] is %g where %g is right", wrong, compared,
                       port, w->row, w->col, w->actual_value, w->reference_value);
    } else if (w->bound > 0) {
        lb_record_text(&r->reason,
                       "%" PRIu64 " of %" PRIu64 " elements leave their limit: %s[%zu,%zu] is off by %.4g, %.4g times what is allowed",
                       wrong, compared, port, w->row, w->col, w->abs_error, w->abs_error / w->bound);
    } else {
        lb_record_text(&r->reason, "%" PRIu64 " of %" PRIu64 " elements are wrong: %s[%zu,%zu] is %.9g, and only %.9g is right", wrong,
                       compared, port, w->row, w->col, w->actual_value, w->reference_value);
    }
}

/* The verdict of the numbers alone. */
static void conclude(const tally *t, lb_record *r) {
    const lb_counts *c = &r->counts;
    if (c->wrong) {
        r->verdict = LB_FAIL;
        say_wrong(t, r);
    } else if (!c->compared) {
        r->verdict = LB_UNPROVEN;
        lb_record_text(&r->reason, "nothing compared: no limit can be stated for any of %" PRIu64 " elements (f32 may overflow inside)",
                       c->total);
    } else if (!t->nonzero) {
        r->verdict = LB_UNPROVEN;
        lb_record_text(&r->reason, "every true value is zero: a kernel that writes zeros would pass");
    } else if (t->unfit) {
        r->verdict = LB_UNPROVEN;
        lb_record_text(&r->reason, "the reference is unfit: at %s its error may be %.3g, more than an eighth of the limit %.3g",
                       t->unfit_at, t->unfit_error, t->unfit_limit);
    } else {
        r->verdict = LB_PASS;
        lb_record_text(&r->reason, "all of %" PRIu64 " elements within their limits, the largest error %.3g of it", c->compared, t->ratio);
    }
}

/* What the device did beside computing: each ends the case as FAIL. */
static void add_misdeeds(const lb_subject *s, lb_record *r) {
    char why[LB_MISDEED];
    r->counts.guard_damage = s->answer->report.guard_damage;
    if (!lb_describe_misdeed(&s->answer->report, why)) return;
    r->verdict = LB_FAIL;
    lb_record_text(&r->reason, "%s", why);
}

static void describe(const lb_subject *s, lb_record *r) {
    char text[LB_OP_TEXT];
    lb_op_case_text(s->x, text, sizeof text);
    lb_record_text(&r->case_string, "%s", text);
    lb_record_text(&r->op, "%s", s->x->op->name);
    lb_record_text(&r->on, "%s", s->on_described);
    lb_record_text(&r->rerun, "lastbit parity --on %s --case '%s'", s->on, text);
    lb_record_text(&r->contract_name, "%s:%s", s->x->op->name, lb_function_class_name(s->functions));
    lb_record_text(&r->contract_source, "%s", s->x->op->source);
    lb_record_text(&r->contract_rule, "%s", s->x->op->bound ? s->x->op->bound : "");
    lb_record_text(&r->contract_note, "%s", s->x->op->edge ? s->x->op->edge : "");
    lb_record_text(&r->contract_specials, "ieee");
    r->contract_evidence = LB_EVIDENCE_STATED;
    lb_record_text(&r->reference, "true values in double or better, each with a bound of its error");
    r->seed = s->x->seed;
    r->has_seed = true;
    r->out_format = s->x->out[0].format;
    r->seconds_device = s->answer->report.seconds;
}

lb_status lb_parity_judge(const lb_subject *s, lb_record *r, double *ratio, lb_error *err) {
    tally t = {.s = s, .r = r};
    *ratio = NAN;
    describe(s, r);
    if (s->answer->cannot) {
        r->verdict = LB_SKIP;
        lb_record_text(&r->reason, "%s", s->answer->report.why[0] ? s->answer->report.why : "the device cannot run it");
        return LB_OK;
    }
    if (s->answer->unavailable) { /* that proves nothing, and is no fault of the kernel's */
        r->verdict = LB_UNPROVEN;
        lb_record_text(&r->reason, "nothing ran: %s", s->answer->report.why);
        return LB_OK;
    }
    if (s->answer->report.end == LB_RUN_DONE) {
        LB_TRY(lb_op_truth_settle(s->truth, s->x, err));
        for (unsigned p = 0; p < s->x->op->out_count; p++)
            for (size_t i = 0; i < s->truth->count[p]; i++) LB_TRY(judge_element(&t, p, i, err));
        conclude(&t, r);
        r->metrics.present = t.finite > 0;
        r->metrics.rms = t.finite ? sqrt(t.reference_square / (double)t.finite) : 0;
        r->metrics.rel_rms = t.error_square == 0 ? 0 : sqrt(t.error_square / t.reference_square);
        *ratio = t.ratio;
    }
    lb_record_text(&r->coverage,
                   r->counts.compared == r->counts.total ? "all"
                                                         : "%" PRIu64 " of %" PRIu64 " elements; no limit can be stated for the others",
                   r->counts.compared, r->counts.total);
    add_misdeeds(s, r);
    return LB_OK;
}

void lb_truth_round(const lb_op_truth *t, lb_op_case *x) {
    for (unsigned p = 0; p < x->op->out_count; p++) {
        const lb_array *y = &x->out[p];
        const size_t width = (size_t)y->format->bytes;
        for (size_t i = 0; i < t->count[p]; i++)
            lb_store_code((unsigned char *)y->codes + i * width, y->format->bytes, lb_from_double(y->format, t->value[p][i]));
    }
}

double lb_answer_max_abs(const lb_op_case *a, const lb_op_case *b, size_t *row, size_t *col) {
    double most = -1;
    for (unsigned p = 0; p < a->op->out_count; p++) {
        const lb_mat x = lb_array_mat(&a->out[p]), y = lb_array_mat(&b->out[p]);
        for (size_t r = 0; r < x.rows; r++) {
            for (size_t c = 0; c < x.cols; c++) {
                const double u = lb_to_double(x.format, lb_mat_code(&x, r, c)), v = lb_to_double(y.format, lb_mat_code(&y, r, c));
                const double d = u == v || (isnan(u) && isnan(v)) ? 0 : isfinite(u) && isfinite(v) ? fabs(u - v) : INFINITY;
                if (!(d > most)) continue;
                most = d;
                *row = r;
                *col = c;
            }
        }
    }
    return most < 0 ? 0 : most;
}
