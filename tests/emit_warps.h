/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of emitted fragments share: a unit's layouts, and registers drawn for them. */
#ifndef LB_EMIT_WARPS_H
#define LB_EMIT_WARPS_H

#include "emit_help.h"

#include "lastbit/fragments.h"

typedef struct warp_case {
    lb_unit u;
    lb_fragment a, b, c, d, more[2]; /* scales, or metadata */
    int extras;
    bool b_shared; /* B lies in shared memory: b's registers are a lane's share of its codes */
} warp_case;

static inline bool find_layouts(warp_case *w, lb_error *err) {
    lb_fragment *const all[] = {&w->a, &w->b, &w->c, &w->d};
    for (int i = 0; i < 4; i++)
        if (lb_fragment_of(&w->u, (lb_fragment_operand)i, NULL, all[i], err) != LB_OK && i != LB_FRAGMENT_B) return false;
    w->b_shared = w->b.lanes == 0;
    if (w->b_shared) {
        w->b.lanes = w->d.lanes;
        w->b.registers = (w->u.k * w->u.n + w->d.lanes - 1) / w->d.lanes;
    }
    w->extras = w->u.scale_block ? 2 : w->u.sparse_group != 0;
    const lb_fragment_operand first = w->u.scale_block ? LB_FRAGMENT_SCALE_A : LB_FRAGMENT_METADATA;
    for (int i = 0; i < w->extras; i++)
        if (lb_fragment_of(&w->u, (lb_fragment_operand)(first + i), NULL, &w->more[i], err) != LB_OK) return false;
    return true;
}

static inline void open_case(const char *name, warp_case *w) {
    lb_error err = {0};
    if (lb_unit_find(name, &w->u, &err) != LB_OK || !find_layouts(w, &err)) fail_msg("%s: %s: %s", name, err.place, err.message);
}

/* Words whose every group of two places of a compressed A ascends (of tf32: one place of two). */
static inline uint32_t draw_places(const lb_fragment *f, uint64_t random) {
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, places[] = {0x4, 0xe};
    uint32_t word = 0;
    for (int i = 0; i < 32; i += 4, random >>= 8) word |= (f->bits == 4 ? places[random & 1] : pairs[(random & 0xff) % 6]) << i;
    return word;
}

/* A warp's registers: of each warp all elements are drawn alike, so that chains of usual numbers stay finite. */
static inline void draw_registers(const lb_fragment *f, uint64_t seed, uint32_t stream, size_t warp, uint32_t *registers) {
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_UNIFORM, LB_DIST_SPECIAL};
    const bool scale = f->operand == LB_FRAGMENT_SCALE_A || f->operand == LB_FRAGMENT_SCALE_B;
    const lb_dist dist = scale && warp % 6 != 5 ? LB_DIST_WIDE : dists[warp % (sizeof dists / sizeof dists[0])];
    const int each = f->bits < 32 ? 32 / f->bits : 1, span = f->bits > 32 ? 2 : 1;
    for (int i = 0; i < f->lanes * f->registers; i += span) {
        registers[i] = 0;
        if (f->operand == LB_FRAGMENT_METADATA) registers[i] = draw_places(f, lb_random_u64(seed, stream, (warp << 16) + (uint64_t)i));
        for (int e = 0; e < each && f->operand != LB_FRAGMENT_METADATA; e++) {
            const uint64_t index = (warp << 16) + (uint64_t)(i * each + e);
            uint64_t code = lb_draw(f->format, dist, seed, stream, index);
            if (dist == LB_DIST_SPECIAL && lb_random_u64(seed, stream, index) % 8) code = scale ? lb_from_double(f->format, 1) : 0;
            if (span == 2) registers[i + 1] = (uint32_t)(code >> 32);
            registers[i] |= (uint32_t)code << (e * f->bits + f->shift);
        }
    }
}

static inline size_t words_of(const lb_fragment *f) {
    return (size_t)f->lanes * (size_t)f->registers;
}

#endif
