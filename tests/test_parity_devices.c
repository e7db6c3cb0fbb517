/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parity on the devices that every machine can have: the whole plan on PoCL and lavapipe; kernels that hang, crash, write outside or write
 * nothing; bugs planted in our kernels, each found by the plan. */
#include "op_bugs_opencl.h"
#include "op_bugs_vulkan.h"
#include "parity_help.h"

#include <time.h>

static parity_run r;
static char folder[] = "/tmp/lastbit-parity.XXXXXX";

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the whole plan ---------------------------------------------------------------------------------------------------------------- */

static void the_whole_plan_passes_on(const char *device) {
    const char *const on[] = {device};
    const lb_parity_options o = {.on = on, .on_count = 1, .timeout_seconds = 60};
    const double start = seconds();
    const lb_parity_row *row;
    size_t ops = 0;
    parity_go(&r, &o);
    for (size_t i = 0; (row = lb_parity_row_at(r.p, i)) != NULL; i++) {
        ops += row->pass + row->known > 0;
        if (!row->power_due) fail_msg("%s: nothing is known of what its limits catch", row->op);
        if (row->power_caught * 10 < row->power_due * 8) fail_msg("%s: %zu of %zu faults", row->op, row->power_caught, row->power_due);
    }
    print_message("%s: %zu cases of %zu operators compared in %.1f s; %zu failed\n", device, r.compared, ops, seconds() - start, r.fail);
    if (r.exit_code != 0) fail_msg("%s: exit %d", device, r.exit_code);
    assert_true(ops >= 30 && r.compared - r.fail >= 1000 && r.skip == 0 && r.unproven == 0);
    parity_close(&r);
}

static void the_whole_plan_passes_on_opencl(void **state) {
    (void)state;
    the_whole_plan_passes_on("opencl");
}

static void the_whole_plan_passes_on_vulkan(void **state) {
    (void)state;
    the_whole_plan_passes_on("vulkan");
}

/* ---- kernels that misbehave --------------------------------------------------------------------------------------------------------- */

/* add, and what n asks for. */
static const char wild_cl[] = "kernel void add(global const float *x, global const float *y, global float *z, int n) {\n"
                              "    const int i = (int)get_global_id(0);\n"
                              "    volatile int on = 1;\n"
                              "    if (n == 1001) while (on) {}\n"
                              "    if (n == 1002) *(volatile global int *)8 = i;\n"
                              "    if (n == 1003 && i == 0) z[n + 2] = 1.0f;\n"
                              "    if (i < n && n != 1004) z[i] = x[i] + y[i];\n"
                              "}\n";
static const char wild_comp[] = "#version 450\n"
                                "layout(local_size_x = 64) in;\n"
                                "layout(set = 0, binding = 0, std430) readonly buffer a { float x[]; };\n"
                                "layout(set = 0, binding = 1, std430) readonly buffer b { float y[]; };\n"
                                "layout(set = 0, binding = 2, std430) buffer c { uint z[]; };\n"
                                "layout(push_constant, std430) uniform params { int n; } p;\n"
                                "void main() {\n"
                                "    const int i = int(gl_GlobalInvocationID.x);\n"
                                "    if (p.n == 4000001) while (atomicAdd(z[0], 0u) != 77u) atomicAnd(z[0], 0u);\n"
                                "    if (p.n == 1003 && i == 0) z[p.n + 2] = 1u;\n"
                                "    if (i < p.n && p.n != 1004) z[i] = floatBitsToUint(x[i] + y[i]);\n"
                                "}\n";

static const struct {
    int line;
    const char *text, *says; /* NULL: it passes */
} rogues[] = {
    {__LINE__, "op=add n=1000", NULL},        {__LINE__, "op=add n=1001", "no answer in"},
    {__LINE__, "op=add n=1000 seed=2", NULL}, {__LINE__, "op=add n=1003", "outside its arrays"},
    {__LINE__, "op=add n=1000 seed=3", NULL}, {__LINE__, "op=add n=1004", "it wrote nothing"},
    {__LINE__, "op=add n=1000 seed=4", NULL}, {__LINE__, "op=add n=1002", "signal"}, /* OpenCL only: GLSL has no pointer */
    {__LINE__, "op=add n=1000 seed=5", NULL},
};

