/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Requests: recordings without outputs, which capture answers through a driver of our own (fake_cuda.c). */
#include "test.h"

#include "lastbit/capture.h"
#include "lastbit/run.h"

#include <stdlib.h>
#include <unistd.h>

enum { DOTS = 37, K = 40, M = 20, N = 11 }; /* K: two and a half steps; M, N: ragged */

static char folder[] = "/tmp/lastbit-test-requests.XXXXXX", asked[64], answers[64], answered[80];

static int start(void **state) {
    (void)state;
    setenv("LASTBIT_CUDA_DRIVER", LB_FAKE_CUDA, 1);
    if (!mkdtemp(folder)) return -1;
    snprintf(asked, sizeof asked, "%s/ask.safetensors", folder);
    snprintf(answers, sizeof answers, "%s/answers", folder);
    snprintf(answered, sizeof answered, "%s/ask.safetensors", answers);
    return 0;
}

static int end(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

typedef struct request {
    const char *kind, *unit, *flag, *c_format;
    bool with_d;
    size_t rows; /* of c, for a shape that is wrong; 0: right */
} request;

static void write_request(const request *q) {
    static uint16_t a[DOTS * K], b[K * DOTS];
    static uint32_t c[DOTS * N];
    const bool gemm = strcmp(q->kind, "gemm/1") == 0;
    const size_t rows = gemm ? M : DOTS;
    lb_mat ma = lb_mat_of(lb_format_row(LB_BF16), a, rows, K);
    lb_mat mb = gemm ? lb_mat_of(lb_format_row(LB_BF16), b, K, N) : lb_mat_of(lb_format_row(LB_BF16), b, DOTS, K);
    lb_mat mc = gemm ? lb_mat_of(lb_format_row(LB_F32), c, M, N) : lb_mat_of(lb_format_row(LB_F32), c, 1, DOTS);
    lb_draw_mat(&ma, LB_DIST_WIDE, 3, 1);
    lb_draw_mat(&mb, LB_DIST_WIDE, 3, 2);
    lb_draw_mat(&mc, LB_DIST_WIDE, 3, 3);
    const size_t c_rows = q->rows ? q->rows : mc.rows;
    const lb_tensor tensors[] = {
        {"a", lb_dtype_find("u16"), 2, {ma.rows, ma.cols}, a, ma.rows * ma.cols * 2},
        {"b", lb_dtype_find("u16"), 2, {mb.rows, mb.cols}, b, mb.rows * mb.cols * 2},
        {"c", lb_dtype_find("u32"), 2, {c_rows, mc.cols}, c, c_rows * mc.cols * 4},
        {"d", lb_dtype_find("u32"), 2, {c_rows, mc.cols}, c, c_rows * mc.cols * 4},
    };
    const char *const metadata[] = {"lastbit.recording", q->kind,     "unit", q->unit, "a_format",        "bf16", "b_format", "bf16",
                                    "c_format",          q->c_format, "edge", "D1",    "lastbit.request", q->flag};
    lb_error err = {0};
    if (lb_safetensors_write(asked, tensors, q->with_d ? 4 : 3, metadata, 7, &err) != LB_OK) fail_msg("%s", err.message);
}

static lb_status answer(const char *to, bool resume, lb_capture_result *r, lb_error *err) {
    lb_capture *c;
    const lb_capture_options o = {.folder = to, .resume = resume};
    assert_int_equal(lb_capture_open(&c, &o, err), LB_OK);
    const lb_status s = lb_capture_request(c, asked, r, err);
    lb_capture_close(c);
    return s;
}

static const char a_unit[] = "sm_90/mma.m16n8k16.f32.bf16.bf16.f32";

static void an_answer_replays_and_keeps_what_the_request_said(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *kind, *unit;
        size_t words;
    } rows[] = {
        {__LINE__, "dot/1", "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", DOTS},
        {__LINE__, "gemm/1", "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", M * N},
        {__LINE__, "dot/1", "sm_90a/wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16", DOTS}, /* n is free */
        {__LINE__, "gemm/1", "sm_90/wgmma.m64n256k16.f32.bf16.bf16", M * N},
        {__LINE__, "dot/1", "sm_90/wgmma.m64n88k16.f32.bf16.bf16", DOTS}, /* more columns than rows of dots */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_capture_result result;
        lb_error err = {0};
        lb_record *r;
        lb_file *f;
        const request q = {.kind = rows[i].kind, .unit = rows[i].unit, .flag = "1", .c_format = "f32"};
        write_request(&q);
        if (answer(answers, false, &result, &err) != LB_OK)
            fail_msg("row at %s:%d: %s: %s", __FILE__, rows[i].line, err.place, err.message);
        assert_string_equal(result.path, answered);
        if (lb_replay(answered, &r, &err) != LB_OK) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, r->verdict, LB_PASS);
        EXPECT_CODE(rows[i].line, r->counts.exact, rows[i].words);
        lb_record_close(r);
        assert_int_equal(lb_file_open(&f, answered, NULL, NULL), LB_OK);
        EXPECT_STRING(rows[i].line, lb_file_metadata(f, "edge"), "D1");
        EXPECT_STRING(rows[i].line, lb_file_metadata(f, "device"), "Fake GPU");
        assert_null(lb_file_metadata(f, "lastbit.request"));
        lb_file_close(f);
        assert_int_equal(answer(answers, true, &result, &err), LB_OK);
        assert_true(result.there);
        assert_int_equal(unlink(answered), 0);
    }
}

