/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A tensor-core kernel's three index maps, thread by thread: what a block of threads stages, what each lane gathers for an m16n8k16, and
 * what it stores. Each bent index must show in the output. source: seed-contract; lane layout: ptx-isa, mma.m16n8k16 */
#include "test.h"

#include "m16_sim.h"

#include "lastbit/run.h"

enum { N = 70, K = 384, LD = 72, MOST_ROWS = 16, THREADS = 128, WARPS = THREADS / 32, STAGES = 4, STAGE_K = 64, MOST_WIDTH = 64 };
enum { SENTINEL = 0x5a5a, POISON_BYTE = 0xff }; /* two bytes of which are a NaN */

static struct operands { uint16_t a[MOST_ROWS][K], b[N][K]; } operands;

static int draw_operands(void **state) {
    (void)state;
    uint64_t generator = UINT64_C(0x0927167C2026);
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) operands.b[n][k] = to_bf16(draw_bf16(&generator));
    for (int m = 0; m < MOST_ROWS; m++)
        for (int k = 0; k < K; k++) operands.a[m][k] = to_bf16(draw_bf16(&generator));
    return 0;
}

/* The index terms of a kernel. */
typedef struct index_map {
    int stage_shift;  /* a thread stages row tid >> stage_shift … */
    int k_pair;       /* a lane's second pair of K lies this far after its first */
    int a_row_pair;   /* its second row of A lies this far below its first */
    bool b_by_quad;   /* its column of B is its place in the group of four, not the group */
    int store_stride; /* columns of C between the lanes of a group */
    bool wrap;        /* columns past the end are stored at the row's beginning, not masked */
} index_map;

static const index_map right = {.stage_shift = 3, .k_pair = 8, .a_row_pair = 8, .store_stride = 2};

/* One block of threads: `width` columns of the output from column n0. */
typedef struct block {
    const index_map *map;
    int m, n0, width;
    uint16_t a[STAGES][MOST_ROWS][STAGE_K], b[STAGES][MOST_WIDTH][STAGE_K]; /* staged; poison where nothing was */
    float c[WARPS][MOST_WIDTH / WARPS / 8][32][4];                          /* each lane's accumulators */
} block;

static uint16_t a_at(const block *t, int row, int k) {
    return row < t->m && k < K ? operands.a[row][k] : 0;
}

static uint16_t b_at(const block *t, int column, int k) {
    return t->n0 + column < N && k < K ? operands.b[t->n0 + column][k] : 0;
}

/* Each thread copies eight K of one row of A, and of a row of B in every sixteen; outside the operands, zeros. */
static void stage(block *t, int k0) {
    const int slot = k0 / STAGE_K % STAGES;
    for (int tid = 0; tid < THREADS; tid++) {
        const int row = tid >> t->map->stage_shift, first = (tid & 7) * 8;
        if (row >= MOST_ROWS) continue;
        for (int k = first; k < first + 8; k++) {
            t->a[slot][row][k] = a_at(t, row, k0 + k);
            for (int column = row; column < t->width; column += 16) t->b[slot][column][k] = b_at(t, column, k0 + k);
        }
    }
}

/* What the hardware makes of a warp's registers: lane 4 g + q holds rows g, g + 8 of A and column g of B at K 2q, 2q + 1, 2q + 8, 2q + 9,
 * and columns 2q, 2q + 1 of those rows of C. */
static void mma(uint16_t (*a)[8], uint16_t (*b)[4], float (*c)[4]) {
    float rows[16][16], columns[8][16];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            const int g = lane >> 2, k = (lane & 3) * 2 + (i & 1);
            rows[g + (i & 2 ? 8 : 0)][k + (i & 4 ? 8 : 0)] = bf16_float(a[lane][i]);
            if (i < 4) columns[g][k + (i & 2 ? 8 : 0)] = bf16_float(b[lane][i]);
        }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) c[lane][i] += mma_order(rows[(lane >> 2) + (i & 2 ? 8 : 0)], columns[(lane & 3) * 2 + (i & 1)], 16);
}

