/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* add, sub, mul, fma, div, rcp, sqrt: the exact value, rounded once. source: ieee754-2019, ptx-isa */
#include "scalar/scalar_value.h"

/* f64 keeps what a NaN operand carries, quieted; the narrower formats have one NaN. */
static uint64_t nan_of(const lb_format *f, const uint64_t *code, int count) {
    for (int i = 0; i < count && f->id == LB_F64; i++)
        if (lb_scalar_is_nan(f, code[i])) return code[i] | UINT64_C(1) << 51;
    return lb_scalar_nan(f);
}

void lb_scalar_float(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const lb_value one = lb_value_of(1.0);
    uint64_t code[3] = {0};
    lb_value x[3] = {{0}}, v = {0};
    for (int i = 0; i < op->ins; i++) {
        code[i] = lb_scalar_flush(f, in[i], r->flags);
        x[i] = lb_decode(f, code[i]);
    }
    switch (r->what) {
    case LB_DO_SUB: x[1].negative = !x[1].negative; /* fall through */
    case LB_DO_ADD: v = lb_scalar_sum(x[0], x[1], r->rounding); break;
    case LB_DO_MUL: v = lb_value_mul(x[0], x[1]); break;
    case LB_DO_FMA: v = lb_scalar_sum(lb_value_mul(x[0], x[1]), x[2], r->rounding); break;
    case LB_DO_DIV: v = lb_scalar_quotient(x[0], x[1]); break;
    case LB_DO_RCP: v = lb_scalar_quotient(one, x[0]); break;
    default: v = lb_scalar_root(x[0]); break;
    }
    if (v.cls == LB_NAN && !(r->flags & LB_SAT))
        out[0] = nan_of(f, code, op->ins);
    else
        out[0] = lb_scalar_encode(f, v, r->rounding, r->flags);
}
