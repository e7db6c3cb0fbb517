/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Judging every element of an output, all at once or in pieces. */
#include "base/try.h"
#include "contracts/codes16.h"
#include "contracts/tally.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "grading needs IEEE comparisons: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

/* Every value of a small format, if there are elements enough to pay for it. Without memory for it all goes on, more slowly. */
static double *table_of_values(const lb_format *f, double elements) {
    if (f->bits > 16 || elements < 0x1p16) return NULL;
    double *values = malloc(sizeof *values << f->bits);
    for (uint64_t code = 0; values && code >> f->bits == 0; code++) values[code] = lb_to_double(f, code);
    return values;
}

static double value_of(const lb_tally *t, uint64_t code) {
    return t->values ? t->values[code & ((UINT64_C(1) << t->format->bits) - 1)] : lb_to_double(t->format, code);
}

static lb_number number_at(const lb_tally *t, const lb_mat *m, size_t row, size_t col) {
    const uint64_t code = lb_mat_code(m, row, col);
    return (lb_number){code, value_of(t, code)};
}

static lb_judge_at judge_at(const lb_tally *t, size_t row, size_t col) {
    const lb_grade_input *in = t->in;
    const size_t at = row * in->actual.cols + col;
    return (lb_judge_at){
        in->contract, t->format, &t->range, &t->limit, in->gauge ? in->gauge[at] : NAN, in->flushed_gauge ? in->flushed_gauge[at] : 0};
}

static bool has_floor(const lb_contract *c) {
    return c && (c->bound == LB_BOUND_STATISTICAL || (c->bound == LB_BOUND_ULP_OR_FLOOR && c->margin > 0));
}

static lb_element element_at(const lb_tally *t, size_t row, size_t col, const lb_judgement *v) {
    const lb_grade_input *in = t->in;
    const lb_number a = number_at(t, &in->actual, row, col), r = number_at(t, &in->reference, row, col);
    const lb_judge_at at = judge_at(t, row, col);
    return (lb_element){
        .present = true,
        .row = in->row_index ? in->row_index[row] : t->row_offset + row,
        .col = in->col_index ? in->col_index[col] : t->col_offset + col,
        .actual = a.code,
        .reference = r.code,
        .actual_value = a.value,
        .reference_value = r.value,
        .ulp = v->ulp,
        .abs_error = v->abs_error,
        .bound = lb_judge_bound(&at, r),
        .row_rms = in->contract ? t->limit.row_rms : NAN,
        .floor = has_floor(in->contract) ? t->limit.floor : NAN,
        .has_exact = in->exact != NULL,
        .exact_code = in->exact ? lb_mat_code(in->exact, row, col) : 0,
    };
}

/* ---- all elements ---------------------------------------------------------------------------------------------------- */

static void count_classes(lb_tally *t, double actual, double reference) {
    t->counts.nan_actual += isnan(actual) != 0;
    t->counts.nan_reference += isnan(reference) != 0;
    t->counts.inf_actual += isinf(actual) != 0;
    t->counts.inf_reference += isinf(reference) != 0;
    t->nonzero += isfinite(reference) && reference != 0;
}

static void measure(lb_tally *t, double a, double r, bool units_bits, const lb_judgement *v) {
    const lb_contract *c = t->in->contract;
    if (!(lb_judge_by_number(c) || (isfinite(a) && isfinite(r)))) return;
    t->error_square += (a - r) * (a - r);
    if (!units_bits) t->gated_square += (a - r) * (a - r);
    t->reference_square += r * r;
    t->finite_count++;
    if (v->abs_error > t->max_abs) t->max_abs = v->abs_error; /* NaN is counted by class, not here */
    if (!(v->flip && !c->flips_graded) && v->ulp > t->max_ulp) t->max_ulp = v->ulp;
}

static void count_event(lb_counts *c, lb_event e) {
    c->nan_payload += e == LB_EVENT_NAN_OTHER;
    c->zero_sign += e == LB_EVENT_ZERO_SIGN;
    c->flushed += e == LB_EVENT_FLUSHED;
    c->saturated += e == LB_EVENT_SATURATED;
    c->overflowed += e == LB_EVENT_OVERFLOWED;
}

