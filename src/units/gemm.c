/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Dots, tiles and whole products, on the integer engine. */
#include "units/path.h"

#include "base/try.h"

#include <stdlib.h>

/* Operands made ready: [lines][k_padded] terms in slot order, and which lines hold NaN or Inf. */
typedef struct packed {
    lb_term *terms;
    bool *special;
} packed;

static void unpack(packed *p) {
    free(p->terms);
    free(p->special);
    *p = (packed){0};
}

/* Lines are rows of A or columns of B: line l, position i is element (l, i) of m. */
static lb_status pack(const lb_unit *u, lb_format_id format, const lb_mat *m, size_t k_padded, packed *out, lb_error *err) {
    const size_t lines = m->rows ? m->rows : 1, length = k_padded ? k_padded : 1;
    if (length > SIZE_MAX / sizeof(lb_term) / lines) return lb_fail(err, LB_E_MEMORY, u->name, "operands too large");
    *out = (packed){malloc(lines * length * sizeof(lb_term)), calloc(lines, sizeof(bool))};
    if (!out->terms || !out->special) {
        unpack(out);
        return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu x %zu operands", lines, length);
    }
    for (size_t l = 0; l < m->rows; l++) {
        lb_term *line = out->terms + l * k_padded; /* [k_padded] */
        for (size_t i = 0; i < k_padded; i++) {
            const size_t at = i - i % u->k + lb_unit_slot(u, i % u->k);
            line[at] = i < m->cols ? lb_unit_term(u, format, lb_mat_code(m, l, i)) : (lb_term){0, LB_TERM_ZERO};
            if (line[at].e == LB_TERM_SPECIAL) out->special[l] = true;
        }
    }
    return LB_OK;
}

lb_status lb_check_operands(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d, lb_error *err) {
    const struct {
        const char *name;
        const lb_mat *m;
        lb_format_id want;
    } operands[] = {{"A", a, u->a}, {"B", b, u->b}, {"C", c, u->c}, {"D", d, u->d}};
    for (size_t i = 0; i < 4; i++)
        if (operands[i].m && operands[i].m->format->id != operands[i].want)
            return lb_fail(err, LB_E_FORMAT, u->name, "%s is %s; this unit takes %s", operands[i].name, operands[i].m->format->name,
                           lb_format_row(operands[i].want)->name);
    const size_t halves = u->sparse_group ? 2 : 1; /* a compressed A has half of the columns */
    if (a->cols * halves != b->rows)
        return lb_fail(err, LB_E_SHAPE, u->name, "A is %zux%zu and B is %zux%zu: %zu and %zu should be one K", a->rows, a->cols, b->rows,
                       b->cols, a->cols * halves, b->rows);
    if (d->rows != a->rows || d->cols != b->cols)
        return lb_fail(err, LB_E_SHAPE, u->name, "D is %zux%zu; A and B make %zux%zu", d->rows, d->cols, a->rows, b->cols);
    if (c && (c->rows != d->rows || c->cols != d->cols))
        return lb_fail(err, LB_E_SHAPE, u->name, "C is %zux%zu; D is %zux%zu", c->rows, c->cols, d->rows, d->cols);
    return LB_OK;
}

/* Whole products on truncated blocks, operands unpacked once. */
static lb_status engine_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err) {
    lb_engine g;
    lb_status s = lb_engine_of(u, &g, err);
    if (s == LB_OK) s = lb_check_operands(u, a, b, c, d, err);
    if (s != LB_OK) return s;
    const size_t steps = a->cols / u->k + (a->cols % u->k != 0), k_padded = steps * u->k;
    const lb_mat b_lines = lb_mat_transposed(*b);
    packed pa = {0}, pb = {0};
    s = pack(u, u->a, a, k_padded, &pa, err);
    if (s == LB_OK) s = pack(u, u->b, &b_lines, k_padded, &pb, err);
    for (size_t i = 0; s == LB_OK && i < d->rows; i++) {
        for (size_t j = 0; j < d->cols; j++) {
            const lb_term *row = pa.terms + i * k_padded, *col = pb.terms + j * k_padded; /* [k_padded] */
            const bool special = pa.special[i] || pb.special[j];
            uint32_t acc = c ? (uint32_t)lb_mat_code(c, i, j) : 0;
            for (size_t k = 0; k < k_padded; k += u->k) acc = lb_engine_step(&g, row + k, col + k, acc, special);
            lb_store_code(lb_mat_at(d, i, j), d->format->bytes, acc);
        }
    }
    unpack(&pa);
    unpack(&pb);
    return s;
}

