/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Layouts of mma.sync and wgmma against the formulas of the documents, written out here as they are there, and every row of the table
 * as a bijection. Section numbers are those of the PTX ISA. */
#include "fragments_help.h"

/* ---- the documents' formulas: place of element i of a lane ------------------------------------------------------------ */

typedef lb_place (*formula)(int lane, int i);

#define FORMULA(name, matrix_, row_, col_)                                                                                                 \
    static lb_place name(int laneid, int i) {                                                                                              \
        const int groupID = laneid >> 2, threadID_in_group = laneid % 4;                                                                   \
        (void)groupID, (void)threadID_in_group, (void)i;                                                                                   \
        return (lb_place){matrix_, row_, col_};                                                                                            \
    }

/* 9.7.14.5.1: quad pairs 0-3 and 16-19, 4-7 and 20-23 … compute a matrix each */
FORMULA(volta_a, laneid % 16 / 4, laneid < 16 ? laneid % 4 : laneid % 4 + 4, i)
FORMULA(volta_b, laneid % 16 / 4, i, laneid < 16 ? laneid % 4 : laneid % 4 + 4)
FORMULA(volta_c16, laneid % 16 / 4, laneid < 16 ? laneid % 4 : laneid % 4 + 4, i)
FORMULA(volta_c32, laneid % 16 / 4, (laneid & 1) + (i & 2) + (laneid < 16 ? 0 : 4), (i & 4) + (laneid & 2) + (i & 1))
/* 9.7.14.5.2 */
FORMULA(f64_884_a, 0, laneid >> 2, laneid % 4)
FORMULA(f64_884_b, 0, laneid % 4, laneid >> 2)
FORMULA(m8_c, 0, groupID, threadID_in_group * 2 + (i & 1))
/* 9.7.14.5.3 to .5 */
FORMULA(m8k16_a, 0, groupID, threadID_in_group * 4 + i)
FORMULA(m8k16_b, 0, threadID_in_group * 4 + i, groupID)
FORMULA(m8k32_a, 0, groupID, threadID_in_group * 8 + i)
FORMULA(m8k32_b, 0, threadID_in_group * 8 + i, groupID)
FORMULA(m8k128_a, 0, groupID, threadID_in_group * 32 + i)
FORMULA(m8k128_b, 0, threadID_in_group * 32 + i, groupID)
/* 9.7.14.5.6 */
FORMULA(k4_a, 0, i == 0 ? groupID : groupID + 8, threadID_in_group)
FORMULA(k4_b, 0, threadID_in_group, groupID)
FORMULA(m16_c, 0, i < 2 ? groupID : groupID + 8, threadID_in_group * 2 + (i & 1))
/* 9.7.14.5.7 */
FORMULA(k8_f16_a, 0, i < 2 ? groupID : groupID + 8, threadID_in_group * 2 + (i & 1))
FORMULA(k8_f16_b, 0, threadID_in_group * 2 + i, groupID)
FORMULA(k8_tf32_a, 0, i == 0 || i == 2 ? groupID : groupID + 8, i < 2 ? threadID_in_group : threadID_in_group + 4)
FORMULA(k8_tf32_b, 0, i == 0 ? threadID_in_group : threadID_in_group + 4, groupID)
/* 9.7.14.5.8 */
FORMULA(k16_f16_a, 0, i < 2 || (4 <= i && i < 6) ? groupID : groupID + 8, threadID_in_group * 2 + (i & 1) + (i < 4 ? 0 : 8))
FORMULA(k16_f16_b, 0, threadID_in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), groupID)
FORMULA(k16_f64_a, 0, i % 2 == 0 ? groupID : groupID + 8, i % 2 == 0 ? i * 2 + threadID_in_group : i * 2 - 2 + threadID_in_group)
FORMULA(k16_f64_b, 0, threadID_in_group + i * 4, groupID)
/* 9.7.14.5.9 */
FORMULA(k16_i8_a, 0, i < 4 ? groupID : groupID + 8, threadID_in_group * 4 + (i & 3))
FORMULA(k16_i8_b, 0, threadID_in_group * 4 + i, groupID)
/* 9.7.14.5.10 */
FORMULA(k32_i4_a, 0, i < 8 ? groupID : groupID + 8, threadID_in_group * 8 + (i & 7))
FORMULA(k32_i4_b, 0, threadID_in_group * 8 + (i & 7), groupID)
FORMULA(k32_i8_a, 0, i < 4 || (8 <= i && i < 12) ? groupID : groupID + 8, threadID_in_group * 4 + (i & 3) + (i < 8 ? 0 : 16))
FORMULA(k32_i8_b, 0, threadID_in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), groupID)
/* 9.7.14.5.11 */
FORMULA(k64_i4_a, 0, i < 8 || (16 <= i && i < 24) ? groupID : groupID + 8, threadID_in_group * 8 + (i & 7) + (i < 16 ? 0 : 32))
FORMULA(k64_i4_b, 0, threadID_in_group * 8 + (i & 7) + (i < 8 ? 0 : 32), groupID)
/* 9.7.14.5.12 */
FORMULA(k128_a, 0, i < 32 ? groupID : groupID + 8, threadID_in_group * 32 + (i & 31))
FORMULA(k128_b, 0, threadID_in_group * 32 + i, groupID)
/* 9.7.14.5.13; the column of a for i < 64 has "+ i" there, which leaves the tile for i > 31: read as i & 0x1F, as for i >= 64 */
FORMULA(k256_a, 0, i < 32 || (64 <= i && i < 96) ? groupID : groupID + 8, threadID_in_group * 32 + (i & 31) + (i < 64 ? 0 : 128))
FORMULA(k256_b, 0, threadID_in_group * 32 + (i & 31) + (i < 32 ? 0 : 128), groupID)
/* 9.7.14.6.2: a chunk of a compressed A holds half of [firstcol, lastcol]; B where it is not that of a dense instruction */
FORMULA(sp_k32_f16_b, 0, threadID_in_group * 2 + (i & 1) + 8 * (i / 2), groupID)
FORMULA(sp_k16_tf32_b, 0, threadID_in_group + 4 * i, groupID)
FORMULA(sp_k64_i8_b, 0, threadID_in_group * 4 + (i & 3) + 16 * (i / 4), groupID)
/* 9.7.15.5.1.1: figures; d0 d1 in row 0, d2 d3 in row 8, d4 d5 eight columns on; T32 begins row 16 */
FORMULA(wgmma_d, 0, 16 * (laneid / 32) + groupID % 8 + (i % 4 < 2 ? 0 : 8), i / 4 * 8 + threadID_in_group * 2 + i % 2)
FORMULA(wgmma_a16, 0, 16 * (laneid / 32) + groupID % 8 + (i < 2 || (4 <= i && i < 6) ? 0 : 8),
        threadID_in_group * 2 + (i & 1) + (i < 4 ? 0 : 8))
