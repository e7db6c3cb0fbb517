/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit check: the main job. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_args {
    cli_formats formats;
    cli_output output;
    cli_texts set;
    cli_power power;
    const char *actual, *on, *unit, *contract, *nan, *reference;
    uint64_t sample, seed, outliers;
    double timeout;
    bool ledger;
    char **command; /* behind --, NULL-terminated, or NULL */
    char *operands[8];
    int operand_count;
} check_args;

lb_status cli_choose(const char *option, const char *said, const char *const *names, size_t count, size_t *out, lb_error *err) {
    *out = 0;
    if (!said) return LB_OK;
    for (size_t i = 0; i < count; i++) {
        *out = i;
        if (strcmp(said, names[i]) == 0) return LB_OK;
    }
    const char *near = lb_nearest_name(said, names, count);
    return lb_fail(err, LB_E_ARG, option, "\"%s\" is not known; did you mean %s?", said, near ? near : names[0]);
}

static lb_status read_choices(const check_args *a, lb_check_options *o, lb_unit *unit, lb_contract **contract, lb_error *err) {
    static const char *const nans[] = {"bits", "class"}, *const references[] = {"auto", "f64", "exact"};
    size_t nan, reference;
    lb_status s = cli_choose("--nan", a->nan, nans, 2, &nan, err);
    if (s == LB_OK) s = cli_choose("--reference", a->reference, references, 3, &reference, err);
    if (s == LB_OK && a->unit) s = cli_find_unit(a->unit, &a->set, unit, err);
    if (s == LB_OK && a->contract) s = lb_contract_open(a->contract, contract, err);
    if (s != LB_OK) return s;
    o->unit = a->unit ? unit : NULL;
    o->contract = *contract;
    o->nan_by_class = nan == 1;
    o->reference = (lb_reference_mode)reference;
    return LB_OK;
}

/* The output: loaded, or left to a device, whose format is then --out, the unit's, or A's. */
static lb_status load_actual(const check_args *a, lb_check_options *o, lb_operand *d, char *name, size_t name_size, lb_error *err) {
    const lb_format *fallback = o->unit ? lb_format_row(o->unit->d) : o->x.a.format;
    o->x.out = fallback;
    if (!a->actual) return a->formats.out ? lb_format_get(a->formats.out, &o->x.out, err) : LB_OK;
    lb_status s = cli_load_output(d, a->actual, &a->formats, &o->x, fallback, err);
    if (s != LB_OK) return s;
    snprintf(name, name_size, "file:%s", a->actual);
    o->actual = &d->mat;
    o->actual_name = name;
    o->x.out = d->mat.format;
    return LB_OK;
}

/* Without a unit nothing was said about which hardware and schedule it could have been; offer to ask. */
static void print_next(const check_args *a, const lb_check_options *o) {
    const lb_format_id out = o->x.out ? o->x.out->id : LB_FORMAT_COUNT;
    if (!a->actual || a->unit || a->output.json || a->output.brief || (out != LB_F32 && out != LB_F16 && out != LB_BF16)) return;
    const struct {
        const char *name, *value;
    } said[] = {{"--in", a->formats.in},   {"--in-b", a->formats.in_b},   {"--acc", a->formats.acc},
                {"--out", a->formats.out}, {"--shape", a->formats.shape}, {"--dtype", a->formats.dtype}};
    union {
        const char *in;
        char *out;
    } argv[24]; /* cli_command_line reads only */
    int argc = 0;
    argv[argc++].in = "fit-schedule";
    for (int i = 0; i < a->operand_count; i++) argv[argc++].in = a->operands[i];
    argv[argc++].in = a->actual;
    if (a->formats.tb) argv[argc++].in = "--tb";
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (!said[i].value) continue;
        argv[argc++].in = said[i].name;
        argv[argc++].in = said[i].value;
    }
    char *list[24];
    for (int i = 0; i < argc; i++) list[i] = argv[i].out;
    char *line = cli_command_line(argc, list);
    if (line) printf("  next       %s: which units and schedules give these bits, if any\n", line);
    free(line);
}

/* A capsule says what to judge by; what is said beside it is how. */
static int run_capsule(const check_args *a, int argc, char **argv) {
    const bool more = a->unit || a->contract || a->set.count || a->actual || a->sample || a->ledger || a->formats.in || a->formats.out ||
                      a->formats.shape || a->nan || a->reference;
    if (more)
        return cli_usage_error("check",
                               "a capsule says what to judge and by what rule; beside it go --on DEVICE, -- CMD, --timeout, --outliers");
    if (a->on && a->command) return cli_usage_error("check", "give one of --on DEVICE and -- CMD");
    const lb_check_options how = {
        .on = a->on, .argv = a->command, .timeout_seconds = a->timeout, .max_outliers = a->outliers, .progress = cli_progress};
    char *line = cli_command_line(argc, argv);
    const int code = cli_check_capsule(a->operands[0], &how, &a->output, line);
    free(line);
    return code;
}

