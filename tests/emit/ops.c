/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs emitted operations on rows of words: ops IN OUT FLUSH. With table.h, which includes the emitted files and has
 *   static const struct entry table[] = {{words of a row's inputs, words of its outputs, function}, …};
 * a row of an operation of a whole warp being all 32 lanes. IN: records of words {index, rows, in [rows][ins]}; OUT: d [rows][outs] of
 * each. FLUSH 1: subnormals are zeros to the FPU. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef void row_function(const uint32_t *in, uint32_t *d);
struct entry {
    uint32_t ins, outs;
    row_function *run;
};
#include "table.h"

enum { MOST = 10 * 2 * 32 };

int main(int argc, char **argv) {
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *out = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !out) return 2;
#if defined(__x86_64__)
    _mm_setcsr(atoi(argv[3]) ? _mm_getcsr() | 0x8040u : _mm_getcsr() & ~0x8040u); /* FTZ and DAZ; -ffast-math sets them at start */
#endif
    uint32_t head[2], x[MOST], d[MOST];
    while (fread(head, 4, 2, in) == 2) {
        const struct entry *e = &table[head[0]];
        for (uint32_t row = 0; row < head[1]; row++) {
            if (fread(x, 4, e->ins, in) != e->ins) return 3;
            e->run(x, d);
            if (fwrite(d, 4, e->outs, out) != e->outs) return 4;
        }
    }
    return fclose(out) == 0 ? 0 : 5;
}
