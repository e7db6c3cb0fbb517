/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* OpenCL C as NVRTC's C++ reads it: what our kernels use of it, and no more. Stands before prelude.cl; no header is needed. Functions are
 * the device's by -default-device. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef struct half {
    ushort bits;
} half;
#define char signed char /* also where the host's is not */

#define global
#define local
#undef __global__ /* to NVRTC __attribute__((global)), where our global would be erased */
#define GROUP  extern "C" __attribute__((__global__)) __launch_bounds__(LB_X *LB_Y *LB_Z)
#define SHARED __shared__

#define CLK_LOCAL_MEM_FENCE 0
#define barrier(fence)      __syncthreads()

/* Sizes of a launch are below 2^31 (lb_launch_grid). */
inline int get_local_id(int d) { return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : threadIdx.z; }
inline int get_group_id(int d) { return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : blockIdx.z; }
inline int get_local_size(int d) { return d == 0 ? blockDim.x : d == 1 ? blockDim.y : blockDim.z; }
inline int get_global_id(int d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }

inline float as_float(uint u) { return __uint_as_float(u); }
inline uint as_uint(float v) { return __float_as_uint(v); }
inline float vload_half(size_t i, const half *p) {
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(p[i].bits));
    return v;
}
inline void vstore_half_rte(float v, size_t i, half *p) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(p[i].bits) : "f"(v)); }

#define INT_MAX  0x7fffffff
#define FLT_MIN  0x1p-126f
#define NAN      __int_as_float(0x7fc00000)
#define INFINITY __int_as_float(0x7f800000)

inline bool lb_isnan(float v) { return (as_uint(v) & 0x7fffffffu) > 0x7f800000u; }
inline bool lb_isinf(float v) { return (as_uint(v) & 0x7fffffffu) == 0x7f800000u; }
inline int clamp(int v, int least, int most) { return min(max(v, least), most); }
inline float lb_sincos(float x, float *c) {
    float s;
    sincosf(x, &s, c);
    return s;
}
#define isnan  lb_isnan
#define isinf  lb_isinf
#define sincos lb_sincos
#define exp    expf
#define log    logf
#define pow    powf
#define tanh   tanhf
#define erfc   erfcf
#define sqrt   sqrtf
#define fma    fmaf
#define fmax   fmaxf
#define fmin   fminf
