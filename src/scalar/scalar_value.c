/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "scalar/scalar_value.h"

uint64_t lb_scalar_nan(const lb_format *f) {
    return f->id == LB_F64 ? UINT64_C(0x7ff8000000000000) : lb_word_mask(f->bits - 1);
}

uint64_t lb_scalar_encode(const lb_format *f, lb_value v, int rounding, unsigned flags) {
    const lb_encoding how = {.rounding = (lb_rounding)rounding,
                             .overflow = flags & LB_SATFINITE ? LB_OVERFLOW_SATURATE : LB_OVERFLOW_IEEE,
                             .flush = flags & LB_FTZ ? LB_FLUSH_KEEP_SIGN : LB_FLUSH_NONE};
    uint64_t code;
    if (v.cls == LB_NAN && flags & LB_SAT) return 0;
    if (v.cls == LB_NAN) return f->special == LB_SPECIAL_IEEE ? lb_scalar_nan(f) : lb_encode(f, v, &how, NULL);
    if (v.negative && flags & (LB_SAT | LB_RELU)) return 0;
    code = lb_encode(f, v, &how, NULL);
    if (flags & LB_SAT) {
        const uint64_t one = lb_from_double(f, 1.0);
        if (code > one) code = one; /* positive codes are in the order of their values */
    }
    return code;
}

static lb_u128 magnitude(lb_value v) {
    return (lb_u128)v.hi << 64 | v.lo;
}

lb_u128 lb_scalar_integer(lb_value v, int rounding, bool *huge) {
    const lb_u128 m = magnitude(v);
    *huge = lb_bit_length128(m) + v.exp > 100;
    if (*huge) return 0;
    if (v.exp >= 0) return m << v.exp;
    const int down = -v.exp;
    const lb_u128 n = down < 128 ? m >> down : 0;
    const lb_u128 rest = down < 128 ? m - (n << down) : m;
    const bool at_least_half = down <= 128 && (rest >> (down - 1)) != 0;
    const bool is_half = at_least_half && rest == (lb_u128)1 << (down - 1);
    bool up = false;
    if (rounding == LB_RNE) up = at_least_half && (!is_half || (n & 1));
    if (rounding == LB_RU) up = rest && !v.negative;
    if (rounding == LB_RD) up = rest && v.negative;
    return n + up;
}

lb_value lb_scalar_sum(lb_value a, lb_value b, int rounding) {
    lb_value v = lb_value_add(a, b);
    const bool same_zeros = a.cls == LB_ZERO && b.cls == LB_ZERO && a.negative == b.negative;
    if (v.cls == LB_ZERO && !same_zeros) v.negative = rounding == LB_RD;
    return v;
}

/* At least 70 bits of the quotient and whether there is more: enough for one rounding to 53. */
lb_value lb_scalar_quotient(lb_value a, lb_value b) {
    lb_value v = {.negative = a.negative != b.negative};
    if (a.cls == LB_NAN || b.cls == LB_NAN || (a.cls == b.cls && (a.cls == LB_INF || a.cls == LB_ZERO))) return (lb_value){.cls = LB_NAN};
    v.cls = a.cls == LB_INF || b.cls == LB_ZERO ? LB_INF : a.cls == LB_ZERO || b.cls == LB_INF ? LB_ZERO : LB_FINITE;
    if (v.cls != LB_FINITE) return v;
    const int up = 128 - lb_bit_length128(magnitude(a));
    const lb_u128 n = magnitude(a) << up, d = magnitude(b), q = n / d;
    v.hi = (uint64_t)(q >> 64);
    v.lo = (uint64_t)q;
    v.sticky = q * d != n;
    v.exp = a.exp - up - b.exp;
    return v;
}

/* Sixty-three bits of the root, digit by digit, and whether there is more. */
lb_value lb_scalar_root(lb_value a) {
    if (a.cls == LB_NAN || a.cls == LB_ZERO) return a;
    if (a.negative) return (lb_value){.cls = LB_NAN};
    if (a.cls == LB_INF) return a;
    int up = 126 - lb_bit_length128(magnitude(a));
    if ((a.exp - up) % 2) up++;
    lb_u128 rest = magnitude(a) << up, root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        const lb_u128 trial = root | (lb_u128)1 << bit;
        if (trial * trial <= rest) root = trial;
    }
    return (lb_value){LB_FINITE, false, root * root != rest, (a.exp - up) / 2, 0, (uint64_t)root};
}
