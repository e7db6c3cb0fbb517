/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices in our own process that misbehave, behind the guards: no driver is needed to see what each deed is taken for. */
#include "test.h"

#include "backends/device.h"
#include "run/guarded.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { M = 6, N = 7, K = 4, GUARD = 4096, COUNT = M * N };

static uint16_t a[M * K], b[K * N], c[M * N], y[COUNT];

typedef struct deed {
    const char *name;
    lb_status (*run)(const lb_case *x, void *out, lb_error *err);
} deed;

typedef struct rogue {
    lb_device base;
    const deed *deed;
} rogue;

static bool can(const lb_device *d, const lb_case *x, const char **why_not) {
    (void)d;
    (void)x;
    (void)why_not;
    return true;
}

static lb_status run(lb_device *d, const lb_case *x, void *out, double timeout, lb_error *err) {
    (void)timeout;
    return ((rogue *)d)->deed->run(x, out, err);
}

static void close_rogue(lb_device *d) {
    free(d);
}

static const lb_backend backend = {.name = "rogue", .summary = "a device of the tests", .can = can, .run = run, .close = close_rogue};

static lb_status open_rogue(lb_device **out, const void *what, lb_error *err) {
    rogue *r = calloc(1, sizeof *r);
    if (!r) return lb_fail(err, LB_E_MEMORY, "rogue", "no memory");
    r->base.backend = &backend;
    snprintf(r->base.name, sizeof r->base.name, "rogue");
    snprintf(r->base.detail, sizeof r->base.detail, "revision 7");
    r->deed = what;
    *out = &r->base;
    return LB_OK;
}

/* ---- deeds ----------------------------------------------------------------------------------------------------------------------- */

static lb_status fill(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)err;
    memset(out, 0, COUNT * sizeof(uint16_t));
    return LB_OK;
}

static lb_status nothing(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)out;
    (void)err;
    return LB_OK;
}

static lb_status all_but_three(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)err;
    memset(out, 0, (COUNT - 3) * sizeof(uint16_t));
    return LB_OK;
}

static lb_status past_the_end(const lb_case *x, void *out, lb_error *err) {
    memset((char *)out + COUNT * sizeof(uint16_t), 0, 3);
    return fill(x, out, err);
}

static lb_status before_the_start(const lb_case *x, void *out, lb_error *err) {
    memset((char *)out - 2, 0, 2);
    return fill(x, out, err);
}

static lb_status at_the_far_ends(const lb_case *x, void *out, lb_error *err) {
    ((char *)out)[-GUARD] = 0;
    ((char *)out)[COUNT * sizeof(uint16_t) + GUARD - 1] = 0;
    return fill(x, out, err);
}

static lb_status beside_an_input(const lb_case *x, void *out, lb_error *err) {
    ((char *)lb_mat_at(&x->b, K - 1, N - 1))[2] = 0;
    return fill(x, out, err);
}

static lb_status into_a(const lb_case *x, void *out, lb_error *err) {
    lb_store_code(lb_mat_at(&x->a, M - 1, K - 1), 2, lb_mat_code(&x->a, M - 1, K - 1) ^ 1);
    return fill(x, out, err);
}

static lb_status into_c(const lb_case *x, void *out, lb_error *err) {
    lb_store_code(lb_mat_at(&x->c, 0, 0), 2, lb_mat_code(&x->c, 0, 0) ^ 0x8000);
    return fill(x, out, err);
}

static lb_status fall(const lb_case *x, void *out, lb_error *err) {
    raise(SIGSEGV);
    return fill(x, out, err);
}

static lb_status abort_with_words(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)out;
    (void)err;
    fprintf(stderr, "assertion failed\nmore\n");
    abort();
}

static lb_status leave(const lb_case *x, void *out, lb_error *err) {
    fill(x, out, err);
    _exit(0);
}

static lb_status hang(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)out;
    (void)err;
    while (pause() == -1) {}
    return LB_OK;
}

