/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernel:FILE.json for an operator: the calling convention as default, arguments and sizes of one's own, kernels that misbehave, files that
 * describe none. */
#include "op_run.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/lastbit-kernel-ops.XXXXXX";
static char on[300];

static void path_in(char out[300], const char *name) {
    snprintf(out, 300, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *text) {
    char path[300];
    path_in(path, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) fail_msg("%s cannot be written", path);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    return 0;
}

static int tear_down(void **state) {
    char path[300];
    (void)state;
    path_in(path, "k.json");
    unlink(path);
    path_in(path, "k.cl");
    unlink(path);
    return rmdir(folder);
}

/* The file's device on one case. LB_E_UNAVAILABLE skips the test. */
static lb_status run(const char *op, const char *sizes, const char *format, op_result *r, lb_error *err) {
    lb_device *d;
    lb_op_case *x = op_open(op, sizes, format);
    lb_status s = lb_device_open(&d, on, err);
    if (s == LB_OK) {
        s = op_run(d, x, LB_FUNCTIONS_OPENCL, r, err);
        lb_device_close(d);
    }
    lb_op_case_close(x);
    if (s != LB_E_UNAVAILABLE) return s;
    print_message("SKIP kernels of users: %s\n", err->message);
    skip();
    return s;
}

#define SIGNATURE "kernel void silu_mul(global float *g, global float *u, global float *y, int rows, int d) {\n"
#define INDEX     "    const int i = get_global_id(0);\n    if (i >= rows * d) return;\n"
#define RIGHT     SIGNATURE INDEX "    y[i] = g[i] / (1.0f + exp(-g[i])) * u[i];\n"
#define BRIEF     "{\"language\": \"opencl\", \"op\": \"silu_mul\", \"source\": \"k.cl\", \"in\": \"f32\"}"

static void a_kernel_with_the_calling_convention_needs_no_more_than_its_source(void **state) {
    op_result r;
    lb_error err = {0};
    (void)state;
    write_file("k.cl", RIGHT "}\n");
    write_file("k.json", BRIEF);
    if (run("silu_mul", "rows=3 d=33", "f32", &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    if (r.wrong || r.compared != 99 || r.guard_damage || r.inputs_changed) fail_msg("%zu wrong: %s", r.wrong, r.first);
    EXPECT_CODE(__LINE__, run("silu_mul", "", "f16", &r, &err), LB_E_FORMAT);
    EXPECT_STRING(__LINE__, err.message, "the kernel is for silu_mul in f32");
    EXPECT_CODE(__LINE__, run("gelu", "", "f32", &r, &err), LB_E_FORMAT);
}

/* T, and the work-group's sizes, are what it is compiled with. */
static void the_element_format_and_the_group_are_macros(void **state) {
    static const char *const formats[] = {"f32", "f16", "bf16"};
    (void)state;
    write_file(
        "k.cl",
        "#if LB_T_F32\n#define AT(p) as_uint(((global float *)p)[i])\n#define TO(p, v) ((global float *)p)[i] = as_float(v)\n"
        "#elif LB_T_F16 || LB_T_BF16\n#define AT(p) ((global ushort *)p)[i]\n#define TO(p, v) ((global ushort *)p)[i] = v\n#endif\n"
        "kernel __attribute__((reqd_work_group_size(LB_X, LB_Y, LB_Z))) void move(global void *cache, global void *x,\n"
        "    global void *y, int len, int d, int at, int rows) {\n"
        "    int col = get_global_id(0), row = get_global_id(1), i = row * d + col;\n    if (col >= d) return;\n"
        "    uint v = AT(cache);\n    if (row >= at && row < at + rows) { i -= at * d; v = AT(x); i += at * d; }\n    TO(y, v);\n}\n");
    write_file("k.json", "{\"language\": \"opencl\", \"op\": \"kv_write\", \"source\": \"k.cl\", \"entry\": \"move\"}");
    for (size_t i = 0; i < 3; i++) {
        op_result r;
        lb_error err = {0};
        if (run("kv_write", "len=7 d=35 at=2 rows=4", formats[i], &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (r.wrong || r.compared != 245) fail_msg("%s: %zu wrong: %s", formats[i], r.wrong, r.first);
    }
}

/* Buffers by name, sizes over the operator's parameters, reals by name, in an order of its own. */
static void arguments_and_sizes_of_its_own_are_taken_by_name(void **state) {
    op_result r;
    lb_error err = {0};
    (void)state;
    write_file(
        "k.cl",
        "kernel void norm(float half_eps, long n, global float *y, local float *s, global float *x, global float *gamma, float two) {\n"
        "    const int row = get_global_id(0), lane = get_local_id(1);\n    float sum = 0.0f;\n"
        "    if (lane == 0) { for (int j = 0; j < n; j++) sum += x[row * n + j] * x[row * n + j]; s[0] = sum; }\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    for (int j = lane; j < n; j += 2) y[row * n + j] = x[row * n + j] / sqrt(s[0] / n + half_eps * two) * gamma[j];\n}\n");
    write_file("k.json",
               "{\"language\": \"opencl\", \"op\": \"rmsnorm\", \"source\": \"k.cl\", \"entry\": \"norm\", \"in\": \"f32\",\n"
               "\"args\": [{\"float\": \"eps\"}, {\"long\": \"d\"}, {\"buffer\": \"y\"}, {\"local\": \"4 * rows\"}, {\"buffer\": \"x\"},"
               " {\"buffer\": \"gamma\"}, {\"float\": 1}],\n\"global\": [\"rows\", 2], \"local\": [1, 2]}");
    if (run("rmsnorm", "rows=5 d=31 eps=0.5", "f32", &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    if (r.wrong || r.compared != 155 || r.guard_damage || r.inputs_changed) fail_msg("%zu wrong: %s", r.wrong, r.first);
}

static void a_kernel_that_misbehaves_leaves_marks(void **state) {
    static const struct {
        int line;
        const char *text;
        size_t wrong, unwritten;
        uint64_t guard_damage;
        bool inputs_changed;
    } rows[] = {
        {__LINE__, RIGHT "}\n", 0, 0, 0, false},
        {__LINE__, RIGHT "    if (i == 0) y[rows * d] = 1;\n}\n", 0, 0, 4, false},
        {__LINE__, RIGHT "    if (i < 2) g[i - 2] = 1;\n}\n", 0, 0, 8, false},
        {__LINE__, RIGHT "    if (i == 5) u[i] = 7;\n}\n", 0, 0, 0, true},
        {__LINE__, RIGHT "    if (i == 9) y[i] += 0.0f * g[rows * d];\n}\n", 1, 0, 0,
         false}, /* a tail that is read, and masked by a zero */
        {__LINE__, RIGHT "    if (i == 9) y[i] += 0.0f * u[-1];\n}\n", 1, 0, 0, false},
        {__LINE__, SIGNATURE "}\n", 768, 768, 0, false},
        {__LINE__, SIGNATURE INDEX "    if (i != 40) y[i] = g[i] / (1.0f + exp(-g[i])) * u[i];\n}\n", 1, 1, 0, false},
        {__LINE__, SIGNATURE INDEX "    y[i] = g[i] / (1.0f + exp(-g[i]));\n}\n", 768, 0, 0, false},
    };
    (void)state;
    write_file("k.json", BRIEF);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_result r;
        lb_error err = {0};
        write_file("k.cl", rows[i].text);
        if (run("silu_mul", "", "f32", &r, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, r.wrong, rows[i].wrong);
        EXPECT_CODE(rows[i].line, r.unwritten, rows[i].unwritten);
        EXPECT_CODE(rows[i].line, r.guard_damage, rows[i].guard_damage);
        EXPECT_CODE(rows[i].line, r.inputs_changed, rows[i].inputs_changed);
    }
}

#define START "{\"language\": \"opencl\", \"op\": \"silu_mul\", \"source\": \"k.cl\""

static void a_description_with_one_thing_wrong_is_refused_with_the_reason(void **state) {
    static const struct {
        int line;
        const char *text, *part;
    } rows[] = {
        {__LINE__, "{\"language\": \"opencl\", \"op\": \"silumul\", \"source\": \"k.cl\"}",
         "no operator \"silumul\"; did you mean silu_mul"},
        {__LINE__, "{\"language\": \"opencl\", \"op\": 1, \"source\": \"k.cl\"}", "\"op\" should be a string"},
        {__LINE__, START ", \"out\": \"f32\"}", "\"out\" goes with a product"},
        {__LINE__, START ", \"tb\": true}", "\"tb\" goes with a product"},
        {__LINE__, START ", \"in\": \"f33\"}", "\"in\": f33: "},
        {__LINE__, START ", \"entry\": \"other\"}", "no kernel \"other\""},
        {__LINE__, START ", \"args\": []}", "no buffer y, so nothing would be written"},
        {__LINE__, START ", \"args\": [{\"buffer\": \"d\"}]}", "a buffer is one of \"g\", \"u\", \"y\""},
        {__LINE__, START ", \"args\": [{\"int\": \"m\"}]}", "no such name"},
        {__LINE__, START ", \"args\": [{\"float\": \"eps\"}]}", "a number or a parameter's name"},
        {__LINE__, START ", \"args\": [{\"buffer\": \"y\"}]}", "takes 5 arguments, 1 are given"},
        {__LINE__, START ", \"global\": [\"n\"]}", "no such name"},
        {__LINE__, START ", \"local\": [8]}", "\"global\" should hold"},
        {__LINE__, START ", \"global\": [\"rows * d\"], \"local\": [7]}", "no multiple of 7"},
        {__LINE__, "{\"language\": \"opencl\", \"source\": \"k.cl\", \"in\": \"f32\", \"out\": \"f32\"}", "\"entry\" should be a string"},
    };
    (void)state;
    write_file("k.cl", RIGHT "}\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_result r;
        lb_error err = {0};
        write_file("k.json", rows[i].text);
        const lb_status s = run("silu_mul", "", "f32", &r, &err);
        if (s != LB_E_FILE || !strstr(err.message, rows[i].part) || !strstr(err.place, "k.json"))
            fail_msg("row at %s:%d: status %d: %s: %s", __FILE__, rows[i].line, (int)s, err.place, err.message);
    }
}

/* A run takes less than a millisecond; to compile takes PoCL 40 of them even where its cache on disk has the text. */
static void a_program_is_compiled_once_a_device(void **state) {
    char text[4000];
    struct timespec now;
    double first = 0, least = 1e9;
    lb_device *d;
    lb_error err = {0};
    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "constant long salt = %lld%09ld;\n" RIGHT "    if (rows < 0) y[i] += salt;\n}\n", (long long)now.tv_sec,
             now.tv_nsec);
    write_file("k.cl", text);
    write_file("k.json", BRIEF);
    if (lb_device_open(&d, on, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    for (int i = 0; i < 10; i++) {
        lb_op_case *x = op_open("silu_mul", "", "f32");
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        const lb_status s = lb_device_run_op(d, x, 60, &err);
        clock_gettime(CLOCK_MONOTONIC, &end);
        lb_op_case_close(x);
        if (s == LB_E_UNAVAILABLE) skip();
        if (s != LB_OK) fail_msg("%s: %s", err.place, err.message);
        const double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        if (i == 0) first = seconds;
        if (i > 0 && seconds < least) least = seconds;
    }
    lb_device_close(d);
    if (least > 0.01) fail_msg("the first run took %g s, the fastest of nine more %g s", first, least);
    print_message("first %.3g s, then %.3g s\n", first, least);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_with_the_calling_convention_needs_no_more_than_its_source),
        cmocka_unit_test(the_element_format_and_the_group_are_macros),
        cmocka_unit_test(arguments_and_sizes_of_its_own_are_taken_by_name),
        cmocka_unit_test(a_kernel_that_misbehaves_leaves_marks),
        cmocka_unit_test(a_program_is_compiled_once_a_device),
        cmocka_unit_test(a_description_with_one_thing_wrong_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
