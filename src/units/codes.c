/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole products on the paths of path.h: what each can hold, its operands packed, K step by K step. */
#include "base/try.h"
#include "units/parameters.h"
#include "units/path.h"

#include <stdlib.h>

/* ---- what a path can hold ----------------------------------------------------------------------------------------- */

static bool is_float(lb_format_id id) {
    const lb_format *f = lb_format_row(id);
    return f && f->special != LB_SPECIAL_INT && f->special != LB_SPECIAL_E8M0;
}

static lb_status no_formats(const lb_unit *u, lb_error *err) {
    return lb_fail(err, LB_E_FORMAT, u->name, "path %s with rounding %s does not take these formats", lb_unit_path_name(u->path),
                   lb_unit_round_name(u->round));
}

static lb_status check_accumulator(const lb_unit *u, lb_format_id want, lb_unit_round first, lb_unit_round last, lb_error *err) {
    return u->c == want && u->d == want && u->round >= first && u->round <= last ? LB_OK : no_formats(u, err);
}

static lb_status check_fma(const lb_unit *u, lb_error *err) {
    const bool wide = u->round == LB_UNIT_RNE_F64;
    LB_TRY(check_accumulator(u, wide ? LB_F64 : LB_F32, wide ? LB_UNIT_RNE_F64 : LB_UNIT_RNE_F32, wide ? LB_UNIT_RNE_F64 : LB_UNIT_RNE_F32,
                             err));
    return is_float(u->a) && is_float(u->b) ? LB_OK : no_formats(u, err);
}

/* Operands of up to 16 bits, or 19: products of up to 22 significant bits. */
static lb_status check_narrow(const lb_unit *u, lb_error *err) {
    LB_TRY(check_accumulator(u, LB_F32, LB_UNIT_RNE_F32, LB_UNIT_RNE_F32, err));
    if (!is_float(u->a) || !is_float(u->b) || lb_format_row(u->a)->man_bits > 10 || lb_format_row(u->b)->man_bits > 10)
        return no_formats(u, err);
    const bool power = u->terms > 0 && (u->terms & (u->terms - 1)) == 0;
    if (!power || u->k % u->terms)
        return lb_fail(err, LB_E_ARG, u->name, "%d terms: a power of two that divides k is what the path holds", u->terms);
    const bool aligns = u->path == LB_PATH_LATE_C || u->path == LB_PATH_LATE_C_SPLIT;
    if (aligns && (u->frac_bits < 1 || u->frac_bits > 31))
        return lb_fail(err, LB_E_ARG, u->name, "1 to 31 fraction bits are what the path holds");
    return LB_OK;
}

static lb_status check_bf16_pairs(const lb_unit *u, lb_error *err) {
    LB_TRY(check_accumulator(u, LB_F32, u->path == LB_PATH_PAIR_ODD ? LB_UNIT_ODD_F32 : LB_UNIT_RNE_F32,
                             u->path == LB_PATH_PAIR_ODD ? LB_UNIT_ODD_F32 : LB_UNIT_RNE_F32, err));
    const bool f16_too = u->path == LB_PATH_TWO_CHAINS;
    if (u->a != u->b || (u->a != LB_BF16 && !(f16_too && u->a == LB_F16))) return no_formats(u, err);
    return u->k % 2 == 0 ? LB_OK : lb_fail(err, LB_E_ARG, u->name, "k is %u; the path takes pairs", u->k);
}

static lb_status check_integer(const lb_unit *u, lb_error *err) {
    LB_TRY(check_accumulator(u, LB_I32, LB_UNIT_WRAP_I32, LB_UNIT_SATURATE_I32, err));
    const lb_format *a = lb_format_row(u->a), *b = lb_format_row(u->b);
    const bool ints = a && b && a->special == LB_SPECIAL_INT && b->special == LB_SPECIAL_INT && a->bits <= 8 && b->bits <= 8;
    const bool whole = ints && a->man_bits == 0 && b->man_bits == 0; /* mxi8 counts in 64ths */
    return whole ? LB_OK : no_formats(u, err);
}

static lb_status check_bits(const lb_unit *u, lb_error *err) {
    LB_TRY(check_integer(u, err));
    return u->a == LB_B1 && u->b == LB_B1 ? LB_OK : no_formats(u, err);
}

