/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit parity: every operator, device against truth. */
#include "parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const cli_texts *on, const char *name) {
    for (size_t i = 0; i < on->count; i++)
        if (strcmp(on->items[i], name) == 0) return true;
    return false;
}

/* Pairs of a pasted case that are no part of it: on=DEVICE. */
static bool take_device(cli_parity *a, char *text, lb_error *err) {
    for (char *p = strstr(text, "on="); p; p = strstr(p + 1, "on=")) {
        if (p != text && p[-1] != ' ') continue;
        const size_t n = strcspn(p, " ");
        char *name = strndup(p + 3, n - 3);
        memset(p, ' ', n);
        if (name && is_named(&a->on, name)) {
            free(name);
            return true;
        }
        if (!name || a->on.count == sizeof a->on.items / sizeof a->on.items[0]) {
            free(name);
            lb_fail(err, LB_E_ARG, "--case", "too many devices");
            return false;
        }
        a->on.items[a->on.count++] = a->owned[a->owned_count++] = name;
        return true;
    }
    return true;
}

static lb_status fill_options(cli_parity *a, lb_parity_options *o, lb_error *err) {
    for (size_t i = 0; i < a->cases.count; i++) {
        char *text = strdup(a->cases.items[i]);
        if (!text) return lb_fail(err, LB_E_MEMORY, "--case", "no memory");
        a->owned[a->owned_count++] = text;
        a->cases.items[i] = text;
        if (!take_device(a, text, err)) return LB_E_ARG;
    }
    *o = (lb_parity_options){.on = a->on.items,
                             .on_count = a->on.count,
                             .ops = a->ops.items,
                             .op_count = a->ops.count,
                             .pattern = a->pattern,
                             .cases = a->cases.items,
                             .case_count = a->cases.count,
                             .quick = a->quick,
                             .seed = a->seed,
                             .jobs = (unsigned)(a->jobs > 1000 ? 1000 : a->jobs),
                             .repeats = (unsigned)(a->repeats > 1000000 ? 1000000 : a->repeats),
                             .timeout_seconds = a->timeout,
                             .known = a->known,
                             .plan_only = a->list,
                             .no_shipped_known = a->no_known,
                             .functions = a->functions};
    return LB_OK;
}

/* ---- the run -------------------------------------------------------------------------------------------------------------------- */

typedef struct records {
    lb_record **items;
    size_t count, capacity;
} records;

static bool keep(records *r, lb_record *one) {
    if (r->count == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 256;
        lb_record **more = realloc(r->items, capacity * sizeof *more);
        if (!more) return false;
        r->items = more;
        r->capacity = capacity;
    }
    r->items[r->count++] = one;
    return true;
}

static const char *device_of(const char *described) {
    static char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(described, " "), described);
    return name;
}

/* One line a case: what did not pass, or all of it. */
static lb_status print_record(const cli_parity *a, const lb_record *r, lb_error *err) {
    char *text;
    if (a->output.json || a->cases.count) {
        const lb_status s = a->output.json ? lb_record_to_json(r, &text, err) : lb_report_text(r, isatty(STDOUT_FILENO), &text, err);
        if (s != LB_OK) return s;
        printf("%s%s", text, a->output.json ? "\n" : "");
        free(text);
        return LB_OK;
    }
    if (r->verdict == LB_PASS && !a->verbose) return LB_OK;
    if (r->verdict == LB_SKIP && !a->verbose) return LB_OK;
    printf("%s%s %s on=%s: %s%s%s%s%s\n", lb_verdict_name(r->verdict), r->verdict == LB_FAIL && *r->known ? " known" : "", r->case_string,
           device_of(r->on), r->reason, *r->cause ? "; " : "", r->cause, *r->known ? "; known: " : "", r->known);
    return LB_OK;
}

static void progress(const lb_parity *p) {
    const double fraction = (double)lb_parity_done(p) / (double)lb_parity_case_count(p);
    cli_progress(NULL, "parity", fraction < 1 ? fraction : 0.999);
}

static void end_progress(void) {
    cli_progress(NULL, "parity", 1);
}

static void print_table(const lb_parity *p) {
    const lb_parity_row *r;
    printf("%-18s %-12s %6s %6s %6s %6s %9s %6s %14s  %s\n", "operator", "on", "cases", "pass", "known", "fail", "unproven", "skip",
           "error/limit", "faults caught");
    for (size_t i = 0; (r = lb_parity_row_at(p, i)) != NULL; i++) {
        printf("%-18s %-12s %6zu %6zu %6zu %6zu %9zu %6zu ", r->op, r->on, r->cases, r->pass, r->known, r->fail, r->unproven, r->skip);
        if (isnan(r->worst_ratio))
            printf("%14s", "-");
        else
            printf("%14.3g", r->worst_ratio);
        if (r->power_due)
            printf("  %zu/%zu\n", r->power_caught, r->power_due);
        else
            printf("  -\n");
    }
}

