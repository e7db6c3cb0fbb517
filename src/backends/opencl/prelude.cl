/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Stands before every kernel's file. T, the element format, is chosen by one of LB_T_F32, LB_T_F16, LB_T_BF16: T is what lies in memory,
 * load and store go to and from f32, stores round to nearest even. LB_X, LB_Y, LB_Z are the work-group's sizes. */
#if LB_T_F16
typedef ushort T;
float load(global const T *p, size_t i) { return vload_half(i, (global const half *)p); }
void store(global T *p, size_t i, float v) { vstore_half_rte(v, i, (global half *)p); }
#elif LB_T_BF16
typedef ushort T;
float load(global const T *p, size_t i) { return as_float((uint)p[i] << 16); }
void store(global T *p, size_t i, float v) {
    const uint u = as_uint(v);
    p[i] = isnan(v) ? (ushort)(u >> 16 | 0x40u) : (ushort)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
#else
typedef float T;
float load(global const T *p, size_t i) { return p[i]; }
void store(global T *p, size_t i, float v) { p[i] = v; }
#endif

/* What begins a kernel, and a variable of its work-group; cuda.cuh has its own. */
#ifndef GROUP
#define GROUP kernel __attribute__((reqd_work_group_size(LB_X, LB_Y, LB_Z)))
#define SHARED local
#endif

/* Narrow formats. */
float from_e4m3(uchar c) {
    const uint e = c >> 3 & 15, m = c & 7;
    const float size = (c & 0x7f) == 0x7f ? NAN : e ? as_float((e + 120) << 23 | m << 20) : (float)m * 0x1p-9f;
    return c & 0x80 ? -size : size;
}

float from_ue4m3(uchar c) { return from_e4m3(c & 0x7f); }

float from_e8m0(uchar c) { return c == 255 ? NAN : as_float(c ? (uint)c << 23 : 0x00400000u); }

float from_e2m1(uint c) {
    const uint e = c >> 1 & 3, m = c & 1;
    const float size = e ? as_float((e + 126) << 23 | m << 22) : 0.5f * (float)m;
    return c & 8 ? -size : size;
}

/* The 4-bit code number i of a row of bytes, the low half first. */
uint nibble(global const uchar *p, size_t i) { return p[i / 2] >> (i % 2 * 4) & 15; }

/* ---- a work-group of LB_X lanes together; each lane gets the result; s has LB_X places ------------------------------------------- */

float group_sum(local float *s, float v) {
    const int lane = get_local_id(0);
    s[lane] = v;
    for (int half_way = LB_X / 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_way) s[lane] += s[lane + half_way];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float all = s[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

float group_max(local float *s, float v) {
    const int lane = get_local_id(0);
    s[lane] = v;
    for (int half_way = LB_X / 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_way) s[lane] = fmax(s[lane], s[lane + half_way]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float all = s[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

/* Sum of the lanes up to this one; s keeps them all until the next call. */
float group_scan(local float *s, float v) {
    const int lane = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    s[lane] = v;
    for (int reach = 1; reach < LB_X; reach *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const float before = lane >= reach ? s[lane - reach] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= reach) s[lane] += before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return s[lane];
}
