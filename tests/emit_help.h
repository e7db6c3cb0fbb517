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

/* 10 x 100 x 100 dots a unit; tiles of up to 128 lines */
enum { EMIT_SIDE = 100, EMIT_LINES = 128, EMIT_BATCHES = 10, EMIT_MAX_UNITS = 720, EMIT_MAX_K = 256, EMIT_MAX_SCALES = 8 };

static char emit_folder[] = "/tmp/lastbit-emit.XXXXXX";

static inline bool emit_full(void) {
    const char *full = getenv("LB_FULL");
    return full && strcmp(full, "0") != 0;
}

/* Whether two units have the same arithmetic, but for k. Pairs with fp6 or fp4 count as one if their first format is the same; so do all
 * where dense blocks have the other pairs. */
static inline bool emit_alike(const lb_unit *x, const lb_unit *y) {
    const bool dense_too = x->path == LB_PATH_BLOCK_SCALED || x->path == LB_PATH_SPARSE || x->path == LB_PATH_LATE_C_SPLIT;
    const bool narrow =
        dense_too || (lb_format_row(x->b)->bits < 8 && lb_format_row(y->b)->bits < 8 && lb_format_row(x->b)->special == LB_SPECIAL_NONE);
    const bool exact = lb_format_row(x->c)->special == LB_SPECIAL_INT;
    const bool scaled = x->scale_block == y->scale_block && x->group == y->group && (!x->scale_block || x->scale == y->scale);
    return x->a == y->a && (x->b == y->b || narrow) && x->d == y->d && (exact || x->terms == y->terms) && x->frac_bits == y->frac_bits &&
           x->floor_exp == y->floor_exp && x->round == y->round && x->path == y->path && x->sparse_group == y->sparse_group && scaled;
}

/* ---- what a unit takes ------------------------------------------------------------------------------------------------------ */

static inline uint32_t emit_products(const lb_unit *u) {
    return u->sparse_group ? u->k / 2u : u->k;
}

static inline uint32_t emit_scales(const lb_unit *u) {
    return u->scale_block ? u->k / (unsigned)u->scale_block : 0;
}

