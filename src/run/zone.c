/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/zone.h"
#include "lastbit/run.h"

#include <string.h>
#include <sys/mman.h>

/* Little-endian words of it are ffa5 and ffa5ffa5: NaN as f16, bf16 and f32; -5898331 as i32. */
static unsigned char guard_byte(size_t i) {
    return i % 2 ? 0xff : 0xa5;
}

void *lb_shared_memory(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

size_t lb_zone_size(size_t bytes) {
    return (bytes + LB_GUARD - 1) / LB_GUARD * LB_GUARD + 2 * LB_GUARD;
}

unsigned char *lb_zone_data(const lb_zone *z) {
    return z->start + LB_GUARD;
}

void lb_zone_guard(lb_zone *z) {
    for (size_t i = 0; i < LB_GUARD; i++) z->start[i] = z->start[LB_GUARD + z->bytes + i] = guard_byte(i);
}

uint64_t lb_zone_damage(const lb_zone *z) {
    uint64_t n = 0;
    for (size_t i = 0; i < LB_GUARD; i++)
        n += (z->start[i] != guard_byte(i)) + (uint64_t)(z->start[LB_GUARD + z->bytes + i] != guard_byte(i));
    return n;
}

uint64_t lb_zone_hash(const lb_zone *z) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < z->bytes; i++) h = (h ^ z->start[LB_GUARD + i]) * UINT64_C(0x100000001b3);
    return h;
}

void lb_zone_poison(const lb_zone *z, const lb_format *f) {
    const uint64_t poison = lb_poison_code(f);
    for (size_t at = 0; at + f->bytes <= z->bytes; at += (size_t)f->bytes) lb_store_code(lb_zone_data(z) + at, f->bytes, poison);
}

uint64_t lb_zone_poisoned(const lb_zone *z, const lb_format *f) {
    const uint64_t poison = lb_poison_code(f);
    uint64_t n = 0;
    for (size_t at = 0; at + f->bytes <= z->bytes; at += (size_t)f->bytes) n += lb_load_code(lb_zone_data(z) + at, f->bytes) == poison;
    return n;
}

uint64_t lb_poison_code(const lb_format *f) {
    uint64_t inf = 0, nan = 0, sign = UINT64_C(1) << (f->bits - 1);
    switch (f->special) {
    case LB_SPECIAL_IEEE: { /* a NaN that no arithmetic makes: its payload is a pattern, or the least bit in small formats */
        const uint64_t mantissa = (~UINT64_C(0) >> (64 - f->man_bits)), pattern = UINT64_C(0xa5a5a5a5a5a5a5a5) & mantissa;
        lb_inf_code(f, &inf);
        return inf | (f->man_bits > 3 ? pattern : 1) << f->pad_bits;
    }
    case LB_SPECIAL_NAN_TOP: lb_nan_code(f, &nan); return f->sign_bits ? nan | sign : nan;
    case LB_SPECIAL_INT: return UINT64_C(0xa5a5a5a5a5a5a5a5) & (~UINT64_C(0) >> (64 - f->bits));
    case LB_SPECIAL_E8M0: return 0xa5;
    case LB_SPECIAL_FNUZ:
    case LB_SPECIAL_NONE: break;
    }
    return sign | lb_max_code(f); /* no NaN to spare: the largest negative value */
}
