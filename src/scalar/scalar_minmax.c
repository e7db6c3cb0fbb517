/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* min, max and the operations on signs. source: ptx-isa */
#include "scalar/scalar_value.h"

/* Order of codes that tells -0 from +0: -0 < +0. */
static bool less(const lb_format *f, uint64_t a, uint64_t b) {
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    if ((a & sign) != (b & sign)) return (a & sign) != 0;
    return a & sign ? a > b : a < b;
}

void lb_scalar_minmax(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    uint64_t a = lb_scalar_flush(f, in[0], r->flags), b = lb_scalar_flush(f, in[1], r->flags);
    const bool a_nan = lb_scalar_is_nan(f, a), b_nan = lb_scalar_is_nan(f, b);
    const uint64_t sign_of = r->flags & LB_XORSIGN ? (a ^ b) & sign : 0;
    if ((a_nan && b_nan) || (r->flags & LB_NAN_WINS && (a_nan || b_nan))) {
        out[0] = lb_scalar_nan(f);
        return;
    }
    if (r->flags & LB_XORSIGN) {
        a &= ~sign;
        b &= ~sign;
    }
    const bool take_a = b_nan || (!a_nan && (r->what == LB_DO_MIN ? less(f, a, b) : less(f, b, a)));
    out[0] = (take_a ? a : b) | sign_of;
}

void lb_scalar_sign(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out) {
    const lb_format *f = lb_word_format(op->in[0]);
    const uint64_t sign = UINT64_C(1) << (f->bits - 1), a = lb_scalar_flush(f, in[0], r->flags);
    if (r->what == LB_DO_ABS) out[0] = a & ~sign;
    if (r->what == LB_DO_NEG) out[0] = a ^ sign;
    if (r->what == LB_DO_COPYSIGN) out[0] = (in[0] & sign) | (in[1] & ~sign);
}
