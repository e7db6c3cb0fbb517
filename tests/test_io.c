/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files: what is read, what is refused and how, and that nothing hostile gets through. */
#include "io_image.h"

static lb_status parse(const image *f, lb_file **out, lb_error *err) {
    return lb_file_parse(out, f->bytes, f->size, "file", NULL, err);
}

static void expect_refused(int line, const image *f, const char *part) {
    lb_file *out;
    lb_error err = {0};
    if (parse(f, &out, &err) != LB_E_FILE) fail_msg("row at %s:%d was read", __FILE__, line);
    assert_null(out);
    if (!strstr(err.message, part)) fail_msg("row at %s:%d: \"%s\" says nothing of \"%s\"", __FILE__, line, err.message, part);
}

static const char *const two = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                               "\"b\":{\"dtype\":\"U16\",\"shape\":[1,2],\"data_offsets\":[8,12]},\"__metadata__\":{\"k\":\"v\"}}";

static void safetensors_gives_tensors_in_the_order_of_their_data(void **state) {
    (void)state;
    const image f = safetensors_of(two, 12);
    lb_file *out;
    lb_error err = {0};
    if (parse(&f, &out, &err) != LB_OK) fail_msg("%s", err.message);
    assert_int_equal(lb_file_count(out), 2);
    const lb_tensor *b = lb_file_find(out, "b");
    assert_ptr_equal(b, lb_file_tensor(out, 1));
    assert_int_equal(b->rank, 2);
    assert_int_equal(b->shape[1], 2);
    assert_int_equal((uintptr_t)b->data % 64, 0);
    assert_int_equal(((const unsigned char *)b->data)[3], 11);
    assert_string_equal(lb_file_metadata(out, "k"), "v");
    assert_null(lb_file_metadata(out, "other"));
    assert_null(lb_file_find(out, "c"));
    lb_file_close(out);
}

#define T(shape, from, to) "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to "]}"

