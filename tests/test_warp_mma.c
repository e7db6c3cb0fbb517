/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A warp's registers in, its registers out: against lb_unit_mma on tiles that the test takes from the registers itself; MFMA layouts
 * against AMD's rule, written from an element to its lane and register as AMD's calculator does. */
#include "fragments_help.h"

#include <stdlib.h>

/* ---- MFMA: AMD's rule ------------------------------------------------------------------------------------------------------ */

/* A [i][k] of block b (B: [k][i]) lies in one lane; so many consecutive k share it. */
static lb_slot amd_input(int height, int k_all, int blocks, int bits, int i, int k, int b) {
    const int shared = k_all / (64 / (height * blocks));
    const int element = k % shared, each = bits < 32 ? 32 / bits : 1;
    return (lb_slot){b * height + k / shared * height * blocks + i, bits == 64 ? element * 2 : element / each, element % each};
}

/* D [i][j] of block b: groups of four rows (f64: one) go to the registers, as many groups side by side as 64 lanes hold. */
static lb_slot amd_output(int m, int n, int bits, int i, int j, int b) {
    const int group = bits == 64 ? 1 : 4, groups_wide = 64 / n, area = n * m / group;
    const int blocks_wide = (64 + area - 1) / area;
    const int element = b * (m * n / 64) + i / (group * groups_wide) * group + i % group;
    const int lane = b % blocks_wide * n + i / group % groups_wide * blocks_wide * n + j;
    return (lb_slot){lane, bits == 64 ? 2 * element : element, 0};
}

static void expect_slot(int line, const lb_fragment *f, lb_place place, lb_slot want) {
    lb_slot got = {-1, -1, -1};
    if (!lb_fragment_slot(f, place, &got) || got.lane != want.lane || got.reg != want.reg || got.element != want.element)
        fail_msg("row at %s:%d: %s %d [%d,%d]: got lane %d v%d.%d, want lane %d v%d.%d", __FILE__, line,
                 lb_fragment_operand_name(f->operand), place.matrix, place.row, place.col, got.lane, got.reg, got.element, want.lane,
                 want.reg, want.element);
}

