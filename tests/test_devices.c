/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kernels as text on an OpenCL device, behind guards: the right one, those that misbehave, and files that describe none. */
#include "test.h"

#include "lastbit/run.h"

#include <stdlib.h>
#include <unistd.h>

enum { M = 12, N = 20, K = 50 }; /* ragged, and a K that is no multiple of the tile */

static char folder[] = "/tmp/lastbit-devices.XXXXXX";
static uint16_t a[M * K], b[K * N], y[M * N];
static lb_case x;

static void path_in(char *out, size_t size, const char *name) {
    snprintf(out, size, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *text) {
    char path[200];
    path_in(path, sizeof path, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) fail_msg("%s cannot be written", path);
}

static void remove_file(const char *name) {
    char path[200];
    path_in(path, sizeof path, name);
    unlink(path);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    x = (lb_case){.op = "matmul",
                  .a = lb_mat_of(lb_format_row(LB_BF16), a, M, K),
                  .b = lb_mat_of(lb_format_row(LB_BF16), b, K, N),
                  .out = lb_format_row(LB_BF16)};
    lb_draw_mat(&x.a, LB_DIST_NORMAL, 5, 1);
    lb_draw_mat(&x.b, LB_DIST_NORMAL, 5, 2);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    remove_file("k.json");
    remove_file("k.cl");
    return rmdir(folder);
}

static lb_record *check(const lb_case *product, const char *on, double timeout) {
    lb_check_options o = {.x = *product, .on = on, .timeout_seconds = timeout};
    lb_error err = {0};
    lb_record *r;
    assert_int_equal(lb_contract_find("m16-tc", &o.contract, NULL), LB_OK);
    if (lb_check(&o, &r, &err) != LB_OK) fail_msg("%s: %s: %s", on, err.place, err.message);
    return r;
}

/* Rows need a device; where there is none the test is skipped, and says so. */
static void want_device(void) {
    lb_run_report report;
    lb_error err = {0};
    if (lb_run_guarded("kernel:" LB_SOURCE_DIR "/examples/gemm.json", NULL, &x, 60, y, &report, &err) != LB_E_UNAVAILABLE) return;
    print_message("SKIP kernels as text: %s\n", err.message);
    skip();
}

/* ---- the examples -------------------------------------------------------------------------------------------------------------- */

static void the_example_passes_on_ragged_shapes_and_one_without_its_tail_fails(void **state) {
    (void)state;
    want_device();
    lb_record *r = check(&x, "kernel:" LB_SOURCE_DIR "/examples/gemm.json", 60);
    if (r->verdict != LB_PASS) fail_msg("%s", r->reason);
    assert_int_equal(r->counts.compared, M * N);
    lb_record_close(r);
    r = check(&x, "kernel:" LB_SOURCE_DIR "/examples/gemm_lost_tail.json", 60);
    assert_int_equal(r->verdict, LB_FAIL);
    assert_true(r->counts.wrong > M * N / 2);
    lb_record_close(r);
    lb_case whole = x; /* the same kernel where K is whole tiles: nothing is lost */
    whole.a = lb_mat_of(x.a.format, a, M, K - K % 16);
    whole.b = lb_mat_of(x.b.format, b, K - K % 16, N);
    r = check(&whole, "kernel:" LB_SOURCE_DIR "/examples/gemm_lost_tail.json", 60);
    if (r->verdict != LB_PASS) fail_msg("%s", r->reason);
    lb_record_close(r);
}

/* ---- the JSON ------------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *key, *value;
} defaults[] = {
    {"language", "\"opencl\""},
    {"source", "\"k.cl\""},
    {"entry", "\"f\""},
    {"in", "\"bf16\""},
    {"out", "\"bf16\""},
    {"args", "[{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"d\"}, {\"int\": \"m\"}, {\"int\": \"n\"}, {\"int\": \"k\"}]"},
    {"global", "[\"n\", \"m\"]"},
};

/* k.json: the defaults, with one key given another value (JSON text; NULL drops it), or one more key. */
static void write_json(const char *key, const char *value) {
    static char text[64000];
    size_t used = 0;
    bool replaced = false;
    text[0] = 0;
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const bool same = key && strcmp(key, defaults[i].key) == 0;
        const char *v = same ? value : defaults[i].value;
        replaced = replaced || same;
        if (v) used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\": %s", used ? ", " : "{", defaults[i].key, v);
    }
    if (key && !replaced) used += (size_t)snprintf(text + used, sizeof text - used, ", \"%s\": %s", key, value);
    snprintf(text + used, sizeof text - used, "}");
    write_file("k.json", text);
}

