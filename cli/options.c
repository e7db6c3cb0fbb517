/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Options as rows; getopt_long does the reading. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPTIONS = 40, FIRST_LONG = 256 };

/* Bytes of UTF-8 that take no column. */
static int continuation_bytes(const char *s) {
    int count = 0;
    for (; *s; s++) count += (*s & 0xc0) == 0x80;
    return count;
}

static void print_usage(const cli_usage *u) {
    printf("usage: %s\n\n%s\n\noptions:\n", u->synopsis, u->description);
    for (size_t i = 0; i < u->option_count; i++) {
        const cli_option *o = &u->options[i];
        char left[64];
        const char letter[] = {'-', o->letter, ',', ' ', 0};
        snprintf(left, sizeof left, "%s--%s%s%s", o->letter ? letter : "", o->name, o->metavar ? " " : "", o->metavar ? o->metavar : "");
        const int wide = 22 + continuation_bytes(left);
        printf("  %-*s %s\n", wide, left, o->help);
    }
    printf("  %-22s %s\n", "-h, --help", "this text");
    if (u->examples) printf("\nexamples:\n%s\n", u->examples);
}

int cli_usage_error(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "lastbit %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "; lastbit %s --help says more\n", command);
    va_end(args);
    return CLI_USAGE;
}

/* Decimal or 0x hexadecimal, nothing behind it. */
static bool parse_count(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    if (!*text || strchr(text, '-')) return false;
    *out = strtoull(text, &end, 0);
    return *end == 0 && errno == 0;
}

static bool parse_seconds(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && *end == 0 && isfinite(*out) && *out > 0;
}

/* What says that a file cannot be written there; NULL where nothing does. */
static const char *why_no_file(const char *path, char room[300]) {
    struct stat about;
    char folder[256];
    if (stat(path, &about) == 0)
        return S_ISDIR(about.st_mode) ? "it is a folder; name a file" : access(path, W_OK) == 0 ? NULL : strerror(errno);
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (!*path || (slash && !slash[1])) return "that names no file";
    if (length >= sizeof folder) return NULL; /* writing will say */
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)length + !length : 1, slash ? path : ".");
    const bool there = stat(folder, &about) == 0;
    if (there && S_ISDIR(about.st_mode) && access(folder, W_OK | X_OK) == 0) return NULL;
    snprintf(room, 300, "the folder %s: %s", folder, there && !S_ISDIR(about.st_mode) ? "that is a file" : strerror(errno));
    return room;
}

int cli_check_output(const char *command, const char *option, const char *path) {
    char room[300];
    const char *why = why_no_file(path, room);
    if (why) fprintf(stderr, "lastbit %s: --%s %s: it cannot be written: %s\n", command, option, path, why);
    return why ? CLI_USAGE : CLI_OK;
}

static bool store(const cli_option *o, const char *text) {
    switch (o->kind) {
    case CLI_FLAG: *(bool *)o->value = true; return true;
    case CLI_FILE:
    case CLI_TEXT: *(const char **)o->value = text; return true;
    case CLI_TEXTS: {
        cli_texts *all = o->value;
        if (all->count == sizeof all->items / sizeof all->items[0]) return false;
        all->items[all->count++] = text;
        return true;
    }
    case CLI_COUNT: return parse_count(text, o->value);
    case CLI_SECONDS: return parse_seconds(text, o->value);
    }
    return false;
}

static const cli_option *option_of(const cli_usage *u, int code) {
    if (code >= FIRST_LONG && (size_t)(code - FIRST_LONG) < u->option_count) return &u->options[code - FIRST_LONG];
    for (size_t i = 0; i < u->option_count; i++)
        if (u->options[i].letter && u->options[i].letter == code) return &u->options[i];
    return NULL;
}

static int unknown_option(const cli_usage *u, const char *command, const char *text) {
    const char *names[MAX_OPTIONS];
    for (size_t i = 0; i < u->option_count; i++) names[i] = u->options[i].name;
    const char *near = text[0] == '-' && text[1] == '-' ? lb_nearest_name(text + 2, names, u->option_count) : NULL;
    if (near) return cli_usage_error(command, "unknown option %s; did you mean --%s?", text, near);
    return cli_usage_error(command, "unknown option %s", text);
}

int cli_parse(const cli_usage *u, int argc, char **argv, char **args, int *count, bool *stop) {
    struct option longs[MAX_OPTIONS + 2];
    char shorts[3 * MAX_OPTIONS + 4] = ":h";
    size_t used = 2;
    *stop = true;
    *count = 0;
    for (size_t i = 0; i < u->option_count; i++) {
        const cli_option *o = &u->options[i];
        longs[i] = (struct option){o->name, o->kind == CLI_FLAG ? no_argument : required_argument, NULL, FIRST_LONG + (int)i};
        if (o->letter) used += (size_t)snprintf(shorts + used, sizeof shorts - used, "%c%s", o->letter, o->kind == CLI_FLAG ? "" : ":");
    }
    longs[u->option_count] = (struct option){"help", no_argument, NULL, 'h'};
    longs[u->option_count + 1] = (struct option){0};
    optind = 0; /* start anew, GNU's way */
    opterr = 0;
    int code;
    while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (code == 'h') {
            print_usage(u);
            return CLI_OK;
        }
        const cli_option *o = option_of(u, code);
        if (code == ':') return cli_usage_error(argv[0], "%s: its value is missing", argv[optind - 1]);
        if (!o) return unknown_option(u, argv[0], argv[optind - 1]);
        if (!store(o, optarg))
            return cli_usage_error(argv[0], "--%s %s: %s", o->name, optarg,
                                   o->kind == CLI_COUNT   ? "not a whole number"
                                   : o->kind == CLI_TEXTS ? "given too often"
                                                          : "not a positive number");
    }
    for (int i = optind; i < argc; i++) args[(*count)++] = argv[i];
    for (size_t i = 0; i < u->option_count; i++) { /* before the work, not after it */
        const cli_option *o = &u->options[i];
        const char *path = o->kind == CLI_FILE ? *(const char **)o->value : NULL;
        const int bad = path ? cli_check_output(argv[0], o->name, path) : CLI_OK;
        if (bad != CLI_OK) return bad;
    }
    *stop = false;
    return CLI_OK;
}

lb_status cli_choose(const char *option, const char *said, const char *const *names, size_t count, size_t *out, lb_error *err) {
    *out = 0;
    if (!said) return LB_OK;
    for (size_t i = 0; i < count; i++) {
        *out = i;
        if (strcmp(said, names[i]) == 0) return LB_OK;
    }
    const char *near = lb_nearest_name(said, names, count);
    return lb_fail(err, LB_E_ARG, option, "\"%s\" is not known; did you mean %s?", said, near ? near : names[0]);
}
