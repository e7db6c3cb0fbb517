/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operands: which tensors are taken as codes, which are converted, and which are refused with the element. */
#include "io_image.h"

#define F(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

static const float plain[2] = {1.5f, -0.0f}, odd[2] = {1.0f, 0.3f};
static const uint32_t infinity_and_nan[2] = {0x7f800000, 0x7fc00000};
static const uint32_t least_and_less[2] = {0x00010000, 0x00008000}; /* 2^-133, bf16's least, and its half */
static const uint32_t last_bit[2] = {0x3f800000, 0x3f800001};
static const float powers[2] = {1.0f, 2.0f};
static const double wide[2] = {1.0, 0x1p-1060}, narrow[2] = {1.0, 0x1p-149};
static const uint16_t f16_of_e5m2[2] = {0x0100, 0xfb00};
static const uint16_t half_codes[2] = {0x3fc0, 0x8000};
static const uint8_t byte_codes[2] = {0x7e, 0x0f};
static const uint64_t long_codes[2] = {0x3ff0000000000000, 1};
static const int8_t small_integers[2] = {1, -1};

static void tensors_are_taken_as_codes_or_by_value(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *dict;
        const void *data;
        size_t bytes;
        lb_format_id format;
        uint64_t want[2];
    } rows[] = {
        {__LINE__, F("<f4", "(2,)"), plain, 8, LB_F32, {0x3fc00000, 0x80000000}},
        {__LINE__, F("<f4", "(2,)"), plain, 8, LB_BF16, {0x3fc0, 0x8000}},
        {__LINE__, F("<f4", "(2,)"), plain, 8, LB_F16, {0x3e00, 0x8000}},
        {__LINE__, F("<f4", "(2,)"), plain, 8, LB_F64, {0x3ff8000000000000, 0x8000000000000000}},
        {__LINE__, F("<f4", "(2,)"), odd, 8, LB_TF32, {0x3f800000, 0x3e99999a}}, /* bit for bit, as the hardware takes it */
        {__LINE__, F("<f4", "(2,)"), infinity_and_nan, 8, LB_BF16, {0x7f80, 0x7fc0}},
        {__LINE__, F("<f8", "(2,)"), narrow, 16, LB_F32, {0x3f800000, 1}},
        {__LINE__, F("<f2", "(2,)"), f16_of_e5m2, 4, LB_E5M2, {0x01, 0xfb}},
        {__LINE__, F("<f4", "(2,)"), powers, 8, LB_E8M0, {0x7f, 0x80}},
        {__LINE__, F("<u2", "(2,)"), half_codes, 4, LB_BF16, {0x3fc0, 0x8000}},
        {__LINE__, F(">u2", "(2,)"), half_codes, 4, LB_BF16, {0xc03f, 0x0080}},
        {__LINE__, F("<V2", "(2,)"), half_codes, 4, LB_BF16, {0x3fc0, 0x8000}}, /* as ml_dtypes saves bf16 */
        {__LINE__, F("|V2", "(2,)"), half_codes, 4, LB_F16, {0x3fc0, 0x8000}},
        {__LINE__, F("|u1", "(2,)"), byte_codes, 2, LB_E4M3, {0x7e, 0x0f}},
        {__LINE__, F("|V1", "(2,)"), byte_codes, 2, LB_E4M3FNUZ, {0x7e, 0x0f}},
        {__LINE__, F("<f1", "(2,)"), byte_codes, 2, LB_E5M2, {0x7e, 0x0f}}, /* as ml_dtypes saves e5m2 */
        {__LINE__, F("<u4", "(2,)"), infinity_and_nan, 8, LB_F32, {0x7f800000, 0x7fc00000}},
        {__LINE__, F("<u8", "(2,)"), long_codes, 16, LB_F64, {0x3ff0000000000000, 1}},
        {__LINE__, F("|i1", "(2,)"), small_integers, 2, LB_I8, {0x01, 0xff}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_operand o;
        lb_error err = {0};
        const char *path = npy_file("f.npy", rows[i].dict, rows[i].data, rows[i].bytes);
        if (lb_operand_open(&o, path, lb_format_row(rows[i].format), NULL, &err) != LB_OK)
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        for (size_t c = 0; c < 2; c++) EXPECT_CODE(rows[i].line, lb_mat_code(&o.mat, 0, c), rows[i].want[c]);
        lb_operand_close(&o);
    }
}

