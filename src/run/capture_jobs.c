/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/capture_jobs.h"

#include "base/try.h"

#include <stdlib.h>
#include <string.h>

static lb_tensor tensor_of(const char *name, const lb_format *f, int rank, size_t rows, size_t cols, const void *data) {
    return (lb_tensor){.name = name,
                       .dtype = lb_dtype_of_codes(f),
                       .rank = rank,
                       .shape = {rows, cols},
                       .data = data,
                       .bytes = rows * (rank == 2 ? cols : 1) * (size_t)f->bytes};
}

/* ---- dots ------------------------------------------------------------------------------------------------------------------- */

enum { A, B, C, D, TENSORS, CHUNK_DOTS = 1 << 14, CHUNK_CODES = 1 << 21 };

/* Dots that are on their way. Tile t holds dots t*each … t*each+each-1: dot j of them in column j and, so that every place of a tile is
 * used, in row (j + t) mod m. What is beside them is zeros. */
typedef struct chunk {
    const lb_capture_shape *s;
    size_t count, k, each;
    char *codes[TENSORS]; /* [count][k], [count][k], [count], [count] */
    int bytes[TENSORS];   /* of a code */
} chunk;

static size_t row_of(const chunk *x, size_t tile, size_t j) {
    return (j + tile) % x->s->unit.m;
}

static uint64_t chunk_code(const chunk *x, int tensor, size_t dot, size_t p) {
    const size_t index = tensor == C ? dot : dot * x->k + p;
    return dot < x->count ? lb_load_code(x->codes[tensor] + index * (size_t)x->bytes[tensor], x->bytes[tensor]) : 0;
}

static uint64_t get_dot(const void *user, int operand, size_t tile, size_t row, size_t col) {
    const chunk *x = user;
    const size_t m = x->s->unit.m, p = operand == A ? col : row;
    const size_t j = operand == A ? (row + m - tile % m) % m : col;
    if (j >= x->each || (operand == C ? row != row_of(x, tile, j) : p >= x->k)) return 0;
    return chunk_code(x, operand, tile * x->each + j, p);
}

static void put_dot(void *user, size_t tile, size_t row, size_t col, uint64_t code) {
    chunk *x = user;
    const size_t dot = tile * x->each + col;
    if (col < x->each && row == row_of(x, tile, col) && dot < x->count)
        lb_store_code(x->codes[D] + dot * (size_t)x->bytes[D], x->bytes[D], code);
}

static void chunk_fill(chunk *x, const lb_capture_dots *dots, size_t first, uint64_t *scratch) {
    uint64_t *a = scratch, *b = scratch + x->k, c;
    for (size_t i = 0; i < x->count; i++) {
        dots->make(dots, first + i, a, b, &c);
        for (size_t p = 0; p < x->k; p++) {
            lb_store_code(x->codes[A] + (i * x->k + p) * (size_t)x->bytes[A], x->bytes[A], a[p]);
            lb_store_code(x->codes[B] + (i * x->k + p) * (size_t)x->bytes[B], x->bytes[B], b[p]);
        }
        lb_store_code(x->codes[C] + i * (size_t)x->bytes[C], x->bytes[C], c);
    }
}

static size_t row_bytes(const chunk *x, int tensor) {
    return (tensor <= B ? x->k : 1) * (size_t)x->bytes[tensor];
}

static lb_status run_chunks(const lb_capture_job *job, const lb_capture_dots *dots, chunk *x, size_t most, uint64_t *scratch, lb_writer *w,
                            lb_error *err) {
    const size_t unit_k = job->shape->unit.k;
    for (size_t first = 0; first < dots->count; first += most) {
        x->count = dots->count - first < most ? dots->count - first : most;
        chunk_fill(x, dots, first, scratch);
        const lb_capture_tiles tiles = {.count = (x->count + x->each - 1) / x->each,
                                        .steps = (dots->k + unit_k - 1) / unit_k,
                                        .get = get_dot,
                                        .put = put_dot,
                                        .user = x};
        LB_TRY(lb_capture_tiles_run(job->cuda, job->shape, job->kernel, &tiles, err));
        for (int i = 0; i < TENSORS; i++)
            LB_TRY(lb_safetensors_put(w, (size_t)i, first * row_bytes(x, i), x->codes[i], x->count * row_bytes(x, i), err));
    }
    return LB_OK;
}

