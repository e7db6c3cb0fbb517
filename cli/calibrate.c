/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit calibrate: floor against drift against the weakest fault. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTHS = 16, ROWS_SHOWN = 64 };

typedef struct calibrate_args {
    cli_texts set;
    const char *depths, *case_name, *against, *shape, *out, *schedule, *seed;
    const char *margin, *rate, *elements;
    bool json, rows, list;
} calibrate_args;

static void print_list(void) {
    puts("orders:");
    for (size_t i = 0; lb_sum_order_row(i); i++)
        printf("  %-16s %s [%s]\n", lb_sum_order_row(i)->name, lb_sum_order_row(i)->note, lb_sum_order_row(i)->source);
    puts("cases:");
    for (size_t i = 0; lb_calibration_case_row(i); i++) {
        const lb_calibration_case *c = lb_calibration_case_row(i);
        printf("  %-16s m=%zu n=%zu k=%zu against %s%s%s [%s]\n", c->name, c->m, c->n, c->k[0], c->against, c->recorded[0] ? "; " : "",
               c->recorded, c->source);
    }
    puts("faults:");
    for (size_t i = 0; lb_calibration_fault_name(i); i++)
        printf("  %-16s %s\n", lb_calibration_fault_name(i), lb_calibration_fault_what(i));
}

/* ---- the table --------------------------------------------------------------------------------------------------------- */

static void print_row(const char *label, const lb_calibration_figures *f) {
    printf("  %-10s %10.4g %10.4g %10.4g %8.4g %7.2f %9.3g %-12s %9.3g\n", label, f->row_rms, f->floor, f->drift_rms,
           f->drift_rms > 0 ? f->floor / f->drift_rms : INFINITY, f->worst_ratio, f->margin_needed, lb_calibration_fault_name(f->weakest),
           f->fault_ratio[f->weakest]);
}

static void print_depth(const lb_calibration *c, const lb_calibration_depth *d, bool rows) {
    char label[32];
    printf("k = %zu\n", d->k);
    printf("  %-10s %10s %10s %10s %8s %7s %9s %-12s %9s\n", "rows", "row rms", "floor", "drift rms", "/ drift", "worst", "margin",
           "weakest", "/ allowed");
    for (size_t i = 0; rows && i < c->m && i < ROWS_SHOWN; i++) {
        snprintf(label, sizeof label, "%zu", i);
        print_row(label, &d->rows[i]);
    }
    if (rows && c->m > ROWS_SHOWN) printf("  … %zu more\n", c->m - ROWS_SHOWN);
    for (size_t i = 0; i < d->block_count; i++) {
        snprintf(label, sizeof label, "0..%zu", d->blocks[i].rows - 1);
        print_row(label, &d->blocks[i]);
    }
    printf("  %-10s %10s %10s %10s %10s %10s %11s %10s\n", "M", "over ulp", "over floor", "over 2^-20", "max ulp", "sign flips", "rel rms",
           "max abs");
    for (size_t i = 0; i < d->block_count; i++) {
        const lb_calibration_figures *f = &d->blocks[i];
        printf("  %-10zu %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10g %10" PRIu64 " %11.4e %10.4g\n", f->rows, f->over_ulp, f->over_floor,
               f->over_old, f->max_ulp, f->sign_flips, f->rel_rms, f->max_abs);
    }
}

static void print_margin(const lb_calibration *c, const lb_calibration_depth *d) {
    const lb_calibration_figures *f = &d->blocks[d->block_count - 1];
    const char *enough = !(f->margin_needed <= c->margin) ? "NOT ENOUGH" : "enough";
    if (isnan(f->margin_needed)) {
        printf("margin k=%zu: unknown: no value is small enough for the floor to decide about\n", d->k);
        return;
    }
    printf("margin k=%zu: %.3g needed, %g given: %s\n", d->k, f->margin_needed, c->margin, enough);
    if (f->tail == LB_TAIL_SEEN)
        printf("  no more than what was seen: the tail is heavier than any that a rate can be sized by;");
    else
        printf("  P(a correct run of %g elements fails) = %g, %s tail;", c->elements, c->false_alarm, lb_calibration_tail_name(f->tail));
    printf(" spread %.3g, the largest of %" PRIu64 " is %.2f deviations\n", f->spread, f->decided, f->largest);
}

