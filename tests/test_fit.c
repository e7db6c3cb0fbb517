/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fit-schedule finds what made an output, says so when nothing did, and does not claim what the inputs cannot tell. */
#include "test.h"

#include "lastbit/refs.h"
#include "lastbit/schedule.h"

enum { M = 24, N = 40, K = 512, ALL_UNITS = 4 }; /* so many rows are searched among all units */

typedef struct product {
    uint32_t a[M * K], b[K * N], c[M * N], d[M * N];
    lb_mat am, bm, cm, dm;
    lb_unit u;
} product;

static void make(product *x, const char *unit, const char *schedule, size_t k, lb_dist dist, bool with_c) {
    lb_schedule s;
    lb_error err = {0};
    assert_int_equal(lb_unit_find(unit, &x->u, NULL), LB_OK);
    assert_int_equal(lb_schedule_parse(schedule, &s, NULL), LB_OK);
    x->am = lb_mat_of(lb_format_row(x->u.a), x->a, M, k);
    x->bm = lb_mat_of(lb_format_row(x->u.b), x->b, k, N);
    x->cm = lb_mat_of(lb_format_row(LB_F32), x->c, M, N);
    x->dm = lb_mat_of(s.out ? s.out : lb_format_row(x->u.d), x->d, M, N);
    lb_draw_mat(&x->am, dist, 7, 1);
    lb_draw_mat(&x->bm, dist, 7, 2);
    lb_draw_mat(&x->cm, dist, 7, 3);
    if (lb_gemm_scheduled(&x->u, &s, &x->am, &x->bm, with_c ? &x->cm : NULL, &x->dm, NULL, &err) != LB_OK)
        fail_msg("%s: %s: %s", schedule, err.place, err.message);
}

static bool found(const lb_fit *f, const lb_unit *u, const char *schedule) {
    lb_schedule s;
    assert_int_equal(lb_schedule_parse(schedule, &s, NULL), LB_OK);
    for (size_t i = 0; i < f->found_count; i++)
        if (lb_units_alike(&f->found[i].unit, u) && lb_schedule_equal(&f->found[i].schedule, &s)) return true;
    return false;
}

static void what_made_an_output_is_found(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit, *schedule;
        size_t k;
        bool with_c;
        size_t most; /* candidates that may give the same bits */
    } rows[] = {
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "plain", K, false, 1},
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "split-k=4", K, false, 2},
        /* there promote=128 is the same */
        {__LINE__, "sm_90/mma.m16n8k16.f32.f16.f16.f32", "split-k=4,reduce=tree", K, false, 1},
        {__LINE__, "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "order=descending", K, false, 1},
        {__LINE__, "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "split-k=8,partial=bf16,out=f16", K, false, 100},
        {__LINE__, "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3", "promote=128", K, false, 20}, /* sums of 13-bit parts are exact in any order */
        {__LINE__, "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "tile-k=64,split-k=4,divide=dealt,reduce=slots", K, false, 20},
        {__LINE__, "sm_90/mma.m16n8k16.f32.f16.f16.f32", "split-k=2,c=last", K, true, 2},
        {__LINE__, "sm_90/mma.m16n8k16.f32.f16.f16.f32", "tile-k=32,ragged=first", 500, false, 1},
        {__LINE__, "sm_90/mma.m16n8k16.f16.f16.f16.f16", "split-k=3", K, false, 3}, /* sums of few f16 are exact in f32 */
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "split-k=2,sum=out,out=f16", K, false, 8},
    };
    static product x;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_fit f;
        lb_error err = {0};
        make(&x, rows[i].unit, rows[i].schedule, rows[i].k, LB_DIST_NORMAL, rows[i].with_c);
        const lb_fit_options only = {.unit = &x.u};
        if (lb_fit_schedule(&x.am, &x.bm, rows[i].with_c ? &x.cm : NULL, &x.dm, i < ALL_UNITS ? NULL : &only, &f, &err) != LB_OK)
            fail_msg("row at %s:%d: %s: %s", __FILE__, rows[i].line, err.place, err.message);
        lb_schedule s;
        char want[LB_SCHEDULE_TEXT_SIZE];
        assert_int_equal(lb_schedule_parse(rows[i].schedule, &s, NULL), LB_OK);
        lb_schedule_text(&s, want, sizeof want);
        EXPECT_CODE(rows[i].line, f.verdict, LB_PASS);
        if (!found(&f, &x.u, want) || f.found_total > rows[i].most) {
            for (size_t j = 0; j < f.found_count; j++) {
                char text[LB_SCHEDULE_TEXT_SIZE];
                lb_schedule_text(&f.found[j].schedule, text, sizeof text);
                print_message("  %s %s\n", f.found[j].unit.name, text);
            }
            fail_msg("row at %s:%d: %zu found, want %s among at most %zu", __FILE__, rows[i].line, f.found_total, want, rows[i].most);
        }
        assert_true(f.has_best && f.best.same < f.best.compared);
        lb_fit_close(&f);
    }
}

