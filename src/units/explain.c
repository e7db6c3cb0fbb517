/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One element of D explained: its operands, its steps told, the exact answer, and the engine's word on it. */
#include "base/try.h"
#include "units/parameters.h"
#include "units/telling.h"

#include <stdlib.h>

const char *lb_explain_what_name(lb_explain_what what) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_EXPLAIN_OP_LIST(X)
#undef X
    };
    return (unsigned)what < LB_EXPLAIN_WHAT_COUNT ? names[what] : "?";
}

const char *lb_explain_what_text(lb_explain_what what) {
    static const char *const texts[] = {
#define X(id, name, text) text,
        LB_EXPLAIN_OP_LIST(X)
#undef X
    };
    return (unsigned)what < LB_EXPLAIN_WHAT_COUNT ? texts[what] : "?";
}

void lb_explain_free(lb_explanation *e) {
    if (!e) return;
    free(e->ops);
    free(e->terms);
    *e = (lb_explanation){0};
}

/* ---- the operands of one element ------------------------------------------------------------------------------------ */

/* A row of A, a column of B, one c, and what goes with them: views, [1][k], [k][1], [1][1]. */
typedef struct element {
    const lb_unit *u;
    lb_mat a, b, c, scale_a, scale_b, metadata;
    bool has_c;
    lb_unit_operands with; /* pointers to the views above */
    size_t *index;         /* [a.cols] where the elements of a compressed A go; NULL if A is dense */
} element;

static lb_mat view(const lb_mat *m, size_t row, size_t rows, size_t col, size_t cols) {
    lb_mat v = *m;
    v.codes = lb_mat_at(m, row, col);
    v.rows = rows;
    v.cols = cols;
    return v;
}

static lb_status open_element(element *x, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, size_t row,
                              size_t col, lb_error *err) {
    const lb_unit *u = x->u;
    x->a = view(a, row, 1, 0, a->cols);
    x->b = view(b, 0, b->rows, col, 1);
    x->has_c = c != NULL;
    if (c) x->c = view(c, row, 1, col, 1);
    if (with && with->scale_a) {
        x->scale_a = view(with->scale_a, row, 1, 0, with->scale_a->cols);
        x->with.scale_a = &x->scale_a;
    }
    if (with && with->scale_b) {
        x->scale_b = view(with->scale_b, 0, with->scale_b->rows, col, 1);
        x->with.scale_b = &x->scale_b;
    }
    if (with && with->metadata) {
        x->metadata = view(with->metadata, row, 1, 0, with->metadata->cols);
        x->with.metadata = &x->metadata;
    }
    if (!u->sparse_group) return LB_OK;
    x->index = malloc((a->cols + 1) * sizeof *x->index);
    if (!x->index) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu places", a->cols);
    return lb_sparse_index(u, &x->metadata, 0, 0, a->cols, x->index, err);
}

/* Products of K step number `step`; what lies past K is zero, and a scale there is one. */
static void load_step(const element *x, size_t step, lb_told_step *s) {
    const lb_unit *u = x->u;
    s->count = u->sparse_group ? u->k / 2 : u->k;
    for (int i = 0; i < s->count; i++) {
        const size_t at = step * (size_t)s->count + (size_t)i;
        const bool within = at < x->a.cols;
        s->k[i] = x->index && within ? x->index[at] : x->index ? 2 * at : at;
        s->a[i] = within ? lb_mat_code(&x->a, 0, at) : 0;
        s->b[i] = within ? lb_mat_code(&x->b, s->k[i], 0) : 0;
    }
    if (!u->scale_block) return;
    const size_t scales = (size_t)(u->k / u->scale_block);
    const uint64_t one = lb_from_double(lb_format_row(u->scale), 1);
    for (size_t i = 0; i < scales; i++) {
        const size_t at = step * scales + i;
        s->scale_a[i] = at < x->scale_a.cols ? lb_mat_code(&x->scale_a, 0, at) : one;
        s->scale_b[i] = at < x->scale_b.rows ? lb_mat_code(&x->scale_b, at, 0) : one;
    }
}

/* ---- the exact answer -------------------------------------------------------------------------------------------------- */

static lb_value exact_product(const lb_unit *u, const lb_told_step *s, int i, lb_value *x, lb_value *y) {
    *x = lb_decode(lb_format_row(u->a), s->a[i]);
    *y = lb_decode(lb_format_row(u->b), s->b[i]);
    if (u->path == LB_PATH_XOR_POPC || u->path == LB_PATH_AND_POPC) {
        *x = lb_value_of((double)((u->path == LB_PATH_XOR_POPC ? s->a[i] ^ s->b[i] : s->a[i] & s->b[i]) & 1));
        *y = lb_value_of(1);
    }
    if (u->scale_block) {
        const lb_format *f = lb_format_row(u->scale);
        const int at = i / u->scale_block;
        *x = lb_value_mul(*x, lb_decode(f, s->scale_a[at]));
        *y = lb_value_mul(*y, lb_decode(f, s->scale_b[at]));
    }
    return lb_value_mul(*x, *y);
}

