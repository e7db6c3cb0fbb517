/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lastbit/capture.h"

#include "base/text.h"
#include "base/try.h"
#include "run/capture_inputs.h"
#include "run/capture_jobs.h"
#include "run/capture_ops.h"
#include "run/describe.h"
#include "run/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { DEFAULT_DOTS = 2048, CHAIN_STEPS = 4, MOST_PAIRS = 64 };

struct lb_capture {
    lb_cuda *cuda;
    lb_capture_options o; /* folder, command: own copies */
    char *folder, *command;
    char device[300], arch[16]; /* "sm_90" */
    char table[16];             /* the architecture whose rows are this GPU's own; "" if none */
    lb_capture_shape shape;     /* of the unit whose kernel is loaded */
    lb_cuda_kernel kernel;
    char *ptx;
};

const char *lb_capture_kind_name(lb_capture_kind kind) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_CAPTURE_LIST(X)
#undef X
    };
    return (unsigned)kind < LB_CAPTURE_KIND_COUNT ? names[kind] : NULL;
}

const char *lb_capture_kind_text(lb_capture_kind kind) {
    static const char *const texts[] = {
#define X(id, name, text) text,
        LB_CAPTURE_LIST(X)
#undef X
    };
    return (unsigned)kind < LB_CAPTURE_KIND_COUNT ? texts[kind] : NULL;
}

/* ---- the GPU ----------------------------------------------------------------------------------------------------------------- */

static lb_status make_folder(const char *path, lb_error *err) {
    struct stat st;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return lb_fail(err, LB_E_FILE, path, "cannot be made: %s", strerror(errno));
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? LB_OK : lb_fail(err, LB_E_FILE, path, "is no folder");
}

/* Whether a row's instruction, asked for on this GPU, is that row: the table of aliases decides, as sm_86 has the units of sm_80. */
static bool is_own(const char *arch, const lb_unit *row) {
    lb_unit here;
    char name[128];
    const char *slash = strchr(row->name, '/');
    snprintf(name, sizeof name, "%s%s", arch, slash ? slash : "");
    return lb_unit_find(name, &here, NULL) == LB_OK && strcmp(here.name, row->name) == 0;
}

/* The architecture of the first row that is; only one row of each is asked. */
static void find_table(lb_capture *c) {
    char asked[16] = "";
    const lb_unit *row;
    for (size_t i = 0; (row = lb_unit_row(i)) && !*c->table; i++) {
        char arch[sizeof asked];
        snprintf(arch, sizeof arch, "%.*s", (int)strcspn(row->name, "/"), row->name);
        if (strcmp(arch, asked) == 0) continue;
        memcpy(asked, arch, sizeof asked);
        if (is_own(c->arch, row)) memcpy(c->table, arch, sizeof arch);
    }
}

lb_status lb_capture_open(lb_capture **out, const lb_capture_options *options, lb_error *err) {
    *out = NULL;
    lb_capture *c = calloc(1, sizeof *c);
    if (!c) return lb_fail(err, LB_E_MEMORY, "", "no memory for a recorder");
    c->o = *options;
    c->folder = strdup(options->folder ? options->folder : ".");
    c->command = strdup(options->command ? options->command : "");
    if (!c->o.dots) c->o.dots = DEFAULT_DOTS;
    lb_status s = c->folder && c->command ? LB_OK : lb_fail(err, LB_E_MEMORY, "", "no memory for a recorder");
    if (s == LB_OK) s = lb_cuda_open(&c->cuda, options->device, err);
    if (s != LB_OK) {
        lb_capture_close(c);
        return s;
    }
    const lb_cuda_device *d = lb_cuda_describe(c->cuda);
    snprintf(c->arch, sizeof c->arch, "sm_%d", d->major * 10 + d->minor);
    snprintf(c->device, sizeof c->device, "%s (%s, %s)", d->name, c->arch, d->driver);
    find_table(c);
    *out = c;
    return LB_OK;
}

static void unload(lb_capture *c) {
    if (c->cuda) lb_cuda_kernel_close(c->cuda, &c->kernel);
    free(c->ptx);
    c->ptx = NULL;
    c->shape.unit.name[0] = 0;
}