static void stream_k_is_told_from_split_k_where_tiles_are_cut_unevenly(void **state) {
    (void)state;
    enum { BIG_M = 300, BIG_N = 200, BIG_K = 480 }; /* 20 tiles of 15, 80 workers: 3 or 4 for each */
    static uint16_t a[BIG_M * BIG_K], b[BIG_K * BIG_N];
    static uint32_t d[BIG_M * BIG_N];
    lb_unit u;
    lb_schedule s;
    lb_fit f;
    assert_int_equal(lb_unit_find("sm_90/mma.m16n8k16.f32.f16.f16.f32", &u, NULL), LB_OK);
    assert_int_equal(lb_schedule_parse("stream-k=80,tile=64x64,tile-k=32", &s, NULL), LB_OK);
    lb_mat am = lb_mat_of(lb_format_row(LB_F16), a, BIG_M, BIG_K), bm = lb_mat_of(lb_format_row(LB_F16), b, BIG_K, BIG_N);
    lb_mat dm = lb_mat_of(lb_format_row(LB_F32), d, BIG_M, BIG_N);
    lb_draw_mat(&am, LB_DIST_NORMAL, 3, 1);
    lb_draw_mat(&bm, LB_DIST_NORMAL, 3, 2);
    s.divide = LB_DIVIDE_EVEN;
    assert_int_equal(lb_gemm_scheduled(&u, &s, &am, &bm, NULL, &dm, NULL, NULL), LB_OK);
    const lb_fit_options o = {.unit = &u};
    assert_int_equal(lb_fit_schedule(&am, &bm, NULL, &dm, &o, &f, NULL), LB_OK);
    assert_int_equal(f.verdict, LB_PASS);
    char text[LB_SCHEDULE_TEXT_SIZE];
    lb_schedule_text(&s, text, sizeof text);
    assert_true(found(&f, &u, text));
    lb_fit_close(&f);
}

static void nothing_is_found_where_one_element_is_wrong(void **state) {
    (void)state;
    static product x;
    lb_fit f;
    make(&x, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "split-k=4", K, LB_DIST_NORMAL, false);
    x.d[M * N - 1] ^= 1;
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &x.dm, NULL, &f, NULL), LB_OK);
    assert_int_equal(f.verdict, LB_FAIL);
    assert_int_equal(f.found_total, 0);
    assert_true(f.has_best);
    assert_int_equal(f.best.compared, M * N);
    assert_int_equal(f.best.same, M * N - 1);
    assert_int_equal(f.best.schedule.split, 4);
    lb_fit_close(&f);
}

static void what_the_base_says_is_kept(void **state) {
    (void)state;
    static product x;
    lb_fit f;
    lb_schedule base, want;
    make(&x, "sm_90/mma.m16n8k16.f32.f16.f16.f32", "split-k=5,alpha=0.3,act=relu", K, LB_DIST_NORMAL, false);
    assert_int_equal(lb_schedule_parse("alpha=0.3,act=relu", &base, NULL), LB_OK);
    assert_int_equal(lb_schedule_parse("split-k=5,alpha=0.3,act=relu", &want, NULL), LB_OK);
    const lb_fit_options o = {.unit = &x.u, .base = &base};
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &x.dm, &o, &f, NULL), LB_OK);
    assert_int_equal(f.verdict, LB_PASS);
    assert_true(lb_schedule_equal(&f.found[0].schedule, &want));
    lb_fit_close(&f);
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &x.dm, NULL, &f, NULL), LB_OK); /* without it nothing fits */
    assert_int_equal(f.verdict, LB_FAIL);
    lb_fit_close(&f);
}

static void easy_inputs_prove_nothing(void **state) {
    (void)state;
    static product x;
    lb_fit f;
    make(&x, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "plain", K, LB_DIST_INTEGER, false);
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &x.dm, NULL, &f, NULL), LB_OK);
    assert_int_equal(f.verdict, LB_UNPROVEN);
    assert_non_null(strstr(f.reason, "every unit and every division"));
    lb_fit_close(&f);
    memset(x.a, 0, sizeof x.a);
    memset(x.d, 0, sizeof x.d);
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &x.dm, NULL, &f, NULL), LB_OK);
    assert_int_equal(f.verdict, LB_UNPROVEN);
    assert_non_null(strstr(f.reason, "all zeros"));
    lb_fit_close(&f);
    lb_mat none = x.dm, no_a = x.am;
    none.rows = no_a.rows = 0;
    assert_int_equal(lb_fit_schedule(&no_a, &x.bm, NULL, &none, NULL, &f, NULL), LB_OK);
    assert_int_equal(f.verdict, LB_UNPROVEN);
    assert_non_null(strstr(f.reason, "nothing was compared"));
    lb_fit_close(&f);
}

static void what_no_unit_takes_is_an_error(void **state) {
    (void)state;
    static product x;
    lb_fit f;
    lb_error err;
    make(&x, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "plain", K, LB_DIST_NORMAL, false);
    lb_mat wrong = x.am, narrow = x.dm;
    wrong.format = lb_format_row(LB_I8);
    assert_int_equal(lb_fit_schedule(&wrong, &x.bm, NULL, &x.dm, NULL, &f, &err), LB_E_FORMAT);
    narrow.cols--;
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &narrow, NULL, &f, &err), LB_E_SHAPE);
    lb_unit other;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", &other, NULL), LB_OK);
    const lb_fit_options o = {.unit = &other};
    assert_int_equal(lb_fit_schedule(&x.am, &x.bm, NULL, &x.dm, &o, &f, &err), LB_E_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_made_an_output_is_found),
        cmocka_unit_test(stream_k_is_told_from_split_k_where_tiles_are_cut_unevenly),
        cmocka_unit_test(nothing_is_found_where_one_element_is_wrong),
        cmocka_unit_test(what_the_base_says_is_kept),
        cmocka_unit_test(easy_inputs_prove_nothing),
        cmocka_unit_test(what_no_unit_takes_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
