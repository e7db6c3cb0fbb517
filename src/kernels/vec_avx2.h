/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: eight lanes of AVX2, with F16C. Conversions round as MXCSR says: toward zero, but to nearest for a finish of two halves. */
#ifndef LB_KERNELS_VEC_AVX2_H
#define LB_KERNELS_VEC_AVX2_H

#include <immintrin.h>
#include <stdint.h>

enum { LANES = 8, LANES64 = 4, WIDE_VECTORS = 4, WIDE_X = 0 };
#define WIDE_BY_SIGN 1
typedef __m256 vf;
typedef __m256i vi;
typedef __m256d vd;
typedef __m256d vsum;

#define INLINE static inline __attribute__((always_inline))

INLINE vf f_load(const float *p) {
    return _mm256_loadu_ps(p);
}
INLINE void f_store(float *p, vf x) {
    _mm256_storeu_ps(p, x);
}
INLINE vf f_set(float x) {
    return _mm256_set1_ps(x);
}
INLINE vf f_mul(vf x, vf y) {
    return _mm256_mul_ps(x, y);
}
INLINE vf f_add(vf x, vf y) {
    return _mm256_add_ps(x, y);
}
INLINE vf f_sub(vf x, vf y) {
    return _mm256_sub_ps(x, y);
}
INLINE vf f_max(vf x, vf y) {
    return _mm256_max_ps(x, y);
}
INLINE vf f_add_rz(vf x, vf y) {
    return _mm256_add_ps(x, y);
}
INLINE vf f_fma_rz(vf x, vf y, vf z) {
    return _mm256_fmadd_ps(x, y, z);
}
INLINE vi f_bits(vf x) {
    return _mm256_castps_si256(x);
}
INLINE vf i_float(vi x) {
    return _mm256_castsi256_ps(x);
}
INLINE vi i_load(const void *p) {
    return _mm256_loadu_si256(p);
}
INLINE vi i_set(int32_t x) {
    return _mm256_set1_epi32(x);
}
INLINE vi i_add(vi x, vi y) {
    return _mm256_add_epi32(x, y);
}
INLINE vi i_sub(vi x, vi y) {
    return _mm256_sub_epi32(x, y);
}
INLINE vi i_and(vi x, vi y) {
    return _mm256_and_si256(x, y);
}
INLINE vi i_or(vi x, vi y) {
    return _mm256_or_si256(x, y);
}
INLINE vi i_xor(vi x, vi y) {
    return _mm256_xor_si256(x, y);
}
INLINE vi i_shl(vi x, int n) {
    return _mm256_slli_epi32(x, n);
}
INLINE vi i_shr(vi x, int n) {
    return _mm256_srli_epi32(x, n);
}
INLINE vi i_sar(vi x, int n) {
    return _mm256_srai_epi32(x, n);
}
INLINE vi b_add(vi x, vi y) {
    return _mm256_add_epi8(x, y);
}
INLINE vi b_max(vi x, vi y) {
    return _mm256_max_epi8(x, y);
}
INLINE vi w_add(vi x, vi y) {
    return _mm256_add_epi16(x, y);
}
INLINE vi w_max(vi x, vi y) {
    return _mm256_max_epi16(x, y);
}
INLINE vf f_select(vi mask, vf x, vf y) {
    return _mm256_blendv_ps(y, x, i_float(mask));
}

INLINE vi f_trunc(vf x) {
    return _mm256_cvttps_epi32(x);
}
/* Toward zero. In nearest mode: what came out farther from zero than x, whose last place is then 1 or more, goes back by one. */
INLINE vf i_convert_rz(vi x, bool nearest_mode) {
    const vf f = _mm256_cvtepi32_ps(x);
    if (!nearest_mode) return f;
    const vi sign = i_sar(x, 31), excess = i_sub(i_xor(i_sub(f_trunc(f), x), sign), sign);
    return i_float(i_add(f_bits(f), _mm256_cmpgt_epi32(excess, _mm256_setzero_si256())));
}
INLINE vi f_max_abs(vi x, vf y) {
    const vi mask = i_set(0x7fffffff);
    return _mm256_max_epi32(i_and(x, mask), i_and(f_bits(y), mask));
}
INLINE vf f_unless_inf(vf y, vf x) {
    return f_select(_mm256_cmpeq_epi32(i_and(f_bits(y), i_set(0x7fffffff)), i_set(0x7f800000)), y, x);
}
INLINE vi i_max_if(vi y, vi e, vi low) {
    return _mm256_max_epi32(e, _mm256_andnot_si256(_mm256_cmpeq_epi32(i_add(y, y), _mm256_setzero_si256()), low));
}
INLINE vf f_sticky(vf f, vi x, vi y) {
    return i_float(i_or(f_bits(f), _mm256_andnot_si256(_mm256_cmpeq_epi32(x, y), i_set(1))));
}
INLINE vi i_select_neg(vi m, vi x, vi y) {
    return f_bits(f_select(m, i_float(x), i_float(y)));
}
INLINE vf f_to_f16(vf x) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

