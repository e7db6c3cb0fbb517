/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Answers to operations against a recording, or against the models. */
#include "backends/device.h"
#include "backends/program.h"
#include "base/text.h"
#include "base/try.h"
#include "lastbit/operations.h"
#include "run/capture_ops.h"
#include "run/describe.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is right, who answers, and what is expected. */
typedef struct suite {
    const lb_operations_options *o;
    lb_op_set want, got; /* got: empty where the models answer, or a GPU does one by one */
    lb_op_list known, approx;
    lb_capture *gpu;
} suite;

static bool is_recorded(const lb_op_item *x) {
    return x->out != NULL;
}

/* ---- one operation -------------------------------------------------------------------------------------------------------------- */

static lb_scalar_grade_of grade(const lb_op_item *x, size_t r, int o, const uint64_t *model, uint64_t got, bool strict) {
    const size_t ins = (size_t)x->op->ins, outs = (size_t)x->op->outs;
    const uint64_t right = is_recorded(x) ? x->out[r * outs + (size_t)o] : model[r * outs + (size_t)o];
    if (got == right) return LB_SCALAR_GRADE_SAME;
    if (strict) return LB_SCALAR_GRADE_WRONG;
    /* the bound, and what is open, are measured from the model: of a recording too, where the model itself is judged */
    return lb_scalar_grade(x->op, x->in + r * ins, o, model[r * outs + (size_t)o], is_recorded(x) ? right : got);
}

static void count(lb_operations_result *t, const lb_op_item *x, const uint64_t *model, const uint64_t *got, bool strict) {
    const size_t outs = (size_t)x->op->outs, ins = (size_t)x->op->ins;
    for (size_t r = 0; r < x->rows; r++)
        for (size_t o = 0; o < outs; o++) {
            const uint64_t word = got[r * outs + o];
            const lb_scalar_grade_of g = grade(x, r, (int)o, model, word, strict);
            t->total++;
            t->compared += g != LB_SCALAR_GRADE_UNJUDGED;
            t->exact += g == LB_SCALAR_GRADE_SAME;
            t->allowed += g == LB_SCALAR_GRADE_ALLOWED;
            t->differ += g == LB_SCALAR_GRADE_WRONG;
            if (g != LB_SCALAR_GRADE_WRONG || t->row_count == LB_OPERATIONS_ROWS) continue;
            lb_operations_row *row = &t->rows[t->row_count++];
            *row = (lb_operations_row){.row = r, .output = (int)o, .got = word};
            memcpy(row->in, x->in + r * ins, ins * sizeof *row->in);
            row->want = is_recorded(x) ? x->out[r * outs + o] : model[r * outs + o];
        }
}

#define REASON(t, ...) snprintf((t)->reason, sizeof(t)->reason, __VA_ARGS__)

/* From the counts and what the lists of the subject say. */
static void decide(const suite *s, lb_operations_result *t) {
    const struct lb_op_entry *known = lb_op_list_find(&s->known, t->name), *approx = lb_op_list_find(&s->approx, t->name);
    const unsigned long long differ = t->differ, total = t->total;
    t->verdict = differ ? LB_FAIL : t->compared ? LB_PASS : LB_UNPROVEN;
    if (!t->compared)
        REASON(t, "none of %llu words is documented", total);
    else if (differ)
        REASON(t, "%llu of %llu words differ", differ, total);
    else
        REASON(t, "%llu words: %llu exact, %llu within what is documented", total, (unsigned long long)t->exact,
               (unsigned long long)t->allowed);
    if (known && !differ) {
        t->verdict = LB_FAIL;
        REASON(t, "matches, but %s expects %llu words to differ: take its entry out", s->o->known, (unsigned long long)known->words);
    } else if (known && differ > known->words) {
        REASON(t, "%llu of %llu words differ; %s expects at most %llu", differ, total, s->o->known, (unsigned long long)known->words);
    } else if (known) {
        t->verdict = LB_SKIP;
        t->known = true;
        REASON(t, "known: %s; %llu of %llu words differ", known->reason, differ, total);
    } else if (approx && differ && differ <= approx->words) {
        t->verdict = LB_PASS;
        t->allowed += t->differ;
        t->differ = 0;
        REASON(t, "%llu of %llu words differ, up to %llu may: %s", differ, total, (unsigned long long)approx->words, approx->reason);
    } else if (approx && differ) {
        REASON(t, "%llu of %llu words differ; %s allows %llu", differ, total, s->o->approx, (unsigned long long)approx->words);
    }
}

