/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Approximate operations. Their bits are documented nowhere; what is here is the true value, by the C library in doubles, with the
 * document's special values. It is what an answer is measured from, never what it must equal. */
#include "scalar/scalar_value.h"

#include <float.h>
#include <math.h>

#ifdef __FAST_MATH__
#error "the values here need IEEE arithmetic"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be doubles");

/* div.approx.f32: a divisor above 2^126 gives zero, and NaN where the dividend is infinite. source: ptx-isa, div */
static double divide(double a, double b) {
    const double huge = fabs(b);
    if (huge > 0x1p126 && huge < INFINITY) return isinf(a) ? NAN : copysign(0, a) * copysign(1, b);
    return a / b;
}

static double value(int what, double a, double b) {
    switch (what) {
    case LB_DO_RCP:
    case LB_DO_RCP_HIGH: return 1 / a;
    case LB_DO_SQRT: return sqrt(a);
    case LB_DO_RSQRT:
    case LB_DO_RSQRT_HIGH: return 1 / sqrt(a);
    case LB_DO_EX2: return exp2(a);
    case LB_DO_LG2: return log2(a);
    case LB_DO_SIN: return sin(a);
    case LB_DO_COS: return cos(a);
    case LB_DO_TANH: return tanh(a);
    case LB_DO_DIV_FULL: return a / b;
    default: return divide(a, b);
    }
}

void lb_scalar_approx(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    double x[2] = {0};
    for (int i = 0; i < op->ins; i++) {
        uint64_t code = lb_scalar_flush(f, in[i], r->flags);
        if (r->what == LB_DO_RCP_HIGH || r->what == LB_DO_RSQRT_HIGH) code &= ~(uint64_t)UINT32_MAX; /* the upper word only */
        x[i] = lb_to_double(f, code);
    }
    out[0] = lb_scalar_encode(f, lb_value_of(value(r->what, x[0], x[1])), LB_RNE, r->flags);
    if ((r->what == LB_DO_RCP_HIGH || r->what == LB_DO_RSQRT_HIGH) && !lb_scalar_is_nan(f, out[0])) out[0] &= ~(uint64_t)UINT32_MAX;
}