static int run_check(const check_args *a, int argc, char **argv) {
    lb_error err = {0};
    lb_unit unit;
    lb_contract *contract = NULL;
    cli_operands operands = {0};
    lb_operand d = {0};
    lb_record *r = NULL;
    char name[4200];
    lb_check_options o = {.on = a->on,
                          .argv = a->command,
                          .sample = a->sample,
                          .seed = a->seed,
                          .timeout_seconds = a->timeout,
                          .max_outliers = a->outliers,
                          .progress = cli_progress,
                          .power = a->power.wanted,
                          .allow_blind = a->power.allow_blind.items,
                          .allow_blind_count = a->power.allow_blind.count};
    lb_status s = read_choices(a, &o, &unit, &contract, &err);
    if (s == LB_OK) s = cli_load_operands(&operands, (char **)a->operands, a->operand_count, &a->formats, o.unit, &err);
    if (s == LB_OK) {
        o.x = operands.x;
        o.x.seed = a->seed;
        s = load_actual(a, &o, &d, name, sizeof name, &err);
    }
    if (s == LB_OK) s = lb_check(&o, &r, &err);
    int code = CLI_USAGE;
    if (s == LB_OK) {
        char *line = cli_command_line(argc, argv);
        if (line) lb_record_text(&r->rerun, "%s", line);
        free(line);
        code = cli_emit(&a->output, &r, 1);
        if (a->ledger && code != CLI_USAGE && cli_ledger(&o, r, a->output.json, &err) != LB_OK) code = cli_error(&err);
        if (code != CLI_USAGE) print_next(a, &o);
    } else {
        code = cli_error(&err);
    }
    lb_record_close(r);
    lb_contract_close(contract);
    lb_operand_close(&d);
    cli_close_operands(&operands);
    return code;
}

int cli_check(int argc, char **argv) {
    check_args a = {.outliers = 16, .timeout = 60, .seed = 1};
    const cli_option options[] = {
        {"actual", 0, CLI_TEXT, &a.actual, "D", "the output to judge: FILE or FILE:tensor"},
        {"on", 0, CLI_TEXT, &a.on, "DEVICE", "run this device instead: opencl, kernel:FILE.json … (`lastbit backends`)"},
        {"unit", 0, CLI_TEXT, &a.unit, "UNIT", "compare with this unit's exact bits"},
        CLI_SET_OPTION(a.set),
        {"contract", 0, CLI_TEXT, &a.contract, "RULE", "what other bits are allowed: m16-tc, ulp:4, a file x.json"},
        CLI_FORMAT_OPTIONS(a.formats),
        {"sample", 0, CLI_COUNT, &a.sample, "N", "judge at most N rows and N columns: edges, then seeded draws"},
        {"seed", 0, CLI_COUNT, &a.seed, "N", "of the sample (default 1)"},
        {"reference", 0, CLI_TEXT, &a.reference, "HOW", "auto (exact where f64 does not decide), f64, exact"},
        {"nan", 0, CLI_TEXT, &a.nan, "HOW", "with --unit: bits (default), or class: any NaN equals any NaN"},
        {"timeout", 0, CLI_SECONDS, &a.timeout, "SECONDS", "for a device (default 60)"},
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
    bool stop;
    int own = argc;
    for (int i = 0; i < argc && own == argc; i++)
        if (strcmp(argv[i], "--") == 0) own = i;
    char **args = malloc((size_t)(argc + 1) * sizeof *args), **whole = malloc((size_t)(argc + 1) * sizeof *whole);
    if (!args || !whole) {
        free(args);
        free(whole);
        return cli_usage_error("check", "no memory");
    }
    memcpy(whole, argv, (size_t)argc * sizeof *whole); /* getopt permutes */
    if (own < argc - 1) a.command = argv + own + 1;
    int count, code = cli_parse(&usage, own, argv, args, &count, &stop);
    if (!stop) {
        const int ways = (a.actual != NULL) + (a.on != NULL) + (a.command != NULL);
        a.operand_count = count;
        a.operands[0] = count ? args[0] : NULL;
        if (count == 1)
            code = run_capsule(&a, argc, whole);
        else if (count < 2 || count > 3)
            code = cli_usage_error("check", "%d given; it takes A B, A B C or one capsule", count);
        else if (ways != 1)
            code = cli_usage_error("check", "give one of --actual D, --on DEVICE, -- CMD: what is to be judged");
        else if (!a.unit && a.set.count)
            code = cli_usage_error("check", "--set changes a unit; give --unit");
        else if (!a.power.wanted && a.power.allow_blind.count)
            code = cli_usage_error("check", "--allow-blind says what --power may miss; give --power");
        else if (!a.unit && !a.contract)
            code = cli_usage_error("check", "give --unit, --contract or both: what to judge by");
        else {
            memcpy(a.operands, args, (size_t)count * sizeof *args);
            code = run_check(&a, argc, whole);
        }
    }
    free(args);
    free(whole);
    return code;
}
