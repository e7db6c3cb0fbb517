/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* GLSL and HLSL as languages of kernel:FILE.json: compiled by glslangValidator, run on a Vulkan device. What compiled is
 * kept with the session. */
#include "backends/program.h"
#include "backends/vulkan/vulkan_session.h"
#include "base/try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_OPTIONS = 64, COMPILE_SECONDS = 60 };

/* A folder of its own: in.comp, out.spv, log. */
typedef struct workshop {
    lb_scratch at;
    char in[600], out[600], log[600];
} workshop;

static lb_status workshop_open(workshop *w, const char *path, lb_error *err) {
    LB_TRY(lb_scratch_open(&w->at, path, err));
    snprintf(w->in, sizeof w->in, "%s/in.comp", w->at.folder);
    snprintf(w->out, sizeof w->out, "%s/out.spv", w->at.folder);
    snprintf(w->log, sizeof w->log, "%s/log", w->at.folder);
    return LB_OK;
}

static lb_status write_source(const workshop *w, const char *path, const char *source, lb_error *err) {
    FILE *f = fopen(w->in, "wb");
    const bool wrote = f && fputs(source, f) >= 0;
    return f && fclose(f) == 0 && wrote ? LB_OK : lb_fail(err, LB_E_FILE, path, "%s cannot be written", w->in);
}

static lb_status run_compiler(char **argv, const workshop *w, const char *path, int *status, lb_error *err) {
    lb_program_end end;
    LB_TRY(lb_program_run(argv, w->at.folder, COMPILE_SECONDS, path, &end, err));
    *status = end.status;
    if (end.could_not == ENOENT)
        return lb_fail(err, LB_E_UNAVAILABLE, path, "GLSL is compiled by glslangValidator: apt-get install glslang-tools");
    if (end.could_not) return lb_fail(err, LB_E_MEMORY, path, "glslangValidator cannot be run: %s", strerror(end.could_not));
    return end.in_time ? LB_OK : lb_fail(err, LB_E_TIMEOUT, path, "glslangValidator did not end in %d s", COMPILE_SECONDS);
}

/* "ERROR: …/in.comp:12: what" as "line 12: what". */
static lb_status compile_failed(const workshop *w, const char *path, lb_error *err) {
    char line[600], first[600] = "it says nothing";
    bool found = false;
    FILE *f = fopen(w->log, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = 0;
        found = strncmp(line, "ERROR: ", 7) == 0;
        if (found || (line[0] && strcmp(line, w->in) != 0)) snprintf(first, sizeof first, "%s", line + (found ? 7 : 0));
    }
    if (f) fclose(f);
    const size_t own = strlen(w->in);
    const bool ours = strncmp(first, w->in, own) == 0 && first[own] == ':';
    return lb_fail(err, LB_E_DEVICE, path, "the source does not compile: %s%.400s", ours ? "line " : "", ours ? first + own + 1 : first);
}

static lb_status read_words(const workshop *w, const char *path, uint32_t **words, size_t *count, lb_error *err) {
    FILE *f = fopen(w->out, "rb");
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    *words = size > 0 && size % 4 == 0 ? malloc((size_t)size) : NULL;
    *count = size > 0 ? (size_t)size / 4 : 0;
    const bool ok = *words && fseek(f, 0, SEEK_SET) == 0 && fread(*words, 4, *count, f) == *count;
    if (f) fclose(f);
    if (ok) return LB_OK;
    free(*words);
    *words = NULL;
    return lb_fail(err, LB_E_DEVICE, path, "glslangValidator left no shader");
}

/* A compute shader's text to SPIR-V by glslangValidator; the job's options are separated by spaces; hlsl: its entry, NULL for GLSL.
 *  errors LB_E_DEVICE (its first error line), LB_E_UNAVAILABLE (no glslangValidator), LB_E_FILE, LB_E_MEMORY, LB_E_TIMEOUT
 *  memory words: free() */
