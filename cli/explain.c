/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit explain: how one element of D comes about. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct explain_args {
    cli_formats formats;
    cli_extras extras;
    cli_texts set;
    const char *at, *steps;
    bool json;
} explain_args;

/* Two whole numbers with `between` between them. */
static lb_status read_two(const char *option, const char *text, const char *between, const char *like, size_t *first, size_t *second,
                          lb_error *err) {
    char *end;
    const size_t length = strlen(between);
    const bool begins = *text >= '0' && *text <= '9';
    const unsigned long long x = begins ? strtoull(text, &end, 10) : 0;
    const char *rest = begins && strncmp(end, between, length) == 0 ? end + length : "";
    const bool goes_on = *rest >= '0' && *rest <= '9';
    const unsigned long long y = goes_on ? strtoull(rest, &end, 10) : 0;
    if (!goes_on || *end) return lb_fail(err, LB_E_ARG, option, "\"%s\" is no %s", text, like);
    *first = (size_t)x;
    *second = (size_t)y;
    return LB_OK;
}

static lb_status print(const explain_args *a, const lb_explanation *e, lb_error *err) {
    char *text;
    lb_explain_steps steps = {0};
    lb_status s = a->steps ? read_two("--steps", a->steps, "..", "range; write 0..3", &steps.first, &steps.last, err) : LB_OK;
    if (s == LB_OK && a->steps && (steps.first > steps.last || steps.first >= e->steps))
        s = lb_fail(err, LB_E_ARG, "--steps", "no steps %s: there are %zu, from 0", a->steps, e->steps);
    if (s == LB_OK)
        s = a->json ? lb_report_explanation_json(e, &text, err) : lb_report_explanation(e, a->steps ? &steps : NULL, &text, err);
    if (s != LB_OK) return s;
    printf("%s%s", text, a->json ? "\n" : "");
    free(text);
    return fflush(stdout) == 0 && !ferror(stdout) ? LB_OK : lb_fail(err, LB_E_FILE, "standard output", "cannot be written");
}

static lb_status explain(const explain_args *a, char **args, int count, lb_error *err) {
    lb_unit unit;
    cli_operands o = {0};
    cli_extra_operands e = {0};
    lb_explanation told = {0};
    size_t row = 0, col = 0;
    lb_status s = cli_find_unit(args[0], &a->set, &unit, err);
    if (s == LB_OK && a->at) s = read_two("--at", a->at, ",", "place; write 3,17", &row, &col, err);
    if (s == LB_OK) s = cli_load_operands(&o, args + 1, count - 1, &a->formats, &unit, err);
    if (s == LB_OK) s = cli_load_extras(&e, &a->extras, &a->formats, &o, &unit, err);
    if (s == LB_OK) {
        const lb_mat b = lb_case_b(&o.x);
        s = lb_explain(&unit, &o.x.a, &b, o.x.c.codes ? &o.x.c : NULL, &e.with, row, col, &told, err);
    }
    if (s == LB_OK) s = print(a, &told, err);
    lb_explain_free(&told);
    cli_close_extras(&e);
    cli_close_operands(&o);
    return s;
}

int cli_explain(int argc, char **argv) {
    explain_args a = {0};
    const cli_option options[] = {
        {"at", 0, CLI_TEXT, &a.at, "R,C", "the element, from 0 (default 0,0)"},
        {"steps", 0, CLI_TEXT, &a.steps, "A..B", "K steps to show, from 0 (default the first two and the last)"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "everything, as one JSON object (docs/explain.md)"},
        CLI_SET_OPTION(a.set),
        CLI_EXTRA_OPTIONS(a.extras),
        CLI_FORMAT_OPTIONS(a.formats),
    };
    const cli_usage usage = {
        "lastbit explain UNIT A B [C] --at R,C [options]",
        "One element of D = A B + C, operation by operation: exact products and their exponents, which is the largest,\n"
        "what alignment keeps and cuts, the sum, its rounding; then D beside the correctly rounded answer.",
        options, sizeof options / sizeof options[0],
        "  lastbit explain sm_80/mma.m16n8k16.f32.f16.f16.f32 A.npy B.npy --at 3,17\n"
        "  lastbit explain sm_80/mma.m16n8k16.f32.f16.f16.f32 A.npy B.npy --at 3,17 --set floor_exp=-126"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    lb_error err = {0};
    if (args && !stop) {
        if (count < 3 || count > 4)
            code = cli_usage_error(argv[0], "%d given; it takes UNIT A B or UNIT A B C", count);
        else if (explain(&a, args, count, &err) != LB_OK)
            code = cli_error(&err);
    }
    free(args);
    return code;
}
