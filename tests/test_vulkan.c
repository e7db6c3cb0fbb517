/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vulkan: every operator in every element format at many sizes, within the limits of its row; products; choosing a device. Our kernels
 * bring their own exp, tanh, sine, cosine and powers, so on lavapipe they are held to the limits of functions within an ULP. */
#include "op_run.h"
#include "op_shapes.h"

#include <math.h>
#include <stdlib.h>

static const char *const formats[] = {"f32", "f16", "bf16"};

static lb_device *open_device(const char *on) {
    lb_device *d;
    lb_error err = {0};
    const lb_status s = lb_device_open(&d, on, &err);
    if (s == LB_OK) return d;
    if (s != LB_E_UNAVAILABLE) fail_msg("%s: %s", err.place, err.message);
    print_message("SKIP vulkan: %s\n", err.message);
    skip();
    return NULL;
}

/* Sizes of real models, at which a slow algorithm or a poor function shows. */
static const op_shape large[] = {
    {"top_p", "rows=1 vocab=50257 p=0.9 magnitude=8"},    {"cross_entropy", "rows=1 vocab=32000 magnitude=12"},
    {"cross_entropy", "rows=40 vocab=5 magnitude=30"},    {"softmax", "rows=1 d=32000 magnitude=50"},
    {"rope", "rows=300 d=128 rotary=128 theta=500000.0"}, {"attention", "m=1 seq=2000 d=128 causal=1 q_offset=1999 magnitude=3"},
};

enum { LARGE_COUNT = sizeof large / sizeof large[0] };

static void each_operator_is_within_its_limits_at_every_size_and_format(void **state) {
    lb_device *d = open_device("vulkan");
    size_t compared = 0, failures = 0;
    const bool tell = getenv("LB_TELL") != NULL;
    (void)state;
    const bool lavapipe = strstr(lb_device_detail(d), "llvmpipe") != NULL;
    const lb_function_class functions = lavapipe ? LB_FUNCTIONS_IEEE : LB_FUNCTIONS_VULKAN;
    print_message("%s\n", lb_device_detail(d));
    for (size_t s = 0; s < OP_SHAPE_COUNT + LARGE_COUNT; s++)
        for (size_t f = 0; f < 3; f++) {
            const op_shape *shape = s < OP_SHAPE_COUNT ? &op_shapes[s] : &large[s - OP_SHAPE_COUNT];
            lb_op_case *x = op_open(shape->op, shape->sizes, formats[f]);
            char text[LB_OP_TEXT];
            op_result r;
            lb_error err = {0};
            lb_op_case_text(x, text, sizeof text);
            if (op_run(d, x, functions, &r, &err) != LB_OK) fail_msg("%s: %s: %s", text, err.place, err.message);
            const bool bad = r.wrong || r.guard_damage || r.inputs_changed || !r.compared || r.unwritten;
            if (bad || tell)
                print_message("%s: wrong %zu of %zu, worst %.3g, unwritten %zu, unjudged %zu, guards %llu, inputs %d; %s\n", text, r.wrong,
                              r.compared, r.worst, r.unwritten, r.unjudged, (unsigned long long)r.guard_damage, r.inputs_changed, r.first);
            compared += r.compared;
            failures += bad;
            lb_op_case_close(x);
        }
    lb_device_close(d);
    if (failures) fail_msg("%zu of %d cases", failures, (OP_SHAPE_COUNT + LARGE_COUNT) * 3);
    assert_true(compared > 100000);
}

/* ---- products ------------------------------------------------------------------------------------------------------------------ */

enum { M = 19, N = 35, K = 50 };

typedef struct product {
    int line;
    lb_format_id a, b, c, out; /* c LB_FORMAT_COUNT: none */
    bool tb;
    lb_dist dist;
} product;