/* Words of whoever answers, or NULL with the reason in the result. */
static lb_status answers(const suite *s, const lb_op_item *x, const uint64_t *model, lb_op_item *scratch, const uint64_t **out,
                         lb_operations_result *t, lb_error *err) {
    *out = NULL;
    if (s->gpu) {
        lb_error why = {0};
        *scratch = (lb_op_item){.op = x->op, .rows = x->rows, .in = x->in};
        memcpy(scratch->name, x->name, sizeof scratch->name);
        LB_TRY(lb_operation_ptx(x->op, &scratch->ptx, err));
        const lb_status status = lb_capture_op(s->gpu, scratch, &why);
        if (status == LB_OK) *out = scratch->out;
        if (status == LB_E_UNAVAILABLE) REASON(t, "this GPU's driver refuses it: %.200s", why.message);
        if (status != LB_OK && status != LB_E_UNAVAILABLE && err) *err = why;
        return status == LB_E_UNAVAILABLE ? LB_OK : status;
    }
    if (!s->o->actual && !s->o->command) {
        *out = model;
        return LB_OK;
    }
    const lb_op_item *got = lb_op_set_find(&s->got, x->name);
    if (!got || !got->out) {
        REASON(t, "no answer: there is no tensor %s.o0", x->name);
        return LB_OK;
    }
    if (got->rows != x->rows)
        return lb_fail(err, LB_E_FILE, s->o->actual ? s->o->actual : "out.safetensors", "%s has %zu rows; there are %zu", x->name,
                       got->rows, x->rows);
    if (got->in && memcmp(got->in, x->in, x->rows * (size_t)x->op->ins * sizeof *x->in) != 0)
        return lb_fail(err, LB_E_FILE, s->o->actual ? s->o->actual : "out.safetensors", "%s was given other inputs", x->name);
    *out = got->out;
    return LB_OK;
}

static lb_status judge_item(const suite *s, const lb_op_item *x, lb_operations_result *t, lb_error *err) {
    uint64_t *model = NULL;
    const uint64_t *got;
    lb_op_item scratch = {0};
    *t = (lb_operations_result){.op = x->op, .verdict = LB_SKIP, .recorded = is_recorded(x)};
    memcpy(t->name, x->name, sizeof t->name);
    if (!x->op) {
        REASON(t, "no such operation is modelled");
        return LB_OK;
    }
    LB_TRY(lb_op_model(x, &model, err));
    lb_status status = answers(s, x, model, &scratch, &got, t, err);
    if (status == LB_OK && got) {
        const bool strict = is_recorded(x) && got != model;
        count(t, x, model, got, strict);
        decide(s, t);
        if (got == model && !is_recorded(x)) {
            t->verdict = LB_UNPROVEN;
            REASON(t, "the model answered, and no recording says what is right");
        }
    }
    free(model);
    free(scratch.out);
    free(scratch.ptx);
    free(scratch.cubin);
    return status;
}

/* ---- who answers --------------------------------------------------------------------------------------------------------------------- */

static lb_status write_request(const lb_op_set *want, const char *folder, lb_error *err) {
    static const char *const metadata[] = {"lastbit.recording", "op/1", "lastbit.request", "1"};
    char path[600];
    lb_op_set request = {calloc(want->count, sizeof *request.items), want->count, NULL};
    if (!request.items) return lb_fail(err, LB_E_MEMORY, folder, "no memory for %zu operations", want->count);
    for (size_t i = 0; i < want->count; i++) {
        request.items[i] = want->items[i]; /* shares everything, without the answers */
        request.items[i].out = NULL;
    }
    snprintf(path, sizeof path, "%s/in.safetensors", folder);
    lb_status s = lb_op_set_write(&request, path, metadata, 2, err);
    free(request.items);
    snprintf(path, sizeof path, "%s/case.json", folder);
    json_t *j = json_pack("{s:s, s:s, s:s}", "op", "operations", "inputs", "in.safetensors", "output", "out.safetensors");
    if (s == LB_OK && json_dump_file(j, path, JSON_INDENT(1)) != 0) s = lb_fail(err, LB_E_FILE, path, "cannot be written");
    json_decref(j);
    return s;
}

