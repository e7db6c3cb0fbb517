/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The main job: one output against the unit's exact bits and the contract's reference. */
#include "lastbit/diagnose.h"
#include "lastbit/gemm.h"
#include "lastbit/power.h"
#include "lastbit/run.h"
#include "run/describe.h"
#include "run/gather.h"
#include "run/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything that one check holds; freed as a whole. */
typedef struct job {
    const lb_check_options *o;
    lb_record *r;
    size_t m, n, k;      /* of what is looked at: the sample, or all */
    size_t *rows, *cols; /* [m], [n] places of the sample; NULL: all */
    lb_case x;           /* the operands of the sample */
    void *a, *b, *c;     /* gathered operands, or NULL where the caller's serve */
    lb_mat actual, reference, exact;
    void *device_out, *actual_codes, *reference_codes, *exact_codes;
    double *reference_error; /* [m][n], or NULL where it is 0 throughout */
    double *gauge, *lost;    /* [m][n] sum |a||b|, and its part that flushed inputs lose; NULL where the contract asks for none */
    lb_mat baseline;
    void *baseline_codes;
    bool poisoned; /* the output came from a device and began as poison */
} job;

static void job_free(job *j) {
    void *all[] = {j->rows,
                   j->cols,
                   j->a,
                   j->b,
                   j->c,
                   j->device_out,
                   j->actual_codes,
                   j->reference_codes,
                   j->exact_codes,
                   j->reference_error,
                   j->gauge,
                   j->lost,
                   j->baseline_codes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static lb_status room(void **out, size_t rows, size_t cols, size_t bytes, lb_error *err) {
    if (cols && rows > SIZE_MAX / 16 / cols) return lb_fail(err, LB_E_MEMORY, "check", "%zux%zu is too large", rows, cols);
    *out = calloc(rows * cols + 1, bytes);
    return *out ? LB_OK : lb_fail(err, LB_E_MEMORY, "check", "no memory for %zux%zu elements", rows, cols);
}

/* ---- the output to judge ------------------------------------------------------------------------------------------ */

/* Run the device; what ends a run early is a verdict, not an error. *done says that the record is complete. */
static lb_status run_device(job *j, bool *done, lb_error *err) {
    const lb_check_options *o = j->o;
    const size_t m = lb_case_m(&o->x), n = lb_case_n(&o->x);
    lb_run_report report;
    lb_status s = room(&j->device_out, m, n, (size_t)o->x.out->bytes, err);
    if (s != LB_OK) return s;
    lb_error why = {0};
    s = lb_run_guarded(o->on, o->argv, &o->x, o->timeout_seconds > 0 ? o->timeout_seconds : 60, j->device_out, &report, &why);
    if (s == LB_E_UNAVAILABLE) { /* nothing ran: that proves nothing, and is no mistake of the caller's */
        *done = true;
        lb_record_text(&j->r->reason, "nothing ran: %s%s%s", why.place, why.place[0] ? ": " : "", why.message);
        return LB_OK;
    }
    if (s != LB_OK) return lb_fail(err, s, why.place, "%s", why.message);
    lb_record *r = j->r;
    r->seconds_device = report.seconds;
    if (report.detail[0]) lb_record_text(&r->environment, "%s; device %s", r->environment, report.detail);
    j->actual = lb_mat_of(o->x.out, j->device_out, m, n);
    j->poisoned = true;
    r->counts.guard_damage = report.guard_damage;
    r->counts.not_written = report.not_written;
    r->counts.total = (uint64_t)m * n;
    const char *cause = report.end == LB_RUN_FAILED      ? "the device failed"
                        : report.end == LB_RUN_CRASHED   ? "the device crashed"
                        : report.end == LB_RUN_TIMED_OUT ? "the device hung"
                        : report.guard_damage            ? "writes outside the output"
                        : report.inputs_changed          ? "writes to its inputs"
                                                         : NULL;
    *done = cause != NULL;
    if (o->output && report.end == LB_RUN_DONE) memcpy(o->output, j->device_out, m * n * (size_t)o->x.out->bytes);
    if (!cause) return LB_OK;
    r->verdict = LB_FAIL;
    lb_record_text(&r->cause, "%s", cause);
    if (report.end != LB_RUN_DONE)
        lb_record_text(&r->reason, "%s: %s", cause, report.why);
    else if (report.guard_damage)
        lb_record_text(&r->reason, "%llu bytes outside the output were changed", (unsigned long long)report.guard_damage);
    else
        lb_record_text(&r->reason, "the kernel wrote to its inputs A, B or C");
    return LB_OK;
}

/* ---- the sample ---------------------------------------------------------------------------------------------------- */

static lb_status take_sample(job *j, lb_error *err) {
    const lb_check_options *o = j->o;
    const size_t m = lb_case_m(&o->x), n = lb_case_n(&o->x), k = lb_case_k(&o->x);
    j->x = o->x;
    j->m = m;
    j->n = n;
    j->k = k;
    lb_record_text(&j->r->coverage, "all");
    if (!o->sample || (o->sample >= m && o->sample >= n)) return LB_OK;
    const lb_mat b = lb_case_b(&o->x);
    lb_status s = lb_sample_indices(m, o->sample, o->seed, 1, &j->rows, &j->m, err);
    if (s == LB_OK) s = lb_sample_indices(n, o->sample, o->seed, 2, &j->cols, &j->n, err);
    if (s == LB_OK) s = lb_gather(&j->x.a, &j->a, &o->x.a, j->rows, j->m, NULL, k, err);
    if (s == LB_OK) s = lb_gather(&j->x.b, &j->b, &b, NULL, k, j->cols, j->n, err);
    j->x.b_transposed = false;
    if (s == LB_OK && o->x.c.codes) s = lb_gather(&j->x.c, &j->c, &o->x.c, j->rows, j->m, j->cols, j->n, err);
    if (s == LB_OK) {
        const lb_mat whole = j->actual;
        s = lb_gather(&j->actual, &j->actual_codes, &whole, j->rows, j->m, j->cols, j->n, err);
    }
    j->r->seed = o->seed;
    j->r->has_seed = true;
    lb_record_text(&j->r->coverage,
                   "%zu of %zu rows x %zu of %zu columns (%.3g %%): edges, then draws of seed %llu; row RMS from the sample", j->m, m, j->n,
                   n, 100.0 * (double)j->m * (double)j->n / ((double)m * (double)n), (unsigned long long)o->seed);
    return s;
}

/* ---- the two opinions ---------------------------------------------------------------------------------------------- */

static void say(const job *j, const char *stage, double fraction) {
    if (j->o->progress) j->o->progress(j->o->progress_user, stage, fraction);
}

/* Rows of a panel: about a second of work, so that progress moves. */
static size_t panel_rows(const job *j) {
    const double macs = (double)j->n * (double)j->k;
    const double rows = 2e8 / (macs > 1 ? macs : 1);
    return rows < 1 ? 1 : rows > 1e6 ? 1000000 : (size_t)rows;
}

static lb_mat panel_of(lb_mat m, size_t first, size_t rows) {
    m.codes = lb_mat_at(&m, first, 0);
    m.rows = rows;
    return m;
}

/* D of the unit over these rows, rounded once to the output format where that is another. */
static lb_status model_panel(job *j, size_t first, size_t rows, lb_error *err) {
    const lb_unit *u = j->o->unit;
    const lb_format *own = lb_format_row(u->d);
    const lb_mat a = panel_of(j->x.a, first, rows), b = lb_case_b(&j->x);
    const lb_mat c = j->x.c.codes ? panel_of(j->x.c, first, rows) : (lb_mat){0};
    lb_mat d = panel_of(j->exact, first, rows);
    void *wide = NULL;
    lb_status s = LB_OK;
    if (own != j->x.out) {
        s = room(&wide, rows, j->n, (size_t)own->bytes, err);
        if (s != LB_OK) return s;
        d = lb_mat_of(own, wide, rows, j->n);
    }
    s = lb_gemm(u, &a, &b, c.codes ? &c : NULL, &d, NULL, err);
    if (s == LB_OK && wide) {
        lb_mat out = panel_of(j->exact, first, rows);
        lb_mat_round(&d, &out);
    }
    free(wide);
    return s;
}

static lb_status reference_panel(job *j, size_t first, size_t rows, lb_error *err) {
    lb_case x = j->x;
    x.a = panel_of(j->x.a, first, rows);
    if (x.c.codes) x.c = panel_of(j->x.c, first, rows);
    lb_mat code = panel_of(j->reference, first, rows);
    return lb_reference_matmul(&x, j->o->reference, NULL, 0, NULL, 0, &code, j->reference_error ? j->reference_error + first * j->n : NULL,
                               j->gauge ? j->gauge + first * j->n : NULL, err);
}

static lb_status baseline_panel(job *j, size_t first, size_t rows, lb_error *err) {
    lb_case x = j->x;
    x.a = panel_of(j->x.a, first, rows);
    if (x.c.codes) x.c = panel_of(j->x.c, first, rows);
    lb_mat out = panel_of(j->baseline, first, rows);
    return lb_plain_matmul(&x, &out, err);
}

typedef lb_status panel_function(job *j, size_t first, size_t rows, lb_error *err);

static lb_status all_panels(job *j, const char *stage, panel_function *work, double *seconds, lb_error *err) {
    const double start = lb_seconds();
    const size_t step = panel_rows(j);
    lb_status s = LB_OK;
    for (size_t i = 0; s == LB_OK && i < j->m; i += step) {
        say(j, stage, (double)i / (double)j->m);
        s = work(j, i, j->m - i < step ? j->m - i : step, err);
    }
    say(j, stage, 1);
    *seconds = lb_seconds() - start;
    return s;
}

static bool wants_gauge(const lb_contract *c) {
    const bool saturates = c->specials == LB_SPECIALS_SATURATE || c->specials == LB_SPECIALS_FLUSH_SATURATE;
    return lb_contract_needs_gauge(c) || c->bound == LB_BOUND_STATISTICAL || saturates;
}

/* What a contract is measured by: the reference, and with it the gauge, the baseline and what flushing may lose. */
static lb_status contract_opinions(job *j, lb_error *err) {
    const lb_contract *c = j->o->contract;
    const size_t bytes = (size_t)j->x.out->bytes;
    lb_status s = room(&j->reference_codes, j->m, j->n, bytes, err);
    if (s == LB_OK && j->o->reference == LB_REFERENCE_F64) s = room((void **)&j->reference_error, j->m, j->n, sizeof(double), err);
    if (s == LB_OK && wants_gauge(c)) s = room((void **)&j->gauge, j->m, j->n, sizeof(double), err);
    if (s != LB_OK) return s;
    j->reference = lb_mat_of(j->x.out, j->reference_codes, j->m, j->n);
    s = all_panels(j, "reference", reference_panel, &j->r->seconds_reference, err);
    if (s != LB_OK) return s;
    j->r->counts.subnormal_inputs = lb_count_subnormals(&j->x.a) + lb_count_subnormals(&j->x.b);
    if (j->gauge && j->r->counts.subnormal_inputs) {
        if (c->reduction.flushes_inputs) s = room((void **)&j->lost, j->m, j->n, sizeof(double), err);
        if (s == LB_OK) s = lb_weigh_subnormals(&j->x, c, j->gauge, j->lost, err);
    }
    if (s == LB_OK && lb_contract_needs_baseline(c)) {
        double seconds;
        s = room(&j->baseline_codes, j->m, j->n, bytes, err);
        if (s != LB_OK) return s;
        j->baseline = lb_mat_of(j->x.out, j->baseline_codes, j->m, j->n);
        s = all_panels(j, "baseline", baseline_panel, &seconds, err);
    }
    return s;
}

static lb_status opinions(job *j, lb_error *err) {
    lb_status s = LB_OK;
    if (j->o->unit) {
        s = room(&j->exact_codes, j->m, j->n, (size_t)j->x.out->bytes, err);
        if (s != LB_OK) return s;
        j->exact = lb_mat_of(j->x.out, j->exact_codes, j->m, j->n);
        s = all_panels(j, "model", model_panel, &j->r->seconds_model, err);
    }
    return s == LB_OK && j->o->contract ? contract_opinions(j, err) : s;
}

static void say_reference(const job *j) {
    static const char *const how[] = {
        [LB_REFERENCE_AUTO] = "correctly rounded: f64 sums where their error bound decides the rounding, exact integers elsewhere",
        [LB_REFERENCE_F64] =
            "f64 sums, each within (k + 3) 2^-53 of its sum of magnitudes; elements worse than an eighth of their tolerance are unfit",
        [LB_REFERENCE_EXACT] = "correctly rounded: exact integers",
    };
    lb_record_text(&j->r->reference, "%s", j->o->contract ? how[j->o->reference] : "the unit's own output");
}

static lb_grade_input what_to_grade(const job *j) {
    const lb_check_options *o = j->o;
    return (lb_grade_input){
        .actual = j->actual,
        .reference = o->contract ? j->reference : j->exact,
        .exact = o->unit ? &j->exact : NULL,
        .nan_by_class = o->nan_by_class,
        .contract = o->contract,
        .k = (double)j->k,
        .reference_error = j->reference_error,
        .row_index = j->rows,
        .col_index = j->cols,
        .has_sentinel = j->poisoned,
        .sentinel = lb_poison_code(j->x.out),
        .max_outliers = o->max_outliers,
        .gauge = j->gauge,
        .flushed_gauge = j->lost,
        .baseline = j->baseline_codes ? &j->baseline : NULL,
        .elements = (double)j->m * (double)j->n,
    };
}

static lb_status grade(job *j, lb_error *err) {
    const lb_grade_input in = what_to_grade(j);
    const uint64_t total = (uint64_t)lb_case_m(&j->o->x) * lb_case_n(&j->o->x);
    say_reference(j);
    const lb_status s = lb_grade(&in, j->r, err);
    j->r->counts.total = total;
    return s;
}

static lb_status power(job *j, lb_error *err) {
    const lb_check_options *o = j->o;
    const lb_grade_input in = what_to_grade(j);
    const lb_power_input p = {
        .grade = &in, .x = &j->x, .unit = o->unit, .allow_blind = o->allow_blind, .allow_blind_count = o->allow_blind_count};
    say(j, "power", 0);
    const lb_status s = lb_power(&p, j->r, err);
    say(j, "power", 1);
    return s;
}

/* What is wrong, where it can be named. Without memory for it the verdict stands as it is. */
static void diagnose(job *j) {
    const lb_check_options *o = j->o;
    const lb_diagnose_options d = {
        .x = j->x,
        .actual = j->actual,
        .reference = o->contract ? j->reference : j->exact,
        .exact = o->unit ? &j->exact : NULL,
        .unit = o->unit,
        .contract = o->contract,
        .has_poison = j->poisoned,
        .poison = lb_poison_code(j->x.out),
        .row_index = j->rows,
        .col_index = j->cols,
        .seed = o->seed,
    };
    lb_diagnosis found;
    say(j, "diagnosis", 0);
    if (lb_diagnose(&d, &found, NULL) == LB_OK && found.cause) lb_record_text(&j->r->cause, "%s", found.sentence);
    say(j, "diagnosis", 1);
}

static lb_status check_options(const lb_check_options *o, lb_error *err) {
    lb_status s = lb_case_check(&o->x, err);
    if (s != LB_OK) return s;
    if (!o->unit && !o->contract) return lb_fail(err, LB_E_ARG, "check", "nothing to judge by: give a unit, a contract or both");
    if (!o->actual && !o->on && !o->argv) return lb_fail(err, LB_E_ARG, "check", "no output to judge: give one, or a device to run");
    if (o->actual && (o->actual->rows != lb_case_m(&o->x) || o->actual->cols != lb_case_n(&o->x)))
        return lb_fail(err, LB_E_SHAPE, "D", "D is %zux%zu; A and B make %zux%zu", o->actual->rows, o->actual->cols, lb_case_m(&o->x),
                       lb_case_n(&o->x));
    if (o->actual && o->actual->format != o->x.out)
        return lb_fail(err, LB_E_FORMAT, "D", "D is %s; the output format is %s", o->actual->format->name, o->x.out->name);
    return LB_OK;
}

/* An open row is no opinion: without a contract nothing can be proven. */
static bool unit_is_open(const lb_check_options *o, lb_record *r) {
    if (!o->unit || o->unit->path != LB_PATH_NONE) return false;
    r->verdict = LB_UNPROVEN;
    lb_record_text(&r->reason, "nobody knows what this unit computes: %s", o->unit->note);
    return true;
}

static lb_status check(job *j, lb_error *err) {
    const lb_check_options *o = j->o;
    const double start = lb_seconds();
    bool done = false;
    lb_describe_case(j->r, &o->x, o->unit, o->contract, o->sample);
    if (o->unit) lb_describe_unit(j->r, o->unit);
    if (unit_is_open(o, j->r)) return LB_OK;
    lb_record_text(&j->r->on, "%s", o->actual ? (o->actual_name ? o->actual_name : "memory") : o->on ? o->on : "command");
    if (!o->actual && !o->on) lb_record_text(&j->r->on, "command:%s", o->argv[0]);
    lb_status s = LB_OK;
    if (o->actual)
        j->actual = *o->actual;
    else
        s = run_device(j, &done, err);
    if (s != LB_OK || done) return s;
    s = take_sample(j, err);
    if (s == LB_OK) s = opinions(j, err);
    if (s == LB_OK) s = grade(j, err);
    if (s == LB_OK && j->r->verdict == LB_FAIL && !o->quick) diagnose(j);
    if (s == LB_OK && o->power) s = power(j, err);
    j->r->seconds_total = lb_seconds() - start;
    return s;
}

lb_status lb_check(const lb_check_options *o, lb_record **out, lb_error *err) {
    job j = {.o = o};
    lb_status s = check_options(o, err);
    *out = NULL;
    if (s == LB_OK) s = lb_record_open(&j.r, err);
    if (s == LB_OK) s = check(&j, err);
    job_free(&j);
    if (s == LB_OK)
        *out = j.r;
    else
        lb_record_close(j.r);
    return s;
}
