/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Explanations: of every unit the engine's bits, their parts add up, and a block worked out by hand. */
#include "units_help.h"

#include "lastbit/report.h"

#include <jansson.h>
#include <stdlib.h>

enum { M = 2, N = 3, MAX_K = 600 };

/* One case: operands of a unit with everything that it takes. */
typedef struct operands {
    lb_mat a, b, c, d, scale_a, scale_b, metadata;
    lb_unit_operands with;
    uint64_t storage[7][MAX_K * N]; /* more than any of them */
} operands;

static void open_operands(operands *o, const lb_unit *u, size_t k, lb_dist dist, uint64_t seed) {
    const size_t scales = u->scale_block ? (k + (size_t)u->scale_block - 1) / (size_t)u->scale_block : 0;
    const lb_format *scale = lb_format_row(u->scale);
    memset(o, 0, sizeof *o);
    o->a = lb_mat_of(lb_format_row(u->a), o->storage[0], M, u->sparse_group ? k / 2 : k);
    o->b = lb_mat_of(lb_format_row(u->b), o->storage[1], k, N);
    o->c = lb_mat_of(lb_format_row(u->c), o->storage[2], M, N);
    o->d = lb_mat_of(lb_format_row(u->d), o->storage[3], M, N);
    lb_draw_mat(&o->a, dist, seed, 1);
    lb_draw_mat(&o->b, dist, seed, 2);
    lb_draw_mat(&o->c, seed % 3 ? dist : LB_DIST_NORMAL, seed, 3);
    if (u->scale_block) {
        o->scale_a = lb_mat_of(scale, o->storage[4], M, scales);
        o->scale_b = lb_mat_of(scale, o->storage[5], scales, N);
        lb_draw_mat(&o->scale_a, seed % 5 == 4 ? LB_DIST_SPECIAL : LB_DIST_WIDE, seed, 4);
        lb_draw_mat(&o->scale_b, LB_DIST_WIDE, seed, 5);
        o->with.scale_a = &o->scale_a;
        o->with.scale_b = &o->scale_b;
    }
    if (u->sparse_group) {
        o->metadata = lb_mat_of(lb_format_row(LB_U8), o->storage[6], M, k / 2);
        for (size_t r = 0; r < M; r++) {
            for (size_t i = 0; i < k / 2; i++) {
                const uint64_t draw = lb_random_u64(seed, 6, r * k + i / 2 * 2);
                static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
                lb_store_code(lb_mat_at(&o->metadata, r, i), 1, u->sparse_group == 4 ? pairs[draw % 6][i % 2] : (draw >> i % 2) & 1);
            }
        }
        o->with.metadata = &o->metadata;
    }
}

static bool same_value(lb_value x, lb_value y) {
    if (x.cls != y.cls) return false;
    if (x.cls == LB_ZERO || x.cls == LB_NAN) return true;
    if (x.cls == LB_INF) return x.negative == y.negative;
    return lb_value_add(x, (lb_value){y.cls, !y.negative, y.sticky, y.exp, y.hi, y.lo}).cls == LB_ZERO;
}

