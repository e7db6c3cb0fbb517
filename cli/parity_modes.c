/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit parity --invariance, --sweep and --table. */
#include "parity.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int finish(int code) {
    lb_error err;
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    lb_fail(&err, LB_E_FILE, "standard output", "cannot be written");
    return cli_error(&err);
}

/* FAIL before UNPROVEN before PASS; nothing but skips is UNPROVEN. */
static int code_of(const size_t seen[LB_VERDICT_COUNT]) {
    if (seen[LB_FAIL]) return CLI_FAIL;
    return seen[LB_UNPROVEN] || !seen[LB_PASS] ? CLI_UNPROVEN : CLI_OK;
}

static json_t *number(double x) {
    if (isnan(x)) return json_null();
    return isinf(x) ? json_string(x > 0 ? "Infinity" : "-Infinity") : json_real(x);
}

static void print_json(json_t *j) {
    char *text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(j);
}

/* ---- invariance ---------------------------------------------------------------------------------------------------------------- */

static bool is_required(const cli_parity *a, const char *axis) {
    for (size_t i = 0; i < a->require.count; i++)
        if (strcmp(a->require.items[i], axis) == 0) return true;
    return false;
}

static int check_axes(const cli_parity *a) {
    const char *names[16], *name;
    size_t count = 0;
    while (count < 16 && (name = lb_axis_name(count)) != NULL) names[count++] = name;
    for (size_t i = 0; i < a->require.count; i++) {
        bool known = false;
        for (size_t k = 0; k < count; k++) known = known || strcmp(names[k], a->require.items[i]) == 0;
        const char *near = known ? NULL : lb_nearest_name(a->require.items[i], names, count);
        if (!known) return cli_usage_error("parity", "no axis \"%s\"; did you mean %s?", a->require.items[i], near ? near : names[0]);
    }
    return CLI_OK;
}

/* Other bits along an axis that nobody required are a fact, no failure. */
static const char *word_of(const cli_parity *a, const lb_invariance *v) {
    if (v->verdict == LB_FAIL && v->compared && !is_required(a, v->axis)) return "differs";
    return lb_verdict_name(v->verdict);
}

static void print_axis(const cli_parity *a, const lb_invariance *v) {
    if (a->output.json)
        print_json(json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:s, s:s}", "op", v->op, "on", v->on, "axis", v->axis, "what",
                             v->what, "verdict", lb_verdict_name(v->verdict), "result", word_of(a, v), "ulp", number(v->ulp), "differ",
                             (json_int_t)v->differ, "compared", (json_int_t)v->compared, "case", v->text, "reason", v->reason));
    else
        printf("%-8s %-18s %-12s %-8s %s (%s)\n", word_of(a, v), v->op, v->on, v->axis, v->reason, v->text);
}

/* The first axis that breaks, of an operator on a device: kept until the next one begins. */
typedef struct first_break {
    char op[64], on[256], axis[16];
    double ulp;
    bool any;
} first_break;

static void print_first(const cli_parity *a, const first_break *f) {
    if (a->output.json || !f->op[0]) return;
    if (f->any)
        printf("first    %-18s %-12s %s, %g ULP\n", f->op, f->on, f->axis, f->ulp);
    else
        printf("first    %-18s %-12s none\n", f->op, f->on);
}

static void follow(const cli_parity *a, first_break *f, const lb_invariance *v) {
    if (strcmp(f->op, v->op) != 0 || strcmp(f->on, v->on) != 0) {
        print_first(a, f);
        *f = (first_break){.any = false};
        snprintf(f->op, sizeof f->op, "%s", v->op);
        snprintf(f->on, sizeof f->on, "%s", v->on);
    }
    if (v->verdict != LB_FAIL || f->any) return;
    f->any = true;
    f->ulp = v->ulp;
    snprintf(f->axis, sizeof f->axis, "%s", v->axis);
}

int cli_parity_invariance(const cli_parity *a, const lb_parity_options *o) {
    lb_invariance_run *run;
    lb_invariance v;
    lb_error err = {0};
    first_break first = {.any = false};
    size_t seen[LB_VERDICT_COUNT] = {0};
    bool more = true;
    if (check_axes(a) != CLI_OK) return CLI_USAGE;
    if (lb_invariance_open(&run, o, &err) != LB_OK) return cli_error(&err);
    for (;;) {
        if (lb_invariance_next(run, &v, &more, &err) != LB_OK) {
            lb_invariance_close(run);
            return cli_error(&err);
        }
        if (!more) break;
        follow(a, &first, &v);
        print_axis(a, &v);
        const bool tolerated = v.verdict == LB_FAIL && v.compared && !is_required(a, v.axis);
        seen[tolerated ? LB_PASS : v.verdict]++;
    }
    print_first(a, &first);
    lb_invariance_close(run);
    return finish(code_of(seen));
}

/* ---- magnitudes ----------------------------------------------------------------------------------------------------------------- */

