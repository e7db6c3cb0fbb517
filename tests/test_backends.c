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
    static const char *const names[] = {"model", "cpu", "opencl", "vulkan", "cuda", "plugin", "kernel", "command"};
    const size_t count = sizeof names / sizeof names[0];
    (void)state;
    for (size_t i = 0; i < count; i++) {
        EXPECT_STRING(__LINE__, lb_backend_name(i), names[i]);
        assert_true(strlen(lb_backend_summary(i)) > 20);
    }
    assert_null(lb_backend_name(count));
    assert_null(lb_backend_summary(count));
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
        {__LINE__, "sm_80/mma.m16n8k16.f16.f16.f16.f16", LB_F16, LB_F16, LB_BF16},
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

/* ---- -- CMD ---------------------------------------------------------------------------------------------------------------------- */

/* The script is run with the case's folder as $0; its working directory is the tests' folder. */
static lb_status run_script(const char *script, const lb_case *x, double timeout, lb_run_report *report, lb_error *err) {
    char text[500];
    snprintf(text, sizeof text, "%s", script);
    char *const argv[] = {"/bin/sh", "-c", text, NULL};
    return lb_run_guarded(NULL, argv, x, timeout, y, report, err);
}

static void expect_no_case_left(void) {
    DIR *d = opendir(cases);
    const struct dirent *e;
    assert_non_null(d);
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') fail_msg("%s was left", e->d_name);
    closedir(d);
}