/* What must hold of every explanation. `where` names the case. */
static void expect_sound(const lb_explanation *e, const char *where) {
    size_t terms = 0;
    for (size_t i = 0; i < e->op_count; i++) {
        const lb_explain_op *op = &e->ops[i];
        bool sums = !op->alone && op->what != LB_EXPLAIN_GROUP;
        if (op->first_term != terms) fail_msg("%s: op %zu begins at term %zu, not %zu", where, i, op->first_term, terms);
        lb_value sum = {.cls = LB_ZERO};
        int32_t top = LB_NO_EXPONENT;
        for (size_t n = terms; n < terms + op->term_count; n++) {
            const lb_explain_term *t = &e->terms[n];
            if (t->value.cls <= LB_FINITE && !t->cut.sticky && !same_value(lb_value_add(t->kept, t->cut), t->value))
                fail_msg("%s: op %zu: kept and cut of term %zu do not add up", where, i, n);
            if (t->source == LB_EXPLAIN_FROM_OP && t->from >= i) fail_msg("%s: op %zu takes from op %zu", where, i, t->from);
            if (t->exponent > top) top = t->exponent;
            sum = lb_value_add(sum, t->kept);
            sums = sums && !sum.sticky;
        }
        terms += op->term_count;
        if (sums && !op->sum.sticky && !same_value(sum, op->sum)) fail_msg("%s: op %zu: the sum is not that of its terms", where, i);
        if (op->aligned && !op->floor_sets_max && op->max_exp != top) fail_msg("%s: op %zu: the largest exponent is %d", where, i, top);
        if (op->rounded && !op->overflow && !op->alone && !op->sum.sticky && !op->lost.sticky &&
            !same_value(lb_value_add(op->lost, lb_decode(lb_format_row(op->format), op->result)), op->sum))
            fail_msg("%s: op %zu: result and what is lost do not add up", where, i);
    }
    assert_int_equal(terms, e->term_count);
    if (e->op_count) assert_int_equal(e->ops[e->op_count - 1].result, e->d);
}

/* Every element of a product explained, against the whole product. */
static size_t expect_explained(const lb_unit *u, size_t k, lb_dist dist, uint64_t seed) {
    static operands o;
    lb_error err;
    char where[320];
    open_operands(&o, u, k, dist, seed);
    const bool with = u->scale_block || u->sparse_group;
    const lb_mat *c = seed % 4 ? &o.c : NULL;
    assert_int_equal(lb_unit_gemm_with(u, &o.a, &o.b, c, with ? &o.with : NULL, &o.d, NULL), LB_OK);
    for (size_t i = 0; i < M * N; i++) {
        lb_explanation e;
        snprintf(where, sizeof where, "%s k=%zu dist %d seed %llu at %zu,%zu", u->name, k, (int)dist, (unsigned long long)seed, i / N,
                 i % N);
        if (lb_explain(u, &o.a, &o.b, c, with ? &o.with : NULL, i / N, i % N, &e, &err) != LB_OK) fail_msg("%s: %s", where, err.message);
        if (e.d != lb_mat_code(&o.d, i / N, i % N)) fail_msg("%s: got %llx", where, (unsigned long long)e.d);
        expect_sound(&e, where);
        lb_explain_free(&e);
    }
    return M * N;
}

static void every_unit_is_explained_with_the_bits_of_the_engine(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_INTEGER, LB_DIST_SPECIAL, LB_DIST_UNIFORM};
    size_t explained = 0;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (u->path == LB_PATH_NONE) continue;
        const size_t group = u->sparse_group ? (size_t)u->sparse_group : 1;
        for (uint64_t n = 0; n < 6; n++) {
            const size_t k = (n % 2 ? 2 * u->k + group : u->k) / group * group; /* one step, or two and a ragged one */
            explained += expect_explained(u, k, dists[n], 100 * row + n);
        }
    }
    assert_true(explained > 10000);
}

static void alternatives_are_explained_too(void **state) {
    (void)state;
    static const char *const units[] = {
        "sm_80/mma.m16n8k16.f32.bf16.bf16.f32+floor_exp=-126,zero_products=count",
        "sm_80/mma.m16n8k16.f16.f16.f16.f16+c_subnormal=own,overflow=max,tiny_sign=plus,nan=7e00",
        "sm_80/mma.m16n8k16.f32.bf16.bf16.f32+specials=step,subnormals=flush,overflow=max",
        "sm_89/mma.m16n8k32.f32.e5m2.e5m2.f32+subnormals=flush_out,tiny_sign=plus,overflow=max",
        "sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16+subnormals=flush_in,specials=step",
        "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=keep_nan",
        "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=round,terms=8",
        "gfx908/mfma.m16n16k16.f32.f16.f16.f32+path=pairwise,subnormals=keep",
        "gfx90a/mfma.m16n16k8.f32.bf16.bf16.f32+terms=4,nan=ffc00000",
        "gfx942/mfma.m16n16k16.f32.f16.f16.f32+late_floor=twice",
        "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32+tf32=round",
        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3+zero_group=sum",
        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3+zero_group=always,frac_bits=25",
        "x86/tdpbf16ps+nan=7fc00000",
    };
    static const lb_dist dists[] = {LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_SPECIAL};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const lb_unit u = unit_named(units[i]);
        for (uint64_t n = 0; n < 60; n++) expect_explained(&u, 2 * u.k, dists[n % 3], 7000 + 100 * i + n);
    }
}

