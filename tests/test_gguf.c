/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* gguf: files made by hand, right and wrong, and the values of quantised blocks. The wrong ones are the public reports FIL-08, FIL-10
 * and FIL-11 (ggml-org/llama.cpp #25596, #18674, #14595; ROCm/hrx-system #278) and what their neighbours would be. */
#include "io_image.h"

/* ---- a file, piece by piece ------------------------------------------------------------------------------------------------ */

static void add_number(image *f, uint64_t x, size_t bytes) {
    unsigned char le[8];
    for (size_t i = 0; i < 8; i++) le[i] = (unsigned char)(x >> 8 * i);
    add(f, le, bytes);
}

static void add_string(image *f, const char *s) {
    add_number(f, strlen(s), 8);
    add(f, s, strlen(s));
}

static image head_of(uint64_t tensors, uint64_t pairs) {
    image f = {.size = 0};
    add(&f, "GGUF", 4);
    add_number(&f, 3, 4);
    add_number(&f, tensors, 8);
    add_number(&f, pairs, 8);
    return f;
}

static void add_pair_u32(image *f, const char *key, uint32_t value) {
    add_string(f, key);
    add_number(f, 4, 4);
    add_number(f, value, 4);
}

/* shape: innermost first, as files have it. */
static void add_info(image *f, const char *name, int rank, const uint64_t *shape, uint32_t type, uint64_t offset) {
    add_string(f, name);
    add_number(f, (uint64_t)rank, 4);
    for (int i = 0; i < rank; i++) add_number(f, shape[i], 8);
    add_number(f, type, 4);
    add_number(f, offset, 8);
}

static void pad(image *f, size_t alignment) {
    while (f->size % alignment) add(f, "", 1);
}

static void add_floats(image *f, const float *x, size_t n) {
    add(f, x, n * sizeof *x);
}

static lb_file *parsed(const image *f) {
    lb_file *out;
    lb_error err = {0};
    if (lb_file_parse(&out, f->bytes, f->size, "test.gguf", NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return out;
}

static void refused(int line, const image *f, const char *part) {
    lb_file *out;
    lb_error err = {0};
    if (lb_file_parse(&out, f->bytes, f->size, "test.gguf", NULL, &err) != LB_E_FILE) fail_msg("row at %s:%d was read", __FILE__, line);
    assert_null(out);
    if (!strstr(err.message, part)) fail_msg("row at %s:%d: \"%s\" says nothing of \"%s\"", __FILE__, line, err.message, part);
}

static const float six[6] = {1, 2, 3, 4, 5, 6};

/* A key of each kind, two tensors, the second behind padding. */
static image good(uint32_t alignment) {
    image f = head_of(2, 5);
    add_string(&f, "general.architecture");
    add_number(&f, 8, 4);
    add_string(&f, "llama");
    add_pair_u32(&f, "general.alignment", alignment);
    add_string(&f, "a.half");
    add_number(&f, 6, 4);
    add_floats(&f, &(float){0.5f}, 1);
    add_string(&f, "a.minus");
    add_number(&f, 3, 4);
    add_number(&f, 0xfffe, 2);
    add_string(&f, "a.list");
    add_number(&f, 9, 4);
    add_number(&f, 8, 4);
    add_number(&f, 2, 8);
    add_string(&f, "x");
    add_string(&f, "");
    add_info(&f, "w", 2, (uint64_t[]){3, 2}, 0, 0);
    add_info(&f, "b", 1, (uint64_t[]){2}, 0, alignment > 24 ? alignment : 24);
    pad(&f, alignment);
    add_floats(&f, six, 6);
    const size_t data = f.size;
    pad(&f, 1);
    while ((f.size - data + 24) % (alignment > 24 ? alignment : 24)) add(&f, "", 1);
    add_floats(&f, six, 2);
    return f;
}

static void a_file_is_read_outermost_first(void **state) {
    (void)state;
    const uint32_t alignments[] = {8, 24, 32}; /* FIL-11: 24 is a multiple of 8, which is all that the format asks */
    for (size_t i = 0; i < 3; i++) {
        const image f = good(alignments[i]);
        lb_file *file = parsed(&f);
        const lb_tensor *w = lb_file_find(file, "w"), *b = lb_file_find(file, "b");
        float values[6];
        lb_error err;
        assert_int_equal(lb_file_count(file), 2);
        assert_int_equal(w->rank, 2);
        assert_int_equal(w->shape[0], 2);
        assert_int_equal(w->shape[1], 3);
        assert_int_equal(lb_tensor_values(w, 0, 6, values, &err), LB_OK);
        assert_memory_equal(values, six, sizeof six);
        assert_int_equal(lb_tensor_values(b, 1, 1, values, &err), LB_OK);
        assert_true(values[0] == 2.0f);
        assert_int_equal(lb_tensor_values(b, 1, 2, values, &err), LB_E_ARG);
        assert_string_equal(lb_file_metadata(file, "general.architecture"), "llama");
        assert_string_equal(lb_file_metadata(file, "a.half"), "0.5");
        assert_string_equal(lb_file_metadata(file, "a.minus"), "-2");
        assert_string_equal(lb_file_metadata(file, "a.list"), "[2 x string]");
        lb_file_close(file);
    }
}

static void every_shorter_file_is_refused(void **state) {
    (void)state;
    const image f = good(32);
    for (size_t n = 4; n < f.size; n++) {
        lb_file *out;
        lb_error err = {0};
        unsigned char *exact = malloc(n); /* so that a sanitizer sees what lies behind it */
        assert_non_null(exact);
        memcpy(exact, f.bytes, n);
        assert_int_equal(lb_file_parse(&out, exact, n, "test.gguf", NULL, &err), LB_E_FILE);
        assert_null(out);
        assert_true(*err.message);
        free(exact);
    }
}

static image one_tensor(int rank, const uint64_t *shape, uint32_t type, uint64_t offset, size_t data) {
    image f = head_of(1, 0);
    add_info(&f, "t", rank, shape, type, offset);
    pad(&f, 32);
    for (size_t i = 0; i < data; i++) add(&f, "", 1);
    return f;
}

static void bad_heads_are_refused(void **state) {
    (void)state;
    image f = head_of(0, 0);
    f.bytes[4] = 1;
    refused(__LINE__, &f, "version 1");
    memcpy(f.bytes + 4, (unsigned char[]){0, 0, 0, 3}, 4);
    refused(__LINE__, &f, "big-endian");
    f = head_of(UINT64_C(1) << 61, 0);
    refused(__LINE__, &f, "do not fit");
    f = head_of(0, UINT64_C(1) << 62);
    refused(__LINE__, &f, "do not fit");
    f = head_of(0, 1); /* FIL-08: the alignment is a string */
    add_string(&f, "general.alignment");
    add_number(&f, 8, 4);
    add_string(&f, "32");
    refused(__LINE__, &f, "is a string, no u32");
    const uint32_t alignments[] = {0, 1, 7, 12, 4294967288u};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
        f = head_of(0, 1);
        add_pair_u32(&f, "general.alignment", alignments[i]);
        refused(__LINE__, &f, "general.alignment");
    }
    f = head_of(0, 1); /* FIL-11: count times size wraps */
    add_string(&f, "a");
    add_number(&f, 9, 4);
    add_number(&f, 10, 4);
    add_number(&f, UINT64_C(1) << 61, 8);
    refused(__LINE__, &f, "does not fit");
    f = head_of(0, 1);
    add_string(&f, "a");
    add_number(&f, 9, 4);
    add_number(&f, 9, 4);
    add_number(&f, 1, 8);
    refused(__LINE__, &f, "array of arrays");
    f = head_of(0, 1);
    add_string(&f, "abc");
    add_number(&f, 13, 4);
    refused(__LINE__, &f, "type of value");
    f = head_of(0, 1);
    add_number(&f, UINT64_MAX, 8);
    add_number(&f, 0, 8);
    refused(__LINE__, &f, "a key is to have");
}

static void bad_tensors_are_refused(void **state) {
    (void)state;
    image f = one_tensor(2, (uint64_t[]){0, 0}, 0, 0, 32); /* FIL-08 */
    refused(__LINE__, &f, "a dimension is zero");
    f = one_tensor(4, (uint64_t[]){UINT64_C(1) << 32, UINT64_C(1) << 32, 1, 1}, 0, 0, 32); /* FIL-10: the product wraps to 0 */
    refused(__LINE__, &f, "too large");
    f = one_tensor(1, (uint64_t[]){UINT64_C(1) << 61}, 0, 0, 32); /* FIL-10: 2^63 bytes */
    refused(__LINE__, &f, "do not lie in");
    f = one_tensor(1, (uint64_t[]){8}, 0, UINT64_C(0xffffffffffffffe0), 32);
    refused(__LINE__, &f, "belong to no tensor");
    f = one_tensor(0, NULL, 0, 0, 32);
    refused(__LINE__, &f, "one to four dimensions");
    f = one_tensor(1, (uint64_t[]){8}, 4, 0, 32); /* a type that was taken out of the format */
    refused(__LINE__, &f, "type 4 is not read");
    f = one_tensor(1, (uint64_t[]){48}, 2, 0, 64);
    refused(__LINE__, &f, "no whole blocks of 32");
    f = one_tensor(1, (uint64_t[]){8}, 0, 8, 64);
    refused(__LINE__, &f, "no multiple");
    f = one_tensor(1, (uint64_t[]){8}, 0, 32, 64);
    refused(__LINE__, &f, "belong to no tensor");
    f = one_tensor(1, (uint64_t[]){8}, 0, 0, 64);
    refused(__LINE__, &f, "32 bytes behind the last tensor");
    f = head_of(2, 0);
    add_info(&f, "t", 1, (uint64_t[]){8}, 0, 0);
    add_info(&f, "t", 1, (uint64_t[]){8}, 0, 32);
    pad(&f, 32);
    for (int i = 0; i < 64; i++) add(&f, "", 1);
    refused(__LINE__, &f, "two tensors have this name");
    f = head_of(2, 0);
    add_info(&f, "t", 1, (uint64_t[]){16}, 0, 0);
    add_info(&f, "u", 1, (uint64_t[]){8}, 0, 32);
    pad(&f, 32);
    for (int i = 0; i < 64; i++) add(&f, "", 1);
    refused(__LINE__, &f, "overlaps");
}

/* ---- blocks: values worked out by hand from the layout in docs/networks.md ---------------------------------------------------- */

static const uint8_t half_one[2] = {0x00, 0x3c}, half_two[2] = {0x00, 0x40};

static void expect_block(const char *type, const uint8_t *block, size_t bytes, size_t at, float want) {
    const lb_dtype *d = lb_dtype_find(type);
    assert_non_null(d);
    assert_int_equal(d->bytes, bytes);
    const lb_tensor t = {.name = type, .dtype = d, .rank = 1, .shape = {(size_t)d->block}, .data = block, .bytes = bytes};
    float got;
    lb_error err;
    assert_int_equal(lb_tensor_values(&t, at, 1, &got, &err), LB_OK);
    if (got != want) fail_msg("%s element %zu: got %a, want %a", type, at, (double)got, (double)want);
}

static void blocks_of_32_are_scale_times_code(void **state) {
    (void)state;
    uint8_t b[34] = {0};
    memcpy(b, half_two, 2);
    b[2] = 0xf0; /* codes 0 and 16 */
    expect_block("q4_0", b, 18, 0, -16.0f);
    expect_block("q4_0", b, 18, 16, 14.0f);
    memcpy(b + 2, half_one, 2);
    b[4] = 0xf3;
    expect_block("q4_1", b, 20, 0, 7.0f);
    expect_block("q4_1", b, 20, 16, 31.0f);
    memset(b + 2, 0, 32);
    b[2] = 1, b[4] = 2; /* fifth bits of 0 and 17 */
    b[6] = 0x05, b[7] = 0x70;
    expect_block("q5_0", b, 22, 0, 10.0f);  /* (21 - 16) * 2 */
    expect_block("q5_0", b, 22, 17, 14.0f); /* (23 - 16) * 2 */
    memset(b + 2, 0, 32);
    memcpy(b + 2, half_one, 2);
    b[7] = 0x80; /* fifth bit of 31 */
    b[23] = 0x90;
    expect_block("q5_1", b, 24, 31, 51.0f); /* 25 * 2 + 1 */
    memset(b + 2, 0, 32);
    b[2] = 0x80, b[33] = 127;
    expect_block("q8_0", b, 34, 0, -256.0f);
    expect_block("q8_0", b, 34, 31, 254.0f);
}

static void blocks_of_256_have_scales_of_groups(void **state) {
    (void)state;
    uint8_t b[210] = {0};
    memcpy(b, half_two, 2);
    memcpy(b + 2, half_one, 2);
    b[4 + 1] = 0xc5;       /* scale of group 1 is 5; the top bits are the high bits of group 5's */
    b[4 + 5] = 7;          /* minimum of group 1 */
    b[4 + 9] = 0x21;       /* group 5: low bits of scale 1, of minimum 2 */
    b[16 + 3] = 0x9f;      /* codes of group 0 and 1, element 3 */
    b[16 + 64 + 8] = 0x60; /* group 5 (odd: high half), element 8 */
    expect_block("q4_k", b, 144, 32 + 3, 2.0f * 5 * 9 - 7);
    expect_block("q4_k", b, 144, 3, 0.0f);
    expect_block("q4_k", b, 144, 160 + 8, 2.0f * 49 * 6 - 2);
    memmove(b + 48, b + 16, 128);
    memset(b + 16, 0, 32);
    b[16 + 3] = 2; /* fifth bit of group 1, element 3 */
    expect_block("q5_k", b, 176, 32 + 3, 2.0f * 5 * 25 - 7);
    memset(b, 0, sizeof b);
    memcpy(b + 208, half_two, 2);
    b[64 + 32 + 1] = 0xa0;  /* second half, odd quarter: high nibble is quarter 3 */
    b[128 + 32 + 1] = 0xc0; /* its two high bits */
    b[192 + 8 + 6] = 0xff;  /* the scale of that sixteen: -1 */
    expect_block("q6_k", b, 210, 128 + 96 + 1, 2.0f * -1 * (0x3a - 32));
    expect_block("q6_k", b, 210, 128 + 1, 0.0f);
}

static void raw_files_hold_no_blocks(void **state) {
    (void)state;
    lb_file *f;
    lb_error err = {0};
    assert_int_equal(lb_file_parse(&f, "", 0, "x", &(lb_file_options){.raw_dtype = "q4_0"}, &err), LB_E_ARG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_outermost_first),
        cmocka_unit_test(every_shorter_file_is_refused),
        cmocka_unit_test(bad_heads_are_refused),
        cmocka_unit_test(bad_tensors_are_refused),
        cmocka_unit_test(blocks_of_32_are_scale_times_code),
        cmocka_unit_test(blocks_of_256_have_scales_of_groups),
        cmocka_unit_test(raw_files_hold_no_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