INLINE vd d_load(const double *p) {
    return _mm256_loadu_pd(p);
}
INLINE vd d_set(double x) {
    return _mm256_set1_pd(x);
}
INLINE vd d_mul(vd x, vd y) {
    return _mm256_mul_pd(x, y);
}
INLINE vi d_bits(vd x) {
    return _mm256_castpd_si256(x);
}
INLINE vd q_double(vi x) {
    return _mm256_castsi256_pd(x);
}
INLINE vi q_set(int64_t x) {
    return _mm256_set1_epi64x(x);
}
INLINE vi q_add(vi x, vi y) {
    return _mm256_add_epi64(x, y);
}
INLINE vi q_sub(vi x, vi y) {
    return _mm256_sub_epi64(x, y);
}
INLINE vi q_shl(vi x, int n) {
    return _mm256_slli_epi64(x, n);
}
/* Sums of truncated values, exact: doubles here, below 2^53. */
INLINE vsum sum_trunc(vd x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
INLINE vsum sum_add(vsum s, vd x) {
    return _mm256_add_pd(s, sum_trunc(x));
}
INLINE vd sum_double(vsum s) {
    return _mm256_add_pd(s, _mm256_setzero_pd());
} /* -0, of truncated negatives alone, becomes +0 */
INLINE vd d_abs(vd x) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}
INLINE vi d_max(vi x, vi y) {
    return d_bits(_mm256_max_pd(q_double(x), q_double(y)));
}
INLINE vi d_abs_at_least(vd x, vd low) {
    const vd abs = d_abs(x), zero = _mm256_setzero_pd();
    return d_bits(_mm256_and_pd(_mm256_max_pd(abs, low), _mm256_cmp_pd(abs, zero, _CMP_NEQ_OQ)));
}
INLINE vd d_from_f(const float *p) {
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
}
INLINE void d_store_f(float *p, vd x) {
    _mm_storeu_ps(p, _mm256_cvtpd_ps(x));
}
INLINE vd d_round_rz(vd x) {
    const vd r = _mm256_cvtps_pd(_mm256_cvtpd_ps(x));
    return _mm256_blendv_pd(r, _mm256_mul_pd(x, d_set(__builtin_inf())), _mm256_cmp_pd(d_abs(x), d_set(0x1p128), _CMP_GE_OQ));
}
INLINE vd d_round_e8m13(vd x) {
    const __m128i f = _mm_castps_si128(_mm256_cvtpd_ps(d_round_rz(x)));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_and_si128(f, _mm_set1_epi32(-1024))));
}
INLINE vd d_round_f16(vd x) {
    const __m128 f = _mm256_cvtpd_ps(x);
    const __m256d exact = _mm256_cmp_pd(_mm256_cvtps_pd(f), x, _CMP_EQ_OQ);
    const __m128 low = _mm256_castps256_ps128(_mm256_castpd_ps(exact)), high = _mm256_extractf128_ps(_mm256_castpd_ps(exact), 1);
    const __m128i all = _mm_castps_si128(_mm_shuffle_ps(low, high, 0x88));
    const __m128 odd = _mm_or_ps(f, _mm_castsi128_ps(_mm_andnot_si128(all, _mm_set1_epi32(1))));
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_cvtps_ph(odd, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
}
INLINE vd d_unless_inf(vd y, vd x) {
    return _mm256_blendv_pd(x, y, _mm256_cmp_pd(d_abs(y), d_set(__builtin_inf()), _CMP_EQ_OQ));
}

INLINE vd d_add(vd x, vd y) {
    return _mm256_add_pd(x, y);
}
INLINE vd d_sub(vd x, vd y) {
    return _mm256_sub_pd(x, y);
}
INLINE vd d_max_or_zero(vd x) {
    return _mm256_max_pd(x, _mm256_setzero_pd());
}
INLINE vd d_add_rz(vd x, vd y) {
    return _mm256_add_pd(x, y);
}
INLINE vd d_fma_rz(vd x, vd y, vd z) {
    return _mm256_fmadd_pd(x, y, z);
}
INLINE vd d_floor_sub(vd x, vd magic) {
    return _mm256_sub_pd(d_add_rz(x, magic), magic);
}
INLINE vd d_zero_if_less(vd x, vd y, vd z) {
    return _mm256_andnot_pd(_mm256_cmp_pd(x, y, _CMP_LT_OQ), z);
}
/* Of a subnormal f32: of the two that enclose x, whose distances are exact, the nearer one. From 2^128 - 2^103 on, Inf. */
static __attribute__((noinline)) vd d_round_tiny(vd x) {
    const __m128 low = _mm256_cvtpd_ps(x); /* toward zero */
    const __m128i next = _mm_add_epi32(_mm_castps_si128(low), _mm_set1_epi32(1)),
                  odd = _mm_and_si128(_mm_castps_si128(low), _mm_set1_epi32(1));
    const vd down = _mm256_cvtps_pd(low), up = _mm256_cvtps_pd(_mm_castsi128_ps(next)),
             odd_mask = q_double(_mm256_sub_epi64(_mm256_setzero_si256(), _mm256_cvtepi32_epi64(odd)));
    const vd below = d_abs(d_sub(x, down)), above = d_abs(d_sub(up, x));
    const vd nearer = _mm256_cmp_pd(above, below, _CMP_LT_OQ), tie = _mm256_and_pd(_mm256_cmp_pd(above, below, _CMP_EQ_OQ), odd_mask);
    const vd r = _mm256_blendv_pd(down, up, _mm256_or_pd(nearer, tie));
    return _mm256_blendv_pd(r, _mm256_mul_pd(x, d_set(__builtin_inf())), _mm256_cmp_pd(d_abs(x), d_set(0x1.ffffffp127), _CMP_GE_OQ));
}

/* To the nearest even f32: with half a unit of the last place, less where it is even, the cut toward zero rounds so. */
INLINE vd d_round_rne(vd x) {
    const vd tiny = _mm256_and_pd(_mm256_cmp_pd(d_abs(x), d_set(0x1p-126), _CMP_LT_OQ), _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_NEQ_OQ));
    if (__builtin_expect(_mm256_movemask_pd(tiny) != 0, 0)) return d_round_tiny(x);
    const vi odd = i_and(_mm256_srli_epi64(d_bits(x), 29), q_set(1));
    return d_round_rz(q_double(q_add(q_add(d_bits(x), odd), q_set((1 << 28) - 1))));
}

