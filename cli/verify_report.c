/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What lastbit verify prints: a record for each arithmetic, then what it says of the network. */
#include "verify.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void verify_name_record(lb_record *r, const verify_args *a, const lb_net *n, const char *arith, const char *reference) {
    const lb_net_about about = lb_net_describe(n);
    lb_record_text(&r->op, "verify");
    lb_record_text(&r->on, "%s", arith);
    lb_record_text(&r->case_string, "op=verify kind=%s layers=%zu width=%zu arith=%s", about.kind, about.layers, about.width, arith);
    lb_record_text(&r->reference, "%s", reference);
    lb_record_text(&r->coverage, "all");
    lb_record_text(&r->rerun, "%s", a->command);
    r->seed = a->sampler.seed;
    r->has_seed = !a->tokens && !a->token_file && !a->reference;
}

static bool is_device(const char *arith) {
    return arith && strncmp(arith, "on:", 3) == 0;
}

lb_status verify_end(const verify_args *a, const lb_net *n, const char *arith, const char *against, lb_status s, lb_record **out,
                     lb_error *err) {
    const bool died = s == LB_E_DEVICE || s == LB_E_TIMEOUT;
    const lb_error why = *err;
    if (!(died || s == LB_E_FORMAT) || !(is_device(arith) || is_device(against))) return s;
    const lb_status opened = lb_record_open(out, err);
    if (opened != LB_OK) return opened;
    verify_name_record(*out, a, n, arith, against ? against : "");
    (*out)->verdict = died ? LB_FAIL : LB_UNPROVEN;
    lb_record_text(&(*out)->reason, "%s: %s", why.place, why.message);
    return LB_OK;
}

static lb_status to_codes(const double *x, size_t n, void **out, lb_error *err) {
    float *f = *out = malloc(n * sizeof *f + 1);
    if (!f) return lb_fail(err, LB_E_MEMORY, "output", "out of memory");
    for (size_t i = 0; i < n; i++) f[i] = (float)x[i];
    return LB_OK;
}

lb_status verify_grade(const verify_args *a, const lb_net *n, const char *arith, const char *reference, const double *actual,
                       const double *expected, size_t rows, lb_record **out, lb_error *err) {
    const lb_net_about about = lb_net_describe(n);
    char rule[64];
    void *x = NULL, *y = NULL;
    snprintf(rule, sizeof rule, "allclose:0,%.9g", *a->tolerance);
    lb_status s = to_codes(actual, rows * about.out_cols, &x, err);
    if (s == LB_OK) s = to_codes(expected, rows * about.out_cols, &y, err);
    if (s == LB_OK) s = lb_record_open(out, err);
    if (s == LB_OK) {
        const lb_format *f = lb_format_row(LB_F32);
        const lb_grade_input in = {
            .actual = lb_mat_of(f, x, rows, about.out_cols), .reference = lb_mat_of(f, y, rows, about.out_cols), .k = (double)about.width};
        verify_name_record(*out, a, n, arith, reference);
        s = lb_grade_by(a->contract ? a->contract : rule, &in, *out, err);
    }
    free(x);
    free(y);
    return s;
}

lb_status verify_judge(const verify_args *a, const lb_net *n, const char *arith, const char *against, const lb_net_report *report,
                       lb_record **out, lb_error *err) {
    const lb_status s = verify_grade(a, n, arith, against, report->b, report->a, report->rows, out, err);
    if (s != LB_OK) return s;
    lb_record *r = *out;
    r->seconds_device = report->seconds_b;
    r->seconds_reference = report->seconds_a;
    if (report->first_over == report->step_count) return LB_OK;
    const lb_net_step *step = &report->steps[report->first_over];
    lb_record_text(&r->cause,
                   "%s (%s) is the first operator off by more than its arithmetic can be: %.4g times its budget at row %zu, column %zu",
                   step->node, step->op->name, step->ratio, step->row, step->col);
    if (r->verdict != LB_FAIL) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "the outputs agree, but %s (%s) is off by more than its arithmetic can be", step->node, step->op->name);
    }
    return LB_OK;
}

/* ---- text ----------------------------------------------------------------------------------------------------------------------- */

static void print_flips(const lb_net_report *r) {
    enum { SHOWN = 4 };
    for (size_t i = 0; i < r->flip_count && i < SHOWN; i++) {
        const lb_net_flip *f = &r->flips[i];
        printf("  flipped    row %zu: token %d became %d; they were %.4g apart, and the two logits moved by %.4g together%s\n", f->row,
               f->token_a, f->token_b, f->gap, f->error, f->gap <= f->error ? "" : ": more than that explains");
    }
    if (r->flip_count > SHOWN) printf("  flipped    and %zu more rows\n", r->flip_count - SHOWN);
}

