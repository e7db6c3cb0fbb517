/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References: what picks and moves; and which picks of a device are legal where the row leaves a choice. */
#include "refs/op_ref.h"

#include "base/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lb_status no_memory(const lb_ref *r) {
    return lb_fail(r->err, LB_E_MEMORY, r->x->op->name, "out of memory");
}

static size_t whole(const lb_ref *r, const char *name) {
    return (size_t)lb_ref_whole(r, name);
}

/* ---- moves ------------------------------------------------------------------------------------------------------------------ */

static lb_status write_rows(lb_ref *r, bool ring) {
    const size_t len = whole(r, "len"), d = whole(r, "d"), at = whole(r, "at"), rows = whole(r, "rows");
    for (size_t i = 0; i < len * d; i++) lb_ref_put_exact(r, 0, i, r->in[0][i]);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < d; c++) lb_ref_put_exact(r, 0, (ring ? (at + i) % len : at + i) * d + c, r->in[1][i * d + c]);
    return LB_OK;
}

lb_status lb_ref_kv_write(lb_ref *r) {
    return write_rows(r, false);
}

lb_status lb_ref_kv_ring(lb_ref *r) {
    return write_rows(r, true);
}

lb_status lb_ref_embedding(lb_ref *r) {
    const size_t d = whole(r, "d");
    for (size_t i = 0; i < r->t->count[0]; i++) lb_ref_put_exact(r, 0, i, r->in[0][(size_t)r->in[1][i / d] * d + i % d]);
    return LB_OK;
}

/* ---- order ------------------------------------------------------------------------------------------------------------------ */

typedef struct keyed {
    double x;
    size_t at;
} keyed;

static int largest_first(const void *a, const void *b) {
    const keyed *p = a, *q = b;
    const int nan = isnan(q->x) - isnan(p->x);
    if (nan) return nan;
    if (p->x != q->x && !isnan(p->x)) return p->x > q->x ? -1 : 1;
    return p->at < q->at ? -1 : 1;
}

static void sorted(const double *x, size_t n, keyed *keys) {
    for (size_t i = 0; i < n; i++) keys[i] = (keyed){x[i], i};
    qsort(keys, n, sizeof *keys, largest_first);
}

