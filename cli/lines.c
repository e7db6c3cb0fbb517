/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit gen | any program | lastbit judge; and gen matmul, which draws operands into files. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct gen_args {
    uint64_t seed, count;
    const char *in, *in_b, *shape, *dist, *output, *kind;
    bool tb;
} gen_args;

enum { DOT_LINES = 1000, OP_LINES = LB_OP_ROWS };

/* As many lines as were asked for, or else the suite's own number. */
static uint64_t lines_of(const char *suite, uint64_t asked) {
    return asked != UINT64_MAX ? asked : strncmp(suite, "op:", 3) == 0 ? OP_LINES : DOT_LINES;
}

static lb_status gen_lines(const char *suite, const gen_args *a, lb_error *err) {
    char text[8192];
    for (uint64_t i = 0, count = lines_of(suite, a->count); i < count; i++) {
        lb_status s = lb_gen_line(suite, a->seed, i, text, sizeof text, err);
        if (s != LB_OK) return s;
        puts(text);
    }
    return fflush(stdout) == 0 ? LB_OK : lb_fail(err, LB_E_FILE, "standard output", "cannot be written");
}

static lb_status dist_of(const char *name, lb_dist *out, lb_error *err) {
    static const char *const names[] = {
#define X(id, text, help) text,
        LB_DIST_LIST(X)
#undef X
    };
    for (size_t i = 0; i < LB_DIST_COUNT; i++) {
        *out = (lb_dist)i;
        if (strcmp(name, names[i]) == 0) return LB_OK;
    }
    const char *near = lb_nearest_name(name, names, LB_DIST_COUNT);
    return lb_fail(err, LB_E_ARG, "--dist", "\"%s\" is not known; did you mean %s?", name, near ? near : "normal");
}

static lb_status gen_operand(const gen_args *a, const char *name, const lb_format *f, lb_dist dist, uint32_t stream, size_t rows,
                             size_t cols, lb_error *err) {
    char path[4200];
    void *codes = calloc(rows * cols + 1, (size_t)f->bytes);
    if (!codes) return lb_fail(err, LB_E_MEMORY, name, "no memory for %zux%zu", rows, cols);
    lb_mat m = lb_mat_of(f, codes, rows, cols);
    lb_draw_mat(&m, dist, a->seed, stream);
    snprintf(path, sizeof path, "%s/%s.%s", a->output, name, a->kind);
    lb_status s = lb_mat_write(path, name, &m, err);
    if (s == LB_OK) printf("%s  %s [%zu][%zu]  dist=%s seed=%llu\n", path, f->name, rows, cols, a->dist, (unsigned long long)a->seed);
    free(codes);
    return s;
}

static lb_status gen_matmul(const gen_args *a, lb_error *err) {
    size_t mnk[LB_MAX_RANK];
    int rank;
    lb_dist dist;
    const lb_format *in = NULL, *in_b = NULL;
    if (!a->output || !a->in || !a->shape) return lb_fail(err, LB_E_ARG, "gen matmul", "give --in FORMAT, --shape MxNxK and -o FOLDER");
    lb_status s = cli_parse_shape(a->shape, mnk, &rank, err);
    if (s == LB_OK && rank != 3) s = lb_fail(err, LB_E_ARG, "--shape", "\"%s\": a product has three sizes, MxNxK", a->shape);
    if (s == LB_OK) s = dist_of(a->dist, &dist, err);
    if (s == LB_OK) s = lb_format_get(a->in, &in, err);
    if (s == LB_OK) s = lb_format_get(a->in_b ? a->in_b : a->in, &in_b, err);
    if (s == LB_OK && mkdir(a->output, 0777) != 0 && errno != EEXIST) s = lb_fail(err, LB_E_FILE, a->output, "%s", strerror(errno));
    if (s == LB_OK) s = gen_operand(a, "A", in, dist, 1, mnk[0], mnk[2], err);
    if (s == LB_OK) s = gen_operand(a, "B", in_b, dist, 2, a->tb ? mnk[1] : mnk[2], a->tb ? mnk[2] : mnk[1], err);
    return s;
}

static int gen_operations(const gen_args *a) {
    lb_error err = {0};
    if (!a->output) return cli_usage_error("gen", "give -o FILE: where the request goes");
    return lb_operations_request(a->output, NULL, a->seed, &err) == LB_OK ? (printf("%s\n", a->output), CLI_OK) : cli_error(&err);
}