static void malformed_safetensors_are_refused_with_the_place(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *header;
        size_t data;
        const char *part;
    } rows[] = {
        /* source: FIL-01, ml-explore/mlx#3363: a big shape over few bytes */
        {__LINE__, "{\"a\":" T("[1000,1000]", 0, 4) "}", 4, "4000000"},
        /* source: FIL-02, ohdearquant/lattice#752: aliased, overlapping, with a hole */
        {__LINE__, "{\"a\":" T("[4]", 0, 16) ",\"b\":" T("[4]", 0, 16) "}", 16, "overlaps"},
        {__LINE__, "{\"a\":" T("[4]", 0, 16) ",\"b\":" T("[4]", 8, 24) "}", 24, "overlaps"},
        {__LINE__, "{\"a\":" T("[4]", 0, 16) ",\"b\":" T("[4]", 20, 36) "}", 36, "nothing covers"},
        /* source: FIL-06, Comfy-Org/ComfyUI#15602: trailing bytes */
        {__LINE__, "{\"a\":" T("[4]", 0, 16) "}", 32, "16 bytes behind"},
        {__LINE__, "{\"a\":" T("[4]", 0, 16) "}", 12, "do not lie"},
        {__LINE__, "{\"a\":" T("[1]", 0, 8) "}", 8, "its shape wants 4 bytes, its data_offsets hold 8"},
        {__LINE__, "{\"a\":" T("[4]", 16, 0) "}", 16, "do not lie"},
        {__LINE__, "{\"a\":" T("[-4]", 0, 16) "}", 16, "whole number"},
        {__LINE__, "{\"a\":" T("[4.0]", 0, 16) "}", 16, "whole number"},
        {__LINE__, "{\"a\":" T("[4294967296,4294967296,4294967296]", 0, 0) "}", 0, "too large"}, /* the product wraps to 0 */
        {__LINE__, "{\"a\":" T("[1152921504606846976,0]", 0, 0) "}", 0, "too large"},            /* empty, but with rows without end */
        {__LINE__, "{\"a\":" T("[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4, "eight"},
        {__LINE__, "{\"a\":{\"dtype\":\"F5\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, "F5"},
        {__LINE__, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4, "no others"},
        {__LINE__, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets"},
        {__LINE__, "{\"a\":" T("[1]", 0, 4) ",\"a\":" T("[1]", 0, 4) "}", 4, "JSON"},
        {__LINE__, "{\"a\":" T("[1]", 0, 4) ",\"__metadata__\":{\"x\":1}}", 4, "no string"},
        {__LINE__, "{\"a\":" T("[1]", 0, 4), 4, "JSON"},
        {__LINE__, "{\"a\":" T("[99999999999999999999]", 0, 4) "}", 4, "JSON"},
        {__LINE__, "{\"a\\u0000b\":" T("[1]", 0, 4) "}", 4, "JSON"}, /* two names that C cannot tell apart */
        {__LINE__, "{\"\xff\":" T("[1]", 0, 4) "}", 4, "JSON"},
        {__LINE__, "{\"a\":" T("[1]", 0, 4) "} {}", 4, "JSON"},
        {__LINE__, "{\"a\":" T("[1]", 0, 4) ",\"b\":[]}", 4, "tensor \"b\""},
        {__LINE__, "{\"a\":" T("1", 0, 4) "}", 4, "no array"},
        {__LINE__, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, "two whole numbers"},
        {__LINE__, "{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype"},
        {__LINE__, "{\"__metadata__\":[]}", 0, "no object"},
        {__LINE__, "[1]", 4, "neither"},
        {__LINE__, "{}", 4, "4 bytes behind"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const image f = safetensors_of(rows[i].header, rows[i].data);
        expect_refused(rows[i].line, &f, rows[i].part);
    }
    char deep[3001] = "{\"a\":";
    memset(deep + 5, '[', sizeof deep - 6);
    const image nested = safetensors_of(deep, 0);
    expect_refused(__LINE__, &nested, "depth");
    image huge = safetensors_of(two, 12);
    huge.bytes[0] = (unsigned char)(huge.size - 7); /* a byte more than there is */
    expect_refused(__LINE__, &huge, "byte 0");
    memset(huge.bytes, 0xff, 8); /* a header of 2^64 - 1 bytes */
    expect_refused(__LINE__, &huge, "byte 0");
    const image empty = {.size = 0};
    expect_refused(__LINE__, &empty, "0 bytes");
}

static void npy_is_read_in_every_version_order_and_layout(void **state) {
    (void)state;
    static const float want[6] = {1, 2, 3, 4, 5, 6};
    /* source: FIL-12, rogersce/cnpy#7 (Fortran order); FIL-14, fortran-lang/stdlib#581, pmontalb/NpyCpp#2 (v2, big endian) */
    static const float columns[6] = {1, 4, 2, 5, 3, 6};
    static const unsigned char big[24] = {0x3f, 0x80, 0,    0, 0x40, 0,    0,    0, 0x40, 0x40, 0,
                                          0,    0x40, 0x80, 0, 0,    0x40, 0xa0, 0, 0,    0x40, 0xc0};
    static const struct {
        int line, major;
        const char *dict;
        const void *data;
    } rows[] = {
        {__LINE__, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", want},
        {__LINE__, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", want},
        {__LINE__, 3, "{'shape':(2,3),'fortran_order':False,'descr':\"=f4\"}", want},
        {__LINE__, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", columns},
        {__LINE__, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", big},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const image f = npy_of(rows[i].major, rows[i].dict, rows[i].data, 24);
        lb_file *out;
        lb_error err = {0};
        if (parse(&f, &out, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        const lb_tensor *t = lb_file_tensor(out, 0);
        assert_int_equal(t->rank, 2);
        assert_int_equal(t->shape[0] * 10 + t->shape[1], 23);
        for (size_t e = 0; e < 6; e++) EXPECT_CODE(rows[i].line, ((const uint32_t *)t->data)[e], ((const uint32_t *)(const void *)want)[e]);
        lb_file_close(out);
    }
}

static void malformed_npy_is_refused_with_the_place(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *dict;
        size_t data;
        const char *part;
    } rows[] = {
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, "wants 24"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25, "wants 24"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0, "too large"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999), }", 0, "too large"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }", 12, "comma"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", 12, "dimension"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': [3], }", 12, "tuple"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,), }", 12, "True or False"},
        {__LINE__, "{'descr': '<f4', 'shape': (3,), }", 12, "must all be there"},
        {__LINE__, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 12, "twice"},
        {__LINE__, "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", 12, "\"O\" is not read"},
        {__LINE__, "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", 24, "is not read"},
        {__LINE__, "{'descr': '|V4', 'fortran_order': False, 'shape': (3,)}", 12, "is not read"},
        {__LINE__, "{'descr': '<U1', 'fortran_order': False, 'shape': (3,)}", 12, "is not read"},
        {__LINE__, "{'descr': '', 'fortran_order': False, 'shape': (3,)}", 12, "is not read"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,3)}", 12, "eight"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976, 0)}", 0, "too large"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,) 'x'}", 12, "comma"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", 12, "dimension"},
        {__LINE__, "{'descr' '<f4', 'fortran_order': False, 'shape': (3,)}", 12, "colon"},
        {__LINE__, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3,)}", 12, "structured"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}", 12, "a key other"},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + []", 12, "behind the dict"},
        {__LINE__, "{'descr': '<f4", 12, "does not end"},
        {__LINE__, "", 0, "dict"},
        {__LINE__, "__import__('os')", 0, "dict"},
    };
    static const unsigned char zeros[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const image f = npy_of(1, rows[i].dict, zeros, rows[i].data);
        expect_refused(rows[i].line, &f, rows[i].part);
    }
    image version = npy_of(1, rows[0].dict, zeros, 24);
    version.bytes[6] = 4;
    expect_refused(__LINE__, &version, "version 4");
    image longer = npy_of(2, rows[0].dict, zeros, 24);
    longer.bytes[8] = (unsigned char)(longer.size - 11); /* a byte more than there is */
    expect_refused(__LINE__, &longer, "byte 8: the header is to have");
}