static void mfma_layouts_are_those_of_amds_rule(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit;
        lb_format_id in, out;
        int blocks, a_registers, d_registers; /* as the ISA's tables have them */
    } rows[] = {
        {__LINE__, "gfx908/mfma.m32n32k1.f32.f32.f32.f32", LB_F32, LB_F32, 2, 1, 32},
        {__LINE__, "gfx908/mfma.m16n16k1.f32.f32.f32.f32", LB_F32, LB_F32, 4, 1, 16},
        {__LINE__, "gfx908/mfma.m4n4k1.f32.f32.f32.f32", LB_F32, LB_F32, 16, 1, 4},
        {__LINE__, "gfx908/mfma.m32n32k2.f32.f32.f32.f32", LB_F32, LB_F32, 1, 1, 16},
        {__LINE__, "gfx908/mfma.m16n16k4.f32.f32.f32.f32", LB_F32, LB_F32, 1, 1, 4},
        {__LINE__, "gfx908/mfma.m32n32k4.f32.f16.f16.f32", LB_F16, LB_F32, 2, 2, 32},
        {__LINE__, "gfx90a/mfma.m16n16k4.f32.f16.f16.f32", LB_F16, LB_F32, 4, 2, 16},
        {__LINE__, "gfx90a/mfma.m4n4k4.f32.f16.f16.f32", LB_F16, LB_F32, 16, 2, 4},
        {__LINE__, "gfx942/mfma.m32n32k8.f32.f16.f16.f32", LB_F16, LB_F32, 1, 2, 16},
        {__LINE__, "gfx942/mfma.m16n16k16.f32.f16.f16.f32", LB_F16, LB_F32, 1, 2, 4},
        {__LINE__, "gfx908/mfma.m32n32k2.f32.bf16.bf16.f32", LB_BF16, LB_F32, 2, 1, 32},
        {__LINE__, "gfx908/mfma.m16n16k2.f32.bf16.bf16.f32", LB_BF16, LB_F32, 4, 1, 16},
        {__LINE__, "gfx908/mfma.m4n4k2.f32.bf16.bf16.f32", LB_BF16, LB_F32, 16, 1, 4},
        {__LINE__, "gfx90a/mfma.m32n32k4.f32.bf16.bf16.f32", LB_BF16, LB_F32, 1, 1, 16},
        {__LINE__, "gfx90a/mfma.m32n32k4.f32.bf16.bf16.f32.1k", LB_BF16, LB_F32, 2, 2, 32},
        {__LINE__, "gfx942/mfma.m32n32k4.f32.bf16.bf16.f32", LB_BF16, LB_F32, 2, 2, 32},
        {__LINE__, "gfx908/mfma.m16n16k8.f32.bf16.bf16.f32", LB_BF16, LB_F32, 1, 1, 4},
        {__LINE__, "gfx908/mfma.m32n32k4.i32.i8.i8.i32", LB_I8, LB_F32, 2, 1, 32},
        {__LINE__, "gfx908/mfma.m16n16k4.i32.i8.i8.i32", LB_I8, LB_F32, 4, 1, 16},
        {__LINE__, "gfx908/mfma.m4n4k4.i32.i8.i8.i32", LB_I8, LB_F32, 16, 1, 4},
        {__LINE__, "gfx908/mfma.m32n32k8.i32.i8.i8.i32", LB_I8, LB_F32, 1, 1, 16},
        {__LINE__, "gfx908/mfma.m16n16k16.i32.i8.i8.i32", LB_I8, LB_F32, 1, 1, 4},
        {__LINE__, "gfx942/mfma.m32n32k16.f32.e4m3fnuz.e5m2fnuz.f32", LB_E4M3FNUZ, LB_F32, 1, 2, 16},
        {__LINE__, "gfx942/mfma.m16n16k32.f32.e4m3fnuz.e4m3fnuz.f32", LB_E4M3FNUZ, LB_F32, 1, 2, 4},
        {__LINE__, "gfx942/mfma.m32n32k4.f32.tf32.tf32.f32", LB_TF32, LB_F32, 1, 2, 16},
        {__LINE__, "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32", LB_TF32, LB_F32, 1, 2, 4},
        {__LINE__, "gfx90a/mfma.m16n16k4.f64.f64.f64.f64", LB_F64, LB_F64, 1, 2, 8},
        {__LINE__, "gfx90a/mfma.m4n4k4.f64.f64.f64.f64", LB_F64, LB_F64, 4, 2, 2},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const lb_unit u = unit_of(rows[row].unit, rows[row].in, rows[row].out);
        const int line = rows[row].line, blocks = rows[row].blocks, bits = lb_format_row(u.a)->bits, m = u.m;
        const lb_fragment a = layout_of(line, &u, LB_FRAGMENT_A, NULL), b = layout_of(line, &u, LB_FRAGMENT_B, NULL);
        const lb_fragment c = layout_of(line, &u, LB_FRAGMENT_C, NULL);
        EXPECT_CODE(line, a.lanes, 64);
        EXPECT_CODE(line, a.matrices, blocks);
        EXPECT_CODE(line, a.registers, rows[row].a_registers);
        EXPECT_CODE(line, b.registers, rows[row].a_registers);
        EXPECT_CODE(line, c.registers, rows[row].d_registers);
        for (int block = 0; block < blocks; block++) {
            for (int i = 0; i < m; i++) {
                for (int k = 0; k < u.k; k++) {
                    const lb_slot want = amd_input(m, u.k, blocks, bits, i, k, block);
                    expect_slot(line, &a, (lb_place){block, i, k}, want);
                    expect_slot(line, &b, (lb_place){block, k, i}, want);
                }
                for (int j = 0; j < m; j++) expect_slot(line, &c, (lb_place){block, i, j}, amd_output(m, m, c.bits, i, j, block));
            }
        }
    }
}

/* ---- a warp ---------------------------------------------------------------------------------------------------------------- */

enum { MAX_WORDS = 128 * 128, MAX_CODES = 64 * 256 };

/* A small code of a format: no NaN or Inf, so that sums show which products were made. */
static uint64_t small_code(const lb_format *f, uint64_t random) {
    const double value = ((double)(random % 31) - 15) / 8;
    return lb_from_double(f, value);
}

