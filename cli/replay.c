/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit replay: recordings against the models, or against anyone's answers. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All files are replayed, also behind one that is malformed; that one then decides the exit code. */
static int replay_all(char **files, int count, const cli_output *output) {
    lb_record **records = calloc((size_t)count + 1, sizeof(lb_record *));
    if (!records) return cli_usage_error("replay", "no memory");
    size_t done = 0;
    int broken = CLI_OK;
    uint64_t matched = 0, total = 0;
    for (int i = 0; i < count; i++) {
        lb_error err = {0};
        cli_progress(NULL, "replay", (double)i / count);
        if (lb_replay(files[i], &records[done], &err) == LB_OK) {
            matched += records[done]->counts.exact;
            total += records[done]->counts.compared;
            lb_record_text(&records[done]->rerun, "lastbit replay %s", files[i]);
            done++;
        } else {
            cli_progress(NULL, "replay", 1);
            broken = cli_error(&err);
        }
    }
    cli_progress(NULL, "replay", 1);
    const int code = cli_emit(output, records, done);
    if (!output->json && done > 1)
        printf("matched %llu/%llu words of %zu recordings\n", (unsigned long long)matched, (unsigned long long)total, done);
    for (size_t i = 0; i < done; i++) lb_record_close(records[i]);
    free(records);
    return broken ? broken : code;
}

/* ---- operations --------------------------------------------------------------------------------------------------------------- */

static void print_row(const lb_scalar_op *op, const lb_operations_row *row) {
    char text[128];
    printf("    row %zu:", row->row);
    for (int i = 0; i < op->ins; i++) {
        lb_scalar_text(op->in[i], row->in[i], text, sizeof text);
        printf(" %s", text);
    }
    lb_scalar_text(op->out[row->output], row->got, text, sizeof text);
    printf(" -> ");
    if (op->outs > 1) printf("o%d ", row->output);
    printf("%s, want ", text);
    lb_scalar_text(op->out[row->output], row->want, text, sizeof text);
    puts(text);
}

static void print_results(const lb_operations_result *r, size_t count, bool all, const char *recording) {
    size_t recorded = 0, match = 0, differ = 0, known = 0, unanswered = 0, unproven = 0;
    unsigned long long words = 0, wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const lb_operations_result *t = &r[i];
        recorded += t->recorded;
        match += t->verdict == LB_PASS;
        differ += t->verdict == LB_FAIL;
        known += t->known;
        unanswered += t->verdict == LB_SKIP && !t->known;
        unproven += t->verdict == LB_UNPROVEN;
        words += t->compared;
        wrong += t->differ;
        if (t->verdict != LB_FAIL && !t->known && !all) continue;
        printf("%s %s: %s\n", t->known ? "FAIL known" : lb_verdict_name(t->verdict), t->name, t->reason);
        for (size_t k = 0; k < t->row_count && !t->known; k++) print_row(t->op, &t->rows[k]);
    }
    printf(
        "%zu operations: %zu match, %zu differ, %zu known, %zu without an answer, %zu unproven; %llu of %llu words differ; right is %s\n",
        count, match, differ, known, unanswered, unproven, wrong, words, recorded ? recording : "the models (no recording)");
}

static int emit_results(const lb_operations_options *o, const lb_operations_result *r, size_t count, bool all, const cli_output *output) {
    lb_record **records = calloc(count + 1, sizeof(lb_record *));
    lb_verdict *verdicts = calloc(count + 1, sizeof *verdicts);
    lb_error err = {0};
    lb_status s = records && verdicts ? LB_OK : lb_fail(&err, LB_E_MEMORY, "", "no memory for the report");
    for (size_t i = 0; i < count && s == LB_OK; i++) {
        verdicts[i] = r[i].verdict;
        s = lb_operations_record(o, &r[i], &records[i], &err);
    }
    int code = s == LB_OK ? lb_records_exit(verdicts, count) : cli_error(&err);
    if (s == LB_OK && !output->json) print_results(r, count, all, o->recording);
    if (s == LB_OK && (output->json || output->junit)) {
        const cli_output quiet = {.json = output->json, .brief = true, .junit = output->junit};
        if (output->json)
            code = cli_emit(&quiet, records, count);
        else
            code = cli_junit(output->junit, records, count) == CLI_OK ? code : CLI_USAGE;
    }
    for (size_t i = 0; records && i < count; i++) lb_record_close(records[i]);
    free(records);
    free(verdicts);
    return code;
}

