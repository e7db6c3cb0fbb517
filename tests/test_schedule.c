/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Schedules against a second program for one element at a time: it deals out single elements of K, chains them by lb_unit_dot, and adds by
 * exact values rounded once; it shares nothing with the library's plans and rows of floats. */
#include "test.h"

#include "kernels/schedule_f32.h"
#include "lastbit/refs.h"
#include "lastbit/schedule.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_K = 200, MAX_PARTS = 64, MAX_MN = 12 };

static const char f16_unit[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32", half_unit[] = "sm_90/mma.m16n8k16.f16.f16.f16.f16",
                  short_unit[] = "sm_70/mma.m8n8k4.f32.f16.f16.f32", bf16_unit[] = "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
                  fp8_unit[] = "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3";

static lb_unit unit_of(const char *name) {
    lb_unit u;
    assert_int_equal(lb_unit_find(name, &u, NULL), LB_OK);
    return u;
}

/* ---- the second program ------------------------------------------------------------------------------------------------ */

static const lb_format *f32(void) {
    return lb_format_row(LB_F32);
}

static uint32_t add(uint32_t x, uint32_t y) {
    return (uint32_t)lb_encode(f32(), lb_value_add(lb_decode(f32(), x), lb_decode(f32(), y)), NULL, NULL);
}

static uint32_t mul_add(uint32_t x, uint32_t y, uint32_t z) {
    const lb_value product = lb_value_mul(lb_decode(f32(), x), lb_decode(f32(), y));
    return (uint32_t)lb_encode(f32(), lb_value_add(product, lb_decode(f32(), z)), NULL, NULL);
}

static uint32_t mul(uint32_t x, uint32_t y) {
    return (uint32_t)lb_encode(f32(), lb_value_mul(lb_decode(f32(), x), lb_decode(f32(), y)), NULL, NULL);
}

static uint32_t through(const lb_format *f, bool saturate, uint32_t x) {
    const lb_encoding how = {.overflow = saturate ? LB_OVERFLOW_SATURATE : LB_OVERFLOW_IEEE};
    return (uint32_t)lb_encode(f32(), lb_decode(f, lb_encode(f, lb_decode(f32(), x), &how, NULL)), NULL, NULL);
}

static uint32_t through_type(const lb_schedule *s, const lb_unit *u, lb_k_type t, uint32_t x) {
    const lb_format *own = s->out ? s->out : lb_format_row(u->d);
    if (t == LB_TYPE_F32) return x;
    return t == LB_TYPE_OUT ? through(own, s->saturate, x) : through(lb_format_row(t == LB_TYPE_F16 ? LB_F16 : LB_BF16), false, x);
}

/* K in the order in which one part takes it; -1 is a zero of padding. */
typedef struct order {
    int k[2 * MAX_K + 512];
    size_t count;
} order;

static void put_tile(order *o, long begin, long end, size_t step) {
    size_t n = 0;
    for (long k = begin; k < end; k++, n++) o->k[o->count++] = (int)k;
    for (; n % step; n++) o->k[o->count++] = -1;
}

/* Tiles by their owner, asked one by one. */
static void orders_of(const lb_schedule *s, size_t step, size_t k, const size_t *owner, size_t tiles, size_t tile, size_t parts,
                      order *out) {
    for (size_t p = 0; p < parts; p++) {
        long mine[MAX_K], count = 0;
        out[p].count = 0;
        for (size_t t = 0; t < tiles; t++)
            if (owner[t] == p) mine[count++] = (long)t;
        if (s->ragged == LB_RAGGED_FIRST && count) { /* whole tiles counted back from the part's end */
            const long begin = mine[0] * (long)tile, end_tile = (mine[count - 1] + 1) * (long)tile,
                       end = end_tile < (long)k ? end_tile : (long)k;
            for (long i = 0; i < count; i++) {
                const long at = s->order == LB_K_DESCENDING ? i : count - 1 - i; /* tiles from the end */
                const long hi = end - at * (long)tile, lo = hi - (long)tile;
                put_tile(&out[p], lo > begin ? lo : begin, hi, step);
            }
            continue;
        }
        for (long i = 0; i < count; i++) {
            const long t = mine[s->order == LB_K_DESCENDING ? count - 1 - i : i], hi = (t + 1) * (long)tile;
            put_tile(&out[p], t * (long)tile, hi < (long)k ? hi : (long)k, step);
        }
    }
}

static void owners_of(const lb_schedule *s, size_t tiles, size_t output_tile, size_t output_tiles, size_t *owner, size_t *parts) {
    const size_t workers = s->stream_k ? s->stream_k : s->split > 1 ? s->split : 1, total = s->stream_k ? tiles * output_tiles : tiles;
    *parts = s->stream_k ? 0 : workers;
    size_t at = 0, given = 0, last = SIZE_MAX;
    for (size_t worker = 0; worker < workers; worker++) { /* each worker takes its share off the line */
        size_t share = total / workers + (worker < total % workers);
        if (s->divide == LB_DIVIDE_CEIL) share = (total + workers - 1) / workers;
        for (; share && at < total; share--, at++) {
            if (s->stream_k && at / tiles != output_tile) continue;
            if (s->stream_k && last != worker) owner[at % tiles] = (*parts)++;
            if (s->stream_k && last == worker) owner[at % tiles] = *parts - 1;
            if (!s->stream_k) owner[at] = s->divide == LB_DIVIDE_DEALT ? given % workers : worker;
            last = worker;
            given++;
        }
    }
    if (*parts == 0) *parts = 1;
}

static uint32_t widened(const lb_format *f, uint32_t code) {
    return (uint32_t)lb_encode(f32(), lb_decode(f, code), NULL, NULL);
}

static uint32_t code_at(const lb_mat *m, size_t r, size_t c) {
    return (uint32_t)lb_mat_code(m, r, c);
}

/* One chain over o->k[from .. to). */
static uint32_t chain(const lb_unit *u, const order *o, size_t from, size_t to, const lb_mat *a, const lb_mat *b, size_t r, size_t c,
                      uint32_t acc) {
    for (size_t k = from; k < to; k += u->k) {
        uint32_t x[64], y[64];
        for (size_t i = 0; i < u->k; i++) {
            const int at = k + i < to ? o->k[k + i] : -1;
            x[i] = at < 0 ? 0 : code_at(a, r, (size_t)at);
            y[i] = at < 0 ? 0 : code_at(b, (size_t)at, c);
        }
        assert_int_equal(lb_unit_dot(u, x, y, u->k, acc, &acc, NULL), LB_OK);
    }
    return acc;
}

static uint32_t part_of(const lb_unit *u, const lb_schedule *s, const order *o, const lb_mat *a, const lb_mat *b, const lb_mat *c,
                        size_t row, size_t col) {
    const lb_format *own = lb_format_row(u->d);
    if (!s->promote) return widened(own, chain(u, o, 0, o->count, a, b, row, col, c ? code_at(c, row, col) : 0));
    uint32_t sum = c ? widened(c->format, code_at(c, row, col)) : 0;
    for (size_t k = 0; k < o->count; k += s->promote)
        sum = add(sum, widened(own, chain(u, o, k, k + s->promote < o->count ? k + s->promote : o->count, a, b, row, col, 0)));
    return sum;
}

static uint32_t reduced(const lb_unit *u, const lb_schedule *s, uint32_t *p, size_t n) {
    if (n == 1) return p[0];
    for (size_t i = 0; i < n; i++) p[i] = through_type(s, u, s->partial, p[i]);
    if (s->reduce == LB_REDUCE_TREE || s->reduce == LB_REDUCE_HALVES) {
        uint32_t next[MAX_PARTS];
        while (n > 1) {
            const size_t half = (n + 1) / 2;
            for (size_t i = 0; i < half; i++) {
                const size_t x = s->reduce == LB_REDUCE_TREE ? 2 * i : i, y = s->reduce == LB_REDUCE_TREE ? 2 * i + 1 : i + half;
                next[i] = y < n ? add(p[x], p[y]) : p[x];
            }
            memcpy(p, next, half * sizeof *p);
            n = half;
        }
        return p[0];
    }
    if (s->reduce == LB_REDUCE_SLOTS) {
        const size_t h = (n + 1) / 2;
        uint32_t sum = p[n - 1];
        for (size_t i = 0; i < h; i++) sum = add(sum, i + h < n - 1 ? add(p[i], p[i + h]) : p[i]);
        return sum;
    }
    const bool down = s->reduce == LB_REDUCE_DESCENDING;
    uint32_t sum = through_type(s, u, s->sum, p[down ? n - 1 : 0]);
    for (size_t i = 1; i < n; i++) sum = through_type(s, u, s->sum, add(sum, p[down ? n - 1 - i : i]));
    return sum;
}

static uint32_t f32_code(double x) {
    return (uint32_t)lb_from_double(f32(), x);
}

static uint64_t finished(const lb_unit *u, const lb_schedule *s, uint32_t x, const lb_mat *c, size_t row, size_t col) {
    const uint32_t one = f32_code(1), alpha = s->scaled ? f32_code(s->alpha) : one, beta = s->scaled ? f32_code(s->beta) : one;
    if (c && s->c_place == LB_C_LAST) {
        const uint32_t y = widened(c->format, code_at(c, row, col));
        x = s->blend == LB_BLEND_FMA_X   ? mul_add(alpha, x, mul(beta, y))
            : s->blend == LB_BLEND_FMA_C ? mul_add(beta, y, mul(alpha, x))
                                         : add(mul(alpha, x), mul(beta, y));
    } else {
        x = mul(alpha, x);
    }
    if (s->bias) x = add(x, widened(s->bias->format, code_at(s->bias, row, col)));
    const lb_value v = lb_decode(f32(), x);
    if (s->activation == LB_ACTIVATION_RELU && (v.cls == LB_ZERO || (v.cls != LB_NAN && v.negative))) x = 0;
    const lb_encoding how = {.overflow = s->saturate ? LB_OVERFLOW_SATURATE : LB_OVERFLOW_IEEE};
    return lb_encode(s->out ? s->out : lb_format_row(u->d), lb_decode(f32(), x), &how, NULL);
}

static uint64_t simulated(const lb_unit *u, const lb_schedule *s, const lb_mat *a, const lb_mat *b, const lb_mat *c, size_t row,
                          size_t col) {
    static order orders[MAX_PARTS];
    const size_t k = a->cols, tile = s->tile_k ? s->tile_k : s->stream_k && u->k < 32 ? 32 : u->k, tiles = (k + tile - 1) / tile;
    const size_t tm = s->tile_m ? s->tile_m : 128, tn = s->tile_n ? s->tile_n : 128;
    const size_t down = (a->rows + tm - 1) / tm, across = (b->cols + tn - 1) / tn;
    const size_t number = s->raster == LB_RASTER_N ? row / tm * across + col / tn : col / tn * down + row / tm;
    size_t owner[MAX_K], parts;
    uint32_t sums[MAX_PARTS];
    owners_of(s, tiles, number, down * across, owner, &parts);
    assert_true(parts <= MAX_PARTS);
    orders_of(s, u->k, k, owner, tiles, tile, parts, orders);
    for (size_t p = 0; p < parts; p++) sums[p] = part_of(u, s, &orders[p], a, b, p == 0 && s->c_place == LB_C_FIRST ? c : NULL, row, col);
    return finished(u, s, reduced(u, s, sums, parts), c, row, col);
}

/* ---- products ---------------------------------------------------------------------------------------------------------------- */

typedef struct product {
    lb_unit u;
    uint64_t a[MAX_MN * MAX_K], b[MAX_MN * MAX_K], c[MAX_MN * MAX_MN], bias[MAX_MN * MAX_MN], d[MAX_MN * MAX_MN]; /* room for codes */
    lb_mat am, bm, cm, biasm, dm;
} product;

static void draw(product *x, const char *unit, size_t m, size_t n, size_t k, lb_format_id c, lb_dist dist, uint64_t seed) {
    x->u = unit_of(unit);
    x->am = lb_mat_of(lb_format_row(x->u.a), x->a, m, k);
    x->bm = lb_mat_of(lb_format_row(x->u.b), x->b, k, n);
    x->cm = lb_mat_of(lb_format_row(c), x->c, m, n);
    x->biasm = lb_mat_of(lb_format_row(LB_BF16), x->bias, m, n);
    lb_draw_mat(&x->am, dist, seed, 1);
    lb_draw_mat(&x->bm, dist, seed, 2);
    lb_draw_mat(&x->cm, LB_DIST_NORMAL, seed, 3);
    lb_draw_mat(&x->biasm, LB_DIST_NORMAL, seed, 4);
}

static bool same_code(const lb_format *f, uint64_t x, uint64_t y) {
    return x == y || (lb_code_class(f, x) == LB_NAN && lb_code_class(f, y) == LB_NAN);
}

/* The library's product under s, element by element against the second program. */
static void expect_simulated(int line, product *x, const lb_schedule *s, const lb_mat *c) {
    char text[LB_SCHEDULE_TEXT_SIZE];
    lb_error err = {0};
    const lb_format *out = s->out ? s->out : lb_format_row(x->u.d);
    x->dm = lb_mat_of(out, x->d, x->am.rows, x->bm.cols);
    lb_schedule_text(s, text, sizeof text);
    const lb_status status = lb_gemm_scheduled(&x->u, s, &x->am, &x->bm, c, &x->dm, NULL, &err);
    if (status != LB_OK) fail_msg("row at %s:%d: %s on %s: %s: %s", __FILE__, line, text, x->u.name, err.place, err.message);
    for (size_t r = 0; r < x->dm.rows; r++)
        for (size_t col = 0; col < x->dm.cols; col++) {
            const uint64_t got = lb_mat_code(&x->dm, r, col), want = simulated(&x->u, s, &x->am, &x->bm, c, r, col);
            if (!same_code(out, got, want))
                fail_msg("row at %s:%d: %s on %s, %zux%zux%zu, %s, at %zu,%zu: got %llx, want %llx", __FILE__, line, text, x->u.name,
                         x->dm.rows, x->dm.cols, x->am.cols, c ? "C" : "no C", r, col, (unsigned long long)got, (unsigned long long)want);
        }
}

static uint64_t pick(uint64_t seed, uint64_t *at, uint64_t below) {
    return lb_random_u64(seed, 9, (*at)++) % below;
}

/* A schedule that the unit can have, every choice drawn. */
static lb_schedule drawn_schedule(const lb_unit *u, uint64_t seed, const lb_mat *bias) {
    static const unsigned tiles[] = {0, 1, 2, 3};
    uint64_t at = 0;
    lb_schedule s = {.order = (lb_k_order)pick(seed, &at, LB_K_ORDER_COUNT)};
    s.tile_k = tiles[pick(seed, &at, 4)] * u->k;
    if (pick(seed, &at, 4) == 0) {
        s.stream_k = 1 + (unsigned)pick(seed, &at, 9);
        s.tile_m = 1 + (unsigned)pick(seed, &at, 7);
        s.tile_n = 1 + (unsigned)pick(seed, &at, 7);
        s.raster = (lb_k_raster)pick(seed, &at, 2);
        s.divide = (lb_k_divide)pick(seed, &at, 2);
    } else {
        s.split = (unsigned)pick(seed, &at, 8);
        s.divide = (lb_k_divide)pick(seed, &at, LB_DIVIDE_COUNT);
    }
    if (s.divide != LB_DIVIDE_DEALT) s.ragged = (lb_k_ragged)pick(seed, &at, 2);
    s.promote = pick(seed, &at, 3) ? 0 : u->k * (1 + (unsigned)pick(seed, &at, 3));
    s.reduce = (lb_k_reduce)pick(seed, &at, LB_REDUCE_ATOMIC);
    s.partial = (lb_k_type)pick(seed, &at, LB_TYPE_COUNT);
    if (s.reduce <= LB_REDUCE_DESCENDING) s.sum = (lb_k_type)pick(seed, &at, LB_TYPE_COUNT);
    s.c_place = (lb_c_place)pick(seed, &at, 2);
    s.blend = (lb_blend)pick(seed, &at, LB_BLEND_COUNT);
    s.scaled = s.c_place == LB_C_LAST && pick(seed, &at, 2);
    if (s.scaled) {
        s.alpha = (double)(float)((double)pick(seed, &at, 1000) / 333 - 1.5);
        s.beta = (double)(float)((double)pick(seed, &at, 1000) / 333 - 1.5);
    }
    s.activation = (lb_activation)pick(seed, &at, 2);
    static const lb_format_id outs[] = {LB_F32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2};
    if (pick(seed, &at, 2)) s.out = lb_format_row(outs[pick(seed, &at, 5)]);
    s.saturate = pick(seed, &at, 4) == 0;
    s.bias = pick(seed, &at, 3) ? NULL : bias;
    return s;
}

static void drawn_schedules_equal_a_second_program_element_by_element(void **state) {
    (void)state;
    static const char *const units[] = {f16_unit, half_unit, short_unit, bf16_unit, fp8_unit};
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_SPECIAL, LB_DIST_UNIFORM};
    static product x;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        uint64_t at = 100;
        const char *unit = units[pick(seed, &at, 5)];
        const size_t m = 1 + pick(seed, &at, MAX_MN), n = 1 + pick(seed, &at, MAX_MN), k = pick(seed, &at, 8) ? pick(seed, &at, MAX_K) : 0;
        const lb_dist dist = dists[pick(seed, &at, 5)];
        x.u = unit_of(unit);
        const lb_schedule s = drawn_schedule(&x.u, seed, &x.biasm);
        const bool any_c = s.c_place == LB_C_LAST || s.promote;
        static const lb_format_id cs[] = {LB_F32, LB_F16, LB_BF16};
        draw(&x, unit, m, n, k, any_c ? cs[pick(seed, &at, 3)] : x.u.c, dist, seed);
        expect_simulated((int)seed, &x, &s, pick(seed, &at, 3) ? &x.cm : NULL);
    }
}