static void what_a_format_cannot_hold_is_refused_with_the_element(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *dict;
        const void *data;
        size_t bytes;
        lb_format_id format;
        const char *part;
    } rows[] = {
        {__LINE__, F("<f4", "(1, 2)"), odd, 8, LB_BF16, "element [0,1] is 0.3"},
        {__LINE__, F("<f4", "(1, 2)"), odd, 8, LB_BF16, "(0x3e99999a): bf16 cannot hold it"},
        {__LINE__, F("<f4", "(2, 1)"), odd, 8, LB_F16, "element [1,0] is 0.3"},
        {__LINE__, F("<f4", "(2,)"), infinity_and_nan, 8, LB_E4M3, "element [0,0] is inf"},
        {__LINE__, F("<f4", "(1, 2)"), least_and_less, 8, LB_BF16, "element [0,1]"},
        {__LINE__, F("<f4", "(1, 2)"), last_bit, 8, LB_BF16, "element [0,1] is 1.00000012 (0x3f800001)"},
        {__LINE__, F("<f8", "(2,)"), wide, 16, LB_F32, "element [0,1]"},
        {__LINE__, F("<f4", "(2,)"), plain, 8, LB_E4M3FNUZ, "element [0,1] is -0"}, /* fnuz has no -0 */
        {__LINE__, F("|u1", "(2,)"), byte_codes, 2, LB_E2M1, "element [0,0] is 0x7e: a code of e2m1 has 4 bits"},
        {__LINE__, F("<u2", "(2,)"), half_codes, 4, LB_F32, "u16 elements are neither floats nor codes of f32"},
        {__LINE__, F("<V2", "(2,)"), half_codes, 4, LB_E4M3, "neither floats nor codes"},
        {__LINE__, F("<i2", "(2,)"), half_codes, 4, LB_BF16, "i16 elements are neither floats nor codes of bf16, which are unsigned"},
        {__LINE__, F("|b1", "(2,)"), small_integers, 2, LB_E4M3, "bool elements are neither"},
        {__LINE__, F("|i1", "(2,)"), small_integers, 2, LB_F32, "i8 elements are neither"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_operand o;
        lb_error err = {0};
        const char *path = npy_file("f.npy", rows[i].dict, rows[i].data, rows[i].bytes);
        if (lb_operand_open(&o, path, lb_format_row(rows[i].format), NULL, &err) != LB_E_FORMAT)
            fail_msg("row at %s:%d was taken", __FILE__, rows[i].line);
        if (!strstr(err.message, rows[i].part))
            fail_msg("row at %s:%d: \"%s\" says nothing of \"%s\"", __FILE__, rows[i].line, err.message, rows[i].part);
        EXPECT_STRING(rows[i].line, err.place, path);
    }
}

static void every_bf16_in_an_f32_file_comes_back_as_its_code(void **state) {
    (void)state;
    enum { COUNT = 1 << 16 };
    uint32_t *f32 = calloc(COUNT, sizeof *f32);
    for (uint32_t code = 0; code < COUNT; code++) f32[code] = code << 16;
    const lb_mat m = lb_mat_of(lb_format_row(LB_F32), f32, 256, 256);
    lb_operand o;
    lb_error err = {0};
    assert_int_equal(lb_mat_write(in_folder("all.npy"), "x", &m, &err), LB_OK);
    if (lb_operand_open(&o, in_folder("all.npy"), lb_format_row(LB_BF16), NULL, &err) != LB_OK) fail_msg("%s", err.message);
    for (uint32_t code = 0; code < COUNT; code++) {
        const bool nan = (code & 0x7fff) > 0x7f80;
        EXPECT_CODE(code, lb_mat_code(&o.mat, code / 256, code % 256), nan ? 0x7fc0 : code); /* NaN comes out canonical */
    }
    lb_operand_close(&o);
    free(f32);
}