void lb_capture_close(lb_capture *c) {
    if (!c) return;
    unload(c);
    lb_cuda_close(c->cuda);
    free(c->folder);
    free(c->command);
    free(c);
}

lb_cuda *lb_capture_cuda(const lb_capture *c) {
    return c->cuda;
}

const char *lb_capture_folder(const lb_capture *c) {
    return c->folder;
}

const char *lb_capture_command(const lb_capture *c) {
    return c->command;
}

bool lb_capture_resumes(const lb_capture *c) {
    return c->o.resume;
}

const char *lb_capture_device(const lb_capture *c) {
    return c->device;
}

lb_status lb_capture_can(const lb_capture *c, const lb_unit *u, lb_error *err) {
    lb_capture_shape s;
    const size_t n = strlen(c->table);
    if (!n || strncmp(u->name, c->table, n) != 0 || u->name[n] != '/')
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "not captured: this GPU is %s", c->arch);
    return lb_capture_shape_of(u, &s, err);
}

static lb_status load_kernel(lb_capture *c, const lb_unit *u, lb_error *err) {
    LB_TRY(lb_capture_can(c, u, err));
    if (c->kernel.function && strcmp(c->shape.unit.name, u->name) == 0) return LB_OK;
    unload(c);
    LB_TRY(lb_capture_shape_of(u, &c->shape, err));
    LB_TRY(lb_capture_ptx_of(&c->shape, &c->ptx, err));
    lb_error why;
    const lb_status s = lb_cuda_compile(c->cuda, c->ptx, LB_CAPTURE_ENTRY, &c->kernel, &why);
    if (s == LB_OK) return LB_OK;
    unload(c);
    return lb_fail(err, s, u->name, "%s: %s", why.place, why.message);
}

lb_status lb_capture_ptx(const lb_unit *u, char **out, lb_error *err) {
    lb_capture_shape s;
    *out = NULL;
    LB_TRY(lb_capture_shape_of(u, &s, err));
    return lb_capture_ptx_of(&s, out, err);
}

/* ---- what a recording says of itself -------------------------------------------------------------------------------------------- */

typedef struct pairs {
    const char *text[2 * MOST_PAIRS];
    size_t count;
    char date[32], numbers[8][32];
    size_t number_count;
} pairs;

static void add(pairs *p, const char *key, const char *value) {
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->text[2 * i], key) == 0) return; /* what is said first counts */
    if (p->count == MOST_PAIRS) return;
    p->text[2 * p->count] = key;
    p->text[2 * p->count++ + 1] = value;
}

static void add_number(pairs *p, const char *key, uint64_t value) {
    char *text = p->numbers[p->number_count++];
    snprintf(text, sizeof p->numbers[0], "%llu", (unsigned long long)value);
    add(p, key, text);
}

