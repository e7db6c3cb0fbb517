/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compressed A: where its elements go, and the truncated block over the products that are left. */
#include "units/path.h"

uint64_t lb_step_sparse(const lb_step *s, uint64_t c) {
    lb_term a[LB_MAX_K], b[LB_MAX_K];
    bool special = false;
    for (int i = 0; i < s->count; i++) {
        a[i] = s->a[i].term;
        b[i] = s->b[i].term;
        special = special || a[i].e == LB_TERM_SPECIAL || b[i].e == LB_TERM_SPECIAL;
    }
    return lb_engine_step(s->g, a, b, (uint32_t)c, special);
}

lb_status lb_sparse_index(const lb_unit *u, const lb_mat *metadata, size_t row, size_t first, size_t count, size_t *index, lb_error *err) {
    const size_t group = (size_t)u->sparse_group, kept = group / 2;
    for (size_t i = 0; i < count; i++) {
        const uint64_t place = lb_mat_code(metadata, row, first + i);
        if (place >= group)
            return lb_fail(err, LB_E_ARG, u->name, "metadata [%zu,%zu] is %llu; a place in a group of %zu is below %zu", row, first + i,
                           (unsigned long long)place, group, group);
        index[i] = (first + i) / kept * group + place;
        if (i % kept && index[i] <= index[i - 1])
            return lb_fail(err, LB_E_ARG, u->name, "metadata [%zu,%zu] is %llu: the places of a group ascend", row, first + i,
                           (unsigned long long)place);
    }
    return LB_OK;
}

/* The shapes and formats of the two halves of a compressed A. */
static lb_status check_compressed(const lb_unit *u, const lb_mat *a, const lb_mat *metadata, lb_error *err) {
    if (!u->sparse_group) return lb_fail(err, LB_E_ARG, u->name, "A of this unit is dense");
    if (metadata->format->id != LB_U8)
        return lb_fail(err, LB_E_FORMAT, u->name, "the metadata is %s; places are u8", metadata->format->name);
    if (metadata->rows != a->rows || metadata->cols != a->cols)
        return lb_fail(err, LB_E_SHAPE, u->name, "the metadata is %zux%zu; the compressed A is %zux%zu", metadata->rows, metadata->cols,
                       a->rows, a->cols);
    const size_t kept = (size_t)u->sparse_group / 2;
    if (a->cols % kept)
        return lb_fail(err, LB_E_SHAPE, u->name, "a compressed row holds %zu of each %d elements; %zu are no whole groups", kept,
                       u->sparse_group, a->cols);
    return LB_OK;
}

lb_status lb_unit_expand(const lb_unit *u, const lb_mat *compressed, const lb_mat *metadata, lb_mat *dense, lb_error *err) {
    lb_status s = check_compressed(u, compressed, metadata, err);
    if (s != LB_OK) return s;
    if (dense->format != compressed->format)
        return lb_fail(err, LB_E_FORMAT, u->name, "the dense A is %s, the compressed one %s", dense->format->name,
                       compressed->format->name);
    if (dense->rows != compressed->rows || dense->cols != 2 * compressed->cols)
        return lb_fail(err, LB_E_SHAPE, u->name, "the dense A is %zux%zu; the compressed one is %zux%zu", dense->rows, dense->cols,
                       compressed->rows, compressed->cols);
    const size_t kept = (size_t)u->sparse_group / 2;
    for (int writes = 0; writes < 2; writes++) { /* look at all before anything is written */
        for (size_t r = 0; r < dense->rows; r++) {
            for (size_t k = 0; writes && k < dense->cols; k++) lb_store_code(lb_mat_at(dense, r, k), dense->format->bytes, 0);
            for (size_t first = 0; first < compressed->cols; first += kept) {
                size_t index[2];
                s = lb_sparse_index(u, metadata, r, first, kept, index, err);
                if (s != LB_OK) return s;
                for (size_t i = 0; writes && i < kept; i++)
                    lb_store_code(lb_mat_at(dense, r, index[i]), dense->format->bytes, lb_mat_code(compressed, r, first + i));
            }
        }
    }
    return LB_OK;
}
