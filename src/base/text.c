/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(lb_text *t, size_t more) {
    if (t->failed || more > SIZE_MAX / 4 - t->length) return !(t->failed = true);
    const size_t need = t->length + more + 1;
    if (need <= t->capacity) return true;
    const size_t capacity = need < 256 ? 256 : need * 2;
    char *s = realloc(t->s, capacity);
    if (!s) return !(t->failed = true);
    t->s = s;
    t->capacity = capacity;
    return true;
}

void lb_text_add_bytes(lb_text *t, const char *bytes, size_t count) {
    if (!reserve(t, count)) return;
    if (count) memcpy(t->s + t->length, bytes, count);
    t->length += count;
    t->s[t->length] = 0;
}

void lb_text_add(lb_text *t, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        t->failed = true;
    else if (reserve(t, (size_t)n)) {
        vsnprintf(t->s + t->length, (size_t)n + 1, format, again);
        t->length += (size_t)n;
    }
    va_end(again);
}

void lb_text_add_double(lb_text *t, double x) {
    if (isnan(x))
        lb_text_add(t, "NaN");
    else if (isinf(x))
        lb_text_add(t, x < 0 ? "-Infinity" : "Infinity");
    else {
        char s[32];
        for (int digits = 6; digits <= 17; digits++) {
            snprintf(s, sizeof s, "%.*g", digits, x);
            if (strtod(s, NULL) == x) break;
        }
        lb_text_add(t, "%s", s);
    }
}

lb_status lb_text_take(lb_text *t, char **out, lb_error *err) {
    lb_text_add_bytes(t, "", 0); /* at least "" */
    *out = t->failed ? NULL : t->s;
    if (t->failed) free(t->s);
    const bool failed = t->failed;
    *t = (lb_text){0};
    return failed ? lb_fail(err, LB_E_MEMORY, "", "no memory for text") : LB_OK;
}
