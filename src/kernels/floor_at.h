/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: f64 lanes rounded down to multiples of a power of two. */

INLINE double power_of_two64(int e) {
    const union {
        uint64_t bits;
        double value;
    } u = {(uint64_t)(e + 1023) << 52};
    return u.value;
}

INLINE vi exponent_mask64(void) {
    return q_set(INT64_C(0x7ff) << 52);
}

/* 1.5 2^(52 - below) 2^e, of the exponent field e in place: to add and subtract it rounds to multiples of 2^(e - below). */
INLINE vd magic_at(vi e, int below) {
    return q_double(q_add(e, q_set(((int64_t)(52 - below) << 52) | INT64_C(1) << 51)));
}

/* floor(x / 2^(e - below)) 2^(e - below), for |x| < 2^(e - below + 51) */
INLINE vd floor_at(vd x, vi e, int below) {
    const vd magic = magic_at(e, below);
    return d_floor_sub(x, magic);
}
