/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files: what is read, what is refused and how, and that nothing hostile gets through. */
#include "io_image.h"

#include <sys/stat.h>

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
        {__LINE__, "[1]", 4, "neither"},
        {__LINE__, "{}", 4, "4 bytes behind"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const image f = safetensors_of(rows[i].header, rows[i].data);
        expect_refused(rows[i].line, &f, rows[i].part);
    }
    image huge = safetensors_of(two, 12);
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
    const image files[] = {safetensors_of(two, 12), npy_of(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", data, 24)};
    lb_file *out;
    lb_error err;
    for (size_t f = 0; f < 2; f++) {
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
    assert_int_equal(lb_file_parse(&f, data, 11, "raw", &o, &err), LB_E_FILE);
    o.raw_shape[0] = SIZE_MAX / 2;
    assert_int_equal(lb_file_parse(&f, data, 12, "raw", &o, &err), LB_E_FILE);
    o.raw_dtype = "f3";
    assert_int_equal(lb_file_parse(&f, data, 12, "raw", &o, &err), LB_E_ARG);
    assert_int_equal(lb_file_open(&f, folder, NULL, &err), LB_E_FILE);
    assert_int_equal(lb_file_open(&f, in_folder("absent"), NULL, &err), LB_E_FILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_gives_tensors_in_the_order_of_their_data),
        cmocka_unit_test(malformed_safetensors_are_refused_with_the_place),
        cmocka_unit_test(npy_is_read_in_every_version_order_and_layout),
        cmocka_unit_test(malformed_npy_is_refused_with_the_place),
        cmocka_unit_test(every_truncation_is_refused_and_no_corruption_crashes),
        cmocka_unit_test(raw_files_have_the_shape_that_is_said),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
