/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs emitted fragments, the lanes of a group one after another on both sides of the barrier: warps IN OUT FLUSH. table.h as driver.c has it:
 *   static const struct entry table[] = {{registers of a, b, c, d, words, NAME_share, NAME_lane}, …};
 * IN: records of words {index, warps, steps, 0, c [warps][32][rc], a and b [steps][warps][32][r]}; OUT: d [steps][warps][32][rd], where D is
 * the C of the next step. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef void share_function(uint32_t lane, const uint32_t *a, const uint32_t *b, uint32_t *words);
typedef void lane_function(uint32_t lane, const uint32_t *c, uint32_t *d, uint32_t *words);
struct entry {
    uint32_t a, b, c, d, words;
    share_function *share;
    lane_function *lane;
};
#include "table.h"

enum { LANES = 32, MOST = 32 };
static uint32_t words[1 << 14], a[LANES * MOST], b[LANES * MOST], d[LANES * MOST];

static int run(const struct entry *e, size_t warps, size_t steps, FILE *in, FILE *out) {
    uint32_t *c = (uint32_t *)malloc(warps * LANES * e->c * 4);
    if (!c || e->c != e->d || fread(c, 4, warps * LANES * e->c, in) != warps * LANES * e->c) return 3;
    for (size_t i = 0; i < steps * warps; i++) {
        uint32_t *acc = c + i % warps * LANES * e->c;
        if (fread(a, 4, LANES * e->a, in) != LANES * e->a || fread(b, 4, LANES * e->b, in) != LANES * e->b) return 3;
        for (uint32_t lane = 0; lane < LANES; lane++) e->share(lane, a + lane * e->a, b + lane * e->b, words);
        for (uint32_t lane = 0; lane < LANES; lane++) e->lane(lane, acc + lane * e->c, d + lane * e->d, words);
        for (size_t j = 0; j < LANES * e->d; j++) acc[j] = d[j];
        if (fwrite(d, 4, LANES * e->d, out) != LANES * e->d) return 4;
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
