/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Many dots of one K step: a panel of them at a time, each lane with its own a; what the fast path cannot take goes to the engine. */
#include "kernels/dots.h"

#include "kernels/operands.h"
#include "kernels/scale.h"
#include "units/step.h"

/* One panel of dots. */
typedef struct group {
    uint32_t codes[2][LB_KC * LB_NR]; /* of a, of b: [k][LB_NR] */
    _Alignas(64) float a[LB_KC * LB_NR];
    _Alignas(64) float b[LB_KC * LB_NR];
    _Alignas(64) int8_t a_exp[LB_KC * LB_NR];
    _Alignas(64) int8_t b_exp[LB_KC * LB_NR];
    float c[LB_NR];
    uint32_t c_bits[LB_NR], slow[LB_NR]; /* slow: ~0 where the engine decides */
} group;

static lb_range range_of(const lb_codes *f, const uint32_t *codes, int count) {
    lb_range r = {f->e_min, f->e_max};
    if (f->narrow) return r;
    r = (lb_range){1000, -1000};
    lb_codes_range(f, codes, count, &r);
    return r.lo > r.hi ? (lb_range){0, 0} : r;
}

/* Lanes whose c the scaled domain cannot hold, or whose products do not set its last place. */
static void find_slow(const lb_plan *p, int x, group *g) {
    const int lo = x - 126 + p->frac_bits, most = lo + 124 < 124 ? lo + 124 : 124, least = lo - p->frac_bits + 23;
    const bool halves = p->finish > LB_FINISH_F16;
    const uint32_t too_large = halves || p->c16 || most < -126 ? 0x7f800000 : (uint32_t)(most + 128) << 23;
    const uint32_t low = halves || least < -126 ? 0 : (uint32_t)(least + 127) << 23;
    for (int j = 0; j < LB_NR; j++) {
        const uint32_t mag = g->c_bits[j] & 0x7fffffff;
        g->slow[j] |= 0 - (uint32_t)((mag >= too_large) | (most < -126) | ((mag != 0) & (mag < low)));
    }
}

static bool run_group(const lb_tiles *tiles, const lb_plan *p, int count, group *g) {
    const int cells = p->k * LB_NR, half_x = (126 - p->frac_bits) / 2;
    const lb_range a = range_of(&p->a, g->codes[0], cells), b = range_of(&p->b, g->codes[1], cells);
    int x;
    if (!lb_plan_fits(p, a.lo + b.lo, a.hi + b.hi, p->k, &x)) return false;
    memset(g->slow, 0, sizeof g->slow);
    find_slow(p, x, g);
    for (int j = 0; j < LB_NR; j++) g->c_bits[j] &= ~g->slow[j];
    if (p->finish < LB_FINISH_F16)
        scale_c(g->c_bits, LB_NR, x, g->c);
    else
        memcpy(g->c, g->c_bits, sizeof g->c);
    tiles->pack_b(&p->a, g->codes[0], p->k, a.lo, half_x, 0, LB_NR, false, g->a, g->a_exp, g->slow);
    tiles->pack_b(&p->b, g->codes[1], p->k, b.lo, 126 - p->frac_bits - half_x, p->frac_bits + 1, LB_NR, false, g->b, g->b_exp, g->slow);
    const lb_strip s = {.a = g->a,
                        .a_pairs_exp = g->a_exp,
                        .b = g->b,
                        .b_exp = g->b_exp,
                        .c = g->c,
                        .columns = count,
                        .blocks = p->k / p->terms,
                        .terms = p->terms,
                        .frac_bits = p->frac_bits,
                        .blocks_a_step = p->k / p->terms,
                        .start = lb_plan_start(p, x),
                        .x = x,
                        .split = p->may_split};
    tiles->pairs(&s, p->finish);
    if (p->finish < LB_FINISH_F16) unscale(g->c, LB_NR, x);
    return true;
}

