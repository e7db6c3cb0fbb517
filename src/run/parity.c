/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The run: case by case, every device is asked first, then the truth is worked out while they compute, then each answer is judged while
 * they compute the next. */
#include "lastbit/parity.h"
#include "base/try.h"
#include "run/describe.h"
#include "run/parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case that the devices were asked. */
typedef struct slot {
    lb_op_case *x; /* NULL: free */
    lb_op_case answers[LB_FLEET_DEVICES];
    lb_op_truth *truths[LB_FLEET_DEVICES];
    lb_status asked[LB_FLEET_DEVICES];
    lb_error why[LB_FLEET_DEVICES];
} slot;

struct lb_parity {
    lb_fleet *fleet;
    lb_plan plan;
    lb_known known;
    char described[LB_FLEET_DEVICES][512];
    bool whole_plan; /* known rows that nothing hits can be told to be stale */
    bool power;
    unsigned repeats;
    slot slots[LB_FLEET_JOBS + 1]; /* one more than cases in flight: that which is judged */
    size_t asked, done;            /* cases */
    lb_record *queue[LB_FLEET_DEVICES];
    size_t queued, taken;
    lb_parity_row *rows; /* [row_count] */
    size_t row_count, row_capacity;
    double apart[LB_FLEET_DEVICES][LB_FLEET_DEVICES];
    bool met[LB_FLEET_DEVICES][LB_FLEET_DEVICES];
    size_t odd[LB_FLEET_DEVICES], trios;
    size_t pass, fail, unproven, known_failures;
    char line[1024]; /* of the known row that was asked for last */
};

/* ---- opening -------------------------------------------------------------------------------------------------------------------- */

lb_status lb_parity_open(lb_parity **out, const lb_parity_options *o, lb_error *err) {
    lb_parity *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) return lb_fail(err, LB_E_MEMORY, "parity", "no memory");
    lb_status s = lb_known_open(&p->known, o->known, !o->no_shipped_known, err);
    if (s == LB_OK) s = lb_plan_open(&p->plan, o, err);
    if (s == LB_OK && !p->plan.count) s = lb_fail(err, LB_E_ARG, "parity", "no case is left of the plan; lastbit parity --list shows it");
    if (s == LB_OK && !o->plan_only) s = lb_fleet_open(&p->fleet, o, err);
    if (s != LB_OK) {
        lb_parity_close(p);
        return s;
    }
    p->whole_plan = !o->case_count && !o->pattern && !o->quick && o->seed <= 1 && !o->functions;
    p->power = !o->no_power;
    p->repeats = o->repeats ? o->repeats : 1;
    for (size_t i = 0; p->fleet && i < p->fleet->count; i++) lb_fleet_describe(p->fleet, i, p->described[i], sizeof p->described[i]);
    *out = p;
    return LB_OK;
}

static void free_slot(slot *s, size_t devices) {
    for (size_t d = 0; d < devices; d++)
        if (s->x) lb_answer_close(&s->answers[d]), lb_op_truth_close(s->truths[d]);
    lb_op_case_close(s->x);
    *s = (slot){0};
}

void lb_parity_close(lb_parity *p) {
    if (!p) return;
    for (size_t i = 0; i <= LB_FLEET_JOBS && p->fleet; i++) free_slot(&p->slots[i], p->fleet->count);
    for (size_t i = p->taken; i < p->queued; i++) lb_record_close(p->queue[i]);
    lb_fleet_close(p->fleet);
    lb_known_close(&p->known);
    lb_plan_close(&p->plan);
    free(p->rows);
    free(p);
}

/* ---- what is asked about it -------------------------------------------------------------------------------------------------- */

size_t lb_parity_case_count(const lb_parity *p) {
    return p->plan.count;
}

const char *lb_parity_case_text(const lb_parity *p, size_t i) {
    return i < p->plan.count ? p->plan.texts[i] : NULL;
}

size_t lb_parity_device_count(const lb_parity *p) {
    return p->fleet ? p->fleet->count : 0;
}

const char *lb_parity_device(const lb_parity *p, size_t i) {
    return i < lb_parity_device_count(p) ? p->described[i] : NULL;
}

const char *lb_parity_device_name(const lb_parity *p, size_t i) {
    return i < lb_parity_device_count(p) ? p->fleet->devices[i].name : NULL;
}

const char *lb_parity_left_out(const lb_parity *p, size_t i) {
    return p->fleet && i < p->fleet->left_out_count ? p->fleet->left_out[i] : NULL;
}

size_t lb_parity_done(const lb_parity *p) {
    return p->done;
}

const lb_parity_row *lb_parity_row_at(const lb_parity *p, size_t i) {
    return i < p->row_count ? &p->rows[i] : NULL;
}

