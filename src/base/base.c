/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lastbit/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *lb_status_text(lb_status status) {
    static const char *const texts[LB_STATUS_COUNT] = {
#define X(id, text) [LB_##id] = text,
        LB_STATUS_LIST(X)
#undef X
    };
    return (unsigned)status < LB_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *lb_version(void) {
    return LB_VERSION;
}

/* Text of a hostile file may hold anything; an error stays one printable line. */
static void make_printable(char *s) {
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f) *s = '?';
}

lb_status lb_fail(lb_error *err, lb_status status, const char *place, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        snprintf(err->place, sizeof err->place, "%s", place ? place : "");
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        make_printable(err->place);
        make_printable(err->message);
    }
    return status;
}

enum { MAX_NAME = 128 };

/* Levenshtein distance, one row at a time. */
static size_t edit_distance(const char *a, const char *b) {
    size_t row[MAX_NAME + 1];
    const size_t na = strnlen(a, MAX_NAME), nb = strnlen(b, MAX_NAME);
    for (size_t j = 0; j <= nb; j++) row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t above = row[j];
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[nb];
}

const char *lb_nearest_name(const char *name, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t best_distance = strlen(name) / 2 + 2; /* further away it is no help */
    for (size_t i = 0; i < count; i++) {
        const size_t d = edit_distance(name, names[i]);
        if (d < best_distance) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
