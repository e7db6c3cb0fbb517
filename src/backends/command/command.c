/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* -- CMD ARGS: any program. It is called with a folder that holds case.json and in.safetensors, and writes out.safetensors there.
 * docs/howto/judge-your-kernel.md describes the files. */
#include "backends/device.h"
#include "backends/program.h"
#include "base/text.h"
#include "base/try.h"
#include "lastbit/io.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct command {
    lb_device base;
    char **argv; /* [argc + 2]: the folder comes last */
    int argc;
} command;

static void command_close(lb_device *d) {
    command *c = (command *)d;
    for (int i = 0; c->argv && i < c->argc; i++) free(c->argv[i]);
    free(c->argv);
    free(c);
}

lb_status lb_command_open(lb_device **out, char *const *argv, lb_error *err) {
    command *c = calloc(1, sizeof *c);
    if (!c) return lb_fail(err, LB_E_MEMORY, argv[0], "no memory");
    int argc = 0;
    while (argv[argc]) argc++;
    c->argv = calloc((size_t)argc + 2, sizeof *c->argv);
    bool ok = c->argv != NULL;
    for (; ok && c->argc < argc; c->argc++) ok = (c->argv[c->argc] = strdup(argv[c->argc])) != NULL;
    if (!ok) {
        command_close(&c->base);
        return lb_fail(err, LB_E_MEMORY, argv[0], "no memory");
    }
    *out = &c->base;
    return LB_OK;
}

static bool command_can(const lb_device *d, const lb_case *x, const char **why_not) {
    (void)d;
    (void)x;
    (void)why_not;
    return true; /* the program says itself what it cannot do */
}

/* ---- the folder ---------------------------------------------------------------------------------------------------------- */

static void path_in(char *out, size_t size, const char *folder, const char *file) {
    snprintf(out, size, "%s/%s", folder, file);
}

static lb_status write_case(const char *folder, const lb_case *x, lb_error *err) {
    char path[600];
    path_in(path, sizeof path, folder, "case.json");
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:b, s:s, s:s}", "op", x->op, "m", (json_int_t)lb_case_m(x), "n",
                          (json_int_t)lb_case_n(x), "k", (json_int_t)lb_case_k(x), "in", x->a.format->name, "in_b", x->b.format->name,
                          "out", x->out->name, "tb", (int)x->b_transposed, "inputs", "in.safetensors", "output", "out.safetensors");
    if (x->c.codes) json_object_set_new(j, "acc", json_string(x->c.format->name));
    const bool ok = j && json_dump_file(j, path, JSON_INDENT(1)) == 0;
    json_decref(j);
    return ok ? LB_OK : lb_fail(err, LB_E_FILE, path, "cannot be written: %s", strerror(errno));
}

static lb_status write_inputs(const char *folder, const lb_case *x, lb_error *err) {
    const struct {
        const char *name;
        const lb_mat *m;
    } operands[] = {{"a", &x->a}, {"b", &x->b}, {"c", &x->c}};
    lb_tensor tensors[3];
    void *owned[3] = {NULL};
    size_t count = 0;
    lb_status s = LB_OK;
    for (size_t i = 0; s == LB_OK && i < 3; i++) {
        const lb_mat *m = operands[i].m;
        size_t bytes;
        if (!m->codes) continue;
        s = lb_pack_mat(m, &owned[count], &bytes, err);
        tensors[count] = (lb_tensor){.name = operands[i].name,
                                     .dtype = lb_dtype_for(m->format, false),
                                     .rank = 2,
                                     .shape = {m->rows, m->cols},
                                     .data = owned[count],
                                     .bytes = bytes};
        count++;
    }
    char path[600];
    path_in(path, sizeof path, folder, "in.safetensors");
    const char *const metadata[] = {"a_format",        x->a.format->name, "b_format",
                                    x->b.format->name, "c_format",        x->c.codes ? x->c.format->name : "none"};
    if (s == LB_OK) s = lb_safetensors_write(path, tensors, count, metadata, 3, err);
    for (size_t i = 0; i < 3; i++) free(owned[i]);
    return s;
}