/* Registers of an operand, drawn; what belongs to no element is noise. */
static void draw_registers(const lb_fragment *f, uint32_t stream, uint32_t *regs) {
    const lb_format *format = f->format;
    for (int w = 0; w < f->lanes * f->registers; w++) {
        const uint64_t random = lb_random_u64(11, stream, (uint64_t)w);
        if (f->bits == 64) {
            if (w % 2) continue;
            const uint64_t code = small_code(format, random);
            regs[w] = (uint32_t)code;
            regs[w + 1] = (uint32_t)(code >> 32);
            continue;
        }
        regs[w] = f->shift ? (uint32_t)random : 0;
        for (int e = 0; e < 32 / f->bits; e++) {
            const uint64_t code = small_code(format, random >> (2 * e) & 0xffff);
            regs[w] = f->shift ? regs[w] : regs[w] | (uint32_t)(code << (e * f->bits));
        }
    }
}

/* The tile of a matrix, slot by slot: independent of lb_fragment_gather. */
static void take_tile(const lb_fragment *f, const uint32_t *regs, int matrix, uint64_t *codes, lb_mat *out) {
    *out = lb_mat_of(f->format, codes, (size_t)f->rows, (size_t)f->cols);
    for (int lane = 0; lane < f->lanes; lane++) {
        for (int i = 0; i < f->items; i++) {
            const uint32_t *words = regs + lane * f->registers;
            lb_slot slot = {lane, f->bits == 64 ? 2 * i : i * f->bits / 32, f->bits == 64 ? 0 : i % (32 / f->bits)};
            lb_place place;
            if (!lb_fragment_place(f, slot, &place) || place.matrix != matrix) continue;
            uint64_t code = f->bits == 64 ? words[2 * i] | (uint64_t)words[2 * i + 1] << 32 : words[slot.reg] >> (slot.element * f->bits);
            code >>= f->shift;
            if (f->format->bits < 64) code &= (UINT64_C(1) << f->format->bits) - 1;
            lb_store_code(lb_mat_at(out, (size_t)place.row, (size_t)place.col), f->format->bytes, code);
        }
    }
}

