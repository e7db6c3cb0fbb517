/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the sub-commands share: options, operands, output of records, errors. */
#ifndef LB_CLI_H
#define LB_CLI_H

#include "lastbit/lastbit.h"

enum { CLI_OK = 0, CLI_FAIL = 1, CLI_USAGE = 2, CLI_UNPROVEN = 3 };

/* One sub-command; rows in main.c. */
typedef struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the sub-command's name */
    const char *summary;
} cli_command;

/* ---- options ------------------------------------------------------------------------------------------------------- */

/* CLI_FILE: a file to write; that it cannot be is said before the work. */
typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_TEXTS, CLI_COUNT, CLI_SECONDS, CLI_FILE } cli_kind;

/* An option that may be given several times. */
typedef struct cli_texts {
    const char *items[16];
    size_t count;
} cli_texts;

/* One option: "--name" and maybe "-x". value points to bool, const char * (of TEXT and FILE), cli_texts, uint64_t or double. */
typedef struct cli_option {
    const char *name;
    char letter; /* 0: none */
    cli_kind kind;
    void *value;
    const char *metavar, *help;
} cli_option;

typedef struct cli_usage {
    const char *synopsis;    /* "lastbit check A B [C] --actual D …" */
    const char *description; /* lines */
    const cli_option *options;
    size_t option_count;
    const char *examples;
} cli_usage;

/** Take the options out of argv and leave the positional arguments in args[*count] (room for argc). Returns CLI_OK, or prints and
 *  returns the exit code, with *stop set (a wrong call, --help). */
int cli_parse(const cli_usage *usage, int argc, char **argv, char **args, int *count, bool *stop);

/** What cli_parse does with a CLI_FILE, for a name that no option gave: CLI_OK, or prints and returns the exit code. */
int cli_check_output(const char *command, const char *option, const char *path);

/* ---- output -------------------------------------------------------------------------------------------------------- */

typedef struct cli_output {
    bool json, brief;
    const char *junit; /* file, or NULL */
} cli_output;

#define CLI_OUTPUT_OPTIONS(o)                                                                                                              \
    {"json", 0, CLI_FLAG, &(o).json, NULL, "print records as lines of JSON (docs/result-schema.md)"},                                      \
        {"brief", 0, CLI_FLAG, &(o).brief, NULL, "print the verdict, the reason and the first wrong element only"}, {                      \
        "junit", 0, CLI_FILE, &(o).junit, "FILE", "write a JUnit report too"                                                               \
    }

/** Print records (text or JSON lines), write JUnit, and return the run's exit code. */
int cli_emit(const cli_output *output, lb_record *const *records, size_t count);

/** Write the JUnit report of records. errors LB_E_FILE, LB_E_MEMORY */
lb_status cli_write_junit(const char *path, lb_record *const *records, size_t count, lb_error *err);
/** Write JUnit alone; CLI_OK, or prints and returns the exit code. */
int cli_junit(const char *path, lb_record *const *records, size_t count);

/** Print "lastbit: place: message" to stderr; returns CLI_USAGE, or CLI_UNPROVEN where the thing is not to be had here. */
int cli_error(const lb_error *err);

/** The same for a call that is wrong. */
int cli_usage_error(const char *command, const char *format, ...) LB_PRINTF(2, 3);

/** Progress for a terminal; silent elsewhere. */
void cli_progress(void *user, const char *stage, double fraction);

/** argv as one line that a shell reads back. free() */
char *cli_command_line(int argc, char *const *argv);

/* Whether to ask what a contract catches. */
typedef struct cli_power {
    bool wanted;
    cli_texts allow_blind;
} cli_power;

#define CLI_POWER_OPTIONS(p)                                                                                                               \
    {"power", 0, CLI_FLAG, &(p).wanted, NULL, "inject faults into a correct output: what would the contract catch?"}, {                    \
        "allow-blind", 0, CLI_TEXTS, &(p).allow_blind, "FAULT", "with --power: this fault may be missed (`lastbit faults`)"                \
    }

/* ---- operands ------------------------------------------------------------------------------------------------------ */

#define CLI_SET_OPTION(set)                                                                                                                \
    { "set", 0, CLI_TEXTS, &(set), "K=V[,K=V]", "change the unit's parameters (docs/units.md), as floor_exp=-126" }

/** The unit of a name, or of a file where the name is "file:F.json", with what --set changes. */
lb_status cli_find_unit(const char *name, const cli_texts *set, lb_unit *out, lb_error *err);