static void print_text(const lb_calibration *c, bool rows) {
    printf("calibrate  %s against %s\n", c->what, c->against);
    if (c->named) printf("  case     %s%s%s\n", c->named->name, c->named->recorded[0] ? ": recorded " : "", c->named->recorded);
    printf("  operands m=%zu n=%zu %s, seed 0x%" PRIx64 "; out %s\n", c->m, c->n, c->in->name, c->seed, c->out->name);
    printf("  floor    %g x 2^-24 x sqrt(k) x row rms; worst: error / floor of those beyond 2 ulp; margin: what would be needed\n",
           c->margin);
    for (size_t i = 0; i < c->depth_count; i++) print_depth(c, &c->depths[i], rows);
    for (size_t i = 0; i < c->depth_count; i++) print_margin(c, &c->depths[i]);
    for (size_t i = 0; i < c->depth_count; i++) {
        const lb_calibration_figures *f = &c->depths[i].blocks[c->depths[i].block_count - 1];
        for (size_t j = 0; lb_calibration_fault_name(j); j++)
            if (f->fault_ratio[j] <= 1)
                printf("blind k=%zu: %s (%s): at most %.3g of what is allowed\n", c->depths[i].k, lb_calibration_fault_name(j),
                       lb_calibration_fault_what(j), f->fault_ratio[j]);
    }
}

/* ---- the call ---------------------------------------------------------------------------------------------------------- */

static lb_status read_depths(const char *text, size_t *k, size_t *count, lb_error *err) {
    *count = 0;
    for (const char *p = text; p && *p;) {
        char *end;
        const unsigned long long n = *p >= '0' && *p <= '9' ? strtoull(p, &end, 10) : 0;
        if (!n || (*end && *end != ',') || *count == MAX_DEPTHS)
            return lb_fail(err, LB_E_ARG, "-k", "\"%s\" is no list of depths; write 5120,16384 (at most %d)", text, MAX_DEPTHS);
        k[(*count)++] = (size_t)n;
        p = *end ? end + 1 : end;
    }
    return LB_OK;
}

static lb_status read_number(const char *option, const char *text, double least, double most, double *out, lb_error *err) {
    char *end;
    if (!text) return LB_OK;
    *out = strtod(text, &end);
    if (!*text || *end || !(*out > least && *out <= most))
        return lb_fail(err, LB_E_ARG, option, "\"%s\": a number above %g, up to %g", text, least, most);
    return LB_OK;
}

/* A unit's name has a slash or names a file; anything else is an order. */
static lb_status read_what(const calibrate_args *a, const char *what, lb_calibrate_options *o, lb_unit *unit, lb_schedule *schedule,
                           lb_error *err) {
    const bool is_unit = strchr(what, '/') || strncmp(what, "file:", 5) == 0;
    if (!is_unit && (a->set.count || a->schedule)) return lb_fail(err, LB_E_ARG, what, "--set and --schedule belong to a unit");
    if (!is_unit) {
        o->order = what;
        return LB_OK;
    }
    lb_status s = cli_find_unit(what, &a->set, unit, err);
    o->unit = unit;
    if (s == LB_OK && a->schedule) {
        s = lb_schedule_parse(a->schedule, schedule, err);
        o->schedule = schedule;
    }
    return s;
}

static lb_status read_shape(const char *text, lb_calibrate_options *o, lb_error *err) {
    size_t sizes[LB_MAX_RANK];
    int rank;
    if (!text) return LB_OK;
    const lb_status s = cli_parse_shape(text, sizes, &rank, err);
    if (s != LB_OK) return s;
    if (rank != 2 || !sizes[0] || !sizes[1]) return lb_fail(err, LB_E_ARG, "--shape", "\"%s\": write MxN, the depths are -k's", text);
    o->m = sizes[0];
    o->n = sizes[1];
    return LB_OK;
}