/* An element's reference is fit where its own error is at most an eighth of the tolerance there. Where one number judges the block,
 * the errors are put together first. */
static void gate_reference(lb_tally *t, size_t row, size_t col, lb_number r, const lb_judgement *v) {
    const lb_grade_input *in = t->in;
    if (!in->reference_error || !in->contract) return;
    const double error = in->reference_error[row * in->actual.cols + col];
    const lb_judge_at at = judge_at(t, row, col);
    const double bound = lb_judge_bound(&at, r);
    t->reference_error_square += error * error;
    t->reference_error_most = fmax(t->reference_error_most, error);
    if (isnan(bound) || error <= bound / 8 || t->unfit.present) return;
    t->unfit = element_at(t, row, col, v);
    t->unfit_error = error;
}

static double distance_or_infinity(double a, double r) {
    const double d = fabs(a - r);
    return isnan(d) ? INFINITY : d;
}

/* The largest error of a plain kernel, and of adding 0.3 and taking it away again in the output format. */
static void measure_baseline(lb_tally *t, size_t row, size_t col, lb_number r) {
    if (!t->in->baseline || !isfinite(r.value)) return;
    const double plain = number_at(t, t->in->baseline, row, col).value;
    const double up = lb_to_double(t->format, lb_from_double(t->format, r.value + 0.3));
    const double back = lb_to_double(t->format, lb_from_double(t->format, up - 0.3));
    t->baseline_error = fmax(t->baseline_error, distance_or_infinity(plain, r.value));
    t->offset_error = fmax(t->offset_error, distance_or_infinity(back, r.value));
}

/* Keep the first wrong element, the worst, and as many wrong ones as were asked for. */
static lb_status keep(lb_tally *t, size_t row, size_t col, bool wrong, const lb_judgement *v, lb_record *scratch, lb_error *err) {
    const size_t most = t->in->max_outliers ? t->in->max_outliers : 16;
    const bool worst = !t->worst.present || (wrong && !t->worst_is_wrong) || (wrong == t->worst_is_wrong && v->ratio > t->worst_ratio);
    if (!worst && !(wrong && scratch->outlier_count < most)) return LB_OK;
    const lb_element e = element_at(t, row, col, v);
    if (wrong && !t->first.present) t->first = e;
    if (worst) {
        t->worst = e;
        t->worst_ratio = v->ratio;
        t->worst_is_wrong = wrong;
    }
    return wrong && scratch->outlier_count < most ? lb_record_add_outlier(scratch, &e, err) : LB_OK;
}

static bool is_exact(const lb_grade_input *in, const lb_format *f, uint64_t actual, double value, uint64_t want) {
    if (!lb_judge_takes(in->contract, value)) return false;
    return actual == want || (in->nan_by_class && lb_code_class(f, actual) == LB_NAN && lb_code_class(f, want) == LB_NAN);
}

static lb_status judge_element(lb_tally *t, size_t row, size_t col, lb_record *scratch, lb_error *err) {
    const lb_grade_input *in = t->in;
    const lb_number actual = number_at(t, &in->actual, row, col), reference = number_at(t, &in->reference, row, col);
    const uint64_t want = in->exact ? lb_mat_code(in->exact, row, col) : reference.code;
    const lb_judge_at at = judge_at(t, row, col);
    const lb_judgement v = lb_judge_element(&at, actual, reference);
    const bool holds_sentinel = in->has_sentinel && actual.code == in->sentinel;
    const bool unwritten = holds_sentinel && want != in->sentinel && reference.code != in->sentinel;
    const bool exact = !unwritten && is_exact(in, t->format, actual.code, actual.value, want);
    const bool wrong = !exact && (unwritten || !in->contract || !v.legal);
    count_classes(t, actual.value, reference.value);
    count_event(&t->counts, v.event);
    measure(t, actual.value, reference.value, in->exact && exact, &v);
    measure_baseline(t, row, col, reference);
    t->counts.compared++;
    t->counts.exact += exact;
    t->counts.legal += !exact && !wrong;
    t->counts.wrong += wrong;
    t->counts.class_mismatch += v.class_mismatch;
    t->counts.sign_flips += v.flip;
    t->counts.over_ulp += v.over_ulp;
    t->counts.not_written += unwritten;
    if (v.unbounded && !t->unbounded.present) t->unbounded = element_at(t, row, col, &v);
    gate_reference(t, row, col, reference, &v);
    if (exact && !(v.ratio > 0)) return LB_OK;
    return keep(t, row, col, wrong, &v, scratch, err);
}