static inline uint32_t emit_words(lb_format_id f) {
    return lb_format_row(f)->bits > 32 ? 2 : 1;
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

/* A batch: codes as words (of 64 bits in two, the low one first), b transposed, and the model's d. */
typedef struct emit_batch {
    uint32_t m, n, k, products, scales, words, words_d; /* words of a code of A and B, and of C and D */
    uint32_t a[EMIT_LINES * EMIT_MAX_K], b[EMIT_LINES * EMIT_MAX_K], c[EMIT_LINES * EMIT_LINES * 2], d[EMIT_LINES * EMIT_LINES * 2];
    uint32_t scale_a[EMIT_LINES * EMIT_MAX_SCALES], scale_b[EMIT_LINES * EMIT_MAX_SCALES], meta[EMIT_LINES * EMIT_MAX_K];
} emit_batch;

static inline uint64_t emit_code(const uint32_t *words, uint32_t each, size_t i) {
    return each == 2 ? words[2 * i] | (uint64_t)words[2 * i + 1] << 32 : words[i];
}

static inline void emit_put(uint32_t *words, uint32_t each, size_t i, uint64_t code) {
    words[i * each] = (uint32_t)code;
    if (each == 2) words[2 * i + 1] = (uint32_t)(code >> 32);
}

/* Products that cancel in pairs, but for a step of the last place. */
static inline void emit_cancel(const lb_format *fa, const lb_format *fb, emit_batch *x) {
    for (uint32_t r = 0; r < x->m; r++)
        for (uint32_t i = 0; i + 1 < x->products; i += 2) {
            const uint64_t code = emit_code(x->a, x->words, r * x->products + i);
            emit_put(x->a, x->words, r * x->products + i + 1, code ^ UINT64_C(1) << (fa->bits - 1));
        }
    for (uint32_t r = 0; r < x->n; r++)
        for (uint32_t i = 0; i + 1 < x->k; i += 2) {
            const uint64_t code = emit_code(x->b, x->words, r * x->k + i);
            emit_put(x->b, x->words, r * x->k + i + 1, code ^ (lb_random_u64(9, 9, r * 128 + i) & 1) << fb->pad_bits);
        }
}

/* Places of a compressed A, ascending in each group. */
static inline void emit_draw_meta(const lb_unit *u, uint64_t seed, emit_batch *x) {
    static const uint32_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (uint32_t i = 0; u->sparse_group && i < x->m * x->products; i++) {
        const uint64_t random = lb_random_u64(seed, 6, u->sparse_group == 4 ? i / 2 : i);
        x->meta[i] = u->sparse_group == 4 ? pairs[random % 6][i % 2] : (uint32_t)random & 1;
    }
}

/* Scales around 1, of all exponents, or with NaN and zeros among them. */
static inline void emit_draw_scales(const lb_unit *u, int kind, uint64_t seed, emit_batch *x) {
    if (!x->scales) return;
    const lb_format *f = lb_format_row(u->scale);
    const lb_dist dist = kind == 0 ? LB_DIST_BITS : kind == 1 || kind == 8 ? LB_DIST_SPECIAL : LB_DIST_WIDE;
    for (uint32_t i = 0; i < EMIT_LINES * x->scales; i++) {
        x->scale_a[i] = (uint32_t)lb_draw(f, dist, seed, 7, i);
        x->scale_b[i] = (uint32_t)lb_draw(f, dist, seed, 8, i);
        if (dist == LB_DIST_SPECIAL && lb_random_u64(seed, 10, i) % 8) x->scale_a[i] = x->scale_b[i] = (uint32_t)lb_from_double(f, 1);
    }
}

/* Whether each step of the path is rounded, or c joins late: what blocks under one exponent do not have to get right. */
static inline bool emit_rounds(const lb_unit *u) {
    return u->path == LB_PATH_FMA_CHAIN || (u->path >= LB_PATH_EXACT && u->path <= LB_PATH_LATE_C_SPLIT) || u->path >= LB_PATH_ODD_FIRST;
}

static inline uint64_t emit_near(const lb_format *f, int32_t e, uint64_t random) {
    const uint64_t man = random >> 8 & ((UINT64_C(1) << f->man_bits) - 1),
                   few = random >> 3 & 1 ? man : man & ~UINT64_C(0) << (f->man_bits - 1);
    const lb_value v = {
        LB_FINITE, random & 1, false, e + (int32_t)(random >> 4 & 7) - 4 - f->man_bits, 0, few | UINT64_C(1) << f->man_bits};
    return lb_encode(f, v, NULL, NULL);
}

static inline uint64_t emit_power(const lb_format *f, int32_t e, uint64_t random) {
    return lb_encode(f, (lb_value){.cls = LB_FINITE, .negative = random & 1, .exp = e, .lo = 1}, NULL, NULL);
}

/* For such paths: results about the least normal number, in odd rows and columns by a last place or less (kind 3); a c that cancels a product, others far below (kind 4); in the odd
 * rows and columns of that, products that are half of c's last place, others so far below that they only break the tie. */
static inline void emit_draw_edges(const lb_unit *u, int kind, uint64_t seed, emit_batch *x) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fd = lb_format_row(u->d);
    const int32_t least = (1 - fd->bias) / 2, far = -(int32_t)fa->bias / 3, tail = fa->bias > 100 ? -60 : 1 - fa->bias - fa->man_bits;
    const int32_t half_a = (fd->man_bits + 1) / 2, half_b = fd->man_bits + 1 - half_a;
    for (uint32_t i = 0; i < x->m * x->k; i++) {
        const uint64_t random = lb_random_u64(seed, 11, i), second = lb_random_u64(seed, 12, i), sign = UINT64_C(1) << (fa->bits - 1);
        const bool odd = i / x->k % 2, first = i % 4 == 0, zero = random >> 60 > (kind == 3 ? 5 : 7);
        uint64_t a = emit_near(fa, kind == 3 ? least : i % x->k == i / x->k % x->k ? 0 : far, random);
        uint64_t b = emit_near(fb, kind == 3 ? least : 0, second);
        if (kind == 4 && odd) a = emit_power(fa, first ? -half_a : tail, random);
        if (kind == 4 && odd) b = emit_power(fb, first ? -half_b : tail, second);
        if (kind == 3 && odd) a = first ? emit_power(fa, least, random) : emit_near(fa, least - half_a, random);
        if (kind == 3 && odd) b = first ? emit_power(fb, least, second) : emit_near(fb, least - half_b, second);
        if (zero && (kind == 3 || (odd && !first))) a = random & 2 ? sign : 0;
        emit_put(x->a, x->words, i, a);
        emit_put(x->b, x->words, i, b);
    }
    for (uint32_t i = 0; i < x->m * x->n; i++) {
        const uint64_t random = lb_random_u64(seed, 13, i), row = i / x->n, col = i % x->n;
        const size_t main = row % x->k;
        lb_value v = lb_value_mul(lb_decode(fa, emit_code(x->a, x->words, row * x->k + main)),
                                  lb_decode(fb, emit_code(x->b, x->words, col * x->k + main)));
        v.negative = !v.negative;
        uint64_t c = lb_encode(fd, v, NULL, NULL) ^ (random & 3) % 3;
        if (row % 2 && col % 2) c = emit_power(fd, 0, random) | (random >> 8 & ((UINT64_C(1) << fd->man_bits) - 1));
        if (kind == 3) c = row % 2 && col % 2 ? emit_power(fd, 2 * least, random) : emit_near(fd, 2 * least, random);
        emit_put(x->c, x->words_d, i, c);
    }
}

