/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Replays: attention; what picks and moves. */
#include "refs/op_play.h"

#include <math.h>
#include <stdlib.h>

static size_t whole(const lb_play *p, const char *name) {
    return lb_play_whole(p, name);
}

/* The case's tensors as f32 and one row of scores. */
typedef struct tensors {
    float *q, *k, *v, *s;
} tensors;

static float *copy(const lb_play *p, unsigned port) {
    const size_t n = lb_array_count(&p->x->in[port]);
    float *x = lb_play_room(p, n);
    for (size_t i = 0; x && i < n; i++) x[i] = lb_play_in(p, port, i);
    return x;
}

static void drop(tensors *t) {
    free(t->q);
    free(t->k);
    free(t->v);
    free(t->s);
}

static bool make(const lb_play *p, tensors *t, size_t keys) {
    *t = (tensors){copy(p, 0), copy(p, 1), copy(p, 2), lb_play_room(p, keys + 1)};
    return t->q && t->k && t->v && t->s;
}

typedef struct query {
    size_t q_at, kv_at, stride, d, from, to, out;
    float scale, softcap, alibi, position;
    const float *sink;
} query;

static void attend(const lb_play *p, const tensors *t, const query *q) {
    const size_t n = q->to - q->from;
    for (size_t j = 0; j < n; j++) {
        const float *key = t->k + q->kv_at + (q->from + j) * q->stride;
        float s = lb_play_dot(p, 0, t->q + q->q_at, 1, key, 1, q->d) * q->scale;
        if (q->softcap != 0) s = q->softcap * (float)tanh((double)(s / q->softcap));
        if (q->alibi != 0) s = lb_play_mad(p, q->alibi, (float)(q->from + j) - q->position, s);
        t->s[j] = s;
    }
    if (q->sink) t->s[n] = *q->sink;
    if (n) lb_play_normalise(p, t->s, n + (q->sink != NULL));
    for (size_t c = 0; c < q->d; c++)
        lb_play_put(p, 0, q->out + c, (double)lb_play_dot(p, 0, t->s, 1, t->v + q->kv_at + q->from * q->stride + c, q->stride, n));
}

static void see(query *q, int64_t at, int64_t seq, bool causal, int64_t window) {
    const int64_t to = causal && at + 1 < seq ? at + 1 : seq, from = window && at - window + 1 > 0 ? at - window + 1 : 0;
    q->position = (float)at;
    q->from = (size_t)(from < seq ? from : seq);
    q->to = to > (int64_t)q->from ? (size_t)to : q->from;
}

static lb_status plain(const lb_play *p, query like, int64_t window) {
    const size_t m = whole(p, "m"), seq = whole(p, "seq");
    const int64_t offset = (int64_t)lb_op_case_param(p->x, "q_offset");
    tensors t;
    const bool made = make(p, &t, seq);
    like.stride = like.d = whole(p, "d");
    if (like.scale == 0) like.scale = lb_play_rsqrt(p, (float)like.d);
    for (size_t i = 0; made && i < m; i++) {
        query q = like;
        q.q_at = q.out = i * q.d;
        see(&q, (int64_t)i + offset, (int64_t)seq, whole(p, "causal") != 0, window);
        attend(p, &t, &q);
    }
    drop(&t);
    return made ? LB_OK : LB_E_MEMORY;
}

lb_status lb_play_attention(const lb_play *p) {
    const query like = {.scale = lb_play_real(p, "scale"), .softcap = lb_play_real(p, "softcap"), .alibi = lb_play_real(p, "alibi")};
    return plain(p, like, (int64_t)whole(p, "window"));
}

lb_status lb_play_attention_sink(const lb_play *p) {
    const float sink = lb_play_in(p, 3, 0);
    return plain(p, (query){.sink = &sink}, 0);
}

lb_status lb_play_attention_cached(const lb_play *p) {
    const size_t d = whole(p, "d");
    tensors t;
    const bool made = make(p, &t, whole(p, "rows"));
    if (made) attend(p, &t, &(query){.stride = d, .d = d, .to = whole(p, "rows"), .scale = lb_play_rsqrt(p, (float)d)});
    drop(&t);
    return made ? LB_OK : LB_E_MEMORY;
}

lb_status lb_play_mha(const lb_play *p) {
    const size_t seq = whole(p, "seq"), heads = whole(p, "heads"), kv_heads = whole(p, "kv_heads"), d = whole(p, "d");
    tensors t;
    const bool made = make(p, &t, seq);
    for (size_t i = 0; made && i < seq * heads; i++) {
        query q = {.q_at = i * d, .out = i * d, .kv_at = i % heads / (heads / kv_heads) * d, .stride = kv_heads * d, .d = d};
        q.scale = lb_play_rsqrt(p, (float)d);
        see(&q, (int64_t)(i / heads), (int64_t)seq, whole(p, "causal") != 0, 0);
        attend(p, &t, &q);
    }
    drop(&t);
    return made ? LB_OK : LB_E_MEMORY;
}

