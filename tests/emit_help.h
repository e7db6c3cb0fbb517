/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of emitted source share: one unit for each distinct arithmetic, batches of dots with the model's answers, compilers. */
#ifndef LB_EMIT_HELP_H
#define LB_EMIT_HELP_H

#include "test.h"

#include "lastbit/emit.h"
#include "lastbit/gemm.h"
#include "lastbit/refs.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EMIT_SIDE = 100, EMIT_BATCHES = 10, EMIT_MAX_UNITS = 256 }; /* 10 x 100 x 100 dots a unit */

static char emit_folder[] = "/tmp/lastbit-emit.XXXXXX";

static inline bool emit_full(void) {
    const char *full = getenv("LB_FULL");
    return full && strcmp(full, "0") != 0;
}

/* Whether two units have the same arithmetic, but for k. Pairs with fp6 or fp4 count as one if their first format is the same. */
static inline bool emit_alike(const lb_unit *x, const lb_unit *y) {
    const bool narrow = lb_format_row(x->b)->bits < 8 && lb_format_row(y->b)->bits < 8;
    return x->a == y->a && (x->b == y->b || narrow) && x->d == y->d && x->terms == y->terms && x->frac_bits == y->frac_bits &&
           x->floor_exp == y->floor_exp && x->round == y->round && x->path == y->path;
}

/* Units that can be written: one of each arithmetic, that with the longest K step; all of them where `all`. */
static inline size_t emit_units(lb_unit *out, bool all) {
    size_t count = 0;
    const lb_unit *u;
    for (size_t i = 0; (u = lb_unit_row(i)) != NULL; i++) {
        if (lb_emit_can(u, NULL) != LB_OK) continue;
        size_t at = count;
        for (size_t j = 0; !all && j < count; j++)
            if (emit_alike(u, &out[j])) at = j;
        assert_true(at < EMIT_MAX_UNITS);
        if (at == count || u->k > out[at].k) out[at] = *u;
        count += at == count;
    }
    return count;
}

/* A batch: codes as words, b transposed, and the model's d. */
typedef struct emit_batch {
    uint32_t m, n, k;
    uint32_t a[EMIT_SIDE * 128], b[EMIT_SIDE * 128], c[EMIT_SIDE * EMIT_SIDE], d[EMIT_SIDE * EMIT_SIDE];
} emit_batch;

/* Products that cancel in pairs, but for a step of the last place. */
static inline void emit_cancel(const lb_format *fa, const lb_format *fb, emit_batch *x) {
    for (uint32_t r = 0; r < x->m; r++)
        for (uint32_t i = 0; i + 1 < x->k; i += 2) x->a[r * x->k + i + 1] = x->a[r * x->k + i] ^ UINT32_C(1) << (fa->bits - 1);
    for (uint32_t r = 0; r < x->n; r++)
        for (uint32_t i = 0; i + 1 < x->k; i += 2)
            x->b[r * x->k + i + 1] = x->b[r * x->k + i] ^ (uint32_t)(lb_random_u64(9, 9, r * 128 + i) & 1) << fb->pad_bits;
}