FORMULA(wgmma_a8, 0, 16 * (laneid / 32) + groupID % 8 + (i < 4 || (8 <= i && i < 12) ? 0 : 8),
        threadID_in_group * 4 + (i & 3) + (i < 8 ? 0 : 16))
FORMULA(wgmma_a32, 0, 16 * (laneid / 32) + groupID % 8 + (i % 2 == 0 ? 0 : 8), threadID_in_group + (i < 2 ? 0 : 4))

enum { OP_A = LB_FRAGMENT_A, OP_B = LB_FRAGMENT_B, OP_C = LB_FRAGMENT_C, OP_D = LB_FRAGMENT_D };

/* A row: unit, formats, operand; registers of 32 bits and elements of a lane as the document's tables count them; the formula. */
static const struct stated {
    int line;
    const char *unit;
    lb_format_id in, out;
    int operand, lanes, registers, items;
    formula place;
} stated[] = {
    {__LINE__, "sm_70/mma.m8n8k4.f32.f16.f16.f32", LB_F16, LB_F32, OP_A, 32, 2, 4, volta_a},
    {__LINE__, "sm_70/mma.m8n8k4.f32.f16.f16.f32", LB_F16, LB_F32, OP_B, 32, 2, 4, volta_b},
    {__LINE__, "sm_70/mma.m8n8k4.f32.f16.f16.f32", LB_F16, LB_F32, OP_D, 32, 8, 8, volta_c32},
    {__LINE__, "sm_70/mma.m8n8k4.f16.f16.f16.f16", LB_F16, LB_F16, OP_C, 32, 4, 8, volta_c16},
    {__LINE__, "sm_80/mma.m8n8k4.f64.f64.f64.f64", LB_F64, LB_F64, OP_A, 32, 2, 1, f64_884_a},
    {__LINE__, "sm_80/mma.m8n8k4.f64.f64.f64.f64", LB_F64, LB_F64, OP_B, 32, 2, 1, f64_884_b},
    {__LINE__, "sm_80/mma.m8n8k4.f64.f64.f64.f64", LB_F64, LB_F64, OP_D, 32, 4, 2, m8_c},
    {__LINE__, "sm_75/mma.m8n8k16.i32.i8.i8.i32", LB_I8, LB_F32, OP_A, 32, 1, 4, m8k16_a},
    {__LINE__, "sm_75/mma.m8n8k16.i32.i8.u8.i32", LB_U8, LB_F32, OP_B, 32, 1, 4, m8k16_b},
    {__LINE__, "sm_75/mma.m8n8k16.i32.i8.i8.i32", LB_I8, LB_F32, OP_C, 32, 2, 2, m8_c},
    {__LINE__, "sm_75/mma.m8n8k32.i32.i4.i4.i32", LB_I4, LB_F32, OP_A, 32, 1, 8, m8k32_a},
    {__LINE__, "sm_75/mma.m8n8k32.i32.u4.u4.i32", LB_U4, LB_F32, OP_B, 32, 1, 8, m8k32_b},
    {__LINE__, "sm_75/mma.m8n8k128.i32.b1.b1.i32.xor", LB_B1, LB_F32, OP_A, 32, 1, 32, m8k128_a},
    {__LINE__, "sm_75/mma.m8n8k128.i32.b1.b1.i32.xor", LB_B1, LB_F32, OP_B, 32, 1, 32, m8k128_b},
    {__LINE__, "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", LB_TF32, LB_F32, OP_A, 32, 2, 2, k4_a},
    {__LINE__, "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", LB_TF32, LB_F32, OP_B, 32, 1, 1, k4_b},
    {__LINE__, "sm_80/mma.m16n8k4.f32.tf32.tf32.f32", LB_TF32, LB_F32, OP_D, 32, 4, 4, m16_c},
    {__LINE__, "sm_90/mma.m16n8k4.f64.f64.f64.f64", LB_F64, LB_F64, OP_A, 32, 4, 2, k4_a},
    {__LINE__, "sm_90/mma.m16n8k4.f64.f64.f64.f64", LB_F64, LB_F64, OP_B, 32, 2, 1, k4_b},
    {__LINE__, "sm_90/mma.m16n8k4.f64.f64.f64.f64", LB_F64, LB_F64, OP_D, 32, 8, 4, m16_c},
    {__LINE__, "sm_80/mma.m16n8k8.f32.bf16.bf16.f32", LB_BF16, LB_F32, OP_A, 32, 2, 4, k8_f16_a},
    {__LINE__, "sm_80/mma.m16n8k8.f32.bf16.bf16.f32", LB_BF16, LB_F32, OP_B, 32, 1, 2, k8_f16_b},
    {__LINE__, "sm_80/mma.m16n8k8.f16.f16.f16.f16", LB_F16, LB_F16, OP_D, 32, 2, 4, m16_c},
    {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32", LB_TF32, LB_F32, OP_A, 32, 4, 4, k8_tf32_a},
    {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32", LB_TF32, LB_F32, OP_B, 32, 2, 2, k8_tf32_b},
    {__LINE__, "sm_90/mma.m16n8k8.f64.f64.f64.f64", LB_F64, LB_F64, OP_A, 32, 8, 4, k8_tf32_a},
    {__LINE__, "sm_90/mma.m16n8k8.f64.f64.f64.f64", LB_F64, LB_F64, OP_B, 32, 4, 2, k8_tf32_b},
    {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_F32, OP_A, 32, 4, 8, k16_f16_a},
    {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_F32, OP_B, 32, 2, 4, k16_f16_b},
    {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_F32, OP_C, 32, 4, 4, m16_c},
    {__LINE__, "sm_80/mma.m16n8k16.f16.f16.f16.f16", LB_F16, LB_F16, OP_D, 32, 2, 4, m16_c},
    {__LINE__, "sm_90/mma.m16n8k16.f64.f64.f64.f64", LB_F64, LB_F64, OP_A, 32, 16, 8, k16_f64_a},
    {__LINE__, "sm_90/mma.m16n8k16.f64.f64.f64.f64", LB_F64, LB_F64, OP_B, 32, 8, 4, k16_f64_b},
    {__LINE__, "sm_80/mma.m16n8k16.i32.i8.i8.i32", LB_I8, LB_F32, OP_A, 32, 2, 8, k16_i8_a},
    {__LINE__, "sm_89/mma.m16n8k16.f32.e4m3.e4m3.f32", LB_E4M3, LB_F32, OP_B, 32, 1, 4, k16_i8_b},
    {__LINE__, "sm_80/mma.m16n8k32.i32.i4.i4.i32", LB_I4, LB_F32, OP_A, 32, 2, 16, k32_i4_a},
    {__LINE__, "sm_80/mma.m16n8k32.i32.i4.i4.i32", LB_I4, LB_F32, OP_B, 32, 1, 8, k32_i4_b},
    {__LINE__, "sm_80/mma.m16n8k32.i32.u8.u8.i32", LB_U8, LB_F32, OP_A, 32, 4, 16, k32_i8_a},
    {__LINE__, "sm_89/mma.m16n8k32.f32.e5m2.e5m2.f32", LB_E5M2, LB_F32, OP_B, 32, 2, 8, k32_i8_b},
    {__LINE__, "sm_89/mma.m16n8k32.f16.e5m2.e5m2.f16", LB_E5M2, LB_F16, OP_D, 32, 2, 4, m16_c},
    {__LINE__, "sm_120/mma.m16n8k32.f32.e2m1.e2m1.f32", LB_E2M1, LB_F32, OP_A, 32, 4, 16, k32_i8_a},
    {__LINE__, "sm_120/mma.m16n8k32.f32.e3m2.e3m2.f32", LB_E3M2, LB_F32, OP_B, 32, 2, 8, k32_i8_b},
    {__LINE__, "sm_80/mma.m16n8k64.i32.i4.i4.i32", LB_I4, LB_F32, OP_A, 32, 4, 32, k64_i4_a},
    {__LINE__, "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3", LB_E2M1, LB_F32, OP_A, 32, 4, 32, k64_i4_a},
    {__LINE__, "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0", LB_E2M1, LB_F32, OP_B, 32, 2, 16, k64_i4_b},
    {__LINE__, "sm_80/mma.m16n8k128.i32.b1.b1.i32.and", LB_B1, LB_F32, OP_A, 32, 2, 64, k128_a},
    {__LINE__, "sm_80/mma.m16n8k128.i32.b1.b1.i32.and", LB_B1, LB_F32, OP_B, 32, 1, 32, k128_b},
    {__LINE__, "sm_80/mma.m16n8k256.i32.b1.b1.i32.xor", LB_B1, LB_F32, OP_A, 32, 4, 128, k256_a},
    {__LINE__, "sm_80/mma.m16n8k256.i32.b1.b1.i32.xor", LB_B1, LB_F32, OP_B, 32, 2, 64, k256_b},
    {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32.sp", LB_F16, LB_F32, OP_A, 32, 2, 4, k8_f16_a},
    {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32.sp", LB_F16, LB_F32, OP_B, 32, 2, 4, k16_f16_b},
    {__LINE__, "sm_80/mma.m16n8k32.f32.f16.f16.f32.sp", LB_F16, LB_F32, OP_A, 32, 4, 8, k16_f16_a},
    {__LINE__, "sm_80/mma.m16n8k32.f32.f16.f16.f32.sp", LB_F16, LB_F32, OP_B, 32, 4, 8, sp_k32_f16_b},
    {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32.sp", LB_TF32, LB_F32, OP_A, 32, 2, 2, k4_a},
    {__LINE__, "sm_80/mma.m16n8k16.f32.tf32.tf32.f32.sp", LB_TF32, LB_F32, OP_A, 32, 4, 4, k8_tf32_a},
    {__LINE__, "sm_80/mma.m16n8k16.f32.tf32.tf32.f32.sp", LB_TF32, LB_F32, OP_B, 32, 4, 4, sp_k16_tf32_b},
    {__LINE__, "sm_80/mma.m16n8k32.i32.i8.i8.i32.sp", LB_I8, LB_F32, OP_A, 32, 2, 8, k16_i8_a},
    {__LINE__, "sm_80/mma.m16n8k32.i32.i8.i8.i32.sp", LB_I8, LB_F32, OP_B, 32, 2, 8, k32_i8_b},
    {__LINE__, "sm_80/mma.m16n8k64.i32.i8.i8.i32.sp", LB_I8, LB_F32, OP_A, 32, 4, 16, k32_i8_a},
    {__LINE__, "sm_89/mma.m16n8k64.f32.e4m3.e4m3.f32.sp", LB_E4M3, LB_F32, OP_B, 32, 4, 16, sp_k64_i8_b},
    {__LINE__, "sm_90/wgmma.m64n8k16.f32.f16.f16", LB_F16, LB_F32, OP_D, 128, 4, 4, wgmma_d},
    {__LINE__, "sm_90/wgmma.m64n256k16.f32.f16.f16", LB_F16, LB_F32, OP_D, 128, 128, 128, wgmma_d},
    {__LINE__, "sm_90/wgmma.m64n24k32.f16.e4m3.e4m3", LB_E4M3, LB_F16, OP_D, 128, 6, 12, wgmma_d},
    {__LINE__, "sm_90/wgmma.m64n16k16.f32.bf16.bf16", LB_BF16, LB_F32, OP_A, 128, 4, 8, wgmma_a16},
    {__LINE__, "sm_90/wgmma.m64n16k32.f32.e4m3.e4m3", LB_E4M3, LB_F32, OP_A, 128, 4, 16, wgmma_a8},
    {__LINE__, "sm_90/wgmma.m64n16k8.f32.tf32.tf32", LB_TF32, LB_F32, OP_A, 128, 4, 4, wgmma_a32},
};

static void layouts_are_those_of_the_documents_formulas(void **state) {
    (void)state;
    for (size_t row = 0; row < sizeof stated / sizeof stated[0]; row++) {
        const struct stated *s = &stated[row];
        const lb_unit u = unit_of(s->unit, s->in, s->out);
        const lb_fragment f = layout_of(s->line, &u, (lb_fragment_operand)s->operand, NULL);
        EXPECT_CODE(s->line, f.lanes, s->lanes);
        EXPECT_CODE(s->line, f.registers, s->registers);
        EXPECT_CODE(s->line, f.items, s->items);
        for (int lane = 0; lane < s->lanes; lane++) {
            for (int i = 0; i < s->items; i++) {
                const lb_place want = s->place(lane, i);
                const lb_slot slot = slot_of(&f, lane, i);
                lb_place got;
                assert_true(lb_fragment_place(&f, slot, &got));
                if (got.matrix != want.matrix || got.row != want.row || got.col != want.col)
                    fail_msg("row at %s:%d: lane %d, element %d: got %d [%d,%d], want %d [%d,%d]", __FILE__, s->line, lane, i, got.matrix,
                             got.row, got.col, want.matrix, want.row, want.col);
            }
        }
    }
}

/* ---- metadata and scales ---------------------------------------------------------------------------------------------- */

static void expect_place(int line, const lb_fragment *f, lb_slot slot, int row, int col) {
    lb_place got = {-1, -1, -1};
    const bool held = lb_fragment_place(f, slot, &got);
    if (held != (row >= 0) || (held && (got.row != row || got.col != col)))
        fail_msg("row at %s:%d: lane %d, element %d: %s [%d,%d], want [%d,%d]", __FILE__, line, slot.lane, slot.element,
                 held ? "got" : "nothing", got.row, got.col, row, col);
}

/* 9.7.14.6.1: one thread of a quad, or a pair of them, or all four; low half row g, high half row g+8. For k = 32 in 16 bits: LLVM's
 * mma.sp kernel loads the low half from [quad, pair] and the high one from [quad + 8, pair] of a [16][2] matrix of 16-bit groups.
 * For k = 64 in 8 bits: CUTLASS's ELayout: bit 0 of the lane 8 rows, bit 1 half of k, then the row. */
static void metadata_lies_where_the_selector_says(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit;
        lb_format_id in;
        int bits, threads;
    } rows[] = {
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32.sp", LB_F16, 2, 1},
        {__LINE__, "sm_80/mma.m16n8k32.f32.bf16.bf16.f32.sp", LB_BF16, 2, 2},
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32.sp", LB_TF32, 4, 1},
        {__LINE__, "sm_80/mma.m16n8k16.f32.tf32.tf32.f32.sp", LB_TF32, 4, 2},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const lb_unit u = unit_of(rows[r].unit, rows[r].in, LB_F32);
        const int each = 16 / rows[r].bits; /* elements of a row in a thread */
        for (int selector = 0; selector < 4 / rows[r].threads; selector++) {
            const lb_fragment f = layout_of(rows[r].line, &u, LB_FRAGMENT_METADATA, &(lb_fragment_selectors){.sparsity = selector});
            EXPECT_CODE(rows[r].line, f.bits, rows[r].bits);
            EXPECT_CODE(rows[r].line, f.registers, 1);
            for (int lane = 0; lane < 32; lane++) {
                const int in_quad = lane % 4, first = selector * rows[r].threads;
                const bool chosen = in_quad >= first && in_quad < first + rows[r].threads;
                for (int i = 0; i < 2 * each; i++)
                    expect_place(rows[r].line, &f, (lb_slot){lane, 0, i}, chosen ? lane / 4 + (i < each ? 0 : 8) : -1,
                                 (in_quad - first) * each + i % each);
            }
        }
    }
    const lb_unit u = unit_of("sm_80/mma.m16n8k64.i32.i8.i8.i32.sp", LB_I8, LB_F32);
    const lb_fragment f = layout_of(__LINE__, &u, LB_FRAGMENT_METADATA, NULL);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 16; i++)
            expect_place(__LINE__, &f, (lb_slot){lane, 0, i}, lane / 4 + (lane & 1 ? 8 : 0), (lane & 2 ? 16 : 0) + i);
}

/* 9.7.14.3: SF_A from the threads with laneid % 4 in {0, 1} or {2, 3}, SF_B from that with laneid % 4 == thread-id-b; one byte, the lower
 * or the upper two, all four. Rows: CUTLASS's SFALayout for sm_120, ((2,2,8)) : ((8,0,1)) for lanes. */
static void scales_lie_where_the_selectors_say(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit;
        lb_format_id in;
        int count, step; /* of byte ids */
    } rows[] = {
        {__LINE__, "sm_120/mma.m16n8k32.f32.e4m3.e4m3.f32.mxf8f6f4.ue8m0", LB_E4M3, 1, 1},
        {__LINE__, "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0", LB_E2M1, 2, 2},
        {__LINE__, "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue8m0", LB_E2M1, 2, 2},
        {__LINE__, "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3", LB_E2M1, 4, 4},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const lb_unit u = unit_of(rows[r].unit, rows[r].in, LB_F32);
        for (int byte = 0; byte < 4; byte += rows[r].step) {
            for (int thread = 0; thread < 4; thread++) {
                const lb_fragment_selectors s = {.byte_id_a = byte, .byte_id_b = byte, .thread_id_a = thread / 2, .thread_id_b = thread};
                const lb_fragment a = layout_of(rows[r].line, &u, LB_FRAGMENT_SCALE_A, &s);
                const lb_fragment b = layout_of(rows[r].line, &u, LB_FRAGMENT_SCALE_B, &s);
                EXPECT_STRING(rows[r].line, a.format->name, strstr(rows[r].unit, "ue4m3") ? "ue4m3" : "e8m0");
                for (int lane = 0; lane < 32; lane++) {
                    for (int i = 0; i < 4; i++) {
                        const bool in = i >= byte && i < byte + rows[r].count;
                        const bool pair = lane % 4 / 2 == thread / 2, one = lane % 4 == thread;
                        expect_place(rows[r].line, &a, (lb_slot){lane, 0, i}, in && pair ? lane / 4 + (lane & 1 ? 8 : 0) : -1, i - byte);
                        expect_place(rows[r].line, &b, (lb_slot){lane, 0, i}, in && one ? i - byte : -1, lane / 4);
                    }
                }
            }
        }
    }
}

static void selectors_out_of_range_are_refused(void **state) {
    (void)state;
    const lb_unit sparse = unit_of("sm_80/mma.m16n8k32.f32.f16.f16.f32.sp", LB_F16, LB_F32);
    const lb_unit scaled = unit_of("sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0", LB_E2M1, LB_F32);
    const lb_unit eight = unit_of("sm_80/mma.m16n8k64.i32.i8.i8.i32.sp", LB_I8, LB_F32);
    const struct {
        int line;
        const lb_unit *u;
        lb_fragment_operand operand;
        lb_fragment_selectors s;
        const char *says;
    } rows[] = {
        {__LINE__, &sparse, LB_FRAGMENT_METADATA, {.sparsity = 2}, "the sparsity selector 2: it is 0 to 1 here"},
        {__LINE__, &sparse, LB_FRAGMENT_METADATA, {.sparsity = -1}, "the sparsity selector -1: it is 0 to 1 here"},
        {__LINE__, &eight, LB_FRAGMENT_METADATA, {.sparsity = 1}, "the sparsity selector 1: it is 0 here"},
        {__LINE__, &scaled, LB_FRAGMENT_SCALE_A, {.byte_id_a = 1}, "byte-id-a 1: it is 0 or 2 here"},
        {__LINE__, &scaled, LB_FRAGMENT_SCALE_A, {.thread_id_a = 2}, "thread-id-a 2: it is 0 to 1 here"},
        {__LINE__, &scaled, LB_FRAGMENT_SCALE_B, {.byte_id_b = 4}, "byte-id-b 4: it is 0 or 2 here"},
        {__LINE__, &scaled, LB_FRAGMENT_SCALE_B, {.thread_id_b = 4}, "thread-id-b 4: it is 0 to 3 here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_fragment f;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_fragment_of(rows[i].u, rows[i].operand, &rows[i].s, &f, &err), LB_E_ARG);
        EXPECT_STRING(rows[i].line, err.message, rows[i].says);
    }
}

/* ---- what is not held ------------------------------------------------------------------------------------------------------ */

static void what_has_no_layout_says_why_in_a_line(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit;
        lb_format_id in;
        lb_fragment_operand operand;
        lb_status status;
        const char *says;
    } rows[] = {
        {__LINE__, "sm_90/wgmma.m64n8k16.f32.f16.f16", LB_F16, LB_FRAGMENT_B, LB_E_UNAVAILABLE, "B lies in shared memory"},
        {__LINE__, "sm_100/tcgen05.m128n8k16.f32.f16.f16", LB_F16, LB_FRAGMENT_C, LB_E_UNAVAILABLE,
         "operand c: C and D lie in tensor memory"},
        {__LINE__, "sm_80/mma.m16n8k32.i32.i8.i8.i32.sp", LB_I8, LB_FRAGMENT_METADATA, LB_E_UNAVAILABLE, "only as a figure"},
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_METADATA, LB_E_ARG, "it takes no metadata: its A is dense"},
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_SCALE_B, LB_E_ARG, "it takes no scales"},
        {__LINE__, "sm_80/mma.m16n8k24.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_A, LB_E_UNAVAILABLE, "no layout is known"},
        {__LINE__, "x86/tile.m16n8k16.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_D, LB_E_UNAVAILABLE, "no layout is known"},
        {__LINE__, "sm_80/mmab.m16n8k16.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_A, LB_E_UNAVAILABLE, "no layout is known"},
        {__LINE__, "mine.m16n8k16", LB_F16, LB_FRAGMENT_A, LB_E_UNAVAILABLE, "no layout is known"},
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_OPERAND_COUNT, LB_E_ARG, "no operand 7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_unit u = unit_of(rows[i].unit, rows[i].in, LB_F32);
        lb_fragment f;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_fragment_of(&u, rows[i].operand, NULL, &f, &err), rows[i].status);
        EXPECT_STRING(rows[i].line, err.place, u.name);
        if (!strstr(err.message, rows[i].says)) fail_msg("row at %s:%d: it says \"%s\"", __FILE__, rows[i].line, err.message);
    }
}

/* ---- every row ------------------------------------------------------------------------------------------------------------- */

static lb_format_id format_of_bits(int bits) {
    switch (bits) {
    case 1: return LB_B1;
    case 4: return LB_I4;
    case 8: return LB_I8;
    case 16: return LB_BF16;
    case 64: return LB_F64;
    default: return LB_F32;
    }
}

/* A unit that a row should serve, by what the row asks for. */
static lb_unit unit_of_row(const lb_fragment_row *r) {
    static const char *const kinds[] = {"", ".mxf8f6f4.ue8m0", ".mxf4.ue8m0", "", ".mxf4nvf4.ue4m3"};
    const bool scale = r->operand == LB_FRAGMENT_SCALE_A || r->operand == LB_FRAGMENT_SCALE_B;
    const int k = r->k ? r->k : scale && r->own_bits > 1 ? 64 : 32;
    char name[96];
    snprintf(name, sizeof name, "%s/%s.m%dn%dk%d.f32%s%s%s%s", strncmp(r->only, "gfx", 3) == 0 ? r->only : "any", r->instr, r->m,
             r->n ? r->n : 40, k, *r->only ? "." : "", r->only, scale ? kinds[r->own_bits] : "",
             r->operand == LB_FRAGMENT_METADATA ? ".sp" : "");
    const lb_format_id in = format_of_bits(r->in_bits ? r->in_bits : 8);
    return unit_of(name, in, r->operand == LB_FRAGMENT_D && r->own_bits ? format_of_bits(r->own_bits) : LB_F32);
}

/* Every element lies in one slot, every slot that holds one is its, and both maps agree. */
static void expect_bijection(const char *what, const lb_fragment *f) {
    int held = 0;
    for (int lane = 0; lane < f->lanes; lane++) {
        for (int reg = 0; reg < f->registers; reg++) {
            for (int e = 0; e < (f->bits < 32 ? 32 / f->bits : 1); e++) {
                const lb_slot slot = {lane, reg, e};
                lb_place place;
                lb_slot back;
                if (!lb_fragment_place(f, slot, &place)) continue;
                held++;
                if (!lb_fragment_slot(f, place, &back) || back.lane != lane || back.reg != reg || back.element != e)
                    fail_msg("%s: lane %d register %d element %d holds %d [%d,%d], which lies elsewhere", what, lane, reg, e, place.matrix,
                             place.row, place.col);
            }
        }
    }
    if (held != f->matrices * f->rows * f->cols) fail_msg("%s: %d slots for %d x %d x %d", what, held, f->matrices, f->rows, f->cols);
    for (int matrix = 0; matrix < f->matrices; matrix++) {
        for (int r = 0; r < f->rows; r++) {
            for (int c = 0; c < f->cols; c++) {
                lb_slot slot;
                lb_place back;
                if (!lb_fragment_slot(f, (lb_place){matrix, r, c}, &slot) || !lb_fragment_place(f, slot, &back) || back.matrix != matrix ||
                    back.row != r || back.col != c)
                    fail_msg("%s: %d [%d,%d] does not come back", what, matrix, r, c);
            }
        }
    }
}

static bool same_digits(const lb_digit *row, const lb_digit *layout) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        const bool free_or_unused = row[i].size == 0;
        if (!free_or_unused && (row[i].size != layout[i].size || row[i].axis != layout[i].axis)) return false;
        if (row[i].axis != LB_AXIS_CHOSEN && row[i].step != layout[i].step) return false;
    }
    return true;
}