/* Squares of a part of a reference row: of its numbers, or (the original) of everything. */
static void add_squares(const lb_tally *t, const lb_mat *m, size_t row, lb_squares *s) {
    const bool all = t->by_number;
    if (t->values && t->format->bytes == 2 && m->col_stride == 1) {
        const double sum = lb_sum_squares(t->format, t->values, lb_mat_at(m, row, 0), m->cols, s->sum);
        if (isfinite(sum) || all) {
            *s = (lb_squares){sum, s->count + m->cols};
            return;
        }
    } /* NaN or Inf is among them */
    for (size_t col = 0; col < m->cols; col++) {
        const double v = number_at(t, m, row, col).value;
        if (!all && !isfinite(v)) continue;
        s->sum += v * v;
        s->count++;
    }
}

static double rms_of(const lb_squares *s) {
    return s->count ? sqrt(s->sum / (double)s->count) : 0;
}

static double row_rms_of(const lb_tally *t, size_t row) {
    const lb_grade_input *in = t->in;
    lb_squares s = {0};
    if (in->row_rms) return in->row_rms[row];
    add_squares(t, &in->reference, row, &s);
    return rms_of(&s);
}

/* Codes of 16 bits side by side, and nothing to look at but them: the way on which most elements go. */
static bool is_plain(const lb_tally *t) {
    const lb_grade_input *in = t->in;
    const bool dense = in->actual.col_stride == 1 && in->reference.col_stride == 1 && (!in->exact || in->exact->col_stride == 1);
    return t->values && t->format->bytes == 2 && dense && !in->reference_error && !in->baseline;
}

/* Take `count` elements that hold the reference's (and the unit's) own bits: what judge_element does for them where they are numbers,
 * in the same order of additions. False, with nothing taken, where one is not. */
static bool take_equal(lb_tally *t, const uint16_t *r, size_t count) {
    const double square = lb_sum_squares(t->format, t->values, r, count, t->reference_square);
    if (!isfinite(square)) return false;
    const uint64_t zeros = lb_count_zeros16(r, count);
    t->reference_square = square;
    t->finite_count += count;
    t->nonzero += count - zeros;
    t->counts.compared += count;
    t->counts.exact += count;
    return true;
}

enum { BLOCK = 64 };

/* What may go the short way though it is a few ordinals off: nothing but the ordinal budget and the floor to ask. */
static lb_near16 near16_of(const lb_tally *t) {
    const lb_grade_input *in = t->in;
    const lb_contract *c = in->contract;
    uint64_t inf = 0;
    if (!c || c->bound != LB_BOUND_ULP_OR_FLOOR || !c->classes_first || in->exact || t->format->special != LB_SPECIAL_IEEE)
        return (lb_near16){0};
    lb_inf_code(t->format, &inf);
    return (lb_near16){.inf = (uint16_t)inf,
                       .budget = (uint16_t)fmin(c->max_ulp, 0x7fff),
                       .has_sentinel = in->has_sentinel,
                       .sentinel = (uint16_t)in->sentinel};
}

/* What judge_element does for numbers that are equal, or of one sign and within the ordinal budget, and none of them the worst so far, in the
 * same order of additions. False, with nothing done, where one is another element. */
