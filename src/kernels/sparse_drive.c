/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A compressed A spread out with zeros: a zero product has no exponent and adds nothing, so a block of `terms` kept products is a truncated
 * block over the 2 `terms` positions that they come from. Only NaN and Inf of B would meet those zeros: columns that hold one are the
 * engine's. */
#include "kernels/sparse_drive.h"

#include "kernels/chains.h"
#include "units/path.h"

#include <stdlib.h>

static lb_unit dense_of(const lb_unit *u) {
    lb_unit dense = *u;
    dense.sparse_group = 0;
    if (u->path != LB_PATH_SPARSE) return dense;
    dense.path = LB_PATH_TRUNCATED;
    dense.terms = 2 * u->terms;
    return dense;
}

bool lb_sparse_can(const lb_unit *u) {
    lb_code_path path;
    if (!u->sparse_group || !lb_unit_is_plain(u) || lb_code_path_of(u, &path, NULL) != LB_OK) return false;
    const lb_unit dense = dense_of(u);
    return lb_plan_can(&dense) || lb_plan_can_wide(&dense) || lb_chain_can(&dense);
}

/* The columns of B that hold NaN or Inf, in the order of `columns` [b->cols]; how many. */
static size_t special_columns(const lb_mat *b, size_t *columns) {
    size_t count = 0;
    if (b->format->special == LB_SPECIAL_INT) return 0;
    for (size_t j = 0; j < b->cols; j++)
        for (size_t k = 0; k < b->rows; k++)
            if (lb_code_class(b->format, lb_mat_code(b, k, j)) >= LB_INF) {
                columns[count++] = j;
                break;
            }
    return count;
}

static lb_mat column_of(const lb_mat *m, size_t j) {
    lb_mat column = *m;
    column.codes = lb_mat_at(m, 0, j);
    column.cols = 1;
    return column;
}

/* kept [d->rows][count] <- those columns on the engine; before the rest is written, since d may be c. */
static lb_status columns_by_engine(const lb_product *x, const size_t *columns, size_t count, lb_mat *kept, lb_error *err) {
    lb_status s = LB_OK;
    for (size_t i = 0; s == LB_OK && i < count; i++) {
        const lb_mat b = column_of(x->b, columns[i]), c = x->c ? column_of(x->c, columns[i]) : b;
        lb_mat d = column_of(kept, i);
        s = lb_unit_gemm_with(x->u, x->a, &b, x->c ? &c : NULL, &x->with, &d, err);
    }
    return s;
}

lb_status lb_sparse_drive(const lb_product *x, const lb_gemm_options *options, lb_error *err) {
    const lb_unit *u = x->u, dense = dense_of(u);
    lb_status s = lb_check_operands(u, x->a, x->b, x->c, x->d, err);
    if (s == LB_OK) s = lb_check_with(u, x->a, x->b, &x->with, err);
    if (s != LB_OK) return s;
    const size_t m = x->a->rows, k = x->b->rows, n = x->b->cols, d_bytes = (size_t)x->d->format->bytes;
    void *codes = k && m > SIZE_MAX / 16 / k ? NULL : calloc(m * k + 1, (size_t)x->a->format->bytes);
    size_t *columns = malloc((n + 1) * sizeof *columns);
    const size_t count = columns ? special_columns(x->b, columns) : 0;
    void *kept_codes = calloc(m * count + 1, d_bytes);
    if (!codes || !columns || !kept_codes) s = lb_fail(err, LB_E_MEMORY, u->name, "no memory for a dense A of %zu x %zu", m, k);
    lb_mat a = lb_mat_of(x->a->format, codes, m, k), kept = lb_mat_of(x->d->format, kept_codes, m, count);
    lb_gemm_options rest = *options;
    rest.kernel = NULL;
    if (s == LB_OK) s = lb_unit_expand(u, x->a, x->with.metadata, &a, err);
    if (s == LB_OK) s = columns_by_engine(x, columns, count, &kept, err);
    if (s == LB_OK) s = lb_gemm(&dense, &a, x->b, x->c, x->d, &rest, err);
    for (size_t i = 0; s == LB_OK && i < count; i++)
        for (size_t r = 0; r < m; r++) lb_store_code(lb_mat_at(x->d, r, columns[i]), (int)d_bytes, lb_mat_code(&kept, r, i));
    free(codes);
    free(columns);
    free(kept_codes);
    return s;
}