static void every_row_is_a_bijection_and_serves_a_unit(void **state) {
    (void)state;
    size_t count = 0;
    for (const lb_fragment_row *r; (r = lb_fragment_row_at(count)); count++) {
        const lb_unit u = unit_of_row(r);
        const lb_fragment f = layout_of(__LINE__, &u, r->operand, NULL);
        char what[256];
        snprintf(what, sizeof what, "row %zu, %s %s", count, u.name, lb_fragment_operand_name(r->operand));
        if (!same_digits(r->lane, f.lane) || !same_digits(r->item, f.item)) fail_msg("%s: an earlier row serves it", what);
        if (!*r->source || !*r->note || r->evidence == LB_EVIDENCE_OPEN) fail_msg("%s: no source", what);
        expect_bijection(what, &f);
    }
    assert_true(count > 100);
}

static void every_unit_has_bijections_or_says_why_not(void **state) {
    (void)state;
    size_t known = 0;
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        for (int operand = 0; operand < LB_FRAGMENT_OPERAND_COUNT; operand++) {
            lb_fragment f;
            lb_error err = {0};
            const lb_status s = lb_fragment_of(u, (lb_fragment_operand)operand, NULL, &f, &err);
            if (s != LB_OK) {
                assert_true(s == LB_E_UNAVAILABLE || s == LB_E_ARG);
                assert_true(*err.message);
                continue;
            }
            known++;
            expect_bijection(u->name, &f);
        }
        const bool instr_has_registers = strstr(u->name, "/mma.") || strstr(u->name, "/mfma.");
        lb_fragment f;
        for (int operand = 0; instr_has_registers && operand <= LB_FRAGMENT_D; operand++)
            if (lb_fragment_of(u, (lb_fragment_operand)operand, NULL, &f, NULL) != LB_OK) fail_msg("%s: no layout", u->name);
    }
    assert_true(known > 200);
}

