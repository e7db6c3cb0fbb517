/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: vectors of 16 bytes in the language that gcc and clang share; they choose the instructions, on every machine.
 * Nothing depends on the rounding mode but the add of c behind two halves, which wants the default one. */
#ifndef LB_KERNELS_VEC_ANY_H
#define LB_KERNELS_VEC_ANY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { LANES = 4, LANES64 = 2, WIDE_VECTORS = 4, WIDE_X = 300 };
#define WIDE_BY_SIGN 0
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef double vd __attribute__((vector_size(16)));
typedef int64_t vq __attribute__((vector_size(16)));
typedef int32_t vi_half __attribute__((vector_size(8)));
typedef float vf_half __attribute__((vector_size(8)));
typedef int8_t vb __attribute__((vector_size(16)));
typedef int16_t vw __attribute__((vector_size(16)));
typedef vd vsum;

#define INLINE static inline __attribute__((always_inline))

INLINE vf f_load(const float *p) {
    vf x;
    memcpy(&x, p, sizeof x);
    return x;
}
INLINE void f_store(float *p, vf x) {
    memcpy(p, &x, sizeof x);
}
INLINE vf f_set(float x) {
    return (vf){x, x, x, x};
}
INLINE vf f_mul(vf x, vf y) {
    return x * y;
}
INLINE vf f_add(vf x, vf y) {
    return x + y;
}
INLINE vi f_bits(vf x) {
    return (vi)x;
}
INLINE vf i_float(vi x) {
    return (vf)x;
}
INLINE vi i_load(const void *p) {
    vi x;
    memcpy(&x, p, sizeof x);
    return x;
}
INLINE vi i_set(int32_t x) {
    return (vi){x, x, x, x};
}
INLINE vi i_add(vi x, vi y) {
    return (vi)((vu)x + (vu)y);
}
INLINE vi i_sub(vi x, vi y) {
    return (vi)((vu)x - (vu)y);
}
INLINE vi i_and(vi x, vi y) {
    return x & y;
}
INLINE vi i_or(vi x, vi y) {
    return x | y;
}
INLINE vi i_xor(vi x, vi y) {
    return x ^ y;
}
INLINE vi i_shl(vi x, int n) {
    return (vi)((vu)x << (uint32_t)n);
}
INLINE vi i_shr(vi x, int n) {
    return (vi)((vu)x >> (uint32_t)n);
}
INLINE vi i_sar(vi x, int n) {
    return x >> n;
}
INLINE vi i_select(vi mask, vi x, vi y) {
    return (x & mask) | (y & ~mask);
}
INLINE vi i_max(vi x, vi y) {
    return i_select(x > y, x, y);
}
typedef uint8_t vub __attribute__((vector_size(16)));
typedef uint16_t vuw __attribute__((vector_size(16)));
INLINE vi b_add(vi x, vi y) {
    return (vi)((vub)x + (vub)y);
}
INLINE vi b_max(vi x, vi y) {
    const vb a = (vb)x, b = (vb)y, more = a > b;
    return (vi)((a & more) | (b & ~more));
}
INLINE vi w_add(vi x, vi y) {
    return (vi)((vuw)x + (vuw)y);
}
INLINE vi w_max(vi x, vi y) {
    const vw a = (vw)x, b = (vw)y, more = a > b;
    return (vi)((a & more) | (b & ~more));
}

INLINE vi f_trunc(vf x) {
    return __builtin_convertvector(x, vi);
}
/* Toward zero in any mode: what came out farther from zero than x, whose last place is then 1 or more, goes back by one. */
INLINE vf i_convert_rz(vi x, bool nearest_mode) {
    (void)nearest_mode;
    const vf f = __builtin_convertvector(x, vf);
    const vi sign = x >> 31, excess = i_sub(i_sub(f_trunc(f), x) ^ sign, sign);
    return (vf)i_add((vi)f, excess > 0);
}
INLINE vi f_max_abs(vi x, vf y) {
    return i_max(x & 0x7fffffff, (vi)y & 0x7fffffff);
}
INLINE vf f_unless_inf(vf y, vf x) {
    return (vf)i_select(((vi)y & 0x7fffffff) == 0x7f800000, (vi)y, (vi)x);
}
INLINE vi i_max_if(vi y, vi e, vi low) {
    return i_max(e, low & ((y & 0x7fffffff) != 0));
}
INLINE vf f_sticky(vf f, vi x, vi y) {
    return (vf)((vi)f | (1 & (x != y)));
}
INLINE vi i_select_neg(vi m, vi x, vi y) {
    return i_select(m >> 31, x, y);
}
/* To an f16, nearest even: integers from 2^-14 on, below it the last place of 0.5 in f32, which is 2^-24. */
INLINE vf f_to_f16(vf x) {
    const vi bits = (vi)x, sign = i_and(bits, i_set(INT32_MIN)), mag = bits ^ sign;
    const vi big = (i_add(mag, 0xfff + (mag >> 13 & 1))) & ~0x1fff;
    const vi rounded = i_select(big >= 0x47800000, i_set(0x7f800000), big);
    const vi small = (vi)(((vf)mag + 0.5f) - 0.5f);
    const vi number = i_select(mag < 0x38800000, small, rounded);
    return (vf)(i_select(mag > 0x7f800000, mag, number) | sign);
}

