/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands for the kernels' tests: fourteen distributions, each there to provoke one thing. */
#ifndef LB_KERNEL_CASES_H
#define LB_KERNEL_CASES_H

#include "lastbit/gemm.h"
#include "lastbit/refs.h"

#include <math.h>
#include <stdlib.h>

#define CASE_LIST(X)                                                                                                                       \
    X(NORMAL, "normal")                                                                                                                    \
    X(BITS, "uniform bits")                                                                                                                \
    X(WIDE, "wide exponents")                                                                                                              \
    X(CANCELLING, "cancelling pairs")                                                                                                      \
    X(SPARSE, "sparse")                                                                                                                    \
    X(NEAR_MAX, "near maximum")                                                                                                            \
    X(SPECIAL, "Inf and NaN present")                                                                                                      \
    X(TINY_C, "tiny c")                                                                                                                    \
    X(HUGE_C, "huge c")                                                                                                                    \
    X(SUBNORMAL, "subnormal operands")                                                                                                     \
    X(FIRST_ZERO, "first block all zeros")                                                                                                 \
    X(EQUAL, "equal magnitudes")                                                                                                           \
    X(POWERS, "powers of two")                                                                                                             \
    X(OUTLIER, "one outlier a row")

typedef enum case_kind {
#define X(id, text) CASE_##id,
    CASE_LIST(X)
#undef X
        CASE_COUNT
} case_kind;

static const char *const case_names[CASE_COUNT] = {
#define X(id, text) text,
    CASE_LIST(X)
#undef X
};

typedef struct product_case {
    lb_mat a, b, c;                    /* owned; free with case_free */
    lb_mat scale_a, scale_b, metadata; /* what the unit takes of these; else no codes */
} product_case;

static inline lb_unit_operands case_with(const product_case *p) {
    return (lb_unit_operands){p->scale_a.codes ? &p->scale_a : NULL, p->scale_b.codes ? &p->scale_b : NULL,
                              p->metadata.codes ? &p->metadata : NULL};
}

static inline uint64_t draw_bits(uint64_t seed, uint32_t stream, size_t index, uint64_t below) {
    return lb_random_u64(seed, stream, index) % below;
}

static inline uint64_t encode_double(const lb_format *f, double x) {
    return lb_encode(f, lb_value_of(x), NULL, NULL);
}

/* A code by its parts: exponent field and mantissa, in place. */
static inline uint64_t code_of(const lb_format *f, bool negative, uint64_t field, uint64_t man) {
    return ((uint64_t)negative << (f->exp_bits + f->man_bits) | field << f->man_bits | man) << f->pad_bits;
}

static inline uint64_t special_code(const lb_format *f, uint64_t random) {
    const uint64_t top = (UINT64_C(1) << f->exp_bits) - 1, ones = (UINT64_C(1) << f->man_bits) - 1;
    if (f->special == LB_SPECIAL_FNUZ) return code_of(f, 1, 0, 0);
    if (f->special == LB_SPECIAL_NAN_TOP) return code_of(f, random & 1, top, ones);
    return code_of(f, random & 1, top, random % 7 == 0 ? ones : 0);
}

/* Integers and bits: everything, or the ends, or few. */
static inline uint64_t integer_code(const lb_format *f, case_kind kind, uint64_t r) {
    const uint64_t all = (UINT64_C(1) << f->bits) - 1, high = UINT64_C(1) << (f->bits - 1);
    switch (kind) {
    case CASE_NEAR_MAX:
    case CASE_HUGE_C: return r % 3 ? high - 1 : high; /* of i8: 127, -128 */
    case CASE_EQUAL: return f->sign_bits ? high : all;
    case CASE_SPARSE:
    case CASE_FIRST_ZERO: return r % 10 ? 0 : r >> 8 & all;
    default: return r >> 8 & all;
    }
}