/* Dot number i on the engine, from and to the caller's memory. */
static lb_status by_engine(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d, size_t i, lb_error *err) {
    lb_mat row = *a, column = lb_mat_transposed(*b), addend = c ? *c : *d, out = *d;
    row.codes = lb_mat_at(a, i, 0);
    row.rows = 1;
    column.codes = lb_mat_at(b, i, 0);
    column.cols = 1;
    addend.codes = lb_mat_at(&addend, 0, i);
    out.codes = lb_mat_at(d, 0, i);
    addend.rows = addend.cols = out.rows = out.cols = 1;
    return lb_unit_gemm(u, &row, &column, c ? &addend : NULL, &out, err);
}

/* The first dots in sixteens, where the tiles have a path for that; *done: how many. */
static lb_status by_sixteens(const lb_tiles *tiles, const lb_plan *p, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d,
                             size_t count, size_t *done, lb_error *err) {
    enum { DOTS = 16, GROUPS = 64 };
    uint32_t slow[GROUPS];
    lb_status s = LB_OK;
    *done = 0;
    if (!tiles->dots16 || !p->dots16) return LB_OK;
    const unsigned saved = tiles->enter(p->finish);
    while (s == LB_OK && count - *done >= DOTS) {
        const size_t left = (count - *done) / DOTS;
        const lb_dots16 some = {.a = lb_mat_at(a, *done, 0),
                                .b = lb_mat_at(b, *done, 0),
                                .c = c ? lb_mat_at(c, 0, *done) : NULL,
                                .d = lb_mat_at(d, 0, *done),
                                .slow = slow,
                                .groups = left < GROUPS ? (int)left : GROUPS,
                                .ahead = (ptrdiff_t)left};
        tiles->dots16(p, &some);
        for (int i = 0; i < some.groups; i++)
            for (int j = 0; s == LB_OK && slow[i] >> j; j++)
                if (slow[i] >> j & 1) s = by_engine(p->u, a, b, c, d, *done + (size_t)(i * DOTS + j), err);
        *done += (size_t)some.groups * DOTS;
    }
    tiles->leave(saved);
    return s;
}

lb_status lb_dots(const lb_tiles *tiles, const lb_unit *u, const void *a, const void *b, const void *c, void *d, size_t count,
                  lb_error *err) {
    lb_plan p;
    group g;
    lb_plan_of(u, &p);
    const lb_mat am = lb_mat_of(lb_format_row(u->a), a, count, u->k), bm = lb_mat_of(lb_format_row(u->b), b, count, u->k);
    const lb_mat cm = lb_mat_of(lb_format_row(u->c), c, 1, count), dm = lb_mat_of(lb_format_row(u->d), d, 1, count);
    const lb_mat a_lines = lb_mat_transposed(am), b_lines = lb_mat_transposed(bm);
    size_t done;
    lb_status s = by_sixteens(tiles, &p, &am, &bm, c ? &cm : NULL, &dm, count, &done, err);
    for (size_t i0 = done; s == LB_OK && i0 < count; i0 += LB_NR) {
        const int here = count - i0 < LB_NR ? (int)(count - i0) : LB_NR;
        lb_codes_panel(&p, &p.a, &a_lines, 0, p.k, i0, g.codes[0]);
        lb_codes_panel(&p, &p.b, &b_lines, 0, p.k, i0, g.codes[1]);
        memset(g.c_bits, 0, sizeof g.c_bits);
        if (c) lb_codes_line(lb_mat_at(&cm, 0, i0), cm.format->bytes, 1, here, g.c_bits);
        for (int j = 0; p.c16 && j < LB_NR; j++) g.c_bits[j] = widen16(g.c_bits[j]);
        const unsigned saved = tiles->enter(p.finish);
        const bool fast = run_group(tiles, &p, here, &g);
        tiles->leave(saved);
        for (int j = 0; s == LB_OK && j < here; j++) {
            const uint32_t code = p.c16 ? narrow16(g.c[j]) : g.c[j] != g.c[j] ? UINT32_C(0x7fffffff) : bits_of(g.c[j]);
            if (fast && !g.slow[j])
                lb_store_code(lb_mat_at(&dm, 0, i0 + (size_t)j), dm.format->bytes, code);
            else
                s = by_engine(u, &am, &bm, c ? &cm : NULL, &dm, i0 + (size_t)j, err);
        }
    }
    return s;
}
