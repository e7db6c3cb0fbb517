/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every kernel against the integer engine, bit for bit. In the environment, LB_FULL=1: a hundred times as much; LB_ONLY=PATTERN: the tests
 * of such names. */
#include "test.h"

#include "kernel_cases.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { SEED = 20261130, LB_MAX_TEST_K = 64 };

/* Sanitizers make the engine, which everything is compared with, some twenty times slower. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined(SANITIZED)
#define SANITIZED 0
#endif

static bool is_full(void) {
    const char *full = getenv("LB_FULL");
    return full && strcmp(full, "1") == 0;
}

/* Whether an earlier row computes the same from the same codes. */
static bool seen_before(size_t row) {
    const lb_unit *u = lb_unit_row(row);
    for (size_t i = 0; i < row; i++) {
        const lb_unit *v = lb_unit_row(i);
        if (v->a == u->a && v->b == u->b && v->path == u->path && v->terms == u->terms && v->frac_bits == u->frac_bits &&
            v->floor_exp == u->floor_exp && v->round == u->round && v->k == u->k && v->scale_block == u->scale_block &&
            v->group == u->group && v->scale == u->scale && v->sparse_group == u->sparse_group)
            return true;
    }
    return false;
}

/* Rows that nobody can run have nothing to compare. */
static bool runs(const lb_unit *u) {
    return u->path != LB_PATH_NONE;
}

static bool chosen(const lb_unit *u) {
    const char *part = getenv("LB_UNITS");
    return !part || strstr(u->name, part);
}

/* No unit that runs is left to the engine. */
static void every_unit_that_runs_has_a_kernel(void **state) {
    (void)state;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        lb_kernel_text kernel;
        lb_error err;
        bool any = !runs(u);
        product_case p = case_new(u, CASE_NORMAL, SEED, 1, 1, runs(u) ? u->k : 0, 0);
        const lb_unit_operands with = case_with(&p);
        for (size_t i = 0; !any && lb_kernel_row(i, &kernel) && strcmp(kernel.name, "engine") != 0; i++)
            any = lb_gemm_with(u, &p.a, &p.b, NULL, &with, &p.c, &(lb_gemm_options){.kernel = kernel.name}, &err) == LB_OK;
        if (!any) fail_msg("%s: the engine alone", u->name);
        case_free(&p);
    }
}

static void expect_same(const lb_unit *u, const char *kernel, const char *what, uint64_t seed, const lb_mat *got, const lb_mat *want) {
    for (size_t i = 0; i < want->rows; i++)
        for (size_t j = 0; j < want->cols; j++) {
            const unsigned long long g = lb_mat_code(got, i, j), w = lb_mat_code(want, i, j);
            if (g != w)
                fail_msg("%s on %s, %s, seed %llu: at %zu,%zu of %zux%zu got %08llx, want %08llx", kernel, u->name, what,
                         (unsigned long long)seed, i, j, want->rows, want->cols, g, w);
        }
}

/* Every kernel that can, on one product. */
static void run_product(const lb_unit *u, const product_case *p, const char *what, uint64_t seed, unsigned layout, bool with_c) {
    lb_mat want = mat_new(lb_format_row(u->d), p->c.rows, p->c.cols, false, 0);
    lb_mat got = mat_new(want.format, p->c.rows, p->c.cols, layout & 8, layout % 4);
    lb_kernel_text kernel;
    lb_error err;
    const lb_unit_operands with = case_with(p);
    assert_int_equal(lb_unit_gemm_with(u, &p->a, &p->b, with_c ? &p->c : NULL, &with, &want, &err), LB_OK);
    for (size_t i = 0; lb_kernel_row(i, &kernel); i++) {
        const lb_gemm_options o = {.kernel = kernel.name, .threads = 1};
        const lb_status s = lb_gemm_with(u, &p->a, &p->b, with_c ? &p->c : NULL, &with, &got, &o, &err);
        if (s == LB_E_UNAVAILABLE) continue;
        if (s != LB_OK) fail_msg("%s on %s: %s", kernel.name, u->name, err.message);
        expect_same(u, kernel.name, what, seed, &got, &want);
    }
    free(want.codes);
    free(got.codes);
}

