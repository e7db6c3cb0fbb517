/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit bench emit: what an emitted fragment costs on the devices of this machine, beside a plain f32 loop of the same tile. Each repetition
 * takes every form in turn; medians, less an empty launch. Times of wrong results are none: the exact forms have to be the model's. */
#include "bench_emit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LANES = 32, MOST_REGISTERS = 32, MAX_REPS = 101, TIMEOUT = 120 };

typedef struct emit_args {
    uint64_t groups, steps, reps;
    bool json;
} emit_args;

/* What a launch of each form takes, and what the emitted forms have to give. Words; an f32 matrix to the device. */
typedef struct emit_data {
    emit_shape shape;
    uint32_t *codes, *plain;      /* [groups * 32][sets][registers of A and B]; [groups][sets][A, B] as f32 */
    uint32_t *c, *plain_c, *want; /* [groups * 32][registers], [groups * 32][items], [groups * 32][registers] */
    uint32_t *b, *d;              /* a matrix that nobody reads; what came back */
    size_t width, plain_width;    /* words of a row of codes, of plain */
} emit_data;

typedef struct emit_row {
    double seconds[EMIT_FORMS], cpu[EMIT_FORMS]; /* on the clock; of this process, where the device is the processor */
    double equal[EMIT_FORMS];                    /* share of the model's words, emitted forms */
    bool too_short;                              /* no longer than an empty launch: then nothing is said of times */
    char device[256], why_not[sizeof((lb_error *)0)->message];
} emit_row;

/* ---- data ------------------------------------------------------------------------------------------------------------------- */

static void close_data(emit_data *x) {
    uint32_t *const all[] = {x->codes, x->plain, x->c, x->plain_c, x->want, x->b, x->d};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    *x = (emit_data){0};
}

static uint32_t f32_of(const lb_format *f, uint64_t code) {
    return (uint32_t)lb_from_double(lb_format_row(LB_F32), lb_to_double(f, code));
}

/* One operand of a group as f32, row-major. */
static lb_status unpack(const lb_fragment *f, const uint32_t *regs, uint32_t *out, lb_error *err) {
    lb_mat m = lb_mat_of(f->format, calloc((size_t)(f->rows * f->cols), (size_t)f->format->bytes), (size_t)f->rows, (size_t)f->cols);
    if (!m.codes) return lb_fail(err, LB_E_MEMORY, "bench", "no memory for a tile");
    const lb_status s = lb_fragment_gather(f, regs, 0, &m, err);
    for (size_t i = 0; s == LB_OK && i < m.rows * m.cols; i++) out[i] = f32_of(f->format, lb_mat_code(&m, i / m.cols, i % m.cols));
    free(m.codes);
    return s;
}

static void draw(const lb_fragment *f, uint32_t stream, uint64_t number, uint32_t *regs) {
    const int each = 32 / f->bits;
    for (int i = 0; i < LANES * f->registers; i++) {
        regs[i] = 0;
        for (int e = 0; e < each; e++)
            regs[i] |= (uint32_t)lb_draw(f->format, LB_DIST_NORMAL, 1, stream, (number << 16) + (uint64_t)(i * each + e))
                       << (e * f->bits + f->shift);
    }
}