static void print_sweep(const cli_parity *a, const lb_sweep_row *r) {
    if (a->output.json) {
        print_json(json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "op", r->op, "on", r->on, "last_good", number(r->last_good),
                             "first_bad", number(r->first_bad), "largest", number(r->largest), "case", r->text, "reason", r->reason));
        return;
    }
    if (!isnan(r->first_bad))
        printf("leaves   %-18s %-12s at magnitude %g: %s (%s)\n", r->op, r->on, r->first_bad, r->reason, r->text);
    else if (!isnan(r->largest))
        printf("holds    %-18s %-12s to magnitude %g, the largest that can be judged\n", r->op, r->on, r->largest);
    else
        printf("SKIP     %-18s %-12s %s\n", r->op, r->on, r->reason);
}

int cli_parity_sweep(const cli_parity *a, const lb_parity_options *o) {
    lb_sweep *sweep;
    lb_sweep_row row;
    lb_error err = {0};
    size_t seen[LB_VERDICT_COUNT] = {0};
    bool more = true;
    if (lb_sweep_open(&sweep, o, &err) != LB_OK) return cli_error(&err);
    for (;;) {
        if (lb_sweep_next(sweep, &row, &more, &err) != LB_OK) {
            lb_sweep_close(sweep);
            return cli_error(&err);
        }
        if (!more) break;
        print_sweep(a, &row);
        seen[!isnan(row.first_bad) ? LB_FAIL : isnan(row.largest) ? LB_SKIP : LB_PASS]++;
    }
    lb_sweep_close(sweep);
    return finish(code_of(seen));
}

/* ---- the table of deviations ----------------------------------------------------------------------------------------------------- */

static json_t *text_of_number(double x) {
    char s[32];
    if (isnan(x)) return json_string("");
    snprintf(s, sizeof s, "%.3e", x);
    return json_string(x == 0 ? "0" : s);
}

static json_t *row_of(const lb_deviation *d) {
    char where[64] = "", margin[32] = "", wider[32] = "";
    if (d->limit > 0 && d->tolerance > 0) snprintf(wider, sizeof wider, "%.3g", d->tolerance / d->limit);
    if (d->verdict != LB_SKIP && d->max_abs > 0) snprintf(where, sizeof where, "%zu,%zu", d->row, d->col);
    if (d->verdict != LB_SKIP && d->max_abs > 0 && d->tolerance > 0) snprintf(margin, sizeof margin, "%.0f", d->margin);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s}", "operator", d->name, "case", d->text,
                     "on", d->on, "device", d->device, "limit", text_of_number(d->limit), "wider", wider, "made of", d->made_of,
                     "tolerance", d->tolerance == 0 ? json_string("exact") : json_sprintf("%g", d->tolerance), "document",
                     isnan(d->stated) ? json_string("") : json_sprintf("%.1e", d->stated), "observed",
                     d->verdict == LB_SKIP ? json_string("") : text_of_number(d->max_abs), "ulp",
                     d->verdict == LB_SKIP ? json_string("") : json_sprintf("%g", d->ulp), "at", where, "margin", margin, "cause", d->cause,
                     "verdict", lb_verdict_name(d->verdict));
}

static void print_deviation(const lb_deviation *d) {
    if (d->verdict == LB_SKIP)
        printf("SKIP %-34s %-18s %s\n", d->name, d->on, d->cause);
    else
        printf("%-4s %-34s %-18s %.3e (%g ULP at %zu,%zu) tolerance %g document %.1e: %s\n", lb_verdict_name(d->verdict), d->name, d->on,
               d->max_abs, d->ulp, d->row, d->col, d->tolerance, d->stated, d->cause);
}

int cli_parity_not_covered(void) {
    lb_not_covered row;
    json_t *rows = json_array();
    for (size_t i = 0; lb_parity_not_covered(i, &row); i++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "what", row.what, "which", row.which, "why", row.why));
    char *text = json_dumps(rows, JSON_INDENT(1));
    if (text) puts(text);
    free(text);
    json_decref(rows);
    return finish(CLI_OK);
}

int cli_parity_table(const cli_parity *a, const lb_parity_options *o) {
    lb_deviations *table;
    lb_deviation d;
    lb_error err = {0};
    size_t seen[LB_VERDICT_COUNT] = {0};
    json_t *rows = json_array();
    bool more = true;
    lb_status s = lb_deviations_open(&table, a->table, o, &err);
    while (s == LB_OK) {
        s = lb_deviations_next(table, &d, &more, &err);
        if (s != LB_OK || !more) break;
        seen[d.verdict]++;
        if (a->output.json)
            json_array_append_new(rows, row_of(&d));
        else
            print_deviation(&d);
    }
    if (s == LB_OK) lb_deviations_close(table);
    if (s == LB_OK && a->output.json) {
        char *text = json_dumps(rows, JSON_INDENT(1));
        if (text) puts(text);
        free(text);
    }
    json_decref(rows);
    return s == LB_OK ? finish(code_of(seen)) : cli_error(&err);
}