/* k.cl: one work-item an output; i is its row, j its column. */
static void write_kernel(const char *body) {
    char text[4000];
    snprintf(text, sizeof text,
             "__kernel void f(__global ushort *a, __global ushort *b, __global ushort *d, const int m, const int n, const int k) {\n"
             "    const int j = get_global_id(0), i = get_global_id(1);\n    %s\n}\n",
             body);
    write_file("k.cl", text);
}

static void on_k_json(char *on, size_t size) {
    snprintf(on, size, "kernel:%s/k.json", folder);
}

/* ---- kernels that misbehave ---------------------------------------------------------------------------------------------------- */

#define RIGHT                                                                                                                              \
    "float s = 0; for (int p = 0; p < k; p++) s += as_float((uint)a[i * k + p] << 16) * as_float((uint)b[p * n + j] << 16);"               \
    "d[i * n + j] = (as_uint(s) + 0x7fffu + (as_uint(s) >> 16 & 1u)) >> 16; "

static const struct {
    int line;
    const char *body;
    lb_verdict verdict;
    const char *cause, *reason; /* parts */
} kernels[] = {
    {__LINE__, RIGHT, LB_PASS, "", ""},
    {__LINE__, RIGHT "if (i == 0 && j < 4) d[m * n + j] = 7;", LB_FAIL, "writes outside the output", "8 bytes outside"},
    {__LINE__, RIGHT "if (i == 0 && j < 4) d[j - 4] = 7;", LB_FAIL, "writes outside the output", "8 bytes outside"},
    {__LINE__, RIGHT "if (i == 0 && j == 0) d[m * n + 2047] = 7;", LB_FAIL, "writes outside the output", "2 bytes outside"},
    {__LINE__, RIGHT "if (i == 0 && j == 0) b[k * n] = 7;", LB_FAIL, "writes outside the output", "2 bytes outside"},
    {__LINE__, "", LB_FAIL, "not written", "240 of 240"},
    {__LINE__, "if (i == m - 1 && j == n - 1) return; " RIGHT, LB_FAIL, "not written", "1 of 240"},
    {__LINE__, RIGHT "if (i == 3 && j == 0) a[i * k] ^= 1;", LB_FAIL, "writes to its inputs", "A, B or C"},
    {__LINE__, RIGHT "if (i == 3 && j == 0) b[k * n - 1] ^= 0x8000;", LB_FAIL, "writes to its inputs", "A, B or C"},
    {__LINE__, RIGHT "if (i == 3 && j == 0) d[i * n + j] = 0x7fc0;", LB_FAIL, "", "1 of 240"},
    {__LINE__, "volatile __global int *spin = (volatile __global int *)d; while (*spin != 1) {}", LB_FAIL, "the device hung",
     "1 s (--timeout)"},
    {__LINE__, "volatile __global int *nowhere = (volatile __global int *)(size_t)64; nowhere[i] = 1;", LB_FAIL, "the device crashed",
     "signal 11"},
    {__LINE__, "this is no C;", LB_FAIL, "the device failed", "does not compile: "},
};

static void a_kernel_that_misbehaves_is_fail_with_its_reason(void **state) {
    char on[200];
    (void)state;
    want_device();
    on_k_json(on, sizeof on);
    write_json(NULL, NULL);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        write_kernel(kernels[i].body);
        const bool hangs = strstr(kernels[i].body, "spin") != NULL;
        lb_record *r = check(&x, on, hangs ? 1 : 60);
        const char *cause = r->cause, *reason = r->reason;
        if (r->verdict != kernels[i].verdict || !strstr(cause, kernels[i].cause) || !strstr(reason, kernels[i].reason))
            fail_msg("row at %s:%d: %s, cause \"%s\", reason \"%s\"", __FILE__, kernels[i].line, lb_verdict_name(r->verdict), cause,
                     reason);
        lb_record_close(r);
    }
}

