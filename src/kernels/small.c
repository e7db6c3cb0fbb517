/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each output of a small product as a dot of its own. */
#include "kernels/small.h"

#include <string.h>

enum { K = 16, DOTS = 16, OUTPUTS = 256 };

/* The operands of every output, row by row; rows beyond the last are zeros. */
typedef struct table {
    _Alignas(64) uint16_t a[OUTPUTS][K];
    _Alignas(64) uint16_t b[OUTPUTS][K];
    _Alignas(64) float c[OUTPUTS];
    _Alignas(64) float d[OUTPUTS];
    uint32_t slow[OUTPUTS / DOTS];
} table;

bool lb_small_fits(const lb_tiles *tiles, const lb_plan *p, const lb_mat *a, const lb_mat *d) {
    return tiles->dots16 && p->dots16 && a->cols <= K && d->rows <= OUTPUTS && d->cols <= OUTPUTS && d->rows * d->cols <= OUTPUTS;
}

/* Row i of m, zeros behind it. */
static void read_row(const lb_mat *m, size_t i, uint16_t out[K]) {
    const uint16_t *from = lb_mat_at(m, i, 0);
    if (m->col_stride == 1 && m->cols == K) {
        memcpy(out, from, K * sizeof *out);
        return;
    }
    memset(out, 0, K * sizeof *out);
    for (size_t t = 0; t < m->cols; t++) out[t] = from[(ptrdiff_t)t * m->col_stride];
}

static void fill(const lb_mat *a, const lb_mat *b, const lb_mat *c, table *w) {
    const lb_mat columns = lb_mat_transposed(*b);
    const size_t m = a->rows, n = b->cols, used = m * n, padded = (used + DOTS - 1) / DOTS * DOTS;
    for (size_t j = 0; j < n; j++) read_row(&columns, j, w->b[j]);
    for (size_t at = n; at < used; at++) memcpy(w->b[at], w->b[at - n], sizeof w->b[0]);
    for (size_t i = 0; i < m; i++) {
        uint16_t row[K];
        read_row(a, i, row);
        for (size_t j = 0; j < n; j++) memcpy(w->a[i * n + j], row, sizeof row);
    }
    for (size_t at = used; at < padded; at++) {
        memset(w->a[at], 0, sizeof w->a[0]);
        memset(w->b[at], 0, sizeof w->b[0]);
        w->c[at] = 0;
    }
    for (size_t i = 0; c && i < m; i++) {
        const float *from = lb_mat_at(c, i, 0);
        for (size_t j = 0; j < n; j++) w->c[i * n + j] = from[(ptrdiff_t)j * c->col_stride];
    }
}

static bool is_slow(const table *w, size_t dot) {
    return w->slow[dot / DOTS] >> dot % DOTS & 1;
}

/* Output i, j on the engine, from and to the caller's memory. */
static lb_status by_engine(const lb_plan *p, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d, size_t i, size_t j,
                           lb_error *err) {
    lb_mat row = *a, column = *b, addend = c ? *c : *d, out = *d;
    row.codes = lb_mat_at(a, i, 0);
    row.rows = 1;
    column.codes = lb_mat_at(b, 0, j);
    column.cols = 1;
    addend.codes = lb_mat_at(&addend, i, j);
    out.codes = lb_mat_at(d, i, j);
    addend.rows = addend.cols = out.rows = out.cols = 1;
    return lb_unit_gemm(p->u, &row, &column, c ? &addend : NULL, &out, err);
}

lb_status lb_small(const lb_tiles *tiles, const lb_plan *p, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d,
                   lb_error *err) {
    table w;
    const size_t m = d->rows, n = d->cols;
    const int groups = (int)((m * n + DOTS - 1) / DOTS);
    fill(a, b, c, &w);
    const lb_dots16 s = {.a = w.a[0], .b = w.b[0], .c = c ? w.c : NULL, .d = w.d, .slow = w.slow, .groups = groups, .ahead = groups};
    const unsigned saved = tiles->enter(p->finish);
    tiles->dots16(p, &s);
    tiles->leave(saved);
    uint32_t any = 0;
    for (int i = 0; i < groups; i++) any |= w.slow[i];
    for (size_t i = 0; i < m; i++) { /* an output that the engine decides keeps its c */
        float *to = lb_mat_at(d, i, 0);
        for (size_t j = 0; j < n; j++)
            if (!(any && is_slow(&w, i * n + j))) to[(ptrdiff_t)j * d->col_stride] = w.d[i * n + j];
    }
    lb_status status = LB_OK;
    for (size_t dot = 0; any && status == LB_OK && dot < m * n; dot++)
        if (is_slow(&w, dot)) status = by_engine(p, a, b, c, d, dot / n, dot % n, err);
    return status;
}