static void run_case(const lb_unit *u, case_kind kind, uint64_t seed, size_t m, size_t n, size_t k, unsigned layout, bool with_c) {
    product_case p = case_new(u, kind, seed, m, n, k, layout);
    run_product(u, &p, case_names[kind], seed, layout, with_c);
    case_free(&p);
}

static void each_kernel_equals_the_engine_on_every_distribution(void **state) {
    (void)state;
    const size_t scale = is_full() ? 10 : 1;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (!runs(u) || seen_before(row) || !chosen(u)) continue;
        /* 10^6 products a distribution; where the engine takes 100 ns for each, 10^6 over all of them */
        const bool blocks = u->path == LB_PATH_TRUNCATED || u->path == LB_PATH_TWO_HALVES;
        const size_t m = SANITIZED ? 4 : (blocks ? 41 : 7) * scale, n = SANITIZED ? 70 : (blocks ? 83 : 71) * scale;
        const size_t k = SANITIZED ? 72 : blocks ? 300 : 148;
        for (int kind = 0; kind < CASE_COUNT; kind++)
            run_case(u, (case_kind)kind, SEED + row, m, n, k, (unsigned)(row + (size_t)kind), true);
    }
}

/* bf16: 1.25, 1.5 or 1.75 at most times 2^e .. 2^(e + spread); one sign a row, or any. */
static uint64_t near_power(uint64_t r, int e, unsigned spread, bool negative) {
    const uint64_t field = (uint64_t)(127 + e) + (r >> 8) % (spread + 1);
    return (uint64_t)negative << 15 | field << 7 | (r & 3) << 5;
}

/* CDNA3 rounds an f64 to f32 in ways of its own at both ends: sums about 2^128, with c an Inf from then on, and about the tie at 2^-150. */
static void each_kernel_of_a_late_c_meets_both_ends_of_f32(void **state) {
    (void)state;
    lb_unit u;
    assert_int_equal(lb_unit_find("gfx942/mfma.m16n16k16.f32.bf16.bf16.f32", &u, NULL), LB_OK);
    if (!chosen(&u)) return;
    for (unsigned i = 0; i < (SANITIZED ? 12 : 96); i++) {
        const bool large = i % 2;
        /* products from 2^123 and up to 2^128; or of 2^-150 and, twelve powers lower, what breaks its ties */
        const int e = large ? 61 + (int)(i / 2 % 3) : -75;
        product_case p = case_new(&u, CASE_NORMAL, SEED + i, 9, 70, 48, i);
        for (size_t r = 0; r < 9; r++)
            for (size_t k = 0; k < 48; k++)
                lb_store_code(lb_mat_at(&p.a, r, k), 2, near_power(lb_random_u64(i, 20, r * 48 + k), e, large, r % 3 == 0 && k % 2));
        for (size_t c = 0; c < 70; c++)
            for (size_t k = 0; k < 48; k++) {
                const uint64_t r = lb_random_u64(i, 21, c * 48 + k);
                const bool zero = !large && r >> 40 & 3; /* few products: sums stay where ties are */
                lb_store_code(lb_mat_at(&p.b, k, c), 2,
                              zero ? 0 : near_power(r, large ? e - (int)(i / 8 % 2) : -75 - (int)(r >> 50 & 1) * 12, large, r >> 60 & 1));
            }
        for (size_t at = 0; at < 9 * 70; at++) {
            const uint64_t c = lb_random_u64(i, 22, at);
            const uint64_t code = large ? (c >> 63) << 31 | (UINT64_C(0x7c000000) + c % 0x3800000) : c % 3 ? 0 : c >> 61 & 7;
            lb_store_code(lb_mat_at(&p.c, at / 70, at % 70), 4, code);
        }
        run_product(&u, &p, large ? "about 2^128" : "about 2^-150", i, i, i % 3 > 0);
        case_free(&p);
    }
}

/* Chains on x86 flush what is tiny after it was rounded: 2^-126 less 2^-152 is not. */
static void each_kernel_of_x86_flushes_after_rounding(void **state) {
    (void)state;
    lb_unit u;
    assert_int_equal(lb_unit_find("x86/tdpbf16ps", &u, NULL), LB_OK);
    if (!chosen(&u)) return;
    product_case p = case_new(&u, CASE_NORMAL, SEED, 9, 70, 64, 0);
    for (size_t i = 0; i < (9 + 70) * 64; i++) {
        const uint64_t r = lb_random_u64(SEED, 23, i), code = near_power(0, r & 1 ? -63 : -76, 0, r >> 1 & 1);
        if (i < 9 * 64)
            lb_store_code(lb_mat_at(&p.a, i / 64, i % 64), 2, code);
        else
            lb_store_code(lb_mat_at(&p.b, i % 64, i / 64 - 9), 2, code);
    }
    run_product(&u, &p, "about 2^-126", SEED, 0, false);
    case_free(&p);
}