static void say_exact(lb_explanation *e, const element *x) {
    const lb_unit *u = x->u;
    const lb_format *d = lb_format_row(u->d);
    lb_value alone = lb_decode(lb_format_row(u->c), e->c);
    lb_told_step s;
    lb_exact_sum sum;
    lb_exact_sum_clear(&sum);
    lb_exact_sum_add(&sum, alone, NULL);
    if (alone.cls < LB_INF) alone = (lb_value){.cls = LB_ZERO};
    for (size_t step = 0; step < e->steps; step++) {
        load_step(x, step, &s);
        for (int i = 0; i < s.count; i++) {
            lb_value a, b;
            const lb_value product = exact_product(u, &s, i, &a, &b);
            if (product.cls >= LB_INF)
                alone = lb_value_add(alone, product);
            else
                lb_exact_sum_add(&sum, a, &b);
        }
    }
    e->exact_value = alone.cls >= LB_INF ? alone : lb_value_trimmed(lb_exact_sum_value(&sum));
    e->exact = lb_encode(d, e->exact_value, NULL, NULL);
    const bool nan = lb_code_class(d, e->d) == LB_NAN, exact_nan = lb_code_class(d, e->exact) == LB_NAN;
    e->ulp = nan && exact_nan ? 0 : lb_ulp_distance(d, e->d, e->exact);
}

/* ---- the telling --------------------------------------------------------------------------------------------------------- */

static lb_tell_function *const tellers[LB_PATH_COUNT] = {
    [LB_PATH_TRUNCATED] = lb_tell_blocks,          [LB_PATH_TWO_HALVES] = lb_tell_blocks,     [LB_PATH_SPARSE] = lb_tell_blocks,
    [LB_PATH_BLOCK_SCALED] = lb_tell_block_scaled, [LB_PATH_FMA_CHAIN] = lb_tell_fma_chain,   [LB_PATH_EXACT] = lb_tell_exact,
    [LB_PATH_PAIRWISE] = lb_tell_pairwise,         [LB_PATH_LATE_C] = lb_tell_late_c,         [LB_PATH_LATE_C_SPLIT] = lb_tell_late_c,
    [LB_PATH_INTEGER] = lb_tell_integer,           [LB_PATH_XOR_POPC] = lb_tell_integer,      [LB_PATH_AND_POPC] = lb_tell_integer,
    [LB_PATH_ODD_FIRST] = lb_tell_odd_first,       [LB_PATH_TWO_CHAINS] = lb_tell_two_chains, [LB_PATH_PAIR_ODD] = lb_tell_pair_odd,
    [LB_PATH_PAIR_FUSED] = lb_tell_pair_fused,
};

static lb_status tell(lb_explanation *e, const element *x, lb_error *err) {
    const lb_unit *u = x->u;
    lb_teller t = {.e = e, .u = u};
    lb_told_step s;
    uint64_t acc = e->c;
    for (; t.step < e->steps; t.step++) {
        load_step(x, t.step, &s);
        acc = lb_settle_nan(u, tellers[u->path](&t, &s, acc));
        lb_told_op(&t)->result = acc;
    }
    if (t.failed) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for an explanation of %zu products", e->k);
    e->blocks = t.block;
    e->d = acc;
    return LB_OK;
}

/* The engine has the last word. */
static lb_status compare(const lb_explanation *e, const element *x, lb_error *err) {
    uint64_t code = 0;
    const lb_format *f = lb_format_row(x->u->d);
    lb_mat d = lb_mat_of(f, &code, 1, 1);
    const bool with = x->with.scale_a || x->with.scale_b || x->with.metadata;
    LB_TRY(lb_unit_gemm_with(x->u, &x->a, &x->b, x->has_c ? &x->c : NULL, with ? &x->with : NULL, &d, err));
    const uint64_t engine = lb_mat_code(&d, 0, 0);
    if (engine == e->d) return LB_OK;
    return lb_fail(err, LB_E_UNAVAILABLE, x->u->name, "the explanation ends in %llx and the engine in %llx: a defect, please report it",
                   (unsigned long long)e->d, (unsigned long long)engine);
}

static lb_status check(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, size_t row,
                       size_t col, lb_error *err) {
    static const lb_unit_operands none = {0};
    const lb_mat d = {.format = lb_format_row(u->d), .rows = a->rows, .cols = b->cols};
    if (u->path == LB_PATH_NONE || (unsigned)u->path >= LB_PATH_COUNT)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "open: %s; %s", u->note, u->open);
    lb_code_path code;
    lb_engine engine;
    LB_TRY(lb_is_code_path(u->path) ? lb_code_path_of(u, &code, err) : lb_engine_of(u, &engine, err));
    if (!lb_is_code_path(u->path) && (u->scale_block || u->sparse_group))
        return lb_fail(err, LB_E_ARG, u->name, "path %s knows no scales and no compressed A", lb_unit_path_name(u->path));
    if (u->k > LB_MAX_K) return lb_fail(err, LB_E_ARG, u->name, "k is %u; a K step has 1 to %d products", u->k, LB_MAX_K);
    LB_TRY(lb_check_operands(u, a, b, c, &d, err));
    if (lb_is_code_path(u->path)) LB_TRY(lb_check_with(u, a, b, with ? with : &none, err));
    if (row < a->rows && col < b->cols) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, u->name, "no element %zu,%zu: D is %zux%zu", row, col, a->rows, b->cols);
}

lb_status lb_explain(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, size_t row,
                     size_t col, lb_explanation *out, lb_error *err) {
    *out = (lb_explanation){0};
    LB_TRY(check(u, a, b, c, with, row, col, err));
    lb_explanation e = {.unit = *u, .row = row, .col = col, .k = b->rows, .steps = b->rows / u->k + (b->rows % u->k != 0)};
    element x = {.u = u};
    lb_status s = open_element(&x, a, b, c, with, row, col, err);
    if (s == LB_OK) {
        e.c = c ? lb_mat_code(&x.c, 0, 0) : 0;
        s = tell(&e, &x, err);
    }
    if (s == LB_OK) s = compare(&e, &x, err);
    if (s == LB_OK) say_exact(&e, &x);
    free(x.index);
    if (s == LB_OK)
        *out = e;
    else
        lb_explain_free(&e);
    return s;
}