static void npy_of_any_rank_is_laid_row_major(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *shape;
        int rank;
        size_t n[4];
    } rows[] = {
        {__LINE__, "()", 0, {1, 1, 1, 1}},      {__LINE__, "(5,)", 1, {1, 1, 1, 5}},         {__LINE__, "( 3 ,4, )", 2, {1, 1, 3, 4}},
        {__LINE__, "(2,3,4)", 3, {1, 2, 3, 4}}, {__LINE__, "(2, 3, 4, 5)", 4, {2, 3, 4, 5}}, {__LINE__, "(1, 4, 1, 3)", 4, {1, 4, 1, 3}},
        {__LINE__, "(3, 0)", 2, {1, 1, 3, 0}},  {__LINE__, "(0,)", 1, {1, 1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int variant = 0; variant < 4; variant++) { /* both byte orders, both layouts */
            const size_t *n = rows[i].n, count = n[0] * n[1] * n[2] * n[3];
            const bool big = variant & 1, fortran = variant & 2;
            unsigned char data[240];
            char dict[128];
            for (size_t at = 0; at < count; at++) {
                const size_t z = at % n[3], y = at / n[3] % n[2], x = at / (n[3] * n[2]) % n[1], w = at / (n[3] * n[2] * n[1]);
                /* element [w][x][y][z], whose value is its row-major index */
                const size_t from = fortran ? w + n[0] * (x + n[1] * (y + n[2] * z)) : at;
                data[2 * from + !big] = 0x5a;
                data[2 * from + big] = (unsigned char)at;
            }
            snprintf(dict, sizeof dict, "{'descr':'%cu2','fortran_order':%s,'shape':%s}", big ? '>' : '<', fortran ? "True" : "False",
                     rows[i].shape);
            const image f = npy_of(1, dict, data, count * 2);
            lb_file *out;
            lb_error err = {0};
            if (parse(&f, &out, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
            const lb_tensor *t = lb_file_tensor(out, 0);
            EXPECT_CODE(rows[i].line, t->rank, rows[i].rank);
            EXPECT_CODE(rows[i].line, lb_tensor_count(t), count);
            for (size_t at = 0; at < count; at++) EXPECT_CODE(rows[i].line, ((const uint16_t *)t->data)[at], 0x5a00 | at);
            lb_file_close(out);
        }
    }
}

static void safetensors_data_may_lie_anywhere_and_be_empty(void **state) {
    (void)state;
    /* A header of odd length, one byte, then eight bytes that begin at an odd place; two empty tensors, one a scalar's neighbour. */
    const image f = safetensors_of("{\"one\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},"
                                   "\"none\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[1,1]},"
                                   "\"last\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[9,9]},"
                                   "\"wide\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[1,9]}}  ",
                                   9);
    lb_file *out;
    lb_error err = {0};
    if (parse(&f, &out, &err) != LB_OK) fail_msg("%s", err.message);
    static const char *const order[] = {"one", "none", "wide", "last"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(lb_file_tensor(out, i)->name, order[i]);
        assert_int_equal((uintptr_t)lb_file_tensor(out, i)->data % 64, 0);
    }
    assert_null(lb_file_tensor(out, 4));
    assert_int_equal(lb_tensor_count(lb_file_find(out, "one")), 1);
    assert_int_equal(lb_tensor_count(lb_file_find(out, "none")), 0);
    EXPECT_CODE(__LINE__, *(const uint64_t *)lb_file_find(out, "wide")->data, 0x0807060504030201);
    lb_file_close(out);
}

/* ---- files that are cut and bent ------------------------------------------------------------------------------------------ */

static void touch(const lb_file *f) {
    unsigned sum = 0;
    for (size_t i = 0; i < lb_file_count(f); i++)
        for (size_t b = 0; b < lb_file_tensor(f, i)->bytes; b++) sum += ((const unsigned char *)lb_file_tensor(f, i)->data)[b];
    assert_true(sum + 1 > 0);
}

static void every_truncation_is_refused_and_no_corruption_crashes(void **state) {
    (void)state;
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    const char *dict = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
    const image files[] = {safetensors_of(two, 12), npy_of(1, dict, data, 24), npy_of(2, dict, data, 24), npy_of(3, dict, data, 24)};
    lb_file *out;
    lb_error err;
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        for (size_t size = 0; size < files[f].size; size++) {
            image cut = files[f];
            cut.size = size;
            assert_int_equal(parse(&cut, &out, &err), LB_E_FILE);
        }
        for (size_t at = 0; at < files[f].size; at++) {
            for (int v = 0; v < 256; v++) {
                image bent = files[f];
                bent.bytes[at] = (unsigned char)v;
                if (parse(&bent, &out, &err) == LB_OK) touch(out);
                lb_file_close(out);
            }
        }
    }
}

static void raw_files_have_the_shape_that_is_said(void **state) {
    (void)state;
    static const unsigned char data[12] = {0, 0, 0x80, 0x3f};
    lb_file_options o = {.raw_dtype = "f32", .raw_rank = 2, .raw_shape = {1, 3}};
    lb_file *f;
    lb_error err = {0};
    assert_int_equal(lb_file_parse(&f, data, 12, "raw", &o, &err), LB_OK);
    assert_int_equal(lb_file_tensor(f, 0)->shape[1], 3);
    lb_file_close(f);
    for (size_t size = 0; size < 12; size++) assert_int_equal(lb_file_parse(&f, data, size, "raw", &o, &err), LB_E_FILE);
    o.raw_rank = 0; /* as many as there are */
    assert_int_equal(lb_file_parse(&f, data, 8, "raw", &o, &err), LB_OK);
    assert_int_equal(lb_file_tensor(f, 0)->shape[0], 2);
    lb_file_close(f);
    assert_int_equal(lb_file_parse(&f, data, 11, "raw", &o, &err), LB_E_FILE);
    o.raw_rank = LB_MAX_RANK + 1;
    assert_int_equal(lb_file_parse(&f, data, 12, "raw", &o, &err), LB_E_ARG);
    o.raw_rank = 2;
    o.raw_shape[0] = SIZE_MAX / 2;
    assert_int_equal(lb_file_parse(&f, data, 12, "raw", &o, &err), LB_E_FILE);
    o.raw_dtype = "f3";
    assert_int_equal(lb_file_parse(&f, data, 12, "raw", &o, &err), LB_E_ARG);
    assert_non_null(strstr(err.message, "f64 f32"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_gives_tensors_in_the_order_of_their_data),
        cmocka_unit_test(malformed_safetensors_are_refused_with_the_place),
        cmocka_unit_test(npy_is_read_in_every_version_order_and_layout),
        cmocka_unit_test(npy_of_any_rank_is_laid_row_major),
        cmocka_unit_test(safetensors_data_may_lie_anywhere_and_be_empty),
        cmocka_unit_test(malformed_npy_is_refused_with_the_place),
        cmocka_unit_test(every_truncation_is_refused_and_no_corruption_crashes),
        cmocka_unit_test(raw_files_have_the_shape_that_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