static void the_exact_answer_is_the_correctly_rounded_one(void **state) {
    (void)state;
    static const char *const units[] = {"sm_80/mma.m16n8k16.f16.f16.f16.f16", "sm_80/mma.m16n8k8.f32.tf32.tf32.f32", "x86/vdpbf16ps",
                                        "sm_80/mma.m8n8k4.f64.f64.f64.f64", "sm_89/mma.m16n8k32.f32.e5m2.e4m3.f32"};
    static operands o;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const lb_unit u = unit_named(units[i]);
        for (uint64_t n = 0; n < 40; n++) {
            open_operands(&o, &u, 37, n % 2 ? LB_DIST_SPECIAL : LB_DIST_WIDE, 300 + n);
            const lb_case x = {.op = "matmul", .a = o.a, .b = o.b, .c = o.c, .out = lb_format_row(u.d)};
            assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_EXACT, NULL, 0, NULL, 0, &o.d, NULL, NULL, NULL), LB_OK);
            for (size_t at = 0; at < M * N; at++) {
                lb_explanation e;
                assert_int_equal(lb_explain(&u, &o.a, &o.b, &o.c, NULL, at / N, at % N, &e, NULL), LB_OK);
                const uint64_t want = lb_mat_code(&o.d, at / N, at % N);
                const lb_format *d = lb_format_row(u.d);
                if (e.exact != want && lb_ulp_distance(d, e.exact, want) != 0) fail_msg("%s seed %d", u.name, (int)n);
                if (lb_code_class(d, e.d) <= LB_INF && lb_code_class(d, want) <= LB_INF)
                    assert_int_equal(e.ulp, lb_ulp_distance(d, e.d, want));
                if (lb_code_class(d, e.d) == LB_NAN && lb_code_class(d, want) == LB_NAN) assert_int_equal(e.ulp, 0);
                lb_explain_free(&e);
            }
        }
    }
}

/* ---- as text and as JSON -------------------------------------------------------------------------------------------- */

/* The longest line in characters, not bytes. */
static size_t widest(const char *text) {
    size_t width = 0, most = 0;
    for (; *text; text++) {
        width = *text == '\n' ? 0 : width + ((*text & 0xc0) != 0x80);
        most = width > most ? width : most;
    }
    return most;
}

