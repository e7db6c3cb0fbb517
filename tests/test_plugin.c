/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* plugin: the example within its limits; a plugin that misbehaves ends its case, with the reason. */
#include "op_run.h"

#include <stdlib.h>

enum { M = 5, N = 7, K = 9 };

static float a[M * K], b[K * N], c[M * N], y[M * N];
static lb_case x;

static int set_up(void **state) {
    (void)state;
    const lb_format *f32 = lb_format_row(LB_F32);
    x = (lb_case){.op = "matmul", .a = lb_mat_of(f32, a, M, K), .b = lb_mat_of(f32, b, K, N), .out = f32};
    lb_draw_mat(&x.a, LB_DIST_INTEGER, 5, 1);
    lb_draw_mat(&x.b, LB_DIST_INTEGER, 5, 2);
    return 0;
}

static void behave(const char *how) {
    assert_int_equal(setenv("LB_BAD_PLUGIN", how, 1), 0);
}

static lb_device *open_plugin(const char *path) {
    char on[600];
    lb_device *d;
    lb_error err = {0};
    snprintf(on, sizeof on, "plugin:%s", path);
    if (lb_device_open(&d, on, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return d;
}

static void the_example_is_within_gelus_limits_and_refuses_the_rest(void **state) {
    lb_device *d = open_plugin(LB_PLUGIN_GELU);
    op_result r;
    lb_error err = {0};
    const char *why;
    (void)state;
    lb_op_case *g = op_open("gelu", "n=1000 magnitude=5", "f32");
    assert_true(lb_device_can_op(d, g, &why));
    assert_int_equal(op_run(d, g, LB_FUNCTIONS_IEEE, &r, &err), LB_OK);
    if (r.wrong || r.compared != 1000 || r.guard_damage || r.inputs_changed) fail_msg("%zu wrong: %s", r.wrong, r.first);
    EXPECT_STRING(__LINE__, lb_device_detail(d), "gelu by tanhf of the C library");
    lb_op_case_close(g);
    g = op_open("gelu", "", "f16");
    assert_false(lb_device_can_op(d, g, &why));
    EXPECT_STRING(__LINE__, why, "this plugin has gelu in f32");
    assert_int_equal(lb_device_run_op(d, g, 60, &err), LB_E_FORMAT);
    lb_op_case_close(g);
    assert_false(lb_device_can(d, &x, &why));
    lb_device_close(d);
}

static float exact_product(const float *start, bool turned, size_t i) {
    float sum = start ? start[i] : 0.0F;
    for (size_t l = 0; l < K; l++) sum += a[i / N * K + l] * (turned ? b[i % N * K + l] : b[l * N + i % N]);
    return sum;
}

static void products_arrive_with_and_without_c_and_turned(void **state) {
    (void)state;
    behave("state");
    for (unsigned variant = 0; variant < 4; variant++) {
        lb_case v = x;
        lb_run_report r;
        lb_error err = {0};
        v.b_transposed = variant & 1;
        if (v.b_transposed) v.b = lb_mat_of(x.b.format, b, N, K);
        if (variant & 2) v.c = lb_mat_of(x.out, c, M, N);
        for (size_t i = 0; i < M * N; i++) c[i] = (float)i;
        if (lb_run_guarded("plugin:" LB_BAD_PLUGIN_PATH, NULL, &v, 60, y, &r, &err) != LB_OK || r.end != LB_RUN_DONE)
            fail_msg("%s: %s%s", err.place, err.message, r.why);
        for (size_t i = 0; i < M * N; i++)
            if (y[i] != exact_product(variant & 2 ? c : NULL, variant & 1, i)) fail_msg("variant %u, element %zu", variant, i);
    }
}

static const struct {
    int line;
    const char *how;
    lb_run_end end;
    const char *why; /* part of the report's */
    uint64_t guard_damage, not_written;
    bool inputs_changed;
} behaviours[] = {
    {__LINE__, "", LB_RUN_DONE, "", 0, 0, false},
    {__LINE__, "nothing", LB_RUN_DONE, "", 0, M *N, false},
    {__LINE__, "crash", LB_RUN_CRASHED, "signal 11", 0, M *N, false},
    {__LINE__, "exit", LB_RUN_CRASHED, "exit code 3", 0, M *N, false},
    {__LINE__, "hang", LB_RUN_TIMED_OUT, "no answer in", 0, M *N, false},
    {__LINE__, "fail", LB_RUN_FAILED, "run returned 7: the tank is empty", 0, M *N, false},
    {__LINE__, "behind", LB_RUN_DONE, "", 20, 0, false},
    {__LINE__, "before", LB_RUN_DONE, "", 4, 0, false},
    {__LINE__, "input", LB_RUN_DONE, "", 0, 0, true},
};

static void a_plugin_that_misbehaves_ends_its_case_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++) {
        const double timeout = strcmp(behaviours[i].how, "hang") == 0 ? 0.3 : 60;
        lb_run_report r;
        lb_error err = {0};
        behave(behaviours[i].how);
        if (lb_run_guarded("plugin:" LB_BAD_PLUGIN_PATH, NULL, &x, timeout, y, &r, &err) != LB_OK)
            fail_msg("row at %s:%d: %s: %s", __FILE__, behaviours[i].line, err.place, err.message);
        EXPECT_CODE(behaviours[i].line, r.end, behaviours[i].end);
        EXPECT_CODE(behaviours[i].line, r.guard_damage, behaviours[i].guard_damage);
        EXPECT_CODE(behaviours[i].line, r.not_written, behaviours[i].not_written);
        EXPECT_CODE(behaviours[i].line, r.inputs_changed, behaviours[i].inputs_changed);
        if (!strstr(r.why, behaviours[i].why)) fail_msg("row at %s:%d: %s", __FILE__, behaviours[i].line, r.why);
    }
}

