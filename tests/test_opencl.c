/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* opencl: every operator in every element format at many sizes, within the limits of its row; products; what the device refuses. */
#include "op_run.h"
#include "op_shapes.h"

#include "backends/launch.h"

#include <math.h>
#include <stdlib.h>

static const char *const formats[] = {"f32", "f16", "bf16"};

static lb_device *open_device(void) {
    lb_device *d;
    lb_error err = {0};
    const lb_status s = lb_device_open(&d, "opencl", &err);
    if (s == LB_OK) return d;
    if (s != LB_E_UNAVAILABLE) fail_msg("%s: %s", err.place, err.message);
    print_message("SKIP OpenCL: %s\n", err.message);
    skip();
    return NULL;
}

static void each_operator_has_a_launch_and_is_run_at_some_size(void **state) {
    (void)state;
    for (size_t i = 0; lb_op_row(i); i++) {
        size_t shapes = 0;
        for (size_t s = 0; s < OP_SHAPE_COUNT; s++) shapes += strcmp(op_shapes[s].op, lb_op_row(i)->name) == 0;
        if (!lb_launch_find(lb_op_row(i)->name) || shapes < 2) fail_msg("%s: no launch, or no sizes", lb_op_row(i)->name);
    }
    for (size_t i = 0; lb_launch_row(i); i++)
        if (!lb_op_find(lb_launch_row(i)->op)) fail_msg("launches.def: %s is no operator", lb_launch_row(i)->op);
}

static void each_operator_is_within_its_limits_at_every_size_and_format(void **state) {
    lb_device *d = open_device();
    size_t compared = 0, failures = 0, cases = 0;
    const bool tell = getenv("LB_TELL") != NULL;
    (void)state;
    for (size_t s = 0; s < OP_SHAPE_COUNT; s++)
        for (size_t f = 0; f < (op_uses_t(lb_op_find(op_shapes[s].op)) ? 3 : 1); f++, cases++) {
            lb_op_case *x = op_open(op_shapes[s].op, op_shapes[s].sizes, formats[f]);
            char text[LB_OP_TEXT];
            op_result r;
            lb_error err = {0};
            lb_op_case_text(x, text, sizeof text);
            if (op_run(d, x, LB_FUNCTIONS_OPENCL, &r, &err) != LB_OK) fail_msg("%s: %s: %s", text, err.place, err.message);
            const bool bad = r.wrong || r.guard_damage || r.inputs_changed || !r.compared || r.unwritten;
            if (bad || tell)
                print_message("%s: wrong %zu of %zu, worst %.3g, unwritten %zu, unjudged %zu, guards %llu, inputs %d; %s\n", text, r.wrong,
                              r.compared, r.worst, r.unwritten, r.unjudged, (unsigned long long)r.guard_damage, r.inputs_changed, r.first);
            compared += r.compared;
            failures += bad;
            lb_op_case_close(x);
        }
    lb_device_close(d);
    if (failures) fail_msg("%zu of %zu cases", failures, cases);
    assert_true(compared > 100000);
}

/* One special value in the first input of T: what the row's policy says of it is what the truth holds. */
static void put(lb_op_case *x, double value) {
    static const lb_encoding ieee = {0};
    for (unsigned i = 0; i < x->op->in_count; i++) {
        const lb_format *f = x->in[i].format;
        const size_t count = lb_array_count(&x->in[i]);
        if (f != x->format) continue;
        lb_store_code((char *)x->in[i].codes + count / 3 * (size_t)f->bytes, f->bytes, lb_encode(f, lb_value_of(value), &ieee, NULL));
        return;
    }
}

static void special_values_follow_each_operators_policy(void **state) {
    static const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 0x1p-149, -60000.0};
    lb_device *d = open_device();
    size_t failures = 0;
    (void)state;
    for (size_t o = 0; lb_op_row(o); o++)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            lb_op_case *x = op_open(lb_op_row(o)->name, "", formats[v % 3]);
            op_result r;
            lb_error err = {0};
            put(x, values[v]);
            if (op_run(d, x, LB_FUNCTIONS_OPENCL, &r, &err) != LB_OK) fail_msg("%s: %s: %s", x->op->name, err.place, err.message);
            if (r.wrong || r.unwritten || r.guard_damage)
                print_message("%s fmt=%s with %g: wrong %zu of %zu, %s\n", x->op->name, formats[v % 3], values[v], r.wrong, r.compared,
                              r.first);
            failures += r.wrong || r.unwritten || r.guard_damage;
            lb_op_case_close(x);
        }
    lb_device_close(d);
    if (failures) fail_msg("%zu cases", failures);
}

