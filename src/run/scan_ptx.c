/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PTX as text: the instructions of each entry and function, by their spelling. Operands are passed over. */
#include "run/scan.h"

#include "lastbit/scalar.h"
#include "lastbit/units.h"

#include "base/try.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 160 };

/* A place in the text. */
typedef struct reader {
    const char *at, *end;
    size_t line;
    const char *file;
    char target[16];
    size_t depth; /* of braces */
    bool named;   /* a kernel has begun, whose body follows or is here */
} reader;

static const struct {
    const char *begins;
    lb_scan_kind kind;
    bool floats;
    const char *note;
} words[] = {
#define LB_PTX_WORD(begins, kind, floats, note) {begins, LB_SCAN_##kind, floats, note},
#include "run/scan_ptx.def"
#undef LB_PTX_WORD
};

enum { WORDS = sizeof words / sizeof words[0] };

static lb_status broken(const reader *r, lb_error *err, const char *what) {
    return lb_fail(err, LB_E_FILE, r->file, "line %zu: %s", r->line, what);
}

static void step(reader *r) {
    if (*r->at++ == '\n') r->line++;
}

static bool starts(const reader *r, const char *text) {
    const size_t n = strlen(text);
    return (size_t)(r->end - r->at) >= n && memcmp(r->at, text, n) == 0;
}

/* Past white space and comments. */
static lb_status skip_blank(reader *r, lb_error *err) {
    while (r->at < r->end) {
        if (starts(r, "//")) {
            while (r->at < r->end && *r->at != '\n') step(r);
        } else if (starts(r, "/*")) {
            step(r), step(r);
            while (r->at < r->end && !starts(r, "*/")) step(r);
            if (r->at == r->end) return broken(r, err, "a comment that does not end");
            step(r), step(r);
        } else if (isspace((unsigned char)*r->at)) {
            step(r);
        } else {
            break;
        }
    }
    return LB_OK;
}

/* Past the ';' that ends a statement, which began in line `from`. */
static lb_status skip_statement(reader *r, size_t from, lb_error *err) {
    while (true) {
        LB_TRY(skip_blank(r, err));
        if (r->at == r->end) {
            r->line = from;
            return broken(r, err, "a statement that no ';' ends: the text is cut short");
        }
        const char c = *r->at;
        step(r);
        if (c == ';') return LB_OK;
        if (c != '"') continue;
        while (r->at < r->end && *r->at != '"' && *r->at != '\n') step(r);
        if (r->at < r->end) step(r);
    }
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '$' || c == '%';
}

/* A word; "::" is part of one, ":" is not. Its whole length in *length, what fits in word. */
static void read_word(reader *r, char word[MAX_WORD], const char **from, size_t *length) {
    *from = r->at;
    while (r->at < r->end && (is_word(*r->at) || starts(r, "::"))) {
        if (*r->at == ':') r->at++;
        r->at++;
    }
    *length = (size_t)(r->at - *from);
    const size_t n = *length < MAX_WORD ? *length : MAX_WORD - 1;
    memcpy(word, *from, n);
    word[n] = 0;
}

static bool has_float(const char *word) {
    static const char *const types[] = {".f16", ".bf16", ".f32", ".f64", ".tf32", ".e4m3", ".e5m2", ".e2m1", ".e2m3", ".e3m2", ".ue8m0"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strstr(word, types[i])) return true;
    return false;
}

static void fill_line(lb_scan *s, const reader *r, size_t row, lb_scan_line *line) {
    char name[sizeof line->name + 32];
    lb_unit u;
    const lb_scalar_op *op;
    line->kind = words[row].kind;
    line->note = words[row].note;
    line->source = "ptx-isa";
    line->evidence = LB_EVIDENCE_STATED;
    if (line->kind == LB_SCAN_MATRIX) {
        snprintf(name, sizeof name, "%s/%s", r->target, line->name);
        if (lb_unit_find(name, &u, NULL) == LB_OK)
            line->rows = lb_scan_keep(s, u.name);
        else if (!*line->note)
            line->note = "no unit row has this shape and these formats on this architecture";
    } else if (lb_scalar_find(line->name, &op, NULL) == LB_OK) {
        snprintf(name, sizeof name, "op:%s", line->name);
        line->rows = lb_scan_keep(s, name);
    } else {
        line->note = *line->note ? line->note : "no scalar row has this spelling";
    }
}

static lb_status count_instruction(lb_scan *s, const reader *r, const char *word, lb_error *err) {
    lb_scan_line *line;
    bool fresh;
    size_t row = 0;
    lb_scan_last(s)->instructions++;
    while (row < WORDS && (strncmp(word, words[row].begins, strlen(words[row].begins)) != 0 || (words[row].floats && !has_float(word))))
        row++;
    if (row == WORDS) return LB_OK;
    LB_TRY(lb_scan_count(s, word, 0, &line, &fresh, err));
    if (fresh) fill_line(s, r, row, line);
    return LB_OK;
}

