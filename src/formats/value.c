/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exact sums and products of values. */
#include "base/u128.h"
#include "lastbit/formats.h"

static lb_u128 magnitude(lb_value v) {
    return (lb_u128)v.hi << 64 | v.lo;
}

static lb_value finite(bool negative, lb_u128 m, int32_t exp, bool sticky) {
    return (lb_value){LB_FINITE, negative, sticky, exp, (uint64_t)(m >> 64), (uint64_t)m};
}

/* The same value with its leading one at bit 127. */
static lb_value lift(lb_value v) {
    const int up = 128 - lb_bit_length128(magnitude(v));
    return finite(v.negative, magnitude(v) << up, v.exp - up, v.sticky);
}

/* |a| >= |b|, both lifted. What of b falls below a's last bit is kept as "something more" in sticky. */
static lb_value add_lifted(lb_value a, lb_value b) {
    const int32_t down = a.exp - b.exp; /* >= 0: both leading ones stand at bit 127 */
    lb_u128 mb = magnitude(b);
    bool lost = b.sticky;
    if (down > 0) {
        const lb_u128 kept = down < 128 ? mb >> down : 0;
        lost = lost || (down < 128 ? kept << down != mb : mb != 0);
        mb = kept;
    }
    if (a.negative == b.negative) {
        const lb_u128 sum = magnitude(a) + mb;
        lost = lost || a.sticky;
        if (sum >= mb) return finite(a.negative, sum, a.exp, lost);
        return finite(a.negative, sum >> 1 | (lb_u128)1 << 127, a.exp + 1, lost || (sum & 1)); /* with its carry */
    }
    const lb_u128 m = magnitude(a) - mb;
    if (m == 0 && !lost && !a.sticky) return (lb_value){.cls = LB_ZERO};
    if (down == 1 && !(m >> 127)) /* may cancel far: b's last bit is kept */
        return finite(a.negative, (m << 1) - (magnitude(b) & 1) - (b.sticky ? 1 : 0), b.exp, a.sticky || b.sticky);
    return finite(a.negative, m - (lost ? 1 : 0), a.exp, lost || a.sticky); /* a - (mb + s) = (a - mb - 1) + (1 - s) */
}

lb_value lb_value_add(lb_value a, lb_value b) {
    if (a.cls == LB_NAN || b.cls == LB_NAN) return (lb_value){.cls = LB_NAN};
    if (a.cls == LB_INF && b.cls == LB_INF && a.negative != b.negative) return (lb_value){.cls = LB_NAN};
    if (a.cls == LB_INF) return a;
    if (b.cls == LB_INF) return b;
    if (a.cls == LB_ZERO && b.cls == LB_ZERO) return (lb_value){.cls = LB_ZERO, .negative = a.negative && b.negative};
    if (a.cls == LB_ZERO) return b;
    if (b.cls == LB_ZERO) return a;
    const lb_value x = lift(a), y = lift(b);
    const bool a_first = x.exp != y.exp ? x.exp > y.exp : magnitude(x) >= magnitude(y);
    return a_first ? add_lifted(x, y) : add_lifted(y, x);
}

/* High 128 bits of a 128 x 128 bit product and whether the low ones hold anything. */
static lb_u128 multiply_high(lb_u128 a, lb_u128 b, bool *low_nonzero) {
    const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    const lb_u128 p00 = (lb_u128)a0 * b0, p01 = (lb_u128)a0 * b1, p10 = (lb_u128)a1 * b0, p11 = (lb_u128)a1 * b1;
    const lb_u128 mid = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;
    *low_nonzero = (uint64_t)p00 || (uint64_t)mid;
    return p11 + (p01 >> 64) + (p10 >> 64) + (mid >> 64);
}

lb_value lb_value_mul(lb_value a, lb_value b) {
    const bool negative = a.negative != b.negative;
    if (a.cls == LB_NAN || b.cls == LB_NAN) return (lb_value){.cls = LB_NAN};
    if (a.cls == LB_INF || b.cls == LB_INF)
        return a.cls == LB_ZERO || b.cls == LB_ZERO ? (lb_value){.cls = LB_NAN} : (lb_value){.cls = LB_INF, .negative = negative};
    if (a.cls == LB_ZERO || b.cls == LB_ZERO) return (lb_value){.cls = LB_ZERO, .negative = negative};
    const lb_u128 ma = magnitude(a), mb = magnitude(b);
    if (lb_bit_length128(ma) + lb_bit_length128(mb) <= 128) return finite(negative, ma * mb, a.exp + b.exp, a.sticky || b.sticky);
    const lb_value x = lift(a), y = lift(b);
    bool low;
    const lb_u128 high = multiply_high(magnitude(x), magnitude(y), &low);
    return finite(negative, high, x.exp + y.exp + 128, low || x.sticky || y.sticky);
}
