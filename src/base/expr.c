/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/expr.h"

#include "base/try.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct parser {
    const char *text, *p, *place;
    const lb_expr_var *vars;
    size_t count;
    int depth;
    lb_error *err;
} parser;

static lb_status sum(parser *s, int64_t *out);

static lb_status bad(const parser *s, const char *what) {
    return lb_fail(s->err, LB_E_FILE, s->place, "\"%.80s\", column %zu: %s", s->text, (size_t)(s->p - s->text) + 1, what);
}

static bool take(parser *s, char c) {
    while (*s->p == ' ') s->p++;
    if (*s->p != c) return false;
    s->p++;
    return true;
}

static lb_status number(parser *s, int64_t *out) {
    *out = 0;
    for (; isdigit((unsigned char)*s->p); s->p++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *s->p - '0', out)) return bad(s, "too large");
    return LB_OK;
}

static lb_status apply(parser *s, const char *name, size_t length, int64_t a, int64_t b, int64_t *out) {
    const bool roundup = length == 7 && memcmp(name, "roundup", 7) == 0, ceildiv = length == 7 && memcmp(name, "ceildiv", 7) == 0;
    if (length == 3 && memcmp(name, "min", 3) == 0)
        *out = a < b ? a : b;
    else if (length == 3 && memcmp(name, "max", 3) == 0)
        *out = a > b ? a : b;
    else if (!roundup && !ceildiv)
        return bad(s, "no such function; min, max, ceildiv, roundup are");
    else if (a < 0 || b <= 0)
        return bad(s, "wants a >= 0 and b > 0");
    else {
        *out = a / b + (a % b != 0);
        if (roundup && __builtin_mul_overflow(*out, b, out)) return bad(s, "too large");
    }
    return LB_OK;
}

static lb_status no_such_name(const parser *s) {
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < s->count && used + 32 < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.24s",
                                 i == 0             ? ""
                                 : i + 1 < s->count ? ", "
                                                    : " and ",
                                 s->vars[i].name);
    char what[320];
    snprintf(what, sizeof what, "no such name; %s %s", s->count ? names : "none", s->count == 1 ? "is" : "are");
    return bad(s, what);
}

static lb_status name(parser *s, int64_t *out) {
    const char *start = s->p;
    while (isalnum((unsigned char)*s->p) || *s->p == '_') s->p++;
    const size_t length = (size_t)(s->p - start);
    if (take(s, '(')) {
        int64_t a, b;
        LB_TRY(sum(s, &a));
        if (!take(s, ',')) return bad(s, "a comma should stand here");
        LB_TRY(sum(s, &b));
        if (!take(s, ')')) return bad(s, "a ) should stand here");
        return apply(s, start, length, a, b, out);
    }
    for (size_t i = 0; i < s->count; i++)
        if (strncmp(s->vars[i].name, start, length) == 0 && !s->vars[i].name[length]) {
            *out = s->vars[i].value;
            return LB_OK;
        }
    return no_such_name(s);
}

static lb_status factor(parser *s, int64_t *out) {
    if (++s->depth > MAX_DEPTH) return bad(s, "nested too deep");
    while (*s->p == ' ') s->p++;
    lb_status status;
    if (isdigit((unsigned char)*s->p))
        status = number(s, out);
    else if (isalpha((unsigned char)*s->p))
        status = name(s, out);
    else if (take(s, '(')) {
        status = sum(s, out);
        if (status == LB_OK && !take(s, ')')) status = bad(s, "a ) should stand here");
    } else
        status = bad(s, "a number, a name or a ( should stand here");
    s->depth--;
    return status;
}

static lb_status product(parser *s, int64_t *out) {
    int64_t b;
    LB_TRY(factor(s, out));
    for (;;) {
        const char op = take(s, '*') ? '*' : take(s, '/') ? '/' : take(s, '%') ? '%' : 0;
        if (!op) return LB_OK;
        LB_TRY(factor(s, &b));
        if (op == '*') {
            if (__builtin_mul_overflow(*out, b, out)) return bad(s, "too large");
        } else if (b == 0 || (b == -1 && *out == INT64_MIN))
            return bad(s, "division by zero");
        else
            *out = op == '/' ? *out / b : *out % b;
    }
}

static lb_status sum(parser *s, int64_t *out) {
    int64_t b;
    LB_TRY(product(s, out));
    for (;;) {
        const char op = take(s, '+') ? '+' : take(s, '-') ? '-' : 0;
        if (!op) return LB_OK;
        LB_TRY(product(s, &b));
        if (op == '+' ? __builtin_add_overflow(*out, b, out) : __builtin_sub_overflow(*out, b, out)) return bad(s, "too large");
    }
}

lb_status lb_expr_eval(const char *text, const lb_expr_var *vars, size_t count, const char *place, int64_t *out, lb_error *err) {
    parser s = {text, text, place, vars, count, 0, err};
    LB_TRY(sum(&s, out));
    while (*s.p == ' ') s.p++;
    return *s.p ? bad(&s, "something stands behind the expression") : LB_OK;
}