/* What the user said about formats and shapes. NULL: not said. */
typedef struct cli_formats {
    const char *in, *in_b, *acc, *out;
    const char *shape; /* raw files: MxNxK */
    const char *dtype; /* raw files: storage type; NULL: unsigned of the format's width */
    bool tb;
} cli_formats;

#define CLI_FORMAT_OPTIONS(f)                                                                                                              \
    {"in", 0, CLI_TEXT, &(f).in, "FORMAT", "format of A (and B): needed where the files hold plain codes"},                                \
        {"in-b", 0, CLI_TEXT, &(f).in_b, "FORMAT", "format of B where it differs from A's"},                                               \
        {"acc", 0, CLI_TEXT, &(f).acc, "FORMAT", "format of C"},                                                                           \
        {"out", 0, CLI_TEXT, &(f).out, "FORMAT", "format of D; a unit's result is rounded to it once"},                                    \
        {"tb", 0, CLI_FLAG, &(f).tb, NULL, "B is stored [n][k], as weights are"},                                                          \
        {"shape", 0, CLI_TEXT, &(f).shape, "MxNxK", "the files are raw little-endian elements of these shapes"}, {                         \
        "dtype", 0, CLI_TEXT, &(f).dtype, "TYPE", "storage type of raw files (default unsigned codes of the format's width)"               \
    }

/* A, B, C of a product, loaded. */
typedef struct cli_operands {
    lb_operand a, b, c;
    lb_case x;
} cli_operands;

/** Load args[0..count) as A, B and maybe C. unit (or NULL) gives formats that were not said. errors printed by the caller */
lb_status cli_load_operands(cli_operands *out, char **args, int count, const cli_formats *f, const lb_unit *unit, lb_error *err);
void cli_close_operands(cli_operands *o);

/* Scales and metadata, as some units take them. NULL: not said. */
typedef struct cli_extras {
    const char *scale_a, *scale_b, *metadata;
} cli_extras;

#define CLI_EXTRA_OPTIONS(e)                                                                                                               \
    {"scale-a", 0, CLI_TEXT, &(e).scale_a, "F", "scales of A, [m][k/block]"},                                                              \
        {"scale-b", 0, CLI_TEXT, &(e).scale_b, "F", "scales of B, [k/block][n]; [n][k/block] with --tb"}, {                                \
        "meta", 0, CLI_TEXT, &(e).metadata, "F", "of a compressed A: the place of each element in its group, [m][k/2]"                     \
    }

typedef struct cli_extra_operands {
    lb_operand scale_a, scale_b, metadata;
    lb_mat scale_b_mat; /* as [k/block][n] */
    lb_unit_operands with;
} cli_extra_operands;

/** Load what was said of the extras; o are the loaded operands. */
lb_status cli_load_extras(cli_extra_operands *out, const cli_extras *e, const cli_formats *f, const cli_operands *o, const lb_unit *unit,
                          lb_error *err);
void cli_close_extras(cli_extra_operands *e);

/* Scales that a schedule applies; units of their own scales take cli_extras. */
typedef struct cli_scales {
    lb_operand a, b;
    lb_mat a_mat, b_mat;
} cli_scales;

/** Load scales and put them into the schedule. a, b NULL: not said. Without promote a vector is one number a row of A, a column of B, and a
 *  single number is that of all. */
lb_status cli_load_scales(cli_scales *out, const char *a, const char *b, const cli_formats *f, const lb_case *x, lb_schedule *schedule,
                          lb_error *err);
void cli_close_scales(cli_scales *s);

/** Load D ("FILE" or "FILE:tensor") in `said` (or the type that the file names, or `fallback`). */
lb_status cli_load_output(lb_operand *out, const char *spec, const cli_formats *f, const lb_case *x, const lb_format *fallback,
                          lb_error *err);

/** A view of a bias as [m][n]: one row for all rows, one column for all columns, or all of D. errors LB_E_SHAPE */
lb_status cli_spread_bias(const char *spec, const lb_mat *from, lb_mat *bias, size_t m, size_t n, lb_error *err);

/** "64x128x256" into sizes[*rank], at most LB_MAX_RANK. */
lb_status cli_parse_shape(const char *text, size_t *sizes, int *rank, lb_error *err);

/* ---- an output or whoever gives it, and what it is judged by ------------------------------------------------------- */

typedef struct cli_judged {
    cli_formats formats;
    cli_texts set;
    const char *actual, *on, *unit, *contract, *nan, *reference; /* as said, or NULL */
    uint64_t seed;
    double timeout;
    char **command; /* behind --, NULL-terminated, or NULL */
} cli_judged;

