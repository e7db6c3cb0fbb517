/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit bench: how fast the exact products are. Each repetition takes our product, OpenBLAS's sgemm and the integer engine in turn, so that
 * a machine which changes its speed changes it for all of them; medians. bench/README.md says how to read it. */
#include "bench.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPS = 101, ENGINE_SIZE = 128 };

typedef struct bench_args {
    const char *units, *against;
    uint64_t size, threads, reps;
    bool json, paths, wide;
    double row_seconds;
} bench_args;

/* Square operands of one unit; scales and metadata where it takes some. */
typedef struct operands {
    lb_mat a, b, d, scale_a, scale_b, metadata;
    lb_unit_operands with;
} operands;

typedef struct row {
    const lb_unit *u;
    const char *path;
    size_t size, reps;
    double gmac_s, sgemm_gmac_s, engine_gmac_s; /* NAN where not measured */
    double cpu_ratio;                           /* processor time of sgemm over ours */
    double scaling, sgemm_scaling;              /* over one thread, in the same repetitions */
} row;

/* ---- operands and paths ------------------------------------------------------------------------------------------------------ */

static void close_operands(operands *o) {
    lb_mat *const all[] = {&o->a, &o->b, &o->d, &o->scale_a, &o->scale_b, &o->metadata};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]->codes);
    *o = (operands){0};
}

static bool open_mat(lb_mat *m, lb_format_id id, size_t rows, size_t cols) {
    void *codes = calloc(rows * cols, (size_t)lb_format_row(id)->bytes);
    *m = lb_mat_of(lb_format_row(id), codes, rows, cols);
    return codes;
}

/* Scales of 1 and its neighbours; a compressed A keeps the first half of each group. */
static void fill_scales(operands *o, const lb_unit *u) {
    lb_mat *const scales[] = {&o->scale_a, &o->scale_b};
    for (size_t m = 0; u->scale_block && m < 2; m++)
        for (size_t i = 0; i < scales[m]->rows; i++)
            for (size_t j = 0; j < scales[m]->cols; j++)
                lb_store_code(lb_mat_at(scales[m], i, j), 1, lb_from_double(scales[m]->format, 1) + (i + j) % 3 - 1);
    for (size_t i = 0; u->sparse_group && i < o->metadata.rows; i++)
        for (size_t j = 0; j < o->metadata.cols; j++) lb_store_code(lb_mat_at(&o->metadata, i, j), 1, u->sparse_group == 4 ? j % 2 : 0);
}

static lb_status open_operands(operands *o, const lb_unit *u, size_t n, lb_error *err) {
    const size_t a_cols = u->sparse_group ? n / 2 : n,
                 scales = u->scale_block ? (n + (size_t)u->scale_block - 1) / (size_t)u->scale_block : 0;
    *o = (operands){0};
    bool ok = open_mat(&o->a, u->a, n, a_cols) && open_mat(&o->b, u->b, n, n) && open_mat(&o->d, u->d, n, n);
    if (u->scale_block) ok = ok && open_mat(&o->scale_a, u->scale, n, scales) && open_mat(&o->scale_b, u->scale, scales, n);
    if (u->sparse_group) ok = ok && open_mat(&o->metadata, LB_U8, n, a_cols);
    if (!ok) {
        close_operands(o);
        return lb_fail(err, LB_E_MEMORY, "bench", "no memory for matrices of %zux%zu", n, n);
    }
    lb_draw_mat(&o->a, LB_DIST_NORMAL, 1, 1);
    lb_draw_mat(&o->b, LB_DIST_NORMAL, 1, 2);
    fill_scales(o, u);
    o->with =
        (lb_unit_operands){u->scale_block ? &o->scale_a : NULL, u->scale_block ? &o->scale_b : NULL, u->sparse_group ? &o->metadata : NULL};
    return LB_OK;
}

/* Exponents over 2^-60 to 2^60 throughout, of formats that have them. */
static void widen_exponents(lb_mat *m, uint32_t stream) {
    const lb_format *f = m->format;
    for (size_t i = 0; f->exp_bits >= 8 && f->special == LB_SPECIAL_IEEE && i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const uint64_t r = lb_random_u64(1, stream, i * m->cols + j), man = r >> 32 & ((UINT64_C(1) << f->man_bits) - 1);
            const uint64_t field = (uint64_t)f->bias - 60 + (r >> 8) % 121;
            lb_store_code(lb_mat_at(m, i, j), f->bytes,
                          ((r & 1) << (f->exp_bits + f->man_bits) | field << f->man_bits | man) << f->pad_bits);
        }
}

