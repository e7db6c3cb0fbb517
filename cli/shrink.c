/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit shrink, and lastbit check CAPSULE. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_SHOWN = 8 };

typedef struct shrink_args {
    cli_formats formats;
    cli_output output;
    cli_texts set;
    const char *actual, *on, *unit, *contract, *nan, *reference, *capsule;
    uint64_t seed, runs;
    double timeout, budget;
    char **command, **operands;
    int operand_count;
} shrink_args;

static void print_operand(const char *name, const lb_mat *m) {
    if (!m->codes) return;
    const size_t count = m->rows * m->cols;
    const int digits = (m->format->bits + 3) / 4;
    printf("  %-10s %zux%zu %s:", name, m->rows, m->cols, m->format->name);
    for (size_t i = 0; i < count && i < ELEMENTS_SHOWN; i++) {
        const uint64_t code = lb_mat_code(m, i / m->cols, i % m->cols);
        printf(" 0x%0*" PRIx64 "=%.9g", digits, code, lb_to_double(m->format, code));
    }
    printf("%s\n", count > ELEMENTS_SHOWN ? " …" : "");
}

static void print_shrunk(const lb_shrunk *s, const char *capsule) {
    const lb_case *x = &s->check.x;
    printf("  shrunk     %zux%zux%zu to %zux%zux%zu (m x n x k), failing alike (%s); %" PRIu64 " runs, %.1f s\n", s->from_m, s->from_n,
           s->from_k, lb_case_m(x), lb_case_n(x), lb_case_k(x), lb_failure_name(s->failure), s->runs, s->seconds);
    if (s->out_of_budget) puts("  budget     spent: --budget or --runs may make it smaller");
    if (s->kept[0]) printf("  kept       %s\n", s->kept);
    print_operand("a", &x->a);
    print_operand("b", &x->b);
    print_operand("c", &x->c);
    print_operand("observed", &s->observed);
    printf("  capsule    %s: lastbit check %s judges it again, with --on DEVICE or -- CMD on any device\n", capsule, capsule);
}

static lb_status write_and_print(const shrink_args *a, const lb_shrunk *s, char *line, int *code, lb_error *err) {
    char shrunk[160];
    const lb_case *x = &s->check.x;
    snprintf(shrunk, sizeof shrunk, "from %zux%zux%zu to %zux%zux%zu in %" PRIu64 " runs", s->from_m, s->from_n, s->from_k, lb_case_m(x),
             lb_case_n(x), lb_case_k(x), s->runs);
    const lb_capsule_notes notes = {.contract = a->contract, .command = line, .shrunk = shrunk};
    lb_record_text(&s->record->rerun, "lastbit check %s", a->capsule);
    lb_status status = lb_capsule_write(a->capsule, &s->check, s->record, &s->observed, &notes, err);
    if (status != LB_OK) return status;
    if (a->output.json) {
        char *text;
        status = lb_shrunk_to_json(s, a->capsule, &text, err);
        if (status != LB_OK) return status;
        puts(text);
        free(text);
        *code = lb_records_exit(&s->record->verdict, 1);
    } else {
        lb_record *r = s->record;
        *code = cli_emit(&a->output, &r, 1);
        print_shrunk(s, a->capsule);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) return lb_fail(err, LB_E_FILE, "standard output", "cannot be written");
    return LB_OK;
}

/* The output: loaded, or left to a device, whose format is then --out, the unit's, or A's. */
static lb_status load_actual(const shrink_args *a, lb_check_options *o, lb_operand *d, lb_error *err) {
    o->x.out = o->unit ? lb_format_row(o->unit->d) : o->x.a.format;
    if (!a->actual) return a->formats.out ? lb_format_get(a->formats.out, &o->x.out, err) : LB_OK;
    const lb_status s = cli_load_output(d, a->actual, &a->formats, &o->x, o->x.out, err);
    if (s != LB_OK) return s;
    o->actual = &d->mat;
    o->actual_name = a->actual;
    o->x.out = d->mat.format;
    return LB_OK;
}

static lb_status run_shrink(const shrink_args *a, char *line, int *code, lb_error *err) {
    static const char *const nans[] = {"bits", "class"}, *const references[] = {"auto", "f64", "exact"};
    lb_unit unit;
    lb_contract *contract = NULL;
    cli_operands operands = {0};
    lb_operand d = {0};
    lb_shrunk *small = NULL;
    size_t nan, reference;
    lb_check_options o = {.on = a->on, .argv = a->command, .seed = a->seed, .timeout_seconds = a->timeout, .progress = cli_progress};
    const lb_shrink_options how = {.check = &o, .seconds = a->budget, .runs = a->runs, .progress = cli_progress};
    lb_status s = cli_choose("--nan", a->nan, nans, 2, &nan, err);
    if (s == LB_OK) s = cli_choose("--reference", a->reference, references, 3, &reference, err);
    if (s == LB_OK && a->unit) s = cli_find_unit(a->unit, &a->set, &unit, err);
    if (s == LB_OK && a->contract) s = lb_contract_open(a->contract, &contract, err);
    o.unit = a->unit ? &unit : NULL;
    o.contract = contract;
    if (s == LB_OK) s = cli_load_operands(&operands, a->operands, a->operand_count, &a->formats, o.unit, err);
    if (s == LB_OK) {
        o.nan_by_class = nan == 1;
        o.reference = (lb_reference_mode)reference;
        o.x = operands.x;
        o.x.seed = a->seed;
        s = load_actual(a, &o, &d, err);
    }
    if (s == LB_OK) s = lb_shrink(&how, &small, err);
    if (s == LB_OK) s = write_and_print(a, small, line, code, err);
    lb_shrunk_close(small);
    lb_contract_close(contract);
    lb_operand_close(&d);
    cli_close_operands(&operands);
    return s;
}

