/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bugs of the usual kinds, planted in our own GLSL kernels and run as a user's: each leaves its operator's limits, and the kernel
 * without it does not. Beside them, kernels that misbehave: each ends with its own error. */
#include "op_bugs_vulkan.h"

static char folder[] = "/tmp/lastbit-planted-vk.XXXXXX";

static void each_bug_leaves_the_limits_and_the_kernel_without_it_does_not(void **state) {
    (void)state;
    planted_each(folder, planted_write_glsl, LB_FUNCTIONS_VULKAN, bugs_vulkan, sizeof bugs_vulkan / sizeof bugs_vulkan[0]);
}

/* ---- kernels that misbehave ---------------------------------------------------------------------------------------------------- */

#define HEAD                                                                                                                               \
    "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"lb.glsl\"\nlayout(local_size_x = 64) in;\n"                \
    "PORT_IN(0, x) PORT_OUT(1, y)\nPARAMS(int n;)\n"
#define BODY(text) HEAD "void main() {\n    const int i = int(gl_GlobalInvocationID.x);\n    " text "\n}\n"

typedef struct rogue {
    int line;
    const char *text;
    lb_status status;
    const char *says;
} rogue;

static const rogue refused[] = {
    {__LINE__, BODY("y[i] = nothing;"), LB_E_DEVICE, "the source does not compile: line 9: 'nothing' : undeclared identifier"},
    {__LINE__,
     "#version 450\nlayout(local_size_x = 64) in;\nlayout(set = 0, binding = 2) buffer b { uint z[]; };\nvoid main() { z[0] = 1; }\n",
     LB_E_FILE, "binding 2; the launch has 2 buffers"},
    {__LINE__,
     "#version 450\nlayout(local_size_x = 64) in;\nlayout(set = 1, binding = 0) buffer b { uint z[]; };\nvoid main() { z[0] = 1; }\n",
     LB_E_FILE, "a buffer of set 1"},
    {__LINE__, "#version 450\nlayout(local_size_x = 32) in;\nvoid main() { }\n", LB_E_FILE, "size 0 is 64; the shader's own is 32"},
    {__LINE__, "#version 450\nlayout(local_size_x = 64, local_size_y = 64) in;\nvoid main() { }\n", LB_E_DEVICE,
     "no work-groups of 64 x 64 x 1"},
    {__LINE__,
     "#version 450\nlayout(local_size_x_id = 0) in;\nlayout(set = 0, binding = 0, r32ui) uniform uimage1D t;\nvoid main() { imageStore(t, "
     "0, uvec4(0)); }\n",
     LB_E_FILE, "images and samplers"},
};

static void a_shader_that_does_not_fit_is_refused_before_the_driver_sees_it(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        lb_op_case *x = op_open("gelu", "n=100", "f32");
        lb_error err = {0};
        op_result r;
        planted_write_shader(folder, "gelu", refused[i].text);
        lb_device *d = planted_open(folder);
        const lb_status s = op_run(d, x, LB_FUNCTIONS_VULKAN, &r, &err);
        if (s == LB_E_UNAVAILABLE) skip();
        if (s != refused[i].status || !strstr(err.message, refused[i].says))
            fail_msg("row at %s:%d: %s: %s", __FILE__, refused[i].line, lb_status_text(s), err.message);
        lb_device_close(d);
        lb_op_case_close(x);
    }
}

static op_result run_rogue(const char *text, const char *sizes) {
    lb_op_case *x = op_open("gelu", sizes, "f32");
    lb_error err = {0};
    op_result r;
    planted_write_shader(folder, "gelu", text);
    lb_device *d = planted_open(folder);
    const lb_status s = op_run(d, x, LB_FUNCTIONS_VULKAN, &r, &err);
    if (s == LB_E_UNAVAILABLE) skip();
    if (s != LB_OK) fail_msg("%s: %s", err.place, err.message);
    lb_device_close(d);
    lb_op_case_close(x);
    return r;
}

static void writing_past_an_output_to_an_input_or_not_at_all_is_seen(void **state) {
    (void)state;
    assert_int_equal(run_rogue(BODY("y[i] = x[i] ^ 1u;"), "n=100").guard_damage, 112); /* of 28 invocations */
    assert_true(run_rogue(BODY("if (i == 99) y[i + 5] = 0u;"), "n=100").guard_damage == 4);
    assert_int_equal(run_rogue(BODY("if (i < p.n / 2) y[i] = x[i];"), "n=100").unwritten, 50);
    assert_int_equal(run_rogue(BODY("if (i < y.length()) y[i] = x[i] ^ 1u;"), "n=100").guard_damage,
                     0); /* it asks, and gets the true length */
}

static void writing_to_an_input_is_seen(void **state) {
    static const char text[] = "#version 450\nlayout(local_size_x = 64) in;\nlayout(set = 0, binding = 0) buffer b { uint x[]; };\n"
                               "void main() { x[0] = 1u; }\n";
    (void)state;
    assert_true(run_rogue(text, "n=100").inputs_changed);
}

static void a_launch_that_does_not_end_is_a_timeout_and_its_device_is_lost(void **state) {
    /* Many invocations: lavapipe ends each of them after 65,535 rounds of its loops (docs/howto/run-on-vulkan.md). */
    static const char text[] = BODY("while (atomicAdd(y[0], 0u) != 77u) atomicAnd(y[0], 0u);");
    lb_op_case *x = op_open("gelu", "n=4000000", "f32");
    lb_error err = {0};
    (void)state;
    planted_write_shader(folder, "gelu", text);
    lb_device *d = planted_open(folder);
    lb_status s = lb_device_run_op(d, x, 0.5, &err);
    if (s == LB_E_UNAVAILABLE) skip();
    if (s != LB_E_TIMEOUT) fail_msg("%s: %s", lb_status_text(s), err.message);
    s = lb_device_run_op(d, x, 0.5, &err);
    if (s != LB_E_DEVICE || !strstr(err.message, "an earlier launch did not end")) fail_msg("%s: %s", lb_status_text(s), err.message);
    lb_device_close(d);
    lb_op_case_close(x);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bug_leaves_the_limits_and_the_kernel_without_it_does_not),
        cmocka_unit_test(a_shader_that_does_not_fit_is_refused_before_the_driver_sees_it),
        cmocka_unit_test(writing_past_an_output_to_an_input_or_not_at_all_is_seen),
        cmocka_unit_test(writing_to_an_input_is_seen),
        cmocka_unit_test(a_launch_that_does_not_end_is_a_timeout_and_its_device_is_lost),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    planted_remove(folder);
    fflush(NULL);
    _exit(failed); /* a driver whose launch never ends would wait for it at the end of the process */
}