/* Lanes that the bits of an f64 do not round: subnormal, or large, or behind an Inf. */
INLINE vd d_round_rare(vd c, vd x) {
    const vd size = d_abs(x),
             tiny = _mm256_and_pd(_mm256_cmp_pd(size, d_set(0x1p-126), _CMP_LT_OQ), _mm256_cmp_pd(x, d_set(0), _CMP_NEQ_OQ));
    const vd large = _mm256_cmp_pd(d_set(0x1p127), _mm256_max_pd(size, d_abs(c)), _CMP_LE_OQ);
    return _mm256_or_pd(tiny, large);
}

/* c <- the nearest even f32 of exact, unless c is Inf: in the bits of the f64, where no lane is rare. */
INLINE void d_round_all(vd c[], const vd exact[], int vectors) {
    vd rare = d_round_rare(c[0], exact[0]);
    for (int g = 1; g < vectors; g++) rare = _mm256_or_pd(rare, d_round_rare(c[g], exact[g]));
    if (__builtin_expect(_mm256_movemask_pd(rare) != 0, 0)) {
        for (int g = 0; g < vectors; g++) c[g] = d_unless_inf(c[g], d_round_rne(exact[g]));
        return;
    }
    for (int g = 0; g < vectors; g++) {
        const vi bits = d_bits(exact[g]), odd = i_and(_mm256_srli_epi64(bits, 29), q_set(1));
        c[g] = q_double(i_and(q_add(q_add(bits, odd), q_set((1 << 28) - 1)), q_set(-(INT64_C(1) << 29))));
    }
}

INLINE unsigned mode_enter(bool nearest) {
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(nearest ? 0x1f80 : 0x7f80); /* every exception masked, subnormals kept */
    return saved;
}
INLINE void mode_leave_inline(unsigned saved) {
    _mm_setcsr(saved);
}

#endif
