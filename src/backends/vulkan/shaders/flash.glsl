// SPDX-License-Identifier: MIT OR Apache-2.0
// Attention of one query, fused: keys pass in tiles of 64, one an invocation; the softmax is kept up to date with the largest score so
// far, so no score is stored longer than its tile. Each invocation owns columns of the result: 64 apart, COLUMNS at a time; wider
// heads take another pass.
// Before: port q, k, v, o and p.seq-like sizes; the file that includes this says what SCORE makes of a product.
const int COLUMNS = 4;
shared float weight[LANES];

// scores of keys first … end - 1 against the query at q_from; sink: one more logit, of no value (-Inf: none)
#define ATTEND(q_from, key_from, key_stride, out_from, d, first, end, sink)                                                       \
    for (int base = 0; base < (d); base += int(LANES) * COLUMNS) {                                                                \
        float acc[COLUMNS];                                                                                                       \
        for (int u = 0; u < COLUMNS; u++) acc[u] = 0.0;                                                                           \
        float top = sink, sum = sink > -lb_inf() ? 1.0 : 0.0;                                                                     \
        for (int tile = first; tile < (end); tile += int(LANES)) {                                                                \
            const int j = tile + int(lane);                                                                                       \
            float s = -lb_inf();                                                                                                  \
            if (j < (end)) {                                                                                                      \
                float dot_ = 0.0;                                                                                                 \
                for (int c = 0; c < (d); c++) dot_ += T_LOAD(q, (q_from) + c) * T_LOAD(k, (key_from) + j * (key_stride) + c);     \
                s = score(dot_, j);                                                                                               \
            }                                                                                                                     \
            const float tile_top = group_max(lane, s);                                                                            \
            const float new_top = lb_isnan(tile_top) || tile_top > top ? tile_top : top;                                          \
            const float e = j < (end) && new_top > -lb_inf() ? lb_exp(s - new_top) : 0.0;                                         \
            const float keep = top > -lb_inf() ? lb_exp(top - new_top) : 0.0;                                                     \
            sum = sum * keep + group_sum(lane, lb_isnan(new_top) ? new_top : e);                                                  \
            weight[lane] = e;                                                                                                     \
            barrier();                                                                                                            \
            const int count = min(int(LANES), (end) - tile);                                                                      \
            for (int u = 0; u < COLUMNS; u++) {                                                                                   \
                const int column = base + u * int(LANES) + int(lane);                                                             \
                if (column >= (d)) continue;                                                                                      \
                float part = 0.0;                                                                                                 \
                for (int t = 0; t < count; t++) part += weight[t] * T_LOAD(v, (key_from) + (tile + t) * (key_stride) + column);   \
                acc[u] = acc[u] * keep + part;                                                                                    \
            }                                                                                                                     \
            top = new_top;                                                                                                        \
            barrier();                                                                                                            \
        }                                                                                                                         \
        for (int u = 0; u < COLUMNS; u++) {                                                                                       \
            const int column = base + u * int(LANES) + int(lane);                                                                 \
            if (column < (d)) T_STORE(o, (out_from) + column, (end) > (first) ? acc[u] / sum : 0.0);                              \
        }                                                                                                                         \
    }
