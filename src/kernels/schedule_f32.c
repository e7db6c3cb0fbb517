/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels/schedule_f32.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "schedules need IEEE arithmetic: do not build them with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "floats must be evaluated as floats");

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

bool lb_f32_native(void) {
    /* volatile: the question is put to the processor, not to the compiler */
    volatile const float one = 1, half_ulp = 0x1p-24f, most = 0x1.8p-24f, least_normal = FLT_MIN, subnormal = 0x1p-149f;
    volatile float up = one + half_ulp, down = -one - half_ulp, over = one + most, halved = least_normal * 0.5f,
                   grown = subnormal * 0x1p23f;
    return up == 1 && down == -1 && over == 1 + FLT_EPSILON && halved == 0x1p-127f && grown == FLT_MIN;
}

/* ---- the specification ------------------------------------------------------------------------------------------------ */

static lb_value value_of(float x) {
    return lb_decode(lb_format_row(LB_F32), bits_of(x));
}

static float rounded(lb_value v) {
    return float_of((uint32_t)lb_encode(lb_format_row(LB_F32), v, NULL, NULL));
}

float lb_f32_add_exactly(float x, float y) {
    return rounded(lb_value_add(value_of(x), value_of(y)));
}

float lb_f32_mul_exactly(float x, float y) {
    return rounded(lb_value_mul(value_of(x), value_of(y)));
}

float lb_f32_fma_exactly(float x, float y, float z) {
    return rounded(lb_value_add(lb_value_mul(value_of(x), value_of(y)), value_of(z)));
}

/* ---- rows of numbers ---------------------------------------------------------------------------------------------------- */

void lb_f32_add(float *x, const float *y, size_t count, bool native) {
    if (native)
        for (size_t i = 0; i < count; i++) x[i] += y[i];
    else
        for (size_t i = 0; i < count; i++) x[i] = lb_f32_add_exactly(x[i], y[i]);
}

void lb_f32_scale(float *x, float y, size_t count, bool native) {
    if (native)
        for (size_t i = 0; i < count; i++) x[i] *= y;
    else
        for (size_t i = 0; i < count; i++) x[i] = lb_f32_mul_exactly(x[i], y);
}

void lb_f32_fma(float *x, float alpha, const float *y, size_t count, bool native) {
    for (size_t i = 0; i < count; i++) x[i] = native ? fmaf(alpha, x[i], y[i]) : lb_f32_fma_exactly(alpha, x[i], y[i]);
}

/* ---- from and to other formats ----------------------------------------------------------------------------------------- */

bool lb_f32_holds(const lb_format *f) {
    return f->special != LB_SPECIAL_INT && f->special != LB_SPECIAL_E8M0 && f->exp_bits <= 8 && f->man_bits <= 23;
}

float lb_f32_of(const lb_format *f, uint64_t code) {
    if (f->id == LB_F32) return float_of((uint32_t)code);
    if (f->id == LB_BF16) return float_of((uint32_t)code << 16);
    return (float)lb_to_double(f, code);
}

/* magnitude >> down, to nearest even; down is 1 to 31. */
static uint32_t shift_rne(uint32_t magnitude, int down) {
    const uint32_t half = UINT32_C(1) << (down - 1), odd = magnitude >> down & 1;
    return (magnitude + half - 1 + odd) >> down;
}

/* IEEE formats narrower than f32, of at least as few exponents: by the bits of the f32. */
static uint32_t narrowed(const lb_format *f, uint32_t magnitude) {
    const int shift = 23 - f->man_bits, field = (int)(magnitude >> 23), target = field - 127 + f->bias;
    const uint32_t inf = ((UINT32_C(1) << f->exp_bits) - 1) << f->man_bits;
    uint32_t code;
    if (target >= 1 || f->bias == 127) { /* normal; or exponents as those of f32, whose subnormals are spaced as its own */
        const int32_t offset = (int32_t)(f->bias - 127) * (1 << 23);
        if (field == 255) return inf;
        if (target >= (1 << f->exp_bits) - 1) return inf;
        code = shift_rne(magnitude + (uint32_t)offset, shift);
    } else {
        const int down = shift + 1 - target;
        code = down > 24 || field == 0 ? 0 : shift_rne((magnitude & 0x7fffff) | 0x800000, down);
    }
    return code; /* a carry out of the largest finite value is Inf */
}

uint64_t lb_f32_code(const lb_format *f, float x, bool saturate) {
    const uint32_t bits = bits_of(x), magnitude = bits & 0x7fffffff;
    const bool ieee = f->special == LB_SPECIAL_IEEE && f->pad_bits == 0;
    if (magnitude > 0x7f800000 && ieee) return (UINT64_C(1) << (f->bits - 1)) - 1;
    if (f->id == LB_F32 && !saturate) return bits;
    if (ieee && f->man_bits < 23 && f->bits <= 16 && !saturate) return (uint64_t)(bits >> 31) << (f->bits - 1) | narrowed(f, magnitude);
    const lb_encoding how = {.overflow = saturate ? LB_OVERFLOW_SATURATE : LB_OVERFLOW_IEEE};
    return lb_encode(f, value_of(x), &how, NULL);
}