/* The unit on tiles that the test took from the registers, and D's registers filled by lb_fragment_slot. */
static void expect_d(const lb_unit *u, const lb_fragment layouts[4], const uint32_t *a, const uint32_t *b, const uint32_t *c,
                     const uint32_t *d) {
    static uint64_t codes[4][MAX_CODES];
    for (int matrix = 0; matrix < layouts[3].matrices; matrix++) {
        lb_mat tiles[4];
        lb_error err = {0};
        take_tile(&layouts[0], a, matrix, codes[0], &tiles[0]);
        take_tile(&layouts[1], b, matrix, codes[1], &tiles[1]);
        if (c) take_tile(&layouts[2], c, matrix, codes[2], &tiles[2]);
        tiles[3] = lb_mat_of(layouts[3].format, codes[3], (size_t)layouts[3].rows, (size_t)layouts[3].cols);
        if (lb_unit_mma(u, &tiles[0], &tiles[1], c ? &tiles[2] : NULL, &tiles[3], &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
        bool differs = false;
        for (int row = 0; row < layouts[3].rows; row++) {
            for (int col = 0; col < layouts[3].cols; col++) {
                const uint64_t want = lb_mat_code(&tiles[3], (size_t)row, (size_t)col);
                lb_slot at;
                assert_true(lb_fragment_slot(&layouts[3], (lb_place){matrix, row, col}, &at));
                const uint32_t *word = d + at.lane * layouts[3].registers + at.reg;
                uint64_t got = layouts[3].bits == 64 ? word[0] | (uint64_t)word[1] << 32 : word[0] >> (at.element * layouts[3].bits);
                if (layouts[3].bits == 16) got &= 0xffff;
                if (got != want)
                    fail_msg("%s: %d [%d,%d]: got 0x%llx, want 0x%llx", u->name, matrix, row, col, (unsigned long long)got,
                             (unsigned long long)want);
                differs = differs || want != lb_mat_code(&tiles[3], 0, 0);
            }
        }
        if (!differs) fail_msg("%s: every element is the same, which shows nothing", u->name);
    }
}

static void a_warp_equals_the_unit_on_the_tiles_in_its_registers(void **state) {
    (void)state;
    static uint32_t a[MAX_WORDS], b[MAX_WORDS], c[MAX_WORDS], d[MAX_WORDS];
    size_t ran = 0;
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        lb_fragment layouts[4], beside;
        bool known = u->path != LB_PATH_NONE;
        for (int operand = 0; known && operand < 4; operand++)
            known = lb_fragment_of(u, (lb_fragment_operand)operand, NULL, &layouts[operand], NULL) == LB_OK;
        for (int operand = LB_FRAGMENT_METADATA; operand < LB_FRAGMENT_OPERAND_COUNT; operand++)
            known = known && lb_fragment_of(u, (lb_fragment_operand)operand, NULL, &beside, NULL) == LB_E_ARG;
        if (!known) continue;
        draw_registers(&layouts[0], 1, a);
        draw_registers(&layouts[1], 2, b);
        draw_registers(&layouts[2], 3, c);
        for (int with_c = 0; with_c < 2; with_c++) {
            lb_error err = {0};
            memset(d, 0xa5, sizeof d);
            if (lb_warp_mma(u, a, b, with_c ? c : NULL, d, NULL, &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
            expect_d(u, layouts, a, b, with_c ? c : NULL, d);
        }
        const size_t words = (size_t)(layouts[3].lanes * layouts[3].registers);
        assert_int_equal(d[words], 0xa5a5a5a5);             /* nothing beyond */
        if (layouts[2].registers == layouts[3].registers) { /* d may be c */
            assert_int_equal(lb_warp_mma(u, a, b, c, c, NULL, NULL), LB_OK);
            assert_memory_equal(c, d, words * sizeof *d);
        }
        ran++;
    }
    assert_true(ran > 50);
}

/* m16n8k16, f16 to f32, by hand: A = 1 at [9,5], B = 2 at [5,3]: D [9,3] alone is 2.
 * A [9,5]: groupID 1, row + 8, column 5 = 2*2 + 1: lane 6, register 1, high half. B [5,3]: row 2*2 + 1, column 3: lane 14, register 0,
 * high half. D [9,3]: groupID 1, row + 8, column 2*1 + 1: lane 5, register 3. */
static void one_product_goes_where_ptx_says(void **state) {
    (void)state;
    uint32_t a[32][4] = {0}, b[32][2] = {0}, d[32][4];
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &u, NULL), LB_OK);
    a[6][1] = 0x3c000000;
    b[14][0] = 0x40000000;
    assert_int_equal(lb_warp_mma(&u, a[0], b[0], NULL, d[0], NULL, NULL), LB_OK);
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < 4; r++) EXPECT_CODE(__LINE__, d[lane][r], lane == 5 && r == 3 ? 0x40000000 : 0);
}

/* wgmma reads B, and maybe A, from shared memory: a matrix in place of registers. */
static void a_warpgroup_takes_b_from_a_matrix(void **state) {
    (void)state;
    static uint32_t a_regs[128][4], d[128][8], again[128][8];
    static uint16_t a_codes[64][16], b_codes[16][16];
    static uint32_t want[64][16];
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_90/wgmma.m64n16k16.f32.f16.f16", &u, NULL), LB_OK);
    const lb_format *f16 = lb_format_row(LB_F16), *f32 = lb_format_row(LB_F32);
    for (int r = 0; r < 64; r++)
        for (int k = 0; k < 16; k++) a_codes[r][k] = (uint16_t)small_code(f16, lb_random_u64(5, 0, (uint64_t)(r * 16 + k)));
    for (int k = 0; k < 16; k++)
        for (int c = 0; c < 16; c++) b_codes[k][c] = (uint16_t)small_code(f16, lb_random_u64(5, 1, (uint64_t)(k * 16 + c)));
    const lb_mat a = lb_mat_of(f16, a_codes, 64, 16), b = lb_mat_of(f16, b_codes, 16, 16);
    lb_mat tile = lb_mat_of(f32, want, 64, 16);
    assert_int_equal(lb_unit_mma(&u, &a, &b, NULL, &tile, NULL), LB_OK);
    const lb_fragment layout = layout_of(__LINE__, &u, LB_FRAGMENT_A, NULL);
    assert_int_equal(lb_fragment_scatter(&layout, 0, &a, a_regs[0], NULL), LB_OK);
    assert_int_equal(lb_warp_mma(&u, a_regs[0], NULL, NULL, d[0], &(lb_warp_options){.b = &b}, NULL), LB_OK);
    assert_int_equal(lb_warp_mma(&u, NULL, NULL, NULL, again[0], &(lb_warp_options){.a = &a, .b = &b}, NULL), LB_OK);
    assert_memory_equal(d, again, sizeof d);
    for (int thread = 0; thread < 128; thread++) {
        for (int i = 0; i < 8; i++) {
            const int row = thread / 32 * 16 + thread % 32 / 4 + (i & 2 ? 8 : 0), col = i / 4 * 8 + thread % 4 * 2 + (i & 1);
            EXPECT_CODE(__LINE__, d[thread][i], want[row][col]);
        }
    }
}