/* Every code of T, a sum with zero: what is loaded and stored. */
static void every_code_survives_a_load_and_a_store(void **state) {
    lb_device *d = open_device();
    (void)state;
    for (size_t f = 1; f < 3; f++) {
        lb_op_case *x = op_open("add", "n=65536", formats[f]);
        op_result r;
        lb_error err = {0};
        for (size_t i = 0; i < 65536; i++) {
            ((uint16_t *)x->in[0].codes)[i] = (uint16_t)i;
            ((uint16_t *)x->in[1].codes)[i] = 0;
        }
        if (op_run(d, x, LB_FUNCTIONS_IEEE, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (r.wrong || r.compared != 65536) fail_msg("%s: %zu of %zu wrong: %s", formats[f], r.wrong, r.compared, r.first);
        lb_op_case_close(x);
    }
    lb_device_close(d);
}

/* ---- products ---------------------------------------------------------------------------------------------------------------------- */

static const lb_format_id readable[] = {LB_F32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2}, writable[] = {LB_F32, LB_F16, LB_BF16};

static void expect_reference(lb_device *d, const lb_case *x) {
    static uint32_t got[65536], want[65536];
    const size_t count = lb_case_m(x) * lb_case_n(x);
    lb_mat truth = lb_mat_of(x->out, want, lb_case_m(x), lb_case_n(x));
    lb_error err = {0};
    memset(got, 0xa5, sizeof got);
    if (lb_device_run(d, x, got, 60, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(lb_reference_matmul(x, LB_REFERENCE_EXACT, NULL, 0, NULL, 0, &truth, NULL, NULL, &err), LB_OK);
    const lb_mat mine = lb_mat_of(x->out, got, truth.rows, truth.cols);
    for (size_t i = 0; i < count; i++) {
        const uint64_t a = lb_mat_code(&mine, i / mine.cols, i % mine.cols), b = lb_mat_code(&truth, i / mine.cols, i % mine.cols);
        const bool both_nan = lb_code_class(x->out, a) == LB_NAN && lb_code_class(x->out, b) == LB_NAN;
        if (a != b && !both_nan && !(lb_to_double(x->out, a) == 0 && lb_to_double(x->out, b) == 0))
            fail_msg("%s x %s to %s, element %zu: got %llx, want %llx", x->a.format->name, x->b.format->name, x->out->name, i,
                     (unsigned long long)a, (unsigned long long)b);
    }
}

/* Small integers: every sum is exact, so every order gives the same bits. */
static void exact_products_are_exact_in_each_format_with_and_without_c_and_turned(void **state) {
    enum { M = 19, N = 34, K = 45 };
    static uint32_t a[M * K], b[K * N], c[M * N];
    lb_device *d = open_device();
    (void)state;
    for (size_t i = 0; i < 15; i++) { /* a variant is compiled for each: all pairs of input and output formats once */
        lb_case x = {.op = "matmul", .a = lb_mat_of(lb_format_row(readable[i % 5]), a, M, K), .out = lb_format_row(writable[i % 3])};
        const lb_format *b_format = lb_format_row(readable[(i + i / 5) % 5]);
        x.b_transposed = i / 2 % 2;
        x.b = x.b_transposed ? lb_mat_of(b_format, b, N, K) : lb_mat_of(b_format, b, K, N);
        if (i % 2) x.c = lb_mat_of(lb_format_row(readable[(i + 2) % 5]), c, M, N);
        lb_draw_mat(&x.a, LB_DIST_INTEGER, i, 1);
        lb_draw_mat(&x.b, LB_DIST_INTEGER, i, 2);
        if (x.c.codes) lb_draw_mat(&x.c, LB_DIST_INTEGER, i, 3);
        expect_reference(d, &x);
    }
    lb_device_close(d);
}

/* Each code of a narrow format times one: what is decoded, and rounded to the output. */
static void every_code_is_read_and_rounded_once(void **state) {
    static uint16_t codes[65536];
    static const uint32_t one = 0x3f800000;
    lb_device *d = open_device();
    (void)state;
    for (size_t in = 1; in < 5; in++) {
        const lb_format *f = lb_format_row(readable[in]);
        const size_t count = (size_t)1 << f->bits;
        for (size_t i = 0; i < count; i++) lb_store_code((char *)codes + i * (size_t)f->bytes, f->bytes, i);
        const lb_case x = {.op = "matmul",
                           .a = lb_mat_of(f, codes, count, 1),
                           .b = lb_mat_of(lb_format_row(LB_F32), &one, 1, 1),
                           .out = lb_format_row(writable[(in + 1) % 3])}; /* f16 to bf16, bf16 to f32, e4m3 to f16, e5m2 to bf16 */
        expect_reference(d, &x);
    }
    lb_device_close(d);
}

/* ---- what it refuses --------------------------------------------------------------------------------------------------------------- */

static void what_it_cannot_do_has_a_reason(void **state) {
    static const struct {
        int line;
        const char *op, *sizes, *format, *why;
    } rows[] = {{__LINE__, "attention", "d=257", "f32", "made for smaller sizes"},
                {__LINE__, "selective_scan", "state=65", "f32", "made for smaller sizes"},
                {__LINE__, "attention", "d=256", "f16", NULL}};
    static const struct {
        int line;
        const char *on;
        lb_status status;
        const char *part;
    } names[] = {{__LINE__, "opencl:99", LB_E_UNAVAILABLE, "no OpenCL device 99: this machine has"},
                 {__LINE__, "opencl:no such thing", LB_E_UNAVAILABLE, "no OpenCL device has \"no such thing\" in its name"},
                 {__LINE__, "opencI", LB_E_NAME, "did you mean opencl"}};
    lb_device *d = open_device();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_op_case *x = op_open(rows[i].op, rows[i].sizes, rows[i].format);
        const char *why;
        const bool can = lb_device_can_op(d, x, &why);
        if (can != !rows[i].why || (!can && !strstr(why, rows[i].why))) fail_msg("row at %s:%d: %d, %s", __FILE__, rows[i].line, can, why);
        lb_op_case_close(x);
    }
    lb_device_close(d);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_error err = {0};
        EXPECT_CODE(names[i].line, lb_device_open(&d, names[i].on, &err), names[i].status);
        if (!strstr(err.message, names[i].part)) fail_msg("row at %s:%d: %s", __FILE__, names[i].line, err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_has_a_launch_and_is_run_at_some_size),
        cmocka_unit_test(each_operator_is_within_its_limits_at_every_size_and_format),
        cmocka_unit_test(special_values_follow_each_operators_policy),
        cmocka_unit_test(every_code_survives_a_load_and_a_store),
        cmocka_unit_test(exact_products_are_exact_in_each_format_with_and_without_c_and_turned),
        cmocka_unit_test(every_code_is_read_and_rounded_once),
        cmocka_unit_test(what_it_cannot_do_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