/* A group's operands of all sets, and its chain by the model. */
static lb_status fill_group(emit_data *x, size_t group, lb_error *err) {
    const emit_shape *s = &x->shape;
    const size_t ra = (size_t)s->f[0].registers, rb = (size_t)s->f[1].registers, rc = (size_t)s->f[2].registers;
    const size_t size_a = (size_t)(s->u->m * s->u->k), size_b = (size_t)(s->u->k * s->u->n);
    uint32_t a[EMIT_SETS][LANES * MOST_REGISTERS], b[EMIT_SETS][LANES * MOST_REGISTERS], *acc = x->want + group * LANES * rc;
    for (size_t set = 0; set < EMIT_SETS; set++) {
        draw(&s->f[0], 1, group * EMIT_SETS + set, a[set]);
        draw(&s->f[1], 2, group * EMIT_SETS + set, b[set]);
        for (size_t lane = 0; lane < LANES; lane++) {
            uint32_t *both = x->codes + ((group * LANES + lane) * EMIT_SETS + set) * (ra + rb);
            memcpy(both, a[set] + lane * ra, ra * 4);
            memcpy(both + ra, b[set] + lane * rb, rb * 4);
        }
        uint32_t *tile = x->plain + (group * EMIT_SETS + set) * (size_a + size_b);
        lb_status status = unpack(&s->f[0], a[set], tile, err);
        if (status == LB_OK) status = unpack(&s->f[1], b[set], tile + size_a, err);
        if (status != LB_OK) return status;
    }
    draw(&s->f[2], 3, group, x->c + group * LANES * rc);
    memcpy(acc, x->c + group * LANES * rc, LANES * rc * 4);
    for (int i = 0; i < s->steps; i++) {
        const lb_status status = lb_warp_mma(s->u, a[i % EMIT_SETS], b[i % EMIT_SETS], acc, acc, NULL, err);
        if (status != LB_OK) return status;
    }
    return LB_OK;
}

/* errors LB_E_UNAVAILABLE where it is not written, or is no chain of one tile a group of 32 */
static lb_status open_shape(const lb_unit *u, const emit_args *a, emit_shape *s, lb_error *err) {
    *s = (emit_shape){.u = u, .groups = (int)a->groups, .steps = (int)a->steps, .items = u->m * u->n / LANES};
    char *text = NULL;
    lb_status status = lb_emit_unit(u, &(lb_emit_options){.fragment = true}, &text, NULL, err);
    free(text);
    bool fits = !u->scale_block && !u->sparse_group && s->items > 0;
    for (int i = 0; status == LB_OK && fits && i < 4; i++) {
        const lb_fragment *f = &s->f[i];
        if (lb_fragment_of(u, (lb_fragment_operand)i, NULL, &s->f[i], NULL) != LB_OK) fits = false;
        fits = fits && f->lanes == LANES && f->matrices == 1 && f->registers <= MOST_REGISTERS && f->bits <= 32;
    }
    if (status == LB_OK && (!fits || s->f[2].registers != s->f[3].registers))
        status = lb_fail(err, LB_E_UNAVAILABLE, u->name,
                         "bench emit is for dense units of one tile a group of 32, all in registers, whose D is the next step's C");
    return status;
}

static lb_status open_data(const lb_unit *u, const emit_args *a, emit_data *x, lb_error *err) {
    *x = (emit_data){0};
    emit_shape *s = &x->shape;
    lb_status status = open_shape(u, a, s, err);
    if (status != LB_OK) return status;
    const size_t lanes = (size_t)s->groups * LANES, rc = (size_t)s->f[2].registers;
    x->width = EMIT_SETS * (size_t)(s->f[0].registers + s->f[1].registers);
    x->plain_width = EMIT_SETS * (size_t)(u->m * u->k + u->k * u->n) / LANES;
    const size_t widest = x->width > x->plain_width ? x->width : x->plain_width, most = rc > (size_t)s->items ? rc : (size_t)s->items;
    x->codes = calloc(lanes * x->width, 4);
    x->plain = calloc(lanes * x->plain_width, 4);
    x->c = calloc(lanes * rc, 4);
    x->plain_c = calloc(lanes * (size_t)s->items, 4);
    x->want = calloc(lanes * rc, 4);
    x->b = calloc(widest * most, 4);
    x->d = calloc(lanes * most, 4);
    if (!x->codes || !x->plain || !x->c || !x->plain_c || !x->want || !x->b || !x->d)
        return lb_fail(err, LB_E_MEMORY, "bench", "no memory for %d groups", s->groups);
    for (size_t group = 0; status == LB_OK && group < (size_t)s->groups; group++) status = fill_group(x, group, err);
    return status;
}

/* ---- one device --------------------------------------------------------------------------------------------------------------- */

