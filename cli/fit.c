/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit fit: which arithmetic explains a recording. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 4 }; /* lines of each kind in the text form */

static double share(uint64_t words, const lb_recording_fit *f) {
    return f->words ? 100.0 * (double)words / (double)f->words : 0;
}

/* Nothing about the sum shows: any block length, width and rounding gives every word. */
static bool is_vacuous(const lb_recording_fit *f) {
    return f->parameters[LB_CANDIDATE_terms].all && f->parameters[LB_CANDIDATE_frac_bits].all && f->parameters[LB_CANDIDATE_round].all;
}

static int verdict(const lb_recording_fit *f) {
    if (is_vacuous(f)) return CLI_UNPROVEN;
    return f->explain_count ? CLI_OK : CLI_FAIL;
}

/* ---- text ----------------------------------------------------------------------------------------------------------- */

static void print_candidate(const lb_candidate *c) {
    for (size_t i = 0; i < LB_CANDIDATE_PARAMETERS; i++) {
        char value[24];
        lb_candidate_value_text(i, lb_candidate_get(c, i), value);
        printf("%s%s=%s", i == 0 ? "" : i == LB_CANDIDATE_floor_exp ? "\n    " : " ", lb_candidate_name(i), value);
    }
    puts("");
}

/* Whether two candidates differ only in what shapes every result. */
static bool same_edges(const lb_candidate *x, const lb_candidate *y) {
    for (size_t i = LB_CANDIDATE_floor_exp; i < LB_CANDIDATE_PARAMETERS; i++)
        if (lb_candidate_get(x, i) != lb_candidate_get(y, i)) return false;
    return true;
}

static void print_parameter(const lb_recording_fit *f, size_t i) {
    const lb_fit_parameter *p = &f->parameters[i];
    char values[256] = "", value[24];
    for (size_t v = 0; v < p->count && strlen(values) < 200; v++) {
        lb_candidate_value_text(i, p->values[v], value);
        snprintf(values + strlen(values), sizeof values - strlen(values), "%s%s", v ? " " : "", value);
    }
    if (p->all) {
        printf("  %-14s any: %s\n", p->name, p->count > 1 ? values : "one was tried");
        return;
    }
    printf("  %-14s %s", p->name, values);
    if (p->has_next) {
        lb_candidate_value_text(i, p->next, value);
        printf("   (next %s: %.2f %%)", value, share(p->next_words, f));
    }
    puts("");
}

static void print_named(const char *label, const lb_fit_named *list, size_t count, const lb_recording_fit *f) {
    for (size_t i = 0; i < count; i++) printf("  %-14s %6.2f %%  %s\n", i ? "" : label, share(list[i].words, f), list[i].name);
}

static void print_fit(const lb_recording_fit *f) {
    printf("%s %s\n", f->path, f->unit);
    if (is_vacuous(f))
        printf("UNPROVEN: every arithmetic that was tried gives all %llu words; these inputs tell nothing apart\n",
               (unsigned long long)f->words);
    else
        printf("%zu of %llu candidates give all %llu words\n", f->explain_count, (unsigned long long)f->tried,
               (unsigned long long)f->words);
    size_t shown = 0;
    for (size_t i = 0; i < f->explain_count && shown < LISTED; i++) {
        if (!same_edges(&f->explain[i].candidate, &f->explain[0].candidate)) continue;
        print_candidate(&f->explain[i].candidate);
        shown++;
    }
    if (f->explain_count > shown) printf("… and %zu more, with other edges or widths (--json lists all)\n", f->explain_count - shown);
    for (size_t i = 0; f->explain_count && i < LB_CANDIDATE_PARAMETERS; i++) print_parameter(f, i);
    if (f->best_other.words) {
        printf("the best that does not: %.2f %%\n", share(f->best_other.words, f));
        print_candidate(&f->best_other.candidate);
    }
    puts("rows of `lastbit units` with these formats, and rules that people guess:");
    size_t whole = 0;
    while (whole < f->row_count && f->rows[whole].words == f->words) whole++;
    print_named("rows", f->rows, f->row_count < whole + LISTED ? f->row_count : whole + LISTED, f);
    print_named("rules", f->rules, f->rule_count, f);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

static json_t *value_json(size_t parameter, int value) {
    char text[24];
    lb_candidate_value_text(parameter, value, text);
    char *end;
    const long number = strtol(text, &end, 10);
    return *end ? json_string(text) : json_integer(number);
}

static json_t *candidate_json(const lb_candidate *c, uint64_t words) {
    json_t *o = json_object();
    for (size_t i = 0; i < LB_CANDIDATE_PARAMETERS; i++)
        json_object_set_new(o, lb_candidate_name(i), value_json(i, lb_candidate_get(c, i)));
    json_object_set_new(o, "words", json_integer((json_int_t)words));
    return o;
}

static json_t *named_json(const lb_fit_named *list, size_t count) {
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:I}", "name", list[i].name, "words", (json_int_t)list[i].words));
    return rows;
}