lb_status lb_capture_run_dots(const lb_capture_job *job, const lb_capture_dots *dots, lb_error *err) {
    const lb_unit *u = &job->shape->unit;
    const lb_format *const formats[TENSORS] = {lb_format_row(u->a), lb_format_row(u->b), lb_format_row(u->c), lb_format_row(u->d)};
    const size_t by_codes = CHUNK_CODES / dots->k + 1, most = by_codes < CHUNK_DOTS ? by_codes : CHUNK_DOTS;
    chunk x = {.s = job->shape, .k = dots->k, .each = u->m < u->n ? u->m : u->n};
    lb_tensor tensors[TENSORS];
    lb_writer *w = NULL;
    uint64_t *scratch = malloc((2 * dots->k + 1) * sizeof *scratch);
    bool room = scratch != NULL;
    for (int i = 0; i < TENSORS; i++) {
        static const char *const names[TENSORS] = {"a", "b", "c", "d"};
        x.bytes[i] = formats[i]->bytes;
        x.codes[i] = malloc(most * row_bytes(&x, i) + 1);
        room = room && x.codes[i];
        tensors[i] = tensor_of(names[i], formats[i], i <= B ? 2 : 1, dots->count, dots->k, NULL);
    }
    lb_status s = room ? LB_OK : lb_fail(err, LB_E_MEMORY, job->path, "no memory for dots of %zu products", dots->k);
    if (s == LB_OK) s = lb_safetensors_begin(&w, job->path, tensors, TENSORS, job->metadata, job->metadata_count, err);
    if (s == LB_OK) s = run_chunks(job, dots, &x, most, scratch, w, err);
    const lb_status end = lb_safetensors_end(w, s == LB_OK, s == LB_OK ? err : NULL);
    for (int i = 0; i < TENSORS; i++) free(x.codes[i]);
    free(scratch);
    return s == LB_OK ? end : s;
}

/* ---- a product --------------------------------------------------------------------------------------------------------------- */

typedef struct product {
    const lb_capture_shape *s;
    const lb_mat *operands[LB_CAPTURE_OPERANDS];
    lb_mat d;
    size_t across; /* tiles along n */
} product;

static uint64_t get_product(const void *user, int operand, size_t tile, size_t row, size_t col) {
    const product *x = user;
    const lb_mat *m = x->operands[operand];
    const size_t r = row + (operand == LB_CAPTURE_B ? 0 : tile / x->across * x->s->unit.m);
    const size_t c = col + (operand == LB_CAPTURE_A ? 0 : tile % x->across * x->s->unit.n);
    return r < m->rows && c < m->cols ? lb_mat_code(m, r, c) : 0;
}

static void put_product(void *user, size_t tile, size_t row, size_t col, uint64_t code) {
    product *x = user;
    const size_t r = row + tile / x->across * x->s->unit.m, c = col + tile % x->across * x->s->unit.n;
    if (r < x->d.rows && c < x->d.cols) lb_store_code(lb_mat_at(&x->d, r, c), x->d.format->bytes, code);
}

lb_status lb_capture_run_gemm(const lb_capture_job *job, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_error *err) {
    const lb_unit *u = &job->shape->unit;
    const lb_format *d_format = lb_format_row(u->d);
    void *d = calloc(a->rows * b->cols + 1, (size_t)d_format->bytes);
    if (!d) return lb_fail(err, LB_E_MEMORY, job->path, "no memory for %zux%zu", a->rows, b->cols);
    product x = {
        .s = job->shape, .operands = {a, b, c}, .d = lb_mat_of(d_format, d, a->rows, b->cols), .across = (b->cols + u->n - 1) / u->n};
    const lb_capture_tiles tiles = {.count = (a->rows + u->m - 1) / u->m * x.across,
                                    .steps = (a->cols + u->k - 1) / u->k,
                                    .get = get_product,
                                    .put = put_product,
                                    .user = &x};
    lb_status s = lb_capture_tiles_run(job->cuda, job->shape, job->kernel, &tiles, err);
    const lb_tensor tensors[TENSORS] = {
        tensor_of("a", a->format, 2, a->rows, a->cols, a->codes), tensor_of("b", b->format, 2, b->rows, b->cols, b->codes),
        tensor_of("c", c->format, 2, c->rows, c->cols, c->codes), tensor_of("d", d_format, 2, x.d.rows, x.d.cols, d)};
    if (s == LB_OK) s = lb_safetensors_write(job->path, tensors, TENSORS, job->metadata, job->metadata_count, err);
    free(d);
    return s;
}