static lb_status check_block_scaled(const lb_unit *u, lb_error *err) {
    if (u->scale_block < 1 || u->k % u->scale_block || (u->scale != LB_E8M0 && u->scale != LB_UE4M3))
        return lb_fail(err, LB_E_ARG, u->name, "scales of %d products do not divide k, or are no e8m0 or ue4m3", u->scale_block);
    if (u->terms != u->k) return lb_fail(err, LB_E_ARG, u->name, "one block is a whole K step");
    const lb_format *a = lb_format_row(u->a), *b = lb_format_row(u->b);
    if (!is_float(u->a) || !is_float(u->b) || a->bits > 8 || b->bits > 8) return no_formats(u, err);
    if (u->group && (u->group < 1 || u->scale_block % u->group || u->a != LB_E2M1 || u->b != LB_E2M1))
        return lb_fail(err, LB_E_ARG, u->name, "groups of %d are of e2m1 and divide a scale's block", u->group);
    if (u->frac_bits > 38) return lb_fail(err, LB_E_ARG, u->name, "1 to 38 fraction bits are what the path holds");
    return LB_OK;
}

static lb_status check_sparse(const lb_unit *u, lb_error *err) {
    return u->sparse_group ? LB_OK : lb_fail(err, LB_E_ARG, u->name, "path sparse without a compressed A");
}

static const struct {
    lb_step_function *step;
    lb_status (*check)(const lb_unit *u, lb_error *err);
    bool terms;
} paths[LB_PATH_COUNT] = {
    [LB_PATH_FMA_CHAIN] = {lb_step_fma_chain, check_fma, false},
    [LB_PATH_EXACT] = {lb_step_exact, check_narrow, false},
    [LB_PATH_PAIRWISE] = {lb_step_pairwise, check_narrow, false},
    [LB_PATH_LATE_C] = {lb_step_late_c, check_narrow, true},
    [LB_PATH_LATE_C_SPLIT] = {lb_step_late_c_split, check_narrow, true},
    [LB_PATH_BLOCK_SCALED] = {lb_step_block_scaled, check_block_scaled, true},
    [LB_PATH_SPARSE] = {lb_step_sparse, check_sparse, true},
    [LB_PATH_INTEGER] = {lb_step_integer, check_integer, false},
    [LB_PATH_XOR_POPC] = {lb_step_xor_popc, check_bits, false},
    [LB_PATH_AND_POPC] = {lb_step_and_popc, check_bits, false},
    [LB_PATH_ODD_FIRST] = {lb_step_odd_first, check_bf16_pairs, false},
    [LB_PATH_TWO_CHAINS] = {lb_step_two_chains, check_bf16_pairs, false},
    [LB_PATH_PAIR_ODD] = {lb_step_pair_odd, check_bf16_pairs, false},
    [LB_PATH_PAIR_FUSED] = {lb_step_pair_fused, check_bf16_pairs, false},
};

bool lb_is_code_path(lb_unit_path path) {
    return (unsigned)path < LB_PATH_COUNT && paths[path].step;
}

lb_status lb_code_path_of(const lb_unit *u, lb_code_path *out, lb_error *err) {
    *out = (lb_code_path){.step = paths[u->path].step, .terms = paths[u->path].terms};
    if (u->k < 1 || u->k > LB_MAX_K) return lb_fail(err, LB_E_ARG, u->name, "k is %u; a K step has 1 to %d products", u->k, LB_MAX_K);
    const bool scaled = u->path == LB_PATH_BLOCK_SCALED, may_be_sparse = u->path == LB_PATH_SPARSE || u->path == LB_PATH_INTEGER;
    if (u->scale_block && !scaled) return lb_fail(err, LB_E_ARG, u->name, "path %s knows no scales", lb_unit_path_name(u->path));
    const bool group_fits = u->sparse_group == 0 || ((u->sparse_group == 2 || u->sparse_group == 4) && u->k % u->sparse_group == 0);
    if (!group_fits || (u->sparse_group && !may_be_sparse))
        return lb_fail(err, LB_E_ARG, u->name, "A compressed by groups of %d is not for path %s", u->sparse_group,
                       lb_unit_path_name(u->path));
    LB_TRY(lb_check_edges(u, err));
    LB_TRY(paths[u->path].check(u, err));
    if (!scaled && u->path != LB_PATH_SPARSE) return LB_OK;
    lb_unit dense = *u; /* the blocks themselves are truncated ones */
    dense.path = LB_PATH_TRUNCATED;
    dense.edges.zero_group = LB_ZERO_GROUP_PRODUCTS; /* checked above; a block knows no groups */
    if (u->sparse_group) dense.k = u->k / 2;
    if (scaled) dense.terms = dense.k = 1;
    return lb_engine_of(&dense, &out->g, err);
}

