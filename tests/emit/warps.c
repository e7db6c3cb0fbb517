/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs emitted fragments, the lanes of a group one after another on both sides of the barrier: warps IN OUT FLUSH. table.h as driver.c has it:
 *   static const struct entry table[] = {{lanes, registers of a, b, c, d, scales, sparse, NAME_share, NAME_lane}, …};
 * IN: records of words {index, warps, steps, 0, c [warps][lanes][rc], a, b and (scale_a, scale_b or meta) [steps][warps][lanes][r]}; OUT:
 * d [steps][warps][lanes][rd], where D is the C of the next step. */
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
    uint32_t lanes, a, b, c, d;
    int scales, sparse;
    any_function *share, *lane;
};
#include "table.h"

typedef void share_function(uint32_t lane, in_words a, in_words b, out_words words);
typedef void share_scaled(uint32_t lane, in_words a, in_words b, in_words scale_a, in_words scale_b, out_words words);
typedef void share_sparse(uint32_t lane, in_words a, in_words b, in_words meta, out_words words);
typedef void lane_function(uint32_t lane, in_words c, out_words d, out_words words);

enum { LANES = 128, MOST = 64 };
static uint32_t words[1 << 14], a[LANES * MOST], b[LANES * MOST], d[LANES * MOST], more[2][LANES];

static void share(const struct entry *e, uint32_t lane) {
    in_words x = a + lane * e->a, y = b + lane * e->b;
    if (e->scales)
        ((share_scaled *)e->share)(lane, x, y, more[0] + lane, more[1] + lane, words);
    else if (e->sparse)
        ((share_sparse *)e->share)(lane, x, y, more[0] + lane, words);
    else
        ((share_function *)e->share)(lane, x, y, words);
}

static int read_words(out_words to, size_t count, FILE *f) {
    return fread(to, 4, count, f) == count;
}

static int run(const struct entry *e, size_t warps, size_t steps, FILE *in, FILE *out) {
    uint32_t *c = (uint32_t *)malloc(warps * e->lanes * e->c * 4);
    if (!c || e->c != e->d || !read_words(c, warps * e->lanes * e->c, in)) return 3;
    for (size_t i = 0; i < steps * warps; i++) {
        uint32_t *acc = c + i % warps * e->lanes * e->c;
        if (!read_words(a, e->lanes * e->a, in) || !read_words(b, e->lanes * e->b, in)) return 3;
        if ((e->scales || e->sparse) && !read_words(more[0], e->lanes, in)) return 3;
        if (e->scales && !read_words(more[1], e->lanes, in)) return 3;
        for (uint32_t lane = 0; lane < e->lanes; lane++) share(e, lane);
        for (uint32_t lane = 0; lane < e->lanes; lane++) ((lane_function *)e->lane)(lane, acc + lane * e->c, d + lane * e->d, words);
        for (size_t j = 0; j < e->lanes * e->d; j++) acc[j] = d[j];
        if (fwrite(d, 4, e->lanes * e->d, out) != e->lanes * e->d) return 4;
    }
    free(c);
    return 0;
}

int main(int argc, char **argv) {
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *out = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !out) return 2;
#if defined(__x86_64__)
    _mm_setcsr(atoi(argv[3]) ? _mm_getcsr() | 0x8040u : _mm_getcsr() & ~0x8040u);
#endif
    uint32_t head[4];
    int status = 0;
    while (status == 0 && fread(head, 4, 4, in) == 4) status = run(&table[head[0]], head[1], head[2], in, out);
    return fclose(out) == 0 ? status : 5;
}
