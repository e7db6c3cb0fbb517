/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/exact_sum.h"

#include "base/u128.h"

#include <string.h>

void lb_exact_sum_clear(lb_exact_sum *s) {
    memset(s, 0, sizeof *s);
}

/* Bring every digit but the last into [0, 2^32); the last keeps the sign. */
static void carry(lb_exact_sum *s) {
    int64_t over = 0;
    for (int i = 0; i < LB_EXACT_DIGITS - 1; i++) {
        const int64_t d = s->digits[i] + over;
        s->digits[i] = d & 0xffffffff;
        over = d >> 32; /* floor */
    }
    s->digits[LB_EXACT_DIGITS - 1] += over;
    s->pending = 0;
}

void lb_exact_sum_add(lb_exact_sum *s, lb_value a, const lb_value *b) {
    if (a.cls != LB_FINITE || (b && b->cls != LB_FINITE)) return;
    lb_u128 m = b ? (lb_u128)a.lo * b->lo : a.lo;
    const int at = a.exp + (b ? b->exp : 0) - LB_EXACT_BASE;
    const bool negative = b ? a.negative != b->negative : a.negative;
    int64_t *d = s->digits + at / 32;
    /* 128 bits shifted by up to 31: five digits */
    uint64_t low = (uint64_t)(m & 0xffffffff) << at % 32;
    m >>= 32;
    for (int i = 0; i < 5; i++) {
        const int64_t digit = (int64_t)(low & 0xffffffff);
        d[i] += negative ? -digit : digit;
        low = (low >> 32) + ((uint64_t)(m & 0xffffffff) << at % 32);
        m >>= 32;
    }
    if (++s->pending == (size_t)1 << 30) carry(s); /* a digit grows by less than 2^32 an addition */
}

lb_value lb_exact_sum_value(lb_exact_sum *s) {
    carry(s);
    const bool negative = s->digits[LB_EXACT_DIGITS - 1] < 0;
    if (negative) { /* work on the magnitude */
        for (int i = 0; i < LB_EXACT_DIGITS; i++) s->digits[i] = -s->digits[i];
        carry(s);
    }
    int top = LB_EXACT_DIGITS - 1;
    while (top > 0 && s->digits[top] == 0) top--;
    lb_value v = {.cls = LB_ZERO};
    if (s->digits[top] != 0) {
        const int low = top >= 3 ? top - 3 : 0; /* four digits hold at least 97 significant bits */
        lb_u128 m = 0;
        for (int i = top; i >= low; i--) m = m << 32 | (uint32_t)s->digits[i];
        for (int i = 0; i < low; i++) v.sticky = v.sticky || s->digits[i] != 0;
        v.cls = LB_FINITE;
        v.negative = negative;
        v.hi = (uint64_t)(m >> 64);
        v.lo = (uint64_t)m;
        v.exp = LB_EXACT_BASE + 32 * low;
    }
    if (negative) /* leave the sum as it was */
        for (int i = 0; i < LB_EXACT_DIGITS; i++) s->digits[i] = -s->digits[i];
    return v;
}