lb_cell lb_cell_of(const lb_unit *u, const lb_code_path *path, lb_format_id format, uint64_t code) {
    if (path->terms) return (lb_cell){.term = lb_unit_term(u, format, code)};
    return (lb_cell){.code = lb_unit_code(u, format, code)};
}

/* ---- operands ------------------------------------------------------------------------------------------------------- */

/* Lines of cells as the unit takes them: [lines][length], what the matrix has not being `fill`. */
typedef struct lines {
    lb_cell *cells;
    size_t length;
} lines;

static lb_status pack(const lb_unit *u, const lb_code_path *path, const lb_mat *m, size_t length, uint64_t fill, lines *out,
                      lb_error *err) {
    const size_t count = m->rows ? m->rows : 1, room = length ? length : 1;
    *out = (lines){NULL, length};
    if (room > SIZE_MAX / sizeof(lb_cell) / count) return lb_fail(err, LB_E_MEMORY, u->name, "operands too large");
    out->cells = malloc(count * room * sizeof(lb_cell));
    if (!out->cells) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu x %zu codes", count, room);
    for (size_t l = 0; l < m->rows; l++)
        for (size_t i = 0; i < length; i++)
            out->cells[l * length + i] = lb_cell_of(u, path, m->format->id, i < m->cols ? lb_mat_code(m, l, i) : fill);
    return LB_OK;
}

static lb_status check_scale(const lb_unit *u, const char *name, const lb_mat *m, size_t rows, size_t cols, lb_error *err) {
    const lb_format *want = lb_format_row(u->scale);
    if (!m)
        return lb_fail(err, LB_E_ARG, u->name, "no scales of %s: this unit takes %s, one for %d elements", name, want->name,
                       u->scale_block);
    if (m->format->id != u->scale)
        return lb_fail(err, LB_E_FORMAT, u->name, "the scales of %s are %s; this unit takes %s", name, m->format->name, want->name);
    if (m->rows == rows && m->cols == cols) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, u->name, "the scales of %s are %zux%zu; one for %d elements makes %zux%zu", name, m->rows, m->cols,
                   u->scale_block, rows, cols);
}

lb_status lb_check_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_unit_operands *with, lb_error *err) {
    if (u->scale_block) {
        const size_t scales = b->rows / (size_t)u->scale_block + (b->rows % (size_t)u->scale_block != 0);
        LB_TRY(check_scale(u, "A", with->scale_a, a->rows, scales, err));
        LB_TRY(check_scale(u, "B", with->scale_b, scales, b->cols, err));
    } else if (with->scale_a || with->scale_b) {
        return lb_fail(err, LB_E_ARG, u->name, "this unit takes no scales");
    }
    if (!u->sparse_group) return with->metadata ? lb_fail(err, LB_E_ARG, u->name, "A of this unit is dense: it takes no metadata") : LB_OK;
    const lb_mat *meta = with->metadata;
    if (!meta) return lb_fail(err, LB_E_ARG, u->name, "A of this unit is compressed: give its metadata, [m][k/2] places in u8");
    if (meta->format->id != LB_U8) return lb_fail(err, LB_E_FORMAT, u->name, "the metadata is %s; places are u8", meta->format->name);
    if (meta->rows != a->rows || meta->cols != a->cols)
        return lb_fail(err, LB_E_SHAPE, u->name, "the metadata is %zux%zu; the compressed A is %zux%zu", meta->rows, meta->cols, a->rows,
                       a->cols);
    if (b->rows % (size_t)u->sparse_group)
        return lb_fail(err, LB_E_SHAPE, u->name, "K is %zu; a compressed A has whole groups of %d", b->rows, u->sparse_group);
    return LB_OK;
}

