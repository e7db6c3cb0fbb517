/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A product on one set of tiles: orientation, memory, threads. */
#include "kernels/drive.h"

#include "kernels/job.h"
#include "kernels/small.h"
#include "kernels/workspace.h"
#include "units/path.h"
#include "units/step.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

enum {
    ON_STACK = 48 << 10,  /* calls that need no more take it from the stack */
    ROWS = 1024,          /* most rows of a unit of work: c of a panel stays in the second cache */
    THREADS = 64,         /* their scratch stays within 64 MiB */
    ONE_THREAD = 1 << 19, /* products of a call that is not worth a second thread */
    PACKED = 16,          /* most bytes of a packed element of A */
};

/* ---- memory: one block, carved -------------------------------------------------------------------------------- */

typedef struct arena {
    char *base; /* NULL: only count */
    size_t used;
} arena;

static void *carve(arena *m, size_t bytes) {
    void *at = m->base ? m->base + m->used : NULL;
    m->used += (bytes + 63) / 64 * 64;
    return at;
}

static void carve_shared(arena *m, lb_job *job) {
    const size_t rows = job->d.rows;
    job->rows = carve(m, rows * sizeof *job->rows);
    const size_t count = rows * job->k_padded;
    if (job->wide_only)
        job->wide_packed = carve(m, count * sizeof *job->wide_packed);
    else
        job->packed = carve(m, count * sizeof *job->packed);
    job->packed_exp = carve(m, count * sizeof *job->packed_exp);
    job->packed_neg = carve(m, job->by_sign || job->wide_only ? count * sizeof *job->packed_neg : 0);
}