double lb_parity_distance(const lb_parity *p, size_t a, size_t b) {
    if (a >= lb_parity_device_count(p) || b >= lb_parity_device_count(p) || a == b) return a == b ? 0 : NAN;
    return p->met[a][b] ? p->apart[a][b] : NAN;
}

size_t lb_parity_odd(const lb_parity *p, size_t device, size_t *of) {
    if (of) *of = p->trios;
    return device < lb_parity_device_count(p) ? p->odd[device] : 0;
}

/* A row that was met and never failed, of a plan that nobody narrowed. */
static bool is_stale(const lb_parity *p, const lb_known_row *r) {
    return p->whole_plan && p->done == p->plan.count && r->pass == LB_KNOWN_PASS_NEWS && r->matched && !r->failed && r->passed;
}

static bool is_here(const lb_parity *p, const lb_known_row *r) {
    for (size_t d = 0; d < lb_parity_device_count(p); d++)
        if (strstr(p->described[d], r->device) && strstr(p->described[d], r->version)) return true;
    return false;
}

static const char *size_of(const lb_known_row *r, char text[64]) {
    snprintf(text, 64, isfinite(r->bound) ? "up to %g times the limit" : "of any size", r->bound);
    return text;
}

const char *lb_parity_known(const lb_parity *p, size_t i) {
    lb_parity *own = (lb_parity *)(uintptr_t)p; /* its room for the line */
    for (size_t k = 0; k < p->known.count; k++) {
        const lb_known_row *r = &p->known.rows[k];
        char size[64];
        if (!is_here(p, r) || !r->matched || i--) continue;
        snprintf(own->line, sizeof own->line, "%s %s: \"%s\", %s: %.200s; %zu of %zu such cases failed", r->device, r->version, r->pattern,
                 size_of(r, size), r->cause, r->failed, r->matched);
        return p->line;
    }
    return NULL;
}

const char *lb_parity_stale(const lb_parity *p, size_t i) {
    lb_parity *own = (lb_parity *)(uintptr_t)p; /* its room for the line */
    for (size_t k = 0; k < p->known.count; k++) {
        const lb_known_row *r = &p->known.rows[k];
        if (!is_stale(p, r) || i--) continue;
        snprintf(own->line, sizeof own->line, "%s: \"%s\" is known to fail (%.120s), and none of %zu cases does", r->device, r->pattern,
                 r->cause, r->matched);
        return p->line;
    }
    return NULL;
}

int lb_parity_exit(const lb_parity *p) {
    if (p->fail || lb_parity_stale(p, 0)) return 1;
    return p->unproven || !(p->pass + p->known_failures) ? 3 : 0;
}

/* ---- asking ------------------------------------------------------------------------------------------------------------------ */

static slot *slot_of(lb_parity *p, size_t i) {
    return &p->slots[i % (p->fleet->jobs + 1)];
}

static lb_worker *worker_of(lb_parity *p, size_t i, size_t device) {
    return p->fleet->devices[device].workers[i % p->fleet->jobs];
}

static lb_status ask(lb_parity *p, size_t i, lb_error *err) {
    slot *s = slot_of(p, i);
    LB_TRY(lb_op_case_open(&s->x, p->plan.texts[i], err));
    for (size_t d = 0; d < p->fleet->count; d++) LB_TRY(lb_answer_open(&s->answers[d], s->x, err));
    for (size_t d = 0; d < p->fleet->count; d++) s->asked[d] = lb_worker_ask(worker_of(p, i, d), s->x, &s->why[d]);
    return LB_OK;
}

/* Every case that a device is free for. */
static lb_status ask_ahead(lb_parity *p, size_t until, lb_error *err) {
    while (p->asked < p->plan.count && p->asked < until) LB_TRY(ask(p, p->asked++, err));
    return LB_OK;
}

/* ---- judging ----------------------------------------------------------------------------------------------------------------- */

static lb_status row_of(lb_parity *p, const char *op, size_t device, lb_parity_row **out, lb_error *err) {
    for (size_t i = p->row_count; i-- > 0;) {
        *out = &p->rows[i];
        if (strcmp((*out)->op, op) == 0 && (*out)->on == p->fleet->devices[device].name) return LB_OK;
    }
    if (p->row_count == p->row_capacity) {
        const size_t capacity = p->row_capacity ? 2 * p->row_capacity : 64;
        lb_parity_row *more = realloc(p->rows, capacity * sizeof *more);
        if (!more) return lb_fail(err, LB_E_MEMORY, "parity", "no memory");
        p->rows = more;
        p->row_capacity = capacity;
    }
    *out = &p->rows[p->row_count++];
    **out = (lb_parity_row){.op = op, .on = p->fleet->devices[device].name, .worst_ratio = NAN};
    return LB_OK;
}