/* Element (line, k) of an operand: line is a row of A (stream 1) or a column of B (stream 2). */
static inline uint64_t operand_code(const lb_format *f, const lb_unit *u, case_kind kind, uint64_t seed, uint32_t stream, size_t line,
                                    size_t k) {
    const size_t index = line * 4096 + k;
    const uint64_t r = lb_random_u64(seed, stream + 10, index), ones = (UINT64_C(1) << f->man_bits) - 1;
    const uint64_t top = (UINT64_C(1) << f->exp_bits) - 1, bias = (uint64_t)f->bias;
    if (f->special == LB_SPECIAL_INT) return integer_code(f, kind, r);
    const uint64_t normal = lb_draw(f, LB_DIST_NORMAL, seed, stream, index);
    switch (kind) {
    case CASE_BITS: return lb_draw(f, LB_DIST_BITS, seed, stream, index);
    case CASE_WIDE:
        if (f->exp_bits < 8) return code_of(f, r & 1, 1 + (r >> 8) % (top - 1), r >> 32 & ones);
        return code_of(f, r & 1, bias - 60 + (r >> 8) % 121, r >> 32 & ones);
    case CASE_CANCELLING: /* a twice, b and -b, at times off by one in the last place */
        if (k % 2 == 0) return normal;
        return lb_draw(f, LB_DIST_NORMAL, seed, stream, index - 1) ^ (stream == 2 ? code_of(f, 1, 0, 0) : 0) ^ code_of(f, 0, 0, r % 5 == 0);
    case CASE_SPARSE: return r % 10 ? 0 : normal;
    case CASE_NEAR_MAX: return code_of(f, r & 1, top - 1 - (r >> 8) % 2, r >> 32 & ones);
    case CASE_SPECIAL:
        return r % 400 == 0 ? special_code(f, r >> 20) : line % 3 == 0 ? lb_draw(f, LB_DIST_BITS, seed, stream, index) : normal;
    case CASE_TINY_C: return r % 8 ? 0 : normal;
    case CASE_SUBNORMAL: return code_of(f, r & 1, (r >> 8) % 16 == 0, r >> 32 & ones);
    case CASE_FIRST_ZERO: return k < u->k ? 0 : normal;
    case CASE_EQUAL: return code_of(f, r & 1, bias, ones);
    case CASE_POWERS: return code_of(f, r & 1, bias - bias / 2 + (r >> 8) % (bias / 2 + 2), 0);
    case CASE_OUTLIER: return k == line % 97 ? code_of(f, r & 1, top - 1 - (r >> 8) % (top / 3), r >> 32 & ones) : normal;
    default: return normal;
    }
}

static inline uint64_t c_code(const lb_format *f, case_kind kind, uint64_t seed, size_t index) {
    const uint64_t r = lb_random_u64(seed, 20, index), ones = (UINT64_C(1) << f->man_bits) - 1, top = (UINT64_C(1) << f->exp_bits) - 1;
    if (f->special == LB_SPECIAL_INT) return integer_code(f, kind, r);
    const int e = f->exp_bits >= 8 ? (int)(r >> 32) % 140 - 149 : (int)(r >> 32) % 14 - 24;
    switch (kind) {
    case CASE_BITS: return lb_draw(f, LB_DIST_BITS, seed, 3, index);
    case CASE_TINY_C:
    case CASE_FIRST_ZERO:
        return r % 16 == 0 ? 0 : encode_double(f, ldexp((r & 1 ? -1.0 : 1.0) * (1 + (double)(r >> 8 & 0xffff) / 65536), e));
    case CASE_HUGE_C: return code_of(f, r & 1, top - 1 - (r >> 8) % (top / 4), r >> 32 & ones);
    case CASE_SPECIAL: return r % 200 == 0 ? special_code(f, r >> 20) : lb_draw(f, LB_DIST_NORMAL, seed, 3, index);
    case CASE_SUBNORMAL: return r % 3 ? code_of(f, r & 1, 0, r >> 32 & ones) : 0;
    default: return lb_draw(f, LB_DIST_NORMAL, seed, 3, index);
    }
}

