/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices that misbehave: each ends its own case, with the reason, and none looks like a pass. OpenCL kernels run where a device is. */
#include "test.h"

#include "base/expr.h"
#include "lastbit/run.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { M = 20, N = 12, K = 50 };

static char folder[] = "/tmp/lastbit-test-guarded.XXXXXX";
static uint16_t a[M * K], b[K * N];

static void remove_all(const char *path) {
    char inner[600];
    DIR *d = opendir(path);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && unlink(inner) != 0) remove_all(inner);
    }
    if (d) closedir(d);
    rmdir(path);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    setenv("TMPDIR", folder, 1); /* where case folders go */
    lb_mat ma = lb_mat_of(lb_format_row(LB_BF16), a, M, K), mb = lb_mat_of(lb_format_row(LB_BF16), b, K, N);
    lb_draw_mat(&ma, LB_DIST_NORMAL, 1, 1);
    lb_draw_mat(&mb, LB_DIST_NORMAL, 1, 2);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    remove_all(folder);
    return 0;
}

static lb_check_options options(double timeout) {
    lb_check_options o = {.x = {.op = "matmul",
                                .a = lb_mat_of(lb_format_row(LB_BF16), a, M, K),
                                .b = lb_mat_of(lb_format_row(LB_BF16), b, K, N),
                                .out = lb_format_row(LB_BF16)},
                          .timeout_seconds = timeout};
    assert_int_equal(lb_contract_find("m16-tc", &o.contract, NULL), LB_OK);
    return o;
}

/* ---- programs ----------------------------------------------------------------------------------------------------------------- */

static char program[] = LB_BINARY_DIR "/examples/my_kernel";

