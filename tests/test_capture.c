/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings through a driver of our own (fake_cuda.c): whole and right, or not there and one line that says why. */
#include "test.h"

#include "lastbit/capture.h"
#include "lastbit/run.h"
#include "run/capture_inputs.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/lastbit-test-capture.XXXXXX";
static void *fake;
static unsigned (*fake_calls)(void), (*fake_live)(void);
static void (*fake_reset)(void);

static void tell(const char *cc, const char *fails, const char *lies) {
    setenv("LASTBIT_CUDA_DRIVER", LB_FAKE_CUDA, 1);
    setenv("LASTBIT_FAKE_CC", cc, 1);
    setenv("LASTBIT_FAKE_FAIL", fails, 1);
    setenv("LASTBIT_FAKE_LIE", lies, 1);
}

static int start(void **state) {
    (void)state;
    fake = dlopen(LB_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL); /* kept, so that its counts outlive what is tested */
    if (!fake || !mkdtemp(folder)) return -1;
    *(void **)&fake_calls = dlsym(fake, "fake_calls");
    *(void **)&fake_live = dlsym(fake, "fake_live");
    *(void **)&fake_reset = dlsym(fake, "fake_reset");
    tell("9.0", "", "");
    return fake_calls && fake_live && fake_reset ? 0 : -1;
}

static int end(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return dlclose(fake) | system(command);
}

/* Files of the folder; they are removed. */
static size_t sweep(void) {
    size_t n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        assert_int_equal(unlink(path), 0);
        n++;
    }
    closedir(d);
    return n;
}

static lb_unit unit(const char *name) {
    lb_unit u;
    assert_int_equal(lb_unit_find(name, &u, NULL), LB_OK);
    return u;
}