static inline void emit_size(const lb_unit *u, uint32_t m, uint32_t n, emit_batch *x) {
    x->m = m;
    x->n = n;
    x->k = u->k;
    x->products = emit_products(u);
    x->scales = emit_scales(u);
    x->words = emit_words(u->a);
    x->words_d = emit_words(u->d);
}

static inline void emit_draw_of(const lb_unit *u, int kind, uint32_t m, uint32_t n, emit_batch *x) {
    static const struct {
        lb_dist ab, c;
        int zeros; /* of 8 operands */
    } kinds[EMIT_BATCHES] = {{LB_DIST_BITS, LB_DIST_BITS, 0},     {LB_DIST_SPECIAL, LB_DIST_SPECIAL, 0}, {LB_DIST_WIDE, LB_DIST_WIDE, 1},
                             {LB_DIST_NORMAL, LB_DIST_NORMAL, 0}, {LB_DIST_INTEGER, LB_DIST_INTEGER, 2}, {LB_DIST_BITS, LB_DIST_SPECIAL, 7},
                             {LB_DIST_NORMAL, LB_DIST_NORMAL, 0}, {LB_DIST_WIDE, LB_DIST_SPECIAL, 7},    {LB_DIST_SPECIAL, LB_DIST_BITS, 6},
                             {LB_DIST_BITS, LB_DIST_SPECIAL, 0}};
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
    const uint64_t seed = 1000 + (uint64_t)kind;
    emit_size(u, m, n, x);
    for (uint32_t i = 0; i < (m > n ? m : n) * x->k; i++) {
        const uint64_t random = lb_random_u64(seed, 3, i);
        uint64_t a = (int)(random & 7) < kinds[kind].zeros ? 0 : lb_draw(fa, kinds[kind].ab, seed, 1, i);
        const uint64_t b = (int)(random >> 3 & 7) < kinds[kind].zeros ? 0 : lb_draw(fb, kinds[kind].ab, seed, 2, i);
        if (kind == 8 && (random >> 6 & 3) == 0) a = (random >> 32 & 1) << fa->pad_bits; /* the least subnormal */
        if (fa->pad_bits) a |= random >> 40 & 0xfff;                                     /* which drop */
        if (i < m * x->products) emit_put(x->a, x->words, i, a);
        if (i < n * x->k) emit_put(x->b, x->words, i, b);
    }
    for (uint32_t i = 0; i < m * n; i++)
        emit_put(x->c, x->words_d, i, kind == 6 || i % 5 == 0 ? 0 : lb_draw(fc, kinds[kind].c, seed, 4, i));
    if (kind == 6) emit_cancel(fa, fb, x);
    if (emit_rounds(u) && (kind == 3 || kind == 4)) emit_draw_edges(u, kind, seed, x);
    emit_draw_meta(u, seed, x);
    emit_draw_scales(u, kind, seed, x);
}

