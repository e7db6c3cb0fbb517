/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bugs of the usual kinds, planted in our own OpenCL kernels and run as a user's: each leaves its operator's limits, and the kernel
 * without it does not. */
#include "op_bugs_opencl.h"

#include "backends/launch.h"

#include <unistd.h>

static char folder[] = "/tmp/lastbit-planted.XXXXXX";

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static void path_of(char out[300], const char *name) {
    snprintf(out, 300, "%s/%s", folder, name);
}

static int tear_down(void **state) {
    static const char *const names[] = {"k.cl", "k.json"};
    char path[300];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        path_of(path, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* k.cl, the operator's kernel with the bug, and k.json, which takes the calling convention and the sizes from the operator. */
static void write_kernel(const planted *p) {
    char path[600], json[200];
    snprintf(path, sizeof path, "%s/src/backends/opencl/prelude.cl", LB_SOURCE_DIR);
    char *prelude = planted_read(path);
    snprintf(path, sizeof path, "%s/src/backends/opencl/%s.cl", LB_SOURCE_DIR, lb_launch_find(p->op)->file);
    char *own = planted_read(path), *changed = planted_text(p, own);
    lb_text whole = {0};
    lb_text_add(&whole, "%s%s", prelude, changed);
    path_of(path, "k.cl");
    planted_write(path, whole.s);
    path_of(path, "k.json");
    snprintf(json, sizeof json, "{\"language\": \"opencl\", \"op\": \"%s\", \"source\": \"k.cl\"}", p->op);
    planted_write(path, json);
    free(prelude);
    free(own);
    free(changed);
    free(whole.s);
}

static op_result run_kernel(const planted *p) {
    char on[300];
    lb_device *d;
    lb_error err = {0};
    op_result r = {0};
    lb_op_case *x = op_open(p->op, p->sizes, p->format);
    write_kernel(p);
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    lb_status s = lb_device_open(&d, on, &err);
    if (s == LB_OK) s = op_run(d, x, LB_FUNCTIONS_OPENCL, &r, &err);
    lb_op_case_close(x);
    if (s == LB_OK) {
        lb_device_close(d);
        return r;
    }
    if (s != LB_E_UNAVAILABLE) fail_msg("row at %s:%d: %s: %s", __FILE__, p->line, err.place, err.message);
    print_message("skipped: %s\n", err.message);
    skip();
    return r;
}

static void each_bug_leaves_the_limits_and_the_kernel_without_it_does_not(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        planted whole = bugs[i];
        whole.find = NULL;
        const op_result right = run_kernel(&whole), wrong = run_kernel(&bugs[i]);
        if (right.wrong || !right.compared) fail_msg("row at %s:%d: without the bug: %s", __FILE__, bugs[i].line, right.first);
        if (!wrong.wrong)
            fail_msg("row at %s:%d: %s in %s is not caught: worst %g", __FILE__, bugs[i].line, bugs[i].bug, bugs[i].op, wrong.worst);
        print_message("%-22s %-16s %s: %zu of %zu wrong, %s\n", bugs[i].bug, bugs[i].op, bugs[i].format, wrong.wrong, wrong.compared,
                      wrong.first);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_bug_leaves_the_limits_and_the_kernel_without_it_does_not)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
