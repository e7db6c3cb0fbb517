/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit gemm, lastbit mma: what the hardware would give. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gemm_args {
    cli_formats formats;
    cli_extras extras;
    cli_texts set;
    const char *output, *schedule, *bias, *kernel;
    uint64_t threads;
    bool tile; /* mma: the instruction's own shape */
} gemm_args;

/* D rounded once, to nearest even, to another format. */
static lb_status round_to(const lb_format *format, const lb_mat *d, void **owned, lb_mat *out, lb_error *err) {
    *owned = calloc(d->rows * d->cols + 1, (size_t)format->bytes);
    if (!*owned) return lb_fail(err, LB_E_MEMORY, "D", "no memory for %zux%zu", d->rows, d->cols);
    *out = lb_mat_of(format, *owned, d->rows, d->cols);
    lb_mat_round(d, out);
    return LB_OK;
}

/* A line a row: codes in hex, values behind them. */
static void print_matrix(const lb_mat *d) {
    const int digits = (d->format->bits + 3) / 4, significant = d->format->bits > 32 ? 17 : d->format->special == LB_SPECIAL_INT ? 10 : 9;
    for (size_t r = 0; r < d->rows; r++) {
        for (size_t c = 0; c < d->cols; c++) {
            const uint64_t code = lb_mat_code(d, r, c);
            printf("%s%0*llx=%.*g", c ? " " : "", digits, (unsigned long long)code, significant, lb_to_double(d->format, code));
        }
        puts("");
    }
}

static bool scaled(const gemm_args *a) {
    return a->extras.scale_a || a->extras.scale_b;
}

/* One tile, or a product with the scales and metadata of units that take them. */
static lb_status with_extras(const gemm_args *a, const lb_unit *unit, const cli_operands *o, const lb_gemm_options *options, lb_mat *d,
                             lb_error *err) {
    const lb_mat b = lb_case_b(&o->x), *c = o->x.c.codes ? &o->x.c : NULL;
    cli_extra_operands e;
    if (a->schedule || a->bias)
        return lb_fail(err, LB_E_ARG, unit->name, "a schedule takes units of A, B and C alone: no metadata, no scales of the unit's own");
    lb_status s = cli_load_extras(&e, &a->extras, &a->formats, o, unit, err);
    if (s != LB_OK) return s;
    s = a->tile ? lb_unit_mma_with(unit, &o->x.a, &b, c, &e.with, d, err) : lb_gemm_with(unit, &o->x.a, &b, c, &e.with, d, options, err);
    cli_close_extras(&e);
    return s;
}

static lb_status product(const gemm_args *a, const lb_unit *u, const lb_schedule *schedule, const cli_operands *o, lb_mat *d,
                         lb_error *err) {
    const lb_mat b = lb_case_b(&o->x), *c = o->x.c.codes ? &o->x.c : NULL;
    const lb_gemm_options options = {.kernel = a->kernel, .threads = (int)(a->threads < 4096 ? a->threads : 4096)};
    if (a->extras.metadata || (scaled(a) && u->scale_block)) return with_extras(a, u, o, &options, d, err);
    if (a->tile && scaled(a)) return lb_fail(err, LB_E_ARG, u->name, "this instruction takes no scales");
    if (a->tile) return lb_unit_mma(u, &o->x.a, &b, c, d, err);
    if (!a->schedule && !a->bias && !scaled(a)) return lb_gemm(u, &o->x.a, &b, c, d, &options, err);
    return lb_gemm_scheduled(u, schedule, &o->x.a, &b, c, d, &options, err);
}

/* --out beside a schedule is the schedule's own rounding. */
static lb_status read_schedule(const gemm_args *a, lb_schedule *out, lb_error *err) {
    *out = (lb_schedule){0};
    lb_status s = a->schedule ? lb_schedule_parse(a->schedule, out, err) : LB_OK;
    if (s == LB_OK && (a->schedule || a->bias || scaled(a)) && a->formats.out && !out->out)
        s = lb_format_get(a->formats.out, &out->out, err);
    return s;
}

