/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A product on chains: which kind a unit is, memory, threads. Packing is in chain_pack.c. */
#include "kernels/chain_pack.h"
#include "kernels/workspace.h"
#include "units/path.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

enum {
    ROWS = 512,           /* most rows of a unit of work */
    THREADS = 64,         /* their scratch stays within 64 MiB */
    ONE_THREAD = 1 << 17, /* products of a call that is not worth a second thread */
    PART_BYTES = 32 << 10 /* of a part of B: it stays in the first cache */
};

/* ---- which kind -------------------------------------------------------------------------------------------------------- */

static bool few_terms(const lb_unit *u) {
    return u->terms == 1 || u->terms == 2 || u->terms == 4;
}

/* LB_CHAIN_COUNT: none. What a path can hold (lb_code_path_of) has been asked. */
static lb_chain_kind kind_of(const lb_unit *u) {
    const bool pairs = u->k % 2 == 0;
    switch (u->path) {
    case LB_PATH_FMA_CHAIN: return u->round == LB_UNIT_RNE_F64 ? LB_CHAIN_FMA64 : LB_CHAIN_FMA32;
    case LB_PATH_ODD_FIRST: return LB_CHAIN_FMA32_FTZ;
    case LB_PATH_TWO_CHAINS: return LB_CHAIN_TWO_CHAINS;
    case LB_PATH_EXACT: return few_terms(u) ? LB_CHAIN_EXACT : LB_CHAIN_COUNT;
    case LB_PATH_PAIRWISE: return few_terms(u) ? LB_CHAIN_PAIRWISE : LB_CHAIN_COUNT;
    case LB_PATH_PAIR_ODD: return LB_CHAIN_PAIR_ODD;
    case LB_PATH_PAIR_FUSED: return LB_CHAIN_PAIR_FUSED;
    case LB_PATH_INTEGER:
        return !pairs || u->sparse_group ? LB_CHAIN_COUNT : u->round == LB_UNIT_WRAP_I32 ? LB_CHAIN_WRAP : LB_CHAIN_SATURATE;
    case LB_PATH_AND_POPC: return pairs && u->round == LB_UNIT_WRAP_I32 ? LB_CHAIN_WRAP : LB_CHAIN_COUNT;
    case LB_PATH_XOR_POPC: return u->round == LB_UNIT_WRAP_I32 ? LB_CHAIN_XOR : LB_CHAIN_COUNT;
    case LB_PATH_BLOCK_SCALED: /* 32 products of fp4 at 36 bits stay below 2^51 units; so do their sums */
        return u->group && u->group % 2 == 0 && u->group <= 32 && u->k / u->group <= 16 && u->frac_bits <= 36 && u->floor_exp <= 100 &&
                       u->round == LB_UNIT_RZ_F32
                   ? LB_CHAIN_GROUPS
                   : LB_CHAIN_COUNT;
    default: return LB_CHAIN_COUNT;
    }
}

