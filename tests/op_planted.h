/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For tests that plant a bug in a kernel as it is shipped: find a piece of its text, put another in its place, and run it as a user's. */
#ifndef LB_OP_PLANTED_H
#define LB_OP_PLANTED_H

#include "op_run.h"

#include "base/text.h"

#include <stdlib.h>

typedef struct planted {
    int line;
    const char *bug, *op, *sizes, *format;
    const char *find, *instead; /* every place */
} planted;

static inline char *planted_read(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    const size_t size = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    assert_true(size > 0 && size < (1 << 20) - 1);
    return text;
}

static inline void planted_write(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) fail_msg("%s cannot be written", path);
}

/* The text with the bug in it; as it is where there is none. */
static inline char *planted_text(const planted *p, const char *text) {
    lb_text out = {0};
    size_t places = 0;
    for (const char *at; p->find && (at = strstr(text, p->find)); text = at + strlen(p->find), places++) {
        lb_text_add_bytes(&out, text, (size_t)(at - text));
        lb_text_add(&out, "%s", p->instead);
    }
    lb_text_add(&out, "%s", text);
    if (p->find && !places) fail_msg("row at line %d: the kernel no longer has \"%s\"", p->line, p->find);
    assert_false(out.failed);
    return out.s;
}

#endif
