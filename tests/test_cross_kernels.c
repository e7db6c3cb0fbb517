/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Our GLSL kernels in other languages, as tools/cross_kernels makes them: HLSL compiled back by glslang and run on a Vulkan device; Metal
 * compiled as C++ (tests/msl) and run on the CPU. Each operator is within its limits in each language and element format; bf16 with
 * LB_FULL=1. */
#include "op_run.h"
#include "text_files.h"

#include "backends/launch.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const formats[] = {"f32", "f16", "bf16"};

static char folder[] = "/tmp/lastbit-cross.XXXXXX";
static bool made; /* tools/cross_kernels ran */
static size_t format_count = 2;

static int run_command(const char *command) {
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int set_up(void **state) {
    char command[600];
    (void)state;
    if (!mkdtemp(folder)) return -1;
    if (getenv("LB_FULL")) format_count = 3;
    snprintf(command, sizeof command, "'%s/tools/cross_kernels' %s f32 f16 %s", LB_SOURCE_DIR, folder, format_count == 3 ? formats[2] : "");
    const int code = run_command(command);
    made = code == 0;
    return code == 0 || code == 2 ? 0 : -1; /* 2: a tool is missing, which it said */
}

static int tear_down(void **state) {
    char command[200];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return run_command(command);
}

static void skip_unless(bool there, const char *what) {
    if (there) return;
    print_message("SKIP cross kernels: %s\n", what);
    skip();
}

static void expect_within(const char *language, const lb_op_case *x, const op_result *r) {
    if (r->wrong || !r->compared || r->unwritten || r->guard_damage || r->inputs_changed)
        fail_msg("%s as %s in %s: wrong %zu of %zu, unwritten %zu, guards %llu, inputs %d; %s", x->op->name, language, x->format->name,
                 r->wrong, r->compared, r->unwritten, (unsigned long long)r->guard_damage, r->inputs_changed, r->first);
}

/* ---- HLSL ---------------------------------------------------------------------------------------------------------------------- */

/* Direct3D's constant buffer is Vulkan's push constants. */
static void write_hlsl(const char *op, const char *format) {
    static const char buffer[] = "cbuffer lb_params : register(b";
    char path[300], json[300];
    lb_text out = {0};
    snprintf(path, sizeof path, "%s/hlsl/%s.%s.hlsl", folder, op, format);
    char *text = read_text(path), *at = strstr(text, buffer), *end = at ? strchr(at, '\n') : NULL;
    if (!at || !end) fail_msg("%s: no cbuffer lb_params", path);
    lb_text_add_bytes(&out, text, (size_t)(at - text));
    lb_text_add(&out, "[[vk::push_constant]] cbuffer lb_params%s", end);
    snprintf(path, sizeof path, "%s/k.hlsl", folder);
    write_text(path, out.s);
    snprintf(json, sizeof json, "{\"language\": \"hlsl\", \"op\": \"%s\", \"entry\": \"main\", \"source\": \"k.hlsl\"}", op);
    snprintf(path, sizeof path, "%s/k.json", folder);
    write_text(path, json);
    free(text);
    free(out.s);
}

static void hlsl_is_within_each_operators_limits_on_vulkan(void **state) {
    char on[100];
    size_t ran = 0;
    (void)state;
    skip_unless(made, "tools/cross_kernels did not run");
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    for (size_t i = 0; lb_launch_row(i); i++)
        for (size_t f = 0; f < format_count; f++, ran++) {
            lb_op_case *x = op_open(lb_launch_row(i)->op, "", formats[f]);
            lb_device *d;
            op_result r;
            lb_error err = {0};
            write_hlsl(x->op->name, formats[f]);
            lb_status s = lb_device_open(&d, on, &err);
            if (s == LB_OK) s = op_run(d, x, LB_FUNCTIONS_VULKAN, &r, &err);
            skip_unless(s != LB_E_UNAVAILABLE, err.message);
            if (s != LB_OK) fail_msg("%s in %s: %s: %s", x->op->name, formats[f], err.place, err.message);
            expect_within("HLSL", x, &r);
            lb_device_close(d);
            lb_op_case_close(x);
        }
    print_message("HLSL: %zu kernels\n", ran);
    assert_true(ran > 0);
}

/* ---- Metal --------------------------------------------------------------------------------------------------------------------- */

enum { GUARD_WORDS = 64 };
static const uint32_t guard_word = 0xa5a5a5a5;

typedef int msl_run(const char *name, void *const *buffers, const uint32_t groups[3]);

/* Each buffer between guards, so that what is written beside it is counted. */
typedef struct msl_launch {
    uint32_t *images[LB_MAX_BUFFERS + 1];
    void *buffers[LB_MAX_BUFFERS + 1];
    size_t words[LB_MAX_BUFFERS + 1], count;
    uint32_t params[LB_OP_PARAMS], groups[3];
} msl_launch;

static void msl_add(msl_launch *l, const void *data, size_t bytes) {
    const size_t words = (bytes + 3) / 4 + 2 * GUARD_WORDS;
    uint32_t *image = malloc(words * 4);
    assert_non_null(image);
    for (size_t i = 0; i < words; i++) image[i] = guard_word;
    memcpy(image + GUARD_WORDS, data, bytes);
    l->images[l->count] = image;
    l->words[l->count] = words;
    l->buffers[l->count++] = image + GUARD_WORDS;
}

static void msl_prepare(msl_launch *l, const lb_op_case *x, const lb_source_job *job) {
    size_t used = 0;
    *l = (msl_launch){.groups = {1, 1, 1}};
    for (size_t i = 0; i < job->buffer_count; i++) msl_add(l, job->buffers[i].data, job->buffers[i].bytes);
    for (size_t i = 0; i < job->arg_count; i++) {
        const lb_kernel_arg *a = &job->args[i];
        if (a->kind == LB_ARG_INT) l->params[used++] = (uint32_t)a->integer;
        if (a->kind == LB_ARG_FLOAT) memcpy(&l->params[used++], &a->real, 4);
    }
    assert_int_equal(used, x->op->param_count);
    msl_add(l, l->params, used * 4);
    for (unsigned i = 0; i < job->dims; i++) l->groups[i] = (uint32_t)(job->global[i] / job->local[i]);
}

static void msl_take(msl_launch *l, const lb_source_job *job, op_result *r) {
    for (size_t b = 0; b < l->count; b++) {
        for (size_t i = 0; i < GUARD_WORDS; i++)
            r->guard_damage += (l->images[b][i] != guard_word) + (l->images[b][l->words[b] - 1 - i] != guard_word);
        if (b < job->buffer_count && job->buffers[b].output) memcpy(job->buffers[b].data, l->buffers[b], job->buffers[b].bytes);
        if (b < job->buffer_count && !job->buffers[b].output && memcmp(job->buffers[b].data, l->buffers[b], job->buffers[b].bytes) != 0)
            r->inputs_changed = true;
        free(l->images[b]);
    }
}

static void msl_case(msl_run *run, const char *op, const char *format) {
    lb_op_case *x = op_open(op, "", format);
    lb_source_job job = {0};
    msl_launch l;
    op_result r = {0};
    char name[80];
    op_poison(x);
    assert_int_equal(lb_launch_args(x, &job, NULL), LB_OK);
    assert_int_equal(lb_launch_grid(lb_launch_find(op), x, job.global, job.local, &job.dims, NULL), LB_OK);
    msl_prepare(&l, x, &job);
    snprintf(name, sizeof name, "%s.%s", op, format);
    if (run(name, l.buffers, l.groups) != 0) fail_msg("%s as Metal: not run", name);
    msl_take(&l, &job, &r);
    op_judge_all(x, LB_FUNCTIONS_VULKAN, &r);
    expect_within("Metal", x, &r);
    lb_op_case_close(x);
}

static void metal_is_within_each_operators_limits_on_the_cpu(void **state) {
    char command[900], path[200];
    size_t ran = 0;
    (void)state;
    skip_unless(made, "tools/cross_kernels did not run");
    skip_unless(run_command("command -v g++ >/dev/null") == 0, "no g++: apt-get install g++");
    skip_unless(run_command("command -v python3 >/dev/null") == 0, "no python3: apt-get install python3");
    snprintf(path, sizeof path, "%s/msl.so", folder);
    snprintf(command, sizeof command, "'%s/tests/msl/build' %s/msl %s", LB_SOURCE_DIR, folder, path);
    assert_int_equal(run_command(command), 0);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    msl_run *run;
    *(void **)&run = dlsym(library, "lb_msl_run");
    assert_non_null(run);
    for (size_t i = 0; lb_launch_row(i); i++)
        for (size_t f = 0; f < format_count; f++, ran++) msl_case(run, lb_launch_row(i)->op, formats[f]);
    dlclose(library);
    print_message("Metal: %zu kernels\n", ran);
    assert_true(ran > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metal_is_within_each_operators_limits_on_the_cpu),
        cmocka_unit_test(hlsl_is_within_each_operators_limits_on_vulkan),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
