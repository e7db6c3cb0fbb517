/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what the handlers share: words of a width, canonical NaN, flushing, rounding to an integer. */
#ifndef LB_SCALAR_VALUE_H
#define LB_SCALAR_VALUE_H

#include "base/u128.h"
#include "scalar/scalar_rule.h"

static inline uint64_t lb_word_mask(int bits) {
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/** The low `bits` as a two's complement number. */
static inline int64_t lb_word_signed(uint64_t word, int bits) {
    const uint64_t top = UINT64_C(1) << (bits - 1);
    return (int64_t)(((word & lb_word_mask(bits)) ^ top) - top);
}

static inline bool lb_word_is_signed(lb_word w) {
    return w == LB_WORD_S8 || w == LB_WORD_S16 || w == LB_WORD_S32 || w == LB_WORD_S64;
}

/** NVIDIA's NaN: all ones but the sign (f32 7fffffff, f16 and bf16 7fff); f64 7ff8000000000000. */
uint64_t lb_scalar_nan(const lb_format *f);

/** Round v once into f: overflow and Inf as the flags say, NaN canonical, .sat, .relu, .ftz of the result. */
uint64_t lb_scalar_encode(const lb_format *f, lb_value v, int rounding, unsigned flags);

static inline uint64_t lb_scalar_flush(const lb_format *f, uint64_t code, unsigned flags) {
    return flags & LB_FTZ ? lb_flush_code(f, code, LB_FLUSH_KEEP_SIGN) : code;
}

static inline bool lb_scalar_is_nan(const lb_format *f, uint64_t code) {
    return lb_code_class(f, code) == LB_NAN;
}

/** |v| of a finite v, rounded to an integer (the sign serves rd and ru); *huge if it exceeds 2^100. */
lb_u128 lb_scalar_integer(lb_value v, int rounding, bool *huge);

/** a + b, whose exact zero has the sign that the rounding gives it. */
lb_value lb_scalar_sum(lb_value a, lb_value b, int rounding);
lb_value lb_scalar_quotient(lb_value a, lb_value b);
lb_value lb_scalar_root(lb_value a);

#endif