static lb_status launch(lb_device *device, const emit_data *x, emit_form form, bench_time *took, lb_error *err) {
    const lb_format *f32 = lb_format_row(LB_F32);
    const bool plain = form == EMIT_PLAIN;
    const size_t m = (size_t)x->shape.groups * LANES, k = plain ? x->plain_width : x->width;
    const size_t n = plain ? (size_t)x->shape.items : (size_t)x->shape.f[2].registers;
    const lb_case work = {.op = "matmul",
                          .a = lb_mat_of(f32, plain ? x->plain : x->codes, m, k),
                          .b = lb_mat_of(f32, x->b, k, n),
                          .c = lb_mat_of(f32, plain ? x->plain_c : x->c, m, n),
                          .out = f32};
    const double start = bench_seconds(), cpu = bench_cpu_seconds();
    const lb_status s = lb_device_run(device, &work, x->d, TIMEOUT, err);
    *took = (bench_time){bench_seconds() - start, bench_cpu_seconds() - cpu};
    return s;
}

static double share_equal(const emit_data *x) {
    const size_t count = (size_t)x->shape.groups * LANES * (size_t)x->shape.f[2].registers;
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) equal += x->d[i] == x->want[i];
    return (double)equal / (double)count;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t count) {
    qsort(x, count, sizeof *x, by_size);
    return count % 2 ? x[count / 2] : (x[count / 2 - 1] + x[count / 2]) / 2;
}

/* Every form in turn, once more than the repetitions: the first compiles. */
static lb_status time_forms(lb_device *const devices[EMIT_FORMS], const emit_data *x, size_t reps, emit_row *row, lb_error *err) {
    static double seconds[EMIT_FORMS][MAX_REPS], cpu[EMIT_FORMS][MAX_REPS];
    for (size_t rep = 0; rep <= reps; rep++) {
        for (int form = 0; form < EMIT_FORMS; form++) {
            bench_time took = {0, 0};
            if (!devices[form]) continue;
            const lb_status s = launch(devices[form], x, (emit_form)form, &took, err);
            if (s != LB_OK) return s;
            if (rep) {
                seconds[form][rep - 1] = took.wall;
                cpu[form][rep - 1] = took.cpu;
            }
            if (bench_emit_is_emitted((emit_form)form)) row->equal[form] = share_equal(x);
            if (form < EMIT_FAST && row->equal[form] < 1)
                return lb_fail(err, LB_E_DEVICE, lb_device_detail(devices[form]), "%s, form %s: %.4f of the words are the model's, not all",
                               x->shape.u->name, bench_emit_form_name((emit_form)form), row->equal[form]);
        }
    }
    for (int form = 0; form < EMIT_FORMS; form++) {
        row->seconds[form] = devices[form] ? median(seconds[form], reps) : NAN;
        row->cpu[form] = devices[form] ? median(cpu[form], reps) : NAN;
    }
    for (int form = 0; form < EMIT_EMPTY; form++) {
        row->seconds[form] -= row->seconds[EMIT_EMPTY];
        row->cpu[form] -= row->cpu[EMIT_EMPTY];
        row->too_short |= row->seconds[form] <= 0;
    }
    return LB_OK;
}

static lb_status open_forms(const emit_dialect *l, const emit_data *x, const char *folder, lb_device *devices[EMIT_FORMS], lb_error *err) {
    for (int form = 0; form < EMIT_FORMS; form++) {
        char on[512];
        lb_status s = bench_emit_write(l, &x->shape, (emit_form)form, folder, err);
        if (form == EMIT_FAST && s == LB_E_UNAVAILABLE) continue; /* only some units have it */
        snprintf(on, sizeof on, "kernel:%s/%s.json", folder, bench_emit_form_name((emit_form)form));
        if (s == LB_OK) s = lb_device_open(&devices[form], on, err);
        if (s != LB_OK) return s;
    }
    return LB_OK;
}

