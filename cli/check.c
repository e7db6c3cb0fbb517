/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit check: the main job. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct check_args {
    cli_judged judged;
    cli_output output;
    cli_power power;
    uint64_t sample, outliers;
    bool ledger;
    char *operands[3];
    int operand_count;
} check_args;

/* Without a unit nothing was said about which hardware and schedule it could have been; offer to ask. */
static void print_next(const check_args *a, const lb_check_options *o) {
    const cli_judged *j = &a->judged;
    const lb_format_id out = o->x.out ? o->x.out->id : LB_FORMAT_COUNT;
    if (!j->actual || j->unit || a->output.json || a->output.brief || (out != LB_F32 && out != LB_F16 && out != LB_BF16)) return;
    const struct {
        const char *name, *value;
    } said[] = {{"--in", j->formats.in},   {"--in-b", j->formats.in_b},   {"--acc", j->formats.acc},
                {"--out", j->formats.out}, {"--shape", j->formats.shape}, {"--dtype", j->formats.dtype}};
    const char *argv[24];
    int argc = 0;
    argv[argc++] = "fit-schedule";
    for (int i = 0; i < a->operand_count; i++) argv[argc++] = a->operands[i];
    argv[argc++] = j->actual;
    if (j->formats.tb) argv[argc++] = "--tb";
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (!said[i].value) continue;
        argv[argc++] = said[i].name;
        argv[argc++] = said[i].value;
    }
    char *line = cli_command_line(argc, (char *const *)(uintptr_t)argv); /* it reads only */
    if (line) printf("  next       %s: which units and schedules give these bits, if any\n", line);
    free(line);
}

/* A capsule says what to judge by; what is said beside it is how. */
static int run_capsule(const check_args *a, const char *line) {
    const cli_judged *j = &a->judged;
    const bool more = j->unit || j->contract || j->set.count || j->actual || a->sample || a->ledger || j->formats.in || j->formats.out ||
                      j->formats.shape || j->nan || j->reference;
    if (more)
        return cli_usage_error("check",
                               "a capsule says what to judge and by what rule; beside it go --on DEVICE, -- CMD, --timeout, --outliers");
    if (j->on && j->command) return cli_usage_error("check", "give one of --on DEVICE and -- CMD");
    const lb_check_options how = {
        .on = j->on, .argv = j->command, .timeout_seconds = j->timeout, .max_outliers = a->outliers, .progress = cli_progress};
    return cli_check_capsule(a->operands[0], &how, &a->output, line);
}

static int run_check(const check_args *a, const char *line) {
    lb_error err = {0};
    cli_judged_case c;
    lb_record *r = NULL;
    lb_status s = cli_open_judged(&c, &a->judged, (char **)a->operands, a->operand_count, &err);
    c.o.sample = a->sample;
    c.o.max_outliers = a->outliers;
    c.o.power = a->power.wanted;
    c.o.allow_blind = a->power.allow_blind.items;
    c.o.allow_blind_count = a->power.allow_blind.count;
    if (s == LB_OK) s = lb_check(&c.o, &r, &err);
    int code = s == LB_OK ? CLI_OK : cli_error(&err);
    if (s == LB_OK) {
        lb_record_text(&r->rerun, "%s", line);
        code = cli_emit(&a->output, &r, 1);
        if (a->ledger && code != CLI_USAGE && cli_ledger(&c.o, r, a->output.json, &err) != LB_OK) code = cli_error(&err);
        if (code != CLI_USAGE) print_next(a, &c.o);
    }
    lb_record_close(r);
    cli_close_judged(&c);
    return code;
}

static int run(const check_args *a, int count, const char *line) {
    if (count == 1) return run_capsule(a, line);
    if (count < 2 || count > 3) return cli_usage_error("check", "%d given; it takes A B, A B C or one capsule", count);
    if (!a->power.wanted && a->power.allow_blind.count)
        return cli_usage_error("check", "--allow-blind says what --power may miss; give --power");
    const int code = cli_refuse_judged("check", &a->judged, "what is to be judged");
    return code == CLI_OK ? run_check(a, line) : code;
}

int cli_check(int argc, char **argv) {
    check_args a = {.judged = {.timeout = 60, .seed = 1}, .outliers = 16};
    const cli_option options[] = {
        {"actual", 0, CLI_TEXT, &a.judged.actual, "D", "the output to judge: FILE or FILE:tensor"},
        {"on", 0, CLI_TEXT, &a.judged.on, "DEVICE", "run this device instead: opencl, kernel:FILE.json … (`lastbit backends`)"},
        CLI_RULE_OPTIONS(a.judged),
        {"sample", 0, CLI_COUNT, &a.sample, "N", "judge at most N rows and N columns: edges, then seeded draws"},
        {"seed", 0, CLI_COUNT, &a.judged.seed, "N", "of the sample (default 1)"},
        {"timeout", 0, CLI_SECONDS, &a.judged.timeout, "SECONDS", "for a device (default 60)"},
        {"outliers", 0, CLI_COUNT, &a.outliers, "N", "wrong elements to list (default 16)"},
        {"ledger", 0, CLI_FLAG, &a.ledger, NULL, "where the error of the first and the worst element comes from"},
        CLI_POWER_OPTIONS(a.power),
        CLI_OUTPUT_OPTIONS(a.output),
    };
    const cli_usage usage = {
        "lastbit check A B [C] (--actual D | --on DEVICE | -- CMD ARGS) [--unit UNIT] [--contract NAME] [options]\n"
        "       lastbit check CAPSULE [--on DEVICE | -- CMD ARGS]",
        "Judge D = A B + C. A is [m][k], B [k][n] (--tb: [n][k]), C and D [m][n], in npy, safetensors or raw files.\n"
        "With --unit the output is compared word for word with what that hardware gives. With --contract the reference is\n"
        "computed exactly and other bits inside the contract are legal. With both, each element is exact, legal or wrong.\n"
        "CAPSULE is what lastbit shrink writes: its output is judged again, or with --on what that device makes of its inputs.",
        options, sizeof options / sizeof options[0],
        "  lastbit check A.npy B.npy --actual D.npy --unit sm_80/mma.m16n8k16.f32.f16.f16.f32\n"
        "  lastbit check A.safetensors B.safetensors --tb --actual D.safetensors --in bf16 --out bf16 --contract m16-tc\n"
        "  lastbit check A.npy B.npy --in bf16 --out bf16 --contract m16-tc --on kernel:examples/gemm.json\n"
        "  lastbit check A.npy B.npy --in bf16 --contract m16-tc -- ./my_kernel"};
    bool stop = true;
    const int own = cli_find_command(argc, argv);
    char *line = cli_command_line(argc, argv), **args = malloc((size_t)(argc + 1) * sizeof *args); /* getopt permutes */
    int count, code = args && line ? cli_parse(&usage, own, argv, args, &count, &stop) : cli_usage_error("check", "no memory");
    if (own < argc - 1) a.judged.command = argv + own + 1;
    if (!stop) {
        a.operand_count = count;
        for (int i = 0; i < count && i < 3; i++) a.operands[i] = args[i];
        code = run(&a, count, line);
    }
    free(args);
    free(line);
    return code;
}
