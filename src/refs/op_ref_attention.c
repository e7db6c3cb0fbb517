/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References: attention. A masked key is not looked at, so what it holds does not matter. */
#include "refs/op_ref.h"

#include <math.h>
#include <stdlib.h>

/* One query against keys [from, to). Rows of q, k, v lie `stride` elements apart; *_at is where the head's first element lies. */
typedef struct query {
    size_t q_at, k_at, v_at, stride, d;
    size_t from, to; /* keys that are seen */
    size_t out;
    double scale, softcap, alibi, position; /* scale 0: 1/sqrt(d) */
    const lb_num *sink;                     /* one more logit, or NULL */
} query;

static lb_num score(const lb_ref *r, const query *q, size_t j) {
    lb_sum dot;
    lb_sum_start(&dot);
    for (size_t c = 0; c < q->d; c++) lb_sum_product(&dot, lb_ref_in(r, 0, q->q_at + c), lb_ref_in(r, 1, q->k_at + j * q->stride + c));
    lb_num scale = lb_num_of(q->scale, r->c);
    if (q->scale == 0) scale = lb_num_call(LB_FN_rsqrt, (lb_num){(double)q->d, 0, 0}, r->c);
    lb_num s = lb_num_mul(lb_sum_value(&dot, r->c), scale, r->c);
    const double spread = dot.gauge * fabs(scale.v); /* q may be scaled before the products */
    s.l += LB_U * spread;
    if (q->softcap != 0) {
        const lb_num cap = lb_num_of(q->softcap, r->c);
        s = isinf(s.v) ? (lb_num){copysign(q->softcap, s.v), 0, 0}
                       : lb_num_mul(cap, lb_num_call(LB_FN_tanh, lb_num_div(s, cap, r->c), r->c), r->c);
    }
    if (q->alibi != 0) {
        const lb_num away = {(double)j - q->position, 0, 0};
        s = lb_num_add(s, lb_num_mul(lb_num_of(q->alibi, r->c), away, r->c), r->c);
        s.l += LB_U * fabs(q->alibi) * (fabs(q->position) + (double)j); /* or slope j, less what is common to the row */
    }
    return s;
}

/* s and w have room for every key and the sink. */
static void attend(const lb_ref *r, const query *q, lb_num *s, lb_num *w) {
    const size_t keys = q->to > q->from ? q->to - q->from : 0, n = keys + (q->sink && keys);
    for (size_t j = 0; j < keys; j++) s[j] = score(r, q, q->from + j);
    if (n > keys) s[keys] = *q->sink;
    const bool fine = keys && lb_ref_weights(r, s, n, w, NULL);
    lb_sum sum, out;
    lb_sum_start(&sum);
    for (size_t j = 0; fine && j < n; j++) lb_sum_add(&sum, w[j]);
    const lb_num total = lb_sum_value(&sum, r->c);
    for (size_t c = 0; c < q->d; c++) {
        if (!fine) {
            lb_ref_put_exact(r, 0, q->out + c, keys ? NAN : 0.0);
            continue;
        }
        lb_sum_start(&out);
        for (size_t j = 0; j < keys; j++) lb_sum_product(&out, w[j], lb_ref_in(r, 2, q->v_at + (q->from + j) * q->stride + c));
        lb_num o = lb_num_div(lb_sum_value(&out, r->c), total, r->c);
        o.l += 2 * LB_U * out.gauge / total.v; /* or each weight divided first */
        lb_ref_put(r, 0, q->out + c, o);
    }
}

static lb_num *room(const lb_ref *r, size_t keys) {
    lb_num *s = malloc(2 * (keys + 1) * sizeof *s);
    if (!s) lb_fail(r->err, LB_E_MEMORY, r->x->op->name, "out of memory");
    return s;
}

/* Keys that query position p sees: up to p where causal, the last `window` up to p where there is a window. */
static void see(query *q, int64_t p, int64_t seq, bool causal, int64_t window) {
    const int64_t to = causal && p + 1 < seq ? p + 1 : seq, from = window && p - window + 1 > 0 ? p - window + 1 : 0;
    q->position = (double)p;
    q->from = (size_t)from;
    q->to = to > from ? (size_t)to : (size_t)from;
}

static lb_status plain(lb_ref *r, const lb_num *sink, int64_t window, double softcap, double scale, double alibi) {
    const size_t m = (size_t)lb_ref_whole(r, "m"), d = (size_t)lb_ref_whole(r, "d"), seq = (size_t)lb_ref_whole(r, "seq");
    const int64_t offset = lb_ref_whole(r, "q_offset"), causal = lb_ref_whole(r, "causal");
    lb_num *s = room(r, seq);
    if (!s) return LB_E_MEMORY;
    for (size_t i = 0; i < m; i++) {
        query q = {.q_at = i * d, .stride = d, .d = d, .out = i * d, .scale = scale, .softcap = softcap, .alibi = alibi, .sink = sink};
        see(&q, (int64_t)i + offset, (int64_t)seq, causal != 0, window);
        attend(r, &q, s, s + seq + 1);
    }
    free(s);
    return LB_OK;
}

lb_status lb_ref_attention(lb_ref *r) {
    return plain(r, NULL, lb_ref_whole(r, "window"), lb_ref_real(r, "softcap"), lb_ref_real(r, "scale"), lb_ref_real(r, "alibi"));
}

lb_status lb_ref_attention_sink(lb_ref *r) {
    const lb_num sink = lb_ref_in(r, 3, 0);
    return plain(r, &sink, 0, 0, 0, 0);
}

lb_status lb_ref_attention_cached(lb_ref *r) {
    const size_t d = (size_t)lb_ref_whole(r, "d"), rows = (size_t)lb_ref_whole(r, "rows");
    lb_num *s = room(r, rows);
    if (!s) return LB_E_MEMORY;
    const query q = {.stride = d, .d = d, .to = rows};
    attend(r, &q, s, s + rows + 1);
    free(s);
    return LB_OK;
}

/* The key side of a head may have another row length than the query side, so each query is attended with the keys' stride. */
lb_status lb_ref_mha(lb_ref *r) {
    const size_t seq = (size_t)lb_ref_whole(r, "seq"), heads = (size_t)lb_ref_whole(r, "heads"), d = (size_t)lb_ref_whole(r, "d");
    const size_t kv_heads = (size_t)lb_ref_whole(r, "kv_heads"), group = heads / kv_heads;
    lb_num *s = room(r, seq);
    if (!s) return LB_E_MEMORY;
    for (size_t i = 0; i < seq; i++)
        for (size_t h = 0; h < heads; h++) {
            const size_t at = (i * heads + h) * d, key = h / group * d;
            query q = {.q_at = at, .k_at = key, .v_at = key, .stride = kv_heads * d, .d = d, .out = at};
            see(&q, (int64_t)i, (int64_t)seq, lb_ref_whole(r, "causal") != 0, 0);
            attend(r, &q, s, s + seq + 1);
        }
    free(s);
    return LB_OK;
}