/* A device that could not be asked, or could not begin: the case is FAIL with what it said. */
static void as_failure(lb_worker_answer *a, lb_status status, const lb_error *why) {
    *a = (lb_worker_answer){.report = {.end = LB_RUN_FAILED}, .unavailable = status == LB_E_UNAVAILABLE};
    snprintf(a->report.why, sizeof a->report.why, "%s", why->message);
}

/* Other bits in another run of the same case. */
static lb_status repeat(lb_parity *p, size_t i, size_t d, lb_record *r, lb_error *err) {
    slot *s = slot_of(p, i);
    for (unsigned k = 1; k < p->repeats && r->verdict == LB_PASS; k++) {
        lb_op_case again;
        lb_worker_answer answer;
        lb_worker *w = worker_of(p, i, d);
        size_t differ = 0, compared = 0;
        LB_TRY(lb_answer_open(&again, s->x, err));
        lb_status status = lb_worker_ask(w, s->x, err);
        if (status == LB_OK) status = lb_worker_answer_of(w, &again, &answer, err);
        const double ulp = status == LB_OK ? lb_answer_distance(&s->answers[d], &again, &differ, &compared) : 0;
        lb_answer_close(&again);
        LB_TRY(status);
        if (!differ && answer.report.end == LB_RUN_DONE) continue;
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "run %u gives other bits than the first: %zu of %zu elements, up to %g ULP%s", k + 1, differ, compared,
                       ulp, answer.report.end == LB_RUN_DONE ? "" : "; it did not end as it should");
    }
    return LB_OK;
}

/* What a known row's pairs are looked for in: the case, on= and functions=. */
static void apply_known(lb_parity *p, size_t d, lb_record *r, double ratio) {
    const lb_fleet_device *device = &p->fleet->devices[d];
    char text[LB_OP_TEXT + 512];
    snprintf(text, sizeof text, "%s on=%s functions=%s", r->case_string, device->name, lb_function_class_name(device->functions));
    lb_known_row *k = r->verdict == LB_SKIP ? NULL : lb_known_find(&p->known, r->on, text);
    if (!k) return;
    k->matched++;
    k->passed += r->verdict == LB_PASS;
    k->failed += r->verdict == LB_FAIL;
    if (r->verdict == LB_PASS && k->pass == LB_KNOWN_PASS_NOTHING) {
        r->verdict = LB_UNPROVEN;
        lb_record_text(&r->reason, "it is within its limits, which cannot see what is known of this device: %s%s%s%s", k->cause,
                       k->source[0] ? " [" : "", k->source, k->source[0] ? "]" : "");
    }
    if (r->verdict != LB_FAIL) return;
    char size[64];
    if (ratio <= k->bound && !r->counts.guard_damage && !r->counts.not_written) {
        lb_record_text(&r->known, "%s; %s%s%s%s", k->cause, size_of(k, size), k->source[0] ? " [" : "", k->source, k->source[0] ? "]" : "");
        return;
    }
    char *old = strdup(r->reason);
    lb_record_text(&r->reason, ratio <= k->bound ? "%s; known of this device: %s" : "%s; more than is known of this device: %s, %s",
                   old ? old : "", k->cause, size_of(k, size));
    free(old);
}

static void count(lb_parity *p, lb_parity_row *row, const lb_record *r, double ratio) {
    const bool known = r->verdict == LB_FAIL && *r->known;
    row->cases++;
    row->pass += r->verdict == LB_PASS;
    row->known += known;
    row->fail += r->verdict == LB_FAIL && !known;
    row->unproven += r->verdict == LB_UNPROVEN;
    row->skip += r->verdict == LB_SKIP;
    row->power_caught += r->power.caught;
    row->power_due += r->power.due;
    p->known_failures += known;
    p->pass += r->verdict == LB_PASS;
    p->fail += r->verdict == LB_FAIL && !known;
    p->unproven += r->verdict == LB_UNPROVEN;
    if (r->verdict == LB_PASS && !(ratio <= row->worst_ratio)) {
        row->worst_ratio = ratio;
        snprintf(row->worst, sizeof row->worst, "%s", r->case_string);
    }
}

static bool ended_well(const lb_worker_answer *a) {
    return a->report.end == LB_RUN_DONE && !a->cannot;
}