static void a_program_sees_the_case_and_its_operands_bit_for_bit(void **state) {
    static const struct {
        int line;
        lb_format_id in, in_b, acc, out;
        const char *dtypes[3]; /* of a, b, c: by name where the file has one, else codes */
    } rows[] = {
        {__LINE__, LB_BF16, LB_F16, LB_F32, LB_BF16, {"bf16", "f16", "f32"}},
        {__LINE__, LB_E4M3, LB_E5M2, LB_F64, LB_F32, {"e4m3", "e5m2", "f64"}},
        {__LINE__, LB_E2M1, LB_TF32, LB_F32, LB_F16, {"u8", "u32", "f32"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_case x = case_of(rows[i].in, rows[i].in_b, lb_format_row(rows[i].acc), rows[i].out);
        const lb_mat *const operands[] = {&x.a, &x.b, &x.c};
        static const char *const names[] = {"a", "b", "c"};
        char text[1000] = "", wanted[200];
        lb_run_report report;
        lb_file *f;
        EXPECT_CODE(rows[i].line,
                    run_script("cp $0/case.json $0/in.safetensors . && test $0 = $LASTBIT_CASE && echo seen > env", &x, 20, &report, NULL),
                    LB_OK);
        EXPECT_STRING(rows[i].line, report.why, "the program wrote no out.safetensors");
        assert_int_equal(unlink("env"), 0);
        FILE *json = fopen("case.json", "r");
        assert_non_null(json);
        assert_true(fread(text, 1, sizeof text - 1, json) > 0);
        fclose(json);
        snprintf(wanted, sizeof wanted,
                 "\"m\": %d,\n \"n\": %d,\n \"k\": %d,\n \"in\": \"%s\",\n \"in_b\": \"%s\",\n \"out\": \"%s\",\n \"tb\": false", M, N, K,
                 x.a.format->name, x.b.format->name, x.out->name);
        if (!strstr(text, wanted)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, text);
        EXPECT_CODE(rows[i].line, lb_file_open(&f, "in.safetensors", NULL, NULL), LB_OK);
        for (size_t t = 0; t < 3; t++) {
            const lb_tensor *tensor = lb_file_find(f, names[t]);
            assert_non_null(tensor);
            EXPECT_STRING(rows[i].line, tensor->dtype->name, rows[i].dtypes[t]);
            EXPECT_CODE(rows[i].line, tensor->shape[0] == operands[t]->rows && tensor->shape[1] == operands[t]->cols, true);
            assert_memory_equal(tensor->data, operands[t]->codes, tensor->bytes);
        }
        EXPECT_STRING(rows[i].line, lb_file_metadata(f, "b_format"), x.b.format->name);
        lb_file_close(f);
        expect_no_case_left();
    }
}

static void what_a_program_writes_is_taken_by_name_or_as_codes_and_nothing_else(void **state) {
    static const struct {
        int line;
        const char *tensor, *dtype;
        size_t rows, cols;
        const char *why; /* "": taken */
    } rows[] = {
        {__LINE__, "d", "bf16", M, N, ""},
        {__LINE__, "d", "u16", M, N, ""},
        {__LINE__, "d", "u8", M, N, "out.safetensors: "},
        {__LINE__, "d", "i16", M, N, "out.safetensors: "},
        {__LINE__, "d", "f32", M, N, ""}, /* every value is a bf16 */
        {__LINE__, "d", "bf16", N, M, "d is 3x5; the case is 5x3"},
        {__LINE__, "e", "bf16", M, N, "out.safetensors: "},
    };
    const lb_case x = case_of(LB_BF16, LB_BF16, NULL, LB_BF16);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static const uint16_t codes[2 * M * N] = {0x0000, 0x3f80, 0x0000, 0x4000, 0x0000, 0x4040}; /* f32: 1, 2, 3, 0 … */
        const lb_dtype *dtype = lb_dtype_find(rows[i].dtype);
        const lb_tensor t = {
            rows[i].tensor, dtype, 2, {rows[i].rows, rows[i].cols}, codes, rows[i].rows * rows[i].cols * (size_t)dtype->bytes};
        lb_run_report report;
        assert_int_equal(lb_safetensors_write("out.safetensors", &t, 1, NULL, 0, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, run_script("cp out.safetensors $0", &x, 20, &report, NULL), LB_OK);
        if (!strstr(report.why, rows[i].why)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, report.why);
        EXPECT_CODE(rows[i].line, report.end, rows[i].why[0] ? LB_RUN_FAILED : LB_RUN_DONE);
        EXPECT_CODE(rows[i].line, report.not_written, rows[i].why[0] ? M * N : 0);
        const uint16_t second = lb_load_code((const uint16_t *)y + 1, 2) & 0xffff;
        EXPECT_CODE(rows[i].line, second, rows[i].why[0] ? lb_poison_code(x.out) : dtype->bytes == 4 ? 0x4000 : 0x3f80);
        expect_no_case_left();
    }
}

static void a_program_that_fails_says_how_and_leaves_nothing_behind(void **state) {
    static const struct {
        int line;
        const char *script;
        lb_run_end end;
        const char *why;
    } rows[] = {
        {__LINE__, "echo first; echo the last words >&2; exit 3", LB_RUN_FAILED, "exit code 3: the last words"},
        {__LINE__, "exit 127", LB_RUN_FAILED, "exit code 127"},
        {__LINE__, "kill -ILL $$", LB_RUN_FAILED, "killed by signal 4 (Illegal instruction)"},
        {__LINE__, "mkdir -p $0/x/y; ln -s / $0/x/root; : > $0/x/y/z; exit 1", LB_RUN_FAILED, "exit code 1"},
        {__LINE__, "mkfifo $0/out.safetensors", LB_RUN_FAILED, "out.safetensors is no ordinary file"},
        {__LINE__, "echo x > $0/out.safetensors", LB_RUN_FAILED, "out.safetensors: "},
        {__LINE__, "rm -r $0", LB_RUN_FAILED, "the program wrote no out.safetensors"},
        {__LINE__, "sleep 5; exit 1", LB_RUN_TIMED_OUT, "no answer in 0.2 s (--timeout)"},
    };
    const lb_case x = case_of(LB_BF16, LB_BF16, NULL, LB_BF16);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_run_report report;
        EXPECT_CODE(rows[i].line, run_script(rows[i].script, &x, rows[i].end == LB_RUN_TIMED_OUT ? 0.2 : 20, &report, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, report.end, rows[i].end);
        if (!strstr(report.why, rows[i].why)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, report.why);
        EXPECT_CODE(rows[i].line, report.not_written, M * N);
        expect_no_case_left();
    }
}

static void what_a_program_leaves_running_is_ended(void **state) {
    const lb_case x = case_of(LB_BF16, LB_BF16, NULL, LB_BF16);
    lb_run_report report;
    (void)state;
    assert_int_equal(run_script("(sleep 0.4; echo alive > env) & exit 1", &x, 20, &report, NULL), LB_OK);
    assert_int_equal(run_script("(sleep 0.4; echo alive > env) & sleep 5", &x, 0.1, &report, NULL), LB_OK);
    usleep(600000);
    assert_int_not_equal(access("env", F_OK), 0);
}

static void a_program_that_cannot_be_run_is_a_bad_call(void **state) {
    static char *const programs[] = {"/nonexistent/program", "/tmp", "lastbit-no-such-program"};
    const lb_case x = case_of(LB_BF16, LB_BF16, NULL, LB_BF16);
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        char *const argv[] = {programs[i], NULL};
        lb_run_report report;
        lb_error err = {0};
        assert_int_equal(lb_run_guarded(NULL, argv, &x, 20, y, &report, &err), LB_E_NAME);
        assert_non_null(strstr(err.message, "cannot be run: "));
        assert_non_null(strstr(err.place, programs[i]));
        expect_no_case_left();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_backends_are_listed_in_order_each_with_what_it_is),
        cmocka_unit_test(a_name_that_is_no_device_is_refused_with_what_was_meant),
        cmocka_unit_test(a_model_gives_the_units_bits_and_rounds_them_once_to_another_format),
        cmocka_unit_test(a_model_refuses_other_formats_and_shapes_that_do_not_agree),
        cmocka_unit_test(a_program_sees_the_case_and_its_operands_bit_for_bit),
        cmocka_unit_test(what_a_program_writes_is_taken_by_name_or_as_codes_and_nothing_else),
        cmocka_unit_test(a_program_that_fails_says_how_and_leaves_nothing_behind),
        cmocka_unit_test(what_a_program_leaves_running_is_ended),
        cmocka_unit_test(a_program_that_cannot_be_run_is_a_bad_call),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