static void gather_and_multiply(block *t, int slot, int warp, int tile, int k0) {
    const index_map *x = t->map;
    const int column = warp * t->width / WARPS + tile * 8;
    uint16_t a[32][8], b[32][4];
    for (int lane = 0; lane < 32; lane++) {
        const int group = lane >> 2, quad = lane & 3;
        for (int i = 0; i < 8; i++) {
            const int k = k0 + quad * 2 + (i & 1);
            a[lane][i] = t->a[slot][group + (i & 2 ? x->a_row_pair : 0)][k + (i & 4 ? x->k_pair : 0)];
            if (i < 4) b[lane][i] = t->b[slot][column + (x->b_by_quad ? quad : group)][k + (i & 2 ? x->k_pair : 0)];
        }
    }
    mma(a, b, t->c[warp][tile]);
}

static void store(const block *t, int warp, int tile, uint16_t (*out)[LD]) {
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const int row = (lane >> 2) + (i & 2 ? 8 : 0);
            int column = t->n0 + warp * t->width / WARPS + tile * 8 + (lane & 3) * t->map->store_stride + (i & 1);
            if (t->map->wrap) column %= N;
            if (row < t->m && column < N) out[row][column] = to_bf16(t->c[warp][tile][lane][i]);
        }
}

static void run_kernel(const index_map *map, int m, int width, uint16_t (*out)[LD]) {
    static block t;
    for (int i = 0; i < MOST_ROWS * LD; i++) out[i / LD][i % LD] = SENTINEL;
    for (int n0 = 0; n0 < N; n0 += width) {
        t = (block){.map = map, .m = m, .n0 = n0, .width = width};
        memset(t.a, POISON_BYTE, sizeof t.a);
        memset(t.b, POISON_BYTE, sizeof t.b);
        for (int k0 = 0; k0 < K; k0 += STAGE_K) {
            stage(&t, k0);
            for (int warp = 0; warp < WARPS; warp++)
                for (int tile = 0; tile < width / WARPS / 8; tile++)
                    for (int k = 0; k < STAGE_K; k += 16) gather_and_multiply(&t, k0 / STAGE_K % STAGES, warp, tile, k);
        }
        for (int warp = 0; warp < WARPS; warp++)
            for (int tile = 0; tile < width / WARPS / 8; tile++) store(&t, warp, tile, out);
    }
}

static void scalar_reference(int m, uint16_t (*out)[N]) {
    float a[K], b[K];
    for (int row = 0; row < m; row++)
        for (int n = 0; n < N; n++) {
            for (int k = 0; k < K; k++) {
                a[k] = bf16_float(operands.a[row][k]);
                b[k] = bf16_float(operands.b[n][k]);
            }
            out[row][n] = to_bf16(gemv_order(a, b, K, 8));
        }
}

static lb_record *judge(uint16_t (*out)[LD], int m) {
    static uint16_t reference[MOST_ROWS][N];
    scalar_reference(m, reference);
    lb_block_options o = {.reference = lb_mat_of(lb_format_row(LB_BF16), reference, (size_t)m, N),
                          .actual = out,
                          .actual_bytes = (size_t)m * LD * sizeof out[0][0],
                          .ld = LD,
                          .has_sentinel = true,
                          .sentinel = SENTINEL,
                          .k = K};
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_contract_find("m16-tc", &o.contract, NULL), LB_OK);
    if (lb_grade_block(&o, &r, &err) != LB_OK) fail_msg("%s", err.message);
    return r;
}

static const struct {
    int line, m, width;
} shapes[] = {{__LINE__, 5, 32}, {__LINE__, 8, 32}, {__LINE__, 13, 32}, {__LINE__, 16, 32},
              {__LINE__, 5, 64}, {__LINE__, 8, 64}, {__LINE__, 13, 64}, {__LINE__, 16, 64}};