/* Whole numbers make every sum exact, so the bits are given; codes of every kind show that each is read as what it is. */
static const product products[] = {
    {__LINE__, LB_F32, LB_F32, LB_FORMAT_COUNT, LB_F32, false, LB_DIST_INTEGER},
    {__LINE__, LB_F32, LB_F32, LB_F32, LB_F32, true, LB_DIST_INTEGER},
    {__LINE__, LB_F16, LB_F16, LB_F32, LB_F16, false, LB_DIST_INTEGER},
    {__LINE__, LB_BF16, LB_BF16, LB_FORMAT_COUNT, LB_BF16, true, LB_DIST_INTEGER},
    {__LINE__, LB_E4M3, LB_E4M3, LB_F16, LB_F32, false, LB_DIST_INTEGER},
    {__LINE__, LB_E5M2, LB_E4M3, LB_BF16, LB_BF16, true, LB_DIST_INTEGER},
    {__LINE__, LB_E4M3, LB_E5M2, LB_FORMAT_COUNT, LB_F16, false, LB_DIST_INTEGER},
};

static void make(lb_mat *m, lb_format_id id, size_t rows, size_t cols, lb_dist dist, uint32_t stream) {
    const lb_format *f = lb_format_row(id);
    void *codes = calloc(rows * cols, (size_t)f->bytes);
    assert_non_null(codes);
    *m = lb_mat_of(f, codes, rows, cols);
    lb_draw_mat(m, dist, 11, stream);
}

static lb_case product_case(const product *p) {
    lb_case x = {.op = "matmul", .b_transposed = p->tb, .out = lb_format_row(p->out)};
    make(&x.a, p->a, M, K, p->dist, 1);
    make(&x.b, p->b, p->tb ? N : K, p->tb ? K : N, p->dist, 2);
    if (p->c != LB_FORMAT_COUNT) make(&x.c, p->c, M, N, p->dist, 3);
    return x;
}

static void product_free(lb_case *x) {
    free((void *)x->a.codes);
    free((void *)x->b.codes);
    free((void *)x->c.codes);
}

static void products_of_whole_numbers_have_the_true_bits_in_every_format(void **state) {
    lb_device *d = open_device("vulkan");
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        lb_case x = product_case(&products[i]);
        uint32_t y[M * N] = {0}, want[M * N] = {0};
        lb_mat code = lb_mat_of(x.out, want, M, N);
        lb_error err = {0};
        uint64_t guard_damage;
        bool inputs_changed;
        if (lb_device_run(d, &x, y, 60, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, products[i].line, err.message);
        assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_EXACT, NULL, M, NULL, N, &code, NULL, NULL, &err), LB_OK);
        lb_device_marks(d, &guard_damage, &inputs_changed);
        assert_true(guard_damage == 0 && !inputs_changed);
        if (memcmp(y, want, M * N * (size_t)x.out->bytes) != 0) fail_msg("row at %s:%d: other bits", __FILE__, products[i].line);
        product_free(&x);
    }
    lb_device_close(d);
}

/* One by one, each code of a format times one. */
static void every_code_of_a_small_format_is_read_as_its_value(void **state) {
    static const lb_format_id small[] = {LB_E4M3, LB_E5M2, LB_F16, LB_BF16};
    static uint32_t y[65536];
    static uint16_t wide[65536];
    static uint8_t narrow[256];
    const uint32_t one = 0x3f800000;
    lb_device *d = open_device("vulkan");
    (void)state;
    const bool lavapipe = strstr(lb_device_detail(d), "llvmpipe") != NULL;
    for (size_t i = 0; i < 65536; i++) wide[i] = (uint16_t)i;
    for (size_t i = 0; i < 256; i++) narrow[i] = (uint8_t)i;
    for (size_t f = 0; f < 4; f++) {
        const lb_format *row = lb_format_row(small[f]), *f32 = lb_format_row(LB_F32);
        const size_t count = (size_t)1 << row->bits;
        const lb_case x = {.op = "matmul",
                           .a = lb_mat_of(row, row->bytes == 1 ? (void *)narrow : wide, count, 1),
                           .b = lb_mat_of(f32, &one, 1, 1),
                           .out = f32};
        lb_error err = {0};
        if (lb_device_run(d, &x, y, 60, &err) != LB_OK) fail_msg("%s: %s", row->name, err.message);
        for (size_t i = 0; i < count; i++) {
            const double got = lb_to_double(f32, y[i]), want = lb_to_double(row, i);
            const bool flushed = got == 0 && fabs(want) < 0x1p-126 && !lavapipe; /* which Vulkan allows */
            if (!(got == want || flushed || (got != got && want != want))) fail_msg("%s %02zx: got %a, want %a", row->name, i, got, want);
        }
    }
    lb_device_close(d);
}