static void gather_and_scatter_are_inverse_and_leave_other_bits(void **state) {
    (void)state;
    static const struct {
        const char *unit;
        lb_format_id in;
        lb_fragment_operand operand;
        uint32_t touched; /* bits of a register that elements have, where each lane holds some */
    } rows[] = {{"sm_120/mma.m16n8k32.f32.e2m1.e2m1.f32", LB_E2M1, LB_FRAGMENT_A, 0xffffffff}, /* with the zeros around fp4 */
                {"sm_80/mma.m16n8k256.i32.b1.b1.i32.xor", LB_B1, LB_FRAGMENT_B, 0xffffffff},
                {"sm_70/mma.m8n8k4.f32.f16.f16.f32", LB_F16, LB_FRAGMENT_A, 0xffffffff},
                {"sm_80/mma.m16n8k64.i32.i8.i8.i32.sp", LB_I8, LB_FRAGMENT_METADATA, 0xffffffff}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_unit u = unit_of(rows[i].unit, rows[i].in, LB_F32);
        const lb_fragment f = layout_of(__LINE__, &u, rows[i].operand, NULL);
        static uint64_t codes[MAX_CODES], back[MAX_CODES];
        static uint32_t regs[MAX_WORDS];
        memset(regs, 0xff, sizeof regs);
        for (int matrix = 0; matrix < f.matrices; matrix++) {
            lb_mat m = lb_mat_of(f.format, codes, (size_t)f.rows, (size_t)f.cols), n = lb_mat_of(f.format, back, m.rows, m.cols);
            const int bits = f.operand == LB_FRAGMENT_METADATA ? 2 : f.format->bits;
            for (size_t r = 0; r < m.rows; r++)
                for (size_t c = 0; c < m.cols; c++)
                    lb_store_code(lb_mat_at(&m, r, c), f.format->bytes, lb_random_u64(3, 0, r * 1000 + c) & ((UINT64_C(1) << bits) - 1));
            assert_int_equal(lb_fragment_scatter(&f, matrix, &m, regs, NULL), LB_OK);
            assert_int_equal(lb_fragment_gather(&f, regs, matrix, &n, NULL), LB_OK);
            for (size_t r = 0; r < m.rows; r++)
                for (size_t c = 0; c < m.cols; c++) assert_int_equal(lb_mat_code(&m, r, c), lb_mat_code(&n, r, c));
        }
        for (int w = 0; f.shift && w < f.lanes * f.registers; w++) assert_int_equal(regs[w] & 0xc3c3c3c3, 0);
        assert_int_equal(regs[f.lanes * f.registers], 0xffffffff);
    }
    /* metadata of a selected lane: the other lanes keep what they had */
    const lb_unit u = unit_of("sm_80/mma.m16n8k8.f32.tf32.tf32.f32.sp", LB_TF32, LB_F32);
    const lb_fragment f = layout_of(__LINE__, &u, LB_FRAGMENT_METADATA, &(lb_fragment_selectors){.sparsity = 3});
    uint8_t places[16][4];
    uint32_t regs[32];
    memset(regs, 0x77, sizeof regs);
    for (int r = 0; r < 16; r++)
        for (int g = 0; g < 4; g++) places[r][g] = (uint8_t)((r + g) & 1);
    const lb_mat m = lb_mat_of(lb_format_row(LB_U8), places, 16, 4);
    assert_int_equal(lb_fragment_scatter(&f, 0, &m, regs, NULL), LB_OK);
    for (int lane = 0; lane < 32; lane++) { /* rows g and g + 8 are of one parity; place 0 is 0100, place 1 is 1110 */
        const uint32_t want = lane % 4 != 3 ? 0x77777777 : lane / 4 % 2 ? 0x4e4e4e4e : 0xe4e4e4e4;
        EXPECT_CODE(__LINE__, regs[lane], want);
    }
}

