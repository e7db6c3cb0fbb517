/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Chains of fused multiply-adds: fp64 and fp32 matrix instructions, and the x86 instructions that flush subnormals. */
#include "units/path.h"

#include "base/u128.h"

/* ---- fma_chain: IEEE 754, nothing flushed ------------------------------------------------------------------------ */

uint64_t lb_step_fma_chain(const lb_step *s, uint64_t c) {
    const lb_format *fa = lb_format_row(s->u->a), *fb = lb_format_row(s->u->b), *fd = lb_format_row(s->u->d);
    for (int k = 0; k < s->count; k++) {
        const lb_value product = lb_value_mul(lb_decode(fa, s->a[k].code), lb_decode(fb, s->b[k].code));
        c = lb_encode(fd, lb_value_add(product, lb_decode(fd, c)), NULL, NULL);
    }
    return c;
}

/* ---- x86: DAZ and FTZ whatever MXCSR says ------------------------------------------------------------------------ */

#define X86_DEFAULT_NAN UINT32_C(0xffc00000)

static int32_t leading_exponent(lb_value v) {
    return v.exp + (v.hi ? 64 + lb_bit_length64(v.hi) : lb_bit_length64(v.lo)) - 1;
}

/* A subnormal of f32 counts as a zero of its sign. f16 has none: its subnormals are normal numbers of f32. */
static lb_value daz(lb_value v) {
    return v.cls == LB_FINITE && leading_exponent(v) < -126 ? (lb_value){.cls = LB_ZERO, .negative = v.negative} : v;
}

/* f32, to nearest even; a result that is tiny after rounding as if exponents had no end is a zero of its sign. */
static uint32_t encode_ftz(lb_value v) {
    const lb_format *f32 = lb_format_row(LB_F32);
    if (v.cls == LB_NAN) return X86_DEFAULT_NAN;
    if (v.cls == LB_FINITE && leading_exponent(v) < -126) {
        enum { LIFT = 192 }; /* brings the neighbourhood of 2^-126 far from both ends */
        lb_value lifted = v;
        lifted.exp += LIFT;
        const uint64_t magnitude = lb_encode(f32, lifted, NULL, NULL) & 0x7fffffff;
        const bool reaches = magnitude >= (uint64_t)(LIFT + 1) << 23; /* 2^-126 */
        return (v.negative ? UINT32_C(0x80000000) : 0) | (reaches ? UINT32_C(0x00800000) : 0);
    }
    return (uint32_t)lb_encode(f32, v, NULL, NULL);
}

static uint32_t fma_ftz(lb_value a, lb_value b, uint32_t c) {
    return encode_ftz(lb_value_add(lb_value_mul(daz(a), daz(b)), daz(lb_decode(lb_format_row(LB_F32), c))));
}

static uint32_t add_ftz(uint32_t x, uint32_t y) {
    const lb_format *f32 = lb_format_row(LB_F32);
    return encode_ftz(lb_value_add(daz(lb_decode(f32, x)), daz(lb_decode(f32, y))));
}

/* The first NaN among the operands of a pair, quieted, in the order in which the instruction looks at them. */
static bool operand_nan(const lb_cell *a, const lb_cell *b, uint64_t c, uint64_t *out) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    const uint64_t halves[4] = {a[0].code, b[0].code, a[1].code, b[1].code};
    for (int i = 0; i < 4; i++) {
        if (lb_code_class(bf16, halves[i]) != LB_NAN) continue;
        *out = (halves[i] & 0xffff) << 16 | 0x00400000;
        return true;
    }
    if (lb_code_class(lb_format_row(LB_F32), c) != LB_NAN) return false;
    *out = c | 0x00400000;
    return true;
}

uint64_t lb_step_odd_first(const lb_step *s, uint64_t c) {
    const lb_format *f = lb_format_row(LB_BF16);
    for (int k = 0; k < s->count; k += 2) {
        if (operand_nan(s->a + k, s->b + k, c, &c)) continue;
        c = fma_ftz(lb_decode(f, s->a[k + 1].code), lb_decode(f, s->b[k + 1].code), (uint32_t)c);
        c = fma_ftz(lb_decode(f, s->a[k].code), lb_decode(f, s->b[k].code), (uint32_t)c);
    }
    return c;
}

uint64_t lb_step_two_chains(const lb_step *s, uint64_t c) {
    const lb_format *fa = lb_format_row(s->u->a), *fb = lb_format_row(s->u->b);
    uint32_t chain[2] = {0, 0}; /* over even and over odd k */
    for (int k = 0; k < s->count; k++) chain[k % 2] = fma_ftz(lb_decode(fa, s->a[k].code), lb_decode(fb, s->b[k].code), chain[k % 2]);
    return add_ftz((uint32_t)c, add_ftz(chain[0], chain[1]));
}
