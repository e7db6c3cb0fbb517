/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a contract catches. Every fault goes the way that a device's output goes: into lb_grade, and nowhere else. */
#include "lastbit/power.h"
#include "base/text.h"
#include "base/try.h"
#include "contracts/limit.h"
#include "lastbit/run.h"
#include "run/faults.h"
#include "run/gather.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum fault_of { OUTPUT, OPERANDS } fault_of;

static const struct row {
    lb_fault fault;
    lb_planter *planter;
} rows[] = {
#define LB_FAULT(name, of, planter, what) {{name, what, of == OPERANDS}, planter},
#include "run/faults.def"
#undef LB_FAULT
};

enum { FAULT_COUNT = sizeof rows / sizeof rows[0] };

static const double most_products = 5e7; /* of a faulty sum that is computed again */

const lb_fault *lb_fault_row(size_t i) {
    return i < FAULT_COUNT ? &rows[i].fault : NULL;
}

static lb_status find(const char *name, const struct row **out, lb_error *err) {
    const char *names[FAULT_COUNT];
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        *out = &rows[i];
        names[i] = rows[i].fault.name;
        if (strcmp(name, names[i]) == 0) return LB_OK;
    }
    *out = NULL;
    const char *near = lb_nearest_name(name, names, FAULT_COUNT);
    return lb_fail(err, LB_E_NAME, name, "no such fault%s%s; `lastbit faults` lists them", near ? "; did you mean " : "", near ? near : "");
}

lb_status lb_fault_find(const char *name, const lb_fault **out, lb_error *err) {
    const struct row *row;
    *out = NULL;
    LB_TRY(find(name, &row, err));
    *out = &row->fault;
    return LB_OK;
}

/* ---- one fault -------------------------------------------------------------------------------------------------------- */

/* p->out becomes right, and then faulty. */
static lb_status plant(const struct row *row, lb_plant *p, lb_error *err) {
    const int bytes = p->right->format->bytes;
    for (size_t i = 0; i < p->right->rows; i++)
        for (size_t j = 0; j < p->right->cols; j++) lb_store_code(lb_mat_at(&p->out, i, j), bytes, lb_mat_code(p->right, i, j));
    p->hidden = false;
    p->why[0] = 0;
    if (row->fault.of_operands && lb_case_k(p->x) == 0) {
        lb_plant_hidden(p, "K is 0");
        return LB_OK;
    }
    return row->planter(p, err);
}

lb_status lb_fault_plant(const char *name, const lb_case *x, const lb_unit *unit, const lb_mat *right, lb_mat *out, bool *hidden, char *why,
                         lb_error *err) {
    const struct row *row;
    lb_plant p = {.x = x, .unit = unit, .right = right, .out = *out};
    LB_TRY(find(name, &row, err));
    if (row->fault.of_operands && !x) return lb_fail(err, LB_E_ARG, name, "a fault of the sum needs A and B");
    if (out->rows != right->rows || out->cols != right->cols || out->format != right->format || !right->rows || !right->cols)
        return lb_fail(err, LB_E_SHAPE, name, "%zux%zu into %zux%zu; both must be one shape and format, and hold elements", right->rows,
                       right->cols, out->rows, out->cols);
    LB_TRY(plant(row, &p, err));
    *hidden = p.hidden;
    if (why) memcpy(why, p.why, sizeof p.why);
    return LB_OK;
}

/* ---- what correct kernels differ by ----------------------------------------------------------------------------------- */

/* Everything of one run. */
typedef struct job {
    const lb_power_input *in;
    lb_grade_input grade; /* of what is looked at: the caller's, or a sample of it */
    lb_case x;
    lb_plant p;
    lb_contract limit; /* what correct kernels differ by */
    double elements;
    void *out_codes;
    lb_record *scratch;
} job;

/* The statistical limit of the reduction that the contract declares; of any f32 accumulator where it declares none. */
static lb_status find_limit(job *j, lb_error *err) {
    const lb_contract *c = j->grade.contract, *any;
    LB_TRY(lb_contract_find("statistical-rz", &any, err));
    j->limit = c && lb_limit_between_reals(c) ? *c : *any;
    j->limit.bound = LB_BOUND_STATISTICAL;
    return LB_OK;
}