static void slots_and_places_out_of_range_hold_nothing(void **state) {
    (void)state;
    const lb_unit u = unit_of("sm_90/mma.m16n8k16.f64.f64.f64.f64", LB_F64, LB_F64);
    const lb_fragment f = layout_of(__LINE__, &u, LB_FRAGMENT_A, NULL);
    static const lb_slot slots[] = {{-1, 0, 0}, {32, 0, 0}, {0, -2, 0}, {0, 16, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};
    static const lb_place places[] = {{-1, 0, 0}, {1, 0, 0}, {0, 16, 0}, {0, -1, 0}, {0, 0, 16}, {0, 0, -1}};
    lb_place place;
    lb_slot slot;
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) assert_false(lb_fragment_place(&f, slots[i], &place));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) assert_false(lb_fragment_slot(&f, places[i], &slot));
    assert_null(lb_fragment_row_at(SIZE_MAX));
    assert_string_equal(lb_fragment_operand_name(LB_FRAGMENT_SCALE_B), "scale-b");
    assert_string_equal(lb_fragment_operand_name(LB_FRAGMENT_OPERAND_COUNT), "?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_those_of_the_documents_formulas), cmocka_unit_test(metadata_lies_where_the_selector_says),
        cmocka_unit_test(scales_lie_where_the_selectors_say),          cmocka_unit_test(selectors_out_of_range_are_refused),
        cmocka_unit_test(what_has_no_layout_says_why_in_a_line),       cmocka_unit_test(every_row_is_a_bijection_and_serves_a_unit),
        cmocka_unit_test(every_unit_has_bijections_or_says_why_not),   cmocka_unit_test(slots_and_places_out_of_range_hold_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