/* About each tie of f16 and of bf16, past the largest value, and NaN: an element of A times one. */
static void results_are_rounded_to_nearest_even_once(void **state) {
    static const lb_format_id outs[] = {LB_F16, LB_BF16};
    static float a[3 * 32768];
    static uint16_t y[3 * 32768], want[3 * 32768];
    const uint32_t one = 0x3f800000;
    lb_device *d = open_device("vulkan");
    const bool lavapipe = strstr(lb_device_detail(d), "llvmpipe") != NULL;
    (void)state;
    for (size_t o = 0; o < 2; o++) {
        const lb_format *out = lb_format_row(outs[o]), *f32 = lb_format_row(LB_F32);
        size_t count = 0;
        for (uint32_t c = 0; c < 0x7fff; c++) {
            const double low = lb_to_double(out, c), high = lb_to_double(out, c + 1);
            const double tie = isinf(high) ? low + (low - lb_to_double(out, c - 1)) / 2 : (low + high) / 2;
            if (!isfinite(low) || (!lavapipe && tie < 0x1p-126)) continue;
            a[count++] = nextafterf((float)tie, 0);
            a[count++] = (float)-tie;
            a[count++] = nextafterf((float)tie, INFINITY);
        }
        a[count++] = 1e30f;
        a[count++] = -INFINITY;
        const lb_case x = {.op = "matmul", .a = lb_mat_of(f32, a, count, 1), .b = lb_mat_of(f32, &one, 1, 1), .out = out};
        lb_mat code = lb_mat_of(out, want, count, 1);
        lb_error err = {0};
        if (lb_device_run(d, &x, y, 60, &err) != LB_OK) fail_msg("%s: %s", out->name, err.message);
        assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_EXACT, NULL, count, NULL, 1, &code, NULL, NULL, &err), LB_OK);
        for (size_t i = 0; i < count; i++)
            if (y[i] != want[i]) fail_msg("%s of %a: got %04x, want %04x", out->name, (double)a[i], y[i], want[i]);
        assert_true(count > 60000);
    }
    lb_device_close(d);
}

/* ---- choosing ------------------------------------------------------------------------------------------------------------------- */

static void a_device_is_chosen_by_index_or_name_and_others_are_refused(void **state) {
    static const struct {
        int line;
        const char *on, *says;
    } refused[] = {
        {__LINE__, "vulkan:99", "they count from 0"},
        {__LINE__, "vulkan:no such name", "no Vulkan device has"},
    };
    (void)state;
    lb_device *d = open_device("vulkan:0");
    assert_non_null(strstr(lb_device_detail(d), "subgroup "));
    lb_device_close(d);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        lb_error err = {0};
        if (lb_device_open(&d, refused[i].on, &err) != LB_E_UNAVAILABLE || !strstr(err.message, refused[i].says))
            fail_msg("row at %s:%d: %s", __FILE__, refused[i].line, err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_chosen_by_index_or_name_and_others_are_refused),
        cmocka_unit_test(products_of_whole_numbers_have_the_true_bits_in_every_format),
        cmocka_unit_test(results_are_rounded_to_nearest_even_once),
        cmocka_unit_test(every_code_of_a_small_format_is_read_as_its_value),
        cmocka_unit_test(each_operator_is_within_its_limits_at_every_size_and_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
