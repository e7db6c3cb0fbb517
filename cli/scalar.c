/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit scalar: the table of operations. lastbit eval: one of them. */
#include "cli.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *words(const lb_word *w, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_string(lb_word_name(w[i])));
    return list;
}

static json_t *row_of(const lb_scalar_op *op) {
    json_t *row = json_pack("{s:s, s:s, s:s}", "name", op->name, "ptx", op->ptx, "class", lb_scalar_class_name(op->cls));
    json_object_set_new(row, "in", words(op->in, op->ins));
    json_object_set_new(row, "out", words(op->out, op->outs));
    json_object_set_new(row, "warp", json_boolean(op->warp));
    json_object_set_new(row, "target", json_string(op->target));
    json_object_set_new(row, "bound", json_string(op->bound));
    json_object_set_new(row, "evidence", json_string(lb_evidence_name(op->evidence)));
    json_object_set_new(row, "source", json_string(op->source));
    json_object_set_new(row, "open", json_string(op->open));
    return row;
}

static void print_row(const lb_scalar_op *op) {
    char in[128] = "";
    for (int i = 0; i < op->ins; i++) snprintf(in + strlen(in), sizeof in - strlen(in), "%s%s", i ? "," : "", lb_word_name(op->in[i]));
    printf("%-34s %-2s %-7s %s ->", op->name, lb_scalar_class_name(op->cls), op->target, in);
    for (int i = 0; i < op->outs; i++) printf("%s%s", i ? "," : " ", lb_word_name(op->out[i]));
    printf("%s%s%s\n", op->warp ? "  a warp" : "", *op->bound ? "  within " : "", op->bound);
}

int cli_scalar(int argc, char **argv) {
    bool json = false, stop;
    const cli_option options[] = {{"json", 0, CLI_FLAG, &json, NULL, "one JSON array"}};
    const cli_usage usage = {"lastbit scalar [PART] [--json]",
                             "List the operations, each by the name of its recording: class, least target, inputs and outputs.\n"
                             "E exact by definition, D exact by the document, E* correctly rounded by a sequence, A approximate\n"
                             "(graded by its bound), H a matrix unit.",
                             options, sizeof options / sizeof options[0], "  lastbit scalar cvt_\n  lastbit scalar --json"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    const lb_scalar_op *op;
    size_t listed = 0;
    if (args && !stop && count > 1) {
        code = cli_usage_error("scalar", "%d given; it takes part of a name", count);
    } else if (args && !stop) {
        json_t *rows = json_array();
        for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
            if (count && !strstr(op->name, args[0])) continue;
            listed++;
            if (json)
                json_array_append_new(rows, row_of(op));
            else
                print_row(op);
        }
        if (json) {
            json_dumpf(rows, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
            puts("");
        } else if (listed) {
            printf("%zu operations\n", listed);
        }
        json_decref(rows);
        if (!listed) code = cli_usage_error("scalar", "no operation has \"%s\" in its name", args[0]);
    }
    free(args);
    return code;
}

/* ---- eval ------------------------------------------------------------------------------------------------------------------ */

/* A word in hex (0x…), or a decimal integer. errors: what is no number, or has more bits than the operand */
static lb_status read_word(const char *text, lb_word w, uint64_t *out, lb_error *err) {
    char *end;
    const bool negative = text[0] == '-', hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    const unsigned long long n = strtoull(text, &end, hex ? 16 : 10);
    const int bits = lb_word_bits(w);
    if (end == text || *end || errno) return lb_fail(err, LB_E_ARG, text, "is no word: 0x and hexadecimal digits, or a decimal integer");
    const bool fits = bits == 64 || (negative ? 0 - n <= 1ULL << (bits - 1) : n >> bits == 0);
    if (!fits) return lb_fail(err, LB_E_ARG, text, "does not fit in the %d bits of %s", bits, lb_word_name(w));
    *out = bits == 64 ? n : n & ((1ULL << bits) - 1);
    return LB_OK;
}

static lb_status eval(const lb_scalar_op *op, char **args, int count, bool json, lb_error *err) {
    uint64_t in[LB_WARP_LANES * LB_SCALAR_MAX_IN], out[LB_WARP_LANES * LB_SCALAR_MAX_OUT];
    const int lanes = op->warp ? LB_WARP_LANES : 1;
    if (count != op->ins && !(op->warp && count == lanes * op->ins))
        return lb_fail(err, LB_E_ARG, op->name, "%d words given; it takes %d%s", count, op->ins,
                       op->warp ? " for all 32 lanes, or 32 times as many, lane after lane" : "");
    for (int i = 0; i < lanes * op->ins; i++) {
        const lb_status s = read_word(args[i % count], op->in[i % op->ins], &in[i], err);
        if (s != LB_OK) return s;
    }
    const lb_status s = lb_scalar_eval_rows(op, (size_t)lanes, in, out, err);
    if (s != LB_OK) return s;
    for (int lane = 0; lane < lanes; lane++)
        for (int o = 0; o < op->outs; o++) {
            char text[128];
            lb_scalar_text(op->out[o], out[lane * op->outs + o], text, sizeof text);
            if (json)
                printf("{\"op\": \"%s\", \"lane\": %d, \"out\": %d, \"word\": \"%.*s\"}\n", op->name, lane, o, (int)strcspn(text, " "),
                       text);
            else
                printf("%s%s", o ? "  " : "", text);
            if (!json && o + 1 == op->outs) puts("");
        }
    if (*op->bound) fprintf(stderr, "approximate: the true value; the bound is %s\n", op->bound);
    return LB_OK;
}

int cli_eval(int argc, char **argv) {
    bool json = false, stop;
    const cli_option options[] = {{"json", 0, CLI_FLAG, &json, NULL, "a line of JSON an output"}};
    const cli_usage usage = {
        "lastbit eval OP WORD…",
        "One operation: its name or PTX spelling, and its input words (0x and hexadecimal digits, or decimal integers; negative\n"
        "ones behind --).\n"
        "Prints the output words and their values. An operation of a warp prints a line a lane.",
        options, sizeof options / sizeof options[0],
        "  lastbit eval fma.rz.f32 0x3f80000b 0x3f80000b 0xbf800000\n  lastbit eval cvt_rn_bf16x2_f32 0x3f800000 0x40000000"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    const lb_scalar_op *op;
    lb_error err = {0};
    if (args && !stop) {
        if (!count)
            code = cli_usage_error("eval", "no operation given; `lastbit scalar` lists them");
        else if (lb_scalar_find(args[0], &op, &err) != LB_OK || eval(op, args + 1, count - 1, json, &err) != LB_OK)
            code = cli_error(&err);
    }
    free(args);
    return code;
}