static lb_status multiply(const gemm_args *a, char **args, int count, lb_error *err) {
    lb_unit unit;
    lb_schedule schedule;
    cli_operands o = {0};
    lb_operand bias_file = {0};
    cli_scales scales = {0};
    lb_mat bias = {0};
    void *codes = NULL, *rounded = NULL;
    lb_status s = cli_find_unit(args[0], &a->set, &unit, err);
    if (s == LB_OK) s = read_schedule(a, &schedule, err);
    if (s == LB_OK) s = cli_load_operands(&o, args + 1, count - 1, &a->formats, &unit, err);
    const lb_format *out = s != LB_OK ? NULL : schedule.out ? schedule.out : lb_format_row(unit.d);
    if (s == LB_OK) {
        o.x.out = out;
        if (!unit.sparse_group) s = lb_case_check(&o.x, err); /* a compressed A has half of the columns */
    }
    if (s == LB_OK) {
        codes = calloc(lb_case_m(&o.x) * lb_case_n(&o.x) + 1, (size_t)out->bytes);
        if (!codes) s = lb_fail(err, LB_E_MEMORY, "D", "no memory for %zux%zu", lb_case_m(&o.x), lb_case_n(&o.x));
    }
    lb_mat d = {0};
    if (s == LB_OK && a->bias) {
        s = lb_operand_open(&bias_file, a->bias, NULL, NULL, err);
        if (s == LB_OK) s = cli_spread_bias(a->bias, &bias_file.mat, &bias, lb_case_m(&o.x), lb_case_n(&o.x), err);
        schedule.bias = &bias;
    }
    if (s == LB_OK && !unit.scale_block && !a->tile)
        s = cli_load_scales(&scales, a->extras.scale_a, a->extras.scale_b, &a->formats, &o.x, &schedule, err);
    if (s == LB_OK) {
        d = lb_mat_of(out, codes, lb_case_m(&o.x), lb_case_n(&o.x));
        s = product(a, &unit, &schedule, &o, &d, err);
    }
    if (s == LB_OK && a->formats.out) {
        s = lb_format_get(a->formats.out, &out, err);
        const lb_mat own = d;
        if (s == LB_OK && out != own.format) s = round_to(out, &own, &rounded, &d, err);
    }
    if (s == LB_OK && a->output)
        s = lb_mat_write(a->output, "d", &d, err);
    else if (s == LB_OK)
        print_matrix(&d);
    free(codes);
    free(rounded);
    lb_operand_close(&bias_file);
    cli_close_scales(&scales);
    cli_close_operands(&o);
    return s;
}

static int run(int argc, char **argv, bool tile) {
    gemm_args a = {.tile = tile};
    enum { OF_GEMM_ALONE = 4 }; /* the last ones */
    const cli_option options[] = {
        {"output", 'o', CLI_FILE, &a.output, "D", "file to write, .npy or .safetensors (default print hex=value)"},
        CLI_SET_OPTION(a.set),
        CLI_EXTRA_OPTIONS(a.extras),
        CLI_FORMAT_OPTIONS(a.formats),
        {"schedule", 0, CLI_TEXT, &a.schedule, "S", "how K is cut up and added: a name of `lastbit schedules`, or split-k=4,out=bf16 …"},
        {"bias", 0, CLI_TEXT, &a.bias, "FILE", "added behind the sum over K: one number a column of D (or a row: [m][1])"},
        {"threads", 0, CLI_COUNT, &a.threads, "N", "the bits do not depend on it (default every core)"},
        {"kernel", 0, CLI_TEXT, &a.kernel, "NAME", "the fast path to take; nor on it (default the fastest)"}};
    const cli_usage usage = {
        tile ? "lastbit mma UNIT A B [C] [-o D] [options]" : "lastbit gemm UNIT A B [C] [-o D] [options]",
        tile ? "D = A B + C of one tile, bit for bit as the instruction computes it; shapes are the instruction's own."
             : "D = A B + C of any shape, bit for bit as a kernel that runs the instruction's K steps in order,\n"
               "or as one of another schedule (docs/schedules.md).",
        options, sizeof options / sizeof options[0] - (tile ? OF_GEMM_ALONE : 0),
        tile ? "  lastbit mma sm_80/mma.m16n8k16.f32.f16.f16.f32 A.npy B.npy -o D.npy"
             : "  lastbit gemm sm_80/mma.m16n8k16.f32.f16.f16.f32 A.npy B.npy -o D.npy\n"
               "  lastbit gemm sm_90/mma.m16n8k16.f32.bf16.bf16.f32 A.npy B.npy --schedule split-k=4,out=bf16 -o D.npy\n"
               "  lastbit gemm sm_90/wgmma.m64n8k32.f32.e4m3.e4m3 A.npy B.npy --scale-a SA.npy --scale-b SB.npy --schedule "
               "deepgemm-fp8-1d2d"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    lb_error err = {0};
    if (args && !stop) {
        if (count < 3 || count > 4)
            code = cli_usage_error(argv[0], "%d given; it takes UNIT A B or UNIT A B C", count);
        else if (multiply(&a, args, count, &err) != LB_OK)
            code = cli_error(&err);
    }
    free(args);
    return code;
}

int cli_gemm(int argc, char **argv) {
    return run(argc, argv, false);
}

int cli_mma(int argc, char **argv) {
    return run(argc, argv, true);
}