static void the_fragment_and_index_maps_reproduce_the_scalar_gemv(void **state) {
    (void)state;
    uint16_t out[MOST_ROWS][LD];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        run_kernel(&right, shapes[i].m, shapes[i].width, out);
        lb_record *r = judge(out, shapes[i].m);
        if (r->verdict != LB_PASS) fail_msg("row at %s:%d: %s", __FILE__, shapes[i].line, r->reason);
        assert_true(r->metrics.rms > 1 && r->counts.compared == (uint64_t)shapes[i].m * N);
        lb_record_close(r);
    }
}

static void every_corrupted_index_term_is_caught(void **state) {
    (void)state;
    static const struct {
        const char *name;
        index_map map;
    } bent[] = {{"second pair of K at + 4", {3, 4, 8, false, 2, false}},  {"column of B by quad", {3, 8, 8, true, 2, false}},
                {"columns stored one apart", {3, 8, 8, false, 1, false}}, {"staged row is tid >> 2", {2, 8, 8, false, 2, false}},
                {"second row of A at + 4", {3, 8, 4, false, 2, false}},   {"tail stored at the row's start", {3, 8, 8, false, 2, true}}};
    uint16_t good[MOST_ROWS][LD], out[MOST_ROWS][LD];
    for (int width = 32; width <= 64; width += 32) {
        run_kernel(&right, MOST_ROWS, width, good);
        for (size_t i = 0; i < sizeof bent / sizeof bent[0]; i++) {
            run_kernel(&bent[i].map, MOST_ROWS, width, out);
            if (memcmp(out, good, sizeof out) == 0) fail_msg("%s, %d wide: changes nothing", bent[i].name, width);
            lb_record *r = judge(out, MOST_ROWS);
            if (r->verdict != LB_FAIL || !r->counts.wrong) fail_msg("%s, %d wide: passes", bent[i].name, width);
            lb_record_close(r);
        }
    }
}

static void the_kernel_writes_nothing_outside_the_used_extent(void **state) {
    (void)state;
    uint16_t out[MOST_ROWS][LD];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        run_kernel(&right, shapes[i].m, shapes[i].width, out);
        for (int row = 0; row < MOST_ROWS; row++)
            for (int column = 0; column < LD; column++)
                if ((out[row][column] != SENTINEL) != (row < shapes[i].m && column < N))
                    fail_msg("row at %s:%d: element %d, %d", __FILE__, shapes[i].line, row, column);
    }
}

static void a_partial_tail_defect_is_refused_by_the_metric_on_both_widths(void **state) {
    (void)state;
    index_map wrapped = right;
    wrapped.wrap = true;
    uint16_t out[MOST_ROWS][LD], dense[MOST_ROWS][N], reference[MOST_ROWS][N];
    scalar_reference(MOST_ROWS, reference);
    for (int width = 32; width <= 64; width += 32) {
        run_kernel(&wrapped, MOST_ROWS, width, out);
        for (int row = 0; row < MOST_ROWS; row++) memcpy(dense[row], out[row], sizeof dense[row]);
        lb_m16_diff d;
        assert_int_equal(lb_m16_compare_block(dense, sizeof dense, reference, sizeof reference, N, K, &d, NULL), LB_OK);
        assert_true(d.over_count > 0 && d.max_abs > d.rms && d.rel_rms > 0.1); /* errors as large as the output itself */
        for (size_t i = 0; i < d.over_count; i++) assert_true(d.over_budget[i].col < (size_t)width - N % width);
        lb_m16_diff_free(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fragment_and_index_maps_reproduce_the_scalar_gemv),
        cmocka_unit_test(every_corrupted_index_term_is_caught),
        cmocka_unit_test(the_kernel_writes_nothing_outside_the_used_extent),
        cmocka_unit_test(a_partial_tail_defect_is_refused_by_the_metric_on_both_widths),
    };
    return cmocka_run_group_tests(tests, draw_operands, NULL);
}