static bool can(const lb_unit *u, const char *kernel) {
    operands o;
    const lb_gemm_options options = {.kernel = kernel, .threads = 1};
    if (open_operands(&o, u, u->k, NULL) != LB_OK) return false;
    const bool ok = lb_gemm_with(u, &o.a, &o.b, NULL, &o.with, &o.d, &options, NULL) == LB_OK;
    close_operands(&o);
    return ok;
}

/* The paths that run this unit, fastest first; NULL past the last. The first is the one that lb_gemm takes. */
static const char *path_of(const lb_unit *u, size_t number) {
    lb_kernel_text k;
    for (size_t i = 0; lb_kernel_row(i, &k); i++)
        if (k.usable && can(u, k.name) && number-- == 0) return k.name;
    return NULL;
}

/* ---- time ------------------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, size_t count) {
    qsort(seconds, count, sizeof *seconds, by_size);
    return count % 2 ? seconds[count / 2] : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
}

static double rate(double *seconds, size_t count, size_t n) {
    return 1e-9 * (double)n * (double)n * (double)n / median(seconds, count);
}

static lb_status once(const lb_unit *u, operands *o, const char *kernel, int threads, bench_time *time, lb_error *err) {
    const lb_gemm_options options = {.kernel = kernel, .threads = threads};
    const double start = bench_seconds(), cpu = bench_cpu_seconds();
    const lb_status s = lb_gemm_with(u, &o->a, &o->b, NULL, &o->with, &o->d, &options, err);
    *time = (bench_time){bench_seconds() - start, bench_cpu_seconds() - cpu};
    return s;
}

/* Times of the repetitions, apart by what was timed. */
enum { OURS, SGEMM, ENGINE, OURS_ONE, SGEMM_ONE, TIMED };
typedef struct times {
    double wall[TIMED][MAX_REPS], cpu[TIMED][MAX_REPS];
} times;

static void keep(times *t, int what, size_t rep, bench_time x) {
    t->wall[what][rep] = x.wall;
    t->cpu[what][rep] = x.cpu;
}

/* One repetition: each in turn, and with more than one thread the same on one. */
static lb_status repeat(const row *r, const bench_args *a, bench_blas *blas, operands *large, operands *little, times *t, lb_error *err) {
    const int threads = (int)a->threads;
    bench_time x = {0, 0};
    lb_status s = once(r->u, large, r->path, threads, &x, err);
    keep(t, OURS, r->reps, x);
    if (s == LB_OK && blas->gemm) keep(t, SGEMM, r->reps, bench_sgemm(blas, (size_t)a->size, threads));
    if (s == LB_OK) s = once(r->u, little, "engine", threads, &x, err);
    keep(t, ENGINE, r->reps, x);
    if (s != LB_OK || threads == 1) return s;
    s = once(r->u, large, r->path, 1, &x, err);
    keep(t, OURS_ONE, r->reps, x);
    if (blas->gemm) keep(t, SGEMM_ONE, r->reps, bench_sgemm(blas, (size_t)a->size, 1));
    return s;
}

static double cube(size_t n) {
    return (double)n * (double)n * (double)n;
}

