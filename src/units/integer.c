/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integer products and bit counts: exact sums that wrap or saturate. */
#include "units/path.h"

static int32_t int_of(const lb_format *f, uint64_t code) {
    const int32_t n = (int32_t)(code & ((UINT64_C(1) << f->bits) - 1));
    return f->sign_bits && n >> (f->bits - 1) ? n - (INT32_C(1) << f->bits) : n;
}

static int64_t signed_of(uint64_t code) {
    return (int64_t)(code & 0x7fffffff) - (int64_t)(code & 0x80000000);
}

static uint64_t to_i32(const lb_unit *u, int64_t sum) {
    if (u->round == LB_UNIT_SATURATE_I32) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

uint64_t lb_step_integer(const lb_step *s, uint64_t c) {
    const lb_format *fa = lb_format_row(s->u->a), *fb = lb_format_row(s->u->b);
    int64_t sum = signed_of(c);
    for (int k = 0; k < s->count; k++) sum += int_of(fa, s->a[k].code) * int_of(fb, s->b[k].code);
    return to_i32(s->u, sum);
}

uint64_t lb_step_xor_popc(const lb_step *s, uint64_t c) {
    int64_t sum = signed_of(c);
    for (int k = 0; k < s->count; k++) sum += (s->a[k].code ^ s->b[k].code) & 1;
    return to_i32(s->u, sum);
}

uint64_t lb_step_and_popc(const lb_step *s, uint64_t c) {
    int64_t sum = signed_of(c);
    for (int k = 0; k < s->count; k++) sum += s->a[k].code & s->b[k].code & 1;
    return to_i32(s->u, sum);
}
