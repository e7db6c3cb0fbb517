/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Both sides of a calibration: operands drawn as the seed contract draws them, column by column, so that weights of any size pass through a
 * panel of them. source: seed-contract */
#include "run/calibrate.h"
#include "base/try.h"
#include "lastbit/contracts.h"
#include "run/describe.h"
#include "run/orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALPHABET = 2049, SCALE_BLOCK = 128, PANEL_MAX = 128 };

#define SEED UINT64_C(0x0927167C2026)

static const lb_calibration_case cases[] = {
#define K(...)                                                                                                                             \
    { __VA_ARGS__ }
#define LB_CALIBRATION_CASE(name, m, n, k, prefixes, seed, first, fp8, against, recorded, source)                                          \
    {name, m, n, k, prefixes, UINT64_C(seed), first, fp8, against, recorded, source},
#include "run/calibrate_cases.def"
#undef LB_CALIBRATION_CASE
#undef K
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

const lb_calibration_case *lb_calibration_case_row(size_t i) {
    return i < CASE_COUNT ? &cases[i] : NULL;
}

static lb_status find_case(const char *name, const lb_calibration_case **out, lb_error *err) {
    const char *names[CASE_COUNT];
    for (size_t i = 0; i < CASE_COUNT; i++) {
        *out = &cases[i];
        if (strcmp(name, cases[i].name) == 0) return LB_OK;
        names[i] = cases[i].name;
    }
    const char *near = lb_nearest_name(name, names, CASE_COUNT);
    return lb_fail(err, LB_E_NAME, name, "no such case%s%s; `lastbit calibrate --list` names them", near ? ", did you mean " : "",
                   near ? near : "");
}

/* ---- draws ----------------------------------------------------------------------------------------------------------- */

/* Draws as the seed contract makes them, by place: draw 0 is the first of the seed. source: seed-contract */
typedef struct draws {
    uint64_t state;
} draws;

/* The generator's step, `index` times, by squaring. */
static draws draws_at(uint64_t seed, uint64_t index) {
    uint64_t mul = UINT64_C(6364136223846793005), add = 1, state = seed;
    for (; index; index >>= 1) {
        if (index & 1) state = state * mul + add;
        add *= mul + 1;
        mul *= mul;
    }
    return (draws){state};
}

static uint32_t next_draw(draws *d) {
    d->state = d->state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(d->state >> 32);
}

/* ---- one depth ------------------------------------------------------------------------------------------------------- */

/* An operand's draws as codes and as values: x mod 2049, or the low byte of an fp8 weight. */
typedef struct alphabet {
    const lb_format *format;
    uint32_t codes[ALPHABET];
    float values[ALPHABET];
    bool fp8;
} alphabet;

typedef struct work {
    const lb_calibrate_options *o;
    lb_calibration *c;
    const lb_sum_order *order, *against; /* order NULL: a unit */
    alphabet a, b;
    size_t m, n, k, blocks; /* blocks of K that share a scale */
    uint64_t at_a, at_w, at_scales;
    void *a_codes;              /* [m][k] */
    float *a_order, *a_against; /* [m][laid] */
    float *scales;              /* [n / 128][blocks], or NULL */
    void *panel;                /* [PANEL_MAX][k] codes of weights */
    lb_calibrate_sides sides;
} work;

static void fill_alphabet(alphabet *x, const lb_format *f, bool fp8) {
    const lb_format *e4m3 = lb_format_row(LB_E4M3);
    x->format = f;
    x->fp8 = fp8;
    for (uint32_t i = 0; i < ALPHABET; i++) {
        const double fp8_value = lb_to_double(e4m3, (i & 0x80) | (i & 0x7f) % 127); /* never the NaN */
        x->codes[i] = (uint32_t)lb_from_double(f, fp8 ? fp8_value : (i - 1024.0) / 1024);
        x->values[i] = (float)lb_to_double(f, x->codes[i]);
    }
}

static void draw_operand(const alphabet *x, uint64_t seed, uint64_t at, size_t count, void *codes, float *values) {
    draws d = draws_at(seed, at);
    for (size_t i = 0; i < count; i++) {
        const uint32_t draw = next_draw(&d), which = x->fp8 ? draw & 0xff : draw % ALPHABET;
        values[i] = x->values[which];
        if (codes) lb_store_code((char *)codes + i * (size_t)x->format->bytes, x->format->bytes, x->codes[which]);
    }
}

static void *take(size_t count, size_t bytes) {
    return count && bytes > SIZE_MAX / 4 / count ? NULL : calloc(count + 1, bytes);
}

static void work_free(work *w) {
    void *all[] = {w->a_codes,    w->a_order,       w->a_against,    w->scales,      w->panel,
                   w->sides.what, w->sides.against, w->sides.a_tail, w->sides.w_tail};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    w->a_codes = w->a_order = w->a_against = w->scales = w->panel = NULL;
    w->sides = (lb_calibrate_sides){0};
}

/* The last operands of one row or column. */
static void keep_tail(const float *x, size_t k, float *tail) {
    const size_t n = k < LB_CALIBRATE_TAIL ? k : LB_CALIBRATE_TAIL;
    memcpy(tail + LB_CALIBRATE_TAIL - n, x + k - n, n * sizeof *tail);
}

static lb_status draw_activations(work *w, lb_error *err) {
    const size_t laid = lb_order_laid(w->against, w->k), laid_own = w->order ? lb_order_laid(w->order, w->k) : 0;
    w->a_codes = take(w->m * w->k, (size_t)w->a.format->bytes);
    w->a_against = take(w->m * laid, sizeof(float));
    w->a_order = take(w->m * laid_own, sizeof(float));
    w->panel = w->order ? NULL : take((size_t)PANEL_MAX * w->k, (size_t)w->b.format->bytes);
    w->sides = (lb_calibrate_sides){.m = w->m,
                                    .n = w->n,
                                    .k = w->k,
                                    .what = take(w->m * w->n, sizeof(float)),
                                    .against = take(w->m * w->n, sizeof(float)),
                                    .a_tail = take(w->m * LB_CALIBRATE_TAIL, sizeof(float)),
                                    .w_tail = take(w->n * LB_CALIBRATE_TAIL, sizeof(float))};
    const size_t scale_rows = (w->n + SCALE_BLOCK - 1) / SCALE_BLOCK;
    if (w->b.fp8) w->scales = take(scale_rows * w->blocks, sizeof(float));
    float *row = take(w->k, sizeof(float));
    const lb_calibrate_sides *s = &w->sides;
    const bool room = w->a_codes && w->a_against && w->a_order && (w->order || w->panel) && s->what && s->against && s->a_tail &&
                      s->w_tail && (!w->b.fp8 || w->scales) && row;
    for (size_t i = 0; room && i < w->m; i++) {
        draw_operand(&w->a, w->c->seed, w->at_a + i * w->k, w->k, (char *)w->a_codes + i * w->k * (size_t)w->a.format->bytes, row);
        lb_order_lay(w->against, row, w->k, w->a_against + i * laid);
        if (w->order) lb_order_lay(w->order, row, w->k, w->a_order + i * laid_own);
        keep_tail(row, w->k, s->a_tail + i * LB_CALIBRATE_TAIL);
    }
    draws d = draws_at(w->c->seed, w->at_scales);
    for (size_t i = 0; room && w->scales && i < scale_rows * w->blocks; i++) w->scales[i] = (float)(next_draw(&d) % 16 + 1) / 1024;
    free(row);
    return room ? LB_OK : lb_fail(err, LB_E_MEMORY, "calibrate", "no memory for %zux%zu outputs of depth %zu", w->m, w->n, w->k);
}

/* One order over one column and every row. flat, laid, scratch: the thread's own memory. */
static void column_of(const work *w, const lb_sum_order *o, const float *a_laid, const float *flat, const float *scale, size_t j,
                      float *out, float *laid, float *scaled, float *scratch) {
    const size_t size = lb_order_laid(o, w->k);
    if (scale && !o->fold) {
        memcpy(scaled, flat, w->k * sizeof *scaled);
        lb_order_scale(scaled, w->k, scale, SCALE_BLOCK);
        flat = scaled;
    }
    lb_order_lay(o, flat, w->k, laid);
    for (size_t i = 0; i < w->m; i++)
        out[i * w->n + j] = (float)lb_order_run(o, a_laid + i * size, laid, w->k, o->fold ? scale : NULL, scratch);
}

static bool one_column(const work *w, size_t first, size_t j, float *memory) {
    const size_t laid = lb_order_laid(w->against, w->k) + (w->order ? lb_order_laid(w->order, w->k) : 0);
    float *flat = memory, *scaled = flat + w->k, *lanes = scaled + w->k, *scratch = lanes + laid;
    const float *scale = w->scales ? w->scales + j / SCALE_BLOCK * w->blocks : NULL;
    char *codes = w->panel;
    if (codes) codes += (j - first) * w->k * (size_t)w->b.format->bytes;
    draw_operand(&w->b, w->c->seed, w->at_w + (uint64_t)j * w->k, w->k, codes, flat);
    column_of(w, w->against, w->a_against, flat, scale, j, w->sides.against, lanes, scaled, scratch);
    if (w->order) column_of(w, w->order, w->a_order, flat, scale, j, w->sides.what, lanes, scaled, scratch);
    float *tail = w->sides.w_tail + j * LB_CALIBRATE_TAIL;
    keep_tail(flat, w->k, tail);
    for (size_t i = 0; scale && i < LB_CALIBRATE_TAIL; i++) tail[i] *= scale[w->blocks - 1];
    return true;
}

static lb_status columns(const work *w, size_t first, size_t count, lb_error *err) {
    const size_t laid = lb_order_laid(w->against, w->k) + (w->order ? lb_order_laid(w->order, w->k) : 0);
    const size_t floats = 3 * w->k + laid + 8;
    bool room = true;
#if defined(_OPENMP)
#pragma omp parallel
#endif
    {
        float *memory = malloc(floats * sizeof *memory);
        bool mine = memory != NULL;
#if defined(_OPENMP)
#pragma omp for schedule(dynamic)
#endif
        for (size_t j = first; j < first + count; j++) mine = mine && one_column(w, first, j, memory);
        free(memory);
#if defined(_OPENMP)
#pragma omp critical
#endif
        room = room && mine;
    }
    return room ? LB_OK : lb_fail(err, LB_E_MEMORY, "calibrate", "no memory for columns of %zu", w->k);
}

/* D of the unit over the panel, into f32 values. With scales one chain a block, folded into an f32 as kernels of fp8 weights do. */
static lb_status unit_panel(const work *w, size_t first, size_t count, lb_error *err) {
    const lb_unit *u = w->o->unit;
    const lb_format *fd = lb_format_row(u->d);
    void *d_codes = take(w->m * count, (size_t)fd->bytes);
    if (!d_codes) return lb_fail(err, LB_E_MEMORY, "calibrate", "no memory for a panel");
    const lb_mat whole_a = lb_mat_of(w->a.format, w->a_codes, w->m, w->k), whole_b = lb_mat_of(w->b.format, w->panel, count, w->k);
    const size_t step = w->scales ? SCALE_BLOCK : w->k;
    lb_mat d = lb_mat_of(fd, d_codes, w->m, count);
    lb_status s = LB_OK;
    for (size_t at = 0; s == LB_OK && at < w->k; at += step) {
        lb_mat a = whole_a, b = whole_b;
        a.codes = lb_mat_at(&whole_a, 0, at);
        b.codes = lb_mat_at(&whole_b, 0, at);
        a.cols = b.cols = w->k - at < step ? w->k - at : step;
        b = lb_mat_transposed(b);
        s = w->o->schedule ? lb_gemm_scheduled(u, w->o->schedule, &a, &b, NULL, &d, NULL, err) : lb_gemm(u, &a, &b, NULL, &d, NULL, err);
        for (size_t i = 0; s == LB_OK && i < w->m; i++)
            for (size_t j = 0; j < count; j++) {
                const float inner = (float)lb_to_double(fd, lb_mat_code(&d, i, j));
                float *out = &w->sides.what[i * w->n + first + j];
                *out = w->scales ? *out + inner * w->scales[(first + j) / SCALE_BLOCK * w->blocks + at / step] : inner;
            }
    }
    free(d_codes);
    return s;
}

static void say(const work *w, double fraction) {
    char stage[64];
    if (!w->o->progress) return;
    snprintf(stage, sizeof stage, "k = %zu", w->k);
    w->o->progress(w->o->progress_user, stage, fraction);
}

static lb_status one_depth(work *w, lb_calibration_depth *d, lb_error *err) {
    const double start = lb_seconds();
    size_t panel = ((size_t)1 << 22) / w->k;
    panel = panel < 8 ? 8 : panel > PANEL_MAX ? PANEL_MAX : panel;
    lb_status s = draw_activations(w, err);
    for (size_t j = 0; s == LB_OK && j < w->n; j += panel) {
        const size_t count = w->n - j < panel ? w->n - j : panel;
        say(w, (double)j / (double)w->n);
        s = columns(w, j, count, err);
        if (s == LB_OK && !w->order) s = unit_panel(w, j, count, err);
    }
    d->k = w->k;
    if (s == LB_OK) s = lb_calibrate_measure(&w->sides, w->c, d, err);
    say(w, 1);
    work_free(w);
    d->seconds = lb_seconds() - start;
    return s;
}

/* ---- the options ----------------------------------------------------------------------------------------------------- */

static lb_status check_unit(const lb_unit *u, lb_error *err) {
    LB_TRY(lb_unit_dot_check(u, err));
    if (!lb_schedule_can(u)) return lb_fail(err, LB_E_FORMAT, u->name, "no drift to calibrate: it accumulates neither in f32 nor in f16");
    return LB_OK;
}

static lb_status check_schedule(const lb_schedule *s, lb_error *err) {
    if (s && (s->out || s->scaled || s->bias || s->activation || s->batch > 1))
        return lb_fail(err, LB_E_ARG, "--schedule", "a calibration takes the order of K alone: no out, alpha, beta, bias or activation");
    return LB_OK;
}

static void name_it(const lb_calibrate_options *o, lb_calibration *c) {
    char text[LB_SCHEDULE_TEXT_SIZE];
    snprintf(c->what, sizeof c->what, "%s", o->unit ? o->unit->name : o->order);
    if (!o->unit || !o->schedule) return;
    lb_schedule_text(o->schedule, text, sizeof text);
    const size_t used = strlen(c->what);
    snprintf(c->what + used, sizeof c->what - used, " %s", text);
}

static lb_status read_options(const lb_calibrate_options *o, lb_calibration *c, work *w, lb_error *err) {
    if (!o->unit == !o->order) return lb_fail(err, LB_E_ARG, "calibrate", "give a unit or an order, one of the two");
    if (o->case_name) LB_TRY(find_case(o->case_name, &c->named, err));
    if (o->unit) LB_TRY(check_unit(o->unit, err));
    LB_TRY(check_schedule(o->schedule, err));
    if (o->order) LB_TRY(lb_sum_order_find(o->order, &w->order, err));
    const char *against = o->against ? o->against : c->named ? c->named->against : "f64";
    LB_TRY(lb_sum_order_find(against, &w->against, err));
    if (!o->k_count && !c->named) return lb_fail(err, LB_E_ARG, "-k", "no depth: give -k K,… or --case NAME (`lastbit calibrate --list`)");
    const lb_format *bf16 = lb_format_row(LB_BF16), *d = o->unit ? lb_format_row(o->unit->d) : NULL;
    c->in = o->unit ? lb_format_row(o->unit->a) : bf16;
    c->out = o->out ? o->out : d && d->id == LB_F16 ? d : bf16;
    if (c->out->id != LB_BF16 && c->out->id != LB_F16 && c->out->id != LB_F32)
        return lb_fail(err, LB_E_FORMAT, "--out", "%s: outputs are bf16, f16 or f32", c->out->name);
    c->m = o->m ? o->m : c->named ? c->named->m : 16;
    c->n = o->n ? o->n : c->named ? c->named->n : 1024;
    c->seed = o->has_seed ? o->seed : c->named ? c->named->seed : SEED;
    c->margin = o->margin > 0 ? o->margin : LB_M16_FLOOR_MARGIN;
    c->false_alarm = o->false_alarm > 0 ? o->false_alarm : 1e-6;
    c->elements = o->elements >= 1 ? o->elements : (double)c->m * (double)c->n;
    c->truncates = o->unit && (o->unit->round == LB_UNIT_RZ_F32 || o->unit->round == LB_UNIT_RZ_E8M13);
    snprintf(c->against, sizeof c->against, "%s", against);
    name_it(o, c);
    return LB_OK;
}

static lb_status all_depths(const lb_calibrate_options *o, work *w, lb_error *err) {
    lb_calibration *c = w->c;
    const bool fp8 = c->named && c->named->fp8_weights;
    const size_t *k = o->k_count ? o->k : c->named->k;
    size_t count = o->k_count;
    while (!o->k_count && count < 4 && k[count]) count++;
    c->depths = calloc(count + 1, sizeof *c->depths);
    if (!c->depths) return lb_fail(err, LB_E_MEMORY, "calibrate", "no memory");
    fill_alphabet(&w->a, c->in, false);
    fill_alphabet(&w->b, o->unit ? lb_format_row(o->unit->b) : c->in, fp8);
    for (uint32_t i = 0; fp8 && i < 127; i++)
        if ((double)w->b.values[i] != lb_to_double(lb_format_row(LB_E4M3), i))
            return lb_fail(err, LB_E_FORMAT, c->named->name, "its weights are e4m3, which %s does not hold", w->b.format->name);
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (k[i] < 1 || k[i] > (size_t)1 << 28) return lb_fail(err, LB_E_ARG, "-k", "%zu is no depth; 1 to 2^28", k[i]);
        const uint64_t a = (uint64_t)c->m * k[i], b = (uint64_t)c->n * k[i];
        const bool first = c->named && c->named->activations_first;
        w->k = k[i];
        w->blocks = (k[i] + SCALE_BLOCK - 1) / SCALE_BLOCK;
        w->at_a = first ? at : b;
        w->at_w = first ? at + a : 0;
        w->at_scales = a + b;
        at += first ? a + b : 0;
        c->depth_count = i + 1;
        LB_TRY(one_depth(w, &c->depths[i], err));
    }
    return LB_OK;
}

void lb_calibration_close(lb_calibration *c) {
    if (!c) return;
    for (size_t i = 0; i < c->depth_count; i++) {
        free(c->depths[i].blocks);
        free(c->depths[i].rows);
    }
    free(c->depths);
    free(c);
}

lb_status lb_calibrate(const lb_calibrate_options *o, lb_calibration **out, lb_error *err) {
    *out = NULL;
    lb_calibration *c = calloc(1, sizeof *c);
    work *w = calloc(1, sizeof *w);
    lb_status s = c && w ? LB_OK : lb_fail(err, LB_E_MEMORY, "calibrate", "no memory");
    if (s == LB_OK) {
        w->o = o;
        w->c = c;
        s = read_options(o, c, w, err);
    }
    if (s == LB_OK) {
        w->m = c->m;
        w->n = c->n;
        s = all_depths(o, w, err);
    }
    free(w);
    if (s == LB_OK)
        *out = c;
    else
        lb_calibration_close(c);
    return s;
}