static lb_scratch carve_scratch(arena *m, const lb_job *job) {
    const size_t length = job->k_padded < (size_t)job->chunk ? job->k_padded : (size_t)job->chunk;
    const size_t rows = job->block_rows, panel = length * LB_NR;
    const size_t part = (size_t)lb_wide_part(job->p->k), wide = (part < length ? part : length) * LB_NR;
    return (lb_scratch){.codes = carve(m, (size_t)LB_NR * length * sizeof(uint32_t)),
                        .b = carve(m, panel * sizeof(float) * (job->by_sign ? 2 : 1)),
                        .b_exp = carve(m, panel),
                        .wide_b = carve(m, wide * 2 * sizeof(double)),
                        .wide_b_exp = carve(m, wide * sizeof(int16_t)),
                        .wide_a = carve(m, length * sizeof(double)),
                        .wide_a_exp = carve(m, length * sizeof(uint32_t)),
                        .wide_a_neg = carve(m, length * sizeof(uint32_t)),
                        .b_scales = carve(m, job->scaled ? wide * sizeof(int16_t) : 0),
                        .c = carve(m, rows * LB_NR * sizeof(float)),
                        .c_flags = carve(m, rows * LB_NR),
                        .x = carve(m, rows * sizeof(int))};
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

static size_t ceil_div(size_t a, size_t b) {
    return a / b + (a % b != 0);
}

static int threads_of(const lb_job *job, int asked) {
#if defined(_OPENMP)
    const double products = (double)job->d.rows * (double)job->d.cols * (double)job->k_padded;
    const int most = asked > 0 ? asked : omp_get_max_threads();
    if (products < ONE_THREAD || most < 1) return 1;
    return most < THREADS ? most : THREADS;
#else
    (void)job;
    (void)asked;
    return 1;
#endif
}

/* Rows of a unit of work: few enough that every thread has two. */
static size_t block_rows_of(const lb_job *job, int threads) {
    const size_t m = job->d.rows, panels = ceil_div(job->d.cols, LB_NR);
    size_t rows = m < ROWS ? m : ROWS;
    while (threads > 1 && rows > 64 && panels * ceil_div(m, rows) < 2 * (size_t)threads) rows = ceil_div(rows, 2);
    return rows;
}

static lb_status one_unit(const lb_job *job, size_t unit, const lb_scratch *w, lb_error *err) {
    const size_t blocks = ceil_div(job->d.rows, job->block_rows), row0 = unit % blocks * job->block_rows;
    const size_t rows = job->d.rows - row0 < job->block_rows ? job->d.rows - row0 : job->block_rows;
    lb_panel panel;
    panel.column0 = unit / blocks * LB_NR;
    panel.columns = job->d.cols - panel.column0 < LB_NR ? (int)(job->d.cols - panel.column0) : LB_NR;
    return lb_job_unit(job, &panel, row0, rows, w, err);
}

/* The part of one thread; `next` is shared by the loops' schedules. */
static lb_status work(const lb_job *job, arena memory, int thread, size_t scratch, lb_error *err) {
    const size_t units = ceil_div(job->d.cols, LB_NR) * ceil_div(job->d.rows, job->block_rows);
    const unsigned saved = job->tiles->enter(job->p->finish);
    lb_status s = LB_OK;
    memory.used += (size_t)thread * scratch;
    const lb_scratch w = carve_scratch(&memory, job);
#pragma omp for schedule(static)
    for (size_t i = 0; i < job->d.rows; i++) lb_job_pack_row(job, i);
#pragma omp for schedule(dynamic)
    for (size_t unit = 0; unit < units; unit++)
        if (s == LB_OK) s = one_unit(job, unit, &w, err);
    job->tiles->leave(saved);
    return s;
}

static lb_status run(lb_job *job, arena memory, int threads, size_t scratch, lb_error *err) {
    if (threads == 1) return work(job, memory, 0, scratch, err);
    lb_status status = LB_OK;
#if defined(_OPENMP)
#pragma omp parallel num_threads(threads)
    {
        lb_error mine = {0};
        const lb_status s = work(job, memory, omp_get_thread_num(), scratch, &mine);
#pragma omp critical
        if (s != LB_OK && status == LB_OK) {
            status = s;
            if (err) *err = mine;
        }
    }
#endif
    return status;
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

/* Columns that the tiles compute for n of them. */
static double padded(size_t n) {
    const size_t rest = n % LB_NR;
    return (double)(n - rest + (rest == 0 ? 0 : rest <= 16 ? 16 : LB_NR));
}

/* Positions of a chunk: its part of B fits in the first cache. */
static int chunk_of(int k, bool by_sign) {
    const int most = by_sign && k <= 64 ? 64 : k <= 128 ? 128 : LB_KC;
    return most - most % k;
}

int lb_wide_part(int k) {
    return k <= 32 ? 32 - 32 % k : k;
}

static void orient(lb_job *job, lb_plan *p, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *turned_c, const lb_mat *d) {
    const double m = (double)d->rows, n = (double)d->cols;
    job->swapped = n * padded(d->rows) < m * padded(d->cols);
    job->a = job->swapped ? lb_mat_transposed(*b) : *a;
    job->b = job->swapped ? lb_mat_transposed(*a) : *b;
    job->d = job->swapped ? lb_mat_transposed(*d) : *d;
    job->c = c;
    if (job->swapped) lb_plan_swap(p);
    if (job->swapped && c) {
        *turned_c = lb_mat_transposed(*c);
        job->c = turned_c;
    }
}

/* Scales as the job reads them: of A and of B alike a column a line. */
static void orient_scales(lb_job *job, const lb_unit_operands *with) {
    job->with = *with;
    job->scaled = job->p->u->scale_block != 0;
    if (!job->scaled) return;
    const lb_mat of_a = lb_mat_transposed(*with->scale_a);
    job->scale_a = job->swapped ? *with->scale_b : of_a;
    job->scale_b = job->swapped ? of_a : *with->scale_b;
}

lb_status lb_drive(const lb_tiles *tiles, bool wide_only, const lb_product *x, const lb_gemm_options *options, lb_error *err) {
    const lb_unit *u = x->u;
    const lb_mat *a = x->a, *b = x->b, *c = x->c;
    lb_mat *d = x->d;
    lb_status checked = lb_check_operands(u, a, b, c, d, err);
    if (checked == LB_OK) checked = lb_check_with(u, a, b, &x->with, err);
    if (checked != LB_OK) return checked;
    if (d->rows == 0 || d->cols == 0) return LB_OK;
    if (a->cols == 0) return lb_unit_gemm_with(u, a, b, c, &x->with, d, err);
    lb_plan p;
    lb_mat turned_c;
    lb_plan_of(u, &p);
    if (!wide_only && lb_small_fits(tiles, &p, a, d)) return lb_small(tiles, &p, a, b, c, d, err);
    lb_job job = {.p = &p, .tiles = tiles, .wide_only = wide_only, .half_x = (126 - p.frac_bits) / 2};
    job.by_sign = tiles->strip_by_sign && p.few_bits && !wide_only;
    job.chunk = chunk_of(u->k, job.by_sign);
    job.k_padded = ceil_div(a->cols, u->k) * u->k;
    orient(&job, &p, a, b, c, &turned_c, d);
    orient_scales(&job, &x->with);
    if (job.k_padded > SIZE_MAX / 2 / PACKED / job.d.rows) return lb_fail(err, LB_E_MEMORY, u->name, "operands too large");
    const int threads = threads_of(&job, options->threads);
    job.block_rows = block_rows_of(&job, threads);

    arena count = {0};
    carve_shared(&count, &job);
    const size_t shared = count.used;
    carve_scratch(&count, &job);
    const size_t scratch = count.used - shared, size = shared + scratch * (size_t)threads;
    _Alignas(64) char stack[ON_STACK];
    lb_workspace own = {0}, *workspace = options->workspace ? options->workspace : &own;
    arena memory = {size <= sizeof stack ? stack : lb_workspace_reserve(workspace, size), 0};
    if (!memory.base) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu bytes", size);
    carve_shared(&memory, &job);
    const lb_status s = run(&job, memory, threads, scratch, err);
    lb_workspace_release(&own);
    return s;
}
