/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: codes to what the strips read, in loops that compilers vectorise. Exact: values are scaled by powers of two. */

#include <string.h>

/* Constants of a decoding, read once. */
typedef struct reader {
    int pad, man, sign_up, bias;
    uint32_t mag_mask, special;
    float subnormal; /* value of one unit of the last place of a subnormal, scaled */
    double subnormal64;
    uint32_t offset; /* added to the bits of a magnitude */
    uint64_t offset64;
} reader;

INLINE int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

/* x: values are scaled by 2^-x; out of range only where the line is not for this path, and then never read. */
INLINE reader reader_of(const lb_codes *f, int x) {
    return (reader){.pad = f->pad,
                    .man = f->man,
                    .sign_up = f->sign_up,
                    .bias = f->bias,
                    .mag_mask = f->mag_mask,
                    .special = f->special,
                    .subnormal = power_of_two(clamp(1 - f->bias - f->man - x, -126, 127)),
                    .subnormal64 = power_of_two64(1 - f->bias - f->man - x),
                    .offset = (uint32_t)(127 - f->bias - x) << 23,
                    .offset64 = (uint64_t)(1023 - f->bias - x) << 52};
}

typedef struct element {
    uint32_t bits; /* of the f32, 0 for zero and special */
    int32_t e;     /* exponent field of the code, at least 1 */
    uint32_t live; /* ~0: neither zero nor special */
    uint32_t special;
} element;

INLINE element read_element(const reader *r, uint32_t code) {
    const uint32_t c = code >> r->pad, mag = c & r->mag_mask, field = mag >> r->man;
    const float small = (float)(int32_t)mag * r->subnormal;
    uint32_t small_bits;
    memcpy(&small_bits, &small, sizeof small_bits);
    const uint32_t tiny = 0 - (uint32_t)(field == 0); /* masks: no branches, so that loops vectorise */
    const uint32_t bits = (((mag << (23 - r->man)) + r->offset) & ~tiny) | (small_bits & tiny);
    const uint32_t special = 0 - (uint32_t)(mag >= r->special), live = (0 - (uint32_t)(mag != 0)) & ~special;
    const uint32_t sign = c << r->sign_up & UINT32_C(0x80000000);
    return (element){(bits | sign) & live, (int32_t)(field | (tiny & 1)), live, special};
}

/* The exponent byte of an element, or that of a zero. */
INLINE uint32_t exponent_byte(element e, int32_t offset) {
    return (((uint32_t)(e.e + offset) & e.live) | ((uint32_t)LB_NONE8 & ~e.live)) & 0xff;
}