static lb_status chatter(const lb_case *x, void *out, lb_error *err) {
    for (int i = 0; i < 100000; i++) fprintf(i % 2 ? stdout : stderr, "a line that nobody reads\n");
    return fill(x, out, err);
}

static lb_status complain(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)out;
    return lb_fail(err, LB_E_DEVICE, "rogue", "out of registers");
}

/* Every byte of memory that this process shares with another, then the end. */
static lb_status go_wild(const lb_case *x, void *out, lb_error *err) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[300], rights[8];
    unsigned long first, last;
    (void)x;
    (void)out;
    (void)err;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &first, &last, rights) == 3 && strncmp(rights, "rw-s", 4) == 0)
            memset((void *)first, 0x5a, last - first);
    _exit(0);
}

static const struct {
    int line;
    deed deed;
    double timeout;
    lb_run_end end;
    const char *why;
    uint64_t guard_damage, not_written;
    bool inputs_changed;
} rows[] = {
    {__LINE__, {"fills its output", fill}, 20, LB_RUN_DONE, "", 0, 0, false},
    {__LINE__, {"writes nothing", nothing}, 20, LB_RUN_DONE, "", 0, COUNT, false},
    {__LINE__, {"leaves three elements", all_but_three}, 20, LB_RUN_DONE, "", 0, 3, false},
    {__LINE__, {"three bytes past the end", past_the_end}, 20, LB_RUN_DONE, "", 3, 0, false},
    {__LINE__, {"two bytes before the start", before_the_start}, 20, LB_RUN_DONE, "", 2, 0, false},
    {__LINE__, {"the far ends of both guards", at_the_far_ends}, 20, LB_RUN_DONE, "", 2, 0, false},
    {__LINE__, {"a byte behind b", beside_an_input}, 20, LB_RUN_DONE, "", 1, 0, false},
    {__LINE__, {"into a", into_a}, 20, LB_RUN_DONE, "", 0, 0, true},
    {__LINE__, {"into c", into_c}, 20, LB_RUN_DONE, "", 0, 0, true},
    {__LINE__, {"falls", fall}, 20, LB_RUN_CRASHED, "killed by signal 11 (Segmentation fault)", 0, COUNT, false},
    {__LINE__, {"aborts", abort_with_words}, 20, LB_RUN_CRASHED, "killed by signal 6 (Aborted): assertion failed", 0, COUNT, false},
    {__LINE__, {"leaves", leave}, 20, LB_RUN_CRASHED, "ended with exit code 0 before it answered", 0, 0, false},
    {__LINE__, {"hangs", hang}, 0.2, LB_RUN_TIMED_OUT, "no answer in 0.2 s (--timeout)", 0, COUNT, false},
    {__LINE__, {"chatters", chatter}, 20, LB_RUN_DONE, "", 0, 0, false},
    {__LINE__, {"complains", complain}, 20, LB_RUN_FAILED, "out of registers", 0, COUNT, false},
};

static lb_case product(void) {
    const lb_format *f = lb_format_row(LB_F16);
    lb_case x = {.op = "matmul", .a = lb_mat_of(f, a, M, K), .b = lb_mat_of(f, b, K, N), .c = lb_mat_of(f, c, M, N), .out = f};
    lb_draw_mat(&x.a, LB_DIST_NORMAL, 3, 1);
    lb_draw_mat(&x.b, LB_DIST_NORMAL, 3, 2);
    lb_draw_mat(&x.c, LB_DIST_NORMAL, 3, 3);
    return x;
}

