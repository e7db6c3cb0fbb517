/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What verify.c and verify_report.c share. */
#ifndef LB_CLI_VERIFY_H
#define LB_CLI_VERIFY_H

#include "cli.h"

enum { VERIFY_ARITHS = 32 };

typedef struct verify_args {
    const char *reference, *against, *other, *tokens, *token_file, *contract, *dump;
    cli_texts ariths, on;
    uint64_t rows, chunk, generate, top_k, heads;
    const double *tolerance;
    double timeout;
    lb_sampler sampler;
    bool drop_unknown, steps;
    cli_output output;
    char *command;
} verify_args;

typedef struct verify_input {
    int32_t *tokens;
    double *values, *output; /* output: of a reference */
    size_t count, output_rows;
    lb_file *file;
} verify_input;

/** Case, device, environment of a record. */
void verify_name_record(lb_record *r, const verify_args *a, const lb_net *n, const char *arith, const char *reference);

/** The record of an arithmetic that a device did not live through (FAIL) or could not run (UNPROVEN); s where it is no device's. */
lb_status verify_end(const verify_args *a, const lb_net *n, const char *arith, const char *against, lb_status s, lb_record **out,
                     lb_error *err);

/** Grade actual against expected [rows][out_cols] by --contract or --tolerance. */
lb_status verify_grade(const verify_args *a, const lb_net *n, const char *arith, const char *reference, const double *actual,
                       const double *expected, size_t rows, lb_record **out, lb_error *err);

/** The record of a comparison: the outputs by their tolerance, every operator by its budget. */
lb_status verify_judge(const verify_args *a, const lb_net *n, const char *arith, const char *against, const lb_net_report *report,
                       lb_record **out, lb_error *err);

int verify_emit(const verify_args *a, const lb_net *n, lb_record *const *records, lb_net_report *const *reports, size_t count);

#endif