INLINE vd d_load(const double *p) {
    vd x;
    memcpy(&x, p, sizeof x);
    return x;
}
INLINE vd d_set(double x) {
    return (vd){x, x};
}
INLINE vd d_mul(vd x, vd y) {
    return x * y;
}
INLINE vi d_bits(vd x) {
    return (vi)x;
}
INLINE vd q_double(vi x) {
    return (vd)x;
}
INLINE vi q_set(int64_t x) {
    return (vi)(vq){x, x};
}
typedef uint64_t vuq __attribute__((vector_size(16)));
INLINE vi q_add(vi x, vi y) {
    return (vi)((vuq)x + (vuq)y);
}
INLINE vi q_sub(vi x, vi y) {
    return (vi)((vuq)x - (vuq)y);
}
INLINE vi q_shl(vi x, int n) {
    return (vi)((vuq)x << (uint64_t)n);
}
INLINE vd d_select(vq mask, vd x, vd y) {
    return (vd)(((vq)x & mask) | ((vq)y & ~mask));
}
INLINE vd d_abs(vd x) {
    return (vd)((vq)x & INT64_MAX);
}
/* Sums of truncated values, exact: a value is below 2^28, so that it truncates by way of int32. */
INLINE vsum sum_trunc(vd x) {
    return __builtin_convertvector(__builtin_convertvector(x, vi_half), vd);
}
INLINE vsum sum_add(vsum s, vd x) {
    return s + sum_trunc(x);
}
INLINE vd sum_double(vsum s) {
    return s;
}
INLINE vi d_max(vi x, vi y) {
    return (vi)d_select((vd)x > (vd)y, (vd)x, (vd)y);
}
INLINE vi d_abs_at_least(vd x, vd low) {
    const vd abs = d_abs(x);
    return (vi)((vq)d_select(abs > low, abs, low) & (abs != 0));
}
INLINE vd d_from_f(const float *p) {
    return (vd){p[0], p[1]};
}
INLINE void d_store_f(float *p, vd x) {
    p[0] = (float)x[0];
    p[1] = (float)x[1];
}
/* The f32 next to x toward zero; Inf from 2^128 on. */
INLINE vf_half d_narrow(vd x) {
    const vf_half f = __builtin_convertvector(x, vf_half);
    const vq away = d_abs(__builtin_convertvector(f, vd)) > d_abs(x);
    return (vf_half)((vi_half)f + __builtin_convertvector(away, vi_half));
}
INLINE vd d_round_rz(vd x) {
    return d_select(d_abs(x) >= 0x1p128, x * __builtin_inf(), __builtin_convertvector(d_narrow(x), vd));
}
INLINE vd d_round_e8m13(vd x) {
    const vf_half f = (vf_half)((vi_half)d_narrow(x) & -1024);
    return d_select(d_abs(x) >= 0x1p128, x * __builtin_inf(), __builtin_convertvector(f, vd));
}
INLINE vd d_round_f16(vd x) {
    const vf_half f = d_narrow(x);
    const vq inexact = __builtin_convertvector(f, vd) != x;
    const vf_half odd = (vf_half)((vi_half)f | (1 & __builtin_convertvector(inexact, vi_half)));
    const vf r = f_to_f16((vf){odd[0], odd[1], 0, 0});
    return (vd){r[0], r[1]};
}
INLINE vd d_unless_inf(vd y, vd x) {
    return d_select(d_abs(y) == __builtin_inf(), y, x);
}

INLINE vd d_add(vd x, vd y) {
    return x + y;
}
/* x + magic - magic comes out rounded to nearest: by one unit too high where it is above x. */
INLINE vd d_floor_sub(vd x, vd magic) {
    const vd near = (x + magic) - magic, unit = (vd)((vq)magic & (INT64_C(0x7ff) << 52)) * 0x1p-52;
    return near - d_select(near > x, unit, d_set(0));
}
INLINE vd d_zero_if_less(vd x, vd y, vd z) {
    return d_select(x < y, d_set(0), z);
}
INLINE vd d_round_rne(vd x) {
    return __builtin_convertvector(__builtin_convertvector(x, vf_half), vd);
}

/* c <- the nearest even f32 of exact, unless c is Inf. */
INLINE void d_round_all(vd c[], const vd exact[], int vectors) {
    for (int g = 0; g < vectors; g++) c[g] = d_unless_inf(c[g], d_round_rne(exact[g]));
}

INLINE unsigned mode_enter(bool nearest) {
    (void)nearest;
#if defined(__SSE2__)
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(0x1f80); /* every exception masked, subnormals kept, to nearest even */
    return saved;
#else
    return 0;
#endif
}
INLINE void mode_leave_inline(unsigned saved) {
#if defined(__SSE2__)
    _mm_setcsr(saved);
#else
    (void)saved;
#endif
}

#endif
