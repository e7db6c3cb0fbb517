/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane a pair, and after the pairs one lane a column that passes. */

/* Elements first and second of a row, turned by the angle of pair i. */
void turn(global const T *x, global T *y, size_t first, size_t second, int i, int rotary, float theta, float position) {
    float c;
    const float s = sincos(position * pow(theta, -2.0f * (float)i / (float)rotary), &c);
    const float a = load(x, first), b = load(x, second);
    store(y, first, a * c - b * s);
    store(y, second, b * c + a * s);
}

GROUP void rope(global const T *x, global const int *pos, global T *y, int rows, int d, int rotary, float theta, float scale) {
    const int i = get_global_id(0), row = get_global_id(1), pairs = rotary / 2;
    const size_t at = (size_t)row * d;
    if (i < pairs)
        turn(x, y, at + i, at + i + pairs, i, rotary, theta, (float)pos[row] / scale);
    else if (i + pairs < d)
        y[at + i + pairs] = x[at + i + pairs];
}

GROUP void rope_interleaved(global const T *x, global const int *pos, global T *y, int rows, int d, int rotary, float theta, float scale) {
    const int i = get_global_id(0), row = get_global_id(1), pairs = rotary / 2;
    const size_t at = (size_t)row * d;
    if (i < pairs)
        turn(x, y, at + 2 * i, at + 2 * i + 1, i, rotary, theta, (float)pos[row] / scale);
    else if (i + pairs < d)
        y[at + i + pairs] = x[at + i + pairs];
}