/* Zeros of both signs, and ones that cancel: what a zero sum's sign is. */
static void each_kernel_gives_zeros_their_sign(void **state) {
    (void)state;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (!runs(u) || seen_before(row) || !chosen(u) || lb_format_row(u->a)->special == LB_SPECIAL_INT) continue;
        product_case p = case_new(u, CASE_NORMAL, SEED, 3, 20, 2 * (size_t)u->k, 0);
        lb_mat *const all[] = {&p.a, &p.b, &p.c};
        for (size_t x = 0; x < 3; x++)
            for (size_t i = 0; i < all[x]->rows * all[x]->cols; i++) {
                const uint64_t r = lb_random_u64(row, 24 + (uint32_t)x, i);
                const double zero = r & 1 ? 0.0 : -0.0, value = x < 2 && i % 5 == 0 && r & 2 ? (r & 1 ? 1 : -1) : zero;
                lb_store_code(lb_mat_at(all[x], i / all[x]->cols, i % all[x]->cols), all[x]->format->bytes,
                              encode_double(all[x]->format, value));
            }
        for (size_t i = 0; i < p.a.cols; i++) /* one row of -0 alone, where a column is +0: products of -0 */
            lb_store_code(lb_mat_at(&p.a, 0, i), p.a.format->bytes, encode_double(p.a.format, -0.0));
        for (size_t i = 0; i < p.b.rows; i++) lb_store_code(lb_mat_at(&p.b, i, 0), p.b.format->bytes, encode_double(p.b.format, 0));
        lb_store_code(lb_mat_at(&p.c, 0, 0), p.c.format->bytes, encode_double(p.c.format, -0.0));
        run_product(u, &p, "zeros", SEED, 0, true);
        case_free(&p);
    }
}

static void shapes_strides_and_layouts_do_not_matter(void **state) {
    (void)state;
    const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32",
                                 "sm_90/wgmma.m64n8k8.f32.tf32.tf32",
                                 "sm_80/mma.m16n8k16.f16.f16.f16.f16",
                                 "sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32",
                                 "sm_90/mma.m16n8k32.f32.e5m2.e4m3.f32",
                                 "gfx942/mfma.m16n16k16.f32.bf16.bf16.f32",
                                 "gfx942/mfma.m16n16k32.f32.e4m3fnuz.e5m2fnuz.f32",
                                 "gfx908/mfma.m16n16k16.f32.f16.f16.f32",
                                 "sm_100/tcgen05.m128n8k64.f32.e2m1.e2m1.mxf4nvf4.ue4m3",
                                 "sm_100/tcgen05.m128n8k32.f32.e4m3.e5m2.mxf8f6f4.ue8m0",
                                 "x86/vdpbf16ps",
                                 "x86/vpdpbusds"};
    for (size_t i = 0; i < (SANITIZED ? 60 : 300); i++) {
        lb_unit u;
        assert_int_equal(lb_unit_find(names[i % 12], &u, NULL), LB_OK);
        const size_t m = draw_bits(SEED, 1, i, 70), n = draw_bits(SEED, 2, i, 140), k = draw_bits(SEED, 3, i, i % 7 ? 150 : 600);
        run_case(&u, (case_kind)(i % CASE_COUNT), i, i % 50 == 3 ? 0 : m, i % 50 == 4 ? 0 : n, i % 50 == 5 ? 0 : k, (unsigned)(i % 210),
                 i % 3);
    }
}

static void small_products_are_as_others(void **state) {
    (void)state;
    const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "sm_90/wgmma.m64n8k16.f32.f16.f16"};
    for (size_t i = 0; i < (SANITIZED ? 100 : 1000); i++) {
        lb_unit u;
        assert_int_equal(lb_unit_find(names[i % 2], &u, NULL), LB_OK);
        const size_t m = 1 + draw_bits(SEED, 12, i, 24), n = 1 + draw_bits(SEED, 13, i, 16), k = 1 + draw_bits(SEED, 14, i, 17);
        const bool whole = i % 3 == 0;
        run_case(&u, (case_kind)(i / 2 % CASE_COUNT), i, whole ? 16 : m, whole ? 8 : n, whole ? 16 : k, (unsigned)(i % 210), i % 5);
    }
}

