/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A growing string. On lack of memory it stays as it is and `failed` is set; check once, at the end. */
#ifndef LB_BASE_TEXT_H
#define LB_BASE_TEXT_H

#include "lastbit/base.h"

typedef struct lb_text {
    char *s; /* NUL-terminated once anything was added; free() */
    size_t length, capacity;
    bool failed;
} lb_text;

void lb_text_add(lb_text *t, const char *format, ...) LB_PRINTF(2, 3);
void lb_text_add_bytes(lb_text *t, const char *bytes, size_t count);
/** Hand the string over (a "" if nothing was added); NULL and LB_E_MEMORY if it failed. */
lb_status lb_text_take(lb_text *t, char **out, lb_error *err);

/** Finite doubles as the shortest decimal that reads back; "NaN", "Infinity", "-Infinity". */
void lb_text_add_double(lb_text *t, double x);

#endif
