/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A device that works on the very arrays that it is given, without a copy: what the worker's own guards and hashes see. */
#include "test.h"

#include "backends/device.h"
#include "run/worker.h"

#include <signal.h>
#include <stdlib.h>

/* add, and what n asks for. */
static lb_status run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    const size_t n = x->out[0].dims[0];
    float *z = x->out[0].codes;
    float *a = x->in[0].codes, *b = x->in[1].codes;
    (void)d;
    (void)timeout_seconds;
    if (n == 104) return LB_OK;
    if (n == 105) return lb_fail(err, LB_E_DEVICE, "mine", "no more");
    for (size_t i = 0; i < n; i++) z[i] = a[i] + b[i];
    if (n == 101) memset(z + n, 0, 12);
    if (n == 102) memset(z - 2, 0, 8);
    if (n == 103) b[n / 2] += 1.0F;
    if (n == 106) z[n - 1] = a[n]; /* read past an input: its guard is NaN */
    if (n == 107) memset(a - 1, 0, 4);
    if (n == 108) raise(SIGKILL);
    return LB_OK;
}

static bool can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    (void)d;
    *why_not = "add only";
    return strcmp(x->op->name, "add") == 0;
}

static void close_it(lb_device *d) {
    free(d);
}

static const lb_backend mine = {.name = "mine", .summary = "adds in place", .close = close_it, .can_op = can_op, .run_op = run_op};

static lb_status open_mine(lb_device **out, const void *what, lb_error *err) {
    if (strcmp(what, "closed") == 0) return lb_fail(err, LB_E_UNAVAILABLE, "mine", "it is closed");
    if (strcmp(what, "crash") == 0) raise(SIGSEGV);
    while (strcmp(what, "hang") == 0) {}
    *out = calloc(1, sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, "mine", "no memory");
    (*out)->backend = &mine;
    snprintf((*out)->name, sizeof(*out)->name, "mine");
    snprintf((*out)->detail, sizeof(*out)->detail, "version 1");
    return LB_OK;
}

static const struct {
    int line;
    size_t n;
    lb_run_end end;
    uint64_t guard_damage, not_written;
    bool inputs_changed, restarts;
} rows[] = {
    {__LINE__, 100, LB_RUN_DONE, 0, 0, false, false},
    {__LINE__, 101, LB_RUN_DONE, 12, 0, false, true},
    {__LINE__, 100, LB_RUN_DONE, 0, 0, false, false},
    {__LINE__, 102, LB_RUN_DONE, 8, 0, false, true},
    {__LINE__, 103, LB_RUN_DONE, 0, 0, true, true},
    {__LINE__, 104, LB_RUN_DONE, 0, 104, false, false},
    {__LINE__, 105, LB_RUN_FAILED, 0, 105, false, true},
    {__LINE__, 107, LB_RUN_DONE, 4, 0, false, true},
    {__LINE__, 108, LB_RUN_CRASHED, 0, 0, false, true},
    {__LINE__, 5000000, LB_RUN_DONE, 0, 0, false, true}, /* more memory than there was */
    {__LINE__, 100, LB_RUN_DONE, 0, 0, false, false},
};

static lb_op_case *open_add(size_t n) {
    char text[64];
    lb_op_case *x;
    lb_error err = {0};
    snprintf(text, sizeof text, "op=add n=%zu", n);
    if (lb_op_case_open(&x, text, &err) != LB_OK) fail_msg("%s: %s", text, err.message);
    return x;
}

static lb_worker_answer ask(lb_worker *w, lb_op_case *x) {
    lb_worker_answer a = {.cannot = false};
    lb_error err = {0};
    if (lb_worker_ask(w, x, &err) != LB_OK || lb_worker_answer_of(w, x, &a, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return a;
}

static void guards_hashes_and_poison_see_what_a_device_does_in_place(void **state) {
    lb_worker *w;
    lb_error err = {0};
    (void)state;
    assert_int_equal(lb_worker_open(&w, open_mine, "", 5, &err), LB_OK);
    assert_string_equal(lb_worker_detail(w), "version 1");
    unsigned restarts = 0;
    bool pending = false; /* the process is gone; the next case gets a new one */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_op_case *x = open_add(rows[i].n);
        const bool grows = rows[i].n > 1000000;
        const lb_worker_answer a = ask(w, x);
        restarts += pending || grows;
        EXPECT_CODE(rows[i].line, a.report.end, rows[i].end);
        EXPECT_CODE(rows[i].line, a.report.guard_damage, rows[i].guard_damage);
        EXPECT_CODE(rows[i].line, a.report.not_written, rows[i].not_written);
        EXPECT_CODE(rows[i].line, a.report.inputs_changed, rows[i].inputs_changed);
        EXPECT_CODE(rows[i].line, lb_worker_restarts(w), restarts);
        pending = rows[i].restarts && !grows;
        lb_op_case_close(x);
    }
    lb_worker_close(w);
}

static void what_is_read_past_an_input_is_nan(void **state) {
    lb_worker *w;
    lb_error err = {0};
    lb_op_case *x = open_add(106);
    (void)state;
    assert_int_equal(lb_worker_open(&w, open_mine, "", 5, &err), LB_OK);
    ask(w, x);
    const float *z = x->out[0].codes;
    assert_true(z[105] != z[105]);
    lb_op_case_close(x);
    x = NULL;
    assert_int_equal(lb_op_case_open(&x, "op=gelu", &err), LB_OK);
    const lb_worker_answer a = ask(w, x);
    assert_true(a.cannot);
    assert_string_equal(a.report.why, "add only");
    lb_op_case_close(x);
    lb_worker_close(w);
}

static void a_device_that_cannot_be_opened_says_why(void **state) {
    lb_worker *w;
    lb_error err = {0};
    (void)state;
    assert_int_equal(lb_worker_open(&w, open_mine, "closed", 5, &err), LB_E_UNAVAILABLE);
    assert_string_equal(err.message, "it is closed");
    assert_int_equal(lb_worker_open(&w, open_mine, "crash", 5, &err), LB_E_DEVICE);
    assert_non_null(strstr(err.message, "signal 11"));
    assert_int_equal(lb_worker_open(&w, open_mine, "hang", 0.5, &err), LB_E_DEVICE);
    assert_non_null(strstr(err.message, "no answer in 0.5 s"));
    assert_null(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guards_hashes_and_poison_see_what_a_device_does_in_place),
        cmocka_unit_test(what_is_read_past_an_input_is_nan),
        cmocka_unit_test(a_device_that_cannot_be_opened_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