static int replay_operations(const lb_operations_options *o, bool all, const cli_output *output) {
    lb_operations_result *results;
    size_t count;
    lb_error err = {0};
    if (lb_operations_replay(o, &results, &count, &err) != LB_OK) {
        cli_progress(NULL, "replay", 1);
        /* a GPU or a program that fails is no wrong call */
        return err.status == LB_E_DEVICE || err.status == LB_E_TIMEOUT ? (cli_error(&err), CLI_FAIL) : cli_error(&err);
    }
    const int code = emit_results(o, results, count, all, output);
    free(results);
    return code;
}

/* 2 before 1 before 3 before 0, as the exit of a run. */
static int worse(int a, int b) {
    static const int order[] = {[CLI_OK] = 0, [CLI_UNPROVEN] = 1, [CLI_FAIL] = 2, [CLI_USAGE] = 3};
    return order[a] > order[b] ? a : b;
}

/* Recordings of operations among others: those first, each by itself. */
static int replay_mixed(lb_operations_options *o, bool all, char **files, int count, const cli_output *output) {
    int code = CLI_OK, others = 0;
    for (int i = 0; i < count; i++) {
        lb_error err = {0};
        bool operations = false;
        if (lb_operations_is_recording(files[i], &operations, &err) != LB_OK || !operations) {
            files[others++] = files[i]; /* what cannot be read is told with the others */
            continue;
        }
        o->recording = files[i];
        code = worse(code, replay_operations(o, all, output));
    }
    return others ? worse(code, replay_all(files, others, output)) : code;
}

static int replay(lb_operations_options *o, bool all, char **files, int count, const cli_output *output) {
    const bool asked = o->actual || o->on || o->command || o->known || o->approx || o->part;
    bool operations = count == 0;
    lb_error err = {0};
    if (!count && !o->actual && !o->on && !o->command)
        return cli_usage_error("replay", "no file given, and nobody to judge: --actual OUT, --on DEVICE or -- CMD");
    if (!asked) return replay_mixed(o, all, files, count, output);
    if (count == 1 && lb_operations_is_recording(files[0], &operations, &err) != LB_OK) return cli_error(&err);
    if (!operations)
        return cli_usage_error("replay", "--actual, --on, --known, --approx, --only and -- CMD take one recording op/1, or none");
    o->recording = count ? files[0] : NULL;
    return replay_operations(o, all, output);
}

int cli_replay(int argc, char **argv) {
    cli_output output = {0};
    lb_operations_options o = {.progress = cli_progress, .seed = 1, .timeout_seconds = 600};
    bool all = false, stop;
    const cli_option options[] = {
        {"actual", 0, CLI_TEXT, &o.actual, "OUT", "op/1: the outputs NAME.o0 … of whoever is judged, in safetensors"},
        {"on", 0, CLI_TEXT, &o.on, "DEVICE", "op/1: model, cuda or cuda:N answers"},
        {"only", 0, CLI_TEXT, &o.part, "PART", "op/1: only operations with this in their names"},
        {"known", 0, CLI_TEXT, &o.known, "JSON", "op/1: operations expected to differ; one that matches is an error"},
        {"approx", 0, CLI_TEXT, &o.approx, "JSON", "op/1: operations that may differ, in how many words"},
        {"all", 0, CLI_FLAG, &all, NULL, "op/1: print the operations that match too"},
        {"seed", 0, CLI_COUNT, &o.seed, "N", "op/1: of the standard rows, where there is no recording (default 1)"},
        {"timeout", 0, CLI_SECONDS, &o.timeout_seconds, "SECONDS", "op/1: for the program (default 600)"},
        CLI_OUTPUT_OPTIONS(output)};
    const cli_usage usage = {
        "lastbit replay FILE…\n       lastbit replay [OPS] (--actual OUT | --on DEVICE | -- CMD ARGS) [--known JSON] [--approx JSON]",
        "Replay recordings of real hardware (dot/1, gemm/1, op/1) against the models, word for word, and say what each\n"
        "recording does not exercise. A unit that is not modelled is SKIP.\n"
        "Of operations (op/1) the answers of a translator, an emulator or a device can be judged: against the recording OPS,\n"
        "or, without one, against the models on the standard rows.",
        options, sizeof options / sizeof options[0],
        "  lastbit replay recordings/*.safetensors\n"
        "  lastbit replay operations.safetensors --actual out.safetensors --known known.json\n"
        "  lastbit replay -- ./my_translator"};
    const int own = cli_find_command(argc, argv);
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    if (!args) return cli_usage_error("replay", "no memory");
    if (own < argc - 1) o.command = argv + own + 1;
    int count, code = cli_parse(&usage, own, argv, args, &count, &stop);
    if (!stop) code = replay(&o, all, args, count, &output);
    free(args);
    return code;
}