static lb_status read_output(const lb_device *d, const char *folder, const lb_case *x, void *y, lb_error *err) {
    char spec[600];
    struct stat st;
    lb_operand o;
    lb_error why = {0};
    path_in(spec, sizeof spec, folder, "out.safetensors");
    if (stat(spec, &st) != 0) return lb_fail(err, LB_E_DEVICE, d->name, "the program wrote no out.safetensors");
    if (!S_ISREG(st.st_mode)) return lb_fail(err, LB_E_DEVICE, d->name, "out.safetensors is no ordinary file");
    path_in(spec, sizeof spec, folder, "out.safetensors:d");
    if (lb_operand_open(&o, spec, x->out, NULL, &why) != LB_OK)
        return lb_fail(err, LB_E_DEVICE, d->name, "out.safetensors: %s", why.message);
    lb_status s = LB_OK;
    if (o.mat.rows != lb_case_m(x) || o.mat.cols != lb_case_n(x))
        s = lb_fail(err, LB_E_DEVICE, d->name, "out.safetensors: d is %zux%zu; the case is %zux%zu", o.mat.rows, o.mat.cols, lb_case_m(x),
                    lb_case_n(x));
    else
        memcpy(y, o.mat.codes, o.mat.rows * o.mat.cols * (size_t)o.mat.format->bytes);
    lb_operand_close(&o);
    return s;
}

/* ---- the program ----------------------------------------------------------------------------------------------------------- */

/* The last line that the program printed, without its end. */
static void last_line(const char *folder, char *out, size_t size) {
    char path[600], line[400];
    path_in(path, sizeof path, folder, "log");
    FILE *f = fopen(path, "r");
    out[0] = 0;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0]) snprintf(out, size, ": %s", line);
    }
    if (f) fclose(f);
}

static lb_status run_program(command *c, char *folder, double timeout_seconds, lb_error *err) {
    char said[420];
    lb_program_end end;
    c->argv[c->argc] = folder;
    const lb_status s = lb_program_run(c->argv, folder, timeout_seconds, c->base.name, &end, err);
    c->argv[c->argc] = NULL;
    if (s != LB_OK) return s;
    if (end.could_not) return lb_fail(err, LB_E_NAME, c->base.name, "cannot be run: %s", strerror(end.could_not));
    if (!end.in_time) return lb_fail(err, LB_E_TIMEOUT, c->base.name, "no answer in %g s (--timeout)", timeout_seconds);
    last_line(folder, said, sizeof said);
    if (WIFSIGNALED(end.status))
        return lb_fail(err, LB_E_DEVICE, c->base.name, "killed by signal %d (%s)%s", WTERMSIG(end.status), strsignal(WTERMSIG(end.status)),
                       said);
    if (WEXITSTATUS(end.status) != 0) return lb_fail(err, LB_E_DEVICE, c->base.name, "exit code %d%s", WEXITSTATUS(end.status), said);
    return LB_OK;
}

static lb_status command_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    lb_scratch at;
    LB_TRY(lb_scratch_open(&at, d->name, err));
    lb_status s = write_case(at.folder, x, err);
    if (s == LB_OK) s = write_inputs(at.folder, x, err);
    if (s == LB_OK) s = run_program((command *)d, at.folder, timeout_seconds, err);
    if (s == LB_OK) s = read_output(d, at.folder, x, y, err);
    lb_scratch_close(&at);
    return s;
}

lb_status lb_command_in_folder(lb_device *d, char *folder, double timeout_seconds, lb_error *err) {
    return run_program((command *)d, folder, timeout_seconds, err);
}

const lb_backend lb_backend_command = {
    .name = "command",
    .summary = "-- CMD ARGS, any program: reads case.json and in.safetensors in a folder, writes out.safetensors",
    .can = command_can,
    .run = command_run,
    .close = command_close};