static bool same_key(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

lb_status lb_ref_argmax(lb_ref *r) {
    const size_t n = whole(r, "vocab");
    for (size_t row = 0; row < r->t->count[0]; row++) {
        const double *x = r->in[0] + row * n;
        size_t best = 0;
        for (size_t j = 1; j < n; j++)
            if ((isnan(x[j]) && !isnan(x[best])) || x[j] > x[best]) best = j;
        lb_ref_put_exact(r, 0, row, (double)best);
    }
    return LB_OK;
}

lb_status lb_ref_top_k(lb_ref *r) {
    const size_t n = whole(r, "vocab"), k = whole(r, "k");
    keyed *keys = malloc(n * sizeof *keys);
    if (!keys) return no_memory(r);
    for (size_t row = 0; row < whole(r, "rows"); row++) {
        sorted(r->in[0] + row * n, n, keys);
        for (size_t j = 0; j < k; j++) {
            lb_ref_put_exact(r, 0, row * k + j, keys[j].x);
            lb_ref_put_exact(r, 1, row * k + j, (double)keys[j].at);
        }
    }
    free(keys);
    return LB_OK;
}

lb_status lb_ref_moe_route(lb_ref *r) {
    const size_t n = whole(r, "experts"), k = whole(r, "k");
    keyed *keys = malloc(n * sizeof *keys);
    lb_num *s = malloc(2 * k * sizeof *s);
    for (size_t row = 0; keys && s && row < whole(r, "rows"); row++) {
        sorted(r->in[0] + row * n, n, keys);
        for (size_t j = 0; j < k; j++) {
            s[j] = lb_num_of(keys[j].x, r->c);
            lb_ref_put_exact(r, 1, row * k + j, (double)keys[j].at);
        }
        const bool fine = lb_ref_weights(r, s, k, s + k, NULL);
        lb_sum sum;
        lb_sum_start(&sum);
        for (size_t j = 0; fine && j < k; j++) lb_sum_add(&sum, s[k + j]);
        const lb_num total = lb_sum_value(&sum, r->c);
        for (size_t j = 0; j < k; j++)
            if (fine)
                lb_ref_put(r, 0, row * k + j, lb_num_div(s[k + j], total, r->c));
            else
                lb_ref_put_exact(r, 0, row * k + j, NAN);
    }
    const bool made = keys && s;
    free(keys);
    free(s);
    return made ? LB_OK : no_memory(r);
}

/* ---- top p ------------------------------------------------------------------------------------------------------------------ */

typedef struct row_work {
    keyed *keys;
    lb_num *s, *w; /* logits; weights in the order of keys */
    bool *kept;    /* by place */
} row_work;

static bool make_work(row_work *m, size_t n) {
    *m = (row_work){malloc(n * sizeof *m->keys), malloc(n * sizeof *m->s), malloc(n * sizeof *m->w), calloc(n, sizeof *m->kept)};
    return m->keys && m->s && m->w && m->kept;
}

static void drop_work(row_work *m) {
    free(m->keys);
    free(m->s);
    free(m->w);
    free(m->kept);
}

/* The first n of the sorted weights are kept: those divided by their sum, zero elsewhere. */
static void keep(const lb_ref *r, size_t start, size_t vocab, const row_work *m, size_t n) {
    lb_sum sum;
    lb_sum_start(&sum);
    for (size_t j = 0; j < n; j++) lb_sum_add(&sum, m->w[j]);
    const lb_num total = lb_sum_value(&sum, r->c);
    for (size_t j = 0; j < vocab; j++) {
        const size_t at = start + m->keys[j].at;
        if (j >= n) {
            lb_ref_put_exact(r, 0, at, 0);
            continue;
        }
        lb_num y = lb_num_div(m->w[j], total, r->c);
        y.l += 6 * LB_U * y.v + lb_num_floor(y.v, 0, r->c); /* divided by the whole sum first, then by what is kept */
        lb_ref_put(r, 0, at, y);
    }
}

/* Sum of the first n weights over all of them. */
static lb_num share(const lb_ref *r, const row_work *m, size_t n, size_t vocab) {
    lb_sum part, all;
    lb_sum_start(&part);
    lb_sum_start(&all);
    for (size_t j = 0; j < vocab; j++) {
        if (j < n) lb_sum_add(&part, m->w[j]);
        lb_sum_add(&all, m->w[j]);
    }
    return lb_num_div(lb_sum_value(&part, r->c), lb_sum_value(&all, r->c), r->c);
}

/* Logits sorted, their weights; false where the row is NaN. */
static bool weigh(const lb_ref *r, size_t start, size_t vocab, row_work *m) {
    sorted(r->in[0] + start, vocab, m->keys);
    for (size_t j = 0; j < vocab; j++) m->s[j] = lb_num_of(m->keys[j].x, r->c);
    return lb_ref_weights(r, m->s, vocab, m->w, NULL);
}

static size_t fewest(const lb_ref *r, const row_work *m, size_t vocab, double p) {
    lb_sum part, all;
    lb_sum_start(&part);
    lb_sum_start(&all);
    for (size_t j = 0; j < vocab; j++) lb_sum_add(&all, m->w[j]);
    const lb_num total = lb_sum_value(&all, r->c);
    for (size_t n = 1; n <= vocab; n++) {
        lb_sum_add(&part, m->w[n - 1]);
        if (lb_num_div(lb_sum_value(&part, r->c), total, r->c).v >= p) return n;
    }
    return vocab;
}

lb_status lb_ref_top_p(lb_ref *r) {
    const size_t vocab = whole(r, "vocab");
    const double p = lb_ref_real(r, "p");
    row_work m;
    const bool made = make_work(&m, vocab);
    for (size_t row = 0; made && row < whole(r, "rows"); row++) {
        if (weigh(r, row * vocab, vocab, &m))
            keep(r, row * vocab, vocab, &m, fewest(r, &m, vocab, p));
        else
            for (size_t j = 0; j < vocab; j++) lb_ref_put_exact(r, 0, row * vocab + j, NAN);
    }
    drop_work(&m);
    return made ? LB_OK : no_memory(r);
}

/* ---- legal choices of a device ------------------------------------------------------------------------------------------------ */

/* Whether id[k] are distinct places whose keys are those of the k largest, rank by rank. */
static bool ranks_agree(const double *x, size_t n, const int32_t *id, size_t k, const double *chosen) {
    for (size_t j = 0; j < k; j++) {
        if (id[j] < 0 || (size_t)id[j] >= n || !same_key(x[id[j]], x[(size_t)chosen[j]])) return false;
        for (size_t i = 0; i < j; i++)
            if (id[i] == id[j]) return false;
    }
    return true;
}

/* Among NaN any is legal only where nan_ties is set. */
static lb_status settle_ids(lb_ref *r, const char *columns, unsigned port, bool nan_ties) {
    const size_t n = whole(r, columns), rows = whole(r, "rows"), k = r->t->count[port] / rows;
    const int32_t *id = r->x->out[port].codes;
    for (size_t row = 0; row < rows; row++) {
        double *chosen = r->t->value[port] + row * k;
        if (!ranks_agree(r->in[0] + row * n, n, id + row * k, k, chosen)) continue;
        if (!nan_ties && isnan(r->in[0][row * n + (size_t)chosen[0]])) continue;
        for (size_t j = 0; j < k; j++) chosen[j] = (double)id[row * k + j];
    }
    return LB_OK;
}

static lb_status settle_argmax(lb_ref *r) {
    return settle_ids(r, "vocab", 0, false);
}

static lb_status settle_top_k(lb_ref *r) {
    return settle_ids(r, "vocab", 1, true);
}

static lb_status settle_moe(lb_ref *r) {
    return settle_ids(r, "experts", 1, true);
}

/* Of equal logits the kept ones come first; equal logits have equal weights, which therefore stay. */
static void reorder(row_work *m, size_t n, size_t vocab) {
    for (size_t j = 0, from = n; j < n; j++) {
        if (m->kept[m->keys[j].at]) continue;
        while (from < vocab && !m->kept[m->keys[from].at]) from++;
        if (from == vocab) return;
        const size_t at = m->keys[j].at;
        m->keys[j].at = m->keys[from].at;
        m->keys[from++].at = at;
    }
}

/* The device kept n elements: legal if they are n largest, n reach p and n - 1 do not, within the error of the running sum. */
static void settle_row(lb_ref *r, size_t start, size_t vocab, row_work *m, double p) {
    const float *y = (const float *)r->x->out[0].codes + start;
    size_t n = 0;
    if (!weigh(r, start, vocab, m)) return;
    for (size_t j = 0; j < vocab; j++) n += m->kept[j] = y[j] != 0;
    if (n == 0) return;
    const double least = m->keys[n - 1].x;
    for (size_t j = 0; j < vocab; j++) {
        const double x = r->in[0][start + j];
        if (m->kept[j] ? !(x >= least) : x > least) return;
    }
    const lb_num with = share(r, m, n, vocab), without = n > 1 ? share(r, m, n - 1, vocab) : (lb_num){0, 0, 0};
    if (n < vocab && with.v + with.l + with.e < p) return;
    if (n > 1 && without.v - without.l - without.e >= p) return;
    reorder(m, n, vocab);
    keep(r, start, vocab, m, n);
}

static lb_status settle_top_p(lb_ref *r) {
    const size_t vocab = whole(r, "vocab");
    row_work m;
    const bool made = make_work(&m, vocab);
    for (size_t row = 0; made && row < whole(r, "rows"); row++) settle_row(r, row * vocab, vocab, &m, lb_ref_real(r, "p"));
    drop_work(&m);
    return made ? LB_OK : no_memory(r);
}

lb_status lb_op_truth_settle(lb_op_truth *t, const lb_op_case *x, lb_error *err) {
    static const struct {
        const char *name;
        lb_ref_function *run;
    } rows[] = {{"argmax", settle_argmax}, {"top_k", settle_top_k}, {"moe_route", settle_moe}, {"top_p", settle_top_p}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, x->op->name) != 0) continue;
        lb_ref r = {.x = x, .t = t, .c = t->functions, .err = err};
        LB_TRY(lb_op_load(x, r.in, err));
        const lb_status s = rows[i].run(&r);
        for (unsigned j = 0; j < LB_OP_INPUTS; j++) free(r.in[j]);
        return s;
    }
    return LB_OK;
}
