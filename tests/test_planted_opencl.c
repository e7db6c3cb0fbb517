/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bugs of the usual kinds, planted in our own OpenCL kernels and run as a user's. */
#include "op_bugs_opencl.h"

static char folder[] = "/tmp/lastbit-planted.XXXXXX";

static void each_bug_leaves_the_limits_and_the_kernel_without_it_does_not(void **state) {
    (void)state;
    planted_each(folder, planted_write_opencl, LB_FUNCTIONS_OPENCL, bugs_opencl, sizeof bugs_opencl / sizeof bugs_opencl[0]);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_bug_leaves_the_limits_and_the_kernel_without_it_does_not)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    planted_remove(folder);
    return failed;
}
