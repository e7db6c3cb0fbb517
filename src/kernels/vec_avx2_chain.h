/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what chain_body.h needs beside vec_avx2.h. */
#define CHAIN_HAS_FMA 1

INLINE vf f_fma(vf x, vf y, vf z) {
    return _mm256_fmadd_ps(x, y, z);
}
INLINE void i_store(void *p, vi x) {
    _mm256_storeu_si256(p, x);
}
INLINE vi i_pairs(vi x, vi y) {
    return _mm256_madd_epi16(x, y);
}
INLINE void d_store(double *p, vd x) {
    _mm256_storeu_pd(p, x);
}
INLINE vd d_fma(vd x, vd y, vd z) {
    return _mm256_fmadd_pd(x, y, z);
}
INLINE vd d_near(vd x) {
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(x));
}
INLINE vd d_to_odd(vd s, vd err) {
    const vi bits = d_bits(s), inexact = d_bits(_mm256_cmp_pd(err, _mm256_setzero_pd(), _CMP_NEQ_OQ));
    const vi beyond = _mm256_cmpgt_epi64(_mm256_setzero_si256(), i_xor(d_bits(err), bits));
    return q_double(i_or(q_add(bits, i_and(inexact, beyond)), i_and(inexact, q_set(1))));
}
INLINE vd d_flush(vd x, vd least) {
    const vd tiny = _mm256_cmp_pd(d_abs(x), least, _CMP_LT_OQ);
    return _mm256_blendv_pd(x, _mm256_and_pd(x, _mm256_set1_pd(-0.0)), tiny);
}
INLINE vd d_inf_from_2_128(vd y, vd x) {
    return _mm256_blendv_pd(y, _mm256_mul_pd(x, d_set(__builtin_inf())), _mm256_cmp_pd(d_abs(x), d_set(0x1p128), _CMP_GE_OQ));
}
INLINE vd d_finite(vd x) {
    return _mm256_cmp_pd(d_abs(x), d_set(__builtin_inf()), _CMP_LT_OQ);
}
INLINE vd d_unless_finite(vd x, vd y) {
    return _mm256_blendv_pd(x, y, d_finite(x));
}
INLINE vd d_unless_finite_zero(vd x) {
    return _mm256_and_pd(x, d_finite(x));
}
INLINE vd d_copysign(vd x, vd y) {
    return _mm256_or_pd(x, _mm256_and_pd(y, _mm256_set1_pd(-0.0)));
}
INLINE vd d_from_i32(const int32_t *p) {
    return _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)(const void *)p));
}
INLINE vd d_where_any(uint32_t mask, const uint32_t *p, vd x) {
    const __m128i common = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi32((int32_t)mask));
    const vi none = _mm256_cvtepi32_epi64(_mm_cmpeq_epi32(common, _mm_setzero_si128()));
    return _mm256_andnot_pd(q_double(none), x);
}