/* ULP between devices, and who stands apart. */
static void print_distances(const lb_parity *p) {
    const size_t n = lb_parity_device_count(p);
    size_t of;
    if (n < 2) return;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            printf("apart: %s and %s up to %g ULP\n", lb_parity_device_name(p, i), lb_parity_device_name(p, j),
                   lb_parity_distance(p, i, j));
    for (size_t i = 0; i < n; i++) {
        const size_t odd = lb_parity_odd(p, i, &of);
        if (of) printf("odd one out: %s in %zu of %zu cases\n", lb_parity_device_name(p, i), odd, of);
    }
}

static void print_end(const cli_parity *a, const lb_parity *p) {
    static const char *const verdicts[] = {[0] = "PASS", [1] = "FAIL", [3] = "UNPROVEN"};
    size_t compared = 0, known = 0, fail = 0, unproven = 0, skip = 0, ops = 0;
    const lb_parity_row *r, *before = NULL;
    const char *line;
    for (size_t i = 0; (r = lb_parity_row_at(p, i)) != NULL; i++) {
        compared += r->pass + r->known + r->fail;
        known += r->known;
        fail += r->fail;
        unproven += r->unproven;
        skip += r->skip;
        if (!before || strcmp(before->op, r->op) != 0) ops++;
        before = r;
    }
    for (size_t i = 0; (line = lb_parity_known(p, i)) != NULL; i++) printf("known %s\n", line);
    for (size_t i = 0; (line = lb_parity_stale(p, i)) != NULL; i++) printf("FAIL stale %s; take the row out\n", line);
    for (size_t i = 0; (line = lb_parity_left_out(p, i)) != NULL; i++) printf("SKIP %s\n", line);
    printf("%s parity: %zu operators on %zu devices, compared=%zu pass=%zu known=%zu fail=%zu unproven=%zu skip=%zu seed=%llu\n",
           verdicts[lb_parity_exit(p)], ops, lb_parity_device_count(p), compared, compared - known - fail, known, fail, unproven, skip,
           (unsigned long long)(a->seed ? a->seed : 1));
}

static void print_devices(const lb_parity *p) {
    const char *device;
    for (size_t i = 0; (device = lb_parity_device(p, i)) != NULL; i++) printf("on %s\n", device);
}

static lb_status run_all(const cli_parity *a, lb_parity *p, records *all, lb_error *err) {
    lb_record *r;
    for (;;) {
        LB_CLI_TRY(lb_parity_next(p, &r, err));
        if (!r) break;
        end_progress();
        const lb_status s = print_record(a, r, err);
        if (s != LB_OK || !a->output.junit) lb_record_close(r);
        if (s != LB_OK) return s;
        if (a->output.junit && !keep(all, r)) return lb_fail(err, LB_E_MEMORY, "--junit", "no memory");
        progress(p);
    }
    end_progress();
    return LB_OK;
}

static int run_parity(const cli_parity *a, const lb_parity_options *o) {
    lb_error err = {0};
    lb_parity *p;
    records all = {0};
    lb_status s = lb_parity_open(&p, o, &err);
    if (s != LB_OK) return cli_error(&err);
    int code = CLI_OK;
    if (a->list) {
        for (size_t i = 0; i < lb_parity_case_count(p); i++) printf("%s\n", lb_parity_case_text(p, i));
    } else {
        const bool text = !a->output.json && !a->cases.count;
        if (text) print_devices(p);
        s = run_all(a, p, &all, &err);
        if (s == LB_OK && text) {
            print_table(p);
            print_distances(p);
            print_end(a, p);
        }
        if (s == LB_OK && a->output.junit) s = cli_write_junit(a->output.junit, all.items, all.count, &err);
        code = s == LB_OK ? lb_parity_exit(p) : cli_error(&err);
    }
    for (size_t i = 0; i < all.count; i++) lb_record_close(all.items[i]);
    free(all.items);
    lb_parity_close(p);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        lb_fail(&err, LB_E_FILE, "standard output", "cannot be written");
        return cli_error(&err);
    }
    return code;
}

/* ---- the command ----------------------------------------------------------------------------------------------------------------- */

