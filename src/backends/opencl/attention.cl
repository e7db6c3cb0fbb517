/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fused attention: a work-group a query (and head) walks the keys LB_X at a time, one lane a key for the scores, then one lane a column of
 * the values; the softmax is kept up online: `top`, the largest score so far, `sum` of exp(score - top), and the values' sums, all scaled
 * again when `top` grows. Keys pass through local memory in chunks, so that a row of K is read by neighbouring lanes. */
enum { MOST_D = 256, CHUNK = 16, COLUMNS = MOST_D / LB_X };

typedef struct keys {
    global const T *k, *v;    /* at the head's first column */
    size_t stride;            /* elements from a key to the next */
    int first, last;          /* keys first … last - 1 */
    float scale, softcap, alibi;
    int position;             /* of the query, for alibi */
} keys;

typedef struct softmax_state {
    float top, sum;
} softmax_state;

/* Score of key base + lane: -Inf past the last. */
float score_of(const keys *a, local const float *q, local float (*chunk)[CHUNK + 1], int base, int d) {
    const int lane = get_local_id(0), key = base + lane;
    float dot = 0.0f;
    for (int c = 0; c < d; c += CHUNK) {
        for (int e = lane; e < LB_X * CHUNK; e += LB_X) {
            const int row = e / CHUNK, col = e % CHUNK;
            chunk[row][col] = base + row < a->last && c + col < d ? load(a->k, (size_t)(base + row) * a->stride + c + col) : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int col = 0; col < CHUNK && c + col < d; col++) dot = fma(q[c + col], chunk[lane][col], dot);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float score = dot * a->scale;
    if (a->softcap != 0.0f) score = a->softcap * tanh(score / a->softcap);
    score += a->alibi * (float)(key - a->position);
    return key < a->last ? score : -INFINITY;
}

/* start: what the softmax holds before the first key (a sink), or {-Inf, 0}. */
void attend(const keys *a, global const T *q, global T *o, int d, softmax_state start, local float *query, local float *s,
            local float *weight, local float (*chunk)[CHUNK + 1]) {
    const int lane = get_local_id(0);
    float top = start.top, sum = start.sum, out[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) out[j] = 0.0f;
    for (int c = lane; c < d; c += LB_X) query[c] = load(q, c);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int base = a->first; base < a->last; base += LB_X) {
        const float score = score_of(a, query, chunk, base, d);
        const float higher = fmax(top, group_max(s, score));
        const float shrink = exp(top - higher);
        weight[lane] = base + lane < a->last ? exp(score - higher) : 0.0f;
        sum = fma(sum, shrink, group_sum(s, weight[lane]));
        top = higher;
        const int count = min(LB_X, a->last - base);
        for (int j = 0, c = lane; c < d; j++, c += LB_X) {
            out[j] *= shrink;
            for (int t = 0; t < count; t++) out[j] = fma(weight[t], load(a->v, (size_t)(base + t) * a->stride + c), out[j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = 0, c = lane; c < d; j++, c += LB_X) store(o, c, a->first < a->last ? out[j] / sum : 0.0f);
}

#define LOCALS SHARED float query[MOST_D], s[LB_X], weight[LB_X], chunk[LB_X][CHUNK + 1]

float usual_scale(int d) { return 1.0f / sqrt((float)d); }

GROUP void attention(global const T *q, global const T *k, global const T *v, global T *o, int m, int seq, int d, int causal, int q_offset,
                     int window, float softcap, float scale, float alibi) {
    LOCALS;
    const int i = get_group_id(0), p = i + q_offset;
    const int last = causal ? clamp(p + 1, 0, seq) : seq, first = window ? max(p - window + 1, 0) : 0;
    const keys a = {k, v, (size_t)d, first, last, scale == 0.0f ? usual_scale(d) : scale, softcap, alibi, p};
    const softmax_state none = {-INFINITY, 0.0f};
    attend(&a, q + (size_t)i * d, o + (size_t)i * d, d, none, query, s, weight, chunk);
}

GROUP void attention_sink(global const T *q, global const T *k, global const T *v, global const float *sink, global T *o, int m, int seq,
                          int d, int causal, int q_offset) {
    LOCALS;
    const int i = get_group_id(0);
    const keys a = {k, v, (size_t)d, 0, causal ? clamp(i + q_offset + 1, 0, seq) : seq, usual_scale(d), 0.0f, 0.0f, 0};
    const softmax_state sunk = {sink[0], 1.0f};
    attend(&a, q + (size_t)i * d, o + (size_t)i * d, d, sunk, query, s, weight, chunk);
}

GROUP void attention_cached(global const T *q, global const T *k, global const T *v, global T *o, int len, int d, int rows) {
    LOCALS;
    const keys a = {k, v, (size_t)d, 0, rows, usual_scale(d), 0.0f, 0.0f, 0};
    const softmax_state none = {-INFINITY, 0.0f};
    attend(&a, q, o, d, none, query, s, weight, chunk);
}

/* Heads lie side by side in a row; `heads / kv_heads` query heads share one of keys and values. */
GROUP void mha(global const T *q, global const T *k, global const T *v, global T *o, int seq, int heads, int kv_heads, int d, int causal) {
    LOCALS;
    const int i = get_group_id(0), head = get_group_id(1), kv_head = head / (heads / kv_heads);
    const size_t q_at = ((size_t)i * heads + head) * d;
    const keys a = {k + kv_head * d, v + kv_head * d, (size_t)kv_heads * d, 0, causal ? i + 1 : seq, usual_scale(d), 0.0f, 0.0f, 0};
    const softmax_state none = {-INFINITY, 0.0f};
    attend(&a, q + q_at, o + q_at, d, none, query, s, weight, chunk);
}