static void plain_is_lb_gemm(void **state) {
    (void)state;
    static product x;
    static uint64_t want[MAX_MN * MAX_MN];
    static const char *const units[] = {f16_unit, half_unit, short_unit, bf16_unit, fp8_unit};
    for (size_t i = 0; i < 5; i++) {
        draw(&x, units[i], 7, 9, 117, unit_of(units[i]).c, LB_DIST_SPECIAL, 20 + i);
        const lb_format *d = lb_format_row(x.u.d);
        lb_mat w = lb_mat_of(d, want, 7, 9);
        x.dm = lb_mat_of(d, x.d, 7, 9);
        lb_schedule plain;
        assert_int_equal(lb_schedule_parse("plain", &plain, NULL), LB_OK);
        assert_int_equal(lb_gemm(&x.u, &x.am, &x.bm, &x.cm, &w, NULL, NULL), LB_OK);
        assert_int_equal(lb_gemm_scheduled(&x.u, i % 2 ? &plain : NULL, &x.am, &x.bm, &x.cm, &x.dm, NULL, NULL), LB_OK);
        assert_memory_equal(want, x.d, 7 * 9 * (size_t)d->bytes);
    }
}

/* ---- known answers ------------------------------------------------------------------------------------------------------------ */

static uint64_t one_dot(const char *unit, const char *schedule, const double *a, const double *b, size_t k, const double *c) {
    lb_schedule s;
    lb_error err = {0};
    uint64_t a_room[64], b_room[64], c_room[1], d_room[1];
    const lb_unit u = unit_of(unit);
    if (lb_schedule_parse(schedule, &s, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    const lb_format *out = s.out ? s.out : lb_format_row(u.d);
    lb_mat am = lb_mat_of(lb_format_row(u.a), a_room, 1, k), bm = lb_mat_of(lb_format_row(u.b), b_room, k, 1);
    lb_mat cm = lb_mat_of(f32(), c_room, 1, 1), dm = lb_mat_of(out, d_room, 1, 1);
    for (size_t i = 0; i < k; i++) {
        lb_store_code(lb_mat_at(&am, 0, i), am.format->bytes, lb_from_double(am.format, a[i]));
        lb_store_code(lb_mat_at(&bm, i, 0), bm.format->bytes, lb_from_double(bm.format, b[i]));
    }
    if (c) lb_store_code(c_room, 4, lb_from_double(f32(), *c));
    if (lb_gemm_scheduled(&u, &s, &am, &bm, c ? &cm : NULL, &dm, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return lb_mat_code(&dm, 0, 0);
}

/* 2^13, then 2^-12 in each further K step of 4 (sm_70: 23 fraction bits, cut): a chain loses what f32 sums of parts keep. */
static void known_sums_come_out_as_worked_by_hand(void **state) {
    (void)state;
    const double a[16] = {8192, 0, 0, 0, 0x1p-11, 0, 0, 0, 0x1p-11, 0, 0, 0, 0x1.8p-10, 0, 0, 0},
                 one[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const struct {
        int line;
        const char *schedule;
        double want;
    } rows[] = {
        /* the unit in the last place of 2^13 is 2^-10 */
        {__LINE__, "plain", 8192 + 0x1p-10},                      /* the halves are cut, of 1.5 one is kept */
        {__LINE__, "order=descending", 8192 + 0x1p-9},            /* the small ones meet first: 2.5 units, cut to 2 */
        {__LINE__, "split-k=4", 8192 + 0x1p-9},                   /* rne: half to even 0, half to even 0, then 1.5 to 2 */
        {__LINE__, "split-k=4,reduce=descending", 8192 + 0x1p-9}, /* (1.5 + .5 + .5) = 2.5, rne 2 */
        {__LINE__, "split-k=2", 8192 + 0x1p-9},                   /* 0 of the first half; .5 + 1.5 = 2 */
        {__LINE__, "split-k=2,divide=dealt", 8192 + 0x1p-9},      /* 2^13 with .5 cut; .5 + 1.5 = 2 */
        {__LINE__, "split-k=2,tile-k=12", 8192 + 0x1p-9},         /* 2^13, .5 and .5 cut; then rne of 1.5 */
        {__LINE__, "promote=4", 8192 + 0x1p-9},
        {__LINE__, "split-k=4,sum=f16", 8192},
        {__LINE__, "split-k=4,out=bf16", 8192},
        {__LINE__, "alpha=-0.5,act=relu", 0},
        {__LINE__, "alpha=-0.5", -4096 - 0x1p-11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_schedule s;
        assert_int_equal(lb_schedule_parse(rows[i].schedule, &s, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, one_dot(short_unit, rows[i].schedule, a, one, 16, NULL),
                    lb_from_double(s.out ? s.out : f32(), rows[i].want));
    }
}

/* x = 1 + 2^-11 and c chosen so that one rounding and two differ. */
static void blends_round_where_they_say(void **state) {
    (void)state;
    const double a[1] = {1 + 0x1p-10}, b[1] = {1 + 0x1p-10}, c = -1; /* x = 1 + 2^-9 + 2^-20 */
    const double alpha = 1 + 0x1p-12;                                /* alpha x needs 33 bits */
    const double x = (1 + 0x1p-10) * (1 + 0x1p-10), exact = alpha * x - 1, once = (double)(float)exact;
    const double twice = (double)((float)(alpha * x) - 1.0f);
    assert_true(once != twice);
    char text[2][80];
    snprintf(text[0], sizeof text[0], "alpha=%.9g,blend=fma-x", alpha);
    snprintf(text[1], sizeof text[1], "alpha=%.9g", alpha);
    EXPECT_CODE(__LINE__, one_dot(f16_unit, text[0], a, b, 1, &c), lb_from_double(f32(), once));
    EXPECT_CODE(__LINE__, one_dot(f16_unit, text[1], a, b, 1, &c), lb_from_double(f32(), twice));
}

static void nan_comes_out_as_the_hardware_gives_it(void **state) {
    (void)state;
    const double a[1] = {NAN}, b[1] = {1};
    static const struct {
        int line;
        const char *schedule;
        uint64_t want;
    } rows[] = {{__LINE__, "plain", 0x7fffffff},     {__LINE__, "alpha=-2", 0x7fffffff},      {__LINE__, "out=bf16", 0x7fff},
                {__LINE__, "out=f16", 0x7fff},       {__LINE__, "act=relu", 0x7fffffff},      {__LINE__, "out=e5m2", 0x7f},
                {__LINE__, "out=e4m3", 0x7f},        {__LINE__, "out=e4m3,saturate=1", 0x7f}, {__LINE__, "split-k=2", 0x7fffffff},
                {__LINE__, "promote=16", 0x7fffffff}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_CODE(rows[i].line, one_dot(f16_unit, rows[i].schedule, a, b, 1, NULL), rows[i].want);
}

static void overflow_goes_to_inf_unless_it_saturates(void **state) {
    (void)state;
    const double a[2] = {60000, 60000}, b[2] = {1, 1};
    EXPECT_CODE(__LINE__, one_dot(half_unit, "plain", a, b, 2, NULL), 0x7c00);
    EXPECT_CODE(__LINE__, one_dot(half_unit, "saturate=1", a, b, 2, NULL), 0x7bff);
    EXPECT_CODE(__LINE__, one_dot(f16_unit, "out=f16", a, b, 2, NULL), 0x7c00);
    EXPECT_CODE(__LINE__, one_dot(f16_unit, "out=f16,saturate=1", a, b, 2, NULL), 0x7bff);
    EXPECT_CODE(__LINE__, one_dot(f16_unit, "out=e4m3", a, b, 2, NULL), 0x7f);
    EXPECT_CODE(__LINE__, one_dot(f16_unit, "out=e4m3,saturate=1,alpha=-1", a, b, 2, NULL), 0xfe);
}

static void batches_strides_and_transposed_operands_are_each_products_own(void **state) {
    (void)state;
    enum { M = 5, N = 6, K = 40, BATCH = 3 };
    static uint16_t a[BATCH][M][K + 3], b[BATCH][N][K];
    static uint32_t d[BATCH][N][M + 2], bias[N], one[M][N];
    const lb_unit u = unit_of(f16_unit);
    const lb_format *f16 = lb_format_row(LB_F16);
    lb_mat all_a = lb_mat_of(f16, a, BATCH * M, K + 3), all_b = lb_mat_of(f16, b, BATCH * N, K), row = lb_mat_of(f32(), bias, M, N);
    lb_draw_mat(&all_a, LB_DIST_NORMAL, 5, 1);
    lb_draw_mat(&all_b, LB_DIST_NORMAL, 5, 2);
    for (int i = 0; i < N; i++) bias[i] = f32_code(i + 0.1);
    row.row_stride = 0;
    memset(d, 0x5a, sizeof d);
    lb_schedule s = {.split = 2, .bias = &row, .batch = BATCH, .a_step = M * (K + 3), .b_step = N * K, .d_step = N * (M + 2)};
    lb_mat am = lb_mat_of(f16, a, M, K), bm = lb_mat_transposed(lb_mat_of(f16, b, N, K)), dm = lb_mat_of(f32(), d, N, M);
    am.row_stride = K + 3;
    dm.row_stride = M + 2;
    dm = lb_mat_transposed(dm);
    assert_int_equal(lb_gemm_scheduled(&u, &s, &am, &bm, NULL, &dm, NULL, NULL), LB_OK);
    for (int i = 0; i < BATCH; i++) {
        lb_mat ai = am, bi = bm, di = lb_mat_of(f32(), one, M, N);
        const lb_schedule single = {.split = 2, .bias = &row};
        ai.codes = a[i];
        bi.codes = b[i];
        assert_int_equal(lb_gemm_scheduled(&u, &single, &ai, &bi, NULL, &di, NULL, NULL), LB_OK);
        for (int r = 0; r < M; r++)
            for (int c = 0; c < N; c++) EXPECT_CODE(__LINE__, d[i][c][r], one[r][c]);
        for (int c = 0; c < N; c++) EXPECT_CODE(__LINE__, d[i][c][M], 0x5a5a5a5a);
    }
}

static void a_schedule_that_does_not_fit_is_refused_and_writes_nothing(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *schedule, *message;
        lb_status want;
    } rows[] = {
        {__LINE__, "promote=100", "no multiple", LB_E_ARG},
        {__LINE__, "tile-k=24", "multiple of", LB_E_ARG},
        {__LINE__, "split-k=2,stream-k=4", "twice", LB_E_ARG},
        {__LINE__, "stream-k=4,divide=dealt", "ceil or even", LB_E_ARG},
        {__LINE__, "split-k=2,divide=dealt,ragged=first", "short first tile", LB_E_ARG},
        {__LINE__, "split-k=4,reduce=tree,sum=f16", "running sum", LB_E_ARG},
        {__LINE__, "split-k=5000", "at most 4096", LB_E_ARG},
        {__LINE__, "alpha=2,c=first", "say c=last", LB_E_ARG},
        {__LINE__, "out=bf16", "D is f32", LB_E_FORMAT},
        {__LINE__, "out=i8", "no format that f32 rounds to", LB_E_FORMAT},
    };
    static product x;
    draw(&x, f16_unit, 3, 3, 33, LB_F32, LB_DIST_NORMAL, 3);
    x.dm = lb_mat_of(f32(), x.d, 3, 3);
    memset(x.d, 0x5a, sizeof x.d);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_schedule s;
        lb_error err = {0};
        assert_int_equal(lb_schedule_parse(rows[i].schedule, &s, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, lb_gemm_scheduled(&x.u, &s, &x.am, &x.bm, &x.cm, &x.dm, NULL, &err), rows[i].want);
        if (!strstr(err.message, rows[i].message)) fail_msg("row at %s:%d: \"%s\"", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, lb_mat_code(&x.dm, 0, 0), 0x5a5a5a5a);
    }
    lb_unit open = unit_of("sm_80/mma.m8n8k4.f32.f16.f16.f32");
    assert_int_equal(lb_gemm_scheduled(&open, NULL, &x.am, &x.bm, &x.cm, &x.dm, NULL, NULL), LB_E_UNAVAILABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_is_lb_gemm),
        cmocka_unit_test(drawn_schedules_equal_a_second_program_element_by_element),
        cmocka_unit_test(known_sums_come_out_as_worked_by_hand),
        cmocka_unit_test(blends_round_where_they_say),
        cmocka_unit_test(nan_comes_out_as_the_hardware_gives_it),
        cmocka_unit_test(overflow_goes_to_inf_unless_it_saturates),
        cmocka_unit_test(batches_strides_and_transposed_operands_are_each_products_own),
        cmocka_unit_test(a_schedule_that_does_not_fit_is_refused_and_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
