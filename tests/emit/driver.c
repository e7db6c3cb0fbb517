/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs emitted functions on batches of dots: driver IN OUT FLUSH. With -include'd emitted files, and table.h:
 *   static const struct entry table[] = {{k, NAME_dot}, …};
 * IN: records of words {index, m, n, k, a [m][k], b [n][k], c [m][n]}; OUT: d [m][n] of each. FLUSH 1: subnormals are zeros to the FPU. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef uint32_t dot_function(const uint32_t *a, const uint32_t *b, uint32_t c);
struct entry {
    uint32_t k;
    dot_function *dot;
};
#include "table.h"

enum { SIDE = 128 };
static uint32_t a[SIDE * 256], b[SIDE * 256], c[SIDE * SIDE], d[SIDE * SIDE];

int main(int argc, char **argv) {
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *out = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !out) return 2;
#if defined(__x86_64__)
    _mm_setcsr(atoi(argv[3]) ? _mm_getcsr() | 0x8040u : _mm_getcsr() & ~0x8040u); /* FTZ and DAZ; -ffast-math sets them at start */
#endif
    uint32_t head[4];
    while (fread(head, 4, 4, in) == 4) {
        const struct entry *e = &table[head[0]];
        const size_t m = head[1], n = head[2], k = head[3];
        if (k != e->k || fread(a, 4, m * k, in) != m * k || fread(b, 4, n * k, in) != n * k || fread(c, 4, m * n, in) != m * n) return 3;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) d[i * n + j] = e->dot(a + i * k, b + j * k, c[i * n + j]);
        if (fwrite(d, 4, m * n, out) != m * n) return 4;
    }
    return fclose(out) == 0 ? 0 : 5;
}
