/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As much of CUDA C++ as emitted functions use, for a C++ compiler on the CPU. */
#ifndef LB_EMIT_CUDA
#define LB_EMIT_CUDA
#include <cstdint>
#include <cstring>
#define __device__
#define __forceinline__ inline
static inline int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
template <typename T> static inline T min(T a, T b) {
    return a < b ? a : b;
}
template <typename T> static inline T max(T a, T b) {
    return a > b ? a : b;
}
static inline float __int2float_rn(int x) {
    return (float)x;
}
static inline int __float2int_rz(float x) {
    return (int)x;
}
static inline unsigned __float_as_uint(float x) {
    unsigned u;
    std::memcpy(&u, &x, 4);
    return u;
}
static inline float __uint_as_float(unsigned u) {
    float x;
    std::memcpy(&x, &u, 4);
    return x;
}
static inline void __syncwarp() {}
static inline void __syncthreads() {}
#endif