/* ---- files that describe no kernel --------------------------------------------------------------------------------------------- */

#define ABD "{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"d\"}"

/* A key of k.json with another value, JSON text (NULL: left out). */
static const struct {
    int line;
    const char *key, *value;
    lb_status status;
    const char *part; /* of the message */
} specs[] = {
    {__LINE__, "entri", "\"f\"", LB_E_FILE, "unknown key \"entri\"; did you mean entry"},
    {__LINE__, "zzzzzzzzzzzz", "1", LB_E_FILE, "unknown key \"zzzzzzzzzzzz\""},
    {__LINE__, "language", NULL, LB_E_FILE, "\"language\" should be a string"},
    {__LINE__, "source", NULL, LB_E_FILE, "\"source\" should be a string"},
    {__LINE__, "entry", NULL, LB_E_FILE, "\"entry\" should be a string"},
    {__LINE__, "in", NULL, LB_E_FILE, "\"in\" should be a string"},
    {__LINE__, "out", NULL, LB_E_FILE, "\"out\" should be a string"},
    {__LINE__, "args", NULL, LB_E_FILE, "\"args\" should be an array"},
    {__LINE__, "global", NULL, LB_E_FILE, "\"global\" should hold one to three sizes"},
    {__LINE__, "entry", "3", LB_E_FILE, "\"entry\" should be a string"},
    {__LINE__, "in", "[]", LB_E_FILE, "\"in\" should be a string"},
    {__LINE__, "in", "\"bf61\"", LB_E_FILE, "\"in\": bf61: "},
    {__LINE__, "in_b", "null", LB_E_FILE, "\"in_b\" should be a string"},
    {__LINE__, "acc", "1", LB_E_FILE, "\"acc\" should be a string"},
    {__LINE__, "tb", "\"yes\"", LB_E_FILE, "\"tb\" should be true or false"},
    {__LINE__, "options", "[\"-g\"]", LB_E_FILE, "\"options\" should be a string"},
    {__LINE__, "device", "0", LB_E_FILE, "\"device\" should be a string"},
    {__LINE__, "device", "\"no such thing\"", LB_E_UNAVAILABLE, "no OpenCL device has \"no such thing\""},
    {__LINE__, "device", "\"4000000000\"", LB_E_UNAVAILABLE, "they count from 0"},
    {__LINE__, "language", "\"fortran\"", LB_E_FILE, "\"fortran\" is not run here; opencl, glsl, hlsl and ptx are"},
    {__LINE__, "source", "\"absent.cl\"", LB_E_FILE, "absent.cl: No such file"},
    {__LINE__, "source", "\".\"", LB_E_FILE, "cannot be read"},
    {__LINE__, "entry", "\"g\"", LB_E_FILE, "no kernel \"g\""},
    {__LINE__, "args", "{}", LB_E_FILE, "\"args\" should be an array"},
    {__LINE__, "args", "[]", LB_E_FILE, "no buffer d"},
    {__LINE__, "args", "[{\"buffer\": \"a\"}]", LB_E_FILE, "no buffer d"},
    {__LINE__, "args", "[1]", LB_E_FILE, "each is {"},
    {__LINE__, "args", "[{}]", LB_E_FILE, "each is {"},
    {__LINE__, "args", "[{\"int\": 1, \"uint\": 1}]", LB_E_FILE, "each is {"},
    {__LINE__, "args", "[{\"double\": 1}]", LB_E_FILE, "each is {"},
    {__LINE__, "args", "[{\"float\": \"m\"}]", LB_E_FILE, "each is {"},
    {__LINE__, "args", "[{\"buffer\": \"e\"}]", LB_E_FILE, "a buffer is"},
    {__LINE__, "args", "[{\"buffer\": 1}]", LB_E_FILE, "a buffer is"},
    {__LINE__, "args", "[{\"buffer\": \"c\"}]", LB_E_FILE, "buffer c wants \"acc\""},
    {__LINE__, "args", "[{\"int\": 2147483648}]", LB_E_FILE, "does not fit in int"},
    {__LINE__, "args", "[{\"uint\": \"0 - 1\"}]", LB_E_FILE, "does not fit in uint"},
    {__LINE__, "args", "[{\"local\": 0}]", LB_E_FILE, "does not fit in local"},
    {__LINE__, "args", "[{\"int\": 1.5}]", LB_E_FILE, "a whole number or an expression"},
    {__LINE__, "args", "[" ABD ", {\"int\": \"m\"}, {\"int\": \"n\"}]", LB_E_FILE, "6 arguments"},
    {__LINE__, "args", "[" ABD ", {\"int\": 1}, {\"int\": 1}, {\"int\": 1}, {\"int\": 1}]", LB_E_FILE, "6 arguments"},
    {__LINE__, "args", "[" ABD ", {\"long\": 1}, {\"int\": 1}, {\"int\": 1}]", LB_E_FILE, "refuses argument 3"},
    {__LINE__, "global", "[]", LB_E_FILE, "one to three sizes"},
    {__LINE__, "global", "[1, 1, 1, 1]", LB_E_FILE, "one to three sizes"},
    {__LINE__, "global", "7", LB_E_FILE, "one to three sizes"},
    {__LINE__, "global", "[0, 1]", LB_E_FILE, "size 0 is 0"},
    {__LINE__, "global", "[\"n\", \"0 - m\"]", LB_E_FILE, "size 1 is -12"},
    {__LINE__, "global", "[\"n\", \"4294967296\"]", LB_E_FILE, "size 1 is 4294967296"},
    {__LINE__, "local", "[7, 1]", LB_E_FILE, "size 0 is 20, no multiple of 7"},
    {__LINE__, "local", "[1, 5]", LB_E_FILE, "size 1 is 12, no multiple of 5"},
    {__LINE__, "local", "[4]", LB_E_FILE, "\"local\" has 1 sizes, \"global\" 2"},
    {__LINE__, "global", "[\"n / 0\", 1]", LB_E_FILE, "column 6: division by zero"},
    {__LINE__, "global", "[\"n % (m - m)\", 1]", LB_E_FILE, "division by zero"},
    {__LINE__, "global", "[\"ceildiv(n, 0)\", 1]", LB_E_FILE, "wants a >= 0 and b > 0"},
    {__LINE__, "global", "[\"roundup(0 - 1, 8)\", 1]", LB_E_FILE, "wants a >= 0 and b > 0"},
    {__LINE__, "global", "[\"9223372036854775808\", 1]", LB_E_FILE, "too large"},
    {__LINE__, "global", "[\"n * 9223372036854775807\", 1]", LB_E_FILE, "too large"},
    {__LINE__, "global", "[\"9223372036854775807 + 1\", 1]", LB_E_FILE, "too large"},
    {__LINE__, "global", "[\"0 - 9223372036854775807 - 2\", 1]", LB_E_FILE, "too large"},
    {__LINE__, "global", "[\"roundup(9223372036854775807, 2)\", 1]", LB_E_FILE, "too large"},
    {__LINE__, "global", "[\"x\", 1]", LB_E_FILE, "no such name; m, n and k are"},
    {__LINE__, "global", "[\"mn\", 1]", LB_E_FILE, "no such name"},
    {__LINE__, "global", "[\"log(m, n)\", 1]", LB_E_FILE, "no such function"},
    {__LINE__, "global", "[\"min(m)\", 1]", LB_E_FILE, "a comma should stand here"},
    {__LINE__, "global", "[\"min(m, n\", 1]", LB_E_FILE, "a ) should stand here"},
    {__LINE__, "global", "[\"\", 1]", LB_E_FILE, "a number, a name or a ( should stand here"},
    {__LINE__, "global", "[\"n +\", 1]", LB_E_FILE, "a number, a name or a ( should stand here"},
    {__LINE__, "global", "[\"-n\", 1]", LB_E_FILE, "a number, a name or a ( should stand here"},
    {__LINE__, "global", "[\"n m\", 1]", LB_E_FILE, "something stands behind"},
    {__LINE__, "global", "[\"n)\", 1]", LB_E_FILE, "something stands behind"},
};