static void blocks_bits_and_floors_are_read_from_the_row(void **state) {
    (void)state;
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", &u, NULL), LB_OK);
    for (size_t i = 0; i < 120; i++) {
        const bool halved = i % 2;
        const uint16_t lengths[] = {4, 6, 8, 12, 16, 24, 32, 48};
        u.a = u.b = halved ? LB_E5M2 : LB_BF16;
        u.terms = 1 << draw_bits(SEED, 4, i, 6);
        u.k = lengths[draw_bits(SEED, 5, i, 8)];
        while (u.k % u.terms) u.terms /= 2;
        u.frac_bits = (halved ? 4 : 14) + (int)draw_bits(SEED, 6, i, halved ? 22 : 12);
        u.floor_exp = i % 3 ? LB_NO_FLOOR : -150 + (int)draw_bits(SEED, 7, i, 160);
        u.round = i % 5 == 0 ? LB_UNIT_RZ_E8M13 : halved && i % 4 == 1 ? LB_UNIT_RNE_F16 : LB_UNIT_RZ_F32;
        u.c = u.d = u.round == LB_UNIT_RNE_F16 ? LB_F16 : LB_F32;
        snprintf(u.name, sizeof u.name, "terms %d of k %d, F %d, floor %d, round %d", u.terms, u.k, u.frac_bits, u.floor_exp, (int)u.round);
        run_case(&u, (case_kind)(i % CASE_COUNT), i, 9, 70, 200, 0, true);
    }
}

static void threads_and_workspaces_do_not_change_the_bits(void **state) {
    (void)state;
    lb_workspace *w;
    assert_int_equal(lb_workspace_open(&w, NULL), LB_OK);
    for (size_t i = 0; i < 20; i++) {
        lb_unit u;
        const char *const names[] = {"sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16", "sm_90/wgmma.m64n8k16.f32.bf16.bf16",
                                     "sm_120/mma.m16n8k32.f32.e4m3.e4m3.f32.mxf8f6f4.ue8m0", "gfx90a/mfma.m16n16k16.f32.f16.f16.f32",
                                     "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0"};
        assert_int_equal(lb_unit_find(names[i % 5], &u, NULL), LB_OK);
        product_case p = case_new(&u, (case_kind)(i % CASE_COUNT), i, 150, 170 - 20 * (i % 3), 100, 0);
        lb_mat one = mat_new(p.c.format, p.c.rows, p.c.cols, false, 0), many = mat_new(p.c.format, p.c.rows, p.c.cols, false, 0);
        const lb_unit_operands with = case_with(&p);
        lb_error err;
        const lb_gemm_options single = {.threads = 1};
        assert_int_equal(lb_gemm_with(&u, &p.a, &p.b, &p.c, &with, &one, &single, &err), LB_OK);
        for (int threads = 0; threads <= 3; threads++) {
            const lb_gemm_options o = {.threads = threads, .workspace = w};
            assert_int_equal(lb_gemm_with(&u, &p.a, &p.b, &p.c, &with, &many, &o, &err), LB_OK);
            expect_same(&u, "the fastest", "threads", i, &many, &one);
        }
        assert_int_equal(lb_gemm_with(&u, &p.a, &p.b, &p.c, &with, &p.c, &(lb_gemm_options){.threads = 2}, &err), LB_OK);
        expect_same(&u, "the fastest", "d in place of c", i, &p.c, &one);
        case_free(&p);
        free(one.codes);
        free(many.codes);
    }
    lb_workspace_close(w);
    lb_workspace_close(NULL);
}