static lb_status ask_program_in(suite *s, lb_device *d, char *folder, lb_error *err) {
    char path[600];
    struct stat st;
    LB_TRY(write_request(&s->want, folder, err));
    LB_TRY(lb_command_in_folder(d, folder, s->o->timeout_seconds > 0 ? s->o->timeout_seconds : 600, err));
    snprintf(path, sizeof path, "%s/out.safetensors", folder);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return lb_fail(err, LB_E_DEVICE, s->o->command[0], "the program wrote no out.safetensors");
    return lb_op_set_load(&s->got, path, true, err);
}

static lb_status ask_program(suite *s, lb_error *err) {
    lb_scratch at;
    lb_device *d = NULL;
    LB_TRY(lb_device_open_command(&d, s->o->command, err));
    lb_status status = lb_scratch_open(&at, s->o->command[0], err);
    if (status == LB_OK) {
        status = ask_program_in(s, d, at.folder, err);
        lb_scratch_close(&at);
    }
    lb_device_close(d);
    return status;
}

static lb_status open_gpu(suite *s, lb_error *err) {
    lb_capture_options o = {0};
    const char *which = s->o->on;
    if (strcmp(which, "model") == 0) return LB_OK;
    if (strncmp(which, "cuda", 4) != 0 || (which[4] && (which[4] != ':' || sscanf(which + 5, "%d", &o.device) != 1)))
        return lb_fail(err, LB_E_NAME, which, "operations run on model, cuda, cuda:N, or a program behind --");
    return lb_capture_open(&s->gpu, &o, err);
}

static lb_status prepare(suite *s, lb_error *err) {
    const lb_operations_options *o = s->o;
    if ((o->actual != NULL) + (o->command != NULL) + (o->on != NULL) > 1)
        return lb_fail(err, LB_E_ARG, "--actual", "a file, a device and a program exclude each other");
    if (o->recording)
        LB_TRY(lb_op_set_load(&s->want, o->recording, false, err));
    else
        LB_TRY(lb_op_set_standard(&s->want, o->part, o->seed, err));
    LB_TRY(lb_op_list_load(&s->known, o->known, err));
    LB_TRY(lb_op_list_load(&s->approx, o->approx, err));
    for (size_t i = 0; i < s->known.count; i++)
        if (lb_op_list_find(&s->approx, s->known.entries[i].name))
            return lb_fail(err, LB_E_FILE, o->approx, "%s stands in %s too", s->known.entries[i].name, o->known);
    if (o->on) LB_TRY(open_gpu(s, err));
    if (o->command) LB_TRY(ask_program(s, err));
    return o->actual ? lb_op_set_load(&s->got, o->actual, true, err) : LB_OK;
}

static bool is_wanted(const suite *s, const lb_op_item *x) {
    return !s->o->part || strstr(x->name, s->o->part);
}

static lb_status replay(suite *s, lb_operations_result **out, size_t *total, lb_error *err) {
    LB_TRY(prepare(s, err));
    *out = calloc(s->want.count + 1, sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, "", "no memory for %zu results", s->want.count);
    for (size_t i = 0; i < s->want.count; i++) {
        if (!is_wanted(s, &s->want.items[i])) continue;
        if (s->o->progress) s->o->progress(s->o->user, "replay", (double)i / (double)s->want.count);
        LB_TRY(judge_item(s, &s->want.items[i], &(*out)[*total], err));
        ++*total;
    }
    if (s->o->progress) s->o->progress(s->o->user, "replay", 1);
    return *total ? LB_OK : lb_fail(err, LB_E_NAME, s->o->part, "no operation of %s has this in its name", s->o->recording);
}