static void texts_of_every_unit_fit_80_columns_and_json_has_everything(void **state) {
    (void)state;
    static operands o;
    for (size_t row = 0; lb_unit_row(row); row++) {
        lb_unit u = *lb_unit_row(row);
        if (u.path == LB_PATH_NONE) continue;
        const lb_dist dists[] = {LB_DIST_BITS, LB_DIST_WIDE, LB_DIST_SPECIAL};
        for (int n = 0; n < 3; n++) {
            if (n && lb_format_row(u.d)->special != LB_SPECIAL_INT)
                lb_unit_set(&u, n == 1 ? "overflow=max,tiny_sign=plus,frac_bits=12" : "tf32=round", NULL);
            open_operands(&o, &u, 3 * u.k, dists[n], row);
            lb_explanation e;
            char *text, *json;
            assert_int_equal(lb_explain(&u, &o.a, &o.b, &o.c, u.scale_block || u.sparse_group ? &o.with : NULL, 1, 2, &e, NULL), LB_OK);
            assert_int_equal(lb_report_explanation(&e, NULL, &text, NULL), LB_OK);
            if (widest(text) > 80) fail_msg("%s: %zu columns:\n%s", u.name, widest(text), text);
            assert_null(strstr(text, " \n"));
            assert_int_equal(lb_report_explanation_json(&e, &json, NULL), LB_OK);
            json_t *root = json_loads(json, 0, NULL);
            assert_non_null(root);
            assert_int_equal(json_array_size(json_object_get(root, "ops")), e.op_count);
            size_t terms = 0, i;
            json_t *op;
            json_array_foreach(json_object_get(root, "ops"), i, op) terms += json_array_size(json_object_get(op, "terms"));
            assert_int_equal(terms, e.term_count);
            json_decref(root);
            free(json);
            free(text);
            lb_explain_free(&e);
        }
    }
}

static void a_long_k_shows_its_ends_or_what_was_asked_for(void **state) {
    (void)state;
    static operands o;
    const lb_unit u = unit_named("sm_80/mma.m16n8k8.f32.f16.f16.f32");
    open_operands(&o, &u, 8 * 10, LB_DIST_NORMAL, 1);
    lb_explanation e;
    char *text;
    assert_int_equal(lb_explain(&u, &o.a, &o.b, &o.c, NULL, 0, 0, &e, NULL), LB_OK);
    assert_int_equal(lb_report_explanation(&e, NULL, &text, NULL), LB_OK);
    assert_non_null(strstr(text, "step 0 "));
    assert_non_null(strstr(text, "step 1 "));
    assert_null(strstr(text, "step 2 "));
    assert_non_null(strstr(text, "… 7 steps\n"));
    assert_non_null(strstr(text, "step 9 "));
    free(text);
    assert_int_equal(lb_report_explanation(&e, &(lb_explain_steps){4, 5}, &text, NULL), LB_OK);
    assert_null(strstr(text, "step 3 "));
    assert_non_null(strstr(text, "step 4 "));
    assert_non_null(strstr(text, "#5 block, k 40..47\n"));
    assert_null(strstr(text, "step 6 "));
    assert_non_null(strstr(text, "\nexact "));
    free(text);
    lb_explain_free(&e);
}

/* The block by hand below, as a person sees it. */
static void the_text_of_a_block_is_this(void **state) {
    (void)state;
    const lb_unit u = unit_named("sm_80/mma.m16n8k8.f32.f16.f16.f32");
    const uint16_t a[4] = {0x3e00, 0x8c00, 0x3a00, 0}, b[4] = {0x3e00, 0x0c00, 0x0001, 0x4500};
    const uint32_t one = 0x3f800000;
    const lb_mat ma = lb_mat_of(lb_format_row(LB_F16), a, 1, 4), mb = lb_mat_of(lb_format_row(LB_F16), b, 4, 1),
                 mc = lb_mat_of(lb_format_row(LB_F32), &one, 1, 1);
    lb_explanation e;
    char *text;
    assert_int_equal(lb_explain(&u, &ma, &mb, &mc, NULL, 0, 0, &e, NULL), LB_OK);
    assert_int_equal(lb_report_explanation(&e, NULL, &text, NULL), LB_OK);
    static const char *const lines[] = {"D[0,0]: 4 products in 1 step of 8\nc     3f800000 = 1 = 0x1p+0\n\n#0 block, k 0..7\n",
                                        "     k        a    b     value exp      kept       cut\n"
                                        "     0     3e00 3e00  0x1.2p+1   0* 0x1.2p+1         0\n"
                                        "     1     8c00 0c00  -0x1p-24 -24  -0x1p-24         0\n"
                                        "     2     3a00 0001 0x1.8p-25 -15         0 0x1.8p-25\n"
                                        "  3..7  products are zero\n"
                                        "     c 3f800000         0x1p+0   0*   0x1p+0         0\n",
                                        "  largest exponent 0 (k 0, c); last place kept 2^-24\n",
                                        "  sum       0x1.9fffff8p+1  (exponent 1)\n",
                                        "  f32 rz    404fffff = 0x1.9ffffep+1\n",
                                        "  lost      0x1.8p-23\n",
                                        "D     404fffff = 3.24999976 = 0x1.9ffffep+1\nexact 40500000 = 3.25 = 0x1.ap+1\n",
                                        "      from 0x1.9fffffep+1, rounded once to nearest\n1 ULP apart\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(text, lines[i])) fail_msg("no \"%s\" in:\n%s", lines[i], text);
    free(text);
    lb_explain_free(&e);
}

