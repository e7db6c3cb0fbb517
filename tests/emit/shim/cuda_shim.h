/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As much of CUDA C++ as emitted functions use, for a C++ compiler on the CPU. */
#ifndef LB_EMIT_CUDA
#define LB_EMIT_CUDA
#include <cmath>
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
static inline float __int2float_rz(int x) {
    const double y = x; /* exact; its bits below f32's are cut */
    unsigned long long u;
    std::memcpy(&u, &y, 8);
    u &= ~0ull << 29;
    double cut;
    std::memcpy(&cut, &u, 8);
    return (float)cut;
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
uint32_t lb_lockstep_shuffle(uint32_t value, uint32_t from); /* tests/emit/lockstep.c */
static inline unsigned __shfl_sync(unsigned, unsigned value, int from) {
    return lb_lockstep_shuffle(value, (uint32_t)from);
}
#endif
