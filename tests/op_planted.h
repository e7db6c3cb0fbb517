/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For tests that plant a bug in a kernel as it is shipped: find a piece of its text, put another in its place, and run it as a user's. */
#ifndef LB_OP_PLANTED_H
#define LB_OP_PLANTED_H

#include "op_run.h"
#include "text_files.h"

#include "backends/launch.h"
#include "base/text.h"

typedef struct planted {
    int line;
    const char *bug, *op, *sizes, *format;
    const char *find, *instead; /* every place */
} planted;

/* The text with the bug in it; as it is where there is none. */
static inline char *planted_text(const planted *p, const char *text) {
    lb_text out = {0};
    size_t places = 0;
    for (const char *at; p->find && (at = strstr(text, p->find)); text = at + strlen(p->find), places++) {
        lb_text_add_bytes(&out, text, (size_t)(at - text));
        lb_text_add(&out, "%s", p->instead);
    }
    lb_text_add(&out, "%s", text);
    if (p->find && !places) fail_msg("row at line %d: the kernel no longer has \"%s\"", p->line, p->find);
    assert_false(out.failed);
    return out.s;
}

/* ---- as a user's kernel: k.json, and k.cl or k.comp beside it ---------------------------------------------------------------- */

static inline void planted_remove(const char *folder) {
    static const char *const names[] = {"k.cl", "k.comp", "k.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static inline void planted_write(const char *folder, const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_text(path, text);
}

/* The operator's own kernel with the bug. The description takes the calling convention and the sizes from the operator. */
static inline void planted_write_opencl(const char *folder, const planted *p) {
    char path[600], json[200];
    lb_text whole = {0};
    char *prelude = read_text(LB_SOURCE_DIR "/src/backends/opencl/prelude.cl");
    snprintf(path, sizeof path, "%s/src/backends/opencl/%s.cl", LB_SOURCE_DIR, lb_launch_find(p->op)->file);
    char *own = read_text(path), *changed = planted_text(p, own);
    lb_text_add(&whole, "%s%s", prelude, changed);
    planted_write(folder, "k.cl", whole.s);
    snprintf(json, sizeof json, "{\"language\": \"opencl\", \"op\": \"%s\", \"source\": \"k.cl\"}", p->op);
    planted_write(folder, "k.json", json);
    free(prelude);
    free(own);
    free(changed);
    free(whole.s);
}

static inline void planted_write_shader(const char *folder, const char *op, const char *text) {
    char json[600];
    planted_write(folder, "k.comp", text);
    snprintf(json, sizeof json,
             "{\"language\": \"glsl\", \"op\": \"%s\", \"source\": \"k.comp\", \"options\": \"-I%s/src/backends/vulkan/shaders\"}", op,
             LB_SOURCE_DIR);
    planted_write(folder, "k.json", json);
}

static inline void planted_write_glsl(const char *folder, const planted *p) {
    char path[600];
    snprintf(path, sizeof path, "%s/src/backends/vulkan/shaders/%s.comp", LB_SOURCE_DIR, p->op);
    char *own = read_text(path), *changed = planted_text(p, own);
    planted_write_shader(folder, p->op, changed);
    free(own);
    free(changed);
}

typedef void planted_writer(const char *folder, const planted *p);

/* The kernel that was written to the folder; skips the test where there is no device for it. */
static inline lb_device *planted_open(const char *folder) {
    char on[320];
    lb_device *d;
    lb_error err = {0};
    snprintf(on, sizeof on, "kernel:%s/k.json", folder);
    const lb_status s = lb_device_open(&d, on, &err);
    if (s == LB_OK) return d;
    if (s != LB_E_UNAVAILABLE) fail_msg("%s: %s", err.place, err.message);
    print_message("SKIP planted bugs: %s\n", err.message);
    skip();
    return NULL;
}

static inline op_result planted_run(const char *folder, planted_writer *write, lb_function_class functions, const planted *p) {
    lb_error err = {0};
    op_result r = {0};
    lb_op_case *x = op_open(p->op, p->sizes, p->format);
    write(folder, p);
    lb_device *d = planted_open(folder);
    const lb_status s = op_run(d, x, functions, &r, &err);
    lb_op_case_close(x);
    lb_device_close(d);
    if (s == LB_OK) return r;
    if (s != LB_E_UNAVAILABLE) fail_msg("row at line %d: %s: %s", p->line, err.place, err.message);
    print_message("SKIP planted bugs: %s\n", err.message);
    skip();
    return r;
}

/* Each bug leaves its operator's limits, and the kernel without it does not. */
static inline void planted_each(const char *folder, planted_writer *write, lb_function_class functions, const planted *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        planted whole = rows[i];
        whole.find = NULL;
        const op_result right = planted_run(folder, write, functions, &whole), wrong = planted_run(folder, write, functions, &rows[i]);
        if (right.wrong || !right.compared) fail_msg("row at line %d: without the bug: %s", rows[i].line, right.first);
        if (!wrong.wrong) fail_msg("row at line %d: %s in %s is not caught: worst %g", rows[i].line, rows[i].bug, rows[i].op, wrong.worst);
        print_message("%-22s %-16s %s: %zu of %zu wrong, %s\n", rows[i].bug, rows[i].op, rows[i].format, wrong.wrong, wrong.compared,
                      wrong.first);
    }
}

#endif