static bool take_near(lb_tally *t, const uint16_t *a, const uint16_t *r, size_t count) {
    const double max_ulp = t->in->contract->max_ulp;
    double error_square[BLOCK], square[BLOCK], most = 0;
    lb_seen16 seen;
    if (memcmp(a, r, count * sizeof *a) == 0) return take_equal(t, r, count);
    if (!lb_are_near16(&t->near16, a, r, count, &seen)) return false;
    for (size_t i = 0; i < count; i++) {
        const double value = t->values[r[i]], error = fabs(t->values[a[i]] - value);
        error_square[i] = error * error;
        square[i] = value * value;
        most = error > most ? error : most;
    }
    if (seen.differ && !t->worst_is_wrong) { /* no ratio of the block is above those of its largest distance and error */
        const double by_floor = t->limit.floor > 0 ? most / t->limit.floor : INFINITY;
        if (!t->worst.present || fmin(seen.most / max_ulp, by_floor) > t->worst_ratio) return false;
    }
    for (size_t i = 0; i < count; i++) {
        t->error_square += error_square[i];
        t->gated_square += error_square[i];
        t->reference_square += square[i];
    }
    t->finite_count += count;
    t->nonzero += count - seen.zeros;
    t->counts.compared += count;
    t->counts.exact += count - seen.differ;
    t->counts.legal += seen.differ;
    t->max_abs = most > t->max_abs ? most : t->max_abs;
    t->max_ulp = seen.most > t->max_ulp ? seen.most : t->max_ulp;
    return true;
}

/* Blocks of such elements at once; a block that holds another in eighths, down to the element itself. */
static lb_status judge_near(lb_tally *t, size_t row, size_t col, size_t count, size_t step, lb_record *scratch, lb_error *err) {
    const uint16_t *a = lb_mat_at(&t->in->actual, row, col), *r = lb_mat_at(&t->in->reference, row, col);
    for (size_t i = 0; i < count; i += step) {
        const size_t n = count - i < step ? count - i : step;
        if (take_near(t, a + i, r + i, n)) continue;
        if (n == 1)
            LB_TRY(judge_element(t, row, col + i, scratch, err));
        else
            LB_TRY(judge_near(t, row, col + i, n, step / 8, scratch, err));
    }
    return LB_OK;
}

/* A row of such codes, in runs of equal ones and the elements between. */
static lb_status judge_plain_row(lb_tally *t, size_t row, lb_record *scratch, lb_error *err) {
    const lb_grade_input *in = t->in;
    const size_t cols = in->actual.cols;
    const uint16_t *a = lb_mat_at(&in->actual, row, 0), *r = lb_mat_at(&in->reference, row, 0);
    const uint16_t *e = in->exact ? lb_mat_at(in->exact, row, 0) : a;
    if (t->near16.inf) return judge_near(t, row, 0, cols, BLOCK, scratch, err);
    for (size_t col = 0; col < cols;) {
        size_t run = lb_equal_run16(a + col, r + col, cols - col);
        if (in->exact) run = lb_equal_run16(e + col, r + col, run);
        if (!take_equal(t, r + col, run))
            run += run < cols - col; /* NaN or Inf among them: one by one */
        else if (run) {
            col += run;
            continue;
        }
        for (const size_t end = col + (run ? run : 1); col < end; col++) LB_TRY(judge_element(t, row, col, scratch, err));
    }
    return LB_OK;
}

static lb_status judge_row(lb_tally *t, size_t row, lb_record *scratch, lb_error *err) {
    const lb_grade_input *in = t->in;
    const double row_rms = row_rms_of(t, row);
    t->limit = in->contract ? lb_limit_of_row(in->contract, t->format, in->k, row_rms, t->elements) : (lb_limit_row){.row_rms = row_rms};
    if (!t->begun || row_rms < t->row_rms_least) t->row_rms_least = row_rms;
    if (!t->begun || row_rms > t->row_rms_most) t->row_rms_most = row_rms;
    t->begun = true;
    if (t->plain) return judge_plain_row(t, row, scratch, err);
    for (size_t col = 0; col < in->actual.cols; col++) LB_TRY(judge_element(t, row, col, scratch, err));
    return LB_OK;
}

