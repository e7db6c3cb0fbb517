/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what chain_body.h needs beside vec_avx512.h. */
#define CHAIN_HAS_FMA 1

INLINE vf f_fma(vf x, vf y, vf z) {
    return _mm512_fmadd_ps(x, y, z);
}
INLINE void i_store(void *p, vi x) {
    _mm512_storeu_si512(p, x);
}
/* the sum of the products of two pairs of int16 */
INLINE vi i_pairs(vi x, vi y) {
    return _mm512_madd_epi16(x, y);
}
INLINE void d_store(double *p, vd x) {
    _mm512_storeu_pd(p, x);
}
INLINE vd d_fma(vd x, vd y, vd z) {
    return _mm512_fmadd_pd(x, y, z);
}
/* To the nearest even f32, in nearest mode. */
INLINE vd d_near(vd x) {
    return _mm512_cvtps_pd(_mm512_cvtpd_ps(x));
}
/* s + err rounded to odd, where s is that sum rounded to nearest */
INLINE vd d_to_odd(vd s, vd err) {
    const vi bits = d_bits(s), one = q_set(1);
    const __mmask8 inexact = _mm512_cmp_pd_mask(err, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    const __mmask8 beyond = _mm512_mask_test_epi64_mask(inexact, _mm512_xor_si512(d_bits(err), bits), q_set(INT64_MIN));
    const vi cut = _mm512_mask_sub_epi64(bits, beyond, bits, one);
    return q_double(_mm512_mask_or_epi64(cut, inexact, cut, one));
}
/* x, but a zero of its sign where |x| < least */
INLINE vd d_flush(vd x, vd least) {
    const __mmask8 tiny = _mm512_cmp_pd_mask(_mm512_abs_pd(x), least, _CMP_LT_OQ);
    return _mm512_mask_and_pd(x, tiny, x, _mm512_set1_pd(-0.0));
}
/* y, but Inf of its sign where |x| >= 2^128 */
INLINE vd d_inf_from_2_128(vd y, vd x) {
    const __mmask8 over = _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(0x1p128), _CMP_GE_OQ);
    return _mm512_mask_mul_pd(y, over, x, _mm512_set1_pd(__builtin_inf()));
}
/* x where it is NaN or Inf, else y */
INLINE vd d_unless_finite(vd x, vd y) {
    return _mm512_mask_mov_pd(y, _mm512_fpclass_pd_mask(x, 0x99), x);
}
/* x where it is finite, else 0 */
INLINE vd d_unless_finite_zero(vd x) {
    return _mm512_mask_mov_pd(x, _mm512_fpclass_pd_mask(x, 0x99), _mm512_setzero_pd());
}
/* |x| with the sign of y */
INLINE vd d_copysign(vd x, vd y) {
    return _mm512_or_pd(x, _mm512_and_pd(y, _mm512_set1_pd(-0.0)));
}
INLINE vd d_from_i32(const int32_t *p) {
    return _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
/* x where p[lane] and mask have a bit in common, else 0 */
INLINE vd d_where_any(uint32_t mask, const uint32_t *p, vd x) {
    const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm512_maskz_mov_pd(_mm256_test_epi32_mask(bits, _mm256_set1_epi32((int32_t)mask)), x);
}