/* "@p", "@!p" in front of an instruction. */
static lb_status skip_guard(reader *r, lb_error *err) {
    char word[MAX_WORD];
    const char *from;
    size_t length;
    if (r->at == r->end || *r->at != '@') return LB_OK;
    step(r);
    if (r->at < r->end && *r->at == '!') step(r);
    read_word(r, word, &from, &length);
    return skip_blank(r, err);
}

/* One statement of a body. */
static lb_status read_statement(lb_scan *s, reader *r, lb_error *err) {
    char word[MAX_WORD];
    const char *from;
    size_t length;
    LB_TRY(skip_guard(r, err));
    const size_t line = r->line;
    read_word(r, word, &from, &length);
    if (!length) return broken(r, err, "neither an instruction nor a directive nor a label");
    if (strcmp(word, ".loc") == 0 || strcmp(word, ".file") == 0) {
        while (r->at < r->end && *r->at != '\n') step(r);
        return LB_OK;
    }
    LB_TRY(skip_blank(r, err));
    if (r->at < r->end && *r->at == ':') {
        step(r);
        return LB_OK;
    }
    if (*word == '.') return skip_statement(r, line, err);
    if (length >= MAX_WORD) return broken(r, err, "an instruction of more than 159 letters");
    LB_TRY(skip_statement(r, line, err));
    return count_instruction(s, r, word, err);
}

/* The name behind .entry or .func, which may have a result in parentheses before it. */
static lb_status begin_kernel(lb_scan *s, reader *r, lb_error *err) {
    char word[MAX_WORD];
    const char *from;
    size_t length;
    LB_TRY(skip_blank(r, err));
    if (r->at < r->end && *r->at == '(') {
        while (r->at < r->end && *r->at != ')') step(r);
        if (r->at < r->end) step(r);
        LB_TRY(skip_blank(r, err));
    }
    read_word(r, word, &from, &length);
    if (!length) return broken(r, err, "an .entry or a .func without a name");
    r->named = true;
    return lb_scan_add_kernel(s, from, length, r->target, true, err);
}

/* One word outside of bodies. */
static lb_status read_outside(lb_scan *s, reader *r, lb_error *err) {
    char word[MAX_WORD];
    const char *from;
    size_t length;
    if (!is_word(*r->at)) {
        step(r);
        return LB_OK;
    }
    read_word(r, word, &from, &length);
    if (strcmp(word, ".entry") == 0 || strcmp(word, ".func") == 0) return begin_kernel(s, r, err);
    if (strcmp(word, ".target") != 0) return LB_OK;
    LB_TRY(skip_blank(r, err));
    read_word(r, word, &from, &length);
    if (length >= sizeof r->target) return broken(r, err, "a .target that is no sm_NN");
    memcpy(r->target, word, length + 1);
    return LB_OK;
}

/* Braces at the beginning of a statement: of a body, or of a block in one. Others belong to operands and initialisers. */
static bool take_brace(reader *r) {
    if (*r->at == '{' && (r->named || r->depth)) {
        r->depth++;
    } else if (*r->at == '}' && r->depth) {
        r->depth--;
        r->named = r->depth > 0;
    } else {
        return false;
    }
    step(r);
    return true;
}

lb_status lb_scan_ptx(lb_scan *s, const char *text, size_t size, const char *file, lb_error *err) {
    reader r = {.at = text, .end = text + size, .line = 1, .file = file};
    const char *nul = size ? memchr(text, 0, size) : NULL;
    if (nul && nul + 1 < r.end)
        return lb_fail(err, LB_E_FILE, file, "byte %zu: neither a cubin, a fatbinary nor PTX", (size_t)(nul - text));
    if (nul) r.end = nul; /* as the driver takes it */
    LB_TRY(skip_blank(&r, err));
    if (!starts(&r, ".version")) return broken(&r, err, "neither a cubin, a fatbinary nor PTX, which begins with .version");
    while (true) {
        LB_TRY(skip_blank(&r, err));
        if (r.at == r.end) break;
        if (take_brace(&r)) continue;
        if (r.depth) {
            LB_TRY(read_statement(s, &r, err));
            continue;
        }
        if (r.named && *r.at == ';') r.named = false; /* a declaration */
        LB_TRY(read_outside(s, &r, err));
    }
    if (r.depth) return broken(&r, err, "a body that does not end: the text is cut short");
    if (*r.target) return LB_OK;
    return broken(&r, err, "PTX without .target");
}