/* errors as lb_device_run; a language or a device that is not here is no error but row->why_not */
static lb_status bench_device(const emit_dialect *l, const emit_data *x, const char *folder, size_t reps, emit_row *row, lb_error *err) {
    lb_device *devices[EMIT_FORMS] = {NULL};
    lb_error why = {0};
    lb_status s = open_forms(l, x, folder, devices, &why);
    if (s == LB_OK) s = time_forms(devices, x, reps, row, &why);
    if (s == LB_OK) snprintf(row->device, sizeof row->device, "%s", lb_device_detail(devices[EMIT_EMPTY])); /* known once it has run */
    for (int form = 0; form < EMIT_FORMS; form++) lb_device_close(devices[form]);
    const bool absent = s == LB_E_UNAVAILABLE || (s != LB_OK && strstr(why.message, "is not run here"));
    if (absent) snprintf(row->why_not, sizeof row->why_not, "%s", why.message);
    if (s != LB_OK && !absent) *err = why;
    return absent ? LB_OK : s;
}

/* ---- output -------------------------------------------------------------------------------------------------------------------- */

static double gmac_s(const emit_shape *s, double seconds) {
    return 1e-9 * s->groups * (double)s->steps * s->u->m * s->u->n * s->u->k / seconds;
}

static json_t *number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static void add_json(json_t *rows, const emit_shape *s, const emit_dialect *l, const emit_row *r) {
    for (int form = 0; form < EMIT_EMPTY; form++) {
        json_t *o = json_pack("{s:s, s:s}", "unit", s->u->name, "language", bench_emit_dialect_name(l));
        const double t = r->why_not[0] || r->too_short ? NAN : r->seconds[form];
        json_object_set_new(o, "form", json_string(bench_emit_form_name((emit_form)form)));
        json_object_set_new(o, "device", r->why_not[0] ? json_null() : json_string(r->device));
        json_object_set_new(o, "seconds", number(t));
        json_object_set_new(o, "gmac_s", number(gmac_s(s, t)));
        json_object_set_new(o, "times_fma", number(t / r->seconds[EMIT_PLAIN]));
        json_object_set_new(o, "times_fma_cpu", number(isfinite(t) ? r->cpu[form] / r->cpu[EMIT_PLAIN] : NAN));
        json_object_set_new(o, "equal",
                            bench_emit_is_emitted((emit_form)form) && !r->why_not[0] && isfinite(r->seconds[form])
                                ? json_real(r->equal[form])
                                : json_null());
        json_object_set_new(o, "why_not", r->why_not[0] ? json_string(r->why_not) : json_null());
        json_array_append_new(rows, o);
        if (r->why_not[0]) return; /* once a device */
    }
}

static void print_row(const emit_shape *s, const emit_dialect *l, const emit_row *r) {
    if (r->why_not[0]) {
        printf("SKIP %s on %s: %s\n", s->u->name, bench_emit_dialect_name(l), r->why_not);
        return;
    }
    printf("%s on %s (%s)\n", s->u->name, bench_emit_dialect_name(l), r->device);
    for (int form = 0; form < EMIT_EMPTY; form++) {
        const double t = r->seconds[form];
        printf("  %-8s ", bench_emit_form_name((emit_form)form));
        if (isnan(t)) {
            puts("-  (not written for this unit)");
            continue;
        }
        if (r->too_short)
            printf("-  (too short beside an empty launch: more --steps)");
        else
            printf("%9.3f ms %9.4f GMAC/s %7.2f times fma, %.2f by processor time", 1e3 * t, gmac_s(s, t), t / r->seconds[EMIT_PLAIN],
                   r->cpu[form] / r->cpu[EMIT_PLAIN]);
        if (bench_emit_is_emitted((emit_form)form)) printf("  %.4f the model's", r->equal[form]);
        puts("");
    }
    fflush(stdout);
}

/* ---- the run ------------------------------------------------------------------------------------------------------------------- */

static lb_status bench_unit(const lb_unit *u, const emit_args *a, const char *folder, json_t *rows, size_t *measured, lb_error *err) {
    emit_data x;
    lb_status s = open_data(u, a, &x, err);
    for (size_t i = 0; s == LB_OK && bench_emit_dialect(i); i++) {
        emit_row row = {.why_not = ""};
        const emit_dialect *l = bench_emit_dialect(i);
        s = bench_device(l, &x, folder, (size_t)a->reps, &row, err);
        if (s != LB_OK) break;
        *measured += !row.why_not[0];
        add_json(rows, &x.shape, l, &row);
        if (!a->json) print_row(&x.shape, l, &row);
    }
    close_data(&x);
    return s;
}