static double row_rms(const job *j, size_t row) {
    const lb_mat *r = &j->grade.reference;
    if (j->grade.row_rms) return j->grade.row_rms[row];
    double sum = 0;
    size_t n = 0;
    for (size_t c = 0; c < r->cols; c++) {
        const double v = lb_to_double(r->format, lb_mat_code(r, row, c));
        if (!isfinite(v)) continue;
        sum += v * v;
        n++;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

static double limit_at(const job *j, const lb_limit_row *limit, size_t row, size_t col) {
    const size_t at = row * j->grade.reference.cols + col;
    const uint64_t code = lb_mat_code(j->p.right, row, col);
    const double v = lb_to_double(j->p.right->format, code), gauge = j->grade.gauge ? j->grade.gauge[at] : NAN;
    if (!j->grade.contract) return 0; /* a unit's own bits: no others are correct */
    if (!isfinite(v)) return 0;
    const double flushed = j->grade.flushed_gauge ? j->grade.flushed_gauge[at] : 0;
    return fmax(lb_limit_of_element(&j->limit, limit, v, gauge, flushed), lb_limit_reach(j->p.right->format, code, 2));
}

/* The error furthest beyond the limit, into row. */
static void measure(const job *j, lb_power_row *row) {
    const lb_mat *right = j->p.right, *out = &j->p.out;
    double worst = -1;
    row->error = row->limit = NAN;
    for (size_t i = 0; i < right->rows; i++) {
        lb_limit_row limit = {0};
        bool known = false;
        for (size_t c = 0; c < right->cols; c++) {
            const uint64_t want = lb_mat_code(right, i, c), got = lb_mat_code(out, i, c);
            if (want == got) continue;
            row->changed++;
            if (!known) limit = lb_limit_of_row(&j->limit, right->format, fmax(1, j->grade.k), row_rms(j, i), j->elements);
            known = true;
            const double distance = fabs(lb_to_double(out->format, got) - lb_to_double(right->format, want));
            const double error = isnan(distance) ? INFINITY : distance, most = limit_at(j, &limit, i, c);
            const double ratio = error == 0 ? 0 : most > 0 ? error / most : INFINITY;
            if (!(ratio > worst || (ratio == worst && error > row->error))) continue;
            worst = ratio;
            row->error = error;
            row->limit = most;
            row->row = j->grade.row_index ? j->grade.row_index[i] : i;
            row->col = j->grade.col_index ? j->grade.col_index[c] : c;
        }
    }
}

static lb_status grade_output(job *j, const lb_mat *actual, lb_verdict *out, lb_error *err) {
    lb_grade_input in = j->grade;
    in.actual = *actual;
    in.max_outliers = 1;
    LB_TRY(lb_grade(&in, j->scratch, err));
    *out = j->scratch->verdict;
    return LB_OK;
}

static bool is_allowed(const lb_power_input *in, const char *name) {
    for (size_t i = 0; i < in->allow_blind_count; i++)
        if (strcmp(in->allow_blind[i], name) == 0) return true;
    return false;
}

static lb_status try_fault(job *j, const struct row *fault, lb_power_row *row, lb_error *err) {
    lb_verdict verdict;
    *row = (lb_power_row){.allowed = is_allowed(j->in, fault->fault.name)};
    snprintf(row->fault, sizeof row->fault, "%s", fault->fault.name);
    LB_TRY(plant(fault, &j->p, err));
    measure(j, row);
    memcpy(row->why, j->p.why, sizeof row->why);
    if (!row->changed) {
        row->end = j->p.hidden ? LB_POWER_HIDDEN : LB_POWER_INERT;
        return LB_OK;
    }
    LB_TRY(grade_output(j, &j->p.out, &verdict, err));
    row->end = verdict == LB_FAIL ? LB_POWER_CAUGHT : row->error > row->limit ? LB_POWER_MISSED : LB_POWER_BELOW;
    return LB_OK;
}

/* ---- a sample for the faults of the sum -------------------------------------------------------------------------------- */

/* What was gathered for it. */
typedef struct sample {
    size_t *rows, *cols, row_count, col_count; /* places in what was graded */
    void *codes[6];
    lb_mat exact, baseline, right;
    double *numbers[4];      /* reference_error, gauge, flushed_gauge [m][n]; row_rms [m] */
    size_t *row_at, *col_at; /* places to report */
} sample;

static void free_sample(sample *s) {
    for (size_t i = 0; i < sizeof s->codes / sizeof s->codes[0]; i++) free(s->codes[i]);
    for (size_t i = 0; i < sizeof s->numbers / sizeof s->numbers[0]; i++) free(s->numbers[i]);
    free(s->rows);
    free(s->cols);
    free(s->row_at);
    free(s->col_at);
}

static lb_status take(const sample *s, lb_mat *out, void **owned, const lb_mat *from, lb_error *err) {
    return lb_gather(out, owned, from, s->rows, s->row_count, s->cols, s->col_count, err);
}

static lb_status take_numbers(const sample *s, double **own, const double **numbers, size_t cols, lb_error *err) {
    if (!*numbers) return LB_OK;
    *own = malloc((s->row_count * s->col_count + 1) * sizeof **own);
    if (!*own) return lb_fail(err, LB_E_MEMORY, "power", "no memory for a sample");
    for (size_t i = 0; i < s->row_count; i++)
        for (size_t c = 0; c < s->col_count; c++) (*own)[i * s->col_count + c] = (*numbers)[s->rows[i] * cols + s->cols[c]];
    *numbers = *own;
    return LB_OK;
}

static lb_status take_places(size_t **own, const size_t **index, const size_t *picked, size_t count, lb_error *err) {
    *own = malloc((count + 1) * sizeof **own);
    if (!*own) return lb_fail(err, LB_E_MEMORY, "power", "no memory for a sample");
    for (size_t i = 0; i < count; i++) (*own)[i] = *index ? (*index)[picked[i]] : picked[i];
    *index = *own;
    return LB_OK;
}

static lb_status take_grade(sample *s, lb_grade_input *g, lb_error *err) {
    const size_t cols = g->reference.cols;
    const lb_mat reference = g->reference;
    LB_TRY(take(s, &g->reference, &s->codes[0], &reference, err));
    if (g->exact) {
        LB_TRY(take(s, &s->exact, &s->codes[1], g->exact, err));
        g->exact = &s->exact;
    }
    if (g->baseline) {
        LB_TRY(take(s, &s->baseline, &s->codes[2], g->baseline, err));
        g->baseline = &s->baseline;
    }
    LB_TRY(take_numbers(s, &s->numbers[0], &g->reference_error, cols, err));
    LB_TRY(take_numbers(s, &s->numbers[1], &g->gauge, cols, err));
    LB_TRY(take_numbers(s, &s->numbers[2], &g->flushed_gauge, cols, err));
    if (g->row_rms) {
        s->numbers[3] = malloc((s->row_count + 1) * sizeof(double));
        if (!s->numbers[3]) return lb_fail(err, LB_E_MEMORY, "power", "no memory for a sample");
        for (size_t i = 0; i < s->row_count; i++) s->numbers[3][i] = g->row_rms[s->rows[i]];
        g->row_rms = s->numbers[3];
    }
    LB_TRY(take_places(&s->row_at, &g->row_index, s->rows, s->row_count, err));
    return take_places(&s->col_at, &g->col_index, s->cols, s->col_count, err);
}

static lb_status take_case(sample *s, lb_case *x, lb_error *err) {
    const lb_mat a = x->a, b = lb_case_b(x), c = x->c;
    LB_TRY(lb_gather(&x->a, &s->codes[3], &a, s->rows, s->row_count, NULL, a.cols, err));
    LB_TRY(lb_gather(&x->b, &s->codes[4], &b, NULL, b.rows, s->cols, s->col_count, err));
    x->b_transposed = false;
    return c.codes ? take(s, &x->c, &s->codes[5], &c, err) : LB_OK;
}

/* Put a sample of rows and columns in place of all, where the sums of all would take too long. */
static lb_status narrow(job *j, sample *s, lb_error *err) {
    const size_t m = j->grade.reference.rows, n = j->grade.reference.cols;
    const double k = (double)lb_case_k(&j->x), most = most_products / fmax(1, k);
    if (!j->in->x || (double)m * (double)n <= most) return LB_OK;
    const size_t cols = n < 256 ? n : 256, rows_wanted = (size_t)fmax(4, most / (double)cols);
    LB_TRY(lb_sample_indices(m, rows_wanted < m ? rows_wanted : m, 1, 11, &s->rows, &s->row_count, err));
    LB_TRY(lb_sample_indices(n, cols, 1, 12, &s->cols, &s->col_count, err));
    LB_TRY(take_grade(s, &j->grade, err));
    return take_case(s, &j->x, err);
}

/* ---- all faults ----------------------------------------------------------------------------------------------------------- */

static void point_at(job *j) {
    j->p.x = j->in->x ? &j->x : NULL;
    j->p.unit = j->in->unit;
    j->p.right = j->grade.exact ? j->grade.exact : &j->grade.reference;
    j->p.out = lb_mat_of(j->p.right->format, j->out_codes, j->p.right->rows, j->p.right->cols);
}

static bool is_wanted(const lb_power_input *in, const lb_fault *f) {
    if (f->of_operands && !in->x) return false;
    for (size_t i = 0; i < in->fault_count; i++)
        if (strcmp(in->faults[i], f->name) == 0) return true;
    return !in->faults;
}

static lb_status try_all(job *j, fault_of of, lb_record *r, lb_error *err) {
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        lb_power_row row;
        if (rows[i].fault.of_operands != (of == OPERANDS) || !is_wanted(j->in, &rows[i].fault)) continue;
        LB_TRY(try_fault(j, &rows[i], &row, err));
        LB_TRY(lb_record_add_power(r, &row, err));
    }
    return LB_OK;
}

/* Names of the faults that ended so, at most four, and how many more. */
static char *names_of(const lb_power_score *p, lb_power_end end, size_t *count) {
    lb_text t = {0};
    char *out = NULL;
    *count = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        if (p->rows[i].end != end || p->rows[i].allowed) continue;
        if ((*count)++ < 4) lb_text_add(&t, "%s%s", *count > 1 ? ", " : "", p->rows[i].fault);
    }
    if (*count > 4) lb_text_add(&t, " and %zu more", *count - 4);
    return lb_text_take(&t, &out, NULL) == LB_OK ? out : NULL;
}