static void what_is_no_request_is_refused_and_nothing_is_written(void **state) {
    (void)state;
    static const struct {
        int line;
        request q;
        lb_status status;
        const char *part;
    } rows[] = {
        {__LINE__, {"dot/1", a_unit, "0", "f32", false, 0}, LB_E_FILE, "is no request"},
        {__LINE__, {"dot/1", a_unit, "1", "f32", true, 0}, LB_E_FILE, "no tensor d"},
        {__LINE__, {"net/1", a_unit, "1", "f32", false, 0}, LB_E_FILE, "kind \"net/1\""},
        {__LINE__, {"dot/1", "sm_90/mma.m16n8k16.f32.bf16.bf17.f32", "1", "f32", false, 0}, LB_E_NAME, "nearest"},
        {__LINE__, {"dot/1", a_unit, "1", "f16", false, 0}, LB_E_FILE, "c_format is f16"},
        {__LINE__, {"dot/1", a_unit, "1", "f32", false, 2}, LB_E_FILE, "c and d of 37 elements"},
        {__LINE__, {"gemm/1", a_unit, "1", "f32", false, 19}, LB_E_FILE, "c and d be 20x11"},
        {__LINE__, {"dot/1", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32", "1", "f32", false, 0}, LB_E_UNAVAILABLE, "this GPU is sm_90"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_capture_result result;
        lb_error err = {0};
        write_request(&rows[i].q);
        EXPECT_CODE(rows[i].line, answer(answers, false, &result, &err), rows[i].status);
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, access(answered, F_OK) == 0, 0);
    }
}

static void an_answer_never_replaces_its_request(void **state) {
    (void)state;
    lb_capture_result result;
    lb_error err = {0};
    const request q = {.kind = "dot/1", .unit = a_unit, .flag = "1", .c_format = "f32"};
    write_request(&q);
    assert_int_equal(answer(folder, false, &result, &err), LB_E_ARG);
    assert_non_null(strstr(err.message, "would replace the request"));
    assert_int_equal(answer(answers, false, &result, &err), LB_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_replays_and_keeps_what_the_request_said),
        cmocka_unit_test(what_is_no_request_is_refused_and_nothing_is_written),
        cmocka_unit_test(an_answer_never_replaces_its_request),
    };
    return cmocka_run_group_tests(tests, start, end);
}