static void what_is_wrong_is_said_and_nothing_is_written(void **state) {
    (void)state;
    uint32_t a[32 * 8] = {0}, b[32 * 8] = {0}, d[32 * 8];
    lb_unit u, open, sparse = unit_of("sm_80/mma.m16n8k8.f32.tf32.tf32.f32.sp", LB_TF32, LB_F32);
    lb_error err = {0};
    memset(d, 0xa5, sizeof d);
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &u, NULL), LB_OK);
    assert_int_equal(lb_unit_find("sm_80/mma.m8n8k4.f32.f16.f16.f32", &open, NULL), LB_OK);
    const lb_mat tile = lb_mat_of(lb_format_row(LB_F16), a, 16, 16), wrong = lb_mat_of(lb_format_row(LB_BF16), a, 16, 16);
    assert_int_equal(lb_warp_mma(&u, NULL, b, NULL, d, NULL, &err), LB_E_ARG);
    assert_string_equal(err.message, "operand a has no registers");
    assert_int_equal(lb_warp_mma(&u, a, NULL, NULL, d, NULL, &err), LB_E_ARG);
    assert_int_equal(lb_warp_mma(&u, a, b, NULL, d, &(lb_warp_options){.a = &tile}, &err), LB_E_ARG);
    assert_string_equal(err.message, "operand a is given twice: registers and a matrix");
    assert_int_equal(lb_warp_mma(&u, NULL, b, NULL, d, &(lb_warp_options){.a = &wrong}, &err), LB_E_FORMAT);
    assert_int_equal(lb_warp_mma(&open, a, b, NULL, d, NULL, &err), LB_E_UNAVAILABLE);
    lb_unit tcgen05;
    assert_int_equal(lb_unit_find("sm_100/tcgen05.m64n8k16.f32.f16.f16", &tcgen05, NULL), LB_OK);
    assert_int_equal(lb_warp_mma(&tcgen05, a, b, NULL, d, NULL, &err), LB_E_UNAVAILABLE);
    assert_string_equal(err.message, "operand d: C and D lie in tensor memory");
    for (size_t i = 0; i < sizeof d / sizeof d[0]; i++) assert_int_equal(d[i], 0xa5a5a5a5);

    const lb_fragment f = layout_of(__LINE__, &u, LB_FRAGMENT_A, NULL), meta = layout_of(__LINE__, &sparse, LB_FRAGMENT_METADATA, NULL);
    lb_mat out = lb_mat_of(lb_format_row(LB_F16), b, 16, 8), places = lb_mat_of(lb_format_row(LB_U8), b, 16, 4);
    assert_int_equal(lb_fragment_gather(&f, a, 0, &out, &err), LB_E_SHAPE);
    assert_string_equal(err.message, "it is 16x16, not 16x8");
    assert_int_equal(lb_fragment_scatter(&f, 1, &tile, d, &err), LB_E_ARG);
    assert_int_equal(lb_fragment_scatter(&f, 0, &wrong, d, &err), LB_E_FORMAT);
    assert_int_equal(lb_fragment_gather(&meta, a, 0, &places, &err), LB_E_FORMAT); /* zeros are none of the two codes */
    assert_string_equal(err.message, "bits 0 to 3 of lane 0 are 0x0; metadata of tf32 is 0x4 or 0xe");
    memset(b, 2, sizeof b);
    assert_int_equal(lb_fragment_scatter(&meta, 0, &places, d, &err), LB_E_FORMAT);
    assert_string_equal(err.message, "[0,0] is 2, which is no place");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mfma_layouts_are_those_of_amds_rule),
        cmocka_unit_test(a_warp_equals_the_unit_on_the_tiles_in_its_registers),
        cmocka_unit_test(one_product_goes_where_ptx_says),
        cmocka_unit_test(a_warpgroup_takes_b_from_a_matrix),
        cmocka_unit_test(gather_and_scatter_are_inverse_and_leave_other_bits),
        cmocka_unit_test(what_is_wrong_is_said_and_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