/* Count, and take a PASS back that rests on a contract which sees too little. */
static void conclude(lb_record *r) {
    lb_power_score *p = &r->power;
    size_t blind, inert;
    for (size_t i = 0; i < p->row_count; i++) {
        p->caught += p->rows[i].end == LB_POWER_CAUGHT;
        p->due += p->rows[i].end == LB_POWER_CAUGHT || p->rows[i].end == LB_POWER_MISSED;
    }
    p->present = true;
    p->score = p->due ? (double)p->caught / (double)p->due : NAN;
    char *missed = names_of(p, LB_POWER_MISSED, &blind), *unplanted = names_of(p, LB_POWER_INERT, &inert);
    if (r->verdict == LB_PASS && (blind || inert || !p->due)) {
        r->verdict = LB_UNPROVEN;
        if (blind)
            lb_record_text(&r->reason,
                           "blind: %s would pass %zu of %zu faults that no correct kernel shows: %s; --allow-blind NAME takes one",
                           *r->contract_name ? r->contract_name : "this comparison", blind, p->due, missed ? missed : "?");
        else if (inert)
            lb_record_text(&r->reason, "power unknown: %s changed nothing, and the inputs do not say why",
                           unplanted ? unplanted : "a fault");
        else
            lb_record_text(&r->reason, "power unknown: no fault shows in these inputs beyond what correct kernels differ by");
    }
    free(missed);
    free(unplanted);
}

