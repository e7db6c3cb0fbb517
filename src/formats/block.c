/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Block-scaled formats: one scale for a block of elements. Each element is the exact quotient x / scale, rounded once. */
#include "base/u128.h"
#include "lastbit/formats.h"

#include <math.h>
#include <string.h>

static const lb_block_format blocks[] = {
#define LB_BLOCK(name, element, scale, size, rule, source, note) {name, LB_##element, LB_##scale, size, LB_SCALE_##rule, source, note},
#include "formats/blocks.def"
#undef LB_BLOCK
};

enum { BLOCK_COUNT = sizeof blocks / sizeof blocks[0] };

const lb_block_format *lb_block_format_row(size_t i) {
    return i < BLOCK_COUNT ? &blocks[i] : NULL;
}

const lb_block_format *lb_block_format_find(const char *name) {
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        if (strcmp(blocks[i].name, name) == 0) return &blocks[i];
    return NULL;
}

/* a / b of finite, non-zero values with at most 64 bits each: 64 or more quotient bits, and whether anything follows. */
static lb_value divide(lb_value a, lb_value b) {
    const int up = 128 - lb_bit_length64(a.lo);
    const lb_u128 dividend = (lb_u128)a.lo << (up - 1) << 1;
    const lb_u128 q = dividend / b.lo;
    return (lb_value){.cls = LB_FINITE,
                      .negative = a.negative != b.negative,
                      .sticky = dividend % b.lo != 0,
                      .exp = a.exp - up - b.exp,
                      .hi = (uint64_t)(q >> 64),
                      .lo = (uint64_t)q};
}

static int32_t exponent_of(lb_value v) {
    return v.exp + lb_bit_length64(v.lo) - 1;
}

/* floor(log2) of the element's largest power of two that is a value: e4m3 8, e5m2 15, e2m1 2, mxi8 0. */
static int32_t element_emax(const lb_format *f) {
    return exponent_of(lb_decode(f, lb_max_code(f)));
}

/* Exponent of the power-of-two scale for the largest magnitude of a block. */
static int32_t scale_exponent(const lb_format *element, lb_scale_rule rule, lb_value amax) {
    const int32_t e = exponent_of(amax) - element_emax(element);
    const lb_value top = lb_decode(element, lb_max_code(element));
    if (rule == LB_SCALE_CEIL) { /* amax / 2^e <= top, as significands with their leading ones side by side */
        const lb_u128 a = (lb_u128)amax.lo << (64 - lb_bit_length64(amax.lo)), t = (lb_u128)top.lo << (64 - lb_bit_length64(top.lo));
        return a > t ? e + 1 : e;
    }
    if (rule == LB_SCALE_EVEN) { /* amax rounded to the element's significand may reach the next power of two */
        const int kept = lb_bit_length64(top.lo), drop = lb_bit_length64(amax.lo) - kept;
        if (drop > 0) {
            const uint64_t n = amax.lo >> drop, rest = amax.lo & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
            const uint64_t rounded = n + (rest > half || (rest == half && (n & 1)));
            return lb_bit_length64(rounded) > kept ? e + 1 : e;
        }
    }
    return e;
}

static uint8_t scale_code_of(const lb_block_format *f, lb_scale_rule rule, lb_value amax) {
    static const lb_encoding saturate = {.overflow = LB_OVERFLOW_SATURATE};
    const lb_format *scale = lb_format_row(f->scale), *element = lb_format_row(f->element);
    if (amax.cls == LB_ZERO) return (uint8_t)(scale->special == LB_SPECIAL_E8M0 ? lb_min_code(scale) : 0);
    if (rule == LB_SCALE_AMAX) return (uint8_t)lb_encode(scale, divide(amax, lb_decode(element, lb_max_code(element))), &saturate, NULL);
    const lb_value power = {.cls = LB_FINITE, .exp = scale_exponent(element, rule, amax), .lo = 1};
    return (uint8_t)lb_encode(scale, power, &saturate, NULL);
}

/* Elements of mxint8 are symmetric: -128 is not made. */
static uint8_t element_code(const lb_format *f, lb_value quotient, const lb_encoding *how) {
    const uint64_t code = lb_encode(f, quotient, how, NULL);
    return (uint8_t)(f->id == LB_MXI8 && code == 0x80 ? 0x81 : code);
}

lb_status lb_block_encode(const lb_block_format *f, lb_scale_rule rule, const double *x, size_t count, const lb_encoding *how,
                          uint8_t *codes, uint8_t *scale_code, lb_error *err) {
    static const lb_encoding saturate = {.overflow = LB_OVERFLOW_SATURATE};
    const lb_format *element = lb_format_row(f->element), *scale = lb_format_row(f->scale);
    double amax = 0;
    bool special = false;
    if (count == 0 || count > (size_t)f->size) return lb_fail(err, LB_E_ARG, f->name, "%zu elements; a block has 1 to %d", count, f->size);
    for (size_t i = 0; i < count; i++) {
        special = special || !isfinite(x[i]);
        amax = fmax(amax, fabs(x[i]));
    }
    uint64_t nan = 0;
    if (special && lb_nan_code(scale, &nan)) {
        *scale_code = (uint8_t)nan;
        memset(codes, 0, count);
        return LB_OK;
    }
    *scale_code = scale_code_of(f, rule, lb_value_of(amax));
    const lb_value s = lb_decode(scale, *scale_code);
    for (size_t i = 0; i < count; i++) {
        const lb_value v = lb_value_of(x[i]);
        const bool divides = v.cls == LB_FINITE && s.cls == LB_FINITE;
        codes[i] = divides ? element_code(element, divide(v, s), how ? how : &saturate)
                           : (uint8_t)lb_encode(element, (lb_value){.cls = LB_ZERO, .negative = v.negative}, NULL, NULL);
    }
    return LB_OK;
}

double lb_block_decode(const lb_block_format *f, uint8_t code, uint8_t scale_code) {
    return lb_to_double(lb_format_row(f->element), code) * lb_to_double(lb_format_row(f->scale), scale_code);
}

lb_status lb_block_encode_rows(const lb_block_format *f, lb_scale_rule rule, const double *x, size_t rows, size_t cols,
                               const lb_encoding *how, uint8_t *codes, uint8_t *scales, lb_error *err) {
    const size_t size = (size_t)f->size;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c += size, scales++) {
            const size_t at = r * cols + c, count = cols - c < size ? cols - c : size;
            const lb_status s = lb_block_encode(f, rule, x + at, count, how, codes + at, scales, err);
            if (s != LB_OK) return s;
        }
    }
    return LB_OK;
}

void lb_block_decode_rows(const lb_block_format *f, const uint8_t *codes, const uint8_t *scales, size_t rows, size_t cols, double *x) {
    const size_t size = (size_t)f->size, per_row = cols / size + (cols % size != 0);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) x[r * cols + c] = lb_block_decode(f, codes[r * cols + c], scales[r * per_row + c / size]);
}
