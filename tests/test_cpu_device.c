/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cpu: operators in each order within their limits; products in the order that is stated, bit for bit, and no other. */
#include "op_run.h"
#include "op_shapes.h"

#include <float.h>
#include <math.h>

enum { M = 6, N = 5, K = 101 };

static const char *const orders[] = {"sequential", "contracted", "pairwise", "descending", "lanes8", "split4"};
enum { ORDERS = 6, WITH_OPERATORS = 3 };

static lb_device *open_order(const char *order) {
    char on[64];
    lb_device *d;
    lb_error err = {0};
    snprintf(on, sizeof on, "cpu%s%s", order ? ":" : "", order ? order : "");
    if (lb_device_open(&d, on, &err) != LB_OK) fail_msg("%s: %s: %s", on, err.place, err.message);
    return d;
}

static void each_order_keeps_each_operators_limits(void **state) {
    static const char *const formats[] = {"f32", "f16", "bf16"};
    (void)state;
    for (size_t o = 0; o < WITH_OPERATORS; o++) {
        lb_device *d = open_order(orders[o]);
        for (size_t s = 0; s < OP_SHAPE_COUNT; s++) {
            lb_op_case *x = op_open(op_shapes[s].op, op_shapes[s].sizes, formats[(s + o) % 3]);
            op_result r;
            lb_error err = {0};
            if (op_run(d, x, LB_FUNCTIONS_IEEE, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
            if (r.wrong || r.unwritten || !r.compared)
                fail_msg("%s %s %s in %s: %zu wrong of %zu, %s", x->op->name, op_shapes[s].sizes, x->format->name, orders[o], r.wrong,
                         r.compared, r.first);
            lb_op_case_close(x);
        }
        lb_device_close(d);
    }
}

/* ---- products ---------------------------------------------------------------------------------------------------------------------- */

static float a[M * K], b[K * N], c[M * N];

static void draw(lb_case *x, lb_dist dist) {
    const lb_format *f32 = lb_format_row(LB_F32);
    *x = (lb_case){.op = "matmul", .a = lb_mat_of(f32, a, M, K), .b = lb_mat_of(f32, b, K, N), .c = lb_mat_of(f32, c, M, N), .out = f32};
    lb_draw_mat(&x->a, dist, 7, 1);
    lb_draw_mat(&x->b, dist, 7, 2);
    lb_draw_mat(&x->c, dist, 7, 3);
}

/* The sums again, by index arithmetic over a list of terms in the order that is claimed. */
static float again(const char *order, size_t i, size_t j) {
    float part[8] = {0}, s = c[i * N + j];
    const size_t quarter = (K + 3) / 4;
    if (strcmp(order, "pairwise") == 0) { /* halves of 101: by levels from the leaves, which are cut as ceil and floor */
        struct {
            size_t from, count;
        } stack[64] = {{0, K}};
        float values[64];
        size_t depth = 1, have = 0;
        bool done[64] = {false};
        while (depth) { /* a walk after the order of a binary tree */
            const size_t from = stack[depth - 1].from, count = stack[depth - 1].count, left = (count + 1) / 2;
            if (count == 1) {
                values[have++] = a[i * K + from] * b[from * N + j];
                depth--;
            } else if (done[depth - 1]) {
                have--;
                values[have - 1] += values[have];
                depth--;
            } else {
                done[depth - 1] = true;
                stack[depth].from = from + left, stack[depth].count = count - left, done[depth] = false;
                stack[depth + 1].from = from, stack[depth + 1].count = left, done[depth + 1] = false;
                depth += 2;
            }
        }
        return s + values[0];
    }
    for (size_t l = 0; l < K; l++) {
        const float x = a[i * K + l], y = b[l * N + j];
        const size_t back = K - 1 - l;
        if (strcmp(order, "sequential") == 0) s += x * y;
        if (strcmp(order, "contracted") == 0) s = fmaf(x, y, s);
        if (strcmp(order, "descending") == 0) s = fmaf(a[i * K + back], b[back * N + j], s);
        if (strcmp(order, "lanes8") == 0) part[l & 7] = fmaf(x, y, part[l & 7]);
        if (strcmp(order, "split4") == 0) part[l / quarter] = fmaf(x, y, part[l / quarter]);
    }
    if (strcmp(order, "split4") == 0) return s + part[0] + part[1] + part[2] + part[3];
    if (strcmp(order, "lanes8") == 0)
        return s + (((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7])));
    return s;
}

static void each_order_gives_its_own_bits(void **state) {
    static float y[ORDERS][M * N];
    lb_case x;
    (void)state;
    draw(&x, LB_DIST_NORMAL);
    for (size_t o = 0; o < ORDERS; o++) {
        lb_device *d = open_order(orders[o]);
        lb_error err = {0};
        if (lb_device_run(d, &x, y[o], 60, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        lb_device_close(d);
        for (size_t i = 0; i < M * N; i++) {
            const float want = again(orders[o], i / N, i % N);
            if (memcmp(&y[o][i], &want, sizeof want) != 0) fail_msg("%s, element %zu: got %a, want %a", orders[o], i, y[o][i], want);
        }
        for (size_t other = 0; other < o; other++)
            if (memcmp(y[o], y[other], sizeof y[o]) == 0) fail_msg("%s and %s give the same bits", orders[o], orders[other]);
    }
}

static void exact_sums_are_the_same_in_each_order_and_format(void **state) {
    static const lb_format_id formats[] = {LB_F32, LB_F16, LB_BF16, LB_E5M2, LB_I8};
    static uint32_t codes[3][M * K + K * N];
    (void)state;
    for (size_t f = 0; f < 5; f++)
        for (size_t o = 0; o < ORDERS; o++) {
            const lb_format *in = lb_format_row(formats[f]), *f32 = lb_format_row(LB_F32);
            static float y[M * N];
            uint32_t truth[M * N];
            lb_case x = {
                .op = "matmul", .a = lb_mat_of(in, codes[0], M, K), .b = lb_mat_of(in, codes[1], N, K), .b_transposed = true, .out = f32};
            lb_mat want = lb_mat_of(f32, truth, M, N);
            lb_error err = {0};
            lb_draw_mat(&x.a, LB_DIST_INTEGER, 7, 1);
            lb_draw_mat(&x.b, LB_DIST_INTEGER, 7, 2);
            lb_device *d = open_order(orders[o]);
            if (lb_device_run(d, &x, y, 60, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
            lb_device_close(d);
            assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_EXACT, NULL, 0, NULL, 0, &want, NULL, NULL, &err), LB_OK);
            for (size_t i = 0; i < M * N; i++)
                if (lb_to_double(f32, truth[i]) != (double)y[i]) fail_msg("%s in %s, element %zu: %a", orders[o], in->name, i, y[i]);
        }
}

static void what_it_cannot_do_has_a_reason(void **state) {
    static double wide[M * K];
    lb_case x;
    const char *why;
    lb_device *d;
    lb_error err = {0};
    (void)state;
    draw(&x, LB_DIST_NORMAL);
    assert_int_equal(lb_device_open(&d, "cpu:sequental", &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "did you mean sequential"));
    d = open_order(NULL);
    assert_true(lb_device_can(d, &x, &why));
    x.a = lb_mat_of(lb_format_row(LB_F64), wide, M, K);
    assert_false(lb_device_can(d, &x, &why));
    assert_non_null(strstr(why, "not f64"));
    lb_device_close(d);
    d = open_order("lanes8");
    lb_op_case *g = op_open("gelu", "", "f32");
    assert_false(lb_device_can_op(d, g, &why));
    assert_non_null(strstr(why, "sequential, contracted and pairwise"));
    lb_op_case_close(g);
    lb_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_order_keeps_each_operators_limits),
        cmocka_unit_test(each_order_gives_its_own_bits),
        cmocka_unit_test(exact_sums_are_the_same_in_each_order_and_format),
        cmocka_unit_test(what_it_cannot_do_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
