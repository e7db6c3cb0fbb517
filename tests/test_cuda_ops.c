/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CUDA without a GPU: our kernels compile to PTX, and ptxas assembles it; what a launch hands to the driver, marks and errors, through a
 * driver of our own (fake_cuda.c) that knows a few kernels by name. */
#include "op_run.h"

#include "backends/cuda/nvrtc.h"
#include "backends/cuda/ptx_entry.h"
#include "backends/own.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/lastbit-cuda-ops.XXXXXX";
static char on[300];
static void *fake;
static unsigned (*fake_live)(void);
static const char *(*fake_launched)(void);

static void write_file(const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) fail_msg("%s cannot be written", path);
}

static int start(void **state) {
    (void)state;
    fake = dlopen(LB_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL); /* kept, so that what it tells outlives what is tested */
    if (!fake || !mkdtemp(folder)) return -1;
    *(void **)&fake_live = dlsym(fake, "fake_live");
    *(void **)&fake_launched = dlsym(fake, "fake_launched");
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    setenv("LASTBIT_CUDA_DRIVER", LB_FAKE_CUDA, 1);
    return fake_live && fake_launched ? 0 : -1;
}

static int end(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return dlclose(fake) | system(command);
}

/* ---- our kernels, compiled -------------------------------------------------------------------------------------------------------- */

static lb_nvrtc *compiler(void) {
    lb_nvrtc *c;
    lb_error err = {0};
    const lb_status s = lb_nvrtc_open(&c, &err);
    if (s == LB_E_UNAVAILABLE) {
        print_message("SKIP nvrtc: %s\n", err.message);
        skip();
    }
    if (s != LB_OK) fail_msg("%s", err.message);
    return c;
}

/* PTX of a file of ours; a word of the compiler's is a failure. */
static char *compiled(lb_nvrtc *c, const char *file, const char *options, int capability) {
    char *source, *ptx, *log;
    lb_error err = {0};
    assert_int_equal(lb_own_source(lb_cuda_kind.before, file, &source, &err), LB_OK);
    const lb_status s = lb_nvrtc_compile(c, source, options, capability, &ptx, &log, &err);
    if (s != LB_OK || (log && *log)) fail_msg("%s %s: %s\n%s", file, options, err.message, log ? log : "");
    free(source);
    free(log);
    return ptx;
}

/* Bytes of what the calling convention hands over. */
static void expect_convention(const char *ptx, const lb_op_case *x, const char *entry) {
    size_t bytes[LB_PTX_PARAMS], count;
    const unsigned buffers = x->op->in_count + x->op->out_count;
    if (!lb_ptx_entry(ptx, entry, bytes, &count)) fail_msg("no entry %s", entry);
    if (count != buffers + x->op->param_count) fail_msg("%s takes %zu parameters", entry, count);
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != (i < buffers ? 8 : 4)) fail_msg("%s: parameter %zu has %zu bytes", entry, i, bytes[i]);
}

static void each_operator_compiles_in_each_format_without_a_warning(void **state) {
    static const char *const formats[] = {"f32", "f16", "bf16"};
    lb_nvrtc *c = compiler();
    size_t compiles = 0, entries = 0;
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        char *ptx = NULL, last[300] = "";
        const char *file = "";
        for (size_t i = 0; lb_launch_row(i); i++) {
            const lb_launch *l = lb_launch_row(i);
            lb_op_case *x = op_open(l->op, "", formats[f]);
            lb_source_job job = {0};
            char flags[300];
            assert_int_equal(lb_launch_grid(l, x, job.global, job.local, &job.dims, NULL), LB_OK);
            assert_int_equal(lb_launch_flags(x, &job, flags, sizeof flags, NULL), LB_OK);
            if (strcmp(l->file, file) != 0 || strcmp(flags, last) != 0) { /* the rows of a file lie together */
                free(ptx);
                ptx = compiled(c, file = l->file, flags, 80);
                snprintf(last, sizeof last, "%s", flags);
                compiles++;
            }
            expect_convention(ptx, x, l->entry);
            entries++;
            lb_op_case_close(x);
        }
        free(ptx);
    }
    lb_nvrtc_close(c);
    print_message("%zu entries of %zu texts\n", entries, compiles);
    assert_int_equal(entries, 3 * 37);
}

