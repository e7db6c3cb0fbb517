/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Matrices of codes: views, and the ways from one format to another: rounded, or refused where a value has no code. */
#include "lastbit/formats.h"

#include <inttypes.h>
#include <stdlib.h>

lb_mat lb_mat_of(const lb_format *format, const void *codes, size_t rows, size_t cols) {
    union {
        const void *in;
        void *out;
    } p = {.in = codes}; /* a view serves reading and writing; who reads only, only reads */
    return (lb_mat){format, p.out, rows, cols, (ptrdiff_t)cols, 1};
}

lb_mat lb_mat_transposed(lb_mat m) {
    return (lb_mat){m.format, m.codes, m.cols, m.rows, m.col_stride, m.row_stride};
}

static lb_status check_shapes(const lb_mat *from, const lb_mat *to, lb_error *err) {
    if (from->rows == to->rows && from->cols == to->cols) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, "", "%zux%zu elements into %zux%zu", from->rows, from->cols, to->rows, to->cols);
}

/* ---- rounded ----------------------------------------------------------------------------------------------------- */

lb_status lb_mat_encode(const lb_mat *from, lb_mat *to, const lb_encoding *how, const uint32_t *random, unsigned *flags, lb_error *err) {
    lb_encoding each = how ? *how : (lb_encoding){0};
    unsigned seen = 0;
    const lb_status s = check_shapes(from, to, err);
    if (s != LB_OK) return s;
    if (each.rounding == LB_SR && (each.random_bits < 1 || each.random_bits > 32))
        return lb_fail(err, LB_E_ARG, "sr", "%u random bits; stochastic rounding takes 1 to 32", each.random_bits);
    for (size_t r = 0; r < to->rows; r++) {
        for (size_t c = 0; c < to->cols; c++) {
            if (random) each.random = random[r * to->cols + c];
            const uint64_t code = lb_encode(to->format, lb_decode(from->format, lb_mat_code(from, r, c)), &each, &seen);
            lb_store_code(lb_mat_at(to, r, c), to->format->bytes, code);
        }
    }
    if (flags) *flags = seen;
    return LB_OK;
}

void lb_mat_round(const lb_mat *from, lb_mat *to) {
    lb_mat_encode(from, to, NULL, NULL, NULL, NULL);
}

/* ---- by value ---------------------------------------------------------------------------------------------------- */

lb_status lb_mat_check(const lb_mat *m, const char *place, lb_error *err) {
    const lb_format *f = m->format;
    if (f->bits == 8 * f->bytes) return LB_OK;
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++)
            if (lb_mat_code(m, r, c) >> f->bits)
                return lb_fail(err, LB_E_FORMAT, place, "element [%zu,%zu] is 0x%" PRIx64 ": a code of %s has %d bits", r, c,
                               lb_mat_code(m, r, c), f->name, f->bits);
    return LB_OK;
}

/* How many low bits a code loses on its way to a shorter format with the same exponents (f32 to bf16); 0 for any other pair. */
static int cut_bits(const lb_format *from, const lb_format *to) {
    const bool same = from->special == LB_SPECIAL_IEEE && to->special == LB_SPECIAL_IEEE && from->exp_bits == to->exp_bits &&
                      from->bias == to->bias && !from->pad_bits && !to->pad_bits;
    return same && from->bits > to->bits ? from->bits - to->bits : 0;
}

/* The code of the same value, false if there is none. `cut` is cut_bits: where those bits are zero, the rest is the code, also of
 * subnormals and zeros; Inf and NaN go the long way, which makes NaN canonical. */
static bool convert_code(const lb_format *from, const lb_format *to, int cut, uint64_t code, uint64_t *out) {
    const uint64_t exponents = ((UINT64_C(1) << from->exp_bits) - 1) << from->man_bits;
    if (cut && (code & exponents) != exponents) {
        *out = code >> cut;
        return *out << cut == code;
    }
    const lb_value v = lb_decode(from, code);
    unsigned flags = 0;
    *out = lb_encode(to, v, NULL, &flags);
    return !flags && lb_code_class(to, *out) == v.cls && (v.cls == LB_NAN || lb_decode(to, *out).negative == v.negative);
}

lb_status lb_mat_convert(const lb_mat *from, lb_mat *to, const char *place, lb_error *err) {
    const lb_format *own = from->format, *f = to->format;
    const int cut = cut_bits(own, f);
    const lb_status s = check_shapes(from, to, err);
    if (s != LB_OK) return s;
    for (size_t r = 0; r < to->rows; r++) {
        for (size_t c = 0; c < to->cols; c++) {
            const uint64_t code = lb_mat_code(from, r, c);
            uint64_t out;
            if (!convert_code(own, f, cut, code, &out))
                return lb_fail(err, LB_E_FORMAT, place,
                               "element [%zu,%zu] is %.9g (0x%0*" PRIx64 "): %s cannot hold it; name its own format, %s", r, c,
                               lb_to_double(own, code), (own->bits + 3) / 4, code, f->name, own->name);
            lb_store_code(lb_mat_at(to, r, c), f->bytes, out);
        }
    }
    return LB_OK;
}