/* Ours, sgemm and the engine in turn, until there are enough repetitions or the time of this row is up. */
static lb_status measure(row *r, const bench_args *a, bench_blas *blas, lb_error *err) {
    const bool engine_path = strcmp(r->path, "engine") == 0;
    const size_t n = engine_path && a->size > ENGINE_SIZE ? ENGINE_SIZE : (size_t)a->size, small = n < ENGINE_SIZE ? n : ENGINE_SIZE;
    operands large = {0}, little = {0};
    bench_time warm;
    times *t = calloc(1, sizeof *t);
    lb_status s = t ? open_operands(&large, r->u, n, err) : lb_fail(err, LB_E_MEMORY, "bench", "no memory for times");
    if (s == LB_OK) s = open_operands(&little, r->u, small, err);
    for (int i = 0; s == LB_OK && a->wide && i < 2; i++) widen_exponents(i ? &large.b : &large.a, 3 + (uint32_t)i);
    if (s == LB_OK) s = once(r->u, &large, r->path, (int)a->threads, &warm, err); /* pages, caches, clocks */
    if (s == LB_OK && blas->gemm) bench_sgemm(blas, (size_t)a->size, (int)a->threads);
    r->size = n;
    const double start = bench_seconds();
    for (r->reps = 0; s == LB_OK && r->reps < a->reps && (r->reps == 0 || bench_seconds() - start < a->row_seconds); r->reps++)
        s = repeat(r, a, blas, &large, &little, t, err);
    close_operands(&large);
    close_operands(&little);
    if (s == LB_OK) {
        r->gmac_s = rate(t->wall[OURS], r->reps, n);
        r->engine_gmac_s = rate(t->wall[ENGINE], r->reps, small);
        r->sgemm_gmac_s = blas->gemm ? rate(t->wall[SGEMM], r->reps, (size_t)a->size) : NAN;
        r->cpu_ratio =
            blas->gemm ? median(t->cpu[SGEMM], r->reps) / cube((size_t)a->size) / (median(t->cpu[OURS], r->reps) / cube(n)) : NAN;
        const bool more = a->threads > 1;
        r->scaling = more ? median(t->wall[OURS_ONE], r->reps) / median(t->wall[OURS], r->reps) : NAN;
        r->sgemm_scaling = more && blas->gemm ? median(t->wall[SGEMM_ONE], r->reps) / median(t->wall[SGEMM], r->reps) : NAN;
    }
    free(t);
    return s;
}

/* ---- output ----------------------------------------------------------------------------------------------------------------- */

static bool among(lb_format_id id, const lb_format_id *list, size_t count) {
    while (count && list[count - 1] != id) count--;
    return count != 0;
}

/* The units of the first five rows of bench/README.md's table: dense tensor-core products of floats and of scaled blocks, by what they are. */
static bool is_dense(const lb_unit *u) {
    static const lb_format_id halves[] = {LB_F16, LB_BF16}, floats[] = {LB_F16, LB_BF16, LB_TF32, LB_E4M3, LB_E5M2};
    const size_t all = sizeof floats / sizeof floats[0], fp8 = all - 2;
    switch (u->path) {
    case LB_PATH_TRUNCATED:
    case LB_PATH_TWO_HALVES: return among(u->a, floats, all) && among(u->b, floats, all);
    case LB_PATH_LATE_C: return among(u->a, halves, 2);
    case LB_PATH_BLOCK_SCALED: return u->group != 0 || (u->a == u->b && among(u->a, floats + fp8, 2));
    default: return false;
    }
}

/* Whether both units make the same of the same codes: a row is measured once. */
static bool same_arithmetic(const lb_unit *u, const lb_unit *v) {
    const bool sums = u->path == LB_PATH_INTEGER && u->round == LB_UNIT_WRAP_I32;
    const bool blocks = u->path != LB_PATH_TWO_HALVES && u->path != LB_PATH_TWO_CHAINS && u->path != LB_PATH_INTEGER;
    return u->a == v->a && u->b == v->b && u->d == v->d && u->path == v->path && u->round == v->round && u->scale_block == v->scale_block &&
           u->scale == v->scale && u->group == v->group && u->sparse_group == v->sparse_group &&
           (sums || (u->terms == v->terms && u->frac_bits == v->frac_bits && u->floor_exp == v->floor_exp && (blocks || u->k == v->k)));
}

static json_t *number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *row_json(const row *r, const lb_unit *u) {
    json_t *o = json_pack("{s:s, s:s, s:b}", "unit", u->name, "path", r->path, "dense", is_dense(u));
    json_object_set_new(o, "gmac_s", number(r->gmac_s));
    json_object_set_new(o, "sgemm_gmac_s", number(r->sgemm_gmac_s));
    json_object_set_new(o, "speed_vs_sgemm", number(r->gmac_s / r->sgemm_gmac_s));
    json_object_set_new(o, "speed_vs_sgemm_cpu", number(r->cpu_ratio));
    if (!isnan(r->scaling)) json_object_set_new(o, "scaling", number(r->scaling));
    if (!isnan(r->sgemm_scaling)) json_object_set_new(o, "sgemm_scaling", number(r->sgemm_scaling));
    json_object_set_new(o, "engine_gmac_s", number(r->engine_gmac_s));
    json_object_set_new(o, "speed_vs_engine", number(r->gmac_s / r->engine_gmac_s));
    json_object_set_new(o, "size", json_integer((json_int_t)r->size));
    json_object_set_new(o, "reps", json_integer((json_int_t)r->reps));
    if (u != r->u) json_object_set_new(o, "measured_as", json_string(r->u->name));
    return o;
}

