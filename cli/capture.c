/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit capture: recordings of a GPU of this machine, and answers to requests. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct capture_args {
    const char *units, *kind, *output, *ops;
    uint64_t device, dots, seed;
    bool request, list, json, resume, ptx;
} capture_args;

/* What became of a run. */
typedef struct tally {
    uint64_t made, there, failed, words;
    int code;  /* of the exit: a wrong call or file comes before what the driver would not do */
    bool over; /* nothing more can be had: the GPU or the folder is lost */
} tally;

static void fail(tally *t, const lb_error *err) {
    const bool driver = err->status == LB_E_UNAVAILABLE || err->status == LB_E_DEVICE;
    const int code = driver ? CLI_UNPROVEN : CLI_USAGE;
    cli_progress(NULL, "capture", 1);
    cli_error(err);
    if (t->code != CLI_USAGE) t->code = code;
    t->over = err->status == LB_E_DEVICE || err->status == LB_E_MEMORY;
    t->failed++;
}

static void succeed(tally *t, const lb_capture_result *r) {
    cli_progress(NULL, "capture", 1);
    if (r->there)
        printf("%s  there\n", r->path);
    else
        printf("%s  %llu words  %.2f s\n", r->path, (unsigned long long)r->outputs, r->seconds);
    fflush(stdout);
    t->there += r->there;
    t->made += !r->there;
    t->words += r->outputs;
}

/* ---- units ------------------------------------------------------------------------------------------------------------------ */

/* Rows whose name holds the pattern, or the one unit that it is a full name of; all for NULL. free() */
static lb_unit *chosen_units(const char *pattern, size_t *count) {
    size_t rows = 0;
    while (lb_unit_row(rows)) rows++;
    lb_unit *units = malloc((rows + 1) * sizeof *units);
    *count = 0;
    if (!units) return NULL;
    for (size_t i = 0; i < rows; i++)
        if (!pattern || strstr(lb_unit_row(i)->name, pattern)) units[(*count)++] = *lb_unit_row(i);
    if (!*count && lb_unit_find(pattern, &units[0], NULL) == LB_OK) *count = 1;
    return units;
}

static void capture_one(lb_capture *c, const lb_unit *u, const char *only, tally *t) {
    lb_error err;
    for (int kind = 0; kind < LB_CAPTURE_KIND_COUNT && !t->over; kind++) {
        if (only && strcmp(only, lb_capture_kind_name((lb_capture_kind)kind)) != 0) continue;
        lb_capture_result r;
        const lb_status s = lb_capture_unit(c, u, (lb_capture_kind)kind, &r, &err);
        if (s == LB_OK)
            succeed(t, &r);
        else
            fail(t, &err);
        if (s == LB_E_UNAVAILABLE) return; /* the driver does not compile it: once is enough */
        if (s != LB_OK) t->over = true;    /* what cannot be written now cannot be written for the next unit */
    }
}

static void capture_units(lb_capture *c, const lb_unit *units, size_t count, const char *kind, tally *t) {
    lb_error first = {0};
    size_t can = 0;
    for (size_t i = 0; i < count && !t->over; i++) {
        lb_error err;
        if (lb_capture_can(c, &units[i], &err) != LB_OK) {
            if (!first.status) first = err;
            continue;
        }
        can++;
        cli_progress(NULL, "capture", (double)i / (double)count);
        capture_one(c, &units[i], kind, t);
    }
    cli_progress(NULL, "capture", 1);
    if (!can && !t->over) fail(t, &first);
}

static void capture_requests(lb_capture *c, char **files, int count, tally *t) {
    for (int i = 0; i < count && !t->over; i++) {
        lb_capture_result r;
        lb_error err;
        if (lb_capture_request(c, files[i], &r, &err) == LB_OK)
            succeed(t, &r);
        else
            fail(t, &err);
    }
}

static void capture_operations(lb_capture *c, const capture_args *a, tally *t) {
    lb_capture_result r;
    lb_error err;
    size_t refused;
    if (lb_capture_operations(c, strcmp(a->ops, "all") == 0 ? NULL : a->ops, a->seed, &r, &refused, &err) != LB_OK) {
        fail(t, &err);
        return;
    }
    succeed(t, &r);
    if (refused) printf("%zu operations are refused by this GPU's driver\n", refused);
}

static int print_operations_ptx(const char *part) {
    const lb_scalar_op *op;
    size_t printed = 0;
    lb_error err = {0};
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
        char *text;
        if (strcmp(part, "all") != 0 && !strstr(op->name, part)) continue;
        if (lb_operation_ptx(op, &text, &err) != LB_OK) return cli_error(&err);
        printf("%s%s", printed++ ? "\n" : "", text);
        free(text);
    }
    return printed ? CLI_OK : cli_usage_error("capture", "no operation has \"%s\" in its name", part);
}

/* ---- lists ---------------------------------------------------------------------------------------------------------------------- */

