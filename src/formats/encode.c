/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Encoding: one rounding from the exact value, then what the overflow and flush rules say. */
#include "base/u128.h"
#include "lastbit/formats.h"

/* A magnitude as a multiple of the target's last place, and what was discarded: 0 nothing, 1 below half, 2 half, 3 above half.
 * `draw` is floor(f * 2^N) of the discarded fraction f, for stochastic rounding. */
typedef struct cut {
    uint64_t n;
    int rest;
    uint64_t draw;
} cut;

/* m * 2^exp (and s more if sticky) in units of 2^q. The caller has seen to it that the quotient fits in 64 bits. */
static cut cut_at(lb_u128 m, int32_t exp, bool sticky, int32_t q, unsigned random_bits) {
    const int64_t down = (int64_t)q - exp;
    if (down <= 0) return (cut){(uint64_t)(m << -down), sticky ? 1 : 0, 0};
    cut c = {0};
    const lb_u128 below = down < 128 ? m & (((lb_u128)1 << down) - 1) : m;
    c.n = down < 128 ? (uint64_t)(m >> down) : 0;
    if (down <= 128) {
        const lb_u128 half = (lb_u128)1 << (down - 1);
        c.rest = below > half ? 3 : below == half ? (sticky ? 3 : 2) : below || sticky ? 1 : 0;
    } else {
        c.rest = m || sticky ? 1 : 0; /* m < 2^128 <= half */
    }
    const int64_t drop = down - (int64_t)random_bits;
    c.draw = drop >= 128 ? 0 : (uint64_t)(drop >= 0 ? below >> drop : below << -drop);
    return c;
}

static bool rounds_up(cut c, bool negative, const lb_encoding *how) {
    const bool odd = c.n & 1;
    switch (how->rounding) {
    case LB_RNE: return c.rest == 3 || (c.rest == 2 && odd);
    case LB_RNA: return c.rest >= 2;
    case LB_RNZ: return c.rest == 3;
    case LB_RNO: return c.rest == 3 || (c.rest == 2 && !odd);
    case LB_RU: return c.rest && !negative;
    case LB_RD: return c.rest && negative;
    case LB_RAZ: return c.rest != 0;
    case LB_ODD: return c.rest && !odd;
    case LB_SR: return c.rest && c.draw + how->random >= UINT64_C(1) << how->random_bits;
    case LB_RZ:
    case LB_ROUNDING_COUNT: break;
    }
    return false;
}

/* Whether IEEE 754 sends an overflow of this sign to Inf under this rounding. */
static bool overflows_to_inf(bool negative, lb_rounding r) {
    return r == LB_RU ? !negative : r == LB_RD ? negative : r != LB_RZ && r != LB_ODD;
}

static bool has_sign_of_zero(const lb_format *f) {
    return f->sign_bits && f->special != LB_SPECIAL_FNUZ && f->special != LB_SPECIAL_INT;
}

static uint64_t with_sign(const lb_format *f, bool negative, uint64_t magnitude_code) {
    if (!negative || (magnitude_code == 0 && !has_sign_of_zero(f))) return magnitude_code;
    if (f->special == LB_SPECIAL_INT) return (0 - magnitude_code) & (~UINT64_C(0) >> (64 - f->bits));
    return magnitude_code | UINT64_C(1) << (f->bits - 1);
}

static uint64_t nan_or_max(const lb_format *f, unsigned *flags) {
    uint64_t code;
    if (lb_nan_code(f, &code)) return code;
    *flags |= LB_INVALID;
    return f->special == LB_SPECIAL_INT ? 0 : lb_max_code(f);
}

static uint64_t inf_or_nan_or_max(const lb_format *f, bool negative, unsigned *flags) {
    uint64_t code;
    if (lb_inf_code(f, &code)) return with_sign(f, negative, code);
    if (lb_nan_code(f, &code)) return code;
    *flags |= LB_OVERFLOWED;
    return with_sign(f, negative, lb_max_code(f));
}

static uint64_t overflow_code(const lb_format *f, bool negative, const lb_encoding *how, unsigned *flags) {
    *flags |= LB_OVERFLOWED | LB_INEXACT;
    switch (how->overflow) {
    case LB_OVERFLOW_SATURATE:
    case LB_OVERFLOW_SATURATE_PROPAGATE: return with_sign(f, negative, lb_max_code(f));
    case LB_OVERFLOW_NAN: return nan_or_max(f, flags);
    case LB_OVERFLOW_INF: return inf_or_nan_or_max(f, negative, flags);
    case LB_OVERFLOW_WRAP: /* integers only; here as ieee */
    case LB_OVERFLOW_IEEE:
    case LB_OVERFLOW_COUNT: break;
    }
    return overflows_to_inf(negative, how->rounding) ? inf_or_nan_or_max(f, negative, flags) : with_sign(f, negative, lb_max_code(f));
}