int cli_gen(int argc, char **argv) {
    gen_args a = {.seed = 1, .count = UINT64_MAX, .dist = "normal", .kind = "safetensors"};
    const cli_option options[] = {
        {"seed", 0, CLI_COUNT, &a.seed, "N", "the same seed draws the same on every machine (default 1)"},
        {"count", 0, CLI_COUNT, &a.count, "N", "lines of a suite (default 1000; of op:NAME 1024)"},
        {"in", 0, CLI_TEXT, &a.in, "FORMAT", "matmul: format of A (and B)"},
        {"in-b", 0, CLI_TEXT, &a.in_b, "FORMAT", "matmul: format of B where it differs"},
        {"shape", 0, CLI_TEXT, &a.shape, "MxNxK", "matmul: sizes"},
        {"tb", 0, CLI_FLAG, &a.tb, NULL, "matmul: store B as [n][k]"},
        {"dist", 0, CLI_TEXT, &a.dist, "NAME", "matmul: uniform, normal (default), integer, wide, bits, special"},
        {"as", 0, CLI_TEXT, &a.kind, "KIND", "matmul: safetensors (default) or npy"},
        {"output", 'o', CLI_TEXT, &a.output, "PATH", "matmul: folder where A and B go; ops: file"},
    };
    const cli_usage usage = {
        "lastbit gen dot:UNIT|op:NAME [--count N] [--seed N]\n       lastbit gen ops -o FILE\n       lastbit gen matmul --in FORMAT "
        "--shape MxNxK -o FOLDER",
        "dot:UNIT prints lines of hex, a[0..k) b[0..k) c, for any program to answer; `lastbit judge` judges the answers.\n"
        "op:NAME prints the input words of a scalar operation, a line a lane; of a warp's operation by 32. ops writes the inputs\n"
        "and the PTX of all operations as a recording without outputs. matmul draws the operands A and B of a product.",
        options, sizeof options / sizeof options[0],
        "  lastbit gen dot:sm_80/mma.m16n8k8.f32.f16.f16.f32 | ./my_emulator | lastbit judge dot:sm_80/mma.m16n8k8.f32.f16.f16.f32\n"
        "  lastbit gen matmul --in bf16 --shape 64x48x100 -o case"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    lb_error err = {0};
    if (args && !stop) {
        if (count != 1)
            code = cli_usage_error("gen", "%d given; it takes dot:UNIT, op:NAME, ops or matmul", count);
        else if (strcmp(args[0], "ops") == 0)
            code = gen_operations(&a);
        else if ((strcmp(args[0], "matmul") == 0 ? gen_matmul(&a, &err) : gen_lines(args[0], &a, &err)) != LB_OK)
            code = cli_error(&err);
    }
    free(args);
    return code;
}

static lb_status judge_stream(lb_judge *j, FILE *in, lb_error *err) {
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    lb_status s = LB_OK;
    while (s == LB_OK && (length = getline(&line, &size, in)) >= 0) s = lb_judge_line(j, line, (size_t)length, err);
    free(line);
    return s;
}

static int judge(const char *suite, const char *path, uint64_t seed, uint64_t lines, const cli_output *output) {
    lb_error err = {0};
    lb_judge *j = NULL;
    lb_record *r = NULL;
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    lb_status s = in ? lb_judge_open(&j, suite, seed, lines, &err) : lb_fail(&err, LB_E_FILE, path, "%s", strerror(errno));
    if (s == LB_OK) {
        s = judge_stream(j, in, &err);
        lb_error unused;
        const lb_status closed = lb_judge_close(j, &r, s == LB_OK ? &err : &unused);
        if (s == LB_OK) s = closed;
    }
    if (in && in != stdin) fclose(in);
    if (s == LB_OK)
        lb_record_text(&r->rerun, "lastbit judge %s --seed %llu --count %llu", suite, (unsigned long long)seed, (unsigned long long)lines);
    const int code = s == LB_OK ? cli_emit(output, &r, 1) : cli_error(&err);
    lb_record_close(r);
    return code;
}

int cli_judge(int argc, char **argv) {
    uint64_t seed = 1, lines = UINT64_MAX;
    cli_output output = {0};
    const cli_option options[] = {
        {"seed", 0, CLI_COUNT, &seed, "N", "as given to gen (default 1)"},
        {"count", 0, CLI_COUNT, &lines, "N", "as given to gen (default 1000; of op:NAME 1024)"},
        CLI_OUTPUT_OPTIONS(output),
    };
    const cli_usage usage = {
        "lastbit judge dot:UNIT|op:NAME [FILE|-] [--count N] [--seed N]",
        "Judge answers to `lastbit gen` of the same suite, seed and count: one line each, in order, the output words last;\n"
        "the words before them, if any, must repeat the inputs. Blank lines and lines that begin with # are passed over.",
        options, sizeof options / sizeof options[0], NULL};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop)
        code = count < 1 || count > 2 ? cli_usage_error("judge", "%d given; it takes dot:UNIT or op:NAME, and maybe a FILE", count)
                                      : judge(args[0], count > 1 ? args[1] : "-", seed, lines_of(args[0], lines), &output);
    free(args);
    return code;
}
