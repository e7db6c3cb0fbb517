/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit decide: the smallest inputs that tell a unit from what it could be instead. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static int digits_of(lb_format_id id) {
    return (lb_format_row(id)->bits + 3) / 4;
}

static void print_code(const char *before, lb_format_id id, uint32_t code) {
    printf("%s0x%0*x=%g", before, digits_of(id), code, lb_to_double(lb_format_row(id), code));
}

static void print_question(const lb_decision *d, const lb_question *q) {
    const lb_unit *u = &d->unit;
    char row[24], other[24];
    lb_candidate_value_text(q->parameter, lb_candidate_get(&d->row, q->parameter), row);
    lb_candidate_value_text(q->parameter, lb_candidate_get(&q->other, q->parameter), other);
    printf("%s: %s, or %s\n", lb_candidate_name(q->parameter), row, other);
    if (!q->found) {
        puts("  no input was found that tells them apart");
        return;
    }
    for (size_t i = 0; i < u->k; i++) {
        if (!q->a[i] && !q->b[i]) continue;
        printf("  k=%-3zu", i);
        print_code(" a ", u->a, q->a[i]);
        print_code("  b ", u->b, q->b[i]);
        puts("");
    }
    print_code("  c ", u->c, q->c);
    print_code("\n  the row gives ", u->d, q->row_code);
    print_code(", the other ", u->d, q->other_code);
    puts("");
}

static json_t *code_json(uint32_t code, int digits) {
    char text[16];
    snprintf(text, sizeof text, "0x%0*x", digits, code);
    return json_string(text);
}

static json_t *codes_json(const uint32_t *codes, size_t count, int digits) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, code_json(codes[i], digits));
    return list;
}

static json_t *question_json(const lb_decision *d, const lb_question *q) {
    const lb_unit *u = &d->unit;
    char row[24], other[24];
    lb_candidate_value_text(q->parameter, lb_candidate_get(&d->row, q->parameter), row);
    lb_candidate_value_text(q->parameter, lb_candidate_get(&q->other, q->parameter), other);
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:b}", "parameter", lb_candidate_name(q->parameter), "row", row, "other", other, "found", q->found);
    if (!q->found) return o;
    json_object_set_new(o, "a", codes_json(q->a, u->k, digits_of(u->a)));
    json_object_set_new(o, "b", codes_json(q->b, u->k, digits_of(u->b)));
    json_object_set_new(o, "c", code_json(q->c, digits_of(u->c)));
    json_object_set_new(o, "row_gives", code_json(q->row_code, digits_of(u->d)));
    json_object_set_new(o, "other_gives", code_json(q->other_code, digits_of(u->d)));
    return o;
}

static void print_json(const lb_decision *d) {
    json_t *questions = json_array();
    for (size_t i = 0; i < d->count; i++) json_array_append_new(questions, question_json(d, &d->questions[i]));
    json_t *o = json_pack("{s:s, s:o}", "unit", d->unit.name, "questions", questions);
    char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    puts(text ? text : "{}");
    free(text);
    json_decref(o);
}

int cli_decide(int argc, char **argv) {
    bool json = false;
    uint64_t seed = 1, tries = 0;
    const char *output = NULL;
    const cli_option options[] = {
        {"output", 'o', CLI_FILE, &output, "FILE", "write them as a request (.safetensors) for `lastbit capture` on that GPU"},
        {"seed", 0, CLI_COUNT, &seed, "N", "of the search (default 1)"},
        {"tries", 0, CLI_COUNT, &tries, "N", "inputs tried a question (default 400000)"},
        {"json", 0, CLI_FLAG, &json, NULL, "print one JSON object"}};
    const cli_usage usage = {
        "lastbit decide UNIT [-o REQUEST] [options]",
        "For each way in which the unit's row could be otherwise (another width, cut, order, exponent floor, sign of zero,\n"
        "NaN …), the smallest input on which the two differ: what one run of the hardware would settle.",
        options, sizeof options / sizeof options[0], "  lastbit decide sm_90/mma.m16n8k16.f32.bf16.bf16.f32 -o ask.safetensors"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop && count != 1) {
        code = cli_usage_error("decide", "%d given; it takes one UNIT", count);
    } else if (args && !stop) {
        lb_unit unit;
        lb_decision *d = NULL;
        lb_error err = {0};
        lb_status s = lb_unit_find(args[0], &unit, &err);
        if (s == LB_OK) s = lb_decide(&unit, seed, tries, &d, &err);
        if (s == LB_OK && output) s = lb_decision_write(d, output, &err);
        if (s != LB_OK)
            code = cli_error(&err);
        else if (json)
            print_json(d);
        else
            for (size_t i = 0; i < d->count; i++) print_question(d, &d->questions[i]);
        lb_decision_close(d);
    }
    free(args);
    return code;
}
