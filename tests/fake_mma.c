/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Matrix instructions on registers: which element of a lane is which, in the words of the PTX ISA (element i of a lane), written without
 * a look at the other side. */
#include "fake_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fake_mma_find(const char *target, const char *instruction, fake_mma *m) {
    char name[200];
    snprintf(name, sizeof name, "%s/%s", target, instruction);
    if (lb_unit_find(name, &m->unit, NULL) != LB_OK) return false;
    m->wgmma = strncmp(instruction, "wgmma", 5) == 0;
    m->quads = m->unit.k == 4 && m->unit.m == 8 && m->unit.a == LB_F16;
    m->lanes = m->wgmma ? 128 : 32;
    m->matrices = m->quads ? 4 : 1;
    return true;
}

/* Bits of an element in a register: fp6 and fp4 take a byte, fp4 in the middle of it. */
static int bits_of(const lb_format *f) {
    return f->special != LB_SPECIAL_INT && f->bits < 8 ? 8 : f->bits;
}

static int per_register(const lb_format *f) {
    return bits_of(f) == 64 ? 1 : 32 / bits_of(f);
}

static int row_of_a(const fake_mma *m, int lane, int i, int per) {
    if (m->quads) return lane % 4 + (lane < 16 ? 0 : 4);
    const int group = lane % 32 / 4 + lane / 32 * 16;
    return m->unit.m == 8 || i / per % 2 == 0 ? group : group + 8;
}

static int k_of_a(const fake_mma *m, int lane, int i, int per) {
    if (m->quads) return i;
    const int half = m->unit.m == 8 ? i / per : i / (2 * per);
    return lane % 4 * per + i % per + half * 4 * per;
}

static int k_of_b(const fake_mma *m, int lane, int i, int per) {
    return m->quads ? i : lane % 4 * per + i % per + i / per * 4 * per;
}

static int row_of_c(const fake_mma *m, int lane, int i) {
    if (m->quads) return m->unit.c == LB_F16 ? lane % 4 + (lane < 16 ? 0 : 4) : lane % 2 + (i & 2) + (lane < 16 ? 0 : 4);
    const int group = lane % 32 / 4 + lane / 32 * 16;
    return m->unit.m == 8 || i % 4 < 2 ? group : group + 8;
}

static int col_of_c(const fake_mma *m, int lane, int i) {
    if (m->quads) return m->unit.c == LB_F16 ? i : (i & 4) + (lane & 2) + i % 2;
    return (m->unit.m == 8 ? 0 : i / 4 * 8) + lane % 4 * 2 + i % 2;
}

static int matrix_of(const fake_mma *m, int lane) {
    return m->quads ? lane % 16 / 4 : 0;
}

static uint64_t element(const fake_state *s, int first, int lane, int i, const lb_format *f) {
    const int per = per_register(f), shift = i % per * bits_of(f) + (f->bits == 4 && bits_of(f) == 8 ? 2 : 0);
    return s->r[first + i / per][lane] >> shift & ~UINT64_C(0) >> (64 - f->bits);
}

static void store(const lb_format *f, void *codes, size_t index, uint64_t code) {
    lb_store_code((char *)codes + index * (size_t)f->bytes, f->bytes, code);
}

static void read_a(const fake_mma *m, const fake_state *s, void *codes) {
    const lb_format *f = lb_format_row(m->unit.a);
    const int per = per_register(f), mm = m->unit.m, kk = m->unit.k;
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < m->count[0] * per; i++) {
            const int row = row_of_a(m, lane, i, per), k = k_of_a(m, lane, i, per);
            store(f, codes, (size_t)((matrix_of(m, lane) * mm + row) * kk + k), element(s, m->first[0], lane, i, f));
        }
}

static void read_b(const fake_mma *m, const fake_state *s, void *codes) {
    const lb_format *f = lb_format_row(m->unit.b);
    const int per = per_register(f), kk = m->unit.k, nn = m->unit.n;
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < m->count[1] * per; i++) {
            const int col = m->quads ? lane % 4 + (lane < 16 ? 0 : 4) : lane / 4;
            store(f, codes, (size_t)((matrix_of(m, lane) * kk + k_of_b(m, lane, i, per)) * nn + col), element(s, m->first[1], lane, i, f));
        }
}