/* A matrix of its own memory: row-major, or column-major where `turned`; `gap` elements lie between its lines. */
static inline lb_mat mat_new(const lb_format *f, size_t rows, size_t cols, bool turned, size_t gap) {
    const size_t lines = turned ? cols : rows, length = (turned ? rows : cols) + gap;
    lb_mat m = lb_mat_of(f, calloc(lines * length + 1, (size_t)f->bytes), rows, cols);
    m.row_stride = turned ? 1 : (ptrdiff_t)length;
    m.col_stride = turned ? (ptrdiff_t)length : 1;
    return m;
}

/* Scales near 1; of every size where exponents are to be; NaN and zero now and then. */
static inline void draw_scales(const lb_format *f, case_kind kind, uint64_t seed, uint32_t stream, lb_mat *m) {
    const uint64_t top = lb_max_code(f), one = lb_from_double(f, 1);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const uint64_t r = lb_random_u64(seed, stream, i * m->cols + j);
            uint64_t code = one + r % 9 - 4;
            if (kind == CASE_BITS || kind == CASE_WIDE || (kind == CASE_SPARSE && r >> 60 == 0)) code = (r >> 8) % (top + 1);
            if (kind == CASE_SUBNORMAL) code = (r >> 8) % 12;
            if (kind == CASE_SPECIAL && (r >> 8) % 200 == 0) code = top + 1; /* NaN */
            lb_store_code(lb_mat_at(m, i, j), f->bytes, code);
        }
}

/* Two of four, or one of two, in ascending places. */
static inline void draw_places(int group, uint64_t seed, lb_mat *m) {
    static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const size_t element = group == 4 ? j / 2 : j;
            const uint64_t r = lb_random_u64(seed, 40, i * m->cols + element);
            lb_store_code(lb_mat_at(m, i, j), 1, group == 4 ? pairs[r % 6][j % 2] : r % 2);
        }
}

/* A compressed A has half of the columns. k is the rows of B. */
static inline product_case case_new(const lb_unit *u, case_kind kind, uint64_t seed, size_t m, size_t n, size_t k, unsigned layout) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
    const size_t a_cols = u->sparse_group ? k / 2 : k, block = (size_t)u->scale_block;
    product_case p = {.a = mat_new(fa, m, a_cols, layout & 1, layout % 3),
                      .b = mat_new(fb, k, n, layout & 2, layout % 5),
                      .c = mat_new(fc, m, n, layout & 4, layout % 7)};
    if (block) {
        p.scale_a = mat_new(lb_format_row(u->scale), m, (k + block - 1) / block, layout & 2, layout % 3);
        p.scale_b = mat_new(lb_format_row(u->scale), (k + block - 1) / block, n, layout & 1, layout % 2);
        draw_scales(p.scale_a.format, kind, seed, 31, &p.scale_a);
        draw_scales(p.scale_b.format, kind, seed, 32, &p.scale_b);
    }
    if (u->sparse_group) {
        p.metadata = mat_new(lb_format_row(LB_U8), m, a_cols, layout & 2, layout % 2);
        draw_places(u->sparse_group, seed, &p.metadata);
    }
    for (size_t i = 0; i < m; i++)
        for (size_t t = 0; t < a_cols; t++) lb_store_code(lb_mat_at(&p.a, i, t), fa->bytes, operand_code(fa, u, kind, seed, 1, i, t));
    for (size_t j = 0; j < n; j++)
        for (size_t t = 0; t < k; t++) lb_store_code(lb_mat_at(&p.b, t, j), fb->bytes, operand_code(fb, u, kind, seed, 2, j, t));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) lb_store_code(lb_mat_at(&p.c, i, j), fc->bytes, c_code(fc, kind, seed, i * n + j));
    return p;
}

static inline void case_free(product_case *p) {
    free(p->a.codes);
    free(p->b.codes);
    free(p->c.codes);
    free(p->scale_a.codes);
    free(p->scale_b.codes);
    free(p->metadata.codes);
}

#endif
