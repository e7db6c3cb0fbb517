/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* opencl: every operator in every element format at many sizes, within the limits of its row; products; what the device refuses. */
#include "op_run.h"
#include "op_shapes.h"

#include "backends/launch.h"

#include <stdlib.h>

static const char *const formats[] = {"f32", "f16", "bf16"};

static lb_device *open_device(void) {
    lb_device *d;
    lb_error err = {0};
    const lb_status s = lb_device_open(&d, "opencl", &err);
    if (s == LB_OK) return d;
    if (s != LB_E_UNAVAILABLE) fail_msg("%s: %s", err.place, err.message);
    print_message("skipped: %s\n", err.message);
    skip();
    return NULL;
}

static void each_operator_has_a_launch_and_is_run_at_some_size(void **state) {
    (void)state;
    for (size_t i = 0; lb_op_row(i); i++) {
        size_t shapes = 0;
        for (size_t s = 0; s < OP_SHAPE_COUNT; s++) shapes += strcmp(op_shapes[s].op, lb_op_row(i)->name) == 0;
        if (!lb_launch_find(lb_op_row(i)->name) || shapes < 2) fail_msg("%s: no launch, or no sizes", lb_op_row(i)->name);
    }
    for (size_t i = 0; lb_launch_row(i); i++)
        if (!lb_op_find(lb_launch_row(i)->op)) fail_msg("launches.def: %s is no operator", lb_launch_row(i)->op);
}

static void each_operator_is_within_its_limits_at_every_size_and_format(void **state) {
    lb_device *d = open_device();
    size_t compared = 0, failures = 0;
    const bool tell = getenv("LB_TELL") != NULL;
    (void)state;
    for (size_t s = 0; s < OP_SHAPE_COUNT; s++)
        for (size_t f = 0; f < 3; f++) {
            lb_op_case *x = op_open(op_shapes[s].op, op_shapes[s].sizes, formats[f]);
            char text[LB_OP_TEXT];
            op_result r;
            lb_error err = {0};
            lb_op_case_text(x, text, sizeof text);
            if (op_run(d, x, LB_FUNCTIONS_OPENCL, &r, &err) != LB_OK) fail_msg("%s: %s: %s", text, err.place, err.message);
            const bool bad = r.wrong || r.guard_damage || r.inputs_changed || !r.compared || r.unwritten;
            if (bad || tell)
                print_message("%s: wrong %zu of %zu, worst %.3g, unwritten %zu, unjudged %zu, guards %llu, inputs %d; %s\n", text, r.wrong,
                              r.compared, r.worst, r.unwritten, r.unjudged, (unsigned long long)r.guard_damage, r.inputs_changed, r.first);
            compared += r.compared;
            failures += bad;
            lb_op_case_close(x);
        }
    lb_device_close(d);
    if (failures) fail_msg("%zu of %d cases", failures, OP_SHAPE_COUNT * 3);
    assert_true(compared > 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_has_a_launch_and_is_run_at_some_size),
        cmocka_unit_test(each_operator_is_within_its_limits_at_every_size_and_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
