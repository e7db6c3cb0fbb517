/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: sixteen lanes of AVX-512 (F, BW, DQ, VL). */
#ifndef LB_KERNELS_VEC_AVX512_H
#define LB_KERNELS_VEC_AVX512_H

#include <immintrin.h>
#include <stdint.h>

enum { LANES = 16, LANES64 = 8, WIDE_VECTORS = 8, WIDE_X = 0 };
#define WIDE_BY_SIGN 1
typedef __m512 vf;
typedef __m512i vi;
typedef __m512d vd;

#define INLINE static inline __attribute__((always_inline))
enum { RZ = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, RN = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

INLINE vf f_load(const float *p) {
    return _mm512_loadu_ps(p);
}
INLINE void f_store(float *p, vf x) {
    _mm512_storeu_ps(p, x);
}
INLINE vf f_set(float x) {
    return _mm512_set1_ps(x);
}
INLINE vf f_mul(vf x, vf y) {
    return _mm512_mul_ps(x, y);
}
INLINE vf f_add(vf x, vf y) {
    return _mm512_add_round_ps(x, y, RN);
}
INLINE vf f_sub(vf x, vf y) {
    return _mm512_sub_ps(x, y);
}
INLINE vf f_max(vf x, vf y) {
    return _mm512_max_ps(x, y);
}
INLINE vf f_add_rz(vf x, vf y) {
    return _mm512_add_round_ps(x, y, RZ);
}
INLINE vf f_fma_rz(vf x, vf y, vf z) {
    return _mm512_fmadd_round_ps(x, y, z, RZ);
}
INLINE vi f_bits(vf x) {
    return _mm512_castps_si512(x);
}
INLINE vf i_float(vi x) {
    return _mm512_castsi512_ps(x);
}
INLINE vi i_load(const void *p) {
    return _mm512_loadu_si512(p);
}
INLINE vi i_set(int32_t x) {
    return _mm512_set1_epi32(x);
}
INLINE vi i_add(vi x, vi y) {
    return _mm512_add_epi32(x, y);
}
INLINE vi i_sub(vi x, vi y) {
    return _mm512_sub_epi32(x, y);
}
INLINE vi i_and(vi x, vi y) {
    return _mm512_and_si512(x, y);
}
INLINE vi i_or(vi x, vi y) {
    return _mm512_or_si512(x, y);
}
INLINE vi i_xor(vi x, vi y) {
    return _mm512_xor_si512(x, y);
}
INLINE vi i_shl(vi x, int n) {
    return _mm512_slli_epi32(x, (unsigned)n);
}
INLINE vi i_shr(vi x, int n) {
    return _mm512_srli_epi32(x, (unsigned)n);
}
INLINE vi i_sar(vi x, int n) {
    return _mm512_srai_epi32(x, (unsigned)n);
}
INLINE vi b_add(vi x, vi y) {
    return _mm512_add_epi8(x, y);
}
INLINE vi b_max(vi x, vi y) {
    return _mm512_max_epi8(x, y);
}
INLINE vi w_add(vi x, vi y) {
    return _mm512_add_epi16(x, y);
}
INLINE vi w_max(vi x, vi y) {
    return _mm512_max_epi16(x, y);
}

/* Toward zero; |x| < 2^31. */
INLINE vi f_trunc(vf x) {
    return _mm512_cvttps_epi32(x);
}
/* Toward zero in the mode of every finish. */
INLINE vf i_convert_rz(vi x, bool nearest_mode) {
    (void)nearest_mode;
    return _mm512_cvt_roundepi32_ps(x, RZ);
}
/* max(|x|, |y|) of finite values */
INLINE vi f_max_abs(vi x, vf y) {
    return f_bits(_mm512_range_ps(i_float(x), y, 0xb));
}
/* x where |y| is not Inf, else y */
INLINE vf f_unless_inf(vf y, vf x) {
    return _mm512_mask_mov_ps(x, _mm512_fpclass_ps_mask(y, 0x18), y);
}
/* max(e, low) where y is not a zero of either sign */
INLINE vi i_max_if(vi y, vi e, vi low) {
    return _mm512_mask_max_epi32(e, _mm512_test_epi32_mask(y, _mm512_set1_epi32(0x7fffffff)), e, low);
}
/* lowest bit set where x != y */
INLINE vf f_sticky(vf f, vi x, vi y) {
    return i_float(_mm512_mask_or_epi32(f_bits(f), _mm512_cmpneq_epi32_mask(x, y), f_bits(f), _mm512_set1_epi32(1)));
}
INLINE vi i_select_neg(vi m, vi x, vi y) {
    return _mm512_mask_mov_epi32(y, _mm512_movepi32_mask(m), x);
}
INLINE vf f_to_f16(vf x) {
    return _mm512_cvtph_ps(_mm512_cvtps_ph(x, RN));
}

INLINE vd d_load(const double *p) {
    return _mm512_loadu_pd(p);
}
INLINE vd d_set(double x) {
    return _mm512_set1_pd(x);
}
INLINE vd d_mul(vd x, vd y) {
    return _mm512_mul_pd(x, y);
}
INLINE vi d_bits(vd x) {
    return _mm512_castpd_si512(x);
}
INLINE vd q_double(vi x) {
    return _mm512_castsi512_pd(x);
}
INLINE vi q_set(int64_t x) {
    return _mm512_set1_epi64(x);
}
INLINE vi q_add(vi x, vi y) {
    return _mm512_add_epi64(x, y);
}
INLINE vi q_sub(vi x, vi y) {
    return _mm512_sub_epi64(x, y);
}
INLINE vi q_shl(vi x, int n) {
    return _mm512_slli_epi64(x, (unsigned)n);
}
/* Sums of truncated values, exact: integers here. */
typedef vi vsum;
INLINE vsum sum_trunc(vd x) {
    return _mm512_cvttpd_epi64(x);
}
INLINE vsum sum_add(vsum s, vd x) {
    return _mm512_add_epi64(s, _mm512_cvttpd_epi64(x));
}
INLINE vd sum_double(vsum s) {
    return _mm512_cvtepi64_pd(s);
}
/* max of positive doubles, as bits */
INLINE vi d_max(vi x, vi y) {
    return d_bits(_mm512_max_pd(q_double(x), q_double(y)));
}
/* |x|, but `low` where 0 < |x| < low */
INLINE vi d_abs_at_least(vd x, vd low) {
    const vd abs = _mm512_abs_pd(x);
    return d_bits(_mm512_mask_max_pd(abs, _mm512_cmp_pd_mask(abs, _mm512_setzero_pd(), _CMP_NEQ_OQ), abs, low));
}
INLINE vd d_from_f(const float *p) {
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}
INLINE void d_store_f(float *p, vd x) {
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(x));
}
/* To an f32 toward zero, Inf from 2^128 on. */
INLINE vd d_round_rz(vd x) {
    const vd r = _mm512_cvtps_pd(_mm512_cvt_roundpd_ps(x, RZ));
    const __mmask8 over = _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(0x1p128), _CMP_GE_OQ);
    return _mm512_mask_mul_pd(r, over, x, _mm512_set1_pd(__builtin_inf()));
}
/* The same with the low ten bits of the f32 zero. */
INLINE vd d_round_e8m13(vd x) {
    const vd r = d_round_rz(x);
    const __m256i f = _mm256_castps_si256(_mm512_cvtpd_ps(r));
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_and_si256(f, _mm256_set1_epi32(-1024))));
}
/* To an f16, nearest even: an f32 rounded to odd comes between. */
INLINE vd d_round_f16(vd x) {
    const __m256 f = _mm512_cvt_roundpd_ps(x, RZ);
    const __mmask8 inexact = _mm512_cmp_pd_mask(_mm512_cvtps_pd(f), x, _CMP_NEQ_OQ);
    const __m256i bits = _mm256_castps_si256(f);
    const __m256 odd = _mm256_castsi256_ps(_mm256_mask_or_epi32(bits, inexact, bits, _mm256_set1_epi32(1)));
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm256_cvtps_ph(odd, RN)));
}
INLINE vd d_unless_inf(vd y, vd x) {
    return _mm512_mask_mov_pd(x, _mm512_fpclass_pd_mask(y, 0x18), y);
}