static bool any_operand(const lb_unit_operands *with) {
    return with && (with->scale_a || with->scale_b || with->metadata);
}

lb_status lb_unit_gemm_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                            lb_error *err) {
    if (lb_is_code_path(u->path)) return lb_code_gemm(u, a, b, c, with, d, err);
    if (u->path != LB_PATH_NONE && (u->scale_block || u->sparse_group))
        return lb_fail(err, LB_E_ARG, u->name, "path %s knows no scales and no compressed A", lb_unit_path_name(u->path));
    if (any_operand(with)) return lb_fail(err, LB_E_ARG, u->name, "this unit takes no scales and no metadata");
    return engine_gemm(u, a, b, c, d, err);
}

lb_status lb_unit_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err) {
    return lb_unit_gemm_with(u, a, b, c, NULL, d, err);
}

lb_status lb_unit_mma_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                           lb_error *err) {
    const unsigned a_cols = u->sparse_group ? u->k / 2u : u->k;
    if (a->rows != u->m || a->cols != a_cols || b->rows != u->k || b->cols != u->n)
        return lb_fail(err, LB_E_SHAPE, u->name, "A is %zux%zu and B %zux%zu; one tile takes %ux%u and %ux%u (`gemm` takes any shape)",
                       a->rows, a->cols, b->rows, b->cols, u->m, a_cols, u->k, u->n);
    return lb_unit_gemm_with(u, a, b, c, with, d, err);
}

lb_status lb_unit_mma(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, lb_error *err) {
    return lb_unit_mma_with(u, a, b, c, NULL, d, err);
}

/* ---- one dot ------------------------------------------------------------------------------------------------------- */

lb_status lb_unit_dot_check(const lb_unit *u, lb_error *err) {
    if (u->path == LB_PATH_NONE) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "open: %s; %s", u->note, u->open);
    if (u->scale_block) return lb_fail(err, LB_E_ARG, u->name, "this unit takes scales: a product of matrices gives them (mma, gemm)");
    if (u->sparse_group)
        return lb_fail(err, LB_E_ARG, u->name, "A of this unit is compressed: a product of matrices gives its metadata (mma, gemm)");
    const lb_format_id formats[] = {u->a, u->b, u->c, u->d};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!lb_format_row(formats[i]) || lb_format_row(formats[i])->bits > 32)
            return lb_fail(err, LB_E_FORMAT, u->name, "codes of 64 bits do not fit a dot; use a product of matrices (mma, gemm)");
    return LB_OK;
}

static lb_status code_dot(const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c, uint32_t *d, lb_error *err) {
    lb_code_path path;
    lb_cell cells_a[LB_MAX_K], cells_b[LB_MAX_K];
    LB_TRY(lb_code_path_of(u, &path, err));
    for (size_t i = 0; i < u->k; i++) {
        cells_a[i] = lb_cell_of(&path, u->a, i < count ? a[i] : 0);
        cells_b[i] = lb_cell_of(&path, u->b, i < count ? b[i] : 0);
    }
    const lb_step step = {.u = u, .g = &path.g, .count = u->k, .a = cells_a, .b = cells_b};
    *d = (uint32_t)path.step(&step, c);
    return LB_OK;
}

static lb_status engine_dot(const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c, uint32_t *d, lb_error *err) {
    lb_engine g;
    lb_term ta[LB_MAX_K], tb[LB_MAX_K];
    LB_TRY(lb_engine_of(u, &g, err));
    bool special = false;
    for (size_t i = 0; i < u->k; i++) {
        const size_t at = lb_unit_slot(u, i);
        ta[at] = i < count ? lb_unit_term(u, u->a, a[i]) : (lb_term){0, LB_TERM_ZERO};
        tb[at] = i < count ? lb_unit_term(u, u->b, b[i]) : (lb_term){0, LB_TERM_ZERO};
        special = special || ta[at].e == LB_TERM_SPECIAL || tb[at].e == LB_TERM_SPECIAL;
    }
    *d = lb_engine_step(&g, ta, tb, c, special);
    return LB_OK;
}

lb_status lb_unit_dot(const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c, uint32_t *d, lb_error *err) {
    LB_TRY(lb_unit_dot_check(u, err));
    if (count > u->k || u->k > LB_MAX_K) return lb_fail(err, LB_E_SHAPE, u->name, "%zu products; one step takes %u", count, u->k);
    return lb_is_code_path(u->path) ? code_dot(u, a, b, count, c, d, err) : engine_dot(u, a, b, count, c, d, err);
}
