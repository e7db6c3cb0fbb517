/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/cuda/ptx_entry.h"

#include <stdlib.h>
#include <string.h>

/* A piece of the text: a word, or one other character; strings are one piece. Of length 0 at the end. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

static const char *skip_blanks(const char *p) {
    for (;;) {
        p += strspn(p, " \t\r\n\f\v");
        if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            return p;
        }
    }
}

static piece next(const char **p) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.";
    const char *at = skip_blanks(*p);
    size_t length = strspn(at, word);
    if (!length && *at == '"') {
        const char *end = strchr(at + 1, '"');
        length = end ? (size_t)(end + 1 - at) : strlen(at);
    } else if (!length && *at) {
        length = 1;
    }
    *p = at + length;
    return (piece){at, length};
}

static bool is(piece w, const char *text) {
    return w.length == strlen(text) && memcmp(w.at, text, w.length) == 0;
}

/* ".u64" is 8, anything that is no type 0. */
static size_t width_of(piece w) {
    if (w.length < 3 || w.length > 4 || w.at[0] != '.' || !strchr("busf", w.at[1])) return 0;
    const long bits = strtol(w.at + 2, NULL, 10);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (size_t)bits / 8 : 0;
}

/* ".param .align 8 .b8 name[16]" up to its comma or the parenthesis, which is returned. */
static piece parameter(const char **p, size_t *bytes) {
    size_t width = 0, times = 1;
    for (;;) {
        const piece w = next(p);
        if (!w.length || is(w, ",") || is(w, ")")) {
            *bytes = width * times;
            return w;
        }
        if (is(w, "[")) times = (size_t)strtoul(*p, NULL, 10);
        if (!width) width = width_of(w);
    }
}

bool lb_ptx_entry(const char *ptx, const char *entry, size_t bytes[LB_PTX_PARAMS], size_t *count) {
    const char *p = ptx;
    *count = 0;
    for (piece w = next(&p); w.length; w = next(&p)) {
        if (!is(w, ".entry") || !is(next(&p), entry)) continue;
        if (!is(next(&p), "(")) return true; /* none */
        const char *first = p;
        if (is(next(&first), ")")) return true;
        do {
            if (*count == LB_PTX_PARAMS) return false;
            w = parameter(&p, &bytes[*count]);
            if (!bytes[(*count)++]) return false;
        } while (is(w, ","));
        return w.length != 0;
    }
    return false;
}
