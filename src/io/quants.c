/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Elements of a tensor as f32, the quantised blocks of gguf among them: a scale (an f16), maybe a minimum, codes of 4 to 8 bits. Each
 * product and each sum is one f32 operation, in the order written here. source: gguf-format */
#include "base/try.h"
#include "lastbit/io.h"

#include <float.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "these values are defined to the last bit: no -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "floats must be evaluated as floats");

enum { MOST_BLOCK = 256 };

static float f16_at(const uint8_t *p) {
    return (float)lb_to_double(lb_format_row(LB_F16), (uint64_t)p[0] | (uint64_t)p[1] << 8);
}

/* 32 codes of four bits: the low halves of 16 bytes, then the high ones. */
static int nibble(const uint8_t *q, int i) {
    return i < 16 ? q[i] & 15 : q[i - 16] >> 4;
}

/* The fifth bit of code i, in a little-endian word of 32. */
static int fifth(const uint8_t *h, int i) {
    return (h[i / 8] >> i % 8 & 1) << 4;
}

static void q4_0(const uint8_t *p, float *y) { /* scale, 16 bytes of codes */
    const float d = f16_at(p);
    for (int i = 0; i < 32; i++) y[i] = (float)(nibble(p + 2, i) - 8) * d;
}

static void q4_1(const uint8_t *p, float *y) { /* scale, minimum, codes */
    const float d = f16_at(p), m = f16_at(p + 2);
    for (int i = 0; i < 32; i++) y[i] = (float)nibble(p + 4, i) * d + m;
}

static void q5_0(const uint8_t *p, float *y) { /* scale, fifth bits, codes */
    const float d = f16_at(p);
    for (int i = 0; i < 32; i++) y[i] = (float)((nibble(p + 6, i) | fifth(p + 2, i)) - 16) * d;
}

static void q5_1(const uint8_t *p, float *y) { /* scale, minimum, fifth bits, codes */
    const float d = f16_at(p), m = f16_at(p + 2);
    for (int i = 0; i < 32; i++) y[i] = (float)(nibble(p + 8, i) | fifth(p + 4, i)) * d + m;
}

static void q8_0(const uint8_t *p, float *y) { /* scale, 32 signed bytes */
    const float d = f16_at(p);
    for (int i = 0; i < 32; i++) y[i] = (float)(int8_t)p[2 + i] * d;
}

/* Six-bit scale and minimum number j of 8, in 12 bytes: the first four of each whole, the high bits of the others in their top bits. */
static void scale_and_minimum(const uint8_t *s, int j, int *scale, int *minimum) {
    if (j < 4) {
        *scale = s[j] & 63;
        *minimum = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        *minimum = s[j + 4] >> 4 | s[j] >> 6 << 4;
    }
}

/* Eight groups of 32: scale, minimum, 12 bytes of group scales, maybe 32 bytes of fifth bits, 128 bytes of codes. */
static void k_groups(const uint8_t *p, const uint8_t *high, const uint8_t *q, float *y) {
    const float d = f16_at(p), m = f16_at(p + 2);
    for (int g = 0; g < 8; g++) {
        int scale, minimum;
        scale_and_minimum(p + 4, g, &scale, &minimum);
        const float dg = d * (float)scale, mg = m * (float)minimum;
        for (int i = 0; i < 32; i++) {
            const uint8_t byte = q[g / 2 * 32 + i];
            const int code = (g % 2 ? byte >> 4 : byte & 15) | (high ? (high[i] >> g & 1) << 4 : 0);
            y[g * 32 + i] = dg * (float)code - mg;
        }
    }
}

static void q4_k(const uint8_t *p, float *y) {
    k_groups(p, NULL, p + 16, y);
}

static void q5_k(const uint8_t *p, float *y) {
    k_groups(p, p + 16, p + 48, y);
}

/* Two halves of four times 32: 128 bytes of low fours, 64 of high twos, 16 signed scales of 16 elements each, scale. */
static void q6_k(const uint8_t *p, float *y) {
    const float d = f16_at(p + 208);
    for (int i = 0; i < 256; i++) {
        const int half = i / 128, quarter = i % 128 / 32, l = i % 32;
        const uint8_t low = p[half * 64 + quarter % 2 * 32 + l], high = p[128 + half * 32 + l];
        const int code = ((quarter < 2 ? low & 15 : low >> 4) | (high >> 2 * quarter & 3) << 4) - 32;
        y[i] = d * (float)(int8_t)p[192 + i / 16] * (float)code;
    }
}

static const struct {
    const char *name;
    void (*decode)(const uint8_t *block, float *values);
} quants[] = {{"q4_0", q4_0}, {"q4_1", q4_1}, {"q5_0", q5_0}, {"q5_1", q5_1},
              {"q8_0", q8_0}, {"q4_k", q4_k}, {"q5_k", q5_k}, {"q6_k", q6_k}};

static lb_status blocks(const lb_tensor *t, size_t first, size_t count, float *out, lb_error *err) {
    const size_t block = (size_t)t->dtype->block, bytes = (size_t)t->dtype->bytes;
    float values[MOST_BLOCK];
    size_t row = 0;
    while (row < sizeof quants / sizeof quants[0] && strcmp(quants[row].name, t->dtype->name) != 0) row++;
    if (row == sizeof quants / sizeof quants[0]) return lb_fail(err, LB_E_FORMAT, t->name, "%s blocks are not read here", t->dtype->name);
    for (size_t done = 0; done < count;) {
        const size_t i = first + done, skip = i % block, n = count - done < block - skip ? count - done : block - skip;
        quants[row].decode((const uint8_t *)t->data + i / block * bytes, values);
        memcpy(out + done, values + skip, n * sizeof *out);
        done += n;
    }
    return LB_OK;
}

lb_status lb_tensor_values(const lb_tensor *t, size_t first, size_t count, float *out, lb_error *err) {
    const size_t have = lb_tensor_count(t);
    if (first > have || count > have - first)
        return lb_fail(err, LB_E_ARG, t->name, "elements %zu … %zu of %zu", first, first + count, have);
    if (t->dtype->block > 1) return blocks(t, first, count, out, err);
    if (t->dtype->format < 0) return lb_fail(err, LB_E_FORMAT, t->name, "%s elements are no numbers of their own", t->dtype->name);
    const lb_format *f = lb_format_row((lb_format_id)t->dtype->format);
    if (f->id == LB_F32) {
        if (count) memcpy(out, (const float *)t->data + first, count * sizeof *out);
        return LB_OK;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = (const uint8_t *)t->data + (first + i) * (size_t)t->dtype->bytes;
        out[i] = (float)lb_to_double(f, lb_load_code(p, t->dtype->bytes));
    }
    return LB_OK;
}