/* The run could not begin: one line that says why, from the file. */
static void expect_refusal(int line, lb_status status, const char *part) {
    char on[200];
    lb_run_report report;
    lb_error err = {0};
    on_k_json(on, sizeof on);
    const lb_status got = lb_run_guarded(on, NULL, &x, 60, y, &report, &err);
    if (got != status || !strstr(err.message, part) || !strstr(err.place, "k.json"))
        fail_msg("row at %s:%d: status %d, %s: %s (%s)", __FILE__, line, (int)got, err.place, err.message, report.why);
}

static void a_description_with_one_thing_wrong_is_refused_with_the_reason(void **state) {
    (void)state;
    want_device();
    write_kernel(RIGHT);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        write_json(specs[i].key, specs[i].value);
        expect_refusal(specs[i].line, specs[i].status, specs[i].part);
    }
}

static void a_file_that_is_no_description_is_refused_with_its_line(void **state) {
    static const struct {
        int line;
        const char *text, *part;
    } files[] = {
        {__LINE__, "", "line 1"},
        {__LINE__, "\n\n{\"language\" \"opencl\"}", "line 3: "},
        {__LINE__, "[]", "a kernel is a JSON object"},
        {__LINE__, "\"kernel\"", "line 1"},
        {__LINE__, "{\"language\": \"opencl\", \"language\": \"opencl\"}", "duplicate"},
        {__LINE__, "{} {}", "end of file expected"},
        {__LINE__, "{\"entry\": \"\xff\"}", "byte 0xff"},
    };
    enum { DEEP = 10000 };
    static char text[3 * DEEP];
    char on[200];
    lb_run_report report;
    lb_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_file("k.json", files[i].text);
        expect_refusal(files[i].line, LB_E_FILE, files[i].part);
    }
    memset(text, '[', DEEP); /* the reader's stack has an end */
    text[DEEP] = 0;
    write_file("k.json", text);
    expect_refusal(__LINE__, LB_E_FILE, "depth");
    remove_file("k.json");
    expect_refusal(__LINE__, LB_E_FILE, "No such file");
    on_k_json(on, sizeof on);
    on[strlen(on) - strlen("/k.json")] = 0; /* the folder */
    assert_int_equal(lb_run_guarded(on, NULL, &x, 60, y, &report, &err), LB_E_FILE);
    want_device();
    write_kernel(RIGHT);
    snprintf(text, sizeof text, "[\"%*s", DEEP, ""); /* an expression nested as deep, likewise */
    memset(text + 2, '(', DEEP);
    snprintf(text + 2 + DEEP, sizeof text - 2 - DEEP, "n%*s", DEEP, "");
    memset(text + 3 + DEEP, ')', DEEP - 1);
    snprintf(text + 2 + 2 * DEEP, sizeof text - 2 - 2 * DEEP, ")\", 1]");
    write_json("global", text);
    expect_refusal(__LINE__, LB_E_FILE, "nested too deep");
}

