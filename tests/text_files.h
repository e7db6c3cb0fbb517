/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For tests that read and write whole files, and ask python. */
#ifndef LB_TEXT_FILES_H
#define LB_TEXT_FILES_H

#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file of up to a MiB; free() */
static inline char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    const size_t size = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    assert_true(size > 0 && size < (1 << 20) - 1);
    return text;
}

static inline void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) fail_msg("%s cannot be written", path);
}

/* Run a script of python3, which exits with 0, or with 77 where it lacks a module: the test is skipped. */
static inline void ask_python(const char *name, const char *script, const char *first, const char *second) {
    const pid_t child = fork();
    if (child == 0) {
        execlp("python3", "python3", "-c", script, first, second, (char *)NULL);
        _exit(77);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        printf("SKIP %s: python3, or a module that it needs, is missing\n", name);
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
