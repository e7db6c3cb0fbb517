/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What GLSL's own functions are worth on this driver, measured through a user's kernel; where it is lavapipe of Mesa 22.3, the figures are
 * those of docs/howto/run-on-vulkan.md. Our kernels do not depend on them (src/backends/vulkan/shaders/lb.glsl). */
#include "op_planted.h"

#include <math.h>

enum { POINTS = 65536 };

static char folder[] = "/tmp/lastbit-functions.XXXXXX";
static bool lavapipe_22;

/* z[i] = expression of a and b, the i-th of x and y, as the operator add's kernel. */
static void measure(const char *expression, float *x, float *y, float *z, size_t count) {
    char text[2000];
    lb_error err = {0};
    lb_op_case *c;
    snprintf(text, sizeof text,
             "#version 450\nlayout(local_size_x = 64) in;\nlayout(set = 0, binding = 0) readonly buffer X { float x[]; };\n"
             "layout(set = 0, binding = 1) readonly buffer Y { float y[]; };\nlayout(set = 0, binding = 2) buffer Z { float z[]; };\n"
             "layout(push_constant) uniform P { int n; } p;\nvoid main() {\n    const uint i = gl_GlobalInvocationID.x;\n"
             "    if (i >= uint(p.n)) return;\n    const float a = x[i], b = y[i];\n    z[i] = %s;\n}\n",
             expression);
    planted_write(folder, "k.comp", text);
    planted_write(folder, "k.json", "{\"language\": \"glsl\", \"op\": \"add\", \"source\": \"k.comp\"}");
    snprintf(text, sizeof text, "op=add n=%zu", count);
    const lb_format *f32 = lb_format_row(LB_F32);
    const lb_array in[2] = {{.format = f32, .rank = 1, .dims = {count, 1, 1, 1}, .codes = x},
                            {.format = f32, .rank = 1, .dims = {count, 1, 1, 1}, .codes = y}};
    if (lb_op_case_of(&c, text, in, 2, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    lb_device *d = planted_open(folder);
    const lb_status s = lb_device_run_op(d, c, 60, &err);
    if (s == LB_E_UNAVAILABLE) {
        print_message("SKIP vulkan: %s\n", err.message);
        skip();
    }
    if (s != LB_OK) fail_msg("%s: %s", err.place, err.message);
    memcpy(z, c->out[0].codes, count * sizeof *z);
    lavapipe_22 = strstr(lb_device_detail(d), "Mesa 22.3") != NULL;
    lb_device_close(d);
    lb_op_case_close(c);
}

static float x[POINTS], y[POINTS], z[POINTS];

static double ulp_of(double want) {
    const int e = want == 0 ? -126 : ilogb(want);
    return ldexp(1, (e < -126 ? -126 : e) - 23);
}

/* The worst error of a function of x against the double library's, in ULP of the true value. */
static double worst_ulp(const char *expression, double (*truth)(double), size_t *at) {
    double worst = 0;
    measure(expression, x, y, z, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        const double want = truth((double)x[i]), off = fabs((double)z[i] - want) / ulp_of(want);
        if (!(off <= worst)) {
            worst = off >= 0 ? off : INFINITY;
            *at = i;
        }
    }
    return worst;
}

/* Points over [-most, most], a quarter of them over twenty binades at 0. */
static void spread(float most) {
    for (size_t i = 0; i < POINTS; i++) {
        const double u = (double)(lb_random_u64(3, 1, i) >> 11) * 0x1p-53 * 2 - 1;
        x[i] = (float)(most * (i % 4 ? u : ldexp(u, -(int)(i / 4 % 20))));
        y[i] = (float)((double)(lb_random_u64(3, 2, i) >> 11) * 0x1p-53 * 2 - 1);
    }
}

static double log_of(double a) {
    return log(fabs(a));
}

static double rsqrt_of(double a) {
    return 1 / sqrt(fabs(a));
}

typedef struct function {
    int line;
    const char *name, *expression;
    double (*truth)(double);
    float most;
    double least_ulp, most_ulp; /* on lavapipe of Mesa 22.3 */
} function;

static void functions_are_off_by_as_much_as_the_documentation_says(void **state) {
    static const function functions[] = {
        {__LINE__, "exp", "exp(a)", exp, 8, 7, 10},
        {__LINE__, "exp", "exp(a)", exp, 80, 50, 70},
        {__LINE__, "log", "log(abs(a))", log_of, 80, 1000, 1e5},
        {__LINE__, "inversesqrt", "inversesqrt(abs(a))", rsqrt_of, 80, 0.5, 1.5},
        {__LINE__, "tanh", "tanh(a)", tanh, 8, 4096, 1e9},
        {__LINE__, "sin", "sin(a)", sin, 100, 0.5, 2},
        {__LINE__, "cos", "cos(a)", cos, 100, 0.5, 2},
        {__LINE__, "sqrt", "sqrt(a * a)", fabs, 100, 0, 0.6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const function *f = &functions[i];
        size_t at = 0;
        spread(f->most);
        const double worst = worst_ulp(f->expression, f->truth, &at);
        print_message("%-11s over [-%g, %g] off by up to %.4g ULP, at %a\n", f->name, (double)f->most, (double)f->most, worst,
                      (double)x[at]);
        if (lavapipe_22 && !(worst >= f->least_ulp && worst <= f->most_ulp)) fail_msg("row at %s:%d: %g ULP", __FILE__, f->line, worst);
    }
}

static void division_is_exact_fma_rounds_twice_and_what_is_not_precise_is_reordered(void **state) {
    size_t divided = 0, fused = 0, contracted = 0, reordered = 0, flushed = 0;
    (void)state;
    spread(4);
    measure("a / b", x, y, z, POINTS);
    for (size_t i = 0; i < POINTS; i++) divided += z[i] != x[i] / y[i];
    measure("fma(a, b, a)", x, y, z, POINTS);
    for (size_t i = 0; i < POINTS; i++) fused += z[i] != fmaf(x[i], y[i], x[i]);
    measure("a * b + a", x, y, z, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        const float product = x[i] * y[i];
        contracted += z[i] != product + x[i];
    }
    measure("a * 1e-30 * 1e-10", x, y, z, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        const float product = x[i] * 1e-30f;
        reordered += z[i] != product * 1e-10f;
    }
    for (size_t i = 0; i < POINTS; i++) x[i] = ldexpf(x[i], -130);
    for (size_t i = 0; i < POINTS; i++) y[i] = 1;
    measure("a * b", x, y, z, POINTS);
    for (size_t i = 0; i < POINTS; i++) flushed += z[i] != x[i];
    print_message("of %d: division not rounded once %zu, fma() not fused %zu, a * b + c contracted %zu, a * 1e-30 * 1e-10 reordered %zu, "
                  "subnormals lost %zu\n",
                  POINTS, divided, fused, contracted, reordered, flushed);
    if (!lavapipe_22) return;
    assert_int_equal(divided, 0);
    assert_true(fused > POINTS / 50);
    assert_int_equal(contracted, 0);
    assert_true(reordered > POINTS / 2);
    assert_int_equal(flushed, 0);
}

/* A loop that counts to b, which the driver cannot know. */
static void a_loop_ends_after_65535_rounds_on_lavapipe(void **state) {
    float rounds[1] = {0};
    (void)state;
    x[0] = 0;
    y[0] = 200000;
    char text[200];
    snprintf(text, sizeof text, "a;\n    for (float u = a; u < b; u += 1.0) z[i] += y[i] / b");
    measure(text, x, y, rounds, 1);
    print_message("a loop of 200000 rounds makes %.0f\n", (double)rounds[0]);
    if (lavapipe_22) assert_int_equal((int)rounds[0], 65535);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_off_by_as_much_as_the_documentation_says),
        cmocka_unit_test(division_is_exact_fma_rounds_twice_and_what_is_not_precise_is_reordered),
        cmocka_unit_test(a_loop_ends_after_65535_rounds_on_lavapipe),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    planted_remove(folder);
    return failed;
}