/* ---- cases and arguments of every kind ----------------------------------------------------------------------------------------- */

static void a_case_of_another_kind_is_refused_with_what_the_kernel_takes(void **state) {
    static float c[M * N];
    static const char takes[] = "the kernel takes A in bf16, B in bf16 stored [k][n], no C, and gives bf16";
    char on[200];
    const lb_case right = x;
    lb_device *d;
    (void)state;
    want_device();
    write_kernel(RIGHT);
    write_json(NULL, NULL);
    on_k_json(on, sizeof on);
    lb_case cases[5] = {right, right, right, right, right};
    cases[0].a.format = lb_format_row(LB_F16);
    cases[1].b.format = lb_format_row(LB_F16);
    cases[2].out = lb_format_row(LB_F16);
    cases[3].b_transposed = true;
    cases[3].b = lb_mat_of(x.b.format, b, N, K);
    cases[4].c = lb_mat_of(lb_format_row(LB_F32), c, M, N);
    assert_int_equal(lb_device_open(&d, on, NULL), LB_OK);
    for (size_t i = 0; i < 5; i++) {
        const char *why;
        lb_run_report report;
        lb_error err = {0};
        if (lb_device_can(d, &cases[i], &why)) fail_msg("case %zu: it should not fit", i);
        EXPECT_STRING(i, why, takes);
        EXPECT_CODE(i, lb_run_guarded(on, NULL, &cases[i], 60, y, &report, &err), LB_E_FORMAT);
        EXPECT_STRING(i, err.message, takes);
    }
    lb_device_close(d);
    lb_record *r = check(&right, on, 60);
    assert_int_equal(r->verdict, LB_PASS);
    lb_record_close(r);
    write_json("acc", "\"f32\""); /* a kernel that wants a C, and a case that has none */
    expect_refusal(__LINE__, LB_E_FORMAT, "C in f32");
}

