/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Philox4x32-10 (source: philox-2011): a counter in, 128 random bits out. */
#include "lastbit/base.h"

static void philox_round(uint32_t x[4], const uint32_t key[2]) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * x[0], p1 = (uint64_t)0xCD9E8D57u * x[2];
    const uint32_t y0 = (uint32_t)(p1 >> 32) ^ x[1] ^ key[0], y2 = (uint32_t)(p0 >> 32) ^ x[3] ^ key[1];
    x[0] = y0;
    x[1] = (uint32_t)p1;
    x[2] = y2;
    x[3] = (uint32_t)p0;
}

void lb_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t k[2] = {key[0], key[1]};
    for (int i = 0; i < 4; i++) out[i] = counter[i];
    for (int round = 0; round < 10; round++) {
        philox_round(out, k);
        k[0] += 0x9E3779B9u; /* golden ratio */
        k[1] += 0xBB67AE85u; /* sqrt(3) - 1 */
    }
}

uint64_t lb_random_u64(uint64_t seed, uint32_t stream, uint64_t index) {
    const uint64_t block = index / 2;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), stream, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    lb_philox4x32(counter, key, out);
    return index % 2 ? (uint64_t)out[3] << 32 | out[2] : (uint64_t)out[1] << 32 | out[0];
}
