/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What check and shrink share: operands, an output or whoever gives it, and what it is judged by. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

int cli_find_command(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) return i;
    return argc;
}

int cli_refuse_judged(const char *command, const cli_judged *j, const char *what) {
    const int ways = (j->actual != NULL) + (j->on != NULL) + (j->command != NULL);
    if (ways != 1) return cli_usage_error(command, "give one of --actual D, --on DEVICE, -- CMD: %s", what);
    if (!j->unit && j->set.count) return cli_usage_error(command, "--set changes a unit; give --unit");
    if (!j->unit && !j->contract)
        return cli_usage_error(
            command, "give --unit, --contract or both: what to judge by; `lastbit fit-schedule` looks for what gives an output's bits");
    return CLI_OK;
}

static lb_status read_rules(const cli_judged *j, cli_judged_case *c, lb_error *err) {
    static const char *const nans[] = {"bits", "class"}, *const references[] = {"auto", "f64", "exact"};
    size_t nan, reference;
    lb_status s = cli_choose("--nan", j->nan, nans, 2, &nan, err);
    if (s == LB_OK) s = cli_choose("--reference", j->reference, references, 3, &reference, err);
    if (s == LB_OK && j->unit) s = cli_find_unit(j->unit, &j->set, &c->unit, err);
    if (s == LB_OK && j->contract) s = lb_contract_open(j->contract, &c->contract, err);
    if (s != LB_OK) return s;
    c->o.unit = j->unit ? &c->unit : NULL;
    c->o.contract = c->contract;
    c->o.nan_by_class = nan == 1;
    c->o.reference = (lb_reference_mode)reference;
    return LB_OK;
}

/* The output: loaded, or left to a device, whose format is then --out, the unit's, or A's. */
static lb_status load_actual(const cli_judged *j, cli_judged_case *c, lb_error *err) {
    lb_check_options *o = &c->o;
    const lb_format *fallback = o->unit ? lb_format_row(o->unit->d) : o->x.a.format;
    o->x.out = fallback;
    if (!j->actual) return j->formats.out ? lb_format_get(j->formats.out, &o->x.out, err) : LB_OK;
    const lb_status s = cli_load_output(&c->d, j->actual, &j->formats, &o->x, fallback, err);
    if (s != LB_OK) return s;
    snprintf(c->name, sizeof c->name, "file:%s", j->actual);
    o->actual = &c->d.mat;
    o->actual_name = c->name;
    o->x.out = c->d.mat.format;
    return LB_OK;
}

lb_status cli_open_judged(cli_judged_case *c, const cli_judged *j, char **operands, int count, lb_error *err) {
    *c = (cli_judged_case){0};
    c->o = (lb_check_options){.on = j->on, .argv = j->command, .seed = j->seed, .timeout_seconds = j->timeout, .progress = cli_progress};
    lb_status s = read_rules(j, c, err);
    if (s == LB_OK) s = cli_load_operands(&c->operands, operands, count, &j->formats, c->o.unit, err);
    if (s != LB_OK) return s;
    c->o.x = c->operands.x;
    c->o.x.seed = j->seed;
    return load_actual(j, c, err);
}

void cli_close_judged(cli_judged_case *c) {
    lb_contract_close(c->contract);
    lb_operand_close(&c->d);
    cli_close_operands(&c->operands);
}