static int list_units(const lb_capture *c, const lb_unit *units, size_t count, bool json) {
    json_t *rows = json_array();
    size_t can = 0;
    for (size_t i = 0; i < count; i++) {
        lb_error err = {0};
        const bool yes = lb_capture_can(c, &units[i], &err) == LB_OK;
        can += yes;
        if (json)
            json_array_append_new(rows, json_pack("{s:s, s:b, s:s}", "name", units[i].name, "captured", yes, "reason", err.message));
        else
            printf("%-48s %s\n", units[i].name, yes ? "captured" : err.message);
    }
    if (json) {
        json_dumpf(rows, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
        puts("");
    } else {
        printf("%s: %zu of %zu units\n", lb_capture_device(c), can, count);
    }
    json_decref(rows);
    return CLI_OK;
}

static int print_ptx(const lb_unit *units, size_t count) {
    size_t printed = 0;
    lb_error err = {0};
    for (size_t i = 0; i < count; i++) {
        char *text;
        if (lb_capture_ptx(&units[i], &text, &err) != LB_OK) continue;
        printf("%s%s", printed++ ? "\n" : "", text);
        free(text);
    }
    return printed ? CLI_OK : cli_error(&err);
}

/* ---- the command ------------------------------------------------------------------------------------------------------------------ */

static int capture(const capture_args *a, char **args, int count, const char *command) {
    size_t unit_count;
    lb_unit *units = chosen_units(a->units, &unit_count);
    lb_capture *c = NULL;
    lb_error err;
    tally t = {0};
    const lb_capture_options o = {(int)a->device, a->output, a->dots, a->seed, a->resume, command};
    if (!units || !unit_count) {
        t.code = cli_usage_error("capture", units ? "no unit has \"%s\" in its name" : "no memory for \"%s\"", a->units);
    } else if (a->ptx) {
        t.code = a->ops ? print_operations_ptx(a->ops) : print_ptx(units, unit_count);
    } else if (lb_capture_open(&c, &o, &err) != LB_OK) {
        fail(&t, &err);
    } else if (a->list) {
        t.code = list_units(c, units, unit_count, a->json);
    } else {
        if (a->ops)
            capture_operations(c, a, &t);
        else if (a->request)
            capture_requests(c, args, count, &t);
        else
            capture_units(c, units, unit_count, a->kind, &t);
        if (t.made + t.there)
            printf("%s: %llu recordings, %llu words; %llu were there, %llu failed\n", lb_capture_device(c), (unsigned long long)t.made,
                   (unsigned long long)t.words, (unsigned long long)t.there, (unsigned long long)t.failed);
    }
    lb_capture_close(c);
    free(units);
    return t.code;
}

static bool is_kind(const char *name) {
    int kind = 0;
    while (kind < LB_CAPTURE_KIND_COUNT && strcmp(name, lb_capture_kind_name((lb_capture_kind)kind)) != 0) kind++;
    return kind < LB_CAPTURE_KIND_COUNT;
}

static const char *wrong(const capture_args *a, int count) {
    if (a->kind && !is_kind(a->kind)) return "a kind is directed, dots, chain, tiles or gemm";
    if (a->request && !count) return "--request takes files";
    if (!a->request && count) return "a file needs --request";
    if (a->request && a->units) return "--units and --request exclude each other: a request names its unit";
    if (a->ops && (a->request || a->units || a->kind || a->list)) return "--ops stands alone";
    if (a->list && (a->request || a->ptx)) return "--list stands alone";
    if (!a->list && !a->ptx && !a->output) return "give -o FOLDER";
    if (a->json && !a->list) return "--json goes with --list";
    return a->device > 1024 ? "no such device" : NULL;
}

int cli_capture(int argc, char **argv) {
    capture_args a = {.seed = 1};
    const cli_option options[] = {
        {"units", 0, CLI_TEXT, &a.units, "PART", "only units with this in their names, or this unit"},
        {"kind", 0, CLI_TEXT, &a.kind, "KIND", "only recordings of this kind: directed, dots, chain, tiles or gemm"},
        {"request", 0, CLI_FLAG, &a.request, NULL, "answer the requests FILE… (recordings without outputs)"},
        {"output", 'o', CLI_TEXT, &a.output, "FOLDER", "where the recordings go"},
        {"ops", 0, CLI_TEXT, &a.ops, "PART", "scalar operations with this in their names, or all, into operations.safetensors"},
        {"list", 0, CLI_FLAG, &a.list, NULL, "list which units this GPU's recordings can be made of, and why not of others"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "the list as one JSON array"},
        {"resume", 0, CLI_FLAG, &a.resume, NULL, "leave out recordings that are there"},
        {"dots", 0, CLI_COUNT, &a.dots, "N", "dots of a seeded recording (default 2048)"},
        {"seed", 0, CLI_COUNT, &a.seed, "N", "of seeded recordings (default 1)"},
        {"device", 0, CLI_COUNT, &a.device, "N", "number of the GPU (default 0)"},
        {"ptx", 0, CLI_FLAG, &a.ptx, NULL, "print the PTX that the units are recorded with; needs no GPU"},
    };
    const cli_usage usage = {
        "lastbit capture [--units PART] -o FOLDER",
        "Record what the matrix units of this machine's NVIDIA GPU give, as files that `lastbit replay` compares with the\n"
        "models: directed dots, seeded dots, chained dots, tiles, a whole product; and its scalar operations (--ops). Needs\n"
        "the driver and nothing else.\n"
        "Without one: one line, exit 3.",
        options, sizeof options / sizeof options[0],
        "  lastbit capture --list\n"
        "  lastbit capture -o recordings --resume\n"
        "  lastbit capture --ops all -o recordings\n"
        "  lastbit capture --request data/requests/*.safetensors -o answers"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args), *command = cli_command_line(argc, argv);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop) {
        const char *why = wrong(&a, count);
        code = why ? cli_usage_error("capture", "%s", why) : capture(&a, args, count, command);
    }
    free(command);
    free(args);
    return code;
}