static lb_capture *opened(size_t dots) {
    lb_capture *c;
    lb_error err = {0};
    const lb_capture_options o = {.folder = folder, .dots = dots, .seed = 7, .command = "a test"};
    if (lb_capture_open(&c, &o, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return c;
}

static const char a_unit[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

/* ---- what is recorded ---------------------------------------------------------------------------------------------------------- */

static uint64_t replay_passes(const char *path, bool is_open) {
    lb_record *r;
    lb_error err = {0};
    if (lb_replay(path, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    if (r->verdict != (is_open ? LB_SKIP : LB_PASS)) fail_msg("%s: %s", path, r->reason);
    const uint64_t words = r->counts.exact;
    lb_record_close(r);
    return words;
}

/* The whole product, which takes the longest, of one unit in eight. */
static bool is_taken(lb_capture_kind kind, size_t unit_number) {
    return kind != LB_CAPTURE_DIRECTED && (kind != LB_CAPTURE_GEMM || unit_number % 8 == 0);
}

static void recordings_of_every_unit_replay_word_for_word(void **state) {
    (void)state;
    static const char *const capabilities[] = {"7.0", "7.5", "8.0", "8.9", "9.0", "10.0", "12.0"};
    uint64_t words = 0;
    size_t units = 0;
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++) {
        tell(capabilities[i], "", "");
        lb_capture *c = opened(24);
        for (size_t row = 0; lb_unit_row(row); row++) {
            const lb_unit *u = lb_unit_row(row);
            if (lb_capture_can(c, u, NULL) != LB_OK) continue;
            units++;
            for (int kind = 0; kind < LB_CAPTURE_KIND_COUNT; kind++) {
                if (!is_taken((lb_capture_kind)kind, units)) continue;
                lb_capture_result r;
                lb_error err = {0};
                if (lb_capture_unit(c, u, (lb_capture_kind)kind, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
                words += replay_passes(r.path, u->path == LB_PATH_NONE);
            }
            sweep();
        }
        lb_capture_close(c);
    }
    print_message("%llu words of %zu units replay\n", (unsigned long long)words, units);
    assert_true(units >= 100);
    assert_int_equal(fake_live(), 0);
    tell("9.0", "", "");
}

static void directed_dots_reach_every_edge(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *cc, *unit, *coverage;
    } rows[] = {
        {__LINE__, "9.0", "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "all; not exercised: chained blocks"},
        {__LINE__, "9.0", "sm_90/mma.m16n8k16.f16.f16.f16.f16", "all; not exercised: chained blocks"},
        {__LINE__, "8.0", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32", "all"},
        {__LINE__, "8.9", "sm_89/mma.m16n8k32.f16.e5m2.e5m2.f16", "all"},
        {__LINE__, "8.9", "sm_89/mma.m16n8k32.f16.e4m3.e4m3.f16", "all"}, /* Inf by c alone: e4m3 has none */
        {__LINE__, "9.0", "sm_90/wgmma.m64n8k16.f32.bf16.bf16", "all; not exercised: chained blocks"},
        {__LINE__, "7.0", "sm_70/mma.m8n8k4.f16.f16.f16.f16", "all; not exercised: chained blocks"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tell(rows[i].cc, "", "");
        lb_capture *c = opened(0);
        lb_capture_result result;
        lb_record *r;
        lb_error err = {0};
        const lb_unit u = unit(rows[i].unit);
        if (lb_capture_unit(c, &u, LB_CAPTURE_DIRECTED, &result, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        assert_int_equal(lb_replay(result.path, &r, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, r->counts.exact, lb_capture_directed_count(&u));
        EXPECT_STRING(rows[i].line, r->coverage, rows[i].coverage);
        lb_record_close(r);
        lb_capture_close(c);
        sweep();
    }
    tell("9.0", "", "");
}

static const char *const said[][2] = {{"lastbit.recording", "dot/1"},
                                      {"unit", a_unit},
                                      {"device", "Fake GPU"},
                                      {"compute_capability", "sm_90"},
                                      {"driver", "CUDA 13.0"},
                                      {"a_format", "f16"},
                                      {"d_format", "f32"},
                                      {"k", "16"},
                                      {"inputs", "dots"},
                                      {"seed", "7"},
                                      {"command", "a test"}};

static void a_recording_says_what_it_was_made_with(void **state) {
    (void)state;
    lb_capture *c = opened(20000); /* more than one chunk */
    lb_capture_result r;
    lb_file *f;
    const lb_unit u = unit(a_unit);
    assert_non_null(strstr(lb_capture_device(c), "Fake GPU (sm_90, CUDA 13.0"));
    assert_int_equal(lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, NULL), LB_OK);
    assert_int_equal(r.outputs, 20000);
    assert_non_null(strstr(r.path, "/sm_90_mma.m16n8k16.f32.f16.f16.f32.dots.safetensors"));
    assert_int_equal(replay_passes(r.path, false), 20000);
    assert_int_equal(lb_file_open(&f, r.path, NULL, NULL), LB_OK);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        const char *value = lb_file_metadata(f, said[i][0]);
        if (!value || strncmp(value, said[i][1], strlen(said[i][1])) != 0) fail_msg("%s is %s", said[i][0], value ? value : "missing");
    }
    assert_non_null(strstr(lb_file_metadata(f, "ptx"), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "));
    assert_int_equal(strlen(lb_file_metadata(f, "date")), strlen("2031-01-01T00:00:00Z"));
    const lb_tensor *a = lb_file_find(f, "a");
    uint64_t want_a[16], want_b[16], want_c;
    for (size_t i = 0; i < 20000; i += 4999) { /* the inputs are what the seed says */
        lb_capture_seeded(&u, 7, 16, i, want_a, want_b, &want_c);
        for (size_t p = 0; p < 16; p++) assert_int_equal(((const uint16_t *)a->data)[i * 16 + p], want_a[p]);
    }
    lb_file_close(f);
    lb_capture_close(c);
    sweep();
}

static void resume_leaves_what_is_there_and_makes_the_rest(void **state) {
    (void)state;
    char part[512];
    const lb_unit u = unit(a_unit);
    lb_capture *c;
    lb_capture_result r;
    const lb_capture_options o = {.folder = folder, .dots = 16, .resume = true};
    snprintf(part, sizeof part, "%s/sm_90_mma.m16n8k16.f32.f16.f16.f32.dots.safetensors.1-0.part", folder);
    FILE *f = fopen(part, "w"); /* of a process that was killed */
    assert_int_equal(fclose(f), 0);
    assert_int_equal(lb_capture_open(&c, &o, NULL), LB_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, NULL), LB_OK);
        assert_int_equal(r.there, again);
    }
    lb_capture_close(c);
    assert_int_equal(sweep(), 2);
}

/* ---- what goes wrong -------------------------------------------------------------------------------------------------------------- */

static lb_status record_one(lb_error *err) {
    lb_capture *c = NULL;
    lb_capture_result r;
    const lb_unit u = unit(a_unit);
    const lb_capture_options o = {.folder = folder, .dots = 16};
    lb_status s = lb_capture_open(&c, &o, err);
    if (s == LB_OK) s = lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, err);
    lb_capture_close(c);
    return s;
}

static void every_call_that_fails_once_is_one_line_and_leaves_nothing(void **state) {
    (void)state;
    lb_error err = {0};
    tell("9.0", "", "");
    fake_reset();
    assert_int_equal(record_one(&err), LB_OK);
    assert_int_equal(sweep(), 1);
    const unsigned calls = fake_calls();
    size_t failed = 0;
    assert_true(calls > 20);
    for (unsigned i = 1; i <= calls; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        tell("9.0", number, "");
        fake_reset();
        err = (lb_error){0};
        const lb_status s = record_one(&err);
        if (fake_live()) fail_msg("call %u: %u things were not released", i, fake_live());
        if (s == LB_OK) { /* a release failed, when all had been read and written */
            if (sweep() != 1) fail_msg("call %u: no recording and no error", i);
            continue;
        }
        failed++;
        if (s != LB_E_DEVICE && s != LB_E_UNAVAILABLE) fail_msg("call %u: status %d", i, (int)s);
        if (!strstr(err.message, "CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure")) fail_msg("call %u: %s", i, err.message);
        if (sweep()) fail_msg("call %u left a file", i);
    }
    tell("9.0", "", "");
    print_message("%zu of %u calls fail as they should; the others release\n", failed, calls);
    assert_true(calls - failed <= 6); /* four buffers, a module, a context */
}

static void a_driver_that_lies_is_caught(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *fails, *lies, *part;
        lb_status status;
    } rows[] = {
        {__LINE__, "", "none", "cuInit: CUDA_ERROR_NO_DEVICE (100)", LB_E_UNAVAILABLE},
        {__LINE__, "", "null-memory", "no memory and no error", LB_E_DEVICE},
        {__LINE__, "", "null-function", "no function and no error", LB_E_DEVICE},
        {__LINE__, "", "flaky", "two runs of the same inputs differ", LB_E_DEVICE},
        {__LINE__, "", "unwritten", "two runs of the same inputs differ", LB_E_DEVICE},
        {__LINE__, "cuMemAlloc_v2", "null-text", "cuMemAlloc_v2: an error without a name (719): the driver says no more", LB_E_DEVICE},
        {__LINE__, "cuMemAlloc_v2,cuGetErrorName,cuGetErrorString", "", "cuMemAlloc_v2: an error without a name (719)", LB_E_DEVICE},
        {__LINE__, "cuModuleLoadDataEx", "", "cuModuleLoadDataEx: CUDA_ERROR_LAUNCH_FAILED", LB_E_DEVICE},
        {__LINE__, "", "refuses", "CUDA_ERROR_INVALID_PTX (218): as the fake was told: ptxas application ptx input, line 1; fatal",
         LB_E_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_error err = {0};
        tell("9.0", rows[i].fails, rows[i].lies);
        fake_reset();
        EXPECT_CODE(rows[i].line, record_one(&err), rows[i].status);
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, fake_live(), 0);
        EXPECT_CODE(rows[i].line, sweep(), 0);
    }
    tell("9.0", "", "unnamed");
    lb_capture *c = opened(16);
    assert_true(strlen(lb_capture_device(c)) < 300);
    lb_capture_close(c);
    tell("9.0", "", "");
}

static void without_a_driver_or_with_an_old_one_it_says_so(void **state) {
    (void)state;
    lb_error err = {0};
    setenv("LASTBIT_CUDA_DRIVER", "/no/such/libcuda.so", 1);
    assert_int_equal(record_one(&err), LB_E_UNAVAILABLE);
    assert_non_null(strstr(err.message, "no NVIDIA driver on this machine: "));
    setenv("LASTBIT_CUDA_DRIVER", LB_FAKE_CUDA_OLD, 1);
    assert_int_equal(record_one(&err), LB_E_UNAVAILABLE);
    assert_non_null(strstr(err.message, "has no cuLaunchKernel"));
    tell("9.0", "", "");
    lb_capture *c;
    const lb_capture_options o = {.folder = folder, .device = 3};
    assert_int_equal(lb_capture_open(&c, &o, &err), LB_E_UNAVAILABLE);
    assert_string_equal(err.message, "no device 3: there are 1");
    assert_int_equal(sweep(), 0);
}

static void a_unit_of_another_gpu_or_without_a_kernel_is_refused_with_the_reason(void **state) {
    (void)state;
    lb_error err = {0};
    lb_capture_result r;
    lb_capture *c = opened(16);
    lb_unit u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    assert_int_equal(lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, &err), LB_E_UNAVAILABLE);
    assert_string_equal(err.message, "not captured: this GPU is sm_90");
    lb_capture_close(c);
    tell("10.0", "", "");
    c = opened(16);
    u = unit("sm_100/tcgen05.m128n8k16.f32.f16.f16");
    assert_int_equal(lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, &err), LB_E_UNAVAILABLE);
    assert_non_null(strstr(err.message, "tensor memory"));
    lb_capture_close(c);
    tell("8.6", "", ""); /* the units of sm_80 are its own */
    c = opened(16);
    u = unit("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    assert_int_equal(lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, &err), LB_OK);
    lb_capture_close(c);
    tell("9.0", "", "");
    assert_int_equal(sweep(), 1);
}

static void a_folder_that_cannot_be_written_is_a_bad_file(void **state) {
    (void)state;
    lb_error err = {0};
    lb_capture *c;
    lb_capture_result r;
    const lb_unit u = unit(a_unit);
    const lb_capture_options o = {.folder = "/dev/null/x", .dots = 16};
    assert_int_equal(lb_capture_open(&c, &o, &err), LB_OK);
    assert_int_equal(lb_capture_unit(c, &u, LB_CAPTURE_DOTS, &r, &err), LB_E_FILE);
    lb_capture_close(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_of_every_unit_replay_word_for_word),
        cmocka_unit_test(directed_dots_reach_every_edge),
        cmocka_unit_test(a_recording_says_what_it_was_made_with),
        cmocka_unit_test(resume_leaves_what_is_there_and_makes_the_rest),
        cmocka_unit_test(every_call_that_fails_once_is_one_line_and_leaves_nothing),
        cmocka_unit_test(a_driver_that_lies_is_caught),
        cmocka_unit_test(without_a_driver_or_with_an_old_one_it_says_so),
        cmocka_unit_test(a_unit_of_another_gpu_or_without_a_kernel_is_refused_with_the_reason),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_a_bad_file),
    };
    return cmocka_run_group_tests(tests, start, end);
}