static void write_wild(const char *language, const char *name, const char *text) {
    char json[400];
    planted_write(folder, name, text);
    snprintf(json, sizeof json, "{\"language\": \"%s\", \"op\": \"add\", \"in\": \"f32\", \"source\": \"%s\"}", language, name);
    planted_write(folder, "k.json", json);
}

/* A kernel opens where its device is not: then its cases are UNPROVEN, and the test is skipped. */
static void go_on_device(const lb_parity_options *o) {
    parity_go(&r, o);
    if (r.cases[0].verdict != LB_UNPROVEN || !strstr(r.cases[0].reason, "nothing ran: ")) return;
    print_message("SKIP parity: %s\n", r.cases[0].reason);
    parity_close(&r);
    skip();
}

static void each_rogue_ends_its_case_alone(size_t count, const char *hang) {
    char on[320];
    const char *const devices[] = {on}, *texts[sizeof rogues / sizeof rogues[0]];
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    for (size_t i = 0; i < count; i++) texts[i] = i == 1 ? hang : rogues[i].text;
    const lb_parity_options o = {.on = devices, .on_count = 1, .cases = texts, .case_count = count, .timeout_seconds = 8, .no_power = true};
    go_on_device(&o);
    for (size_t i = 0; i < count; i++) {
        if (rogues[i].says ? r.cases[i].verdict != LB_FAIL || !strstr(r.cases[i].reason, rogues[i].says) : r.cases[i].verdict != LB_PASS)
            fail_msg("row at %s:%d: %s: %s", __FILE__, rogues[i].line, lb_verdict_name(r.cases[i].verdict), r.cases[i].reason);
    }
    parity_close(&r);
}

static void opencl_kernels_that_misbehave_end_their_case_alone(void **state) {
    (void)state;
    write_wild("opencl", "k.cl", wild_cl);
    each_rogue_ends_its_case_alone(9, rogues[1].text);
}

static void glsl_kernels_that_misbehave_end_their_case_alone(void **state) {
    (void)state;
    write_wild("glsl", "k.comp", wild_comp);
    each_rogue_ends_its_case_alone(7, "op=add n=4000001"); /* lavapipe ends each invocation after 65535 rounds: many of them */
}

/* ---- planted bugs ------------------------------------------------------------------------------------------------------------------- */

/* The plan of the operator, whatever sizes the row names. */
static void run_plan_of(const planted *p) {
    char on[320];
    const char *const devices[] = {on}, *const ops[] = {p->op};
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    char pattern[16];
    snprintf(pattern, sizeof pattern, "fmt=%s", p->format);
    const lb_parity_options o = {.on = devices,
                                 .on_count = 1,
                                 .ops = ops,
                                 .op_count = 1,
                                 .pattern = pattern,
                                 .timeout_seconds = 60,
                                 .no_power = true,
                                 .no_shipped_known = true,
                                 .functions = "opencl"};
    go_on_device(&o);
}

static void each_is_found(const planted *rows, size_t count, planted_writer *write) {
    for (size_t i = 0; i < count; i++) {
        planted whole = rows[i];
        whole.find = NULL;
        if (i == 0) { /* test_planted_* run the others without their bug */
            write(folder, &whole);
            run_plan_of(&whole);
            if (r.exit_code != 0) fail_msg("row at line %d: without the bug: %s", rows[i].line, r.cases[0].reason);
            parity_close(&r);
        }
        write(folder, &rows[i]);
        run_plan_of(&rows[i]);
        const char *how = "";
        for (size_t k = 0; k < r.count && k < SEEN && !*how; k++)
            if (r.cases[k].verdict == LB_FAIL) how = r.cases[k].reason;
        print_message("%-22s %-16s %s: %zu of %zu cases fail; %s\n", rows[i].bug, rows[i].op, rows[i].format, r.fail, r.compared, how);
        if (r.exit_code != 1 || !r.fail) fail_msg("row at line %d: %s in %s is not found", rows[i].line, rows[i].bug, rows[i].op);
        parity_close(&r);
    }
}

static void the_plan_finds_each_bug_planted_in_opencl(void **state) {
    (void)state;
    each_is_found(bugs_opencl, sizeof bugs_opencl / sizeof bugs_opencl[0], planted_write_opencl);
}

