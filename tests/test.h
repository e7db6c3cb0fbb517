/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What every test file includes: cmocka with the headers that it wants before it, and failures that name the row. */
#ifndef LB_TEST_H
#define LB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A program of which every test was skipped exits with 77, which CTest counts as skipped (CONTRIBUTING.md). */
static size_t tests_skipped;
#undef skip
#define skip() (tests_skipped++, _skip(__FILE__, __LINE__))

static inline int exit_code_of(int failed, size_t tests) {
    return failed || tests_skipped < tests ? failed : 77;
}

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, set_up, tear_down)                                                                                   \
    exit_code_of(_cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down),                            \
                 sizeof(tests) / sizeof((tests)[0]))

/* `row` is the line of the table row that failed, which is what one wants to look at. */
#define EXPECT_CODE(row, got, want)                                                                                                        \
    do {                                                                                                                                   \
        const unsigned long long got_ = (got), want_ = (want);                                                                             \
        if (got_ != want_) fail_msg("row at %s:%d: got 0x%llx, want 0x%llx", __FILE__, (int)(row), got_, want_);                           \
    } while (0)

#define EXPECT_STRING(row, got, want)                                                                                                      \
    do {                                                                                                                                   \
        const char *got_ = (got), *want_ = (want);                                                                                         \
        if (strcmp(got_, want_) != 0) fail_msg("row at %s:%d: got \"%s\", want \"%s\"", __FILE__, (int)(row), got_, want_);                \
    } while (0)

/* An f32's bits, and back. */
static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