/* Of wgmma, in shared memory without swizzle, K-major: a core matrix is 8 columns of 16 bytes of k; the next along k is the descriptor's
 * leading offset away, the next along n its stride. Every lane must have the same descriptor. */
static bool read_shared_b(const fake_mma *m, const fake_state *s, void *codes) {
    const lb_format *f = lb_format_row(m->unit.b);
    const uint64_t d = s->r[m->first[1]][0], base = (d & 0x3fff) << 4, leading = (d >> 16 & 0x3fff) << 4, stride = (d >> 32 & 0x3fff) << 4;
    for (int lane = 0; lane < m->lanes; lane++)
        if (s->r[m->first[1]][lane] != d) return false;
    if (d >> 46 || base < FAKE_SHARED_BASE) return false;
    for (unsigned n = 0; n < m->unit.n; n++)
        for (unsigned k = 0; k < m->unit.k; k++) {
            const unsigned bit = k * (unsigned)f->bits, byte = bit / 8;
            const uint64_t at = base - FAKE_SHARED_BASE + n / 8 * stride + byte / 16 * leading + n % 8 * 16 + byte % 16;
            uint64_t code = 0;
            if (at + 8 > FAKE_SHARED) return false;
            memcpy(&code, s->shared + at, f->bits < 8 ? 1 : (size_t)f->bytes);
            store(f, codes, (size_t)k * m->unit.n + n, code >> bit % 8 & ~UINT64_C(0) >> (64 - f->bits));
        }
    return true;
}

static void read_c(const fake_mma *m, const fake_state *s, void *codes) {
    const lb_format *f = lb_format_row(m->unit.c);
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < m->count[2] * per_register(f); i++)
            store(f, codes, (size_t)((matrix_of(m, lane) * m->unit.m + row_of_c(m, lane, i)) * m->unit.n + col_of_c(m, lane, i)),
                  element(s, m->first[2], lane, i, f));
}

static void write_d(const fake_mma *m, fake_state *s, const void *codes) {
    const lb_format *f = lb_format_row(m->unit.d);
    const int per = per_register(f);
    for (int lane = 0; lane < m->lanes; lane++)
        for (int i = 0; i < m->count[2] * per; i++) {
            const size_t at = (size_t)((matrix_of(m, lane) * m->unit.m + row_of_c(m, lane, i)) * m->unit.n + col_of_c(m, lane, i));
            const uint64_t code = lb_load_code((const char *)codes + at * (size_t)f->bytes, f->bytes);
            uint64_t *to = &s->r[m->first[2] + i / per][lane];
            *to = (i % per ? *to : 0) | code << i % per * f->bits;
        }
}

bool fake_mma_run(const fake_mma *m, fake_state *s) {
    const lb_unit *u = &m->unit;
    const size_t ak = (size_t)u->m * u->k, kb = (size_t)u->k * u->n, mn = (size_t)u->m * u->n, all = (size_t)m->matrices * 8;
    char *a = calloc(ak, all), *b = calloc(kb, all), *c = calloc(mn, all), *d = calloc(mn, all);
    bool ok = a && b && c && d;
    if (ok) {
        read_a(m, s, a);
        read_c(m, s, c);
        if (m->wgmma)
            ok = read_shared_b(m, s, b);
        else
            read_b(m, s, b);
    }
    for (int i = 0; ok && i < m->matrices; i++) {
        const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
        const size_t at = (size_t)i;
        const lb_mat ma = lb_mat_of(fa, a + at * ak * (size_t)fa->bytes, u->m, u->k),
                     mb = lb_mat_of(fb, b + at * kb * (size_t)fb->bytes, u->k, u->n);
        const lb_mat mc = lb_mat_of(fc, c + at * mn * (size_t)fc->bytes, u->m, u->n);
        lb_mat md = lb_mat_of(fc, d + at * mn * (size_t)fc->bytes, u->m, u->n);
        if (lb_unit_gemm(u, &ma, &mb, &mc, &md, NULL) != LB_OK) /* an open row has no model: c stays */
            memcpy(md.codes, mc.codes, mn * (size_t)fc->bytes);
    }
    if (ok) write_d(m, s, d);
    free(a);
    free(b);
    free(c);
    free(d);
    return ok;
}