/* Scales and metadata that are missing, or of the wrong shape, are refused by every kernel, and nothing is written. */
static void what_a_unit_takes_beside_its_operands_is_asked_for(void **state) {
    (void)state;
    const char *const names[] = {"sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0",
                                 "sm_120/mma.m16n8k32.f32.e4m3.e4m3.f32.mxf8f6f4.ue8m0"};
    for (size_t i = 0; i < 2; i++) {
        lb_unit u;
        lb_error err;
        assert_int_equal(lb_unit_find(names[i], &u, NULL), LB_OK);
        product_case p = case_new(&u, CASE_NORMAL, SEED, 5, 6, 128, 0);
        lb_mat d = mat_new(p.c.format, 5, 6, false, 0);
        lb_unit_operands with = case_with(&p);
        assert_int_equal(lb_gemm(&u, &p.a, &p.b, &p.c, &d, NULL, &err), LB_E_ARG);
        with.scale_b = NULL;
        assert_int_equal(lb_gemm_with(&u, &p.a, &p.b, &p.c, &with, &d, NULL, &err), LB_E_ARG);
        with.scale_b = with.scale_a;
        assert_int_equal(lb_gemm_with(&u, &p.a, &p.b, &p.c, &with, &d, NULL, &err), LB_E_SHAPE);
        with = case_with(&p);
        with.metadata = &p.a;
        assert_int_equal(lb_gemm_with(&u, &p.a, &p.b, &p.c, &with, &d, NULL, &err), LB_E_ARG);
        for (size_t at = 0; at < 30; at++) assert_int_equal(lb_mat_code(&d, at / 6, at % 6), 0);
        case_free(&p);
        free(d.codes);
    }
}

static void long_products_are_chained_over_chunks(void **state) {
    (void)state;
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_90/wgmma.m64n8k16.f32.bf16.bf16", &u, NULL), LB_OK);
    run_case(&u, CASE_NORMAL, SEED, 3, 20, SANITIZED ? 600 : 4000, 1, true);
    run_case(&u, CASE_OUTLIER, SEED, 3, 20, SANITIZED ? 600 : 4000, 2, true);
    assert_int_equal(lb_unit_find("sm_90/wgmma.m64n8k32.f32.e4m3.e4m3", &u, NULL), LB_OK);
    run_case(&u, CASE_NORMAL, SEED, 20, 3, SANITIZED ? 600 : 4000, 1, true);
}

/* lb_dot_batch of the rows of a and b, and of c [1][rows] or NULL, against the engine. */
static void expect_dots(const lb_unit *u, const char *what, const lb_mat *a, const lb_mat *b, const lb_mat *c) {
    enum { MOST = 256 };
    uint32_t got[MOST] = {0};
    const int bytes = lb_format_row(u->d)->bytes;
    assert_true(a->rows <= MOST);
    assert_int_equal(lb_dot_batch(u, a->codes, b->codes, c ? c->codes : NULL, got, a->rows, NULL), LB_OK);
    for (size_t i = 0; i < a->rows; i++) {
        uint32_t x[LB_MAX_TEST_K], y[LB_MAX_TEST_K], want;
        for (size_t t = 0; t < u->k; t++) {
            x[t] = (uint32_t)lb_mat_code(a, i, t);
            y[t] = (uint32_t)lb_mat_code(b, i, t);
        }
        assert_int_equal(lb_unit_dot(u, x, y, u->k, c ? (uint32_t)lb_mat_code(c, 0, i) : 0, &want, NULL), LB_OK);
        const uint64_t code = lb_load_code((const char *)got + i * (size_t)bytes, bytes);
        if (code != want) fail_msg("%s, %s, dot %zu: got %08x, want %08x", u->name, what, i, (unsigned)code, want);
    }
}

/* Columns of m as rows in memory; free its codes. */
static lb_mat rows_of_columns(const lb_mat *m) {
    lb_mat out = mat_new(m->format, m->cols, m->rows, false, 0);
    for (size_t i = 0; i < m->cols; i++)
        for (size_t t = 0; t < m->rows; t++) lb_store_code(lb_mat_at(&out, i, t), out.format->bytes, lb_mat_code(m, t, i));
    return out;
}

/* a drawn as kind says, b as other says. */
static void run_dots(const lb_unit *u, case_kind kind, case_kind other, uint64_t seed, size_t count, bool with_c) {
    product_case p = case_new(u, kind, seed, count, 1, u->k, 0), q = case_new(u, other, seed, 1, count, u->k, 0);
    product_case line = case_new(u, kind, seed, 1, count, 0, 0);
    lb_mat b = rows_of_columns(&q.b);
    char what[80];
    snprintf(what, sizeof what, "%s with %s", case_names[kind], case_names[other]);
    expect_dots(u, what, &p.a, &b, with_c ? &line.c : NULL);
    free(b.codes);
    case_free(&p);
    case_free(&q);
    case_free(&line);
}

