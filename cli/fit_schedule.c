/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit fit-schedule: which units and schedules give an output's bits exactly? */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fit_args {
    cli_formats formats;
    const char *schedule, *bias, *scale_a, *scale_b;
    uint64_t most, threads;
    bool json;
    lb_unit unit;
    bool has_unit;
    char **files; /* A B [C] D */
    int count;
} fit_args;

/* ---- what is printed ------------------------------------------------------------------------------------------------------- */

enum { SHOWN_ALIKE = 4, MANY = 20 };

static json_t *row_json(const lb_fit_row *r) {
    char text[LB_SCHEDULE_TEXT_SIZE];
    json_t *units = json_array();
    for (size_t i = 0; lb_unit_row(i); i++)
        if (lb_units_alike(&r->unit, lb_unit_row(i))) json_array_append_new(units, json_string(lb_unit_row(i)->name));
    lb_schedule_text(&r->schedule, text, sizeof text);
    json_t *row = json_pack("{s:s, s:o, s:s, s:I, s:I, s:b}", "unit", r->unit.name, "units", units, "schedule", text, "same",
                            (json_int_t)r->same, "compared", (json_int_t)r->compared, "any_order", r->any_order);
    if (r->any_order) json_object_set_new(row, "values", json_real(r->values));
    return row;
}

static void print_json(const lb_fit *f) {
    json_t *found = json_array();
    for (size_t i = 0; i < f->found_count; i++) json_array_append_new(found, row_json(&f->found[i]));
    json_t *all = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o}", "op", "fit-schedule", "verdict", lb_verdict_name(f->verdict),
                            "reason", f->reason, "tried", (json_int_t)f->tried, "elements", (json_int_t)f->elements, "found_total",
                            (json_int_t)f->found_total, "found", found, "best_other", f->has_best ? row_json(&f->best) : json_null());
    json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    puts("");
    json_decref(all);
}

/* The other units whose chains are those of this one. */
static void print_alike(const lb_fit_row *r) {
    size_t shown = 0;
    if (r->alike < 2) return;
    printf("             alike:");
    for (size_t i = 0; lb_unit_row(i) && shown < SHOWN_ALIKE; i++) {
        const lb_unit *u = lb_unit_row(i);
        if (!lb_units_alike(&r->unit, u) || strcmp(u->name, r->unit.name) == 0) continue;
        printf(" %s", u->name);
        shown++;
    }
    if (r->alike - 1 > shown) printf(" and %zu more", r->alike - 1 - shown);
    puts("");
}

/* The call that makes these bits, with all that was said of the operands. */
static void print_again(const fit_args *a, const char *unit, const char *schedule) {
    const struct {
        const char *name, *value;
    } said[] = {{"--schedule", schedule},  {"--bias", a->bias},           {"--scale-a", a->scale_a},
                {"--scale-b", a->scale_b}, {"--in", a->formats.in},       {"--in-b", a->formats.in_b},
                {"--acc", a->formats.acc}, {"--shape", a->formats.shape}, {"--dtype", a->formats.dtype}};
    union {
        const char *in;
        char *out;
    } word[32]; /* cli_command_line reads only */
    char *list[32];
    int count = 0;
    word[count++].in = "gemm";
    word[count++].in = unit;
    for (int i = 0; i + 1 < a->count; i++) word[count++].in = a->files[i];
    if (a->formats.tb) word[count++].in = "--tb";
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (!said[i].value) continue;
        word[count++].in = said[i].name;
        word[count++].in = said[i].value;
    }
    for (int i = 0; i < count; i++) list[i] = word[i].out;
    char *line = cli_command_line(count, list);
    if (line) printf("  again      %s\n", line);
    free(line);
}

static void print_text(const fit_args *a, const lb_fit *f, const lb_case *x, const lb_mat *d) {
    char text[LB_SCHEDULE_TEXT_SIZE];
    printf("%s op=fit-schedule in=%s out=%s m=%zu n=%zu k=%zu: compared=%llu tried=%llu found=%zu\n", lb_verdict_name(f->verdict),
           x->a.format->name, d->format->name, lb_case_m(x), lb_case_n(x), lb_case_k(x), (unsigned long long)f->elements,
           (unsigned long long)f->tried, f->found_total);
    printf("  reason     %s\n", f->reason);
    for (size_t i = 0; i < f->found_count && f->verdict == LB_PASS; i++) {
        lb_schedule_text(&f->found[i].schedule, text, sizeof text);
        printf("  %-10s %s  %s\n", i ? "or" : f->found_total > 1 ? "it may be" : "it is", f->found[i].unit.name, text);
        if (f->found[i].any_order)
            printf("             within any order of its parts: %.3g results an element on average; %s\n", f->found[i].values,
                   f->found[i].schedule.split > LB_MAX_ORDERED ? "one order for all is not looked for among so many parts"
                                                               : "no one order gives all");
        if (i == 0 || strcmp(f->found[i].unit.name, f->found[i - 1].unit.name) != 0) print_alike(&f->found[i]);
    }
    const bool says = f->verdict == LB_PASS;
    if (says && f->found_total > f->found_count) printf("             and %zu more: --most N\n", f->found_total - f->found_count);
    if (f->found_total > MANY)
        puts("  note       so many: the output rounds away what tells them apart; f32 out, a longer K or more elements tell more");
    if (f->has_best) {
        lb_schedule_text(&f->best.schedule, text, sizeof text);
        printf("  %-10s %s  %s: %llu of %llu elements (%.4g %%)\n", f->found_total ? "nearest" : "best", f->best.unit.name, text,
               (unsigned long long)f->best.same, (unsigned long long)f->best.compared,
               100 * (double)f->best.same / (double)f->best.compared);
    }
    if (!says) return;
    lb_schedule_text(&f->found[0].schedule, text, sizeof text);
    if (f->found[0].any_order)
        printf("  note       atomics: another run of the kernel may give other bits of the same set\n");
    else
        print_again(a, f->found[0].unit.name, text);
}