/* What this GPU and this run are; lb_capture's own strings. */
static void add_origin(pairs *p, const lb_capture *c, bool gemm) {
    const lb_unit *u = &c->shape.unit;
    const time_t now = time(NULL);
    struct tm utc;
    strftime(p->date, sizeof p->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    add(p, "lastbit.recording", gemm ? "gemm/1" : "dot/1");
    add(p, "unit", u->name);
    add(p, "device", lb_cuda_describe(c->cuda)->name);
    add(p, "compute_capability", c->arch);
    add(p, "driver", lb_cuda_describe(c->cuda)->driver);
    add(p, "date", p->date);
    add(p, "a_format", lb_format_row(u->a)->name);
    add(p, "b_format", lb_format_row(u->b)->name);
    add(p, "c_format", lb_format_row(u->c)->name);
    add(p, "d_format", lb_format_row(u->d)->name);
    add(p, "origin", "lastbit capture " LB_VERSION);
    add(p, "ptx", c->ptx);
    if (*c->command) add(p, "command", c->command);
}

/* ---- one kind of a unit ------------------------------------------------------------------------------------------------------------ */

typedef struct drawn {
    const lb_unit *u;
    uint64_t seed;
} drawn;

static void make_directed(const lb_capture_dots *dots, size_t index, uint64_t *a, uint64_t *b, uint64_t *c) {
    lb_capture_directed(((const drawn *)dots->user)->u, dots->k, index, a, b, c);
}

static void make_seeded(const lb_capture_dots *dots, size_t index, uint64_t *a, uint64_t *b, uint64_t *c) {
    const drawn *d = dots->user;
    lb_capture_seeded(d->u, d->seed, dots->k, index, a, b, c);
}

static lb_status record_dots(lb_capture *c, lb_capture_kind kind, lb_capture_job *job, pairs *p, uint64_t *outputs, lb_error *err) {
    const lb_unit *u = &c->shape.unit;
    const drawn user = {u, c->o.seed + (kind == LB_CAPTURE_CHAIN)};
    lb_capture_dots dots = {.count = c->o.dots, .k = u->k, .make = make_seeded, .user = &user};
    if (kind == LB_CAPTURE_DIRECTED) {
        dots.count = lb_capture_directed_count(u);
        dots.make = make_directed;
    } else {
        add_number(p, "seed", user.seed);
    }
    if (kind == LB_CAPTURE_CHAIN) dots.k *= CHAIN_STEPS;
    add_number(p, "k", dots.k);
    job->metadata_count = p->count;
    *outputs = dots.count;
    return lb_capture_run_dots(job, &dots, err);
}

/* Ragged, so that padding is in it; tiles: whole ones. */
static lb_status record_gemm(lb_capture *c, lb_capture_kind kind, lb_capture_job *job, pairs *p, uint64_t *outputs, lb_error *err) {
    const lb_unit *u = &c->shape.unit;
    const bool whole = kind == LB_CAPTURE_TILES;
    const size_t m = whole ? 2u * u->m : 3u * u->m - 3, n = whole ? 4u * u->n : 5u * u->n - 5, k = whole ? u->k : 16u * u->k - 3;
    const size_t rows[] = {m, k, m}, cols[] = {k, n, n};
    const lb_format_id formats[] = {u->a, u->b, u->c};
    lb_mat mat[3];
    void *codes[3];
    lb_status s = LB_OK;
    for (int i = 0; i < 3; i++) {
        codes[i] = calloc(rows[i] * cols[i], (size_t)lb_format_row(formats[i])->bytes);
        if (!codes[i]) s = lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zux%zu", rows[i], cols[i]);
        mat[i] = lb_mat_of(lb_format_row(formats[i]), codes[i], rows[i], cols[i]);
        if (s == LB_OK) lb_draw_mat(&mat[i], whole ? LB_DIST_WIDE : LB_DIST_NORMAL, c->o.seed, (uint32_t)i + 1);
    }
    add_number(p, "m", m);
    add_number(p, "n", n);
    add_number(p, "k", k);
    add_number(p, "seed", c->o.seed);
    job->metadata_count = p->count;
    *outputs = m * n;
    if (s == LB_OK) s = lb_capture_run_gemm(job, &mat[0], &mat[1], &mat[2], err);
    for (int i = 0; i < 3; i++) free(codes[i]);
    return s;
}

static lb_status result_path(const lb_capture *c, const char *name, const char *kind, lb_capture_result *out, lb_error *err) {
    const int n = snprintf(out->path, sizeof out->path, "%s/%s%s%s", c->folder, name, *kind ? "." : "", kind);
    if (n < 0 || (size_t)n + 16 > sizeof out->path) return lb_fail(err, LB_E_FILE, c->folder, "path too long");
    for (char *s = out->path + strlen(c->folder) + 1; *s; s++)
        if (*s == '/') *s = '_';
    if (*kind) strcat(out->path, ".safetensors");
    return LB_OK;
}

static bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

lb_status lb_capture_unit(lb_capture *c, const lb_unit *u, lb_capture_kind kind, lb_capture_result *out, lb_error *err) {
    *out = (lb_capture_result){0};
    const double start = lb_seconds();
    if (!lb_capture_kind_name(kind)) return lb_fail(err, LB_E_ARG, u->name, "no kind %d of recordings", (int)kind);
    LB_TRY(result_path(c, u->name, lb_capture_kind_name(kind), out, err));
    out->there = c->o.resume && is_file(out->path);
    if (out->there) return LB_OK;
    LB_TRY(load_kernel(c, u, err));
    LB_TRY(make_folder(c->folder, err));
    pairs p = {0};
    lb_capture_job job = {.cuda = c->cuda, .shape = &c->shape, .kernel = &c->kernel, .path = out->path, .metadata = p.text};
    const bool gemm = kind == LB_CAPTURE_TILES || kind == LB_CAPTURE_GEMM;
    add_origin(&p, c, gemm);
    add(&p, "inputs", lb_capture_kind_name(kind));
    add(&p, "note", lb_capture_kind_text(kind));
    const lb_status s = gemm ? record_gemm(c, kind, &job, &p, &out->outputs, err) : record_dots(c, kind, &job, &p, &out->outputs, err);
    out->seconds = lb_seconds() - start;
    return s;
}

/* ---- requests ------------------------------------------------------------------------------------------------------------------------ */

static void make_asked(const lb_capture_dots *dots, size_t index, uint64_t *a, uint64_t *b, uint64_t *c) {
    const lb_recording *r = dots->user;
    for (size_t p = 0; p < r->k; p++) {
        a[p] = lb_mat_code(&r->a.mat, index, p);
        b[p] = lb_mat_code(&r->b.mat, index, p);
    }
    *c = lb_mat_code(&r->c.mat, 0, index);
}

static lb_status answer(lb_capture *c, const lb_file *f, lb_recording *r, lb_capture_result *out, lb_error *err) {
    const char *unit_name, *key;
    LB_TRY(lb_recording_text(f, "unit", &unit_name, err));
    LB_TRY(lb_unit_find(unit_name, &r->unit, err));
    LB_TRY(lb_recording_load(r, f, false, err));
    if (!r->n || !r->k) return lb_fail(err, LB_E_FILE, lb_file_path(f), "this request asks nothing");
    LB_TRY(load_kernel(c, &r->unit, err));
    LB_TRY(make_folder(c->folder, err));
    pairs p = {0};
    add_origin(&p, c, r->gemm);
    for (size_t i = 0; (key = lb_file_metadata_key(f, i)); i++)
        if (strcmp(key, "lastbit.request") != 0) add(&p, key, lb_file_metadata(f, key));
    const lb_capture_job job = {c->cuda, &c->shape, &c->kernel, out->path, p.text, p.count};
    out->outputs = r->n;
    if (r->gemm) return lb_capture_run_gemm(&job, &r->a.mat, &r->b.mat, &r->c.mat, err);
    const lb_capture_dots dots = {.count = r->n, .k = r->k, .make = make_asked, .user = r};
    return lb_capture_run_dots(&job, &dots, err);
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

lb_status lb_capture_request(lb_capture *c, const char *path, lb_capture_result *out, lb_error *err) {
    *out = (lb_capture_result){0};
    const double start = lb_seconds();
    const char *slash = strrchr(path, '/');
    lb_file *f = NULL;
    lb_recording r = {0};
    LB_TRY(result_path(c, slash ? slash + 1 : path, "", out, err));
    if (same_file(path, out->path)) return lb_fail(err, LB_E_ARG, path, "the answer would replace the request; give another folder");
    out->there = c->o.resume && is_file(out->path);
    if (out->there) return LB_OK;
    LB_TRY(lb_file_open(&f, path, NULL, err));
    const char *request = lb_file_metadata(f, "lastbit.request"), *kind = lb_file_metadata(f, "lastbit.recording");
    const bool operations = kind && strcmp(kind, "op/1") == 0;
    lb_status s = operations ? LB_OK : lb_recording_kind(f, &r.gemm, err);
    if (s == LB_OK && (!request || strcmp(request, "1") != 0 || lb_file_find(f, "d")))
        s = lb_fail(err, LB_E_FILE, path, "is no request: those have \"lastbit.request\" = \"1\" and no tensor d");
    if (s == LB_OK) s = operations ? lb_capture_op_request(c, path, out, err) : answer(c, f, &r, out, err);
    lb_recording_close(&r);
    lb_file_close(f);
    out->seconds = lb_seconds() - start;
    return s;
}
