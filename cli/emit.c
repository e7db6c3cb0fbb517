/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit emit: exact source for other devices. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct emit_args {
    const char *language, *file, *tier, *exchange;
    cli_texts set;
    bool fragment, integers, finite, stats, list;
} emit_args;

static void print_list(void) {
    size_t written = 0, all = 0;
    for (const lb_unit *u; (u = lb_unit_row(all)) != NULL; all++) {
        if (lb_emit_can(u, NULL) != LB_OK) continue;
        lb_emit_options o = {.fragment = true};
        char *text = NULL;
        const bool lane = lb_emit_unit(u, &o, &text, NULL, NULL) == LB_OK;
        free(text);
        printf("%-48s %s\n", u->name, lane ? "tile fragment" : "tile");
        written++;
    }
    fprintf(stderr, "%zu of %zu units\n", written, all);
}

static void print_stats(const char *unit, const emit_args *a, const lb_emit_stats *s) {
    printf("unit=%s lang=%s form=%s steps=%s hash=%s\n", unit, a->language, a->fragment ? "fragment" : "element",
           a->integers                               ? "integers"
           : a->tier && strcmp(a->tier, "fast") == 0 ? "fast"
                                                     : "exact",
           s->hash);
    printf("outputs=%d products=%d statements=%" PRIu64 ": path=%" PRIu64 " decode=%" PRIu64 " address=%" PRIu64 " special=%" PRIu64 "\n",
           s->outputs, s->products, s->path + s->decode + s->address + s->special, s->path, s->decode, s->address, s->special);
}

static void print_slots(const lb_unit *u, const lb_emit_options *o) {
    int sm;
    const cli_slots slots = o->fragment ? cli_emit_slots(u, o, &sm) : (cli_slots){0};
    if (slots.all)
        printf("slots=%" PRIu64 " of sm_%d a thread: operations=%" PRIu64 " loads=%" PRIu64 " (%s)\n", slots.all, sm,
               slots.all - slots.loads, slots.loads,
               o->exchange == LB_EMIT_SUBGROUP ? "all of it, decode and shuffles too"
                                               : "all behind the barrier, the special path too; without decode");
    else
        printf("slots=- (%s)\n",
               o->fragment ? "no nvcc here, or it does not take this form for this architecture" : "counted with --fragment");
}

static lb_status write_text(const char *path, const char *text, lb_error *err) {
    FILE *f = path ? fopen(path, "wb") : stdout;
    if (!f) return lb_fail(err, LB_E_FILE, path, "cannot be written");
    bool good = fputs(text, f) >= 0;
    good = (path ? fclose(f) : fflush(f)) == 0 && good;
    if (!good && path) remove(path);
    return good ? LB_OK : lb_fail(err, LB_E_FILE, path ? path : "standard output", "cannot be written");
}

static lb_status emit(const char *name, const emit_args *a, lb_error *err) {
    lb_emit_options o = {.fragment = a->fragment, .integers = a->integers, .finite = a->finite};
    lb_unit u;
    const lb_scalar_op *op = NULL;
    lb_emit_stats stats;
    char *text = NULL;
    static const char *const tiers[] = {"exact", "fast"};
    static const char *const exchanges[] = {"local", "subgroup"};
    size_t tier = 0, exchange = 0;
    lb_status s = lb_emit_language_find(a->language, &o.language, err);
    if (s == LB_OK) s = cli_choose("--tier", a->tier, tiers, LB_EMIT_TIER_COUNT, &tier, err);
    if (s == LB_OK) s = cli_choose("--exchange", a->exchange, exchanges, LB_EMIT_EXCHANGE_COUNT, &exchange, err);
    o.tier = (lb_emit_tier)tier;
    o.exchange = (lb_emit_exchange)exchange;
    if (s == LB_OK) s = cli_emit_find(name, &a->set, &u, &op, err);
    if (s == LB_OK && op) s = lb_emit_can_op(op, err);
    if (s == LB_OK && op && (a->fragment || a->finite || a->tier || a->exchange || a->set.count))
        s = lb_fail(err, LB_E_ARG, op->name, "--fragment, --exchange, --tier, --finite and --set are for units; an operation has one form");
    if (s == LB_OK) s = op ? lb_emit_op(op, &o, &text, &stats, err) : lb_emit_unit(&u, &o, &text, &stats, err);
    if (s == LB_OK && (a->file || !a->stats)) s = write_text(a->file, text, err);
    if (s == LB_OK && a->stats && op) cli_emit_op_stats(op, a->language, &stats);
    if (s == LB_OK && a->stats && !op) {
        print_stats(u.name, a, &stats);
        print_slots(&u, &o);
    }
    free(text);
    return s;
}

int cli_emit_source(int argc, char **argv) {
    emit_args a = {0};
    const cli_option options[] = {
        {"lang", 0, CLI_TEXT, &a.language, "LANG", "c, opencl, glsl, hlsl, msl or cuda"},
        {"fragment", 0, CLI_FLAG, &a.fragment, NULL,
         "one lane's registers, exchanging through local memory in a group of 32 or 64 (default: an element, a tile)"},
        {"exchange", 0, CLI_TEXT, &a.exchange, "HOW", "of a fragment: local memory, or subgroup: shuffles, where sub-groups have 32 lanes"},
        {"integers", 0, CLI_FLAG, &a.integers, NULL, "integer steps only (default: f32 steps too, where each is exact)"},
        {"tier", 0, CLI_TEXT, &a.tier, "TIER",
         "exact, or fast: blocks summed in f32, not exact; the first comment says how often it gives the unit's bits"},
        {"finite", 0, CLI_FLAG, &a.finite, NULL, "for operands that are known to hold no NaN or Inf, and sums that do not overflow"},
        {"stats", 0, CLI_FLAG, &a.stats, NULL, "print the counts of three-address operations; the source only with -o"},
        {"list", 0, CLI_FLAG, &a.list, NULL, "list what can be written"},
        {"output", 'o', CLI_TEXT, &a.file, "FILE", "write the source here"},
        CLI_SET_OPTION(a.set)};
    const cli_usage usage = {
        "lastbit emit UNIT|OP --lang LANG [--fragment] [--stats] [-o FILE]",
        "A unit or a scalar operation (its name or PTX spelling, as `lastbit eval` takes it) as exact source: a self-contained\n"
        "function for another device, equal to `lastbit mma` and `lastbit eval` bit for bit.",
        options, sizeof options / sizeof options[0],
        "  lastbit emit sm_80/mma.m16n8k16.f32.f16.f16.f32 --lang glsl --fragment -o hmma.glsl\n"
        "  lastbit emit fma.rz.f32 --lang opencl"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop = true;
    int count = 0, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    lb_error err = {0};
    if (!stop) {
        if (a.list && count == 0) {
            print_list();
            cli_emit_list_ops();
        } else if (count != 1)
            code = cli_usage_error(argv[0], "%d arguments; it takes one UNIT or OP (lastbit emit --list names them)", count);
        else if (!a.language)
            code = cli_usage_error(argv[0], "--lang is missing: c, opencl, glsl, hlsl, msl or cuda");
        else if (emit(args[0], &a, &err) != LB_OK) {
            cli_error(&err);
            code = CLI_USAGE;
        }
    }
    free(args);
    return code;
}