INLINE double read_double(const reader *r, uint32_t code) {
    const uint32_t c = code >> r->pad, mag = c & r->mag_mask, field = mag >> r->man;
    const double small = (double)(int32_t)mag * r->subnormal64;
    const uint64_t tiny = 0 - (uint64_t)(field == 0), live = 0 - (uint64_t)((mag != 0) & (mag < r->special));
    uint64_t bits;
    memcpy(&bits, &small, sizeof bits);
    bits = ((((uint64_t)mag << (52 - r->man)) + r->offset64) & ~tiny) | (bits & tiny);
    bits = (bits | (uint64_t)(c << r->sign_up & UINT32_C(0x80000000)) << 32) & live;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The 16-bit exponent of an element, or that of a zero. */
INLINE uint32_t exponent_word(element e, int32_t offset) {
    return (((uint32_t)(e.e + offset) & e.live) | ((uint32_t)LB_NONE16 & ~e.live)) & 0xffff;
}

/* The largest sum of significands of a block, in units of 2^-man. */
static uint32_t most_significands(const lb_codes *f, const uint32_t *codes, int length, int terms) {
    uint32_t most = 0;
    for (int t0 = 0; t0 < length; t0 += terms) {
        uint32_t sum = 0;
        for (int t = t0; t < t0 + terms; t++) {
            const uint32_t mag = codes[t] >> f->pad & f->mag_mask, hidden = UINT32_C(1) << f->man;
            sum += (mag & (hidden - 1)) | (mag >= hidden ? hidden : 0);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static void pack_a(const lb_codes *f, const uint32_t *codes, int length, int lo, int half_x, int terms, float *a, uint32_t *a_exp,
                   uint32_t *a_neg, lb_seen *seen) {
    const reader r = reader_of(f, lo + half_x);
    uint32_t special = 0, live[LB_KC];
    for (int t = 0; t < length; t++) {
        const element e = read_element(&r, codes[t]);
        memcpy(&a[t], &e.bits, sizeof e.bits);
        a_exp[t] = exponent_byte(e, -r.bias - lo) * 0x01010101u;
        live[t] = e.live;
        special |= e.special;
    }
    for (int t = 0; a_neg && t < length; t++) {
        a_neg[t] = a[t] < 0 ? LB_NR : 0;
        a[t] = a[t] < 0 ? -a[t] : a[t];
    }
    *seen = (lb_seen){.special = special};
    for (int t = 0; t < length && t < 64; t++) seen->first |= (uint64_t)(live[t] & 1) << t;
    if (terms) seen->sig_most = (double)most_significands(f, codes, length, terms) / (double)(1 << f->man);
}

static void pack_b(const lb_codes *f, const uint32_t *codes, int length, int lo, int half_x, int first, int width, bool by_sign, float *b,
                   int8_t *b_exp, uint32_t *special) {
    const reader r = reader_of(f, lo + half_x);
    uint32_t bits[LB_NR], bytes[LB_NR] = {0}, words[LB_NR / 4];
    for (int t = 0; t < length; t++, codes += LB_NR, b += by_sign ? 2 * LB_NR : LB_NR, b_exp += LB_NR) {
        for (int j = 0; j < width; j++) {
            const element e = read_element(&r, codes[j]);
            bits[j] = e.bits;
            bytes[j] = exponent_byte(e, first - r.bias - lo);
            special[j] |= e.special;
        }
        memcpy(b, bits, (size_t)width * sizeof *bits);
        for (int j = 0; by_sign && j < width; j++) {
            b[LB_NR + j] = b[j] < 0 ? -b[j] : 0;
            b[j] = b[j] < 0 ? 0 : b[j];
        }
        for (int step = 0; step < LB_NR / 4; step += LANES) { /* byte g of lane l: column g * LANES + l */
            const uint32_t *from = bytes + (ptrdiff_t)step * 4;
            for (int l = 0; l < LANES; l++)
                words[step + l] = from[l] | from[LANES + l] << 8 | from[2 * LANES + l] << 16 | from[3 * LANES + l] << 24;
        }
        memcpy(b_exp, words, sizeof words);
    }
}

INLINE double d_magnitude(double x) {
    return x < 0 ? -x : x;
}

/* Exact: |s| <= 127. */
INLINE double scaled_by(double x, int s) {
    return x * power_of_two64(s);
}

static void pack_wide_a(const lb_codes *f, const uint32_t *codes, const int16_t *scales, int length, double *restrict a,
                        uint32_t *restrict a_exp, uint32_t *restrict a_neg, uint32_t *special) {
    const reader r = reader_of(f, WIDE_X / 2);
    int16_t scale[LB_KC] = {0};
    uint32_t any = 0;
    if (scales) memcpy(scale, scales, (size_t)length * sizeof *scale);
    for (int t = 0; t < length; t++) {
        const element e = read_element(&r, codes[t]);
        a_exp[t] = exponent_word(e, scale[t] - r.bias) * 0x10001u;
        any |= e.special;
    }
    for (int t = 0; t < length; t++) {
        const double x = scaled_by(read_double(&r, codes[t]), scale[t]);
        a[t] = WIDE_BY_SIGN ? d_magnitude(x) : x;
        if (WIDE_BY_SIGN) a_neg[t] = x < 0 ? LB_NR : 0;
    }
    *special |= any;
}

static void pack_wide_b(const lb_codes *f, const uint32_t *codes, const int16_t *scales, int length, double *b, int16_t *b_exp,
                        uint32_t *special) {
    const reader r = reader_of(f, WIDE_X / 2);
    for (int t = 0; t < length; t++, codes += LB_NR, b += WIDE_BY_SIGN ? 2 * LB_NR : LB_NR, b_exp += LB_NR) {
        uint32_t words[LB_NR];
        int16_t none[LB_NR];
        const int16_t *scale = scales ? scales + (ptrdiff_t)t * LB_NR : none;
        if (!scales) memset(none, 0, sizeof none);
        for (int j = 0; j < LB_NR; j++) {
            const element e = read_element(&r, codes[j]);
            const double x = scaled_by(read_double(&r, codes[j]), scale[j]);
            b[j] = WIDE_BY_SIGN && x < 0 ? 0 : x;
            if (WIDE_BY_SIGN) b[LB_NR + j] = x < 0 ? -x : 0;
            words[j] = exponent_word(e, 1023 - WIDE_X - r.bias + scale[j]);
            special[j] |= e.special;
        }
        for (int step = 0; step < LB_NR; step += 4 * LANES64)
            for (int l = 0; l < LANES64; l++)
                for (int g = 0; g < 4; g++) b_exp[step + l * 4 + g] = (int16_t)words[step + g * LANES64 + l];
    }
}