static lb_status compile(const lb_source_job *job, const char *hlsl, uint32_t **words, size_t *count, lb_error *err) {
    char include[560], entry[140], *argv[MOST_OPTIONS + 16], *rest = NULL;
    int argc = 0, status = 0;
    const char *path = job->path, *slash = strrchr(path, '/');
    workshop w;
    char *text = strdup(job->options);
    *words = NULL;
    if (!text) return lb_fail(err, LB_E_MEMORY, path, "no memory");
    snprintf(include, sizeof include, "-I%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(entry, sizeof entry, "%s", hlsl ? hlsl : "");
    char *const fixed[] = {"glslangValidator", "-V", "--target-env", "vulkan1.1", "-S", "comp", include, "-o", w.out}, *const more[] = {
                                                                                                                           "-D", "-e",
                                                                                                                           entry};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) argv[argc++] = fixed[i];
    for (size_t i = 0; hlsl && i < sizeof more / sizeof more[0]; i++) argv[argc++] = more[i];
    for (char *p = strtok_r(text, " ", &rest); p && argc < MOST_OPTIONS + 12; p = strtok_r(NULL, " ", &rest)) argv[argc++] = p;
    argv[argc++] = w.in;
    argv[argc] = NULL;
    lb_status s = workshop_open(&w, path, err);
    if (s == LB_OK) {
        s = write_source(&w, path, job->source, err);
        if (s == LB_OK) s = run_compiler(argv, &w, path, &status, err);
        if (s == LB_OK && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) s = compile_failed(&w, path, err);
        if (s == LB_OK) s = read_words(&w, path, words, count, err);
        lb_scratch_close(&w.at);
    }
    free(text);
    return s;
}

/* ---- the language -------------------------------------------------------------------------------------------------------------- */

typedef struct compiled {
    struct compiled *next;
    char *source, *options;
    uint32_t *words;
    size_t count;
} compiled;

typedef struct glsl {
    lb_vk *device;
    bool hlsl;
    compiled *sources;
} glsl;

static void compiled_free(compiled *c) {
    free(c->source);
    free(c->options);
    free(c->words);
    free(c);
}

static void glsl_close(void *state) {
    glsl *g = state;
    if (!g) return;
    lb_vk_close(g->device);
    while (g->sources) {
        compiled *c = g->sources;
        g->sources = c->next;
        compiled_free(c);
    }
    free(g);
}

static lb_status glsl_open(void **session, const char *place, const char *device, char *detail, lb_error *err) {
    glsl *g = calloc(1, sizeof *g);
    if (!g) return lb_fail(err, LB_E_MEMORY, place, "no memory");
    const lb_status s = lb_vk_open(&g->device, place, device, detail, err);
    if (s != LB_OK)
        glsl_close(g);
    else
        *session = g;
    return s;
}

static lb_status compiled_of(glsl *g, const lb_source_job *job, const compiled **out, lb_error *err) {
    for (compiled *c = g->sources; c; c = c->next)
        if (strcmp(c->options, job->options) == 0 && strcmp(c->source, job->source) == 0) {
            *out = c;
            return LB_OK;
        }
    compiled *c = calloc(1, sizeof *c); /* kept once it compiled */
    *out = NULL;
    if (!c) return lb_fail(err, LB_E_MEMORY, job->path, "no memory");
    c->source = strdup(job->source);
    c->options = strdup(job->options);
    lb_status s = c->source && c->options ? LB_OK : lb_fail(err, LB_E_MEMORY, job->path, "no memory");
    if (s == LB_OK) s = compile(job, g->hlsl ? job->entry : NULL, &c->words, &c->count, err);
    if (s != LB_OK) {
        compiled_free(c);
        return s;
    }
    c->next = g->sources;
    *out = g->sources = c;
    return LB_OK;
}

static lb_status glsl_run(void *session, const lb_source_job *job, lb_error *err) {
    glsl *g = session;
    const compiled *c = NULL;
    LB_TRY(compiled_of(g, job, &c, err));
    return lb_vk_run(g->device, c->words, c->count, job, err);
}

static lb_status hlsl_open(void **session, const char *place, const char *device, char *detail, lb_error *err) {
    LB_TRY(glsl_open(session, place, device, detail, err));
    ((glsl *)*session)->hlsl = true;
    return LB_OK;
}

const lb_source_language lb_glsl_language = {.name = "glsl", .suffix = ".comp", .open = glsl_open, .run = glsl_run, .close = glsl_close};
const lb_source_language lb_hlsl_language = {.name = "hlsl", .suffix = ".hlsl", .open = hlsl_open, .run = glsl_run, .close = glsl_close};