/* ---- the input ---------------------------------------------------------------------------------------------------- */

/* Whether `name` is a word of `list`. */
static bool listed(const char *name, const char *list) {
    if (strcmp(list, "any") == 0) return true;
    const size_t n = strlen(name);
    for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0)) return true;
    return false;
}

static lb_status check_shapes(const lb_grade_input *in, lb_error *err) {
    const lb_mat *a = &in->actual, *r = &in->reference, *b = in->baseline;
    if (a->rows != r->rows || a->cols != r->cols)
        return lb_fail(err, LB_E_SHAPE, "grade", "the actual output is %zux%zu, the reference %zux%zu", a->rows, a->cols, r->rows, r->cols);
    if (a->format != r->format || (in->exact && in->exact->format != a->format))
        return lb_fail(err, LB_E_FORMAT, "grade", "the actual output is %s, the reference %s", a->format->name, r->format->name);
    if (in->exact && (in->exact->rows != a->rows || in->exact->cols != a->cols))
        return lb_fail(err, LB_E_SHAPE, "grade", "the unit's output is %zux%zu, the actual one %zux%zu", in->exact->rows, in->exact->cols,
                       a->rows, a->cols);
    if (b && (b->rows != a->rows || b->cols != a->cols || b->format != a->format))
        return lb_fail(err, LB_E_SHAPE, "grade", "the baseline is %zux%zu %s, the actual output %zux%zu %s", b->rows, b->cols,
                       b->format->name, a->rows, a->cols, a->format->name);
    return LB_OK;
}

static lb_status check_contract(const lb_grade_input *in, lb_error *err) {
    const lb_contract *c = in->contract;
    if (!listed(in->actual.format->name, c->formats))
        return lb_fail(err, LB_E_FORMAT, c->name, "this contract grades %s outputs, not %s", c->formats, in->actual.format->name);
    if (!(in->k >= 1 && isfinite(in->k)))
        return lb_fail(err, LB_E_ARG, c->name, "the reduction depth k must be at least 1 and finite, not %g", in->k);
    if (lb_contract_needs_gauge(c) && !in->gauge)
        return lb_fail(err, LB_E_ARG, c->name, "needs sum |a||b| of each element, so A and B: use lastbit check, or give the gauge");
    if (lb_contract_needs_baseline(c) && !in->baseline)
        return lb_fail(err, LB_E_ARG, c->name, "needs a plain kernel's output to compare with: use lastbit check, or give the baseline");
    for (size_t row = 0; in->row_rms && row < in->actual.rows; row++)
        if (!(in->row_rms[row] >= 0 && isfinite(in->row_rms[row])))
            return lb_fail(err, LB_E_ARG, c->name, "the RMS of reference row %zu is given as %g", row, in->row_rms[row]);
    return LB_OK;
}

static lb_status check_input(const lb_grade_input *in, lb_error *err) {
    LB_TRY(check_shapes(in, err));
    if (!in->contract && !in->exact)
        return lb_fail(err, LB_E_ARG, "grade", "nothing to judge by: give a contract, a unit's output or both");
    return in->contract ? check_contract(in, err) : LB_OK;
}

/* ---- all at once, or in pieces ------------------------------------------------------------------------------------- */

struct lb_grading {
    lb_tally t;
    lb_grade_input piece; /* the one that is judged */
    lb_record scratch;    /* collects outliers, so that a record stays whole where memory runs out */
    lb_squares squares;   /* of the row that is scanned */
    lb_contract contract; /* the caller's may be gone */
    const lb_format *format;
    const lb_contract *under; /* &contract, or NULL */
};

static void begin(lb_grading *g, const lb_grade_input *in) {
    g->format = in->actual.format;
    if (in->contract) g->contract = *in->contract;
    g->under = in->contract ? &g->contract : NULL;
    g->t.elements = in->elements >= 1 ? in->elements : (double)in->actual.rows * (double)in->actual.cols;
    g->t.format = g->format;
    g->t.values = table_of_values(g->format, g->t.elements);
    g->t.range = lb_range_of(g->format);
    g->t.by_number = lb_judge_by_number(g->under);
    g->piece = *in;
    g->piece.contract = g->under;
    g->t.in = &g->piece;
}

