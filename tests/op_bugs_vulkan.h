/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bugs of the usual kinds in our GLSL kernels as they are shipped. */
#ifndef LB_OP_BUGS_VULKAN_H
#define LB_OP_BUGS_VULKAN_H

#include "op_planted.h"

#define CAUSAL "m=4 seq=10 causal=1 q_offset=3"

static const planted bugs_vulkan[] = {
    {__LINE__, "mask off by one", "attention", CAUSAL, "f32", "min(p.seq, position + 1)", "min(p.seq, position + 2)"},
    {__LINE__, "missing scale", "attention", CAUSAL, "f16", "product / sqrt(float(p.d))", "product"},
    {__LINE__, "wrong axis", "linear", "m=20 k=20 n=20", "bf16", "T_LOAD(w, o * p.k + l)", "T_LOAD(w, l * p.n + o)"},
    {__LINE__, "misplaced eps", "rmsnorm", "magnitude=0.1", "f32", "sqrt(group_sum(lane, squares) / float(d) + p.eps)",
     "(sqrt(group_sum(lane, squares) / float(d)) + p.eps)"},
    {__LINE__, "misplaced eps", "layernorm", "magnitude=0.1", "f32", "sqrt(group_sum(lane, squares) / float(d) + p.eps)",
     "(sqrt(group_sum(lane, squares) / float(d)) + p.eps)"},
    {__LINE__, "swapped RoPE halves", "rope", "", "bf16", "first = row * p.d + pair, second = first + pairs;",
     "second = row * p.d + pair, first = second + pairs;"},
    {__LINE__, "cache row off by one", "kv_write", "", "f16", "slot = row - p.at;", "slot = row - p.at - 1;"},
    {__LINE__, "lost tail", "matmul_tiled", "m=3 k=100 n=5", "f16", "for (int from = 0; from < p.k;",
     "for (int from = 0; from + TILE <= p.k;"},
    {__LINE__, "lost tail", "softmax", "rows=3 d=70", "f32", "i < d; i += LANES) sum +=", "i < d / LANES * LANES; i += LANES) sum +="},
    {__LINE__, "f16 accumulation", "matmul_tiled", "", "f16", "sum += tile_a[y][l] * tile_b[l][x];",
     "sum = unpackHalf2x16(packHalf2x16(vec2(sum + tile_a[y][l] * tile_b[l][x], 0.0))).x;"},
    {__LINE__, "unclamped tanh", "gelu", "n=3072 magnitude=12", "f32", "lb_tanh(inner)",
     "((lb_exp(2.0 * inner) - 1.0) / (lb_exp(2.0 * inner) + 1.0))"},
    {__LINE__, "stale slot", "attention_cached", "len=12 rows=7", "f32", "min(p.rows, p.len)", "p.len"},
    {__LINE__, "stale slot", "kv_ring", "len=3 d=5 at=7 rows=8", "bf16", "first + (p.rows - 1 - first) / p.len * p.len", "first"},
};

#undef CAUSAL

#endif
