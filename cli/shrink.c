/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit shrink, and lastbit check CAPSULE. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_SHOWN = 8 };

typedef struct shrink_args {
    cli_judged judged;
    cli_output output;
    const char *capsule;
    uint64_t runs;
    double budget;
    char **operands;
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
    const lb_capsule_notes notes = {.contract = a->judged.contract, .command = line, .shrunk = shrunk};
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
    return LB_OK;
}

static lb_status run_shrink(const shrink_args *a, char *line, int *code, lb_error *err) {
    cli_judged_case c;
    lb_shrunk *small = NULL;
    const lb_shrink_options how = {.check = &c.o, .seconds = a->budget, .runs = a->runs, .progress = cli_progress};
    lb_status s = cli_open_judged(&c, &a->judged, a->operands, a->operand_count, err);
    if (s == LB_OK) s = lb_shrink(&how, &small, err);
    if (s == LB_OK) s = write_and_print(a, small, line, code, err);
    lb_shrunk_close(small);
    cli_close_judged(&c);
    return s;
}

int cli_shrink(int argc, char **argv) {
    shrink_args a = {.judged = {.timeout = 60, .seed = 1}, .budget = 60, .runs = 2000, .capsule = "capsule.safetensors"};
    const cli_option options[] = {
        {"actual", 0, CLI_TEXT, &a.judged.actual, "D", "the wrong output; rows and columns alone can then be left out"},
        {"on", 0, CLI_TEXT, &a.judged.on, "DEVICE", "the device that fails: opencl, kernel:FILE.json … (`lastbit backends`)"},
        CLI_RULE_OPTIONS(a.judged),
        {"timeout", 0, CLI_SECONDS, &a.judged.timeout, "SECONDS", "of one run of a device (default 60)"},
        {"budget", 0, CLI_SECONDS, &a.budget, "SECONDS", "of the search (default 60)"},
        {"runs", 0, CLI_COUNT, &a.runs, "N", "of the search, at most (default 2000)"},
        {"seed", 0, CLI_COUNT, &a.judged.seed, "N", "noted in the case (default 1)"},
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
    const int own = cli_find_command(argc, argv);
    int count, code = args && line ? cli_parse(&usage, own, argv, args, &count, &stop) : cli_usage_error("shrink", "no memory");
    lb_error err = {0};
    if (own < argc - 1) a.judged.command = argv + own + 1;
    if (!stop && (count < 2 || count > 3)) code = cli_usage_error("shrink", "%d given; it takes A B or A B C", count);
    if (!stop && code == CLI_OK) code = cli_refuse_judged("shrink", &a.judged, "what fails");
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
