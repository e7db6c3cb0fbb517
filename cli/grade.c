/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit grade: two tensors under a contract. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct grade_args {
    const char *in, *contract, *shape, *dtype, *sentinel;
    uint64_t k, ld, guard, outliers;
    cli_power power;
    cli_output output;
} grade_args;

/* Raw reference files have --shape ROWSxCOLS. */
static lb_status reference_options(const grade_args *a, const lb_format *format, lb_file_options *out, lb_error *err) {
    *out = (lb_file_options){0};
    if (!a->shape) return LB_OK;
    if (!a->dtype && !format) return lb_fail(err, LB_E_FORMAT, "--shape", "raw files name no type: say --in FORMAT or --dtype TYPE");
    out->raw_dtype = a->dtype ? a->dtype : lb_dtype_of_codes(format)->name;
    return cli_parse_shape(a->shape, out->raw_shape, &out->raw_rank, err);
}

/* ACTUAL as it lies in memory. A raw file with gaps and guards is taken whole; others are matrices of rows of ld elements. */
static lb_status load_actual(const grade_args *a, const char *spec, const lb_format *format, const lb_mat *reference, lb_operand *out,
                             lb_block_options *block, lb_error *err) {
    lb_file_options options = {0};
    lb_status s = reference_options(a, format, &options, err);
    if (s != LB_OK) return s;
    if (a->shape) { /* as many elements as the file has */
        options.raw_rank = 0;
    }
    s = lb_operand_open(out, spec, reference->format, &options, err);
    if (s != LB_OK) return s;
    block->actual = out->mat.codes;
    block->actual_bytes = out->mat.rows * out->mat.cols * (size_t)out->mat.format->bytes;
    if (!a->ld && !a->guard && !a->shape && (out->mat.rows != reference->rows || out->mat.cols != reference->cols))
        return lb_fail(err, LB_E_SHAPE, spec, "ACTUAL is %zux%zu; REFERENCE is %zux%zu", out->mat.rows, out->mat.cols, reference->rows,
                       reference->cols);
    return LB_OK;
}

static lb_status parse_sentinel(const grade_args *a, lb_block_options *o, lb_error *err) {
    if (!a->sentinel) return LB_OK;
    char *end;
    o->has_sentinel = true;
    o->sentinel = strtoull(a->sentinel, &end, 0);
    const int bits = o->reference.format->bytes * 8;
    if (!*a->sentinel || *end || (bits < 64 && o->sentinel >> bits))
        return lb_fail(err, LB_E_ARG, "--sentinel", "\"%s\" is no code of %d bits; write 0x5a5a", a->sentinel, bits);
    return LB_OK;
}

static lb_status judge(const grade_args *a, const lb_contract *contract, char **args, lb_operand *actual, lb_operand *reference,
                       lb_record **r, lb_error *err) {
    lb_block_options o = {.contract = contract,
                          .ld = a->ld,
                          .guard_bytes = a->guard,
                          .k = (double)a->k,
                          .max_outliers = a->outliers,
                          .power = a->power.wanted,
                          .allow_blind = a->power.allow_blind.items,
                          .allow_blind_count = a->power.allow_blind.count};
    const lb_format *format = NULL;
    lb_file_options options;
    lb_status s = LB_OK;
    if (a->in) s = lb_format_get(a->in, &format, err);
    if (s == LB_OK) s = reference_options(a, format, &options, err);
    if (s == LB_OK) s = lb_operand_open(reference, args[1], format, &options, err);
    if (s != LB_OK) return s;
    o.reference = reference->mat;
    s = load_actual(a, args[0], format, &reference->mat, actual, &o, err);
    if (s == LB_OK) s = parse_sentinel(a, &o, err);
    if (s == LB_OK) s = lb_grade_block(&o, r, err);
    if (s == LB_OK) lb_record_text(&(*r)->on, "file:%s", args[0]);
    return s;
}