static void remove_folder(const char *folder) {
    for (int form = 0; form < EMIT_FORMS; form++) {
        static const char *const suffixes[] = {"src", "json"};
        for (int i = 0; i < 2; i++) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s.%s", folder, bench_emit_form_name((emit_form)form), suffixes[i]);
            unlink(path);
        }
    }
    rmdir(folder);
}

static int run(const emit_args *a, char **names, size_t count) {
    char folder[] = "/tmp/lastbit-bench.XXXXXX";
    lb_error err = {0};
    lb_status s = mkdtemp(folder) ? LB_OK : lb_fail(&err, LB_E_FILE, folder, "cannot be made");
    json_t *rows = json_array();
    size_t measured = 0;
    for (size_t i = 0; s == LB_OK && i < count; i++) { /* before anything is printed */
        lb_unit u;
        emit_shape shape;
        s = lb_unit_find(names[i], &u, &err);
        if (s == LB_OK) s = open_shape(&u, a, &shape, &err);
    }
    if (s == LB_OK && !a->json)
        printf("%llu groups of 32 lanes, chains of %llu steps; medians of %llu, less an empty launch\n", (unsigned long long)a->groups,
               (unsigned long long)a->steps, (unsigned long long)a->reps);
    for (size_t i = 0; s == LB_OK && i < count; i++) {
        lb_unit u;
        s = lb_unit_find(names[i], &u, &err);
        if (s == LB_OK) s = bench_unit(&u, a, folder, rows, &measured, &err);
    }
    remove_folder(folder);
    if (s == LB_OK && a->json) {
        json_t *all = json_pack("{s:O, s:I, s:I, s:I}", "rows", rows, "groups", (json_int_t)a->groups, "steps", (json_int_t)a->steps,
                                "reps", (json_int_t)a->reps);
        json_dumpf(all, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
        puts("");
        json_decref(all);
    }
    json_decref(rows);
    if (s != LB_OK) {
        cli_error(&err);
        return CLI_USAGE;
    }
    if (measured == 0) fprintf(stderr, "lastbit bench emit: no device of this machine ran it\n");
    return measured ? CLI_OK : CLI_UNPROVEN;
}

int cli_bench_emit(int argc, char **argv) {
    static char first[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32", second[] = "sm_80/mma.m16n8k16.f16.f16.f16.f16";
    char *usual[] = {first, second};
    emit_args a = {.groups = 64, .steps = 64, .reps = 5};
    const cli_option options[] = {
        {"groups", 0, CLI_COUNT, &a.groups, "N", "groups of 32 lanes, a tile of D each (default 64)"},
        {"steps", 0, CLI_COUNT, &a.steps, "N", "K steps of each group's chain (default 64)"},
        {"reps", 0, CLI_COUNT, &a.reps, "N", "repetitions (default 5)"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "print one JSON object, a row a form and device"},
    };
    const cli_usage usage = {
        "lastbit bench emit [UNIT…] [options]",
        "What an emitted fragment costs on the devices of this machine (OpenCL, Vulkan), beside a loop of f32 fused\n"
        "multiply-adds over the same tile; every word of the exact forms is compared. bench/README.md says how to read it.",
        options, sizeof options / sizeof options[0], "  lastbit bench emit --groups 16 --steps 16 --reps 3"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop = true;
    int count = 0, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (!stop) {
        if (a.groups < 1 || a.groups > 4096 || a.steps < 1 || a.steps > 65536 || a.reps < 1 || a.reps > MAX_REPS)
            code = cli_usage_error("bench emit", "--groups is 1 to 4096, --steps 1 to 65536, --reps 1 to %d", MAX_REPS);
        else
            code = run(&a, count ? args : usual, count ? (size_t)count : sizeof usual / sizeof usual[0]);
    }
    free(args);
    return code;
}