INLINE vd d_abs(vd x) {
    return _mm512_abs_pd(x);
}
INLINE vd d_add(vd x, vd y) {
    return _mm512_add_pd(x, y);
}
INLINE vd d_sub(vd x, vd y) {
    return _mm512_sub_pd(x, y);
}
INLINE vd d_max_or_zero(vd x) {
    return _mm512_max_pd(x, _mm512_setzero_pd());
}
INLINE vd d_add_rz(vd x, vd y) {
    return _mm512_add_round_pd(x, y, RZ);
}
INLINE vd d_fma_rz(vd x, vd y, vd z) {
    return _mm512_fmadd_round_pd(x, y, z, RZ);
}
/* x + magic - magic, where the sum is positive and rounds downward */
INLINE vd d_floor_sub(vd x, vd magic) {
    return _mm512_sub_pd(d_add_rz(x, magic), magic);
}
/* z, but 0 where x < y */
INLINE vd d_zero_if_less(vd x, vd y, vd z) {
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, y, _CMP_NLT_UQ), z);
}
/* To the nearest even f32. */
INLINE vd d_round_rne(vd x) {
    return _mm512_cvtps_pd(_mm512_cvt_roundpd_ps(x, RN));
}

/* c <- the nearest even f32 of exact, unless c is Inf. */
INLINE void d_round_all(vd c[], const vd exact[], int vectors) {
    for (int g = 0; g < vectors; g++) c[g] = d_unless_inf(c[g], d_round_rne(exact[g]));
}

INLINE unsigned mode_enter(bool nearest) {
    const unsigned saved = _mm_getcsr();
    (void)nearest;
    _mm_setcsr(0x1f80); /* every exception masked, subnormals kept, to nearest even; what rounds otherwise says so itself */
    return saved;
}
INLINE void mode_leave_inline(unsigned saved) {
    _mm_setcsr(saved);
}

#endif