/* How far each is from each other, and whether one stands apart from the rest. */
static void compare_devices(lb_parity *p, const slot *s, const lb_worker_answer *answers) {
    const size_t n = p->fleet->count;
    double apart[LB_FLEET_DEVICES][LB_FLEET_DEVICES] = {{0}};
    size_t answered = 0;
    for (size_t a = 0; a < n; a++) {
        answered += ended_well(&answers[a]);
        for (size_t b = a + 1; b < n; b++) {
            if (!ended_well(&answers[a]) || !ended_well(&answers[b])) continue;
            const double d = lb_answer_distance(&s->answers[a], &s->answers[b], NULL, NULL);
            apart[a][b] = apart[b][a] = d;
            p->apart[a][b] = p->apart[b][a] = fmax(p->apart[a][b], d);
            p->met[a][b] = p->met[b][a] = true;
        }
    }
    if (answered < 3) return;
    p->trios++;
    for (size_t a = 0; a < n; a++) {
        double nearest = INFINITY, others = 0;
        if (!ended_well(&answers[a])) continue;
        for (size_t b = 0; b < n; b++) {
            if (b == a || !ended_well(&answers[b])) continue;
            nearest = fmin(nearest, apart[a][b]);
            for (size_t c = b + 1; c < n; c++)
                if (c != a && ended_well(&answers[c])) others = fmax(others, apart[b][c]);
        }
        p->odd[a] += nearest > others;
    }
}

/* Whether this device's class of functions still lacks a measure of what its limits catch for this operator. */
static bool wants_power(const lb_parity *p, const lb_parity_row *row, const lb_record *r) {
    return p->power && r->verdict == LB_PASS && !row->power_due && r->counts.compared >= 8;
}

static lb_status judge_device(lb_parity *p, size_t i, size_t d, const lb_worker_answer *answer, lb_record *r, lb_error *err) {
    const slot *s = slot_of(p, i);
    const lb_fleet_device *device = &p->fleet->devices[d];
    lb_op_truth *const truth = s->truths[d];
    lb_parity_row *row = NULL;
    char cause[256] = "";
    double ratio = NAN;
    const double start = lb_seconds();
    LB_TRY(row_of(p, s->x->op->name, d, &row, err));
    const char *detail = answer->report.detail; /* some devices know it only once they ran */
    if (detail[0]) snprintf(p->described[d], sizeof p->described[d], "%s (%.250s)", device->name, detail);
    const lb_subject subject = {&s->answers[d], truth, answer, device->name, p->described[d], device->functions};
    lb_status status = lb_parity_judge(&subject, r, &ratio, err);
    if (status == LB_OK) status = repeat(p, i, d, r, err);
    if (status == LB_OK && r->verdict == LB_FAIL && ended_well(answer) && r->counts.wrong)
        status = lb_parity_cause(&s->answers[d], truth, cause, sizeof cause, err);
    lb_record_text(&r->cause, "%s", cause);
    if (status == LB_OK && wants_power(p, row, r)) status = lb_parity_power(s->x, device->functions, r, err);
    if (status == LB_OK) {
        apply_known(p, d, r, ratio);
        r->seconds_total = lb_seconds() - start + answer->report.seconds;
        row->restarts = lb_worker_restarts(device->workers[0]);
        count(p, row, r, ratio);
    }
    return status;
}

/* The oldest case that was asked: wait for every device, then judge. */
static lb_status answer(lb_parity *p, lb_error *err) {
    const size_t i = p->done;
    slot *s = slot_of(p, i);
    lb_worker_answer answers[LB_FLEET_DEVICES];
    lb_status status = LB_OK;
    p->queued = p->taken = 0;
    for (size_t d = 0; d < p->fleet->count; d++) LB_TRY(lb_op_truth_open(&s->truths[d], s->x, p->fleet->devices[d].functions, err));
    for (size_t d = 0; d < p->fleet->count; d++) {
        if (s->asked[d] == LB_OK) s->asked[d] = lb_worker_answer_of(worker_of(p, i, d), &s->answers[d], &answers[d], &s->why[d]);
        if (s->asked[d] != LB_OK) as_failure(&answers[d], s->asked[d], &s->why[d]);
    }
    if (p->repeats == 1) LB_TRY(ask_ahead(p, i + 1 + p->fleet->jobs, err)); /* repeats need the device first */
    compare_devices(p, s, answers);
    for (size_t d = 0; d < p->fleet->count && status == LB_OK; d++) {
        lb_record *r;
        status = lb_record_open(&r, err);
        if (status != LB_OK) break;
        p->queue[p->queued++] = r;
        status = judge_device(p, i, d, &answers[d], r, err);
    }
    free_slot(s, p->fleet->count);
    p->done++;
    return status;
}

lb_status lb_parity_next(lb_parity *p, lb_record **out, lb_error *err) {
    *out = NULL;
    if (p->taken == p->queued) {
        if (p->done == p->plan.count || !p->fleet) return LB_OK;
        LB_TRY(ask_ahead(p, p->done + p->fleet->jobs, err));
        LB_TRY(answer(p, err));
    }
    *out = p->queue[p->taken++];
    return LB_OK;
}