/* ---- by hand --------------------------------------------------------------------------------------------------------- */

/* A dot of four values on an A100 with c = 1: 1.5 * 1.5 = 2.25 (exponent 0, not normalised), -2^-12 * 2^-12 = -2^-24 (kept whole: 24
 * bits), 0.75 * 2^-24 (exponents -1 and -14, for 2^-24 is subnormal: cut whole), 0 * 5 (no exponent). Sum 3.25 - 2^-24, RZ to 2^-22. */
static void a_block_by_hand(void **state) {
    (void)state;
    const lb_unit u = unit_named("sm_80/mma.m16n8k8.f32.f16.f16.f32");
    const double va[4] = {1.5, -0x1p-12, 0.75, 0}, vb[4] = {1.5, 0x1p-12, 0x1p-24, 5};
    uint16_t a[4], b[4];
    for (int i = 0; i < 4; i++) {
        a[i] = (uint16_t)code_of(LB_F16, va[i]);
        b[i] = (uint16_t)code_of(LB_F16, vb[i]);
    }
    const uint32_t one = 0x3f800000;
    const lb_mat ma = lb_mat_of(lb_format_row(LB_F16), a, 1, 4), mb = lb_mat_of(lb_format_row(LB_F16), b, 4, 1),
                 mc = lb_mat_of(lb_format_row(LB_F32), &one, 1, 1);
    lb_explanation e;
    assert_int_equal(lb_explain(&u, &ma, &mb, &mc, NULL, 0, 0, &e, NULL), LB_OK);
    assert_int_equal(e.op_count, 1);
    assert_int_equal(e.term_count, 9); /* padded to 8, and c */
    const lb_explain_op *op = &e.ops[0];
    static const struct {
        int line;
        int32_t exponent;
        double value, kept, cut;
        bool sets_max;
    } want[] = {
        {__LINE__, 0, 2.25, 2.25, 0, true},
        {__LINE__, -24, -0x1p-24, -0x1p-24, 0, false},
        {__LINE__, -15, 0.75 * 0x1p-24, 0, 0.75 * 0x1p-24, false},
        {__LINE__, LB_NO_EXPONENT, 0, 0, 0, false},
    };
    for (size_t i = 0; i < 4; i++) {
        const lb_explain_term *t = &e.terms[i];
        const bool same = t->exponent == want[i].exponent && t->sets_max == want[i].sets_max &&
                          same_value(t->value, lb_value_of(want[i].value)) && same_value(t->kept, lb_value_of(want[i].kept)) &&
                          same_value(t->cut, lb_value_of(want[i].cut));
        if (!same) fail_msg("row at %d", want[i].line);
    }
    assert_int_equal(e.terms[8].source, LB_EXPLAIN_FROM_C);
    assert_int_equal(e.terms[8].exponent, 0);
    assert_true(e.terms[8].sets_max);
    assert_int_equal(op->max_exp, 0);
    assert_int_equal(op->unit_exp, -24);
    assert_true(same_value(op->sum, lb_value_of(3.25 - 0x1p-24)));
    assert_int_equal(op->sum_exponent, 1);
    assert_int_equal(e.d, 0x404fffff); /* 3.25 - 2^-22 */
    assert_true(same_value(op->lost, lb_value_of(0x1p-22 - 0x1p-24)));
    assert_true(same_value(e.exact_value, lb_value_of(3.25 - 0x1p-26))); /* -2^-24 + 0.75 * 2^-24 */
    assert_int_equal(e.exact, 0x40500000);
    assert_int_equal(e.ulp, 1);
    lb_explain_free(&e);
}

