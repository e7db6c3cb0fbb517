/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs emitted functions on batches of dots, or on tiles: driver IN OUT FLUSH. With emitted files included by table.h, and there:
 *   static const struct entry table[] = {{k, products, scales, words of A and B, words of D, sparse, NAME_dot, NAME_tile}, …};
 * IN: records of words {index, m, n, tile, a [m][products], b [n][k], c [m][n], scale_a [m][scales], scale_b [n][scales], meta [m][products]},
 * the last three where the unit takes them; OUT: d [m][n] of each. FLUSH 1: subnormals are zeros to the FPU. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef const uint32_t *in_words;
typedef uint32_t *out_words;
typedef void any_function(void);
struct entry {
    uint32_t k, products, scales, words, words_d;
    int sparse;
    any_function *dot, *tile;
};
#include "table.h"

typedef uint32_t dot_function(in_words a, in_words b, uint32_t c);
typedef uint32_t dot_scaled(in_words a, in_words b, uint32_t c, in_words scale_a, in_words scale_b);
typedef uint32_t dot_sparse(in_words a, in_words b, uint32_t c, in_words meta);
typedef void dot_wide(in_words a, in_words b, in_words c, out_words d);
typedef void tile_function(in_words a, in_words b, in_words c, out_words d);
typedef void tile_scaled(in_words a, in_words b, in_words c, out_words d, in_words scale_a, in_words scale_b);
typedef void tile_sparse(in_words a, in_words b, in_words c, out_words d, in_words meta);

enum { SIDE = 128, MOST = SIDE * 256 };
static uint32_t a[MOST], b[MOST], c[2 * SIDE * SIDE], d[2 * SIDE * SIDE], scale_a[MOST], scale_b[MOST], meta[MOST];
static uint32_t b_rows[MOST], scale_b_rows[MOST];

static void run_dot(const struct entry *e, size_t i, size_t j, size_t n) {
    const uint32_t *row = a + i * e->products * e->words, *column = b + j * e->k * e->words;
    const size_t at = (i * n + j) * e->words_d;
    if (e->words_d == 2)
        ((dot_wide *)e->dot)(row, column, c + at, d + at);
    else if (e->scales)
        d[at] = ((dot_scaled *)e->dot)(row, column, c[at], scale_a + i * e->scales, scale_b + j * e->scales);
    else if (e->sparse)
        d[at] = ((dot_sparse *)e->dot)(row, column, c[at], meta + i * e->products);
    else
        d[at] = ((dot_function *)e->dot)(row, column, c[at]);
}

/* [columns][length] as [length][columns]. */
static void transpose(in_words from, size_t columns, size_t length, size_t words, out_words to) {
    for (size_t i = 0; i < columns; i++)
        for (size_t k = 0; k < length; k++)
            for (size_t w = 0; w < words; w++) to[(k * columns + i) * words + w] = from[(i * length + k) * words + w];
}

static void run_tile(const struct entry *e, size_t n) {
    transpose(b, n, e->k, e->words, b_rows);
    transpose(scale_b, n, e->scales, 1, scale_b_rows);
    if (e->scales)
        ((tile_scaled *)e->tile)(a, b_rows, c, d, scale_a, scale_b_rows);
    else if (e->sparse)
        ((tile_sparse *)e->tile)(a, b_rows, c, d, meta);
    else
        ((tile_function *)e->tile)(a, b_rows, c, d);
}

static int read_words(out_words to, size_t count, FILE *f) {
    return fread(to, 4, count, f) == count;
}

int main(int argc, char **argv) {
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *out = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !out) return 2;
#if defined(__x86_64__)
    _mm_setcsr(atoi(argv[3]) ? _mm_getcsr() | 0x8040u : _mm_getcsr() & ~0x8040u); /* FTZ and DAZ; -ffast-math sets them at start */
#endif
    uint32_t head[4];
    while (fread(head, 4, 4, in) == 4) {
        const struct entry *e = &table[head[0]];
        const size_t m = head[1], n = head[2];
        if (!read_words(a, m * e->products * e->words, in) || !read_words(b, n * e->k * e->words, in) ||
            !read_words(c, m * n * e->words_d, in) || !read_words(scale_a, m * e->scales, in) || !read_words(scale_b, n * e->scales, in) ||
            (e->sparse && !read_words(meta, m * e->products, in)))
            return 3;
        if (head[3]) run_tile(e, n);
        for (size_t i = 0; !head[3] && i < m; i++)
            for (size_t j = 0; j < n; j++) run_dot(e, i, j, n);
        if (fwrite(d, 4, m * n * e->words_d, out) != m * n * e->words_d) return 4;
    }
    return fclose(out) == 0 ? 0 : 5;
}
