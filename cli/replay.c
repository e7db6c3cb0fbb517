/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit replay: recordings against the models. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

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

int cli_replay(int argc, char **argv) {
    cli_output output = {0};
    const cli_option options[] = {CLI_OUTPUT_OPTIONS(output)};
    const cli_usage usage = {
        "lastbit replay FILE…",
        "Replay recordings of real hardware (dot/1, gemm/1) against the model of their unit, word for word, and say what each\n"
        "recording does not exercise. A unit that is not modelled is SKIP.",
        options, sizeof options / sizeof options[0], NULL};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop) code = count ? replay_all(args, count, &output) : cli_usage_error("replay", "no file given");
    free(args);
    return code;
}