/* One argument of each kind; what the kernel saw of them, and of C, comes back in d. */
static void arguments_of_every_kind_arrive_with_their_values(void **state) {
    static const uint32_t want[] = {0xfffffff9, 0xffffffff, 0xfffffff0, 0x00000007, 0x3fc00000, 0x40490fdb, 64, 0x20};
    static uint32_t c[8], d[8];
    uint16_t one[8] = {0};
    char on[200];
    lb_run_report report;
    lb_error err = {0};
    (void)state;
    want_device();
    for (size_t i = 0; i < 8; i++) c[i] = 0x40490fdb;
    const lb_case eight = {.op = "matmul",
                           .a = lb_mat_of(lb_format_row(LB_F16), one, 8, 1),
                           .b = lb_mat_of(lb_format_row(LB_F16), one, 1, 1),
                           .c = lb_mat_of(lb_format_row(LB_F32), c, 8, 1),
                           .out = lb_format_row(LB_F32)};
    write_file("k.cl", "__kernel void f(int i, uint u, long l, ulong m, float r, __global uint *c, __local uint *s, __global uint *d) {\n"
                       "    s[0] = 64; s[15] = 0;\n"
                       "    d[0] = (uint)i; d[1] = u; d[2] = (uint)(l >> 4); d[3] = (uint)(m >> 3); d[4] = as_uint(r); d[5] = c[7];\n"
                       "    d[6] = s[0] + s[15]; d[7] = get_global_size(0) * 16 + get_local_size(0) * 16;\n}\n");
    write_file("k.json",
               "{\"language\": \"opencl\", \"source\": \"k.cl\", \"entry\": \"f\", \"in\": \"f16\", \"acc\": \"f32\", \"out\": \"f32\",\n"
               "\"args\": [{\"int\": \"k - m\"}, {\"uint\": 4294967295}, {\"long\": \"0 - m * 32\"}, {\"ulong\": \"m * 7 + n\"},\n"
               "{\"float\": 1.5}, {\"buffer\": \"c\"}, {\"local\": \"ceildiv(m, 3) * 4 * 6\"}, {\"buffer\": \"d\"}],\n"
               "\"global\": [\"min(m, max(n, k))\"], \"local\": [1], \"options\": \"-DUNUSED=1\"}");
    on_k_json(on, sizeof on);
    if (lb_run_guarded(on, NULL, &eight, 60, d, &report, &err) != LB_OK || report.end != LB_RUN_DONE)
        fail_msg("%s: %s%s", err.place, err.message, report.why);
    for (size_t i = 0; i < 8; i++) EXPECT_CODE(i, d[i], want[i]);
    assert_int_equal(report.guard_damage, 0);
    assert_false(report.inputs_changed);
    assert_non_null(strstr(report.detail, "OpenCL "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_passes_on_ragged_shapes_and_one_without_its_tail_fails),
        cmocka_unit_test(a_kernel_that_misbehaves_is_fail_with_its_reason),
        cmocka_unit_test(a_description_with_one_thing_wrong_is_refused_with_the_reason),
        cmocka_unit_test(a_file_that_is_no_description_is_refused_with_its_line),
        cmocka_unit_test(a_case_of_another_kind_is_refused_with_what_the_kernel_takes),
        cmocka_unit_test(arguments_of_every_kind_arrive_with_their_values),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