/* In bands, where nothing lies around the rows and the files allow it. *done: there is a record. */
static lb_status judge_in_bands(const grade_args *a, const lb_contract *contract, char **args, lb_record **r, bool *done, lb_error *err) {
    lb_grade_files_options o = {
        .actual = args[0], .reference = args[1], .contract = contract, .k = (double)a->k, .max_outliers = a->outliers};
    *done = false;
    if (a->ld || a->guard || a->sentinel || a->power.wanted) return LB_OK;
    lb_status s = LB_OK;
    if (a->in) s = lb_format_get(a->in, &o.format, err);
    if (s == LB_OK) s = reference_options(a, o.format, &o.files, err);
    if (s == LB_OK) s = lb_grade_files(&o, r, err);
    *done = s == LB_OK;
    return s == LB_E_UNAVAILABLE ? LB_OK : s;
}

int cli_grade(int argc, char **argv) {
    grade_args a = {.outliers = 16};
    const cli_option options[] = {
        {"contract", 0, CLI_TEXT, &a.contract, "RULE", "what bits are allowed: m16-tc, ulp:4, a file x.json (required)"},
        {"k", 'k', CLI_COUNT, &a.k, "N", "reduction depth that the kernel ran (required)"},
        {"in", 0, CLI_TEXT, &a.in, "FORMAT", "format of both sides, where the files hold plain codes"},
        {"ld", 0, CLI_COUNT, &a.ld, "N", "elements from one row of ACTUAL to the next"},
        {"sentinel", 0, CLI_TEXT, &a.sentinel, "CODE", "what unwritten elements, gaps and guards hold, as 0x5a5a"},
        {"guard", 0, CLI_COUNT, &a.guard, "BYTES", "guard zone before and after ACTUAL's rows"},
        {"shape", 0, CLI_TEXT, &a.shape, "ROWSxCOLS", "the files are raw little-endian elements; REFERENCE has this shape"},
        {"dtype", 0, CLI_TEXT, &a.dtype, "TYPE", "storage type of raw files (default unsigned codes of the format's width)"},
        {"outliers", 0, CLI_COUNT, &a.outliers, "N", "wrong elements to list (default 16)"},
        CLI_POWER_OPTIONS(a.power),
        CLI_OUTPUT_OPTIONS(a.output),
    };
    const cli_usage usage = {
        "lastbit grade ACTUAL REFERENCE --contract NAME --k N [options]",
        "Compare two tensors of one format under a contract. With --ld, --guard and --sentinel ACTUAL is a strided\n"
        "block: guard, rows of ld elements, guard; what lies outside the output must still hold the sentinel.",
        options, sizeof options / sizeof options[0],
        "  lastbit grade D.safetensors R.safetensors --contract m16-tc --k 4096\n"
        "  lastbit grade d.bin r.bin --in bf16 --shape 16x5120 --ld 5184 --sentinel 0x5a5a --guard 64 --contract m16-tc --k 17408"};
    char *args[64];
    char *line = cli_command_line(argc, argv);
    bool stop, banded = false;
    int count, code = argc > 60 ? cli_usage_error("grade", "too many arguments") : cli_parse(&usage, argc, argv, args, &count, &stop);
    lb_operand actual = {0}, reference = {0};
    lb_contract *contract = NULL;
    lb_record *r = NULL;
    lb_error err = {0};
    if (argc <= 60 && !stop) {
        if (count != 2)
            code = cli_usage_error("grade", "%d given; it takes ACTUAL REFERENCE", count);
        else if (!a.power.wanted && a.power.allow_blind.count)
            code = cli_usage_error("grade", "--allow-blind says what --power may miss; give --power");
        else if (!a.contract || !a.k)
            code = cli_usage_error("grade", "give --contract NAME and --k N, the reduction depth");
        else if (lb_contract_open(a.contract, &contract, &err) != LB_OK || judge_in_bands(&a, contract, args, &r, &banded, &err) != LB_OK ||
                 (!banded && judge(&a, contract, args, &actual, &reference, &r, &err) != LB_OK))
            code = cli_error(&err);
        else {
            lb_record_text(&r->rerun, "%s", line ? line : "");
            code = cli_emit(&a.output, &r, 1);
        }
    }
    lb_record_close(r);
    lb_contract_close(contract);
    lb_operand_close(&actual);
    lb_operand_close(&reference);
    free(line);
    return code;
}
