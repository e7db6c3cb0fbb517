/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bugs of the usual kinds in our OpenCL kernels as they are shipped. */
#ifndef LB_OP_BUGS_OPENCL_H
#define LB_OP_BUGS_OPENCL_H

#include "op_planted.h"

#define CAUSAL "m=4 seq=10 causal=1 q_offset=3"

static const planted bugs_opencl[] = {
    {__LINE__, "mask off by one", "attention", CAUSAL, "f32", "clamp(p + 1, 0, seq)", "clamp(p + 2, 0, seq)"},
    {__LINE__, "missing scale", "attention", CAUSAL, "f16", "float score = dot * a->scale;", "float score = dot;"},
    {__LINE__, "wrong axis", "matmul_tiled", "m=20 k=20 n=20", "bf16", "load(b, (size_t)(l + y) * n + j)",
     "load(b, (size_t)j * k + l + y)"},
    {__LINE__, "misplaced eps", "rmsnorm", "magnitude=0.1", "f32", "1.0f / sqrt(group_sum(s, squares) / (float)d + eps)",
     "1.0f / (sqrt(group_sum(s, squares) / (float)d) + eps)"},
    {__LINE__, "misplaced eps", "layernorm", "magnitude=0.1", "f32", "1.0f / sqrt(group_sum(s, squares) / (float)d + eps)",
     "1.0f / (sqrt(group_sum(s, squares) / (float)d) + eps)"},
    {__LINE__, "swapped RoPE halves", "rope", "", "bf16", "at + i, at + i + pairs", "at + i + pairs, at + i"},
    {__LINE__, "cache row off by one", "kv_write", "", "f16", "from = row - at;", "from = row - at - 1;"},
    {__LINE__, "lost tail", "matmul_tiled", "m=3 k=100 n=5", "f16", "for (int l = 0; l < k; l += TILE)",
     "for (int l = 0; l + TILE <= k; l += TILE)"},
    {__LINE__, "lost tail", "softmax", "rows=3 d=70", "f32", "for (int j = get_local_id(0); j < d; j += LB_X) sum += exp",
     "for (int j = get_local_id(0); j < d / LB_X * LB_X; j += LB_X) sum += exp"},
    {__LINE__, "f16 accumulation", "matmul_tiled", "", "f16", "sum = fma(a[y][l], b[l][x], sum);",
     "{ ushort h; vstore_half_rte(fma(a[y][l], b[l][x], sum), 0, (half *)&h); sum = vload_half(0, (const half *)&h); }"},
    {__LINE__, "unclamped tanh", "gelu", "n=3072 magnitude=12", "f32", "fmin(a, 15.0f)", "a"},
    {__LINE__, "stale slot", "attention_cached", "len=12 rows=7", "f32", "{k, v, (size_t)d, 0, rows,", "{k, v, (size_t)d, 0, len,"},
    {__LINE__, "stale slot", "kv_ring", "len=3 d=5 at=7 rows=8", "bf16", "first + (rows - 1 - first) / len * len", "first"},
};

#undef CAUSAL

#endif