#define CLI_RULE_OPTIONS(j)                                                                                                                \
    {"unit", 0, CLI_TEXT, &(j).unit, "UNIT", "compare with this unit's exact bits"}, CLI_SET_OPTION((j).set),                              \
        {"contract", 0, CLI_TEXT, &(j).contract, "RULE", "what other bits are allowed: m16-tc, ulp:4, a file x.json"},                     \
        CLI_FORMAT_OPTIONS((j).formats),                                                                                                   \
        {"reference", 0, CLI_TEXT, &(j).reference, "HOW", "auto (exact where f64 does not decide), f64, exact"}, {                         \
        "nan", 0, CLI_TEXT, &(j).nan, "HOW", "with --unit: bits (default), or class: any NaN equals any NaN"                               \
    }

/** Where the command behind -- begins in argv (the place of the --), or argc. */
int cli_find_command(int argc, char **argv);

/** Refuse a call that names no output or several, or nothing to judge by: CLI_OK, or prints and returns the exit code. */
int cli_refuse_judged(const char *command, const cli_judged *j, const char *what);

typedef struct cli_judged_case {
    lb_check_options o; /* filled; sample, power and the like are the caller's */
    lb_unit unit;
    lb_contract *contract;
    cli_operands operands;
    lb_operand d;
    char name[4200];
} cli_judged_case;

/** Load all that was said. errors those of its parts. memory cli_close_judged, also after an error; *c may not move */
lb_status cli_open_judged(cli_judged_case *c, const cli_judged *j, char **operands, int count, lb_error *err);
void cli_close_judged(cli_judged_case *c);

/* ---- the sub-commands ---------------------------------------------------------------------------------------------- */

int cli_check(int argc, char **argv);
int cli_grade(int argc, char **argv);
int cli_gemm(int argc, char **argv);
int cli_mma(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_fit(int argc, char **argv);
int cli_decide(int argc, char **argv);
int cli_capture(int argc, char **argv);
int cli_gen(int argc, char **argv);
int cli_judge(int argc, char **argv);
int cli_scan(int argc, char **argv);
int cli_fragment(int argc, char **argv);
int cli_emit_source(int argc, char **argv);
int cli_units(int argc, char **argv);
int cli_scalar(int argc, char **argv);
int cli_eval(int argc, char **argv);
int cli_parameters(int argc, char **argv);
int cli_formats_list(int argc, char **argv);
int cli_contracts(int argc, char **argv);
int cli_schedules(int argc, char **argv);
int cli_fit_schedule(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_bench_emit(int argc, char **argv);
int cli_explain_contract(int argc, char **argv);
int cli_backends(int argc, char **argv);
int cli_causes(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_networks(int argc, char **argv);
int cli_ariths(int argc, char **argv);
int cli_ops(int argc, char **argv);
int cli_draws(int argc, char **argv);
int cli_functions(int argc, char **argv);
int cli_parity_command(int argc, char **argv);
int cli_faults(int argc, char **argv);
int cli_blindness(int argc, char **argv);

/** Rows of `lastbit blindness`; NULL, with the error printed, where they cannot be made. */
struct json_t *cli_blindness_rows(void);
int cli_calibrate(int argc, char **argv);
int cli_shrink(int argc, char **argv);

/** Which of names[] was said; the first of them where nothing was. errors LB_E_ARG, naming the nearest */
lb_status cli_choose(const char *option, const char *said, const char *const *names, size_t count, size_t *out, lb_error *err);

/** lastbit check CAPSULE: print the record and what the capsule says of its origin; returns the exit code. */
int cli_check_capsule(const char *path, const lb_check_options *how, const cli_output *output, const char *line);

/** Print where the error of the record's first and worst element comes from, as text or as lines of JSON. errors LB_E_MEMORY and others */
lb_status cli_ledger(const lb_check_options *o, const lb_record *r, bool json, lb_error *err);

/** Machine instructions a thread: all of them, and the loads from local memory among them. */
typedef struct cli_slots {
    uint64_t all, loads;
} cli_slots;

/** Those of an emitted fragment, and for which architecture; none where nvcc is missing or does not take it. */
cli_slots cli_emit_slots(const lb_unit *u, const lb_emit_options *o, int *sm);

/** What `lastbit emit` is asked for: an operation, *op, or the unit *u with --set, *op being NULL. errors LB_E_NAME, naming the nearest */
lb_status cli_emit_find(const char *name, const cli_texts *set, lb_unit *u, const lb_scalar_op **op, lb_error *err);
void cli_emit_list_ops(void);
void cli_emit_op_stats(const lb_scalar_op *op, const char *language, const lb_emit_stats *s);

#endif