static void print_row(const row *r, size_t same) {
    printf("%-40s %-14s %9.4g", r->u->name, r->path, r->gmac_s);
    if (isnan(r->sgemm_gmac_s))
        printf("         -      -      -");
    else
        printf(" %9.4g %6.3f %6.3f", r->sgemm_gmac_s, r->gmac_s / r->sgemm_gmac_s, r->cpu_ratio);
    printf(" %9.4g %7.1f  %4zu %4zu", r->engine_gmac_s, r->gmac_s / r->engine_gmac_s, r->size, r->reps);
    if (!isnan(r->scaling)) printf("  scaling %.2f", r->scaling);
    if (!isnan(r->sgemm_scaling)) printf(", sgemm's %.2f", r->sgemm_scaling);
    if (same) printf("  and %zu unit%s of the same arithmetic", same, same == 1 ? "" : "s");
    puts("");
    fflush(stdout);
}

static void print_head(const bench_args *a, const bench_blas *blas) {
    printf("gemm %llu x %llu x %llu, %llu thread%s; medians\n", (unsigned long long)a->size, (unsigned long long)a->size,
           (unsigned long long)a->size, (unsigned long long)a->threads, a->threads == 1 ? "" : "s");
    if (blas->gemm)
        printf("sgemm: OpenBLAS, core %s%s%s%s, %s\n", blas->core, blas->taken_for[0] ? " (named, as OpenBLAS would take " : "",
               blas->taken_for, blas->taken_for[0] ? ")" : "", blas->config);
    else
        printf("sgemm: none: %s\n", blas->why_not);
    printf("%-40s %-14s %9s %9s %6s %6s %9s %7s  %4s %4s\n", "unit", "path", "GMAC/s", "sgemm", "ratio", "cpu", "engine", "ratio", "size",
           "reps");
}

static json_t *against_json(const bench_rival *r) {
    json_t *o = json_pack("{s:s, s:s}", "name", r->name, "what", r->what);
    json_object_set_new(o, "gmac_s", number(r->gmac_s));
    json_object_set_new(o, "why_not", r->why_not[0] ? json_string(r->why_not) : json_null());
    return o;
}

static void print_json(const bench_args *a, const bench_blas *blas, json_t *rows, const bench_rival *rival) {
    json_t *all = json_pack("{s:O, s:I, s:I}", "rows", rows, "size", (json_int_t)a->size, "threads", (json_int_t)a->threads);
    json_object_set_new(all, "sgemm",
                        blas->gemm ? json_pack("{s:s, s:s, s:s}", "core", blas->core, "taken_for", blas->taken_for, "config", blas->config)
                                   : json_string(blas->why_not));
    if (a->against) json_object_set_new(all, "against", against_json(rival));
    json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    puts("");
    json_decref(all);
    if (!blas->gemm) fprintf(stderr, "lastbit bench: no sgemm to compare with: %s\n", blas->why_not);
}

static void print_rival(const bench_rival *r) {
    if (r->why_not[0])
        printf("SKIP %s: %s\n", r->name, r->why_not);
    else
        printf("%-40s %-14s %9.4g  (%s)\n", r->name, "", r->gmac_s, r->what);
}

/* ---- the run ------------------------------------------------------------------------------------------------------------------ */

static bool wanted(const bench_args *a, const lb_unit *u) {
    return u->path != LB_PATH_NONE && (!a->units || strstr(u->name, a->units));
}

/* Row i or a later one that is wanted and is the same arithmetic; NULL: none. */
static const lb_unit *next_same(const bench_args *a, const lb_unit *u, size_t *i) {
    for (const lb_unit *v; (v = lb_unit_row(*i)); ++*i)
        if (wanted(a, v) && same_arithmetic(u, v)) return lb_unit_row((*i)++);
    return NULL;
}

static bool measured_before(const bench_args *a, size_t number) {
    for (size_t i = 0; i < number; i++)
        if (wanted(a, lb_unit_row(i)) && same_arithmetic(lb_unit_row(i), lb_unit_row(number))) return true;
    return false;
}