static const char *ptxas(void) {
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0) return places[i];
    return NULL;
}

static int assemble(const char *name, const char *arch) {
    char command[1200];
    snprintf(command, sizeof command, "%s -arch=%s -o /dev/null %s/%s >%s/log 2>&1", ptxas(), arch, folder, name, folder);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ptxas_assembles_what_they_compile_to(void **state) {
    static const struct {
        const char *file, *options;
        int capability;
        const char *arch;
    } rows[] = {
        {"rows", "-DLB_T_F16=1 -DLB_X=64 -DLB_Y=1 -DLB_Z=1", 80, "sm_80"},
        {"elements", "-DLB_T_BF16=1 -DLB_X=64 -DLB_Y=1 -DLB_Z=1", 90, "sm_90"},
        {"product", "-DLB_X=16 -DLB_Y=16 -DLB_Z=1 -DLB_IN_A=in_e4m3 -DLB_IN_B=in_e5m2 -DLB_IN_C=in_bf16 -DLB_OUT=out_f16 -DLB_TURNED=1", 80,
         "sm_120"},
        {"product", "-DLB_X=16 -DLB_Y=16 -DLB_Z=1 -DLB_IN_A=in_f32 -DLB_IN_B=in_f16 -DLB_OUT=out_bf16 -DLB_TURNED=0", 120, "sm_120"},
    };
    lb_nvrtc *c = compiler();
    (void)state;
    if (!ptxas()) {
        print_message("SKIP ptxas: not here; the CUDA toolkit's cuda-nvcc has it\n");
        lb_nvrtc_close(c);
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *ptx = compiled(c, rows[i].file, rows[i].options, rows[i].capability);
        write_file("k.ptx", ptx);
        if (assemble("k.ptx", rows[i].arch) != 0) fail_msg("%s for %s", rows[i].file, rows[i].arch);
        free(ptx);
    }
    write_file("k.ptx", ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry f() { no_such_thing; }\n");
    assert_int_not_equal(assemble("k.ptx", "sm_80"), 0);
    lb_nvrtc_close(c);
}

/* The promise of docs/howto/run-on-cuda.md, in the instructions: quotients and roots are rounded once, nothing is flushed, a product and a
 * sum become an fma. */
static void the_flags_are_those_that_are_documented(void **state) {
    lb_nvrtc *c = compiler();
    char *rows = compiled(c, "rows", "-DLB_T_F32=1 -DLB_X=64 -DLB_Y=1 -DLB_Z=1", 80);
    char *rope = compiled(c, "rope", "-DLB_T_F32=1 -DLB_X=32 -DLB_Y=1 -DLB_Z=1", 80);
    (void)state;
    assert_non_null(strstr(rows, "div.rn.f32"));
    assert_non_null(strstr(rows, "sqrt.rn.f32"));
    assert_null(strstr(rows, "div.approx"));
    assert_null(strstr(rows, "div.full"));
    assert_null(strstr(rows, "sqrt.approx"));
    assert_non_null(strstr(rope, "fma.rn.f32"));
    assert_null(strstr(rope, "fma.rn.ftz"));
    free(rows);
    free(rope);
    lb_nvrtc_close(c);
}

static void a_source_that_does_not_compile_says_where(void **state) {
    lb_nvrtc *c = compiler();
    char *ptx, *log;
    lb_error err = {0};
    (void)state;
    EXPECT_CODE(__LINE__, lb_nvrtc_compile(c, "void f( {\n", "", 80, &ptx, &log, &err), LB_E_DEVICE);
    if (!strstr(err.message, "kernel.cu(1): error") || strchr(err.message, '\n')) fail_msg("%s", err.message);
    free(log);
    EXPECT_CODE(__LINE__, lb_nvrtc_compile(c, "", "", 20, &ptx, NULL, &err), LB_E_UNAVAILABLE);
    if (!strstr(err.message, "this GPU is sm_20")) fail_msg("%s", err.message);
    lb_nvrtc_close(c);
}

/* ---- PTX of the user's ------------------------------------------------------------------------------------------------------------- */

#define HEAD  ".version 7.0\n.target sm_70\n.address_size 64\n"
#define THREE ".param .u64 x, .param .u64 .ptr .global .align 4 y, .param .b64 z"
#define BODY  "{ ret; }\n"
#define ADD(name)                                                                                                                          \
    HEAD "// .entry " name "(.param .u8 no)\n/* .entry " name "() */\n.visible .entry fake_other(" THREE ")\n" BODY                        \
         ".visible .entry " name "(\n" THREE ",\n.param .u32 n)\n.maxntid 64, 1, 1\n" BODY
#define BRIEF(entry) "{\"language\": \"ptx\", \"op\": \"add\", \"source\": \"k.ptx\", \"in\": \"f32\", \"entry\": \"" entry "\"}"

/* One operator's case on the file's device. */
static lb_status run(const char *sizes, const char *format, op_result *r, lb_error *err) {
    lb_device *d;
    lb_op_case *x = op_open("add", sizes, format);
    lb_status s = lb_device_open(&d, on, err);
    if (s == LB_OK) {
        s = op_run(d, x, LB_FUNCTIONS_IEEE, r, err);
        lb_device_close(d);
    }
    lb_op_case_close(x);
    assert_int_equal(fake_live(), 0);
    return s;
}

static void a_launch_has_its_grid_and_leaves_marks(void **state) {
    static const struct {
        int line;
        const char *ptx, *json;
        size_t wrong, unwritten;
        uint64_t guard_damage;
        bool inputs_changed;
    } rows[] = {
        {__LINE__, ADD("fake_add"), BRIEF("fake_add"), 0, 0, 0, false},
        {__LINE__, ADD("fake_short"), BRIEF("fake_short"), 1, 1, 0, false},
        {__LINE__, ADD("fake_nothing"), BRIEF("fake_nothing"), 100, 100, 0, false},
        {__LINE__, ADD("fake_behind"), BRIEF("fake_behind"), 0, 0, 4, false},
        {__LINE__, ADD("fake_before"), BRIEF("fake_before"), 0, 0, 8, false},
        {__LINE__, ADD("fake_input"), BRIEF("fake_input"), 0, 0, 0, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_result r;
        lb_error err = {0};
        write_file("k.ptx", rows[i].ptx);
        write_file("k.json", rows[i].json);
        if (run("n=100", "f32", &r, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_STRING(rows[i].line, fake_launched(), "2x1x1 of 64x1x1, 0");
        EXPECT_CODE(rows[i].line, r.compared, 100);
        EXPECT_CODE(rows[i].line, r.wrong, rows[i].wrong);
        EXPECT_CODE(rows[i].line, r.unwritten, rows[i].unwritten);
        EXPECT_CODE(rows[i].line, r.guard_damage, rows[i].guard_damage);
        EXPECT_CODE(rows[i].line, r.inputs_changed, rows[i].inputs_changed);
    }
}

/* Arguments in the file's words, memory of the block, and a grid of three sizes. */
static void sizes_and_local_memory_of_its_own_reach_the_launch(void **state) {
    op_result r;
    lb_error err = {0};
    (void)state;
    write_file("k.ptx", ADD("fake_add"));
    write_file("k.json",
               "{\"language\": \"ptx\", \"op\": \"add\", \"source\": \"k.ptx\", \"in\": \"f32\", \"entry\": \"fake_add\",\n"
               "\"args\": [{\"buffer\": \"x\"}, {\"local\": \"4 * n\"}, {\"buffer\": \"y\"}, {\"buffer\": \"z\"}, {\"uint\": \"n\"}],\n"
               "\"global\": [\"roundup(n, 8)\", 4, 3], \"local\": [8, 2, 1]}");
    if (run("n=100", "f32", &r, &err) != LB_OK) fail_msg("%s", err.message);
    EXPECT_STRING(__LINE__, fake_launched(), "13x2x3 of 8x2x1, 400");
    if (r.wrong || r.compared != 100) fail_msg("%s", r.first);
}

static void a_product_runs(void **state) {
    enum { M = 5, N = 7, K = 9 };
    static float a[M * K], b[K * N], d_codes[M * N];
    lb_device *d;
    lb_error err = {0};
    const lb_case x = {.op = "matmul",
                       .a = lb_mat_of(lb_format_row(LB_F32), a, M, K),
                       .b = lb_mat_of(lb_format_row(LB_F32), b, K, N),
                       .out = lb_format_row(LB_F32)};
    (void)state;
    for (int i = 0; i < M * K; i++) a[i] = (float)(i % 5 - 2);
    for (int i = 0; i < K * N; i++) b[i] = (float)(i % 7 - 3);
    write_file("k.ptx", HEAD ".entry fake_product(" THREE ", .param .u32 m, .param .u32 n, .param .u32 k)\n" BODY);
    write_file(
        "k.json",
        "{\"language\": \"ptx\", \"source\": \"k.ptx\", \"in\": \"f32\", \"out\": \"f32\", \"entry\": \"fake_product\",\n"
        "\"args\": [{\"buffer\": \"a\"}, {\"buffer\": \"b\"}, {\"buffer\": \"d\"}, {\"int\": \"m\"}, {\"int\": \"n\"}, {\"int\": \"k\"}],\n"
        "\"global\": [\"roundup(n, 16)\", \"roundup(m, 16)\"], \"local\": [16, 16]}");
    if (lb_device_open(&d, on, &err) != LB_OK || lb_device_run(d, &x, d_codes, 60, &err) != LB_OK) fail_msg("%s", err.message);
    if (!strstr(lb_device_detail(d), "Fake GPU (sm_90), driver CUDA 13.0")) fail_msg("%s", lb_device_detail(d));
    lb_device_close(d);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int l = 0; l < K; l++) sum += a[i * K + l] * b[l * N + j];
            if (d_codes[i * N + j] != sum) fail_msg("%d, %d: %g, not %g", i, j, (double)d_codes[i * N + j], (double)sum);
        }
}

#define START "{\"language\": \"ptx\", \"op\": \"add\", \"source\": \"k.ptx\""
#define ENTRY START ", \"in\": \"f32\", \"entry\": \"fake_add\""

static void what_is_wrong_is_said(void **state) {
    static const char args[] = ENTRY ", \"args\": [{\"buffer\": \"x\"}, {\"buffer\": \"y\"}, {\"buffer\": \"z\"}";
    static const struct {
        int line;
        const char *head, *tail, *fails;
        lb_status status;
        const char *part;
    } rows[] = {
        {__LINE__, START, "}", "", LB_E_FILE, "\"in\": ptx is compiled for one element format"},
        {__LINE__, ENTRY, ", \"options\": \"-O3\"}", "", LB_E_FILE, "\"options\": ptx is compiled already"},
        {__LINE__, START, ", \"in\": \"f32\"}", "", LB_E_FILE, "\"entry\": the source has no kernel \"add\""},
        {__LINE__, args, "]}", "", LB_E_FILE, "the kernel takes 4 arguments, 3 are given"},
        {__LINE__, args, ", {\"int\": 1}, {\"int\": 1}]}", "", LB_E_FILE, "the kernel takes 4 arguments, 5 are given"},
        {__LINE__, args, ", {\"long\": 1}]}", "", LB_E_FILE, "argument 3, from 0, has 8 bytes; the kernel's parameter has 4"},
        {__LINE__, args, ", {\"local\": 8}, {\"int\": 1}, {\"local\": 8}]}", "", LB_E_FILE, "CUDA has one \"local\" a launch"},
        {__LINE__, ENTRY, ", \"global\": [64]}", "", LB_E_FILE, "\"local\": CUDA wants the sizes of a block"},
        {__LINE__, ENTRY, ", \"global\": [1, 65536], \"local\": [1, 1]}", "", LB_E_SHAPE, "65536 blocks in y: CUDA takes 65535"},
        {__LINE__, ENTRY, ", \"device\": \"1\"}", "", LB_E_UNAVAILABLE, "no device 1: there are 1"},
        {__LINE__, ENTRY, ", \"device\": \"H200\"}", "", LB_E_NAME, "\"H200\" is no CUDA device: cuda takes an index"},
        {__LINE__, ENTRY, "}", "cuLaunchKernel", LB_E_DEVICE, "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED"},
        {__LINE__, ENTRY, "}", "cuMemAlloc_v2", LB_E_DEVICE, "cuMemAlloc_v2: CUDA_ERROR_LAUNCH_FAILED"},
        {__LINE__, ENTRY, "}", "cuMemcpyDtoH_v2", LB_E_DEVICE, "cuMemcpyDtoH_v2: CUDA_ERROR_LAUNCH_FAILED"},
        {__LINE__, ENTRY, "}", "cuCtxSetCurrent", LB_E_DEVICE, "cuCtxSetCurrent: CUDA_ERROR_LAUNCH_FAILED"},
        {__LINE__, ENTRY, "}", "cuCtxSynchronize", LB_E_DEVICE, "cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED"},
    };
    (void)state;
    write_file("k.ptx", ADD("fake_add"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_result r;
        lb_error err = {0};
        char json[1000];
        snprintf(json, sizeof json, "%s%s", rows[i].head, rows[i].tail);
        write_file("k.json", json);
        setenv("LASTBIT_FAKE_FAIL", rows[i].fails, 1);
        EXPECT_CODE(rows[i].line, run("n=100", "f32", &r, &err), rows[i].status);
        setenv("LASTBIT_FAKE_FAIL", "", 1);
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
}

/* What no driver takes fails the kernel, with the first line of the driver's log. */
static void refused_ptx_fails_with_the_drivers_first_line(void **state) {
    op_result r;
    lb_error err = {0};
    (void)state;
    write_file("k.ptx", HEAD ".entry other_add(" THREE ", .param .u32 n) { no_such_thing; }\n");
    write_file("k.json", BRIEF("other_add"));
    EXPECT_CODE(__LINE__, run("n=100", "f32", &r, &err), LB_E_DEVICE);
    if (!strstr(err.message, "CUDA_ERROR_INVALID_PTX (218)") || !strstr(err.message, "line 1; fatal : ")) fail_msg("%s", err.message);
    if (strstr(err.message, "more")) fail_msg("%s", err.message);
}

/* ---- where something is missing ------------------------------------------------------------------------------------------------------ */

static int cli(const char *arguments) {
    char command[1000];
    snprintf(command, sizeof command, "%s %s >%s/log 2>&1", LB_CLI_PATH, arguments, folder);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_driver_or_compiler_it_is_unavailable_and_says_so(void **state) {
    static const struct {
        int line;
        const char *driver, *nvrtc, *on, *part;
    } rows[] = {
        {__LINE__, "/no/libcuda.so", "", "cuda", "no NVIDIA driver on this machine"},
        {__LINE__, "/no/libcuda.so", "", "", "no NVIDIA driver on this machine"},
        {__LINE__, LB_FAKE_CUDA_OLD, "", "", "this driver has no cuLaunchKernel; it is too old"},
        {__LINE__, LB_FAKE_CUDA, "/no/libnvrtc.so", "cuda:0", "pip install nvidia-cuda-nvrtc"},
    };
    (void)state;
    write_file("k.ptx", ADD("fake_add"));
    write_file("k.json", BRIEF("fake_add"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_device *d;
        lb_error err = {0};
        char text[500];
        op_result r;
        const char *name = *rows[i].on ? rows[i].on : on;
        setenv("LASTBIT_CUDA_DRIVER", rows[i].driver, 1);
        setenv("LASTBIT_NVRTC", rows[i].nvrtc, 1);
        EXPECT_CODE(rows[i].line, *rows[i].on ? lb_device_open(&d, name, &err) : run("n=100", "f32", &r, &err), LB_E_UNAVAILABLE);
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        snprintf(text, sizeof text, "parity --op add --on %s", name);
        EXPECT_CODE(rows[i].line, cli(text), 3);
    }
    setenv("LASTBIT_CUDA_DRIVER", LB_FAKE_CUDA, 1);
    unsetenv("LASTBIT_NVRTC");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_compiles_in_each_format_without_a_warning),
        cmocka_unit_test(ptxas_assembles_what_they_compile_to),
        cmocka_unit_test(the_flags_are_those_that_are_documented),
        cmocka_unit_test(a_source_that_does_not_compile_says_where),
        cmocka_unit_test(a_launch_has_its_grid_and_leaves_marks),
        cmocka_unit_test(sizes_and_local_memory_of_its_own_reach_the_launch),
        cmocka_unit_test(a_product_runs),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(refused_ptx_fails_with_the_drivers_first_line),
        cmocka_unit_test(without_driver_or_compiler_it_is_unavailable_and_says_so),
    };
    return cmocka_run_group_tests(tests, start, end);
}
