/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A warp's instruction with metadata (mma.sp) and with block scales, in the lanes and bytes that its selectors say. */
#include "fragments_help.h"

enum { LANES = 32, MAX_REGISTERS = 8, MAX_CODES = 64 * 64 };

static lb_unit find(const char *name) {
    lb_unit u = {0};
    lb_error err = {0};
    if (lb_unit_find(name, &u, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return u;
}

/* mma.sp m16n8k32: row 9 of A keeps 1 at k = 6, the second element of its group of k 4 to 7; B [6][2] = 2; D [9][2] = 2.
 * A [9][3] compressed: lane 4*1 + 1, register 1, high half. Metadata of row 9: T0 of the quad (selector 0) or T2 (selector 1), high half,
 * bits 20 to 23 for its group 1: 10 00, places 0 and 2; all others 01 00. B [6][2]: lane 4*2 + 3, register 0, low half.
 * D [9][2]: lane 4*1 + 1, register 2. */
static void a_kept_element_goes_to_the_k_that_metadata_says(void **state) {
    (void)state;
    const lb_unit u = find("sm_80/mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32");
    for (int selector = 0; selector < 2; selector++) {
        uint32_t a[LANES][4] = {0}, b[LANES][4] = {0}, meta[LANES], d[LANES][4];
        for (int lane = 0; lane < LANES; lane++) meta[lane] = lane % 4 / 2 == selector ? 0x44444444 : 0xffffffff; /* others: no places */
        a[5][1] = 0x3c000000;
        meta[4 + 2 * selector] = 0x44844444;
        b[11][0] = 0x4000;
        const lb_warp_options o = {.metadata = meta, .selectors = {.sparsity = selector}};
        assert_int_equal(lb_warp_mma(&u, a[0], b[0], NULL, d[0], &o, NULL), LB_OK);
        for (int lane = 0; lane < LANES; lane++)
            for (int r = 0; r < 4; r++) EXPECT_CODE(__LINE__, d[lane][r], lane == 5 && r == 2 ? 0x40000000 : 0);
    }
}

/* block_scale m16n8k32: A [1][0] = B [0][2] = 1; the scale of row 1 is 2, of column 2 it is 4, all others 1; D [1][2] = 8.
 * A: lane 4*1, register 0, byte 0. B: lane 4*2, register 0, byte 0. Row 1 under thread-id-a 1, byte-id-a 2: lane 4*1 + 2, byte 2.
 * Column 2 under thread-id-b 3, byte-id-b 1: lane 4*2 + 3, byte 1. D: lane 4*1 + 1, register 0. */
static void a_scale_comes_from_the_lane_and_byte_that_are_selected(void **state) {
    (void)state;
    const lb_unit u = find("sm_120a/mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0");
    uint32_t a[LANES][4] = {0}, b[LANES][2] = {0}, sa[LANES], sb[LANES], d[LANES][4];
    for (int lane = 0; lane < LANES; lane++) { /* 1 where it is looked for, 2^60 elsewhere */
        sa[lane] = lane % 4 / 2 == 1 ? 0xbb7fbbbb : 0xbbbbbbbb;
        sb[lane] = lane % 4 == 3 ? 0xbbbb7fbb : 0xbbbbbbbb;
    }
    a[4][0] = 0x38;
    b[8][0] = 0x38;
    sa[6] = 0xbb80bbbb;
    sb[11] = 0xbbbb81bb;
    const lb_warp_options o = {
        .scale_a = sa, .scale_b = sb, .selectors = {.byte_id_a = 2, .thread_id_a = 1, .byte_id_b = 1, .thread_id_b = 3}};
    assert_int_equal(lb_warp_mma(&u, a[0], b[0], NULL, d[0], &o, NULL), LB_OK);
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < 4; r++) EXPECT_CODE(__LINE__, d[lane][r], lane == 5 && r == 0 ? 0x41000000 : 0);
}

/* ---- every unit, seeded ------------------------------------------------------------------------------------------------- */

static uint64_t drawn(int operand, size_t i) {
    return lb_random_u64(29, (uint32_t)operand, i);
}

/* Codes of an operand: small values, places of a group, scales near 1. */
static uint64_t draw(const lb_unit *u, const lb_fragment *f, size_t r, size_t c) {
    static const uint8_t places[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const size_t at = r * (size_t)f->cols + c;
    switch (f->operand) {
    case LB_FRAGMENT_METADATA: return u->sparse_group == 2 ? drawn(4, at) % 2 : places[drawn(4, at / 2) % 6][c % 2];
    case LB_FRAGMENT_SCALE_A:
    case LB_FRAGMENT_SCALE_B: return u->scale == LB_UE4M3 ? 0x30 + drawn(f->operand, at) % 16 : 120 + drawn(f->operand, at) % 16;
    default: return lb_from_double(f->format, ((double)(drawn(f->operand, at) % 31) - 15) / 8);
    }
}

static lb_mat draw_matrix(const lb_unit *u, const lb_fragment *f, uint64_t *codes) {
    lb_mat m = lb_mat_of(f->format, codes, (size_t)f->rows, (size_t)f->cols);
    for (size_t r = 0; r < m.rows; r++)
        for (size_t c = 0; c < m.cols; c++) lb_store_code(lb_mat_at(&m, r, c), f->format->bytes, draw(u, f, r, c));
    return m;
}

/* Each operand a matrix, put into registers full of noise; the warp against lb_unit_mma_with on the matrices. */
static void expect_warp(const lb_unit *u, const lb_fragment_selectors *s) {
    static uint64_t codes[LB_FRAGMENT_OPERAND_COUNT][MAX_CODES];
    static uint32_t regs[LB_FRAGMENT_OPERAND_COUNT][LANES * MAX_REGISTERS];
    lb_fragment f[LB_FRAGMENT_OPERAND_COUNT];
    lb_mat m[LB_FRAGMENT_OPERAND_COUNT] = {{0}};
    bool has[LB_FRAGMENT_OPERAND_COUNT];
    lb_error err = {0};
    for (int i = 0; i < LB_FRAGMENT_OPERAND_COUNT; i++) {
        has[i] = lb_fragment_of(u, (lb_fragment_operand)i, s, &f[i], NULL) == LB_OK;
        for (size_t w = 0; w < LANES * MAX_REGISTERS; w++) regs[i][w] = (uint32_t)drawn(i + 16, w);
        if (!has[i]) continue;
        m[i] = draw_matrix(u, &f[i], codes[i]);
        assert_int_equal(lb_fragment_scatter(&f[i], 0, &m[i], regs[i], NULL), LB_OK);
    }
    const lb_unit_operands with = {has[LB_FRAGMENT_SCALE_A] ? &m[LB_FRAGMENT_SCALE_A] : NULL,
                                   has[LB_FRAGMENT_SCALE_B] ? &m[LB_FRAGMENT_SCALE_B] : NULL,
                                   has[LB_FRAGMENT_METADATA] ? &m[LB_FRAGMENT_METADATA] : NULL};
    lb_mat *d = &m[LB_FRAGMENT_D];
    if (lb_unit_mma_with(u, &m[LB_FRAGMENT_A], &m[LB_FRAGMENT_B], &m[LB_FRAGMENT_C], &with, d, &err) != LB_OK)
        fail_msg("%s: %s", u->name, err.message);
    const lb_warp_options o = {.metadata = with.metadata ? regs[LB_FRAGMENT_METADATA] : NULL,
                               .scale_a = with.scale_a ? regs[LB_FRAGMENT_SCALE_A] : NULL,
                               .scale_b = with.scale_b ? regs[LB_FRAGMENT_SCALE_B] : NULL,
                               .selectors = *s};
    if (lb_warp_mma(u, regs[0], regs[1], regs[2], regs[3], &o, &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
    lb_mat got = lb_mat_of(d->format, codes[0], d->rows, d->cols);
    assert_int_equal(lb_fragment_gather(&f[LB_FRAGMENT_D], regs[LB_FRAGMENT_D], 0, &got, NULL), LB_OK);
    for (size_t r = 0; r < d->rows; r++)
        for (size_t c = 0; c < d->cols; c++)
            if (lb_mat_code(&got, r, c) != lb_mat_code(d, r, c))
                fail_msg("%s: [%zu,%zu]: got 0x%llx, want 0x%llx", u->name, r, c, (unsigned long long)lb_mat_code(&got, r, c),
                         (unsigned long long)lb_mat_code(d, r, c));
}

static void every_sparse_and_scaled_unit_is_its_tile_in_registers(void **state) {
    (void)state;
    size_t sparse = 0, scaled = 0;
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        lb_fragment f;
        const lb_fragment_operand beside = u->sparse_group ? LB_FRAGMENT_METADATA : LB_FRAGMENT_SCALE_A;
        if ((!u->sparse_group && !u->scale_block) || u->path == LB_PATH_NONE || lb_fragment_of(u, beside, NULL, &f, NULL) != LB_OK)
            continue;
        for (int v = 0; v < 4; v++) {
            const lb_fragment_selectors s = {v, v, v % 2, 3 - v, v};
            if (lb_fragment_of(u, beside, &s, &f, NULL) != LB_OK) continue;
            if (u->scale_block && lb_fragment_of(u, LB_FRAGMENT_SCALE_B, &s, &f, NULL) != LB_OK) continue;
            expect_warp(u, &s);
        }
        expect_warp(u, &(lb_fragment_selectors){0});
        sparse += u->sparse_group != 0;
        scaled += u->scale_block != 0;
    }
    assert_true(sparse > 50 && scaled > 20);
}

static void what_beside_a_and_b_is_missing_or_too_much_is_refused(void **state) {
    (void)state;
    const lb_unit dense = find("sm_80/mma.m16n8k16.f32.f16.f16.f32"), sparse = find("sm_80/mma.m16n8k16.f32.f16.f16.f32.sp");
    const lb_unit scaled = find("sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3"),
                  figure = find("sm_80/mma.m16n8k32.i32.i8.i8.i32.sp");
    uint32_t words[LANES * 8] = {0}, d[LANES * 8];
    const struct {
        int line;
        const lb_unit *u;
        lb_warp_options o;
        lb_status status;
        const char *says;
    } rows[] = {
        {__LINE__, &dense, {.metadata = words}, LB_E_ARG, "it takes no metadata: its A is dense"},
        {__LINE__, &dense, {.scale_b = words}, LB_E_ARG, "it takes no scales"},
        {__LINE__, &sparse, {0}, LB_E_ARG, "operand meta has no registers"},
        {__LINE__, &sparse, {.metadata = words}, LB_E_ARG, "the places of a group ascend"}, /* zeros are places 0 and 0 */
        {__LINE__, &sparse, {.metadata = words, .selectors = {.sparsity = 4}}, LB_E_ARG, "it is 0 to 3 here"},
        {__LINE__, &scaled, {.scale_a = words}, LB_E_ARG, "operand scale-b has no registers"},
        {__LINE__, &scaled, {.scale_a = words, .scale_b = words, .selectors = {.byte_id_a = 2}}, LB_E_ARG, "byte-id-a 2: it is 0 here"},
        {__LINE__, &figure, {.metadata = words}, LB_E_UNAVAILABLE, "only as a figure"},
    };
    memset(d, 0xa5, sizeof d);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_warp_mma(rows[i].u, words, words, NULL, d, &rows[i].o, &err), rows[i].status);
        if (!strstr(err.message, rows[i].says)) fail_msg("row at %s:%d: it says \"%s\"", __FILE__, rows[i].line, err.message);
        for (size_t w = 0; w < sizeof d / sizeof d[0]; w++) EXPECT_CODE(rows[i].line, d[w], 0xa5a5a5a5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_element_goes_to_the_k_that_metadata_says),
        cmocka_unit_test(a_scale_comes_from_the_lane_and_byte_that_are_selected),
        cmocka_unit_test(every_sparse_and_scaled_unit_is_its_tile_in_registers),
        cmocka_unit_test(what_beside_a_and_b_is_missing_or_too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