/* ---- the product ---------------------------------------------------------------------------------------------------- */

typedef struct job {
    const lb_unit *u;
    lb_code_path path;
    size_t steps, a_step;         /* K steps; products of a step that A holds */
    lines a, b, scale_a, scale_b; /* rows of A, columns of B */
    size_t *index;                /* [a columns] where the compressed elements of the row at hand go; NULL if A is dense */
    size_t index_count;
} job;

static void job_close(job *j) {
    free(j->a.cells);
    free(j->b.cells);
    free(j->scale_a.cells);
    free(j->scale_b.cells);
    free(j->index);
}

static lb_status job_open(job *j, const lb_mat *a, const lb_mat *b, const lb_unit_operands *with, lb_error *err) {
    const lb_unit *u = j->u;
    const lb_mat b_lines = lb_mat_transposed(*b);
    j->steps = b->rows / u->k + (b->rows % u->k != 0);
    j->a_step = u->sparse_group ? u->k / 2u : u->k;
    LB_TRY(pack(u, &j->path, a, j->steps * j->a_step, 0, &j->a, err));
    LB_TRY(pack(u, &j->path, &b_lines, j->steps * u->k, 0, &j->b, err));
    if (u->scale_block) {
        const lb_mat scale_b = lb_mat_transposed(*with->scale_b);
        const size_t scales = j->steps * (size_t)(u->k / u->scale_block);
        const uint64_t one = lb_from_double(lb_format_row(u->scale), 1);
        LB_TRY(pack(u, &j->path, with->scale_a, scales, one, &j->scale_a, err));
        LB_TRY(pack(u, &j->path, &scale_b, scales, one, &j->scale_b, err));
    }
    if (!u->sparse_group) return LB_OK;
    j->index_count = a->cols;
    j->index = malloc((a->cols + 1) * sizeof(size_t));
    if (!j->index) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu places", a->cols);
    for (size_t r = 0; r < a->rows; r++)
        LB_TRY(lb_sparse_index(u, with->metadata, r, 0, a->cols, j->index, err)); /* before anything is written */
    return LB_OK;
}

/* The products' b of one K step, as A has kept them. */
static void gather(const job *j, size_t first, const lb_cell *col, lb_cell *out) {
    for (size_t i = 0; i < j->a_step; i++)
        out[i] = first + i < j->index_count ? col[j->index[first + i]] : lb_cell_of(j->u, &j->path, j->u->b, 0);
}

static uint64_t element(const job *j, size_t row, size_t col, uint64_t c) {
    const lb_unit *u = j->u;
    const lb_cell *a = j->a.cells + row * j->a.length, *b = j->b.cells + col * j->b.length;
    lb_cell gathered[LB_MAX_K];
    for (size_t s = 0; s < j->steps; s++) {
        lb_step step = {.u = u, .g = &j->path.g, .count = (int)j->a_step, .a = a + s * j->a_step, .b = b + s * u->k};
        if (j->index) {
            gather(j, s * j->a_step, b, gathered);
            step.b = gathered;
        }
        if (u->scale_block) {
            const size_t scales = (size_t)(u->k / u->scale_block);
            step.scale_a = j->scale_a.cells + row * j->scale_a.length + s * scales;
            step.scale_b = j->scale_b.cells + col * j->scale_b.length + s * scales;
        }
        c = lb_settle_nan(u, j->path.step(&step, c));
    }
    return c;
}

lb_status lb_code_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                       lb_error *err) {
    static const lb_unit_operands none = {0};
    job j = {.u = u};
    if (!with) with = &none;
    LB_TRY(lb_code_path_of(u, &j.path, err));
    LB_TRY(lb_check_operands(u, a, b, c, d, err));
    LB_TRY(lb_check_with(u, a, b, with, err));
    lb_status s = job_open(&j, a, b, with, err);
    for (size_t i = 0; s == LB_OK && i < d->rows; i++) {
        if (j.index) s = lb_sparse_index(u, with->metadata, i, 0, a->cols, j.index, err);
        for (size_t n = 0; s == LB_OK && n < d->cols; n++)
            lb_store_code(lb_mat_at(d, i, n), d->format->bytes, element(&j, i, n, c ? lb_mat_code(c, i, n) : 0));
    }
    job_close(&j);
    return s;
}
