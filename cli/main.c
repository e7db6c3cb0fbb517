/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const cli_command commands[] = {
    {"check", cli_check, "judge an output (or run a device) against a unit's exact bits and a contract"},
    {"grade", cli_grade, "compare two tensors under a contract"},
    {"gemm", cli_gemm, "what the hardware would give: D = A B + C, any shape"},
    {"mma", cli_mma, "the same for one tile of the instruction's own shape"},
    {"parity", cli_parity_command, "every operator on real devices, each element against the truth"},
    {"explain", cli_explain, "how one element of D comes about, operation by operation"},
    {"fit-schedule", cli_fit_schedule, "name the units and schedules that give an output's bits exactly"},
    {"verify", cli_verify, "a whole network, end to end: against a recorded answer, or in two arithmetics"},
    {"replay", cli_replay, "recordings of real hardware against the models, word for word"},
    {"fit", cli_fit, "which arithmetic explains a recording"},
    {"decide", cli_decide, "the smallest inputs that tell a unit from what it could be instead"},
    {"capture", cli_capture, "record the matrix units of this machine's GPU"},
    {"gen", cli_gen, "draw operands or lines of hex from a seed"},
    {"judge", cli_judge, "judge lines of hex that a program answered"},
    {"eval", cli_eval, "one scalar operation of a GPU, by its PTX spelling"},
    {"scan", cli_scan, "which matrix and special instructions a cubin or PTX really uses"},
    {"fragment", cli_fragment, "which lane and register holds which element of a tile"},
    {"networks", cli_networks, "list the kinds of model files"},
    {"ariths", cli_ariths, "list the arithmetics of whole networks"},
    {"emit", cli_emit_source, "exact source of a unit or operation: C, OpenCL C, GLSL, HLSL, MSL, CUDA C++"},
    {"units", cli_units, "list the matrix instructions"},
    {"scalar", cli_scalar, "list the scalar operations"},
    {"parameters", cli_parameters, "list what --set changes of a unit"},
    {"formats", cli_formats_list, "list the number formats"},
    {"contracts", cli_contracts, "list the numerics contracts"},
    {"schedules", cli_schedules, "list the named schedules of whole products"},
    {"explain-contract", cli_explain_contract, "what makes one element's limit, term by term"},
    {"backends", cli_backends, "list what --on takes"},
    {"bench", cli_bench, "how fast the exact products are, beside a BLAS"},
    {"ops", cli_ops, "list the operators of networks"},
    {"draws", cli_draws, "list how an operator's inputs are drawn"},
    {"functions", cli_functions, "list what a device's f32 functions may be off by"},
    {"causes", cli_causes, "list the faults that a failing check can name"},
    {"faults", cli_faults, "list the faults that --power injects"},
    {"blindness", cli_blindness, "which faults each rule catches, and which correct kernels it refuses"},
    {"shrink", cli_shrink, "make a failing check small, and a file that reruns anywhere"},
    {"calibrate", cli_calibrate, "what a tolerance has to be: drift of a unit or an order beside floor and weakest fault"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* What did not reach its reader was not said. */
static int with_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "lastbit: standard output: cannot be written: %s\n", strerror(errno));
    return CLI_USAGE;
}

static void print_help(void) {
    puts("lastbit: are an accelerator kernel's bits right?\n\n"
         "usage: lastbit COMMAND [ARGUMENTS]     (lastbit COMMAND --help says more)\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) printf("  %-16s %s\n", commands[i].name, commands[i].summary);
    puts("\nexit: 0 PASS   1 FAIL   2 the call or a file is wrong   3 UNPROVEN: nothing was proven\n"
         "start: lastbit check A.npy B.npy --actual D.npy --unit sm_80/mma.m16n8k16.f32.f16.f16.f32");
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return argc > 1 ? CLI_OK : CLI_USAGE;
    }
    if (strcmp(name, "--version") == 0) {
        printf("lastbit %s\n", lb_version());
        return CLI_OK;
    }
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) return with_output(commands[i].run(argc - 1, argv + 1));
        names[i] = commands[i].name;
    }
    const char *near = lb_nearest_name(name, names, COMMAND_COUNT);
    fprintf(stderr, "lastbit: no command \"%s\"%s%s; `lastbit --help` lists them\n", name, near ? "; did you mean " : "", near ? near : "");
    return CLI_USAGE;
}
