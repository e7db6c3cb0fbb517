/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tensor-core contract as its first users compute it, silent corners and all. source: seed-contract */
#include "lastbit/contracts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "grading needs IEEE comparisons: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

int32_t lb_bf16_ord(uint16_t bits) {
    const int32_t magnitude = bits & 0x7fff;
    return bits & 0x8000 ? -magnitude : magnitude;
}

double lb_m16_floor(size_t k, double row_rms) {
    return LB_M16_FLOOR_MARGIN * LB_F32_UNIT_ROUNDOFF * sqrt((double)k) * row_rms;
}

/* A bf16 is the high half of an f32. */
static float bf16_value(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

bool lb_m16_within(uint16_t actual, uint16_t reference, size_t k, double row_rms) {
    if (abs(lb_bf16_ord(actual) - lb_bf16_ord(reference)) <= LB_M16_MAX_ULP) return true;
    return fabs((double)bf16_value(actual) - (double)bf16_value(reference)) <= lb_m16_floor(k, row_rms);
}

static uint16_t load(const unsigned char *block, size_t i) {
    return (uint16_t)(block[2 * i] | block[2 * i + 1] << 8);
}

/* 0 for an empty slice. */
static double rms(const unsigned char *block, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)bf16_value(load(block, i));
        sum += v * v;
    }
    return count ? sqrt(sum / (double)count) : 0;
}

/* +0 counts as positive, -0 as negative, and a NaN has no sign that another could share. */
static bool signs_differ(double a, double b) {
    return isnan(a) || isnan(b) || signbit(a) != signbit(b);
}

void lb_m16_diff_free(lb_m16_diff *d) {
    free(d->over_budget);
    free(d->row_rms);
    *d = (lb_m16_diff){0};
}

static bool add_outlier(lb_m16_diff *d, const lb_m16_outlier *o) {
    if ((d->over_count & (d->over_count - 1)) == 0) { /* full at every power of two */
        lb_m16_outlier *grown = realloc(d->over_budget, (d->over_count ? 2 * d->over_count : 1) * sizeof *grown);
        if (!grown) return false;
        d->over_budget = grown;
    }
    d->over_budget[d->over_count++] = *o;
    return true;
}

/* The rows of the reference, the last one maybe short. */
static bool fill_row_rms(lb_m16_diff *d, const unsigned char *reference, size_t bytes, size_t n) {
    const size_t count = bytes / 2, row_bytes = n <= SIZE_MAX / 2 ? 2 * n : SIZE_MAX;
    d->rms = rms(reference, count);
    d->row_count = n ? bytes / row_bytes + (bytes % row_bytes != 0) : 0; /* an odd byte alone makes an empty row */
    d->row_rms = malloc((d->row_count + 1) * sizeof *d->row_rms);
    if (!d->row_rms) return false;
    for (size_t r = 0; r < d->row_count; r++) d->row_rms[r] = rms(reference + 2 * r * n, count - r * n < n ? count - r * n : n);
    return true;
}

lb_status lb_m16_compare_block(const void *actual, size_t actual_bytes, const void *reference, size_t reference_bytes, size_t n, size_t k,
                               lb_m16_diff *d, lb_error *err) {
    const size_t a_count = actual_bytes / 2, r_count = reference_bytes / 2, count = a_count < r_count ? a_count : r_count;
    double error_square = 0, reference_square = 0;
    *d = (lb_m16_diff){0};
    bool ok = fill_row_rms(d, reference, reference_bytes, n);
    for (size_t i = 0; ok && i < count; i++) {
        const uint16_t a_bits = load(actual, i), r_bits = load(reference, i);
        const double a = (double)bf16_value(a_bits), r = (double)bf16_value(r_bits);
        const int32_t ulp = abs(lb_bf16_ord(a_bits) - lb_bf16_ord(r_bits));
        error_square += (a - r) * (a - r);
        reference_square += r * r;
        if (fabs(a - r) > d->max_abs) d->max_abs = fabs(a - r); /* a NaN difference is passed over */
        if (signs_differ(a, r) && fabs(r) < LB_M16_SIGN_FLIP_BAND) {
            d->sign_flips++;
            continue;
        }
        if (ulp > d->max_ulp) d->max_ulp = ulp;
        if (ulp > LB_M16_MAX_ULP) d->over_ulp_only++;
        const size_t row = n ? i / n : 0;
        const double scale = row < d->row_count ? d->row_rms[row] : d->rms;
        if (lb_m16_within(a_bits, r_bits, k, scale)) continue;
        const lb_m16_outlier o = {row, n ? i % n : 0, (float)r, (float)a, ulp, scale, lb_m16_floor(k, scale)};
        ok = add_outlier(d, &o);
    }
    if (!ok) {
        lb_m16_diff_free(d);
        return lb_fail(err, LB_E_MEMORY, "m16", "no memory for the comparison");
    }
    d->rel_rms = reference_square > 0 ? sqrt(error_square / reference_square) : sqrt(error_square);
    return LB_OK;
}