static lb_status calibrate(const calibrate_args *a, const char *what, lb_error *err) {
    lb_unit unit;
    lb_schedule schedule;
    size_t k[MAX_DEPTHS];
    char *end = NULL;
    lb_calibration *c = NULL;
    lb_calibrate_options o = {.k = k, .against = a->against, .case_name = a->case_name, .progress = cli_progress};
    lb_status s = read_depths(a->depths, k, &o.k_count, err);
    if (s == LB_OK) s = read_what(a, what, &o, &unit, &schedule, err);
    if (s == LB_OK) s = read_shape(a->shape, &o, err);
    if (s == LB_OK && a->out) s = lb_format_get(a->out, &o.out, err);
    if (s == LB_OK) s = read_number("--margin", a->margin, 0, 1e9, &o.margin, err);
    if (s == LB_OK) s = read_number("--false-alarm", a->rate, 0, 0.5, &o.false_alarm, err);
    if (s == LB_OK) s = read_number("--elements", a->elements, 0, 1e18, &o.elements, err);
    if (s == LB_OK && a->seed) {
        o.seed = strtoull(a->seed, &end, 0);
        o.has_seed = true;
        if (!*a->seed || *end) s = lb_fail(err, LB_E_ARG, "--seed", "\"%s\" is no whole number", a->seed);
    }
    if (s == LB_OK) s = lb_calibrate(&o, &c, err);
    if (s != LB_OK) return s;
    if (a->json) {
        char *text;
        s = lb_calibration_to_json(c, &text, err);
        if (s == LB_OK) puts(text);
        if (s == LB_OK) free(text);
    } else {
        print_text(c, a->rows);
    }
    lb_calibration_close(c);
    if (s == LB_OK && (fflush(stdout) != 0 || ferror(stdout))) s = lb_fail(err, LB_E_FILE, "standard output", "cannot be written");
    return s;
}

int cli_calibrate(int argc, char **argv) {
    calibrate_args a = {0};
    const cli_option options[] = {
        {"depths", 'k', CLI_TEXT, &a.depths, "K[,K…]", "reduction depths"},
        {"case", 0, CLI_TEXT, &a.case_name, "NAME", "shapes, seed and reference of a recorded case: lm-head, ffn …"},
        {"against", 0, CLI_TEXT, &a.against, "ORDER", "what it is measured against (default the case's, else f64)"},
        {"shape", 0, CLI_TEXT, &a.shape, "MxN", "of the output (default the case's, else 16x1024)"},
        CLI_SET_OPTION(a.set),
        {"schedule", 0, CLI_TEXT, &a.schedule, "S", "how the unit's kernel cuts K up: split-k=4, promote=128 … (docs/schedules.md)"},
        {"out", 0, CLI_TEXT, &a.out, "FORMAT", "bf16 (default), f16 or f32"},
        {"margin", 0, CLI_TEXT, &a.margin, "N", "of the floor that is looked at (default 8)"},
        {"false-alarm", 0, CLI_TEXT, &a.rate, "P", "of a correct run, that the needed margin is sized for (default 1e-6)"},
        {"elements", 0, CLI_TEXT, &a.elements, "N", "of such a run (default those measured)"},
        {"seed", 0, CLI_TEXT, &a.seed, "N", "of the operands (default the case's, else 0x0927167C2026)"},
        {"rows", 0, CLI_FLAG, &a.rows, NULL, "a line for each row too"},
        {"list", 0, CLI_FLAG, &a.list, NULL, "list orders, cases and faults"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "print one line of JSON, lastbit.calibration/1"},
    };
    const cli_usage usage = {
        "lastbit calibrate (UNIT | ORDER) (-k K[,K…] | --case NAME) [options]",
        "What a tolerance has to be: the drift of a unit or a reduction order on seeded operands, beside the floor that the\n"
        "tensor-core contract allows and the weakest fault that it must catch; and the margin that would be needed in place of 8.",
        options, sizeof options / sizeof options[0],
        "  lastbit calibrate sm_90/mma.m16n8k16.f32.bf16.bf16.f32 -k 4096,16384\n"
        "  lastbit calibrate sm_90/mma.m16n8k16.f32.bf16.bf16.f32 --case lm-head\n"
        "  lastbit calibrate mma-tree16 --case depths\n"
        "  lastbit calibrate split4 -k 4096 --against sequential --rows"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    lb_error err = {0};
    if (args && !stop) {
        if (a.list)
            print_list();
        else if (count != 1)
            code = cli_usage_error("calibrate", "%d given; it takes one UNIT or ORDER", count);
        else if (calibrate(&a, args[0], &err) != LB_OK)
            code = cli_error(&err);
    }
    free(args);
    return code;
}
