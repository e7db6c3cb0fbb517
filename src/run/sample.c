/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which rows and columns of a large output are looked at: the places where kernels break, then seeded draws. */
#include "lastbit/run.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

typedef struct picks {
    size_t *at; /* [count], distinct */
    size_t count, most, n;
    uint8_t *taken; /* [n] bits */
} picks;

static void pick(picks *p, size_t i) {
    if (p->count == p->most || i >= p->n || p->taken[i / 8] >> i % 8 & 1) return;
    p->taken[i / 8] |= (uint8_t)(1u << i % 8);
    p->at[p->count++] = i;
}

lb_status lb_sample_indices(size_t n, size_t count, uint64_t seed, uint32_t stream, size_t **out, size_t *out_count, lb_error *err) {
    picks p = {.most = count < n ? count : n, .n = n};
    *out = NULL;
    *out_count = 0;
    p.at = malloc((p.most + 1) * sizeof *p.at);
    p.taken = calloc(n / 8 + 1, 1);
    if (!p.at || !p.taken) {
        free(p.at);
        free(p.taken);
        return lb_fail(err, LB_E_MEMORY, "sample", "no memory for a sample of %zu", n);
    }
    if (p.most == n) {
        for (size_t i = 0; i < n; i++) pick(&p, i);
    } else {
        pick(&p, 0);
        pick(&p, n - 1);
        for (size_t tile = 256; tile >= 8; tile /= 2) { /* both sides of the first and the last tile edge; the ragged tail's start */
            const size_t last = (n - 1) / tile * tile;
            pick(&p, last);
            if (last) pick(&p, last - 1);
            pick(&p, tile);
            pick(&p, tile - 1);
        }
        for (uint64_t i = 0; p.count < p.most; i++) pick(&p, (size_t)(lb_random_u64(seed, stream, i) % n));
    }
    qsort(p.at, p.count, sizeof *p.at, by_size);
    free(p.taken);
    *out = p.at;
    *out_count = p.count;
    return LB_OK;
}