static void a_batch_of_dots_equals_the_engine(void **state) {
    (void)state;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (lb_unit_dot_check(u, NULL) != LB_OK || u->k > LB_MAX_TEST_K || seen_before(row)) continue;
        for (int kind = 0; kind < CASE_COUNT; kind++)
            run_dots(u, (case_kind)kind, (case_kind)kind, SEED + row, SANITIZED ? 70 : 203, kind % 4);
    }
}

/* The blocks of 8 and of 16 products of f16 have a path of their own. */
static void dots_of_unlike_operands_equal_the_engine(void **state) {
    (void)state;
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &u, NULL), LB_OK);
    for (int i = 0; i < CASE_COUNT * CASE_COUNT * 2; i++) {
        const int pair = i / 2, floor = -45 + (int)draw_bits(SEED, 8, (size_t)i, 80);
        u.terms = i % 2 ? 16 : 8;
        u.frac_bits = 20 + (int)draw_bits(SEED, 9, (size_t)i, 6);
        u.floor_exp = draw_bits(SEED, 10, (size_t)i, 3) ? LB_NO_FLOOR : floor;
        snprintf(u.name, sizeof u.name, "f16, terms %d, F %d, floor %d", u.terms, u.frac_bits, u.floor_exp);
        run_dots(&u, (case_kind)(pair % CASE_COUNT), (case_kind)(pair / CASE_COUNT), SEED + (uint64_t)i, SANITIZED ? 32 : 144,
                 draw_bits(SEED, 11, (size_t)i, 2));
    }
}

/* Sixteen significands just below 2 at 25 fraction bits: more than int32 holds, in dots 0, 2, … of both signs. */
static void dots_beyond_int32_equal_the_engine(void **state) {
    (void)state;
    enum { COUNT = 64, K = 16 };
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_90/wgmma.m64n8k16.f32.f16.f16", &u, NULL), LB_OK);
    uint16_t a[COUNT][K], b[COUNT][K];
    float c[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const uint16_t sign = i % 4 < 2 ? 0 : 0x8000;
        c[i] = (sign ? -1.0f : 1.0f) * (float)draw_bits(SEED, 15, i, 1 << 24) * 0x1p-23f;
        for (size_t t = 0; t < K; t++) {
            a[i][t] = (uint16_t)(sign | (0x3fff - draw_bits(SEED, 16, i * K + t, i % 2 ? 900 : 8)));
            b[i][t] = (uint16_t)(0x3fff - draw_bits(SEED, 17, i * K + t, 8));
        }
        if (i % 8 != 5) continue;
        for (size_t k = 0; k < K; k++) a[i][k] = (uint16_t)(a[i][k] - 0x3000); /* 2^-12 of it */
        a[i][3] = i % 16 == 5 ? 0 : 1; /* one zero or subnormal among others, beside what would give a zero an exponent */
        b[i][3] = 0x7800;
    }
    const lb_mat am = lb_mat_of(lb_format_row(LB_F16), a, COUNT, K), bm = lb_mat_of(lb_format_row(LB_F16), b, COUNT, K);
    const lb_mat cm = lb_mat_of(lb_format_row(LB_F32), c, 1, COUNT);
    expect_dots(&u, "large significands", &am, &bm, &cm);
}

/* c + half a unit in the last place + what only 2^-14, the exponent of c, cuts: a tie, else it rounds up. */
static void dots_with_a_subnormal_f16_c_equal_the_engine(void **state) {
    (void)state;
    enum { COUNT = 64, K = 16 };
    lb_unit u;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f16.f16.f16.f16", &u, NULL), LB_OK);
    uint16_t a[COUNT][K] = {0}, b[COUNT][K] = {0}, c[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        c[i] = (uint16_t)(2 * i);
        a[i][0] = 0x0800; /* 2^-13 2^-12 */
        b[i][0] = 0x0c00;
        a[i][1] = 0x0010; /* 2^-20, and 2^-19 to 2^-22 */
        b[i][1] = (uint16_t)(0x0020 >> i % 4);
    }
    const lb_mat am = lb_mat_of(lb_format_row(LB_F16), a, COUNT, K), bm = lb_mat_of(lb_format_row(LB_F16), b, COUNT, K);
    const lb_mat cm = lb_mat_of(lb_format_row(LB_F16), c, 1, COUNT);
    expect_dots(&u, "subnormal c", &am, &bm, &cm);
}

