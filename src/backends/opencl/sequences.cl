/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane a channel. */
enum { MOST_STATE = 64 };

GROUP void selective_scan(global const T *u, global const T *delta, global const float *a, global const T *b, global const T *c, global T *y,
                          int seq, int d, int state) {
    const int channel = get_global_id(0);
    float h[MOST_STATE];
    if (channel >= d) return;
    for (int s = 0; s < state; s++) h[s] = 0.0f;
    for (int t = 0; t < seq; t++) {
        const float step = load(delta, (size_t)t * d + channel), in = step * load(u, (size_t)t * d + channel);
        float out = 0.0f;
        for (int s = 0; s < state; s++) {
            h[s] = fma(exp(step * a[(size_t)channel * state + s]), h[s], load(b, (size_t)t * state + s) * in);
            out = fma(load(c, (size_t)t * state + s), h[s], out);
        }
        store(y, (size_t)t * d + channel, out);
    }
}

GROUP void conv1d(global const T *x, global const T *w, global const T *bias, global T *y, int seq, int d, int width) {
    const int channel = get_global_id(0), i = get_global_id(1);
    if (channel >= d) return;
    float sum = load(bias, channel);
    for (int t = max(0, width - 1 - i); t < width; t++)
        sum = fma(load(w, (size_t)channel * width + t), load(x, (size_t)(i - width + 1 + t) * d + channel), sum);
    store(y, (size_t)i * d + channel, sum);
}