/* ---- moves ------------------------------------------------------------------------------------------------------------------ */

static lb_status write_rows(const lb_play *p, size_t modulo) {
    const size_t d = whole(p, "d");
    for (size_t i = 0; i < whole(p, "len") * d; i++) lb_play_put(p, 0, i, p->in[0][i]);
    for (size_t i = 0; i < whole(p, "rows") * d; i++) lb_play_put(p, 0, (whole(p, "at") + i / d) % modulo * d + i % d, p->in[1][i]);
    return LB_OK;
}

lb_status lb_play_kv_write(const lb_play *p) {
    return write_rows(p, SIZE_MAX);
}

lb_status lb_play_kv_ring(const lb_play *p) {
    return write_rows(p, whole(p, "len"));
}

lb_status lb_play_embedding(const lb_play *p) {
    const size_t d = whole(p, "d");
    for (size_t i = 0; i < whole(p, "rows") * d; i++) lb_play_put(p, 0, i, p->in[0][(size_t)p->in[1][i / d] * d + i % d]);
    return LB_OK;
}

/* ---- picks ------------------------------------------------------------------------------------------------------------------ */

static bool before(const float *x, size_t a, size_t b) {
    if (isnan(x[a]) || isnan(x[b])) return isnan(x[a]) && (!isnan(x[b]) || a < b);
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

/* The k first of x[n] in order, by selection. */
static void pick(const float *x, size_t n, size_t k, size_t *order) {
    for (size_t j = 0; j < k; j++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if ((j == 0 || before(x, order[j - 1], i)) && (best == n || before(x, i, best))) best = i;
        order[j] = best;
    }
}

typedef void picked(const lb_play *p, size_t row, const float *x, size_t n, const size_t *order, size_t k, float *y);

static lb_status pick_rows(const lb_play *p, size_t n, size_t k, picked *use) {
    float *x = lb_play_room(p, 2 * n);
    size_t *order = malloc(k * sizeof *order);
    for (size_t row = 0; x && order && row < whole(p, "rows"); row++) {
        for (size_t i = 0; i < n; i++) x[i] = lb_play_in(p, 0, row * n + i);
        pick(x, n, k, order);
        use(p, row, x, n, order, k, x + n);
    }
    const bool made = x && order;
    free(x);
    free(order);
    return made ? LB_OK : lb_fail(p->err, LB_E_MEMORY, p->x->op->name, "out of memory");
}

static void use_argmax(const lb_play *p, size_t row, const float *x, size_t n, const size_t *order, size_t k, float *y) {
    (void)x, (void)n, (void)k, (void)y;
    lb_play_put(p, 0, row, (double)order[0]);
}

lb_status lb_play_argmax(const lb_play *p) {
    return pick_rows(p, whole(p, "vocab"), 1, use_argmax);
}

static void use_top_k(const lb_play *p, size_t row, const float *x, size_t n, const size_t *order, size_t k, float *y) {
    (void)n, (void)y;
    for (size_t j = 0; j < k; j++) {
        lb_play_put(p, 0, row * k + j, (double)x[order[j]]);
        lb_play_put(p, 1, row * k + j, (double)order[j]);
    }
}

lb_status lb_play_top_k(const lb_play *p) {
    return pick_rows(p, whole(p, "vocab"), whole(p, "k"), use_top_k);
}

static void use_moe(const lb_play *p, size_t row, const float *x, size_t n, const size_t *order, size_t k, float *y) {
    (void)n;
    for (size_t j = 0; j < k; j++) y[j] = x[order[j]];
    lb_play_normalise(p, y, k);
    for (size_t j = 0; j < k; j++) {
        lb_play_put(p, 0, row * k + j, (double)y[j]);
        lb_play_put(p, 1, row * k + j, (double)order[j]);
    }
}

lb_status lb_play_moe_route(const lb_play *p) {
    return pick_rows(p, whole(p, "experts"), whole(p, "k"), use_moe);
}

static void use_top_p(const lb_play *p, size_t row, const float *x, size_t n, const size_t *order, size_t k, float *y) {
    float sum = 0;
    size_t kept = 0;
    (void)k;
    for (size_t i = 0; i < n; i++) y[i] = x[i];
    lb_play_normalise(p, y, n);
    const bool nan = isnan(y[0]);
    while (kept < n && (kept == 0 || !(sum >= lb_play_real(p, "p")))) sum += y[order[kept++]];
    for (size_t j = 0; j < n; j++) lb_play_put(p, 0, row * n + order[j], j < kept ? (double)(y[order[j]] / sum) : nan ? NAN : 0.0);
}

lb_status lb_play_top_p(const lb_play *p) {
    return pick_rows(p, whole(p, "vocab"), whole(p, "vocab"), use_top_p);
}