/* The marks of an operator's run, in this process. */
static void an_operators_arrays_lie_between_guards(void **state) {
    static const struct {
        int line;
        const char *how;
        uint64_t guard_damage;
        size_t unwritten, wrong;
        bool inputs_changed;
    } rows[] = {{__LINE__, "", 0, 0, 0, false},
                {__LINE__, "nothing", 0, 100, 100, false},
                {__LINE__, "behind", 20, 0, 0, false},
                {__LINE__, "before", 4, 0, 0, false},
                {__LINE__, "input", 0, 0, 0, true}};
    (void)state;
    behave("");
    lb_device *d = open_plugin(LB_BAD_PLUGIN_PATH);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_op_case *sum = op_open("add", "n=100", "f32");
        op_result r;
        lb_error err = {0};
        behave(rows[i].how);
        if (op_run(d, sum, LB_FUNCTIONS_IEEE, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        EXPECT_CODE(rows[i].line, r.guard_damage, rows[i].guard_damage);
        EXPECT_CODE(rows[i].line, r.unwritten, rows[i].unwritten);
        EXPECT_CODE(rows[i].line, r.wrong, rows[i].wrong);
        EXPECT_CODE(rows[i].line, r.inputs_changed, rows[i].inputs_changed);
        lb_op_case_close(sum);
    }
    lb_device_close(d);
}

static void what_is_no_plugin_is_refused_with_the_reason(void **state) {
    static const struct {
        int line;
        const char *how, *on;
        lb_status status;
        const char *part;
    } rows[] = {{__LINE__, "", "plugin:absent.so", LB_E_FILE, "cannot be loaded: "},
                {__LINE__, "", "plugin:" LB_SOURCE_DIR "/README.md", LB_E_FILE, "cannot be loaded: "},
                {__LINE__, "", "plugin:" LB_FAKE_CUDA, LB_E_FILE, "exports no `lastbit_plugin`"},
                {__LINE__, "", "plugin:", LB_E_NAME, "say which"},
                {__LINE__, "closed", "plugin:" LB_BAD_PLUGIN_PATH, LB_E_UNAVAILABLE, "does not open: no licence"},
                {__LINE__, "short", "plugin:" LB_BAD_PLUGIN_PATH, LB_E_FILE, "struct_size is 8; set it to sizeof(lb_plugin)"},
                {__LINE__, "version", "plugin:" LB_BAD_PLUGIN_PATH, LB_E_FILE, "is of plugin version 99; this lastbit speaks 1"},
                {__LINE__, "no run", "plugin:" LB_BAD_PLUGIN_PATH, LB_E_FILE, "has no run function"},
                {__LINE__, "null", "plugin:" LB_BAD_PLUGIN_PATH, LB_E_UNAVAILABLE, "returns nothing"},
                {__LINE__, "refuse", "plugin:" LB_BAD_PLUGIN_PATH, LB_E_FORMAT, "the plugin refuses the case"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_run_report r;
        lb_error err = {0};
        behave(rows[i].how);
        const lb_status s = lb_run_guarded(rows[i].on, NULL, &x, 60, y, &r, &err);
        if (s != rows[i].status || !strstr(err.message, rows[i].part))
            fail_msg("row at %s:%d: status %d: %s: %s (%s)", __FILE__, rows[i].line, (int)s, err.place, err.message, r.why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_is_within_gelus_limits_and_refuses_the_rest),
        cmocka_unit_test(products_arrive_with_and_without_c_and_turned),
        cmocka_unit_test(a_plugin_that_misbehaves_ends_its_case_alone),
        cmocka_unit_test(an_operators_arrays_lie_between_guards),
        cmocka_unit_test(what_is_no_plugin_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