static inline void emit_draw(const lb_unit *u, int kind, emit_batch *x) {
    emit_draw_of(u, kind, EMIT_SIDE, EMIT_SIDE, x);
}

/* A matrix of codes in its format's own bytes; `transposed`: what x has by columns. */
static inline lb_mat emit_mat(lb_format_id id, unsigned char *bytes, uint32_t rows, uint32_t cols, const uint32_t *words, bool transposed) {
    const lb_format *f = lb_format_row(id);
    lb_mat m = lb_mat_of(f, bytes, rows, cols);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            lb_store_code(lb_mat_at(&m, r, c), f->bytes, emit_code(words, emit_words(id), transposed ? c * rows + r : r * cols + c));
    return m;
}

/* What the model says. */
static inline void emit_want(const lb_unit *u, emit_batch *x) {
    enum { MOST = EMIT_LINES * EMIT_MAX_K * 8 };
    static unsigned char a[MOST], b[MOST], c[EMIT_LINES * EMIT_LINES * 8], d[EMIT_LINES * EMIT_LINES * 8], sa[MOST], sb[MOST], mb[MOST];
    const lb_mat ma = emit_mat(u->a, a, x->m, x->products, x->a, false), mat_b = emit_mat(u->b, b, x->k, x->n, x->b, true);
    const lb_mat mc = emit_mat(u->c, c, x->m, x->n, x->c, false);
    lb_mat md = lb_mat_of(lb_format_row(u->d), d, x->m, x->n), scale_a, scale_b, meta;
    lb_unit_operands with = {0};
    if (x->scales) {
        scale_a = emit_mat(u->scale, sa, x->m, x->scales, x->scale_a, false);
        scale_b = emit_mat(u->scale, sb, x->scales, x->n, x->scale_b, true);
        with.scale_a = &scale_a;
        with.scale_b = &scale_b;
    }
    if (u->sparse_group) {
        meta = emit_mat(LB_U8, mb, x->m, x->products, x->meta, false);
        with.metadata = &meta;
    }
    lb_error err = {0};
    if (lb_unit_gemm_with(u, &ma, &mat_b, &mc, &with, &md, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    for (size_t i = 0; i < (size_t)x->m * x->n; i++) emit_put(x->d, x->words_d, i, lb_mat_code(&md, i / x->n, i % x->n));
}

/* The record of a batch as tests/emit/driver.c reads it. */
static inline void emit_write_batch(FILE *f, uint32_t index, bool tile, const emit_batch *x, bool sparse) {
    const uint32_t head[] = {index, x->m, x->n, tile};
    fwrite(head, 4, 4, f);
    fwrite(x->a, 4, (size_t)x->m * x->products * x->words, f);
    fwrite(x->b, 4, (size_t)x->n * x->k * x->words, f);
    fwrite(x->c, 4, (size_t)x->m * x->n * x->words_d, f);
    if (x->scales) fwrite(x->scale_a, 4, (size_t)x->m * x->scales, f);
    if (x->scales) fwrite(x->scale_b, 4, (size_t)x->n * x->scales, f);
    if (sparse) fwrite(x->meta, 4, (size_t)x->m * x->products, f);
}

/* Its row of table.h; compilers leave out a tile that nobody takes. */
static inline void emit_write_entry(FILE *table, const lb_unit *u, const char *function, bool tile) {
    fprintf(table, "    {%u, %u, %u, %u, %u, %d, (any_function *)%s_dot, ", u->k, emit_products(u), emit_scales(u), emit_words(u->a),
            emit_words(u->d), u->sparse_group != 0, function);
    fprintf(table, tile ? "(any_function *)%s_tile},\n" : "0},\n", function);
}

/* Whether this is the first of the list that has its path and takes what it takes: one of each is run as a tile. */
static inline bool emit_is_first(const lb_unit *units, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (units[j].path == units[i].path && !units[j].sparse_group == !units[i].sparse_group && !units[j].group == !units[i].group)
            return false;
    return true;
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
