/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_error(const lb_error *err) {
    fprintf(stderr, "lastbit: %s%s%s\n", err->place, err->place[0] ? ": " : "", err->message);
    return err->status == LB_E_UNAVAILABLE ? CLI_UNPROVEN : CLI_USAGE;
}

static bool color_wanted(void) {
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no && *no);
}

lb_status cli_write_junit(const char *path, lb_record *const *records, size_t count, lb_error *err) {
    char *text;
    lb_status s = lb_report_junit((const lb_record *const *)records, count, &text, err);
    if (s != LB_OK) return s;
    FILE *f = fopen(path, "wb");
    bool ok = f && fputs(text, f) >= 0;
    if (f) ok = fclose(f) == 0 && ok;
    free(text);
    return ok ? LB_OK : lb_fail(err, LB_E_FILE, path, "the JUnit report cannot be written: %s", strerror(errno));
}

int cli_emit(const cli_output *output, lb_record *const *records, size_t count) {
    lb_error err;
    lb_verdict *verdicts = malloc((count + 1) * sizeof *verdicts);
    lb_status s = verdicts ? LB_OK : lb_fail(&err, LB_E_MEMORY, "", "no memory for the report");
    for (size_t i = 0; s == LB_OK && i < count; i++) {
        char *text;
        s = output->json    ? lb_record_to_json(records[i], &text, &err)
            : output->brief ? lb_report_brief(records[i], color_wanted(), &text, &err)
                            : lb_report_text(records[i], color_wanted(), &text, &err);
        if (s != LB_OK) break;
        printf("%s%s", text, output->json ? "\n" : "");
        free(text);
        verdicts[i] = records[i]->verdict;
    }
    if (s == LB_OK && output->junit) s = cli_write_junit(output->junit, records, count, &err);
    const int code = s == LB_OK ? lb_records_exit(verdicts, count) : cli_error(&err);
    free(verdicts);
    return code;
}

int cli_junit(const char *path, lb_record *const *records, size_t count) {
    lb_error err;
    return cli_write_junit(path, records, count, &err) == LB_OK ? CLI_OK : cli_error(&err);
}

void cli_progress(void *user, const char *stage, double fraction) {
    (void)user;
    if (!isatty(STDERR_FILENO)) return;
    if (fraction >= 1)
        fprintf(stderr, "\r%*s\r", 40, "");
    else
        fprintf(stderr, "\r%s %3.0f %%", stage, 100 * fraction);
    fflush(stderr);
}

static bool is_plain(const char *s) {
    return *s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%") == strlen(s);
}

char *cli_command_line(int argc, char *const *argv) {
    size_t size = 16;
    for (int i = 0; i < argc; i++) size += 4 * strlen(argv[i]) + 3;
    char *line = malloc(size), *p = line;
    if (!line) return NULL;
    p += sprintf(p, "lastbit");
    for (int i = 0; i < argc; i++) {
        *p++ = ' ';
        if (is_plain(argv[i])) {
            p = stpcpy(p, argv[i]);
            continue;
        }
        *p++ = '\'';
        for (const char *s = argv[i]; *s; s++) {
            if (*s == '\'')
                p = stpcpy(p, "'\\''");
            else
                *p++ = *s;
        }
        *p++ = '\'';
    }
    *p = 0;
    return line;
}
