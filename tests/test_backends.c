/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The seam and two of its forms: the table of backends, the exact model as a device, any program as a device (here /bin/sh). */
#include "test.h"

#include "lastbit/run.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

enum { M = 5, N = 3, K = 20 };

static char folder[] = "/tmp/lastbit-backends.XXXXXX"; /* files of the tests */
static char cases[64];                                 /* where case folders go; always empty again */
static uint64_t a[M * K], b[K * N], c[M * N], y[M * N];

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(cases, sizeof cases, "%s/cases.XXXXXX", folder);
    return mkdtemp(cases) && chdir(folder) == 0 && setenv("TMPDIR", cases, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
    static const char *const files[] = {"case.json", "in.safetensors", "out.safetensors", "env"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) unlink(files[i]);
    rmdir(cases);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* A case of these formats, drawn; c_format NULL: no C. */
static lb_case case_of(lb_format_id a_format, lb_format_id b_format, const lb_format *c_format, lb_format_id out) {
    lb_case x = {.op = "matmul",
                 .a = lb_mat_of(lb_format_row(a_format), a, M, K),
                 .b = lb_mat_of(lb_format_row(b_format), b, K, N),
                 .out = lb_format_row(out),
                 .seed = 11};
    lb_draw_mat(&x.a, LB_DIST_NORMAL, 11, 1);
    lb_draw_mat(&x.b, LB_DIST_NORMAL, 11, 2);
    if (c_format) {
        x.c = lb_mat_of(c_format, c, M, N);
        lb_draw_mat(&x.c, LB_DIST_NORMAL, 11, 3);
    }
    return x;
}

/* ---- the table ----------------------------------------------------------------------------------------------------------------- */

static void the_backends_are_listed_in_order_each_with_what_it_is(void **state) {
    static const char *const names[] = {"model", "kernel", "command"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        EXPECT_STRING(__LINE__, lb_backend_name(i), names[i]);
        assert_true(strlen(lb_backend_summary(i)) > 20);
    }
    assert_null(lb_backend_name(3));
    assert_null(lb_backend_summary(3));
}

static void a_name_that_is_no_device_is_refused_with_what_was_meant(void **state) {
    static const struct {
        int line;
        const char *on;
        lb_status status;
        const char *part;
    } rows[] = {
        {__LINE__, "", LB_E_NAME, "no such device"},
        {__LINE__, "kernl:examples/gemm.json", LB_E_NAME, "did you mean kernel:"},
        {__LINE__, "modle:sm_80/mma.m16n8k8.f32.f16.f16.f32", LB_E_NAME, "did you mean model:"},
        {__LINE__, "command:/bin/true", LB_E_NAME, "no such device; `lastbit backends`"}, /* programs stand behind -- */
        {__LINE__, "modelling:x", LB_E_NAME, "no such device"},
        {__LINE__, "kernel", LB_E_NAME, "say which: kernel:FILE.json"},
        {__LINE__, "model:", LB_E_NAME, "say which: model:UNIT"},
        {__LINE__, "model:sm_80/mma.m16n8k8.f32.f16.f16.f33", LB_E_NAME, "sm_80/mma.m16n8k8.f32.f16.f16.f32"},
        {__LINE__, "model:sm_80/mma.m8n8k4.f32.f16.f16.f32", LB_E_UNAVAILABLE, "open"},
        {__LINE__, "kernel:/nonexistent/k.json", LB_E_FILE, "cannot be opened: No such file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_device *d;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_device_open(&d, rows[i].on, &err), rows[i].status);
        if (d || !strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
    char *const none[] = {NULL}, *const empty[] = {"", NULL};
    lb_device *d;
    assert_int_equal(lb_device_open_command(&d, none, NULL), LB_E_ARG);
    assert_int_equal(lb_device_open_command(&d, empty, NULL), LB_E_ARG);
    lb_device_close(NULL);
}

/* ---- model:UNIT ------------------------------------------------------------------------------------------------------------------ */

static void a_model_gives_the_units_bits_and_rounds_them_once_to_another_format(void **state) {
    static const struct {
        int line;
        const char *unit;
        lb_format_id in, acc, out;
    } rows[] = {
        {__LINE__, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", LB_BF16, LB_F32, LB_F32},
        {__LINE__, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", LB_BF16, LB_F32, LB_BF16},
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", LB_F16, LB_F32, LB_E4M3},
        {__LINE__, "sm_80/mma.m16n8k16.f16.f16.f16.f16", LB_F16, LB_F16, LB_F32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int with_c = 0; with_c < 2; with_c++) {
            char on[128];
            lb_device *d;
            lb_unit u;
            uint64_t exact[M * N];
            const lb_case x = case_of(rows[i].in, rows[i].in, with_c ? lb_format_row(rows[i].acc) : NULL, rows[i].out);
            snprintf(on, sizeof on, "model:%s", rows[i].unit);
            EXPECT_CODE(rows[i].line, lb_device_open(&d, on, NULL), LB_OK);
            EXPECT_STRING(rows[i].line, lb_device_name(d), on);
            assert_non_null(strstr(lb_device_detail(d), "integer model"));
            EXPECT_CODE(rows[i].line, lb_device_run(d, &x, y, 60, NULL), LB_OK);
            lb_device_close(d);
            assert_int_equal(lb_unit_find(rows[i].unit, &u, NULL), LB_OK);
            lb_mat want = lb_mat_of(lb_format_row(u.d), exact, M, N);
            const lb_mat got = lb_mat_of(x.out, y, M, N);
            assert_int_equal(lb_unit_gemm(&u, &x.a, &x.b, with_c ? &x.c : NULL, &want, NULL), LB_OK);
            for (size_t r = 0; r < M; r++)
                for (size_t q = 0; q < N; q++)
                    EXPECT_CODE(rows[i].line, lb_mat_code(&got, r, q),
                                lb_encode(x.out, lb_decode(want.format, lb_mat_code(&want, r, q)), NULL, NULL));
        }
    }
}

static void a_model_refuses_other_formats_and_shapes_that_do_not_agree(void **state) {
    lb_device *d;
    lb_error err = {0};
    const char *why_not;
    (void)state;
    assert_int_equal(lb_device_open(&d, "model:sm_80/mma.m16n8k16.f32.bf16.bf16.f32", NULL), LB_OK);
    lb_case x = case_of(LB_BF16, LB_F16, NULL, LB_F32);
    assert_false(lb_device_can(d, &x, &why_not));
    assert_non_null(strstr(why_not, "takes A in bf16, B in bf16 and C in f32"));
    assert_int_equal(lb_device_run(d, &x, y, 60, &err), LB_E_FORMAT);
    x = case_of(LB_BF16, LB_BF16, lb_format_row(LB_F16), LB_F32);
    assert_int_equal(lb_device_run(d, &x, y, 60, &err), LB_E_FORMAT);
    x = case_of(LB_BF16, LB_BF16, NULL, LB_F32);
    x.b_transposed = true;
    assert_int_equal(lb_device_run(d, &x, y, 60, &err), LB_E_SHAPE);
    lb_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_backends_are_listed_in_order_each_with_what_it_is),
        cmocka_unit_test(a_name_that_is_no_device_is_refused_with_what_was_meant),
        cmocka_unit_test(a_model_gives_the_units_bits_and_rounds_them_once_to_another_format),
        cmocka_unit_test(a_model_refuses_other_formats_and_shapes_that_do_not_agree),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