static int check_call(const shrink_args *a, int count) {
    const int ways = (a->actual != NULL) + (a->on != NULL) + (a->command != NULL);
    if (count < 2 || count > 3) return cli_usage_error("shrink", "%d given; it takes A B or A B C", count);
    if (ways != 1) return cli_usage_error("shrink", "give one of --actual D, --on DEVICE, -- CMD: what fails");
    if (!a->unit && a->set.count) return cli_usage_error("shrink", "--set changes a unit; give --unit");
    if (!a->unit && !a->contract) return cli_usage_error("shrink", "give --unit, --contract or both: what to judge by");
    return CLI_OK;
}

/* Where the command of a device begins, or argc. */
static int find_command(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) return i;
    return argc;
}

int cli_shrink(int argc, char **argv) {
    shrink_args a = {.timeout = 60, .budget = 60, .runs = 2000, .seed = 1, .capsule = "capsule.safetensors"};
    const cli_option options[] = {
        {"actual", 0, CLI_TEXT, &a.actual, "D", "the wrong output; rows and columns alone can then be left out"},
        {"on", 0, CLI_TEXT, &a.on, "DEVICE", "the device that fails: opencl, kernel:FILE.json … (`lastbit backends`)"},
        {"unit", 0, CLI_TEXT, &a.unit, "UNIT", "compare with this unit's exact bits"},
        CLI_SET_OPTION(a.set),
        {"contract", 0, CLI_TEXT, &a.contract, "RULE", "what other bits are allowed: m16-tc, ulp:4, a file x.json"},
        CLI_FORMAT_OPTIONS(a.formats),
        {"reference", 0, CLI_TEXT, &a.reference, "HOW", "auto (exact where f64 does not decide), f64, exact"},
        {"nan", 0, CLI_TEXT, &a.nan, "HOW", "with --unit: bits (default), or class: any NaN equals any NaN"},
        {"timeout", 0, CLI_SECONDS, &a.timeout, "SECONDS", "of one run of a device (default 60)"},
        {"budget", 0, CLI_SECONDS, &a.budget, "SECONDS", "of the search (default 60)"},
        {"runs", 0, CLI_COUNT, &a.runs, "N", "of the search, at most (default 2000)"},
        {"seed", 0, CLI_COUNT, &a.seed, "N", "noted in the case (default 1)"},
        {"output", 'o', CLI_FILE, &a.capsule, "FILE", "the capsule to write (default capsule.safetensors)"},
        {"json", 0, CLI_FLAG, &a.output.json, NULL, "print one line of JSON, lastbit.shrink/1"},
        {"brief", 0, CLI_FLAG, &a.output.brief, NULL, "print the verdict, the reason and the first wrong element only"},
    };
    const cli_usage usage = {
        "lastbit shrink A B [C] (--actual D | --on DEVICE | -- CMD ARGS) [--unit UNIT] [--contract NAME] [-o CAPSULE]",
        "Make a failing check small: rows, columns and depth, then strides, then values towards 0 and 1, failing in the same\n"
        "way after each step. Operands and rules are those of lastbit check. What is left is written as a capsule, one file\n"
        "that `lastbit check CAPSULE` judges anywhere (docs/capsule.md). Exit 1: shrunk, and still failing.",
        options, sizeof options / sizeof options[0],
        "  lastbit shrink A.npy B.npy --in bf16 --contract m16-tc --on kernel:examples/gemm_lost_tail.json -o lost.safetensors\n"
        "  lastbit shrink A.npy B.npy --in bf16 --contract m16-tc -- ./my_kernel --lose-tail\n"
        "  lastbit check lost.safetensors --on kernel:examples/gemm.json"};
    char *line = cli_command_line(argc, argv), **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop = true;
    const int own = find_command(argc, argv);
    int count, code = args && line ? cli_parse(&usage, own, argv, args, &count, &stop) : cli_usage_error("shrink", "no memory");
    lb_error err = {0};
    if (own < argc - 1) a.command = argv + own + 1;
    if (!stop) code = check_call(&a, count);
    if (!stop && code == CLI_OK) {
        a.operands = args;
        a.operand_count = count;
        if (run_shrink(&a, line, &code, &err) != LB_OK) code = cli_error(&err);
    }
    free(args);
    free(line);
    return code;
}

/* ---- check CAPSULE ----------------------------------------------------------------------------------------------------- */

int cli_check_capsule(const char *path, const lb_check_options *how, const cli_output *output, const char *line) {
    lb_capsule *c = NULL;
    lb_record *r = NULL;
    lb_error err = {0};
    lb_status s = lb_capsule_open(&c, path, &err);
    if (s == LB_OK) s = lb_capsule_judge(c, how, &r, &err);
    if (s == LB_OK) lb_record_text(&r->rerun, "%s", line ? line : "");
    const int code = s == LB_OK ? cli_emit(output, &r, 1) : cli_error(&err);
    if (s == LB_OK && !output->json && !output->brief) {
        const char *const keys[] = {"failure", "shrunk", "on", "environment", "command"};
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            if (lb_capsule_text(c, keys[i])) printf("  %-10s %s%s\n", i ? "" : "capsule", i ? "" : "failed: ", lb_capsule_text(c, keys[i]));
    }
    lb_record_close(r);
    lb_capsule_close(c);
    return code;
}
