/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operations of the 32 lanes of a warp, all of them active. in [32][ins], out [32][outs]. source: ptx-isa */
#include "scalar/scalar_value.h"

enum { LANES = LB_WARP_LANES };

/* A lane that is out of range keeps its own word and a false predicate. */
lb_status lb_scalar_shfl(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    (void)op;
    (void)err;
    for (int lane = 0; lane < LANES; lane++) {
        const int b = (int)(in[3 * lane + 1] & 31), c = (int)(in[3 * lane + 2] & 31), segment = (int)(in[3 * lane + 2] >> 8 & 31);
        const int most = (lane & segment) | (c & ~segment), least = lane & segment;
        int from = 0;
        if (r->what == LB_UP) from = lane - b;
        if (r->what == LB_DOWN) from = lane + b;
        if (r->what == LB_BFLY) from = lane ^ b;
        if (r->what == LB_IDX) from = least | (b & ~segment);
        const bool inside = r->what == LB_UP ? from >= most : from <= most;
        out[2 * lane] = in[3 * (inside ? from : lane)];
        out[2 * lane + 1] = inside;
    }
    return LB_OK;
}

/* The predicate of a lane: its word is negative. */
lb_status lb_scalar_vote(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    uint64_t ballot = 0;
    (void)op;
    (void)err;
    for (int lane = 0; lane < LANES; lane++) ballot |= (in[lane] >> 31 & 1) << lane;
    const bool all = ballot == UINT32_MAX, any = ballot != 0;
    const uint64_t answer[] = {ballot, all, any, all || !any};
    for (int lane = 0; lane < LANES; lane++) out[lane] = answer[r->what];
    return LB_OK;
}

static uint64_t same_as(const uint64_t *in, int lane) {
    uint64_t mask = 0;
    for (int i = 0; i < LANES; i++) mask |= (uint64_t)(in[i] == in[lane]) << i;
    return mask;
}

lb_status lb_scalar_match_any(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    (void)op;
    (void)r;
    (void)err;
    for (int lane = 0; lane < LANES; lane++) out[lane] = same_as(in, lane);
    return LB_OK;
}

lb_status lb_scalar_match_all(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    const bool all = same_as(in, 0) == UINT32_MAX;
    (void)op;
    (void)r;
    (void)err;
    for (int lane = 0; lane < LANES; lane++) {
        out[2 * lane] = all ? UINT32_MAX : 0;
        out[2 * lane + 1] = all;
    }
    return LB_OK;
}

static uint64_t reduce(const lb_scalar_op *op, int what, uint64_t a, uint64_t b) {
    const bool a_less = lb_word_is_signed(op->in[0]) ? lb_word_signed(a, 32) < lb_word_signed(b, 32) : a < b;
    switch (what) {
    case LB_REDUX_ADD: return a + b;
    case LB_REDUX_MIN: return a_less ? a : b;
    case LB_REDUX_MAX: return a_less ? b : a;
    case LB_REDUX_AND: return a & b;
    case LB_REDUX_OR: return a | b;
    default: return a ^ b;
    }
}

lb_status lb_scalar_redux(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    uint64_t x = in[0];
    (void)err;
    for (int lane = 1; lane < LANES; lane++) x = reduce(op, r->what, x, in[lane]);
    for (int lane = 0; lane < LANES; lane++) out[lane] = x;
    return LB_OK;
}

/* An 8x8 matrix of halves: lane l holds row l/4, columns 2(l%4) and the next. */
lb_status lb_scalar_movmatrix(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    (void)op;
    (void)r;
    (void)err;
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t word = 0;
        for (int half = 0; half < 2; half++) {
            const int row = 2 * (lane % 4) + half, col = lane / 4; /* of the matrix that is read */
            word |= (in[4 * row + col / 2] >> (16 * (col % 2)) & 0xffff) << (16 * half);
        }
        out[lane] = word;
    }
    return LB_OK;
}
