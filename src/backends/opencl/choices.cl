/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A work-group a row: which of its elements are the largest. */

/* Whole numbers in the order of the values: both zeros the same, any NaN above all. */
uint order_of(float v) {
    const uint u = as_uint(v);
    return isnan(v) ? 0xffffffffu : v == 0.0f ? 0x80000000u : u >> 31 ? ~u : u | 0x80000000u;
}

typedef struct pick {
    uint order;
    int index; /* INT_MAX: none */
} pick;

bool comes_before(pick a, pick b) { return a.order > b.order || (a.order == b.order && a.index < b.index); }

/* The first of the lanes' picks, for every lane. */
pick group_first(local pick *s, pick mine) {
    const int lane = get_local_id(0);
    s[lane] = mine;
    for (int half_way = LB_X / 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_way && comes_before(s[lane + half_way], s[lane])) s[lane] = s[lane + half_way];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const pick first = s[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return first;
}

/* The first element that comes after `last` in descending order. */
pick next_of(local pick *s, global const T *row, int n, pick last) {
    pick mine = {0, INT_MAX};
    for (int j = get_local_id(0); j < n; j += LB_X) {
        const pick p = {order_of(load(row, j)), j};
        if (comes_before(last, p) && comes_before(p, mine)) mine = p;
    }
    return group_first(s, mine);
}

GROUP void argmax(global const T *x, global int *id, int rows, int vocab) {
    SHARED pick s[LB_X];
    const int row = get_group_id(0);
    const pick all = {0xffffffffu, -1};
    const pick first = next_of(s, x + (size_t)row * vocab, vocab, all);
    if (get_local_id(0) == 0) id[row] = first.index;
}

GROUP void top_k(global const T *x, global T *y, global int *id, int rows, int vocab, int k) {
    SHARED pick s[LB_X];
    const int row = get_group_id(0);
    const size_t at = (size_t)row * vocab;
    pick last = {0xffffffffu, -1};
    for (int i = 0; i < k; i++) {
        last = next_of(s, x + at, vocab, last);
        if (get_local_id(0) != 0) continue;
        y[(size_t)row * k + i] = x[at + last.index];
        id[(size_t)row * k + i] = last.index;
    }
}

/* Logits go to w as they are found; the first is the largest. */
GROUP void moe_route(global const T *x, global float *w, global int *id, int rows, int experts, int k) {
    SHARED pick s[LB_X];
    const int row = get_group_id(0);
    const size_t at = (size_t)row * experts, to = (size_t)row * k;
    pick last = {0xffffffffu, -1};
    for (int i = 0; i < k; i++) {
        last = next_of(s, x + at, experts, last);
        if (get_local_id(0) != 0) continue;
        w[to + i] = load(x, at + last.index);
        id[to + i] = last.index;
    }
    if (get_local_id(0) != 0) return;
    const float top = w[to];
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += w[to + i] = exp(w[to + i] - top);
    for (int i = 0; i < k; i++) w[to + i] /= sum;
}

/* Sum of y where x's order is at least `least`. */
float mass(local float *s, global const T *x, global const float *y, int n, uint least) {
    float sum = 0.0f;
    for (int j = get_local_id(0); j < n; j += LB_X) sum += order_of(load(x, j)) >= least ? y[j] : 0.0f;
    return group_sum(s, sum);
}

/* The least order that is kept is found bit by bit; of those that have it, the first few are. Each lane reads what it wrote of y. */
GROUP void top_p(global const T *x, global float *y, int rows, int vocab, float p) {
    SHARED float s[LB_X];
    const int lane = get_local_id(0);
    x += (size_t)get_group_id(0) * vocab;
    y += (size_t)get_group_id(0) * vocab;
    float top = -INFINITY;
    for (int j = lane; j < vocab; j += LB_X) top = fmax(top, load(x, j));
    top = group_max(s, top);
    for (int j = lane; j < vocab; j += LB_X) y[j] = exp(load(x, j) - top);
    const float target = fmax(p * mass(s, x, y, vocab, 0), FLT_MIN); /* p = 0 keeps the largest: its weight is 1 */
    uint least = 0;
    for (uint bit = 0x80000000u; bit; bit >>= 1)
        if (mass(s, x, y, vocab, least | bit) >= target) least |= bit;
    const float above = least == 0xffffffffu ? 0.0f : mass(s, x, y, vocab, least + 1);
    float before = 0.0f, kept = 0.0f;
    for (int base = 0; base < vocab; base += LB_X) {
        const int j = base + lane;
        const uint order = j < vocab ? order_of(load(x, j)) : 0;
        const float tie = j < vocab && order == least ? 1.0f : 0.0f, rank = before + group_scan(s, tie) - tie;
        before += s[LB_X - 1];
        if (j >= vocab) continue;
        const bool keep = order > least || (tie != 0.0f && (rank == 0.0f || fma(rank, y[j], above) < target));
        y[j] = keep ? y[j] : 0.0f;
        kept += y[j];
    }
    kept = group_sum(s, kept);
    for (int j = lane; j < vocab; j += LB_X) y[j] /= kept;
}