static int run_mode(cli_parity *a) {
    lb_error err = {0};
    lb_parity_options o;
    if (fill_options(a, &o, &err) != LB_OK) return cli_error(&err);
    if (a->table && strcmp(a->table, "not-covered") == 0) return cli_parity_not_covered();
    if (a->table) return cli_parity_table(a, &o);
    if (a->invariance) return cli_parity_invariance(a, &o);
    if (a->sweep) return cli_parity_sweep(a, &o);
    return run_parity(a, &o);
}

int cli_parity_command(int argc, char **argv) {
    cli_parity a = {.timeout = 20, .jobs = 1, .repeats = 1, .seed = 1};
    const cli_option options[] = {
        {"on", 0, CLI_TEXTS, &a.on, "DEVICE", "run on it, instead of what this machine has of cpu, opencl and vulkan; may be repeated"},
        {"op", 0, CLI_TEXTS, &a.ops, "NAME", "only this operator (`lastbit ops` lists them); may be repeated"},
        {"pattern", 'p', CLI_TEXT, &a.pattern, "TEXT", "only cases whose text holds it: fmt=f16, dist=outliers"},
        {"case", 0, CLI_TEXTS, &a.cases, "CASE", "only this case, as a result line prints it; may be repeated"},
        {"quick", 0, CLI_FLAG, &a.quick, NULL, "the short plan: each operator at few shapes"},
        {"list", 0, CLI_FLAG, &a.list, NULL, "print the cases and run nothing"},
        {"seed", 0, CLI_COUNT, &a.seed, "N", "of the draws that are not pinned (default 1)"},
        {"jobs", 'j', CLI_COUNT, &a.jobs, "N", "processes a device (default 1)"},
        {"repeats", 0, CLI_COUNT, &a.repeats, "N", "run each case N times: the bits must be the same"},
        {"timeout", 0, CLI_SECONDS, &a.timeout, "SECONDS", "for one case (default 20)"},
        {"known", 0, CLI_TEXT, &a.known, "FILE", "known defects of your device (docs/howto/parity.md)"},
        {"no-known", 0, CLI_FLAG, &a.no_known, NULL, "leave out the known defects that come with lastbit"},
        {"functions", 0, CLI_TEXT, &a.functions, "CLASS", "judge exp, tanh … by this class: ieee, opencl, vulkan (default the device's)"},
        {"invariance", 0, CLI_FLAG, &a.invariance, NULL, "what must not change the bits: batch, padding, splits, chunks, caches"},
        {"require", 0, CLI_TEXTS, &a.require, "AXIS", "with --invariance: other bits along this axis are a FAIL; may be repeated"},
        {"sweep", 0, CLI_FLAG, &a.sweep, NULL, "the first magnitude of its inputs at which a device leaves an operator's limits"},
        {"table", 0, CLI_TEXT, &a.table, "DOCUMENT", "the deviations that a document states, computed: seed-002; or what is not-covered"},
        {"verbose", 'v', CLI_FLAG, &a.verbose, NULL, "a line for every case"},
        CLI_OUTPUT_OPTIONS(a.output),
    };
    const cli_usage usage = {
        "lastbit parity [--on DEVICE]… [--op NAME]… [options]",
        "Run every operator on devices, each case in a process that may crash or hang, between guards, and judge each\n"
        "element against true values under a limit that is derived, not chosen. A line for each case that does not pass,\n"
        "then a table: cases, the largest error as a part of its limit, and how many injected faults the limits catch.",
        options, sizeof options / sizeof options[0],
        "  lastbit parity --quick\n"
        "  lastbit parity --on opencl --op softmax --op layernorm -p fmt=f16\n"
        "  lastbit parity --case 'op=gelu n=4096 fmt=f32 dist=uniform magnitude=1 seed=3 on=vulkan'\n"
        "  lastbit parity --on kernel:my_softmax.json --op softmax\n"
        "  lastbit parity --invariance --op matmul --require row"};
    bool stop;
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    if (!args) return cli_usage_error("parity", "no memory");
    int count, code = cli_parse(&usage, argc, argv, args, &count, &stop);
    if (!stop) {
        const int modes = (a.table != NULL) + a.invariance + a.sweep;
        if (count)
            code = cli_usage_error("parity", "it takes no operands, and \"%s\" is one", args[0]);
        else if (modes > 1)
            code = cli_usage_error("parity", "give one of --table, --invariance, --sweep");
        else if (a.require.count && !a.invariance)
            code = cli_usage_error("parity", "--require needs --invariance");
        else
            code = run_mode(&a);
    }
    for (size_t i = 0; i < a.owned_count; i++) free(a.owned[i]);
    free(args);
    return code;
}
