/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scales of blocks: one f32 of A for so many rows, one of B for so many columns, for each promoted block of K. */
#include "kernels/scaling.h"

#include "base/try.h"
#include "kernels/schedule_f32.h"

#include <float.h>
#include <math.h>

_Static_assert(FLT_EVAL_METHOD == 0, "floats must be evaluated as floats");

static size_t blocks(size_t n, size_t of) {
    return n / of + (n % of != 0);
}

static size_t rows_a_scale(const lb_schedule *s) {
    return s->scale_m ? s->scale_m : 1;
}

static size_t columns_a_scale(const lb_schedule *s) {
    return s->scale_n ? s->scale_n : 128;
}

/* ---- what they ask of a schedule ---------------------------------------------------------------------------------------- */

static lb_status check_mat(const lb_mat *m, const char *name, size_t rows, size_t cols, lb_error *err) {
    if (!lb_f32_holds(m->format)) return lb_fail(err, LB_E_FORMAT, name, "scales are %s, which f32 does not hold", m->format->name);
    if (m->rows == rows && m->cols == cols) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, name,
                   "%zux%zu; this schedule takes scales of %zux%zu (promote says K's blocks, scale-block those of m and n)", m->rows,
                   m->cols, rows, cols);
}

/* A chunk has one scale only where chunks and the blocks of K begin together. */
static lb_status check_blocks(const lb_schedule *s, lb_error *err) {
    const bool cut = s->split > 1 || s->stream_k;
    if (!s->promote) return LB_OK;
    if (s->order != LB_K_ASCENDING || s->ragged != LB_RAGGED_LAST)
        return lb_fail(err, LB_E_ARG, "scale", "scaled blocks of K take order=ascending and ragged=last");
    if (s->tile_k % s->promote || (cut && !s->tile_k))
        return lb_fail(err, LB_E_ARG, "tile-k", "%u; with scales it is a multiple of promote=%u, so that a part begins with a block",
                       s->tile_k, s->promote);
    return LB_OK;
}

lb_status lb_scales_check(const lb_scheduled *x, lb_error *err) {
    const lb_schedule *s = x->s;
    const size_t k_blocks = s->promote ? blocks(x->a.cols, s->promote) : 1;
    if (!s->scale_a && !s->scale_b) {
        if (s->scale_m || s->scale_n || s->scaling)
            return lb_fail(err, LB_E_ARG, "scale", "scale-block and scaling say how scales apply; there are none (--scale-a, --scale-b)");
        return LB_OK;
    }
    if (!s->scale_a || !s->scale_b) return lb_fail(err, LB_E_ARG, "scale", "scales of A and of B come together; one of them is missing");
    LB_TRY(check_blocks(s, err));
    LB_TRY(check_mat(s->scale_a, "scale-a", blocks(x->a.rows, rows_a_scale(s)), k_blocks, err));
    LB_TRY(check_mat(s->scale_b, "scale-b", k_blocks, blocks(x->b.cols, columns_a_scale(s)), err));
    if (x->c.codes && s->c_place == LB_C_FIRST && !s->promote)
        return lb_fail(err, LB_E_ARG, "scale", "C starts the accumulator, which is scaled as a whole: say c=last");
    return LB_OK;
}

size_t lb_scale_block(const lb_scheduled *x, const lb_k_plan *plan, size_t p, size_t at) {
    size_t r = plan->first[p];
    for (; at >= plan->range[r].end - plan->range[r].begin && r + 1 < plan->first[p + 1]; r++)
        at -= plan->range[r].end - plan->range[r].begin; /* only the last range may need padding */
    return (plan->range[r].begin + at) / x->s->promote;
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------------------- */

static float mul(float x, float y, bool native) {
    return native ? x * y : lb_f32_mul_exactly(x, y);
}

static float fused(float x, float y, float z, bool native) {
    return native ? fmaf(x, y, z) : lb_f32_fma_exactly(x, y, z);
}

/* The two factors of a chain under each way of scaling: what is rounded first, and what comes last. */
typedef struct factors {
    float first, second;
} factors;

static factors factors_of(lb_scaling how, float x, float a, float b, bool native) {
    switch (how) {
    case LB_SCALING_A_FIRST:
    case LB_SCALING_A_FIRST_FMA: return (factors){mul(x, a, native), b};
    case LB_SCALING_B_FIRST:
    case LB_SCALING_B_FIRST_FMA: return (factors){mul(x, b, native), a};
    case LB_SCALING_PRODUCT:
    case LB_SCALING_PRODUCT_FMA:
    case LB_SCALING_COUNT: break;
    }
    return (factors){mul(a, b, native), x};
}

static bool fuses(lb_scaling how) {
    return how == LB_SCALING_PRODUCT_FMA || how == LB_SCALING_A_FIRST_FMA || how == LB_SCALING_B_FIRST_FMA;
}

static float scale_at(const lb_mat *m, size_t r, size_t c) {
    return lb_f32_of(m->format, lb_mat_code(m, r, c));
}

void lb_scaled_add(const lb_scheduled *x, size_t kb, size_t row, size_t rows, size_t col, size_t cols, const float *chunk, float *sums) {
    const lb_schedule *s = x->s;
    const bool fma = fuses(s->scaling);
    for (size_t r = 0; r < rows; r++) {
        const float a = scale_at(s->scale_a, (row + r) / rows_a_scale(s), kb);
        for (size_t c = 0; c < cols; c++) {
            const float b = scale_at(s->scale_b, kb, (col + c) / columns_a_scale(s));
            const factors f = factors_of(s->scaling, chunk[r * cols + c], a, b, x->native);
            float *sum = &sums[r * cols + c], product;
            if (fma) {
                *sum = fused(f.first, f.second, *sum, x->native);
                continue;
            }
            product = mul(f.first, f.second, x->native);
            lb_f32_add(sum, &product, 1, x->native);
        }
    }
}

void lb_scaled_end(const lb_scheduled *x, size_t row, size_t rows, size_t col, size_t cols, float *sums) {
    const lb_schedule *s = x->s;
    for (size_t r = 0; r < rows; r++) {
        const float a = scale_at(s->scale_a, (row + r) / rows_a_scale(s), 0);
        for (size_t c = 0; c < cols; c++) {
            const float b = scale_at(s->scale_b, 0, (col + c) / columns_a_scale(s));
            const factors f = factors_of(s->scaling, sums[r * cols + c], a, b, x->native);
            sums[r * cols + c] = mul(f.first, f.second, x->native);
        }
    }
}
