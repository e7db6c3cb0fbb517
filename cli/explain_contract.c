/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit explain-contract: what makes one element's limit, with numbers. */
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct explain_args {
    cli_formats formats;
    const char *at;
    uint64_t k;
    bool json;
} explain_args;

/* All that is said of one element. */
typedef struct explained {
    size_t row, col;
    lb_limit_input in;
    lb_limit limit;
    char *rule;
} explained;

static lb_status parse_place(const char *text, const lb_case *x, explained *e, lb_error *err) {
    char *end;
    e->row = *text >= '0' && *text <= '9' ? (size_t)strtoull(text, &end, 10) : SIZE_MAX;
    if (e->row == SIZE_MAX || *end != ',' || end[1] < '0' || end[1] > '9')
        return lb_fail(err, LB_E_ARG, "--at", "\"%s\" is no place; write ROW,COLUMN", text);
    e->col = (size_t)strtoull(end + 1, &end, 10);
    if (*end) return lb_fail(err, LB_E_ARG, "--at", "\"%s\" is no place; write ROW,COLUMN", text);
    if (e->row >= lb_case_m(x) || e->col >= lb_case_n(x))
        return lb_fail(err, LB_E_ARG, "--at", "%s is outside the %zux%zu output", text, lb_case_m(x), lb_case_n(x));
    return LB_OK;
}

static lb_status explain(const lb_contract *c, const explain_args *a, lb_case *x, explained *e, lb_error *err) {
    lb_status s = a->formats.out ? lb_format_get(a->formats.out, &x->out, err) : LB_OK;
    if (!a->formats.out) x->out = x->a.format;
    if (s == LB_OK) s = lb_case_check(x, err);
    if (s == LB_OK) s = parse_place(a->at, x, e, err);
    if (s == LB_OK) s = lb_contract_explain(x, c, (double)a->k, e->row, e->col, &e->in, &e->limit, err);
    return s == LB_OK ? lb_contract_rule(c, x->out, e->in.k, e->in.elements, &e->rule, err) : s;
}

/* ---- printing -------------------------------------------------------------------------------------------------------------- */

static void print_text(const lb_contract *c, const explained *e) {
    printf("contract   %s, %s [%s]: %s\n", c->name, lb_evidence_name(c->evidence), c->source, e->rule);
    printf("element    row %zu, column %zu: reference 0x%0*llx (%.9g) in %s\n", e->row, e->col, (e->in.format->bits + 3) / 4,
           (unsigned long long)e->in.reference, lb_to_double(e->in.format, e->in.reference), e->in.format->name);
    for (size_t i = 0; i < e->limit.term_count; i++) {
        const lb_limit_term *t = &e->limit.terms[i];
        printf("  %s %-14s %-13.7g %s\n", t->part ? "+" : " ", t->name, t->value, t->what);
    }
    if (isnan(e->limit.bound))
        printf("limit      none of this element: %s\n", e->limit.decided);
    else
        printf("limit      %.7g, decided by %s\n", e->limit.bound, e->limit.decided);
}

static json_t *number(double x) {
    return isnan(x) ? json_null() : isinf(x) ? json_string(x > 0 ? "Infinity" : "-Infinity") : json_real(x);
}

static void print_json(const lb_contract *c, const explained *e) {
    char code[32];
    json_t *terms = json_array();
    for (size_t i = 0; i < e->limit.term_count; i++) {
        const lb_limit_term *t = &e->limit.terms[i];
        json_array_append_new(
            terms, json_pack("{s:s, s:o, s:b, s:s}", "name", t->name, "value", number(t->value), "part", t->part, "what", t->what));
    }
    snprintf(code, sizeof code, "0x%0*llx", (e->in.format->bits + 3) / 4, (unsigned long long)e->in.reference);
    json_t *j = json_pack("{s:s, s:s, s:[I, I], s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "contract", c->name, "rule", e->rule, "at",
                          (json_int_t)e->row, (json_int_t)e->col, "format", e->in.format->name, "reference", code, "terms", terms,
                          "tolerance", number(e->limit.tolerance), "ulp_reach", number(e->limit.ulp_reach), "bound", number(e->limit.bound),
                          "decided", e->limit.decided);
    if (j) json_dumpf(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    puts("");
    json_decref(j);
}

static int run(const explain_args *a, char **args, int count) {
    lb_error err = {0};
    lb_contract *c = NULL;
    cli_operands operands = {0};
    explained e = {0};
    lb_status s = lb_contract_open(args[0], &c, &err);
    if (s == LB_OK) s = cli_load_operands(&operands, args + 1, count - 1, &a->formats, NULL, &err);
    if (s == LB_OK) s = explain(c, a, &operands.x, &e, &err);
    if (s == LB_OK) (a->json ? print_json : print_text)(c, &e);
    const int code = s == LB_OK ? CLI_OK : cli_error(&err);
    free(e.rule);
    cli_close_operands(&operands);
    lb_contract_close(c);
    return code;
}

int cli_explain_contract(int argc, char **argv) {
    explain_args a = {0};
    const cli_option options[] = {
        {"at", 0, CLI_TEXT, &a.at, "R,C", "row and column of the element (required)"},
        {"k", 'k', CLI_COUNT, &a.k, "N", "reduction depth that the kernel runs (default A's columns)"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "one JSON object"},
        CLI_FORMAT_OPTIONS(a.formats),
    };
    const cli_usage usage = {
        "lastbit explain-contract RULE A B [C] --at R,C [--k N] [options]",
        "What makes the limit of one element of D = A B + C under a contract: each term with its number; those marked +\n"
        "are parts of it, and the last line says which of them decided.",
        options, sizeof options / sizeof options[0],
        "  lastbit explain-contract gamma A.npy B.npy --in bf16 --at 3,17\n"
        "  lastbit explain-contract my-gemm.json A.safetensors B.safetensors --at 0,0 --json"};
    bool stop;
    int count;
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    if (!args) return cli_usage_error("explain-contract", "no memory");
    int code = cli_parse(&usage, argc, argv, args, &count, &stop);
    if (!stop) {
        if (count < 3 || count > 4)
            code = cli_usage_error("explain-contract", "%d given; it takes RULE A B or RULE A B C", count);
        else if (!a.at)
            code = cli_usage_error("explain-contract", "give --at ROW,COLUMN");
        else
            code = run(&a, args, count);
    }
    free(args);
    return code;
}