static inline void emit_draw(const lb_unit *u, int kind, emit_batch *x) {
    static const struct {
        lb_dist ab, c;
        int zeros; /* of 8 operands */
    } kinds[EMIT_BATCHES] = {{LB_DIST_BITS, LB_DIST_BITS, 0},     {LB_DIST_SPECIAL, LB_DIST_SPECIAL, 0}, {LB_DIST_WIDE, LB_DIST_WIDE, 1},
                             {LB_DIST_NORMAL, LB_DIST_NORMAL, 0}, {LB_DIST_INTEGER, LB_DIST_INTEGER, 2}, {LB_DIST_BITS, LB_DIST_SPECIAL, 7},
                             {LB_DIST_NORMAL, LB_DIST_NORMAL, 0}, {LB_DIST_WIDE, LB_DIST_SPECIAL, 7},    {LB_DIST_SPECIAL, LB_DIST_BITS, 6},
                             {LB_DIST_BITS, LB_DIST_SPECIAL, 0}};
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
    const uint64_t seed = 1000 + (uint64_t)kind;
    x->m = x->n = EMIT_SIDE;
    x->k = u->k;
    for (uint32_t i = 0; i < x->m * x->k; i++) {
        const uint64_t random = lb_random_u64(seed, 3, i);
        x->a[i] = (int)(random & 7) < kinds[kind].zeros ? 0 : (uint32_t)lb_draw(fa, kinds[kind].ab, seed, 1, i);
        x->b[i] = (int)(random >> 3 & 7) < kinds[kind].zeros ? 0 : (uint32_t)lb_draw(fb, kinds[kind].ab, seed, 2, i);
        if (kind == 8 && (random >> 6 & 3) == 0) x->a[i] = (uint32_t)(random >> 32 & 1) << fa->pad_bits; /* the least subnormal */
        if (fa->pad_bits) x->a[i] |= (uint32_t)(random >> 40) & 0xfff;                                   /* which drop */
    }
    for (uint32_t i = 0; i < x->m * x->n; i++) x->c[i] = kind == 6 || i % 5 == 0 ? 0 : (uint32_t)lb_draw(fc, kinds[kind].c, seed, 4, i);
    if (kind == 6) emit_cancel(fa, fb, x);
}

/* Matrices of codes in the formats' own bytes, for the model. */
static inline void emit_want(const lb_unit *u, emit_batch *x) {
    static unsigned char a[EMIT_SIDE * 128 * 4], b[EMIT_SIDE * 128 * 4], c[EMIT_SIDE * EMIT_SIDE * 4], d[EMIT_SIDE * EMIT_SIDE * 4];
    lb_mat ma = lb_mat_of(lb_format_row(u->a), a, x->m, x->k), mb = lb_mat_of(lb_format_row(u->b), b, x->k, x->n);
    lb_mat mc = lb_mat_of(lb_format_row(u->c), c, x->m, x->n), md = lb_mat_of(lb_format_row(u->d), d, x->m, x->n);
    for (size_t r = 0; r < x->m; r++)
        for (size_t i = 0; i < x->k; i++) lb_store_code(lb_mat_at(&ma, r, i), ma.format->bytes, x->a[r * x->k + i]);
    for (size_t r = 0; r < x->n; r++)
        for (size_t i = 0; i < x->k; i++) lb_store_code(lb_mat_at(&mb, i, r), mb.format->bytes, x->b[r * x->k + i]);
    for (size_t i = 0; i < (size_t)x->m * x->n; i++) lb_store_code(lb_mat_at(&mc, i / x->n, i % x->n), mc.format->bytes, x->c[i]);
    lb_error err = {0};
    if (lb_unit_gemm(u, &ma, &mb, &mc, &md, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    for (size_t i = 0; i < (size_t)x->m * x->n; i++) x->d[i] = (uint32_t)lb_mat_code(&md, i / x->n, i % x->n);
}

static inline void emit_path(char *out, size_t size, const char *name) {
    snprintf(out, size, "%s/%s", emit_folder, name);
}

static inline void emit_write(const char *name, const void *bytes, size_t count) {
    char path[256];
    emit_path(path, sizeof path, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, count, f) != count || fclose(f) != 0) fail_msg("%s cannot be written", path);
}

static inline char *emit_text_of(const lb_unit *u, lb_emit_options o) {
    lb_error err = {0};
    char *text;
    if (lb_emit_unit(u, &o, &text, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return text;
}

static inline char *emit_text(const lb_unit *u, lb_emit_language language, bool fragment, bool integers) {
    return emit_text_of(u, (lb_emit_options){.language = language, .fragment = fragment, .integers = integers});
}

static inline void emit_identifier(const lb_unit *u, char *out, size_t size) {
    snprintf(out, size, "%.*s", (int)size - 1, u->name);
    for (char *s = out; *s; s++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *s)) *s = '_';
}

/* Run a command line in the shell; its exit status. */
static inline int emit_run(const char *format, ...) LB_PRINTF(1, 2);
static inline int emit_run(const char *format, ...) {
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool emit_have(const char *program) {
    return emit_run("command -v %s > /dev/null 2>&1", program) == 0;
}

#endif