static void bad_calls_are_refused_and_leave_nothing(void **state) {
    (void)state;
    const lb_unit u = unit_named("sm_80/mma.m16n8k8.f32.f16.f16.f32"), open = unit_named("sm_80/mma.m8n8k4.f32.f16.f16.f32");
    const lb_unit scaled = unit_named("sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0");
    static uint8_t zeros[4096];
    const lb_mat a = lb_mat_of(lb_format_row(LB_F16), zeros, 2, 8), b = lb_mat_of(lb_format_row(LB_F16), zeros, 8, 2);
    const lb_mat x = lb_mat_of(lb_format_row(LB_E2M1), zeros, 2, 64), y = lb_mat_of(lb_format_row(LB_E2M1), zeros, 64, 2);
    lb_explanation e;
    lb_error err;
    assert_int_equal(lb_explain(&u, &a, &b, NULL, NULL, 2, 0, &e, &err), LB_E_SHAPE);
    assert_int_equal(lb_explain(&u, &a, &b, NULL, NULL, 0, 2, &e, &err), LB_E_SHAPE);
    assert_int_equal(lb_explain(&u, &a, &a, NULL, NULL, 0, 0, &e, &err), LB_E_SHAPE);
    assert_int_equal(lb_explain(&u, &x, &b, NULL, NULL, 0, 0, &e, &err), LB_E_FORMAT);
    assert_int_equal(lb_explain(&open, &a, &b, NULL, NULL, 0, 0, &e, &err), LB_E_UNAVAILABLE);
    assert_int_equal(lb_explain(&scaled, &x, &y, NULL, NULL, 0, 0, &e, &err), LB_E_ARG);
    lb_unit custom = u;
    custom.k = 264; /* the engine takes it; an explanation of one step does not */
    assert_int_equal(lb_explain(&custom, &a, &b, NULL, NULL, 0, 0, &e, &err), LB_E_ARG);
    custom = u;
    custom.sparse_group = 1;
    assert_int_equal(lb_explain(&custom, &a, &b, NULL, NULL, 0, 0, &e, &err), LB_E_ARG);
    custom = unit_named("sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16"); /* an operand that f16 cannot hold is Inf once it is widened */
    custom.b = LB_BF16;
    const uint8_t one = 0x38;
    const uint16_t large = 0x7f00;
    const lb_mat ma = lb_mat_of(lb_format_row(LB_E4M3), &one, 1, 1), mb = lb_mat_of(lb_format_row(LB_BF16), &large, 1, 1);
    assert_int_equal(lb_explain(&custom, &ma, &mb, NULL, NULL, 0, 0, &e, &err), LB_OK);
    assert_int_equal(e.d, 0x7c00);
    lb_explain_free(&e);
    assert_null(e.ops);
    assert_null(e.terms);
    lb_explain_free(&e);
    lb_explain_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_is_explained_with_the_bits_of_the_engine),
        cmocka_unit_test(alternatives_are_explained_too),
        cmocka_unit_test(the_exact_answer_is_the_correctly_rounded_one),
        cmocka_unit_test(texts_of_every_unit_fit_80_columns_and_json_has_everything),
        cmocka_unit_test(a_long_k_shows_its_ends_or_what_was_asked_for),
        cmocka_unit_test(the_text_of_a_block_is_this),
        cmocka_unit_test(a_block_by_hand),
        cmocka_unit_test(bad_calls_are_refused_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