static void every_deed_is_reported_as_what_it_is(void **state) {
    (void)state;
    const lb_case x = product();
    const uint64_t poison = lb_poison_code(x.out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_run_report r;
        uint64_t held = 0;
        memset(y, 0x11, sizeof y);
        EXPECT_CODE(rows[i].line, lb_run_guarded_by(open_rogue, &rows[i].deed, 0, &x, rows[i].timeout, y, &r, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, r.end, rows[i].end);
        EXPECT_STRING(rows[i].line, r.why, rows[i].why);
        EXPECT_CODE(rows[i].line, r.guard_damage, rows[i].guard_damage);
        EXPECT_CODE(rows[i].line, r.not_written, rows[i].not_written);
        EXPECT_CODE(rows[i].line, r.inputs_changed, rows[i].inputs_changed);
        EXPECT_STRING(rows[i].line, r.detail, r.end == LB_RUN_DONE || r.end == LB_RUN_FAILED ? "revision 7" : "");
        for (size_t e = 0; e < COUNT; e++) held += y[e] == poison;
        EXPECT_CODE(rows[i].line, held, rows[i].not_written);
        assert_true(r.seconds >= 0 && r.seconds < 20);
    }
}

static void the_callers_operands_are_never_the_devices(void **state) {
    (void)state;
    const lb_case x = product();
    uint16_t before[M * K];
    lb_run_report r;
    memcpy(before, a, sizeof a);
    assert_int_equal(lb_run_guarded_by(open_rogue, &(deed){"into a", into_a}, 0, &x, 20, y, &r, NULL), LB_OK);
    assert_true(r.inputs_changed);
    assert_memory_equal(a, before, sizeof a);
}

static void a_device_that_overwrites_all_shared_memory_harms_only_its_case(void **state) {
    (void)state;
    const lb_case x = product();
    lb_run_report r;
    assert_int_equal(lb_run_guarded_by(open_rogue, &(deed){"goes wild", go_wild}, 0, &x, 20, y, &r, NULL), LB_OK);
    assert_int_equal(r.end, LB_RUN_CRASHED);
    assert_true(r.inputs_changed);
    assert_int_equal(r.guard_damage, 8 * GUARD);
    EXPECT_STRING(__LINE__, r.detail, "");
}

static lb_status refuse(const lb_case *x, void *out, lb_error *err) {
    (void)x;
    (void)out;
    return lb_fail(err, LB_E_UNAVAILABLE, "rogue", "no such part in this machine");
}

static void what_could_not_begin_is_the_callers_error(void **state) {
    (void)state;
    lb_case x = product();
    lb_run_report r;
    lb_error err = {0};
    assert_int_equal(lb_run_guarded_by(open_rogue, &(deed){"refuses", refuse}, 0, &x, 20, y, &r, &err), LB_E_UNAVAILABLE);
    EXPECT_STRING(__LINE__, err.message, "no such part in this machine");
    EXPECT_STRING(__LINE__, err.place, "rogue");
    x.b.rows--;
    assert_int_equal(lb_run_guarded_by(open_rogue, &(deed){"fills", fill}, 0, &x, 20, y, &r, &err), LB_E_SHAPE);
}

/* ---- what a device leaves behind ------------------------------------------------------------------------------------------------- */

static int ends[2];

static lb_status leave_a_process(const lb_case *x, void *out, lb_error *err) {
    if (fork() == 0) {
        sleep(5); /* holding the pipe open */
        _exit(0);
    }
    return fill(x, out, err);
}

static void processes_that_a_device_leaves_are_ended_with_it(void **state) {
    (void)state;
    const lb_case x = product();
    lb_run_report r;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(lb_run_guarded_by(open_rogue, &(deed){"forks", leave_a_process}, 0, &x, 20, y, &r, NULL), LB_OK);
    assert_int_equal(r.end, LB_RUN_DONE);
    close(ends[1]);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 1000), 1); /* nobody holds the other end */
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_deed_is_reported_as_what_it_is),
        cmocka_unit_test(the_callers_operands_are_never_the_devices),
        cmocka_unit_test(a_device_that_overwrites_all_shared_memory_harms_only_its_case),
        cmocka_unit_test(what_could_not_begin_is_the_callers_error),
        cmocka_unit_test(processes_that_a_device_leaves_are_ended_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