static void a_named_kernel_runs_or_says_why_not(void **state) {
    (void)state;
    lb_unit u;
    lb_error err;
    assert_int_equal(lb_unit_find("sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", &u, NULL), LB_OK);
    product_case p = case_new(&u, CASE_NORMAL, SEED, 3, 4, 32, 0);
    lb_mat d = mat_new(p.c.format, 3, 4, false, 0), narrow = mat_new(p.c.format, 3, 3, false, 0);
    assert_int_equal(lb_gemm(&u, &p.a, &p.b, &p.c, &d, &(lb_gemm_options){.kernel = "f32_avx51"}, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "did you mean"));
    assert_int_equal(lb_gemm(&u, &p.a, &p.b, &p.c, &d, &(lb_gemm_options){.kernel = "f64_portable"}, &err), LB_E_UNAVAILABLE);
    assert_int_equal(lb_gemm(&u, &p.a, &p.b, &p.c, &narrow, &(lb_gemm_options){.kernel = "f32_portable"}, &err), LB_E_SHAPE);
    assert_int_equal(lb_gemm(&u, &p.b, &p.a, &p.c, &d, &(lb_gemm_options){.kernel = "f32_portable"}, &err), LB_E_SHAPE);
    for (size_t i = 0; i < 12; i++) assert_int_equal(lb_mat_code(&d, i / 4, i % 4), 0);
    lb_kernel_text kernel, last = {0};
    for (size_t i = 0; lb_kernel_row(i, &kernel); i++) last = kernel;
    assert_string_equal(last.name, "engine");
    case_free(&p);
    free(d.codes);
    free(narrow.codes);
}

#if defined(__SSE2__)
static void the_callers_rounding_mode_does_not_matter_and_stays(void **state) {
    (void)state;
    const unsigned saved = _mm_getcsr(), odd = 0x1f80 | 0x8040 | 0x4000; /* flush to zero, subnormals are zero, toward +infinity */
    lb_unit u;
    for (int i = 0; i < CASE_COUNT; i++) {
        assert_int_equal(lb_unit_find(i % 2 ? "sm_90/wgmma.m64n8k16.f32.bf16.bf16" : "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", &u, NULL),
                         LB_OK);
        _mm_setcsr(odd);
        run_case(&u, (case_kind)i, SEED, 5, 70, 64, 0, true);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(saved);
        assert_int_equal(after & ~0x3fu, odd & ~0x3fu);
    }
}
#endif

int main(void) {
    lb_kernel_text kernel;
    for (size_t i = 0; lb_kernel_row(i, &kernel); i++)
        if (!kernel.usable) printf("SKIP %s: this CPU cannot run it\n", kernel.name);
    if (getenv("LB_ONLY")) cmocka_set_test_filter(getenv("LB_ONLY"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_that_runs_has_a_kernel),
        cmocka_unit_test(each_kernel_equals_the_engine_on_every_distribution),
        cmocka_unit_test(each_kernel_of_a_late_c_meets_both_ends_of_f32),
        cmocka_unit_test(each_kernel_of_x86_flushes_after_rounding),
        cmocka_unit_test(each_kernel_gives_zeros_their_sign),
        cmocka_unit_test(shapes_strides_and_layouts_do_not_matter),
        cmocka_unit_test(small_products_are_as_others),
        cmocka_unit_test(blocks_bits_and_floors_are_read_from_the_row),
        cmocka_unit_test(threads_and_workspaces_do_not_change_the_bits),
        cmocka_unit_test(what_a_unit_takes_beside_its_operands_is_asked_for),
        cmocka_unit_test(long_products_are_chained_over_chunks),
        cmocka_unit_test(a_batch_of_dots_equals_the_engine),
        cmocka_unit_test(dots_of_unlike_operands_equal_the_engine),
        cmocka_unit_test(dots_beyond_int32_equal_the_engine),
        cmocka_unit_test(dots_with_a_subnormal_f16_c_equal_the_engine),
        cmocka_unit_test(a_named_kernel_runs_or_says_why_not),
#if defined(__SSE2__)
        cmocka_unit_test(the_callers_rounding_mode_does_not_matter_and_stays),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
