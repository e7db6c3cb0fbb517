/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Video operations: parts of words, taken out with sign or zero extension, an operation in wide integers, saturation, a second operation.
 * source: ptx-isa, "Video Instructions" */
#include "scalar/scalar_value.h"

static int64_t part(uint64_t word, int selector, bool is_signed) {
    int bits = 32, low = 0;
    if (selector >= LB_SEL_H0) {
        bits = 16;
        low = 16 * (selector - LB_SEL_H0);
    } else if (selector >= LB_SEL_B0) {
        bits = 8;
        low = 8 * (selector - LB_SEL_B0);
    }
    const uint64_t p = word >> low & lb_word_mask(bits);
    return is_signed ? lb_word_signed(p, bits) : (int64_t)p;
}

static int64_t clamp(int64_t n, int bits, bool is_signed) {
    const int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0, most = (int64_t)lb_word_mask(is_signed ? bits - 1 : bits);
    return n < least ? least : n > most ? most : n;
}

static int64_t operate(int what, int64_t a, int64_t b) {
    switch (what) {
    case LB_VADD: return a + b;
    case LB_VSUB: return a - b;
    case LB_VABSDIFF: return a < b ? b - a : a - b;
    case LB_VMIN: return a < b ? a : b;
    case LB_VMAX: return a > b ? a : b;
    case LB_VMAD: return a * b;
    case LB_VAVRG: return (a + b + (a + b >= 0)) >> 1; /* to nearest, a half away from zero */
    default: return a < b;
    }
}

/* Counts of vshl and vshr: clamp at 32, or modulo 32. */
static int64_t shifted(const lb_scalar_rule *r, int what, int64_t a, int64_t b) {
    const int64_t n = r->flags & LB_CLAMP ? (b > 32 ? 32 : b) : b & 31;
    return what == LB_VSHL ? (int64_t)((uint64_t)a << n & UINT32_MAX) : a >> n;
}

void lb_scalar_video(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int what = r->what & 0xff, at = r->rounding;
    const bool is_signed = lb_word_is_signed(op->out[0]);
    const int64_t a = part(in[0], at & 0xf, r->what & LB_VIDEO_SIGNED_A), b = part(in[1], at >> 4 & 0xf, r->what & LB_VIDEO_SIGNED_B);
    const int64_t c = is_signed ? lb_word_signed(in[2], 32) : (int64_t)(in[2] & UINT32_MAX);
    int64_t n = what == LB_VSHL || what == LB_VSHR ? shifted(r, what, a, b) : operate(what, a, b);
    if (what == LB_VMAD) n = (n + c) >> (at >> 8);
    if (r->flags & LB_SAT) n = clamp(n, 32, is_signed);
    if (r->flags & LB_ADD) n += c;
    out[0] = (uint64_t)n;
}

/* Two halves or four bytes; with LB_ADD their sum goes to c, without they stay in their places. rounding: bits of a part. */
void lb_scalar_video_simd(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const int bits = r->rounding;
    const bool is_signed = r->what & LB_VIDEO_SIGNED_A;
    uint64_t d = 0, sum = in[2];
    (void)op;
    for (int low = 0; low < 32; low += bits) {
        const uint64_t pa = in[0] >> low & lb_word_mask(bits), pb = in[1] >> low & lb_word_mask(bits);
        const int64_t a = is_signed ? lb_word_signed(pa, bits) : (int64_t)pa, b = is_signed ? lb_word_signed(pb, bits) : (int64_t)pb;
        int64_t n = operate(r->what & 0xff, a, b);
        if (r->flags & LB_SAT) n = clamp(n, bits, is_signed);
        d |= ((uint64_t)n & lb_word_mask(bits)) << low;
        sum += (uint64_t)n;
    }
    out[0] = r->flags & LB_ADD ? sum : d;
}
