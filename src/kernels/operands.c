/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading codes: a line at a time, so that the loops over elements know their stride and width. */
#include "kernels/operands.h"

#include <string.h>

void lb_codes_line(const void *from, int bytes, ptrdiff_t stride, int count, uint32_t *out) {
    const uint8_t *p8 = from;
    const uint16_t *p16 = from;
    const uint32_t *p32 = from;
    if (bytes == 1) {
        for (int i = 0; i < count; i++) out[i] = p8[i * stride];
    } else if (bytes == 2 && stride == 1) {
        for (int i = 0; i < count; i++) out[i] = p16[i];
    } else if (bytes == 2) {
        for (int i = 0; i < count; i++) out[i] = p16[i * stride];
    } else if (stride == 1) {
        memcpy(out, p32, (size_t)count * sizeof *out);
    } else {
        for (int i = 0; i < count; i++) out[i] = p32[i * stride];
    }
}

static void widen(const lb_codes *f, uint32_t *codes, int count) {
    if (f->widen)
        for (int i = 0; i < count; i++) codes[i] = f->widen[codes[i] & 0xff];
}

static int present(size_t total, size_t from, int length) {
    return from >= total ? 0 : total - from < (size_t)length ? (int)(total - from) : length;
}

/* Positions of whole K steps from natural order. */
static void permute(const lb_plan *p, const uint32_t *natural, int length, uint32_t *out) {
    for (int t0 = 0; t0 < length; t0 += p->k)
        for (int t = 0; t < p->k; t++) out[t0 + t] = natural[t0 + p->from[t]];
}

void lb_codes_row(const lb_plan *p, const lb_codes *f, const lb_mat *m, size_t row, size_t k0, int length, uint32_t *out) {
    const bool ordered = p->finish < LB_FINISH_HALVES_RZ || p->finish == LB_FINISH_LATE;
    uint32_t natural[LB_KC], *line = ordered ? out : natural;
    const int count = present(m->cols, k0, length);
    if (count) lb_codes_line(lb_mat_at(m, row, k0), f->bytes, m->col_stride, count, line);
    memset(line + count, 0, (size_t)(length - count) * sizeof *line);
    widen(f, line, length);
    if (!ordered) permute(p, natural, length, out);
}

void lb_codes_panel(const lb_plan *p, const lb_codes *f, const lb_mat *m, size_t k0, int length, size_t column0, uint32_t *out) {
    const int count = present(m->rows, k0, length), columns = present(m->cols, column0, LB_NR);
    const ptrdiff_t along_k = m->row_stride < 0 ? -m->row_stride : m->row_stride;
    const ptrdiff_t along_n = m->col_stride < 0 ? -m->col_stride : m->col_stride;
    if (count < length || columns < LB_NR) memset(out, 0, (size_t)length * LB_NR * sizeof *out);
    if (along_n <= along_k) {
        for (int t = 0; t < length; t++) {
            const int natural = t - t % p->k + p->from[t % p->k];
            if (natural >= count) continue;
            lb_codes_line(lb_mat_at(m, k0 + (size_t)natural, column0), f->bytes, m->col_stride, columns, out + (ptrdiff_t)t * LB_NR);
            widen(f, out + (ptrdiff_t)t * LB_NR, columns);
        }
        return;
    }
    const lb_mat lines = lb_mat_transposed(*m);
    uint32_t line[LB_KC];
    for (int j = 0; j < columns; j++) {
        lb_codes_row(p, f, &lines, column0 + (size_t)j, k0, length, line);
        for (int t = 0; t < length; t++) out[(ptrdiff_t)t * LB_NR + j] = line[t];
    }
}

void lb_codes_range(const lb_codes *f, const uint32_t *codes, int count, lb_range *r) {
    int lo = r->lo, hi = r->hi;
    for (int i = 0; i < count; i++) {
        const uint32_t mag = codes[i] >> f->pad & f->mag_mask;
        const int field = (int)(mag >> f->man), e = (field ? field : 1) - f->bias;
        const bool live = mag != 0 && mag < f->special;
        lo = live && e < lo ? e : lo;
        hi = live && e > hi ? e : hi;
    }
    *r = (lb_range){lo, hi};
}