static json_t *parameters_json(const lb_recording_fit *f) {
    json_t *rows = json_array();
    for (size_t i = 0; i < LB_CANDIDATE_PARAMETERS; i++) {
        const lb_fit_parameter *p = &f->parameters[i];
        json_t *values = json_array();
        for (size_t v = 0; v < p->count; v++) json_array_append_new(values, value_json(i, p->values[v]));
        json_t *row = json_pack("{s:s, s:o, s:b}", "name", p->name, "values", values, "any", p->all);
        json_object_set_new(row, "next", p->has_next ? value_json(i, p->next) : json_null());
        json_object_set_new(row, "next_words", p->has_next ? json_integer((json_int_t)p->next_words) : json_null());
        json_array_append_new(rows, row);
    }
    return rows;
}

static void print_json(const lb_recording_fit *f) {
    json_t *explain = json_array();
    for (size_t i = 0; i < f->explain_count; i++) json_array_append_new(explain, candidate_json(&f->explain[i].candidate, f->words));
    json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "path", f->path, "unit", f->unit, "words", (json_int_t)f->words,
                          "tried", (json_int_t)f->tried, "vacuous", is_vacuous(f), "explain", explain, "parameters", parameters_json(f),
                          "rows", named_json(f->rows, f->row_count), "rules", named_json(f->rules, f->rule_count));
    json_object_set_new(o, "best_other", f->best_other.words ? candidate_json(&f->best_other.candidate, f->best_other.words) : json_null());
    char *text = o ? json_dumps(o, 0) : NULL;
    puts(text ? text : "{}");
    free(text);
    json_decref(o);
}

/* ---- the command ---------------------------------------------------------------------------------------------------- */

/* The run's exit code: 2 beats 1 beats 3 beats 0. */
static int worse(int a, int b) {
    static const int rank[] = {0, 2, 3, 1};
    return rank[a] > rank[b] ? a : b;
}

int cli_fit(int argc, char **argv) {
    bool json = false;
    const cli_option options[] = {{"json", 0, CLI_FLAG, &json, NULL, "print one JSON object a file"}};
    const cli_usage usage = {
        "lastbit fit FILE… [--json]",
        "Score arithmetics on a recording (dot/1) or an answered request: block length, fraction bits, cut, where c joins,\n"
        "rounding, and the edges that sources disagree about. Prints all that give every word, what each parameter may\n"
        "be, and the best that does not. Exit 0: something explains it; 1: nothing does; 3: everything does.",
        options, sizeof options / sizeof options[0], "  lastbit fit answered.safetensors"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop && count == 0) code = cli_usage_error("fit", "no file given");
    for (int i = 0; args && !stop && i < count; i++) {
        lb_recording_fit *f = NULL;
        lb_error err = {0};
        const lb_status s = lb_fit_recording(args[i], cli_progress, NULL, &f, &err);
        cli_progress(NULL, "fit", 1);
        if (s != LB_OK) {
            code = worse(code, cli_error(&err));
            continue;
        }
        code = worse(code, verdict(f));
        if (json)
            print_json(f);
        else
            print_fit(f);
        lb_recording_fit_close(f);
    }
    free(args);
    return code;
}