bool lb_chain_can(const lb_unit *u) {
    lb_code_path path;
    return lb_is_code_path(u->path) && lb_unit_is_plain(u) && lb_code_path_of(u, &path, NULL) == LB_OK && kind_of(u) != LB_CHAIN_COUNT;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

typedef struct arena {
    char *base; /* NULL: only count */
    size_t used;
} arena;

static void *carve(arena *m, size_t bytes) {
    void *at = m->base ? m->base + m->used : NULL;
    m->used += (bytes + 63) / 64 * 64;
    return at;
}

static void carve_shared(arena *m, lb_chain_job *j) {
    const size_t rows = j->x->d->rows, groups = rows * j->groups;
    j->a = carve(m, rows * j->length * j->element);
    j->a_live = carve(m, groups * sizeof *j->a_live);
    j->a_scale = carve(m, groups * sizeof *j->a_scale);
    j->a_power = carve(m, groups * sizeof *j->a_power);
    j->a_nan = carve(m, rows * sizeof *j->a_nan);
}

static lb_chain_scratch carve_scratch(arena *m, const lb_chain_job *j) {
    const size_t part = j->part < j->length ? j->part : j->length, groups = j->groups ? part / (size_t)j->terms * LB_NR : 0;
    return (lb_chain_scratch){.b = carve(m, part * LB_NR * j->element),
                              .c = carve(m, j->block_rows * LB_NR * sizeof(double)),
                              .b_live = carve(m, groups * sizeof(uint32_t)),
                              .b_scale = carve(m, groups * sizeof(double)),
                              .b_power = carve(m, groups * sizeof(double))};
}

/* ---- a unit of work: rows against a panel -------------------------------------------------------------------------------- */

static void run_part(const lb_chain_job *j, size_t p0, size_t length, size_t row0, size_t rows, int columns, const lb_chain_scratch *w) {
    const size_t m = j->x->d->rows, group0 = j->groups ? p0 / (size_t)j->terms : 0, groups = j->groups ? length / (size_t)j->terms : 0;
    for (size_t r = 0; r < rows; r++) {
        const size_t at = p0 * m + (row0 + r) * length, group_at = group0 * m + (row0 + r) * groups;
        const lb_chain_strip s = {.a = j->a + at * j->element,
                                  .b = w->b,
                                  .c = w->c + r * LB_NR * sizeof(double),
                                  .columns = columns,
                                  .length = (int)length,
                                  .step = j->step,
                                  .terms = j->terms,
                                  .frac_bits = j->x->u->frac_bits,
                                  .floor_exp = j->x->u->floor_exp > -1000 ? j->x->u->floor_exp : -1000,
                                  .ga = {j->a_live + group_at, j->a_scale + group_at, j->a_power + group_at},
                                  .gb = {w->b_live, w->b_scale, w->b_power}};
        j->tiles->strip(&s, j->kind);
    }
}

static void one_unit(const lb_chain_job *j, size_t unit, lb_chain_scratch *w) {
    const lb_mat *d = j->x->d;
    const size_t blocks = (d->rows + j->block_rows - 1) / j->block_rows, row0 = unit % blocks * j->block_rows;
    const size_t rows = d->rows - row0 < j->block_rows ? d->rows - row0 : j->block_rows, column0 = unit / blocks * LB_NR;
    const int columns = d->cols - column0 < LB_NR ? (int)(d->cols - column0) : LB_NR;
    for (int i = 0; i < LB_NR; i++) w->b_nan[i] = -1;
    for (size_t r = 0; r < rows; r++) lb_chain_read_c(j, row0 + r, column0, columns, w->c + r * LB_NR * sizeof(double));
    for (size_t p0 = 0; p0 < j->length; p0 += j->part) {
        const size_t length = j->length - p0 < j->part ? j->length - p0 : j->part;
        lb_chain_pack_b(j, p0, length, column0, columns, w);
        run_part(j, p0, length, row0, rows, columns, w);
    }
    for (size_t r = 0; r < rows; r++) lb_chain_write_d(j, row0 + r, column0, columns, w->c + r * LB_NR * sizeof(double), w->b_nan);
}

/* The part of one thread; the loops' schedules are shared. */
static void work(const lb_chain_job *j, arena memory, int thread, size_t scratch) {
    const lb_mat *d = j->x->d;
    const size_t units = (d->cols + LB_NR - 1) / LB_NR * ((d->rows + j->block_rows - 1) / j->block_rows);
    const unsigned saved = j->tiles->enter(j->kind);
    memory.used += (size_t)thread * scratch;
    lb_chain_scratch w = carve_scratch(&memory, j);
#pragma omp for schedule(static)
    for (size_t i = 0; i < d->rows; i++) lb_chain_pack_row(j, i);
#pragma omp for schedule(dynamic)
    for (size_t unit = 0; unit < units; unit++) one_unit(j, unit, &w);
    j->tiles->leave(saved);
}

static int threads_of(const lb_chain_job *j, int asked) {
#if defined(_OPENMP)
    const double products = (double)j->x->d->rows * (double)j->x->d->cols * (double)j->length;
    const int most = asked > 0 ? asked : omp_get_max_threads();
    if (products < ONE_THREAD || most < 1) return 1;
    return most < THREADS ? most : THREADS;
#else
    (void)j;
    (void)asked;
    return 1;
#endif
}

/* Positions: what a K step of the kind is made of. */
static void set_positions(lb_chain_job *j) {
    const lb_unit *u = j->x->u;
    const bool pairs = j->kind == LB_CHAIN_WRAP || j->kind == LB_CHAIN_SATURATE || j->kind == LB_CHAIN_GROUPS,
               ints = pairs || j->kind == LB_CHAIN_XOR;
    const bool floats = j->tiles->fma && (j->kind == LB_CHAIN_FMA32 || j->kind == LB_CHAIN_FMA32_FTZ || j->kind == LB_CHAIN_TWO_CHAINS);
    const size_t per = pairs ? 2 : 1, step = (size_t)u->k / per, k = j->x->b->rows;
    j->per = per;
    j->step = (int)step;
    j->held = ints ? LB_HELD_PAIR : floats ? LB_HELD_FLOAT : LB_HELD_DOUBLE;
    j->element = j->held == LB_HELD_DOUBLE ? sizeof(double) : sizeof(float);
    j->length = (k / u->k + (k % u->k != 0)) * step;
    j->terms = j->kind == LB_CHAIN_GROUPS ? u->group / 2 : u->terms;
    j->groups = j->kind == LB_CHAIN_GROUPS ? j->length / (size_t)j->terms : 0;
    const size_t fits = PART_BYTES / (LB_NR * j->element);
    j->part = fits < step ? step : fits - fits % step;
}

lb_status lb_chain_drive(const lb_chain_tiles *tiles, const lb_product *x, const lb_gemm_options *options, lb_error *err) {
    const lb_unit *u = x->u;
    lb_status s = lb_check_operands(u, x->a, x->b, x->c, x->d, err);
    if (s == LB_OK) s = lb_check_with(u, x->a, x->b, &x->with, err);
    if (s != LB_OK) return s;
    if (x->d->rows == 0 || x->d->cols == 0) return LB_OK;
    if (x->b->rows == 0) return lb_unit_gemm_with(u, x->a, x->b, x->c, &x->with, x->d, err);
    lb_chain_job j = {.x = x, .tiles = tiles, .kind = kind_of(u), .odd_first = u->path == LB_PATH_ODD_FIRST};
    set_positions(&j);
    lb_chain_formats(&j);
    if (j.length > SIZE_MAX / 64 / x->d->rows) return lb_fail(err, LB_E_MEMORY, u->name, "operands too large");
    const int threads = threads_of(&j, options->threads);
    j.block_rows = x->d->rows < ROWS ? x->d->rows : ROWS;
    while (threads > 1 && j.block_rows > 64 && x->d->cols / LB_NR * (x->d->rows / j.block_rows) < 2 * (size_t)threads) j.block_rows /= 2;

    arena count = {0};
    carve_shared(&count, &j);
    const size_t shared = count.used;
    carve_scratch(&count, &j);
    const size_t scratch = count.used - shared, size = shared + scratch * (size_t)threads;
    lb_workspace own = {0}, *workspace = options->workspace ? options->workspace : &own;
    arena memory = {lb_workspace_reserve(workspace, size), 0};
    if (!memory.base) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu bytes", size);
    carve_shared(&memory, &j);
    if (threads == 1) work(&j, memory, 0, scratch);
#if defined(_OPENMP)
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        work(&j, memory, omp_get_thread_num(), scratch);
    }
#endif
    lb_workspace_release(&own);
    return LB_OK;
}
