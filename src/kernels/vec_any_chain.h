/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what chain_body.h needs beside vec_any.h. */
#include <math.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#define CHAIN_HAS_FMA 0

INLINE vd d_sub(vd x, vd y) {
    return x - y;
}
INLINE void i_store(void *p, vi x) {
    memcpy(p, &x, sizeof x);
}
INLINE vi i_pairs(vi x, vi y) {
#if defined(__SSE2__)
    return (vi)_mm_madd_epi16((__m128i)x, (__m128i)y);
#else
    const vi x_low = (vi)((vu)x << 16) >> 16, y_low = (vi)((vu)y << 16) >> 16;
    return i_add(x_low * y_low, (x >> 16) * (y >> 16));
#endif
}
INLINE void d_store(double *p, vd x) {
    memcpy(p, &x, sizeof x);
}
INLINE vd d_fma(vd x, vd y, vd z) {
    return (vd){fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])};
}
INLINE vd d_near(vd x) {
    return d_round_rne(x);
}
INLINE vd d_to_odd(vd s, vd err) {
    const vq inexact = (err < 0) | (err > 0), beyond = ((vq)err ^ (vq)s) < 0;
    return (vd)((vq)((vuq)s + (vuq)(inexact & beyond)) | (inexact & 1));
}
INLINE vd d_flush(vd x, vd least) {
    return d_select(d_abs(x) < least, (vd)((vq)x & INT64_MIN), x);
}
INLINE vd d_inf_from_2_128(vd y, vd x) {
    return d_select(d_abs(x) >= 0x1p128, x * __builtin_inf(), y);
}
INLINE vd d_unless_finite(vd x, vd y) {
    return d_select(d_abs(x) < __builtin_inf(), y, x);
}
INLINE vd d_unless_finite_zero(vd x) {
    return (vd)((vq)x & (d_abs(x) < __builtin_inf()));
}
INLINE vd d_copysign(vd x, vd y) {
    return (vd)((vq)x | ((vq)y & INT64_MIN));
}
INLINE vd d_from_i32(const int32_t *p) {
    return (vd){p[0], p[1]};
}
INLINE vd d_where_any(uint32_t mask, const uint32_t *p, vd x) {
    return (vd){p[0] & mask ? x[0] : 0, p[1] & mask ? x[1] : 0};
}
