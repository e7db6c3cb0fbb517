/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Matrices of codes: rounded as told, converted by value or refused, blocks along rows. Strides are never whole rows here. */
#include "test.h"

#include "lastbit/formats.h"
#include "lastbit/refs.h"

enum { ROWS = 5, COLS = 37 };

/* A view with gaps: element (r, c) at 2 * (r * 3 * COLS + c). */
static lb_mat spread(const lb_format *f, void *codes) {
    lb_mat m = lb_mat_of(f, codes, ROWS, COLS);
    m.row_stride = 2 * 3 * COLS;
    m.col_stride = 2;
    return m;
}

static void each_element_is_encoded_as_told(void **state) {
    (void)state;
    static uint32_t in[ROWS * 6 * COLS];
    static uint8_t out[ROWS * 6 * COLS];
    const lb_format *f32 = lb_format_row(LB_F32), *e4m3 = lb_format_row(LB_E4M3);
    const lb_encoding how = {.rounding = LB_RU, .overflow = LB_OVERFLOW_SATURATE, .flush = LB_FLUSH_KEEP_SIGN};
    lb_mat from = spread(f32, in), to = spread(e4m3, out);
    lb_draw_mat(&from, LB_DIST_SPECIAL, 3, 0);
    memset(out, 0x5a, sizeof out);
    unsigned flags = 0, want = 0;
    assert_int_equal(lb_mat_encode(&from, &to, &how, NULL, &flags, NULL), LB_OK);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < COLS; c++) {
            EXPECT_CODE(__LINE__, lb_mat_code(&to, r, c), lb_encode(e4m3, lb_decode(f32, lb_mat_code(&from, r, c)), &how, &want));
            EXPECT_CODE(__LINE__, out[2 * (r * 3 * COLS + c) + 1], 0x5a); /* the gaps stay */
        }
    }
    assert_int_equal(flags, want);
    assert_true(flags & LB_OVERFLOWED);
}

static void each_element_has_a_draw_of_its_own(void **state) {
    (void)state;
    const uint32_t in[4] = {0x3f808000, 0x3f808000, 0x3f808000, 0x3f808000}; /* half way between two bf16: up iff R >= 2^31 */
    const uint32_t draws[4] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
    const uint16_t want[4] = {0x3f80, 0x3f80, 0x3f81, 0x3f81};
    uint16_t out[4];
    const lb_encoding how = {.rounding = LB_SR, .random_bits = 32};
    lb_mat from = lb_mat_of(lb_format_row(LB_F32), in, 2, 2), to = lb_mat_of(lb_format_row(LB_BF16), out, 2, 2);
    assert_int_equal(lb_mat_encode(&from, &to, &how, draws, NULL, NULL), LB_OK);
    for (int i = 0; i < 4; i++) EXPECT_CODE(__LINE__ + i, out[i], want[i]);
}

static void shapes_and_random_bits_are_checked_before_anything_is_written(void **state) {
    (void)state;
    uint16_t in[4] = {0}, out[4] = {7, 7, 7, 7};
    const lb_format *f16 = lb_format_row(LB_F16);
    lb_mat from = lb_mat_of(f16, in, 2, 2), to = lb_mat_of(f16, out, 1, 4);
    const lb_encoding sr = {.rounding = LB_SR};
    lb_error err;
    assert_int_equal(lb_mat_encode(&from, &to, NULL, NULL, NULL, &err), LB_E_SHAPE);
    assert_string_equal(err.message, "2x2 elements into 1x4");
    assert_int_equal(lb_mat_convert(&from, &to, "A", &err), LB_E_SHAPE);
    assert_int_equal(lb_mat_encode(&from, &from, &sr, NULL, NULL, &err), LB_E_ARG);
    assert_int_equal(out[0], 7);
}

static void values_are_kept_or_refused_with_their_place(void **state) {
    (void)state;
    uint32_t in[6] = {0x3f800000, 0x80000000, 0x7f800000, 0x7fc12345, 0x00010000, 0x3f8a0000}; /* 1, -0, inf, NaN, subnormal, 1.078125 */
    const uint16_t want[6] = {0x3f80, 0x8000, 0x7f80, 0x7fc0, 0x0001, 0x3f8a};
    uint16_t out[6];
    lb_mat from = lb_mat_of(lb_format_row(LB_F32), in, 2, 3), to = lb_mat_of(lb_format_row(LB_BF16), out, 2, 3);
    lb_error err;
    assert_int_equal(lb_mat_convert(&from, &to, "A", &err), LB_OK);
    for (int i = 0; i < 6; i++) EXPECT_CODE(__LINE__ + i, out[i], want[i]);
    in[5] |= 1;
    assert_int_equal(lb_mat_convert(&from, &to, "A", &err), LB_E_FORMAT);
    assert_string_equal(err.place, "A");
    assert_non_null(strstr(err.message, "element [1,2] is 1.0781251"));
}

static void codes_have_only_the_bits_of_their_format(void **state) {
    (void)state;
    const uint8_t codes[4] = {0x0f, 0x00, 0x07, 0x10};
    lb_mat m = lb_mat_of(lb_format_row(LB_E2M1), codes, 2, 2);
    lb_error err;
    assert_int_equal(lb_mat_check(&m, "x", &err), LB_E_FORMAT);
    assert_string_equal(err.message, "element [1,1] is 0x10: a code of e2m1 has 4 bits");
    m.cols = 1;
    assert_int_equal(lb_mat_check(&m, "x", &err), LB_OK);
}

static void blocks_along_rows_are_the_blocks_one_by_one(void **state) {
    (void)state;
    enum { PER_ROW = 3 }; /* 16 + 16 + 5 */
    const lb_block_format *f = lb_block_format_find("nvfp4");
    double x[ROWS * COLS], back[ROWS * COLS];
    uint8_t codes[ROWS * COLS], scales[ROWS * PER_ROW], want[16], scale;
    for (int i = 0; i < ROWS * COLS; i++) x[i] = (double)(int64_t)lb_random_u64(1, 0, (uint64_t)i) * 0x1p-60;
    assert_int_equal(lb_block_encode_rows(f, f->rule, x, ROWS, COLS, NULL, codes, scales, NULL), LB_OK);
    lb_block_decode_rows(f, codes, scales, ROWS, COLS, back);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t b = 0; b < PER_ROW; b++) {
            const size_t at = r * COLS + b * 16, count = b == 2 ? 5 : 16;
            assert_int_equal(lb_block_encode(f, f->rule, x + at, count, NULL, want, &scale, NULL), LB_OK);
            EXPECT_CODE(__LINE__, scales[r * PER_ROW + b], scale);
            assert_memory_equal(codes + at, want, count);
            for (size_t i = 0; i < count; i++) assert_true(back[at + i] == lb_block_decode(f, want[i], scale));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_is_encoded_as_told),
        cmocka_unit_test(each_element_has_a_draw_of_its_own),
        cmocka_unit_test(shapes_and_random_bits_are_checked_before_anything_is_written),
        cmocka_unit_test(values_are_kept_or_refused_with_their_place),
        cmocka_unit_test(codes_have_only_the_bits_of_their_format),
        cmocka_unit_test(blocks_along_rows_are_the_blocks_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