static void shapes_fold_into_rows_of_the_last_dimension(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *dict;
        size_t bytes, rows, cols;
    } rows[] = {
        {__LINE__, F("<f4", "()"), 4, 1, 1},         {__LINE__, F("<f4", "(6,)"), 24, 1, 6},
        {__LINE__, F("<f4", "(2, 3)"), 24, 2, 3},    {__LINE__, F("<f4", "(2, 1, 3)"), 24, 2, 3},
        {__LINE__, F("<f4", "(2, 3, 4)"), 96, 6, 4}, {__LINE__, F("<f4", "(2, 1, 1, 1, 1, 1, 1, 3)"), 24, 2, 3},
        {__LINE__, F("<f4", "(0,)"), 0, 1, 0},       {__LINE__, F("<f4", "(0, 5)"), 0, 0, 5},
        {__LINE__, F("<f4", "(4, 0, 5)"), 0, 0, 5},
    };
    static const float zeros[24];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_operand o;
        lb_error err = {0};
        if (lb_operand_open(&o, npy_file("f.npy", rows[i].dict, zeros, rows[i].bytes), NULL, NULL, &err) != LB_OK)
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, o.mat.rows, rows[i].rows);
        EXPECT_CODE(rows[i].line, o.mat.cols, rows[i].cols);
        lb_operand_close(&o);
    }
}

/* ---- which tensor ------------------------------------------------------------------------------------------------------------ */

static const char *const two = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                               "\"b\":{\"dtype\":\"U16\",\"shape\":[1,2],\"data_offsets\":[8,12]}}";

static void a_tensor_is_named_where_there_are_several(void **state) {
    (void)state;
    const image several = safetensors_of(two, 12), none = safetensors_of("{}", 0);
    const char *path = file_of("two.safetensors", &several);
    char spec[300];
    lb_operand o;
    lb_error err = {0};
    assert_int_equal(lb_operand_open(&o, path, NULL, NULL, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "2 tensors: say which"));
    snprintf(spec, sizeof spec, "%s:b", path);
    assert_int_equal(lb_operand_open(&o, spec, NULL, NULL, &err), LB_E_FORMAT); /* codes of what? */
    assert_int_equal(lb_operand_open(&o, spec, lb_format_row(LB_F16), NULL, &err), LB_OK);
    EXPECT_CODE(__LINE__, lb_mat_code(&o.mat, 0, 1), 0x0b0a);
    lb_operand_close(&o);
    snprintf(spec, sizeof spec, "%s:bb", path);
    assert_int_equal(lb_operand_open(&o, spec, NULL, NULL, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "did you mean \"b\"?"));
    assert_int_equal(lb_operand_open(&o, file_of("none.safetensors", &none), NULL, NULL, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, "no tensor"));
}

static void a_colon_belongs_to_the_name_of_a_file_that_is_there(void **state) {
    (void)state;
    const image several = safetensors_of(two, 12);
    file_of("c", &several);
    npy_file("c:a", F("<f4", "(2,)"), plain, 8);
    lb_operand o;
    lb_error err = {0};
    assert_int_equal(lb_operand_open(&o, in_folder("c:a"), NULL, NULL, &err), LB_OK);
    EXPECT_CODE(__LINE__, lb_mat_code(&o.mat, 0, 0), 0x3fc00000); /* the npy's, not that of tensor a in c */
    lb_operand_close(&o);
    unlink(in_folder("c:a"));
    assert_int_equal(lb_operand_open(&o, in_folder("c:a"), NULL, NULL, &err), LB_OK);
    EXPECT_CODE(__LINE__, lb_mat_code(&o.mat, 0, 0), 0x03020100);
    lb_operand_close(&o);
}

static void a_written_safetensors_says_the_format_of_its_codes(void **state) {
    (void)state;
    uint8_t codes[2] = {0x01, 0x3f};
    const lb_mat m = lb_mat_of(lb_format_row(LB_E2M3), codes, 1, 2);
    lb_operand o;
    lb_error err = {0};
    assert_int_equal(lb_mat_write(in_folder("m.safetensors"), "x", &m, &err), LB_OK);
    assert_int_equal(lb_operand_open(&o, in_folder("m.safetensors"), NULL, NULL, &err), LB_OK);
    assert_ptr_equal(o.mat.format, lb_format_row(LB_E2M3));
    lb_operand_close(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_taken_as_codes_or_by_value),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused_with_the_element),
        cmocka_unit_test(every_bf16_in_an_f32_file_comes_back_as_its_code),
        cmocka_unit_test(shapes_fold_into_rows_of_the_last_dimension),
        cmocka_unit_test(a_tensor_is_named_where_there_are_several),
        cmocka_unit_test(a_colon_belongs_to_the_name_of_a_file_that_is_there),
        cmocka_unit_test(a_written_safetensors_says_the_format_of_its_codes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