/* Integers: saturate at their ends, or wrap modulo 2^bits. */
static uint64_t encode_int(const lb_format *f, lb_value v, const lb_encoding *how, unsigned *flags) {
    const lb_u128 m = (lb_u128)v.hi << 64 | v.lo;
    const uint64_t most = lb_max_code(f) + (v.negative && f->sign_bits ? 1 : 0); /* largest magnitude of this sign */
    const bool wraps = how->overflow == LB_OVERFLOW_WRAP;
    const bool huge = (int64_t)lb_bit_length128(m) + v.exp > 63 - f->man_bits;
    uint64_t n = wraps ? 0 : UINT64_MAX; /* of huge values: modulo 2^64; saturated */
    if ((!huge || wraps) && v.exp + f->man_bits < 64) {
        const cut c = cut_at(m, v.exp, v.sticky, -f->man_bits, how->random_bits);
        n = c.n + rounds_up(c, v.negative, how);
        if (c.rest) *flags |= LB_INEXACT;
    }
    const bool below_zero = v.negative && !f->sign_bits && n;
    if (!huge && n <= most && !below_zero) return with_sign(f, v.negative, n);
    *flags |= LB_OVERFLOWED;
    if (wraps) return (v.negative ? 0 - n : n) & (~UINT64_C(0) >> (64 - f->bits));
    return below_zero ? 0 : with_sign(f, v.negative, most);
}

static uint64_t encode_float(const lb_format *f, lb_value v, const lb_encoding *how, unsigned *flags) {
    const lb_u128 m = (lb_u128)v.hi << 64 | v.lo;
    const bool powers = f->special == LB_SPECIAL_E8M0;
    const int32_t e_min = powers ? -f->bias : 1 - f->bias;
    const int32_t e = v.exp + lb_bit_length128(m) - 1; /* of the leading one */
    const int32_t e_used = e > e_min ? e : e_min;      /* subnormals keep the least exponent */
    const uint64_t max_magnitude = lb_max_code(f) >> f->pad_bits;
    if (v.negative && !f->sign_bits) {
        *flags |= LB_INVALID;
        return 0;
    }
    if (e > (int32_t)(max_magnitude >> f->man_bits) - f->bias) return overflow_code(f, v.negative, how, flags);
    const cut c = cut_at(m, v.exp, v.sticky, e_used - f->man_bits, how->random_bits);
    const uint64_t n = c.n + rounds_up(c, v.negative, how);
    /* n carries the hidden bit: field e_used + bias - 1 plus n is the code, and a carry out of n moves to the next exponent by itself */
    const int64_t magnitude = (int64_t)(e_used + f->bias - 1) * (INT64_C(1) << f->man_bits) + (int64_t)n;
    if (c.rest) *flags |= LB_INEXACT;
    if (magnitude < 0) { /* e8m0 below its least power: field 0 less one, n = 0 */
        *flags |= LB_UNDERFLOW;
        return 0;
    }
    if ((uint64_t)magnitude > max_magnitude) return overflow_code(f, v.negative, how, flags);
    if (c.rest && !powers && (uint64_t)magnitude >> f->man_bits == 0) *flags |= LB_UNDERFLOW;
    return lb_flush_code(f, with_sign(f, v.negative, (uint64_t)magnitude << f->pad_bits), how->flush);
}

uint64_t lb_encode(const lb_format *f, lb_value v, const lb_encoding *how, unsigned *flags) {
    static const lb_encoding ieee = {0};
    unsigned unused = 0;
    unsigned *raised = flags ? flags : &unused;
    if (!how) how = &ieee;
    switch (v.cls) {
    case LB_NAN: return nan_or_max(f, raised);
    case LB_INF:
        if (f->special == LB_SPECIAL_INT) *raised |= LB_INVALID;
        if (v.negative && !f->sign_bits) {
            *raised |= LB_INVALID;
            return 0;
        }
        if (how->overflow == LB_OVERFLOW_SATURATE || f->special == LB_SPECIAL_INT) {
            *raised |= LB_OVERFLOWED;
            return with_sign(f, v.negative, lb_max_code(f) + (f->special == LB_SPECIAL_INT && v.negative ? 1 : 0));
        }
        return inf_or_nan_or_max(f, v.negative, raised);
    case LB_ZERO:
        if (f->special == LB_SPECIAL_E8M0) *raised |= LB_UNDERFLOW;
        return with_sign(f, v.negative && f->sign_bits, 0);
    case LB_FINITE: break;
    }
    return f->special == LB_SPECIAL_INT ? encode_int(f, v, how, raised) : encode_float(f, v, how, raised);
}

uint64_t lb_from_double(const lb_format *f, double x) {
    return lb_encode(f, lb_value_of(x), NULL, NULL);
}