lb_status lb_operations_replay(const lb_operations_options *o, lb_operations_result **out, size_t *total, lb_error *err) {
    suite s = {.o = o};
    *out = NULL;
    *total = 0;
    const lb_status status = replay(&s, out, total, err);
    lb_op_set_close(&s.want);
    lb_op_set_close(&s.got);
    free(s.known.entries);
    free(s.approx.entries);
    lb_capture_close(s.gpu);
    if (status == LB_OK) return LB_OK;
    free(*out);
    *out = NULL;
    *total = 0;
    return status;
}

/* ---- as a record ------------------------------------------------------------------------------------------------------------------------ */

static const char *who(const lb_operations_options *o) {
    return o->actual ? o->actual : o->command ? o->command[0] : o->on ? o->on : "model";
}

static void fill_element(lb_element *e, const lb_scalar_op *op, const lb_operations_row *row) {
    const lb_format *f = lb_word_parts(op->out[row->output]) == 1 ? lb_word_format(op->out[row->output]) : NULL;
    *e = (lb_element){.present = true, .row = row->row, .col = (size_t)row->output, .actual = row->got, .reference = row->want};
    e->actual_value = f ? lb_to_double(f, row->got) : NAN;
    e->reference_value = f ? lb_to_double(f, row->want) : NAN;
    e->ulp = f && lb_ulp_distance(f, row->got, row->want) != UINT64_MAX ? (double)lb_ulp_distance(f, row->got, row->want) : INFINITY;
    e->abs_error = isnan(e->actual_value - e->reference_value) ? INFINITY : fabs(e->actual_value - e->reference_value);
    e->bound = e->row_rms = e->floor = NAN;
}

/* The command that judges this operation again. */
static void describe_rerun(lb_record *r, const lb_operations_options *o, const char *name) {
    lb_text t = {0};
    char *s;
    lb_text_add(&t, "lastbit replay%s%s --only %s", o->recording ? " " : "", o->recording ? o->recording : "", name);
    if (!o->recording && o->seed > 1) lb_text_add(&t, " --seed %llu", (unsigned long long)o->seed);
    if (o->actual) lb_text_add(&t, " --actual %s", o->actual);
    if (o->on) lb_text_add(&t, " --on %s", o->on);
    for (char *const *word = o->command; word && *word; word++) lb_text_add(&t, "%s %s", word == o->command ? " --" : "", *word);
    if (lb_text_take(&t, &s, NULL) != LB_OK) return;
    lb_record_text(&r->rerun, "%s", s);
    free(s);
}

lb_status lb_operations_record(const lb_operations_options *o, const lb_operations_result *t, lb_record **out, lb_error *err) {
    lb_record *r = NULL;
    LB_TRY(lb_record_open(&r, err));
    lb_record_text(&r->case_string, "op=%s recording=%s", t->name, o->recording ? o->recording : "none");
    lb_record_text(&r->op, "%s", t->name);
    lb_record_text(&r->on, "%s%s", o->actual ? "file:" : o->command ? "command:" : "", who(o));
    lb_record_text(&r->reason, "%s", t->reason);
    lb_record_text(&r->reference, "%s", o->recording ? "the recording" : "the models; no recording");
    lb_record_text(&r->coverage, "all");
    describe_rerun(r, o, t->name);
    r->verdict = t->verdict;
    r->counts.total = t->total;
    r->counts.compared = t->compared;
    r->counts.exact = t->exact;
    r->counts.legal = t->allowed;
    r->counts.wrong = t->differ;
    if (t->op) {
        lb_record_text(&r->unit_name, "%s", t->name);
        lb_record_text(&r->unit_source, "%s", t->op->source);
        lb_record_text(&r->unit_note, "%s", lb_scalar_class_text(t->op->cls));
        lb_record_text(&r->unit_open, "%s", t->op->open);
        r->unit_evidence = t->op->evidence;
    }
    if (t->row_count) {
        const lb_word w = t->op->out[t->rows[0].output];
        r->out_format = lb_word_parts(w) == 1 ? lb_word_format(w) : NULL;
        fill_element(&r->first, t->op, &t->rows[0]);
        r->worst = r->first;
    }
    *out = r;
    return LB_OK;
}