/* ---- the call -------------------------------------------------------------------------------------------------------------- */

/* The first argument is a unit where it is the name of one, or could be nothing else. */
static lb_status take_unit(fit_args *a, char **args, int count, lb_error *err) {
    const lb_status s = lb_unit_find(args[0], &a->unit, err);
    a->has_unit = s == LB_OK;
    a->files = args + a->has_unit;
    a->count = count - a->has_unit;
    if (s == LB_OK) return LB_OK;
    const bool is_file = access(args[0], F_OK) == 0 || !strchr(args[0], '/');
    return count == 5 || (!is_file && strstr(args[0], ".m")) ? s : LB_OK;
}

static lb_status fit(fit_args *a, lb_fit *f, cli_operands *o, lb_operand *d, lb_error *err) {
    lb_schedule base = {0};
    lb_operand bias_file = {0};
    cli_scales scales = {0};
    lb_mat bias;
    const lb_unit *unit = a->has_unit ? &a->unit : NULL;
    lb_status s = a->schedule ? lb_schedule_parse(a->schedule, &base, err) : LB_OK;
    if (s == LB_OK) s = cli_load_operands(o, a->files, a->count - 1, &a->formats, unit, err);
    if (s == LB_OK) s = cli_load_output(d, a->files[a->count - 1], &a->formats, &o->x, unit ? lb_format_row(unit->d) : NULL, err);
    if (s == LB_OK && a->bias) {
        s = lb_operand_open(&bias_file, a->bias, NULL, NULL, err);
        if (s == LB_OK) s = cli_spread_bias(a->bias, &bias_file.mat, &bias, d->mat.rows, d->mat.cols, err);
        base.bias = &bias;
    }
    if (s == LB_OK) s = cli_load_scales(&scales, a->scale_a, a->scale_b, &a->formats, &o->x, &base, err);
    if (s == LB_OK) {
        const lb_mat b = lb_case_b(&o->x);
        const lb_gemm_options gemm = {.threads = (int)(a->threads < 4096 ? a->threads : 4096)};
        const lb_fit_options options = {.unit = unit, .base = &base, .max_found = a->most, .gemm = &gemm, .progress = cli_progress};
        s = lb_fit_schedule(&o->x.a, &b, o->x.c.codes ? &o->x.c : NULL, &d->mat, &options, f, err);
    }
    lb_operand_close(&bias_file);
    cli_close_scales(&scales);
    return s;
}

static int run_fit(fit_args *a) {
    lb_error err = {0};
    lb_fit f = {0};
    cli_operands o = {0};
    lb_operand d = {0};
    int code = CLI_USAGE;
    if (fit(a, &f, &o, &d, &err) == LB_OK) {
        if (a->json)
            print_json(&f);
        else
            print_text(a, &f, &o.x, &d.mat);
        code = lb_records_exit(&f.verdict, 1);
    } else {
        code = cli_error(&err);
    }
    lb_fit_close(&f);
    lb_operand_close(&d);
    cli_close_operands(&o);
    return code;
}

int cli_fit_schedule(int argc, char **argv) {
    fit_args a = {.most = 16};
    const cli_option options[] = {
        CLI_FORMAT_OPTIONS(a.formats),
        {"schedule", 0, CLI_TEXT, &a.schedule, "S", "what is known of it (alpha=0.5,act=relu …); the rest is searched"},
        {"bias", 0, CLI_TEXT, &a.bias, "FILE", "added behind the sum over K: one number a column of D (or a row: [m][1])"},
        {"scale-a", 0, CLI_TEXT, &a.scale_a, "F", "scales of A's rows and of blocks of K, [m][k/128]; of rows alone: [m][1]"},
        {"scale-b", 0, CLI_TEXT, &a.scale_b, "F", "scales of B, [k/128][n/128], and scale-block=1xN for N columns; --tb: [n/128][k/128]"},
        {"most", 0, CLI_COUNT, &a.most, "N", "candidates to print (default 16)"},
        {"threads", 0, CLI_COUNT, &a.threads, "N", "the answer does not depend on it (default every core)"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "print one JSON object"},
    };
    const cli_usage usage = {
        "lastbit fit-schedule [UNIT] A B [C] ACTUAL [options]",
        "Name every unit and schedule that gives ACTUAL's bits, all of them: the instruction, the order of K, split-K and how its parts\n"
        "are added, stream-K, promotion, rounding of parts and output; where no order is fixed, atomics. docs/schedules.md lists it.\n"
        "exit: 0 found   1 nothing tried gives these bits   2 the call or a file is wrong   3 the inputs cannot tell",
        options, sizeof options / sizeof options[0],
        "  lastbit fit-schedule A.npy B.npy D.npy\n"
        "  lastbit fit-schedule sm_90/mma.m16n8k16.f32.bf16.bf16.f32 A.safetensors B.safetensors D.safetensors --tb"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    lb_error err = {0};
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop) {
        if (count < 3 || count > 5)
            code = cli_usage_error("fit-schedule", "%d given; it takes [UNIT] A B [C] ACTUAL", count);
        else if (take_unit(&a, args, count, &err) != LB_OK)
            code = cli_error(&err);
        else if (a.count < 3 || a.count > 4)
            code = cli_usage_error("fit-schedule", "%d given; it takes A B ACTUAL or A B C ACTUAL", a.count);
        else
            code = run_fit(&a);
    }
    free(args);
    return code;
}