static lb_status run(job *j, sample *s, lb_record *r, lb_error *err) {
    lb_verdict verdict;
    point_at(j);
    LB_TRY(grade_output(j, j->p.right, &verdict, err));
    if (verdict != LB_PASS) {
        r->power.present = true;
        if (r->verdict == LB_PASS) {
            r->verdict = LB_UNPROVEN;
            lb_record_text(&r->reason, "power unknown: the correct output itself is %s: %s", lb_verdict_name(verdict), j->scratch->reason);
        }
        return LB_OK;
    }
    LB_TRY(try_all(j, OUTPUT, r, err));
    LB_TRY(narrow(j, s, err));
    point_at(j);
    LB_TRY(try_all(j, OPERANDS, r, err));
    conclude(r);
    return LB_OK;
}

static lb_status check_names(const char *const *names, size_t count, lb_error *err) {
    const struct row *row;
    for (size_t i = 0; i < count; i++) LB_TRY(find(names[i], &row, err));
    return LB_OK;
}

static void clear(lb_power_score *p) {
    free(p->rows);
    *p = (lb_power_score){.score = NAN};
}

lb_status lb_power(const lb_power_input *in, lb_record *r, lb_error *err) {
    job j = {.in = in, .grade = *in->grade};
    sample s = {0};
    const size_t m = in->grade->reference.rows, n = in->grade->reference.cols;
    clear(&r->power);
    LB_TRY(check_names(in->faults, in->fault_count, err));
    LB_TRY(check_names(in->allow_blind, in->allow_blind_count, err));
    if (!m || !n) return LB_OK; /* the grade has said that nothing was compared */
    if (in->x) j.x = *in->x;
    j.elements = j.grade.elements >= 1 ? j.grade.elements : (double)m * (double)n;
    LB_TRY(find_limit(&j, err));
    LB_TRY(lb_record_open(&j.scratch, err));
    j.out_codes = calloc(m * n + 1, (size_t)in->grade->reference.format->bytes);
    lb_status status = j.out_codes ? LB_OK : lb_fail(err, LB_E_MEMORY, "power", "no memory for %zux%zu elements", m, n);
    if (status == LB_OK) status = run(&j, &s, r, err);
    if (status != LB_OK) clear(&r->power);
    free(j.out_codes);
    free_sample(&s);
    lb_record_close(j.scratch);
    return status;
}
