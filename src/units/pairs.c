/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Arm's bfloat16 dot products: two products a block, unfused to odd (FPCR.EBF = 0) or fused to nearest (FPCR.EBF = 1). */
#include "units/path.h"

static const lb_encoding to_odd = {.rounding = LB_ODD, .overflow = LB_OVERFLOW_INF, .flush = LB_FLUSH_KEEP_SIGN};

static lb_value flushed(lb_format_id format, uint64_t code) {
    const lb_format *f = lb_format_row(format);
    return lb_decode(f, lb_flush_code(f, code, LB_FLUSH_KEEP_SIGN));
}

/* The value of v after one rounding to f32. */
static lb_value rounded(lb_value v, const lb_encoding *how) {
    const lb_format *f32 = lb_format_row(LB_F32);
    return lb_decode(f32, lb_encode(f32, v, how, NULL));
}

uint64_t lb_step_pair_odd(const lb_step *s, uint64_t c) {
    const lb_unit *u = s->u;
    for (int k = 0; k < s->count; k += 2) {
        const lb_value first = rounded(lb_value_mul(flushed(u->a, s->a[k].code), flushed(u->b, s->b[k].code)), &to_odd);
        const lb_value second = rounded(lb_value_mul(flushed(u->a, s->a[k + 1].code), flushed(u->b, s->b[k + 1].code)), &to_odd);
        const lb_value pair = rounded(lb_value_add(first, second), &to_odd);
        c = lb_encode(lb_format_row(LB_F32), lb_value_add(flushed(LB_F32, c), pair), &to_odd, NULL);
    }
    return c;
}

uint64_t lb_step_pair_fused(const lb_step *s, uint64_t c) {
    const lb_format *fa = lb_format_row(s->u->a), *fb = lb_format_row(s->u->b), *f32 = lb_format_row(LB_F32);
    for (int k = 0; k < s->count; k += 2) {
        const lb_value first = lb_value_mul(lb_decode(fa, s->a[k].code), lb_decode(fb, s->b[k].code));
        const lb_value second = lb_value_mul(lb_decode(fa, s->a[k + 1].code), lb_decode(fb, s->b[k + 1].code));
        const lb_value pair = rounded(lb_value_add(first, second), NULL);
        c = lb_encode(f32, lb_value_add(lb_decode(f32, c), pair), NULL, NULL);
    }
    return c;
}
