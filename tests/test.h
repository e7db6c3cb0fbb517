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

#endif