static lb_status bench_unit(const bench_args *a, size_t number, bench_blas *blas, json_t *rows, lb_error *err) {
    const lb_unit *u = lb_unit_row(number);
    for (size_t p = 0; p == 0 || a->paths; p++) {
        row r = {.u = u, .path = path_of(u, p)};
        if (!r.path) return LB_OK;
        const lb_status s = measure(&r, a, blas, err);
        if (s != LB_OK) return s;
        size_t same = 0;
        for (size_t i = number; u; same++) {
            const lb_unit *v = next_same(a, u, &i);
            if (!v) break;
            if (a->json) json_array_append_new(rows, row_json(&r, v));
        }
        if (!a->json) print_row(&r, same - 1);
    }
    return LB_OK;
}

static int run(const bench_args *a) {
    bench_blas blas;
    lb_error err = {0};
    lb_status s = LB_OK;
    bool any = false;
    bench_rival rival = {0};
    for (size_t i = 0; !any && lb_unit_row(i); i++) any = wanted(a, lb_unit_row(i));
    if (!any) return cli_usage_error("bench", "no unit that runs has \"%s\" in its name", a->units);
    if (a->against && bench_against(a->against, &rival, &err) != LB_OK) return cli_error(&err);
    bench_open_blas(&blas, (int)a->threads, (size_t)a->size);
    json_t *rows = json_array();
    if (!a->json) print_head(a, &blas);
    for (size_t i = 0; s == LB_OK && lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        if (!wanted(a, u) || measured_before(a, i)) continue;
        if (a->json) cli_progress(NULL, u->name, 0);
        s = bench_unit(a, i, &blas, rows, &err);
    }
    if (a->json) cli_progress(NULL, "", 1);
    if (s == LB_OK && a->json)
        print_json(a, &blas, rows, &rival);
    else if (s == LB_OK && a->against)
        print_rival(&rival);
    json_decref(rows);
    bench_close_blas(&blas);
    return s == LB_OK ? CLI_OK : cli_error(&err);
}

int cli_bench(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "emit") == 0) return cli_bench_emit(argc - 1, argv + 1);
    bench_args a = {.size = 1024, .threads = 1, .reps = 5};
    const cli_option options[] = {
        {"size", 0, CLI_COUNT, &a.size, "N", "m, n and k (default 1024)"},
        {"units", 0, CLI_TEXT, &a.units, "PART", "only units with this in their name"},
        {"wide", 0, CLI_FLAG, &a.wide, NULL, "exponents over 2^-60 to 2^60 throughout, where operands are bf16 or wider"},
        {"paths", 0, CLI_FLAG, &a.paths, NULL, "every path that can run a unit, not only the one that is taken"},
        {"threads", 0, CLI_COUNT, &a.threads, "N", "for each of them (default 1)"},
        {"reps", 0, CLI_COUNT, &a.reps, "N",
         "repetitions, fewer where a row takes longer than two seconds, or half a second without --units (default 5)"},
        {"against", 0, CLI_TEXT, &a.against, "NAME", "another model too, if Python has it: mmasim, mmaemu"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "print one JSON object, a row a unit"},
    };
    const cli_usage usage = {
        "lastbit bench gemm [options], lastbit bench emit [UNIT…] [options]",
        "How fast exact products are, in 10^9 multiply-adds a second, packing included: the path that lb_gemm takes, beside\n"
        "OpenBLAS's sgemm and the integer engine (at 128), interleaved, medians. bench/README.md says how to read it.",
        options, sizeof options / sizeof options[0],
        "  lastbit bench gemm --size 256 --units sm_80\n  lastbit bench gemm --json >rows.json"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop) {
        if (count != 1 || strcmp(args[0], "gemm") != 0)
            code = cli_usage_error("bench", "say what: lastbit bench gemm, lastbit bench emit");
        else if (a.size < 1 || a.size > 32768)
            code = cli_usage_error("bench", "--size is 1 to 32768");
        else if (a.reps < 1 || a.reps > MAX_REPS || a.threads < 1 || a.threads > 1024)
            code = cli_usage_error("bench", "--reps is 1 to %d, --threads 1 to 1024", MAX_REPS);
        else {
            a.row_seconds = a.units ? BENCH_ROW_SECONDS : BENCH_ROW_SECONDS / 4;
            code = run(&a);
        }
    }
    free(args);
    return code;
}