static void the_plan_finds_each_bug_planted_in_glsl(void **state) {
    (void)state;
    each_is_found(bugs_vulkan, sizeof bugs_vulkan / sizeof bugs_vulkan[0], planted_write_glsl);
}

/* A defect that ships as known, in a kernel that has it. */
static void lavapipes_exp_is_a_known_failure(void **state) {
    static const char *const on[] = {"kernel:" LB_SOURCE_DIR "/examples/sigmoid_builtin.json"}, *const ops[] = {"sigmoid"};
    lb_parity_options o = {.on = on, .on_count = 1, .ops = ops, .op_count = 1, .timeout_seconds = 60};
    (void)state;
    parity_go(&r, &o);
    if (!strstr(lb_parity_device(r.p, 0), "Mesa 22.3")) {
        print_message("SKIP known: %s\n", lb_parity_device(r.p, 0));
        parity_close(&r);
        skip();
    }
    assert_true(r.known >= 3 && r.fail == 0);
    assert_int_equal(r.exit_code, 0);
    parity_close(&r);
    o.no_shipped_known = true;
    parity_go(&r, &o);
    assert_true(r.known == 0 && r.fail >= 3);
    assert_int_equal(r.exit_code, 1);
    parity_close(&r);
}

/* Its loops end early: never a pass, not even where the limit is too wide to see it; one round less is a pass. */
static void lavapipes_lost_rounds_are_named(void **state) {
    static const char *const on[] = {"vulkan"};
    static const struct {
        int line;
        const char *text;
        lb_verdict verdict;
        bool known;
    } rows[] = {
        {__LINE__, "op=matmul m=2 n=2 k=65535 dist=constant", LB_PASS, false},
        {__LINE__, "op=matmul m=2 n=2 k=65536 dist=constant", LB_FAIL, true},
        {__LINE__, "op=matmul m=2 n=2 k=131072", LB_UNPROVEN, false},
        {__LINE__, "op=matmul_fp8 m=2 n=2 k=131072 dist=constant", LB_FAIL, true},
        {__LINE__, "op=linear m=2 n=2 k=300000", LB_UNPROVEN, false},
        {__LINE__, "op=matmul_tiled m=2 n=2 k=131072", LB_PASS, false},
        {__LINE__, "op=matmul_tiled m=2 n=2 k=1048577", LB_UNPROVEN, false},
        {__LINE__, "op=attention m=1 seq=14848 d=128", LB_PASS, false},
        {__LINE__, "op=attention m=1 seq=15500 d=128", LB_UNPROVEN, false},
        {__LINE__, "op=selective_scan seq=4000 d=1 state=16", LB_FAIL, false}, /* rows that are not written are never excused */
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    const char *texts[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) texts[i] = rows[i].text;
    const lb_parity_options o = {.on = on, .on_count = 1, .cases = texts, .case_count = COUNT, .timeout_seconds = 60, .no_power = true};
    parity_go(&r, &o);
    if (!strstr(lb_parity_device(r.p, 0), "Mesa 22.3")) {
        print_message("SKIP known: %s\n", lb_parity_device(r.p, 0));
        parity_close(&r);
        skip();
    }
    for (size_t i = 0; i < COUNT; i++) {
        const seen *c = &r.cases[i];
        if (c->verdict != rows[i].verdict || (*c->known != 0) != rows[i].known)
            fail_msg("row at %s:%d: %s: %s", __FILE__, rows[i].line, lb_verdict_name(c->verdict), c->reason);
        if (c->verdict != LB_PASS) assert_non_null(strstr(rows[i].known ? c->known : c->reason, "after 65,535 rounds"));
    }
    parity_close(&r);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_plan_passes_on_opencl),
        cmocka_unit_test(the_whole_plan_passes_on_vulkan),
        cmocka_unit_test(opencl_kernels_that_misbehave_end_their_case_alone),
        cmocka_unit_test(glsl_kernels_that_misbehave_end_their_case_alone),
        cmocka_unit_test(the_plan_finds_each_bug_planted_in_opencl),
        cmocka_unit_test(the_plan_finds_each_bug_planted_in_glsl),
        cmocka_unit_test(lavapipes_exp_is_a_known_failure),
        cmocka_unit_test(lavapipes_lost_rounds_are_named),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    planted_remove(folder);
    return failed;
}