static lb_status judge_piece(lb_grading *g, const lb_grade_input *piece, size_t row, size_t col, lb_error *err) {
    lb_status s = LB_OK;
    g->piece = *piece;
    g->piece.contract = g->under;
    g->t.row_offset = row;
    g->t.col_offset = col;
    g->t.plain = is_plain(&g->t);
    g->t.near16 = near16_of(&g->t);
    for (size_t i = 0; s == LB_OK && i < piece->actual.rows; i++) s = judge_row(&g->t, i, &g->scratch, err);
    return s;
}

static void finish(lb_grading *g, lb_record *r) {
    free(r->outliers);
    r->outliers = g->scratch.outliers;
    r->outlier_count = g->scratch.outlier_count;
    g->scratch.outliers = NULL;
    lb_tally_fill_record(&g->t, r);
}

static void clean(lb_grading *g) {
    free(g->t.values);
    free(g->scratch.outliers);
}

lb_status lb_grade(const lb_grade_input *in, lb_record *r, lb_error *err) {
    lb_grading g = {0};
    LB_TRY(check_input(in, err));
    begin(&g, in);
    const lb_status s = judge_piece(&g, in, 0, 0, err);
    if (s == LB_OK) finish(&g, r);
    clean(&g);
    return s;
}

lb_status lb_grading_open(lb_grading **out, const lb_grade_input *whole, lb_error *err) {
    lb_grade_input in = *whole;
    *out = NULL;
    LB_TRY(check_shapes(whole, err));
    in.actual.rows = in.reference.rows = 0; /* no element is looked at yet */
    in.exact = in.baseline = NULL;
    in.row_rms = NULL;
    if (!in.contract) return lb_fail(err, LB_E_ARG, "grade", "nothing to judge by: pieces are graded under a contract");
    LB_TRY(check_contract(&in, err));
    if (lb_contract_needs_baseline(in.contract))
        return lb_fail(err, LB_E_ARG, in.contract->name, "judges the whole output by its baseline");
    *out = calloc(1, sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, "grade", "no memory");
    in.actual.rows = in.reference.rows = whole->actual.rows;
    begin(*out, &in);
    return LB_OK;
}

double lb_grading_scan(lb_grading *g, const lb_mat *part, bool first) {
    if (first) g->squares = (lb_squares){0};
    add_squares(&g->t, part, 0, &g->squares);
    return rms_of(&g->squares);
}

void lb_grading_rms(const lb_grading *g, const lb_mat *rows, double *rms) {
    for (size_t i = 0; i < rows->rows; i++) {
        lb_squares s = {0};
        add_squares(&g->t, rows, i, &s);
        rms[i] = rms_of(&s);
    }
}

lb_status lb_grading_add(lb_grading *g, const lb_grade_input *piece, size_t row, size_t col, lb_error *err) {
    lb_grade_input in = *piece;
    in.contract = g->under;
    in.row_rms = NULL; /* ours: of a row that holds NaN the original takes what comes out */
    LB_TRY(check_input(&in, err));
    in.row_rms = piece->row_rms;
    if (in.actual.format != g->format)
        return lb_fail(err, LB_E_FORMAT, "grade", "a piece of %s; the output is %s", in.actual.format->name, g->format->name);
    return judge_piece(g, &in, row, col, err);
}

void lb_grading_close(lb_grading *g, lb_record *r) {
    if (!g) return;
    if (r) finish(g, r);
    clean(g);
    free(g);
}

lb_status lb_grade_by(const char *rule, const lb_grade_input *in, lb_record *r, lb_error *err) {
    lb_grade_input under = *in;
    lb_contract *c;
    LB_TRY(lb_contract_open(rule, &c, err));
    under.contract = c;
    const lb_status s = lb_grade(&under, r, err);
    lb_contract_close(c);
    return s;
}