static void print_step(const lb_net_step *s, const char *mark) {
    if (!s->compared) {
        printf("  %-10s %-28s %-16s not compared: not in the trace, or f32 may overflow inside\n", "-", s->node, s->op->name);
        return;
    }
    printf("  %-10s %-28s %-16s max|d| %-11.4g %10.4g ulp  %.3g of its budget\n", mark, s->node, s->op->name, s->max_abs, s->max_ulp,
           s->ratio);
}

static void print_report(const verify_args *a, const lb_net_report *r) {
    printf("  outputs    max|d| %.4g at row %zu, column %zu; rms %.4g; %.4g ulp (f32)\n", r->max_abs, r->row, r->col, r->rms, r->max_ulp);
    if (!isnan(r->kl_mean))
        printf("  logits     KL %.4g mean, %.4g most; first token the same in %zu of %zu rows, first five in %zu\n", r->kl_mean, r->kl_most,
               r->top1_same, r->rows, r->top5_same);
    if (!isnan(r->loss_a))
        printf("  text       mean -log p of the next token %.6f against %.6f (perplexity %.5g, %.5g)\n", r->loss_b, r->loss_a,
               exp(r->loss_b), exp(r->loss_a));
    print_flips(r);
    if (r->step_count) {
        size_t worst = 0;
        for (size_t i = 1; i < r->step_count; i++)
            if (r->steps[i].ratio > r->steps[worst].ratio) worst = i;
        print_step(&r->steps[worst], "worst step");
    }
    if (r->first_over < r->step_count) print_step(&r->steps[r->first_over], "first over");
    for (size_t i = 0; a->steps && i < r->step_count; i++) print_step(&r->steps[i], r->steps[i].ratio > 1 ? "OVER" : "step");
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------------------- */

static json_t *number(double x) {
    return isnan(x) ? json_string("NaN") : isinf(x) ? json_string(x > 0 ? "Infinity" : "-Infinity") : json_real(x);
}

static json_t *step_json(const lb_net_step *s) {
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:[I, I], s:b}", "node", s->node, "op", s->op->name, "max_abs", number(s->max_abs),
                     "max_ulp", number(s->max_ulp), "ratio", number(s->ratio), "budget", number(s->budget), "at", (json_int_t)s->row,
                     (json_int_t)s->col, "compared", s->compared);
}

static json_t *report_json(const lb_net *n, const char *arith, const lb_net_report *r) {
    const lb_net_about about = lb_net_describe(n);
    json_t *steps = json_array(), *flips = json_array();
    for (size_t i = 0; i < r->step_count; i++) json_array_append_new(steps, step_json(&r->steps[i]));
    for (size_t i = 0; i < r->flip_count; i++) {
        const lb_net_flip *f = &r->flips[i];
        json_array_append_new(flips, json_pack("{s:I, s:i, s:i, s:o, s:o}", "row", (json_int_t)f->row, "was", f->token_a, "became",
                                               f->token_b, "gap", number(f->gap), "error", number(f->error)));
    }
    json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "schema", "lastbit.network/1", "arith", arith, "kind", about.kind,
                          "rows", (json_int_t)r->rows, "cols", (json_int_t)r->cols, "max_abs", number(r->max_abs), "max_ulp",
                          number(r->max_ulp), "rms", number(r->rms));
    json_object_set_new(j, "kl_mean", number(r->kl_mean));
    json_object_set_new(j, "kl_most", number(r->kl_most));
    json_object_set_new(j, "top1_same", json_integer((json_int_t)r->top1_same));
    json_object_set_new(j, "top5_same", json_integer((json_int_t)r->top5_same));
    json_object_set_new(j, "loss", number(r->loss_b));
    json_object_set_new(j, "loss_against", number(r->loss_a));
    json_object_set_new(j, "first_over", r->first_over < r->step_count ? json_string(r->steps[r->first_over].node) : json_null());
    json_object_set_new(j, "flips", flips);
    json_object_set_new(j, "steps", steps);
    return j;
}

int verify_emit(const verify_args *a, const lb_net *n, lb_record *const *records, lb_net_report *const *reports, size_t count) {
    lb_verdict verdicts[VERIFY_ARITHS];
    for (size_t i = 0; i < count; i++) {
        const cli_output each = {.json = a->output.json, .brief = a->output.brief};
        verdicts[i] = records[i]->verdict;
        const int code = cli_emit(&each, &records[i], 1);
        if (code == CLI_USAGE) return code;
        if (!reports[i]) continue;
        if (a->output.json) {
            json_t *j = report_json(n, records[i]->on, reports[i]);
            json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
            puts("");
            json_decref(j);
        } else if (!a->output.brief) {
            print_report(a, reports[i]);
        }
    }
    if (a->output.junit && cli_junit(a->output.junit, records, count) != CLI_OK) return CLI_USAGE;
    return lb_records_exit(verdicts, count);
}