static void a_program_is_judged_and_every_way_to_fail_has_its_reason(void **state) {
    (void)state;
    static const struct {
        int line;
        char *argv[3];
        double timeout;
        lb_verdict want;
        const char *reason;
    } rows[] = {
        {__LINE__, {program}, 60, LB_PASS, "exact"},
        {__LINE__, {program, "--lose-tail"}, 60, LB_FAIL, "of 240 elements are wrong"},
        {__LINE__, {program, "--nan"}, 60, LB_FAIL, "1 of 240"},
        {__LINE__, {program, "--hang"}, 0.3, LB_FAIL, "the device hung: no answer in 0.3 s"},
        {__LINE__, {program, "--crash"}, 60, LB_FAIL, "the device failed: "}, /* a signal; under a sanitizer its exit code */
        {__LINE__, {program, "--silent"}, 60, LB_FAIL, "wrote no out.safetensors"},
        {__LINE__, {program, "--garbage"}, 60, LB_FAIL, "out.safetensors: byte 8"},
        {__LINE__, {"/bin/false"}, 60, LB_FAIL, "exit code 1"},
        {__LINE__, {"/bin/true"}, 60, LB_FAIL, "wrote no out.safetensors"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_check_options o = options(rows[i].timeout);
        lb_record *r;
        lb_error err = {0};
        o.argv = rows[i].argv;
        if (lb_check(&o, &r, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        if (r->verdict != rows[i].want || !strstr(r->reason, rows[i].reason))
            fail_msg("row at %s:%d: %s %s", __FILE__, rows[i].line, lb_verdict_name(r->verdict), r->reason);
        lb_record_close(r);
    }
    DIR *d = opendir(folder); /* every case folder is gone */
    struct dirent *e;
    while ((e = readdir(d))) assert_int_equal(strncmp(e->d_name, "lastbit.", 8) != 0, 1);
    closedir(d);
}

static void a_program_that_does_not_exist_is_a_bad_call(void **state) {
    (void)state;
    lb_check_options o = options(5);
    char *argv[] = {"/nonexistent/kernel", NULL};
    lb_record *r;
    lb_error err = {0};
    o.argv = argv;
    assert_int_equal(lb_check(&o, &r, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "cannot be run"));
}

/* ---- kernels as text ------------------------------------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

#define ARGS       "[{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"d\"}, {\"int\": \"m\"}, {\"int\": \"n\"}, {\"int\": \"k\"}]"
#define SPEC(rest) "{\"language\": \"opencl\", \"source\": \"k.cl\", \"entry\": \"run\", \"in\": \"bf16\", \"out\": \"bf16\", " rest "}"
#define WHOLE      SPEC("\"args\": " ARGS ", \"global\": [\"m*n\"]")

static lb_status check_kernel(const char *spec, const char *source, double timeout, lb_record **r, lb_error *err) {
    char on[600];
    lb_check_options o = options(timeout);
    write_file("k.json", spec);
    write_file("k.cl", source);
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    o.on = on;
    return lb_check(&o, r, err);
}

#define HEAD                                                                                                                               \
    "__kernel void run(__global ushort *a, __global ushort *b, __global ushort *d, int m, int n, int k) { const int i = "                  \
    "get_global_id(0); "
#define DOT                                                                                                                                \
    "float s = 0; for (int p = 0; p < k; p++) s += as_float((uint)a[i / n * k + p] << 16) * as_float((uint)b[p * n + i % n] << 16);"       \
    " const uint u = as_uint(s); d[i] = (u + 0x7fff + (u >> 16 & 1)) >> 16; "

static void kernels_that_misbehave_end_their_case_with_the_reason(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *source;
        double timeout;
        lb_verdict want;
        const char *reason;
    } rows[] = {
        {__LINE__, HEAD DOT "}", 60, LB_PASS, "exact"},
        {__LINE__, HEAD DOT "if (i == 0) d[m * n] = 7; }", 60, LB_FAIL, "outside the output"},
        {__LINE__, HEAD DOT "if (i == 0) d[m * n + 100] = 7; }", 60, LB_FAIL, "outside the output"},
        {__LINE__, HEAD DOT "if (i == 0) d[-1] = 7; }", 60, LB_FAIL, "outside the output"},
        {__LINE__, HEAD DOT "if (i == 0) b[k * n] = 7; }", 60, LB_FAIL, "outside the output"},
        {__LINE__, HEAD DOT "if (i == 7) a[3] ^= 1; }", 60, LB_FAIL, "inputs"},
        {__LINE__, HEAD "}", 60, LB_FAIL, "240 of 240 elements are wrong"},
        {__LINE__, HEAD "if (i % 2) { " DOT " } }", 60, LB_FAIL, "120 of 240 elements are wrong"},
        {__LINE__, HEAD "volatile int x = 1; while (x) ; d[i] = 0; }", 1, LB_FAIL, "hung"},
        {__LINE__, HEAD "this is no C }", 60, LB_FAIL, "does not compile"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record *r;
        lb_error err = {0};
        if (check_kernel(WHOLE, rows[i].source, rows[i].timeout, &r, &err) != LB_OK)
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        if (r->verdict == LB_UNPROVEN && strstr(r->reason, "nothing ran")) {
            print_message("SKIP kernels on OpenCL: %s\n", r->reason);
            lb_record_close(r);
            skip();
        }
        if (r->verdict != rows[i].want || !strstr(r->reason, rows[i].reason))
            fail_msg("row at %s:%d: %s %s", __FILE__, rows[i].line, lb_verdict_name(r->verdict), r->reason);
        lb_record_close(r);
    }
}

static void a_malformed_description_is_refused_by_its_key(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *spec, *part;
    } rows[] = {
        {__LINE__, "", "line 1"},
        {__LINE__, "[1]", "JSON object"},
        {__LINE__, "{\"langage\": \"opencl\"}", "did you mean language"},
        {__LINE__, SPEC("\"args\": " ARGS), "global"},
        {__LINE__, SPEC("\"args\": 5, \"global\": [1]"), "args"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"e\"}], \"global\": [1]"), "a buffer is"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"a\"}], \"global\": [1]"), "no buffer d"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"c\"}], \"global\": [1]"), "acc"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"d\"}, {\"int\": \"4294967296\"}], \"global\": [1]"), "does not fit in int"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"d\"}], \"global\": [\"m/(n-n)\"]"), "division by zero"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"d\"}], \"global\": [\"q\"]"), "no such name"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"d\"}], \"global\": [0]"), "size 0 is 0"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"d\"}], \"global\": [30], \"local\": [16]"), "no multiple of 16"},
        {__LINE__, SPEC("\"args\": [{\"buffer\": \"d\"}], \"global\": [30], \"local\": [1, 1]"), "2 sizes"},
        {__LINE__, SPEC("\"tb\": 1, \"args\": [{\"buffer\": \"d\"}], \"global\": [1]"), "true or false"},
        {__LINE__, SPEC("\"acc\": \"f33\", \"args\": [{\"buffer\": \"d\"}], \"global\": [1]"), "f33"},
        {__LINE__, SPEC("\"acc\": \"f32\", \"args\": [{\"buffer\": \"d\"}], \"global\": [1]"), "the kernel takes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record *r;
        lb_error err = {0};
        const lb_status s = check_kernel(rows[i].spec, HEAD DOT "}", 60, &r, &err);
        if (s == LB_OK) {
            print_message("SKIP kernels on OpenCL: %s\n", r->reason); /* built without OpenCL */
            assert_int_equal(r->verdict, LB_UNPROVEN);
            lb_record_close(r);
            skip();
        }
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
}

static void sizes_are_exact_or_refused(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text;
        int64_t want; /* -1: refused */
    } rows[] = {
        {__LINE__, "m", 64},
        {__LINE__, "2 + 3 * 4", 14},
        {__LINE__, "(2+3)*4", 20},
        {__LINE__, "roundup(n,16)", 48},
        {__LINE__, "roundup(k,16)", 112},
        {__LINE__, "ceildiv(k,16)", 7},
        {__LINE__, "min(m,n)-max(1,2)", 46},
        {__LINE__, "k%7/2", 1},
        {__LINE__, "10-2-3", 5},
        {__LINE__, "", -1},
        {__LINE__, "m n", -1},
        {__LINE__, "(m", -1},
        {__LINE__, "m/0", -1},
        {__LINE__, "m%0", -1},
        {__LINE__, "9223372036854775807+1", -1},
        {__LINE__, "9223372036854775808", -1},
        {__LINE__, "4611686018427387904*2", -1},
        {__LINE__, "roundup(9223372036854775807,2)", -1},
        {__LINE__, "roundup(m,0)", -1},
        {__LINE__, "mn", -1},
        {__LINE__, "abs(m,n)", -1},
        {__LINE__, "-1", -1},
        {__LINE__, "m;", -1},
    };
    const lb_expr_var sizes[] = {{"m", 64}, {"n", 48}, {"k", 100}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t got = -1;
        lb_error err = {0};
        const lb_status s = lb_expr_eval(rows[i].text, sizes, 3, "row", &got, &err);
        EXPECT_CODE(rows[i].line, s == LB_OK, rows[i].want >= 0);
        if (s == LB_OK) EXPECT_CODE(rows[i].line, (uint64_t)got, (uint64_t)rows[i].want);
    }
    static char deep[20001];
    int64_t got;
    lb_error err;
    memset(deep, '(', sizeof deep - 1);
    assert_int_equal(lb_expr_eval(deep, sizes, 3, "deep", &got, &err), LB_E_FILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_judged_and_every_way_to_fail_has_its_reason),
        cmocka_unit_test(a_program_that_does_not_exist_is_a_bad_call),
        cmocka_unit_test(kernels_that_misbehave_end_their_case_with_the_reason),
        cmocka_unit_test(a_malformed_description_is_refused_by_its_key),
        cmocka_unit_test(sizes_are_exact_or_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
