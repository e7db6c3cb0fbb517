/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which elements to look at first. Of an f32 output any will do: nearly every one tells two candidates apart. A narrower output hides what
 * they differ in, but for elements that lie near a boundary of its rounding: those are looked for. */
#include "base/try.h"
#include "kernels/fit.h"
#include "kernels/schedule_f32.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE_PATCH = 256, MOST_PATCHES = 64 };
#define POOL_COST ((size_t)1 << 26) /* multiply-adds that looking for them may take */

static size_t lesser(size_t a, size_t b) {
    return a < b ? a : b;
}

lb_fit_window lb_fit_patch(size_t m, size_t n, size_t i, size_t size) {
    lb_fit_window w = {.rows = lesser(m, size < 32 ? 2 : 4)};
    w.cols = lesser(n, size / w.rows);
    w.rows = lesser(m, size / w.cols);
    const uint64_t r = (uint32_t)(i * UINT32_C(2654435769)), c = (uint32_t)(i * UINT32_C(1640531527));
    w.row = (size_t)((r * (m - w.rows + 1)) >> 32);
    w.col = (size_t)((c * (n - w.cols + 1)) >> 32);
    return w;
}

/* How far x lies from the boundary at which its rounding to f changes; INFINITY where there is none. */
static double to_boundary(const lb_format *f, float x) {
    const uint64_t code = lb_f32_code(f, x, false);
    if (!isfinite(x) || lb_code_class(f, code) != LB_FINITE) return INFINITY;
    const double here = lb_to_double(f, code), way = (double)x - here;
    const bool outward = (way > 0) == (here > 0);
    const uint64_t next = outward ? code + 1 : code - 1;
    if (lb_code_class(f, next) != LB_FINITE) return INFINITY;
    return fabs((lb_to_double(f, next) + here) / 2 - (double)x);
}

/* Keep the nearest ones, ascending. */
static void keep(lb_fit_place *places, size_t *got, lb_fit_place p) {
    for (size_t i = 0; i < *got; i++)
        if (places[i].row == p.row && places[i].col == p.col) return;
    size_t at = *got;
    while (at && p.distance < places[at - 1].distance) at--;
    if (at == LB_FIT_TELLING) return;
    *got += *got < LB_FIT_TELLING;
    for (size_t i = *got - 1; i > at; i--) places[i] = places[i - 1];
    places[at] = p;
}

lb_status lb_fit_tell(const lb_fit_case *x, const lb_unit *u, const lb_gemm_options *options, lb_fit_place *places, size_t *got,
                      lb_error *err) {
    const lb_format *f = x->actual.format;
    const size_t m = x->a.rows, n = x->b.cols, cost = WIDE_PATCH * (x->a.cols + 1), most = POOL_COST / cost;
    const size_t patches = most < 1 ? 1 : lesser(most, MOST_PATCHES);
    lb_schedule s = *x->base; /* what comes behind the sum over K, and no rounding */
    s.out = lb_format_row(LB_F32);
    s.saturate = false;
    s.split = s.stream_k = s.arrival_count = 0;
    s.reduce = LB_REDUCE_ASCENDING;
    if (!s.scale_a) s.promote = 0;
    lb_scheduled run;
    lb_k_plan plan;
    float sums[2 * WIDE_PATCH];
    uint32_t codes[WIDE_PATCH];
    *got = 0;
    if (f->id == LB_F32) return LB_OK;
    if (lb_scheduled_check(&run, u, &s, &x->a, &x->b, x->c.codes ? &x->c : NULL, NULL, options, NULL) != LB_OK) return LB_OK;
    LB_TRY(lb_k_plan_open(&plan, &s, u->k, x->a.cols, NULL, 0, err));
    lb_status status = LB_OK;
    for (size_t i = 0; status == LB_OK && i < patches; i++) {
        const lb_fit_window w = lb_fit_patch(m, n, i, WIDE_PATCH);
        lb_mat d = lb_mat_of(s.out, codes, w.rows, w.cols);
        status = lb_scheduled_part(&run, &plan, 0, w.row, w.rows, w.col, w.cols, sums, err);
        if (status != LB_OK) break;
        lb_scheduled_finish(&run, w.row, w.rows, w.col, w.cols, sums, sums + WIDE_PATCH, &d);
        for (size_t e = 0; e < w.rows * w.cols; e++) {
            const double distance = to_boundary(f, lb_f32_of(s.out, codes[e]));
            if (distance < (double)INFINITY) keep(places, got, (lb_fit_place){w.row + e / w.cols, w.col + e % w.cols, distance});
        }
    }
    lb_k_plan_close(&plan);
    return status;
}
